"""Shortened: templates from which words are taken away, so that less and less is taught (PZ-D5).

[X] has its main office in [Y]     all words
[X] main office in [Y]             two thirds of them
[X] office in [Y]                  one third
[X] [Y]                            none
"""

from lkecore.errors import BadInput

LEVELS = (0.0, 1 / 3, 2 / 3, 1.0)  # the shares of words that are taken away
LEAST = 3  # words, so that each level has fewer than the one before
PLACES = ("[X]", "[Y]")


def shortened(words: str, share: float) -> str:
    """A template without a share of its words, from the left; subject and object stay.

    Words are what stands between spaces and holds no ``[X]`` or ``[Y]``. Raises :class:`BadInput` for
    fewer than three words, naming the template, and for a share that is none.

    >>> shortened("[X] has its main office in [Y]", 2 / 3)
    '[X] office in [Y]'
    """
    if not 0 <= share <= 1:
        raise BadInput(f"share {share} of words must be between 0 and 1")
    parts = words.split()
    own = [i for i, part in enumerate(parts) if not any(place in part for place in PLACES)]
    if len(own) < LEAST:
        raise BadInput(
            f"template {words!r} has {len(own)} words beside subject and object, and {LEAST} are "
            "needed, so that there is something to take away"
        )
    gone = set(own[: int(share * len(own) + 0.5)])
    return " ".join(part for i, part in enumerate(parts) if i not in gone)
