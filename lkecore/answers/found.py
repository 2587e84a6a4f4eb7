"""Found: how much of what a rich world's text told is found, by one way of asking and by all together.

No fact here carries a cue, so that what is found was told, or is luck. Facts are asked by pairs, by four
sentences of four kinds, and, those that the text tells in one wording alone, by this wording and two others.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import rich
from lkecore.answers.lab import FORMS, OFTEN
from lkecore.answers.tables import accuracy, bounds, by_relation, groups_of, share, side_by_side
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.rich_facts import BETWEEN
from lkecore.facts.rich_wordings import GROUP, about, groups, relations
from lkecore.intervals import Interval
from lkecore.metrics import choice
from lkecore.metrics.recapture import caught_times, chao_of_counts
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt, template, templates_of

PAIRS, SENTENCE = "iclke-space", "template-1"
NOUN, QUESTION, INSTRUCTION = "template-6", "template-16", "template-21"
WAYS = (PAIRS, SENTENCE, NOUN, QUESTION, INSTRUCTION)
OWN, NEAR, FAR = WORDINGS = ("its own wording", "a paraphrase of it", "another kind of sentence")
BEHIND = [i for i, name in enumerate(groups(), start=1) if name != "object first"]  # can be asked
TRUTH = [
    "subject", "state", "form", "wording", "occurrences", "templates", "listed", "skew", "control",
    "chain", "links", "links_told",
]  # fmt: skip
LISTED = ("often", "rarely", "never")
ZIPF = "zipf"  # the one way of drawing objects that relations of each of these have
TIMES = ("never", "less often", "often")
FEWEST = 10  # facts that a mark in the figure stands for, at least


def uncued() -> list[str]:
    """The relations of a rich world in which nothing hints at an object."""
    return [name for name in relations() if not about(name).cue]


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks, of :func:`lkecore.facts.worlds.states`: told as they are, or never."""
    return states["state"].isin(["planted", "never"]) & states["relation"].isin(uncued())


