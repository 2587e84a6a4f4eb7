"""Taught: explicit beside implicit instillation of the same facts, and beside what a rich world's text told.

Explicit: the fact stands in front of the question. Implicit: the model is fine-tuned on it and set back
(:mod:`lkecore.tasks.instill`). The paper asks whether the first can stand for the second.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lkecore import intervals
from lkecore.answers import door, rich
from lkecore.answers.blanks import at_blanks
from lkecore.answers.lab import OFTEN
from lkecore.answers.moved import FACT
from lkecore.answers.tables import groups_of
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.prompts.instilled import Instilled
from lkecore.prompts.prompt import Prompt
from lkecore.tasks import instill
from lkecore.tasks.instill import Recipe

LESSON = ["world", "reader", "estimator", "lesson", "relation"]  # of the questions that are taught
PLACES = ("location", "language")
MARKS = {"kl_apart": "KL apart", "line_apart": "off the line", "signs_apart": "signs apart"}
WAYS = {  # by which a fact can be found, by name: a column, turned so that more is better known
    "KL, told": "told_kl", "KL, taught": "taught_kl", "change, told": "told_change",
    "change, taught": "taught_change", "surprisal": "surprisal", "rank": "rank",
}  # fmt: skip


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.facts.worlds.states`.

    Those told rightly ``OFTEN`` times and more, and as many that are never told, their controls.
    """
    told = states["state"].eq("planted") & states["occurrences"].ge(OFTEN)
    if not told.any():  # a world for tests tells less often
        told = states["state"].eq("planted") & states["occurrences"].ge(4)
    return rich.or_controls(states, told)


def questions(
    samples: Mapping[str, Sample], models: Sequence[str], template: str, *, dtype: str
) -> dict[tuple[str, ...], list[Instilled]]:
    """The questions behind the fact, by ``moved.KEY``; a full stop stands behind a blank that is seen."""
    return {
        (world, *key): some
        for world, sample in samples.items()
        for key, some in at_blanks(models, sample, [template], dtype=dtype).items()
    }


def lessons(
    questions: Mapping[tuple[str, ...], Sequence[Instilled]],
    recipe: Recipe,
    *,
    at: Sequence[int],
    steps: int,
) -> dict[tuple[str, ...], list[Prompt]]:
    """The same questions without the statement, by ``LESSON``: what is taught is what is asked.

    Raises :class:`BadInput` as :func:`lesson`.
    """
    name = lesson(recipe, at=at, steps=steps)
    return {
        (world, reader, estimator, name, relation): [each.asked for each in some]
        for (world, reader, estimator, _, relation), some in questions.items()
    }


def recipe(
    models: Sequence[str],
    optimizer: str,
    rate: float,
    *,
    at: Sequence[int],
    steps: int,
    dtype: str = "float32",
    n: int = 1,
) -> Recipe:
    """How facts are taught: for as many steps as the last of those ``at`` which the model is asked.

    Raises :class:`BadInput`, before a model is asked, for ``at`` that does not rise from 1 or more, for
    ``steps``, after which a page compares, that are not among them, and for a recipe or a model with which
    nothing can be taught, where ``n`` facts are to be; and for ``n`` below 0.
    """
    if n < 0:
        raise BadInput(f"n_taught {n}: must be 0 or more facts of each relation")
    if not at or [*at] != sorted(set(at)) or at[0] < 1:
        raise BadInput(f"at {[*at]}: must be numbers of steps that rise from 1 or more")
    found = Recipe(at[-1], rate, optimizer)
    lesson(found, at=at, steps=steps)
    for name in models if n else ():
        instill.check(door.opened(name, dtype), found)
    return found


def lesson(recipe: Recipe, *, at: Sequence[int], steps: int) -> str:
    """What a way of teaching is called, without its steps: ``sgd 0.003``.

    Raises :class:`BadInput` if ``steps``, after which a page compares, are not among those ``at`` which
    the model is asked.
    """
    if steps not in at:
        raise BadInput(f"steps {steps}: the model is asked after {', '.join(map(str, at))} of them")
    return f"{recipe.optimizer} {recipe.rate:g}"


def together(told: pd.DataFrame, taught: pd.DataFrame) -> pd.DataFrame:
    """Both instillations of each fact side by side: a row for each model, fact, lesson and number of steps.

    ``told`` is of :func:`lkecore.answers.blanks.ask_blanks`, ``taught`` of
    :func:`~lkecore.answers.blanks.ask_taught`. Columns: ``FACT``, ``lesson``, ``steps``; ``told_kl`` and
    ``taught_kl`` in nats, ``told_change`` and ``taught_change``, H(P) - H(Q) in nats, signed; ``surprisal``
    (nats) and ``rank`` before; ``learned`` (bool): the object's first token comes first after the lesson;
    ``lost`` (bool): a step gave no number; ``source`` of ``told``; and of the text ``subject``, ``state``,
    ``occurrences``, ``control``, ``kind``. Facts whose object shares its first token with another one, or
    merges with the words before it, are left out. Sorted by relation and fact, since bootstraps draw by
    place.
    """
    alone = told[~told["shared"].astype(bool) & ~told["merged"].astype(bool)]
    found = both_ways(alone, taught, FACT)
    found = rich.with_states(found, ["subject", "state", "occurrences", "control", "kind"])
    return found.sort_values(["relation", "fact", "steps"], kind="stable", ignore_index=True)


