"""Which code of the package decides a run: by hand on a small one, and what Python itself imports."""

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest
from own import PAGES, notebook

from lkecore import storage
from lkecore.models import weights
from lkecore.runs import record, source

TOP = Path(__file__).resolve().parent.parent
CELLS = {name: record._code(notebook(name)) for name in PAGES}


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


# Names of a package that hands them on, by hand: who defines what, and what else stands in between.
HANDED_ON = {
    "__init__.py": "VERSION = 1",
    "room/__init__.py": "from lkecore.room.one import f, lower as low\n"
    "from lkecore.room import two\nOWN = [f]",
    "room/one.py": "from lkecore import other\ndef f(): return other.g()\ndef lower(): pass",
    "room/two.py": "from lkecore.room.one import f\nx = 1",
    "room/three.py": "x = 1",
    "other/__init__.py": "from lkecore.other.deep import g\nfrom lkecore.other.apart import h",
    "other/deep.py": "def g(): pass",
    "other/apart.py": "def h(): pass",
    "by_name.py": "from lkecore import other\ndef f(name): return getattr(other, name)",
    "through.py": "from lkecore import other\nx = other.g",
}
ROOM = "room/__init__ room/one room/two room/three other/__init__ other/deep other/apart"


@pytest.mark.parametrize(
    ("cells", "reached"),
    [
        (["from lkecore import other", "other.g()"], "other/__init__ other/deep"),
        (["from lkecore.other import g as k\nk()"], "other/__init__ other/deep"),
        (["from lkecore import other as o\no.h()"], "other/__init__ other/apart"),
        (["from lkecore import other"], "other/__init__"),  # not used
        (["def f():\n    from lkecore import room\n    room.low()"],
         "room/__init__ room/one other/__init__ other/deep"),
        (["from lkecore import room\nroom.two.x"],
         "room/__init__ room/two room/one other/__init__ other/deep"),
        (["from lkecore.room import three\nthree.x"],
         # its package's own code uses f
         "room/__init__ room/three room/one other/__init__ other/deep"),
        # It cannot be told.
        (["from lkecore import other\ngetattr(other, name)"], "other/__init__ other/deep other/apart"),
        (["from lkecore import other\nx = other", "x.g()"], "other/__init__ other/deep other/apart"),
        (["from lkecore.other import *\ng()"], "other/__init__ other/deep other/apart"),
        (["from lkecore import other\nother.unknown()"], "other/__init__ other/deep other/apart"),
        (["from lkecore import other\nother.g = 1"], "other/__init__ other/deep other/apart"),
        (["from lkecore import room\nroom.three.x\nroom.lost"], ROOM),
        (["from lkecore import by_name\nby_name.f('h')"], "by_name other/__init__ other/deep other/apart"),
        # Names of one module by way of another one.
        (["from lkecore.through import other\nother.h()"], "through other/__init__ other/deep other/apart"),
        (["from lkecore import through\nthrough.other.h()"],
         "through other/__init__ other/deep other/apart"),
        (["from lkecore import VERSION\nVERSION"], ""),
        (["import sys\nsys.modules['lkecore.other']"], None),
        (["from lkecore import other\neval('other.h()')"], None),
    ],
)  # fmt: skip
def test_a_name_that_a_package_hands_on_is_read_as_the_module_that_defines_it(
    tmp_path, monkeypatch, cells, reached
):
    assert changing(HANDED_ON, cells, tmp_path, monkeypatch) == (
        {name.removesuffix(".py") for name in HANDED_ON}
        if reached is None
        else {"__init__", *reached.split()}
    )


def changing(modules, cells, tmp_path, monkeypatch):
    """The files of a package, without suffix, a line of which changes the digest of cells."""
    top = tmp_path / "lkecore"
    monkeypatch.setattr(source, "DATA", top / "data")
    for name, text in modules.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    first, changed = source.reached_digest(cells), set()
    for name, text in modules.items():
        (top / name).write_text(f"{text}\nz = 1\n")
        if source.reached_digest(cells) != first:
            changed.add(name.rpartition(".")[0])
        (top / name).write_text(text)
    return changed


READS = {
    "__init__.py": "",
    "storage.py": "DATA = 'data'",
    "claims.py": "from lkecore.storage import DATA\ndef f(): return DATA / 'claims.csv'",
    "papers.py": "from lkecore.storage import DATA\nx = (DATA / 'papers').iterdir()\n"
    "y = DATA / 'papers' / 'a.csv'",
    "one.py": "from lkecore import storage\nx = storage.DATA / 'papers' / 'a.csv'",
    "any.py": "from lkecore.storage import DATA\ndef f(name): return DATA / name",
    "renamed.py": "from lkecore.storage import DATA as D\nx = D / 'papers' / 'b.csv'",
    "above.py": "from lkecore.storage import DATA\nx = DATA.parent",
}
ALL = "claims papers/a papers/b lost"


