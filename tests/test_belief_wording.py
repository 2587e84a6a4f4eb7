"""Pages 40 and 44 on a small run in the lab, against plain forward passes and plain loops.

BL-S1, BL-M1, BL-M2, BL-M3, BL-M4, BL-E1.
"""

import json
from collections import defaultdict
from statistics import mean

import helpers
import pandas as pd
import pytest

from lkecore import worlds
from lkecore.models.model import open_model, template
from lkecore.worlds.wordings import about

MODELS = ["lab:rich-1/2m", "lab:rich-1/bert"]
RELATIONS, TEMPLATES = ["instrument", "team_colour"], [0, 5, 10]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(the names of page 40 after its run, what it kept)."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LKE_RUN", str(folder))
        given = {"models": MODELS, "relations": RELATIONS, "templates": TEMPLATES, "n_facts": 10}
        names = helpers.page("40_belief_wording", **given)
    return names, pd.read_parquet(folder / "answers.parquet"), folder


@pytest.fixture(scope="module")
def states():
    return worlds.states("lab:rich-1").set_index("fact")


def forward(lm, ids):
    """The log-probabilities at each place of some tokens."""
    import torch

    with torch.inference_mode():
        logits = lm.network(input_ids=torch.tensor([ids])).logits[0]
    return logits.double().log_softmax(-1)


def tokens(lm, text):
    return lm.tokenizer(text, add_special_tokens=False)["input_ids"]


def at_blank(lm, words):
    """The log-probabilities of all tokens at the blank of a sentence, with one mask or none."""
    before, after = words.removesuffix(".").split("[Y]")
    if lm.kind == "causal":
        return forward(
            lm, [*lm.tokenizer.convert_tokens_to_ids(lm.prefix), *tokens(lm, before.rstrip())]
        )[-1]
    front, back = template(lm.tokenizer)
    first = [*front, *tokens(lm, before.rstrip())]
    behind = tokens(lm, f"a{after}.")[len(tokens(lm, "a")) :]
    return forward(lm, [*first, lm.tokenizer.mask_token_id, *behind, *back])[len(first)]


def test_the_likeliest_token_is_that_of_one_plain_forward(made, states):
    _, kept, _ = made
    for name in MODELS:
        lm = open_model(name, dtype="float32")
        some = kept[(kept["model"] == name) & kept["correct"].notna() & (kept["expression"] == 0)]
        assert set(some["template"]) == ({0, 5} if lm.kind == "causal" else {0, 5, 10})
        for row in some.itertuples():
            words = about(row.relation).templates[row.template]
            words = words.replace("[X]", states.loc[row.fact, "subject"])
            found = at_blank(lm, words)
            assert lm.tokenizer.decode([int(found.argmax())]).strip() == row.answer
            assert float(found.max().exp()) == pytest.approx(row.confidence, abs=1e-4)
            objects = states.loc[(states["subject"] == states.loc[row.fact, "subject"])]
            objects = set(objects.loc[objects["relation"] == row.relation, "object"])
            assert row.correct == (row.answer in objects)


def test_the_picked_object_has_the_largest_mean_over_its_tokens(made, states):
    _, kept, _ = made
    lm = open_model(MODELS[0], dtype="float32")
    some = kept[(kept["model"] == MODELS[0]) & (kept["expression"] == 0)]
    for row in some[some["template"] == 5].groupby("relation").head(1).itertuples():
        words = about(row.relation).templates[5].replace("[X]", states.loc[row.fact, "subject"])
        before = words.removesuffix(".").removesuffix("[Y]").rstrip()
        front = lm.tokenizer.convert_tokens_to_ids(lm.prefix)
        n = len(tokens(lm, before))
        means = {}
        for name in set(states.loc[states["relation"] == row.relation, "object"]):
            ids = [*front, *tokens(lm, f"{before} {name}")]
            found = forward(lm, ids)
            begins = len(front) + n
            means[name] = mean(float(found[i - 1, ids[i]]) for i in range(begins, len(ids)))
        assert row.picked == max(means, key=means.get)


def test_the_table_of_page_40_is_that_of_plain_loops(made):
    names, kept, _ = made
    for model in MODELS:
        part = kept[(kept["model"] == model) & kept["correct"].notna()]
        said, right = defaultdict(list), defaultdict(list)
        for row in part.itertuples():
            said[row.relation, row.fact].append(row.answer)
            right[row.relation, row.fact].append(bool(row.correct))
        row = names["table"].loc[model, "one token"]
        assert row["pairs"] == len(said)
        assert row["acc1"] == pytest.approx(mean(map(mean, right.values())), abs=0.003)
        agree = [mean(a == b for i, a in enumerate(its) for b in its[:i]) for its in said.values()]
        assert row["consist"] == pytest.approx(mean(agree))


def test_page_44_counts_what_many_prompts_find_and_what_luck_does(made, monkeypatch):
    _, kept, folder = made
    monkeypatch.setenv("LKE_PAGE", json.dumps([str(folder)]))
    names = helpers.page("44_belief_coverage", n_deals=200)
    tidy = (
        names["tidy"]
        .set_index(["model", "told", "relation", "result", "what"])["share"]
        .sort_index()
    )
    for (model, relation), part in kept[kept["correct"].notna()].groupby(["model", "relation"]):
        for told, state in {"all": "", "told": "planted", "never told": "never"}.items():
            some = part[part["state"] == state] if state else part
            by_pair = [rows for _, rows in some.groupby("fact", sort=False)]
            if len(by_pair) < 2:
                continue
            found = [rows["correct"].astype(float) for rows in by_pair]
            at = tidy.loc[model, told, relation]
            assert at["any", "found"] == pytest.approx(mean(f.max() for f in found))
            assert at["average", "found"] == pytest.approx(mean(f.mean() for f in found))
            best = max(
                mean(f[r["template"] == t].max() for f, r in zip(found, by_pair, strict=True))
                for t in set(some["template"])
            )
            assert at["maximum", "found"] == pytest.approx(best)
    # What the claim is about: any prompt beyond the best template, and luck has its part of both.
    for row in names["beyond"].to_dict("records"):
        of = tidy.loc[row["model"], row["told"]]
        gaps = [
            sum(sign * of.loc[relation, result, what] for result, what, sign in (
                ("any", "found", 1), ("maximum", "found", -1),
                ("any", "luck", -1), ("maximum", "luck", 1),
            ))
            for relation in of.index.unique("relation")
        ]  # fmt: skip
        assert row["estimate"] == pytest.approx(mean(gaps))
