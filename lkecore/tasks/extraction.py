"""Facts that a frozen model gives when the question itself is learned (XT-S1).

A soft prompt is a template whose words are vectors, such as ``<author:0><author:1><author:2>
[X]<author:3><author:4><author:5> [Y]``. :func:`prompted` gives a model these words, so that every function
that asks with templates can ask with it. A fact is *known* if each token of its object in turn is the
likeliest of the vocabulary; a masked model has each at its own mask, and as many masks as tokens.
"""

import copy
import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.models.model import Model
from lkecore.prompts.instilled import full
from lkecore.prompts.prompt import template
from lkecore.scores import kinds, store
from lkecore.scores.batches import afters_of
from lkecore.scores.tokens import ids_of
from lkecore.storage import cache_folder, program_of
from lkecore.train import finetune, soft_prompts

Facts = Mapping[str, Sequence[Fact]]  # by relation
AROUND = 3, 3  # vectors before the subject, and after it
WORD = re.compile(r"<[^<>]+:\d+>")


@dataclass(frozen=True)
class Prompts:
    """Soft prompts: a template for each relation, and a vector for each of its words, float32.

    ``validation`` has (step, share of the validation facts that are known), recorded while they were learned.
    """

    templates: dict[str, str]
    vectors: np.ndarray
    validation: tuple[tuple[int, float], ...] = field(default=(), compare=False)

    @property
    def words(self) -> list[str]:
        """The new words, in the order of their vectors."""
        return [word for each in self.templates.values() for word in WORD.findall(each)]


def learn(
    model: Model,
    train: Facts,
    validation: Facts,
    recipe: finetune.Recipe,
    *,
    seed: int,
    start: Mapping[str, str] | None = None,
) -> Prompts:
    """Soft prompts for the relations of ``train``, all in one loop; the best on ``validation`` are returned.

    They begin as noise, three words before the subject and three after it, or with ``start`` as the words of
    a template for each relation: as many as its tokens, and with its meaning at first. The result is kept in
    the cache, and an interrupted run goes on. Raises :class:`BadInput` for an encoder-decoder, no
    facts, a template that cannot be a start, and as the scorer and :func:`lkecore.train.finetune.finetune`.
    """
    templates, ids = beginning(model, train, start)
    soft = Prompts(templates, np.empty((0, 0), np.float32))
    rows, valid = (
        [row for some in rows_of(model, soft, facts).values() for row in some]
        for facts in (train, validation)
    )
    if not rows or not valid:
        raise BadInput(f"{len(rows)} facts to learn from, {len(valid)} to validate: both need some")
    programs = [program_of(Path(module.__file__)) for module in (soft_prompts, finetune)]
    what = [program_of(Path(__file__)), *programs, templates, ids, rows, valid, asdict(recipe)]
    key = store.chunk_key(model, "kinds", ["soft prompts", *what, seed])
    path = cache_folder() / "prompts" / f"{key}.safetensors"
    tokens = 0
    if not path.exists():
        network, first = model.network, _with_words(model, soft).tokenizer.convert_tokens_to_ids
        n = len(soft.words)
        begin = soft_prompts.words(network, ids) if start else soft_prompts.noise(network, n, seed)
        folder = cache_folder() / "training" / f"prompts-{key[:32]}"
        name = f"soft prompts of {model.name}, seed {seed}, {key[:32]}"
        vectors, result = soft_prompts.learn(
            network, begin, first(soft.words[0]), rows, valid, recipe, folder, seed=seed, what=name
        )
        made = Prompts(templates, vectors, tuple(result.validation))
        save(path, model, made)
        shutil.rmtree(folder, ignore_errors=True)
        tokens = expected_tokens(model, train, validation, recipe, start)
    entry = {"tokens_forwarded": tokens, "from_cache": not tokens, "memory_gb": None}
    # A network in half precision computes in it, whatever the recipe says.
    own = recipe.precision if model.dtype == "float32" else model.dtype
    progress.record(model=model.name, **entry, trained_in=own)
    return load(path, model, list(train))


