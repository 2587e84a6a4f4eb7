"""Moved: entropy, KL and rank at a blank, held against what a rich world's text told of each fact.

For every metric a smaller value means that the fact was known better. Here each is turned round, so that
more is better known and all can be compared by one number, the AUROC.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals, papers
from lkecore.answers import door, lab, rich, shipped
from lkecore.answers.blanks import at_blanks
from lkecore.answers.firsts import SETS, sets
from lkecore.answers.lab import OFTEN
from lkecore.answers.tables import groups_of, mean_of_finite
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.metrics.planted import told_levels
from lkecore.prompts.instilled import Instilled
from lkecore.prompts.prompt import Prompt

KEY = ["world", "reader", "estimator", "instillation", "relation"]  # of the questions at blanks
SHOWN = ["world", "reader", "estimator", "relation"]  # of those with pairs in front
TIMES = (1, 4, 12, 16, 32, 48, 64)  # tellings of the facts that are asked
FACT = ["model", "world", "relation", "fact"]
# What is compared, by name: of which column, and what stands behind the question.
FIRST_TOKEN = {
    "rank": ("rank", "explicit"),
    "surprisal": ("surprisal", "explicit"),
    "entropy": ("entropy", "explicit"),
    "change of entropy": ("change", "explicit"),
    "signed change": ("signed", "explicit"),
    "KL": ("kl", "explicit"),
    "KL back": ("kl_back", "explicit"),
    "KL, other subject": ("kl", "copied"),
}
WHOLE_NAMES = {
    "entropy of options": ("options_entropy", "explicit"),
    "change of options": ("options_change", "explicit"), "KL of options": ("options_kl", "explicit"),
    "KL back of options": ("options_kl_back", "explicit"),
}  # fmt: skip
CHOSEN = {"confidence": ("confidence_gold", "explicit"), "IC-LKE": ("iclke", "explicit")}
METRICS = FIRST_TOKEN | WHOLE_NAMES | CHOSEN
MAIN = "KL"
BINS = (1e-6, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)  # of probability before
OPEN = "with two"  # the level of facts that are told with several objects


def published() -> pd.DataFrame:
    """The paper's Table 1: the share of pairs that a metric orders rightly, by our names of the metrics."""
    ours = {"ranking": "rank", "entropy": "change of entropy", "kl_divergence": "KL"}
    table = papers.table("pez_table1_metric_accuracy")
    wide = table.pivot(index="metric", columns="model", values="accuracy_pct") / 100
    return wide.rename(index=ours).rename_axis(columns=None)


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.facts.worlds.states`.

    Those told rightly or wrongly as often as ``TIMES`` says; those told most often with several objects;
    and as many that are never told, the controls of these.
    """
    told = states["state"].isin(["planted", "mislearned"]) & states["occurrences"].isin(TIMES)
    among = states["state"].eq("uncertain")
    told |= among & states["occurrences"].eq(states.loc[among, "occurrences"].max())
    return rich.or_controls(states, told)


def questions(
    samples: Mapping[str, Sample],
    models: Sequence[str],
    template: str,
    *,
    behind: Sequence[str] = ("explicit", "copied"),
    dtype: str,
    seed: int,
) -> dict[tuple[str, ...], list[Instilled]]:
    """The questions about some worlds by ``KEY``: behind the fact, and behind another subject's.

    ``behind`` names the instillations, as :func:`lkecore.answers.blanks.at_blanks`. For readers that see
    what follows a blank a full stop stands there, as in the text.
    """
    how = {"dtype": dtype, "seed": seed}
    return {
        (world, *key): some
        for world, sample in samples.items()
        for key, some in at_blanks(models, sample, [template], behind, **how).items()
    }


def many_shot(
    samples: Mapping[str, Sample], models: Sequence[str], *, dtype: str
) -> dict[tuple[str, ...], list[Prompt]]:
    """The same facts by ``iclke-space``, for ``by=SHOWN``: of each world, for causal readers alone.

    Other readers are asked the page's first template, so that each run keeps answers; nothing reads them.
    """
    found = {}
    for reader in dict.fromkeys(door.opened(name, dtype).kind for name in models):
        some = lab.questions(samples, ["iclke-space" if reader == "causal" else "template-1"])
        found |= {(world, reader, *key): prompts for (world, *key), prompts in some.items()}
    return found


def beside(
    first: pd.DataFrame,
    second: pd.DataFrame,
    profiles: Sequence[str],
    notebook: str,
    apart: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two frames of this run, and below them what ships of other models of longer runs of a notebook.

    ``apart`` is the name under which those of the second are kept.
    """
    one = shipped.beside_models(first, profiles, notebook)
    return one, shipped.beside_models(second, profiles, notebook, apart=apart)


def known(at_blanks: pd.DataFrame, iclke: pd.DataFrame, *, often: int = OFTEN) -> pd.DataFrame:
    """Every metric of every fact, turned so that more is better known: a row for each model and fact.

    ``at_blanks`` are of :func:`lkecore.answers.blanks.ask_blanks` with the questions above, ``iclke`` answers
    to ``iclke-space`` about the same facts, of causal models alone. Columns: ``FACT``, those of ``METRICS``
    (NaN where a model was not asked so); not turned: ``entropy_before``, ``entropy_after`` and ``move``
    (KL), in nats, ``probability`` of the object's first token before, and ``repeated`` (bool), whether it
    comes first behind the fact; what the text says of the fact: ``subject``, ``state``, ``told`` (a level in
    words), ``occurrences``, ``control``, ``kind``, ``mentions`` of the subject; ``often`` (bool): told
    rightly and no less than that; ``set``, as of :func:`lkecore.answers.firsts.sets`; and the ``source`` of
    ``at_blanks``. Sorted by relation and fact, since bootstraps draw by place.
    """
    signed = at_blanks["entropy"] - at_blanks["entropy_after"]
    options = (at_blanks["options_entropy"] - at_blanks["options_entropy_after"]).abs()
    each = at_blanks.assign(signed=signed, change=signed.abs(), options_change=options)
    by_kind = {name: part.set_index(FACT) for name, part in each.groupby("instillation")}
    explicit = by_kind["explicit"]
    shown = iclke[iclke["estimator"] == "iclke-space"]
    answers = shown.set_index(FACT)["confidence_gold"].reindex(explicit.index)
    explicit = explicit.assign(iclke=answers)
    found = pd.DataFrame(index=explicit.index)
    for name, (column, instillation) in METRICS.items():
        source = explicit if instillation == "explicit" else by_kind[instillation]
        values = source[column].reindex(explicit.index)
        found[name] = values if name in CHOSEN else -values
    found = found.assign(
        entropy_before=explicit["entropy"],
        move=explicit["kl"],
        entropy_after=explicit["entropy_after"],
        probability=np.exp(-explicit["surprisal"]),
        repeated=explicit["rank_after"].eq(1),
        set=sets(explicit),
        source=explicit["source"],
    )
    columns = ["subject", "state", "occurrences", "control", "kind", "mentions"]
    found = rich.with_states(found.reset_index(), columns)
    levels = told_levels(found).mask(found["state"].eq("uncertain"), OPEN)
    found["told"] = levels.to_numpy()
    found["often"] = found["state"].eq("planted") & found["occurrences"].ge(often)
    return found.sort_values(["relation", "fact"], kind="stable", ignore_index=True)


def of_set(known: pd.DataFrame, name: str = SETS[0]) -> pd.DataFrame:
    """The facts of one of ``SETS``: objects of one token are alone, too."""
    return known[
        known["set"].isin({"alone": SETS[:2], "one token": SETS[1:2]}.get(name, known["set"]))
    ]


def left_out(known: pd.DataFrame) -> pd.DataFrame:
    """How many facts have an object that its first token tells, by model and kind: those of each set."""
    by = ["model", "kind"]
    counts = {name: of_set(known, name).groupby(by).size() for name in reversed(SETS)}
    return pd.DataFrame(counts).fillna(0).astype(int).reset_index()


def pairs(known: pd.DataFrame) -> pd.DataFrame:
    """Facts that are told often, each beside its never-told control, asked of the same model.

    Columns of the told fact, and those of the metrics of the control, and its ``mentions``, with ``_control``
    behind. A fact whose control is not among ``known``, as where its object is not alone, is left out.
    """
    by = ("model", "world", "relation")
    return rich.beside_controls(known[known["often"]], known, [*METRICS, "mentions"], by=by)


def aurocs(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Does a metric find what was told? The AUROC of told facts against controls, by model and metric.

    A row for each model and metric, a column for each of ``SETS``: an Interval over pairs, or None for
    fewer than two pairs; ``familiar``: as "alone", without controls whose subject the text never names. 1/2
    is no telling apart. Metrics of the first token are not for facts that share it with others; they stand in
    "all" to show what that does. ``KL minus it``: the AUROC by KL minus this one, over the pairs of "alone".
    ``BERT`` and ``T5``: the share of pairs that the metric orders rightly in the paper's Table 1, NaN where
    it has none.
    """
    rows = {}
    some = {name: pairs(of_set(known, name)) for name in SETS}
    some["familiar"] = some[SETS[0]][lambda f: f["mentions_control"] > 0]
    for name, every in some.items():
        for (model,), part in groups_of(every, ["model"]):
            for metric in METRICS:
                found = auroc(part, metric, seed) if len(part) > 1 else None
                rows.setdefault((model, metric), {})[name] = found
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["model", "metric"])
    frame = frame.reindex(columns=[SETS[0], "familiar", *SETS[1:]]).dropna(how="all").reset_index()
    frame = frame.merge(gaps(known, seed=seed), on=["model", "metric"], how="left")
    whole = frame.astype(object).where(frame.notna(), None)
    return whole.join(published(), on="metric")


def auroc(part: pd.DataFrame, metric: str, seed: int, *, of: str = "") -> Interval | None:
    """The AUROC of one metric over the pairs of one model; None where one has no such number.

    ``of``: a column, such as the subject, whose pairs are drawn together; by default each is by itself.
    """
    told, control = part[metric], part[f"{metric}_control"]
    if np.isnan([told, control]).any():
        return None
    return intervals.auroc_over_pairs(told, control, of=part[of] if of else None, seed=seed)


def gaps(
    known: pd.DataFrame, *, seed: int, metrics: Sequence[str] = tuple(METRICS)
) -> pd.DataFrame:
    """The AUROC by KL minus that by each other metric, on the same pairs: above 0, KL finds more.

    Columns: ``model``, ``metric``, ``KL minus it``, an Interval over pairs.
    """
    rows = []
    for (model,), part in groups_of(pairs(of_set(known)), ["model"]):
        for metric in metrics:
            if metric == MAIN or part[metric].isna().any():
                continue
            first, other = ((part[m], part[f"{m}_control"]) for m in (MAIN, metric))
            rows.append((model, metric, intervals.auroc_over_pairs(*first, minus=other, seed=seed)))
    return pd.DataFrame(rows, columns=["model", "metric", "KL minus it"])


def by_level(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """What the numbers are by how often the text tells a fact: means over facts, by model and level.

    Columns: ``model``, ``told``, ``facts``; ``entropy`` H(P), ``after`` H(Q) and ``KL`` in nats, Intervals
    over facts; ``rank``, the median of the object's first token before the statement, and ``repeated``,
    how often it comes first behind it, in [0, 1], an Interval (Wilson).
    """
    rows = []
    for (model, level), part in groups_of(of_set(known), ["model", "told"]):
        if len(part) < 2:
            continue
        columns = ("entropy_before", "entropy_after", "move")
        means = [mean_of_finite(part[c], seed=seed) for c in columns]
        repeated = intervals.proportion(int(part["repeated"].sum()), len(part))
        rows.append((model, level, len(part), *means, -part["rank"].median(), repeated))
    columns = ["model", "told", "facts", "entropy", "after", "KL", "rank", "repeated"]
    found = pd.DataFrame(rows, columns=columns)
    order = ["never", "1 to 4", "5 to 15", "16 and more", OPEN, "wrongly"]
    place = found["told"].map({name: i for i, name in enumerate(order)})
    return found.assign(_at=place).sort_values(["model", "_at"], kind="stable").drop(columns="_at")


def over_probability(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """KL by how probable the object's first token was before anything was told, in bins: by model.

    Columns: ``model``, ``probability``, the geometric mean of a bin's; ``facts``; ``KL`` in nats, an
    Interval over facts. Bins of fewer than five facts with a finite KL are left out.
    """
    binned = of_set(known)[lambda f: np.isfinite(f["move"])].assign(
        at=lambda f: pd.cut(f["probability"], BINS, labels=False)
    )
    rows = []
    for (model, _), part in groups_of(binned, ["model", "at"]):
        if len(part) < 5:
            continue
        middle = float(np.exp(np.log(part["probability"]).mean()))
        mean = intervals.mean_over_facts([part["move"]], seed=seed)
        rows.append((model, middle, len(part), mean))
    found = pd.DataFrame(rows, columns=["model", "probability", "facts", "KL"])
    return found.sort_values(["model", "probability"], ignore_index=True)


def places_within(values: pd.DataFrame, relation: pd.Series | pd.Index) -> NDArray[np.float64]:
    """The place of each fact in its relation, less their mean there: (column of ``values``, fact).

    What relations have in common then counts for nothing; one with a single fact has no order.
    """
    places = values.groupby(relation).rank()
    places -= places.groupby(relation).transform("mean")
    return places.to_numpy(dtype=float).T


def wrongly(
    known: pd.DataFrame, *, seed: int, metrics: Sequence[str] = tuple(METRICS)
) -> pd.DataFrame:
    """Facts told wrongly against facts told rightly as often: the AUROC of *less known*, by model and metric.

    1/2: the metric takes a fact that was told wrongly for as known as the others; 1: it always takes it for
    less known. Columns: ``model``, ``metric``, ``wrongly`` and ``rightly`` (facts), ``ours``, an Interval
    over facts.
    """
    rows = []
    for (model,), part in groups_of(of_set(known), ["model"]):
        wrong = part[part["state"].eq("mislearned")]
        right = part[part["state"].eq("planted")]
        right = right[right["occurrences"].isin(wrong["occurrences"].unique())]
        if len(wrong) < 2 or len(right) < 2:
            continue
        for metric in metrics:
            if wrong[metric].isna().any() or right[metric].isna().any():
                continue
            ours = _less_known(wrong[metric].to_numpy(), right[metric].to_numpy(), seed)
            rows.append((model, metric, len(wrong), len(right), ours))
    return pd.DataFrame(rows, columns=["model", "metric", "wrongly", "rightly", "ours"])


def _less_known(wrong: NDArray[np.float64], right: NDArray[np.float64], seed: int) -> Interval:
    """The AUROC of facts of one kind lying below those of another, all of them drawn again together.

    How often each is drawn says all about a resample, so that it is a product of matrices. A resample
    without a fact of one kind counts one half.
    """
    below = (wrong[:, None] < right) + 0.5 * (wrong[:, None] == right)
    n, size = len(wrong), len(wrong) + len(right)

    def auroc(many: NDArray[np.float64]) -> NDArray[np.float64]:
        places = many[:, 0].astype(np.int64) + size * np.arange(len(many))[:, None]
        times = np.bincount(places.ravel(), minlength=size * len(many)).reshape(len(many), size)
        first, second = times[:, :n], times[:, n:]
        pairs = first.sum(axis=-1) * second.sum(axis=-1)
        above = ((first @ below) * second).sum(axis=-1)
        return np.where(pairs > 0, above / np.maximum(pairs, 1), 0.5)

    facts = [np.arange(size)]
    return intervals.statistic_over_facts(facts, auroc, seed=seed, vectorized=True)
