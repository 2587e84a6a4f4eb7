"""Gaps: the paper's formulas (XT-E4, XT-F5, XT-F7) beside counts of facts, and runs that learned nothing."""

import math

import numpy as np
import pandas as pd
import pytest

from lkecore.errors import BadInput
from lkecore.stats.gaps import failed, gaps


def test_the_formulas_are_the_counts_of_facts_used_known_and_not_used_and_not_known():
    rng = np.random.default_rng(0)
    known = rng.random((5, 40)) < 0.6
    used = known & (rng.random((5, 40)) < 0.7)
    shares = [[row.mean() for row in part] for part in (known, used, known & ~used, ~known)]
    found = gaps(
        pd.Series(shares[0]), pd.Series([u[k].mean() for u, k in zip(used, known, strict=True)])
    )
    counted = pd.DataFrame(shares, ["identifiable", "usable", "gap_2", "gap_1"]).T[[*found]]
    pd.testing.assert_frame_equal(found, counted)
    assert np.allclose(found[["usable", "gap_1", "gap_2"]].sum(axis=1), 1)


def test_shares_that_are_none_or_of_other_rows_are_refused():
    half = pd.Series([0.5])
    with pytest.raises(BadInput, match=r"gaps: used is 1.5, and a share lies in \[0, 1\]"):
        gaps(half, pd.Series([1.5]))
    with pytest.raises(BadInput, match="gaps: known is -0.1"):
        gaps(pd.Series([-0.1]), half)
    with pytest.raises(BadInput, match="gaps: known and used have different rows"):
        gaps(half, pd.Series([0.5], index=["a"]))
    assert gaps(half, pd.Series([np.nan])).isna().values.tolist() == [[False, True, False, True]]


def test_a_run_failed_where_its_last_loss_is_that_of_a_guess_among_all_documents():
    guess = -math.log(1 / 13)
    assert failed(guess, 12) and failed(9.0, 12) and failed(math.nan, 12)
    assert failed(0.951 * guess, 12) and not failed(0.949 * guess, 12)
    assert not failed(guess, 30)
