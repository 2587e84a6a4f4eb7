"""The page of all claims: counted by hand, row by row."""

import html
import re

import pandas as pd
import pytest

from lkecore import papers
from lkecore.book import verdicts
from lkecore.errors import BadInput

IN_LAB, ASKED, SHIPPED = 1, 2, 3  # columns of the table


def kept(folder, rows):
    """A page's folder with a verdicts.csv of these rows."""
    folder.mkdir()
    frame = papers.verdicts(pd.DataFrame(rows, columns=papers.VERDICTS))
    frame.to_csv(folder / "verdicts.csv", index=False)
    return verdicts.read(folder)


def row(verdict, models="smollm2", source="this page", as_paper=True, mark="", key="IC-shots-rise"):
    return key, models, source, "iclke-space", as_paper, "0.12 [0.05, 0.19]", verdict, mark


def cells(text, claim):
    """The row of the first table that is about a claim."""
    said = papers.claims("IC").set_index("id").loc[claim, "claim"]
    [line] = [line for line in text.splitlines() if line.startswith(f"| {said} |")]
    return line.strip("| ").split(" | ")


def test_verdicts_are_counted_by_place(tmp_path):
    rows = [
        row("holds", "lab:book-1/2m"),
        row("undecided", "lab:book-1/0.7m, lab:book-1/2m", "shipped: lab"),
        row("holds", "lab:book-1/0.7m"),
        row("fails"),
        row("undecided", "smollm2", "this page: capital"),
        row("undecided", "smollm2, gemma3-270m", "this page, shipped: kamel"),  # of both
        row("holds", "gemma3-270m", "shipped: kamel"),
        row(
            "holds", "gemma3-270m, lab:book-1/2m", "shipped: kamel"
        ),  # with the lab alone it is no lab
    ]
    text = verdicts.page({"11_x": kept(tmp_path / "a", rows)}, "trial")
    found = cells(text, "IC-shots-rise")
    assert found[IN_LAB] == "holds 2, undecided 1"
    assert found[ASKED] == "fails 1, undecided 2"
    assert found[SHIPPED] == "holds 2"
    assert found[4] == "{doc}`notebooks/11_x`"
    assert cells(text, "IC-shots-steady")[1:] == ["–", "–", "–", "not tested"]
    assert "those that the profile trial ran." in text


def test_what_says_nothing_of_a_claim_is_counted_apart(tmp_path):
    rows = [
        row("holds"),
        row("holds", mark="at chance"),
        row("fails", mark="over facts alone, not draws"),
    ]
    rows += [row("fails", key="IC-separator", mark="at chance")]
    text = verdicts.page({"11_x": kept(tmp_path / "a", rows)}, "trial")
    assert cells(text, "IC-shots-rise")[ASKED] == "holds 1, aside 2 (holds 1, fails 1)"
    assert cells(text, "IC-separator")[ASKED] == "aside 1 (fails 1)"
    assert "| holds (at chance) |" in text and "| fails (over facts alone, not draws) |" in text


def test_the_first_screen_counts_the_claims_of_the_papers_by_where_they_are_decided(tmp_path):
    rows = [
        row("holds"), row("undecided", source="shipped: kamel"),  # holds
        row("fails", key="IC-shots-steady"), row("holds", "lab:book-1/2m", key="IC-shots-steady"),  # fails
        row("holds", key="IC-above-human"), row("fails", "gemma3-270m", key="IC-above-human"),  # both
        row("holds", "lab:book-1/2m", key="IC-subsumption"), row("undecided", key="IC-subsumption"),  # lab
        row("holds", key="IC-separator", mark="at chance"),  # open
        row("holds", key="IC-above-mined", as_paper=False),  # open
        row("holds", key="IC-above-rules"),  # not the paper's
        row("holds", key="IC-shots-rise-relations"),  # the first again, over relations
        row("holds", key="IC-sequence-settles-relations"),  # holds
        row("undecided", key="IC-sequence-settles"),
    ]  # fmt: skip
    text = verdicts.page({"11_x": kept(tmp_path / "a", rows)}, "trial")
    first = text.partition("## ")[0].split("\n")
    said = [line for line in first if line.startswith(("Of ", "- **", "- all **"))]
    claims = pd.concat([papers.claims(name) for name in ("IC", "PZ")])
    twins = claims["id"].str.endswith("-relations")
    own = claims["whose"].eq("paper").sum() - twins.sum()
    assert twins.sum() == 9
    numbers = [list(map(int, re.findall(r"\*\*(\d+)\*\*", line))) for line in said[1:]]
    assert said[0] == f"Of {own} claims that are the papers' own,"
    assert "**1** fails, and **1** holds for" in text and "**1** is decided in the lab" in text
    assert numbers == [[2, 1, 1], [4], [1], [own - 5]]
    assert "all **4** of these are small versions" in text
    [yard] = [line for line in first if line.startswith("Against which yardstick?")]
    assert "**0** of 0 verdicts" in yard and yard.endswith("no model, **1** of 1.")
    # One of the papers' models decides one of them, too; and of the yardsticks, what is not set aside.
    rows += [row("holds", "EleutherAI/pythia-70m", key="IC-shots-rise")]
    for key in ("IC-above-chance", "IC-above-rules"):
        rows += [row("holds", key=key), row("undecided", "gemma3-270m", key=key)]
        rows += [row("holds", "lab:book-1/2m", key=key)]
    text = verdicts.page({"11_x": kept(tmp_path / "b", rows)}, "trial")
    assert "**4** of these 5 are small versions" in text
    assert "is **1** of 2 verdicts on real models" in text and "no model, **2** of 3." in text


