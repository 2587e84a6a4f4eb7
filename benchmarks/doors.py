"""Two doors of the field, their software and ours on the same requests, both sides in one run.

    PEERS/bin/python -m benchmarks.doors [MODEL] [--questions N] [--bear FOLDER]

Runs in the peers' environment, where lm-evaluation-harness and lm-pub-quiz are. A row says what each side
forwarded, how long it took, and how far two numbers for one request are apart at most.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.work import SEED
from lkecore import facts, prompts
from lkecore.models.model import open_model
from lkecore.models.weights import locate
from lkecore.scores.tree import option_logprobs
from lkecore.tasks import statements

Pair = tuple[str, str]


def measured(network: Any, call: Callable[[], Any]) -> tuple[Any, int, float]:
    """(what the call returns, tokens forwarded with padding, seconds)."""
    tokens = 0

    def count(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        nonlocal tokens
        tokens += (named["input_ids"] if "input_ids" in named else given[0]).numel()

    hook = network.register_forward_pre_hook(count, with_kwargs=True)
    try:
        start = time.perf_counter()
        found = call()
        return found, tokens, time.perf_counter() - start
    finally:
        hook.remove()


def tasks(n: int) -> dict[str, list[Pair]]:
    """(context, continuation) of four tasks that differ in what is shared, and in how many names."""
    relation = facts.load("atlas", "country_of_city")
    train, test = facts.divide(relation)
    asked = facts.draw_facts(test, n, SEED)
    four, many = (facts.draw_options(asked, relation.objects, k, SEED) for k in (4, 100))

    def pairs(asking: Sequence[prompts.Prompt]) -> list[Pair]:
        return [(p.context, c) for p in asking for c in p.continuations]

    def shown(k: int, seed: int = SEED) -> tuple[facts.Fact, ...]:
        return facts.draw_shots(train, k, seed)

    lines = [
        f"City: {fact.subject}\n"
        + "".join(f"{a}. {o}\n" for a, o in zip("ABCD", names, strict=True))
        + "Answer:"
        for fact, names in zip(asked, four, strict=True)
    ]
    same = "".join(f"{f.subject}: {f.object}\n" for f in shown(5))
    drawn = [
        prompts.many_shot(shown(5, i), [fact], [names])[0]
        for i, (fact, names) in enumerate(zip(asked, four, strict=True))
    ]
    return {
        f"letters A to D, 5 same shots, {n} questions": [
            (same + q, f" {a}") for q in lines for a in "ABCD"
        ],
        f"4 names, 5 same shots, {n} questions": pairs(prompts.many_shot(shown(5), asked, four)),
        f"4 names, 5 shots drawn per question, {n} questions": pairs(drawn),
        "100 names, 50 shots, 4 questions": pairs(
            prompts.many_shot(shown(50), asked[:4], many[:4])
        ),
    }


def harness(given: dict[str, Any], n: int) -> list[dict[str, Any]]:
    """Rows of lm-evaluation-harness: ``--model hf``, and ``--model lke``, which are ``given`` the same."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    from lkecore.lmeval import TreeLM

    theirs, ours = HFLM(**given), TreeLM(**given)
    rows = []
    for name, pairs in tasks(n).items():
        asked = [Instance("loglikelihood", {}, pair, i) for i, pair in enumerate(pairs)]
        sides = []
        for lm in (ours, theirs):
            lm.loglikelihood(asked[:1], disable_tqdm=True)
            sides.append(measured(lm.model, partial(lm.loglikelihood, asked, disable_tqdm=True)))
        rows.append(compared(name, *sides))
    return rows


def bear(folder: Path, data: Path, n: int) -> list[dict[str, Any]]:
    """Rows of lm-pub-quiz: every score of ``n`` facts of two relations, by each of their templates."""
    from lm_pub_quiz import Evaluator

    evaluator = Evaluator.from_model(str(folder), model_type="CLM", device="cpu")
    model = statements.behind_a_beginning(open_model(str(folder), device="cpu"))
    rows = []
    for name in ("P36", "P1376"):
        relation = facts.load(str(data), name)
        relation = replace(relation, facts=relation.facts[:n])
        options = [fact.options for fact in relation.facts]
        for i, template in enumerate(relation.templates):
            asked = statements.whole(prompts.template(template, relation.facts, options))
            option_logprobs(model, asked[:1], use_cache=False)

            def score(asked: list[prompts.Prompt] = asked) -> list[tuple[float, bool]]:
                frame = option_logprobs(model, asked, use_cache=False).frame
                return [(x, True) for x in frame["logprob"]]

            def quiz(
                template: str = template, relation: Any = relation
            ) -> list[tuple[float, bool]]:
                return [
                    (x, True)
                    for f in relation.facts
                    for x in evaluator.score_answers(
                        template=template,
                        answers=list(f.options),
                        subject=f.subject,
                        reduction="sum",
                        batch_size=16,
                    )
                ]

            sides = measured(model.network, score), measured(evaluator.model, quiz)
            gold = np.array([fact.options.index(fact.object) for fact in relation.facts])
            right = {
                f"{side}_accuracy": float((found.argmax(1) == gold).mean())
                for side, (scores, _, _) in zip(("ours", "theirs"), sides, strict=True)
                for found in [np.array([x for x, _ in scores]).reshape(len(gold), -1)]
            }
            rows.append(compared(f"BEAR {name}, template {i + 1}", *sides, **right))
    return rows


def compared(
    name: str, ours: tuple[Any, int, float], theirs: tuple[Any, int, float], **more: float
) -> dict[str, Any]:
    sums = np.array([[x for x, _ in side[0]] for side in (ours, theirs)])
    row = {
        "work": name,
        "requests": len(ours[0]),
        "theirs_tokens": theirs[1],
        "ours_tokens": ours[1],
        "theirs_seconds": round(theirs[2], 2),
        "ours_seconds": round(ours[2], 2),
        "nats_apart": float(np.abs(sums[0] - sums[1]).max()),
        "flags_equal": [flag for _, flag in ours[0]] == [flag for _, flag in theirs[0]],
        **more,
    }
    print(json.dumps(row), flush=True)
    return row


@click.command()
@click.argument("model", default="smollm2")
@click.option("--questions", default=60, show_default=True, type=click.IntRange(min=2))
@click.option(
    "--bear",
    "data",
    type=click.Path(path_type=Path, exists=True),
    help="folder of BEAR's relations",
)
@click.option("--only", type=click.Choice(["harness", "bear"]))
@click.option(
    "--nats",
    default=1e-3,
    show_default=True,
    help="exit code 1 where two numbers are further apart",
)
def main(model: str, questions: int, data: Path | None, only: str | None, nats: float) -> None:
    """Time lm-evaluation-harness and lm-pub-quiz beside ours, and compare every number."""
    folder, rows = locate(model), []
    if only != "bear":
        given = {"pretrained": str(folder), "device": "cpu", "dtype": "float32", "batch_size": 16}
        rows += harness(given, questions)
    if only != "harness" and data is not None:
        rows += bear(folder, data, questions)
    elif data is None:
        print("BEAR is left out: --bear FOLDER")
    sys.exit(any(row["nats_apart"] > nats or not row["flags_equal"] for row in rows))


if __name__ == "__main__":
    main()
