"""Ask: the data of the page "Ask it yourself", as scripts: a browser fetches no file from ``file://``."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors import deserialize

from lkecore import facts, stats, storage, worlds
from lkecore.answers.shipped import results
from lkecore.models import lab
from lkecore.worlds.wordings import about, relations
from lkecore.worlds.world import world

PAGE = "ask"  # a page of the book: ask.md, and its folder in _static
WORLD = "lab:rich-1"
MODELS = [f"{WORLD}/{size}" for size in ("2m", "0.7m", "0.7m-unplanted")]
STATES = ["planted", "mislearned", "uncertain", "never"]
FIELDS = ["subject", "object", "told_objects", "told_times", "sentences", "lists", "templates"]
FIELDS += ["by_alias", "object_by_alias", "mentions", "cue_object", "control"]  # of a fact
FOUND = ("58_lab_found", "56_lab_fooled")  # results: confidence of all three models, by pairs
OFTEN = 16  # tellings, at least, of the told facts of the game


def write(folder: Path) -> None:
    """Write ``facts.js`` and the weights of each model that ships into a folder: same input, same bytes.

    ``facts.js`` names these scripts; the page says of a model without one that it is not there. Raises
    :class:`BadInput` for results of another world than is made now.
    """
    scripts = {name: f"weights-{name.rpartition('/')[2]}.js" for name in MODELS}
    for script in scripts.values():
        (folder / script).unlink(missing_ok=True)  # of an earlier build
    there = {name: script for name, script in scripts.items() if lab.ships(name)}
    for name, script in there.items():
        _put(folder / script, f"models[{json.dumps(name)}]", packed(lab.folder(name)))
    read = {"models": MODELS, "scripts": there, "epochs": lab.recipe(MODELS[0]).epochs}
    read |= {"often": OFTEN, "fields": FIELDS, "relations": told() if there else []}
    _put(folder / "facts.js", "facts", read)


def _put(path: Path, name: str, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    storage.write_whole(path, f"(globalThis.LKE_ASK ??= {{models: {{}}}}).{name}={text};\n")


def packed(folder: Path) -> dict[str, Any]:
    """A model for engine.js: config, tensors (name, number of values), tokenizer, weights in bfloat16."""
    names = ("config.json", "tokenizer.json")
    config, bpe = (json.loads((folder / each).read_text(encoding="utf-8")) for each in names)
    tensors = sorted((n, t["data"]) for n, t in deserialize((folder / lab.WEIGHTS).read_bytes()))
    planes = np.frombuffer(b"".join(data for _, data in tensors), "u1").reshape(-1, 2).T.tobytes()
    ids, merges = bpe["model"]["vocab"], bpe["model"]["merges"]
    signs = "".join(sorted(ids, key=ids.get)[2:258])  # of bytes, after <pad> and <s>
    tokenizer = {"alphabet": signs, "merges": [ids[each] for pair in merges for each in pair]}
    weights = base64.b64encode(gzip.compress(planes, 6, mtime=0)).decode()
    sizes = [(name, len(data) // 2) for name, data in tensors]
    return {"config": config, "tensors": sizes, "tokenizer": tokenizer, "weights": weights}


def told() -> list[dict[str, Any]]:
    """The facts of each relation with FIELDS, and the AUROC of each model's confidence with its interval.

    Fields are those of the states, with these exceptions: ``object``, ``cue_object`` and the ``control`` of a
    fact that is often stated are places in lists, -1 for none. ``opening`` is the often stated fact in which
    the first model has the highest confidence.
    """
    sure = pd.concat(map(results, FOUND)).query("estimator == 'iclke-space' and model in @MODELS")
    sure = sure.pivot(index="fact", columns="model", values="confidence_gold")[MODELS]
    names, states, every = relations(), worlds.states(WORLD).set_index("fact"), []
    sample = facts.draw(WORLD, names, n_shots=50, n_facts=1, n_options=2, seed=0)  # for its shots
    asked = states.query("split == 'test' and n_objects == 1 and state in @STATES")
    for name, own in asked.groupby("relation"):
        often = own.query("state == 'planted' and occurrences >= @OFTEN")
        objects, of, shots = world(WORLD).objects[name], about(name), sample[name].shots
        at, place = ({each: i for i, each in enumerate(some)} for some in (objects, own.index))
        control = often["control"].map(place).reindex(own.index, fill_value=-1)
        cue = own["cue_object"].map(at).fillna(-1).astype(int)
        rows = own.assign(object=own["object"].map(at), cue_object=cue, control=control)[FIELDS]
        pair = (sure.loc[ids].reset_index(drop=True) for ids in (often.index, often["control"]))
        again = stats.auroc(*pair, of=often["subject"].reset_index(drop=True), n=2000)
        auroc = stats.interval(again).set_axis(MODELS).round(3).T.to_dict("list")
        found = {"name": name, "label": of.label, "cue": of.cue, "templates": of.templates}
        found |= {"shots": [[s.subject, at[s.object]] for s in shots], "objects": objects}
        found |= {"facts": rows.to_numpy(object).tolist(), "auroc": auroc}
        every.append(found | {"opening": place[sure.loc[often.index, MODELS[0]].idxmax()]})
    return every
