"""Progress: a bar that another process reads, a log and a ledger in a run, and nothing elsewhere."""

import json

import pytest

from lkecore import progress


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    """Not in a run, unless a test says so."""
    for name in ("LKE_RUN", "LKE_PROGRESS", "LKE_LEDGER"):
        monkeypatch.delenv(name, raising=False)


def test_a_bar_can_be_read_by_somebody_else_while_it_moves(tmp_path, monkeypatch, capsys):
    place = tmp_path / "progress"
    assert progress.read_bar(place) is None
    monkeypatch.setenv("LKE_PROGRESS", str(place))
    with progress.bar(12, "fact") as shown:
        shown.mininterval = 0  # else a fast machine would have to wait for the next drawing
        assert progress.read_bar(place) == ("", 0, 12)
        shown.set_description("capital")
        shown.update(5)
        assert progress.read_bar(place) == ("capital", 5, 12)
    assert progress.read_bar(place)[1:] == (5, 12)
    with progress.bar(3, "fact"):  # the next one takes its place
        assert progress.read_bar(place) == ("", 0, 3)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("text", ["capital: \t3", "a\tb\tc"])
def test_a_bar_that_is_half_written_is_none(tmp_path, text):
    (tmp_path / "progress").write_text(text)
    assert progress.read_bar(tmp_path / "progress") is None


def test_a_line_goes_to_the_terminal_and_in_a_run_to_its_log(tmp_path, monkeypatch, capsys):
    progress.tell("one")
    assert capsys.readouterr() == ("", "one\n")
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    progress.tell("two")
    progress.tell("Zürich")
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "log.txt").read_text(encoding="utf-8") == "two\nZürich\n"


def test_the_ledger_keeps_entries_in_order_and_only_where_there_is_one(tmp_path, monkeypatch):
    place = tmp_path / "ledger"
    progress.record(relation="lost")
    assert progress.read_ledger(place) == [] and not place.exists()
    monkeypatch.setenv("LKE_LEDGER", str(place))
    progress.record(relation="capital", tokens_forwarded=7, from_cache=False)
    progress.record(relation="currency", tokens_forwarded=0, from_cache=True)
    assert progress.read_ledger(place) == [
        {"relation": "capital", "tokens_forwarded": 7, "from_cache": False},
        {"relation": "currency", "tokens_forwarded": 0, "from_cache": True},
    ]
    assert [json.loads(line)["relation"] for line in place.read_text().splitlines()] == [
        "capital", "currency"
    ]  # fmt: skip
