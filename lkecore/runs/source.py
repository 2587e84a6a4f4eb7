"""Source: digests of the package's code and data, all of it, or what a notebook can reach of it.

What a notebook reaches is told from the names that its cells and our modules use (:mod:`lkecore.runs.reach`).
"""

import functools
import hashlib
import json
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from lkecore.runs import reach
from lkecore.storage import DATA, code_of, remembered

# What a worker has imported before a notebook begins (lkecore.runs.warm).
BEFORE = [
    "papermill", "nbformat", "nbclient", "jupytext", "ipykernel.kernelapp", "ipykernel.ipkernel",
    "ipykernel.debugger",
    "matplotlib.pyplot", "matplotlib.backends.backend_svg", "seaborn", "scipy.stats",
    "statsmodels.stats.proportion", "pyarrow.parquet", "pyarrow.dataset",
    "pyarrow.pandas_compat", "pandas.io.formats.csvs", "pandas.io.formats.html",
    "torch", "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto",
    "transformers.models.llama.modeling_llama", "myst_nb", "myst_nb.ext.glue",
    "lkecore.answers", "lkecore.facts", "lkecore.figures", "lkecore.models", "lkecore.papers",
    "lkecore.prompts", "lkecore.runs.worker", "lkecore.scores.tree",
]  # fmt: skip
# What most notebooks read first, and a process then remembers: a module, its function, what this is given.
READ = [
    ("lkecore.scores.store", "programs", "tree"), ("lkecore.facts.atlas", "relations"),
    ("jupytext", "reads", "# %% [markdown]\n# a\n\n# %%\n1", "py:percent"),  # the schema of notebooks
    ("transformers.conversion_mapping", "get_checkpoint_conversion_mapping", "llama"),
]  # fmt: skip
# What every worker does, and how it is started.
WORKING = (
    "lkecore.runs.worker", "lkecore.runs.forked_kernel", "lkecore.runs.imported", "lkecore.runs.warm",
)  # fmt: skip


def source_digest() -> str:
    """SHA-256 over all code and data of the package: what a version number cannot say.

    Comments and docstrings do not count: a better explanation makes no run anew.
    """
    files = _files()

    def of_code() -> str:
        digest = hashlib.sha256()
        for name, content in files.items():
            digest.update(f"{name}\n".encode())
            digest.update(code_of(content.decode()).encode() if name.endswith(".py") else content)
        return digest.hexdigest()

    return _remembered("whole", files, of_code)


def reached_digest(cells: Sequence[str]) -> str:
    """SHA-256 over the code and the tables of the package that the code cells of a notebook can reach.

    That is what they name, what every worker does, and what this names in turn. So a change in what one
    page alone needs makes no other page anew. Cells that are not plain Python, or import the package as a
    whole or by a name that only a run knows, can reach everything. Of the tables, the files of ``data``,
    it has those that a module within reach names, and those that no module names.
    """
    files = _files()
    table = _table(files)
    reached, code, data = _reached(tuple(cells), table), _read(table)["code"], _read(table)["data"]
    named = {place for module in reached for place in data.get(module, ())}
    known = {place for places in data.values() for place in places} - {""}
    digest = hashlib.sha256()
    for name in sorted(reached):
        digest.update(f"{name} {code[name]}\n".encode())
    for name, content in files.items():
        if not name.endswith(".py") and (_among(name, named) or not _among(name, known)):
            digest.update(f"{name}\n".encode() + content)
    return digest.hexdigest()


def _among(file: str, named: set[str]) -> bool:
    """Whether a file of the package is one of those named, or in such a folder; "" is all of data."""
    parts = file.removeprefix("data/").split("/")
    return "" in named or any("/".join(parts[: i + 1]) in named for i in range(len(parts)))


@functools.lru_cache(maxsize=100)  # a plan of 500 jobs has few notebooks
def _reached(cells: tuple[str, ...], table: str) -> frozenset[str]:
    """The modules that cells reach, and what every worker does."""
    known = _read(table)
    begin = reach.of_cells(cells, known)
    begin = set(known["edges"]) if begin is None else begin | {*WORKING}
    found: set[str] = set()
    while begin := (begin & known["edges"].keys()) - found:
        found |= begin
        begin = {name for module in begin for name in known["edges"][module]}
    return frozenset(name.removesuffix(reach.WHOLE) for name in found)


def _dotted(path: str) -> str:
    """The name of a module, by its path inside the package."""
    parts = [reach.PACKAGE, *path.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _table(files: dict[str, bytes]) -> str:
    """What :func:`lkecore.runs.reach.of_modules` finds, and the digest of the code of each, as JSON."""
    ours = {name: content for name, content in files.items() if name.endswith(".py")}

    def of_code() -> str:
        texts = {_dotted(name): content.decode() for name, content in ours.items()}
        packages = {_dotted(name) for name in ours if name.endswith("__init__.py")}
        code = {n: hashlib.sha256(code_of(text).encode()).hexdigest() for n, text in texts.items()}
        return json.dumps(reach.of_modules(texts, packages) | {"code": code})

    return _remembered("reach", ours, of_code)


@functools.lru_cache(maxsize=4)  # a plan of 500 jobs asks for each
def _read(table: str) -> reach.Table:
    return json.loads(table)


def _files() -> dict[str, bytes]:
    """{path inside the package: content} of all its files, in order: a folder's lie together."""
    top = DATA.parent
    found = {}
    for folder, _, names in os.walk(top):
        inside = Path(folder).relative_to(top)
        for name in names:
            if not name.endswith(".pyc"):
                with open(os.path.join(folder, name), "rb") as file:
                    found[(inside / name).parts] = file.read()
    return {"/".join(parts): found[parts] for parts in sorted(found)}


def _remembered(what: str, files: dict[str, bytes], make: Callable[[], str]) -> str:
    """To read all code takes a process a second, and to see that it is that of before some milliseconds."""
    key = hashlib.sha256(f"{what} {platform.python_version()}\n".encode())
    for name, content in files.items():
        key.update(f"{name}\n{len(content)}\n".encode() + content)
    return remembered("sources", key.hexdigest(), make)
