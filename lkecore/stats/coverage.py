"""Facts that many prompts find and one does not: how many, how many by luck, and which two models share.

Frames of prompts are those of `stats.wordings`. Sections are those of Zhao et al. 2024 (BELIEF).
"""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lkecore.errors import BadInput
from lkecore.stats.wordings import PAIR, Same, asked, elsewhere

COLUMNS = ["pairs", "average", "best", "crossed", "any"]


def coverage(frame: pd.DataFrame) -> pd.DataFrame:
    """Coverages (BL-M3), a row for each relation.

    - ``pairs``: the number of the relation's pairs;
    - ``average``: the mean over pairs of the share of their prompts that is right;
    - ``best``: the share of pairs that the relation's best template finds with any of their expressions (the
      paper's maximum);
    - ``crossed``, ours: the same for a template chosen on other pairs, as in `wordings.crossed`; NaN for a
      single pair;
    - ``any``: the share of pairs that any of their prompts finds (oracle).

    The paper's numbers are means weighted by ``pairs``. Best and any gain by luck with each more prompt:
    compare them with `dealt`. BadInput as in `fluctuation`.
    """
    rows = {
        relation: [part["fact"].nunique(), *_covered(*_coded(part), part["correct"].to_numpy(bool))]
        for relation, part in asked(frame).groupby("relation", sort=False)
    }
    return pd.DataFrame.from_dict(rows, "index", columns=COLUMNS).rename_axis("relation")


def dealt(
    frame: pd.DataFrame,
    accepted: Mapping[tuple, Collection[str]],
    *,
    same: Same | None = None,
    n: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """`coverage` by luck: the same answers, with objects dealt to other subjects, ``n`` times.

    ``accepted`` maps (relation, fact) to all right answers. ``same(answer, accepted)``, such as
    `match.holds`, is whether an answer is right (default: equal). In each deal every pair gets the answers of
    another pair of its relation, and never its own. A frequent object is right for many pairs, which is the
    luck. Returns a row for each (``relation``, ``deal``), with the columns of `coverage`; the mean over deals
    is the yardstick.

    BadInput: as in `coverage`; a pair without accepted answers; a relation of one pair; answers that
    ``accepted`` makes right and ``correct`` does not, or the other way round.
    """
    rows, rng = [], np.random.default_rng(seed)
    for relation, part in asked(frame, "answer").groupby("relation", sort=False):
        pair, template = _coded(part)
        facts = part["fact"].drop_duplicates().tolist()
        if len(facts) < 2:
            raise BadInput(f"relation {relation!r} has one pair; there is no other to deal to it")
        if lacking := [fact for fact in facts if not accepted.get((relation, fact))]:
            raise BadInput(f"relation {relation!r}, fact {lacking[0]!r} has no accepted answer")
        said, which = np.unique(part["answer"].to_numpy(object), return_inverse=True)
        fits = np.array(
            [[_fits(answer, accepted[relation, f], same) for f in facts] for answer in said]
        )
        wrong = (fits[which, pair] != part["correct"].to_numpy(bool)).sum()
        if wrong:
            raise BadInput(f"{wrong} prompts of {relation!r} are not as correct as accepted says")
        own = np.arange(len(facts))
        for deal in range(n):
            other = rng.permutation(own)
            while (other == own).any():
                other = rng.permutation(own)
            shares = _covered(pair, template, fits[which, other[pair]], halvings=5, seed=deal)
            rows.append((relation, deal, len(own), *shares))
    return pd.DataFrame(rows, columns=["relation", "deal", *COLUMNS])


def _fits(answer: str, right: Collection[str], same: Same | None) -> bool:
    return answer in right if same is None else any(same(answer, name) for name in right)


def _coded(part: pd.DataFrame) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return pd.factorize(part["fact"])[0], pd.factorize(part["template"])[0]


def _covered(
    pair: NDArray[np.intp],
    template: NDArray[np.intp],
    right: NDArray[np.bool_],
    halvings: int = 100,
    seed: int = 0,
) -> tuple[float, ...]:
    """Average, best, crossed and any of a relation, from a pair, a template and a bool for each prompt."""
    found = np.zeros((template.max() + 1, pair.max() + 1))
    found[template[right], pair[right]] = 1
    average = float((np.bincount(pair, right) / np.bincount(pair)).mean())
    crossed = elsewhere(found, halvings, seed) if found.shape[1] > 1 else float("nan")
    return average, float(found.mean(axis=1).max()), crossed, float(found.any(axis=0).mean())


def sharing(left: pd.DataFrame, top: pd.DataFrame) -> pd.Series:
    """The share of one model's finds that another finds, too: ``template`` and ``fact`` (BL-M4, figure 2).

        sharing = |C_left and C_top| / |C_left|

    For ``template``, C are the (fact, template) that a model has right with any expression, over all
    relations (BL-Q11). For ``fact``, they are the facts that it has right with any prompt. NaN if left finds
    nothing. BadInput: as in `fluctuation`, and frames that do not contain the same prompts.
    """
    key = [*PAIR, "template", "expression"]
    left, top = (asked(each).set_index(key)["correct"].astype(bool) for each in (left, top))
    if len(left) != len(top) or not left.index.isin(top.index).all():
        raise BadInput(
            f"the frames of {len(left)} and {len(top)} prompts do not hold the same ones"
        )
    both = pd.DataFrame({"left": left, "top": top.reindex(left.index)})
    units = {"template": key[:3], "fact": PAIR}
    any_of = {name: both.groupby(level=unit).any() for name, unit in units.items()}
    return pd.Series(
        {name: subsumption(each["left"], each["top"]) for name, each in any_of.items()}
    )


def subsumption(small: ArrayLike, large: ArrayLike) -> float:
    """The share of the facts that the smaller model answers rightly which the larger does, too.

        eta = |both right| / |smaller right|

    IC-E6, equation 7 of Wu et al. 2024, with the smaller or fine-tuned model first, the larger or base
    model second. Both are (fact,) bool over the same facts of one relation; the paper averages over
    relations. The share is in [0, 1]; at 1 the larger model knows all that the smaller knows. It is NaN if
    the smaller knows nothing: such relations are left out of a mean and counted.

    If the two were right independently of each other, eta would be the accuracy of the larger one. So an eta
    below 1 shows other knowledge only if the answers of the smaller are no guesses. ValueError for dtypes
    other than bool, different lengths or no facts.

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
