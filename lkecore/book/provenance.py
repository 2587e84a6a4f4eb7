"""Provenance: what made the numbers of a page; the book writes it below the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore.answers.shipped import about_of, table
from lkecore.book.foreign import code, download, plain
from lkecore.errors import BadInput

AGAIN = "again-*.csv"  # a page's record of questions that were asked again (lkecore.answers.again)
COUNTS = ["model", "asked", "same", "nats"]
# Parameters of pages that name sources in results/.
SOURCES = ("sources", "others", "choices", "gains", "shares", "redrawn", "masked", "name_sources")
VERSIONS = [
    "lkecore",
    "source",
    "commit",
    "python",
    "torch",
    "transformers",
    "numpy",
    "scipy",
    "pandas",
]


def section(
    source: Any, manifest: Mapping[str, Any], behind: Mapping[str, Mapping[str, Any]], shown: Path
) -> str:
    """The last section of a page, as Markdown.

    ``source`` is the notebook, ``manifest`` that of the page in the folder ``shown``, and ``behind`` has
    those of its runs, by folder name. Raises :class:`BadInput` for a file of the page that no run would keep
    so.
    """
    made = _named(source, manifest["parameters"])
    rows = [_line(about_of(its)) for _, its in made.groupby(["experiment", "source"], sort=False)]
    head = ["| answers | asked | in | on | by | again with |", "|---|---|---|---|---|---|"]
    said = again(shown)
    if rows:
        longer = ["The answers of longer runs ship with the project:", "", *head, *rows, ""]
    else:
        longer = []
        said = said or ("All answers were asked for this page." if manifest["models"] else "")
    of_runs = [*behind.values()] or [manifest]
    about = [
        f"| model {code(name)} | digest {code(digest[:12])}, {plain(run['dtype'])}{_front(run, name)} |"
        for run in of_runs
        for name, digest in run["models"].items()
    ]
    about += [
        f"| {name} | {plain(', '.join(dict.fromkeys(run[name] for run in of_runs if name in run)))} |"
        for name in VERSIONS
    ]
    what = ["| what | which |", "|---|---|", *dict.fromkeys(about), ""]
    return "\n".join(["## Provenance", "", *longer, said, "", *what, ""])


def _front(run: Mapping[str, Any], name: str) -> str:
    """The tokens that a run put in front of each text of a model, in words; "" if it asked none."""
    if name not in run["prefixes"]:
        return ""
    return f", {plain(' '.join(run['prefixes'][name]) or 'nothing')} in front of a text"


def again(shown: Path) -> str:
    """The sentence about the questions that a page asked again; "" where it asked none."""
    paths = sorted(shown.glob(AGAIN))
    try:
        counts = [pd.read_csv(path)[COUNTS] for path in paths]
    except (KeyError, ValueError) as error:
        raise BadInput(f"{shown}: {AGAIN} are not what a page keeps ({error})") from None
    every = pd.concat(counts) if counts else pd.DataFrame(columns=COUNTS)
    n, off = every["asked"].sum(), every["asked"].sum() - every["same"].sum()
    none = [
        f"No answers of {plain(model)} ship: nothing of it was compared."
        for model in every.loc[every["asked"] == 0, "model"]
    ]
    if not n:
        return " ".join(none)
    text = f"{n:,} answers of longer runs were asked for again for this page"
    text += f"; {off:,} came out otherwise, as many as it allows" if off else ", and all agree"
    most = every["nats"].max()
    text += f" (largest difference {most:.1g} nats)." if pd.notna(most) else "."
    return " ".join([text, *none])


def files(beside: Path, data: list[Path], behind: dict[str, dict[str, Any]]) -> str:
    """The links to what a reader may download: the notebook, the data, and the runs of the page."""
    name = beside.name
    lines = [
        "**Take it with you**",
        "",
        f"- {download('The notebook, without results', f'{name}/{name}.ipynb')}, for Jupyter",
        f"- A copy to change, with a page of its own: `lke new {name[:2]}_my_idea --from {name}`",
        "",
        "**Data of this page**",
        "",
        *[f"- {download(file.name, f'{name}/{file.name}')}" for file in data],
        "",
        "**Runs behind this page**",
        "",
    ]
    for run, manifest in behind.items():
        part = ", ".join(f"{k} {', '.join(map(plain, v))}" for k, v in manifest["part"].items())
        names = {"notebook.ipynb": "executed notebook", "manifest.json": "manifest"}
        tables = sorted(file for file in manifest["files"] if file.endswith(".parquet"))
        links = [
            download(names.get(file, file), f"{name}/{run}/{file}")
            if (beside / run / file).exists()
            else f"{plain(file)} is too large for a page"
            for file in ["notebook.ipynb", *tables, "manifest.json"]
        ]
        about = f"{code(run)}{f' ({part})' if part else ''}, {manifest['seconds']:.0f} s"
        lines.append(f"- {about}: {', '.join(links)}")
    return "\n".join(lines)


def _named(source: Any, parameters: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of ``made_by.csv`` of experiments that a notebook's code names, and of its sources."""
    cells = [cell.source for cell in source.cells if cell.cell_type == "code"]
    values = [each for name in SOURCES for each in _items(parameters.get(name))]
    made = table()
    named = [e for e in made["experiment"].unique() if any(f'"{e}' in cell for cell in cells)]
    return made[made["experiment"].isin(named) & made["source"].isin(values)]


def _items(value: Any) -> list[str]:
    several = value if isinstance(value, list) else [value]
    return [each for each in several if isinstance(each, str)]


def _line(about: Mapping[str, Any]) -> str:
    """A row of the table about one source.

    The minutes are those of the runs that ended; the row says so where earlier runs had scored a part.
    """
    kept, took = about["chunks_from_cache"], f"{about['seconds'] / 60:.0f} min"
    if kept:
        took += f" ({kept} of {about['chunks']} parts scored before)"
    if about["worlds"]:
        took += " without training"
    name = f"{about['profile']}, {about['notebook']}"
    return (
        f"| {plain(name)} | {about['started'][:10]} | {took} | {plain(about['device'])} | "
        f"{code(about['commit'])} | {code(about['command'].partition(', then')[0])} |"
    )
