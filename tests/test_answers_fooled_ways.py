"""Questions, instructions and writing beside other ways; the oracle is counted by hand, or by loops."""

import itertools

import numpy as np
import pandas as pd
import pytest

from lkecore.answers import fooled, fooled_ways, rich, shipped
from lkecore.errors import BadInput
from lkecore.facts import worlds
from lkecore.intervals import proportion
from lkecore.prompts.prompt import Prompt

SPEC = "lab:richsmoke-0"
MODEL, TWIN = f"{SPEC}/0.15m", f"{SPEC}/0.15m-unplanted"
ASKED, WRITTEN = "template-16", "written-template-16"
NAMES = ("surprisal", "rank", "change of entropy, told", "KL, told")  # of numbers at a blank


def samples():
    return rich.samples([MODEL], list(fooled.RELATIONS), _some, n_shots=0, seed=0)


def _some(states):
    return fooled.told_or_control(states, often=1)


@pytest.fixture
def told_once(monkeypatch):
    monkeypatch.setattr(fooled, "OFTEN", 1)


def drawn(estimator=ASKED, model=MODEL, seed=0, **more):
    """Answers by lot about the facts told at all, and about their controls."""
    frame = worlds.states(SPEC)
    frame = frame[_some(frame) & frame["split"].eq("test") & frame["n_objects"].eq(1)]
    rng = np.random.default_rng(seed)
    n = len(frame)
    return frame[["relation", "fact"]].assign(
        model=model, world=SPEC, estimator=estimator, picked=rng.permutation(frame["object"]),
        correct=rng.random(n) < 0.3, confidence_gold=rng.random(n).round(2),
    ).assign(**more)[fooled_ways.READ]  # fmt: skip


def test_models_write_after_the_prompts_of_one_of_the_estimators():
    every, after = fooled_ways.questions(samples(), ["template-16", "template-21"], ASKED)
    assert {key[1] for key in every} == {"template-16", "template-21"}
    assert {key[1] for key in after} == {WRITTEN}
    for (world, _, relation), some in after.items():
        assert some == every[world, ASKED, relation]
    context = every[SPEC, ASKED, "headquarters"][0].context
    assert context.startswith("Question: ") and context.endswith(" Answer:")
    assert every[SPEC, "template-21", "parent"][0].context.startswith("Instruction: ")
    with pytest.raises(BadInput, match="needs template-1 besides"):
        fooled_ways.questions(samples(), ["template-16"], "template-1")


def test_an_output_is_read_by_the_longest_option_that_it_begins_with():
    options = ("Kel", "Kel Port", "Ro")
    about = {"options": options, "continuations": tuple(f" {name}" for name in options)}
    prompts = [Prompt(f"f{i}", "r", "s", "Q:", **about, gold=i % 3) for i in range(5)]
    texts = [" Kel Port", " Kel Port.", " Rom", " KelThe author", ""]
    written = pd.DataFrame(
        {
            "model": MODEL, "world": SPEC, "estimator": WRITTEN, "relation": "r", "text": texts,
            "fact": [p.fact for p in prompts], "object": [options[p.gold] for p in prompts],
        }
    )  # fmt: skip
    found = fooled_ways.as_answers(written, {(SPEC, WRITTEN, "r"): prompts})
    assert found["picked"].tolist() == ["Kel Port", "Kel Port", "", "Kel", ""]
    assert found["correct"].tolist() == [False, True, False, True, False]
    assert found["confidence_gold"].tolist() == [0, 1, 0, 1, 0]
    assert list(found.columns) == fooled_ways.READ


def test_of_the_other_page_stand_the_same_facts_and_models_alone(monkeypatch, told_once):
    ours = drawn()[lambda f: f["relation"] == "parent"]
    page = pd.concat([drawn("iclke-space", seed=1), drawn("iclke-space", TWIN)]).assign(more=1)
    monkeypatch.setattr(shipped, "read", lambda name, notebook, apart="": (page, {}))
    found = fooled_ways.chosen(ours, ["some"])
    assert found["estimator"].unique().tolist() == ["iclke-space", ASKED]
    assert set(found["model"]) == {MODEL} and set(found["relation"]) == {"parent"}
    for _, part in found.groupby("estimator"):
        assert part["fact"].tolist() == sorted(ours["fact"])
    of_page = found[found["estimator"] == "iclke-space"].set_index("fact")["confidence_gold"]
    assert of_page.to_dict() == {
        row.fact: row.confidence_gold for row in page.itertuples()
        if row.model == MODEL and row.fact in set(ours["fact"])
    }  # fmt: skip