def test_the_first_screen_counts_what_holds_without_cues_too(tmp_path):
    rows = [
        (*row("holds", key="IC-above-human"), "holds"),
        (*row("holds", "gemma3-270m", key="IC-above-human"), "undecided"),
        (*row("holds", "gemma3-270m", "shipped: far", key="IC-above-mined"), "fails"),
        (*row("holds", key="IC-above-mined"), ""),  # nobody knows
        (*row("undecided", key="IC-eic-above-human"), "holds"),  # it did not hold
        (*row("holds", "lab:book-1/2m", key="IC-above-human"), "holds"),  # in the lab
        (*row("holds", key="IC-above-mined", as_paper=False), "holds"),  # another way
        (*row("holds", key="IC-separator", mark="at chance"), "holds"),  # set aside
        (*row("holds", key="IC-generation-above"), "holds"),  # not the paper's
    ]
    (tmp_path / "a").mkdir()
    frame = pd.DataFrame(rows, columns=[*papers.VERDICTS, "without_cues"])
    papers.verdicts(frame).to_csv(tmp_path / "a" / "verdicts.csv", index=False)
    told, silent = verdicts.read(tmp_path / "a"), kept(tmp_path / "b", [row("holds")])
    for pages in ({"13_x": told, "11_x": silent}, {"11_x": silent, "13_x": told}):
        text = verdicts.page(pages, "trial")
        [said] = [line for line in text.split("\n") if line.startswith("And on facts without")]
        assert "? Of 3 verdicts by which a claim" in said and "tells it, **1** holds there" in said
    assert "tells it, **0** hold there" in verdicts.page({"11_x": silent}, "trial")


def test_what_holds_without_cues_stands_behind_the_verdict_of_all_facts_where_a_page_tells_it(
    tmp_path,
):
    bare = "0.05 [-0.05, 0.15]"
    rows = [
        (*row("holds", key="IC-above-human"), bare, "undecided"),
        (*row("holds", "gemma3-270m", key="IC-above-human"), "", ""),  # nobody knows
    ]
    (tmp_path / "a").mkdir()
    frame = pd.DataFrame(rows, columns=[*papers.VERDICTS, "no_cue", "without_cues"])
    papers.verdicts(frame).to_csv(tmp_path / "a" / "verdicts.csv", index=False)
    told, silent = verdicts.read(tmp_path / "a"), kept(tmp_path / "b", [row("holds")])
    for pages in ({"13_x": told, "11_x": silent}, {"11_x": silent, "13_x": told}):
        text = html.unescape(verdicts.page(pages, "trial"))
        ours = "0.12 [0.05, 0.19]"
        assert f"| {ours} | holds (without cues undecided, {bare}) |" in text
        assert text.count(f"| {ours} | holds |") == 2 and text.count("(without cues") == 1


def lab_row(key, verdict, of="template-5", mark="", ours="0.12 [0.05, 0.19]"):
    return key, of, "this page", "iclke-space", True, ours, verdict, mark


def counts_of(text, part):
    """The line of counts of the lab's findings or checks."""
    below = text.partition(f"### The lab: {part}\n")[2]
    return below.split("\n")[1]


