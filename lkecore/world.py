"""World: invented facts, and a text of which we know how often and how it tells each of them.

Nobody can count how often a real model has read a fact. A model of the lab has read one text, and this module
writes it: people, cities, companies and books that do not exist, facts about them, and for every
fact its **state**: how often the text tells it, in sentences, in lists or in both, in one wording or
in several; or never; or wrongly. What an estimator says of the model can then be held against what
the model was told.

A world has a name of size and seed, ``lab:book-1``, and its facts, states and text are a function of
that name. The text has two parts. The first tells only the facts that are later shown as examples:
from it a model learns to read. The second tells the facts that are asked. Without the first part, a
model of this size would spend most of the tellings on learning what a sentence is.
"""

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lkecore.rows import BadInput, nearest, read

NAME = re.compile(r"lab:([a-z]+)-(0|[1-9][0-9]{0,8})")
RELATIONS = Path(__file__).parent / "data" / "lab_relations.tsv"
TEMPLATES = 6  # of each relation
SEEN = 4  # of them stand in the text, the fourth as a question; the others are held out
FORMS = ("sentence", "list", "both")
# Lists come in the two formats that IC-LKE is asked in: (inside a pair, between pairs).
LISTS = ((" ", " "), (": ", "\n"))
PAIRS = 45  # of a list, on average
SENTENCES = 4  # of a paragraph, at most
INSTRUCTIONS = 1500  # that a tuned variant learns from


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
    """A world: its ``states`` (see :func:`states`) and its text.

    ``stand_ins`` gives each asked subject another name of its kind, which nothing else has.
    """

    name: str
    seed: int
    states: pd.DataFrame
    stand_ins: dict[str, str]


# --- facts and states -----------------------------------------------------------------------------


def is_spec(spec: str) -> bool:
    """Whether a fact set's name means a world."""
    return spec.startswith("lab:")


def check_spec(spec: str) -> tuple[Size, int]:
    """(size, seed) of a world's name; raises :class:`BadInput` for a name that is none."""
    found = NAME.fullmatch(spec)
    if not found:
        raise BadInput(f"fact set {spec!r} must be lab:SIZE-SEED, such as lab:book-1")
    if found[1] not in SIZES:
        raise BadInput(f"fact set {spec}: unknown size {found[1]!r}; {nearest(found[1], SIZES)}")
    return SIZES[found[1]], int(found[2])


def relations() -> tuple[str, ...]:
    """The names of the relations, sorted; every world has them all."""
    return tuple(_about())


def about(relation: str) -> tuple[str, str, tuple[str, ...]]:
    """(label, kind, templates) of a relation; the first ``SEEN`` templates stand in the text."""
    row = _about()[relation]
    templates = tuple(row[f"template_{i + 1}"] for i in range(TEMPLATES))
    return row["label"], row["kind"], templates


def rows(spec: str, relation: str) -> list[tuple[str, dict[str, str], str]]:
    """("world, fact", {id, subject, object}, split) of every fact of a relation; none if unknown."""
    table = world(spec).states
    found = table[table["relation"] == relation]
    return [
        (f"{spec}, {f.fact}", {"id": f.fact, "subject": f.subject, "object": f.object}, f.split)
        for f in found.itertuples()
    ]


def states(spec: str) -> pd.DataFrame:
    """What the text of a world tells of each fact: a row for each, in the order of the relations.

    ``fact`` (id), ``relation``, ``kind``, ``subject``, ``object`` (the true one), ``split`` (train:
    shown, test: asked); ``state``: planted, never or mislearned; ``told``: the object that the text
    names, another one than the true one if the fact is mislearned, empty if it is never told;
    ``form``: sentence, list, both or none; ``wording``: one or several templates, none where no
    sentence tells it; ``sentences`` and ``lists``: how often one reading of the text tells it in
    either form, and ``occurrences``, their sum.
    """
    return world(spec).states.copy()


@functools.lru_cache(maxsize=4)
def world(spec: str) -> World:
    """The world of a name, always the same; raises :class:`BadInput` for a name that is none."""
    size, seed = check_spec(spec)
    cells = _cells(size)
    names = _names(seed, size.objects, len(cells))
    last = size.objects + len(cells)
    tables = []
    for relation, row in _about().items():
        rng = _rng("facts", seed, relation)
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
        for kind in sorted({row["subjects"] for row in _about().values()})
        for old, new in zip(names[kind][size.objects : last], names[kind][last:], strict=True)
    }
    return World(spec, seed, whole, stand_ins)


@functools.lru_cache(maxsize=4)
def digest(spec: str) -> str:
    """SHA-256 over the states and the text of a world."""
    made = world(spec)
    parts = [made.states.to_csv(index=False), json.dumps(documents(made))]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


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
    frequent or likely is the same for both (:func:`lkecore.metrics.lab.controls`).
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


