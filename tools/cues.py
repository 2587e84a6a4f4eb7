"""Write the cues of results that ship: ``python tools/cues.py kamel --facts ../kamel``.

Runs of before kept no cues. No model is needed to make up for it: the facts and the parameters in the
``.json`` of the results say which facts were asked, with which options and behind which shots.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from lkecore import facts
from lkecore.answers import rules, shipped
from lkecore.errors import BadInput
from lkecore.runs.gather import packed_for
from lkecore.storage import write_whole

NOTEBOOK = "10_iclke_relations"


def cues_of(profile: str, fact_set: str) -> pd.DataFrame:
    """The cues of the facts that a profile asked; :class:`BadInput` where its answers are about others."""
    answers, about = shipped.read(profile, NOTEBOOK)
    given = about["parameters"]
    drawn = {name: given[name] for name in ("n_shots", "n_facts", "n_options", "seed")}
    sample = facts.draw(fact_set, given["relations"], take_fewer=True, **drawn)
    found = rules.cues(sample, kept=False)
    asked = answers.groupby("relation").agg(n=("fact", "nunique"), n_options=("n_options", "first"))
    here = found.groupby("relation").agg(n=("fact", "nunique"), n_options=("n_options", "first"))
    if not asked.sort_index().equals(here.sort_index().rename_axis(asked.index.name)):
        raise BadInput(f"results {profile} are about other facts than those of {fact_set}")
    return found


def main() -> None:
    """Write ``results/<profile>/10_iclke_relations-cues.parquet``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profile", help="a folder of results/")
    parser.add_argument("--facts", help="the facts, where they are not where the results say")
    options = parser.parse_args()
    spec = shipped.read(options.profile, NOTEBOOK)[1]["parameters"]["fact_set"]
    found = cues_of(options.profile, options.facts or spec)
    target = shipped.FOLDER / options.profile / f"{NOTEBOOK}-cues.parquet"
    write_whole(target, packed_for(spec, found))
    means = found.groupby("relation")[list(rules.rules.RULES)].mean().mean()
    print(json.dumps({"file": str(Path(target).name), **means.round(4).to_dict()}))


if __name__ == "__main__":
    main()
