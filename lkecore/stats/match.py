"""Whether an output contains an accepted answer, letter by letter or word by word.

`contains` is the rule of Wu et al. (arXiv 2404.12957, appendix H.7; IC-S6): the ground truth is present in
the output, at any place. The text is compared as it is: case, accents and spaces count. Only the form of
accents does not: ü is one character, or u followed by a mark.

`holds` and `alike` are the rule of Zhao et al. 2024 (section 3.2; BL-S5): both texts become lists of words in
their plain form, and match if one list is in the other. The paper leaves three points open. We
read them so: case does not count, punctuation is no word, and a list is in another if its words are there
one after the other. So "New York" is not in "York, new".

One exception is ours, and for accepted answers alone (`holds`): an answer that is a single word of
``FUNCTION`` in any inflection, such as be (the code of Belarusian), is (of Icelandic) or He (helium). Such a
word occurs in sentences that do not mean the answer, as in "The [MASK] is".
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from simplemma import lemmatize

from lkecore.errors import BadInput
from lkecore.facts.tables import composed, fold

# A number with its points is one word. Other signs are words, too, such as $ and +; `_words` drops
# punctuation, such as commas.
WORDS = re.compile(r"\d+(?:[.,]\d+)+|\w+|[^\w\s]")
FUNCTION = frozenset(  # words of English grammar, in their plain form
    "a an the i you he she it we they my your his its our their this that who what which there here be "
    "have do can could will would shall should may might must not no nor or and but if so as at by for "
    "from in into of off on onto out over to up with than then too very".split()
)


@lru_cache(2**16)
def lemmas(text: str) -> tuple[str, ...]:
    """The words of a text in their plain English form, without letter case and punctuation.

    Words of other languages stay as they are, casefolded, and so do names that the word list does not have.

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
    """Whether the words of an answer are in the output, one after the other, in any inflection.

    Without a word on either side: False. An article counts as a word, so the answer "the Hague" is not in
    "Hague". The rule is more lenient than `contains` with `whole_words`: "state" is in "the United States".
    But an answer of one function word must be the whole output, in this form; letter case does not count.

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
    # No word contains a blank, so that a blank in the joined text is always a word's border.
    return bool(few) and f" {' '.join(few)} " in f" {' '.join(all_)} "


def alike(one: str, other: str) -> bool:
    """Whether the words of one of two outputs are in the other, in any inflection (Consist, Overconf).

    Neither output is an answer, so that function words count like other words. The relation is not
    transitive: "Paris" is like "Paris, Texas" and like "Paris, France".

    >>> alike("a guitar", "Guitars."), alike("", "")
    (True, False)
    """
    first, second = lemmas(one), lemmas(other)
    return _within(first, second) or _within(second, first)


def exact(output: str, answer: str) -> bool:
    """Whether an output is the answer and no more; letter case, blanks and one full stop at the end aside.

    >>> exact(" Guitar.", "guitar"), exact("a guitar", "guitar"), exact("", "")
    (True, False, False)
    """
    said, asked = (fold(text.strip().removesuffix(".").rstrip()) for text in (output, answer))
    return said == asked != ""


def one_word(output: str) -> bool:
    """Whether an output is one word (BL-M7), with blanks as borders: "Luzon." is, "New York" and "" are not.

    >>> one_word(" Luzon."), one_word("New York"), one_word(".")
    (True, False, False)
    """
    return len([part for part in output.split() if lemmas(part)]) == 1


def contains(output: str, answers: Sequence[str], *, whole_words: bool = False) -> bool:
    """Whether any of the accepted answers occurs in the output.

    The paper's rule takes an answer inside a longer word, too. ``whole_words`` does not: no letter,
    digit or underscore of any script may touch one at the answer's own end or beginning.

    Raises :class:`BadInput` for a list without answers, one that is a string, and an empty answer,
    which would occur in every output.

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
    """Whether an output begins with the answer, after blanks, and as whole words.

    >>> begins_with(" Rome, which lies", "Rome"), begins_with(" Romeo", "Rome")
    (True, False)
    """
    said, answer = composed(output).lstrip(), composed(answer)
    # One character more is included, since a longer word would go on there.
    return said.startswith(answer) and contains(said[: len(answer) + 1], [answer], whole_words=True)


def _alone(answer: str) -> str:
    # A plain \b would ask for a letter *beside* an answer such as "C++" or ".fr".
    before = r"(?<!\w)" if re.match(r"\w", answer) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", answer) else ""
    return before + re.escape(answer) + after
