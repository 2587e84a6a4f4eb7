"""What moved? Every number that two sets of runs keep, one held against the other.

``python tools/moved.py BEFORE AFTER`` reads ``findings.csv``, ``verdicts.csv``, ``fig-*.csv`` and other
tables of each page (not ``answers*``) in two folders of runs, and prints for each page which numbers are the
same, which differ and by how much, and which are gone. ``--page 11`` takes pages whose name begins so.

A number is matched by page, file, row (the words in it, and counts such as ``n_shots``) and column. A page
that was written anew has other files and sentences; so a number without a match is looked for in all of
the new page: full digits to 1e-9, else as printed. One with an interval (columns ``low`` and ``high`` behind
it, or text as "0.39 [0.29, 0.48]" and "39 % [29, 48]") needs it there, too, each end within a tenth of the
width. What is nowhere is *no longer printed*. A lone number may be found by chance; an interval hardly can.
Of all intervals that were matched, either way: how many ends lie within 3 % of the width, beyond rounding,
and the worst.
"""

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lkecore.errors import BadInput

# Columns that say which row it is, though there are numbers in them.
NAMES = ("name", "id", "claim", "holds_if", "model", "source", "estimator", "relation", "kind")
COUNTS = re.compile(r"n_\w+|draw|seed|shots|fact|template|exposures|distance|position|step")
NUMBER = r"[-−]?\d[\d,]*(?:\.\d+)?"
TEXT = re.compile(
    rf"(?<![\w./-])({NUMBER})( %)?(?: \[({NUMBER}|nan), ({NUMBER}|nan)\])?(?![\w]|\.\d|[-/]\w)"
)
EXACT = 1e-9


class Item(NamedTuple):
    """A number (or verdict), its interval, and where it is; ``rounded`` is half of the last printed digit."""

    where: tuple[str, ...]  # file, column, words of the row
    value: float | str
    low: float | None = None
    high: float | None = None
    rounded: float = 0.0


def pages(folder: Path) -> dict[str, Path]:
    """{name of a page: its folder}; a page that read runs goes before a run. BadInput if there is none."""
    found = {}
    for run in sorted(Path(folder).glob("*/manifest.json")):
        name, kind = re.fullmatch(r"(.+?)(-page)?-[0-9a-f]{6,}", run.parent.name).groups()
        if kind or name not in found:
            found[name] = run.parent
    if not found:
        raise BadInput(f"{folder} has no finished run")
    return found


def items(page: Path) -> list[Item]:
    """All numbers of a page."""
    found = []
    for file in sorted(page.glob("*.csv")):
        if not file.name.startswith("answers"):
            try:
                table = pd.read_csv(file, keep_default_na=False, na_values=[""])
            except pd.errors.EmptyDataError:
                continue
            found += of_table(table, file.name)
    return found


def of_table(table: pd.DataFrame, file: str) -> list[Item]:
    """The numbers of one table, each with the words of its row; equal rows are numbered."""
    columns, found, seen = list(table), [], Counter()
    inside = {c: [t for t in map(str, table[c].dropna()) if TEXT.search(t)] for c in columns}
    number = [pd.api.types.is_numeric_dtype(t) and t.dtype != bool for _, t in table.items()]
    key = [
        c
        for c, is_number in zip(columns, number, strict=True)
        if (COUNTS.fullmatch(c) if is_number else c != "verdict" and (not inside[c] or c in NAMES))
    ]
    for row in table.to_dict("records"):
        words = tuple(str(row[c]) for c in key)
        seen[words] += 1
        words += (f"row {seen[words]}",) if seen[words] > 1 else ()
        for i, column in enumerate(columns):
            where, value = (file, column, *words), row[column]
            if column in key or (column in ("low", "high") and i) or pd.isna(value):
                continue
            if column == "verdict":
                found.append(Item(where, value))
            elif number[i]:
                ends = columns[i + 1 : i + 3] == ["low", "high"]
                found.append(
                    Item(where, float(value), *((row["low"], row["high"]) if ends else ()))
                )
            else:
                found += [
                    read(where if j == 0 else (*where, f"number {j + 1}"), match)
                    for j, match in enumerate(TEXT.finditer(str(value)))
                ]
    return found


