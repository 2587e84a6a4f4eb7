"""A model is trained on a task made of facts that it knows, and asked others of these facts (XT-S2 to S6).

How much of its knowledge can the model use? It knew before all that it needs for an answer. Training adds
only how to recognise the document that says so.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.facts.questions import Wording
from lkecore.facts.tables import fold
from lkecore.models.model import Model
from lkecore.scores import store
from lkecore.storage import cache_folder, program_of
from lkecore.tasks import documents, ranking
from lkecore.tasks.documents import KnownFacts, Split
from lkecore.tasks.ranking import Pools
from lkecore.train import cross_encoder, finetune
from lkecore.worlds.base import rng_of

VALIDATED = 60  # the most facts that choose the step
NEAR = 3  # documents of each kind in a validation pool, besides all other tails
CURVE = ["step", "top1"]


@dataclass(frozen=True)
class Setting:
    """How a task is trained.

    ``head`` is a cross-encoder's head. The batch of ``recipe`` counts queries. ``each`` is the number of
    wrong documents of each of three kinds. With ``readable`` the query names its tail, so that no knowledge
    is needed; this shows what the training can teach at all. ``seed`` draws head and documents.
    """

    head: str
    recipe: finetune.Recipe
    each: int = 4
    readable: bool = False
    seed: int = 0


def task_from_known(
    sample: Mapping[str, Any], known: pd.DataFrame, wordings: Mapping[str, Wording]
) -> tuple[KnownFacts, dict[str, str]]:
    """(the facts of a sample that :func:`lkecore.tasks.extraction.known` found, {left out: why}).

    Raises :class:`BadInput` as :func:`lkecore.tasks.documents.answerable` does.
    """
    pairs = known.loc[known["known"], ["relation", "fact"]].itertuples(index=False, name=None)
    named = set(pairs)
    facts = [f for of in sample.values() for f in of.facts if (f.relation, f.id) in named]
    return documents.answerable(facts, wordings)


def split_task(
    known: KnownFacts, *, seed: int, by: str = "fact", share: float = 1.0, most: int = 0
) -> tuple[KnownFacts, Split, dict[str, str]]:
    """(the facts of which training documents are made, the split, {what is left out: why}).

    The split is that of :func:`lkecore.tasks.documents.split`. ``share`` of its train facts remain, and no
    pair (relation, subject) is in two parts. A validation fact stays only if training documents can be made
    about it. The test has at most ``most`` facts of a relation (0: all). Raises :class:`BadInput` as that
    function and :func:`lkecore.tasks.documents.answerable` do, and if no validation fact is left.
    """
    parts = documents.split(known.facts, seed, by=by)
    others = [*parts.test, *parts.validation]
    own, _ = documents.without_asked(documents.fraction(parts.train, share, seed), others)
    task, left = documents.answerable(own, known.wordings, alike=known.alike)
    validation, _ = documents.without_asked(parts.validation, parts.test)
    validation = [f for f in validation if _has_other_tails(task, f)]
    if not validation:
        raise BadInput(
            f"{len(known.facts)} known facts are too few for this split: the {len(task.facts)} to train on "
            "give no documents about one that validates"
        )
    test = at_most(parts.test, most, seed) if most else parts.test
    return task, Split(task.facts, tuple(validation), tuple(test)), left


def _has_other_tails(known: KnownFacts, fact: Fact) -> bool:
    near = known.by_relation.get(fact.relation, ())
    return any(fold(other.object) not in fact.true_names for other in near)


def at_most(facts: Sequence[Fact], most: int, seed: int) -> list[Fact]:
    """At most ``most`` facts of each relation, drawn by ``seed``."""
    order = rng_of("asked", seed).permutation(len(facts))
    named = pd.DataFrame({"at": order, "relation": [facts[place].relation for place in order]})
    return [facts[place] for place in sorted(named.groupby("relation").head(most)["at"])]


def pools(
    known: KnownFacts, facts: Sequence[Fact], *, seed: int, each: int = 50, readable: bool = False
) -> list[tuple[documents.Query, list[documents.Document]]]:
    """The queries about some facts, each with all the documents among which its gold document is ranked.

    Documents are made of ``known``, and true ones of ``facts``.
    """
    return [
        (
            documents.query(known, fact, readable=readable),
            documents.pool(known, fact, facts, seed=seed, each=each),
        )
        for fact in facts
    ]


def trained(
    model: Model, known: KnownFacts, parts: Split, asked: Pools, setting: Setting
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train on ``parts`` and rank ``asked``: (the frame of :func:`lkecore.tasks.ranking.ranked`, the curve).

    ``known`` are the facts of which training documents are made. The step is chosen by top-1 on facts of
    ``parts.validation``. The curve has a row for each validation, with ``step`` and ``top1``. The frame also
    has the ``best`` step and the ``last_loss`` (nats, mean of the last ten). Both are kept in the cache, and
    an interrupted training goes on. Raises :class:`BadInput` as :func:`lkecore.train.cross_encoder.train`.
    """
    cross_encoder.check(model, setting.head)
    key = _key(model, known, parts, asked, setting)
    columns = [*ranking.FRAME, "best", "last_loss"]
    frame, curve = store.read(key, columns), store.read(f"{key}-curve", CURVE)
    if frame is not None and curve is not None:
        entry = {"tokens_forwarded": 0, "from_cache": True, "memory_gb": None}
        progress.record(model=model.name, **entry, trained_in=setting.recipe.precision)
        return frame, curve
    valid = _validating(known, parts, setting)

    def validate(encoder: cross_encoder.Encoder) -> float:
        found = cross_encoder.rank(encoder, _texts(valid))
        return float(ranking.ranked(valid, found, model="", ranker="")["top1"].mean())

    folder = cache_folder() / "training" / f"use-{key[:32]}"
    encoder, result = cross_encoder.train(
        model,
        setting.head,
        _batches(known, parts, setting),
        setting.recipe,
        folder,
        seed=setting.seed,
        data=key[:32],
        validate=validate,
    )
    own = ranking.ranked(asked, _ranked(encoder, asked), model=model.name, ranker=setting.head)
    frame = own.assign(best=result.best, last_loss=float(np.mean(result.losses[-10:])))
    curve = pd.DataFrame(result.validation, columns=CURVE)
    store.write(f"{key}-curve", curve)
    store.write(key, frame)
    shutil.rmtree(folder, ignore_errors=True)
    return frame, curve


