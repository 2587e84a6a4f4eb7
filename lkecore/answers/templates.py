"""Templates: pairs beside sentences, which come in several wordings. From answers to tables by kind.

A *kind* of prompt is an estimator with all its draws of shots, or all the templates of one origin
together: those that people wrote, and those that a program mined from text. One answer to a kind is
the share of its prompts that have a fact right, so that a kind with three counts no more than one with
a single one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import rules
from lkecore.answers.shipped import read
from lkecore.answers.slots import TOGETHER
from lkecore.answers.tables import groups_of, over_relations, side_by_side
from lkecore.answers.verdicts import tested
from lkecore.errors import BadInput
from lkecore.prompts import HUMAN, MINED
from lkecore.prompts.draws import DRAW

HUMAN_KIND, MINED_KIND = "human (HGP)", "mined (MMP)"
SPACE = "iclke-space"  # the paper's format
WORDS_KIND = "words in pairs"  # of either origin, in the place of the space inside a pair
KINDS = dict.fromkeys(HUMAN, HUMAN_KIND) | dict.fromkeys(MINED, MINED_KIND)
KINDS |= {f"iclke-{name}": WORDS_KIND for name in HUMAN + MINED}

ON = " on "  # between a model and the profile that ships its answers


def with_draws(answers: pd.DataFrame, draws: pd.DataFrame) -> pd.DataFrame:
    """The answers, and below them those behind other shots, which become prompts of the same kind.

    ``draws`` has a column ``draw``, the seed of the shots. Its estimators get that into their names, so that
    one fact may be asked by several draws of one estimator, as it is by several templates of one kind.
    """
    names = draws["estimator"] + DRAW + draws["draw"].astype(str)
    others = draws.assign(estimator=names).drop(columns="draw")
    return pd.concat([answers, others], ignore_index=True)


def beside(answers: pd.DataFrame, profiles: Sequence[str], notebook: str) -> pd.DataFrame:
    """The answers, and below them those of longer runs that ship, with their draws of shots.

    A model of these is named with its profile, as in "smollm2 on table5", so that it stands apart from the
    same model on this page. Errors as of :func:`lkecore.answers.shipped.read`.
    """
    parts = [answers]
    for name in profiles:
        its, about = read(name, notebook)
        if about["parameters"].get("n_redraws"):
            its = with_draws(its, read(name, notebook, apart="draws")[0])
        parts.append(its.assign(model=its["model"] + ON + name))
    return pd.concat(parts, ignore_index=True)


def first_draws(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers behind the first draw of shots alone, as all ways of asking have it."""
    return answers[~answers["estimator"].str.contains(DRAW, regex=False)]


def of_rules(answers: pd.DataFrame, found: pd.DataFrame) -> dict[str, pd.Series]:
    """What the best rule without a model gets in each relation, in [0, 1], by the model of the answers.

    ``answers`` are of :func:`beside`, ``found`` of :func:`lkecore.answers.rules.beside`. Raises
    :class:`BadInput` for answers that ship without cues.
    """
    if missing := rules.lacking(with_source(answers), found):
        raise BadInput(f"{missing[0]}: ships without cues, so that nobody knows what a rule gets")
    yard = {
        source: rules.by_relation(its).set_index("relation")["of_rule"]
        for source, its in found.groupby("source", sort=False)
    }
    labels = answers["model"].unique()
    named = with_source(pd.DataFrame({"model": labels}))
    return {label: yard[source] for label, source in zip(labels, named["source"], strict=True)}


def with_no_cue(
    overall: pd.DataFrame, answers: pd.DataFrame, found: pd.DataFrame, *, seed: int
) -> pd.DataFrame:
    """A table of :func:`by_kind`, and ``no_cue``: the accuracy on facts that no rule has a cue of.

    An Interval over relations with two such facts or more, each counted alike
    (:func:`lkecore.answers.rules.above`); None where there are none.
    """
    by = ["source", "model", "kind"]
    each = with_source(shares(answers))
    left = rules.with_no_cue(with_source(overall)[by], each, found, by, seed=seed)
    return overall.assign(no_cue=left["no_cue"].to_numpy())


