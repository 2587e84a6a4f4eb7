"""The params files: each can be read, and together they run every notebook."""

import functools
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from own import PAGES, profiles

from lkecore import hub
from lkecore.book import build
from lkecore.facts import nobel
from lkecore.runs import plan

TOP = Path(__file__).resolve().parent.parent
FILES = profiles()


@pytest.fixture(scope="module")
def with_facts(tmp_path_factory):
    """Fact sets that the project may not hold, in the folder for one's own: here one of each relation."""
    top = tmp_path_factory.mktemp("own")
    of_table_5 = [31, 36, 37, 103, 136, 138, 176, 178, 264, 364, 413, 449]
    named = {f"kamel/P{number}" for number in of_table_5}
    for profile in ("trex", "entropy_trex", "groups_trex"):
        [row] = yaml.safe_load((TOP / "sources" / f"{profile}.yaml").read_text())["runs"]
        named |= {f"trex/{name}" for name in row["parameters"]["relations"]}
    for name in sorted(named):
        relation = top / "data" / name / "test.jsonl"
        relation.parent.mkdir(parents=True)
        relation.write_text('{"sub_label": "France", "obj_label": "Paris"}\n', encoding="utf-8")
    nobel_table = top / "data" / "nobel" / "laureates.tsv"
    nobel_table.parent.mkdir()
    curie = {"id": "6", "name": "Marie Curie", "birth_year": "1867", "award_years": "1903"}
    rows = [nobel.COLUMNS, [curie.get(column, "") for column in nobel.COLUMNS]]
    nobel_table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return top


@pytest.fixture
def own_facts(with_facts, monkeypatch):
    table = with_facts / "data" / "nobel" / "laureates.tsv"
    monkeypatch.setattr(nobel, "table_path", lambda: table)  # as tools/laureates.py makes it
    monkeypatch.chdir(with_facts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_params_file_passes_the_checks_at_the_door_without_a_network(path, own_facts):
    assert plan.read_plan(path).profile == path.stem


def test_every_file_of_params_stands_in_the_readers_table_and_every_source_says_what_stands_on_it():
    """The oracle is the files: their names, and which sources a page of the book reads."""
    text = (TOP / "book" / "batches.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `(\w+)` \| .+ \|$", text, re.M)
    assert sorted(names) == [path.stem for path in FILES if path.parent.name == "params"]
    text = (TOP / "results" / "README.md").read_text(encoding="utf-8")
    where = re.findall(r"^\| `(\d.+)` .*\| (.+) \| .+ \|$", text, re.M)
    made = pd.read_csv(TOP / "results" / "made_by.csv")
    for experiment, source in made[["experiment", "source"]].drop_duplicates().to_numpy():
        [said] = [sources for names, sources in where if experiment in names]
        assert re.search(rf"\b{source}\b", said), (experiment, source)


@functools.cache
def rows_of(profile):
    """The rows of a profile that needs no facts of one's own."""
    return plan.read_plan(TOP / "params" / f"{profile}.yaml").rows


@pytest.mark.parametrize("profile", ["smoke", "book", "full"])
def test_smoke_book_and_full_run_every_page_of_the_book_once(profile):
    names = [row.whole.notebook.stem for row in rows_of(profile)]
    assert sorted(name for name in names if name in PAGES) == sorted(PAGES)


def test_the_smoke_profile_needs_the_smallest_models_alone_and_has_a_page_over_several_runs():
    smallest = {f"lab:smoke-1/{name}" for name in ("0.15m", "0.15m-unplanted", "bert", "t5")}
    smallest |= {"lab:richsmoke-1/0.15m", "lab:rich-1/0.7m"}  # the weights of the second ship
    for job in [job for row in rows_of("smoke") for job in row.jobs]:
        named = {job.effective.get("model"), *job.effective.get("models", [])} - {None}
        assert named <= {"toy", *smallest}, job.label
    assert any(row.has_page for row in rows_of("smoke"))


def test_the_papers_profile_names_the_papers_models():
    """The oracle is the paper's own table of models."""
    table = TOP / "lkecore" / "data" / "papers" / "iclke_table6_model_names.csv"
    published = set(pd.read_csv(table)["hf_id"])
    rows = yaml.safe_load((TOP / "params" / "iclke_paper.yaml").read_text())["runs"]
    named = {m for row in rows for m in row.get("parameters", {}).get("models", [])}
    assert named <= published
    [relations] = [row for row in rows if row["notebook"] == "10_iclke_relations"]
    assert set(relations["parameters"]["models"]) == published


def test_the_papers_profile_asks_eic_lke_of_the_34_models_of_figure_13(own_facts):
    """IC-F13: all pre-trained models of the paper's table but GPT-NeoX, whose window is too short."""
    table = pd.read_csv(TOP / "lkecore" / "data" / "papers" / "iclke_table6_model_names.csv")
    published = set(table.loc[table["is_finetuned"] == "no", "hf_id"])
    rows = plan.read_plan(TOP / "params" / "iclke_paper.yaml").rows
    [asked] = [row.whole.effective for row in rows if row.whole.notebook.stem == "16_iclke_size"]
    after = {name for _, name in asked["tuned"]}
    assert set(asked["models"]) - after == published - {"EleutherAI/gpt-neox-20b"}
    assert len(published) == 35 and len(after) == 14
    assert "eiclke" in asked["estimators"] and asked["relations"] == []


def test_the_papers_profile_names_relations_that_its_facts_have(own_facts):
    """T-REx-MC has the names of the paper's Table 3; the door cannot look before it is fetched."""
    table = TOP / "lkecore" / "data" / "papers" / "iclke_table3_relations.csv"
    published, named = set(pd.read_csv(table)["relation"]), set()
    for profile in ("iclke_paper", "iclke_small"):
        for row in plan.read_plan(TOP / "params" / f"{profile}.yaml").rows:
            if row.whole.effective.get("fact_set") == "hub:QinyuanWu/T-Rex-MC":
                named |= set(row.whole.effective.get("relations", []))
    assert len(named) == 12 and named <= published


def test_no_revision_of_a_model_is_typed_in():
    """`lke models lock` writes them on a machine with a network; until then there are none."""
    for name, row in hub.read_lock(TOP / "params" / "models.lock").items():
        assert hub.SHA.fullmatch(row.revision), name


def test_what_ships_of_a_page_of_the_book_is_found_by_its_table_of_what_is_covered():
    of = {row.whole.notebook.stem: row.whole for row in rows_of("book")}
    assert all(build._shipped(of[name]) for name in ("40_belief_wording", "52_lab_kinds"))
