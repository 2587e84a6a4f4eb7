"""Tables of what was told: by pencil, by brute force over rows, or by scipy; none of our metrics."""

from itertools import product
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from lkecore.answers import told
from lkecore.intervals import Interval

MODEL = "lab:smoke-1/0.15m"


def rows_of(estimator, hits, *, form="list", model=MODEL, confidence=None, start=0, **more):
    """Answers to facts of two relations in turn; ``hits`` says which are right."""
    n = len(hits)
    return pd.DataFrame(
        {
            "model": model,
            "world": "lab:smoke-1",
            "estimator": estimator,
            "relation": [("r", "s")[i % 2] for i in range(n)],
            "fact": [f"f{start + i:03}" for i in range(n)],
            "form": form,
            "correct": np.array(hits, dtype=bool),
            "confidence_gold": confidence if confidence is not None else np.linspace(0.1, 0.9, n),
            **more,
        }
    )


def holm(p):
    """Holm by its definition, in plain Python."""
    order, found, least = sorted(range(len(p)), key=p.__getitem__), [0.0] * len(p), 0.0
    for place, i in enumerate(order):
        least = max(least, min(1.0, (len(p) - place) * p[i]))
        found[i] = least
    return found


def pairs_above(a, b):
    return np.mean([(x > y) + (x == y) / 2 for x, y in product(a, b)])


def test_auroc_counts_pairs_and_takes_off_what_it_is_told_to():
    told_so, control = [0.9, 0.5, 0.2, 0.4], [0.5, 0.1, 0.3, 0.3]
    pairs = rows_of("e", [1] * 4, confidence=told_so, control=control)
    [found] = told.auroc(pairs, ["model"], seed=0, n_resamples=200).itertuples()
    assert found.auroc.estimate == pytest.approx(pairs_above(told_so, control))
    assert found.pairs == 4 and 0 <= found.auroc.low <= found.auroc.high <= 1
    [less] = told.auroc(pairs, ["model"], seed=0, n_resamples=200, minus=0.5).itertuples()
    for end in ("estimate", "low", "high"):
        assert getattr(less.auroc, end) == pytest.approx(getattr(found.auroc, end) - 0.5)


def test_aurocs_has_numbers_of_exposures_and_their_two_groups():
    pairs = rows_of("e", [1] * 8, exposures=[4] * 4 + [16] * 2 + [32] * 2)
    pairs["times"] = np.where(pairs["exposures"] >= 16, "16 and more", "under 16")
    pairs = pairs.assign(control=0.5, told=pairs["fact"])
    found = told.aurocs(pairs, seed=0)
    sizes = dict(zip(found["exposures"], found["pairs"], strict=True))
    assert sizes == {4: 4, 16: 2, 32: 2, "under 16": 4, "16 and more": 4}


def test_a_control_stands_once_in_a_group():
    pairs = rows_of("e", [1] * 4, exposures=16, times="16 and more", control=0.5)
    pairs["told"] = ["x", "y", "x", "z"]  # the first and the third are of one relation and object
    assert told.aurocs(pairs, seed=0)["pairs"].tolist() == [3, 3]


def test_doses_are_of_planted_and_never_told_facts_with_wilsons_interval():
    frame = rows_of("e", [1, 1, 1, 0, 0, 1], exposures=[4, 4, 4, 4, 0, 64])
    frame["state"] = ["planted"] * 4 + ["never", "mislearned"]
    frame.loc[4, "form"] = "none"
    found = told.by_exposures(frame).set_index("exposures")
    assert found.index.tolist() == [4, 0] and found["facts"].tolist() == [4, 1]
    assert found.loc[4, "accuracy"] == 0.75
    z, p, n = 1.959963984540054, 0.75, 4
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    assert found.loc[4, ["low", "high"]].tolist() == pytest.approx([low, high])


