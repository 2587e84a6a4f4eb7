"""Build: collect the finished runs of a plan in the book's folder, and build its pages.

No notebook is executed here. A page takes its prose from the notebook's source and its outputs from the
run, which has the same code, so that an edit of prose needs no new run.
"""

import copy
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from filelock import FileLock, Timeout
from sphinx_external_toc.parsing import parse_toc_yaml

from lkecore import runs
from lkecore.answers import show
from lkecore.answers.shipped import FOLDER, about_of, results, table
from lkecore.book import ask, coverage, decks, fork, home, provenance, sentence, state, verdicts
from lkecore.book.foreign import code, plain
from lkecore.errors import BadInput, visible
from lkecore.models import weights
from lkecore.runs import plan
from lkecore.storage import DATA, file_digest, read_frame, write_whole

# Sphinx's trees are many objects that stay: garbage collection as often as by default took a tenth of a
# build.
SPHINX = (
    "import gc, sys; gc.set_threshold(200_000, 50, 50); "
    "from jupyter_book.cli.main import main; sys.exit(main())"
)
# The text on which a reader clicks to see the cell of all parameters, below those that a run has set.
ALL = {
    f"code_prompt_{what.lower()}": f"{what} all, with their defaults" for what in ("Show", "Hide")
}
LARGEST = 20 * 2**20  # bytes of a file that a page offers: larger ones would swell the book


@contextmanager
def alone(project: Path) -> Iterator[None]:
    """Within, nobody else makes the book of this project: two commands would remove each other's files.

    Raises :class:`BadInput` at once if somebody does. The system releases the lock of a process that dies.
    """
    lock = project / "_build" / "book.lock"
    lock.parent.mkdir(exist_ok=True)
    try:
        with FileLock(lock).acquire(timeout=0):
            yield
    except Timeout:
        raise BadInput(
            f"{project / 'book'} is being built by another command; wait for it"
        ) from None


def collect_pages(whole: plan.Plan, folder: Path) -> list[Path]:
    """Write the page of every experiment into ``book/notebooks``, from the finished runs in ``folder``.

    The page of an experiment with one run is that run. ``book/coverage.md`` says what all pages cover,
    ``book/verdicts.md`` what they say of claims, and ``book/findings.md`` opens the book; the slides of its
    lessons are in ``book/notebooks/decks``. Raises :class:`BadInput`, naming the notebooks, if a run or a
    page is missing, unfinished or damaged, if the contents list one without a row, or if a sentence is not
    true.
    """
    _check_contents(whole)
    found = [plan.finished(row, folder) for row in whole.rows]
    if lacking := [
        job.notebook.stem for job, *rest, behind in found if None in [*rest, *behind.values()]
    ]:
        raise BadInput(
            f"no finished run of {', '.join(lacking)}; first: lke run with the same file"
        )
    sentence.refuse_own(whole, [(job, shown) for job, shown, *_ in found])
    covered = [
        place
        for job, shown, manifest, behind in found
        for place in coverage.of_page(
            *_cells(job.notebook, shown),
            job.notebook.stem,
            coverage.Asked(tuple(manifest["models"]), _of_run(job.effective, behind)),
            _shipped(job),
        )
    ]
    target = whole.project / "book" / "notebooks"
    tests = coverage.in_tests(whole.project / "tests")
    behind_each = {job.notebook.stem: shown.name for job, shown, _, _ in found}
    listed = coverage.page(covered, tests, whole.profile, behind_each)
    write_whole(target.parent / "coverage.md", listed)
    judged = {job.notebook.stem: verdicts.read(shown) for job, shown, _, _ in found}
    judged = {page: frame for page, frame in judged.items() if frame is not None}
    write_whole(target.parent / "verdicts.md", verdicts.page(judged, whole.profile))
    write_whole(target.parent / verdicts.ALL, verdicts.every(judged).to_csv(index=False))
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    pages = [
        write_page(job.notebook, shown, manifest, behind, whole.profile, target)
        for job, shown, manifest, behind in found
    ]
    of = {job.notebook.stem: (shown, manifest["models"]) for job, shown, manifest, _ in found}
    home.write(target.parent, of)
    decks.write(target.parent, of)
    return pages


def _check_contents(whole: plan.Plan) -> None:
    """Raise :class:`BadInput` for pages in the contents without a row.

    Sphinx would only say of each missing page which other pages link to it.
    """
    contents = whole.project / "book" / "_toc.yml"
    pages = map(Path, parse_toc_yaml(contents)) if contents.exists() else ()
    rows = {row.whole.notebook.stem for row in whole.rows}
    if none := [p.name for p in pages if p.parent.name == "notebooks" and p.name not in rows]:
        raise BadInput(
            f"a book needs a row for each notebook of {contents}; profile {whole.profile} has none for "
            f"{', '.join(none)}. One page alone: lke page NAME"
        )


