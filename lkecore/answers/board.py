"""Board: models that were asked the same facts in the same way, side by side.

Answers come from the runs of other pages and from results that ship. A *board* is made of all models
whose facts, options, shots and draw agree; two models of different boards are never compared.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

import numpy as np
import pandas as pd

from lkecore import intervals, papers
from lkecore.answers import rules
from lkecore.answers.results import table
from lkecore.answers.shipped import line, read
from lkecore.answers.tables import bounds
from lkecore.errors import BadInput
from lkecore.models import catalogue, embedded, lab
from lkecore.stats.coverage import subsumption

PAGE = "10_iclke_relations"
SETTINGS = ["fact_set", "n_shots", "most_options", "n_facts", "seed", "dtype"]
# Answers have n_options of their own, which may be fewer than were asked for.
GIVEN_AS = {name: name for name in SETTINGS} | {"most_options": "n_options"}
ASKS = ["source", *SETTINGS, "estimator"]
FOUND = ["model", "relation", "fact", "correct", "confidence_gold", "n_options"]
AGAIN = 1e-3  # confidences of one answer, given twice, may be so far from each other
FULL = (50, 100, 50, 20_000)  # shots, options, relations and facts of the paper
Groups = dict[tuple[int, str], list[np.ndarray]]  # right or wrong by relation, of (board, model)


def all_shipped() -> list[str]:
    """The profiles whose answers to the page of relations ship."""
    return sorted(table().query("experiment == @PAGE")["source"].unique())


def collected(ours: pd.DataFrame | None, shipped: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """(answers of all sources with what was asked, a line on each that ships).

    ``ours`` are what the runs have kept, with the columns of ``SETTINGS``. Columns: ``ASKS`` and ``FOUND``.
    Raises :class:`BadInput` where there are none, or one lacks a column or does not say what was asked.
    """
    parts = [] if ours is None else [ours.assign(source="this page")]
    lines = []
    for profile in shipped:
        frame, about = read(profile, PAGE)
        if not about["parameters"]:
            raise BadInput(f"{profile} does not say what was asked; make it again")
        given = {column: about["parameters"][name] for column, name in GIVEN_AS.items()}
        parts.append(frame.assign(source=f"shipped: {profile}", **given))
        lines.append(f"shipped {profile}: {line(about)}")
    if not parts:
        raise BadInput("no answers: shipped names no profile, and no run is read")
    every = pd.concat(parts, ignore_index=True).reindex(columns=[*ASKS, *FOUND])
    if lacking := [name for name in every if every[name].isna().any()]:
        raise BadInput(f"there are answers without {lacking[0]}")
    return every.astype({"correct": bool}), lines


def once(answers: pd.DataFrame, estimators: Sequence[str]) -> pd.DataFrame:
    """The answers by some estimators, each once: two pages may have asked the same question.

    Raises :class:`BadInput` where nobody was asked by one of ``estimators``, and where one answer is
    there twice and differs: in being right, or by more than ``AGAIN`` in its confidence.
    """
    there = list(dict.fromkeys(answers["estimator"]))
    if not set(there) & set(estimators):
        raise BadInput(f"estimators {list(estimators)}: no answers; there are {there}")
    some = answers[answers["estimator"].isin(estimators)]
    key = [*ASKS, "model", "relation", "fact"]
    single = some.drop_duplicates(key)
    twice = some.merge(single, on=key)
    gap = (twice["confidence_gold_x"] - twice["confidence_gold_y"]).abs()
    differ = (twice["correct_x"] != twice["correct_y"]) | (gap > AGAIN)
    for row in twice[differ].head(1).itertuples():
        raise BadInput(
            f"{row.model} answers {row.fact} ({row.relation}, {row.estimator}) in two ways; leave one of "
            "the runs out"
        )
    return single


def boards_of(
    answers: pd.DataFrame, estimators: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(the answers with the number of their ``board``, a row for each board).

    ``answers`` are of :func:`once`. Boards with one model come last, the others in the order of
    ``estimators``. Columns of the second: ``board``, those of ``ASKS`` with ``most_options`` as
    ``n_options``, ``models``, ``relations``, ``chance`` (of a blind guess, mean over questions), ``facts``
    in all, and ``title``.
    """
    facts = answers["relation"] + "\n" + answers["fact"].astype(str)
    by = facts.groupby([answers[name] for name in [*ASKS, "model"]], sort=False)
    answers = answers.assign(asked=by.transform(lambda each: hash(frozenset(each))))
    same = [*ASKS, "asked"]
    found = answers.assign(guess=1 / answers["n_options"]).groupby(same, sort=False)
    sizes = found.agg(
        models=("model", "nunique"),
        relations=("relation", "nunique"),
        questions=("fact", "size"),
        chance=("guess", "mean"),
    ).reset_index()
    sizes["facts"] = sizes["questions"] // sizes["models"]
    place = sizes["estimator"].map(list(estimators).index)
    order = sizes.assign(alone=sizes["models"] == 1, place=place)
    order = order.sort_values(["alone", "place"], kind="stable").index
    boards = sizes.loc[order].drop(columns="questions").reset_index(drop=True)
    boards.insert(0, "board", boards.index + 1)
    boards["chance"] = boards["chance"].round(3)
    answers = answers.merge(boards[["board", *same]], on=same).drop(columns="asked")
    boards = boards.rename(columns={"most_options": "n_options"}).drop(columns="asked")
    return answers, boards.assign(title=[_title(of) for of in boards.to_dict("records")])


