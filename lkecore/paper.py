"""What the papers published and claim, and how ours stands beside it.

Two kinds of verdict. A **number** can be reproduced or differ only where model, data and protocol
are the same. A **claim** can be tested on any model: it holds, fails or stays undecided, and what
decides was written down before the runs (`data/claims.csv`).
"""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources import files
from math import inf, isfinite
from typing import Any, Literal

import pandas as pd

from lkecore import catalogue
from lkecore.intervals import Interval

DATA = files("lkecore") / "data"


def table(name: str) -> pd.DataFrame:
    """A published table, such as "iclke_table7_models": one file of `data/papers` (see its README).

    Numbers keep the paper's digits and unit. NaN means not printed or not applicable. ValueError
    for an unknown name, with the nearest ones.

    >>> float(table("iclke_table7_models")["average_accuracy"].max())
    0.8511
    """
    names = sorted(
        path.name.removesuffix(".csv")
        for path in (DATA / "papers").iterdir()
        if path.name.endswith(".csv")
    )
    if name not in names:
        # Ask for more than a typo's distance: "table7" should find its file as well.
        near = [other for other in names if name and name in other] or get_close_matches(
            name, names, 5, 0.3
        )
        raise ValueError(
            f"no published table {name!r}; nearest: {', '.join(near) or ', '.join(names)}"
        )
    return _read(DATA / "papers" / f"{name}.csv")


def property_names() -> dict[str, str]:
    """Names of Wikidata properties: the IC-LKE paper's for those of its Table 3, else Wikidata's label.

    The properties are those of the paper's relations (as we read them), of LAMA and of KAMEL's part
    that the book asks. Wikidata's labels are in the public domain (CC0).

    >>> property_names()["P36"], property_names()["P19"]
    ('capital', 'place of birth')
    """
    labels = _read(DATA / "wikidata_labels.csv").set_index("property")["label"]
    ours = table("iclke_table3_relations").dropna(subset="wikidata_pid_added")
    return {**labels, **ours.set_index("wikidata_pid_added")["relation"]}


