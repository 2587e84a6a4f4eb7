"""Paper tables: the IC-LKE paper's tables with our means beside them, relation by relation.

All take the answers of one way of asking, a row a question, with ``source``; our relations must have
the paper's names first (:func:`named_as_paper`). Means are over models that were asked the same facts.
``cues`` are of :func:`lkecore.answers.rules.beside`; what they say of a source that has none is empty.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lkecore import facts, intervals, papers
from lkecore.answers import rules
from lkecore.answers.tables import best_and_worst, by_relation, over_relations
from lkecore.intervals import Interval


def paper_names(relations: list[str], fact_set: str = "") -> dict[str, str]:
    """The IC-LKE paper's names of relations, for those that mean the same as one of the paper's.

    A name of Table 8 is itself; a Wikidata property is what we read Table 3 as; of ``fact_set``, its
    relations say which of the paper's they are. The facts behind a name need not be the paper's.
    """
    known = set(papers.table("iclke_table8_relations")["relation"])
    table = papers.table("iclke_table3_relations").dropna(subset="wikidata_pid_added")
    properties = table.set_index("wikidata_pid_added")["relation"].to_dict()
    found = {}
    for name in relations:
        of_paper = name if name in known else properties.get(name, "")
        if not of_paper and fact_set:
            of_paper = facts.load(fact_set, name).paper_relation
        if of_paper:
            found[name] = of_paper
    return found


def named_as_paper(answers: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The answers about relations that are the paper's, under its names; the others are left out.

    ``own`` has the names that the answers had.
    """
    of_paper = answers["relation"].map(names)
    named = answers.assign(own=answers["relation"], relation=of_paper)
    return named[of_paper.notna()].reset_index(drop=True)


