"""Templates of a file, and the kinds of LAMA's relations (PZ-D1)."""

from collections import Counter

import pytest

from lkecore import facts, prompts
from lkecore.errors import BadInput
from lkecore.prompts import given

TABLE = """relation\tsource\ttemplate
P36\tlama\tThe capital of [X] is [Y] .
P36\tmined\t[X] , [Y]
P27\tlama\t[X] is [Y] citizen .
P1412\tlama\tIn [X] one speaks [Y].
P1412\tlama\t[X] speaks [Y]
"""
PAIRS = {
    "P36": [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Peru", "Lima")],
    "P27": [("Ann", "Swede"), ("Bo", "Dane"), ("Cy", "Finn"), ("Di", "Pole")],
    "P1412": [("Ann", "Danish"), ("Bo", "Dutch"), ("Cy", "Finnish"), ("Di", "Irish")],
    "P999": [("Ann", "red"), ("Bo", "blue"), ("Cy", "pink"), ("Di", "grey")],
}


@pytest.fixture
def sample(tmp_path):
    rows = [f"{r}\t{s}\t{o}" for r, pairs in PAIRS.items() for s, o in pairs]
    (tmp_path / "set.tsv").write_text("\n".join(["relation\tsubject\tobject", *rows]))
    return facts.draw(
        str(tmp_path / "set.tsv"), [], n_shots=1, n_facts=2, n_options=2, seed=0, allow_fewer=True
    )


@pytest.fixture
def table(tmp_path):
    (tmp_path / "templates.tsv").write_text(TABLE)
    return str(tmp_path / "templates.tsv")


def test_relations_get_their_templates_and_kinds_and_others_say_why_not(sample, table):
    found, out = prompts.with_templates_of(sample, table)
    assert {name: drawn.relation.templates for name, drawn in found.items()} == {
        "P36": ("The capital of [X] is [Y]",),
        "P1412": ("In [X] one speaks [Y]", "[X] speaks [Y]"),
    }
    assert found["P36"].relation.kind == "location" and found["P36"].facts == sample["P36"].facts
    assert out["P27"] == "'[X] is [Y] citizen' goes on behind its blank"
    assert out["P999"] == "no template"


def test_words_behind_the_blank_stay_where_no_model_is_causal(sample, table):
    found, out = prompts.with_templates_of(sample, table, causal=False)
    assert found["P27"].relation.templates == ("[X] is [Y] citizen",) and set(out) == {"P999"}
    asked = prompts.instilled_of_sample(found, ["template-1"], closed=True)
    first = asked["template-1", "explicit", "P27"][0]
    assert (first.asked.context, first.asked.after) == (f"{first.asked.subject} is", " citizen.")


def test_a_full_stop_is_taken_off_with_the_space_before_it():
    assert given.plain("The capital of [X] is [Y] .") == "The capital of [X] is [Y]"
    assert given.plain("In [X] one speaks [Y].") == "In [X] one speaks [Y]"
    assert given.plain("[X] is [Y] citizen .") == "[X] is [Y] citizen"
    assert given.plain("What is [X]? [Y]") == "What is [X]? [Y]"


def test_another_source_may_be_asked_and_a_file_without_what_is_needed_is_refused(sample, tmp_path):
    table = tmp_path / "templates.tsv"
    table.write_text(TABLE)
    found, out = prompts.with_templates_of(sample, str(table), source="mined")
    assert found["P36"].relation.templates == ("[X] , [Y]",) and out["P1412"] == "no template"
    with pytest.raises(BadInput, match="none of people for .* that ends with"):
        prompts.with_templates_of(sample, str(table), source="people")
    table.write_text("relation\twords\nP36\tx\n")
    with pytest.raises(BadInput, match="no template; a table of templates needs both"):
        prompts.with_templates_of(sample, str(table))


def test_22_of_lamas_41_relations_are_about_places_or_languages():
    """As the paper's own tables have them: 11 + 11 places of Tables 3 and 4 are among these."""
    counts = Counter(given.kinds().values())
    assert counts == {"location": 17, "language": 5, "other": 19}
