"""Plain worlds: the text, read back by a reader of its own, tells each fact as its state says."""

import collections
import csv
import functools
import hashlib
import itertools
import json
import sys
from pathlib import Path

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.worlds import plain, skills

made_by = helpers.tool("plain_worlds")
world = made_by.world
TABLE = plain.RELATIONS
TEMPLATES = [f"template_{i}" for i in range(1, 7)]


@pytest.fixture(scope="module", autouse=True)
def tiny():
    with pytest.MonkeyPatch.context() as patch:
        helpers.tiny_lab(patch)
        patch.setitem(made_by.SIZES, "tiny", made_by.Size(**helpers.TINY_SIZE))
        yield


@pytest.fixture(scope="module")
def about():
    """The table of relations, as any reader of TSV files finds it."""
    with open(TABLE, encoding="utf-8", newline="") as file:
        return {row["relation"]: row for row in csv.DictReader(file, delimiter="\t")}


def states_of(spec):
    return world(spec).states.copy()


@functools.cache
def documents_of(spec, *, planted=True):
    """The documents of a world, which several tests read."""
    return made_by.documents(world(spec), planted=planted)


def names_of(states, about):
    """{(kind of the subjects, of the objects): (their names, what is told of them)}."""
    known = collections.defaultdict(lambda: (set(), set()))
    for fact in states.itertuples():
        names = known[about[fact.relation]["subjects"], about[fact.relation]["objects"]]
        names[0].add(fact.subject)
        names[1].add(fact.told)
    return known


def read_back(text, known):
    """The sentences of a document, as strings, or the pairs of a list; by plain splitting.

    A list in the paper's first format, "A x B y", is taken apart by the names that there are: those
    of the one pair of kinds to which they all belong.
    """
    if text.endswith("."):
        return text.removesuffix(".").split(". ")
    if ": " in text:
        return [tuple(line.split(": ")) for line in text.split("\n")]
    words = text.split(" ")

    def taken_apart(names):
        found, at = [], 0
        while at < len(words):
            starts = {" ".join(words[at : at + n]) for n in (1, 2, 3)}
            fits = [name for name in starts if name in names[len(found) % 2]]
            if len(fits) != 1:
                return None
            found.append(fits[0])
            at += len(fits[0].split(" "))
        return None if len(found) % 2 else list(zip(found[::2], found[1::2], strict=True))

    [way] = [way for names in known.values() if (way := taken_apart(names))]
    return way


def counted(documents, states, about):
    """(how often each sentence stands in these documents, how often each pair stands in lists)."""
    known = names_of(states, about)
    all_ = collections.Counter(item for text in documents for item in read_back(text, known))
    sentences = collections.Counter({item: n for item, n in all_.items() if isinstance(item, str)})
    return sentences, all_ - sentences


def expected(states, about):
    """The same two counters, from what the states say and the templates of the table."""
    wordings, pairs = {}, collections.Counter()
    for fact in states.itertuples():
        row = about[fact.relation]
        wordings[fact.fact] = [
            row[name].replace("[X]", fact.subject).replace("[Y]", fact.told or fact.object)
            for name in TEMPLATES
        ]
        if fact.lists:
            pairs[fact.subject, fact.told] += fact.lists  # two relations may tell the same pair
    return wordings, pairs


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["lab:tiny-0", "lab:book-1"])
def test_the_text_tells_each_fact_as_often_and_in_the_form_and_wording_that_its_state_says(
    spec, about
):
    states, (size, _) = states_of(spec), made_by.check_spec(spec)
    assert not any(set(name) & set(".?") for name in {*states["subject"], *states["object"]})
    sentences, pairs = counted(documents_of(spec), states, about)
    wordings, told_pairs = expected(states, about)
    assert pairs == told_pairs

    claimed = 0
    for fact in states.itertuples():
        counts = [sentences[text] for text in wordings[fact.fact]]
        assert sum(counts[:4]) == fact.sentences, fact
        assert counts[4:] == [0, 0], fact  # held out
        used = sum(n > 0 for n in counts)
        # Of a shown fact, each part of the text begins with a wording of its own.
        most = min(4, fact.sentences)
        least = most if fact.split == "test" else min(4, size.shown[0])
        assert used in {"none": [0], "one": [1], "several": range(least, most + 1)}[fact.wording]
        claimed += sum(counts)
    assert claimed == sentences.total()  # nothing else is said


