"""The same facts asked with many prompts, and how the answers change with the prompt.

A *pair* is a subject and a relation, which is a fact. A *prompt* is a pair, a template of its relation and
a name of its subject. A frame of prompts has a row for each prompt: ``relation``, ``fact``, ``template``
and, if subjects have several names, ``expression``; ``correct``, and ``answer`` where answers are
compared. It is about one model, asked in one way: a prompt that is there twice is refused. Equations and
sections are those of Zhao et al. 2024 (BELIEF).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from operator import itemgetter

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lkecore.errors import BadInput
from lkecore.stats.resample import checked

PAIR = ["relation", "fact"]
Same = Callable[[str, str], bool]


# --- accuracy, and how far it moves (sections 2.2 and 5.1)


def fluctuation(
    frame: pd.DataFrame, *, n: int = 50_000, unit: str = "template", seed: int = 0
) -> NDArray[np.float64]:
    """V, (n,): the accuracy over all pairs, each asked with one prompt, drawn ``n`` times (BL-M1, BL-M2).

        V_k = (1 / |T|) sum over t in T of right(t, template_k, expression_k),   T = all pairs

    With ``unit`` "template" a draw has one template for each relation, the same for all its pairs, and one
    expression for each pair. BL-Q1 says why the paper must have done so. With "independent" it has one prompt
    for each pair, independent of the others. ``V.mean()``, ``np.ptp(V)`` and ``V.std()`` are the paper's
    average, range and stdev. The stdev falls with the root of the number of relations, and the range depends
    on ``n``; `spread` can be compared between sets. BadInput: a pair that lacks a template of its relation,
    ``correct`` other than 0 or 1.

    >>> rows = {"relation": "capital", "fact": [1, 1], "template": [0, 1], "correct": [1, 0]}
    >>> sorted(set(fluctuation(pd.DataFrame(rows), n=100).tolist()))
    [0.0, 1.0]
    """
    if unit not in ("template", "independent"):
        raise BadInput(f"unit is {unit!r}; it must be 'template' or 'independent'")
    frame = asked(frame)
    if unit == "independent":
        shared = [[frame.groupby(PAIR)["correct"].mean().to_numpy()]]
    else:
        shared = [table.to_numpy(float) for _, table in sorted(_tables(frame), key=itemgetter(0))]
    rng, right = np.random.default_rng(seed), np.zeros(n)
    for templates in shared:
        drawn = rng.integers(len(templates), size=n)
        for i, shares in enumerate(templates):
            here = np.flatnonzero(drawn == i)
            # The number of right answers is binomial among pairs with an equal share of right expressions.
            values, counts = np.unique(shares, return_counts=True)
            right[here] += rng.binomial(counts, values, (len(here), len(values))).sum(axis=1)
    return right / sum(len(templates[0]) for templates in shared)


def spread(frame: pd.DataFrame) -> pd.Series:
    """The standard deviation of the accuracy over a relation's templates, luck removed, for each relation.

    The measure is ours: it depends neither on the number of relations nor on the number of pairs, so that its
    mean over relations can be compared between sets. `std_beyond_luck` says how luck is removed. A pair
    counts with the mean over its expressions. BadInput: as in `fluctuation` (but any share may be
    ``correct``), and a relation with fewer than two templates or pairs.
    """
    found = {}
    for relation, table in _tables(asked(frame, binary=False)):
        if min(table.shape) < 2:
            raise BadInput(
                f"relation {relation!r} has {table.shape} templates and pairs; 2 or more"
            )
        found[relation] = std_beyond_luck(table)
    return pd.Series(found, name="spread").rename_axis("relation")


def crossed(frame: pd.DataFrame, *, n: int = 100, seed: int = 0) -> pd.DataFrame:
    """The accuracy of templates that are chosen on half of the pairs and counted on the others.

    - ``worst``, ``best``: the accuracy of the templates that are worst or best on the other half;
    - ``average``: the mean accuracy of all templates.

        best = mean over halvings of (1 / |T|) sum over t in T of right(t, best template of t's other half)

    On the pairs by which it is chosen, the best of many templates is above their average by luck alone. Here
    a relation's pairs T are halved ``n`` times at random. Each pair is counted with the template that is best
    (or worst) on the half without the pair; equally good templates count with their mean. If all templates
    were equal, best and worst would be the average, up to chance, and worst may be above best.

    The frame has a row for each relation, which does not depend on the others; a pair's expressions count
    with their mean. BadInput: as in `fluctuation` (but any share may be ``correct``), and a relation with
    fewer than two pairs.

    >>> rows = {"relation": "r", "fact": [1, 1, 2, 2], "template": [0, 1] * 2, "correct": [1, 0, 0, 1]}
    >>> crossed(pd.DataFrame(rows)).loc["r"].to_dict()  # what is best on one pair is worst on the other
    {'worst': 1.0, 'average': 0.5, 'best': 0.0}
    """
    found = {}
    for relation, of in _tables(asked(frame, binary=False)):
        table = of.to_numpy(float)
        if table.shape[1] < 2:
            raise BadInput(f"relation {relation!r} has one pair; a choice on half of them takes 2")
        found[relation] = [-elsewhere(-table, n, seed), table.mean(), elsewhere(table, n, seed)]
    columns = ["worst", "average", "best"]
    return pd.DataFrame.from_dict(found, "index", columns=columns).rename_axis("relation")


def _tables(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each relation and its means of ``correct`` over expressions, (template, fact)."""
    means = frame.groupby(["relation", "template", "fact"])["correct"].mean()
    for relation in frame["relation"].unique():
        yield relation, means.loc[relation].unstack()


def elsewhere(table: NDArray[np.float64], n: int = 100, seed: int = 0) -> float:
    """The mean of (template, pair), each pair with the best templates on a half that does not contain it."""
    pairs = table.shape[1]
    first = np.random.default_rng(seed).random((n, pairs)).argsort(axis=1) < pairs // 2
    on = [half.astype(float) @ table.T for half in (first, ~first)]  # sums, (halving, template)
    total = 0.0
    for chosen_on, counted_on in (on, on[::-1]):
        top = chosen_on > chosen_on.max(axis=1, keepdims=True) - 1e-9  # all that are best
        total += ((counted_on * top).sum(axis=1) / top.sum(axis=1)).mean()
    return float(total / pairs)


def beyond_luck(right: ArrayLike) -> NDArray[np.float64]:
    """The variance over rows of the row means that would remain with infinitely many columns.

        variance = (std**2 - mean over facts of s**2 / n) * n / (n - 1),   s = std of the fact

    ``right`` is (..., format or template, fact), and each such table gives one variance; standard deviations
    are those with n - 1. The part of luck is the variance that the means of the n facts would have on average
    if the values of each fact were dealt out to the rows by chance. The last factor corrects for the
    contribution of rows that do differ. The estimate is not biased, and so it is below 0 if there is less
    variance than luck explains. ValueError for fewer than 2 rows or facts, or a value that is not finite.
    """
    table = np.asarray(right, dtype=np.float64)
    if table.ndim < 2 or table.shape[-2] < 2 or not np.isfinite(table).all():
        raise ValueError(f"right {table.shape} needs (format, fact), 2 formats or more, and no gap")
    n = table.shape[-1]
    if n < 2:
        raise ValueError(f"{n} fact; what luck adds cannot be told from fewer than 2")
    luck = table.var(axis=-2, ddof=1).mean(axis=-1) / n
    return (table.mean(axis=-1).var(axis=-1, ddof=1) - luck) * n / (n - 1)


def std_beyond_luck(right: ArrayLike) -> float:
    """The root of :func:`beyond_luck` of one (format or template, fact), in [0, 1].

    It is 0 if luck explains the whole variance, which is no proof that rows are alike.

    >>> std_beyond_luck([[1, 1, 1, 0], [1, 1, 0, 1]])  # one fact each way
    0.0
    """
    return float(np.sqrt(max(0.0, beyond_luck(right))))


def ranks(frame: pd.DataFrame) -> pd.Series:
    """The rank of each template of a relation by accuracy: 1 is the best, equal ones averaged (BL-T13).

    The series has a value for each (relation, template). k of n templates drawn by chance have a mean rank of
    (n + 1) / 2.
    """
    accuracy = asked(frame, binary=False).groupby(["relation", "template"])["correct"].mean()
    return accuracy.round(12).groupby("relation").rank(ascending=False).rename("rank")


# --- do the answers agree? (section 2.3)


def consist(
    frame: pd.DataFrame,
    by: Sequence[str] = PAIR,
    *,
    group: str = "",
    same: Same | None = None,
) -> pd.DataFrame:
    """The Consist of each pair: the share of all two of its prompts that have the same answer (BL-E1).

        Consist = (1 / |T|) sum over t of [ sum over i < j of 1(w_i = w_j) ] / (|P_t| (|P_t| - 1) / 2)

    Equation 1 has i and j both ways and half of the divisor; i < j is meant (BL-Q3). Returns a row for each
    pair:

    - ``prompts``: their number;
    - ``consist``: the share, in [0, 1], missing for a pair with one prompt; pandas' ``mean`` leaves such
      pairs out, so count them;
    - ``inner`` and ``inter``, only with ``group``: the share among two prompts of one group, and of two
      groups, missing where there are none;
    - ``weight``, only with ``group``: the share of the inner ones among all two prompts, so that
      consist = weight inner + (1 - weight) inter.

    ``same``, such as `match.alike`, is whether two answers are the same. It must be symmetric, and an empty
    answer need not be the same as itself. By default equal answers are the same. ``group`` is a column, such
    as the group of a template. With ``by=["relation"], group="fact"``, ``inter`` is the yardstick of Consist:
    how often prompts on *different subjects* have the same answer.

    >>> rows = {"relation": "r", "fact": 1, "template": [0, 1, 2], "answer": ["Rome", "Rome", "Oslo"]}
    >>> print(round(consist(pd.DataFrame(rows))["consist"].item(), 3))
    0.333
    """
    by = list(by)
    frame = asked(frame, *by, "answer", *([group] if group else []), right=False, whole=False)
    agree, n, prompts = _agreeing(frame, by, same)
    found = pd.DataFrame({"prompts": prompts, "consist": agree / n.where(n > 0)})
    if group:
        within, of, _ = (
            part.groupby(level=by, sort=False).sum()
            for part in _agreeing(frame, [*by, group], same)
        )
        found["inner"] = within / of.where(of > 0)
        found["inter"] = (agree - within) / (n - of).where(n > of)
        found["weight"] = of / n.where(n > 0)
    return found


def _agreeing(frame: pd.DataFrame, by: list[str], same: Same | None) -> tuple[pd.Series, ...]:
    """For each unit: the number of two prompts with the same answer, of all two prompts, and of prompts."""
    counts = frame.groupby([*by, "answer"], sort=False, observed=True).size()
    units = counts.groupby(level=by, sort=False)
    if same is None:
        agree = (counts * (counts - 1) // 2).groupby(level=by, sort=False).sum()
    else:
        found = {}
        for unit, part in units:
            said = list(zip(part.index.get_level_values("answer"), part.tolist(), strict=True))
            found[unit] = sum(
                n * (n - 1) // 2 for one, n in said if n > 1 and same(one, one)
            ) + sum(n * m for (one, n), (other, m) in combinations(said, 2) if same(one, other))
        agree = units.sum()
        agree[:] = list(found.values())
    n = units.sum()
    return agree, n * (n - 1) // 2, n


# --- is it right as often as it is sure? (section 2.4)


def calibration(confidence: ArrayLike, right: ArrayLike, bins: int = 10) -> pd.DataFrame:
    """Prompts in bins of equal number, a row for each bin from the least sure.

    - ``n``: the number of prompts;
    - ``confidence``: their mean confidence;
    - ``accuracy``: their mean accuracy.

    If the number of prompts is no multiple of ``bins``, the last, surest bins have one more: the paper
    divides the prompts from the most sure on. All prompts of one confidence count with their mean accuracy,
    so that their order does not matter. BadInput: fewer prompts than bins, lengths that differ, a value
    outside [0, 1].
    """
    sure, good = (np.asarray(each, dtype=np.float64) for each in (confidence, right))
    if sure.ndim != 1 or sure.shape != good.shape:
        raise BadInput(
            f"confidence {sure.shape} and right {good.shape} must be lists of one length"
        )
    if not ((sure >= 0) & (sure <= 1) & (good >= 0) & (good <= 1)).all():
        raise BadInput("confidence or right has a value outside [0, 1], or a missing one")
    if bins < 1 or len(sure) < bins:
        raise BadInput(f"{len(sure)} prompts are too few for {bins} bins")
    _, tied = np.unique(sure, return_inverse=True)
    good = (np.bincount(tied, good) / np.bincount(tied))[tied]
    parts = np.array_split(np.argsort(-sure, kind="stable"), bins)[::-1]
    rows = [(len(part), sure[part].mean(), good[part].mean()) for part in parts]
    index = pd.RangeIndex(1, bins + 1, name="bin")
    return pd.DataFrame(rows, index, ["n", "confidence", "accuracy"])


def overconf(confidence: ArrayLike, right: ArrayLike, bins: int = 10) -> pd.Series:
    """``overconf`` and ``gap``: the mean over bins of confidence minus accuracy, and of its absolute value.

        Overconf = (1 / M) sum over bins i of (mean confidence_i - Acc@1_i)

    Equation 2 (BL-E2) weighs a bin by its size over M, which would grow with the data; the mean is meant
    (BL-Q2). Overconf is in [-1, 1], and above 0 if a model is surer than it is right. If ``bins`` divides the
    number of prompts, it is mean confidence minus mean accuracy, so that over- and underconfident bins
    cancel. In ``gap``, which is ours, they do not cancel. Raises as `calibration` does.

    >>> overconf([0.9, 0.8, 0.2, 0.1], [1, 0, 1, 0], bins=2).round(3).to_dict()
    {'overconf': 0.0, 'gap': 0.35}
    """
    table = calibration(confidence, right, bins)
    gap = table["confidence"] - table["accuracy"]
    return pd.Series({"overconf": gap.mean(), "gap": gap.abs().mean()})


# --- what does a template say about nobody? (section 5.4)


def bias(p: ArrayLike) -> pd.Series:
    """``single`` and ``multi``: the mean bias level of one template, and that of all templates' mean (BL-E3).

        bias = 1 - H(p) / log(number of candidates)

    ``p`` is (template, candidate): probabilities among a relation's objects of one token, averaged over
    subjects without content (BL-Q16). The bias is in [0, 1], and 0 if all candidates are equally likely.
    Entropy is concave, so that multi is at most single for any model: this is arithmetic, and no finding.

    >>> bias([[1, 0], [0, 1]]).to_dict()
    {'single': 1.0, 'multi': 0.0}
    """
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] < 2 or not np.allclose(p.sum(axis=1), 1) or (p < 0).any():
        raise BadInput(f"p {p.shape} must be (template, candidate), each row summing to 1")
    every = np.vstack([p, p.mean(axis=0)])
    h = -np.where(every > 0, every * np.log(np.where(every > 0, every, 1)), 0).sum(axis=1)
    level = 1 - h / np.log(p.shape[1])
    return pd.Series({"single": level[:-1].mean(), "multi": level[-1]})


def asked(
    frame: pd.DataFrame,
    *columns: str,
    right: bool = True,
    binary: bool = True,
    whole: bool = True,
) -> pd.DataFrame:
    """The prompts of a frame, each with its expression. BadInput as in the functions above."""
    frame = frame if "expression" in frame else frame.assign(expression=0)
    key = [*PAIR, "template", "expression"]
    checked(frame, [*key, *columns], *(["correct"] if right else []))
    if right and binary and len(odd := frame.loc[~frame["correct"].isin([0, 1]), "correct"]):
        raise BadInput(f"{len(odd)} values of 'correct' are not 0 or 1, such as {odd.iloc[0]}")
    if (twice := frame.duplicated([*{*columns, *key} - {"answer"}])).any():
        first = ", ".join(map(str, frame.loc[twice, key].iloc[0]))
        rule = "take one model, one context and one draw at a time"
        raise BadInput(f"{twice.sum()} prompts are there twice, such as {first}; {rule}")
    if whole:
        has = frame.groupby(PAIR)["template"].nunique()
        every = frame.groupby("relation")["template"].nunique()
        lacks = has.to_numpy() < every.reindex(has.index.get_level_values("relation")).to_numpy()
        if lacks.any():
            first = ", ".join(map(str, has.index[lacks][0]))
            raise BadInput(
                f"{lacks.sum()} pairs lack a template of their relation, such as {first}"
            )
    return frame
