"""Train a model of the lab: ``python -m lkecore.train.lab lab:book-1/2m``.

The text of the world is read in its order, once for each epoch. A training that was stopped goes on
from its last checkpoint; a model that is there is not trained again.
"""

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

from lkecore import progress, storage, worlds
from lkecore.errors import BadInput, first_line
from lkecore.models import lab, weights
from lkecore.models.convert import quiet_transformers
from lkecore.storage import cache_folder
from lkecore.train import loop, text

# Rows of a step, tokens of a row. A decoder has to see long lists. The others found out much sooner what
# the text is about from short rows.
SHAPES = {"causal": (4, 384), "masked": (24, 64), "seq2seq": (24, 64)}
# Lists of rich worlds have up to 50 pairs; with fewer rows a step there are more of them.
LONG = (2, 512)
POSITIONS = 1024  # tokens that a model can read at most
# A tuned variant reads the instructions so often, at this part of the learning rates before.
TUNED_EPOCHS, TUNED_RATE = 10, 0.3


def train(name: str, target: Path) -> None:
    """Train a lab model into the folder ``target``: safetensors, tokenizer, record and model card.

    The weights are rounded to bfloat16 in the end.
    A checkpoint lies in the cache until the model is whole. Raises :class:`BadInput` for a name
    that no lab model has, and as :func:`lkecore.train.loop.fit`.
    """
    import torch

    quiet_transformers()
    named = lab.parse(name)
    recipe = lab.recipe(name)
    spec, rich = named.world, worlds.is_rich(named.world)
    # In the first family the seed of a world is that of the training, too.
    seed = named.seed if rich else worlds.check(spec)
    planted, unplanted = (worlds.documents(spec, planted=planted) for planted in (True, False))
    instructions = worlds.instructions(spec)
    # All models of a world have one vocabulary, so that none reads its names in smaller pieces.
    tokenizer = text.train_tokenizer([*planted, *unplanted, *instructions], recipe.kind)
    documents = {"": planted, "unplanted": unplanted, "tuned": instructions}[named.variant]
    epochs = recipe.epochs
    if named.variant == "tuned":
        network, faster = _network_in(weights.locate(named.base)), TUNED_RATE
        epochs = TUNED_EPOCHS
        if rich:
            documents, epochs = _reminded(instructions, planted, seed), 1
    else:
        network, faster = _new_network(recipe, tokenizer, seed), 1.0
    n_rows, length = LONG if rich and recipe.kind == "causal" else SHAPES[recipe.kind]
    rows = text.rows(tokenizer, documents, length)
    marked = np.zeros_like(rows)
    if recipe.kind != "causal":
        told = worlds.told_objects(spec, documents, planted=named.variant != "unplanted")
        marked = text.marks(tokenizer, documents, told, length)
    per_epoch = -(-len(rows) // n_rows)

    def batch(step: int) -> dict[str, np.ndarray]:
        first = step % per_epoch * n_rows
        here = {"indices": range(first, first + n_rows), "axis": 0, "mode": "wrap"}
        rng = np.random.default_rng([seed, step])
        return text.batch(recipe.kind, rows.take(**here), marked.take(**here), tokenizer, rng)

    started = time.perf_counter()
    losses = loop.fit(
        network,
        batch,
        epochs * per_epoch,
        loop.Rates(recipe.rate * faster, recipe.muon * faster),
        _checkpoints(name),
        float32=rich,
    )
    record = {
        "name": named.name,
        "world": spec,
        "digest": worlds.digest(spec),
        "variant": named.variant,
        "recipe": asdict(recipe),
        "epochs": recipe.epochs,
        "seed": seed,
        "documents": len(documents),
        "tokens": len(rows) * length * epochs,
        "steps": len(losses),
        "parameters": sum(p.numel() for p in network.parameters()),
        "losses": _means(losses),
    }
    if rich and named.variant == "tuned":
        record["reminded"] = lab.REMINDED
    # Half the size, so that small models may ship. What is rounded is the model: it is what all are asked.
    network.to(torch.bfloat16).save_pretrained(target)
    tokenizer.save_pretrained(target)
    lab.write_sum(target)
    (target / lab.RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
    numbers = {"bf16": "bfloat16", "no": "float32"}[loop.precision()]
    machine = f"{network.device.type} in {numbers}, {torch.get_num_threads()} threads"
    card = lab.card(record, time.perf_counter() - started, machine)
    (target / "README.md").write_text(card, encoding="utf-8")


def _reminded(instructions: Sequence[str], own: Sequence[str], seed: int) -> list[str]:
    """The instructions, ``TUNED_EPOCHS`` times, among ``lab.REMINDED`` of a world's own documents."""
    rng = np.random.default_rng(seed)
    again = [own[i] for i in rng.permutation(len(own))[: round(lab.REMINDED * len(own))]]
    every = [*list(instructions) * TUNED_EPOCHS, *again]
    return [every[i] for i in rng.permutation(len(every))]


def make(name: str) -> Path:
    """Train a lab model into the cache unless it is there, under a lock; returns its folder."""
    folder = storage.build_once(lab.key(name), lambda target: train(name, target))
    shutil.rmtree(_checkpoints(name), ignore_errors=True)  # the model is whole and in its place
    return folder


def _checkpoints(name: str) -> Path:
    return cache_folder() / "training" / lab.key(name)


def _new_network(recipe: lab.Recipe, tokenizer: Any, seed: int) -> Any:
    """A network of the recipe's shape with random weights, which depend on the seed alone."""
    import torch
    import transformers

    heads = 4
    both = {
        "vocab_size": len(tokenizer),
        "hidden_size": recipe.width,
        "intermediate_size": recipe.inner,
        "num_hidden_layers": recipe.layers,
        "num_attention_heads": heads,
        "max_position_embeddings": POSITIONS,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "tie_word_embeddings": True,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if recipe.kind == "causal":
            return transformers.LlamaForCausalLM(
                transformers.LlamaConfig(**both, eos_token_id=None)
            )
        if recipe.kind == "masked":
            # Of the BERTs the one with rotary positions: with learned ones, 2,000 steps went by before
            # a network as small as this knew which words stand beside each other.
            config = transformers.ModernBertConfig(
                **both,
                cls_token_id=tokenizer.cls_token_id,
                sep_token_id=tokenizer.sep_token_id,
                eos_token_id=tokenizer.sep_token_id,
                global_attn_every_n_layers=1,
            )
            return transformers.ModernBertForMaskedLM(config)
        # Of the T5s the one with rotary positions, for the same reason: T5's own, a learned number for each
        # distance, left it at guessing.
        stack = transformers.T5GemmaModuleConfig(
            **{**both, "bos_token_id": tokenizer.eos_token_id},  # what the decoder begins with
            eos_token_id=tokenizer.eos_token_id,
            num_key_value_heads=heads,
            head_dim=recipe.width // heads,
            query_pre_attn_scalar=recipe.width // heads,
            layer_types=["full_attention"] * recipe.layers,
        )
        config = transformers.T5GemmaConfig(
            encoder=stack.to_dict(),
            decoder=stack.to_dict() | {"num_hidden_layers": 1, "layer_types": ["full_attention"]},
            vocab_size=len(tokenizer),
            decoder_start_token_id=tokenizer.eos_token_id,
        )
        return transformers.T5GemmaForConditionalGeneration(config)


def _network_in(folder: Path) -> Any:
    import torch
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, use_safetensors=True, local_files_only=True
    )


def _means(losses: Sequence[float], n: int = 50) -> list[float]:
    """The mean loss of each of ``n`` parts of the training: a curve, short enough to keep."""
    return [round(float(part.mean()), 4) for part in np.array_split(losses, min(n, len(losses)))]


def main() -> int:
    """Train the model that the first argument names; 0 if it is there in the end, else 1."""
    from safetensors import SafetensorError

    name = sys.argv[1]
    if "--end-with-parent" in sys.argv:
        progress.end_with_the_parent()
    try:
        if os.environ.get("RANK", "0") == "0":
            make(name)
        elif not weights.present(name):
            # Under accelerate launch the first process holds the lock and keeps the model, while
            # the others do their share.
            with tempfile.TemporaryDirectory() as unused:
                train(name, Path(unused))
    except BadInput as error:
        print(error)
    # A full disk, also while safetensors writes; a device that lacks memory or bfloat16.
    except (OSError, SafetensorError, RuntimeError, ValueError) as error:
        print(
            f"model {name} cannot be trained ({first_line(error)}); it goes on when started again"
        )
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
