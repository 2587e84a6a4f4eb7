"""The embedded fact set keeps its promises: sizes, kinds, templates, sources, and true facts."""

import csv
import hashlib
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import lkecore

DATA = Path(lkecore.__file__).parent / "data"
SHA256 = {
    "atlas.tsv": "3a516756ca1ea1e263f4d5c19cd2ac6a5aa79bbf867ee68688d35f02d5831d76",
    "atlas_relations.tsv": "2e69d58f2978ffaeac69248c79d115cd59ffb1b3fc405588c71ed57bd4433774",
}
# Known without looking at the packages.
TRUE_FACTS = {
    ("airport_code", "Los Angeles International Airport", "LAX"), ("capital", "Kazakhstan", "Astana"),
    ("country_of_city", "Mumbai", "India"), ("element_symbol", "gold", "Au"),
    ("film_director", "Pulp Fiction", "Quentin Tarantino"), ("film_language", "Fargo", "English"),
    ("official_language", "Canada", "English"), ("official_language", "Canada", "French"),
}  # fmt: skip


def read(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


FACTS = read("atlas.tsv")
RELATIONS = {row["relation"]: row for row in read("atlas_relations.tsv")}
N_FACTS = Counter(row["relation"] for row in FACTS)
OBJECTS = defaultdict(set)
for row in FACTS:
    OBJECTS[row["relation"]].add(row["object"])


@pytest.mark.parametrize("name", SHA256)
def test_tables_are_the_ones_that_were_built(name):
    found = hashlib.sha256((DATA / name).read_bytes()).hexdigest()
    assert found == SHA256[name], (
        f"{name} has changed. Rebuild it with `python tools/build_atlas.py` (its pinned "
        f"packages stand at its top); if the change is meant, write {found} here and "
        "mend the counts in ATLAS.md."
    )


def test_surely_true_facts_are_there():
    assert TRUE_FACTS <= {tuple(row.values()) for row in FACTS}


def test_the_page_gives_the_counts_of_the_tables():
    page = (DATA / "ATLAS.md").read_text(encoding="utf-8")
    counts = re.findall(r"^\| (\w+) \| [^|]+ \| (\d+) \| (\d+) \|", page, flags=re.MULTILINE)
    found = {relation: (int(facts), int(objects)) for relation, facts, objects in counts}
    assert found == {r: (N_FACTS[r], len(OBJECTS[r])) for r in RELATIONS}
    assert f"{len(FACTS)} facts, {len(RELATIONS)} relations" in page
