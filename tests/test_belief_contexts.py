"""Pages 41 and 42 on a stand-in that says what we know, against plain loops.

BL-S3, BL-S5, BL-S6, BL-M7, BL-E1, BL-E2, BL-X2.
"""

import hashlib
import math
import re
from collections import defaultdict
from itertools import combinations
from statistics import mean

import helpers
import pandas as pd
import pytest
import transformers

from lkecore import facts
from lkecore.answers import written
from lkecore.facts import wordings

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


@pytest.fixture
def said(monkeypatch, tmp_path):
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
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    return heard


def words(text: str) -> str:
    plain = re.findall(r"\w+", text.casefold().replace("klingons", "klingon"))
    return f" {' '.join(plain)} " if plain else ""


def alike(one: str, other: str) -> bool:
    one, other = words(one), words(other)
    return bool(one and other) and (one in other or other in one)


def test_page_41_measures_what_plain_loops_find(said, tmp_path):
    names = helpers.page("41_belief_contexts", **GIVEN)
    kept = pd.read_parquet(tmp_path / "answers.parquet")
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

    table, each = defaultdict(list), names["each"].loc["this run", "toy"]
    for row in kept[kept["instruction"] == "mp"].to_dict("records"):
        table[row["context"], row["relation"]].append(row)
    for (context, relation), rows in table.items():
        mine = each.loc[context, relation]
        assert mine["correct"] == pytest.approx(mean(row["correct"] for row in rows))
        of_template = defaultdict(list)
        for row in rows:
            of_template[row["draw"], row["template"]].append(row["correct"])
        best = [
            max(mean(of) for key, of in of_template.items() if key[0] == draw)
            - mean(row["correct"] for row in rows if row["draw"] == draw)
            for draw in {row["draw"] for row in rows}
        ]
        assert mine["best"] == pytest.approx(mean(best))


def test_the_steps_of_page_41_are_on_unshown_answers_and_the_rest_is_copying(said):
    names = helpers.page("41_belief_contexts", **GIVEN)
    masks = names["masks"].to_dict("records")
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
        steps = names["steps"].loc["this run", "toy", relation]
        for before, after in zip(CONTEXTS, CONTEXTS[1:], strict=False):
            step = accuracy(after, hidden) - accuracy(before, hidden)
            assert steps[f"to {after}"] == pytest.approx(step)
        gain = accuracy("4-template", keys) - accuracy("zero-shot", keys)
        assert steps.sum() == pytest.approx(gain)


def test_page_41_keeps_how_far_the_wordings_of_a_pair_agree(said, tmp_path):
    names = helpers.page("41_belief_contexts", **GIVEN)
    kept = pd.read_parquet(tmp_path / "answers-agree.parquet")
    key = ["instruction", "context", "draw", "relation", "fact"]
    of_pair = {k: part["text"].tolist() for k, part in names["said"].groupby(key)}
    assert len(kept) == len(of_pair)
    for row in kept.to_dict("records"):
        texts = of_pair[tuple(row[name] for name in key)]
        two = [alike(a, b) for a, b in combinations(texts, 2)]
        if two:
            assert row["consist"] == pytest.approx(mean(two)), texts
        else:
            assert math.isnan(row["consist"])


def test_what_models_wrote_stays_with_the_run(said, tmp_path):
    """Gathered are answers*.parquet: no text, no names, and no digests of questions beside them."""
    helpers.page("41_belief_contexts", **GIVEN)
    there = sorted(path.name for path in tmp_path.glob("answers*.parquet"))
    assert there == ["answers-agree.parquet", "answers.parquet"]
    for name in there:
        assert not {"text", "answer", "subject", "object"} & {*pd.read_parquet(tmp_path / name)}


def test_relations_that_are_there_to_be_shown_are_not_asked(said):
    given = GIVEN | {"relations": RELATIONS[:1], "others": RELATIONS, "contexts": ["4-random"]}
    names = helpers.page("41_belief_contexts", **given)
    assert {key[2] for key in names["questions"]} == {RELATIONS[0]}
    whole = helpers.page("41_belief_contexts", **GIVEN)["questions"]
    assert all(whole[key] == some for key, some in names["questions"].items())


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


@pytest.mark.parametrize("kind", ["Llama", "Phi3"])
def test_the_paper_s_classes_run_page_41_from_a_folder(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    folder, settings = tmp_path / "model", helpers.NETWORKS["Llama"][1]
    special = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    config = getattr(transformers, f"{kind}Config")(
        **settings | special | {"max_position_embeddings": 1024}
    )
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    helpers.char_tokenizer().save_pretrained(folder)
    given = {"models": [str(folder)], "relations": ["capital"], "templates": [0, 1], "draws": [0]}
    names = helpers.page("41_belief_contexts", **given, n_facts=2)
    assert len(names["said"]) == 8 and names["said"]["n_tokens"].between(1, 10).all()


def test_a_wording_changed_in_its_table_makes_another_run(tmp_path):
    from test_runs_forecast import plan

    from lkecore import runs

    table = tmp_path / "mine.tsv"
    table.write_text(wordings.WORDINGS.read_text(encoding="utf-8"), encoding="utf-8")
    [each] = plan(tmp_path, "41_belief_contexts", {"models": ["toy"], "wordings": str(table)}).jobs
    before = runs.run_key(each)
    table.write_text(table.read_text().replace("capital of", "chief city of", 1))
    assert runs.run_key(each) != before
