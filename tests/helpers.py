"""Toy makers that the tests of scores, models and weights share: no network, no download."""

import dataclasses
import hashlib
import importlib.util
import json
import math
import multiprocessing
import os
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lkecore.answers.shipped import (
    CHECKS,
    MADE_BY,
    MADE_OF,
    about_of,
    joined,
    packed,
    path_of,
    read_file,
    table,
    what_made,
)  # fmt: skip
from lkecore.errors import BadInput
from lkecore.models import lab
from lkecore.models.model import Model
from lkecore.models.training import Fork
from lkecore.prompts.prompt import Prompt
from lkecore.runs import forkserver, shipping
from lkecore.worlds import facts as rich_facts
from lkecore.worlds import plain
from lkecore.worlds import skills as rich_skills

# One token for each character, so that a test writes the tokens of a prompt down as its letters.
ALPHABET = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BOS = "<s>"


def tool(name: str):
    """A script of tools/, as a module."""
    path = Path(__file__).resolve().parent.parent / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def char_tokenizer():
    """A tokenizer whose tokens are single characters; its BOS token has the last id.

    It reads all that is no letter and no digit as "_", and so knows everything.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: i for i, token in enumerate([*ALPHABET, BOS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary))
    tokenizer.normalizer = normalizers.Replace(Regex("[^a-zA-Z0-9]"), "_")
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


def folding(tokenizer):
    """The same tokenizer, from now on without case and accents, as an uncased model has it."""
    from tokenizers import normalizers

    steps = [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


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
    "Mistral": ("Mistral", dict(_GROUPED, sliding_window=None)),
    "Mistral with a window": ("Mistral", dict(_GROUPED, sliding_window=8)),
    "Mixtral": ("Mixtral", dict(_GROUPED, num_local_experts=4, num_experts_per_tok=2)),
    "GPTNeoX": ("GPTNeoX", _SIZES),
    "GPT2": ("GPT2", _GPT2),
    "GPTJ": ("GPTJ", dict(_GPT2, rotary_dim=8)),
    "OPT": ("OPT", _OPT),
    "Gemma2 with a window": ("Gemma2", dict(_GROUPED, head_dim=8, sliding_window=8)),
    "Gemma3 with a window": ("Gemma3Text", dict(_GROUPED, head_dim=8, sliding_window=8)),
    "Gemma3 with a long window": ("Gemma3Text", dict(_GROUPED, head_dim=8, sliding_window=128)),
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
    tokenizer = tokenizer or char_tokenizer()
    made = Model(
        name="toy model",
        path=Path("nowhere"),
        digest="0" * 64,
        dtype="float32",
        device="cpu",
        front=(tokenizer.bos_token_id,) if add_bos else (),
        context_length=None,
        tokenizer=tokenizer,
    )
    made = dataclasses.replace(made, **changes)
    if network is not None:
        made.__dict__["_loaded"] = (network, 0.0)  # as its cached property would
    return made


def refusal(function, *args, **more) -> str:
    """The one line that refuses a call."""
    with pytest.raises(BadInput) as caught:
        function(*args, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


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


def plain_logprobs(network, ids, **given) -> np.ndarray:
    """Of all tokens behind each of ``ids``, by one plain forward pass: (token, vocabulary), float64."""
    import torch

    with torch.inference_mode():
        logits = network(input_ids=torch.tensor([list(ids)]), **given).logits[0]
    return logits.double().log_softmax(-1).numpy()


def brute_force_tokens(sequences) -> int:
    """How many distinct prefixes have something after them: no fewer tokens can be forwarded."""
    return len({row[:n] for row in map(tuple, sequences) for n in range(1, len(row))})


def write_gguf(path: Path, network, tokenizer, more=lambda writer: None, pre="gpt-2") -> None:
    """A tiny Llama as an unquantised GGUF file, with its byte-level BPE tokenizer, and ``more`` in it."""
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
    if pre:
        writer.add_tokenizer_pre(pre)
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
    more(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def nats(*probabilities: float) -> float:
    """Sum of the logarithms, by Python's own math."""
    return math.fsum(map(math.log, probabilities))


