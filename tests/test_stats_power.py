"""What a design can show: against an analysis of variance, statsmodels' power of t, and simulated worlds."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from click.testing import CliRunner
from own import TOP
from scipy import stats as tests
from statsmodels.formula.api import ols
from statsmodels.stats.power import TTestPower

from lkecore.answers import results
from lkecore.cli.main import lke, main
from lkecore.errors import BadInput
from lkecore.runs import design, forecast
from lkecore.runs.plan import of_defaults
from lkecore.stats import power

WITHIN = 0.4  # of the simulated gaps: +1 and -1 with a chance of .2 each, a little less in a relation apart
BETWEEN = 0.006


def simulated(relations, facts, true, n, seed=0):
    """The means of n designs, (n, relations): a relation's difference is normal, facts are -1, 0, 1."""
    rng = np.random.default_rng(seed)
    own = np.clip(true + rng.normal(0, BETWEEN**0.5, (n, relations)), -0.39, 0.39)
    up = rng.binomial(facts, 0.2 + own / 2)
    down = rng.binomial(facts - up, (0.2 - own / 2) / (1 - 0.2 - own / 2))
    return (up - down) / facts


def gaps(relations=30, facts=40, seed=1):
    rng = np.random.default_rng(seed)
    own = rng.normal(0.05, BETWEEN**0.5, relations)
    rows = [
        (r, rng.choice([1, 0, -1], p=[0.2 + u / 2, 0.6, 0.2 - u / 2]))
        for r, u in enumerate(own)
        for _ in range(facts)
    ]
    return pd.DataFrame(rows, columns=["relation", "gap"])


@pytest.mark.parametrize("relations", [10, 40])
def test_a_planned_difference_is_shown_as_often_as_planned_and_the_interval_covers_it(relations):
    facts = 25
    of = pd.Series({"within": WITHIN - BETWEEN, "between": BETWEEN})
    true = power.detectable(of, relations, facts)
    means = simulated(relations, facts, true, 3000)
    half = tests.t.ppf(0.975, relations - 1) * means.std(axis=1, ddof=1) / relations**0.5
    middle = means.mean(axis=1)
    assert abs((middle > half).mean() - 0.8) < 0.05
    assert 0.93 < (abs(middle - true) < half).mean() < 0.97
    assert (simulated(relations, facts, 0, 3000).mean(axis=1) > half).mean() < 0.05


def test_variances_are_those_of_an_analysis_of_variance():
    frame = gaps()
    found = sm.stats.anova_lm(ols("gap ~ C(relation)", frame).fit())
    between, within = found["mean_sq"]
    of = power.parts(frame)
    assert of["within"] == pytest.approx(within)
    assert of["moment"] == of["between"] == pytest.approx((between - within) / 40)
    assert (of["relations"], of["facts"]) == (30, pytest.approx(40))
    few = frame[frame["relation"] < 12].assign(gap=[1, -1] * 240)  # all relations alike
    of = power.parts(few)
    assert of["between"] == 0 > of["moment"]


@pytest.mark.parametrize(
    ("n", "sure", "alpha"), [(10, 0.8, 0.05), (20, 0.9, 0.05), (40, 0.8, 0.01)]
)
def test_the_least_difference_is_that_of_the_power_of_a_t_test(n, sure, alpha):
    whole = TTestPower().solve_power(nobs=n, alpha=alpha, power=sure)
    assert power.least(1.0, n, alpha=alpha, power=sure) == pytest.approx(whole, rel=0.02)
    assert math.isnan(power.least(1.0, 1))


def test_facts_and_relations_needed_are_the_fewest_that_show_it():
    of = pd.Series({"within": 0.2, "between": 0.008})
    facts = power.facts_needed(of, 40, 0.05)
    assert power.detectable(of, 40, facts) <= 0.05 < power.detectable(of, 40, facts - 1)
    relations = power.relations_needed(of, facts, 0.05)
    assert relations <= 40 and power.detectable(of, relations - 1, facts) > 0.05
    assert power.facts_needed(of, 10, 0.05) is None is power.facts_needed(of, 1, 0.05)
    assert power.detectable(of, 10, 10**9) > 0.05


