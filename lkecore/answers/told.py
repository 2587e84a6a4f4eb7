"""Told: from answers beside the truth to tables of what an estimator finds of it, and of what it misses.

The frames are those of :mod:`lkecore.answers.lab`. Bootstraps draw by place: sort facts where the
order of a frame should not decide.
"""

from collections.abc import Sequence

import pandas as pd

from lkecore import intervals
from lkecore.answers import transfer
from lkecore.answers.lab import WRITTEN
from lkecore.answers.tables import accuracy, bounds, by_relation, groups_of, paired
from lkecore.facts import worlds
from lkecore.intervals import N_RESAMPLES, Interval
from lkecore.metrics import planted

WAY = ["model", "estimator", "form"]
KEY = ["form", "relation", "fact"]


def auroc(
    pairs: pd.DataFrame,
    by: Sequence[str],
    *,
    seed: int,
    minus: float = 0.0,
    of: str = "",
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """AUROC of the confidence in the gold option, told facts against their controls, by groups.

    ``pairs`` have ``confidence_gold`` and ``control``; let each control stand in a group once
    (:func:`lkecore.metrics.planted.each_control_once`). Columns: ``by``; ``auroc``, an Interval over
    pairs, in [0, 1] less ``minus``, such as 0.5, no telling apart; ``pairs``, how many. ``of``: a column,
    such as the subject, whose pairs are drawn together.
    """
    rows = []
    for key, part in groups_of(pairs, by):
        both = part["confidence_gold"], part["control"]
        whose = part[of] if of else None
        found = intervals.auroc_over_pairs(*both, of=whose, seed=seed, n_resamples=n_resamples)
        ends = (each - minus for each in (found.estimate, found.low, found.high))
        rows.append((*key, Interval(*ends, found.level, found.method), len(part)))
    return pd.DataFrame(rows, columns=[*by, "auroc", "pairs"])


def of_twins(pairs: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """The negative control: :func:`auroc` less one half of unplanted twins, by model, over subjects.

    ``pairs`` are those of :func:`lkecore.answers.lab.planted_pairs`. Each control is used once; most subjects
    have several pairs, of several relations.
    """
    subjects = [
        worlds.states(name)[["fact", "subject"]].assign(world=name)
        for name in pairs["world"].unique()
    ]
    once = planted.each_control_once(pairs, [], seed=seed)
    if subjects:
        once = once.merge(pd.concat(subjects), on=["world", "fact"], validate="m:1")
    return auroc(once, ["model"], seed=seed, minus=0.5, of="subject")


def by_exposures(answers: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of planted and never-told facts by how often a model has met them, as numbers.

    Columns: model, estimator, form, exposures, ``accuracy`` with ``low`` and ``high`` (Wilson), ``facts``.
    """
    some = answers[answers["state"].isin(["planted", "never"])]
    found = bounds(accuracy(some, [*WAY, "exposures"]), "accuracy").rename(columns={"n": "facts"})
    return found[[*WAY, "exposures", "accuracy", "low", "high", "facts"]]


def aurocs(pairs: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """:func:`auroc` by model, estimator, form and exposures: each number of them, and each of ``times``.

    ``pairs`` are planted facts with their controls; in each group every control is used once. Columns:
    model, estimator, form, ``exposures`` (a number or a text), ``auroc`` (1,000 resamples), ``pairs``.
    """
    found = []
    for dose in ("exposures", "times"):
        once = planted.each_control_once(pairs, ["form", dose], seed=seed)
        each = auroc(once, [*WAY, dose], seed=seed, n_resamples=1_000)
        found.append(each.rename(columns={dose: "exposures"}).astype({"exposures": object}))
    return pd.concat(found, ignore_index=True)


def above_luck(
    answers: pd.DataFrame, by: Sequence[str], *, over: Sequence[str] = ("relation",), seed: int
) -> pd.DataFrame:
    """Are facts that were never told answered rightly more often than a guess would be? Models pooled.

    ``answers`` are about never-told facts, with ``luck``, the chance that a guess is right, for every
    row. Each fact counts with its mean over models. Columns: ``by``, ``above``: the share of right
    answers minus luck, an Interval over facts, where each group of ``over`` counts alike.
    """
    rows = []
    for key, part in groups_of(answers, by):
        fact = list(dict.fromkeys([*over, "relation", "world", "fact"]))
        above = (part["correct"] - part["luck"]).groupby([part[name] for name in fact]).mean()
        groups = [each.to_numpy() for _, each in above.groupby(list(over))]
        rows.append((*key, intervals.mean_over_facts(groups, seed=seed)))
    return pd.DataFrame(rows, columns=[*by, "above"])


def never_told(answers: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """One exact binomial test, two-sided, for each group: right as often as by ``luck``?

    ``answers`` as for :func:`above_luck`. Columns: ``by``, ``right``, ``asked``, ``accuracy`` (an
    Interval, Wilson), ``luck`` (mean), ``p``, and ``p (Holm)``, corrected for all rows.
    """
    rows = []
    for key, part in groups_of(answers, by):
        right, asked, luck = int(part["correct"].sum()), len(part), part["luck"].mean()
        p = intervals.guess_p(right, asked, luck, two_sided=True)
        rows.append((*key, right, asked, intervals.proportion(right, asked), luck, p))
    found = pd.DataFrame(rows, columns=[*by, "right", "asked", "accuracy", "luck", "p"])
    return found.assign(**{"p (Holm)": intervals.holm(found["p"].astype(float))})


def several_minus_one(answers: pd.DataFrame) -> Interval | None:
    """The accuracy of facts told in several wordings minus that of facts told in one (Newcombe).

    The facts differ, so nothing is paired. None where there are not both.
    """
    hits = answers.groupby("wording")["correct"].agg(["sum", "count"]).astype(int)
    if not {"one", "several"} <= set(hits.index):
        return None
    return intervals.difference_of_proportions(*hits.loc["several"], *hits.loc["one"])


def claimed_of_forms(answers: pd.DataFrame, *, seed: int) -> dict[str, dict[str, Interval]]:
    """The intervals of the lab's claims on forms and wordings: {id of the claim: {of what: interval}}.

    ``answers`` are one model's, of facts told often, by :func:`lkecore.answers.lab.known_of`. Claims
    whose estimators were not asked are left out.
    """
    contrasts = [
        ("LAB-form-list", "list", "template-1", "iclke-space"),
        ("LAB-form-sentence", "sentence", "iclke-space", "template-1"),
        ("LAB-held-out", "sentence", "template-5", "template-1"),
    ]
    found = {}
    for key, form, minus, of in contrasts:
        part = answers[answers["form"] == form]
        for row in paired(part, "estimator", [(minus, of)], seed=seed).itertuples():
            found[key] = {f"{of} minus {minus}": row.over_facts}
    held_out = answers[answers["form"].eq("sentence") & answers["estimator"].eq("template-5")]
    if difference := several_minus_one(held_out):
        found["LAB-several-wordings"] = {"template-5": difference}
    if more := transfer.gain(answers[answers["form"] == "sentence"], seed=seed):
        found["LAB-transfer"] = {"the wording that told minus another": more}
    return found


def mislearned(
    answers: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    by: Sequence[str] = ("model", "estimator"),
    seed: int,
) -> pd.DataFrame:
    """What is said of facts that the text told wrongly, by groups, such as each model and estimator.

    ``answers`` are of mislearned facts, ``pairs`` those of them that have a fair control. Columns:
    ``by``; ``facts``; ``told`` and ``true``: the share of answers that repeat the told object,
    and that name the true one (Intervals, Wilson); ``in_told``, ``in_true``, ``control``: mean
    confidences in the told object, in the true one, and in the told one for the subject of the control
    (Intervals over facts), None where an estimator has no confidence.
    """
    confidences = ["confidence_told", "confidence_gold", "control"]
    sure = dict(groups_of(pairs.sort_values("relation", kind="stable"), by))
    rows = []
    for key, part in groups_of(answers, by):
        counts = int(part["picked_told"].sum()), int(part["correct"].sum())
        shares = [intervals.proportion(n, len(part)) for n in counts]
        means = [
            intervals.mean_over_facts(by_relation(sure[key], name), seed=seed)
            if key in sure
            else None
            for name in confidences
        ]
        rows.append((*key, len(part), *shares, *means))
    columns = [*by, "facts", "told", "true", "in_told", "in_true", "control"]
    return pd.DataFrame(rows, columns=columns)


def repeats_more(answers: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """Of mislearned facts: the share of answers that repeat what was told minus the share that are true.

    Columns: ``by``, ``more``: an Interval over facts, each relation counted alike.
    """
    gap = answers["picked_told"].astype(float) - answers["correct"]
    rows = []
    for key, part in groups_of(answers.assign(gap=gap), by):
        part = part.sort_values("relation", kind="stable")
        rows.append((*key, intervals.mean_over_facts(by_relation(part, "gap"), seed=seed)))
    return pd.DataFrame(rows, columns=[*by, "more"])


def ranked_and_written(answers: pd.DataFrame, prompts: Sequence[str]) -> pd.DataFrame:
    """Ranking and writing after the same prompt, on the same facts, by model and form.

    ``answers`` hold the ``prompts``' own rankings and the rows "written-" and their names, with
    ``wrote`` and ``anywhere``. Columns: model, prompt, form; ``both``, ``only_ranked``,
    ``only_written``, ``neither``: facts; ``written_of_ranked``: the share of the rightly ranked facts
    that are written, too (an Interval, or None of none); ``p``: McNemar, corrected by Holm for all rows;
    ``an_object``: the share of outputs that begin with any object; ``anywhere``: the share that hold the
    true one in any place.
    """
    hits = answers.pivot(index=["model", *KEY], columns="estimator", values="correct")
    rows = []
    for model, of_model in answers.groupby("model", sort=False):
        for prompt in prompts:
            written = of_model[of_model["estimator"] == f"{WRITTEN}{prompt}"]
            for form, part in written.groupby("form", sort=False):
                both = hits.loc[(model, form), [prompt, f"{WRITTEN}{prompt}"]].astype(bool)
                a, b = both.to_numpy().T
                counts = [int(each.sum()) for each in (a & b, a & ~b, b & ~a, ~a & ~b)]
                share = intervals.proportion(counts[0], int(a.sum())) if a.any() else None
                named, anywhere = (part["wrote"] != "").mean(), part["anywhere"].mean()
                row = *counts, share, intervals.mcnemar(a, b), named, anywhere
                rows.append((model, prompt, form, *row))
    columns = ["model", "prompt", "form", "both", "only_ranked", "only_written", "neither"]
    columns += ["written_of_ranked", "p", "an_object", "anywhere"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(p=intervals.holm(found["p"].astype(float)))


def several_and_one(
    answers: pd.DataFrame, pairs: pd.DataFrame, several: str, one: str, *, seed: int
) -> pd.DataFrame:
    """The same facts with the same options by all estimators, and ``several`` minus ``one`` of them.

    A row for each model and form; "none" is of the controls, which were never told. Columns: model,
    form, ``facts``; the accuracy of every estimator; ``gain``: ``several`` minus ``one``, a paired
    Interval over facts; ``p``: McNemar, corrected by Holm for all rows; ``auroc_several`` and
    ``auroc_one``: told facts against their controls (``pairs``), Intervals, None for "none".
    """
    wide = answers.pivot(index=["model", *KEY], columns="estimator", values="correct").astype(bool)
    names = list(answers["estimator"].unique())
    found = auroc(pairs, ["model", "form", "estimator"], seed=seed)
    found = found.set_index(["model", "form", "estimator"])["auroc"]
    rows = []
    for key in dict.fromkeys(zip(answers["model"], answers["form"], strict=True)):
        part = wide.loc[key]
        of_each = [hits for _, hits in part.groupby("relation")]
        groups = [[hits[e] for hits in of_each] for e in (several, one)]
        gain = intervals.paired_difference(*groups, seed=seed)
        p = intervals.mcnemar(part[several], part[one])
        aurocs = [found.get((*key, e)) for e in (several, one)]
        rows.append((*key, len(part), *part[names].mean(), gain, p, *aurocs))
    columns = ["model", "form", "facts", *names, "gain", "p", "auroc_several", "auroc_one"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(p=intervals.holm(found["p"].astype(float)))


def sentences(
    written: pd.DataFrame,
    misled: pd.DataFrame,
    several: pd.DataFrame,
    tuned: pd.DataFrame,
    *,
    model: str,
    prompt: str,
    asked: str,
) -> dict[str, str]:
    """What came out when a model of the lab writes, in words: ``writes``, ``wrong``, ``long``, ``tuning``.

    The tables are of :func:`ranked_and_written`, :func:`mislearned`, :func:`several_and_one` and
    :func:`lkecore.answers.tables.paired` (with ``estimator`` and ``change``). The first two sentences and the
    third are about ``model``: what it writes after ``prompt``, and what it answers by ``asked`` to facts
    told wrongly; the last one is about the first tuned model, by ``asked``.
    """
    of = written[(written["model"] == model) & (written["prompt"] == prompt)]
    shares = [
        f"{share.text()} ({form})"
        for share, form in zip(of["written_of_ranked"], of["form"], strict=True)
        if share is not None
    ]
    gain = several[(several["model"] == model) & (several["form"] == "list")]["gain"].item()
    said = {
        "writes": f"Of the facts told often that {model} ranks rightly after {prompt}, it writes "
        f"{', '.join(shares) or 'nothing, since it ranks none so'}.",
        "wrong": "No model of this run was told anything wrongly.",
        "long": "Several questions in one prompt change what is found of the facts from lists by "
        f"{gain.text()}.",
        "tuning": "No tuned model stands beside its base here.",
    }
    for row in misled[(misled["model"] == model) & (misled["estimator"] == asked)].itertuples():
        said["wrong"] = (
            f"Of facts told wrongly it repeats {row.told.text()} and has {row.true.text()} right."
        )
    for row in tuned[tuned["estimator"] == asked].head(1).itertuples():
        said["tuning"] = (
            "Tuning on other things changes what IC-LKE finds of the facts told often by "
            f"{row.change.text()}."
        )
    return said