def _title(of: Mapping) -> str:
    mark = f", {of['source']}" if of["source"] != "this page" else ""
    return f"Board {of['board']}: {of['fact_set']}, {of['estimator']}{mark}, {of['facts']:,} facts"


def about(models: Sequence[str]) -> pd.DataFrame:
    """Who stands on boards. Columns: ``model``; ``parameters``, ``tuned`` and ``what_it_is``, as texts.

    Empty where neither this machine nor the catalogue knows.
    """
    known = catalogue.models().set_index("hub_id")
    rows = []
    for model in models:
        hub_id = model.partition("@")[0]
        kind = ""
        if lab.is_name(model):
            kind = f"lab, {lab.parse(model).variant or 'base'}"
        elif model in embedded.CATALOGUE:
            kind = embedded.CATALOGUE[model]
        elif hub_id in known.index:
            row = known.loc[hub_id]
            origin = f"tuned from {row['base_model']}" if row["base_model"] else "base"
            kind = f"{row['family']}, {origin}" if row["papers"] else row["note"]
        size = catalogue.n_parameters(model)
        tuned = {True: "yes", False: "no", None: ""}[catalogue.is_tuned(model)]
        rows.append((model, f"{size:,}" if size else "", tuned, kind))
    return pd.DataFrame(rows, columns=["model", "parameters", "tuned", "what_it_is"])


def groups(answers: pd.DataFrame, value: str = "correct") -> Groups:
    """``value`` of every (board, model), an array for each relation, relations and facts by name."""
    found = {}
    for key, part in answers.groupby(["board", "model"], sort=False):
        by = part.sort_values(["relation", "fact"]).groupby("relation")
        found[key] = [each.to_numpy() for _, each in by[value]]
    return found


def standings(answers: pd.DataFrame, *, seed: int, n_resamples: int) -> pd.DataFrame:
    """A row for each board and model, the most accurate of a board first.

    Columns: ``board``, ``model``; Intervals of the accuracy, each relation counted alike, over facts
    (``accuracy``) and over relations, too (``over_relations``); of ``std``, the standard deviation over
    relations; and of ``gold_confidence``, the mean confidence in the gold option, over facts. All in
    [0, 1]. ValueError for a model with a single relation, or a relation with a single fact.
    """
    how = {"seed": seed, "n_resamples": n_resamples}
    trust = groups(answers, "confidence_gold")
    rows = []
    for key, hits in groups(answers).items():
        first = intervals.mean_over_facts(hits, **how)
        wide = intervals.mean_over_relations(hits, within=intervals.SHARE)
        std = intervals.std_over_relations(hits, **how)
        rows.append((*key, first, wide, std, intervals.mean_over_facts(trust[key], **how)))
    columns = ["board", "model", "accuracy", "over_relations", "std", "gold_confidence"]
    found = pd.DataFrame(rows, columns=columns)
    place = found["accuracy"].map(lambda interval: -interval.estimate)
    return found.assign(_at=place).sort_values(["board", "_at"], kind="stable").drop(columns="_at")


