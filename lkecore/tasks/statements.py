"""The probability of a whole sentence, by which BEAR and lm-pub-quiz rank answers.

A decoder can be asked so by any template, wherever its object is. An option's number is the sum over all
tokens of the sentence with this option in it, after the token that begins a text. So a name of many tokens
lowers the number, and so does the text after it.
"""

from collections.abc import Sequence
from dataclasses import replace

from lkecore.errors import BadInput
from lkecore.models.model import Model
from lkecore.prompts.prompt import Prompt
from lkecore.scores.batches import check_kind


def whole(questions: Sequence[Prompt]) -> list[Prompt]:
    """The same questions without context: each continuation is the whole sentence, its first letter large.

    >>> asked = Prompt("1", "r", "x", "the code of x is", ("a", "b"), (" a", " b"), 0, after=".")
    >>> whole([asked])[0].continuations
    ('The code of x is a.', 'The code of x is b.')
    """
    found = []
    for p in questions:
        texts = [p.context + continuation + p.after for continuation in p.continuations]
        sentences = tuple(text[:1].upper() + text[1:] for text in texts)
        found.append(replace(p, context="", continuations=sentences, after=""))
    return found


def behind_a_beginning(model: Model) -> Model:
    """The model with a token in front of every text: its own, or else the tokenizer's BOS token.

    Raises :class:`BadInput` for a model that is no decoder, and for one without such a token: nothing would
    precede a sentence's first token.
    """
    check_kind(model, "causal")
    front = model.front or tuple(i for i in [model.tokenizer.bos_token_id] if i is not None)
    if not front:
        raise BadInput(
            f"model {model.name} has no token that begins a text, so that the first token of a statement has "
            "no probability; take a template that ends with its object, such as template-1"
        )
    return replace(model, front=front)
