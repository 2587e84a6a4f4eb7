"""Text of other people (facts, prompts, names, parameters) is shown on pages, and never run."""

import json
import re
import shutil
import subprocess
import sys
import unicodedata
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import projects
import pytest
import yaml
from bs4 import BeautifulSoup
from markdown_it.renderer import RendererHTML
from matplotlib.figure import Figure
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from own import PAGES, notebook, profiles, without_a_look

from lkecore import answers, figures
from lkecore.answers import html_table
from lkecore.book import build, foreign
from lkecore.errors import BadInput, visible
from lkecore.models import embedded
from lkecore.runs import grid, plan, yamlfile

TOP = Path(__file__).resolve().parent.parent
SCRIPT, IMAGE = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"
HOSTILE = [
    SCRIPT, IMAGE, "<s>", "<mask>", "US$ \\frac", "$x$", "a|b", "`c`", "{{ d }}", "{raw}`e`",
    "[f](https://example.org)", "**g**", "&lt;h&gt;", "i\nj", "<!-- k", "\\(l\\)", "https://m.org",
    "::: n", "# o", "'p' \"q\"",
]  # fmt: skip
TAGS = {"script", "img", "s", "mask"}


def soup(markup: str) -> BeautifulSoup:
    return BeautifulSoup(markup, "html.parser")


def cells(markup: str, tag: str) -> list[str]:
    return [cell.get_text() for cell in soup(markup).find_all(tag)]


def seen(text: str) -> str:
    return " ".join(text.split())


def of_relation(name: str) -> str:
    """The name of a relation as it is read: marks that turn a text's direction are no part of it."""
    return seen(re.sub("[\u202a-\u202e\u2066-\u2069]", "", name))


# --- the whole way

# A stray $ is shown, and a pair of them is no formula; a name with a sign of each kind.
NAMED = f"{SCRIPT} {IMAGE} <s> <mask> US$ \\frac | `c` {{{{ d }}}}"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """(page 10, its book's other pages by name), of hostile facts, relations and a hostile model."""
    project = tmp_path_factory.mktemp("project")
    name = "10_iclke_relations"
    model, facts = project / f"toy {IMAGE} $_$", project / "facts <s> $x$.jsonl"
    embedded.build_toy(model)
    rows = [
        {"relation": f"{relation} {NAMED}", "subject": f"{n} {NAMED}", "object": f"{NAMED} {n % 9}"}
        for relation in ("one", "two")
        for n in range(18)
    ]
    facts.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    text = without_a_look((TOP / "notebooks" / f"{name}.py").read_text(encoding="utf-8"))
    given = {"models": [str(model)], "fact_set": str(facts)}
    given |= {"n_shots": 2, "n_options": 5, "n_facts": 3, "n_choice": 2}
    path = projects.make(project, {name: text}, **{name: {"parameters": given}}) / "params/p.yaml"
    whole = plan.read_plan(path)
    outcome = grid.execute(whole, project / "runs")
    assert outcome.failed == {} and len(outcome.finished) == 1
    build.collect_pages(whole, project / "runs")
    shutil.copytree(TOP / "book" / "_ext", project / "book" / "_ext")
    for file in ("book/references.bib", "_config.yml"):
        shutil.copy(TOP / file, project / file)
    shutil.copytree(TOP / "book/_static", project / "book/_static", ignore=lambda *_: ["mathjax"])
    chapters = [{"file": f"notebooks/{name}"}, {"file": "coverage"}, {"file": "verdicts"}]
    toc = {"format": "jb-book", "root": "index", "chapters": chapters}
    (project / "book" / "_toc.yml").write_text(yaml.safe_dump(toc))
    (project / "book" / "index.md").write_text("# Book\n")
    start = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "build", "book", "--config", "_config.yml"]
    command += ["--path-output", ".", "-q"]  # links to pages that are not here are no errors
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = project / "_build" / "html"
    names = f"notebooks/{name}", "coverage", "verdicts"
    return {each: soup((pages / f"{each}.html").read_text(encoding="utf-8")) for each in names}


@pytest.mark.parametrize("name", ["notebooks/10_iclke_relations", "coverage", "verdicts"])
def test_page_of_hostile_facts_and_names_has_no_markup_of_theirs(page, name):
    whole = page[name]
    assert not [tag for tag in whole.find_all("script") if "alert(1)" in tag.get_text()]
    assert not [tag for tag in whole.find_all() if "alert" in str(list(tag.attrs.values()))]
    article = whole.select_one("article")
    assert not article.find_all(["script", "s", "mask"])
    formulas = article.select(".math")  # the page's own, and no other
    assert all("gain" in each.get_text() for each in formulas) and len(formulas) < 2
    assert all(tag["src"].startswith("../_images/") for tag in article.find_all("img"))
    assert not [tag for tag in article.find_all() if any(key.startswith("on") for key in tag.attrs)]


