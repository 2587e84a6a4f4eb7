"""The laureates come from Wikidata once, are checked, and become facts that are all true.

The service is a local server. Its answer (``data/nobel_answer.json``) was made by hand, in the
format that Wikidata uses, of public facts about six laureates; the tables below were written down
beside it.
"""

import copy
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import nobel, wikidata

ANSWER = (Path(__file__).parent / "data" / "nobel_answer.json").read_bytes()
HEADER = (
    "id\tname\tbirth_year\tbirth_date\taward_years\tcategories\tgender\tbirth_country\tbirth_city\n"
)
TABLE = HEADER + (
    "Q937\tAlbert Einstein\t1879\t1879-03-14\t1921\tphysics\tmale\tGermany\tUlm\n"
    "Q949\tJohn Bardeen\t1908\t1908-05-23\t1956;1972\tphysics;physics\tmale\tUnited States\tMadison\n"
    "Q7186\tMarie Curie\t1867\t1867-11-07\t1903;1911\tphysics;chemistry\tfemale\tPoland\tWarsaw\n"
    "Q8027\tMartin Luther King Jr.\t1929\t1929-01-15\t1964\tpeace\tmale\tUnited States\tAtlanta\n"
    "Q48983\tLinus Pauling\t1901\t1901-02-28\t1954;1962\tchemistry;peace\tmale\tUnited States\tPortland\n"
    "Q317877\tAbdulrazak Gurnah\t1948\t1948-00-00\t2021\tliterature\tmale\t\tZanzibar\n"
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    for name in ("HF_HUB_OFFLINE", "LKE_WIKIDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setattr(wikidata, "FEWEST", 6)
    return tmp_path / "cache" / "nobel"


@pytest.fixture
def service(monkeypatch):
    """A SPARQL service: it gives the replies of a list in turn, the last one ever after.

    A reply is (status, headers, body); ``service.seen`` has the (path, headers) of each request.
    """
    service = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    service.replies = [(200, {}, ANSWER)]
    service.seen = []
    service.go_on = threading.Event()
    service.go_on.set()
    thread = threading.Thread(target=service.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("LKE_WIKIDATA", f"http://127.0.0.1:{service.server_port}/sparql")
    yield service
    service.go_on.set()
    service.shutdown()
    thread.join()
    service.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.seen.append((self.path, dict(self.headers)))
        status, headers, body = server.replies[min(len(server.seen), len(server.replies)) - 1]
        server.go_on.wait(10)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # the asker has gone, as it should when it waited too long
            self.close_connection = True

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


# --- the answer and the table ---------------------------------------------------------------------


def test_the_table_is_the_one_that_was_written_by_hand(service, own_cache):
    assert not nobel.is_ready()
    assert nobel.path().read_text(encoding="utf-8") == TABLE
    assert nobel.is_ready() and nobel.is_laureate_table(nobel.path())
    assert nobel.content_digest() == hashlib.sha256(TABLE.encode()).hexdigest()
    assert len(service.seen) == 1, "everything after the first call comes from the cache"


def test_the_request_asks_for_json_and_says_who_asks(service):
    nobel.path()
    [(path, headers)] = service.seen
    assert urlsplit(path).path == "/sparql"
    assert parse_qs(urlsplit(path).query) == {"query": [wikidata.QUERY]}
    assert headers["Accept"] == "application/sparql-results+json"
    assert headers["User-Agent"].startswith("lkecore/") and "https://" in headers["User-Agent"]


def test_the_query_asks_for_the_six_prizes_and_for_every_variable_that_is_read():
    assert set(wikidata.AWARDS) == {"Q38104", "Q44585", "Q80061", "Q37922", "Q35637", "Q47170"}
    assert all(f"wd:{award} " in wikidata.QUERY for award in wikidata.AWARDS)
    head = wikidata.QUERY.partition("WHERE")[0].partition("SELECT")[2]
    assert all(f"?{name}" in head for name in wikidata.VARIABLES)
    assert wikidata.QUERY.count("{") == wikidata.QUERY.count("}")


def test_the_answer_and_its_origin_lie_beside_the_table(service, own_cache):
    nobel.path()
    assert (own_cache / "answer.json").read_bytes() == ANSWER
    origin = json.loads((own_cache / "origin.json").read_text(encoding="utf-8"))
    assert origin["query"] == wikidata.QUERY and origin["licence"] == "CC0-1.0"
    assert origin["answer_sha256"] == hashlib.sha256(ANSWER).hexdigest()
    assert origin["laureates"] == 6 and origin["left_out"] == []
    age = datetime.now(UTC) - datetime.fromisoformat(origin["fetched"])
    assert timedelta(0) <= age < timedelta(minutes=5)
    left = {p.name for p in own_cache.iterdir()} - {"laureates.lock"}
    assert left == {"answer.json", "origin.json", "laureates.tsv"}


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


def test_a_date_of_a_decade_alone_is_not_known():
    def change(bindings):
        bindings[-1]["precision"]["value"] = "8"

    row = rows_by_name(answer_with(change))["Abdulrazak Gurnah"]
    assert (row["birth_year"], row["birth_date"]) == ("", "")


def test_a_name_loses_line_breaks_and_tabs_but_no_letters():
    def change(bindings):
        bindings[0]["name"]["value"] = ' Ägir\t"Æ"\u2028 Ø; '

    assert 'Ägir "Æ" Ø;' in rows_by_name(answer_with(change))


def test_two_laureates_of_one_name_are_both_left_out_and_told(
    service, own_cache, capsys, monkeypatch
):
    entity = "http://www.wikidata.org/entity/"
    answer = answer_with(also("Q7186", laureate=f"{entity}Q1", name="MARIE Curie"))
    service.replies = [(200, {}, answer)]
    with pytest.raises(BadInput, match="5 laureates where at least 6"):
        nobel.path()
    monkeypatch.setattr(wikidata, "FEWEST", 5)
    assert nobel.path().read_text(encoding="utf-8") == "".join(
        line for line in TABLE.splitlines(keepends=True) if "Curie" not in line
    )
    origin = json.loads((own_cache / "origin.json").read_text(encoding="utf-8"))
    assert origin["left_out"] == ["Q1 MARIE Curie", "Q7186 Marie Curie"]
    assert "Q1 MARIE Curie, Q7186 Marie Curie" in capsys.readouterr().err


def test_a_laureate_without_an_english_name_is_left_out_and_told():
    def change(bindings):
        bindings.append({k: v for k, v in bindings[0].items() if k != "name"})
        bindings[-1]["laureate"] = {"type": "uri", "value": "http://www.wikidata.org/entity/Q1"}

    assert wikidata.laureates(answer_with(change)) == (wikidata.laureates(ANSWER)[0], ["Q1"])


# --- when something is wrong ----------------------------------------------------------------------


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
    "empty": (b"", "not JSON"),
    "a list": (b"[]", "not a SPARQL result"),
    "an answer to ASK": (b'{"head": {}, "boolean": true}', "not a SPARQL result"),
    "no list": (b'{"head": {"vars": 3}, "results": {"bindings": []}}', "not a list"),
    "a variable less": (ANSWER.replace(b'"birth", ', b"", 1), "no variable birth"),
    "no rows": (answer_with(list.clear), "0 laureates where at least 6"),
    "too few": (answer_with(lambda b: b.pop(0)), "5 laureates where at least 6"),
    "two names of one id": (answer_with(also("Q937", name="Al")), "Q937 has several names"),
    "another entity": (answer_with(value("laureate", "Q937")), "unexpected laureate 'Q937'"),
    "another prize": (answer_with(value("award", "http://x/Q1")), "or award 'http://x/Q1'"),
    "a birth year that is none": (
        answer_with(value("birth", "http://www.wikidata.org/.well-known/genid/8")),
        "Q937 was born 'http",
    ),
    "a negative birth year": (
        answer_with(value("birth", "-0400-01-01T00:00:00Z")),
        "Q937 was born '-0400",
    ),
    "no precision": (answer_with(without("precision")), "with precision ''"),
    "a prize before the first": (answer_with(value("awardYear", "1899")), "year '1899'"),
    "a prize without a year": (answer_with(without("awardYear")), "prize of the year ''"),
    "a number for a text": (answer_with(value("city", 5)), "no text as the value of city"),
    "half a character": (answer_with(value("city", "\ud800")), "no text as the value of city"),
    "a solution that is none": (answer_with(lambda b: b.append(3)), "no text as the value of"),
    "a joined place": (answer_with(value("city", "Ulm;Bern")), "'Ulm;Bern' holds a semicolon"),
    "no births": (answer_with(without("birth")), "only 0 of 6 laureates have a birth_year"),
    "no places": (answer_with(without("city")), "only 0 of 6 laureates have a birth_city"),
}


@pytest.mark.parametrize("case", CHANGED)
def test_an_answer_of_another_shape_is_one_line_and_writes_nothing(case, service, own_cache):
    answer, reason = CHANGED[case]
    service.replies = [(200, {}, answer)]
    with pytest.raises(BadInput) as caught:
        nobel.path()
    message = str(caught.value)
    assert message.startswith("Wikidata's answer changed: ") and reason in message
    assert "\n" not in message and len(message) < 300
    assert nothing_written(own_cache) and not nobel.is_ready()


def nothing_written(folder: Path) -> bool:
    return {p.name for p in folder.glob("*")} <= {"laureates.lock"}


def test_after_a_failure_the_next_call_asks_again(service):
    service.replies = [(500, {}, b""), (200, {}, ANSWER)]
    with pytest.raises(BadInput, match="HTTP 500 Internal Server Error"):
        nobel.path()
    assert nobel.path().read_text(encoding="utf-8") == TABLE


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again_after_as_long_as_it_wishes(status, service, sleeps):
    service.replies = [
        (status, {"Retry-After": "7"}, b"later"),
        (status, {}, b"later"),
        (200, {}, ANSWER),
    ]
    assert nobel.path().read_text(encoding="utf-8") == TABLE
    assert sleeps == [7, 10] and len(service.seen) == 3


@pytest.mark.parametrize(
    ("replies", "pauses", "reason"),
    [
        ([("1",)], [1, 1], "HTTP 429 Too Many Requests"),  # busy for ever
        ([("3600",)], [], "HTTP 429 Too Many Requests; it asks to wait 3600 s"),
        ([("100",), ("21",)], [100], "it asks to wait 21 s"),  # 121 seconds in all
        ([("100",), ("20",)], [100, 20], "HTTP 429 Too Many Requests$"),
    ],
)
def test_the_wait_is_bounded(replies, pauses, reason, service, sleeps, own_cache):
    service.replies = [(429, {"Retry-After": wait}, b"") for (wait,) in replies]
    with pytest.raises(BadInput, match=f"could not be fetched from http://.*{reason}"):
        nobel.path()
    assert sleeps == pauses and len(service.seen) == len(pauses) + 1
    assert nothing_written(own_cache)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("Wed, 21 Oct 2015 07:28:00 -0000", 10, 10),  # no time zone, so no moment
        ("soon", 10, 10),
        ("-5", 10, 10),
        ("", 10, 10),
        (None, 10, 10),
        ("0", 0, 0),
    ],
)
def test_a_wish_to_wait_is_a_number_or_a_date(header, least, most):
    assert least <= wikidata._pause(header) <= most


