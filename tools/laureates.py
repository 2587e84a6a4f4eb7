"""Laureates: fetch who won a Nobel Prize from Wikidata, and put the table into the cache.

    .venv/bin/python tools/laureates.py

The fact sets ``nobel`` and ``nobel:2022`` read the table. Wikidata's own answer and a note of its origin
lie beside it. Wikidata's content is free (CC0). What stands in the table where Wikidata says more than a
table can hold:

- a laureate is a human being with one of the six prizes and the year of it; two prizes are one row;
- several values of one column are joined by ``;`` (a date that is part of a more precise one is
  not a value of its own). ``award_years`` and ``categories`` go together, prize by prize;
- a date of which only the year is known ends in ``-00-00``; an empty field is not known;
- a name stands for one laureate. Those who share an English name, or have none, are left out,
  because nobody could tell which of them is asked about.
"""

import argparse
import hashlib
import http.client
import json
import re
import sys
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from lkecore import __version__
from lkecore.errors import BadInput
from lkecore.facts.nobel import COLUMNS, is_year, table_path
from lkecore.facts.tables import fold
from lkecore.storage import write_whole

ENDPOINT = "https://query.wikidata.org/sparql"
# The service asks every program to say who it is.
HEADERS = {
    "Accept": "application/sparql-results+json",
    "User-Agent": f"lkecore/{__version__} (https://github.com/lkecore/lkecore)",
}
TIMEOUT = 90  # seconds without a byte; the service itself gives up after 60
TRIES = 3
LONGEST_WAIT = 120  # seconds in all that we wait because the service asked for it
FEWEST = 900  # laureates; 2022 had 954, and no prize is ever taken back

AWARDS = {
    "Q38104": "physics",
    "Q44585": "chemistry",
    "Q80061": "medicine",
    "Q37922": "literature",
    "Q35637": "peace",
    "Q47170": "economics",
}
VARIABLES = (
    "laureate", "name", "award", "awardYear", "birth", "precision", "gender", "city", "country",
)  # fmt: skip
_LABEL = """OPTIONAL {{ ?{0} rdfs:label ?{0}En FILTER(LANG(?{0}En) = "en") }}
    OPTIONAL {{ ?{0} rdfs:label ?{0}Mul FILTER(LANG(?{0}Mul) = "mul") }}"""
# Plain SPARQL 1.1, without the label service, so that any mirror of Wikidata can answer it. Names
# that are the same in all languages stand under "mul". The country is the one of today (P17 of the
# place of birth). Precision 9 is a year, 10 a month, 11 a day. The dates are of best rank, as the
# values of wdt: are; of the awards only deprecated ones are left out.
QUERY = f"""\
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX ps: <http://www.wikidata.org/prop/statement/>
PREFIX psv: <http://www.wikidata.org/prop/statement/value/>
PREFIX pq: <http://www.wikidata.org/prop/qualifier/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT DISTINCT ?laureate (COALESCE(?laureateEn, ?laureateMul) AS ?name)
  ?award (YEAR(?awarded) AS ?awardYear) ?birth ?precision
  (COALESCE(?sexEn, ?sexMul) AS ?gender) (COALESCE(?placeEn, ?placeMul) AS ?city)
  (COALESCE(?stateEn, ?stateMul) AS ?country)
WHERE {{
  VALUES ?award {{ {" ".join(f"wd:{q}" for q in AWARDS)} }}
  ?statement ps:P166 ?award .
  ?statement pq:P585 ?awarded FILTER(isLiteral(?awarded))
  ?statement wikibase:rank ?rank FILTER(?rank != wikibase:DeprecatedRank)
  ?laureate p:P166 ?statement .
  ?laureate wdt:P31 wd:Q5 .
  {_LABEL.format("laureate")}
  OPTIONAL {{
    ?laureate p:P569 ?born .
    ?born a wikibase:BestRank .
    ?born psv:P569 ?value .
    ?value wikibase:timeValue ?birth .
    ?value wikibase:timePrecision ?precision .
  }}
  OPTIONAL {{
    ?laureate wdt:P21 ?sex .
    {_LABEL.format("sex")}
  }}
  OPTIONAL {{
    ?laureate wdt:P19 ?place .
    {_LABEL.format("place")}
    OPTIONAL {{
      ?place wdt:P17 ?state .
      {_LABEL.format("state")}
    }}
  }}
}}
"""


