"""Pages 41 and 42 on a stand-in that says what we know, against plain loops.

BL-S3, BL-S5, BL-S6, BL-M7, BL-E1, BL-E2, BL-X2.
"""

import hashlib
import math
import re
from collections import defaultdict
from itertools import combinations
from statistics import mean, variance

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import answers, facts
from lkecore.answers import rules, written
from lkecore.facts import Fact, Relation, wordings
from lkecore.facts.drawn import Drawn
from lkecore.stats.wordings import beyond_luck

CONTEXTS = ["zero-shot", "4-random", "4-relation", "4-template"]
RELATIONS = ["official_language", "film_language"]  # few objects, so that some are shown
GIVEN = {
    "models": ["toy"], "relations": RELATIONS, "contexts": CONTEXTS, "templates": [0, 1, 5, 10],
    "draws": [0, 1], "instructions": ["mp", "qa"], "n_facts": 6,
}  # fmt: skip
SAYS = ["{}.", "It is {}, I think", "", "Klingon", "klingons", "They say Klingon"]


def number(*parts) -> int:
    return int(hashlib.md5(repr(parts).encode()).hexdigest(), 16)


def objects() -> dict[str, str]:
    found = {}
    for relation in RELATIONS:
        for fact in facts.load("atlas", relation).facts:
            found.setdefault(fact.subject, fact.object)
    return found


def stand_in(monkeypatch, folder):
    """What the stand-in has said: {context: [greedy output, samples ...]}; by chance, but always the same."""
    true, heard = objects(), defaultdict(list)
    names = sorted(true, key=len, reverse=True)

    def goes_on(model, contexts, *, n_samples=None, **how):
        rows = []
        for context in contexts:
            asked = context.splitlines()[-2]
            name = true[next(name for name in names if name in asked)]
            for i in range(n_samples or 1):
                text = SAYS[number(context, n_samples and i) % len(SAYS)].format(name)
                heard[context].append(text)
                rows.append({"text": text, "logprob": -0.5 * (1 + i % 2), "n_tokens": 2 + i % 2})
        return pd.DataFrame(rows)

    monkeypatch.setattr(written, "generate", goes_on)
    monkeypatch.setenv("LKE_RUN", str(folder))
    return heard


