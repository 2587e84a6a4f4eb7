"""Models: from a name to a tokenizer and a network, with a record of which ones they were."""

from lkecore.models.catalogue import n_parameters
from lkecore.models.families import check_families
from lkecore.models.model import DTYPES, Model
from lkecore.models.served import open_model

__all__ = [
    "DTYPES", "Model", "check_families", "n_parameters", "open_model",
]  # fmt: skip
