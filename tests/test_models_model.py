"""Opening a model: what is accepted, what is refused in one line, and what is found out about it."""

import json
import os
import shutil
import subprocess
import sys

import helpers
import pytest

from lkecore.errors import BadInput
from lkecore.models.model import open_model, shares_one_head
from lkecore.models.weights import files_digest, locate


def save(folder, network, tokenizer=None):
    network.save_pretrained(folder)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    return save(folder, helpers.network(), helpers.char_tokenizer())


# --- what can be opened


def test_a_local_folder_opens_and_gives_equal_logits(llama):
    import torch

    m = open_model(llama, device="cpu")
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    with torch.inference_mode():
        assert torch.equal(m.network(ids).logits, helpers.network()(ids).logits)
    assert m.tokenizer("Ke")["input_ids"] == helpers.char_tokenizer()("Ke")["input_ids"]
    assert (m.name, str(m.path), m.digest) == (llama, llama, files_digest(m.path))
    assert (m.dtype, m.device, m.context_length) == ("float32", "cpu", 256)
    assert not m.network.training


def test_weights_are_loaded_once_and_only_when_they_are_needed(llama):
    m = open_model(llama, device="cpu")
    assert "_loaded" not in m.__dict__ and m.load_seconds == 0
    assert m.network is m.network
    assert m.load_seconds > 0


ASKS = """
import sys
from lkecore import answers, facts, prompts
sample = facts.draw("atlas", ["capital", "currency"], n_shots=2, n_facts=3, n_options=4, seed=77)
found = answers.ask(["toy"], prompts.of_sample(sample, ["iclke-space"]), "answers.parquet")
confidences = found["confidence"].tolist()
loaded = {"transformers.modeling_utils", "transformers.models.llama.modeling_llama"} & set(sys.modules)
"""


