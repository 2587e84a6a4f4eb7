"""XTRAEVAL with the paper's kinds of models, random, from folders, and what its forecast says of them."""

from pathlib import Path
from statistics import mean

import helpers
import pandas as pd
import pytest
import transformers
from safetensors.torch import load_file
from test_runs_forecast import plan

from lkecore import progress, worlds
from lkecore.runs import forecast
from lkecore.tasks import extraction, ranking, use

TOP = Path(__file__).resolve().parent.parent
NAMES = "Ann Ben Cid Dan Eva Fay Gus Hal Ivy Jan Kim Leo".split()
TAILS = {"home": ["Paris", "Rome", "Madrid"], "tongue": ["Ido", "Uru", "Ede"]}
ONE = {"prompt_steps": 2, "value_steps": 2, "likelihood_steps": 2, "n_asked": 1, "batch": 2}
ONE |= {"n_documents": 5}


def put(file, ending, tails):
    rows = [
        f'{{"sub_label": "{name}{ending}", "obj_label": "{tails[i % 3]}"}}'
        for i, name in enumerate(NAMES)
    ]
    file.write_text("\n".join(rows))


@pytest.fixture
def given(tmp_path):
    """Two relations of 24 facts, half to show and half to ask, without templates; and their questions."""
    lines = ["relation\tkind\ttext"]
    for relation, tails in TAILS.items():
        (tmp_path / "set" / relation).mkdir(parents=True)
        for split, ending in (("train", "a"), ("test", "o")):
            put(tmp_path / "set" / relation / f"{split}.jsonl", ending, tails)
        lines += [
            f"{relation}\tquestion\tThe {relation} of [X]?",
            f"{relation}\tstatement\t[X] has {relation} [Y]",
        ]
    (tmp_path / "questions.tsv").write_text("\n".join(lines))
    named = {"fact_set": str(tmp_path / "set"), "questions": str(tmp_path / "questions.tsv")}
    return named | {"templates": [], "readable": [False]}


def saved(folder, kind):
    parts = helpers.blank_filler(kind) if kind in helpers.BLANK_FILLERS else (
        helpers.network(kind), helpers.char_tokenizer()
    )  # fmt: skip
    for part in parts:
        part.save_pretrained(folder / kind)
    return str(folder / kind)


KINDS = ["BERT", "OPT"]


def test_the_page_of_the_task_runs_with_each_kind_of_the_papers_models_as_its_forecast_says(
    given, tmp_path, monkeypatch
):
    """A random model knows nothing: for the task it is said to know all. The forecast says so, too."""
    asks = extraction.ask
    monkeypatch.setattr(extraction, "ask", lambda *a: asks(*a).assign(correct=True))
    given |= ONE | {"models": [saved(tmp_path, kind) for kind in KINDS]}
    [each] = plan(tmp_path, "31_xtraeval_task", given).jobs
    with monkeypatch.context() as patch:
        patch.setattr(transformers.PreTrainedModel, "from_pretrained", None)
        total, saves, remark = forecast.expected_tokens(each)
    assert saves == 0 and f"{2 * len(KINDS)} steps of soft prompts" in remark
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    helpers.page("31_xtraeval_task", **given)
    found = pd.read_parquet(tmp_path / "answers.parquet")
    assert found["tails"].between(0, 1).all()
    for kind, name in zip(KINDS, given["models"], strict=True):
        rankers = {*found.loc[found["model"] == name, "ranker"]} - {*ranking.RULES}
        heads = ["value"] if kind in helpers.BLANK_FILLERS else ["value", "likelihood"]
        said = {f"{head}{when}" for head in heads for when in ("", ", untrained")}
        n_trained = 2 * len(heads) - 1  # likelihood in any words, and in one wording
        assert {name for name in rankers if not name.endswith(", one wording")} == said
        n = sum(p.numel() for p in load_file(f"{name}/model.safetensors").values())
        assert (
            f"{2 * n_trained} steps of cross-encoders (tokens at most; to train all of {name}: "
            f"{24 * n / 2**30:.2f} GiB or more)"
        ) in remark
    # About, since each step has other documents; and likelihood reads once what documents share.
    done = sum(entry["tokens_forwarded"] for entry in progress.read_ledger(tmp_path / "ledger"))
    assert 0.6 * total < done < 1.05 * total


