"""Which relation do models know, and no rule gives away? To choose one before its test facts are asked.

``python tools/known.py data/trex smollm2 gemma3-270m`` asks each model, in the paper's format, 25 training
facts of each relation that are not shown, and prints the relations by what is left above the best rule
without a model: the least over the models. Relations with fewer than ``--options`` objects are left out,
and those with too few facts: a page on one relation needs many.
"""

import argparse

import pandas as pd

from lkecore import answers, facts, prompts
from lkecore.answers import rules
from lkecore.errors import BadInput

ESTIMATOR = "iclke-space"


def above_rules(
    fact_set: str, models: list[str], *, n_facts: int, n_options: int, seed: int
) -> pd.DataFrame:
    """A row for each relation: each model and the best rule, and ``above``: the least model minus that."""
    drawn = {"n_shots": 50, "n_facts": n_facts, "n_options": n_options, "seed": seed}
    sample = {}
    for name in facts.relations(fact_set):
        try:
            sample |= facts.draw(
                fact_set, [name], part="choice", min_relations=1, exactly=True, **drawn
            )
        except BadInput as error:
            print(f"left out: {error}")
    found = answers.ask(models, prompts.of_sample(sample, [ESTIMATOR]), "answers.parquet")
    table = found.pivot_table(index="relation", columns="model", values="correct", sort=False)[
        models
    ]
    yard = rules.cues(sample, kept=False).groupby("relation")[list(rules.RULES)].mean().max(axis=1)
    table = table.assign(
        best_rule=yard, facts={n: len(s.relation.facts) for n, s in sample.items()}
    )
    left = table[models].min(axis=1) - table["best_rule"]
    return table.assign(above=left).sort_values("above", ascending=False, kind="stable")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("facts", help="a fact set, such as data/trex")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--n-facts", type=int, default=25)
    parser.add_argument("--options", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    how = {"n_facts": given.n_facts, "n_options": given.options, "seed": given.seed}
    print(above_rules(given.facts, given.models, **how).round(3).to_string())


if __name__ == "__main__":
    main()