def test_a_fact_of_another_world_with_the_same_name_is_another_fact(monkeypatch):
    monkeypatch.setattr(fooled_ways.fooled, "hinted", lambda frame: frame)
    rows = [(f"m{w}", w, "iclke-space", "r", f, True, "", 0.5) for w in "ab" for f in ("f1", "f2")]
    page = pd.DataFrame(rows, columns=fooled_ways.READ)
    monkeypatch.setattr(shipped, "read", lambda name, notebook, apart="": (page, {}))
    ours = page.iloc[[0, 3]].assign(estimator=ASKED)  # f1 of one world, f2 of the other
    found = fooled_ways.chosen(ours, ["some"])
    assert found.groupby("estimator", sort=False)["fact"].agg(list).to_dict() == {
        "iclke-space": ["f1", "f2"],
        ASKED: ["f1", "f2"],
    }


def test_eiclke_and_numbers_at_blanks_come_from_the_other_page(monkeypatch, told_once):
    ours = drawn()
    several = pd.concat([drawn("eiclke"), drawn("iclke-space")]).drop(columns="picked")
    numbers = {"entropy": 2.0, "entropy_after": 1.0, "kl": 3.0, "rank": 5, "surprisal": 0.5}
    read = {"shared": False, "merged": False, "n_tokens": 2, **numbers}
    kept = {"eic": several, "blanks": drawn("template-1").assign(**read)}
    monkeypatch.setattr(shipped, "read", lambda name, notebook, apart="": (kept[apart], {}))
    found = fooled_ways.otherwise(ours, ["some"])
    assert found["estimator"].unique().tolist() == ["eiclke", *NAMES]
    turned = found.groupby("estimator")["confidence_gold"].first()
    assert turned[list(NAMES)].tolist() == [-0.5, -5, -1, -3]
    assert fooled_ways.otherwise(ours, []).empty


def told_and_taught(model, *, after=5):
    """What page 22 keeps of facts told and taught: (told, taught, taught by AdamW), for ``shipped.read``.

    Of the second fact the object shares its first token, and the lesson on the third is lost.
    """
    told = drawn("template-1", model).drop(columns=["picked", "correct", "confidence_gold"])
    key = ["model", "world", "relation", "fact"]
    n = len(told)
    told = told.assign(entropy=2.0, entropy_after=2.75, kl=1.5, rank=4, surprisal=0.5, merged=False)
    told["shared"] = np.arange(n) == 1
    taught, also = (
        pd.concat(
            told[key].assign(
                lesson=lesson, steps=steps, entropy=2.0, entropy_after=2.0 - 0.25 * steps,
                kl=kl * steps, rank_after=1,
            )
            for steps in (1, after)
        )
        for lesson, kl in (("sgd 0.003", 0.5), ("adamw 0.0001", 3.0))
    )  # fmt: skip
    taught.loc[taught["fact"].eq(told["fact"].iloc[2]), "kl"] = np.nan
    about = {"parameters": {"steps": after}}
    return {"": (told, about), "taught": (taught, about), "also": (also, about)}


def test_what_is_taught_is_read_after_the_steps_that_are_compared(monkeypatch, told_once):
    kept = told_and_taught(MODEL)
    monkeypatch.setattr(shipped, "read", lambda name, notebook, apart="": kept[apart])
    found = fooled_ways.of_lessons("some")
    turned = found.groupby("estimator")["confidence_gold"].agg(["min", "max"])
    by_hand = {
        "surprisal": -0.5, "rank": -4, "change of entropy, told": -0.75, "KL, told": -1.5,
        "change of entropy, taught by sgd": -1.25, "KL, taught by sgd": -2.5,
        "change of entropy, taught by adamw": -1.25, "KL, taught by adamw": -15,
    }  # fmt: skip
    assert turned["min"].to_dict() == turned["max"].to_dict() == by_hand
    every = list(kept[""][0]["fact"])
    for name, part in found.groupby("estimator"):
        gone = {1, 2} if "by sgd" in name else {1}
        assert set(part["fact"]) == {f for i, f in enumerate(every) if i not in gone}
        assert part["fact"].is_unique
    assert {"told", "cue", "control"} <= set(found)


