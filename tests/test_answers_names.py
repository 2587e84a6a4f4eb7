"""What second names and second objects hide; the oracle is computed by hand, or recounted from the facts."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lkecore import intervals, papers
from lkecore.answers import names, names_found, names_said
from lkecore.errors import BadInput
from lkecore.facts import rich, rich_text, worlds
from lkecore.prompts.prompt import templates_of

SPEC = "lab:richsmoke-0"
SMALL = f"{SPEC}/0.15m"


@pytest.fixture(scope="module")
def states():
    return worlds.states(SPEC).set_index("fact")


@pytest.fixture(scope="module")
def samples():
    return names.samples([SMALL], [], n_shots=4, often=1, seed=0)


@pytest.fixture(scope="module")
def questions(samples):
    return names.questions(samples)


# --- what is asked --------------------------------------------------------------------------------


def test_asked_are_told_facts_of_two_objects_or_with_an_alias_told_often(samples, states):
    alias = set(rich.world(SPEC).aliases["name"])
    asked = {fact.id for of in samples[SPEC].values() for fact in of.facts}
    wanted = set()
    for fact, row in states.iterrows():
        same = states[states["relation"].eq(row["relation"]) & states["subject"].eq(row["subject"])]
        named = bool({row["subject"], row["object"]} & alias)
        uncued = row["relation"] not in ("headquarters", "parent", "team_colour", "team_country")
        if row["split"] == "test" and row["state"] == "planted" and uncued:
            if len(same) > 1 or named and row["occurrences"] >= 1:
                wanted.add(fact)
    assert asked == wanted and len(wanted) > 20
    table = names.counts(samples)[SPEC]
    several = sum(states.loc[fact, "n_objects"] == 2 for fact in asked)
    assert table["subject has several objects"] == several > 0
    assert table["subject has an alias"] == sum(
        states.loc[fact, "subject"] in alias and states.loc[fact, "n_objects"] == 1
        for fact in asked
    )


def test_options_are_every_name_of_every_object_the_true_ones_too(samples, states):
    own = rich.world(SPEC).aliases.set_index("name")["alias"].to_dict()
    for name, of in samples[SPEC].items():
        objects = rich.world(SPEC).objects[name]
        every = [*objects, *(own[each] for each in objects if each in own)]
        for fact, options in zip(of.facts, of.options, strict=True):
            assert sorted(options) == sorted(every) and fact.object in options
            assert set(states.loc[states["subject"].eq(fact.subject), "object"]) & set(options)


def test_a_fact_is_asked_under_its_alias_by_the_same_words(samples, questions, states):
    text = " ".join(rich_text.documents(rich.world(SPEC)))
    n = {"alias": 0, "told": 0}
    for (spec, way, relation), some in questions.items():
        of = samples[spec][relation]
        for prompt in some:
            row = states.loc[prompt.fact]
            assert prompt.options[prompt.gold] == row["object"]
            by_alias = way.endswith(names.BY_ALIAS)
            called = row["subject_alias"] if by_alias else row["subject"]
            assert prompt.subject == called and called in prompt.context
            assert not by_alias or row["n_objects"] == 1
            n["alias"] += by_alias
            if way == names.TOLD:
                words = {
                    key.removeprefix("template-"): t for key, t in templates_of(of.relation).items()
                }
                told = [
                    words[i] for i in row["templates"].split() if re.search(r"\[Y\]\W*$", words[i])
                ]
                first = told[0].replace("[X]", row["subject"])
                assert first.startswith(prompt.context)
                # And so the text has it, with one name or the other of the object.
                ends = [row["object"], row["object_alias"] or row["object"]]
                aliased = first.replace(row["subject"], row["subject_alias"] or row["subject"])
                wanted = [f.replace("[Y]", end) for f in (first, aliased) for end in ends]
                assert any(each in text for each in wanted)
                n["told"] += 1
            elif way == names.PAIRS:
                assert prompt.context.endswith(f" {row['subject']}")
    assert n["alias"] > 10 and n["told"] > 10
    told = {p.fact for (_, way, _), some in questions.items() if way == names.TOLD for p in some}
    assert not {fact for fact in told if states.loc[fact, "form"] == "list"}


def test_bad_input_is_refused_in_a_line():
    how = {"n_shots": 4, "seed": 0}
    with pytest.raises(BadInput, match="lab:book-1: this page needs a rich one"):
        names.samples(["lab:book-1/0.7m"], [], often=16, **how)
    with pytest.raises(BadInput, match="often 65: must be 1 to "):
        names.samples([SMALL], [], often=65, **how)


# --- one answer, read in four ways ----------------------------------------------------------------


def read(fact, states, monkeypatch, shares, relation):
    """What is read where options have these probabilities, and all others next to none."""
    monkeypatch.setattr(names.lab, "record", lambda _: {"world": SPEC})
    every = names._every_name(SPEC, relation, 0)
    gold = states.loc[fact, "object"]
    frame = pd.DataFrame(
        {
            "fact": fact,
            "option": every,
            "gold": [name == gold for name in every],
            "logprob": [math.log(shares.get(name, 1e-9)) for name in every],
        }
    )
    [row] = names.read(SimpleNamespace(path=None), frame).to_dict("records")
    return row


def test_another_true_object_is_left_out(states, monkeypatch):
    pairs = states[states["n_objects"].eq(2) & states["told"].ne("")]
    one, two = pairs[pairs["subject"].eq(pairs["subject"].iloc[0])].index[:2]
    relation = states.loc[one, "relation"]
    mine, other = states.loc[one, "object"], states.loc[two, "object"]
    own = set(rich.world(SPEC).aliases["name"])
    wrong = next(
        name
        for name in rich.world(SPEC).objects[relation]
        if name not in (mine, other) and name not in own
    )
    row = read(one, states, monkeypatch, {mine: 0.3, other: 0.5, wrong: 0.1}, relation)
    assert (row["correct"], row["other"], row["left_out"]) == (False, True, True)
    row = read(one, states, monkeypatch, {mine: 0.1, other: 0.5, wrong: 0.3}, relation)
    assert (row["correct"], row["other"], row["left_out"]) == (False, True, False)
    row = read(one, states, monkeypatch, {mine: 0.3, other: 0.1, wrong: 0.5}, relation)
    assert (row["correct"], row["other"], row["left_out"]) == (False, False, False)
    row = read(one, states, monkeypatch, {mine: 0.6, other: 0.3}, relation)
    assert (row["correct"], row["other"], row["left_out"]) == (True, False, True)


def test_names_of_an_object_are_added_up_and_so_are_those_of_the_others(states, monkeypatch):
    own = rich.world(SPEC).aliases.set_index("name")["alias"].to_dict()
    some = states[states["n_objects"].eq(1) & states["object_alias"].ne("")]
    for of in (some.loc[fact] for fact in some.index):
        objects = rich.world(SPEC).objects[of["relation"]]
        plain = [name for name in objects if name not in own]
        others = [name for name in objects if name in own and name != of["object"]]
        if plain and others:
            break
    fact, mine = of.name, of["object"]
    alias, wrong, other = of["object_alias"], plain[0], others[0]
    row = read(fact, states, monkeypatch, {mine: 0.2, alias: 0.2, wrong: 0.3}, of["relation"])
    assert not row["correct"] and not row["alone"] and row["summed"]
    assert row["alias_part"] == pytest.approx(0.5)
    row = read(fact, states, monkeypatch, {mine: 0.1, alias: 0.6, wrong: 0.3}, of["relation"])
    assert not row["correct"] and row["alone"] and row["summed"]
    assert row["alias_part"] == pytest.approx(0.6 / 0.7)
    # The likeliest string is another one's alias, which is no main name.
    shares = {mine: 0.3, alias: 0.05, other: 0.1, own[other]: 0.5}
    row = read(fact, states, monkeypatch, shares, of["relation"])
    assert row["correct"] and not row["summed"] and row["left_out"]


# --- tables ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known(questions):
    rng, rows = np.random.default_rng(0), []
    n_objects = worlds.states(SPEC).set_index("fact")["n_objects"]
    for model in (SMALL, f"{SPEC}/2m", f"{SMALL}-unplanted"):
        for (spec, way, relation), some in questions.items():
            for prompt in some:
                pick = rng.choice(["right", "other", "wrong"], p=[0.5, 0.2, 0.3])
                other = bool(n_objects[prompt.fact] > 1 and pick == "other")
                rows.append(
                    {
                        "model": model, "world": spec, "estimator": way, "relation": relation,
                        "fact": prompt.fact, "correct": pick == "right", "other": other,
                        "left_out": pick == "right" or other and rng.random() < 0.5,
                        "alone": rng.random() < 0.3, "summed": rng.random() < 0.5,
                        "alias_part": rng.random(),
                    }
                )  # fmt: skip
    frame = pd.DataFrame(rows)
    frame["source"] = frame["model"].eq(SMALL).map({True: "this page", False: "shipped: x"})
    return names.beside_truth(frame)


def mine(known, size, way, called="name"):
    some = known[known["size"].eq(size) & known["way"].eq(way) & known["called"].eq(called)]
    return {row["fact"]: row for row in some.to_dict("records")}


def test_two_objects_by_loops(known, states):
    table = names_found.by_several(known, 1, seed=0).set_index(["model", "way"])
    for size in ("0.15m", "2m", "0.15m-unplanted"):
        for way in names.WAYS:
            rows = [
                row
                for fact, row in mine(known, size, way).items()
                if states.loc[fact, "n_objects"] == 2 and states.loc[fact, "occurrences"] >= 1
            ]
            n, right = len(rows), sum(row["correct"] for row in rows)
            out, other = (sum(row[name] for row in rows) for name in ("left_out", "other"))
            of = table.loc[size, way]
            assert of["facts"] == n > 3
            assert of["one"].estimate == pytest.approx(right / n)
            assert of["left_out"].estimate == pytest.approx(out / n)
            assert of["hidden"].estimate == pytest.approx((out - right) / n)
            assert of["either"].estimate == pytest.approx((right + other) / n)
            found = of["of_wrong"]  # None where fewer than two subjects are answered wrongly
            assert found is None or found.estimate == pytest.approx(other / (n - right))
    assert sum(found is not None for found in table["of_wrong"]) > 3


def test_the_rule_names_what_the_text_tells_most(known):
    text = {}
    for telling in rich_text.tellings(rich.world(SPEC)):
        relation = telling.fact.rpartition("-")[0]
        of = text.setdefault(relation, {})
        of[telling.object] = of.get(telling.object, 0) + 1
    rule = known[known["size"].eq(names.RULE)]
    assert len(rule) > 20 and not rule.duplicated(["fact", "called"]).any()
    for row in rule.itertuples():
        often = text[row.relation]
        if row.correct:
            assert often[row.object] == max(often.values())
        if row.other:
            assert often[row.object] <= max(often.values()) and not row.correct


def test_aliases_of_subjects_by_loops(known, states):
    table = names_found.by_subject_alias(known, 1, seed=0).set_index(["model", "way", "told"])
    seen = 0
    for (size, way, told), of in table.iterrows():
        if size == names.RULE:
            assert of["gap"] is None or of["gap"].estimate == 0
            continue
        name, alias = mine(known, size, way), mine(known, size, way, "alias")
        both = [
            (name[fact]["correct"], alias[fact]["correct"])
            for fact in alias
            if (states.loc[fact, "by_alias"] > 0) == (told == names.BOTH)
        ]
        n = len(both)
        assert of["facts"] == n
        if n > 1:
            assert of["name"].estimate == pytest.approx(sum(a for a, _ in both) / n)
            assert of["alias"].estimate == pytest.approx(sum(b for _, b in both) / n)
            assert of["missed"].estimate == pytest.approx(sum(b and not a for a, b in both) / n)
            assert of["any"].estimate == pytest.approx(sum(a or b for a, b in both) / n)
            seen += n
    assert seen > 20


def test_aliases_of_objects_by_loops(known, states):
    table = names_found.by_object_alias(known, 1, seed=0).set_index(["model", "way", "told"])
    for (size, way, told), of in table.iterrows():
        if size == names.RULE:
            continue
        rows = [
            row
            for fact, row in mine(known, size, way).items()
            if states.loc[fact, "n_objects"] == 1 and states.loc[fact, "occurrences"] >= 1
            if (
                ""
                if states.loc[fact, "object_alias"] == ""
                else states.loc[fact, "object_by_alias"] > 0
            )
            == {names.NONE: "", names.BOTH: True, names.ONE: False}[told]
        ]
        gain = sum(row["summed"] for row in rows) - sum(row["correct"] for row in rows)
        assert of["facts"] == len(rows)
        assert of["gain"] is None or of["gain"].estimate == pytest.approx(gain / len(rows))
        assert (of["alias"] is None) == (told == names.NONE) or len(rows) < 2


def test_which_of_two_objects_is_named(known, states):
    table = names_found.more_told(known, seed=0).set_index(["model", "way"])
    own = mine(known, "2m", names.PAIRS)
    named = []
    for fact, row in own.items():
        if states.loc[fact, "n_objects"] == 2:
            kin = states[
                states["subject"].eq(row["subject"]) & states["relation"].eq(row["relation"])
            ]
            if states.loc[fact, "occurrences"] > kin.drop(fact)["occurrences"].max():
                named += [row["correct"]] * (row["correct"] or row["other"])
    of = table.loc["2m", names.PAIRS]
    assert of["named"] == len(named)
    assert of["more"] is None or of["more"].estimate == pytest.approx(np.mean(named))


def test_a_share_of_none_has_a_width():
    part = pd.DataFrame({"whose": list("aabbc")})
    none = names_found.mean(part, pd.Series([False] * 5), 0)
    assert none == intervals.proportion(0, 3) and none.high > 0.5
    assert names_found.mean(part, pd.Series([True, True, False, False, False]), 0).estimate == 0.4
    assert names_found.mean(part[:2], pd.Series([True, False]), 0) is None


# --- claims and words -----------------------------------------------------------------------------


def test_claims_are_about_sizes_each_over_what_its_row_says(known):
    said = names_said.claimed(known, 1, seed=0)
    rows = papers.claims("LAB").set_index("id")
    assert set(said) <= {key for key in rows.index if key.startswith("LAB-names-")}
    assert {"LAB-names-hidden", "LAB-names-alias", "LAB-names-sum"} <= set(said)
    for key, by in said.items():
        beside_twin = key in ("LAB-names-alias-own", "LAB-names-alias-carried")
        small = "this page, shipped: x" if beside_twin else "this page"  # its twin ships
        assert set(by) <= {(small, "0.15m, 1 world"), ("shipped: x", "2m, 1 world")}
        for interval in by.values():
            assert interval.low < interval.high
            assert papers.over_of(interval) == rows.loc[key, "over"]
            assert papers.method_of(interval) == rows.loc[key, "interval"]
    table = names_found.by_subject_alias(known, 1, seed=0).set_index(["model", "way", "told"])
    gap = table.loc[("2m", names.TOLD, names.BOTH), "gap"].estimate
    assert said["LAB-names-alias"]["shipped: x", "2m, 1 world"].estimate == pytest.approx(-gap)


def test_what_no_answer_showed_is_not_judged(known):
    none = known.assign(other=False, left_out=known["correct"])
    said = names_said.claimed(none, 1, seed=0)
    assert not {"LAB-names-hidden", "LAB-names-wrong"} & set(said)


def test_a_model_beyond_its_twin_on_the_same_facts(known):
    said = names_said.claimed(known, 1, seed=0)["LAB-names-alias-own"]
    key = ("this page, shipped: x", "0.15m, 1 world")
    assert list(said) == [key]  # the other size has no twin
    of = [mine(known, f"0.15m{twin}", names.TOLD, "alias") for twin in ("", "-unplanted")]
    told = [fact for fact, row in of[0].items() if row["by_alias"] > 0]
    gap = np.mean([float(of[0][f]["correct"]) - float(of[1][f]["correct"]) for f in told])
    assert said[key].estimate == pytest.approx(gap)


def sentences(known):
    tables = names_found.by_several, names_found.by_subject_alias, names_found.by_object_alias
    return names_said.sentences(known, *(table(known, 1, seed=0) for table in tables), 1)


def test_words_name_the_numbers_of_the_tables(known):
    said = sentences(known)
    assert set(said) == {"several", "subjects", "objects"}
    several = names_found.by_several(known, 1, seed=0).set_index(["model", "way"])
    assert several.loc[("0.15m", names.TOLD), "left_out"].text() in said["several"]
    assert "twins" in said["subjects"] and "twins" in said["objects"]
    twins = known[known["size"].eq("0.15m-unplanted")]
    assert set(sentences(twins)) == set(said)
    assert names_said.claimed(twins, 1, seed=0) == {}
    marks = names_said.doses(known, 1, seed=0)
    assert (
        set(marks["asked by"]) <= {"name", "alias"}
        and not marks.duplicated(["panel", "dose", "asked by"]).any()
    )
