"""What the page on separators says at its top, from the tables of :mod:`lkecore.answers.formats`."""

from collections.abc import Sequence

import pandas as pd

from lkecore.answers.formats import INSIDE
from lkecore.answers.tables import bounds
from lkecore.answers.templates import ON


def sentences(
    gains: pd.DataFrame,
    of_main: pd.DataFrame,
    effects: pd.DataFrame,
    by_kind: pd.DataFrame,
    models: Sequence[str],
) -> dict[str, str]:
    """Four findings: ``words``, ``spread``, ``place`` and ``read``; a dash where nothing was asked for one.

    Models of longer runs on several relations come first; without them it is the last of ``models``.
    ``of_main``: :func:`~lkecore.answers.formats_over.with_rules` of the main groups, by model.
    """
    longer = [model for model in of_main.index if ON in model]
    first = longer or [models[-1]]
    return {
        "words": _words(gains, first),
        "spread": _spread(of_main, longer or list(dict.fromkeys([models[0], models[-1]]))),
        "place": _place(gains, effects, longer),
        "read": _read(by_kind),
    }


def _words(gains: pd.DataFrame, models: Sequence[str]) -> str:
    said = []
    for model in models:
        own = gains[(gains["between"] == "words") & (gains["model"] == model)]
        each = own["over_relations"].combine_first(own["gain"])
        if ON in model:
            parts = [
                f"{g.text()} (words {kind})" for kind, g in zip(own["inside"], each, strict=True)
            ]
            said.append(f"{model} by {' and '.join(parts)}")
        else:
            moves = [gain.estimate for gain in each]
            said.append(f"{model} by {min(moves):+.2f} to {max(moves):+.2f}")
    return f"With words in the place of the space, the accuracy changes: {'; '.join(said)}."


def _spread(of_main: pd.DataFrame, models: Sequence[str]) -> str:
    said = [
        f"{row.spread.text()} for {row.Index} (by luck up to {row.if_alike:.2f})"
        for row in of_main.loc[list(models)].itertuples()
    ]
    return f"From the worst format to the best it moves by {'; '.join(said)}."


def _place(gains: pd.DataFrame, effects: pd.DataFrame, longer: Sequence[str]) -> str:
    sizes = bounds(effects, "effect").pivot(index="model", columns="place", values="effect")
    n = (sizes["inside"] > sizes["between"]).sum()
    said = f"The sign inside a pair moves it more than the one between pairs in {n} of {len(sizes)} rows."
    between = gains[(gains["id"] != INSIDE) & (gains["inside"] == "space")]
    # The table has the others.
    between = between[between["between"].isin(between["between"].head(1))]
    parts = [
        f"{row.over_relations.text()} for {row.model} ({row.between})"
        for row in between[between["model"].isin(longer)].itertuples()
    ]
    return said + f" Another sign between pairs changes it by {'; '.join(parts)}." * bool(parts)


def _read(by_kind: pd.DataFrame) -> str:
    wide = by_kind.pivot(index="model", columns="kind", values="accuracy")
    wide = wide.reindex(columns=["in the text", "new inside"]).dropna()
    if wide.empty:
        return "-"
    own, new = wide.iloc[-1]
    said = f"{wide.index[-1]} has {own.text()} right in formats of its text,"
    return f"{said} and {new.text()} where the sign inside is new."
