"""Which code of the package decides a run: all but what drives runs, which no notebook can import."""

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from own import PAGES, notebook

from lkecore import storage
from lkecore.runs import code_digest, record

TOP = Path(__file__).resolve().parent.parent


def test_the_digest_of_the_source_is_one_of_names_code_and_data_and_not_of_what_explains_them(
    tmp_path, monkeypatch
):
    top = tmp_path / "package"
    (top / "data").mkdir(parents=True)
    monkeypatch.setattr(code_digest, "DATA", top / "data")
    module, table = top / "module.py", top / "data" / "a.csv"

    def digest(code, rows):
        module.write_text(code)
        table.write_text(rows)
        found = code_digest.source_digest()
        plain = hashlib.sha256()  # with no cache: the files by name, a folder's behind its own
        for path, content in [(table, rows), (module, storage.code_of(code))]:
            plain.update(f"{path.relative_to(top).as_posix()}\n{content}".encode())
        assert found == plain.hexdigest() == code_digest.source_digest()
        return found

    first = digest("x = 1\n", "a\n1\n")
    assert digest('"""Told."""\nx = 1  # why\n', "a\n1\n") == first
    others = [digest("x = 2\n", "a\n1\n"), digest("x = 1\n", "a\n2\n")]
    assert len({first, *others}) == 3 and digest("x = 1\n", "a\n1\n") == first


def test_no_notebook_and_no_worker_imports_a_driver():
    """Told by Python itself, in a process that imports what all notebooks import, and nothing else."""
    trees = [ast.parse("\n".join(record._code(notebook(name)))) for name in PAGES]
    nodes = [
        n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)
    ]
    lines = sorted({ast.unparse(n) for n in nodes if "lkecore" in ast.unparse(n)})
    code = "\n".join(
        [*lines, "import lkecore.runs.worker, json, sys", "print(json.dumps([*sys.modules]))"]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=TOP)
    assert done.returncode == 0, done.stderr
    ours = {n for n in json.loads(done.stdout.splitlines()[-1]) if n.startswith("lkecore.")}
    files = {n.removeprefix("lkecore.").replace(".", "/") for n in ours}
    assert len(ours) > 100 and not [n for n in files if f"{n}.py".startswith(code_digest.DRIVERS)]


def test_a_driver_is_in_no_key_and_all_else_is(tmp_path, monkeypatch):
    top = tmp_path / "lkecore"
    shutil.copytree(TOP / "lkecore", top, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code_digest, "DATA", top / "data")
    before = code_digest.pages_digest()
    for name, same in [
        ("book/build.py", True),
        ("runs/grid.py", True),
        ("cli/main.py", True),
        ("scores/tree.py", False),
        ("runs/worker.py", False),
        ("data/claims.csv", False),
    ]:
        path, text = top / name, (top / name).read_text("utf-8")
        path.write_text(f"{text}\nADDED = 1\n", encoding="utf-8")
        assert (code_digest.pages_digest() == before) is same, name
        path.write_text(text, encoding="utf-8")
    assert code_digest.pages_digest() == before


def test_to_import_a_module_of_ours_changes_nothing_outside_of_it():
    """Its top only defines names: else what a notebook does not name could decide what it finds."""
    plain = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    plain |= ast.Assign | ast.AnnAssign | ast.AugAssign
    # Environment for torch, which is in the key of every run, and three that only processes run.
    allowed = {"__init__", "runs.preload", "cli.main", "lmeval"}
    for path in sorted((TOP / "lkecore").rglob("*.py")):
        name = ".".join(path.relative_to(TOP / "lkecore").with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body if name not in allowed else ():
            if isinstance(node, ast.If):
                assert ast.unparse(node.test) == "__name__ == '__main__'", name
            elif isinstance(node, ast.Expr):
                assert isinstance(node.value, ast.Constant), (name, ast.unparse(node))
            else:
                assert isinstance(node, plain), (name, ast.unparse(node))
                targets = getattr(node, "targets", [])
                assert not any(isinstance(t, ast.Attribute | ast.Subscript) for t in targets), name
