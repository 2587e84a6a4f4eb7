"""Costs: what EIC-LKE takes in tokens and in time, beside IC-LKE on the same facts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lkecore.answers.door import Questions, opened
from lkecore.answers.kept import collect, keep
from lkecore.models.model import Model
from lkecore.prompts import Prompt, Slots
from lkecore.scores.expected import expected_tokens
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.slots import encode_slots, slot_logprobs
from lkecore.scores.tokens import Encoded, common_prefix, encode
from lkecore.scores.tree import option_logprobs
from lkecore.scores.trie import Tree

TOGETHER = "eiclke"


def measure(
    models: Sequence[str],
    questions: Questions,
    file: str,
    *,
    beside: str = "iclke-space",
    dtype: str = "float32",
    page: bool = False,
) -> pd.DataFrame:
    """Count the tokens of EIC-LKE and of ``beside``, time both on a few facts, check two slots.

    ``questions`` as in :func:`lkecore.answers.door`; the two estimators ask the same facts there. A row
    for each model, relation and estimator, with those columns and: ``facts``; ``strings`` (prompts,
    each with one option); ``one_by_one``: tokens of all strings; ``ours``: tokens that the scorer
    forwards, each shared beginning once; ``groups`` of facts that share prompts (1 for ``beside``);
    ``shared``: tokens with which all strings of a group begin; and, for the first relation alone,
    ``timed_facts``, ``timed_tokens`` and ``seconds``: the facts of the first group asked without the
    cache. ``apart``: the larger difference in nats of two slots of the model's first prompt, its first
    and its last, from one plain forward pass. Kept as ``file``; with ``page``, read from the runs.
    Errors as in :func:`lkecore.scores.slots.slot_logprobs`.
    """
    if page:
        return collect(file)
    names = [name for estimator, name in questions if estimator == TOGETHER]
    rows = []
    for model in models:
        lm = opened(model, dtype)
        timed, apart = _timed(lm, questions[beside, names[0]], questions[TOGETHER, names[0]])
        for name in names:
            counts = (
                _of_prompts(lm, questions[beside, name]),
                _of_slots(lm, questions[TOGETHER, name]),
            )
            for key, count, time in zip((beside, TOGETHER), counts, timed, strict=True):
                row = {"model": model, "relation": name, "estimator": key} | count
                rows.append(row | (time if name == names[0] else {}) | {"apart": apart})
    found = pd.DataFrame(rows)
    keep(found, file)
    return found


def _of_prompts(lm: Model, prompts: Sequence[Prompt]) -> dict[str, int]:
    how = {"front": lm.front, "context_length": lm.context_length}
    encoded = encode(lm.tokenizer, prompts, **how)
    sizes = [len(e.stem) + len(tail) for e in encoded for tail in e.tails]
    return {
        "facts": len(prompts),
        "strings": len(sizes),
        "one_by_one": sum(sizes),
        "ours": expected_tokens(lm, prompts)[0],
        "groups": 1,
        "shared": common_prefix([e.stem for e in encoded]),
    }


def _of_slots(lm: Model, groups: Sequence[Slots]) -> dict[str, int]:
    """Up to the last slot: no model reads what stands behind. An option's last token is only read."""
    sizes, ours = [], 0
    for group in groups:
        tree, end = Tree(), group.places[-1] + 1
        texts = [e.ids[: e.bounds[end]] for e in encode_slots(lm, group)]
        sizes += [tree.depth[tree.add(ids)] for ids in texts]
        ours += sum(1 for below in tree.kids[1:] if below)
    return {
        "facts": sum(len(group.asked) for group in groups),
        "strings": len(sizes),
        "one_by_one": sum(sizes),
        "ours": ours,
        "groups": len(groups),
        "shared": common_prefix(texts),
    }


def _timed(
    lm: Model, prompts: Sequence[Prompt], groups: Sequence[Slots]
) -> tuple[list[dict[str, float]], float]:
    """Both ways on the facts of the first group; and how far two slots are from a plain pass."""
    n = len(groups[0].asked)
    # A short question first: loading the model is then in neither time.
    option_logprobs(lm, groups[0].asked[:1], use_cache=False)
    scored = (
        option_logprobs(lm, prompts[:n], use_cache=False),
        slot_logprobs(lm, groups[:1], use_cache=False),
    )
    times = [
        {"timed_facts": n, "timed_tokens": each.tokens_forwarded, "seconds": each.seconds}
        for each in scored
    ]
    return times, _apart(lm, groups[0], scored[1].frame)


def _apart(lm: Model, group: Slots, scores: pd.DataFrame) -> float:
    row, values = encode_slots(lm, group)[0], scores.set_index(["fact", "option"])["logprob"]
    gaps = []
    for slot in (0, len(group.places) - 1):
        prompt, order = group.asked[slot], group.orders[slot]
        start, end = row.bounds[group.places[slot] :][:2]
        alone = Encoded(prompt, (), (row.ids[:end],), (start,), 0)
        plain = option_logprobs_plain(lm.network, alone)[0]
        gaps.append(abs(plain - values[prompt.fact, prompt.options[order[0]]]))
    return max(gaps)


def at_scale(costs: pd.DataFrame, *, n_facts: int = 400, to_options: int = 100) -> pd.DataFrame:
    """What the paper's number of facts and options would take, in millions of tokens.

    Worked out from the lengths in a frame of :func:`measure`: nothing is run. The facts of a relation have
    the same number of options there, which need not be that of another relation. Columns: ``model``,
    ``relation``; ``one_by_one`` and ``ours`` of each estimator, as in "eiclke, ours";
    ``times_one_by_one`` and ``times_ours``: EIC-LKE over the other. Below 1 EIC-LKE saves. ``ours`` is too
    high for IC-LKE: each subject is counted once for every option.
    """
    eic = costs["estimator"] == TOGETHER
    # Strings are one for each option: of each fact by itself, or of each group of facts.
    n_options = costs["strings"] / costs["groups"].where(eic, costs["facts"])
    as_many = n_facts / costs["facts"] * to_options / n_options  # strings there for one here
    groups = (costs["groups"] * n_facts / costs["facts"]).where(eic, 1)
    own = costs["ours"] - costs["groups"] * costs["shared"]
    found = costs[["model", "relation", "estimator"]].assign(
        one_by_one=costs["one_by_one"] * as_many / 1e6,
        ours=(groups * costs["shared"] + own * as_many) / 1e6,
    )
    return _side_by_side(found)


def _side_by_side(found: pd.DataFrame) -> pd.DataFrame:
    [other] = [name for name in found["estimator"].unique() if name != TOGETHER]
    rows: list[Mapping[str, Any]] = []
    for (model, name), part in found.groupby(["model", "relation"], sort=False):
        by = part.set_index("estimator")
        row = {"model": model, "relation": name}
        for way in ("one_by_one", "ours"):
            row |= {f"{key}, {way}": by.loc[key, way] for key in (other, TOGETHER)}
        for way in ("one_by_one", "ours"):
            row[f"times_{way}"] = row[f"{TOGETHER}, {way}"] / row[f"{other}, {way}"]
        rows.append(row)
    return pd.DataFrame(rows)