@pytest.mark.parametrize(("hours", "least", "most"), [(1, 3000, 3600), (-1, 0, 0)])
def test_a_wish_to_wait_until_a_moment_is_what_is_left_until_then(hours, least, most):
    moment = datetime.now(UTC) + timedelta(hours=hours)
    assert least <= wikidata._pause(format_datetime(moment, usegmt=True)) <= most


@pytest.mark.parametrize("status", [400, 403, 500, 502])
def test_another_error_is_not_tried_again(status, service, sleeps, own_cache):
    service.replies = [(status, {"Retry-After": "1"}, b"java.lang.Exception")]
    with pytest.raises(BadInput, match=f"could not be fetched from http://.*: HTTP {status} "):
        nobel.path()
    assert len(service.seen) == 1 and not sleeps and nothing_written(own_cache)


def test_a_service_that_does_not_answer_is_left_after_a_while(service, monkeypatch, own_cache):
    monkeypatch.setattr(wikidata, "TIMEOUT", 0.1)
    service.go_on.clear()
    with pytest.raises(BadInput, match="could not be fetched from .*: timed out$"):
        nobel.path()
    assert nothing_written(own_cache)


def test_an_answer_that_breaks_off_is_not_taken_for_a_whole_one(service, own_cache):
    service.replies = [
        (200, {"Content-Length": str(len(ANSWER) + 9), "Connection": "close"}, ANSWER)
    ]
    with pytest.raises(BadInput, match="could not be fetched from .*IncompleteRead"):
        nobel.path()
    assert nothing_written(own_cache)


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        ("http://127.0.0.1:9/sparql", "refused"),  # the discard port: nobody listens
        ("http://127.0.0.1:port/sparql", "port"),
        ("http://[/sparql", "Invalid IPv6"),
        ("http://127.0.0.1/ä b", ""),
        ("file:///etc/hosts", "must begin with http:// or https://"),
    ],
)
def test_no_network_or_no_address_is_one_line(endpoint, reason, monkeypatch, own_cache):
    monkeypatch.setenv("LKE_WIKIDATA", endpoint)
    with pytest.raises(BadInput) as caught:
        nobel.path()
    message = str(caught.value)
    assert message.startswith(f"nobel facts could not be fetched from {endpoint}: ")
    assert reason in message and "\n" not in message
    assert nothing_written(own_cache)


