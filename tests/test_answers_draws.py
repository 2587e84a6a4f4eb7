"""Answers behind several draws of shots: means and counts by pencil."""

import numpy as np
import pandas as pd
import pytest

from lkecore import answers
from lkecore.answers import formats, separators

BY = ["source", "model"]


def behind(draw, right, source="this page"):
    """Answers of one model to facts of two relations: a digit for each fact of p, and then of q."""
    return pd.DataFrame(
        [
            (source, "m", name, f"{name}{i}", digit == "1", draw)
            for name, digits in right.items()
            for i, digit in enumerate(digits)
        ],
        columns=[*BY, "relation", "fact", "correct", "draw"],
    )


FIRST = behind(0, {"p": "110", "q": "01"}).drop(columns="draw")
OTHERS = pd.concat([behind(1, {"p": "100", "q": "11"}), behind(2, {"p": "101", "q": "01"})])


def test_a_fact_counts_with_its_mean_over_draws_and_keeps_its_first_answer():
    found = answers.mean_of_draws(FIRST, OTHERS, BY)
    assert found["correct"].tolist() == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3, 1])
    assert found["first_draw"].tolist() == FIRST["correct"].tolist()
    assert found["draws"].tolist() == [3] * 5
    assert found["fact"].tolist() == FIRST["fact"].tolist()
    [row] = answers.over_relations(found, BY, seed=0).to_dict("records")
    assert row["over_relations"].estimate == pytest.approx((5 / 9 + 2 / 3) / 2)


def test_without_other_draws_answers_stay_as_they_are():
    for none in (pd.DataFrame(), OTHERS.iloc[:0]):
        found = answers.mean_of_draws(FIRST, none, BY)
        assert found[list(FIRST)].equals(FIRST) and found["draws"].eq(1).all()


def test_sources_stand_by_themselves_and_what_the_first_draw_does_not_ask_is_left_out():
    """Facts of results that ship have numbers, ours have names; one source alone was asked again."""
    numbers = behind(0, {"p": "10"}, "shipped: x").assign(fact=[1, 2])
    again = behind(1, {"p": "00"}, "shipped: x").assign(fact=[1, 2])
    unknown = again.assign(model="another")
    both = pd.concat([FIRST, numbers.drop(columns="draw")], ignore_index=True)
    others = pd.concat([again, unknown])
    found = answers.mean_of_draws(both, others, BY)
    assert found["draws"].tolist() == [1] * 5 + [2] * 2
    assert found["correct"].tolist() == [1, 1, 0, 0, 1, 0.5, 0]


def test_draws_that_ask_twice_or_not_every_fact_are_refused():
    with pytest.raises(ValueError, match="asked twice behind the same shots"):
        answers.mean_of_draws(FIRST, pd.concat([OTHERS, OTHERS]), BY)
    with pytest.raises(ValueError, match="this page, m: not every fact has as many draws"):
        answers.mean_of_draws(FIRST, OTHERS.iloc[1:], BY)


def test_differences_are_of_means_while_counts_and_p_are_of_the_first_draw():
    """Behind the first draw two facts are lost and none is won; behind the second it is the other way."""
    one = FIRST.assign(offer="random"), FIRST.assign(offer="use", correct=[False] * 4 + [True])
    two = [one[i].assign(draw=1, correct=one[1 - i]["correct"]) for i in (0, 1)]
    first = pd.concat(one, ignore_index=True).assign(estimator="e")
    by = [*BY, "estimator", "offer"]
    others = pd.concat(two, ignore_index=True).assign(estimator="e")
    found = answers.mean_of_draws(first, others, by)
    two = {"by": by[:-1], "corrected": by[:-1], "seed": 0}
    [row] = answers.paired(found, "offer", [("random", "use")], **two).to_dict("records")
    assert row["over_relations"].estimate == row["over_facts"].estimate == 0
    assert (row["only_first"], row["only_second"]) == (2, 0)
    assert row["p"] == 0.5  # two tosses of a coin, alike
    with pytest.raises(ValueError, match="neither right nor wrong"):
        answers.paired(found.drop(columns="first_draw"), "offer", [("random", "use")], **two)


# --- formats


SIGNS = ([" ", ":"], [" ", "\n"])
KINDS = {"hgp-1": "people"}
MAIN = {"m": separators.DRAWN}


def in_formats(digits, said, draw=0):
    ways = [("format", a, b, "") for a in SIGNS[0] for b in SIGNS[1]]
    each = [*zip(ways, digits, strict=True), (("words", "", "", "hgp-1"), said)]
    each += [] if draw else [(("words alone", "", "", "hgp-1"), "0000")]
    rows = [
        ("m", "own", "r", *way, f"f{i}", d == "1", draw)
        for way, some in each
        for i, d in enumerate(some)
    ]
    return pd.DataFrame(rows, columns=["model", *separators.BY, "fact", "correct", "draw"])


@pytest.fixture
def tables():
    """A single relation: in the paper's format right are 3 of 4, then 1 of 4; with words 1, then 4."""
    first = in_formats(["1110", "1100", "1000", "0000"], "1000").drop(columns="draw")
    draws = in_formats(["1000", "1100", "1010", "1111"], "1111", draw=1)
    facts = pd.DataFrame({"fact": [f"f{i}" for i in range(4)], "fact_set": "own", "relation": "r"})
    own = facts.assign(group=separators.DRAWN), separators.formats({"own": SIGNS}), pd.DataFrame()
    found = separators.beside(first, draws, *own, [], "14_iclke_separators")
    return [separators.tables(*found[:3], values) for values in ("correct", "first_draw")]


def test_formats_count_with_means_over_draws_and_words_without_shots_once(tables):
    (right, spoken), (once, _) = tables
    values = right["m", separators.DRAWN]
    assert values.loc[(" ", " ")].tolist() == [1, 0.5, 0.5, 0]
    assert values.loc[(":", "\n")].tolist() == [0.5] * 4
    assert once["m", separators.DRAWN].loc[(" ", " ")].tolist() == [1, 1, 1, 0]
    said = spoken["m", separators.DRAWN].loc["hgp-1"]
    assert said.loc["words"].tolist() == [1, 0.5, 0.5, 0.5]
    assert said.loc["words alone"].tolist() == [0] * 4


def test_a_single_relation_with_draws_has_bootstrap_intervals_and_p_of_the_first_draw(tables):
    (right, spoken), first = tables
    gains = formats.gains(right, spoken, MAIN, KINDS, first=first, seed=0).set_index("inside")
    words = gains.loc["hgp-1"]
    assert words["gain"].estimate == (0 + 0 + 0 + 0.5) / 4
    assert words["p"] == 0.5  # first draw: two facts lost, none won
    bars = formats.bars(right, spoken, MAIN, KINDS, seed=0)
    assert [x.method for x in bars["accuracy"]] == ["bootstrap over facts"] * 2 + ["Wilson"]
    assert [x.estimate for x in bars["accuracy"]] == [0.5, 0.625, 0]
    assert formats.at_chance(right, MAIN, {"m": 0.9}, seed=0) == ["m"]
    spread = formats.spreads(right, MAIN, seed=0)["spread"].iloc[0]
    means = np.array([4, 4, 3, 4]) / 8
    assert spread.estimate == means.max() - means.min()
