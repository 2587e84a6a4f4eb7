"""The tool that fetches the laureates: what Wikidata answers is checked, and becomes one table.

The answer (``data/nobel_answer.json``) was made by hand, in the format that Wikidata uses, of public facts
about six laureates; the table of ``test_facts_nobel`` was written down beside it.
"""

import copy
import hashlib
import json
from pathlib import Path

import helpers
import pytest
from test_facts_nobel import TABLE

from lkecore.errors import BadInput
from lkecore.facts import nobel

ANSWER = (Path(__file__).parent / "data" / "nobel_answer.json").read_bytes()
wikidata = helpers.tool("laureates")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(wikidata, "FEWEST", 6)
    return tmp_path / "cache" / "nobel"


def answer_with(change) -> bytes:
    """The recorded answer after ``change`` of its list of solutions."""
    content = json.loads(ANSWER)
    change(content["results"]["bindings"])
    return json.dumps(content).encode()


def also(qid: str, **values: str):
    """A change that adds the last solution of a laureate once more, with other values."""

    def change(bindings):
        of = [b for b in bindings if b["laureate"]["value"].endswith(f"/{qid}")]
        new = copy.deepcopy(of[-1])
        for name, value in values.items():
            new[name] = {"type": "literal", "value": value}
        bindings.append(new)

    return change


def rows_by_name(answer: bytes) -> dict[str, dict[str, str]]:
    table, _ = wikidata.laureates(answer)
    return {row[1]: dict(zip(wikidata.COLUMNS, row, strict=True)) for row in table}


def make(monkeypatch, answer=ANSWER) -> str:
    """The table that the tool has put into the cache."""
    monkeypatch.setattr(wikidata, "fetch", lambda endpoint: answer)
    wikidata.make(nobel.table_path(), "http://nowhere")
    return nobel.path().read_text(encoding="utf-8")


def test_the_table_is_the_one_that_was_written_by_hand_and_its_origin_lies_beside_it(
    cache, monkeypatch
):
    assert make(monkeypatch) == TABLE
    assert (cache / "answer.json").read_bytes() == ANSWER
    origin = json.loads((cache / "origin.json").read_text(encoding="utf-8"))
    assert origin["answer_sha256"] == hashlib.sha256(ANSWER).hexdigest()
    assert origin["laureates"] == 6 and origin["left_out"] == []


def test_several_values_are_joined_and_repeated_ones_are_not():
    answer = answer_with(also("Q937", country="German Empire"))
    assert rows_by_name(answer)["Albert Einstein"]["birth_country"] == "German Empire;Germany"
    assert rows_by_name(answer)["Albert Einstein"]["award_years"] == "1921"


@pytest.mark.parametrize(
    ("birth", "precision", "year", "date"),
    [
        ("1948-12-20T00:00:00Z", "11", "1948", "1948-12-20"),  # says more than the year alone
        ("1947-01-01T00:00:00Z", "9", "1947;1948", "1947-00-00;1948-00-00"),
        ("1949-12-20T00:00:00Z", "11", "1948;1949", "1948-00-00;1949-12-20"),
    ],
)
def test_a_second_birth_date_counts_unless_it_only_says_less(birth, precision, year, date):
    answer = answer_with(also("Q317877", birth=birth, precision=precision))
    row = rows_by_name(answer)["Abdulrazak Gurnah"]
    assert (row["birth_year"], row["birth_date"]) == (year, date)


def test_two_laureates_of_one_name_are_both_left_out_and_told(cache, monkeypatch):
    entity = "http://www.wikidata.org/entity/"
    answer = answer_with(also("Q7186", laureate=f"{entity}Q1", name="MARIE Curie"))
    with pytest.raises(BadInput, match="5 laureates where at least 6"):
        make(monkeypatch, answer)
    assert not cache.exists()  # nothing is written
    monkeypatch.setattr(wikidata, "FEWEST", 5)
    assert make(monkeypatch, answer) == "".join(
        line for line in TABLE.splitlines(keepends=True) if "Curie" not in line
    )
    origin = json.loads((cache / "origin.json").read_text(encoding="utf-8"))
    assert origin["left_out"] == ["Q1 MARIE Curie", "Q7186 Marie Curie"]


def value(name: str, text: object):
    """A change that gives another value to a variable of the first solution."""

    def change(bindings):
        bindings[0][name]["value"] = text

    return change


def without(name: str):
    """A change that takes a variable out of every solution."""

    def change(bindings):
        for binding in bindings:
            binding.pop(name, None)

    return change


CHANGED = {
    "a page": (b"<!DOCTYPE html>\n<html>", "not JSON, it begins with b'<!DOCTYPE html>"),
    "an answer to ASK": (b'{"head": {}, "boolean": true}', "not a SPARQL result"),
    "a variable less": (ANSWER.replace(b'"birth", ', b"", 1), "no variable birth"),
    "too few": (answer_with(lambda b: b.pop(0)), "5 laureates where at least 6"),
    "two names of one id": (answer_with(also("Q937", name="Al")), "Q937 has several names"),
    "no precision": (answer_with(without("precision")), "with precision ''"),
    "a joined place": (answer_with(value("city", "Ulm;Bern")), "'Ulm;Bern' holds a semicolon"),
    "no births": (answer_with(without("birth")), "only 0 of 6 laureates have a birth_year"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_an_answer_of_another_shape_is_one_line(case):
    answer, reason = CHANGED[case]
    with pytest.raises(BadInput) as caught:
        wikidata.laureates(answer)
    message = str(caught.value)
    assert message.startswith("Wikidata's answer changed: ") and reason in message
    assert "\n" not in message and len(message) < 300
