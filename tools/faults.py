"""Faults: plant known mistakes in a copy of the project, one at a time, and see whether tests find them.

``tests/faults.csv`` has a row a fault: a file, text that stands there once, what takes its place, and the
test files of which one at least must fail (with pytest's -k where a file takes long). To make tests fewer
or faster is safe as far as this says so:

    .venv/bin/python tools/faults.py              all of them, half an hour
    .venv/bin/python tools/faults.py keys cli     those whose room, file or tests have one of these words
    .venv/bin/python tools/faults.py --matrix     a CSV row for each fault and each file of tests that
                                                  reaches its module by imports, days for all: use words
"""

import csv
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is there

import hypothesis  # noqa: E402, F401
import pytest  # noqa: E402

import lkecore.lmeval  # noqa: E402, F401
import lkecore.runs.preload  # noqa: E402, F401

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import test_architecture  # noqa: E402

OURS = ("lkecore", "own", "test_architecture")

# Of what that has imported the libraries stay: ours are those of the copy.
sys.path.pop(0)
for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
    del sys.modules[name]

# Without a word that libraries were there before pytest could look at their asserts.
PYTEST = "-x -q -p no:cacheprovider -W ignore::pytest.PytestAssertRewriteWarning".split()
FOLDERS = "lkecore notebooks params book results tests tools benchmarks examples".split()
LONGEST = 600  # seconds that the tests of a fault may take
TOP = Path(__file__).resolve().parent.parent


def copy_of(project: Path, target: Path) -> None:
    """The files of a project that its tests need."""
    for name in FOLDERS:
        left_out = shutil.ignore_patterns("__pycache__", "_build", "*.ipynb")
        shutil.copytree(project / name, target / name, ignore=left_out)
    for file in project.glob("*.*"):
        if file.is_file():
            shutil.copy(file, target)


def found(project: Path, tests: list[str]) -> tuple[str, str]:
    """(``found``, ``MISSED`` or ``broken``, the first test that failed) of tests in a project.

    In a process that is forked from here, where what takes seconds to import is already.
    """
    said = project.parent / "said"
    if (pid := os.fork()) == 0:
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(project)
        os.environ |= {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(project))
        signal.alarm(LONGEST)
        try:
            os._exit(pytest.main([*PYTEST, *tests]))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    code, text = os.waitpid(pid, 0)[1], said.read_text(errors="replace")
    lines = [s for s in text.splitlines() if s.startswith(("FAILED", "ERROR"))]
    first = lines[0].split(" - ")[0] if lines else ""
    # Without a test behind the file it is the file that could not be read.
    word = "MISSED" if code == 0 else "found" if "::" in first else "broken"
    return word, first.partition("::")[2] or text[-300:] * (word == "broken")


def reaching(file: str) -> list[str]:
    """The files of tests that import a module, directly or through others; none for what is no module."""
    name = ".".join(Path(file).with_suffix("").parts[1:])
    tests = sorted((TOP / "tests").glob("test_*.py"))
    return [f"tests/{each.name}" for each in tests if name in test_architecture.reached(each)]


def main(words: list[str]) -> int:
    matrix, words = "--matrix" in words, [word for word in words if word != "--matrix"]
    with (TOP / "tests" / "faults.csv").open(encoding="utf-8", newline="") as file:
        faults = list(csv.DictReader(file))
    named = [
        f
        for f in faults
        if not words or any(w in f["room"] + f["file"] + f["tests"] for w in words)
    ]
    missed, table = 0, csv.writer(sys.stdout, lineterminator="\n")
    if matrix:
        table.writerow(["fault", "file", "tests", "said", "seconds", "first"])
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "project"
        copy_of(TOP, project)
        for fault in named:
            path = project / fault["file"]
            text = path.read_text(encoding="utf-8")
            if text.count(fault["before"]) != 1:
                raise SystemExit(f"{fault['file']} has not once: {fault['before']}")
            path.write_text(text.replace(fault["before"], fault["after"]), encoding="utf-8")
            tests = shlex.split(fault["tests"])
            reach = reaching(fault["file"]) if matrix else []
            own = [[each] for each in reach] or [tests]
            every = set()
            for some in own:
                begun = time.monotonic()
                said, first = found(project, some)
                took = time.monotonic() - begun
                every.add(said)
                if matrix:
                    number = faults.index(fault) + 1
                    table.writerow([number, fault["file"], some[0], said, round(took, 1), first])
                    sys.stdout.flush()
                else:
                    where = f"{fault['room']:9} {fault['file']}  {first}"
                    print(f"{said:7}{took:5.0f} s  {where}", flush=True)
            path.write_text(text, encoding="utf-8")
            missed += "found" not in every
    print(f"{len(named) - missed} of {len(named)} found", file=sys.stderr if matrix else None)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
