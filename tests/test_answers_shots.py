"""From answers over draws of shots to curves and verdicts, against sums done by hand."""

import itertools
import json
import re
from statistics import mean, stdev

import helpers
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lkecore import answers, facts, figures, papers, prompts
from lkecore.answers import results, rules, shipped, shots, shots_rules
from lkecore.errors import BadInput
from lkecore.facts import pool, world
from lkecore.intervals import Interval
from lkecore.metrics.rules import RULES
from lkecore.models import lab
from lkecore.runs import gather

EACH = ["source", "model", "estimator"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    helpers.few_resamples(monkeypatch)


def answered(hits, *, n_options=4, **more):
    """Answers from {n_shots: a text of 0 and 1 for each draw}; draws and numbers come mixed up."""
    rows = [
        {"n_shots": n, "draw": draw, "fact": f"f{i}", "correct": hit == "1", "n_options": n_options}
        for n, texts in reversed(hits.items())
        for draw, text in reversed(list(enumerate(texts)))
        for i, hit in enumerate(text)
    ]
    named = {"source": "this page", "model": "m", "estimator": "iclke-space"}
    return pd.DataFrame(rows).assign(**named | more)


def guessed(answers, shares):
    """What rules get of the questions of answers: one of ``shares`` for each number of shots, rising."""
    of = dict(zip(sorted(set(answers["n_shots"])), shares, strict=True))
    frame = answers[["source", "model", "draw", "n_shots", "fact"]].drop_duplicates()
    low = dict.fromkeys(RULES, 0.0)
    return frame.assign(**low | {"rule-frequent": frame["n_shots"].map(of)})


HITS = {1: ["1000", "0111"], 3: ["1110", "0111"], 10: ["1111", "0111"]}


# --- the tables


def test_accuracy_of_each_draw_and_over_draws_is_that_by_hand():
    frame = answered(HITS)
    found = shots.by_draw(frame, EACH).set_index(["n_shots", "draw"])["accuracy"]
    by_hand = {(n, d): mean(map(int, t)) for n, ts in HITS.items() for d, t in enumerate(ts)}
    assert found.to_dict() == by_hand
    over = shots.over_draws(frame, EACH, seed=0)
    assert over["n_shots"].tolist() == [1, 3, 10]
    for row in over.itertuples():
        of_draws = [by_hand[row.n_shots, draw] for draw in (0, 1)]
        assert row.accuracy.estimate == pytest.approx(mean(of_draws))
        assert row.std == pytest.approx(stdev(of_draws))
    assert over["accuracy"].iloc[1].low < 0.75 < over["accuracy"].iloc[1].high


def test_one_draw_has_no_deviation_and_no_claim_on_it():
    frame = answered({1: ["10"], 5: ["11"]})
    assert shots.over_draws(frame, EACH, seed=0)["std"].isna().all()
    [row] = shots.few_and_many(frame, EACH, seed=0).itertuples()
    assert row.rises.estimate == 0.5 and row.steadies is None


def test_the_least_number_is_the_first_with_95_percent_and_chance_is_a_blind_guess():
    many = {1: ["0" * 20, "1" * 20], 4: ["1" * 19 + "0"] * 2, 9: ["1" * 20] * 2}
    one = shots.needed(answered(many), EACH, seed=0).iloc[0]
    assert (one["needed"].estimate, one["most"], one["chance"]) == (4, 9, 0.25)
    assert one["accuracy"].estimate == 1 and not one["at_chance"]
    low = shots.needed(answered({1: ["1000"] * 2, 2: ["0001"] * 2}), EACH, seed=0).iloc[0]
    assert low["at_chance"] and low["accuracy"].low == 0
    sure = shots.needed(answered({1: ["1111"] * 2}, n_options=1), EACH, seed=0).iloc[0]
    assert sure["at_chance"], "an end that lies exactly at chance is at chance"


def test_few_and_many_are_the_ends_and_a_single_number_has_none():
    frame = pd.concat([answered(HITS), answered({5: ["10", "01"]}, model="other")])
    [row] = shots.few_and_many(frame, EACH, seed=0).itertuples()
    assert (row.model, row.few, row.many) == ("m", 1, 10)
    assert row.rises.estimate == pytest.approx(7 / 8 - 1 / 2)
    assert row.steadies.estimate == pytest.approx(stdev([0.25, 0.75]) - stdev([1, 0.75]))


def test_the_points_of_a_figure_have_what_their_group_needs():
    frame = pd.concat([answered(HITS), answered({1: ["0000"] * 2, 3: ["0000"] * 2}, model="none")])
    ruled = guessed(frame[frame["model"] == "m"], [0.5, 0.25, 0.125])
    means, needs = (of(frame, EACH, seed=0) for of in (shots.over_draws, shots.needed))
    points = shots.points(means, needs, ruled)
    assert points["model"].tolist() == ["m"] * 3 + ["none"] * 2
    assert points["of_rule"].fillna(-1).tolist() == [0.5, 0.25, 0.125, -1, -1]
    assert points["at_chance"].tolist() == [False] * 3 + [True] * 2
    assert points["needed"].tolist() == [10] * 3 + [1] * 2
    assert (points["low"] <= points["accuracy"]).all() and len(points.columns) == 13


def test_the_sentence_on_longer_runs_names_each_profile_once():
    low = {1: ["0000"] * 2, 3: ["0000"] * 2}
    parts = [answered(HITS), answered(low, source="shipped: x", model="m2")]
    parts += [answered({1: ["1111"] * 2, 9: ["1111"] * 2}, source=f"shipped: {p}") for p in "xy"]
    needs = shots.needed(pd.concat(parts), EACH, seed=0)
    zero, one = "0.00 [0.00, 0.00]", "1.00 [1.00, 1.00]"
    some = Interval(0.5, 0.25, 0.75, 0.95, "by hand")
    # Of x without a rule or a cue that is known, but for m with nine; the row of one shot is of no use.
    above = needs[EACH].assign(of_rule=np.where(needs["source"] == "shipped: y", 0.125, np.nan))
    by_n = needs[EACH].merge(pd.DataFrame({"n_shots": [1, 3, 9]}), how="cross")
    where = (by_n["source"] == "shipped: x") & (by_n["model"] == "m") & (by_n["n_shots"] == 9)
    by_n = by_n.assign(no_cue=[some if here else None for here in where])
    assert shots.others(needs, above, by_n, "iclke-space") == (
        f"In longer runs, x: m2 {zero} after 3 (may be guessing), "
        f"m {one} after 9 (without a cue 0.50 [0.25, 0.75]); y: m {one} after 9 (rule 0.12)."
    )
    above = needs[EACH].assign(of_rule=0.0)
    assert "m2 0.00 [0.00, 0.00] after 3 (rule 0.00, may be guessing)" in shots.others(
        needs, above, by_n, "iclke-space"
    )
    assert shots.others(needs, above, by_n, "iclke-colon") == "-"


# --- two models


def right_of(*curves):
    """(model, n_shots, draw, fact) with as many of 20 facts right as ``curves`` say, in one draw."""
    return np.array([[[[i < n for i in range(20)]] for n in curve] for curve in curves], float)


@pytest.mark.parametrize(
    ("one", "other", "by_hand"),
    [
        # 95 % of 10 and of 20 right are 9.5 and 19.
        ([4, 9, 10], [18, 19, 20], 10 - 3),  # the first knows less
        ([18, 19, 20], [4, 9, 10], 10 - 3),  # and the same the other way round
        ([10, 10, 10], [1, 2, 20], 1 - 10),
        ([1, 2, 20], [20, 20, 20], 0),  # both know as much in the end
        ([5, 10, 10], [5, 20, 20], 0),
    ],
)
def test_what_the_one_that_knows_less_needs_more_is_that_by_hand(one, other, by_hand):
    assert shots.more_needed(right_of(one, other), [1, 3, 10]) == by_hand


def test_two_models_are_a_pair_only_if_they_were_asked_the_same():
    less = {1: ["1000000000"] * 2, 3: ["1110000000"] * 2, 10: ["1111111000"] * 2}
    more = {n: ["1111111111"] * 2 for n in less}
    fewer_draws = {n: texts[:1] for n, texts in more.items()}
    frame = pd.concat(
        [
            answered(more, model="knows"),
            answered(less, model="knows-less"),
            answered(fewer_draws, model="one-draw"),
            answered({n: more[n] for n in (1, 10)}, model="two-numbers"),
            answered(more, model="other-facts").assign(fact=lambda f: "x" + f["fact"]),
            answered(more, model="other-way", estimator="iclke-colon"),
            answered({n: ["0" * 10] * 2 for n in less}, model="blank", source="shipped: x"),
            answered(more, model="knows", source="shipped: x"),
        ]
    )
    needs = shots.needed(frame, EACH, seed=0)
    pairs = shots.less_and_more(frame, needs, EACH, seed=0)
    found = pairs[["source", "models", "at_chance"]].to_numpy().tolist()
    assert found == [
        ["this page", "knows-less, knows", False],
        ["shipped: x", "blank, knows", True],
    ]
    assert pairs["more"].iloc[0].estimate == 10 - 1
    assert pairs["more"].iloc[0].method.startswith("bootstrap over draws")
    marks = shots.marks(needs, pairs)
    assert set(marks.values()) == {"at chance"}
    assert ("IC-less-needs-more", "shipped: x", "blank, knows", "iclke-space") in marks
    assert ("IC-shots-rise", "shipped: x", "blank", "iclke-space") in marks
    assert not [key for key in marks if key[1] == "this page"]


def test_the_interval_of_a_pair_is_that_of_a_bootstrap_by_hand():
    """Whole facts and whole draws are drawn again, the same ones for both models."""
    rng = np.random.default_rng(5)
    right = (rng.random((2, 3, 4, 30)) < np.array([0.3, 0.5, 0.7])[None, :, None, None]) * 1
    texts = [[["".join(map(str, row)) for row in rows] for rows in of] for of in right]
    hits = [dict(zip([1, 3, 10], of, strict=True)) for of in texts]
    frame = pd.concat([answered(of, model=f"m{i}") for i, of in enumerate(hits)])
    [row] = shots.less_and_more(frame, shots.needed(frame, EACH, seed=0), EACH, seed=0).itertuples()
    by_hand = []
    for _ in range(1000):
        draws, facts_ = rng.integers(4, size=4), rng.integers(30, size=30)
        ends = right[:, :, draws][..., facts_].mean(axis=(2, 3))
        least = [[1, 3, 10][int(np.argmax(c >= 0.95 * c[-1] - 1e-12))] for c in ends]
        low = int(ends[0, -1] > ends[1, -1])
        by_hand.append(0 if ends[0, -1] == ends[1, -1] else least[low] - least[1 - low])
    assert [row.more.low, row.more.high] == np.quantile(by_hand, [0.025, 0.975]).tolist()


# --- rules beside models


def test_rules_get_of_each_draw_what_a_count_of_its_shots_says():
    """The oracle counts the objects of the shots, and gives equal parts to the most frequent options.

    A cue is an object that no other option beats, or that has a word of the subject: no more than that.
    """
    how = {"n_pool": 60, "n_facts": 8, "n_options": 6, "seed": 0}
    drawn = {"atlas": pool.draw("atlas", "country_of_city", **how)}
    samples = {"atlas": {"country_of_city": drawn["atlas"]}}
    found = shots_rules.of_rules(samples, {"a": "atlas", "b": "atlas"}, [3, 4], {"atlas": [2, 50]})
    assert set(found["relation"]) == {"country_of_city"}
    found = found.drop(columns="relation")
    assert len(found) == 2 * 2 * 2 * 8 and set(found["cue_frequent"]) == {False, True}
    for row in found.itertuples(index=False, name=None):
        model, draw, n, fact, by_word, by_count, overlap, frequent, both, _ = row
        at = [f.id for f in drawn["atlas"].facts].index(fact)
        asked, options = drawn["atlas"].facts[at], drawn["atlas"].options[at]
        shown = [f.object for f in facts.draw_shots(drawn["atlas"].train, n, draw)]
        counts = [shown.count(option) for option in options]
        most = [o for o, k in zip(options, counts, strict=True) if k == max(counts)]
        assert frequent == pytest.approx((asked.object in most) / len(most))
        assert by_count == (asked.object in shown and asked.object in most)
        assert by_word == bool(
            set(asked.object.lower().split()) & set(asked.subject.lower().split())
        )
        if overlap == pytest.approx(1 / 6):  # no word is shared
            assert both == frequent
    assert found[found["model"] == "a"].drop(columns="model").to_numpy().tolist() == (
        found[found["model"] == "b"].drop(columns="model").to_numpy().tolist()
    )


def test_the_yardstick_is_one_rule_a_model_and_what_lies_above_it_is_by_hand():
    frame = answered(HITS)
    ruled = guessed(frame, [0.5, 0.25, 0.125]).assign(**{"rule-length": 0.25})
    yard = shots_rules.yardstick(ruled)
    assert yard["rule"].unique().tolist() == ["rule-frequent"]  # .29 over all numbers beats .25
    assert dict(zip(yard["n_shots"], yard["of_rule"], strict=True)) == {1: 0.5, 3: 0.25, 10: 0.125}
    two = pd.concat([frame, answered(HITS, source="shipped: x")])
    here, lacking = shots_rules.above_rule(two, ruled, EACH, seed=0).itertuples()
    assert here.above.estimate == pytest.approx(7 / 8 - 1 / 8)
    assert here.above.low < here.above.estimate <= here.above.high
    assert (lacking.rule, lacking.above) == ("", None) and np.isnan(lacking.of_rule)
    with pytest.raises(BadInput, match="this page: 2 answers have no rule beside them"):
        shots_rules.above_rule(frame, ruled[ruled["fact"] != "f1"], EACH, seed=0)


def test_a_model_that_is_not_clearly_above_the_best_rule_is_at_chance_too():
    """20 facts, 18 right: far above a blind guess of 1/4, and above a rule with 0.2, not one with 0.9."""
    many = {1: ["1" * 18 + "00"] * 2, 4: ["1" * 18 + "00"] * 2}
    frame = pd.concat(
        [answered(many), answered(many, model="n"), answered(many, source="shipped: x")]
    )
    of = {"m": [0.1, 0.2], "n": [0.9, 0.9]}
    here = frame[frame["source"] == "this page"]
    ruled = pd.concat([guessed(here[here["model"] == name], of[name]) for name in of])
    needs = shots.needed(frame, EACH, seed=0)
    found = shots.at_rule(needs, shots_rules.above_rule(frame, ruled, EACH, seed=0), EACH)
    assert not needs["at_chance"].any()
    by = found.set_index(["source", "model"])["at_chance"].to_dict()
    assert by == {("this page", "m"): False, ("this page", "n"): True, ("shipped: x", "m"): False}


def test_rules_ship_with_the_numbers_that_the_answers_give_their_facts(tmp_path, monkeypatch):
    frame = answered(HITS).assign(fact=lambda f: f["fact"].str[::-1])
    ruled = guessed(frame, [0.5, 0.25, 0.125])
    helpers.ship(tmp_path, "x", "11_iclke_shots-rules", gather.ships_as(ruled, ours=False))
    monkeypatch.setitem(results.__globals__, "FOLDER", tmp_path)
    both = rules.beside(ruled, ["x", "without"], "11_iclke_shots", apart="rules")
    assert both["source"].unique().tolist() == ["this page", "shipped: x"]
    answers_ = gather.ships_as(frame, ours=False)
    answers_ = answers_.astype({"fact": int}).assign(source="shipped: x")
    [row] = shots_rules.above_rule(answers_, both, EACH, seed=0).itertuples()
    assert row.above.estimate == pytest.approx(7 / 8 - 1 / 8)


def cued(answers, cue):
    """Cues of the questions of answers: ``cue(n_shots, draw, fact)``, as a shared word or as frequent."""
    ruled = guessed(answers, [0.0] * answers["n_shots"].nunique())
    each = [cue(*row) for row in ruled[["n_shots", "draw", "fact"]].to_numpy()]
    word = ruled["fact"] == "f0"
    return ruled.assign(cue_word=np.array(each) & word, cue_frequent=np.array(each) & ~word)


def test_the_accuracy_without_cues_is_over_the_questions_without_one():
    """1 shot: f0 and f1 carry a cue behind draw 0 alone; 3: all but f3; 10: none does."""
    frame = answered(HITS)
    carry = {1: lambda d, f: d == 0 and f in ("f0", "f1"), 3: lambda d, f: f != "f3"}
    ruled = cued(frame, lambda n, d, f: carry.get(n, lambda d, f: False)(d, f))
    two = pd.concat([frame, answered(HITS, source="shipped: x")])
    ruled = pd.concat([ruled, guessed(two[two["source"] != "this page"], [0.0] * 3)])
    table = shots.over_draws(two, EACH, seed=0)
    found = shots_rules.with_no_cue(table, two, ruled, EACH, seed=0)
    assert list(found) == [*table, "left", "no_cue"] and len(found) == len(table)
    here = found[found["source"] == "this page"].set_index("n_shots")
    assert here["left"].tolist() == [6 / 8, 2 / 8, 1]
    assert here.loc[1, "no_cue"].estimate == pytest.approx(3 / 6)  # 00 of 1000, 0111
    assert here.loc[3, "no_cue"] is None, "one fact alone has no interval"
    assert here.loc[10, "no_cue"].estimate == here.loc[10, "accuracy"].estimate
    there = found[found["source"] == "shipped: x"]
    assert there["left"].isna().all() and there["no_cue"].tolist() == [None] * 3
    lacking = rules.lacking(two, ruled.dropna(subset=rules.CUES))
    assert lacking == ["shipped: x"]
    some = ruled[ruled["fact"] != "f1"]
    with pytest.raises(BadInput, match="this page: 6 answers have no rule beside them"):
        shots_rules.with_no_cue(table, frame, some, EACH, seed=0)


def test_the_interval_without_cues_draws_whole_facts_again():
    rng = np.random.default_rng(3)
    right, cue = rng.random((2, 5, 40)) < np.array([0.6, 0.3])[:, None, None]
    frame = answered({5: ["".join("01"[int(x)] for x in row) for row in right]})
    ruled = cued(frame, lambda n, d, f: cue[d, int(f[1:])])
    table = shots.over_draws(frame, EACH, seed=0)
    [found] = shots_rules.with_no_cue(table, frame, ruled, EACH, seed=0)["no_cue"]
    assert found.estimate == pytest.approx((right & ~cue).sum() / (~cue).sum())
    picks = rng.integers(40, size=(1000, 40))
    by_hand = [(right & ~cue)[:, p].sum() / (~cue)[:, p].sum() for p in picks]
    # Both ends are quantiles of 1,000 draws: four of their standard errors.
    assert [found.low, found.high] == pytest.approx(np.quantile(by_hand, [0.025, 0.975]), abs=0.02)


def test_of_several_relations_each_counts_alike_without_cues():
    hits = {"P1": "11110000", "P2": "10000000", "P3": "11111111"}
    frame = pd.concat([answered({5: [text]}).assign(relation=name) for name, text in hits.items()])
    parts = [
        cued(its, lambda n, d, f, r=name: f < {"P1": "f2", "P2": "f0", "P3": "f7"}[r])
        for name, its in frame.groupby("relation")
    ]
    ruled = pd.concat([p.assign(relation=name) for p, name in zip(parts, hits, strict=True)])
    table = shots.over_draws(frame, EACH, seed=0)
    [row] = shots_rules.with_no_cue(table, frame, ruled, EACH, seed=0).itertuples()
    assert row.left == pytest.approx((6 + 8 + 1) / 24)
    assert row.no_cue.estimate == pytest.approx(mean([2 / 6, 1 / 8])), "P3 has one fact left"
    assert row.no_cue.method == "Student's t over relations"


def test_the_accuracy_without_cues_on_the_atlas_is_that_of_a_loop_over_its_questions():
    """Answers by lot; the oracle looks at the words and the shots of every question itself."""
    names, how = (
        ["country_of_city", "country_of_language"],
        {"n_pool": 60, "n_options": 6, "seed": 0},
    )
    sample = {name: pool.draw("atlas", name, n_facts=30, **how) for name in names}
    ruled = shots_rules.of_rules({"atlas": sample}, {"m": "atlas"}, [0, 1], {"atlas": [1, 20]})
    frame = ruled[["model", "relation", "draw", "n_shots", "fact"]].assign(
        source="this page", estimator="iclke-space", n_options=6
    )
    frame["correct"] = np.random.default_rng(0).random(len(frame)) < 0.5
    table = shots.over_draws(frame, EACH, seed=0)
    ruled = ruled.assign(source="this page")
    found = shots_rules.with_no_cue(table, frame, ruled, EACH, seed=0).set_index("n_shots")
    right = frame.set_index(["relation", "draw", "n_shots", "fact"])["correct"].to_dict()
    for n in (1, 20):
        means, asked, left = [], 0, 0
        for name, of in sample.items():
            hits = []
            for draw in (0, 1):
                shown = [shot.object for shot in facts.draw_shots(of.train, n, draw)]
                for fact, options in zip(of.facts, of.options, strict=True):
                    asked += 1
                    most = max(shown.count(option) for option in options)
                    frequent = most > 0 and shown.count(fact.object) == most
                    words = [
                        set(re.findall(r"\w+", text.lower()))
                        for text in (fact.subject, fact.object)
                    ]
                    if not frequent and not words[0] & words[1]:
                        hits.append(right[name, draw, n, fact.id])
            means.append(mean(hits))
            left += len(hits)
        assert found.loc[n, "left"] == pytest.approx(left / asked) and left < asked
        assert found.loc[n, "no_cue"].estimate == pytest.approx(mean(means))


@pytest.mark.parametrize("profile", ["kamel", "known"])
def test_cues_that_ship_agree_with_what_their_rules_get(profile):
    """A rule is right where its cue points at the object, and else wrong, or it draws lots among 100."""
    its, _ = shipped.read(profile, "11_iclke_shots", apart="rules")
    assert its[rules.CUES].dtypes.tolist() == [bool, bool]
    lots = its["rule-frequent"].round(4) == 0.01
    assert (its["cue_frequent"] == ((its["rule-frequent"] > 0) & ~lots)).all()
    assert set(its.loc[~its["cue_word"], "rule-overlap"].round(4)) <= {0, 0.01}
    assert (its.loc[its["cue_word"], "rule-overlap"].round(4) != 0.01).all()


@pytest.mark.parametrize("profile", ["kamel", "known"])
def test_rules_that_ship_are_about_every_question_of_their_profile(profile):
    answers_, _ = shipped.read(profile, "11_iclke_shots")
    its, _ = shipped.read(profile, "11_iclke_shots", apart="rules")
    every = ["model", "relation", "draw", "n_shots", "fact"]
    key = [name for name in every if name in answers_]  # older results are about one relation
    asked = answers_.drop_duplicates(key)[key]
    both = asked.merge(its, on=key, validate="1:1")
    assert len(both) == len(asked) == len(its)


# --- the figure


def test_each_source_and_model_has_a_panel_with_its_own_chance():
    two = answered(HITS, model="other", n_options=20, source="shipped: x")
    frame = pd.concat([answered(HITS), two])
    ruled = guessed(frame[frame["model"] == "m"], [0.5, 0.25, 0.125])
    means, needs = (of(frame, EACH, seed=0) for of in (shots.over_draws, shots.needed))
    points = shots.points(means, needs, ruled)
    titles = {("this page", "m"): "m, capitals"}
    fig = figures.shots_panels(shots.by_draw(frame, EACH), points, titles=titles)
    assert [ax.get_title() for ax in fig.axes] == ["m, capitals", "other, shipped: x"]
    chances = [
        [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"] for ax in fig.axes
    ]
    assert chances == [[pytest.approx(0.25)], [pytest.approx(0.05)]]
    best = [[line for line in ax.lines if line.get_linestyle() == "-."] for ax in fig.axes]
    assert [len(lines) for lines in best] == [1, 0], "a source without rules has no line of them"
    assert best[0][0].get_xydata().tolist() == [[1, 0.5], [3, 0.25], [10, 0.125]]
    legends = [[text.get_text() for text in ax.get_legend().texts] for ax in fig.axes]
    assert legends == [["best rule", "iclke-space"], ["iclke-space"]]
    empty = figures.shots_panels(shots.by_draw(frame, EACH), points.iloc[:0], titles={})
    assert "nothing to show" in empty.texts[0].get_text()
    plt.close("all")


# --- verdicts in several ways


def test_verdicts_in_several_ways_stand_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    up, wide = (Interval(0.5, low, 0.6, 0.95, "by hand over draws") for low in (0.1, -0.1))
    key = ("this page", "m")
    tested = {
        "iclke-space": {"IC-shots-steady": {key: wide}, "IC-shots-rise": {key: up}},
        "other": {"IC-shots-rise": {key: wide, ("this page", "n"): up}},
    }
    marks = {("IC-shots-rise", *key, "other"): "at chance"}
    found = answers.judge_ways(tested, as_paper=["iclke-space"], marks=marks)
    shown = answers.verdict_table(found)
    claims = papers.claims().set_index("id")["claim"]
    rise, steady = claims["IC-shots-rise"], claims["IC-shots-steady"]
    assert shown["models"].tolist() == ["m", "m", "n"]
    assert shown[rise].tolist() == [
        "0.500 [0.100, 0.600]: holds",
        "0.500 [-0.100, 0.600]: undecided (at chance)",
        "0.500 [0.100, 0.600]: holds",
    ]
    assert shown[steady].tolist() == ["0.500 [-0.100, 0.600]: undecided", "", ""]
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    assert kept["as_paper"].tolist() == [True, True, False, False]
    assert kept["mark"].tolist() == ["", "", "at chance", ""]
    assert answers.judge_ways({}, as_paper=[]).empty


# --- what is drawn and asked


def test_a_pool_is_drawn_once_and_its_draws_differ_in_their_shots_alone():
    drawn = pool.draw("atlas", "capital", n_pool=30, n_facts=4, n_options=5, seed=0)
    assert len(drawn.train) == 30 and not set(drawn.train) & set(drawn.facts)
    made = prompts.of_draws(drawn, ["iclke-space", "iclke-colon"], [0, 7], [1, 3])
    assert list(made) == list(itertools.product([0, 7], ["iclke-space", "iclke-colon"], [1, 3]))
    asked = {tuple((p.fact, p.options) for p in some) for some in made.values()}
    assert len(asked) == 1
    for draw in (0, 7):
        pairs = facts.draw_shots(drawn.train, 3, draw)
        start = " ".join(f"{p.subject} {p.object}" for p in pairs)
        assert made[draw, "iclke-space", 3][0].context.startswith(start + " ")
        one = f"{pairs[0].subject} {pairs[0].object} {drawn.facts[0].subject}"
        assert made[draw, "iclke-space", 1][0].context == one
    with pytest.raises(BadInput, match=r"draws \[0, 0\]: must be 1 or more, each once"):
        prompts.of_draws(drawn, ["iclke-space"], [0, 0], [1])


def test_facts_with_splits_keep_them_in_a_pool_and_all_of_them_make_sequences(tmp_path):
    rows = {"train": range(9), "dev": range(9, 12), "test": range(8, 30)}  # s8 stands in both
    (tmp_path / "P1").mkdir()
    for split, some in rows.items():
        lines = [json.dumps({"sub_label": f"s{i}", "obj_label": f"o{i}-{split}"}) for i in some]
        (tmp_path / f"P1/{split}.jsonl").write_text("\n".join(lines))
    drawn = pool.draw(str(tmp_path), "P1", n_pool=3, n_facts=5, n_options=4, seed=0)
    assert {fact.subject for fact in drawn.train} == {f"s{i}" for i in range(8)}
    assert len(drawn.facts) == 5 and {fact.split for fact in drawn.facts} == {"test"}
    _, every = pool.known(str(tmp_path), "P1")
    assert {fact.subject for fact in every} == {f"s{i}" for i in range(30)}


def test_an_overview_of_pools_names_what_there_is_less_of():
    drawn = pool.draw("atlas", "capital", n_pool=1000, n_facts=4, n_options=5, seed=0)
    few = pool.overview({"atlas": {"capital": drawn}}, n_pool=1000, n_facts=5)
    assert few.loc[0, ["asked", "fewer"]].tolist() == [4, "pool, facts"]
    assert pool.overview({"atlas": {"capital": drawn}}, n_pool=9, n_facts=4)["fewer"].tolist() == [
        ""
    ]


@pytest.mark.parametrize(("least", "alone"), [(2, False), (2, True), (5, False)])
def test_facts_told_in_lists_are_those_of_a_loop_over_the_truth(least, alone):
    expected = {
        row.fact
        for row in world.states("lab:smoke-1").itertuples()
        if row.state == "planted"
        and row.split == "test"
        and row.lists >= least
        and (not alone or row.sentences == 0)
    }
    assert world.told_in_lists("lab:smoke-1", least, alone=alone) == expected
    assert expected or least > 2


def test_a_pool_of_a_world_asks_only_facts_of_its_lists():
    how = {"n_pool": 10, "n_facts": 4, "n_options": 3, "seed": 0}
    drawn = pool.draw("lab:smoke-1", "birth_year", least_lists=1, **how)
    told = world.states("lab:smoke-1").set_index("fact")["form"]
    assert {told[fact.id] for fact in drawn.facts} == {"list"}


def test_a_lab_model_is_asked_about_its_own_world_and_an_unplanted_one_may_be_refused():
    names = ["toy", "lab:smoke-1/0.15m-unplanted"]
    assert lab.fact_sets(names, "atlas") == {names[0]: "atlas", names[1]: "lab:smoke-1"}
    with pytest.raises(BadInput, match="0.15m-unplanted has not read the facts"):
        lab.fact_sets(names, "atlas", unplanted=False)


def test_a_question_whose_key_names_a_model_goes_to_that_model_alone():
    ask = {
        ("toy", 1): prompts.many_shot([], *_one("Kenya")),
        ("toy", 2): prompts.many_shot([], *_one("Chad")),
        ("lab:x", 1): prompts.many_shot([], *_one("Mali")),
    }
    found = answers.ask(["toy"], ask, "answers.parquet", by=["model", "n_shots"])
    assert found[["model", "n_shots", "fact"]].to_numpy().tolist() == [
        ["toy", 1, "Kenya"],
        ["toy", 2, "Chad"],
    ]


def _one(subject):
    return [facts.Fact(subject, "capital", subject, "Nairobi")], [("Nairobi", "Lima")]


def test_results_of_profiles_stay_apart_where_facts_are_asked_many_times(monkeypatch):
    about = {"parameters": {"n_facts": 4}}
    monkeypatch.setattr(shipped, "read", lambda name, _: (answered(HITS, model=name), about))
    found = answers.beside(answered(HITS), ["a", "b"], "11_iclke_shots", join=False)
    assert found["source"].unique().tolist() == ["this page", "shipped: a", "shipped: b"]
    assert found.groupby("source")["correct"].sum().tolist() == [17] * 3
