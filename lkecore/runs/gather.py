"""Gather: from the finished runs of a longer profile to results that ship with the project."""

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from lkecore import facts, runs
from lkecore.answers import packing, rules, shipped
from lkecore.answers.again import CHECK
from lkecore.answers.shipped import FOLDER, KEPT
from lkecore.errors import BadInput
from lkecore.facts.worlds import digest as digest_of_world
from lkecore.models import lab
from lkecore.models.embedded import hub_id_of
from lkecore.runs.plan import Plan
from lkecore.storage import write_whole

# Columns with names of facts; text is what a model said of them.
NAMES = ["subject", "object", "text"]
# Of the same facts behind other shots pages count the right answers; nobody could ask those of others again.
DRAWS = "answers-draws.parquet"
SURE = ["confidence", "confidence_gold"]

MOST_BYTES = 10_000_000  # of all results together: they are part of every clone


def gather(
    plan: Plan, runs_folder: Path, folder: Path = FOLDER, *, add: bool = False
) -> list[Path]:
    """Write the results of every notebook of a plan whose runs keep answers; returns the files.

    The answers of all runs of a notebook stand one below the other, in the order of the plan. Those
    that all runs keep apart (``answers-<name>.parquet``) have a file of their own; no other file of a run
    ships. Facts of a set that is not part of the project have numbers in the place of their ids, and no
    columns with names (``NAMES``): an id is made of names, and the names are not ours to give away.
    One fact has one number in all runs, and in what was kept apart, too, unless other facts were asked there.
    What their answers could be checked by does not ship either: who has not the facts cannot ask again. Nor
    does it of models of the lab whose weights do not ship: trained elsewhere, they are not quite the same.
    Of facts that are not ours behind other shots (``DRAWS``) no confidence ships, which no page shows.
    With ``add`` the plan is a part, a copy of the whole params file with fewer models and notebooks: what
    ships of other models stays.
    Raises :class:`BadInput`, and writes nothing, if a run is missing or unfinished, if no notebook
    keeps answers, if a model or a fact set is a path of this machine, if all results together
    would be larger than 10 MB, or if a part does not fit to what ships.
    """
    packed, abouts = found(plan, runs_folder)
    if add:
        packed, abouts = _among(packed, abouts, folder / plan.profile)
    files: dict[str, bytes | str] = {**packed}
    files |= {f"{name}.json": json.dumps(a, indent=1) + "\n" for name, a in abouts.items()}
    target = folder / plan.profile
    others = [p for p in folder.rglob("*.parquet") if p.parent != target or p.name not in files]
    size = sum(len(data) for data in files.values()) + sum(p.stat().st_size for p in others)
    if size > MOST_BYTES:
        raise BadInput(f"the results would be {size:,} bytes, and {MOST_BYTES:,} are the most")
    for name, content in files.items():
        write_whole(target / name, content)
    for name in abouts:
        for old in target.glob(f"{name}*.parquet"):
            if old.name not in files and old.stem.partition("-")[0] == name:
                old.unlink()  # of earlier runs: the .json is not about it
    return [target / name for name in files if name.endswith(".parquet")]


