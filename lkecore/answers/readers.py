"""Readers: models of three kinds that have read the same text, which tells each fact some number of times.

A *telling* belongs to the text and is the same for all. An exposure belongs to a model: one that has
read the text three times has met each telling three times.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from lkecore import intervals, prompts
from lkecore.answers import told
from lkecore.answers.lab import beside_truth, planted_pairs
from lkecore.answers.shipped import read
from lkecore.answers.tables import accuracy, by_relation, groups_of
from lkecore.errors import BadInput
from lkecore.facts import world as world_of_lab
from lkecore.facts.drawn import Sample
from lkecore.metrics import dose, planted
from lkecore.models import lab
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.train.text import MARKED

BY = ("world", "reader", "estimator", "relation")  # of questions, for answers.ask
READERS = ("causal", "masked", "seq2seq")
WAY = ["made_by", "estimator", "form", "kind_of_model"]
PAGE = "52_lab_kinds"


def check(models: Sequence[str], estimators: Sequence[str]) -> None:
    """Raise :class:`BadInput` for a model with a suffix, and for an estimator that is no template."""
    for model in models:
        if lab.parse(model).variant:
            raise BadInput(f"{model}: models without a suffix only")
    has = list(prompts.TEMPLATES)[: world_of_lab.TEMPLATES]
    if not estimators or not set(estimators) <= set(has):
        raise BadInput(f"estimators {list(estimators)}: of {has}")


def questions(
    samples: Mapping[str, Sample], estimators: Sequence[str]
) -> dict[tuple[str, str, str, str], list[Prompt]]:
    """The questions of templates about some worlds: {(world, reader, estimator, relation): prompts}.

    All templates end with the blank. Behind it stands a full stop, as in the text, for the readers that
    see what follows a blank; a causal model cannot see it, and is asked without.
    """
    made = {}
    for world, sample in samples.items():
        for name, drawn in sample.items():
            for estimator in estimators:
                words = drawn.relation.templates[prompts.TEMPLATES[estimator]]
                for reader in READERS:
                    text = words if reader == "causal" else f"{words}."
                    some = prompts.template(text, drawn.facts, drawn.options)
                    made[world, reader, estimator, name] = some
    return made


def beside_tellings(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """What the door reads of a model here: answers beside the truth, and the lengths of names.

    The rows of :func:`lkecore.answers.lab.beside_truth`, with ``alike``: the share of a fact's options
    that have as many tokens as the one on top, and ``alike_true``: as many as the gold option, both in
    (0, 1]; ``tellings`` of the text, ``epochs``, how often the model has read it, and its
    ``parameters``.
    """
    found = beside_truth(lm, scores)
    alike = scores.groupby(["fact", "n_tokens"])["option"].transform("size")
    alike = alike / scores.groupby("fact")["option"].transform("size")
    on_top = scores.groupby("fact")["logprob"].idxmax()
    about = lab.record(lm.path)
    epochs = int(about["epochs"])
    return found.assign(
        alike=found["fact"].map(pd.Series(alike[on_top].to_numpy(), scores["fact"][on_top])),
        alike_true=found["fact"].map(
            pd.Series(alike[scores["gold"]].to_numpy(), scores.loc[scores["gold"], "fact"])
        ),
        tellings=found["exposures"] // epochs,
        epochs=epochs,
        parameters=about["parameters"],
    )


def beside(ours: pd.DataFrame, profiles: Sequence[str], *, n_options: int) -> pd.DataFrame:
    """The answers of this run and, below them, those of the page's longer runs that ship.

    New columns: ``source``; ``made_by``, the source and the world; ``luck``, one in as many as there were
    options; ``kind_of_model``, its reader in words and its name.
    """
    parts = [ours.assign(source="this page", luck=1 / n_options)]
    for name in profiles:
        frame, about = read(name, PAGE)
        luck = 1 / about["parameters"]["n_options"]
        parts.append(frame.assign(source=f"shipped: {name}", luck=luck))
    every = pd.concat(parts, ignore_index=True)
    words = every["reader"].replace("seq2seq", "encoder-decoder")
    kind = words + " (" + every["model"].str.partition("/")[2] + ")"
    return every.assign(made_by=every["source"] + ", " + every["world"], kind_of_model=kind)


def about(answers: pd.DataFrame) -> pd.DataFrame:
    """Who has read what: a row for each ``kind_of_model``, in their order by name.

    ``parameters``; ``exposures_a_telling``: how often each telling was met; ``to_be_said``: how often a
    model had to say the object of one telling, on average. A causal model has to each time; of the
    others the text hides a share of the objects in each reading (``lkecore.train.text.MARKED``).
    """
    columns = ["kind_of_model", "parameters", "epochs", "reader"]
    found = answers[columns].drop_duplicates("kind_of_model").sort_values("kind_of_model")
    share = np.where(found["reader"] == "causal", 1, MARKED)
    found = found.rename(columns={"epochs": "exposures_a_telling"}).drop(columns="reader")
    said = found["exposures_a_telling"] * share
    return found.assign(to_be_said=said).reset_index(drop=True)


def by_tellings(answers: pd.DataFrame, forms: Sequence[str]) -> pd.DataFrame:
    """Accuracy of planted facts by form and tellings, and of never-told ones, which have no form.

    The latter stand in every one of ``forms``, with 0 tellings. Columns: made_by, estimator, form,
    kind_of_model, tellings; ``exposures``, of the model; ``facts``; ``accuracy``, an Interval (Wilson).
    """
    never = answers[answers["state"] == "never"]
    told_so = answers[answers["state"] == "planted"]
    every = pd.concat([told_so, *(never.assign(form=form) for form in forms)])
    every = every.assign(exposures=every["tellings"] * every["epochs"])
    found = accuracy(every, [*WAY, "tellings", "exposures"]).rename(columns={"n": "facts"})
    found = found.sort_values([*WAY, "tellings"], ignore_index=True)
    return found[[*WAY, "tellings", "exposures", "facts", "accuracy"]]


def tellings_needed(curve: pd.DataFrame, share: float = 0.5) -> pd.DataFrame:
    """After how many tellings is a ``share`` of the facts answered rightly? A row for each way and form.

    ``curve`` is of :func:`by_tellings`. Columns: made_by, estimator, form, kind_of_model; ``needed``,
    ``low`` and ``high`` (:func:`lkecore.metrics.dose.exposures_needed`), infinite where the share is not
    reached with the most tellings of the world; ``text``, which says "> most" and "≤ least" there.
    """
    rows = []
    for key, part in groups_of(curve[curve["tellings"] > 0], WAY):
        part = part.sort_values("tellings")
        lines = ([getattr(x, end) for x in part["accuracy"]] for end in ("estimate", "high", "low"))
        ends = [dose.exposures_needed(part["tellings"], line, share) for line in lines]
        least, most = part["tellings"].iloc[[0, -1]]
        texts = [_needed_text(end, least, most) for end in ends]
        rows.append((*key, *ends, f"{texts[0]} [{texts[1]}, {texts[2]}]"))
    return pd.DataFrame(rows, columns=[*WAY, "needed", "low", "high", "text"])


def _needed_text(end: float, least: int, most: int) -> str:
    return f"> {most}" if end > most else f"≤ {least}" if end <= least else f"{end:.1f}"


def never_told(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Of facts that were never told: right as often as by luck, and names of rare lengths preferred?

    A row for each made_by, kind_of_model and estimator, with the columns of
    :func:`lkecore.answers.told.never_told`; ``alike``, the mean share of options as long as the answer;
    ``rarer``, by how much that is smaller than for the true objects, an Interval over facts: 0 for a model
    that guesses evenly, above 0 for one that prefers names of rare lengths.
    """
    by = ["made_by", "kind_of_model", "estimator"]
    answers = answers[answers["state"] == "never"].sort_values(by, kind="stable")
    rows = []
    for _, part in groups_of(answers, by):
        part = part.sort_values("relation", kind="stable")
        true, top = (by_relation(part, name) for name in ("alike_true", "alike"))
        rows.append((part["alike"].mean(), intervals.paired_difference(true, top, seed=seed)))
    more = pd.DataFrame(rows, columns=["alike", "rarer"])
    return pd.concat([told.never_told(answers, by), more], axis=1)


