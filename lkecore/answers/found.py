"""Found: questions about facts that a rich world's text told, asked in many wordings.

No fact here carries a cue, so that what is found was told, or is luck. Facts are asked by pairs, by four
sentences of four kinds, and, those that the text tells in one wording alone, by this wording and two others.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lkecore.answers import rich
from lkecore.facts.drawn import Sample
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt, template, templates_of
from lkecore.stats import choice
from lkecore.worlds.wordings import GROUP, about, groups, relations

PAIRS = "iclke-space"
WAYS = (PAIRS, "template-1", "template-6", "template-16", "template-21")
OWN, NEAR, FAR = WORDINGS = ("its own wording", "a paraphrase of it", "another kind of sentence")
BEHIND = [i for i, name in enumerate(groups(), start=1) if name != "object first"]  # can be asked


def uncued() -> list[str]:
    """The relations of a rich world in which nothing hints at an object."""
    return [name for name in relations() if not about(name).cue]


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.worlds.either.states`: told as they are, or never."""
    return states["state"].isin(["planted", "never"]) & states["relation"].isin(uncued())


def in_wordings(samples: Mapping[str, Sample], *, seed: int) -> dict[tuple[str, ...], list[Prompt]]:
    """The questions about facts that one wording alone tells, by it and by two others.

    Of those told in sentences alone, by a template that has its object at the end. ``NEAR`` is another one of
    the same kind, ``FAR`` one of another kind, both drawn by ``seed``.
    """
    found: dict[tuple[str, ...], list[Prompt]] = {}
    for spec, sample in samples.items():
        states = rich.with_states(rich.asked_facts({spec: sample}), ["form", "templates"])
        own = states[states["form"].eq("sentence") & states["templates"].str.fullmatch(r"\d+")]
        place = own.set_index("fact")["templates"].astype(int)
        place = place[place.isin(BEHIND)]
        for relation, drawn in sample.items():
            has, rng = templates_of(drawn.relation), np.random.default_rng(seed)
            for fact, options in zip(drawn.facts, drawn.options, strict=True):
                if fact.id not in place.index:
                    continue
                mine = place[fact.id]
                kin = [t for t in BEHIND if (t - 1) // GROUP == (mine - 1) // GROUP]
                near = rng.choice([t for t in kin if t != mine])
                far = rng.choice([t for t in BEHIND if t not in kin])
                for name, which in zip(WORDINGS, (mine, near, far), strict=True):
                    prompts = template(has[f"template-{which}"], [fact], [options])
                    found.setdefault((spec, name, relation), []).extend(prompts)
    return found


def plainly(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """What :func:`lkecore.answers.door.ask` reads: ``fact``, ``correct``, ``confidence_gold``."""
    return choice.answers(scores)[["fact", "correct", "confidence_gold"]]