def found(plan: Plan, runs_folder: Path) -> tuple[dict[str, bytes], dict[str, dict[str, Any]]]:
    """(files, what made them) of the finished runs of a plan, as `gather` would write them.

    The files by name, as Parquet; what made them by notebook. Raises as `gather` does, but for the size.
    """
    files: dict[str, bytes] = {}
    abouts: dict[str, dict[str, Any]] = {}
    for row in plan.rows:
        if row.reads:
            continue
        made = [runs.run_folder(runs_folder, each) for each in row.jobs]
        manifests = [runs.manifest(each) for each in made]
        name = row.whole.notebook.stem
        if None in manifests:
            raise BadInput(
                f"{manifests.count(None)} of {len(made)} runs of {name} are missing; first: lke run"
            )
        of_each = [{p.name for p in each.iterdir() if KEPT.fullmatch(p.name)} for each in made]
        kept = sorted(set.intersection(*of_each))
        # None, or an empty one: facts of ours, or of the worlds that models have read.
        fact_set = row.whole.effective.get("fact_set") or "atlas"
        if not facts.is_ours(fact_set):  # nobody here could ask again
            kept = [file for file in kept if not file.endswith(f"-{CHECK}.parquet")]
        frames = {
            file: pd.concat([pd.read_parquet(each / file) for each in made], ignore_index=True)
            for file in kept
        }
        for file, frame in frames.items():
            if "model" in frame:
                frame["model"] = frame["model"].map(_name_of)
            if file == DRAWS and not facts.is_ours(fact_set):
                frame = frame.drop(columns=SURE, errors="ignore")
            if file == rules.FILE:  # it is about the facts, the same in all runs
                frame = frame.drop_duplicates(ignore_index=True)
            if file.endswith(f"-{CHECK}.parquet"):
                frame = frame[frame["model"].isin([*filter(_is_there, frame["model"].unique())])]
                if frame.empty:  # nobody has any of the models
                    continue
            files[file.replace("answers", name, 1)] = packed_for(
                fact_set, frame, frames.get("answers.parquet")
            )
        if kept:
            abouts[name] = _about(plan, row.whole, manifests)
    if not files:
        raise BadInput(
            f"no notebook of profile {plan.profile} keeps answers.parquet: there are no results"
        )
    return files, abouts


def read_packed(data: bytes) -> pd.DataFrame:
    """A file of :func:`found` as :func:`lkecore.answers.shipped.read` would give it."""
    return packing.unpacked(pq.read_table(io.BytesIO(data)))


def _among(
    packed: dict[str, bytes], abouts: dict[str, dict[str, Any]], target: Path
) -> tuple[dict[str, bytes], dict[str, dict[str, Any]]]:
    """What `found` gives of some models, among what ships in ``target`` of others.

    The models that ship keep their order, and new ones stand behind them.
    """
    of_all, files = {}, dict(packed)
    for name, about in abouts.items():
        path = target / f"{name}.json"
        if not path.exists():
            raise BadInput(f"no results {path}, to which models could be added; gather all of them")
        of_all[name] = _about_both(json.loads(path.read_text(encoding="utf-8")), about)
        for old in target.glob(f"{name}*.parquet"):
            notebook, _, apart = old.stem.partition("-")
            if notebook == name:
                now = packed.get(old.name)
                files[old.name] = _both(old, apart, now, list(about["models"]))
    for file in packed:
        if not (target / file).exists() and not file.endswith(f"-{CHECK}.parquet"):
            raise BadInput(f"{file} does not ship of the other models; make all anew")
    return files, of_all


def _both(path: Path, apart: str, data: bytes | None, models: list[str]) -> bytes:
    """A file that ships with the rows of some models anew: ``data`` has them, None if there are none."""
    then, _ = shipped.read(
        path.parent.name, path.stem.partition("-")[0], path.parents[1], apart=apart
    )
    if data is None and not apart.endswith(CHECK):  # what nobody can check by has no file
        raise BadInput(f"{path.name} ships, and these runs keep none such; make all anew")
    now = then[:0] if data is None else read_packed(data)
    if set(now) != set(then):
        raise BadInput(f"{path.name} ships with other columns than these runs have; make all anew")
    if "model" not in now:  # it is about the facts
        if not now[then.columns].equals(then):
            raise BadInput(f"{path.name} ships of other facts than these runs asked")
        return path.read_bytes()
    if data is None and not then["model"].isin(models).any():
        return path.read_bytes()
    every = pd.concat([then[~then["model"].isin(models)], now[then.columns]])
    order = {name: i for i, name in enumerate(dict.fromkeys([*then["model"], *now["model"]]))}
    return packing.packed(
        every.sort_values("model", key=lambda column: column.map(order), kind="stable")
    )


