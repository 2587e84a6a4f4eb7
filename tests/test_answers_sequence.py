"""From answers along sequences to tables and verdicts, against loops over rows and sums done by hand."""

from statistics import mean

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lkecore import answers, figures, papers
from lkecore.answers import sequence
from lkecore.errors import BadInput
from lkecore.facts import pool, world
from lkecore.intervals import Interval
from lkecore.metrics.sequence import distances
from lkecore.models import open_model
from lkecore.prompts import many_shot, probes
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode

EACH = ["source", "model", "estimator"]
N, BEHIND = 12, 3
BLOCK, APART = [6, 7], [1, 4]  # replaced places, from 0


def read(seed=0, *, draws=(5, 6, 7), low=0.01, **more):
    """Answers of one model: five sequences of twelve pairs for each draw, rows in mixed order."""
    rng = np.random.default_rng(seed)
    frames = []
    for draw in draws:
        cases = [("clean", "none", [])]
        cases += [
            (kind, where, at)
            for kind in ("unknown", "incorrect")
            for where, at in (("distributed", APART), ("block", BLOCK))
        ]
        for kind, where, replaced in cases:
            frame = pd.DataFrame({"position": np.arange(1, N + 1)})
            frame["draw"], frame["kind"], frame["arrangement"] = draw, kind, where
            frame["distance"] = distances(N, replaced)
            frame["state"] = np.where(frame["distance"] == 0, "replaced", "right")
            frame["probability"] = rng.uniform(low, 1, N)
            frame["logprob"] = np.log(frame["probability"])
            frames.append(frame)
    found = pd.concat(frames, ignore_index=True)
    named = {"source": "this page", "model": "m", "estimator": "iclke-space"}
    return found.assign(**named | more)


def at(frame, kind, where, positions):
    """The probabilities of a sequence at positions from 1, in all draws, one by one."""
    return [
        row.probability
        for row in frame.itertuples()
        if row.kind == kind and row.arrangement == where and row.position in positions
    ]


# Directly behind places 2 and 5 (from 1), and the three behind the block of 7 and 8.
BEHIND_OF = {"distributed": [3, 6], "block": [9, 10, 11]}


def test_levels_are_the_means_of_each_stretch_of_the_clean_sequences():
    frame = read()
    [row] = sequence.levels(frame, EACH, n_first=2).to_dict("records")
    for name, positions in {
        "first 2": [1, 2], "1st quarter": [1, 2, 3], "2nd": [4, 5, 6], "3rd": [7, 8, 9],
        "last": [10, 11, 12],
    }.items():  # fmt: skip
        assert row[name] == pytest.approx(mean(at(frame, "clean", "none", positions)))
    every = at(frame, "clean", "none", range(1, 13))
    assert row["share above 0.5"] == pytest.approx(sum(p > 0.5 for p in every) / len(every))
    assert (row["draws"], row["pairs"]) == (3, 12)


def test_a_neighbour_is_compared_with_itself_and_each_draw_is_looked_at():
    frame = read()
    found = sequence.changes(frame, EACH, n_behind=BEHIND, seed=0)
    assert len(found) == 4
    for row in found.to_dict("records"):
        places = BEHIND_OF[row["arrangement"]]
        with_ = at(frame, row["kind"], row["arrangement"], places)
        without = at(frame, "clean", "none", places)
        assert row["pairs"] == len(with_) == 3 * len(places)
        assert (row["with"], row["without"]) == pytest.approx((mean(with_), mean(without)))
        assert row["change"].estimate == pytest.approx(mean(with_) / mean(without) - 1)
        single = []
        for draw in (5, 6, 7):
            of = frame[frame["draw"] == draw]
            one = at(of, row["kind"], row["arrangement"], places)
            single.append(mean(one) / mean(at(of, "clean", "none", places)) - 1)
        assert (row["least"], row["most"]) == pytest.approx((min(single), max(single)))
        assert row["change"].low < row["change"].estimate < row["change"].high


def test_replaced_pairs_are_compared_with_the_right_objects_of_their_places():
    frame = read()
    for row in sequence.replaced(frame, EACH, seed=0).to_dict("records"):
        places = {"distributed": [2, 5], "block": [7, 8]}[row["arrangement"]]
        with_ = at(frame, row["kind"], row["arrangement"], places)
        without = at(frame, "clean", "none", places)
        assert (row["replaced"], row["right"]) == pytest.approx((mean(with_), mean(without)))
        assert row["share"].estimate == pytest.approx(mean(with_) / mean(without))