def test_models_that_were_asked_at_blanks_alone_stand_last(monkeypatch, told_once):
    """And a number that two pages have stands there once, as the first has it; other worlds not at all."""
    ours = drawn()
    read = {"shared": False, "merged": False, "n_tokens": 2, "rank": 5, "surprisal": 0.25}
    blanks = drawn("template-1").assign(entropy=2.0, entropy_after=1.0, kl=3.0, **read)
    other = [told_and_taught(model) for model in (f"{SPEC}/bert", MODEL)]
    kept = {"eic": (drawn("eiclke"), {}), "blanks": (blanks, {})}
    kept |= {
        apart: (pd.concat(each[apart][0] for each in other), other[0][apart][1])
        for apart in ("", "taught", "also")
    }
    monkeypatch.setattr(shipped, "read", lambda name, notebook, apart="": kept[apart])
    found = fooled_ways.otherwise(ours, ["fooled"], ["cued"])
    assert found["model"].unique().tolist() == [MODEL, f"{SPEC}/bert"]
    assert not found.duplicated(["model", "estimator", "fact"]).any()
    of = found.groupby(["model", "estimator"])["confidence_gold"].max()
    assert of[MODEL, "KL, told"] == -3.0 and of[f"{SPEC}/bert", "KL, told"] == -1.5
    assert of[MODEL, "KL, taught by sgd"] == of[f"{SPEC}/bert", "KL, taught by sgd"] == -2.5
    names = ["eiclke", *NAMES]
    assert found[found["model"] == MODEL]["estimator"].unique().tolist()[:5] == names
    elsewhere = ours.assign(world="lab:richsmoke-1")
    assert fooled_ways.otherwise(elsewhere, [], ["cued"]).empty


def test_the_gain_is_the_difference_of_two_aurocs_on_the_same_pairs(told_once):
    """By loops over all pairs of a told fact and a control, and by the AUROCs of each way."""
    ours = pd.concat([drawn("iclke-space"), drawn(seed=1), drawn("template-21", seed=2)])
    chosen = fooled_ways.chosen(ours, [])
    assert fooled_ways.reference(chosen) == "iclke-space"
    found = fooled_ways.beyond(chosen, "iclke-space", seed=0)
    assert set(found["estimator"]) == {ASKED, "template-21"} and len(found) > 2
    gold = chosen.set_index(["estimator", "fact"])["confidence_gold"]
    of_each = fooled_ways.aurocs(chosen, pd.DataFrame(), seed=0)
    of_each = of_each.set_index(["estimator", "cue"])["auroc"]
    for row in found.itertuples():
        told = chosen[
            chosen["estimator"].eq(row.estimator)
            & chosen["told"].eq(fooled.TOLD)
            & chosen["cue"].eq(row.cue)
        ]
        assert row.pairs == len(told)
        sides = []
        for way in (row.estimator, "iclke-space"):
            a, b = ([gold[way, fact] for fact in told[name]] for name in ("fact", "control"))
            sides.append(np.mean([(x > y) + (x == y) / 2 for x, y in itertools.product(a, b)]))
            assert of_each[way, row.cue].estimate == pytest.approx(sides[-1])
        assert row.gain.estimate == pytest.approx(sides[0] - sides[1])
        assert row.gain.low <= row.gain.estimate <= row.gain.high


def test_without_pairs_the_first_way_is_the_reference(told_once):
    assert fooled_ways.reference(fooled_ways.chosen(drawn("template-21"), [])) == "template-21"


def test_how_often_a_model_writes_what_it_ranks_first(told_once):
    ranked = drawn()
    said = ranked.assign(estimator=WRITTEN)
    said.iloc[::3, said.columns.get_loc("picked")] = ""  # none of the options
    chosen = fooled_ways.chosen(fooled_ways.both(ranked, said), [])
    found = fooled_ways.same(chosen, ASKED).set_index(["told", "cue"])
    other = set(said["fact"].iloc[::3])
    once = chosen[chosen["estimator"] == ASKED]
    for (told, cue), row in found.iterrows():
        facts = once.loc[once["told"].eq(told) & once["cue"].eq(cue), "fact"]
        hits = sum(fact not in other for fact in facts)
        assert (row["n"], row["same"]) == (len(facts), proportion(hits, len(facts)))


