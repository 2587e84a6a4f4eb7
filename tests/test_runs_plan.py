"""Plan: a params file becomes jobs, or one line that says what is wrong with it."""

import itertools

import projects
import pytest
import yaml

from lkecore import runs
from lkecore.errors import BadInput
from lkecore.runs import plan

NOTEBOOK = """# %% tags=["parameters"]
n: int = 1  # how many
word: str = "a"
share: float = 0.5
flag: bool = False
names: list[str] = []
draws: list[int] = [0, 1]

# %%
print(n)
"""


@pytest.fixture
def project(tmp_path):
    return projects.make(tmp_path, {"a": NOTEBOOK})


def write(project, parameters=None, each=None):
    row = {"notebook": "a", "parameters": parameters or {}} | ({"each": each} if each else {})
    content = {"profile": "trial", "runs": [row]}
    (project / "params" / "p.yaml").write_text(yaml.safe_dump(content))


def read(project, parameters=None, each=None):
    write(project, parameters, each)
    return projects.plan(project)


def refused(project, parameters=None, each=None):
    """The one line by which a plan is refused; it names the file."""
    with pytest.raises(BadInput) as caught:
        read(project, parameters, each)
    line = str(caught.value)
    assert line.startswith(str(project / "params" / "p.yaml")) and "\n" not in line
    return line


# --- what YAML reads otherwise than people -------------------------------------------------------------


def of_text(project, parameters, profile="trial", notebook="a"):
    file = project / "params" / "p.yaml"
    row = f"  - notebook: {notebook}\n    parameters: {{{parameters}}}\n"
    file.write_text(f"profile: {profile}\nruns:\n{row}")
    return projects.plan(project)


def test_hf_is_left_out_wherever_a_parameter_names_models(tmp_path):
    more = "families: list[list[str]] = []\nalone: list[str] = []\nn: int"
    project = projects.make(tmp_path, {"a": NOTEBOOK.replace("n: int", more)})
    given = "families: [[hf:org/a, 'hf:org/b@v1'], [toy, org/c]], alone: [hf:org/d], word: hf:org/e"
    [job] = of_text(project, given).jobs
    assert job.effective["families"] == [["org/a", "org/b@v1"], ["toy", "org/c"]]
    assert (job.effective["alone"], job.effective["word"]) == (["org/d"], "hf:org/e")


@pytest.mark.parametrize("written", ["On", "NO"])
def test_yes_and_no_are_for_a_parameter_that_is_true_or_false(project, written):
    [job] = of_text(project, f"flag: {written}, word: 'no', names: ['yes', \"off\"]").jobs
    assert job.effective["flag"] is (written.lower() in ("yes", "on", "true"))
    assert (job.effective["word"], job.effective["names"]) == ("no", ["yes", "off"])


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["word: no"], "4: word: no means false in YAML; write false, or 'no'"),
        (["off: 1"], "4: key off means false in YAML; write false, or 'off'"),
        (["n: 010"], "4: n: 010 means 8 in YAML; write 10, or '010'"),
    ],
)
def test_what_yaml_reads_otherwise_than_people_is_refused_before_anything_else(
    project, given, line
):
    with pytest.raises(BadInput) as caught:
        of_text(project, *given)
    start = f"{project / 'params' / 'p.yaml'}, line {line}"
    assert str(caught.value) in (start, f"{start} for text")


# --- each -----------------------------------------------------------------------------------------


def test_each_makes_a_run_of_every_combination_in_the_order_of_the_file(project):
    whole = read(project, {"names": ["x", "y"], "draws": [7, 3, 5], "n": 9}, ["names", "draws"])
    [row] = whole.rows
    assert row.has_page and whole.jobs == row.jobs
    expected = list(itertools.product(["x", "y"], [7, 3, 5]))
    assert expected[1] == ("x", 3)  # the last list moves fastest
    for job, (name, draw) in zip(row.jobs, expected, strict=True):
        assert job.part == {"names": [name], "draws": [draw]}
        assert job.label == f"a names={name} draws={draw}"
        assert job.parameters == {"names": [name], "draws": [draw], "n": 9}
        assert job.effective["word"] == "a" and job.effective["draws"] == [draw]
    assert row.whole.effective["draws"] == [7, 3, 5] and row.whole.part == {}
    keys = {runs.run_key(job) for job in row.jobs}
    assert len(keys) == 6
    [alone] = read(project, {"names": ["x"], "draws": [3], "n": 9}).jobs
    assert runs.run_key(alone) in keys  # whoever names it


def test_each_divides_the_defaults_too_and_a_list_of_one_needs_no_page(project):
    [row] = read(project, {}, ["draws"]).rows
    assert [job.part for job in row.jobs] == [{"draws": [0]}, {"draws": [1]}]
    [row] = read(project, {"draws": [4]}, ["draws"]).rows
    assert [job.part for job in row.jobs] == [{"draws": [4]}] and not row.has_page


