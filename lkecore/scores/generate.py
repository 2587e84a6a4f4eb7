"""Outputs of a causal model after a prompt, greedy or sampled.

The tree of ``trie`` grows here while the model is asked. A prompt goes through the model once, however
many samples are drawn from it. A beginning that several prompts share goes through once for all of
them. Samples that have said the same so far share a node: a step forwards each distinct output once.

    Q: ... A: ─┬─ Par ─┬─ is ── (newline)        100 samples, and 5 tokens forwarded after the prompt
               │       └─ ma ── (newline)
               └─ Ly ── on ──── (newline)
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.scores import store
from lkecore.scores.attention_paths import way
from lkecore.scores.batches import check_kind, tell_unknown, with_unknown
from lkecore.scores.cache_growth import Growth
from lkecore.scores.passes import COLUMNS, attempt, bound_of, memory_of
from lkecore.scores.tokens import common_prefix, encode_texts
from lkecore.scores.tree import not_finite
from lkecore.scores.trie import Tree

CHUNK = 64  # contexts that go on together; their greedy outputs are kept together, too
OUTPUT = ["prompt", "sample", "text", "logprob", "n_tokens", "stopped"]  # the columns that are kept
SINGLE = ("expanded", "plain")  # ways in which several prompts do not share a cache


@dataclass(frozen=True)
class _Asked:
    """The question of one chunk: prompts in token ids, and how to go on."""

    rows: list[tuple[int, ...]]
    n_samples: int | None
    temperature: float
    seed: int
    max_new_tokens: int
    stop: str | None


def generate(
    model: Model,
    contexts: Sequence[str],
    *,
    n_samples: int | None = None,
    temperature: float = 1.0,
    seed: int = 0,
    max_new_tokens: int = 10,
    stop: str | None = "\n",
    memory_gb: float | None = None,
    use_cache: bool = True,
) -> pd.DataFrame:
    """Outputs of a causal model after each context: one greedy output, or ``n_samples`` drawn ones.

    Samples are drawn from the whole vocabulary at ``temperature``, without top-k or top-p (BL-Q9). An
    output ends with the first token that contains ``stop`` (a newline, BL-Q8; None: no text ends it), with
    the model's end token, or after ``max_new_tokens``. ``stop`` may name a special token, which is in no
    text: models of the lab begin the next document with ``<s>``, and have no end token. The draws depend
    on ``seed``, the context's tokens and ``max_new_tokens``, not on the other contexts. The same context
    asked twice gets the same samples.

    Returns a row for each output, contexts in order:

    - ``context``, and ``sample`` (from 0);
    - ``text``: the output before ``stop``;
    - ``logprob``: of exactly these tokens at temperature 1, the last one included, in nats;
    - ``n_tokens``, and ``stopped`` (False if the output was cut off).

    Raises :class:`BadInput` for fewer than one sample, a temperature that is not positive, an
    empty ``stop``, a context that leaves no room for the output in the model's window, and as
    :func:`lkecore.scores.tree.option_logprobs` does.
    """
    check_kind(model, "causal")
    memory_gb = bound_of(memory_gb)
    if n_samples is not None and n_samples < 1:
        raise BadInput(f"n_samples is {n_samples}, but must be 1 or more (None: the greedy output)")
    if not (temperature > 0 and math.isfinite(temperature)):
        raise BadInput(
            f"temperature is {temperature}, but must be above 0 (n_samples=None: greedy)"
        )
    if max_new_tokens < 1 or stop == "":
        raise BadInput("max_new_tokens must be 1 or more, and stop must not be empty")
    if not 0 <= seed < 2**63:
        raise BadInput(f"seed is {seed}, but must be 0 or more, and below 2**63")
    rows = encode_texts(model.tokenizer, contexts, front=model.front)
    for number, row in enumerate(rows, 1):
        # The last token is said, never forwarded.
        if model.context_length and len(row) + max_new_tokens - 1 > model.context_length:
            raise BadInput(
                f"text {number}: its {len(row)} tokens and {max_new_tokens} new ones are more than "
                f"the model's context of {model.context_length}; ask for fewer shots or new tokens"
            )
    tell_unknown(model, with_unknown(model, rows), len(rows))
    parts = []
    with progress.bar(len(rows), "prompt") as bar:
        for at in range(0, len(rows), CHUNK):
            asked = _Asked(
                rows[at : at + CHUNK], n_samples, float(temperature), seed, max_new_tokens, stop
            )
            part = _kept(model, asked, memory_gb, use_cache)
            parts.append(part.assign(prompt=part["prompt"] + at))
            bar.update(len(asked.rows))
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=OUTPUT)
    frame.insert(1, "context", [contexts[i] for i in frame["prompt"]])
    return frame.drop(columns="prompt")


def _kept(model: Model, asked: _Asked, memory_gb: float | None, use_cache: bool) -> pd.DataFrame:
    """The outputs of one chunk: those found in the cache, and new ones, which are kept now.

    Greedy outputs are kept together. Samples are expensive and are kept prompt by prompt, so that a later
    call with a part of the prompts finds theirs.
    """
    greedy = asked.n_samples is None
    drawn = None if greedy else [asked.n_samples, asked.temperature, asked.seed]
    units = [asked.rows] if greedy else [[row] for row in asked.rows]
    keys = [
        store.chunk_key(
            model, "generate", ["generate", drawn, asked.max_new_tokens, asked.stop, unit]
        )
        for unit in units
    ]
    parts = [store.read(key, OUTPUT) if use_cache else None for key in keys]
    lacking = [part is None for part in parts]
    missing = [row for unit, lacks in zip(units, lacking, strict=True) if lacks for row in unit]
    old = [row for unit, lacks in zip(units, lacking, strict=True) if not lacks for row in unit]
    tokens = 0
    if missing:
        made, tokens = _outputs(model, replace(asked, rows=missing), memory_gb)
        each = (part.assign(prompt=0) for _, part in made.groupby("prompt"))
        new = iter([made] if greedy else each)
        for i, part in enumerate(parts):
            if part is None:
                parts[i] = next(new).reset_index(drop=True)
                if use_cache:
                    store.write(keys[i], parts[i])
    for rows, from_cache in ((old, True), (missing, False)):
        if rows:
            progress.record(
                model=model.name,
                prefix=model.prefix,
                prompts=len(rows),
                tokens_forwarded=0 if from_cache else tokens,
                from_cache=from_cache,
                memory_gb=memory_gb,
                unknown=with_unknown(model, rows),
            )
    if not greedy:
        parts = [part.assign(prompt=i) for i, part in enumerate(parts)]
    return pd.concat(parts, ignore_index=True)


@dataclass
class _Output:
    """An output while it grows."""

    prompt: int
    sample: int
    draws: np.ndarray | None  # a uniform number for each step; None for the greedy output
    begin: int = 0  # the prompt's last node
    node: int = 0
    text: str = ""
    logprob: float = 0.0
    n_tokens: int = 0
    stopped: bool = False


def _outputs(model: Model, asked: _Asked, memory_gb: float | None) -> tuple[pd.DataFrame, int]:
    """(a row for each output, tokens forwarded) of one chunk."""
    import torch

    network = model.network
    memory = memory_of(network, memory_gb)
    longest = max(map(len, asked.rows)) + asked.max_new_tokens
    chosen = way(network, longest)
    growth = Growth(network, chosen, memory, longest)
    done = []
    with torch.inference_mode():
        waiting = deque(_blocks(asked, growth))
        while waiting:
            block = waiting.popleft()
            if attempt(_grow, model, asked, block, growth):
                done += block
                continue
            if len(block) == 1:
                raise BadInput(
                    "out of memory with a single output; free some, or take a smaller model or dtype"
                )
            block = [_Output(o.prompt, o.sample, o.draws) for o in block]  # begun anew
            half = len(block) // 2
            waiting.extendleft([block[half:], block[:half]])
    done.sort(key=lambda output: (output.prompt, output.sample))
    return pd.DataFrame({c: [getattr(o, c) for o in done] for c in OUTPUT}), growth.forwarded


def _blocks(asked: _Asked, growth: Growth) -> Iterator[list[_Output]]:
    """Yield outputs that grow together: in a packed way those of several prompts, else those of one.

    A block has as many outputs as surely fit into memory, and at most ``COLUMNS`` columns of a cache.
    Prompts come in dictionary order, so that those with the same beginning follow one another.
    """
    block, used, before = [], 0, ()
    for i in sorted(range(len(asked.rows)), key=asked.rows.__getitem__):
        row = asked.rows[i]
        outputs = [_Output(i, sample, draws) for sample, draws in enumerate(_draws(asked, row))]
        most = growth.most_outputs(len(row), asked.max_new_tokens)
        for part in (outputs[k : k + most] for k in range(0, len(outputs), most)):
            grown = len(part) * asked.max_new_tokens
            new = len(row) - common_prefix([row, before]) + grown
            full = used + new > min(COLUMNS, growth.columns)
            if block and (
                growth.way in SINGLE or full or len(block) + len(part) > growth.rows_kept
            ):
                yield block
                block, used, new = [], 0, len(row) + grown
            block = block + part
            used, before = used + new, row
    if block:
        yield block


def _draws(asked: _Asked, row: tuple[int, ...]) -> Sequence[np.ndarray | None]:
    if asked.n_samples is None:
        return [None]
    rng = np.random.default_rng([asked.seed, *row])
    return list(rng.random((asked.n_samples, asked.max_new_tokens)))


def _grow(model: Model, asked: _Asked, block: Sequence[_Output], growth: Growth) -> bool:
    """Let outputs grow until all have stopped or are long enough; return True when they are done."""
    tree = Tree()
    for output in block:
        output.begin = output.node = tree.add(asked.rows[output.prompt])
    logits = growth.begin(tree, sorted({output.node for output in block}))
    ends = _end_tokens(model, asked.stop)
    live = list(block)
    for step in range(asked.max_new_tokens):
        at: dict[int, list[_Output]] = {}
        for output in live:
            at.setdefault(output.node, []).append(output)
        for node, outputs in at.items():
            draws = None if outputs[0].draws is None else [o.draws[step] for o in outputs]
            found = _choose(logits[node], draws, asked.temperature)
            if draws is None:  # greedy outputs at one node have equal contexts
                found *= len(outputs)
            for output, (token, logprob) in zip(outputs, found, strict=True):
                if not math.isfinite(logprob):
                    raise not_finite(model, tree.depth[node])
                _say(model, asked, tree, output, token, logprob, ends)
        live = [output for output in live if not output.stopped]
        if live and step + 1 < asked.max_new_tokens:
            logits = growth.step(tree, sorted({output.node for output in live}))
    return True


def _choose(
    logits: Any, draws: Sequence[float] | None, temperature: float
) -> list[tuple[int, float]]:
    """(token, its log-probability at temperature 1) for each draw, or the most probable one."""
    import torch

    logits = logits.float().cpu()  # not every device has float64
    logprob = logits.log_softmax(-1)
    if draws is None:
        tokens = logits.argmax(-1, keepdim=True)
    else:
        # Inverse transform: a uniform number picks the token in whose share of [0, 1) it falls.
        above = (logits - logits.max()).double()  # at most 0: no temperature is too low for it
        shares = (above / temperature).softmax(-1).cumsum(-1)
        points = torch.tensor(draws, dtype=torch.float64, device=shares.device) * shares[-1]
        tokens = torch.searchsorted(shares, points, right=True).clamp(max=len(shares) - 1)
    return list(zip(tokens.tolist(), logprob[tokens].tolist(), strict=True))


def _say(
    model: Model,
    asked: _Asked,
    tree: Tree,
    output: _Output,
    token: int,
    logprob: float,
    ends: set[int],
) -> None:
    """Append one token to an output."""
    output.node = tree.add([token], after=output.node)
    output.logprob += logprob
    output.n_tokens += 1
    if token in ends:
        output.stopped = True
        return
    # The prompt's end is decoded too, since a tokenizer may drop the space at the start of a text.
    row = asked.rows[output.prompt]
    said = [tree.token[n] for n in tree.path(output.node, above=output.begin)]
    shown = list(row[-8:])
    whole, start = (_text(model.tokenizer, ids) for ids in (shown + said, shown))
    output.text = whole[len(start) :]
    if asked.stop is not None:
        output.text, stop, _ = output.text.partition(asked.stop)
        output.stopped = bool(stop)


def _text(tokenizer: Any, ids: Sequence[int]) -> str:
    return tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def _end_tokens(model: Model, stop: str | None) -> set[int]:
    """The tokens with which a model says that it has finished, and the special token ``stop``."""
    tokenizer, settings = model.tokenizer, getattr(model.network, "generation_config", None)
    named = [tokenizer.eos_token_id, getattr(settings, "eos_token_id", None)]
    if stop in tokenizer.all_special_tokens:
        named.append(tokenizer.convert_tokens_to_ids(stop))
    return {
        n for ids in named if ids is not None for n in (ids if isinstance(ids, list) else [ids])
    }
