"""The ``lke`` command: run notebooks, build the book, score one relation, look at models and facts."""

import errno
import io
import os
import sys
import traceback

import click

from lkecore import __version__
from lkecore.cli.book import (
    build_book,
    build_page,
    export_notebook,
    keep_results,
    new_notebook,
    report,
)
from lkecore.cli.compare import compare, power
from lkecore.cli.models import list_facts, list_models
from lkecore.cli.runs import fetch, run_plan, show_damaged, show_status
from lkecore.cli.score import score
from lkecore.errors import BadInput, of_file
from lkecore.progress import say

# Errors of a folder that is full, read-only or no folder: after a repair the same command continues.
UNUSABLE = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.ENOTDIR, errno.EEXIST,
}  # fmt: skip
# Options of lm-evaluation-harness, out of habit, and what does the same here.
HABITS = {
    "--tasks": "lke score has --facts and --relation, and lke facts lists the relations of a fact set",
    "--list": "lke facts lists the relations of a fact set, lke models the models",
    "--batch-size": "the work is cut to fit by itself; lke score has --memory-gb to bound it",
    "--model-args": "lke score has --model NAME (a hub id, a folder or a .gguf file), --dtype and --device",
    "--num-fewshot": "lke score has --shots",
    "--output-path": "lke score has --out FOLDER",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-v", "--verbose", is_flag=True, help="show where a mistake was found: the traceback")
@click.version_option(__version__, prog_name="lke")
@click.pass_context
def lke(context: click.Context, verbose: bool) -> None:
    """What facts does a language model know, and how sure can we be?"""
    context.ensure_object(dict)["verbose"] = verbose


for command in (
    score,
    list_models,
    list_facts,
    run_plan,
    show_status,
    show_damaged,
    fetch,
    build_book,
    build_page,
    report,
    compare,
    power,
    keep_results,
    new_notebook,
    export_notebook,
):
    lke.add_command(command)


def main() -> None:
    """Entry point: each mistake that the user can mend is one line on standard error; the exit code is 2.

    With ``lke -v`` the traceback comes before it.
    """
    settings: dict[str, bool] = {}

    def told(*lines: str) -> None:
        if settings.get("verbose"):
            for line in traceback.format_exc().splitlines():
                say(line, err=True)
        for said in lines:
            say(f"lke: {' '.join(said.split())}", err=True)
        sys.exit(2)

    _write_all_letters()
    try:
        sys.exit(lke(sys.argv[1:] or ["--help"], standalone_mode=False, obj=settings))
    except (BadInput, click.ClickException) as error:
        lines = error.args if isinstance(error, BadInput) else [error.format_message()]
        if isinstance(error, click.NoSuchOption):
            hint = HABITS.get(error.option_name.replace("_", "-"))
            lines = [f"no option {error.option_name}: {hint}"] if hint else lines
        told(*lines)
    except OSError as error:
        if error.errno in UNUSABLE:
            told(f"{of_file(error)}; what is finished is kept, the same command goes on")
        if error.filename is None:
            raise
        told(of_file(error))
    except UnicodeEncodeError as error:  # a name in the bytes of another encoding
        told(f"{error.object[:100]!r} is not text: a name of a file must be UTF-8")
    except click.Abort:  # Ctrl-C
        sys.exit(130)


def _write_all_letters() -> None:
    """From now on, here and in processes that we start, print an escape for a letter that a stream lacks.

    Names are in any script, and a terminal or a file may be ASCII or Latin-1: no line is lost because of
    that.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    os.environ["PYTHONIOENCODING"] = f"{encoding}:backslashreplace"
