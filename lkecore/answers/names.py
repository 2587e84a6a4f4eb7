"""Names: what second names and second objects hide of a fact, where a rich world's text tells how often.

A subject may have two true objects, and a subject or an object a second name. Of each the text says how often
it tells it: of an object as of any fact, of an alias by its dose, how often it says that the name is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import facts, prompts
from lkecore.answers import rich
from lkecore.answers.found import BEHIND, PAIRS, uncued
from lkecore.answers.lab import OFTEN, worlds
from lkecore.errors import BadInput
from lkecore.facts import rich as rich_worlds
from lkecore.facts import worlds as worlds_of_lab
from lkecore.facts.drawn import Drawn, Sample
from lkecore.facts.fact import Fact
from lkecore.metrics import choice
from lkecore.models import lab
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt, template, templates_of

TOLD = "as told"  # by a sentence that told the fact and has its object at the end
WAYS = (PAIRS, TOLD)
BY_ALIAS = " by alias"  # behind the name of a way: the subject is called by its alias
TRUTH = [
    "subject", "object", "occurrences", "n_objects", "by_alias", "object_by_alias",
    "subject_alias", "object_alias", "subject_alias_dose", "object_alias_dose",
]  # fmt: skip
BOTH, ONE, NONE = "under both names", "under the name alone", "has no alias"
RULE = "most told object"  # of the relation, whatever the subject: the best rule without a model
TWIN = "-unplanted"


def asked(states: pd.DataFrame, often: int = OFTEN) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.facts.worlds.states`, of relations without cues.

    All told ones of subjects with several objects; of others those told ``often`` and more whose subject or
    object has an alias.
    """
    told = states["state"].eq("planted") & states["split"].eq("test")
    named = states["subject_alias"].ne("") | states["object_alias"].ne("")
    known = named & states["occurrences"].ge(often)
    return told & states["relation"].isin(uncued()) & (states["n_objects"].gt(1) | known)


def samples(
    models: Sequence[str], relations: Sequence[str], *, n_shots: int, often: int, seed: int
) -> dict[str, Sample]:
    """{world: sample}: the facts that are ``asked``, with every name of every object as an option.

    Options are the names of all objects of a relation and the aliases of those that have one, in one
    random order. Raises :class:`BadInput` for a world that is not rich, for ``often`` beyond what a text
    tells, and as :func:`lkecore.facts.drawn.draw`.
    """
    found: dict[str, Sample] = {}
    for spec in worlds(models):
        if not worlds_of_lab.is_rich(spec):
            raise BadInput(f"world {spec}: this page needs a rich one, such as lab:rich-1")
        states = worlds_of_lab.states(spec)
        most = states["occurrences"].max()
        if not 1 <= often <= most:
            raise BadInput(f"often {often}: must be 1 to {most}, as often as a text tells a fact")
        some = states[asked(states, often)]
        how = {"n_shots": n_shots, "n_facts": None, "n_options": 2, "seed": seed}
        how |= {"among": set(some["fact"]), "leave_out": True}
        drawn = facts.draw(spec, list(relations) or uncued(), **how)
        found[spec] = {
            name: replace(of, options=(_every_name(spec, name, seed),) * len(of.facts))
            for name, of in drawn.items()
        }
    return found


def _every_name(spec: str, relation: str, seed: int) -> tuple[str, ...]:
    made = rich_worlds.world(spec)
    alias = dict(zip(made.aliases["name"], made.aliases["alias"], strict=True))
    every = made.objects[relation]
    pool = sorted({*every, *(alias[name] for name in every if name in alias)})
    return tuple(pool[i] for i in np.random.default_rng(seed).permutation(len(pool)))


def questions(samples: Mapping[str, Sample]) -> dict[tuple[str, str, str], list[Prompt]]:
    """{(world, way, relation): prompts}: each fact by each of ``WAYS``, and by its subject's alias.

    By an alias (``BY_ALIAS`` behind the way) those are asked whose subject has one object alone. A fact that
    lists alone tell, or sentences that end otherwise, is asked by pairs only.
    """
    found: dict[tuple[str, str, str], list[Prompt]] = {}
    for spec, sample in samples.items():
        states = worlds_of_lab.states(spec).set_index("fact")
        alias = states.loc[states["n_objects"].eq(1), "subject_alias"].to_dict()
        for name, of in sample.items():
            other = [replace(f, subject=alias[f.id]) for f in of.facts if alias.get(f.id)]
            for some, behind in ((of.facts, ""), (other, BY_ALIAS)):
                made = {PAIRS: _in_pairs(of, some), TOLD: _as_told(of, some, states["templates"])}
                found |= {(spec, way + behind, name): qs for way, qs in made.items() if qs}
    return found


def _in_pairs(of: Drawn, some: Sequence[Fact]) -> list[Prompt]:
    return prompts.asking(PAIRS, of.relation, of.shots, some, of.options[: len(some)])


def _as_told(of: Drawn, some: Sequence[Fact], told: pd.Series) -> list[Prompt]:
    """By the first template that told each fact, of those that can be asked."""
    has, found = templates_of(of.relation), []
    for fact in some:
        if own := [i for i in map(int, told[fact.id].split()) if i in BEHIND]:
            found += template(has[f"template-{own[0]}"], [fact], of.options[:1])
    return found


