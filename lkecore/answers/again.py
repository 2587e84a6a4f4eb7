"""Again: answers that ship carry a page, and a drawn sample of their questions is asked anew.

A long run keeps, beside its answers, what they can be checked by: for each question a digest of what was
asked, and the log-probabilities of the gold option and of the five likeliest ones. So a page of seconds
can rest on the answers of hours, and a scorer, model or set of facts that has changed since is noticed.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore.answers import shipped
from lkecore.errors import BadInput
from lkecore.metrics import choice
from lkecore.models.model import Model
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt

BEST = 5  # options of each question whose log-probabilities are kept
MOST_NATS = 1e-3  # a CPU's float32 moves a log-probability by about a tenth of this
CHECK = "check"  # what ``answers.parquet`` can be checked by is kept as ``answers-check.parquet``
AGAIN = "again"  # and how far it lies off as ``answers-again.csv``
PLACES = [f"best_{i}" for i in range(1, BEST + 1)]
NUMBERS = [f"logprob_{i}" for i in range(1, BEST + 1)]
Unit = Prompt | Slots  # what is asked at once
Key = tuple[Any, ...]  # a model, and what its questions stand under
Asked = Mapping[Key, Sequence[Unit]]


def prompts_of(unit: Unit) -> Sequence[Prompt]:
    """The questions that are asked at once: one, or all that stand in the same long prompts."""
    return unit.asked if isinstance(unit, Slots) else [unit]


def digests(unit: Unit) -> list[str]:
    """For each question of a unit twelve digits that change with any word of what is asked, or its place."""
    text = json.dumps(unit, default=vars)
    n = len(prompts_of(unit))
    return [hashlib.sha256(f"{text}{i}".encode()).hexdigest()[:12] for i in range(n)]


def checkable(questions: Sequence[Unit], scores: pd.DataFrame) -> pd.DataFrame:
    """What the answers to some questions can be checked by: a row for each, in their order.

    ``scores`` is the scorer's frame of them. Columns: ``fact``; ``question``, of :func:`digests`;
    ``logprob_gold`` in nats; ``best_1`` to ``best_5``: the places of the likeliest options among the
    options of the question, the likeliest first, ties to the first; ``logprob_1`` to ``logprob_5``,
    theirs. Where there are fewer options, they are missing.
    """
    options = choice.to_arrays(scores)
    n_facts, n_options = options.logprob.shape
    top = np.argsort(-options.logprob, axis=1, kind="stable")[:, :BEST]
    every = np.arange(n_facts)
    found: dict[str, Any] = {
        "fact": options.fact,
        "question": [digest for unit in questions for digest in digests(unit)],
        "logprob_gold": options.logprob[every, options.gold],
    }
    for i, (place, number) in enumerate(zip(PLACES, NUMBERS, strict=True)):
        is_there = i < n_options
        found[place] = top[:, i].astype(float) if is_there else np.nan
        found[number] = options.logprob[every, top[:, i]] if is_there else np.nan
    return pd.DataFrame(found)


def read(
    results: str, notebook: str, apart: str
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """(answers, what they are checked by, what made them) of a notebook in a longer profile.

    Raises :class:`BadInput` as :func:`lkecore.answers.shipped.read`, and where these results do not hold
    what they could be checked by.
    """
    answers, about = shipped.read(results, notebook, apart=apart)
    try:
        checks, _ = shipped.read(results, notebook, apart="-".join(filter(None, [apart, CHECK])))
    except BadInput as error:
        raise BadInput(
            f"results {results} cannot carry a page: they have nothing to check them by ({error})"
        ) from error
    return answers, checks, about


def check_models(lms: Mapping[str, Model], results: str, about: Mapping[str, Any]) -> None:
    """Raise :class:`BadInput` for a model that did not make ``results``, or whose weights are others."""
    for name, lm in lms.items():
        made_by = about["models"].get(name)
        if made_by is None:
            there = ", ".join(about["models"])
            raise BadInput(f"results {results} are not of model {name}, but of {there}")
        if made_by != lm.digest:
            raise BadInput(
                f"results {results} are of another {name}: its weights have the digest "
                f"{made_by[:12]} there and {lm.digest[:12]} here"
            )


def check_questions(
    asked: Asked, checks: pd.DataFrame, by: Sequence[str], results: str, about: Mapping[str, Any]
) -> None:
    """Raise :class:`BadInput` unless all questions that are asked here made ``results``, too.

    ``by`` names the parts of a key. So shipped answers are refused where facts, options, shots or the
    words around them are others than here; all questions are compared, and none is scored.
    """
    of_key = checks.groupby(list(by), sort=False)["question"]
    there = {tuple(map(str, key)): set(part) for key, part in of_key}
    for key, some in asked.items():
        here = [digest for unit in some for digest in digests(unit)]
        lacking = set(here) - there.get(tuple(map(str, key)), set())
        if lacking:
            raise BadInput(
                f"results {results} lack {len(lacking)} of {len(here)} questions about "
                f"{', '.join(map(str, key))}: facts, shots, options and words must be as they were "
                f"then. Ask as params/{results}.yaml does, or make them anew: {about['command']}"
            )


def of_questions(
    answers: pd.DataFrame, asked: Asked, by: Sequence[str], results: str, about: Mapping[str, Any]
) -> pd.DataFrame:
    """The answers to the questions that are asked here, in their order.

    Raises :class:`BadInput` where one is missing, as in a file that was cut off.
    """
    facts = [
        (*key, prompt.fact)
        for key, some in asked.items()
        for unit in some
        for prompt in prompts_of(unit)
    ]
    order = pd.DataFrame(facts, columns=[*by, "fact"])
    found = order.merge(answers, on=[*by, "fact"], how="left", indicator="is_there")
    lacking = found["is_there"].ne("both").sum()
    if lacking:
        raise BadInput(
            f"results {results} are cut off: {lacking} of {len(order)} answers are missing, and their "
            f"questions are there. Make them anew: {about['command']}"
        )
    return found[answers.columns]


def drawn(asked: Asked, n: int, ways: Sequence[int]) -> dict[Key, list[Unit]]:
    """About ``n`` questions of each way of asking, from two of its lists, in their order.

    ``ways`` are the places in a key that tell ways apart, such as model and estimator; what differs
    besides, such as relations, makes the lists. The name of the run draws, so that another run
    asks others, and the same run the same.
    """
    # An attempt is named .RUN.XXXX, the finished run RUN: both draw the same.
    run = Path(os.environ.get("LKE_RUN", "")).name.lstrip(".").partition(".")[0]
    rng = np.random.default_rng(list(run.encode()))
    of_way: dict[Key, list[Key]] = {}
    for key in asked:
        of_way.setdefault(tuple(key[i] for i in ways), []).append(key)
    found: dict[Key, list[Unit]] = {}
    for keys in of_way.values():
        two = [keys[i] for i in sorted(rng.permutation(len(keys))[:2])]
        for key in two:
            units, wanted, some = asked[key], -(-n // len(two)), []
            for i in rng.permutation(len(units)):
                if sum(len(prompts_of(units[j])) for j in some) >= wanted:
                    break
                some.append(i)
            found[key] = [units[i] for i in sorted(some)]
    return found


def differences(
    scored: Mapping[Key, tuple[Sequence[Unit], pd.DataFrame]], checks: pd.DataFrame
) -> pd.DataFrame:
    """How far answers that were asked again lie from those that ship: a row for each question.

    ``scored`` has under each key some units and the scorer's frame of them. Columns: ``model``, ``where``
    (the rest of the key), ``fact``; ``nats``: the largest difference of log-probability, of the gold option
    and of those that were likeliest then; ``same``: whether the prediction is the same, or another
    that now lies within ``MOST_NATS`` of it.
    """
    then = checks.drop_duplicates(["model", "question"]).set_index(["model", "question"])
    rows = []
    for (model, *where), (units, frame) in scored.items():
        options = choice.to_arrays(frame)
        asked = [digest for unit in units for digest in digests(unit)]
        for i, digest in enumerate(asked):
            old, now = then.loc[(model, digest)], options.logprob[i]
            places = old[PLACES].dropna().astype(int).to_numpy()
            numbers = old[NUMBERS].dropna().to_numpy(dtype=float)
            gaps = [now[options.gold[i]] - old["logprob_gold"], *(now[places] - numbers)]
            same = bool(now.max() - now[places[0]] <= MOST_NATS)
            name = ", ".join(map(str, where))
            rows.append((model, name, options.fact[i], float(np.abs(gaps).max()), same))
    return pd.DataFrame(rows, columns=["model", "where", "fact", "nats", "same"])


def compare(found: pd.DataFrame, results: str, about: Mapping[str, Any], *, exact: bool) -> None:
    """Raise :class:`BadInput` where answers asked again differ that should be ``exact``.

    ``found`` is of :func:`differences`. Exact they should be in float32 on a CPU: within ``MOST_NATS``,
    with the same prediction outside of ties.
    """
    off = found[(found["nats"] > MOST_NATS) | ~found["same"].astype(bool)]
    if len(off) and exact:
        worst = off.loc[off["nats"].idxmax()]
        raise BadInput(
            f"results {results}: {len(off)} of {len(found)} answers that were asked again differ, most "
            f"of all {worst['model']}, {worst['where']}, {worst['fact']}: by {worst['nats']:.2g} nats, "
            f"and {MOST_NATS:g} is allowed. The scorer has changed, or the files were: "
            f"{about['command']} makes them anew"
        )


def told(found: pd.DataFrame | None, n: int, about: Mapping[str, Any]) -> str:
    """What a page says of ``n`` answers that carry it: what made them, and how many were asked again.

    ``found`` is of :func:`differences`, or None where nothing was asked again.
    """
    said = [
        f"{n:,} answers of a longer run: {shipped.line(dict(about))}. To make them again: "
        f"{about['command']}."
    ]
    if found is not None and len(found):
        off = found[(found["nats"] > MOST_NATS) | ~found["same"].astype(bool)]
        said.append(
            f"{len(found)} of them were asked again for this page; the largest difference is "
            f"{found['nats'].max():.1g} nats."
        )
        if len(off):
            said.append(f"{len(off)} differ by more than {MOST_NATS:g}: another device or dtype.")
    return " ".join(said)
