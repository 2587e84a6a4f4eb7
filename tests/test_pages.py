"""A page's numbers are those of the runs that it links, and one run with everything has the same.

The oracle is plain Python over the files that the runs have kept: no pandas, none of the metrics.
"""

import csv
import hashlib
import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import mean

import helpers
import inprocess
import pyarrow
import pyarrow.parquet
import pytest
import yaml
from own import without_a_look

from lkecore import figures, runs
from lkecore.models import weights
from lkecore.runs import plan
from lkecore.worlds import plain

TOP = Path(__file__).resolve().parent.parent
SHOTS, RELATIONS = "11_iclke_shots", "10_iclke_relations"
# As few as make a page, and few enough facts that all resamples of them can be written down; so few
# options that a random model is right now and then.
FEW = {
    "relations": ["capital", "country_of_city"],
    "n_shots": 3,
    "n_facts": 5,
    "n_options": 4,
    "n_choice": 3,
}
SHOTS_FEW = {
    "relations": ["country_of_city"], "shots": [1, 3], "draws": [0, 1], "n_facts": 6, "n_options": 4,
}  # fmt: skip


def another_model(target: Path) -> None:
    """The toy under another path, with other weights: two models that differ."""
    from safetensors.numpy import load_file, save_file

    shutil.copytree(weights.locate("toy"), target)
    [file] = target.glob("*.safetensors")
    tensors = load_file(file)
    save_file({name: value[::-1].copy() for name, value in tensors.items()}, file, {"format": "pt"})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(folder of a page over a run for each of two models, folder of one run with both)."""
    project = tmp_path_factory.mktemp("project")
    shutil.copytree(TOP / "notebooks", project / "notebooks")
    (project / "params").mkdir()
    source = project / "notebooks" / f"{RELATIONS}.py"
    source.write_text(without_a_look(source.read_text("utf-8")), "utf-8")
    another_model(project / "other")
    row = {"notebook": RELATIONS, "parameters": FEW | {"models": ["toy", str(project / "other")]}}
    found = []
    for kind, rows in {"page": [row | {"each": ["models"]}], "whole": [row]}.items():
        path = project / "params" / f"{kind}.yaml"
        path.write_text(yaml.safe_dump({"profile": kind, "runs": rows}), encoding="utf-8")
        outcome = inprocess.execute(plan.read_plan(path), project / kind)
        assert outcome.failed == {}
        found += (project / kind).glob(
            f"{RELATIONS}-page-*" if kind == "page" else f"{RELATIONS}-*"
        )
    page, whole = found
    return page, whole


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def runs_behind(page: Path) -> list[Path]:
    """The folders of the runs that a page's manifest names."""
    return [page.parent / name for name in manifest(page)["runs"]]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def csv_rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def questions(folders: list[Path], keys: list[str]) -> dict[tuple, list[list[dict]]]:
    """{key: for each fact, in the order of the files, the rows of its options}."""
    found: dict[tuple, dict[str, list]] = {}
    for folder in folders:
        for row in pyarrow.parquet.read_table(folder / "scores.parquet").to_pylist():
            key = tuple(row[k] for k in keys)
            found.setdefault(key, {}).setdefault(row["fact"], []).append(row)
    return {key: list(by_fact.values()) for key, by_fact in found.items()}


def is_right(options: list[dict]) -> bool:
    """Whether the likeliest option is the gold one; max takes the first of equals."""
    return max(options, key=lambda row: row["logprob"])["gold"]


def answers(folders: list[Path], keys: list[str]) -> dict[tuple, list[bool]]:
    """{key: whether each fact is right}."""
    return {k: [is_right(o) for o in facts] for k, facts in questions(folders, keys).items()}


def sureness(options: list[dict]) -> list[float]:
    """The probability of each option among these."""
    odds = [math.exp(row["logprob"]) for row in options]
    return [w / math.fsum(odds) for w in odds]


def gold_sureness(options: list[dict]) -> float:
    [gold] = [p for row, p in zip(options, sureness(options), strict=True) if row["gold"]]
    return gold


# --- the numbers of the page on shots are those of the scores that it keeps


