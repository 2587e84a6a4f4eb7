"""Worlds: the lab's claims on every world that ships, each world judged by itself.

Nothing here asks a model. The answers are those of longer runs of the pages that ask (``PAGES``).
"""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import lab, told
from lkecore.answers.scaling import MAIN, is_base
from lkecore.answers.shipped import made_by, read
from lkecore.answers.tables import by_relation, groups_of, paired
from lkecore.errors import BadInput
from lkecore.intervals import Interval
from lkecore.metrics import planted
from lkecore.models import lab as models_of_lab

PAGES = ("50_lab_truth", "55_lab_writing")  # that ranked, and that wrote and asked by EIC-LKE
CHECKS = ("LAB-never-chance", "LAB-unplanted")  # of the claims: these are no findings
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
    """What made the answers of :func:`shipped`, a text for each profile and page."""
    return made_by(profiles, PAGES[0]) + made_by(profiles, PAGES[1], apart="written")


def learning(models: Sequence[str]) -> pd.DataFrame:
    """How the loss of models of the lab fell while they read: a row for each part of a training.

    The parts are equally long, fifty or fewer. Columns: ``model``; ``read``, the share of the training that
    is over at the end of the part, in (0, 1]; ``loss``, the mean of the part in nats a token, lower is
    better; ``guess``, the loss of one who holds all tokens of the vocabulary for equally likely. Raises
    :class:`BadInput` for a model that is none of the lab's or is not there, and as
    :func:`lkecore.models.lab.checked`.
    """
    parts = []
    for name in models:
        folder = models_of_lab.present(name) if models_of_lab.is_name(name) else None
        if folder is None:
            raise BadInput(
                f"{name}: no model of the lab that is here. lke models --path NAME trains one"
            )
        losses = models_of_lab.checked(folder, models_of_lab.parse(name).world)["losses"]
        tokens = json.loads((folder / "config.json").read_text(encoding="utf-8"))["vocab_size"]
        part = pd.DataFrame({"model": name, "loss": losses, "guess": np.log(tokens)})
        parts.append(part.assign(read=(part.index + 1) / len(part)))
    return pd.concat(parts, ignore_index=True)


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
            once = planted.each_control_once(pairs, [], seed=seed)
            [off] = told.auroc(once, ["model"], seed=seed, minus=0.5)["auroc"]
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


def judged(found: Mapping[tuple[str, str, str], Interval]) -> pd.DataFrame:
    """The verdicts on :func:`claimed`: a row for each claim, of what, and world, in the order of the claims.

    Columns: id, claim, holds_if, of, world, ``estimate``, ``low``, ``high``, verdict; ``direction`` and
    ``least_effect`` of the claim; ``is_check``: a check of the worlds and no finding; ``once``: the row
    counts, since it is about one world and not a second look at the same facts with all controls.
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
                "is_check": key in CHECKS,
                "once": world != EVERY_WORLD and not of.endswith("all controls"),
            }
        )
    order = {key: n for n, key in enumerate(claims.index)}
    table = pd.DataFrame(rows)
    return table.sort_values("id", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)


def counted(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many verdicts there are of each kind, each world for itself; checks and findings apart.

    Columns: ``what`` ("findings" or "checks"), ``holds``, ``undecided``, ``fails``.
    """
    once = verdicts[verdicts["once"]]
    what = np.where(once["is_check"], "checks", "findings")
    counts = pd.crosstab(what, once["verdict"]).rename_axis("what").reset_index()
    names = ["what", "holds", "undecided", "fails"]
    counts = counts.rename_axis(columns=None).reindex(columns=names, fill_value=0)
    return counts.sort_values("what", ascending=False, ignore_index=True)


def table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """For a page: a row for each claim and of what, a column for each world, with interval and verdict."""
    ends = zip(verdicts["estimate"], verdicts["low"], verdicts["high"], strict=True)
    texts = [Interval(*each, 0.95, "").text(3) for each in ends]
    text = pd.Series(texts, verdicts.index, dtype=str) + ": " + verdicts["verdict"]
    index = ["claim", "of"]
    wide = verdicts.assign(text=text).pivot(index=index, columns="world", values="text")
    names = [*sorted(set(verdicts["world"]) - {EVERY_WORLD}), EVERY_WORLD]
    rows = pd.MultiIndex.from_frame(verdicts[index].drop_duplicates())
    found = wide.reindex(rows)[[name for name in names if name in wide]].fillna("")
    found = found.rename_axis(columns=None).reset_index()
    return found.assign(claim=found["claim"].mask(found["claim"].duplicated(), ""))


def findings(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`judged` that count as findings. A claim about several things says which."""
    once = verdicts[verdicts["once"] & ~verdicts["is_check"]]
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
    """What came out, in words: ``findings``, ``checks``, ``sure`` and ``differ``.

    The tables are of :func:`judged` and :func:`counted`.
    """
    n = verdicts.loc[verdicts["once"], "world"].nunique()
    said = {
        f"{row.what}": f"{row.holds} hold, {row.undecided} are undecided and {row.fails} fail"
        for row in counts.itertuples()
    }
    best = verdicts[verdicts["id"].eq("LAB-list-auroc") & verdicts["of"].eq(FAIR)]
    lows = [f"{row.estimate:.3f} ({row.world})" for row in best.itertuples()]
    apart = disagreeing(verdicts)["id"].nunique()
    several = findings(verdicts)["id"].nunique()
    return {
        "findings": f"Of the verdicts on our claims in {n} worlds, each for itself, {said['findings']}.",
        "checks": f"Of those on the worlds themselves, which should all hold, {said['checks']}.",
        "sure": f"IC-LKE's confidence tells what was told often in lists with an AUROC of "
        f"{', '.join(lows)}.",
        "differ": f"{apart} of {several} claims do not get the same verdict in all worlds.",
    }
