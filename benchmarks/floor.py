"""Floor: the seconds that this machine needs for the multiplications that no exact method avoids.

A token costs one multiply-add for each parameter of the body's matrices, a row of the head one for
each parameter of the output embedding. Divided by the measured rate of a large matrix product, that
is a time that no method can beat on this machine. Left out are the products inside attention, which
have no parameters, and everything that is no product: the true floor lies a little higher.
"""

import time
from typing import Any

SIZE = 4096  # a product of this size keeps all cores busy with nothing but multiply-adds


def matrix_rate(dtype: Any, device: Any = "cpu", *, size: int = SIZE, tries: int = 4) -> float:
    """Multiply-adds per second of a square matrix product in a torch ``dtype``, best of several."""
    import torch

    random = torch.Generator().manual_seed(0)
    a, b = (torch.randn(size, size, generator=random).to(device, dtype) for _ in "ab")
    seconds = []
    for _ in range(tries + 1):  # the first one warms up
        start = time.perf_counter()
        product = torch.mm(a, b)
        product[0, 0].item()  # waits for the device
        seconds.append(time.perf_counter() - start)
    return size**3 / min(seconds[1:])


def parameters(network: Any) -> tuple[int, int]:
    """(parameters of the body's matrices, parameters of the head): multiply-adds per token, per row.

    Counted are the weights of all linear layers, and the output embedding as the head. Of a model
    whose layers choose between experts this is more than a token needs.
    """
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    head = network.get_output_embeddings()
    body = [m for m in network.modules() if isinstance(m, nn.Linear | Conv1D) and m is not head]
    return sum(m.weight.numel() for m in body), head.weight.numel()


def multiply_adds(counts: dict[str, int], body: int, head: int) -> int:
    """Multiply-adds of the work: inner prefixes through the body, read rows through the head."""
    return counts["inner_prefixes"] * body + counts["head_rows"] * head