def test_hostile_facts_are_read_as_they_are_in_tables_and_prompts(page):
    article = page["notebooks/10_iclke_relations"].select_one("article")
    shown = [cell.get_text() for cell in article.select("table.lke-text :is(td, th)")]
    assert {f"one {NAMED}", f"two {NAMED}"} <= set(shown)
    printed = "".join(tag.get_text() for tag in article.select(".cell_output pre"))
    assert repr(f" {NAMED}")[1:-1] in printed


def test_hostile_name_of_a_model_is_read_as_it_is_where_models_are_named(page):
    for name in ("notebooks/10_iclke_relations", "coverage"):
        soup_of = page[name]
        assert f"toy {IMAGE} $_$" in soup_of.select_one("article").get_text(), name
    note = page["notebooks/10_iclke_relations"].select_one("div.lke-profile").get_text()
    assert f"toy {IMAGE} $_$ (your own; digest" in note and "Made by the profile trial" in note


# --- tables


@pytest.mark.parametrize("text", HOSTILE)
def test_table_shows_foreign_text_wherever_it_stands(text):
    names = [f"{text} 1", f"{text} 2"]
    index = pd.MultiIndex.from_tuples([(text, "x"), ("y", text)], names=names)
    columns = pd.MultiIndex.from_tuples([(text, "u"), ("v", text)], names=names)
    values = [[text, [text]], [np.str_(text), {"key": text}]]
    frame = pd.DataFrame(values, index, columns)
    shown = html_table(frame, index=True).to_html()
    assert not soup(shown).find_all(TAGS) and "<!--" not in shown
    assert cells(shown, "td") == [text, str([text]), text, str({"key": text})]
    assert {text, *names} <= set(cells(shown, "th"))
    flat = html_table(pd.DataFrame({text: pd.Categorical([text])}, pd.Index([text], name=text)))
    assert not soup(flat.to_html()).find_all(TAGS) and cells(flat.to_html(), "td") == [text]


def by_hand(value):
    """What a float of the frames below looks like where no format is given."""
    written = {0.5: "0.5", 3e9: "3,000,000,000", 1.25: "1.25"}
    return written.get(value, value) if isinstance(value, float) else value


def test_table_is_that_of_pandas_but_for_its_floats_and_classes_and_leaves_the_frame():
    frame = pd.DataFrame(
        {
            "x": [0.5, np.nan, 3e9],
            "n": [1, 2, 3],
            "yes": [True, False, True],
            "mixed": [None, 1.25, "a b"],
            "when": pd.date_range("2026-01-01", periods=3),
            "some": pd.array([1, None, 2], dtype="Int64"),
        }
    )
    before, some = frame.copy(deep=True), frame[["x", "n"]].set_index("n")
    for ours, pandas in (
        (html_table(frame), frame.style.hide().format(by_hand)),
        (html_table(frame, index=True), frame.style.format(by_hand)),
        (html_table(frame, digits=2), frame.style.hide().format(precision=2)),
        (html_table(some, index=True, digits="{:.2f}"), some.style.format("{:.2f}")),
        (html_table(some, missing=""), some.style.hide().format(by_hand, na_rep="")),
        (html_table(some, digits={"x": "{:,.1f}"}), some.style.hide().format({"x": "{:,.1f}"})),
    ):
        theirs = pandas.set_table_attributes('class="lke-text"')._repr_html_()
        plain = ours._repr_html_().replace(" tex2jax_ignore mathjax_ignore", "")
        assert re.sub("T_[0-9a-f]+", "", plain) == re.sub("T_[0-9a-f]+", "", theirs)
    pd.testing.assert_frame_equal(frame, before)


def test_no_notebook_has_a_styled_table_of_its_own():
    for path in map(notebook, PAGES):
        assert not re.search(r"(?<!figures)\.style\b", path.read_text(encoding="utf-8")), path.name


# --- figures


