r"""Alike: names of a relation that look the same, and lines that say whether they count as one name.

Some characters distinguish names although nobody sees them, or hardly. They are shown by their code.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable

from lkecore.facts.fact import Relation
from lkecore.facts.tables import UNSEEN, composed, fold

APOSTROPHES = re.compile("['`\u00b4\u02b9\u02bb-\u02bf\u2018-\u201b\u2032\u2035\ua78c]")
HYPHENS = re.compile("[\u002d\u058a\u2010-\u2015\u2212\u2e3a\u2e3b\u30a0]")
# Variation selectors and fillers. The joiners and other characters without a form are of category Cf.
CHOOSERS = re.compile("[\u034f\u115f\u1160\u180b-\u180d\u3164\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def taken(relation: Relation) -> list[str]:
    """A line for subjects, and one for objects, that some rows write with characters that nobody sees.

    Of the forms of a subject the first is asked. A fact keeps its own form of its object, and the first form
    is offered to other facts as a wrong option. A line names three groups of forms; ``lke facts`` names all.
    """
    objects = [
        forms
        for forms in relation.spellings.values()
        if len(forms) > 1 and any(map(UNSEEN.search, forms))
    ]
    return [
        f"{relation.name}: counted as one {what}, and the first is {use}: {listed(groups[:3])}"
        + (f"; and {len(groups) - 3} more" if groups[3:] else "")
        for what, use, groups in (
            ("subject", "asked", relation.subject_forms),
            ("object", "the wrong option of others", objects),
        )
        if groups
    ]


def near(relation: Relation) -> list[tuple[str, ...]]:
    """Names that stay separate and differ by joiners, apostrophes, hyphens or compatible forms (NFKC) alone.

    Full-width letters are such forms. For objects, differences of letter case do not count either. The groups
    of subjects come first, and each group is sorted.

    >>> from lkecore.facts.fact import Fact
    >>> print(listed(near(Relation("r", tuple(Fact(o, "r", o, o) for o in ("d'Or", "d\u2019Or", "Ore"))))))
    d'Or, d\\u2019Or; d'Or, d\\u2019Or
    """
    subjects = {fact.subject for fact in relation.facts}
    return [*_groups(subjects, composed), *_groups(relation.objects, fold)]


def listed(groups: Iterable[tuple[str, ...]]) -> str:
    """Groups of names as text in one line."""
    return "; ".join(", ".join(map(_shown, names)) for names in groups)


def _groups(names: Iterable[str], same: Callable[[str], str]) -> list[tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(same(_plain(name)), []).append(name)
    return [tuple(each) for each in found.values() if len(each) > 1]


def _plain(name: str) -> str:
    if name.isascii() and "`" not in name:
        return name
    name = unicodedata.normalize("NFKC", CHOOSERS.sub("", name))
    name = HYPHENS.sub("-", APOSTROPHES.sub("'", name))
    return "".join(c for c in name if unicodedata.category(c) != "Cf")


def _shown(name: str) -> str:
    def escaped(c: str) -> str:
        plain = UNSEEN.sub("", _plain(c))
        return c if plain == c or (plain and c.isalnum()) else f"\\u{ord(c):04x}"

    return "".join(map(escaped, name))
