"""What a tokenizer puts in front of a text, and what it does not know.

The oracle of all numbers is one plain forward pass of what the tokenizer makes of a text by itself,
``tok(text)``, without what it puts behind.
"""

import json

import helpers
import numpy as np
import pytest
import test_scores_tokens as cut

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import open_model, template
from lkecore.prompts.prompt import Prompt
from lkecore.scores import expected, generate, masked, seq2seq, tree

NATS = 1e-4  # float32, the same sums in another order over 2 layers: about 1e-5
TEMPLATES = {"A": "$A", "X A": "<x> $A", "X Y A": "<x> <y> $A", "X A Z": "<x> $A <z>"}
CAPITALS = ("Madrid", "Paris", "Rome")
UNKNOWN = "ጐንደር"


def unigram_with_bytes():
    """As Llama 3's elder kin have: what no piece has is spelled in bytes."""
    from tokenizers import Tokenizer

    made = cut.unigram()
    state = json.loads(made.backend_tokenizer.to_str())
    lowest = min(score for _, score in state["model"]["vocab"])
    state["model"]["vocab"] += [[f"<0x{byte:02X}>", lowest - 9] for byte in range(256)]
    state["model"]["byte_fallback"] = True
    made._tokenizer = Tokenizer.from_str(json.dumps(state))
    return made


def wordpiece():
    """As BERT-like decoders have, and not of BERT's class, which puts its own template around a text."""
    from transformers import PreTrainedTokenizerFast

    made = helpers.wordpiece_tokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=made.backend_tokenizer, unk_token=made.unk_token
    )


TOKENIZERS = {
    "byte-level BPE": cut.byte_level_bpe,
    "unigram": cut.unigram,
    "unigram with bytes": unigram_with_bytes,
    "WordPiece": wordpiece,
}
KNOWS_ALL = ("byte-level BPE", "unigram with bytes")


