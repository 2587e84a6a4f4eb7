"""Small repairs for Sphinx, used by _config.yml.

Docstrings of this package hold small drawings and formulas, indented by four spaces. reStructuredText
would set them as running text, or stop at them. They become blocks that are shown as they stand.

The theme asks for its icon fonts twice, once in a way that a browser refuses for a page opened from a
folder: three errors in the console of every page. That request is taken out; the other one works.

A click on a figure opens it alone, in its full size: on a phone the words of a figure in a page are small.

A table has a caption for those who hear the page: the bold words or the heading that it follows. A sign
for percent stays in the line of its number.

An address that somebody has kept leads on: where moved.csv names a page that is now part of another one,
a stub is written that goes there. It is in no contents, and Sphinx, which would miss it there, never sees it.
"""

import csv
import re
from pathlib import Path

FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>\s*')
PERCENT = re.compile(r"(?<=\d) ?%")  # as numbers and as intervals write it
# What is kept as it is, what a table can be called by, tables without a caption, and all other tags.
MARKS = re.compile(
    r"<(pre|script|style|code)\b.*?</\1>|<(?:strong|h[1-4])\b[^>]*>(?P<words>.*?)</(?:strong|h[1-4])>"
    r"|(?P<table><table\b[^>]*>)(?!\s*<caption)|<[^>]+>",
    re.DOTALL,
)
FIGURE = re.compile(r'(<figure\b[^>]*>\s*)(<img\b[^>]*\bsrc="([^"]+)"[^>]*>)')


def keep_indented_blocks(app, what, name, obj, options, lines):
    """Make a literal block of every indented block that follows an empty line."""
    result, base = [], 0  # base: indentation of the text around
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip():
            after_gap = len(result) > 1 and not result[-1].strip()
            text = result[-2].strip() if after_gap else ""
            if after_gap and indent >= base + 4 and not text.startswith("..") and text[-2:] != "::":
                result += [" " * base + ".. code-block:: none", ""]
                base = indent
            elif indent < base or not after_gap:
                base = min(base, indent)
        result.append(line)
    lines[:] = result


def repaired(text):
    """A finished page without the refused font requests; figures are links, tables have captions."""
    text = FIGURE.sub(r'\1<a href="\3">\2</a>', FONT_PRELOAD.sub("", text))
    parts, end, words = [], 0, ""
    for found in MARKS.finditer(text):
        parts += [PERCENT.sub("&nbsp;%", text[end : found.start()]), found[0]]
        end = found.end()
        if found["words"]:
            parts[-1] = PERCENT.sub("&nbsp;%", found[0])
            # A heading's link to itself is no word of it.
            words = re.sub(r'<a class="headerlink".*?</a>|<[^>]+>', "", found["words"]).strip(" .:")
        elif found["table"] and words:
            parts.append(f'<caption class="visually-hidden">{words}</caption>')
    return "".join([*parts, PERCENT.sub("&nbsp;%", text[end:])])


def repair_pages(app, exception):
    """Repair every finished page."""
    if exception is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            if (new := repaired(text)) != text:
                page.write_text(new, encoding="utf-8")


STUB = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{new}</title>
<meta http-equiv="refresh" content="0; url={new}.html"></head>
<body><p>This page is now part of <a href="{new}.html">{new}</a>.</p></body></html>
"""


def lead_on(app, exception):
    """Write a stub for every page of a notebook that is now part of another one."""
    table = Path(app.srcdir) / "moved.csv"
    if exception is None and app.builder.format == "html" and table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                page = Path(app.outdir) / "notebooks" / f"{row['old']}.html"
                page.write_text(STUB.format(new=row["new"]), encoding="utf-8")


def setup(app):
    app.connect("autodoc-process-docstring", keep_indented_blocks)
    app.connect("build-finished", repair_pages)
    app.connect("build-finished", lead_on)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
