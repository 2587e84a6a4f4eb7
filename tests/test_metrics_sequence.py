"""Metrics of long sequences, against sums done by hand and loops over rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore.facts.fact import Fact
from lkecore.metrics import sequence
from lkecore.prompts.sequences import Probe, pair_pieces


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


# --- with and without


def rows(n=8, draws=3, seed=0):
    """Draws of one clean and two changed sequences, with places that differ by draw."""
    rng = np.random.default_rng(seed)
    frames = []
    for draw in range(draws):
        for kind, where, replaced in (
            ("clean", "none", []),
            ("unknown", "distributed", [draw, draw + 3]),
            ("unknown", "block", [4, 5]),
        ):
            frame = pd.DataFrame({"position": np.arange(1, n + 1)})
            frame["draw"], frame["kind"], frame["arrangement"] = draw, kind, where
            frame["distance"] = sequence.distances(n, replaced)
            frame["state"] = np.where(frame["distance"] == 0, "replaced", "right")
            frame["probability"] = rng.uniform(0.01, 1, n)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@pytest.mark.parametrize(
    ("where", "within", "each"),
    [("distributed", [1], 2), ("distributed", [0], 2), ("block", [1, 2], 2), ("block", [2], 1)],
)
def test_a_pair_is_compared_with_itself_in_the_clean_sequence(where, within, each):
    """The oracle looks every value up row by row."""
    frame = rows()
    shuffled = frame.sample(frac=1, random_state=1)
    found = sequence.paired(sequence.beside_clean(shuffled), "unknown", where, within)
    assert found.shape == (2, 3, each)
    for draw in range(3):
        of = frame[(frame["draw"] == draw) & (frame["arrangement"] == where)]
        at = [row for row in of.itertuples() if row.distance in within]
        assert found[0, draw].tolist() == [row.probability for row in at]
        for row, value in zip(at, found[1, draw], strict=True):
            same = frame[(frame["draw"] == draw) & (frame["kind"] == "clean")]
            [clean] = same.loc[same["position"] == row.position, "probability"]
            assert value == clean


def test_draws_that_cannot_be_put_side_by_side_are_refused():
    beside = sequence.beside_clean(rows())
    lost = (beside["draw"] == 2) & (beside["position"] == 4)  # behind the first replaced one
    with pytest.raises(ValueError, match=r"draws have \[2, 2, 1\] pairs at distances \[1\]"):
        sequence.paired(beside[~lost], "unknown", "distributed", [1])
    with pytest.raises(ValueError, match=r"draws have \[0, 0, 0\] pairs at distances \[99\]"):
        sequence.paired(beside, "unknown", "block", [99])
    with pytest.raises(ValueError, match=r"lacks the columns \['distance'\]"):
        sequence.beside_clean(rows().drop(columns="distance"))
    with pytest.raises(ValueError, match="a draw has a position twice"):
        sequence.beside_clean(pd.concat([rows(), rows()]))
    frame = rows()
    with pytest.raises(ValueError, match="no clean sequence at {'draw': 2, 'position': 1}"):
        sequence.beside_clean(frame[(frame["kind"] != "clean") | (frame["draw"] < 2)])


# --- statistics


def test_the_statistics_are_those_of_a_sum_done_by_hand():
    values = np.array([[[0.1, 0.2], [0.3, 0.0]], [[0.4, 0.4], [0.2, 0.2]]])
    assert sequence.ratio(values) == pytest.approx(0.5)  # 0.6 / 1.2
    assert sequence.change(values) == pytest.approx(-0.5)
    both = np.concatenate([values, values[::-1]])
    assert sequence.difference(both) == pytest.approx(0.5 - 2)


@given(st.integers(1, 3), st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_putting_places_together_changes_no_ratio(draws, n_a, n_b, seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.uniform(0.1, 1, (2, draws, n)) for n in (n_a, n_b))
    both = sequence.contrast(a, b)
    assert both.shape == (4, draws, min(n_a, n_b))
    wanted = a[0].mean() / a[1].mean() - b[0].mean() / b[1].mean()
    assert sequence.difference(both) == pytest.approx(wanted)


@given(st.integers(1, 3), st.integers(4, 50), st.data())
def test_the_rise_and_the_settling_are_differences_of_means_of_stretches(draws, n, data):
    clean = np.random.default_rng(n).uniform(size=(draws, n))
    first = data.draw(st.integers(1, n - n // 4))
    q = n // 4
    last = np.mean([clean[:, i] for i in range(n - q, n)])
    rise = last - np.mean([clean[:, i] for i in range(first)])
    assert sequence.difference(sequence.rise(clean, first)) == pytest.approx(rise)
    third = np.mean([clean[:, i] for i in range(n - 2 * q, n - q)])
    assert sequence.difference(sequence.settling(clean)) == pytest.approx(last - third)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sequence.rise(np.ones((1, 8)), 7),
            "8 pairs have no last quarter behind the first 7",
        ),
        (lambda: sequence.rise(np.ones((1, 3)), 1), "3 pairs have no last quarter"),
        (lambda: sequence.settling(np.ones((1, 3))), "3 pairs have no quarters"),
        (lambda: sequence.rise(np.ones(8), 2), r"\(8,\) need axes \(draw, position\)"),
        (lambda: sequence.settling(np.full((1, 8), np.nan)), "none missing"),
        (lambda: sequence.contrast(np.ones((2, 1, 3)), np.ones((2, 2, 3))), "as many draws"),
        (lambda: sequence.contrast(np.ones((3, 1, 3)), np.ones((2, 1, 3))), "both need"),
    ],
)
def test_what_is_not_defined_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
