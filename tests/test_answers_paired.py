"""Two runs beside each other: numbers of scipy, statsmodels and a pencil, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats as tests
from statsmodels.stats.contingency_tables import mcnemar

from lkecore.answers import paired, results, sides
from lkecore.answers.sides import read
from lkecore.cli.main import lke
from lkecore.errors import BadInput

TREX = {"source": ["trex"], "estimator": ["iclke-space"]}


def command(*given):
    return CliRunner().invoke(lke, ["compare", *map(str, given)])


def samples(folder, task, right, **more):
    """A file of lm-eval's: a document for each letter of ``right``, of which + are right."""
    folder.mkdir(exist_ok=True)
    path = folder / f"samples_{task}_2026-11-29T06-00-00.000000.jsonl"
    rows = [
        {
            "doc_id": i,
            "doc_hash": f"h{i}",
            "target": "0",
            "filter": "none",
            "acc": float(each == "+"),
        }
        | {"arguments": {"gen_args_0": {"arg_0": f"q{i}", "arg_1": " a"}}}
        | {"resps": [[["-1.5", "False"]], [["-2.5", "False"]]], **more}
        for i, each in enumerate(right)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def scored(folder, right, facts=None, question=True, **columns):
    """A folder of lke score: two options a fact, the right one likelier where ``right`` has a +."""
    folder.mkdir(parents=True)
    rows = [
        {
            "fact": fact,
            "subject": f"s{fact}",
            "context": f"c{fact}",
            "option": o,
            "gold": o == "yes",
        }
        | {"logprob": -1.0 if (o == "yes") == (each == "+") else -2.0}
        | ({"question": f"d{fact}"} if question else {})
        | columns
        for fact, each in zip(facts or range(len(right)), right, strict=True)
        for o in ("no", "yes")
    ]
    pd.DataFrame(rows).to_parquet(folder / "options.parquet")
    return folder


def test_two_shipped_models_have_the_numbers_of_page_10_and_of_scipy_and_statsmodels():
    ships = results("10_iclke_relations").query("source == 'trex' and draw == 0")
    one = ships[ships["estimator"] == "iclke-space"]
    wide = one.pivot(index=["relation", "fact"], columns="model", values="correct").astype(int)
    each = wide.groupby("relation").mean()
    [(_, row)] = paired.table(sides.pairs("10_iclke_relations", **TREX)).iterrows()
    a, b = each[row["a"]], each[row["b"]]
    t = tests.ttest_rel(a, b)
    low, high = t.confidence_interval()
    assert (row["accuracy_a"], row["accuracy_b"]) == pytest.approx((a.mean(), b.mean()), abs=1e-12)
    assert row["difference"] == pytest.approx((a - b).mean(), abs=1e-12)
    assert (row["relations_low"], row["relations_high"]) == pytest.approx((low, high), abs=1e-12)
    assert row["p_relations"] == pytest.approx(t.pvalue, rel=1e-9)
    both = pd.crosstab(wide[row["a"]], wide[row["b"]])
    assert row["p_mcnemar"] == pytest.approx(mcnemar(both, exact=True).pvalue, rel=1e-9)
    assert row["leads"] == (a > b).sum() and row["trails"] == (a < b).sum()
    # Facts are drawn within relations that each count alike: the variance of the mean is known.
    gap = (wide[row["a"]] - wide[row["b"]]).groupby("relation")
    half = 1.96 * np.sqrt((gap.var(ddof=0) / gap.size()).sum()) / len(each)
    assert (row["facts_high"] - row["facts_low"]) / 2 == pytest.approx(half, rel=0.05)


def test_two_files_of_sixty_samples_are_what_a_pencil_gives(tmp_path):
    # Both right 30, A alone 12, B alone 4, neither 14: 42 and 34 of 60. McNemar: 2 P(Bin(16, 1/2) <= 4).
    one = samples(tmp_path / "a", "arc", "+" * 42 + "-" * 18)
    other = samples(tmp_path / "b", "arc", "+" * 30 + "-" * 12 + "+" * 4 + "-" * 14)
    done = command(one, other, "--json")
    row = json.loads(done.output)
    assert row["accuracy_a"] == pytest.approx(42 / 60) and row["accuracy_b"] == pytest.approx(
        34 / 60
    )
    assert row["difference"] == pytest.approx(8 / 60)
    tail = 1 + 16 + 120 + 560 + 1820
    assert row["p_mcnemar"] == pytest.approx(2 * tail / 2**16)
    assert row["relations"] == 1 and row["relations_low"] is None and row["p_relations"] is None
    # Of sixty gaps, twelve 1 and four -1, the sum of squares is 16 - 60 (8/60)^2; t of 59: 2.001 + 0.848.
    variance = (16 - 60 * (8 / 60) ** 2) / 59
    assert row["least"] == pytest.approx(2.849 * (variance / 60) ** 0.5, rel=1e-3)
    said = command(one, other).output
    assert "p_mcnemar" in said and "0.07681" in said
    assert "is right on 13.3 points more of the facts than " in said
    assert "no evidence of a difference" in said  # over facts 0.5 to 26, but 16 coins fall so
    assert "No interval over relations, of which there are 1." in said


def test_tasks_of_two_folders_are_relations_and_five_have_an_interval(tmp_path):
    right = ("++-", "+--"), ("+++", "---"), ("---", "---"), ("++-", "--+"), ("+--", "-+-")
    for i, (a, b) in enumerate(right):
        samples(tmp_path / "a", f"t{i}", a)
        samples(tmp_path / "b", f"t{i}", b)
    row = json.loads(command(tmp_path / "a", tmp_path / "b", "--json").output)
    t = tests.ttest_1samp([1 / 3, 1, 0, 1 / 3, 0], 0)
    assert row["p_relations"] == pytest.approx(t.pvalue)
    assert row["relations_high"] == pytest.approx(min(1, t.confidence_interval().high))
    assert (row["leads"], row["trails"], row["facts"]) == (3, 0, 15)


def test_subjects_that_repeat_are_drawn_with_all_their_facts():
    frame = pd.DataFrame({"relation": ["r"] * 40, "fact": range(40), "model": "m", "correct": 0.0})
    frame["subject"] = np.repeat(range(10), 4).astype(str)
    other = frame.assign(correct=(frame["subject"].astype(int) < 5).astype(float))
    row = paired.beside(other, frame)
    assert row["over"] == "subject"
    # Ten subjects, five of them 1: the half width is 1.96 sqrt(.25 / 10), twice that of forty facts.
    assert (row["facts_high"] - row["facts_low"]) / 2 == pytest.approx(1.96 * 0.158, rel=0.15)


def test_folders_meet_by_their_questions_and_without_them_by_their_text(tmp_path):
    one = scored(tmp_path / "one" / "capital", "++-+", model="m", estimator="iclke-space")
    other = scored(
        tmp_path / "two" / "capital", "+--+", facts=[3, 2, 1, 0], model="n", estimator="iclke-space"
    )
    row = json.loads(command(one, other, "--json").output)
    assert (row["a"], row["facts"], row["accuracy_a"], row["difference"]) == ("m", 4, 0.75, 0.25)
    old = scored(tmp_path / "old" / "capital", "++--", question=False)
    assert json.loads(command(one, old, "--json").output)["difference"] == 0.25
    few = scored(tmp_path / "few" / "capital", "+-", facts=[0, 1])
    row = json.loads(command(one, few, "--json").output)
    assert (row["only_a"], row["first_a"], row["only_b"]) == (2, "capital, 2", 0)


def test_a_finished_run_meets_another_and_facts_with_another_digest_do_not(tmp_path):
    for name, digest, right in (
        ("a", "d", [1, 1, 0]),
        ("b", "d", [1, 0, 0]),
        ("c", "e", [1, 0, 0]),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(json.dumps({"facts": {"my.csv": digest}}))
        rows = pd.DataFrame(
            {"model": "m", "relation": "r", "fact": ["x", "y", "z"], "correct": right}
        )
        rows.astype({"correct": bool}).to_parquet(tmp_path / name / "answers.parquet")
    row = json.loads(command(tmp_path / "a", tmp_path / "b", "--json").output)
    assert row["difference"] == pytest.approx(1 / 3) and row["a"] == f"m, {tmp_path / 'a'}"
    assert "^0 of 3 and 3 questions meet, by digest, relation, fact"[1:] in str(
        command(tmp_path / "a", tmp_path / "c").exception
    )


def test_all_pairs_of_several_models_are_adjusted():
    rng = np.random.default_rng(0)
    a = pd.DataFrame({"relation": list("pqrstu") * 6, "fact": range(36), "model": "a"})
    a, b = (a.assign(correct=rng.random(36) < share, model=f"{share}") for share in (0.8, 0.4))
    found = paired.table([(a, b, "a", "b"), (a, a.assign(model="third"), "a", "third")])
    assert found["p_holm"].tolist() == [found["p_relations"].iloc[0] * 2, 1.0]


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ({}, {"doc_hash": "x"}, "0 of 4 and 4 questions meet, by relation, fact: less than half"),
        ({"resps": [["a text"]]}, {}, "arc has no acc of log-likelihoods; tasks that generate"),
        ({"doc_id": 7, "doc_hash": "h"}, {}, "3 questions are there again, by relation, fact"),
        ({"resps": 3}, {}, "cannot be read (TypeError"),
    ],
)  # fmt: skip
def test_samples_that_do_not_fit_are_refused(tmp_path, left, right, message):
    one, other = (
        samples(tmp_path / "a", "arc", "++--", **left),
        samples(tmp_path / "b", "arc", "++-+", **right),
    )
    done = command(one, other)
    assert isinstance(done.exception, BadInput) and message in str(done.exception)


