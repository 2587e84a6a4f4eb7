"""One fact, many prompts: by pencil, by plain loops over prompts, by identities, and with faults put in."""

from fractions import Fraction
from itertools import combinations, permutations, product
from statistics import stdev

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from lkecore.errors import BadInput
from lkecore.facts.wordings import jaccard
from lkecore.stats import coverage as many
from lkecore.stats import match, wordings

KEY = ["relation", "fact", "template", "expression"]


def prompts(seed=0, sizes=((6, 4), (9, 3)), answers=("a", "b", "c", "a b", "")) -> pd.DataFrame:
    """Prompts of relations of (pairs, templates), pairs with 1 to 3 names; "a" or "b" is right."""
    rng = np.random.default_rng(seed)
    rows = []
    for r, (pairs, templates) in enumerate(sizes):
        for fact in range(pairs):
            gold = "ab"[int(rng.integers(2))]
            for template, expression in product(range(templates), range(1 + fact % 3)):
                said = gold if rng.random() < 0.2 + 0.2 * template else str(rng.choice(answers))
                rows.append((f"r{r}", f"f{fact}", template, expression, said, gold))
    frame = pd.DataFrame(rows, columns=[*KEY, "answer", "gold"])
    return frame.assign(correct=frame["answer"] == frame["gold"], group=frame["template"] // 2)


SETTINGS = settings(deadline=None, max_examples=25)  # no test asserts seconds
SEEDS = st.integers(0, 10_000)


# --- V


@given(SEEDS)
@SETTINGS
def test_v_has_the_mean_and_the_variance_of_all_templates_and_expressions(seed):
    """Closed form: between templates, the variance of their sums; within, of a coin a pair."""
    frame = prompts(seed)
    v = wordings.fluctuation(frame, seed=seed)
    p = frame.groupby(KEY[:3])["correct"].mean()  # of a pair under a template
    n = p.groupby(KEY[:2]).ngroups
    by = ["relation", "template"]
    sums, coins = p.groupby(by).sum(), (p * (1 - p)).groupby(by).sum()
    mean = sums.groupby("relation").mean().sum() / n
    variance = (
        sums.groupby("relation").var(ddof=0) + coins.groupby("relation").mean()
    ).sum() / n**2
    assert v.shape == (50_000,)
    assert v.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / 50_000))
    assert v.var() == pytest.approx(
        variance, rel=0.05
    )  # a fourth moment of 3: 5 standard errors are 0.03


def test_v_takes_each_value_as_often_as_all_choices_say():
    rows = [("r", 1, 0, 0, 1), ("r", 1, 0, 1, 0), ("r", 1, 1, 0, 1), ("r", 1, 1, 1, 1),
            ("r", 2, 0, 0, 0), ("r", 2, 1, 0, 1), ("s", 1, 0, 0, 1), ("s", 1, 1, 0, 0)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=[*KEY, "correct"])
    right = frame.set_index(KEY)["correct"]
    every = [
        (right["r", 1, t, e] + right["r", 2, t, 0] + right["s", 1, u, 0]) / 3
        for t, e, u in product(range(2), range(2), range(2))
    ]
    alone = [
        (right["r", 1, t, e] + right["r", 2, u, 0] + right["s", 1, w, 0]) / 3
        for t, e, u, w in product(range(2), repeat=4)
    ]
    for unit, of in (("template", every), ("independent", alone)):
        v = wordings.fluctuation(frame, unit=unit)
        for value in {*of, *v}:
            assert np.isclose(v, value).mean() == pytest.approx(
                np.isclose(of, value).mean(), abs=0.01
            )


