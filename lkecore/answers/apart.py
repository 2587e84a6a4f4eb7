"""Apart: real facts about which telling and teaching do not agree, by kind of object (PZ-F3, PZ-F4).

What :mod:`lkecore.answers.taught` does with facts of the lab, for facts of which nobody knows how often a
model has read them.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from lkecore import intervals
from lkecore.answers import shipped, taught
from lkecore.answers.blanks import READ_BY, TAUGHT, TOLD, ask_blanks, ask_taught
from lkecore.answers.failing import places_among
from lkecore.answers.firsts import sets
from lkecore.answers.moved import of_set, places_within
from lkecore.answers.tables import groups_of
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.prompts.given import kinds_of
from lkecore.prompts.instilled import Instilled
from lkecore.tasks.instill import Recipe

BY = ("reader", "estimator", "lesson", "relation")  # of the questions that are taught
FACT = ["model", "relation", "fact"]


def ask(
    models: Sequence[str],
    questions: Mapping[tuple[str, str, str, str], Sequence[Instilled]],
    recipe: Recipe,
    *,
    n: int,
    at: Sequence[int],
    steps: int,
    sample: Sample | None = None,
    dtype: str = "float32",
    page: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(what telling, what teaching does) to the first ``n`` facts of each relation: a row for each.

    ``questions`` are of :func:`lkecore.answers.blanks.at_blanks`; those behind the fact count.
    What is taught is what is asked. Kept as ``answers-told.parquet`` and ``answers-taught.parquet``, with
    the same facts in both, so that their numbers in what ships are the same. Without facts (``n`` of 0)
    nothing is asked or kept, and both are empty. ``sample`` as for
    :func:`~lkecore.answers.blanks.ask_blanks`. Raises :class:`BadInput` as
    :func:`lkecore.answers.taught.lesson`, :func:`~lkecore.answers.blanks.ask_blanks` and
    :func:`~lkecore.answers.blanks.ask_taught`.
    """
    name = taught.lesson(recipe, at=at, steps=steps)
    if n < 0:
        raise BadInput(f"n_taught {n}: must be 0 or more facts of each relation")
    if not n:
        columns = [*FACT, "shared", "merged", "n_tokens", *TOLD], [*FACT, "lesson", *TAUGHT]
        first, second = (pd.DataFrame(columns=names) for names in columns)
        return first, second
    some = {key: own[:n] for key, own in questions.items() if key[2] == "explicit"}
    lessons = {
        (reader, estimator, name, relation): [each.asked for each in own]
        for (reader, estimator, _, relation), own in some.items()
    }
    source = {"dtype": dtype, "page": page}
    read = {"only": TOLD, "by": READ_BY, "sample": sample, **source}
    told = ask_blanks(models, some, "answers-told.parquet", **read)
    how = {"at": at, "by": BY, **source}
    return told, ask_taught(models, lessons, "answers-taught.parquet", recipe, **how)


def beside(
    told: pd.DataFrame,
    learned: pd.DataFrame,
    sample: Sample,
    profiles: Sequence[str],
    notebook: str,
    *,
    among: str = "alone",
) -> pd.DataFrame:
    """Both instillations of each fact that was told and taught; of this run, and of longer ones below.

    The first two are of :func:`ask`. Columns: those of :func:`lkecore.answers.taught.both_ways`, and
    ``source`` and ``kind``; sorted by relation and fact. Of the facts those count that are ``among`` this set
    (of ``firsts.SETS``). Longer runs that taught nothing are left out.
    """
    parts = [(told, learned, "this page")]
    for name in profiles:
        if not shipped.read(name, notebook)[1]["parameters"].get("n_taught"):
            continue  # a run that taught nothing
        frames = (shipped.read(name, notebook, apart=each)[0] for each in ("told", "taught"))
        parts.append((*frames, f"shipped: {name}"))
    kind = kinds_of(sample)
    found = []
    for first, second, source in parts:
        whole = of_set(first.assign(set=sets(first)), among)
        # Nothing is known of what a text told: no fact has a control.
        rows = taught.both_ways(whole.assign(source=source), second, FACT)
        rows = rows.assign(world="", state="", control="")
        found.append(rows.assign(kind=rows["relation"].map(kind).fillna("other")))
    every = pd.concat([rows for rows in found if len(rows)] or found, ignore_index=True)
    return every.sort_values(["relation", "fact", "steps"], kind="stable", ignore_index=True)


