"""Methods: the ways to score that are timed. Each runs on the same strings and says what it did."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from benchmarks.expanded import option_logprobs_expanded
from benchmarks.work import first_facts, row_tokens, whole
from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import Encoded, encode
from lkecore.scores.tree import option_logprobs

Place = tuple[int, int]  # (number of the prompt, number of the option)

PEERS = Path(__file__).parent / "peers"
PLAIN_OPTIONS, MINICONS_OPTIONS, PEER_ROWS = 8, 16, 16


@dataclass(frozen=True)
class Result:
    """One run: log-probabilities in nats, seconds, positions forwarded (padding included)."""

    logprob: list[float]
    seconds: float
    tokens: int
    versions: dict[str, str] | None = None  # of a peer


@dataclass(frozen=True)
class Method:
    """A way to score. ``run`` scores the strings at ``part``; ``factor`` is whole work over part.

    The factor is a ratio of the tokens that this method has to forward, not of strings: what takes
    time is tokens, and the strings of one fact are longer than those of another.
    """

    name: str
    dtype: str
    part: list[Place]
    factor: float
    run: Callable[[], Result]


def all_methods(
    model: Model,
    half: Model | None,
    prompts: Sequence[Prompt],
    encoded: Sequence[Encoded],
    peers: str,
) -> list[Method]:
    """Every method, ours first. ``half`` is the model in bfloat16 or None, ``peers`` a Python or ""."""
    everything = whole(prompts)
    few = first_facts(prompts, PLAIN_OPTIONS)
    some = first_facts(prompts, MINICONS_OPTIONS)
    facts = first_facts(prompts, len(prompts[0].options))

    def factor(part: list[Place], grouped: bool = False) -> float:
        of_all = row_tokens(encoded, everything, grouped=grouped)
        return of_all / row_tokens(encoded, part, grouped=grouped)

    methods = [
        Method("ours", "float32", everything, 1.0, lambda: ours(model, prompts)),
        Method("one by one", "float32", few, factor(few), lambda: plain(model, prompts, few)),
        Method("expanded cache", "float32", everything, 1.0, lambda: expanded(model, prompts)),
    ]
    if half is not None:
        methods += [
            Method("ours", "bfloat16", everything, 1.0, lambda: ours(half, prompts)),
            Method("one by one", "bfloat16", few, factor(few), lambda: plain(half, prompts, few)),
        ]
    if peers:
        for name, script, part, grouped in (
            ("lm-evaluation-harness", "lmeval.py", facts, True),
            ("minicons", "minicons_.py", some, False),
        ):
            pairs = [(prompts[i].context, prompts[i].continuations[k]) for i, k in part]

            def run(name: str = name, script: str = script, pairs: list = pairs) -> Result:
                return peer(name, [peers, str(PEERS / script)], model, pairs)

            methods.append(Method(name, "float32", part, factor(part, grouped), run))
    return methods


def ours(model: Model, prompts: Sequence[Prompt]) -> Result:
    """lkecore's scorer: every distinct prefix computed once."""
    start = time.perf_counter()
    scored = option_logprobs(model, prompts, use_cache=False)
    seconds = time.perf_counter() - start
    return Result(scored.frame["logprob"].tolist(), seconds, scored.tokens_forwarded)


def plain(model: Model, prompts: Sequence[Prompt], part: Sequence[Place]) -> Result:
    """One forward pass per string, one by one: the definition of a score."""
    start = time.perf_counter()
    values: list[float] = []
    tokens = 0
    for i in dict.fromkeys(i for i, _ in part):
        numbers = [k for j, k in part if j == i]
        asked = replace(
            prompts[i],
            options=tuple(prompts[i].options[k] for k in numbers),
            continuations=tuple(prompts[i].continuations[k] for k in numbers),
            gold=0,  # not used here
        )
        (each,) = encode(
            model.tokenizer, [asked], front=model.front, context_length=model.context_length
        )
        values += option_logprobs_plain(model.network, each).tolist()
        tokens += sum(map(len, each.sequences))
    return Result(values, time.perf_counter() - start, tokens)


def expanded(model: Model, prompts: Sequence[Prompt]) -> Result:
    """The shots' cache repeated over a batch of options, written by hand with transformers."""
    start = time.perf_counter()
    values, tokens = option_logprobs_expanded(
        model.network, model.tokenizer, prompts, front=model.front
    )
    return Result(values, time.perf_counter() - start, tokens)


def peer(
    name: str, command: Sequence[str], model: Model, pairs: Sequence[tuple[str, str]]
) -> Result:
    """A script of ``peers/`` in its own environment, on (context, continuation) pairs.

    Raises :class:`BadInput` with its last line if it fails.
    """
    import torch

    job = {
        "model": str(model.path.resolve()),
        "device": model.device,
        "threads": torch.get_num_threads(),
        "add_bos": bool(model.front),
        "batch_rows": PEER_ROWS,
        "pairs": pairs,
    }
    with tempfile.TemporaryDirectory() as folder:
        job_file, result_file = Path(folder, "job.json"), Path(folder, "result.json")
        job_file.write_text(json.dumps(job), encoding="utf-8")
        # The model lies on this machine already: a peer has nothing to ask a hub for.
        offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [*command, str(job_file), str(result_file)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=offline,
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise BadInput(f"{name} failed in its environment: {lines[-1]}")
        found = json.loads(result_file.read_text(encoding="utf-8"))
    return Result(found["logprob"], found["seconds"], found["tokens"], found["versions"])


def seconds_elsewhere() -> float:
    """CPU seconds that all other programs have used so far; its growth says who shared the cores.

    Children of this process count as its own once they have ended.
    """
    times = psutil.cpu_times()
    names = ("user", "nice", "system", "irq", "softirq", "steal")
    return sum(getattr(times, name, 0.0) for name in names) - sum(os.times()[:4])