def with_no_cue(
    table: pd.DataFrame, answers: pd.DataFrame, cues: pd.DataFrame, *, seed: int
) -> pd.DataFrame:
    """:func:`standings` with ``no_cue``, the accuracy of a model on facts without a cue, over relations.

    ``cues`` are of :func:`lkecore.answers.rules.of_boards`. None for a rule, and on boards without cues.
    """
    by = ["source", "model"]  # what tells facts apart here is the board
    mine, found = answers.assign(source=answers["board"]), cues.assign(source=cues["board"])
    if found.empty:
        return table.assign(no_cue=None)
    named = table.assign(source=table["board"])
    left = rules.with_no_cue(named, mine, found, by, seed=seed)
    return left.drop(columns=["source", "of_rule"])


def neighbours(
    answers: pd.DataFrame, table: pd.DataFrame, *, seed: int, n_resamples: int
) -> pd.DataFrame:
    """Each two neighbours on a board, fact by fact: has the upper one really more right?

    ``table`` is of :func:`standings`. Columns: ``board``, ``upper``, ``lower``; ``difference``, upper minus
    lower, and ``over_relations``, the same if other relations had been asked, Intervals; ``upper_only``
    and ``lower_only``: facts that only one has right; ``facts``; ``p``: McNemar's exact test, corrected by
    Holm for the neighbours of the board; ``order``: "upper first" where the interval over facts leaves
    0 out and p is below 0.05, else "none".
    """
    how, right = {"seed": seed, "n_resamples": n_resamples}, groups(answers)
    rows = []
    for board, part in table.groupby("board"):
        two = list(pairwise(part["model"]))
        joined = [[np.concatenate(right[board, name]) for name in pair] for pair in two]
        tests = intervals.holm([intervals.mcnemar(a, b) for a, b in joined])
        for (upper, lower), (a, b), p in zip(two, joined, tests, strict=True):
            hits = right[board, upper], right[board, lower]
            gain = intervals.paired_difference(*hits, **how)
            apart = [x.astype(float) - y for x, y in zip(*hits, strict=True)]
            wide = intervals.mean_over_relations(apart)
            only = int((a & ~b).sum()), int((b & ~a).sum())
            unsure = gain.side() == 0 or p >= 0.05
            row = board, upper, lower, gain, wide, *only, len(a), p
            rows.append((*row, "none" if unsure else "upper first"))
    columns = ["board", "upper", "lower", "difference", "over_relations", "upper_only"]
    return pd.DataFrame(rows, columns=[*columns, "lower_only", "facts", "p", "order"])


def shares(
    answers: pd.DataFrame, table: pd.DataFrame, *, seed: int, n_resamples: int
) -> pd.DataFrame:
    """Of the facts that one model has right, the share that another one of its board has, too (eq. 7).

    A row for each ordered pair, a model with itself among them. Columns: ``board``, ``of``, ``in``;
    ``rate`` with ``low`` and ``high`` (over facts), mean over the relations of which ``of`` has two facts
    right or more, NaN with fewer than two of these; ``independent``: the accuracy of ``in`` there, which
    would be the rate if the two had nothing to do with each other; ``left_out``, relations; ``distance``
    of the two on the board.
    """
    how, right = {"seed": seed, "n_resamples": n_resamples}, groups(answers)
    rows = []
    for board, part in table.groupby("board"):
        for (i, of), (j, other) in product(enumerate(part["model"]), repeat=2):
            pairs = zip(right[board, of], right[board, other], strict=True)
            counted = [(a, b) for a, b in pairs if a.sum() >= 2]
            numbers = [np.nan] * 4
            if len(counted) >= 2:
                rate = np.mean([subsumption(a, b) for a, b in counted])
                both = intervals.mean_over_facts([b[a] for a, b in counted], **how)
                numbers = rate, both.low, both.high, np.mean([b.mean() for _, b in counted])
            left_out = len(right[board, of]) - len(counted)
            rows.append((board, of, other, *numbers, left_out, abs(i - j)))
    columns = ["board", "of", "in", "rate", "low", "high", "independent", "left_out", "distance"]
    return pd.DataFrame(rows, columns=columns)


