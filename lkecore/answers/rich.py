"""Rich: questions about rich worlds, and the confidence in each object that the text states or hints at.

The statements of a text are in :func:`lkecore.worlds.text.states` and are not repeated in answers;
:func:`with_states` joins the two.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import facts
from lkecore import worlds as worlds_of_lab
from lkecore.answers.lab import worlds
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.fact import Fact
from lkecore.models import lab
from lkecore.models.model import Model
from lkecore.stats import choice
from lkecore.worlds import world as rich
from lkecore.worlds.facts import BETWEEN

MOST_TOLD = 3  # the most objects that a text states of one fact
TOLD = [f"confidence_{i}" for i in range(1, MOST_TOLD + 1)]
Choice = Callable[[pd.DataFrame], pd.Series]  # states: a bool for each, whether it is asked


def samples(
    models: Sequence[str],
    relations: Sequence[str],
    chosen: Choice,
    *,
    n_shots: int,
    seed: int,
    leave_out: bool = False,
) -> dict[str, Sample]:
    """{world: sample} with the facts of rich worlds that ``chosen`` picks by their states.

    Only test facts whose subject has one object in the relation are asked. So all objects that the world has
    for the relation can be options, also those of no fact; their order is random. With ``leave_out``, a
    relation with no fact to ask is left out. Raises :class:`BadInput` for a model that has read no rich
    world, for relations with no fact to ask, and as :func:`lkecore.facts.drawn.draw` does.
    """
    found = {}
    for spec in worlds(models):
        if not worlds_of_lab.is_rich(spec):
            raise BadInput(f"world {spec}: this page needs a rich one, such as lab:rich-1")
        states = worlds_of_lab.states(spec)
        some = states[chosen(states) & states["split"].eq("test") & states["n_objects"].eq(1)]
        names = list(relations) or list(some["relation"].unique())
        drawn = facts.draw(
            spec,
            names,
            n_shots=n_shots,
            n_facts=None,
            n_options=2,
            seed=seed,
            among=set(some["fact"]),
            leave_out=leave_out,
        )
        every = rich.world(spec).objects
        found[spec] = {
            name: replace(of, options=tuple(_all_options(of.facts, every[name], seed)))
            for name, of in drawn.items()
        }
    return found


def asked_facts(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """A row for each fact of :func:`samples`: ``world``, ``relation`` and ``fact``."""
    parts = [
        pd.DataFrame({"world": spec, "relation": name, "fact": [fact.id for fact in drawn.facts]})
        for spec, sample in samples.items()
        for name, drawn in sample.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _all_options(asked: Sequence[Fact], every: Sequence[str], seed: int) -> list[tuple[str, ...]]:
    return facts.draw_options(asked, every, len(every), seed)


@functools.lru_cache(maxsize=8)
def _states(spec: str) -> pd.DataFrame:
    """The states by fact, with how often the text states that a name is the alias of another (0: never)."""
    found = worlds_of_lab.states(spec).set_index("fact")
    doses = rich.world(spec).aliases.set_index("name")["dose"]
    for name in ("subject", "object"):
        found[f"{name}_alias_dose"] = found[name].map(doses).fillna(0).astype(int)
    return found


def with_cues(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """The ``reading`` of :func:`lkecore.answers.asking.ask` for a model of a rich world, with ``by=lab.BY``.

    A row for each question. Confidences are in [0, 1] and normalised over the options. Columns:

    - ``fact``;
    - ``correct`` (bool): the gold option is the likeliest;
    - ``picked``: the likeliest option; ties go to the first;
    - ``confidence`` in the picked option;
    - ``confidence_gold`` in the gold option;
    - ``confidence_cue`` in the option to which a cue points (NaN without a cue);
    - ``confidence_1`` to ``confidence_3`` in the objects that the text states of the fact, the most
      frequently stated first (NaN where it states fewer);
    - ``entropy`` of the options, in nats.

    For an unplanted twin, cues and stated objects are those of its planted twin. Raises :class:`BadInput` for
    an object that is no option.
    """
    states = _states(str(lab.record(lm.path)["world"]))
    options = choice.to_arrays(scores)
    shares = choice.confidence(options.logprob)
    names = scores["option"].to_numpy(dtype=object).reshape(shares.shape)
    every = np.arange(len(shares))
    best = choice.predictions(options.logprob)
    own = states.loc[options.fact]
    told = [objects.split(BETWEEN) if objects else [] for objects in own["told_objects"]]
    found = {
        "fact": options.fact,
        "correct": choice.correct(options.logprob, options.gold),
        "picked": names[every, best],
        "confidence": shares[every, best],
        "confidence_gold": shares[every, options.gold],
        "confidence_cue": _of(shares, names, own["cue_object"].tolist()),
    }
    for i, name in enumerate(TOLD):
        each = [objects[i] if i < len(objects) else "" for objects in told]
        found[name] = _of(shares, names, each)
    with np.errstate(divide="ignore", invalid="ignore"):
        found["entropy"] = -np.where(shares > 0, shares * np.log(shares), 0.0).sum(axis=1)
    return pd.DataFrame(found)


def _of(shares: np.ndarray, names: np.ndarray, wanted: Sequence[str]) -> np.ndarray:
    """The share of one option of each row, by its name; NaN for ""."""
    at = names == np.array(wanted, dtype=object)[:, None]
    there = np.array([name != "" for name in wanted])
    if lost := [name for name, yes, row in zip(wanted, there, at, strict=True) if yes > row.any()]:
        raise BadInput(
            f"{lost[0]!r} is not among the {names.shape[1]} options; ask with all objects"
        )
    return np.where(there, shares[np.arange(len(shares)), at.argmax(axis=1)], np.nan)


def untold(fact_set: str) -> set[str]:
    """The ids of the facts of a rich world that no text states; an empty set for any other fact set.

    What the text of another fact set states is not known.
    """
    if not worlds_of_lab.is_rich(fact_set):
        return set()
    return {*worlds_of_lab.states(fact_set).query("state == 'never'")["fact"]}


def guesses(found: pd.DataFrame, fact_set: str = "") -> pd.Series:
    """For each row (``model``, ``fact``) whether the model can only have guessed its fact; with its index.

    For a model of a rich world, guesses are the facts that no text of its world states; a twin has those of
    its planted twin. For any other model it is not known what its text states. There guesses are the facts
    that no text of the world ``fact_set`` states and, if there is a column ``rule``, those that `rule-word`
    gets right.
    """
    guess = pd.Series(False, found.index)
    for name, rows in found.groupby("model"):
        ours = lab.is_name(name)
        never = untold(lab.parse(name).world if ours else fact_set)
        given = rows["rule"].eq(True) if "rule" in rows and not (ours and never) else False
        guess[rows.index] = rows["fact"].isin(never) | given
    return guess


def with_states(answers: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Answers with some columns of the states of their facts; a twin gets those of its planted twin.

    ``answers`` have ``world``, ``relation`` and ``fact``. ``columns`` may also name ``subject_alias_dose``
    and ``object_alias_dose``: how often the text states that a name is the alias of this one, 0 where it has
    none. These two are in no digest of a world. Rows and their order stay the same.
    """
    parts = [_states(spec)[[*columns]].assign(world=spec) for spec in answers["world"].unique()]
    return answers.merge(pd.concat(parts).reset_index(), on=["world", "fact"], validate="m:1")


def or_controls(states: pd.DataFrame, told: pd.Series) -> pd.Series:
    """For each row of ``states`` whether its fact is ``told``, or is the control of such a test fact."""
    controls = set(states.loc[told & states["split"].eq("test"), "control"])
    return told | states["fact"].isin(controls)


def with_controls(
    told: pd.DataFrame,
    among: pd.DataFrame,
    columns: Sequence[str] = ("confidence_gold",),
    *,
    by: Sequence[str] = ("model", "world", "estimator"),
) -> pd.DataFrame:
    """Answers about stated facts, each with its control's: ``columns`` with the suffix ``_control``.

    ``told`` has the column ``control`` of the states; ``among`` has the answers about the controls. A fact
    and its control have the same values in the columns ``by``. A fact whose control is not in ``among`` is
    left out.
    """
    own = among[[*by, "fact", *columns]]
    names = {name: f"{name}_control" for name in columns} | {"fact": "control"}
    return told.merge(own.rename(columns=names), on=[*by, "control"], validate="m:1")
