"""What the BELIEF paper's printed tables say about its own method, computed from the tables alone."""

import numpy as np
import pandas as pd
import pytest

from lkecore import papers
from lkecore.stats import wordings


@pytest.fixture(scope="module")
def scales() -> pd.DataFrame:
    """Tables 16 and 17: a row a table, model and setting, a column a metric."""
    names = {16: "belief_table16_full_scale", 17: "belief_table17_partial_scale"}
    both = pd.concat({n: papers.table(name) for n, name in names.items()}, names=["table"])
    return both.pivot_table(index=["table", "model", "setting"], columns="metric", values="value")


def pairs() -> int:
    sizes = papers.table("belief_table1_dataset_statistics").set_index(["dataset", "quantity"])
    return int(sizes.loc[("MyriadLAMA", "subject_relation_pairs"), "value"])


def test_the_range_is_that_of_many_draws_in_all_rows_but_two(scales):
    """50,000 draws of a normal variable have a range of 8.4 standard deviations, give or take 0.5."""
    ratio = scales["fluctuation_range"] / scales["fluctuation_stdev"]
    assert len(ratio) == 37 and ratio.between(7, 8.8).sum() == 35
    drawn = np.random.default_rng(0).normal(size=(20, 50_000))
    expected = np.ptp(drawn, axis=1) / drawn.std(axis=1)
    assert ratio.median() == pytest.approx(expected.mean(), abs=0.6)


def test_templates_must_have_been_shared_by_the_pairs_of_a_relation(scales):
    """Independent prompts a pair could not move the accuracy by more than sqrt(a (1 - a) / pairs)."""
    a = scales["average_acc1"]
    ratio = scales["fluctuation_stdev"] / np.sqrt(a * (1 - a) / pairs())
    four = ratio.index.get_level_values("setting") == "4-template"
    ratio = ratio.round(1)  # the stdev is printed to two digits
    assert four.sum() == 12 and ratio[four].between(0.7, 1.5).all()
    assert (~four).sum() == 25 and ratio[~four].min() >= 4.2


def test_consist_of_table_12_mixes_those_of_table_13_as_four_groups_of_twenty_do():
    """Table 13 speaks of five groups, 100 templates; the weight of its inner one is that of four in 80."""
    twelve = papers.table("belief_table12_subject_vs_relation").set_index(["varied", "quantity"])
    whole = twelve.loc[("relation", "consist")].set_index("model")["value"]
    parts = papers.table("belief_table13_manual_vs_generated").pivot(
        index="model", columns="quantity", values="value"
    )
    inner, inter = parts["consist_inner_group"], parts["consist_inter_group"]
    printed = (whole - inter) / (inner - inter)

    def weight(groups: int) -> float:
        """The weight as `consist` has it."""
        asked = pd.DataFrame({"template": range(20 * groups), "relation": "r", "fact": 0})
        asked = asked.assign(group=asked["template"] // 20, answer="")
        return wordings.consist(asked, group="group")["weight"].item()

    assert len(printed) == 3
    # Printed to four digits: the quotient is known to 0.0006.
    assert printed.sub(weight(4)).abs().max() < 0.003 < 0.04 < printed.sub(weight(5)).abs().min()
