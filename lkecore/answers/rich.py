"""Rich: questions about rich worlds, and what an estimator says of each object that was told or hinted at.

What the text says of a fact stands in :func:`lkecore.facts.rich_text.states` and is not repeated in
answers; :func:`with_states` puts both beside each other.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from lkecore import facts, papers
from lkecore.answers import gates
from lkecore.answers.lab import reference, worlds
from lkecore.answers.shipped import sources_of
from lkecore.errors import BadInput
from lkecore.facts import rich
from lkecore.facts import worlds as worlds_of_lab
from lkecore.facts.drawn import Sample
from lkecore.facts.fact import Fact
from lkecore.facts.rich_facts import BETWEEN
from lkecore.intervals import Interval
from lkecore.metrics import choice
from lkecore.models import lab
from lkecore.models.model import Model

MOST_TOLD = 3  # objects that the text tells of one fact, at most
TOLD = [f"confidence_{i}" for i in range(1, MOST_TOLD + 1)]
# Of rows of one model and of its world: the intervals of claims.
Tests = Callable[[pd.DataFrame, pd.DataFrame], Mapping[str, Interval | None]]
MINUS = " minus "  # between two models of which a claim holds one against the other
BLANKS = "-blanks"  # behind the ids of claims about models that read blanks
# How often masked models read (`lkecore.models.lab.RICH_READINGS`) was decided after a look at this one.
LOOKED_AT, MARK = "lab:rich-1/bert", "readings chosen after a look"
# A model that does not repeat what the prompt tells cannot be asked what a statement in it moves. The row of
# a claim says whether it rests on that.
REPEATS = "same"
MISSES = {"misses the gate of repeating": REPEATS}
Choice = Callable[[pd.DataFrame], pd.Series]  # states: which of them are asked


def samples(
    models: Sequence[str],
    relations: Sequence[str],
    chosen: Choice,
    *,
    n_shots: int,
    seed: int,
    leave_out: bool = False,
) -> dict[str, Sample]:
    """{world: sample}: the facts of rich worlds that are ``chosen`` by their states.

    Only test facts whose subject has one object in the relation are asked, so that all objects that the
    world has for the relation can be options, also those of no fact; in random order. With ``leave_out``
    relations with nothing to ask are left out. Raises :class:`BadInput` for a model that has read no rich
    world, for relations with nothing to ask, and as :func:`lkecore.facts.drawn.draw`.
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
    """The facts of :func:`samples`: a row for each, with ``world``, ``relation`` and ``fact``."""
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
    """The states by fact, with how often the text says that a name is the alias of another (0: none)."""
    found = worlds_of_lab.states(spec).set_index("fact")
    doses = rich.world(spec).aliases.set_index("name")["dose"]
    for name in ("subject", "object"):
        found[f"{name}_alias_dose"] = found[name].map(doses).fillna(0).astype(int)
    return found


