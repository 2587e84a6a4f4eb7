"""One page alone: with which parameters, and what a reader sees of it. One run of a random model.

The page is the one that `lke new` begins with, changed as book/fork.md says.
"""

import re
import sys
import webbrowser
from pathlib import Path

import pandas as pd
import projects
import pytest
import yaml
from bs4 import BeautifulSoup

from lkecore.book import fork, single
from lkecore.cli import main
from lkecore.errors import BadInput

TOP = Path(__file__).resolve().parent.parent
NAME = "19_one_page"


@pytest.mark.parametrize(
    ("name", "params", "profile", "n"),
    [("a", None, "book", 2), ("b", None, "defaults", 1), ("b", "p.yaml", "trial", 3)],
)
def test_parameters_are_those_of_the_file_else_of_the_book_else_the_notebooks(
    tmp_path, name, params, profile, n
):
    notebooks = {"a": projects.code(), "b": projects.code()}
    project = projects.make(tmp_path, notebooks, b={"parameters": {"n": 3}})
    rows = [{"notebook": "a", "parameters": {"n": 2}}]
    (project / "params/book.yaml").write_text(yaml.safe_dump({"profile": "book", "runs": rows}))
    found = single.plan_of(project, name, params and project / "params" / params)
    assert (found.profile, [row.whole.effective["n"] for row in found.rows]) == (profile, [n])
    with pytest.raises(BadInput, match="profile book has no row of notebook 'b'"):
        single.plan_of(project, "b", project / "params/book.yaml")


def test_a_page_without_a_finished_run_is_refused(tmp_path):
    project = projects.make(tmp_path, {"a": projects.code()})
    with pytest.raises(BadInput, match="no finished run of a; first: lke page a"):
        single.render(single.plan_of(project, "a"), "a", tmp_path / "runs")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """(what `lke page NAME --open` printed, its errors, what it opened, the project)."""
    project = tmp_path_factory.mktemp("project")
    for name in ("book", "_config.yml"):
        (project / name).symlink_to(TOP / name)
    for name in ("notebooks", "params"):
        (project / name).mkdir()
    [page] = fork.new(project, NAME)
    text = page.read_text(encoding="utf-8")
    links = "{cite:t}`wu2024iclke`, {term}`run`, {page}`10_iclke_relations`, {eq}`eq-accuracy`,"
    links += " {numref}`fig-iclke-relations`, {glue:text}`lost`"
    text = text.replace("Say here why to believe it", f"See {links}")
    told = (TOP / "book/fork.md").read_text(encoding="utf-8")
    separator, way, wrong, median, ranked = re.findall(r"^```python\n(.+?)^```", told, re.M | re.S)
    style, ask = "figures.style()\n", 'ours = answers.ask([model], questions, "answers.parquet")\n'
    of_sample = "questions = prompts.of_sample(sample, estimators)\n"
    changes = {style: style + separator, of_sample: of_sample + way, ask: ranked + wrong + median}
    for line, block in changes.items():
        assert text.count(line) == 1
        text = text.replace(line, block)
    page.write_text(text, encoding="utf-8")
    asked = ["iclke-space", "iclke-colon", "iclke-equals"]
    few = {"model": "toy", "n_shots": 3, "n_facts": 6, "n_options": 3, "seed": 2}
    few |= {"estimators": asked}
    rows = [{"notebook": NAME, "parameters": few}]
    (project / "params/mine.yaml").write_text(yaml.safe_dump({"profile": "mine", "runs": rows}))
    opened = []
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.chdir(project)
        patch.setattr(webbrowser, "open", opened.append)
        patch.setattr(sys, "argv", ["lke", "page", NAME, "--params", "params/mine.yaml", "--open"])
        patch.setattr(single, "print", lambda line, file: errors.append(line), raising=False)
        lines, errors = [], []
        patch.setattr("lkecore.cli.book.say", lines.append)
        main.main()
    assert not ended.value.code
    return lines, errors, opened, project


@pytest.fixture(scope="module")
def article(shown):
    [path] = shown[0]
    return BeautifulSoup(Path(path).read_bytes(), "lxml").select_one("article")


def test_the_last_line_is_the_path_of_the_page_which_is_opened(shown):
    lines, _, opened, project = shown
    assert lines == [project / f"_build/page/{NAME}/_build/html/notebooks/{NAME}.html"]
    assert opened == [lines[0].as_uri()]


def test_numbers_and_figure_are_those_of_the_run(shown, article):
    [run] = (shown[3] / "runs").glob(f"{NAME}-*")
    share = pd.read_parquet(run / "answers.parquet").groupby("estimator")["correct"].mean()
    first, second = (f"{100 * share[name]:.0f} %" for name in ("iclke-space", "iclke-colon"))
    assert first != second
    said = " ".join(article.select_one("p strong").get_text().split())
    assert re.sub(r" \[\d+, \d+\]", "", said) == (
        f"Among 3 options, random toy model finds {first} of the capitals behind pairs with a space inside, "
        f"and {second} behind pairs with a colon."
    )
    [image] = article.select("figure img")
    assert (Path(shown[0][0]).parent / image["src"]).stat().st_size > 1000
    assert "this page's own" not in article.get_text()  # each column has its line


