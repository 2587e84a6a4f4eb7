"""Show: a table for a page, in which foreign text stays text.

Subjects, objects, prompts and names come from files of other people and from models. pandas escapes them in
a plain frame, but not in a styled one, and its option for that leaves out lists and names of levels. So
every table with a style of its own is made here.
"""

import html
import json
import numbers
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from lkecore.storage import DATA

CLASSES = "lke-text tex2jax_ignore mathjax_ignore"  # a $ in a name begins no formula
NUMBERS = (numbers.Number, np.bool_)
INTERVAL = re.compile(r"(-?[\d.]+ )(\[-?[\d.]+, -?[\d.]+\])")
BREAKS = re.compile(
    r"(?<=[\w)])(?:[_/](?=\w)|:(?=[^\W\d]))"
)  # a long name may continue in a new line after these


def benchmark() -> dict[str, Any]:
    """The figures that ``make bench`` last wrote: ``meta``, and ``methods`` with an entry for each method."""
    return json.loads((DATA / "benchmark.json").read_text(encoding="utf-8"))


def html_table(
    frame: pd.DataFrame,
    *,
    index: bool = False,
    digits: int | str | Mapping[Any, str] | None = None,
    missing: str | None = None,
) -> Styler:
    """A table of words for Jupyter and the book. Text in the frame is never read as markup.

    - ``index``: whether to show the index.
    - ``digits``: decimals of all floats (None: three significant digits), or a format such as "{:.2f}", for
      all columns or, by name, for some.
    - ``missing``: the text for a missing value (None: nan or None).

    The bounds of an interval stay on one line; long names may be broken at their signs. Values, names of
    columns, and the labels and names of an index are escaped, whatever their type, a list of texts too.
    Formats are the notebook's own and are not escaped. The frame itself does not change.

    >>> "<s>" in html_table(pd.DataFrame({"prompt": ["<s>Kenya"]})).to_html()
    False
    """
    frame = labelled(frame)
    safe = frame.copy()
    for place, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            values = [_escaped(value) for value in frame.iloc[:, place]]
            safe.isetitem(place, pd.Series(values, index=frame.index, dtype=object))
    safe.index, safe.columns = _labels(frame.index), _labels(frame.columns)
    look = safe.style
    if isinstance(digits, int):
        look = look.format(precision=digits, na_rep=missing)
    elif isinstance(digits, Mapping):
        given = {_escaped(k): v for k, v in digits.items()}
        look = look.format(dict.fromkeys(safe.columns, _short) | given, na_rep=missing)
    else:
        look = look.format(digits or _short, na_rep=missing)
    if not index:
        look = look.hide()
    return look.set_table_attributes(f'class="{CLASSES}"')


def numbered(n: int, noun: str) -> str:
    """A number and a noun, which gets an s unless the number is 1.

    >>> numbered(1, "run"), numbered(2, "run"), numbered(0, "run")
    ('1 run', '2 runs', '0 runs')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def labels() -> dict[str, str]:
    """{name of a model or fact set: the label that a run or page shows}; see ``lkecore.runs.labels``."""
    return json.loads(os.environ.get("LKE_LABELS", "{}"))


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with labels in place of names that are a whole value; the frame given does not change."""
    if not (given := labels()):
        return frame
    shown = frame.rename(index=given, columns=given)
    for place, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            values = [given.get(v, v) if isinstance(v, str) else v for v in frame.iloc[:, place]]
            shown.isetitem(place, pd.Series(values, index=shown.index, dtype=object))
    return shown


def _escaped(value: Any) -> Any:
    """Text for HTML; numbers and missing values unchanged, so that formats apply to them."""
    missing = value is None or value is pd.NA or value is pd.NaT
    if missing or isinstance(value, NUMBERS):
        return value
    text = html.escape(str(value))
    if found := INTERVAL.fullmatch(text):
        return found[1] + found[2].replace(" ", "\u00a0")
    return BREAKS.sub(r"\g<0><wbr>", text)


def _short(value: Any) -> Any:
    """A float with three significant digits, or, if large, without decimals; other values unchanged."""
    if not isinstance(value, float | np.floating) or not np.isfinite(value):
        return value
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _labels(labels: pd.Index) -> pd.Index:
    """The same labels and names of levels, escaped."""
    names = [_escaped(name) for name in labels.names]
    if isinstance(labels, pd.MultiIndex):
        return pd.MultiIndex.from_tuples(
            [tuple(map(_escaped, each)) for each in labels], names=names
        )
    if pd.api.types.is_numeric_dtype(labels.dtype):
        return labels.rename(names[0])
    return pd.Index([_escaped(each) for each in labels], dtype=object, name=names[0])