def test_same_seed_draws_the_same_and_another_one_does_not():
    frame = prompts()
    first, again, other = (wordings.fluctuation(frame, n=50, seed=s) for s in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()
    shuffled = frame.sample(frac=1, random_state=0)
    assert wordings.fluctuation(shuffled, n=50, seed=1).tolist() == first.tolist()


# --- spread, ranks


def test_spread_of_a_relation_is_that_of_its_own_table_and_luck_alone_has_little():
    frame = prompts(3, sizes=((40, 5), (30, 4)))
    found = wordings.spread(frame)
    for relation, rows in frame.groupby("relation"):
        table = [
            [of.groupby("fact")["correct"].mean()[f] for f in sorted(rows["fact"].unique())]
            for _, of in rows.groupby("template")
        ]
        assert found[relation] == pytest.approx(wordings.std_beyond_luck(table))
    assert (found > 0.1).all()  # templates were made to differ
    rng = np.random.default_rng(0)
    alike = frame.assign(correct=rng.random(len(frame)) < 0.5)
    assert wordings.spread(alike).max() < 0.1


@pytest.mark.parametrize("always", [(1, 0), (1, 1, 0), (0.25, 0.5, 1, 0)])
def test_of_templates_that_have_each_fact_alike_no_spread_is_luck(always):
    """More facts would say the same of them: what is left is their standard deviation, by `statistics`."""
    table = [[share] * 7 for share in always]
    assert wordings.std_beyond_luck(table) == pytest.approx(stdev(always))


def halved(rows: pd.DataFrame, which=max) -> Fraction:
    """Best (or worst) template of one half counted on the other: all halvings, by plain loops."""
    facts, templates = sorted(set(rows["fact"])), sorted(set(rows["template"]))
    share = {
        key: Fraction(int(its.sum()), len(its))
        for key, its in rows.groupby(["fact", "template"])["correct"]
    }
    every = []
    for half in combinations(facts, len(facts) // 2):
        other, right = [fact for fact in facts if fact not in half], Fraction(0)
        for chosen_on, counted_on in ((half, other), (other, half)):
            on = {t: sum(share[f, t] for f in chosen_on) for t in templates}
            top = [t for t in templates if on[t] == which(on.values())]
            right += sum(share[f, t] for f in counted_on for t in top) / len(top)
        every.append(right / len(facts))
    return sum(every) / len(every)


@given(SEEDS)
@settings(deadline=None, max_examples=10)
def test_best_and_worst_are_counted_on_the_half_that_did_not_choose_them(seed):
    """Random halvings come near the mean of all; 5 and 6 pairs: 10 and 20, odd and even halves."""
    frame = prompts(seed, sizes=((6, 4), (5, 3)))
    found = wordings.crossed(frame.sample(frac=1, random_state=seed), n=4_000)
    for relation, rows in frame.groupby("relation"):
        of_pairs = rows.groupby(["template", "fact"])["correct"].mean()
        wanted = halved(rows, min), of_pairs.mean(), halved(rows)
        assert found.loc[relation].tolist() == pytest.approx([float(w) for w in wanted], abs=0.03)
        assert found.loc[relation, "average"] == pytest.approx(wanted[1])


def test_equal_templates_have_neither_a_best_nor_a_worst_and_others_do():
    """Each fact's answers dealt to its templates; the best in the same sample is above the mean then."""
    rng, gaps, luck = np.random.default_rng(0), [], []
    frame = pd.DataFrame(list(product("r", range(30), range(8))), columns=KEY[:3])
    share = np.repeat(rng.random(30), 8)  # facts differ, templates do not
    for _ in range(100):
        dealt = frame.assign(correct=rng.random(240) < share)
        of = wordings.crossed(dealt, n=20).loc["r"]
        gaps.append(of["best"] - of["worst"])
        by_template = dealt.groupby("template")["correct"].mean()
        luck.append(by_template.max() - by_template.min())
    error = np.std(gaps) / np.sqrt(100)
    assert abs(np.mean(gaps)) < 4 * error < 0.04
    assert np.mean(luck) > 0.15
    frame["correct"] = (frame["template"] == 7) | (rng.random(240) < share) & (
        frame["template"] > 0
    )
    of = wordings.crossed(frame).loc["r"]
    assert of[["worst", "best"]].tolist() == [0, 1]


def test_a_relation_is_halved_alike_whatever_else_is_there():
    frame = prompts(4)
    alone = wordings.crossed(frame[frame["relation"] == "r1"])
    assert alone.loc["r1"].tolist() == wordings.crossed(frame).loc["r1"].tolist()


def test_ranks_by_hand_with_equal_ones_averaged_and_relations_apart():
    shares = {("r", 0): 0.5, ("r", 1): 1.0, ("r", 2): 0.5, ("s", 0): 0.0, ("s", 1): 0.25}
    frame = pd.DataFrame(
        [(*key, f, f < 4 * share) for key, share in shares.items() for f in range(4)],
        columns=["relation", "template", "fact", "correct"],
    )
    assert wordings.ranks(frame).to_dict() == {
        ("r", 0): 2.5, ("r", 1): 1, ("r", 2): 2.5, ("s", 0): 2, ("s", 1): 1,
    }  # fmt: skip


# --- Consist


def brute(rows: pd.DataFrame, same) -> tuple[list[bool], list[bool]]:
    """Whether two prompts have the same answer, of all two, in one group and in two."""
    inner, inter = [], []
    for (_, a), (_, b) in combinations(rows.iterrows(), 2):
        (inner if a["group"] == b["group"] else inter).append(same(a["answer"], b["answer"]))
    return inner, inter


@pytest.mark.parametrize("same", [None, match.alike])
@given(seed=SEEDS)
@settings(deadline=None, max_examples=10)
def test_consist_is_a_loop_over_all_two_prompts(same, seed):
    frame = prompts(seed, sizes=((4, 4), (3, 3))).sample(frac=1, random_state=seed)
    compare = same or (lambda a, b: a == b)
    found = wordings.consist(frame, group="group", same=same)
    assert len(found) == 7
    for pair, rows in frame.groupby(["relation", "fact"]):
        inner, inter = brute(rows, compare)
        row = found.loc[pair]
        assert row["prompts"] == len(rows)
        assert row["consist"] == pytest.approx(np.mean(inner + inter))
        assert row["inner"] == pytest.approx(np.mean(inner))
        assert row["inter"] == pytest.approx(np.mean(inter))
        # Consist is inner and inter, weighted.
        weight = row["weight"]
        assert weight == pytest.approx(len(inner) / len(inner + inter))
        assert row["consist"] == pytest.approx(weight * row["inner"] + (1 - weight) * row["inter"])


def test_consist_across_subjects_counts_prompts_of_different_pairs_only():
    frame = prompts(5, sizes=((4, 3), (3, 2)))
    found = wordings.consist(frame, ["relation"], group="fact")
    for relation, rows in frame.groupby("relation"):
        _, inter = brute(rows.assign(group=rows["fact"]), lambda a, b: a == b)
        assert found.loc[relation, "inter"] == pytest.approx(np.mean(inter))


def test_a_pair_with_one_prompt_has_no_consist_and_is_there_to_be_counted():
    frame = pd.DataFrame({"relation": "r", "fact": [1, 2, 2], "template": [0, 0, 1], "answer": "a"})
    found = wordings.consist(frame)
    assert found["consist"].isna().tolist() == [True, False]
    assert found["consist"].mean() == 1 and found["prompts"].tolist() == [1, 2]


def test_empty_outputs_are_alike_for_equality_and_not_for_the_paper():
    frame = pd.DataFrame(
        {"relation": "r", "fact": 1, "template": [0, 1, 2], "answer": ["", "", "a"]}
    )
    assert wordings.consist(frame)["consist"].item() == pytest.approx(1 / 3)
    assert wordings.consist(frame, same=match.alike)["consist"].item() == 0


# --- Overconf


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=6, max_size=40),
    st.integers(1, 6),
)
@SETTINGS
def test_overconf_is_the_difference_of_the_means_where_bins_divide_the_prompts(pairs, bins):
    pairs = pairs[: len(pairs) // bins * bins]
    sure, right = np.array([(s / 4, r) for s, r in pairs]).T
    found = wordings.overconf(sure, right, bins)
    assert found["overconf"] == pytest.approx(sure.mean() - right.mean())
    assert found["gap"] >= abs(found["overconf"]) - 1e-12


def test_bins_by_hand_the_rest_to_the_surest_and_ties_averaged():
    sure, right = [0.9, 0.1, 0.5, 0.5, 0.5], [1, 0, 1, 0, 0]
    table = wordings.calibration(sure, right, bins=2)
    assert table["n"].tolist() == [2, 3]
    assert table["confidence"].tolist() == pytest.approx([0.3, 1.9 / 3])
    assert table["accuracy"].tolist() == pytest.approx([1 / 6, 5 / 9])
    found = wordings.overconf(sure, right, bins=2)
    assert found["overconf"] == pytest.approx((0.3 - 1 / 6 + 1.9 / 3 - 5 / 9) / 2)
    assert found["overconf"] != pytest.approx(np.mean(sure) - np.mean(right))  # 2 does not divide 5


@given(st.permutations(range(12)))
@SETTINGS
def test_the_order_of_prompts_of_one_confidence_does_not_matter(order):
    sure, right = np.repeat([0.2, 0.6, 0.7], 4), np.arange(12) % 3 == 0
    order = list(order)
    found = wordings.calibration(sure[order], right[order], 5)
    assert np.allclose(found, wordings.calibration(sure, right, 5))


def test_gap_sees_what_cancels_in_overconf():
    found = wordings.overconf([0.2] * 5 + [0.8] * 5, [1] * 3 + [0] * 2 + [1, 1] + [0] * 3, bins=2)
    assert found.to_dict() == pytest.approx({"overconf": 0.0, "gap": 0.4})


# --- bias


def test_bias_by_hand_and_against_scipys_entropy():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.3] * 5, size=4)
    found = wordings.bias(p)
    assert found["single"] == pytest.approx(np.mean([1 - entropy(row) / np.log(5) for row in p]))
    assert found["multi"] == pytest.approx(1 - entropy(p.mean(axis=0)) / np.log(5))
    assert wordings.bias([[0.25, 0.75]])["single"] == pytest.approx(0.18872, abs=1e-5)


