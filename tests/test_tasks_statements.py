"""Statements: the sum over all tokens of a sentence, wherever its object stands."""

import importlib.util
import json

import helpers
import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from test_facts_bear import SPACE, folder  # noqa: F401

from lkecore import models
from lkecore.cli.main import lke
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.models import model as model_module
from lkecore.models import weights
from lkecore.prompts.prompt import template
from lkecore.scores import tree
from lkecore.tasks import statements

THERE = importlib.util.find_spec("lm_pub_quiz") is not None
SMOLLM2 = weights.locate("smollm2") if THERE and weights.is_ready("smollm2") else None
ASKED = [Fact("1", "r", "Oz", "abc"), Fact("2", "r", "utopia", "ab")]
OPTIONS = [("abc", "ab", "q"), ("abc", "ab", "q")]


def by_hand(network, front, sentence):
    """All tokens of a sentence behind ``front``, by one plain forward pass."""
    ids = torch.tensor(
        [[front, *helpers.char_tokenizer()(sentence, add_special_tokens=False)["input_ids"]]]
    )
    with torch.inference_mode():
        rows = network(ids, use_cache=False).logits[0, :-1].double().log_softmax(-1)
    return rows.gather(1, ids[0, 1:, None]).sum().item()


@pytest.mark.parametrize("words", ["[Y] is in [X]", "[X] has [Y] in it"])
def test_a_statement_is_the_sum_over_all_its_tokens_behind_the_beginning(words):
    network = helpers.network()
    model = statements.behind_a_beginning(helpers.model(network))
    model.__dict__["_loaded"] = (network, 0.0)
    questions = statements.whole(template(words, ASKED, OPTIONS))
    found = tree.option_logprobs(model, questions, use_cache=False).frame
    sentences = []
    for fact, names in zip(ASKED, OPTIONS, strict=True):
        filled = [words.replace("[X]", fact.subject).replace("[Y]", name) for name in names]
        sentences += [text[0].upper() + text[1:] for text in filled]
    bos = helpers.char_tokenizer().bos_token_id
    np.testing.assert_allclose(
        found["logprob"], [by_hand(network, bos, s) for s in sentences], rtol=0, atol=1e-4
    )
    assert list(found["continuation"]) == sentences and set(found["context"]) == {""}


@pytest.mark.skipif(not THERE, reason="lm-pub-quiz is not installed (make bench has it)")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("words", ["[X] is the capital of [Y].", "[Y]'s capital is [X]."])
def test_each_number_is_that_of_lm_pub_quiz(words):
    from lm_pub_quiz import Evaluator

    if not SMOLLM2:
        pytest.skip("the embedded model is not on this machine, and no test fetches one")
    asked = [Fact("1", "r", "Paris", "France"), Fact("2", "r", "Oslo", "Norway")]
    names = ["France", "Norway", "Papua New Guinea"]
    evaluator = Evaluator.from_model(str(SMOLLM2), model_type="CLM", device="cpu")
    theirs = [
        evaluator.score_answers(
            template=words, answers=names, subject=fact.subject, reduction="sum", batch_size=2
        )
        for fact in asked
    ]
    model = statements.behind_a_beginning(models.open_model(str(SMOLLM2), device="cpu"))
    questions = statements.whole(template(words, asked, [names, names]))
    ours = tree.option_logprobs(model, questions, use_cache=False).frame["logprob"]
    np.testing.assert_allclose(ours, np.ravel(theirs), rtol=0, atol=1e-3)


def test_a_model_without_a_beginning_and_one_that_is_no_decoder_are_refused():
    bare = helpers.bpe_tokenizer([])
    with pytest.raises(BadInput, match="no token that begins a text"):
        statements.behind_a_beginning(helpers.model(tokenizer=bare))
    with pytest.raises(BadInput, match="masked"):
        statements.behind_a_beginning(helpers.model(kind="masked"))
    own = helpers.model(add_bos=True)
    assert statements.behind_a_beginning(own).front == own.front


def score(folder, tmp_path, *more):  # noqa: F811
    given = ["score", "--facts", str(folder), "--relation", "P1", "--out", str(tmp_path / "out")]
    return CliRunner().invoke(lke, [*given, *more])


def test_the_command_asks_all_facts_among_all_options(folder, tmp_path, monkeypatch):  # noqa: F811
    network = helpers.network()
    monkeypatch.setattr(models, "open_model", lambda *_, **__: helpers.model(network))
    monkeypatch.setattr(model_module, "load", lambda _: network)
    all_ = ["--options", "all", "--split", "all"]
    done = score(folder, tmp_path, "--estimator", "statement-2", *all_, "--no-cache")
    assert done.exit_code == 0, done.output
    says = json.loads(done.output.splitlines()[-1])
    assert (says["n_facts"], says["options"], says["split_drawn"]) == (3, "all", False)
    assert says["shots"] == 0 and says["prefix"] == [helpers.char_tokenizer().bos_token]
    rows = pd.read_parquet(tmp_path / "out" / "options.parquet")
    assert all(set(of["option"]) == set(SPACE) for _, of in rows.groupby("fact"))
    gold = set(rows.loc[rows["gold"], "continuation"])
    assert gold >= {"Nil is of Nowhere.", "Amaurot is of Utopia."}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--estimator", "ic-lke", "--split", "all"], "--split all leaves no facts to show"),
        (["--estimator", "statement-1", "--prefix", "none", "--options", "all"], "--prefix none"),
    ],
)
def test_what_cannot_be_asked_is_refused(folder, tmp_path, more, said):  # noqa: F811
    done = score(folder, tmp_path, *more)
    assert isinstance(done.exception, BadInput) and said in str(done.exception)
