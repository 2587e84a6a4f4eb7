"""Pairs beside templates: by hand, by the statistics module, scipy and statsmodels."""

import json
from fractions import Fraction
from itertools import groupby
from statistics import mean, stdev

import helpers
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from lkecore import answers, facts, prompts
from lkecore.answers import rules, templates, wordings
from lkecore.errors import BadInput
from lkecore.intervals import Interval

# Right answers of each estimator, fact by fact; relation "two" has one mined template, as in Table 5.
RIGHT = {
    "one": {
        "iclke-space": "1101", "iclke-colon": "1111", "hgp-1": "1000", "hgp-2": "1100", "hgp-3": "1011",
        "mmp-1": "0000", "mmp-2": "0001",
    },
    "two": {
        "iclke-space": "0010", "iclke-colon": "0110", "hgp-1": "1110", "hgp-2": "0110", "hgp-3": "0010",
        "mmp-1": "1000",
    },
}  # fmt: skip
HUMAN = ["hgp-1", "hgp-2", "hgp-3"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    helpers.few_resamples(monkeypatch)


WAYS = {"iclke-space": "from pairs"}


def made(right=RIGHT, model="m"):
    rows = [
        (model, relation, estimator, f"{relation}{i}", hit == "1")
        for relation, by in right.items()
        for estimator, hits in by.items()
        for i, hit in enumerate(hits)
    ]
    return pd.DataFrame(rows, columns=["model", "relation", "estimator", "fact", "correct"])


def share(relation, estimators):
    """The accuracy of several estimators together, exactly."""
    hits = "".join(RIGHT[relation][name] for name in estimators)
    return Fraction(hits.count("1"), len(hits))


KINDS = {
    "iclke-space": (["iclke-space"], ["iclke-space"]),
    "iclke-colon": (["iclke-colon"], ["iclke-colon"]),
    "human (HGP)": (HUMAN, HUMAN),
    "mined (MMP)": (["mmp-1", "mmp-2"], ["mmp-1"]),
}


def test_share_of_a_kind_is_that_of_its_templates():
    found = templates.shares(made()).set_index(["relation", "kind", "fact"])["correct"]
    assert found["one", "human (HGP)", "one0"] == 1
    assert found["one", "human (HGP)", "one1"] == pytest.approx(1 / 3)
    assert found["one", "mined (MMP)", "one3"] == 0.5
    assert found["two", "mined (MMP)", "two0"] == 1
    assert len(found) == 2 * 4 * 4


def test_accuracy_by_relation():
    found = templates.by_relation(made(), seed=0)
    assert len(found) == 8 and set(found["facts"]) == {4}
    for row in found.itertuples():
        names = KINDS[row.kind][["one", "two"].index(row.relation)]
        assert row.accuracy.estimate == pytest.approx(float(share(row.relation, names)))


def test_accuracy_and_spread_by_kind():
    found = templates.by_kind(made(), seed=0).set_index("kind")
    for kind, (one, two) in KINDS.items():
        row = found.loc[kind]
        expected = mean([share("one", one), share("two", two)])
        assert row["over_facts"].estimate == pytest.approx(float(expected))
        of_prompts = [float(share("one", [e])) for e in one] + [
            float(share("two", [e])) for e in two
        ]
        assert row["spread"].estimate == pytest.approx(stdev(of_prompts))
        assert (row["relations"], row["prompts"], row["facts"]) == (2, len(of_prompts), 8)


def test_differences_of_kinds_are_on_facts_that_both_were_asked():
    frame = made()
    some = frame[(frame["estimator"] != "iclke-colon") | frame["fact"].isin(["one0", "one2"])]
    pairs = [
        ("iclke-space", "human (HGP)"),
        ("iclke-colon", "iclke-space"),
        ("eiclke", "iclke-space"),
    ]
    first, second = templates.apart(some, pairs, seed=0).to_dict("records")  # nobody asked eiclke
    expected = mean([Fraction(3, 4) - share("one", HUMAN), Fraction(1, 4) - share("two", HUMAN)])
    assert first["over_relations"].estimate == pytest.approx(float(expected))
    assert (first["facts"], first["relations"]) == (8, 2)
    assert second["over_facts"].estimate == 0.5  # of one0 and one2, the space has the first
    assert (second["facts"], second["relations"], second["over_relations"]) == (2, 1, None)


def test_steadier_is_a_difference_of_spreads():
    found = templates.steadier(made(), ["iclke-space", "iclke-colon"], seed=0)
    human = stdev(float(share(name, [each])) for name in RIGHT for each in HUMAN)
    for row in found.itertuples():
        own = stdev(float(share(name, [row.estimator])) for name in RIGHT)
        assert row.over_relations.estimate == pytest.approx(human - own)
    assert found["relations"].tolist() == [2, 2]


def test_steadiness_of_several_draws_is_the_mean_of_theirs():
    """The second draw has none of one relation right and all of two: its std is that of 0 and 1."""
    first = made()
    again = first[first["estimator"] == "iclke-space"].assign(draw=1)
    again["correct"] = again["relation"] == "two"
    less = again[again["relation"] == "one"].assign(draw=2)  # no draw of all relations: left out
    every = templates.with_draws(first, pd.concat([again, less]))
    [row] = templates.steadier(every, ["iclke-space"], seed=0).to_dict("records")
    human = stdev(float(share(name, [each])) for name in RIGHT for each in HUMAN)
    draws = stdev(float(share(name, ["iclke-space"])) for name in RIGHT), stdev([0.0, 1.0])
    assert row["over_relations"].estimate == pytest.approx(human - mean(draws))


def test_steadier_at_the_mean_is_a_difference_of_shares_of_the_most_by_pencil():
    """Space: 3/4 and 1/4, so std (ddof 1) sqrt(1/8), mean 1/2, at most 1/2. Human: 1/4, 1/2, 3/4, 3/4, 1/2,
    1/4, so std sqrt(1/20), mean 1/2 as well. With one mean both wordings say the same, but for the unit."""
    ten = {  # ten times the facts: then no draw has all answers of a side right, or none
        relation: {name: hits * 10 for name, hits in by.items()} for relation, by in RIGHT.items()
    }
    [row] = templates.steadier(made(ten), ["iclke-space"], seed=0).to_dict("records")
    apart = (1 / 20) ** 0.5 - (1 / 8) ** 0.5
    assert row["over_relations"].estimate == pytest.approx(apart)
    assert row["at_mean"].estimate == pytest.approx(apart / 0.5)
    # Templates near the floor, 1 and 3 of 40: their std is 0.027, and their mean of 2/40 allows
    # sqrt(2/40 * 38/40) = 0.218. The estimator's 10 and 30 of 40: 0.354 of 0.5.
    hits = {"one": "1" + "0" * 39, "two": "111" + "0" * 37}
    low = {name: {t: hits[name] for t in HUMAN} for name in hits}
    low["one"]["iclke-space"], low["two"]["iclke-space"] = "1" * 10 + "0" * 30, "1" * 30 + "0" * 10
    sides = [[1 / 40] * 3 + [3 / 40] * 3, [1 / 4, 3 / 4]]
    shares = [stdev(s) / (mean(s) * (1 - mean(s))) ** 0.5 for s in sides]
    assert shares == pytest.approx([0.1257, 0.7071], abs=1e-4)
    found = templates.steadier(made(low), ["iclke-space"], seed=0)
    assert found["at_mean"].tolist() == [None]  # some draw has no template right
    both = {name: {k: v * 8 for k, v in by.items()} for name, by in low.items()}
    [row] = templates.steadier(made(both), ["iclke-space"], seed=0).to_dict("records")
    assert row["at_mean"].estimate == pytest.approx(shares[0] - shares[1])


def test_steadiness_takes_as_many_facts_as_all_relations_have_and_two_relations():
    ragged = {name: dict(by) for name, by in RIGHT.items()}
    ragged["one"] = {name: hits + "1" for name, hits in ragged["one"].items()}
    found = templates.steadier(made(ragged), ["iclke-space"], seed=0)
    assert (
        found["over_relations"][0]
        == templates.steadier(made(), ["iclke-space"], seed=0)["over_relations"][0]
    )
    alone = templates.steadier(made({"one": RIGHT["one"]}), ["iclke-space"], seed=0)
    assert alone[["over_relations", "at_mean"]].to_numpy().tolist() == [[None, None]]


def test_claims_about_long_prompts_are_their_own():
    """As many right as in the colon's place, so above human templates and above mined ones."""
    frame = made({n: by | {"eiclke": by["iclke-colon"]} for n, by in RIGHT.items()})
    versus = [("eiclke", kind) for kind in ("human (HGP)", "mined (MMP)")]
    gaps = templates.apart(frame, versus, seed=0)
    found = templates.for_claims(gaps, templates.steadier(frame, ["eiclke"], seed=0), "eiclke")
    assert list(found) == ["IC-eic-above-human", "IC-eic-above-mined", "IC-eic-steadier"]
    colon = mean([1, Fraction(1, 2)])
    human = mean(share(name, HUMAN) for name in RIGHT)
    got = found["IC-eic-above-human"]["this page", "m"]
    assert got.estimate == pytest.approx(float(colon - human))
    assert len(answers.judge(found, estimator="eiclke", as_paper=True)) == 3


def test_templates_one_by_one():
    drawn = facts.draw(
        "atlas", ["capital", "official_language"], n_shots=1, n_facts=4, n_options=2, seed=0
    )
    sample = dict(zip(RIGHT, drawn.values(), strict=True))
    found = wordings.against(made(), sample, "iclke-space", seed=0)
    expected, ps = [], []
    for relation, by in RIGHT.items():
        for name in [name for name in by if name[:3] in ("hgp", "mmp")]:
            both = list(zip(by["iclke-space"], by[name], strict=True))
            only = both.count(("1", "0")), both.count(("0", "1"))
            ps.append(binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0)
            expected.append((relation, name, by[name].count("1") / 4, *only))
    columns = ["relation", "template", "accuracy", "only_estimator", "only_template"]
    assert list(found[columns].itertuples(index=False, name=None)) == expected
    assert found["p"].tolist() == pytest.approx(multipletests(ps, method="holm")[1])
    gains = (found["only_estimator"] - found["only_template"]) / 4
    assert [gain.estimate for gain in found["gain"]] == pytest.approx(gains.tolist())
    assert found["words"][0] == "The capital of [X] is [Y]"


def test_p_values_of_each_model_are_corrected_apart():
    ten = {"iclke-space": "1" * 10, "hgp-1": "0" * 10, "hgp-2": "1" * 10, "mmp-1": "0001111111"}
    frame = pd.concat([made({"capital": ten}, model) for model in ("m", "n")])
    few = {"n_shots": 1, "n_facts": 2, "n_options": 2, "seed": 0}
    sample = facts.draw("atlas", ["capital"], least=1, **few)
    found = wordings.against(frame, sample, "iclke-space", seed=0)
    expected = multipletests([2 / 2**10, 1, 2 / 2**3], method="holm")[1]
    assert found["p"].tolist() == pytest.approx([*expected, *expected])


def test_optimism_of_the_best_template():
    """The oracle draws the halves itself, one generator for both relations."""
    frame, rng, expected = made(), np.random.default_rng(3), []
    for by in RIGHT.values():
        table = np.array([[int(hit) for hit in by[name]] for name in HUMAN])
        chosen, honest = [], []
        for _ in range(1_000):
            order = rng.permutation(4)
            means = [sum(row[order[:2]]) for row in table]
            best = means.index(max(means))
            chosen.append(max(means) / 2)
            honest.append(sum(table[best][order[2:]]) / 2)
        expected.append((table.mean(), table.mean(axis=1).max(), mean(chosen), mean(honest)))
    found = wordings.optimism(frame, seed=3)
    columns = ["mean", "best", "as_chosen", "honest"]
    assert np.allclose(found[columns], expected)
    assert np.allclose(found["too_high"], found["as_chosen"] - found["honest"])


def test_widest_difference_of_wordings():
    human, mined = wordings.widest(made()).to_dict("records")
    assert (human["kind"], human["relation"]) == ("human (HGP)", "one")  # as wide in two: the first
    assert (human["best"], human["worst"]) == ("hgp-3", "hgp-1")
    assert (human["accuracy_best"], human["accuracy_worst"]) == (0.75, 0.25)
    assert (mined["relation"], mined["best"], mined["worst"]) == ("one", "mmp-2", "mmp-1")
    single = made({"two": RIGHT["two"]})
    assert wordings.widest(single)["kind"].tolist() == ["human (HGP)"]


def test_claims_of_both_formats_are_judged_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))

    def around(middle):
        return Interval(middle, middle - 0.1, middle + 0.1, 0.95, "by hand")

    rows = [("m", a, b, around(x)) for a, b, x in [
        ("iclke-space", "human (HGP)", -0.2), ("iclke-space", "mined (MMP)", 0.2),
        ("iclke-colon", "human (HGP)", 0.3), ("iclke-colon", "mined (MMP)", 0.05),
    ]]  # fmt: skip
    gaps = pd.DataFrame(rows, columns=["model", "first", "second", "over_relations"])
    rows = [("m", "iclke-space", None, None), ("m", "iclke-colon", around(0.0), around(0.2))]
    steady = pd.DataFrame(rows, columns=["model", "estimator", "over_relations", "at_mean"])
    space, colon = (templates.for_claims(gaps, steady, e) for e in ("iclke-space", "iclke-colon"))
    judged = answers.judge_ways(
        {"iclke-space": space, "iclke-colon": colon}, as_paper=["iclke-space"]
    )
    expected = [
        ("IC-above-human", "iclke-space", "fails"), ("IC-above-mined", "iclke-space", "holds"),
        ("IC-above-human", "iclke-colon", "holds"), ("IC-above-mined", "iclke-colon", "undecided"),
        ("IC-steadier", "iclke-colon", "undecided"),
        ("IC-steadier-at-mean", "iclke-colon", "holds"),
    ]  # fmt: skip
    columns = ["id", "estimator", "verdict"]
    assert list(judged[columns].itertuples(index=False, name=None)) == expected
    kept = pd.read_csv(tmp_path / "verdicts.csv")
    assert kept["as_paper"].tolist() == [each == "iclke-space" for _, each, _ in expected]
    assert set(kept["models"]) == {"m"} and set(kept["source"]) == {"this page"}


