"""Beginnings: what many texts share, how often it would be computed, and how exact the short way is.

The tables behind the page about the scorer. ``ours`` is the scorer's tree, ``one by one`` the definition:
one forward pass for each text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores.chunks import Scored
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import Encoded, common_prefix, encode
from lkecore.scores.tree import piece_logprobs, tree_of
from lkecore.scores.trie import Tree
from lkecore.storage import DATA

Size = tuple[int, int]  # (facts, options) of a block of questions


def check(
    facts_tried: Sequence[int],
    options_tried: Sequence[int],
    *,
    n_facts: int,
    n_plain: int,
    has: int,
) -> None:
    """Refuse blocks of questions that cannot be asked; ``has`` says how many facts there are.

    Raises :class:`BadInput` for a list without a number, a number below 1, more facts than there are,
    ``n_facts`` above the largest tried, and no text that goes through the model one by one.
    """
    for name, tried in (("facts_tried", facts_tried), ("options_tried", options_tried)):
        if not tried or min(tried) < 1:
            raise BadInput(f"{name} {list(tried)}: must be one number or more, each 1 or more")
    if max(facts_tried) > has:
        raise BadInput(f"facts_tried {list(facts_tried)}: there are {has} facts to ask")
    for name, n in (("n_facts", n_facts), ("n_plain", n_plain)):
        if not 1 <= n <= max(facts_tried):
            most = max(facts_tried)
            raise BadInput(f"{name} {n}: must be 1 to {most}, the most of facts_tried")


def sizes(facts_tried: Sequence[int], options_tried: Sequence[int], n_facts: int) -> list[Size]:
    """The blocks to score: each number of facts with all options, then ``n_facts`` with each of these.

    None stands twice.
    """
    most = max(options_tried)
    tried = [(n, most) for n in facts_tried] + [(n_facts, k) for k in options_tried]
    return list(dict.fromkeys(tried))


def counts(blocks: Mapping[Size, Sequence[Encoded]]) -> pd.DataFrame:
    """How many tokens each block has, and how many of them are distinct beginnings of a text.

    Columns: ``facts``, ``options``, ``texts``; ``one by one``, the tokens of all texts; ``distinct``, the
    beginnings that differ and that something is predicted from, which is the least that can be
    computed; ``times``, the first over the second, 1 or more.
    """
    rows = []
    for (n, k), block in blocks.items():
        texts = [text for e in block for text in e.sequences]
        tree = Tree()
        for text in texts:
            tree.add(text)
        inner = sum(1 for below in tree.kids[1:] if below)
        whole = sum(map(len, texts))
        rows.append((n, k, len(texts), whole, inner, whole / inner))
    columns = ["facts", "options", "texts", "one by one", "distinct", "times"]
    return pd.DataFrame(rows, columns=columns)


def one_by_one(model: Model, encoded: Sequence[Encoded]) -> tuple[NDArray[np.float64], float]:
    """(log-probabilities in nats, seconds for each token) of the first option of each prompt.

    One plain forward pass for each text; the first text goes through once before the clock starts.
    ``encoded`` has one prompt or more.
    """
    few = [replace(e, tails=e.tails[:1], starts=e.starts[:1]) for e in encoded]
    option_logprobs_plain(model.network, few[0])
    start = perf_counter()
    found = np.concatenate([option_logprobs_plain(model.network, e) for e in few])
    seconds = perf_counter() - start
    return found, seconds / sum(len(e.sequences[0]) for e in few)


def with_costs(
    table: pd.DataFrame, scored: Mapping[Size, Scored], per_token: float
) -> pd.DataFrame:
    """The table of :func:`counts` with what our way took and what the other one would take.

    New columns: ``ours`` (tokens that went through the model) and ``ours, seconds``, of each block in the
    order of the table; ``one by one, seconds``, *extrapolated*: all tokens times ``per_token`` seconds.
    """
    return table.assign(
        **{
            "ours": [result.tokens_forwarded for result in scored.values()],
            "ours, seconds": [result.seconds for result in scored.values()],
            "one by one, seconds": table["one by one"] * per_token,
        }
    )


def by_method(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """What a figure draws of :func:`with_costs`: the blocks once for each method, one below the other.

    ``names`` has what ``ours`` and ``one by one`` are called. Columns: ``method``, ``facts``, ``options``,
    ``tokens``, ``seconds``.
    """
    parts = [
        table.assign(method=name, tokens=table[key], seconds=table[f"{key}, seconds"])
        for key, name in names.items()
    ]
    return pd.concat(parts)[["method", "facts", "options", "tokens", "seconds"]]


def differences(compared: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> pd.DataFrame:
    """How far two arrays of log-probabilities lie apart: a row for each name of a pair.

    Columns: ``compared``, ``texts`` (how many), ``largest`` and ``mean`` difference without its sign, in
    nats: 0 or more. ValueError for arrays of different shapes.
    """
    rows = []
    for name, (one, other) in compared.items():
        if np.shape(one) != np.shape(other):
            raise ValueError(f"{name}: shapes {np.shape(one)} and {np.shape(other)} differ")
        gap = np.abs(np.asarray(one) - np.asarray(other))
        rows.append((name, gap.size, gap.max(), gap.mean()))
    return pd.DataFrame(rows, columns=["compared", "texts", "largest", "mean"])


def token_logprobs(model: Model, prompts: Sequence[Prompt]) -> pd.DataFrame:
    """The log-probability of each single token of each option, given all that stands before it.

    A row for each token, in the order of prompts, options and tokens: ``subject``, ``option``, ``token`` (its
    text), ``logprob`` in nats. Those of one option add up to the option's own. Raises
    :class:`BadInput` as :func:`lkecore.scores.tree.piece_logprobs`.
    """
    pieces, of = [], []
    for prompt, encoded in zip(prompts, _encoded(model, prompts), strict=True):
        rows = zip(prompt.options, encoded.sequences, encoded.starts, strict=True)
        for option, ids, start in rows:
            upto = [model.tokenizer.decode(ids[:n]) for n in range(start, len(ids) + 1)]
            spelled = [after[len(before) :] for before, after in pairwise(upto)]
            pieces.append([prompt.context, *spelled])
            of += [(prompt.subject, option)] * len(spelled)
    scored = piece_logprobs(model, pieces)
    own = scored[scored["piece"] > 0].reset_index(drop=True)
    found = pd.DataFrame(of, columns=["subject", "option"])
    return found.assign(token=own["text"], logprob=own["logprob"])


def tree_nodes(
    model: Model, prompts: Sequence[Prompt], tokens: pd.DataFrame, *, context: str
) -> pd.DataFrame:
    """The prefix tree of a few prompts, as :func:`lkecore.figures.tree.prefix_tree` draws it.

    ``tokens`` as :func:`token_logprobs` gives them. A row for each node: ``node``, ``parent`` (numbers),
    ``label`` (its text, with signs for space and line break), ``kind`` and ``logprob`` (NaN for tokens
    that no option has). ``kind`` is "read" for a token that never goes through the model, else
    "forwarded". The first row stands for all tokens that all texts begin with: its label is ``context``
    and their number, its kind "context".
    """
    encoded = _encoded(model, prompts)
    tree, paths = tree_of(encoded)
    sizes = tree.sizes({tree.parent[node] for path in paths for node in path})
    nodes = [node for path in paths for node in path]
    logprob = dict(zip(nodes, tokens["logprob"], strict=True))
    shared = common_prefix([text for e in encoded for text in e.sequences])
    drawn = [n for n in range(1, len(tree.token)) if tree.depth[n] >= shared]
    so_far = {
        n: model.tokenizer.decode([tree.token[m] for m in tree.path(n)])
        for n in {*drawn, *(tree.parent[n] for n in drawn)}
    }
    spoken = [so_far[n][len(so_far[tree.parent[n]]) :] for n in drawn]
    frame = pd.DataFrame(
        {
            "node": drawn,
            "parent": [tree.parent[n] for n in drawn],
            "label": [text.replace(" ", "␣").replace("\n", "↵") for text in spoken],
            "kind": ["forwarded" if sizes[n] else "read" for n in drawn],
            "logprob": [logprob.get(n, np.nan) for n in drawn],
        }
    )
    frame.loc[0, ["label", "kind"]] = f"{context}\n{shared} tokens", "context"
    return frame


def _encoded(model: Model, prompts: Sequence[Prompt]) -> list[Encoded]:
    return encode(model.tokenizer, prompts, front=model.front)


def benchmark() -> dict[str, Any]:
    """What ``make bench`` wrote down when it was last called: ``meta`` and, for each method, ``methods``."""
    return json.loads((DATA / "benchmark.json").read_text(encoding="utf-8"))


def about_benchmark(bench: Mapping[str, Any]) -> dict[str, str]:
    """On what, with what and when :func:`benchmark` was measured: {what: words}."""
    meta, work, table = bench["meta"], bench["meta"]["work"], bench["methods"]
    peers = {k: v for row in table for k, v in row.get("versions", {}).items()}
    versions = {**meta["versions"], **peers}
    others = max(load for row in table for load in row["other_programs_cores"])
    return {
        "model": f"{meta['model']} on {meta.get('gpu', meta['device'])}",
        "work": f"{work['strings']:,} texts of {', '.join(work['relations'])} "
        f"({work['facts']}), {work['shots']} examples",
        "machine": f"{meta['cpu']}, {meta['cores']} cores, {meta['threads']} threads",
        "meanwhile": f"other programs used up to {others:.1f} cores",
        "rounds": f"{meta['rounds']}, of which the table has medians",
        "date": meta["date"][:10],
        "commit": meta["versions"]["commit"],
        "versions": ", ".join(
            f"{k} {v}" for k, v in versions.items() if k not in ("commit", "source")
        ),
        "command": meta["command"],
    }


def benchmark_table(bench: Mapping[str, Any]) -> pd.DataFrame:
    """The methods of :func:`benchmark`, as a page shows them.

    Columns: ``method``, ``dtype``, ``seconds`` and ``tokens`` (with ~ where extrapolated from a part of the
    work), ``× ours`` and ``× floor`` (how many times the seconds of ours, and of the floor), and
    ``largest difference`` in nats, empty where nothing was compared.
    """
    rows = []
    for row in bench["methods"]:
        sign = "~" if row["factor"] > 1 else ""
        gap = row.get("max_difference")
        rows.append(
            {
                "method": row["method"],
                "dtype": row["dtype"],
                "seconds": f"{sign}{row['total_seconds']:,.1f}",
                "tokens": f"{sign}{row['total_tokens']:,}",
                "× ours": f"{row['times_slower']:,.1f}",
                "× floor": f"{row['times_floor']:,.1f}",
                "largest difference": "" if gap is None else f"{gap:.0e}",
            }
        )
    return pd.DataFrame(rows)
