"""Match: whether what a model said holds an accepted answer, letter by letter or word by word.

`contains` is the rule of Wu et al. (arXiv 2404.12957, appendix H.7; IC-S6): the ground truth is present in
the output, at any place. The text is compared as it is: case, accents and spaces count. Only the form of
accents does not: ü is one character, or u and a mark behind it.

`holds` and `alike` are the rule of Zhao et al. 2024 (section 3.2; BL-S5): both texts become lists of words in
their plain form, and match if one list is in the other. What is not said there is read so: case does not
count, punctuation is no word, and a list is in another with its words one behind the other, so that
"York, new" does not hold "New York". One exception is ours, and of accepted answers alone (`holds`): one that
is a single word of ``FUNCTION`` in any inflection, such as be (the code of Belarusian), is (of Icelandic) or
He (helium), stands in sentences that do not mean it, as in "The [MASK] is".
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from simplemma import lemmatize

from lkecore.errors import BadInput
from lkecore.facts.tables import composed, fold

# A number with its points is one word; of signs that are none, $ and + are words, and commas are not.
WORDS = re.compile(r"\d+(?:[.,]\d+)+|\w+|[^\w\s]")
FUNCTION = frozenset(  # words of English grammar, in their plain form
    "a an the i you he she it we they my your his its our their this that who what which there here be "
    "have do can could will would shall should may might must not no nor or and but if so as at by for "
    "from in into of off on onto out over to up with than then too very".split()
)


@lru_cache(2**16)
def lemmas(text: str) -> tuple[str, ...]:
    """The words of a text in their plain English form, without letter case and punctuation.

    Other languages' words stay as they are, casefolded, and so do names that the word list does not know.

    >>> lemmas("A guitar, two Guitars!")
    ('a', 'guitar', 'two', 'guitar')
    """
    return tuple(map(_lemma, _words(text)))


def _words(text: str) -> list[str]:
    found = WORDS.findall(fold(text))
    return [word for word in found if not unicodedata.category(word[0]).startswith("P")]


@lru_cache(2**16)
def _lemma(word: str) -> str:
    return fold(lemmatize(word, lang="en"))


def holds(output: str, answer: str) -> bool:
    """Whether the words of an answer stand in the output, one behind the other, in any inflection.

    Without a word on either side: False. An article counts as a word, so the answer "the Hague" is not in
    "Hague". More lenient than `contains` with `whole_words`: "state" is in "the United States". But an
    answer of one function word must be all that the output says, in this form; letter case aside.

    >>> holds("the United States of America", "United States"), holds("New", "New York")
    (True, False)
    >>> holds("The [MASK] is", "be"), holds("is", "be"), holds("Be.", "be")
    (False, False, True)
    """
    asked = lemmas(answer)
    if len(asked) == 1 and asked[0] in FUNCTION:
        return _words(output) == _words(answer)
    return _within(asked, lemmas(output))


def _within(few: Sequence[str], all_: Sequence[str]) -> bool:
    # No word has a blank, so that a word's border is one of the joined text, too.
    return bool(few) and f" {' '.join(few)} " in f" {' '.join(all_)} "


def alike(one: str, other: str) -> bool:
    """Whether the words of either of two outputs stand in the other, in any inflection (Consist, Overconf).

    Neither is an answer, so that function words are words like others.

    Not transitive: "Paris" is like "Paris, Texas" and like "Paris, France".

    >>> alike("a guitar", "Guitars."), alike("", "")
    (True, False)
    """
    first, second = lemmas(one), lemmas(other)
    return _within(first, second) or _within(second, first)


def exact(output: str, answer: str) -> bool:
    """Whether an output is the answer and no more: letter case, blanks and one full stop at the end aside.

    >>> exact(" Guitar.", "guitar"), exact("a guitar", "guitar"), exact("", "")
    (True, False, False)
    """
    said, asked = (fold(text.strip().removesuffix(".").rstrip()) for text in (output, answer))
    return said == asked != ""


def one_word(output: str) -> bool:
    """Whether an output is of one word (BL-M7), as blanks part words: "Luzon." is, "New York" and "" are not.

    >>> one_word(" Luzon."), one_word("New York"), one_word(".")
    (True, False, False)
    """
    return len([part for part in output.split() if lemmas(part)]) == 1


def contains(output: str, answers: Sequence[str], *, whole_words: bool = False) -> bool:
    """Whether any of the accepted answers stands in the output.

    The paper's rule takes an answer inside a longer word, too. ``whole_words`` does not: no letter,
    digit or underscore of any script may touch one at the answer's own end or beginning.

    Raises :class:`BadInput` for a list without answers, one that is a string, and an empty answer,
    which would stand in every output.

    >>> contains("It lies in Romeo, Michigan.", ["Rome"])
    True
    >>> contains("It lies in Romeo, Michigan.", ["Rome"], whole_words=True)
    False
    """
    if isinstance(answers, str) or not answers:
        raise BadInput(f"answers is {answers!r}, but must be a list of one or more strings")
    for answer in answers:
        if not answer.strip():
            raise BadInput(f"answer {answer!r} is empty: it would stand in every output")
    output, answers = composed(output), list(map(composed, answers))
    if not whole_words:
        return any(answer in output for answer in answers)
    return any(re.search(_alone(answer), output) for answer in answers)


def begins_with(output: str, answer: str) -> bool:
    """Whether an output says the answer first of all, after blanks, and as whole words.

    >>> begins_with(" Rome, which lies", "Rome"), begins_with(" Romeo", "Rome")
    (True, False)
    """
    said, answer = composed(output).lstrip(), composed(answer)
    # With one character more, which is where a longer word would go on.
    return said.startswith(answer) and contains(said[: len(answer) + 1], [answer], whole_words=True)


def _alone(answer: str) -> str:
    # A plain \b would ask for a letter *beside* an answer such as "C++" or ".fr".
    before = r"(?<!\w)" if re.match(r"\w", answer) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", answer) else ""
    return before + re.escape(answer) + after