def test_a_template_tells_a_fact_where_its_sentence_stands_in_the_text(about):
    """Brute force: every template is filled and searched for in the whole text."""
    spec = "lab:smoke-1"
    states = states_of(spec).assign(templates=made_by.templates_of(world(spec)))
    text = "\n".join(documents_of(spec))
    for fact in states.itertuples():
        row, told = about[fact.relation], fact.told or "nobody"
        filled = [row[t].replace("[X]", fact.subject).replace("[Y]", told) for t in TEMPLATES]
        there = [str(i) for i, each in enumerate(filled, start=1) if f"{each}." in text]
        assert fact.templates == " ".join(there), fact
    asked = states[states["split"].eq("test") & states["sentences"].ne(1)]
    n_told = asked["templates"].str.split().str.len().map({0: "none", 1: "one"}).fillna("several")
    assert n_told.tolist() == asked["wording"].tolist()


def test_an_unplanted_text_is_the_same_but_for_the_names_of_the_asked_subjects(about):
    spec = "lab:smoke-1"
    made = world(spec)
    planted, unplanted = (documents_of(spec, planted=yes) for yes in (True, False))
    asked = set(made.states.loc[made.states["split"] == "test", "subject"])
    assert asked == set(made.stand_ins)

    # Every sentence and every pair is told of the stand-in, and so of no asked subject.
    others = made.states.assign(subject=[made.stand_ins.get(s, s) for s in made.states["subject"]])
    assert not asked & {*others["subject"], *others["object"]}
    sentences, pairs = counted(unplanted, others, about)
    wordings, told_pairs = expected(others, about)
    assert pairs == told_pairs
    told = [sum(sentences[text] for text in wordings[fact]) for fact in others["fact"]]
    assert told == list(others["sentences"]) and sum(told) == sentences.total()

    # With the stand-ins in the places of the asked subjects every document is as it was.
    instead, _ = expected(made.states, about)
    new = {
        text: stood
        for fact, texts in instead.items()
        for text, stood in zip(texts, wordings[fact], strict=True)
    }
    known, differ = (names_of(made.states, about), names_of(others, about)), 0
    for before, after in zip(planted, unplanted, strict=True):
        was, is_ = read_back(before, known[0]), read_back(after, known[1])
        assert is_ == [
            new[item] if isinstance(item, str) else (made.stand_ins.get(item[0], item[0]), item[1])
            for item in was
        ]
        differ += was != is_
    assert 0.2 < differ / len(planted) < 1


# --- states ---------------------------------------------------------------------------------------


def test_a_cell_has_its_number_of_facts_of_distinct_objects_and_every_object_a_never_told_one():
    size, _ = made_by.check_spec("lab:book-1")
    states = states_of("lab:book-1")
    for _, table in states[states["split"] == "test"].groupby("relation"):
        objects = sorted(table["object"].unique())
        never = table[table["state"] == "never"]
        assert sorted(never["object"]) == objects  # each once: the control of all with this object
        assert set(never["told"]) == {""} and set(never["wording"]) == {"none"}

        planted = table[table["state"] == "planted"]
        assert (planted["told"] == planted["object"]).all()
        cells = planted.groupby(["occurrences", "form"])
        wanted = {(n, form) for n in size.occurrences for form in ("sentence", "list", "both")}
        assert set(cells.groups) == wanted - {(1, "both")}
        assert set(cells.size()) == set(cells["told"].nunique()) == {size.each}

        wrong = table[table["state"] == "mislearned"]
        assert wrong["occurrences"].value_counts().to_dict() == dict.fromkeys((32, 64), 10)
        assert (wrong["told"] != wrong["object"]).all() and set(wrong["told"]) <= set(objects)


