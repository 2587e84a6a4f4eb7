"""Blanks: functions that ask for the distribution at a blank, before and after a statement or a lesson."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore.answers import asking, first_tokens
from lkecore.answers import questions as listing
from lkecore.answers.kept import load_runs, on_page, save
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.models import weights
from lkecore.models.model import Model
from lkecore.prompts.instilled import Instilled, instilled_of_sample
from lkecore.prompts.prompt import Prompt
from lkecore.scores import blanks
from lkecore.stats import choice, shift
from lkecore.tasks import instill

Questions = Mapping[tuple, Sequence[Instilled]]
BY = ("estimator", "instillation", "relation")
READ_BY = ("reader", *BY)
TEXTS = [name for name in blanks.TEXTS if name != "fact"]
TOLD = (
    "entropy",
    "entropy_after",
    "kl",
    "rank",
    "surprisal",
)  # the columns that are read of a stated fact
TAUGHT = ["steps", "entropy", "entropy_after", "kl", "rank_after", "first_after"]


def any_causal(models: Sequence[str], *, dtype: str = "float32") -> bool:
    """Whether any of the models reads from left to right, so that no text may follow a blank."""
    return any(asking.opened(name, dtype).kind == "causal" for name in models)


def at_blanks(
    models: Sequence[str],
    sample: Sample,
    templates: Sequence[str],
    instillations: Sequence[str] = ("explicit",),
    *,
    dtype: str = "float32",
    seed: int = 0,
) -> dict[tuple[str, str, str, str], list[Instilled]]:
    """The questions about a sample for each kind of model among ``models``, under keys of ``READ_BY``.

    The questions come from :func:`lkecore.prompts.instilled.instilled_of_sample`. For models that see the
    text after a blank, a template that ends with its blank gets a full stop. Raises :class:`BadInput` as that
    function does.
    """
    readers = dict.fromkeys(asking.opened(name, dtype).kind for name in models)
    found = {}
    for reader in readers:
        closed = reader != "causal"
        some = instilled_of_sample(sample, templates, instillations, closed=closed, seed=seed)
        found |= {(reader, *key): each for key, each in some.items()}
    return found


def ask_blanks(
    models: Sequence[str],
    questions: Questions,
    file: str,
    *,
    dtype: str = "float32",
    by: Sequence[str] = BY,
    whole: bool = False,
    top: int = 0,
    only: Sequence[str] = (),
    sample: Sample | None = None,
) -> pd.DataFrame:
    """The numbers of every model at every question's blank: a row for each, kept as ``file`` (``.parquet``).

    ``questions`` come from :func:`at_blanks` (by ``READ_BY``) or from
    :func:`lkecore.prompts.instilled.instilled_of_sample`, under keys with a value for each of ``by``. Where
    ``by`` has ``world``, a model of the lab is asked the questions about its own world, and any other model
    those about fact sets. Columns:

    - ``model``, then the names in ``by``, and ``fact``;
    - the numbers of :func:`lkecore.scores.blanks.shifts`, with the ``top`` likeliest tokens; ``only`` names
      those to keep, besides ``n_tokens``, ``merged`` and ``shared`` (empty: all);
    - with ``whole``, which scores the whole names of all options before and after the statement: ``correct``
      and ``confidence_gold`` before it (:mod:`lkecore.stats.choice`);
    - with ``whole``, over the probabilities of the options, which sum to 1: ``options_entropy``,
      ``options_entropy_after``, ``options_kl`` and ``options_kl_back``, in nats;
    - ``shared``: another option begins with the first token of this object. With ``sample``, which must be
      the one that the questions are about: any other object of the relation does;
    - ``question``: a digest of what was asked.

    On a page over runs no model is asked, as in :func:`lkecore.answers.asking.ask`.

    Raises :class:`BadInput`, before any model is asked, for an unknown model, keys of another length than
    ``by``, nothing to ask, and questions that a model cannot be asked.
    """
    if on_page():
        return load_runs(file)
    lms, asked = _asked(models, questions, by, dtype)
    columns = ["model", *by]
    for (name, *_), some in asked.items():
        blanks.check(lms[name], [max(some, key=lambda each: len(each.told.context))])
    parts = {}
    for (name, *key), some in asked.items():
        its = blanks.shifts(lms[name], some, top=top).drop(columns=TEXTS)
        if sample is not None:
            prompts = [each.asked for each in some]
            its["shared"] = first_tokens.shares_first_token(
                lms[name], prompts, sample[prompts[0].relation]
            )
        if whole:
            its = its.join(_whole_names(lms[name], some))
        parts[name, *key] = its.assign(question=listing.named(some)["question"].tolist())
    found = asking.together(parts, columns)
    if only:
        found = found[[*columns, "fact", *only, *blanks.OBJECTS, "question"]]
    save(found, file)
    return found


def ask_taught(
    models: Sequence[str],
    questions: Mapping[tuple, Sequence[Prompt]],
    file: str,
    recipe: instill.Recipe,
    *,
    at: Sequence[int] = (),
    dtype: str = "float32",
    by: Sequence[str] = BY,
) -> pd.DataFrame:
    """The numbers of every model before and after it is taught every fact, one at a time: kept as ``file``.

    ``questions`` are lists of prompts under keys with a value for each of ``by``, such as the ``asked`` ones
    of :func:`ask_blanks`. The frame has a row for each question and each number of steps in ``at``
    (:func:`lkecore.tasks.instill.shifts`). Columns:

    - ``model``, then the names in ``by``, and ``fact``;
    - ``steps``: after how many steps the model is asked;
    - ``entropy``: H(P) before, in nats;
    - ``entropy_after``: H(Q) after, in nats;
    - ``kl``: KL(P‖Q), in nats;
    - ``rank_after``: the rank of the object's first token in Q;
    - ``first_after``: the likeliest token of Q;
    - ``question``: a digest of what was asked.

    The numbers of lost facts are NaN. Raises :class:`BadInput` as :func:`ask_blanks` does, and for a recipe
    or a model with which no fact can be taught.
    """
    if on_page():
        return load_runs(file)
    lms, asked = _asked(models, questions, by, dtype)
    for (name, *_), some in asked.items():
        instill.check(lms[name], recipe)
        blanks.encode(lms[name], [max(some, key=lambda each: len(each.context))])
    parts = {
        key: instill.shifts(lms[key[0]], prompts, recipe, at=at)[["fact", *TAUGHT]].merge(
            listing.named(prompts), on="fact", how="left", validate="m:1"
        )
        for key, prompts in asked.items()
    }
    columns = ["model", *by]
    found = asking.together(parts, columns)
    save(found, file)
    return found


def _asked(
    models: Sequence[str], questions: Mapping[tuple, Sequence], by: Sequence[str], dtype: str
) -> tuple[dict[str, Model], dict[tuple, Sequence]]:
    """(models by name, the questions by model and key), both checked."""
    if wrong := [key for key in questions if len(key) != len(by)]:
        raise BadInput(f"questions under {wrong[0]!r}: a key needs a value for each of {list(by)}")
    for name in models:  # all names, before the first model is fetched
        weights.check_name(name)
    lms = {name: asking.opened(name, dtype) for name in models}
    asked = {
        (name, *key): some
        for name, lm in lms.items()
        for key, some in questions.items()
        if asking.concerns(lm, by, key)
    }
    if not asked or not all(asked.values()):
        raise BadInput("nothing is asked: there are no models or no questions")
    return lms, asked


def _whole_names(lm: Model, some: Sequence[Instilled]) -> pd.DataFrame:
    """The same metrics over the options of each question, from scores of their whole names."""
    before, after = (
        asking.scored(lm, prompts)
        for prompts in ([each.asked for each in some], [each.told for each in some])
    )
    key = ["fact", "option"]
    both = before.merge(after[[*key, "logprob"]], on=key, suffixes=("", "_told"))
    return choice.by_size(both, _of_options).drop(columns="fact")


def _of_options(both: pd.DataFrame) -> pd.DataFrame:
    before = choice.to_arrays(both)
    after = choice.to_arrays(both.assign(logprob=both["logprob_told"]))
    p, q = (shift.normalised(side.logprob) for side in (before, after))
    at = np.arange(len(p)), before.gold
    return pd.DataFrame(
        {
            "fact": before.fact,
            "correct": choice.correct(before.logprob, before.gold),
            "confidence_gold": np.exp(p[at]),
            "options_entropy": shift.entropy(p),
            "options_entropy_after": shift.entropy(q),
            "options_kl": shift.kl(p, q),
            "options_kl_back": shift.kl(q, p),
        }
    )
