"""Chunks of scores: what is kept is found by the texts alone, and by nothing that differs from them."""

import dataclasses
import errno
import io
import json
import os
import shutil

import helpers
import numpy as np
import pandas as pd
import pytest
from helpers import model, prompt
from hypothesis import given
from hypothesis import strategies as st

from lkecore import progress
from lkecore.errors import BadInput
from lkecore.models import weights
from lkecore.models.model import open_model
from lkecore.prompts.prompt import Prompt
from lkecore.scores import chunks, masked, seq2seq, store, tree
from lkecore.scores import expected as counting
from lkecore.storage import cache_folder

# "ab" is one token, so that options which begin with b merge with the a before them.
MERGES = [("a", "b")]
CAPITAL = [
    prompt("Kenya", ["b", "cd", "xyz"], fact="f1", relation="capital"),
    prompt("Chad", ["b", "cd"], fact="f2", relation="capital"),
]
BORN = [prompt("1879a", ["bm", "b", "Ulm"], fact="f3", relation="born")]
NAMES = (" Paris", " New York", " Rome")
BLANKS = [
    Prompt("f1", "r", "s", "The capital of France is", NAMES, NAMES, 0, "."),
    Prompt("f2", "r", "s", "Rome is in", NAMES[:2], NAMES[:2], 0, " ."),
    Prompt("f3", "other", "s", "Par", ("is", "York"), ("is", "York"), 0, "."),
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))


class Tokenizer:
    """A tokenizer that notes what it is given; around none it refuses to tokenise at all."""

    is_fast = True

    def __init__(self, real=None):
        self.real, self.texts = real, []

    def __getattr__(self, name):
        return getattr(self.__dict__["real"], name)

    def __call__(self, texts, **settings):
        assert self.real is not None, f"tokenised: {texts}"
        self.texts += [texts] if isinstance(texts, str) else texts
        return self.real(texts, **settings)


def causal(network=None, **changes):
    changes.setdefault("tokenizer", helpers.bpe_tokenizer(MERGES))
    return model(network, **changes)


def files() -> list:
    return sorted(cache_folder().glob("scores/*/*.parquet"))


# --- found again


@pytest.mark.parametrize("kind", ["causal", "separate", "masked", "closed"])
def test_a_kept_chunk_is_found_without_tokenising(kind):
    if kind in ("causal", "separate"):
        network, tokenizer = helpers.network(), helpers.bpe_tokenizer(MERGES)
        scorer, prompts, asked = tree, CAPITAL + BORN, {"separate": kind == "separate"}
    elif kind == "masked":
        network, tokenizer = helpers.blank_filler("BERT")
        scorer, prompts, asked = masked, BLANKS, {}
    else:
        network, tokenizer = helpers.blank_filler("T5")
        scorer, prompts, asked = seq2seq, BLANKS, {"closed": kind == "closed"}
    of_kind = {"kind": scorer.__name__.rpartition(".")[2].replace("tree", "causal")}
    first = scorer.option_logprobs(model(network, tokenizer=tokenizer, **of_kind), prompts, **asked)
    silent = model(tokenizer=Tokenizer(), **of_kind)
    second = scorer.option_logprobs(silent, prompts, **asked)
    pd.testing.assert_frame_equal(first.frame, second.frame, check_exact=True)
    assert "_loaded" not in silent.__dict__
    assert (first.cached, second.cached, second.tokens_forwarded) == (False, True, 0)
    assert second.seconds == 0
    # A b merges with the end of Kenya and, in two options, of 1879a; "Par" and "is" are one token.
    merged = {"causal": 1 + 2, "masked": 1}.get(kind, 0)
    assert first.merged == second.merged == merged


def test_of_two_relations_only_the_one_that_is_missing_is_tokenised_and_computed(
    tmp_path, monkeypatch
):
    whole = tree.option_logprobs(causal(helpers.network()), CAPITAL + BORN, use_cache=False)
    tree.option_logprobs(causal(helpers.network()), CAPITAL)
    monkeypatch.setenv("LKE_LEDGER", str(tmp_path / "ledger"))
    tokenizer = Tokenizer(helpers.bpe_tokenizer(MERGES))
    network = helpers.network()
    for prompts in (CAPITAL + BORN, BORN + CAPITAL):
        found = tree.option_logprobs(causal(network, tokenizer=tokenizer), prompts)
        assert found.frame["fact"].unique().tolist() == [p.fact for p in prompts]
        both = [f.frame.sort_values(["fact", "option"])["logprob"] for f in (found, whole)]
        np.testing.assert_allclose(*both, rtol=0, atol=1e-5)  # float32, in other batches
        assert found.merged == whole.merged
    assert tokenizer.texts and not any(t.startswith(("Kenya", "Chad")) for t in tokenizer.texts)
    entries = progress.read_ledger(tmp_path / "ledger")
    capital, born = ("capital", 2, True), ("born", 1, True)
    seen = [(e["relation"], e["facts"], e["from_cache"]) for e in entries]
    assert seen == [capital, ("born", 1, False), born, capital]


