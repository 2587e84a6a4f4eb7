"""Moved: entropy, KL and rank at a blank, held against what a rich world's text told of each fact.

For every metric a smaller value means that the fact was known better. Here each is turned round, so that
more is better known and all can be compared by one number, the AUROC.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals, papers
from lkecore.answers import rich
from lkecore.answers.door import opened
from lkecore.answers.lab import OFTEN
from lkecore.answers.tables import groups_of
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.metrics.planted import told_levels
from lkecore.prompts.instilled import Instilled, instilled_of_sample

KEY = ["world", "reader", "estimator", "instillation", "relation"]  # of the questions
TIMES = (1, 4, 16, 32, 48, 64)  # tellings of the facts that are asked
AMONG = 48  # tellings of the facts told with several objects that are asked
FACT = ["model", "world", "relation", "fact"]
# What is compared, by name: of which column, and what stands behind the question.
FIRST_TOKEN = {
    "rank": ("rank", "explicit"),
    "surprisal": ("surprisal", "explicit"),
    "entropy": ("entropy", "explicit"),
    "change of entropy": ("change", "explicit"),
    "KL": ("kl", "explicit"),
    "KL back": ("kl_back", "explicit"),
    "KL, other subject": ("kl", "copied"),
}
WHOLE_NAMES = {"KL of options": ("options_kl", "explicit")}
CHOSEN = {"confidence": ("confidence_gold", "explicit"), "IC-LKE": ("iclke", "explicit")}
METRICS = FIRST_TOKEN | WHOLE_NAMES | CHOSEN
MAIN = "KL"
SETS = ("alone", "one token", "all")  # of facts: by the first token of the object
OPEN = "with two"  # the level of facts that are told with several objects


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.facts.worlds.states`.

    Those told rightly, wrongly, or ``AMONG`` times with several objects; and as many that are never told,
    the controls of these.
    """
    told = states["state"].isin(["planted", "mislearned"]) & states["occurrences"].isin(TIMES)
    told |= states["state"].eq("uncertain") & states["occurrences"].eq(AMONG)
    controls = set(states.loc[told & states["split"].eq("test"), "control"])
    return told | states["fact"].isin(controls)


def questions(
    samples: Mapping[str, Sample], models: Sequence[str], template: str, *, dtype: str, seed: int
) -> dict[tuple[str, ...], list[Instilled]]:
    """The questions about some worlds by ``KEY``: behind the fact, and behind another subject's.

    For readers that see what follows a blank a full stop stands there, as in the text.
    """
    readers = dict.fromkeys(opened(name, dtype).kind for name in models)
    return {
        (world, reader, *key): some
        for world, sample in samples.items()
        for reader in readers
        for key, some in instilled_of_sample(
            sample, [template], ["explicit", "copied"], closed=reader != "causal", seed=seed
        ).items()
    }


def known(at_blanks: pd.DataFrame, iclke: pd.DataFrame) -> pd.DataFrame:
    """Every metric of every fact, turned so that more is better known: a row for each model and fact.

    ``at_blanks`` are of :func:`lkecore.answers.blanks.ask_blanks` with the questions above, ``iclke`` answers
    to ``iclke-space`` about the same facts, of causal models alone. Columns: ``FACT``, those of ``METRICS``
    (NaN where a model was not asked so), ``entropy_before`` (nats, not turned), ``move`` (KL in nats) and
    ``change`` (H(P) - H(Q) in nats); what the text says of the fact: ``state``, ``told`` (a level in words),
    ``occurrences``, ``control``, ``kind``, ``form``; and ``set``: "alone" where no other object of the
    relation has the first token of this one, "one token" where it is the whole object, besides, "shared"
    else. Sorted by relation and fact, since bootstraps draw by place.
    """
    change = at_blanks["entropy"] - at_blanks["entropy_after"]
    each = at_blanks.assign(signed=change, change=change.abs())
    by_kind = {name: part.set_index(FACT) for name, part in each.groupby("instillation")}
    explicit = by_kind["explicit"]
    answers = iclke.set_index(FACT)["confidence_gold"].reindex(explicit.index)
    explicit = explicit.assign(iclke=answers)
    found = pd.DataFrame(index=explicit.index)
    for name, (column, instillation) in METRICS.items():
        source = explicit if instillation == "explicit" else by_kind[instillation]
        values = source[column].reindex(explicit.index)
        found[name] = values if name in CHOSEN else -values
    alone = ~explicit["shared"].astype(bool) & ~explicit["merged"].astype(bool)
    single = alone & explicit["n_tokens"].eq(1)
    found = found.assign(
        entropy_before=explicit["entropy"],
        move=explicit["kl"],
        signed=explicit["signed"],
        set=np.where(single, SETS[1], np.where(alone, SETS[0], "shared")),
    )
    columns = ["state", "occurrences", "control", "kind", "form"]
    found = rich.with_states(found.reset_index(), columns)
    levels = told_levels(found).mask(found["state"].eq("uncertain"), OPEN)
    found["told"] = levels.to_numpy()
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
    """Facts told ``OFTEN`` times and more, each beside its never-told control, asked of the same model.

    Columns of the told fact, and those of the metrics of the control with ``_control`` behind. A fact
    whose control is not among ``known``, as where its object is not alone, is left out.
    """
    often = known[known["state"].eq("planted") & known["occurrences"].ge(OFTEN)]
    by = ["model", "world", "relation"]
    own = known[[*by, "fact", *METRICS]].rename(columns={"fact": "control"})
    return often.merge(own, on=[*by, "control"], suffixes=("", "_control"), validate="m:1")


