"""What tuning changed: counts by pencil, p values by scipy, a world's facts by plain loops."""

import csv
import re
from importlib import import_module
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest

from lkecore import answers, papers
from lkecore.answers import overlap, tuned
from lkecore.errors import BadInput
from lkecore.facts import draw, world
from lkecore.facts.sample import draw_facts
from lkecore.intervals import Interval
from lkecore.models import check_tuned
from lkecore.prompts import slots, slots_of_sample

ask = import_module("lkecore.answers.door")  # the room has a function of the same name

TABLES = Path(papers.__file__).parent.parent / "data" / "papers"
PAIRS = [("b", "t")]
# Right or wrong, fact by fact: of r base 3 of 4 and tuned 1 of 4, of s 2 of 2 and 1 of 2.
RIGHT = {("r", "b"): "1110", ("r", "t"): "0010", ("s", "b"): "11", ("s", "t"): "10"}


def frame(right=RIGHT, **more):
    rows = [
        (model, relation, f"{relation}{i}", sign == "1", 0.1 * i)
        for (relation, model), signs in right.items()
        for i, sign in enumerate(signs)
    ]
    columns = ["model", "relation", "fact", "correct", "confidence_gold"]
    return pd.DataFrame(rows, columns=columns).assign(**{"n_options": 4, "estimator": "e"} | more)


def test_changes_by_pencil():
    [row] = tuned.changes(frame(), PAIRS, by=["estimator"], seed=0).to_dict("records")
    assert (row["estimator"], row["base"], row["tuned"], row["facts"]) == ("e", "b", "t", 6)
    assert row["accuracy_base"].estimate == pytest.approx((3 / 4 + 1) / 2)
    assert row["accuracy_tuned"].estimate == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert row["over_relations"].estimate == pytest.approx((-2 / 4 - 1 / 2) / 2)
    assert row["over_facts"].estimate == pytest.approx(-1 / 2)
    only_b, only_t = 3, 0  # r: "1110" to "0010"; s: "11" to "10"
    assert (row["only_base"], row["only_tuned"]) == (only_b, only_t)
    assert row["p"] == pytest.approx(binomtest(only_t, only_b + only_t).pvalue)


def test_accuracies_of_a_pair_are_on_its_common_facts():
    more = pd.concat([frame(), frame({("r", "b"): "00000000"}).iloc[4:]])
    [row] = tuned.changes(more, [*PAIRS, ("b", "absent")], seed=0).to_dict("records")
    assert row["facts"] == 6 and row["accuracy_base"].estimate == pytest.approx(7 / 8)


def test_halves_have_all_bases_first():
    changed = tuned.changes(frame(), PAIRS, by=["estimator"], seed=0)
    found = tuned.halves(changed.assign(tuned="lab:x/t"))
    assert found[["name", "which"]].to_numpy().tolist() == [["t, e", "base"], ["t, e", "tuned"]]
    interval = changed["accuracy_tuned"][0]
    assert found.iloc[1, 2:].tolist() == [interval.estimate, interval.low, interval.high]
    assert found["accuracy"][0] == pytest.approx(7 / 8)


def test_each_relation_by_scipy():
    right = {
        ("r", "b"): "1" * 9 + "0",
        ("r", "t"): "0" * 9 + "0",
        ("s", "b"): "1100",
        ("s", "t"): "1010",
    }
    found = tuned.by_relation(frame(right), PAIRS)
    assert found["relation"].tolist() == ["r", "r", "s", "s"]
    assert found["which"].tolist() == ["base", "tuned"] * 2
    assert [i.estimate for i in found["accuracy"]] == [0.9, 0, 0.5, 0.5]
    wilson = binomtest(9, 10).proportion_ci(method="wilson")
    assert found["accuracy"][0].low == pytest.approx(wilson.low)
    p = [binomtest(0, 9).pvalue, 1.0]
    assert found["p"].tolist() == pytest.approx([p[0], p[0], 1, 1])
    assert found["p_holm"].tolist() == pytest.approx([2 * p[0], 2 * p[0], 1, 1])
    assert not len(tuned.by_relation(frame(right), []))


