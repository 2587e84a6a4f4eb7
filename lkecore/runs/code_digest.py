"""Source: digests of the whole package, and of the part that can change a page's numbers."""

import hashlib
import os
import platform
from pathlib import Path

from lkecore.storage import DATA, code_of, remembered

# Modules that a worker has imported before a notebook begins (lkecore.runs.forkserver).
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
# Calls that most notebooks make first, and a process then remembers: a module, its function, the arguments.
READ = [
    ("lkecore.scores.store", "programs", "tree"), ("lkecore.facts.atlas", "relations"),
    ("jupytext", "reads", "# %% [markdown]\n# a\n\n# %%\n1", "py:percent"),  # the schema of notebooks
    ("transformers.conversion_mapping", "get_checkpoint_conversion_mapping", "llama"),
]  # fmt: skip
# Modules that plan runs, build the book or are a command. No notebook imports one: no number depends on them.
DRIVERS = (
    "book/", "cli/", "lmeval.py",
    *(f"runs/{name}.py" for name in (
        "compare", "forecast", "grid", "parameters", "plan", "prepare", "shipping", "verify", "yamlfile",
    )),
)  # fmt: skip


def source_digest() -> str:
    """SHA-256 over all code and data of the package; unlike the version number it changes with any of them.

    Comments and docstrings do not count: a better explanation makes no run anew.
    """
    return _digest("whole", _files())


def pages_digest() -> str:
    """SHA-256 over all but ``DRIVERS``: this, the notebook and its parameters decide the numbers of a run."""
    return _digest("pages", {n: c for n, c in _files().items() if not n.startswith(DRIVERS)})


def _digest(what: str, files: dict[str, bytes]) -> str:
    """The digest of files, remembered under a key of their contents.

    Parsing all code takes a process a second, and reading it milliseconds.
    """

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
    """{path inside the package: content} of all its files, in order: those of a folder are together."""
    top = DATA.parent
    found = {}
    for folder, _, names in os.walk(top):
        inside = Path(folder).relative_to(top)
        for name in names:
            if not name.endswith(".pyc"):
                with open(os.path.join(folder, name), "rb") as file:
                    found[(inside / name).parts] = file.read()
    return {"/".join(parts): found[parts] for parts in sorted(found)}
