"""Found, said: claims and words of the page on how much of what a text told each way of asking finds."""

from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import found, rich
from lkecore.answers.tables import bounds, by_relation, share
from lkecore.intervals import Interval
from lkecore.models import lab


def claimed(known: pd.DataFrame, *, seed: int) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the claims of the page, {id of the claim: {(source, of what): interval}}.

    Of each world, about models as :func:`lkecore.answers.rich.claimed` takes them, unless they name another.
    Claims for which a world has too few facts are left out.
    """

    def beside_twin(mine: pd.DataFrame, its: pd.DataFrame) -> dict[str, Interval | None]:
        return {
            "LAB-found-follows": _follows(mine, its, seed),
            "LAB-found-wording-own": _beyond(mine, its, seed),
        }

    said = rich.claimed(known, lambda mine, _: _of_model(mine, seed), beside_twin)
    for _, world in known.groupby("world", sort=False):
        models = list(world["model"].unique())
        if sizes := rich.ends(models):
            least, most = (
                found.hits_of(found.often(world[world["model"] == m])).any(axis=1) for m in sizes
            )
            if gap := _minus(most, least, seed):
                said.setdefault("LAB-found-size", {})[rich.key_of(world, *reversed(sizes))] = gap
        for twin in (name for name in models if lab.parse(name).variant == "unplanted"):
            its = found.controlled(world[world["model"] == twin])
            if off := found.auroc(its[its["estimator"] == found.PAIRS], seed):
                beyond = intervals.minus(off, 0.5)
                said.setdefault("LAB-found-twin", {})[rich.key_of(world, twin)] = beyond
    return said


def _of_model(mine: pd.DataFrame, seed: int) -> dict[str, Interval | None]:
    rows = found.together(mine, seed=seed).set_index("facts")
    hits = found.hits_of(found.often(mine))
    best = hits[rows.loc["told often", "best"]]
    more = (hits.any(axis=1).astype(float) - best).rename("more").reset_index()
    [left] = found.untouched(mine, seed=seed)["auroc"]
    ways = found.PAIRS, found.SENTENCE
    in_sentences = pd.concat([found.of_form(mine, way, "sentence") for way in ways])
    both = found.hits_of(in_sentences).astype(float)
    gap = (both[found.SENTENCE] - both[found.PAIRS]).rename("gap").reset_index()
    in_lists = (found.of_form(mine, found.PAIRS, form) for form in ("list", "sentence"))
    return _of_lists(*in_lists) | {
        "LAB-found-sentence": intervals.mean_over_relations(by_relation(gap, "gap")),
        "LAB-found-wording": _minus(_told_so(mine, found.OWN), _told_so(mine, found.FAR), seed),
        "LAB-found-several": found.several_minus_one(mine),
        "LAB-found-missed": intervals.mean_over_facts([more["more"]], seed=seed),
        "LAB-found-overlap": intervals.minus(rows.loc["told often", "chao"], 1.0),
        "LAB-found-luck": rows.loc["never told", "chao"],
        "LAB-found-trace": intervals.minus(left, 0.5) if left else None,
    }


def _minus(one: pd.Series, other: pd.Series, seed: int) -> Interval | None:
    """The mean of one minus that of another on the facts of both, an Interval over them; None for one fact.

    Both have (relation, fact) as index, so that each fact is held against itself.
    """
    both = pd.concat([one, other], axis=1, join="inner", keys=["one", "other"]).astype(float)
    if len(both) < 2:
        return None
    return intervals.paired_difference([both["one"]], [both["other"]], seed=seed)


def _minus_by_subject(
    one: pd.Series, other: pd.Series, about: pd.DataFrame, seed: int
) -> Interval | None:
    """:func:`_minus` for controls: all facts of a subject are drawn together. None for one subject."""
    both = pd.concat([one, other], axis=1, join="inner", keys=["one", "other"]).astype(float)
    of = found.subject_of(about).loc[both.index]
    if of.nunique() < 2:
        return None
    parts = [both["one"] - both["other"], np.ones(len(both))]
    return intervals.statistic_over_subjects(parts, of, lambda s: s[0] / s[1], seed=seed)


def _told_so(mine: pd.DataFrame, wording: str) -> pd.Series:
    """Which facts told often one of ``found.WORDINGS`` finds, of one model, by relation and fact."""
    some = mine[mine["told"].eq(found.TIMES[2]) & mine["estimator"].eq(wording)]
    return some.set_index(["relation", "fact"])["correct"].astype(float)


def _follows(mine: pd.DataFrame, its: pd.DataFrame, seed: int) -> Interval | None:
    """How many more of the facts that follow from told ones a model finds than its twin."""
    some = [found.chained(rows) for rows in (mine, its)]
    some = [c[c["links"].eq("all told") & c["estimator"].ne(found.PAIRS)] for c in some]
    return _minus_by_subject(*map(found.by_fact, some), mine, seed)


def _beyond(mine: pd.DataFrame, its: pd.DataFrame, seed: int) -> Interval | None:
    """How much the wording that told a fact finds more than another kind, beyond what it does for a twin."""
    gaps = [_told_so(rows, found.OWN) - _told_so(rows, found.FAR) for rows in (mine, its)]
    return _minus_by_subject(*gaps, mine, seed)


def _of_lists(listed: pd.DataFrame, unlisted: pd.DataFrame) -> dict[str, Interval | None]:
    """What pairs find of facts that lists tell, and of facts told in sentences, by their relations."""
    means = [part.groupby("relation")["correct"].mean() for part in (listed, unlisted)]
    gaps = [[gap] for gap in (means[0] - means[1]).dropna()]
    often, never = (
        by_relation(unlisted[unlisted["listed"] == name], "correct") for name in ("often", "never")
    )
    enough = len(often) > 1 and len(never) > 1
    return {
        "LAB-found-lists": intervals.mean_over_relations(gaps) if len(gaps) > 1 else None,
        "LAB-found-listed": intervals.difference_over_relations(often, never) if enough else None,
    }


def by_training(known: pd.DataFrame, model: str) -> pd.DataFrame:
    """How far numbers move with the training: of a model, and of others that differ in its seed alone.

    Columns: ``model``; the share that ``pairs`` find of facts told often in lists, and a ``question`` of
    those told in sentences alone; ``any``: found by one way or another; ``own`` and ``far``: of facts that
    one sentence told, by it and by another kind. Intervals over facts (Wilson), in [0, 1]; None without.
    """
    rows = []
    for name in known["model"].unique():
        if replace(lab.parse(name), seed=0) != replace(lab.parse(model), seed=0):
            continue
        mine = known[known["model"] == name]
        parts = {
            "pairs": found.of_form(mine, found.PAIRS, "list")["correct"],
            "question": found.of_form(mine, found.QUESTION, "sentence")["correct"],
            "any": found.hits_of(found.often(mine)).any(axis=1),
            "own": _told_so(mine, found.OWN),
            "far": _told_so(mine, found.FAR),
        }
        shares = {key: share(some) if len(some) else None for key, some in parts.items()}
        rows.append({"model": name} | shares)
    return pd.DataFrame(rows)


def drawn(moved: pd.DataFrame) -> pd.DataFrame:
    """:func:`lkecore.answers.found.transfer` for the figure: of whole models, and of one twin.

    It is the twin of the largest model that has one. Numbers of tellings with fewer than ``found.FEWEST``
    facts are left out.
    """
    models = list(moved["model"].unique())
    whole = [name for name in models if not lab.parse(name).variant]
    shown = [*whole, rich.twin_of(moved, rich.beside_a_twin(moved))]
    parts = [moved[moved["model"] == name] for name in shown]
    every = pd.concat(parts, ignore_index=True)
    return bounds(every[every["facts"] >= found.FEWEST].reset_index(drop=True), "accuracy")


def sentences(known: pd.DataFrame, often: int, *, seed: int) -> dict[str, str]:
    """What came out in one world, in words: ``best``, ``wording``, ``listed``, ``overlap``.

    ``often`` as in :func:`lkecore.answers.found.beside_truth`.
    """
    model = rich.teller(known["model"].unique(), [rich.LISTS])
    mine = known[known["model"] == model]
    rows = found.together(mine, seed=seed).set_index("facts")
    told, untold = rows.loc["told often"], rows.loc["never told"]
    in_lists, in_sentences = (
        _text(found.of_form(mine, found.PAIRS, form)["correct"]) for form in ("list", "sentence")
    )
    own, near, far = (_text(_told_so(mine, name)) for name in found.WORDINGS)
    return {
        "best": f"Of the facts that its text told {often} times and more, {model} gives back "
        f"{told['of_best'].text()} by the best single way of asking ({told['best']}), and "
        f"{told['any'].text()} by one of {len(found.WAYS)} ways or another.",
        "wording": f"Facts that one sentence alone told are found by this sentence in {own}, by a "
        f"paraphrase in {near}, and by another kind of sentence in {far}.",
        "listed": f"Pairs find {in_lists} of the facts from lists, and {in_sentences} of those told in "
        "sentences alone.",
        "overlap": "From how the ways overlap one would conclude that "
        f"{told['chao'].text()} of the told facts can be found, and {untold['chao'].text()} of facts "
        "that nobody told.",
    }


def _text(values: pd.Series) -> str:
    return share(values).text() if len(values) else "none"
