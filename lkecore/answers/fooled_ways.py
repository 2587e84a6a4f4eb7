"""Fooled, by other ways of asking: questions, instructions and writing, beside the ways of the page on cues.

And beside what happens at a blank when the fact itself is told, or taught.

All ask the facts that a text tells often and the controls of these, so that each way is held against each
other one on the same pairs.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import intervals
from lkecore.answers import fooled, gates, lab, rich, shipped, taught
from lkecore.answers.lab import WRITTEN
from lkecore.answers.tables import bounds, groups_of, share
from lkecore.facts.drawn import Sample
from lkecore.facts.rich_wordings import groups
from lkecore.intervals import Interval
from lkecore.models import lab as models_of_lab
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt

PAGE = "56_lab_fooled"  # whose answers of the same facts stand beside these
INSTILLED = "22_entropy_instilled"  # the page that tells and teaches facts
PAIRS = "iclke-space"  # the way that all others are held against
READ = ["model", "world", "estimator", "relation", "fact", "correct", "picked", "confidence_gold"]
WHO_AND_CUE = ["model", "estimator", "cue"]
# Numbers at a blank of which less means better known: columns of `lkecore.answers.taught.together`.
MOVED = {
    "surprisal": "surprisal", "rank": "rank", "change of entropy, told": "told_change",
    "KL, told": "told_kl", "change of entropy, taught": "taught_change", "KL, taught": "taught_kl",
}  # fmt: skip

Questions = Mapping[tuple[str, str, str], Sequence[Prompt]]


def questions(
    samples: Mapping[str, Sample], estimators: Sequence[str], written: str
) -> tuple[dict[tuple[str, str, str], list[Prompt]], dict[tuple[str, str, str], list[Prompt]]]:
    """(questions with options, questions after which models write), both by ``lab.BY``.

    ``written`` is one of ``estimators``; its prompts stand in the second under its name with ``WRITTEN`` in
    front. Raises :class:`BadInput` where it is none of them.
    """
    lab.check_asked(estimators, [written])
    every = lab.questions(samples, estimators)
    after = {
        (world, f"{WRITTEN}{name}", relation): prompts
        for (world, name, relation), prompts in every.items()
        if name == written
    }
    return every, after


def plainly(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """What :func:`lkecore.answers.door.ask` reads: of :func:`lkecore.answers.rich.beside_hints` a part.

    Columns: ``fact``, ``correct``, ``picked``, ``confidence_gold``.
    """
    return rich.beside_hints(lm, scores)[["fact", "correct", "picked", "confidence_gold"]]


def as_answers(written: pd.DataFrame, asked: Questions) -> pd.DataFrame:
    """Outputs of :func:`lkecore.answers.written.write` as answers: a row for each, with the columns ``READ``.

    ``picked`` is the option with which the output begins (:func:`lkecore.answers.gates.begins`), the longest
    if one begins another, "" if there is none; ``correct`` (bool): it is the object. What is written has no
    confidence: ``confidence_gold`` is 1 where it is right and 0 elsewhere, so that an AUROC over it says what
    the outcome alone tells. ``asked`` are the questions, of which the options are taken.
    """
    options = {key: some[0].options for key, some in asked.items()}
    keys = zip(*(written[name] for name in lab.BY), strict=True)
    said = [
        max((o for o in options[key] if gates.begins(text, [o])), key=len, default="")
        for key, text in zip(keys, written["text"], strict=True)
    ]
    right = written["object"].eq(said)
    found = written.assign(picked=said, correct=right, confidence_gold=right.astype(float))
    return found[READ]


def both(ranked: pd.DataFrame, said: pd.DataFrame) -> pd.DataFrame:
    """Choices among options and written answers, in the columns ``READ``."""
    return pd.concat([ranked[READ], said], ignore_index=True)


def chosen(ours: pd.DataFrame, profiles: Sequence[str]) -> pd.DataFrame:
    """Answers about the same facts by every way: those of ``PAGE`` from ``profiles``, then ``ours``.

    ``ours`` have the columns ``READ``; of the page those of the same models and facts are taken, which chose
    among all options, too. All are as :func:`lkecore.answers.fooled.hinted` gives them. Raises
    :class:`BadInput` as :func:`lkecore.answers.shipped.read`.
    """
    there = [shipped.read(name, PAGE)[0][READ] for name in profiles]
    parts = [*(_of_models(each, ours) for each in there), ours[READ]]
    asked = ours[["world", "fact"]].drop_duplicates()  # worlds may have facts of the same name
    found = pd.concat([each.merge(asked, on=["world", "fact"]) for each in parts])
    return _by_model(fooled.hinted(found.assign(confidence=np.nan)), ours)


def otherwise(
    ours: pd.DataFrame, profiles: Sequence[str], instilled: Sequence[str] = ()
) -> pd.DataFrame:
    """What other pages ask in their own ways: EIC-LKE, and numbers at a blank.

    Of ``PAGE`` from ``profiles``, of the models of ``ours``; and of ``INSTILLED`` from the profiles
    ``instilled`` (:func:`of_lessons`), of all models of the worlds of ``ours``. What both have stands here
    once. The facts are not quite those of ``ours``: EIC-LKE has other ones and fewer options, and at a blank
    those are left out whose object shares its first token. Rows are as
    :func:`lkecore.answers.fooled.hinted` gives them; there are none without profiles. Raises as
    :func:`chosen`.
    """
    named = {name: f"{name}, told" for name in ("change of entropy", "KL")}
    parts = []
    for name in profiles:
        several, told = (
            _of_models(shipped.read(name, PAGE, apart=apart)[0], ours)
            for apart in ("eic", "blanks")
        )
        several = several[several["estimator"].eq("eiclke")]
        parts += [fooled.hinted(several.assign(picked="")), fooled.of_blanks(told)]
    parts += [of_lessons(name) for name in instilled]
    if not parts:
        return pd.DataFrame()
    found = pd.concat(parts, ignore_index=True).replace({"estimator": named})
    found = found[found["world"].isin(ours["world"])]
    return _by_model(found.drop_duplicates(["model", "estimator", "fact"]), ours)


def of_lessons(profile: str) -> pd.DataFrame:
    """What ``INSTILLED`` found in a profile: facts told and taught, each of the numbers ``MOVED``.

    ``estimator`` is its name, with the optimizer behind it where the fact is taught ("KL, taught by sgd"): by
    both lessons of the page, after the steps that it compares. ``confidence_gold`` is the number turned, so
    that more is better known; a change of entropy without its sign. Facts whose object shares its first
    token, and those that a lesson lost, are left out. Rows are as :func:`lkecore.answers.fooled.hinted`
    gives them. Raises :class:`BadInput` as :func:`lkecore.answers.shipped.read`.
    """
    told, about = shipped.read(profile, INSTILLED)
    lessons = [shipped.read(profile, INSTILLED, apart=apart)[0] for apart in ("taught", "also")]
    told = told.assign(source=f"shipped: {profile}")
    rows = taught.together(told, pd.concat(lessons, ignore_index=True))
    rows = rows[rows["steps"].eq(about["parameters"]["steps"]) & ~rows["lost"]]
    by = " by " + rows["lesson"].str.partition(" ")[0]
    parts = []
    for name, column in MOVED.items():
        turned = -rows[column].abs() if "change" in column else -rows[column]
        part = rows[["model", "world", "relation", "fact"]].assign(
            picked="", confidence_gold=turned
        )
        parts.append(part.assign(estimator=name + by if "taught" in column else name))
    found = pd.concat(parts, ignore_index=True)
    # What needs no lesson stands beside each of them.
    return fooled.hinted(found.drop_duplicates(["model", "estimator", "fact"]))


def _of_models(frame: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["model"].isin(ours["model"].unique())]


def _by_model(rows: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """The rows with the models in the order of ``ours``, others last; within a model they keep theirs."""
    place = {name: i for i, name in enumerate(ours["model"].unique())}
    at = rows["model"].map(place).fillna(len(place))  # pandas 2 orders what is missing as -1
    return rows.iloc[at.argsort(kind="stable")].reset_index(drop=True)


def aurocs(chosen: pd.DataFrame, otherwise: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """:func:`lkecore.answers.fooled.aurocs` of each model and way: choices, then what is asked otherwise."""
    by = ["model", "estimator"]
    parts = [fooled.aurocs(each, by, seed=seed) for each in (chosen, otherwise) if len(each)]
    return _by_model(pd.concat(parts, ignore_index=True), chosen)


def reference(chosen: pd.DataFrame) -> str:
    """The way that others are held against: ``PAIRS``, or where it is not there the first."""
    ways = list(chosen["estimator"].unique())
    return PAIRS if PAIRS in ways else ways[0]


def beyond(chosen: pd.DataFrame, than: str, *, seed: int) -> pd.DataFrame:
    """How much better a way tells told from never told than the way ``than`` does, on the same pairs.

    ``chosen`` is of :func:`chosen`. Columns: ``model``, ``estimator``, ``cue``, ``pairs``;
    ``gain``: the AUROC by the estimator minus that by ``than``, an Interval over pairs, each of another
    subject, in [-1, 1]. A group of fewer than ``fooled.FEWEST`` pairs has no row.
    """
    told = rich.beside_controls(chosen[chosen["told"] == fooled.TOLD], chosen)
    sides = ["confidence_gold", "confidence_gold_control"]
    of_other = told[told["estimator"] == than].set_index(["model", "fact"])[sides]
    rows = []
    for (model, name, cue), part in groups_of(told[told["estimator"] != than], WHO_AND_CUE):
        if len(part) < fooled.FEWEST:
            continue
        other = of_other.loc[[(model, fact) for fact in part["fact"]]]
        (a, b), minus = (tuple(each[side] for side in sides) for each in (part, other))
        gain = intervals.auroc_over_pairs(a, b, minus=minus, seed=seed)
        rows.append((model, name, cue, len(part), gain))
    return fooled.in_order(pd.DataFrame(rows, columns=[*WHO_AND_CUE, "pairs", "gain"]))


def same(chosen: pd.DataFrame, written: str) -> pd.DataFrame:
    """How often a model writes what it ranks first of all options, by model, ``told`` and cue.

    ``written`` is the estimator after whose prompt it writes. Columns: ``model``, ``told``, ``cue``; ``n``
    facts; ``same``: the share, an Interval (Wilson), in [0, 1].
    """
    two = chosen[chosen["estimator"].isin([written, f"{WRITTEN}{written}"])]
    key = ["model", "told", "cue", "fact"]
    wide = two.pivot(index=key, columns="estimator", values="picked").reset_index()
    alike = wide.assign(same=wide[written].eq(wide[f"{WRITTEN}{written}"]))
    rows = [(*k, len(part), share(part["same"])) for k, part in groups_of(alike, key[:3])]
    return pd.DataFrame(rows, columns=[*key[:3], "n", "same"])


def marks(aurocs: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`aurocs` for :func:`lkecore.figures.told.way_rows`: numbers, without the cue "all".

    Columns: ``model``, ``way``, ``cue``, ``pairs``, ``auroc``, ``low``, ``high``.
    """
    found = bounds(aurocs[aurocs["cue"] != "all"], "auroc")
    return found.assign(way=found["estimator"].map(in_words))