@given(SEEDS)
@SETTINGS
def test_many_templates_are_never_more_biased_than_one_whatever_the_model(seed):
    p = np.random.default_rng(seed).dirichlet([0.3] * 4, size=3)
    found = wordings.bias(p)
    assert -1e-12 <= found["multi"] <= found["single"] + 1e-12 <= 1 + 1e-12


# --- coverage, its luck, sharing


@given(SEEDS)
@SETTINGS
def test_coverage_is_a_count_over_sets(seed):
    frame = prompts(seed)
    found = many.coverage(frame)
    any_name = frame.groupby(KEY[:3], as_index=False)["correct"].any()
    elsewhere = wordings.crossed(any_name)
    for relation, rows in frame.groupby("relation"):
        facts = set(rows["fact"])
        by_template = [set(t.loc[t["correct"], "fact"]) for _, t in rows.groupby("template")]
        shares = [Fraction(int(f["correct"].sum()), len(f)) for _, f in rows.groupby("fact")]
        wanted = (
            len(facts),
            float(sum(shares) / len(facts)),
            max(len(found) for found in by_template) / len(facts),
            elsewhere.loc[relation, "best"],
            len(set.union(*by_template)) / len(facts),
        )
        assert tuple(found.loc[relation]) == pytest.approx(wanted)
        assert found.loc[relation, "average"] <= found.loc[relation, "any"]
        assert found.loc[relation, "best"] <= found.loc[relation, "any"]


