"""What chapters 3 and 4 call known is known: counted in plain Python from the files that ship."""

from collections import defaultdict
from pathlib import Path
from statistics import mean

import helpers
import pandas as pd
import pyarrow.parquet
import pytest
import yaml

from lkecore import answers, worlds

TOP = Path(__file__).resolve().parent.parent
TASK = "31_xtraeval_task"
MODELS = ["lab:rich-2/0.7m", "lab:rich-2/2m"]
LIKE = "likelihood, one wording"
NEVER = 2071  # facts of lab:rich-2 that no text tells, as the audit counted them


def rows(name):
    return pyarrow.parquet.read_table(TOP / "results" / f"{name}.parquet").to_pylist()


def parameters(name):
    runs = yaml.safe_load((TOP / "params" / "book.yaml").read_text("utf-8"))["runs"]
    [given] = [run["parameters"] for run in runs if run["notebook"] == name]
    return given


def page(name, **given):
    """The names of a page of the book after its run; it reads what ships, and asks nothing."""
    return helpers.page(name, **parameters(name) | given)


@pytest.fixture(autouse=True, scope="module")
def run_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LKE_RUN", str(tmp_path_factory.mktemp("run")))
        yield


@pytest.fixture(scope="module")
def page_34():
    return page("34_xtraeval_gaps")


@pytest.fixture(scope="module")
def told():
    """{fact of lab:rich-2: whether any text tells it}, by the number of its tellings."""
    states = worlds.states("lab:rich-2")
    return dict(zip(states["fact"], states["state"] != "never", strict=True))


@pytest.fixture(scope="module")
def known():
    """{(model, relation, fact): row} of what was given back in lab:rich-2."""
    return {
        (row["model"], row["relation"], row["fact"]): row
        for row in rows(f"{TASK}-known")
        if row["source"] in ("xtraeval_lab", "xtraeval_twin")
    }


def by_relation(found):
    """Mean over relations of the mean in each: of (relation, number)."""
    groups = defaultdict(list)
    for relation, number in found:
        groups[relation].append(number)
    return mean(map(mean, groups.values()))


def test_a_guess_is_a_fact_that_no_text_told_and_elsewhere_what_the_rule_has(told):
    assert sum(not is_told for is_told in told.values()) == NEVER
    some = [next(fact for fact, is_told in told.items() if is_told == yes) for yes in (True, False)]
    frame = pd.DataFrame(
        {
            "model": [*["lab:rich-2/0.7m"] * 2, *["lab:rich-2/0.7m-unplanted"] * 2, *["toy"] * 4],
            "fact": some * 4,
            # Beside answers of another file, which has no such column, it is missing.
            "rule": [True, True, True, True, True, False, None, float("nan")],
        },
        index=[7, 6, 5, 4, 3, 2, 1, 0],
    )
    guesses = answers.guesses(frame)
    assert [row for row, guess in guesses.items() if guess] == [6, 4, 3]
    # Without the rule's column nobody can say.
    assert not answers.guesses(frame[4:].drop(columns="rule")).any()


def test_known_by_a_seed_is_what_page_30_says_of_it(known):
    """The columns were added after the runs; here from the other file, row by row."""
    seen = 0
    for row in rows("30_xtraeval_extraction"):
        key = row["model"], row["relation"], row["fact"]
        if row["prompt"] == "soft" and row["part"] == "asked" and key in known:
            assert known[key][f"soft_{row['seed']}"] == row["correct"], key
            seen += 1
    assert seen >= 3 * 3600 * len(MODELS)
    for row in known.values():
        by_seed = [row[f"soft_{seed}"] for seed in range(3)]
        assert row["soft"] == any(by_seed) and row["known"] == (row["soft"] or row["template"])


