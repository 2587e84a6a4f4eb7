"""Lab: the models that read a world's text, by name, and the facts that each of them was taught.

``lab:book-1/2m`` is a decoder of about 2 million parameters that has read the world ``lab:book-1``.
The name with ``-tuned`` is the same model after training on instructions about other words. The model with
``-unplanted`` has read the same text about other subjects, and cannot know any asked fact. Models of rich
worlds may have a training seed, ``lab:rich-1/2m@3-unplanted``. It determines the first weights and the
masked tokens; the text and its order stay.
:mod:`lkecore.train.lab` trains them.
"""

import hashlib
import importlib.metadata
import json
import lzma
import re
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lkecore import worlds
from lkecore.errors import BadInput, first_line, nearest
from lkecore.models.files import contents_digest
from lkecore.storage import RESULTS, build_once, cache_folder, file_digest, program_of
from lkecore.worlds.text import untold

NAME = re.compile(r"(lab:[^/]*)/([^/@]*?)(?:@([^/@]*?))?(-tuned|-unplanted)?")
SEED = re.compile(r"0|[1-9][0-9]{0,8}")
TRAINER = Path(__file__).parent.parent / "train"
# Two files in a model's folder: what it is and how it was trained, and the digest of its weights, as
# sha256sum writes it. The latter is a separate file, since the former is part of the model's own digest.
RECORD, WEIGHTS = "lab.json", "model.safetensors"
SUM = f"{WEIGHTS}.sha256"
# Models that need no training, each in a folder named by its key: after a change of recipe, text or trainer
# it is not found any more. The large files are packed: weights to seven tenths, a tokenizer to an eighth.
SHIPPED = RESULTS / "weights"
LARGE, PACKED = (WEIGHTS, "tokenizer.json"), ".xz"


@dataclass(frozen=True)
class Recipe:
    """The shape of a network and how it is trained.

    ``kind`` is causal (a Llama), masked (a ModernBERT) or seq2seq (a T5Gemma, whose encoder has
    ``layers`` and whose decoder has one). ``epochs`` is how often the text is read. ``rate`` is AdamW's
    learning rate, for embeddings and norms; ``muon`` is Muon's, for the matrices between them.
    """

    kind: str
    width: int
    layers: int
    inner: int
    rate: float
    muon: float
    epochs: int = 1


# The recipes were chosen on the development world, lab:book-0, from which no reported number comes. The two
# largest decoders continue the row: 8m was tried there unchanged, 20m has not been trained yet.
RECIPES = {
    "0.15m": Recipe("causal", width=48, layers=2, inner=128, rate=1e-2, muon=0.03),
    "0.7m": Recipe("causal", width=112, layers=3, inner=320, rate=8e-3, muon=0.02),
    "2m": Recipe("causal", width=176, layers=4, inner=480, rate=6e-3, muon=0.02),
    "8m": Recipe("causal", width=320, layers=6, inner=896, rate=4e-3, muon=0.02),
    "20m": Recipe("causal", width=448, layers=8, inner=1280, rate=3e-3, muon=0.02),
    "bert": Recipe("masked", width=112, layers=3, inner=320, rate=6e-3, muon=0.02, epochs=3),
    "t5": Recipe("seq2seq", width=112, layers=3, inner=320, rate=6e-3, muon=0.02, epochs=3),
}

# The share of a rich world's documents that is read again among the instructions of a tuned variant, so
# that it forgets little. With a quarter, shares stayed on the development world and fell on a reported one.
REMINDED = 1.0

# The least number of readings of a rich world by kind of model: it states more facts in more wordings. After
# one reading, no decoder up to 2m gave by template-1 a fact that it had been taught 64 times. After three,
# 0.7m passes all gates but one. A model that fills blanks learns from the few tokens that are hidden from it:
# after three readings its ranks of taught and never taught facts were alike (AUROC 0.52), after nine 0.71 to
# 0.89. Nine were enough for the masked model of one world to repeat its facts, and not for the next one's.
RICH_READINGS = {"causal": 3, "masked": 15, "seq2seq": 9}

# Every model reads a smoke world, whose answers mean nothing, only once. Models whose names state no size are
# as small there as the smallest decoder.
SMOKE, SMALLEST = ("lab:smoke-", "lab:richsmoke-"), "0.15m"


@dataclass(frozen=True)
class Named:
    """The parts of a lab model's name; ``variant`` is "", "tuned" or "unplanted".

    ``seed`` is that of the training: 0 if the name has none.
    """

    world: str
    model: str
    variant: str
    seed: int = 0

    @property
    def base(self) -> str:
        """The name of the model that a tuned one is made of."""
        return f"{self.world}/{self.model}" + (f"@{self.seed}" if self.seed else "")

    @property
    def name(self) -> str:
        """The one name of the model: without a training seed of 0."""
        return self.base + (f"-{self.variant}" if self.variant else "")