def test_objects_dealt_to_others_have_the_mean_of_all_deals_without_a_fixed_point():
    frame = prompts(1, sizes=((4, 3),), answers=("a", "b", "c", "d"))
    golds = {"f0": ["a"], "f1": ["b", "c"], "f2": ["a"], "f3": ["d"]}
    said = list(zip(frame["answer"], frame["fact"], strict=True))
    frame["correct"] = [answer in golds[fact] for answer, fact in said]
    accepted = {("r0", fact): names for fact, names in golds.items()}
    found = many.dealt(frame, accepted, n=3_000)
    every = []
    for deal in permutations(golds):
        to = dict(zip(golds, deal, strict=True))
        if all(a != b for a, b in to.items()):
            right = [answer in golds[to[fact]] for answer, fact in said]
            every.append(many.coverage(frame.assign(correct=right)).iloc[0])
    assert len(every) == 9
    columns = ["average", "best", "any"]
    every = pd.DataFrame(every)[columns]
    assert np.allclose(found[columns].mean(), every.mean(), atol=0.02)
    seen, wanted = (set(map(tuple, f.round(9).to_numpy())) for f in (found[columns], every))
    assert seen == wanted
    assert found["deal"].tolist() == list(range(3_000)) and set(found["pairs"]) == {4}