@pytest.fixture
def of_world():
    """Answers about a relation of a world: the base knows what was told, the tuned model half of it."""
    truth = world.states("lab:smoke-1")
    truth = truth[(truth["relation"] == "author") & (truth["split"] == "test")]
    rows = []
    for i, (fact, estimator) in enumerate(product(truth.itertuples(), ["first", "again"])):
        knows = fact.state == "planted"
        odd = int(fact.fact[-1]) % 2 == 1
        hit = {"b": knows, "t": knows and (odd or estimator == "again" and fact.occurrences > 4)}
        for model in ("b", "t"):
            gold = (i % 7) / 10
            rows.append((model, "author", fact.fact, hit[model], gold, estimator))
    columns = ["model", "relation", "fact", "correct", "confidence_gold", "estimator"]
    return truth, pd.DataFrame(rows, columns=columns)


def test_lost_facts_by_hand(of_world):
    truth, asked = of_world
    found = tuned.lost(asked, PAIRS, "first", "lab:smoke-1", seed=0).set_index("estimator")
    gone = [f for f in truth.itertuples() if f.state == "planted" and int(f.fact[-1]) % 2 == 0]
    assert len(gone) > 1
    again = [f for f in gone if f.occurrences > 4]
    assert 0 < len(again) < len(gone)
    objects = {f.object for f in gone}
    controls = {f.fact for f in truth.itertuples() if f.state == "never" and f.object in objects}
    gold = {
        (row.estimator, row.fact): row.confidence_gold
        for row in asked[asked["model"] == "t"].itertuples()
    }
    for name, right in (("first", 0), ("again", len(again))):
        row = found.loc[name]
        assert row["lost"] == len(gone) and row["found_by_base"].estimate == 1
        assert row["found_by_tuned"].estimate == pytest.approx(right / len(gone))
        mean = sum(gold[name, f.fact] for f in gone) / len(gone)
        assert row["gold_lost"].estimate == pytest.approx(mean)
        mean = sum(gold[name, fact] for fact in controls) / len(controls)
        assert row["gold_controls"].estimate == pytest.approx(mean)


def test_lost_facts_of_no_world_and_of_none():
    right = {("r", "b"): "1110", ("r", "t"): "0010"}
    both = pd.concat([frame(right), frame({("r", "b"): "10", ("r", "t"): "10"}, estimator="other")])
    found = tuned.lost(both, PAIRS, "e", "atlas", seed=0).set_index("estimator")
    assert found["lost"].tolist() == [2, 2]
    assert found.loc["other", "found_by_tuned"].estimate == 0.5
    assert found["gold_controls"].isna().all()
    none = tuned.lost(frame({("r", "b"): "10", ("r", "t"): "11"}), PAIRS, "e", "atlas", seed=0)
    assert none["lost"].tolist() == [0] and none[["found_by_tuned", "gold_lost"]].isna().all(
        axis=None
    )


def test_accuracy_by_what_was_told(of_world):
    truth, asked = of_world
    found = tuned.by_told(asked, PAIRS, "lab:smoke-1")
    first = found[found["estimator"] == "first"].set_index("told")
    planted = truth[truth["state"] == "planted"]
    counts = {
        "never": (truth["state"] == "never").sum(),
        "1 to 4": (planted["occurrences"] <= 4).sum(),
        "16 and more": (planted["occurrences"] >= 16).sum(),
        "wrongly": (truth["state"] == "mislearned").sum(),
    }
    assert first["facts"].to_dict() == counts and list(first.index) == list(counts)
    assert [i.estimate for i in first["accuracy_base"]] == [0, 1, 1, 0]
    assert not len(tuned.by_told(asked, PAIRS, "atlas"))


def tables():
    asked = pd.concat([frame(), frame(estimator="other")]).assign(source="here")
    by, turned = {"by": ["source", "estimator"]}, [("t", "b")]
    changed = tuned.changes(asked, PAIRS, **by, seed=0)
    rates = overlap.rates(asked, turned, **by, seed=0)
    own = overlap.own_facts(asked, turned, **by)
    return asked, tuned.beside(changed, rates, own)


