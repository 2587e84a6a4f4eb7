"""Sets: what is read of a source, and whose facts they are."""

import pytest

from lkecore import facts
from lkecore.facts import sets


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
    source = sets.Source(
        is_spec=lambda spec: spec == "planets:near",
        relations=lambda spec: ("P36",),
        rows=lambda spec, relation: rows,
        is_ready=lambda spec: True,
        digest=lambda spec: spec,
        about=lambda spec, relation: dict(about),
    )
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
