"""The fact that the chapter on BELIEF works out by hand."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lkecore.stats import coverage, wordings

TOP = Path(__file__).resolve().parent.parent
TEXT = (TOP / "book" / "belief.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def prompts() -> pd.DataFrame:
    rows = re.findall(r"^\| (\d) \| (.+?) \| (\w+) \| (yes|no) \| (0\.\d) \|$", TEXT, re.M)
    assert len(rows) == 5
    frame = pd.DataFrame(rows, columns=["template", "prompt", "answer", "right", "confidence"])
    frame = frame.assign(relation="capital", fact="Kenya", correct=frame["right"] == "yes")
    return frame.astype({"template": int, "confidence": float})


def said(before: str) -> list[float]:
    """The numbers of the first formula behind these words."""
    formula = TEXT.split(before, 1)[1].split("$", 2)[1]
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", formula)]


def test_the_chapters_accuracy_and_fluctuation_are_those_of_its_table(prompts):
    v = wordings.fluctuation(prompts, n=50_000)
    right, prompts_asked, mean = said("its mean is")
    assert mean == right / prompts_asked == prompts["correct"].mean()
    assert abs(v.mean() - mean) < 0.01  # four standard errors of 50,000 draws
    assert said("its range")[-1] == np.ptp(v)
    assert said("standard deviation")[-1] == round(prompts["correct"].std(ddof=0), 2)


def test_the_chapters_consist_is_that_of_its_table(prompts):
    assert said("Five prompts make")[-1] == len(list(combinations(prompts["answer"], 2)))
    assert said("Consist is")[-1] == wordings.consist(prompts)["consist"].item()


def test_the_chapters_overconf_is_that_of_its_table(prompts):
    found = wordings.overconf(prompts["confidence"], prompts["correct"], bins=5)
    gaps = said("confidence minus accuracy is\n")
    assert gaps == (prompts["confidence"] - prompts["correct"]).round(9).tolist()
    assert said("The mean is")[-1] == pytest.approx(found["overconf"], abs=1e-12)
    assert said("the absolute gap, is")[-1] == pytest.approx(found["gap"])


def test_the_chapters_bias_level_is_that_of_its_four_objects():
    parts = said("with probabilities")
    p = [parts[i] / parts[i + 1] for i in range(0, 8, 2)]
    assert said("the bias level is")[-1] == wordings.bias([p])["multi"]


def test_the_chapters_coverage_is_that_of_its_table(prompts):
    found = coverage.coverage(prompts).loc["capital"]
    assert said("A prompt finds the fact in") == [found["average"]]
    assert said("the best template finds it") == [found["best"]]
    assert said("and some prompt finds it") == [found["any"]]
