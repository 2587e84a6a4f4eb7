"""The tool that lets a model paraphrase templates, with a model whose words are written here."""

import hashlib
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from helpers import tool

from lkecore.errors import BadInput
from lkecore.facts import wordings

paraphrase = tool("paraphrase")

TABLE = """relation\tgroup\ttemplate\tmanual\tquestion\tmade
work\tplain\t[X] used to work in [Y].\tyes\tno\twritten
work\tasked\tWhere did [X] work? [Y]\tyes\tyes\twritten
"""


def test_the_prompts_are_the_papers_to_the_letter():
    """The digests are of the two paragraphs of its appendix A.2."""
    found = [
        hashlib.sha256(text.encode()).hexdigest() for text in (paraphrase.ASK, paraphrase.AWARE)
    ]
    assert found == [
        "573903f28511e2202da1a0e860ad29872289be980c621763dbbfa9082b2858eb",
        "88578c4e56d8f0c005ec14c8d6c434b2b7f70bf927dc2abafa03be18d16e005e",
    ]


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """A model that says one line more each time it is asked; gives the contexts that it was asked."""
    contexts = []

    def say(model, texts, *, seed, **how):
        contexts.extend(texts)
        each = [f'{n}. "[X] was employee {n} in [Y]."' for n in range(10 * seed + 10)]
        return pd.DataFrame({"text": ["Sure!\n[X] USED to work in [Y]\n" + "\n".join(each)]})

    tokenizer = SimpleNamespace(chat_template=None)
    monkeypatch.setattr(paraphrase, "open_model", lambda name: SimpleNamespace(tokenizer=tokenizer))
    monkeypatch.setattr(paraphrase, "generate", say)
    (tmp_path / "my.tsv").write_text(TABLE)
    return contexts


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["paraphrase.py", *map(str, arguments)])
    paraphrase.main()


def test_review_has_19_new_paraphrases_and_what_is_kept_is_a_table_of_wordings(
    asked, tmp_path, monkeypatch, capsys
):
    review, out = tmp_path / "review.tsv", tmp_path / "out.tsv"
    run(monkeypatch, "someone", tmp_path / "my.tsv", review, "--aware", "[Y] is a place.")
    assert asked[:2] == [f"{paraphrase.ASK}\n[Y] is a place.\n[X] used to work in [Y]."] * 2
    assert capsys.readouterr().out == f"{review}: {{'someone': 38, 'written': 2}}\n"
    rows = [line.split("\t") for line in review.read_text().splitlines()]
    assert rows[1][2:] == ["[X] used to work in [Y]", "yes", "no", "written", "keep"]
    assert rows[2][2:] == ["[X] was employee 0 in [Y]", "no", "no", "someone", ""]
    assert [row[2] for row in rows[2:21]] == [f"[X] was employee {n} in [Y]" for n in range(19)]
    rows[2][6], rows[3][6] = "keep", "drop"
    review.write_text("".join("\t".join(row) + "\n" for row in rows))
    run(monkeypatch, "--accept", review, out)
    found = wordings.read(str(out))
    assert found["text"].tolist() == [
        "[X] used to work in [Y]",
        "[X] was employee 0 in [Y]",
        "Where did [X] work? [Y]",
    ]
    rows[4][6] = "maybe"
    review.write_text("".join("\t".join(row) + "\n" for row in rows))
    with pytest.raises(BadInput) as caught:
        run(monkeypatch, "--accept", review, out)
    assert str(caught.value) == f"{review}, line 5: mark must be keep, drop or empty, found 'maybe'"
