"""Sizes of model: by pencil, by plain Python over rows, or by scipy; none of our metrics."""

from math import log2

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from lkecore.answers import lab, readers, scaling, shipped
from lkecore.errors import BadInput
from lkecore.facts import world

WORLD = "lab:smoke-1"
SMALL, LARGE = f"{WORLD}/0.15m", f"{WORLD}/0.7m"
ESTIMATORS = ["iclke-space", "template-1"]


@pytest.fixture(scope="module")
def asked():
    samples = lab.samples([SMALL], ["author", "birth_year"], n_shots=1, n_options=20, seed=0)
    return lab.asked_of(samples)


def rows_of(model, hits, tellings, *, form="list", estimator="iclke-space", **more):
    """Answers to planted facts of two relations in turn; ``hits`` says which are right."""
    n = len(hits)
    named = {"model": model, "world": model.partition("/")[0], "estimator": estimator, "form": form}
    return pd.DataFrame(
        named
        | {
            "relation": [("author", "birth_year")[i % 2] for i in range(n)],
            "fact": [f"{form}{i:03}" for i in range(n)],
            "state": "planted",
            "correct": np.array(hits, dtype=bool),
            "tellings": tellings,
            "exposures": tellings,
            "epochs": 1,
            "confidence_gold": 0.5,
        }
        | more
    )


def of_run(*frames):
    return scaling.beside(pd.concat(frames), [])


def test_models_that_cannot_be_compared_are_refused(asked):
    scaling.check([SMALL, LARGE], ESTIMATORS, asked, 16)
    with pytest.raises(BadInput, match="of .'lab:smoke-1', 'lab:smoke-2'.: compare those of one"):
        scaling.check([SMALL, "lab:smoke-2/0.7m"], ESTIMATORS, asked, 16)
    for name in (f"{LARGE}-unplanted", f"{LARGE}-tuned", f"{WORLD}/bert", f"{WORLD}/t5"):
        with pytest.raises(BadInput, match="causal models without a suffix only"):
            scaling.check([SMALL, name], ESTIMATORS, asked, 16)
    with pytest.raises(BadInput, match="needs iclke-space"):
        scaling.check([SMALL], ["template-1"], asked, 16)
    with pytest.raises(BadInput, match="often is 17: no fact is told just so often"):
        scaling.check([SMALL], ESTIMATORS, asked, 17)
    wrongly = asked.assign(
        occurrences=asked["occurrences"].mask(asked["state"] == "mislearned", 17)
    )
    with pytest.raises(BadInput, match="often is 17"):  # told so often, but wrongly
        scaling.check([SMALL], ESTIMATORS, wrongly, 17)


def test_beside_has_other_worlds_base_models_and_the_same_relations(monkeypatch):
    other = [
        rows_of(f"lab:smoke-2/{size}", [1, 0, 1, 0], [16] * 4)
        for size in ("0.15m", "0.7m-unplanted", "0.7m-tuned", "bert")
    ]
    other += [
        rows_of(SMALL, [1, 0], [16] * 2),  # this run's own world
        rows_of("lab:smoke-2/0.7m", [1, 0], [16] * 2, estimator="template-1"),
        rows_of("lab:smoke-2/0.7m", [1, 0], [16] * 2, relation="residence"),
    ]
    frame = pd.concat(other).drop(columns=["tellings", "epochs"])
    monkeypatch.setattr(scaling, "read", lambda name, page: (frame, {}))
    found = scaling.beside(rows_of(LARGE, [1, 0], [4, 4]), ["lab"])
    assert set(zip(found["made_by"], found["kind_of_model"], strict=True)) == {
        ("this page, lab:smoke-1", "0.7m"),
        ("shipped: lab, lab:smoke-2", "0.15m"),
    }
    assert found.loc[found["source"] != "this page", "tellings"].tolist() == [16] * 4
    assert found["relation"].is_monotonic_increasing and len(found) == 6


def test_sizes_stand_by_parameters_and_not_by_name():
    frame = of_run(*(rows_of(f"lab:book-1/{s}", [1, 1], [4, 4]) for s in ("20m", "0.7m", "2m")))
    assert scaling.by_size(frame) == ["0.7m", "2m", "20m"]
    curve = pd.DataFrame(
        {"kind_of_model": ["2m", "0.7m"], "form": ["list", "both"], "text": ["a", "b"]}
    )
    table = scaling.wide(curve, "text", ["0.7m", "2m", "8m"], ["form"])
    assert table.to_dict("list") == {"size": ["0.7m", "2m"], "both": ["b", ""], "list": ["", "a"]}