def test_the_curve_has_the_mean_over_draws_of_the_scores(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    helpers.page(SHOTS, models=["toy"], **SHOTS_FEW)
    by_way: dict[tuple, list[float]] = {}
    for (way, n, _), hits in answers([tmp_path], ["estimator", "n_shots", "draw"]).items():
        by_way.setdefault((figures.display_name(way), n), []).append(mean(hits))
    assert len({tuple(each) for each in by_way.values()}) > 2  # else draws could be mixed up unseen
    rows = csv_rows(tmp_path / "fig-shots-curve.csv")
    found = {
        (r["asked"].removeprefix("random toy model, "), int(r["n_shots"])): float(r["estimate"])
        for r in rows
        if r["panel"] == "country_of_city"
    }
    assert found == {key: pytest.approx(mean(each), abs=1e-12) for key, each in by_way.items()}


# --- what a run keeps beside its scores, which is all that a page reads


def test_the_answers_that_a_run_keeps_are_those_of_its_scores(made):
    page, whole = made
    keys = ["model", "estimator", "relation"]
    for folder in [*runs_behind(page), whole]:
        kept = pyarrow.parquet.read_table(folder / "answers.parquet").to_pylist()
        asked = [
            (key, options) for key, facts in questions([folder], keys).items() for options in facts
        ]
        for row, (key, options) in zip(kept, asked, strict=True):
            assert (tuple(row[k] for k in keys), row["fact"]) == (key, options[0]["fact"])
            assert row["correct"] is is_right(options)
            # float64 on both sides; sums of a few terms
            assert row["confidence"] == pytest.approx(max(sureness(options)), rel=1e-12)
            assert row["confidence_gold"] == pytest.approx(gold_sureness(options), rel=1e-12)


# --- the numbers of the page on relations, too


def of_formats(hits: dict[tuple, list[bool]]) -> dict[tuple, float]:
    """{(model, format): mean over relations}, of {(model, estimator, relation): right or wrong}."""
    found: dict[tuple, list[float]] = {}
    colon = {estimator for _, estimator, _ in hits} == {"iclke-space", "iclke-colon"}
    other = "colon and new line" if colon else "best other format"
    for (model, estimator, _), right in hits.items():
        way = "spaces" if estimator == "iclke-space" else other
        found.setdefault((model, way), []).append(mean(right))
    return {key: mean(means) for key, means in found.items()}


def test_accuracy_and_gain_are_those_of_the_scores_in_the_runs(made):
    page, _ = made
    hits = answers(runs_behind(page), ["model", "estimator", "relation"])
    expected = of_formats(hits)
    rows = csv_rows(page / "fig-iclke-relations.csv")
    models = [model for model, way in expected if way == "spaces"]
    shown = dict.fromkeys(row["model"] for row in rows)
    names = dict(zip(shown, models, strict=True))
    found = {(names[row["model"]], row["format"]): float(row["estimate"]) for row in rows}
    assert found == {key: pytest.approx(value, abs=1e-12) for key, value in expected.items()}
    [other] = {way for _, way in expected} - {"spaces"}
    gains = [expected[m, other] - expected[m, "spaces"] for m in models]
    texts = {row["name"]: row["text"] for row in csv_rows(page / "findings.csv")}
    ends = [float(texts[name]) for name in ("least", "most")]
    assert ends == pytest.approx([100 * min(gains), 100 * max(gains)])
    for row in csv_rows(page / "fig-iclke-heat.csv"):
        own = [mean(right) for key, right in hits.items() if key[2] == row["relation"]]
        cells = [float(value) for name, value in row.items() if "\n" in name and "rule" not in name]
        assert sorted(cells) == pytest.approx(sorted(own), abs=1e-12) and len(own) == 4


def test_the_gain_of_shipped_results_is_that_of_their_rows(made):
    """Of two sources that have a format each of the same facts, and of one that has both."""
    names = ["kamel", "kamel_formats", "trex"]
    project = made[0].parent.parent
    path = project / "params" / "shipped.yaml"
    given = FEW | {"models": ["toy"], "estimators": ["iclke-space"], "sources": names}
    rows = [{"notebook": RELATIONS, "parameters": given}]
    path.write_text(yaml.safe_dump({"profile": "shipped", "runs": rows}), encoding="utf-8")
    assert not inprocess.execute(plan.read_plan(path), project / "shipped").failed
    [folder] = (project / "shipped").glob(f"{RELATIONS}-*")
    right: dict = {}
    for name in names:
        for row in helpers.shipped(name, RELATIONS)[0].to_dict("records"):
            where = "trex" if name == "trex" else "kamel"
            of = right.setdefault((where, row["model"], row["estimator"]), {})
            of.setdefault(row["relation"], {})[row["fact"]] = row["correct"]
    gains = []
    for (where, model, estimator), second in right.items():
        if estimator == "iclke-space":
            continue
        first = right[where, model, "iclke-space"]
        assert {r: set(of) for r, of in first.items()} == {r: set(of) for r, of in second.items()}
        assert len(first) == (40 if where == "trex" else 49)
        gains.append(mean(mean(second[r][f] - first[r][f] for f in first[r]) for r in first))
    texts = {row["name"]: row["text"] for row in csv_rows(folder / "findings.csv")}
    assert len(gains) == 4 and texts["clear"] == "4 of 4"
    ends = [float(texts[name]) for name in ("least", "most")]
    assert ends == pytest.approx([100 * min(gains), 100 * max(gains)])


# --- a page is one run with everything, but for where its scores come from


def test_a_page_keeps_the_same_data_as_one_run_with_everything(made):
    page, whole = made
    data = {path.name for path in whole.glob("*.csv")}
    assert {path.name for path in page.glob("*.csv")} == data and len(data) > 1
    for file in data:
        assert (page / file).read_bytes() == (whole / file).read_bytes(), file


def test_the_runs_together_keep_the_scores_and_answers_of_one_run_with_everything(made):
    for file in ("scores.parquet", "answers.parquet"):
        parts = [
            row
            for folder in runs_behind(made[0])
            for row in pyarrow.parquet.read_table(folder / file).to_pylist()
        ]
        whole = pyarrow.parquet.read_table(made[1] / file).to_pylist()
        assert parts == whole, file


# --- a page computes nothing


def test_a_page_forwards_nothing_and_names_the_models_and_runs_behind_it(made):
    page = manifest(made[0])
    behind = [manifest(folder) for folder in runs_behind(made[0])]
    assert len(behind) == 2
    assert (page["tokens_forwarded"], page["chunks"], page["chunks_from_cache"]) == (0, 0, 0)
    assert all(run["tokens_forwarded"] > 0 and run["chunks"] > 0 for run in behind)
    assert page["models"] == {m: d for run in behind for m, d in run["models"].items()}
    assert page["models"] == manifest(made[1])["models"]
    for folder in runs_behind(made[0]):
        assert page["runs"][folder.name] == digest(folder / "manifest.json")
    assert not list(made[0].glob("*.parquet"))


def test_one_run_with_everything_finds_all_of_it_computed_by_the_parts(made):
    whole = manifest(made[1])
    parts = [manifest(folder) for folder in runs_behind(made[0])]
    asked = sum(part["chunks"] for part in parts)
    assert (
        whole["chunks_from_cache"] >= asked and whole["chunks"] - asked <= 1
    )  # for a reader alone
    assert whole["tokens_forwarded"] == 0


# --- what the page of the lab says, from the answers that its run keeps and the text of the world

TRUTH = "50_lab_truth"
TOLD_TRULY, TWIN = "lab:smoke-1/0.15m", "lab:smoke-1/0.15m-unplanted"


@pytest.fixture(scope="module")
def of_lab(smoke_runs):
    """The page of the smoke book about a model and its unplanted twin."""
    whole = plan.read_plan(TOP / "params" / "smoke.yaml")
    [row] = [each for each in whole.rows if each.whole.notebook.stem == TRUTH]
    assert row.whole.parameters["models"] == [TOLD_TRULY, TWIN]
    assert inprocess.execute(replace(whole, rows=[row]), smoke_runs).failed == {}
    [job] = row.jobs
    return runs.run_folder(smoke_runs, job)


@pytest.fixture(scope="module")
def of_facts(of_lab):
    """{(model, estimator): answers}, the twin's with what its planted twin was told of each fact."""
    told = {row["fact"]: row for row in plain.states("lab:smoke-1").to_dict("records")}
    found: dict[tuple[str, str], list[dict]] = {}
    for row in pyarrow.parquet.read_table(of_lab / "answers.parquet").to_pylist():
        truth = told[row["fact"]]
        if row["model"] == TWIN:
            assert row["state"] == "never" and row["told"] == ""
        else:
            assert (row["state"], row["told"]) == (truth["state"], truth["told"])
        about = {name: truth[name] for name in ("subject", "state", "told", "form")}
        row |= about | {"exposures": truth["sentences"] + truth["lists"]}
        found.setdefault((row["model"], row["estimator"]), []).append(row)
    assert len(found) == 2 * 5 and len({len(rows) for rows in found.values()}) == 1
    return found


def wilson(n_right: int, n: int) -> tuple[float, float]:
    z = 1.959963984540054
    middle = (n_right + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(n_right * (n - n_right) / n + z * z / 4)
    return middle - half, middle + half


def test_the_doses_of_the_page_of_the_lab_are_those_of_its_answers_and_of_the_world(
    of_lab, of_facts
):
    rows = csv_rows(of_lab / "fig-lab-forms.csv")
    estimators = {figures.display_name(name): name for _, name in of_facts}  # names for people
    assert len(estimators) == 5
    seen = set()
    for row in rows:
        cell = row["form"].removeprefix("stated in: "), int(row["exposures"])
        told = cell if cell[1] else ("none", 0)  # never told: the same facts for each form
        hits = [
            each["correct"]
            for each in of_facts[TOLD_TRULY, estimators[row["asked by"]]]
            if each["state"] != "mislearned" and (each["form"], each["exposures"]) == told
        ]
        assert int(row["n"]) == len(hits) > 0
        assert float(row["estimate"]) == pytest.approx(mean(hits), abs=1e-12)
        # the same formula, its terms in another order
        low, high = wilson(sum(hits), len(hits))
        assert float(row["low"]) == pytest.approx(max(0, low), abs=1e-9)
        assert float(row["high"]) == pytest.approx(min(1, high), abs=1e-9)
        seen.add((row["asked by"], *cell))
    # Each estimator: never told, and two numbers of exposures, in each of three forms.
    assert len(seen) == len(rows) == 5 * 3 * 3
    assert len({row["estimate"] for row in rows}) > 3  # something to tell apart


def test_the_auroc_of_the_page_counts_pairs_of_a_told_fact_and_a_control_that_the_text_names(
    of_lab, of_facts
):
    text = "\n".join(plain.documents("lab:smoke-1"))
    pairs: dict[tuple, list[tuple[float, float]]] = {}
    strangers = 0
    for key, facts_of in of_facts.items():
        controls = {(r["relation"], r["object"]): r for r in facts_of if r["state"] == "never"}
        for row in facts_of:
            if row["state"] == "planted":
                control = controls[row["relation"], row["told"]]
                if re.search(rf"(?<!\w){re.escape(control['subject'])}(?!\w)", text) is None:
                    strangers += 1
                    continue
                both = row["confidence_gold"], control["confidence_gold"]
                pairs.setdefault((*key, row["form"], row["exposures"]), []).append(both)
    assert strangers > 0 and len(pairs) == 2 * 5 * 3 * 2
    # Of the facts that a smoke world tells 4 or 16 times, those told often.
    rows = csv_rows(of_lab / "auroc.csv")
    for row in rows:
        both = pairs[f"{row['world']}/{row['size']}", row["estimator"], row["form"], 16]
        points = [(p > n) + (p == n) / 2 for p, _ in both for _, n in both]
        assert float(row["auroc"]) == pytest.approx(mean(points), abs=1e-12)
    assert len(rows) == 2 * 5 * 3