def ask(model: Model, prompts: Prompts | Mapping[str, str], facts: Facts) -> pd.DataFrame:
    """A model's answers about facts, by soft prompts or a template for each relation: a row for each fact.

    - ``relation``, ``fact``, ``model``;
    - ``correct`` (bool): the fact is known;
    - ``logprob`` of its object, in nats: the sum over its ``n_tokens``, the last column.

    After the blank a model that is not causal reads a full stop. Raises :class:`BadInput` for a relation
    without a prompt, and as the scorer of the model's kind does.
    """
    rows = rows_of(model, prompts, facts)
    every = [row for some in rows.values() for row in some]
    if isinstance(prompts, Prompts):
        with prompted(model, prompts) as other:
            said = soft_prompts.said(other.network, every)
    else:
        said = soft_prompts.said(model.network, every)
    tokens = sum(len(row.ids) for row in every)
    progress.record(model=model.name, tokens_forwarded=tokens, from_cache=False, memory_gb=None)
    return tidy(model, rows, facts, said)


def known(
    model: Model,
    sample: Mapping[str, Any],
    recipe: finetune.Recipe,
    *,
    seeds: Sequence[int] = (0,),
    templates: Sequence[int] = (0,),
    seed: int = 0,
) -> pd.DataFrame:
    """The facts of a sample that a model knows, by soft prompts and its best template: a row for each fact.

    - ``relation``, ``fact``, ``model``;
    - ``soft_0`` and so on (bool): known by the prompt learned from train facts with each of ``seeds``;
    - ``soft`` (bool): known by one of these; without ``seeds`` none is learned;
    - ``template`` (bool): known by the template of :func:`plain` that finds most train facts of the relation,
      whose name is ``best``; False and "" without ``templates``;
    - ``known`` (bool): ``soft`` or ``template``.

    ``seed`` draws the validation facts. BadInput as in :func:`check_apart`, :func:`learn` and :func:`ask`.
    """
    shown, asked = ({n: getattr(of, p) for n, of in sample.items()} for p in ("train", "facts"))
    check_apart(shown, asked)
    train, validation = divided(shown, seed=seed)
    learned = [learn(model, train, validation, recipe, seed=number) for number in seeds]
    said = [ask(model, prompts, asked) for prompts in learned]
    which = [(name, fact.id) for name, some in asked.items() for fact in some]
    found = pd.DataFrame(which, columns=["relation", "fact"]).assign(model=model.name, soft=False)
    for number, each in zip(seeds, said, strict=True):
        found[f"soft_{number}"] = each["correct"].to_numpy()
        found["soft"] |= found[f"soft_{number}"]
    found = found.assign(template=False, best="")
    if words := plain(sample, templates):
        on_train = {name: ask(model, own, train).groupby("relation") for name, own in words.items()}
        best = pd.DataFrame({n: of["correct"].mean() for n, of in on_train.items()}).idxmax(axis=1)
        own = ask(model, {name: words[best[name]][name] for name in asked}, asked)
        found = found.assign(template=own["correct"], best=own["relation"].map(best))
    return found.assign(known=found["soft"] | found["template"])


def plain(sample: Mapping[str, Any], places: Sequence[int]) -> dict[str, dict[str, str]]:
    """The templates at some places, from 0, that end with their blank: {"template-1": {relation: words}}.

    Each is one that all relations of the sample have: a model that reads from left to right can be asked
    with it. Raises :class:`BadInput` if places are given and no template fits.
    """
    found = {}
    for i in places:
        own = {name: of.relation.templates[i : i + 1] for name, of in sample.items()}
        if all(words and words[0].rstrip(".").endswith("[Y]") for words in own.values()):
            found[f"template-{i + 1}"] = {name: words for name, [words] in own.items()}
    if places and not found:
        raise BadInput(f"templates {list(places)}: none that all relations have ends with [Y]")
    return found