def in_words(estimator: str) -> str:
    """An estimator with the kind of sentence that it is, where it is a template of a rich world.

    >>> in_words("template-16"), in_words("written-template-16"), in_words("iclke-space")
    ('template-16 (question)', 'written-template-16 (question)', 'iclke-space')
    """
    number = estimator.rpartition("template-")[2]
    return f"{estimator} ({groups()[int(number) - 1]})" if number.isdigit() else estimator


def sentences(chosen: pd.DataFrame, aurocs: pd.DataFrame, written: str) -> dict[str, str]:
    """What came out, in words: ``luck``, ``apart``, ``written`` and ``twin``.

    Of the largest model that read the text as it is, and of a twin: by the way that others are held against
    (:func:`reference`), by ``written``, and by what is written after this.
    """
    names = chosen["model"].unique()
    model = lab.reference(names)
    never = chosen[chosen["model"].eq(model) & chosen["told"].eq(fooled.NEVER)]
    right = {key: share(part["correct"]) for key, part in never.groupby(["cue", "estimator"])}
    of = aurocs.set_index(["model", "cue", "estimator"])["auroc"].to_dict()
    asked = list(dict.fromkeys([reference(chosen), written]))

    def number(found: Mapping[tuple, Interval], *key: str) -> str:
        return found[key].text() if key in found else "too few"

    def each(found: Mapping[tuple, Interval], *key: str) -> str:
        return ", ".join(f"{number(found, *key, way)} by {in_words(way)}" for way in asked)

    told = {
        "luck": "Of facts that no text told, where a name, or the most frequent colour, gives the "
        f"object away, {model} gets right {each(right, fooled.RIGHT)}.",
        "apart": "How often it is surer of a told fact than of a control (AUROC): without a cue "
        f"{each(of, model, fooled.NONE)}; with a right one {each(of, model, fooled.RIGHT)}.",
        "written": "By what it writes, right or wrong, "
        f"{number(of, model, fooled.NONE, WRITTEN + written)} and "
        f"{number(of, model, fooled.RIGHT, WRITTEN + written)}.",
        "twin": "No twin was asked.",
    }
    if twins := [name for name in names if models_of_lab.parse(name).variant == "unplanted"]:
        told["twin"] = (
            f"{twins[0]}, which read none of these facts, has {number(of, twins[0], fooled.RIGHT, written)} "
            f"by {in_words(written)} with a right cue."
        )
    return told


def by_moves(aurocs: pd.DataFrame) -> str:
    """What came out by how far an answer moves (KL), where nothing hints: behind the sentence on writing.

    ``aurocs`` is of :func:`aurocs`. Of the largest decoder, each KL there is; "" where there is none.
    """
    rows = aurocs[aurocs["cue"].eq(fooled.NONE) & aurocs["estimator"].str.startswith("KL")]
    names = rows["model"].unique()
    if not (decoders := sorted(set(names) - set(rich.blank_readers(names)))):
        return ""
    own = rows[rows["model"] == lab.reference(decoders)]
    each = [
        f"{found.text()} when {way.removeprefix('KL, ')}"
        for way, found in zip(own["estimator"], own["auroc"], strict=True)
    ]
    return f" By how far its answer moves (KL), without a cue, {', '.join(each)}."