def test_the_labs_claims_are_a_second_part_and_nothing_built_in_counts_as_a_finding(tmp_path):
    rows = [
        lab_row("LAB-transfer", "holds"),
        lab_row("LAB-list-auroc", "undecided", "lab:book-1/2m"),
        lab_row("LAB-held-out", "holds", mark="words that the text never had"),
        lab_row("LAB-form-list", "holds", "iclke-space minus template-1"),
        lab_row("LAB-unplanted", "holds", "0.7m", ours="0.04 [0.01, 0.07], which leaves out 0"),
        lab_row("LAB-mislearned", "fails"),
    ]
    one = kept(tmp_path / "a", rows)
    assert set(one["place"]) == {"in the lab"}
    text = verdicts.page({"50_x": one, "11_y": kept(tmp_path / "b", [row("holds")])}, "trial")
    first, _, lab = text.partition("## The lab's own claims")
    assert counts_of(text, "findings") == (
        "Of 3 verdicts: holds 1, undecided 1, aside 1 (holds 1)."
    )
    assert counts_of(text, "checks") == "Of 3 verdicts: holds 2, fails 1."
    found, _, checks = lab.partition("### The lab: checks")
    claims = papers.claims("LAB")
    for claim in claims.itertuples():
        assert (f"| {claim.claim} |" in found) == (claim.whose != "check")
        assert (f"| {claim.claim} |" in checks) == (claim.whose == "check")
        assert claim.claim not in first
    assert "which leaves out 0" in html.unescape(checks) and "{doc}`notebooks/50_x`" in found
    assert "| – | not tested |" in found
    # The first screen counts the papers' claims alone.
    alone = verdicts.page({"11_y": kept(tmp_path / "c", [row("holds")])}, "trial")
    assert alone.partition("## The lab's own claims")[0] == first
    assert "Of 0 verdicts: –." in alone


def test_a_claim_says_over_what_its_interval_is_and_since_when_verdicts_are_set_aside(tmp_path):
    rows = [row("holds", key="IC-subsumption"), row("holds", key="IC-above-rules")]
    text = verdicts.page({"11_x": kept(tmp_path / "a", rows)}, "trial")
    assert (
        "over relations (Student's t). Set aside by rules that stand so since 2026-11-22: " in text
    )
    assert ": may be luck; " in text
    assert "best rule that has no model. *(ours)* |" in text


def test_another_way_of_asking_is_listed_and_not_counted(tmp_path):
    rows = [row("holds"), row("fails", as_paper=False)]
    text = verdicts.page({"11_x": kept(tmp_path / "a", rows)}, "trial")
    assert cells(text, "IC-shots-rise")[ASKED] == "holds 1"
    below = html.unescape(text.partition("every verdict")[2])
    assert len(re.findall(r"0\.12 \[0\.05, 0\.19\]", below)) == 2
    assert "{dropdown} 2 verdicts" in below and "iclke-space (not the paper's way)" in below
    assert "Holds if greater than 0: accuracy with the most shots" in below


def test_a_bar_in_an_estimator_does_not_end_a_cell(tmp_path):
    key, models, source, _, *rest = row("holds")
    text = verdicts.page({"11_x": kept(tmp_path / "a", [(key, models, source, " | ", *rest)])}, "t")
    [line] = [line for line in text.splitlines() if "0.12 &#91;0.05, 0.19&#93;" in line]
    assert len(line.strip("| ").split("|")) == 5 and "&#124;" in line


def test_two_pages_are_put_together_and_a_random_model_is_named(tmp_path):
    one = kept(tmp_path / "a", [row("holds", "toy")])
    two = kept(tmp_path / "b", [row("holds"), row("fails", key="IC-separator")])
    empty = kept(tmp_path / "c", [])
    text = verdicts.page({"11_x": one, "12_y": empty, "14_z": two}, "trial")
    found = cells(text, "IC-shots-rise")
    assert found[ASKED] == "holds 2"
    assert found[4] == "{doc}`notebooks/11_x`, {doc}`notebooks/14_z`"
    assert "The model `toy` is random" in text
    assert "toy" not in verdicts.page({"14_z": two}, "trial")
    assert "toy" not in verdicts.page({}, "trial")


def test_a_page_without_claims_has_no_file_and_a_damaged_one_is_named(tmp_path):
    assert verdicts.read(tmp_path) is None
    good = pd.DataFrame([row("holds")], columns=papers.VERDICTS)
    for damaged, says in (
        (good.drop(columns="mark"), "mark"),
        (good.assign(id="IC-nothing"), "IC-nothing"),
        (good.assign(verdict="perhaps"), "perhaps"),
        (good.assign(models=""), "no model"),
        (good.assign(as_paper="perhaps"), "perhaps"),
    ):
        with pytest.raises(ValueError, match=says):
            papers.verdicts(damaged)
        damaged.to_csv(tmp_path / "verdicts.csv", index=False)
        with pytest.raises(BadInput, match=f"verdicts.csv.*{says}"):
            verdicts.read(tmp_path)
    (tmp_path / "verdicts.csv").write_text("")
    with pytest.raises(BadInput, match="verdicts.csv"):
        verdicts.read(tmp_path)


def test_more_columns_stay_behind_those_of_all_pages():
    frame = pd.DataFrame([row("holds")], columns=papers.VERDICTS)
    frame.insert(0, "level", 0.5)
    assert list(papers.verdicts(frame)) == [*papers.VERDICTS, "level"]
