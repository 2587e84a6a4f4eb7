"""Match: whether what a model said holds an accepted answer (IC-S6).

Paper: Wu et al. (arXiv 2404.12957), appendix H.7: a generated output is right if the ground truth is
present in it, at any place. The text is compared as it is: case, accents and spaces count. Only the form of
accents does not: ü is one character, or u and a mark behind it.
"""

import re
from collections.abc import Sequence

from lkecore.errors import BadInput
from lkecore.facts.tables import composed


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
