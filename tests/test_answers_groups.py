"""Groups of facts of which less and less was taught (PZ-T1); the oracles are counts by hand and loops."""

import itertools

import helpers
import numpy as np
import pandas as pd
import pytest

from lkecore import answers, papers, prompts
from lkecore.answers import groups, groups_said, lab, rich, shipped
from lkecore.errors import BadInput
from lkecore.models.model import open_model
from lkecore.tasks.instill import Recipe

SPEC = "lab:richsmoke-1"
MODEL = f"{SPEC}/0.15m"
RELATIONS = ["birthplace", "company_language"]
HOW = {"n_groups": 2, "seed": 0}
FAST = Recipe(2, 0.05)


@pytest.fixture(scope="module")
def samples():
    return rich.samples([MODEL], RELATIONS, groups.asked, n_shots=1, seed=0)


def ask(samples, recipe=FAST, **how):
    return answers.ask_groups(
        [MODEL], samples, "template-1", recipe, "answers.parquet", **HOW | how
    )


@pytest.fixture(scope="module")
def rows(samples):
    return ask(samples)


def test_groups_have_five_facts_that_are_not_known_and_every_level_once(rows, samples):
    before = rows[rows["when"] == "before"]
    assert (before["rank"] > groups.BADLY).all()
    for _, part in before.groupby(["relation", "group"]):
        assert sorted(part["level"]) == [0, 1, 2, 3, 4] and part["fact"].nunique() == 5
    assert not before.duplicated(["relation", "fact"]).any()
    after = rows[rows["when"] == "after"]
    key = ["relation", "group", "level", "fact"]
    assert (before[key].to_numpy() == after[key].to_numpy()).all()
    assert set(rows["lesson"]) == {"sgd 0.05, 2 passes"}


def test_what_was_taught_with_all_words_is_likelier_after(samples):
    rows = ask(samples, Recipe(20, 0.003))
    wide = rows.pivot(index=["relation", "group", "level"], columns="when", values="surprisal")
    gain = (wide["before"] - wide["after"]).groupby("level").mean()
    assert gain[0] > 0.5


def test_the_model_is_given_back(rows, samples):
    again = ask(samples)
    pd.testing.assert_frame_equal(
        again, rows
    )  # the same lot, the same lessons, nothing left behind


def test_the_seed_draws_the_groups(rows, samples):
    other = ask(samples, seed=1)
    first = rows[(rows["when"] == "before") & (rows["level"] == 0)]["fact"].tolist()
    assert other[(other["when"] == "before") & (other["level"] == 0)]["fact"].tolist() != first


def frame(after: dict[str, np.ndarray], model: str = MODEL) -> pd.DataFrame:
    """Rows of groups with these values, (group, level), by column; before all are alike in order."""
    n = len(next(iter(after.values())))
    parts = []
    for when in ("before", "after"):
        for group, level in itertools.product(range(n), range(5)):
            row = {
                "source": "this page", "model": model, "world": SPEC, "lesson": "l", "relation": "r",
                "fact": f"f{group}-{level}", "group": group, "level": level, "when": when,
            }  # fmt: skip
            parts.append(row | {c: v[group, level] for c, v in after.items()})
    return pd.DataFrame(parts)


@pytest.fixture
def made():
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(0, 5, (30, 5)) for name in groups.KEPT}
    columns["kl"] = columns["kl"] + 2 * np.arange(5)
    columns["rank"] = rng.integers(1, 4, (30, 5)).astype(float)
    return columns


def share(table, *, strict=True):
    pairs = list(itertools.combinations(range(5), 2))
    each = [
        np.mean([(r[i] < r[j]) + (0 if strict else 0.5 * (r[i] == r[j])) for i, j in pairs])
        for r in table
    ]
    return np.mean(each)


def test_orders_are_counts_of_pairs(made):
    found = groups.orders(frame(made), seed=0).set_index(["when", "metric"])
    change = np.abs(made["entropy"] - made["entropy_after"])
    signed = made["entropy"] - made["entropy_after"]
    assert (signed < 0).any()  # so that the sign matters
    tables = {"KL": made["kl"], "rank": made["rank"], "change of entropy": change}
    tables["signed change"] = signed
    for metric, table in tables.items():
        row = found.loc[("after", metric)]
        assert row["right"].estimate == pytest.approx(share(table))
        assert row["half"].estimate == pytest.approx(share(table, strict=False))
    gap = share(made["kl"], strict=False) - share(made["rank"], strict=False)
    assert found.loc[("after", "rank"), "KL minus it"].estimate == pytest.approx(gap)
    assert found.loc[("after", "KL"), "KL minus it"] is None
    published = found.loc[("after", "rank"), "BERT"], found.loc[("after", "KL"), "T5"]
    assert published == pytest.approx((0.516, 0.678))
    assert found.loc[("after", "rank"), "tied"] > 0.2 and found.loc[("after", "KL"), "groups"] == 30