def test_words_for_the_space_say_nothing_of_a_model_that_is_not_above_a_rule():
    """By the intervals' lower ends: 0.2 and 0.5 over relations, 0.3 over facts of a single relation."""
    rows = [
        ("m", "iclke-space", between(0.1, 0.9), between(0.2, 0.8)),
        ("m", "iclke-colon", between(0.9, 1.0), between(0.9, 1.0)),
        ("m on far", "iclke-space", between(0.1, 0.9), between(0.5, 0.7)),
        ("n on far", "iclke-space", between(0.3, 0.9), None),
    ]
    overall = pd.DataFrame(rows, columns=["model", "kind", "over_facts", "over_relations"])

    def marked(m, far, n):
        yard = {"m": m, "m on far": far, "n on far": n}
        of_rule = {model: pd.Series([x - 0.05, x + 0.05]) for model, x in yard.items()}
        return templates.at_chance(overall, of_rule)

    m, far, n = (
        ("IC-separator", source, model, "iclke-space")
        for source, model in [("this page", "m"), ("shipped: far", "m"), ("shipped: far", "n")]
    )
    assert marked(0.1, 0.4, 0.2) == {}
    assert marked(0.3, 0.4, 0.2) == {m: "at chance"}
    assert marked(0.1, 0.6, 0.4) == {far: "at chance", n: "at chance"}