def test_a_gain_is_counted_fact_by_fact_at_each_dose_and_for_those_told_often():
    tellings = [4] * 4 + [16] * 8 + [64] * 4
    small = [1, 0, 0, 0] + [0] * 8 + [1, 1, 0, 0]
    large = [0, 0, 0, 0] + [1] * 8 + [1, 1, 1, 0]
    frame = of_run(rows_of(LARGE, large, tellings), rows_of(SMALL, small, tellings))
    found = scaling.gains(frame, 16, seed=0).set_index("dose")
    assert found.index.tolist() == ["4", "16", "64", "16 and more"]
    assert set(found["smaller"]) == {"0.15m"} and set(found["larger"]) == {"0.7m"}
    gains = [each.estimate for each in found["gain"]]
    assert gains == pytest.approx([-1 / 4, 1.0, 1 / 4, 9 / 12])
    assert found["larger_only"].tolist() == [0, 8, 1, 9]
    assert found["smaller_only"].tolist() == [1, 0, 0, 0]
    p = [binomtest(k, n, 0.5).pvalue for k, n in ((0, 1), (8, 8), (1, 1), (9, 9))]
    assert found["p"].tolist() == pytest.approx(p)  # one row of each dose: nothing to correct
    assert scaling.finds_more(found).tolist() == [
        "not clear",
        "the larger",
        "not clear",
        "the larger",
    ]
    turned = found.rename(columns={"larger_only": "smaller_only", "smaller_only": "larger_only"})
    assert scaling.finds_more(turned)["16"] == "the smaller"


def test_p_is_corrected_for_the_rows_of_a_dose():
    hits = [0] * 8, [1] * 8
    frames = [
        rows_of(model, each, [16] * 8, form=form)
        for form in ("list", "both")
        for model, each in zip((SMALL, LARGE), hits, strict=True)
    ]
    found = scaling.gains(of_run(*frames), 16, seed=0)
    p = binomtest(8, 8, 0.5).pvalue
    assert found["p"].tolist() == pytest.approx([2 * p] * 4)


def test_one_size_gains_nothing():
    found = scaling.gains(of_run(rows_of(SMALL, [1, 0], [16, 16])), 16, seed=0)
    assert found.empty and scaling.finds_more(found).empty


def test_bits_are_those_of_the_objects_for_each_parameter():
    frame = rows_of(SMALL, [1, 0, 1, 1], [16] * 4, parameters=1000)
    never = rows_of(SMALL, [1, 1], [0, 0], form="none", parameters=1000).assign(state="never")
    written = rows_of(SMALL, [1, 1], [16] * 2, estimator="template-1", parameters=1000)
    [row] = scaling.filled(of_run(frame, never, written)).itertuples()
    facts = world.states(WORLD)
    n = facts.groupby("relation")["object"].nunique()
    told = sum(log2(n[name]) for name in facts.loc[facts["told"] != "", "relation"])
    author, birth = log2(n["author"]), log2(n["birth_year"])
    assert (row.size, row.parameters) == ("0.15m", 1000)
    assert row.all_told == pytest.approx(told / 1000)
    assert row.asked == pytest.approx((2 * author + 2 * birth) / 1000)
    assert row.found == pytest.approx((2 * author + 1 * birth) / 1000)


def test_each_world_has_its_accuracy_and_the_tellings_that_it_needs(monkeypatch):
    tellings = [4] * 4 + [16] * 4
    other = rows_of("lab:smoke-2/0.15m", [0] * 4 + [1, 0, 0, 0], tellings)
    monkeypatch.setattr(scaling, "read", lambda name, page: (other, {}))
    sentence = rows_of(SMALL, [1] * 8, tellings, form="sentence")
    frame = scaling.beside(
        pd.concat([rows_of(SMALL, [0] * 4 + [1] * 4, tellings), sentence]), ["x"]
    )
    curve = readers.by_tellings(frame, ["list", "sentence"])
    found = scaling.of_worlds(frame, curve, 16).set_index("made_by")
    mine, theirs = found.loc["this page, lab:smoke-1"], found.loc["shipped: x, lab:smoke-2"]
    assert (mine["facts"], mine["accuracy"].estimate, mine["most"]) == (4, 1.0, 16)
    assert mine["needed"] == pytest.approx(8)  # half-way from 0 to 1, in doublings
    assert theirs["accuracy"].estimate == 0.25 and theirs["needed"] == np.inf
    assert theirs["text"].startswith("> 16") and len(found) == 2


