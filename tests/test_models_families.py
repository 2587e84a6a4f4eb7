"""Families: which models may stand together, and which pairs they make."""

import pytest

from lkecore.errors import BadInput
from lkecore.models import families

SIZES = [["a", "b", "c"], ["d", "e"]]
LAB = [["lab:smoke-1/0.15m", "lab:smoke-1/2m"]]


@pytest.mark.parametrize(
    ("given", "models", "page"),
    [
        (SIZES, list("abcde"), False),
        (SIZES, list("edcba"), True),
        (SIZES, ["b"], False),  # the run of one, a part of a page
        ([["a", "b"], ["a", "c"]], ["a", "b", "c"], True),  # one model may begin two families
        ([], [], False),
    ],
)
def test_families_that_fit_pass(given, models, page):
    families.check_families(given, models, "atlas", page=page)


@pytest.mark.parametrize(
    ("given", "models", "page", "line"),
    [
        ([["a"]], ["a"], False, r"family \['a'\]: must be 2 models or more, small to large"),
        ([[]], [], False, r"family \[\]: must be 2 models or more"),
        ([["a", "b"], ["c", "d", "c"]], list("abcd"), False, r"family \['c', 'd', 'c'\]: must be"),
        (SIZES, list("abcdex"), False, r"models \['x'\] are in no family of \[\['a', 'b', 'c'\], "),
        (SIZES, ["x"], False, r"models \['x'\] are in no family"),
        (SIZES, list("acd"), False, r"families name \['b', 'e'\]; put them into models, too"),
        (SIZES, ["b"], True, r"families name \['a', 'c', 'd', 'e'\]; put them into"),
        (SIZES, [], True, r"families name \['a', 'b', 'c', 'd', 'e'\]"),
    ],
)
def test_families_that_do_not_fit_are_refused(given, models, page, line):
    with pytest.raises(BadInput, match=f"^{line}"):
        families.check_families(given, models, "atlas", page=page)


def test_models_of_the_lab_are_asked_on_their_own_world():
    families.check_families(LAB, LAB[0], "lab:smoke-1", page=True)
    for spec in ("lab:smoke-2", "atlas"):
        with pytest.raises(
            BadInput, match=f"^lab:smoke-1/0.15m has not read {spec}: ask it on its"
        ):
            families.check_families(LAB, LAB[0], spec, page=True)


def test_pairs_are_smaller_and_larger_of_a_family_each_once():
    pairs = [("a", "b"), ("a", "c"), ("b", "c"), ("d", "e")]
    assert families.pairs_of(SIZES, list("edcba")) == pairs
    assert families.pairs_of(SIZES, list("acd")) == [("a", "c")]
    assert families.pairs_of([["a", "b"], ["a", "b", "c"]], list("abc")) == pairs[:3]
    assert families.pairs_of(SIZES, ["a"]) == families.pairs_of([], ["a", "b"]) == []