def between(low, high):
    return Interval((low + high) / 2, low, high, 0.95, "by hand over relations")


def test_a_claim_that_there_is_not_is_refused_wherever_it_stands():
    nothing = {"IC-nothing": {}}
    with pytest.raises(KeyError, match="IC-nothing"):
        answers.judge_ways({"a": {}, "b": nothing}, as_paper=["a"])


# --- the questions


def test_questions_beside_templates_go_relation_by_relation():
    drawn = facts.draw(
        "atlas", ["film_language", "capital"], n_shots=2, n_facts=2, n_options=3, seed=0
    )
    made_of = prompts.beside_templates(drawn, ["iclke-space"])
    human = ["iclke-space", *HUMAN]
    by = {name: [key for key, _ in keys] for name, keys in groupby(made_of, key=lambda k: k[1])}
    assert by == {
        "film_language": [*human, "mmp-1"],
        "capital": [*human, "mmp-1", "mmp-2", "mmp-3"],
    }
    assert json.dumps(made_of["hgp-1", "capital"][0].context).startswith('"The capital of ')
    # With words each template a second time, its sentence in every pair.
    both = prompts.beside_templates(drawn, ["iclke-space"], words=True)
    assert {
        k: v for k, v in both.items() if not k[0].startswith("iclke-") or k in made_of
    } == made_of
    words = [
        key for key, name in both if name == "film_language" and key not in by["film_language"]
    ]
    assert words == ["iclke-hgp-1", "iclke-hgp-2", "iclke-hgp-3", "iclke-mmp-1"]
    assert (
        both["iclke-hgp-1", "capital"][0].context.count("The capital of ") == 3
    )  # two pairs, one gap


