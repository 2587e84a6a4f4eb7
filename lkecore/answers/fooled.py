"""Fooled: what estimators say of facts that no text told, but that a cue gives away.

The cues of a rich world are planted: a parent's surname, a company's city or a team's country in the
subject's name, or one object that is far more frequent than the others. A cue is right or lies, and of
facts that were never told nobody can know which.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import firsts, rich, rules
from lkecore.answers.lab import OFTEN
from lkecore.answers.tables import by_relation, groups_of, share
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.models import lab

RELATIONS = {  # those with a cue: what hints
    "headquarters": "the company's city",
    "parent": "the family's surname",
    "team_country": "the team's country",
    "team_colour": "the most frequent colour",
}
IN_A_NAME = ("headquarters", "parent", "team_country")
NONE, RIGHT, LIES = "no cue", "right cue", "lying cue"
FEWEST = 8  # pairs that an AUROC stands on, at least
NEVER, TOLD = "never told", f"told {OFTEN} times and more"
RULE = "rule-both"  # what a cue gives without a model
# Numbers at a blank of which less means better known, by what they are called.
AT_BLANKS = {"surprisal": "surprisal", "rank": "rank", "change of entropy": "change", "KL": "kl"}


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.facts.worlds.states`: told as they are, or never."""
    return states["state"].isin(["planted", "never"]) & states["relation"].isin(RELATIONS)


def told_or_control(states: pd.DataFrame, *, often: int = OFTEN) -> pd.Series:
    """Which facts are asked at blanks: those told ``often`` times and more, and the controls of these."""
    told = asked(states) & states["occurrences"].ge(often) & states["split"].eq("test")
    return rich.or_controls(states, told)


