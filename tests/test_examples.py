"""The examples run, and say what plain Python counts; the homework knows right from nearly right."""

import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from test_own_table import FACTS

from lkecore import answers

TOP = Path(__file__).resolve().parent.parent
EXAMPLES = TOP / "examples"


def run(name, monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", [f"{name}.py", *map(str, words)])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_a_table_is_scored_next_to_the_best_rule(tmp_path, monkeypatch, capsys):
    (tmp_path / "P36.tsv").write_text(FACTS, encoding="utf-8")
    said = run("score_table", monkeypatch, capsys, tmp_path / "P36.tsv", "toy")
    assert len(said) == 2 and re.fullmatch(r"toy: \d+ % \[\d+, \d+\]( over facts)?", said[0])
    # Every object is shown once or never, has one letter and no word of a subject: each rule guesses blindly.
    assert said[1] == "best rule without a model: 8%"  # one in twelve


def test_two_models_are_compared_on_the_same_facts(monkeypatch, capsys):
    said = run("compare_models", monkeypatch, capsys)
    found = answers.results("10_iclke_relations")
    some = found[found["source"].eq("trex") & found["estimator"].eq("iclke-colon")]
    some = some[some["draw"].eq(0)]
    means = {}
    for model in ("gemma3-270m", "smollm2"):
        its = some[some["model"] == model]
        means[model] = np.mean([np.mean(rows["correct"]) for _, rows in its.groupby("relation")])
    first, second = means.values()
    assert [int(line.split(": ")[1].split(" %")[0]) for line in said] == [
        round(100 * value) for value in (first, second, first - second)
    ]


def test_the_numbers_are_those_of_the_page(monkeypatch, capsys):
    """As page 1.2 says them: "42 % [35, 48]" and, of the rule, "34 %"."""
    said = run("page_number", monkeypatch, capsys)
    assert said[0] == "Gemma 3 270M on T-REx: 42 % [35, 48]"
    rows = answers.results("10_iclke_relations-cues")
    rows = rows[rows["source"] == "trex"].to_dict("records")
    rules, of = [name for name in rows[0] if name.startswith("rule-")], {}
    for row in rows:
        of.setdefault(row["relation"], []).append(row)
    best = max(
        np.mean([np.mean([r[name] for r in some]) for some in of.values()]) for name in rules
    )
    assert said[1].endswith(f": {best:.0%}") and said[1].endswith("34%")


SOLUTIONS = {
    "over_relations": """
    of = {}
    for relation, correct in rows:
        of.setdefault(relation, []).append(correct)
    return sum(sum(some) / len(some) for some in of.values()) / len(of)
""",
    "auroc": """
    wins = sum((a > b) + (a == b) / 2 for a in stated for b in never)
    return wins / len(stated) / len(never)
""",
    "changed": """
    both = [fact for fact in first if fact in second]
    return tuple(sum(x[f] and not y[f] for f in both) for x, y in ((first, second), (second, first)))
""",
}
NEARLY = {
    "over_relations": "\n    return sum(correct for _, correct in rows) / len(rows)\n",
    "auroc": "\n    return sum(a > b for a in stated for b in never) / len(stated) / len(never)\n",
    "changed": "\n    return sum(first.values()), sum(second.values())\n",
}


@pytest.mark.parametrize(
    ("bodies", "said"),
    [
        ({}, ["not written yet"] * 3),
        (SOLUTIONS, ["right"] * 3),
        (NEARLY, ["not yet: it returned"] * 3),
    ],
    ids=["as it is", "solved", "nearly"],
)
def test_homework_says_right_to_what_is_right_alone(bodies, said, tmp_path, monkeypatch, capsys):
    path = tmp_path / "homework.py"
    shutil.copy(EXAMPLES / "homework.py", path)
    text = path.read_text(encoding="utf-8")
    for name, body in bodies.items():
        text, n = re.subn(
            rf'(def {name}\(.*?""")\n    raise NotImplementedError\n',
            rf"\1{body}",
            text,
            flags=re.S,
        )
        assert n == 1
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["homework.py"])
    runpy.run_path(str(path), run_name="__main__")
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert [*lines] == ["over_relations", "auroc", "changed"]
    assert all(line.startswith(word) for line, word in zip(lines.values(), said, strict=True)), (
        lines
    )
