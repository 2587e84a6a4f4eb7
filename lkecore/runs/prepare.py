"""Prepare: put the models and facts that jobs name on this machine, before any job runs."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from lkecore import facts, progress, runs
from lkecore.errors import BadInput, first_line
from lkecore.models import lab, training, weights
from lkecore.runs import forkserver
from lkecore.runs.plan import check_relations

FETCHER = [sys.executable, "-m", "lkecore.runs.prepare"]


def needs(each: runs.Job) -> list[tuple[str, str]]:
    """The models and facts that a job names, as ("model", name) and ("facts", fact set)."""
    models, specs = runs.models_of(each.effective), runs.facts_of(each.effective)
    return [*(("model", name) for name in models), *(("facts", spec) for spec in specs)]


def absent(jobs: Iterable[runs.Job]) -> list[tuple[str, str]]:
    """The models and facts that jobs need and this machine lacks, models first; uses no network.

    A model of the lab that is not trained yet is among them: looking at a plan trains nothing.
    """
    wanted = dict.fromkeys(thing for each in jobs for thing in needs(each))
    ready = {"model": _is_here, "facts": facts.is_ready}
    lacking = [(kind, name) for kind, name in wanted if not ready[kind](name)]
    return sorted(lacking, key=lambda thing: thing[0] != "model")


def missing(jobs: Iterable[runs.Job]) -> list[str]:
    """The part of :func:`absent` that needs a network, as "model X" and "facts Y"."""
    return [f"{kind} {name}" for kind, name in absent(jobs) if not to_train(kind, name)]


def to_train(kind: str, name: str) -> bool:
    """Whether something absent is a model that is trained here, which uses no network."""
    return kind == "model" and weights.kind_of(name).trained_here


def _is_here(model: str) -> bool:
    if not to_train("model", model):
        return weights.is_ready(model)
    weights.check_name(model)
    try:
        return weights.present(model) is not None
    except BadInput:
        return False  # it ships and cannot be unpacked: :func:`refused` says why


def refused(kind: str, name: str) -> str:
    """Why a model that ships cannot be unpacked here, in the words of :func:`prepare`; otherwise ""."""
    if to_train(kind, name):
        try:
            weights.present(name)
        except BadInput as error:
            return str(error)
    return ""


@contextmanager
def fetching(things: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Within, a separate process fetches and converts things of :func:`absent` that are not trained here.

    At the end this waits for the process; an exception stops it. :func:`prepare`, which tries once more,
    reports why something could not be fetched.
    """
    # The pipe to the process ends with this one, and then the process ends.
    process = subprocess.Popen([*FETCHER, json.dumps(things)], stdin=subprocess.PIPE)
    try:
        yield
    except BaseException:
        process.terminate()  # it deletes its temporary files
        raise
    finally:
        process.wait()
        process.stdin.close()


def prepare(
    jobs: Iterable[runs.Job], environments: Sequence[dict[str, str]] | None = None
) -> dict[str, str]:
    """Fetch, convert or train what jobs name, each thing once, under a lock of its own.

    Models of the lab are trained side by side, one in each of the ``environments``, in processes that are
    forked where :mod:`lkecore.runs.forkserver` says that it is safe (None: one at a time, in fresh ones). All
    other things are prepared one by one.

    Returns {label of a job: why it cannot be run}, for jobs that lack something or name a relation that their
    facts turn out not to have; the others can run.
    """
    reasons: dict[str, str] = {}
    jobs = list(jobs)
    named = [name for each in jobs for kind, name in needs(each) if kind == "model"]
    of_lab = [name for name in named if lab.is_name(name)]
    fork = forkserver.trainer if environments else None  # they show whether there are devices
    untrained = training.train(of_lab, environments, fork)
    tried: dict[tuple[str, str], str | None] = {("model", n): why for n, why in untrained.items()}
    for each in jobs:
        wanted = needs(each)
        for thing in wanted:
            if thing not in tried:
                tried[thing] = _fetch(*thing)
        why = [tried[thing] for thing in wanted if tried[thing]]
        if not why:
            try:
                check_relations(each.effective)
            except BadInput as error:
                why = [str(error)]
        if why:
            reasons[each.label] = why[0]
    return reasons


def _fetch(kind: str, name: str) -> str | None:
    """Put a model or fact set on this machine; returns why that failed, or None."""
    try:
        weights.locate(name) if kind == "model" else facts.relations(name)
    except BadInput as error:
        return str(error)
    except OSError as error:  # a full disk: the others may be here already
        return f"{kind} {name}: {first_line(error)}"
    return None


def main() -> None:
    """Fetch what the one argument names, a list of kinds and names in JSON: for :func:`fetching`."""
    progress.end_with_the_parent()
    # A process in the background may ignore Ctrl-C; this signal ends it cleanly, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with suppress(KeyboardInterrupt):  # the process that started it reports that it was stopped
        for kind, name in json.loads(sys.argv[1]):
            _fetch(kind, name)


if __name__ == "__main__":
    main()