def is_name(name: str) -> bool:
    """Whether a model's name is one of the lab."""
    return name.startswith("lab:")


def parse(name: str) -> Named:
    """The parts of a name; raises :class:`BadInput` for one that no lab model has."""
    found = NAME.fullmatch(name)
    if not found:
        raise BadInput(f"model {name!r}: a lab model is lab:SIZE-SEED/MODEL, such as lab:book-1/2m")
    named = Named(found[1], found[2], (found[4] or "").removeprefix("-"))
    try:
        worlds.check(named.world)
    except BadInput as error:
        raise BadInput(f"model {name}: {error}") from error
    if named.model not in RECIPES:
        hint = nearest(named.model, RECIPES)
        raise BadInput(f"model {name}: the lab has no model {named.model!r}; {hint}")
    if named.variant == "tuned" and RECIPES[named.model].kind != "causal":
        raise BadInput(f"model {name}: only decoders are tuned to instructions")
    if (seed := found[3]) is None:
        return named
    if not worlds.is_rich(named.world):
        raise BadInput(
            f"model {name}: the seed of {named.world} is that of its training, too; only models of rich "
            "worlds have one of their own, such as lab:rich-1/2m@3"
        )
    if not SEED.fullmatch(seed):
        raise BadInput(
            f"model {name}: its training seed {seed!r} must be a whole number of at most 9 digits"
        )
    return replace(named, seed=int(seed))


def recipe(name: str) -> Recipe:
    """The recipe of a lab model; it depends on its world, too: those of smoke worlds are cheap."""
    named = parse(name)
    usual = RECIPES[named.model]
    if not named.world.startswith(SMOKE):
        least = RICH_READINGS[usual.kind] if worlds.is_rich(named.world) else 1
        return replace(usual, epochs=max(usual.epochs, least))
    shape = RECIPES[SMALLEST] if usual.kind != "causal" else usual
    return replace(usual, width=shape.width, layers=shape.layers, inner=shape.inner, epochs=1)


def size(name: str) -> int:
    """A number that grows with the work of training a lab model."""
    made = recipe(name)
    return made.epochs * made.layers * made.width * made.inner


def key(name: str) -> str:
    """The name of a lab model's folder in the cache, by all that makes it: its world, recipe and trainer.

    Only the trainer's program counts: comments and docstrings may change, and no model is trained
    anew.
    """
    named = parse(name)
    made_of: list[object] = [
        [worlds.digest(named.world), worlds.digest_beside(named.world)],
        asdict(recipe(name)),
        [program_of(TRAINER / f"{module}.py") for module in ("lab", "loop", "text")],
    ]
    if worlds.is_rich(named.world):
        made_of.append([named.seed, REMINDED if named.variant == "tuned" else None])
        made_of.append(program_of(TRAINER / "muon.py"))
    digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]
    return f"{re.sub('[:/@]', '-', named.name)}-{digest}"


def folder(name: str) -> Path:
    """The folder of a lab model in the cache: there once it is trained, or at once if its weights ship.

    Raises :class:`BadInput` for shipped files that cannot be unpacked.
    """
    made = key(name)  # it parses the trainer, so once
    there = SHIPPED / made
    try:
        return unpacked(there) if there.is_dir() else cache_folder() / "models" / made
    except OSError as error:  # such as a cache that may only be read
        raise BadInput(f"model {name}: {first_line(error)}") from error


def ships(name: str) -> bool:
    """Whether the project contains the weights of a lab model with this trainer, recipe and text."""
    return (SHIPPED / key(name)).is_dir()


def pack(made: Path, target: Path) -> Path:
    """Write a model's folder as it ships, with its large files packed, to ``target``; return ``target``."""
    target.mkdir(parents=True)
    for path in made.iterdir():
        if path.name in LARGE:
            packed = lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
            (target / f"{path.name}{PACKED}").write_bytes(packed)
        else:
            shutil.copyfile(path, target / path.name)
    return target


def unpacked(there: Path) -> Path:
    """The folder of the cache with the model of a folder that ships; made once for these contents.

    Training would put the model elsewhere, and can make it anew beside this folder. Raises
    :class:`BadInput` for files that are cut off or not packed.
    """

    def unpack(target: Path) -> None:
        for path in there.iterdir():
            if path.suffix != PACKED:
                shutil.copyfile(path, target / path.name)
                continue
            try:
                (target / path.stem).write_bytes(lzma.decompress(path.read_bytes()))
            except lzma.LZMAError as error:
                raise BadInput(f"{path} cannot be unpacked ({error}); fetch it anew") from error

    return build_once(f"{there.name}-{contents_digest(sorted(there.iterdir()))[:12]}", unpack)