def numbers(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Intervals as numbers, for files and figures: ``column`` with ``low`` and ``high``, over facts.

    ``wide_low`` and ``wide_high`` are the ends of ``over_relations``; ``std``, ``gold_confidence`` and
    ``no_cue`` have theirs behind their names, such as ``std_low``.
    """
    for name in [name for name in ("std", "gold_confidence", "no_cue") if name in frame]:
        ends = {
            f"{name}_{end}": [getattr(x, end, np.nan) for x in frame[name]]
            for end in ("low", "high")
        }
        frame = frame.assign(
            **{name: [getattr(x, "estimate", np.nan) for x in frame[name]]}, **ends
        )
    wide = {
        f"wide_{end}": [getattr(x, end) for x in frame["over_relations"]] for end in ("low", "high")
    }
    return bounds(frame, column).assign(**wide)


def published() -> pd.DataFrame:
    """The paper's 49 models (Table 7), with what their names mean (Table 6)."""
    names = papers.table("iclke_table6_model_names")
    columns = ["model", "original_name", "base_model", "params_b", "hf_id"]
    return papers.table("iclke_table7_models").merge(names[columns], on="model")


def beside_published(
    table: pd.DataFrame, boards: pd.DataFrame, who: pd.DataFrame, *, n_smallest: int
) -> pd.DataFrame:
    """The paper's smallest models and ours on boards in its format, the smallest first.

    Columns: ``source``, ``model``, ``facts``, ``billions`` (of parameters, NaN if unknown), ``accuracy``
    (text) and ``verdict``: of :func:`lkecore.papers.verdict.number_verdict` for ours, empty else.
    """
    theirs = published()
    twins = theirs.set_index("hf_id")["average_accuracy"]
    least = theirs.sort_values("params_b", kind="stable").head(n_smallest)
    rows = [
        ("published", row.table7_name, "T-REx-MC", row.params_b, f"{row.average_accuracy:.3f}", "")
        for row in least.itertuples()
    ]
    of_board, of_model = boards.set_index("board"), who.set_index("model")
    for row in table.itertuples():
        of = of_board.loc[row.board]
        if of["estimator"] != "iclke-space":
            continue
        twin = row.model.partition("@")[0]
        verdict = papers.number_verdict(
            row.accuracy,
            twins.get(twin, 0.0),  # no number decides where the model is another
            same_model=twin in twins.index,
            same_data=of["fact_set"].startswith("hub:QinyuanWu/T-Rex-MC"),
            same_protocol=(of["n_shots"], of["n_options"], of["relations"], of["facts"]) == FULL,
        )
        size = pd.to_numeric(of_model.loc[row.model, "parameters"].replace(",", "")) / 1e9
        texts = of["fact_set"], size, row.accuracy.text(3), verdict
        rows.append((f"ours, {of['source']}", row.model, *texts))
    columns = ["source", "model", "facts", "billions", "accuracy", "verdict"]
    return pd.DataFrame(rows, columns=columns).sort_values("billions", kind="stable")


def facts_needed(two: pd.DataFrame) -> pd.DataFrame:
    """How many facts would give the neighbours without an order one, if the difference stayed as it is?

    ``two`` is of :func:`neighbours`. The width of an interval shrinks with the square root of the number
    of facts. Columns: ``board``, ``upper``, ``lower``, ``facts``, ``needed``, to the ten; NaN where there is
    no difference, which no number of facts would show.
    """
    some = two[[found.low <= 0 for found in two["difference"]]]  # a difference is never below 0
    half = np.array([(found.high - found.low) / 2 for found in some["difference"]])
    seen = np.array([found.estimate or np.nan for found in some["difference"]])
    needed = ((half / seen) ** 2 * some["facts"]).round(-1)
    return some[["board", "upper", "lower", "facts"]].assign(needed=needed)


def sentences(boards: pd.DataFrame, table: pd.DataFrame, two: pd.DataFrame) -> dict[str, str]:
    """What came out, in words: ``first`` of the board with most models, ``sure`` orders, and the ``boards``.

    The first names the ends of that board and claims no order, which the second counts.
    """
    most = boards.sort_values(["models", "facts"], ascending=False, kind="stable").iloc[0]
    names = table[table["board"] == most["board"]]
    ends = [names.iloc[0], names.iloc[-1]]
    told = [f"{row['accuracy'].text()} ({row['model']})" for row in ends]
    sure = int((two["order"] == "upper first").sum())
    where = (
        f"On the board with the most models ({most['fact_set']}, {most['estimator']}, "
        f"{most['facts']:,} facts)"
    )
    return {
        "first": f"{where} accuracies go from {told[1]} to {told[0]}."
        if len(names) > 1
        else f"{where} the accuracy is {told[0]}.",
        "sure": f"Of {len(two)} pairs of neighbours {sure} have an order that other facts of the same "
        "relations would keep.",
        "boards": f"{len(boards)} board{'s hold' if len(boards) > 1 else ' holds'} "
        f"{table['model'].nunique()} models, and no two models may be compared across boards.",
    }
