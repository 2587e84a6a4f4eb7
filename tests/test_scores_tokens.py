"""Strings to token ids.

Expected behaviour, BOS:

- The policy is an argument, ``add_bos``. ``open_model`` finds it out: True where the tokenizer by
  itself puts its BOS token in front of a string, so that a model is asked as it was trained.
- ``add_bos=True``: exactly one BOS token, at the very beginning, never scored. An empty context is
  then allowed, and its options are conditioned on BOS alone.
- ``add_bos=False``: no special token anywhere, also where the tokenizer would add one by itself. An
  empty context is an error, since the first token would have nothing to be conditioned on.
- No other special token (EOS, SEP) is ever added, on either side.

Expected behaviour, border: context and continuation are tokenised as one string, and the option's
tokens begin where that differs from the tokens of the context alone.
"""

import helpers
import pytest
from helpers import prompt

from lkecore.prompts import Prompt
from lkecore.rows import BadInput
from lkecore.scores.tokens import common_prefix, encode

TEXT = [
    "Italy Rome France Paris Spain Madrid Germany Berlin Albert Einstein 14 March 1879",
    "Marie Curie 7 November 1867 Isaac Newton 4 January 1643 Niels Bohr 7 October 1885",
]


def byte_level_bpe():
    """As GPT-2 has: bytes, and a space begins the word that follows it."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(TEXT, vocab_size=330, min_frequency=1, show_progress=False)
    return PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer)


def metaspace_bpe():
    """As Llama 2 has: "▁" for a space, and one more in front of the string."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    bpe.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=["<unk>"], show_progress=False)
    bpe.train_from_iterator(TEXT, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, unk_token="<unk>")


