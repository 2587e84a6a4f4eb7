"""Longer: a page of seconds that stands on the answers of a longer run, which ship.

It does so only while models and questions are the same to the letter, and a drawn sample that is asked
again agrees: a scorer, model or set of facts that has changed since is noticed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from lkecore.answers import shipped
from lkecore.answers.again import (
    AGAIN,
    CHECK,
    MOST_NATS,
    Asked,
    Key,
    Unit,
    compare,
    digests_by_key,
    drawn,
    off,
    prompts_of,
    texts_apart,
)
from lkecore.answers.kept import behind, keep
from lkecore.errors import BadInput
from lkecore.models.model import Model

# Parts of a key that tell lists of questions apart; all others, such as estimator, are ways of asking.
LISTS = {"world", "fact_set", "relation", "part", "draw", "n_shots"}


def carry(
    asked: Asked,
    columns: Sequence[str],
    lms: Mapping[str, Model],
    file: str,
    *,
    results: str,
    notebook: str,
    n_again: int,
    rescore: Callable[[Mapping[Key, list[Unit]], pd.DataFrame, pd.DataFrame], pd.DataFrame],
    find: Callable[..., pd.DataFrame] | None = None,
    most_off: float = 0.0,
) -> pd.DataFrame:
    """The answers that ship, once models and questions are known to be these, and a sample agrees.

    ``columns`` names the parts of the keys of ``asked``. ``rescore`` asks a sample again: from it, the
    answers and what they are checked by to a frame as of :func:`lkecore.answers.again.differences`, of
    which at most the share ``most_off`` may differ. ``find`` takes the shipped answers to what is asked here,
    as :func:`of_questions` does, which is the default. Both frames are kept in the run's folder, and what
    is to be said of them stands in ``attrs["carried"]``. Raises as :func:`read`, :func:`check_models`,
    :func:`check_questions` and :func:`lkecore.answers.again.compare`, in this order.
    """
    answers, checks, about = read(results, notebook, _apart(file))
    check_models(lms, results, about)
    answers, checks = (_told_apart(f, asked, columns, results) for f in (answers, checks))
    check_questions(asked, checks, columns, results, about)
    found = (find or of_questions)(answers, asked, columns, results, about)
    differ = None
    if n_again:
        ways = [i for i, name in enumerate(columns) if name not in LISTS]
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
        rescore=lambda some, kept, _: texts_apart(some, write(some), kept, columns),
        most_off=0.1,
    )
    texts = iter(found["text"].astype(str))
    return {key: [next(texts) for _ in some] for key, some in asked.items()}, found.attrs


def on_page(found: pd.DataFrame, file: str, results: str, notebook: str) -> pd.DataFrame:
    """On a page: what the runs behind it have kept, with what is said of their results, if of any."""
    if not results:
        return found
    paths = [folder / f"{beside(file, AGAIN)}.csv" for folder in behind()]
    every = all(path.exists() for path in paths)
    differ = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True) if every else None
    return _noted(found, shipped.read(results, notebook, apart=_apart(file))[1], differ)


def _told_apart(
    frame: pd.DataFrame, asked: Asked, columns: Sequence[str], results: str
) -> pd.DataFrame:
    """A frame that ships, with the parts of a key that it lacks: of a time when there was one relation.

    Each is what is asked here under the rest of the key; :class:`BadInput` where that is more than one.
    """
    lacking = [name for name in columns if name not in frame]
    if not lacking:
        return frame
    rest = [name for name in columns if name in frame]
    keys = pd.DataFrame(list(asked), columns=list(columns))
    if keys.duplicated(rest).any():
        raise BadInput(f"results {results} do not tell apart {lacking[0]}: ask about a single one")
    return frame.merge(keys, on=rest, how="left")


def _noted(
    found: pd.DataFrame, about: Mapping[str, Any], differ: pd.DataFrame | None
) -> pd.DataFrame:
    found.attrs["carried"] = told(differ, len(found), about)
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
    there = {tuple(map(str, key)): set(part.tolist()) for key, part in of_key}
    for key, here in digests_by_key(asked).items():
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


def told(found: pd.DataFrame | None, n: int, about: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be said of ``n`` answers that carry a page, for :func:`in_words`.

    ``found`` is of :func:`lkecore.answers.again.differences`, or None where nothing was asked again. Keys:
    ``made_by``, what made them and how to make them again; ``n``; ``again``, how many were asked
    again; ``off``, how many of these differ; ``nats``, by how much at most, or None of texts.
    """
    made_by = f"{shipped.line(dict(about))}. To make them again: {about['command']}."
    if found is None or found.empty:
        return {"made_by": made_by, "n": n, "again": 0}
    nats = float(found["nats"].max()) if found["nats"].notna().all() else None
    return {"made_by": made_by, "n": n, "again": len(found), "off": len(off(found)), "nats": nats}


def in_words(some: Sequence[Mapping[str, Any]]) -> str:
    """What a page says of the answers that carry it; ``some`` are of :func:`told`, a file each."""
    said = []
    for made_by in dict.fromkeys(each["made_by"] for each in some):
        same = [each for each in some if each["made_by"] == made_by]
        checked = [each for each in same if each["again"]]
        counts = _listed([f"{each['n']:,}" for each in same])
        said.append(f"{counts} answers of a longer run: {made_by}")
        if checked:
            again = _listed([f"{each['again']:,}" for each in checked])
            said.append(f"{again} of them were asked again for this page; {_agree(checked)}.")
    return " ".join(said)


def _agree(checked: Sequence[Mapping[str, Any]]) -> str:
    scored = [each for each in checked if each["nats"] is not None]
    texts = [each["again"] - each["off"] for each in checked if each["nats"] is None]
    said = (
        [f"the largest difference is {max(e['nats'] for e in scored):.1g} nats"] if scored else []
    )
    if n_off := sum(each["off"] for each in scored):
        said[0] += f", and {n_off} differ by more than {MOST_NATS:g}: another device or dtype"
    return "; ".join(said + [f"{sum(texts)} came out the same to the letter"] * bool(texts))


def _listed(words: Sequence[str]) -> str:
    return " and ".join([*filter(None, [", ".join(words[:-1])]), words[-1]])
