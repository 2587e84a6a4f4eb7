"""XTRAEVAL with the paper's kinds of models, random, from folders, and what its dry run says without them."""

from pathlib import Path
from statistics import mean

import helpers
import pandas as pd
import pytest
import transformers
from safetensors.torch import load_file
from test_runs_forecast import plan

from lkecore import papers, progress, worlds
from lkecore.models import catalogue
from lkecore.runs import forecast
from lkecore.runs import plan as plans
from lkecore.tasks import extraction, ranking, use

TOP = Path(__file__).resolve().parent.parent
NAMES = "Ann Ben Cid Dan Eva Fay Gus Hal Ivy Jan Kim Leo".split()
TAILS = {"home": ["Paris", "Rome", "Madrid"], "tongue": ["Ido", "Uru", "Ede"]}
EXTRACTED = "metric == 'knowledge_extraction_accuracy'"
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


# --- the paper's grid -----------------------------------------------------------------------------


@pytest.fixture
def facts_of_trex(tmp_path, monkeypatch):
    """Two of the relations, of 24 facts each, where the paper's would be."""
    for relation, tails in {"P36": TAILS["home"], "P103": TAILS["tongue"]}.items():
        (tmp_path / "data" / "trex" / relation).mkdir(parents=True)
        for split, ending in (("train", "a"), ("test", "o")):
            put(tmp_path / "data" / "trex" / relation / f"{split}.jsonl", ending, tails)
    monkeypatch.chdir(tmp_path)


def test_the_papers_grid_has_its_models_rates_batches_and_epochs_and_its_dry_run_needs_none_of_them(
    facts_of_trex, tmp_path
):
    """The oracles are the paper's tables (A.1 to A.3, B.5, B.10), and the models listed as its own."""
    rows = [
        row
        for name in ("xtraeval_paper", "xtraeval_paper_large")
        for row in plans.read_plan(TOP / "params" / f"{name}.yaml").rows
    ]
    listed = catalogue.papers_models().set_index("hub_id")
    listed = listed[listed["papers"].str.split(";").map(lambda some: "XT" in some)]["name"]
    printed = papers.table("xtra_hyperparameters").set_index(["model", "stage", "parameter"])[
        "value"
    ]
    base = papers.table("xtra_tableB5_iid").query(EXTRACTED).set_index("model")["mean"]
    sizes = papers.table("xtra_tableB10_scaling").query(EXTRACTED)
    known = base.set_axis([f"{name.lower()}-" for name in base.index]).to_dict()
    known |= {f"{r.family}-{r.params}".lower(): r.mean for r in sizes.itertuples(index=False)}
    asked = {"30_xtraeval_extraction": [], "31_xtraeval_task": []}
    for row in rows:
        given, page = row.whole.effective, row.whole.notebook.stem
        asked[page] += given["models"]
        for name in given["models"]:
            label = listed[name].lower()
            model = "all" if (own := listed[name].replace("Llama", "LLaMa")) not in printed else own
            batches = [
                int(printed.get((model, stage, "batch_size"), usual))
                for stage, usual in (("knowledge_extraction", 64), ("downstream_finetuning", 32))
            ]
            how = "prompt_" * (page[:2] == "31")
            learned = [given[f"{how}{key}"] for key in ("rate", "batch", "steps")]
            assert learned == [1e-4, batches[0], round(20 * 29_029 / batches[0])], name
            if how:
                assert (given["value_rate"], given["batch"], given["each"]) == (1e-5, batches[1], 4)
                share = known.get(label) or known[label.split("-base")[0].split("-125m")[0] + "-"]
                epoch = share * 34_039 * 0.6 * 0.9 / batches[1]
                assert given["value_steps"] / epoch == pytest.approx(20, rel=0.25), name
    assert all(sorted(models) == sorted(listed.index) for models in asked.values())
    jobs = [job for row in rows for job in row.jobs if row.whole.notebook.stem[:2] == "31"]
    assert all(len(j.effective["models"]) == len(j.effective["extractions"]) == 1 for j in jobs)
    assert len(jobs) == 7 * 3 + 4 * 2
    [job, _] = [job for job in jobs if job.effective["models"] == ["facebook/opt-13b"]]
    said = forecast.cost(job, tmp_path)["remark"]
    # Two relations; six times four bytes for each of 13 billion parameters.
    assert "to train all of facebook/opt-13b: 290.57 GiB or more" in said
    assert f"{4536:,} steps of soft prompts" in said and f"{2 * 3513:,} steps of cross" in said
    assert "facebook/opt-13b not here: tokens counted with the toy's tokenizer" in said
