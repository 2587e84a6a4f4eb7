"""Confidence against planted shares; the oracles are fractions by hand, scipy and loops."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lkecore.answers import rich, sure
from lkecore.facts import worlds
from lkecore.intervals import mean_over_facts, proportion

SPEC = "lab:richsmoke-0"
MODEL = f"{SPEC}/0.15m"
COLUMNS = ["relation", "told_times", "occurrences", "form", "control"]
TOLD = {
    "a": ("residence", "36;12", 48, "list", "n"),
    "b": ("residence", "32;16", 48, "sentence", "n"),
    "c": ("author", "24;24", 48, "list", "n"),
    "d": ("author", "16;16;16", 48, "list", "n"),
    "e": ("author", "48", 48, "list", "n"),
    "f": ("residence", "48", 48, "list", "n"),
    "g": ("residence", "24;24", 48, "list", "n"),
    "n": ("residence", "", 0, "none", ""),
    "m": ("author", "", 0, "none", ""),
}
# fact: confidences in the told objects, entropy
SAID = {
    "a": (0.3, 0.1, None, 1.0), "b": (0.1, 0.2, None, 1.5), "c": (0.2, 0.3, None, 2.0),
    "d": (0.1, 0.1, 0.2, 2.5), "e": (0.7, None, None, 0.5), "f": (0.5, None, None, 0.7),
    "g": (0.25, 0.25, None, 1.0), "n": (None, None, None, 3.0), "m": (None, None, None, 3.5),
}  # fmt: skip


@pytest.fixture
def shares(monkeypatch):
    table = pd.DataFrame.from_dict(TOLD, orient="index", columns=COLUMNS).rename_axis("fact")
    table["subject"] = [{"e": "A", "c": "A"}.get(fact, fact) for fact in table.index]
    monkeypatch.setattr(rich, "_states", lambda spec: table)
    rows = [
        (MODEL, SPEC, "e", TOLD[fact][0], fact, *(np.nan if x is None else x for x in values))
        for fact, values in SAID.items()
    ]
    columns = ["model", "world", "estimator", "relation", "fact", *rich.TOLD, "entropy"]
    found = pd.DataFrame(rows, columns=columns).assign(confidence=0.4, source="this page")
    return sure.beside_shares(found)


def test_ratio_and_entropy_are_those_of_the_counts(shares):
    found = shares.set_index("fact")
    assert found["ratio"].to_dict() == {
        "a": "3:1", "b": "2:1", "c": "1:1", "d": "1:1:1", "e": "1", "f": "1", "g": "1:1", "n": "", "m": "",
    }  # fmt: skip
    for fact, counts in {"a": [36, 12], "d": [1, 1, 1], "e": [48]}.items():
        by_scipy = stats.entropy(counts)
        assert found.loc[fact, "planted_entropy"] == pytest.approx(by_scipy, abs=1e-12)
    assert np.isnan(found.loc["n", "planted_entropy"]) and np.isnan(found.loc["n", "among"])
    assert found.loc["d", "among"] == pytest.approx(0.4)
    assert found["relation"].tolist() == sorted(found["relation"])


def test_a_row_for_each_told_object(shares):
    found = sure.by_object(shares)
    assert len(found) == 2 + 2 + 2 + 3 + 1 + 1 + 2
    a = found[found["fact"] == "a"]
    np.testing.assert_allclose(a["planted"], [0.75, 0.25])
    np.testing.assert_allclose(a["relative"], [0.75, 0.25])
    np.testing.assert_allclose(a["confidence"], [0.3, 0.1])


def test_curve_is_the_mean_over_facts_at_each_share(shares):
    found = sure.curve(sure.by_object(shares), ["model"], seed=0).set_index("planted")
    assert found.index.tolist() == [0.3333, 0.5, 1.0]  # one fact alone, as at 0.75, has no interval
    # b has the third in its second object; d has three of them, and counts once.
    assert found.loc[0.3333, "relative"].estimate == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.loc[0.5, "facts"] == 2
    assert found.loc[0.5, "confidence"].estimate == pytest.approx((0.25 + 0.25) / 2)
    assert found.loc[1.0, "confidence"] == mean_over_facts([[0.7, 0.5]], seed=0)


def test_which_of_two_has_more(shares):
    assert sure.first_of_two(shares) == proportion(1, 2)  # a, not b


def test_shares_are_followed_as_scipy_has_it(shares):
    objects = sure.by_object(shares)
    several = objects[objects["ratio"] != "1"]
    expected = stats.pearsonr(several["planted"], several["relative"])[0]
    found = sure.follows_shares(objects, seed=0)
    assert found.estimate == pytest.approx(expected)
    assert -1 <= found.low <= found.estimate <= found.high <= 1


def test_interval_of_shares_draws_whole_facts(shares):
    objects = sure.by_object(shares)
    several = objects[objects["ratio"] != "1"]
    of_fact = [g[["planted", "relative"]].to_numpy() for _, g in several.groupby("fact")]
    rng = np.random.default_rng(5)
    again = []
    for drawn in rng.integers(len(of_fact), size=(10_000, len(of_fact))):
        x, y = np.concatenate([of_fact[i] for i in drawn]).T
        if np.ptp(x) and np.ptp(y):
            again.append(np.corrcoef(x, y)[0, 1])
    found = sure.follows_shares(objects, seed=5)
    low, high = np.percentile(again, [2.5, 97.5])
    assert abs(found.low - low) < 0.1 and abs(found.high - high) < 0.1


def test_open_and_untold_facts_against_certain_ones(shares):
    gap = sure.surer_of_one(shares, seed=0)
    assert gap.estimate == pytest.approx((2.0 + 1.0) / 2 - (0.5 + 0.7) / 2)
    told = sure.surer_of_told(shares, seed=0)
    assert told.estimate == pytest.approx(3.25 - 0.6) and told.low > 0
    assert sure.level(shares, seed=0).estimate == pytest.approx(0.6 - 1)


def test_claims_leave_out_other_numbers_of_tellings(shares):
    extra = shares[shares["fact"] == "b"].assign(told=12, fact="a")
    found = sure.claimed(pd.concat([shares, extra]), seed=0)
    assert found["LAB-sure-first"] == {("this page", MODEL): proportion(1, 2)}
    assert set(found) == {
        "LAB-sure-first", "LAB-sure-shares", "LAB-sure-open", "LAB-sure-told", "LAB-sure-level",
    }  # fmt: skip


def test_ratios_stand_by_their_entropy_and_never_told_last(shares):
    found = sure.by_ratio(shares, ["model"], seed=0)
    assert found["ratio"].tolist() == ["1", "1:1", "none"]
    last = found.iloc[-1]
    assert last["among"] is None and last["entropy"].estimate == pytest.approx(3.25)


def test_facts_and_counts_of_a_world():
    frame = worlds.states(SPEC)
    wanted = frame[sure.asked(frame) & frame["split"].eq("test")]
    told = wanted[wanted["occurrences"] > 0]
    assert set(told["state"]) == {"uncertain", "planted"}
    assert set(wanted.loc[wanted["occurrences"] == 0, "fact"]) == set(told["control"])
    samples = rich.samples([MODEL], [], sure.asked, n_shots=4, seed=0)
    asked = {fact.id for drawn in samples[SPEC].values() for fact in drawn.facts}
    counted = sure.counts(samples)
    assert counted.to_numpy().sum() == len(asked)
    of_three = frame[frame["fact"].isin(asked)]["told_times"].str.count(";").eq(2).sum()
    assert counted.loc[["1:1:1", "2:1:1"]].to_numpy().sum() == of_three


def test_figure_rows_leave_out_what_is_one_by_construction(shares):
    lines = sure.curve(sure.by_object(shares), ["model"], seed=0)
    found = sure.drawn(lines)
    whole = found[found["planted"] == 1.0]
    assert whole["what"].tolist() == ["among all options"]
    assert whole["value"].tolist() == pytest.approx([0.6])


def test_sentences_need_the_quarters_and_say_them(monkeypatch, shares):
    twice = pd.concat([shares, shares.assign(fact=shares["fact"] + "b")])
    said = sure.sentences(twice, seed=0)
    assert "three quarters 0.75" in said["divided"] and "0.60" in said["level"]
    assert "0.90" in said["open"] and "2.65" in said["open"]
    assert said["twin"].startswith("No twin was asked")


def test_an_entropy_is_called_higher_only_where_the_interval_leaves_out_0(monkeypatch, shares):
    twice = pd.concat([shares, shares.assign(fact=shares["fact"] + "b")])
    gap = sure.surer_of_one(twice, seed=0)
    for low, high, words in ((0.1, 2.0, "higher by 0.9"), (-2.0, -0.1, "lower by 0.9"),
                             (-0.1, 2.0, "not clearly higher or lower (0.9")):  # fmt: skip
        found = dataclasses.replace(gap, low=low, high=high)
        monkeypatch.setattr(sure, "surer_of_one", lambda *_, found=found, **__: found)
        assert f"the entropy is {words}" in sure.sentences(twice, seed=0)["open"]


def with_twin(shares):
    """The same facts by a twin, which divides alike and is as open everywhere."""
    n_told = shares["ratio"].str.count(":") + 1
    twin = shares.assign(model=f"{MODEL}-unplanted", entropy=2.0, among=1.0)
    for name in rich.TOLD:
        twin[name] = (1 / n_told).where(shares[name].notna())
    return pd.concat([shares, twin], ignore_index=True)


def test_a_twin_takes_away_what_is_there_for_anybody(shares):
    both = with_twin(shares)
    of_twin = both[both["model"] == f"{MODEL}-unplanted"]
    found = sure.more_than_twin(shares, of_twin, seed=0)
    several = sure.by_object(both)
    several = several[several["ratio"] != "1"]
    r = {
        model: stats.pearsonr(part["planted"], part["relative"])[0]
        for model, part in several.groupby("model")
    }
    assert r[f"{MODEL}-unplanted"] > 0  # thirds against halves, by nobody's reading
    expected = r[MODEL] - r[f"{MODEL}-unplanted"]
    assert found["shares"].estimate == pytest.approx(expected)
    # The twin is as open everywhere, so it takes nothing from differences of entropies.
    for name, plain in (("open", sure.surer_of_one), ("told", sure.surer_of_told)):
        assert found[name].estimate == pytest.approx(plain(shares, seed=0).estimate)
    assert {each.method for each in found.values()} == {"bootstrap over subjects"}
    claimed = sure.claimed(both, seed=0)
    own = {"LAB-sure-shares-own", "LAB-sure-open-own", "LAB-sure-told-own"}
    mine = ("this page", MODEL)
    assert own < set(claimed) and set(claimed["LAB-sure-first"]) == {mine}
    # A larger model without a twin takes the other claims over, and leaves these to the largest that has one.
    larger = MODEL.replace("/0.15m", "/2m").replace("/0.7m", "/2m")
    ships = shares.assign(model=larger, source="shipped: x")
    more = sure.claimed(pd.concat([both, ships]), seed=0)
    assert {name: set(of) for name, of in more.items()} == {
        name: {mine if name in own else ("shipped: x", larger)} for name in claimed
    }
    assert all(more[name] == claimed[name] for name in own)
    assert (
        f"{r[f'{MODEL}-unplanted']:.2f}"
        in sure.sentences(pd.concat([both, both.assign(fact=both["fact"] + "b")]), seed=0)["twin"]
    )
