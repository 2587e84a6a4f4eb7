"""Book: gather the finished runs of a plan into the book's folder, and build its pages.

Nothing is executed here. A page takes its prose from the notebook's source and its outputs from the
run, which has the same code, so that an edit of prose needs no new run.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat

from lkecore import grid, runs, weights
from lkecore.rows import BadInput


def gather(plan: grid.Plan, folder: Path) -> list[Path]:
    """Write the page of every job into ``book/notebooks``, from its finished run in ``folder``.

    Raises :class:`BadInput`, naming the notebooks, if a run is missing, unfinished or damaged: a
    book with a failed notebook in it must not come about.
    """
    found = [(job, runs.run_folder(folder, job)) for job in plan.jobs]
    manifests = [runs.manifest(run) for _, run in found]
    missing = [job.notebook.stem for (job, _), m in zip(found, manifests, strict=True) if m is None]
    if missing:
        raise BadInput(
            f"no finished run of {', '.join(missing)}; first: lke run with the same file"
        )
    target = plan.project / "book" / "notebooks"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    pages = []
    for (job, run), manifest in zip(found, manifests, strict=True):
        source = runs.read_notebook(job.notebook)
        executed = nbformat.read(run / "notebook.ipynb", as_version=4)
        data = sorted(run.glob("*.csv"))
        page = compose(source, executed, plan.profile, manifest, [path.name for path in data])
        path = target / f"{job.notebook.stem}.ipynb"
        nbformat.write(page, path)
        for file in data:
            (target / job.notebook.stem).mkdir(exist_ok=True)
            shutil.copy(file, target / job.notebook.stem)
        pages.append(path)
    return pages


def compose(
    source: Any, executed: Any, profile: str, manifest: dict[str, Any], data: list[str]
) -> Any:
    """One page: prose of the source, code cells of the run, a note on top, data below."""
    ran = [cell for cell in executed.cells if cell.cell_type == "code"]
    injected = [c for c in ran if "injected-parameters" in c.metadata.get("tags", [])]
    ran = [c for c in ran if c not in injected]
    code = [cell for cell in source.cells if cell.cell_type == "code"]
    if [c.source for c in code] != [c.source for c in ran]:
        raise BadInput(f"{manifest['notebook']}: the run has other code than the notebook")
    cells, ran = [], iter(ran)
    for number, cell in enumerate(source.cells):
        if cell.cell_type != "code":
            cells.append(cell)
        else:
            cell = next(ran)
            tags = cell.metadata.get("tags", [])
            if "parameters" in tags and injected:
                # The defaults are of no use beside the values that were taken.
                cell.metadata["tags"] = [*tags, "remove-input"]
                cells += [cell, *injected]
            else:
                cells.append(cell)
        if number == 0:
            cells.append(nbformat.v4.new_markdown_cell(_note(profile, manifest)))
    if data:
        name = manifest["notebook"]
        links = "\n".join(f"- {{download}}`{file} <{name}/{file}>`" for file in data)
        cells.append(nbformat.v4.new_markdown_cell(f"**Data of this page**\n\n{links}"))
    page = nbformat.v4.new_notebook(cells=cells, metadata=executed.metadata)
    page.metadata.pop("papermill", None)  # it holds the paths of one machine
    for cell in page.cells:
        cell.metadata.pop("papermill", None)
    return page


def _note(profile: str, manifest: dict[str, Any]) -> str:
    models = ", ".join(
        f"**{name}** ({weights.CATALOGUE.get(name, 'your own')}; digest `{digest[:12]}`, {manifest['dtype']})"
        for name, digest in manifest["models"].items()
    )
    warning = (
        "\n\nThe model is random: the numbers of this page show that the code runs, nothing more."
        if set(manifest["models"]) == {"toy"}
        else ""
    )
    return (
        f":::{{admonition}} Made by the profile {profile}\n:class: lke-profile\n"
        f"Model: {models or 'none'}. Computed {manifest['started'][:10]} in "
        f"{manifest['seconds']:.0f} s, run `{manifest['key'][:12]}`.{warning}\n:::"
    )


def build(project: Path) -> Path:
    """Build the HTML book with warnings as errors; returns the path of its first page.

    Raises :class:`BadInput` with Sphinx's own messages if a page has a warning.
    """
    shutil.rmtree(project / "_build", ignore_errors=True)
    start = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "build", "book", "--config", "_config.yml"]
    command += ["--path-output", ".", "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    index = project / "_build" / "html" / "index.html"
    if done.returncode or not index.exists():
        output = (done.stdout + done.stderr).splitlines()
        notable = [line for line in output if "WARNING" in line or "rror" in line] or output
        print(*notable[-20:], sep="\n", file=sys.stderr)
        raise BadInput("the book was not built, for the reasons above")
    return index