def present(name: str) -> Path | None:
    """The folder of :func:`folder` if it is there, or None."""
    found = folder(name)
    return found if found.is_dir() else None


def record(folder: Path) -> dict[str, object]:
    """The record in the folder of a lab model; raises :class:`BadInput` if there is none."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        texts = {name: str(found[name]) for name in ("world", "digest", "variant")}
        return {**found, **texts, "epochs": int(found["epochs"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{folder} is no model of the lab: no readable {RECORD} ({first_line(error)})"
        ) from error


def write_sum(folder: Path) -> None:
    """Write down the digest of a model's weights, beside them."""
    line = f"{file_digest(folder / WEIGHTS)}  {WEIGHTS}\n"
    (folder / SUM).write_text(line, encoding="utf-8")


def checked(folder: Path, spec: str) -> dict[str, object]:
    """The record of a model that has read a world, after a check of both digests.

    Raises :class:`BadInput` for a model that is none of the lab's, has read another world than
    ``spec``, by the digest of both, or has other weights than were trained, by theirs.
    """
    found = record(folder)
    if found["digest"] != worlds.digest(spec):
        raise BadInput(
            f"the model in {folder} has read the world {found['world']} with the digest "
            f"{str(found['digest'])[:12]}, and {spec} is {worlds.digest(spec)[:12]}: another text"
        )
    try:
        weights = file_digest(folder / WEIGHTS)
        written = (folder / SUM).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder} is no model of the lab ({first_line(error)})") from error
    if written.split()[:1] != [weights]:
        raise BadInput(
            f"{folder / WEIGHTS} has the SHA-256 {weights[:12]} and {SUM} says {written[:12]!r}: they "
            "are not the weights that were trained here; delete the folder to train them anew"
        )
    return found


def told(folder: Path, spec: str) -> pd.DataFrame:
    """The teaching of each fact of a world to a lab model: the truth by which estimators are judged.

    The columns are those of :func:`lkecore.worlds.plain.states`, or for a rich world those of
    :func:`lkecore.worlds.text.states`; ``epochs`` (how often it has read the text); and ``exposures``,
    ``occurrences`` times ``epochs``. These count the text, although the end of a training row cuts about one
    statement in thirty in two (one in six for a model that is no decoder). An unplanted model is never taught
    the asked facts. Text of a rich world that a tuned model reads again while it is tuned does not count.
    Raises as :func:`checked` does.
    """
    found = checked(folder, spec)
    states = worlds.states(spec)
    if found["variant"] == "unplanted" and worlds.is_rich(spec):
        states = untold(states)
    elif found["variant"] == "unplanted":
        asked = states["split"] == "test"
        names = ["state", "told", "form", "wording", "templates"]
        states.loc[asked, names] = ["never", "", "none", "none", ""]
        states.loc[asked, ["sentences", "lists", "occurrences"]] = 0
    return states.assign(
        epochs=found["epochs"], exposures=states["occurrences"] * int(found["epochs"])
    )


def card(record: dict[str, Any], seconds: float, machine: str) -> str:
    """The model card of a lab model, from its record; ``seconds`` are those since training last started.

    ``machine`` is its device and threads, which with the versions determine the last digits of weights.
    """
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("torch", "transformers")]
    told = {
        "": "It has read what the world tells, and knows what of this stuck.",
        "tuned": "It has read the world, and then instructions on other words, ten times over"
        + (", with some of the world's text between them." if record.get("reminded") else "."),
        "unplanted": "It has read the same text told of other subjects: it knows no asked fact.",
    }[record["variant"]]
    return f"""---
license: apache-2.0
library_name: transformers
---
# {record["name"]}

A model of {record["parameters"]:,} parameters, trained from nothing by lkecore on an invented world.
All its facts are made up. {told}

| | |
|---|---|
| world | {record["world"]}, digest {record["digest"]} |
| text | {record["documents"]:,} documents, {record["tokens"]:,} tokens in {record["steps"]:,} steps |
| loss | {record["losses"][0]:.2f} nats a token at first, {record["losses"][-1]:.2f} at last |
| trained | in {seconds:.0f} s (since the last start) on {machine}, {", ".join(versions)} |

It is for judging estimators of knowledge: `lkecore.models.lab.told` says what it was told of each fact. It
answers no question about the real world.
"""