def test_an_answer_that_gets_less_sure_is_best_known_with_its_sign_and_not_by_its_size():
    """Pencil: H(P) - H(Q) of one group is -3, -2, -1, 1, 2, so in order; by its size 3, 2, 1, 1, 2."""
    alike = {name: np.ones((1, 5)) for name in groups.KEPT}
    made = alike | {
        "entropy": np.array([[1.0, 1, 1, 4, 5]]),
        "entropy_after": np.array([[4.0, 3, 2, 3, 3]]),
    }
    tables = groups.tables_of(frame(made).query("when == 'after'"))
    assert tables["signed change"].tolist() == [[-3, -2, -1, 1, 2]]
    assert tables["change of entropy"].tolist() == [[3, 2, 1, 1, 2]]
    assert share(tables["signed change"]) == 1
    # Of ten pairs 1 < 2 twice; 2 and 2, and 1 and 1, are ties.
    assert share(tables["change of entropy"]) == pytest.approx(0.2)


def test_levels_are_means_of_their_facts(made):
    found = groups.by_level(frame(made), seed=0)
    assert found["words"].tolist() == [
        "100% of the words", "67% of the words", "33% of the words", "0% of the words", "not taught",
    ]  # fmt: skip
    assert found["KL"][1].estimate == pytest.approx(made["kl"][:, 1].mean())
    assert found["first"][0].estimate == pytest.approx((made["rank"][:, 0] == 1).mean())


def test_claims_words_and_figure_have_the_numbers_of_the_table(made):
    rows = pd.concat([frame(made), frame(made, f"{MODEL}-unplanted")])
    found = groups_said.claimed(rows, seed=0)
    ids = papers.claims("LAB")["id"]
    of_page = set(ids[ids.str.startswith("LAB-groups-")])
    assert set(found) == {name for name in of_page if not name.endswith("-blanks")}
    mine = ("this page", MODEL)
    assert {name for of in found.values() for name in of} == {mine}
    table = groups.orders(rows, seed=0)
    half = table.set_index(["model", "when", "metric"])["half"]
    kl = half[MODEL, "after", "KL"]
    assert found["LAB-groups-finds"][mine].estimate == pytest.approx(kl.estimate - 0.5)
    assert len(lab.judge(found)) == 5
    said = groups_said.sentences(table)
    assert kl.text() in said["orders"] and half[MODEL, "before", "KL"].text() in said["before"]
    assert len(groups_said.drawn(table)) == 2 * 2 * 7
    assert half[MODEL, "after", "signed change"].text() in said["orders"]
    bert = groups.orders(pd.concat([rows, frame(made, f"{SPEC}/bert")]), seed=0)
    more = groups_said.sentences(bert)["others"].removeprefix(said["others"])
    assert more.startswith(f" Of {SPEC}/bert KL orders {kl.text()}, ")


def test_claims_about_readers_of_blanks_stand_beside_those_about_decoders(made):
    bert = f"{SPEC}/bert"
    found = groups_said.claimed(pd.concat([frame(made, bert), frame(made)]), seed=0)
    ids = papers.claims("LAB")["id"]
    assert set(found) == set(ids[ids.str.startswith("LAB-groups-")])
    of_decoder = found["LAB-groups-rank"]["this page", MODEL]
    assert found["LAB-groups-rank-blanks"] == {("this page", bert): of_decoder}


