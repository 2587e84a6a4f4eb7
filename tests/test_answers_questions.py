"""What tells questions apart, and which of many are asked again."""

import dataclasses

import helpers

from lkecore import facts
from lkecore.answers import questions
from lkecore.prompts.eiclke import slots
from lkecore.scores import store


def test_a_digest_changes_with_every_part_of_a_question():
    prompt = helpers.prompt("a", ["x", "y"])
    assert questions.digests(prompt) == questions.digests(dataclasses.replace(prompt))
    changes = {
        "fact": "other", "relation": "other", "subject": "other", "context": "b",
        "options": ("x", "z"), "continuations": (" x", " z"), "gold": 1 - prompt.gold, "after": ".",
    }  # fmt: skip
    assert set(changes) == {field.name for field in dataclasses.fields(prompt)}
    others = [dataclasses.replace(prompt, **{name: value}) for name, value in changes.items()]
    assert len({questions.digests(each)[0] for each in [prompt, *others]}) == 1 + len(changes)


def test_questions_are_named_in_their_order_those_of_a_long_prompt_one_by_one():
    world = [facts.Fact(str(i), "r", f"s{i}", f"o{i}") for i in range(8)]
    [one] = slots(
        world[3:7], world[:3], [(f.object, "o7") for f in world[:3]], first=1, every=1, seed=0
    )
    alone = helpers.prompt("a", ["x", "y"])
    found = questions.named([alone, one])
    assert found["fact"].tolist() == [alone.fact, *(prompt.fact for prompt in one.asked)]
    assert found["question"].tolist() == [*questions.digests(alone), *questions.digests(one)]


def test_a_sample_is_drawn_by_the_code_of_the_scorers_and_what_is_asked(monkeypatch):
    asked = {
        (way, relation): [helpers.prompt(f"{way}{relation}{i}", ["x", "y"]) for i in range(20)]
        for way in "uv"
        for relation in "pqrst"
    }

    def drawn(program, n=6):
        monkeypatch.setattr(store, "program", lambda: program)
        return questions.sample(asked, ["a source"], n)

    one = drawn("x = 1")
    assert one == drawn("x = 1") != drawn("x = 2")
    few = {key: some[:-1] for key, some in asked.items()}
    same = {key: [p for p in some if p in few[key]] for key, some in drawn("x = 1").items()}
    assert questions.sample(few, ["a source"], 6) != same
    assert [len(some) for some in one.values()] == [3] * 4  # two relations of each way
    assert [way for way, _ in one] == ["u", "u", "v", "v"]
    for key, some in one.items():
        places = [asked[key].index(each) for each in some]
        assert places == sorted(places)
    assert [len(some) for some in drawn("r", n=7).values()] == [4] * 4
    assert len(drawn("r", n=1)) == 2
    seen = {relation for i in range(30) for _, relation in drawn(f"x = {i}")}
    assert seen == set("pqrst")


def test_without_sources_and_where_there_are_fewer_all_are_asked():
    asked = {("u", "p"): [helpers.prompt("a", ["x", "y"])] * 3, ("u", "q"): []}
    assert questions.sample(asked, []) == asked
    assert questions.sample(asked, ["a source"], 30) == asked
