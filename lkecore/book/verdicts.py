"""Verdicts: all claims of the papers and of the lab on one page, with what the book's pages say of each.

A page that tests claims keeps a ``verdicts.csv`` (:func:`lkecore.papers.verdict.verdicts`). Here they are put
side by side: on models of the lab, on real models that the run asked, and on answers that ship.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore import papers
from lkecore.answers import over
from lkecore.answers.show import numbered
from lkecore.book.coverage import PAPERS
from lkecore.book.foreign import plain
from lkecore.errors import BadInput
from lkecore.models import catalogue, lab

FILE = "verdicts.csv"
# What the verdict would be on facts without a cue, and by which interval, on pages that tell it.
BARE, BARE_INTERVAL = "without_cues", "no_cue"
PLACES = ["in the lab", "real models, on the page", "real models, beside it"]
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
YARDSTICKS = "IC-above-chance", "IC-above-rules"


def read(folder: Path) -> pd.DataFrame | None:
    """What a finished page says of claims, with the `place` of each row; None if it tests none.

    Raises :class:`BadInput`, naming the file, if it is not one that a page keeps.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        frame = papers.verdicts(pd.read_csv(path, keep_default_na=False))
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None
    its_own = set(papers.claims("LAB")["id"])  # these may have an estimator in the place of models
    in_lab = [
        key in its_own or all(map(lab.is_name, models.split(", ")))
        for key, models in zip(frame["id"], frame["models"], strict=True)
    ]
    places = [
        PLACES[0] if of_lab else PLACES[1] if source.startswith("this page") else PLACES[2]
        for of_lab, source in zip(in_lab, frame["source"], strict=True)
    ]
    told = {name: frame.get(name, "") for name in (BARE, BARE_INTERVAL)}
    return frame.assign(place=places, **told)


def page(found: Mapping[str, pd.DataFrame], profile: str) -> str:
    """The book's page on claims, as MyST text. `found`: a page's name to what `read` gave.

    First a table with a row for each claim and a column for each place; it counts the verdicts in
    the paper's way that say something of the claim (no mark). Then all of them, with intervals. At the
    end the same for the claims of the lab (:func:`of_lab`).
    """
    every = pd.concat(
        [frame.assign(page=name) for name, frame in found.items()]
        or [pd.DataFrame(columns=[*papers.VERDICTS, "place", BARE, BARE_INTERVAL, "page"])]
    )
    lines = [
        "# What holds, and where",
        "",
        "Each claim of a paper that the book tests, and what came out; at the end, the lab's own. What a",
        "claim means in numbers, and over what its interval is taken, stands in `lkecore/data/claims.csv`;",
        f"the pages tell how it is tested. They are those that the profile {plain(profile)} ran.",
        "",
        *summary(every),
        "",
        "A claim **holds** or **fails** if the whole interval of its statistic lies on one side of the",
        "bound, and is **undecided** else. Counted are the verdicts on models asked in the paper's way.",
        "*On the page* are those by the answers of the page's own run, *beside it* those by other answers",
        "that ship.",
        "*Aside* are those that say nothing of the claim, with what they would say: a model is at chance,",
        "for instance. Some of these rules came after the outcomes; the lists below say since when. A dash:",
        "there was nothing to test it on. Real models in several sizes, say, or before and after tuning,",
        "need the hub: `params/iclke_small.yaml` asks them.",
        "",
        "Do not read the counts as votes. The verdicts of one cell share facts, and often the text that the",
        "models have read: ten of them can be one finding. And where the lab says *holds* and real models",
        "*undecided*, there may be too few facts. The intervals below tell. Over {ref}`three or four",
        "relations <few-relations>` they are wide, whatever the number of facts. Where a page tells it,",
        "what comes out on facts without a cue stands in parentheses behind the verdict, and changes none.",
        "",
        *RULE,
    ]
    if "toy" in set(every["models"]):
        lines += [
            "",
            "The model `toy` is random: its verdicts show that the code runs, nothing more.",
        ]
    for key, (name, cited) in PAPERS.items():
        claims = papers.claims(key)
        of = every[every["id"].isin(claims["id"])]
        lines += ["", f"## {name}", "", f"The paper: {{cite:t}}`{cited}`.", ""]
        lines += [_row(["claim", *PLACES, "tested in"]), _row(["---"] * 5)]
        for claim in claims.itertuples():
            part = of[of["id"] == claim.id]
            main = part[part["as_paper"].astype(bool)]  # without rows a column has no type
            counts = [_counts(main[main["place"] == place]) for place in PLACES]
            said = claim.claim + " *(ours)*" * (claim.whose != "paper")
            lines.append(_row([said, *counts, _pages(part)]))
        lines += ["", f"### {name}: every verdict", ""]
        lines += _each(claims, of, ["models", "answers", "asked", "ours", "verdict"])
    return "\n".join([*lines, *of_lab(every)]) + "\n"


