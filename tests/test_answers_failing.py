"""Where telling fails, and what copies do; the oracles are counts by hand."""

import numpy as np
import pandas as pd
import pytest

from lkecore.answers import failing
from lkecore.intervals import part_above_whole, proportion

KINDS = {"P36": "location", "P37": "language", "P106": "other"}
# relation, fact: rank before, rank behind the fact, behind another subject's, merged
SAID = {
    ("P36", "a"): (1, 1, 1, False), ("P36", "b"): (9, 6, 7, False), ("P36", "c"): (5, 2, 1, False),
    ("P37", "a"): (2, 8, 1, False), ("P37", "b"): (7, 1, 3, False), ("P37", "c"): (3, 3, 3, True),
    ("P106", "a"): (6, 5, 9, False), ("P106", "b"): (90, 1, 1, False), ("P106", "c"): (1, 1, 2, False),
}  # fmt: skip


@pytest.fixture
def rows():
    found = []
    for (relation, fact), (before, told, copied, merged) in SAID.items():
        for kind, after in (("explicit", told), ("copied", copied)):
            found.append({
                "model": "toy", "relation": relation, "fact": fact, "instillation": kind, "rank": before,
                "rank_after": after, "kl": 1.0 * after, "surprisal_after": np.log(after), "merged": merged,
                "kind": KINDS[relation], "source": "this page",
            })  # fmt: skip
    return failing.beside(pd.DataFrame(found), [], "23_x")


def test_an_object_that_merges_is_left_out_and_the_sixth_place_fails(rows):
    told = rows[rows["instillation"] == "explicit"]
    assert len(told) == 8 and not rows.duplicated([*failing.FACT, "instillation"]).any()
    failed = {(row.relation, row.fact) for row in told.itertuples() if row.failed}
    assert failed == {("P36", "b"), ("P37", "a")}  # the fifth is among the five


def test_kinds_are_held_against_their_share_of_all(rows):
    found = failing.by_kind(rows).set_index("kind")
    assert found["facts"].to_dict() == {"language": 2, "location": 3, "other": 3}
    assert found.loc["location", "fails"] == proportion(1, 3)
    assert found.loc["location", "known"] == proportion(2, 3)
    assert found["of failures"].to_dict() == {"language": 0.5, "location": 0.5, "other": 0.0}
    assert found["all"].to_dict() == {"language": 0.25, "location": 0.375, "other": 0.375}


def test_places_among_failures_are_compared_with_those_among_all(rows):
    # Two of two failures, three of the six others.
    assert failing.places_among(rows) == part_above_whole(2, 2, 3, 6)
    assert failing.places_among(rows.assign(failed=False)) is None
    assert failing.places_among(rows.assign(failed=True)) is None


def test_what_a_statement_does_is_counted_for_each(rows):
    found = failing.by_statement(rows, seed=0).set_index("statement")
    assert found.loc["explicit", "first"] == proportion(4, 8)
    assert found.loc["copied", "first"] == proportion(4, 8)
    kl = np.mean([1, 6, 2, 8, 1, 5, 1, 1])
    assert found.loc["explicit", "KL"].estimate == pytest.approx(kl)
    gap = failing.first_minus_copied(rows, seed=0)
    assert gap.estimate == pytest.approx(np.mean([0, 0, -1, -1, 1, 0, 0, 1]))


def test_claims_and_words_name_who_was_asked(rows):
    found = failing.claimed(rows, seed=0)
    key = ("this page", "toy")
    assert set(found) == {"PZ-fails-places", "PZ-fails-copied"}
    assert found["PZ-fails-places"][key].estimate == pytest.approx(1 - 5 / 8)
    said = failing.sentences(rows, seed=0)
    assert f"toy {proportion(2, 8).text()}" in said["fails"]
    assert said["kinds"] == "Places and languages are, for none, too few fail."
    many = pd.concat([rows.assign(fact=rows["fact"] + str(i)) for i in range(5)])
    said = failing.sentences(many, seed=0)
    assert "toy 1.00 of failures and 0.62 of all facts" in said["kinds"]
    drawn = failing.drawn(failing.by_kind(rows))
    assert drawn["who"].unique().tolist() == ["toy"] and len(drawn) == 3


def test_kinds_come_from_the_sample_or_from_lamas_relations(rows):
    class Of:
        def __init__(self, kind):
            self.relation = self
            self.kind = kind

    frame = pd.DataFrame({"relation": ["P36", "mine", "colour"]})
    sample = {"P36": Of(""), "mine": Of("language"), "colour": Of("")}
    found = failing.with_kinds(frame, sample)
    assert found["kind"].tolist() == ["location", "language", "other"]
    assert set(found["source"]) == {"this page"}
