"""Names for people: everything that ships has one, and its numbers are those of the answers."""

import re

import pandas as pd
import pyarrow.parquet as pq
import pytest

from lkecore import figures
from lkecore.models.embedded import CATALOGUE
from lkecore.stats.rules import RULES
from lkecore.storage import RESULTS

FILES = [f for f in sorted(RESULTS.rglob("*.parquet")) if not f.stem.endswith("-check")]


@pytest.fixture(scope="module")
def there() -> pd.DataFrame:
    """(experiment, source, model, relation, estimator) of all answers that ship, each once."""
    parts = []
    for file in FILES:
        names = ("source", "model", "relation", "estimator")
        columns = [name for name in names if name in pq.read_schema(file).names]
        part = pd.read_parquet(file, columns=columns)
        part = part.assign(experiment=file.stem.split("-")[0]).drop_duplicates().astype(str)
        parts.append(part if "source" in part else part.assign(source=file.parent.name))
    return pd.concat(parts, ignore_index=True)


def test_every_source_and_model_of_the_results_and_every_embedded_model_has_a_name(there):
    models = {m for m in there["model"].dropna() if m not in ("causal", "masked", "seq2seq", "nan")}
    assert len(models) > 50 and there["source"].nunique() > 20
    for name in [*there["source"].unique(), *models, *CATALOGUE]:
        assert figures.display_name(name) != name, name


def test_sources_of_one_experiment_and_models_do_not_share_a_name(there):
    for _, part in there.groupby("experiment"):
        for column in ("source", "model"):
            names = part[column].dropna().unique()
            assert len({figures.display_name(name) for name in names}) == len(names), names


def test_number_of_relations_in_a_name_is_that_of_the_answers(there):
    told = there.dropna(subset="relation").groupby(["source", "experiment"])["relation"]
    most = told.nunique().groupby("source").max()
    checked = 0
    for source, n in most.items():
        if found := re.search(r"(\d+) relations", figures.display_name(source)):
            assert int(found[1]) == n, source
            checked += 1
    assert checked > 12


def test_every_estimator_that_ships_and_every_rule_has_a_name_of_its_own(there):
    every = {*RULES, *there["estimator"].dropna()}
    codes = {name for name in every if re.fullmatch(r"[a-z]+(-[a-z]+)*(-\d+)?", name)} - {"nan"}
    assert {"iclke-space", "iclke-mmp-3", "eiclke", "template-21", "rule-both"} <= codes
    names = [figures.display_name(name) for name in sorted(codes)]
    assert len(set(names)) == len(codes) and codes.isdisjoint(names)


def test_names_of_the_lab_follow_a_rule_and_unknown_ones_stay():
    assert figures.display_name("lab:rich-1/0.7m@3-unplanted") == (
        "lab model 0.7M, world 1, training 3, unplanted"
    )
    assert figures.display_name("lab:book-1/2m-tuned") == "lab model 2M, plain world 1, tuned"
    assert figures.display_name("lab:smoke-1/t5") == "lab T5, smoke world 1"
    for unknown in ("lab:rich-1/9m", "EleutherAI/pythia-70m", "./my model"):
        assert figures.display_name(unknown) == unknown