def test_a_relation_that_comes_twice_in_one_call_is_computed_once():
    m = causal(helpers.network())
    alone = [tree.option_logprobs(m, some, use_cache=False) for some in (CAPITAL, BORN)]
    found = tree.option_logprobs(m, CAPITAL + BORN + CAPITAL)
    assert found.tokens_forwarded == sum(each.tokens_forwarded for each in alone)
    assert found.merged == 2 * alone[0].merged + alone[1].merged
    values = found.frame["logprob"].tolist()
    assert len(files()) == 2 and values[:5] == values[-5:]


def test_bad_input_in_the_second_relation_stops_before_the_first_is_computed():
    network = helpers.network()
    network.forward = lambda **_: pytest.fail("computed")
    too_long = [prompt("1879" * 9, ["Ulm"], fact="f3", relation="born")]
    with pytest.raises(BadInput, match="38 tokens are more than the model's context of 20"):
        tree.option_logprobs(causal(network, context_length=20), CAPITAL + too_long)
    assert not files()


def bit_flipped(path, first):
    kept = path.read_bytes()
    numbers = first.frame["logprob"].to_numpy().tobytes()
    place = kept.index(numbers[:8])  # as they are: compressed they would be longer
    path.write_bytes(kept[:place] + bytes([kept[place] ^ 1]) + kept[place + 1 :])
    assert pd.read_parquet(path)["logprob"].iloc[0] != first.frame["logprob"].iloc[0]


HARM = {
    "empty": lambda path, first: path.write_bytes(b""),
    "its end lost": lambda path, first: path.write_bytes(path.read_bytes()[:-9]),
    "a bit flipped": bit_flipped,
    **{
        f"without {name}": lambda path, first, name=name: (
            pd.read_parquet(path).drop(columns=name).to_parquet(path)
        )
        for name in chunks.KEPT
    },
}


@pytest.mark.parametrize("harm", HARM)
def test_a_kept_file_that_is_harmed_is_computed_again_and_replaced(harm):
    m = causal(helpers.network())
    first = tree.option_logprobs(m, BORN)
    [path] = files()
    kept = path.read_bytes()
    HARM[harm](path, first)
    assert counting.expected_tokens(m, BORN) == (first.tokens_forwarded, 0)
    again = tree.option_logprobs(m, BORN)
    assert (again.cached, again.tokens_forwarded) == (False, first.tokens_forwarded)
    pd.testing.assert_frame_equal(first.frame, again.frame, check_exact=True)
    assert path.read_bytes() == kept and tree.option_logprobs(causal(), BORN).cached


# --- the key


def key(prompts=CAPITAL, settings=None, **changes) -> str:
    return chunks.key_of(causal(**changes), prompts, settings or {"separate": False})


def with_one(**changes) -> list[Prompt]:
    return [dataclasses.replace(CAPITAL[0], **changes), CAPITAL[1]]


def test_the_key_changes_with_all_that_makes_a_score():
    changed = [
        key(),
        key(with_one(context="Kenyb")),
        key(with_one(context="Kenya ")),
        key(with_one(continuations=("b", "cd", "xyZ"))),
        key(with_one(continuations=("cd", "b", "xyz"))),
        key(with_one(continuations=("b", "cd"))),
        key(with_one(context="Keny", continuations=("ab", "acd", "axyz"))),  # divided elsewhere
        key(with_one(after=" ")),
        key(with_one(after=".")),
        key(CAPITAL[::-1]),
        key(CAPITAL[:1]),
        key(settings={"separate": True}),
        key(settings={"closed": False}),
        key(kind="masked"),
        key(dtype="bfloat16"),
        key(digest="1" * 64),
        key(device="cuda"),
        key(front=(1,)),
    ]
    assert len(set(changed)) == len(changed)


def test_the_key_does_not_change_with_what_the_model_is_never_shown():
    names = dict(fact="g", relation="r", subject="x", options=("1", "2", "3"), gold=2)
    assert key() == key(with_one(**names)) == key(name="another name") == key(device="cpu:0")


def test_key_takes_the_code_of_the_scorer_and_of_what_it_imports_and_no_other(
    tmp_path, monkeypatch
):
    def key_with(source: str, **siblings: str) -> str:
        for name, text in {"tree": source, **siblings}.items():
            (tmp_path / f"{name}.py").write_text(text)
        store.programs.cache_clear()
        return key()

    before = key()
    with monkeypatch.context() as patch:
        patch.setattr(store, "__file__", str(tmp_path / "cache.py"))
        code = key_with("def score():\n    return 1\n")
        assert code == key_with(
            '"""Told well."""\n\ndef score():\n    """."""\n    return 1  # !\n'
        )
        assert len({before, code, key_with("def score():\n    return 2\n")}) == 3
        with_walk = "from lkecore.scores import walk\n\ndef score():\n    return 1\n"
        one = key_with(with_walk, walk="from lkecore.scores.trie import Tree\n", trie="X = 1\n")
        assert (
            key_with(with_walk.replace("import walk", "import walk as w"), masked="Y = 1\n") == one
        )
        assert key_with(with_walk, masked="Y = 2\n") == one  # nothing imports it
        assert key_with(with_walk, trie="X = 2\n") != one  # imported by what is imported
        assert key_with(with_walk, walk="Z = 1\n") != one
        far = "def f():\n    from lkecore.scores.walk import a, b\n"
        assert key_with(far, walk="Z = 1\n") != key_with(far, walk="Z = 2\n")
    store.programs.cache_clear()
    assert key() == before


