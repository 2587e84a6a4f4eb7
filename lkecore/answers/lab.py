"""Lab: answers of models that read a text we made, each with what that text states of the fact."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from lkecore import facts, prompts
from lkecore import worlds as worlds_of_lab
from lkecore.answers import truth
from lkecore.answers.asking import opened
from lkecore.answers.kept import load_runs, on_page, save
from lkecore.answers.questions import named
from lkecore.answers.written import check_length
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.models import lab
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores.generate import generate

OFTEN = 16  # exposures from which a fact counts as often stated, as the claims define it
NOT_TOLD = "none"  # the form of a fact that the text never states
LABELS = ["state", "told", "form", "wording", "exposures"]
FORMS = ("list", "both", "sentence")
BY = ("world", "estimator", "relation")  # names in the keys of questions about worlds
WRITTEN = "written-"  # in front of the name of the estimator whose prompt a model continues
SAID = ["correct", "picked_told", "wrote", "anywhere", "objects", "text"]  # columns of an output


def worlds(models: Sequence[str]) -> list[str]:
    """The worlds that some models have read, each once.

    Raises :class:`BadInput` as :func:`lkecore.models.lab.parse` does.
    """
    return list(dict.fromkeys(lab.parse(model).world for model in models))


def states(worlds: Sequence[str]) -> pd.DataFrame:
    """The statements of some worlds (:func:`lkecore.worlds.either.states`), with a column ``world``."""
    every = [worlds_of_lab.states(name).assign(world=name) for name in dict.fromkeys(worlds)]
    return pd.concat(every, ignore_index=True)


def samples(
    models: Sequence[str],
    relations: Sequence[str],
    *,
    n_shots: int,
    n_options: int,
    seed: int,
) -> dict[str, Sample]:
    """{world: sample} with all facts of the worlds that some models have read.

    The samples come from :func:`lkecore.facts.drawn.draw`.
    """
    drawn = {"n_shots": n_shots, "n_options": n_options, "seed": seed}
    return {name: facts.draw(name, relations, n_facts=None, **drawn) for name in worlds(models)}


def questions(
    samples: Mapping[str, Sample], estimators: Sequence[str]
) -> dict[tuple[str, str, str], list[Prompt]]:
    """The questions about several worlds: {(world, estimator, relation): prompts}, for ``by=BY``."""
    return {
        (name, *key): some
        for name, sample in samples.items()
        for key, some in prompts.of_sample(sample, estimators).items()
    }


@functools.lru_cache(maxsize=32)
def _told(folder: Path) -> pd.DataFrame:
    return lab.told(folder, str(lab.record(folder)["world"]))


def with_truth(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """The ``reading`` of :func:`lkecore.answers.asking.ask` for a model of the lab: answers with the truth.

    A row for each scored fact, from :func:`lkecore.answers.truth.answers`, with the columns fact, kind,
    object, told, state, exposures, form, wording, correct, confidence_gold, confidence_told and picked_told.
    :class:`BadInput` for a model that is none of the lab's.
    """
    return truth.answers(scores, _told(lm.path))


BESIDE = {"by": BY, "reading": with_truth}  # arguments of ask, for questions about worlds


def write(
    models: Sequence[str],
    questions: Mapping[tuple[str, str, str], Sequence[Prompt]],
    file: str,
    *,
    n_tokens: int,
    dtype: str = "float32",
) -> pd.DataFrame:
    """The outputs of models after the contexts of some questions, with what the text states: a row for each.

    Keys are those of :func:`questions`; a model is asked about its own world. A causal model writes
    ``n_tokens`` tokens, greedily; a model of another kind writes no text and has no row. Columns:

    - ``model``, ``world``;
    - ``estimator``: "written-" and the name of the estimator whose prompt it is;
    - ``relation``;
    - the columns of :func:`lkecore.answers.truth.written`;
    - ``question``: a digest of what was asked.

    The frame is kept as ``file``; on a page over runs the function returns what these have kept. Raises
    :class:`BadInput` as :func:`lkecore.scores.generate.generate` does, and for ``n_tokens`` that may cut an
    object off.
    """
    if on_page():
        return load_runs(file)
    asked, lms = {}, {name: opened(name, dtype) for name in models}
    for name, lm in lms.items():
        if lm.kind != "causal":
            continue
        spec = str(lab.record(lm.path)["world"])
        mine = {key: some for key, some in questions.items() if key[0] == spec}
        names = {option for some in mine.values() for prompt in some for option in prompt.options}
        check_length(lm, names, n_tokens, what="an object")
        asked |= {
            (name, spec, f"{WRITTEN}{estimator}", relation): some
            for (_, estimator, relation), some in mine.items()
        }
    columns = ["model", *BY]
    if not asked:  # a run of models that fill blanks keeps its file, too
        nothing = pd.DataFrame(columns=[*columns, *truth.TRUTH, *SAID, "question"])
        nothing = nothing.loc[:, ~nothing.columns.duplicated()]
        save(nothing, file)
        return nothing
    kept = []
    for key, some in asked.items():
        contexts = [prompt.context for prompt in some]
        wrote = generate(lms[key[0]], contexts, max_new_tokens=n_tokens, stop=None)
        found = truth.written(some, list(wrote["text"]), _told(lms[key[0]].path))
        about = dict(zip(columns, key, strict=True))
        kept.append(found.assign(**about, question=named(some)["question"].tolist()))
    every = pd.concat(kept, ignore_index=True)
    save(every, file)
    return every


def labelled(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers, in which an unplanted twin has the labels of its planted twin.

    An unplanted twin read none of the planted facts. Its rows get the states and exposures of the planted
    model. So an estimator cannot have found in the text what it finds there. The order and all other
    columns stay the same.
    """
    found = answers.copy()
    for model in answers["model"].unique():
        named = lab.parse(model)
        if named.variant == "unplanted":
            told = worlds_of_lab.states(named.world).set_index("fact")
            told["exposures"] = told["occurrences"] * lab.recipe(model).epochs
            its = found["model"] == model
            for label in LABELS:
                found.loc[its, label] = found.loc[its, "fact"].map(told[label])
    return found