def with_template(tokenizer, name):
    from tokenizers.processors import TemplateProcessing

    tokenizer.add_special_tokens({"additional_special_tokens": ["<x>", "<y>", "<z>"]})
    tokenizer.add_special_tokens(
        {"bos_token": "<y>", "eos_token": "<z>"}
    )  # as XGLM: not what it puts
    single = TEMPLATES[name]
    special = [(t, tokenizer.convert_tokens_to_ids(t)) for t in ("<x>", "<y>", "<z>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=single, special_tokens=[each for each in special if each[0] in single]
    )
    return tokenizer


def saved(folder, tokenizer, kind="Llama"):
    helpers.network(kind, vocab_size=len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module", params=TEMPLATES)
def asked(request, tmp_path_factory):
    """(name of the template, a model opened from a folder)."""
    tokenizer = with_template(cut.byte_level_bpe(), request.param)
    folder = saved(tmp_path_factory.mktemp("front"), tokenizer)
    return request.param, open_model(folder, device="cpu")


def prompt(context="Italy Rome Spain", options=CAPITALS, fact="f1"):
    return Prompt(fact, "capital", fact, context, options, tuple(f" {o}" for o in options), 0)


def by_itself(model, text, n_behind=0, **given):
    ids = model.tokenizer(text, **given)["input_ids"]
    return ids[: len(ids) - n_behind]


def by_plain(model, context, option, n_behind=0, **given):
    """Log-probability of an option: of the tokens after those that the context alone has."""
    own, whole = (by_itself(model, t, n_behind, **given) for t in (context, context + option))
    start = next(
        (i for i, pair in enumerate(zip(own, whole, strict=False)) if len(set(pair)) > 1), len(own)
    )
    rows = helpers.plain_logprobs(model.network, whole)
    return sum(rows[i - 1, whole[i]] for i in range(start, len(whole)))


def test_front_is_what_the_tokenizer_puts_there_and_back_is_left_out(asked):
    which, model = asked
    assert model.prefix == which.split("A")[0].replace("X", "<x>").replace("Y", "<y>").split()
    front, back = template(model.tokenizer)
    assert front == model.front and len(back) == which.endswith("Z")


def test_options_are_scored_as_a_plain_forward_of_the_tokenizers_own_text_says(asked):
    which, model = asked
    n_behind = which.endswith("Z")
    contexts = ("Italy Rome Spain", "Spain")
    prompts = [prompt(text, fact=text) for text in contexts]
    found = tree.option_logprobs(model, prompts, use_cache=False)
    wanted = [by_plain(model, t, f" {o}", n_behind) for t in contexts for o in CAPITALS]
    np.testing.assert_allclose(found.frame["logprob"], wanted, rtol=0, atol=NATS)
    assert found.tokens_forwarded == expected.expected_tokens(model, prompts)[0]


def test_what_comes_next_is_what_comes_next_behind_the_tokenizers_own_text(asked):
    which, model = asked
    rows = helpers.plain_logprobs(
        model.network, by_itself(model, "Italy Rome", which.endswith("Z"))
    )
    found = tree.distributions(model, [["Italy Rome"]], lambda logprobs, _: logprobs[0])
    np.testing.assert_allclose(found[0], rows[-1], rtol=0, atol=NATS)
    [said] = generate.generate(
        model, ["Italy Rome"], max_new_tokens=1, stop=None, use_cache=False
    ).itertuples()
    assert said.logprob == pytest.approx(rows[-1].max(), abs=NATS)


def test_without_a_prefix_nothing_is_in_front_and_nothing_of_the_other_is_kept(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    folder = saved(tmp_path / "m", with_template(cut.unigram(), "X Y A"))
    found = {}
    for prefix in ("default", "none"):
        model = open_model(folder, device="cpu", prefix=prefix)
        found[prefix] = tree.option_logprobs(model, [prompt()]).frame["logprob"]
    wanted = [
        by_plain(model, "Italy Rome Spain", f" {o}", add_special_tokens=False) for o in CAPITALS
    ]
    np.testing.assert_allclose(found["none"], wanted, rtol=0, atol=NATS)
    assert (
        found["default"] - found["none"]
    ).abs().max() > 10 * NATS  # the network's numbers are random
    entries = progress.read_ledger(tmp_path / "ledger")
    assert [entry["prefix"] for entry in entries] == [["<x>", "<y>"], []]


def test_a_prefix_is_for_causal_models_and_has_two_values(tmp_path):
    folder = saved(tmp_path / "causal", cut.unigram())
    with pytest.raises(BadInput, match="^unknown prefix 'bos': must be one of default, none$"):
        open_model(folder, prefix="bos")
    network, tokenizer = helpers.blank_filler("BERT")
    network.save_pretrained(tmp_path / "masked")
    tokenizer.save_pretrained(tmp_path / "masked")
    message = "is masked; prefix 'none' is for causal models$"
    with pytest.raises(BadInput, match=message):
        open_model(str(tmp_path / "masked"), prefix="none")
    assert open_model(str(tmp_path / "masked")).prefix == ["[CLS]"]


def test_a_tokenizer_that_puts_other_tokens_around_other_texts_is_refused():
    class Fickle:
        name_or_path = "some/folder"

        def __call__(self, text, *, add_special_tokens, verbose):
            return {"input_ids": [len(text) + 9] * add_special_tokens + [1, 2, 3]}

    with pytest.raises(
        BadInput, match="^the tokenizer in some/folder does not put the same tokens"
    ):
        template(Fickle())


# --- what a tokenizer does not know


@pytest.mark.parametrize(
    ("kind", "declared"), [*((kind, True) for kind in TOKENIZERS), ("unigram", False)]
)
def test_an_option_that_the_model_does_not_know_is_refused_by_name(tmp_path, kind, declared):
    tokenizer = with_template(TOKENIZERS[kind](), "X A")
    if not declared:  # in the model alone, not among the tokenizer's special tokens
        tokenizer.unk_token = None
    model = open_model(saved(tmp_path / "some-model", tokenizer), device="cpu")
    options = ("Rome", UNKNOWN, "Paris")
    if kind in KNOWS_ALL:
        scored = tree.option_logprobs(model, [prompt(options=options)], use_cache=False)
        assert scored.frame["logprob"].notna().all() and scored.unknown == 0
        return
    message = rf"^fact f1 \('f1'\): option '{UNKNOWN}' has a token that \S*some-model does not know"
    with pytest.raises(BadInput, match=message):
        tree.option_logprobs(model, [prompt(options=options)], use_cache=False)
    with pytest.raises(BadInput, match=rf"^piece ' {UNKNOWN}' has a token that \S*some-model does"):
        tree.piece_logprobs(model, [["Rome", f" {UNKNOWN}"]], use_cache=False)


@pytest.mark.parametrize("kind", ["unigram", "unigram with bytes"])
def test_a_text_around_the_blank_that_the_model_does_not_know_is_counted_and_said(
    tmp_path, monkeypatch, capsys, kind
):
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    tokenizer = with_template(TOKENIZERS[kind](), "X A")
    tokenizer.unk_token = tokenizer.unk_token or "<unk>"
    model = open_model(saved(tmp_path / "m", tokenizer), device="cpu")
    texts = ("Italy Rome Spain", f"Italy Rome {UNKNOWN}", f"{UNKNOWN} Rome Spain")
    n = 0 if kind in KNOWS_ALL else 2
    for kept in (False, True):  # computed, and read from what is kept
        assert tree.option_logprobs(model, [prompt(t, fact=t) for t in texts]).unknown == n
        said = capsys.readouterr().err
        assert (f"does not know all of {n} of 3 texts" in said) == bool(n), kept
    generate.generate(model, texts, max_new_tokens=1, use_cache=False)
    tree.distributions(model, [texts], lambda logprobs, _: logprobs[:, 0])
    entries = progress.read_ledger(tmp_path / "ledger")
    assert [entry["unknown"] for entry in entries] == [n] * 4
    said = capsys.readouterr().err
    assert said.count(f"does not know all of {n} of 3 texts") == 2 * bool(n)


def test_the_unknown_token_in_front_of_a_text_is_no_unknown_text(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    # As OPT: one token is both, and comes in front of every text.
    tokenizer = with_template(cut.byte_level_bpe(), "X A")
    tokenizer.unk_token = "<x>"
    model = open_model(saved(tmp_path / "m", tokenizer), device="cpu")
    assert tree.option_logprobs(model, [prompt()], use_cache=False).unknown == 0
    generate.generate(model, ["Italy"], max_new_tokens=1, use_cache=False)
    tree.distributions(model, [["Italy"]], lambda logprobs, _: logprobs[:, 0])
    entries = progress.read_ledger(tmp_path / "ledger")
    assert [entry["unknown"] for entry in entries] == [0, 0, 0]


@pytest.mark.parametrize("kind", ["BERT", "T5"])
def test_models_that_fill_blanks_count_texts_that_they_do_not_know(kind):
    network, tokenizer = helpers.blank_filler(kind)
    model = helpers.model(
        network, tokenizer=tokenizer, kind="masked" if kind == "BERT" else "seq2seq"
    )
    score = {"BERT": masked, "T5": seq2seq}[kind].option_logprobs
    asked = [prompt("Italy Rome Spain"), prompt(f"Italy Rome {UNKNOWN}", fact="f2")]
    assert score(model, asked, use_cache=False).unknown == 1
