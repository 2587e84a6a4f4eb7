"""Answers that ship carry a page only while asking again gives the same: each way to fail, tried."""

import dataclasses
import json
import math
import shutil

import helpers
import numpy as np
import pandas as pd
import pytest
from safetensors.torch import load_file, save_file

from lkecore import answers, facts, prompts
from lkecore.answers import check
from lkecore.errors import BadInput
from lkecore.metrics import choice
from lkecore.models import weights
from lkecore.models.model import open_model
from lkecore.prompts.eiclke import slots
from lkecore.scores import store, tree
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode

DOOR = answers.ask.__globals__  # the module has the name of its function
DRAWN = {"n_shots": 3, "n_facts": 8, "n_options": 9, "seed": 1}
WAYS = ["iclke-space", "iclke-colon"]
NOTEBOOK = "10_trial"


@pytest.fixture(scope="module")
def questions():
    return prompts.of_sample(facts.draw("atlas", ["capital", "film_year"], **DRAWN), WAYS)


@pytest.fixture(scope="module")
def made(tmp_path_factory, questions):
    """What a long run of the toy has kept, and its answers."""
    folder = tmp_path_factory.mktemp("long")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LKE_RUN", str(folder))
        found = answers.ask(["toy"], questions, "answers.parquet")
    return folder, found


@pytest.fixture
def results(made, tmp_path, monkeypatch):
    """A copy of it among results that ship; a page runs in a folder beside."""
    monkeypatch.setitem(answers.results.__globals__, "FOLDER", tmp_path)
    helpers.ship_run(tmp_path, made[0], NOTEBOOK, models={"toy": open_model("toy").digest})
    page = tmp_path / "10_trial-0123456789ab"
    page.mkdir()
    monkeypatch.setenv("LKE_RUN", str(page))
    return tmp_path


def shipped_rows(results) -> pd.DataFrame:
    return pd.read_parquet(results / f"{NOTEBOOK}.parquet")


def toy_digest() -> str:
    return open_model("toy").digest


def changed(results, change) -> None:
    """Change what ships: it is written as ``change`` makes it of what is read."""
    frame = pd.read_parquet(results / f"{NOTEBOOK}.parquet")
    change(frame).to_parquet(results / f"{NOTEBOOK}.parquet")


def ask(questions, models=("toy",), file="answers.parquet", **how):
    how = {"results": "long", "notebook": NOTEBOOK, "n_again": 4} | how
    return answers.ask(list(models), questions, file, **how)


def test_what_is_kept_to_check_by_is_what_plain_passes_say(made, questions):
    checks = pd.read_parquet(made[0] / "answers-check.parquet")
    lm = open_model("toy")
    rows = iter(checks.itertuples())
    for (estimator, relation), some in questions.items():
        for prompt in some:
            row = next(rows)
            [coded] = encode(lm.tokenizer, [prompt], front=lm.front)
            by_hand = [
                math.fsum(x) if np.ndim(x) else x for x in option_logprobs_plain(lm.network, coded)
            ]
            assert (row.model, row.estimator, row.relation) == ("toy", estimator, relation)
            assert row.fact == prompt.fact
            assert row.logprob_gold == pytest.approx(by_hand[prompt.gold], abs=1e-4)
    assert next(rows, None) is None
    assert checks["question"].str.fullmatch("[0-9a-f]{12}").all() and checks["question"].is_unique


def compared(then, now, gold=None):
    """The differences of questions: log-probabilities by hand, a list for each, of then and of now."""
    gold = gold or [0] * len(then)
    asked = [
        dataclasses.replace(helpers.prompt("a", list("tuvwxyz")[: len(row)]), fact=f"f{i}")
        for i, row in enumerate(then)
    ]
    old, new = (helpers_frame(each, gold) for each in (then, now))
    kept = choice.answers(old).assign(
        model="m", way="w", logprob_gold=[r[g] for r, g in zip(then, gold, strict=True)]
    )
    kept["question"] = [check.digests(prompt)[0] for prompt in asked]
    return check.differences(
        {("m", "w"): (asked, new, choice.answers(new))}, kept, ["model", "way"]
    )


def test_facts_with_different_numbers_of_options_are_checked_like_others():
    then = [[-1.0, -3.0, -2.0], [-2.0, -1.0], [-4.0, -3.0, -1.0]]
    same = compared(then, then, gold=[1, 0, 2])
    assert same["fact"].tolist() == ["f0", "f1", "f2"] and set(same["where"]) == {"w"}
    assert same["nats"].eq(0).all() and same["same"].all()
    off = compared(then, [then[0], [-2.25, -1.25], then[2]], gold=[1, 0, 2])
    assert off["nats"].tolist() == [0, 0.25, 0]


