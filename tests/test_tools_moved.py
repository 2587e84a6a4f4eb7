"""The tool that says which numbers moved, on pages of a few numbers."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from helpers import tool

moved = tool("moved")


def page(folder, name, **tables):
    run = folder / f"{name}-0123456789ab"
    run.mkdir(parents=True)
    for file, text in tables.items():
        (run / f"{file}.csv").write_text(text, encoding="utf-8")
    (run / "manifest.json").write_text("{}")
    return folder


FIGURE = """model,n_shots,accuracy,low,high,std
lab:book-1/2m,1,0.25,0.2,0.4,0.125
smollm2,1,0.5,0.3,0.7,0.0625
"""
TABLE = 'model,accuracy\nsmollm2,"0.500 [0.300, 0.700]"\n'
FINDINGS = 'name,text\nmost,"It finds 0.50 [0.30, 0.70], and 3 of 40."\n'
VERDICTS = 'id,ours,verdict\nIC-x,"0.100 [0.020, 0.180]",holds\n'


@pytest.fixture
def before(tmp_path):
    tables = {"fig-a": FIGURE, "table": TABLE, "findings": FINDINGS, "verdicts": VERDICTS}
    return page(tmp_path / "before", "11_shots", **tables, **{"answers-again": "x\n1\n"})


def counts(before, after):
    old, new = (moved.items(moved.pages(f)["11_shots"]) for f in (before, after))
    return moved.held_against(old, new)


def test_page_with_other_files_has_its_numbers_found_with_their_intervals(before, tmp_path, capsys):
    new = "model,estimate,low,high\nSmolLM2,0.5000000000001,0.302,0.69\nlab,0.25,0.2,0.9\n"
    words = 'name,text\nmost,"It finds 50 % [30, 69]."\n'
    after = page(tmp_path / "after", "11_shots", table2=new, findings=words)
    found = counts(before, after)
    assert [(item.where[0], item.value) for item, _ in found["same"] + found["elsewhere"]] == [
        ("findings.csv", 0.5), ("fig-a.csv", 0.5), ("table.csv", 0.5),
    ]  # fmt: skip
    assert not found["differ"]
    # 0.25 has another interval there; 3, 40, both spreads and the verdict are nowhere
    assert {item.value for item in found["gone"]} == {0.25, 0.125, 0.0625, 3, 40, 0.1, "holds"}
    moved.report("11_shots", found, 5)
    told = capsys.readouterr().out
    assert "no longer printed: fig-a.csv / std: 2" in told and "within 3 %" in told


def test_rounding_is_no_difference_and_ends_are_measured_in_widths():
    exact = moved.Item(("a",), 0.4567, 0.4, 0.6)
    printed = moved.Item(("b",), 0.46, 0.40, 0.65, 0.005)
    assert moved.equal(exact, printed) and not moved.equal(exact, exact._replace(value=0.4567001))
    assert not moved.equal(printed, printed._replace(value=0.47))
    assert moved.ends(exact, printed) == pytest.approx([0, (0.05 - 0.005) / 0.2])
    assert moved.ends(exact, exact._replace(low=None)) == []


# --- answers

OLD = """model,relation,fact,draw,correct,confidence,said
toy,capital,f1,0,True,0.5,Rome
toy,capital,f2,0,True,0.25,
toy,capital,f3,0,False,,Oslo
toy,capital,f3,1,False,0.75,Bern
"""
# In another order: f2 with another answer, f3 with another number, f1 with a rounding; f4 is new, and so is
# "question"; draw 1 and "said" are gone. A draw that is missing makes floats of all.
NEW = """model,relation,fact,draw,correct,confidence,question
toy,capital,f4,,True,0.5,d
toy,capital,f3,0,False,0.125,c
toy,capital,f2,0,False,0.25,b
toy,capital,f1,0,True,0.500000000001,a
"""


def answers(folder, text):
    place = folder / "11_shots-0123456789ab"
    place.mkdir(parents=True)
    (place / "manifest.json").write_text("{}")
    pd.read_csv(StringIO(text)).to_parquet(place / "answers.parquet", index=False)
    return folder


def paired(before, after, **how):
    [one], [other] = (moved.frames(folder).values() for folder in (before, after))
    return moved.paired(one, other, **how)


def test_answers_meet_by_what_was_asked_and_only_what_both_have_is_compared(tmp_path):
    before, after = answers(tmp_path / "before", OLD), answers(tmp_path / "after", NEW)
    found = paired(before, after)
    assert found["key"] == ["model", "relation", "fact", "draw"] and not found["alike"]
    assert found["both"] == 3
    assert found["gone"] == [("toy", "capital", "f3", "1")]
    assert found["new"] == [("toy", "capital", "f4", "")]
    assert found["columns"] == (["said"], ["question"])
    f2, f3 = (("toy", "capital", name, "0") for name in ("f2", "f3"))
    # Where there was no number, how far off it is nobody can say.
    assert found["differ"] == {"correct": (1, None, f2), "confidence": (1, np.inf, f3)}
    assert paired(before, after, within=0)["differ"]["confidence"][0] == 2


def test_rows_that_differ_by_their_number_of_options_alone_are_told_apart(tmp_path):
    text = "model,relation,fact,n_options,confidence\ntoy,r,f,10,0.5\ntoy,r,f,50,0.25\n"
    before, after = (answers(tmp_path / n, t) for n, t in (("a", text), ("b", text[:-18])))
    found = paired(before, after)
    assert found["key"][-1] == "n_options" and found["gone"] == [("toy", "r", "f", "50")]
    # Elsewhere it is compared: another number for the same question is a difference.
    one = text[:-18]
    other = answers(tmp_path / "c", one.replace("10", "9"))
    assert [*paired(after, other)["differ"]] == ["n_options"]


def test_answers_of_which_none_meets_count_as_different(tmp_path, capsys):
    before = answers(tmp_path / "before", OLD)
    after = answers(tmp_path / "after", OLD.replace("toy", "smollm2"))
    assert moved.compare_answers(before, after, "", 1e-9) == 1
    assert "no row meets" in capsys.readouterr().out
