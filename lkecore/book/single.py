"""Single: one page alone, for an author or for readers. It needs no contents and no other page.

Links to other pages are plain text here. Citations and terms lead to two small pages beside it.
"""

import base64
import mimetypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from lkecore.book import ask, build, fork, sentence
from lkecore.errors import BadInput, visible
from lkecore.runs import plan
from lkecore.storage import write_whole

BESIDE = ("glossary", "references")
# Links to pages that do not exist here. One to an equation has no name by which Sphinx would leave it out.
SUPPRESSED = ["myst.xref_missing", "ref.doc", "ref.numref", "ref.page", "ref.ref", "ref.term"]
LOOK = "body {max-width: 60rem; margin: 2rem auto} td, th {padding: 0.1rem 0.7rem}"
# What a style would fetch. A quoted address may have brackets: half of one would undo all that follows.
FETCHED = re.compile(r"""@import[^;]+;|url\((?:"[^"]*"|'[^']*'|[^)]*)\)""")
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def plan_of(project: Path, name: str, params: Path | None = None) -> plan.Plan:
    """The plan of a page: its row in ``params``, else in params/book.yaml, else its own defaults.

    Raises :class:`BadInput` for an unknown notebook, and for a ``params`` that has no row of it.
    """
    notebook, book = fork.find_notebook(project, name), project / "params" / "book.yaml"
    if params is None and book.exists():
        whole = plan.read_plan(book)
        params = book if name in [row.whole.notebook.stem for row in whole.rows] else None
    if params is None:
        return plan.of_defaults(project, notebook)
    return plan.only(plan.read_plan(params), [name])


def render(whole: plan.Plan, name: str, folder: Path) -> Path:
    """Make ``_build/page/NAME`` of the finished run of a page in ``folder``; returns its HTML file.

    Sphinx's warnings about it, and the sentence that replaces the author's, go to standard error, and the
    page is made all the same. Raises :class:`BadInput` if the run is not finished, or no page was made.
    """
    [row] = [row for row in whole.rows if row.whole.notebook.stem == name]
    job, shown, manifest, behind = plan.finished(row, folder)
    if None in [manifest, *behind.values()]:
        raise BadInput(f"no finished run of {name}; first: lke page {name}")
    if said := sentence.instead(shown):
        print(visible(f"{name}: {said}"), file=sys.stderr)
    book = _emptied(whole.project, name)
    (book / "notebooks").mkdir()
    build.write_page(job.notebook, shown, manifest, behind, whole.profile, book / "notebooks")
    return _built(whole.project, name, f"notebooks/{name}")


def is_prose(project: Path, name: str) -> bool:
    """Whether a name is that of a page of the book without a notebook, such as "ask"."""
    return name in {path.stem for path in (project / "book").glob("*.md")}


def render_prose(project: Path, name: str) -> Path:
    """Make ``_build/page/NAME`` of a page without a notebook, which needs no run; returns its HTML file.

    The folder of "ask" contains the models and facts, so that it can be given to others. Raises as
    :func:`render`.
    """
    book = _emptied(project, name)
    shutil.copy(project / "book" / f"{name}.md", book)
    if name == ask.PAGE:
        ask.write(book / "_static" / name)
    return _built(project, name, name)


def _emptied(project: Path, name: str) -> Path:
    """The folder from which a page alone is built, emptied."""
    book = project / "_build" / "page" / name / "book"
    shutil.rmtree(book, ignore_errors=True)
    book.mkdir(parents=True)
    return book


def _built(project: Path, name: str, file: str) -> Path:
    """The HTML of a page whose ``file`` is in its folder, with the pages beside it."""
    place, source = project / "_build" / "page" / name, project / "book"
    book = place / "book"
    left_out = shutil.ignore_patterns(*[ask.PAGE] * (name != ask.PAGE), "weights-*", "facts.js")
    for extra in ("_static", "_ext"):
        if (source / extra).exists():
            shutil.copytree(source / extra, book / extra, ignore=left_out, dirs_exist_ok=True)
    there = [each for each in BESIDE if (source / f"{each}.md").exists() and each != name]
    for each in [*(f"{each}.md" for each in there), "references.bib"]:
        if (source / each).exists():
            shutil.copy(source / each, book)
    contents = {"format": "jb-book", "root": file}
    contents |= {"chapters": [{"file": each} for each in there]} if there else {}
    write_whole(book / "_toc.yml", yaml.safe_dump(contents))
    config = yaml.safe_load((project / "_config.yml").read_text(encoding="utf-8"))
    settings = config.setdefault("sphinx", {}).setdefault("config", {})
    settings["suppress_warnings"] = [*settings.get("suppress_warnings", []), *SUPPRESSED]
    write_whole(place / "_config.yml", yaml.safe_dump(config))
    command = [sys.executable, "-c", build.SPHINX, "build", "book", "--config", "_config.yml"]
    command += ["--path-output", ".", "-q"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    page = place / "_build" / "html" / f"{file}.html"
    failed = done.returncode != 0 or not page.exists()
    for line in COLOUR.sub("", done.stdout + done.stderr).splitlines():
        if failed or f"{file}." in line and "equation not found" not in line:
            print(visible(line), file=sys.stderr)
    if failed:
        raise BadInput(f"the page {name} was not built, for the reasons above")
    return page


def alone(page: Path, title: str = "") -> str:
    """The article of a page as one HTML text: images and styles inside, no code or scripts, nothing to fetch.

    ``title`` replaces the page's own.
    """
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(page.read_bytes(), "lxml")
    styles = []
    for link in soup.select('link[rel="stylesheet"][href]'):
        style = page.parent / link["href"].partition("?")[0]
        if style.is_file():
            styles.append(FETCHED.sub("", style.read_text(encoding="utf-8")))
    article = soup.select_one("article")
    if title:
        soup.title.string = article.select_one("h1").string = title
    unread = "script, a.headerlink, link, .cell_input, details:has(> .cell_input)"
    for tag in [*article.select(unread)]:
        tag.decompose()
    for link in article.select("a[href]"):
        if not link["href"].startswith(("#", "http")):
            link.unwrap()
    for image in article.select("img[src]"):
        data = (page.parent / image["src"]).read_bytes()
        kind = mimetypes.guess_type(image["src"])[0]
        image["src"] = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    head = f"{soup.title}<style>{' '.join(styles)} {LOOK}</style>"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}</head>'
        f"<body>{article}</body></html>"
    )
