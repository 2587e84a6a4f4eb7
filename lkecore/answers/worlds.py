"""Worlds: the lab's claims on every world that ships, each world judged by itself.

Nothing here asks a model. The answers are those of longer runs of the pages that ask (``PAGES``).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import lab, told, transfer
from lkecore.answers.kept import keep
from lkecore.answers.scaling import MAIN, is_base
from lkecore.answers.shipped import made_by, read
from lkecore.answers.tables import by_relation, groups_of, paired
from lkecore.answers.verdicts import over_alone
from lkecore.errors import BadInput
from lkecore.intervals import Interval
from lkecore.metrics import planted
from lkecore.models import lab as models_of_lab

PAGES = ("50_lab_truth", "55_lab_writing")  # that ranked, and that wrote and asked by EIC-LKE
FAIR, ALL = MAIN, f"{MAIN}, all controls"
EVERY_WORLD = "all worlds"
Claimed = dict[tuple[str, str, str], Interval]  # by (id of the claim, of what, world)


def shipped(profiles: Sequence[str]) -> pd.DataFrame:
    """All answers of some profiles about worlds of the lab, below each other, by world, relation and fact.

    Ranked by each estimator, written, and by EIC-LKE. ``luck``: the chance that a guess is right. That is one
    in the number of options; what is written is a guess only if it begins with an object. ``times`` and
    the states of unplanted twins are those of :func:`lkecore.answers.lab.labelled`. Raises
    :class:`BadInput` for no profile, and as :func:`lkecore.answers.shipped.read`.
    """
    if not profiles:
        raise BadInput("shipped names no profile: this page reads longer runs alone")
    parts = []
    for name in profiles:
        ranked, about = read(name, PAGES[0])
        parts.append(ranked.assign(luck=1 / about["parameters"]["n_options"]))
        written, about = read(name, PAGES[1], apart="written")
        luck = written["wrote"].ne("") / about["parameters"]["n_options"]
        parts.append(written.assign(luck=luck))
        of_eic, about = read(name, PAGES[1], apart="eic")
        of_eic = of_eic[of_eic["estimator"] == "eiclke"]
        parts.append(of_eic.assign(luck=1 / about["parameters"]["n_eic_options"]))
    every = lab.labelled(pd.concat(parts, ignore_index=True))
    return every.sort_values(["world", "relation", "fact"], kind="stable", ignore_index=True)


def lines(profiles: Sequence[str]) -> list[str]:
    """What made the answers of :func:`shipped`: a text for each profile and page, or for both pages alike."""
    both = made_by(profiles, PAGES[0]) + made_by(profiles, PAGES[1], apart="written")
    return [*dict.fromkeys(both)]


def largest(answers: pd.DataFrame) -> list[str]:
    """The largest causal model of each world that read the text as it is."""
    models = [model for model in answers["model"].unique() if is_base(model)]
    return [
        max((m for m in models if models_of_lab.parse(m).world == world), key=models_of_lab.size)
        for world in lab.worlds(models)
    ]


def aurocs(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Does IC-LKE's confidence tell facts told often in lists from their controls? By model.

    Columns: world, size, model; ``pairs`` and ``auroc`` (an Interval over pairs) with fair controls, whose
    subject the text names; ``all_pairs`` and ``all_auroc`` with all controls. Each control is used once.
    """
    base = [model for model in answers["model"].unique() if is_base(model)]
    some = answers[answers["model"].isin(base) & answers["estimator"].eq(MAIN)]
    some = some[some["state"].isin(["planted", "never"])]
    found = []
    for strangers in (False, True):
        pairs = lab.planted_pairs(some, strangers=strangers)
        pairs = pairs[pairs["form"].eq("list") & pairs["exposures"].ge(lab.OFTEN)]
        once = planted.each_control_once(pairs, [], seed=seed)
        found.append(told.auroc(once, ["model"], seed=seed, n_resamples=1_000))
    both = found[0].merge(
        found[1].rename(columns={"pairs": "all_pairs", "auroc": "all_auroc"}), on="model"
    )
    parts = both["model"].str.partition("/")
    both = both.assign(world=parts[0], size=parts[2])
    both = both.sort_values("model", ignore_index=True)
    return both[["world", "size", "model", "pairs", "auroc", "all_pairs", "all_auroc"]]


