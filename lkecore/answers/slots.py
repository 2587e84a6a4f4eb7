"""Slots: does it help or harm a question that others stand before it in one long prompt (EIC-LKE)?"""

from collections.abc import Mapping, Sequence

import pandas as pd

from lkecore import intervals
from lkecore.answers.tables import groups_of
from lkecore.prompts import Slots

TOGETHER, ALONE = "eiclke", "iclke-comma"


def in_slots(
    answers: pd.DataFrame, questions: Mapping[tuple[str, str], Sequence[Slots]]
) -> pd.DataFrame:
    """Each fact of EIC-LKE with its slot, beside the same question without the others.

    ``answers`` hold "eiclke" and "iclke-comma" of the same facts; ``questions`` are those of
    :func:`lkecore.prompts.eiclke.slots_of_sample`. Columns: ``model``, ``relation``, ``fact``, in this order;
    ``eiclke`` and ``iclke-comma`` (bool): whether each is right; ``gain``: the confidence in the gold
    option with the other questions minus that without, in [-1, 1]; ``slot``, from 1.
    """
    slot = {
        (name, prompt.fact): place
        for (estimator, name), groups in questions.items()
        if estimator == TOGETHER
        for group in groups
        for place, prompt in enumerate(group.asked, 1)
    }
    both = answers[answers["estimator"].isin([TOGETHER, ALONE])]
    both = both.pivot(index=["model", "relation", "fact"], columns="estimator")
    found = both["correct"][[TOGETHER, ALONE]].astype(bool)
    sure = both["confidence_gold"]
    found["gain"] = sure[TOGETHER] - sure[ALONE]
    found = found.rename_axis(columns=None).reset_index()
    asked = zip(found["relation"], found["fact"], strict=True)
    found["slot"] = [slot[key] for key in asked]
    return found


def by_slot(frame: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """The frame of :func:`in_slots` by slot, then by halves of the prompt, then as a whole.

    Columns: ``model``; ``slot``: its number, or "first half", "second half", "all"; ``facts``, how
    many; ``eiclke`` and ``iclke-comma``, accuracies; ``gain``, an Interval over facts. A slot with a
    single fact, which has no interval, is left out.
    """
    rows = []
    for (model,), part in groups_of(frame, ["model"]):
        late = part["slot"] > frame["slot"].max() / 2
        some = dict(list(part.groupby("slot")))
        some |= {"first half": part[~late], "second half": part[late], "all": part}
        for label, each in some.items():
            if len(each) > 1:
                gain = intervals.mean_over_facts([each["gain"].to_numpy()], seed=seed)
                means = each[TOGETHER].mean(), each[ALONE].mean()
                rows.append((model, label, len(each), *means, gain))
    return pd.DataFrame(rows, columns=["model", "slot", "facts", TOGETHER, ALONE, "gain"])
