"""What the XTRAEVAL paper's printed tables say of each other (XT-TB5 to XT-TB11), from the tables alone."""

import numpy as np
import pandas as pd
import pytest

from lkecore import papers
from lkecore.stats.gaps import gaps

KNOWN, USED = "knowledge_extraction_accuracy", "downstream_accuracy"
DIGIT = 1e-4  # four are printed, so a product of two printed numbers is known to this


def iid() -> pd.DataFrame:
    return papers.table("xtra_tableB5_iid").pivot(index="model", columns="metric", values="mean")


def scaled(name: str, column: str) -> pd.DataFrame:
    table = papers.table(f"xtra_table{name}").pivot(
        index=["family", "params"], columns=column, values="mean"
    )
    assert len(table) == 8
    return table


def test_the_gaps_of_four_models_are_the_products_of_their_two_accuracies():
    printed = papers.table("xtra_tableB8_gaps").pivot(
        index="model", columns="quantity", values="mean"
    )
    found = gaps(iid()[KNOWN], iid()[USED])
    assert found.shape == (4, 4)
    assert (found - printed).abs().max(axis=None) <= 1.5 * DIGIT
    assert (found - printed)["usable"].abs().max() <= DIGIT


def test_the_curves_pass_through_the_table_of_the_usual_setting():
    by = {"B6_negatives": ("negatives_total", 12), "B7_fraction": ("fraction_of_d_theta", 1.0)}
    for name, (column, usual) in by.items():
        table = papers.table(f"xtra_table{name}")
        at = table[table[column] == usual].set_index("model")["downstream_accuracy_mean"]
        assert at.sort_index().tolist() == iid()[USED].tolist()


def test_gap_2_of_the_scaled_models_is_printed_14_to_19_percent_below_its_formula():
    both = scaled("B10_scaling", "metric")
    printed, found = scaled("B11_scaling_gaps", "quantity"), gaps(both[KNOWN], both[USED])
    below = 1 - printed["gap_2"] / found["gap_2"]
    assert (round(below.min(), 2), round(below.max(), 2)) == (0.14, 0.19)
    others = (printed - found).loc["OPT", ["usable", "gap_1"]]
    assert others.abs().max(axis=None) < 10 * DIGIT < (printed - found)["gap_2"].abs().min()


def test_two_failed_runs_of_27_explain_gpt_neos_spread_over_many_negatives():
    """Zeros beside runs that differ as those with 12 negatives do: two give the printed spread to a digit."""
    table = papers.table("xtra_tableB6_negatives").set_index(["model", "negatives_total"])
    neo = table.loc["GPT-Neo"].filter(like="accuracy").set_axis(["mean", "std"], axis=1)

    def spread(mean: float, zeros: int) -> float:
        good = 27 - zeros
        between = zeros * mean**2 + good * (mean * 27 / good - mean) ** 2
        return np.sqrt((between + (good - 1) * neo.loc[12, "std"] ** 2) / 26)

    for total, printed in ((27, 0.2186), (30, 0.2189)):
        assert neo.loc[total, "std"] == printed
        assert spread(neo.loc[total, "mean"], 2) == pytest.approx(printed, abs=DIGIT)
        assert all(abs(spread(neo.loc[total, "mean"], n) - printed) > 0.04 for n in (1, 3))


def test_the_least_effects_of_the_claims_are_what_the_tables_say():
    least = papers.claims("XT").set_index("id")["least_effect"]
    shift = papers.table("xtra_tableB9_ood").set_index(["setting", "entities", "model"])
    accuracy = shift["downstream_accuracy_mean"]
    drop = accuracy["ood_relation", "all"] - accuracy["iid", "all"]
    assert round(drop.max(), 2) == least["XT-relations-shift"] == -0.43
    assert iid()[USED].max() < least["XT-tails-below"] == 0.9
    unseen = accuracy["ood_relation", "unseen"] - accuracy["ood_relation", "seen"]
    assert unseen.min() < least["XT-unseen-no-worse"] < unseen.median()
