"""Metrics of IC-LKE: from log-probabilities of options to predictions, accuracy and confidence.

Paper: Wu, Khan, Das, Nanda, Ghosh, Kolling, Speicher, Bindschaedler, Gummadi and Terzi, "Towards
Reliable Latent Knowledge Estimation in LLMs: In-Context Learning vs. Prompting Based Factual
Knowledge Extraction" (arXiv 2404.12957, version 1, 2024; the version published at WSDM 2025 calls
the method ZP-LKE). Equation numbers here are those of version 1.

A matrix `logprob` has the axes (fact, option): the log-probability of each option in nats, summed
over the option's tokens and never divided by their number.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

COLUMNS = ("fact", "option", "gold", "logprob")


@dataclass(frozen=True, eq=False)  # eq of arrays is an array, so == on the whole would raise
class Options:
    """The options of one relation's test facts as arrays.

    fact: (fact,) ids. logprob: (fact, option) float64, nats. gold: (fact,) index of the gold
    option.
    """

    fact: NDArray
    logprob: NDArray[np.float64]
    gold: NDArray[np.intp]


def to_arrays(scores: pd.DataFrame) -> Options:
    """The scorer's tidy frame as arrays.

    The frame has one row per (fact, option) with the columns `fact` (an id, unique to the fact),
    `option` (its text), `gold` (bool) and `logprob` (nats, at most 0); other columns are ignored.
    Rows of one fact are adjacent. Their order is kept, and it breaks ties. All facts need the same
    number of options: see :func:`by_size`.

    Raises ValueError for: a missing column, an empty frame, a missing fact id, a fact whose rows
    are not adjacent, facts with different numbers of options, an option named twice, not
    exactly one gold option, a logprob that is missing, infinite or positive.

    >>> frame = pd.DataFrame({
    ...     "fact": ["france", "france", "japan", "japan"],
    ...     "option": ["Paris", "Rome", "Rome", "Tokyo"],
    ...     "gold": [True, False, False, True],
    ...     "logprob": [-1.0, -2.0, -3.0, -0.5],
    ... })
    >>> options = to_arrays(frame)
    >>> options.logprob.tolist()
    [[-1.0, -2.0], [-3.0, -0.5]]
    >>> options.gold.tolist()
    [0, 1]
    """
    missing = [name for name in COLUMNS if name not in scores.columns]
    if missing:
        raise ValueError(f"the frame lacks the columns {missing}; it needs {list(COLUMNS)}")
    if scores.empty:
        raise ValueError("the frame has no rows: there is nothing to measure")
    if scores["fact"].isna().any():
        raise ValueError("a row has no fact id; every row needs one")

    ids = scores["fact"].to_numpy()
    starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]])
    facts = ids[starts]
    repeated = facts[pd.Series(facts).duplicated().to_numpy()]
    if len(repeated):
        raise ValueError(
            f"fact {repeated[0]!r} is in two separate blocks; its rows must stand together"
        )

    n_options = np.diff(np.r_[starts, len(ids)])
    if (n_options != n_options[0]).any():
        other = int(np.argmax(n_options != n_options[0]))
        raise ValueError(
            f"fact {facts[other]!r} has {n_options[other]} options but fact {facts[0]!r} has "
            f"{n_options[0]}; all facts need the same number"
        )
    twice = scores.duplicated(["fact", "option"]).to_numpy()
    if twice.any():
        row = scores.iloc[int(np.argmax(twice))]
        raise ValueError(f"fact {row['fact']!r} has the option {row['option']!r} twice")

    if scores["gold"].isna().any() or not scores["gold"].isin([True, False]).all():
        raise ValueError("column 'gold' must hold True or False in every row")
    shape = (len(facts), int(n_options[0]))
    is_gold = scores["gold"].to_numpy(dtype=bool).reshape(shape)
    n_gold = is_gold.sum(axis=1)
    if (n_gold != 1).any():
        other = int(np.argmax(n_gold != 1))
        raise ValueError(
            f"fact {facts[other]!r} has {n_gold[other]} gold options; it needs exactly 1"
        )

    logprob = scores["logprob"].to_numpy(dtype=np.float64, na_value=np.nan).reshape(shape)
    # A missing or infinite value is a fault of the scorer, never a zero probability.
    bad = ~np.isfinite(logprob) | (logprob > 0)
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        raise ValueError(
            f"fact {facts[at[0]]!r} has the logprob {logprob[at]}; it must be finite and at most 0"
        )
    return Options(fact=facts, logprob=logprob, gold=is_gold.argmax(axis=1))


def by_size(scores: pd.DataFrame, read: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """The frame that ``read`` makes of a scorer's frame, from facts with equally many options at a time.

    Arrays need one number of options. A fact has fewer than others if the model's tokenizer gives two of
    them the same tokens. ``read`` returns one row or several for each fact, with its id as `fact`; the
    facts come in the order of ``scores``.
    """
    block = scores["fact"].ne(scores["fact"].shift()).cumsum()
    n_options = block.groupby(block).transform("size")
    if n_options.nunique() < 2:
        return read(scores)
    found = pd.concat([read(scores[n_options == n]) for n in n_options.unique()])
    place = {fact: i for i, fact in enumerate(scores["fact"].unique())}
    in_order = {"key": lambda facts: facts.map(place), "kind": "stable", "ignore_index": True}
    return found.sort_values("fact", **in_order)


def predictions(logprob: NDArray) -> NDArray[np.intp]:
    """The index of the option that the model finds most probable, for each fact.

        prediction(fact) = argmax over options of logprob(fact, option)

    IC-E3, equation 3 of Wu et al. 2024. `logprob` is (fact, option) in nats; the result is (fact,)
    with values 0 .. n_options - 1. Ties go to the first option (IC-Q11: the paper does not say), so
    the options must not be ordered gold first. Zero facts give an empty result; zero options, a
    value that is not finite or a wrong shape raise ValueError.

    >>> predictions(np.array([[-3.0, -1.0, -2.0], [-4.0, -0.5, -0.5]])).tolist()
    [1, 1]
    """
    return _checked(logprob).argmax(axis=1)


def correct(logprob: NDArray, gold: NDArray) -> NDArray[np.bool_]:
    """Whether the prediction is the gold option, for each fact: the bracket of IC-E4, equation 4.

    `logprob` is (fact, option) in nats, `gold` (fact,) the index of the gold option; the result is
    (fact,) bool. A gold option that ties for the highest logprob counts only when it comes first.
    Errors as in `predictions`, and ValueError for a gold that is not an index of an option.

    >>> logprob = np.array([[-3.0, -1.0], [-1.0, -2.0], [-1.0, -1.0]])
    >>> correct(logprob, np.array([1, 1, 1])).tolist()  # the third is a tie and gold comes second
    [True, False, False]
    """
    logprob, gold = _checked(logprob), np.asarray(gold)
    n_facts, n_options = logprob.shape
    if gold.shape != (n_facts,):
        raise ValueError(f"gold has shape {gold.shape}; {n_facts} facts need shape ({n_facts},)")
    if n_facts and not np.issubdtype(gold.dtype, np.integer):
        raise ValueError(f"gold has dtype {gold.dtype}; it must hold integer indices of options")
    if ((gold < 0) | (gold >= n_options)).any():
        raise ValueError(
            f"gold holds {gold.min()} to {gold.max()}; indices go from 0 to {n_options - 1}"
        )
    return logprob.argmax(axis=1) == gold


def accuracy(logprob: NDArray, gold: NDArray) -> float:
    """The share of facts whose gold option is the prediction.

        accuracy = (number of facts with prediction = gold) / (number of facts)

    IC-E4, equation 4 of Wu et al. 2024. `logprob` is (fact, option) in nats, `gold` (fact,). The
    accuracy is in [0, 1], higher is better; guessing gives 1 / n_options on average. Ties and errors
    are as in `correct`; zero facts raise ValueError, because the mean of nothing is no number.

    >>> logprob = np.array([[-3.0, -1.0], [-1.0, -2.0], [-0.5, -2.0], [-9.0, -1.0]])
    >>> accuracy(logprob, np.array([1, 1, 0, 1]))  # 3 of 4
    0.75
    """
    is_correct = correct(logprob, gold)
    if not len(is_correct):
        raise ValueError("accuracy of 0 facts is not defined; at least 1 is needed")
    return float(is_correct.mean())


def confidence(logprob: NDArray) -> NDArray[np.float64]:
    """The probability of each option, normalised over the options of its fact.

        confidence(fact, option) = P(option) / sum over options o of P(o),   P = exp(logprob)

    IC-E5: appendix C.1 of Wu et al. 2024 normalises over the choices (no equation number there).
    `logprob` is (fact, option) in nats; the result has the same axes, is in [0, 1] and sums to 1
    over the options. No direction is better: the higher, the surer the model, right or wrong. The
    prediction does not change. Tied options get equal confidence. Computed in log space, so that
    options at -5000 nats do not vanish. Zero facts give an empty result; errors as in
    `predictions`.

    >>> confidence(np.log([[0.3, 0.1], [0.2, 0.2]])).round(6).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    from scipy.special import softmax  # takes half a second, which most commands need not wait

    return softmax(_checked(logprob), axis=1)