def test_distances_behind_a_block_are_put_together_and_few_pairs_left_out():
    frame = read(draws=range(6))
    found = sequence.reach(frame, EACH, n_behind=BEHIND, seed=0)
    counts = {(row.kind, row.at): row.pairs for row in found.itertuples()}
    # Behind places 2 and 5 there are right pairs 1 and 2 away twice, and 3 away once, in each draw.
    expected = {"1": 12, "2": 12, "block 1–3": 18}
    assert counts == {(kind, at): n for kind in sequence.KINDS for at, n in expected.items()}
    [block] = found[(found["kind"] == "unknown") & (found["at"] == "block 1–3")]["change"]
    ratio = mean(at(frame, "unknown", "block", [9, 10, 11])) / mean(
        at(frame, "clean", "none", [9, 10, 11])
    )
    assert block.estimate == pytest.approx(ratio - 1)


def test_the_sure_are_neighbours_above_the_least_and_a_single_one_has_no_interval():
    frame = read()
    found = sequence.of_the_sure(frame, EACH, n_behind=BEHIND, least=0.5, seed=0)
    for row in found.itertuples():
        pairs = zip(
            at(frame, row.kind, row.arrangement, BEHIND_OF[row.arrangement]),
            at(frame, "clean", "none", BEHIND_OF[row.arrangement]),
            strict=True,
        )
        sure = [pair for pair in pairs if pair[1] >= 0.5]
        assert row.pairs == len(sure)
        if len(sure) > 1:
            ratio = sum(a for a, _ in sure) / sum(b for _, b in sure)
            assert row.change.estimate == pytest.approx(ratio - 1)
        else:
            assert row.change is None
    most = max(at(frame, "clean", "none", [9, 10, 11]))
    alone = sequence.of_the_sure(frame, EACH, n_behind=BEHIND, least=most, seed=0)
    assert alone[alone["arrangement"] == "block"]["change"].isna().all()


def test_roles_are_of_the_first_draw_and_follow_the_distance():
    frame = pd.concat([read(), read(1, estimator="iclke-colon"), read(2, model="other")])
    found = sequence.roles(frame, n_behind=BEHIND)
    assert set(found["draw"]) == {5} and set(found["estimator"]) == {"iclke-space"}
    groups = found[found["model"] == "m"].groupby(["kind", "arrangement"])["role"]
    of = {key: part for key, part in groups}
    assert set(of["clean", "none"]) == {"right"}
    block = of["unknown", "block"]
    expected = ["right"] * 6 + ["replaced"] * 2 + ["behind"] * 3 + ["right"]
    assert block.tolist() == expected
    assert of["incorrect", "distributed"].tolist()[:4] == ["right", "replaced", "behind", "right"]


# --- claims


def test_the_statistics_of_the_claims_are_those_by_hand():
    frame = read()
    found = sequence.tests(frame, EACH, n_first=2, n_behind=BEHIND, seed=0).set_index("id")
    stretch = {
        name: mean(at(frame, "clean", "none", places))
        for name, places in {"first": [1, 2], "third": [7, 8, 9], "last": [10, 11, 12]}.items()
    }
    rise, settles, block = (
        found.loc[f"IC-{key}", "found"].estimate
        for key in ("sequence-rise", "sequence-settles", "incorrect-block")
    )
    assert rise == pytest.approx(stretch["last"] - stretch["first"])
    assert settles == pytest.approx(stretch["last"] - stretch["third"])
    ratios, levels = {}, []
    for where, places in BEHIND_OF.items():
        levels.append(mean(at(frame, "clean", "none", places)))
        ratios[where] = mean(at(frame, "incorrect", where, places)) / levels[-1]
    assert block == pytest.approx(ratios["block"] - ratios["distributed"])
    assert found.loc["IC-incorrect-block", "level"] == pytest.approx(min(levels))
    assert found.loc["IC-sequence-rise", "level"] == pytest.approx(stretch["last"])
    half = (stretch["last"] + stretch["third"]) / 2
    assert found.loc["IC-sequence-settles", "level"] == pytest.approx(half)