def read(where: tuple[str, ...], match: re.Match) -> Item:
    """A number in a text; shares in percent become shares."""
    text = match[1]
    scale = 100 if match[2] else 1
    value, low, high = (
        None if t in (None, "nan") else float(t.replace(",", "").replace("−", "-")) / scale
        for t in (text, match[3], match[4])
    )
    digits = len(text.partition(".")[2])
    return Item(where, value, low, high, 0.5 * 10**-digits / scale)


def equal(a: Item, b: Item) -> bool:
    """Whether two numbers are one, to 1e-9 or to the digits of the one that is printed with fewer."""
    if isinstance(a.value, str) or isinstance(b.value, str):
        return a.value == b.value
    return abs(a.value - b.value) <= EXACT + (
        0 if a.rounded == b.rounded else max(a.rounded, b.rounded)
    )


def ends(a: Item, b: Item) -> list[float]:
    """How far the ends of two intervals lie apart beyond rounding, in widths of the first."""
    if None in (a.low, a.high, b.low, b.high):
        return []
    slack = a.rounded + b.rounded
    apart = [max(0.0, abs(x - y) - slack) for x, y in ((a.low, b.low), (a.high, b.high))]
    return [0.0 if d <= EXACT else d / max(a.high - a.low, EXACT) for d in apart]


def held_against(before: list[Item], after: list[Item]) -> dict[str, list]:
    """same, differ, elsewhere (pairs), gone and new (items)."""
    new = {item.where: item for item in after}
    found = {"same": [], "differ": [], "elsewhere": [], "gone": []}
    for item in before:
        other = new.get(item.where)
        anew = item.where[0] == "findings.csv"  # a sentence under the same name may be another one
        if other is not None and (equal(item, other) or not anew):
            found["same" if equal(item, other) else "differ"].append((item, other))
            continue
        like = [o for o in after if equal(item, o) and type(o.value) is type(item.value)]
        if isinstance(item.value, str):  # a verdict of the same claim
            like = [o for o in like if item.where[2:3] == o.where[2:3]]
        elif item.low is not None:
            like = [o for o in like if o.low is not None and max(ends(item, o)) <= 0.1]
            like.sort(key=lambda o: max(ends(item, o)))
        if like or other is not None:
            found["elsewhere" if like else "differ"].append((item, like[0] if like else other))
        else:
            found["gone"].append(item)
    old = {item.where for item in before} | {o.where for _, o in found["elsewhere"]}
    found["new"] = [item for item in after if item.where not in old]
    return found


def said(item: Item) -> str:
    value = item.value if isinstance(item.value, str) else f"{item.value:.6g}"
    return f"{value}" + (f" [{item.low:.4g}, {item.high:.4g}]" if item.low is not None else "")


def report(name: str, found: dict[str, list], show: int) -> None:
    """Print what became of the numbers of a page."""
    print(f"\n{name}: " + ", ".join(f"{len(of)} {kind}" for kind, of in found.items()))
    apart = [
        (gap, item)
        for kind in ("same", "differ", "elsewhere")
        for item, other in found[kind]
        for gap in ends(item, other)
    ]
    if apart:
        near, (worst, item) = sum(gap <= 0.03 for gap, _ in apart), max(apart, key=lambda p: p[0])
        print(
            f"  ends of intervals: {near} of {len(apart)} within 3 % of the width; worst {worst:.1%}, "
        )
        print(f"    {' / '.join(item.where)}")
    for item, other in found["differ"][:show]:
        by = "" if isinstance(item.value, str) else f" by {other.value - item.value:.3g}"
        print(f"  differs{by}: {said(item)} -> {said(other)}: {' / '.join(item.where)}")
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in found["gone"]:
        groups.setdefault(item.where[:2], []).append(item)
    for where, some in groups.items():
        print(f"  no longer printed: {' / '.join(where)}: {len(some)}")
        for item in some[:show]:
            print(f"    {said(item)}: {' / '.join(item.where[2:])}")


def main() -> None:
    """Print the report; exit with 1 if a number differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--page", default="", help="only pages whose name begins so")
    parser.add_argument("--show", type=int, default=5, help="lines of each list")
    given = parser.parse_args()
    before, after = pages(given.before), pages(given.after)
    differ = 0
    for name in sorted(n for n in before if n.startswith(given.page)):
        if name not in after:
            print(f"\n{name}: the page is gone")
            continue
        found = held_against(items(before[name]), items(after[name]))
        report(name, found, given.show)
        differ += len(found["differ"])
    raise SystemExit(int(differ > 0))


if __name__ == "__main__":
    main()
