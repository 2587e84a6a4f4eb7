"""Score a table of yours (subject, object): python examples/score_table.py dishes.csv smollm2"""

import sys

from lkecore import answers, facts, prompts, stats
from lkecore.answers import rules

table, model = sys.argv[1:]
sample = facts.draw(table, [], n_shots=20, n_options=100, n_facts=30, seed=0, allow_fewer=True)
questions = prompts.of_sample(sample, ["iclke-colon"])  # pairs, with a colon and a new line
found = answers.ask([model], questions, "answers.parquet")
print(f"{model}:", stats.format_estimate(stats.estimate(found, over="fact"), percent=True))
print("best rule without a model:", f"{rules.cues(sample)[list(rules.RULES)].mean().max():.0%}")
