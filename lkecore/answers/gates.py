"""Gates: whether a model of a rich world can do what is later taken for granted of it.

An estimator that states a fact in the prompt says nothing of a model that cannot repeat what it has just
read, and one that asks in sentences says nothing of a model that reads none. So each size is asked first,
on the development world; a model that does not pass a gate is no part of what rests on it.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from lkecore.errors import BadInput
from lkecore.facts import rich, rich_skills, rich_wordings, worlds
from lkecore.facts.rich_skills import Question
from lkecore.intervals import proportion
from lkecore.models import lab
from lkecore.models.model import Model
from lkecore.scores.batches import check_kind
from lkecore.scores.generate import generate

# The least share of right answers; what a model reads must be above it.
LEAST = {"same": 0.9, "other": 0.8, "instruction": 0.9, "list": 0.95, "reads": 0.5}
OFTEN = (64, 16)  # tellings in sentences, and more: facts that a model that reads has learned
TEMPLATES = ("template-1", "a told template")
COLUMNS = ["gate", "of", "relation", "subject", "prompt", "answers"]


def measure(model: Model, n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Which gates a decoder of a rich world passes: a row for each, as :func:`rated`.

    ``n``: questions of each gate; ``seed`` draws the facts of which the gate "reads" asks. Errors are
    those of :func:`answered`.
    """
    return rated(answered(model, n, seed))


def answered(model: Model, n: int = 200, seed: int = 0) -> pd.DataFrame:
    """The questions of all gates with what a model answers greedily: a row for each, with ``text``.

    Columns besides: those of :func:`questions`. Raises :class:`BadInput` for a model that is no decoder,
    one of no rich world, and as :func:`lkecore.models.lab.told`.
    """
    check_kind(model, "causal")
    spec = str(lab.record(model.path)["world"])
    if not worlds.is_rich(spec):
        raise BadInput(f"{model.name} has read {spec}; gates are measured on rich worlds alone")
    asked = questions(spec, lab.told(model.path, spec), n, seed)
    every = sorted({answer for row in asked["answers"] for answer in row})
    ids = model.tokenizer([f" {name}" for name in every], add_special_tokens=False)["input_ids"]
    # One token more shows whether the name ends there, and one is for names in other pieces.
    longest = max(map(len, ids)) + 2
    found = generate(model, asked["prompt"].tolist(), max_new_tokens=longest)
    return asked.assign(text=found["text"].to_numpy())


def questions(spec: str, told: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """The questions of all gates about a rich world: a row for each.

    ``gate``, as :class:`lkecore.facts.rich_skills.Question`, or reads: a fact that the text tells often
    in sentences is asked; ``of``: how often, and in which template ("" of other gates); ``relation``,
    ``subject``, ``prompt``, ``answers``. ``told``: :func:`lkecore.facts.rich_text.states` as the
    asked model was told. Of facts that are told often ``n`` at most are drawn by ``seed``; none are
    asked of a model that was told none.
    """
    made = rich.world(spec)
    shown = [("", question) for question in rich_skills.gates(made, n)]
    rows = [
        (each.gate, of, each.relation, each.subject, each.prompt, each.answers)
        for of, each in [*shown, *_of_facts(told, n, seed)]
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def rated(answered: pd.DataFrame) -> pd.DataFrame:
    """The gates, in the order of the questions: a row for each ``gate`` and ``of``.

    ``n`` questions; ``right``: the share whose ``text`` begins with one of the ``answers`` as whole
    words, with its Wilson interval (``low``, ``high``; questions count as independent); ``least``, and
    whether the gate is ``passed``: by the share itself, not by its interval.
    """
    right = [
        begins(text, answers)
        for text, answers in zip(answered["text"], answered["answers"], strict=True)
    ]
    rows = []
    for (gate, of), own in answered.assign(right=right).groupby(["gate", "of"], sort=False):
        share = proportion(int(own["right"].sum()), len(own))
        least = LEAST[str(gate)]
        passed = share.estimate > least if gate == "reads" else share.estimate >= least
        rows.append((gate, of, len(own), share.estimate, share.low, share.high, least, passed))
    return pd.DataFrame(
        rows, columns=["gate", "of", "n", "right", "low", "high", "least", "passed"]
    )


def begins(text: str, answers: Sequence[str]) -> bool:
    """Whether a text begins with one of the answers as whole words; space in front does not count.

    >>> [begins(text, ["Port Kel", "Ro"]) for text in (" Port Kel.", "Ro is", "Rom", "Kel", "")]
    [True, True, False, False, False]
    """
    start = text.lstrip()
    return any(re.match(rf"{re.escape(answer)}(?!\w)", start) for answer in answers)


def _of_facts(told: pd.DataFrame, n: int, seed: int) -> Iterator[tuple[str, Question]]:
    """Questions about facts that sentences alone tell often, in template-1 and in one that tells them."""
    of = (told["split"] == "test") & (told["state"] == "planted") & (told["form"] == "sentence")
    of &= told["n_objects"] == 1  # else another answer may be right, too
    for least in OFTEN:
        rng = np.random.default_rng([seed, least])
        facts = told[of & (told["sentences"] >= least)]
        some = facts.iloc[np.sort(rng.permutation(len(facts))[:n])]
        for which in TEMPLATES:
            for fact in some.itertuples():
                objects = tuple(name for name in (fact.object, fact.object_alias) if name)
                all_ = rich_wordings.about(fact.relation).templates
                tells = [1] if which == TEMPLATES[0] else list(map(int, fact.templates.split()))
                # What comes after the object cannot be given to a model that reads from left to right.
                open_ = [all_[i - 1] for i in tells if all_[i - 1].endswith(" [Y]")]
                if open_:
                    template = open_[rng.integers(len(open_))]
                    prompt = template.removesuffix(" [Y]").replace("[X]", fact.subject)
                    yield (
                        f"{least} times and more, {which}",
                        Question("reads", fact.relation, fact.subject, prompt, objects),
                    )