def of_lab(every: pd.DataFrame) -> list[str]:
    """The second part of the page: claims on the lab, which are all ours; findings, and then checks.

    What a check says was built into the text, so its verdicts are in no count of findings, and neither part
    is in the counts of :func:`summary`.
    """
    claims = papers.claims("LAB")
    of = every[every["id"].isin(claims["id"])]
    lines = [
        "",
        "## The lab's own claims",
        "",
        "These are ours, and about small models whose text we wrote ({doc}`lab`). **Findings** could have",
        "come out otherwise. What a **check** says was built in: that a model answers in the form in which",
        "it was trained, for instance, or shows nothing of what it was never told. A check that fails is a",
        "fault of the lab, and one that holds has found nothing. The claim on tuning is counted with them,",
        "though it is a prediction: it was turned round when the tuning was changed. So they are counted",
        "apart, and none of them in the counts above. Pages 50 and 51 judge some claims on facts that",
        "they share.",
    ]
    for title, part in (
        ("findings", claims[claims["whose"] != "check"]),
        ("checks", claims[claims["whose"] == "check"]),
    ):
        own = of[of["id"].isin(part["id"])]
        lines += ["", f"### The lab: {title}", "", f"Of {len(own)} verdicts: {_counts(own)}.", ""]
        lines += [_row(["claim", "verdicts", "tested in"]), _row(["---"] * 3)]
        for claim in part.itertuples():
            mine = own[own["id"] == claim.id]
            lines.append(_row([claim.claim, _counts(mine), _pages(mine)]))
        lines += ["", *_each(part, own, ["of", "answers", "ours", "verdict"])]
    return lines


def _each(claims: pd.DataFrame, of: pd.DataFrame, columns: list[str]) -> list[str]:
    """Every verdict on some claims, a list for each that has one: what it means, and a table that unfolds."""
    lines = []
    for claim in claims.itertuples():
        part = of[of["id"] == claim.id]
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
            told = {
                "models": "<br>".join(map(plain, row.models.split(", "))),
                "of": plain(row.models),
                "answers": plain(row.source),
                "asked": plain(row.estimator) + " (not the paper's way)" * (not row.as_paper),
                "ours": plain(row.ours),
                "verdict": row.verdict + mark + bare,
            }
            lines.append(_row([told[name] for name in columns]))
        lines += [":::", ""]
    return lines


def _pages(part: pd.DataFrame) -> str:
    pages = [f"{{doc}}`notebooks/{each}`" for each in part["page"].unique()]
    return ", ".join(pages) or "not tested"