def test_dollar_in_a_figure_is_a_dollar():
    text = "US$ \\frac, US$ {x}^2"
    columns = ["relation", "model", "accuracy"]
    frame = pd.DataFrame([(text, text, 0.5)], columns=columns)
    with mpl.rc_context():
        mpl.rcParams["text.parse_math"] = True
        figures.style()
        marks = frame.rename(columns={"accuracy": "estimate"}).assign(low=0.4, high=0.6)
        grid = figures.marks(marks, x="relation", hue="model", label=text)
        [[ax]] = grid.axes
        ax.set_title(text)
        ax.figure.canvas.draw()
    assert text in [label.get_text() for label in ax.get_xticklabels()]


def tick_texts(axis) -> list[str]:
    axis.figure.canvas.draw()
    both = [*axis.get_majorticklabels(), *axis.get_minorticklabels()]
    return [label.get_text() for label in both if label.get_text()]


def test_letters_that_no_font_has_are_numbers_and_others_come_from_a_font_of_the_machine(
    monkeypatch, capsys, tmp_path
):
    """matplotlib itself says of which letters it would draw boxes."""
    import myst_nb
    from matplotlib import font_manager

    monkeypatch.setattr(myst_nb, "glue", lambda *_, **__: None)
    own = [f for f in font_manager.fontManager.ttflist if "mpl-data" in f.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    names = ["首都", "Zürich", "首都 b", "\u210a \u2117"]  # the last: of STIX, of DejaVu
    with mpl.rc_context(), warnings.catch_warnings():
        figures.style()
        warnings.simplefilter("error")
        figure = Figure()
        ax = figure.subplots()
        ax.plot(range(4), range(4), label="नगर")
        ax.set_yticks(range(4), names)
        ax.set(title="plain", xlabel="首都")
        ax.legend()
        figures.glue_figure(figure, "the-figure", pd.DataFrame({"x": names}))
        figure.savefig(tmp_path / "figure.svg")
    shown = [t.get_text() for t in ax.get_yticklabels()]
    assert shown == ["[1]", names[1], "[1] b", names[3]]
    assert (ax.get_title(), ax.get_xlabel()) == ("plain", "[1]")
    assert ax.get_legend().get_texts()[0].get_text() == "[2]"
    assert capsys.readouterr().out.endswith("names: [1] 首都, [2] नगर\n")


def test_logarithmic_axis_has_plain_labels():
    with mpl.rc_context():
        figures.style()
        ax = Figure().subplots()
        ax.set(yscale="log", ylim=(1e-6, 1e12))
        ax.set_yticks([1e-6, 1e-3, 1, 1e6, 1e12, 3e6])
        figures.plain_ticks(ax.yaxis)
        up = tick_texts(ax.yaxis)
        narrow, both = Figure().subplots(1, 2)
        narrow.loglog([20, 80], [20, 80])  # less than a decade: labels between the powers
        both.set(xscale="symlog", xlim=(-150, 150))
        styled = [tick_texts(ax.xaxis) for ax in (narrow, both)]
    assert up == ["10⁻⁶", "0.001", "1", "10⁶", "10¹²", "3,000,000"]
    assert {"20", "30", "40", "60"} <= set(styled[0]) and {"-100", "0", "100"} <= set(styled[1])


# --- plain names

PATHS = ["../../x", "", "é", "x" * 61, "book\n"]


def written(folder: Path, profile: str = "trial", **row) -> Path:
    notebook = projects.code("1").replace("n: int", "shipped: list[str] = []\nn: int", 1)
    project = projects.make(folder, {"10_a": notebook}, **{"10_a": row})
    path = project / "params" / "p.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8")) | {"profile": profile}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PATHS)
def test_profile_that_is_no_plain_name_is_refused(tmp_path, name):
    longest = "my-own_2" + "x" * 52
    path = written(tmp_path, longest, parameters={"shipped": [longest]})
    assert plan.read_plan(path).profile == longest
    for broken in ({"profile": name}, {"parameters": {"shipped": ["kamel", name]}}):
        with pytest.raises(BadInput, match="1 to 60 letters, digits, _ or -") as caught:
            plan.read_plan(written(tmp_path, **broken))
        assert repr(name[:80]) in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="1 to 60 letters, digits, _ or -"):
        answers.results(name)


# --- Markdown that the book composes


def rendered(markdown: str) -> BeautifulSoup:
    """What MyST makes of it, with the extensions of the book."""
    extensions = yaml.safe_load((TOP / "_config.yml").read_text())["parse"]
    config = MdParserConfig(enable_extensions=set(extensions["myst_enable_extensions"]))
    return soup(create_md_parser(config, RendererHTML).render(markdown))


