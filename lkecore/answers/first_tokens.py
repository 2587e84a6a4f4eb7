"""First tokens: whether the first token of an object identifies it among the objects of its relation.

All numbers at a blank are about an object's first token. Whether that token identifies the object depends
on all objects of the relation, not only on the options that were offered.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn, Sample
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores import blanks

SETS = ("alone", "one token", "all")  # of facts: by the first token of the object


def sets(rows: pd.DataFrame) -> np.ndarray:
    """The set of each row, one of three, from its columns ``shared``, ``merged`` and ``n_tokens``.

    - "alone": no other object of the relation has the first token of this one;
    - "one token": the same, and that token is the whole object;
    - "shared": all other rows, also those whose token merges with the text beside the blank.
    """
    alone = ~rows["shared"].astype(bool) & ~rows["merged"].astype(bool)
    single = alone & rows["n_tokens"].eq(1)
    return np.where(single, SETS[1], np.where(alone, SETS[0], "shared"))


def shares_first_token(model: Model, asked: Sequence[Prompt], drawn: Drawn) -> list[bool]:
    """For each question whether its object begins with the first token of another object of its relation.

    ``asked`` are questions of one template, about facts of ``drawn``. All objects are encoded at the blank of
    the first question, since only subjects differ in the text before a blank. An object that cannot be asked
    there shares no token. Objects of no fact, which a world of the lab has, are among the options. The
    function needs the tokenizer alone. Raises :class:`BadInput` for questions that the model cannot be asked.
    """
    if not asked:
        return []
    one = blanks.gold_alone(asked[0])
    lead = one.continuations[0].removesuffix(one.options[0])
    names = dict.fromkeys([*drawn.relation.objects, *(n for own in drawn.options for n in own)])
    each = [replace(one, options=(name,), continuations=(lead + name,)) for name in names]
    begin: dict[int, set[str]] = {}
    for prompt, encoded in _encoded_if_possible(model, each):
        begin.setdefault(_first(model, encoded), set()).add(prompt.options[0])
    alone = [blanks.gold_alone(prompt) for prompt in asked]
    tokens = [_first(model, each) for each in blanks.encode(model, alone)]
    own = zip(alone, tokens, strict=True)
    return [bool(begin.get(token, set()) - {*prompt.options}) for prompt, token in own]


def _first(model: Model, encoded: Any) -> int:
    return blanks.first_tokens(model.kind, encoded)[0]


def _encoded_if_possible(model: Model, prompts: Sequence[Prompt]) -> list[tuple[Prompt, Any]]:
    """Questions, each with its tokens, without the questions that the model cannot be asked."""
    try:
        return list(zip(prompts, blanks.encode(model, prompts), strict=True))
    except BadInput:
        found = []
        for prompt in prompts:
            with suppress(BadInput):
                found.append((prompt, blanks.encode(model, [prompt])[0]))
        return found


def without(relations: Sequence[str], samples: Mapping[str, Sample]) -> dict[str, str]:
    """{relation: why it is left out} for the ``relations`` that are not in every one of the samples."""
    missing = [name for name in relations if not all(name in some for some in samples.values())]
    return dict.fromkeys(missing, "no fact to ask")
