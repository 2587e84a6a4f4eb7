"""Opening a model: what is accepted, what is refused in one line, and what is found out about it."""

import os
import shutil

import helpers
import pytest

from lkecore.models import open_model
from lkecore.rows import BadInput
from lkecore.weights import files_digest, locate


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


def test_the_toy_opens_without_bos():
    m = open_model("toy", device="cpu")
    assert (m.name, m.add_bos, m.context_length) == ("toy", False, 4096)
    assert open_model("toy", device="cpu").digest == m.digest
    assert "tokenizer" not in repr(m)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_dtype_is_that_of_the_network(llama, dtype):
    assert str(open_model(llama, dtype=dtype, device="cpu").network.dtype) == f"torch.{dtype}"


def test_the_device_auto_leaves_the_choice_to_accelerate(llama):
    m = open_model(llama, device="auto")
    assert m.device == "auto" and m.network.device.type in ("cpu", "cuda", "mps")


# --- what is found out


@pytest.mark.parametrize("adds", [True, False])
def test_the_bos_policy_is_what_the_tokenizer_does_by_itself(tmp_path, adds):
    from tokenizers.processors import TemplateProcessing

    tokenizer = helpers.char_tokenizer()
    if adds:
        bos = (helpers.BOS, tokenizer.bos_token_id)
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=f"{helpers.BOS} $A", special_tokens=[bos]
        )
    m = open_model(save(tmp_path, helpers.network(), tokenizer), device="cpu")
    assert m.tokenizer.bos_token == helpers.BOS and m.add_bos is adds


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


@pytest.mark.parametrize("kind", ["BERT", "T5"])
def test_what_is_no_causal_language_model_is_refused_in_one_line(tmp_path, kind):
    import transformers

    sizes = dict(vocab_size=helpers.VOCABULARY, num_attention_heads=4)
    if kind == "BERT":  # transformers would load it as a decoder, with a warning in the log
        config = transformers.BertConfig(
            **sizes, hidden_size=32, intermediate_size=32, num_hidden_layers=1
        )
        network, name = transformers.BertForMaskedLM(config), "BertForMaskedLM"
    else:
        config = transformers.T5Config(
            vocab_size=helpers.VOCABULARY, d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4
        )
        network, name = (
            transformers.T5ForConditionalGeneration(config),
            "T5ForConditionalGeneration",
        )
    message = f"^model {tmp_path}: {name} is no causal language model; only those can be asked.*$"
    with pytest.raises(BadInput, match=message):
        open_model(save(tmp_path, network, helpers.char_tokenizer()))


def test_a_config_that_names_no_architecture_is_refused(tmp_path):
    folder = save(tmp_path, helpers.network(), helpers.char_tokenizer())
    network = helpers.network()
    network.config.architectures = None
    network.config.save_pretrained(folder)
    with pytest.raises(BadInput, match="llama is no causal language model"):
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
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "model"
    shutil.copytree(locate("toy"), folder)
    weights = load_file(folder / "model.safetensors")
    gone = "model.layers.1.mlp.up_proj.weight"
    del weights[gone]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInput, match=f"lacks 1 weights, such as {gone}"):
        _ = open_model(str(folder)).network


def test_the_environment_names_the_device_where_nobody_else_does(monkeypatch):
    monkeypatch.setenv("LKE_DEVICE", "auto")
    assert open_model("toy").device == "auto"
    assert open_model("toy", device="cpu").device == "cpu"
