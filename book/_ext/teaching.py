"""What teach.md needs: numbers of the book's own pages, and the decks beside it.

{found}`53_lab_entropy/kl:.0%` is the number that this page has handed over as `kl` (figures.glue_values),
shown in percent; without a colon it is shown as it is. A book without this page or this number says so,
without a warning: an answer of teach.md is read in any profile.

`lke book` writes the decks among the pages of notebooks. They are copied as they are.
"""

import csv
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxRole

NONE = "(no number in this book)"


def found(book, asked):
    """The number that is asked for as page/name:format, as text."""
    place, _, shown = asked.partition(":")
    page, _, name = place.partition("/")
    path = Path(book) / "notebooks" / page / "findings.csv"
    if not path.exists():
        return NONE
    with path.open(encoding="utf-8", newline="") as file:
        text = {row["name"]: row["text"] for row in csv.DictReader(file)}.get(name, "-").strip()
    try:
        return NONE if text in ("", "-") else format(float(text), shown) if shown else text
    except ValueError:  # a text where a number was, in a run of a reader's own
        return text


class Found(SphinxRole):
    def run(self):
        return [nodes.inline("", found(self.env.srcdir, self.text))], []


def copy_decks(app, exception):
    """Copy the decks beside the pages."""
    decks = Path(app.srcdir) / "notebooks" / "decks"
    if exception is None and app.builder.format == "html" and decks.exists():
        shutil.copytree(decks, Path(app.outdir) / "decks", dirs_exist_ok=True)


def setup(app):
    app.add_role("found", Found())
    app.connect("build-finished", copy_decks, priority=900)  # after the repairs of pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
