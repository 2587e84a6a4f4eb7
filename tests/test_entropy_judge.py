"""Page 25_entropy_judge: its pairs, its rules and its judge, against what was filled in by hand."""

from collections import Counter

import helpers
import pandas as pd
import pytest

from lkecore import worlds
from lkecore.worlds.world import world

NAME, SPEC = "25_entropy_judge", "lab:rich-1"
FEW = {"n_train": 60, "n_test": 30, "n_documents": 250}
COLUMNS = ["relation", "subject", "object", "text", "label", "part", "fact"]


@pytest.fixture(scope="module")
def page():
    """Up to where a judge is trained; of what ships a few pairs are read again."""
    return helpers.page(NAME, until="this = ", sources=["entropy_judge"], **FEW)


@pytest.fixture(scope="module")
def printed(page):
    return page["as_printed"]()


def test_each_class_of_pair_is_what_it_is_called(printed):
    made, states = world(SPEC), worlds.states(SPEC)
    alias = dict(zip(made.aliases["name"], made.aliases["alias"], strict=True))
    own = states.groupby("subject")["object"].agg(set)
    assert set(printed["label"]) == {"appeared", "not", "hallucinated"}
    for row in printed.itertuples():
        stands = row.object in row.text or alias.get(row.object, row.object) in row.text
        assert row.subject in row.text or alias.get(row.subject, row.subject) in row.text
        if row.label == "appeared":
            assert stands and row.object in made.objects[row.relation]
        elif row.label == "hallucinated":
            assert row.object in made.objects[row.relation]
        else:
            assert row.object in own[row.subject]


def test_no_subject_is_in_two_parts_and_the_model_wrote_on_none_that_is_learned_from(page, printed):
    whose = printed.groupby("part")["subject"].agg(set)
    assert printed["part"].value_counts().to_dict() == {"train": 60, "valid": 30, "printed": 30}
    assert not whose["train"] & whose["valid"]
    assert not (whose["train"] | whose["valid"]) & set(page["wrote"].index)
    assert whose["printed"] <= set(page["wrote"].index)


def test_the_two_rules_by_hand(page):
    made = world(SPEC)
    own, other = made.objects["residence"][:2]
    strange = made.objects["profession"][0]
    name = made.facts["subject"].iloc[0]
    text = f"{name} lives in {own}. {strange} is a word."
    rows = [("residence", name, each, text, "", "", "") for each in (own, other, strange)]
    rows.append(("residence", name, made.objects["profession"][1], text, "", "", ""))
    found = page["ruled"](pd.DataFrame(rows, columns=COLUMNS))
    assert found["two lines"].tolist() == ["appeared", "hallucinated", "appeared", "not"]
    assert found["never reads"].tolist() == ["appeared", "appeared", "not", "not"]


def test_a_judge_of_the_fact_alone_says_the_same_of_every_text():
    page = helpers.page(NAME, until="this = ", sources=["entropy_judge"], steps=2, batch=4, every=1)
    parts = ["train"] * 6 + ["valid"] * 3 + ["printed"] * 3 + ["written"] * 3
    rows = [
        ("residence", f"Kelmo {i}", f"Tarsi {i}", f"Some {i} words.", label, part, str(i))
        for i, part in enumerate(parts)
        for label in ("appeared", "not", "hallucinated")[i % 3 : i % 3 + 1]
    ]
    pairs = pd.DataFrame(rows, columns=COLUMNS)
    model = "lab:rich-1/0.7m"
    other = pairs.assign(text="Other words.")
    found = {
        (way, i): page["judged"](model, way, some)
        for way in ("judge", "fact alone")
        for i, some in enumerate((pairs, other))
    }
    one, two = (found["fact alone", i]["confidence"].tolist() for i in range(2))
    assert one == two and len(one) == 6 and 1 / 3 <= min(one) <= max(one) <= 1
    one, two = (found["judge", i]["confidence"].tolist() for i in range(2))
    assert one != two


def test_what_ships_is_of_the_same_pairs_for_every_judge_and_is_counted_by_hand():
    found, _ = helpers.shipped("entropy_judge", NAME)
    pairs = {
        key: Counter(zip(of["part"], of["relation"], of["fact"], of["label"], strict=True))
        for key, of in found.groupby(["model", "estimator"])
    }
    first = pairs["lab:rich-1/bert", "judge"]
    assert all(each == first for each in pairs.values()) and max(first.values()) == 1
    assert {key[0] for key in first} == {"printed", "written"}
    assert found["correct"].eq(found["says"] == found["label"]).all()
