"""Toy makers that the tests of scores, models and weights share: no network, no download."""

import dataclasses
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from lkecore.models import Model
from lkecore.prompts import Prompt

# One token for each character, so that a test writes the tokens of a prompt down as its letters.
ALPHABET = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BOS = "<s>"


def char_tokenizer():
    """A tokenizer whose tokens are single characters; its BOS token has the last id."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: i for i, token in enumerate([*ALPHABET, BOS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="_"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BOS)


def bpe_tokenizer(merges: list[tuple[str, str]], **settings):
    """A byte-pair tokenizer over ``ALPHABET`` with these merges and no pre-tokenizer.

    >>> bpe_tokenizer([("a", "b")]).convert_ids_to_tokens(bpe_tokenizer([("a", "b")])("aab").input_ids)
    ['a', 'ab']
    """
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    tokens = [*ALPHABET, *("".join(pair) for pair in merges)]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **settings)


def prompt(
    context: str, options, *, fact: str = "f1", relation: str = "r", gold: int = 0
) -> Prompt:
    """A prompt whose continuations are its options, letter by letter."""
    options = tuple(options)
    return Prompt(fact, relation, f"subject of {fact}", context, options, options, gold)


# Configs of the smallest networks of each class: what all share, and their own names for it. The
# initial weights are large, so that logits differ by whole nats and a wrong mask shows.
VOCABULARY = 80
_SIZES = dict(
    vocab_size=VOCABULARY,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    max_position_embeddings=256,
)
_GROUPED = dict(_SIZES, num_key_value_heads=2)
_GPT2 = dict(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=256)
_OPT = dict(
    vocab_size=VOCABULARY,
    hidden_size=32,
    ffn_dim=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    max_position_embeddings=256,
    word_embed_proj_dim=32,
    init_std=0.3,
)
_NEO = dict(
    vocab_size=VOCABULARY,
    hidden_size=32,
    num_layers=2,
    num_heads=4,
    attention_types=[[["global", "local"], 1]],
    window_size=8,
    max_position_embeddings=256,
)
NETWORKS = {
    "Llama": ("Llama", _GROUPED),
    "Mistral with a window": ("Mistral", dict(_GROUPED, sliding_window=8)),
    "GPTNeoX": ("GPTNeoX", _SIZES),
    "GPT2": ("GPT2", _GPT2),
    "OPT": ("OPT", _OPT),
    "Gemma2 with a window": ("Gemma2", dict(_GROUPED, head_dim=8, sliding_window=8)),
    "Gemma3 with a window": ("Gemma3Text", dict(_GROUPED, head_dim=8, sliding_window=8)),
    "Qwen2": ("Qwen2", _GROUPED),
    "Falcon": ("Falcon", {k: v for k, v in _SIZES.items() if k != "intermediate_size"}),
    "Phi": ("Phi", _SIZES),
    "BLOOM": ("Bloom", dict(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4)),
    "GPTNeo with a window": ("GPTNeo", _NEO),
    "MPT": (
        "Mpt",
        dict(vocab_size=VOCABULARY, d_model=32, n_heads=4, n_layers=2, max_seq_len=256),
    ),
    "Mamba": (
        "Mamba",
        dict(vocab_size=VOCABULARY, hidden_size=32, state_size=4, num_hidden_layers=2),
    ),
}


def network(kind: str = "Llama", *, seed: int = 0, **changes):
    """A random transformers network of one of ``NETWORKS``, in float32; always the same."""
    import torch
    import transformers

    name, settings = NETWORKS[kind]
    special = dict(bos_token_id=None, eos_token_id=None, initializer_range=0.3)
    if name != "OPT":
        special["pad_token_id"] = None
    settings = {**special, **settings, **changes}
    config = getattr(transformers, f"{name}Config")(**settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def model(network=None, *, tokenizer=None, add_bos: bool = False, **changes) -> Model:
    """A Model around a network in memory; without one, touching its network is an error."""
    made = Model(
        name="toy model",
        path=Path("nowhere"),
        digest="0" * 64,
        dtype="float32",
        device="cpu",
        add_bos=add_bos,
        context_length=None,
        tokenizer=tokenizer or char_tokenizer(),
    )
    made = dataclasses.replace(made, **changes)
    if network is not None:
        made.__dict__["_loaded"] = (network, 0.0)  # as its cached property would
    return made


class Bigram:
    """A network by pencil: the next token depends on the last one alone, by a table of odds.

    ``odds["a"]["b"]`` is how often b follows a; a missing pair has odds of one.
    """

    device = "cpu"

    def __init__(self, odds: dict[str, dict[str, float]], alphabet: str = ALPHABET):
        import torch

        table = [[odds.get(a, {}).get(b, 1.0) for b in alphabet] for a in alphabet]
        # Logits may be shifted by any constant for each row: a score must not notice.
        shift = torch.arange(len(alphabet), dtype=torch.float32)[:, None] - 20
        self.logits = torch.tensor(table).log() + shift

    def __call__(self, input_ids, **_):
        return SimpleNamespace(logits=self.logits[input_ids])


def brute_force_tokens(sequences) -> int:
    """How many distinct prefixes have something after them: no fewer tokens can be forwarded."""
    return len({row[:n] for row in map(tuple, sequences) for n in range(1, len(row))})


def write_gguf(path: Path, network, tokenizer) -> None:
    """A tiny Llama as an unquantised GGUF file, with its byte-level BPE tokenizer."""
    import gguf

    config = network.config
    heads = {"q": config.num_attention_heads, "k": config.num_key_value_heads}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads["q"])
    writer.add_head_count_kv(heads["k"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // heads["q"])
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([gguf.TokenType.NORMAL] * len(vocabulary))
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    names = {
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "lm_head": "output",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }
    for name, tensor in network.state_dict().items():
        array = tensor.float().numpy()
        for part in "qk":  # llama.cpp pairs the rotated dimensions, transformers halves them
            if f"{part}_proj" in name:
                halves = array.reshape(heads[part], 2, -1, array.shape[-1])
                array = halves.swapaxes(1, 2).reshape(array.shape)
        name = name.removesuffix(".weight")
        if name.startswith("model.layers."):
            _, _, layer, rest = name.split(".", 3)
            name = f"blk.{layer}.{names[rest]}"
        else:
            name = names[name]
        writer.add_tensor(f"{name}.weight", np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def nats(*probabilities: float) -> float:
    """Sum of the logarithms, by Python's own math."""
    return math.fsum(map(math.log, probabilities))
