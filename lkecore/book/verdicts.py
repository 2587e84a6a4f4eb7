"""Verdicts: all claims of the papers and of the lab on one page, with what the book's pages say of each.

A page that tests claims keeps a ``verdicts.csv``: one line a claim
(:func:`lkecore.answers.verdicts.verdicts`), or, on pages that judge a claim under every source and model, a
line for each (:func:`lkecore.papers.verdict.verdicts`). The columns tell the two forms apart.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore import papers, stats
from lkecore.answers.show import numbered
from lkecore.answers.verdicts import ALONE, DIFFERS
from lkecore.book.coverage import PAPERS
from lkecore.book.foreign import plain
from lkecore.errors import BadInput

FILE = "verdicts.csv"
# What the verdict would be on facts without a cue, and by which interval, on pages that tell it.
BARE, BARE_INTERVAL = "without_cues", "no_cue"
ORDER = ["holds", "fails", "undecided"]
# On what a claim is decided: written down before it was applied.
RULE = [
    "On which answers is a claim decided? A paper's claim on those of a real model, in the source with the",
    "most relations on which the model beats the best {term}`rule` (both models, where two are compared;",
    "then more facts, then the name). A claim of the lab, or one that no real model was asked about, over",
    "all worlds, one value a world, of the largest size that all have. A model that beats the rule in at",
    "most half of the relations is at chance: this is looked at once, for the choice. What other sources say",
    "is one line under the table of the claim's page. Gates never change which models a claim compares.",
]
HEADS = ["claim", "holds if", "ours", "n", "verdict", "decided on", "tested in"]


def read(folder: Path) -> pd.DataFrame | None:
    """What a finished page says of claims, in one of the two forms; None if it tests none.

    Raises :class:`BadInput`, naming the file, if it is not one that a page keeps.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        frame = pd.read_csv(path, keep_default_na=False)
        if "decided_on" not in frame:
            frame = papers.verdicts(frame)
            return frame.assign(**{name: frame.get(name, "") for name in (BARE, BARE_INTERVAL)})
        if list(frame) != papers.ONE_EACH:
            raise ValueError(f"the columns must be {papers.ONE_EACH}")
        known = {"id": [*papers.claims("")["id"]], "verdict": [*ORDER, DIFFERS, ALONE]}
        for column, allowed in known.items():
            if len(lost := frame.loc[~frame[column].isin(allowed), column]):
                raise ValueError(f"{column} {lost.iloc[0]!r} is unknown")
        frame.loc[frame["verdict"] == ALONE, ["low", "high"]] = float("nan")  # empty in the file
        return frame.astype(dict.fromkeys(["estimate", "low", "high"], float))
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None


def page(found: Mapping[str, pd.DataFrame], profile: str) -> str:
    """The book's page on claims, as MyST text. `found`: a page's name to what `read` gave.

    A table for each paper, and for findings and checks of the lab, has a row for each claim: the estimate
    and its verdict, where a page decides it once; else how its verdicts are counted. Those have lists below.
    """
    parts: dict[bool, list[pd.DataFrame]] = {True: [], False: []}
    for name, frame in found.items():
        parts["decided_on" in frame].append(frame.assign(page=name))
    once = pd.concat(parts[True] or [pd.DataFrame(columns=[*papers.ONE_EACH, "page"])])
    columns = [*papers.VERDICTS, BARE, BARE_INTERVAL, "page"]
    old = pd.concat(parts[False] or [pd.DataFrame(columns=columns)])
    old = old[~old["id"].isin(once["id"])]
    lines = [
        "# What holds, and where",
        "",
        "Each claim of a paper that the book tests, and what came out; at the end, the lab's own. What a",
        "claim means in numbers stands in `lkecore/data/claims.csv`; the pages tell how it is tested. They",
        f"are those that the profile {plain(profile)} ran.",
        "",
        "A claim **holds** or **fails** if the whole interval of its statistic lies on one side of the",
        "bound, and is **undecided** else.",
        "",
        *RULE,
        "",
        "So it is where the table has an estimate. Other pages still judge a claim under every source, model",
        "and way of asking: of those the table counts the verdicts in the paper's way that no mark sets",
        "aside, and the lists below have all. Do not read the counts as votes. The verdicts of one claim",
        "share facts, and often the text that the models have read: ten of them can be one finding. Over",
        "{ref}`three or four relations <few-relations>` intervals are wide, whatever the number of facts.",
    ]
    if "toy" in {*old["models"], *once["model"]}:
        lines += [
            "",
            "The model `toy` is random: its verdicts show that the code runs, nothing more.",
        ]
    for key, (name, cited) in PAPERS.items():
        lines += ["", f"## {name}", "", f"The paper: {{cite:t}}`{cited}`.", ""]
        lines += _claims(papers.claims(key), once, old, f"### {name}: every verdict")
    lines += [
        "",
        "## The lab's own claims",
        "",
        "These are ours, and about small models whose text we wrote ({doc}`lab`). **Findings** could have",
        "come out otherwise. What a **check** says was built in: that a model answers in the form in which",
        "it was trained, for instance, or shows nothing of what it was never told. A check that fails is a",
        "fault of the lab, and one that holds has found nothing. The claim on tuning is counted with them,",
        "though it is a prediction: it was turned round when the tuning was changed.",
    ]
    claims = papers.claims("LAB")
    for title, is_check in (("findings", False), ("checks", True)):
        part = claims[(claims["whose"] == "check") == is_check]
        lines += ["", f"### The lab: {title}", "", *_claims(part, once, old, "")]
    return "\n".join(lines) + "\n"


