"""Claims on each world: by pencil and by plain Python over rows; none of our metrics."""

import json

import numpy as np
import pytest

from lkecore.answers import worlds
from lkecore.errors import BadInput
from lkecore.intervals import Interval
from lkecore.models import lab


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


def test_learning_is_what_the_records_of_the_models_say():
    names = ["lab:book-1/0.15m", "lab:book-1/2m"]
    found = worlds.learning(names)
    assert list(found["model"].unique()) == names
    for name, part in found.groupby("model"):
        folder = lab.present(name)
        record = json.loads((folder / "lab.json").read_text())
        assert part["loss"].tolist() == record["losses"]
        assert part["read"].tolist() == pytest.approx([(i + 1) / 50 for i in range(50)])
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        tokens = {*tokenizer["model"]["vocab"], *(t["content"] for t in tokenizer["added_tokens"])}
        assert part["guess"].unique() == pytest.approx([np.log(len(tokens))])
        assert part["loss"].iloc[0] < part["guess"].iloc[0] and part["loss"].iloc[-1] < 2
    for name in ("smollm2", "lab:smoke-1/8m"):
        with pytest.raises(BadInput, match=f"^{name}: no model of the lab that is here"):
            worlds.learning([name])


def test_luck_is_one_in_the_options_and_nothing_where_no_object_is_written(every):
    luck = every.groupby("estimator")["luck"].unique().map(sorted).to_dict()
    assert luck["iclke-space"] == [1 / 100] and luck["eiclke"] == [1 / 20]
    assert luck["written-template-1"] == [0, 1 / 100]
    wrote = every[every["estimator"].str.startswith("written-")]
    assert (wrote["luck"].gt(0) == wrote["wrote"].ne("")).all()
    assert len(worlds.lines(["lab"])) == 2


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
    ("LAB-mislearned", "e", "w1"): interval(0.1, 0.2),
    ("LAB-mislearned", "e", "w2"): interval(-0.1, 0.2),
    ("LAB-list-auroc", "e", "w1"): interval(0.96, 0.98),
    ("LAB-list-auroc", "e", "w2"): interval(0.97, 0.98),
    ("LAB-list-auroc", "e, all controls", "w1"): interval(0.90, 0.94),
    ("LAB-never-chance", "e", "w1"): interval(0.03, 0.04),
    ("LAB-never-chance", "e", worlds.EVERY_WORLD): interval(-0.01, 0.01),
}


def test_verdicts_are_counted_once_for_each_world_findings_and_checks_apart():
    judged = worlds.judged(MADE_UP)
    assert (
        judged["id"].tolist()
        == ["LAB-list-auroc"] * 3 + ["LAB-never-chance"] * 2 + ["LAB-mislearned"] * 2
    )
    assert judged["verdict"].tolist() == [
        "holds", "holds", "fails", "fails", "holds", "holds", "undecided",
    ]  # fmt: skip
    assert judged["once"].tolist() == [True, True, False, True, False, True, True]
    counted = worlds.counted(judged).set_index("what")
    assert counted.loc["findings"].to_dict() == {"holds": 3, "undecided": 1, "fails": 0}
    assert counted.loc["checks"].to_dict() == {"holds": 0, "undecided": 0, "fails": 1}
    assert counted.index.tolist() == ["findings", "checks"]
    found = worlds.findings(judged)
    assert found["id"].tolist() == ["LAB-list-auroc"] * 2 + ["LAB-mislearned"] * 2
    assert found["claim"].nunique() == 2 and not found["claim"].str.endswith("(e)").any()
    apart = worlds.disagreeing(judged)
    assert apart["id"].tolist() == ["LAB-mislearned"]


def test_a_claim_about_two_models_of_a_world_names_them():
    both = {("LAB-tuned", of, "w1"): interval(-0.2, -0.1) for of in ("2m-tuned", "0.7m-tuned")}
    claims = worlds.findings(worlds.judged(both))["claim"]
    assert [claim.rpartition(" (")[2] for claim in claims] == ["2m-tuned)", "0.7m-tuned)"]


def test_the_table_has_a_column_for_each_world_and_says_a_claim_once():
    table = worlds.table(worlds.judged(MADE_UP))
    assert table.columns.tolist() == ["claim", "of", "w1", "w2", worlds.EVERY_WORLD]
    assert table["of"].tolist() == ["e", "e, all controls", "e", "e"]
    assert table["claim"].eq("").tolist() == [False, True, False, False]
    assert table.loc[0, "w1"] == "0.970 [0.960, 0.980]: holds"
    assert table.loc[1, "w2"] == "" and table.loc[3, "w2"].endswith("undecided")


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
    judged = worlds.judged(MADE_UP)
    judged.loc[judged["of"] == "e", "of"] = judged["of"].where(
        judged["id"] != "LAB-list-auroc", worlds.FAIR
    )
    said = worlds.sentences(judged, worlds.counted(judged))
    assert "in 2 worlds" in said["findings"]
    assert "3 hold, 1 are undecided and 0 fail" in said["findings"]
    assert "0 hold, 0 are undecided and 1 fail" in said["checks"]
    assert "0.970 (w1), 0.975 (w2)" in said["sure"]
    assert said["differ"].startswith("1 of 2 claims")