def test_every_claim_on_sequences_is_tested_and_a_low_level_marks_it():
    frame = pd.concat([read(), read(3, model="low", low=0.9).assign(probability=0.01)])
    how = {"n_behind": BEHIND, "seed": 0}
    every = sequence.every_test(
        sequence.tests(frame, EACH, n_first=2, **how),
        sequence.changes(frame, EACH, **how),
        sequence.replaced(frame, EACH, seed=0),
    )
    claims = papers.claims()
    ids = claims.loc[claims["over"] == "draws", "id"]
    figure_2 = ids[ids.str.contains("-sequence-|-unknown-|-incorrect-")]
    assert set(every["id"]) == set(figure_2) and len(every) == 2 * 9
    kind = {"IC-unknown-near-zero": ["unknown"], "IC-unknown-calm": ["unknown"]}
    for row in every[every["model"] == "m"].itertuples():
        if row.id in kind:
            places = BEHIND_OF[row.arrangement]
            if row.id == "IC-unknown-near-zero":
                places = {"distributed": [2, 5], "block": [7, 8]}[row.arrangement]
            of = at(frame[frame["model"] == "m"], "unknown", row.arrangement, places)
            ratio = mean(of) / row.level
            gap = 0 if row.id == "IC-unknown-near-zero" else 1
            assert row.found.estimate == pytest.approx(ratio - gap)
    tested, marks = sequence.judged_by(every, little=0.05)
    assert {key[2] for key in marks} == {"low"} and len(marks) == 9
    assert list(tested) == [
        "iclke-space", "iclke-space, block – distributed", "iclke-space, distributed",
        "iclke-space, block",
    ]  # fmt: skip
    judged = answers.judge_ways(tested, as_paper=list(tested), marks=marks)
    shown = sequence.verdicts_by_model(judged)
    assert shown.columns.tolist() == ["claim", "estimator", "m", "low"]
    assert shown["low"].str.endswith("(little to lose)").all() and len(shown) == 9
    order = [text for text in shown["claim"] if text]
    wanted = papers.claims().set_index("id").loc[figure_2, "claim"]
    assert [text.startswith(claim) for text, claim in zip(order, wanted, strict=True)] == [True] * 6


def test_a_model_that_ships_has_its_profile_behind_its_name():
    frame = pd.DataFrame({"source": ["this page", "shipped: kamel"], "model": ["a", "b"]})
    assert sequence.named(frame).tolist() == ["a", "b (kamel)"]


def test_sentences_on_blocks_are_about_the_group_that_is_named_and_the_shipped_one_with_most():
    whole = pd.DataFrame(
        [
            (source, model, "iclke-space", last, source != "this page")
            for source, model, last in [
                ("this page", "a", 0.9),
                ("shipped: kamel", "a", 0.02),
                ("shipped: known", "b", 0.4),
            ]
        ],
        columns=["source", "model", "estimator", "last", "shipped"],
    )
    rows = [
        (*key[:3], kind, where, Interval(x, x - 0.1, x + 0.1, 0.95, "by hand"))
        for n, key in enumerate(whole.itertuples(index=False, name=None))
        for kind, where, x in [
            ("unknown", "distributed", 9.0),
            ("unknown", "block", -0.1 * n),
            ("incorrect", "block", -0.3 - 0.1 * n),
        ]
    ]
    changes = pd.DataFrame(rows, columns=[*EACH, "kind", "arrangement", "change"])
    assert sequence.longer_run(whole, changes, EACH) == (
        "In longer runs b (known) has most to lose (0.40, iclke-space). Behind a block of invented "
        "subjects the right objects change by -0.20 [-0.30, -0.10] (a share, 95 % interval), behind a "
        "block of wrong pairs by -0.50 [-0.60, -0.40]."
    )
    mine = whole.iloc[0][EACH].to_dict()
    assert "by -0.30 [-0.40, -0.20]." in sequence.behind_block(changes, mine)
    assert sequence.longer_run(whole[~whole["shipped"]], changes, EACH) == "-"


# --- the door


