"""Curves and sequences over several relations, against sums done by hand and scipy's t test."""

from statistics import mean, stdev

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from test_answers_sequence import BEHIND, BEHIND_OF, at, read
from test_answers_shots import EACH, answered, guessed

from lkecore import answers, papers
from lkecore.answers import over, sequence, shots, shots_rules
from lkecore.facts import pool
from lkecore.intervals import Interval

# Right (1) or wrong for each number of shots, draw by draw; relations have other numbers of facts.
HITS = {
    "P17": {1: ["1000", "0111"], 3: ["1110", "0111"], 10: ["1111", "0111"]},
    "P19": {1: ["10", "10"], 3: ["11", "10"], 10: ["11", "11"]},
    "P27": {1: ["00000", "00001"], 3: ["10000", "11000"], 10: ["11000", "11110"]},
}


def several(hits=HITS, **more):
    parts = [answered(its, **more).assign(relation=name) for name, its in hits.items()]
    return pd.concat(parts[::-1], ignore_index=True)


def share(text):
    return text.count("1") / len(text)


def of_each(n, hits=HITS):
    """{relation: the accuracy of each draw} with so many shots."""
    return {name: [share(text) for text in its[n]] for name, its in hits.items()}


def is_over(found, values, within=None):
    """Whether an interval is Student's t over these values, one for each relation."""
    low, high = ttest_1samp(values, 0).confidence_interval()
    if within:
        low, high = max(low, within[0]), min(high, within[1])
    assert found.estimate == pytest.approx(mean(values))
    assert [found.low, found.high] == pytest.approx([low, high])
    assert found.method == "Student's t over relations"
    return True


# --- shots


def test_a_curve_is_the_mean_of_relations_that_count_alike():
    frame = several()
    found = shots.over_draws(frame, EACH, seed=0)
    assert found["n_shots"].tolist() == [1, 3, 10]
    for row in found.itertuples():
        each = of_each(row.n_shots)
        assert is_over(row.accuracy, [mean(draws) for draws in each.values()], (0, 1))
        assert row.std == pytest.approx(mean(stdev(draws) for draws in each.values()))
    by_draw = shots.by_draw(frame, EACH).set_index(["n_shots", "draw"])["accuracy"]
    for (n, draw), found in by_draw.items():
        assert found == pytest.approx(mean(draws[draw] for draws in of_each(n).values()))


def test_what_is_needed_is_that_of_the_mean_curve_and_chance_is_a_mean_of_relations():
    frame = several()
    frame["n_options"] = frame["relation"].map({"P17": 4, "P19": 2, "P27": 10})
    [row] = shots.needed(frame, EACH, seed=0).itertuples()
    curve = {n: mean(map(mean, of_each(n).values())) for n in (1, 3, 10)}
    assert row.needed.estimate == min(n for n in curve if curve[n] >= 0.95 * curve[10]) == 10
    assert papers.over_of(row.needed) == "relations" and row.most == 10
    assert is_over(row.accuracy, [mean(draws) for draws in of_each(10).values()], (0, 1))
    assert row.chance == pytest.approx((1 / 4 + 1 / 2 + 1 / 10) / 3)
    assert row.at_chance == (row.accuracy.low <= row.chance)


def test_the_claims_on_shots_are_tested_on_a_value_of_each_relation():
    [row] = shots.few_and_many(several(), EACH, seed=0).itertuples()
    few, many = of_each(1), of_each(10)
    assert is_over(row.rises, [mean(many[name]) - mean(few[name]) for name in HITS])
    assert is_over(row.steadies, [stdev(few[name]) - stdev(many[name]) for name in HITS])


def test_which_model_knows_less_is_seen_in_each_relation():
    """95 % of the last: the first needs 10, 1 and 10 shots, the second 1, 3 and 1."""
    one = {
        "a": {1: ["0" * 10], 3: ["1" * 5 + "0" * 5], 10: ["1" * 8 + "00"]},
        "b": {1: ["1" * 9 + "0"], 3: ["1" * 9 + "0"], 10: ["1" * 9 + "0"]},
        "c": {1: ["0" * 10], 3: ["0" * 10], 10: ["1" + "0" * 9]},
    }
    other = {
        "a": {1: ["1" * 10], 3: ["1" * 10], 10: ["1" * 10]},
        "b": {1: ["0" * 10], 3: ["1" + "0" * 9], 10: ["1" + "0" * 9]},
        "c": {1: ["1" * 3 + "0" * 7], 3: ["0" * 10], 10: ["1" * 3 + "0" * 7]},
    }
    frame = pd.concat([several(one, model="m"), several(other, model="n")])
    needs = shots.needed(frame, EACH, seed=0)
    [row] = shots.less_and_more(frame, needs, EACH, seed=0).itertuples()
    assert row.models == "n, m"  # 14/30 and 18/30 in the end
    assert is_over(row.more, [10 - 1, 3 - 1, 10 - 1])  # less is known by m, n and m
    other_relations = frame.assign(
        relation=frame["relation"].where(frame["model"] == "m", "x" + frame["relation"])
    )
    assert shots.less_and_more(other_relations, needs, EACH, seed=0).empty


