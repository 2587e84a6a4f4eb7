"""Check: a page of seconds stands on the answers of a longer run that ship, while it would get the same.

It does so only while models and questions are the same to the letter, and a drawn sample that is asked
again agrees: a scorer, model or set of facts that has changed since is noticed. So a run keeps, beside its
answers, for each question a digest of what was asked, and the log-probability of the gold option.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lkecore.answers import shipped
from lkecore.answers.kept import behind, keep
from lkecore.answers.results import CHECKS
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt
from lkecore.scores import store

MOST_NATS = 1e-3  # a CPU's float32 moves a log-probability by about a tenth of this
MOST_APART = 2e-3  # and a share or confidence, of which four digits ship, by less than this
LEAST = 1e-37  # of a confidence: what ships has passed through float32, which keeps no smaller one whole
CHECK = "check"  # what ``answers.parquet`` can be checked by is kept as ``answers-check.parquet``
AGAIN = "again"  # and how far it lies off as ``answers-again.csv``
# Parts of a key that tell lists of questions apart; all others, such as estimator, are ways of asking.
LISTS = {"world", "fact_set", "relation", "part", "draw", "n_shots"}
# What is asked at once: a question, all questions of the same long prompts, or some sequences in pieces.
Unit = Prompt | Slots | Sequence[Sequence[str]]
Key = tuple[Any, ...]  # a model, and what its questions stand under
Asked = Mapping[Key, Sequence[Unit]]


# --- which questions are asked ------------------------------------------------------------------


def prompts_of(unit: Unit) -> Sequence[Any]:
    """The questions that are asked at once: one, or all that stand in the same long prompts."""
    return unit.asked if isinstance(unit, Slots) else [unit]


def digests(unit: Unit) -> Sequence[str]:
    """For each question of a unit twelve digits that change with any word of what is asked, or its place."""
    return _kept_digests(unit) if isinstance(unit, Prompt | Slots) else _digests(unit)


def _digests(unit: Unit) -> tuple[str, ...]:
    text = json.dumps(unit, default=vars)
    n = len(prompts_of(unit))
    return tuple(hashlib.sha256(f"{text}{i}".encode()).hexdigest()[:12] for i in range(n))


# A page looks several times, and for every model, at the same questions, with hundreds of options each.
_kept_digests = functools.lru_cache(maxsize=10_000)(_digests)


def questions(asked: Asked, columns: Sequence[str]) -> pd.DataFrame:
    """A row for each question: its key, under the names ``columns``; ``fact``, if it has one; ``question``.

    ``question`` is of :func:`digests`; a list that many models are asked is looked at once.
    """
    found = {
        at: [
            (getattr(prompt, "fact", None), digest)
            for unit in some
            for prompt, digest in zip(prompts_of(unit), digests(unit), strict=True)
        ]
        for at, some in {id(some): some for some in asked.values()}.items()
    }
    rows = [(*key, *each) for key, some in asked.items() for each in found[id(some)]]
    frame = pd.DataFrame(rows, columns=[*columns, "fact", "question"])
    return frame if frame["fact"].notna().any() else frame.drop(columns="fact")


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


# --- answers of a longer run in the place of this one's -------------------------------------------


def carry(
    asked: Asked,
    columns: Sequence[str],
    lms: Mapping[str, Model],
    file: str,
    *,
    results: str,
    notebook: str,
    n_again: int,
    rescore: Callable[[Mapping[Key, list[Unit]], pd.DataFrame], pd.DataFrame],
    find: Callable[..., pd.DataFrame] = lambda *given: of_questions(*given),
    most_off: float = 0.0,
) -> pd.DataFrame:
    """The answers that ship, once models and questions are known to be these, and a sample agrees.

    ``columns`` names the parts of the keys of ``asked``. ``rescore`` takes a sample and the answers that
    ship, asks it again, and gives a frame as of :func:`differences`, of which at most the share
    ``most_off`` may differ; ``find`` takes from the shipped answers those to what is asked here. Answers and
    differences are kept in the run's folder, and ``attrs["carried"]`` has what a page says. Raises
    :class:`BadInput` for results that are not there, or have nothing to check them by, and as
    :func:`check_models`, :func:`check_questions` and :func:`compare`, in this order.
    """
    there, about = shipped.rows(results, notebook, apart=_apart(file))
    if "question" not in there or there["question"].isna().all():
        raise BadInput(f"results {results} cannot carry a page: they have nothing to check them by")
    check_models(lms, results, about)
    check_questions(asked, there, columns, results, about)
    found = find(there, asked, columns, results, about)
    differ = None
    if n_again:
        # Where a fact has many prompts, their templates make lists, too.
        lists = LISTS | {"template", "expression"} if "expression" in columns else LISTS
        ways = [i for i, name in enumerate(columns) if name not in lists]
        differ = rescore(drawn(asked, n_again, ways), there)
        exact = all(lm.device == "cpu" and lm.dtype == "float32" for lm in lms.values())
        compare(differ, results, about, exact=exact, most_off=most_off)
        keep(differ, f"{beside(file, AGAIN)}.csv")
    found = found.drop(columns=CHECKS, errors="ignore")
    keep(found, file)
    return _noted(found, about, differ)


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
    """The answers, with what a page says of them (:func:`lkecore.answers.show.carried`)."""
    said = {"made_by": shipped.line(dict(about)), "command": about["command"], "n": len(found)}
    if differ is not None and len(differ):
        nats = float(differ["nats"].max()) if differ["nats"].notna().all() else None
        said |= {"again": len(differ), "off": len(off(differ)), "nats": nats}
    found.attrs["carried"] = said
    return found


def _apart(file: str) -> str:
    """Under which name a file of answers is kept apart: "eic" of ``answers-eic.parquet``."""
    return file.removesuffix(".parquet").partition("-")[2]


def beside(file: str, name: str) -> str:
    """The name of a file beside another, without its ending.

    >>> beside("answers.parquet", "check")
    'answers-check'
    """
    return f"{file.removesuffix('.parquet')}-{name}"


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
    asked: Asked, there: pd.DataFrame, by: Sequence[str], results: str, about: Mapping[str, Any]
) -> None:
    """Raise :class:`BadInput` unless all questions that are asked here made ``results``, too.

    ``by`` names the parts of a key. So shipped answers are refused where facts, options, shots or the
    words around them are others than here, where a row is missing, or stands under another fact; all
    questions are compared, and none is scored.
    """
    here = questions(asked, by).astype(str)
    rows = there[list(here)].drop_duplicates().astype(str)
    lacking = here.merge(rows, how="left", indicator=True)["_merge"].ne("both").to_numpy()
    if lacking.any():
        key = here.loc[lacking, list(by)].iloc[0]
        of_key = here[list(by)].eq(key).all(axis=1).to_numpy()
        raise BadInput(
            f"results {results} lack {(lacking & of_key).sum()} of {of_key.sum()} questions about "
            f"{', '.join(key)}: facts, shots, options and words must be as they were "
            f"then. Ask as sources/{results}.yaml does, leave `results` empty to ask all of it here, or "
            f"make them anew: {about['command']}"
        )


def of_questions(
    there: pd.DataFrame, asked: Asked, by: Sequence[str], results: str, about: Mapping[str, Any]
) -> pd.DataFrame:
    """The answers to the questions that are asked here, in order; :class:`BadInput` if one is missing."""
    order = questions(asked, by)
    found = order.merge(there, on=list(order), how="left", indicator="is_there")
    if lacking := found["is_there"].ne("both").sum():
        raise BadInput(
            f"results {results} are cut off: {lacking} of {len(order)} answers are missing, and their "
            f"questions are there. Make them anew: {about['command']}"
        )
    return found[there.columns]


# --- how far a sample that is asked again lies off ----------------------------------------------


def differences(
    scored: Mapping[Key, tuple[Sequence[Unit], pd.DataFrame, pd.DataFrame]],
    there: pd.DataFrame,
    columns: Sequence[str],
) -> pd.DataFrame:
    """How far answers that were asked again lie from those that ship: a row for each question.

    ``scored`` has under each key some units, the scorer's frame of them, and what was read in it; ``there``
    are the answers that ship, with ``columns``, the parts of a key. Columns: ``model``, ``where``
    (the rest of the key), ``fact``; ``nats``: the difference of the gold option's log-probability, infinite
    where it is missing; ``same``: whether the answers say the same (:func:`said_otherwise`), or two options
    are now within ``MOST_NATS`` of being the likeliest.
    """
    of_key = dict(list(there.groupby([there[name].astype(str) for name in columns], sort=False)))
    rows = []
    for (model, *where), (units, frame, answers) in scored.items():
        kept = of_key[model, *map(str, where)]
        golds = kept.drop_duplicates("question").set_index("question")["logprob_gold"]
        other = said_otherwise(answers, kept)
        asked = [digest for unit in units for digest in digests(unit)]
        for (fact, its), digest in zip(frame.groupby("fact", sort=False), asked, strict=True):
            now = its["logprob"].to_numpy()
            gap = abs(now[its["gold"].to_numpy().argmax()] - golds[digest])
            *_, second, first = [-np.inf, *np.sort(now)]
            same = first - second <= MOST_NATS or fact not in other
            rows.append((model, ", ".join(map(str, where)), fact, gap, same))
    found = pd.DataFrame(rows, columns=["model", "where", "fact", "nats", "same"])
    return found.assign(nats=found["nats"].fillna(np.inf))


def said_otherwise(now: pd.DataFrame, then: pd.DataFrame) -> set[str]:
    """The facts of which two frames of answers do not say the same, in the columns that both have.

    Numbers may lie ``MOST_APART`` apart, confidences this share of themselves, as their logarithms, so that
    a small one tells what the other options got; all else must be equal. ``then`` may have more facts. A
    fact with several rows has them in the same order.
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
            share = name.startswith("confidence")
            near = {"rtol": MOST_APART, "atol": LEAST} if share else {"rtol": 0, "atol": MOST_APART}
            other |= ~np.isclose(a, b.astype(float), **near, equal_nan=True)
        else:
            other |= (a != b) & ~(pd.isna(a) & pd.isna(b))
    return set(now["fact"].to_numpy()[other])


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
    and the same outside of ties. The share ``most_off`` of them may differ all the same: what is written
    parts for good where two tokens were equally likely.
    """
    other = off(found)
    if len(other) > most_off * len(found) and exact:
        worst = other.loc[other["nats"].fillna(0).idxmax()]
        by = "in what they say" if worst["nats"] <= MOST_NATS else "in what was written"
        if np.isinf(worst["nats"]):
            by = "a number is missing"
        elif worst["nats"] > MOST_NATS:
            by = f"by {worst['nats']:.2g} nats, and {MOST_NATS:g} is allowed"
        raise BadInput(
            f"results {results}: {len(other)} of {len(found)} answers that were asked again differ, most "
            f"of all {worst['model']}, {worst['where']}, {worst['fact']}: {by}. The scorer has changed, "
            f"or the files were: {about['command']} makes them anew"
        )


def off(found: pd.DataFrame) -> pd.DataFrame:
    return found[(found["nats"] > MOST_NATS) | ~found["same"].astype(bool)]