@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_in_prose_and_tables_is_text(text):
    shown = rendered(f"A {foreign.plain(text)} **{foreign.plain(text)}**, {foreign.code(text)}.")
    assert seen(shown.get_text()) == seen(f"A {text} {text}, {text}.")
    assert {tag.name for tag in shown.find_all()} <= {"p", "strong", "code"}
    row = f"| {foreign.plain(text)} | {foreign.code(text)} | c |"
    table = rendered(f"| x | y | z |\n|---|---|---|\n{row}\n")
    assert [seen(cell.get_text()) for cell in table.find_all("td")] == [seen(text)] * 2 + ["c"]
    assert {tag.name for tag in table.find_all("td")[0].find_all()} == set()


# --- YAML

DEEP = "a: " + "[" * 5_000 + "]" * 5_000
LAUGHS = "a: &a [1, 1]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("a: 1\nb: 2\na: 3", 3, "key 'a' is given twice"),
        ("- x: [{y: 1,\n  y: 2}]", 2, "key 'y' is given twice"),
        (DEEP, 1, "more than 20 lists and mappings deep"),
        (LAUGHS, 2, "alias 'a' inside of an anchor"),
        ("a: &a [1]\nb: [" + "*a, " * 101 + "]", 2, "more than 100 aliases"),
    ],
)
def test_yaml_out_of_bounds_is_refused_with_its_line(text, line, rule):
    with pytest.raises(BadInput) as caught:
        yamlfile.load(text, "p.yaml")
    assert str(caught.value) == f"p.yaml, line {line}: {rule}"


@pytest.mark.parametrize("text", ["a: [", "a: !!python/name:os.system x", "9" * 5_000])
def test_text_that_is_no_yaml_is_refused_in_one_line(text):
    with pytest.raises(BadInput, match=r"p\.yaml: not YAML") as caught:
        yamlfile.load(text, "p.yaml")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


# What is written, what YAML 1.1 takes it for, and what to write, by the grammar of yaml.org/type.
OTHERWISE = [
    ("010", "means 8", "10, or '010' for text"),
    ("-1:00:01", "means -3601", "-3601, or '-1:00:01' for text"),
    ("2026-01-31", "is a date", "'2026-01-31'"),
    ("0o10", "is text", "8, or '0o10' for text"),
    ("1e3", "is text", "1000.0, or '1e3' for text"),
    ("0" * 99, "counts in eights", repr("0" * 60)),
    ("!!int '010'", "means 8", "10, or '010' for text"),
    ("2.5e-7", None, 2.5e-7),
    ("0x1F", None, 31),
    ("1:75", None, "1:75"),
    ("y", None, "y"),
]


@pytest.mark.parametrize(("written", "means", "right"), OTHERWISE)
def test_yaml_that_people_read_otherwise_is_refused_with_what_to_write(written, means, right):
    """As a value, as an item of a list and as a key; what they read as YAML does is read."""
    shown = written.removeprefix("!!int ").strip("'")[:60]
    for text, where, content in [
        ("a: 1\nb: {}", "b: ", {"a": 1, "b": right}),
        ("a:\n  b: [x, {}]", "b: ", {"a": {"b": ["x", right]}}),
        ("a: 1\n{}: b", "key ", {"a": 1, right: "b"}),
    ]:
        if means is None:
            found = yamlfile.load(text.format(written), "p.yaml")
            assert repr(found) == repr(content)  # 1 is not 1.0 here
            continue
        with pytest.raises(BadInput) as caught:
            yamlfile.load(text.format(written), "p.yaml")
        assert str(caught.value) == f"p.yaml, line 2: {where}{shown} {means} in YAML; write {right}"


def test_large_file_is_refused_before_it_is_read_whole(tmp_path):
    path = tmp_path / "p.yaml"
    with path.open("wb") as file:
        file.truncate(2**40)  # takes no room, and no memory would hold it
    with pytest.raises(BadInput, match="more than 1,000,000 bytes"):
        yamlfile.read(path)


def test_params_files_of_the_project_mean_what_they_meant():
    for path in profiles():
        assert yamlfile.read(path) == yaml.safe_load(path.read_text(encoding="utf-8")), path.name


# --- the terminal