def helpers_frame(logprob, gold) -> pd.DataFrame:
    """A scorer's frame by hand: a list of log-probabilities for each fact."""
    return pd.DataFrame(
        [
            {"fact": f"f{i}", "option": f"o{j}", "gold": j == gold[i], "logprob": value}
            for i, row in enumerate(logprob)
            for j, value in enumerate(row)
        ]
    )


def test_a_digest_changes_with_every_part_of_a_question():
    prompt = helpers.prompt("a", ["x", "y"])
    assert check.digests(prompt) == check.digests(dataclasses.replace(prompt))
    changes = {
        "fact": "other", "relation": "other", "subject": "other", "context": "b",
        "options": ("x", "z"), "continuations": (" x", " z"), "gold": 1 - prompt.gold, "after": ".",
    }  # fmt: skip
    assert set(changes) == {field.name for field in dataclasses.fields(prompt)}
    others = [dataclasses.replace(prompt, **{name: value}) for name, value in changes.items()]
    assert len({check.digests(each)[0] for each in [prompt, *others]}) == 1 + len(changes)


def test_each_question_of_a_long_prompt_has_a_digest_of_its_own():
    world = [facts.Fact(str(i), "r", f"s{i}", f"o{i}") for i in range(8)]
    asked = world[:3]
    options = [(fact.object, "o7") for fact in asked]
    [one] = slots(world[3:7], asked, options, first=1, every=1, seed=0)
    [two] = slots(world[3:7], asked, options, first=1, every=1, seed=1)
    assert len(set(check.digests(one))) == 3 == len(check.prompts_of(one))
    if one != two:
        assert not set(check.digests(one)) & set(check.digests(two))


def test_a_page_gets_the_answers_of_the_long_run_in_the_order_of_its_questions(
    made, results, questions
):
    turned = dict(reversed(questions.items()))
    found = ask(turned)
    expected = made[1].set_index(["estimator", "relation", "fact"])
    keys = [(*key, prompt.fact) for key, some in turned.items() for prompt in some]
    assert list(found[["estimator", "relation", "fact"]].itertuples(index=False)) == keys
    expected = expected.loc[keys].reset_index()
    assert found["correct"].tolist() == expected["correct"].tolist()
    assert found["confidence"].tolist() == pytest.approx(expected["confidence"].tolist(), rel=1e-4)
    again_kept = pd.read_csv(results / "10_trial-0123456789ab" / "answers-again.csv")
    assert len(again_kept) == 8 and again_kept["nats"].max() < 1e-3 and again_kept["same"].all()
    said = answers.carried(found)
    assert said.startswith(
        "32 answers of a longer run: profile long, 2026-11-01, 10 min, lkecore at abc"
    )
    assert "lke run it. 8 of them were asked again for this page" in said
    assert pd.read_parquet(results / "10_trial-0123456789ab" / "answers.parquet").equals(found)


def test_a_page_may_ask_a_part_and_a_page_over_runs_says_the_same(results, questions, monkeypatch):
    part = {key: some[2:5] for key, some in questions.items() if key[1] == "capital"}
    found = ask(part)
    assert len(found) == 6 and set(found["relation"]) == {"capital"}
    run = results / "10_trial-0123456789ab"
    monkeypatch.setenv("LKE_PAGE", json.dumps([str(run)]))
    whole = ask({}, page=True)
    assert answers.carried(whole) == answers.carried(found) != ""
    assert whole.equals(found)
    (run / "answers-again.csv").unlink()
    assert "asked again" not in answers.carried(ask({}, page=True))


def test_what_was_asked_here_says_so(questions, made):
    assert answers.carried(made[1]) == "32 answers, all of them asked for this page."


def test_nothing_is_asked_again_where_none_is_wanted(results, questions, monkeypatch):
    monkeypatch.setitem(DOOR, "scored", lambda *_: pytest.fail("a model was asked"))
    assert "asked again" not in answers.carried(ask(questions, n_again=0))


# --- the check fails when it should --------------------------------------------------------------


def one_of_sample(questions) -> str:
    """A fact that is asked again, of the first way of asking."""
    asked = {("toy", *key): some for key, some in questions.items()}
    return next(iter(check.drawn(asked, 4, [0, 1]).values()))[0].fact


