"""Gates: questions to a made-up answerer, shares by hand, and one real model from door to frame."""

import re

import helpers
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from lkecore import answers, figures
from lkecore.answers import gates
from lkecore.errors import BadInput
from lkecore.facts import rich, rich_skills, rich_text
from lkecore.models import lab
from lkecore.prompts.prompt import Prompt
from lkecore.storage import DATA
from lkecore.train import lab as trainer

WORLD = "lab:richtiny-0"


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        helpers.tiny_rich(patch)
        patch.setattr(gates, "OFTEN", (4, 1))  # more than that its text tells nothing
        patch.setattr(lab, "RICH_READINGS", dict.fromkeys(lab.RICH_READINGS, 1))
        patch.setenv("LKE_DEVICE", "cpu")
        patch.setenv("LKECORE_CACHE", str(tmp_path_factory.mktemp("gates")))
        yield


@pytest.fixture(scope="module")
def asked(small):
    return gates.questions([WORLD], 40, seed=0)


def rows_of(asked):
    rows = [(*key, prompt) for key, some in asked.items() for prompt in some]
    return pd.DataFrame(rows, columns=["world", "gate", "relation", "prompt"])


# --- questions ------------------------------------------------------------------------------------


def test_of_each_gate_as_many_questions_are_asked_and_of_facts_those_that_are_told_often(asked):
    rows = rows_of(asked)
    counts = rows["gate"].value_counts()
    for gate in ("same", "other", "instruction", "list"):
        assert counts[gate] == 40
    assert gates.counts(asked)[WORLD].to_dict() == counts.to_dict()
    states = rich_text.states(WORLD)
    told = states[(states["split"] == "test") & (states["state"] == "planted")]
    text = "\n".join(rich_text.documents(rich.world(WORLD)))
    reads = rows[~rows["gate"].isin(gates.LEAST)]
    assert set(reads["gate"]) == {
        f"{way} ({n})" for n in (4, 1) for way in ("template-1", "as told")
    }
    for row in reads.itertuples():
        prompt, least = row.prompt, int(row.gate[-2])
        [fact] = told[
            (told["relation"] == row.relation)
            & (told["subject"] == prompt.subject)
            & (told["object"] == prompt.options[0])
        ].itertuples()
        assert fact.form == "sentence" and fact.sentences >= least and fact.n_objects == 1
        # The text itself says what is asked, and how it goes on.
        if row.gate.startswith("as told"):
            called = filter(None, (prompt.subject, fact.subject_alias))
            prompts = [prompt.context.replace(prompt.subject, name) for name in called]
            assert any(f"{one} {name}" in text for one in prompts for name in prompt.options)
    of = reads.assign(subject=[prompt.subject for prompt in reads["prompt"]])
    assert not of.duplicated(["gate", "relation", "subject"]).any()


def test_other_facts_are_drawn_by_another_seed_and_strangers_are_the_worlds(asked):
    again, other = (rows_of(gates.questions([WORLD], 10, seed=seed)) for seed in (0, 1))
    assert again.equals(rows_of(gates.questions([WORLD], 10, seed=0))) and not again.equals(other)
    shown = [every[every["gate"].isin(gates.LEAST)] for every in (again, other)]
    assert shown[0].equals(shown[1])


# --- answers --------------------------------------------------------------------------------------


def oracle(asked):
    """What an attentive reader says, found in the prompts and the text and not in the answers."""
    made, states = rich.world(WORLD), rich_text.states(WORLD)
    texts = []
    for row in rows_of(asked).itertuples():
        if row.gate not in gates.LEAST:
            own = states[states["relation"] == row.relation]
            said = own[own["subject"] == row.prompt.subject]["told"].iloc[0]
        else:
            names = [
                name
                for name in made.objects[row.relation]
                if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", row.prompt.context)
            ]
            said = max(names, key=len)  # of a list the longest: of the right kind is any of them
        texts.append(f" {said}. And more.")
    return texts


def outputs(asked, texts, model="reader"):
    rows = rows_of(asked).assign(model=model, text=texts)
    return rows.assign(fact=[prompt.fact for prompt in rows["prompt"]]).drop(columns="prompt")


def test_an_attentive_reader_passes_all_gates_and_one_that_says_nothing_passes_none(asked):
    found = gates.rated(gates.counted(outputs(asked, oracle(asked)), asked))
    assert found["passed"].all() and (found["right"] == found["n"]).all()
    assert list(found["gate"][:4]) == ["same", "other", "instruction", "list"] and len(found) == 8
    silent = outputs(asked, "", model="silent")
    rated = gates.rated(gates.counted(silent, asked))
    assert not rated["passed"].any() and (rated["right"] == 0).all()
    assert rated[["gate", "n", "least"]].equals(found[["gate", "n", "least"]])
    wrong = gates.wrong(silent, asked)
    assert wrong["none"].sum() == len(silent) and (wrong["another object"] == 0).all()
    assert gates.wrong(outputs(asked, oracle(asked)), asked).empty


