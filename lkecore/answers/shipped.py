"""Shipped: results beside a run's own answers, as pages take them that do not read whole files yet.

``profile`` is a ``source`` in ``results/<notebook>.parquet`` (:mod:`lkecore.answers.results`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from lkecore.answers.results import (
    CHECKS,
    Missing,
    about_of,
    check_name,
    part,
    path_of,
    read_file,
    what_made,
)  # fmt: skip
from lkecore.errors import BadInput
from lkecore.models import lab, weights
from lkecore.prompts.draws import DRAW

DRAWS = "draws"  # kept apart by runs; among the answers that ship, with a ``draw`` above 0
NAMED = "19_iclke_generation"  # whose runs have the draw in the name of the estimator
WHO_AND_HOW = {  # parameters that draw no fact
    "models", "estimators", "n_choice", "n_redraws", "n_redraw_facts", "results", "n_again", "shipped",
    "page",
}  # fmt: skip


def read(
    profile: str, notebook: str, folder: Path | None = None, *, apart: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """(answers, what made them) of a notebook's runs in a longer profile, as these runs kept them.

    With ``apart`` they are those that the runs kept apart under this name. The second has what
    ``made_by.csv`` has, with ``models`` and ``worlds``, digests by name, ``versions`` and ``parameters``.
    Raises as :func:`rows`.
    """
    frame, about = rows(profile, notebook, folder, apart=apart)
    if "relation" in about["parameters"]:  # a single one, which these runs did not say in each row
        frame = frame.drop(columns="relation", errors="ignore")
    return frame.drop(columns=CHECKS, errors="ignore"), about


def rows(
    profile: str, notebook: str, folder: Path | None = None, *, apart: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """What :func:`read` gives, with the columns that the answers can be checked by, and each relation.

    Raises :class:`BadInput` where there are none, and as :func:`lkecore.answers.results.results`.
    """
    check_name("profile", profile, "results")
    name = notebook if apart in ("", DRAWS) else f"{notebook}-{apart}"
    whole = read_file(pq.read_table, path := path_of(name, folder))
    about = about_of(what_made(notebook, profile, folder))
    mine = whole["source"].to_pandas() == profile
    redrawn = whole["draw"].to_pandas().gt(0) if "draw" in whole.column_names else mine & False
    is_first = "n_redraws" in about["parameters"] and apart != DRAWS and notebook != NAMED
    if is_first or apart == DRAWS:
        mine &= ~redrawn if is_first else redrawn
    if not mine.any():
        raise Missing(f"no results {path}{apart and f', {apart},'} of {profile}")
    frame = part(whole, mine).drop(columns=["source", *["draw"] * is_first], errors="ignore")
    if "fact" in frame and frame["fact"].str.isdecimal().all():  # of facts that are not ours
        frame["fact"] = frame["fact"].astype(int)
    if notebook == NAMED and "draw" in frame:
        others = frame["estimator"] + DRAW + frame.pop("draw").astype(str)
        frame["estimator"] = frame["estimator"].where(others.str.endswith(f"{DRAW}0"), others)
    if "logprob" in frame:
        frame["probability"] = np.exp(frame["logprob"])
    return frame, about


def together(
    found: Mapping[str, tuple[pd.DataFrame, Mapping[str, Any]]],
) -> dict[str, pd.DataFrame]:
    """Answers of results by name; those about the same facts put together, under the first name.

    ``found``: what `read` gives, by name. Two profiles may have an estimator each, or a model each, of
    the same facts: then their parameters differ in ``WHO_AND_HOW`` alone. The oldest results do not say
    what was asked, and stay alone. Raises :class:`BadInput`, naming the results, where such facts had
    other options, or where one answer is there twice and once right.
    """
    joined = {}
    for names in _of_same_facts({name: about for name, (_, about) in found.items()}):
        frame = pd.concat([found[name][0] for name in names], ignore_index=True)
        if len(names) > 1:
            answer = ["model", "estimator", "relation", "fact"]
            frame = frame.drop_duplicates([*answer, "correct"])
            # The most of a relation: of a fact the scorer of one model may have left out an option.
            most = frame.groupby(answer[:-1])["n_options"].max()
            if most.groupby("relation").nunique().max() > 1 or frame.duplicated(answer).any():
                raise BadInput(
                    f"results {', '.join(names)}: of the same facts, but they contradict"
                )
        joined[names[0]] = frame
    return joined


def _of_same_facts(abouts: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Names of results, those about the same facts in one list."""
    groups: dict[str, list[str]] = {}
    for name, about in abouts.items():
        given = about["parameters"]
        rest = {key: given[key] for key in sorted(given) if key not in WHO_AND_HOW}
        groups.setdefault(json.dumps(rest) if given else name, []).append(name)
    return list(groups.values())


