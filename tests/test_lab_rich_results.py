"""What the pages on rich worlds rest on, counted from the answers that ship, row by row.

The oracle is plain Python over the rows, the states of the worlds and scipy.
"""

from collections import defaultdict
from statistics import mean, median

import helpers
import pandas as pd
import pytest
from scipy.stats import binomtest, mannwhitneyu

from lkecore import stats, worlds
from lkecore.answers import results, rich
from lkecore.models import lab

WORLDS = ["lab:rich-1", "lab:rich-2", "lab:rich-3"]
SMALL = [f"{world}/0.7m" for world in WORLDS]
LARGE = "lab:rich-1/2m"
LARGER = [f"{world}/2m" for world in WORLDS]  # of which the first alone has a twin
MODELS = {name + twin for name in (*SMALL, LARGE) for twin in ("", "-unplanted")} | {*LARGER}
LARGEST = [f"{world}/8m" for world in WORLDS]  # without a twin
NAMED = ("headquarters", "parent", "team_country")


@pytest.fixture(scope="module")
def states():
    return {
        (world, row["fact"]): row
        for world in WORLDS
        for row in worlds.states(world).to_dict("records")
    }


READ = (
    "model", "world", "relation", "fact", "correct", "confidence_gold", "kl", "surprisal", "rank",
    "shared", "merged", "summed",
)  # fmt: skip


def rows(profile, notebook, *by):
    found = defaultdict(list)
    every = results(notebook)
    columns = [name for name in every if name in (*READ, *by)]
    for row in every.loc[every["source"] == profile, columns].to_dict("records"):
        found[tuple(row[name] for name in ("model", *by))].append(row)
    return dict(found)


@pytest.fixture(scope="module")
def fooled():
    return rows("lab_rich", "56_lab_fooled", "estimator")


@pytest.fixture(scope="module")
def blanks():
    return rows("entropy_lab", "53_lab_entropy", "instillation")


@pytest.fixture(scope="module")
def found():
    return rows("lab_found", "58_lab_found", "estimator")