def asked_beside(profiles: Sequence[str], notebook: str) -> dict[str, str]:
    """The relations that results which ship were asked about: the paper's name, by the name there.

    A Wikidata property that the paper has not named keeps its own number.
    """
    names = papers.property_names()
    each = [read(name, notebook)[1]["parameters"]["relations"] for name in profiles]
    return {name: names.get(name, name) for its in each for name in its}


def others(overall: pd.DataFrame, ways: Mapping[str, str], of_rule: Mapping[str, pd.Series]) -> str:
    """A sentence on the longer runs in a table of :func:`by_kind`: pairs and sentences of each model.

    ``ways`` are the kinds beside sentences, with their words, such as {"iclke-space": "from pairs"}. A dash
    where there are no longer runs. ``of_rule`` is of :func:`of_rules`.
    """
    told = []
    for (model,), part in groups_of(overall, ["model"]):
        if ON in model:
            of = part.set_index("kind")["over_relations"].map(lambda found: found.text())
            pairs = "".join(f"{of[kind]} {words}, " for kind, words in ways.items())
            said = f"{model}: {pairs}{of[HUMAN_KIND]} and {of[MINED_KIND]} from sentences"
            told.append(f"{said}, {of_rule[model].mean():.2f} by a rule without a model")
    return f"In longer runs, {'; '.join(told)}." if told else "-"