@pytest.mark.parametrize("given", ["1", "true"])
def test_with_the_network_off_nothing_is_asked_but_the_cache_serves(given, service, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", given)
    with pytest.raises(BadInput) as caught:
        nobel.rows()
    assert str(caught.value) == (
        "nobel facts are not in the cache and the network is off (HF_HUB_OFFLINE)"
    )
    assert not service.seen
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    nobel.path()
    monkeypatch.setenv("HF_HUB_OFFLINE", given)
    assert nobel.path().read_text(encoding="utf-8") == TABLE and len(service.seen) == 1


def test_a_cached_table_of_other_columns_is_fetched_anew(service, own_cache):
    own_cache.mkdir(parents=True)
    (own_cache / "laureates.tsv").write_text(TABLE.replace("birth_city", "town", 1))
    assert not nobel.is_ready() and not service.seen
    assert nobel.path().read_text(encoding="utf-8") == TABLE and len(service.seen) == 1


def test_threads_at_the_same_time_make_one_request(service):
    service.go_on.clear()
    found = []
    threads = [threading.Thread(target=lambda: found.append(nobel.path())) for _ in range(3)]
    for thread in threads:
        thread.start()
    while not service.seen:
        time.sleep(0.01)
    service.go_on.set()
    for thread in threads:
        thread.join()
    assert len(service.seen) == 1 and len(found) == 3 and len(set(found)) == 1


def test_processes_at_the_same_time_make_one_request(service):
    code = "from lkecore.facts import nobel, wikidata; wikidata.FEWEST = 6; print(nobel.path())"
    command = [sys.executable, "-c", code]
    both = [
        subprocess.Popen(command, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert len(service.seen) == 1 and outputs[0][0] == outputs[1][0]
    assert sorted(err != b"" for _, err in outputs) == [False, True], "one says that it fetches"


# --- facts ----------------------------------------------------------------------------------------


def pairs(rows, relation) -> list[tuple[str, str]]:
    return [(row["subject"], row["object"]) for _, row in rows if row["relation"] == relation]


def test_every_relation_has_the_facts_of_the_table(service):
    rows = nobel.rows()
    assert nobel.relations() == tuple(sorted({row["relation"] for _, row in rows}))
    assert pairs(rows, "birth_year") == [
        ("Albert Einstein", "1879"),
        ("John Bardeen", "1908"),
        ("Marie Curie", "1867"),
        ("Martin Luther King Jr.", "1929"),
        ("Linus Pauling", "1901"),
        ("Abdulrazak Gurnah", "1948"),
    ]
    assert pairs(rows, "category") == [
        ("Albert Einstein", "physics"),
        ("John Bardeen", "physics"),  # two prizes, one true object
        ("Marie Curie", "physics"),
        ("Marie Curie", "chemistry"),
        ("Martin Luther King Jr.", "peace"),
        ("Linus Pauling", "chemistry"),
        ("Linus Pauling", "peace"),
        ("Abdulrazak Gurnah", "literature"),
    ]
    assert pairs(rows, "award_year")[1:5] == [
        ("John Bardeen", "1956"),
        ("John Bardeen", "1972"),
        ("Marie Curie", "1903"),
        ("Marie Curie", "1911"),
    ]
    assert [city for _, city in pairs(rows, "birth_city")] == [
        *("Ulm", "Madison", "Warsaw", "Atlanta", "Portland", "Zanzibar")
    ]
    assert "Abdulrazak Gurnah" not in dict(pairs(rows, "birth_country")), "not known, so no fact"
    assert [g for _, g in pairs(rows, "gender")].count("female") == 1


def test_ids_are_unique_and_every_row_says_its_line(service):
    rows = nobel.rows()
    assert len({row["id"] for _, row in rows}) == len(rows)
    assert all(set(row) == {"id", "relation", "subject", "object"} for _, row in rows)
    where = {row["id"]: where for where, row in rows}
    assert where["Q7186-category-chemistry"] == f"{nobel.path()}, line 4"


@pytest.mark.parametrize(
    ("last_year", "prizes"),
    [
        (1900, []),
        (1903, [("Marie Curie", "1903")]),
        (1911, [("Marie Curie", "1903"), ("Marie Curie", "1911")]),
        (1956, [("Albert Einstein", "1921"), ("John Bardeen", "1956"), ("Marie Curie", "1903"),
                ("Marie Curie", "1911"), ("Linus Pauling", "1954")]),
    ],
)  # fmt: skip
def test_a_last_year_gives_the_facts_as_they_stood_then(last_year, prizes, service):
    rows = nobel.rows(f"nobel:{last_year}")
    assert pairs(rows, "award_year") == prizes
    assert {row["subject"] for _, row in rows} == {name for name, _ in prizes}
    curie = [c for name, c in pairs(rows, "category") if name == "Marie Curie"]
    assert curie == {1900: [], 1903: ["physics"]}.get(last_year, ["physics", "chemistry"])


def test_facts_reads_the_rows_of_each_relation(service, tmp_path):
    for relation in nobel.relations():
        rows = [row for _, row in nobel.rows() if row["relation"] == relation]
        file = tmp_path / f"{relation}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        loaded = facts.load(str(file), relation)
        assert len(loaded.facts) == len(rows) and loaded.repeated == 0
    [curie] = [
        f
        for f in facts.load(str(tmp_path / "award_year.jsonl"), "award_year").facts
        if f.object == "1903"
    ]
    assert curie.alternatives == ("1911",), "the year of the other prize is no distractor"


# --- tables from elsewhere ------------------------------------------------------------------------


def test_a_table_from_elsewhere_is_known_by_its_columns_alone(tmp_path):
    def known(name: str, text: str) -> bool:
        (tmp_path / name).write_bytes(text.encode())
        return nobel.is_laureate_table(tmp_path / name)

    assert known("a.tsv", TABLE) and known("b.tsv", HEADER) and known("c.tsv", HEADER.strip())
    assert known("d.tsv", "\ufeff" + TABLE.replace("\n", "\r\n"))
    assert not known("e.csv", TABLE) and not known("f.tsv", "") and not known("g.tsv", "\n" + TABLE)
    assert not known("h.tsv", "subject\tobject\nFrance\tParis\n")
    assert not known("i.tsv", TABLE.replace("birth_city", "birth_city\tdied", 1))
    assert not known("j.tsv", TABLE.replace("id\tname", "name\tid", 1))
    assert not nobel.is_laureate_table(tmp_path) and not nobel.is_laureate_table(tmp_path / "k.tsv")
    (tmp_path / "folder.tsv").mkdir()
    assert not nobel.is_laureate_table(tmp_path / "folder.tsv")
    (tmp_path / "bytes.tsv").write_bytes(b"\xff\xfe\x00" * 5000)
    assert not nobel.is_laureate_table(tmp_path / "bytes.tsv")


def test_a_table_from_elsewhere_gives_the_same_facts(service, tmp_path):
    file = tmp_path / "laureates.tsv"
    file.write_bytes(("\ufeff" + TABLE.replace("\n", "\r\n")).encode())
    assert [row for _, row in nobel.rows_of(file)] == [row for _, row in nobel.rows()]


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("Q949\t", "Q937\t", 3, "the id 'Q937' stands in .*, line 2 too"),
        ("John Bardeen", "albert EINSTEIN", 3, "the name 'albert EINSTEIN' stands in .*, line 2"),
        ("\t1879\t", "\t79\t", 2, "birth_year must be years .YYYY., found '79'"),
        ("\t1956;1972\t", "\t1956;then\t", 3, "award_years must be years .*, found 'then'"),
        ("\t1956;1972\t", "\t1956\t", 3, "1 award_years for 2 categories"),
        ("\t1921\tphysics", "\t\t", 2, "0 award_years for 0 categories"),
        ("\tUlm", "\tUlm;", 2, "birth_city has an empty value in 'Ulm;'"),
        ("Albert Einstein", " ", 2, "name must be a non-empty text"),
        ("Q937\t", "\t", 2, "id must be a non-empty text"),
        ("\tUlm", "", 2, "8 fields where the header has 9"),
    ],
)
def test_a_row_that_breaks_the_rules_is_named_with_its_line(old, new, line, reason, tmp_path):
    file = tmp_path / "mine.tsv"
    assert old in TABLE
    file.write_text(TABLE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadInput, match=f"mine.tsv, line {line}: {reason}"):
        nobel.rows_of(file)


@pytest.mark.parametrize("spec", ["nobel:", "nobel:22", "nobel:latest"])
def test_a_year_that_is_none_is_refused_in_the_name_of_the_fact_set(spec, service):
    for call in (lambda: facts.load(spec, "birth_year"), lambda: facts.relations(spec)):
        with pytest.raises(BadInput, match="must be nobel or nobel:YEAR"):
            call()


def test_the_name_of_the_fact_set_may_hold_the_year(service):
    curie = facts.load("nobel:1903", "award_year").facts
    assert [(fact.subject, fact.object) for fact in curie] == [("Marie Curie", "1903")]
