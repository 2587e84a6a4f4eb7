"""The chapter on XTRAEVAL: its worked fact is one of the world's, and its sums are right."""

import math
import re
from pathlib import Path

import pytest
import torch

from lkecore.train.cross_encoder import infonce
from lkecore.worlds import wordings as rich_wordings

TEXT = (Path(__file__).resolve().parent.parent / "book" / "xtraeval.md").read_text(encoding="utf-8")


def test_each_document_of_the_worked_fact_keeps_what_its_kind_says_in_words_of_the_world():
    rows = re.findall(r"^\| `([hrt-]{3})` \| .+? \| (.+)\. \|$", TEXT, re.M)
    assert len({kind for kind, _ in rows}) == len(rows) == 8
    head, tail = "The Boklavik Brodnodor", "Sosin Sturvik"
    for kind, text in rows:
        assert (head in text, tail in text) == (kind[0] == "h", kind[2] == "t")
        relations = [
            name
            for name in rich_wordings.relations()
            for words in rich_wordings.about(name).templates
            if re.fullmatch(re.escape(words).replace(r"\[X\]", ".+").replace(r"\[Y\]", ".+"), text)
        ]
        assert ("author" in relations) == (kind[1] == "r"), text


def test_the_sums_of_the_chapter_are_right():
    values = torch.tensor([4.0, 2.0, 1.0]).log()
    assert (
        infonce(values, [3]).item()
        == pytest.approx(math.log(7 / 4))
        == pytest.approx(0.56, abs=0.005)
    )
    assert all(f"= {math.log(n):.2f}$" in TEXT for n in (3, 13))
    shares = dict(re.findall(r"^\| (usable|gap 1|gap 2) \| \$.+ = ([0-9.]+)\$ \|", TEXT, re.M))
    counts = dict(re.findall(r"^\| (usable|gap 1|gap 2) \| .+ \| (\d+) of 200", TEXT, re.M))
    assert {name: int(n) / 200 for name, n in counts.items()} == {
        k: float(v) for k, v in shares.items()
    }
    assert sum(map(int, counts.values())) == 200
