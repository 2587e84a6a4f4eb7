"""Strings to token ids.

Expected behaviour, what comes in front:

- What comes in front is an argument, ``front``. ``open_model`` finds it out: the tokens that the
  tokenizer by itself puts in front of a string, so that a model is asked as it was trained.
- ``front=(1,)``: this token at the very beginning, once, never scored. An empty context is then
  allowed, and its options are conditioned on what is in front alone.
- ``front=()``: no special token anywhere, also where the tokenizer would add one by itself. An
  empty context is an error, since the first token would have nothing to be conditioned on.
- No other special token (EOS, SEP) is ever added, on either side.

Expected behaviour, border: context and continuation are tokenised as one string, and the option's
tokens begin where that differs from the tokens of the context alone.
"""

import dataclasses

import helpers
import pytest
from helpers import prompt

from lkecore.errors import BadInput
from lkecore.prompts.prompt import Prompt
from lkecore.scores.tokens import (
    alike,
    common_prefix,
    encode,
    encode_pieces,
    encode_texts,
    unknown_id,
)

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
# --- joint tokens and the border


def test_a_token_that_merges_across_the_border_is_scored_with_the_option_by_hand():
    tokenizer = helpers.bpe_tokenizer([("b", "c"), ("a", "bc")])
    # Context X a b; with c the last two become one token, with d all three stay.
    [e] = encode(tokenizer, [prompt("Xab", ["c", "d", "cd"])], front=())
    cut = [tokenizer.convert_ids_to_tokens(list(ids)) for ids in e.sequences]
    assert cut == [["X", "abc"], ["X", "a", "b", "d"], ["X", "abc", "d"]]
    assert e.starts == (1, 3, 1)
    assert e.merged == 2


# --- long contexts: only their last words are tokenised with every option


def replaced_spaces_bpe():
    """As Gemma has: spaces become "▁" and nothing is cut before the merges."""
    from tokenizers import Tokenizer, models, normalizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.normalizer = normalizers.Replace(" ", "▁")
    trainer = trainers.BpeTrainer(vocab_size=130, special_tokens=["<unk>"], show_progress=False)
    words = ["▁" + word for text in TEXT for word in text.split()]
    bpe.train_from_iterator(words, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, unk_token="<unk>")


EVERY = {
    **TOKENIZERS,
    "WordPiece": helpers.wordpiece_tokenizer,
    "T5's": helpers.t5_tokenizer,
    "spaces replaced, no cut": replaced_spaces_bpe,
    "merges without any cut": lambda: helpers.bpe_tokenizer([("b", "c"), ("a", "bc"), ("a", "i")]),
}
LONG = " ".join(TEXT * 3)
CONTEXTS = {
    "spaces": LONG + " Spain",
    "tabs and newlines": "\n".join(LONG.split()).replace("a\n", "a\t") + "\tSpain",
    "a space at the end": LONG + " Spain ",
    "Chinese without spaces": "Spain " + "西班牙马德里法国巴黎" * 12,
    "emoji": "Spain 🇪🇸 Madrid 👩‍👩‍👧 café Zürich " * 5 + "Spain 🇪🇸",
    "a long word at the end": LONG + " " + "Spain" * 20,
    "one short word in front": "a " + "Spain" * 30,
}
CONTINUATIONS = (
    " Madrid", " Paris", "Madrid", "n", "-on-Sea", "\nRome", " 马德里", "🎉", "s of", "bc",
)  # fmt: skip


@pytest.fixture(scope="module", params=EVERY)
def any_tokenizer(request):
    tokenizer = EVERY[request.param]()
    if tokenizer.bos_token is None:
        tokenizer.add_special_tokens({"bos_token": "<begin>"})
    return tokenizer