@pytest.fixture
def said(monkeypatch, tmp_path):
    return stand_in(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def page_41(tmp_path_factory):
    """(the names of page 41 after its run, the folder of what it kept)."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch, folder)
        return helpers.page("41_belief_contexts", **GIVEN), folder


def words(text: str) -> str:
    plain = re.findall(r"\w+", text.casefold().replace("klingons", "klingon"))
    return f" {' '.join(plain)} " if plain else ""


def alike(one: str, other: str) -> bool:
    one, other = words(one), words(other)
    return bool(one and other) and (one in other or other in one)


def test_page_41_measures_what_plain_loops_find(page_41):
    names, folder = page_41
    kept = pd.read_parquet(folder / "answers.parquet")
    outputs = names["said"].to_dict("records")
    assert len(kept) == len(outputs) == sum(map(len, names["questions"].values()))
    # Zero-shot once, three others in two draws; the one question once more with the other instruction.
    assert len(kept) == 2 * 6 * (1 + 3 * 2) * (4 + 1)
    accepted = {
        (fact.relation, fact.id): [fact.object, *fact.alternatives]
        for relation in RELATIONS
        for fact in facts.load("atlas", relation).facts
    }
    for row, its in zip(outputs, kept.to_dict("records"), strict=True):
        of = accepted[row["relation"], row["fact"]]
        assert its["correct"] == any(words(name) in words(row["text"]) for name in of), row
        assert its["exact"] == (row["text"].removesuffix(".") in of)
        assert its["one_word"] == (len(row["text"].split()) == 1)

    table, each = defaultdict(list), names["each"].loc["all", "this run", "toy"]
    for row in kept[kept["instruction"] == "mp"].to_dict("records"):
        table[row["context"], row["relation"]].append(row)
    for (context, relation), rows in table.items():
        mine = each.loc[context, relation]
        assert mine["correct"] == pytest.approx(mean(row["correct"] for row in rows))
        cells = {(r["draw"], r["template"], r["fact"]): r["correct"] for r in rows}
        found = [best_elsewhere(cells, draw) for draw in {row["draw"] for row in rows}]
        assert mine["best"] == pytest.approx(mean(found), abs=0.06)  # drawn halvings, not all


def best_elsewhere(cells: dict, draw: int) -> float:
    """Accuracy of the template that is best on half of the pairs, on the others, over all halvings."""
    facts_of, templates = ({key[i] for key in cells} for i in (2, 1))
    found = []
    for half in combinations(sorted(facts_of), len(facts_of) // 2):
        share = {t: mean(cells[draw, t, f] for f in half) for t in templates}
        top = [t for t in templates if share[t] > max(share.values()) - 1e-9]
        found += [mean(cells[draw, t, f] for t in top) for f in facts_of - {*half}]
    return mean(found)


def test_a_planted_echo_is_seen_and_found_by_the_rule():
    shown = [("a", "Norway"), ("b", "Norway"), ("c", "Chad"), ("d", "New Chad")]
    asks = [
        ("Bank of Chad", "Chad", True),
        ("New Chad Inn", "New Chad", True),
        ("Oslo", "Norway", False),
    ]
    asks += [("Chadwick", "Chad", False), ("Norway House", "Chad", False)]
    train = tuple(Fact(f"t{i}", "r", *pair) for i, pair in enumerate(shown))
    test = tuple(Fact(str(i), "r", *pair[:2]) for i, pair in enumerate(asks))
    options = tuple(("Chad", "New Chad", "Norway") for _ in test)
    drawn = Drawn(Relation("r", (*train, *test)), (), test, options, train, test)
    found = rules.without_options({"r": drawn}, kept=False)
    assert found["echo"].tolist() == [echo for *_, echo in asks]
    assert found["rule"].tolist() == [True, True, True, False, False]
    assert found["frequent"].tolist() == [name == "Norway" for _, name, _ in asks]
    assert found[["to_ask", "no_echo"]].drop_duplicates().values.tolist() == [[5, 3]]


def test_page_41_parts_the_wording_from_the_draw_of_examples(page_41):
    """Variances of means, less what luck adds; and constant answers have no luck."""
    names, _ = page_41
    split = names["split"]

    def by_hand(table: list[list[float]]) -> float:
        n, columns = len(table[0]), list(zip(*table, strict=True))
        luck = mean(variance(column) for column in columns) / n
        return (variance([mean(row) for row in table]) - luck) * n / (n - 1)

    rows = names["masks"].query("context == '4-template'")
    for relation, part in rows.groupby("relation"):
        cells = part.set_index(["draw", "template", "fact"])["correct"].astype(float).to_dict()
        draws, templates, ids = (sorted({key[i] for key in cells}) for i in range(3))
        table = [[[cells[d, t, f] for f in ids] for t in templates] for d in draws]
        one = mean(by_hand(of) for of in table)
        draw = mean(by_hand([of[i] for of in table]) for i in range(len(templates)))
        means = [
            [mean(of[i][k] for of in table) for k in range(len(ids))] for i in range(len(templates))
        ]
        expected = [one, draw, by_hand(means) - draw / len(draws)]
        assert split.loc[relation].tolist() == pytest.approx(expected), relation
    right = np.array([[[a] * 5 for a in of] for of in ([0.1, 0.5], [0.3, 0.7], [0.5, 0.3])])
    assert beyond_luck(right).tolist() == pytest.approx([variance([0.1, 0.5]), 0.08, 0.02])
    judged = names["judged"].set_index("id")
    for claim in ("BL-template-steadier", "BL-template-gap"):
        assert judged["verdict"][claim] == answers.ONE_DRAW, "two draws are too few"


def test_the_steps_of_page_41_are_on_unshown_answers_and_the_rest_is_copying(page_41):
    masks = page_41[0]["masks"].to_dict("records")
    right = {
        (r["context"], r["relation"], r["draw"], r["template"], r["fact"]): r["correct"]
        for r in masks
    }
    seen = {(r["relation"], r["draw"], r["template"], r["fact"]) for r in masks if r["shown"]}
    assert seen
    for relation in RELATIONS:
        keys = [key[1:] for key in right if key[0] == "4-template" and key[1] == relation]

        def accuracy(context, keys):
            at = [(k[0], 0, *k[2:]) if context == "zero-shot" else k for k in keys]
            return mean(right[context, *k] for k in at)

        hidden = [key for key in keys if key not in seen]
        steps = page_41[0]["steps"].loc["this run", "toy", relation]
        for before, after in zip(CONTEXTS, CONTEXTS[1:], strict=False):
            step = accuracy(after, hidden) - accuracy(before, hidden)
            assert steps[f"to {after}"] == pytest.approx(step)
        gain = accuracy("4-template", keys) - accuracy("zero-shot", keys)
        assert steps.sum() == pytest.approx(gain)


def test_page_42_asks_a_pair_by_one_prompt_and_counts_samples_that_are_alike(said):
    given = {"models": ["toy"], "fact_set": "atlas", "relations": RELATIONS, "n_samples": 7}
    given |= {"contexts": ["zero-shot", "4-template"], "n_facts": 6}
    names = helpers.page("42_belief_sure", **given)
    rows = names["said"]
    assert len(rows) == 2 * 2 * 6
    assert (rows.groupby(["relation", "fact"])["template"].nunique() == 1).all()
    assert rows["template"].nunique() > 3
    prompts = {
        (*key, each.fact): each.context for key, some in names["questions"].items() for each in some
    }
    key = ["context", "relation", "draw", "template", "expression", "fact"]
    for row in rows.to_dict("records"):
        greedy, *samples = said[prompts[tuple(row[name] for name in key)]]
        assert row["text"] == greedy and len(samples) == 7
        assert row["confidence"] == pytest.approx(mean(alike(greedy, each) for each in samples))
    mine = names["table"].loc["this run", "toy", "4-template"]
    of = rows[rows["context"] == "4-template"]
    assert mine["sure"] == pytest.approx(of["confidence"].mean())
    assert mine["right"] == pytest.approx(of["correct"].mean())
    pairs = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a in of.loc[of["correct"], "confidence"]
        for b in of.loc[~of["correct"], "confidence"]
    ]
    assert mine["auroc"] == pytest.approx(mean(pairs))
    [(_, length)] = list(names["by_length"].groupby("tokens"))
    assert length["probability"].tolist() == pytest.approx([math.exp(-0.5)] * 2)


def test_a_wording_changed_in_its_table_makes_another_run(tmp_path):
    from test_runs_forecast import plan

    from lkecore import runs

    table = tmp_path / "mine.tsv"
    table.write_text(wordings.WORDINGS.read_text(encoding="utf-8"), encoding="utf-8")
    [each] = plan(tmp_path, "41_belief_contexts", {"models": ["toy"], "wordings": str(table)}).jobs
    before = runs.run_key(each)
    table.write_text(table.read_text().replace("capital of", "chief city of", 1))
    assert runs.run_key(each) != before