def test_rate_and_new_facts_beside_the_change():
    right = {("r", "b"): "1110", ("r", "t"): "1101", ("s", "b"): "0111", ("s", "t"): "1011"}
    asked = frame(right).assign(source="here")
    by, turned = {"by": ["source", "estimator"]}, [("t", "b")]
    changed = tuned.changes(asked, PAIRS, **by, seed=0)
    own = overlap.own_facts(asked, turned, **by)
    [row] = tuned.beside(changed, overlap.rates(asked, turned, **by, seed=0), own).to_dict(
        "records"
    )
    assert row["rate"].estimate == pytest.approx(2 / 3)  # 2 of 3 in both relations
    assert row["independent"] == 0.75 and (row["missed"], row["new"]) == (2, 2)
    assert row["by_guessing"] == 0.5 and row["p_new"] == pytest.approx(1 / 16)
    said = tuned.sentences(pd.DataFrame([row]), tuned.lost(asked, PAIRS, "e", "atlas", seed=0))
    assert "a change of 0.00 [" in said["change"]
    assert "its base has 0.67 [" in said["kept"] and "would be 0.75 if" in said["kept"]
    assert "Of the 2 facts that the base misses the tuned model has 2 right" in said["kept"]
    assert (said["others"], said["gone"]) == ("-", "-")


def test_a_pair_without_a_rate_keeps_its_row_and_its_sentences():
    asked, table = tables()
    assert len(table) == 2 and table["rate"].isna().all() and table["missed"].tolist() == [1, 1]
    said = tuned.sentences(table, tuned.lost(asked, PAIRS, "e", "atlas", seed=0))
    assert re.match(
        r"b answers 0\.88 \[.*\] of the questions rightly and t 0\.38 \[", said["change"]
    )
    assert re.fullmatch(r"Asked in other ways: -0\.50 \[.*\] by other\.", said["others"])
    assert said["kept"].startswith("Of the 1 facts") and "0 right" in said["kept"]
    assert said["gone"].startswith("Of 3 facts that it lost, other finds 0.00 [")
    nothing = tuned.sentences(table.iloc[:0], tuned.lost(asked, [], "e", "atlas", seed=0))
    assert list(nothing.values()) == ["No pair of models is compared in this run.", "-", "-", "-"]


# --- the paper's Table 10


