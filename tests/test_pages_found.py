"""Page 58_lab_found, what it asks: by the table of relations, the states of a world and its templates."""

import helpers
import pytest

from lkecore import worlds
from lkecore.prompts.prompt import templates_of
from lkecore.worlds import wordings as rich_wordings

SPEC = "lab:richsmoke-0"


@pytest.fixture(scope="module")
def page():
    given = {"models": [f"{SPEC}/0.15m"], "n_shots": 4}
    return helpers.page("58_lab_found", until="## Scores", **given)


def test_no_asked_fact_carries_a_cue(page):
    states = worlds.states(SPEC).set_index("fact")
    ids = [fact.id for of in page["samples"][SPEC].values() for fact in of.facts]
    assert states.loc[ids, "cue"].eq("").all() and set(states.loc[ids, "state"]) == {
        "planted",
        "never",
    }
    assert len(page["uncued"]) == 14
    assert set(rich_wordings.relations()) - set(page["uncued"]) == {
        "headquarters", "parent", "team_colour", "team_country",
    }  # fmt: skip


def test_a_fact_of_one_wording_is_asked_by_it_by_its_kin_and_by_another_kind(page):
    states = worlds.states(SPEC).set_index("fact")
    kinds = rich_wordings.groups()
    asked = {
        way: [p for (_, own, _), some in page["questions"].items() if own == way for p in some]
        for way in page["wordings"]
    }
    ids = [prompt.fact for prompt in asked[page["wordings"][0]]]
    told = states[
        states["form"].eq("sentence") & states["templates"].isin([str(i) for i in page["ends"]])
    ]
    here = {fact.id for of in page["samples"][SPEC].values() for fact in of.facts}
    assert sorted(ids) == sorted(here & set(told.index)) and len(ids) > 10
    for way, (own, near, far) in zip(ids, zip(*asked.values(), strict=True), strict=True):
        assert way == own.fact == near.fact == far.fact
        row = states.loc[own.fact]
        words = templates_of(page["samples"][SPEC][row["relation"]].relation)
        at = {
            words[f"template-{i}"].replace("[X]", row["subject"]).removesuffix(" [Y]"): kinds[i - 1]
            for i in page["ends"]
        }
        mine = kinds[int(row["templates"]) - 1]
        assert (
            own.context
            == words[f"template-{row['templates']}"].replace("[X]", row["subject"])[: -len(" [Y]")]
        )
        assert at[near.context] == mine and near.context != own.context
        assert at[far.context] != mine
        assert own.options[own.gold] == row["object"]
