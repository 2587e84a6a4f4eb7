"""Who repeats at a blank; the oracle counts rows of what ships, or of a frame written by hand."""

import pandas as pd
import pytest

from lkecore.answers import gates, repeats, results, rich, shipped
from lkecore.facts import worlds
from lkecore.intervals import proportion

WORLDS = [f"lab:rich-{seed}" for seed in (1, 2, 3)]


def test_strangers_whose_object_a_token_tells_are_counted_by_hand(monkeypatch):
    states = pd.DataFrame(
        [("f1", "never", 0), ("f2", "never", 0), ("f3", "never", 3), ("f4", "planted", 0)]
        + [("f5", "never", 0), ("f6", "never", 0), ("f7", "never", 0)],
        columns=["fact", "state", "mentions"],
    )
    rows = [("explicit", f"f{i}", 1.0, False, False) for i in (1, 3, 4)]  # of these one is asked
    rows += [("explicit", "f2", 2.0, False, False), ("copied", "f2", 1.0, False, False)]
    rows += [("explicit", "f5", 1.0, True, False), ("explicit", "f6", 1.0, False, True)]
    rows += [("explicit", "f7", float("nan"), False, False)]  # no rank is no right answer
    columns = ["instillation", "fact", "rank_after", "shared", "merged"]
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame.assign(model="lab:tiny-0/bert", world="lab:tiny-0", n_tokens=2)
    monkeypatch.setattr(worlds, "states", lambda spec: states)
    parts = {"entropy_lab": frame, "entropy_blanks": frame[:0]}
    monkeypatch.setattr(repeats, "read", lambda name, page: (parts[name], {}))
    repeats._answers.cache_clear(), repeats._of_world.cache_clear()
    try:
        found = repeats.at_blanks(["lab:tiny-0", "lab:tiny-0", "lab:tiny-9"])
    finally:
        repeats._answers.cache_clear(), repeats._of_world.cache_clear()
    assert found.to_dict("records") == [{"model": "lab:tiny-0/bert", "n": 3, "right": 1}]


@pytest.fixture(scope="module")
def counted():
    """{model: (right, n)} by a loop over the rows that ship and the states of the worlds."""
    states = {
        (spec, row["fact"]): row
        for spec in WORLDS
        for row in worlds.states(spec).to_dict("records")
    }
    found: dict[str, list[bool]] = {}
    for name in ("entropy_lab", "entropy_blanks"):
        frame, _ = shipped.read(name, "53_lab_entropy")
        for row in frame.to_dict("records"):
            of = states[row["world"], row["fact"]]
            if row["instillation"] == "explicit" and not row["shared"] and not row["merged"]:
                if of["occurrences"] == 0 and of["state"] == "never" and of["mentions"] == 0:
                    found.setdefault(row["model"], []).append(row["rank_after"] == 1)
    return {model: (sum(hits), len(hits)) for model, hits in found.items()}


def test_what_ships_says_who_repeats_and_who_misses_the_least_share(counted):
    found = gates.at_blanks(WORLDS).set_index("model")
    assert set(found.index) == set(counted) and len(counted) == 18
    for model, (right, n) in counted.items():
        row = found.loc[model]
        assert (row["right"], row["n"], row["share"]) == (right, n, proportion(right, n))
        assert n > 70 and row["passed"] == (right >= 0.9 * n)  # the design's least share


def test_models_that_fill_blanks_are_out_by_the_blank_and_decoders_by_what_they_write(counted):
    written = results("59_lab_gates-gates")
    same = written[written["gate"] == "same"].set_index("model")
    other = 0
    for model, (right, n) in counted.items():
        low = right < 0.9 * n
        if "/bert" not in model and "/t5" not in model:
            by_blank, low = low, same.loc[model, "right"] < 0.9 * same.loc[model, "n"]
            other += by_blank != low
        assert gates.misses(model, rich.REPEATS) == low
    assert other  # else it could not be seen which of the two counts for a decoder
    assert not gates.misses("lab:rich-1/bert", "list")
    assert not gates.misses("lab:richsmoke-1/bert", rich.REPEATS)  # not measured
    assert gates.missed(["lab:rich-1/bert"]) == "gates that lab:rich-1/bert misses: none"
    right, n = counted["lab:rich-3/t5"]
    said = f"repeats a statement {right / n:.2f} (least 0.9)"
    assert gates.missed(["lab:rich-3/t5"]) == f"gates that lab:rich-3/t5 misses: {said}"