@pytest.mark.parametrize(
    ("column", "change", "by"),
    [
        ("logprob_gold", lambda v: v + 0.01, "by 0.01 nats"),
        ("logprob_gold", lambda v: v * np.nan, "a number is missing"),
        ("correct", lambda v: ~v.astype(bool), "in what they say"),
        ("confidence", lambda v: v * 0.99, "in what they say"),
        ("confidence_gold", lambda v: v * 1.01, "in what they say"),
        ("n_options", lambda v: v + 1, "in what they say"),
    ],
)
def test_one_number_of_one_row_is_enough(results, questions, column, change, by):
    fact = one_of_sample(questions)

    def one(frame):
        row = frame["fact"].eq(fact) & frame["estimator"].eq(WAYS[0])
        return frame.assign(**{column: frame[column].where(~row, change(frame[column]))})

    changed(results, one)
    with pytest.raises(BadInput, match=f"1 of 8 answers that were asked again differ, .*: {by}"):
        ask(questions)


def swapped(frame, columns):
    """The first two rows with each other's values in some columns."""
    found = frame.copy()
    found.loc[[0, 1], columns] = frame.loc[[1, 0], columns].to_numpy()
    return found


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.iloc[1:],  # a row is missing
        lambda f: swapped(f, ["fact"]),  # two stand under each other's fact
        lambda f: swapped(f, ["question"]),
        lambda f: f.assign(relation=f["relation"].where(f.index != 0, "film_year")),
        lambda f: f.assign(question=f["question"].where(f.index != 0)),
    ],
)
def test_a_row_that_is_lost_or_moved_is_found_before_any_model_is_asked(
    results, questions, monkeypatch, change
):
    monkeypatch.setitem(DOOR, "scored", lambda *_: pytest.fail("a model was asked"))
    changed(results, change)
    with pytest.raises(
        BadInput, match=r"results long lack [12] of 8 questions about toy, iclke-space"
    ):
        ask(questions)


def test_an_option_that_stands_elsewhere_or_is_another_makes_another_question(results, questions):
    key, some = next(iter(questions.items()))
    first = some[0]
    places = [1, 0, *range(2, len(first.options))]
    names = {
        name: tuple(getattr(first, name)[i] for i in places)
        for name in ("options", "continuations")
    }
    other = dataclasses.replace(first, **names)
    with pytest.raises(BadInput, match="results long lack 1 of 8 questions"):
        ask(questions | {key: [other, *some[1:]]})


def test_a_scorer_that_is_off_by_one_is_found(results, questions, monkeypatch):
    true = DOOR["scored"]

    def off_by_one(model, some):
        frame = true(model, some)
        return frame.assign(logprob=np.roll(frame["logprob"].to_numpy(), 1))

    monkeypatch.setitem(DOOR, "scored", off_by_one)
    with pytest.raises(BadInput, match="answers that were asked again differ"):
        ask(questions)


def test_another_weight_is_another_model(results, questions, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    other = tmp_path / "toy2"
    shutil.copytree(weights.locate("toy"), other)
    path = other / "model.safetensors"
    tensors = load_file(path)
    name = next(iter(tensors))
    tensors[name].view(-1)[0] += 0.5
    save_file(tensors, path, metadata={"format": "pt"})
    helpers.ship(
        results, "long", NOTEBOOK, shipped_rows(results), models={str(other): toy_digest()}
    )
    with pytest.raises(BadInput, match=r"are of another .*toy2: its weights have the digest"):
        ask(questions, models=[str(other)])


def test_models_and_questions_that_the_long_run_did_not_have_are_refused_before_any_is_asked(
    results, questions, monkeypatch
):
    monkeypatch.setitem(DOOR, "scored", lambda *_: pytest.fail("a model was asked"))
    for change in ({"seed": 2}, {"n_shots": 2}, {"n_options": 8}):
        other = prompts.of_sample(
            facts.draw("atlas", ["capital", "film_year"], **DRAWN | change), WAYS
        )
        with pytest.raises(
            BadInput, match=r"results long lack \d+ of 8 questions about toy, iclke-"
        ):
            ask(other)
    more = prompts.of_sample(
        facts.draw("atlas", ["capital", "film_year"], **DRAWN), ["iclke-arrow"]
    )
    with pytest.raises(
        BadInput, match="results long lack 8 of 8 questions about toy, iclke-arrow, capital"
    ):
        ask(more)
    helpers.ship(results, "long", NOTEBOOK, shipped_rows(results), models={"b": "1", "c": "2"})
    with pytest.raises(BadInput, match="results long are not of model toy, but of b, c"):
        ask(questions)


def test_results_that_cannot_be_checked_or_read_are_refused(results, questions):
    changed(results, lambda f: f.assign(question=None, logprob_gold=np.nan))
    with pytest.raises(
        BadInput, match="long cannot carry a page: they have nothing to check them by"
    ):
        ask(questions)
    with pytest.raises(BadInput, match="no results 10_trial of short; see .*made_by.csv"):
        ask(questions, results="short")
    path = results / f"{NOTEBOOK}.parquet"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BadInput, match="cannot be read"):
        ask(questions)


