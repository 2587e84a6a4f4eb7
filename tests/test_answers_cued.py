"""How much of an accuracy a rule gets: by pencil on two small sets, and recounts of what ships."""

import numpy as np
import pandas as pd
import pytest

from lkecore import answers, facts
from lkecore.answers import cued, rules
from lkecore.errors import BadInput
from lkecore.facts import Fact, Relation
from lkecore.metrics.rules import RULES
from lkecore.papers import published

NOTEBOOK, PROFILES = "10_iclke_relations", ["atlas", "kamel", "kamel_formats", "trex"]
PAPER = "iclke-space"


@pytest.fixture(scope="module")
def every():
    return answers.alone(PROFILES, NOTEBOOK)


@pytest.fixture(scope="module")
def found(every):
    its = rules.beside(None, PROFILES, NOTEBOOK)
    return its[its["source"].isin(every["source"])]


def plain(every, found, source, model, estimator):
    """{relation: [(right, shares a word, carries a cue), ...]} in plain Python."""
    cue = {
        (r.relation, str(r.fact)): (r.cue_word, r.cue_word or r.cue_frequent)
        for r in found[found["source"] == source].itertuples()
    }
    rows: dict[str, list] = {}
    for r in every.itertuples():
        if (r.source, r.model, r.estimator) == (source, model, estimator):
            rows.setdefault(r.relation, []).append((r.correct, *cue[r.relation, str(r.fact)]))
    return rows


def mean(values):
    return sum(values) / len(values)


def test_marks_of_the_figure_are_a_recount_in_plain_python(every, found):
    table = cued.marks(every, found, PAPER).set_index(["source", "who"])
    assert len(table) == 3 * 5
    for source, model in [("shipped: trex", "smollm2"), ("shipped: kamel", "gemma3-270m")]:
        rows = plain(every, found, source, model, PAPER)
        whole = mean([mean([right for right, _, _ in each]) for each in rows.values()])
        assert table.loc[(source, f"{model}, all facts"), "accuracy"] == pytest.approx(whole)
        without = [[right for right, _, cue in each if not cue] for each in rows.values()]
        left = mean([mean(each) for each in without if len(each) > 1])
        assert table.loc[(source, f"{model}, no cue"), "accuracy"] == pytest.approx(left)
    assert (table["low"] <= table["accuracy"]).all() and (table["accuracy"] <= table["high"]).all()


def test_gains_of_a_format_by_cue_are_a_recount_in_plain_python(every, found):
    """The siblings of KAMEL as a review counted them apart from this code: 0.06 to 0.48, 0.11 to 0.11."""
    key = ["source", "model", "estimator", "shared"]
    table = cued.copying(every, found, PAPER, seed=0).set_index(key)
    one = ("shipped: kamel", "smollm2")
    before, after = (plain(every, found, *one, way) for way in (PAPER, "iclke-colon"))
    for shared in (True, False):
        ends = []
        for rows in (before, after):
            some = {n: [r for r, word, _ in each if word == shared] for n, each in rows.items()}
            ends.append({n: mean(each) for n, each in some.items() if len(each) >= 10})
        row = table.loc[(*one, "iclke-colon", shared)]
        assert row["relations"] == len(ends[0]) == len(ends[1])
        means = [mean(list(each.values())) for each in ends]
        assert [row["before"], row["after"]] == pytest.approx(means)
        assert row["gain"].estimate == pytest.approx(means[1] - means[0])
    shown = cued.copied(every, found, PAPER, n=100).set_index(["source", "model", "relation"])
    siblings = shown.loc[(*one, "P3373")]
    assert siblings["shared"] == "0.06 to 0.48" and siblings["not_shared"] == "0.11 to 0.11"
    assert siblings["facts_shared"] == 82


def test_agreement_with_the_rule_is_pearsons_r_of_numpy(every, found):
    """A review found 0.75 [0.57, 0.88] for SmolLM2 on T-REx, apart from this code."""
    table = cued.alike(every, found, PAPER, seed=0).set_index(["source", "model"])
    mine = every[(every["source"] == "shipped: trex") & (every["estimator"] == PAPER)]
    mine = mine[mine["model"] == "smollm2"].groupby("relation")["correct"].mean()
    rule = found[found["source"] == "shipped: trex"].groupby("relation")["rule-both"].mean()
    expected = np.corrcoef(mine.to_numpy(float), rule[mine.index].to_numpy(float))[0, 1]
    r = table.loc[("shipped: trex", "smollm2"), "r"]
    assert r.estimate == pytest.approx(expected)
    assert [r.estimate, r.low, r.high] == pytest.approx([0.75, 0.57, 0.88], abs=0.01)


