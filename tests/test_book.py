"""The whole way on a random model: run every notebook, build the book, look at its pages."""

import csv
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import inprocess
import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup
from own import PAGES
from sphinx_external_toc.parsing import parse_toc_yaml

from lkecore.book import sentence
from lkecore.runs import plan

TOP = Path(__file__).resolve().parent.parent
NUMBERS = "estimate", "low", "high"
SOURCE, FORK = "10_iclke_relations", "19_test_of_forking"
# One of each chapter and what reads several: made as a user makes them, by a worker and its kernel.
BY_KERNELS = {
    "00_quickstart", "11_iclke_shots", FORK, "20_entropy_rank", "44_belief_coverage", "50_lab_truth",
}  # fmt: skip


def fork(project):
    """Fork a notebook as the page book/fork.md says, and put one line into it."""
    command = [Path(sys.executable).with_name("lke"), "new", FORK, "--from", SOURCE]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    path = project / "notebooks" / f"{FORK}.py"
    text, line = path.read_text(encoding="utf-8"), "figures.style()"
    assert text.count(line) == text.count('"iclke-colon"]') == 1
    own = 'prompts.SEPARATORS["iclke-equals"] = (" = ", "\\n")'
    text = text.replace(line, f"{line}\n{own}").replace('"iclke-colon"]', '"iclke-equals"]')
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def html(tmp_path_factory, smoke_runs):
    """The folder of the smoke book, built in a copy of the project."""
    project = tmp_path_factory.mktemp("project")
    (project / "runs").symlink_to(smoke_runs, target_is_directory=True)
    for name in ("lkecore", "notebooks", "params", "book", "results"):
        left_out = shutil.ignore_patterns("*.ipynb", "__pycache__")
        shutil.copytree(TOP / name, project / name, ignore=left_out)
    shutil.copy(TOP / "_config.yml", project)
    fork(project)
    with (project / "book" / "moved.csv").open("a", encoding="utf-8") as file:
        file.write(f"10_gone,{SOURCE}\n")
    whole = plan.read_plan(project / "params" / "smoke.yaml")
    others = [r for r in whole.rows if not r.reads and r.whole.notebook.stem not in BY_KERNELS]
    assert inprocess.execute(replace(whole, rows=others), smoke_runs).failed == {}
    for command in (["run", "params/smoke.yaml"], ["book", "params/smoke.yaml"]):
        done = subprocess.run(
            [Path(sys.executable).with_name("lke"), *command],
            cwd=project,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    index = Path(done.stdout.strip().splitlines()[-1])
    assert index.name == "index.html" and index.exists()
    return index.parent


@pytest.fixture(scope="module")
def pages(html):
    files = [p for p in html.rglob("*.html") if "_static" not in p.parts]
    return {p: BeautifulSoup(p.read_bytes(), "lxml", from_encoding="utf-8") for p in files}


def test_what_pages_say_of_shipped_answers_holds_whoever_is_asked_here(html, smoke_runs):
    failing = {}
    for row in plan.read_plan(html.parent.parent / "params" / "smoke.yaml").rows:
        job, shown, *_ = plan.finished(row, smoke_runs)
        if job.effective.get("sources"):
            failing[job.notebook.stem] = sentence.failing(shown)
    assert len(failing) > 15 and {page: words for page, words in failing.items() if words} == {}


def test_a_page_with_words_that_do_not_hold_opens_with_these(pages, html):
    text = " ".join(pages[html / "notebooks" / "01_scorer.html"].select_one("article").text.split())
    assert (
        "This page was written about other runs; of this one the sentence or a caption does not hold: "
        "ten questions, a hundred options."
    ) in text and "tokens would go through the model for ten questions" not in text


def test_every_page_of_the_contents_is_there(html):
    files = list(parse_toc_yaml(TOP / "book" / "_toc.yml"))
    assert [name for name in files if not (html / f"{name}.html").exists()] == []


def contents(project):
    """The names of the notebooks in a table of contents."""
    files = parse_toc_yaml(project / "book" / "_toc.yml")
    return [name.removeprefix("notebooks/") for name in files if name.startswith("notebooks/")]


def test_the_address_of_a_page_that_is_gone_leads_on_and_is_in_no_contents(html):
    page = BeautifulSoup((html / "notebooks" / "10_gone.html").read_text(), "html.parser")
    assert page.find("a")["href"] == f"{SOURCE}.html"
    assert page.find("meta", {"http-equiv": "refresh"})["content"] == f"0; url={SOURCE}.html"
    assert (
        "10_gone" not in (html / "index.html").read_text() + (html / "searchindex.js").read_text()
    )


def test_every_page_of_the_book_is_in_the_contents():
    assert set(PAGES) <= set(contents(TOP))


def test_every_link_leads_to_a_page_and_an_anchor_that_exist(pages):
    broken, exists = [], functools.cache(Path.exists)
    anchors = {path: {tag["id"] for tag in page.find_all(id=True)} for path, page in pages.items()}
    for path, page in pages.items():
        for link in {link["href"] for link in page.find_all("a", href=True)}:
            target, _, anchor = unquote(link).partition("#")
            if "://" in target or target.startswith(("mailto:", "javascript:")):
                continue
            file = Path(os.path.normpath(path.parent / target)) if target else path
            if not exists(file):
                broken.append((path.name, link))
            elif anchor and file in pages and anchor not in anchors[file]:
                broken.append((path.name, link))
    assert broken == []


def test_no_page_asks_a_network_for_anything(pages):
    asked = [
        (path.name, tag.get("src") or tag.get("href"))
        for path, page in pages.items()
        for tag in page.find_all(["script", "img", "link", "iframe"])
        if "://" in (tag.get("src") or tag.get("href") or "") and tag.get("rel") != ["canonical"]
    ]
    assert asked == []


def test_every_figure_has_an_image_a_number_a_caption_and_a_text_for_those_who_cannot_see_it(
    html, pages
):
    seen = 0
    for path, page in pages.items():
        for image in page.select("figure img"):
            seen += 1
            file = (path.parent / image["src"]).resolve()
            assert file.stat().st_size > 1000, file
            assert len(image["alt"]) > 20, image
            assert image.find_parent("a")["href"] == image["src"]  # a click opens it alone
            caption = image.find_parent("figure").find("figcaption").get_text().strip()
            assert caption.startswith("Fig.") and len(caption) > 40, caption
    project = html.parents[1]
    sources = [project / "notebooks" / f"{name}.py" for name in contents(project)]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    named = [name for text in texts for name in re.findall(r"```{glue:figure} (fig-.+)", text)]
    named += [name for t in texts for name in re.findall(r'"figure": {"name": "(.+?)"', t)]
    assert seen == len(named) + 1 > 3  # the first page has one, too


def kept(html, pages, page: str, name: str) -> list[dict[str, str]]:
    """The rows of a file that a page has kept and offers for download."""
    file = html / "notebooks" / f"{page}.html"
    [path] = downloads(pages[file], file)[name]
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_models_of_these_runs_are_in_the_table_beside_those_that_ship(html, pages):
    rows = kept(html, pages, "90_leaderboard", "board.csv")
    assert {("this run: atlas", "toy"), ("trex", "smollm2")} <= {
        (row["source"], row["model"]) for row in rows
    }


def test_the_formats_of_two_profiles_stand_together_with_all_answers_of_each(html, pages):
    rows = kept(html, pages, "18_iclke_confidence", "fig-confidence-above.csv")
    whole = [row for row in rows if row["source"] == "kamel" and float(row["K"]) == 0]
    ways = {(row["model"], row["estimator"]): int(row["n"]) for row in whole}
    models, asked = ("smollm2", "gemma3-270m"), ("iclke-space", "iclke-colon")
    # 49 relations of 100 facts; a confidence is above 0 in any case.
    assert ways == {(m, e): 4900 for m in models for e in asked} and len(whole) == 4


def test_no_page_shows_a_traceback_a_warning_or_an_object_instead_of_a_result(pages):
    for path, page in pages.items():
        outputs = " ".join(o.get_text() for o in page.select("div.cell_output"))
        for word in ("Traceback", "Warning", "object at 0x", "<Axes", "Text("):
            assert word not in outputs, (path.name, word)
        assert not page.select("div.output.stderr"), path.name


def test_a_notebook_page_says_which_profile_and_model_made_it_and_that_random_means_nothing(html):
    for name in ("00_quickstart", "10_iclke_relations"):
        page = BeautifulSoup((html / "notebooks" / f"{name}.html").read_text(), "html.parser")
        note = page.select_one("div.lke-profile").get_text()
        assert "profile smoke" in note and "toy" in note and "The model is random" in note


def test_a_forked_notebook_has_a_page_beside_the_original(html):
    page = BeautifulSoup((html / "notebooks" / f"{FORK}.html").read_text(), "html.parser")
    label = "fig-iclke-relations"
    assert page.find(id=f"{label}-test-of-forking") and not page.find(id=label)
    assert (
        page.find("h1").get_text().endswith("How many facts does a model know? (test of forking)")
    )
    assert "iclke-equals" in " ".join(o.get_text() for o in page.select("div.cell_output"))
    assert f"notebooks/{FORK}.html" in (html / "index.html").read_text()


def test_the_data_of_a_page_can_be_downloaded(html):
    page = html / "notebooks" / "10_iclke_relations.html"
    links = BeautifulSoup(page.read_text(), "html.parser").select("a.download")
    names = {Path(a["href"]).name for a in links}
    assert {"over-relations.csv", "fig-iclke-relations.csv"} <= names
    assert all((page.parent / a["href"]).resolve().exists() for a in links)


# --- the page over several runs


@pytest.fixture(scope="module")
def shots(html, pages):
    """(the page of the notebook on shots, its file, the folders of the two runs behind it)."""
    file = html / "notebooks" / "11_iclke_shots.html"
    folders = sorted((html.parents[1] / "runs").glob("11_iclke_shots-*"))
    behind = [folder for folder in folders if "-page-" not in folder.name]
    assert len(behind) == 2 and len(folders) == 3
    return pages[file], file, behind


def downloads(page, file: Path) -> dict[str, list[Path]]:
    """{name: files} of what a page offers for download."""
    found: dict[str, list[Path]] = {}
    for link in page.select("a.download"):
        target = (file.parent / unquote(link["href"])).resolve()
        found.setdefault(target.name, []).append(target)
    return found


def test_a_page_over_runs_links_the_notebook_scores_and_manifest_of_each(shots):
    page, file, behind = shots
    offered = downloads(page, file)
    for name in ("notebook.ipynb", "scores.parquet", "answers.parquet", "manifest.json"):
        found = sorted(path.read_bytes() for path in offered[name])
        assert found == sorted((folder / name).read_bytes() for folder in behind), name
    text = page.get_text()
    for folder in behind:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        [draw] = manifest["part"]["draws"]
        assert f"{folder.name} (models toy, draws {draw})" in text


def test_a_page_over_runs_offers_its_own_data_and_not_those_of_a_run(html, shots):
    page, file, _ = shots
    [made] = (html.parents[1] / "runs").glob("11_iclke_shots-page-*")
    offered = downloads(page, file)
    for name in ("fig-shots-curve.csv",):
        [data] = offered[name]
        assert data.read_bytes() == (made / name).read_bytes()


def test_a_page_over_runs_says_so_and_by_how_many(shots):
    note = shots[0].select_one("div.lke-profile").get_text()
    assert "profile smoke" in note and "toy" in note and "The model is random" in note
    assert "a page over 2 runs" in note


def test_the_page_of_a_single_run_is_that_run_and_says_run(pages, html):
    page = pages[html / "notebooks" / "10_iclke_relations.html"]
    assert "over" not in page.select_one("div.lke-profile").get_text()
    file = html / "notebooks" / "10_iclke_relations.html"
    [manifest] = downloads(page, file)["manifest.json"]
    assert json.loads(manifest.read_text(encoding="utf-8"))["runs"] == {}


def test_the_page_of_all_claims_has_every_verdict_that_the_pages_keep(html, pages):
    """Of a claim that a page decides once the estimate; all that pages keep in the table to take home."""
    tables = pages[html / "verdicts.html"].find_all("table")
    with (TOP / "lkecore" / "data" / "claims.csv").open(encoding="utf-8") as file:
        claims = {
            row["claim"] + " (ours)" * (row["whose"] != "paper")
            for row in csv.DictReader(file)
            if row["paper"] == "IC"
        }
    said = (row.td.get_text() for row in tables[0].find_all("tr")[1:])
    assert {text.replace("\xa0", " ") for text in said} == claims
    kept, said = [], Counter()
    for path in html.glob("_downloads/*/verdicts.csv"):
        with path.open(encoding="utf-8") as file:
            kept += csv.DictReader(file)
    for row in kept:
        numbers = [round(float(row[name] or "nan"), 3) + 0.0 for name in NUMBERS]
        text = "{:.3f} [{:.3f}, {:.3f}]" if row["low"] else "{:.3f} (no interval)"
        said[text.format(*numbers), row["verdict"]] += 1
    shown = Counter()
    for table in tables:
        for row in table.find_all("tr")[1:]:
            _, _, ours, verdict, _, _ = [cell.get_text() for cell in row.find_all("td")]
            if ours != "–":
                shown[ours, verdict] += 1
    assert shown.total() > 20 and shown == said
    [path] = html.glob("_downloads/*/every_verdict.csv")
    with path.open(encoding="utf-8") as file:
        every = [(row["id"], row["verdict"]) for row in csv.DictReader(file)]
    assert Counter(every) == Counter((row["id"], row["verdict"]) for row in kept)


@pytest.mark.parametrize("name", ["00_quickstart", "10_iclke_relations", "11_iclke_shots", FORK])
def test_every_notebook_can_be_taken_home_without_results_and_forked(pages, html, name):
    file = html / "notebooks" / f"{name}.html"
    [plain] = downloads(pages[file], file)[f"{name}.ipynb"]
    notebook = nbformat.read(plain, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs or cell.execution_count for cell in code)
    assert any("parameters" in cell.metadata.get("tags", []) for cell in code)
    source = jupytext.read(html.parents[1] / "notebooks" / f"{name}.py", fmt="py:percent")
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in source.cells]
    assert f"lke new {name[:2]}_my_idea --from {name}" in pages[file].get_text()


def test_equations_are_drawn_by_files_of_the_book(html):
    page = (html / "how_to_read.html").read_text()
    assert "mathjax/tex-chtml" in page
    assert list((html / "_static" / "mathjax").rglob("*.woff"))
