"""On what a claim is decided: counted by the rule from all answers that ship.

Only the door to shipped answers is used, so that how they lie on disk does not matter. A source that ships
later joins in; where it would decide a claim, this test says which row of claims.csv is to be changed.
"""

import functools
import re
from itertools import combinations

import helpers
import pandas as pd

from lkecore import papers
from lkecore.answers.shipped import what_made
from lkecore.errors import BadInput
from lkecore.models import lab

RELATIONS, SHOTS, TEMPLATES = "10_iclke_relations", "11_iclke_shots", "13_iclke_estimators"
ONE, TWO = "one model", "any two"
FAMILY, FAMILIES = "two models of a family", "models of two families"
# Which answers can decide a claim: by the ends of ids, where they are, of whom, and where they are counted.
CLAIMS = {
    "above-chance above-rules relations-differ sure-is-right": ([RELATIONS], ONE),
    "families-mean": ([RELATIONS], FAMILIES),
    "larger-more subsumption": ([RELATIONS, "16_iclke_size"], FAMILY),
    "shots-rise shots-steady": ([SHOTS], ONE),
    "less-needs-more": ([SHOTS], TWO),
    "separator": ([TEMPLATES, "14_iclke_separators"], ONE),
    "separator-between": (["14_iclke_separators"], ONE),
    "above-human above-mined steadier steadier-at-mean": ([TEMPLATES], ONE),
    "eic-above-human eic-above-mined eic-steadier": (["13_iclke_eic"], ONE),
    "options-alike": (["18_iclke_options"], ONE),
    "length-fair": (["18_iclke_length"], ONE),
    "generation-above": (["19_iclke_generation"], ONE),
}
# Answers without an accuracy, and the other answers of the same models to the same relations.
ELSEWHERE = {
    "sequence-rise sequence-settles unknown-near-zero unknown-calm incorrect-drop incorrect-block": (
        "12_iclke_sequence: known", SHOTS, "known",
    ),
    "wording alike top": ("20_entropy_rank: entropy_rank", RELATIONS, "atlas"),
    "fails-places fails-copied taught-alike taught-places": (
        "23_entropy_kinds: entropy_trex", RELATIONS, "trex",
    ),
    "groups-finds groups-rank groups-entropy groups-surprisal groups-before": (
        "21_entropy_accuracy: groups_trex", RELATIONS, "trex",
    ),
}  # fmt: skip
ASKED = ["model", "fact_set", "offer", "n_shots", "draw", "relation", "fact"]  # a question
# Where a statistic cannot be taken of a model: all facts, or none, have two KLs that are far apart.
WITHOUT = {"PZ-taught-places": "gemma3-270m"}
NO_REAL = ["IC-tuned-lower", "IC-tuned-subsumption", "IC-generation-tuned"]
# What a text tells of a fact is exact in the lab alone; in one world, where no trial was.
# Written before this model was asked, on what another one had shown.
ASKED_LATER = ["IC-villages-as-sounding", "IC-letters-below-villages"]
IN_LAB = ["PZ-hallucinated-kl", "PZ-hallucinated-surprisal", "PZ-unsaid-kl"]


@functools.cache
def read(profile, notebook, apart=""):
    """Answers that ship, and None where there are none."""
    try:
        return helpers.shipped(profile, notebook, apart=apart)[0]
    except BadInput as error:
        assert "no results" in str(error)
        return None


def above(found, rules, estimator):
    """Whether each real model beats the best rule: a row a relation, a column a model; and the facts."""
    found, rules = (
        each if "relation" in each else each.assign(relation="") for each in (found, rules)
    )
    if "pair_separator" in found:  # the paper's: a space, and a space
        spaces = found[["pair_separator", "shot_separator"]].eq(" ").all(axis=1)
        found = found[spaces & (found["part"] == "format")].assign(estimator="iclke-space")
    for column, only in {"score": "sum", "offer": "random", "estimator": estimator}.items():
        found = found[found[column] == only] if column in found else found
    if "n_shots" in found:
        found = found[found["n_shots"] == found["n_shots"].max()]
    found = found[~found["model"].map(lab.is_name).astype(bool)]
    names = [name for name in rules if name.startswith("rule-")]
    keys = [name for name in ASKED if name in rules and name in found]
    both = found.merge(rules[[*keys, *names]], on=keys, validate="m:1")
    assert len(both) == len(found)
    means = both.groupby(["model", "relation"])[["correct", *names]].mean()
    won = means["correct"] > means[names].max(axis=1)
    return won.unstack("model"), len(both.drop_duplicates(["relation", "fact"]))


@functools.cache
def counts(notebook, estimator="iclke-space"):
    """For each source whose answers ship with rules, what :func:`above` gives."""
    found = {}
    for profile in sorted(what_made(notebook)["source"].unique()):
        answers = read(profile, notebook)
        rules = [read(profile, notebook, name) for name in ("cues", "rules")]
        if answers is not None and (rules := [each for each in rules if each is not None]):
            won, facts = above(answers, rules[0], estimator)
            if len(won):
                found[profile] = won, facts
    return found