def test_above_luck_counts_each_fact_with_its_mean_over_models_and_each_relation_alike():
    a = rows_of("e", [1, 0, 0, 0, 0], luck=0.1)  # r: f0 f2 f4, s: f1 f3
    b = rows_of("e", [1, 1, 0, 0, 0], luck=0.3, model="lab:smoke-1/0.7m")
    found = told.above_luck(pd.concat([a, b]), ["estimator"], seed=0)
    by_pencil = ((1 - 0.2) + (0 - 0.2) + (0 - 0.2)) / 3, ((0.5 - 0.2) + (0 - 0.2)) / 2
    assert found["above"].item().estimate == pytest.approx(np.mean(by_pencil))


def test_never_told_is_scipys_two_sided_test_and_holms_correction():
    frames = [rows_of("e", [1] * k + [0] * (10 - k), luck=0.2) for k in (0, 2, 7)]
    frames = [frame.assign(model=str(i)) for i, frame in enumerate(frames)]
    found = told.never_told(pd.concat(frames), ["model"])
    p = [binomtest(k, 10, 0.2).pvalue for k in (0, 2, 7)]
    assert found["p"].tolist() == pytest.approx(p) and found["right"].tolist() == [0, 2, 7]
    assert found["p (Holm)"].tolist() == pytest.approx(holm(p))


