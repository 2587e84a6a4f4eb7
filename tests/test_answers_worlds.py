"""Claims on each world: by pencil and by plain Python over rows; none of our metrics."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lkecore import papers
from lkecore.answers import worlds
from lkecore.errors import BadInput
from lkecore.intervals import Interval


@pytest.fixture(scope="module")
def every():
    return worlds.shipped(["lab"])


@pytest.fixture(scope="module")
def of_lists(every):
    return worlds.aurocs(every, seed=0)


@pytest.fixture(scope="module")
def claimed(every, of_lists):
    return worlds.claimed(every, of_lists, seed=0)


def test_no_profile_is_refused():
    with pytest.raises(BadInput, match="names no profile"):
        worlds.shipped([])


def test_luck_is_one_in_the_options_and_nothing_where_no_object_is_written(every):
    luck = every.groupby("estimator")["luck"].unique().map(sorted).to_dict()
    assert luck["iclke-space"] == [1 / 100] and luck["eiclke"] == [1 / 20]
    assert luck["written-template-1"] == [0, 1 / 100]
    wrote = every[every["estimator"].str.startswith("written-")]
    assert (wrote["luck"].gt(0) == wrote["wrote"].ne("")).all()
    [line] = worlds.lines(["lab"])  # the same of both pages
    assert "lke run params/lab.yaml" in " ".join(line.split())


def test_the_largest_base_model_of_each_world(every):
    assert worlds.largest(every) == [f"lab:book-{i}/2m" for i in (1, 2, 3)]


def test_an_auroc_is_that_of_brute_force_over_told_facts_and_all_their_controls(every, of_lists):
    row = of_lists.set_index("model").loc["lab:book-2/0.7m"]
    mine = every[every["model"].eq("lab:book-2/0.7m") & every["estimator"].eq("iclke-space")]
    never = mine[mine["state"] == "never"].set_index(["relation", "object"])["confidence_gold"]
    told = mine[mine["state"].eq("planted") & mine["form"].eq("list") & mine["exposures"].ge(16)]
    keys = list(zip(told["relation"], told["object"], strict=True))
    # Which of the facts that share a control is drawn is luck; all of them give nearly the same.
    control = never.loc[sorted(set(keys))].to_numpy()
    above = np.mean([(a > b) + (a == b) / 2 for a in told["confidence_gold"] for b in control])
    assert row["all_pairs"] == len(set(keys)) and row["pairs"] < row["all_pairs"]
    assert row["all_auroc"].estimate == pytest.approx(above, abs=0.004)


def test_the_claim_on_lists_is_about_the_largest_model_of_each_world(of_lists, claimed):
    assert list(zip(of_lists["world"], of_lists["size"], strict=True)) == [
        (f"lab:book-{i}", size) for i in (1, 2, 3) for size in ("0.15m", "0.7m", "2m")
    ]
    for row in of_lists[of_lists["size"] == "2m"].itertuples():
        assert claimed["LAB-list-auroc", worlds.FAIR, row.world] is row.auroc
        assert claimed["LAB-list-auroc", worlds.ALL, row.world] is row.all_auroc


def test_claims_are_those_of_plain_counts(every, claimed):
    frame = every[every["model"] == "lab:book-3/2m"]
    rows = frame.to_dict("records")
    often = [r for r in rows if r["state"] == "planted" and r["exposures"] >= 16]

    def share(form, estimator, **more):
        found = [
            r["correct"]
            for r in often
            if (r["form"], r["estimator"]) == (form, estimator)
            and all(r[key] == value for key, value in more.items())
        ]
        return sum(found) / len(found)

    world = "lab:book-3"
    of_list = share("list", "iclke-space") - share("list", "template-1")
    key = "LAB-form-list", "iclke-space minus template-1", world
    assert claimed[key].estimate == pytest.approx(of_list)
    several = [share("sentence", "template-5", wording=w) for w in ("several", "one")]
    found = claimed["LAB-several-wordings", "template-5", world]
    assert found.estimate == pytest.approx(several[0] - several[1]) and found.method == "Newcombe"
    wrong = [r for r in rows if r["state"] == "mislearned" and r["estimator"] == "iclke-space"]
    gap = np.mean([r["picked_told"] - float(r["correct"]) for r in wrong])
    assert claimed["LAB-mislearned", "iclke-space", world].estimate == pytest.approx(gap)


def test_never_told_facts_are_pooled_over_base_models_alone(every, claimed):
    base = [f"lab:book-{i}/{size}" for i in (1, 2, 3) for size in ("0.15m", "0.7m", "2m")]
    never = every[every["state"].eq("never") & every["model"].isin(base)]
    for estimator in ("iclke-space", "eiclke", "written-iclke-space"):
        of = f"{estimator}, base models"
        some = never[never["estimator"] == estimator]
        above = some["correct"].astype(float) - some["luck"]
        for world in ("lab:book-1", "lab:book-2"):
            part = above[some["world"] == world].groupby(some["relation"]).mean()
            found = claimed["LAB-never-chance", of, world].estimate
            assert found == pytest.approx(part.mean())
        pooled = above.groupby([some["world"], some["relation"]]).mean().mean()
        assert claimed["LAB-never-chance", of, worlds.EVERY_WORLD].estimate == pytest.approx(pooled)


def test_a_twin_gets_the_states_of_the_model_that_was_told(every, claimed):
    keys = {key for key in claimed if key[0] == "LAB-unplanted"}
    names = ["0.7m-unplanted", "0.7m-unplanted, all controls"]
    assert keys == {("LAB-unplanted", n, f"lab:book-{i}") for n in names for i in (1, 2, 3)}
    assert {claimed[key].method for key in keys} == {"bootstrap over subjects"}
    twin = every[every["model"] == "lab:book-1/0.7m-unplanted"]
    told = every[every["model"] == "lab:book-1/0.7m"]
    key = ["estimator", "fact"]
    both = twin.merge(told, on=key, suffixes=("", "_told"), validate="one_to_one")
    assert len(both) == len(twin) and (both["state"] == both["state_told"]).all()
    assert (both["exposures"] == both["exposures_told"]).all()


def test_tuning_is_the_tuned_model_minus_its_base(every, claimed):
    some = every[every["state"].eq("planted") & every["estimator"].eq("iclke-space")]
    some = some[some["exposures"] >= 16]
    right = some.groupby(["model", "relation"])["correct"].mean().groupby("model").mean()
    for i in (1, 2, 3):
        gap = right[f"lab:book-{i}/2m-tuned"] - right[f"lab:book-{i}/2m"]
        found = claimed["LAB-tuned", "2m-tuned", f"lab:book-{i}"]
        assert found.estimate == pytest.approx(gap)


def interval(low, high):
    return Interval((low + high) / 2, low, high, 0.95, "by hand")


MADE_UP = {
    ("LAB-size-rises", "e", "w1"): interval(0.1, 0.2),
    ("LAB-size-rises", "e", "w2"): interval(-0.1, 0.2),
    ("LAB-list-auroc", "e", "w1"): interval(0.96, 0.98),
    ("LAB-list-auroc", "e", "w2"): interval(0.97, 0.98),
    ("LAB-list-auroc", "e, all controls", "w1"): interval(0.90, 0.94),
    ("LAB-held-out", "e", "w1"): interval(0.3, 0.4),
    ("LAB-held-out", "e", "w2"): interval(0.3, 0.4),
    ("LAB-never-chance", "e", "w1"): interval(0.03, 0.04),
    ("LAB-never-chance", "e", worlds.EVERY_WORLD): interval(-0.01, 0.01),
    ("LAB-unplanted", "e", "w1"): interval(0.01, 0.04),
    ("LAB-unplanted", "e", "w2"): interval(-0.01, 0.04),
}
OVER = papers.claims("LAB").set_index("id")["over"]
MADE_UP = {
    key: replace(each, method=f"by hand over {OVER[key[0]]}") for key, each in MADE_UP.items()
}
MARKS = {("LAB-held-out", "w1"): "words that the text never had"}


def test_verdicts_are_counted_once_for_each_world_and_checks_and_what_is_set_aside_apart():
    judged = worlds.judged(MADE_UP, MARKS)
    assert list(judged["id"].unique()) == [
        "LAB-list-auroc", "LAB-held-out", "LAB-never-chance", "LAB-unplanted", "LAB-size-rises",
    ]  # fmt: skip
    assert judged["verdict"].tolist() == [
        "holds", "holds", "fails", "holds", "holds", "fails", "holds", "holds", "holds",
        "holds", "undecided",
    ]  # fmt: skip
    assert judged["once"].tolist() == [
        True, True, False, True, True, True, False, True, True, True, True,
    ]  # fmt: skip
    assert judged["mark"].tolist() == [""] * 3 + ["words that the text never had"] + [""] * 7
    checks = judged.loc[judged["is_check"], "id"]
    assert set(checks) == {"LAB-never-chance", "LAB-unplanted"}
    counted = worlds.counted(judged).set_index("what")
    assert counted.loc["findings"].to_dict() == {"holds": 4, "undecided": 1, "fails": 0}
    assert counted.loc["checks"].to_dict() == {"holds": 2, "undecided": 0, "fails": 1}
    assert counted.loc["set aside"].to_dict() == {"holds": 1, "undecided": 0, "fails": 0}
    found = worlds.findings(judged)
    assert (
        found["id"].tolist() == ["LAB-list-auroc"] * 2 + ["LAB-held-out"] + ["LAB-size-rises"] * 2
    )
    assert found["claim"].nunique() == 3 and not found["claim"].str.endswith("(e)").any()
    apart = worlds.disagreeing(judged)
    assert apart["id"].tolist() == ["LAB-size-rises"]
    drawn = worlds.drawn(judged)
    assert len(drawn) == 8 and drawn["claim"].str.startswith("Check: ").tolist() == [
        *[False] * 5, *[True] * 3,
    ]  # fmt: skip
    assert drawn["estimate"].tolist()[:5] == found["estimate"].tolist()


def test_what_counts_is_kept_for_the_page_of_all_claims(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    worlds.keep_verdicts(worlds.judged(MADE_UP, MARKS), ["one", "two"])
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    assert len(kept) == 9 and set(kept["source"]) == {f"shipped: one, two, w{i}" for i in (1, 2)}
    twins = kept[kept["id"] == "LAB-unplanted"]["ours"].tolist()
    assert twins == ["0.025 [0.010, 0.040], which leaves out 0", "0.015 [-0.010, 0.040]"]
    assert kept["mark"].tolist().count("words that the text never had") == 1


def test_verdicts_on_words_that_no_text_has_are_set_aside_in_each_world(every):
    found = worlds.set_aside(every)
    ids = "LAB-held-out", "LAB-several-wordings"
    assert set(found) == {(key, f"lab:book-{i}") for key in ids for i in (1, 2, 3)}
    assert set(found.values()) == {"words that the text never had"}


def test_transfer_is_of_the_largest_model_and_of_facts_asked_both_ways(every, claimed):
    table = worlds.by_wording(every).set_index(["world", "told_in", "asked_in"])["accuracy"]
    for i in (1, 2, 3):
        world = f"lab:book-{i}"
        told = table[world, "one", "a wording that told it"].estimate
        other = table[world, "one", "another wording of the text"].estimate
        found = claimed["LAB-transfer", "the wording that told minus another", world]
        assert found.estimate == pytest.approx(told - other) and found.low > 0


def test_a_claim_about_two_models_of_a_world_names_them():
    both = {("LAB-size-rises", of, "w1"): interval(0.1, 0.2) for of in ("2m-tuned", "0.7m-tuned")}
    claims = worlds.findings(worlds.judged(both))["claim"]
    assert [claim.rpartition(" (")[2] for claim in claims] == ["2m-tuned)", "0.7m-tuned)"]


def test_an_interval_over_something_else_or_by_another_method_does_not_count_as_a_verdict():
    key = "LAB-list-auroc", "e", "w1"
    over_facts = {key: replace(MADE_UP[key], method="bootstrap over facts")}
    assert worlds.judged(over_facts)["mark"].tolist() == ["over facts alone, not pairs"]
    with pytest.raises(ValueError, match="by Student's t, not by bootstrap$"):
        worlds.judged({key: replace(MADE_UP[key], method="Student's t over pairs")})


def test_the_table_has_a_column_for_each_world_and_says_a_claim_once():
    table = worlds.table(worlds.judged(MADE_UP, MARKS))
    assert table.columns.tolist() == ["claim", "of", "w1", "w2", worlds.EVERY_WORLD]
    assert table["of"].tolist() == ["e", "e, all controls", "e", "e", "e", "e"]
    assert table["claim"].eq("").tolist() == [False, True, *[False] * 4]
    assert table.loc[0, "w1"] == "0.970 [0.960, 0.980]: holds"
    assert table.loc[1, "w2"] == "" and table.loc[5, "w2"].endswith("undecided")
    assert table.loc[2, "w1"] == "0.350 [0.300, 0.400]: holds (words that the text never had)"
    assert table.loc[4, "w1"] == "0.025 [0.010, 0.040], which leaves out 0: holds"


def test_kinds_of_relations_are_means_over_relations_told_often_in_lists(every):
    found = worlds.by_kind(every, seed=0).set_index(["size", "kind"])
    assert found.index[0][0] == "0.15m" and found.index[-1][0] == "2m"
    row = found.loc[("0.7m", "location")]
    some = every[every["model"].str.endswith("/0.7m") & every["estimator"].eq("iclke-space")]
    some = some[some["form"].eq("list") & some["state"].eq("planted") & some["exposures"].ge(16)]
    some = some[some["kind"] == "location"]
    means = some.groupby("relation")["correct"].mean()
    assert row["facts"] == len(some) and row["relations"] == len(means) == 3
    assert row["over_facts"].estimate == pytest.approx(means.mean())
    assert row["each_relation"] == ", ".join(f"{name} {m:.2f}" for name, m in means.items())


def test_sentences_count_what_the_tables_have():
    judged = worlds.judged(MADE_UP, MARKS)
    judged.loc[judged["of"] == "e", "of"] = judged["of"].where(
        judged["id"] != "LAB-list-auroc", worlds.FAIR
    )
    said = worlds.sentences(judged, worlds.counted(judged))
    assert "in 2 worlds" in said["findings"]
    assert "4 hold, 1 are undecided and 0 fail; 1 are set aside." in said["findings"]
    assert "1 of 3 claims do not" in said["findings"]
    assert "2 hold, 0 are undecided and 1 fail" in said["checks"]
    assert "1 of 2 unplanted twins have an interval that leaves out 0" in said["checks"]
    assert "0.970 (w1), 0.975 (w2)" in said["sure"]
    assert said["moved"].startswith("No fact was asked both")
    more = {("LAB-transfer", "e", "w1"): interval(0.1, 0.2)}
    judged = worlds.judged(more)
    said = worlds.sentences(judged, worlds.counted(judged))
    assert said["moved"].endswith("by 0.150 [0.100, 0.200] (w1).")
    assert "control fails" not in said["checks"]
