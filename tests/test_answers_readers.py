"""Three kinds of reader: by pencil, by brute force over rows, or by scipy; none of our metrics."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from lkecore.answers import lab, readers, shipped
from lkecore.errors import BadInput
from lkecore.facts import world
from lkecore.intervals import Interval
from lkecore.models import lab as lab_models

WORLD = "lab:smoke-1"
MODELS = [f"{WORLD}/0.15m", f"{WORLD}/bert", f"{WORLD}/t5"]
CAUSAL, MASKED = "causal (0.15m)", "masked (bert)"


@pytest.fixture(scope="module")
def samples():
    return lab.samples(MODELS, ["author", "birth_year"], n_shots=1, n_options=20, seed=0)


def test_models_and_estimators_that_do_not_fit_are_refused():
    readers.check(MODELS, ["template-1", "template-5"])
    with pytest.raises(BadInput, match="0.15m-unplanted: models without a suffix only"):
        readers.check([*MODELS, f"{WORLD}/0.15m-unplanted"], ["template-1"])
    for wrong in ([], ["iclke-space"], ["template-1", "hgp-1"], ["template-7"]):
        with pytest.raises(BadInput, match="estimators .*: of .*template-1"):
            readers.check(MODELS, wrong)


def test_only_readers_that_see_behind_the_blank_are_shown_the_full_stop(samples):
    made = readers.questions(samples, ["template-1", "template-5"])
    keys = product([WORLD], readers.READERS, ["template-1", "template-5"], samples[WORLD])
    assert set(made) == set(keys)
    for (spec, reader, estimator, name), some in made.items():
        words = samples[spec][name].relation.templates[int(estimator[-1]) - 1]
        for prompt, fact in zip(some, samples[spec][name].facts, strict=True):
            written = words.replace("[X]", fact.subject).replace("[Y]", fact.object)
            text = prompt.context + prompt.continuations[prompt.gold] + prompt.after
            assert text == written + "." * (reader != "causal")


def test_answers_say_how_many_names_are_as_long_and_how_often_the_text_tells(monkeypatch):
    truth = world.states(WORLD).query("relation == 'author' and split == 'test'").head(2)
    truth = truth.assign(epochs=3, exposures=truth["occurrences"] * 3)
    record = {"world": WORLD, "epochs": 3, "parameters": 7}
    monkeypatch.setattr(lab_models, "record", lambda folder: record)
    monkeypatch.setattr(lab, "_told", lambda folder: truth)
    names = [*truth["object"], "x", "y", "z"]
    lengths = [1, 2, 2, 2, 5]
    rows = [
        (fact, name, name == gold, logprob, n)
        for fact, gold, logprobs in zip(
            truth["fact"], truth["object"], [(0, -1, -1, -1, -1), (-1, -2, -3, -4, 0)], strict=True
        )
        for name, logprob, n in zip(names, logprobs, lengths, strict=True)
    ]
    scores = pd.DataFrame(rows, columns=["fact", "option", "gold", "logprob", "n_tokens"])
    scores = scores.assign(subject="s", relation="author", logprob=scores["logprob"].astype(float))
    # A told object must be an option.
    monkeypatch.setattr(lab, "_told", lambda folder: truth.assign(told=truth["object"]))
    found = readers.beside_tellings(SimpleNamespace(path=None), scores)
    assert found["alike"].tolist() == [1 / 5, 1 / 5]  # on top: the first name, then the last one
    assert found["alike_true"].tolist() == [1 / 5, 3 / 5]
    assert found["tellings"].tolist() == truth["occurrences"].tolist()
    assert set(found["epochs"]) == {3} and set(found["parameters"]) == {7}


def frame_of(**more):
    """Answers of two kinds of model to eight told, four never-told facts of two relations, in lists."""
    rows = []
    for reader, name, epochs, hits, alike in (
        ("causal", "0.15m", 1, "11110000" + "1000", 0.5),
        ("masked", "bert", 3, "10100000" + "0000", 0.25),
    ):
        for n, hit in enumerate(hits):
            is_told, of_object = n < 8, f"o{n % 4}"
            rows.append(
                {
                    "model": f"{WORLD}/{name}",
                    "world": WORLD,
                    "reader": reader,
                    "estimator": "template-1",
                    "relation": ("r", "s")[n % 2],
                    "fact": f"f{n:02}",
                    "object": of_object,
                    "told": of_object if is_told else "",
                    "state": "planted" if is_told else "never",
                    "form": "list" if is_told else "none",
                    "exposures": (16 if n < 4 else 2) * epochs * is_told,
                    "tellings": (16 if n < 4 else 2) * is_told,
                    "epochs": epochs,
                    "parameters": 10 * epochs,
                    "correct": hit == "1",
                    "confidence_gold": (0.1 + n / 20) if reader == "causal" else 0.3,
                    "confidence_told": (0.1 + n / 20) if is_told else np.nan,
                    "picked_told": hit == "1" and is_told,
                    "alike": alike,
                    "alike_true": 0.5,
                }
            )
    return pd.DataFrame(rows).assign(**more)


@pytest.fixture
def every():
    return readers.beside(frame_of(), [], n_options=4)


def test_shipped_runs_stand_below_with_their_own_luck(monkeypatch):
    about = {"parameters": {"n_options": 50}}
    monkeypatch.setattr(readers, "read", lambda name, page: (frame_of(world="lab:smoke-2"), about))
    found = readers.beside(frame_of(), ["kinds"], n_options=4)
    assert found["made_by"].unique().tolist() == [
        "this page, lab:smoke-1", "shipped: kinds, lab:smoke-2",
    ]  # fmt: skip
    assert found.groupby("source")["luck"].unique().map(list).to_dict() == {
        "this page": [1 / 4], "shipped: kinds": [1 / 50],
    }  # fmt: skip
    assert set(found["kind_of_model"]) == {CAUSAL, MASKED}
    assert readers.beside(frame_of(reader="seq2seq"), [], n_options=4)["kind_of_model"][0] == (
        "encoder-decoder (0.15m)"
    )


def test_the_longer_runs_of_the_page_are_there_and_hold_what_the_page_reads():
    frame, _ = shipped.read("kinds", readers.PAGE)
    assert set(frame_of()) - {"confidence_told", "picked_told"} <= set(frame)


def test_who_has_read_what(every):
    found = readers.about(every).set_index("kind_of_model")
    assert found["parameters"].to_dict() == {CAUSAL: 10, MASKED: 30}
    assert found["exposures_a_telling"].to_dict() == {CAUSAL: 1, MASKED: 3}
    assert found["to_be_said"].to_dict() == pytest.approx({CAUSAL: 1, MASKED: 3 * 0.6})


def test_the_curve_has_each_told_fact_once_and_the_never_told_ones_in_every_form(every):
    curve = readers.by_tellings(every, ["list", "both"])
    found = {
        (row.form, row.kind_of_model, row.tellings): (
            row.exposures, row.facts, row.accuracy.estimate,
        )
        for row in curve.itertuples()
    }  # fmt: skip
    assert found == {
        ("list", CAUSAL, 0): (0, 4, 1 / 4), ("both", CAUSAL, 0): (0, 4, 1 / 4),
        ("list", CAUSAL, 2): (2, 4, 0.0), ("list", CAUSAL, 16): (16, 4, 1.0),
        ("list", MASKED, 0): (0, 4, 0.0), ("both", MASKED, 0): (0, 4, 0.0),
        ("list", MASKED, 2): (6, 4, 0.0), ("list", MASKED, 16): (48, 4, 1 / 2),
    }  # fmt: skip


def test_tellings_needed_are_read_off_the_curve_and_its_bounds():
    shares = {2: (0.25, 0.125, 0.5), 8: (0.75, 0.25, 0.875), 32: (0.75, 0.375, 1.0)}
    curve = pd.DataFrame(
        [("m", "e", "list", "k", n, Interval(*x, 0.95, "by hand")) for n, x in shares.items()],
        columns=["made_by", "estimator", "form", "kind_of_model", "tellings", "accuracy"],
    )
    never = curve.head(1).assign(tellings=0)
    [row] = readers.tellings_needed(pd.concat([curve[::-1], never])).itertuples()
    # Half-way from 2 to 8 in doublings; the upper ends reach one half at once, the lower ones never.
    assert (row.needed, row.low, row.high) == (pytest.approx(4.0), 2.0, np.inf)
    assert row.text == "4.0 [≤ 2, > 32]"
    [more] = readers.tellings_needed(curve, share=0.75).itertuples()
    assert (more.needed, more.low, more.high) == (8.0, pytest.approx(2 ** (1 + 2 * 2 / 3)), np.inf)


def test_never_told_facts_are_tested_against_luck_and_their_names_against_the_true_lengths(every):
    found = readers.never_told(every, seed=0).set_index("kind_of_model")
    assert found["right"].to_dict() == {CAUSAL: 1, MASKED: 0} and set(found["asked"]) == {4}
    p = [binomtest(1, 4, 1 / 4).pvalue, binomtest(0, 4, 1 / 4).pvalue]
    assert found["p"].tolist() == pytest.approx(p)
    assert found["alike"].to_dict() == {CAUSAL: 0.5, MASKED: 0.25}
    assert [found["rarer"][kind].estimate for kind in (CAUSAL, MASKED)] == [0.0, 0.25]


@pytest.fixture
def fair(monkeypatch):
    """All subjects of never-told facts are named by the text."""
    monkeypatch.setattr(
        readers, "planted_pairs", lambda part: lab.planted_pairs(part, strangers=True)
    )


def test_pairs_are_of_facts_told_often_and_use_each_control_once(every, fair):
    pairs = readers.pairs_of(every, 16, seed=0)
    assert len(pairs) == 8 and set(pairs["tellings"]) == {16}
    never = every[every["state"] == "never"].set_index(["kind_of_model", "object"])
    for row in pairs.itertuples():
        assert row.control == never.loc[(row.kind_of_model, row.told), "confidence_gold"]
    assert pairs.sort_values(["kind_of_model", "relation", "fact"]).index.tolist() == [*range(8)]
    found = readers.aurocs(pairs, seed=0).set_index("kind_of_model")
    assert found["auroc"][CAUSAL].estimate == 0.0  # controls come last here, and are surer
    assert found["auroc"][MASKED].estimate == 0.5 and set(found["pairs"]) == {4}


def test_one_kind_minus_the_other_on_the_same_facts(every, fair):
    pairs = readers.pairs_of(every, 16, seed=0)
    [row] = readers.one_against_other(every, pairs, 16, seed=0).itertuples()
    assert (row.first, row.second, row.facts) == (CAUSAL, MASKED, 4)
    assert row.accuracy.estimate == pytest.approx(4 / 4 - 2 / 4)
    assert (row.only_first, row.only_second) == (2, 0)
    assert row.p == pytest.approx(binomtest(2, 2, 0.5).pvalue)
    assert row.auroc.estimate == pytest.approx(0.0 - 0.5)


def test_p_values_are_corrected_inside_what_made_them(every, fair):
    other = every.assign(made_by="shipped: x, w", source="shipped: x")
    both = pd.concat([every, every.assign(estimator="template-5"), other])
    pairs = readers.pairs_of(both, 16, seed=0)
    found = readers.one_against_other(both, pairs, 16, seed=0)
    alone = binomtest(2, 2, 0.5).pvalue
    expected = {"this page, lab:smoke-1": min(1, 2 * alone), "shipped: x, w": alone}
    assert found.groupby("made_by")["p"].first().to_dict() == pytest.approx(expected)


def test_wrong_tellings_are_counted_by_kind(every, fair):
    wrong = every["fact"].isin(["f00", "f01", "f02", "f03"])
    some = every.assign(state=every["state"].mask(wrong, "mislearned"))
    some.loc[wrong, "correct"] = False
    found = readers.mislearned(some, seed=0).set_index("kind_of_model")
    assert found["facts"].to_dict() == {CAUSAL: 4, MASKED: 4}
    assert [found["told"][kind].estimate for kind in (CAUSAL, MASKED)] == [1.0, 0.5]
    assert [found["true"][kind].estimate for kind in (CAUSAL, MASKED)] == [0.0, 0.0]


def test_a_wide_table_has_a_column_for_each_form(every):
    curve = readers.by_tellings(every, ["list", "both"])
    never = curve[curve["tellings"] == 0].assign(text="x")
    found = readers.wide(never[never["form"].eq("both") | never["kind_of_model"].eq(CAUSAL)], "text",
                         ["list", "both"])  # fmt: skip
    assert found.columns.tolist() == ["made_by", "estimator", "kind_of_model", "list", "both"]
    assert found[["list", "both"]].to_numpy().tolist() == [["x", "x"], ["", "x"]]


def test_what_came_out_is_said_of_this_run(every, fair):
    other = every.assign(made_by="shipped: x, w", source="shipped: x", correct=False)
    both = pd.concat([other, every])
    curve = readers.by_tellings(both, ["list"])
    never = readers.never_told(both, seed=0)
    said = readers.sentences(curve, never, readers.mislearned(both, seed=0), form="list", often=16)
    assert (
        "tells 16 times (list; this page, lab:smoke-1)" in said["found"]
        and f"{CAUSAL} 1.00 [" in said["found"]
    )
    assert f"{MASKED} 0.50 [" in said["found"]
    assert "4 of 4 tests" in said["nothing"] and "nothing wrongly" in said["wrong"]
    alone = curve[curve["made_by"].str.startswith("shipped") | curve["kind_of_model"].eq(CAUSAL)]
    longer = readers.sentences(
        alone, never, readers.mislearned(both, seed=0), form="list", often=16
    )
    assert (
        f"(list; shipped: x, w), asked by template-1, the share that is found: {CAUSAL} 0.00"
        in (longer["found"])
    )
    never["p (Holm)"] = [0.04, 0.06, 0.5, 0.01]
    wrong = pd.DataFrame(
        [("this page, lab:smoke-1", CAUSAL, "template-1", Interval(0.7, 0.6, 0.8, 0.95, ""))],
        columns=["made_by", "kind_of_model", "estimator", "told"],
    )
    said = readers.sentences(curve, never, wrong, form="list", often=16)
    assert "2 of 4 tests" in said["nothing"]
    assert (
        said["wrong"]
        == f"What the text tells wrongly is repeated: {CAUSAL} 0.70 [0.60, 0.80] of these facts."
    )
