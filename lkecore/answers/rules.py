"""Rules: answers without a model, and which facts carry a cue. From a sample to frames of answers.

What a rule is stands in :mod:`lkecore.metrics.rules`. Its answers have the columns of a model's, so
that every table takes them; ``correct`` is the share of its guesses that are right, since it gives
options between which it cannot tell equal parts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from lkecore.answers import shipped
from lkecore.answers.kept import keep
from lkecore.answers.tables import by_relation as values_by_relation
from lkecore.answers.tables import groups_of
from lkecore.errors import BadInput
from lkecore.facts.drawn import Sample
from lkecore.facts.sample import draw_shots
from lkecore.intervals import SHARE, Interval, mean_over_facts, mean_over_relations
from lkecore.metrics.rules import RULES, guess, length_rank, overlap, times_shown

NO_MODEL = "no model"  # in the place of a model's name
FILE = "answers-cues.parquet"
FACT = ["relation", "fact"]
CUES = ["cue_word", "cue_frequent"]


def cues(sample: Sample, *, kept: bool = True) -> pd.DataFrame:
    """What the words of each asked fact give away, and what each rule gets: a row for a fact.

    Columns: ``relation``, ``fact``; ``cue_word``: the gold option shares a word with the subject;
    ``cue_frequent``: no other option is more often the object of a shot, and it is one;
    ``length_rank``, of :func:`lkecore.metrics.rules.length_rank`; ``n_options``; and a column for each rule,
    the expected accuracy of its guess, in [0, 1]. Facts are in the order of the sample. Kept as
    ``answers-cues.parquet`` unless ``kept`` is false.
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
        keep(found, FILE)
    return found


def behind_draws(
    sample: Sample, draws: Sequence[int], numbers: Sequence[int], *, kept: bool = True
) -> pd.DataFrame:
    """:func:`cues` of the questions of :func:`lkecore.prompts.draws.of_draws`, with ``draw`` and ``n_shots``.

    Which object is frequent depends on the pairs that are shown, so a fact has a row for each draw and number
    of them. Kept as ``answers-rules.parquet`` unless ``kept`` is false. Raises :class:`BadInput` for more
    shots than a pool has.
    """
    parts = []
    for draw in draws:
        most = {name: draw_shots(of.train, max(numbers), draw) for name, of in sample.items()}
        for n in numbers:
            asked = {name: replace(of, shots=most[name][:n]) for name, of in sample.items()}
            parts.append(cues(asked, kept=False).assign(draw=draw, n_shots=n))
    found = pd.concat(parts, ignore_index=True)
    if kept:
        keep(found, "answers-rules.parquet")
    return found


def of_sets(samples: Mapping[str, Sample], *, kept: bool = True) -> pd.DataFrame:
    """:func:`cues` of several fact sets, by name, one below the other; ``fact_set`` tells them apart."""
    parts = [cues(each, kept=False).assign(fact_set=name) for name, each in samples.items()]
    found = pd.concat(parts, ignore_index=True)
    if kept:
        keep(found, FILE)
    return found


def as_answers(found: pd.DataFrame, only: Sequence[str] = RULES) -> pd.DataFrame:
    """The answers of rules, from :func:`cues`, as those of a model: a row for each rule and fact.

    Columns: ``model`` (``NO_MODEL``), ``estimator``, ``relation``, ``fact``, ``correct`` and
    ``confidence_gold`` (the share of the guesses that are right, in [0, 1]), ``n_options``.
    """
    parts = [
        found[[*FACT, "n_options"]].assign(
            model=NO_MODEL, estimator=rule, correct=found[rule], confidence_gold=found[rule]
        )
        for rule in only
    ]
    columns = ["model", "estimator", *FACT, "correct", "confidence_gold", "n_options"]
    return pd.concat(parts, ignore_index=True)[columns]


def by_relation(found: pd.DataFrame) -> pd.DataFrame:
    """The yardsticks of each relation: a blind guess, and the rule that does best over all of them.

    Columns: ``relation``, ``chance``, ``rule`` (the name of :func:`best`) and ``of_rule``, its expected
    accuracy. Both shares lie in [0, 1].
    """
    rule = best(found)
    each = found.assign(chance=1 / found["n_options"]).groupby("relation", sort=False)
    means = each[["chance", rule]].mean().rename(columns={rule: "of_rule"})
    return means.assign(rule=rule)[["chance", "rule", "of_rule"]].reset_index()


