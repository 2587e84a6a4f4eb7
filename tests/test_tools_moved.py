"""The tool that says which numbers moved, on pages of a few numbers."""

import pytest
from helpers import tool

from lkecore.errors import BadInput

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


def test_all_numbers_are_read_once_and_are_the_same_as_themselves(before):
    found = counts(before, before)
    wanted = [0.25, 0.125, 0.5, 0.0625, 0.5, 3.0, 40.0, 0.5, 0.1, "holds"]
    assert [item.value for item, _ in found["same"]] == wanted
    assert not found["differ"] + found["elsewhere"] + found["gone"] + found["new"]


def test_what_differs_is_told_even_in_the_tenth_digit_and_so_is_a_verdict(before, tmp_path):
    after = page(
        tmp_path / "after",
        "11_shots",
        **{"fig-a": FIGURE.replace("0.125", "0.12500001"), "table": TABLE, "findings": FINDINGS},
        verdicts=VERDICTS.replace("holds", "fails"),
    )
    found = counts(before, after)
    assert [(a.value, b.value) for a, b in found["differ"]] == [
        (0.125, 0.12500001), ("holds", "fails"),
    ]  # fmt: skip


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


def test_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no finished run"):
        moved.pages(tmp_path)
