"""Sides: answers to compare, from wherever they are kept: a row a question, the same columns for all."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from lkecore.answers.align import as_text
from lkecore.answers.kept import read_manifest
from lkecore.answers.results import NAME, results
from lkecore.errors import BadInput, first_line, nearest
from lkecore.stats import choice
from lkecore.storage import read_frame

OPTIONS = "options.parquet"  # what lke score writes
OF_TASK = re.compile(
    r"samples_(.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl"
)  # what lm_eval --log_samples does
CHOICES = ("source", "model", "estimator")  # columns by which a side is chosen


def read(name: str) -> pd.DataFrame:
    """The answers that ``name`` has: a row a question, with ``model``, ``relation``, ``fact``, ``correct``.

    ``name`` is a folder of ``lke score --out``, or one with several of them, whose own folders are its
    relations; a finished run; an experiment of ``results/``; or a file of ``lm_eval --log_samples``, or a
    folder with several, whose tasks are its relations. ``correct`` is a number in [0, 1]. If they are kept:
    ``estimator``, ``subject``, ``draw``, ``template`` and so on; ``question`` and ``text``, digests of all
    that was asked; ``options`` and ``document``, of the options or the document alone. BadInput for anything
    else, and for answers without ``correct``.
    """
    path, found = Path(name), None
    if (path / "manifest.json").is_file():
        found = _file(path / "answers.parquet").drop(columns="source", errors="ignore")
        digests = read_manifest(path).get("facts") or {}
        found = found.assign(fact_set=next(iter(digests.values()))) if len(digests) == 1 else found
    elif files := sorted(path.rglob(OPTIONS)):
        found = pd.concat([_scored(file, path) for file in files], ignore_index=True)
    elif (
        files := sorted(path.glob("*.jsonl")) if path.is_dir() else [path] if path.is_file() else []
    ):
        found = pd.concat([_samples(file) for file in files], ignore_index=True)
    elif NAME.fullmatch(name):
        found = results(name)
    if found is None:
        raise BadInput(
            f"{name}: no folder of lke score --out, finished run, file of lm_eval --log_samples or name in "
            "results/"
        )
    if lacking := [each for each in ("relation", "fact", "correct") if each not in found]:
        raise BadInput(
            f"{name}: its rows have no {lacking[0]!r}; answers that are right or wrong are compared"
        )
    found = found.assign(model=found["model"].fillna(name) if "model" in found else name)
    return found.assign(correct=found["correct"].astype(float)).dropna(subset=["correct"])


def chosen(frame: pd.DataFrame, name: str, draw: int = 0, **given: str | None) -> pd.DataFrame:
    """The rows of one source, model and estimator (``CHOICES``), as far as they are given, and of one draw.

    ``name`` is what a message calls the frame. BadInput for a value that no row has, and if several sources
    or estimators are left.
    """
    for column, value in given.items():
        if value is not None:
            there = [*map(str, frame[column].unique())] if column in frame else []
            if value not in there:
                raise BadInput(f"{name} has no {column} {value!r}; {nearest(value, there)}")
            frame = frame[frame[column] == value]
    if "draw" in frame and frame["draw"].notna().all():
        rows = as_text(frame["draw"]) == str(draw)
        if not rows.any():
            raise BadInput(
                f"{name} has no draw {draw}; {nearest(str(draw), as_text(frame['draw']).unique())}"
            )
        frame = frame[rows]
    for column in ("source", "estimator"):
        if column in frame and len(several := [*map(str, frame[column].unique())]) > 1:
            raise BadInput(
                f"{name} has {len(several)} {column}s; choose with --{column}: {', '.join(several)}"
            )
    return frame


def _file(path: Path) -> pd.DataFrame:
    try:
        return read_frame(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read ({first_line(error)})") from error


def _scored(path: Path, folder: Path) -> pd.DataFrame:
    """The answers behind the options that ``lke score`` wrote: a row a fact."""
    rows = _file(path)
    if lacking := [c for c in ("fact", "context", "option", "gold") if c not in rows]:
        raise BadInput(f"{path}: it has no column {lacking[0]!r}, as lke score writes")
    of = rows.groupby("fact", sort=False)
    kept = [c for c in ("subject", "model", "estimator", "relation", "question") if c in rows]
    found = of[kept].first() if kept else pd.DataFrame(index=of.size().index)
    if "share" in rows:  # of a rule's guesses
        found["correct"] = rows[rows["gold"].astype(bool)].set_index("fact")["share"]
    else:
        found["correct"] = choice.answers(rows).set_index("fact")["correct"]
    found["text"] = of[["context", "option", "gold"]].apply(
        lambda part: _digest(part.to_numpy().tolist())
    )
    found["options"] = of["option"].apply(lambda some: _digest(sorted(some)))
    if "relation" not in found:
        found["relation"] = path.parent.relative_to(folder).as_posix().removeprefix(".")
    return found.reset_index()


def _digest(what: Sequence) -> str:
    return hashlib.sha256(json.dumps(what, default=str).encode()).hexdigest()[:12]


def _samples(path: Path) -> pd.DataFrame:
    """The samples of a task of lm-evaluation-harness: ``relation`` is the task, ``fact`` the document."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: not JSON Lines ({first_line(error)})") from error
    if not rows or not all(isinstance(row, dict) and "doc_id" in row for row in rows):
        raise BadInput(
            f"{path}: no samples of lm_eval --log_samples; a row is an object with doc_id"
        )
    task = OF_TASK.fullmatch(path.name)
    task = task[1] if task else path.stem
    if any("acc" not in row or _is_text(row.get("resps")) for row in rows):
        raise BadInput(
            f"{path}: {task} has no acc of log-likelihoods; tasks that generate text are not compared"
        )
    found = pd.DataFrame(
        {"fact": [row["doc_id"] for row in rows], "correct": [row["acc"] for row in rows]}
    )
    if all("doc_hash" in row for row in rows):
        found["document"] = [row["doc_hash"] for row in rows]
    return found.assign(relation=task)


def _is_text(answers: object) -> bool:
    """Whether a sample's answers are texts: those of log-likelihoods are pairs, of a number and a flag."""
    while isinstance(answers, list) and answers and isinstance(answers[0], list):
        answers = answers[0]
    some = answers if isinstance(answers, list) and answers else [None]
    return isinstance(some[0], str) and some[-1] not in ("True", "False")
