"""The book's own pages and profiles. A reader's fork or params file is on no list, and bound by no rule."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PAGES = [
    "00_quickstart", "01_scorer", "10_iclke_relations", "11_iclke_shots",
    "12_iclke_sequence", "13_iclke_eic", "13_iclke_estimators", "14_iclke_separators",
    "15_iclke_agreement", "16_iclke_size", "17_iclke_invented", "18_iclke_confidence",
    "18_iclke_stands", "19_iclke_generation",
    "20_entropy_rank", "21_entropy_accuracy",
    "22_entropy_instilled", "24_entropy_written", "25_entropy_judge",
    "30_xtraeval_extraction", "31_xtraeval_task", "32_xtraeval_training", "33_xtraeval_shift",
    "34_xtraeval_gaps",
    "40_belief_wording", "41_belief_contexts", "42_belief_sure", "43_belief_bias", "44_belief_coverage",
    "45_belief_prompts",
    "50_lab_truth", "52_lab_kinds", "53_lab_entropy", "56_lab_fooled", "58_lab_found",
    "90_leaderboard", "91_power",
]  # fmt: skip


def notebook(name: str) -> Path:
    return TOP / "notebooks" / f"{name}.py"


def profiles() -> list[Path]:
    """The files of params/ that the book lists, and those of sources/, which made what ships."""
    text = (TOP / "book" / "batches.md").read_text(encoding="utf-8").split("\n## All profiles\n")[1]
    listed = re.findall(r"^\| `(\w+)` \|", text.split("\n## ")[0], flags=re.MULTILINE)
    return sorted(
        [TOP / "params" / f"{name}.yaml" for name in listed] + [*(TOP / "sources").glob("*.yaml")]
    )


def without_a_look(text: str) -> str:
    """A page without what it asks to look at alone, which a page over runs leaves out."""
    return re.sub(r"^answers\.html_table\(answers\.likeliest\(.+\n", "", text, flags=re.MULTILINE)
