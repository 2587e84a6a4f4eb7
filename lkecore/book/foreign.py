"""Foreign: names and texts of other people inside of the Markdown that the book composes.

A model may be a folder with any name, and a parameter any text. A page shows them as they are:
no character of them begins markup, a formula, a role or a cell of a table.
"""

import re

MARKS = re.compile(r"[\\`*_{}\[\]<>&$|~^#]|:(?=[:/])|(?<=:):")  # what means something in a line
GAPS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")  # the end of a line would end a table or a block
FILE = re.compile(r"[\w., =+-]+")


def plain(text: object) -> str:
    """Any text as running MyST text, on one line; for the inside of backticks, see `code`.

    >>> plain("lab:book-1/2m")
    'lab:book-1/2m'
    >>> plain("<s>")
    '&#60;s&#62;'
    """
    return MARKS.sub(lambda mark: f"&#{ord(mark[0])};", GAPS.sub(" ", str(text)).strip())


def code(text: object) -> str:
    """Any text as MyST code, on one line; as running text where it has a character that ends code.

    >>> code("US$ {x}"), code("a`b")
    ('`US$ {x}`', 'a&#96;b')
    """
    words = GAPS.sub(" ", str(text)).strip()
    return plain(words) if not words or "`" in words or "|" in words else f"`{words}`"


def download(text: str, path: str) -> str:
    """A link to a file beside the page; its name alone if no link can have it."""
    safe = FILE.fullmatch(text) and FILE.fullmatch(path.replace("/", ""))
    return f"{{download}}`{text} <{path}>`" if safe else plain(text)