@pytest.mark.parametrize("fast", [True, False])
def test_the_key_changes_with_the_versions_of_what_tokenises_and_computes(fast, monkeypatch):
    tokenizer = Tokenizer()
    tokenizer.is_fast = fast
    before, real = key(tokenizer=tokenizer), store.version
    for package in ("torch", "transformers", "tokenizers", "sentencepiece", "numpy"):
        with monkeypatch.context() as patch:
            patch.setattr(store, "version", lambda name, p=package: "9" * (name == p) + real(name))
            changes = key(tokenizer=tokenizer) != before
        assert changes == (package != "numpy" and (package != "sentencepiece" or not fast))


def test_the_key_changes_with_each_file_of_a_local_model_that_decides_tokens(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(weights.locate("toy"), folder)
    settings = {"separate": False}
    keys = [chunks.key_of(open_model(str(folder), device="cpu"), CAPITAL, settings)]
    names = sorted(p.name for p in folder.glob("*token*.json"))
    assert "tokenizer.json" in names and "tokenizer_config.json" in names
    for name in names:
        before = (folder / name).read_text(encoding="utf-8")
        content = json.loads(before)
        if name == "tokenizer.json":  # two tokens change their ids
            one, two, *_ = vocabulary = content["model"]["vocab"]
            vocabulary[one], vocabulary[two] = vocabulary[two], vocabulary[one]
        else:
            content["padding_side"] = "left"
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
        keys.append(chunks.key_of(open_model(str(folder), device="cpu"), CAPITAL, settings))
    assert len(set(keys)) == 1 + len(names)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", ("c",), ""), ("a", ("bc",), "")),
        (("a", ("b", "c"), ""), ("a", ("bc",), "")),
        (("a", ("b",), "c"), ("a", ("b", "c"), "")),
        (("a", ('b", "c',), ""), ("a", ("b", "c"), "")),
        (("é", ("b",), ""), ("\\u00e9", ("b",), "")),
    ],
)
def test_texts_that_are_equal_when_joined_have_keys_of_their_own(one, other):
    def key_of(context, continuations, after):
        asked = Prompt("f", "r", "s", context, continuations, continuations, 0, after)
        return key([asked])

    assert key_of(*one) != key_of(*other)


PARTS = st.text(alphabet='ab", []\\', max_size=3)
QUESTION = st.tuples(PARTS, st.lists(PARTS, min_size=1, max_size=2).map(tuple), PARTS)
CHUNK = st.lists(QUESTION, min_size=1, max_size=2)


@given(CHUNK, CHUNK)
def test_keys_of_random_questions_are_equal_only_where_the_questions_are(one, other):
    m = model(tokenizer=Tokenizer())
    keys = [store.chunk_key(m, "tree", ["options", each]) for each in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


def test_whole_numbers_of_numpy_are_those_of_python_in_a_key_and_others_are_refused():
    m = model(tokenizer=Tokenizer())
    assert store.chunk_key(m, "tree", [np.int64(3), 0.5]) == store.chunk_key(
        m, "tree", [3, np.float64(0.5)]
    )
    assert store.chunk_key(m, "tree", [3]) != store.chunk_key(m, "tree", [3.0])
    with pytest.raises(TypeError):  # rounded, two questions would share a key
        store.chunk_key(m, "tree", [np.float32(3.5)])


# --- a cache that keeps nothing -------------------------------------------------------------------


@pytest.mark.parametrize("why", ["full", "read-only", "no folder"])
def test_a_cache_that_keeps_nothing_ends_no_work_and_is_told_once(why, monkeypatch, capsys):
    """Full and read-only as the system says it, at the lowest place: root may write into any folder."""
    asked = causal(helpers.network())
    expected = tree.option_logprobs(asked, CAPITAL + BORN, use_cache=False).frame
    progress.tell_once.cache_clear()
    monkeypatch.delenv("LKE_RUN", raising=False)
    folder = cache_folder() / "scores"
    if why == "no folder":
        folder.write_text("a file in its place")
    else:
        number = {"full": errno.ENOSPC, "read-only": errno.EROFS}[why]

        def refuse(path, mode="r", *rest, **named):
            if str(path).endswith(".part"):
                raise OSError(number, os.strerror(number), str(path))
            return opened(path, mode, *rest, **named)

        opened = io.open
        monkeypatch.setattr(io, "open", refuse)
    capsys.readouterr()
    for _ in range(2):  # two relations each, and nothing is found the second time
        found = tree.option_logprobs(asked, CAPITAL + BORN)
        pd.testing.assert_frame_equal(found.frame, expected)
        assert not found.cached
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and "scores keeps nothing more" in told[0] and "goes on" in told[0]
    assert not folder.is_dir() or not list(folder.rglob("*.p*"))