def test_sharing_is_a_share_of_sets_in_both_units():
    one, other = prompts(1), prompts(2)
    for left, top in ((one, other), (other, one)):
        found = many.sharing(left, top.sample(frac=1, random_state=0))
        for name, key in (("template", KEY[:3]), ("fact", KEY[:2])):
            a, b = (set(map(tuple, f.loc[f["correct"], key].to_numpy())) for f in (left, top))
            assert found[name] == pytest.approx(len(a & b) / len(a))
    assert np.isnan(many.sharing(one.assign(correct=False), other)).all()


# --- words


def test_jaccard_by_hand():
    texts = ["[X] is in [Y].", "[X] lies IN [Y]", "where is [X]? [Y]"]
    # {x, is, in, y}, {x, lies, in, y}, {where, is, x, y}: 3 of 5, 3 of 5, 2 of 6
    assert jaccard(texts) == pytest.approx((2 / 5 + 2 / 5 + 4 / 6) / 3)
    assert jaccard(texts[:2], split=str.split) == pytest.approx(1 - 1 / 7)


# --- refusals


FRAME = pd.DataFrame(
    {"relation": "r", "fact": [1, 1, 2, 2], "template": [0, 1, 0, 1], "correct": 1, "answer": "a"}
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wordings.fluctuation(FRAME, unit="pair"), "unit is 'pair'"),
        (lambda: wordings.fluctuation(FRAME.iloc[:3]), "1 pairs lack a template .* such as r, 2$"),
        (lambda: wordings.spread(FRAME.iloc[:2]), r"'r' has \(2, 1\) templates and pairs"),
        (lambda: wordings.crossed(FRAME.iloc[:2]), "'r' has one pair"),
        (lambda: wordings.fluctuation(FRAME.assign(correct=0.5)), "4 values of 'correct' .* 0.5$"),
        (lambda: many.coverage(pd.concat([FRAME, FRAME])), "4 prompts are there twice, such as r, 1, 0, 0"),
        (lambda: wordings.consist(FRAME.assign(answer=None)), "4 of 4 rows have no 'answer'"),
        (lambda: wordings.overconf([0.5] * 9, [1] * 9), "^9 prompts are too few for 10 bins$"),
        (lambda: wordings.overconf([0.5, 0.5], [1]), r"\(2,\) and right \(1,\)"),
        (lambda: wordings.overconf([0.5, 1.5], [1, 1], 1), "outside"),
        (lambda: wordings.bias([[0.5, 0.4]]), "summing to 1"),
        (lambda: many.dealt(FRAME, {("r", 1): ["a"]}), "fact 2 has no accepted answer"),
        (lambda: many.dealt(FRAME, {("r", 1): ["a"], ("r", 2): ["b"]}), "^2 prompts of 'r' are not as"),
        (lambda: many.sharing(FRAME, FRAME.iloc[:2]), "4 and 2 prompts"),
        (lambda: jaccard(["[X] is [Y]"]), "^1 template"),
        (lambda: jaccard(["[X] is [Y]", " . "]), "' . ' has no word"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_in_one_line(call, message):
    with pytest.raises(BadInput, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)