def test_marks_have_numbers_and_the_kind_of_each_sentence(told_once):
    of = fooled_ways.aurocs(fooled_ways.chosen(drawn(), []), pd.DataFrame(), seed=0)
    found = fooled_ways.marks(of)
    assert set(found["way"]) == {"template-16 (question)"} and "all" not in set(found["cue"])
    first = of[of["cue"] == found["cue"].iloc[0]]["auroc"].iloc[0]
    assert found[["auroc", "low", "high"]].iloc[0].tolist() == [
        first.estimate, first.low, first.high,
    ]  # fmt: skip
    kinds = ["statement", "noun", "object first", "question", "instruction"]
    for number in range(1, 26):
        name = f"template-{number}"
        assert fooled_ways.in_words(name) == f"{name} ({kinds[(number - 1) // 5]})"


def test_sentences_say_what_the_tables_say(told_once):
    ours = pd.concat([drawn(), drawn(WRITTEN, seed=1), drawn(model=TWIN), drawn(WRITTEN, TWIN)])
    chosen = fooled_ways.chosen(ours, [])
    of = fooled_ways.aurocs(chosen, pd.DataFrame(), seed=0)
    said = fooled_ways.sentences(chosen, of, ASKED)
    never = chosen[chosen["model"].eq(MODEL) & chosen["told"].eq(fooled.NEVER)]
    lucky = never[never["cue"].eq(fooled.RIGHT) & never["estimator"].eq(ASKED)]["correct"]
    assert proportion(int(lucky.sum()), len(lucky)).text() in said["luck"]
    of = of.set_index(["model", "estimator", "cue"])["auroc"]
    assert of[MODEL, ASKED, fooled.RIGHT].text() in said["apart"]
    assert of[MODEL, WRITTEN, fooled.RIGHT].text() in said["written"]
    assert of[MODEL, WRITTEN, fooled.RIGHT].text() not in said["apart"]
    assert of[TWIN, ASKED, fooled.RIGHT].text() in said["twin"]
    alone = fooled_ways.chosen(drawn(), [])
    few = fooled_ways.sentences(alone, of.head(0).reset_index(), ASKED)
    assert few["twin"] == "No twin was asked." and "too few" in few["written"]


def test_the_sentence_on_kl_is_of_the_largest_decoder_that_read_the_text():
    hits = {
        "lab:rich-1/0.7m": 1,
        "lab:rich-1/2m": 3,
        "lab:rich-1/bert": 5,
        "lab:rich-1/2m-unplanted": 7,
    }
    rows = [
        (model, name, cue, proportion(n + more, 10))
        for cue, more in ((fooled.NONE, 0), (fooled.RIGHT, 2))
        for model, n in hits.items()
        for name in ("surprisal", "KL, told", "KL, taught by sgd")
    ]
    found = pd.DataFrame(rows, columns=["model", "estimator", "cue", "auroc"])
    own = proportion(3, 10).text()
    assert fooled_ways.by_moves(found) == (
        f" By how far its answer moves (KL), without a cue, {own} when told, {own} when taught by sgd."
    )
    assert fooled_ways.by_moves(found[found["estimator"] == "surprisal"]) == ""
    assert fooled_ways.by_moves(found[found["model"] == "lab:rich-1/bert"]) == ""


def test_models_that_the_page_does_not_ask_stand_last_and_none_is_there_twice(monkeypatch):
    def of_pandas_2(self, **how):  # which our lower bound allows
        missing = self.isna()
        placed = np.full(len(self), -1)
        placed[~missing] = np.argsort(self[~missing].to_numpy(), **how)
        return pd.Series(placed, self.index)

    monkeypatch.setattr(pd.Series, "argsort", of_pandas_2)
    rows = pd.DataFrame({"model": ["other", "b", "a", "other", "a"], "fact": range(5)})
    found = fooled_ways._by_model(rows, pd.DataFrame({"model": ["a", "b"]}))
    assert found["fact"].tolist() == [2, 4, 1, 0, 3]