def test_relations_with_templates_are_those_that_mean_one_of_table_5():
    assert prompts.with_templates("atlas") == ["capital", "film_language", "official_language"]
    assert prompts.with_templates("atlas", ["capital"]) == ["capital"]


def test_draws_are_prompts_of_one_kind_by_pencil():
    """Relation one: 1101 by the first draw, 0111 by the second. So 0.5, 1, 0.5 and 1 of the two."""
    first = made({"one": {"iclke-space": "1101", "hgp-1": "1000"}})
    other = made({"one": {"iclke-space": "0111"}}).assign(draw=7)
    both = templates.with_draws(first, other)
    assert "draw" not in both and set(both["estimator"]) == {
        "iclke-space",
        "iclke-space, draw 7",
        "hgp-1",
    }
    shares = templates.shares(both).set_index(["kind", "fact"])["correct"]
    assert shares["iclke-space"].tolist() == [0.5, 1, 0.5, 1]
    [row] = [
        r for r in templates.by_kind(both, seed=0).to_dict("records") if r["kind"] == "iclke-space"
    ]
    assert (row["prompts"], row["facts"]) == (2, 4) and row["over_facts"].estimate == 0.75
    dots = templates.by_prompt(both)
    assert sorted(dots[dots["kind"] == "iclke-space"]["accuracy"]) == [0.75, 0.75]