def pairs_of(answers: pd.DataFrame, often: int, *, seed: int) -> pd.DataFrame:
    """Planted facts told ``often`` or more, each with its control, by relation and fact.

    Controls whose subject the text never names are left out, and each control is used once in a form.
    """
    found = []
    for _, part in groups_of(answers[answers["state"] != "mislearned"], ["made_by"]):
        pairs = planted_pairs(part)
        some = pairs[pairs["tellings"] >= often]
        found.append(planted.each_control_once(some, ["form"], seed=seed))
    return pd.concat(found).sort_values([*WAY, "relation", "fact"], ignore_index=True)


def aurocs(pairs: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """:func:`lkecore.answers.told.auroc` of :func:`pairs_of`, by way and form (1,000 resamples)."""
    return told.auroc(pairs, WAY, seed=seed, n_resamples=1_000)


def one_against_other(
    answers: pd.DataFrame, pairs: pd.DataFrame, often: int, *, seed: int
) -> pd.DataFrame:
    """The first kind of model minus the second on the same facts, those told ``often`` or more.

    ``pairs`` are of :func:`pairs_of`. Columns: made_by, estimator, form, ``first``, ``second``; ``facts``;
    ``accuracy``, the difference, an Interval over facts; ``only_first`` and ``only_second``, facts; ``p``:
    McNemar's exact test, corrected by Holm for all rows of the same made_by; ``auroc``: the difference
    of the AUROCs on the same pairs, an Interval. Positive: the first is better.
    """
    key = ["relation", "fact"]
    some = answers[answers["state"].eq("planted") & answers["tellings"].ge(often)]
    sure = dict(groups_of(pairs, WAY))
    rows = []
    for way, part in groups_of(some.sort_values([*WAY, *key], kind="stable"), WAY[:3]):
        hits = part.pivot(index=key, columns="kind_of_model", values="correct").astype(bool)
        for a, b in combinations(hits.columns, 2):
            groups = [by_relation(hits.reset_index(), name) for name in (a, b)]
            only = int((hits[a] & ~hits[b]).sum()), int((hits[b] & ~hits[a]).sum())
            p = intervals.mcnemar(hits[a].to_numpy(), hits[b].to_numpy())
            of_a, of_b = (sure[(*way, name)][["confidence_gold", "control"]] for name in (a, b))
            gain = intervals.auroc_over_pairs(
                *of_a.to_numpy().T, minus=tuple(of_b.to_numpy().T), seed=seed
            )
            gap = intervals.paired_difference(*groups, seed=seed)
            rows.append((*way, a, b, len(hits), gap, *only, p, gain))
    columns = [*WAY[:3], "first", "second", "facts", "accuracy", "only_first", "only_second", "p"]
    found = pd.DataFrame(rows, columns=[*columns, "auroc"]).astype({"p": float})
    return found.assign(p=found.groupby("made_by")["p"].transform(intervals.holm))


def mislearned(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """What each model says of facts that the text told wrongly: :func:`lkecore.answers.told.mislearned`.

    A row for each made_by, kind_of_model and estimator.
    """
    by = ["made_by", "kind_of_model", "estimator"]
    some = answers[answers["state"].isin(["mislearned", "never"])]
    pairs = [planted_pairs(part) for _, part in groups_of(some, ["made_by"])]
    wrong = some[some["state"] == "mislearned"].sort_values(by, kind="stable")
    return told.mislearned(wrong, pd.concat(pairs), by=by, seed=seed)


def wide(frame: pd.DataFrame, value: str, forms: Sequence[str]) -> pd.DataFrame:
    """A table for a page: a row for each made_by, estimator and kind of model, a column a form."""
    found = frame.pivot(index=[WAY[0], WAY[1], WAY[3]], columns="form", values=value)
    return found[list(forms)].fillna("").rename_axis(columns=None).reset_index()


def sentences(
    curve: pd.DataFrame, never: pd.DataFrame, wrong: pd.DataFrame, *, form: str, often: int
) -> dict[str, str]:
    """What came out where most kinds of model were asked, in words: ``found``, ``nothing`` and ``wrong``.

    That is this run, or else the first longer run with more kinds. ``curve`` of :func:`by_tellings`,
    ``never`` of :func:`never_told`, ``wrong`` of :func:`mislearned`. ``found`` and ``wrong`` are about the
    first estimator; ``found`` about the fewest tellings of ``often`` or more, and facts told in ``form``.
    """
    kinds = curve.groupby("made_by")["kind_of_model"].nunique()
    made_by = max(kinds.index, key=lambda name: (kinds[name], name.startswith("this page")))
    here = curve[curve["made_by"].eq(made_by) & curve["form"].eq(form)]
    first = here["estimator"].iloc[0]
    some = here[here["estimator"].eq(first) & here["tellings"].ge(often)]
    n = some["tellings"].min()
    at = some[some["tellings"] == n]
    each = [f"{row.kind_of_model} {row.accuracy.text()}" for row in at.itertuples()]
    clear = int((never["p (Holm)"] < 0.05).sum())
    rows = wrong[wrong["made_by"].eq(made_by) & wrong["estimator"].eq(first)]
    told_so = [f"{row.kind_of_model} {row.told.text()}" for row in rows.itertuples()]
    said = {
        "found": f"Of the facts that the text tells {n} times ({form}; {made_by}), asked by {first}, the "
        f"share that is found: {', '.join(each)}.",
        "nothing": f"Of facts that no text tells, {len(never) - clear} of {len(never)} tests see nothing "
        "but luck.",
        "wrong": f"What the text tells wrongly is repeated: {', '.join(told_so)} of these facts.",
    }
    return said if told_so else said | {"wrong": "This text tells nothing wrongly."}
