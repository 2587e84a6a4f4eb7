"""Results: what longer profiles found, small enough to lie in the project beside the notebooks.

A page of the book profile has minutes. What took hours is made once, by the same notebooks, and what
their runs kept is gathered here: ``results/<profile>/<notebook>.parquet``, with a ``.json`` of the
same name that says what made it. What a run keeps apart from its answers (other estimators, asked
otherwise) stands beside it as ``<notebook>-<name>.parquet``. Pages show it as what it is, another
run's numbers.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore import lab, runs, world
from lkecore.cache import write_whole
from lkecore.plan import Plan
from lkecore.rows import BadInput, first_line

FOLDER = runs.RESULTS
KEPT = "answers.parquet"  # what a run keeps for this
# And what page 50 keeps apart from them: EIC-LKE's answers, and written ones.
APART = ("eic", "written")
# Columns with names of facts; text is what a model said of them.
NAMES = ["subject", "object", "text"]
MOST_BYTES = 5_000_000  # of all results together: they are part of every clone
ABOUT = (
    "profile", "notebook", "command", "started", "seconds", "commit", "source", "versions", "models",
    "worlds",
)  # fmt: skip
WHO_AND_HOW = {"models", "formats", "n_choice", "shipped", "page"}  # parameters that draw no fact
LATER: dict[str, Any] = {"parameters": {}, "chunks": 0, "chunks_from_cache": 0}


def gather(plan: Plan, runs_folder: Path, folder: Path = FOLDER) -> list[Path]:
    """Write the results of every notebook of a plan whose runs keep answers; returns the files.

    The answers of all runs of a notebook stand one below the other, in the order of the plan. What
    runs keep apart from them (``APART``) has a file of its own. Texts that models wrote are large, and
    stay with the runs. Facts of a set that is not part of the project have numbers in the place of their
    ids, and no columns with names (``NAMES``): an id is made of names, and the names are not ours to give
    away. One fact has one number in all runs (another, where other facts were asked, in what was kept
    apart).
    Raises :class:`BadInput`, and writes nothing, if a run is missing or unfinished, if no notebook
    keeps answers, if a model or a fact set is a path of this machine, or if all results together
    would be larger than 5 MB.
    """
    files: dict[str, bytes | str] = {}
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
        if not all((each / KEPT).exists() for each in made):
            continue
        spec = row.whole.effective.get("fact_set", "atlas")
        ours = spec == "atlas" or world.is_spec(spec)
        kinds = [(KEPT, name), *((f"{part}.parquet", f"{name}-{part}") for part in APART)]
        for kept, file in kinds:
            if all((each / kept).exists() for each in made):
                parts = [pd.read_parquet(each / kept) for each in made]
                frame = pd.concat(parts, ignore_index=True).drop(columns="text", errors="ignore")
                files[f"{file}.parquet"] = _packed(frame if ours else _numbered(frame))
        files[f"{name}.json"] = json.dumps(_about(plan, row.whole, manifests), indent=1) + "\n"
    if not files:
        raise BadInput(f"no notebook of profile {plan.profile} keeps {KEPT}: there are no results")
    target = folder / plan.profile
    others = [p for p in folder.rglob("*.parquet") if p.parent != target or p.name not in files]
    size = sum(len(data) for data in files.values()) + sum(p.stat().st_size for p in others)
    if size > MOST_BYTES:
        raise BadInput(f"the results would be {size:,} bytes, and {MOST_BYTES:,} are the most")
    for name, content in files.items():
        write_whole(target / name, content)
    for notebook in (Path(name).stem for name in files if name.endswith(".json")):
        for old in {f"{notebook}-{part}.parquet" for part in APART} - set(files):
            (target / old).unlink(missing_ok=True)  # of earlier runs: the .json is not about it
    return [target / name for name in files if name.endswith(".parquet")]


def read(
    profile: str, notebook: str, folder: Path = FOLDER, *, apart: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """(answers, what made them) of a notebook's runs in a longer profile, as they ship.

    ``apart`` is one of ``APART``: then it is what the runs kept under this name beside the answers.

    The second has the keys of ``ABOUT``: ``command`` that makes them again, ``started`` (UTC) and
    ``seconds`` of all runs, ``commit`` and ``source`` of lkecore, the versions of what computed, and
    the digests of the models and of the lab's worlds; and the keys of ``LATER``, which the oldest
    results lack: the ``parameters`` of the notebook, and in how many ``chunks`` it scored.
    Raises :class:`BadInput` where there are none, which is so without a checkout of the project, and
    for answers about a world of the lab that is another one by now.
    """
    path = folder / profile / f"{notebook}{apart and '-'}{apart}.parquet"
    try:
        about = json.loads((path.parent / f"{notebook}.json").read_text(encoding="utf-8"))
        kept = {key: about[key] for key in ABOUT}
        kept |= {key: about.get(key, none) for key, none in LATER.items()}
        frame = pd.read_parquet(path)
    except FileNotFoundError as error:
        raise BadInput(f"no results {path}; they ship with a checkout of the project") from error
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"results {path} cannot be read ({first_line(error)})") from error
    if changed := [name for name, digest in kept["worlds"].items() if digest != world.digest(name)]:
        raise BadInput(
            f"results {path} are of another {changed[0]} than this version makes; make them anew "
            f"with {kept['command']}"
        )
    words = frame.select_dtypes("category").columns  # these would group by absent words, too
    return frame.astype(dict.fromkeys(words, str)), kept


def together(
    found: Mapping[str, tuple[pd.DataFrame, Mapping[str, Any]]],
) -> dict[str, pd.DataFrame]:
    """Answers of results by name; those about the same facts put together, under the first name.

    ``found``: what `read` gives, by name. Two profiles may have a format each, or a model each, of the
    same facts: then their parameters differ in ``WHO_AND_HOW`` alone. The oldest results do not say
    what was asked, and stay alone. Raises :class:`BadInput`, naming the results, where such facts had
    other options, or where one answer is there twice and once right.
    """
    groups: dict[str, list[str]] = {}
    for name, (_, about) in found.items():
        given = about["parameters"]
        rest = {key: given[key] for key in sorted(given) if key not in WHO_AND_HOW}
        groups.setdefault(json.dumps(rest) if given else name, []).append(name)
    joined = {}
    for names in groups.values():
        frame = pd.concat([found[name][0] for name in names], ignore_index=True)
        if len(names) > 1:
            fact, answer = ["relation", "fact"], ["model", "format", "relation", "fact"]
            frame = frame.drop_duplicates([*answer, "right"])
            n_options = frame.groupby(fact)["options"].nunique()
            if n_options.max() > 1 or frame.duplicated(answer).any():
                raise BadInput(
                    f"results {', '.join(names)}: of the same facts, but they contradict"
                )
        joined[names[0]] = frame
    return joined


def line(about: dict[str, Any]) -> str:
    """What made some results, in one line for a page.

    The minutes are those of the runs that ended; what runs before them had scored and kept did not
    have to be scored again, and the line says how much that was. Models of the lab are trained before.
    """
    kept = about["chunks_from_cache"]
    earlier = f" ({kept} of {about['chunks']} parts scored before)" if kept else ""
    earlier += " without training" if about["worlds"] else ""
    return (
        f"profile {about['profile']}, {about['started'][:10]}, {about['seconds'] / 60:.0f} min"
        f"{earlier}, lkecore at {about['commit']}"
    )


def _numbered(frame: pd.DataFrame) -> pd.DataFrame:
    """``fact`` as its number among the asked facts of its relation, by their ids; no names."""
    frame = frame.drop(columns=NAMES, errors="ignore")
    if "fact" not in frame:
        return frame
    by = frame.groupby("relation")["fact"] if "relation" in frame else frame["fact"]
    return frame.assign(fact=by.rank(method="dense").astype(int))


def _packed(frame: pd.DataFrame) -> bytes:
    """A frame as a small Parquet file: words as categories, numbers to seven digits."""
    words = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    numbers = frame.select_dtypes("float64").columns
    small = frame.astype({**dict.fromkeys(words, "category"), **dict.fromkeys(numbers, "float32")})
    return small.to_parquet(None, index=False, compression="zstd")


def _about(plan: Plan, whole: runs.Job, manifests: list[Any]) -> dict[str, Any]:
    commits, sources = ({m[key] for m in manifests} for key in ("commit", "source"))
    packages = ("python", "torch", "transformers", "numpy", "pandas")
    models = {name: digest for m in manifests for name, digest in m["models"].items()}
    paths = [name for name in models if Path(name).exists()]
    paths += [spec for spec in runs.facts_of(whole.effective) if Path(spec).is_absolute()]
    if paths:
        raise BadInput(f"{paths[0]} is a path of this machine and cannot ship; give it a name")
    worlds = sorted({lab.parse(name).world for name in models if lab.is_name(name)})
    return {
        "profile": plan.profile,
        "notebook": whole.notebook.stem,
        "command": f"lke run params/{plan.profile}.yaml, then lke results params/{plan.profile}.yaml",
        "parameters": whole.effective,
        "started": min(m["started"] for m in manifests),
        "seconds": round(sum(m["seconds"] for m in manifests), 1),
        "chunks": sum(m["chunks"] for m in manifests),
        "chunks_from_cache": sum(m["chunks_from_cache"] for m in manifests),
        "commit": ", ".join(sorted(commits)),
        "source": ", ".join(sorted(sources)),
        "versions": {p: ", ".join(sorted({m[p] for m in manifests})) for p in packages},
        "models": models,
        "worlds": {name: world.digest(name) for name in worlds},
    }