def means_of_models(
    answers: pd.DataFrame, *, seed: int, cues: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The accuracy of each relation, mean over the models of a source, with an interval over facts.

    Columns: ``source``, ``models`` (how many), ``relation``, ``facts``, ``accuracy`` (Interval); ``left``,
    how many facts carry no cue, and ``no_cue``, the accuracy on these. It is None for fewer than two, and
    both are NaN and None where the cues are not there. The models are these very ones; what is drawn again
    are the facts. Raises :class:`lkecore.errors.BadInput` for a fact that the cues of its source lack.
    """
    rows = []
    for source, part in answers.groupby("source", sort=False):
        each = part.groupby(["relation", "fact"])["correct"].mean()
        plain = _no_cue(part, cues)
        few = None if plain is None else plain.groupby(["relation", "fact"])["correct"].mean()
        for name, of_facts in each.groupby("relation"):
            mean = intervals.mean_over_facts([of_facts], seed=seed)
            row = (source, part["model"].nunique(), name, len(of_facts), mean)
            if few is None:
                rows.append((*row, np.nan, None))
                continue
            rest = few[few.index.get_level_values("relation") == name]
            found = intervals.mean_over_facts([rest], seed=seed) if len(rest) > 1 else None
            rows.append((*row, len(rest), found))
    columns = ["source", "models", "relation", "facts", "accuracy", "left", "no_cue"]
    return pd.DataFrame(rows, columns=columns)


def _no_cue(part: pd.DataFrame, cues: pd.DataFrame | None) -> pd.DataFrame | None:
    """The answers of one source about facts without a cue; None where its cues are not there."""
    its = pd.DataFrame() if cues is None else cues[cues["source"] == part["source"].iloc[0]]
    if its.empty:
        return None
    own = part.assign(relation=part["own"], of_paper=part["relation"])
    told = rules.with_cues(own, its, named=f"{part['source'].iloc[0]}: ")
    return told[~told["cue"]].assign(relation=lambda some: some["of_paper"])


def table_3(means: pd.DataFrame) -> pd.DataFrame:
    """Table 3 whole: the 50 relations, the property we take each to be, and who asked it here."""
    found = papers.table("iclke_table3_relations")
    here = means.groupby("relation")["source"].agg(_joined)
    return pd.DataFrame(
        {
            "place": found["order_in_table3"],
            "relation": found["relation"],
            "property": found["wikidata_pid_added"].fillna(""),
            "templates": found["has_table5_templates"],
            "asked here": found["relation"].map(here).fillna(""),
        }
    )


def _joined(sources: pd.Series) -> str:
    return ", ".join(source.removeprefix("shipped: ") for source in sources)


def table_7(answers: pd.DataFrame, *, seed: int, cues: pd.DataFrame | None = None) -> pd.DataFrame:
    """Table 7 whole, 49 models, and below it ours, a row a model and source.

    Columns: ``source`` ("published" or ours), ``model``, ``family``, ``tuned``, ``relations``,
    ``accuracy``, ``low`` and ``high`` (over relations; NaN for the published, which have none),
    ``std`` over relations; ``no_cue``, the accuracy on facts without a cue
    (:func:`lkecore.answers.rules.with_no_cue`), as text, "" where nobody knows. A source with a single
    relation has an accuracy alone. The relations of ``answers`` have their own names.
    """
    paper = papers.table("iclke_table7_models")
    paper = paper.rename(columns={"average_accuracy": "accuracy", "is_finetuned": "tuned"})
    paper = paper.assign(source="published", relations=50, low=np.nan, high=np.nan)
    rows = []
    for row in over_relations(answers, ["source", "model"], seed=seed).itertuples():
        wide, spread = row.over_relations, row.spread
        ends = (wide.low, wide.high) if wide else (np.nan, np.nan)
        about = row.source, row.model, "", "", row.relations, row.over_facts.estimate
        rows.append((*about, *ends, spread.estimate if spread else np.nan))
    columns = ["source", "model", "family", "tuned", "relations", "accuracy", "low", "high", "std"]
    ours = pd.DataFrame(rows, columns=columns).assign(no_cue="")
    if cues is not None:
        by = ["source", "model"]
        left = rules.with_no_cue(ours[by], answers, cues, by, seed=seed)["no_cue"]
        ours["no_cue"] = [found.text(3) if found else "" for found in left]
    return pd.concat([paper[columns].assign(no_cue=""), ours], ignore_index=True)


def table_8(means: pd.DataFrame) -> pd.DataFrame:
    """Table 8 whole: the paper's mean of 35 models, and a column of text for each source of ours.

    Behind that of a source whose cues are there, one with the accuracy on facts without a cue, "of" how many.
    ``dates`` has a star where the paper's objects are full dates (:func:`lkecore.papers.published.starred`).
    """
    found = papers.table("iclke_table8_relations")
    shown = found[["rank", "relation"]].assign(paper=found["average_accuracy"].round(3))
    shown["dates"] = ["*" if name in papers.DATES else "" for name in shown["relation"]]
    for source, part in means.groupby("source", sort=False):
        texts = part.set_index("relation")["accuracy"].map(Interval.text)
        shown[source] = shown["relation"].map(texts).fillna("")
        if part["left"].notna().any():
            rest = {
                row.relation: f"{row.no_cue.text() if row.no_cue else '-'} of {row.left:.0f}"
                for row in part.itertuples()
            }
            shown[f"{source}, no cue"] = shown["relation"].map(rest).fillna("")
    return shown


def table_9(
    answers: pd.DataFrame, *, names: Mapping[str, str], cues: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Table 9 for our models: the three best and the three worst relations of each, by way of asking.

    Below each row, where the cues of its source are there, one over the facts without a cue, of the relations
    that have two or more of them: ``facts`` is "all" or "no cue". The other columns are ``source``,
    ``model``, ``estimator``, ``best`` and ``worst``. Relations have their own names, or those in ``names``.
    """
    by, parts = ["source", "model", "estimator"], [answers.assign(facts="all")]
    for _, mine in answers.groupby("source", sort=False):
        plain = _no_cue(mine.assign(own=mine["relation"]), cues)
        if plain is not None:
            parts.append(rules.enough(plain).assign(facts="no cue"))
    found = best_and_worst(pd.concat(parts), [*by, "facts"], names=names)
    place = found.groupby(by, sort=False).ngroup()
    return found.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)