def with_kinds(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with one more column, ``kind``; an estimator that is no template is a kind of its own.

    All its draws of shots are of this kind.
    """
    kinds = {
        each: KINDS.get(each, each.partition(DRAW)[0]) for each in answers["estimator"].unique()
    }
    return answers.assign(kind=answers["estimator"].map(kinds))


def shares(answers: pd.DataFrame) -> pd.DataFrame:
    """A row for each fact and kind: which share of the kind's templates has the fact right.

    Columns: ``model``, ``relation``, ``fact``, ``kind``, and ``correct``, the share, in [0, 1]: so
    :func:`~lkecore.answers.tables.over_relations` takes them as it takes answers. Facts keep the
    order of the frame.
    """
    key = ["model", "relation", "fact", "kind"]
    return with_kinds(answers).groupby(key, sort=False)["correct"].mean().reset_index()


def by_relation(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """The accuracy of each kind in each relation, with an interval over facts.

    Columns: ``model``, ``relation``, ``kind``, ``accuracy`` (an Interval, in [0, 1]), ``facts``. The
    interval draws facts again with all their templates; where every fact has the same share, it
    has no width.
    """
    rows = [
        (*key, intervals.mean_over_facts([part["correct"].to_numpy()], seed=seed), len(part))
        for key, part in groups_of(shares(answers), ["model", "relation", "kind"])
    ]
    return pd.DataFrame(rows, columns=["model", "relation", "kind", "accuracy", "facts"])


def by_kind(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """The accuracy of each kind over all relations, each counted alike, and how steady it is.

    Columns: ``model``, ``kind``; ``relations``, ``prompts`` (templates of all relations together) and
    ``facts``, how many; ``over_facts`` and ``over_relations`` as in
    :func:`~lkecore.answers.tables.over_relations`; ``spread``: the standard deviation of the accuracy
    over prompts, an Interval that draws prompts again as if none had to do with another, or None of a
    single one.
    """
    means = over_relations(shares(answers), ["model", "kind"], seed=seed)
    each = with_kinds(answers)
    each["relation"] = each["relation"] + "\x1f" + each["estimator"]  # a prompt in its place
    of_prompts = over_relations(each, ["model", "kind"], seed=seed)
    means["spread"] = of_prompts["spread"]
    means.insert(3, "prompts", of_prompts["relations"])
    facts = shares(answers).groupby(["model", "kind"], sort=False).size()
    means.insert(4, "facts", facts.to_numpy())
    return means


def by_prompt(answers: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of each template and estimator in each relation: the dots behind :func:`by_kind`."""
    key = ["model", "kind", "relation", "estimator"]
    means = with_kinds(answers).groupby(key, sort=False)["correct"].mean()
    return means.rename("accuracy").reset_index()


def apart(
    answers: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    *,
    same_shots: Sequence[str] = (),
    seed: int,
) -> pd.DataFrame:
    """The first kind of each pair minus the second, on the facts that both were asked.

    A row for each model and pair: ``model``, ``first``, ``second``; ``facts`` and ``relations``, how
    many; ``over_facts`` and ``over_relations``, Intervals of the difference of accuracies, each
    relation counted alike; the second is None of a single relation. Positive: the first is better.
    ``same_shots`` are kinds that show pairs, and were asked behind the first draw of them alone: what is
    compared with one of them is so on this draw.
    """
    rows = []
    for (model,), part in groups_of(answers, ["model"]):
        every, once = (side_by_side(shares(a), "kind") for a in (part, first_draws(part)))
        for first, second in [pair for pair in pairs if set(pair) <= set(every)]:
            wide = once if {first, second} & set(same_shots) else every
            gap = (wide[first] - wide[second]).dropna().rename("gap").reset_index()
            [row] = over_relations(gap, [], value="gap", seed=seed, share=False).to_dict("records")
            row = {"first": first, "second": second, "facts": len(gap)} | row
            rows.append({"model": model} | row)
    columns = ["model", "first", "second", "facts", "relations", "over_facts", "over_relations"]
    return pd.DataFrame(rows, columns=columns)


def steadier(answers: pd.DataFrame, estimators: Sequence[str], *, seed: int) -> pd.DataFrame:
    """How much more the human templates vary than an estimator does: a difference of two spreads.

        std over relations and human templates of the accuracy - std over relations of the estimator's

    With several draws of shots, those that all relations have, it is the mean of theirs, each over relations.
    Accuracies near 0 or 1 cannot vary much. So ``at_mean`` compares the two as shares of the largest std that
    each one's own mean allows: std / sqrt(mean (1 - mean)), with the mean over the same accuracies.

    Columns: ``model``, ``estimator``, ``relations``; ``over_relations``: the Interval of the difference, and
    ``at_mean``: that of the two shares; relations are drawn again, and the facts within each, the same for
    all prompts. Positive: the estimator is steadier. Of each relation the first facts count, as many as
    the one with the fewest has. Both are None of a single relation, ``at_mean`` also where in some draw all
    answers of one side are right, or none: its share has no value there.
    """
    rows = []
    for (model,), part in groups_of(with_kinds(answers), ["model"]):
        n = part.groupby(["estimator", "relation"]).size().min()
        right = {
            key: [g.to_numpy()[:n] for _, g in each.groupby("relation", sort=False)["correct"]]
            for key, each in part.groupby("estimator", sort=False)
        }
        of_kind = part.groupby("kind", sort=False)["estimator"].unique()
        for name in estimators:
            its = [key for key in of_kind[name] if len(right[key]) == len(right[name])]
            sides = [np.array([right[key] for key in keys], dtype=float) for keys in (its, HUMAN)]
            found = [_spread_apart(*sides, of, seed=seed) for of in (np.std, _share_of_most)]
            rows.append((model, name, sides[0].shape[1], *found))
    columns = ["model", "estimator", "relations", "over_relations", "at_mean"]
    return pd.DataFrame(rows, columns=columns)


def _spread_apart(
    its: np.ndarray, others: np.ndarray, spread: Callable[..., np.ndarray], *, seed: int
) -> intervals.Interval | None:
    """The spread of ``others``, all together, minus the mean of that of each draw of ``its``.

    Both are (prompt, relation, fact).
    """
    lacking = [its.shape[1] < 2]

    def apart(right: np.ndarray) -> np.ndarray:
        accuracies = right.mean(axis=3)
        gap = spread(accuracies[:, len(its) :], ddof=1, axis=(1, 2))
        gap = gap - spread(accuracies[:, : len(its)], ddof=1, axis=(2,)).mean(axis=1)
        lacking.append(bool(np.isnan(gap).any()))
        return np.nan_to_num(gap)

    if lacking[0] or np.isnan(spread(its.mean(axis=2), ddof=1, axis=(1,))).any():
        return None
    how = {"redraw": 1, "nested": True, "vectorized": True}
    both = np.concatenate([its, others])
    found = intervals.statistic_over_facts(both, apart, seed=seed, **how)
    return None if any(lacking) else replace(found, method="bootstrap over relations and facts")


def _share_of_most(accuracies: np.ndarray, *, ddof: int, axis: tuple[int, ...]) -> np.ndarray:
    """The std as a share of the largest one with the same mean (of very many values); NaN at 0 and 1."""
    mean = accuracies.mean(axis=axis)
    most = np.sqrt(mean * (1 - mean))
    std = accuracies.std(axis=axis, ddof=ddof)
    return np.divide(std, most, out=np.full_like(most, np.nan), where=most > 0)


def for_claims(
    gaps: pd.DataFrame, steady: pd.DataFrame, estimator: str
) -> dict[str, dict[tuple[str, str], intervals.Interval]]:
    """What :func:`lkecore.answers.verdicts` tests of one estimator, from :func:`apart` and :func:`steadier`.

    The claims: above human templates, above mined ones, steadier than human ones, also at each one's mean,
    and, if ``estimator`` is the paper's and pairs with words inside were asked, no different from these.
    EIC-LKE has claims of its own, without the last two. Intervals are over relations; a model that was
    asked a single relation has none.
    """
    mine = with_source(gaps[gaps["first"] == estimator])
    its = with_source(steady[steady["estimator"] == estimator])
    words = mine[(mine["second"] == WORDS_KIND) & (mine["first"] == SPACE)]
    if estimator == TOGETHER:
        return {
            "IC-eic-above-human": tested(mine[mine["second"] == HUMAN_KIND], "over_relations"),
            "IC-eic-above-mined": tested(mine[mine["second"] == MINED_KIND], "over_relations"),
            "IC-eic-steadier": tested(its, "over_relations"),
        }
    return {
        "IC-above-human": tested(mine[mine["second"] == HUMAN_KIND], "over_relations"),
        "IC-above-mined": tested(mine[mine["second"] == MINED_KIND], "over_relations"),
        "IC-steadier": tested(its, "over_relations"),
        "IC-steadier-at-mean": tested(its, "at_mean"),
        "IC-separator": tested(words, "over_relations"),
    }


def at_chance(
    overall: pd.DataFrame, of_rule: Mapping[str, pd.Series]
) -> dict[tuple[str, str, str, str], str]:
    """Which verdicts on words in the place of the space say nothing: {(claim, source, model, way): mark}.

    To a model that with the space is not clearly above the best rule
    (:func:`lkecore.answers.rules.not_above`) all formats come to the same. ``overall`` is of :func:`by_kind`,
    ``of_rule`` of :func:`of_rules`. Intervals are over relations, or over the facts of a single one.
    """
    space = overall[overall["kind"] == SPACE].set_index("model")
    found = space["over_relations"].combine_first(space["over_facts"])
    yard = {model: each.mean() for model, each in of_rule.items()}
    low = with_source(pd.DataFrame({"model": rules.not_above(found.to_dict(), yard)}))
    keys = low[["source", "model"]].itertuples(index=False, name=None)
    return {("IC-separator", *key, SPACE): "at chance" for key in keys}


def with_source(frame: pd.DataFrame) -> pd.DataFrame:
    """Models by their own names, and in ``source`` whose answers these are."""
    parts = [label.partition(ON) for label in frame["model"]]
    sources = [f"shipped: {profile}" if profile else "this page" for _, _, profile in parts]
    return frame.assign(model=[model for model, _, _ in parts], source=sources)