def aurocs(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Does a metric find what was told? The AUROC of told facts against controls, by model and metric.

    A row for each model and metric, a column for each of ``SETS``: an Interval over pairs, or None for
    fewer than ten pairs. 1/2 is no telling apart. Metrics of the first token are not for facts that share it
    with others; they stand in "all" to show what that does.
    """
    rows = {}
    for name in SETS:
        for (model,), part in groups_of(pairs(of_set(known, name)), ["model"]):
            for metric in METRICS:
                found = auroc(part, metric, seed) if len(part) >= 10 else None
                rows.setdefault((model, metric), {})[name] = found
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["model", "metric"])
    frame = frame.reindex(columns=list(SETS)).dropna(how="all").reset_index()
    return frame.astype(object).where(frame.notna(), None)


def auroc(part: pd.DataFrame, metric: str, seed: int) -> Interval | None:
    """The AUROC of one metric over the pairs of one model; None where one has no such number."""
    told, control = part[metric], part[f"{metric}_control"]
    if told.isna().any() or not np.isfinite([told, control]).all():
        return None
    return intervals.auroc_over_pairs(told, control, seed=seed)


def gaps(known: pd.DataFrame, *, seed: int, against: str = MAIN) -> pd.DataFrame:
    """The AUROC by KL minus that by each other metric, on the same pairs: by model, over pairs.

    Above 0: KL finds more. Columns: ``model``, ``minus``, ``ours``; and ``BERT`` and ``T5``: the same gap in
    the paper's Table 1, in shares of pairs in the right order, NaN where it has none.
    """
    rows = []
    for (model,), part in groups_of(pairs(of_set(known)), ["model"]):
        for metric in METRICS:
            if metric == against or part[metric].isna().any():
                continue
            sides = [(part[m], part[f"{m}_control"]) for m in (against, metric)]
            gap = intervals.auroc_over_pairs(*sides[0], minus=sides[1], seed=seed)
            rows.append((model, metric, gap))
    found = pd.DataFrame(rows, columns=["model", "minus", "ours"])
    return found.join(_published(), on="minus")


def _published() -> pd.DataFrame:
    """Table 1 of the paper: KL minus rank and minus entropy, in shares."""
    table = papers.table("pez_table1_metric_accuracy")
    wide = table.pivot(index="metric", columns="model", values="accuracy_pct") / 100
    gap = wide.loc["kl_divergence"] - wide.drop(index="kl_divergence")
    return gap.rename(index={"ranking": "rank", "entropy": "change of entropy"})


def by_level(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """What the numbers are by how often the text tells a fact: means over facts, by model and level.

    Columns: ``model``, ``told``, ``facts``; ``entropy`` H(P), ``change`` H(P) - H(Q) and ``KL`` in nats,
    Intervals over facts; ``rank``, the median of the object's first token.
    """
    rows = []
    for (model, level), part in groups_of(of_set(known), ["model", "told"]):
        if len(part) < 2:
            continue
        columns = ("entropy_before", "signed", "move")
        means = [intervals.mean_over_facts([part[c]], seed=seed) for c in columns]
        rows.append((model, level, len(part), *means, -part["rank"].median()))
    columns = ["model", "told", "facts", "entropy", "change", "KL", "rank"]
    found = pd.DataFrame(rows, columns=columns)
    order = ["never", "1 to 4", "5 to 15", "16 and more", OPEN, "wrongly"]
    place = found["told"].map({name: i for i, name in enumerate(order)})
    return found.assign(_at=place).sort_values(["model", "_at"], kind="stable").drop(columns="_at")


def follows_tellings(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Spearman's correlation of each metric with how often a fact was told, 1 to 64 times: by model.

    Columns: ``model``, ``metric``, ``facts``, ``r``, an Interval over facts.
    """
    rows = []
    told = of_set(known)[lambda f: f["state"].eq("planted")]
    for (model,), part in groups_of(told, ["model"]):
        for metric in METRICS:
            if part[metric].isna().any():
                continue
            both = part[[metric, "occurrences"]].to_numpy(dtype=float).T
            r = intervals.statistic_over_facts(both, rank_correlation, seed=seed, vectorized=True)
            rows.append((model, metric, len(part), r))
    return pd.DataFrame(rows, columns=["model", "metric", "facts", "r"])


def rank_correlation(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's correlation of two rows, for each of many resamples: (resample, 2, fact) to (resample,)."""
    from scipy.stats import rankdata

    ranks = rankdata(pairs, axis=-1)
    ranks = ranks - ranks.mean(axis=-1, keepdims=True)
    x, y = ranks[..., 0, :], ranks[..., 1, :]
    spread = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    return (x * y).sum(axis=-1) / np.maximum(spread, 1e-300)


def wrongly(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
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
        for metric in METRICS:
            values = pd.concat([wrong[metric], right[metric]])
            if values.isna().any():
                continue
            flags = np.r_[np.ones(len(wrong)), np.zeros(len(right))]
            ours = intervals.statistic_over_facts(
                [-values.to_numpy(), flags], _flagged_above, seed=seed, vectorized=True
            )
            rows.append((model, metric, len(wrong), len(right), ours))
    return pd.DataFrame(rows, columns=["model", "metric", "wrongly", "rightly", "ours"])


def _flagged_above(many: NDArray[np.float64]) -> NDArray[np.float64]:
    """AUROC of the flagged facts of each resample: (resample, [value, flag], fact) to (resample,).

    A resample without a fact of one side has none, and counts one half.
    """
    from scipy.stats import rankdata

    flags = many[:, 1]
    n, m = flags.sum(axis=-1), (1 - flags).sum(axis=-1)
    above = (rankdata(many[:, 0], axis=-1) * flags).sum(axis=-1) - n * (n + 1) / 2
    return np.where(n * m > 0, above / np.maximum(n * m, 1), 0.5)