def test_what_page_34_calls_known_was_told_and_its_shares_are_counts(told, known, page_34):
    names = page_34
    of_world = names["known"][names["known"]["model"].str.startswith("lab:rich-2/")]
    assert all(told[fact] for fact in of_world["fact"])
    asked = [fact for fact in told if ("lab:rich-2/0.7m", fact.rpartition("-")[0], fact) in known]
    assert (of_world["model"] == "lab:rich-2/0.7m").sum() == sum(told[fact] for fact in asked)
    table = (
        names["table"].set_index(["known by", "used by", "model", "part"])["estimate"].sort_index()
    )
    ways = {
        "one seed, mean of all": [["soft_0"], ["soft_1"], ["soft_2"]],
        "all seeds": [["soft_0", "soft_1", "soft_2"]],
        "any seed or the best template": [["known"]],
    }
    for model in MODELS:
        for way, of_seeds in ways.items():
            shares = [
                by_relation(
                    (row["relation"], all(row[name] for name in columns))
                    for (of, _, fact), row in known.items()
                    if of == model and told[fact]
                )
                for columns in of_seeds
            ]
            found = table[way, "tails", model]
            assert found["identifiable"] == pytest.approx(mean(shares)), (model, way)
            assert found[["usable", "gap_1", "gap_2"]].sum() == pytest.approx(1)
    # A relation of which no known fact was asked is counted, and stays among the known.
    gone = pd.concat(names["gone"], names=["way", "seed"]).reset_index(["way", "seed"])
    assert gone.loc["lab:rich-2/0.7m"].set_index("seed").iloc[:, -1].to_dict() == {
        "soft_0": 0, "soft_1": 0, "soft_2": 1, "every": 1, "known": 0,
    }  # fmt: skip


def test_the_twin_stands_beside_the_told_model_on_page_34(page_34):
    twin, names = "lab:rich-2/0.7m-unplanted", page_34
    table = (
        names["table"].set_index(["known by", "used by", "model", "part"])["estimate"].sort_index()
    )
    for way in names["ways"]:
        usable = table[way, "tails"].xs("usable", level="part")
        assert 0 <= usable[twin] < usable["lab:rich-2/0.7m"], way


def test_page_31_counts_what_the_twin_has_of_what_its_model_knows(told, known):
    names = page(TASK, relations=["birthplace"], sources=["xtraeval_lab", "xtraeval_twin"])
    has = {
        model: {key[2] for key, row in known.items() if key[0] == model and row["known"]}
        for model in ("lab:rich-2/0.7m", "lab:rich-2/0.7m-unplanted")
    }
    both = {fact for fact in set.intersection(*has.values()) if told[fact]}
    assert len(both) == 229  # of 609, as an audit counted them
    assert set(names["own"][names["own"].isin(names["luck"])]) == both


def test_the_control_of_page_31_is_all_never_told_facts(told, known):
    """By hand: in each relation both kinds by their counts; one that was not asked has the others' mean."""
    names = page(TASK, relations=["birthplace"], sources=["xtraeval_lab"])
    table = names["table"].set_index(["model", "ranker", "part"])["estimate"].sort_index()
    found = [row for row in rows(TASK) if row["source"] == "xtraeval_lab" and not told[row["fact"]]]
    for model in MODELS:
        counts = defaultdict(lambda: [0, 0])
        for (of, relation, fact), row in known.items():
            if of == model and not told[fact]:
                counts[relation][row["known"]] += 1
        for ranker in (LIKE, "likelihood, untrained, one wording", "rule-word"):
            cells = defaultdict(list)
            for row in found:
                if (row["model"], row["ranker"]) == (model, ranker):
                    is_known = known[model, row["relation"], row["fact"]]["known"]
                    cells[row["relation"], is_known].append(row["tails"])
            means = {key: mean(values) for key, values in cells.items()}
            others = {k: mean(v for (_, of), v in means.items() if of == k) for k in (False, True)}
            every = [
                sum(n * means.get((relation, is_), others[is_]) for is_, n in enumerate(of))
                / sum(of)
                for relation, of in counts.items()
            ]
            assert table[model, ranker, "never told"] == pytest.approx(mean(every)), (model, ranker)
    # Known ones are among them: without these the rule, too, would find next to nothing.
    assert table["lab:rich-2/0.7m", "rule-word", "never told"] > 0.1
