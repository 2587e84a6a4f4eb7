"""minicons: time IncrementalLMScorer.conditional_score. Run as: PYTHON minicons_.py JOB.json RESULT.json

Job and result as in lmeval.py. minicons leaves the BOS token to the tokenizer's own default, which
must therefore be the policy of the job. The underscore keeps this file from hiding the package.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import torch
from minicons.scorer import IncrementalLMScorer
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(job_file: str, result_file: str) -> None:
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    torch.set_num_threads(job["threads"])
    tokenizer = AutoTokenizer.from_pretrained(job["model"])
    bos = tokenizer.bos_token_id
    if (bos is not None and tokenizer("a").input_ids[:1] == [bos]) != job["add_bos"]:
        sys.exit("minicons: this tokenizer's default for the BOS token is not the job's")
    network = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32).eval()
    scorer = IncrementalLMScorer(network, job["device"], tokenizer=tokenizer)
    tokens = 0

    def count(module, args, inputs):
        nonlocal tokens
        tokens += inputs["input_ids"].numel()

    network.register_forward_pre_hook(count, with_kwargs=True)

    def score(pairs):
        contexts, continuations = (list(strings) for strings in zip(*pairs, strict=True))
        # The continuation brings its own space; the default would be a mean over the tokens.
        return scorer.conditional_score(
            contexts, continuations, separator="", reduction=lambda logprobs: logprobs.sum().item()
        )

    pairs, rows = job["pairs"], job["batch_rows"]
    score(pairs[:1])
    tokens = 0
    start = time.perf_counter()
    logprob = [v for k in range(0, len(pairs), rows) for v in score(pairs[k : k + rows])]
    result = {
        "logprob": logprob,
        "seconds": time.perf_counter() - start,
        "tokens": tokens,
        "versions": {name: version(name) for name in ("minicons", "torch", "transformers")},
    }
    Path(result_file).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
