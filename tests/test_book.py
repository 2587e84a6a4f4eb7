"""The whole way on a random model: run every notebook, build the book, look at its pages."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from bs4 import BeautifulSoup

from lkecore import grid

TOP = Path(__file__).resolve().parent.parent
FORK = "14_my_separator"


def fork(project):
    """Fork a notebook as the page book/fork.md says: copy, rows, a line in the contents."""
    source = (TOP / "notebooks" / "10_iclke_relations.py").read_text(encoding="utf-8")
    copy = re.sub("-iclke-", "-separator-", source)
    (project / "notebooks" / "14_my_separator.py").write_text(copy, encoding="utf-8")
    toc = project / "book" / "_toc.yml"
    line = "      - file: notebooks/10_iclke_relations\n"
    toc.write_text(toc.read_text().replace(line, line + line.replace("10_iclke_relations", FORK)))
    params = project / "params" / "smoke.yaml"
    content = yaml.safe_load(params.read_text())
    given = content["runs"][-1]["parameters"] | {"n_facts": 3}
    content["runs"].append({"notebook": FORK, "parameters": given})
    params.write_text(yaml.safe_dump(content))


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The folder of the smoke book, built in a copy of the project."""
    project = tmp_path_factory.mktemp("project")
    for name in ("lkecore", "notebooks", "params", "book"):
        left_out = shutil.ignore_patterns("*.ipynb", "__pycache__")
        shutil.copytree(TOP / name, project / name, ignore=left_out)
    shutil.copy(TOP / "_config.yml", project)
    fork(project)
    for command in ("run", "book"):
        done = subprocess.run(
            [Path(sys.executable).with_name("lke"), command, "params/smoke.yaml"],
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
    return {p: BeautifulSoup(p.read_text(encoding="utf-8"), "html.parser") for p in files}


def test_every_page_of_the_contents_is_there(html):
    toc = yaml.safe_load((TOP / "book" / "_toc.yml").read_text())
    files = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    assert [name for name in files if not (html / f"{name}.html").exists()] == []


def test_every_notebook_is_in_the_smoke_and_the_book_profile_and_in_the_contents():
    toc = (TOP / "book" / "_toc.yml").read_text()
    for path in sorted((TOP / "notebooks").glob("*.py")):
        assert f"notebooks/{path.stem}" in toc
        for profile in ("smoke", "book"):
            plan = grid.read_plan(TOP / "params" / f"{profile}.yaml")
            assert path.stem in {job.notebook.stem for job in plan.jobs}


def test_every_link_leads_to_a_page_and_an_anchor_that_exist(pages):
    broken = []
    for path, page in pages.items():
        for link in page.find_all("a", href=True):
            target, _, anchor = unquote(link["href"]).partition("#")
            if "://" in target or target.startswith(("mailto:", "javascript:")):
                continue
            file = (path.parent / target).resolve() if target else path
            if not file.exists():
                broken.append((path.name, link["href"]))
            elif anchor and file in pages and not pages[file].find(id=anchor):
                broken.append((path.name, link["href"]))
    assert broken == []


def test_no_page_asks_a_network_for_anything(pages):
    asked = [
        (path.name, tag.get("src") or tag.get("href"))
        for path, page in pages.items()
        for tag in page.find_all(["script", "img", "link", "iframe"])
        if "://" in (tag.get("src") or tag.get("href") or "") and tag.get("rel") != ["canonical"]
    ]
    assert asked == []


def test_every_figure_has_an_image_a_number_a_caption_and_a_text_for_those_who_cannot_see_it(pages):
    seen = 0
    for path, page in pages.items():
        for image in page.select("figure img"):
            seen += 1
            file = (path.parent / image["src"]).resolve()
            assert file.stat().st_size > 1000, file
            assert len(image["alt"]) > 20, image
            caption = image.find_parent("figure").find("figcaption").get_text().strip()
            assert caption.startswith("Fig.") and len(caption) > 40, caption
    assert seen == 4 + 3  # quick start and relations page, and the fork


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
    assert page.find(id="fig-separator-relations") and not page.find(id="fig-iclke-relations")
    assert f"notebooks/{FORK}.html" in (html / "index.html").read_text()


def test_the_data_of_a_page_can_be_downloaded(html):
    page = html / "notebooks" / "10_iclke_relations.html"
    links = BeautifulSoup(page.read_text(), "html.parser").select("a.download")
    names = {Path(a["href"]).name for a in links}
    assert {"accuracy-by-relation.csv", "fig-iclke-relations.csv"} <= names
    assert all((page.parent / a["href"]).resolve().exists() for a in links)


def test_equations_are_drawn_by_files_of_the_book(html):
    page = (html / "how_to_read.html").read_text()
    assert "mathjax/tex-chtml" in page
    assert list((html / "_static" / "mathjax").rglob("*.woff"))