# What the tokenizers of models that fill blanks know as one token, besides single letters.
WORDS = "Paris Rome Madrid New York is the capital of France Italy Spain The has Par".split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,'"


def wordpiece_tokenizer(*, lower: bool = False):
    """BERT's own tokenizer class over ``WORDS`` and ``LETTERS``."""
    from transformers import BertTokenizerFast

    words = [w.lower() for w in WORDS] if lower else WORDS
    letters = LETTERS.lower() if lower else LETTERS
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *letters]
    tokens = dict.fromkeys([*tokens, *("##" + letter for letter in letters)])
    return BertTokenizerFast(vocab={t: i for i, t in enumerate(tokens)}, do_lower_case=lower)


def roberta_tokenizer():
    """RoBERTa's own tokenizer class: bytes, and merges that lead to ``WORDS`` behind a space."""
    from tokenizers import pre_tokenizers
    from transformers import AddedToken, RobertaTokenizerFast

    spaced = ["Ġ" + word for word in WORDS]
    merges = dict.fromkeys((w[:n], w[n]) for w in spaced for n in range(1, len(w)))
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokens = dict.fromkeys([*tokens, *("".join(pair) for pair in merges), "<mask>"])
    return RobertaTokenizerFast(
        vocab={t: i for i, t in enumerate(tokens)},
        merges=list(merges),
        mask_token=AddedToken("<mask>", lstrip=True, normalized=True, special=True),
    )


def _pieces(specials, words) -> list[tuple[str, float]]:
    """A unigram vocabulary in which a known word is likelier than its letters."""
    pieces = {**dict.fromkeys(specials, 0.0), "▁": -2.0}
    pieces |= {"▁" + word: -3.0 for word in words}
    return list((pieces | dict.fromkeys(LETTERS, -5.0)).items())


def albert_tokenizer():
    """ALBERT's own tokenizer class, in lower case as the published ones."""
    from transformers import AlbertTokenizerFast

    specials = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    return AlbertTokenizerFast(vocab=_pieces(specials, [word.lower() for word in WORDS]))


def t5_tokenizer():
    """T5's own tokenizer class, with ten sentinels."""
    from transformers import T5TokenizerFast

    sentinels = [(f"<extra_id_{i}>", 0.0) for i in reversed(range(10))]
    vocabulary = _pieces(["<pad>", "</s>", "<unk>"], WORDS) + sentinels
    return T5TokenizerFast(vocab=vocabulary, extra_ids=10)


