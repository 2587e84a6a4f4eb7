"""Write plain worlds: invented facts, and a text that tells each of them a known number of times.

    python tools/plain_worlds.py lab:book-7    into the cache folder: facts, states and text, a few seconds
    python tools/plain_worlds.py --ship        what ships, anew; it prints what has changed

A world has a name of size and seed, and its facts, states and text are a function of that name.
:mod:`lkecore.worlds.plain` reads what is written here. A world whose digest has changed is another world, and
its results have to be made anew.
"""

import argparse
import functools
import hashlib
import json
import lzma
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lkecore.errors import BadInput
from lkecore.storage import cache_folder, write_whole
from lkecore.worlds import plain
from lkecore.worlds.base import rng_of
from lkecore.worlds.plain import LISTS, SEEN, about
from lkecore.worlds.skills import instructions_of

FORMS = ("sentence", "list", "both")
PAIRS = 45  # of a list, on average
SENTENCES = 4  # of a paragraph, at most
# Of the worlds with results the states ship, of that for trying things out the text, too.
STATES, WHOLE = ("lab:book-1", "lab:book-2", "lab:book-3"), ("lab:smoke-1",)


@dataclass(frozen=True)
class Size:
    """How large a world is, for each relation.

    ``objects``: as many facts are shown (the train split), one for each object; ``shown`` says how
    often the first and the second part of the text tell them, in either form. Of those that are
    asked (the test split), ``each`` for every number of ``occurrences`` and form, ``mislearned``
    for each of the two highest numbers, and ``objects`` that are never told, one for each object.
    """

    objects: int
    shown: tuple[int, int]
    occurrences: tuple[int, ...]
    each: int
    mislearned: int


SIZES = {
    "smoke": Size(objects=20, shown=(8, 4), occurrences=(4, 16), each=2, mislearned=2),
    "book": Size(
        objects=100, shown=(16, 8), occurrences=(1, 2, 4, 8, 16, 32, 64), each=8, mislearned=10
    ),
    "full": Size(
        objects=120, shown=(16, 8), occurrences=(1, 2, 4, 8, 16, 32, 64), each=25, mislearned=30
    ),
}


@dataclass(frozen=True, eq=False)
class World:
    """A world: its ``states`` (see :func:`lkecore.worlds.plain.states`) and its text.

    ``stand_ins`` gives each asked subject another name of its kind, which nothing else has.
    """

    name: str
    seed: int
    states: pd.DataFrame
    stand_ins: dict[str, str]


# --- facts and states -----------------------------------------------------------------------------


def check_spec(spec: str) -> tuple[Size, int]:
    """(size, seed) of a world's name; raises :class:`BadInput` for a name that is none."""
    seed = plain.check_spec(spec)
    return SIZES[plain.NAME.fullmatch(spec)[1]], seed


@functools.lru_cache(maxsize=4)
def world(spec: str) -> World:
    """The world of a name, always the same; raises :class:`BadInput` for a name that is none."""
    size, seed = check_spec(spec)
    cells = _cells(size)
    names = names_of(seed, size.objects, len(cells))
    last = size.objects + len(cells)
    tables = []
    for relation, row in plain.described().items():
        rng = rng_of("facts", seed, relation)
        objects = names[row["objects"]][: size.objects]
        shown = names[row["subjects"]][: size.objects]
        asked = names[row["subjects"]][size.objects : last]
        facts = [*_shown(shown, objects, sum(size.shown), rng), *_asked(asked, objects, cells, rng)]
        table = pd.DataFrame(facts)
        table.insert(0, "kind", row["kind"])
        table.insert(0, "relation", relation)
        table.insert(0, "fact", [f"{relation}-{i:04d}" for i in range(len(table))])
        tables.append(table)
    whole = pd.concat(tables, ignore_index=True)
    whole["occurrences"] = whole["sentences"] + whole["lists"]
    stand_ins = {
        old: new
        for kind in sorted({row["subjects"] for row in plain.described().values()})
        for old, new in zip(names[kind][size.objects : last], names[kind][last:], strict=True)
    }
    return World(spec, seed, whole, stand_ins)


