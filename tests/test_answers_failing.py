"""Where telling fails, and what copies do (PZ-X1); the oracles are counts by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest

from lkecore.answers import failing
from lkecore.answers.failing import FEW
from lkecore.answers.moved import of_set
from lkecore.intervals import proportion

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
                "shared": False, "n_tokens": 1 + (relation == "P36"),
                "kind": KINDS[relation],
            })  # fmt: skip
    every = failing.beside(pd.DataFrame(found), [], "23_x")
    return of_set(every, "alone").reset_index(drop=True)


def test_an_object_that_merges_is_left_out_and_the_sixth_place_fails(rows):
    told = rows[rows["instillation"] == "explicit"]
    assert len(told) == 8 and not rows.duplicated([*failing.FACT, "instillation"]).any()
    failed = {(row.relation, row.fact) for row in told.itertuples() if row.failed}
    assert failed == {("P36", "b"), ("P37", "a")}  # the fifth is among the five
    of_sets = failing.by_set(rows).set_index("set")
    assert of_sets["facts"].to_dict() == {"alone": 8, "one token": 5, "all": 8}
    assert of_sets.loc["one token", "fails"] == proportion(1, 5)


def test_kinds_are_held_against_their_share_of_all(rows):
    found = failing.by_kind(rows).set_index("kind")
    assert found["facts"].to_dict() == {"language": 2, "location": 3, "other": 3}
    assert found.loc["location", "fails"] == proportion(1, 3)
    assert found.loc["location", "known"] == proportion(2, 3)
    assert found["of failures"].to_dict() == {"language": 0.5, "location": 0.5, "other": 0.0}
    assert found["all"].to_dict() == {"language": 0.25, "location": 0.375, "other": 0.375}


def test_places_among_failures_are_compared_with_those_among_all(rows):
    told = rows[rows["instillation"] == "explicit"]
    many = pd.concat([told.assign(fact=told["fact"] + str(i)) for i in range(FEW)])
    found = failing.places_among(many, many["failed"], seed=0)
    assert found.estimate == pytest.approx(1 - 5 / 8)
    # By hand: of P36 3 facts and 1 failure, of P37 2 and 1, of P106 3 and none. All draws of three relations.
    each = [(3, 1, 1), (2, 1, 1), (3, 0, 0)]  # facts, failures, whether it is a place
    gaps = []
    for drawn in itertools.product(each, repeat=3):
        n, failed = sum(d[0] for d in drawn), sum(d[1] for d in drawn)
        places = sum(d[0] * d[2] for d in drawn)
        gaps += [1 - places / n] if failed else []
    assert min(gaps) == 0 and max(gaps) == pytest.approx(6 / 8)
    # One draw in 27 is of P106 alone, and says nothing: it counts at either end.
    assert (found.low, found.high) == (-1.0, 1.0)
    two = many[many["kind"] != "other"]
    assert failing.places_among(two, two["failed"], seed=0).estimate == 0.0
    assert failing.places_among(told, told["failed"], seed=0) is None  # too few
    assert failing.places_among(many, ~many["failed"] | True, seed=0) is None
    one = many[many["relation"] == "P36"]
    assert failing.places_among(one, one["failed"], seed=0) is None


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
    assert set(found) == {"PZ-fails-copied"} and key in found["PZ-fails-copied"]  # two failures
    said = failing.sentences(rows, seed=0)
    assert f"toy {proportion(2, 8).text()}" in said["fails"]
    assert said["kinds"] == "Places and languages are, for none, too few fail."
    many = pd.concat([rows.assign(fact=rows["fact"] + str(i)) for i in range(5)])
    found = failing.claimed(many, seed=0)["PZ-fails-places"][key]
    assert found.estimate == pytest.approx(1 - 5 / 8)
    assert found.method == "bootstrap over relations"
    said = failing.sentences(many, seed=0)
    assert "toy 1.00 of failures and 0.62 of all facts" in said["kinds"]
    drawn = failing.drawn(failing.by_kind(rows))
    assert drawn["who"].unique().tolist() == ["toy"] and len(drawn) == 3


def test_kinds_come_from_the_sample_or_from_lamas_relations(rows):
    class Of:
        def __init__(self, kind):
            self.relation = self
            self.kind = kind

    sources = ["this page", "shipped: x", "this page"]
    frame = pd.DataFrame({"relation": ["P36", "mine", "colour"], "source": sources})
    sample = {"P36": Of(""), "mine": Of("language"), "colour": Of("")}
    found = failing.with_kinds(frame, sample)
    assert found["kind"].tolist() == ["location", "language", "other"]
    assert found["source"].tolist() == sources and set(rows["source"]) == {"this page"}


def test_an_infinite_kl_is_in_no_mean(rows):
    told = rows["instillation"].eq("explicit") & rows["fact"].eq("c")
    found = failing.by_statement(rows.assign(kl=rows["kl"].mask(told, np.inf)), seed=0)
    row = found.set_index("statement").loc["explicit"]
    others = [after for (_, fact), (_, after, _, _) in SAID.items() if fact != "c"]
    assert row["facts"] == 8 and row["KL"].estimate == pytest.approx(np.mean(others))