def _about_both(then: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """What made results to which those of some models were added; all times and chunks count."""
    for key, value in then["parameters"].items():
        if key != "models" and now["parameters"].get(key) != value:
            raise BadInput(
                f"results {then['profile']} of {then['notebook']} have {key} = {value}, and these runs "
                f"have {now['parameters'].get(key)}: only models can be added"
            )
    both = {**then, **now}
    models = [about["parameters"]["models"] for about in (then, now)]
    both["parameters"] = then["parameters"] | {"models": list(dict.fromkeys(sum(models, [])))}
    both["started"] = min(then["started"], now["started"])
    for key in ("seconds", "chunks", "chunks_from_cache"):
        both[key] = round(then[key] + now[key], 1)
    for key in ("models", "worlds"):
        both[key] = then[key] | now[key]
    for key in ("commit", "source", "device"):
        both[key] = _all_of(then.get(key, "CPU"), now[key])
    both["versions"] = {
        name: _all_of(then["versions"][name], v) for name, v in now["versions"].items()
    }
    return both


def _all_of(*texts: str) -> str:
    """Texts with commas as one that says each thing once."""
    return ", ".join(sorted({each for text in texts for each in text.split(", ")}))


def _name_of(model: Any) -> Any:
    """What ships in the place of a .gguf file that the catalogue knows: its hub id; in lists, too."""
    if not isinstance(model, str):
        return [_name_of(each) for each in model] if isinstance(model, list) else model
    file = Path(model)
    known = hub_id_of(file) if file.suffix == ".gguf" and file.is_file() else None
    return known or model


def _is_there(model: str) -> bool:
    """Whether those who read the project have the very weights, or can fetch them."""
    return not lab.is_name(model) or lab.ships(model)


def packed_for(fact_set: str, frame: pd.DataFrame, asked: pd.DataFrame | None = None) -> bytes:
    """A frame about the facts of a set as the small file that ships, without names that are not ours.

    ``asked`` are the facts that give the numbers, if all of the frame are among them, else its own do.
    """
    return packing.packed(frame if facts.is_ours(fact_set) else _numbered(frame, asked))


def _numbered(frame: pd.DataFrame, asked: pd.DataFrame | None = None) -> pd.DataFrame:
    """``fact`` as its number among the asked facts of its relation, by their ids; no names."""
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


def _about(plan: Plan, whole: runs.Job, manifests: list[Any]) -> dict[str, Any]:
    commits, sources = ({m[key] for m in manifests} for key in ("commit", "source"))
    devices = {name for m in manifests for name in m.get("device_names") or ["CPU"]}
    packages = ("python", "torch", "transformers", "numpy", "pandas")
    models = {_name_of(name): digest for m in manifests for name, digest in m["models"].items()}
    paths = [name for name in models if Path(name).exists()]
    paths += [spec for spec in runs.facts_of(whole.effective) if Path(spec).is_absolute()]
    if paths:
        raise BadInput(f"{paths[0]} is a path of this machine and cannot ship; give it a name")
    worlds = sorted({lab.parse(name).world for name in models if lab.is_name(name)})
    return {
        "profile": plan.profile,
        "notebook": whole.notebook.stem,
        "command": f"lke run params/{plan.profile}.yaml, then lke results params/{plan.profile}.yaml",
        "parameters": {key: _name_of(value) for key, value in whole.effective.items()},
        "started": min(m["started"] for m in manifests),
        "seconds": round(sum(m["seconds"] for m in manifests), 1),
        "chunks": sum(m["chunks"] for m in manifests),
        "chunks_from_cache": sum(m["chunks_from_cache"] for m in manifests),
        "commit": ", ".join(sorted(commits)),
        "source": ", ".join(sorted(sources)),
        "versions": {p: ", ".join(sorted({m[p] for m in manifests})) for p in packages},
        "device": ", ".join(sorted(devices)),
        "models": models,
        "worlds": {name: digest_of_world(name) for name in worlds},
    }
