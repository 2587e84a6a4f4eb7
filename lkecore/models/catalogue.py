"""The models of the four papers, whether each can be loaded, and how large it is.

``data/models.csv`` has a row for each model; models that no paper asks come last. Access and weights are
stated only if the column ``source`` names who says so. Otherwise they are ``unknown`` until
``lke models lock`` has asked the hub. ``remote_code`` is whether transformers lacks the architecture.
"""

import functools
import json
import math
from pathlib import Path

import pandas as pd

from lkecore import hub
from lkecore.errors import BadInput, nearest
from lkecore.models import weights
from lkecore.storage import DATA

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}  # of a parameter
NOMINAL = {"smollm2": 135_000_000, "gemma3-270m": 270_000_000}  # not in `models.csv`
LONGEST_HEADER = 100_000_000  # bytes, the limit of the safetensors format


@functools.cache
def _table() -> pd.DataFrame:
    path = DATA / "models.csv"
    return pd.read_csv(path, keep_default_na=False, na_values={"params_b": [""]})


def papers_models() -> pd.DataFrame:
    """The rows of :func:`models` for the models of the four papers."""
    found = models()
    return found[found["papers"] != ""]


def models() -> pd.DataFrame:
    """The models of the catalogue, a row for each.

    - ``hub_id``: empty if it was never published; ``name``: as the paper calls it;
    - ``family``; ``model_type``: that of transformers; ``params_b``: nominal, in 1e9;
    - ``kind``: causal, masked or seq2seq;
    - ``base_model``: the hub id of the model that it was fine-tuned from, or empty;
    - ``papers``: IC, PZ, XT, BL, joined by ";"; empty if no paper asks it;
    - ``access``: open, gated, withdrawn or unknown;
    - ``weights``: safetensors, bin or unknown; ``remote_code``: yes or no;
    - ``source``, ``note``;
    - ``file`` and ``sha256``, for a repository of GGUF files: the file that is meant, and its digest
      (:func:`lkecore.models.embedded.hub_id_of`).
    """
    return _table().copy()


def hub_ids() -> list[str]:
    """The repositories that ``lke models lock`` asks about: all that this package could read."""
    table = _table()
    return list(table.loc[(table["hub_id"] != "") & (table["remote_code"] == "no"), "hub_id"])


def access(name: str) -> str:
    """How a model can be had, in one line.

    The line begins with ``loadable``, ``convertible`` (by ``lke models convert``), ``gated`` (terms to
    accept), ``published only`` (with the reason), or ``loadable or convertible: not checked yet``. The lock
    file of ``LKE_MODELS_LOCK`` takes precedence over the catalogue, and a model that is on this machine is
    loadable. No network is asked.
    """
    row = _row(name)
    if row is not None and not row["hub_id"]:
        return f"published only: {row['note']}"
    if weights.is_ready(name):
        return "loadable (on this machine)"
    if (found := weights.kind_of(name).stored(name)) is not None:
        return _by_weights(name, found)
    if row is not None and row["remote_code"] == "yes":
        return "published only: it needs code of its own, which is never run"
    locked = hub.in_force().get(hub.plain(name).partition("@")[0])
    if locked is not None:
        gated, found = locked.gated == "yes", locked.weights
    elif row is not None:
        gated, found = row["access"] == "gated", row["weights"]
        found = "unknown" if row["access"] == "unknown" else found
    else:
        gated, found = False, "unknown"
    if gated:
        return "gated: accept its terms on its page, then set HF_TOKEN or call hf auth login"
    return _by_weights(name, found)


def _by_weights(name: str, found: str) -> str:
    return {
        "safetensors": "loadable",
        "bin": f"convertible: only .bin weights, call lke models convert {name}",
        "gguf": "published only: GGUF weights; download the file and name it",
        "none": "published only: no weights that can be read",
        "unknown": "loadable or convertible: not checked yet (lke models lock)",
    }[found]


def _row(name: str) -> pd.Series | None:
    """The row of a hub id, with or without revision, or of a name for a model that never had an id."""
    table = _table()
    known = table["hub_id"].where(table["hub_id"] != "", table["name"])
    found = table[known == hub.plain(name).partition("@")[0]]
    return found.iloc[0] if len(found) else None


def is_tuned(name: str) -> bool | None:
    """Whether a model was fine-tuned after its pre-training; None for a model that is listed nowhere.

    >>> is_tuned("tiiuae/falcon-7b-instruct"), is_tuned("tiiuae/falcon-7b"), is_tuned("mine")
    (True, False, None)
    """
    if (known := weights.kind_of(name).is_tuned(name)) is not None:
        return known
    row = _row(name)
    if row is None:
        return None
    return bool(row["base_model"]) or "instruction-tuned" in row["note"]


def n_parameters(name: str) -> int | None:
    """The number of a model's parameters; None if it is not known. Loads no weights, asks no network.

    If the model is on this machine the number is exact, as stored: tied weights count once if they are
    stored once. Otherwise it is the nominal size.
    """
    row = _row(name)
    if weights.is_served(name):  # a folder of its tokenizer may have weights, too
        return None
    folder = None if row is not None and not row["hub_id"] else weights.present(name)
    if folder is not None:
        return sum(_stored(file) for file in weights.weight_files(folder))
    if row is None or math.isnan(row["params_b"]):
        return NOMINAL.get(name)
    return round(row["params_b"] * 1e9)


def _stored(file: Path) -> int:
    """The number of numbers in a safetensors file, by its header: its length in 8 bytes, then JSON."""
    try:
        with open(file, "rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            if length > LONGEST_HEADER:
                raise ValueError(f"a header of {length} bytes")
            header = json.loads(handle.read(length))
        tensors = (entry for key, entry in header.items() if key != "__metadata__")
        return sum(math.prod(entry["shape"]) for entry in tensors)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{file}: not a readable safetensors file ({error})") from error


def resident_bytes(n_parameters: int, dtype: str) -> int:
    """The bytes that the weights take in memory, without activations and the KV cache."""
    if dtype not in BYTES:
        raise BadInput(f"unknown dtype {dtype!r}; {nearest(dtype, BYTES)}")
    return n_parameters * BYTES[dtype]


def listing() -> list[str]:
    """The table of the papers' models as lines of text, with how each can be had."""
    columns = ["name", "hub id", "family", "params", "fine-tuned from", "papers", "access"]
    rows = [columns]
    for row in papers_models().to_dict("records"):
        size = "?" if math.isnan(row["params_b"]) else f"{row['params_b']:g} B"
        how = access(row["hub_id"] or row["name"])
        tuned = "instruction-tuned" if "instruction-tuned" in row["note"] else "-"
        origin = row["base_model"] or tuned
        cells = [row["name"], row["hub_id"] or "-", row["family"], size, origin, row["papers"], how]
        rows.append(cells)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
