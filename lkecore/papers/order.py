"""Order: models and relations as the papers' figures have them."""

from collections.abc import Mapping, Sequence
from math import inf

import pandas as pd

from lkecore.models import catalogue
from lkecore.papers.published import property_names, table


def figure_5_order(
    frame: pd.DataFrame, called: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """(models, relations) in the order of the IC-LKE paper's Figure 5 (IC-F5 and IC-F13).

    Families of models come by the accuracy of their member nearest 7 billion parameters, the best
    first, and the models of a family by their own; accuracy is the mean over relations. Relations
    of Table 8 come in its order, then the others, the best known first. Equals keep their order in
    the frame. `frame`: one row for each model and relation, with `model`, `relation`, `accuracy`.
    `called`: the paper's name of a relation, where it has another here. Family and nominal size are
    the catalogue's; a model that is not in it is a family of its own. Of two models as near, the
    one that is not fine-tuned counts, then the better. ValueError for a missing or second row.
    """
    wide = frame.pivot(index="model", columns="relation", values="accuracy")
    if wide.isna().any(axis=None):
        raise ValueError("each model needs each relation: else their means cannot be compared")
    wide = wide.loc[frame["model"].unique(), frame["relation"].unique()]
    models = wide.mean(axis=1).sort_values(ascending=False, kind="stable").index.tolist()
    known = catalogue.models().set_index("hub_id").drop("", errors="ignore")
    about = known.reindex([model.partition("@")[0] for model in models])
    families = about["family"].where(about["family"].notna(), models)
    family = dict(zip(models, families, strict=True))
    far = dict(zip(models, (about["params_b"] - 7).abs().fillna(inf), strict=True))
    nearest: dict[str, int] = {}  # of each family, the place of its member nearest 7 billion
    for model in sorted(models, key=lambda m: (far[m], catalogue.is_tuned(m) is True)):
        nearest.setdefault(family[model], models.index(model))
    rank = table("iclke_table8_relations").set_index("relation")["rank"].to_dict()
    relations = wide.mean().sort_values(ascending=False, kind="stable").index
    return (
        sorted(models, key=lambda m: nearest[family[m]]),
        sorted(relations, key=lambda r: rank.get((called or {}).get(r, r), inf)),
    )


def figure_5(
    answers: pd.DataFrame,
    fewer: Mapping[str, Sequence[str]],
    called: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """What a heat map in the manner of Figure 5 shows: accuracy by relation and way of asking.

    ``answers``: a row a question, with ``source``, ``model``, ``estimator``, ``relation`` and
    ``correct``; each model of a source was asked all its relations. ``fewer`` names the relations of
    a source that get a star. ``called`` as in :func:`figure_5_order`. A row for each relation and way,
    both in the order in which they are to be drawn: ``relation`` (the paper's name where it is a
    Wikidata property, with its star), ``asked`` (model, estimator and source, a line each), both with
    categories in that order, and ``accuracy`` (share in [0, 1]).
    """
    way = ["source", "model", "estimator", "relation"]
    heat = answers.groupby(way, sort=False)["correct"].mean().reset_index(name="accuracy")
    names = property_names()
    known = {**dict(_property_of_paper()), **(called or {})}
    relations: dict[str, int] = {}
    models: dict[tuple[str, str], int] = {}
    for source, part in heat.groupby("source", sort=False):
        first = part.drop_duplicates(["model", "relation"])  # its first estimator
        order = figure_5_order(first, known)
        models |= {(source, model): len(models) + i for i, model in enumerate(order[0])}
        for name in order[1]:
            relations.setdefault(name, len(relations))
    rank = table("iclke_table8_relations").set_index("relation")["rank"].to_dict()
    place = {n: (rank.get(known.get(n, n), inf), i) for n, i in relations.items()}
    sources = list(dict.fromkeys(heat["source"]))
    order = [
        (sources.index(s), models[s, m], place[r])
        for s, m, r in zip(heat["source"], heat["model"], heat["relation"], strict=True)
    ]
    heat = heat.iloc[sorted(range(len(heat)), key=lambda i: (order[i][2], order[i][:2]))]
    starred = {name for few in fewer.values() for name in few}
    shown = [names.get(n, n) + " *" * (n in starred) for n in heat["relation"]]
    asked = heat["model"] + "\n" + heat["estimator"]
    if len(sources) > 1:
        asked += "\n" + heat["source"].str.removeprefix("shipped: ")
    ways = asked[sorted(heat.index, key=lambda i: order[i][:2])].unique()
    heat = heat.assign(
        relation=pd.Categorical(shown, list(dict.fromkeys(shown))),
        asked=pd.Categorical(asked, ways),
    )
    return heat.reset_index(drop=True)


def _property_of_paper() -> pd.Series:
    """The paper's name of a Wikidata property, by property."""
    ids = table("iclke_table3_relations").dropna(subset="wikidata_pid_added")
    return ids.set_index("wikidata_pid_added")["relation"]
