"""Order: models and relations as the papers' figures have them."""

from collections.abc import Mapping
from math import inf

import pandas as pd

from lkecore.models import catalogue
from lkecore.papers.published import table


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


def figure_13(accuracies: pd.DataFrame, called: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Rows of models and relations in the order in which Figure 13 has them, which is Figure 5's.

    ``accuracies``: a row for each model and relation, with ``model``, ``relation``, ``accuracy``;
    ``called`` and errors as in :func:`figure_5_order`. No rows, no order.
    """
    if not len(accuracies):
        return accuracies
    order = pd.MultiIndex.from_product(figure_5_order(accuracies, called))
    return accuracies.set_index(["model", "relation"]).loc[order].reset_index()