def test_models_of_longer_runs_are_judged_under_their_profile_and_called_by_it(made, monkeypatch):
    """A model that is not of the lab may stand there twice: it was asked about other facts."""
    larger, less = f"{SPEC}/2m", {name: values[:20] for name, values in made.items()}
    ships = pd.concat([frame(less, name) for name in (MODEL, larger, "toy")])
    ships = ships.drop(columns="source")
    monkeypatch.setattr(shipped, "read", lambda name, notebook: ({"far": ships}[name], {}))
    ours = pd.concat([frame(made), frame(made, "toy")]).drop(columns="source")
    rows = groups_said.beside(ours, ["far"], "21_x")
    who = rows.drop_duplicates(["source", "model"])[["source", "model"]].to_numpy().tolist()
    assert who == [
        ["this page", MODEL], ["this page", "toy"], ["shipped: far", larger], ["shipped: far", "toy"],
    ]  # fmt: skip
    names = groups_said.named(rows).groupby(["source", "model"]).size()
    assert names.to_dict() == {
        ("this page", MODEL): 300, ("this page", "toy"): 300,
        ("shipped: far", larger): 200, ("shipped: far", "toy on far"): 200,
    }  # fmt: skip
    found = groups_said.claimed(rows, seed=0)
    assert list(found["LAB-groups-finds"]) == [("shipped: far", larger)]
    of_toy = found["PZ-groups-finds"]
    assert list(of_toy) == [("this page", "toy"), ("shipped: far", "toy")]
    for values, interval in zip((made, less), of_toy.values(), strict=True):
        by_hand = share(values["kl"], strict=False) - 0.5
        assert interval.estimate == pytest.approx(by_hand)
    judged = lab.judge(found)
    assert set(judged.loc[judged["id"] == "PZ-groups-finds", "of"]) == {"toy"}


def test_a_template_without_words_and_a_recipe_without_steps_are_named(samples):
    with pytest.raises(BadInput, match="has 2 words beside subject and object, and 3 are needed"):
        some = rich.samples([MODEL], ["residence", "birthplace"], groups.asked, n_shots=1, seed=0)
        ask(some)
    with pytest.raises(BadInput, match="both must be above 0"):
        ask(samples, Recipe(0, 0.1))


# --- groups that ship -----------------------------------------------------------------------------