def test_resampling_agrees_where_gaps_are_ordinary_and_not_where_one_relation_is_all():
    frame = gaps()
    of = power.parts(frame)
    for relations, facts in ((10, 20), (40, 100)):
        formula = power.detectable(of, relations, facts)
        assert power.resampled(frame, relations, facts) == pytest.approx(formula, rel=0.08)
    wild = frame.assign(
        gap=np.where(frame["relation"] < 3, 1.0, frame["gap"] * (frame.index % 40 == 0))
    )
    formula = power.detectable(power.parts(wild), 8, 40)
    assert abs(power.resampled(wild, 8, 40) - formula) > formula / 5


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (gaps(1, 5), "^relations: 1, facts of each: 5 at most"),
        (gaps(5, 1), "^relations: 5, facts of each: 1 at most"),
        (gaps(3, 4).assign(gap=0.0), "^all 12 facts have the difference 0: without any variance"),
    ],
)
def test_a_pilot_that_says_nothing_is_refused(frame, message):
    with pytest.raises(BadInput, match=message):
        power.parts(frame)


def test_the_default_pilot_is_what_ships_of_two_models_and_the_command_counts_relations():
    done = CliRunner().invoke(lke, ["power", "--detect", "0.05"])
    assert done.exit_code == 0, done.exception
    lines = {
        line.partition("  ")[0]: line.partition("  ")[2].split() for line in done.output.split("\n")
    }
    for i, source in enumerate(("atlas", "trex")):  # noqa: B007, the query reads it
        ships = results("10_iclke_relations").query(
            "source == @source and draw == 0 and estimator == 'iclke-space'"
        )
        wide = ships.pivot(index=["relation", "fact"], columns="model", values="correct").astype(
            int
        )
        gap = (wide["smollm2"] - wide["gemma3-270m"]).groupby("relation")
        between = gap.mean().var() - (gap.var() / gap.size()).mean()
        need = next(
            k for k in range(2, 999)
            if (tests.t.ppf(0.975, k - 1) + tests.t.ppf(0.8, k - 1)) * (between / k) ** 0.5 <= 0.05
        )  # fmt: skip
        assert lines["fewest relations"][i] == str(need)
        assert lines["variance within relations"][i] == f"{gap.var().mean():.4f}"
        assert lines["variance between relations"][i] == f"{between:.4f}"
    assert lines["facts of each of 5 relations"] == "no number of facts".split() * 2


def test_a_plan_says_what_it_can_show(monkeypatch):
    cost = {
        "tokens": 1_200_000,
        "from_cache": 200_000,
    }  # test_runs_forecast has how they are counted
    monkeypatch.setattr(forecast, "cost", lambda *_: cost)
    monkeypatch.setattr(forecast.catalogue, "n_parameters", lambda _: 3e8)
    done = CliRunner().invoke(lke, ["power", "--facts", "atlas", "--n-facts", "25"])
    [line] = [line for line in done.output.split("\n") if "15 relations, 25 facts each" in line]
    for gap in design.pilots().values():
        assert f" {100 * power.detectable(power.parts(gap), 15, 25):.1f} (by resampling " in line
    every = [power.detectable(power.parts(gap), 15, 25) for gap in design.pilots().values()]
    plan = of_defaults(TOP, TOP / "notebooks" / "10_iclke_relations.py")
    assert design.says(plan) == [
        "10_iclke_relations: 15 relations, 25 facts each: can show differences of "
        f"{100 * max(every):.0f} points or more between two models"
    ]
    # 2 x 3e8 operations a token, 1e11 a second.
    said = "10_iclke_relations: 50 shots, 100 options, 1,000,000 tokens, about 100 minutes on two cores"
    assert said in done.output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--detect", "0"], "'--detect': 0.0 is not in the range 0<x<=1"),
        (["p.yaml", "--facts", "atlas"], "give PARAMS or --facts, not both"),
        (["--estimator", "iclke-comma"], "has no estimator 'iclke-comma'; nearest: iclke-"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(given, message, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["lke", "power", *given])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and message in said and said.count("\n") == 1