def test_in_another_dtype_a_difference_is_shown(results, questions):
    found = ask(questions, dtype="bfloat16")
    assert "differ by more than 0.001: another device or dtype" in answers.carried(found)


# --- which are asked again -----------------------------------------------------------------------


def test_a_sample_is_drawn_by_the_code_of_the_scorers_and_what_is_asked(monkeypatch):
    asked = {
        (model, way, relation): [
            helpers.prompt(f"{model}{way}{relation}{i}", ["x", "y"]) for i in range(20)
        ]
        for model in "ab"
        for way in "uv"
        for relation in "pqrst"
    }

    def drawn(program, n=6):
        monkeypatch.setattr(store, "program", lambda: program)
        return check.drawn(asked, n, [0, 1])

    one = drawn("x = 1")
    assert one == drawn("x = 1") != drawn("x = 2")
    few = {key: some[:-1] for key, some in asked.items()}
    same = {key: [p for p in some if p in few[key]] for key, some in drawn("x = 1").items()}
    assert check.drawn(few, 6, [0, 1]) != same
    assert [len(some) for some in one.values()] == [3] * 8  # two relations of each model and way
    ways = [key[:2] for key in one]
    assert all(ways.count(way) == 2 for way in ways) and len(set(ways)) == 4
    for key, some in one.items():
        places = [asked[key].index(each) for each in some]
        assert places == sorted(places)
    assert [len(some) for some in drawn("r", n=7).values()] == [4] * 8
    seen = {key[2] for i in range(30) for key in drawn(f"x = {i}")}
    assert seen == set("pqrst")


def test_more_than_there_are_is_all(monkeypatch):
    asked = {("a", "u", "p"): [helpers.prompt("a", ["x", "y"])]}
    assert check.drawn(asked, 30, [0, 1]) == asked


def test_a_prediction_within_a_tie_is_the_same():
    [row] = compared([[-1.0, -1.0004, -2.0]], [[-1.0004, -1.0, -2.0]]).itertuples()
    assert (row.model, row.where, row.fact, row.same) == ("m", "w", "f0", True)
    assert row.nats == pytest.approx(0.0004)
    [row] = compared([[-1.0, -1.0004, -2.0]], [[-1.0, -0.9, -2.0]]).itertuples()
    assert not row.same and row.nats == 0


@pytest.mark.parametrize("place", range(1, 7))
def test_an_option_that_gets_another_share_is_found_by_the_confidence_of_the_gold_one(place):
    """The gold option, far down here, has the same log-probability; what lies around it has not."""
    old = [-12.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0]
    new = [value + 0.5 * (i == place) for i, value in enumerate(old)]
    found = compared([old], [new])
    assert found["nats"].tolist() == [0] and found["same"].tolist() == [False]
    with pytest.raises(BadInput, match="1 of 1 answers .* in what they say"):
        check.compare(found, "long", {"command": "do it"}, exact=True)
    assert check.compare(found, "long", {"command": "do it"}, exact=False) is None


def test_answers_that_say_something_else_are_found_row_by_row():
    rows = [("a", 1, 0.50, "x"), ("a", 2, 0.25, "y"), ("b", 1, np.nan, None), ("c", 1, 0.1, "z")]
    now = pd.DataFrame(rows, columns=["fact", "n", "share", "word"])
    then = now.iloc[[3, 0, 1, 2]].assign(more=1)
    assert check.said_otherwise(now, then) == set()
    assert check.said_otherwise(now[now["fact"] != "c"], then) == set()
    assert check.said_otherwise(now.assign(share=now["share"] + 0.0019), then) == set()
    for fact, name, value in (
        ("a", "share", 0.2479),
        ("b", "share", 0.5),
        ("c", "word", "x"),
        ("b", "word", "x"),
        ("c", "n", 2),
    ):
        other = now.copy()
        other.loc[other["fact"].eq(fact) & other.index.isin([1, 2, 3]), name] = value
        assert check.said_otherwise(other, then) == {fact}
    assert check.said_otherwise(now, then[then["n"] == 1]) == {"a", "b", "c"}  # a row is missing


