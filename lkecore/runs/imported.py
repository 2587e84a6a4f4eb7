"""Imported: what a run needs, imported when this module is; see `lkecore.runs.warm`."""

import gc
import warnings
from importlib import import_module

NAMES = [
    "papermill", "nbformat", "nbclient", "jupytext", "ipykernel.kernelapp", "ipykernel.ipkernel",
    "matplotlib.pyplot", "seaborn", "scipy.stats", "statsmodels.stats.multitest", "pyarrow.parquet",
    "torch", "transformers.models.auto.modeling_auto", "transformers.models.llama.modeling_llama",
    "myst_nb", "itables", "lkecore.answers", "lkecore.facts", "lkecore.figures", "lkecore.models",
    "lkecore.papers", "lkecore.prompts", "lkecore.runs.worker", "lkecore.scores.tree",
]  # fmt: skip

with warnings.catch_warnings():  # papermill's progress bar finds no widgets
    warnings.simplefilter("ignore")
    for name in NAMES:
        import_module(name)

# What is here now stays: no collection in a process that is forked from this one looks at it again.
gc.collect()
gc.freeze()
