"""A page's numbers are those of the runs that it links, and one run with everything has the same.

The oracle is plain Python over the files that the runs have kept: no pandas, none of the metrics.
"""

import csv
import hashlib
import itertools
import json
import math
import re
import shutil
from pathlib import Path
from statistics import mean

import helpers
import inprocess
import nbformat
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
    SHOTS: {
        "relations": ["country_of_city"],
        "shots": [1, 3, 6],
        "draws": [0, 1],
        "n_facts": 6,
        "n_options": 4,
    },
    RELATIONS: {
        "relations": ["capital", "country_of_city"],
        "n_shots": 3,
        "n_facts": 5,
        "n_options": 4,
        "n_choice": 3,
    },
}
EACH = {SHOTS: ["models", "draws"], RELATIONS: ["models"]}


def another_model(target: Path) -> None:
    """The toy under another path, with other weights: two models that differ."""
    from safetensors.numpy import load_file, save_file

    shutil.copytree(weights.locate("toy"), target)
    [file] = target.glob("*.safetensors")
    tensors = load_file(file)
    save_file({name: value[::-1].copy() for name, value in tensors.items()}, file, {"format": "pt"})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """{(notebook, "page" or "whole"): folder}: a page over several runs, and one run with all."""
    project = tmp_path_factory.mktemp("project")
    shutil.copytree(TOP / "notebooks", project / "notebooks")
    (project / "params").mkdir()
    for path in (project / "notebooks" / f"{name}.py" for name in FEW):
        path.write_text(without_a_look(path.read_text("utf-8")), "utf-8")
    another_model(project / "other")
    models = {SHOTS: ["toy"], RELATIONS: ["toy", str(project / "other")]}
    folders = {}
    for kind in ("page", "whole"):
        rows = [
            {"notebook": name, "parameters": FEW[name] | {"models": models[name]}}
            | ({"each": EACH[name]} if kind == "page" else {})
            for name in FEW
        ]
        path = project / "params" / f"{kind}.yaml"
        path.write_text(yaml.safe_dump({"profile": kind, "runs": rows}), encoding="utf-8")
        target = project / kind
        outcome = inprocess.execute(plan.read_plan(path), target)
        assert outcome.failed == {}
        for name in FEW:
            here = [f for f in target.glob(f"{name}-*") if ("-page-" in f.name) == (kind == "page")]
            [folders[name, kind]] = here
    return folders


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def runs_behind(page: Path) -> list[Path]:
    """The folders of the runs that a page's manifest names."""
    return [page.parent / name for name in manifest(page)["runs"]]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def cells(folder: Path) -> list:
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def csv_rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+\.?\d*", text)]


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


@pytest.fixture(scope="module")
def right(made):
    """{(estimator, shots, draw): whether each fact is right} from the runs behind the page on shots."""
    found = answers(runs_behind(made[SHOTS, "page"]), ["model", "estimator", "n_shots", "draw"])
    assert {model for model, *_ in found} == {"toy"}
    return {key[1:]: hits for key, hits in found.items()}


ESTIMATORS, NUMBERS, TRIED = (
    ["iclke-space", "iclke-colon"],
    FEW[SHOTS]["shots"],
    FEW[SHOTS]["draws"],
)
POINTS = list(itertools.product(ESTIMATORS, NUMBERS))


def by_draw(right, label, n) -> list[float]:
    return [mean(right[label, n, draw]) for draw in TRIED]


# --- the numbers of the page on shots are a query of its runs


def test_the_runs_hold_every_question_once_and_something_to_tell_apart(made, right):
    assert len(runs_behind(made[SHOTS, "page"])) == 2
    assert set(right) == set(itertools.product(ESTIMATORS, NUMBERS, TRIED))
    assert {len(hits) for hits in right.values()} == {FEW[SHOTS]["n_facts"]}
    # Else a page that mixed up draws or numbers of shots would pass unseen.
    assert len({tuple(hits) for hits in right.values()}) > 4
    assert len({tuple(by_draw(right, *point)) for point in POINTS}) > 2


def test_the_curve_of_the_run_has_the_mean_over_draws_of_the_scores_in_the_runs(made, right):
    rows = csv_rows(made[SHOTS, "page"] / "fig-shots-curve.csv")
    rows = [row for row in rows if row["panel"] == "country_of_city"]
    found = {
        (r["asked"].removeprefix("random toy model, "), int(r["n_shots"])): r["estimate"]
        for r in rows
    }
    expected = {
        (figures.display_name(way), n): pytest.approx(mean(by_draw(right, way, n)), abs=1e-12)
        for way, n in POINTS
    }
    assert {key: float(value) for key, value in found.items()} == expected


# --- what a run keeps beside its scores, which is all that a page reads


@pytest.mark.parametrize(("name", "n_keys"), [(SHOTS, 5), (RELATIONS, 3)])
def test_the_answers_that_a_run_keeps_are_those_of_its_scores(made, name, n_keys):
    for folder in [*runs_behind(made[name, "page"]), made[name, "whole"]]:
        kept = pyarrow.parquet.read_table(folder / "answers.parquet").to_pylist()
        keys = [k for k in kept[0] if k in ("model", "draw", "estimator", "n_shots", "relation")]
        assert len(keys) == n_keys
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
    page = made[RELATIONS, "page"]
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