def test_claims_take_the_doses_and_the_ends_of_the_sizes():
    tellings = [2] * 2 + [4] * 2 + [16] * 4 + [64] * 4
    hits = {
        "lab:book-1/0.15m": [0, 0, 1, 0] + [0, 1, 0, 0] + [1] * 4,
        "lab:book-1/0.7m": [1, 0, 1, 0] + [0] * 4 + [1] * 4,
        "lab:book-1/2m": [1, 1, 1, 1] + [1, 1, 1, 0] + [1] * 4,
    }
    frames = [rows_of(model, each, tellings) for model, each in hits.items()]
    other = rows_of("lab:book-1/2m", [0] * 12, tellings, form="sentence")
    found = scaling.claimed(of_run(*frames, other), seed=0)
    here = "this page, lab:book-1"
    values = {key: {of: each.estimate for of, each in d.items()} for key, d in found.items()}
    assert values["LAB-exposures-rise"] == {
        (here, "0.15m"): pytest.approx(5 / 8 - 1 / 4),
        (here, "0.7m"): pytest.approx(4 / 8 - 2 / 4),
        (here, "2m"): pytest.approx(7 / 8 - 4 / 4),
    }
    assert values["LAB-size-room"] == {(here, "0.15m"): 1 / 4}
    assert values["LAB-size-rises"] == {(here, "2m minus 0.15m"): pytest.approx(2 / 4)}
    assert found["LAB-exposures-rise"][here, "2m"].method == "Newcombe"
    two = scaling.claimed(of_run(*frames[:2]), seed=0)["LAB-size-rises"]
    assert [key[1] for key in two] == ["0.7m minus 0.15m"]
    alone = scaling.claimed(of_run(frames[0]), seed=0)
    assert set(alone) == {"LAB-exposures-rise", "LAB-size-room"}


def test_sentences_are_about_this_run_and_say_what_is_not_there():
    tellings = [4] * 4 + [16] * 4
    small = rows_of(SMALL, [0] * 4 + [1, 0, 0, 0], tellings, parameters=1000)
    large = rows_of(LARGE, [0] * 4 + [1] * 4, tellings, parameters=2000)
    others = [
        rows_of(model, [0, 1] * 4, tellings, parameters=1000, **way)
        for model in (SMALL, LARGE)
        for way in ({"form": "both"}, {"estimator": "template-1"})
    ]
    for frames in ([small, large, *others], [small]):
        every = of_run(*frames)
        curve = readers.by_tellings(every, ["list"])
        tables = scaling.of_worlds(every, curve, 16), scaling.gains(every, 16, seed=0)
        said = scaling.sentences(*tables, scaling.filled(every), 16)
        assert "0.15m > 16" in said["needed"]
        assert said["worlds"] == "No other world stands beside this one."
        if len(frames) > 1:
            assert "0.7m 8.0" in said["needed"] and said["size"].count("from 0.15m to 0.7m") == 1
            assert "0.75 [" in said["size"]
            assert said["size"].endswith("to 0.7m (not clear by McNemar's test).")
            sure = tables[0], tables[1].assign(p=0.01)
            assert "not clear" not in scaling.sentences(*sure, scaling.filled(every), 16)["size"]
        else:
            assert said["size"].startswith("One size was asked")


def test_the_sentence_on_worlds_has_the_ends_of_each_size(monkeypatch):
    other = rows_of("lab:smoke-2/0.15m", [0] * 4 + [1, 0, 0, 0], [4] * 4 + [16] * 4)
    monkeypatch.setattr(scaling, "read", lambda name, page: (other, {}))
    mine = rows_of(SMALL, [0] * 4 + [1, 1, 1, 0], [4] * 4 + [16] * 4, parameters=1000)
    every = scaling.beside(mine, ["x"])
    tables = scaling.of_worlds(every, readers.by_tellings(every, ["list"]), 16)
    said = scaling.sentences(tables, scaling.gains(every, 16, seed=0), scaling.filled(every), 16)
    assert said["worlds"] == "Over 2 worlds it is, by size, 0.15m 0.25 to 0.75 of these facts."


def test_the_page_reads_what_ships():
    ours = rows_of(SMALL, [1, 0], [4, 4])
    found = scaling.beside(ours, ["lab"])
    shipped_there = set(found["made_by"]) - {"this page, lab:smoke-1"}
    frame, _ = shipped.read("lab", scaling.PAGE)
    assert len(shipped_there) == frame["world"].nunique() == 3
