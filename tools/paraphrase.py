"""Ask an instruct model to paraphrase templates, and let a person look at each before it is used.

    python tools/paraphrase.py smollm2 my.tsv review.tsv
    python tools/paraphrase.py --accept review.tsv accepted.tsv

``my.tsv`` has manual templates, as lkecore.facts.wordings reads them. The review has their columns and
``mark``, where a person writes keep or drop; what is accepted can be the ``wordings`` of a page.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from lkecore.errors import BadInput, visible
from lkecore.facts import tables, wordings
from lkecore.models.model import open_model
from lkecore.scores.generate import generate
from lkecore.storage import write_whole

# Both prompts of the paper, word for word (Zhao et al. 2024, BELIEF, appendix A.2): the instruction, and
# what its second version adds, here for P937; for another relation, say what its [Y] is.
ASK = (
    "You are a professional tool that can paraphrase sentences into natural sentences that can correctly "
    "represent the relationship between [X] and [Y], without repetition. Make the paraphrase as diverse as "
    "possible using simple words. Please paraphrase the given sentence 19 times."
)
AWARE = (
    "Be aware that [Y] is the geographic location but NOT company or organization, where persons or "
    "organizations were actively participating in employment, business or other work."
)
TIMES = 19  # as ASK says
MARKS = ("keep", "drop", "")
COLUMNS = [*wordings.COLUMNS, "mark"]


def review(model: str, path: str, *, aware: str = "", rounds: int = 5) -> pd.DataFrame:
    """The manual templates of a table, marked keep, each with its paraphrases, still without a mark.

    Asked again, ``rounds`` times at most, until there are ``TIMES`` different ones (the paper's way).
    """
    lm, rows = open_model(model), []
    own = wordings.read(path)
    seen = {(row.relation, tables.fold(row.text)) for row in own.itertuples()}
    for row in own[own["manual"]].itertuples():
        group, asks = f"group {row.group + 1}", "yes" if row.question else "no"
        rows.append((row.relation, group, row.text, "yes", asks, "written", "keep"))
        given = "\n".join(filter(None, [ASK, aware, row.text + "." * (not row.question)]))
        if lm.tokenizer.chat_template:
            said = [{"role": "user", "content": given}]
            given = lm.tokenizer.apply_chat_template(
                said, tokenize=False, add_generation_prompt=True
            )
        found: list[str] = []
        for seed in range(rounds):
            how = {"n_samples": 1, "seed": seed, "stop": None, "max_new_tokens": 30 * TIMES}
            for words in lines(generate(lm, [given], **how)["text"][0]):
                key = row.relation, tables.fold(words)
                if key not in seen and len(found) < TIMES:
                    seen.add(key)
                    found.append(words)
            if len(found) == TIMES:
                break
        rows += [(row.relation, group, words, "no", asks, model, "") for words in found]
    return pd.DataFrame(rows, columns=COLUMNS)


def lines(output: str) -> list[str]:
    """The templates in an output: a line each, without number, bullet, quotes and full stop.

    >>> lines('Sure:\\n1. "[X] once lived in [Y]."\\n- [Y] was home to [X].\\n[X] moved.')
    ['[X] once lived in [Y]', '[Y] was home to [X]']
    """
    bare = [re.sub(r"^\s*(?:\d+[.)]|[-*•])?\s*", "", line).strip() for line in output.splitlines()]
    found = [wordings.plain(line.strip("\"'“”‘’ ")) for line in bare]
    return [words for words in found if words.count("[X]") == words.count("[Y]") == 1]


def accepted(path: str) -> pd.DataFrame:
    """The rows of a review that are marked keep. Raises BadInput for a mark that is none of ``MARKS``."""
    rows = []
    for where, row in tables.read(Path(path)):
        if row.get("mark") not in MARKS:
            raise BadInput(f"{where}: mark must be keep, drop or empty, found {row.get('mark')!r}")
        rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.loc[table["mark"] == "keep", wordings.COLUMNS]


def main() -> None:
    """Write the file that was asked for, and say what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", help="an instruct model")
    parser.add_argument("table", help="manual templates; with --accept: a review")
    parser.add_argument("out")
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--aware", default="", help=f"what [Y] is, such as: {AWARE}")
    given = parser.parse_args()
    if given.accept:
        table = accepted(given.table)
    else:
        table = review(given.model, given.table, aware=given.aware)
    rows = [table.columns, *table.itertuples(index=False)]
    write_whole(Path(given.out), "".join("\t".join(row) + "\n" for row in rows))  # without quotes
    print(visible(f"{given.out}: {table['made'].value_counts().to_dict()}"))
    if given.accept:
        wordings.read(given.out)  # refuses what no page can ask


if __name__ == "__main__":
    main()
