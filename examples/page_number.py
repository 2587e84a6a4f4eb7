"""The numbers of page 1.2, made again from the answers that ship: how much of an accuracy is guessing?"""

from lkecore import answers, stats
from lkecore.stats.rules import RULES

asked = "source == 'trex' and model == 'gemma3-270m' and estimator == 'iclke-space' and draw == 0"
found = answers.results("10_iclke_relations").query(asked)
cues = answers.results("10_iclke_relations-cues").query("source == 'trex'")
by_rule = cues.groupby("relation")[list(RULES)].mean().mean()
print("Gemma 3 270M on T-REx:", stats.format_estimate(stats.estimate(found), percent=True))
print(f"the best rule without a model, {by_rule.idxmax()}: {by_rule.max():.0%}")