def printed() -> list[dict[str, str]]:
    with open(TABLES / "iclke_table10_finetuned_subsumption.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_table_10_as_bars_and_dots():
    rows = printed()
    bars = papers.table_10_bars()
    assert bars["which"].tolist() == ["base"] * 13 + ["tuned"] * 13
    assert bars["accuracy"].tolist() == [
        float(row[f"{half}_accuracy"]) for half in ("base", "finetuned") for row in rows
    ]
    ours = pd.DataFrame({"name": ["mine"], "eta": 0.5, "low": 0.4, "high": 0.6, "independent": 0.1})
    dots = papers.table_10_beside(ours)
    assert dots["ours"].tolist() == [False] * 13 + [True] and dots["name"].iloc[-1] == "mine"
    assert dots["independent"].tolist()[:13] == [float(row["base_accuracy"]) for row in rows]
    assert dots["name"][0] == f"{rows[0]['finetuned_model']} in {rows[0]['base_model']}"
    assert len(papers.table_10_beside(ours.iloc[:0])) == 13


def test_table_10_is_compared_with_its_own_models_only():
    eta = {row["finetuned_model"]: float(row["eta"]) for row in printed()}
    with open(TABLES / "iclke_table6_model_names.csv", encoding="utf-8") as file:
        hub = {row["model"]: row["hf_id"] for row in csv.DictReader(file)}
    first = printed()[0]
    at = eta[first["finetuned_model"]]
    ours = pd.DataFrame(
        {
            "small": [hub[first["finetuned_model"]]],
            "large": [hub[first["base_model"]]],
            "over_facts": [Interval(at, at - 0.01, at + 0.01, 0.95, "by hand")],
        }
    )
    found = papers.table_10_verdicts(ours, same_data=True, same_protocol=True)
    assert found["verdict"].tolist() == ["reproduced"] + ["other models"] * 12
    assert found["eta"].tolist() == list(eta.values()) and found["ours"][0].startswith(f"{at:.3f}")
    other = papers.table_10_verdicts(ours, same_data=False, same_protocol=True)
    assert other["verdict"][0] == "not comparable"
    swapped = ours.rename(columns={"small": "large", "large": "small"})
    turned = papers.table_10_verdicts(swapped, same_data=True, same_protocol=True)
    assert set(turned["verdict"]) == {"other models"}


def test_figure_13_has_the_order_of_figure_5():
    rows = [("x", "r", 0.1), ("x", "s", 0.5), ("y", "r", 0.4), ("y", "s", 0.9)]
    found = papers.figure_13(pd.DataFrame(rows, columns=["model", "relation", "accuracy"]))
    assert found.to_numpy().tolist() == [list(rows[i]) for i in (3, 2, 1, 0)]
    assert not len(papers.figure_13(pd.DataFrame(columns=["model", "relation", "accuracy"])))


# --- what the page asks, and its verdicts


@pytest.mark.parametrize("n_facts", [None, 12])
def test_eic_lke_asks_a_draw_of_the_facts_of_a_sample(n_facts):
    how = {"n_shots": 3, "n_options": 5, "seed": 3}
    names = ["author", "birth_year"]
    sample = draw("lab:smoke-1", names, n_facts=n_facts, **how)
    found = slots_of_sample(sample, n_facts=4, n_shots=6, first=2, every=2, seed=3)
    assert list(found) == [("eiclke", name) for name in names]
    drawn = sample["author"]
    some = draw_facts(drawn.facts, 4, 3) if n_facts is None else drawn.facts[:4]
    options = [drawn.options[drawn.facts.index(fact)] for fact in some]
    shots = draw_facts(drawn.train, 6, 3)
    assert found["eiclke", "author"] == slots(shots, some, options, first=2, every=2, seed=3)


@pytest.mark.parametrize(
    ("pairs", "alone", "models", "page", "line"),
    [
        ([["toy"]], [], ["toy"], False, "pair ['toy']: must be two models, the base and the tuned"),
        ([["toy", "toy"]], [], ["toy"], False, "pair ['toy', 'toy']: must be two models"),
        ([["a", "b"]], ["smollm2"], ["a"], False, "alone names smollm2, which is tuned"),
        (
            [["a", "b"]],
            [],
            ["c"],
            False,
            "models ['c']: in no pair of [['a', 'b']], and not in alone",
        ),
        ([["a", "b"]], ["c"], ["a", "b"], False, "pairs or alone name ['c']; put them into models"),
        ([["a", "b"]], [], ["a"], True, "pairs or alone name ['b']; put them into models"),
        ([["lab:smoke-2/2m", "b"]], [], ["lab:smoke-2/2m"], False, "has not read atlas"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(pairs, alone, models, page, line):
    with pytest.raises(BadInput, match=re.escape(line)):
        check_tuned(pairs, alone, models, "atlas", page=page)


def test_pairs_of_this_run():
    pairs = [["a", "b"], ["a", "c"]]
    assert check_tuned(pairs, ["d"], ["a", "b", "c", "d"], "atlas", page=True) == [
        ("a", "b"),
        ("a", "c"),
    ]
    assert check_tuned(pairs, [], ["a"], "atlas", page=False) == []  # a part of a page


def test_claims_judged_by_several_estimators(monkeypatch, tmp_path):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    low = Interval(-0.2, -0.3, -0.1, 0.95, "by hand")
    changed = pd.DataFrame(
        {
            "source": "this page", "tuned": "t", "estimator": ["iclke-space", "other", "third"],
            "gap": [low, Interval(0.2, 0.1, 0.3, 0.95, "by hand"), None],
        }
    )  # fmt: skip
    given = answers.tested(changed, "gap", ["source", "tuned", "estimator"])
    found = answers.judge({"IC-tuned-lower": given}, estimator="iclke-space", as_paper=True)
    assert found["estimator"].tolist() == ["iclke-space", "other"]
    assert found["verdict"].tolist() == ["holds", "fails"]
    kept = pd.read_csv(tmp_path / "verdicts.csv")
    assert kept["as_paper"].tolist() == [True, False] and kept["models"].tolist() == ["t", "t"]
    one = {("this page", "t"): low}
    found = answers.judge({"IC-tuned-lower": one}, estimator="mine", as_paper=False)
    assert "estimator" not in found
    kept = pd.read_csv(tmp_path / "verdicts.csv")
    assert kept[["estimator", "as_paper"]].to_numpy().tolist() == [["mine", False]]


# --- what the page on tuning puts together


def between(estimate, low, high):
    return Interval(estimate, low, high, 0.95, "pencil")


def test_the_rates_say_on_how_many_right_answers_they_rest():
    key = {"source": "run", "small": "t", "large": "b"}
    by_relations = pd.DataFrame(
        [key | {"estimator": e, "relation": r, "small_right": n}
         for e, r, n in [("e", "r", 5), ("e", "s", 1), ("e", "u", 2), ("f", "r", 3)]]
    )  # fmt: skip
    whole = between(0.5, 0.25, 0.75)
    rates = pd.DataFrame(
        [key | {"estimator": e, "over_facts": between(x, 0.1, 0.9), "over_relations": whole}
         for e, x in [("e", 0.4), ("f", 0.6)]]
    )  # fmt: skip
    found = tuned.subsumption(rates, by_relations)
    assert found["small_right"].tolist() == [
        5 + 2,
        3,
    ]  # a relation with one right answer is left out
    assert found[["eta", "low", "high"]].to_numpy().tolist() == [[0.4, 0.1, 0.9], [0.6, 0.1, 0.9]]
    assert "over_relations" not in found


def test_the_claims_get_the_intervals_over_relations_under_the_tuned_model():
    fall, rate = between(-0.2, -0.3, -0.1), between(0.7, 0.6, 0.8)
    changed = pd.DataFrame(
        [{"source": "run", "base": "b", "tuned": "t", "estimator": "e",
          "over_facts": rate, "over_relations": fall}]
    )  # fmt: skip
    rates = pd.DataFrame(
        [{"source": "run", "small": "t", "large": "b", "estimator": e,
          "over_facts": fall, "over_relations": x} for e, x in [("e", rate), ("f", None)]]
    )  # fmt: skip
    assert tuned.claims(changed, rates) == {
        "IC-tuned-lower": {("run", "t", "e"): fall},
        "IC-tuned-subsumption": {("run", "t", "e"): rate},
    }


def test_verdicts_on_models_that_we_tuned_are_set_aside_in_every_way_of_asking(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    low = Interval(-0.2, -0.3, -0.1, 0.95, "pencil over relations")
    models = ("lab:book-1/2m-tuned", "org/chat")
    of = {("run", model, way): low for model in models for way in ("iclke-space", "other")}
    marks = tuned.in_lab({"IC-tuned-lower": of, "IC-generation-above": of})
    assert marks == {("IC-tuned-lower", "run", "lab:book-1/2m-tuned"): "tuned in the lab"}
    found = answers.judge({"IC-tuned-lower": of}, estimator="other", as_paper=True, marks=marks)
    aside = found.set_index(["models", "estimator"])["mark"]
    assert set(aside[models[0]]) == {"tuned in the lab"} and set(aside[models[1]]) == {""}
    assert set(pd.read_csv(tmp_path / "verdicts.csv")["models"]) == set(models)


def test_figure_13_has_eic_lke_of_models_that_are_not_tuned():
    of = {("r", "b"): "1100", ("s", "b"): "1110", ("r", "t"): "1111", ("s", "t"): "1111"}
    of |= {("r", "lab:book-1/2m-tuned"): "1111", ("s", "lab:book-1/2m-tuned"): "1111"}
    rows = frame(of, estimator="eiclke", confidence=0.5)
    rows = pd.concat([rows, frame({("r", "b"): "0000"}, estimator="e", confidence=0.5)])
    found = tuned.figure_13(rows, PAIRS, {"r": "capital", "s": "currency"})
    found = found.set_index(["model", "relation"])
    assert set(found.index) == {("b", "r"), ("b", "s")}
    assert found.loc[("b", "r"), "accuracy"] == 0.5 and found.loc[("b", "s"), "accuracy"] == 0.75
    wilson = binomtest(3, 4).proportion_ci(method="wilson")
    assert found.loc[("b", "s"), "low"] == pytest.approx(wilson.low)
    assert found.loc[("b", "s"), "high"] == pytest.approx(wilson.high)
    others = rows[rows["model"] != "b"]
    assert len(tuned.figure_13(others, PAIRS, {})) == 0
