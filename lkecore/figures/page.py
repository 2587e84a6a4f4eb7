"""Page: put figures and findings where a reader meets them first, above the cells that make them."""

import html
import os

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from lkecore.answers.kept import keep
from lkecore.errors import visible
from lkecore.figures.letters import fit


def place(figure: Figure, name: str, data: pd.DataFrame) -> None:
    """Hand a figure to the page under ``name``, and keep the numbers that it shows as ``name.csv``.

    The page shows it where it says ``{glue:figure} name``, with caption and description in the prose.
    In JupyterLab, which knows no such place, it is shown below the cell. A figure without axes, which
    would be no picture, becomes one that says so.
    """
    from myst_nb import glue

    if not figure.axes:
        ax = figure.subplots()
        ax.set_axis_off()
        ax.text(0.5, 0.5, "nothing to draw in this run", ha="center", va="center")
    keep(data, f"{name}.csv")
    if numbers := fit(figure):
        said = ", ".join(f"{number} {visible(text)}" for number, text in numbers.items())
        print(f"No font of this machine has the letters of some names: {said}")
    glue(name, figure, display=not _in_a_run())
    plt.close(figure)


def findings(**texts: str) -> None:
    """Hand sentences to the page: each is shown where it says ``{glue:text}`` and its name.

    "-" says that there is nothing to say, and is not shown. They are kept as ``findings.csv`` (name,
    text), from which the book's first page quotes.
    """
    from myst_nb import glue

    keep(pd.DataFrame({"name": list(texts), "text": list(texts.values())}), "findings.csv")
    for name, text in texts.items():
        glue(name, " " if text == "-" else text, display=not _in_a_run())


class Note:
    """A remark with a look of its own in the book; the text is shown as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<p class="lke-note tex2jax_ignore mathjax_ignore">{html.escape(self.text)}</p>'


def note(name: str, text: str) -> None:
    """Hand a remark on where numbers are from to the page, which shows it where it says ``{glue:} name``."""
    from myst_nb import glue

    glue(name, Note(text), display=not _in_a_run())


def _in_a_run() -> bool:
    return "LKE_RUN" in os.environ
