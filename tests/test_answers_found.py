"""What ways of asking are asked: by the table of relations, the states of a world and its templates."""

import pytest

from lkecore import worlds
from lkecore.answers import found, rich
from lkecore.prompts.prompt import templates_of
from lkecore.worlds import wordings as rich_wordings

SPEC = "lab:richsmoke-0"
SMALL = f"{SPEC}/0.15m"


@pytest.fixture(scope="module")
def samples():
    few = {"n_shots": 4, "seed": 0}
    return rich.samples([SMALL], found.uncued(), found.asked, **few)


def test_no_asked_fact_carries_a_cue(samples):
    states = worlds.states(SPEC).set_index("fact")
    ids = [fact.id for of in samples[SPEC].values() for fact in of.facts]
    assert states.loc[ids, "cue"].eq("").all() and set(states.loc[ids, "state"]) == {
        "planted",
        "never",
    }
    assert len(found.uncued()) == 14
    assert set(rich_wordings.relations()) - set(found.uncued()) == {
        "headquarters", "parent", "team_colour", "team_country",
    }  # fmt: skip


def test_a_fact_of_one_wording_is_asked_by_it_by_its_kin_and_by_another_kind(samples):
    states = worlds.states(SPEC).set_index("fact")
    kinds = rich_wordings.groups()
    questions = found.in_wordings(samples, seed=0)
    asked = {
        way: [p for (_, own, _), some in questions.items() if own == way for p in some]
        for way in found.WORDINGS
    }
    ids = [prompt.fact for prompt in asked[found.OWN]]
    told = states[
        states["form"].eq("sentence") & states["templates"].isin([str(i) for i in found.BEHIND])
    ]
    here = {fact.id for of in samples[SPEC].values() for fact in of.facts}
    assert sorted(ids) == sorted(here & set(told.index)) and len(ids) > 10
    for way, (own, near, far) in zip(ids, zip(*asked.values(), strict=True), strict=True):
        assert way == own.fact == near.fact == far.fact
        row = states.loc[own.fact]
        words = templates_of(samples[SPEC][row["relation"]].relation)
        at = {
            words[f"template-{i}"].replace("[X]", row["subject"]).removesuffix(" [Y]"): kinds[i - 1]
            for i in found.BEHIND
        }
        mine = kinds[int(row["templates"]) - 1]
        assert (
            own.context
            == words[f"template-{row['templates']}"].replace("[X]", row["subject"])[: -len(" [Y]")]
        )
        assert at[near.context] == mine and near.context != own.context
        assert at[far.context] != mine
        assert own.options[own.gold] == row["object"]