def test_points_have_a_model_and_the_rule_for_each_relation(every, found):
    points = cued.by_relation(every, found, "smollm2", PAPER, seed=0)
    assert points.groupby(["source", "relation"])["model"].apply(set).map(len).eq(2).all()
    rows = plain(every, found, "shipped: trex", "smollm2", PAPER)
    at = points.set_index(["source", "relation", "model"])["accuracy"]
    assert at["trex", "P36", "smollm2"] == pytest.approx(mean([r for r, _, _ in rows["P36"]]))
    worst = published.table("iclke_table8_relations").set_index("relation")
    worst = worst["average_accuracy"].to_frame("mean").assign(least_of_worst=0.0)
    named = points.replace({"relation": {"P36": "capital"}})
    beside = cued.beside_table_8(named, worst).set_index("relation")
    assert beside.loc["capital", "trex, smollm2"] == at["trex", "P36", "smollm2"]
    assert len(beside) == 50 and beside.loc["student of", "trex, smollm2"] != 0  # NaN: not asked


def test_agreement_of_two_models_with_and_without_cues_is_numpys(every, found):
    both = cued.with_and_without(every, found)
    assert set(both["facts"]) == {"all", "no cue"}
    n_all, n_left = (both["facts"].eq(name).sum() for name in ("all", "no cue"))
    assert n_all == len(every) and 0 < n_left < n_all
    table = cued.two_models(both, PAPER, seed=0).set_index(["source", "facts"])
    for facts_, keep in (("all", lambda cue: True), ("no cue", lambda cue: not cue)):
        means = []
        for model in ("smollm2", "gemma3-270m"):
            rows = plain(every, found, "shipped: kamel", model, PAPER)
            kept = {n: [r for r, _, cue in each if keep(cue)] for n, each in rows.items()}
            means.append({n: mean(each) for n, each in kept.items() if len(each) > 1})
        assert list(means[0]) == list(means[1])
        expected = np.corrcoef(*(list(each.values()) for each in means))[0, 1]
        row = table.loc[("shipped: kamel", facts_)]
        assert row["r"].estimate == pytest.approx(expected)
        assert (row["relations"], row["models"]) == (len(means[0]), "smollm2, gemma3-270m")


# Two relations with 12 facts each. In p the six short golds are right and the six long ones wrong; in q half
# of either. None carries a cue.
LENGTHS = pd.DataFrame(
    {
        "source": "s",
        "relation": ["p"] * 12 + ["q"] * 12,
        "fact": [str(i) for i in range(12)] * 2,
        "cue_word": False,
        "cue_frequent": False,
        "length_rank": ([1.0] * 6 + [9.0] * 6) * 2,
        "n_options": 9,
    }
)
RIGHT = [1] * 6 + [0] * 6 + [1, 1, 1, 0, 0, 0] * 2
ASKED = LENGTHS[["source", "relation", "fact"]].assign(
    model="m", estimator=PAPER, correct=np.array(RIGHT, dtype=bool)
)


def test_short_and_long_golds_by_pencil():
    [row] = cued.by_length(ASKED, LENGTHS, ["source", "model"]).to_dict("records")
    assert (row["relations"], row["short"], row["long"]) == (2, 0.75, 0.25)
    assert row["short_minus_long"].estimate == pytest.approx((1 + 0) / 2)
    assert np.isnan(row["middle"])
    # Of p a short fact, which is right, and of q a long one, which is wrong, into the middle: five are left.
    moved = LENGTHS.assign(
        length_rank=LENGTHS["length_rank"].mask(LENGTHS.index.isin([0, 23]), 5.0)
    )
    [row] = cued.by_length(ASKED, moved, ["source", "model"]).to_dict("records")
    assert (row["relations"], row["middle"]) == (2, 0.5)
    assert (row["short"], row["long"]) == ((1 + 3 / 6) / 2, (0 + 3 / 5) / 2)
    # By the middle third alone nothing is compared, and a fact with a cue is not counted.
    middle = LENGTHS.assign(length_rank=LENGTHS["length_rank"].replace(9.0, 5.0))
    assert cued.by_length(ASKED, middle, ["source", "model"]).empty
    assert cued.by_length(ASKED, LENGTHS.assign(cue_word=True), ["source"]).empty