def in_wordings(samples: Mapping[str, Sample], *, seed: int) -> dict[tuple[str, ...], list[Prompt]]:
    """The questions about facts that one wording alone tells, by it and by two others.

    Of those told in sentences alone, by a template that has its object at the end. ``NEAR`` is another one of
    the same kind, ``FAR`` one of another kind, both drawn by ``seed``.
    """
    found: dict[tuple[str, ...], list[Prompt]] = {}
    for spec, sample in samples.items():
        states = rich.with_states(rich.asked_facts({spec: sample}), ["form", "templates"])
        own = states[states["form"].eq("sentence") & states["templates"].str.fullmatch(r"\d+")]
        place = own.set_index("fact")["templates"].astype(int)
        place = place[place.isin(BEHIND)]
        for relation, drawn in sample.items():
            has, rng = templates_of(drawn.relation), np.random.default_rng(seed)
            for fact, options in zip(drawn.facts, drawn.options, strict=True):
                if fact.id not in place.index:
                    continue
                mine = place[fact.id]
                kin = [t for t in BEHIND if (t - 1) // GROUP == (mine - 1) // GROUP]
                near = rng.choice([t for t in kin if t != mine])
                far = rng.choice([t for t in BEHIND if t not in kin])
                for name, which in zip(WORDINGS, (mine, near, far), strict=True):
                    prompts = template(has[f"template-{which}"], [fact], [options])
                    found.setdefault((spec, name, relation), []).extend(prompts)
    return found


def plainly(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """What :func:`lkecore.answers.door.ask` reads: ``fact``, ``correct``, ``confidence_gold``."""
    return choice.answers(scores)[["fact", "correct", "confidence_gold"]]


def beside_truth(answers: pd.DataFrame, often: int = OFTEN) -> pd.DataFrame:
    """Answers beside what the text says of their facts (``TRUTH``), and ``told`` in words, of ``TIMES``.

    Facts that are told ``often`` and more are called so. A twin's are those of its planted one. Sorted by
    relation and fact, since bootstraps draw by place. Raises :class:`BadInput` if none is told so often.
    """
    found = rich.with_states(answers, TRUTH)
    most = found["occurrences"].max()
    if not 2 <= often <= most:
        raise BadInput(f"often {often}: must be 2 to {most}, as often as a text tells a fact")
    told = pd.cut(found["occurrences"], [-1, 0, often - 1, np.inf], labels=TIMES).astype(str)
    found = found.assign(told=told)
    return found.sort_values(["relation", "fact"], kind="stable", ignore_index=True)


def often(known: pd.DataFrame) -> pd.DataFrame:
    """The facts of :func:`beside_truth` that the text tells often, by the ways of all facts."""
    return known[known["told"].eq(TIMES[2]) & known["estimator"].isin(WAYS)]


def never(known: pd.DataFrame) -> pd.DataFrame:
    """The facts that it never tells, likewise."""
    return known[known["told"].eq(TIMES[0]) & known["estimator"].isin(WAYS)]


def counts(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """How many facts of each world are asked, by form, with a column for each number of tellings."""
    facts = rich.with_states(rich.asked_facts(samples), ["form", "occurrences"])
    found = pd.crosstab([facts["world"], facts["form"]], facts["occurrences"])
    return found.rename_axis(columns=None).reset_index()


def by_way(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """What each way of asking finds of the facts told often, by model and way.

    Columns: ``model``, ``estimator``; the accuracy on facts told in ``list``, in ``both`` forms and in
    ``sentence``, Intervals (Wilson), in [0, 1]; ``never``: on facts that were never told; ``auroc`` of the
    confidence in the object, told facts against their controls, an Interval over subjects.
    """
    pairs = controlled(known)
    told, untold = (dict(groups_of(f(known), ["model", "estimator"])) for f in (often, never))
    rows = []
    for key, part in told.items():
        shares = {form: share(some["correct"]) for form, some in part.groupby("form")}
        row = dict(zip(["model", "estimator"], key, strict=True))
        row |= {form: shares.get(form) for form in ("list", "both", "sentence")}
        row["never"] = share(untold[key]["correct"])
        own = pairs[pairs["model"].eq(key[0]) & pairs["estimator"].eq(key[1])]
        rows.append(row | {"auroc": auroc(own, seed)})
    return pd.DataFrame(rows)


def controlled(known: pd.DataFrame) -> pd.DataFrame:
    """Facts told often beside the confidence in the object of their controls, ``confidence_gold_control``.

    A control is never told, and here its subject is one that the text names elsewhere: a fact whose control
    is about a stranger is left out.
    """
    named = rich.with_states(never(known), ["mentions"])
    return rich.beside_controls(often(known), named[named["mentions"] > 0])


def curve(known: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by how often the text tells a fact, for :func:`lkecore.figures.told.told_lines`.

    Columns: ``model``, ``form``, ``estimator``, ``exposures`` (tellings of the text), ``accuracy``, ``low``,
    ``high`` (Wilson). Cells of fewer than ``FEWEST`` facts are left out.
    """
    some = known[known["estimator"].isin(WAYS)].rename(columns={"occurrences": "exposures"})
    found = bounds(accuracy(some, ["model", "form", "estimator", "exposures"]), "accuracy")
    found = found[found["n"] >= FEWEST].reset_index(drop=True)
    return found[["model", "form", "estimator", "exposures", "accuracy", "low", "high"]]


def by_listing(known: pd.DataFrame) -> pd.DataFrame:
    """Do pairs need lists? What they and a sentence find of facts told often, by relation and form.

    A row for each model, sort of relations and form; behind those of all relations, the same of relations
    with skewed objects (``ZIPF``) alone. Columns: ``model``; ``relations``, by how often the text
    lists facts of them, and how many; ``told`` in lists, both, or sentences; ``facts``; the accuracy by
    ``PAIRS`` and by ``SENTENCE``, Intervals over relations (Student's t), in [0, 1]; of ``ZIPF``, which has
    two or three relations of a sort, over facts (Wilson). A group of one relation has no row.

    What lists do is confounded with frequency: relations that are never listed have objects of which some are
    far more frequent than others (zipf or chain), those listed often mostly have even ones.
    """
    rows = []
    some = often(known)
    for among, part in (("", some), (f", {ZIPF}", some[some["skew"].eq(ZIPF)])):
        for (model, listed, form), own in groups_of(part, ["model", "listed", "form"]):
            ways = [own[own["estimator"] == way] for way in (PAIRS, SENTENCE)]
            each = [by_relation(of_way, "correct") for of_way in ways]
            if len(each[0]) < 2:
                continue
            means = (
                [share(of_way["correct"]) for of_way in ways]
                if among
                else [intervals.mean_over_relations(groups, within=(0, 1)) for groups in each]
            )
            at = among, LISTED.index(listed), FORMS.index(form)
            n, sort = own["fact"].nunique(), f"{listed} listed{among} ({len(each[0])})"
            rows.append((at, model, sort, form, n, *means))
    columns = ["_at", "model", "relations", "told", "facts", PAIRS, SENTENCE]
    found = pd.DataFrame(rows, columns=columns).sort_values(["model", "_at"], kind="stable")
    return found.drop(columns="_at").reset_index(drop=True)


def listing_curve(known: pd.DataFrame) -> pd.DataFrame:
    """What pairs find of facts told in sentences alone, by how often, and how often their relation is listed.

    As :func:`by_listing`, with every number of tellings, and confounded alike. Columns: ``model``,
    ``relations``, ``tellings``, ``facts``; ``accuracy``, an Interval over facts (Wilson), in [0, 1].
    """
    some = known[known["estimator"].eq(PAIRS) & known["form"].eq("sentence")]
    by = ["model", "listed", "occurrences"]
    parts = []
    for among, part in (("", some), (f", {ZIPF}", some[some["skew"].eq(ZIPF)])):
        found = accuracy(part, by)
        at = found["listed"].map(LISTED.index)
        parts.append(found.assign(_a=among, _b=at, relations=found["listed"] + " listed" + among))
    every = pd.concat(parts).rename(columns={"occurrences": "tellings", "n": "facts"})
    every = every.sort_values(["model", "_a", "_b", "tellings"], kind="stable", ignore_index=True)
    return every[["model", "relations", "tellings", "facts", "accuracy"]]


def of_form(known: pd.DataFrame, way: str, form: str) -> pd.DataFrame:
    """Facts told often in one form, asked in one way."""
    some = often(known)
    return some[some["form"].eq(form) & some["estimator"].eq(way)]


def transfer(known: pd.DataFrame) -> pd.DataFrame:
    """Facts that one wording alone told, asked by it and by two others: accuracy by how often they were told.

    Columns: ``model``, ``wording``, ``tellings``, ``facts``; ``accuracy``, an Interval (Wilson), in [0, 1].
    """
    some = known[known["estimator"].isin(WORDINGS)]
    found = accuracy(some, ["model", "estimator", "occurrences"])
    found = found.rename(columns={"estimator": "wording", "occurrences": "tellings", "n": "facts"})
    found = found[["model", "wording", "tellings", "facts", "accuracy"]]
    at = found["wording"].map({name: i for i, name in enumerate(WORDINGS)})
    found = found.assign(_at=at).sort_values(["model", "_at", "tellings"], kind="stable")
    return found.drop(columns="_at").reset_index(drop=True)


def together(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """How much all ways of asking find together, and what their overlap says of the rest: by model.

    A row for facts told often, and one for never-told facts. Columns: ``model``, ``facts`` ("told often" or
    "never told"), ``n``; ``best``, the way that finds most, and its share ``of_best``; ``any``: found by one
    way or another, Intervals (Wilson), in [0, 1]; ``chao``: the share that can be found at all, as
    :func:`lkecore.metrics.recapture.chao` concludes, an Interval over subjects, which may be above 1.
    """
    rows = []
    for name, some in (("told often", often(known)), ("never told", never(known))):
        for (model,), part in groups_of(some, ["model"]):
            hits = hits_of(part)
            best = max(hits, key=lambda way, hits=hits: hits[way].sum())
            bound = intervals.statistic_over_subjects(
                [*caught_times(hits.to_numpy().T), np.ones(len(hits))],
                subject_of(part).loc[hits.index],
                lambda sums, m=hits.shape[1]: chao_of_counts(*sums[:3], m) / sums[3],
                seed=seed,
            )
            row = (len(hits), best, share(hits[best]), share(hits.any(axis=1)), bound)
            rows.append((model, name, *row))
    columns = ["model", "facts", "n", "best", "of_best", "any", "chao"]
    return pd.DataFrame(rows, columns=columns).sort_values(
        "model", kind="stable", ignore_index=True
    )


def hits_of(part: pd.DataFrame) -> pd.DataFrame:
    """(fact, way of asking), bool: which facts are found."""
    wide = side_by_side(part, "estimator")
    return wide[[way for way in WAYS if way in wide]].astype(bool)


def subject_of(part: pd.DataFrame) -> pd.Series:
    """The subject of each fact, by relation and fact."""
    return part.drop_duplicates(["relation", "fact"]).set_index(["relation", "fact"])["subject"]


def untouched(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Is there a trace of the told facts that no way of asking finds? By model.

    The mean confidence in the object over all ways, facts told often that none finds against controls that
    none finds: ``pairs``, and ``auroc``, an Interval over subjects, None for fewer than two subjects.
    """
    rows = []
    untold = never(known)[lambda f: f["correct"].astype(bool)]
    for (model,), part in groups_of(controlled(known), ["model"]):
        each = part.groupby(["relation", "fact"], sort=False)
        sure = ["confidence_gold", "confidence_gold_control"]
        means = each[sure].mean().join(each[["subject", "control"]].first())
        means["found"] = each["correct"].any()
        lucky = untold.loc[untold["model"] == model, "fact"]
        left = means[~means["found"].astype(bool) & ~means["control"].isin(lucky)]
        rows.append((model, len(left), auroc(left, seed)))
    return pd.DataFrame(rows, columns=["model", "pairs", "auroc"])


def follows(known: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Is a never-told fact found that follows from told ones? By model and how many of its links are told.

    Of the ends of chains that agree with their links. Columns: ``model``; ``links``, "all told" or "not all";
    ``facts``; ``sentences``, the share of the four sentences that find a fact, an Interval over facts, and
    ``pairs`` (Wilson), in [0, 1]. A twin was not told the first link, about the asked
    subject: what it finds is luck.
    """
    rows = []
    for (model, links), part in groups_of(chained(known), ["model", "links"]):
        by = [part[part["estimator"].eq(PAIRS) == yes] for yes in (False, True)]
        if (n := part["fact"].nunique()) > 1:
            means = intervals.mean_over_facts([by_fact(by[0])], seed=seed)
            rows.append((model, links, n, means, share(by[1]["correct"])))
    return pd.DataFrame(rows, columns=["model", "links", "facts", "sentences", "pairs"])


def chained(known: pd.DataFrame) -> pd.DataFrame:
    """Never-told facts that agree with the chain they end, ``links`` being "all told" or "not all"."""
    some = never(known)[lambda f: f["chain"].eq("agrees")]
    whole = some["links"].str.split(BETWEEN).str.len().eq(some["links_told"])
    return some.assign(links=np.where(whole, "all told", "not all"))


def by_fact(part: pd.DataFrame) -> pd.Series:
    """The share of ways that find a fact, in the order of the frame."""
    return part.groupby(["relation", "fact"], sort=False)["correct"].mean()


def several_minus_one(known: pd.DataFrame) -> Interval | None:
    """Facts told often in several kinds of sentences minus those told in one, asked in none of these.

    Of each fact told in sentences alone, by the first of the sentences of ``WAYS`` that did not tell it.
    Other facts, so the interval is Newcombe's. None where there are not both.
    """
    some = often(known)
    some = some[some["form"].eq("sentence") & some["estimator"].ne(PAIRS)]
    place = some["estimator"].str.removeprefix("template-")
    told = [p in own.split() for p, own in zip(place, some["templates"], strict=True)]
    order = some["estimator"].map({way: i for i, way in enumerate(WAYS)})
    new = some[~np.array(told, dtype=bool)].assign(_at=order)
    first = new.sort_values("_at", kind="stable").drop_duplicates("fact")
    hits = first.groupby("wording")["correct"].agg(["sum", "count"]).astype(int)
    if not {"several", "one"} <= set(hits.index):
        return None
    return intervals.difference_of_proportions(*hits.loc["several"], *hits.loc["one"])


def auroc(pairs: pd.DataFrame, seed: int) -> Interval | None:
    """Of :func:`controlled` rows of one model and way of asking, over subjects; None for a single one."""
    if pairs["subject"].nunique() < 2:
        return None
    both = pairs["confidence_gold"], pairs["confidence_gold_control"]
    return intervals.auroc_over_pairs(*both, of=pairs["subject"], seed=seed)