def claimed(answers: pd.DataFrame, of_lists: pd.DataFrame, *, seed: int) -> Claimed:
    """The intervals of the claims of the pages on planted facts, on each world of :func:`shipped`.

    ``of_lists`` is of :func:`aurocs`. A claim is about the largest causal model of a world, or else about
    the models that it names. Facts that were never told are pooled over the causal models of a world, and
    under ``EVERY_WORLD`` over all worlds. Those on twins and on tuning have an entry for each such model.
    """
    found: Claimed = {}
    best = largest(answers)
    for row in of_lists[of_lists["model"].isin(best)].itertuples():
        found["LAB-list-auroc", FAIR, row.world] = row.auroc
        found["LAB-list-auroc", ALL, row.world] = row.all_auroc
    known = lab.known_of(answers)
    for model in best:
        mine = known[known["model"] == model]
        for key, intervals_of in told.claimed_of_forms(mine, seed=seed).items():
            for of, interval in intervals_of.items():
                found[key, of, models_of_lab.parse(model).world] = interval
    found |= _never(answers, seed)
    wrong = answers[answers["state"].eq("mislearned") & answers["estimator"].eq(MAIN)]
    wrong = wrong[wrong["model"].isin(best)]
    for row in told.repeats_more(wrong, ["world"], seed=seed).itertuples():
        found["LAB-mislearned", MAIN, row.world] = row.more
    return found | _twins(answers, seed) | _tuned(known, seed)


def set_aside(answers: pd.DataFrame) -> dict[tuple[str, str], str]:
    """{(claim, world): mark}: verdicts of :func:`claimed` that rest on words that the text never had."""
    known = lab.known_of(answers[answers["model"].isin(largest(answers))])
    return {
        (key, world): mark
        for (world,), part in groups_of(known[known["form"] == "sentence"], ["world"])
        for key, mark in transfer.set_aside(part).items()
    }


def by_wording(answers: pd.DataFrame) -> pd.DataFrame:
    """What templates find, by the wording that asks, for the largest model of each world.

    Facts told often, in sentences alone; the columns are those of :func:`lkecore.answers.transfer.shares`.
    """
    known = lab.known_of(answers[answers["model"].isin(largest(answers))])
    return transfer.shares(known[known["form"] == "sentence"], ["world"])


def _never(answers: pd.DataFrame, seed: int) -> Claimed:
    never = answers[answers["state"] == "never"]
    never = never[never["model"].isin([m for m in never["model"].unique() if is_base(m)])]
    by_world = told.above_luck(never, ["estimator", "world"], seed=seed)
    of_all = told.above_luck(never, ["estimator"], over=("world", "relation"), seed=seed)
    rows = pd.concat([of_all.assign(world=EVERY_WORLD), by_world])
    return {
        ("LAB-never-chance", f"{row.estimator}, base models", row.world): row.above
        for row in rows.itertuples()
    }


def _twins(answers: pd.DataFrame, seed: int) -> Claimed:
    twins = answers[answers["model"].str.endswith("-unplanted") & answers["estimator"].eq(MAIN)]
    twins = twins[twins["state"] != "mislearned"]
    found: Claimed = {}
    for (model,), part in groups_of(twins, ["model"]):
        for strangers, more in ((False, ""), (True, ", all controls")):
            pairs = lab.planted_pairs(part, strangers=strangers)
            [off] = told.of_twins(pairs, seed=seed)["auroc"]
            world, _, size = model.partition("/")
            found["LAB-unplanted", f"{size}{more}", world] = off
    return found


def _tuned(known: pd.DataFrame, seed: int) -> Claimed:
    some = lab.sorted_by_fact(known[known["estimator"] == MAIN])
    pairs = lab.bases(some["model"].unique())
    found: Claimed = {}
    for row in paired(some, "model", pairs, seed=seed).itertuples():
        world, _, size = row.second.partition("/")
        found["LAB-tuned", size, world] = row.over_facts
    return found


