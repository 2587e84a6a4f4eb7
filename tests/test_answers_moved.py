"""Entropy, KL and rank beside what was told; the oracles are counts by hand, scipy and loops."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from lkecore import papers
from lkecore.answers import door, lab, moved, moved_said, rich
from lkecore.facts import worlds
from lkecore.intervals import Interval
from lkecore.prompts.prompt import join_pair

SPEC = "lab:richsmoke-0"
MODEL, TWIN = f"{SPEC}/0.15m", f"{SPEC}/0.15m-unplanted"
COLUMNS = ["relation", "state", "occurrences", "control", "kind"]
# What the text says of each fact; n, m, o and p are never told.
STATES = {
    "a": ("home", "planted", 64, "n", "location"),
    "b": ("home", "planted", 32, "m", "location"),
    "c": ("home", "planted", 1, "n", "location"),
    "d": ("home", "mislearned", 64, "m", "location"),
    "e": ("author", "planted", 16, "o", "other"),
    "f": ("author", "uncertain", 48, "p", "other"),
    "g": ("home", "planted", 16, "m", "location"),
    "h": ("home", "mislearned", 32, "n", "location"),
    **{name: ("home", "never", 0, "", "location") for name in "nm"},
    **{name: ("author", "never", 0, "", "other") for name in "op"},
}
# fact: rank, H(P), H(Q), KL, KL behind another subject's, confidence by IC-LKE, tokens, shared
SAID = {
    "a": (1, 1.0, 0.5, 0.2, 0.4, 0.9, 1, False), "b": (2, 2.0, 0.5, 1.0, 1.1, 0.8, 2, False),
    "c": (40, 4.0, 1.0, 2.0, 2.1, 0.1, 1, False), "d": (90, 1.0, 1.0, 3.0, 3.1, 0.0, 1, False),
    "e": (3, 1.0, 0.2, 0.7, 0.9, 0.7, 2, True), "f": (5, 2.0, 0.3, 0.9, 0.8, 0.4, 2, True),
    "g": (4, 2.5, 0.6, 1.5, 1.2, 0.6, 1, False), "h": (80, 2.0, 1.6, 2.5, 2.0, 0.1, 1, False),
    "n": (50, 4.0, 1.5, 2.2, 1.9, 0.1, 1, False), "m": (60, 3.5, 1.2, 1.2, 1.4, 0.2, 1, False),
    "o": (70, 3.0, 1.0, 1.3, 1.3, 0.2, 2, True), "p": (55, 3.0, 1.0, 1.1, 1.0, 0.2, 2, False),
}  # fmt: skip


WHOSE = {fact: "A" if fact in "ab" else fact for fact in STATES}  # two facts of one subject


def frames(model: str = MODEL, order: str = "abcdefghnmop"):
    """What the two doors give."""
    rows = []
    for kind, fact in itertools.product(("explicit", "copied"), order):
        rank, before, after, kl, other, _, n_tokens, shared = SAID[fact]
        rows.append({
            "source": "this page", "model": model, "world": SPEC,
            "reader": "causal", "estimator": "template-1",
            "instillation": kind, "relation": STATES[fact][0], "fact": fact, "entropy": before,
            "entropy_after": after, "kl": kl if kind == "explicit" else other, "kl_back": kl / 2,
            "rank": rank, "rank_after": 1 + (rank > 65), "surprisal": np.log(rank) + 0.1,
            "n_tokens": n_tokens, "merged": False,
            "shared": shared, "confidence_gold": 1 / rank, "options_kl": kl * 2,
            "options_kl_back": kl * 3, "options_entropy": before + 1, "options_entropy_after": after - 0.5,
        })  # fmt: skip
    shown = [(model, SPEC, "iclke-space", STATES[fact][0], fact, SAID[fact][5]) for fact in order]
    columns = ["model", "world", "estimator", "relation", "fact", "confidence_gold"]
    return pd.DataFrame(rows), pd.DataFrame(shown, columns=columns)


@pytest.fixture
def known(monkeypatch):
    table = pd.DataFrame.from_dict(STATES, orient="index", columns=COLUMNS).rename_axis("fact")
    table["subject"] = table.index.map(WHOSE)
    table["mentions"] = (table.index != "n") * 5  # n is a stranger
    monkeypatch.setattr(rich, "_states", lambda spec: table)
    mine, twin = frames(), frames(TWIN)
    both = [pd.concat(pair, ignore_index=True) for pair in zip(mine, twin, strict=True)]
    return moved.known(*both)


def test_more_is_better_known_for_every_metric(known):
    row = known[(known["model"] == MODEL) & (known["fact"] == "c")].iloc[0]
    wanted = {
        "rank": -40, "surprisal": -np.log(40) - 0.1, "entropy": -4, "change of entropy": -3,
        "signed change": -3, "KL": -2, "KL back": -1,
        "KL, other subject": -2.1, "KL of options": -4, "KL back of options": -6,
        "entropy of options": -5, "change of options": -4.5, "confidence": 1 / 40, "IC-LKE": 0.1,
    }  # fmt: skip
    assert {name: row[name] for name in moved.METRICS} == pytest.approx(wanted)
    assert (row["told"], row["state"], bool(row["often"])) == ("1 to 4", "planted", False)
    assert row["probability"] == pytest.approx(np.exp(-0.1) / 40) and row["move"] == 2


def test_an_answer_that_gets_less_sure_is_better_known_with_its_sign_alone(known):
    at_blanks, shown = frames()
    turned = at_blanks.rename(
        columns={"entropy": "entropy_after", "entropy_after": "entropy"}
    )  # fact c: from 1 to 4 nats
    row = moved.known(turned, shown).set_index("fact").loc["c"]
    assert (row["change of entropy"], row["signed change"]) == (-3, 3)


def test_the_order_of_the_rows_does_not_matter(known, monkeypatch):
    other = moved.known(*frames(order="ponmhgfedcba"))
    first = known[known["model"] == MODEL].reset_index(drop=True)
    pd.testing.assert_frame_equal(first, other)


def test_objects_are_alone_by_their_first_token_or_not(known):
    mine = known[known["model"] == MODEL]
    sets = {name: set(moved.of_set(mine, name)["fact"]) for name in moved.SETS}
    assert sets == {"alone": set("abcdghnmp"), "one token": set("acdghnm"), "all": set(STATES)}
    table = moved.left_out(known).set_index(["model", "kind"])
    assert table.loc[(MODEL, "location")].to_dict() == {"all": 8, "one token": 7, "alone": 8}
    assert table.loc[(MODEL, "other")].to_dict() == {"all": 4, "one token": 0, "alone": 1}


def test_a_told_fact_stands_beside_its_own_control(known):
    pairs = moved.pairs(moved.of_set(known))
    found = pairs[pairs["model"] == MODEL].set_index("fact")["control"].to_dict()
    assert found == {"a": "n", "b": "m", "g": "m"}
    # With shared first tokens, e is there, too.
    assert set(moved.pairs(moved.of_set(known, "all"))["fact"]) == set("abge")
    assert pairs.set_index("fact")["KL_control"].loc["b"].tolist() == [-1.2, -1.2]


def auroc_by_hand(told, control):
    pairs = list(itertools.product(told, control))
    return np.mean([(p > q) + 0.5 * (p == q) for p, q in pairs])


def test_aurocs_are_counts_of_pairs(known):
    found = moved.aurocs(known, seed=0).set_index(["model", "metric"])
    values = {
        "KL": ([-0.2, -1.0, -1.5], [-2.2, -1.2, -1.2]),
        "rank": ([-1, -2, -4], [-50, -60, -60]),
    }
    values["change of entropy"] = ([-0.5, -1.5, -1.9], [-2.5, -2.3, -2.3])
    for metric, sides in values.items():
        assert found.loc[(MODEL, metric), "alone"].estimate == pytest.approx(auroc_by_hand(*sides))
    gap = auroc_by_hand(*values["KL"]) - auroc_by_hand(*values["rank"])
    assert found.loc[(MODEL, "rank"), "KL minus it"].estimate == pytest.approx(gap)
    assert found.loc[(MODEL, "KL"), "KL minus it"] is None
    published = found.loc[(MODEL, "rank"), "BERT"], found.loc[(MODEL, "KL"), "T5"]
    assert published == pytest.approx((0.516, 0.678))


def test_familiar_controls_are_those_whose_subject_the_text_names(known):
    found = moved.aurocs(known, seed=0).set_index(["model", "metric"])
    # Without n, the stranger, which is the control of a.
    by_hand = {"KL": ([-1.0, -1.5], [-1.2, -1.2]), "rank": ([-2, -4], [-60, -60])}
    for metric, sides in by_hand.items():
        assert found.loc[(MODEL, metric), "familiar"].estimate == auroc_by_hand(*sides)
    assert found.loc[(MODEL, "KL"), "alone"] != found.loc[(MODEL, "KL"), "familiar"]
    none = moved.aurocs(known.assign(mentions=0), seed=0)
    assert none["familiar"].isna().all() and none["alone"].notna().any()


def test_the_papers_gains_are_those_of_its_first_table():
    """22.9 and 36.9 points, as the text has them (PZ-Q8)."""
    table = papers.table("pez_table1_metric_accuracy").set_index(["metric", "model"])[
        "accuracy_pct"
    ]
    gains = [round(table["kl_divergence", m] - table["ranking", m], 1) for m in ("BERT", "T5")]
    assert gains == [22.9, 36.9]


def test_levels_are_means_of_their_facts(known):
    found = moved.by_level(known, seed=0).set_index(["model", "told"])
    often = found.loc[(MODEL, "16 and more")]
    assert often["facts"] == 3 and often["rank"] == 2
    assert often["KL"].estimate == pytest.approx(np.mean([0.2, 1.0, 1.5]))
    assert often["after"].estimate == pytest.approx(np.mean([0.5, 0.5, 0.6]))
    assert often["repeated"].estimate == 1
    assert found.loc[(MODEL, "wrongly"), "repeated"].estimate == 0  # d and h
    assert found.loc[(MODEL, "wrongly"), "entropy"].estimate == pytest.approx(1.5)
    assert list(found.loc[MODEL].index) == ["never", "16 and more", "wrongly"]  # one is no mean


def test_wrongly_told_facts_are_compared_with_rightly_told_ones_of_the_same_doses(known):
    found = moved.wrongly(known, seed=0).set_index(["model", "metric"])
    row = found.loc[(MODEL, "KL")]
    assert (row["wrongly"], row["rightly"]) == (2, 2)  # a and b, told 64 and 32 times
    assert row["ours"].estimate == pytest.approx(auroc_by_hand([3.0, 2.5], [0.2, 1.0]))
    less = found.loc[(MODEL, "change of entropy"), "ours"].estimate
    assert less == pytest.approx(auroc_by_hand([0.0, 0.4], [0.5, 1.5]))


def test_tellings_are_followed_by_what_falls_with_them(known):
    found = moved_said.follows_tellings(known, seed=0).set_index(["model", "metric"])
    told = {"a": 64, "b": 32, "c": 1, "g": 16}
    rho = scipy.stats.spearmanr(list(told.values()), [-SAID[fact][3] for fact in told]).statistic
    assert found.loc[(MODEL, "KL"), "r"].estimate == pytest.approx(rho)
    assert found.loc[(MODEL, "KL"), "facts"] == 4


def test_bins_of_probability_have_the_mean_move_of_their_facts(known):
    many = pd.concat([known.assign(fact=known["fact"] + str(i)) for i in range(3)])
    found = moved.over_probability(many, seed=0)
    mine = found[found["model"] == MODEL].set_index("probability")["KL"]
    # d, h, n, m and p have between 0.01 and 0.03: each three times.
    inside = [fact for fact in "abcdghnmp" if 0.01 < np.exp(-0.1) / SAID[fact][0] <= 0.03]
    assert len(inside) == 6
    middle = np.exp(np.mean([-0.1 - np.log(SAID[fact][0]) for fact in inside]))
    at = mine.index[np.argmin(abs(mine.index - middle))]
    assert at == pytest.approx(middle)
    assert mine.loc[at].estimate == pytest.approx(np.mean([SAID[fact][3] for fact in inside]))
    drawn = moved_said.drawn_curve(found)
    assert list(drawn) == ["model", "probability", "facts", "KL", "low", "high"]
    assert (drawn["low"] <= drawn["KL"]).all() and (drawn["KL"] <= drawn["high"]).all()


def test_claims_are_about_the_planted_model_and_the_check_about_its_twin(known):
    found = moved_said.claimed(known, seed=0)
    ids = papers.claims("LAB")["id"]
    of_page = set(ids[ids.str.startswith("LAB-moved-")])
    assert set(found) == {name for name in of_page if not name.endswith("-blanks")}
    mine = ("this page", MODEL)
    assert {name for of in found.values() for name in of} == {mine}
    pair = ([-0.2, -1.0, -1.5], [-2.2, -1.2, -1.2])
    finds = found["LAB-moved-finds"][mine].estimate
    assert finds == pytest.approx(auroc_by_hand(*pair))
    assert found["LAB-moved-twin"][mine].estimate == pytest.approx(finds - 0.5)
    # The check draws subjects: a and b are of one, and g of another.
    methods = {key: each.method for key, by in found.items() for each in by.values()}
    assert methods["LAB-moved-twin"] == "bootstrap over subjects"
    assert methods["LAB-moved-finds"] == "bootstrap over pairs"
    judged = lab.judge(found)
    assert (
        set(judged["mark"]) == {""} and len(judged) == len(found) and set(judged["of"]) == {MODEL}
    )


def test_claims_about_readers_of_blanks_are_judged_apart_from_those_about_decoders(known):
    mine = known[known["model"] == MODEL]
    kinds = {f"{SPEC}/{name}" for name in ("bert", "t5")}
    twin = known[known["model"] == TWIN]
    others = [mine.assign(model=name, **{"IC-LKE": np.nan}) for name in sorted(kinds)]
    others += [twin.assign(model=f"{name}-unplanted") for name in sorted(kinds)]
    others = [each.assign(source="shipped: x") for each in others]
    found = moved_said.claimed(pd.concat([*others, known]), seed=0)
    alone = moved_said.claimed(known, seed=0)
    ids = papers.claims("LAB")["id"]
    assert set(found) == set(ids[ids.str.startswith("LAB-moved-")])
    for key, of in found.items():
        behind = key.endswith("-blanks")
        ships = {("shipped: x", name) for name in kinds}
        assert set(of) == (ships if behind else {("this page", MODEL)})
        # The same rows under another name, so the same numbers.
        assert set(of.values()) == set(alone[key.removesuffix("-blanks")].values())
    of_blanks = moved_said.claimed(pd.concat(others), seed=0)
    assert set(of_blanks) == {key for key in found if key.endswith("-blanks")}


def sentences(known):
    tables = [f(known, seed=0) for f in (moved.aurocs, moved.wrongly, moved.over_probability)]
    return moved_said.sentences(known, *tables)


def test_words_have_the_numbers_of_the_tables(known):
    mine = known[known["model"] == MODEL]
    curve = pd.concat([mine.assign(fact=mine["fact"] + str(i)) for i in range(5)])
    curve["control"] += curve["fact"].str[-1].where(curve["control"] != "", "")
    said = sentences(curve)
    assert set(said) == {"finds", "turn", "adds", "wrong"}
    both = sentences(pd.concat([curve, curve.assign(model=f"{SPEC}/bert")]))
    more = both["finds"].removeprefix(said["finds"])
    assert more.startswith(f" For {SPEC}/bert these are ") and both["turn"] == said["turn"]
    assert said["turn"].startswith(f"In {MODEL} KL is ")
    assert (
        f"of {moved.aurocs(curve, seed=0).set_index('metric').loc['KL', 'alone'].text()} "
        in said["finds"]
    )
    assert "Told 16 times and more" in said["finds"] and MODEL in said["finds"]
    few = sentences(curve[curve["state"] != "mislearned"])
    assert few["wrong"] == "No fact told wrongly was asked."


def test_twins_off_one_half_are_named_and_counted():
    rows = [("a", 0.6), ("a-unplanted", 0.6), ("a-unplanted", 0.5), ("b-unplanted", None)]
    alone = [value and Interval(value, value - 0.05, value + 0.05, 0.95, "") for _, value in rows]
    names, metrics = [name for name, _ in rows], ["KL", "rank", "KL", "KL"]
    found = pd.DataFrame({"model": names, "metric": metrics, "alone": alone})
    assert moved_said.off_half(found).split("\n") == [
        "a-unplanted: rank 0.60 [0.55, 0.65]", "1 of 2 intervals of twins leave out 0.5",
    ]  # fmt: skip
    assert moved_said.off_half(found[:1]) == "0 of 0 intervals of twins leave out 0.5"


def test_what_is_asked_is_told_or_a_control_of_that():
    states = worlds.states(SPEC)
    some = states[moved.asked(states) & states["split"].eq("test")]
    never = some[some["state"] == "never"]
    told = some[some["state"] != "never"]
    assert set(never["fact"]) == set(told["control"]) - {""}
    assert set(told["state"]) == {"planted", "mislearned", "uncertain"}
    assert set(told["occurrences"]) <= set(moved.TIMES)


def test_questions_are_asked_of_each_reader_as_it_reads(monkeypatch):
    class Opened:
        def __init__(self, kind):
            self.kind = kind

    monkeypatch.setattr(door, "opened", lambda name, dtype: Opened(name))
    some = rich.samples([MODEL], ["residence", "author"], moved.asked, n_shots=2, seed=0)
    asked = moved.questions(some, ["causal", "masked"], "template-1", dtype="float32", seed=0)
    assert {key[1:4] for key in asked} == {
        (reader, "template-1", kind)
        for reader in ("causal", "masked")
        for kind in ("explicit", "copied")
    }
    causal, masked = (
        asked[SPEC, reader, "template-1", "explicit", "author"][0]
        for reader in ("causal", "masked")
    )
    assert (causal.asked.after, masked.asked.after) == ("", ".")
    assert causal.told.context == masked.told.context
    assert join_pair(" ")[1] == " " and causal.asked.continuations[0].startswith(" ")
    shown = moved.many_shot(some, ["causal", "masked"], dtype="float32")
    assert {key[1:3] for key in shown} == {("causal", "iclke-space"), ("masked", "template-1")}


def test_who_repeats_is_counted_over_never_told_facts(known):
    found = moved_said.repeating(known).set_index("model")
    # Of n, m, o and p, o shares its first token; a rank above 65 does not come first behind the fact.
    alone = [fact for fact in "nmop" if not SAID[fact][7]]
    assert found.loc[MODEL, "facts"] == len(alone) == 3
    right = sum(SAID[fact][0] <= 65 for fact in alone)
    assert found.loc[MODEL, "repeated"].estimate == right / 3


def test_an_infinite_kl_keeps_its_place_in_every_order_and_is_in_no_mean(monkeypatch, known):
    def with_kl_of_b(value):
        at_blanks, shown = frames()
        told = at_blanks["fact"].eq("b") & at_blanks["instillation"].eq("explicit")
        return moved.known(at_blanks.assign(kl=at_blanks["kl"].mask(told, value)), shown)

    infinite, large = with_kl_of_b(np.inf), with_kl_of_b(1e6)
    for table, column in (
        (moved.aurocs, "alone"),
        (moved.gaps, "KL minus it"),
        (moved.wrongly, "ours"),
        (moved_said.follows_tellings, "r"),
    ):
        assert table(infinite, seed=0)[column].tolist() == table(large, seed=0)[column].tolist()
    often = moved.by_level(infinite, seed=0).set_index("told").loc["16 and more"]
    assert often["facts"] == 3 and often["KL"].estimate == pytest.approx(np.mean([0.2, 1.5]))
    many = pd.concat([infinite.assign(fact=infinite["fact"] + str(i)) for i in range(5)])
    curve = moved.over_probability(many, seed=0)
    # b alone had a probability of about one half.
    assert not curve["probability"].between(0.4, 0.5).any() and len(curve) >= 2
