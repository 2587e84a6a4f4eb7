"""Shipping: from the finished runs of a longer profile to results that ship with the project."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from lkecore import facts, runs
from lkecore.answers import rules
from lkecore.answers.shipped import (
    CHECKS,
    FOLDER,
    MADE_BY,
    MADE_OF,
    NUMBERS,
    VERSIONS,
    joined,
    packed,
    part,
    read_file,
    rounded,
    table,
)  # fmt: skip
from lkecore.errors import BadInput
from lkecore.models import lab
from lkecore.models.embedded import hub_id_of
from lkecore.prompts.draws import DRAW
from lkecore.runs.parameters import GONE
from lkecore.runs.plan import Plan
from lkecore.storage import read_frame, read_table, write_whole
from lkecore.worlds import digest as digest_of_world

KEPT = re.compile(r"answers(-[a-z]+)*\.parquet")  # the files of a run that ship
DRAWS = "answers-draws.parquet"
HERE = ["margin"]  # columns that serve the run alone
# Columns with names of facts; text, answer and picked come from a model.
NAMES = ["subject", "object", "text", "answer", "picked"]
KEY = ["source", "draw", "model"]  # the columns by which rows are put in order
SURE = ["confidence", "confidence_gold"]
MOST_BYTES = 12_000_000  # of all results together: they are part of every clone


def ship_results(
    plan: Plan, runs_folder: Path, folder: Path = FOLDER, *, add: bool = False
) -> list[Path]:
    """Write the runs of a plan into the results of each notebook; returns the files.

    The rows have the plan's profile as ``source``, and replace those of this source in the file. With ``add``
    the plan has some models only, and the shipped rows of the others stay. ``made_by.csv`` records what made
    them. Raises :class:`BadInput`, and writes nothing, as :func:`found` does, if all results together would
    be larger than 12 MB, or if the added models were asked otherwise than the others.
    """
    frames, made = found(plan, runs_folder)
    before = table(folder)
    of_source = before["source"].eq(plan.profile) & before["experiment"].isin(made["experiment"])
    if add:
        _check_added(before[of_source], made, plan.profile)
    for path in folder.glob("*.parquet"):
        if path.stem.partition("-")[0] in set(made["experiment"]):
            frames.setdefault(path.stem, pd.DataFrame())  # these runs have no file of this kind
    files: dict[Path, bytes | str | None] = {}
    for name, now in frames.items():
        path = folder / f"{name}.parquet"
        models = made.loc[made["experiment"] == name.partition("-")[0], "model"].tolist()
        files[path] = among(path, now, plan.profile, models if add else None)
    gone = of_source & (before["model"].isin(made["model"]) if add else True)
    files[folder / MADE_BY] = with_rows(before, gone, made)
    others = [
        path for path in folder.glob("*.*") if path not in files and path.suffix == ".parquet"
    ]
    size = sum(len(data or "") for data in files.values()) + sum(p.stat().st_size for p in others)
    if size > MOST_BYTES:
        raise BadInput(f"the results would be {size:,} bytes, and {MOST_BYTES:,} are the most")
    for path, content in files.items():
        path.unlink(missing_ok=True) if content is None else write_whole(path, content)
    return [path for path in files if path.stem in frames and len(frames[path.stem])]


def found(plan: Plan, runs_folder: Path) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """({name of a file: its frame} that ships of the finished runs of a plan, the rows of ``made_by.csv``).

    Answers of all runs of a notebook come one below the other, in the order of the plan. Below them are the
    answers after other shots, whose ``draw`` is above 0. What all runs keep in a separate file
    (``answers-<kind>.parquet``) has a file of its own; no other file of a run ships. A row also has the
    values by which an answer can be checked, unless nobody could check it. Without the facts, where they are
    not ours, nobody can ask again, and nobody can ask models of the lab whose weights do not ship.

    Facts of a set that is not part of the project have numbers in place of their ids, and no columns with
    names (``NAMES``): an id is made of names, and we may not publish the names. One fact has one number in
    all runs, and in separate files, too, unless other facts were asked there. After other shots such facts
    have no confidence, which no page shows.

    Raises :class:`BadInput` if a run is missing or unfinished, if no notebook keeps answers, or if a model
    or a fact set is a path of this machine.
    """
    frames: dict[str, pd.DataFrame] = {}
    made: list[dict[str, Any]] = []
    for row in plan.rows:
        if row.reads:
            continue
        folders = [runs.run_folder(runs_folder, each) for each in row.jobs]
        manifests = [runs.manifest(each) for each in folders]
        name = row.whole.notebook.stem
        if None in manifests:
            raise BadInput(
                f"{manifests.count(None)} of {len(folders)} runs of {name} are missing; first: lke run"
            )
        of_each = [{p.name for p in each.iterdir() if KEPT.fullmatch(p.name)} for each in folders]
        if row.whole.effective.get("sources") and set.intersection(*of_each):
            raise BadInput(f"{name}: with `sources` a few questions are asked; to ship, name none")
        kept = {
            file: pd.concat([read_frame(each / file) for each in folders], ignore_index=True)
            for file in sorted(set.intersection(*of_each))
        }
        # No fact set, or an empty one: facts of ours, or of the worlds that models have read.
        ours = facts.is_ours(row.whole.effective.get("fact_set") or "atlas")
        asked = kept.get("answers.parquet")
        for file, frame in kept.items():
            if file == rules.FILE:  # it is about the facts, the same in all runs
                frame = frame.drop_duplicates(ignore_index=True)
            kept[file] = ships_as(frame, ours, asked, sure=file != DRAWS)
        if DRAWS in kept:
            first = kept["answers.parquet"]
            first.insert(list(first).index("fact"), "draw", 0)
            kept["answers.parquet"] = pd.concat([first, kept.pop(DRAWS)], ignore_index=True)
        frames |= {
            file.removesuffix(".parquet").replace("answers", name, 1): frame
            for file, frame in kept.items()
        }
        made += _made(plan.profile, row.whole, manifests) if kept else []
    if not frames:
        raise BadInput(
            f"no notebook of profile {plan.profile} keeps answers.parquet: there are no results"
        )
    return frames, pd.DataFrame(made, columns=MADE_OF)


def ships_as(
    frame: pd.DataFrame, ours: bool, asked: pd.DataFrame | None = None, *, sure: bool = True
) -> pd.DataFrame:
    """A frame of a run as it ships: with fewer digits, and without names of facts that are not ``ours``.

    The values by which answers can be checked (``CHECKS``) ship where others can ask the same model the same
    question. The numbers of facts come from ``asked``, if all facts of the frame are in it, and otherwise
    from the frame.
    """
    frame = frame.drop(columns=HERE, errors="ignore")
    if not ours:
        frame = _numbered(frame, asked).drop(columns=CHECKS, errors="ignore")
        frame = frame if sure else frame.drop(columns=SURE, errors="ignore")
    elif "question" in frame:  # nobody can ask models of the lab whose weights do not ship
        there = {m for m in frame["model"].unique() if not lab.is_name(m) or lab.ships(m)}
        checks = [name for name in CHECKS if name in frame]
        frame = frame.drop(columns=checks) if not there else frame.copy()
        if there:
            frame.loc[~frame["model"].isin(there), checks] = None
    if {"logprob", "probability"} <= set(frame):
        frame = frame.drop(columns="probability")  # its exponential is redundant
    if "estimator" in frame and frame["estimator"].str.contains(DRAW, regex=False).any():
        names = frame["estimator"].str.partition(DRAW)
        frame = frame.assign(estimator=names[0], draw=names[2].replace("", "0").astype(int))
    if "fact" in frame:
        frame = frame.assign(fact=frame["fact"].astype(str))
    if "model" in frame:
        frame = frame.assign(model=frame["model"].map(_name_of))
    return rounded(frame)


def among(
    path: Path, now: pd.DataFrame, source: str, models: list[str] | None = None
) -> bytes | None:
    """A file of results with new rows of a source, or of some ``models`` of it; None if no row is left.

    Sources keep their order, and where some models are added, so do the models of this source.
    """
    now = now if now.empty else now.assign(source=source)[["source", *now.columns]]
    none = joined([pd.DataFrame({"source": []}, dtype=str)])
    then = read_file(read_table, path) if path.exists() else none
    old = then.select([name for name in KEY if name in then.column_names]).to_pandas()
    gone = old["source"] == source
    if models is not None:
        if now.empty and not gone.any():
            return path.read_bytes()
        if now.empty or not gone.any():
            lacks = "these runs keep" if now.empty else f"{source} has of other models"
            raise BadInput(f"{path.name}: {lacks} nothing of the kind; make all of {source} anew")
        its = part(then, gone)
        if set(now) - set(CHECKS) != set(its) - set(CHECKS):
            raise BadInput(
                f"{path.name} has other columns than these runs; make all of {source} anew"
            )
        if "model" not in now:  # it is about the facts
            if not now[its.columns].equals(its):
                raise BadInput(f"{path.name} is about other facts than these runs asked")
            return path.read_bytes()
        gone &= old["model"].isin(models)
    whole = joined([then.filter(pa.array(~gone)), now])
    if "draw" in whole.column_names:  # a source that was asked after one draw has no such column
        at = whole.column_names.index("draw")
        whole = whole.set_column(at, "draw", whole["draw"].fill_null(0))
    rank = whole.select([name for name in KEY if name in whole.column_names]).to_pandas()
    every = pd.concat([old, now], ignore_index=True)
    mine = rank["source"].eq(source)
    rank["source"] = rank["source"].map(list(every["source"].unique()).index)
    by = ["source"]
    if models is not None:
        ours = list(every.loc[every["source"] == source, "model"].unique())
        rank["model"] = rank["model"].where(mine, ours[0]).map(ours.index)
        rank["draw"] = rank["draw"].gt(0) & mine if "draw" in rank else 0
        by = KEY
    order = rank.sort_values(by, kind="stable").index.to_numpy()
    return packed(whole.take(order)) if len(whole) else None


def with_rows(before: pd.DataFrame, gone: pd.Series, made: pd.DataFrame) -> str:
    """``made_by.csv`` with new rows in place of those that are gone; models keep their order."""
    key = ["experiment", "source", "model"]
    places = pd.concat([before, made])[key].drop_duplicates(ignore_index=True)
    every = pd.concat([before[~gone], made]).merge(places.reset_index(names="place"), on=key)
    every = every.sort_values(["experiment", "source", "place"])[MADE_OF]
    return every.to_csv(index=False, lineterminator="\n")


def _check_added(then: pd.DataFrame, made: pd.DataFrame, source: str) -> None:
    """Raise :class:`BadInput` unless added models were asked with the parameters of the shipped ones."""
    for name, given in made.groupby("experiment")["parameters"].first().items():
        there = then.loc[then["experiment"] == name, "parameters"]
        if there.empty:
            raise BadInput(f"no results {name} of {source}, to which models could be added")
        now = json.loads(given)
        for key, value in json.loads(there.iloc[0]).items():
            if key not in {*GONE, "sources"} and now.get(key) != value:
                raise BadInput(
                    f"results {source} of {name} have {key} = {value}, and these runs have {now.get(key)}: "
                    "only models can be added"
                )


def _name_of(model: Any) -> Any:
    """The hub id in place of a .gguf file that the catalogue knows, also in lists; else the value itself."""
    if not isinstance(model, str):
        return [_name_of(each) for each in model] if isinstance(model, list) else model
    file = Path(model)
    known = hub_id_of(file) if file.suffix == ".gguf" and file.is_file() else None
    return known or model


def _numbered(frame: pd.DataFrame, asked: pd.DataFrame | None = None) -> pd.DataFrame:
    """A frame without names; ``fact`` is its number among the asked facts of its relation, by their ids."""
    frame = frame.drop(columns=NAMES, errors="ignore")
    if "fact" not in frame:
        return frame
    key = [name for name in ("relation", "fact") if name in frame]
    mine = frame[key].drop_duplicates()
    if asked is not None and set(key) <= set(asked):
        among = asked[key].drop_duplicates()
        mine = among if len(mine.merge(among)) == len(mine) else mine
    by = mine.groupby("relation")["fact"] if "relation" in key else mine["fact"]
    numbers = mine.assign(number=by.rank(method="dense").astype(int))
    return frame.assign(fact=frame.merge(numbers, on=key, how="left")["number"].to_numpy())


def _made(source: str, whole: runs.Job, manifests: list[Any]) -> list[dict[str, Any]]:
    """The rows of ``made_by.csv`` about the runs of a notebook, one for each model."""
    file = Path("sources", f"{source}.yaml")
    if not (whole.notebook.parent.parent / file).exists():  # a reader's own run
        file = Path("params", file.name)
    models = {_name_of(name): digest for m in manifests for name, digest in m["models"].items()}
    paths = [name for name in models if Path(name).exists()]
    paths += [spec for spec in runs.facts_of(whole.effective) if Path(spec).is_absolute()]
    if paths:
        raise BadInput(f"{paths[0]} is a path of this machine and cannot ship; give it a name")
    given = {key: _name_of(value) for key, value in whole.effective.items() if key != "models"}
    said = {
        name: ", ".join(sorted({m[name] for m in manifests}))
        for name in ("commit", "source", *VERSIONS)
    }
    devices = {name for m in manifests for name in m.get("device_names") or ["CPU"]}
    trained = {each for m in manifests for each in m.get("trained_in", ["unknown"])} or {"none"}
    of_runs = {
        **said,
        **{name: round(sum(m[name] for m in manifests), 1) for name in NUMBERS},
        "experiment": whole.notebook.stem,
        "source": source,
        "command": f"lke run {file}, then lke results {file}",
        "started": min(m["started"] for m in manifests),
        "device": ", ".join(sorted(devices)),
        "trained_in": ", ".join(sorted(trained)),
        "code": said["source"],
        "parameters": json.dumps(given),
    }
    found = []
    for name, digest in (models or {"": ""}).items():
        world = lab.parse(name).world if lab.is_name(name) else ""
        of_world = digest_of_world(world) if world else ""
        about = {"model": name, "digest": digest, "world": world, "world_digest": of_world}
        found.append(of_runs | about)
    return found
