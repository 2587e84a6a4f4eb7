"""Slides and numbers for teachers: of pages made by hand, and what stands in teach.md itself."""

import base64
import importlib.util
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from test_book_home import DRAWING, page

from lkecore.book import decks

TOP = Path(__file__).resolve().parent.parent
SAID = "# Does it {term}`x <y>`?\n\n**It finds {glue:text}`few:.0%` <of> them.**\n\n```{glue:figure} fig-a\n"
SAID += ':name: fig-a\n:alt: A "row" of marks.\n\nCaption.\n```\n'
LESSON = """# Teach

## Lesson 1: one *fact*

**Aim.** Students can say
what {term}`rank` is.

**Bets.** Write it down.

- {page}`10_first`: How often, in `percent`,
  does <it>?
- {page}`20_gone`: Not in this book.

| minutes | what |
|---|---|

```{exercise}
:label: ex-a

What does {page}`10_first` *say*?
```

````{solution} ex-a
:class: dropdown

Nothing.
````

## How to mark

- {page}`10_first`: no bet.
"""


def deck(book, pages, text=LESSON):
    (book / "teach.md").write_text(text, encoding="utf-8")
    [path] = decks.write(book, pages)
    assert path == book / "notebooks" / "decks" / "lesson1.html"
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@pytest.fixture
def first(tmp_path):
    return page(tmp_path / "run", [("few", "0.234")], "fig-a", SAID)


def said(slide):
    return " ".join(slide.get_text().split())


def test_a_bet_comes_before_the_figure_and_the_questions_come_last(tmp_path, first):
    slides = deck(tmp_path, {"10_first": (first, ["smollm2"])}).select("section")
    assert [said(slide) for slide in slides] == [
        "Lesson 1: one fact Students can say what rank is. → or space: next slide; ←: back",
        "Bet first Does it x? How often, in percent, does <it>?",
        "It finds 23% <of> them. the page",
        "Questions What does “Does it x?” say?",
    ]
    [image] = slides[2].select("img")
    kind, data = image["src"].split(",")
    assert kind == "data:image/svg+xml;base64" and base64.b64decode(data).decode() == DRAWING
    assert image["alt"] == 'A "row" of marks.'
    assert slides[2].a["href"] == "../notebooks/10_first.html"


def test_a_deck_asks_for_nothing_outside_of_its_file(tmp_path, first):
    soup = deck(tmp_path, {"10_first": (first, ["smollm2"])})
    assert not soup.select("link, script[src], iframe, object")
    assert all(image["src"].startswith("data:") for image in soup.select("img"))
    style = soup.style.get_text()
    assert "url(" not in style and "@import" not in style
    assert "@media print" in style and "prefers-color-scheme: dark" in style


def test_a_page_without_a_figure_still_answers_and_one_whose_sentence_gave_way_says_so(tmp_path):
    bare = page(tmp_path / "run", [("few", "0.234")], None, SAID)
    (bare / "sentence.csv").write_text("words,holds\nfew,False\n")
    slides = deck(tmp_path, {"10_first": (bare, ["smollm2"])}).select("section")
    assert "does not hold: few" in said(slides[2]) and not slides[2].select("img")


# --- the numbers of answers


def found(book, asked):
    path = TOP / "book" / "_ext" / "teaching.py"
    spec = importlib.util.spec_from_file_location("book_teaching", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.found(book, asked)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("p/share:.0%", "23%"),
        ("p/share", "0.234"),
        ("p/between:.0%", "5 % [3, 7]"),
        ("p/none:.0%", "(no number in this book)"),
        ("q/share", "(no number in this book)"),
    ],
)
def test_a_number_of_a_page_is_shown_as_it_is_asked_for(tmp_path, asked, shown):
    folder = tmp_path / "notebooks" / "p"
    folder.mkdir(parents=True)
    rows = 'name,text\nshare,0.234\npoints,15.4\nbetween,"5 % [3, 7]"\nnone,-\n'
    (folder / "findings.csv").write_text(rows, encoding="utf-8")
    assert found(tmp_path, asked) == shown
