"""Asking: the function through which a notebook asks models. Questions in, one tidy frame out.

A run asks models and keeps their answers; a page reads the answers that its runs have kept. Both get the
same frame, a row for each question, so that all code after this call is the same.
"""

import functools
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from lkecore import worlds
from lkecore.answers import questions as listing
from lkecore.answers.kept import load_runs, on_page, save
from lkecore.errors import BadInput, nearest
from lkecore.models import lab, weights
from lkecore.models.model import Model
from lkecore.models.served import Served, open_model
from lkecore.prompts.eiclke import Slots
from lkecore.prompts.prompt import Prompt
from lkecore.scores import kinds
from lkecore.scores.slots import encode_slots, slot_logprobs
from lkecore.stats import choice
from lkecore.tasks import served

Questions = Mapping[tuple, Sequence[Prompt] | Sequence[Slots]]
Reading = Callable[[Model, pd.DataFrame], pd.DataFrame]  # a model, its scores: a row a question
Score = Callable[[Model, Sequence], pd.DataFrame]  # a model, some questions: a row for each option


@functools.lru_cache(maxsize=32)
def opened(name: str, dtype: str) -> Model:
    """A model, opened once for all questions of a notebook; its weights load when they are needed."""
    return open_model(name, dtype=dtype)


def scored(model: Model, questions: Sequence[Prompt] | Sequence[Slots]) -> pd.DataFrame:
    """The log-probability of each option of some questions, a row for each, from the scorer of their kind."""
    if isinstance(questions[0], Slots):
        return slot_logprobs(model, questions).frame
    score = served.option_logprobs if isinstance(model, Served) else kinds.option_logprobs
    return score(model, questions).frame


def likeliest(
    model: str, questions: Sequence[Prompt], *, n: int = 20, best: int = 5, dtype: str = "float32"
) -> pd.DataFrame:
    """The likeliest options of a model for the first ``n`` questions: a row for each, to look at.

    Columns:

    - ``subject``;
    - ``gold``: the true option;
    - ``right`` (bool): the gold option is the likeliest;
    - ``1`` to ``5`` (to ``best``): the likeliest options, each with its confidence in percent, as text (""
      where there are fewer options).

    On a page over runs, which asks no model, there are no rows.
    """
    names = ["subject", "gold", "right", *(str(i + 1) for i in range(best))]
    if on_page():
        return pd.DataFrame(columns=names)
    rows = []
    some = {question.fact: question for question in questions[:n]}
    for fact, its in scored(opened(model, dtype), list(some.values())).groupby("fact", sort=False):
        [shares] = choice.confidence(its["logprob"].to_numpy()[None])
        its = its.assign(share=100 * shares).sort_values("share", ascending=False, kind="stable")
        first = [f"{o} {s:.0f} %" for o, s in its[["option", "share"]].head(best).to_numpy()]
        gold = its.loc[its["gold"], "option"].item()
        first += [""] * (best - len(first))
        rows.append((some[fact].subject, gold, bool(its["gold"].iloc[0]), *first))
    return pd.DataFrame(rows, columns=names)


def plainly(lm: Model, scores: pd.DataFrame) -> pd.DataFrame:
    """The default ``reading`` of :func:`ask`: the answers in the scores of one list of questions."""
    return choice.answers(scores)


def ask(
    models: Sequence[str],
    questions: Questions,
    file: str,
    *,
    dtype: str = "float32",
    only: Mapping[str, Sequence[str]] | None = None,
    by: Sequence[str] = ("estimator", "relation"),
    only_by: str = "estimator",
    keep_scores: bool = False,
    score: Score | None = None,
    reading: Reading = plainly,
) -> pd.DataFrame:
    """The answers of every model to every question: a row for each, in the order of the questions.

    ``questions`` come from :func:`lkecore.prompts.prompt.of_sample`, or are a dict of your own. Its keys have
    a value for each of ``by``; its values are lists of prompts, or of EIC-LKE's
    :class:`~lkecore.prompts.eiclke.Slots`. Some names in ``by`` decide which model gets a question:

    - "model": only the model that the key names is asked, so models may be asked different facts;
    - "world": a model of the lab is asked the questions about the world that it has read;
    - "reader": a model is asked the questions for its kind ("causal", "masked" or "seq2seq").

    ``only`` maps a model to the estimators with which it is asked, or to values of another name in ``by``,
    which ``only_by`` gives. A model that ``only`` does not name is asked with all. Models may be causal,
    masked or encoder-decoders; the scorer of its kind asks each one.

    Columns:

    - ``model``, then the other names in ``by``;
    - ``fact``;
    - ``correct`` (bool): the gold option is the likeliest; ties go to the first;
    - ``confidence`` in the prediction, in [0, 1], normalised over the options (:mod:`lkecore.stats.choice`);
    - ``confidence_gold``: the same for the gold option;
    - ``n_options``;
    - ``question``: a digest of what was asked;
    - ``logprob_gold``: log-probability of the gold option, in nats;
    - ``margin``: log-probability of the likeliest option above the next, in nats.

    Another ``reading`` returns its own columns between those of ``by`` and ``question``, ``fact`` among them.

    ``score`` is the function whose scores are read, a row for each option (None: by the model's kind). With
    :func:`lkecore.scores.blanks.tops` it asks models for one token, and ``reading`` must decide whether their
    ``answer`` is right.

    The answers are kept as ``file`` (``.parquet``). On a page over runs no model is asked: the function
    returns the answers that its runs have kept. With ``keep_scores``, the log-probabilities of all options
    are kept too, in ``scores.parquet``.

    Raises :class:`BadInput`, before any model is asked, for an unknown model or dtype, an estimator in
    ``only`` that no question has, no questions, keys of another length than ``by``, and questions that one of
    the models cannot be asked: of another kind, or beyond its window. Only the longest question of each key
    is checked in advance; the scorer raises errors about others when it comes to them.
    """
    if on_page():
        return load_runs(file)
    score = score or scored
    if wrong := [key for key in questions if len(key) != len(by)]:
        raise BadInput(f"questions under {wrong[0]!r}: a key needs a value for each of {list(by)}")
    asked = {
        (name, *key): qs
        for name in models
        for key, qs in questions_of(questions, name, only, by, only_by)
    }
    if not asked:
        raise BadInput("nothing is asked: there are no models or no questions")
    if empty := [key for key, some in asked.items() if not some]:
        raise BadInput(f"nothing is asked of {', '.join(map(str, empty[0]))}: no questions")
    for name in models:  # all names, before the first model is fetched
        weights.check_name(name)
    lms = {name: opened(name, dtype) for name in models}
    asked = {key: some for key, some in asked.items() if concerns(lms[key[0]], by, key[1:])}
    columns = ["model", *(each for each in by if each != "model")]
    for (name, *key), some in asked.items():
        _check(lms[name], ", ".join(map(str, key)), some)
    scores, answers = {}, {}
    for (name, *key), some in asked.items():
        frame = score(lms[name], some)
        found = reading(lms[name], frame)
        found = found.drop(columns=list(by), errors="ignore")
        answers[name, *key] = _with_checks(found, frame, some)
        if keep_scores:
            scores[name, *key] = frame.drop(columns=["context", *by], errors="ignore")
    if keep_scores:
        save(together(scores, columns), "scores.parquet")
    found = together(answers, columns)
    save(found, file)
    return found


