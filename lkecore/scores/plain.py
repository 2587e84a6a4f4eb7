"""The definition of a score: one forward pass for each string, and no cache.

It is slow on purpose. ``tree`` must give these numbers, to 1e-4 nats in float32; tests check this.
"""

from typing import Any

import numpy as np

from lkecore.scores.tokens import Encoded


def option_logprobs_plain(network: Any, encoded: Encoded) -> np.ndarray:
    """The sum log-probability of every option of one prompt, shape (option,), float64, in nats (IC-E2).

    ``network`` is a transformers causal language model. There is no length normalisation.
    """
    import torch

    sums = []
    with torch.inference_mode():
        for ids, start in zip(encoded.sequences, encoded.starts, strict=True):
            tokens = torch.tensor([ids], device=network.device)
            logits = network(input_ids=tokens, use_cache=False).logits[0].float()
            # Row i of the logits predicts token i + 1.
            rows = logits[start - 1 : -1].log_softmax(-1)
            values = rows.gather(1, tokens[0, start:, None]).cpu().double()
            sums.append(values.sum().item())
    return np.array(sums)