def fetch(endpoint: str) -> bytes:
    """The answer of a SPARQL service to the query, as it came.

    A busy service (HTTP 429 or 503) is asked again after as long as it wishes, at most ``TRIES``
    times and ``LONGEST_WAIT`` seconds in all. Raises :class:`BadInput`, with the reason, when there
    is no answer.
    """
    failed = f"laureates could not be fetched from {endpoint}: "
    if not endpoint.startswith(("http://", "https://")):
        raise BadInput(f"{failed}the address must begin with http:// or https://")
    address = f"{endpoint}?{urlencode({'query': QUERY})}"
    waited = 0.0
    for left in reversed(range(TRIES)):
        try:
            with urlopen(Request(address, headers=HEADERS), timeout=TIMEOUT) as response:
                return response.read()
        except HTTPError as error:
            with error:  # it holds the open connection
                said = f"HTTP {error.code} {error.reason}"
                if error.code not in (429, 503) or not left:
                    raise BadInput(f"{failed}{said}") from error
                pause = _pause(error.headers.get("Retry-After"))
            if waited + pause > LONGEST_WAIT:
                raise BadInput(f"{failed}{said}; it asks to wait {pause:.0f} s") from error
        # No network, too slow, broken off, or no address at all.
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = " ".join(str(getattr(error, "reason", error)).split())
            raise BadInput(f"{failed}{reason or type(error).__name__}") from error
        time.sleep(pause)
        waited += pause
    raise AssertionError("the last try returns or raises")


def _pause(retry_after: str | None) -> float:
    """Seconds to wait as the header asks: a number, or a date; ten where it says nothing."""
    try:
        if retry_after and not retry_after.strip().isdecimal():
            then = parsedate_to_datetime(retry_after)
            return max(0.0, (then - datetime.now(UTC)).total_seconds())
        return float(retry_after or 10)
    except (TypeError, ValueError):  # TypeError: a date without a time zone
        return 10.0


# --- from the answer to the table -----------------------------------------------------------------


def laureates(answer: bytes) -> tuple[list[tuple[str, ...]], list[str]]:
    """The rows of the table, by id, and "id name" of each laureate that is left out.

    Raises :class:`BadInput` when the answer is not what the query asks for, or says too little.
    """
    found: dict[str, dict[str, set[Any]]] = {}
    for binding in _bindings(answer):
        row = {name: _value(binding, name) for name in VARIABLES}
        entity = re.fullmatch(r"https?://www\.wikidata\.org/entity/(Q[0-9]+)", row["laureate"])
        award = row["award"].rpartition("/")[2]
        if not entity or award not in AWARDS:
            raise _changed(f"unexpected laureate {row['laureate']!r} or award {row['award']!r}")
        key, year = entity[1], row["awardYear"]
        if not is_year(year) or int(year) < 1901:
            raise _changed(f"{key} has a prize of the year {year!r}")
        laureate = found.setdefault(key, defaultdict(set))
        laureate["prizes"].add((year, list(AWARDS).index(award)))
        laureate["dates"] |= {_date(row["birth"], row["precision"], key)} - {""}
        for name in ("name", "gender", "country", "city"):
            laureate[name] |= {row[name]} - {""}
        if len(laureate["name"]) > 1:
            raise _changed(f"{key} has several names, {sorted(laureate['name'])}")
    bearers = Counter(fold(name) for one in found.values() for name in one["name"])
    rows, left_out = [], []
    for key, laureate in sorted(found.items(), key=lambda item: int(item[0][1:])):
        [name] = laureate["name"] or {""}
        if bearers[fold(name)] != 1:
            left_out.append(f"{key} {name}".strip())
            continue
        dates = _most_precise(laureate["dates"])
        prizes = sorted(laureate["prizes"])
        row = {
            "id": [key],
            "name": [name],
            "birth_year": sorted({date[:4] for date in dates}),
            "birth_date": sorted(dates),
            "award_years": [year for year, _ in prizes],
            "categories": [list(AWARDS.values())[place] for _, place in prizes],
            "gender": sorted(laureate["gender"]),
            "birth_country": sorted(laureate["country"]),
            "birth_city": sorted(laureate["city"]),
        }
        rows.append(tuple(";".join(row[column]) for column in COLUMNS))
    _check_filled(rows)
    return rows, left_out


