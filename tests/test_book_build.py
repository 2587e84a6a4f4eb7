"""The book is built aside: a build that fails leaves the one before whole. Sphinx is a stand-in here."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from lkecore.book import build
from lkecore.errors import BadInput


@pytest.fixture
def sphinx(monkeypatch):
    """What a call of Sphinx does: writes a page with ``text``, and says and returns what it is told."""
    told = SimpleNamespace(text="one", code=0, says="", saw=[])

    def run(command, cwd, **_):
        out = Path(command[command.index("--path-output") + 1]) / "_build" / "html"
        out.mkdir(parents=True)
        (out / "index.html").write_text(told.text)
        (out / f"{told.text}.html").touch()
        told.saw.append(sorted(path.name for path in (Path(cwd) / "_build").iterdir()))
        return SimpleNamespace(returncode=told.code, stdout=told.says, stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    return told


def test_a_second_book_takes_the_place_of_the_first_when_it_is_whole(tmp_path, sphinx):
    index = build.build(tmp_path)
    assert index == tmp_path / "_build" / "html" / "index.html" and index.read_text() == "one"
    sphinx.text = "two"
    assert build.build(tmp_path) == index and index.read_text() == "two"
    assert sorted(path.name for path in index.parent.iterdir()) == ["index.html", "two.html"]
    assert sphinx.saw == [
        ["next"],
        ["html", "next"],
    ]  # the first was there while the second came about
    assert [path.name for path in (tmp_path / "_build").iterdir()] == ["html"]


def test_a_build_that_fails_leaves_the_book_before(tmp_path, sphinx, capsys):
    sphinx.code, sphinx.says = 1, "fine\npage.md:3: WARNING: no such label\n"
    with pytest.raises(BadInput, match="not built, for the reasons above$"):
        build.build(tmp_path)
    assert not list((tmp_path / "_build").iterdir())
    sphinx.code = 0
    index = build.build(tmp_path)
    sphinx.code, sphinx.text = 1, "two"
    with pytest.raises(BadInput, match="reasons above; the one before is still in .*html"):
        build.build(tmp_path)
    assert index.read_text() == "one"
    assert [path.name for path in (tmp_path / "_build").iterdir()] == ["html"]
    assert capsys.readouterr().err.splitlines() == ["page.md:3: WARNING: no such label"] * 2


def test_what_a_killed_build_left_is_gone(tmp_path, sphinx):
    for left in ("next", "before"):
        (tmp_path / "_build" / left / "_build" / "html").mkdir(parents=True)
    build.build(tmp_path)
    assert [path.name for path in (tmp_path / "_build").iterdir()] == ["html"]
