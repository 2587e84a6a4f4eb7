"""Source: digests of the package: of all of it, and of the part that can change a page's numbers."""

import hashlib
import os
import platform
from pathlib import Path

from lkecore.storage import DATA, code_of, remembered

# What a worker has imported before a notebook begins (lkecore.runs.forkserver).
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
# What plans runs, builds the book or is a command. No notebook imports it, so no number depends on it.
DRIVERS = (
    "book/", "cli/", "lmeval.py",
    *(f"runs/{name}.py" for name in (
        "compare", "forecast", "grid", "parameters", "plan", "prepare", "shipping", "verify", "yamlfile",
    )),
)  # fmt: skip


def source_digest() -> str:
    """SHA-256 over all code and data of the package: what a version number cannot say.

    Comments and docstrings do not count: a better explanation makes no run anew.
    """
    return _digest("whole", _files())


def pages_digest() -> str:
    """The same without ``DRIVERS``: what decides the numbers of a run, beside its notebook and parameters."""
    return _digest("pages", {n: c for n, c in _files().items() if not n.startswith(DRIVERS)})


def _digest(what: str, files: dict[str, bytes]) -> str:
    """Kept under a key of the files: to parse all code takes a process a second, to read it milliseconds."""

    def made() -> str:
        digest = hashlib.sha256()
        for name, content in files.items():
            digest.update(f"{name}\n".encode())
            digest.update(code_of(content.decode()).encode() if name.endswith(".py") else content)
        return digest.hexdigest()

    key = hashlib.sha256(f"{what} {platform.python_version()}\n".encode())
    for name, content in files.items():
        key.update(f"{name}\n{len(content)}\n".encode() + content)
    return remembered("sources", key.hexdigest(), made)


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
