"""The embedded fact set keeps its promises: sizes, kinds, templates, sources, and true facts."""

import csv
import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import lkecore

DATA = Path(lkecore.__file__).parent / "data"
SHA256 = {
    "atlas.tsv": "3a516756ca1ea1e263f4d5c19cd2ac6a5aa79bbf867ee68688d35f02d5831d76",
    "atlas_relations.tsv": "2e69d58f2978ffaeac69248c79d115cd59ffb1b3fc405588c71ed57bd4433774",
}
TEMPLATES = [f"template_{i}" for i in range(1, 6)]
PAPER_RELATIONS = {
    "capital", "director", "official language", "original language of film or TV show",
}  # fmt: skip

# Known without looking at the packages.
TRUE_FACTS = [
    ("airport_code", "Los Angeles International Airport", "LAX"),
    ("atomic_number", "oxygen", "8"),
    ("capital", "France", "Paris"),
    ("capital", "Kazakhstan", "Astana"),
    ("city_of_airport", "John F Kennedy International Airport", "New York"),
    ("country_code", "Germany", "DE"),
    ("country_of_city", "Mumbai", "India"),
    ("country_of_language", "Hungarian", "Hungary"),
    ("currency", "Japan", "Japanese Yen"),
    ("element_symbol", "gold", "Au"),
    ("film_director", "Pulp Fiction", "Quentin Tarantino"),
    ("film_language", "Fargo", "English"),
    ("film_year", "Pulp Fiction", "1994"),
    ("language_code", "Spanish", "es"),
    ("native_name", "German", "Deutsch"),
    ("official_language", "Canada", "English"),
    ("official_language", "Canada", "French"),
]


def read(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


FACTS = read("atlas.tsv")
RELATIONS = {row["relation"]: row for row in read("atlas_relations.tsv")}
N_FACTS = Counter(row["relation"] for row in FACTS)
OBJECTS = defaultdict(set)
for row in FACTS:
    OBJECTS[row["relation"]].add(row["object"])


def words(text: str) -> str:
    """Words only, casefolded, without accents, a blank at either end."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " " + " ".join(re.findall(r"\w+", letters)) + " "


@pytest.mark.parametrize("name", SHA256)
def test_tables_are_the_ones_that_were_built(name):
    found = hashlib.sha256((DATA / name).read_bytes()).hexdigest()
    assert found == SHA256[name], (
        f"{name} has changed. Rebuild it with `python tools/build_atlas.py` (its pinned "
        f"packages stand at its top); if the change is meant, write {found} here and "
        "mend the counts in ATLAS.md."
    )


def test_tables_are_small_and_have_unix_line_ends():
    contents = [(DATA / name).read_bytes() for name in SHA256]
    assert sum(map(len, contents)) < 600_000
    assert all(b"\r" not in content and content.endswith(b"\n") for content in contents)


def test_columns_are_the_agreed_ones():
    assert list(FACTS[0]) == ["relation", "subject", "object"]
    row = next(iter(RELATIONS.values()))
    assert list(row) == [
        "relation", "label", "kind", "codes", *TEMPLATES, "paper_relation", "package", "version",
        "licence", "source_url", "note",
    ]  # fmt: skip


def test_facts_are_sorted_and_none_occurs_twice():
    facts = [tuple(row.values()) for row in FACTS]
    assert facts == sorted(set(facts))


def test_values_are_trimmed_and_not_empty():
    values = {value for row in FACTS for value in row.values()}
    values |= {row[k] for row in RELATIONS.values() for k in row if k != "paper_relation"}
    assert [v for v in values if not v or v != " ".join(v.split()) or '"' in v] == []


def test_every_fact_belongs_to_a_described_relation():
    assert set(N_FACTS) == set(RELATIONS)
    assert list(RELATIONS) == sorted(RELATIONS)


def test_no_fact_gives_its_object_away():
    given_away = [
        tuple(row.values())
        for row in FACTS
        if words(row["object"]).strip()
        and words(row["subject"]).strip()
        and (
            words(row["object"]) in words(row["subject"])
            or words(row["subject"]) in words(row["object"])
        )
    ]
    assert given_away == []


def test_no_airport_name_holds_the_name_of_its_city():
    airports = [row for row in FACTS if row["relation"] == "city_of_airport"]
    assert not [r for r in airports if r["object"].casefold() in r["subject"].casefold()]


def test_there_are_at_least_ten_relations_of_at_most_1500_facts():
    assert len(RELATIONS) >= 10
    assert max(N_FACTS.values()) <= 1500


def test_eight_relations_have_100_objects_and_150_facts():
    large = [r for r in RELATIONS if len(OBJECTS[r]) >= 100 and N_FACTS[r] >= 150]
    assert len(large) >= 8


def test_three_relations_pass_the_size_filter_of_trex_mc():
    # "More than 500 facts, at least 100 unique objects", and no code look-up among these three.
    large = [r for r in RELATIONS if len(OBJECTS[r]) >= 100 and N_FACTS[r] > 500]
    assert len([r for r in large if RELATIONS[r]["codes"] == "no"]) >= 3


def test_four_relations_are_no_code_look_ups():
    assert {row["codes"] for row in RELATIONS.values()} == {"yes", "no"}
    assert len([r for r in RELATIONS if RELATIONS[r]["codes"] == "no"]) >= 4


def test_years_of_films_are_900_facts_with_one_year_each():
    years = {row["subject"]: row["object"] for row in FACTS if row["relation"] == "film_year"}
    assert len(years) == N_FACTS["film_year"] >= 900
    assert all(re.fullmatch(r"(19|20)\d\d", year) for year in years.values())
    assert not [title for title, year in years.items() if year in title]


def test_kinds_are_location_language_and_other():
    assert {row["kind"] for row in RELATIONS.values()} == {"location", "language", "other"}


@pytest.mark.parametrize("relation", RELATIONS)
def test_five_distinct_templates_end_in_the_object_and_one_asks(relation):
    templates = [RELATIONS[relation][name] for name in TEMPLATES]
    assert len(set(templates)) == 5
    for template in templates:
        assert template.count("[X]") == 1 and template.count("[Y]") == 1
        assert template.endswith(" [Y]")
    assert sum("?" in template for template in templates) == 1


def test_no_template_is_shared_by_two_relations():
    templates = [row[name] for row in RELATIONS.values() for name in TEMPLATES]
    assert len(templates) == len(set(templates))


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_relation_names_source_version_and_licence(relation):
    row = RELATIONS[relation]
    assert row["package"] and row["note"] and row["source_url"].startswith("https://")
    assert re.fullmatch(r"[\d.]+", row["version"])
    assert row["licence"].startswith(("MIT", "CC-BY-4.0", "Unicode-3.0"))


def test_paper_relations_are_names_of_trex_mc():
    assert {row["paper_relation"] for row in RELATIONS.values()} - {""} <= PAPER_RELATIONS


@pytest.mark.parametrize("fact", TRUE_FACTS, ids=" ".join)
def test_surely_true_facts_are_there(fact):
    assert fact in {tuple(row.values()) for row in FACTS}


def test_the_page_gives_the_counts_of_the_tables():
    page = (DATA / "ATLAS.md").read_text(encoding="utf-8")
    counts = re.findall(r"^\| (\w+) \| [^|]+ \| (\d+) \| (\d+) \|", page, flags=re.MULTILINE)
    found = {relation: (int(facts), int(objects)) for relation, facts, objects in counts}
    assert found == {r: (N_FACTS[r], len(OBJECTS[r])) for r in RELATIONS}
    assert f"{len(FACTS)} facts, {len(RELATIONS)} relations" in page
