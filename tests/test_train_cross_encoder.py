"""Cross-encoders: transformers' sequence classifiers, the scorer and torch are the witnesses."""

import math

import helpers
import numpy as np
import pytest
import torch
import transformers

from lkecore.errors import BadInput
from lkecore.scores import tree
from lkecore.train import cross_encoder, text
from lkecore.train.cross_encoder import encode, fresh, infonce, rank, similarities, train
from lkecore.train.finetune import Recipe

PAIRS = [
    ("The capital of France", ["Paris is the capital of France", "Rome", "New York is the has"]),
    ("Italy", ["Rome is the capital of Italy.", "the capital"]),
]
DECODERS = ["Llama", "GPT2", "OPT", "BLOOM", "Mistral with a window"]


def decoder(kind="Llama", *, tokenizer=None, add_bos=True, **changes):
    return helpers.model(
        helpers.network(kind, **changes), tokenizer=tokenizer, add_bos=add_bos, context_length=256
    )


def masked(kind="BERT"):
    network, tokenizer = helpers.blank_filler(kind)
    return helpers.model(network, tokenizer=tokenizer, kind="masked", context_length=64)


def flat(values):
    return np.concatenate(values)


class First(torch.nn.Module):
    """In the place of a pooler: the first token as it is."""

    def forward(self, hidden):
        return hidden[:, 0]


@pytest.mark.parametrize("kind", DECODERS)
def test_the_value_head_of_a_decoder_is_the_sequence_classifier_of_transformers(kind):
    # Another width behind the last layer than within, as OPT 350M has.
    model = decoder(kind, **({"word_embed_proj_dim": 16} if kind == "OPT" else {}))
    encoder = fresh(model, "value", 3)
    config = type(model.network.config)(**model.network.config.to_dict() | {"num_labels": 1})
    theirs = transformers.AutoModelForSequenceClassification.from_config(config).eval()
    theirs.base_model.load_state_dict(model.network.base_model.state_dict())
    theirs.score = encoder.head
    wanted = []
    for query, documents in PAIRS:
        for document in documents:  # one by one: nothing is padded
            ids = model.tokenizer(f"{query} {document}")["input_ids"]
            with torch.no_grad():
                wanted.append(theirs(torch.tensor([[*model.front, *ids]])).logits.item())
    assert np.ptp(wanted) > 0.1
    # Float32, sums of some dozens of terms.
    np.testing.assert_allclose(flat(rank(encoder, PAIRS)), wanted, atol=2e-5)


@pytest.mark.parametrize("kind", ["BERT", "RoBERTa"])
def test_the_value_head_of_a_masked_model_is_the_sequence_classifier_of_transformers(kind):
    model = masked(kind)
    encoder = fresh(model, "value", 3)
    config = type(model.network.config)(**model.network.config.to_dict() | {"num_labels": 1})
    theirs = transformers.AutoModelForSequenceClassification.from_config(config).eval()
    theirs.base_model.load_state_dict(model.network.base_model.state_dict(), strict=False)
    if kind == "BERT":
        theirs.bert.pooler, theirs.classifier = First(), encoder.head
    else:
        theirs.classifier = torch.nn.Sequential(First(), encoder.head)
    wanted = []
    for query, documents in PAIRS:
        for document in documents:
            given = model.tokenizer(query, document, return_tensors="pt")
            with torch.no_grad():
                wanted.append(theirs(**given).logits.item())
    assert np.ptp(wanted) > 0.1
    np.testing.assert_allclose(flat(rank(encoder, PAIRS)), wanted, atol=2e-5)


@pytest.mark.parametrize("kind", DECODERS)
def test_the_likelihood_head_before_training_is_what_the_scorer_says(kind):
    # A token may reach from the query into the document.
    tokenizer = helpers.bpe_tokenizer([("e", "P"), ("t", "h"), ("y", "R")], bos_token="Z")
    for model in (decoder(kind), decoder(kind, tokenizer=tokenizer, add_bos=False)):
        asked = [
            helpers.prompt(query, [f" {d}" for d in documents], fact=query)
            for query, documents in PAIRS
        ]
        wanted = tree.option_logprobs(model, asked, use_cache=False).frame["logprob"]
        found = flat(rank(fresh(model, "likelihood", 0), PAIRS))
        np.testing.assert_allclose(found, wanted, atol=1e-4)  # as the scorer's own tests


def test_a_document_begins_where_a_token_holds_some_of_it():
    tokenizer = helpers.bpe_tokenizer([("e", "P")])  # it drops spaces, so that these two meet
    [row] = encode(decoder(tokenizer=tokenizer, add_bos=False), [("The", ["Par"])])
    assert tokenizer.convert_ids_to_tokens(row.ids) == ["T", "h", "eP", "a", "r"] and row.start == 2