ORDERS = [
    "\x1b[31mred\x1b[0m", "\x1b]0;owned\x07ok", "a\x08\x08b", "\x9b2J", "\x7f", "one\ntwo", "a\rb", "a\tb",
    "\u202eRome", "a\u2028b", "\u2066x\u2069", "a\x85b",
]  # fmt: skip
SOME = ["\x1b]0;owned\x07ok", "\u202eRome", "a\u2028b", "one\ntwo"]
SCRIPTS = [
    "Zürich", "北京", "Αθήνα", "القاهرة", "ירושלים", "\u0939\u093f\u0928\u094d\u200d\u0926\u0940", "🇫🇷",
    "C:\\x1b",
]  # fmt: skip
TURNS = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


def obeyed(sign: str) -> bool:
    """Whether Unicode says that a sign is a control, ends a line or turns it, or is half of one."""
    return (
        unicodedata.category(sign) in {"Cc", "Zl", "Zp", "Cs"}
        or unicodedata.bidirectional(sign) in TURNS
    )


def orders(text: str) -> list[str]:
    """What a terminal would obey in some output, but for the ends of its lines."""
    return [sign for sign in text if obeyed(sign) and sign != "\n"]


@pytest.fixture
def commanding(tmp_path):
    """A file of facts whose names all hold what a terminal obeys."""
    rows = [
        {"relation": name, "subject": f"{name}{n}", "object": f"{n % 6}{name}"}
        for name in [*ORDERS, *SCRIPTS]
        for n in range(12)
    ]
    path = tmp_path / "facts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_exactly_what_a_terminal_obeys_is_shown_as_its_escape():
    for first in range(0, sys.maxunicode, 256):
        signs = [chr(first + i) for i in range(256)]
        escapes = [f"\\x{ord(s):02x}" if first == 0 else f"\\u{ord(s):04x}" for s in signs]
        expected = [e if obeyed(s) else s for s, e in zip(signs, escapes, strict=True)]
        assert visible("".join(signs)) == "".join(expected)
        for sign in filter(obeyed, signs):
            assert json.loads(visible(json.dumps(sign, ensure_ascii=False), in_json=True)) == sign
    for text in SCRIPTS:
        assert visible(text) == text and visible(visible(f"{text}\x1b")) == f"{text}\\x1b"


def test_relations_are_listed_in_a_line_each_and_none_of_their_names_is_obeyed(lke, commanding):
    code, out, err = lke("facts", commanding)
    assert (code, err, orders(out)) == (0, "", [])
    head, *lines = out.splitlines()
    assert len(lines) == len({*map(of_relation, ORDERS + SCRIPTS)})  # gaps in names are spaces
    shown = [line.split("  ")[0] for line in lines]
    assert {"\\x1b]0;owned\\x07ok", "a\\x08\\x08b", "\\x9b2J", "Rome"} <= {*shown}
    assert {*SCRIPTS} <= {*shown}
    assert len({re.match(r".*?  +12 ", line).end() for line in lines}) == 1  # one below the other


def test_a_score_is_json_with_the_name_as_it_is_and_no_order_in_it(lke, commanding, tmp_path):
    name = of_relation(SOME[0])
    given = ["--facts", commanding, "--relation", name, "--shots", 2, "--options", 3]
    given += ["--estimator", "rule-frequent", "--out", tmp_path / "out"]
    code, out, err = lke("score", *given)
    assert (code, err, orders(out)) == (0, "", []) and out.count("\n") == 1
    assert json.loads(out)["relation"] == name
    code, out, err = lke("score", *given, "--options", "99")
    assert (code, out, orders(err)) == (2, "", []) and re.fullmatch("lke: .+\n", err)
    assert f"relation {visible(name)}" in err


@pytest.mark.parametrize("name", SOME[1:3])
def test_no_command_obeys_a_name_that_it_was_given(lke, tmp_path, monkeypatch, name):
    text = projects.code().replace("n: int = 1", "n: int = 1\nmodels: list[str] = []")
    row = {"parameters": {"models": ["toy", name]}, "each": ["models"]}
    path = projects.make(tmp_path, {"a": text}, a=row) / "params" / "p.yaml"
    for command in (
        ("status", path), ("run", path, "--dry-run"), ("run", path), (name,), ("score", f"--{name}"),
        ("facts", name), ("models", "--path", name), ("new", name, "--from", name), ("ipynb", name),
    ):  # fmt: skip
        code, out, err = lke(*command)
        assert code and orders(out + err) == [] and (name not in out + err), command


def test_every_line_of_the_commands_goes_through_one_function():
    for file in [*(TOP / "lkecore" / "cli").glob("*.py")]:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\b(?:echo|secho|print|write)\(", text), file
