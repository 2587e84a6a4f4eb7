"""Choose how a fact is taught: as few steps as do, at the rate that moves everything else least.

    python tools/recipe.py lab:rich-0/0.7m
    python tools/recipe.py smollm2 --relations city_of_airport,country_code,element_symbol,film_year

A model of the lab is asked about its world, of which the book should report nothing; every other one about
embedded facts, of relations that no page teaches. Of each rate the fewest steps count after which 95 % of the
objects' first tokens come first. The best rate has, after its steps, the least mean KL on 20 questions about
other facts. What comes out stands in the log.
"""

import argparse

import numpy as np
import pandas as pd

from lkecore.answers import rich
from lkecore.answers.lab import OFTEN
from lkecore.facts import draw
from lkecore.models import lab
from lkecore.models.model import open_model
from lkecore.prompts import instilled_of_sample
from lkecore.scores import tree
from lkecore.stats import shift
from lkecore.tasks import instill

RATES = {
    "sgd": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
    "adamw": (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3),
}
STEPS = (1, 2, 5, 10, 20)
N_PROBES = 20
ENOUGH = 0.95


def tried(model: str, relations: list[str], n_facts: int) -> pd.DataFrame:
    """A row for each optimizer, rate and number of steps: ``first`` and ``beside`` (nats)."""
    lm = open_model(model)
    if lab.is_name(model):
        samples = rich.samples([model], relations, _told_often, n_shots=1, seed=0)
        sample = samples[lab.parse(model).world]
    else:
        n = n_facts + N_PROBES // len(relations)
        sample = draw("atlas", relations, n_shots=1, n_facts=n, n_options=2, seed=0)
    made = instilled_of_sample(sample, ["template-1"])
    facts = [each.asked for some in made.values() for each in some[:n_facts]]
    probes = [
        [each.asked.context] for some in made.values() for each in some[-N_PROBES // len(made) :]
    ]
    before = tree.distributions(lm, probes, lambda rows, _: rows[0])
    rows = []
    for optimizer, rates in RATES.items():
        for rate in rates:
            for steps in STEPS:
                recipe = instill.Recipe(steps, rate, optimizer)
                found = instill.shifts(lm, facts, recipe)
                beside = [_beside(lm, fact, recipe, probes, before) for fact in facts[::4]]
                first = found["rank_after"].eq(1).mean()
                rows.append((optimizer, rate, steps, first, float(np.mean(beside))))
                print(*rows[-1], flush=True)
                if first >= ENOUGH:
                    break  # more steps move the rest further
    return pd.DataFrame(rows, columns=["optimizer", "rate", "steps", "first", "beside"])


def _told_often(states: pd.DataFrame) -> pd.Series:
    often = states["state"].eq("planted") & states["occurrences"].ge(OFTEN)
    return rich.or_controls(states, often)


def _beside(lm, fact, recipe: instill.Recipe, probes, before: np.ndarray) -> float:
    with instill.instilled_all(lm, [fact], recipe, seed=0) as other:
        after = tree.distributions(other, probes, lambda rows, _: rows[0])
    return float(shift.kl(before, after).mean())


def chosen(table: pd.DataFrame) -> pd.DataFrame:
    """The best row of each optimizer, by the rule above."""
    enough = table[table["first"] >= ENOUGH]
    return enough.loc[enough.groupby("optimizer")["beside"].idxmin()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--relations", default="residence,profession,second_language,birthplace")
    parser.add_argument("--n-facts", type=int, default=15)
    given = parser.parse_args()
    table = tried(given.model, given.relations.split(","), given.n_facts)
    print(chosen(table).to_string(index=False))


if __name__ == "__main__":
    main()
