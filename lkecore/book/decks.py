"""Decks: slides for each lesson of teach.md, one HTML file each, of its words and the pages' figures.

A lesson's list after **Bets.** has pages and the bet on each. One slide asks, the next one shows the main
figure of the page and its bold sentence. The last slides have the lesson's questions.
"""

import base64
import html
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from string import Template

import nbformat

from lkecore.book import home, sentence
from lkecore.storage import DATA, write_whole

Pages = Mapping[str, tuple[Path, Collection[str]]]  # {name: (the folder of its run, its models)}
LESSON = re.compile(r"^## Lesson (\d+): ([^\n]+)\n(.*?)(?=^## |\Z)", re.M | re.S)
AIM = re.compile(r"^\*\*Aim\.\*\* (.+?)\n\n", re.M | re.S)
BETS = re.compile(r"^\*\*Bets\.\*\*.*?\n\n((?:[- ] .+\n)+)", re.M)
BET = re.compile(r"^- \{page\}`(\w+)`: (.+(?:\n  .+)*)", re.M)
QUESTION = re.compile(r"^```\{exercise\}\n:label: [^\n]+\n\n(.+?)\n```", re.M | re.S)
FIGURE = re.compile(r"```\{glue:figure\} ([\w-]+)\n(?::.+\n)*?:alt: (.+)\n")
ROLE = re.compile(r"\{(\w+)\}`([^`<]+?)(?: <[^`]*>)?`")


def write(book: Path, pages: Pages) -> list[Path]:
    """Write ``notebooks/decks/lesson1.html`` and so on into the book's folder: one for each lesson.

    ``pages`` has, by the name of a page, the folder of its finished run and the models that it asked. A
    bet on another page is left out, and a book without teach.md has no decks.
    """
    path = book / "teach.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    page, written = Template((DATA / "deck.html").read_text(encoding="utf-8")), []
    for number, title, lesson in LESSON.findall(text):
        title = f"Lesson {number}: {shown(title, pages)}"
        slides = "\n".join(f"<section>\n{slide}\n</section>" for slide in of(title, lesson, pages))
        target = book / "notebooks" / "decks" / f"lesson{number}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, page.substitute(title=title, slides=slides))
        written.append(target)
    return written


def of(title: str, lesson: str, pages: Pages) -> list[str]:
    """The slides of a lesson, as HTML: its title and aim, two for each bet, and its questions in threes."""
    asked = BET.findall("".join(BETS.findall(lesson)))
    bets = [(name, words) for name, words in asked if name in pages]
    models = {model for name, _ in bets for model in pages[name][1]}
    aim = f"<p>{shown(' '.join(AIM.findall(lesson)), pages)}</p>"
    if any(model == "toy" or model.startswith("lab:smoke-") for model in models):
        aim += "<b>A rehearsal with models for tests: the numbers mean nothing.</b>"
    slides = [f"<h1>{title}</h1>\n{aim}\n<small>→ or space: next slide; ←: back</small>"]
    for name, words in bets:
        title, words = shown(titled(name, pages), pages), shown(words, pages)
        bet = f"<small>Bet first</small>\n<h2>{title}</h2>\n<p>{words}</p>"
        slides += [bet, answer(name, pages[name][0])]
    asked = [shown(words, pages) for words in QUESTION.findall(lesson)]
    for first in range(0, len(asked), 3):
        items = "".join(f"<li>{words}</li>" for words in asked[first : first + 3])
        slides.append(f'<h2>Questions</h2>\n<ol start="{first + 1}">{items}</ol>')
    return slides


def answer(name: str, folder: Path) -> str:
    """The slide with the main figure of a finished page, its bold sentence and a link to the page."""
    said = sentence.instead(folder) or home.sentence(folder, home.read(folder))
    figure, image = FIGURE.search(first_cell(folder)), ""
    if figure and (drawing := home.drawing_of(folder, figure[1])):
        data = base64.b64encode(drawing.encode()).decode()
        image = f'<img alt="{html.escape(figure[2])}" src="data:image/svg+xml;base64,{data}">\n'
    image += f"<b>{html.escape(said)}</b>\n"
    return f'{image}<small><a href="../notebooks/{name}.html">the page</a></small>'


def first_cell(folder: Path) -> str:
    """The text with which a finished page begins."""
    cells = nbformat.read(folder / "notebook.ipynb", as_version=4).cells
    return next((cell.source for cell in cells if cell.cell_type == "markdown"), "")


def titled(name: str, pages: Pages) -> str:
    """The title of a page; its name if it is not in this book."""
    first = f"# {name}" if name not in pages else first_cell(pages[name][0])
    return first.partition("\n")[0].removeprefix("# ")


def shown(text: str, pages: Pages) -> str:
    """MyST text as HTML on one line; a page is cited by its title, any other role by its words."""

    def words(role: re.Match[str]) -> str:
        cited = role[1].lower() == "page"
        return f"“{ROLE.sub(words, titled(role[2], pages))}”" if cited else role[2]

    text = html.escape(" ".join(ROLE.sub(words, text).split()), quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)
