"""Log-probabilities of options from a model behind a server, by the tree of ``scores`` and over HTTP.

A question is about one prefix, and names the tokens below that prefix's node. To a server that does not
support such a question, it is a whole string.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lkecore.errors import BadInput
from lkecore.models import served
from lkecore.prompts.prompt import Prompt
from lkecore.scores import chunks
from lkecore.scores.chunks import Scored
from lkecore.scores.tokens import Encoded, place
from lkecore.scores.tree import encoded_prompts, tree_of
from lkecore.scores.trie import Tree
from lkecore.storage import program_of


def option_logprobs(
    model: served.Served,
    prompts: Sequence[Prompt],
    *,
    separate: bool = False,
    use_cache: bool = True,
) -> Scored:
    """As :func:`lkecore.scores.tree.option_logprobs`; ``tokens_forwarded`` counts those of all requests.

    Raises :class:`BadInput` also for an option of which the server gives no log-probability.
    """

    def compute(_: Any, chunk: Sequence[Encoded], bar: tqdm) -> tuple[list[float], int]:
        tree, paths, asked = questions(chunk, model.said["names_tokens"])
        way = served.given if model.said["names_tokens"] else served.echoed

        def answer(question: tuple[int, list[int]]) -> list[float]:
            parts = tree.path(question[0]), question[1]
            return way(model.said["id"], *([tree.token[node] for node in part] for part in parts))

        logprob, done = {}, 0
        with ThreadPoolExecutor(served.AT_ONCE) as pool:
            for n, values in enumerate(pool.map(answer, asked), 1):
                logprob.update(zip(asked[n - 1][1], values, strict=True))
                before, done = done, len(chunk) * n // len(asked)
                bar.update(done - before)
        found = [sum(logprob[node] for node in path) for path in paths]
        options = ((e.prompt, option) for e in chunk for option in e.prompt.options)
        for (prompt, option), value in zip(options, found, strict=True):
            if math.isnan(value):
                raise BadInput(
                    f"model {model.name}: its server says no log-probability of option {option!r}, "
                    f"{place(prompt)}: it is missing, not finite, or above 0"
                )
        return found, sum(tree.depth[node] for node, _ in asked)

    program = [program_of(Path(file)) for file in (__file__, served.__file__)]
    return chunks.score(
        replace(model, over_http=True),
        prompts,
        {"separate": separate, "\n".join(program): True},
        lambda missing: encoded_prompts(model, missing, separate),
        compute,
        use_cache=use_cache,
    )


def questions(
    chunk: Sequence[Encoded], names_tokens: bool = True
) -> tuple[Tree, list[list[int]], list[tuple[int, list[int]]]]:
    """All strings as a tree, the nodes of each option's tokens, and the questions: (node, nodes below it).

    The questions follow the order of the tree. So a beginning that prompts share is asked about while the
    server still has it in memory.
    """
    tree, paths = tree_of(chunk)
    if not names_tokens:
        return tree, paths, [(tree.parent[path[0]], path) for path in paths]
    kids: dict[int, list[int]] = {}
    for node in dict.fromkeys(node for path in paths for node in path):
        kids.setdefault(tree.parent[node], []).append(node)
    most = served.MOST
    parts = [(n, own[i : i + most]) for n, own in kids.items() for i in range(0, len(own), most)]
    return tree, paths, sorted(parts)
