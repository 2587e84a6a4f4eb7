"""Filters: one token means one token for every kind of tokenizer, and a hint means the letters."""

import re
import unicodedata
from dataclasses import replace

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.filters import echoes, one_token, single_token, stands_in, without_echo


def relation(*pairs):
    return Relation("r", tuple(Fact(f"s{i}", "r", s, o) for i, (s, o) in enumerate(pairs)))


def subjects(loaded):
    return [fact.subject for fact in loaded.facts]


def bpe(pre_tokenizer, text):
    """A BPE that has learnt every word of a text as one token, and knows letters besides."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizer
    letters = list("ĠabcdefghijklmnopqrstuvwxyzBOPR▁ -")
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<unk>"], initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator([text] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def byte_level(text):
    return bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), text)


def sentence_piece(text):
    return bpe(pre_tokenizers.Metaspace(), text)


def word_piece(text):
    vocabulary = {word: i for i, word in enumerate(["[UNK]", "##lo", *text.split()])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")


CITIES = relation(("Italy", "Rome"), ("Norway", "Oslo"), ("France", "Paris"), ("Spain", "Rome"))


@pytest.mark.parametrize("kind", [byte_level, sentence_piece, word_piece])
def test_an_object_that_is_a_word_of_the_vocabulary_stays(kind):
    tokenizer = kind("it is Rome and it is Paris and Os")
    assert "Oslo" not in tokenizer.get_vocab()
    assert subjects(single_token(CITIES, [tokenizer])) == ["Italy", "France", "Spain"]


def test_the_space_before_an_object_belongs_to_it():
    # Without a space in front, "Rome" is one token of this tokenizer, and " Rome" two: a text that
    # goes on with Rome after a word needs both.
    tokenizer = byte_level("Rome is it it is Paris")
    assert len(tokenizer.encode("Rome")) == 1 and len(tokenizer.encode(" Rome")) > 1
    assert subjects(single_token(CITIES, [tokenizer])) == ["France"]


def test_an_object_must_be_one_token_for_every_tokenizer():
    tokenizers = [byte_level("it is Rome Oslo"), word_piece("is Oslo Paris")]
    assert subjects(single_token(CITIES, tokenizers)) == ["Norway"]
    assert single_token(CITIES, tokenizers[::-1]) == single_token(CITIES, tokenizers)


def test_the_unknown_token_is_no_token_of_an_object():
    tokenizer = word_piece("is Paris")
    assert tokenizer.tokenize("Rome") == ["[UNK]"]
    assert subjects(single_token(CITIES, [tokenizer])) == ["France"]


def test_several_words_are_never_one_token_and_what_leaves_no_fact_is_refused():
    loaded = relation(("Argentina", "Buenos Aires"), ("Italy", "Rome"))
    for kind in (byte_level, sentence_piece, word_piece):
        found = single_token(loaded, [kind("is Buenos Aires Rome")])
        assert subjects(found) == ["Italy"] and found.left_out == 1
    with pytest.raises(BadInput, match="^relation r: no object is one token for every tokenizer$"):
        single_token(CITIES, [word_piece("is")])


def test_a_sample_for_one_mask_has_all_such_objects_as_options_and_counts_the_others():
    tokenizer = word_piece("is it Rome Paris Bonn Brno")
    facts = [
        Fact("0", "r", "Italy", "Rome"),
        Fact("1", "r", "Norway", "Oslo"),
        Fact("2", "r", "Bolivia", "Paris", alternatives=("Bonn",)),
        Fact("3", "r", "Bolivia", "Bonn", alternatives=("Paris",)),
        Fact("4", "r", "Czechia", "BRNO", aliases=("Brno",)),
    ]
    names = ("Oslo", "Rome", "Paris", "Bonn")
    some = Drawn(Relation("r", tuple(facts)), (), tuple(facts[:3]), (names,) * 3, (facts[3],), ())
    none = Drawn(Relation("s", tuple(facts[1:2])), (), tuple(facts[1:2]), (names,), (), ())
    sample, others = one_token({"r": some, "s": none}, [tokenizer])
    assert others == {"r": 1, "s": 1} and list(sample) == ["r"]
    assert [fact.subject for fact in sample["r"].facts] == ["Italy", "Bolivia"]
    assert sample["r"].options == (("Bonn", "Paris", "Rome"), ("Paris", "Rome"))
    assert sample["r"].relation == some.relation and sample["r"].train == some.train
    with pytest.raises(BadInput, match="^relations s: no asked object is one token for every"):
        one_token({"s": none}, [tokenizer])
    wide = replace(some, facts=(replace(facts[0], options=("Oslo", "Rome", "Paris")),))
    sample, _ = one_token({"r": wide}, [tokenizer])
    assert sample["r"].options == (("Paris", "Rome"),), "of a choice of its own what is one token"


def plain(text):
    return unicodedata.normalize("NFC", text).casefold()


def gives_away(fact):
    """Whether no letter or digit stands around a true name in the subject's: another way to say it."""
    names = map(plain, [fact.object, *fact.alternatives, *fact.aliases, *fact.object_aliases])
    inside = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in names]
    return any(re.search(each, plain(fact.subject)) for each in inside)


def test_facts_without_echo_are_those_of_an_expression_of_our_own_on_the_atlas():
    """The atlas has none, which its own rule for names sees to; so every third subject gets one."""
    for name in facts.relations("atlas"):
        loaded = facts.load("atlas", name)
        assert without_echo(loaded) == loaded and not any(map(gives_away, loaded.facts))
        planted = [
            replace(fact, subject=f"{fact.subject}, {fact.object}") if i % 3 == 0 else fact
            for i, fact in enumerate(loaded.facts)
        ]
        silent = [fact.id for fact in planted if not gives_away(fact)]
        found = without_echo(replace(loaded, facts=tuple(planted)))
        assert [fact.id for fact in found.facts] == silent, name
        assert found.left_out == loaded.left_out + len(planted) - len(silent)
        assert len(silent) == len(planted) - (len(planted) + 2) // 3


ECHOES = [
    ("Parliament of Norway", "Norway", True), ("Bank of NEW YORK, N.A.", "New York", True),
    ("Yorkshire", "York", False), ("New Jersey and York", "New York", False), ("Oslo", "Norway", False),
    ("Universite\u0301 Paris", "Universit\u00e9", True), ("AT&T Mobility", "AT&T", True),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "name", "echo"), ECHOES)
def test_an_echo_is_the_whole_words_of_a_name_in_their_order(subject, name, echo):
    [fact] = relation((subject, name)).facts
    assert echoes(fact) == stands_in(name, subject) == gives_away(fact) == echo
    others = [{kind: (name,)} for kind in ("alternatives", "aliases", "object_aliases")]
    for its in others:  # any true object is right, so that any of its names gives it away
        assert echoes(replace(fact, object="Qo", **its)) == echo, its


def test_a_relation_that_only_echoes_is_refused_and_others_count_what_they_lost():
    both = relation(("Parliament of Norway", "Norway"), ("Oslo", "Norway"))
    assert subjects(without_echo(both)) == ["Oslo"] and without_echo(both).left_out == 1
    with pytest.raises(BadInput, match="every subject's name has a true object in it"):
        without_echo(relation(("Parliament of Norway", "Norway")))