def test_a_pair_without_a_template_of_its_own_gets_the_special_tokens_of_two_texts():
    tokenizer = text.train_tokenizer(["Ann is here. Bo is there."] * 3, "masked")
    own = tokenizer("Ann", add_special_tokens=False)["input_ids"]
    other = tokenizer("Bo is", add_special_tokens=False)["input_ids"]
    model = helpers.model(tokenizer=tokenizer, kind="masked")
    assert tokenizer("Ann", "Bo is")["input_ids"] == own + other  # the reason
    begin, end = tokenizer.convert_tokens_to_ids(["<s>", "</s>"])
    [row] = encode(model, [("Ann", ["Bo is"])])
    assert row.ids == [begin, *own, end, *other, end]


@pytest.mark.parametrize("head", cross_encoder.HEADS)
def test_neither_padding_nor_company_changes_a_similarity(head, monkeypatch):
    pairs = PAIRS[::-1]  # sorted by length, they are in an order that is not its own inverse
    for model in (decoder(), *([masked("RoBERTa")] if head == "value" else [])):
        encoder = fresh(model, head, 0)
        rows = encode(model, pairs)
        alone = [similarities(encoder, [row]).item() for row in rows]
        assert len({len(row.ids) for row in rows}) > 2
        for n in (1, 2, 64):
            monkeypatch.setattr(cross_encoder, "TOGETHER", n)
            found = rank(encoder, pairs)
            assert [len(each) for each in found] == [2, 3]
            np.testing.assert_allclose(flat(found), alone, rtol=1e-5, atol=2e-5)
    assert rank(encoder, []) == []


def test_infonce_is_the_cross_entropy_of_torch_over_the_documents_of_each_query():
    values = torch.randn(12, generator=torch.Generator().manual_seed(0)) * 30
    parts = values.split([4, 4, 4])
    wanted = torch.nn.functional.cross_entropy(torch.stack(parts), torch.zeros(3, dtype=int))
    assert infonce(values, [4, 4, 4]).item() == pytest.approx(wanted.item(), rel=1e-6)
    # By hand: odds of 1 in 3, and of 1 in 1 + 3.
    odds = torch.tensor([1.0, 2.0, 1.0, 3.0]).log()
    assert infonce(odds, [2, 2]).item() == pytest.approx((math.log(3) + math.log(4)) / 2)


# --- training -------------------------------------------------------------------------------------

RECIPE = Recipe(rate=3e-3, steps=12, batch=2, every=4)


def batches(step):
    """The two queries, the second's documents as many as the step says."""
    return [PAIRS[0], (PAIRS[1][0], [*PAIRS[1][1], *["has Par"] * (step % 2)])]


def state(network):
    return {name: p.detach().clone() for name, p in network.named_parameters()}


def equal(one, two):
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize(
    ("head", "make"), [("value", decoder), ("value", masked), ("likelihood", decoder)]
)
def test_training_changes_a_copy_and_is_the_same_again(head, make, tmp_path):
    model = make()
    before = state(model.network)
    start = infonce(similarities(fresh(model, head, 5), encode(model, PAIRS)), [3, 2]).item()

    def run(folder, seed=5):
        return train(model, head, batches, RECIPE, folder, seed=seed, data="toy")

    encoder, result = run(tmp_path / "whole")
    assert result.losses[0] == pytest.approx(start, rel=1e-5)  # of the same pairs
    assert result.losses[-1] < result.losses[0] / 2
    assert equal(before, state(model.network))
    assert all(p.grad is None for p in model.network.parameters())

    again, same = run(tmp_path / "again")
    assert same == result and equal(again.parameters(), encoder.parameters())
    with pytest.raises(BadInput, match=f"its what is model toy model 0+, head {head}, seed 5"):
        run(tmp_path / "whole", seed=6)


def test_every_weight_behind_a_similarity_learns(tmp_path):
    model = decoder()
    encoder, _ = train(model, "value", batches, RECIPE, tmp_path, seed=0, data="toy")
    start = fresh(model, "value", 0).parameters()
    still = [name for name, p in encoder.parameters().items() if torch.equal(p, start[name])]
    assert still == [] and "lm_head.weight" not in start
    ranks = rank(encoder, PAIRS)
    assert [values.argmax() for values in ranks] == [0, 0]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "head", "why"),
    [
        ({"kind": "masked"}, "likelihood", "is masked: the head likelihood is for decoders alone"),
        ({"kind": "seq2seq"}, "value", "the head value is for decoders and masked models"),
        ({"dtype": "bfloat16"}, "value", "is in bfloat16 on cpu: it is trained in float32 alone"),
        ({"device": "auto"}, "value", "is in float32 on auto: .* on one device"),
    ],
)
def test_a_model_that_cannot_be_trained_so_is_one_line_before_it_is_loaded(model, head, why):
    with pytest.raises(BadInput, match=why):
        fresh(helpers.model(**model), head, 0)


def test_a_pair_that_cannot_be_read_is_one_line():
    with pytest.raises(BadInput, match="query 'Italy' and document 'a+': 307 tokens are more than"):
        encode(decoder(), [("Italy", ["Rome", "a" * 300])])
    with pytest.raises(BadInput, match="query 'Italy' has no documents, or an empty one"):
        encode(decoder(), [("Italy", ["Rome", " "])])
    fits = encode(decoder(), [("a" * 127, ["b" * 127])])
    assert len(fits[0].ids) == 256  # with the space and the token in front