def judged(
    found: Mapping[tuple[str, str, str], Interval],
    marks: Mapping[tuple[str, str], str] | None = None,
) -> pd.DataFrame:
    """The verdicts on :func:`claimed`: a row for each claim, of what, and world, in the order of the claims.

    ``marks`` is of :func:`set_aside`. Columns: id, claim, holds_if, of, world, ``estimate``, ``low``,
    ``high``, verdict; ``direction`` and ``least_effect`` of the claim; ``mark``: why the verdict says
    nothing of the claim, or ""; ``is_check``: what holds was built in, so it is no finding; ``once``: the
    row counts, since it is about one world and not a second look at the same facts with all controls.
    """
    claims = papers.claims("LAB").set_index("id")
    rows = []
    for (key, of, world), interval in found.items():
        claim = claims.loc[key]
        rows.append(
            {
                "id": key,
                "claim": claim["claim"],
                "holds_if": claim["holds_if"],
                "of": of,
                "world": world,
                "estimate": interval.estimate,
                "low": interval.low,
                "high": interval.high,
                "verdict": papers.claim_verdict(interval, claim),
                "direction": claim["direction"],
                "least_effect": claim["least_effect"],
                "mark": (marks or {}).get((key, world), "") or over_alone(interval, claim),
                "is_check": claim["whose"] == "check",
                "once": world != EVERY_WORLD and not of.endswith("all controls"),
            }
        )
    order = {key: n for n, key in enumerate(claims.index)}
    table = pd.DataFrame(rows)
    return table.sort_values("id", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)


def keep_verdicts(verdicts: pd.DataFrame, profiles: Sequence[str]) -> None:
    """Keep the rows that count of :func:`judged` as ``verdicts.csv``, for the book's page of all claims."""
    once = verdicts[verdicts["once"]]
    source = f"shipped: {', '.join(profiles)}, " + once["world"]
    kept = once.assign(models=once["of"], source=source, ours=_texts(once))
    keep(papers.verdicts(kept.assign(estimator=MAIN, as_paper=True)), "verdicts.csv")