def test_several_wordings_minus_one_is_newcombes():
    hits = [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32  # the example of Newcombe's paper
    frame = rows_of("e", hits, wording=["several"] * 70 + ["one"] * 80)
    assert told.several_minus_one(frame).text(4) == "0.2000 [0.0524, 0.3339]"
    assert told.several_minus_one(frame[frame["wording"] == "one"]) is None


def test_claims_on_forms_take_the_right_sides():
    hits = {
        ("iclke-space", "list"): [1, 1, 1, 1],
        ("template-1", "list"): [1, 0, 0, 0],
        ("template-5", "list"): [0, 0, 0, 0],
        ("iclke-space", "sentence"): [0, 0, 0, 0],
        ("template-1", "sentence"): [1, 1, 1, 0],
        ("template-5", "sentence"): [1, 1, 0, 0],
    }
    frames = [
        rows_of(e, each, form=form, start=100 * (form == "list"), wording=["one", "several"] * 2)
        for (e, form), each in hits.items()
    ]
    found = told.claimed_of_forms(pd.concat(frames), seed=0)
    estimates = {key: {of: i.estimate for of, i in each.items()} for key, each in found.items()}
    assert estimates == {
        "LAB-form-list": {"iclke-space minus template-1": 0.75},
        "LAB-form-sentence": {"template-1 minus iclke-space": 0.75},
        "LAB-held-out": {"template-1 minus template-5": 0.25},
        "LAB-several-wordings": {"template-5": 0.0},
    }
    assert told.claimed_of_forms(frames[0], seed=0) == {}


def test_facts_told_wrongly_repeat_or_are_true_and_writing_has_no_confidence():
    wrong = rows_of("e", [0, 0, 0, 1], picked_told=[True, True, False, False])
    written = rows_of("written-e", [0] * 4, picked_told=[True] * 4)
    sure = wrong.assign(confidence_told=[0.8, 0.6, 0.4, 0.2], control=0.1)
    found = told.mislearned(pd.concat([wrong, written]), sure, seed=0).set_index("estimator")
    assert (found.loc["e", "told"].estimate, found.loc["e", "true"].estimate) == (0.5, 0.25)
    assert found.loc["e", "in_told"].estimate == pytest.approx(0.5)
    assert found.loc["e", "control"].estimate == pytest.approx(0.1)
    assert found.loc["written-e", ["in_told", "in_true", "control"]].tolist() == [None] * 3
    [more] = told.repeats_more(wrong, ["estimator"], seed=0)["more"]
    assert more.estimate == pytest.approx(0.25)
    assert told.repeats_more(wrong.head(0), ["estimator"], seed=0).empty


def test_ranking_and_writing_are_counted_fact_by_fact():
    ranked = rows_of("e", [1, 1, 1, 1, 0, 0])
    wrote = ["x", "", "x", "", "x", ""]
    written = rows_of(
        "written-e", [1, 0, 1, 0, 1, 0], wrote=wrote, anywhere=[True] * 3 + [False] * 3
    )
    [row] = told.ranked_and_written(pd.concat([ranked, written]), ["e"]).itertuples()
    assert (row.both, row.only_ranked, row.only_written, row.neither) == (2, 2, 1, 1)
    assert row.written_of_ranked.estimate == 0.5 and row.an_object == row.anywhere == 0.5
    assert row.p == pytest.approx(binomtest(1, 3, 0.5).pvalue)
    nothing = pd.concat([ranked.assign(correct=False), written])
    assert told.ranked_and_written(nothing, ["e"])["written_of_ranked"].item() is None


def test_several_questions_are_held_against_one():
    names = {"eiclke": [1, 1, 1, 0], "one": [1, 0, 0, 0], "third": [0, 0, 0, 0]}
    frame = pd.concat(rows_of(name, hits) for name, hits in names.items())
    never = pd.concat(rows_of(name, [0] * 4, form="none", start=50) for name in names)
    pairs = frame.assign(control=0.5)
    found = told.several_and_one(pd.concat([frame, never]), pairs, "eiclke", "one", seed=0)
    row, control = found.to_dict("records")
    assert [row[name] for name in names] == [0.75, 0.25, 0.0] and row["facts"] == 4
    assert row["gain"].estimate == 0.5 and row["p"] == min(1, 2 * binomtest(2, 2, 0.5).pvalue)
    above = pairs_above(np.linspace(0.1, 0.9, 4), [0.5] * 4)
    assert row["auroc_one"].estimate == pytest.approx(above)
    assert control["form"] == "none" and control["auroc_several"] is None


# --- sentences


def span(estimate):
    return Interval(estimate, estimate - 0.1, estimate + 0.1, 0.95, "pencil")


def said(*, misled_model="m", tuned=(), written=((0.5, "list"), (None, "sentence"))):
    rows = [("m", "p", form, share and span(share)) for share, form in written]
    rows += [("n", "p", "list", span(0.9)), ("m", "q", "list", span(0.8))]
    of_written = pd.DataFrame(rows, columns=["model", "prompt", "form", "written_of_ranked"])
    misled = pd.DataFrame(
        [(misled_model, "e", span(0.6), span(0.2)), (misled_model, "f", span(0.3), span(0.7))],
        columns=["model", "estimator", "told", "true"],
    )
    several = pd.DataFrame(
        [("m", "none", span(0.4)), ("m", "list", span(-0.3)), ("n", "list", span(0.1))],
        columns=["model", "form", "gain"],
    )
    of_tuned = pd.DataFrame(list(tuned), columns=["tuned", "estimator", "change"])
    tables = of_written, misled, several, of_tuned
    return told.sentences(*tables, model="m", prompt="p", asked="e")


def test_the_sentences_are_about_the_reference_its_prompt_and_its_estimator():
    rows = [("t", "f", span(0.3)), ("t", "e", span(-0.5)), ("u", "e", span(0.5))]
    assert said(tuned=rows) == {
        "writes": "Of the facts told often that m ranks rightly after p, it writes "
        "0.50 [0.40, 0.60] (list).",
        "wrong": "Of facts told wrongly it repeats 0.60 [0.50, 0.70] and has 0.20 [0.10, 0.30] right.",
        "long": "Several questions in one prompt change what is found of the facts from lists by "
        "-0.30 [-0.40, -0.20].",
        "tuning": "Tuning on other things changes what IC-LKE finds of the facts told often by "
        "-0.50 [-0.60, -0.40].",
    }


def test_the_sentences_say_where_there_is_nothing_to_say():
    found = said(misled_model="other", written=[(None, "list")])
    assert found["wrong"] == "No model of this run was told anything wrongly."
    assert found["tuning"] == "No tuned model stands beside its base here."
    assert found["writes"].endswith("it writes nothing, since it ranks none so.")
