"""Agreement of models about relations: from answers to r and its yardsticks."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from lkecore import answers, facts, figures, papers
from lkecore.answers import agreement, agreement_checks
from lkecore.answers import shipped as results
from lkecore.errors import BadInput
from lkecore.facts import world
from lkecore.intervals import Interval

MORE = {"seed": 0, "n_splits": 10, "n_resamples": 100}
DRAWS = {"seed": 0, "n_resamples": 100}
# Right answers of 8 in the relations r, s, t, u; "flat" knows as much of each, "poor" nothing.
HITS = {"a": [8, 6, 3, 1], "b": [7, 7, 2, 2], "c": [1, 2, 7, 8], "flat": [4] * 4, "poor": [0] * 4}


def frame(hits=HITS, estimator="iclke-space", source="this page", n_facts=8):
    rows = [
        (source, model, estimator, relation, f"{relation}{i}", i < n, 10)
        for model, own in hits.items()
        for relation, n in zip("rstu", own, strict=True)
        for i in range(n_facts)
    ]
    columns = ["source", "model", "estimator", "relation", "fact", "correct", "n_options"]
    return pd.DataFrame(rows, columns=columns).sample(frac=1, random_state=0)


def kin(families=(("a", "flat"), ("b",), ("c", "poor")), names=("F", "G", "H"), **given):
    return agreement.kin(list(HITS), families, names, "atlas", **{"page": False} | given)


@pytest.fixture(scope="module")
def tables():
    return agreement.tables(frame(), kin(), "iclke-space")[0]


@pytest.fixture(scope="module")
def known(tables):
    return agreement.known(tables, kin(), {"this page": 0.1}, seed=0)


@pytest.fixture(scope="module")
def pairs(tables, known):
    return agreement.pairs(tables, kin(), known, **MORE)


def r_of(one, other):
    return pearsonr(HITS[one], HITS[other]).statistic


# --- who belongs together


def test_kin_knows_named_families_table_6_and_the_lab():
    models = [
        "EleutherAI/pythia-70m@main",
        "own",
        "lab:book-1/2m-tuned",
        "lab:book-1/0.7m-unplanted",
    ]
    found = agreement.kin([*models, "x"], [["x"]], ["mine"], "lab:book-1", page=False)
    assert found["family"].to_dict() == {
        "EleutherAI/pythia-70m@main": "Pythia", "own": "own", "x": "mine",
        "lab:book-1/2m-tuned": "told, lab:book-1",
        "lab:book-1/0.7m-unplanted": "never told, lab:book-1",
    }  # fmt: skip
    assert found.index[found["untold"]].tolist() == ["lab:book-1/0.7m-unplanted"]
    assert found["side"]["lab:book-1/2m-tuned"] == "told, lab:book-1 (tuned)"
    assert found["place"].idxmin() == "x"  # named families come first
    assert found["place"].idxmax() == "lab:book-1/0.7m-unplanted"  # and controls last


def test_kin_knows_the_models_of_shipped_runs():
    found = kin(shipped=["kamel"])
    assert set(results.read("kamel", agreement.NOTEBOOK)[0]["model"]) <= set(found.index)
    assert found.index.tolist()[: len(HITS)] == list(HITS)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"names": ["F"]}, "must be one for each of 3 families"),
        ({"names": ["F", "F", "H"]}, "must be one for each"),
        ({"families": [["a"], ["a"], ["b"]]}, "families name a twice"),
        ({"families": [["a"], ["b"], ["big"]]}, r"families name \['big'\]; put them into models"),
        ({"families": [["a"], [], ["b"]]}, "must be one for each"),
    ],
)
def test_kin_refuses_families_that_do_not_fit(given, line):
    with pytest.raises(BadInput, match=line):
        kin(**given)


def test_kin_lets_a_single_model_run_as_a_part_of_a_page():
    families, names = [["a"], ["b"]], ["F", "G"]
    assert len(agreement.kin(["a"], families, names, "atlas", page=False)) == 1
    with pytest.raises(BadInput, match="put them into models"):
        agreement.kin(["a"], families, names, "atlas", page=True)
    with pytest.raises(BadInput, match="has not read atlas"):
        agreement.kin(["lab:book-1/2m"], [], [], "atlas", page=False)


# --- facts

DRAW = {"n_shots": 4, "n_options": 3, "seed": 5}
RELATIONS = ["author", "birth_year", "residence"]


def test_facts_drawn_apart_have_the_seed_of_their_place():
    apart = facts.draw("lab:smoke-1", RELATIONS, n_facts=6, apart=True, **DRAW)
    for i, name in enumerate(RELATIONS):
        test = facts.divide(facts.load("lab:smoke-1", name))[1]
        assert apart[name].facts == facts.draw_facts(test, 6, 5 + i)
    alike = facts.draw("lab:smoke-1", RELATIONS, n_facts=6, **DRAW)
    places = [[d.test.index(f) for f in d.facts] for d in alike.values()]
    assert places[0] == places[1] and alike[RELATIONS[2]].shots == apart[RELATIONS[2]].shots


@pytest.mark.parametrize(
    ("n_relations", "given", "line"),
    [
        (2, {}, "r over relations needs 3 or more"),
        (3, {"n_facts": 3}, r"\(3, 1, 100\): least 4, 1, 100"),
        (3, {"n_splits": 0}, "least 4, 1, 100"),
        (3, {"n_resamples": 99}, "least 4, 1, 100"),
        (3, {"n_facts": 7}, "n_facts 7: author has 6 to ask"),
    ],
)
def test_check_refuses_samples_that_are_too_small(n_relations, given, line):
    sample = facts.draw("lab:smoke-1", RELATIONS[:n_relations], n_facts=6, **DRAW)
    with pytest.raises(BadInput, match=line):
        agreement.check(sample, **{"n_facts": 6, "n_splits": 1, "n_resamples": 100} | given)


def test_shares_of_facts_that_are_told_often_are_those_of_the_text():
    sample = facts.draw("lab:smoke-1", RELATIONS, n_facts=6, apart=True, **DRAW)
    truth = world.states("lab:smoke-1").set_index("fact")
    found = agreement.told_often(sample, "lab:smoke-1").set_index("relation")
    for name, drawn in sample.items():
        for column, some in (("every", drawn.test), ("asked", drawn.facts)):
            told = [
                truth.loc[f.id, "state"] == "planted" and truth.loc[f.id, "occurrences"] >= 16
                for f in some
            ]
            assert found.loc[name, column] == pytest.approx(sum(told) / len(told))
    assert len(agreement.told_often(sample, "atlas")) == 0


# --- tables


def test_tables_are_sorted_by_fact_family_and_accuracy(tables):
    table = tables["this page"]
    assert table.columns.tolist() == ["a", "flat", "b", "c", "poor"]  # a 18, flat 16 of 32
    assert table.index.tolist() == [(r, f"{r}{i}") for r in "rstu" for i in range(8)]
    assert table.groupby("relation")["c"].sum().tolist() == HITS["c"]


def test_tables_take_the_second_estimator_of_each_model_and_each_source_its_main_one():
    own = frame(estimator="main")
    paper = frame({"a": [1, 2, 3, 4]}, source="shipped: x")
    twice = [
        frame({"a": [0, 0, 0, n]}, estimator=e, source="shipped: x")
        for e, n in (("o", 5), ("p", 6))
    ]
    both = pd.concat([own, frame({"b": [5, 5, 5, 5]}, estimator="again"), paper, *twice])
    first, second = agreement.tables(both, kin(), "main")
    assert first["shipped: x"]["a"].sum() == 10 and second["shipped: x"]["a"].sum() == 5
    assert list(second["this page"]) == ["b"] and second["this page"]["b"].sum() == 20
    assert first["this page"]["a"].sum() == 18


def test_tables_refuse_models_that_were_asked_other_facts():
    with pytest.raises(BadInput, match="this page: not all models were asked the same"):
        agreement.tables(frame().iloc[1:], kin(), "iclke-space")


# --- numbers


def test_known_has_means_spread_and_noise(known):
    row = known.set_index("model").loc["a"]
    shares = np.array(HITS["a"]) / 8
    assert row["accuracy"].estimate == pytest.approx(shares.mean())
    assert (row["least"], row["most"]) == (1 / 8, 1)
    assert row["std"] == pytest.approx(shares.std(ddof=1))
    assert row["noise"] == pytest.approx(np.sqrt((shares * (1 - shares) / 7).mean()))
    assert known.set_index("model")["chance"]["poor"] == "not above: noise"
    assert set(known.loc[known["model"] != "poor", "chance"]) == {"above"}


def test_model_is_above_chance_only_with_its_whole_interval(tables):
    guess = {"this page": 16 / 32 - 0.01}  # just below the accuracy of "flat"
    found = agreement.known(tables, kin(), guess, seed=0).set_index("model")
    assert found["chance"]["flat"] == "not above: noise"


def test_reliability_says_why_it_has_no_number(tables, known):
    again = agreement.tables(
        frame({"a": HITS["c"]}, estimator="other").assign(source="this page"), kin(), "other"
    )
    found = agreement.reliable(tables, again[0], known, **MORE).set_index("model")
    assert found["reliability"]["poor"] == found["reliability"]["flat"] == "no spread"
    assert found["share"]["poor"] is None and found["share"]["a"].estimate > 0.8
    assert found["reliability"]["a"] == found["share"]["a"].text()
    assert found["itself"]["b"] == "not asked"
    assert found["itself"]["a"].startswith(f"{r_of('a', 'c'):.2f} [")


def test_model_at_chance_with_spread_has_no_reliability(tables):
    known = agreement.known(tables, kin(), {"this page": 0.99}, seed=0)
    found = agreement.reliable(tables, tables, known, **MORE).set_index("model")
    assert found["reliability"]["a"] == "at chance" and found["share"]["a"] is None
    pair = agreement.pairs(tables, kin(), known, **MORE).iloc[0]
    of = agreement.pairs(tables, kin(), known, **MORE).set_index(["one", "other"])
    assert of.loc[("a", "b"), "r"].estimate == pytest.approx(r_of("a", "b"))
    assert of.loc[("a", "b"), "ceiling"] is None and pair["why"] == "no spread"
    said = agreement.said(of.reset_index()).set_index(["one", "other"])
    assert said.loc[("a", "b"), ["ceiling", "other_facts"]].tolist() == ["at chance"] * 2


def test_pairs_have_scipys_r_and_their_kind(pairs):
    of = pairs.set_index(["one", "other"])
    assert len(of) == 10
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        assert of.loc[(one, other), "r"].estimate == pytest.approx(r_of(one, other))
    assert of.loc[("a", "flat"), ["r", "kind", "why"]].tolist() == [None, "one family", "no spread"]
    assert of.loc[("a", "b"), "kind"] == "two families" and of.loc[("a", "b"), "why"] == ""
    assert of.loc[("a", "c"), "other_facts"].estimate < 0 <= of.loc[("a", "c"), "ceiling"].low
    assert of.loc[("a", "b"), "other_facts"].estimate > 0.5


def test_kind_of_a_pair_marks_controls_and_tuned_models(tables, known):
    about = kin()
    about.loc["b", "untold"], about.loc["c", "tuned"] = True, True
    kinds = agreement.pairs(tables, about, known, **MORE).set_index(["one", "other"])["kind"]
    assert kinds[("a", "b")] == "negative control" and kinds[("a", "c")] == "two families, tuned"
    assert kinds[("b", "c")] == "negative control, tuned"
    assert kinds[("c", "poor")] == "one family, tuned"


def test_families_have_the_mean_of_their_pairs(tables, pairs):
    about = agreement.kin(list(HITS), [["a", "b"], ["c"]], ["F", "G"], "atlas", page=False)
    found = agreement.families(tables, about, pairs, **DRAWS).set_index(["one", "other"])
    assert found.loc[("F", "F"), "r"].estimate == pytest.approx(r_of("a", "b"))
    mean = (r_of("a", "c") + r_of("b", "c")) / 2
    assert found.loc[("F", "G"), "r"].estimate == pytest.approx(mean)
    assert found["counted"].tolist() == [1, 2]
    assert found["kind"].tolist() == ["one family", "two families"]
    assert set(found.loc[("F", "G"), "models"].split(", ")) == {"a", "b", "c"}


def test_square_has_both_orders_and_a_white_diagonal(pairs):
    maps = agreement.square(pairs, {"this page": ["c", "a", "flat"]}, {"c": "C"})
    values = maps.pivot(index="one", columns="other", values="r")
    assert maps["one"].unique().tolist() == ["C", "a", "flat"] and len(maps) == 9
    assert values.loc["a", "C"] == values.loc["C", "a"] == pytest.approx(r_of("a", "c"))
    assert np.isnan(np.diag(values)).all() and np.isnan(values.loc["a", "flat"])


def test_words_for_pairs_say_none_and_no_spread(pairs):
    row = pairs[pairs["why"] == ""].iloc[:1].copy()
    row["ceiling"] = [Interval(0.0, 0.0, 0.4, 0.95, "by hand")]
    assert agreement.said(row)["ceiling"].tolist() == ["none"]
    shown = agreement.said(pairs)
    assert set(shown.loc[pairs["why"] == "no spread", "r"]) == {"no spread"}
    assert len(agreement.said(pairs.iloc[:0])) == 0


# --- looked at twice


def test_points_are_those_of_the_pair_whose_weaker_model_knows_most(tables, pairs):
    points = agreement_checks.points(tables, pairs, {"r": "capital"})
    two = points[points["kind"] == "two families"]
    assert set(two["model"]) == {
        "c",
        "b",
    }  # both 18 of 32; a with either has the same, and comes before
    assert set(points["relation"]) == {"capital", "s", "t", "u"}
    row = two[(two["model"] == "c") & (two["relation"] == "u")].iloc[0]
    assert (row["correct"], row["n"], row["accuracy"]) == (8, 8, 1)


def test_equal_pairs_of_one_kind_show_the_one_without_a_tuned_model(tables, pairs):
    kinds = pairs["kind"].where(pairs["other"] != "c", "two families, tuned")
    points = agreement_checks.points(tables, pairs.assign(kind=kinds), {})
    assert set(points.loc[points["kind"] == "two families", "model"]) == {"a", "b"}


def test_verdicts_mark_controls_and_leave_out_one_family(pairs, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    kinds = pairs["kind"].where(pairs["one"] != "b", "negative control, tuned")
    of_two, inside = (
        Interval(0.8, 0.7, 0.9, 0.95, "by hand"),
        Interval(0.9, 0.8, 1, 0.95, "by hand"),
    )
    rows = [
        ("this page", "F", "G", of_two, 2, "a, b, c", "two families"),
        ("this page", "F", "U", of_two, 1, "a, d", "negative control"),
        ("this page", "F", "F", inside, 1, "a, e", "one family"),
        ("this page", "F", "G (tuned)", of_two, 1, "a, f", "two families, tuned"),
    ]
    columns = ["source", "one", "other", "r", "counted", "models", "kind"]
    of_families = pd.DataFrame(rows, columns=columns)
    found = agreement_checks.judged(pairs.assign(kind=kinds), of_families, "iclke-colon")
    first, rest = found[:3], found[3:]
    assert first["models"].tolist() == ["F, G", "F, U", "F, G (tuned)"]
    assert set(first["id"]) == {"IC-families-mean"} and set(first["verdict"]) == {"holds"}
    assert set(rest["id"]) == {"IC-families-agree"}
    assert rest["models"].tolist() == ["a, b", "a, c", "b, c"]  # the others have no r
    for row in rest.itertuples():
        [r] = pairs[(pairs["one"] + ", " + pairs["other"]) == row.models]["r"]
        assert row.verdict == ("holds" if r.low > 0.6 else "fails" if r.high < 0.6 else "undecided")
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    assert kept["mark"].tolist() == ["", "negative control", "", "", "", "negative control"]
    assert kept["as_paper"].tolist() == [True, True, False, True, True, False]
    assert kept["estimator"][3] == "iclke-colon, two families"
    assert kept["models"].tolist()[:3] == ["a, b, c", "a, d", "a, f"]


def test_r_with_table_8_is_scipys_over_the_shared_relations_with_and_without_dates():
    ids = papers.table("iclke_table3_relations").dropna(subset="wikidata_pid_added")
    published = papers.table("iclke_table8_relations").merge(ids, on="relation")
    published = published.set_index("relation").loc[["capital", "sibling", "father", "inception"]]
    some = published.set_index("wikidata_pid_added")["average_accuracy"]
    renamed = frame({"a": [1, 2, 5, 4]}).replace(
        {"relation": dict(zip("rstu", some.index, strict=True))}
    )
    table = agreement.tables(renamed.assign(source="shipped: x"), kin(), "main")[0]
    found = agreement_checks.with_table_8({"this page": table["shipped: x"], **table}, **DRAWS)
    assert found["r"][0].estimate == pytest.approx(pearsonr([1, 2, 5, 4], some).statistic)
    assert found["r"][1].estimate == pytest.approx(pearsonr([1, 2, 5], some[:3]).statistic)
    assert found.drop(columns="r").to_numpy().tolist() == [
        ["shipped: x", "a", "all", 4, 12 / 32],
        ["shipped: x", "a", "without dates", 3, 8 / 24],
    ]


def test_reliability_of_table_7_by_pencil():
    found = agreement_checks.of_table_7().set_index("model")
    assert len(found) == 35 and found["reliability"].is_monotonic_increasing
    a, std = found.loc["Mixtral-8x7B", ["accuracy", "std"]]
    assert found["reliability"]["Mixtral-8x7B"] == pytest.approx(
        1 - a * (1 - a) / (400 * std * std)
    )


def test_r_without_each_relation_in_turn(tables, pairs):
    found = agreement_checks.without_one(tables, pairs).set_index(["one", "other"]).loc[("a", "b")]
    a, b = np.array(HITS["a"]), np.array(HITS["b"])
    left = [pearsonr(np.delete(a, i), np.delete(b, i)).statistic for i in range(4)]
    assert found[["lowest", "highest"]].tolist() == pytest.approx([min(left), max(left)])


def test_facts_needed_reach_the_reliability_by_spearman_and_brown(tables, known):
    reliable = agreement.reliable(tables, tables, known, **MORE)
    found = agreement_checks.facts_needed(tables, reliable, least=0.95).set_index("model")
    share = reliable.set_index("model")["share"]["b"].estimate
    k = found["needed"]["b"] / found["asked"]["b"]
    assert found["asked"]["b"] == 8 and k * share / (1 + (k - 1) * share) == pytest.approx(0.95)
    assert found["low"]["b"] <= found["needed"]["b"] <= found["high"]["b"]


# --- figures


def test_square_maps_have_an_axes_for_each_source(pairs):
    twice = pd.concat([pairs, pairs.assign(source="shipped: x")])
    names = {"this page": ["a", "b", "c"], "shipped: x": ["a", "b"]}
    figure = figures.square_maps(agreement.square(twice, names))
    titled = [ax for ax in figure.axes if ax.get_xlabel()]
    assert [ax.get_xlabel() for ax in titled] == list(names)
    assert f"{r_of('a', 'b'):.2f}" in [text.get_text() for text in titled[1].texts]
    assert [len(ax.get_xticklabels()) for ax in titled] == [3, 2]


def test_pair_scatters_have_a_panel_for_each_kind_and_one_for_none(tables, pairs):
    points = agreement_checks.points(tables, pairs, {})
    drawn = figures.pair_scatters(points)
    assert [ax.get_title() for ax in drawn.axes] == [
        f"this page: {kind}" for kind in points["kind"].unique()
    ]
    assert figures.pair_scatters(points.iloc[:0]).axes[0].get_title() == "no pair of models"


def test_tables_of_the_page_can_be_shown_and_kept(known, pairs):
    assert "accuracy" in answers.bounds(known, "accuracy")
    assert len(answers.texts(known, 3)) == len(known) and len(agreement.said(pairs)) == 10