def by_steps(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """How well telling agrees with teaching, by how long is taught: by model and steps.

    ``rows`` are marked (:func:`lkecore.answers.taught.mismatches`). Columns: ``model`` (with the source),
    ``steps``, and of :func:`lkecore.answers.taught.by_steps` ``facts``, ``lost``, ``learned``, ``r of KL``,
    ``r of change``, ``KL apart``, ``off the line`` and ``signs apart``; beside them ``within``: the
    correlation of KL among the facts of a relation, by :func:`within_relations`.
    """
    named = _named(rows)
    within = {
        key: within_relations(part[~part["lost"]], seed=seed)
        for key, part in groups_of(named, ["model", "lesson", "steps"])
    }
    found = taught.by_steps(named, seed=seed).drop(columns="finds")
    keys = zip(found["model"], found["lesson"], found["steps"], strict=True)
    found.insert(found.columns.get_loc("r of KL") + 1, "within", [within[key] for key in keys])
    return found.drop(columns="lesson")


def by_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """:func:`lkecore.answers.taught.by_kind` of each model and source, after one number of steps."""
    return taught.by_kind(_named(rows))


def within_relations(rows: pd.DataFrame, *, seed: int) -> Interval:
    """The correlation of told with taught KL among facts of a relation, over facts.

    Spearman's, with places counted inside each relation: that one relation has larger values of both than
    another then counts for nothing. Relations with one fact have no order.
    """
    places = places_within(rows[["told_kl", "taught_kl"]], rows["relation"])
    return intervals.correlation_over_facts(*places, seed=seed)


def beside_surprisal(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Does KL order facts as the surprisal of the object does, for which nothing is told or taught? By model.

    ``rows`` are of one number of steps. Columns: ``model`` (with the source), ``facts``; ``told`` and
    ``taught``: Spearman's correlation of this KL with the surprisal before, Intervals over facts. At 1 the
    instillation adds nothing to the order; what else it says, near 0, need not be about knowledge.
    """
    found = []
    for (model,), whole in groups_of(_named(rows), ["model"]):
        part = whole[~whole["lost"]]
        if len(part) < 3:
            continue
        r = [
            intervals.correlation_over_facts(part[column], part["surprisal"], ranks=True, seed=seed)
            for column in ("told_kl", "taught_kl")
        ]
        found.append((model, len(part), *r))
    return pd.DataFrame(found, columns=["model", "facts", "told", "taught"])


def claimed(rows: pd.DataFrame, *, seed: int) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the claims on teaching: {claim: {(source, model): interval}}.

    ``rows`` are of one number of steps.
    """
    found: dict[str, dict[tuple[str, str], Interval]] = {}
    for key, part in groups_of(rows, ["source", "model"]):
        table = taught.by_steps(part, seed=seed)
        agree = None if table.empty else table["r of KL"].iloc[0]
        kept = part[~part["lost"]]
        places = places_among(kept, kept["kl_apart"], seed=seed)
        tests = {"PZ-taught-alike": agree, "PZ-taught-places": places}
        for claim, interval in tests.items():
            if interval is not None:
                found.setdefault(claim, {})[key] = interval
    return found


def sentence(rows: pd.DataFrame, *, seed: int) -> str:
    """What came out of teaching, in words, for each source and model; ``rows`` of one number of steps."""
    said = []
    for (source, model), part in groups_of(rows, ["source", "model"]):
        for row in taught.by_steps(part, seed=seed).to_dict("records"):
            within = within_relations(part[~part["lost"]], seed=seed)
            said.append(
                f"{shipped.called(model, source)} {row['r of KL'].text()}, and {within.text()} among "
                "facts of a relation"
            )
    if not said:
        return "Too few facts were taught to say how teaching differs from telling."
    own = [
        f"{row['told'].text()} and {row['taught'].text()} ({row['model']})"
        for row in beside_surprisal(rows, seed=seed).to_dict("records")
    ]
    return (
        "How far answers move when facts are taught, and how far when they are told, correlate with "
        f"{'; '.join(said)}. With how surprising the object was before either, told and taught KL correlate "
        f"with {'; '.join(own)}."
    )


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with models that are called by their source, too."""
    names = [shipped.called(*each) for each in zip(rows["model"], rows["source"], strict=True)]
    return rows.assign(model=names)
