"""Tuned: what the IC-LKE paper printed of models before and after fine-tuning, Table 10."""

import numpy as np
import pandas as pd

from lkecore.papers.published import table
from lkecore.papers.verdict import number_verdict

NAME = "iclke_table10_finetuned_subsumption"


def table_10_bars() -> pd.DataFrame:
    """Table 10's accuracies as a figure of paired bars takes them, all bases first.

    ``name`` of the tuned model, ``which`` ("base" or "tuned"), ``accuracy`` in [0, 1]; ``low`` and
    ``high`` are NaN, since none are printed.
    """
    printed = table(NAME)
    halves = {"base": printed["base_accuracy"], "tuned": printed["finetuned_accuracy"]}
    parts = [
        pd.DataFrame({"name": printed["finetuned_model"], "which": which, "accuracy": accuracy})
        for which, accuracy in halves.items()
    ]
    return pd.concat(parts, ignore_index=True).assign(low=np.nan, high=np.nan)


def table_10_beside(ours: pd.DataFrame) -> pd.DataFrame:
    """Table 10's subsumption rates and ours below them, as a figure takes them.

    ``ours``: ``name``, ``eta``, ``low``, ``high``, ``independent``. Columns: these (no interval for the
    paper's; ``independent`` is the base's accuracy) and ``ours`` (bool).
    """
    printed = table(NAME)
    names = printed["finetuned_model"] + " in " + printed["base_model"]
    published = printed.assign(name=names, low=np.nan, high=np.nan, ours=False)
    published = published.rename(columns={"base_accuracy": "independent"})
    columns = ["name", "eta", "low", "high", "independent", "ours"]
    below = [ours.assign(ours=True)[columns]] if len(ours) else []
    return pd.concat([published[columns], *below], ignore_index=True)


def table_10_verdicts(ours: pd.DataFrame, *, same_data: bool, same_protocol: bool) -> pd.DataFrame:
    """Table 10 beside Table 7's accuracies of the same models, with our rate where both were asked.

    ``ours``: ``small`` (the tuned model) and ``large`` (its base), hub ids, and ``over_facts``, the rate
    as an Interval, as :func:`lkecore.answers.overlap.rates` gives them. Columns:
    ``tuned``, as the paper calls it; ``base_10``, ``tuned_10`` and ``eta``, as Table 10 prints them;
    ``base_7`` and ``tuned_7``, the same accuracies in Table 7; ``ours`` and ``verdict``: of
    :func:`lkecore.papers.verdict.number_verdict`, or "other models"; ``note`` on how a name is read.
    """
    hub = table("iclke_table6_model_names").set_index("model")["hf_id"]
    again = table("iclke_table7_models").set_index("model")["average_accuracy"].round(3)
    found = ours.set_index(["large", "small"])["over_facts"]
    printed = table(NAME)
    rows = []
    for row in printed.itertuples():
        interval, verdict = (
            found.get((hub[row.base_model], hub[row.finetuned_model])),
            "other models",
        )
        if interval is not None:
            same = {"same_data": same_data, "same_protocol": same_protocol}
            verdict = number_verdict(interval, row.eta, same_model=True, **same)
        first = row.finetuned_model, row.base_accuracy, row.finetuned_accuracy, row.eta
        second = again[row.base_model], again[row.finetuned_model]
        rows.append((*first, *second, interval.text(3) if interval else "", verdict))
    columns = ["tuned", "base_10", "tuned_10", "eta", "base_7", "tuned_7", "ours", "verdict"]
    return pd.DataFrame(rows, columns=columns).assign(note=printed["note"].fillna(""))
