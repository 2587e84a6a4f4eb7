"""Questions at blanks about a rich world, asked of each reader as it reads."""

from lkecore.answers import door, moved, rich
from lkecore.prompts.prompt import join_pair

SPEC = "lab:richsmoke-0"


def test_questions_are_asked_of_each_reader_as_it_reads(monkeypatch):
    class Opened:
        def __init__(self, kind):
            self.kind = kind

    monkeypatch.setattr(door, "opened", lambda name, dtype: Opened(name))
    every = ["residence", "author"]
    some = rich.samples(
        [f"{SPEC}/0.15m"], every, lambda states: states["state"] == "planted", n_shots=2, seed=0
    )
    asked = moved.questions(some, ["causal", "masked"], "template-1", dtype="float32", seed=0)
    assert {key[1:4] for key in asked} == {
        (reader, "template-1", kind)
        for reader in ("causal", "masked")
        for kind in ("explicit", "copied")
    }
    causal, masked = (
        asked[SPEC, reader, "template-1", "explicit", "author"][0]
        for reader in ("causal", "masked")
    )
    assert (causal.asked.after, masked.asked.after) == ("", ".")
    assert causal.told.context == masked.told.context
    assert join_pair(" ")[1] == " " and causal.asked.continuations[0].startswith(" ")
