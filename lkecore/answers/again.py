"""Again: what answers can be checked by, which of them are asked again, and how far those lie off.

A run keeps, beside its answers, for each question a digest of what was asked, and the log-probabilities of
the gold option and of the five likeliest ones.
"""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lkecore.errors import BadInput
from lkecore.metrics import choice
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt
from lkecore.scores import store

BEST = 5  # options of each question whose log-probabilities are kept
MOST_NATS = 1e-3  # a CPU's float32 moves a log-probability by about a tenth of this
MOST_APART = 2e-3  # and a share or confidence, of which four digits ship, by less than this
CHECK = "check"  # what ``answers.parquet`` can be checked by is kept as ``answers-check.parquet``
AGAIN = "again"  # and how far it lies off as ``answers-again.csv``
PLACES = [f"best_{i}" for i in range(1, BEST + 1)]
NUMBERS = [f"logprob_{i}" for i in range(1, BEST + 1)]
# What is asked at once: a question, all questions of the same long prompts, or some sequences in pieces.
Unit = Prompt | Slots | Sequence[Sequence[str]]
Key = tuple[Any, ...]  # a model, and what its questions stand under
Asked = Mapping[Key, Sequence[Unit]]


def prompts_of(unit: Unit) -> Sequence[Any]:
    """The questions that are asked at once: one, or all that stand in the same long prompts."""
    return unit.asked if isinstance(unit, Slots) else [unit]


def digests(unit: Unit) -> list[str]:
    """For each question of a unit twelve digits that change with any word of what is asked, or its place."""
    return list(_digests(unit) if isinstance(unit, Prompt | Slots) else _digests_now(unit))


def _digests_now(unit: Unit) -> tuple[str, ...]:
    text = json.dumps(unit, default=vars)
    n = len(prompts_of(unit))
    return tuple(hashlib.sha256(f"{text}{i}".encode()).hexdigest()[:12] for i in range(n))


# A page looks several times, and for every model, at the same questions, with hundreds of options each.
_digests = functools.lru_cache(maxsize=10_000)(_digests_now)


def digests_by_key(asked: Asked) -> dict[Key, list[str]]:
    """The digests of all questions under each key; a list that many models are asked is looked at once."""
    lists = {id(some): some for some in asked.values()}
    found = {at: [each for unit in some for each in digests(unit)] for at, some in lists.items()}
    return {key: found[id(some)] for key, some in asked.items()}


def checkable(questions: Sequence[Unit], scores: pd.DataFrame) -> pd.DataFrame:
    """What the answers to some questions can be checked by: a row for each, in their order.

    ``scores`` is the scorer's frame of them. Columns: ``fact``; ``question``, of :func:`digests`;
    ``logprob_gold`` in nats; ``best_1`` to ``best_5``: the places of the likeliest options among those
    that were scored, the likeliest first, ties to the first; ``logprob_1`` to ``logprob_5``,
    theirs. Where there are fewer options, they are missing.
    """
    found = choice.by_size(scores, _best)
    found.insert(1, "question", [digest for unit in questions for digest in digests(unit)])
    return found


def _best(scores: pd.DataFrame) -> pd.DataFrame:
    options = choice.to_arrays(scores)
    n_facts, n_options = options.logprob.shape
    top = np.argsort(-options.logprob, axis=1, kind="stable")[:, :BEST]
    every = np.arange(n_facts)
    found: dict[str, Any] = {
        "fact": options.fact,
        "logprob_gold": options.logprob[every, options.gold],
    }
    for i, (place, number) in enumerate(zip(PLACES, NUMBERS, strict=True)):
        is_there = i < n_options
        found[place] = top[:, i].astype(float) if is_there else np.nan
        found[number] = options.logprob[every, top[:, i]] if is_there else np.nan
    return pd.DataFrame(found)


def asked_digests(asked: Asked, columns: Sequence[str]) -> pd.DataFrame:
    """What says which questions were asked, where the answers can be checked by themselves.

    A row for each question with its key, under the names ``columns``, and its digest as ``question``.
    """
    rows = [(*key, each) for key, some in digests_by_key(asked).items() for each in some]
    return pd.DataFrame(rows, columns=[*columns, "question"])


