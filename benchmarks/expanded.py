"""Expanded cache: what one writes by hand with transformers to share the prompt, for comparison.

The shots go through the model once for a relation and the subject once for a fact. Their cache is
then repeated over a batch of options, each option a row, and only options of more than one token
need a row. It is written without any of lkecore's scorer, as a peer and a second opinion.
"""

import copy
import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from lkecore.prompts.prompt import Prompt


def option_logprobs_expanded(
    network: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    *,
    front: tuple[int, ...],
    batch_rows: int = 32,
) -> tuple[list[float], int]:
    """(log-probability of every option in nats, prompt by prompt; positions forwarded, with padding).

    Context and continuation are tokenised apart. That is right only where no token merges across
    the border, which the benchmark's comparison with plain would show.
    """
    import torch
    from transformers import DynamicCache

    def forward(rows: list[list[int]], cache: Any) -> Any:
        nonlocal forwarded
        forwarded += len(rows) * len(rows[0])
        inputs = torch.tensor(rows, device=network.device)
        keep = 1 if cache is past else 0  # only the last position, or (0) all of them
        return network(input_ids=inputs, past_key_values=cache, logits_to_keep=keep).logits

    def ids(texts: Sequence[str]) -> list[list[int]]:
        return tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]

    values: list[float] = []
    forwarded = 0
    with torch.inference_mode():
        for _, group in groupby(prompts, key=lambda p: p.relation):
            asked = list(group)
            contexts = [[*front, *row] for row in ids([p.context for p in asked])]
            shared = min(len(os.path.commonprefix(contexts)), min(map(len, contexts)) - 1)
            past = DynamicCache()
            if shared:
                forward([contexts[0][:shared]], past)
            for prompt, context in zip(asked, contexts, strict=True):
                subject, options = context[shared:], ids(prompt.continuations)
                first = forward([subject], past)[0, -1].float().log_softmax(-1)
                sums = [first[option[0]].item() for option in options]
                rows = [i for i, option in enumerate(options) if len(option) > 1]
                for k in range(0, len(rows), batch_rows):
                    batch = rows[k : k + batch_rows]
                    width = max(len(options[i]) for i in batch) - 1
                    padded = [(options[i][:-1] + [0] * width)[:width] for i in batch]
                    wide = copy.deepcopy(past)
                    wide.batch_repeat_interleave(len(batch))
                    logprobs = forward(padded, wide).float().log_softmax(-1)
                    for i, row in zip(batch, logprobs, strict=True):
                        rest = options[i][1:]
                        sums[i] += row[range(len(rest)), rest].double().sum().item()
                past.crop(-len(subject))  # a negative count: how many to forget
                values += sums
    return values, forwarded
