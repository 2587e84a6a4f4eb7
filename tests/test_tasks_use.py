"""Use: what is divided stays apart, what is trained is kept, and only training or a rule finds gold."""

import dataclasses
import json
from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.facts.questions import Wording
from lkecore.tasks import documents, extraction, ranking, use
from lkecore.train.finetune import Recipe

# Names of two letters and words of one length: all rows of a decoder that reads letters are alike long.
NAMES = [letter + vowel for letter in "BDFGHJLM" for vowel in "aou"]
TAILS = {"ra": "Ka Ko Ku Ky".split(), "re": "Pa Po Pu Py".split(), "ri": "Ta To Tu Ty".split()}
WORDINGS = {
    name: Wording(f"{name} of [X]?", (f"[X] {name} [Y]", f"[Y] {name[::-1]} [X]")) for name in TAILS
}
LENGTH = len("ra of Ba? Ba ra Ka.") + 1  # and the token in front
FACTS = tuple(
    Fact(f"{place}", name, head, tails[place % 4], alternatives=(tails[(place + 1) % 4],))
    for name, tails in TAILS.items()
    for place, head in enumerate(NAMES)
)
# Each of them has two tails that are true of it; a third of them are asked for both.
TWICE = tuple(
    dataclasses.replace(f, id=f"{f.id} too", object=f.alternatives[0], alternatives=(f.object,))
    for f in FACTS[::3]
)


@pytest.fixture
def known():
    found, left = documents.answerable(FACTS + TWICE, WORDINGS)
    assert not left
    return found