_MASKED = dict(
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    max_position_embeddings=64,
    initializer_range=0.3,
)
_T5 = dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
_DISTIL = dict(dim=32, hidden_dim=64, n_layers=2, n_heads=4, max_position_embeddings=64)
# Architecture, config and tokenizer of the smallest networks that fill blanks.
BLANK_FILLERS = {
    "BERT": ("BertForMaskedLM", _MASKED, wordpiece_tokenizer),
    "uncased BERT": ("BertForMaskedLM", _MASKED, lambda: wordpiece_tokenizer(lower=True)),
    "RoBERTa": ("RobertaForMaskedLM", dict(_MASKED, max_position_embeddings=66), roberta_tokenizer),
    "ALBERT": ("AlbertForMaskedLM", dict(_MASKED, embedding_size=16), albert_tokenizer),
    "DistilBERT": (
        "DistilBertForMaskedLM",
        dict(_DISTIL, initializer_range=0.3),
        wordpiece_tokenizer,
    ),
    "MobileBERT": (  # its output layer is never called
        "MobileBertForMaskedLM",
        dict(_MASKED, embedding_size=16, intra_bottleneck_size=32, true_hidden_size=32),
        wordpiece_tokenizer,
    ),
    "T5": ("T5ForConditionalGeneration", _T5, t5_tokenizer),
    "T5 v1.1": (
        "T5ForConditionalGeneration",
        dict(_T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
        t5_tokenizer,
    ),
}


def blank_filler(kind: str = "BERT", *, seed: int = 0, architecture: str | None = None, **changes):
    """(network, tokenizer) of one of ``BLANK_FILLERS``: random, in float32, always the same."""
    import torch
    import transformers

    usual, settings, make_tokenizer = BLANK_FILLERS[kind]
    tokenizer = make_tokenizer()
    settings = dict(settings, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    network_class = getattr(transformers, architecture or usual)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = network_class(network_class.config_class(**settings | changes)).eval()
        for parameter in network.parameters():
            if parameter.ndim == 1:  # biases, else all zero
                parameter.data += 0.3 * torch.randn_like(parameter)
        if kind == "T5 v1.1":
            head = torch.randn(len(tokenizer), 32) / 4
            network.set_output_embeddings(torch.nn.Linear(32, len(tokenizer), bias=False))
            network.get_output_embeddings().weight.data = head
    return network, tokenizer


def weights_digest(network) -> str:
    """A digest of all weights of a network in memory."""
    found = hashlib.sha256()
    for name, weight in sorted(network.state_dict().items()):
        found.update(name.encode() + weight.numpy().tobytes())
    return found.hexdigest()


def small_model(kind: str, **changes) -> Model:
    """A Model around the smallest network of a kind of ``NETWORKS`` or ``BLANK_FILLERS``."""
    if kind in NETWORKS:  # its output layer has the vocabulary, and no row more
        changes = {"add_bos": True} | changes
        return model(network(kind, vocab_size=len(char_tokenizer())), digest=kind, **changes)
    net, tokenizer = blank_filler(kind)
    task = "seq2seq" if kind.startswith("T5") else "masked"
    settings = {"kind": task, "context_length": 64, "digest": kind}
    return model(net, tokenizer=tokenizer, **settings | changes)


def entropy(logprobs, _):
    """The entropy of the first of a group's distributions: a ``reduce`` of ``distributions``."""
    return -(logprobs.exp() * logprobs).sum(-1)[:1]


def divergence(logprobs, _):
    """The KL divergence of a group's second distribution from its first."""
    p, q = logprobs
    return (p.exp() * (p - q)).sum()[None]


# Groups of texts before and after a blank.
PAIRS = [
    (("The capital of France is", "."), ("Paris is the capital . The capital of France is", ".")),
    (("Rome", " is the capital"), ("Rome", " is the capital")),
    (("", ""), ("The", "")),
    (("The capital of Italy is", "."), ("Italy has", " , the capital .")),
]


def counted_bytes(network):
    """A context whose ``peak`` is the most bytes that PyTorch held at a time, weights left out."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counted(TorchDispatchMode):
        """The most bytes that new tensors took at a time, counted at each of PyTorch's operations."""

        def __init__(self, net):
            super().__init__()
            self.weights = [p.untyped_storage() for p in net.parameters()]
            self.known, self.live, self.peak = {w._cdata for w in self.weights}, 0, 0

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            made = operation(*args, **kwargs or {})
            for tensor in made if isinstance(made, list | tuple) else [made]:
                if isinstance(tensor, torch.Tensor):
                    storage = tensor.untyped_storage()
                    if storage._cdata not in self.known:
                        self.known.add(storage._cdata)
                        self.live += storage.nbytes()
                        self.peak = max(self.peak, self.live)
                        weakref.finalize(storage, self.gone, storage._cdata, storage.nbytes())
            return made

        def gone(self, place, size):
            self.known.discard(place)
            self.live -= size

    return Counted(network)


# The lab in small: worlds of 16 facts a relation, and networks that learn next to nothing from them. Their
# files are what the tool writes of this size, with so few instructions (tests/test_tools_plain_worlds.py).
TINY_WORLDS = Path(__file__).resolve().parent / "data" / "worlds"
TINY_SIZE = {"objects": 4, "shown": (2, 2), "occurrences": (2, 4), "each": 1, "mislearned": 1}
TINY_RECIPES = {
    kind: lab.Recipe(kind, width=16, layers=1, inner=32, rate=1e-2, muon=0.03, epochs=epochs)
    for kind, epochs in (("causal", 1), ("masked", 2), ("seq2seq", 2))
}
TINY_INSTRUCTIONS = 30


def tiny_lab(monkeypatch) -> None:
    """From now on there are worlds such as ``lab:tiny-0`` and models such as ``lab:tiny-0/causal``."""
    monkeypatch.setattr(rich_skills, "INSTRUCTIONS", TINY_INSTRUCTIONS)
    monkeypatch.setattr(plain, "SIZES", (*plain.SIZES, "tiny"))
    monkeypatch.setattr(plain, "SHIPPED", (*plain.SHIPPED, TINY_WORLDS))
    for name, value in TINY_RECIPES.items():
        monkeypatch.setitem(lab.RECIPES, name, value)


TINY_RICH = rich_facts.Size(
    objects=12, own=2, shown=8, parts=((1, 0), (1, 1)), occurrences=(1, 4), each=1, totals=(),
    uncertain=0, mislearned=0, several=1, popular=0, skills=6, many=1, others=9,
)  # fmt: skip


def tiny_rich(monkeypatch) -> None:
    """The tiny lab, and a rich world of next to no text, ``lab:richtiny-0``."""
    tiny_lab(monkeypatch)
    monkeypatch.setitem(rich_facts.SIZES, "richtiny", TINY_RICH)


def tiny_lab_command(name: str, before: str = "") -> list[str]:
    """The trainer's command in a process that has the tiny lab, after the code ``before``."""
    return [sys.executable, "-c", tiny_lab_code(before), name, "--end-with-parent"]


def tiny_lab_fork(before: str, output: Path) -> Fork:
    """The same for ``training.train``, without :mod:`lkecore.runs.forkserver`'s imports in each process."""

    def fork(name: str, env: dict[str, str]) -> forkserver.Forked:
        forkserver.begin(env)
        output.touch()
        server = multiprocessing.get_context("forkserver")
        given = (tiny_lab_code(before), name, env)
        return forkserver.Forked(server.Process(target=_run_code, args=given), output)

    return fork


def tiny_train(name: str, output: str, env: dict[str, str], *, train=forkserver._train) -> None:
    """What :func:`lkecore.runs.forkserver.trainer` runs in a forked process, where there is the tiny lab.

    ``train`` is what it is when this module is imported: a test may have put this here in its place.
    """
    with pytest.MonkeyPatch.context() as patch:
        tiny_lab(patch)
        train(name, output, env)


def _run_code(code: str, argument: str, env: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["-c", argument]
    exec(code, {"__name__": "__main__"})


def tiny_lab_code(before: str) -> str:
    return f"""import sys
from pathlib import Path
from lkecore.worlds import plain
from lkecore.worlds import skills as rich_skills
from lkecore.models import lab
from lkecore.models.lab import Recipe
from lkecore.train import lab as trainer, loop, text
plain.SIZES += ("tiny",)
plain.SHIPPED += (Path({str(TINY_WORLDS)!r}),)
lab.RECIPES |= {TINY_RECIPES!r}
{before}
sys.exit(trainer.main())"""


def answered(cells: dict[tuple, str], names=("model", "relation"), **more):
    """A frame of answers: under the values of ``names`` a mark for each fact, in order.

    ``1`` is right, ``0`` wrong, ``-`` not asked. The facts of a relation r are r-0, r-1 and so on.

    >>> answered({("a", "r"): "1-0"}).to_numpy().tolist()
    [['a', 'r', 'r-0', True], ['a', 'r', 'r-2', False]]
    """
    import pandas as pd

    rows = []
    for key, marks in cells.items():
        known = dict(zip(names, key, strict=True))
        for i, mark in enumerate(marks):
            if mark != "-":
                rows.append({**known, "fact": f"{known['relation']}-{i}", "correct": mark == "1"})
    return pd.DataFrame(rows).assign(**more)


def page(name: str, until: str = "", **given) -> dict:
    """The names of a notebook after its cells, executed here; its parameters with what is given.

    ``until`` is the heading that ends it, as in "## Scores": none, the last cell.

    What is for a reader alone is left out, as in a run that is a part: its words are about other models.
    """
    import copy

    import matplotlib

    from lkecore.runs import read_notebook

    matplotlib.use("Agg")
    path = Path(__file__).resolve().parent.parent / "notebooks" / f"{name}.py"
    names: dict = {"__name__": "__main__"}
    for cell in read_notebook(path).cells:
        if until and cell.source.startswith(until):
            break
        if cell.cell_type == "code" and "page-only" not in cell.metadata.get("tags", []):
            exec(compile(cell.source, path.name, "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= copy.deepcopy(given)
    return names


def ship(folder: Path, source: str, name: str, frame: pd.DataFrame, **about: Any) -> None:
    """Put a frame among the results in a folder, as the rows of a source, and what made it.

    ``about``: ``models``, digests by name, ``parameters``, and columns of ``made_by.csv``.
    """
    path = folder / f"{name}.parquet"
    parts = [frame.assign(source=source)]
    if "fact" in frame:
        parts = [parts[0].assign(fact=frame["fact"].astype(str))]
    if path.exists():
        there = pq.read_table(path)
        parts.insert(0, there.filter(pa.array(there["source"].to_pandas() != source)))
    path.write_bytes(packed(joined(parts)))
    experiment, before = name.partition("-")[0], table(folder)
    models = about.pop("models", {}) or {"": ""}
    given = {"parameters": json.dumps(about.pop("parameters", {}))}
    numbers = {"seconds": 600.0, "chunks": 0, "chunks_from_cache": 0}
    row = dict.fromkeys(MADE_OF, "") | numbers | {"device": "CPU", "command": "lke run it"} | given
    row |= {"started": "2026-11-01T00:00:00", "commit": "abc", **about}
    row |= {"experiment": experiment, "source": source}
    made = pd.DataFrame([row | {"model": model, "digest": d} for model, d in models.items()])
    others = before[before["experiment"].ne(experiment) | before["source"].ne(source)]
    pd.concat([others, made]).to_csv(folder / MADE_BY, index=False)


def shipped(
    source: str, name: str, folder: Path | None = None, *, apart: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """(the rows of a source in some results, after the first draw of examples; what made them), by pandas."""
    whole = read_file(pq.read_table, path_of(f"{name}-{apart}" if apart else name, folder))
    about = about_of(what_made(name, source, folder))
    frame = shipping.part(whole, whole["source"].to_pandas() == source).drop(columns="source")
    if "n_redraws" in about["parameters"] and "draw" in frame:
        frame = frame[frame["draw"] == 0].drop(columns="draw")
    return frame.drop(columns=CHECKS, errors="ignore").reset_index(drop=True), about


def ship_run(
    folder: Path, run: Path, experiment: str, change=lambda frame: frame, **about: Any
) -> None:
    """Put what a run kept among the results of a folder as `ship`, its answers as ``change`` makes them."""
    for path in sorted(run.glob("answers*.parquet")):
        if path.stem == "answers-draws":
            continue
        frame = pd.read_parquet(path)
        if (run / "answers-draws.parquet").exists() and path.stem == "answers":
            others = pd.read_parquet(run / "answers-draws.parquet")
            frame = pd.concat([frame.assign(draw=0), others], ignore_index=True)
        frame = shipping.ships_as(change(frame), ours=True)
        ship(folder, "long", path.stem.replace("answers", experiment, 1), frame, **about)