def test_longer_runs_stand_below_under_names_of_their_own(monkeypatch):
    shipped = {"": made(model="m"), "draws": made({"one": {"iclke-space": "0000"}}).assign(draw=1)}
    shipped["cues"] = pd.DataFrame(
        {
            "relation": ["one", "two"], "fact": ["a", "b"], "n_options": 4, "rule-overlap": 0.0,
            "rule-frequent": [0.5, 0.0], "rule-both": [0.5, 0.25], "rule-length": 0.25,
        }
    )  # fmt: skip
    about = {"parameters": {"n_redraws": 1, "models": ["m"]}}
    monkeypatch.setattr(templates, "read", lambda name, page, apart="": (shipped[apart], about))
    ours = made(model="m")
    both = templates.beside(ours, ["far"], "13_page")
    assert list(both["model"].unique()) == ["m", "m on far"]
    assert len(both) == 2 * len(ours) + 4 and "iclke-space, draw 1" in set(both["estimator"])
    here = shipped["cues"].assign(**{"rule-both": [1.0, 0.5]}, source="this page")
    with pytest.raises(BadInput, match="shipped: far: ships without cues"):
        templates.of_rules(both, here)
    found = pd.concat([here, shipped["cues"].assign(source="shipped: far")])
    ruled = {name: each.to_dict() for name, each in templates.of_rules(both, found).items()}
    assert ruled == {"m": {"one": 1.0, "two": 0.5}, "m on far": {"one": 0.5, "two": 0.25}}
    pairs = [("iclke-space", "human (HGP)")]
    gaps = templates.apart(both, pairs, seed=0)
    steady = templates.steadier(both, ["iclke-space"], seed=0)
    tested = templates.for_claims(gaps, steady, "iclke-space")["IC-above-human"]
    assert set(tested) == {("this page", "m"), ("shipped: far", "m")}
    said = templates.others(
        templates.by_kind(both, seed=0), WAYS, {"m on far": pd.Series([0.5, 0.25])}
    )
    assert said.startswith("In longer runs, m on far: 0.") and said.count("[") == 3
    assert "] from pairs, 0." in said and "] from sentences, 0.38 by" in said
    assert said.endswith("0.38 by a rule without a model.")
    alone = templates.others(templates.by_kind(ours, seed=0), WAYS, {})
    assert alone == "-"


