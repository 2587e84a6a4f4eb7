"""Which code of the package decides a run: by hand on a small one, and what Python itself imports."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lkecore import storage
from lkecore.runs import record, source

TOP = Path(__file__).resolve().parent.parent
CELLS = {path.stem: record._code(path) for path in sorted((TOP / "notebooks").glob("*.py"))}


def test_the_digest_of_the_source_is_one_of_names_code_and_data_and_not_of_what_explains_them(
    tmp_path, monkeypatch
):
    top = tmp_path / "package"
    (top / "data").mkdir(parents=True)
    monkeypatch.setattr(source, "DATA", top / "data")
    module, table = top / "module.py", top / "data" / "a.csv"

    def digest(code, rows):
        module.write_text(code)
        table.write_text(rows)
        found = source.source_digest()
        plain = hashlib.sha256()  # with no cache: the files by name, a folder's behind its own
        for path, content in [(table, rows), (module, storage.code_of(code))]:
            plain.update(f"{path.relative_to(top).as_posix()}\n{content}".encode())
        assert found == plain.hexdigest() == source.source_digest()
        return found

    first = digest("x = 1\n", "a\n1\n")
    assert digest('"""Told."""\nx = 1  # why\n', "a\n1\n") == first
    others = [digest("x = 2\n", "a\n1\n"), digest("x = 1\n", "a\n2\n")]
    assert len({first, *others}) == 3 and digest("x = 1\n", "a\n1\n") == first


# A package by hand: what each of its modules imports. Nothing of it is in what a worker has imported.
MODULES = {
    "__init__.py": "",
    "alone.py": "x = 1",
    "late.py": "def f():\n    from lkecore.inner import deep",
    "inner/__init__.py": "x = 1",
    "inner/deep.py": "from . import near\nimport numpy.linalg",
    "inner/near.py": "from ..far import x as y",
    "far.py": "x = 1",
}


@pytest.mark.parametrize(
    ("cell", "reached"),
    [
        ("x = 1", ""),
        ("from lkecore import alone", "__init__ alone"),
        ("import lkecore.alone as a", "__init__ alone"),
        ("from lkecore.alone import x", "__init__ alone"),
        ("from lkecore.inner import x", "__init__ inner/__init__"),
        ("def f():\n    from lkecore import late", "__init__ late inner/__init__ inner/deep inner/near far"),
        ("from lkecore.inner import deep", "__init__ inner/__init__ inner/deep inner/near far"),
        ("import lkecore_other, torch.nn", ""),
        # What no statement says, or what is not Python.
        ("import lkecore", None),
        ("import lkecore as l", None),
        ("import lkecore.alone", None),  # the name lkecore holds all of it
        ("import importlib\nimportlib.import_module(name)", None),
        ("__import__(name)", None),
        ("%matplotlib inline", None),
        ("\0", None),
    ],
)  # fmt: skip
def test_a_digest_changes_with_the_modules_that_a_cell_reaches_and_with_no_other(
    tmp_path, monkeypatch, cell, reached
):
    top = tmp_path / "lkecore"
    monkeypatch.setattr(source, "DATA", top / "data")
    for name, text in {**MODULES, "data/a.csv": "a\n"}.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    first, changed = source.reached_digest([cell, "y = 2"]), set()
    for name, text in MODULES.items():
        (top / name).write_text(f"# why\n{text}  # that is\n")
        assert source.reached_digest([cell, "y = 2"]) == first  # an explanation
        (top / name).write_text(f"{text}\nz = 1")
        if source.reached_digest([cell, "y = 2"]) != first:
            changed.add(name.removesuffix(".py"))
        (top / name).write_text(text)
    expected = {name.removesuffix(".py") for name in MODULES}
    assert changed == (expected if reached is None else set(reached.split()))
    (top / "data/a.csv").write_text("b\n")
    assert source.reached_digest([cell, "y = 2"]) != first


def test_what_python_imports_for_our_notebooks_is_within_what_they_reach():
    """In a process of its own: what a worker imports, and then the statements of all notebooks."""
    program = """
import ast, json, sys
cells = json.load(sys.stdin)
for text in cells:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(ast.unparse(node))
print(json.dumps([name for name in sys.modules if name.split(".")[0] == "lkecore"]))
"""
    all_cells = [cell for cells in CELLS.values() for cell in cells]
    worker = [name for name in source.BEFORE if name.split(".")[0] == "lkecore"]
    all_cells += [
        f"import {name}" for name in [*worker, *source.STARTING[:1], *source.STARTING[2:]]
    ]
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(all_cells), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = set(json.loads(done.stdout.splitlines()[-1]))
    modules = source._modules(source._files())
    each = [source._reached(cells, modules) for cells in CELLS.values()]
    assert found <= set.union(*each) and len(found) > 100
    assert set.union(*each) < modules.keys()  # no cell of ours can reach everything


def test_a_line_of_one_page_makes_no_other_page_anew_and_a_line_of_the_scorer_all(
    tmp_path, monkeypatch
):
    top = tmp_path / "lkecore"
    shutil.copytree(TOP / "lkecore", top, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source, "DATA", top / "data")
    some = {name: CELLS[name] for name in ("00_quickstart", "51_lab_worlds", "90_leaderboard")}
    before = {name: source.reached_digest(cells) for name, cells in some.items()}

    def changed(module):
        path = top / module
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\nADDED = 1\n", encoding="utf-8")
        found = {
            name for name, cells in some.items() if source.reached_digest(cells) != before[name]
        }
        path.write_text(text, encoding="utf-8")
        return found

    assert changed("answers/worlds.py") == {"51_lab_worlds"}
    assert changed("book/build.py") == set()
    assert changed("scores/tree.py") == set(some)