def _with_checks(found: pd.DataFrame, scores: pd.DataFrame, some: Sequence) -> pd.DataFrame:
    """The answers that were read from some questions, with ``question``, ``logprob_gold`` and ``margin``."""
    checks = listing.named(some)
    scores = scores.reset_index(drop=True)
    of_fact = scores.groupby("fact", sort=False)["logprob"]
    others = scores.drop(of_fact.idxmax().dropna()).groupby("fact", sort=False)["logprob"].max()
    gold = scores[scores["gold"].astype(bool)].drop_duplicates("fact").set_index("fact")["logprob"]
    checks["logprob_gold"] = checks["fact"].map(gold)
    checks["margin"] = checks["fact"].map(of_fact.max().sub(others))
    if found["fact"].tolist() == checks["fact"].tolist():
        return found.reset_index(drop=True).assign(**checks.drop(columns="fact"))
    return found.merge(checks, on="fact", how="left", validate="m:1")


def _check(model: Model, where: str, some: Sequence[Prompt] | Sequence[Slots]) -> None:
    """Raise :class:`BadInput` if a model cannot be asked the longest of some questions."""
    if not isinstance(some[0], Slots):
        return kinds.check(model, [max(some, key=_length)])
    if model.kind != "causal":
        raise BadInput(
            f"model {model.name} is {model.kind}, and {where} has questions inside long prompts, "
            "which only a causal model can be asked"
        )
    encode_slots(model, max(some, key=lambda slots: sum(map(len, slots.texts[0]))))


def _length(prompt: Prompt) -> int:
    return len(prompt.context) + max(map(len, prompt.continuations)) + len(prompt.after)


def questions_of(
    questions: Questions,
    name: str,
    only: Mapping[str, Sequence[str]] | None,
    by: Sequence[str],
    only_by: str,
) -> list[tuple]:
    """The questions of one model, under keys without the model.

    If ``only`` names the model, only the questions with these values of ``only_by`` are returned, in the
    order of ``only``.
    """
    if "model" in by:
        at = list(by).index("model")
        by = [*by[:at], *by[at + 1 :]]
        questions = {
            (*key[:at], *key[at + 1 :]): some for key, some in questions.items() if key[at] == name
        }
    if only is None or name not in only:
        return list(questions.items())
    place = list(by).index(only_by)
    known = list(dict.fromkeys(key[place] for key in questions))
    if unknown := [each for each in only[name] if each not in known]:
        raise BadInput(
            f"nothing is asked with {only_by} {unknown[0]!r}; {nearest(unknown[0], known)}"
        )
    return [
        (key, some) for each in only[name] for key, some in questions.items() if key[place] == each
    ]


def concerns(lm: Model, by: Sequence[str], key: Sequence[str]) -> bool:
    """Whether questions are for a model: its world and kind agree with those that the key names."""
    about = dict(zip([name for name in by if name != "model"], key, strict=True))
    if about.get("reader", lm.kind) != lm.kind:
        return False
    if "world" not in about:
        return True
    try:
        ours = lab.record(lm.path)["world"]
    except BadInput:  # a model that has read no world
        ours = ""
    return about["world"] == ours if worlds.is_spec(about["world"]) else not ours


def together(frames: Mapping[tuple, pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Frames one below the other, with the values of their keys in front, in columns of these names."""
    return pd.concat(frames, names=columns).reset_index(columns).reset_index(drop=True)
