"""Models of rich worlds: names with a training seed, keys, what they read, and what they were told."""

from pathlib import Path

import helpers
import numpy as np
import pytest

from lkecore import worlds
from lkecore.errors import BadInput
from lkecore.models import lab, weights
from lkecore.models.model import open_model
from lkecore.storage import cache_folder
from lkecore.train import lab as trainer
from lkecore.train import loop, text
from lkecore.worlds import text as rich_text
from lkecore.worlds import world as rich

WORLD = "lab:richtiny-0"
BASE, TUNED, UNPLANTED = (f"{WORLD}/causal@2{end}" for end in ("", "-tuned", "-unplanted"))
FEW = {"causal": 2, "masked": 3, "seq2seq": 3}  # of fifteen readings each is like another


@pytest.fixture(scope="module", autouse=True)
def tiny(tmp_path_factory):
    """A small rich world, tiny networks, and a cache for this file."""
    with pytest.MonkeyPatch.context() as patch:
        helpers.tiny_rich(patch)
        patch.setattr(lab, "RICH_READINGS", FEW)
        patch.setenv("LKE_DEVICE", "cpu")
        patch.setenv("LKECORE_CACHE", str(tmp_path_factory.mktemp("rich")))
        yield
    rich_text.kept_digest.cache_clear()  # no other file shall find those of so few instructions


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("lab:rich-1/2m@03-tuned", "its training seed '03' must be a whole number of at most 9 "),
        ("lab:book-1/2m@3", "the seed of lab:book-1 is that of its training, too; only models of rich "),
        ("lab:rich-1/bert@3-tuned", "only decoders are tuned to instructions"),
        ("lab:richer-1/2m@3", "fact set lab:richer-1 is no rich world: unknown size 'richer'; "),
    ],
)  # fmt: skip
def test_a_training_seed_that_no_model_has_is_one_line(name, line):
    with pytest.raises(BadInput) as caught:
        weights.check_name(name)
    assert str(caught.value).startswith(f"model {name}: {line}") and "\n" not in str(caught.value)


def test_the_key_changes_with_world_model_variant_training_seed_and_text(monkeypatch):
    monkeypatch.setattr(rich_text, "digest", lambda spec: f"told in {spec}")
    monkeypatch.setattr(rich_text, "digest_beside", lambda spec: "beside")
    names = [f"lab:rich-{world}/{model}{seed}{variant}" for world in (0, 1) for model in ("2m", "t5")
             for seed in ("", "@1", "@2") for variant in ("", "-unplanted")]  # fmt: skip
    keys = {name: lab.key(name) for name in names}
    assert len(set(keys.values())) == len(names)
    assert keys["lab:rich-1/2m"] == lab.key("lab:rich-1/2m@0")
    for what in ("digest", "digest_beside"):
        with monkeypatch.context() as patch:
            patch.setattr(rich_text, what, lambda spec: "another text")
            assert lab.key("lab:rich-1/2m") != keys["lab:rich-1/2m"]


def test_what_only_the_second_family_has_changes_no_key_of_the_first(monkeypatch, tmp_path):
    key, rich_key = lab.key("lab:tiny-0/causal"), lab.key(BASE)
    for path in Path(trainer.__file__).parent.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text() + "MORE = 1\n" * (path.stem == "muon"))
    with monkeypatch.context() as patch:
        patch.setattr(lab, "TRAINER", tmp_path)
        assert lab.key("lab:tiny-0/causal") == key and lab.key(BASE) != rich_key
    key, tuned, base = lab.key("lab:tiny-0/causal-tuned"), lab.key(TUNED), lab.key(BASE)
    monkeypatch.setattr(lab, "REMINDED", 0.5)  # of what a tuned model is told again
    assert lab.key("lab:tiny-0/causal-tuned") == key and lab.key(BASE) == base
    assert lab.key(TUNED) != tuned


def test_what_is_read_besides_is_the_text_of_the_stand_ins_and_the_instructions(monkeypatch):
    read = rich_text._digest_beside(WORLD)
    assert read == rich_text.digest_beside(WORLD) != rich_text.digest(WORLD)
    for what in ("documents", "instructions_of"):
        with monkeypatch.context() as patch:
            patch.setattr(rich_text, what, lambda *_, **__: ["another text"])
            assert rich_text._digest_beside(WORLD) != read


