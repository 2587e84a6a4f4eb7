"""In process: runs whose cells are executed here, where everything is imported; no worker, no kernel.

All else of a run is true: its order, its lock, what it keeps and its manifest.
"""

import contextlib
import io
import logging
import os
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import matplotlib
import nbformat.v4
from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from papermill.engines import Engine, NBClientEngine, papermill_engines

from lkecore.runs import devices, grid, plan, worker

INLINE = "module://matplotlib_inline.backend_inline"


class InThisProcess(Engine):
    """For papermill: an IPython shell in the place of a kernel."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **_):
        nb_man.nb.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance(display_pub_class=CapturingDisplayPublisher)
        shown = shell.display_pub.outputs
        shell.display_trap.hook = CapturingDisplayHook(shell=shell, outputs=shown)
        try:
            for i, cell in enumerate(nb_man.nb.cells):
                if cell.cell_type != "code" or not cell.source.strip():
                    continue
                nb_man.cell_start(cell, i)
                shown.clear()
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    error = shell.run_cell(cell.source).error_in_exec
                cell.execution_count = i + 1
                cell.outputs = [nbformat.v4.new_output("stream", text=said.getvalue())]
                cell.outputs = cell.outputs[: bool(said.getvalue())]
                for each in shown:
                    given = {key: each[key] for key in ("data", "metadata")}
                    cell.outputs.append(nbformat.v4.new_output("display_data", **given))
                if error is not None:
                    about = {"ename": type(error).__name__, "evalue": str(error), "traceback": []}
                    cell.outputs.append(nbformat.v4.new_output("error", **about))
                    nb_man.cell_exception(cell, i)
                    break
                nb_man.cell_complete(cell, i)
        finally:
            InteractiveShell.clear_instance()


def _carried_out(order: Path, output: Path, env: dict[str, str]) -> SimpleNamespace:
    """In the place of a worker's process: its order, carried out at once."""
    log = logging.getLogger("papermill")
    before, backend = list(log.handlers), matplotlib.get_backend()
    matplotlib.use(INLINE)
    try:
        with mock.patch.dict(os.environ, env), output.open("w") as words:
            with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
                code = worker.carry_out(order)
    finally:
        matplotlib.use(backend)
        for handler in [each for each in log.handlers if each not in before]:
            log.removeHandler(handler)
            handler.close()
    return SimpleNamespace(
        pid=os.getpid(),
        stdin=None,
        returncode=code,
        poll=lambda: code,
        wait=lambda timeout=None: code,
    )


def execute(whole: plan.Plan, target: Path) -> grid.Outcome:
    """As :func:`lkecore.runs.grid.execute`, one run after the other."""
    papermill_engines.register(None, InThisProcess)
    try:
        with mock.patch.object(grid, "_process", _carried_out):
            return grid.execute(whole, target, devices.Settings(jobs=1, threads=1))
    finally:
        papermill_engines.register(None, NBClientEngine)
