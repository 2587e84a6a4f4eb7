"""Imported: what a run needs, imported when this module is; see `lkecore.runs.forkserver`."""

import gc
import warnings
from importlib import import_module

from lkecore.runs.code_digest import BEFORE, READ

# Of what is imported nothing is garbage: to look for some would take a fifth of the time.
gc.disable()
with warnings.catch_warnings():  # papermill's progress bar finds no widgets
    warnings.simplefilter("ignore")
    for name in BEFORE:
        import_module(name)
for module, function, *given in READ:
    getattr(import_module(module), function)(*given)

# What is here now stays: no collection in a process that is forked from this one looks at it again.
gc.collect()
gc.freeze()
gc.enable()