def answers(scores: pd.DataFrame) -> pd.DataFrame:
    """The scorer's frame of one relation, reduced to one row for each fact.

    - `fact`;
    - `correct`: bool, as in `correct`;
    - `confidence` in the prediction and `confidence_gold` in the gold option, as in `confidence`;
    - `n_options`: the number of options among which a guess would have chosen.

    The frame is a hundred times smaller than the scores, and all that most metrics need. Facts may have
    different numbers of options; order and all other errors are as in `to_arrays`.

    >>> frame = pd.DataFrame({
    ...     "fact": ["france", "france"], "option": ["Paris", "Rome"], "gold": [True, False],
    ...     "logprob": [np.log(0.1), np.log(0.3)],
    ... })
    >>> answers(frame).round(6).to_dict("records")
    [{'fact': 'france', 'correct': False, 'confidence': 0.75, 'confidence_gold': 0.25, 'n_options': 2}]
    """
    return by_size(scores, _answers) if "fact" in scores else _answers(scores)


def _answers(scores: pd.DataFrame) -> pd.DataFrame:
    options = to_arrays(scores)
    shares = confidence(options.logprob)
    return pd.DataFrame(
        {
            "fact": options.fact,
            "correct": correct(options.logprob, options.gold),
            "confidence": shares.max(axis=1),
            "confidence_gold": shares[np.arange(len(shares)), options.gold],
            "n_options": shares.shape[1],
        }
    )


def _checked(logprob: NDArray) -> NDArray[np.float64]:
    """`logprob` as float64 of shape (fact, option), or ValueError.

    Positive values pass here: argmax and confidence do not depend on a constant added to a row.
    """
    logprob = np.asarray(logprob, dtype=np.float64)
    if logprob.ndim != 2 or logprob.shape[1] == 0:
        raise ValueError(
            f"logprob has shape {logprob.shape}; it needs axes (fact, option) and at least 1 option"
        )
    # argmax would silently pick a NaN, so it stops here.
    if not np.isfinite(logprob).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(logprob))[0])
        raise ValueError(f"logprob at (fact, option) {at} is {logprob[at]}; it must be finite")
    return logprob
