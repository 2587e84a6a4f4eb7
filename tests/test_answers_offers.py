"""The same facts among other options: tables by pencil, and what rules get, recounted."""

import pandas as pd
import pytest

from lkecore import facts
from lkecore.answers import offers, rules
from lkecore.facts import offers as choices

KEY = ["source", "model", "estimator", "offer"]


@pytest.fixture(scope="module")
def samples():
    drawn = {"n_shots": 20, "n_facts": 20, "n_options": 15, "seed": 0}
    sample = facts.draw("atlas", ["capital", "country_of_city"], **drawn)
    uses = choices.uses_of("atlas")
    return {name: choices.offered(sample, name, uses=uses, seed=0) for name in choices.OFFERS}


def test_questions_of_all_offers_differ_in_their_options_alone(samples):
    made = offers.questions(samples, ["iclke-space"])
    assert list(made)[:2] == [("random", "iclke-space", n) for n in ("capital", "country_of_city")]
    for (_, estimator, name), some in made.items():
        first = made["random", estimator, name]
        assert [(p.fact, p.context) for p in some] == [(p.fact, p.context) for p in first]
        golds = [p.options[p.gold] for p in some]
        assert golds == [p.options[p.gold] for p in first]


def test_other_shots_leave_the_options_of_each_offer_as_they_are(samples):
    made, again = (
        offers.questions(samples, ["iclke-space"]),
        offers.redrawn(samples, ["iclke-space"], [0, 3]),
    )
    assert len(again) == 2 * len(made)
    for (*key, draw), some in again.items():
        first = made[tuple(key)]
        assert [(p.fact, p.options) for p in some] == [(p.fact, p.options) for p in first]
        same = [p.context for p in some] == [p.context for p in first]
        assert same == (draw == 0)  # the seed of the sample


def test_shared_options_are_counted_as_by_hand(samples):
    table = offers.shared(samples).set_index("relation")
    for name, drawn in samples["random"].items():
        for offer in ("frequency", "length", "use"):
            others = samples[offer][name]
            n = sum(
                sum(text in b and text != fact.object for text in a)
                for fact, a, b in zip(drawn.facts, drawn.options, others.options, strict=True)
            )
            assert table.loc[name, offer] == pytest.approx(n / (20 * 14))


def test_a_choice_by_length_leaves_the_rule_of_length_next_to_chance(samples):
    found = offers.cues(samples, kept=False).assign(source="this page")
    of_rules = offers.of_rules(found).set_index("offer")
    for offer, sample in samples.items():
        by_hand = []
        for drawn in sample.values():
            right = 0.0
            for fact, options in zip(drawn.facts, drawn.options, strict=True):
                least = min(map(len, options))
                shortest = [text for text in options if len(text) == least]
                right += (fact.object in shortest) / len(shortest)
            by_hand.append(right / len(drawn.facts))
        assert of_rules.loc[offer, "rule-length"] == pytest.approx(sum(by_hand) / 2)


def answered(**right):
    """Answers of one model to eight facts of two relations in each offer, and cues of these facts."""
    rows = [
        ("this page", "m", "iclke-space", offer, f"r{i % 2}", f"f{i}", digit == "1", 10)
        for offer, digits in right.items()
        for i, digit in enumerate(digits)
    ]
    table = pd.DataFrame(rows, columns=[*KEY, "relation", "fact", "correct", "n_options"])
    cues = table[["source", "offer", "relation", "fact", "n_options"]]
    cues = cues.assign(cue_word=False, cue_frequent=False, length_rank=1.0)
    return table, cues.assign(**dict.fromkeys(rules.RULES, 0.1))


def test_against_random_by_pencil():
    table, _ = answered(random="11110000", length="11000000", use="11110011")
    found = offers.against_random(table, seed=0).set_index("second")
    # r0 has facts 0, 2, 4, 6: 2 of 4 by lot, 1 of 4 by length, 3 of 4 by use; r1 is the same
    assert found.loc["length", "over_relations"].estimate == -0.25
    assert found.loc["use", "over_relations"].estimate == 0.25
    assert found[["only_first", "only_second"]].to_numpy().tolist() == [[2, 0], [0, 2]]


def test_the_best_rule_is_chosen_in_each_offer_by_itself():
    table, cues = answered(random="11110000", length="11000000")
    cues.loc[cues["offer"] == "random", "rule-length"] = 0.4
    cues.loc[cues["offer"] == "length", "rule-both"] = 0.3
    found = offers.beside_rules(table, cues, KEY, seed=0)
    whole = found[found["facts"] == "all"].set_index("offer")
    assert whole["rule"].to_dict() == {"random": "rule-length", "length": "rule-both"}
    assert whole.loc["random", "above"].estimate == pytest.approx(0.5 - 0.4)
    assert whole.loc["length", "above"].estimate == pytest.approx(0.25 - 0.3)
    assert set(whole["source"]) == {"this page"}
    marks = offers.marks(whole.reset_index(), cues, "iclke-space").set_index(["offer", "who"])
    assert marks.loc[("random", offers.RULE), "accuracy"] == pytest.approx(0.4)
    assert marks.loc[("length", "m"), "accuracy"] == 0.25


def test_claims_are_about_each_offer_by_itself_and_sentences_name_the_largest_move():
    table, cues = answered(random="11110000", length="11000000", use="11110001")
    gaps = offers.against_random(table, seed=0)
    tested = offers.for_claims(gaps, ["random", "length", "use"])
    assert list(tested) == ["iclke-space, length", "iclke-space, use"]
    found = offers.beside_rules(table, cues, KEY, seed=0)
    told = offers.sentences(found[found["facts"] == "all"], gaps, "iclke-space")
    assert "a choice by length: -0.25" in told["moved"] and "for m," in told["moved"]
    assert told["lot"].endswith("m 0.50 [0.50, 0.50].")
    assert "by length" in told["left"]
