"""Scaling: models of several sizes that have read the same text, and how much of it each gives back.

The frames are those of :mod:`lkecore.answers.readers`: here all models are causal ones, and a
``kind_of_model`` is a size, such as "0.7m". A ``made_by`` is one world, of this run or of longer ones.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers.lab import OFTEN, check_asked, worlds
from lkecore.answers.readers import tellings_needed
from lkecore.answers.shipped import read
from lkecore.answers.tables import accuracy, groups_of, paired
from lkecore.errors import BadInput
from lkecore.facts.world import states
from lkecore.intervals import Interval
from lkecore.models import lab

MAIN = "iclke-space"  # the estimator that the claims are about
FEW = 4  # tellings up to which a fact counts as told seldom, as the claims have it
PAGE = "50_lab_truth"  # whose longer runs are shown beside
SIZE = ["made_by", "kind_of_model"]
FACT = ["relation", "fact"]


def is_base(model: str) -> bool:
    """Whether a model of the lab is a causal one that read the text as it is, and nothing else."""
    named = lab.parse(model)
    return not named.variant and lab.RECIPES[named.model].kind == "causal"


def check(
    models: Sequence[str], estimators: Sequence[str], asked: pd.DataFrame, often: int
) -> None:
    """Raise :class:`BadInput` unless the models are causal ones of one world and the claims can be tested.

    That needs ``iclke-space`` among ``estimators``, and facts that are told just ``often`` times among
    ``asked`` (:func:`lkecore.answers.lab.asked_of`).
    """
    if len(found := worlds(models)) > 1:
        raise BadInput(f"the models are of {sorted(found)}: compare those of one world")
    for model in models:
        if not is_base(model):
            raise BadInput(f"{model}: causal models without a suffix only")
    check_asked(estimators, [MAIN])
    if often not in set(asked.loc[asked["state"] == "planted", "occurrences"]):
        raise BadInput(f"often is {often}: no fact is told just so often")


def beside(ours: pd.DataFrame, profiles: Sequence[str]) -> pd.DataFrame:
    """The answers of this run, and below them those of longer runs about other worlds that ship.

    Of these the causal models that read the text as it is, asked by ``iclke-space`` about the relations of
    this run. New columns: ``source``; ``made_by``, the source and the world; ``kind_of_model``, the
    size by name. The order is by relation and fact, since bootstraps draw by place.
    """
    parts = [ours.assign(source="this page")]
    for name in profiles:
        frame, _ = read(name, PAGE)
        same = frame["relation"].isin(set(ours["relation"])) & (frame["estimator"] == MAIN)
        frame = frame[same & ~frame["world"].isin(set(ours["world"]))]
        frame = frame[frame["model"].isin([m for m in frame["model"].unique() if is_base(m)])]
        epochs = frame["model"].map(lambda model: lab.recipe(model).epochs)
        told = frame.assign(tellings=frame["exposures"] // epochs, epochs=epochs)
        parts.append(told.assign(source=f"shipped: {name}"))
    every = pd.concat(parts, ignore_index=True)
    made_by = every["source"] + ", " + every["world"]
    every = every.assign(made_by=made_by, kind_of_model=every["model"].str.partition("/")[2])
    return every.sort_values(FACT, kind="stable", ignore_index=True)


def by_size(answers: pd.DataFrame) -> list[str]:
    """The sizes of some models by name, the smallest first."""
    models = answers.drop_duplicates("kind_of_model").set_index("kind_of_model")["model"]
    return models.map(lab.size).sort_values().index.tolist()


def wide(
    frame: pd.DataFrame, value: str, sizes: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """A table for a page: a row for each of ``sizes``, a column for each value of ``columns``."""
    found = frame.pivot(index="kind_of_model", columns=list(columns), values=value)
    found = found.loc[[size for size in sizes if size in found.index]].fillna("")
    found.columns = [", ".join(each) if isinstance(each, tuple) else each for each in found.columns]
    return found.rename_axis("size").reset_index()


def gains(answers: pd.DataFrame, often: int, *, seed: int) -> pd.DataFrame:
    """What each size adds to the next smaller one, on the same planted facts of this run.

    ``answers`` as :func:`beside` has them. Columns: estimator, form; ``dose``: a number of tellings as
    text, or "16 and more" (with ``often`` 16), which pools those; then those of
    :func:`lkecore.answers.tables.paired`, with ``smaller`` and ``larger`` for first and second, and ``gain``
    for the difference over facts. ``p`` is corrected by Holm for the rows of one dose. No rows for one size.
    """
    told_so = answers[answers["source"].eq("this page") & answers["state"].eq("planted")]
    pooled = told_so[told_so["tellings"] >= often].assign(dose=f"{often} and more")
    each = told_so.assign(dose=told_so["tellings"].astype(str))
    sizes = by_size(told_so)
    steps = list(zip(sizes, sizes[1:], strict=False))
    by = ["estimator", "form", "dose"]
    found = paired(
        pd.concat([each, pooled]), "kind_of_model", steps, by=by, corrected=["dose"], seed=seed
    )
    names = {"first": "smaller", "second": "larger", "over_facts": "gain"}
    names |= {"only_first": "smaller_only", "only_second": "larger_only"}
    return found.rename(columns=names).drop(columns=["relations", "over_relations"])


def finds_more(gained: pd.DataFrame) -> pd.Series:
    """Which of two sizes finds more, where the test of a row is below 0.05: a text for each row."""
    which = np.where(gained["larger_only"] > gained["smaller_only"], "the larger", "the smaller")
    return pd.Series(np.where(gained["p"] < 0.05, which, "not clear"), gained.index, dtype=str)


def filled(answers: pd.DataFrame) -> pd.DataFrame:
    """How full the models of this run are: bits of the facts for each parameter.

    To know which of N objects belongs to a subject is worth log2 N bits. A row for each size, with
    ``parameters``; and in bits a parameter ``all_told``, of every fact that the whole text tells, the
    shown ones too; ``asked``, of the planted facts that IC-LKE is asked; ``found``, of those that it has
    right. What it takes to know the names and the grammar is left out.
    """
    ours = answers[answers["source"].eq("this page") & answers["estimator"].eq(MAIN)]
    [spec] = ours["world"].unique()
    text = states(spec)
    bits = np.log2(text.groupby("relation")["object"].nunique())
    all_told = bits[text.loc[text["told"] != "", "relation"]].sum()
    rows = []
    for size in by_size(ours):
        part = ours[ours["kind_of_model"].eq(size) & ours["state"].eq("planted")]
        each, parameters = part["relation"].map(bits), part["parameters"].iloc[0]
        sums = all_told, each.sum(), each[part["correct"].astype(bool)].sum()
        rows.append((size, int(parameters), *(total / parameters for total in sums)))
    return pd.DataFrame(rows, columns=["size", "parameters", "all_told", "asked", "found"])


def of_worlds(answers: pd.DataFrame, curve: pd.DataFrame, often: int) -> pd.DataFrame:
    """Each size in each world, facts told in lists, by IC-LKE: found if told often, and tellings needed.

    ``curve`` is of :func:`lkecore.answers.readers.by_tellings`. Columns: made_by, kind_of_model;
    ``facts`` told ``often`` or more, and the ``accuracy`` on them (an Interval, Wilson); ``needed`` with
    ``low`` and ``high``, and ``text``, of :func:`~lkecore.answers.readers.tellings_needed`; ``most``, the
    most tellings of the world.
    """
    strong = in_lists(answers)
    strong = accuracy(strong[strong["tellings"] >= often], SIZE).rename(columns={"n": "facts"})
    part = curve[curve["form"].eq("list") & curve["estimator"].eq(MAIN)]
    needed = tellings_needed(part).drop(columns=["form", "estimator"])
    most = part.groupby(SIZE)["tellings"].max().rename("most").reset_index()
    found = strong.drop(columns="confidence_gold").merge(needed, on=SIZE, validate="one_to_one")
    return found.merge(most, on=SIZE)


def in_lists(answers: pd.DataFrame) -> pd.DataFrame:
    """The planted facts that were told in lists alone, asked by IC-LKE."""
    of_main = answers["estimator"].eq(MAIN) & answers["form"].eq("list")
    return answers[of_main & answers["state"].eq("planted")]


def claimed(answers: pd.DataFrame, *, seed: int) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the three claims on tellings and size: {id of the claim: {(made_by, of what): it}}.

    "LAB-exposures-rise": told ``OFTEN`` or more minus told ``FEW`` or less, other facts, so Newcombe's;
    "LAB-size-rises": the largest size minus the smallest on the same facts, told just ``OFTEN`` times;
    "LAB-size-room": the smallest size on these. The second has no entry where there is one size.
    """
    found: dict[str, dict[tuple[str, str], Interval]] = {}
    for (made_by,), whole in groups_of(in_lists(answers), ["made_by"]):
        sizes = by_size(whole)
        for size in sizes:
            part = whole[whole["kind_of_model"] == size]
            groups = part[part["tellings"] >= OFTEN], part[part["tellings"] <= FEW]
            counts = [int(n) for each in groups for n in (each["correct"].sum(), len(each))]
            rise = intervals.difference_of_proportions(*counts)
            found.setdefault("LAB-exposures-rise", {})[made_by, size] = rise
        just = whole[whole["tellings"] == OFTEN]
        right = just.loc[just["kind_of_model"] == sizes[0], "correct"]
        room = intervals.proportion(int(right.sum()), len(right))
        found.setdefault("LAB-size-room", {})[made_by, sizes[0]] = room
        if len(sizes) > 1:
            of = f"{sizes[-1]} minus {sizes[0]}"
            gap = paired(just, "kind_of_model", [(sizes[0], sizes[-1])], seed=seed)
            found.setdefault("LAB-size-rises", {})[made_by, of] = gap["over_facts"].item()
    return found


