"""Verdicts: all claims of the papers and of the lab on one page, with the verdicts of the book's pages.

A page that tests claims keeps a ``verdicts.csv``, a row for each claim
(:func:`lkecore.answers.decided.verdicts`).
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from lkecore import papers, stats
from lkecore.answers.decided import ALONE, CHANGED, DIFFERS, FEW, ONE_DRAW, SERVED, UNLEARNED
from lkecore.book.coverage import PAPERS
from lkecore.book.foreign import plain
from lkecore.errors import BadInput
from lkecore.stats import power

FILE = "verdicts.csv"
ALL = "every_verdict.csv"  # in the page's folder: all verdicts, with the answers that decided each
LARGE = 1_000_000  # with so many units, t is normal
ORDER = ["holds", "fails", "undecided"]
HEADS = ["claim", "holds if", "ours", "verdict", "could show", "tested in"]
OTHER = "not a difference of shares"
SHARE = re.compile(r"share of (?!the (probability|right pairs|largest))")  # a unit that is one


def read(folder: Path) -> pd.DataFrame | None:
    """The verdicts of a finished page; None if it tests no claims.

    Raises :class:`BadInput`, naming the file, for a file that no page would keep so.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        frame = pd.read_csv(path, keep_default_na=False)
        if list(frame) != papers.ONE_EACH:
            raise ValueError(f"the columns must be {papers.ONE_EACH}")
        says = [*ORDER, DIFFERS, FEW, ALONE, UNLEARNED, CHANGED, ONE_DRAW, SERVED]
        known = {"id": [*papers.claims("")["id"]], "verdict": says}
        for column, allowed in known.items():
            if len(lost := frame.loc[~frame[column].isin(allowed), column]):
                raise ValueError(f"{column} {lost.iloc[0]!r} is unknown")
        frame.loc[frame["verdict"] == ALONE, ["low", "high"]] = float("nan")  # empty in the file
        return frame.astype(dict.fromkeys(["estimate", "low", "high"], float))
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None


def every(found: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each verdict: ``id``, ``claim``, ``holds_if``, ``page``, then the columns that a page keeps.

    ``found`` maps a page's name to its frame from :func:`read`.
    """
    about = papers.claims("")[["id", "claim", "holds_if", "whose", "statistic", "unit", "interval"]]
    pages = [f.drop(columns=["claim", "holds_if"], errors="ignore") for f in found.values()]
    own = [f.assign(page=name) for name, f in zip(found, pages, strict=True)]
    rows = about.merge(pd.concat(own or [pd.DataFrame(columns=["id"])]), on="id")
    rows["could_show"] = [could_show(row, row) for _, row in rows.iterrows()]
    return rows.drop(columns=["unit", "interval"])


def could_show(row: Mapping, claim: Mapping) -> float | str:
    """The least difference that the design of an undecided claim shows in 80 % of all cases.

    It follows from the interval, whose width is a number of standard errors. "" for a claim that is decided
    or was not tested, or has no interval; ``OTHER`` for one that is no difference of two shares.

    >>> claim = {"unit": "share of facts", "statistic": "one minus other", "interval": "Student's t"}
    >>> row = {"verdict": "undecided", "low": -0.1, "high": 0.2, "n": 12}
    >>> print(round(could_show(row, claim), 3))  # 0.15 (2.201 + 0.876) / 2.201
    0.21
    """
    if not row["verdict"].startswith("undecided"):
        return ""
    difference = SHARE.match(claim["unit"]) and " minus " in claim["statistic"]
    if not difference or "deviation" in claim["statistic"]:
        return OTHER
    half, of_t = (row["high"] - row["low"]) / 2, claim["interval"] == "Student's t"
    n = pd.to_numeric(row["n"], errors="coerce")  # "" where a page kept none
    n = int(n) if of_t and row["verdict"] != FEW and n >= 2 else LARGE
    return "" if pd.isna(half) else half * power.least(1.0, n) / power.least(1.0, n, power=0.5)


def page(found: Mapping[str, pd.DataFrame], profile: str) -> str:
    """The book's page on claims, as MyST text: a row for each claim, and a link to all of :func:`every`.

    A row has the estimate, its verdict and, of an undecided one, the difference that its design could have
    shown.
    """
    lines = [
        "# What holds, and where",
        "",
        "Each claim of a paper that the book tests, and what came out on the pages that the profile",
        f"{plain(profile)} ran; at the end, the lab's own. A claim **holds** or **fails** if the whole 95 %",
        "interval lies on one side of a bound that was written down before the run; otherwise it is",
        "**undecided**. *Could show* is then the least difference that its relations, worlds or facts",
        "show in 80 % of all cases ({page}`91_power`). One that is **not tested** was to be decided by a",
        "method that did not work here; one whose **definition changed after the answers** waits for",
        "others. Their numbers decide nothing.",
        "",
        f"On what each was decided, with which models, facts and way of asking: {{download}}`{ALL}`. The",
        "rule, as it was written down: a paper's claim is decided on a real model, in the source with most",
        "relations on which it beats the best {term}`rule`; a claim of the lab over all worlds.",
    ]
    if any("toy" in {*frame["model"]} for frame in found.values()):
        lines += [
            "",
            "The model `toy` is random: its verdicts show that the code runs, nothing more.",
        ]
    for key, (name, cited) in PAPERS.items():
        lines += ["", f"## {name}", "", f"The paper: {{cite:t}}`{cited}`.", ""]
        lines += _claims(papers.claims(key), found)
    lines += [
        "",
        "## The lab's own claims",
        "",
        "These are ours, about small models whose text we wrote ({page}`lab`). **Findings** could have come",
        "out otherwise. A **check** was built in: one that fails is a fault of the lab, one that holds has",
        "found nothing.",
    ]
    claims = papers.claims("LAB")
    for title, is_check in (("findings", False), ("checks", True)):
        part = claims[(claims["whose"] == "check") == is_check]
        lines += ["", f"### The lab: {title}", "", *_claims(part, found)]
    return "\n".join(lines) + "\n"


def _claims(claims: pd.DataFrame, found: Mapping[str, pd.DataFrame]) -> list[str]:
    lines = [_row(HEADS), _row(["---"] * len(HEADS))]
    for claim in claims.itertuples():
        said = claim.claim + " *(ours)*" * (claim.whose == "ours" and claim.paper != "LAB")
        its = {name: frame[frame["id"] == claim.id] for name, frame in found.items()}
        its = {name: part for name, part in its.items() if len(part)}
        for name, part in its.items():
            for _, row in part.iterrows():
                ours = stats.format_estimate(row, 3)
                least = could_show(row, claim._asdict())
                least = least if isinstance(least, str) else f"{least:.3f}"
                lines.append(_row([said, claim.holds_if, ours, row.verdict, least, _link(name)]))
        if not its:
            lines.append(_row([said, claim.holds_if, "–", "–", "", "not tested"]))
    return lines


def _link(page: str) -> str:
    return f"{{page}}`{page}`"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