def counts(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """How many facts of each world are asked because of what: a row a reason, a column a world."""
    rows = rich.with_states(rich.asked_facts(samples), TRUTH)
    several = rows["n_objects"].gt(1)
    why = {
        "subject has several objects": several,
        "subject has an alias": ~several & rows["subject_alias"].ne(""),
        "object has an alias": ~several & rows["object_alias"].ne(""),
    }
    return pd.DataFrame(
        {name: rows[is_so].groupby("world").size() for name, is_so in why.items()}
    ).T


# --- one question ---------------------------------------------------------------------------------


def read(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """What :func:`lkecore.answers.door.ask` reads of a model of a rich world, for ``by=lab.BY``.

    All questions have one list of options, with aliases. A row a question: ``fact``; ``correct``: the object
    is the likeliest *name*; ``other``: another true object of the subject is; ``left_out``: the object is the
    likeliest name when these are no options; ``alone``: with its alias in the place of its name (False where
    it has none); ``summed``: it is the likeliest object when each has the probability of its name and its
    alias together, all bool. ``alias_part``: of the probability of both together, the alias' part in
    [0, 1]; NaN without one. An unplanted twin is read as its planted one was told.
    """
    spec = str(lab.record(lm.path)["world"])
    options = choice.to_arrays(scores)
    names = scores["option"].to_numpy(dtype=object)[: options.logprob.shape[1]].tolist()
    own = rich_worlds.world(spec).aliases
    alias = dict(zip(own["name"], own["alias"], strict=True))
    at = {name: i for i, name in enumerate(names)}
    pairs = [(at[name], at[alias[name]]) for name in names if alias.get(name) in at]
    by_name, summed = options.logprob.copy(), options.logprob.copy()
    of_alias = np.full_like(by_name, -np.inf)  # of an object, by its place: that of its alias
    for name, its in pairs:
        of_alias[:, name] = options.logprob[:, its]
    summed = np.logaddexp(summed, of_alias)
    for each in (by_name, summed):
        each[:, [its for _, its in pairs]] = -np.inf
    every, gold = np.arange(len(by_name)), options.gold
    others = _others(spec, options.fact, names)
    swapped = by_name.copy()
    swapped[every, gold] = of_alias[every, gold]
    best = by_name.argmax(axis=1)
    both = np.logaddexp(by_name[every, gold], of_alias[every, gold])
    has_one = np.isfinite(of_alias[every, gold])
    return pd.DataFrame(
        {
            "fact": options.fact,
            "correct": best == gold,
            "other": others[every, best],
            "left_out": np.where(others, -np.inf, by_name).argmax(axis=1) == gold,
            "alone": has_one & (swapped.argmax(axis=1) == gold),
            "summed": summed.argmax(axis=1) == gold,
            "alias_part": np.where(has_one, np.exp(of_alias[every, gold] - both), np.nan),
        }
    )


def _others(spec: str, ids: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """(fact, option), bool: which options are other true objects of its subject."""
    states = worlds_of_lab.states(spec)
    other_of = dict(zip(states["fact"].tolist(), _other_objects(states), strict=True))
    return np.array([[name in other_of[fact] for name in names] for fact in ids], dtype=bool)


def _other_objects(states: pd.DataFrame) -> list[set[str]]:
    """The other true objects of the subject of each fact; ``states`` have all of its relation."""
    *key, own = (states[name].tolist() for name in ("relation", "subject", "object"))
    keys = list(zip(*key, strict=True))
    objects: dict[tuple[str, ...], set[str]] = {}
    for subject, name in zip(keys, own, strict=True):
        objects.setdefault(subject, set()).add(name)
    return [objects[subject] - {name} for subject, name in zip(keys, own, strict=True)]


# --- beside the truth -----------------------------------------------------------------------------


def beside_truth(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers beside what the text says (``TRUTH``), those of models of one size in all worlds together.

    Columns more: ``size``, the model without its world; ``way`` and ``called`` ("name" or "alias"), of the
    estimator; ``whose``: world and subject, which intervals draw. Below them the same facts as a rule
    answers that names the object which the text tells most often in the relation (``RULE``). Sorted by
    relation, world and fact.
    """
    found = rich.with_states(answers, TRUTH)
    called = np.where(found["estimator"].str.endswith(BY_ALIAS), "alias", "name")
    found = found.assign(
        size=found["model"].str.partition("/")[2],
        way=found["estimator"].str.removesuffix(BY_ALIAS),
        called=called,
        whose=found["world"] + " " + found["subject"],
    )
    found = pd.concat([found, _of_rule(found)], ignore_index=True)
    return found.sort_values(["relation", "world", "fact"], kind="stable", ignore_index=True)


def _of_rule(found: pd.DataFrame) -> pd.DataFrame:
    once = found.drop_duplicates(["world", "fact", "called"]).copy()
    parts = []
    for (spec, relation), part in once.groupby(["world", "relation"]):
        states = worlds_of_lab.states(spec)
        states = states[states["relation"] == relation]
        often = states.groupby("object")["object_told"].first()
        ranked = often.sort_values(ascending=False, kind="stable").index.tolist()
        other_of = dict(zip(states["fact"].tolist(), _other_objects(states), strict=True))
        others = [other_of[fact] for fact in part["fact"]]
        without = [next(name for name in ranked if name not in other) for other in others]
        right = part["object"].eq(ranked[0])
        parts.append(
            part.assign(
                correct=right,
                other=[ranked[0] in other for other in others],
                left_out=part["object"].to_numpy() == np.array(without, dtype=object),
                alone=right & part["object_alias"].ne(""),
                summed=right,
                alias_part=np.nan,
            )
        )
    return pd.concat(parts).assign(model=RULE, size=RULE, way="no model", estimator="no model")