def test_what_is_left_without_cues_by_pencil():
    """In each relation the last two of four facts have no cue. Space: 1 of 2 and 2 of 2, so 0.75. Human
    templates, both of them together: 0, 1/2 and 1/2, 1/2, so 0.375."""
    right = {
        "one": {"iclke-space": "1101", "hgp-1": "1100", "hgp-2": "1101"},
        "two": {"iclke-space": "0011", "hgp-1": "0010", "hgp-2": "1101"},
    }
    ours = made(right, model="m")
    facts_of = ours.drop_duplicates(["relation", "fact"])[["relation", "fact"]]
    cued = [True, False, False, False] * 2, [False, True, False, False] * 2
    found = facts_of.assign(source="this page", cue_word=cued[0], cue_frequent=cued[1], n_options=4)
    found = found.assign(length_rank=1.0, **dict.fromkeys(rules.RULES, 0.25))
    overall = templates.by_kind(ours, seed=0)
    shown = templates.with_no_cue(overall, ours, found, seed=0).set_index("kind")["no_cue"]
    assert {kind: each.estimate for kind, each in shown.items()} == {
        "iclke-space": 0.75,
        "human (HGP)": 0.375,
    }
    assert {each.method for each in shown} == {"Student's t over relations"}


def test_the_relations_of_longer_runs_have_the_papers_names(monkeypatch):
    asked = {"far": ["P36", "P413"], "near": ["capital"]}
    read = lambda name, page: (None, {"parameters": {"relations": asked[name]}})  # noqa: E731
    monkeypatch.setattr(templates, "read", read)
    found = templates.asked_beside(["far", "near"], "13_page")
    position = "position played on team / speciality"
    assert found == {"P36": "capital", "P413": position, "capital": "capital"}
    assert templates.asked_beside([], "13_page") == {}


def test_words_in_pairs_are_set_against_the_space_of_the_same_shots_by_pencil():
    """Space, first draw: 3 of 4 and 1 of 4. Words: 1 of 4 and 2 of 4, mean of two templates. A second draw
    of the space, all right, must not count."""
    right = {
        "one": {"iclke-space": "1101", "iclke-hgp-1": "1000", "iclke-mmp-1": "0001"},
        "two": {"iclke-space": "0010", "iclke-hgp-1": "1110", "iclke-mmp-1": "0010"},
    }
    second = made({"one": {"iclke-space": "1111"}, "two": {"iclke-space": "1111"}}).assign(draw=3)
    both = templates.with_draws(made(right), second)
    pair = [("iclke-space", templates.WORDS_KIND)]
    gaps = templates.apart(both, pair, same_shots=[templates.WORDS_KIND], seed=0)
    alone = templates.apart(templates.first_draws(both), pair, seed=0)
    assert gaps.to_dict("records") == alone.to_dict("records")
    [row] = gaps.to_dict("records")
    assert row["over_relations"].estimate == pytest.approx(((3 - 1) / 4 + (1 - 2) / 4) / 2)
    steady = pd.DataFrame(columns=["model", "estimator", "relations", "over_relations", "at_mean"])
    tested = templates.for_claims(gaps, steady, "iclke-space")["IC-separator"]
    assert list(tested) == [("this page", "m")]
    colon = templates.apart(made(RIGHT), [("iclke-colon", templates.WORDS_KIND)], seed=0)
    assert colon.empty and "over_relations" in colon
