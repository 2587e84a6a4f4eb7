"""lm-evaluation-harness: time HFLM.loglikelihood. Run as: PYTHON lmeval.py JOB.json RESULT.json

The job is {"model": folder, "device", "threads", "add_bos", "batch_rows", "pairs": [[context,
continuation], ...]}; the result {"logprob": [...] in nats, "seconds", "tokens", "versions"}. Loading
the model and a first request are not timed. Runs in an environment of its own, without lkecore.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM


def main(job_file: str, result_file: str) -> None:
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    torch.set_num_threads(job["threads"])
    lm = HFLM(
        pretrained=job["model"],
        device=job["device"],
        dtype="float32",
        batch_size=job["batch_rows"],
        backend="causal",
        add_bos_token=job["add_bos"],
    )
    tokens = 0
    call = lm._model_call  # the one place where rows, padded to a batch, enter the network

    def counted(inputs, **rest):
        nonlocal tokens
        tokens += inputs.numel()
        return call(inputs, **rest)

    lm._model_call = counted
    requests = [Instance("loglikelihood", {}, tuple(p), i) for i, p in enumerate(job["pairs"])]
    lm.loglikelihood(requests[:1], disable_tqdm=True)
    tokens = 0
    start = time.perf_counter()
    answers = lm.loglikelihood(requests, disable_tqdm=True)
    result = {
        "logprob": [logprob for logprob, _ in answers],
        "seconds": time.perf_counter() - start,
        "tokens": tokens,
        "versions": {name: version(name) for name in ("lm_eval", "torch", "transformers")},
    }
    Path(result_file).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
