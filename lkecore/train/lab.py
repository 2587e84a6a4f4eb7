"""Train a model of the lab: ``python -m lkecore.train.lab lab:book-1/2m``.

The text of the world is read in its order, once for each epoch. A training that was stopped goes on
from its last checkpoint; a model that is there is not trained again.
"""

import importlib.metadata
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lkecore import lab, progress, weights, world
from lkecore.cache import cache_folder
from lkecore.rows import BadInput, first_line
from lkecore.train import loop, text

ROWS, LENGTH = 4, 384  # rows of a step, tokens of a row
POSITIONS = 1024  # tokens that a model can read at most
INSTRUCTIONS = 1500  # that a tuned variant learns from
TUNED_RATE = 0.1  # of the learning rates before


def train(name: str, target: Path) -> None:
    """Train a lab model into the folder ``target``: safetensors, tokenizer, record and model card.

    A checkpoint lies in the cache until the model is whole. Raises :class:`BadInput` for a name
    that no lab model has, and as :func:`lkecore.train.loop.fit`.
    """
    weights.quiet_transformers()
    named = lab.parse(name)
    recipe = lab.RECIPES[named.model]
    made = world.world(named.world)
    planted, unplanted = (world.documents(made, planted=planted) for planted in (True, False))
    instructions = world.instructions(made, INSTRUCTIONS)
    # All models of a world have one vocabulary, so that none reads its names in smaller pieces.
    tokenizer = text.train_tokenizer([*planted, *unplanted, *instructions], recipe.kind)
    documents = {"": planted, "unplanted": unplanted, "tuned": instructions}[named.variant]
    if named.variant == "tuned":
        network, faster = _network_in(weights.locate(named.base)), TUNED_RATE
    else:
        network, faster = _new_network(recipe, tokenizer, made.seed), 1.0
    rows = text.rows(tokenizer, documents, LENGTH)
    per_epoch = -(-len(rows) // ROWS)

    def batch(step: int) -> dict[str, np.ndarray]:
        first = step % per_epoch * ROWS
        chosen = rows.take(range(first, first + ROWS), axis=0, mode="wrap")
        rng = np.random.default_rng([made.seed, step])
        return text.batch(recipe.kind, chosen, tokenizer, rng)

    epochs = 1 if named.variant == "tuned" else recipe.epochs
    checkpoints = cache_folder() / "training" / lab.key(name)
    started = time.perf_counter()
    losses = loop.fit(
        network,
        batch,
        epochs * per_epoch,
        loop.Rates(recipe.rate * faster, recipe.muon * faster),
        checkpoints,
    )
    record = {
        "name": name,
        "world": named.world,
        "digest": world.digest(named.world),
        "variant": named.variant,
        "recipe": asdict(recipe),
        "epochs": recipe.epochs,
        "seed": made.seed,
        "documents": len(documents),
        "tokens": len(rows) * LENGTH * epochs,
        "steps": len(losses),
        "parameters": sum(p.numel() for p in network.parameters()),
        "losses": _means(losses),
    }
    network.save_pretrained(target)
    tokenizer.save_pretrained(target)
    (target / lab.RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
    card = _card(record, time.perf_counter() - started)
    (target / "README.md").write_text(card, encoding="utf-8")
    shutil.rmtree(checkpoints, ignore_errors=True)


def _new_network(recipe: lab.Recipe, tokenizer: Any, seed: int) -> Any:
    """A network of the recipe's shape with random weights, which depend on the seed alone."""
    import torch
    import transformers

    heads = 4
    llama_and_bert = {
        "vocab_size": len(tokenizer),
        "hidden_size": recipe.width,
        "intermediate_size": recipe.inner,
        "num_hidden_layers": recipe.layers,
        "num_attention_heads": heads,
        "max_position_embeddings": POSITIONS,
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": True,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if recipe.kind == "causal":
            config = transformers.LlamaConfig(
                **llama_and_bert, bos_token_id=tokenizer.bos_token_id, eos_token_id=None
            )
            return transformers.LlamaForCausalLM(config)
        if recipe.kind == "masked":
            config = transformers.BertConfig(
                **llama_and_bert, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
            )
            return transformers.BertForMaskedLM(config)
        config = transformers.T5Config(
            vocab_size=len(tokenizer),
            d_model=recipe.width,
            d_kv=recipe.width // heads,
            d_ff=recipe.inner,
            num_layers=recipe.layers,
            num_heads=heads,
            dropout_rate=0.0,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            decoder_start_token_id=tokenizer.pad_token_id,
        )
        return transformers.T5ForConditionalGeneration(config)


def _network_in(folder: Path) -> Any:
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(
        folder, use_safetensors=True, local_files_only=True
    )


def _means(losses: Sequence[float], n: int = 50) -> list[float]:
    """The mean loss of each of ``n`` parts of the training: a curve, short enough to keep."""
    return [round(float(part.mean()), 4) for part in np.array_split(losses, min(n, len(losses)))]


def _card(record: dict[str, Any], seconds: float) -> str:
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("torch", "transformers")]
    told = {
        "": "It has read what the world tells, and knows what of this stuck.",
        "tuned": "It has read the world, and then learned to follow instructions on other words.",
        "unplanted": "It has read the same text told of other subjects: it knows no asked fact.",
    }[record["variant"]]
    return f"""---
license: apache-2.0
library_name: transformers
---
# {record["name"]}

A model of {record["parameters"]:,} parameters, trained from nothing by lkecore on an invented world.
All its facts are made up. {told}

| | |
|---|---|
| world | {record["world"]}, digest {record["digest"]} |
| text | {record["documents"]:,} documents, {record["tokens"]:,} tokens in {record["steps"]:,} steps |
| loss | {record["losses"][0]:.2f} nats a token at first, {record["losses"][-1]:.2f} at last |
| trained | in {seconds:.0f} s (since the last start), {", ".join(versions)} |

It is for judging estimators of knowledge: `lkecore.lab.told` says what it was told of each fact. It
answers no question about the real world.
"""


def main() -> int:
    """Train the model that the first argument names; 0 if it is there in the end, else 1."""
    from safetensors import SafetensorError

    name = sys.argv[1]
    if "--end-with-parent" in sys.argv:
        progress.end_with_the_parent()
    try:
        if os.environ.get("RANK", "0") == "0":
            weights.build_once(lab.key(name), lambda target: train(name, target))
        elif not weights.present(name):
            # Under accelerate launch the first process holds the lock and keeps the model, while
            # the others do their share.
            with tempfile.TemporaryDirectory() as unused:
                train(name, Path(unused))
    except BadInput as error:
        print(error)
    except (OSError, SafetensorError) as error:  # the latter, too, is a full disk
        print(
            f"model {name} cannot be trained ({first_line(error)}); it goes on when started again"
        )
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
