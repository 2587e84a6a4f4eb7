"""Compare two models on the same facts, from the answers that ship: python examples/compare_models.py"""

from lkecore import answers, stats

first, second = "gemma3-270m", "smollm2"
found = answers.results("10_iclke_relations")
found = found.query("source == 'trex' and estimator == 'iclke-colon' and draw == 0")
for model in (first, second):
    mean = stats.estimate(found[found["model"] == model])
    print(f"{model}:", stats.format_estimate(mean, percent=True))
gap = stats.compare(found, "model", first, second)
print("difference on the same facts:", stats.format_estimate(gap, percent=True))
