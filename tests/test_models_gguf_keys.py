"""GGUF files say more than transformers reads: read right, or refused by name."""

import json
import math
import re
from pathlib import Path

import helpers
import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import Gemma3TextConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from lkecore.errors import BadInput
from lkecore.models import convert, gguf_keys, open_model

TOY = {"general.architecture": "llama", "llama.block_count": 2, "llama.rope.freq_base": 1e4}
CONFIG = LlamaConfig(hidden_size=64, num_attention_heads=4, num_hidden_layers=2)
GEMMA = Gemma3TextConfig(hidden_size=64, head_dim=32, query_pre_attn_scalar=64)


def check(more, config=CONFIG):
    said = TOY | more
    gguf_keys.check_config(Path("m.gguf"), said, config)
    return gguf_keys.rope_of(Path("m.gguf"), said, None, config)


@pytest.mark.parametrize(
    "more",
    [
        {"llama.attention.scale": 0.1},
        {"llama.rope.scaling.type": "longrope"},
        {"llama.rope.freq_base": 5e5},
        {"llama.rope.dimension_count": 8},  # of 16 to a head
        {"llama.expert_count": 8},
        {"qwen2.block_count": 2},
        {"general.type": "adapter"},
        {"tokenizer.ggml.precompiled_charsmap": 9},
    ],
    ids=lambda more: ", ".join(more),
)
def test_a_key_that_the_config_does_not_hold_is_refused_by_its_name(more):
    with pytest.raises(BadInput, match=rf"^m.gguf: the key {next(iter(more))} = .*safetensors$"):
        check(more)


def test_keys_that_the_config_holds_or_that_change_no_number_pass():
    assert (
        check(
            {
                "llama.attention.key_length": 16,
                "llama.attention.layer_norm_rms_epsilon": float(np.float32(1e-6)),
                "llama.expert_count": 0,
                "llama.rope.scaling.type": "none",
                "llama.rope.scaling.factor": 8.0,
                "llama.rope.scaling.original_context_length": 64,
                "general.license": "mit",
            }
        )
        is None
    )


def test_what_gemma_3_of_4b_and_27b_scale_is_refused():
    said = {"general.architecture": "gemma3"}
    for more in ({"gemma3.attention.key_length": 32}, {"gemma3.rope.scaling.factor": 8.0}):
        [key] = more
        with pytest.raises(BadInput, match=f"the key {key} = "):
            gguf_keys.check_config(Path("m.gguf"), said | more, GEMMA)
            gguf_keys.rope_of(Path("m.gguf"), said | more, None, GEMMA)
    same = {"gemma3.rope.freq_base": 1e6, "gemma3.rope.freq_base_swa": 1e4}
    gguf_keys.check_config(Path("m.gguf"), said | same, GEMMA)


def divisors(theta, width=16):
    """Those of Llama 3.1, of texts of 128 tokens before, by the pencil."""
    found = []
    for i in range(0, width, 2):
        wave = 2 * math.pi * theta ** (i / width)
        smooth = (128 / wave - 1) / (4 - 1)
        between = 1 / ((1 - smooth) / 8 + smooth)
        found.append(1.0 if wave < 128 / 4 else 8.0 if wave > 128 else between)
    return np.array(found, dtype=np.float32)


def linear(writer):
    import gguf

    writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    writer.add_rope_scaling_factor(4.0)


LLAMA_3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 128,
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "rope"),
    [
        (
            lambda w: w.add_float32("llama.rope.scale_linear", 4.0),
            {"rope_type": "linear", "factor": 4.0},
        ),
        (linear, {"rope_type": "linear", "factor": 4.0}),
        (lambda w: w.add_tensor("rope_freqs.weight", divisors(1e4)), LLAMA_3),
    ],
    ids=["scale_linear", "linear", "rope_freqs"],
)
def test_positions_that_a_file_scales_are_scaled(more, rope, tmp_path):
    toy = open_model("toy")
    helpers.write_gguf(tmp_path / "m.gguf", toy.network, toy.tokenizer, more)
    read = open_model(str(tmp_path / "m.gguf")).network
    config = LlamaConfig(
        **toy.network.config.to_dict() | {"rope_parameters": rope | {"rope_theta": 1e4}}
    )
    wanted = LlamaForCausalLM(config).eval()
    wanted.load_state_dict(toy.network.state_dict())
    ids = torch.arange(300)[None]
    with torch.inference_mode():
        a, b, unscaled = (net(ids).logits for net in (read, wanted, toy.network))
    torch.testing.assert_close(a, b, rtol=0, atol=1e-4)
    assert (a - unscaled).abs().max() > 0.1


def test_a_tensor_that_is_no_weight_of_the_network_is_refused_by_its_name(tmp_path):
    toy = open_model("toy")
    file, name = tmp_path / "m.gguf", "rope_factors_long.weight"
    more = np.ones(8, dtype=np.float32)
    helpers.write_gguf(file, toy.network, toy.tokenizer, lambda w: w.add_tensor(name, more))
    with pytest.raises(BadInput, match=f"^{file}: the tensor {name} is not read"):
        open_model(str(file))


def test_a_tokenizer_of_llama_3_takes_whole_words_and_begins_texts_as_llama_cpp_has_it(tmp_path):
    toy = open_model("toy")
    rules = json.loads(toy.tokenizer.backend_tokenizer.to_str())
    rules["model"]["merges"] = rules["model"]["merges"][:1]  # of which no word comes
    bare = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(rules)))
    word = next(w for w in bare.get_vocab() if re.fullmatch("[a-z]{4,}", w))
    for pre, ids in (
        ("llama-bpe", [0, bare.get_vocab()[word]]),
        ("gpt-2", bare(word)["input_ids"]),
    ):
        file = tmp_path / f"{pre}.gguf"
        helpers.write_gguf(file, toy.network, bare, lambda w: w.add_bos_token_id(0), pre=pre)
        assert open_model(str(file)).tokenizer(word)["input_ids"] == ids


@pytest.mark.parametrize(
    ("more", "pre", "said"),
    [
        (lambda w: None, "deepseek-llm", "the key tokenizer.ggml.pre = deepseek-llm is not read"),
        (lambda w: None, None, "it has no key tokenizer.ggml.pre"),
        (
            lambda w: w.add_add_space_prefix(True),
            "gpt-2",
            "add_space_prefix = True is taken for False",
        ),
    ],
    ids=["pre", "no pre", "space"],
)
def test_a_tokenizer_that_does_not_do_what_the_file_says_is_refused(more, pre, said, tmp_path):
    toy = open_model("toy")
    file = tmp_path / "m.gguf"
    helpers.write_gguf(file, toy.network, toy.tokenizer, more, pre=pre)
    (tmp_path / "to").mkdir()
    with pytest.raises(BadInput, match=said):
        convert.from_gguf(file, tmp_path / "to")
