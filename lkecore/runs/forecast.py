"""Forecast: how far a plan is, and what the rest of it would cost; no run is made here."""

import copy
import io
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from lkecore import answers, models, runs
from lkecore.answers import again, asking, written
from lkecore.errors import BadInput, noted, refuse
from lkecore.facts import filters
from lkecore.models import catalogue, served, weights
from lkecore.prompts.eiclke import Slots
from lkecore.runs import plan, prepare, worker
from lkecore.scores import blanks, tree
from lkecore.scores import expected as counting
from lkecore.scores.batches import check_kind
from lkecore.tasks import extraction, instill, ranking, use
from lkecore.tasks import served as options_served
from lkecore.train import cross_encoder

EXACT = 50  # facts of one call: the tokens of more are estimated from the first of them
SAMPLE = 20
CONTINUED = "prompts to continue"
FAILS = "would fail: "  # before the error message of a run
REQUESTS = "requests to a server"
ITS_OWN = "which objects are one token depends on the tokenizer"
FAST = 1e14  # operations a second of a GPU, two for each parameter and token
BEHIND = ("## Answers", "## Metrics")  # headings after which a notebook asks nothing more


def cost(each: runs.Job, target: Path) -> dict[str, Any]:
    """The cost of a run, before it is made.

    ``state`` is as in :func:`status`; ``model_bytes`` is that of the largest model in the dtype of the job,
    None where its size is unknown; ``tokens`` are to be forwarded in all, and ``from_cache`` of them are in
    the cache. The notebook's own steps up to its prompts count the tokens. For a job that would stop there
    they are None, and ``remark`` gives the reason. They are None, too, where a model of the lab is still to
    be trained, or ships and cannot be unpacked. Where another model is not on this machine, the toy's
    tokenizer replaces its own, and the remark says so.
    """
    _, state, remark = _state(each, target)
    row = {"state": state, "model_bytes": None, "tokens": None, "from_cache": None}
    if remark.startswith(FAILS):  # the size of such a model is unreadable, too
        return row | {"remark": remark}
    row["model_bytes"] = _largest(each)
    if state == "finished":
        return row | {"tokens": 0, "from_cache": 0, "remark": remark}
    absent = [name for kind, name in prepare.absent([each]) if kind == "model"]
    if untrained := [name for name in absent if prepare.to_train("model", name)]:
        # No other model can answer the questions of a notebook to a model of the lab.
        return row | {"remark": f"{', '.join(untrained)} to be trained first: tokens not counted"}
    if absent:
        remark = f"{', '.join(absent)} not here: tokens counted with the toy's tokenizer"
    total, saved, said = expected_tokens(each, absent)
    if said == ITS_OWN:
        return row | {"remark": f"tokens not counted: {said} of {', '.join(absent)}, to be fetched"}
    if CONTINUED in said and (hours := seconds(each, total or 0, FAST) / 3600):
        said += f", {hours:.1f} hours at {FAST:.0e} operations a second"
    remark = "; ".join(part for part in (said, remark) if part)
    return row | {"tokens": total, "from_cache": saved, "remark": remark}


def seconds(each: runs.Job, tokens: int, speed: float) -> float:
    """The seconds for so many tokens at ``speed`` operations a second; 0 if a model's size is unknown."""
    sizes = [catalogue.n_parameters(m) for m in runs.models_of(each.effective)]
    return 0.0 if not sizes or None in sizes else 2 * sum(sizes) / len(sizes) * tokens / speed


def _largest(each: runs.Job) -> int | None:
    sizes = [catalogue.n_parameters(m) for m in runs.models_of(each.effective)]
    if not sizes or None in sizes:
        return None
    return catalogue.resident_bytes(max(sizes), each.effective.get("dtype", "float32"))