def unigram():
    """As T5 and Gemma have: the most probable cut, so that a later letter may move an earlier one."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    cuts = Tokenizer(models.Unigram())
    cuts.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    cuts.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    cuts.train_from_iterator(TEXT, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=cuts, unk_token="<unk>")


TOKENIZERS = {"byte-level BPE": byte_level_bpe, "metaspace BPE": metaspace_bpe, "unigram": unigram}
CAPITAL = Prompt(
    "f1", "capital", "Spain", "Italy Rome Spain", ("Madrid", "Paris"), (" Madrid", " Paris"), 0
)
DATE = Prompt(
    "f2",
    "born",
    "Albert Einstein",
    "Marie Curie 7 November 1867 Albert Einstein",
    ("14 March 1879", "14 March 1643"),
    (" 14 March 1879", " 14 March 1643"),
    0,
)


@pytest.fixture(scope="module", params=TOKENIZERS)
def tokenizer(request):
    return TOKENIZERS[request.param]()


# --- joint tokens and the border


@pytest.mark.parametrize("asked", [CAPITAL, DATE], ids=["capital", "date"])
def test_tokens_are_those_of_the_whole_string(tokenizer, asked):
    [e] = encode(tokenizer, [asked], add_bos=False)
    for ids, continuation in zip(e.sequences, asked.continuations, strict=True):
        assert list(ids) == tokenizer(asked.context + continuation)["input_ids"]
        assert tokenizer.decode(ids).strip() == asked.context + continuation


@pytest.mark.parametrize("asked", [CAPITAL, DATE], ids=["capital", "date"])
def test_a_continuation_with_its_own_space_merges_nothing_and_owns_all_its_tokens(tokenizer, asked):
    [e] = encode(tokenizer, [asked], add_bos=False)
    context = tokenizer(asked.context)["input_ids"]
    assert e.merged == 0
    assert e.starts == (len(context),) * 2
    for ids, start, name in zip(e.sequences, e.starts, asked.options, strict=True):
        assert tokenizer.decode(ids[start:]).strip() == name


def test_the_start_is_the_longest_common_prefix_with_the_tokens_of_the_context(tokenizer):
    # No space at the border: every tokenizer cuts "Spai|n" and "Spai|nmark" in its own way.
    options = ("n", "nmark", " Madrid")
    asked = Prompt("f", "r", "Spai", "Italy Rome Spai", options, options, 0)
    [e] = encode(tokenizer, [asked], add_bos=False)
    context = tokenizer(asked.context)["input_ids"]
    for ids, start in zip(e.sequences, e.starts, strict=True):
        assert list(ids[:start]) == context[:start]
        assert start == len(context) or ids[start] != context[start]
    assert e.merged == sum(start < len(context) for start in e.starts)


def test_byte_level_tokens_of_a_date_are_those_by_hand():
    tokenizer = byte_level_bpe()
    [e] = encode(tokenizer, [DATE], add_bos=False)
    cut = [tokenizer.convert_ids_to_tokens(list(ids[e.starts[0] :])) for ids in e.sequences]
    # "Ġ" is the space; the two dates part ways inside the year.
    assert cut[0][:2] == cut[1][:2] and "".join(cut[0]) == "Ġ14ĠMarchĠ1879"
    assert "".join(cut[1]) == "Ġ14ĠMarchĠ1643"


def test_a_token_that_merges_across_the_border_is_scored_with_the_option_by_hand():
    tokenizer = helpers.bpe_tokenizer([("b", "c"), ("a", "bc")])
    # Context X a b; with c the last two become one token, with d all three stay.
    [e] = encode(tokenizer, [prompt("Xab", ["c", "d", "cd"])], add_bos=False)
    cut = [tokenizer.convert_ids_to_tokens(list(ids)) for ids in e.sequences]
    assert cut == [["X", "abc"], ["X", "a", "b", "d"], ["X", "abc", "d"]]
    assert e.starts == (1, 3, 1)
    assert e.merged == 2


def test_merged_tokens_are_counted_for_each_prompt():
    tokenizer = helpers.bpe_tokenizer([("b", "c")])
    first, second = encode(
        tokenizer, [prompt("ab", ["c", "d"]), prompt("aa", ["c", "d"])], add_bos=False
    )
    assert (first.merged, second.merged) == (1, 0)


def test_common_prefix_by_hand():
    assert common_prefix([[1, 2, 3]]) == 3
    assert common_prefix([[1, 2, 3], [1, 2, 3]]) == 3
    assert common_prefix([[1, 2], [1, 2, 3]]) == 2
    assert common_prefix([[5, 1], [5, 3], [5, 2]]) == 1
    assert common_prefix([[1], [2]]) == 0
    assert common_prefix([[], [2]]) == 0


# --- BOS


def test_bos_stands_once_in_front_and_moves_the_start_by_one():
    tokenizer = helpers.char_tokenizer()
    [with_bos] = encode(tokenizer, [prompt("ab", ["c", "de"])], add_bos=True)
    [without] = encode(tokenizer, [prompt("ab", ["c", "de"])], add_bos=False)
    assert without.starts == (2, 2) and with_bos.starts == (3, 3)
    for long, short in zip(with_bos.sequences, without.sequences, strict=True):
        assert long == (tokenizer.bos_token_id, *short)
        assert tokenizer.bos_token_id not in short


@pytest.mark.parametrize("add_bos", [True, False])
def test_a_tokenizer_that_adds_special_tokens_by_itself_adds_none_here(add_bos):
    from tokenizers.processors import TemplateProcessing

    tokenizer = helpers.char_tokenizer()
    bos = (helpers.BOS, tokenizer.bos_token_id)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{helpers.BOS} $A {helpers.BOS}", special_tokens=[bos]
    )
    assert tokenizer("a")["input_ids"].count(bos[1]) == 2
    [e] = encode(tokenizer, [prompt("ab", ["c"])], add_bos=add_bos)
    assert e.sequences[0].count(bos[1]) == add_bos
    assert e.sequences[0][-1] == tokenizer.convert_tokens_to_ids("c")


def test_an_empty_context_is_conditioned_on_bos():
    [e] = encode(helpers.char_tokenizer(), [prompt("", ["ab", "c"])], add_bos=True)
    assert e.starts == (1, 1) and e.merged == 0


# --- errors, each by its message


def test_an_empty_context_without_bos_is_refused():
    message = r"fact f7 \('subject of f7'\): the context is empty and the tokenizer adds no BOS"
    with pytest.raises(BadInput, match=message):
        encode(helpers.char_tokenizer(), [prompt("", ["a"], fact="f7")], add_bos=False)


def test_an_option_without_a_token_of_its_own_is_refused():
    with pytest.raises(BadInput, match="fact f1 .*: option '' has no token of its own"):
        encode(helpers.char_tokenizer(), [prompt("ab", ["c", ""])], add_bos=False)


def test_two_options_with_the_same_tokens_are_refused():
    # Neither "!" nor "?" is in the vocabulary: both are the unknown token.
    with pytest.raises(BadInput, match=r"option '\?' has the same tokens as another option"):
        encode(helpers.char_tokenizer(), [prompt("ab", ["!", "c", "?"])], add_bos=False)


@pytest.mark.parametrize(("add_bos", "longest"), [(False, 5), (True, 6)])
def test_a_prompt_beyond_the_window_is_refused_and_one_that_just_fits_is_not(add_bos, longest):
    asked = [prompt("abc", ["d", "def"])]
    tokenizer = helpers.char_tokenizer()
    encode(tokenizer, asked, add_bos=add_bos, context_length=longest)
    message = f"fact f1 .*: {longest} tokens are more than the model's context of {longest - 1}"
    with pytest.raises(BadInput, match=f"{message}; ask for fewer shots"):
        encode(tokenizer, asked, add_bos=add_bos, context_length=longest - 1)