def figure_5_order(
    frame: pd.DataFrame, called: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """(models, relations) in the order of the IC-LKE paper's Figure 5 (IC-F5 and IC-F13).

    Families of models come by the accuracy of their member nearest 7 billion parameters, the best
    first, and the models of a family by their own; accuracy is the mean over relations. Relations
    of Table 8 come in its order, then the others, the best known first. Equals keep their order in
    the frame. `frame`: one row for each model and relation, with `model`, `relation`, `accuracy`.
    `called`: the paper's name of a relation, where it has another here. Family and nominal size are
    the catalogue's; a model that is not in it is a family of its own. Of two models as near, the
    one that is not fine-tuned counts, then the better. ValueError for a missing or second row.
    """
    wide = frame.pivot(index="model", columns="relation", values="accuracy")
    if wide.isna().any(axis=None):
        raise ValueError("each model needs each relation: else their means cannot be compared")
    wide = wide.loc[frame["model"].unique(), frame["relation"].unique()]
    models = wide.mean(axis=1).sort_values(ascending=False, kind="stable").index.tolist()
    known = catalogue.papers_models().set_index("hub_id").drop("", errors="ignore")
    about = known.reindex([model.partition("@")[0] for model in models])
    families = about["family"].where(about["family"].notna(), models)
    family = dict(zip(models, families, strict=True))
    far = dict(zip(models, (about["params_b"] - 7).abs().fillna(inf), strict=True))
    nearest: dict[str, int] = {}  # of each family, the place of its member nearest 7 billion
    for model in sorted(models, key=lambda m: (far[m], catalogue.is_tuned(m) is True)):
        nearest.setdefault(family[model], models.index(model))
    rank = table("iclke_table8_relations").set_index("relation")["rank"].to_dict()
    relations = wide.mean().sort_values(ascending=False, kind="stable").index
    return (
        sorted(models, key=lambda m: nearest[family[m]]),
        sorted(relations, key=lambda r: rank.get((called or {}).get(r, r), inf)),
    )


def claims(paper: str = "IC") -> pd.DataFrame:
    """The claims of a paper that the book tests, one a row, in the order of the chapter.

    Columns: id, paper, section (in the paper), claim (in our words), statistic (what the interval
    is of), direction ("greater", "less" or "equal"), least_effect and its unit (what
    `claim_verdict` compares with), least_effect_because (why that much), and holds_if, the bound in
    words. ValueError for a paper without claims.

    >>> claims("IC").set_index("id")["holds_if"]["IC-separator"]
    'within 0.05 of 0'
    """
    every = _read(DATA / "claims.csv")
    every["holds_if"] = [
        f"within {least:g} of 0" if direction == "equal" else f"{direction} than {least:g}"
        for direction, least in zip(every["direction"], every["least_effect"], strict=True)
    ]
    if paper not in set(every["paper"]):
        raise ValueError(
            f"no claims of paper {paper!r}; there are claims of {sorted(set(every['paper']))}"
        )
    return every[every["paper"] == paper].reset_index(drop=True)


def claim_verdict(
    interval: Interval, claim: Mapping[str, Any] | pd.Series
) -> Literal["holds", "fails", "undecided"]:
    """Whether a claim holds, from its statistic's interval. With e = `least_effect`, in its unit:

        direction   holds                     fails                        else
        greater     low > e                   high < e                     undecided
        less        high < e                  low > e                      undecided
        equal       -e < low and high < e     low > e or high < -e         undecided

    An end exactly at e leaves the claim undecided. "Equal" is a test of equivalence: a wide
    interval around 0 is undecided, not equal. `claim`: a row of :func:`claims`, or anything else with
    `direction` and `least_effect`. ValueError for another direction, an e that is not finite, or an e
    of "equal" that is not above 0.

    >>> more = {"direction": "greater", "least_effect": 0.2}
    >>> claim_verdict(Interval(0.30, 0.25, 0.35, 0.95, "by hand"), more)
    'holds'
    >>> claim_verdict(Interval(0.20, 0.18, 0.22, 0.95, "by hand"), more)
    'undecided'
    """
    direction, least_effect = claim["direction"], claim["least_effect"]
    if not isfinite(least_effect):
        raise ValueError(f"least_effect is {least_effect}; it must be a finite number")
    low, high = interval.low, interval.high
    if direction == "greater":
        holds, fails = low > least_effect, high < least_effect
    elif direction == "less":
        holds, fails = high < least_effect, low > least_effect
    elif direction == "equal":
        if least_effect <= 0:
            raise ValueError(f"least_effect is {least_effect}; direction 'equal' needs one above 0")
        holds = -least_effect < low and high < least_effect
        fails = low > least_effect or high < -least_effect
    else:
        raise ValueError(f"direction is {direction!r}; it must be 'greater', 'less' or 'equal'")
    return "holds" if holds else "fails" if fails else "undecided"


VERDICTS = ["id", "models", "source", "way", "as_paper", "ours", "verdict", "mark"]


def verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    """What a page keeps as ``verdicts.csv``, a row for each test of a claim: `VERDICTS`, then the rest.

    `id`: of the claim. `models`: the one that is asked, or those that are compared, with a comma
    between. `source`: where the answers are from; begins with "this run" unless they ship with the
    book. `way`: how it was asked, such as a format of shots; `as_paper`: whether that is the paper's
    way. `ours`: estimate and interval, as the page prints them. `verdict`: "holds", "fails" or
    "undecided". `mark`: why it says nothing of the claim, such as "at chance"; "" where it does. Other
    columns stay behind these. ValueError for a missing column, an id without a claim, another
    verdict, an `as_paper` that is neither true nor false, and no model.

    >>> row = "IC-shots-rise", "toy", "this run", "space", True, "0.10 [0.05, 0.15]", "holds", ""
    >>> verdicts(pd.DataFrame([row], columns=VERDICTS))["verdict"].tolist()
    ['holds']
    """
    if missing := [column for column in VERDICTS if column not in frame]:
        raise ValueError(f"verdicts lack the columns {missing}")
    known = _read(DATA / "claims.csv")["id"]
    verdict = "holds", "fails", "undecided"
    for column, allowed in (("id", known), ("verdict", verdict), ("as_paper", (True, False))):
        if len(unknown := frame.loc[~frame[column].isin(allowed), column]):
            raise ValueError(f"{column} {unknown.iloc[0]!r}: must be one of {[*allowed]}")
    if not frame["models"].astype(bool).all():
        raise ValueError("a verdict names no model")
    return frame[[*VERDICTS, *frame.columns.difference(VERDICTS, sort=False)]]


def number_verdict(
    ours: Interval, published: float, *, same_model: bool, same_data: bool, same_protocol: bool
) -> Literal["reproduced", "differs", "not comparable"]:
    """Whether our interval holds the published number (ends included), in the same unit.

    "not comparable" unless model (revision, dtype), data (facts, options, shots) and protocol are
    all the same: another model that lands on the number has reproduced nothing. Weakness: a wide
    interval reproduces much, so show it. ValueError for a published number that is not finite.

    >>> ours = Interval(0.48, 0.40, 0.56, 0.95, "by hand")
    >>> number_verdict(ours, 0.50, same_model=True, same_data=True, same_protocol=True)
    'reproduced'
    >>> number_verdict(ours, 0.50, same_model=False, same_data=True, same_protocol=True)
    'not comparable'
    """
    if not isfinite(published):
        raise ValueError(f"the published number is {published}; it must be finite")
    if not (same_model and same_data and same_protocol):
        return "not comparable"
    return "reproduced" if ours.low <= published <= ours.high else "differs"


def _read(path) -> pd.DataFrame:
    # Only an empty cell is missing: a model or relation may well be called "None" or "NA".
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])