def test_the_best_rule_is_that_of_all_relations_and_a_model_is_held_against_it_in_each():
    frame = several()
    shares = {"P17": [0.5, 0.5, 0.25], "P19": [0.0, 0.0, 0.5], "P27": [0.1, 0.1, 0.1]}
    parts = [guessed(its, shares[name]) for name, its in frame.groupby("relation", sort=False)]
    names = frame["relation"].unique()
    ruled = pd.concat([p.assign(relation=n) for n, p in zip(names, parts, strict=True)])
    yard = shots_rules.yardstick(ruled)
    assert yard["of_rule"].tolist() == pytest.approx([0.2, 0.2, (0.25 + 0.5 + 0.1) / 3])
    [row] = shots_rules.above_rule(frame, ruled, EACH, seed=0).itertuples()
    right = {name: mean(draws) for name, draws in of_each(10).items()}
    assert is_over(row.above, [right[name] - shares[name][2] for name in right])
    assert row.of_rule == pytest.approx((0.25 + 0.5 + 0.1) / 3)


def test_rules_are_asked_about_every_relation():
    names, how = ["capital", "currency"], {"n_pool": 60, "n_facts": 4, "n_options": 6, "seed": 0}
    sample = {name: pool.draw("atlas", name, **how) for name in names}
    found = shots_rules.of_rules({"atlas": sample}, {"a": "atlas"}, [3, 4], {"atlas": [2]})
    assert found.groupby(["relation", "draw"], sort=False).size().to_dict() == {
        (name, draw): 4 for name in names for draw in (3, 4)
    }
    shown = pool.overview({"atlas": sample}, n_pool=60, n_facts=4)
    assert shown["relation"].tolist() == [of.relation.label for of in sample.values()]


def test_a_single_relation_with_a_name_is_as_one_without():
    named, plain = several({"P17": HITS["P17"]}), answered(HITS["P17"])
    for of in (shots.over_draws, shots.needed, shots.few_and_many):
        pd.testing.assert_frame_equal(of(named, EACH, seed=0), of(plain, EACH, seed=0))
    wide, one = read().assign(relation="P17"), read()
    for of in (sequence.changes, sequence.reach):
        two = (of(frame, EACH, n_behind=BEHIND, seed=0) for frame in (wide, one))
        pd.testing.assert_frame_equal(*two)


def test_a_panel_says_what_it_is_about():
    how = {"n_pool": 60, "n_facts": 2, "n_options": 3, "seed": 0}
    sample = {name: pool.draw("atlas", name, **how) for name in ("capital", "currency")}
    one = {"capital": sample["capital"]}
    frame = pd.concat([several(), answered(HITS["P17"], source="shipped: x")])
    frame = pd.concat([frame, several(source="shipped: y"), answered(HITS["P17"], model="n")])
    titles = shots.titles(frame, {"atlas": sample, "other": one}, {"m": "atlas", "n": "other"})
    assert titles == {
        ("this page", "m"): "m\nmean over 3 relations",
        ("shipped: x", "m"): "m, shipped: x",
        ("shipped: y", "m"): "m, shipped: y\nmean over 3 relations",
        ("this page", "n"): f"n, {sample['capital'].relation.label}",
    }


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


def test_verdicts_over_relations_stand_under_the_words_of_their_twin():
    methods = "Student's t over relations", "bootstrap over draws"
    t, b = (Interval(0.5, 0.1, 0.9, 0.95, method) for method in methods)
    tested = over.by_claim({"IC-shots-rise": {("this page", "m"): b, ("shipped: x", "m"): t}})
    assert list(tested) == ["IC-shots-rise", "IC-shots-rise-relations"]
    judged = answers.judge(tested, estimator="iclke-space", as_paper=True)
    assert judged["mark"].tolist() == ["", ""] and judged["claim"].nunique() == 2
    shown = over.side_by_side(judged)
    assert shown["id"].tolist() == ["IC-shots-rise"] * 2 and shown["claim"].nunique() == 1
    assert shown["verdict"].tolist() == judged["verdict"].tolist()