def test_a_source_that_ships_without_cues_changes_no_table_of_the_page():
    third = {"relation": "r"}  # where a rule and a model are always right
    asked = pd.concat([ASKED, ASKED[:12].assign(correct=True, **third)], ignore_index=True)
    found = pd.concat([LENGTHS, LENGTHS[:12].assign(**third)], ignore_index=True)
    found = found.assign(**dict.fromkeys(RULES, (found["relation"] == "r").astype(float)))
    with_bare = pd.concat([asked.assign(source="shipped: bare", correct=~asked["correct"]), asked])
    for table in (
        lambda its: rules.above(its, found, ["source", "model"], seed=0),
        lambda its: cued.marks(its, found, PAPER),
        lambda its: cued.by_relation(its, found, "m", PAPER, seed=0),
        lambda its: cued.alike(its, found, PAPER, seed=0),
        lambda its: cued.with_and_without(its, found),
        lambda its: cued.copying(its, found, PAPER, seed=0),
        lambda its: cued.copied(its, found, PAPER),
        lambda its: cued.by_length(its, found, ["source", "model"]),
    ):
        pd.testing.assert_frame_equal(table(with_bare), table(asked))
    assert rules.lacking(with_bare, found) == ["shipped: bare"]


def test_an_answer_about_a_fact_without_cues_is_refused():
    with pytest.raises(BadInput, match="^1 answers are about facts without cues$"):
        rules.with_cues(ASKED, LENGTHS[1:])


def fact(i, subject, object, split):
    return Fact(str(i), "r", subject, object, split=split)


def test_rules_that_see_the_training_facts_by_pencil():
    """Red is shown twice of four, blue and Blue Lake once. Three are asked."""
    train = [("a", "red"), ("b", "red"), ("c", "blue"), ("d", "Blue Lake")]
    test = [("big blue", "blue"), ("Blue Lake Inn", "red"), ("e", "red")]
    rows = [fact(i, *pair, "train") for i, pair in enumerate(train)]
    rows += [fact(10 + i, *pair, "test") for i, pair in enumerate(test)]
    found = cued.by_training_facts(Relation("r", tuple(rows)), n_shots=2)
    assert (found["facts"], found["frequent"]) == (3, 2)
    # blue is all in "big blue"; blue and Blue Lake are in "Blue Lake Inn", and red is asked; e shares none.
    assert found["both"] == 1 + 0 + 1
    assert found["shown"] == pytest.approx((1 - 0.75**2) + 2 * (1 - 0.5**2))
    with pytest.raises(BadInput, match="relation r has no training or no test facts"):
        cued.by_training_facts(Relation("r", tuple(rows[:4])))


def test_the_share_of_most_frequent_objects_that_ships_is_that_of_a_review():
    """0.178 of LAMA's T-REx test facts, counted apart from this code."""
    its, about = answers.shipped.read("training", "18_iclke_rules")
    assert its["relation"].nunique() == 41 and about["models"] == {}
    assert its["frequent"].sum() / its["facts"].sum() == pytest.approx(0.178, abs=5e-4)
    assert (its["both"] <= its["facts"]).all() and (its["shown"] < its["facts"]).all()


@pytest.mark.parametrize("n", [2, 5, 35])
def test_the_least_of_the_worst_is_reached_when_all_others_are_perfect(n):
    rng = np.random.default_rng(n)
    values = rng.random((200, n)) ** 0.2  # near 1
    least = cued.least_of_worst(values.mean(axis=1), n)
    assert (values.min(axis=1) >= least - 1e-12).all()
    reached = np.array([[1.0] * (n - 1) + [0.7]])
    assert cued.least_of_worst(reached.mean(axis=1), n) == pytest.approx([0.7])


def test_the_head_of_the_page_quotes_its_tables(every, found):
    how = ["source", "model", "estimator"]
    shown = rules.wide(rules.above(every, found, how, seed=0), how)
    gained = cued.copying(every, found, PAPER, seed=0)
    worst = pd.DataFrame({"mean": [0.99], "least_of_worst": [0.65]}, index=["a date"])
    said = cued.sentences(shown, gained, worst, PAPER)
    assert "0.34 of trex (smollm2 0.35 [0.29, 0.41], gemma3-270m 0.42" in said["rule"]
    assert "kamel (smollm2 0.05 [0.04, 0.07]" in said["left"]
    assert (
        "gains 0.28 [0.17, 0.40] where names share a word (gemma3-270m on trex)" in said["copying"]
    )
    assert "0.990" in said["worst"] and "(a date)" in said["worst"] and "0.65" in said["worst"]
    alone = gained[~gained["shared"]]
    assert cued.sentences(shown, alone, worst, PAPER)["copying"].startswith("No set of facts")


def test_a_sample_of_ones_own_is_judged_before_a_model_is_asked():
    sample = facts.draw(
        "atlas", ["capital", "film_language"], n_shots=5, n_facts=6, n_options=8, seed=0
    )
    yard = rules.by_relation(rules.cues(sample, kept=False)).set_index("relation")
    assert yard["chance"].tolist() == [1 / 8, 1 / 8]
    assert yard["of_rule"].between(0, 1).all()
