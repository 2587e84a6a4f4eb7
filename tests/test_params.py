"""The params files: each can be read, and together they run every notebook."""

import functools
from pathlib import Path

import pandas as pd
import pytest
import yaml
from own import PAGES, profiles

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


@functools.cache
def rows_of(profile):
    """The rows of a profile that needs no facts of one's own."""
    return plan.read_plan(TOP / "params" / f"{profile}.yaml").rows


@pytest.mark.parametrize("profile", ["smoke", "book", "full"])
def test_smoke_book_and_full_run_every_page_of_the_book_once(profile):
    names = [row.whole.notebook.stem for row in rows_of(profile)]
    assert sorted(name for name in names if name in PAGES) == sorted(PAGES)


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


def test_what_ships_of_a_page_of_the_book_is_found_by_its_table_of_what_is_covered():
    of = {row.whole.notebook.stem: row.whole for row in rows_of("book")}
    assert all(build._shipped(of[name]) for name in ("40_belief_wording", "52_lab_kinds"))