def beside_hints(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """What :func:`lkecore.answers.door.ask` reads of a model of a rich world, for ``by=lab.BY``.

    A row a question: ``fact``; ``correct`` (bool); ``picked``, the likeliest option, ties to the first;
    ``confidence`` in it, ``confidence_gold`` in the gold option and ``confidence_cue`` in the one that a
    cue points to (NaN without a cue), all in [0, 1], normalised over the options;
    ``confidence_1`` to ``confidence_3``: in the objects that the text tells of the fact, the one that it
    tells most first (NaN where it tells fewer); ``entropy`` of the options, nats. An unplanted twin is
    read as its planted one was told. Raises :class:`BadInput` for an object that is no option.
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


def with_states(answers: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Answers with some columns of the states of their facts; a twin's are those of its planted one.

    Besides: ``subject_alias_dose`` and ``object_alias_dose``, how often the text says that a name is the
    alias of this one, 0 where it has none. They stand in no digest of a world. ``answers`` have ``world``,
    ``relation`` and ``fact``. Rows and order stay.
    """
    parts = [_states(spec)[[*columns]].assign(world=spec) for spec in answers["world"].unique()]
    return answers.merge(pd.concat(parts).reset_index(), on=["world", "fact"], validate="m:1")


def claimed(
    rows: pd.DataFrame, tests: Tests, beside_twin: Tests | None = None
) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of claims, {claim: {(source, model): interval}}, of each world of some rows.

    ``rows`` have a ``source``. Claims are about the largest decoder and, where there is such a claim with
    ``BLANKS`` behind its id, about the largest masked and the largest encoder-decoder model. ``tests`` gets
    the rows of one model and those of all models of its world, and gives the intervals by the claims of
    decoders; None: it has none. Where it misses a gate on which a claim rests, the claim is also about the
    largest one of its kind that misses none of these, if there is one.
    ``beside_twin`` gets the rows of the largest model whose unplanted twin was asked, and those of the twin.
    A kind of which only variants were asked is not judged.
    """
    needed = _needed()
    found: dict[str, dict[tuple[str, str], Interval]] = {}
    for _, part in rows.groupby("world", sort=False):
        of_model = dict(list(part.groupby("model", sort=False)))
        names = [name for name in of_model if not lab.parse(name).variant]
        for kind in dict.fromkeys(lab.recipe(name).kind for name in names):
            own = [name for name in names if lab.recipe(name).kind == kind]
            best, behind = reference(own), "" if kind == "causal" else BLANKS
            given = [(key_of(part, best), tests(of_model[best], part))]
            able = {key: teller(own, needed.get(key, ())) for key in given[0][1]}
            for other in dict.fromkeys(able.values()):
                if other != best:
                    of_it = tests(of_model[other], part)
                    its = {key: each for key, each in of_it.items() if able.get(key) == other}
                    given.append((key_of(part, other), its))
            if beside_twin and (own := [name for name in own if twin_of(part, name)]):
                best = reference(own)
                twin = twin_of(part, best)
                of_both = beside_twin(of_model[best], of_model[twin])
                given.append((key_of(part, best, beside=twin), of_both))
            for key, of_claim in given:
                for claim, interval in of_claim.items():
                    if interval is not None and (not behind or claim + behind in needed):
                        found.setdefault(claim + behind, {})[key] = interval
    return found


def key_of(rows: pd.DataFrame, *models: str, beside: str = "") -> tuple[str, str]:
    """(source, models): under what an interval is judged that is of one model, or of one minus another.

    The source is that of their rows, and of those of a model ``beside``, such as a twin, where there is one.
    """
    of = rows["model"].isin([*models, beside])
    return sources_of(rows[of]), MINUS.join(models)


def _needed() -> dict[str, list[str]]:
    """{claim of the lab: the gates that it rests on}, by the marks that its row names."""
    every = papers.claims("LAB")
    rows = zip(every["id"], every["marks"].str.split("; "), strict=True)
    return {key: [MISSES[mark] for mark in marks if mark in MISSES] for key, marks in rows}


def marks(
    claimed: Mapping[str, Mapping[tuple[str, str], Interval]],
) -> dict[tuple[str, str, str], str]:
    """{(claim, source, of): mark}: which verdicts say nothing of their claim, and why.

    Those on a model whose readings were chosen when it had been looked at; and those on a model that misses a
    gate on which the claim rests (``MISSES``), in what it writes or at the blank that it fills. Of a claim on
    twins that is the twin, and of "a minus b" either one. Of several marks the first is given. ``claimed``
    as of :func:`claimed`; for :func:`lkecore.answers.lab.judge`.
    """
    found, needed = {}, _needed()
    for claim, source, of in [(claim, *key) for claim, each in claimed.items() for key in each]:
        twin = "-unplanted" if "-twin" in claim and not of.endswith("-unplanted") else ""
        asked = f"{of}{twin}".split(MINUS)
        own = {mark: gate for mark, gate in MISSES.items() if gate in needed.get(claim, ())}
        lacks = [m for m, gate in own.items() if any(gates.misses(a, gate) for a in asked)]
        lacks += [MARK] * (BLANKS in claim and of == LOOKED_AT)  # of each way of teaching
        if lacks:
            found[claim, source, of] = lacks[0]
    return found


def twin_of(answers: pd.DataFrame, model: str) -> str:
    """The unplanted twin of a model among some answers, or "" if none was asked."""
    twin = f"{model}-unplanted"
    return twin if answers["model"].eq(twin).any() else ""


def teller(models: Sequence[str], needed: Sequence[str] = (REPEATS,)) -> str:
    """The largest model that misses none of the ``needed`` gates; the largest of all where there is none."""
    return reference(gates.able(models, needed) or models)


def or_controls(states: pd.DataFrame, told: pd.Series) -> pd.Series:
    """Which facts are ``told`` (bool), or the control of a test fact that is; a row of ``states`` each."""
    controls = set(states.loc[told & states["split"].eq("test"), "control"])
    return told | states["fact"].isin(controls)


def beside_controls(
    told: pd.DataFrame,
    among: pd.DataFrame,
    columns: Sequence[str] = ("confidence_gold",),
    *,
    by: Sequence[str] = ("model", "world", "estimator"),
) -> pd.DataFrame:
    """Answers about told facts, each beside what was said of its control: ``columns``, ``_control`` behind.

    ``told`` has the column ``control`` of the states; ``among`` holds the answers about the controls, alike
    in the columns ``by``. A fact whose control is not among them is left out.
    """
    own = among[[*by, "fact", *columns]]
    names = {name: f"{name}_control" for name in columns} | {"fact": "control"}
    return told.merge(own.rename(columns=names), on=[*by, "control"], validate="m:1")
