"""Outputs: what models wrote here and in longer runs, beside what they ranked and what a rule gets.

What a longer run wrote about facts that are not ours to give away ships without names and without text: only
whether the object was found. These columns are all that is needed here.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import rules
from lkecore.answers.shipped import read
from lkecore.answers.tables import groups_of
from lkecore.answers.templates import ON, with_source
from lkecore.answers.verdicts import tested
from lkecore.errors import BadInput
from lkecore.intervals import Interval
from lkecore.models.lab import is_name

KEY = ["model", "fact_set", "kind", "estimator", "relation", "fact"]
ABOUT = ["fact_set", "relation", "fact"]
TUNED = "IC-generation-tuned"  # the claim on tuning


def with_rankings(texts: pd.DataFrame, ranked: pd.DataFrame) -> pd.DataFrame:
    """Outputs with one more column, ``ranking`` (bool): whether the same question was ranked rightly.

    Both have the columns ``KEY``; what was ranked and not written is left out. pandas' MergeError where a
    question is there twice.
    """
    ranking = ranked[[*KEY, "correct"]].rename(columns={"correct": "ranking"})
    return texts.merge(ranking, on=KEY, validate="1:1")


def beside(outputs: pd.DataFrame, profiles: Sequence[str], notebook: str) -> pd.DataFrame:
    """Outputs of :func:`with_rankings`, and below them those of longer runs that ship.

    A model of these is named with its profile, as in "smollm2 on table5_written". ``text``, ``subject`` and
    ``object`` are missing there if they do not ship. Raises :class:`BadInput` as
    :func:`lkecore.answers.shipped.read`, and for facts by number of which more were ranked than written: the
    numbers of the two would not be those of the same facts.
    """
    parts = [outputs.assign(fact=outputs["fact"].astype(str))]
    for name in profiles:
        texts, ranked = read(name, notebook, apart="written")[0], read(name, notebook)[0]
        if pd.api.types.is_numeric_dtype(texts["fact"]) and len(texts) != len(ranked):
            raise BadInput(
                f"results {name}: {len(ranked)} rankings and {len(texts)} outputs; facts that ship by "
                "number must all be written, so n_written must be n_facts"
            )
        both = with_rankings(texts, ranked)
        named = both.assign(model=both["model"] + ON + name, fact=both["fact"].astype(str))
        parts.append(named)
    return pd.concat(parts, ignore_index=True)


def with_rules(
    outputs: pd.DataFrame, cues: pd.DataFrame, profiles: Sequence[str], notebook: str
) -> pd.DataFrame:
    """Outputs of :func:`beside` with ``rule``: what the best rule without a model gets on the same options.

    And with ``cue`` (bool): whether anything gives the object of the fact away, by
    :func:`lkecore.answers.rules.cues`. ``cues`` are those of this page's facts
    (:func:`lkecore.answers.rules.of_sets`). The rule is the best one over the facts that the model was asked;
    its value for a fact is an expected share of right guesses, in [0, 1]. It chooses among options, so it is
    a yardstick for the ranking, and not for what is written.
    Raises :class:`BadInput` for results that ship without cues.
    """
    of_profile = {"": cues} | {name: read(name, notebook, apart="cues")[0] for name in profiles}
    parts = []
    for (label,), mine in groups_of(outputs, ["model"]):
        its = of_profile[label.partition(ON)[2]]
        its = its.assign(fact=its["fact"].astype(str))
        its = its.merge(mine[ABOUT].drop_duplicates(), on=ABOUT)
        told = its[ABOUT].assign(rule=its[rules.best(its)], cue=its[rules.CUES].any(axis=1))
        parts.append(mine.merge(told, on=ABOUT, how="left", validate="m:1"))
    return pd.concat(parts, ignore_index=True)


def first_kinds(outputs: pd.DataFrame) -> dict[str, str]:
    """{model: the first kind of prompts that it was asked with}, which shows examples."""
    return outputs.groupby("model", sort=False)["kind"].first().to_dict()


def sides(
    first: Mapping[str, str], bases: Mapping[str, str]
) -> dict[str, list[tuple[tuple[str, str], tuple[str, str]]]]:
    """{id of a claim: what it compares}, for :func:`lkecore.answers.written.differences`.

    ``first`` is of :func:`first_kinds`, ``bases`` has the base of each tuned model. A side is (model, kind).
    """
    return {
        "IC-generation-above": [((m, kind), (m, "hgp")) for m, kind in first.items()],
        "IC-generation-tuned": [((m, first[m]), (base, first[m])) for m, base in bases.items()],
    }


def for_claims(
    gaps: Mapping[str, pd.DataFrame], first: Mapping[str, str], column: str = "over_relations"
) -> dict[str, dict[tuple[str, ...], Interval]]:
    """What :func:`lkecore.answers.verdicts.judge` tests: the intervals of a column, by claim.

    ``gaps`` are of :func:`lkecore.answers.written.differences`, by the ids of :func:`sides`; ``first`` is of
    :func:`first_kinds`. The keys are (source, model, first kind of the model).
    """
    key = ["source", "model", "estimator"]
    return {
        claim: tested(with_source(its.assign(estimator=its["model"].map(first))), column, key)
        for claim, its in gaps.items()
    }


def longer(shares: pd.DataFrame) -> str:
    """A sentence on the longer runs in a table of :func:`lkecore.answers.written.shares`, else a dash.

    It tells the first kind of prompt of each. The shares are those of the measures "anywhere" and "stray".
    """
    told = []
    for (model,), part in groups_of(shares, ["model"]):
        if ON in model:
            kind = part["kind"].iloc[0]
            first = part[part["kind"] == kind].set_index("measure")["share"]
            said = f"by {model} in {first['anywhere'].text()} after {kind},"
            told.append(f"{said} {first['stray'].estimate:.2f} by accident")
    return f"In longer runs the right object is written {'; '.join(told)}." if told else "-"


def in_lab(
    tested: Mapping[str, Mapping[tuple[str, ...], Interval]],
) -> dict[tuple[str, str, str], str]:
    """The marks of verdicts on models that we tuned: {(claim, source, models): mark}.

    Their tuning is a check that the page can see one, and no finding on the tuning of chat models.
    """
    return {
        (TUNED, source, model): "tuned in the lab"
        for source, model, *_ in tested.get(TUNED, {})
        if is_name(model)
    }


def agreement(written: pd.DataFrame) -> pd.DataFrame:
    """Do writing and ranking agree, fact by fact? A row for each ``model`` and ``kind``.

    ``written`` has ``anywhere``, ``at_the_start`` and ``ranking`` (bool), each fact once. Columns:
    ``outputs``, how many; ``right``, those that hold the object anywhere; ``starting``, the share of
    these that begins with it (an Interval, Wilson; None of none); ``both``, ``only_written``,
    ``only_ranked``, ``neither``; ``kappa``: Cohen's, 1 if the two always agree, 0 if they agree as often
    as by chance, with an approximate 95 % interval (None where one of the two is always right or
    always wrong).
    """
    # Imported late: it takes a second that most users of this module need not wait.
    from statsmodels.stats.inter_rater import cohens_kappa

    rows = []
    for key, part in groups_of(written, ["model", "kind"]):
        a, b = (part[name].to_numpy(dtype=bool) for name in ("anywhere", "ranking"))
        table = np.array([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]])
        kappa = None
        if table.sum(axis=0).all() and table.sum(axis=1).all():
            found = cohens_kappa(table)
            bounds = found.kappa, found.kappa_low, found.kappa_upp
            kappa = Interval(*map(float, bounds), 0.95, "Cohen's kappa")
        at_start = int(part.loc[a, "at_the_start"].sum())
        share = intervals.proportion(at_start, int(a.sum())) if a.any() else None
        rows.append((*key, len(part), int(a.sum()), share, *table.ravel(), kappa))
    columns = ["outputs", "right", "starting", "both", "only_written", "only_ranked", "neither"]
    return pd.DataFrame(rows, columns=["model", "kind", *columns, "kappa"])


def sentences(found: pd.DataFrame, compared: pd.DataFrame) -> dict[str, str]:
    """What came out, in words: ``written`` by the first model, its ``ranked`` answers, and ``tuned``.

    ``found`` is of :func:`lkecore.answers.written.shares`, ``compared`` of
    :func:`lkecore.answers.written.differences`, the rows about tuned models. A
    dash where there is nothing to say.
    """
    model = found["model"].iloc[0]
    wide = found[found["model"] == model].pivot(index="kind", columns="measure", values="share")
    kinds = found.loc[found["model"] == model, "kind"].unique()
    shares_of = [f"{wide.loc[kind, 'anywhere'].text()} after {kind}" for kind in kinds]
    first = wide.loc[kinds[0]]
    said = {
        "written": f"{model} writes the right object in {', '.join(shares_of)} (shares of facts, 95 % "
        f"intervals over facts); after {kinds[0]}, {first['stray'].estimate:.2f} would be found by accident.",
        "ranked": f"If the output must begin with the object, {first['at the start'].text()} is left "
        f"after {kinds[0]}; among options, {first['ranking'].text()} of the same facts are ranked first.",
    }
    tuned = [f"by {row.over_facts.text()} in {row.model}" for row in compared.itertuples()]
    after = f"Fine-tuning changes what is found after pairs {', '.join(tuned)}."
    return said | {"tuned": after if tuned else "-"}