def whole_ids(tokenizer, text) -> tuple[int, ...]:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def distinct(tokenizer, context, continuations) -> list[str]:
    """Those continuations that the tokenizer knows and can tell apart from one another and from nothing."""
    found = {}
    for continuation in continuations:
        own, whole = (whole_ids(tokenizer, context + more) for more in ("", continuation))
        if unknown_id(tokenizer) in whole[common_prefix([own, whole]) :]:
            continue
        found.setdefault(whole_ids(tokenizer, context + continuation), continuation)
    own = whole_ids(tokenizer, context)
    return [text for ids, text in found.items() if common_prefix([own, ids]) < len(ids)]


@pytest.mark.parametrize("name", CONTEXTS)
def test_options_after_a_long_context_have_the_tokens_of_the_whole_string(any_tokenizer, name):
    asked = []
    for end in ("", " N", " Italy"):  # another option of each prompt is the sample
        context = CONTEXTS[name] + end
        options = tuple(distinct(any_tokenizer, context, CONTINUATIONS))
        asked.append(Prompt(f"f{end}", "r", end, context, options, options, 0))
    for bos in ((), (any_tokenizer.bos_token_id,)):
        for e in encode(any_tokenizer, asked, front=bos):
            context = bos + whole_ids(any_tokenizer, e.prompt.context)
            wanted = [
                bos + whole_ids(any_tokenizer, e.prompt.context + c) for c in e.prompt.continuations
            ]
            assert e.sequences == wanted
            assert list(e.starts) == [common_prefix([context, ids]) for ids in wanted]
            assert e.n_tokens == [
                len(ids) - start for ids, start in zip(wanted, e.starts, strict=True)
            ]
            assert e.merged == sum(start < len(context) for start in e.starts)
            assert len(e.stem) == min(e.starts)


def test_an_option_that_moves_tokens_far_back_is_noticed_and_all_is_tokenised_whole():
    # No cut at spaces, and one token for a whole sentence with its last letter.
    sentence = "Rome" + "x" * 70
    grown = [(sentence[:n], sentence[n]) for n in range(1, len(sentence))]
    tokenizer = helpers.bpe_tokenizer([*grown, (sentence, "z")])
    long = "ab " + sentence
    for options in (("z", "za", "zb"), ("a", "b", "z")):  # the first option is the sample
        [e] = encode(tokenizer, [Prompt("f", "r", "s", long, options, options, 0)], front=())
        assert e.sequences == [whole_ids(tokenizer, long + option) for option in options]
        assert e.merged == sum(option.startswith("z") for option in options)


def test_a_most_probable_cut_that_one_option_turns_over_from_end_to_start_is_noticed():
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    # ab· ·ab· ·ab or a·b a·b a·b: it depends on what follows the last b.
    pieces = {"<unk>": 0, "a": -1, "b": -30, "b a": -4, "ab": -2.5, " ": -2.5, "bx": -1, "x": -1}
    cuts = Tokenizer(models.Unigram([*pieces.items()], unk_id=0))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=cuts, unk_token="<unk>")
    context = "xab" + " ab" * 20
    options = ("a", "ab", "x")
    own, *wanted = (whole_ids(tokenizer, context + option) for option in ("", *options))
    assert common_prefix([own, wanted[0]]) == len(own) and common_prefix([own, wanted[2]]) == 1
    [e] = encode(tokenizer, [Prompt("f", "r", "s", context, options, options, 0)], front=())
    assert e.sequences == wanted


# --- separate parts, pieces and texts


def test_separate_parts_keep_their_own_tokens_and_are_never_merged():
    tokenizer = helpers.bpe_tokenizer([("b", "c")])
    [e] = encode(tokenizer, [prompt("ab", ["c", "bc"])], front=(), separate=True)
    cut = [tokenizer.convert_ids_to_tokens(list(ids)) for ids in e.sequences]
    assert cut == [["a", "b", "c"], ["a", "b", "bc"]]
    assert e.starts == (2, 2) and e.merged == 0 and e.n_tokens == [1, 1]


