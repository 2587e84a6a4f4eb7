"""Time the scorer against one plain forward pass per string: python -m benchmarks.scorer [MODEL].

The work is atlas facts, 50 shots, 100 options. The plain way is timed on a few options of one fact
and extrapolated; both sides take turns in one process, and medians are compared. It also checks
that the numbers agree.
"""

import statistics
import sys
import time

import numpy as np

from lkecore import facts, models, prompts
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import Encoded, encode
from lkecore.scores.tree import option_logprobs

N_FACTS, N_OPTIONS, N_SHOTS, PLAIN_OPTIONS, ROUNDS = 10, 100, 50, 5, 3


def work(relation: str) -> list[prompts.Prompt]:
    """Prompts of one relation in the paper's format."""
    chosen = facts.load("atlas", relation)
    train, test = facts.divide(chosen)
    asked = facts.draw_facts(test, N_FACTS, 0)
    options = facts.draw_options(asked, chosen.objects, N_OPTIONS, 0)
    return prompts.many_shot(facts.draw_shots(train, N_SHOTS, 0), asked, options)


def main() -> None:
    model = models.open_model(sys.argv[1] if len(sys.argv) > 1 else "smollm2")
    print(f"model {model.name}, {model.dtype}, {model.device}; {N_FACTS} facts a relation")
    for relation in ("capital", "country_of_city", "film_director"):
        questions = work(relation)
        first = encode(
            model.tokenizer, questions, add_bos=model.add_bos, context_length=model.context_length
        )[0]
        few = Encoded(
            first.prompt, first.sequences[:PLAIN_OPTIONS], first.starts[:PLAIN_OPTIONS], 0
        )
        option_logprobs_plain(model.network, few)  # warm up
        tree_seconds, plain_seconds = [], []
        for _ in range(ROUNDS):
            scored = option_logprobs(model, questions, use_cache=False)
            tree_seconds.append(scored.seconds)
            start = time.perf_counter()
            wanted = option_logprobs_plain(model.network, few)
            plain_seconds.append(
                (time.perf_counter() - start) / PLAIN_OPTIONS * N_FACTS * N_OPTIONS
            )
        found = scored.frame["logprob"].to_numpy()[:PLAIN_OPTIONS]
        tree, plain = statistics.median(tree_seconds), statistics.median(plain_seconds)
        print(
            f"{relation:16} tree {tree:6.1f} s, {scored.tokens_forwarded} tokens; plain "
            f"{plain:7.0f} s (from {PLAIN_OPTIONS} options); {plain / tree:5.0f} times faster; "
            f"largest difference {np.abs(wanted - found).max():.1e} nats"
        )


if __name__ == "__main__":
    main()
