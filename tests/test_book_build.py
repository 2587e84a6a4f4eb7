"""The book is built aside: a build that fails leaves the one before whole. Sphinx is a stand-in here."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lkecore.book import build, state
from lkecore.errors import BadInput


@pytest.fixture
def sphinx(monkeypatch):
    """What a call of Sphinx does: writes a page with ``text``, and says and returns what it is told."""
    told = SimpleNamespace(text="one", code=0, says="", saw=[], carried=[])

    def run(command, cwd, **_):
        out = Path(command[command.index("--path-output") + 1]) / "_build" / "html"
        out.mkdir(parents=True)
        told.carried.append((out.parent / "read").exists())
        (out.parent / "read").touch()
        (out / "index.html").write_text(told.text)
        (out / f"{told.text}.html").touch()
        told.saw.append(sorted(path.name for path in (Path(cwd) / "_build").iterdir()))
        return SimpleNamespace(returncode=told.code, stdout=told.says, stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    return told


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A book of one page; of no package, whose files would all be read at each build."""
    monkeypatch.setattr(build, "DATA", tmp_path / "package" / "data")
    (tmp_path / "book" / "notebooks").mkdir(parents=True)
    (tmp_path / "book" / "index.md").write_text("# Home")
    (tmp_path / "_config.yml").write_text("title: x")
    return tmp_path


def test_a_book_of_the_very_same_files_is_not_built_again(project, sphinx):
    index = build.build(project)
    assert build.build(project) == index and len(sphinx.saw) == 1
    (project / "book/notebooks/new.ipynb").write_text("another")
    build.build(project)
    assert len(sphinx.saw) == 2
    (project / "package").mkdir()
    (project / "package" / "module.py").write_text('"""What one page says."""')
    build.build(project)
    assert len(sphinx.saw) == 3
    index.unlink()
    build.build(project)
    assert len(sphinx.saw) == 4 and index.exists()


def test_a_build_that_fails_leaves_the_book_before(project, sphinx, capsys):
    sphinx.code, sphinx.says = 1, "fine\npage.md:3: WARNING: no such label\n"
    with pytest.raises(BadInput, match="not built, for the reasons above$"):
        build.build(project)
    assert not list((project / "_build").iterdir())
    sphinx.code = 0
    index = build.build(project)
    sphinx.code, sphinx.text = 1, "two"
    (project / "book" / "index.md").write_text("# New")
    with pytest.raises(BadInput, match="reasons above; the one before is still in .*html"):
        build.build(project)
    assert index.read_text() == "one"
    assert sorted(path.name for path in (project / "_build").iterdir()) == ["html", "made_of"]
    assert capsys.readouterr().err.splitlines() == ["page.md:3: WARNING: no such label"] * 2


def test_a_build_that_was_killed_between_its_two_moves_loses_no_book(project, sphinx):
    index = build.build(project)
    os.replace(index.parent, project / "_build" / "before")
    (project / "_build" / "made_of").unlink()
    sphinx.code, sphinx.says = 1, "page.md:3: WARNING: no such label"
    with pytest.raises(BadInput, match="the one before is still in"):
        build.build(project)
    assert index.read_text() == "one" and not (project / "_build" / "before").exists()


def test_a_move_that_fails_loses_no_book(project, sphinx, monkeypatch):
    index, true = build.build(project), os.replace
    sphinx.text = "two"
    (project / "book" / "index.md").write_text("# New")

    def full(one, other):
        if "next" in Path(one).parts:
            raise OSError(28, "No space left on device", str(other))
        true(one, other)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "replace", full)
        build.build(project)
    assert index.read_text() == "one"
    build.build(project)
    assert index.read_text() == "two"


HOLD = """
import sys
from pathlib import Path
from lkecore.book import build, state
with build.alone(Path(sys.argv[1])):
    print("at it", flush=True)
    sys.stdin.read()
"""


def test_of_two_commands_at_once_one_makes_the_book_and_the_other_says_why_not(project):
    """The other one is a process of its own, which is killed in the end: its lock goes with it."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLD, str(project)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as other:
        try:
            assert other.stdout.readline() == "at it\n"
            with pytest.raises(BadInput, match="book is being built by another command"):
                with build.alone(project):
                    raise AssertionError("two at once")
        finally:
            other.kill()
    with build.alone(project):
        pass


def test_lke_book_touches_nothing_while_another_one_is_at_it(project, monkeypatch):
    from click.testing import CliRunner

    from lkecore import runs
    from lkecore.cli import book

    monkeypatch.setattr(book, "read_plan_of", lambda _: SimpleNamespace(project=project))
    monkeypatch.setattr(runs, "check_format", lambda _: None)
    monkeypatch.setattr(build, "collect_pages", lambda *_: pytest.fail("gathered"))
    params = project / "p.yaml"
    params.touch()
    with build.alone(project):
        done = CliRunner().invoke(book.build_book, [str(params)])
    assert isinstance(done.exception, BadInput)


def test_what_was_read_is_carried_on_until_a_build_fails_or_more_than_pages_changes(
    project, sphinx
):
    """A page that is as it was must be read again after a failure: the warning may be its own."""
    number = 0

    def change(name):
        nonlocal number
        number += 1
        (project / name).write_text(f"another: {number}")

    build.build(project)
    change("book/notebooks/a.ipynb")
    build.build(project)
    assert sphinx.carried == [False, True]
    sphinx.code, sphinx.says = 1, "notebooks/a.ipynb: WARNING: no such label"
    for _ in range(2):
        change("book/index.md")
        with pytest.raises(BadInput, match="not built"):
            build.build(project)
    sphinx.code = 0
    build.build(project)
    assert sphinx.carried[2:] == [True, False, False]
    change("_config.yml")
    build.build(project)
    assert sphinx.carried[5:] == [False]


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ("book/index.md", {"api/facts", "notebooks/a", "notebooks/b"}),
        ("book/api/facts.md", {"notebooks/a", "notebooks/b"}),
        ("package/facts.py", {"notebooks/a", "notebooks/b"}),
        ("book/_toc.yml", set()),
    ],
)
def test_pages_of_the_package_are_read_again_if_one_of_them_or_the_package_has_changed(
    changed, kept, tmp_path, monkeypatch
):
    monkeypatch.setattr(state, "DATA", tmp_path / "package" / "data")
    files = "book/index.md book/api/facts.md book/notebooks/a.ipynb book/notebooks/b.ipynb"
    found = {
        str(tmp_path / name): "1" for name in [*files.split(), "package/facts.py", "book/_toc.yml"]
    }
    left, target = tmp_path / "state", tmp_path / "next" / "_build"
    for name in ("index", "api/facts", "notebooks/a", "notebooks/b"):
        path = left / ".doctrees" / f"{name}.doctree"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (left / state.FILES).write_text(json.dumps(found))
    state.take(tmp_path, left, target, found | {str(tmp_path / changed): "2"})
    trees = target / ".doctrees"
    there = {str(p.relative_to(trees).with_suffix("")) for p in trees.rglob("*.doctree")}
    assert there == kept