def beside(
    ours: pd.DataFrame,
    profiles: Sequence[str],
    notebook: str,
    *,
    join: bool = True,
    carried: str = "",
) -> pd.DataFrame:
    """The answers of this run, and below them those of a notebook that ship, told by ``source``.

    ``source`` is "this page" or "shipped: " and the name of a profile; profiles that asked the same facts in
    other ways, or other models, are one source, under the name of the first. With ``join=False`` each stays
    a source of its own, as where a fact is asked many times, with other shots. Where ``ours`` are the
    answers of a profile themselves, ``carried`` names it: of that one only other models stand below. What
    ships without a column of ours has NaN there. The order within a source is that of its answers.
    Raises :class:`BadInput` as :func:`read` and :func:`together`.
    """
    read_all = _without(ours, {name: read(name, notebook) for name in profiles}, carried)
    found = together(read_all) if join else {name: frame for name, (frame, _) in read_all.items()}
    sources = {"this page": ours} | {f"shipped: {name}": each for name, each in found.items()}
    return pd.concat([f.assign(source=name) for name, f in sources.items()], ignore_index=True)


def alone(profiles: Sequence[str], notebook: str) -> pd.DataFrame:
    """What :func:`beside` has below this run's answers: those of a notebook that ship, told by ``source``."""
    found = together({name: read(name, notebook) for name in profiles})
    return pd.concat(
        [f.assign(source=f"shipped: {n}") for n, f in found.items()], ignore_index=True
    )


def beside_models(
    ours: pd.DataFrame, profiles: Sequence[str], notebook: str, *, apart: str = ""
) -> pd.DataFrame:
    """The rows of this run, and below them those of other models that ship of a notebook, told by ``source``.

    A model stands there once: as this run asked it, else as the first of the profiles did. The sources have
    the names of :func:`beside`. ``apart`` as for :func:`read`, whose errors it raises.
    """
    parts, there = [ours.assign(source="this page")], set(ours["model"].unique())
    for name in profiles:
        frame, _ = read(name, notebook, apart=apart)
        others = frame[~frame["model"].isin(there)]
        parts.append(others.assign(source=f"shipped: {name}"))
        there |= set(frame["model"].unique())
    return pd.concat(parts, ignore_index=True)


def _without(
    ours: pd.DataFrame,
    found: dict[str, tuple[pd.DataFrame, dict[str, Any]]],
    carried: str,
) -> dict[str, tuple[pd.DataFrame, dict[str, Any]]]:
    """What `read` found, by profile; of ``carried`` only the models that ``ours`` has not."""
    if carried not in found:
        return found
    frame, about = found[carried]
    others = frame[~frame["model"].isin(ours["model"].unique())]
    return found | {carried: (others, about)}


def made_by(profiles: Sequence[str], notebook: str, *, apart: str = "") -> list[str]:
    """What made the shipped answers of a notebook, a text for each profile, and how to make them again.

    It names the models of the lab that answered with other weights than those that ship.
    """
    lines = []
    for name in profiles:
        _, about = read(name, notebook, apart=apart)
        each = f"shipped: {line(about)}; to make it again: {about['command']}"
        if others := _other_weights(about["models"]):
            each += f". With other weights than those that ship: {', '.join(others)}"
        lines.append(fill(each, 79, subsequent_indent="  ", break_on_hyphens=False))
    return lines


def _other_weights(digests: Mapping[str, str]) -> list[str]:
    """The names of {model: digest} under which other weights of the lab ship."""
    ships = [name for name in digests if lab.is_name(name) and lab.ships(name)]
    return [name for name in ships if weights.files_digest(lab.folder(name)) != digests[name]]


def line(about: dict[str, Any]) -> str:
    """What made some results, in one line for a page.

    The minutes are those of the runs that ended; the line says how much runs before them had scored. Models
    of the lab are trained before.
    """
    kept, took = about["chunks_from_cache"], f"{about['seconds'] / 60:.0f} min"
    if kept:
        took += f" ({kept} of {about['chunks']} parts scored before)"
    if kept and kept == about["chunks"]:
        took = "scored in earlier runs"  # the minutes are those of reading
    elif about["worlds"]:
        took += " without training"
    made = f"profile {about['profile']}, {about['started'][:10]}, {took}"
    where = "" if about["device"] == "CPU" else f" on {about['device']}"
    return f"{made}{where}, lkecore at {about['commit']}"


def called(model: str, source: str) -> str:
    """A model with the source of its answers, for a sentence.

    >>> called("smollm2", "this page"), called("smollm2", "shipped: trex")
    ('smollm2', 'smollm2 on trex')
    """
    place = source.removeprefix("shipped: ")
    return model if source == "this page" else f"{model} on {place}"


def sources_of(rows: pd.DataFrame) -> str:
    """The ``source`` of some answers; several with a comma between, this page's first, as of a difference.

    >>> sources_of(pd.DataFrame({"source": ["shipped: b", "this page", "shipped: a", "this page"]}))
    'this page, shipped: a, shipped: b'
    """
    every = sorted(rows["source"].unique(), key=lambda name: (name != "this page", name))
    return ", ".join(every)