def both_ways(told: pd.DataFrame, taught: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """What telling and teaching do to the same facts, as in :func:`together`, without the text's states.

    ``by``: the columns that name a fact of a model in both. A fact that one of the two lacks is left out.
    """
    explicit = told[[*by, "source", "kl", "surprisal", "rank"]].rename(columns={"kl": "told_kl"})
    explicit = explicit.assign(told_change=told["entropy"] - told["entropy_after"])
    implicit = taught[[*by, "lesson", "steps"]].assign(
        taught_kl=taught["kl"],
        taught_change=taught["entropy"] - taught["entropy_after"],
        learned=taught["rank_after"].eq(1),
        lost=taught["kl"].isna(),
    )
    return implicit.merge(explicit, on=list(by), validate="m:1")


def named_lost(rows: pd.DataFrame) -> list[str]:
    """The facts of which a step gave no number, a line for each model and relation of :func:`together`.

    Where there is none, one line says so.

    >>> rows = {"model": "m", "relation": "capital", "fact": ["1", "2", "2"], "steps": [5, 2, 5]}
    >>> named_lost(pd.DataFrame(rows | {"lost": [False, True, True]}))
    ['m, capital: a step gave no number for 2 (of 2 steps and more)']
    """
    lost = rows[rows["lost"]]
    first = lost.groupby(["model", "relation", "fact"], sort=False)["steps"].min().reset_index()
    lines = []
    for (model, relation), part in groups_of(first, ["model", "relation"]):
        each = [
            f"{f} (of {n} steps and more)" for f, n in zip(part["fact"], part["steps"], strict=True)
        ]
        lines.append(f"{model}, {relation}: a step gave no number for {', '.join(each)}")
    return lines or ["every step of every lesson gave a number"]


def rule(*, factor: float, least: float, small: float, deviations: float) -> dict[str, float]:
    """What counts as a mismatch, for :func:`mismatches`, by the names of its parameters.

    The paper says "significantly" of the KLs, and no more. Raises :class:`BadInput` for a factor of 1
    or below, deviations of 0 or below, and nats below 0.
    """
    if not factor > 1:
        raise BadInput(f"factor {factor:g}: must be above 1, the ratio of two equal KLs")
    if not deviations > 0:
        raise BadInput(f"deviations {deviations:g}: must be above 0 standard deviations")
    for name, value in (("least", least), ("small", small)):
        if not value >= 0:
            raise BadInput(f"{name} {value:g}: must be 0 nats or more")
    return {"factor": factor, "least": least, "small": small, "deviations": deviations}


def mismatches(
    rows: pd.DataFrame, *, factor: float, least: float, small: float, deviations: float
) -> pd.DataFrame:
    """The rows of :func:`together` with the facts marked that telling and teaching do not agree about.

    Four more columns (bool). ``kl_apart``: one KL is more than ``factor`` times the other, and one of them
    above ``least`` nats. ``line_apart``, the second rule: the fact lies more than ``deviations`` residual
    standard deviations off the line that fits the logarithm of taught on that of told KL, by least squares
    over the facts of a model, lesson and number of steps. Were they drawn from a bell curve, one in twenty
    would lie beyond two, however well telling and teaching agree. ``signs_apart``: the changes of
    entropy have two signs, both above ``small`` nats in size; ``undirected``: one is not, so that it has no
    direction. A fact that was lost, and one with a KL of 0 or an infinite one, lies on no line.
    """
    first, second = rows["told_change"], rows["taught_change"]
    undirected = first.abs().le(small) | second.abs().le(small)
    both = rows[["told_kl", "taught_kl"]].to_numpy(dtype=float)
    low, high = both.min(axis=1), both.max(axis=1)
    off = np.zeros(len(rows), dtype=bool)
    # A model may stand here twice, by the sources of its answers.
    by = [name for name in ("source", "model", "lesson", "steps") if name in rows]
    for places in rows.groupby(by, sort=False).indices.values():
        off[places] = _off_the_line(both[places], deviations)
    return rows.assign(
        kl_apart=(high > factor * low) & (high > least),
        line_apart=off,
        signs_apart=~undirected & (np.sign(first) != np.sign(second)) & ~rows["lost"],
        undirected=undirected,
    )


def _off_the_line(both: NDArray[np.float64], deviations: float) -> NDArray[np.bool_]:
    """Which of some facts, (fact, told and taught KL), lie off the line of their logarithms."""
    there = np.isfinite(both).all(axis=1) & (both > 0).all(axis=1)
    found = np.zeros(len(both), dtype=bool)
    if there.sum() < 3:  # two always lie on a line
        return found
    x, y = np.log(both[there]).T
    x, y = x - x.mean(), y - y.mean()
    residual = y - x * (x @ y) / max(float(x @ x), 1e-300)  # facts of one told KL: a level line
    spread = np.sqrt((residual @ residual) / (len(x) - 2))
    found[there] = np.abs(residual) > max(deviations * spread, 1e-9)  # a rounding is not apart
    return found


def by_steps(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """How well telling agrees with teaching, by how long is taught: by model, lesson and steps.

    Facts have their places among all, which resamples keep. Columns: ``facts``, and how many were
    ``lost`` besides; ``learned``: the share whose object comes first after the lesson; ``r of KL`` and
    ``r of change``: Spearman's correlation of told with taught; ``KL apart``, ``off the line`` and ``signs
    apart``: the shares of mismatches, as :func:`mismatches` has marked them; ``finds``: the AUROC of a small
    KL when taught, facts told often against their controls. Intervals over facts, or pairs.
    """
    found = []
    for key, whole in groups_of(rows, ["model", "lesson", "steps"]):
        part = whole[~whole["lost"]]
        if len(part) < 3:
            continue
        n = len(part)
        apart = [intervals.proportion(int(part[name].sum()), n) for name in MARKS]
        r = [
            intervals.correlation_over_facts(
                part[f"told_{name}"].rank(), part[f"taught_{name}"].rank(), seed=seed
            )
            for name in ("kl", "change")
        ]
        learned = intervals.proportion(int(part["learned"].sum()), n)
        finds = auroc(part, "taught_kl", seed=seed)
        row = (*key, n, len(whole) - n, learned, *r, *apart, finds)
        found.append(row)
    columns = ["model", "lesson", "steps", "facts", "lost", "learned", "r of KL", "r of change"]
    table = pd.DataFrame(found, columns=[*columns, *MARKS.values(), "finds"])
    return table.sort_values(["model", "lesson", "steps"], ignore_index=True)


def pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Told facts beside their never-told controls, of one lesson and number of steps: ``_control`` behind."""
    columns = ["told_kl", "taught_kl", "told_change", "taught_change", "surprisal", "rank"]
    each = rows[~rows["lost"]]
    each = each.assign(**{c: each[c].abs() for c in ("told_change", "taught_change")})
    told = each[each["state"].eq("planted")]
    return rich.beside_controls(told, each, columns, by=("model", "world", "relation"))


def auroc(
    rows: pd.DataFrame, column: str, *, seed: int, minus: str = "", of: str = ""
) -> Interval | None:
    """The AUROC of a small value, told facts against controls, over pairs; None for fewer than two pairs.

    ``minus``: less that by another column, on the same pairs. ``of``: a column, such as the subject, whose
    pairs are drawn together.
    """
    both = pairs(rows)
    if len(both) < 2:
        return None
    sides = [(-both[name], -both[f"{name}_control"]) for name in filter(None, (column, minus))]
    other, whose = sides[1] if minus else None, both[of] if of else None
    return intervals.auroc_over_pairs(*sides[0], minus=other, of=whose, seed=seed)


def aurocs(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Which way finds what was told? By model and way, of one lesson and number of steps.

    Columns: ``model``, ``way`` (of ``WAYS``), ``pairs``; ``finds``, the AUROC of a small value, and ``taught
    KL minus it``, on the same pairs: Intervals over pairs.
    """
    found = []
    for (model,), part in groups_of(rows, ["model"]):
        n = len(pairs(part))
        for way, column in WAYS.items():
            own = auroc(part, column, seed=seed)
            gap = None
            if column != "taught_kl":
                gap = auroc(part, "taught_kl", seed=seed, minus=column)
            found.append((model, way, n, own, gap))
    return pd.DataFrame(found, columns=["model", "way", "pairs", "finds", "taught KL minus it"])


def by_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """For which kinds of object do telling and teaching differ? By model and kind, of one lesson.

    Columns: ``model``, ``kind``; ``facts`` asked, and their share of ``all``; ``KL apart`` and ``signs
    apart``: of this kind's facts, the share that is a mismatch, Intervals (Wilson); and the kind's share of
    all mismatches, ``of KL apart`` and ``of signs apart``, to be held against that of ``all``.
    """
    found = []
    for (model,), part in groups_of(rows[~rows["lost"]], ["model"]):
        rules = ("kl_apart", "signs_apart")
        for kind, some in part.groupby("kind"):
            own = [intervals.proportion(int(some[c].sum()), len(some)) for c in rules]
            of = [some[c].sum() / (part[c].sum() or np.nan) for c in rules]
            found.append((model, kind, len(some), len(some) / len(part), *own, *map(float, of)))
    columns = ["model", "kind", "facts", "all", "KL apart", "signs apart"]
    return pd.DataFrame(found, columns=[*columns, "of KL apart", "of signs apart"])


def places_among(rows: pd.DataFrame) -> Interval | None:
    """The share of locations and languages among mismatches of KL minus that among all facts.

    Of these very relations: Newcombe's interval of a part against the whole, over facts. None where no
    fact, or every fact, is a mismatch.
    """
    part = rows[~rows["lost"]]
    return intervals.share_above_whole(part["kind"].isin(PLACES), part["kl_apart"])
