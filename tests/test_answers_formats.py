"""One fact in many formats: what is asked, and how far the accuracy moves."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_1samp

from lkecore import answers, facts, figures
from lkecore.answers import formats, formats_over, separators
from lkecore.errors import BadInput
from lkecore.facts import world, world_text
from lkecore.intervals import Interval

SIGNS = ([" ", ":"], [" ", "\n"])
LISTS, DRAWN = separators.LISTS, separators.DRAWN
WORLD, IDS = "lab:smoke-1", [f"{r}{i}" for r in "rs" for i in range(4)]
# Right (1) or wrong of 8 facts, 4 of each relation, in the formats (space, space), (space, newline)
# and so on, and with two templates.
RIGHT = {
    "good": ["11111100", "11111000", "11001100", "11001000"],
    "same": ["11110000"] * 4,
}
SAID = {"hgp-1": "11111111", "mmp-1": "11110011"}
KINDS = {"hgp-1": "people", "mmp-1": "mined"}


def asked() -> pd.DataFrame:
    """The answers of both models in all ways; templates without shots are never right."""
    ways = [("format", a, b, "") for a in SIGNS[0] for b in SIGNS[1]]
    rows = []
    for model, own in RIGHT.items():
        said = SAID if model == "good" else dict.fromkeys(SAID, own[0])
        every = list(zip(ways, own, strict=True))
        every += [(("words", "", "", name), hits) for name, hits in said.items()]
        every += [(("words alone", "", "", name), "0" * 8) for name in said]
        for way, hits in every:
            rows += [
                (model, "own", i[0], *way, i, h == "1") for i, h in zip(IDS, hits, strict=True)
            ]
    columns = ["model", *separators.BY, "fact", "correct"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture(scope="module")
def kinds():
    return separators.formats({"own": SIGNS})


@pytest.fixture(scope="module")
def tables(kinds):
    groups = [("own", i[0], g, i) for g in (LISTS, "few") for i in (IDS if g == LISTS else IDS[:5])]
    groups = pd.DataFrame(groups, columns=["fact_set", "relation", "group", "fact"])
    return separators.tables(asked(), groups, kinds)


@pytest.fixture(scope="module")
def gains(tables):
    return formats.gains(*tables, MAIN, KINDS, seed=0)


MAIN = dict.fromkeys(RIGHT, LISTS)  # of the lab: over facts
ABOUT = dict.fromkeys(MAIN, "own")


def share(hits):
    return hits.count("1") / 8


# --- what is asked


def test_models_of_the_lab_are_asked_their_world():
    models = ["lab:book-1/2m", "smollm2"]
    assert list(separators.fact_sets(models, "atlas").values()) == ["lab:book-1", "atlas"]
    with pytest.raises(BadInput, match="has not read the facts"):
        separators.fact_sets(["lab:book-1/2m-unplanted"], "atlas")


def test_chains_are_families_of_which_every_model_is_there():
    about = {"a": "x", "b": "x", "c": "y"}
    assert separators.chains([["a", "b"]], about, page=True) == [["a", "b"]]
    assert separators.chains([["a", "b"]], {"a": "x"}, page=False) == []
    for family, page, line in (
        (["a"], False, "2 models or more"),
        (["a", "a"], False, "2 models or more"),
        (["a", "big"], False, r"families name \['big'\]"),
        (["a", "c"], False, "different facts"),
    ):
        with pytest.raises(BadInput, match=line):
            separators.chains([family], about, page=page)
    with pytest.raises(BadInput, match="put them into models"):
        separators.chains([["a", "b"]], {"a": "x"}, page=True)


DRAW = {"n_shots": 3, "n_options": 4, "seed": 0}


def test_facts_of_a_world_are_drawn_and_those_told_in_lists_alone():
    sample, groups = separators.draw(WORLD, ["author"], n_facts=5, **DRAW)
    truth = world.states(WORLD).set_index("fact")
    test = facts.divide(facts.load(WORLD, "author"))[1]
    often = {
        f.id
        for f in test
        if truth.loc[f.id, "state"] == "planted"
        and truth.loc[f.id, "form"] == "list"
        and truth.loc[f.id, "occurrences"] >= 16
    }
    of = groups.groupby("group")["fact"].agg(set)
    assert of[separators.LISTS] == often and often
    assert of[separators.DRAWN] == {f.id for f in facts.draw_facts(test, 5, 0)}
    asked_here = [f.id for f in sample["author"].facts]
    assert asked_here == [f.id for f in test if f.id in often | of[separators.DRAWN]]


@pytest.mark.parametrize(
    ("relations", "n_facts", "line"),
    [([], 5, "no relations are named for atlas"), (["capital"], 1, "1 facts of capital: 2 to ")],
)
def test_draws_that_are_too_small_are_refused(relations, n_facts, line):
    with pytest.raises(BadInput, match=line):
        separators.draw("atlas", relations, n_facts=n_facts, **DRAW)


def test_every_fact_set_is_drawn_by_its_own_settings():
    about = {"a": "atlas", "b": WORLD, "c": "atlas"}
    given = {"outside": (["capital"], 3, 5), "in_lab": (["author"], 2, 4)}
    samples, groups = separators.draw_all(about, **given, n_options=4, seed=0)
    assert [list(sample) for sample in samples.values()] == [["capital"], ["author"]]
    assert [len(s["capital" if n == "atlas" else "author"].shots) for n, s in samples.items()] == [
        3,
        2,
    ]
    sizes = groups[groups["group"] == "drawn"].groupby("fact_set").size()
    assert sizes.to_dict() == {"atlas": 5, WORLD: 4}


@pytest.mark.parametrize(
    "wrong", [([": ", " "], [" ", "x"]), ([" ", "x"], [" "]), ([" ", " "], [" ", "x"])]
)
def test_signs_begin_with_the_space(wrong):
    assert separators.signs_of(["atlas", WORLD], outside=SIGNS, in_lab=("a", "b") and SIGNS)
    with pytest.raises(BadInput, match="' ' first, then others, once"):
        separators.signs_of(["atlas"], outside=wrong, in_lab=SIGNS)


def test_questions_have_every_format_and_every_template_twice():
    about = {"a": "atlas", "b": WORLD}
    given = {"outside": (["capital"], 3, 2), "in_lab": (["author"], 2, 2)}
    samples, _ = separators.draw_all(about, **given, n_options=4, seed=0)
    asked_here = separators.questions(samples, dict.fromkeys(samples, SIGNS))
    assert len(asked_here) == 2 * (4 + 2 * 6)
    d = samples["atlas"]["capital"]
    x, y = d.shots[0].subject, d.shots[0].object
    context = asked_here["atlas", "capital", "format", ":", "\n", ""][0].context
    assert context.startswith(f"{x}:{y}\n") and context.endswith(f"\n{d.facts[0].subject}:")
    alone = asked_here["atlas", "capital", "words alone", "", "", "hgp-1"][0].context
    said = asked_here["atlas", "capital", "words", "", "", "hgp-1"][0].context
    assert said.endswith(f" {alone}") and y in said and y not in alone
    assert {key[5] for key in asked_here if key[0] == WORLD} == {
        "",
        *(f"template-{i}" for i in range(1, 7)),
    }
    shown = separators.examples(asked_here)
    assert len(shown) == 2 * (2 + 2) and shown["prompt"].str.endswith(" ____'").sum() > 6
    own = separators.templates(samples)
    assert own.groupby("fact_set")["template"].nunique()[WORLD] == 6


def test_other_shots_stand_in_the_same_formats_for_real_facts_alone():
    samples, _ = separators.draw_all(
        {"toy": "atlas", "b": WORLD},
        outside=(["capital"], 3, 2), in_lab=(["author"], 2, 2), n_options=4, seed=0,
    )  # fmt: skip
    signs = dict.fromkeys(samples, SIGNS)
    made, again = separators.questions(samples, signs), separators.redrawn(samples, signs, [0, 2])
    with_shots = {key for key in made if key[0] == "atlas" and key[2] != separators.ALONE}
    assert {key[:-1] for key in again} == with_shots and len(again) == 2 * len(with_shots)
    for (*key, draw), some in again.items():
        first = made[tuple(key)]
        assert [(p.fact, p.options) for p in some] == [(p.fact, p.options) for p in first]
        assert (some == first) == (draw == 0)  # the seed of the sample
    assert separators.redrawn({WORLD: samples[WORLD]}, signs, [2]) == {}


def test_lengths_are_those_of_the_tokenizer_and_of_a_models_own_facts(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    samples, _ = separators.draw_all(
        {"toy": "atlas", "b": WORLD},
        outside=(["capital"], 3, 2), in_lab=(["author"], 2, 2), n_options=4, seed=0,
    )  # fmt: skip
    asked_here = separators.questions(samples, dict.fromkeys(samples, SIGNS))
    how = {"dtype": "float32", "page": False}
    found = separators.lengths(["toy"], asked_here, "n.parquet", **how)
    assert pd.read_parquet(tmp_path / "n.parquet").equals(found)
    found = found.set_index("part")
    tokenize = answers.opened("toy", "float32").tokenizer
    n = {
        part: [
            len(tokenize(q[0].context)["input_ids"])
            for k, q in asked_here.items()
            if k[::2][:2] == ("atlas", part)
        ]
        for part in ("format", "words")
    }
    assert {part: tuple(found.loc[part, ["min", "max"]]) for part in n} == {
        part: (min(some), max(some)) for part, some in n.items()
    }


def test_a_model_is_asked_only_what_the_named_column_allows():
    sample = facts.draw("atlas", ["capital", "currency"], n_shots=2, n_facts=2, n_options=3, seed=0)
    of = {
        (where, name): separators.prompts.asking(
            "iclke-space", d.relation, d.shots, d.facts, d.options
        )
        for where, (name, d) in zip(("here", "there"), sample.items(), strict=True)
    }
    more = {"by": ("fact_set", "relation"), "only_by": "fact_set"}
    found = answers.ask(["toy"], of, "answers.parquet", only={"toy": ["there"]}, **more)
    assert set(found["fact_set"]) == {"there"} and set(found["relation"]) == {"currency"}
    with pytest.raises(BadInput, match="nothing is asked with fact_set 'nowhere'"):
        answers.ask(["toy"], of, "answers.parquet", only={"toy": ["nowhere"]}, **more)


def test_kind_of_a_format_is_read_off_the_text():
    signs = ([" ", ": ", "¤"], [" ", "\n", "§"])
    found = separators.formats({WORLD: signs, "atlas": SIGNS}).set_index(
        ["fact_set", "pair_separator", "shot_separator"]
    )
    kind = found["kind"]
    assert kind[WORLD, " ", " "] == kind[WORLD, ": ", "\n"] == "in the text"
    assert kind[WORLD, " ", "\n"] == "signs known" and kind[WORLD, " ", "§"] == "new between"
    assert kind[WORLD, "¤", "§"] == kind[WORLD, "¤", " "] == "new inside"
    assert set(kind["atlas"]) == {"nobody knows"} and found["times_inside"]["atlas"].isna().all()
    text = "\n".join(world_text.documents(world.world(WORLD)))
    assert found["times_inside"][WORLD, ": ", " "] == text.count(": ")


def test_kinds_of_templates_name_who_wrote_them():
    found = separators.kinds_of_templates()
    assert (found["hgp-2"], found["mmp-3"]) == ("written by people", "mined from text")
    assert [found[f"template-{i}"] for i in (1, 4, 5, 6)] == ["in the text"] * 2 + ["held out"] * 2
    assert formats.main_groups({"a": WORLD, "b": "atlas"}) == {"a": "told in lists", "b": "drawn"}


# --- tables and numbers


def test_tables_have_a_row_for_each_format_in_order_and_a_column_for_each_fact(tables):
    right, spoken = tables
    assert set(right) == {(m, g) for m in RIGHT for g in (LISTS, "few")}
    table = right["good", LISTS]
    assert table.index.tolist() == [(a, b) for a in SIGNS[0] for b in SIGNS[1]]
    assert table.columns.tolist() == [(i[0], i) for i in IDS]
    assert ["".join(f"{v:.0f}" for v in row) for row in table.to_numpy()] == RIGHT["good"]
    assert right["good", "few"].shape == (4, 5)
    assert spoken["good", LISTS].loc["mmp-1", "words"].sum() == 6


def test_bars_have_the_space_the_words_and_the_words_alone(tables):
    found = formats.bars(*tables, MAIN, KINDS, seed=0)
    good = found[found["model"] == "good"]
    assert good["words"].tolist() == ["space", "hgp-1", "mmp-1", "hgp-1", "mmp-1"]
    assert good["kind"].tolist() == ["no words", "people", "mined", "people", "mined"]
    assert [x.estimate for x in good["accuracy"]] == [6 / 8, 1, 6 / 8, 0, 0]


def test_gains_are_differences_on_the_same_facts(gains):
    good = gains[gains["model"] == "good"].set_index(["between", "inside"])["gain"]
    space, newline, colon, both = (share(hits) for hits in RIGHT["good"])
    assert good["words", "hgp-1"].estimate == pytest.approx(1 - space)
    assert good["space", ":"].estimate == pytest.approx(colon - space)
    assert good["mean over all", ":"].estimate == pytest.approx(
        (colon + both - space - newline) / 2
    )
    p = gains.set_index(["model", "inside"])["p"]
    # 2 facts change sides to hgp-1, 1 and 1 to mmp-1 and back; none for "same": Holm for 4 tests.
    assert p["good", "hgp-1"] == pytest.approx(min(1, 4 * binomtest(2, 2).pvalue))
    assert p["good", "mmp-1"] == 1 and np.isnan(p["good", ":"]).all()


def test_gain_without_a_change_has_the_width_that_is_not_ruled_out(gains):
    none = gains[(gains["model"] == "same") & (gains["inside"] == "hgp-1")]["gain"].iloc[0]
    z = 1.959964
    assert none.estimate == 0 and none.high == pytest.approx(z * z / (8 + z * z), abs=1e-5)
    assert none.low == -none.high and none.method == "Wilson"


def test_the_best_rule_of_each_group_stands_behind_the_papers_format_by_pencil():
    """Of all eight facts the length is right 5/8 of the time; of the few, four of r and one of s, the words:
    3/4 of r and 1 of s, a mean of 7/8, where the length has 2/4 and 1."""
    hits = {"rule-overlap": "1110" + "1000", "rule-length": "1100" + "1110"}
    cues = pd.DataFrame({"fact_set": "own", "relation": [i[0] for i in IDS], "fact": IDS})
    cues = cues.assign(**{"n_options": 4, "rule-frequent": 0.0, "rule-both": 0.0})
    cues = cues.assign(**{rule: [float(h) for h in each] for rule, each in hits.items()})
    some = {"drawn": IDS, "few": IDS[:5]}
    rows = [("own", i[0], group, i) for group, ids in some.items() for i in ids]
    groups = pd.DataFrame(rows, columns=["fact_set", "relation", "group", "fact"])
    table = pd.DataFrame(
        {"model": ["good", "good"], "group": ["few", "drawn"], "paper": 0.5, "p": 1}
    )
    found = formats_over.with_rules(table, cues, groups, {"good": "own"})
    assert found.columns.tolist() == ["model", "group", "paper", "rule", "p"]
    assert found["rule"].tolist() == [7 / 8, 5 / 8]


def test_spreads_are_best_minus_worst_for_all_and_each_relation(tables):
    found = formats.spreads(tables[0], MAIN, seed=0).set_index(["model", "group", "relation"])
    row = found.loc[("good", LISTS, "all")]
    shares = [share(hits) for hits in RIGHT["good"]]
    assert row["spread"].estimate == pytest.approx(max(shares) - min(shares))
    assert row["std"].estimate == pytest.approx(np.std(shares, ddof=1))
    assert (row["paper"], row["lowest"], row["highest"]) == (shares[0], min(shares), max(shares))
    assert found.loc[("good", LISTS, "r"), "lowest"] == 2 / 4  # 1100 of 1111, 1111, 1100, 1100
    assert ("good", "few", "r") not in found.index and found.loc[
        ("good", "few", "all"), "facts"
    ] == 5
    same = found.loc[("same", LISTS, "all")]
    assert same["spread"].estimate == same["if_alike"] == 0 and same["p"] == 1


def test_effects_add_up_to_the_variance_of_the_table(tables):
    found = formats.effects(tables[0], MAIN, seed=0)
    good = found[found["model"] == "good"].set_index("place")["effect"]
    shares = np.array([share(hits) for hits in RIGHT["good"]]).reshape(2, 2)
    assert good["inside"].estimate == pytest.approx(shares.mean(axis=1).std())
    assert good["between"].estimate == pytest.approx(shares.mean(axis=0).std())
    assert sum(x.estimate**2 for x in good) == pytest.approx(shares.var())


def test_cells_and_means_by_kind(tables):
    kinds = separators.formats({"own": SIGNS}).assign(kind=["in the text", "new", "new", "new"])
    found = formats.cells(tables[0], MAIN, ABOUT, kinds, seed=0)
    assert found["ringed"].tolist() == [True, False, False, False] * 2
    assert found["inside"].tolist()[:4] == ["space", "space", ":", ":"]
    assert found["accuracy"][1].estimate == share(RIGHT["good"][1])
    means = formats.by_kind(tables[0], MAIN, ABOUT, kinds, seed=0)
    assert means["formats"].tolist() == [1, 3, 1, 3]
    assert means["accuracy"][1].estimate == pytest.approx(
        np.mean([share(h) for h in RIGHT["good"][1:]])
    )


def test_models_at_chance_are_those_whose_interval_reaches_it(tables):
    # Wilson, 95 %: 6 of 8 begin at 0.409, 4 of 8 at 0.215.
    by = {at: dict.fromkeys(MAIN, at) for at in (0.1, 0.3, 0.5)}
    assert formats.at_chance(tables[0], MAIN, by[0.1], seed=0) == []
    assert formats.at_chance(tables[0], MAIN, by[0.3], seed=0) == ["same"]
    assert formats.at_chance(tables[0], MAIN, by[0.5], seed=0) == ["good", "same"]
    by_model = {"good": 0.5, "same": 0.1}
    assert formats.at_chance(tables[0], MAIN, by_model, seed=0) == ["good"]


def verdict_frame(rows):
    frame = pd.DataFrame(rows, columns=["model", "id", "between", "inside", "low", "high"])
    ends = zip(frame["low"], frame["high"], strict=True)
    gain = [Interval((a + b) / 2, a, b, 0.95, "by hand over relations") for a, b in ends]
    facts = [Interval(0.5, 0.4, 0.6, 0.95, "bootstrap over facts")] * len(frame)
    return frame.drop(columns=["low", "high"]).assign(gain=facts, over_relations=gain, p=0.5)


def test_verdicts_of_equality_and_their_marks(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    gains = verdict_frame(
        [
            ("a", formats.INSIDE, "words", "hgp-1", -0.04, 0.04),
            ("a", formats.INSIDE, "space", ":", -0.04, 0.06),
            ("b", formats.INSIDE, "space", ":", 0.06, 0.08),
            ("c", formats.INSIDE, "words", "hgp-1", -0.2, -0.1),
        ]
    )
    main = {"a": "told in lists", "b": "drawn", "c": "drawn"}
    found = formats.judged(gains, main, ["c"])
    assert found["verdict"].tolist() == ["holds", "undecided", "fails", "fails"]
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    assert kept["mark"].tolist() == ["words for facts told in lists", "", "", "at chance"]
    assert kept["as_paper"].tolist() == [True, False, False, True]
    shown = formats.verdict_table(found, ["c", "a", "b"])
    assert shown.columns.tolist() == ["between", "inside", "c", "a", "b"]
    assert shown.loc[0, "a"] == "0.00 [-0.04, 0.04]: holds" and shown.loc[1, "c"] == ""
    assert kept["estimator"][1] == ":; between pairs: space" and kept["low"][0] == -0.04
    assert kept["interval"].unique().tolist() == ["by hand over relations"]
    # Of a single relation there is the interval over its facts alone.
    gains["over_relations"] = None
    found = formats.judged(gains, main, [])
    assert found["ours"].tolist() == ["0.50 [0.40, 0.60]"] * 4
    kept = pd.read_csv(tmp_path / "verdicts.csv", keep_default_na=False)
    said = "over facts alone, not relations"
    assert kept["mark"].tolist() == ["words for facts told in lists", said, said, said]


def test_gains_over_relations_are_students_t_of_the_gaps(gains, tables):
    """The gap of each relation by itself; of a single one there is nothing to tell of others."""
    for row in gains[gains["between"] == "space"].itertuples():
        table = tables[0][row.model, MAIN[row.model]]
        sign = [
            s for s in table.index.get_level_values(0).unique() if formats.called(s) == row.inside
        ][0]
        gap = (table.loc[(sign, " ")].astype(float) - table.loc[formats.SPACE]).groupby(
            level="relation"
        )
        means = gap.mean()
        if len(means) == 1:
            assert row.over_relations is None
        else:
            theirs = ttest_1samp(means, 0).confidence_interval(0.95)
            found = row.over_relations
            assert [found.low, found.high] == pytest.approx([theirs.low, theirs.high], nan_ok=True)


def test_claim_holds_from_the_model_from_which_on_all_verdicts_do():
    rows = {"a": "holds", "b": "fails", "c": "holds", "d": "holds"}
    judged = pd.DataFrame(
        [(m, formats.INSIDE, "space", sign, v) for m, v in rows.items() for sign in ":;"],
        columns=["model", "id", "between", "inside", "verdict"],
    )
    found = formats.holds_from(judged, [list("abcd"), list("ab")], [])
    assert found["holds_from"].tolist() == ["c", "none of them"]
    assert found["verdicts"][0] == "holds 6, fails 2"
    assert formats.holds_from(judged, [list("abcd")], ["c"])["holds_from"].tolist() == ["d"]
    assert formats.holds_from(judged, [list("acd")], [])["holds_from"].tolist() == ["a"]


def test_lead_of_the_best_format_on_both_halves(tables):
    found = formats.lead_of_best(tables[0], MAIN, seed=0).set_index("model")
    assert found.loc["same", ["lead_where_chosen", "lead_elsewhere"]].tolist() == [0, 0]
    # "good" has the paper's format as its best in any half: no other has a fact right that it has not.
    assert found.loc["good"].tolist() == ["space", "space", 0, 0]
    turned = {
        ("x", LISTS): tables[0]["good", LISTS].iloc[::-1].set_axis(tables[0]["good", LISTS].index)
    }
    lead = formats.lead_of_best(turned, {"x": LISTS}, seed=0).loc[0]
    half = np.random.default_rng(0).permutation(8) % 2 == 0
    gap = np.array(
        [int(a) - int(b) for a, b in zip(RIGHT["good"][0], RIGHT["good"][3], strict=True)]
    )
    assert (
        lead["lead_where_chosen"] == gap[half].mean()
        and lead["lead_elsewhere"] == gap[~half].mean()
    )


def test_words_by_group_are_means_over_templates_of_a_kind(tables):
    found = formats.words_by_group(*tables, KINDS).set_index(["model", "group"])
    assert found.loc[("good", LISTS)].to_dict() == {"space": 6 / 8, "people": 1, "mined": 6 / 8}
    assert found.loc[("good", "few"), "mined"] == 4 / 5


def test_table_8_stands_beside_relations_that_the_paper_has(tables):
    sample = {"r": "capital", "s": "film_year"}
    relations = {
        name: facts.Drawn(facts.load("atlas", real), (), (), (), (), ())
        for name, real in sample.items()
    }
    found = formats.beside_table_8(tables[0], MAIN, {"own": relations}, ABOUT, seed=0)
    assert found["relation"].tolist() == ["original broadcaster", "capital", "capital"]
    assert found["accuracy"][1].estimate == 1 and found["model"].tolist() == ["", "good", "same"]


# --- figures


def test_panels_stand_in_pairs_with_one_legend(tables, kinds):
    cells = answers.bounds(formats.cells(tables[0], MAIN, ABOUT, kinds, seed=0), "accuracy")
    cells = pd.concat([cells, cells[cells["model"] == "good"].assign(model="third")])
    figure = figures.format_panels(cells, of_rule={"good": 0.25, "same": 0.5, "third": 0.75})
    assert [ax.get_title() for ax in figure.axes if ax.axison] == ["good", "same", "third"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["space", "newline"]
    lines = [[line for line in ax.lines if line.get_linestyle() == "--"] for ax in figure.axes[:3]]
    assert [float(line.get_ydata()[0]) for [line] in lines] == [0.25, 0.5, 0.75]


def test_sizes_have_bars_of_luck_and_a_band_of_the_margin(tables, gains):
    spreads = formats.spreads(tables[0], MAIN, seed=0)
    spreads = answers.bounds(spreads[spreads["relation"] == "all"], "spread")
    mean = answers.bounds(gains[gains["between"] == "mean over all"], "gain")
    left, right = figures.format_sizes(spreads, mean, margin=0.05).axes
    heights = [bar.get_height() for bar in left.patches]
    assert heights == spreads.groupby("model", sort=False)["if_alike"].max().tolist()
    band = right.patches[0].get_extents().transformed(right.transData.inverted())
    assert (band.y0, band.y1) == pytest.approx((-0.05, 0.05))
