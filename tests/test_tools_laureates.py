"""The tool that fetches the laureates: what Wikidata answers is checked, and becomes one table.

The service is a local server. Its answer (``data/nobel_answer.json``) was made by hand, in the
format that Wikidata uses, of public facts about six laureates; the table of ``test_facts_nobel`` was written
down beside it.
"""

import copy
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

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
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setattr(wikidata, "FEWEST", 6)
    return tmp_path / "cache" / "nobel"


@pytest.fixture
def service():
    """A SPARQL service: it gives the replies of a list in turn, the last one ever after.

    A reply is (status, headers, body); ``service.seen`` has the (path, headers) of each request.
    """
    service = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    service.replies = [(200, {}, ANSWER)]
    service.seen = []
    thread = threading.Thread(target=service.serve_forever, args=(0.01,))
    thread.start()
    service.address = f"http://127.0.0.1:{service.server_port}/sparql"
    yield service
    service.shutdown()
    thread.join()
    service.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.seen.append((self.path, dict(self.headers)))
        status, headers, body = server.replies[min(len(server.seen), len(server.replies)) - 1]
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def sleeps(monkeypatch):
    """The pauses that the code makes, in seconds; none of them is really made."""
    made = []
    monkeypatch.setattr(wikidata.time, "sleep", made.append)
    return made


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


def make(service) -> str:
    """The table that the tool has put into the cache."""
    wikidata.make(nobel.table_path(), service.address)
    return nobel.path().read_text(encoding="utf-8")


def test_the_table_is_the_one_that_was_written_by_hand_and_its_origin_lies_beside_it(
    service, cache
):
    assert make(service) == TABLE
    [(path, headers)] = service.seen
    assert urlsplit(path).path == "/sparql"
    assert parse_qs(urlsplit(path).query) == {"query": [wikidata.QUERY]}
    assert headers["Accept"] == "application/sparql-results+json"
    assert headers["User-Agent"].startswith("lkecore/") and "https://" in headers["User-Agent"]
    assert (cache / "answer.json").read_bytes() == ANSWER
    origin = json.loads((cache / "origin.json").read_text(encoding="utf-8"))
    assert origin["query"] == wikidata.QUERY and origin["licence"] == "CC0-1.0"
    assert origin["answer_sha256"] == hashlib.sha256(ANSWER).hexdigest()
    assert origin["laureates"] == 6 and origin["left_out"] == []


def test_the_order_of_the_answer_does_not_matter():
    table = wikidata.laureates(ANSWER)
    assert wikidata.laureates(answer_with(list.reverse)) == table
    assert wikidata.laureates(answer_with(lambda b: b.extend(b[:3]))) == table


def test_several_values_are_joined_and_repeated_ones_are_not():
    answer = answer_with(also("Q937", country="German Empire"))
    assert rows_by_name(answer)["Albert Einstein"]["birth_country"] == "German Empire;Germany"
    assert rows_by_name(answer)["Albert Einstein"]["award_years"] == "1921"


@pytest.mark.parametrize(
    ("birth", "precision", "year", "date"),
    [
        ("1948-12-20T00:00:00Z", "11", "1948", "1948-12-20"),  # says more than the year alone
        ("1948-12-01T00:00:00Z", "10", "1948", "1948-12-00"),
        ("1947-01-01T00:00:00Z", "9", "1947;1948", "1947-00-00;1948-00-00"),
        ("1949-12-20T00:00:00Z", "11", "1948;1949", "1948-00-00;1949-12-20"),
        ("1940-01-01T00:00:00Z", "8", "1948", "1948-00-00"),  # a decade is no year
    ],
)
def test_a_second_birth_date_counts_unless_it_only_says_less(birth, precision, year, date):
    answer = answer_with(also("Q317877", birth=birth, precision=precision))
    row = rows_by_name(answer)["Abdulrazak Gurnah"]
    assert (row["birth_year"], row["birth_date"]) == (year, date)


