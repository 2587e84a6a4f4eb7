"""Harness: questions as a task of lm-evaluation-harness, for any model that it can ask."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from lkecore.errors import BadInput
from lkecore.prompts.prompt import Prompt
from lkecore.storage import write_whole


def write_task(folder: Path, name: str, questions: Sequence[Prompt]) -> str:
    """Write NAME.yaml and NAME.jsonl into a folder; returns the task's name, NAME in plain letters.

    A row has the question's context, the continuations as ``choices``, the number of the right one as
    ``gold``, and fact and subject for who reads it. The YAML file names the rows by their whole path: write
    the task anew where the folder was moved. Raises :class:`BadInput` for a question with text behind its
    blank, which no task of theirs asks, and for a folder that cannot be written to.
    """
    if behind := next((p for p in questions if p.after.strip()), None):
        raise BadInput(
            f"fact {behind.fact}: {behind.after!r} stands behind the blank, where no task looks"
        )
    task = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    rows = folder.resolve() / f"{task}.jsonl"
    says = {
        "task": task,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(rows)}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "context",
        "doc_to_choice": "choices",
        "doc_to_target": "gold",
        "target_delimiter": "",  # a continuation brings its own space
        "num_fewshot": 0,  # the shots are in the context
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1},
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
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in told)
        write_whole(rows, lines)
        write_whole(
            rows.with_suffix(".yaml"), yaml.safe_dump(says, sort_keys=False, allow_unicode=True)
        )
    except OSError as error:
        raise BadInput(f"{folder}: not a folder to write to ({error.strerror})") from error
    return task