def _claims(claims: pd.DataFrame, once: pd.DataFrame, old: pd.DataFrame, title: str) -> list[str]:
    """The table of some claims; then, below ``title``, every verdict of those that are not decided once."""
    lines = [_row(HEADS), _row(["---"] * len(HEADS))]
    for claim in claims.itertuples():
        said = claim.claim + " *(ours)*" * (claim.whose == "ours" and claim.paper != "LAB")
        for _, row in once[once["id"] == claim.id].iterrows():
            ours = stats.said(row, 3)
            where = "; ".join(map(plain, (row.decided_on, row.model, row.estimator)))
            n = plain(str(row.n)).removesuffix(".0")
            tested = f"{{doc}}`notebooks/{row.page}`"
            lines.append(_row([said, claim.holds_if, ours, n, row.verdict, where, tested]))
        if claim.id not in set(once["id"]):
            part = old[old["id"] == claim.id]
            pages = ", ".join(f"{{doc}}`notebooks/{each}`" for each in part["page"].unique())
            cells = [said, claim.holds_if, "–", "–", _counts(part), "–", pages or "not tested"]
            lines.append(_row(cells))
    every = _each(claims, old)
    return [*lines, *(["", title] if title and every else []), "", *every]


def _each(claims: pd.DataFrame, old: pd.DataFrame) -> list[str]:
    """Every verdict on some claims, a list for each that has one: what it means, and a table that unfolds."""
    columns, lines = ["models", "answers", "asked", "ours", "verdict"], []
    for claim in claims.itertuples():
        part = old[old["id"] == claim.id]
        if part.empty:
            continue
        lines += [
            f"**{claim.claim}** Holds if {claim.holds_if}: {claim.statistic}. The interval is"
        ]
        lines += [f"over {claim.over} ({claim.interval})." + _rule(claim), ""]
        lines += [":::{dropdown} " + numbered(len(part), "verdict")]
        lines += [_row(columns), _row(["---"] * len(columns))]
        for row in part.itertuples():
            mark = f" ({plain(row.mark)})" if row.mark else ""
            bare = getattr(row, BARE_INTERVAL)
            bare = bare and f" (without cues {plain(getattr(row, BARE))}, {plain(bare)})"
            models = "<br>".join(map(plain, row.models.split(", ")))
            asked = plain(row.estimator) + " (not the paper's way)" * (not row.as_paper)
            said = [models, plain(row.source), asked, plain(row.ours), row.verdict + mark + bare]
            lines.append(_row(said))
        lines += [":::", ""]
    return lines


def _rule(claim: Any) -> str:
    """Which verdicts of a claim are set aside by a rule, and since when."""
    if not claim.marks:
        return ""
    return f" Set aside by rules that stand so since {claim.marks_since}: {plain(claim.marks)}."


def _counts(part: pd.DataFrame) -> str:
    """How often each verdict in the paper's way came out, such as "holds 2, fails 1"; without marked ones."""
    main = part[part["as_paper"].astype(bool) & (part["mark"] == "")]
    counted = Counter(main["verdict"])
    return ", ".join(f"{word} {counted[word]}" for word in ORDER if counted[word]) or "–"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
