"""Long sequences and written outputs that ship: carried while a sample agrees, refused when it does not."""

import dataclasses
import math
from types import SimpleNamespace

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import answers, facts, prompts
from lkecore.answers import blanks, check, lab, pairs, show, written
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.models.model import open_model
from lkecore.prompts import Prompt, probes
from lkecore.scores import blanks as tops
from lkecore.scores import kinds
from lkecore.tasks.instill import Recipe

NOTEBOOK = "10_trial"
CARRIED = {"results": "long", "notebook": NOTEBOOK}


class Ships:
    """What one run keeps becomes results; the next run is another one."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.run = folder, folder / "long-run"
        self.run.mkdir()
        monkeypatch.setitem(answers.results.__globals__, "FOLDER", folder)
        monkeypatch.setenv("LKE_RUN", str(self.run))
        self.env = monkeypatch

    def now(self, digest: str, change=lambda frame: frame) -> None:
        """Let it ship, with the answers changed."""
        helpers.ship_run(self.folder, self.run, NOTEBOOK, change, models={"toy": digest})
        page = self.folder / "10_trial-0123456789ab"
        page.mkdir(exist_ok=True)
        self.env.setenv("LKE_RUN", str(page))


@pytest.fixture
def ships(tmp_path, monkeypatch):
    return Ships(tmp_path, monkeypatch)


# --- sequences ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    known = facts.load("atlas", "capital").facts
    how = {"n_pairs": 10, "share_replaced": 0.2, "n_first": 2, "n_behind": 2, "seed": 3}
    return {"toy": {"capital": probes.draw_probes(known, known, "word", n_draws=2, **how)}}


WAYS = ["iclke-space", "iclke-colon"]


def read(drawn, **how):
    return answers.ask_pairs(drawn, WAYS, "answers.parquet", **how)


def test_sequences_are_carried_and_one_draw_of_each_way_is_read_again(ships, drawn):
    live = read(drawn)
    ships.now(open_model("toy").digest)
    found = read(drawn, **CARRIED)
    assert list(found.columns) == list(live.columns) and len(found) == 2 * 2 * 5 * 10
    for name in ("draw", "estimator", "kind", "position", "object", "state"):
        assert found[name].tolist() == live[name].tolist()
    assert found["logprob"].tolist() == pytest.approx(live["logprob"].tolist(), abs=1e-4)
    said = answers.carried(found)
    assert said.startswith("200 answers of a longer run") and "100 of them were asked again" in said
    fewer = read({"toy": {"capital": {4: drawn["toy"]["capital"][4]}}}, n_again=0, **CARRIED)
    assert set(fewer["draw"]) == {4} and len(fewer) == 100
    assert "asked again" not in answers.carried(fewer)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("logprob", lambda v: v + 0.01),
        ("logprob", lambda v: v * np.nan),
        ("state", lambda v: v.replace({"right": "replaced"})),
        ("distance", lambda v: v + 1),
        ("tokens", lambda v: v + 1),
    ],
)
def test_a_sequence_that_says_something_else_is_found(ships, drawn, name, change):
    read(drawn)
    ships.now(open_model("toy").digest, lambda f: f.assign(**{name: change(f[name])}))
    with pytest.raises(BadInput, match=r"results long: \d+ of 100 answers that were asked again"):
        read(drawn, **CARRIED)


def test_sequences_of_other_draws_or_cut_off_are_refused(ships, drawn, monkeypatch):
    read({"toy": {"capital": {3: drawn["toy"]["capital"][3]}}})
    ships.now(open_model("toy").digest)
    monkeypatch.setattr(pairs, "piece_logprobs", lambda *_: pytest.fail("a model was asked"))
    with pytest.raises(BadInput, match="lack 1 of 1 questions about toy, capital, 4, iclke-space"):
        read(drawn, **CARRIED)
    ships.now(open_model("toy").digest, lambda f: f.iloc[:-3])
    with pytest.raises(
        BadInput, match="cut off: 47 of 50 answers are there of toy, iclke-colon, capital, draw 3"
    ):
        read({"toy": {"capital": {3: drawn["toy"]["capital"][3]}}}, **CARRIED)


def test_what_several_files_agree_by_is_said_once():
    same = {"made_by": "x", "command": "do it"}
    some = [
        {"n": 1000, "again": 4, "off": 0, "nats": 5e-5},
        {"n": 3, "again": 2, "off": 0, "nats": 0.0},
        {"n": 5, "again": 5, "off": 1, "nats": None},
        {"n": 2},
    ]
    assert show.carried([same | each for each in some]) == (
        "1,000, 3, 5 and 2 answers of a longer run: x. To make them again: do it. 4, 2 and 5 of them were "
        "asked again for this page; the largest difference is 5e-05 nats; 4 came out the same to the letter."
    )


# --- distributions at blanks ------------------------------------------------------------------------


def at_blanks(n_facts: int = 6, **how):
    sample = facts.draw(
        "atlas", ["capital", "currency"], n_shots=2, n_facts=n_facts, n_options=5, seed=0
    )
    asked = prompts.instilled_of_sample(sample, ["template-1"], ["explicit", "false"])
    whole = {"whole": True, "top": 2}
    return answers.ask_blanks(["toy"], asked, "answers.parquet", **whole, **how)


def test_whole_names_at_blanks_are_read_where_facts_have_different_numbers_of_options():
    """An uncased model cannot tell Rome from ROME. The oracle: each fact by itself, in plain Python."""
    network, tokenizer = helpers.blank_filler("uncased BERT")
    model = helpers.model(network, tokenizer=tokenizer, kind="masked")
    names = [("Rome", "Paris", "Madrid"), ("Rome", "Paris", "ROME"), ("Paris", "ROME", "York")]
    asked = [
        prompts.Prompt(f"f{i}", "r", "s", f"{'The ' * i}has", its, tuple(f" {n}" for n in its), 0)
        for i, its in enumerate(names)
    ]
    some = [
        prompts.Instilled(p, dataclasses.replace(p, context=f"Spain is. {p.context}"), "explicit")
        for p in asked
    ]
    found = blanks._whole_names(model, some)
    assert len(found) == 3 and "fact" not in found
    for each, row in zip(some, found.itertuples(), strict=True):
        sides = []
        for prompt in (each.asked, each.told):
            odds = np.exp(kinds.option_logprobs(model, [prompt], use_cache=False).frame["logprob"])
            sides.append(odds / odds.sum())
        p, q = sides
        assert len(p) == (2 if each.fact == "f1" else 3)
        assert row.confidence_gold == pytest.approx(p[0], abs=1e-5)
        assert row.options_entropy == pytest.approx(-(p * np.log(p)).sum(), abs=1e-4)
        assert row.options_kl == pytest.approx((p * np.log(p / q)).sum(), abs=1e-4)


def test_blanks_are_carried_and_a_sample_of_each_way_is_read_again(ships):
    live = at_blanks()
    assert len(live) == 2 * 2 * 6 and live["model"].eq("toy").all()
    assert (live["options_kl"] >= 0).all() and live["confidence_gold"].between(0, 1).all()
    assert (live["options_entropy"] <= math.log(5) + 1e-9).all()
    ships.now(open_model("toy").digest)
    found = at_blanks(n_again=3, **CARRIED)
    assert list(found.columns) == list(live.columns)
    for name in live.select_dtypes("number"):
        assert found[name].tolist() == pytest.approx(live[name].tolist(), rel=2e-4, abs=1e-3)
    said = answers.carried(found)
    assert said.startswith("24 answers of a longer run")
    # Two lists of each of two ways, two questions of each.
    assert "8 of them were asked again" in said and "the largest difference is" in said


def test_of_the_numbers_at_blanks_some_may_be_kept_and_these_are_checked(ships):
    some = ("rank", "kl")
    live = at_blanks(only=some)
    objects = ["n_tokens", "merged", "shared"]
    key = ["model", "estimator", "instillation", "relation", "fact"]
    assert list(live.columns) == [*key, *some, *objects]
    ships.now(open_model("toy").digest, lambda f: f.assign(kl=f["kl"] + 0.01))
    with pytest.raises(BadInput, match="answers that were asked again differ"):
        at_blanks(only=some, n_again=3, **CARRIED)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("entropy", lambda v: v + 0.05),
        ("kl", lambda v: v * 1.02),
        ("rank_after", lambda v: v + 9),
        ("options_kl", lambda v: v + 0.01),
        ("correct", lambda v: ~v.astype(bool)),
        ("n_tokens", lambda v: v + 2),
    ],
)
def test_a_blank_that_says_something_else_is_found(ships, name, change):
    at_blanks()
    ships.now(open_model("toy").digest, lambda f: f.assign(**{name: change(f[name])}))
    with pytest.raises(BadInput, match=r"results long: \d+ of 8 answers that were asked again"):
        at_blanks(n_again=3, **CARRIED)


@pytest.mark.parametrize("name", ["logprob_before", "logprob_after"])
def test_a_number_at_a_blank_that_is_missing_is_no_agreement(ships, name):
    at_blanks()
    ships.now(open_model("toy").digest)
    file = ships.folder / f"{NOTEBOOK}.parquet"
    pd.read_parquet(file).assign(**{name: np.nan}).to_parquet(file)
    with pytest.raises(BadInput, match=r"8 of 8 answers .* differ, .*: a number is missing\. The"):
        at_blanks(n_again=3, **CARRIED)


def test_blanks_of_other_facts_are_refused_before_a_model_is_asked(ships, monkeypatch):
    at_blanks(4)
    ships.now(open_model("toy").digest)
    monkeypatch.setattr(blanks.blanks, "shifts", lambda *_, **__: pytest.fail("a model was asked"))
    with pytest.raises(BadInput, match="results long lack 2 of 6 questions about toy, template-1"):
        at_blanks(6, **CARRIED)


def test_questions_at_blanks_are_checked_at_the_door(monkeypatch):
    monkeypatch.setattr(blanks.blanks, "shifts", lambda *_, **__: pytest.fail("a model was asked"))
    some = prompts.instilled("[X] is [Y]", [Fact("1", "r", "a b", "c")], [("c", "d")])
    with pytest.raises(BadInput, match="a key needs a value for each of"):
        answers.ask_blanks(["toy"], {("r",): some}, "answers.parquet")
    with pytest.raises(BadInput, match="^nothing is asked: there are no models or no questions$"):
        answers.ask_blanks(["toy"], {}, "answers.parquet")
    with pytest.raises(BadInput, match="no such model, folder or file|unknown model"):
        answers.ask_blanks(["tyo"], {("e", "explicit", "r"): some}, "answers.parquet")
    behind = prompts.instilled("[Y] is what [X] is", [Fact("1", "r", "a", "c")], [("c", "d")])
    with pytest.raises(
        BadInput, match="stands after the blank, where a causal model does not look"
    ):
        answers.ask_blanks(["toy"], {("e", "explicit", "r"): behind}, "answers.parquet")


# --- lessons --------------------------------------------------------------------------------------


def lessons(n_facts: int = 6, rate: float = 0.05, at: list[int] = (1, 3), **how):
    sample = facts.draw(
        "atlas", ["capital", "currency"], n_shots=2, n_facts=n_facts, n_options=5, seed=0
    )
    made = prompts.instilled_of_sample(sample, ["template-1"])
    asked = {key: [each.asked for each in some] for key, some in made.items()}
    recipe = Recipe(3, rate)
    return answers.ask_taught(["toy"], asked, "answers.parquet", recipe, at=at, **how)


def test_lessons_are_carried_and_a_sample_is_given_again(ships):
    live = lessons()
    assert live.groupby("steps").size().to_dict() == {1: 12, 3: 12} and (live["kl"] > 0).all()
    ships.now(open_model("toy").digest)
    found = lessons(n_again=4, **CARRIED)
    assert list(found.columns) == list(live.columns)
    for name in live.select_dtypes("number"):
        assert found[name].tolist() == pytest.approx(live[name].tolist(), rel=2e-4, abs=1e-4)
    said = answers.carried(found)
    assert said.startswith("24 answers of a longer run") and "8 of them were asked again" in said


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("entropy", lambda v: v + 0.05),
        ("entropy", lambda v: v * np.nan),
        ("first_after", lambda v: v + 1),
    ],
)
def test_a_lesson_that_ends_otherwise_is_found(ships, name, change):
    lessons()
    ships.now(open_model("toy").digest, lambda f: f.assign(**{name: change(f[name])}))
    with pytest.raises(BadInput, match=r"results long: \d+ of 8 answers that were asked again"):
        lessons(n_again=4, **CARRIED)


def test_a_lesson_that_was_lost_then_as_now_agrees(ships):
    too_fast = {"rate": 1e30, "at": [3]}
    assert lessons(**too_fast)["entropy"].isna().all()
    ships.now(open_model("toy").digest)
    said = answers.carried(lessons(**too_fast, n_again=4, **CARRIED))
    assert "4 of them were asked again" in said and "the largest difference is 0 nats" in said


def test_of_the_steps_that_ship_those_are_taken_that_are_asked(ships):
    live = lessons()
    ships.now(open_model("toy").digest)
    found = lessons(at=[3], n_again=4, **CARRIED)
    assert found["steps"].eq(3).all() and len(found) == 12
    once = live[live["steps"] == 3]
    assert found["fact"].tolist() == once["fact"].tolist()
    with pytest.raises(BadInput, match="have lessons of 1, 3 steps, and none of 2$"):
        lessons(at=[2, 3], **CARRIED)


def test_a_recipe_that_teaches_nothing_is_refused_before_a_model_is_taught(monkeypatch):
    monkeypatch.setattr(blanks.instill, "shifts", lambda *_, **__: pytest.fail("it was taught"))
    with pytest.raises(BadInput, match="at a rate of -1.0: both must be above 0"):
        lessons(rate=-1.0)
    with pytest.raises(BadInput, match="is in bfloat16: a fact can be taught in float32 alone"):
        lessons(dtype="bfloat16")


# --- what models write ----------------------------------------------------------------------------


def asked() -> dict[tuple[str, str], list[Prompt]]:
    """Two estimators, two relations of five facts each; an output begins with the object or not."""
    return {
        (way, relation): [
            Prompt(
                f"{relation}{i}",
                relation,
                f"s{i}",
                f"{way}{relation}{i}",
                (f"Old{i}", "x"),
                ("", ""),
                0,
            )
            for i in range(5)
        ]
        for way in ("e1", "e2")
        for relation in "rs"
    }


@pytest.fixture
def says(monkeypatch):
    """Outputs of a stand-in: {context: text}, which a test may change."""
    texts = {
        prompt.context: f" Old{i}" if i % 2 else f" so Old{i}"
        for some in asked().values()
        for i, prompt in enumerate(some)
    }

    def generate(model, contexts, **_):
        said = [texts[each] for each in contexts]
        return pd.DataFrame({"text": said, "logprob": -1.0, "n_tokens": 3})

    monkeypatch.setattr(written, "generate", generate)
    monkeypatch.setattr(lab, "generate", generate)
    return texts


def write(**how):
    return answers.write(["toy"], asked(), "answers.parquet", max_new_tokens=3, **how)


def test_outputs_are_carried_and_what_is_said_of_them_is_read_anew(ships, says):
    live = write()
    ships.now(open_model("toy").digest, lambda f: f.assign(anywhere=False, stray=0.5))
    found = write(n_again=10, **CARRIED)
    assert found["anywhere"].all() and (found["stray"] == 0).all()
    pd.testing.assert_frame_equal(found, live, check_dtype=False, check_like=True)
    said = answers.carried(found)
    assert said.startswith("20 answers of a longer run")
    assert said.endswith(
        "20 of them were asked again for this page; 20 came out the same to the letter."
    )
    kept = pd.read_parquet(ships.folder / "10_trial-0123456789ab" / "answers.parquet")
    assert kept["anywhere"].all()
    both = answers.carried(found, live, found[:1000])
    assert both.startswith("20 and 20 answers of a longer run: profile long")
    assert (
        "20 and 20 of them were asked again for this page; 40 came out the same to the letter."
        in both
    )
    assert both.endswith("20 answers, all of them asked for this page.")


def test_one_output_in_ten_may_part_and_no_more(ships, says):
    write()
    ships.now(open_model("toy").digest)
    for i in (0, 1):
        says[f"e1r{i}"] = " another"
    found = write(n_again=10, **CARRIED)
    assert "18 came out the same to the letter" in answers.carried(found)
    assert found["anywhere"].all()  # the page is about what ships
    says["e2s3"] = " another"
    with pytest.raises(
        BadInput, match="3 of 20 answers .* differ, most of all .*: in what was written"
    ):
        write(n_again=10, **CARRIED)


def test_a_confidence_is_carried_while_samples_drawn_again_are_within_one_in_twenty(
    ships, says, monkeypatch
):
    share = [0.5]
    monkeypatch.setattr(written, "_shares", lambda greedy, *_: share * len(greedy))
    live = write(n_samples=100)
    ships.now(open_model("toy").digest)
    share[0] = 0.46
    found = write(n_samples=100, **CARRIED)
    assert found["confidence"].tolist() == live["confidence"].tolist() == [0.5] * 20
    share[0] = 0.44
    with pytest.raises(BadInput, match="differ, most of all .*: in what was written"):
        write(n_samples=100, **CARRIED)


def test_results_without_log_probabilities_carry_their_texts(ships, says):
    write()
    ships.now(open_model("toy").digest, lambda f: f.drop(columns=["logprob", "n_tokens"]))
    found = write(**CARRIED)
    assert found["logprob"].isna().all() and found["anywhere"].all()


def test_outputs_of_other_questions_or_cut_off_are_refused(ships, says):
    write()
    ships.now(open_model("toy").digest, lambda f: f.iloc[1:])
    with pytest.raises(BadInput, match="lack 1 of 5 questions about toy, e1, r"):
        write(**CARRIED)


def test_outputs_of_a_model_of_the_lab_are_carried_too(ships, says, monkeypatch):
    monkeypatch.setattr(lab, "lab", SimpleNamespace(record=lambda _: {"world": "w"}))
    monkeypatch.setattr(lab, "_told", lambda _: None)
    monkeypatch.setattr(
        lab.planted,
        "written",
        lambda some, texts, _: pd.DataFrame({"fact": [p.fact for p in some], "text": list(texts)}),
    )
    questions = {("w", *key): some for key, some in asked().items()}
    how = {"n_tokens": 5}
    live = lab.write(["toy"], questions, "answers-written.parquet", **how)
    ships.now(open_model("toy").digest)
    found = lab.write(["toy"], questions, "answers-written.parquet", **how, n_again=10, **CARRIED)
    assert found["text"].tolist() == live["text"].tolist()
    assert set(found["estimator"]) == {"written-e1", "written-e2"}
    assert "20 came out the same to the letter" in answers.carried(found)
    for context in says:
        says[context] = " another"
    with pytest.raises(BadInput, match="in what was written"):
        lab.write(["toy"], questions, "answers-written.parquet", **how, **CARRIED)


def test_digests_of_all_that_was_asked_stand_under_their_keys():
    found = check.questions(
        {("m", *key): some for key, some in asked().items()}, ["model", "way", "of"]
    )
    assert found.columns.tolist() == ["model", "way", "of", "fact", "question"] and len(found) == 20
    assert found["question"].is_unique and found.loc[7, ["way", "of", "fact"]].tolist() == [
        "e1",
        "s",
        "s2",
    ]


# --- many prompts of a fact, at one mask ------------------------------------------------------------


def test_answers_at_one_mask_are_carried_and_of_many_templates_two_are_asked_again(ships):
    rows = [Fact(f"f{name}", "r", f"s{name}", name) for name in "ABCD"]
    asked_of = {
        (i, 0, "r"): prompts.template(f"{'very ' * i}[X] is [Y]", rows, ["ABCDE"] * 4)
        for i in range(6)
    }

    def reading(_, scores):
        return scores.drop_duplicates("fact")[["fact", "answer", "logprob_top"]]

    calls = []

    def score(lm, some):
        calls.append(len(some))
        return tops.tops(lm, some)

    how = {"by": ("template", "expression", "relation"), "score": score, "reading": reading}
    live = answers.ask(["toy"], asked_of, "answers.parquet", **how)
    ships.now(open_model("toy").digest)
    calls.clear()
    found = answers.ask(["toy"], asked_of, "answers.parquet", **how, **CARRIED)
    assert calls == [4, 4], "two of the six templates, all facts of each"
    assert found["answer"].tolist() == live["answer"].tolist()
    how["reading"] = lambda *given: reading(*given).assign(answer="another")
    with pytest.raises(BadInput, match="differ, most of all toy, .*: in what they say"):
        answers.ask(["toy"], asked_of, "answers.parquet", **how, **CARRIED)
