"""Sentence: an author's bold sentence at the top of a page is replaced where it is not true of a run.

A page keeps ``sentence.csv``: words of its sentence and captions, and whether they are true
(:func:`lkecore.figures.page.sentence`). False words never stop a reader's run. They stop the book's own
build.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore import runs
from lkecore.book.foreign import plain
from lkecore.errors import BadInput
from lkecore.runs import plan

FILE = "sentence.csv"
BOLD = re.compile(r"^(# .+\n\n)\*\*([^*]+)\*\*(?=\n\n|$)")
# The subject of a page: a run with other values in one of these is a reader's run.
ABOUT = ("fact_set", "model", "models", "sources")


def failing(folder: Path) -> list[str] | None:
    """The words that are not true of a finished page; None if all are, or the page names none.

    An empty list means that the sentence is not about such a run at all. Raises :class:`BadInput`, naming
    the file, for a file that no page would keep so.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        holds = dict(zip(frame["words"], frame["holds"], strict=True))
    except (KeyError, ValueError) as error:
        raise BadInput(f"{path}: not a table of words and holds ({error})") from None
    failed = [words for words, true in holds.items() if true != "True"]
    return failed if failed or not holds else None


def instead(folder: Path) -> str:
    """The sentence of a finished page in place of its author's; "" where that stays."""
    failed = failing(folder)
    if failed is None:
        return ""
    why = "; of this one the sentence or a caption does not hold: " if failed else ""
    return f"This page was written about other runs{why}{'; '.join(failed)}."


def give_way(source: Any, folder: Path) -> None:
    """Put a true sentence about the finished page in ``folder`` in place of the bold sentence of ``source``.

    In a page without a bold sentence the new one ends the first text.
    """
    first = next((cell for cell in source.cells if cell.cell_type == "markdown"), None)
    if first and (said := instead(folder)):
        said = f"**{plain(said)}**"
        changed, n = BOLD.subn(lambda found: found[1] + said, first.source)
        first.source = changed if n else f"{first.source}\n\n{said}"


def refuse_own(whole: plan.Plan, found: Iterable[tuple[runs.Job, Path]]) -> None:
    """Raise :class:`BadInput` for all pages of the book's own whose words are not true.

    ``found`` has the job of each page, and the folder of its finished run. A page is the book's own if
    its facts, models and sources are those of its defaults, or of its row in ``params/book.yaml``.
    """
    failed = [(job, words) for job, folder in found if (words := failing(folder))]
    path = whole.project / "params" / "book.yaml"
    rows = plan.read_plan(path).rows if failed and path.exists() else ()
    own = {row.whole.notebook.stem: row.whole.effective for row in rows}
    lines = []
    for job, words in failed:
        name, declared = job.notebook.stem, plan.declared_parameters(job.notebook)
        defaults = {key: value for key, (_, value) in declared.items()}
        if any(
            all(job.effective.get(key) == ours.get(key) for key in ABOUT)
            for ours in (defaults, own.get(name, defaults))
        ):
            lines.append(f"{name}: {'; '.join(words)}")
    if lines:
        raise BadInput(
            "the sentence or a caption of these pages does not hold in the book's own runs, so that no "
            f"book is made: {' | '.join(lines)}. Mend the prose, or the words in figures.sentence"
        )
