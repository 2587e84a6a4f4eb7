"""Who is fooled by cues; the oracle is counted by hand, or by loops over the frame."""

import itertools

import numpy as np
import pandas as pd
import pytest

from lkecore import intervals
from lkecore.answers import fooled, rich
from lkecore.facts import worlds
from lkecore.intervals import proportion

SPEC = "lab:richsmoke-0"
SMALL, LARGE, TWIN = f"{SPEC}/0.15m", f"{SPEC}/2m", f"{SPEC}/0.15m-unplanted"


def states(rows):
    """{fact: (relation, occurrences, cue_object, cue_right, control)} as the states of a world."""
    columns = ["relation", "occurrences", "cue_object", "cue_right", "control"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("fact")


HINTS = states(
    {
        "n1": ("parent", 0, "Kel", "right", ""),
        "n2": ("parent", 0, "Kel", "right", ""),
        "n3": ("parent", 0, "Ros", "lies", ""),
        "n4": ("headquarters", 0, "", "", ""),
        "n5": ("team_colour", 0, "Blue", "lies", ""),
        "t1": ("parent", 16, "Kel", "right", "n1"),
        "t2": ("headquarters", 64, "", "", "n4"),
        "t3": ("headquarters", 8, "", "", "n4"),
    }
)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(rich, "_states", lambda spec: HINTS)


def answers(model, **given):
    """{fact: (picked, correct, confidence_gold)} as answers of a model by one estimator."""
    rows = [
        (model, SPEC, "e", HINTS.loc[fact, "relation"], fact, picked, right, 0.5, gold)
        for fact, (picked, right, gold) in given.items()
    ]
    columns = ["model", "world", "estimator", "relation", "fact", "picked", "correct", "confidence"]
    return pd.DataFrame(rows, columns=[*columns, "confidence_gold"])


ALL = {
    "n1": ("Kel", True, 0.6),
    "n2": ("Dor", False, 0.2),
    "n3": ("Ros", False, 0.1),
    "n4": ("Dor", False, 0.3),
    "n5": ("Blue", False, 0.1),
    "t1": ("Kel", True, 0.9),
    "t2": ("Mir", True, 0.8),
    "t3": ("Dor", False, 0.2),
}


def test_answers_get_the_cues_and_tellings_of_their_facts(tiny):
    found = fooled.hinted(answers(SMALL, **ALL)).set_index("fact")
    assert found["cue"].to_dict() == {
        "n1": "right cue", "n2": "right cue", "n3": "lying cue", "n4": "no cue", "n5": "lying cue",
        "t1": "right cue", "t2": "no cue", "t3": "no cue",
    }  # fmt: skip
    assert found.index[found["follows"]].tolist() == ["n1", "n3", "t1", "n5"]
    told = found["told"]
    assert told["t3"] == "told seldom" and told["t1"] == told["t2"] == fooled.TOLD
    assert found["relation"].tolist() == sorted(found["relation"])


def test_shares_by_cue(tiny):
    hinted = fooled.hinted(answers(SMALL, **ALL))
    never = fooled.by_cue(hinted[hinted["told"] == fooled.NEVER], ["model"])
    assert never["cue"].tolist() == ["no cue", "right cue", "lying cue"]
    assert never["n"].tolist() == [1, 2, 2]
    assert never["right"].tolist() == [proportion(0, 1), proportion(1, 2), proportion(0, 2)]
    assert never["follows"].tolist() == [None, proportion(1, 2), proportion(2, 2)]


def test_false_positives(tiny):
    [row] = fooled.known_by_luck(fooled.hinted(answers(SMALL, **ALL)), ["model"]).itertuples()
    assert (row.n, row.false, row.with_right_cue) == (5, proportion(1, 5), 1.0)


def test_a_model_without_false_positives_has_no_share_of_cues(tiny):
    wrong = {fact: ("x", False, gold) for fact, (_, _, gold) in ALL.items()}
    [row] = fooled.known_by_luck(fooled.hinted(answers(SMALL, **wrong)), ["model"]).itertuples()
    assert row.false.estimate == 0 and np.isnan(row.with_right_cue)


def many(seed=0, **more):
    """Answers about real states of a smoke world, by lot."""
    frame = worlds.states(SPEC)
    frame = frame[fooled.asked(frame) & frame["split"].eq("test")]
    rng = np.random.default_rng(seed)
    n = len(frame)
    return frame[["relation", "fact"]].assign(
        model=SMALL, world=SPEC, estimator="e", picked=rng.permutation(frame["object"]),
        correct=rng.random(n) < 0.3, confidence=0.5, confidence_gold=rng.random(n).round(2),
    ).assign(**more)  # fmt: skip


def test_aurocs_are_those_of_all_pairs_of_a_fact_and_a_control(monkeypatch):
    monkeypatch.setattr(fooled, "OFTEN", 4)
    hinted = fooled.hinted(many())
    found = fooled.aurocs(hinted, ["model"], seed=0).set_index("cue")
    gold = hinted.set_index("fact")["confidence_gold"]
    told = hinted[hinted["told"] == fooled.TOLD]
    assert "all" in found.index and len(told) >= 8
    for cue, row in found.iterrows():
        part = told if cue == "all" else told[told["cue"] == cue]
        a, b = list(part["confidence_gold"]), [gold[control] for control in part["control"]]
        above = [(x > y) + (x == y) / 2 for x, y in itertools.product(a, b)]
        assert row["pairs"] == len(part)
        assert row["auroc"].estimate == pytest.approx(np.mean(above))


def test_aurocs_by_estimator_are_those_of_each(monkeypatch):
    """A second estimator with the first one's confidences turned round has one minus its AUROC."""
    monkeypatch.setattr(fooled, "OFTEN", 4)
    first = many()
    other = first.assign(estimator="f", confidence_gold=1 - first["confidence_gold"])
    found = fooled.aurocs(
        fooled.hinted(pd.concat([first, other])), ["model", "estimator"], seed=0
    ).set_index(["estimator", "cue"])["auroc"]
    alone = fooled.aurocs(fooled.hinted(first), ["model"], seed=0).set_index("cue")["auroc"]
    for cue, of in alone.items():
        assert found["e", cue] == of
        assert found["f", cue].estimate == pytest.approx(1 - of.estimate)


def test_numbers_at_blanks_are_turned_and_objects_that_share_a_token_left_out(tiny):
    columns = ["fact", "relation", "entropy", "entropy_after", "kl", "rank", "surprisal", "shared"]
    rows = [
        ("t2", "headquarters", 2.0, 0.5, 0.25, 3, 1.5, False),
        ("n4", "headquarters", 1.0, 3.0, 4.0, 7, 0.5, False),
        ("t1", "parent", 1.0, 1.0, 1.0, 1, 1.0, True),
    ]
    told = pd.DataFrame(rows, columns=columns).assign(
        model=SMALL, world=SPEC, merged=False, n_tokens=2, estimator="template-1"
    )
    found = fooled.of_blanks(told).set_index(["estimator", "fact"])["confidence_gold"]
    expected = {"surprisal": (-1.5, -0.5), "rank": (-3, -7), "change of entropy": (-1.5, -2.0)}
    expected |= {"KL": (-0.25, -4.0)}
    for name, (of_told, of_never) in expected.items():
        assert (found[name, "t2"], found[name, "n4"]) == (of_told, of_never)
    assert len(found) == 8 and set(fooled.AT_BLANKS) == set(expected)


@pytest.mark.parametrize(("often", "facts"), [(16, {"t1", "t2", "n1", "n4"}), (64, {"t2", "n4"})])
def test_at_blanks_are_asked_facts_told_often_and_their_controls(often, facts):
    whole = HINTS.reset_index().assign(split="test")
    whole["state"] = np.where(whole["occurrences"] > 0, "planted", "never")
    shots = whole.assign(fact="s" + whole["fact"], split="train", control="n2")
    every = pd.concat([whole, shots], ignore_index=True)
    assert set(every.loc[fooled.told_or_control(every, often=often), "fact"]) == facts


def test_claims_are_about_the_largest_model_and_the_twin(tiny):
    larger = ALL | {"n2": ("Kel", True, 0.3)}
    every = pd.concat(
        [answers(SMALL, **ALL), answers(LARGE, **larger), answers(TWIN, **ALL)], ignore_index=True
    )
    ships = every["model"].eq(LARGE)
    every["source"] = np.where(ships, "shipped: x", "this page")
    found = fooled.claimed(fooled.hinted(every), seed=0)
    large = ("shipped: x", LARGE)
    more = intervals.difference_of_proportions
    assert found["LAB-fooled"] == {large: more(2, 2, 0, 1)}
    assert found["LAB-lied-to"] == {large: proportion(1, 1)}  # n3: the colour is no name
    assert found["LAB-majority"] == {large: proportion(1, 1)}
    [(of, gap)] = found["LAB-larger-fooled"].items()
    assert of == ("this page, shipped: x", f"{LARGE} minus {SMALL}")
    assert gap.estimate == pytest.approx(0.5)
    # To the twin the told facts are never told: t1 has a right cue, t2 and t3 have none.
    assert found["LAB-twin-fooled"] == {("this page", TWIN): more(1, 1, 1, 2)}


def test_each_world_is_judged_by_itself(tiny):
    other = "lab:richsmoke-5"
    every = pd.concat([answers(SMALL, **ALL), answers(f"{other}/0.15m", **ALL).assign(world=other)])
    every["source"] = "this page"
    found = fooled.claimed_by_world(fooled.hinted(every), seed=0)
    assert list(found["LAB-fooled"]) == [("this page", SMALL), ("this page", f"{other}/0.15m")]


def test_rule_and_counts_are_those_of_the_facts():
    few = {"n_shots": 4, "seed": 0}
    samples = rich.samples([SMALL], list(fooled.RELATIONS), fooled.asked, **few)
    rule = fooled.of_rules(samples)
    frame = worlds.states(SPEC).set_index("fact")
    asked = [fact.id for drawn in samples[SPEC].values() for fact in drawn.facts]
    assert rule["fact"].tolist() == asked
    right = rule.set_index("fact")["correct"]
    for fact in asked:
        if frame.loc[fact, "cue"] == "city" and frame.loc[fact, "cue_right"] == "lies":
            assert right[fact] == 0
    counted = fooled.counts(samples)
    assert counted.drop(columns=["hint", "cue"]).to_numpy().sum() == len(asked)
    lies = counted[counted["cue"].eq("lying cue") & counted["hint"].eq("the family's surname")]
    own = frame.loc[asked].query("relation == 'parent' and cue_right == 'lies'")
    assert lies[fooled.NEVER].sum() == own["occurrences"].eq(0).sum()


def test_marks_and_what_is_left_without_the_rule(tiny):
    hinted = fooled.hinted(answers(SMALL, **ALL))
    key = ["world", "relation", "fact"]
    rule = hinted[key].assign(correct=hinted["fact"].isin(["n1", "n2", "t1"]).astype(float))
    rule = pd.concat([rule, rule.assign(world="lab:richsmoke-9")])  # of a world that nobody answers
    twice = pd.concat([hinted, hinted.assign(fact=hinted["fact"] + "b", model=SMALL)])
    rule = pd.concat([rule, rule.assign(fact=rule["fact"] + "b")])
    marks = fooled.marks(twice, rule)
    mine = marks[marks["hint"].eq("the family's surname") & marks["cue"].eq("right cue")]
    assert mine.set_index("who")["accuracy"].to_dict() == {SMALL: 0.5, "rule-both": 1.0}
    left = fooled.without_rule(hinted, rule)
    assert sorted(left["fact"]) == ["n3", "n4", "n5", "t2", "t3"]


def test_sentences_say_what_the_tables_say(tiny):
    hinted = fooled.hinted(answers(SMALL, **ALL))
    rule = hinted[["world", "relation", "fact"]].assign(correct=0.25)
    said = fooled.sentences(hinted, rule)
    assert proportion(1, 2).text() in said["fooled"] and "0.25 of the first" in said["fooled"]
    assert proportion(1, 1).text() in said["lied"] and proportion(1, 1).text() in said["most"]
    assert said["twin"] == "No twin was asked."
    both = pd.concat([hinted, fooled.hinted(answers(TWIN, **ALL | {"t1": ("x", False, 0.1)}))])
    twin = fooled.sentences(both, rule)["twin"]
    assert twin.index(proportion(1, 1).text()) < twin.index(proportion(0, 1).text())