def _shipped(job: runs.Job, folder: Path | None = None) -> list[coverage.Asked]:
    """The shipped answers of a notebook, and of pages that lead on to it, in the profiles of its page."""
    stems, moved = [job.notebook.stem], job.notebook.parent.parent / "book" / "moved.csv"
    if moved.exists():
        every = pd.read_csv(moved)
        stems += [*every["old"][every["new"] == stems[0]]]
    profiles = job.effective.get("sources") or job.effective.get("shipped", [])
    made = table(folder)
    made = made[made["experiment"].isin(stems) & made["source"].isin(profiles)]
    asked = []
    for stem, its in made.groupby("experiment", sort=False):
        if not ((folder or FOLDER) / f"{stem}.parquet").exists():
            continue  # only what models wrote ships of it
        answers = results(stem, folder)
        for source, rows in its.groupby("source", sort=False):
            about, mine = about_of(rows), answers[answers["source"] == source]
            mine = mine.dropna(axis=1, how="all")
            asked.append(
                coverage.Asked(tuple(about["models"]), _asked(about["parameters"], [mine]))
            )
    return asked


def _of_run(parameters: Mapping[str, Any], behind: Iterable[Path]) -> Mapping[str, Any]:
    """The parameters of some runs, with the relations that they have asked."""
    files = [file for folder in behind if (file := folder / "answers.parquet").exists()]
    return _asked(parameters, [read_frame(file) for file in files])


def _asked(parameters: Mapping[str, Any], answers: Sequence[pd.DataFrame]) -> Mapping[str, Any]:
    """The parameters, with only those relations that have answers: some may have been left out."""
    there = [frame["relation"] for frame in answers if "relation" in frame]
    if "relations" not in parameters or not there:
        return parameters
    return {**parameters, "relations": sorted(set(pd.concat(there).astype(str)))}


def _cells(notebook: Path, shown: Path) -> tuple[Any, Any]:
    """(a notebook as it is written, the same as it was executed)."""
    executed = nbformat.read(shown / "notebook.ipynb", as_version=4)
    return runs.read_notebook(notebook), executed


def write_page(
    notebook: Path,
    shown: Path,
    manifest: dict[str, Any],
    behind: dict[Path, dict[str, Any]],
    profile: str,
    target: Path,
) -> Path:
    """Write ``target/NAME.ipynb``, and beside it what it links: data, its runs, the plain notebook."""
    source, executed = _cells(notebook, shown)
    sentence.give_way(source, shown)
    beside = target / notebook.stem
    beside.mkdir()
    own = sentence.FILE, *(file.name for file in shown.glob(provenance.AGAIN))
    data = sorted(file for file in shown.glob("*.csv") if file.name not in own)
    for file in data:
        shutil.copy(file, beside)
    fork.export(notebook, beside / f"{notebook.stem}.ipynb")
    for run, kept in behind.items():
        (beside / run.name).mkdir()
        for name in ["manifest.json", *kept["files"]]:
            if (run / name).stat().st_size <= LARGEST and not name.endswith(".csv"):
                shutil.copy(run / name, beside / run.name)
    named = {run.name: kept for run, kept in behind.items()}
    path = target / f"{notebook.stem}.ipynb"
    below = provenance.section(source, manifest, named, shown) + provenance.files(
        beside, data, named
    )
    nbformat.write(compose(source, executed, profile, manifest, named, below), path)
    return path


def compose(
    source: Any,
    executed: Any,
    profile: str,
    manifest: dict[str, Any],
    behind: dict[str, dict[str, Any]],
    below: str,
) -> Any:
    """One page: prose of the source, code cells as executed, a note on top, and ``below``, what made it.

    ``behind`` has the manifests of the runs, by folder name.
    """
    ran = [cell for cell in executed.cells if cell.cell_type == "code"]
    injected = [c for c in ran if "injected-parameters" in c.metadata.get("tags", [])]
    ran = [c for c in ran if c not in injected]
    written = [cell for cell in source.cells if cell.cell_type == "code"]
    if [c.source for c in written] != [c.source for c in ran]:
        raise BadInput(f"{manifest['notebook']}: the run has other code than the notebook")
    cells, ran = [], iter(ran)
    for number, cell in enumerate(source.cells):
        if cell.cell_type != "code":
            cells.append(cell)
        else:
            # Captions and tags come from the source, like the prose: no key depends on them.
            metadata, cell = cell.metadata, next(ran)
            cell.metadata = copy.deepcopy(metadata)
            tags = cell.metadata.get("tags", [])
            if "parameters" in tags and injected:
                # Below the values that were used, since the prose speaks of others, too.
                cell.metadata["tags"] = [*tags, "hide-input"]
                cell.metadata["mystnb"] = ALL
                cells += [*injected, cell]
            else:
                cells.append(cell)
        if number == 0:
            cells.append(nbformat.v4.new_markdown_cell(_note(profile, manifest, behind)))
    cells.append(nbformat.v4.new_markdown_cell(below))
    for number, cell in enumerate(cells):
        cell["id"] = (
            f"cell-{number}"  # the default ids are random, and the same page would be another file
        )
    page = nbformat.v4.new_notebook(cells=cells, metadata=executed.metadata)
    for cell in injected:
        cell.metadata.pop("papermill", None)
    return page