def by_form(answers: pd.DataFrame) -> pd.DataFrame:
    """The same rows by form, lists first and facts never stated last, and then by relation and fact."""
    place = {form: n for n, form in enumerate((*FORMS, NOT_TOLD))}
    return (
        answers.assign(_at=answers["form"].map(place))
        .sort_values(["_at", "relation", "fact"], kind="stable")
        .drop(columns="_at")
    )


def forms_of(answers: pd.DataFrame) -> list[str]:
    """The forms in which the text states the facts of some answers, lists first."""
    return [form for form in FORMS if form in set(answers["form"])]


def planted_pairs(answers: pd.DataFrame, *, strangers: bool = False) -> pd.DataFrame:
    """The facts that the text states, each with its control (:func:`lkecore.answers.truth.controls`).

    ``answers`` must have planted or mislearned facts, and the never-stated facts that are their controls.
    Facts whose control is about a subject that the text never names are left out, unless ``strangers``.
    """
    pairs = truth.controls(answers)
    if strangers or pairs.empty:
        return pairs
    return truth.familiar(pairs, states(pairs["world"].unique()))


def asked_of(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """The states of the facts that are asked (:func:`states`): test facts of the relations in the samples."""
    every = states(list(samples))
    names = {name for sample in samples.values() for name in sample}
    return every[every["split"].eq("test") & every["relation"].isin(names)]


def fairly_compared(asked: pd.DataFrame) -> pd.DataFrame:
    """The planted facts of :func:`asked_of` whose control is about a subject that the text names.

    Raises :class:`BadInput` where a form and number of tellings has fewer than 2, each control counted once.
    """
    planted_facts = asked[asked["state"] == "planted"]
    fair = truth.familiar(planted_facts, states(asked["world"].unique()))
    by = ["world", "form", "occurrences"]
    if fair.drop_duplicates([*by, "relation", "told"]).value_counts(by).min() < 2:
        names = sorted(asked["relation"].unique())
        raise BadInput(f"relations {names}: too few pairs to compare; ask more")
    return fair


def check_asked(estimators: Sequence[str], needed: Sequence[str]) -> None:
    """Raise :class:`BadInput` unless all ``needed`` are among the estimators that are asked."""
    if lacking := [name for name in needed if name not in estimators]:
        raise BadInput(f"estimators {list(estimators)}: the page needs {lacking[0]} besides")
