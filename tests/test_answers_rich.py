"""Questions about rich worlds and the reading of their answers; the oracle is counted by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lkecore.answers import lab, results, rich
from lkecore.errors import BadInput
from lkecore.facts import rich as rich_worlds
from lkecore.facts import rich_text, worlds
from lkecore.intervals import Interval

SPEC = "lab:richsmoke-0"
MODEL = f"{SPEC}/0.15m"


def every(states):
    return pd.Series(True, states.index)


def test_samples_ask_what_is_chosen_among_all_objects():
    def few(states):
        return states["state"].eq("never") & states["fact"].str[-1].isin(list("13579"))

    found = rich.samples([MODEL], ["residence", "parent"], few, n_shots=4, seed=3)
    assert list(found) == [SPEC] and list(found[SPEC]) == ["residence", "parent"]
    states = worlds.states(SPEC)
    for name, drawn in found[SPEC].items():
        own = states[states["relation"] == name]
        wanted = own[own["split"].eq("test") & own["n_objects"].eq(1) & few(own)]
        assert {fact.id for fact in drawn.facts} == set(wanted["fact"]) and len(drawn.shots) == 4
        for options in drawn.options:
            assert sorted(options) == sorted(rich_worlds.world(SPEC).objects[name])
            told = {each for objects in own["told_objects"] for each in objects.split(";")}
            assert set(options) >= (told | set(own["cue_object"]) | set(own["object"])) - {""}


def test_no_fact_with_several_true_objects_is_asked():
    drawn = rich.samples([MODEL], ["instrument", "parent"], every, n_shots=4, seed=0)[SPEC]
    subjects = worlds.states(SPEC).query("relation == 'instrument'")["subject"].value_counts()
    assert {subjects[fact.subject] for fact in drawn["instrument"].facts} == {1}
    assert (subjects > 1).any()


def test_without_relations_all_are_asked_that_have_something_to_ask():
    drawn = rich.samples([MODEL], [], every, n_shots=4, seed=0)[SPEC]
    assert set(drawn) == set(worlds.states(SPEC)["relation"])


def test_a_world_of_the_first_family_is_refused():
    with pytest.raises(BadInput, match="lab:smoke-1: this page needs a rich one"):
        rich.samples(["lab:smoke-1/0.15m"], [], every, n_shots=4, seed=0)


STATES = pd.DataFrame(
    [
        ("a", "red;blue", "red", "", "planted"),
        ("b", "green", "blue", "blue", "planted"),
        ("c", "", "green", "green", "never"),
    ],
    columns=["fact", "told_objects", "object", "cue_object", "state"],
)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(rich, "_states", lambda spec: STATES.set_index("fact"))
    monkeypatch.setattr(rich.lab, "record", lambda path: {"world": "w"})
    return SimpleNamespace(path="p")


def scores(**shares):
    """A frame as of the scorer: {fact: (gold, shares of red, green and blue)}."""
    return pd.DataFrame(
        [
            (fact, option, option == gold, np.log(share) - 1.5)
            for fact, (gold, each) in shares.items()
            for option, share in zip(("red", "green", "blue"), each, strict=True)
        ],
        columns=["fact", "option", "gold", "logprob"],
    )


def test_an_answer_stands_beside_all_that_was_told_or_hinted_at(tiny):
    of_three = scores(
        a=("red", (0.2, 0.3, 0.5)), b=("blue", (0.5, 0.1, 0.4)), c=("green", (0.1, 0.8, 0.1))
    )
    found = rich.beside_hints(tiny, of_three)
    assert found["fact"].tolist() == ["a", "b", "c"]
    assert found["picked"].tolist() == ["blue", "red", "green"]
    assert found["correct"].tolist() == [False, False, True]
    expected = {
        "confidence": [0.5, 0.5, 0.8],
        "confidence_gold": [0.2, 0.4, 0.8],
        "confidence_cue": [np.nan, 0.4, 0.8],
        "confidence_1": [0.2, 0.1, np.nan],
        "confidence_2": [0.5, np.nan, np.nan],
        "confidence_3": [np.nan] * 3,
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-12)
    by_hand = -sum(p * np.log(p) for p in (0.2, 0.3, 0.5))
    assert found["entropy"][0] == pytest.approx(by_hand)


def test_an_object_that_is_no_option_is_named(tiny):
    few = scores(b=("blue", (0.5, 0.1, 0.4)))
    few = few[few["option"] != "green"]
    with pytest.raises(BadInput, match="'green' is not among the 2 options; ask with all objects"):
        rich.beside_hints(tiny, few)


def test_states_stand_beside_answers_in_their_order(tiny):
    answers = pd.DataFrame({"world": "w", "fact": ["c", "a", "c"], "x": [1, 2, 3]})
    found = rich.with_states(answers, ["object", "state"])
    assert found["x"].tolist() == [1, 2, 3] and found["object"].tolist() == [
        "green",
        "red",
        "green",
    ]


def test_doses_of_aliases_stand_beside_answers_and_in_no_state():
    states = worlds.states(SPEC)
    assert not [name for name in states if name.endswith("_dose")]
    answers = states[["fact", "relation"]].assign(world=SPEC)
    columns = ["subject", "object", "subject_alias", "object_alias"]
    doses = ["subject_alias_dose", "object_alias_dose"]
    found = rich.with_states(answers, [*columns, *doses])
    own = rich_text.aliases(SPEC).set_index("name")
    for name in ("subject", "object"):
        has = found[f"{name}_alias"] != ""
        assert set(found.loc[has, f"{name}_alias_dose"]) == {1, 4, 16}
        assert not found.loc[~has, f"{name}_alias_dose"].any()
        for row in found[has].head(20).to_dict("records"):
            alias = own.loc[row[name]]
            assert (alias["alias"], alias["dose"]) == (
                row[f"{name}_alias"],
                row[f"{name}_alias_dose"],
            )


def test_readers_of_blanks_are_those_of_the_lab_that_read_the_facts():
    names = [MODEL, f"{SPEC}/bert", f"{SPEC}/bert-unplanted", "org/bert", f"{SPEC}/t5@2"]
    assert rich.blank_readers(names) == [f"{SPEC}/bert", f"{SPEC}/t5@2"]


def test_the_model_that_was_looked_at_has_a_mark_and_one_that_does_not_repeat():
    """`lab:rich-2/t5` misses the gate at the blank; teaching alone rests on no statement."""
    found = Interval(0.5, 0.4, 0.6, 0.95, "bootstrap over pairs")
    models = [f"lab:rich-{seed}/{name}" for seed in (1, 2) for name in ("bert", "t5")]
    by_name = {
        "LAB-moved-finds": {"lab:rich-1/0.7m": found},
        "LAB-moved-finds-blanks": dict.fromkeys(models, found),
        "LAB-moved-rank-blanks": {"lab:rich-2/bert": found},
        "LAB-taught-alike-blanks": {"lab:rich-1/bert": found},
        "LAB-moved-twin-blanks": {"lab:rich-1/t5": found},
    }
    claimed = {k: {("shipped: x", of): x for of, x in each.items()} for k, each in by_name.items()}
    judged = lab.judge(claimed, rich.marks(claimed), estimator="template-1")
    marked = judged[judged["mark"] != ""]
    looked, lacks = "readings chosen after a look", "misses the gate of repeating"
    assert set(map(tuple, marked[["id", "of", "mark"]].to_numpy())) == {
        ("LAB-moved-finds-blanks", "lab:rich-1/bert", looked),
        ("LAB-moved-finds-blanks", "lab:rich-2/t5", lacks),
        ("LAB-taught-alike-blanks", "lab:rich-1/bert", looked),
        ("LAB-moved-twin-blanks", "lab:rich-1/t5", lacks),  # its twin does
    }
    assert len(judged) == 8 and judged["mark"].ne("").sum() == 4


def test_a_model_that_misses_the_gate_of_repeating_is_out_where_a_claim_rests_on_it():
    """Which models miss it is counted in the file that ships; 0.9 is the design's least share."""
    counts = results("59_lab_gates-gates")
    same = counts[counts["gate"] == "same"].set_index("model")
    low = set(same.index[same["right"] < 0.9 * same["n"]])
    worlds = [f"lab:rich-{seed}" for seed in (1, 2, 3)]
    assert {f"{world}/2m" for world in worlds} <= low
    assert not low & {f"{world}/0.7m" for world in worlds}
    sizes = ["0.7m", "2m", "2m-unplanted"]
    rows = pd.DataFrame(
        [{"world": w, "model": f"{w}/{size}", "size": size} for w in worlds for size in sizes]
    ).assign(source="this page")

    def tests(mine, _):
        found = Interval(
            {"0.7m": 0.2, "2m": 0.8}[mine["size"].iloc[0]], 0.1, 0.9, 0.95, "bootstrap"
        )
        return {"LAB-taught-alike": found, "LAB-taught-finds": found, "LAB-moved-rank-blanks": None}

    claimed = rich.claimed(rows, tests, lambda *_: {"LAB-moved-twin": None})
    two = ("2m", 0.8), ("0.7m", 0.2)
    both = {("this page", f"{w}/{size}"): at for w in worlds for size, at in two}
    told = {name: each.estimate for name, each in claimed["LAB-taught-alike"].items()}
    assert told == both  # what is told: the one that passes stands beside
    largest = [("this page", f"{w}/2m") for w in worlds]
    assert set(claimed["LAB-taught-finds"]) == set(largest)  # taught alone
    assert rich.marks(claimed) == {
        ("LAB-taught-alike", *key): "misses the gate of repeating" for key in largest
    }
    assert rich.teller([f"{worlds[0]}/{size}" for size in sizes]) == "lab:rich-1/0.7m"


