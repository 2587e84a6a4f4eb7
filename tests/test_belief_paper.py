"""The paper's own grid, on a set like the hub's: what its dry run says before anybody has a GPU."""

import re
from pathlib import Path

import pytest
from test_facts_hubsets import COPY, cache, put  # noqa: F401

from lkecore.runs import forecast, plan

PARAMS = Path(__file__).resolve().parent.parent / "params"
N = 10


@pytest.fixture
def set_of_the_hub(cache):  # noqa: F811
    """41 relations of ten pairs, in five templates, one of them a question."""
    row = plan.read_plan(PARAMS / "belief_paper.yaml").rows[0]
    texts = [
        "[X] has [Y].",
        "Of [X] it is [Y].",
        "[X] and [Y].",
        "What has [X]? [Y].",
        "[Y] of [X].",
    ]
    rows = [
        {
            "uuid": f"{relation}-{i}",
            "rel_uri": relation,
            "sub_ent": f"{relation} subject {i}",
            "obj_uris": [f"Q{i}"],
            "obj_ents": [f"{relation} object {i}"],
            "obj_aliases": [[]],
            "template": text,
            "is_manual": place < 2,
        }
        for relation in row.whole.effective["relations"]
        for i in range(N)
        for place, text in enumerate(texts)
    ]
    put(cache, "iszhaoxin/MyriadLAMA", {"default/train/0000.parquet": rows},
        "refs/convert/parquet", COPY)  # fmt: skip


def test_the_dry_run_of_the_papers_grid_says_prompts_samples_and_hours(set_of_the_hub, tmp_path):
    """Five of ten pairs are asked: in five templates, and once more in the one that is a question."""
    jobs = plan.read_plan(PARAMS / "belief_paper.yaml").jobs
    by = {}
    for job in jobs:
        by.setdefault((job.notebook.stem, job.effective.get("contexts", [""])[0]), job)
    assert set(context for _, context in by) == {
        "", "zero-shot", "4-random", "4-relation", "4-template",
    }  # fmt: skip
    said = {
        name: forecast.cost(by[name, context], tmp_path)["remark"]
        for name, context in [
            ("40_belief_wording", ""), ("41_belief_contexts", "4-random"), ("42_belief_sure", "zero-shot"),
        ]
    }  # fmt: skip
    assert said["40_belief_wording"].startswith("tokens not counted: which objects are one token")
    assert said["41_belief_contexts"].startswith("30 prompts to continue, 0 samples, ")
    # One prompt a pair of all 41 relations, and a hundred samples of it.
    assert said["42_belief_sure"].startswith(
        f"{41 * 5} prompts to continue, {41 * 500:,} samples, "
    )
    for name in ("41_belief_contexts", "42_belief_sure"):
        assert re.search(r"[0-9.]+ hours at 1e\+14 operations a second", said[name])
