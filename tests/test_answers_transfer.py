"""Transfer over wordings: the oracle fills templates and searches for them in the world's text."""

import numpy as np
import pandas as pd
import pytest

from lkecore.answers import transfer
from lkecore.facts import world, world_text

WORLD = "lab:smoke-1"


@pytest.fixture(scope="module")
def text():
    return "\n".join(world_text.documents(world.world(WORLD)))


@pytest.fixture(scope="module")
def answers():
    """All asked facts that are told in sentences alone, by five estimators; right by lot."""
    states = world.states(WORLD)
    states = states[states["split"].eq("test") & states["form"].eq("sentence")]
    names = ["iclke-space", "template-1", "template-2", "template-4", "template-5"]
    found = pd.concat([states.assign(estimator=name) for name in names], ignore_index=True)
    right = np.random.default_rng(0).random(len(found)) < 0.5
    return found.assign(world=WORLD, model=f"{WORLD}/0.15m", correct=right)


def stands(row, text):
    """Whether the text tells a fact in the wording of the template that asks it."""
    template = world.about(row.relation)[2][int(row.estimator[-1]) - 1]
    return template.replace("[X]", row.subject).replace("[Y]", row.told) + "." in text


def test_every_answer_to_a_template_says_what_its_wording_is_to_the_text(answers, text):
    found = transfer.by_wording(answers)
    templates = answers[answers["estimator"].str.startswith("template-")]
    assert found["fact"].tolist() == templates["fact"].tolist()
    new = world_text.wordings(WORLD).drop_duplicates(["relation", "template"])
    new = new.set_index(["relation", "template"])["new_words"]
    for row in found.itertuples():
        if row.estimator == "template-5":
            strange = new[row.relation, row.estimator] != ""
            assert row.asked_in == (transfer.NEW if strange else transfer.KNOWN)
        else:
            assert row.asked_in == (transfer.TOLD if stands(row, text) else transfer.OTHER)
    assert set(found["asked_in"]) == set(transfer.ASKED_IN)


def asked_both_ways(answers, text):
    """{fact: [(told in it, right), ...]} of facts told in one wording, where both sorts are asked."""
    found = {}
    of_text = answers["estimator"].isin(["template-1", "template-2", "template-4"])
    for row in answers[answers["wording"].eq("one") & of_text].itertuples():
        found.setdefault(row.fact, []).append((stands(row, text), row.correct))
    return {fact: rows for fact, rows in found.items() if len({told for told, _ in rows}) == 2}


def test_the_gain_is_a_mean_over_the_same_facts_asked_both_ways(answers, text):
    rows = asked_both_ways(answers, text)
    assert len(rows) > 10
    gaps = [
        np.mean([right for told, right in each if told])
        - np.mean([right for told, right in each if not told])
        for each in rows.values()
    ]
    found = transfer.gain(answers, seed=0)
    assert found.estimate == pytest.approx(np.mean(gaps)) and found.low <= found.estimate
    assert transfer.gain(answers.sample(frac=1, random_state=1), seed=0) == found
    few = answers[answers["fact"] == next(iter(rows))]
    assert transfer.gain(few, seed=0) is None
    assert transfer.gain(answers[answers["estimator"] == "template-5"], seed=0) is None


def test_shares_have_the_same_facts_in_the_first_two_rows(answers, text):
    two = answers[answers["estimator"].isin(["template-1", "template-4", "template-5"])]
    found = transfer.shares(two).set_index(["told_in", "asked_in"])
    rows = asked_both_ways(two[two["estimator"] != "template-5"], text)
    for told, name in ((True, transfer.TOLD), (False, transfer.OTHER)):
        right = [r for each in rows.values() for is_told, r in each if is_told == told]
        row = found.loc[("one", name)]
        assert (row["questions"], row["accuracy"].estimate) == (len(right), np.mean(right))
        assert len(right) == len(rows)  # each fact once
    held_out = two[two["estimator"].eq("template-5") & two["wording"].eq("several")]
    both = [found.loc[("several", name), "questions"] for name in (transfer.KNOWN, transfer.NEW)]
    assert sum(both) == len(held_out)
    gap = found.loc[("one", transfer.TOLD), "accuracy"].estimate
    gap -= found.loc[("one", transfer.OTHER), "accuracy"].estimate
    assert transfer.gain(two, seed=0).estimate == pytest.approx(gap)


def test_claims_on_held_out_templates_are_set_aside_where_words_are_new(answers):
    marks = transfer.set_aside(answers)
    mark = "words that the text never had"
    assert marks == {"LAB-held-out": mark, "LAB-several-wordings": mark}
    known = answers[answers["relation"] == "company_language"]  # its template-5 has no new word
    assert transfer.set_aside(known) == {}
    assert transfer.set_aside(answers[answers["estimator"] == "template-1"]) == {}