def tidy(
    model: Model, rows: Mapping[str, Sequence[Any]], facts: Facts, said: np.ndarray
) -> pd.DataFrame:
    """The frame of :func:`ask`; ``said`` is the result of :func:`lkecore.train.soft_prompts.said`."""
    which = [(name, fact.id) for name in rows for fact in facts[name]]
    frame = pd.DataFrame(which, columns=["relation", "fact"]).assign(model=model.name)
    n_tokens = [len(row.tokens) for some in rows.values() for row in some]
    return frame.assign(correct=said[:, 0] > 0, logprob=said[:, 1], n_tokens=n_tokens)


@contextmanager
def prompted(model: Model, prompts: Prompts) -> Iterator[Model]:
    """Yield the model with the words of soft prompts, under another digest, for any scorer to ask.

    Its weights are the model's own, which can be asked as before; afterwards the yielded one cannot be asked.
    If an output layer is longer than the vocabulary, the words' ids are among its rows that no text trained.
    """
    network, other = model.network, _with_words(model, prompts)
    first = other.tokenizer.convert_tokens_to_ids(prompts.words[0])
    other.__dict__["_loaded"] = network, 0.0
    try:
        with soft_prompts.looked_up(network, prompts.vectors, first):
            yield other
    finally:
        other.__dict__["_loaded"] = None, 0.0


def rows_of(
    model: Model, prompts: Prompts | Mapping[str, str], facts: Facts
) -> dict[str, list[soft_prompts.Row]]:
    """The questions about facts, in tokens, with the answer's tokens; no weights are loaded."""
    if model.kind == "seq2seq":
        raise BadInput(f"model {model.name} is seq2seq: extraction is for causal and masked models")
    soft = isinstance(prompts, Prompts)
    templates, lm = (prompts.templates, _with_words(model, prompts)) if soft else (prompts, model)
    if lacking := [name for name in facts if name not in templates]:
        raise BadInput(f"relation {lacking[0]} is to be asked, and has no prompt")
    found = {}
    for name, some in facts.items():
        words = templates[name] if model.kind == "causal" else full(templates[name])
        asked = template(words, some, [(fact.object,) for fact in some])
        found[name] = [_row(model.kind, encoded) for encoded in kinds.encode(lm, asked)]
    return found


def _row(kind: str, encoded: Any) -> soft_prompts.Row:
    if kind == "causal":
        [ids], [start] = encoded.sequences, encoded.starts
        return soft_prompts.Row(ids[:-1], tuple(range(start - 1, len(ids) - 1)), ids[start:])
    [ids], [own] = encoded.masked, encoded.options
    return soft_prompts.Row(ids, tuple(range(encoded.starts[0], encoded.ends[0])), own)


def _with_words(model: Model, prompts: Prompts) -> Model:
    """The model with a tokenizer that has the new words; it has no weights in memory."""
    from tokenizers import AddedToken

    tokenizer = copy.deepcopy(model.tokenizer)
    words = [AddedToken(word, normalized=False) for word in prompts.words]
    if tokenizer.add_tokens(words) < len(words):
        raise BadInput(f"model {model.name}: its tokenizer has words such as {prompts.words[0]}")
    digest = hashlib.sha256(f"{model.digest}\n{json.dumps(prompts.templates)}".encode())
    digest.update(prompts.vectors.tobytes())
    return replace(model, digest=digest.hexdigest(), tokenizer=tokenizer)


def beginning(
    model: Model, relations: Sequence[str] | Facts, start: Mapping[str, str] | None
) -> tuple[dict[str, str], list[int]]:
    """(soft templates, ids of the words that they begin as; none for noise)."""
    templates, ids = {}, []
    for name in relations:
        label = re.sub(r"\W+", "-", name)
        left, right = "[X]", " [Y]"
        before, behind = (range(n) for n in AROUND)
        if start:
            left, _, right = start[name].partition("[X]")
            middle, blank, rest = right.partition("[Y]")
            if not blank or rest.strip(" .") or not middle.strip():
                raise BadInput(
                    f"template {start[name]!r} cannot be the start of a soft prompt: its subject must "
                    "come first, then words, then its blank, and nothing behind that"
                )
            [before] = ids_of(model.tokenizer, [left.rstrip()]) if left.strip() else [()]
            behind = afters_of(model.tokenizer, [middle.rstrip()])[middle.rstrip()]
            left = f"{' ' * (left.rstrip() != left)}[X]"
            right = f"{' ' * (middle.rstrip() != middle)}[Y]"
            ids += [*before, *behind]
        else:
            left = " [X]"
        words = [f"<{label}:{i}>" for i in range(len(before) + len(behind))]
        n = len(before)
        templates[name] = "".join([*words[:n], left, *words[n:], right])
    return templates, ids


