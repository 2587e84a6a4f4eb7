"""Sequences over several relations, against sums done by hand and scipy's t test."""

from statistics import mean

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from test_answers_sequence import BEHIND, BEHIND_OF, at, read

from lkecore import answers, papers
from lkecore.answers import sequence
from lkecore.intervals import Interval

EACH = ["source", "model", "estimator"]


def is_over(found, values, within=None):
    """Whether an interval is Student's t over these values, one for each relation."""
    low, high = ttest_1samp(values, 0).confidence_interval()
    if within:
        low, high = max(low, within[0]), min(high, within[1])
    assert found.estimate == pytest.approx(mean(values))
    assert [found.low, found.high] == pytest.approx([low, high])
    assert found.method == "Student's t over relations"
    return True


# --- sequences


@pytest.fixture(scope="module")
def sequences():
    """{relation: answers}; the third has one draw more, and each is known otherwise."""
    return {
        name: read(i, draws=range(5, 8 + (i == 2)), low=low).assign(relation=name)
        for i, (name, low) in enumerate([("P17", 0.01), ("P19", 0.5), ("P27", 0.2)])
    }


def test_a_change_is_the_mean_of_the_changes_in_each_relation(sequences):
    frame = pd.concat(sequences.values(), ignore_index=True)
    for row in sequence.changes(frame, EACH, n_behind=BEHIND, seed=0).to_dict("records"):
        places = BEHIND_OF[row["arrangement"]]
        pairs = [
            [mean(at(f, row["kind"], row["arrangement"], places)), mean(at(f, "clean", "none", places))]
            for f in sequences.values()
        ]  # fmt: skip
        each = [with_ / without - 1 for with_, without in pairs]
        assert is_over(row["change"], each)
        assert [row["least"], row["most"]] == pytest.approx([min(each), max(each)])
        assert [row["with"], row["without"]] == pytest.approx(np.mean(pairs, axis=0).tolist())
        assert row["pairs"] == (3 + 3 + 4) * len(places)


def test_replaced_pairs_levels_and_distances_are_means_over_relations(sequences):
    frame = pd.concat(sequences.values(), ignore_index=True)
    [level] = sequence.levels(frame, EACH, n_first=2).to_dict("records")
    assert level["draws"] == 3 + 3 + 4
    lasts = [mean(at(f, "clean", "none", [10, 11, 12])) for f in sequences.values()]
    assert level["last"] == pytest.approx(mean(lasts))
    for row in sequence.replaced(frame, EACH, seed=0).itertuples():
        places = {"distributed": [2, 5], "block": [7, 8]}[row.arrangement]
        each = [
            mean(at(f, row.kind, row.arrangement, places)) / mean(at(f, "clean", "none", places))
            for f in sequences.values()
        ]
        assert is_over(row.share, each)
    found = sequence.reach(frame, EACH, n_behind=BEHIND, seed=0).set_index(["kind", "at"])
    each = [
        mean(at(f, "unknown", "block", [9, 10, 11])) / mean(at(f, "clean", "none", [9, 10, 11])) - 1
        for f in sequences.values()
    ]
    assert is_over(found.loc[("unknown", "block 1–3"), "change"], each)


def test_every_claim_on_sequences_has_a_twin_that_is_tested_over_relations(sequences):
    frame = pd.concat(sequences.values(), ignore_index=True)
    how = {"n_behind": BEHIND, "seed": 0}
    every = sequence.every_test(
        sequence.tests(frame, EACH, n_first=2, **how),
        sequence.changes(frame, EACH, **how),
        sequence.replaced(frame, EACH, seed=0),
    )
    rise = every.set_index("id").loc["IC-sequence-rise"]
    values = [
        mean(at(f, "clean", "none", [10, 11, 12])) - mean(at(f, "clean", "none", [1, 2]))
        for f in sequences.values()
    ]
    assert is_over(rise["found"], values)
    one = every.assign(source="shipped: x", found=Interval(0, -1, 1, 0.95, "bootstrap over draws"))
    tested, marks = sequence.judged_by(pd.concat([every, one]), little=2)
    assert set(marks) == {
        (name, source, model, way)
        for way, of in tested.items()
        for name, its in of.items()
        for source, model in its
    }
    judged = answers.judge_ways(tested, as_paper=list(tested), marks=marks)
    assert set(judged["id"]) == {n for key in every["id"] for n in (key, key + "-relations")}
    shown = sequence.verdicts_by_model(judged)
    assert shown.columns.tolist() == ["claim", "estimator", "m", "m (x)"] and len(shown) == 9
    assert (shown[["m", "m (x)"]] != "").all(axis=None)
    words = papers.claims().set_index("id")["claim"]
    assert shown["claim"].iloc[0].startswith(words["IC-sequence-rise"])


def test_a_panel_has_the_mean_over_relations_at_each_place(sequences):
    frame = pd.concat(sequences.values(), ignore_index=True)
    found = sequence.roles(frame, n_behind=BEHIND)
    assert len(found) == 5 * 12 and set(found["draw"]) == {5}
    for row in found.itertuples():
        values = [
            value
            for f in sequences.values()
            for value in at(f[f["draw"] == 5], row.kind, row.arrangement, [row.position])
        ]
        assert len(values) == 3 and row.probability == pytest.approx(mean(values))


def test_relations_without_a_sure_pair_are_left_out_of_the_sure(sequences):
    unsure = sequences["P17"].assign(probability=0.1)
    frame = pd.concat([unsure, sequences["P19"], sequences["P27"]], ignore_index=True)
    found = sequence.of_the_sure(frame, EACH, n_behind=BEHIND, least=0.5, seed=0)
    row = found.set_index(["kind", "arrangement"]).loc[("unknown", "block")]
    each = []
    for name in ("P19", "P27"):
        both = zip(
            at(sequences[name], "unknown", "block", BEHIND_OF["block"]),
            at(sequences[name], "clean", "none", BEHIND_OF["block"]),
            strict=True,
        )
        sure = [pair for pair in both if pair[1] >= 0.5]
        each.append(sum(a for a, _ in sure) / sum(b for _, b in sure) - 1)
    assert is_over(row["change"], each)


# --- claims and older results
