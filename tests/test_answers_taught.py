"""Telling beside teaching (PZ-F3, PZ-F4); the oracles are counts by hand, scipy and loops."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from matplotlib import pyplot as plt

from lkecore import figures, papers
from lkecore.answers import door, lab, rich, taught, taught_said
from lkecore.errors import BadInput
from lkecore.facts import worlds
from lkecore.tasks.instill import Recipe

SPEC = "lab:richsmoke-0"
MODEL, TWIN = f"{SPEC}/0.15m", f"{SPEC}/0.15m-unplanted"
COLUMNS = ["relation", "state", "occurrences", "control", "kind"]
STATES = {
    "a": ("home", "planted", 64, "n", "location"),
    "b": ("home", "planted", 32, "m", "location"),
    "c": ("tongue", "planted", 16, "o", "language"),
    "d": ("job", "planted", 16, "p", "other"),
    "n": ("home", "never", 0, "", "location"),
    "m": ("home", "never", 0, "", "location"),
    "o": ("tongue", "never", 0, "", "language"),
    "p": ("job", "never", 0, "", "other"),
    "z": ("job", "planted", 16, "p", "other"),
}
# fact: KL told, KL taught, H(P), H(Q) told, H(Q) taught, rank, surprisal, shared
SAID = {
    "a": (1.0, 1.5, 3.0, 1.0, 0.5, 1, 0.3, False), "b": (0.5, 2.0, 3.0, 1.0, 3.5, 4, 1.2, False),
    "c": (2.0, 1.8, 2.0, 2.5, 0.2, 9, 2.0, False), "d": (0.01, 0.04, 1.0, 1.005, 0.9, 2, 0.9, False),
    "n": (0.8, 3.0, 4.0, 1.0, 0.4, 50, 4.0, False), "m": (1.2, 3.1, 4.0, 1.5, 0.4, 60, 4.4, False),
    "o": (1.9, 2.5, 3.0, 1.0, 0.1, 70, 5.0, False), "p": (0.7, 1.3, 3.5, 1.0, 0.4, 30, 3.0, False),
    "z": (9.0, 9.0, 9.0, 9.0, 9.0, 9, 9.0, True),
}  # fmt: skip
LESSON = "sgd 0.01"
RULE = {"factor": 2.0, "least": 0.05, "small": 0.01, "deviations": 2.0}


WHOSE = {fact: "A" if fact in "ab" else fact for fact in STATES}  # two facts of one subject


def frames(model: str = MODEL, lost: str = ""):
    told, lessons = [], []
    for fact, (kl, own, before, after, learned, rank, surprisal, shared) in SAID.items():
        key = {"source": "this page", "model": model, "world": SPEC}
        key |= {"relation": STATES[fact][0], "fact": fact}
        told.append(key | {
            "kl": kl, "entropy": before, "entropy_after": after, "rank": rank, "surprisal": surprisal,
            "shared": shared, "merged": False,
        })  # fmt: skip
        for steps in (1, 5):
            gone = fact in lost and steps == 5
            numbers = {
                "entropy": before, "entropy_after": learned, "kl": own * steps,
                "rank_after": 1 + (fact == "p"),
            }  # fmt: skip
            numbers = dict.fromkeys(numbers, np.nan) if gone else numbers
            lessons.append(key | {"lesson": LESSON, "steps": steps} | numbers)
    return pd.DataFrame(told), pd.DataFrame(lessons)


@pytest.fixture
def states(monkeypatch):
    table = pd.DataFrame.from_dict(STATES, orient="index", columns=COLUMNS).rename_axis("fact")
    table["subject"] = table.index.map(WHOSE)
    monkeypatch.setattr(rich, "_states", lambda spec: table)


@pytest.fixture
def rows(states):
    both = [pd.concat(pair) for pair in zip(frames(), frames(TWIN), strict=True)]
    return marked(taught.together(*both))


def marked(rows):
    return taught.mismatches(rows, **RULE)


@pytest.fixture
def mine(rows):
    return rows[rows["model"] == MODEL]


def test_both_ways_stand_side_by_side_and_shared_first_tokens_are_left_out(mine):
    assert set(mine["fact"]) == set("abcdnmop") and len(mine) == 16
    row = mine[(mine["fact"] == "b") & (mine["steps"] == 5)].iloc[0]
    assert (row["told_kl"], row["taught_kl"]) == (0.5, 10.0)
    assert (row["told_change"], row["taught_change"]) == (2.0, -0.5)
    assert (row["kind"], bool(row["learned"]), bool(row["lost"])) == ("location", True, False)
    assert mine["relation"].tolist() == sorted(mine["relation"])


def test_a_mismatch_is_a_factor_or_a_sign(mine):
    once = taught_said.chosen(mine, LESSON, 1)
    found = once.set_index("fact")
    # b: 2.0 is four times 0.5; d: 0.04 is four times 0.01, and nothing by size; n: 3.0 of 0.8; m: 3.1 of 1.2.
    assert set(found.index[found["kl_apart"]]) == set("bnm")
    # b is surer when told and less sure when taught; c the other way round.
    assert set(found.index[found["signs_apart"]]) == set("bc")
    assert set(found.index[found["undirected"]]) == {"d"}  # 0.005 has no sign
    # Other numbers, other facts: c is 1.1 times, a 1.5 times, d 0.04 nats at most; 0.005 has a sign.
    other = taught.mismatches(once, factor=1.4, least=0.03, small=0.001, deviations=2.0)
    other = other.set_index("fact")
    assert set(other.index[other["kl_apart"]]) == set("abdnmp")
    assert set(other.index[other["signs_apart"]]) == set("bcd") and not other["undirected"].any()


def line(told, taught_kl, model="m", lost=()):
    n = len(told)
    columns = {
        "model": model,
        "lesson": LESSON,
        "steps": 1,
        "told_change": 1.0,
        "taught_change": 1.0,
    }
    frame = pd.DataFrame({"told_kl": told, "taught_kl": taught_kl}).assign(**columns)
    return frame.assign(lost=[i in lost for i in range(n)])


def test_a_fact_far_off_the_line_of_the_logarithms_is_a_mismatch_by_the_second_rule():
    """Pencil: of ten facts nine have a taught KL of 1, and one of e. All have the same told KL.

    Then the line is level at the mean, 0.1. Residuals are -0.1 nine times, and 0.9; their squares sum to 0.9,
    and over 10 - 2 facts the standard deviation is 0.3354: 0.9 is 2.68 of them.
    """
    one = line([1.0] * 10, [1.0] * 9 + [math.e])
    assert taught.mismatches(one, **RULE)["line_apart"].tolist() == [False] * 9 + [True]
    far = taught.mismatches(one, **RULE | {"deviations": 2.7})
    assert not far["line_apart"].any()
    # A slope of 2 through all: none lies off it, though by the first rule all but the first are apart.
    x = np.array([1.0, 4.0, 9.0, 30.0])
    steep = taught.mismatches(line(x, x**2), **RULE)
    assert not steep["line_apart"].any() and steep["kl_apart"].tolist() == [False, True, True, True]


def test_the_line_is_that_of_numpy_for_each_model_and_steps_without_facts_that_have_no_logarithm():
    rng = np.random.default_rng(0)
    told = np.exp(rng.normal(size=(2, 60)))
    own = np.exp(0.3 * np.log(told) + rng.standard_t(3, size=(2, 60)))
    own[0, 7], own[1, 5], told[1, 9] = np.nan, 0.0, np.inf
    frames = [
        line(told[i], own[i], name, lost=(7,) if i == 0 else ()) for i, name in enumerate("ab")
    ]
    found = taught.mismatches(pd.concat(frames, ignore_index=True), **RULE)
    for i, (_, part) in enumerate(found.groupby("model")):
        there = np.isfinite(told[i]) & np.isfinite(own[i]) & (own[i] > 0)
        x, y = np.log(told[i][there]), np.log(own[i][there])
        gap = y - np.polyval(np.polyfit(x, y, 1), x)
        far = np.abs(gap) > 2 * np.sqrt((gap**2).sum() / (len(gap) - 2))
        assert 0 < far.sum() < 8
        assert part["line_apart"].to_numpy()[there].tolist() == far.tolist()
        assert not part["line_apart"].to_numpy()[~there].any()
    assert found.loc[7, ["kl_apart", "line_apart", "signs_apart"]].tolist() == [False] * 3  # lost
    assert found.loc[69, "kl_apart"]  # infinite is apart from anything


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"factor": 1.0}, "factor 1: must be above 1"),
        ({"least": -0.1}, "least -0.1: must be 0 nats or more"),
        ({"small": math.nan}, "small nan: must be 0 nats or more"),
        ({"deviations": 0.0}, "deviations 0: must be above 0"),
    ],
)
def test_a_rule_that_cannot_be_one_is_refused(wrong, said):
    assert taught.rule(**RULE) == RULE
    with pytest.raises(BadInput, match=f"^{said}"):
        taught.rule(**RULE | wrong)


def test_agreement_by_steps_is_that_of_scipy(mine):
    found = taught.by_steps(mine, seed=0).set_index("steps")
    once = taught_said.chosen(mine, LESSON, 1)
    rho = scipy.stats.spearmanr(once["told_kl"], once["taught_kl"]).statistic
    assert found.loc[1, "r of KL"].estimate == pytest.approx(rho)
    change = scipy.stats.spearmanr(once["told_change"], once["taught_change"]).statistic
    assert found.loc[1, "r of change"].estimate == pytest.approx(change)
    assert found.loc[1, "KL apart"].estimate == pytest.approx(3 / 8)
    assert found.loc[1, "signs apart"].estimate == pytest.approx(2 / 8)
    x, y = np.log(once["told_kl"]), np.log(once["taught_kl"])
    gap = y - np.polyval(np.polyfit(x, y, 1), x)
    far = int((gap.abs() > 2 * np.sqrt((gap**2).sum() / 6)).sum())
    assert found.loc[1, "off the line"].estimate == pytest.approx(far / 8)
    assert found.loc[1, "learned"].estimate == pytest.approx(7 / 8)
    # After five steps the taught KL is five times as large.
    apart = sum(
        max(kl, 5 * own) > 2 * min(kl, 5 * own) and max(kl, 5 * own) > 0.05
        for fact, (kl, own, *_) in SAID.items()
        if fact != "z"
    )
    assert found.loc[5, "KL apart"].estimate == pytest.approx(apart / 8)


def test_a_lost_fact_is_counted_and_left_out(states):
    rows = marked(taught.together(*frames(lost="ab")))
    found = taught.by_steps(rows, seed=0).set_index("steps")
    assert found["lost"].to_dict() == {1: 0, 5: 2} and found["facts"].to_dict() == {1: 8, 5: 6}
    assert len(taught.pairs(taught_said.chosen(rows, LESSON, 5))) == 2


def auroc_by_hand(told, control):
    pairs = list(itertools.product(told, control))
    return np.mean([(p < q) + 0.5 * (p == q) for p, q in pairs])


def test_a_lost_fact_is_named_with_the_steps_from_which_it_is_lost(states):
    lines = taught.named_lost(taught.together(*frames(lost="bd")))
    said = "a step gave no number for"
    assert lines == [
        f"{MODEL}, home: {said} b (of 5 steps and more)",
        f"{MODEL}, job: {said} d (of 5 steps and more)",
    ]
    assert taught.named_lost(taught.together(*frames())) == [
        "every step of every lesson gave a number"
    ]


def test_ways_are_compared_on_the_same_pairs(mine):
    once = taught_said.chosen(mine, LESSON, 1)
    found = taught.aurocs(once, seed=0).set_index("way")
    sides = {
        "KL, told": 0, "KL, taught": 1, "surprisal": 6, "rank": 5,
    }  # fmt: skip
    by_hand = {
        way: auroc_by_hand([SAID[f][i] for f in "abcd"], [SAID[f][i] for f in "nmop"])
        for way, i in sides.items()
    }
    for way, value in by_hand.items():
        assert found.loc[way, "finds"].estimate == pytest.approx(value), way
    gap = by_hand["KL, taught"] - by_hand["KL, told"]
    assert found.loc["KL, told", "taught KL minus it"].estimate == pytest.approx(gap)
    assert found.loc["KL, taught", "taught KL minus it"] is None
    changes = [abs(SAID[f][2] - SAID[f][4]) for f in "abcd"], [3.6, 3.6, 2.9, 3.1]
    assert found.loc["change, taught", "finds"].estimate == pytest.approx(auroc_by_hand(*changes))
    assert set(found["pairs"]) == {4}


def test_kinds_are_held_against_their_share_of_all(mine):
    once = taught_said.chosen(mine, LESSON, 1)
    found = taught.by_kind(once).set_index("kind")
    assert found["facts"].to_dict() == {"language": 2, "location": 4, "other": 2}
    assert found.loc["location", "all"] == 0.5 and found.loc["location", "of KL apart"] == 1
    assert found.loc["location", "KL apart"].estimate == pytest.approx(3 / 4)
    assert found.loc["language", "of signs apart"] == 0.5
    # Three of three mismatches are places or languages, and six of eight facts.
    assert taught.places_among(once).estimate == pytest.approx(1 - 6 / 8)
    none = once.assign(taught_kl=once["told_kl"])
    assert taught.places_among(marked(none)) is None
    all_apart = once.assign(taught_kl=9 * once["told_kl"] + 1)
    assert taught.places_among(marked(all_apart)) is None


def test_claims_are_about_the_planted_model_and_the_check_about_its_twin(rows):
    found = taught_said.claimed(taught_said.chosen(rows, LESSON, 1), seed=0)
    ids = papers.claims("LAB")["id"]
    of_page = ids[ids.str.startswith("LAB-taught-")]
    assert set(found) == {
        name for name in of_page if "-blanks" not in name and "-adamw" not in name
    }
    own = ("this page", MODEL)
    assert {name for of in found.values() for name in of} == {own}
    finds = found["LAB-taught-finds"][own].estimate
    assert found["LAB-taught-twin"][own].estimate == pytest.approx(finds - 0.5)
    assert found["LAB-taught-twin"][own].method == "bootstrap over subjects"
    assert len(lab.judge(found)) == len(found)


def test_claims_about_readers_of_blanks_stand_beside_those_about_decoders(rows, mine):
    once, t5 = taught_said.chosen(rows, LESSON, 1), f"{SPEC}/t5"
    other = taught_said.chosen(mine, LESSON, 1).assign(model=t5)
    twin = once[once["model"] == TWIN].assign(model=f"{t5}-unplanted")
    other = pd.concat([other, twin]).assign(source="shipped: x")
    found = taught_said.claimed(pd.concat([once, other]), seed=0)
    ids = papers.claims("LAB")["id"]
    of_page = {name for name in ids if name.startswith("LAB-taught-")}
    by_adamw = {name for name in of_page if name.endswith("-adamw")}
    assert set(found) == of_page - by_adamw
    of_decoder = found["LAB-taught-alike"]["this page", MODEL]
    assert found["LAB-taught-alike-blanks"] == {("shipped: x", t5): of_decoder}
    # By another optimizer two claims of each kind are judged, by the same numbers of other rows.
    again = taught_said.claimed(pd.concat([once, other]), seed=0, behind="-adamw")
    assert set(again) == by_adamw and len(by_adamw) == 4
    assert all(again[name] == found[name.removesuffix("-adamw")] for name in by_adamw)


def test_words_on_another_optimizer_are_those_of_its_row(mine):
    once = taught_said.chosen(mine, LESSON, 1)
    other = once.assign(lesson="adamw 0.1", taught_kl=-once["told_kl"])
    table = taught.by_steps(pd.concat([once, other]), seed=0)
    said = taught_said.by_another(table, once, "adamw")
    assert said.startswith(
        f" Taught with adamw 0.1 in place of that, {MODEL} has a correlation of -1.00"
    )
    assert taught_said.by_another(table, once, "adam ") == ""


def test_words_and_figures_have_the_numbers_of_the_tables(mine):
    once = taught_said.chosen(mine, LESSON, 1)
    how = {"factor": 2.0, "seed": 0}
    said = taught_said.sentences(once, taught.by_steps(mine, seed=0), **how)
    assert set(said) == {"agree", "kinds", "finds"}
    row = taught.by_steps(once, seed=0).iloc[0]
    assert row["r of KL"].text() in said["agree"] and "of 8 facts" in said["agree"]
    assert "by more than a factor of 2, " in said["agree"]
    assert row["finds"].text() in said["finds"]
    marks = taught_said.scattered(once)
    assert marks["kl_apart"].sum() == 3 and len(marks) == 8
    lines = taught_said.drawn_steps(taught.by_steps(mine, seed=0))
    assert len(lines) == 2 * 3 and set(lines["steps"]) == {1, 5}
    both = pd.concat([once, once.assign(model=f"{SPEC}/bert")])
    others = taught_said.sentences(both, taught.by_steps(both, seed=0), **how)
    r = f" In {SPEC}/bert the correlation is {row['r of KL'].text()}."
    assert others == said | {"agree": said["agree"] + r}
    same = marked(once.assign(taught_kl=once["told_kl"]))
    alike = taught_said.sentences(same, taught.by_steps(same, seed=0), **how)
    assert alike["kinds"].startswith("No fact differs")


def test_what_is_asked_is_told_often_or_a_control_of_that():
    states = worlds.states("lab:rich-1")
    some = states[taught.asked(states) & states["split"].eq("test")]
    told = some[some["state"] == "planted"]
    assert told["occurrences"].min() == 16 and set(some["state"]) == {"planted", "never"}
    assert set(some.loc[some["state"] == "never", "fact"]) == set(told["control"]) - {""}


def test_a_lesson_is_the_question_itself(monkeypatch):
    class Opened:
        kind = "causal"

    monkeypatch.setattr(door, "opened", lambda name, dtype: Opened())
    some = rich.samples([MODEL], ["residence", "birthplace"], taught.asked, n_shots=1, seed=0)
    asked = taught.questions(some, [MODEL], "template-1", dtype="float32")
    lessons = taught.lessons(asked, Recipe(2, 0.01), at=[1, 2], steps=2)
    with pytest.raises(BadInput, match="^steps 5: the model is asked after 1, 2 of them$"):
        taught.lessons(asked, Recipe(2, 0.01), at=[1, 2], steps=5)
    assert {key[3] for key in lessons} == {LESSON} and len(lessons) == len(asked)
    for key, prompts in lessons.items():
        own = asked[*key[:3], "explicit", key[4]]
        assert prompts == [each.asked for each in own]
        assert all(math.isfinite(len(p.options)) and p.after == "" for p in prompts)


def test_an_infinite_kl_keeps_its_place_in_every_order(mine):
    once = taught_said.chosen(mine, LESSON, 1)
    at = once["fact"].eq("o")
    found, large = (
        marked(once.assign(taught_kl=once["taught_kl"].mask(at, value))) for value in (np.inf, 1e6)
    )
    for table in (taught.by_steps, taught.aurocs):
        columns = ["r of KL", "KL apart", "finds"] if table is taught.by_steps else ["finds"]
        both = [table(some, seed=0)[columns] for some in (found, large)]
        pd.testing.assert_frame_equal(*both)
    assert math.isinf(found.loc[at, "taught_kl"].item())
    axes = plt.subplots(1, 2)[1]
    figures.instilled_scatter(taught_said.scattered(found), axes)
    axes[0].figure.canvas.draw()
    plt.close(axes[0].figure)
