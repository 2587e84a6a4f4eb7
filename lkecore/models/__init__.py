"""Models: from a name to a tokenizer and a network, with all that says which ones they were."""

from lkecore.models.catalogue import n_parameters
from lkecore.models.families import bases_of, check_families, check_tuned, pairs_of
from lkecore.models.model import DTYPES, Model, open_model

__all__ = [
    "DTYPES", "Model", "bases_of", "check_families", "check_tuned", "n_parameters", "open_model",
    "pairs_of",
]  # fmt: skip