def test_too_many_runs_are_refused_before_they_are_listed(project, monkeypatch):
    monkeypatch.setattr(plan, "MOST_JOBS", 4)
    assert len(read(project, {"draws": [0, 1, 2, 3]}, ["draws"]).jobs) == 4
    assert "makes 5 runs, and 4" in refused(project, {"draws": [0, 1, 2, 3, 4]}, ["draws"])


# --- reads ----------------------------------------------------------------------------------------


def reading(tmp_path, reads, **more):
    """The plan of a, with two runs, of b, with one, and of c, which reads."""
    project = projects.make(
        tmp_path,
        {"a": NOTEBOOK, "b": NOTEBOOK, "c": NOTEBOOK},
        a={"each": ["draws"]},
        c={"reads": reads} | more,
    )
    return projects.plan(project)


def test_a_row_that_reads_is_a_page_over_the_runs_of_the_rows_it_names(tmp_path):
    whole = reading(tmp_path, ["b", "a"])
    a, b, c = whole.rows
    assert c.jobs == (*b.jobs, *a.jobs) and c.has_page and c.reads
    assert whole.jobs == (*a.jobs, *b.jobs)  # no run stands there twice, and c has none
    page = plan.page_of(c, [tmp_path / str(i) for i in range(3)])
    assert page.label == "c page" and page.notebook.stem == "c" and len(page.reads) == 3


@pytest.mark.parametrize(
    ("reads", "more", "message"),
    [
        (["d"], {}, "c: reads: 'd' has no runs in a row above; there are: a, b"),
        ([["a"]], {}, "c: reads must be a list of notebooks, found [['a']]"),
        (["a", "a"], {}, "c: reads names something twice: ['a', 'a']"),
        (["a"], {"each": ["draws"]}, "c: each makes runs, and reads is for a page that has none: take one"),
    ],
)  # fmt: skip
def test_reads_of_what_has_no_runs_above_is_refused(tmp_path, reads, more, message):
    with pytest.raises(BadInput) as caught:
        reading(tmp_path, reads, **more)
    assert str(caught.value).endswith(message)


def test_a_row_that_reads_has_no_models_of_its_own_and_is_read_by_no_other(tmp_path):
    asks = NOTEBOOK.replace("n: int", 'models: list[str] = ["toy"]\nn: int')
    rows = {"b": {"reads": ["a"]}, "c": {"reads": ["b"]}}
    project = projects.make(tmp_path, dict.fromkeys("abc", NOTEBOOK), **rows)
    with pytest.raises(BadInput, match="c: reads: 'b' has no runs in a row above; there are: a"):
        projects.plan(project)
    project = projects.make(tmp_path, {"a": NOTEBOOK, "b": asks}, b={"reads": ["a"]})
    with pytest.raises(BadInput, match="b: reads is for a notebook without models or a fact set"):
        projects.plan(project)


@pytest.mark.parametrize(
    ("names", "kept", "jobs"),
    [(["b", "a"], "ab", 3), (["c"], "bc", 1)],
)
def test_only_some_rows_are_those_rows_and_what_they_read(tmp_path, names, kept, jobs):
    whole = reading(tmp_path, ["b"])
    found = plan.only(whole, names)
    assert "".join(row.whole.notebook.stem for row in found.rows) == kept
    assert len(found.jobs) == jobs and found.project == tmp_path
    with pytest.raises(BadInput, match="trial has no row of notebook 'cc'; nearest: c"):
        plan.only(whole, [*names, "cc"])