def _note(profile: str, manifest: dict[str, Any], behind: dict[str, dict[str, Any]]) -> str:
    models = ", ".join(
        f"**{plain(manifest.get('labels', {}).get(name, name))}** ({weights.kind_of(name).about(name)}; "
        f"digest {code(digest[:12])}, {plain(manifest['dtype'])})"
        for name, digest in manifest["models"].items()
    )
    warning = (
        "\n\nThe model is random: the numbers of this page show that the code runs, nothing more."
        if set(manifest["models"]) == {"toy"}
        else ""
    )
    what = f"a page over {show.numbered(n, 'run')}," if (n := len(manifest["runs"])) else "run"
    seconds = sum(run["seconds"] for run in behind.values())
    return (
        f":::{{admonition}} Made by the profile {plain(profile)}\n:class: lke-profile\n"
        f"Model: {models or 'none'}. Computed {plain(manifest['started'][:10])} in "
        f"{seconds:.0f} s, {what} {code(manifest['key'][:12])}.{warning}\n:::"
    )


def build(project: Path) -> Path:
    """Build the HTML book with warnings as errors; returns the path of its first page.

    It is built in another folder: an older book stays until the new one is whole. One that was built of
    exactly the same files stays, too; otherwise Sphinx reads the pages that have changed
    (:mod:`lkecore.book.state`). Raises :class:`BadInput` with Sphinx's own messages if a page has a warning.
    :func:`alone` must prevent two builds at a time.
    """
    html = project / "_build" / "html"
    _put_back(html)
    if (project / "book" / f"{ask.PAGE}.md").exists():
        ask.write(project / "book" / "_static" / ask.PAGE)
    made_of, found = html.with_name("made_of"), _made_of(project)
    key = hashlib.sha256(json.dumps(found).encode()).hexdigest()
    if made_of.exists() and made_of.read_text() == key and (html / "index.html").exists():
        return html / "index.html"
    aside, before, kept = (html.with_name(name) for name in ("next", "before", "state"))
    for left in (aside, before):
        shutil.rmtree(left, ignore_errors=True)
    state.take(project, kept, aside / "_build", found)
    command = [sys.executable, "-c", SPHINX, "build", "book", "--config", "_config.yml"]
    command += ["--path-output", str(aside), "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    made = aside / "_build" / "html"
    if done.returncode or not (made / "index.html").exists():
        output = (done.stdout + done.stderr).splitlines()
        notable = [line for line in output if "WARNING" in line or "rror" in line] or output
        print(*map(visible, notable[-20:]), sep="\n", file=sys.stderr)
        shutil.rmtree(aside, ignore_errors=True)
        older = f"; the one before is still in {html}" if html.exists() else ""
        raise BadInput(f"the book was not built, for the reasons above{older}")
    made_of.unlink(missing_ok=True)
    if html.exists():
        os.replace(html, before)
    try:
        os.replace(made, html)
    finally:
        _put_back(html)
    state.leave(aside / "_build", kept, found)
    write_whole(made_of, key)
    for left in (aside, before):
        shutil.rmtree(left, ignore_errors=True)
    return html / "index.html"


def _put_back(html: Path) -> None:
    """Restore the older book, where a build ended after it was moved away and before the new one came."""
    before = html.with_name("before")
    if before.exists() and not html.exists():
        os.replace(before, html)


def _made_of(project: Path) -> state.Found:
    """Digests of all that a book is built of: its files, our code and the versions of libraries.

    Docstrings of our code count, too: one page shows them.
    """
    every = [*sorted((project / "book").rglob("*")), *sorted(DATA.parent.rglob("*"))]
    files = [path for path in every if path.is_file() and path.suffix != ".pyc"]
    found = {str(path): file_digest(path) for path in [*files, project / "_config.yml"]}
    libraries = sorted(f"{each.name} {each.version}" for each in importlib.metadata.distributions())
    return found | {"libraries": hashlib.sha256(json.dumps(libraries).encode()).hexdigest()}
