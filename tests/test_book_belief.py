"""The fact that the chapter on BELIEF works out by hand, and the numbers at the top of its pages."""

import random
import re
from itertools import combinations
from pathlib import Path
from statistics import mean

import numpy as np
import pandas as pd
import pytest

from lkecore.stats import coverage, wordings

TOP = Path(__file__).resolve().parent.parent
TEXT = (TOP / "book" / "belief.md").read_text(encoding="utf-8")
RESULTS = TOP / "results"


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


# --- the numbers at the top of the pages, by plain loops over what ships


def rows(page: str, answer: str = "correct", **where) -> list[dict]:
    """What ships of a page, those with an answer and these values."""
    found = pd.read_parquet(RESULTS / f"{page}.parquet").dropna(subset=answer)
    return [r for r in found.to_dict("records") if where.items() <= r.items()]


def means(of: list[dict], value: str, *keys: str) -> dict[tuple, float]:
    parts: dict[tuple, list] = {}
    for row in of:
        parts.setdefault(tuple(row[k] for k in keys), []).append(row[value])
    return {key: mean(map(float, part)) for key, part in parts.items()}


def percent(of: dict[tuple, float]) -> str:
    return f"{100 * mean(of.values()):.0f}"


def test_the_best_and_the_worst_wording_on_page_40_are_counted_on_facts_that_did_not_choose_them():
    """Chosen on one half and counted on the other, both ways, in halvings of our own."""
    found = rows("40_belief_wording", model="lab:rich-1/2m")
    tables: dict[str, dict] = {}  # the share of a fact's names that a template has right
    for (relation, template, fact), share in means(
        found, "correct", "relation", "template", "fact"
    ).items():
        tables.setdefault(relation, {}).setdefault(template, {})[fact] = share
    draws, ends = random.Random(1), {max: [], min: []}
    for of in tables.values():
        facts = sorted(next(iter(of.values())))
        if len(facts) < 2:
            continue
        right = {max: [], min: []}
        for _ in range(60):
            half = set(draws.sample(facts, len(facts) // 2))
            for chosen_on, counted_on in ((half, {*facts} - half), ({*facts} - half, half)):
                on = {t: round(sum(its[f] for f in chosen_on), 9) for t, its in of.items()}
                for which in right:
                    top = [t for t in of if on[t] == which(on.values())]
                    sums = [sum(of[t][f] for f in counted_on) for t in top]
                    right[which].append(mean(sums) / len(facts))
        for which, sums in right.items():
            ends[which].append(2 * mean(sums))
    assert len(ends[max]) == 14
    assert [mean(ends[which]) for which in (max, min)] == pytest.approx([0.27, 0.20], abs=0.005)
    of_pair: dict[tuple, list] = {}
    for row in found:
        of_pair.setdefault((row["relation"], row["fact"]), []).append(row["answer"])
    agree = [mean(a == b for a, b in combinations(its, 2)) for its in of_pair.values()]
    assert f"{100 * mean(agree):.0f}" == "57"


def test_what_stands_in_the_question_on_page_41_is_a_count_of_what_ships():
    """Of prompts whose subject has the answer in it, and of others: 632 and 3,280 behind each kind."""
    cues = rows("41_belief_contexts-cues", answer="echo", source="belief_trex")
    echo = {(row["relation"], row["fact"]): row["echo"] for row in cues}
    found: dict[tuple, list] = {}
    for row in rows("41_belief_contexts", source="belief_trex"):
        key = row["context"], echo[row["relation"], row["fact"]]
        found.setdefault(key, []).append(row["correct"])
    shares = {key: (len(of), f"{mean(of):.3f}") for key, of in found.items()}
    assert shares == {
        ("zero-shot", True): (632, "0.307"), ("zero-shot", False): (3280, "0.002"),
        ("4-random", True): (632, "0.527"), ("4-random", False): (3280, "0.125"),
        ("4-relation", True): (632, "0.704"), ("4-relation", False): (3280, "0.251"),
        ("4-template", True): (632, "0.706"), ("4-template", False): (3280, "0.247"),
    }  # fmt: skip
    first = {row["relation"]: (row["to_ask"], row["no_echo"]) for row in cues}
    assert [sum(each) for each in zip(*first.values(), strict=True)] == [34017, 29458]


def test_the_first_line_of_page_41_is_a_count_of_facts_that_do_not_echo():
    cues = rows("41_belief_contexts-cues", answer="echo", source="belief_trex", echo=False)
    silent = {(row["relation"], row["fact"]) for row in cues}
    found = []
    for context in ("4-template", "zero-shot"):
        of = rows("41_belief_contexts", source="belief_trex", context=context)
        of = [row for row in of if (row["relation"], row["fact"]) in silent]
        found.append(percent(means(of, "correct", "relation")))
    best = max(("rule", "frequent"), key=lambda name: mean(means(cues, name, "relation").values()))
    assert [*found, percent(means(cues, best, "relation"))] == ["23", "0", "21"]
    every = rows("41_belief_contexts-cues", answer="echo", source="belief_trex")
    by_word = means(every, "rule", "relation")
    assert f"{mean(by_word.values()):.3f}" == "0.297"  # an audit with inflected words: .295
    last = means(
        rows("41_belief_contexts", source="belief_trex", context="4-template"),
        "correct",
        "relation",
    )
    assert f"{mean(last[key] - by_word[key] for key in by_word):.3f}" == "0.025"


def test_the_steps_on_page_41_are_counts_of_questions_whose_answer_no_example_shows():
    kinds = ["zero-shot", "4-random", "4-relation", "4-template"]
    right: dict[str, dict] = {}
    seen = set()
    for row in rows("41_belief_contexts", source="belief_trex"):
        key = row["relation"], row["template"], row["fact"]
        right.setdefault(row["relation"], {})[row["context"], *key] = row["correct"]
        seen |= {key} if row["shown"] else set()
    steps = []
    for of in right.values():
        keys = {key[1:] for key in of}
        at = [
            [mean(float(of[kind, *key]) for key in some) for kind in kinds]
            for some in (keys, keys - seen)
        ]
        by = [after - before for before, after in zip(at[1], at[1][1:], strict=False)]
        steps.append([*by, at[0][-1] - at[0][0] - sum(by)])
    found = [100 * mean(step) for step in zip(*steps, strict=True)]
    assert [f"{each:.0f}" for each in (*found, sum(found))] == ["13", "5", "-1", "10", "27"]


def test_how_sure_and_how_right_on_page_42_are_means_of_what_ships():
    shown = rows("42_belief_sure", model="smollm2", context="4-template")
    bert = rows("40_belief_wording", model="lab:rich-1/bert")
    found = [percent(means(of, v)) for of in (shown, bert) for v in ("confidence", "correct")]
    assert found == ["17", "19", "31", "17"]


def test_what_any_prompt_finds_on_page_44_is_a_count_of_what_ships():
    found = {}
    for state in ("planted", "never"):
        of_fact: dict[tuple, list] = {}
        for row in rows("40_belief_wording", model="lab:rich-1/bert", state=state):
            of_fact.setdefault((row["relation"], row["fact"]), []).append(row["correct"])
        for what, of in {"any": max, "average": mean}.items():
            share = [{"relation": key[0], "share": of(hits)} for key, hits in of_fact.items()]
            found[what, state] = percent(means(share, "share", "relation"))
    assert found == {
        ("any", "planted"): "53", ("average", "planted"): "21",
        ("any", "never"): "42", ("average", "never"): "15",
    }  # fmt: skip


def test_the_bias_levels_on_page_43_are_entropies_of_what_ships():
    from scipy.stats import entropy

    found = pd.read_parquet(RESULTS / "43_belief_bias.parquet")
    found = found[found["model"] == "lab:rich-1/bert"]
    single, multi = [], []
    for _, of in found.groupby("relation"):
        own = [list(part["p"]) for _, part in of.groupby("template")]
        n = np.log(len(own[0]))
        single.append(np.mean([1 - entropy(p) / n for p in own]))
        multi.append(1 - entropy(np.mean(own, axis=0)) / n)
    assert len(single) == 14
    assert [f"{np.mean(each):.2f}" for each in (single, multi)] == ["0.26", "0.15"]


def test_the_agreement_on_page_45_is_a_count_over_all_two_prompts_of_what_ships():
    found = pd.read_parquet(RESULTS / "45_belief_prompts.parquet")
    said = found.set_index(["relation", "fact", "template", "expression"])["answer"].to_dict()
    names: dict[str, list] = {}
    templates: dict[str, list] = {}
    for (relation, fact), of in found.groupby(["relation", "fact"]):
        places = sorted(of["template"].unique())
        key = relation, fact
        two = [said[*key, t, 0] == said[*key, t, 1] for t in places]
        names.setdefault(relation, []).append(np.mean(two))
        two = [said[*key, s, 0] == said[*key, t, 0] for s, t in combinations(places, 2)]
        templates.setdefault(relation, []).append(np.mean(two))
    means = [np.mean([np.mean(each) for each in of.values()]) for of in (templates, names)]
    assert [f"{100 * mean:.0f}" for mean in means] == ["60", "19"]
