"""World names: invented people, cities, books and more, none of which is how another one begins."""

import hashlib
import json
import platform
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from lkecore.errors import BadInput
from lkecore.storage import file_digest, remembered


def names_of(seed: int, n_objects: int, n_asked: int) -> dict[str, list[str]]:
    """Names of each kind of thing, all distinct, in random order.

    Of those that have facts there are enough to show, to ask, and to stand in for the asked ones. To draw the
    names of a world of the book takes a second, so the cache keeps them, under all that makes them. Raises
    :class:`BadInput` where Faker has too few of a kind.
    """
    made_of = [seed, n_objects, n_asked, platform.python_version(), version("faker")]
    key = hashlib.sha256(json.dumps([*made_of, file_digest(Path(__file__))]).encode()).hexdigest()
    made = remembered("names", key, lambda: json.dumps(_make_names(seed, n_objects, n_asked)))
    return json.loads(made)


def _make_names(seed: int, n_objects: int, n_asked: int) -> dict[str, list[str]]:
    from faker import Faker  # takes a tenth of a second to import

    fake = Faker("en_US")
    fake.seed_instance(seed)
    n = n_objects + 2 * n_asked
    first = _distinct("first names", fake.first_name, 50)
    last = _distinct("last names", fake.last_name, n // 2)

    def title() -> str:
        words = (fake.word(part_of_speech=part) for part in ("adjective", "noun"))
        return " ".join(["The", *(word.title() for word in words)])

    return {
        "person": _distinct(
            "people", lambda: f"{fake.random_element(first)} {fake.random_element(last)}", n
        ),
        "city": _distinct("cities", fake.city, n),
        "company": _distinct("companies", fake.company, n),
        "book": _distinct("books", title, n),
        "country": _distinct("countries", fake.country, n_objects),
        "language": _distinct("languages", fake.language_name, n_objects),
        "job": _distinct("jobs", fake.job, n_objects),
        "colour": _distinct("colours", lambda: _apart(fake.color_name()), n_objects),
        "year": [str(1880 + i) for i in range(n_objects)],
    }


def _apart(name: str) -> str:
    """``DarkSeaGreen`` as people write it: ``dark sea green``."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


def _distinct(what: str, make: Callable[[], str], n: int) -> list[str]:
    """``n`` names of at most three words, none of which is how another one begins.

    Else the shorter of two would be the more probable answer, whatever a model knows.
    """
    found: list[str] = []
    taken: set[str] = set()
    beginnings: set[str] = set()
    for _ in range(200 * n):
        name = make()
        words = name.casefold().split()
        starts = [" ".join(words[: i + 1]) for i in range(len(words))]
        plain = len(words) <= 3 and not set(name) & set(",;:()/")
        if plain and starts[-1] not in beginnings and not taken & set(starts):
            found.append(name)
            taken.add(starts[-1])
            beginnings.update(starts)
        if len(found) == n:
            return found
    raise BadInput(f"the world needs {n} {what}, and Faker has only {len(found)}")
