"""Groups, said: claims, the figure and words of the page on facts of which less and less was taught."""

from collections.abc import Sequence

import pandas as pd

from lkecore import intervals
from lkecore.answers import rich, shipped
from lkecore.answers.groups import MAIN, orders
from lkecore.answers.tables import groups_of
from lkecore.facts.drawn import Sample
from lkecore.intervals import Interval
from lkecore.models import lab


def left_out(sample: Sample, ours: pd.DataFrame) -> dict[str, str]:
    """Why relations of a sample have no rows of :func:`lkecore.answers.groups.ask_groups`, by name."""
    lost = dict(ours.attrs.get("lost", {}))
    named = {name.partition(" (")[0] for name in lost}
    why = "too few of its facts are unknown, or a step of its lessons gave no number"
    return lost | {name: why for name in sample if name not in {*named, *ours["relation"]}}


def beside(ours: pd.DataFrame, profiles: Sequence[str], notebook: str) -> pd.DataFrame:
    """The rows of this run, and below them those of longer runs that ship, told by ``source``.

    Of models of the lab only those stand below that this run did not ask. The sources have the names of
    :func:`lkecore.answers.shipped.beside`.
    """
    parts = [ours.assign(source="this page")]
    for name in profiles:
        frame, _ = shipped.read(name, notebook)
        frame = frame[
            ~frame["model"].isin(ours["model"].unique()) | ~frame["model"].map(lab.is_name)
        ]
        parts.append(frame.assign(source=f"shipped: {name}"))
    return pd.concat(parts, ignore_index=True)


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`beside` as tables and figures name them: ``smollm2 on groups_trex``.

    So models are called that are not of the lab, which may stand there twice, asked about other facts.
    """
    who = zip(rows["model"], rows["source"], strict=True)
    names = [model if lab.is_name(model) else shipped.called(model, of) for model, of in who]
    return rows.assign(model=names)


def claimed(rows: pd.DataFrame, *, seed: int) -> dict[str, dict[tuple[str, str], Interval]]:
    """The intervals of the page's claims, {claim: {(source, model): interval}}.

    Of models of the lab as :func:`lkecore.answers.rich.claimed` has it, and of every model that was asked
    about real facts.
    """

    def tests(mine: pd.DataFrame, _: pd.DataFrame) -> dict[str, Interval]:
        return {f"LAB-groups-{key}": each for key, each in _tested(mine, seed).items()}

    of_lab = rows["model"].map(lab.is_name)
    found = rich.claimed(rows[of_lab], tests)
    for who, part in groups_of(rows[~of_lab], ["source", "model"]):
        for key, interval in _tested(part, seed).items():
            found.setdefault(f"PZ-groups-{key}", {})[who] = interval
    return found


def _tested(part: pd.DataFrame, seed: int) -> dict[str, Interval]:
    """The intervals of one model, by the last part of the claims' ids."""
    of = orders(part, seed=seed).set_index(["when", "metric"])
    gaps = of.loc["after", "KL minus it"]
    return {
        "finds": intervals.minus(of.loc[("after", MAIN), "half"], 0.5),
        "rank": gaps["rank"],
        "entropy": gaps["change of entropy"],
        "surprisal": gaps["surprisal"],
        "before": intervals.minus(of.loc[("before", MAIN), "half"], 0.5),
    }


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`lkecore.answers.groups.orders` for the figure.

    Columns: ``when``, ``metric``, ``model``, ``half`` and its bounds, in [0, 1].
    """
    rows = []
    for row in table.to_dict("records"):
        of = row["half"]
        rows.append((row["when"], row["metric"], row["model"], of.estimate, of.low, of.high))
    return pd.DataFrame(rows, columns=["when", "metric", "model", "half", "low", "high"])


def telling(rows: pd.DataFrame) -> pd.DataFrame:
    """How far telling moves an answer before the lessons, and after them: medians of KL in nats, by model.

    Columns: ``model``, ``lesson``, ``before``, ``after``. Where next to nothing is left after, KL has nothing
    to go by.
    """
    medians = rows.groupby(["model", "lesson", "when"], sort=False)["kl"].median().unstack()
    return medians[["before", "after"]].rename_axis(columns=None).reset_index()


def sentences(table: pd.DataFrame) -> dict[str, str]:
    """What came out in one world, in words: ``orders``, ``others``, ``before``.

    ``table`` is of :func:`lkecore.answers.groups.orders`.
    """
    models = table["model"].unique()
    real = [name for name in models if not lab.is_name(name)]
    ours = [name for name in models if lab.is_name(name)]
    best = rich.teller(ours) if ours else real[0]
    beside = [*rich.blank_readers(ours), *real]
    others = "".join(f" {_of(table, name)}" for name in beside if name != best)
    of = table[table["model"] == best].set_index(["when", "metric"])
    half = of.loc["after", "half"].map(lambda each: each.text())
    kl, rank = (of.loc[("after", name)] for name in (MAIN, "rank"))
    return {
        "orders": f"After the lessons KL puts {half[MAIN]} of the pairs of {best} in the right order, "
        f"where one half is none, the change of entropy {half['change of entropy']} by its size and "
        f"{half['signed change']} with its sign, and the rank {half['rank']}. If ties count as wrong, as "
        f"we read the paper, the rank has {rank['right'].text()}, and KL {kl['right'].text()}.",
        "others": f"Surprisal, for which nothing has to be told, has {half['surprisal']}; KL minus that "
        f"is {of.loc[('after', 'surprisal'), 'KL minus it'].text()}.{others}",
        "before": f"Before the lessons KL of {best} had {of.loc[('before', MAIN), 'half'].text()}.",
    }


def _of(table: pd.DataFrame, model: str) -> str:
    """What came out for another model, in a sentence."""
    of = table[table["model"] == model].set_index(["when", "metric"])
    half = of.loc["after", "half"].map(lambda each: each.text())
    return (
        f"Of {model} KL orders {half[MAIN]}, the change of entropy {half['change of entropy']} (signed "
        f"{half['signed change']}), the rank {half['rank']} and surprisal {half['surprisal']}."
    )