def best(found: pd.DataFrame) -> str:
    """The rule that is right most often about some facts, each relation counted alike.

    It is chosen on the very facts that it is a yardstick for, which is in its favour.
    """
    means = found.groupby("relation", sort=False)[list(RULES)].mean().mean()
    return str(means.idxmax())


def of_worlds(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """What the best rule gets of all facts that are asked in each world of the lab, told or never told.

    Samples of other fact sets do as well. Columns: ``world``, their names; ``facts``; ``chance``, of a blind
    guess; ``rule``, the name of :func:`best`, and ``of_rule``, its expected accuracy, as :func:`by_relation`.
    Each relation counts alike; shares in [0, 1].
    """
    rows = []
    for name, sample in samples.items():
        found = cues(sample, kept=False)
        yard = by_relation(found)
        means = yard[["chance", "of_rule"]].mean()
        rows.append((name, len(found), means["chance"], yard["rule"].iloc[0], means["of_rule"]))
    return pd.DataFrame(rows, columns=["world", "facts", "chance", "rule", "of_rule"])


def beside(
    found: pd.DataFrame | None, profiles: Sequence[str], notebook: str, *, apart: str = "cues"
) -> pd.DataFrame:
    """The cues of this run, if it has some, and below them those of the answers that ship, by ``source``.

    The sources have the names of :func:`lkecore.answers.shipped.beside`. A profile that ships without
    cues has none here: what it was asked cannot be seen from its answers. ``apart`` is the name under which
    runs keep them. Raises :class:`BadInput` if none at all has cues.
    """
    every = shipped.beside_kept(found, profiles, notebook, apart=apart)
    if every.empty:
        raise BadInput(f"results {', '.join(profiles) or 'of no profile'}: none ships with cues")
    return every


def with_cues(answers: pd.DataFrame, found: pd.DataFrame, *, named: str = "") -> pd.DataFrame:
    """Answers with what :func:`cues` says of their facts, and ``cue``: whether they carry one at all.

    Both have a column ``source``. A column that the answers have already stays theirs. Raises
    :class:`BadInput`, with ``named`` in front, for an answer about a fact whose cues are not there.
    """
    key = ["source", *FACT]
    told = found[[name for name in found if name in key or name not in answers]]
    told = told.assign(fact=found["fact"].astype(str), cue=found[CUES].any(axis=1))
    both = answers.assign(fact=answers["fact"].astype(str)).merge(told, on=key, validate="m:1")
    if len(both) < len(answers):
        raise BadInput(f"{named}{len(answers) - len(both)} answers are about facts without cues")
    return both


def enough(part: pd.DataFrame, least: int = 2, by: Sequence[str] = ("relation",)) -> pd.DataFrame:
    """The answers of relations, or of groups ``by``, that are there with ``least`` facts or more."""
    return part[part.groupby([*by])["fact"].transform("nunique") >= least]


def above(
    answers: pd.DataFrame, found: pd.DataFrame, by: Sequence[str], *, seed: int
) -> pd.DataFrame:
    """Models beside the best rule of each source, with all facts and without those that carry a cue.

    ``answers`` and ``found``, of :func:`beside`, have a column ``source``; a source without cues is left
    out. A row for each group of ``by``, which names ``source``, and each of ``facts``: "all", "no cue" and
    "cue". A relation with fewer than two such facts is left out of a row. Columns: ``relations``, how many;
    ``n`` answers; ``share`` of all of the group; ``rule``, the best one over all facts of the source;
    ``accuracy`` of the answers and ``of_rule``, means over relations, each counted alike; ``above``, the
    first minus the second. First and third are Intervals over other relations, or over other facts of a
    single one. Where there is no cue the rule is wrong, but for where it draws lots: what to hold an
    accuracy against is a blind guess there. Raises :class:`BadInput` for an answer about a fact whose
    cues are not there.
    """
    rows = []
    for source, its in found.groupby("source", sort=False):
        rule = best(its)
        mine = with_cues(answers[answers["source"] == source], its, named=f"{source}: ")
        mine["above"] = mine["correct"].astype(float) - mine[rule]
        for key, both in groups_of(mine, by):
            parts = {"all": both, "no cue": both[~both["cue"]], "cue": both[both["cue"]]}
            for name, some in parts.items():
                some = enough(some)
                if some.empty:
                    continue
                row = {"facts": name, "relations": some["relation"].nunique(), "n": len(some)}
                row |= {"share": len(some) / len(both), "rule": rule}
                row |= {"accuracy": _over_relations(some, "correct", seed, SHARE)}
                row |= {"of_rule": some.groupby("relation")[rule].mean().mean()}
                row |= {"above": _over_relations(some, "above", seed, None)}
                rows.append({**dict(zip(by, key, strict=True)), **row})
    return pd.DataFrame(rows)


def of_boards(answers: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The cues of each board of the leaderboard, where those of its facts are there.

    ``answers`` are of :func:`lkecore.answers.board.boards_of`, ``found`` of :func:`beside`. A board of
    results that ship takes the cues of its profile; one of this run takes any in which its facts stand under
    ids of their own. Columns: those of :func:`cues`, and ``board``.
    """
    parts = [found.assign(board=0).iloc[:0]]
    for board, part in answers.groupby("board", sort=False):
        # Facts of this run have ids, those that may not be given away numbers: no type fits all.
        facts = part[[*FACT, "source"]].drop_duplicates(FACT).astype({"fact": object})
        for source, its in found.astype({"fact": object}).groupby("source", sort=False):
            same = source == facts["source"].iloc[0]
            named = its["fact"].map(lambda fact: isinstance(fact, str)).all()
            both = its.merge(facts[FACT], on=FACT)
            if (same or named) and len(both) == len(facts):
                parts.append(both.assign(board=board))
                break
    return pd.concat(parts, ignore_index=True).drop(columns="source")


def on_boards(cues: pd.DataFrame) -> pd.DataFrame:
    """Each rule as one more model of its boards; ``cues`` are of :func:`of_boards`.

    Columns: ``board``, ``model`` ("no model, " and the rule), ``relation``, ``fact``, and ``correct`` and
    ``confidence_gold``, the expected share of right guesses, in [0, 1].
    """
    parts = [
        as_answers(its).assign(board=board) for board, its in cues.groupby("board", sort=False)
    ]
    columns = ["board", "model", *FACT, "correct", "confidence_gold"]
    if not parts:
        return pd.DataFrame(columns=columns)
    every = pd.concat(parts, ignore_index=True)
    return every.assign(model=f"{NO_MODEL}, " + every["estimator"])[columns]


def with_best(standings: pd.DataFrame) -> pd.DataFrame:
    """Of the rules on each board the first one alone, which is the best; all models stay."""
    is_rule = standings["model"].str.startswith(NO_MODEL)
    first = ~standings[is_rule].duplicated("board").reindex(standings.index, fill_value=False)
    return standings[~is_rule | first]


def with_no_cue(
    table: pd.DataFrame,
    answers: pd.DataFrame,
    found: pd.DataFrame,
    by: Sequence[str],
    *,
    seed: int,
) -> pd.DataFrame:
    """A table with a row for each group of ``by``, and at its end what cues have to do with the accuracy.

    ``of_rule``: what the best rule gets; ``no_cue``: the accuracy on facts without a cue, an Interval. Both
    are of :func:`above`, each relation counted alike, and NaN and None where the facts' cues are not there.
    """
    each = wide(above(answers, found, by, seed=seed), by).drop(columns="no_cue")
    each = each.rename(columns={"accuracy_no_cue": "no_cue"})[[*by, "of_rule", "no_cue"]]
    both = table.merge(each, on=list(by), how="left")
    return both.assign(no_cue=both["no_cue"].astype(object).where(both["no_cue"].notna(), None))


def wide(compared: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """:func:`above` with a row for each group: all facts, and beside them those without a cue.

    Columns: ``by``; ``accuracy``, ``rule``, ``of_rule`` and ``above`` over all facts; ``no_cue``, the share
    of facts without one, and ``accuracy_no_cue`` among these.
    """
    every, without = (compared[compared["facts"] == name] for name in ("all", "no cue"))
    names = {"share": "no_cue", "accuracy": "accuracy_no_cue"}
    without = without[[*by, *names]].rename(columns=names)
    columns = [*by, "accuracy", "rule", "of_rule", "above"]
    return every[columns].merge(without, on=list(by), how="left")


def _over_relations(
    some: pd.DataFrame, value: str, seed: int, within: tuple[float, float] | None
) -> Interval:
    groups = values_by_relation(some, value)
    if len(groups) > 1:
        return mean_over_relations(groups, within=within)
    return mean_over_facts(groups, seed=seed)
