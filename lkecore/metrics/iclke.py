"""Metrics of IC-LKE: from log-probabilities of options to predictions, accuracy and confidence.

Paper: Wu, Khan, Das, Nanda, Ghosh, Kolling, Speicher, Bindschaedler, Gummadi and Terzi, "Towards
Reliable Latent Knowledge Estimation in LLMs: In-Context Learning vs. Prompting Based Factual
Knowledge Extraction" (arXiv 2404.12957, version 1, 2024; the version published at WSDM 2025 calls
the method ZP-LKE). Equation numbers here are those of version 1.

A matrix `logprob` has the axes (fact, option): the log-probability of each option in nats, summed
over the option's tokens and never divided by their number.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

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
    """Turn the scorer's tidy frame into arrays.

    The frame has one row per (fact, option) with the columns `fact` (an id, unique to the fact),
    `option` (its text), `gold` (bool) and `logprob` (nats, at most 0); other columns are ignored.
    Rows of one fact stand together; their order is kept, and it is the order that breaks ties.

    Raises ValueError for: a missing column, an empty frame, a missing fact id, a fact whose rows
    do not stand together, facts with different numbers of options, an option named twice, not
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


def predictions(logprob: NDArray) -> NDArray[np.intp]:
    """Index of the option that the model finds most probable, for each fact.

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
    """Share of facts whose gold option is the prediction.

        accuracy = (number of facts with prediction = gold) / (number of facts)

    IC-E4, equation 4 of Wu et al. 2024. `logprob` is (fact, option) in nats, `gold` (fact,). In
    [0, 1], higher is better; guessing gives 1 / n_options on average. Ties and errors as in
    `correct`; zero facts raise ValueError, because the mean of nothing is no number.

    >>> logprob = np.array([[-3.0, -1.0], [-1.0, -2.0], [-0.5, -2.0], [-9.0, -1.0]])
    >>> accuracy(logprob, np.array([1, 1, 0, 1]))  # 3 of 4
    0.75
    """
    is_correct = correct(logprob, gold)
    if not len(is_correct):
        raise ValueError("accuracy of 0 facts is not defined; at least 1 is needed")
    return float(is_correct.mean())


def confidence(logprob: NDArray) -> NDArray[np.float64]:
    """Probability of each option, normalised over the options of its fact.

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
    return softmax(_checked(logprob), axis=1)


def answers(scores: pd.DataFrame) -> pd.DataFrame:
    """The scorer's frame of one relation, cut down to one row for each fact.

    Columns: `fact`; `right` (bool, as in `correct`); `confidence` in the prediction and
    `gold_confidence` in the gold option, both as in `confidence`; `options`, among how many a
    guess would have chosen. A hundred times smaller than the scores, and all that most metrics need.
    Order and errors as in `to_arrays`.

    >>> frame = pd.DataFrame({
    ...     "fact": ["france", "france"], "option": ["Paris", "Rome"], "gold": [True, False],
    ...     "logprob": [np.log(0.1), np.log(0.3)],
    ... })
    >>> answers(frame).round(6).to_dict("records")
    [{'fact': 'france', 'right': False, 'confidence': 0.75, 'gold_confidence': 0.25, 'options': 2}]
    """
    options = to_arrays(scores)
    shares = confidence(options.logprob)
    return pd.DataFrame(
        {
            "fact": options.fact,
            "right": correct(options.logprob, options.gold),
            "confidence": shares.max(axis=1),
            "gold_confidence": shares[np.arange(len(shares)), options.gold],
            "options": shares.shape[1],
        }
    )


