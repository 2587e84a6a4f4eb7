"""Sides: answers to compare, wherever they are kept: a row for each question, the same columns for all."""

import hashlib
import json
import re
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path

import pandas as pd

from lkecore.answers.align import as_text
from lkecore.answers.kept import read_manifest
from lkecore.answers.shipped import NAME, results
from lkecore.errors import BadInput, in_one_line, nearest, visible
from lkecore.stats import choice
from lkecore.storage import read_frame

OPTIONS = "options.parquet"  # what lke score writes
OF_TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+")  # as lm_eval names a file
Pair = tuple[pd.DataFrame, pd.DataFrame, str, str]  # the answers of two, and their names


def pairs(first: str, second: str = "", **given: Sequence[str]) -> list[Pair]:
    """The pairs to compare: answers of one model each, asked in one way, and the names of both.

    ``first`` and ``second`` are what :func:`read` takes; without ``second`` both are ``first``. ``given``
    has, for source, model, estimator or draw, one value for both sides, or one for each. Where both sides
    have the same models, each model meets itself. Where the models differ, or one side is compared with
    itself, all pairs are made. :class:`BadInput` for more than two values, and where there is only one model.
    """
    if many := [column for column, values in given.items() if len(values) > 2]:
        raise BadInput(f"--{many[0]} is given {len(given[many[0]])} times: at most once for each")
    names, sides = [first, second or first], []
    frames = {name: read(name) for name in set(names)}
    for i, name in enumerate(names):
        wanted = {column: (*values, *values)[i] for column, values in given.items() if values}
        part = _chosen(frames[name], visible(name), wanted)
        sides.append({str(model): of for model, of in part.groupby("model", sort=False)})
    a, b = sides
    one = not second and all(len({*values}) < 2 for values in given.values())
    met = combinations(a, 2) if one else zip(a, a, strict=True) if {*a} == {*b} else product(a, b)
    if not (met := list(met)):
        raise BadInput(f"{visible(first)} has one model, {next(iter(a))}: name what to compare")
    return [(a[x], b[y], *_called([x, y], [a[x], b[y]], names)) for x, y in met]


def _called(
    models: Sequence[str], frames: Sequence[pd.DataFrame], names: Sequence[str]
) -> list[str]:
    """The names of two sides: models; if these are equal, ways as well; if these are too, ``names``."""
    ways = [str(frame["estimator"].iloc[0]) if "estimator" in frame else "" for frame in frames]
    more = ["", ""] if models[0] != models[1] else ways if ways[0] != ways[1] else names
    return [", ".join(filter(None, each)) for each in zip(models, more, strict=True)]


def _chosen(frame: pd.DataFrame, name: str, wanted: dict[str, str]) -> pd.DataFrame:
    """The rows of one source and estimator and of the first draw, or the rows that are wanted."""
    for column in ("source", "model", "estimator", "draw"):
        there = as_text(frame[column]) if column in frame else pd.Series("", frame.index)
        several = sorted(there.unique())
        if (value := wanted.get(column, several[0])) not in several:
            raise BadInput(f"{name} has no {column} {value!r}; {nearest(value, several)}")
        if column in ("source", "estimator") and column not in wanted and len(several) > 1:
            said = f"{name} has {len(several)} {column}s; choose with --{column}"
            raise BadInput(f"{said}: {', '.join(several)}")
        if column in wanted or column != "model":
            frame = frame[there == value]
    return frame


def read(name: str) -> pd.DataFrame:
    """The answers that ``name`` has: a row for each question.

    ``name`` is one of these:

    - a folder of ``lke score --out``, or one with several, whose folders are its relations;
    - a finished run;
    - an experiment of ``results/``;
    - a file of ``lm_eval --log_samples``, or a folder of such files, whose tasks are its relations.

    Columns:

    - ``model``, ``relation``, ``fact``;
    - ``correct``: a number;
    - where they are known: ``estimator``, ``subject``, ``draw``, ``template``;
    - ``digest``: of the facts; ``question`` and ``text``: digests of all that was asked; ``options``: a
      digest of the options alone (where they are known).

    :class:`BadInput` for anything else, and for answers without ``correct``.
    """
    path, found = Path(name), None
    logs = [path] if path.is_file() else sorted(path.glob("*.jsonl"))
    with in_one_line(f"{name} cannot be read"):
        if (path / "manifest.json").is_file():
            found = read_frame(path / "answers.parquet").drop(columns="source", errors="ignore")
            of_facts = (read_manifest(path).get("facts") or {}).values()
            found["digest"] = " ".join(sorted(of_facts))
        elif files := sorted(path.rglob(OPTIONS)):
            found = pd.concat([*map(_scored, files)], ignore_index=True)
        elif logs:
            found = pd.concat([*map(_samples, logs)], ignore_index=True)
        elif NAME.fullmatch(name) and not path.exists():
            found = results(name)
    if found is None:
        raise BadInput(
            f"{name} is no folder of lke score --out, finished run, file of lm_eval --log_samples or name in "
            "results/"
        )
    if lacking := [each for each in ("relation", "fact", "correct") if each not in found]:
        raise BadInput(f"{name}: its rows have no {lacking[0]!r}; right and wrong are compared")
    found["model"] = found["model"].fillna(name) if "model" in found else name
    return found.assign(correct=found["correct"].astype(float)).dropna(subset=["correct"])


def _scored(path: Path) -> pd.DataFrame:
    """The answers in the options that ``lke score`` wrote: a row for each fact."""
    rows = read_frame(path)
    facts, found = rows.groupby("fact", sort=False), rows.drop_duplicates("fact").set_index("fact")
    right = choice.answers(rows)["correct"] if "logprob" in rows else rows[rows["gold"]]["share"]
    found["correct"] = right.to_numpy()  # both are in the order in which facts first appear
    found["options"] = facts["option"].agg(lambda some: _digest(sorted(some)))
    asked = facts[["context", "option", "gold"]]
    found["text"] = asked.apply(lambda some: _digest(some.to_numpy().tolist()))
    if "relation" not in found:
        found["relation"] = path.parent.name
    own = ["context", "continuation", "option", "gold", "logprob", "n_tokens", "share"]
    return found.drop(columns=own, errors="ignore").reset_index()


def _digest(what: Sequence) -> str:
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12]


def _samples(path: Path) -> pd.DataFrame:
    """The samples of a task of lm-evaluation-harness: ``relation`` is the task, ``fact`` the document."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = pd.DataFrame([json.loads(line) for line in lines if line.strip()])
    task = named[1] if (named := OF_TASK.fullmatch(path.stem)) else path.stem
    # An answer by log-likelihood is a number and whether it is the likeliest. Other answers are texts.
    texts = [isinstance(of[0][0], str) for of in rows.get("resps", [])]
    if "acc" not in rows or rows["acc"].isna().any() or any(texts):
        raise BadInput(
            f"{path}: {task} has no acc of log-likelihoods; tasks that generate text are not compared"
        )
    fact = rows["doc_id"].astype(str) + (" " + rows["doc_hash"] if "doc_hash" in rows else "")
    return pd.DataFrame({"relation": task, "fact": fact, "correct": rows["acc"].astype(float)})
