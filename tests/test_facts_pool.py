"""A pool of facts that are drawn again and again to be shown, and what rules get of the questions."""

import itertools

import helpers
import pytest

from lkecore import facts, prompts
from lkecore.answers import asking, rules


def pool(fact_set, relation, **size):
    """What page 11 draws of a relation."""
    given = {"fact_set": fact_set, "relations": [relation], "seed": 0} | size
    return helpers.page("11_iclke_shots", until="## Prompts", **given)["sample"][relation]


def test_rules_get_of_each_draw_what_a_count_of_its_shots_says():
    """The oracle counts the objects of the shots, and gives equal parts to the most frequent options.

    A cue is an object that no other option beats, or that has a word of the subject: no more than that.
    """
    drawn = pool("atlas", "country_of_city", n_pool=60, n_facts=8, n_options=6)
    found = rules.behind_draws({"country_of_city": drawn}, [3, 4], [2, 50], kept=False)
    assert len(found) == 2 * 2 * 8 and set(found["cue_frequent"]) == {False, True}
    of = {f.id: (f, options) for f, options in zip(drawn.facts, drawn.options, strict=True)}
    for row in found.to_dict("records"):
        asked, options = of[row["fact"]]
        shown = [f.object for f in facts.draw_shots(drawn.train, row["n_shots"], row["draw"])]
        counts = [shown.count(option) for option in options]
        most = [o for o, k in zip(options, counts, strict=True) if k == max(counts)]
        assert row["rule-frequent"] == pytest.approx((asked.object in most) / len(most))
        assert row["cue_frequent"] == (asked.object in shown and asked.object in most)
        shared = set(asked.object.lower().split()) & set(asked.subject.lower().split())
        assert row["cue_word"] == bool(shared)
        if row["rule-overlap"] == pytest.approx(1 / 6):  # no word is shared
            assert row["rule-both"] == row["rule-frequent"]


def test_cues_that_ship_agree_with_what_their_rules_get():
    """A rule is right where its cue points at the object, and else wrong, or it draws lots among 100."""
    its, _ = helpers.shipped("kamel", "11_iclke_shots", apart="rules")
    assert its[["cue_word", "cue_frequent"]].dtypes.tolist() == [bool, bool]
    lots = its["rule-frequent"].round(4) == 0.01
    assert (its["cue_frequent"] == ((its["rule-frequent"] > 0) & ~lots)).all()
    assert set(its.loc[~its["cue_word"], "rule-overlap"].round(4)) <= {0, 0.01}
    assert (its.loc[its["cue_word"], "rule-overlap"].round(4) != 0.01).all()


@pytest.mark.parametrize("profile", ["kamel", "known"])
def test_rules_that_ship_are_about_every_question_of_their_profile(profile):
    answers_, _ = helpers.shipped(profile, "11_iclke_shots")
    its, _ = helpers.shipped(profile, "11_iclke_shots", apart="rules")
    every = ["relation", "draw", "n_shots", "fact"]  # rules are of facts alone, whatever the model
    key = [name for name in every if name in its]  # one set is about one relation
    asked = answers_.drop_duplicates(key)[key]
    both = asked.merge(its, on=key, validate="1:1")
    assert len(both) == len(asked) == len(its)


def test_a_pool_is_drawn_once_and_its_draws_differ_in_their_shots_alone():
    drawn = pool("atlas", "capital", n_pool=30, n_facts=4, n_options=5)
    assert len(drawn.train) == 30 and not set(drawn.train) & set(drawn.facts)
    made = prompts.of_draws(drawn, ["iclke-space", "iclke-colon"], [0, 7], [1, 3])
    assert list(made) == list(itertools.product([0, 7], ["iclke-space", "iclke-colon"], [1, 3]))
    asked = {tuple((p.fact, p.options) for p in some) for some in made.values()}
    assert len(asked) == 1
    for draw in (0, 7):
        pairs = facts.draw_shots(drawn.train, 3, draw)
        start = " ".join(f"{p.subject} {p.object}" for p in pairs)
        assert made[draw, "iclke-space", 3][0].context.startswith(start + " ")
        one = f"{pairs[0].subject} {pairs[0].object} {drawn.facts[0].subject}"
        assert made[draw, "iclke-space", 1][0].context == one


def test_a_question_whose_key_names_a_model_goes_to_that_model_alone():
    ask = {("toy", 1): "Kenya", ("lab:x", 1): "Mali", ("toy", 2): "Chad"}
    found = asking.questions_of(ask, "toy", None, ["model", "n_shots"], "estimator")
    assert found == [((1,), "Kenya"), ((2,), "Chad")]