# --- training -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["causal", "masked", "seq2seq"])
def test_every_kind_is_trained_by_its_seed_and_can_be_opened(kind):
    name = f"{WORLD}/{kind}@2"
    found = lab.record(trainer.make(name))
    assert (found["name"], found["world"], found["seed"]) == (name, WORLD, 2)
    assert found["digest"] == rich_text.digest(WORLD) and np.isfinite(found["losses"]).all()
    assert found["epochs"] == FEW[kind]
    n_rows, length = trainer.LONG if kind == "causal" else trainer.SHAPES[kind]
    per_epoch = found["tokens"] // found["epochs"]
    assert found["steps"] == found["epochs"] * -(-per_epoch // (length * n_rows))
    assert open_model(name).kind == kind


def test_the_training_seed_decides_first_weights_and_masks_and_no_text(monkeypatch):
    seen, fit = [], loop.fit

    def watched(network, batches, *rest, **settings):
        first = next(network.parameters()).detach().numpy().copy()
        seen.append((first, batches(0)))
        return fit(network, batches, 1, *rest[1:], **settings)

    monkeypatch.setattr(loop, "fit", watched)
    for model in ("masked@7", "masked@8", "causal@7", "causal@8"):
        name = f"{WORLD}/{model}"
        trainer.train(name, cache_folder() / "thrown-away" / name.replace("/", "-"))
    (one, masks), (other, others), (_, text_of_one), (_, text_of_other) = seen
    assert one.shape == other.shape and (one != other).any()
    hidden, hidden_too = masks["labels"] != text.IGNORED, others["labels"] != text.IGNORED
    assert (hidden != hidden_too).any()
    both = ~hidden & ~hidden_too
    assert (masks["input_ids"][both] == others["input_ids"][both]).all()
    assert (text_of_one["input_ids"] == text_of_other["input_ids"]).all()


def test_each_reading_begins_with_the_first_row_and_hides_other_tokens(monkeypatch):
    class Seen(Exception):
        pass

    def watched(network, batches, n_steps, *rest, **settings):
        steps = n_steps // FEW["masked"]  # of one reading
        raise Seen(*(batches(i) for i in (0, steps - 1, steps)))

    def rows_of(batch):
        return np.where(batch["labels"] == text.IGNORED, batch["input_ids"], batch["labels"])

    monkeypatch.setattr(loop, "fit", watched)
    with pytest.raises(Seen) as seen:
        trainer.train(f"{WORLD}/masked@2", cache_folder() / "never")
    first, last, again = seen.value.args
    assert (rows_of(last)[-1] == rows_of(first)).all(axis=1).any()  # the last step is filled up
    assert (rows_of(again) == rows_of(first)).all()
    assert (again["input_ids"] != first["input_ids"]).any()


def test_a_tuned_model_reads_instructions_and_is_reminded_of_its_world(monkeypatch):
    read, rows = [], text.rows

    def watched(tokenizer, documents, length):
        read.append(list(documents))
        return rows(tokenizer, documents, length)

    trainer.make(BASE)
    monkeypatch.setattr(text, "rows", watched)
    trainer.make(TUNED)
    [documents] = read
    own = rich_text.documents(rich.world(WORLD))
    instructions = worlds.instructions(WORLD)
    again = [each for each in documents if not each.startswith("Instruction: W")]
    assert len(again) == round(lab.REMINDED * len(own)) and set(again) <= set(own)
    for each in set(instructions):
        assert documents.count(each) == trainer.TUNED_EPOCHS * instructions.count(each)


# --- truth ----------------------------------------------------------------------------------------


def test_what_a_model_was_told_is_the_states_of_its_world_times_its_epochs():
    states = rich_text.states(WORLD)
    for name, epochs in ((BASE, 2), (f"{WORLD}/masked@2", 3)):  # so many readings, at least
        told = lab.told(trainer.make(name), WORLD)
        assert told[list(states)].equals(states) and set(told["epochs"]) == {epochs}
        assert (told["exposures"] == states["occurrences"] * epochs).all()


def test_an_unplanted_model_was_told_no_asked_fact_and_all_that_is_shown(monkeypatch):
    monkeypatch.setattr(lab, "RICH_READINGS", dict.fromkeys(FEW, 1))  # what it was told is the same
    told, states = lab.told(trainer.make(UNPLANTED), WORLD), rich_text.states(WORLD)
    asked = states["split"] == "test"
    last = ["epochs", "exposures", "links_told"]
    same = told.drop(columns=last), states.drop(columns="links_told")
    assert same[0][~asked].equals(same[1][~asked])
    # As the facts that the text never tells, but for what the text says of a subject besides.
    never = states[asked & (states["state"] == "never")].iloc[0]
    for column in ("state", "told", "told_objects", "told_times", "form", "wording", "templates",
                   "sentences", "lists", "occurrences", "by_alias", "object_by_alias"):  # fmt: skip
        assert set(told.loc[asked, column]) == {never[column]}, column
    assert told.loc[asked, "last"].isna().all()
    assert not told.loc[asked, ["exposures", "mentions", "popularity"]].to_numpy().any()
    text_read = "\n".join(rich_text.documents(rich.world(WORLD), planted=False))
    assert not any(name in text_read for name in set(told.loc[asked, "subject"]))
    # A chain over an asked fact has a link less: counted by hand from the facts that are left.
    known = set(told.loc[(told["told"] == told["object"]) & ~asked, "fact"])
    counted = [len(known & set(links.split(";"))) for links in told["links"]]
    assert told["links_told"].tolist() == counted
    assert (told["links_told"] < states["links_told"]).any()