def sentences(
    worlds_of: pd.DataFrame, gained: pd.DataFrame, full: pd.DataFrame, often: int
) -> dict[str, str]:
    """What came out, in words: ``needed``, ``size``, ``worlds`` and ``room``.

    The tables are of :func:`of_worlds`, :func:`gains` and :func:`filled`. The first two are about this run,
    IC-LKE and facts told in lists.
    """
    ours = worlds_of["made_by"].str.startswith("this page")
    mine = worlds_of[ours].set_index("kind_of_model")
    needs = [f"{size} {mine['text'][size]}" for size in full["size"]]
    step = gained[gained["estimator"].eq(MAIN) & gained["form"].eq("list")]
    step = step[step["dose"] == f"{often} and more"]
    clear = np.where(finds_more(step) == "not clear", " (not clear by McNemar's test)", "")
    texts = [
        f"{row.gain.text()} from {row.smaller} to {row.larger}{tail}"
        for row, tail in zip(step.itertuples(), clear, strict=True)
    ]
    ranges = []
    for size, part in worlds_of.groupby("kind_of_model", sort=False):
        ends = [each.estimate for each in part["accuracy"]]
        ranges.append(f"{size} {min(ends):.2f} to {max(ends):.2f}")
    n = worlds_of["made_by"].nunique()
    return {
        "needed": "Tellings in lists until IC-LKE finds half of the facts, by size of the model: "
        f"{', '.join(needs)} (in brackets what the accuracies' 95 % intervals allow).",
        "size": f"Of facts told {often} times or more, a larger model finds more by {'; '.join(texts)}."
        if texts
        else "One size was asked, so nothing is said of a larger one.",
        "worlds": f"Over {n} worlds it is, by size, {', '.join(ranges)} of these facts."
        if n > 1
        else "No other world stands beside this one.",
        "room": f"Room is not likely what they lack: all that the text tells is worth "
        f"{full['all_told'].max():.3f} bits a parameter in the smallest model, and the published law "
        "gives room for 1 after 100 tellings.",
    }
