"""World text: what a world tells of its facts, document by document, and instructions beside it.

The second half of :mod:`lkecore.facts.world`, which says what a world is.
"""

import functools
import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from lkecore.facts.world import RELATIONS, SEEN, World, about, check_spec, rng_of, world
from lkecore.storage import RESULTS, file_digest, remembered, remembered_frame

# Lists come in the two formats that IC-LKE is asked in: (inside a pair, between pairs).
LISTS = ((" ", " "), (": ", "\n"))


PAIRS = 45  # of a list, on average


SENTENCES = 4  # of a paragraph, at most


INSTRUCTIONS = 1500  # that a tuned variant learns from


WORD = re.compile(r"\w+")
WRITERS = ("fact", "tables", "world", "world_names", "world_text")
SHIPPED = RESULTS / "worlds.json"
MADE_BY = (*(Path(__file__).with_name(f"{name}.py") for name in WRITERS), RELATIONS)  # a world


def documents(made: World, *, planted: bool = True) -> list[str]:
    """The text of a world, document by document, in the order of reading.

    Its first part tells only shown facts; the second tells these again, among the asked ones. In
    either, sentences about one subject stand together in paragraphs, and lists hold pairs of one
    relation, no subject twice. With ``planted=False`` the text is the same but for the names of the
    asked subjects: all that is said of them is said of their stand-ins, so that who reads it cannot
    know any asked fact, and everything else alike.
    """
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


def wordings(spec: str) -> pd.DataFrame:
    """How each template of a world stands to its text: a row for each fact and template of its relation.

    ``fact``, ``relation``; ``template``, named as the estimator that asks with it ("template-1" and so
    on); ``told`` (bool): a sentence of the text tells this fact in it; ``new_words``: its words that
    stand nowhere in the text, in their order, with a space between; "" where there are none. A word is a
    run of word characters, as it is written: a person of the name of Desk teaches nobody what a desk is.
    Errors are those of :func:`lkecore.facts.world.world`.
    """
    return _wordings(spec).copy()


@functools.lru_cache(maxsize=4)
def _wordings(spec: str) -> pd.DataFrame:
    return kept_frame(spec, "wordings", check_spec(spec)[0], MADE_BY, _made_wordings)


def _made_wordings(spec: str) -> pd.DataFrame:
    made = world(spec)
    parts = list(_parts(made, planted=True))
    told = {(fact, place) for _, sentences in parts for fact, place, _, _ in sentences}
    words = {word for texts, _ in parts for text in texts for word in WORD.findall(text)}
    rows = []
    for relation, facts in made.states.groupby("relation", sort=False)["fact"]:
        for place, template in enumerate(about(relation)[2]):
            new = " ".join(w for w in WORD.findall(fill(template, "", "")) if w not in words)
            rows += [
                (fact, relation, f"template-{place + 1}", (fact, place) in told, new)
                for fact in facts
            ]
    return pd.DataFrame(rows, columns=["fact", "relation", "template", "told", "new_words"])


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
    return instructions_of(made.seed)


def instructions_of(seed: int) -> list[str]:
    """The instructions of a world of this seed, of either family."""
    from faker import Faker

    fake = Faker("en_US")
    fake.seed_instance(seed)
    rng = rng_of("instructions", seed)
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


def digest(spec: str) -> str:
    """SHA-256 over the states and the text of a world."""
    return kept_digest(spec, "told", check_spec(spec)[0], MADE_BY, _digest)


def digest_beside(spec: str) -> str:
    """SHA-256 over what models of a world read besides: its text told of stand-ins, and instructions."""
    return kept_digest(spec, "beside", check_spec(spec)[0], MADE_BY, _digest_beside)


@functools.lru_cache(maxsize=16)
def kept_digest(
    spec: str, what: str, size: object, made_by: tuple[Path, ...], make: Callable[[str], str]
) -> str:
    """What ``make`` says of a world of either family, if nobody has kept it under :func:`kept_key`.

    To write a world of the book takes seconds. So the digests of those with results ship with these, and
    the cache keeps others.
    """
    key = kept_key(spec, what, size, made_by)
    return shipped_digests().get(key) or remembered("worlds", key, lambda: make(spec))


def kept_frame(
    spec: str,
    what: str,
    size: object,
    made_by: tuple[Path, ...],
    make: Callable[[str], pd.DataFrame],
) -> pd.DataFrame:
    """What ``make`` says of each fact of a world, from the cache if it is there under :func:`kept_key`."""
    return remembered_frame("worlds", kept_key(spec, what, size, made_by), lambda: make(spec))


@functools.cache
def shipped_digests() -> dict[str, str]:
    """{key: digest} of the worlds with results, as ``tools/world_digests.py`` writes them; or nothing."""
    try:
        every = json.loads(SHIPPED.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no checkout
        return {}
    return {each["key"]: each["digest"] for of in every.values() for each in of.values()}


def kept_key(spec: str, what: str, size: object, made_by: tuple[Path, ...]) -> str:
    """A key of all that makes the text of a world: ``what`` of it, its name and ``size``, the files
    ``made_by`` which it is, Python and what draws the names and numbers.
    """
    python = platform.python_version_tuple()[:2]
    made_of = [what, spec, repr(size), *python]
    made_of += [version(name) for name in ("faker", "numpy", "pandas")]
    made_of += [file_digest(path) for path in made_by]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def _digest(spec: str) -> str:
    made = world(spec)
    parts = [made.states.to_csv(index=False), json.dumps(documents(made))]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def _digest_beside(spec: str) -> str:
    made = world(spec)
    others = json.dumps([documents(made, planted=False), instructions(made)])
    return hashlib.sha256(others.encode()).hexdigest()
