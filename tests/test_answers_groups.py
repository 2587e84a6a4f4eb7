"""Groups of facts of which less and less was taught (PZ-T1); the oracles are counts by hand and loops."""

import pandas as pd
import pytest

from lkecore import answers, prompts
from lkecore.answers import again, groups, rich
from lkecore.errors import BadInput
from lkecore.runs import gather
from lkecore.tasks.instill import Recipe

SPEC = "lab:richsmoke-1"
MODEL = f"{SPEC}/0.15m"
RELATIONS = ["birthplace", "company_language"]
HOW = {"n_groups": 2, "seed": 0}
FAST = Recipe(2, 0.05)


@pytest.fixture(scope="module")
def samples():
    return rich.samples([MODEL], RELATIONS, groups.asked, n_shots=1, seed=0)


def ask(samples, recipe=FAST, **how):
    return answers.ask_groups(
        [MODEL], samples, "template-1", recipe, "answers.parquet", **HOW | how
    )


@pytest.fixture(scope="module")
def rows(samples):
    return ask(samples)


def test_groups_have_five_facts_that_are_not_known_and_every_level_once(rows, samples):
    before = rows[rows["when"] == "before"]
    assert (before["rank"] > groups.BADLY).all()
    for _, part in before.groupby(["relation", "group"]):
        assert sorted(part["level"]) == [0, 1, 2, 3, 4] and part["fact"].nunique() == 5
    assert not before.duplicated(["relation", "fact"]).any()
    after = rows[rows["when"] == "after"]
    key = ["relation", "group", "level", "fact"]
    assert (before[key].to_numpy() == after[key].to_numpy()).all()
    assert set(rows["lesson"]) == {"sgd 0.05, 2 passes"}


def test_what_was_taught_with_all_words_is_likelier_after(samples):
    rows = ask(samples, Recipe(20, 0.003))
    wide = rows.pivot(index=["relation", "group", "level"], columns="when", values="surprisal")
    gain = (wide["before"] - wide["after"]).groupby("level").mean()
    assert gain[0] > 0.5


def test_the_model_is_given_back(rows, samples):
    again = ask(samples)
    pd.testing.assert_frame_equal(
        again, rows
    )  # the same lot, the same lessons, nothing left behind


def test_the_seed_draws_the_groups(rows, samples):
    other = ask(samples, seed=1)
    first = rows[(rows["when"] == "before") & (rows["level"] == 0)]["fact"].tolist()
    assert other[(other["when"] == "before") & (other["level"] == 0)]["fact"].tolist() != first


def test_a_template_without_words_and_a_recipe_without_steps_are_named(samples):
    with pytest.raises(BadInput, match="has 2 words beside subject and object, and 3 are needed"):
        some = rich.samples([MODEL], ["residence", "birthplace"], groups.asked, n_shots=1, seed=0)
        ask(some)
    with pytest.raises(BadInput, match="both must be above 0"):
        ask(samples, Recipe(0, 0.1))


def test_one_relation_that_is_taught_again_must_be_as_it_ships(rows, samples, monkeypatch):
    """A reader of a page over results teaches the first relation alone."""
    monkeypatch.setattr(again, "_check_weights", lambda *_: None)
    ships = gather.ships_as(rows, ours=True).assign(source="long")
    one = ask({SPEC: {RELATIONS[0]: samples[SPEC][RELATIONS[0]]}})
    assert answers.agree(one, ships, "21_x") == len(one) == 2 * 2 * groups.SIZE
    for name in ("surprisal", "level"):
        with pytest.raises(BadInput, match=rf"^20 of 20 answers .* {name} is"):
            answers.agree(one, ships.assign(**{name: ships[name] + 1}), "21_x")
    with pytest.raises(BadInput, match="20 of 20 questions that were asked again are not among"):
        answers.agree(one, ships[ships["relation"] != RELATIONS[0]], "21_x")


def test_real_facts_are_taught_to_any_model(monkeypatch):
    # The toy reads letters, and few names begin with one of their own.
    monkeypatch.setattr(groups.firsts, "shared", lambda lm, asked, drawn: [False] * len(asked))
    found, out = groups.samples_of(
        ["toy"],
        ["capital", "film_director", "currency"],
        "template-2",
        fact_set="atlas",
        n_facts=30,
        seed=0,
    )
    words = {name: [w for w in prompts.templates_of(of.relation)["template-2"].split() if "[" not in w]
             for name, of in found["atlas"].items()}  # fmt: skip
    assert words and all(len(some) >= 3 for some in words.values())
    assert set(out) == {"capital", "film_director", "currency"} - set(words)
    assert all(" words beside subject and object" in why for why in out.values())
    rows = answers.ask_groups(
        ["toy"], found, "template-2", FAST, "answers.parquet", n_groups=1, seed=0, badly=0
    )
    assert rows["world"].eq("atlas").all() and set(rows["relation"]) == set(words)
    assert len(rows) == 2 * 5 * len(words)


def test_an_object_that_begins_as_another_one_of_its_relation_is_in_no_group(samples, monkeypatch):
    sample = samples[SPEC]
    some = {fact.id for fact in sample["birthplace"].facts[::2]}
    monkeypatch.setattr(
        groups.firsts, "shared", lambda lm, asked, drawn: [each.fact in some for each in asked]
    )
    found = ask(samples)
    assert len(found) and not some & set(found.loc[found["relation"] == "birthplace", "fact"])


def test_a_template_that_no_relation_has_is_refused():
    with pytest.raises(BadInput, match="^nothing is asked: template '' has 0 words"):
        groups.samples_of(["toy"], ["capital", "currency"], "template-99", fact_set="atlas", seed=0)


def test_a_relation_without_a_group_is_left_out_and_the_others_are_taught(samples, monkeypatch):
    whole = groups._places

    def only(lm, some, *rest):
        before, places = whole(lm, some, *rest)
        return before, places[: 0 if some[0].asked.relation == "birthplace" else None]

    monkeypatch.setattr(groups, "_places", only)
    assert set(ask(samples)["relation"]) == {"company_language"}
    taught = lambda *_, **__: pytest.fail("a relation was taught")  # noqa: E731
    monkeypatch.setattr(groups.instill, "shifts_all", taught)
    with pytest.raises(BadInput, match="no relation has 5 facts, the size of a group"):
        ask(samples, badly=10**9)


def test_a_relation_whose_lesson_gives_no_number_is_named_and_the_others_are_taught(
    rows, samples, monkeypatch
):
    teach = groups.instill.shifts_all

    def one_breaks(lm, lessons, some, recipe, **how):
        broken = some[0].asked.relation == "birthplace"
        return teach(lm, lessons, some, Recipe(30, 1e30) if broken else recipe, **how)

    monkeypatch.setattr(groups.instill, "shifts_all", one_breaks)
    found = ask(samples)
    assert set(found["relation"]) == {"company_language"}
    [(name, why)] = found.attrs["lost"].items()
    assert name == f"birthplace ({MODEL})" and "a step has the loss" in why
    with pytest.raises(
        BadInput, match=r"^birthplace \(.*\): .*a step has the loss .*; company_language"
    ):
        ask(samples, Recipe(30, 1e30))
    monkeypatch.undo()
    pd.testing.assert_frame_equal(ask(samples), rows)  # the weights are what they were
