"""Families: which models may stand together, and on which facts."""

import pytest

from lkecore.errors import BadInput
from lkecore.models import families

LAB = ["lab:smoke-1/0.15m", "lab:smoke-1/2m"]


@pytest.mark.parametrize("given", [["a"], [], ["c", "d", "c"]])
def test_a_family_is_two_models_or_more_each_once(given):
    families.check_families([["a", "b"], LAB], ["a"], "atlas")  # not all of them need be asked
    with pytest.raises(BadInput, match="^family .* must be 2 models or more, each once"):
        families.check_families([["a", "b"], given], ["a"], "atlas")


def test_models_of_the_lab_are_asked_on_their_own_world():
    families.check_families([LAB], LAB, "lab:smoke-1")
    for spec in ("lab:smoke-2", "atlas"):
        with pytest.raises(BadInput, match=f"^lab:smoke-1/0.15m has not read {spec}: ask it on"):
            families.check_families([LAB], LAB, spec)