def test_other_questions_are_refused_with_how_many_met(tmp_path):
    one = scored(tmp_path / "one", "++-+")
    held_out = scored(tmp_path / "two", "++--+", facts=[3, 4, 5, 6, 7])
    with pytest.raises(BadInput, match="^1 of 4 and 5 questions meet, by question: less than half"):
        paired.met(read(str(one)), read(str(held_out)))
    more = scored(
        tmp_path / "more", "++-++++++"
    )  # all of the first, and it is less than half of them
    with pytest.raises(BadInput, match="^4 of 4 and 9 questions meet"):
        paired.met(read(str(one)), read(str(more)))
    same = scored(tmp_path / "three", "++-+", estimator="template-1", relation="r")
    way = scored(tmp_path / "four", "++-+", estimator="iclke-space", relation="r")
    way = read(str(way))
    assert len(paired.met(read(str(same)), way)[0]) == 4
    with pytest.raises(BadInput, match="^1 of 4 facts have other options .*, the first .*, 2$"):
        paired.met(way.assign(options=way["options"].mask(way["fact"] == 2, "x")), read(str(same)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["nowhere/at/all"], "nowhere/at/all is no folder of lke score --out, finished run, file of lm_eval"),
        (["10_iclke_relations"], "has 6 sources; choose with --source"),
        (["10_iclke_relations", "--source", "trex", "--model", "smollm2", "--estimator", "iclke-space"],
         "has one model, smollm2: name what to compare"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_in_one_line(given, message):
    done = command(*given)
    assert isinstance(done.exception, BadInput) and message in str(done.exception)
    assert "\n" not in str(done.exception)