@pytest.mark.parametrize(("ships", "now", "differs"), [(0.0, 1e-58, False), (1e-30, 2e-30, True)])
def test_a_confidence_that_float32_does_not_keep_is_no_difference(ships, now, differs):
    of = {"fact": ["a"], "confidence_gold": [ships]}
    frames = pd.DataFrame(of | {"confidence_gold": [now]}), pd.DataFrame(of)
    assert check.said_otherwise(*frames) == ({"a"} if differs else set())


# --- on a page -----------------------------------------------------------------------------------


def page(**given) -> dict:
    """The names of page 10 after its cells."""
    return helpers.page("10_iclke_relations", **given)


def test_a_page_that_results_carry_says_the_same_and_stops_at_each_of_three_faults(
    tmp_path, monkeypatch
):
    """A shipped row that is changed, a model with another weight, a scorer that reads the next token."""
    few = {"models": ["toy"], "relations": ["capital", "film_year", "official_language"]}
    few |= {"n_shots": 4, "n_options": 6, "n_facts": 5, "n_choice": 2, "n_redraw_facts": 3}
    monkeypatch.setenv("LKE_RUN", str(tmp_path / "long-run"))
    (tmp_path / "long-run").mkdir()
    live = page(**few)
    monkeypatch.setitem(answers.results.__globals__, "FOLDER", tmp_path)
    name = "10_iclke_relations"
    kept = sorted((tmp_path / "long-run").glob("answers*.parquet"))
    how = {"models": {"toy": toy_digest()}, "parameters": {"n_redraws": 2}}
    helpers.ship_run(tmp_path, tmp_path / "long-run", name, **how)
    assert sorted(path.stem for path in kept) == [
        "answers", "answers-check", "answers-choice", "answers-choice-check", "answers-cues", "answers-draws",
        "answers-draws-check",
    ]  # fmt: skip
    monkeypatch.setenv("LKE_RUN", str(tmp_path / "short-run"))
    (tmp_path / "short-run").mkdir()
    found = page(**few, results="long", n_again=4)
    assert live["ours"]["correct"].tolist() == found["ours"]["correct"].tolist()
    assert "8 of them were asked again" in answers.carried(found["ours"])
    assert "all of them asked for this page" in answers.carried(live["ours"])
    assert set(found["more"]["draw"]) == {1}
    assert live["more"]["correct"].tolist() == found["more"]["correct"].tolist()

    file = tmp_path / f"{name}.parquet"
    whole = file.read_bytes()
    frame = pd.read_parquet(file)
    frame.assign(logprob_gold=frame["logprob_gold"] + 0.01 * frame["draw"].gt(0)).to_parquet(file)
    with pytest.raises(BadInput, match="answers that were asked again differ, .*by 0.01 nats"):
        page(**few, results="long", n_again=4)
    file.write_bytes(whole)

    # In a cache of its own, or the right scores of before would be found there.
    models = tmp_path / "cache" / "models"
    shutil.copytree(open_model("toy").path, models / open_model("toy").path.name)
    monkeypatch.setenv("LKECORE_CACHE", str(models.parent))
    true = tree.token_logprobs
    with monkeypatch.context() as patch:
        patch.setattr(
            tree, "token_logprobs", lambda logits, row, ids: true(logits, row, [i - 1 for i in ids])
        )
        DOOR["opened"].cache_clear()
        with pytest.raises(BadInput, match="answers that were asked again differ"):
            page(**few, results="long", n_again=4)

    [file] = models.glob("*/*.safetensors")
    tensors = load_file(file)
    tensors["model.norm.weight"][0] += 0.01
    save_file(tensors, file, {"format": "pt"})
    DOOR["opened"].cache_clear()
    with pytest.raises(BadInput, match="results long are of another toy: its weights"):
        page(**few, results="long", n_again=4)
    DOOR["opened"].cache_clear()


def test_a_list_that_several_models_are_asked_is_looked_at_once(questions, monkeypatch):
    looked, digests = [], check.digests
    monkeypatch.setattr(check, "digests", lambda unit: looked.append(unit) or digests(unit))
    asked = {(model, *key): some for model in ("a", "b") for key, some in questions.items()}
    found = check.questions(asked, ["model", "estimator", "relation"])
    assert len(looked) == sum(map(len, questions.values()))
    by_hand = [(*key, p.fact, digests(p)[0]) for key, some in asked.items() for p in some]
    assert list(found.itertuples(index=False, name=None)) == by_hand