def test_what_is_judged_has_the_source_of_the_rows_that_it_is_of():
    """The larger model ships, and of the smaller one and its twin the page has asked one by itself."""
    sources = {"0.7m": "this page", "0.7m-unplanted": "shipped: a", "8m": "shipped: b"}
    rows = pd.DataFrame(
        {"world": "lab:rich-1", "model": f"lab:rich-1/{size}", "source": source, "fact": fact}
        for fact in "xy"
        for size, source in sources.items()
    )
    each = Interval(0.2, 0.1, 0.3, 0.95, "bootstrap over facts")
    tests = {"LAB-taught-finds": each}, {"LAB-taught-twin": each}
    claimed = rich.claimed(rows, *(lambda *_, of=of: of for of in tests))
    assert claimed == {
        "LAB-taught-finds": {("shipped: b", "lab:rich-1/8m"): each},
        "LAB-taught-twin": {("this page, shipped: a", "lab:rich-1/0.7m"): each},
    }
    sizes = "lab:rich-1/8m", "lab:rich-1/0.7m"
    assert rich.key_of(rows, *sizes) == ("this page, shipped: b", f"{sizes[0]} minus {sizes[1]}")


def test_a_claim_on_a_twin_is_out_where_the_twin_misses_the_gate():
    """Of those that ship `lab:rich-1/0.7m-unplanted` does, and `lab:rich-1/2m-unplanted` does not."""
    found = Interval(0.0, -0.1, 0.1, 0.95, "bootstrap over subjects")
    names = ["lab:rich-1/0.7m", "lab:rich-1/2m", "lab:rich-2/0.7m"]
    keys = [("shipped: x", name) for name in names]
    claimed = {"LAB-moved-twin": dict.fromkeys(keys, found), "LAB-taught-twin": {keys[0]: found}}
    assert rich.marks(claimed) == {("LAB-moved-twin", *keys[0]): "misses the gate of repeating"}


def test_twins_are_left_out_and_models_of_the_hub_stay():
    rows = pd.DataFrame(
        {"model": [f"{MODEL}-unplanted", MODEL, "org/model", MODEL], "fact": list("abcd")}
    )
    assert rich.without_twins(rows)["fact"].tolist() == ["b", "c", "d"]
    alone = rows[:1]
    assert rich.without_twins(alone).equals(alone)