def _bindings(answer: bytes) -> list[Any]:
    """The solutions in a SPARQL 1.1 JSON result."""
    try:
        content = json.loads(answer)
        names, bindings = content["head"]["vars"], content["results"]["bindings"]
    except (ValueError, RecursionError) as error:
        raise _changed(f"not JSON, it begins with {answer[:40]!r}") from error
    except (KeyError, TypeError) as error:
        raise _changed("not a SPARQL result (head.vars, results.bindings)") from error
    if not isinstance(names, list) or not isinstance(bindings, list):
        raise _changed("head.vars or results.bindings is not a list")
    if missing := [name for name in VARIABLES if name not in names]:
        raise _changed(f"no variable {', '.join(missing)}")
    return bindings


def _value(binding: Any, name: str) -> str:
    """The text of a variable, "" where it has none (an OPTIONAL part of the query)."""
    try:
        value = binding[name]["value"] if name in binding else ""
    except (KeyError, TypeError):
        value = None
    if not isinstance(value, str) or any("\ud800" <= c <= "\udfff" for c in value):
        raise _changed(f"no text as the value of {name} in {str(binding)!r}")
    if ";" in value and name != "name":
        raise _changed(f"{name} {value!r} holds a semicolon, which would make two of it")
    return " ".join(value.split())


def _date(birth: str, precision: str, key: str) -> str:
    """YYYY-MM-DD with 00 for what is not known; "" where not even the year is."""
    if not birth:
        return ""
    if not re.fullmatch(r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]T00:00:00.*", birth):
        raise _changed(f"{key} was born {birth!r}, which is no date with a year YYYY")
    if not re.fullmatch("[0-9]{1,2}", precision):
        raise _changed(f"{key} was born {birth!r} with precision {precision!r}")
    known = int(precision)
    if known < 9:  # a decade or more
        return ""
    return birth[:10] if known > 10 else f"{birth[:7]}-00" if known == 10 else f"{birth[:4]}-00-00"


def _most_precise(dates: set[str]) -> set[str]:
    """Without dates that only say less of another: 1898-00-00 beside 1898-05-02."""
    stems = {date: date.replace("-00", "") for date in dates}
    return {
        date
        for date, stem in stems.items()
        if not any(other != date and other.startswith(stem) for other in dates)
    }


def _check_filled(rows: list[tuple[str, ...]]) -> None:
    """Of what every laureate has, a few gaps are Wikidata's, and many are a broken query."""
    if len(rows) < FEWEST:
        raise _changed(f"{len(rows)} laureates where at least {FEWEST} are expected")
    for column, values in zip(COLUMNS, zip(*rows, strict=True), strict=True):
        known = sum(value != "" for value in values)
        if known < 0.8 * len(rows):
            raise _changed(f"only {known} of {len(rows)} laureates have a {column}")


def _changed(what: str) -> BadInput:
    return BadInput(f"Wikidata's answer changed: {what[:200]}")


# --- the table in the cache -----------------------------------------------------------------------


def make(table: Path, endpoint: str) -> list[str]:
    """Fetch, check and write the answer, the note of its origin and the table; who is left out."""
    answer = fetch(endpoint)
    rows, left_out = laureates(answer)
    origin = {
        "endpoint": endpoint,
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        "licence": "CC0-1.0",
        "answer_sha256": hashlib.sha256(answer).hexdigest(),
        "laureates": len(rows),
        "left_out": left_out,
        "query": QUERY,
    }
    table.parent.mkdir(parents=True, exist_ok=True)
    write_whole(table.with_name("answer.json"), answer)
    write_whole(
        table.with_name("origin.json"), json.dumps(origin, indent=1, ensure_ascii=False) + "\n"
    )
    write_whole(table, "".join("\t".join(row) + "\n" for row in [COLUMNS, *rows]))
    return left_out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--endpoint", default=ENDPOINT, help="a mirror of Wikidata's query service")
    given = parser.parse_args()
    try:
        left_out = make(table_path(), given.endpoint)
    except BadInput as error:
        sys.exit(str(error))
    print(table_path())
    if left_out:
        print(f"left out, as no English name is theirs alone: {', '.join(left_out)}")


if __name__ == "__main__":
    main()