def accuracy_at(confidence: ArrayLike, correct: ArrayLike, thresholds: ArrayLike) -> pd.DataFrame:
    """Accuracy among the answers that the model is surer of than a threshold (IC-E7, Accuracy@K).

        accuracy(K) = share of right answers among those with confidence > K

    Appendix D and Figure 8 of Wu et al. 2024. `confidence` is that in the prediction, `correct` (bool)
    says whether it is right; both (fact,). A row for each of `thresholds`, in their order: `threshold`;
    `n`, the answers strictly above it; `right`, how many of these are right; `kept`, `n` as a share
    of all; `accuracy`, NaN where no answer is above, since the mean of nothing is no number. From
    threshold to threshold the answers are others: with few left, a curve jumps. ValueError for
    different lengths, no answers, dtypes other than bool, and numbers outside [0, 1].

    >>> accuracy_at([0.9, 0.6, 0.3], [True, False, True], [0.0, 0.6, 0.9])["accuracy"].tolist()
    [0.6666666666666666, 1.0, nan]
    """
    sure, right = np.asarray(confidence, dtype=np.float64), np.asarray(correct)
    at = np.asarray(thresholds, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != right.shape or not len(sure):
        raise ValueError(
            f"confidence {sure.shape} and correct {right.shape} must be lists of one length, 1 or more"
        )
    if right.dtype != bool:
        raise ValueError(f"correct has dtype {right.dtype}; it must be bool")
    for name, values in (("confidence", sure), ("thresholds", at)):
        strange = values[~((values >= 0) & (values <= 1))]
        if values.ndim != 1 or len(strange):
            found = strange[:3].tolist() if len(strange) else f"the shape {values.shape}"
            raise ValueError(f"{name} must be a list of numbers in [0, 1], found {found}")
    above = sure > at[:, None]  # (threshold, fact)
    n, n_right = above.sum(axis=1), (above & right).sum(axis=1)
    accuracy = np.full(len(at), np.nan)
    np.divide(n_right, n, out=accuracy, where=n > 0)
    columns = {"threshold": at, "n": n, "right": n_right, "kept": n / len(sure)}
    return pd.DataFrame({**columns, "accuracy": accuracy})


def shots_needed(n_shots: ArrayLike, accuracy: ArrayLike, share: float = 0.95) -> int:
    """The least number of shots that reaches `share` of the accuracy at the most shots.

        needed = min { n : accuracy(n) >= share * accuracy(n_max) }

    IC-F1, the dashed lines of Figure 1 of Wu et al. 2024 (there n_max = 50, share = 0.95). `n_shots`
    rises strictly, `accuracy` in [0, 1] belongs to it; both (condition,). The result is one of
    `n_shots`: only what was tried can be found, so a coarse list errs high, and a curve that goes
    up and down may reach the mark early and lose it again. Lower is better. An accuracy of 0
    everywhere is reached with the fewest shots, which means nothing. ValueError for numbers of
    shots that do not rise, accuracies outside [0, 1], different lengths, none, a share outside
    (0, 1].

    >>> shots_needed([1, 5, 20, 50], [0.2, 0.5, 0.58, 0.6])  # 0.95 * 0.6 = 0.57
    20
    """
    n, found = np.asarray(n_shots), np.asarray(accuracy, dtype=np.float64)
    if n.ndim != 1 or n.shape != found.shape or not len(n):
        raise ValueError(
            f"n_shots {n.shape} and accuracy {found.shape} must be lists of one length"
        )
    if not np.issubdtype(n.dtype, np.integer) or (np.diff(n) <= 0).any():
        raise ValueError(f"n_shots must be whole numbers that rise, found {n.tolist()}")
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"accuracy must be in [0, 1], found {found.tolist()}")
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, found {share}")
    # A hair below, so that the rounding of a product does not decide.
    return int(n[np.argmax(found >= share * found[-1] - 1e-12)])


def subsumption(small: ArrayLike, large: ArrayLike) -> float:
    """Share of the facts that the smaller model answers rightly which the larger does, too.

        eta = |both right| / |smaller right|

    IC-E6, equation 7 of Wu et al. 2024, with the smaller or fine-tuned model first, the larger or
    base model second. Both are (fact,) bool over the same facts of one relation; the paper averages
    over relations. In [0, 1]; 1: all that the smaller knows the larger knows, too. NaN where the
    smaller knows nothing: such relations are left out of a mean and counted. Were the two right
    independently of each other, eta would be the accuracy of the larger one. So an eta below 1 shows
    other knowledge only where the answers of the smaller are no guesses. ValueError for dtypes other
    than bool, different lengths or no facts.

    >>> subsumption([True, True, True, False], [True, True, False, True])  # 2 of 3
    0.6666666666666666
    """
    small, large = np.asarray(small), np.asarray(large)
    if small.ndim != 1 or small.shape != large.shape or not len(small):
        raise ValueError(
            f"small {small.shape} and large {large.shape} must be lists of one length, 1 or more"
        )
    if small.dtype != bool or large.dtype != bool:
        raise ValueError(f"dtypes are {small.dtype} and {large.dtype}; correctness must be bool")
    return float(large[small].mean()) if small.any() else float("nan")


def without_luck(
    small: ArrayLike, large: ArrayLike, n_options: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts of the facts that the smaller model knows and does not just guess, fact by fact.

        known = right - wrong / (n_options - 1),   both = known where the larger is right, else 0

    The correction for guessing of multiple-choice tests. A model that does not know a fact and takes
    one of the options blindly is right once for every n_options - 1 times that it is wrong. So the
    wrong answers say how many of the right ones were luck: the sum of `known` is, in expectation,
    the number of facts that the smaller model knows, and the sum of `both` the number of those that
    the larger one answers rightly. Sum of `both` over sum of `known` is the subsumption rate without
    the smaller one's luck; take it over many facts, since a single sum is noisy and may be below 0.
    Arguments and errors as in `subsumption`; both results are (fact,). ValueError for fewer than 2
    options. Weakness: guesses that are not blind, such as of a frequent object, are not taken off.

    >>> both, known = without_luck([True, True, True, False], [True, False, True, True], 3)
    >>> known.tolist(), both.tolist()  # 3 right, 1 wrong; where the larger is right: 2 and 1
    ([1.0, 1.0, 1.0, -0.5], [1.0, 0.0, 1.0, -0.5])
    """
    subsumption(small, large)  # its checks
    if n_options < 2:
        raise ValueError(f"{n_options} options; a guess needs 2 or more to choose from")
    known = np.where(np.asarray(small), 1.0, -1 / (n_options - 1))
    return np.where(np.asarray(large), known, 0.0), known


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
