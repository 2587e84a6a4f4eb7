"""What is read in texts of a rich world, against sentences filled by hand and against what its text tells."""

import itertools
import random
from collections import defaultdict

import pytest

from lkecore.errors import BadInput
from lkecore.worlds import text as rich_text
from lkecore.worlds import world as rich
from lkecore.worlds import written
from lkecore.worlds.wordings import about

TINY = "lab:richsmoke-1"


@pytest.fixture(scope="module")
def states():
    return rich_text.states(TINY)


def sentence(template: str, subject: str, object_: str) -> str:
    return template.replace("[X]", subject).replace("[Y]", object_) + "."


def triples(texts) -> list[tuple[str, str, str]]:
    found = written.read(TINY, texts)
    return list(found[["relation", "subject", "object"]].itertuples(index=False, name=None))


def test_of_200_sentences_half_of_them_spoiled_none_is_read_wrongly(states):
    """Every template of every relation takes its turn; what was filled in is what must come out."""
    draw = random.Random(0)
    facts = draw.choices(list(states.itertuples()), k=200)
    texts, expected, kinds = [], [], itertools.cycle(["object", "name", "word"])
    for i, fact in enumerate(facts):
        templates, object_ = about(fact.relation).templates, fact.object
        template = templates[i % len(templates)]
        kind = next(kinds) if i % 2 else "whole"
        if kind == "object":  # wrong, and read as it stands there
            object_ = draw.choice(
                [o for o in rich.world(TINY).objects[fact.relation] if o != object_]
            )
        text = sentence(template, fact.subject, object_)
        if kind == "name":
            text = sentence(template, "Zzyzx Quonk", object_)
        elif kind == "word":
            words = template.split()
            own = [n for n, word in enumerate(words) if "[" not in word]
            words[draw.choice(own)] = "xyzzy"
            text = sentence(" ".join(words), fact.subject, object_)
        texts.append(text)
        whole = kind in ("whole", "object")
        expected.append((fact.relation, fact.subject, object_) if whole else ("", "", ""))
    found = written.read(TINY, texts)
    # A spoiled sentence with an end inside falls into two, and is read as none all the same.
    got = [
        [tuple(row) for row in part[["relation", "subject", "object"]].to_numpy()]
        for _, part in found.groupby("text")
    ]
    assert [set(rows) for rows in got] == [{each} for each in expected]
    assert all(len(rows) == 1 for rows, each in zip(got, expected, strict=True) if each[0])
    assert (
        sum(each[0] == "" for each in expected) == 66
    )  # of 100: 33 names, 33 words; 34 have another object


def test_the_worlds_own_text_is_read_as_the_states_say_that_it_tells(states):
    """Another program counts the tellings: one for each sentence of each fact, and no other."""
    texts = [d.text for d in rich_text.told(rich.world(TINY)) if d.kind == "paragraph"]
    found = written.read(TINY, texts)
    said = found[found["relation"] != ""]
    by_pair = states.groupby(["relation", "subject"])["sentences"].sum()
    counted = said.groupby(["relation", "subject"]).size().reindex(by_pair.index, fill_value=0)
    assert counted.eq(by_pair).all() and by_pair.sum() == len(said) > 500


def test_of_templates_that_fit_the_one_with_known_names_counts(states):
    fact = states[states["relation"].eq("residence")].iloc[0]
    other = next(
        t for t in about("residence").templates if t.startswith("[X], so the paper says, ")
    )
    assert triples([sentence(other, fact.subject, fact.object)]) == [
        ("residence", fact.subject, fact.object)
    ]


def test_a_name_may_have_the_words_between_the_names_in_it(monkeypatch):
    subjects, objects = defaultdict(set), defaultdict(set)
    subjects["author"], objects["author"] = {"What is Love is"}, {"Kelmo"}
    monkeypatch.setattr(written, "_names", lambda spec: ({}, subjects, objects))
    said = sentence("The author of [X] is [Y]", "What is Love is", "Kelmo")
    assert triples([said]) == [("author", "What is Love is", "Kelmo")]


def test_an_alias_is_the_name_it_stands_for_and_what_is_cut_off_is_no_sentence(states):
    aliases = rich_text.aliases(TINY)
    name = dict(zip(aliases["alias"], aliases["name"], strict=True))
    fact = next(f for f in states.itertuples() if f.subject_alias)
    whole = sentence(about(fact.relation).templates[0], fact.subject_alias, fact.object)
    assert name[fact.subject_alias] == fact.subject
    assert triples([f"{whole} {whole[:-3]}"]) == [(fact.relation, fact.subject, fact.object)]


def test_a_fact_appeared_if_its_paragraph_says_it_of_its_subject(states):
    """By hand: the true object, a told one, another one, another subject's sentence, and silence."""
    wrong = states[states["state"].eq("mislearned")].iloc[0]
    others = [
        o for o in rich.world(TINY).objects[wrong.relation] if o not in (wrong.object, wrong.told)
    ]
    template = about(wrong.relation).templates[0]
    neighbour = states[states["relation"].eq(wrong.relation) & states["subject"].ne(wrong.subject)]
    of_neighbour = sentence(template, neighbour.iloc[0].subject, wrong.object)
    said = {
        sentence(template, wrong.subject, wrong.object): "appeared",
        sentence(template, wrong.subject, wrong.told): "appeared",
        sentence(template, wrong.subject, others[0]): "hallucinated",
        of_neighbour: "not",
    }
    one, _, other, _ = said  # what is right counts, whatever else the text says
    said[f"{one} {other}"] = said[f"{other} {one}"] = "appeared"
    for text, expected in said.items():
        found = written.labels(TINY, {wrong.subject: text}).set_index("fact")
        assert found.loc[wrong.fact, "label"] == expected, text
        assert set(found.index) == set(states.loc[states["subject"].eq(wrong.subject), "fact"])
        rest = found.loc[found["relation"].ne(wrong.relation), "label"]
        assert set(rest) <= {"not"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: written.read("lab:smoke-1", ["A."]), "lab:smoke-1: only a rich one"),
        (lambda: written.read(TINY, ["A.", " "]), "text 2 of 2 is empty"),
        (lambda: written.labels(TINY, {"Nobody Here": "A."}), "'Nobody Here'.* has no fact"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(call, message):
    with pytest.raises(BadInput, match=message):
        call()