def expected_tokens(
    each: runs.Job, absent: Sequence[str] = ()
) -> tuple[int | None, int | None, str]:
    """(tokens, those from the cache, remark), by the cells before the heading Answers or Metrics.

    The scorer is replaced by one that counts and answers with equal scores, which no result ever
    sees. The toy replaces the models ``absent``. Counting ends where a notebook asks for the
    network itself: no weights are loaded here. Calls with more than 50 facts are estimated from 20
    of them, and how many of these the cache has is not known.
    """
    if not absent:
        return _counted(each, absent)  # the contents of the cache change with every run
    # Jobs that differ only in models that are not here get the same answer. But a notebook with a model's
    # name in another parameter, as in a family, may refuse it by its name.
    others = {k: v for k, v in each.effective.items() if k not in ("model", "models")}
    told = json.dumps(others)
    alike = [name for name in absent if name not in told]
    named = ["toy" if name in alike else name for name in runs.models_of(each.effective)]
    key = each.notebook, each.notebook.read_bytes(), json.dumps([others, named])
    if key not in _known:
        _known[key] = _counted(each, absent)
    return _known[key]


_known: dict[tuple[Path, bytes, str], tuple[int | None, int | None, str]] = {}


def _counted(each: runs.Job, absent: Sequence[str]) -> tuple[int | None, int | None, str]:
    try:
        return _walk(each, absent, EXACT)
    except _TooFew:
        return _walk(each, absent, None)