def untrained(model: Model, asked: Pools, head: str, *, seed: int = 0) -> pd.DataFrame:
    """The frame of a model's ranking before any training: by a fresh ``value`` head, or by ``likelihood``."""
    if head == "likelihood":
        found: Sequence[np.ndarray] = ranking.likelihood(model, asked)
    else:
        found = _ranked(cross_encoder.fresh(model, head, seed), asked)
    return ranking.ranked(asked, found, model=model.name, ranker=f"{head}, untrained")


def _batches(
    known: KnownFacts, parts: Split, setting: Setting
) -> Callable[[int], list[tuple[str, list[str]]]]:
    """A function that gives a step's queries and documents; each epoch has its own order and documents."""
    n, batch = len(parts.train), setting.recipe.batch

    @cache
    def order(epoch: int) -> list[int]:
        return rng_of("order", setting.seed, str(epoch)).permutation(n).tolist()

    def pairs(step: int) -> list[tuple[str, list[str]]]:
        found = []
        for place in range(step * batch, (step + 1) * batch):
            epoch, at = divmod(place, n)
            fact = parts.train[order(epoch)[at]]
            query = documents.query(known, fact, readable=setting.readable)
            own = documents.training(known, fact, seed=setting.seed, epoch=epoch, each=setting.each)
            found.append((query.text, [document.text for document in own]))
        return found

    return pairs


def _validating(known: KnownFacts, parts: Split, setting: Setting) -> Pools:
    order = rng_of("validation", setting.seed).permutation(len(parts.validation))[:VALIDATED]
    some = [parts.validation[place] for place in order]
    return pools(known, some, seed=setting.seed, each=NEAR, readable=setting.readable)


def _texts(asked: Pools) -> list[tuple[str, list[str]]]:
    return [(query.text, [document.text for document in own]) for query, own in asked]


def _ranked(encoder: cross_encoder.Encoder, asked: Pools) -> list[np.ndarray]:
    found = []
    with progress.bar(len(asked), "query") as bar:
        for pair in _texts(asked):
            found += cross_encoder.rank(encoder, [pair])
            bar.update(1)
    return found


def _key(model: Model, known: KnownFacts, parts: Split, asked: Pools, setting: Setting) -> str:
    modules = (documents, ranking, cross_encoder, finetune)
    programs = [program_of(Path(of)) for of in (__file__, *(m.__file__ for m in modules))]
    facts = [
        [(f.relation, f.id, f.subject, f.object, *sorted(f.true_names)) for f in some]
        for some in (known.facts, parts.train, parts.validation)
    ]
    words = {name: asdict(wording) for name, wording in sorted(known.wordings.items())}
    what = json.dumps([programs, facts, words, known.alike, asdict(setting), _texts(asked)])
    digest = hashlib.sha256(what.encode()).hexdigest()
    return store.chunk_key(model, "kinds", ["use", digest])


# --- forecasts ------------------------------------------------------------------------------------


def expected_tokens(
    model: Model, known: KnownFacts, parts: Split, asked: Pools, setting: Setting
) -> int:
    """The number of tokens that :func:`trained` forwards, about; no weights are loaded.

    The tokens of the first two steps at most are counted, and their mean is multiplied by all steps.
    """
    cross_encoder.check(model, setting.head)
    batches, few = _batches(known, parts, setting), min(setting.recipe.steps, 2)
    own = _n_tokens(model, chain.from_iterable(map(batches, range(few)))) / few
    valid = _n_tokens(model, _texts(_validating(known, parts, setting)))
    times = -(-setting.recipe.steps // setting.recipe.every)
    return round(setting.recipe.steps * own) + times * valid + ranked_tokens(model, asked)


def ranked_tokens(model: Model, asked: Pools) -> int:
    """The number of tokens of all documents, each after its query."""
    return _n_tokens(model, _texts(asked))


def _n_tokens(model: Model, pairs: Iterable[tuple[str, Sequence[str]]]) -> int:
    return sum(len(row.ids) for row in cross_encoder.encode(model, list(pairs)))


def nothing(asked: Pools, model: Model, ranker: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frames of :func:`trained` if all documents were alike, for a forecast."""
    same = [np.zeros(len(own)) for _, own in asked]
    frame = ranking.ranked(asked, same, model=model.name, ranker=ranker)
    return frame.assign(best=1, last_loss=0.0), pd.DataFrame({"step": [1], "top1": [0.0]})
