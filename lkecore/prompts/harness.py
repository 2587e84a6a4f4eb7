"""Harness: questions as a task of lm-evaluation-harness, for any model that it can ask."""

import glob
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from lkecore.errors import BadInput, visible
from lkecore.prompts.prompt import Prompt
from lkecore.storage import write_whole

# A task has a name of this form unchanged. Others get letters of a digest: two may be equal in plain letters.
PLAIN = re.compile(r"lke [a-z0-9]+ [a-z0-9_]{1,80}")


def write_task(folder: Path, facts: str, relation: str, questions: Sequence[Prompt]) -> str:
    """Write NAME.yaml and NAME.jsonl into a folder; returns NAME, the task's, which no other relation has.

    ``facts`` is the name of the fact set, and ``relation`` one of its relations. A row has the question's
    context, the continuations as ``choices``, the number of the right one as ``gold``, and fact and subject
    for readers. The YAML file has the whole path of the rows: write the task anew after moving the folder.
    Raises :class:`BadInput` for a question with text after its blank, which no task of theirs asks, for a
    folder that cannot be written to, and where a task of other facts has the name.
    """
    if behind := next((p for p in questions if p.after.strip()), None):
        raise BadInput(
            f"fact {behind.fact}: {behind.after!r} stands behind the blank, where no task looks"
        )
    task = _name(f"lke {Path(facts).name} {relation}")
    whole = Path(facts).resolve()
    of = {"facts": str(whole) if whole.exists() else facts, "relation": relation}
    rows = folder.resolve() / f"{task}.jsonl"
    says = {
        "task": task,
        "dataset_path": "json",
        "dataset_kwargs": {
            "data_files": {"test": glob.escape(str(rows))}
        },  # they read it as a pattern
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "context",
        "doc_to_choice": "choices",
        "doc_to_target": "gold",
        "target_delimiter": "",  # a continuation brings its own space
        "num_fewshot": 0,  # the shots are in the context
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1, **of},
    }
    told = [
        {
            "fact": p.fact,
            "subject": p.subject,
            "context": p.context,
            "choices": p.continuations,
            "gold": p.gold,
        }
        for p in questions
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_own(rows.with_suffix(".yaml"), of)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in told)
        write_whole(rows, lines)
        write_whole(
            rows.with_suffix(".yaml"), yaml.safe_dump(says, sort_keys=False, allow_unicode=True)
        )
    except OSError as error:
        raise BadInput(f"{folder}: not a folder to write to ({error.strerror})") from error
    return task


def _name(name: str) -> str:
    """A task's name, in small plain letters, digits and underscores; never the same for two names."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    if PLAIN.fullmatch(name):
        return plain
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{plain[:80].strip('_')}_{digest[:8]}"


def _check_own(file: Path, of: dict[str, str]) -> None:
    """Refuse to write over a file that is not a task of these facts."""
    if not file.exists():
        return
    try:
        there = yaml.safe_load(file.read_text(encoding="utf-8"))["metadata"]
        there = {key: there[key] for key in of}
    except (ValueError, yaml.YAMLError, KeyError, TypeError):
        there = {}
    if there != of:
        other = "{facts}, relation {relation}".format(**there) if there else "something else"
        raise BadInput(
            f"{visible(file)} is the task of {visible(other)}; delete it, or take another folder"
        )