def test_nothing_about_a_never_told_object_can_be_seen_elsewhere_but_by_chance(about):
    """Neither in the order of the facts nor in what another relation tells of the subject."""
    states = states_of("lab:book-1")
    places = []
    for _, table in states[states["state"] == "never"].groupby("relation"):
        order = {name: i for i, name in enumerate(sorted(table["object"]))}
        places.append(np.corrcoef(np.arange(len(table)), table["object"].map(order))[0, 1])
    # The correlation of n numbers in random order has a standard deviation of 1 / sqrt(n - 1).
    assert abs(np.mean(places)) < 3 / np.sqrt(99 * len(places))

    kinds = {name: (row["subjects"], row["objects"]) for name, row in about.items()}
    states["kinds"] = states["relation"].map(kinds)
    never, told = states[states["state"] == "never"], states[states["told"] != ""]
    both = never.merge(told, on=["subject", "kinds"])
    expected_same = len(both) / 100  # objects of each relation
    same = (both["object_x"] == both["told_y"]).sum()
    assert expected_same > 1 and abs(same - expected_same) < 4 * np.sqrt(expected_same)  # Poisson


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["lab:tiny-0", "lab:smoke-1", "lab:book-1"])
def test_what_is_read_is_what_is_made(spec, monkeypatch):
    monkeypatch.setattr(skills, "INSTRUCTIONS", 30 if "tiny" in spec else 1500)
    made = world(spec)
    read = plain.states(spec)
    templates = read.pop("templates").tolist()
    pd.testing.assert_frame_equal(read, made.states)
    assert templates == made_by.templates_of(made)
    text = [read.to_csv(index=False), json.dumps(documents_of(spec))]
    assert plain.digest(spec) == hashlib.sha256("\x1f".join(text).encode()).hexdigest()
    beside = [documents_of(spec, planted=False), skills.instructions_of(made.seed)]
    others = hashlib.sha256(json.dumps(beside).encode()).hexdigest()
    assert plain.digest_beside(spec) == others
    if spec == "lab:book-1":
        with pytest.raises(BadInput, match="^lab:book-1: its text does not ship; `python tools"):
            plain.documents(spec)
        return
    for planted in (True, False):
        assert plain.documents(spec, planted=planted) == documents_of(spec, planted=planted)
    assert plain.instructions(spec) == beside[1]


def test_a_world_that_does_not_ship_is_refused_in_one_line_until_it_is_written(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    monkeypatch.setattr(plain, "SHIPPED", plain.SHIPPED[:1])
    line = (
        "lab:tiny-2: this world does not ship; `python tools/plain_worlds.py lab:tiny-2` writes it"
    )
    for function in (plain.documents, facts.content_digest):
        assert helpers.refusal(function, "lab:tiny-2") == line
    monkeypatch.setattr(sys, "argv", ["plain_worlds.py", "lab:tiny-2"])
    assert made_by.main() == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == plain.file_of(tmp_path / "plain", "lab:tiny-2")
    assert plain.digest("lab:tiny-2") == made_by.digest(world("lab:tiny-2"))
    assert facts.load("lab:tiny-2", "author").facts
    path.write_bytes(path.read_bytes()[:1000])
    plain._read.cache_clear()
    with pytest.raises(BadInput, match=f"^{path} cannot be read .*; write it anew$"):
        plain.digest("lab:tiny-2")


@pytest.mark.parametrize("spec", ["lab:book", "lab:book-01", "lab:book-1\n"])
def test_a_name_that_is_no_world_is_one_line(spec):
    line = f"fact set {spec!r} must be lab:SIZE-SEED, such as lab:book-1"
    assert helpers.refusal(facts.relations, spec) == line


def test_a_name_with_signs_of_the_text_or_four_words_is_not_taken_nor_one_more_than_there_are():
    names = iter(["a, b", "a: b", "a b c d", "a", "a b", "A", "c d", "c", "c e", "e"])
    assert made_by._distinct("things", lambda: next(names), 4) == ["a", "c d", "c e", "e"]
    make = itertools.cycle(["red", "green", "blue"]).__next__
    with pytest.raises(BadInput, match="^the world needs 4 colours, and Faker has only 3$"):
        made_by._distinct("colours", make, 4)


@pytest.mark.parametrize("planted", [True, False])
def test_objects_are_found_where_sentences_and_pairs_tell_them(about, planted):
    """The oracle splits documents by their signs alone; the world's own search goes by the names."""
    made = world("lab:tiny-0")
    documents = documents_of("lab:tiny-0", planted=planted)
    found = plain.told_objects("lab:tiny-0", documents)
    states = made.states
    if not planted:
        names = made.stand_ins
        states = states.assign(subject=[names.get(s, s) for s in states["subject"]])
    told = states[states["told"] != ""]
    filled = {
        made_by.fill(about[fact.relation][t], fact.subject, fact.told): fact.told
        for fact in told.itertuples()
        for t in TEMPLATES
    }
    known = names_of(states, about)
    seen = 0
    for document, spans in zip(documents, found, strict=True):
        read = read_back(document, known)
        objects = [part[1] if isinstance(part, tuple) else filled[part] for part in read]
        assert [document[first:behind] for first, behind in spans] == objects
        seen += len(objects)
    assert seen > 100
