"""Home: the opening of the book, its findings, quoted from its pages.

A page opens with one sentence in bold. ``findings.csv`` has the numbers of that sentence
(:func:`lkecore.figures.page.glue_values`), the size of the ``effect``, and which models were ``asked``. The
first page shows the main figure of one page, and below it the sentences of some pages. Each has a link to the
page that shows how it was measured. No number is typed here.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import nbformat
import pandas as pd

from lkecore.book.foreign import code, plain
from lkecore.book.sentence import BOLD, instead
from lkecore.errors import BadInput
from lkecore.storage import write_whole

FILE = "findings.csv"
QUOTED = (  # pages in the order of the first page
    "18_iclke_stands", "14_iclke_separators", "22_entropy_instilled", "53_lab_entropy",
    "31_xtraeval_task", "34_xtraeval_gaps", "41_belief_contexts", "42_belief_sure",
    "50_lab_truth", "56_lab_fooled", "90_leaderboard",
)  # fmt: skip
FIGURE = "90_leaderboard", "fig-ways"
ALT = "Two panels with a row for each method, and a mark each for facts with and without a hint."
CAPTION = (
    "A hint costs every method that looks at the object. Left: how often a fact that the text states is "
    "above one that it never states (dotted: a coin). Right: never stated facts that count as known if half "
    "of the stated ones do. Lines: 95 % over worlds, or over facts for a method tested in one. "
    f"From {{page}}`{FIGURE[0]}`."
)
GLUED = re.compile(r"{glue:text}`(\w+)(?::([^`]+))?`")  # a name, and the format of its number
SVG = "application/papermill.record/image/svg+xml"  # the type of figures shown elsewhere


def write(book: Path, pages: Mapping[str, tuple[Path, Collection[str]]]) -> None:
    """Write ``findings.md`` into the book's folder, which its first page includes.

    ``pages`` has, by the name of a page, the folder of its finished run and the models that it asked.
    The figure goes into the page's folder under ``book/notebooks``. Raises :class:`BadInput`, naming the
    file, for a file that no page would keep so.
    """
    quotes = {}
    for name in QUOTED:
        found = read(pages[name][0]) if name in pages else {}
        if found:
            other = instead(pages[name][0])  # its effect belongs to the sentence that gave way
            said = other or sentence(pages[name][0], found) or next(iter(found.values()))
            quotes[name] = said, "" if other else found.get("effect", ""), found.get("asked", "")
    page, figure = FIGURE
    drawing, image = drawing_of(pages[page][0], figure) if page in pages else None, None
    if drawing:
        image = f"notebooks/{page}/{figure}.svg"
        write_whole(book / image, drawing)
    used = {*quotes} | ({page} if image else set())
    models = {model for name in used for model in pages[name][1]}
    for_tests = sorted(m for m in models if m == "toy" or m.startswith("lab:smoke-"))
    write_whole(book / "findings.md", opening(quotes, image, for_tests))


def read(folder: Path) -> dict[str, str]:
    """The findings of a finished page, {name: sentence}; empty if it has none.

    A sentence of a single dash means that there is none, and is left out.
    """
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        pairs = zip(frame["name"], frame["text"], strict=True)
        return {name: text for name, text in pairs if text.strip() not in ("", "-")}
    except (KeyError, ValueError) as error:
        raise BadInput(f"{path}: not a table of name and text ({error})") from None


def sentence(folder: Path, found: Mapping[str, str]) -> str:
    """The bold sentence at the top of a finished page, with its numbers; "" if it has none.

    Raises :class:`BadInput`, naming the page, for a number that the page does not hand over.
    """
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    bold = BOLD.match(first)
    if not bold:
        return ""
    if lacking := [name for name, _ in GLUED.findall(bold[2]) if name not in found]:
        raise BadInput(f"{folder}: its sentence needs {lacking[0]!r}, which it does not hand over")

    def said(glued: re.Match[str]) -> str:
        text = found[glued[1]]
        return format(float(text), glued[2]) if glued[2] else text

    return " ".join(GLUED.sub(said, bold[2]).split())


def opening(
    quotes: Mapping[str, tuple[str, str, str]], image: str | None, for_tests: list[str]
) -> str:
    """The opening as MyST text: a figure if there is an ``image``, and a list of ``quotes``.

    ``quotes`` maps a page to a sentence, the effect and the models. ``image`` is its path from the book's
    folder. ``for_tests`` names the models whose numbers mean nothing.
    """
    lines = ["## What we found", ""]
    if for_tests:
        lines += [
            ":::{admonition} These numbers mean nothing",
            ":class: warning",
            f"This is a rehearsal with models for tests ({', '.join(map(code, for_tests))}).",
            "It shows that the code runs, nothing more.",
            ":::",
            "",
        ]
    if image:
        lines += [f":::{{figure}} {image}", ":name: fig-home", f":alt: {ALT}", "", CAPTION, ":::"]
        lines += [""]
    if quotes:
        lines += [
            "Each finding comes from a page of this book; the link shows how it was measured. In brackets",
            "are 95 % {term}`intervals <interval>`. The models are small: read {ref}`what that means",
            "<before-you-quote>` before you quote a number. A *lab* model is one that we trained on a text",
            "about an invented {term}`world`; a fact is *stated* if this text says it.",
            "",
        ]
    else:
        lines += ["This book has none of the pages that are quoted here.", ""]
    for page, (said, *about) in quotes.items():
        large = plain("; ".join(text for text in about if text))
        # Foreign text does not begin a line, where a dash or a number would be a list.
        lines.append(
            f"- {{doc}}`notebooks/{page}` ({{page}}`{page}`): {plain(said)}"
            + (f" *({large})*" if large else "")
        )
    return "\n".join(lines).rstrip() + "\n"


def drawing_of(run: Path, name: str) -> str | None:
    """The drawing (SVG) that an executed page handed over as ``name``; None if it has none."""
    notebook = nbformat.read(run / "notebook.ipynb", as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("metadata", {}).get("scrapbook", {}).get("name") == name:
                return output["data"].get(SVG)
    return None