def divided(facts: Facts, *, share: float = 0.1, seed: int) -> tuple[dict, dict]:
    """(facts to learn from, facts to validate by): the latter of ``share`` of each relation's subjects.

    At least one subject of each validates. Raises :class:`BadInput` where none would be left to learn from.
    """
    train, validation = {}, {}
    for i, (name, some) in enumerate(facts.items()):
        subjects = sorted({fact.subject for fact in some})
        order = np.random.default_rng([seed, i]).permutation(len(subjects))
        n = max(1, round(share * len(subjects)))
        if n >= len(subjects):
            raise BadInput(f"relation {name}: {len(subjects)} subjects cannot be divided")
        aside = {subjects[place] for place in order[:n]}
        train[name] = [fact for fact in some if fact.subject not in aside]
        validation[name] = [fact for fact in some if fact.subject in aside]
    return train, validation


def check_apart(shown: Facts, asked: Facts) -> None:
    """Raise :class:`BadInput` for a subject that is both learned from and asked in one relation."""
    for name, some in asked.items():
        if both := {fact.subject for fact in some} & {fact.subject for fact in shown.get(name, [])}:
            raise BadInput(f"{min(both)!r} is both learned from and asked in {name}")


# --- files, and forecasts -------------------------------------------------------------------------


def save(path: Path, model: Model, prompts: Prompts) -> None:
    """Keep soft prompts as one safetensors file; its header names their model and tokenizer."""
    own = {"templates": json.dumps(prompts.templates), "curve": json.dumps(prompts.validation)}
    soft_prompts.save(path, prompts.vectors, _whose(model) | own)


def load(path: Path, model: Model, relations: Sequence[str]) -> Prompts:
    """Soft prompts that were kept, for the given relations. Raises :class:`BadInput` for those of another
    model or tokenizer, and for a relation that they lack.
    """
    vectors, about = soft_prompts.load(path, _whose(model))
    curve = tuple((step, value) for step, value in json.loads(about["curve"]))
    prompts = Prompts(json.loads(about["templates"]), vectors, curve)
    if lacking := [name for name in relations if name not in prompts.templates]:
        raise BadInput(f"{path}: no soft prompt for relation {lacking[0]}")
    return prompts


def _whose(model: Model) -> dict[str, str]:
    vocabulary = json.dumps(sorted(model.tokenizer.get_vocab().items()))
    tokenizer = hashlib.sha256(vocabulary.encode()).hexdigest()
    return {"tokenizer": tokenizer, "model": model.digest}


def expected_tokens(
    model: Model,
    train: Facts,
    validation: Facts,
    recipe: finetune.Recipe,
    start: Mapping[str, str] | None = None,
) -> int:
    """About the number of tokens that :func:`learn` forwards; a step's two passes count once; no weights."""
    soft = unlearned(model, train, start)
    rows, valid = (
        [len(row.ids) for some in rows_of(model, soft, facts).values() for row in some]
        for facts in (train, validation)
    )
    times = -(-recipe.steps // recipe.every)
    return round(recipe.steps * recipe.batch * np.mean(rows)) + times * sum(valid)


def unlearned(model: Model, relations: Facts, start: Mapping[str, str] | None = None) -> Prompts:
    """Soft prompts without content, for a forecast."""
    return Prompts(beginning(model, relations, start)[0], np.zeros((1, 1), np.float32))
