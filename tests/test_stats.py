"""Stats against pencil, enumeration, scipy, statsmodels, plain loops, and simulated truth."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from lkecore import stats
from lkecore.errors import BadInput
from lkecore.stats.resample import times_drawn

ENDS = [0.025, 0.975]


def answers(n_relations=3, n_draws=2, n_facts=20, ways=("a", "b"), seed=0) -> pd.DataFrame:
    """Answers whose relations, facts and ways differ; relations of different lengths."""
    rng = np.random.default_rng(seed)
    rows = []
    for r in range(n_relations):
        for fact in range(n_facts + 5 * r):
            ease = rng.normal() + r - 1
            for way, draw in product(range(len(ways)), range(n_draws)):
                right = float(rng.normal() < ease + 0.5 * way)
                rows.append((f"r{r}", f"s{fact % 7}", fact, ways[way], draw, right))
    return pd.DataFrame(rows, columns=["relation", "subject", "fact", "way", "draw", "correct"])


def enumerated(matrix: np.ndarray, over_rows: bool) -> np.ndarray:
    """Means of a (draw, fact) table under every resample of its facts, and with ``over_rows`` of draws."""
    draws, facts = matrix.shape
    rows = product(range(draws), repeat=draws) if over_rows else [tuple(range(draws))]
    columns = list(product(range(facts), repeat=facts))
    return np.sort([matrix[np.ix_(r, c)].mean() for r in rows for c in columns])


# --- bootstrap


@pytest.mark.parametrize("cells", [[], ["way"], ["way", "draw"], ["relation"], ["relation", "way"]])
@pytest.mark.parametrize("over", [["fact"], ["relation", "fact"], ["draw", "fact"], ["subject"]])
def test_first_row_is_the_plain_mean_of_means(cells, over):
    frame = answers(4)
    found = stats.bootstrap(frame, cells, over=over, n=5).loc[0]
    slots = ["relation", *(["draw"] if "draw" in [*cells, *over] else [])]
    means = frame.groupby(list(dict.fromkeys([*cells, *slots])))["correct"].mean()
    wanted = means.groupby(cells).mean() if cells else pd.Series({"all": means.mean()})
    assert set(found.index) == set(wanted.index)
    assert (found - wanted).abs().max() < 1e-12


@pytest.mark.parametrize("over", [["fact"], ["draw", "fact"]])
def test_resamples_of_a_tiny_frame_are_as_likely_as_all_of_them_say(over):
    table = np.array([[1.0, 0.5, 0.0], [0.25, 0.0, 0.75]])
    rows = [(d, f, table[d, f]) for d in range(2) for f in range(3)]
    frame = pd.DataFrame(rows, columns=["draw", "fact", "correct"])
    drawn = stats.bootstrap(frame, over=over, n=40_000, seed=1)["all"]
    every = enumerated(table, "draw" in over)
    for value in np.linspace(0.1, 0.9, 9):  # three standard errors of 40,000 draws are 0.0075
        assert abs((drawn[1:] <= value + 1e-9).mean() - (every <= value + 1e-9).mean()) < 0.0075


def test_relations_that_are_drawn_have_facts_of_their_own_each_time():
    table = {"x": [0.0, 1.0], "y": [0.5, 2.0]}
    rows = [(r, f, v) for r, values in table.items() for f, v in enumerate(values)]
    frame = pd.DataFrame(rows, columns=["relation", "fact", "correct"])
    drawn = stats.bootstrap(frame, over=["relation", "fact"], n=40_000)["all"]
    every = [
        np.mean([np.mean([table[r][f] for f in facts]) for r, facts in zip(rs, both, strict=True)])
        for rs in product("xy", repeat=2)
        for both in product(product(range(2), repeat=2), repeat=2)
    ]
    for value in np.linspace(0.1, 1.9, 10):
        assert (
            abs((drawn[1:] <= value + 1e-9).mean() - np.mean(np.array(every) <= value + 1e-9))
            < 0.0075
        )


def test_spread_over_relations_equals_a_plain_loop():
    frame = answers(6, 1, 15)
    drawn = stats.bootstrap(frame, ["way", "relation"], over=["relation", "fact"], seed=3)
    found = stats.interval(drawn["b"].std(axis=1) - drawn["a"].std(axis=1)).iloc[0]
    by = [
        p.pivot(index="fact", columns="way", values="correct") for _, p in frame.groupby("relation")
    ]
    rng, loop = np.random.default_rng(9), []
    for _ in range(4000):
        some = [by[i] for i in rng.integers(6, size=6)]
        means = [p.to_numpy()[rng.integers(len(p), size=len(p))].mean(axis=0) for p in some]
        a, b = np.std(means, axis=0, ddof=1)
        loop.append(b - a)
    assert [found["low"], found["high"]] == pytest.approx(np.quantile(loop, ENDS), abs=0.012)


def test_draws_and_the_facts_that_they_share_are_drawn_as_by_hand():
    frame = answers(1, 5, 40)
    table = frame.pivot(index=["way", "draw"], columns="fact", values="correct").to_numpy()
    gap = np.subtract(*table.reshape(2, 5, -1)[::-1])  # (draw, fact)
    drawn = stats.bootstrap(frame, ["way"], over=["draw", "fact"])
    new = stats.interval(drawn["b"] - drawn["a"]).iloc[0]
    rng, loop = np.random.default_rng(9), []
    for _ in range(4000):  # draws again, and facts, the same in all draws
        draws, some = rng.integers(5, size=5), rng.integers(40, size=40)
        loop.append(gap[draws][:, some].mean())
    assert new["estimate"] == pytest.approx(gap.mean(), abs=1e-12)
    assert [new["low"], new["high"]] == pytest.approx(np.quantile(loop, ENDS), abs=0.012)


def test_subjects_are_drawn_with_all_their_facts_in_all_relations():
    frame = answers(1, 1, 60, ways=("a",))
    by = frame.groupby("subject")["correct"].agg(["sum", "size"]).to_numpy()
    rng = np.random.default_rng(0)  # by hand: all facts of a subject that is drawn
    drawn = by[rng.integers(len(by), size=(20_000, len(by)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    new = stats.estimate(frame, over="subject").iloc[0]
    whole = by[:, 0].sum() / by[:, 1].sum()
    assert new["n"] == 7 and new["estimate"] == pytest.approx(whole, abs=1e-12)
    assert [new["low"], new["high"]] == pytest.approx([low, high], abs=0.02)
    twice = pd.concat([frame, frame.assign(relation="other")])  # no new subject, so no narrower
    again = stats.estimate(twice, over="subject").iloc[0]
    assert [again["low"], again["high"]] == pytest.approx([new["low"], new["high"]], abs=0.02)


def test_facts_of_two_worlds_with_one_number_are_two_facts():
    one = pd.DataFrame({"relation": "r", "fact": range(30), "correct": [0.0, 1.0] * 15})
    both = pd.concat([one.assign(world="w1"), one.assign(world="w2")])
    drawn = stats.bootstrap(both, ["world"], n=2000)
    assert abs(np.corrcoef(drawn["w1"][1:], drawn["w2"][1:])[0, 1]) < 0.1
    ways = pd.concat([answers(4, 2, ways=("a",)).assign(way=way) for way in "ab"])
    for over in (["fact"], ["draw", "fact"], ["relation", "fact"], ["subject"]):
        paired = stats.bootstrap(ways, ["way"], over=over, n=50)  # the same ones in all cells
        assert paired["a"].to_numpy() == pytest.approx(paired["b"].to_numpy(), abs=1e-12)


def test_relation_without_a_row_in_a_resample_is_left_out_of_the_mean_there():
    rows = [
        ("r", 0, "rare", 1.0),
        ("r", 1, "rest", 0.0),
        ("q", 0, "rare", 0.0),
        ("q", 1, "rare", 0.0),
    ]
    frame = pd.DataFrame(rows, columns=["relation", "fact", "kind", "correct"])
    drawn = stats.bootstrap(frame, ["kind"], n=1000)
    assert set(drawn["rare"]) == {0.0, 0.5} and drawn.loc[0, "rare"] == 0.5
    assert drawn["rest"].isna().mean() == pytest.approx(0.25, abs=0.05)  # one of two facts, twice
    assert stats.interval(drawn)[["low", "high"]].isna().all(axis=1).tolist() == [False, True]


def test_what_there_is_one_of_has_no_interval():
    frame = answers(1, 1)
    for over in (["draw", "fact"], ["relation"]):
        found = stats.interval(stats.bootstrap(frame, over=over)).iloc[0]
        assert found["estimate"] == frame["correct"].mean() and found[["low", "high"]].isna().all()
    with pytest.raises(BadInput, match="r0 has one fact"):
        stats.bootstrap(frame[frame["fact"] == 0])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused_by_name_and_number(value):
    frame = answers()
    frame.loc[[3, 8], "correct"] = value
    asked = [
        lambda: stats.bootstrap(frame),
        lambda: stats.estimate(frame),
        lambda: stats.compare(frame, "way", "a", "b"),
        lambda: stats.relate(frame, "correct", "draw"),
    ]
    for ask in asked:
        with pytest.raises(BadInput, match="2 of 300 values of 'correct' are missing or infinite"):
            ask()
    frame = answers().assign(draw=[None, *[1] * 299])
    with pytest.raises(BadInput, match="1 of 300 rows have no 'draw'"):
        stats.bootstrap(frame, ["draw"])
    with pytest.raises(BadInput, match="no rows"):
        stats.estimate(frame[:0])
    with pytest.raises(BadInput, match="no column 'estimater'; nearest: estimator"):
        stats.estimate(frame.assign(estimator="x"), ["estimater"])


# --- a statistic in the place of a mean


@pytest.mark.parametrize("over", [["relation", "fact"], ["draw", "fact"], ["subject"]])
def test_a_statistic_that_is_the_mean_of_means_has_the_resamples_of_the_mean(over):
    frame, by = answers(4, 3, 6), "draw" if "draw" in over else "relation"

    def mean_of_means(rows: pd.DataFrame) -> float:
        groups = 10 * rows["relation"].factorize()[0] + rows[by].factorize()[0]
        right = np.bincount(groups, rows["correct"]) / np.maximum(1, np.bincount(groups))
        return right.sum() / len(set(groups))

    how = {"over": over, "seed": 4}
    rows = stats.bootstrap(frame, ["way"], statistic=mean_of_means, n=400, **how)
    mean = stats.bootstrap(frame, ["way"], **how)
    assert (rows.loc[0] - mean.loc[0]).abs().max() < 1e-12 and len(rows) == 401
    for a, b in [(rows["a"], mean["a"]), (rows["b"] - rows["a"], mean["b"] - mean["a"])]:
        sd = b[1:].std()  # one error of 400 draws is 3.5 % of it, that of their mean 5 %
        assert a[1:].std() == pytest.approx(sd, rel=0.12)
        assert a[1:].mean() == pytest.approx(b[1:].mean(), abs=0.17 * sd)


def test_the_median_of_a_tiny_frame_has_the_resamples_that_all_of_them_say():
    values = [1.0, 2.0, 4.0, 8.0]
    frame = pd.DataFrame({"fact": range(4), "rank": values})
    drawn = stats.bootstrap(frame, statistic=lambda rows: np.median(rows["rank"]), n=1000)["all"]
    every = np.array([np.median(some) for some in product(values, repeat=4)])
    assert drawn[0] == 3.0
    for value in np.unique(every):  # three standard errors of 1,000 draws are 0.048
        assert abs((drawn[1:] <= value).mean() - (every <= value).mean()) < 0.048


def test_a_relation_that_is_drawn_twice_counts_twice_with_facts_of_its_own():
    table = {"x": [0.0, 1.0], "y": [0.5, 2.0]}
    rows = [(r, f, v) for r, values in table.items() for f, v in enumerate(values)]
    frame = pd.DataFrame(rows, columns=["relation", "fact", "value"])

    def spread(rows: pd.DataFrame) -> float:
        of = rows["relation"].factorize()[0]
        return float(np.std(np.bincount(of, rows["value"]) / np.bincount(of), ddof=1))

    drawn = stats.bootstrap(frame, over=["relation", "fact"], statistic=spread, n=1000)["all"]
    every = []
    for rs in product("xy", repeat=2):
        for facts in product(product(range(2), repeat=2), repeat=2):
            means = [np.mean([table[r][f] for f in fs]) for r, fs in zip(rs, facts, strict=True)]
            every.append(np.std(means, ddof=1))
    assert drawn[0] == pytest.approx(np.std([0.5, 1.25], ddof=1))
    for value in np.linspace(0.05, 1.35, 9):
        assert abs((drawn[1:] <= value).mean() - np.mean(np.array(every) <= value)) < 0.048


def test_a_statistic_that_cannot_be_drawn_is_refused_or_nan():
    frame, how = answers(1, 1), {"statistic": len, "n": 3}
    with pytest.raises(BadInput, match="'relation' is drawn again, and cannot be in cells"):
        stats.bootstrap(frame, ["relation"], over=["relation", "fact"], **how)
    with pytest.raises(BadInput, match="the statistic gives no number"):
        stats.bootstrap(frame, statistic=lambda rows: rows, n=3)
    with pytest.raises(BadInput, match="r0 has one fact"):
        stats.bootstrap(frame[frame["fact"] == 0], **how)
    lone = stats.bootstrap(frame, over=["relation", "fact"], **how)  # one relation only
    assert lone["all"][0] == len(frame) and lone["all"][1:].isna().all()


# --- interval


def test_interval_is_the_percentiles_and_nan_counts_on_both_sides():
    values = np.random.default_rng(0).normal(size=1001)
    found = stats.interval(pd.DataFrame({"x": values}), 0.9).iloc[0]
    assert [found["low"], found["high"]] == pytest.approx(np.quantile(values[1:], [0.05, 0.95]))
    values[1:11] = np.nan  # 1 % of them
    found = stats.interval(pd.Series(values)).iloc[0]
    known = np.sort(values[11:])
    assert known[14] < found["low"] < known[26] and known[-27] < found["high"] < known[-15]
    assert found["low"] == pytest.approx(np.quantile(np.r_[[-9.0] * 10, known], 0.025))
    unknown = stats.interval(pd.Series([np.nan, 1.0, 2.0, 3.0]))
    assert unknown.isna().all(axis=None)  # no data, no ends
    alike = stats.interval(
        pd.DataFrame({"x": [0.1 + 0.2, *[0.3] * 50], "y": [1.0, *[1.0] * 49, 2.0]})
    )
    assert alike["low"].isna().tolist() == alike["high"].isna().tolist() == [True, False]
    values[1:41] = np.nan  # 4 %: the ends themselves
    assert stats.interval(pd.Series(values))[["low", "high"]].isna().all(axis=None)


# --- estimate, minus, compare, said


def test_estimate_over_relations_is_students_t_of_their_means():
    frame = answers(5)
    found = stats.estimate(frame, ["way"], bounds=None).set_index("way")
    for way, part in frame.groupby("way"):
        means = part.groupby("relation")["correct"].mean()
        theirs = scipy_stats.t.interval(0.95, 4, means.mean(), scipy_stats.sem(means))
        assert found.loc[way, ["low", "high"]].tolist() == pytest.approx(theirs)
        assert found.loc[way, ["estimate", "n"]].tolist() == pytest.approx([means.mean(), 5])
    cut = stats.estimate(frame.assign(correct=frame["relation"].eq("r0").astype(float)))
    assert cut[["low", "high"]].iloc[0].tolist()[0] == 0.0
    with pytest.raises(BadInput, match=r"'x' lies in \[-1, 3\], outside of bounds=\(0, 1\)"):
        stats.estimate(frame.assign(x=[-1, *[3] * (len(frame) - 1)]), value="x")


def test_share_is_wilsons():
    frame = pd.DataFrame({"kind": ["a"] * 9 + ["b"] * 4, "correct": [1] * 7 + [0] * 2 + [1] * 4})
    found = stats.estimate(frame, ["kind"], over="share")
    for row, (k, n) in zip(found.itertuples(), [(7, 9), (4, 4)], strict=True):
        assert [row.low, row.high] == pytest.approx([*proportion_confint(k, n, method="wilson")])
        assert (row.estimate, row.n) == (k / n, n)
    with pytest.raises(BadInput, match="not 0 or 1"):
        stats.estimate(frame.assign(correct=0.5), over="share")


def test_estimates_by_group_are_those_of_each_group_alone():
    frame = answers(3, 1)
    by = ["relation", "way"]
    found = stats.estimate(frame, by, over="fact", seed=2).set_index(by)
    for key, part in frame.groupby(by):
        alone = stats.estimate(part, over="fact", seed=2).iloc[0]
        assert found.loc[key].tolist() == alone.tolist()
    lone = pd.concat([frame, frame.iloc[[0]].assign(relation="alone")])
    assert stats.estimate(lone, by, over="fact").iloc[-1][["low", "high"]].isna().all()


def test_compare_is_the_mean_of_differences_on_facts_that_both_were_asked():
    frame = answers(6, 2)
    frame = frame[~((frame["way"] == "b") & (frame["fact"] > 15))]  # b was asked less
    found = stats.compare(frame, "way", "b", "a").iloc[0]
    both = (
        frame[frame["fact"] <= 15].groupby(["relation", "fact", "way"])["correct"].mean().unstack()
    )
    means = (both["b"] - both["a"]).groupby("relation").mean()
    theirs = scipy_stats.t.interval(0.95, 5, means.mean(), scipy_stats.sem(means))
    assert found[["estimate", "low", "high"]].tolist() == pytest.approx([means.mean(), *theirs])
    back = stats.compare(frame, "way", "a", "b").iloc[0]
    assert back["estimate"] == -found["estimate"]
    split = frame.assign(half=frame["relation"] < "r2")
    gaps = stats.minus(split, "way", "b", "a", by=["half"])
    assert len(gaps) == 6 * 16 and gaps["gap"].mean() == pytest.approx(
        (both["b"] - both["a"]).mean()
    )
    with pytest.raises(BadInput, match="no row has 'c' in 'way'"):
        stats.minus(frame, "way", "c", "a")
    split.loc[split["half"] & split["way"].eq("a"), "way"] = "c"
    with pytest.raises(BadInput, match="{'half': True} has no fact"):
        stats.minus(split, "way", "b", "a", by=["half"])


@pytest.mark.parametrize("n_relations", [1, 2, 4])
def test_fewer_than_five_relations_have_the_interval_over_their_facts_and_it_is_said(n_relations):
    frame = answers(n_relations, ways=("a",))
    found = stats.estimate(frame, ["way"]).iloc[0]
    by = frame.groupby(["relation", "fact"])["correct"].mean().groupby("relation")
    values = [part.to_numpy() for _, part in by]  # as by hand: facts drawn within each relation
    kind = {"n_resamples": 10_000, "method": "percentile", "rng": 1, "vectorized": False}
    theirs = scipy_stats.bootstrap(values, lambda *v: np.mean([*map(np.mean, v)]), **kind)
    ends = theirs.confidence_interval
    assert found["estimate"] == pytest.approx(by.mean().mean(), abs=1e-12)
    # Or one step of a mean of few: 1 right answer in 40.
    within = max(0.05 * (ends[1] - ends[0]), 1.01 / 40 / n_relations)
    assert [found["low"], found["high"]] == pytest.approx([*ends], abs=within)
    assert (found["n"], found["over"]) == (by.size().sum(), "fact")
    assert stats.format_estimate(found).endswith("] over facts")
    # A group of its own may have enough; worlds are few on purpose; means alone have no facts.
    mixed = pd.concat([frame.assign(way="few"), answers(5, ways=("b",))])
    assert stats.estimate(mixed, ["way"])["over"].tolist() == ["fact", "relation"]
    assert "over" not in stats.estimate(frame.assign(world=frame["relation"]), over="world")
    assert "over" not in stats.estimate(answers(5), ["way"])
    alone = stats.estimate(frame.drop(columns="fact")).iloc[0]
    assert alone[["low", "high"]].isna().all() and alone["n"] == n_relations
    lone = pd.concat([frame, frame.iloc[[0]].assign(relation="with one fact")])
    assert stats.estimate(lone.query("relation != 'r3'"))[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize("right", [0, 1])
@pytest.mark.parametrize(("n_relations", "over"), [(1, "fact"), (3, "fact"), (7, "relation")])
def test_answers_that_all_agree_have_the_ends_of_clopper_and_pearson(n_relations, over, right):
    frame = answers(n_relations, 1, ways=("a",)).query("fact < 20").assign(correct=float(right))
    found = stats.estimate(frame, over=over).iloc[0]
    n = 20 * n_relations if over == "fact" else n_relations
    theirs = scipy_stats.binomtest(right * n, n).proportion_ci(method="exact")
    assert [found["low"], found["high"]] == pytest.approx([theirs.low, theirs.high])
    # 0.3 everywhere is a share u of others at most, which may be 0 or 1 at worst.
    some = stats.estimate(frame.assign(correct=0.3), over=over).iloc[0]
    u = 1 - 0.025 ** (1 / n)
    assert [some["low"], some["high"]] == pytest.approx([0.3 - 0.3 * u, 0.3 + 0.7 * u])
    assert stats.estimate(frame, over=over, bounds=None)[["low", "high"]].isna().all(axis=None)
    both = pd.concat([frame.assign(way=way) for way in "ab"])
    gap = stats.compare(both, "way", "b", "a", over=over).iloc[0]
    assert gap[["estimate", "low", "high"]].tolist() == pytest.approx([0, -u, u])
    logs = both.assign(correct=both["correct"] - 3)  # nobody knows how far they may differ
    assert (
        stats.format_estimate(stats.compare(logs, "way", "b", "a", over=over))
        == "0.00 (no interval)"
    )


def test_an_interval_of_answers_that_agree_holds_the_truth_as_often_as_it_says():
    """Also where relations have other numbers of facts, and other answers: the worst case that shows none."""
    frame = answers(2, 1, 10, ways=("a",)).query("fact < 12")  # 10 and 12 facts
    frame["correct"] = (frame["relation"] == "r0").astype(float)
    found = stats.estimate(frame, over="fact").iloc[0]
    p = np.linspace(
        0, 1, 2001
    )  # share of r0 that is wrong, and of r1 that is right: all are seen agreeing
    wrong, right = np.meshgrid(p, p)
    seen = (1 - wrong) ** 10 * (1 - right) ** 12 >= 0.025
    means = ((1 - wrong + right) / 2)[seen]
    assert found["low"] <= means.min() and means.max() <= found["high"] < 1


def test_said_rounds_once_and_says_when_there_is_no_interval():
    row = pd.DataFrame({"estimate": [0.385], "low": [-0.004], "high": [np.nan]})
    assert stats.format_estimate(row, 1) == "0.4 (no interval)"
    row["high"] = 0.4849
    assert stats.format_estimate(row.iloc[0], 1) == "0.4 [0.0, 0.5]"
    assert stats.format_estimate(row, percent=True) == "38 % [0, 48]"
    assert stats.format_estimate(row * 100, 0) == "38 [0, 48]"
    with pytest.raises(BadInput, match="2 rows"):
        stats.format_estimate(pd.concat([row, row]))


# --- auroc, relate


def test_auroc_is_mann_whitney_and_its_pairs_are_drawn_together():
    rng = np.random.default_rng(0)
    told, control = rng.integers(0, 9, 80) + 2.0, rng.integers(0, 9, 80).astype(float)
    told[0], control[1] = np.inf, -np.inf
    drawn = stats.auroc(pd.Series(told), pd.Series(control))
    u = scipy_stats.mannwhitneyu(told, control).statistic
    above = (told[:, None] > control) + 0.5 * (told[:, None] == control)
    assert drawn.loc[0, "auroc"] == pytest.approx(u / 80**2, abs=1e-12)
    found, again = stats.interval(drawn).iloc[0], []
    for _ in range(2000):  # pairs, by hand
        of = rng.integers(80, size=80)
        again.append(above[np.ix_(of, of)].mean())
    assert [found["low"], found["high"]] == pytest.approx(np.quantile(again, ENDS), abs=0.012)
    columns = {"x": told, "y": -told}  # the same pairs for all columns
    two = stats.auroc(pd.DataFrame(columns), pd.DataFrame({"x": control, "y": -control}))
    assert (two["x"] + two["y"] - 1).abs().max() < 1e-12
    of = pd.Series(np.arange(80) ** 2 // 300)  # some have more pairs than others
    wide = stats.interval(stats.auroc(pd.Series(told), pd.Series(control), of=of)).iloc[0]
    again, rows = [], [np.flatnonzero(of == k) for k in of.unique()]
    for _ in range(2000):  # subjects with all their pairs
        its = np.concatenate([rows[k] for k in rng.integers(len(rows), size=len(rows))])
        again.append(above[np.ix_(its, its)].mean())
    assert [wide["low"], wide["high"]] == pytest.approx(np.quantile(again, ENDS), abs=0.02)
    with pytest.raises(BadInput, match="1 of 80 values of 'auroc' are missing"):
        stats.auroc(pd.Series(told).mask(told == told[5]).where(np.arange(80) == 5, told), of)


@pytest.mark.parametrize("ranks", [False, True])
def test_correlation_is_scipys_in_the_data_and_in_each_resample(ranks):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 6, 50).astype(float)  # with ties
    frame = pd.DataFrame({"fact": range(50), "x": x, "y": x + rng.normal(size=50), "z": -x})
    drawn = stats.relate(frame, "x", ["y", "z"], ranks=ranks, n=400)
    theirs = scipy_stats.spearmanr if ranks else scipy_stats.pearsonr
    assert drawn.loc[0, "y"] == pytest.approx(theirs(frame["x"], frame["y"]).statistic, abs=1e-12)
    assert drawn["z"].to_numpy() == pytest.approx(-1, abs=1e-12)
    for i, times in enumerate(times_drawn(np.random.default_rng(0), 400, 50)[:60]):
        some = frame.loc[np.repeat(np.arange(50), times.astype(int))]
        assert drawn["y"][i] == pytest.approx(theirs(some["x"], some["y"]).statistic, abs=1e-12)


def test_correlation_draws_a_unit_with_all_its_rows_and_is_nan_without_spread():
    frame = answers(2, 1, 30).assign(x=lambda f: f["fact"] % 5, y=lambda f: (f["fact"] % 3) + 1.0)
    wide = stats.interval(stats.relate(frame, "x", "y", over="subject")).iloc[0]
    narrow = stats.interval(stats.relate(frame, "x", "y")).iloc[0]
    assert wide["high"] - wide["low"] > narrow["high"] - narrow["low"]
    flat = stats.interval(stats.relate(frame.assign(x=1), "x", "y")).iloc[0]
    assert flat.isna().all()
    infinite = frame.assign(x=frame["x"].replace(4, np.inf))
    assert stats.relate(infinite, "x", "y", ranks=True).loc[0, "y"] == pytest.approx(
        scipy_stats.spearmanr(frame["x"], frame["y"]).statistic
    )


# --- simulated truth


def test_intervals_over_facts_and_draws_hold_the_truth_as_often_as_they_say():
    rng, held = np.random.default_rng(0), {"draw": 0, "fact": 0}
    index = pd.MultiIndex.from_product([range(12), range(60)], names=["draw", "fact"])
    for i in range(100):
        effect = 0.3 * rng.normal(size=(12, 1)) + rng.normal(size=(1, 60))
        value = effect + 0.5 * rng.normal(size=(12, 60))
        frame = pd.Series(value.ravel(), index, name="x").reset_index()
        for first, over in (("draw", ["draw", "fact"]), ("fact", ["fact"])):
            drawn = stats.bootstrap(frame, over=over, value="x", n=200, seed=i)
            row = stats.interval(drawn).iloc[0]
            held[first] += row["low"] < 0 < row["high"]
    assert held["draw"] >= 88  # 95 of 100, and three standard errors
    assert held["fact"] < held["draw"]
