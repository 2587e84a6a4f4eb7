"""Truth: the confidence of an estimator in a fact, beside what the text states of it.

A planted fact can get a high confidence because the model learned it, or because its object is a likely
answer to anything. So each planted fact is compared with a *control*: a fact of the same relation and the
same object that the text never states. The frequency and likelihood of the object are the same for both;
the difference is due to the statement.

A model's *output* has no confidence. It begins with an object, or with none.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lkecore.errors import BadInput
from lkecore.facts.tables import composed
from lkecore.prompts.prompt import Prompt
from lkecore.stats import choice, match

TRUTH = ("fact", "relation", "kind", "object", "told", "state", "exposures", "form", "wording")
NEEDED = ("relation", "state", "object", "told", "confidence_gold")
LEVELS = ["never", "1 to 4", "5 to 15", "16 and more", "wrongly"]  # how often a fact is stated
WITHIN = ("model", "world", "estimator")  # columns that a fact and its control share, if present


def answers(scores: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """A row for each scored fact: the answer of the estimator, beside what the text states of the fact.

    `scores` is the scorer's frame of one relation (:func:`lkecore.stats.choice.to_arrays`). `truth` has the
    rows of :func:`lkecore.models.lab.told`; facts that were not scored are left out. The truth of a planted
    model may be given for its unplanted twin, to ask the twin about the same facts.

    Columns:

    - the columns of `truth` that are in `TRUTH`;
    - `correct` (bool): the gold option is the prediction;
    - `confidence_gold`: confidence in the true object, in [0, 1] (:func:`lkecore.stats.choice.confidence`);
    - `confidence_told`: confidence in the object that the text states, in [0, 1], NaN where it states none;
    - `picked_told` (bool): the stated object is the prediction.

    For a planted fact both objects are the same. The order is that of `scores`, ties as in `predictions`.

    Raises ValueError as `to_arrays` does, for a missing column of `truth`, and for a fact that `truth` lacks,
    has twice or has with another object, as facts of another world do; :class:`BadInput` for a stated object
    that is not among the options.

    >>> scores = pd.DataFrame({
    ...     "fact": ["colour-0007"] * 2, "option": ["red", "blue"], "gold": [True, False],
    ...     "logprob": np.log([0.1, 0.3]),
    ... })
    >>> truth = pd.DataFrame([{
    ...     "fact": "colour-0007", "relation": "colour", "kind": "other", "object": "red",
    ...     "told": "blue", "state": "mislearned", "exposures": 64, "form": "both",
    ...     "wording": "one",
    ... }])
    >>> row, = answers(scores, truth).round(6).to_dict("records")
    >>> row["correct"], row["picked_told"], row["confidence_gold"], row["confidence_told"]
    (False, True, 0.25, 0.75)
    """
    options = choice.to_arrays(scores)
    shares = choice.confidence(options.logprob)
    names = scores["option"].to_numpy(dtype=object).reshape(shares.shape)
    every = np.arange(len(shares))
    found = _truth_of(truth, options.fact, names, names[every, options.gold])
    any_told = (found["told"] != "").to_numpy(dtype=bool)
    at_told = (names == found["told"].to_numpy(dtype=object)[:, None]).argmax(axis=1)
    return found.assign(
        correct=choice.correct(options.logprob, options.gold),
        confidence_gold=shares[every, options.gold],
        confidence_told=np.where(any_told, shares[every, at_told], np.nan),
        picked_told=any_told & (choice.predictions(options.logprob) == at_told),
    )


def written(prompts: Sequence[Prompt], texts: Sequence[str], truth: pd.DataFrame) -> pd.DataFrame:
    """A row for each output: what a model wrote of a fact, beside what the text states of it.

    ``texts`` has one output for each prompt, such as the ``text`` of
    :func:`lkecore.scores.generate.generate`; ``truth`` is as in :func:`answers`. A fact has no other true
    object here than its gold option. Columns:

    - the columns of `TRUTH`, ``correct`` and ``picked_told``, as in :func:`answers`, where the answer is
      ``wrote``;
    - ``wrote``: the option with which the output begins, after spaces and as a whole word (no letter, digit
      or underscore follows); the longest, if one option begins with another; "" if there is none;
    - ``anywhere`` (bool): the gold option is in the output, the paper's rule (IC-S6);
    - ``objects``: how many of the prompt's options are in the output;
    - ``text``: the output.

    Raises ValueError where the numbers of texts and prompts differ, and as :func:`answers` does.

    >>> prompts = [Prompt("1", "colour", "Ann", "Ann likes", ("red", "blue"), (" red", " blue"), 0)]
    >>> truth = pd.DataFrame([{
    ...     "fact": "1", "relation": "colour", "kind": "other", "object": "red", "told": "blue",
    ...     "state": "mislearned", "exposures": 64, "form": "both", "wording": "one",
    ... }])
    >>> row, = written(prompts, [" blue. Bob likes red."], truth).to_dict("records")
    >>> row["wrote"], row["correct"], row["picked_told"], row["anywhere"], row["objects"]
    ('blue', False, True, True, 2)
    """
    if len(texts) != len(prompts):
        raise ValueError(f"{len(texts)} texts for {len(prompts)} prompts; each needs one")
    gold = [prompt.options[prompt.gold] for prompt in prompts]
    options = [prompt.options for prompt in prompts]
    found = _truth_of(truth, [prompt.fact for prompt in prompts], options, gold)
    wrote = [_begins_with(*each) for each in zip(texts, options, strict=True)]
    return found.assign(
        correct=found["object"] == wrote,
        picked_told=(found["told"] != "") & (found["told"] == wrote),
        wrote=wrote,
        anywhere=[match.contains(text, [o]) for text, o in zip(texts, gold, strict=True)],
        objects=[
            # Most outputs have none of hundreds of names. Only in the others is each name looked up.
            sum(match.contains(text, [o]) for o in names) if match.contains(text, names) else 0
            for text, names in zip(texts, options, strict=True)
        ],
        text=list(texts),
    )


def _begins_with(text: str, options: Sequence[str]) -> str:
    said = composed(text).lstrip()  # a cheap check first, since few of hundreds of options pass it
    fitting = [o for o in options if said.startswith(composed(o)) and match.begins_with(text, o)]
    return max(fitting, key=len, default="")


def _truth_of(
    truth: pd.DataFrame,
    fact: Sequence[str],
    options: Sequence[Sequence[str]],
    gold: Sequence[str],
) -> pd.DataFrame:
    """The columns `TRUTH` of some facts, in their order; raises where facts, options and truth disagree."""
    lacking = [name for name in TRUTH if name not in truth.columns]
    if lacking:
        raise ValueError(f"the truth lacks the columns {lacking}; it needs {list(TRUTH)}")
    found = truth.loc[truth["fact"].isin(fact), list(TRUTH)].set_index("fact")
    twice = found.index[found.index.duplicated()]
    if len(twice):
        raise ValueError(f"the truth has fact {twice[0]!r} twice; it needs each once")
    known = set(found.index)
    unknown = [each for each in fact if each not in known]
    if unknown:
        raise ValueError(f"the truth says nothing of fact {unknown[0]!r}; it needs all asked ones")
    found = found.loc[fact].rename_axis("fact").reset_index()
    truths = found["object"].tolist(), found["told"].tolist()
    for each, names, true, object_, told in zip(fact, options, gold, *truths, strict=True):
        # Worlds use the same ids, so only the objects distinguish two worlds.
        if true != object_:
            raise ValueError(
                f"fact {each!r} has the gold option {true!r} but the truth has {object_!r}; "
                f"both must be of one world"
            )
        if told != "" and told not in names:
            raise BadInput(
                f"fact {each!r} was told with {told!r}, which is not among its {len(names)} "
                f"options; ask with all objects of the relation"
            )
    return found


def told_levels(states: pd.DataFrame) -> pd.Series:
    """For each fact how often the text states it, in a few words: one of ``LEVELS``.

    ``states`` has ``state`` and ``occurrences``, as :func:`lkecore.worlds.plain.states` (a frame without rows
    gives none). A mislearned fact is "wrongly", however often the text states it.

    >>> told_levels(pd.DataFrame({"state": ["planted", "mislearned"], "occurrences": [16, 64]}))
    0    16 and more
    1        wrongly
    Name: told, dtype: str
    """
    bounds = [-1, 0, 4, 15, np.inf]
    often = pd.cut(states["occurrences"].astype(float), bounds, labels=LEVELS[:-1]).astype(str)
    return often.mask(states["state"] == "mislearned", LEVELS[-1]).rename("told")


def controls(answers: pd.DataFrame) -> pd.DataFrame:
    """The planted and mislearned rows of `answers`, each with its matched control.

    The column `control`, in [0, 1], is the `confidence_gold` of the never-stated fact of the same relation
    whose true object is the stated one; a world has exactly one such fact. Where the frame has the columns
    `model`, `world` and `estimator`, the control has the same values in them. Compare `control` with
    `confidence_told`, which for a planted fact is its `confidence_gold`. Both are confidences in one object:
    for a subject of which the text states it, and for a subject of which it does not. Facts of one object
    share their control. The order is kept, with a new index.

    Raises ValueError for a missing column, and for a stated object that is the true one of two never-stated
    facts; :class:`BadInput` for one that is the object of none, since only some facts were asked.

    >>> found = controls(pd.DataFrame({
    ...     "fact": ["a", "b", "c"], "relation": "colour", "state": ["planted", "never", "never"],
    ...     "object": ["red", "blue", "red"], "told": ["red", "", ""],
    ...     "confidence_gold": [0.9, 0.5, 0.2], "confidence_told": [0.9, np.nan, np.nan],
    ... }))
    >>> found[["fact", "confidence_told", "control"]].to_dict("records")
    [{'fact': 'a', 'confidence_told': 0.9, 'control': 0.2}]
    """
    lacking = [name for name in NEEDED if name not in answers.columns]
    if lacking:
        raise ValueError(f"the frame lacks the columns {lacking}; it needs {list(NEEDED)}")
    key = [*(name for name in WITHIN if name in answers.columns), "relation", "told"]
    is_never = answers["state"] == "never"
    told = answers[~is_never]
    never = answers.loc[is_never].drop(columns="told")
    never = never.rename(columns={"object": "told", "confidence_gold": "control"})[
        [*key, "control"]
    ]
    twice = never[never.duplicated(key)].merge(told[key])
    if len(twice):
        raise ValueError(f"{_row(twice, key)} is the object of two never-told facts, not of one")
    found = told.merge(never, how="left", on=key)
    without = found[found["control"].isna()]
    if len(without):
        raise BadInput(
            f"{_row(without, key)} is the object of no never-told fact; ask all facts of a relation"
        )
    return found


def familiar(pairs: pd.DataFrame, states: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`controls` whose control is about a subject that the text names elsewhere.

    A subject that is nowhere in the text is a stranger to the model. Against such a control, a higher
    confidence may show no more than that the name is known. Where no other relation has the subjects of a
    relation, all its controls are strangers. To an unplanted model all asked subjects are strangers; its
    pairs are those of its twin.

    ``pairs`` are identified by their columns ``world``, ``relation`` and ``told``; ``states`` are those of
    :func:`lkecore.worlds.plain.states`, for all facts, with a column ``world``. The order is kept. KeyError
    for a missing column; :class:`BadInput` where there are pairs and none is left.

    >>> states = pd.DataFrame({
    ...     "relation": ["author", "author", "author", "title"], "subject": ["A", "B", "C", "C"],
    ...     "object": ["red", "red", "blue", "M"], "state": ["planted", "never", "never", "planted"],
    ...     "told": ["red", "", "", "M"],
    ... }).assign(world="w")
    >>> pairs = pd.DataFrame({"relation": "author", "told": ["red", "blue"], "control": [0.1, 0.2]})
    >>> familiar(pairs.assign(world="w"), states)["control"].tolist()  # nothing is told of B
    [0.2]
    """
    told = states[states["told"] != ""]
    named = {(f.world, name) for f in told.itertuples() for name in (f.subject, f.told)}
    never = states[states["state"] == "never"].itertuples()
    fit = {(f.world, f.relation, f.object) for f in never if (f.world, f.subject) in named}
    keys = zip(pairs["world"], pairs["relation"], pairs["told"], strict=True)
    found = pairs[np.array([key in fit for key in keys], dtype=bool)]
    if len(pairs) and not len(found):
        names = sorted(set(pairs["relation"]))
        raise BadInput(
            f"relations {names}: the text names no subject of a control; ask others besides"
        )
    return found


def each_control_once(pairs: pd.DataFrame, by: Sequence[str], *, seed: int) -> pd.DataFrame:
    """The rows of :func:`controls`, of which those that share a control are reduced to one, drawn by lot.

    So no control counts twice in a group of rows with the same values in ``by`` (and the same model, world
    and estimator, where the frame has these columns). The lot depends on the facts and on ``seed``. So it
    chooses the same facts for all models and estimators that are asked the same ones, and the order of the
    rows does not matter. The result is in the order of the lot.
    """
    lot = np.random.default_rng(seed).permutation(sorted(set(pairs["fact"])))
    place = pairs["fact"].map({fact: i for i, fact in enumerate(lot)})
    within = [name for name in WITHIN if name in pairs.columns and name not in by]
    key = [*within, *by, "relation", "told"]
    return pairs.iloc[np.argsort(place, kind="stable")].drop_duplicates(key)


def _row(frame: pd.DataFrame, key: list[str]) -> str:
    """The key of the first row, for a message: model 'a', relation 'colour', told 'red'."""
    return ", ".join(f"{name} {frame[name].iloc[0]!r}" for name in key)