def _cells(size: Size) -> list[tuple[str, int, str]]:
    """(state, occurrences, form) of each asked fact of a relation; cells of one kind in a row."""
    grid = [(n, form) for n in size.occurrences for form in FORMS if n > 1 or form != "both"]
    planted = [("planted", n, form) for n, form in grid for _ in range(size.each)]
    wrong = [("mislearned", n, "both") for n in size.occurrences[-2:]] * size.mislearned
    return planted + sorted(wrong) + [("never", 0, "none")] * size.objects


def _shown(
    subjects: Sequence[str], objects: Sequence[str], times: int, rng: np.random.Generator
) -> list[dict[str, object]]:
    return [
        _fact(subject, "train", objects[i], "planted", objects[i], "both", times, times, rng)
        for subject, i in zip(subjects, rng.permutation(len(objects)), strict=True)
    ]


def _asked(
    subjects: Sequence[str],
    objects: Sequence[str],
    cells: Sequence[tuple[str, int, str]],
    rng: np.random.Generator,
) -> list[dict[str, object]]:
    """The asked facts of a relation. Inside a cell no object stands twice.

    So every planted fact has a fact of the same object that was never told: what makes an object
    frequent or likely is the same for both (:func:`lkecore.answers.truth.controls`).
    """
    n = len(objects)
    found, drawn, cell_before = [], iter(()), None
    for i, cell in zip(rng.permutation(len(subjects)), cells, strict=True):
        state, occurrences, form = cell
        if cell != cell_before:
            drawn, cell_before = iter(rng.permutation(n)), cell
        object_ = objects[next(drawn)]
        told = "" if state == "never" else object_
        if state == "mislearned":
            object_ = objects[rng.choice([k for k in range(n) if objects[k] != told])]
        sentences = {"sentence": occurrences, "both": occurrences // 2}.get(form, 0)
        lists = occurrences - sentences
        found.append(_fact(subjects[i], "test", object_, state, told, form, sentences, lists, rng))
    return found


def _fact(
    subject: str,
    split: str,
    object_: str,
    state: str,
    told: str,
    form: str,
    sentences: int,
    lists: int,
    rng: np.random.Generator,
) -> dict[str, object]:
    wording = ("one", "several")[rng.integers(2)] if split == "test" else "several"
    return {
        "subject": subject,
        "object": object_,
        "split": split,
        "state": state,
        "told": told,
        "form": form,
        "wording": wording if sentences else "none",
        "sentences": sentences,
        "lists": lists,
    }


# --- names ----------------------------------------------------------------------------------------


def names_of(seed: int, n_objects: int, n_asked: int) -> dict[str, list[str]]:
    """Names of each kind of thing, all distinct, in random order, none of which is how another one begins.

    Of those that have facts there are enough to show, to ask, and to stand in for the asked ones. Raises
    :class:`BadInput` where Faker has too few of a kind.
    """
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


# --- text -----------------------------------------------------------------------------------------


def documents(made: World, *, planted: bool = True) -> list[str]:
    """The text of a world, as :func:`lkecore.worlds.plain.documents` has it."""
    return [text for texts, _ in _parts(made, planted) for text in texts]


Sentence = tuple[str, int, str, str]  # of a fact: its id, place of the template, subject, text


def _parts(made: World, planted: bool) -> Iterator[tuple[list[str], list[Sentence]]]:
    """The documents of either part of a text, in the order of reading, and the sentences in them."""
    rng = rng_of("text", made.seed)
    shown = made.states[made.states["split"] == "train"]
    told = made.states[made.states["told"] != ""]
    if not planted:
        told = told.assign(subject=told["subject"].map(lambda name: made.stand_ins.get(name, name)))
    for part, times in zip((shown, told), check_spec(made.name)[0].shown, strict=True):
        counts = part[["sentences", "lists"]].mask(part["split"] == "train", times)
        here = part.assign(**counts)
        sentences = _sentences(here, rng)
        texts = [*_paragraphs(sentences, rng), *_lists(here, rng)]
        yield [texts[i] for i in rng.permutation(len(texts))], sentences


def _sentences(facts: pd.DataFrame, rng: np.random.Generator) -> list[Sentence]:
    """Every sentence that tells these facts."""
    found = []
    for fact in facts[facts["sentences"] > 0].itertuples():
        _, _, templates = about(fact.relation)
        first = int(rng.integers(SEEN))
        step = int(fact.wording == "several")
        for i in range(fact.sentences):
            place = (first + i * step) % SEEN
            filled = fill(templates[place], fact.subject, fact.told)
            found.append((fact.fact, place, fact.subject, filled + "."))
    return found


def _paragraphs(sentences: Sequence[Sentence], rng: np.random.Generator) -> Iterator[str]:
    """The sentences, those about one subject in paragraphs."""
    of_subject: dict[str, list[str]] = {}
    for _, _, subject, text in sentences:
        of_subject.setdefault(subject, []).append(text)
    for own in of_subject.values():
        left = [own[i] for i in rng.permutation(len(own))]
        while left:
            n = int(rng.integers(1, SENTENCES + 1))
            yield " ".join(left[:n])
            left = left[n:]


def fill(template: str, subject: str, object_: str) -> str:
    """A template with its subject and its object: ``the author of [X] is [Y]``."""
    return template.replace("[X]", subject).replace("[Y]", object_)


def _lists(facts: pd.DataFrame, rng: np.random.Generator) -> Iterator[str]:
    """Lists of pairs, relation by relation: a fact stands in as many lists as it has tellings."""
    for _, part in facts[facts["lists"] > 0].groupby("relation", sort=False):
        n = max(part["lists"].max(), round(part["lists"].sum() / PAIRS))
        pairs: list[list[tuple[str, str]]] = [[] for _ in range(n)]
        for fact in part.itertuples():
            for i in rng.choice(n, fact.lists, replace=False):
                pairs[i].append((fact.subject, fact.told))
        for each in pairs:
            inside, between = LISTS[rng.integers(len(LISTS))]
            order = rng.permutation(len(each))
            yield between.join(inside.join(each[i]) for i in order)


# --- files ----------------------------------------------------------------------------------------


def templates_of(made: World) -> list[str]:
    """The numbers, from 1, of the templates that tell each fact of a world, with spaces between."""
    told: dict[str, set[int]] = {}
    for _, sentences in _parts(made, planted=True):
        for fact, place, _, _ in sentences:
            told.setdefault(fact, set()).add(place + 1)
    return [" ".join(map(str, sorted(told.get(fact, ())))) for fact in made.states["fact"]]


def digest(made: World) -> str:
    """SHA-256 over the states and the text of a world."""
    parts = [made.states.to_csv(index=False), json.dumps(documents(made))]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def digest_beside(made: World) -> str:
    """SHA-256 over what models of a world read besides: its text told of stand-ins, and instructions."""
    others = json.dumps([documents(made, planted=False), instructions_of(made.seed)])
    return hashlib.sha256(others.encode()).hexdigest()


def content(spec: str, *, whole: bool) -> dict[str, object]:
    """What the file of a world holds; without the text unless ``whole``."""
    made = world(spec)
    states = made.states.assign(templates=templates_of(made))
    found: dict[str, object] = {
        "digest": digest(made),
        "digest_beside": digest_beside(made),
        "states": states.to_csv(index=False),
    }
    if whole:
        found["documents"] = documents(made)
        found["unplanted"] = documents(made, planted=False)
        found["stand_ins"] = sorted(made.stand_ins.values())
        found["instructions"] = instructions_of(made.seed)
    return found


def write(spec: str, folder: Path, *, whole: bool = True) -> Path:
    """Write the file of a world into a folder, and return it."""
    path = plain.file_of(folder, spec)
    write_whole(path, lzma.compress(json.dumps(content(spec, whole=whole)).encode(), preset=9))
    return path


def main() -> int:
    """0 if all is written; 1 with one line if not."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("names", nargs="*", help="plain worlds, such as lab:book-7")
    options.add_argument("--ship", action="store_true", help="write what ships anew")
    given = options.parse_args()
    try:
        for spec in given.names:
            print(write(spec, cache_folder() / "plain"))
        for spec in (*STATES, *WHOLE) if given.ship else ():
            path = plain.file_of(plain.SHIPPED[0], spec)
            before = path.read_bytes() if path.exists() else b""
            if write(spec, plain.SHIPPED[0], whole=spec in WHOLE).read_bytes() != before:
                print(f"{spec}: another file than before")
    except BadInput as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