def test_of_wrong_outputs_those_with_another_object_are_told_from_the_rest():
    key, names = ("w", "same", "author"), ("Kel", "Ro", "Um")
    asked = {
        key: [
            Prompt(str(i), "author", "s", "", (name,), (f" {name}",), 0)
            for i, name in enumerate(names)
        ]
    }
    texts = [" Kel.", " Kel.", " Kelmo."]  # right, another's, nobody's
    [row] = gates.wrong(outputs(asked, texts), asked).itertuples(index=False)
    assert tuple(row) == ("reader", "repeats a statement", 1, 1)


def made_up(gate, right, n):
    prompts = [
        Prompt(str(i), "author", "s", "", ("Kelmo Bay", "Ro"), ("", ""), 0) for i in range(n)
    ]
    asked = {(WORLD, gate, "author"): prompts}
    texts = ["Kelmo Bay."] * right + ["Kelmo Bayou."] * (n - right)
    return gates.counted(outputs(asked, texts), asked)


@pytest.mark.parametrize(
    ("gate", "right", "n", "passed"),
    [
        ("same", 9, 10, True), ("same", 89, 100, False),
        ("other", 8, 10, True), ("other", 79, 100, False),
        ("instruction", 9, 10, True), ("instruction", 89, 100, False),
        ("list", 19, 20, True), ("list", 94, 100, False),
        ("as told (64)", 5, 10, False), ("template-1 (16)", 51, 100, True),
    ],
)  # fmt: skip
def test_a_share_at_the_threshold_passes_and_of_what_is_read_one_above_it(gate, right, n, passed):
    [row] = gates.rated(made_up(gate, right, n)).itertuples()
    assert (row.gate, row.n, row.right, row.passed) == (gate, n, right, passed)
    # Wilson, by its formula.
    z, p = 1.959964, right / n
    centre, half = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    ends = [(centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)]
    assert [row.share.low, row.share.high] == pytest.approx(ends, abs=1e-6)


def test_tables_and_sentences_say_who_passes():
    both = pd.concat(
        [
            made_up("same", 9, 10), made_up("list", 9, 10), made_up("as told (64)", 6, 10),
            made_up("same", 5, 10).assign(model="other"), made_up("same", 1, 10).assign(model="a-unplanted"),
        ]
    )  # fmt: skip
    table = gates.by_model(gates.rated(both)).set_index("model")
    assert table.columns.tolist() == ["repeats a statement", "goes on with a list", "as told (64)"]
    assert table.loc["at least"].tolist() == ["0.9", "0.95", "0.5"]
    assert table.loc["reader"].tolist() == ["0.90", "0.90 x", "0.60"]
    assert table.loc["other"].tolist() == ["0.50 x", "-", "-"]
    said = gates.sentences(gates.rated(both))
    assert "1 of 2 models pass (0.50 to 0.90; asked for: 0.9)" in said["repeats"]
    assert "0 of 1 models pass" in said["lists"] and "as told (64), 1 of 1" in said["reads"]
    fig, axes = plt.subplots(2, 2)
    figures.gate_dots(answers.bounds(gates.rated(both), "share"), axes)
    titles = [ax.get_title() for ax in axes.flat if ax.axison]
    assert titles == ["same", "list", "as told (64)"]
    with pytest.raises(ValueError, match="3 gates and 1 axes"):
        figures.gate_dots(
            answers.bounds(gates.rated(both), "share"), plt.subplots(squeeze=False)[1]
        )


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (" Kelmo Bay. Next", True), ("Kelmo Bay", True), ("Kelmo Bay\n", True), ("Kelmo Bay,", True),
        ("Kelmo Bays", False), ("Kelmo", False), ("The Kelmo Bay", False), ("kelmo bay", False),
        (" Ro, Kelmo", True), ("Rom", False), ("", False), (" ", False),
        (" RoThe author of Um", True), (" Kelmo BayRo. Next", True), (" Ro_", False), (" Ro2", False),
    ],
)  # fmt: skip
def test_an_answer_begins_with_the_object_as_a_whole_word(text, right):
    assert gates.begins(text, ("Kelmo Bay", "Ro")) is right