@pytest.fixture
def cache(own_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    return own_cache


def made():
    return helpers.model(helpers.network("Llama"), add_bos=True, context_length=256)


def ledger(tmp_path):
    return [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]


def pairs(facts):
    return {(fact.relation, fact.subject) for fact in facts}


# --- which facts ----------------------------------------------------------------------------------


def test_a_task_is_made_of_those_facts_of_the_sample_that_are_known():
    sample = {
        name: SimpleNamespace(facts=[f for f in FACTS if f.relation == name]) for name in TAILS
    }
    rows = [(f.relation, f.id, f.relation == "ra" or f.id in ("0", "2", "6")) for f in FACTS]
    frame = pd.DataFrame(rows, columns=["relation", "fact", "known"])
    few = {name: WORDINGS[name] for name in ("ra", "re")}
    task, left = use.task_from_known(sample, frame, few)
    names = [("ra", str(place)) for place in range(24)]
    names += [("re", place) for place in ("0", "2", "6")]
    assert [(f.relation, f.id) for f in task.facts] == names
    assert left == {"ri": "no question and statements"}


@pytest.mark.parametrize("by", ["fact", "relation"])
def test_no_pair_stands_in_two_parts_and_a_larger_share_has_all_of_a_smaller_one(known, by):
    apart = 0
    for seed in range(6):
        task, whole, left = use.split_task(known, seed=seed, by=by)
        parts = [whole.train, whole.validation, whole.test]
        assert all(parts) and not any(pairs(a) & pairs(b) for a, b in combinations(parts, 2))
        assert task.facts == whole.train and set().union(*parts) <= {*known.facts}
        # Documents are made of train facts; whatever else is known stays unsaid.
        apart += len(known.facts) - sum(map(len, parts)) - len(left)
        if by == "relation":
            relations = [{f.relation for f in some} for some in (whole.train, whole.test)]
            assert not relations[0] & relations[1]
        before = set()
        for share in (0.4, 0.7, 1.0):
            _, some, _ = use.split_task(known, seed=seed, by=by, share=share)
            assert before <= {*some.train} and some.test == whole.test
            before = {*some.train}
        assert before == {*whole.train}
        for fact in whole.validation:  # of whom there are documents that are wrong
            near = {f.object.lower() for f in task.facts if f.relation == fact.relation}
            assert near - {fact.object.lower(), *(name.lower() for name in fact.alternatives)}
    assert apart > 0  # of a pair with two tails one part alone has some


def test_a_share_is_of_the_train_facts_and_of_each_relation_some_are_asked_at_most(known):
    single = dataclasses.replace(known, facts=FACTS)  # no pair twice: none is left out
    # By hand: 72 facts, .6 of them 43, a tenth of these 4, and of the other 39 two thirds.
    sizes = [
        tuple(len(part) for part in (parts.train, parts.validation, parts.test))
        for _, parts, _ in (use.split_task(single, seed=1, share=share) for share in (1.0, 2 / 3))
    ]
    assert sizes == [(39, 4, 29), (26, 4, 29)]
    _, parts, _ = use.split_task(single, seed=1)
    _, few, _ = use.split_task(single, seed=1, most=2)
    assert Counter(f.relation for f in few.test) == dict.fromkeys(TAILS, 2)
    assert {*few.test} < {*parts.test} and few.train == parts.train
    drawn = {tuple(f.id for f in use.at_most(FACTS, 2, seed)) for seed in range(20)}
    assert len(drawn) == 20
    assert use.at_most(FACTS, 99, 0) == list(FACTS)


def test_facts_of_which_no_documents_are_left_do_not_validate():
    """Of "ri" one fact alone is known: where it is not asked, it cannot be trained on, nor validate."""
    facts = (*FACTS[:24], *FACTS[24:48], FACTS[48])
    lone = documents.KnownFacts(facts, WORDINGS)
    held = 0
    for seed in range(40):
        _, drawn, _ = use.split_task(lone, seed=seed)
        held += FACTS[48] in documents.split(facts, seed).validation
        assert FACTS[48] not in drawn.validation + drawn.train
    assert held > 0


def test_documents_are_made_of_the_facts_to_train_on_and_true_ones_of_those_asked(known):
    some, others = FACTS[:24], FACTS[24:48]
    task = dataclasses.replace(known, facts=FACTS[24:])
    asked = use.pools(dataclasses.replace(known, facts=FACTS[:48]), some, seed=0, each=3)
    plain = use.pools(known, [FACTS[24]], seed=0)
    reads = use.pools(known, [FACTS[24]], seed=0, readable=True)
    assert (plain[0][0].text, reads[0][0].text) == ("re of Ba?", "re of Ba? Pa.")
    assert plain[0][1] == reads[0][1]
    for (query, own), fact in zip(asked, some, strict=True):
        assert (query.fact, own[0].kind, own[0].tail) == (fact.id, "hrt", fact.object)
        assert {d.relation for d in own} <= {"ra", "re"}
        assert {d.relation for d in own if d.kind == "true"} == {"ra"}
    of_others = [d for _, own in use.pools(task, others, seed=0) for d in own]
    assert {d.relation for d in of_others} == {"re", "ri"}


# --- who finds gold -------------------------------------------------------------------------------


def test_a_rule_on_words_solves_the_task_whose_query_names_its_tail_and_not_the_other(known):
    top = {}
    for reads in (False, True):
        asked = use.pools(known, FACTS[::4], seed=0, each=9, readable=reads)
        says = [ranking.rules(query, own, [])["rule-read"] for query, own in asked]
        top[reads] = ranking.ranked(asked, says, model="", ranker="")[["tails", "text"]].mean()
    assert top[True].tolist() == [1, 1]
    # Other tails than the two that are true: two.
    assert top[False]["tails"] == pytest.approx(1 / 3)


def test_before_training_a_fresh_head_is_at_the_rule_among_tails(known):
    model = made()
    asked = use.pools(known, FACTS[::5], seed=0, each=1)
    heads = [use.untrained(model, asked, "value", seed=seed) for seed in range(5)]
    assert heads[0]["ranker"].unique().tolist() == ["value, untrained"]
    rules = [ranking.rules(query, own, FACTS)["rule-frequent"] for query, own in asked]
    rule = ranking.ranked(asked, rules, model="", ranker="")["tails"].mean()
    assert rule == pytest.approx(1 / 3)  # all tails are as frequent
    found = [head["tails"].mean() for head in heads]
    assert np.std(found) > 0 and np.mean(found) == pytest.approx(rule, abs=0.1)
    # No ties, so that 1/3 is not what equal similarities give.
    assert all(set(head["tails"]) == {0, 1} for head in heads)


# --- training -------------------------------------------------------------------------------------

RECIPE = Recipe(rate=3e-3, steps=6, batch=4, every=2)
SETTING = use.Setting("likelihood", RECIPE, each=1)


def task_of(known, **how):
    task, parts, _ = use.split_task(known, seed=0, most=2)
    return task, parts, use.pools(known, parts.test, seed=0, each=1, **how)


def test_a_training_that_was_killed_goes_on_and_what_is_trained_is_read_again(
    known, cache, tmp_path, monkeypatch
):
    setting = dataclasses.replace(SETTING, head="value")
    model, given = made(), task_of(known)
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "whole"))
    whole = use.trained(model, *given, setting)
    steps = []

    def killed(*args, training=documents.training, **how):
        steps.append(len(steps) // RECIPE.batch)
        if steps[-1] == 5:
            raise KeyboardInterrupt
        return training(*args, **how)

    monkeypatch.setenv("LKECORE_CACHE", str(cache))
    with monkeypatch.context() as patch:
        patch.setattr(documents, "training", killed)
        with pytest.raises(KeyboardInterrupt):
            use.trained(model, *given, setting)
    assert list((cache / "training").iterdir())
    again = use.trained(model, *given, setting)
    assert list((cache / "training").iterdir()) == []
    unread = dataclasses.replace(model)  # without weights
    for found in (again, use.trained(unread, *given, setting)):
        for one, other in zip(found, whole, strict=True):
            pd.testing.assert_frame_equal(one, other)
    last = ledger(tmp_path)[-1]
    assert (last["tokens_forwarded"], last["from_cache"]) == (0, True)
    assert last["trained_in"] == "float32"
    frame, curve = whole
    assert list(frame) == [*ranking.FRAME, "best", "last_loss"] and list(curve) == use.CURVE
    assert curve["step"].tolist() == [2, 4, 6]
    assert frame["best"].unique().tolist() == [curve["step"][curve["top1"].idxmax()]]


def test_what_is_kept_is_of_this_model_these_facts_and_this_setting_alone(known):
    task, parts, asked = task_of(known)
    given = [made(), task, parts, asked, SETTING]
    changed = [
        (0, dataclasses.replace(given[0], digest="1" * 64)),
        (1, dataclasses.replace(task, facts=task.facts[1:])),
        (1, dataclasses.replace(task, wordings=WORDINGS | {"ra": WORDINGS["re"]})),
        (2, dataclasses.replace(parts, train=parts.train[::-1])),
        (3, asked[:-1]),
        (4, dataclasses.replace(SETTING, seed=1)),
        (4, dataclasses.replace(SETTING, recipe=dataclasses.replace(RECIPE, steps=7))),
        (4, dataclasses.replace(SETTING, recipe=dataclasses.replace(RECIPE, precision="bf16"))),
    ]
    keys = {use._key(*given)}
    for place, other in changed:
        keys.add(use._key(*given[:place], other, *given[place + 1 :]))
    assert len(keys) == len(changed) + 1


@pytest.mark.parametrize("head", ["value", "likelihood"])
def test_training_learns_the_facts_that_it_is_shown(known, head, cache):
    """By heart, as a network of two layers can: asked are the facts to train on."""
    few = dataclasses.replace(known, facts=FACTS[:4] + FACTS[24:28])
    parts = documents.Split(few.facts, few.facts, few.facts)
    asked = use.pools(few, few.facts, seed=0, each=1)
    model = made()
    before = use.untrained(model, asked, head)
    setting = use.Setting(head, Recipe(rate=5e-3, steps=50, batch=8, every=25), each=1)
    after, curve = use.trained(model, few, parts, asked, setting)
    assert before["top1"].mean() < 0.4 and after["top1"].mean() > 0.7
    assert after["last_loss"].unique().size == 1
    assert after["last_loss"][0] < np.log(1 + 3) / 2
    assert curve["top1"].max() > 0.7


def test_an_epoch_shows_each_train_fact_once_with_documents_that_are_new(known):
    task, parts, _ = task_of(known)
    n = len(parts.train)
    shown = use._batches(task, parts, dataclasses.replace(SETTING, recipe=Recipe(1, 9, batch=n)))
    epochs = [dict(shown(step)) for step in range(3)]
    queries = {documents.query(task, fact).text for fact in parts.train}
    for epoch in epochs:
        assert {*epoch} == queries
        assert all(len({*own}) > 1 and len(own) == 4 for own in epoch.values())
    assert list(epochs[0]) != list(epochs[1])
    assert sum(epochs[0][q][1:] != epochs[1][q][1:] for q in queries) > len(queries) / 2
    assert shown(1) == shown(1)


def test_the_tokens_of_a_forecast_are_those_that_a_training_forwards(known, cache, tmp_path):
    task, parts, asked = task_of(known)
    model = made()
    expected = use.expected_tokens(dataclasses.replace(model), task, parts, asked, SETTING)
    use.trained(model, task, parts, asked, SETTING)
    done = ledger(tmp_path)
    valid = sum(len(own) for _, own in use._validating(task, parts, SETTING))
    ranked = sum(len(own) for _, own in asked)
    # A query has four documents; three validations; all rows are alike long.
    wanted = (RECIPE.steps * RECIPE.batch * 4 + 3 * valid + ranked) * LENGTH
    assert expected == wanted == sum(entry["tokens_forwarded"] for entry in done)
    assert use.ranked_tokens(dataclasses.replace(model), asked) == ranked * LENGTH
    frame, curve = use.nothing(asked, model, "value")
    assert list(frame) == [*ranking.FRAME, "best", "last_loss"] and list(curve) == use.CURVE


# --- what is known --------------------------------------------------------------------------------

TEMPLATES = (
    "The ra of [X] is [Y].",
    "[Y] is the ra of [X]",
    "[X] has the ra [Y]",
    "Its ra: [X], [Y]",
)


def sample_of(facts, train, **templates):
    names = dict.fromkeys(f.relation for f in facts)
    return {
        name: SimpleNamespace(
            relation=SimpleNamespace(templates=templates.get(name, TEMPLATES)),
            facts=[f for f in facts if f.relation == name],
            train=[f for f in train if f.relation == name],
        )
        for name in names
    }


def test_templates_that_ask_are_those_that_all_relations_have_and_that_end_with_the_blank():
    sample = sample_of(FACTS, FACTS, re=TEMPLATES[:3])
    found = extraction.plain(sample, [0, 1, 2, 3, 9])
    assert found == {
        f"template-{i + 1}": dict.fromkeys(TAILS, TEMPLATES[i]) for i in (0, 2)
    }  # of all: the second has its object first, the fourth is not everybody's
    with pytest.raises(BadInput, match=r"templates \[1, 3\]: none that all relations have ends"):
        extraction.plain(sample, [1, 3])


def test_known_is_what_a_soft_prompt_or_the_template_that_is_best_on_train_facts_finds(monkeypatch):
    """The model is a table: which facts are given back to whom."""
    train, facts = FACTS[8:12] + FACTS[32:36], FACTS[:4] + FACTS[24:28]
    tables = {
        # Of "ra" the first template finds more train facts, of "re" the third; on asked facts it is turned.
        (TEMPLATES[0], "ra"): {"8", "9", "10", "11", "0"},
        (TEMPLATES[2], "ra"): {"1", "2", "3"},
        (TEMPLATES[0], "re"): {"0", "1", "2", "3"},
        (TEMPLATES[2], "re"): {"8", "9", "10", "11", "3"},
        ("soft 4", "ra"): {"2"}, ("soft 7", "ra"): {"0"},
        ("soft 4", "re"): set(), ("soft 7", "re"): {"1"},
    }  # fmt: skip
    learned = []

    def learn(model, shown, validation, recipe, *, seed):
        learned.append(
            (seed, {n: ([f.id for f in shown[n]], [f.id for f in validation[n]]) for n in shown})
        )
        return dict.fromkeys(shown, f"soft {seed}")

    def ask(model, prompts, asked):
        rows = [(n, f.id, f.id in tables[prompts[n], n]) for n, some in asked.items() for f in some]
        return pd.DataFrame(rows, columns=["relation", "fact", "correct"]).assign(
            model=model.name, logprob=0.0, n_tokens=1
        )

    monkeypatch.setattr(extraction, "learn", learn)
    monkeypatch.setattr(extraction, "ask", ask)
    sample = sample_of(facts, train)
    found = extraction.known(helpers.model(), sample, RECIPE, seeds=[4, 7], templates=[0, 1, 2])
    assert list(found) == ["relation", "fact", "model", "soft", "soft_4", "soft_7", "template",
                           "best", "known"]  # fmt: skip
    rows = found.set_index(["relation", "fact"])
    assert {*zip(found["relation"], found["best"], strict=True)} == {
        ("ra", "template-1"),
        ("re", "template-3"),
    }
    for column, wanted in {
        "soft_4": {("ra", "2")},
        "soft_7": {("ra", "0"), ("re", "1")},
        "soft": {("ra", "0"), ("ra", "2"), ("re", "1")},
        "template": {("ra", "0"), ("re", "3")},
        "known": {("ra", "0"), ("ra", "2"), ("re", "1"), ("re", "3")},
    }.items():
        assert {*rows.index[rows[column]]} == wanted, column
    assert [seed for seed, _ in learned] == [4, 7] and learned[0][1] == learned[1][1]
    for shown, validation in learned[0][1].values():  # of four subjects one validates
        assert len(shown) == 3 and sorted(shown + validation) == ["10", "11", "8", "9"]
    alone = extraction.known(helpers.model(), sample, RECIPE, seeds=[4, 7], templates=[])
    assert alone["known"].equals(found["soft"]) and not alone["template"].any()
    with pytest.raises(BadInput, match="'Ba' is both learned from and asked in ra"):
        extraction.known(helpers.model(), sample_of(facts, facts), RECIPE)
