"""Known: what the page on all relations says at its top, from its tables."""

from collections.abc import Mapping

import pandas as pd

from lkecore.answers.rules import NO_MODEL


def sentences(
    overall: pd.DataFrame,
    ruled: pd.DataFrame,
    draws: pd.DataFrame,
    gained: pd.DataFrame,
    ends: Mapping[str, str],
    estimator: str,
) -> dict[str, str]:
    """Texts for the head of the page: ``known``, ``ends``, ``second`` and ``shipped``.

    ``overall`` as of :func:`lkecore.answers.tables.over_relations`, ``ruled`` of
    :func:`lkecore.answers.rules.wide`, ``draws`` of :func:`lkecore.answers.draws.over_draws`, ``gained`` of
    :func:`lkecore.answers.tables.paired`; all but ``draws`` with a ``source``. Of each the first row is about
    this page's first model. ``ends`` has its ``best`` and ``worst`` relations; ``estimator`` is the paper's.
    """
    here = overall["source"] == "this page"
    top, rule, other = overall[here].iloc[0], ruled.iloc[0], draws.iloc[0]
    known = (
        f"{top['model']} finds the right object in {top['over_relations'].text()} of the questions"
    )
    known += (
        f" (mean over {top['relations']} relations and its 95 % interval); the best rule that has"
    )
    known += f" {NO_MODEL}, in {rule['of_rule']:.2f}."
    second = f"Over {other['draws']} draws of shots it finds {other['least']:.2f} to"
    second += f" {other['most']:.2f} of {other['facts']} facts,"
    second += f" and {other['in_all']:.2f} of them behind every draw."
    if len(mine := gained[gained["source"] == "this page"]):
        second += f" Other separators ({mine.iloc[0]['estimator']}) change it by"
        second += f" {mine.iloc[0]['gain'].text()}."
    other_rows = overall[~here & (overall["estimator"] == estimator)]
    rules = {(row["source"], row["model"]): row["of_rule"] for _, row in ruled.iterrows()}
    longer = []
    for row in other_rows.to_dict("records"):
        said = f"{row['model']} on {row['source'].removeprefix('shipped: ')} {row['over_relations'].text()}"
        of_rule = rules.get((row["source"], row["model"]))
        longer.append(said + ("" if of_rule is None else f" (rule {of_rule:.2f})"))
    return {
        "known": known,
        "ends": f"It knows best {ends['best']}, and worst {ends['worst']}.",
        "second": second,
        "shipped": f"Beside it stand {'; '.join(longer) or 'no other results'}.",
    }