def test_what_the_page_on_forking_shows_is_a_way_of_asking_and_a_statistic(shown):
    [run] = (shown[3] / "runs").glob(f"{NAME}-*")
    ours = pd.read_parquet(run / "answers.parquet")
    ways = ["iclke-space", "iclke-colon", "iclke-equals", "in-questions"]
    assert ours.groupby("estimator", sort=False)["fact"].nunique().to_dict() == dict.fromkeys(
        ways, 6
    )
    assert (ours["correct"] == (ours["rank"] == 1)).all()
    assert 1 < len(set(ours["rank"])) and set(ours["rank"]) <= {1, 2, 3}


def test_links_lead_somewhere_or_are_plain_text_and_what_is_lost_is_said(shown, article):
    paragraph = next(p for p in article.find_all("p") if p.get_text().startswith("See "))
    assert "Wu et al. [2024], run, 10_iclke_relations, " in paragraph.get_text()
    links = [link["href"].partition("#")[0] for link in paragraph.find_all("a")]
    assert links == ["../references.html", "../glossary.html"]
    assert all((Path(shown[0][0]).parent / link).exists() for link in links)
    assert len(shown[1]) == 1 and "No key 'lost' found in glue data" in shown[1][0]


# --- lke report


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """(the HTML of `lke report toy` on facts of one's own, the folder of its run)."""
    folder = tmp_path_factory.mktemp("report")
    rows = [f"<b>thing {i}</b>,object {i % 7}" for i in range(40)]
    (folder / "my.csv").write_text("\n".join(["subject,object", *rows]), encoding="utf-8")
    given = ["--facts", str(folder / "my.csv"), "--shots", "3", "--n-facts", "8"]
    given += [
        "--runs",
        str(folder / "runs"),
        "--out",
        str(folder / "r.html"),
        "--label",
        "<i>Mine</i>",
        "--title",
        "<b>Things</b> & their objects",
    ]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.chdir(TOP)
        patch.setattr(sys, "argv", ["lke", "report", "toy", *given])
        main.main()
    assert not ended.value.code
    [run] = set((folder / "runs").glob("02_report-*")) - set((folder / "runs").glob("*-page-*"))
    return (folder / "r.html").read_text(encoding="utf-8"), run


def test_a_report_is_one_file_that_says_what_its_run_found(report):
    text, run = report
    soup = BeautifulSoup(text, "lxml")
    assert not soup.select("script, link, iframe") and "url(" not in text and "@import" not in text
    assert soup.select("img") and all(
        i["src"].startswith("data:image/") for i in soup.select("img")
    )
    assert {a["href"][:1] for a in soup.select("a[href]")} <= {"#", "h"}
    assert not soup.select("pre code, details, .cell_input") and "import pandas" not in text
    assert soup.h1.get_text() == soup.title.get_text() == "<b>Things</b> & their objects"
    found = pd.read_parquet(run / "answers.parquet")
    assert len(found) == 2 * 8
    # The format is chosen on other facts than those that are counted.
    tried = pd.read_parquet(run / "answers-choice.parquet")
    assert len(tried) and not {*tried["fact"]} & {*found["fact"]}
    chosen = (
        tried.groupby("estimator")["correct"].mean().reindex(found["estimator"].unique()).idxmax()
    )
    own = found[found["estimator"] == chosen]
    said = " ".join(soup.select_one("p strong").get_text().split())
    assert said.startswith(
        f"Of 8 facts <i>Mine</i> finds {100 * own['correct'].mean():.0f} % in the better"
    )
    wrong = pd.read_parquet(run / "wrong.parquet")
    assert len(wrong) == min(5, (~own["correct"]).sum()) and {*wrong["relation"]} == {"my"}
    assert "over facts" in soup.get_text() and "(no interval)" not in soup.get_text()
    assert "<i>Mine</i> (" in soup.get_text() and not soup.select("i")
    missed = found[~found["correct"]]
    assert (
        len(missed)
        and "<b>thing" not in str(soup.select_one("body"))
        and "<b>thing" in soup.get_text()
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["toy", "--facts", "one.csv"], "relation one has only 0 objects"),
        (["toy", "--compare", "toy"], "--compare toy: it is the model itself"),
    ],
)
def test_what_cannot_be_reported_on_is_refused_in_one_line(
    tmp_path, monkeypatch, capsys, given, says
):
    (tmp_path / "one.csv").write_text("subject,object\na,b\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lke", "report", *given])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert says in line


def test_what_a_style_would_fetch_is_taken_out_whole(tmp_path):
    """An address in quotes may hold brackets: what was left of it undid all that followed."""
    style = (
        """@import url("x.css"); a {mask: url("data:,<g transform='rotate(9)'/>")} b {c: url(d)}"""
    )
    (tmp_path / "a.css").write_text(f"{style} e {{f: g}}")
    page = tmp_path / "page.html"
    page.write_text(
        '<title>t</title><link rel="stylesheet" href="a.css"><article><h1>t</h1></article>'
    )
    assert "<style> a {mask: } b {c: } e {f: g} " in single.alone(page)
