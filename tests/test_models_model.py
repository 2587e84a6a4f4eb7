"""Opening a model: what is accepted, what is refused in one line, and what is found out about it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import helpers
import pytest

from lkecore.errors import BadInput
from lkecore.models.loading import alike_up_to, shares_one_head
from lkecore.models.model import open_model
from lkecore.models.weights import files_digest


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
    assert "_loaded" not in m.__dict__ and m.load_seconds == 0
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    with torch.inference_mode():
        assert torch.equal(m.network(ids).logits, helpers.network()(ids).logits)
    assert m.tokenizer("Ke")["input_ids"] == helpers.char_tokenizer()("Ke")["input_ids"]
    assert (m.name, str(m.path), m.digest) == (llama, llama, files_digest(m.path))
    assert (m.dtype, m.device, m.context_length) == ("float32", "cpu", 256)
    assert not m.network.training and m.network is m.network
    rough = open_model(llama, dtype="bfloat16", device="cpu").network
    assert rough.dtype == torch.bfloat16


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


@pytest.mark.parametrize(
    ("kind", "changes", "one"),
    [
        ("Gemma3Text", {"num_attention_heads": 4, "num_key_value_heads": 1}, True),
        ("Gemma3Text", {"num_attention_heads": 1, "num_key_value_heads": 1}, False),
        ("Llama", {"num_attention_heads": 8, "num_key_value_heads": 2}, False),
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


@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "ALBERT", "DistilBERT", "T5", "T5 v1.1"])
@pytest.mark.parametrize("tied", ["as saved", "with copies"])
def test_models_that_fill_blanks_open_as_what_they_are(tmp_path, name, tied):
    from safetensors.torch import load_file, save_file

    network, tokenizer = helpers.blank_filler(name)
    folder = save(tmp_path, network, tokenizer)
    if tied == "with copies":  # as .bin weights become, where shared ones stand under each name
        weights = load_file(tmp_path / "model.safetensors")
        weights |= {k: v.clone() for k, v in network.state_dict().items()}
        save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    m = open_model(folder, device="cpu")
    assert m.kind == ("seq2seq" if name.startswith("T5") else "masked")
    assert type(m.network) is type(network) and same_logits(m.network, network)
    assert m.tokenizer("The capital")["input_ids"] == tokenizer("The capital")["input_ids"]


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


@pytest.mark.parametrize(
    ("kind", "length"),
    [("GPT2", 256), ("OPT", 256), ("Llama", 256), ("MPT", 256), ("BLOOM", None), ("BERT", 64),
     ("RoBERTa", 64), ("ALBERT", 64), ("DistilBERT", 64), ("T5", None)],
)  # fmt: skip
def test_a_window_is_as_long_as_what_the_network_takes_and_none_where_nothing_limits_it(
    tmp_path, kind, length
):
    """RoBERTa's config says 66 where it takes 64; T5's may name the length of its training, which is none."""
    changes = {"n_positions": 8} if kind == "T5" else {}
    made = helpers.BLANK_FILLERS.get(kind) and helpers.blank_filler(kind, **changes)
    network, tokenizer = made or (helpers.network(kind), helpers.char_tokenizer())
    m = open_model(save(tmp_path, network, tokenizer), device="cpu")
    assert m.context_length == length
    assert same_logits(m.network, network, length=length or 30)
    if length == 64:
        with pytest.raises((IndexError, RuntimeError)):
            same_logits(m.network, network, length=65)


# --- what is refused


@pytest.mark.parametrize(
    ("kind", "architecture", "changes"),
    [
        ("BERT", "BertForSequenceClassification", {}),
        ("T5", "T5EncoderModel", {}),
        ("BERT", "BertForMaskedLM", {"is_decoder": True}),  # it sees the left only
    ],
)
def test_what_is_no_language_model_is_refused_in_one_line(tmp_path, kind, architecture, changes):
    network, tokenizer = helpers.blank_filler(kind, architecture=architecture, **changes)
    message = f"^model {tmp_path}: {architecture} is no causal, masked or encoder-decoder [^\n]*$"
    with pytest.raises(BadInput, match=message):
        open_model(save(tmp_path, network, tokenizer))


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        ("Llama", "model.layers.1.mlp.up_proj.weight"),
        ("BERT", "bert.embeddings.word_embeddings.weight"),
        ("RoBERTa", "lm_head.bias"),
        ("T5", "shared.weight"),
        ("T5 v1.1", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
    ],
)
def test_a_model_that_lacks_a_weight_is_refused_and_not_filled_at_random(tmp_path, kind, gone):
    made = helpers.network(), helpers.char_tokenizer()
    network, tokenizer = made if kind == "Llama" else helpers.blank_filler(kind)
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


# --- what a config says otherwise than its weights


def configure(folder, without=(), **changes) -> str:
    """Change the config.json of a saved model."""
    path = Path(folder) / "config.json"
    config = {k: v for k, v in json.loads(path.read_text()).items() if k not in without}
    path.write_text(json.dumps(config | changes))
    return str(folder)


@pytest.fixture
def copy(llama, tmp_path):
    return Path(shutil.copytree(llama, tmp_path / "copy"))


@pytest.mark.parametrize(
    ("name", "changes", "kind", "taken"),
    [
        ("BERT", {}, "masked", "BertForMaskedLM"),
        ("T5", {}, "seq2seq", "T5ForConditionalGeneration"),
        ("BERT", {"architecture": "BertLMHeadModel", "is_decoder": True}, "causal", "BertLMHeadModel"),
    ],
)  # fmt: skip
def test_a_config_that_names_no_architecture_is_taken_by_its_type_and_said(
    tmp_path, capsys, name, changes, kind, taken
):
    network, tokenizer = helpers.blank_filler(name, **changes)
    folder = configure(save(tmp_path, network, tokenizer), without=["architectures"])
    capsys.readouterr()
    model = open_model(folder, device="cpu")
    assert model.kind == kind and same_logits(model.network, network)
    said = f"model {folder}: config.json names no architecture; by its model_type it is taken for a"
    assert capsys.readouterr().err == f"{said} {taken}\n"


def test_a_classifier_is_not_taken_for_the_model_that_its_embeddings_could_make(tmp_path):
    import transformers

    config = helpers.network("Qwen2", tie_word_embeddings=True).config
    network = transformers.Qwen2ForSequenceClassification(config)
    folder = save(tmp_path, network, helpers.char_tokenizer())
    with pytest.raises(BadInput, match="Qwen2ForSequenceClassification is no causal, masked or"):
        open_model(folder)
    model = open_model(configure(folder, without=["architectures"]), device="cpu")
    with pytest.raises(BadInput, match="a Qwen2ForCausalLM has not, such as score.weight$"):
        _ = model.network


def test_weights_quantized_in_a_way_that_transformers_skips_are_refused(copy):
    """It would warn, and read such weights without their scales."""
    folder = configure(copy, quantization_config={"quant_method": "modelopt"})
    with pytest.raises(BadInput, match="quantized by 'modelopt', which transformers cannot read$"):
        _ = open_model(folder, device="cpu").network


def test_quantized_weights_whose_library_is_here_have_the_numbers_that_pencil_gives(copy):
    import torch
    from safetensors.torch import load_file, save_file

    network, packed = helpers.network(), load_file(copy / "model.safetensors")
    plain = network.state_dict()
    for name in [name for name in packed if "proj" in name]:  # one block, one scale
        scale = packed[name].abs().max() / 448
        few = (packed[name] / scale).to(torch.float8_e4m3fn)
        plain[name] = few.float() * scale
        packed[name], packed[f"{name}_scale_inv"] = few, scale.reshape(1, 1)
    network.load_state_dict(plain)
    save_file(packed, copy / "model.safetensors", metadata={"format": "pt"})
    method = {
        "quant_method": "fp8",
        "weight_block_size": [128, 128],
        "activation_scheme": "dynamic",
    }
    model = open_model(configure(copy, quantization_config=method), device="cpu")
    assert same_logits(model.network, network) and not same_logits(network, helpers.network())


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation"])
def test_an_attention_that_scorers_cannot_mask_becomes_the_default_and_is_said(copy, capsys, key):
    value = "flash_attention_2"
    model = open_model(configure(copy, **{key: value}), device="cpu")
    assert same_logits(model.network, helpers.network())
    assert model.network.config._attn_implementation == "sdpa"
    said = f"model {copy}: its config.json asks for the attention {value}; it is loaded with the "
    assert capsys.readouterr().err == f"{said}default one\n"


def test_weights_of_another_shape_than_the_config_says_are_one_line(copy):
    model = open_model(configure(copy, vocab_size=20), device="cpu")
    message = (
        "has 2 weights of another shape than config.json says, such as lm_head.weight: "
        r"\(80, 32\) there, and \(20, 32\) by config.json$"
    )
    with pytest.raises(BadInput, match=message):
        _ = model.network


def test_layers_that_the_config_does_not_count_are_said(copy, capsys):
    model = open_model(configure(copy, num_hidden_layers=1), device="cpu")
    _ = model.network
    assert re.fullmatch(
        rf"model {copy}: {copy} has 9 weights of layers that its config.json does not count, such as "
        r"model.layers.1.[\w.]+; they are left out\n",
        capsys.readouterr().err,
    )


# --- token ids beyond the embedding


def test_a_tokenizer_of_another_network_is_refused_and_a_smaller_one_is_not(tmp_path):
    tokenizer = helpers.char_tokenizer()
    small, fits = (
        open_model(save(tmp_path / str(rows), helpers.network(vocab_size=rows), tokenizer))
        for rows in (20, 63)
    )
    with pytest.raises(BadInput, match="token '9' with the id 62, and its embedding has 20 rows"):
        _ = small.network
    assert len(tokenizer) == 64 and fits.network is not None  # BOS was added, and is not looked up


@pytest.mark.parametrize("kind", ["Llama", "T5"])
def test_a_token_that_was_added_beyond_the_embedding_is_refused_where_it_is_used(tmp_path, kind):
    import torch

    made = (helpers.network(vocab_size=64), helpers.char_tokenizer())
    network, tokenizer = made if kind == "Llama" else helpers.blank_filler(kind)
    rows = network.config.vocab_size
    tokenizer.add_tokens(["covid"])
    assert tokenizer.convert_tokens_to_ids("covid") == rows
    model = open_model(save(tmp_path, network, tokenizer), device="cpu")
    assert same_logits(model.network, network)
    few = torch.tensor([[3, 4]])
    more = {"decoder_input_ids": few} if kind == "T5" else {}
    message = f"the token 'covid' with the id {rows}, and its embedding has {rows} rows"
    with pytest.raises(BadInput, match=message):
        model.network(torch.tensor([[3, rows]]), **more)
    if kind == "T5":
        with pytest.raises(BadInput, match=message):
            model.network(few, decoder_input_ids=torch.tensor([[3, rows]]))


# --- what is no mistake of the user


def test_a_lack_of_memory_stays_what_it_is(llama, monkeypatch):
    import torch
    import transformers

    error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")

    def fails(*_, **__):
        raise error

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", fails)
    with pytest.raises(type(error)) as caught:
        _ = open_model(llama, device="cpu").network
    assert caught.value is error


# --- files that were cut or changed


def test_cut_weights_of_the_hub_say_which_folder_to_delete(llama, tmp_path):
    """The folder of links would not do: the client would find the cut file beside it."""
    top = tmp_path / "models--org--name"
    folder = top / "snapshots" / ("a" * 40)
    shutil.copytree(llama, folder)
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:500])
    model = open_model(str(folder), device="cpu")
    with pytest.raises(BadInput, match=rf"\); delete the folder {top} to fetch it anew$"):
        _ = model.network


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, 64),
        ({"rope_scaling": {"rope_type": "longrope", "original_max_position_embeddings": 9}}, 9),
        ({"rope_scaling": {"type": "su"}, "original_max_position_embeddings": 8}, 8),
        ({"rope_parameters": {"full_attention": {"rope_type": "dynamic"}, "sliding_attention": {}}}, 64),
        ({"text_config": {"max_position_embeddings": 7, "rope_scaling": {"type": "dynamic"}}}, 7),
        ({"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, None),
        ({"rope_parameters": {"rope_type": "longrope", "short_factor": [2], "long_factor": [2]}}, None),
        ({"quantization_config": {"type": "dynamic"}}, None),
    ],
)  # fmt: skip
def test_a_rope_that_depends_on_the_length_of_a_text_is_known_in_all_its_spellings(settings, most):
    written = {"max_position_embeddings": 64} | settings
    assert alike_up_to(SimpleNamespace(to_dict=lambda: written)) == most


def test_an_encoder_whose_rope_depends_on_the_length_of_a_text_is_refused(tmp_path):
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    kinds = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}, {"rope_theta": 1e4}
    rope = dict(zip(("full_attention", "sliding_attention"), kinds, strict=True))
    size = dict(vocab_size=200, hidden_size=16, intermediate_size=16, num_hidden_layers=2)
    ids = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id"), 0)
    config = ModernBertConfig(
        **size, **ids, num_attention_heads=2, sep_token_id=0, rope_parameters=rope
    )
    ModernBertForMaskedLM(config).save_pretrained(tmp_path)
    helpers.char_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(BadInput, match="reads long texts by other rotary angles than short ones"):
        _ = open_model(str(tmp_path), device="cpu").network