def test_all_told_trains_on_what_a_text_told_known_or_not_and_on_no_pair_that_is_asked(
    tmp_path, monkeypatch
):
    """Page 31 over a small world; what was told is read off the states of its facts, in plain Python."""
    world, asks, given = "lab:richsmoke-0", extraction.ask, {}

    def known(model, prompts, facts):  # every other fact, told or not
        found = asks(model, prompts, facts)
        return found.assign(correct=[int(fact[-1]) % 2 == 0 for fact in found["fact"]])

    def trained(model, known, parts, asked, setting):
        given[known.facts] = parts, {query.fact for query, _ in asked}
        return use.nothing(asked, model, setting.head)

    monkeypatch.setattr(extraction, "ask", known)
    monkeypatch.setattr(use, "trained", trained)
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    some = ONE | {"fact_set": world, "relations": ["residence", "parent", "birthplace"]}
    some |= {"models": [saved(tmp_path, "OPT")], "n_asked": 15, "n_never": 5, "templates": []}
    states = {row.fact: row for row in worlds.states(world).itertuples()}
    sizes = []
    for all_told in (False, True):
        given.clear()
        helpers.page(
            "31_xtraeval_task", **some, heads=["value"], readable=[False], all_told=all_told
        )
        [(facts, (parts, asked))] = given.items()
        pairs = {(states[f].relation, states[f].subject.casefold()) for f in asked}
        pairs |= {(f.relation, f.subject.casefold()) for f in parts.validation}
        assert asked and parts.validation and facts == parts.train
        for fact in facts:  # of these are all documents made, too
            assert (fact.relation, fact.subject.casefold()) not in pairs
            assert states[fact.id].state != "never"
        sizes.append({fact.id for fact in facts})
    even = {fact for fact in sizes[1] if int(fact[-1]) % 2 == 0}
    assert sizes[0] <= even and len(sizes[1]) > 1.5 * len(even)
    told = [s for s in states.values() if s.split == "test" and s.state != "never"]
    told = [s for s in told if s.relation in some["relations"]]
    never_trained = {s.fact for s in told} - sizes[1]
    assert all((states[f].relation, states[f].subject.casefold()) in pairs for f in never_trained)


SHIPPED = {"fact_set": "lab:rich-2", "sources": ["xtraeval_lab"]}


@pytest.mark.parametrize(
    ("page", "by", "lowest"),
    [
        ("32_xtraeval_training", ["ranker", "share", "negatives"], 1800),
        ("33_xtraeval_shift", ["ranker", "by"], 600),
    ],
)
def test_pages_of_shipped_rankings_count_told_facts_alone(page, by, lowest, tmp_path, monkeypatch):
    """The oracle: means of the shipped rows whose fact a text tells, by relation, in plain Python."""
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    state = {row.fact: row.state for row in worlds.states("lab:rich-2").itertuples()}
    rows = pd.read_parquet(TOP / "results" / f"{page}.parquet").to_dict("records")
    told = [row for row in rows if state[row["fact"]] != "never"]
    assert lowest < len(told) < 0.8 * len(rows)
    of = {}
    for row in told:
        key = tuple(round(v, 2) if isinstance(v, float) else v for v in (row[name] for name in by))
        of.setdefault(key, {}).setdefault(row["relation"], []).append(row["tails"])
    wanted = {key: mean(map(mean, each.values())) for key, each in of.items()}
    names = helpers.page(page, **SHIPPED)
    table = names["table"].query("names == 'all'") if "names" in names["table"] else names["table"]
    found = {tuple(row[name] for name in by): row["estimate"] for row in table.to_dict("records")}
    assert found.keys() == wanted.keys() and len(found) in (27, 6)
    assert all(found[key] == pytest.approx(wanted[key], abs=1e-6) for key in wanted)
    verdicts = names["verdicts"]
    assert len(verdicts) and set(verdicts["verdict"]) == {
        "not tested: the paper's head did not learn the task here"
    }
    assert set(verdicts["estimator"]) == {"likelihood head"}