def counted(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many verdicts there are of each kind, each world for itself; three counts.

    Columns: ``what``: "findings", "checks" of what was built in, or "set aside" by a mark; ``holds``,
    ``undecided``, ``fails``.
    """
    once = verdicts[verdicts["once"]]
    what = np.where(once["is_check"], "checks", "findings")
    what = np.where(once["mark"] != "", "set aside", what)
    counts = pd.crosstab(what, once["verdict"]).reindex(["findings", "checks", "set aside"])
    counts = counts.rename_axis("what").reset_index().rename_axis(columns=None)
    names = ["holds", "undecided", "fails"]
    counts = counts.reindex(columns=["what", *names])
    return counts.fillna(dict.fromkeys(names, 0)).astype(dict.fromkeys(names, int))


def table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """For a page: a row for each claim and of what, a column for each world, with interval and verdict."""
    mark = verdicts["mark"].map(lambda mark: mark and f" ({mark})")
    text = _texts(verdicts) + ": " + verdicts["verdict"] + mark
    index = ["claim", "of"]
    wide = verdicts.assign(text=text).pivot(index=index, columns="world", values="text")
    names = [*sorted(set(verdicts["world"]) - {EVERY_WORLD}), EVERY_WORLD]
    rows = pd.MultiIndex.from_frame(verdicts[index].drop_duplicates())
    found = wide.reindex(rows)[[name for name in names if name in wide]].fillna("")
    found = found.rename_axis(columns=None).reset_index()
    return found.assign(claim=found["claim"].mask(found["claim"].duplicated(), ""))


def _texts(verdicts: pd.DataFrame) -> pd.Series:
    ends = zip(verdicts["estimate"], verdicts["low"], verdicts["high"], strict=True)
    found = [Interval(*each, 0.95, "") for each in ends]
    texts = [lab.said_of(*each) for each in zip(verdicts["id"], found, strict=True)]
    return pd.Series(texts, verdicts.index, dtype=str)


def findings(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`judged` that count as findings. A claim about several things says which."""
    once = verdicts[verdicts["once"] & ~verdicts["is_check"] & verdicts["mark"].eq("")]
    return _named(once)


def drawn(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`judged` that count, as a figure takes them: findings first, then checks.

    The name of a check says that it is one. Rows that are set aside are left out.
    """
    once = verdicts[verdicts["once"] & verdicts["mark"].eq("")].sort_values(
        "is_check", kind="stable"
    )
    named = _named(once)
    return named.assign(claim=named["claim"].mask(named["is_check"], "Check: " + named["claim"]))


def _named(once: pd.DataFrame) -> pd.DataFrame:
    several = once.groupby("id")["of"].transform("nunique") > 1
    named = once["claim"] + " (" + once["of"] + ")"
    return once.assign(claim=once["claim"].mask(several, named))


def disagreeing(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The findings whose verdict is not the same in all worlds: id, of, and a column of each verdict."""
    once = findings(verdicts)
    counts = pd.crosstab([once["id"], once["of"]], once["verdict"])
    return counts[(counts > 0).sum(axis=1) > 1].rename_axis(columns=None).reset_index()


def by_kind(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Do kinds of relations differ? Facts told often in lists, by IC-LKE, all worlds together.

    A row for each size and kind. ``relations``, ``facts``; ``over_facts``, the accuracy, each relation
    counted alike, an Interval over other facts of them; ``each_relation`` with its own, as text.
    """
    base = [model for model in answers["model"].unique() if is_base(model)]
    known = lab.known_of(answers)
    known = known[known["model"].isin(base) & known["estimator"].eq(MAIN)]
    known = known[known["form"] == "list"].sort_values(["relation", "world", "fact"], kind="stable")
    known = known.assign(
        size=known["model"].str.partition("/")[2], of=known["model"].map(models_of_lab.size)
    )
    rows = []
    for (_, size, kind), part in known.groupby(["of", "size", "kind"]):
        groups = by_relation(part, "correct")
        each = part.groupby("relation")["correct"].mean()
        texts = ", ".join(f"{name} {share:.2f}" for name, share in each.items())
        mean = intervals.mean_over_facts(groups, seed=seed)
        rows.append((size, kind, len(groups), len(part), mean, texts))
    columns = ["size", "kind", "relations", "facts", "over_facts", "each_relation"]
    return pd.DataFrame(rows, columns=columns)


def sentences(verdicts: pd.DataFrame, counts: pd.DataFrame) -> dict[str, str]:
    """What came out, in words: ``findings``, ``checks``, ``moved`` and ``sure``.

    The tables are of :func:`judged` and :func:`counted`.
    """
    n = verdicts.loc[verdicts["once"], "world"].nunique()
    said = {
        row.what: f"{row.holds} hold, {row.undecided} are undecided and {row.fails} fail"
        for row in counts.itertuples()
    }
    aside = int(counts.set_index("what").loc["set aside"].sum())
    twins = verdicts[verdicts["id"].eq("LAB-unplanted") & verdicts["once"]]
    failed = int(_texts(twins).str.endswith(lab.OFF).sum())
    moved = verdicts[verdicts["id"].eq("LAB-transfer")]
    gains = [f"{text} ({world})" for text, world in zip(_texts(moved), moved["world"], strict=True)]
    best = verdicts[verdicts["id"].eq("LAB-list-auroc") & verdicts["of"].eq(FAIR)]
    lows = [f"{row.estimate:.3f} ({row.world})" for row in best.itertuples()]
    apart = disagreeing(verdicts)["id"].nunique()
    several = findings(verdicts)["id"].nunique()
    return {
        "findings": f"Of the verdicts on our claims in {n} worlds, each for itself, {said['findings']}"
        f"; {aside} are set aside. {apart} of {several} claims do not get the same verdict in all worlds.",
        "moved": "A fact that one wording told is found more often by it than by another wording of the "
        f"text, by {', '.join(gains)}."
        if gains
        else "No fact was asked both in the wording that told it and in another.",
        "checks": f"Of the checks, which should all hold, {said['checks']}."
        + f" But {failed} of {len(twins)} unplanted twins have an interval that leaves out 0: strictly, "
        "this control fails there." * (failed > 0),
        "sure": f"IC-LKE's confidence tells what was told often in lists with an AUROC of "
        f"{', '.join(lows)}.",
    }
