"""Page: figures and findings for the place where a reader meets them, above the cells that make them."""

import os
from collections.abc import Mapping

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from lkecore.answers.kept import save
from lkecore.errors import visible
from lkecore.figures.letters import fit


def glue_figure(figure: Figure, name: str, data: pd.DataFrame) -> None:
    """Hand a figure to the page under ``name``, and keep the numbers that it shows as ``name.csv``.

    The page shows it at its ``{glue:figure} name``, with caption and description in the prose. In JupyterLab,
    which has no such place, it is shown below the cell. A figure without axes, which would be no picture,
    becomes one that says so.
    """
    from myst_nb import glue

    if not figure.axes:
        ax = figure.subplots()
        ax.set_axis_off()
        ax.text(0.5, 0.5, "nothing to draw in this run", ha="center", va="center")
    save(data, f"{name}.csv")
    if numbers := fit(figure):
        said = ", ".join(f"{number} {visible(text)}" for number, text in numbers.items())
        print(f"No font of this machine has the letters of some names: {said}")
    glue(name, figure, display=not _in_a_run())
    plt.close(figure)


def glue_values(**values: str | float) -> None:
    """Hand texts and numbers to the page, which shows each at its ``{glue:text}`` and name.

    The sentence formats a number, as in ``{glue:text}`share:.0%` ``. The value "-" means that there is no
    value, and is not shown. The values are kept as ``findings.csv`` (name, text), from which the book's first
    page quotes.
    """
    from myst_nb import glue

    plain = {k: v if isinstance(v, str | int) else float(v) for k, v in values.items()}
    save(pd.DataFrame({"name": list(plain), "text": list(plain.values())}), "findings.csv")
    for name, value in plain.items():
        glue(name, " " if value == "-" else value, display=not _in_a_run())


def sentence(holds: Mapping[str, bool]) -> None:
    """Record whether words of the page's bold sentence, and of its captions, are true in this run.

    ``holds`` is {words: whether they are true}. A missing value counts as false. An empty mapping means that
    the sentence is not about such a run at all. A false word never stops a run: the page then opens with a
    sentence that names the false words, and only the build of the book's own runs stops
    (:mod:`lkecore.book.sentence`). The values are kept as ``sentence.csv`` (words, holds). In JupyterLab the
    false words are printed.
    """
    kept = {words: bool(pd.notna(true) and true) for words, true in holds.items()}
    save(pd.DataFrame({"words": list(kept), "holds": list(kept.values())}), "sentence.csv")
    failed = [words for words, true in kept.items() if not true]
    if not _in_a_run() and (failed or not kept):
        print("the sentence is about other runs; here does not hold:", "; ".join(failed) or "all")


def _in_a_run() -> bool:
    return "LKE_RUN" in os.environ
