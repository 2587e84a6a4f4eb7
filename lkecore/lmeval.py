"""lm-evaluation-harness: this package's scorer as one of its models.

    python -m lkecore.lmeval --model lke --model_args pretrained=FOLDER --tasks NAMES

takes all arguments of their command ``lm_eval``. If a release of theirs reads entry points, ``lm_eval
--model lke`` is the same. Tasks, prompts, tokens, generation, metrics and files are theirs. One step is
ours: a beginning that requests share goes through the network once.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lkecore.errors import BadInput, visible
from lkecore.models.loading import check_alike, shares_one_head
from lkecore.progress import say, tell
from lkecore.scores.attention_paths import way
from lkecore.scores.batches import token_logprobs
from lkecore.scores.passes import bound_of, memory_of
from lkecore.scores.trie import Tree
from lkecore.scores.walk import walk

try:
    from lm_eval.models.huggingface import HFLM
except ImportError:  # without it this module can be read, and `main` says what is missing
    HFLM = object

TESTED = "0.4.13"
NODES = 200_000  # about the largest number of nodes in one tree
Block = tuple[Tree, dict[int, list[int]]]  # a tree, and the nodes of each request's own tokens


class TreeLM(HFLM):
    """Their model of Hugging Face, but requests are scored in trees of tokens; decoders only."""

    def _get_backend(self, *given: Any, **named: Any) -> None:
        super()._get_backend(*given, **named)  # before the weights are loaded
        if self.backend != "causal":
            raise BadInput(
                "--model lke is for decoders, and this model has an encoder; take --model hf"
            )

    def _loglikelihood_tokens(
        self,
        requests: Sequence[tuple[Any, list[int], list[int]]],
        disable_tqdm: bool = False,
        override_bs: int | None = None,
    ) -> list[tuple[float, bool]]:
        """(log-probability of a request's own tokens in nats, whether each is the likeliest), in order.

        A request is its texts, the tokens in front and its own tokens. If not all fit, those in front are cut
        from the left, as in their code.

        Raises :class:`BadInput` if one of both is empty or the own tokens alone do not fit; for a request
        that the network reads differently only because of its length
        (:func:`lkecore.models.loading.check_alike`); and for a log-probability that is no number.
        """
        longest = max((len(context) + len(own) for _, context, own in requests), default=1) - 1
        check_alike(self.model, min(longest, self.max_length))  # their code pads, and mixes lengths
        if why := self._left_to_them():
            tell(f"{why}: requests are scored as by --model hf")
            return super()._loglikelihood_tokens(requests, disable_tqdm, override_bs)
        from tqdm import tqdm

        for number, (texts, context, own) in enumerate(requests):
            if not context or not 0 < len(own) <= self.max_length:
                raise BadInput(
                    f"request {number} {visible(texts)[:80]}: {len(context)} tokens in front and {len(own)} "
                    f"of its own; there must be 1 or more of each, and at most {self.max_length} of its own"
                )
        found: list[Any] = [None] * len(requests)
        with tqdm(
            total=len(requests),
            disable=disable_tqdm or self.rank != 0,
            desc="Running loglikelihood requests",
        ) as bar:
            for block in self._blocks(requests):
                for number, answer in self._answers(*block):
                    found[number] = answer
                    if requests[number][0] is not None:  # parts of a rolling request have no texts
                        self.cache_hook.add_partial("loglikelihood", requests[number][0], answer)
                bar.update(len(block[1]))
        return found

    def _left_to_them(self) -> str:
        """Why requests are left to their code, or "": a cache or passes of other lengths would be wrong."""
        if self.mixed_precision_dtype is not None:
            return "mixed precision"
        if getattr(getattr(self.model, "active_peft_config", None), "is_prompt_learning", False):
            return "an adapter with tokens of its own"
        spread = getattr(getattr(self, "accelerator", None), "distributed_type", "")
        return "weights spread over processes" if spread in ("FSDP", "DEEPSPEED") else ""

    def _blocks(self, requests: Sequence[tuple[Any, list[int], list[int]]]) -> Iterator[Block]:
        """Yield trees of requests that are neighbours when all are sorted by their tokens."""
        kept = self.max_length + 1  # the last token is read, never forwarded
        rows = sorted(((a + b)[-kept:], len(b), n) for n, (_, a, b) in enumerate(requests))
        tree, paths = Tree(), {}
        for ids, own, number in rows:
            paths[number] = tree.path(tree.add(ids))[-own:]
            if len(tree.token) > NODES:
                yield tree, paths
                tree, paths = Tree(), {}
        if paths:
            yield tree, paths

    def _answers(
        self, tree: Tree, paths: dict[int, list[int]]
    ) -> Iterator[tuple[int, tuple[float, bool]]]:
        network = self.model
        if network.device.type == "cuda" and shares_one_head(network.config):
            network.set_attn_implementation("eager")
        kids: dict[int, list[int]] = {}
        for node in {node for path in paths.values() for node in path}:
            kids.setdefault(tree.parent[node], []).append(node)
        logprob: dict[int, float] = {}
        likeliest: set[int] = set()

        def read(nodes: list[int], logits: Any) -> None:
            ends = [(i, kid) for i, node in enumerate(nodes) for kid in kids[node]]
            rows, tokens = [i for i, _ in ends], [tree.token[kid] for _, kid in ends]
            top = logits.argmax(-1).tolist()
            values = token_logprobs(logits, rows, tokens).tolist()
            for (i, kid), token, value in zip(ends, tokens, values, strict=True):
                if not math.isfinite(value):
                    raise BadInput(f"logits in {network.dtype} are no numbers; take dtype=float32")
                logprob[kid] = value
                likeliest.update([kid] if token == top[i] else [])

        chosen = way(network, max(map(tree.depth.__getitem__, kids)))
        walk(network, tree, kids, read, way=chosen, memory=memory_of(network, bound_of(None)))
        for number, path in paths.items():
            yield number, (sum(logprob[node] for node in path), likeliest.issuperset(path))


def main() -> None:
    """Run their command line with ``--model lke``; bad input is reported in one line, with exit code 2."""
    try:
        try:
            found = version("lm_eval")
        except PackageNotFoundError:
            raise BadInput("lm-eval is not installed: pip install 'lkecore[lmeval]'") from None
        if found != TESTED:
            raise BadInput(f"lm-eval {found} is installed, and only {TESTED} has been tried")
        from lm_eval.__main__ import cli_evaluate
        from lm_eval.api.registry import register_model

        register_model("lke")(TreeLM)
        cli_evaluate()
    except BadInput as error:
        say(f"lke: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
