"""What tells questions apart, and which of many are asked again."""

import dataclasses

import helpers

from lkecore.answers import questions
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
    assert [len(some) for some in one.values()] == [3] * 4  # two relations of each way
    assert [way for way, _ in one] == ["u", "u", "v", "v"]
    for key, some in one.items():
        places = [asked[key].index(each) for each in some]
        assert places == sorted(places)
    seen = {relation for i in range(30) for _, relation in drawn(f"x = {i}")}
    assert seen == set("pqrst")