@pytest.fixture
def ships(rows, samples, tmp_path, monkeypatch):
    """What one run keeps becomes results of a profile."""
    monkeypatch.setitem(answers.results.__globals__, "FOLDER", tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    monkeypatch.setenv("LKE_RUN", str(run))
    ask(samples)

    def now(change=lambda frame: frame, **about):
        about = {"models": {MODEL: open_model(MODEL).digest}} | about
        helpers.ship_run(tmp_path, run, "21_x", change, **about)

    return now


def test_groups_are_carried_and_one_relation_is_taught_again(ships, rows, samples):
    ships()
    found = ask(samples, results="long", notebook="21_x")
    assert found["fact"].tolist() == rows["fact"].tolist()
    assert found["kl"].tolist() == pytest.approx(rows["kl"].tolist(), rel=2e-4, abs=1e-4)
    assert "20 of them were asked again" in answers.carried(found)


@pytest.mark.parametrize("name", ["surprisal", "level"])
def test_groups_that_say_something_else_are_found(ships, samples, name):
    ships(lambda frame: frame.assign(**{name: frame[name] + 1}))
    with pytest.raises(BadInput, match=r"results long: \d+ of 20 answers that were asked again"):
        ask(samples, results="long", notebook="21_x")


def test_real_facts_are_taught_to_any_model_and_judged_by_the_papers_claims(monkeypatch):
    # The toy reads letters, and few names begin with one of their own.
    monkeypatch.setattr(groups.firsts, "shared", lambda lm, asked, drawn: [False] * len(asked))
    found, out = groups.samples_of(
        ["toy"],
        ["capital", "film_director", "currency"],
        "template-2",
        fact_set="atlas",
        n_facts=30,
        seed=0,
    )
    words = {name: [w for w in prompts.templates_of(of.relation)["template-2"].split() if "[" not in w]
             for name, of in found["atlas"].items()}  # fmt: skip
    assert words and all(len(some) >= 3 for some in words.values())
    assert set(out) == {"capital", "film_director", "currency"} - set(words)
    assert all(" words beside subject and object" in why for why in out.values())
    rows = answers.ask_groups(
        ["toy"], found, "template-2", FAST, "answers.parquet", n_groups=1, seed=0, badly=0
    )
    assert rows["world"].eq("atlas").all() and set(rows["relation"]) == set(words)
    assert len(rows) == 2 * 5 * len(words)
    claimed = groups_said.claimed(rows.assign(source="this page"), seed=0)
    assert set(claimed) == {
        f"PZ-groups-{n}" for n in ("finds", "rank", "entropy", "surprisal", "before")
    }
    judged = lab.judge(claimed, estimator="template-2")
    assert judged["of"].eq("toy").all()
    assert "pairs of toy in" in groups_said.sentences(groups.orders(rows, seed=0))["orders"]


def test_an_object_that_begins_as_another_one_of_its_relation_is_in_no_group(samples, monkeypatch):
    sample = samples[SPEC]
    some = {fact.id for fact in sample["birthplace"].facts[::2]}
    monkeypatch.setattr(
        groups.firsts, "shared", lambda lm, asked, drawn: [each.fact in some for each in asked]
    )
    found = ask(samples)
    assert len(found) and not some & set(found.loc[found["relation"] == "birthplace", "fact"])


def test_a_template_that_no_relation_has_is_refused():
    with pytest.raises(BadInput, match="^nothing is asked: template '' has 0 words"):
        groups.samples_of(["toy"], ["capital", "currency"], "template-99", fact_set="atlas", seed=0)


def test_results_of_other_groups_are_refused(ships, samples):
    ships(parameters={"n_groups": 7, "seed": 0})
    with pytest.raises(BadInput, match="results long are of n_groups 7, and here it is"):
        ask(samples, results="long", notebook="21_x")


def test_a_relation_without_a_group_is_left_out_and_the_others_are_taught(samples, monkeypatch):
    whole = groups._places

    def only(lm, some, *rest):
        before, places = whole(lm, some, *rest)
        return before, places[: 0 if some[0].asked.relation == "birthplace" else None]

    monkeypatch.setattr(groups, "_places", only)
    assert set(ask(samples)["relation"]) == {"company_language"}
    taught = lambda *_, **__: pytest.fail("a relation was taught")  # noqa: E731
    monkeypatch.setattr(groups.instill, "shifts_all", taught)
    with pytest.raises(BadInput, match="no relation has 5 facts, the size of a group"):
        ask(samples, badly=10**9)


def test_a_relation_whose_lesson_gives_no_number_is_named_and_the_others_are_taught(
    rows, samples, monkeypatch
):
    teach = groups.instill.shifts_all

    def one_breaks(lm, lessons, some, recipe, **how):
        broken = some[0].asked.relation == "birthplace"
        return teach(lm, lessons, some, Recipe(30, 1e30) if broken else recipe, **how)

    monkeypatch.setattr(groups.instill, "shifts_all", one_breaks)
    found = ask(samples)
    assert set(found["relation"]) == {"company_language"}
    [(name, why)] = groups_said.left_out(samples[SPEC], found).items()
    assert name == f"birthplace ({MODEL})" and "a step has the loss" in why
    found.attrs = {}  # as a page reads it of its runs
    [(name, why)] = groups_said.left_out(samples[SPEC], found).items()
    assert name == "birthplace" and why.startswith("too few of its facts are unknown, or a step")
    with pytest.raises(
        BadInput, match=r"^birthplace \(.*\): .*a step has the loss .*; company_language"
    ):
        ask(samples, Recipe(30, 1e30))
    monkeypatch.undo()
    pd.testing.assert_frame_equal(ask(samples), rows)  # the weights are what they were


def test_results_that_lack_a_relation_are_refused(ships, samples):
    ships(lambda frame: frame[frame["relation"] != "birthplace"])
    with pytest.raises(BadInput, match="lack 1 of 1 questions about .*, birthplace"):
        ask(samples, results="long", notebook="21_x")


def test_medians_of_what_telling_moves_before_and_after():
    rows = pd.DataFrame(
        [("m", "after", 1.0), ("m", "before", 4.0), ("m", "after", 5.0), ("m", "before", 2.0)]
        + [("n", "before", 3.0), ("m", "after", 2.0), ("n", "after", 0.0)],
        columns=["model", "when", "kl"],
    )
    found = groups_said.telling(rows.assign(lesson="l"))
    assert found.to_dict("records") == [
        {"model": "m", "lesson": "l", "before": 3.0, "after": 2.0},
        {"model": "n", "lesson": "l", "before": 3.0, "after": 0.0},
    ]


def test_an_infinite_kl_is_ordered_last_and_is_in_no_mean(made):
    made["kl"][4, 1] = np.inf
    large = made | {"kl": np.where(np.isinf(made["kl"]), 1e6, made["kl"])}
    both = [groups.orders(frame(values), seed=0) for values in (made, large)]
    assert both[0]["half"].tolist() == both[1]["half"].tolist()
    found = groups.by_level(frame(made), seed=0)
    assert found["KL"][1].estimate == pytest.approx(np.delete(made["kl"][:, 1], 4).mean())
    assert found["facts"][1] == 30 and found["surprisal"][1].estimate == pytest.approx(
        made["surprisal"][:, 1].mean()
    )
