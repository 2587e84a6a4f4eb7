"""Coverage: which parts of the papers the book has carried out, and where each can be seen.

Every method, equation, data set, figure and table of a paper has an id, such as IC-F1
(``data/coverage.csv``). A code cell of a notebook names the ids that its output shows, in its metadata
(``covers=["IC-F1"]``). Only output counts: a cell that was not executed, or that printed and drew nothing,
covers nothing. Some ids need more: the paper's facts, say, or a second model. Then the cell says so in
``needs={"IC-D1": {"fact_set": "nobel"}, "IC-F9": {"models": 2}}``, and the id counts where the parameters
meet the needs. An id that was carried out with fewer models, relations, options or facts than in the paper,
or on models of the lab alone, is a *small version*: ``whole`` of the list states the size of the paper's.
Tests name the ids that they check anywhere in their text.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lkecore.book.foreign import code, plain
from lkecore.errors import BadInput, nearest
from lkecore.models import lab
from lkecore.papers.published import DATA

PAPERS = {
    "IC": ("IC-LKE", "wu2024iclke"),
    "PZ": ("Entropy and KL", "pezeshkpour2023measuring"),
    "BL": ("BELIEF", "zhao2024belief"),
    "XT": ("XTRAEVAL", "kazemnejad2023measuring"),
}
MISSING = '<span class="lke-missing">not yet</span>'
ID = re.compile(r"\b[A-Z]{2}-[A-Z]{1,2}\d+[a-z]?")
EXAMPLES = "test_book_coverage.py"  # it tests this list: the ids there are made-up cases
PLACED = re.compile(r"figures\.glue_figure\([\w.]+, \"([^\"]+)\"")
SHIPPED = "-shipped"  # the end of the names of figures that draw shipped results alone


class Place(NamedTuple):
    """A place where an id can be seen: on which page, in which numbered figure ("": a table or text)."""

    id: str
    page: str
    figure: str
    models: tuple[str, ...]
    small: bool = False  # with less than the paper has


def asked() -> pd.DataFrame:
    """A row for each id that is to be covered, in order.

    - ``id``, ``paper``, ``kind``;
    - ``what``: in our words;
    - ``whole``: the least size of the paper's version, such as "real 4, n_options 100": so many real models,
      and so many options; "" where there is no smaller one, as of an equation;
    - ``why_not``: why no page covers it yet, as MyST text; "" for an id that notebooks cover.
    """
    with (DATA / "coverage.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False)


def needed(whole: str) -> dict[str, Any]:
    """``whole`` of :func:`asked` as the needs of a cell.

    >>> needed("fact_set nobel, n_pairs 200")
    {'fact_set': 'nobel', 'n_pairs': 200}
    """
    pairs = [each.split() for each in whole.split(", ") if each]
    return {name: int(least) if least.isdecimal() else least for name, least in pairs}


class Asked(NamedTuple):
    """The subject of outputs: the models, and the parameters with which they were asked."""

    models: tuple[str, ...]
    parameters: Mapping[str, Any]


def of_page(
    source: Any, executed: Any, page: str, run: Asked, shipped: Sequence[Asked] = ()
) -> list[Place]:
    """A :class:`Place` for each id and cell with an output of an executed notebook.

    ``source`` has the metadata of the cells and ``executed`` their outputs; the code of both is the same.
    ``run`` is the subject of the page itself. ``shipped`` has the results that it shows besides, in figures
    of their own (``SHIPPED``) or in cells whose ``shows`` says so: "run", "shipped" or both.

    An id with needs counts where one of these meets all of them: a list has at least so many values, a number
    is at least so large, and a text, such as a fact set's name, has the needed one in it.

    Raises :class:`BadInput` for an id that is not on the list, needs of an id that the cell does not
    name, and a needed parameter that the notebook does not have.
    """
    known = dict(asked().set_index("id")["whole"].map(needed))
    outputs: dict[str, list[Any]] = {}  # two cells may have the same code: their outputs in order
    for cell in executed.cells:
        if cell.cell_type == "code":
            outputs.setdefault(cell.source, []).append(cell.outputs)
    found = []
    for cell in source.cells:
        shown = cell.cell_type == "code" and (outputs.get(cell.source) or [[]]).pop(0)
        named, needs = cell.metadata.get("covers", []), cell.metadata.get("needs", {})
        for each in [*named, *needs]:
            if each not in known:
                raise BadInput(f"{page} covers {each!r}, unknown; {nearest(each, known)}")
        if without := [each for each in needs if each not in named]:
            raise BadInput(f"{page}: needs of {without[0]}, which the cell does not cover")
        for name in {name for needed in needs.values() for name in needed}:
            if name not in run.parameters:
                hint = nearest(name, run.parameters)
                raise BadInput(f"{page} needs {name!r}, which is no parameter of it; {hint}")
        figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        if placed := PLACED.search(cell.source):
            figure = placed[1]
        shows = cell.metadata.get("shows", ["shipped" if figure.endswith(SHIPPED) else "run"])
        about = [run] * ("run" in shows) + [*shipped] * ("shipped" in shows)
        for each in named if shown else []:
            met = [of for of in about if _meets(of.parameters, needs.get(each, {}))]
            models = tuple(dict.fromkeys(model for of in met for model in of.models))
            small = not any(_meets(_with_real(of), known[each]) for of in met)
            found += [Place(each, page, figure, models, small)] if met else []
    return found


def _with_real(of: Asked) -> dict[str, Any]:
    """The parameters, and in ``real`` the models that have learned from real text."""
    real = [name for name in of.models if not lab.is_name(name) and name != "toy"]
    return {**of.parameters, "real": real}


def _meets(given: Mapping[str, Any], needed: Mapping[str, Any]) -> bool:
    """Whether parameters meet the needs of an id; the oldest results do not have all of them."""
    for name, least in needed.items():
        if name not in given:
            return False
        value = given[name]
        if isinstance(value, str):
            enough = str(least).lower() in value.lower()
        else:
            enough = (len(value) if isinstance(value, list) else value) >= least
        if not enough:
            return False
    return True


def in_tests(tests: Path) -> dict[str, list[str]]:
    """{id: the test files that name it}, without the test of this list; empty without such a folder."""
    named: dict[str, list[str]] = {}
    for path in sorted(path for path in tests.glob("test_*.py") if path.name != EXAMPLES):
        for each in sorted(set(ID.findall(path.read_text(encoding="utf-8")))):
            named.setdefault(each, []).append(path.name)
    return named


def page(
    covered: Sequence[Place],
    tests: Mapping[str, list[str]],
    profile: str,
    runs: Mapping[str, str],
) -> str:
    """The book's page on coverage, as MyST text: a table for each paper, a row for each id; then the runs.

    ``tests`` is as in :func:`in_tests`; ``runs`` maps a page's name to the run that it shows.
    """
    every = asked()
    seen: dict[str, list[Place]] = {}
    for place in covered:
        seen.setdefault(place.id, []).append(place)
    missing = [each for each in every["id"] if each not in seen]
    small = [each for each, places in seen.items() if all(place.small for place in places)]
    lines = [
        "# What is covered",
        "",
        "Each method, equation, data set, figure and table of a paper has an id. Next to it is the place in",
        f"this book that carries it out, as the profile {plain(profile)} ran it. The list is made from",
        "executed notebooks: an id counts if the cell that names it has printed or drawn something. An id",
        "about certain facts or several models counts only with these facts or models. So the list says",
        "that a thing was done, and on which models. The pages say whether a number is the paper's.",
        "*Smaller* is the same protocol with fewer real models, relations, options or facts.",
        "",
        f"{len(seen) - len(small)} of {len(every)} are covered as in the paper, and {len(small)} by the same"
        " protocol, smaller. "
        + (f"Not yet: {', '.join(missing)}." if missing else "Nothing is missing."),
    ]
    for paper, part in every.groupby("paper", sort=False):
        name, key = PAPERS[paper]
        lines += ["", f"## {name}", "", f"The paper: {{cite:t}}`{key}`.", ""]
        lines += ["| id | what | version | seen in | on | tests |", "|---|---|---|---|---|---|"]
        for row in part.itertuples():
            places = seen.get(row.id, [])
            where = ", ".join(dict.fromkeys(map(_link, places)))
            where = where or ": ".join(filter(None, [MISSING, row.why_not]))
            version = "smaller" if row.id in small else "as in the paper" if places else "not yet"
            models = ", ".join(dict.fromkeys(plain(m) for place in places for m in place.models))
            files = ", ".join(code(name) for name in tests.get(row.id, []))
            # Its hyphen would be a place to break the line.
            each = f'<span class="lke-id">{row.id}</span>'
            lines.append(f"| {each} | {row.what} | {version} | {where} | {models} | {files} |")
        pages = sorted({place.page for place in covered if place.id in set(part["id"])})
        if pages:
            lines += ["", "The runs that these pages show, by the names of their folders:", ""]
            lines += ["| page | question | run |", "|---|---|---|"]
        lines += [
            f"| {{page}}`{each}` | {{doc}}`notebooks/{each}` | {code(runs[each])} |"
            for each in pages
        ]
    return "\n".join(lines) + "\n"


def _link(place: Place) -> str:
    if place.figure:
        return f"{{numref}}`{place.figure}`"
    return f"{{page}}`{place.page}`"