def test_a_model_whose_answers_are_all_kept_imports_no_code_of_networks():
    """A process of its own has imported nothing before."""
    here: dict = {}
    exec(ASKS, here)  # from now on the answers are kept
    assert open_model("toy").network is not None
    command = [sys.executable, "-c", f"{ASKS}print(confidences, loaded)"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == f"{here['confidences']} set()\n", done.stderr
    exec(ASKS, here)
    assert len(here["loaded"]) == 2  # these names are still those of the code of its network


def test_the_toy_opens_without_bos():
    m = open_model("toy", device="cpu")
    assert (m.name, m.front, m.context_length) == ("toy", (), 4096)
    assert open_model("toy", device="cpu").digest == m.digest
    assert "tokenizer" not in repr(m)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_dtype_is_that_of_the_network(llama, dtype):
    assert str(open_model(llama, dtype=dtype, device="cpu").network.dtype) == f"torch.{dtype}"


def test_the_device_auto_leaves_the_choice_to_accelerate(llama):
    m = open_model(llama, device="auto")
    assert m.device == "auto" and m.network.device.type in ("cpu", "cuda", "mps")


@pytest.mark.parametrize(
    ("kind", "changes", "one"),
    [
        ("Gemma3Text", {"num_attention_heads": 4, "num_key_value_heads": 1}, True),
        ("Gemma3Text", {"num_attention_heads": 1, "num_key_value_heads": 1}, False),
        ("Llama", {"num_attention_heads": 8, "num_key_value_heads": 2}, False),
        ("GPT2", {}, False),
        ("GPTBigCode", {"multi_query": True}, True),
        ("GPTBigCode", {"multi_query": False}, False),
    ],
)
def test_networks_whose_heads_share_one_head_of_keys_are_known(kind, changes, one):
    import transformers

    assert shares_one_head(getattr(transformers, f"{kind}Config")(**changes)) == one


def test_on_a_cpu_shared_heads_keep_the_fast_attention_and_on_cuda_they_do_not(
    tmp_path, monkeypatch
):
    """No GPU is needed to see which attention is taken: a network may say that it lies on one."""
    import torch

    network = helpers.network("Gemma3 with a window", num_key_value_heads=1)
    folder = save(tmp_path / "one", network, helpers.char_tokenizer())
    assert open_model(folder, device="cpu").network.config._attn_implementation == "sdpa"
    monkeypatch.setattr(type(network), "device", torch.device("cuda"))
    assert open_model(folder, device="cpu").network.config._attn_implementation == "eager"
    other = save(tmp_path / "two", helpers.network("Gemma3 with a window"))
    helpers.char_tokenizer().save_pretrained(other)
    assert open_model(other, device="cpu").network.config._attn_implementation == "sdpa"


def same_logits(one, other, length=5) -> bool:
    """Whether two networks give equal logits for tokens without meaning."""
    import torch

    ids = 6 + torch.arange(length)[None] % 20
    more = {"decoder_input_ids": ids} if one.config.is_encoder_decoder else {}
    with torch.inference_mode():
        return torch.equal(one(ids, **more).logits, other(ids, **more).logits)


def as_published(folder, *, tied: bool) -> None:
    """Write a T5's config as the hub has it: tie_word_embeddings alone says which T5 it is."""
    config = json.loads((folder / "config.json").read_text())
    config.pop("scale_decoder_outputs", None)  # umT5 has none
    config["tie_word_embeddings"] = tied
    (folder / "config.json").write_text(json.dumps(config))


def remove(folder, weight: str) -> None:
    """Take one tensor out of a saved model."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights[weight]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


FILLERS = [
    ("BERT", "masked"),
    ("RoBERTa", "masked"),
    ("ALBERT", "masked"),
    ("DistilBERT", "masked"),
    ("T5", "seq2seq"),
    ("T5 v1.1", "seq2seq"),
]


@pytest.mark.parametrize(("name", "kind"), FILLERS)
@pytest.mark.parametrize("tied", ["as saved", "with copies"])
def test_models_that_fill_blanks_open_as_what_they_are(tmp_path, name, kind, tied):
    from safetensors.torch import load_file, save_file

    network, tokenizer = helpers.blank_filler(name)
    folder = save(tmp_path, network, tokenizer)
    if tied == "with copies":  # as .bin weights become, where shared ones stand under each name
        weights = load_file(tmp_path / "model.safetensors")
        weights |= {k: v.clone() for k, v in network.state_dict().items()}
        save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    m = open_model(folder, device="cpu")
    assert m.kind == kind
    assert type(m.network) is type(network) and same_logits(m.network, network)
    assert m.tokenizer("The capital")["input_ids"] == tokenizer("The capital")["input_ids"]


@pytest.mark.parametrize("name", ["BERT", "ALBERT"])
def test_a_model_with_the_second_head_of_its_pretraining_opens_without_it(tmp_path, name):
    import torch

    architecture = {"BERT": "BertForPreTraining", "ALBERT": "AlbertForPreTraining"}[name]
    network, tokenizer = helpers.blank_filler(name, architecture=architecture)
    m = open_model(save(tmp_path, network, tokenizer), device="cpu")
    ids = torch.tensor([[7, 8, 9]])
    with torch.inference_mode():
        assert m.kind == "masked"
        assert torch.equal(m.network(ids).logits, network(ids).prediction_logits)


def test_a_bert_with_the_oldest_names_of_its_weights_opens(tmp_path):
    from safetensors.torch import load_file, save_file

    network, tokenizer = helpers.blank_filler("BERT")
    folder = save(tmp_path, network, tokenizer)
    weights = load_file(tmp_path / "model.safetensors")
    for new, old in (("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta")):
        weights = {name.replace(new, old): tensor for name, tensor in weights.items()}
    assert any("gamma" in name for name in weights)
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert same_logits(open_model(folder, device="cpu").network, network)


def test_an_old_config_of_t5_keeps_its_two_ways_to_scale(tmp_path):
    for name, tied in (("T5", True), ("T5 v1.1", False)):
        network, tokenizer = helpers.blank_filler(name)
        folder = save(tmp_path / name, network, tokenizer)
        as_published(tmp_path / name, tied=tied)
        assert same_logits(open_model(folder, device="cpu").network, network)


# --- what is found out


@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "ALBERT", "DistilBERT"])
def test_the_window_of_a_masked_model_is_as_long_as_what_its_network_takes(tmp_path, name):
    network, tokenizer = helpers.blank_filler(name)
    m = open_model(save(tmp_path, network, tokenizer), device="cpu")
    assert m.context_length == 64  # RoBERTa's config says 66
    assert same_logits(m.network, network, length=64)
    with pytest.raises((IndexError, RuntimeError)):
        same_logits(m.network, network, length=65)


def test_t5_has_no_window_even_where_its_config_names_a_training_length(tmp_path):
    network, tokenizer = helpers.blank_filler("T5", n_positions=8)
    m = open_model(save(tmp_path, network, tokenizer), device="cpu")
    assert m.context_length is None
    assert same_logits(m.network, network, length=30)


@pytest.mark.parametrize("adds", [True, False])
def test_what_comes_in_front_is_what_the_tokenizer_does_by_itself(tmp_path, adds):
    from tokenizers.processors import TemplateProcessing

    tokenizer = helpers.char_tokenizer()
    if adds:
        bos = (helpers.BOS, tokenizer.bos_token_id)
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=f"{helpers.BOS} $A", special_tokens=[bos]
        )
    m = open_model(save(tmp_path, helpers.network(), tokenizer), device="cpu")
    assert m.tokenizer.bos_token == helpers.BOS and m.front == (m.tokenizer.bos_token_id,) * adds


@pytest.mark.parametrize(
    ("kind", "length"), [("GPT2", 256), ("OPT", 256), ("Llama", 256), ("MPT", 256), ("BLOOM", None)]
)
def test_the_context_length_is_that_of_the_config_and_none_where_nothing_limits_it(
    tmp_path, kind, length
):
    m = open_model(save(tmp_path, helpers.network(kind), helpers.char_tokenizer()), device="cpu")
    assert m.context_length == length


# --- what is refused


def test_an_unknown_model_is_refused_with_the_nearest():
    with pytest.raises(BadInput, match="unknown model 'tooy'.*nearest: toy"):
        open_model("tooy")


def test_an_unknown_dtype_is_refused(llama):
    message = "unknown dtype 'float64': must be one of float32, bfloat16, float16"
    with pytest.raises(BadInput, match=message):
        open_model(llama, dtype="float64")


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "cpu:x"])
def test_an_unusable_device_is_refused_in_one_line(llama, device):
    with pytest.raises(BadInput, match=rf"^device '{device}' cannot be used here \(.*\)$"):
        open_model(llama, device=device)


def test_a_folder_without_config_is_refused(tmp_path):
    with pytest.raises(BadInput, match=f"model {tmp_path}: no readable config.json in"):
        open_model(str(tmp_path))


def test_a_folder_without_tokenizer_is_refused(tmp_path):
    with pytest.raises(BadInput, match=f"^model {tmp_path}: no readable tokenizer in [^\n]*$"):
        open_model(save(tmp_path, helpers.network()))


def test_pickled_weights_are_refused(tmp_path):
    import torch

    folder = save(tmp_path, helpers.network(), helpers.char_tokenizer())
    os.remove(tmp_path / "model.safetensors")
    torch.save(helpers.network().state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(BadInput, match="has no .safetensors weights, and no others are read"):
        open_model(folder)


@pytest.mark.parametrize(
    ("kind", "architecture"),
    [
        ("BERT", "BertModel"),
        ("BERT", "BertForSequenceClassification"),
        ("RoBERTa", "RobertaForTokenClassification"),
        ("T5", "T5Model"),
        ("T5", "T5EncoderModel"),
    ],
)
def test_what_is_no_language_model_is_refused_in_one_line(tmp_path, kind, architecture):
    network, tokenizer = helpers.blank_filler(kind, architecture=architecture)
    message = f"^model {tmp_path}: {architecture} is no causal, masked or encoder-decoder [^\n]*$"
    with pytest.raises(BadInput, match=message):
        open_model(save(tmp_path, network, tokenizer))


def test_a_masked_model_that_sees_the_left_only_is_refused(tmp_path):
    network, tokenizer = helpers.blank_filler("BERT", is_decoder=True)
    with pytest.raises(BadInput, match="BertForMaskedLM is no causal, masked or encoder-decoder"):
        open_model(save(tmp_path, network, tokenizer))


@pytest.mark.parametrize("kind", ["BERT", "RoBERTa", "ALBERT", "DistilBERT"])
def test_an_encoder_that_calls_itself_a_masked_model_is_refused(tmp_path, kind):
    whole, tokenizer = helpers.blank_filler(kind)
    folder = save(tmp_path, whole.base_model, tokenizer)
    whole.config.architectures = [type(whole).__name__]
    whole.config.save_pretrained(folder)
    model = open_model(folder, device="cpu")
    with pytest.raises(
        BadInput, match=rf"^model {tmp_path}: {tmp_path} lacks \d+ weights, such as"
    ):
        _ = model.network


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        ("BERT", "cls.predictions.bias"),
        ("BERT", "bert.embeddings.word_embeddings.weight"),
        ("RoBERTa", "lm_head.bias"),
        ("RoBERTa", "lm_head.dense.weight"),
        ("ALBERT", "predictions.dense.bias"),
        ("DistilBERT", "vocab_projector.bias"),
        ("DistilBERT", "vocab_layer_norm.weight"),
        ("T5", "shared.weight"),
        ("T5", "decoder.block.0.layer.1.EncDecAttention.q.weight"),
        ("T5 v1.1", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
    ],
)
def test_a_blank_filler_that_lacks_a_weight_is_refused(tmp_path, kind, gone):
    network, tokenizer = helpers.blank_filler(kind)
    model = open_model(save(tmp_path, network, tokenizer), device="cpu")
    remove(tmp_path, gone)
    with pytest.raises(BadInput, match=r"lacks \d weights, such as"):
        _ = model.network


def test_an_untied_umt5_is_refused_since_its_outputs_would_be_scaled_as_those_of_a_tied_one(
    tmp_path,
):
    network, tokenizer = helpers.blank_filler(
        "T5 v1.1", architecture="UMT5ForConditionalGeneration"
    )
    model = open_model(save(tmp_path, network, tokenizer), device="cpu")
    as_published(tmp_path, tied=False)
    with pytest.raises(BadInput, match="transformers scales an umT5 with two layers wrongly"):
        _ = model.network


@pytest.mark.parametrize("gone", ["shared.weight", "lm_head.weight"])
def test_an_untied_t5_that_lacks_one_end_is_not_given_the_other(tmp_path, gone):
    network, tokenizer = helpers.blank_filler("T5 v1.1")
    folder = save(tmp_path, network, tokenizer)
    as_published(tmp_path, tied=False)
    model = open_model(folder, device="cpu")
    remove(tmp_path, gone)
    with pytest.raises(BadInput, match="lacks the weights of its input or of its output layer"):
        _ = model.network


def test_a_config_that_names_no_architecture_is_refused(tmp_path):
    folder = save(tmp_path, helpers.network(), helpers.char_tokenizer())
    network = helpers.network()
    network.config.architectures = None
    network.config.save_pretrained(folder)
    with pytest.raises(BadInput, match="llama is no causal, masked or"):
        open_model(folder)


def test_a_truncated_weight_file_is_one_line(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(locate("toy"), folder)
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    opened = open_model(str(folder))
    with pytest.raises(BadInput, match="cannot be loaded"):
        _ = opened.network


def test_a_model_that_lacks_a_weight_is_refused_and_not_filled_at_random(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(locate("toy"), folder)
    gone = "model.layers.1.mlp.up_proj.weight"
    remove(folder, gone)
    with pytest.raises(BadInput, match=f"lacks 1 weights, such as {gone}"):
        _ = open_model(str(folder)).network


def test_the_environment_names_the_device_where_nobody_else_does(monkeypatch):
    monkeypatch.setenv("LKE_DEVICE", "auto")
    assert open_model("toy").device == "auto"
    assert open_model("toy", device="cpu").device == "cpu"