def drawn(asked: Asked, n: int, ways: Sequence[int]) -> dict[Key, list[Unit]]:
    """About ``n`` questions of each way of asking, from two of its lists, in their order.

    ``ways`` are the places in a key that tell ways apart, such as model and estimator; what differs
    besides, such as relations, makes the lists. The code of the scorers and what is asked draw:
    another scorer is asked others, and while it stays, so do they, and what they got is kept.
    """
    text = json.dumps(
        [store.program(), [[key, len(units)] for key, units in asked.items()]], default=str
    )
    rng = np.random.default_rng(list(hashlib.sha256(text.encode()).digest()))
    of_way: dict[Key, list[Key]] = {}
    for key in asked:
        of_way.setdefault(tuple(key[i] for i in ways), []).append(key)
    found: dict[Key, list[Unit]] = {}
    for keys in of_way.values():
        two = [keys[i] for i in sorted(rng.permutation(len(keys))[: min(2, n)])]
        for key in two:
            units, wanted, some = asked[key], -(-n // len(two)), []
            for i in rng.permutation(len(units)):
                if sum(len(prompts_of(units[j])) for j in some) >= wanted:
                    break
                some.append(i)
            found[key] = [units[i] for i in sorted(some)]
    return found


def differences(
    scored: Mapping[Key, tuple[Sequence[Unit], pd.DataFrame, pd.DataFrame]],
    checks: pd.DataFrame,
    kept: pd.DataFrame,
    columns: Sequence[str],
) -> pd.DataFrame:
    """How far answers that were asked again lie from those that ship: a row for each question.

    ``scored`` has under each key some units, the scorer's frame of them, and what was read in it; ``kept``
    are the answers that ship, with ``columns``, the parts of a key. Columns: ``model``, ``where``
    (the rest of the key), ``fact``; ``nats``: the largest difference of log-probability, of the gold option
    and of those that were likeliest then, and infinite where one of them is missing; ``same``: whether the
    prediction is the same, or another that now lies within ``MOST_NATS`` of it, and the answers say the same
    (:func:`said_otherwise`).
    """
    then = checks.drop_duplicates(["model", "question"]).set_index(["model", "question"])
    of_key = dict(list(kept.groupby([kept[name].astype(str) for name in columns], sort=False)))
    rows = []
    for (model, *where), (units, frame, answers) in scored.items():
        asked = [digest for unit in units for digest in digests(unit)]
        other = said_otherwise(answers, of_key[model, *map(str, where)])
        old = then.loc[[(model, digest) for digest in asked]]
        every = [old[names].to_numpy(dtype=float) for names in (PLACES, NUMBERS)]
        golds = old["logprob_gold"].to_numpy(dtype=float)
        facts = frame.groupby("fact", sort=False)
        for (fact, its), places, numbers, gold in zip(facts, *every, golds, strict=True):
            now, at = its["logprob"].to_numpy(), int(its["gold"].to_numpy().argmax())
            places, numbers = places[: len(now)], numbers[: len(now)]
            nats, same = np.inf, False
            if np.isin(places, range(len(now))).all():  # none is missing, or of another question
                places = places.astype(int)
                gaps = [now[at] - gold, *(now[places] - numbers)]
                nats = float(np.nan_to_num(np.abs(gaps), nan=np.inf).max())
                best = np.sort(now)[::-1]
                tie = len(best) > 1 and best[0] - best[1] <= MOST_NATS
                same = bool(best[0] - now[places[0]] <= MOST_NATS)
                same = same and (tie or fact not in other)
            rows.append((model, ", ".join(map(str, where)), fact, nats, same))
    return pd.DataFrame(rows, columns=["model", "where", "fact", "nats", "same"])


def said_otherwise(now: pd.DataFrame, then: pd.DataFrame) -> set[str]:
    """The facts of which two frames of answers do not say the same, in the columns that both have.

    Numbers may lie ``MOST_APART`` apart; all else must be equal. ``then`` may have more facts. A fact
    with several rows has them in the same order.
    """
    names = [name for name in now.columns if name in then.columns]
    then = then.loc[then["fact"].isin(now["fact"]), names].sort_values("fact", kind="stable")
    now = now[names].sort_values("fact", kind="stable")
    if list(now["fact"]) != list(then["fact"]):
        return set(now["fact"])
    other = np.zeros(len(now), dtype=bool)
    for name in names:
        own = now[name]
        a, b = own.to_numpy(), then[name].to_numpy()
        if pd.api.types.is_float_dtype(own):
            other |= ~np.isclose(a, b.astype(float), rtol=0, atol=MOST_APART, equal_nan=True)
        else:
            other |= (a != b) & ~(pd.isna(a) & pd.isna(b))
    return set(now["fact"].to_numpy()[other])


def texts_apart(
    asked: Asked, texts: Mapping[Key, Sequence[str]], kept: pd.DataFrame, columns: Sequence[str]
) -> pd.DataFrame:
    """Whether outputs that were written again are those that ship, to the letter: a row for each.

    ``texts`` has those of now, under the keys of ``asked`` and in their order; ``kept`` has ``columns``,
    ``fact`` and ``text``. Columns as of :func:`differences`, but ``nats`` are missing.
    """
    there = kept.set_index([*columns, "fact"])["text"].astype(str)
    rows = [
        (
            key[0],
            ", ".join(map(str, key[1:])),
            prompt.fact,
            np.nan,
            text == there[*key, prompt.fact],
        )
        for key, some in asked.items()
        for prompt, text in zip(some, texts[key], strict=True)
    ]
    return pd.DataFrame(rows, columns=["model", "where", "fact", "nats", "same"])


def compare(
    found: pd.DataFrame,
    results: str,
    about: Mapping[str, Any],
    *,
    exact: bool,
    most_off: float = 0.0,
) -> None:
    """Raise :class:`BadInput` where answers asked again differ that should be ``exact``.

    ``found`` is of :func:`differences`. Exact they should be in float32 on a CPU: within ``MOST_NATS``,
    with the same prediction outside of ties. The share ``most_off`` of them may differ all the same:
    what is written parts for good where two tokens were equally likely.
    """
    other = off(found)
    if len(other) > most_off * len(found) and exact:
        worst = other.loc[other["nats"].fillna(0).idxmax()]
        by = "in what was written"
        if np.isinf(worst["nats"]):
            by = "a number is missing"
        elif pd.notna(worst["nats"]):
            by = f"by {worst['nats']:.2g} nats, and {MOST_NATS:g} is allowed"
        raise BadInput(
            f"results {results}: {len(other)} of {len(found)} answers that were asked again differ, most "
            f"of all {worst['model']}, {worst['where']}, {worst['fact']}: {by}. The scorer has changed, "
            f"or the files were: {about['command']} makes them anew"
        )


def off(found: pd.DataFrame) -> pd.DataFrame:
    return found[(found["nats"] > MOST_NATS) | ~found["same"].astype(bool)]
