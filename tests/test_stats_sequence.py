"""Metrics of long sequences, against sums done by hand and loops over rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore.facts.fact import Fact
from lkecore.prompts.sequences import Probe, pair_pieces
from lkecore.stats import sequence


@given(st.integers(1, 30), st.sets(st.integers(0, 29)))
def test_the_distance_is_found_by_walking_back_to_a_replaced_place(n, replaced):
    replaced = {place for place in replaced if place < n}
    for place, found in enumerate(sequence.distances(n, replaced)):
        steps = next((d for d in range(place + 1) if place - d in replaced), None)
        assert np.isnan(found) if steps is None else found == steps


def test_a_replaced_place_outside_of_the_sequence_is_refused():
    with pytest.raises(ValueError, match="replaced place 3; places go from 0 to 2"):
        sequence.distances(3, [3])


# --- from the scorer's frame to one row for each pair

BORN = [
    Fact(name, "born", name, year)
    for name, year in [("Feynman", "1918"), ("Curie", "1867"), ("Bohr", "1885")]
]
WRONG = Fact("w", "born", "Curie", "1999")
PROBES = [
    Probe("clean", "none", tuple(BORN)),
    Probe("incorrect", "distributed", (BORN[0], WRONG, BORN[2]), (1,)),
]


def scored(logprobs, probes=PROBES):
    """What piece_logprobs would say: two tokens for a subject, one for an object."""
    rows = []
    for number, (probe, values) in enumerate(zip(probes, logprobs, strict=True)):
        for i, text in enumerate(pair_pieces(probe.pairs)):
            value = values[i // 2] if i % 2 else -99.0
            rows.append((number, i, text, value, 2 - i % 2))
    return pd.DataFrame(rows, columns=["sequence", "piece", "text", "logprob", "n_tokens"])


def test_each_pair_gets_the_probability_of_its_object_and_nothing_of_its_subject():
    half, quarter = np.log(0.5), np.log(0.25)
    found = sequence.answers(PROBES, scored([[half, quarter, half], [half, quarter, quarter]]))
    assert found["probability"].tolist() == pytest.approx([0.5, 0.25, 0.5, 0.5, 0.25, 0.25])
    assert found["object"].tolist() == ["1918", "1867", "1885", "1918", "1999", "1885"]
    assert found["position"].tolist() == [1, 2, 3] * 2
    assert found["tokens"].tolist() == [3, 6, 9] * 2
    assert found["state"].tolist() == ["right"] * 4 + ["replaced", "right"]
    assert found["distance"].tolist()[4:] == [0, 1] and found["distance"][:4].isna().all()
    assert found["kind"].tolist() == ["clean"] * 3 + ["incorrect"] * 3


def test_scores_of_other_sequences_and_missing_scores_are_refused():
    good = scored([[-1, -1, -1], [-1, -1, -1]])
    with pytest.raises(ValueError, match="1 sequences scored, but there are 2"):
        sequence.answers(PROBES, good[good["sequence"] == 0])
    with pytest.raises(ValueError, match="not those of incorrect distributed"):
        sequence.answers(PROBES[::-1], good)
    with pytest.raises(ValueError, match="an object of incorrect distributed has no logprob"):
        sequence.answers(PROBES, scored([[-1, -1, -1], [-1, np.nan, -1]]))
