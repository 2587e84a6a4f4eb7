"""The paper's tables beside ours. The oracle is the paper's CSV, read as text, and sums done by hand."""

import csv
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pandas as pd
import pytest

import lkecore
from lkecore import answers as api
from lkecore.answers import paper_tables, rules
from lkecore.errors import BadInput
from lkecore.intervals import Interval

PAPERS = Path(lkecore.__file__).parent / "data" / "papers"


def published(name: str) -> list[dict[str, str]]:
    with (PAPERS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def asked(source: str, model: str, relation: str, hits: str, n_options: int = 4) -> pd.DataFrame:
    """Answers, "1" for right, about facts 0, 1, ..."""
    rows = [(source, model, relation, str(i), hit == "1", n_options) for i, hit in enumerate(hits)]
    columns = ["source", "model", "relation", "fact", "correct", "n_options"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def answers():
    """Two sources with the relation capital in common; the first has two models."""
    return pd.concat(
        [
            asked("shipped: a", "m", "capital", "1100"),
            asked("shipped: a", "n", "capital", "1000"),
            asked("shipped: a", "m", "genre", "1111"),
            asked("shipped: a", "n", "genre", "1110"),
            asked("shipped: a", "m", "father", "0000"),
            asked("shipped: a", "n", "father", "0001"),
            asked("shipped: b", "m", "capital", "1110", n_options=10),
        ],
        ignore_index=True,
    ).assign(own=lambda frame: frame["relation"])


def test_a_relation_has_the_papers_name_by_itself_by_its_property_or_by_its_fact_set():
    names = paper_tables.paper_names(["capital", "P449", "P569", "P9999"])
    assert names == {"capital": "capital", "P449": "original broadcaster", "P569": "date of birth"}
    found = paper_tables.paper_names(["official_language", "film_year"], "atlas")
    assert found["official_language"] == "official language" and "film_year" not in found


def test_answers_named_as_paper_keep_their_own_names_and_lose_the_relations_of_others():
    frame = pd.concat([asked("a", "m", "P36", "10"), asked("a", "m", "P9999", "11")])
    named = paper_tables.named_as_paper(frame, {"P36": "capital"})
    assert named[["relation", "own", "correct"]].values.tolist() == [
        ["capital", "P36", True],
        ["capital", "P36", False],
    ]


def test_a_mean_of_models_is_over_the_models_of_each_fact(answers):
    means = paper_tables.means_of_models(answers, seed=0)
    found = {(r.source, r.relation): r for r in means.itertuples()}
    of_a = found["shipped: a", "capital"]
    assert (of_a.models, of_a.facts) == (2, 4)
    assert of_a.accuracy.estimate == pytest.approx((1 + 0.5 + 0 + 0) / 4)
    assert 0 <= of_a.accuracy.low <= of_a.accuracy.high <= 1
    assert found["shipped: b", "capital"].accuracy.estimate == pytest.approx(3 / 4)


def test_tables_3_7_and_8_are_whole_and_ours_stand_in_their_rows(answers):
    means = paper_tables.means_of_models(answers, seed=0)
    three, eight = paper_tables.table_3(means), paper_tables.table_8(means)
    assert list(three["relation"]) == [r["relation"] for r in published("iclke_table3_relations")]
    here = three.set_index("relation")["asked here"]
    assert here["capital"] == "a, b" and here["genre"] == "a" and (here != "").sum() == 3
    of_paper = published("iclke_table8_relations")
    assert list(eight["relation"]) == [r["relation"] for r in of_paper]
    printed = [float(r["average_accuracy"]) for r in of_paper]
    assert eight["paper"].tolist() == pytest.approx(printed, abs=0.0005 + 1e-9)
    row = eight.set_index("relation").loc["capital"]
    assert row["shipped: a"].startswith("0.38 [") and row["shipped: b"].startswith("0.75 [")
    assert (eight["shipped: b"] != "").sum() == 1
    seven = paper_tables.table_7(answers, seed=0)
    models = published("iclke_table7_models")
    assert len(models) == 49 and list(seven["model"][:49]) == [r["model"] for r in models]
    ours = seven[seven["source"] != "published"].set_index(["source", "model"])
    assert ours.loc[("shipped: a", "m"), "accuracy"] == pytest.approx(mean([0.5, 1, 0]))
    assert ours.loc[("shipped: a", "n"), "std"] == pytest.approx(stdev([1 / 4, 3 / 4, 1 / 4]))
    assert pd.isna(ours.loc[("shipped: b", "m"), "low"])  # a single relation


def test_the_same_relations_are_those_of_every_source_and_the_papers_mean_is_over_them(answers):
    shared, table = paper_tables.same_relations(answers, seed=0)
    assert shared == ["capital"]
    [printed] = [
        r["average_accuracy"]
        for r in published("iclke_table8_relations")
        if r["relation"] == "capital"
    ]
    assert table.iloc[0].tolist() == ["paper", "35 models", f"{float(printed):.2f}", "", 0.01]
    assert set(table["no_cue"]) == {""}, "nobody has said which facts carry a cue"
    rest = [(r.facts, r.model, r.accuracy[:4], r.chance) for r in table[1:].itertuples()]
    assert rest == [
        ("shipped: a", "m", "0.50", 0.25),
        ("shipped: a", "n", "0.25", 0.25),
        ("shipped: b", "m", "0.75", 0.1),
    ]
    alone = answers[answers["source"] == "shipped: a"]
    assert paper_tables.same_relations(alone, seed=0)[0] == []
    assert paper_tables.same_relations(answers[answers["relation"] == "genre"], seed=0)[1].empty


def test_the_agreement_with_table_8_is_pearsons_r_of_the_means(answers):
    """The oracle is the formula, with the paper's numbers as text."""
    means = paper_tables.means_of_models(answers, seed=0)
    [row] = paper_tables.agreement(means, seed=0).itertuples()
    paper = {
        r["relation"]: float(r["average_accuracy"]) for r in published("iclke_table8_relations")
    }
    ours = {"capital": 3 / 8, "genre": 7 / 8, "father": 1 / 8}
    x, y = [[values[n] for n in ours] for values in (paper, ours)]
    dx, dy = [[v - mean(values) for v in values] for values in (x, y)]
    top = sum(a * b for a, b in zip(dx, dy, strict=True))
    r = top / (sum(a * a for a in dx) * sum(b * b for b in dy)) ** 0.5
    assert (row.source, row.relations) == ("shipped: a", 3)
    assert row.r.estimate == pytest.approx(r)


def test_dates_are_left_out_of_a_second_r():
    names = ["capital", "sibling", "father", "inception", "date of birth"]
    values = [0.4, 0.3, 0.1, 0.0, 0.05]
    paper = {
        r["relation"]: float(r["average_accuracy"]) for r in published("iclke_table8_relations")
    }
    means = pd.DataFrame({"source": "s", "relation": names})
    means["accuracy"] = [Interval(v, v, v, 0.95, "") for v in values]
    every, rest = paper_tables.agreement(means, seed=0).itertuples()
    assert (every.of, every.relations, rest.of, rest.relations) == ("all", 5, "without dates", 3)
    for row, some in ((every, names), (rest, names[:3])):
        x, y = [paper[n] for n in some], [values[names.index(n)] for n in some]
        assert row.r.estimate == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_behind_the_models_of_a_source_stands_its_best_rule():
    """The review that found it has 0.193 on KAMEL and 0.428 on T-REx, over the 13 relations in both."""
    page, profiles = "10_iclke_relations", ["kamel", "trex"]
    every = api.alone(profiles, page)
    named = paper_tables.named_as_paper(
        every[every["estimator"] == "iclke-space"],
        paper_tables.paper_names(list(every["relation"].unique())),
    )
    cues = rules.beside(None, profiles, page)
    shared, table = paper_tables.same_relations(named, seed=0, cues=cues)
    assert len(shared) == 13
    ruled = table[table["model"] == "no model, rule-both"].set_index("facts")["accuracy"]
    found = [float(text.partition(" ")[0]) for text in ruled[["shipped: kamel", "shipped: trex"]]]
    assert found == [0.19, 0.43]
    without = paper_tables.same_relations(named, seed=0)[1]
    assert len(table) == len(without) + 2


def carried(source: str, **marks: str) -> pd.DataFrame:
    """Cues of facts 0, 1, ... of relations: "w" a shared word, "f" the most frequent object, "." neither."""
    rows = [
        (source, name, str(i), mark == "w", mark == "f", 0.0 + (mark != "."))
        for name, of in marks.items()
        for i, mark in enumerate(of)
    ]
    columns = ["source", "relation", "fact", *rules.CUES, "rule-both"]
    lots = dict.fromkeys(("rule-overlap", "rule-frequent", "rule-length"), 0.1)
    return pd.DataFrame(rows, columns=columns).assign(**lots, n_options=4)


def test_beside_each_mean_stands_that_of_facts_without_a_cue_and_of_how_many(answers):
    """Source b has no cues. Of a: capital 11|00 and 10|00 right, of which the first and the last are left."""
    cues = carried("shipped: a", capital=".wf.", genre="...f", father="fww.")
    means = paper_tables.means_of_models(answers, seed=0, cues=cues)
    found = means.set_index(["source", "relation"])
    assert found.loc["shipped: a", "left"].to_dict() == {"capital": 2, "father": 1, "genre": 3}
    no_cue = found.loc["shipped: a", "no_cue"]
    assert no_cue["capital"].estimate == pytest.approx((1 + 1 + 0 + 0) / 4)
    assert no_cue["genre"].estimate == 1 and no_cue["father"] is None
    assert found.loc["shipped: b", "left"].isna().all() and found.loc[
        "shipped: b", "no_cue"
    ].tolist() == [None]
    plain = paper_tables.means_of_models(answers, seed=0)
    assert plain["accuracy"].tolist() == means["accuracy"].tolist(), "cues do not move an accuracy"
    eight = paper_tables.table_8(means).set_index("relation")
    texts = eight["shipped: a, no cue"]
    assert texts["capital"] == f"{no_cue['capital'].text()} of 2" and texts["father"] == "- of 1"
    assert (texts != "").sum() == 3 and "shipped: b, no cue" not in eight
    seven = paper_tables.table_7(answers, seed=0, cues=cues).set_index(["source", "model"])
    of_m = seven.loc[
        ("shipped: a", "m"), "no_cue"
    ]  # capital 10, genre 111: father has one fact left
    assert of_m.startswith(f"{mean([1 / 2, 1]):.3f} [")
    assert seven.loc[("shipped: b", "m"), "no_cue"] == "" and set(
        seven.loc["published"]["no_cue"]
    ) == {""}
    _, same = paper_tables.same_relations(answers, seed=0, cues=cues)
    shown = [(row.model, row.no_cue[:4]) for row in same.itertuples() if row.facts == "shipped: a"]
    assert shown == [("m", "0.50"), ("n", "0.50"), ("no model, rule-both", "")]
    with pytest.raises(BadInput, match="shipped: a: 2 answers are about facts without cues"):
        paper_tables.means_of_models(answers, seed=0, cues=cues.iloc[1:])


def test_the_best_and_the_worst_relations_are_told_of_facts_without_a_cue_too(answers):
    """Of a, as above: 10 and 111 of m are left, 10 and 111 of n, and father has one fact left."""
    cues = carried("shipped: a", capital=".wf.", genre="...f", father="fww.")
    asked = answers.assign(estimator="e")
    nine = paper_tables.table_9(asked, names={"genre": "kind"}, cues=cues)
    assert nine[["source", "model", "facts", "best", "worst"]].values.tolist() == [
        ["shipped: a", "m", "all", "kind 1.00", "father 0.00"],
        ["shipped: a", "m", "no cue", "kind 1.00", "capital 0.50"],
        ["shipped: a", "n", "all", "kind 0.75", "father 0.25"],
        ["shipped: a", "n", "no cue", "kind 1.00", "capital 0.50"],
        ["shipped: b", "m", "all", "", ""],  # of a single relation none is the best
    ]
    assert paper_tables.table_9(asked, names={})["facts"].tolist() == ["all"] * 3


@pytest.mark.parametrize("profile", ["atlas", "kamel", "trex"])
def test_means_without_cues_of_what_ships_are_those_of_a_loop_over_its_rows(profile):
    every = api.alone([profile], "10_iclke_relations")
    every = every[every["estimator"] == "iclke-space"].assign(own=lambda frame: frame["relation"])
    cues = rules.beside(None, [profile], "10_iclke_relations")
    carry = {
        (row.relation, str(row.fact)): row.cue_word or row.cue_frequent for row in cues.itertuples()
    }
    right: dict[str, dict[str, list[bool]]] = {}
    for row in every.itertuples():
        if not carry[row.relation, str(row.fact)]:
            right.setdefault(row.relation, {}).setdefault(str(row.fact), []).append(row.correct)
    means = paper_tables.means_of_models(every, seed=0, cues=cues)
    assert set(means["relation"]) == set(every["relation"])
    for row in means.itertuples():
        of_facts = right.get(row.relation, {})
        assert row.left == len(of_facts)
        if len(of_facts) > 1:
            assert row.no_cue.estimate == pytest.approx(mean(map(mean, of_facts.values())))
        else:
            assert row.no_cue is None


def test_each_relation_of_the_figure_has_the_papers_number_and_ours(answers):
    drawn = paper_tables.against_table_8(paper_tables.means_of_models(answers, seed=0))
    assert set(drawn.groupby(["source", "relation"])["model"].agg(tuple)) == {("the paper", "ours")}
    of_paper = drawn[drawn["model"] == "the paper"]
    assert (of_paper["low"] == of_paper["high"]).all()
    ours = drawn[drawn["model"] == "ours"].set_index(["source", "relation"])["accuracy"]
    assert ours["shipped: a", "genre"] == pytest.approx(7 / 8)
