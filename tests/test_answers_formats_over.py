"""Formats over several relations of real facts: tables of longer runs, and what their intervals are over."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from lkecore import answers, facts, figures
from lkecore.answers import formats, formats_over, formats_said, separators, shipped
from lkecore.errors import BadInput

SIGNS = [" ", ": "], [" ", "\n"]
PROFILE, MODEL = "mine", "toy on mine"
MAIN = {MODEL: separators.DRAWN}
KINDS = separators.kinds_of_templates()
# Right (1) or wrong of four facts of each relation, by format in order, and with words in the pairs.
RIGHT = {
    "P36": ["1110", "1100", "1111", "1000"],
    "P413": ["1000", "1000", "1100", "0000"],
    "P449": ["0000", "1000", "1110", "1100"],
}
SAID = {
    "P36": {"hgp-1": "1111", "hgp-2": "1100", "mmp-1": "0000"},
    "P413": {"hgp-1": "1000", "hgp-2": "1100"},  # no mined template
    "P449": {"hgp-1": "0000", "hgp-2": "0010", "mmp-1": "1111"},
}


def mean(hits):
    return hits.count("1") / len(hits)


def longer_run() -> pd.DataFrame:
    ways = [("format", a, b, "") for a in SIGNS[0] for b in SIGNS[1]]
    rows = []
    for name, own in RIGHT.items():
        each = [*zip(ways, own, strict=True)]
        for template, hits in SAID[name].items():
            each.append((("words", "", "", template), hits))
            each.append((("words alone", "", "", template), "0000"))
        for way, hits in each:
            rows += [("toy", "data/x", name, *way, i, h == "1") for i, h in enumerate(hits, 1)]
    return pd.DataFrame(rows, columns=["model", *separators.BY, "fact", "correct"])


def ships(monkeypatch, answers=None, signs=SIGNS):
    """Results of a profile as they would be read."""
    its = longer_run() if answers is None else answers
    cues = its[["relation", "fact"]].drop_duplicates().assign(fact_set="data/x", n_options=4)
    cues = cues.assign(**{"rule-overlap": 0.25, "rule-frequent": 0.0, "rule-both": 0.0})
    cues["rule-length"] = (cues["relation"] == "P36").astype(
        float
    )  # best: a third of the relations
    about = {"parameters": {"pair_separators": signs[0], "shot_separators": signs[1]}}
    read = {"": its, "cues": cues}
    monkeypatch.setattr(shipped, "read", lambda name, notebook, apart="": (read[apart], about))


NONE = pd.DataFrame({"correct": []}, dtype=bool), *(pd.DataFrame() for _ in range(4))


@pytest.fixture
def beside(monkeypatch):
    ships(monkeypatch)
    return separators.beside(*NONE, [PROFILE], "14_iclke_separators")


@pytest.fixture
def tables(beside):
    return separators.tables(*beside[:3])


@pytest.fixture
def gains(tables):
    found = formats.gains(*tables, MAIN, KINDS, seed=0)
    return found.set_index(["inside", "between"])


def over_relations(found):
    return [found.estimate, found.low, found.high]


def by_hand(means):
    theirs = ttest_1samp(means, 0).confidence_interval(0.95)
    return pytest.approx([np.mean(means), theirs.low, theirs.high])


# --- what is asked


def test_a_relation_with_few_objects_has_as_many_options_as_every_fact_can_have():
    draw = {"n_shots": 3, "n_facts": 5, "seed": 0}
    few, _ = separators.draw("atlas", ["official_language"], n_options=9_999, **draw)
    drawn = few["official_language"]
    true = {}
    for fact in drawn.relation.facts:
        true.setdefault(fact.subject, set()).add(fact.object)
    objects = {fact.object for fact in drawn.relation.facts}
    most = min(1 + len(objects - own) for own in true.values())
    assert {len(own) for own in drawn.options} == {most}
    some, _ = separators.draw("atlas", ["official_language"], n_options=7, **draw)
    assert {len(own) for own in some["official_language"].options} == {7}
    with pytest.raises(BadInput, match=r"relations \['capital', 'capital'\]: must be named once"):
        separators.draw("atlas", ["capital", "capital"], n_options=7, **draw)


def test_a_relation_is_asked_with_the_templates_that_the_paper_has_for_it():
    """Table 5 has two mined templates of position played, and one of original language."""
    sample = facts.draw("atlas", ["capital", "currency"], n_shots=2, n_facts=2, n_options=3, seed=0)
    drawn = sample["capital"]
    names = {"position played on team / speciality": 5, "original language of film or TV show": 4}
    for name, n in names.items():
        one = replace(drawn, relation=replace(drawn.relation, paper_relation=name))
        found = separators.questions({"x": {"r": one}}, {"x": SIGNS})
        assert len({key[5] for key in found if key[2] == "words"}) == n
    none = replace(drawn, relation=replace(drawn.relation, paper_relation=""))
    with pytest.raises(BadInput, match="relation r of x: the paper prints no template for it"):
        separators.questions({"x": {"r": none}}, {"x": SIGNS})


# --- longer runs beside


def test_longer_runs_stand_below_under_the_name_of_their_profile(monkeypatch):
    ships(monkeypatch)
    mine = pd.DataFrame({"model": ["a"], "fact_set": "atlas", "relation": "r", "fact": "f"})
    ours = mine.assign(correct=True), pd.DataFrame()
    own = *ours, mine, mine, mine
    every, groups, ways, cues = separators.beside(*own, [PROFILE], "any")
    assert every["model"].unique().tolist() == ["a", MODEL]
    for frame, n in ((groups, 12), (ways, 4), (cues, 12)):
        assert frame["fact_set"].tolist() == ["atlas"] + [PROFILE] * n
    assert set(ways["kind"].dropna()) == {"nobody knows"}
    assert set(groups["group"].dropna()) == {separators.DRAWN}
    once, *same = separators.beside(*own, [], "any")
    assert once.equals(ours[0].assign(first_draw=True, draws=1))
    assert all(frame.equals(mine) for frame in same)


def test_answers_about_a_world_stand_beside_no_other_facts(monkeypatch):
    ships(monkeypatch, longer_run().assign(fact_set="lab:smoke-1"))
    with pytest.raises(BadInput, match="results mine: are about lab:smoke-1"):
        separators.beside(*NONE, [PROFILE], "any")


# --- numbers


def test_signs_are_judged_over_relations_by_pencil_and_students_t(gains):
    colon = [mean(own[2]) - mean(own[0]) for own in RIGHT.values()]
    assert colon == [0.25, 0.25, 0.75]
    assert over_relations(gains.loc[(":", "space"), "over_relations"]) == by_hand(colon)
    every = [mean(own[2] + own[3]) - mean(own[0] + own[1]) for own in RIGHT.values()]
    assert over_relations(gains.loc[(":", "mean over all"), "over_relations"]) == by_hand(every)
    newline = [mean(own[1]) - mean(own[0]) for own in RIGHT.values()]
    assert newline == [-0.25, 0, 0.25]
    assert over_relations(gains.loc[("space", "newline"), "over_relations"]) == by_hand(newline)
    every = [mean(own[1] + own[3]) - mean(own[0] + own[2]) for own in RIGHT.values()]
    found = gains.loc[("mean over all", "newline")]
    assert over_relations(found["over_relations"]) == by_hand(every)
    assert gains["id"].eq(formats.BETWEEN).sum() == 2 and found["id"] == formats.BETWEEN


def test_words_of_several_relations_count_by_kind_where_a_relation_has_them(gains):
    own = {name: {k: mean(hits) for k, hits in said.items()} for name, said in SAID.items()}
    space = {name: mean(own[0]) for name, own in RIGHT.items()}
    human = [(own[r]["hgp-1"] + own[r]["hgp-2"]) / 2 - space[r] for r in RIGHT]
    assert over_relations(gains.loc[("written by people", "words"), "over_relations"]) == by_hand(
        human
    )
    mined = [own[r]["mmp-1"] - space[r] for r in ("P36", "P449")]
    assert over_relations(gains.loc[("mined from text", "words"), "over_relations"]) == by_hand(
        mined
    )
    assert gains["p"].isna().all()  # a share is neither right nor wrong


def test_bars_and_cells_have_students_t_within_the_shares(tables, beside):
    bars = formats.bars(*tables, MAIN, KINDS, seed=0).set_index(["words", "shots"])["accuracy"]
    space = [mean(own[0]) for own in RIGHT.values()]
    theirs = ttest_1samp(space, 0).confidence_interval(0.95)
    clipped = [max(theirs.low, 0), min(theirs.high, 1)]
    found = bars["space", "with shots"]
    assert [found.low, found.high] == pytest.approx(clipped)
    assert len(bars) == 5 and bars["mined from text", "with shots"].estimate == 0.5
    cells = formats.cells(tables[0], MAIN, {MODEL: PROFILE}, beside[2], seed=0)
    assert over_relations(cells["accuracy"][0]) == over_relations(found)
    means = [np.mean([mean(own[i]) for own in RIGHT.values()]) for i in range(4)]
    assert [each.estimate for each in cells["accuracy"]] == pytest.approx(means)


def test_a_spread_of_alike_facts_moves_with_the_relations_alone():
    """Format against format is 1 in one relation and 0 in the other. Drawn again, both are the first in
    a quarter of all cases, and both the second in a quarter: 0 to 1."""
    columns = pd.MultiIndex.from_product([["r", "s"], range(3)], names=["relation", "fact"])
    table = pd.DataFrame([[1, 1, 1, 0, 0, 0], [0] * 6], columns=columns, dtype=float)
    found = formats_over.statistic(table, formats.formats.spread, separators.DRAWN, seed=0)
    assert over_relations(found) == [0.5, 0, 1]
    assert found.method == "bootstrap over relations and facts"
    found = formats_over.statistic(table, formats.formats.spread, separators.LISTS, seed=0)
    assert found.estimate == 0.5 and found.method == "bootstrap over facts"  # of the lab
    with pytest.raises(ValueError, match="relations have 2 to 3 facts"):
        formats_over.statistic(table.iloc[:, :-1], formats.formats.spread, separators.DRAWN, seed=0)


def test_spreads_inside_relations_are_means_by_hand(tables):
    spreads = formats.spreads(tables[0], MAIN, seed=0)
    assert spreads["relation"].tolist() == ["all", *RIGHT]
    whole = [np.mean([mean(own[i]) for own in RIGHT.values()]) for i in range(4)]
    assert spreads["spread"][0].estimate == pytest.approx(max(whole) - min(whole))
    inside = [max(map(mean, own)) - min(map(mean, own)) for own in RIGHT.values()]
    [row] = formats_over.by_relation(spreads).to_dict("records")
    assert over_relations(row["spread"])[:2] == by_hand(inside).expected[:2]
    assert row["if_alike"] == pytest.approx(spreads["if_alike"][1:].mean())
    sure = spreads.assign(p=[0.9, 0.01, 0.02, 0.06])  # Holm: 0.03, 0.04, 0.06
    assert formats_over.by_relation(sure)["differ"].tolist() == [2]
    assert formats_over.by_relation(spreads.iloc[:2]).empty


def test_the_accuracy_on_facts_without_a_cue_by_pencil():
    """In r two of three facts have no cue, one of them right; in s one has none, which is wrong."""
    columns = pd.MultiIndex.from_tuples(
        [("r", "a"), ("r", "b"), ("r", "c"), ("s", "d"), ("s", "e")], names=["relation", "fact"]
    )
    index = pd.MultiIndex.from_tuples([(" ", " "), (":", " ")])
    table = pd.DataFrame([[1, 0, 1, 0, 1], [1] * 5], index=index, columns=columns, dtype=float)
    cues = pd.DataFrame({"relation": list("rrrss"), "fact": list("abcde"), "fact_set": "x"})
    cues["cue_word"] = [False, False, True, False, False]
    cues["cue_frequent"] = [False, False, False, False, True]
    every = pd.concat([cues, cues.assign(fact_set="y", cue_word=True)])
    found = formats_over.no_cue({("m", "g"): table, ("n", "g"): table}, every, {"m": "x", "n": "y"})
    assert found["no_cue"][0] == (1 / 2 + 0) / 2 and np.isnan(found["no_cue"][1])


def test_the_best_rule_and_table_8_stand_beside_by_pencil(tables, beside):
    whole = pd.DataFrame({"model": [MODEL], "group": separators.DRAWN, "paper": 0.5})
    found = formats_over.with_rules(whole, beside[3], beside[1], {MODEL: PROFILE})
    assert found["rule"].tolist() == [pytest.approx(1 / 3)]
    table = formats.beside_table_8(tables[0], MAIN, {}, {MODEL: PROFILE}, seed=0)
    # Printed in Table 8: capital, position played on team / speciality, original broadcaster.
    assert table["relation"].tolist() == ["original broadcaster", "mean of 3"]
    printed = (0.816 + 0.538 + 0.781) / 3
    assert table["published"][1] == pytest.approx(printed, abs=0.0005)
    assert table["accuracy"][1].estimate == pytest.approx(4 / 12)


def test_verdicts_name_the_profile_and_both_claims(tables, gains, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    judged = formats.judged(gains.reset_index(), MAIN, [])
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    assert set(kept["models"]) == {"toy"} and set(kept["source"]) == {"shipped: mine"}
    assert set(kept["mark"]) == {""} and set(kept["interval"]) == {"Student's t over relations"}
    assert kept.groupby("id").size().to_dict() == {formats.INSIDE: 4, formats.BETWEEN: 2}
    assert kept.loc[kept["as_paper"], "inside"].tolist() == ["written by people", "mined from text"]
    shown = formats.verdict_table(judged, [MODEL])
    assert shown.columns.tolist() == ["between", "inside", MODEL] and len(shown) == 6


def test_sentences_and_panels_have_the_numbers_of_the_tables(tables, gains, beside):
    about = {MODEL: PROFILE}
    whole = formats.spreads(tables[0], MAIN, seed=0).query("relation == 'all'")
    of_main = formats_over.with_rules(whole, beside[3], beside[1], about).set_index("model")
    effects = formats.effects(tables[0], MAIN, seed=0)
    by_kind = formats.by_kind(tables[0], MAIN, about, beside[2], seed=0)
    told = formats_said.sentences(gains.reset_index(), of_main, effects, by_kind, [MODEL])
    text = gains.loc[("mined from text", "words"), "over_relations"].text()
    assert f"{MODEL} by" in told["words"] and f"{text} (words mined from text)" in told["words"]
    assert told["spread"].count(MODEL) == 1 and told["read"] == "-"
    newline = gains.loc[("space", "newline"), "over_relations"].text()
    assert f"{newline} for {MODEL} (newline)" in told["place"]
    bars = answers.bounds(formats.bars(*tables, MAIN, KINDS, seed=0), "accuracy")
    two = pd.concat([bars, bars.assign(model="b")])
    panels = figures.separator_panels(two, of_rule={MODEL: 0.25, "b": 0.5})
    lines = [[x for x in ax.lines if x.get_linestyle() == "--"] for ax in panels.axes]
    assert [float(line.get_xdata()[0]) for [line] in lines] == [0.25, 0.5]
