"""Imported: the modules that a run needs, imported with this one; see `lkecore.runs.forkserver`."""

import gc
import warnings
from importlib import import_module

from lkecore.runs.code_digest import BEFORE, READ

# Imported modules leave no garbage: looking for some would take a fifth of the time.
gc.disable()
with warnings.catch_warnings():  # papermill's progress bar finds no widgets
    warnings.simplefilter("ignore")
    for name in BEFORE:
        import_module(name)
for module, function, *given in READ:
    getattr(import_module(module), function)(*given)

# Objects that exist now stay: no collection in a process forked from this one looks at them again.
gc.collect()
gc.freeze()
gc.enable()