def made(n_draws=2, **more):
    whole, known = pool.known("atlas", "capital")
    how = {"n_pairs": 10, "share_replaced": 0.2, "n_first": 2, "n_behind": 2, "seed": 3} | more
    return probes.draw_probes(known, whole.facts, "word", n_draws=n_draws, **how)


def test_the_door_gives_a_row_for_each_pair_that_the_scorer_gives(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    drawn = made()
    frame = answers.ask_pairs(
        {"toy": {"capital": drawn}}, ["iclke-space", "iclke-colon"], "answers.parquet"
    )
    assert list(drawn) == [3, 4] and len(frame) == 2 * 2 * 5 * 10
    kept = pd.read_parquet(tmp_path / "answers.parquet")
    pd.testing.assert_frame_equal(kept, frame, check_dtype=False)
    # The first object after nothing but its own subject, scored as an option alone.
    first = drawn[4][0].pairs[0]
    [colon] = frame[
        (frame["draw"] == 4)
        & (frame["estimator"] == "iclke-colon")
        & (frame["kind"] == "clean")
        & (frame["position"] == 1)
    ].itertuples()
    one = many_shot([], [first], [(first.object, "Rome")], pair_separator=": ")
    lm = open_model("toy")
    [encoded] = encode(lm.tokenizer, one, front=lm.front)
    by_plain = option_logprobs_plain(lm.network, encoded)[0]
    assert colon.logprob == pytest.approx(by_plain, abs=1e-4)


def test_what_cannot_be_asked_is_refused_before_a_model_is_opened():
    with pytest.raises(BadInput, match="estimators: 'tab' writes no sequence"):
        answers.ask_pairs({"lab:none": {"capital": made()}}, ["tab"], "answers.parquet")
    with pytest.raises(BadInput, match="nothing is asked"):
        answers.ask_pairs({}, ["iclke-space"], "answers.parquet")
    with pytest.raises(BadInput, match="n_first is 6: at most half of 10 pairs"):
        made(n_first=6)
    with pytest.raises(BadInput, match="n_draws is 0"):
        made(n_draws=0)


def test_the_replaced_pairs_that_are_shown_are_those_of_the_block():
    drawn = made()
    shown = probes.replaced_pairs({"toy": {"capital": drawn}})
    clean, _, unknown, _, wrong = drawn[3]
    for row, place in zip(shown.itertuples(), unknown.replaced[:2], strict=True):
        assert row.position == place + 1
        assert row.clean == f"{clean.pairs[place].subject} {clean.pairs[place].object}"
        assert row.incorrect.startswith(clean.pairs[place].subject)
        assert row.unknown.startswith(unknown.pairs[place].subject)
        assert row.incorrect.endswith(wrong.pairs[place].object)


def test_known_facts_are_all_or_those_of_enough_lists():
    whole, known = pool.known("atlas", "capital")
    assert known == whole.facts
    whole, known = pool.known("lab:smoke-1", "birth_year", least_lists=2)
    truth = world.states("lab:smoke-1").set_index("fact")
    for fact in whole.facts:
        row = truth.loc[fact.id]
        expected = row["state"] == "planted" and row["split"] == "test" and row["lists"] >= 2
        assert (fact in known) == expected
    assert known


# --- the figure


def test_a_panel_for_each_model_and_estimator_and_the_level_in_its_title():
    changes = pd.DataFrame(
        [("m", "a", 2, 0.5), ("m", "a", 6, 0.1), ("n", "b", 1, 0.3)],
        columns=["model", "estimator", "pairs", "without"],
    )
    reach = pd.DataFrame(
        [("m", "a", "1", "unknown", -0.1, -0.2, 0.0), ("n", "b", "block 1–2", "unknown", 0, 0, 0)],
        columns=["model", "estimator", "at", "kind", "change", "low", "high"],
    )
    fig = figures.reach_panels(reach, changes)
    titles = [ax.get_title() for ax in fig.axes]
    assert titles == ["m, a: level 0.20", "", "", "n, b: level 0.30"]
    empty = figures.reach_panels(reach.iloc[:0], changes)
    assert "nothing to show" in empty.texts[0].get_text()
    none = plt.figure()
    figures.sequence_columns(
        pd.DataFrame(columns=[*reach.columns, "position", "arrangement", "state"]), none
    )
    assert "nothing to show" in none.texts[0].get_text()
    plt.close("all")