def test_pieces_by_hand_joint_and_separate_behind_bos():
    tokenizer = helpers.bpe_tokenizer([("b", "c")])
    tokenizer.bos_token = "_"
    asked = [["ab", "c", "d"], ["ab"]]

    def cut(**given):
        return [
            ("".join(tokenizer.convert_ids_to_tokens(list(p.ids))), len(p.ids), p.bounds)
            for p in encode_pieces(tokenizer, asked, **given)
        ]

    # a, bc, d: the b goes with the c.
    assert cut(front=()) == [("abcd", 3, (0, 1, 2, 3)), ("ab", 2, (0, 2))]
    bos = (tokenizer.bos_token_id,)
    assert cut(front=bos, separate=True) == [("_abcd", 5, (1, 3, 4, 5)), ("_ab", 3, (1, 3))]


# --- errors, each by its message

BC = helpers.bpe_tokenizer([("b", "c")])
LOWER = helpers.folding(helpers.bpe_tokenizer([]))
CHARS = helpers.char_tokenizer()
REFUSED = [
    (
        lambda: encode(CHARS, [prompt("", ["a"], fact="f7")], front=()),
        r"fact f7 \('subject of f7'\): the context is empty, or merges with option 'a', "
        "and no token comes in front of it",
    ),
    (
        lambda: encode(CHARS, [prompt("ab", ["c", ""])], front=()),
        "fact f1 .*: option '' has no token of its own",
    ),
    (
        lambda: encode(LOWER, [prompt("ab", ["a", "A", "Á"])], front=()),
        "fact f1 .*: all options have the same tokens, as 'Á' has those of 'a'$",
    ),
    (
        lambda: encode(
            CHARS, [dataclasses.replace(prompt("a", "cd", fact="f3"), after=" is it.")], front=()
        ),
        r"^fact f3 \('subject of f3'\): ' is it\.' stands after the blank, where a causal model",
    ),
    (
        lambda: encode_pieces(BC, [["a"], ["a", "b", "c"]], front=()),
        "^sequence 2: piece 2 'b' has no token of its own$",
    ),
    (
        lambda: encode_pieces(CHARS, [["abc", "def"]], front=(), context_length=4),
        "^sequence 1: 5 tokens are more than the model's context",
    ),
    (
        lambda: encode_texts(CHARS, ["a", ""], front=()),
        "^text 2 is empty, and no token comes in front of it$",
    ),
    (
        lambda: encode_texts(CHARS, ["ab"], front=(5,), context_length=2),
        "^text 1: 3 tokens are more than the model's context of 2",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_asked_is_refused(call, message):
    with pytest.raises(BadInput, match=message):
        call()


def test_what_is_just_possible_is_not_refused():
    [e] = encode(LOWER, [prompt("ab", ["a", "c", "A", "C", "d"])], front=())
    assert alike(e.strings) == [0, 1, 0, 1, 4]
    encode(CHARS, [dataclasses.replace(prompt("ab", "cd"), after=" ")], front=())
    # The last token is read, never forwarded, but for a whole text.
    encode_pieces(CHARS, [["abc", "def"]], front=(), context_length=5)
    encode_texts(CHARS, ["ab"], front=(5,), context_length=3)


@pytest.mark.parametrize(("n_front", "longest"), [(0, 5), (2, 7)])
def test_a_prompt_beyond_the_window_is_refused_and_one_that_just_fits_is_not(n_front, longest):
    asked = [prompt("abc", ["d", "def"])]
    tokenizer = helpers.char_tokenizer()
    front = (tokenizer.bos_token_id,) * n_front
    encode(tokenizer, asked, front=front, context_length=longest)
    message = f"fact f1 .*: {longest} tokens are more than the model's context of {longest - 1}"
    with pytest.raises(BadInput, match=f"{message}; ask for fewer shots, or shorten it"):
        encode(tokenizer, asked, front=front, context_length=longest - 1)
