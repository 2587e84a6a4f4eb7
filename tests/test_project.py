"""The files around the code: what they promise must be there."""

import csv
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import lkecore

TOP = Path(__file__).resolve().parent.parent


def read(name):
    return (TOP / name).read_text(encoding="utf-8")


def normal(name):
    """One spelling per package, as the package index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins():
    """constraints.txt as {package: version}."""
    lines = [line.strip() for line in read("constraints.txt").splitlines()]
    rows = [line for line in lines if line and not line.startswith("#")]
    return {normal(row.split("==")[0]): row.split("==")[1] for row in rows}


def git_files(*options):
    if not (TOP / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z", *options], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listing.split("\0") if name and (TOP / name).is_file()]


@pytest.fixture(scope="module")
def tracked():
    """Files that git tracks, or would track if they were added now."""
    return git_files("--cached", "--others", "--exclude-standard")


def readme_tree():
    """Paths in the README's annotated tree; a folder ends with a slash.

    Each line is two spaces per level, a name, two or more spaces, a comment.
    """
    block = re.search(r"^```text\n(lkecore/.*?)^```", read("README.md"), re.M | re.S).group(1)
    paths, parents = [], []
    for line in block.splitlines():
        indent, name = re.match(r"( *)(\S+)", line).groups()
        parents = parents[: len(indent) // 2]
        paths.append("".join(parents) + name)
        if name.endswith("/"):
            parents.append(name)
    return paths


def test_constraints_are_public_exact_versions():
    text = read("constraints.txt")
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert rows[0].startswith("torch==")
    for row in rows:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", row), row
    assert not [row for row in rows if re.match(r"(nvidia|cuda|triton)", row, re.I)]
    assert len(rows) == len(pins()), "a package is listed twice"


def test_every_dependency_has_a_constraint():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = project["dependencies"] + sum(project["optional-dependencies"].values(), [])
    names = {normal(re.match(r"[\w.-]+", item).group()) for item in wanted}
    assert names <= set(pins())
    for item in wanted:
        if "==" in item:
            name, version = item.split("==")
            assert pins()[normal(name.partition("[")[0])] == version


def test_home_citation_and_changes_name_this_version_one_address_and_four_papers():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert f"## {lkecore.__version__}" in read("CHANGELOG.md")
    assert len(citation["references"]) == 4
    [entry] = re.findall(r"^@software\{lkecore,\n(.*?)^\}", read("book/index.md"), re.M | re.S)
    said = dict(re.findall(r"^  (\w+) *= \{(.*)\},$", entry, re.M))
    assert said["version"] == lkecore.__version__ == citation["version"]
    address = yaml.safe_load(read("_config.yml"))["repository"]["url"]
    assert said["url"] == citation["url"] == citation["repository-code"] == address
    assert said["title"] == citation["title"] and said["license"] == citation["license"]


def test_readme_tree_equals_the_folder(tracked):
    tree = readme_tree()
    assert len(tree) == len(set(tree))
    missing = [path for path in tree if not (TOP / path).exists()]
    assert not missing, f"in the README, not in the folder: {missing}"
    # A folder without entries of its own in the tree stands for all that it holds.
    leaves = tuple(
        p for p in tree if p.endswith("/") and not any(q != p and q.startswith(p) for q in tree)
    )
    # A fork in notebooks/ or a file such as params/mine.yaml is the reader's own: no need to list it.
    ours = [name for name in tracked if name.startswith("lkecore/")]
    ours += git_files("--cached", "params/models.lock", "notebooks/ruff.toml")
    shown = [
        name for name in ours if not name.endswith("/__init__.py") and not name.startswith(leaves)
    ]
    unlisted = sorted(set(shown) - set(tree))
    assert not unlisted, f"in the folder, not in the README: {unlisted}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_relative_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#\s]+)", read(name)):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (TOP / target).exists(), target


def test_lke_commands_in_the_readme_exist_with_their_options():
    from click.testing import CliRunner

    from lkecore.cli.main import lke

    commands = re.findall(r"\blke ([a-z]+)([^`\n]*)", read("README.md"))
    assert {"run", "book", "score"} <= {name for name, _ in commands}
    for name, rest in commands:
        shown = CliRunner().invoke(lke, [name, "--help"])
        assert shown.exit_code == 0, shown.output
        for option in re.findall(r"--[a-z-]+", rest):
            assert re.search(rf"(?<!\S){option}\b", shown.output), f"lke {name} has no {option}"


def test_each_planted_fault_has_its_line_and_its_tests():
    """`tools/faults.py` takes half an hour, and stops at one whose line was changed since."""
    with (TOP / "tests" / "faults.csv").open(encoding="utf-8", newline="") as file:
        faults = list(csv.DictReader(file))
    for fault in faults:
        assert (TOP / fault["file"]).read_text(encoding="utf-8").count(fault["before"]) == 1, fault
        assert fault["after"] != fault["before"], fault
        tests = [each for each in shlex.split(fault["tests"]) if each.endswith(".py")]
        assert tests and all((TOP / each).exists() for each in tests), fault


def test_no_tracked_text_names_a_home_folder(tracked):
    home = re.compile(r"(?<![\w.:/~-])/(home|Users|root|work)/\w")
    found = []
    for name in tracked:
        try:
            text = read(name)
        except UnicodeDecodeError:
            continue  # a picture or a font
        found += [f"{name}: {match.group()}" for match in home.finditer(text)]
    assert not found
