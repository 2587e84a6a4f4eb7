"""Pages have the numbers of their places in the contents, and text cites them by these."""

import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from own import PAGES, notebook

from lkecore import runs
from lkecore.book import build

TOP = Path(__file__).resolve().parent.parent
CONTENTS = yaml.safe_load((TOP / "book" / "_toc.yml").read_text(encoding="utf-8"))
MADE = {"coverage.md", "verdicts.md", "findings.md"}  # by the book


def prose():
    """(place, text) of all that is written for the book: its pages, and the text of its notebooks."""
    for path in sorted((TOP / "book").glob("*.md")):
        if path.name not in MADE:
            yield path.name, path.read_text(encoding="utf-8")
    for name in PAGES:
        cells = runs.read_notebook(notebook(name)).cells
        yield name, "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_every_page_that_text_cites_is_in_the_contents():
    files = re.findall(r"'file': '(.+?)'", str(CONTENTS))
    known = {Path(file).name for file in files}
    assert len(known) == len(files)  # else a name would not say which page
    tables = [("coverage.csv", (TOP / "lkecore/data/coverage.csv").read_text(encoding="utf-8"))]
    cited = [
        (place, name)
        for place, text in [*prose(), *tables]
        for name in re.findall(r"\{[Pp]age\}`([^`]+)`", text)
    ]
    assert [each for each in cited if each[1] not in known] == [] and len(cited) > 150


# --- a small book


CONFIG = {
    "title": "x",
    "only_build_toc_files": True,
    "execute": {"execute_notebooks": "off"},
    "html": {"use_repository_button": False},
    "sphinx": {
        "local_extensions": {"pages": "book/_ext"},
        "config": {"html_secnumber_suffix": " "},
    },
}
BOOK = {
    "format": "jb-book",
    "root": "index",
    "parts": [
        {"caption": "Start", "chapters": [{"file": "begin"}]},
        {
            "caption": "Known",
            "numbered": 1,
            "chapters": [
                {"file": "first", "sections": [{"file": f"notebooks/{n}"} for n in ("p", "q")]},
                {"file": "last"},
            ],
        },
    ],
}
HOME = (
    "# Home\n\nAs {page}`q` says. {Page}`q` asks, {page}`begin`, {page}`first`.\n\n{Page}`last`.\n"
)


PARTS = "# What is {}?\n\n{}\n\n## A part\n\nText.\n\n## Another\n\nText.\n"


def write(project, name, said):
    cells = [nbformat.v4.new_markdown_cell(PARTS.format(name, said), id="c")]
    path = project / "book" / "notebooks" / f"{name}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A book whose chapter has headings of its own above its pages; not built yet."""
    project = tmp_path_factory.mktemp("project")
    book = project / "book"
    (book / "notebooks").mkdir(parents=True)
    (book / "_ext").mkdir()
    shutil.copy(TOP / "book/_ext/pages.py", book / "_ext")
    (project / "_config.yml").write_text(yaml.safe_dump(CONFIG))
    (book / "_toc.yml").write_text(yaml.safe_dump(BOOK))
    for name in ("begin", "first", "last"):
        (book / f"{name}.md").write_text(PARTS.format(name[-1], "Text."))
    write(project, "p", "See {page}`q`.")
    write(project, "q", "Text.")
    (book / "index.md").write_text(HOME)
    return project


@pytest.fixture(scope="module")
def page(project):
    """Name of a page to its HTML."""
    html = build.build(project).parent
    return lambda name: BeautifulSoup((html / f"{name}.html").read_bytes(), "lxml")


def text(tag):
    return " ".join(tag.get_text().split()).rstrip("#")


def test_contents_and_the_page_itself_show_its_number_and_its_parts_have_none(page):
    shown = [text(link) for link in page("begin").select("nav.bd-links a")]
    titles = ["Home", "What is n?", "1 What is t?", "1.1 What is p?", "1.2 What is q?"]
    assert shown == [*titles, "2 What is t?"]
    for name, title in {"notebooks/q": "1.2 What is q?", "first": "1 What is t?"}.items():
        assert text(page(name).select_one("article h1")) == title
        assert [text(h) for h in page(name).select("article h2")] == ["A part", "Another"]
    assert text(page("begin").select_one("article h1")) == "What is n?"
    beside = page("notebooks/p").select(".prev-next-title")
    assert [text(title) for title in beside] == ["1 What is t?", "1.2 What is q?"]


def test_a_role_is_a_link_with_the_number_or_else_the_title_in_quotes(page):
    links = page("index").select("article p a")
    assert [(text(link), link["href"], link["title"]) for link in links] == [
        ("page 1.2", "notebooks/q.html", "What is q?"),
        ("Page 1.2", "notebooks/q.html", "What is q?"),
        ("“What is n?”", "begin.html", "What is n?"),
        ("chapter 1", "first.html", "What is t?"),
        ("Chapter 2", "last.html", "What is t?"),
    ]
    [link] = page("notebooks/p").select("article p a")
    assert (text(link), link["href"]) == ("page 1.2", "q.html")


def test_sphinx_reads_the_pages_again_that_have_changed_and_no_other_notebook(project, page):
    """An older file with other contents counts as changed, too."""

    def read():
        files = (project / "_build" / "state" / ".doctrees").rglob("*.doctree")
        return {path.stem: path.stat().st_mtime_ns for path in files}

    before = read()
    os.utime(write(project, "p", "See {page}`q` in second words."), (1, 1))
    write(project, "q", "Text.")  # as `gather` does, which writes them all
    build.build(project)
    after = read()
    assert text(page("notebooks/p").select_one("article p")) == "See page 1.2 in second words."
    assert text(page("notebooks/q").select_one("article p")) == "Text."
    assert after["p"] > before["p"] and after["q"] == before["q"]
