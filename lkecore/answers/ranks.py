"""Ranks: what the rank of an object leaves open, beside entropy and KL at the same blank (PZ-F1, PZ-S4)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals
from lkecore.answers import door
from lkecore.answers.firsts import SETS, sets
from lkecore.answers.moved import of_set, places_within
from lkecore.answers.tables import groups_of
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.metrics import shift
from lkecore.prompts.given import kinds_of

METRICS = ["rank", "surprisal", "entropy", "change of entropy", "KL"]
CLASSES = {"1": 1, "2 to 10": 10, "11 to 100": 100, "above 100": np.inf}  # of ranks, up to
WHO = ["source", "model"]
FEW = 5  # as many as the paper gets from a closed model


def with_kinds(found: pd.DataFrame, sample: Sample) -> pd.DataFrame:
    """Answers with the ``kind`` of their relation."""
    # A page of several models may have fewer relations in its sample than its runs had.
    kind = found["relation"].map(kinds_of(sample))
    return found.assign(kind=kind.fillna("other"))


def check(
    models: Sequence[str], wordings: Sequence[str], ks: Sequence[int], *, dtype: str = "float32"
) -> None:
    """Raise :class:`BadInput` for what this page cannot ask, before it asks anything.

    There must be two ``wordings``, and each of ``ks``, of how many likeliest tokens a KL is read, must be
    from 1 to the vocabulary of each model, with the paper's ``FEW`` among them.
    """
    if (n := len(set(wordings))) != 2:
        raise BadInput(f"{n} wordings are asked: this page compares two")
    if FEW not in ks:
        raise BadInput(f"ks {[*ks]}: must have {FEW} among them, of which the page's claim is")
    for name in models:
        most = len(door.opened(name, dtype).tokenizer)
        if wrong := [k for k in ks if not 1 <= k <= most]:
            raise BadInput(f"ks {wrong[0]}: must be 1 to {most}, the vocabulary of {name}")


def by_wording(at_blanks: pd.DataFrame) -> pd.DataFrame:
    """The numbers of :func:`lkecore.answers.blanks.ask_blanks`, by the names that the page has for them.

    Columns: ``WHO``, ``relation``, ``fact``, ``wording`` (a template), ``kind``, those of ``METRICS``
    (``rank`` of the object's first token, all others in nats, ``change of entropy`` signed), as they were,
    the likeliest tokens, and ``set``, as of :func:`lkecore.answers.firsts.sets`, of the wording in which the
    first token says least. In the order of the facts. Raises :class:`BadInput` unless there are two
    wordings.
    """
    if (n := at_blanks["estimator"].nunique()) != 2:
        raise BadInput(f"{n} wordings are asked: this page compares two")
    by = [at_blanks[name] for name in (*WHO, "relation", "fact")]
    found = at_blanks.rename(columns={"estimator": "wording", "kl": "KL"})
    worst = {"merged": "any", "shared": "any", "n_tokens": "max"}
    of_both = {name: at_blanks[name].groupby(by).transform(how) for name, how in worst.items()}
    change = found["entropy"] - found["entropy_after"]
    found = found.assign(**{"change of entropy": change, "set": sets(pd.DataFrame(of_both))})
    tokens = [name for name in found if name.startswith(("token_", "logprob_"))]
    key = [*WHO, "relation", "fact", "wording"]
    return found[[*key, "kind", "set", *METRICS, *tokens]].reset_index(drop=True)


def by_set(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """How much rank and KL hang on the wording in other sets of facts: by source, model and set.

    Columns: ``WHO``, ``set`` (of ``SETS``), ``facts``, and of :func:`between` the ``r`` of ``rank`` and
    ``KL``, Intervals over facts; sets of fewer than three facts of a model have no row.
    """
    found = []
    for who, part in groups_of(rows, WHO):
        for name in SETS:
            some = of_set(part, name)
            if some["fact"].nunique() < 3:
                continue
            both = _sides(some)
            r = [
                intervals.correlation_over_facts(*both[metric], ranks=True, seed=seed)
                for metric in ("rank", "KL")
            ]
            found.append((*who, name, both["rank"].shape[1], *r))
    return pd.DataFrame(found, columns=[*WHO, "set", "facts", "rank", "KL"])


def between(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """How much a metric hangs on the wording: by source, model and metric, over the facts of both wordings.

    Columns: ``WHO``, ``metric``, ``facts``; ``r``: Spearman's correlation of the metric in the first
    wording with itself in the second; 1: the wording does not matter for the order; ``KL minus it``: the r
    of KL minus this one, on the same facts, None for KL itself; ``within``: the r of places within each
    relation, to which it adds nothing that relations differ. Intervals over facts.
    """
    found = []
    for who, part in groups_of(rows, WHO):
        both = _sides(part)
        for metric in METRICS:
            r = intervals.correlation_over_facts(*both[metric], ranks=True, seed=seed)
            gap = None
            if metric != "KL":
                gap = intervals.correlation_over_facts(
                    *both["KL"], minus=tuple(both[metric]), ranks=True, seed=seed
                )
            within = intervals.correlation_over_facts(*_places(part, metric), seed=seed)
            found.append((*who, metric, both[metric].shape[1], r, gap, within))
    columns = [*WHO, "metric", "facts", "r", "KL minus it", "within"]
    return pd.DataFrame(found, columns=columns)


def _places(rows: pd.DataFrame, metric: str) -> NDArray[np.float64]:
    """The place of each fact in its relation by a metric, less their mean: (wording, fact)."""
    wide = rows.pivot(index=["relation", "fact"], columns="wording", values=metric).dropna()
    return places_within(wide, wide.index.get_level_values("relation"))


def _sides(rows: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """The places by each metric in both wordings, (wording, fact), of the facts that were asked in both."""
    wide = rows.pivot(index=["relation", "fact"], columns="wording", values=METRICS).dropna()
    names = rows["wording"].unique()[:2]
    return {metric: wide[metric][names].rank().to_numpy().T for metric in METRICS}


def _over(values: NDArray[np.float64], statistic, seed: int) -> Interval:
    return intervals.statistic_over_facts(values, statistic, seed=seed, vectorized=True)


def by_class(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """How unlike the answers are whose object has the same rank: by source, model and class of ranks.

    A fact that is in a class in both wordings counts once, in the first of them.
    Columns: ``WHO``, ``rank`` (a class), ``facts``; ``surprisal``, ``entropy`` and
    ``KL``: the tenth and the ninetieth percentile in nats, as text; ``spread of KL``: the second minus the
    first, an Interval over facts, None for fewer than five finite ones.
    """
    bins = [0, *CLASSES.values()]
    found = []
    classes = pd.cut(rows["rank"], bins, labels=list(CLASSES))
    each = rows.assign(at=classes).drop_duplicates([*WHO, "relation", "fact", "at"])
    for (*who, name), part in groups_of(each, [*WHO, "at"]):
        ends = [part[c].quantile([0.1, 0.9]) for c in ("surprisal", "entropy", "KL")]
        words = [f"{low:.1f} to {high:.1f}" for low, high in ends]
        wide = spread(part["KL"], seed=seed) if np.isfinite(part["KL"]).sum() >= 5 else None
        found.append((*who, name, len(part), *words, wide))
    columns = [*WHO, "rank", "facts", "surprisal", "entropy", "KL", "spread of KL"]
    table = pd.DataFrame(found, columns=columns)
    place = table["rank"].map({name: i for i, name in enumerate(CLASSES)}).astype(int)
    return table.assign(_at=place).sort_values(["model", "source", "_at"]).drop(columns="_at")


def spread(values: Sequence[float], *, seed: int) -> Interval:
    """The ninetieth minus the tenth percentile of the finite values, with an interval over facts."""

    def wide(many: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = np.quantile(many[:, 0], [0.1, 0.9], axis=-1)
        return high - low

    every = np.asarray(values, dtype=float)
    return _over(every[np.isfinite(every)][None], wide, seed)


def by_top(rows: pd.DataFrame, *, seed: int, ks: Sequence[int]) -> pd.DataFrame:
    """KL from the k likeliest tokens of each side against the exact one (PZ-S4): by source, model and k.

    Columns: ``WHO``, ``k``; ``exact``, ``from k`` and ``at least``: means of KL in nats, of the facts whose
    exact KL is finite: over all tokens, the paper's approximation, and the least that it can be by these
    lists (:func:`lkecore.metrics.shift.top_k`); ``above``: the share of facts whose approximation is above
    the exact value; ``r``: Spearman's correlation of approximation and exact value, an Interval over facts.
    Raises :class:`BadInput` for more tokens than the answers have.
    """
    most = sum(name.startswith("token_after_") for name in rows)
    if wrong := [k for k in ks if k > most]:
        raise BadInput(
            f"ks {wrong[0]}: these answers have the {most} likeliest tokens of each side"
        )
    found = []
    for who, part in groups_of(rows, WHO):
        part = part.sort_values(["wording", "relation", "fact"], kind="stable")
        exact, n = part["KL"].to_numpy(), part["wording"].nunique()
        for k in ks:
            tops = [shift.top_k(*_lists(row, k)) for row in part.to_dict("records")]
            guess, least = np.array([t.kl for t in tops]), np.array([t.least_kl for t in tops])
            both = (each.reshape(n, -1) for each in (guess, exact))  # (wording, fact)
            r = intervals.correlation_over_facts(*both, ranks=True, seed=seed)
            finite = np.isfinite(exact)
            means = (each[finite].mean() for each in (exact, guess, least))
            numbers = *means, (guess > exact).mean()
            found.append((*who, k, *map(float, numbers), r))
    columns = [*WHO, "k", "exact", "from k", "at least", "above", "r"]
    return pd.DataFrame(found, columns=columns)


def _lists(row: dict, k: int) -> tuple[dict[int, float], dict[int, float]]:
    """The k likeliest tokens of both sides: {token: log-probability}."""
    return tuple(
        {int(row[f"token_{side}{i}"]): row[f"logprob_{side}{i}"] for i in range(1, k + 1)}
        for side in ("", "after_")
    )


def right(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose object has the first rank; a fact that has it in both wordings counts once."""
    return rows[rows["rank"] == 1].drop_duplicates([*WHO, "relation", "fact"])


def claimed(
    rows: pd.DataFrame, wordings: pd.DataFrame, tops: pd.DataFrame, *, seed: int
) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the page's claims: {claim: {(source, model): interval}}.

    ``wordings`` is of :func:`between`, ``tops`` of :func:`by_top` with ``FEW`` among its k, both of ``rows``.
    """
    gaps = wordings.set_index([*WHO, "metric"])["KL minus it"]
    few = tops[tops["k"] == FEW].set_index(WHO)["r"]
    found: dict[str, dict[tuple[str, str], Interval]] = {}
    for who, part in groups_of(rows, WHO):
        alike = right(part)["KL"]
        tests = {"PZ-wording": gaps[*who, "rank"], "PZ-top": few[who]}
        if np.isfinite(alike).sum() >= 5:
            tests["PZ-alike"] = spread(alike, seed=seed)
        for key, interval in tests.items():
            found.setdefault(key, {})[who] = interval
    return found


def marks(wordings: pd.DataFrame) -> dict[tuple[str, str, str], str]:
    """Which verdicts say nothing of their claim, by :func:`between`: {(claim, source, model): mark}.

    That KL is steadier over wordings than the rank, where within relations it is not: then it is the relation
    that is steady. Where KL is not steadier, the verdict needs no such excuse.
    """
    gap, within = (wordings.set_index([*WHO, "metric"])[c] for c in ("KL minus it", "within"))
    return {
        ("PZ-wording", *who): "not within relations"
        for who, _ in groups_of(wordings, WHO)
        if gap[*who, "rank"].estimate > 0
        and within[*who, "KL"].estimate <= within[*who, "rank"].estimate
    }


def in_both(rows: pd.DataFrame) -> pd.DataFrame:
    """The rank of each fact's object in both wordings: ``fact``, ``first``, ``second``; of one model."""
    wide = rows.pivot(index="fact", columns="wording", values="rank").dropna()
    names = rows["wording"].unique()[:2]
    return wide[names].set_axis(["first", "second"], axis=1).reset_index()


def sentences(rows: pd.DataFrame, wordings: pd.DataFrame, tops: pd.DataFrame) -> dict[str, str]:
    """What came out for the first model, in words: ``wording``, ``alike``, ``top``.

    The tables are those of :func:`claimed`.
    """
    model = rows["model"].iloc[0]
    mine = rows[rows["model"] == model]
    both = in_both(mine)
    factor = np.maximum(both["first"] / both["second"], both["second"] / both["first"])
    far = intervals.proportion(int((factor >= 10).sum()), len(both))
    of = wordings[wordings["model"] == model].set_index("metric")
    said = {
        "wording": f"Asked otherwise, {far.text()} of the objects have a rank ten times better or worse. "
        f"The order of the facts by rank correlates with that in other words with "
        f"{of.loc['rank', 'r'].text()}, their order by KL with {of.loc['KL', 'r'].text()}; within relations "
        f"these are {of.loc['rank', 'within'].text()} and {of.loc['KL', 'within'].text()}.",
        "alike": "Too few objects have the first rank to compare them.",
    }
    first = right(mine)
    if len(first) >= 5:
        low, high = first["KL"].quantile([0.1, 0.9])
        said["alike"] = (
            f"Of answers whose object has the first rank, one in ten moves less than {low:.1f} nats when "
            f"the fact is told, and one in ten more than {high:.1f}."
        )
    top = tops[tops["model"].eq(model) & tops["k"].eq(FEW)].iloc[0]
    said["top"] = (
        f"The five likeliest tokens of each side leave a KL of {top['from k']:.2f} nats on the average, "
        f"where {top['exact']:.2f} is exact; the two order facts alike with a correlation of "
        f"{top['r'].text()}."
    )
    return said