def _walk(
    each: runs.Job, absent: Sequence[str], answered: int | None
) -> tuple[int | None, int | None, str]:
    """Execute the cells; in each call the first ``answered`` facts get answers, None: all.

    Most notebooks need no more than the first, and a frame of all takes long to build. Raises
    :class:`_TooFew` where the notebook may have missed the others.
    """
    counts: list[tuple[int, int]] = []
    remarks: list[str] = []
    texts: list[tuple[int, int]] = []  # greedy outputs, samples
    steps: Counter[str] = Counter()  # of training, by what is trained
    opened = models.open_model

    def open_here(name: str, **how: Any) -> models.Model:
        # Under its own name, by which the notebook keeps its answers.
        here = served.unasked if weights.is_served(name) else partial(opened, **how)
        model = here("toy" if name in absent else name)
        return replace(model, name=name)

    def count(model: Any, prompts: Any, *, separate: bool = False, **_: Any) -> tree.Scored:
        add(model, prompts, partial(counting.expected_tokens, separate=separate))
        return counting.equal_scores(prompts[:answered])

    def add(model: Any, asked: Any, expected: Any) -> None:
        _ = isinstance(model, served.Served) and model.network  # which it refuses
        if len(asked) > EXACT:
            few, more = (expected(model, asked[:n])[0] for n in (SAMPLE // 2, SAMPLE))
            each_more = (more - few) / (SAMPLE - SAMPLE // 2)
            counts.append((round(more + each_more * (len(asked) - SAMPLE)), 0))
            remarks[:] = [f"tokens estimated from {SAMPLE} facts of each {len(asked)}"]
            return
        total, saved = expected(model, asked)
        # Chunks that the cache has for the toy save another model nothing.
        counts.append((total, 0 if model.name in absent else saved))

    def at_blanks(model: Any, asked: Any, *, top: int = 0, **_: Any) -> Any:
        add(model, asked, partial(counting.blank_tokens, top=top))
        return counting.equal_shifts(asked, top)

    def at_one_mask(model: Any, prompts: Any, **_: Any) -> Any:
        add(model, prompts, counting.top_tokens)
        return counting.equal_tops(prompts[:answered])

    def count_causal(model: Any, prompts: Any, **how: Any) -> tree.Scored:
        check_kind(model, "causal")
        return count(model, prompts, **how)

    def through_the_door(model: Any, asked: Any) -> Any:
        """Count the questions of `answers.ask`: any estimator, a model of any kind."""
        if isinstance(asked[0], Slots):
            add(model, (), lambda lm, _: (counting.slot_tokens(lm, asked), 0))
            return counting.equal_scores([p for group in asked for p in group.asked]).frame
        if weights.is_served(model.name):
            model, some = replace(model, over_http=True), asked[:EXACT]
            n = len(options_served.questions(tree.encoded_prompts(model, some, False))[2])
            steps[REQUESTS] += n * len(asked) // len(some)
        return count(model, asked).frame

    def gone_on(model: Any, contexts: Any, *, n_samples: int | None = None, **how: Any) -> Any:
        check_kind(model, "causal")
        times = n_samples or 1
        longest = how["max_new_tokens"] * times  # at most

        def expected(lm: Any, some: Any) -> tuple[int, int]:
            return counting.beginning_tokens(lm, some) + longest * len(some), 0

        add(model, contexts, expected)
        texts.append((0, len(contexts) * n_samples) if n_samples else (len(contexts), 0))
        alone = {"text": "", "logprob": 0.0, "n_tokens": 1}
        return pd.DataFrame([alone] * (len(contexts) * times))

    def taught(model: Any, prompts: Any, recipe: Any, *, at: Any = (), **_: Any) -> Any:
        def expected(lm: Any, some: Any) -> tuple[int, int]:
            return instill.expected_tokens(lm, some, recipe, len(at) or 1), 0

        add(model, prompts, expected)
        return instill.nothing_learned(prompts, list(at) or [recipe.steps])

    def taught_all(model: Any, prompts: Any, asked: Any, recipe: Any, **_: Any) -> Any:
        def expected(lm: Any, some: Any) -> tuple[int, int]:
            return instill.expected_tokens(lm, some, recipe, -1), 0  # steps alone

        add(model, prompts, expected)
        return at_blanks(model, asked)

    def learned(model: Any, train: Any, validation: Any, recipe: Any, **how: Any) -> Any:
        start = how.get("start")
        tokens = extraction.expected_tokens(model, train, validation, recipe, start)
        add(model, (), lambda *_: (tokens, 0))
        steps["soft prompts"] += recipe.steps
        return extraction.unlearned(model, train, start)

    def given_back(model: Any, prompts: Any, facts: Any) -> pd.DataFrame:
        rows = extraction.rows_of(model, prompts, facts)
        every = [row for some in rows.values() for row in some]
        add(model, (), lambda *_: (sum(len(row.ids) for row in every), 0))
        all_known = np.tile([1.0, 0.0], (len(every), 1))
        return extraction.tidy(model, rows, facts, all_known)

    def ranked(model: Any, asked: Any, head: str, **_: Any) -> pd.DataFrame:
        add(model, asked, lambda lm, some: (use.ranked_tokens(lm, some), 0))
        return use.nothing(asked, model, f"{head}, untrained")[0][ranking.FRAME]

    def fine_tuned(model: Any, known: Any, parts: Any, asked: Any, setting: Any) -> Any:
        def expected(lm: Any, some: Any) -> tuple[int, int]:
            return use.expected_tokens(lm, known, parts, some, setting), 0

        add(model, asked, expected)
        size = catalogue.n_parameters(model.name)
        takes = f"{cross_encoder.memory(size) / 2**30:.2f}" if size else "an unknown number of"
        what = f"cross-encoders (tokens at most; to train all of {model.name}: {takes} GiB or more)"
        steps[what] += setting.recipe.steps
        return use.nothing(asked, model, setting.head)

    stand_ins: list[tuple[Any, str, Any]] = [
        (models, "open_model", open_here),
        (asking, "open_model", open_here),
        (models.Model, "network", property(_raising(_ByHand))),
        (tree, "option_logprobs", count_causal),
        (asking, "scored", through_the_door),
        (blanks, "shifts", at_blanks),
        (blanks, "tops", at_one_mask),
        (instill, "shifts", taught),
        (instill, "shifts_all", taught_all),
        (extraction, "learn", learned),
        (extraction, "ask", given_back),
        (use, "untrained", ranked),
        (use, "trained", fine_tuned),
        (written, "generate", gone_on),
        # Questions asked again are counted, and their answers cannot agree: all scores are equal here.
        (again, "agree", lambda *_, **__: 0),
        (answers, "agree", lambda *_, **__: 0),
        *([(filters, "one_token", _raising(_ItsOwn))] if absent else []),
    ]
    cells = runs.read_notebook(each.notebook).cells
    before = itertools.takewhile(lambda cell: not cell.source.startswith(BEHIND), cells)
    names, complaints = {"__name__": "__main__"}, []
    asking.opened.cache_clear()  # the toy has the name of another model
    try:
        with ExitStack() as stack, redirect_stdout(io.StringIO()):
            for stand_in in stand_ins:
                stack.enter_context(mock.patch.object(*stand_in))
            for cell in [c for c in before if c.cell_type == "code"]:
                # After one complaint any name may be missing: an error because of that is no complaint.
                with suppress(*[Exception][: len(complaints)]), noted(complaints):
                    exec(compile(cell.source, each.notebook.name, "exec"), names)
                if "parameters" in cell.metadata.get("tags", []):
                    names |= copy.deepcopy(each.effective)
            refuse(complaints)
    except _ItsOwn:
        return None, None, ITS_OWN
    except _ByHand:
        remarks.append("only what scores.tree.option_logprobs would compute is counted")
    except Exception as error:  # whatever it is, the run would stop there too
        if answered is not None and remarks:
            raise _TooFew from error
        return None, None, f"{FAILS}{type(error).__name__}: {' '.join(str(error).split())}"
    finally:
        asking.opened.cache_clear()
    for what, n in steps.items():
        remarks.append(f"{n:,} {'steps of ' * (what != REQUESTS)}{what}")
    if texts:
        prompts, samples = map(sum, zip(*texts, strict=True))
        remarks.append(f"{prompts:,} {CONTINUED}, {samples:,} samples, tokens at most")
    return sum(n for n, _ in counts), sum(n for _, n in counts), "; ".join(remarks)


class _TooFew(Exception):
    """A forecast stopped in a notebook whose questions it had not all answered."""


class _ItsOwn(Exception):
    """A notebook asks about objects of one token of a model that the toy replaces."""


class _ByHand(Exception):
    """A notebook asks for a network during a forecast."""


def _raising(stops: type[Exception]) -> Any:
    def stop(*_: Any) -> Any:
        raise stops

    return stop


def status(whole: plan.Plan, target: Path) -> list[tuple[str, str, str]]:
    """(label, state, remark) of each job and page: finished, failed, running, or waiting.

    The remark of a waiting one reports that a run would refuse it, for weights that ship and cannot be
    unpacked.
    """
    rows = []
    for row in whole.rows:
        found = [_state(each, target) for each in row.jobs]
        if not row.reads:  # otherwise its jobs are listed above
            rows += [(each.label, *seen) for each, (_, *seen) in zip(row.jobs, found, strict=True)]
        if row.has_page and all(state == "finished" for _, state, _ in found):
            page = plan.page_of(row, [folder for folder, _, _ in found])
            rows.append((page.label, *_state(page, target)[1:]))
        elif row.has_page:
            rows.append((f"{row.whole.label} page", "waiting", "for the runs behind it"))
    return rows


def _state(each: runs.Job, target: Path) -> tuple[Path | None, str, str]:
    """(folder, state, remark) of one job; no folder where the folder cannot be known yet."""
    absent = [] if each.reads else prepare.absent([each])
    if why := [said for said in (prepare.refused(*thing) for thing in absent) if said]:
        return None, "waiting", f"{FAILS}{why[0]}"
    if absent:
        own = [name for kind, name in absent if prepare.to_train(kind, name)]
        others = [name for kind, name in absent if not prepare.to_train(kind, name)]
        words = [(others, "fetched"), (own, "trained")]
        said = [f"{', '.join(names)} to be {done}" for names, done in words if names]
        return None, "waiting", ", ".join(said)
    try:
        folder = runs.run_folder(target, each)
    except BadInput as error:  # of a server that does not answer: its answer is part of the key
        return None, "waiting", str(error)
    if (done := runs.manifest(folder)) is not None:
        return folder, "finished", f"{done['started']}, {done['seconds']:.0f} s"
    with suppress(OSError):  # a folder that may only be read: no run is made in it from here
        if worker.is_taken(folder):
            return folder, "running", ""
    if (failed := runs.failure(folder)) is None:
        return folder, "waiting", ""
    return folder, "failed", f"{failed['error']} (see {folder})"