def summary(every: pd.DataFrame) -> list[str]:
    """What holds on real models, in small versions, in the lab alone, and above which yardstick.

    Counted are claims that are the papers' own, by their verdicts in the paper's way that are not set aside;
    of the two yardsticks and of facts without a cue verdicts. A small version is one without any model that
    the papers asked. A claim over draws and its twin over relations are one.
    """
    claims = pd.concat([papers.claims(key) for key in PAPERS])
    own = claims[(claims["whose"] == "paper") & ~claims["id"].str.endswith(over.TWIN)]
    main = every[every["as_paper"].astype(bool) & (every["mark"] == "")]
    main = main.assign(id=main["id"].astype(str).str.removesuffix(over.TWIN))
    real, in_lab = (main[main["place"].isin(some)] for some in (PLACES[1:], PLACES[:1]))
    on_real, in_the_lab = (
        part[part["verdict"] != "undecided"].groupby("id")["verdict"].agg(set)
        for part in (real, in_lab)
    )
    counted = Counter()
    for key in own["id"]:
        if key in on_real.index:
            counted["mixed" if len(on_real[key]) > 1 else "".join(on_real[key])] += 1
        else:
            counted["lab" if key in in_the_lab.index else "open"] += 1
    theirs = set(catalogue.papers_models()["hub_id"])
    names = real[real["verdict"] != "undecided"].groupby("id")["models"].agg(", ".join)
    small = [theirs.isdisjoint(names[key].split(", ")) for key in own["id"] if key in names.index]
    held = real[real["id"].isin(own["id"]) & (real["verdict"] == "holds") & (real[BARE] != "")]
    of_small = f"**{sum(small)}** of these {len(small)} {_are(sum(small))}"
    if sum(small) == len(small) > 1:
        of_small = f"all **{len(small)}** of these are"
    without = int((held[BARE] == "holds").sum())
    guess, rule = (real[real["id"] == key]["verdict"] == "holds" for key in YARDSTICKS)
    return [
        f"Of {len(own)} claims that are the papers' own,",
        "",
        f"- **{counted['holds']}** hold{_s(counted['holds'])} on real models, wherever decided there;"
        f" **{counted['fails']}** fail{_s(counted['fails'])}, and **{counted['mixed']}**"
        f" hold{_s(counted['mixed'])} for one model or set of facts and fail{_s(counted['mixed'])}"
        " for another;",
        f"- {of_small} small versions, decided on no model that the papers asked;",
        f"- **{counted['lab']}** {_are(counted['lab'])} decided in the lab alone, on invented facts and"
        " small models;",
        f"- **{counted['open']}** {_are(counted['open'])} open: tested and undecided, set aside, or not"
        " tested.",
        "",
        "Against which yardstick? Above a blind guess, the papers' own,"
        f" {_are(int(guess.sum()))} **{guess.sum()}** of"
        f" {len(guess)} verdicts on real models; above the best {{term}}`rule` that has no model,"
        f" **{rule.sum()}** of {len(rule)}.",
        "",
        f"And on facts without a {{term}}`cue`? Of {len(held)} verdicts by which a claim of the papers holds"
        f" on real models, and whose page tells it, **{without}** hold{_s(without)} there, too."
        " That was looked at when all verdicts were known, and changes none.",
    ]


def _s(n: int) -> str:
    return "s" if n == 1 else ""  # of a verb


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _rule(claim: Any) -> str:
    """Which verdicts of a claim are set aside by a rule, and since when."""
    if not claim.marks:
        return ""
    return f" Set aside by rules that stand so since {claim.marks_since}: {plain(claim.marks)}."


def _counts(part: pd.DataFrame) -> str:
    """How often each verdict came out, such as "holds 2, aside 1 (fails 1)"; aside, what says nothing."""
    counted = Counter(part.loc[part["mark"] == "", "verdict"])
    aside = Counter(part.loc[part["mark"] != "", "verdict"])
    texts = [f"{word} {counted[word]}" for word in ORDER if counted[word]]
    if aside:
        of = ", ".join(f"{word} {aside[word]}" for word in ORDER if aside[word])
        texts.append(f"aside {aside.total()} ({of})")
    return ", ".join(texts) or "–"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