def test_two_laureates_of_one_name_are_both_left_out_and_told(service, cache, monkeypatch):
    entity = "http://www.wikidata.org/entity/"
    answer = answer_with(also("Q7186", laureate=f"{entity}Q1", name="MARIE Curie"))
    service.replies = [(200, {}, answer)]
    with pytest.raises(BadInput, match="5 laureates where at least 6"):
        make(service)
    assert not cache.exists()  # nothing is written
    monkeypatch.setattr(wikidata, "FEWEST", 5)
    assert make(service) == "".join(
        line for line in TABLE.splitlines(keepends=True) if "Curie" not in line
    )
    origin = json.loads((cache / "origin.json").read_text(encoding="utf-8"))
    assert origin["left_out"] == ["Q1 MARIE Curie", "Q7186 Marie Curie"]


def test_a_laureate_without_an_english_name_is_left_out_and_told():
    def change(bindings):
        bindings.append({k: v for k, v in bindings[0].items() if k != "name"})
        bindings[-1]["laureate"] = {"type": "uri", "value": "http://www.wikidata.org/entity/Q1"}

    assert wikidata.laureates(answer_with(change)) == (wikidata.laureates(ANSWER)[0], ["Q1"])


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
    "broken off": (ANSWER[: len(ANSWER) // 2], "not JSON, it begins with"),
    "not UTF-8": (ANSWER.replace(b"Ulm", b"U\xfflm"), "not JSON"),
    "an answer to ASK": (b'{"head": {}, "boolean": true}', "not a SPARQL result"),
    "a variable less": (ANSWER.replace(b'"birth", ', b"", 1), "no variable birth"),
    "too few": (answer_with(lambda b: b.pop(0)), "5 laureates where at least 6"),
    "two names of one id": (answer_with(also("Q937", name="Al")), "Q937 has several names"),
    "another entity": (answer_with(value("laureate", "Q937")), "unexpected laureate 'Q937'"),
    "a birth year that is none": (
        answer_with(value("birth", "http://www.wikidata.org/.well-known/genid/8")),
        "Q937 was born 'http",
    ),
    "no precision": (answer_with(without("precision")), "with precision ''"),
    "a prize before the first": (answer_with(value("awardYear", "1899")), "year '1899'"),
    "a number for a text": (answer_with(value("city", 5)), "no text as the value of city"),
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


def test_a_busy_service_is_asked_again_after_as_long_as_it_wishes(service, sleeps):
    service.replies = [
        (429, {"Retry-After": "7"}, b"later"),
        (503, {}, b"later"),
        (200, {}, ANSWER),
    ]
    assert make(service) == TABLE
    assert sleeps == [7, 10] and len(service.seen) == 3


@pytest.mark.parametrize(
    ("waits", "pauses", "reason"),
    [
        (["1"], [1, 1], "HTTP 429 Too Many Requests"),  # busy for ever
        (["3600"], [], "HTTP 429 Too Many Requests; it asks to wait 3600 s"),
        (["100", "21"], [100], "it asks to wait 21 s"),  # 121 seconds in all
    ],
)
def test_the_wait_is_bounded(waits, pauses, reason, service, sleeps):
    service.replies = [(429, {"Retry-After": wait}, b"") for wait in waits]
    with pytest.raises(BadInput, match=f"could not be fetched from http://.*{reason}"):
        make(service)
    assert sleeps == pauses and len(service.seen) == len(pauses) + 1


def test_another_error_is_one_line_and_is_not_tried_again(service, sleeps, cache, monkeypatch):
    service.replies = [(500, {"Retry-After": "1"}, b"java.lang.Exception")]
    monkeypatch.setattr("sys.argv", ["laureates.py", "--endpoint", service.address])
    with pytest.raises(SystemExit) as caught:
        wikidata.main()
    assert caught.value.code == (
        f"laureates could not be fetched from {service.address}: HTTP 500 Internal Server Error"
    )
    assert len(service.seen) == 1 and not sleeps and not cache.exists()
