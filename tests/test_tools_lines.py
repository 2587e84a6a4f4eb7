"""The tool that counts lines which execute, on a file and a folder that are counted by hand."""

import helpers

CODE = '''"""A module
of two lines."""

import os  # counts, with its comment


class Kind:
    """Says something."""

    # a comment
    many = (
        1,
    )


def text():
    r"""A docstring

    with a blank line."""
    """A string of its own counts."""
    return f"""one

    three, of which one is blank {os}
    """
'''


def test_lines_that_execute_are_neither_docstrings_comments_nor_blank(tmp_path):
    tool = helpers.tool("lines")
    # import, class, three of a tuple, def, the second string, and three of the last, whose second is blank.
    assert tool.executing(CODE) == 1 + 1 + 3 + 1 + 1 + 3
    for name in ("lkecore/a.py", "lkecore/room/b.py", "lkecore/room/c.py", "tests/test_a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(CODE if name.endswith("c.py") else "x = 1\n", encoding="utf-8")
    assert tool.rooms(tmp_path) == {"lkecore/a": 1, "lkecore/room": 11, "tests": 1}
