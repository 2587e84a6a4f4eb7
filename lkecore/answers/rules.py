"""Rules: answers without a model, and which facts have a cue. From a sample to frames of answers.

:mod:`lkecore.stats.rules` defines the rules. Their answers have the columns of a model's answers, so that
every table takes them. A rule gives the same share to options that it cannot distinguish, so ``correct`` is
the share of its guess that is right.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from lkecore.answers.kept import save
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.filters import echoes
from lkecore.facts.sample import draw_shots
from lkecore.facts.tables import fold
from lkecore.stats import rules
from lkecore.stats.rules import RULES, guess, length_rank, overlap, times_shown

FILE = "answers-cues.parquet"
FACT = ["relation", "fact"]


def cues(sample: Sample, *, kept: bool = True) -> pd.DataFrame:
    """A row for each asked fact: the cues in its words, and the expected accuracy of each rule.

    Columns:

    - ``relation``, ``fact``;
    - ``cue_word`` (bool): the gold option shares a word with the subject;
    - ``cue_frequent`` (bool): the gold option is the object of a shot, and no other option is so more often;
    - ``length_rank``: of :func:`lkecore.stats.rules.length_rank`;
    - ``n_options``;
    - a column for each rule: the expected accuracy of its guess, in [0, 1].

    Facts are in the order of the sample. The frame is kept as ``answers-cues.parquet`` unless ``kept`` is
    false. :class:`BadInput` for a fact whose object is not among its options.
    """
    rows = []
    for name, drawn in sample.items():
        shown = Counter(shot.object for shot in drawn.shots)
        for fact, options in zip(drawn.facts, drawn.options, strict=True):
            if fact.object not in options:
                raise BadInput(f"fact {fact.id}: {fact.object!r} must be among its options")
            gold = options.index(fact.object)
            often = times_shown(options, shown)
            row = {
                "relation": name,
                "fact": fact.id,
                "cue_word": bool(overlap(fact.subject, options)[gold]),
                "cue_frequent": bool(0 < often[gold] == often.max()),
                "length_rank": length_rank(options, gold),
                "n_options": len(options),
            }
            for rule in RULES:
                row[rule] = guess(rule, fact.subject, options, shown)[gold]
            rows.append(row)
    found = pd.DataFrame(rows)
    if kept:
        save(found, FILE)
    return found


def without_options(sample: Sample, *, kept: bool = True) -> pd.DataFrame:
    """A row for each asked fact: answers of rules that see no options, and whether its subject echoes one.

    Columns:

    - ``relation``, ``fact``;
    - ``echo``: of :func:`lkecore.facts.filters.echoes`;
    - ``rule``: :func:`lkecore.stats.rules.by_word` gives a true answer, from the facts to show (``train``);
    - ``frequent``: the most frequent object of the facts to show is a true answer;
    - ``to_ask``: the number of facts that the relation has to ask;
    - ``no_echo``: the number of these without an echo.

    The frame is kept as ``answers-cues.parquet`` unless ``kept`` is false.
    """
    rows = []
    for name, drawn in sample.items():
        shown = Counter(fact.object for fact in drawn.train)
        echo = {fact.id: echoes(fact) for fact in (*drawn.test, *drawn.facts)}
        counts = len(drawn.test), sum(not echo[fact.id] for fact in drawn.test)
        for fact in drawn.facts:
            said = rules.by_word(fact.subject, shown), shown.most_common(1)[0][0]
            right = [fold(each) in fact.true_names for each in said]
            rows.append((name, fact.id, echo[fact.id], *right, *counts))
    columns = ["relation", "fact", "echo", "rule", "frequent", "to_ask", "no_echo"]
    found = pd.DataFrame(rows, columns=columns)
    if kept:
        save(found, FILE)
    return found


def by_word(sample: Sample, found: pd.DataFrame) -> list[float]:
    """For each row of ``found`` whether `rule-word` gives its fact back: ``rule`` of :func:`without_options`.

    NaN for a fact that the sample does not ask.
    """
    right = {}
    for name, drawn in sample.items():
        shown = Counter(fact.object for fact in drawn.train)
        for fact in drawn.facts:
            right[name, fact.id] = fold(rules.by_word(fact.subject, shown)) in fact.true_names
    keys = found[FACT].itertuples(index=False, name=None)
    return [right.get(key, math.nan) for key in keys]


def behind_draws(
    sample: Sample, draws: Sequence[int], numbers: Sequence[int], *, kept: bool = True
) -> pd.DataFrame:
    """:func:`cues` of the questions of :func:`lkecore.prompts.draws.of_draws`, with ``draw`` and ``n_shots``.

    The most frequent object depends on the pairs that are shown, so a fact has a row for each draw and each
    number of pairs. The frame is kept as ``answers-rules.parquet`` unless ``kept`` is false. Raises
    :class:`BadInput` for more shots than a pool has.
    """
    parts = []
    for draw in draws:
        most = {name: draw_shots(of.train, max(numbers), draw) for name, of in sample.items()}
        for n in numbers:
            asked = {name: replace(of, shots=most[name][:n]) for name, of in sample.items()}
            parts.append(cues(asked, kept=False).assign(draw=draw, n_shots=n))
    found = pd.concat(parts, ignore_index=True)
    if kept:
        save(found, "answers-rules.parquet")
    return found


def by_relation(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each relation: the accuracy of a blind guess, and of the best rule over all relations.

    Columns:

    - ``relation``;
    - ``chance``: expected accuracy of a blind guess, in [0, 1];
    - ``rule``: the name of the rule (:func:`best`);
    - ``of_rule``: the rule's expected accuracy, in [0, 1].
    """
    rule = best(found)
    each = found.assign(chance=1 / found["n_options"]).groupby("relation", sort=False)
    means = each[["chance", rule]].mean().rename(columns={rule: "of_rule"})
    return means.assign(rule=rule)[["chance", "rule", "of_rule"]].reset_index()


def best(found: pd.DataFrame) -> str:
    """The rule that is right most often about some facts; each relation counts the same.

    It is chosen on the same facts for which it is a yardstick, and this favours the rule.
    """
    means = found.groupby("relation", sort=False)[list(RULES)].mean().mean()
    return str(means.idxmax())


def of_worlds(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """A row for each world: the accuracy of the best rule on all facts that are asked, stated or not.

    Samples of other fact sets can be given too. Each relation counts the same. Columns:

    - ``world``: the name of the sample;
    - ``facts``: how many are asked;
    - ``chance``: expected accuracy of a blind guess, in [0, 1];
    - ``rule``: the name of the rule (:func:`best`);
    - ``of_rule``: the rule's expected accuracy, as in :func:`by_relation`, in [0, 1].
    """
    rows = []
    for name, sample in samples.items():
        found = cues(sample, kept=False)
        yard = by_relation(found)
        means = yard[["chance", "of_rule"]].mean()
        rows.append((name, len(found), means["chance"], yard["rule"].iloc[0], means["of_rule"]))
    return pd.DataFrame(rows, columns=["world", "facts", "chance", "rule", "of_rule"])


def enough(part: pd.DataFrame, least: int = 2, by: Sequence[str] = ("relation",)) -> pd.DataFrame:
    """The answers of relations, or of groups ``by``, that have at least ``least`` facts."""
    return part[part.groupby([*by])["fact"].transform("nunique") >= least]
