"""EIC-LKE: its prompts beside the same questions alone, by hand; what they cost, by brute force."""

import pytest

from lkecore import facts, prompts
from lkecore.models.model import open_model
from lkecore.scores.expected import slot_tokens

LONG = {"n_shots": 9, "first": 3, "every": 2, "seed": 0}


@pytest.fixture(scope="module")
def sample():
    few = {"n_shots": 3, "n_facts": 5, "n_options": 3, "seed": 0}
    return facts.draw("atlas", ["capital"], min_relations=1, **few)


def test_a_question_alone_is_its_long_prompt_without_the_others(sample):
    [(_, groups)] = prompts.slots_of_sample(sample, **LONG).items()
    [(_, alone)] = prompts.alone_of_sample(sample, **LONG).items()
    in_slots = [(group, j) for group in groups for j in range(len(group.asked))]
    assert [len(group.asked) for group in groups] == [3, 2]
    for (group, j), prompt in zip(in_slots, alone, strict=True):
        others = {i for place in group.places[:j] for i in (place - 1, place)}
        pieces = group.texts[0][: group.places[j]]
        kept = [piece for i, piece in enumerate(pieces) if i not in others]
        assert prompt.context == "".join(kept)
        assert prompt.options == group.asked[j].options


def prefixes(strings):
    """How many tokens go through a model once each: all beginnings but for whole strings that end."""
    every = {tuple(ids[:n]) for ids in strings for n in range(1, len(ids) + 1)}
    longer = {p[:-1] for p in every}
    return len(every & longer)


def test_tokens_of_long_prompts_are_those_of_all_strings_by_brute_force(sample):
    lm = open_model("toy")
    [groups] = prompts.slots_of_sample(sample, **LONG).values()

    def cut(text):
        return lm.tokenizer(text, add_special_tokens=False)["input_ids"]

    expected = 0
    for group in groups:
        pieces = [text[: group.places[-1] + 1] for text in group.texts]
        expected += prefixes([[*lm.front, *sum(map(cut, some), [])] for some in pieces])
    assert slot_tokens(lm, groups) == expected > 0
