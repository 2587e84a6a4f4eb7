"""Again: answers that ship carry a page, and a drawn sample of their questions is asked anew.

A long run keeps, beside its answers, what they can be checked by: for each question a digest of what was
asked, and the log-probabilities of the gold option and of the five likeliest ones. So a page of seconds
can rest on the answers of hours, and a scorer, model or set of facts that has changed since is noticed.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore.answers import shipped
from lkecore.answers.kept import behind, keep
from lkecore.errors import BadInput
from lkecore.metrics import choice
from lkecore.models.model import Model
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt

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
                f"then. Ask as params/{results}.yaml does, leave `results` empty to ask all of it here, or "
                f"make them anew: {about['command']}"
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


def carry(
    asked: Asked,
    columns: Sequence[str],
    lms: Mapping[str, Model],
    file: str,
    *,
    results: str,
    notebook: str,
    n_again: int,
    find: Callable[[pd.DataFrame, Mapping[str, Any]], pd.DataFrame],
    rescore: Callable[[Mapping[Key, list[Unit]], pd.DataFrame, pd.DataFrame], pd.DataFrame],
    most_off: float = 0.0,
) -> pd.DataFrame:
    """The answers that ship, once models and questions are known to be these, and a sample agrees.

    ``columns`` names the parts of the keys of ``asked``. ``find`` takes the shipped answers to what is asked
    here, and ``rescore`` asks a sample again: from it, the answers and what they are checked by to a
    frame as of :func:`differences`, of which at most the share ``most_off`` may differ. Both frames are
    kept in the run's folder, and what a page says of them stands in ``attrs["carried"]``. Raises as
    :func:`read`, :func:`check_models`, :func:`check_questions` and :func:`compare`, in this order.
    """
    answers, checks, about = read(results, notebook, _apart(file))
    check_models(lms, results, about)
    check_questions(asked, checks, columns, results, about)
    found = find(answers, about)
    differ = None
    if n_again:
        ways = [i for i, name in enumerate(columns) if name in ("model", "estimator")]
        differ = rescore(drawn(asked, n_again, ways), answers, checks)
        exact = all(lm.device == "cpu" and lm.dtype == "float32" for lm in lms.values())
        compare(differ, results, about, exact=exact, most_off=most_off)
        keep(differ, f"{beside(file, AGAIN)}.csv")
    keep(found, file)
    return _noted(found, about, differ)


def carry_texts(
    asked: Asked,
    columns: Sequence[str],
    lms: Mapping[str, Model],
    file: str,
    *,
    results: str,
    notebook: str,
    n_again: int,
    write: Callable[[Mapping[Key, list[Unit]]], Mapping[Key, Sequence[str]]],
) -> tuple[dict[Key, list[str]], dict[str, str]]:
    """(what models wrote, under the keys of ``asked``; the ``attrs`` of a frame of it), by :func:`carry`.

    ``write`` lets them write some of it again. One in ten of these outputs may differ: greedy writing
    parts for good where two tokens were equally likely, and that hangs on the last digit. What is
    said of an output is not taken from what ships: whoever calls reads the texts anew.
    """
    found = carry(
        asked,
        columns,
        lms,
        file,
        results=results,
        notebook=notebook,
        n_again=n_again,
        find=lambda kept, about: of_questions(kept, asked, columns, results, about),
        rescore=lambda some, kept, _: texts_apart(some, write(some), kept, columns),
        most_off=0.1,
    )
    texts = iter(found["text"].astype(str))
    return {key: [next(texts) for _ in some] for key, some in asked.items()}, found.attrs


def asked_digests(asked: Asked, columns: Sequence[str]) -> pd.DataFrame:
    """What says which questions were asked, where the answers can be checked by themselves.

    A row for each question with its key, under the names ``columns``, and its digest as ``question``.
    """
    rows = [(*key, each) for key, some in asked.items() for unit in some for each in digests(unit)]
    return pd.DataFrame(rows, columns=[*columns, "question"])


def beside(file: str, name: str) -> str:
    """The name of a file beside another, without its ending.

    >>> beside("answers.parquet", "check")
    'answers-check'
    """
    return f"{file.removesuffix('.parquet')}-{name}"


def on_page(found: pd.DataFrame, file: str, results: str, notebook: str) -> pd.DataFrame:
    """On a page: what the runs behind it have kept, with what is said of their results, if of any."""
    if not results:
        return found
    paths = [folder / f"{beside(file, AGAIN)}.csv" for folder in behind()]
    every = all(path.exists() for path in paths)
    differ = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True) if every else None
    return _noted(found, shipped.read(results, notebook, apart=_apart(file))[1], differ)


def _noted(
    found: pd.DataFrame, about: Mapping[str, Any], differ: pd.DataFrame | None
) -> pd.DataFrame:
    found.attrs["carried"] = told(differ, len(found), about)
    return found


def _apart(file: str) -> str:
    """Under which name a file of answers is kept apart: "eic" of ``answers-eic.parquet``."""
    return file.removesuffix(".parquet").partition("-")[2]


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
    and of those that were likeliest then; ``same``: whether the prediction is the same, or another
    that now lies within ``MOST_NATS`` of it, and the answers say the same (:func:`said_otherwise`).
    """
    then = checks.drop_duplicates(["model", "question"]).set_index(["model", "question"])
    of_key = dict(list(kept.groupby([kept[name].astype(str) for name in columns], sort=False)))
    rows = []
    for (model, *where), (units, frame, answers) in scored.items():
        options = choice.to_arrays(frame)
        asked = [digest for unit in units for digest in digests(unit)]
        other = said_otherwise(answers, of_key[model, *map(str, where)])
        for i, digest in enumerate(asked):
            old, now = then.loc[(model, digest)], options.logprob[i]
            places = old[PLACES].dropna().astype(int).to_numpy()
            numbers = old[NUMBERS].dropna().to_numpy(dtype=float)
            gaps = [now[options.gold[i]] - old["logprob_gold"], *(now[places] - numbers)]
            best = np.sort(now)[::-1]
            tie = len(best) > 1 and best[0] - best[1] <= MOST_NATS
            same = bool(best[0] - now[places[0]] <= MOST_NATS)
            same = same and (tie or options.fact[i] not in other)
            name = ", ".join(map(str, where))
            rows.append((model, name, options.fact[i], float(np.abs(gaps).max()), same))
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
        a, b = now[name].to_numpy(), then[name].to_numpy()
        if pd.api.types.is_float_dtype(now[name]):
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
    off = _off(found)
    if len(off) > most_off * len(found) and exact:
        worst = off.loc[off["nats"].fillna(0).idxmax()]
        by = "in what was written"
        if pd.notna(worst["nats"]):
            by = f"by {worst['nats']:.2g} nats, and {MOST_NATS:g} is allowed"
        raise BadInput(
            f"results {results}: {len(off)} of {len(found)} answers that were asked again differ, most "
            f"of all {worst['model']}, {worst['where']}, {worst['fact']}: {by}. The scorer has changed, "
            f"or the files were: {about['command']} makes them anew"
        )


def _off(found: pd.DataFrame) -> pd.DataFrame:
    return found[(found["nats"] > MOST_NATS) | ~found["same"].astype(bool)]


def told(found: pd.DataFrame | None, n: int, about: Mapping[str, Any]) -> str:
    """What a page says of ``n`` answers that carry it: what made them, and how many were asked again.

    ``found`` is of :func:`differences`, or None where nothing was asked again.
    """
    said = [
        f"{n:,} answers of a longer run: {shipped.line(dict(about))}. To make them again: "
        f"{about['command']}."
    ]
    if found is not None and len(found):
        off, scored = len(_off(found)), found["nats"].notna().all()
        largest = f"the largest difference is {found['nats'].max():.1g} nats"
        same = largest if scored else f"{len(found) - off} came out the same to the letter"
        said.append(f"{len(found)} of them were asked again for this page; {same}.")
        if off and scored:
            said.append(f"{off} differ by more than {MOST_NATS:g}: another device or dtype.")
    return " ".join(said)
