"""Sets: one entry in the table of sources is all that a new source needs."""

import dataclasses

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import sets
from lkecore.facts.fact import Fact
from lkecore.runs import plan


def planets(**more) -> sets.Source:
    """A source with one relation, one fact and the names that begin with ``planets:``."""
    return sets.Source(
        is_spec=lambda spec: spec.startswith("planets:"),
        relations=lambda spec: ("capital", "moon"),
        rows=lambda spec, relation: [
            (spec, {"id": "m", "subject": "Mars", "object": "Phobos"}, "test")
        ][: relation == "moon"],
        is_ready=lambda spec: spec == "planets:near",
        digest=lambda spec: spec[::-1],
        **more,
    )


def test_one_entry_is_a_new_source_for_every_function(monkeypatch):
    with pytest.raises(BadInput, match="unknown fact set 'planets:near'"):
        facts.relations("planets:near")
    more = {"about": lambda spec, relation: {"label": f"the {relation}", "codes": True}}
    monkeypatch.setattr(sets, "SOURCES", (planets(remote=True, **more), *sets.SOURCES))
    assert facts.relations("planets:near") == ("capital", "moon")
    assert facts.is_ready("planets:near") and not facts.is_ready("planets:far")
    assert facts.content_digest("planets:near") == "raen:stenalp"
    assert facts.is_remote("planets:near") and not facts.is_ours("planets:near")
    assert plan._to_fetch("planets:far") and not plan._to_fetch("planets:near")
    loaded = facts.load("planets:near", "moon")
    assert loaded.facts == (Fact("m", "moon", "Mars", "Phobos", split="test"),)
    assert (loaded.label, loaded.codes, loaded.kind, loaded.templates) == ("the moon", True, "", ())
    for relation, said in [
        ("mon", "unknown relation 'mon' in planets:near; nearest: moon"),
        ("capital", "relation 'capital' in planets:near: no rows in it"),
    ]:
        with pytest.raises(BadInput, match=said):
            facts.load("planets:near", relation)
    assert facts.is_ready("atlas") and "capital" in facts.relations("atlas")  # as before


@pytest.mark.parametrize(
    ("about", "label", "paper"),
    [
        ({}, "capital", "capital"),  # P36 is the paper's capital, in its Table 3
        ({"label": "seat"}, "seat", "capital"),
        ({"label": "seat", "paper_relation": ""}, "seat", ""),
        ({"label": "seat", "paper_relation": "head"}, "seat", "head"),
    ],
)
def test_the_paper_is_asked_only_of_sources_that_do_not_know(about, label, paper, monkeypatch):
    rows = [("here", {"subject": "France", "object": "Paris"}, "")]
    source = planets(about=lambda spec, relation: dict(about))
    source = dataclasses.replace(source, rows=lambda spec, relation: rows)
    monkeypatch.setattr(sets, "SOURCES", (source,))
    loaded = facts.load("planets:near", "P36")
    assert (loaded.label, loaded.paper_relation) == (label, paper)


def test_facts_are_the_projects_own_or_come_from_a_network_or_from_files(tmp_path):
    rows = {
        "atlas": (True, False),
        "lab:book-1": (True, False),
        "nobel": (False, False),
        "nobel:2022": (False, False),
        "hub:org/name": (False, True),
        str(tmp_path): (False, False),
        "gone": (False, False),
    }
    assert {spec: (facts.is_ours(spec), facts.is_remote(spec)) for spec in rows} == rows


def test_our_own_facts_are_read_once_and_the_files_of_others_each_time(tmp_path):
    for spec, relation in (("atlas", "capital"), ("lab:richsmoke-1", "residence")):
        assert facts.load(spec, relation) is facts.load(spec, relation), spec
    path = tmp_path / "moon.csv"
    for name in ("Phobos", "Deimos"):
        path.write_text(f"subject,object\nMars,{name}\n", encoding="utf-8")
        assert facts.load(str(path), "moon").objects == (name,)