def test_lke_run_takes_only_those_rows_in_the_order_of_the_file(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from lkecore.cli import runs as commands

    taken = []
    monkeypatch.setattr(commands, "carry_out", lambda whole, *_: taken.append(whole))
    project = projects.make(tmp_path, {"a": NOTEBOOK, "b": NOTEBOOK, "c": NOTEBOOK})
    done = CliRunner().invoke(
        commands.run_plan, [str(project / "params" / "p.yaml"), "--only", "b", "--only", " a, "]
    )
    assert done.exit_code == 0, done.output
    assert [row.whole.notebook.stem for row in taken[0].rows] == ["a", "b"]


def test_a_notebook_of_an_older_version_is_refused_with_all_that_is_gone(project):
    projects.edit(project, "a", "n: int", "page: bool = False\nn: int")
    with pytest.raises(
        BadInput,
        match=r"^a.py: page, results, n_again and notebook are gone. .*results: .*n_again: ",
    ):
        read(project)


# --- what is refused ------------------------------------------------------------------------------

TWICE = [["a", "b"], ["a", "b"]]
NAMING = 'models: list[str] = ["toy"]\nrelation: str = "capital"\nfact_set: str = "atlas"'
LAB = 'models: list[str] = ["lab:smoke-1/0.15m"]\nrelation: str = "author"\nfact_set: str = "lab:smoke-1"'
REFUSED = [
    # declared beside the others, given, each, what is said
    ("", {"wort": 1}, None, "parameter 'wort' is unknown; nearest: word"),
    ("", {"page": True}, None, "parameter 'page' is gone: "),
    ("", {"n": True}, None, "parameter 'n' must be int, found True"),
    ("", {"share": float("inf")}, None, "parameter 'share' must be finite, found inf"),
    ("", {"draws": [0, -1]}, None, "parameter 'draws' must be 0 or more, found -1"),
    ("", [1], None, "parameters of a must be names and values"),
    ("n_facts: int = 3", {"n_facts": 0}, None, "'n_facts' must be 1 or more, found 0"),
    ('dtype: str = "float32"', {"dtype": "float99"}, None, "'dtype' must be one of float32"),
    ("pairs: list[list[str]] = []", {"pairs": TWICE}, None, "'pairs' names something twice: [["),
    (
        "estimators: list[str] = []",
        {"formats": ["a"]},
        None,
        "'formats' is now called 'estimators'",
    ),
    (NAMING, {"fact_set": ""}, None, "'fact_set' must not be empty"),
    (NAMING, {"fact_set": "nowhere"}, None, "unknown fact set 'nowhere'"),
    (NAMING, {"relation": "capitol"}, None, "relation 'capitol' in atlas; nearest: capital"),
    (LAB, {"models": ["lab:smoke-1/0.15"]}, None, "the lab has no model '0.15'; nearest: 0.15m"),
    (LAB, {"fact_set": "lab:smok-0"}, None, "lab:smok-0: unknown size 'smok'; nearest: smoke"),
    ("", {}, ["names"], "a: each: names is empty, so that there is nothing to run"),
    ("", {}, ["draw"], "a: each: 'draw' is unknown; nearest: draws"),
    ("", {}, ["n"], "a: each: 'n' is int, not a list to divide"),
    ("", {}, "draws", "a: each must be a list of parameters, found 'draws'"),
    ("", {}, ["draws", "draws"], "a: each names something twice: ['draws', 'draws']"),
]


@pytest.mark.parametrize(("declared", "parameters", "each", "message"), REFUSED)
def test_a_row_that_makes_no_sense_is_refused_before_anything_runs(
    project, declared, parameters, each, message
):
    if declared:
        projects.edit(project, "a", 'word: str = "a"', declared)
    assert message in refused(project, parameters, each)


def test_all_complaints_of_a_file_are_told_at_once_each_with_its_parameter(tmp_path):
    declared = 'models: list[str] = ["toy"]\nrelations: list[str] = []\nfact_set: str = "atlas"'
    text = NOTEBOOK.replace('word: str = "a"', declared)
    project = projects.make(tmp_path, dict.fromkeys("abc", text))
    path = project / "params" / "p.yaml"
    wrong = {"models": ["smollm3"], "relations": ["capitol", "currencies"]}
    rows = [
        {"notebook": "a", "parameters": {"n": "3", "draws": [-1]}},
        {"notebook": "b", "parameters": wrong},
        {"notebook": "nb"},
        {"notebook": "c", "reads": ["a"]},  # a is not there for a reason of its own
    ]
    path.write_text(yaml.safe_dump({"profile": "p", "runs": rows}))
    with pytest.raises(BadInput) as caught:
        plan.read_plan(path)
    told = [line.removeprefix(f"{path}: ").split(";")[0] for line in caught.value.args]
    assert told == [
        "a: parameter 'draws' must be 0 or more, found -1",
        "a: parameter 'n' must be int, found '3'",
        "b: parameter 'models': unknown model 'smollm3': not in the catalogue, no lab:WORLD/MODEL, no folder "
        "or .gguf file, and no hub id org/name",
        "b: parameter 'relations': unknown relation 'capitol' in atlas",
        "b: parameter 'relations': unknown relation 'currencies' in atlas",
        "unknown notebook 'nb'",
    ]


# --- the file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("profile: x\nruns: []", "runs is empty"),
        ("profile: 1\nruns: []", "profile must be a name and runs a list"),
        ("", "expected the keys profile and runs"),
        ("profile: x\nruns: [{notebook: aa}]", "unknown notebook 'aa'; nearest: a"),
        ("profile: x\nruns: [{notebook: a}, {notebook: a}]", "'a' is named twice"),
        (
            "profile: x\nruns: [{notebook: a, parameter: {}}]",
            "a run has a notebook, parameters, each or reads",
        ),
        ("profile: [\nruns", "not YAML"),
    ],
)
def test_a_params_file_of_another_form_is_refused(project, content, message):
    (project / "params" / "p.yaml").write_text(content)
    with pytest.raises(BadInput) as caught:
        projects.plan(project)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_params_file_must_lie_beside_the_notebooks_and_be_a_file(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "p.yaml"
    elsewhere.write_text((project / "params" / "p.yaml").read_text())
    with pytest.raises(BadInput, match="must lie in a folder beside notebooks/"):
        plan.read_plan(elsewhere)
    with pytest.raises(BadInput, match="cannot be read"):
        plan.read_plan(project / "params" / "q.yaml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n: int = 1", "n = 1", "a.py: a parameter is not of the form name: type = literal"),
        (' tags=["parameters"]', "", "a.py: 0 cells tagged parameters, expected one"),
    ],
)
def test_parameters_must_be_annotated_literals_in_one_cell(project, old, new, message):
    projects.edit(project, "a", old, new)
    with pytest.raises(BadInput, match=message):
        projects.plan(project)