@pytest.mark.parametrize(
    ("cell", "tables"),
    [
        ("x = 1", "lost"),  # nobody names this file: who reads it is unknown
        ("from lkecore import above", "lost"),
        ("from lkecore import claims", "claims lost"),
        ("from lkecore.claims import f", "claims lost"),
        ("from lkecore import papers", "papers/a papers/b lost"),
        ("from lkecore import one", "papers/a lost"),
        ("from lkecore import any", ALL),
        ("from lkecore import renamed", ALL),
        ("from lkecore.storage import DATA\nDATA", ALL),
        ("from lkecore import storage\nstorage.DATA", ALL),
    ],
)
def test_a_table_counts_where_a_module_within_reach_names_it_or_nobody_does(
    tmp_path, monkeypatch, cell, tables
):
    rows = {f"data/{name}.csv": "a\n" for name in ALL.split()}
    found = changing({**READS, **rows}, [cell], tmp_path, monkeypatch)
    assert {name.removeprefix("data/") for name in found if name.startswith("data/")} == {
        *tables.split()
    }


def test_to_import_a_module_of_ours_changes_nothing_outside_of_it():
    """Its top only defines names: else what a notebook does not name could decide what it finds."""
    plain = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
    # Environment for torch, which is in the key of every run, and three that only processes run.
    allowed = {"__init__", "runs.imported", "cli.main", "lmeval"}
    for path in sorted((TOP / "lkecore").rglob("*.py")):
        name = ".".join(path.relative_to(TOP / "lkecore").with_suffix("").parts)
        own = set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body if name not in allowed else ():
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                inner = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
                assert all(isinstance(n, ast.Name) for n in inner), (name, ast.unparse(node))
                if isinstance(node, ast.AugAssign):
                    assert node.target.id in own, (name, ast.unparse(node))
                own |= {n.id for n in inner}
            elif isinstance(node, ast.If):
                assert ast.unparse(node.test) == "__name__ == '__main__'", name
            elif isinstance(node, ast.Expr):
                assert isinstance(node.value, ast.Constant), (name, ast.unparse(node))
            else:
                assert isinstance(node, plain), (name, ast.unparse(node))


# What a notebook really does, told by Python: the modules of ours whose functions it calls, and the
# tables that it opens, once all modules are imported. Keys of runs are made of all files: these do not count.
WATCHED = """
import cProfile, importlib, json, os, sys
from pathlib import Path
import matplotlib
import lkecore
matplotlib.use("agg")
cells, given, os.environ["LKE_RUN"] = json.load(sys.stdin)
top = Path(lkecore.__file__).parent
names = {str(p): ".".join(["lkecore", *p.relative_to(top).with_suffix("").parts]) for p in top.rglob("*.py")}
names = {path: name.removesuffix(".__init__") for path, name in names.items()}
for name in names.values():
    if name != "lkecore.runs.imported":
        importlib.import_module(name)
opened, watch = set(), cProfile.Profile(builtins=False)
def hear(event, given):
    if event == "open" and str(given[0]).startswith(str(top / "data")):
        frame = sys._getframe(1)
        while frame and not frame.f_code.co_filename.endswith("runs/source.py"):
            frame = frame.f_back
        if frame is None:
            opened.add("data/" + Path(given[0]).relative_to(top / "data").as_posix())
sys.addaudithook(hear)
space = {"__name__": "__main__"}
for text, parameters in cells:
    watch.runctx(text, space, space)
    space |= given if parameters else {}
seen = [each.code for each in watch.getstats() if not isinstance(each.code, str)]
called = {code.co_filename for code in seen if code.co_name != "<module>"}
print(json.dumps([sorted(names[each] for each in called & names.keys()), sorted(opened)]))
"""


def test_the_modules_that_a_notebook_runs_and_the_tables_that_it_opens_are_within_its_key(tmp_path):
    name = "00_quickstart"
    weights.locate("toy")  # is built here, where nobody watches
    cells = jupytext.read(TOP / "notebooks" / f"{name}.py").cells
    texts = [
        (c.source, "parameters" in c.metadata.get("tags", []))
        for c in cells
        if c.cell_type == "code" and "page-only" not in c.metadata.get("tags", [])
    ]
    given = {"model": "toy", "n_facts": 3, "n_shots": 3}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=json.dumps([texts, given, str(tmp_path)]),
        capture_output=True,
        text=True,
        cwd=TOP,
    )
    assert done.returncode == 0, done.stderr
    called, opened = json.loads(done.stdout.splitlines()[-1])
    table = source._table(source._files())
    reached = source._reached(tuple(CELLS[name]), table)
    assert set(called) <= reached and len(called) > 10
    named = {place for module in reached for place in source._read(table)["data"].get(module, ())}
    assert [file for file in opened if not source._among(file, named)] == [] != opened


def test_a_line_of_one_page_makes_no_other_page_anew_and_a_line_of_the_scorer_all(
    tmp_path, monkeypatch
):
    top = tmp_path / "lkecore"
    shutil.copytree(TOP / "lkecore", top, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source, "DATA", top / "data")
    names = ("00_quickstart", "01_scorer", "50_lab_truth", "58_lab_found", "90_leaderboard")
    some = {name: CELLS[name] for name in names}
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

    assert changed("answers/found.py") == {"58_lab_found"}
    assert changed("book/build.py") == set()
    for module in ("scores/tree.py", "runs/worker.py"):  # what all ask by, and what executes them
        assert changed(module) == set(some)
    # A row of claims makes those anew that judge, and no other.
    assert changed("data/claims.csv") == {"50_lab_truth", "58_lab_found"}
    both = changed("data/claims.csv") | {"90_leaderboard"}  # which shows a table of a paper
    assert changed("data/papers/iclke_table1_subsumption.csv") == both
    assert changed("data/atlas.tsv") == set(some)