def against_table_8(means: pd.DataFrame) -> pd.DataFrame:
    """Our means and the paper's for the same relations, as `figures.accuracy_scatter` takes them.

    A row for each relation and ``model``: "the paper" (its mean of 35 models, no interval) or "ours".
    Relations are named by :func:`lkecore.papers.published.starred`. Columns: ``source``, ``relation``,
    ``model``, ``accuracy``, ``low``, ``high``.
    """
    published = papers.table("iclke_table8_relations").set_index("relation")["average_accuracy"]
    paper = means.assign(accuracy=means["relation"].map(published), model="the paper")
    paper = paper.assign(low=paper["accuracy"], high=paper["accuracy"])
    ours = means.assign(
        model="ours",
        low=[interval.low for interval in means["accuracy"]],
        high=[interval.high for interval in means["accuracy"]],
        accuracy=[interval.estimate for interval in means["accuracy"]],
    )
    columns = ["source", "relation", "model", "accuracy", "low", "high"]
    both = pd.concat([paper, ours], ignore_index=True)[columns]
    return both.assign(relation=both["relation"].map(papers.starred))


def agreement(means: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Are relations that the paper's models know well known well here? Pearson's r with Table 8.

    Columns: ``source``, ``of``, ``relations``, ``r`` (Interval over relations). ``of`` is "all" or, where
    there are some, "without dates" (``papers.DATES``): the paper has full dates, and other sets of facts
    may have years. A source with fewer than 3 relations, or the same accuracy in all of them, has no row.
    """
    rows = []
    for source, part in against_table_8(means).groupby("source", sort=False):
        every = part.pivot(index="relation", columns="model", values="accuracy")
        others = every[~every.index.str.endswith("*")]
        parts = {"all": every} | ({"without dates": others} if len(others) < len(every) else {})
        for of, wide in parts.items():
            if len(wide) > 2 and wide["ours"].nunique() > 1:
                # Each mean stands twice: the interval draws relations again, and facts are none of it.
                groups = [
                    [[paper] * 2, [ours] * 2] for ours, paper in wide[["ours", "the paper"]].values
                ]
                r = intervals.correlation_over_relations(groups, seed=seed)
                rows.append((source, of, len(wide), r))
    return pd.DataFrame(rows, columns=["source", "of", "relations", "r"])


def same_relations(
    answers: pd.DataFrame, *, seed: int, cues: pd.DataFrame | None = None
) -> tuple[list[str], pd.DataFrame]:
    """(relations, table): the relations that all sources asked, and each model's accuracy over them.

    Columns: ``facts`` (whose: "paper" or a source), ``model``, ``accuracy`` (text: mean over these
    relations, with an interval over facts but for the paper's, which has none), ``chance``. Behind the
    models of a source of which there are ``cues`` stands the rule without a model that does best there, and
    their ``no_cue`` (text) is the accuracy on facts without a cue, over the relations that have two or more.
    With fewer than two sources, or nothing in common, there are no rows.
    """
    columns = ["facts", "model", "accuracy", "no_cue", "chance"]
    asked = [set(part["relation"]) for _, part in answers.groupby("source", sort=False)]
    shared = set.intersection(*asked) if len(asked) > 1 else set()
    if not shared:
        return [], pd.DataFrame(columns=columns)
    paper = papers.table("iclke_table8_relations")
    mean = paper.loc[paper["relation"].isin(shared), "average_accuracy"].mean()
    rows: list[tuple] = [("paper", "35 models", f"{mean:.2f}", "", 1 / 100)]
    common = answers[answers["relation"].isin(shared)]
    for (source, model), part in common.groupby(["source", "model"], sort=False):
        # In the order of the relations' own names: a bootstrap draws by place.
        ordered = part.sort_values("own", kind="stable")
        found = intervals.mean_over_facts(by_relation(ordered, "correct"), seed=seed)
        chance = (1 / part["n_options"]).groupby(part["relation"]).mean().mean()
        plain = _no_cue(ordered, cues)
        groups = [] if plain is None else by_relation(rules.enough(plain), "correct")
        left = intervals.mean_over_facts(groups, seed=seed).text() if groups else ""
        rows.append((source, model, found.text(), left, chance))
    for source, part in common.groupby("source", sort=False):
        its = pd.DataFrame() if cues is None else cues[cues["source"] == source]
        if len(its):
            its = its[its["relation"].isin(part["own"])]
            rule = rules.best(its)
            found = intervals.mean_over_facts(by_relation(its, rule), seed=seed)
            chance = (1 / its["n_options"]).groupby(its["relation"]).mean().mean()
            rows.append((source, f"no model, {rule}", found.text(), "", chance))
    return sorted(shared), pd.DataFrame(rows, columns=columns)