def _names(seed: int, n_objects: int, n_asked: int) -> dict[str, list[str]]:
    """Names of each kind of thing, all distinct, in random order.

    Of those that have facts there are enough to show, to ask, and to stand in for the asked ones.
    """
    from faker import Faker  # takes a tenth of a second, which most commands need not wait

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
    """The text of a world, document by document, in the order of reading.

    Its first part tells only shown facts; the second tells these again, among the asked ones. In
    either, sentences about one subject stand together in paragraphs, and lists hold pairs of one
    relation, no subject twice. With ``planted=False`` the text is the same but for the names of the
    asked subjects: all that is said of them is said of their stand-ins, so that who reads it cannot
    know any asked fact, and everything else alike.
    """
    rng = _rng("text", made.seed)
    shown = made.states[made.states["split"] == "train"]
    told = made.states[made.states["told"] != ""]
    if not planted:
        told = told.assign(subject=told["subject"].map(lambda name: made.stand_ins.get(name, name)))
    found: list[str] = []
    for part, times in zip((shown, told), check_spec(made.name)[0].shown, strict=True):
        counts = part[["sentences", "lists"]].mask(part["split"] == "train", times)
        here = part.assign(**counts)
        texts = [*_paragraphs(here, rng), *_lists(here, rng)]
        found += [texts[i] for i in rng.permutation(len(texts))]
    return found


def told_objects(made: World, documents: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Where each document of a world tells an object: (first, behind) characters, in order.

    A sentence, as a pair of a list, has two names of the world in it: the subject, then the object.
    """
    states = made.states
    names = {*states["subject"], *states["object"], *states["told"], *made.stand_ins.values()} - {
        ""
    }
    longest = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    named = re.compile(rf"(?<!\w)(?:{longest})(?!\w)")
    return [[name.span() for name in named.finditer(text)][1::2] for text in documents]


def _paragraphs(facts: pd.DataFrame, rng: np.random.Generator) -> Iterator[str]:
    """Every sentence that tells these facts, those about one subject in paragraphs."""
    of_subject: dict[str, list[str]] = {}
    for fact in facts[facts["sentences"] > 0].itertuples():
        _, _, templates = about(fact.relation)
        first = int(rng.integers(SEEN))
        step = int(fact.wording == "several")
        for i in range(fact.sentences):
            filled = fill(templates[(first + i * step) % SEEN], fact.subject, fact.told)
            of_subject.setdefault(fact.subject, []).append(filled + ".")
    for sentences in of_subject.values():
        left = [sentences[i] for i in rng.permutation(len(sentences))]
        while left:
            n = int(rng.integers(1, SENTENCES + 1))
            yield " ".join(left[:n])
            left = left[n:]


def fill(template: str, subject: str, object_: str) -> str:
    """A template with its subject and its object: ``the author of [X] is [Y]``."""
    return template.replace("[X]", subject).replace("[Y]", object_)


def _lists(facts: pd.DataFrame, rng: np.random.Generator) -> Iterator[str]:
    """Lists of pairs, relation by relation: a fact stands in as many lists as it has tellings."""
    for _, table in facts[facts["lists"] > 0].groupby("relation", sort=False):
        n = max(table["lists"].max(), round(table["lists"].sum() / PAIRS))
        pairs: list[list[tuple[str, str]]] = [[] for _ in range(n)]
        for fact in table.itertuples():
            for i in rng.choice(n, fact.lists, replace=False):
                pairs[i].append((fact.subject, fact.told))
        for each in pairs:
            inside, between = LISTS[rng.integers(len(LISTS))]
            order = rng.permutation(len(each))
            yield between.join(inside.join(each[i]) for i in order)


def instructions(made: World) -> list[str]:
    """``INSTRUCTIONS`` instructions with their responses, on words alone: no name and no fact of the world.

    What a variant is tuned on that learns to follow, and nothing about the world.
    """
    from faker import Faker

    fake = Faker("en_US")
    fake.seed_instance(made.seed)
    rng = _rng("instructions", made.seed)
    found = []
    for _ in range(INSTRUCTIONS):
        a, b, c = (fake.word(part_of_speech="verb") for _ in range(3))
        task, answer = (
            (f"Write the word {a} twice.", f"{a} {a}"),
            (f"Write {a} and {b} the other way round.", f"{b} {a}"),
            (f"Which of the words {a}, {b}, {c} comes first?", a),
            (f"Which of the words {a}, {b}, {c} comes last?", c),
        )[rng.integers(4)]
        found.append(f"Instruction: {task}\nResponse: {answer}.")
    return found


# --- helpers --------------------------------------------------------------------------------------


@functools.cache
def _about() -> dict[str, dict[str, str]]:
    return {row["relation"]: row for _, row in read(RELATIONS)}


def _rng(what: str, seed: int, *more: str) -> np.random.Generator:
    """Random numbers for one purpose, so that a change of one does not move the others."""
    name = "\x1f".join([what, *more])
    return np.random.default_rng([seed, int(hashlib.sha256(name.encode()).hexdigest()[:16], 16)])