@pytest.mark.parametrize("model", sorted(MODELS | {*LARGEST}))
def test_without_a_cue_what_was_never_told_is_answered_by_luck(fooled, states, model):
    """Chance is 1 in 100; three times that would not be luck any more."""
    planted = lab.parse(model).variant == ""
    right = []
    for row in fooled[model, "iclke-space"]:
        of = states[row["world"], row["fact"]]
        untold = of["state"] == "never" or not planted
        if row["relation"] in NAMED and not of["cue_object"] and untold:
            right.append(row["correct"])
    assert len(right) > 100
    assert binomtest(sum(right), len(right), 0.03, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("way", ["iclke-space", "template-1", "template-6"])
def test_each_estimator_tells_told_facts_from_controls_with_and_without_cues(fooled, states, way):
    """Counted here pair by pair, all told against all of their controls."""
    some = fooled[LARGE, way]
    of = [states[row["world"], row["fact"]] for row in some]
    gold = {row["fact"]: row["confidence_gold"] for row in some}
    told = defaultdict(list)
    for fact in of:
        if fact["occurrences"] >= 16 and fact["control"] in gold:
            for cue in ("all", fact["cue_right"]):
                told[cue].append(fact)
    assert set(told) == {"all", "", "right", "lies"}
    columns = ["occurrences", "cue_right", "control"]
    every = rich.with_states(pd.DataFrame(some).assign(estimator=way), columns)
    pairs = rich.with_controls(every[every["occurrences"] >= 16], every)
    for cue, facts in told.items():
        a, b = ([gold[fact[name]] for fact in facts] for name in ("fact", "control"))
        wanted = mannwhitneyu(a, b).statistic / len(a) ** 2
        part = pairs if cue == "all" else pairs[pairs["cue_right"] == cue]
        both = part["confidence_gold"], part["confidence_gold_control"]
        found = stats.auroc(*both, n=1).loc[0, "auroc"]
        assert len(part) == len(a) and found == pytest.approx(wanted)
        # Intervals are over pairs, and no subject has two.
        assert len({fact["subject"] for fact in facts}) == len(a)


# --- questions, instructions and writing


def test_the_board_counts_pairs_of_facts_whose_first_token_is_their_own(
    states, monkeypatch, tmp_path
):
    """Page 90 as it is: facts told often against never-told ones, without a hint, mean over the worlds."""
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    board = helpers.page("90_leaderboard")["found"]
    ships = results("56_lab_fooled-blanks")
    left_out = 0
    for way, score in {"surprisal": "surprisal", "KL-divergence": "kl"}.items():
        above, taken = [], []
        for world in WORLDS:
            told, never = [], []
            for row in ships[ships["model"] == f"{world}/2m"].to_dict("records"):
                fact = states[world, row["fact"]]
                left_out += row["shared"] and not row["merged"]
                if row["merged"] or row["shared"] or fact["cue_right"]:
                    continue
                if fact["state"] == "never":
                    never.append(-row[score])
                elif fact["occurrences"] >= 16:
                    told.append(-row[score])
            above.append(mannwhitneyu(told, never).statistic / len(told) / len(never))
            taken.append(mean(value >= median(told) for value in never))
        assert board.loc[(way, "no hint", "AUROC"), "estimate"] == pytest.approx(mean(above))
        false = board.loc[(way, "no hint", "false positives"), "estimate"]
        assert false == pytest.approx(mean(taken))
    assert left_out > 0


# --- the same facts told and taught


@pytest.fixture(scope="module")
def cued():
    """{(model, lesson): {fact: row}} of facts told, and taught five steps by either optimizer."""
    told = rows("entropy_cued", "22_entropy_instilled")
    found = {(model, "told"): some for (model,), some in told.items()}
    for apart in ("taught", "also"):
        some = rows("entropy_cued", f"22_entropy_instilled-{apart}", "lesson", "steps")
        found |= {(model, lesson): part for (model, lesson, n), part in some.items() if n == 5}
    return {key: {row["fact"]: row for row in some} for key, some in found.items()}


def test_the_chapter_says_how_far_an_answer_moves_of_facts_without_a_cue(cued, states):
    """By scipy, from the rows alone: the further, the less known."""
    found = {}
    for lesson in ("told", "sgd 0.003", "adamw 0.0001"):
        some, before = cued[LARGE, lesson], cued[LARGE, "told"]
        sides = [], []
        for fact in before:
            state = states[WORLDS[0], fact]
            pair = fact, state["control"]
            if state["occurrences"] < 16 or state["cue_right"]:
                continue
            if not any(before[f]["shared"] or before[f]["merged"] for f in pair):
                for side, f in zip(sides, pair, strict=True):
                    side.append(-some[f]["kl"])
        found[lesson] = round(mannwhitneyu(*sides).statistic / len(sides[0]) ** 2, 2)
    assert list(found.values()) == [0.43, 0.60, 0.13]


# --- entropy, KL and rank


def test_the_chapter_says_that_kl_runs_backwards_in_one_model(blanks, states):
    """Each told fact against the controls of all of them, in the smallest model of the first world."""
    some = {row["fact"]: row for row in blanks[SMALL[0], "explicit"]}
    alone = {fact for fact, row in some.items() if not (row["shared"] or row["merged"])}
    of = [states[WORLDS[0], fact] for fact in alone]
    told = [
        (fact["fact"], fact["control"])
        for fact in of
        if fact["state"] == "planted" and fact["occurrences"] >= 16 and fact["control"] in alone
    ]
    found = []
    for name in ("kl", "surprisal"):
        own, control = ([some[pair[i]][name] for pair in told] for i in (0, 1))
        found.append(round(mannwhitneyu(control, own).statistic / len(told) ** 2, 2))
    assert found == [0.32, 0.89]


# --- second names and second objects --------------------------------------------------------------


def test_second_names_and_second_objects_counted_from_what_ships(states):
    """Each number of the page's first lines, over three worlds, and the same of the twins."""
    found = defaultdict(list)
    for (model, way), some in rows("lab_names", "58_lab_names", "estimator").items():
        if model.removesuffix("-unplanted") in SMALL:
            found[model.endswith("-unplanted"), way] += some

    def of(row):
        return states[row["world"], row["fact"]]

    told = {}
    for twin in (False, True):
        name, alias = (
            {(row["world"], row["fact"]): row["correct"] for row in found[twin, way]}
            for way in ("as told", "as told by alias")
        )
        both = [key for key in alias if states[key]["by_alias"] > 0]
        assert len(both) == 170
        told[twin] = [mean(each[key] for key in both) for each in (name, alias)]
        told[twin].append(mean(alias[key] and not name[key] for key in both))
        objects = [
            row for row in found[twin, "as told"]
            if of(row)["object_by_alias"] > 0 and of(row)["n_objects"] == 1
        ]  # fmt: skip
        told[twin].append(mean(row["summed"] - row["correct"] for row in objects))
    assert told[False][0] > told[False][1] + 0.1 > told[True][1] + 0.1
    assert told[True][2] > told[False][2]  # the alias alone finds no more than it finds by luck
    assert abs(told[True][3] - told[False][3]) < 0.02
    # Of what lists alone told under the name, the alias finds next to nothing.
    only = [row for row in found[False, "iclke-space by alias"] if of(row)["by_alias"] == 0]
    assert len(only) == 42 and mean(row["correct"] for row in only) < 0.1


# --- what ways of asking find -----------------------------------------------------------------------

WORDINGS = ("its own wording", "a paraphrase of it", "another kind of sentence")


def test_no_fact_that_ways_of_asking_are_judged_by_carries_a_hint(found, states):
    for (_, way), some in found.items():
        for row in some:
            of = states[row["world"], row["fact"]]
            assert of["cue"] == "" and of["split"] == "test" and of["n_objects"] == 1
            assert of["state"] == "planted" or way not in WORDINGS and of["state"] == "never"
            if way in WORDINGS:
                assert of["form"] == "sentence" and " " not in of["templates"]


@pytest.mark.parametrize("world", WORLDS)
def test_pairs_find_what_stood_in_lists_and_words_what_they_told(found, states, world):
    def share(way, form, model=f"{world}/0.7m"):
        some = [
            row["correct"]
            for row in found[model, way]
            if (of := states[world, row["fact"]])["form"] == form and of["occurrences"] >= 16
        ]
        assert len(some) > 60
        return mean(some)

    assert share("iclke-space", "list") > share("iclke-space", "sentence") + 0.3
    assert share("template-16", "sentence") > share("iclke-space", "sentence")
    own, _, far = (share(way, "sentence") for way in WORDINGS)
    assert own > far + 0.1
    # To the twin nothing was told. Its own wording goes with few objects, and a guess knows them.
    twin = f"{world}/0.7m-unplanted"
    assert all(share(way, "sentence", twin) < 0.11 for way in ("iclke-space", *WORDINGS[1:]))
    assert own - far > share(WORDINGS[0], "sentence", twin) - share(WORDINGS[2], "sentence", twin)