def hinted(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers of :func:`lkecore.answers.rich.beside_hints` beside the cues of their facts.

    Columns more: ``hint``, what hints in this relation; ``cue``: "no cue", "right cue" or "lying cue",
    against the true object; ``follows`` (bool): the answer is what the cue points to; ``told``: "never
    told", "told 16 times and more", or "told seldom". A twin's rows have the cues and tellings of its
    planted one. Sorted by relation and fact, since bootstraps draw by place.
    """
    columns = ["occurrences", "cue_object", "cue_right", "control"]
    found = rich.with_states(answers, columns)
    cue = found["cue_right"].map({"": NONE, "right": RIGHT, "lies": LIES})
    few = np.where(found["occurrences"] > 0, "told seldom", NEVER)
    found = found.assign(
        hint=found["relation"].map(RELATIONS),
        cue=cue,
        follows=found["picked"].eq(found["cue_object"]) & found["cue_object"].ne(""),
        told=np.where(found["occurrences"] >= OFTEN, TOLD, few),
    )
    return found.sort_values(["relation", "fact"], kind="stable", ignore_index=True)


def of_blanks(told: pd.DataFrame) -> pd.DataFrame:
    """Numbers at blanks behind the fact itself as :func:`hinted` answers, for :func:`aurocs`.

    ``told`` is of :func:`lkecore.answers.blanks.ask_blanks`. A row for each of ``AT_BLANKS``, which is its
    ``estimator``; ``confidence_gold`` is the number turned, so that more is better known. Facts whose object
    shares its first token are left out: these numbers are read at that one.
    """
    change = (told["entropy"] - told["entropy_after"]).abs()
    each = told.assign(change=change, picked="")[firsts.sets(told) != "shared"]
    parts = [
        each.assign(estimator=name, confidence_gold=-each[column])
        for name, column in AT_BLANKS.items()
    ]
    return hinted(pd.concat(parts, ignore_index=True))


def counts(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """How many facts are asked, by what hints and whether it is right, with a column for each of ``told``."""
    facts = hinted(rich.asked_facts(samples).assign(picked=""))
    found = pd.crosstab([facts["hint"], facts["cue"]], facts["told"])
    return found.rename_axis(columns=None).reset_index()


def of_rules(samples: Mapping[str, Sample], which: str = RULE) -> pd.DataFrame:
    """What a rule without a model answers, as :func:`lkecore.answers.rules.as_answers`, with ``world``."""
    parts = [
        rules.as_answers(rules.cues(sample, kept=False), [which]).assign(world=spec)
        for spec, sample in samples.items()
    ]
    return pd.concat(parts, ignore_index=True)


def by_cue(hinted: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """How often answers are right, and how often they follow the cue, by groups and kind of cue.

    Columns: ``by``, ``cue``; ``n`` facts; ``right`` and ``follows``: shares in [0, 1], Intervals (Wilson);
    ``confidence``: the mean in the answer. ``follows`` is None where there is no cue.
    """
    rows = []
    for key, part in groups_of(hinted, [*by, "cue"]):
        n = len(part)
        right, follows = (
            intervals.proportion(int(part[c].sum()), n) for c in ("correct", "follows")
        )
        rows.append(
            (*key, n, right, None if key[-1] == NONE else follows, part["confidence"].mean())
        )
    found = pd.DataFrame(rows, columns=[*by, "cue", "n", "right", "follows", "confidence"])
    place = found["cue"].map({NONE: 0, RIGHT: 1, LIES: 2})
    return found.assign(_at=place).sort_values([*by, "_at"], kind="stable").drop(columns="_at")


def marks(hinted: pd.DataFrame, rule: pd.DataFrame) -> pd.DataFrame:
    """The accuracy on never-told facts by what hints and whether it is right: models, and the rule.

    ``hinted`` are answers of one estimator; ``rule`` is of :func:`of_rules`. Columns: ``hint``, ``cue``,
    ``who``, ``accuracy``, ``low``, ``high`` (Wilson over facts, or over facts by bootstrap for the rule,
    whose answers are parts, and which has no row for a single fact), in [0, 1].
    """
    never = hinted[hinted["told"] == NEVER]
    about = never[["world", "relation", "fact", "hint", "cue"]].drop_duplicates()
    rows = []
    for (hint, cue, model), part in groups_of(never, ["hint", "cue", "model"]):
        of = share(part["correct"])
        rows.append((hint, cue, model, of.estimate, of.low, of.high))
    of_rule = rule.merge(about, on=["world", "relation", "fact"])
    for (hint, cue), part in groups_of(of_rule, ["hint", "cue"]):
        if len(part) < 2:  # one fact has no interval
            continue
        of = intervals.mean_over_facts([part["correct"].to_numpy(float)], seed=0)
        rows.append((hint, cue, RULE, of.estimate, of.low, of.high))
    found = pd.DataFrame(rows, columns=["hint", "cue", "who", "accuracy", "low", "high"])
    order = {name: i for i, name in enumerate((*RELATIONS.values(), NONE, RIGHT, LIES))}
    at = [found[name].map(order) for name in ("hint", "cue")]
    return (
        found.assign(_a=at[0], _b=at[1])
        .sort_values(["_a", "_b"], kind="stable", ignore_index=True)
        .drop(columns=["_a", "_b"])
    )


def known_by_luck(hinted: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The share of never-told facts that an estimator calls known: its false positives.

    Columns: ``by``; ``n`` facts; ``false``: share that are answered rightly, an Interval (Wilson), in
    [0, 1]; ``with_right_cue``: the share of these that carry a cue which is right.
    """
    rows = []
    for key, part in groups_of(hinted[hinted["told"] == NEVER], by):
        right = part[part["correct"].astype(bool)]
        false = intervals.proportion(len(right), len(part))
        rows.append((*key, len(part), false, right["cue"].eq(RIGHT).mean()))
    return pd.DataFrame(rows, columns=[*by, "n", "false", "with_right_cue"])


def aurocs(hinted: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """Does the confidence tell facts told often from never-told ones, cue by cue?

    ``all``: every fact told often against every control; then pairs whose fact has the cue alone, and
    their controls, whose cue is of the same kind. Columns: ``by``, ``cue``; ``pairs``; ``auroc``, an
    Interval over pairs, each of another subject, in [0, 1]. A group of fewer than ``FEWEST`` has no row.
    """
    told = rich.beside_controls(hinted[hinted["told"] == TOLD], hinted)
    told = pd.concat([told.assign(cue="all"), told], ignore_index=True)
    rows = []
    for group, part in groups_of(told, [*by, "cue"]):
        if len(part) >= FEWEST:
            both = part["confidence_gold"], part["confidence_gold_control"]
            rows.append((*group, len(part), intervals.auroc_over_pairs(*both, seed=seed)))
    return in_order(pd.DataFrame(rows, columns=[*by, "cue", "pairs", "auroc"]))


def in_order(found: pd.DataFrame) -> pd.DataFrame:
    """Rows by ``cue``: all, none, a right one, a lying one; within one of these they keep their order."""
    place = found["cue"].map({"all": 0, NONE: 1, RIGHT: 2, LIES: 3})
    return found.iloc[place.argsort(kind="stable")].reset_index(drop=True)


def more_with_cue(hinted: pd.DataFrame) -> Interval:
    """How much oftener facts with a right cue in a name are right than those without one (Newcombe)."""
    some = hinted[hinted["relation"].isin(IN_A_NAME)]
    counts = some.groupby("cue")["correct"].agg(["sum", "count"]).astype(int)
    return intervals.difference_of_proportions(*counts.loc[RIGHT], *counts.loc[NONE])


def claimed(hinted: pd.DataFrame, *, seed: int) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the claims of the page, {id of the claim: {(source, of what): interval}}.

    ``hinted`` are answers of one world and one estimator, with their ``source``. Claims are about the largest
    model that read the text as it is, on never-told facts, unless they name another.
    """
    models = sorted(hinted["model"].unique(), key=lab.size)
    whole = [name for name in models if not lab.parse(name).variant]
    found: dict[str, dict[tuple[str, str], Interval]] = {}
    if whole:
        best = rich.key_of(hinted, whole[-1])
        mine = hinted[(hinted["model"] == whole[-1]) & (hinted["told"] == NEVER)]
        named = mine[mine["relation"].isin(IN_A_NAME) & mine["cue"].eq(LIES)]
        most = mine[mine["relation"] == "team_colour"]
        found["LAB-fooled"] = {best: more_with_cue(mine)}
        found["LAB-lied-to"] = {best: share(named["follows"])}
        found["LAB-majority"] = {best: share(most["follows"])}
    if sizes := rich.ends(models):
        some = hinted[hinted["told"].eq(NEVER) & hinted["cue"].eq(RIGHT)]
        some = some[some["relation"].isin(IN_A_NAME)]
        least, largest = (by_relation(some[some["model"] == m], "correct") for m in sizes)
        gap = intervals.paired_difference(largest, least, seed=seed)
        found["LAB-larger-fooled"] = {rich.key_of(hinted, *reversed(sizes)): gap}
    for twin in (name for name in models if lab.parse(name).variant == "unplanted"):
        its = hinted[(hinted["model"] == twin) & (hinted["told"] != NEVER)]
        found.setdefault("LAB-twin-fooled", {})[rich.key_of(hinted, twin)] = more_with_cue(its)
    return found


def claimed_by_world(
    hinted: pd.DataFrame, *, seed: int
) -> dict[str, dict[tuple[str, str], Interval]]:
    """:func:`claimed` of each world, together: a claim has an entry for each."""
    found: dict[str, dict[tuple[str, str], Interval]] = {}
    for _, part in hinted.groupby("world", sort=False):
        for key, each in claimed(part, seed=seed).items():
            found.setdefault(key, {}).update(each)
    return found


def without_rule(hinted: pd.DataFrame, rule: pd.DataFrame) -> pd.DataFrame:
    """The answers about facts that the rule (:func:`of_rules`) gets wrong in at least half of its guesses."""
    key = ["world", "relation", "fact"]
    wrong = rule.loc[rule["correct"] <= 0.5, key]
    return hinted.merge(wrong, on=key)


def sentences(hinted: pd.DataFrame, rule: pd.DataFrame) -> dict[str, str]:
    """What came out in one world, in words: ``fooled``, ``lied``, ``most``, ``twin``.

    All is about one model, the largest that can be held against a twin.
    """
    model = rich.beside_a_twin(hinted)
    never = hinted[hinted["model"].eq(model) & hinted["told"].eq(NEVER)]
    names = never[never["relation"].isin(IN_A_NAME)]
    right, none, lies = (names[names["cue"] == cue] for cue in (RIGHT, NONE, LIES))
    of_rule = rule.merge(right[["world", "relation", "fact"]], on=["world", "relation", "fact"])
    most = never[never["relation"] == "team_colour"]
    found = {
        "fooled": f"Of facts that no text told, {model} gets {share(right['correct']).text()} right"
        f" where the name gives the object away, and {share(none['correct']).text()} where it does not;"
        f" a rule without a model gets {of_rule['correct'].mean():.2f} of the first.",
        "lied": f"Where the name lies, {share(lies['follows']).text()} of its answers follow it.",
        "most": f"Asked for a colour, it names the most frequent one in {share(most['follows']).text()}"
        " of never-told cases.",
        "twin": "No twin was asked.",
    }
    if twin := rich.twin_of(hinted, model):
        its = hinted[(hinted["model"] == twin) & (hinted["told"] != NEVER)]
        its = its[its["relation"].isin(IN_A_NAME) & its["cue"].eq(RIGHT)]
        same = hinted[(hinted["model"] == model) & hinted["fact"].isin(its["fact"])]
        found["twin"] = (
            "Of the facts with such a name that the text does tell, it gets "
            f"{share(same['correct']).text()} right, and its twin, which read none of them, "
            f"{share(its['correct']).text()}."
        )
    return found