def test_no_name_of_a_rich_world_has_a_capital_letter_inside_a_word():
    """So a capital right behind a name is the next document's."""
    for spec in (WORLD, "lab:rich-1"):
        made = rich.world(spec)
        names = {name for every in made.objects.values() for name in every}
        assert len(names) > 20 and not [n for n in names if re.search(r"\w[A-Z]", n)]


def test_a_list_goes_on_with_any_object_of_its_kind_and_all_else_with_its_own():
    """By the table of relations, read as text: instruments, jobs, countries and languages."""
    table = (DATA / "lab_rich_relations.tsv").read_text(encoding="utf-8").splitlines()
    kind = {row.split("\t")[0]: row.split("\t")[4] for row in table[1:]}
    made = rich.world(WORLD)
    for relation in ("mother_tongue", "profession"):
        same = [name for name in kind if kind[name] == kind[relation]]
        wanted = {name for each in same for name in made.objects[each]}
        assert rich_skills.of_kind(made, relation) == wanted >= set(made.objects[relation])
    [other] = sorted(set(made.objects["company_language"]) - set(made.objects["mother_tongue"]))[:1]
    own = made.objects["mother_tongue"][0]
    prompts = [Prompt("1", "mother_tongue", "s", "", (own,), (f" {own}",), 0)]
    for gate, right in (("list", 1), ("same", 0)):
        asked = {(WORLD, gate, "mother_tongue"): prompts}
        assert gates.counted(outputs(asked, [f" {other}."]), asked)["right"].tolist() == [right]


# --- models ---------------------------------------------------------------------------------------


def test_a_model_is_asked_greedily_with_room_for_the_longest_object(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trainer.make(f"{WORLD}/causal")
    models, few = [f"{WORLD}/causal"], gates.questions([WORLD], 5)
    lm = answers.opened(models[0], "float32")
    objects = rich_text.states(WORLD)["object"].unique()
    longest = max(len(lm.tokenizer.tokenize(f" {name}")) for name in objects)
    with pytest.raises(BadInput, match=f"n_tokens {longest}: must be more than an answer has"):
        gates.check(models, few, n_tokens=longest)
    gates.check(models, few, n_tokens=longest + 1)
    how = {"by": gates.BY, "only": gates.own_world(models), "only_by": "world", "stop": "."}
    found = answers.write(models, few, "answers-written.parquet", max_new_tokens=longest + 1, **how)
    rated = gates.rated(gates.counted(found, few))
    assert len(rated) == 8 and set(rated["n"][:4]) == {5}
    assert rated["right"].between(0, rated["n"]).all()


def test_a_world_that_is_not_rich_is_refused_in_one_line():
    with pytest.raises(BadInput, match="world lab:tiny-0: gates are measured on rich worlds alone"):
        gates.questions(["lab:tiny-0"], 5)


def test_what_ships_says_which_gates_are_missed_and_leaves_out_who_was_not_measured():
    rows = answers.results("59_lab_gates-gates")
    said = gates.missed(["lab:rich-1/2m", "lab:rich-1/2m-unplanted", "lab:richsmoke-1/bert"])
    line = said.replace("\n  ", " ")
    assert "\n" not in line
    own = rows[rows["model"] == "lab:rich-1/2m"]
    least = [
        {"same": 0.9, "other": 0.8, "instruction": 0.9, "list": 0.95}.get(g, 0.5)
        for g in own["gate"]
    ]
    misses = own[own["right"] / own["n"] < least]["gate"].astype(str).replace(gates.SAYS)
    assert line.startswith("gates that lab:rich-1/2m misses: ")
    assert [
        gate for gate in own["gate"].astype(str).replace(gates.SAYS) if f"{gate} 0." in line
    ] == misses.tolist()


def test_curves_stand_from_the_smallest_decoder_to_the_largest_and_blank_readers_behind():
    sizes = [
        "rich-2/bert",
        "rich-2/8m",
        "rich-2/0.7m@2",
        "rich-1/2m",
        "rich-1/2m-tuned",
        "rich-1/8m",
    ]
    rows = [{"model": f"lab:{size}", "loss": loss} for size in sizes for loss in (2.0, 1.0)]
    found = gates.one_of_each(pd.DataFrame(rows))
    order = ["rich-1/2m", "rich-1/8m", "rich-2/8m", "rich-2/bert"]
    assert found["model"].tolist() == [f"lab:{name}" for name in order for _ in range(2)]
    assert found["loss"].tolist() == [2.0, 1.0] * 4
    assert found["kind_of_model"].unique().tolist() == ["2m", "8m", "bert"]