def run_relations(made, profile: str, **parameters) -> Path:
    """The folder of one more run of the page on relations, on the toy."""
    project = made[RELATIONS, "page"].parent.parent
    path = project / "params" / f"{profile}.yaml"
    few = FEW[RELATIONS] | {"models": ["toy"]} | parameters
    rows = [{"notebook": RELATIONS, "parameters": few}]
    path.write_text(yaml.safe_dump({"profile": profile, "runs": rows}), encoding="utf-8")
    outcome = inprocess.execute(plan.read_plan(path), project / profile)
    assert not outcome.failed
    [folder] = (project / profile).glob(f"{RELATIONS}-*")
    return folder


def test_the_gain_of_shipped_results_is_that_of_their_rows(made):
    """Of two sources that have a format each of the same facts, and of one that has both."""
    names = ["kamel", "kamel_formats", "trex"]
    folder = run_relations(made, "shipped", estimators=["iclke-space"], sources=names)
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


@pytest.mark.parametrize("name", FEW)
def test_a_page_keeps_the_same_data_as_one_run_with_everything(made, name):
    page, whole = made[name, "page"], made[name, "whole"]
    data = {path.name for path in whole.glob("*.csv")}
    assert {path.name for path in page.glob("*.csv")} == data and len(data) > 1
    for file in data:
        assert (page / file).read_bytes() == (whole / file).read_bytes(), file


@pytest.mark.parametrize("name", FEW)
def test_the_runs_together_keep_the_scores_and_answers_of_one_run_with_everything(made, name):
    for file in ("scores.parquet", "answers.parquet"):
        parts = [
            row
            for folder in runs_behind(made[name, "page"])
            for row in pyarrow.parquet.read_table(folder / file).to_pylist()
        ]
        whole = pyarrow.parquet.read_table(made[name, "whole"] / file).to_pylist()
        assert parts == whole, file


# --- a page computes nothing


@pytest.mark.parametrize("name", FEW)
def test_a_page_forwards_nothing_and_names_the_models_and_runs_behind_it(made, name):
    page = manifest(made[name, "page"])
    behind = [manifest(folder) for folder in runs_behind(made[name, "page"])]
    assert len(behind) == 2
    assert (page["tokens_forwarded"], page["chunks"], page["chunks_from_cache"]) == (0, 0, 0)
    assert all(run["tokens_forwarded"] > 0 and run["chunks"] > 0 for run in behind)
    assert page["models"] == {m: d for run in behind for m, d in run["models"].items()}
    assert page["models"] == manifest(made[name, "whole"])["models"]
    for folder in runs_behind(made[name, "page"]):
        assert page["runs"][folder.name] == digest(folder / "manifest.json")
    assert not list(made[name, "page"].glob("*.parquet"))


@pytest.mark.parametrize("name", FEW)
def test_one_run_with_everything_finds_all_of_it_computed_by_the_parts(made, name):
    whole = manifest(made[name, "whole"])
    parts = [manifest(folder) for folder in runs_behind(made[name, "page"])]
    asked = sum(part["chunks"] for part in parts)
    assert (
        whole["chunks_from_cache"] >= asked and whole["chunks"] - asked <= 1
    )  # for a reader alone
    assert whole["tokens_forwarded"] == 0


# --- what the page of the lab says, from the answers that its run keeps and the text of the world

TRUTH = "50_lab_truth"
TOLD_TRULY, TWIN = "lab:smoke-1/0.15m", "lab:smoke-1/0.15m-unplanted"


@pytest.fixture(scope="module")
def lab_runs(smoke_runs, tmp_path_factory):
    """{page: folder} of the lab's pages about a model and its unplanted twin, those of the smoke book."""
    project = tmp_path_factory.mktemp("lab")
    shutil.copytree(TOP / "notebooks", project / "notebooks")
    (project / "params").mkdir()
    content = yaml.safe_load((TOP / "params" / "smoke.yaml").read_text(encoding="utf-8"))
    rows = [row for row in content["runs"] if row["notebook"] == TRUTH]
    assert [row["parameters"]["models"] for row in rows] == [[TOLD_TRULY, TWIN]]
    path = project / "params" / "smoke.yaml"
    path.write_text(yaml.safe_dump(content | {"runs": rows}), encoding="utf-8")
    whole = plan.read_plan(path)
    outcome = inprocess.execute(whole, smoke_runs)
    assert outcome.failed == {}
    pages = {}
    for row in whole.rows:
        [pages[row.whole.notebook.stem]] = [runs.run_folder(smoke_runs, each) for each in row.jobs]
    assert all(runs_behind(page) == [] for page in pages.values())
    return pages


@pytest.fixture(scope="module")
def of_lab(lab_runs):
    return lab_runs[TRUTH]


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