def family(model):
    return model.partition("-")[0]


def who(models, whose):
    """The models, or pairs of them, that a claim can be about."""
    if whose == ONE:
        return [(model,) for model in models]
    pairs = combinations(models, 2)
    return [
        two
        for two in pairs
        if whose == TWO or (len(set(map(family, two))) == 1) == (whose == FAMILY)
    ]


def decided(notebooks, whose, estimator="iclke-space"):
    """(experiment and source, models, relations above the rule, relations) by the rule."""
    every = [
        (-won[[*models]].all(axis=1).sum(), -facts, f"{name}: {source}", models, len(won))
        for name in notebooks
        for source, (won, facts) in counts(name, estimator).items()
        for models in who(won.columns, whose)
    ]
    n, _, where, models, relations = min(every)
    return where, models, -n, relations


def by_the_rule():
    """{claim: (decided_on, model)}."""
    found = {}
    for ends, (notebooks, whose) in CLAIMS.items():
        for end in ends.split():
            way = "eiclke" if end.startswith("eic-") else "iclke-space"
            where, models, n, of = decided(notebooks, whose, way)
            found[f"IC-{end}"] = said(where, n, of), ", ".join(models)
    for ends, (where, notebook, source) in ELSEWHERE.items():
        won, _ = counts(notebook)[source]
        asked = read(*reversed(where.split(": ")))
        won = won.loc[won.index.isin(asked["relation"].unique())]
        for end in ends.split():
            key = f"{'IC' if where.startswith('1') else 'PZ'}-{end}"
            models = set(asked["model"]) & set(won) - {WITHOUT.get(key)}
            n, model = min((-won[each].sum(), each) for each in models)
            found[key] = f"{said(where, -n, len(won))}, counted in {notebook}: {source}", model
    return found


def said(where, n, of):
    chance = ", at chance" if 2 * n <= of else ""
    return f"{where}; above the best rule in {n} of {of} relations{chance}"


def test_every_claim_of_a_paper_is_decided_where_the_rule_says():
    claims = papers.claims("").set_index("id")
    # BELIEF has no options, and its claims say themselves on which answers they are decided.
    claims = claims[claims["paper"].isin(["IC", "PZ"])]
    found = by_the_rule()
    elsewhere = {*NO_REAL, *IN_LAB, *ASKED_LATER}
    assert set(found) | elsewhere == {key.removesuffix("-relations") for key in claims.index}
    for key, row in claims.iterrows():
        if key not in elsewhere:
            rule = found[key.removesuffix("-relations")]
            assert (row["decided_on"], row["model"]) == rule, key


def in_millions(name):
    return float(name.partition("m")[0])


def test_a_claim_of_the_lab_is_decided_on_the_largest_size_that_all_worlds_have():
    claims = papers.claims("").set_index("id")
    size = re.compile(r"\d[\d.]*m(?:-\w+)?")
    lines = claims[claims["decided_on"].str.contains("all 3 worlds")]
    assert set(lines.index) == {
        key for key in claims.index if key.startswith("LAB") and not key.endswith("twin-blanks")
    } | set(NO_REAL)
    for key, row in lines.iterrows():
        notebook, sources = row["decided_on"].partition(";")[0].split(": ")
        apart = "written" if notebook == "55_lab_writing" else ""
        worlds = {}
        for source in sources.split(" and "):
            for model in read(source, notebook, apart)["model"].unique():
                world, _, name = model.partition("/")
                worlds.setdefault(world, set()).add(name)
        assert len(worlds) == 3, key
        shared = set.intersection(*worlds.values())
        named = size.findall(row["model"]) or ["bert", "t5"]
        assert set(named) <= shared, key
        if key != "LAB-size-room" and named != ["bert", "t5"]:  # the smallest; no sizes
            variant = named[-1].partition("-")[2] or named[0].partition("-")[2]
            alike = [name for name in shared if name.partition("-")[2] == variant]
            largest = max(filter(size.fullmatch, alike), key=in_millions).partition("-")[0]
            assert max(named, key=in_millions).partition("-")[0] == largest, key


def test_a_model_is_above_the_rule_that_is_best_in_a_relation_and_not_at_it():
    """Two facts a relation: one right is at the better of two rules in "at", and above both in "above"."""
    relations = ["at", "at", "above", "above", "below", "below"]
    of = {"relation": relations, "fact": list("abcdef")}
    lost = pd.DataFrame(of | {"model": "m", "estimator": "iclke-colon", "correct": True})
    found = pd.DataFrame(
        of | {"model": "m", "estimator": "iclke-space", "correct": [1, 0, 1, 0, 0, 0]}
    )
    rules = pd.DataFrame(
        of | {"rule-a": [0.5, 0.5, 0.4, 0.4, 0, 0], "rule-b": [0, 0, 0.8, 0, 0, 0.1]}
    )
    lab_too = found.assign(model="lab:book-1/2m", correct=True)
    won, facts = above(pd.concat([found, lost, lab_too]), rules, "iclke-space")
    assert won["m"].to_dict() == {"at": False, "above": True, "below": False}
    assert list(won) == ["m"] and facts == 6
