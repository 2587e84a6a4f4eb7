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

``--answers`` compares the frames of answers instead, ``answers*.parquet`` of all runs of a page. Rows meet on
the columns that say which question it is; numbers are the same within 1e-9 (``--within 0``: exactly), all
else if equal. It counts rows and columns that only one side has, and compares what both have. A frame of
which no row meets counts as one that differs.
"""

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lkecore.answers.align import aligned
from lkecore.answers.meanings import MEANING
from lkecore.errors import BadInput

# Columns that say which row it is, though there are numbers in them.
NAMES = ("name", "id", "claim", "holds_if", "model", "source", "estimator", "relation", "kind")
COUNTS = re.compile(r"n_\w+|draw|seed|shots|fact|template|exposures|distance|position|step")
NUMBER = r"[-−]?\d[\d,]*(?:\.\d+)?"
TEXT = re.compile(
    rf"(?<![\w./-])({NUMBER})( %)?(?: \[({NUMBER}|nan), ({NUMBER}|nan)\])?(?![\w]|\.\d|[-/]\w)"
)
EXACT = 1e-9
RUN = re.compile(r"(.+?)(-page)?-[0-9a-f]{6,}")  # the folder of a run, or of a page that read some
# Which question a row of answers is about: the first part of ``MEANING``, and what single pages add to it.
WHICH = [*MEANING][: [*MEANING].index("correct")]
OF_PAGES = """
    arrangement gate group instillation kind lesson level offer option pair_separator part position prompt
    ranker readable score seed shot_separator split step steps when negatives share by names
""".split()
TIES = ["n_options", "question"]  # where these do not tell all rows apart; else they are compared


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
        name, kind = RUN.fullmatch(run.parent.name).groups()
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


# --- frames of answers ----------------------------------------------------------------------------


def frames(folder: Path) -> dict[tuple[str, str], pd.DataFrame]:
    """{(page, file): the answers that all its runs have kept, one below the other}; BadInput without any."""
    parts: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for run in sorted(Path(folder).glob("[!.]*/manifest.json")):
        name = RUN.fullmatch(run.parent.name)[1]
        for file in sorted(run.parent.glob("answers*.parquet")):
            parts.setdefault((name, file.name), []).append(pd.read_parquet(file))
    if not parts:
        raise BadInput(f"{folder} has no finished run that kept answers")
    return {where: pd.concat(some, ignore_index=True) for where, some in parts.items()}


def paired(before: pd.DataFrame, after: pd.DataFrame, within: float = EXACT) -> dict[str, Any]:
    """How two frames of answers compare, row by row.

    ``key``: the columns on which rows meet; ``alike``: how many rows it does not tell from an earlier one, so
    that they meet in their order; ``both``: how many met; ``gone`` and ``new``: the keys of those that only
    one frame has; ``columns``: those that only one has, (before, after); ``differ``: {column: (rows, largest
    difference or None, key of the first)}.
    """
    shared = [name for name in before if name in after]
    which = [name for name in shared if name in {*WHICH, *OF_PAGES} - {*TIES}]
    # An answer, too, may be yes or no, and be named as a question is.
    flags = [name for name in which if before[name].dtype == bool]
    key = [name for name in which if name not in flags]
    for name in [*flags, *TIES]:
        alike = not key or any(frame.duplicated(key).any() for frame in (before, after))
        if name in shared and alike:
            key.append(name)
    met = aligned(before[shared], after[shared], key)
    side, again = met["side"].to_numpy(), met["nth"].to_numpy() > 0
    met = met.set_index(key or "nth")
    both, differ = met[side == "both"], {}
    for name in [name for name in shared if name not in key]:
        a, b = both[name], both[f"{name}|"]
        numbers = all(map(pd.api.types.is_numeric_dtype, (a, b)))
        if numbers:
            a, b = (each.to_numpy(float, na_value=np.nan) for each in (a, b))
            same = np.isclose(a, b, rtol=0, atol=within, equal_nan=True)
        else:
            a, b = (each.astype(object).where(each.notna(), None).to_numpy() for each in (a, b))
            same = a == b
        if not same.all():
            apart = np.abs(a - b)[~same] if numbers else None
            largest = float(np.where(np.isnan(apart), np.inf, apart).max()) if numbers else None
            differ[name] = int((~same).sum()), largest, both.index[~same][0]
    return {
        "key": key,
        "alike": int(max(again[side != alone].sum() for alone in ("left_only", "right_only")))
        if key
        else len(both),
        "both": len(both),
        "gone": [*met.index[side == "left_only"]],
        "new": [*met.index[side == "right_only"]],
        "columns": ([n for n in before if n not in after], [n for n in after if n not in before]),
        "differ": differ,
    }


def report_answers(name: str, found: dict[str, Any]) -> None:
    """Print how the answers of a page compare."""
    meet = f"by {', '.join(found['key']) or 'their order'}"
    print(f"\n{name}: {found['both']} rows in both, {meet}; {len(found['differ'])} columns differ")
    if found["alike"]:
        print(f"  {found['alike']} rows are not told apart by these, and meet in their order")
    for when, rows, columns in zip(
        ("before", "after"), (found["gone"], found["new"]), found["columns"], strict=True
    ):
        if rows:
            print(f"  only {when}: {len(rows)} rows, the first of {rows[0]}")
        if columns:
            print(f"  only {when}: columns {', '.join(columns)}")
    for column, (n, largest, first) in found["differ"].items():
        by = "" if largest is None else f", by {largest:.3g} at most"
        print(f"  differs: {column} in {n} rows{by}; the first of {first}")
    if not found["both"]:
        print("  no row meets: nothing was compared")


def compare_answers(before: Path, after: Path, page: str, within: float) -> int:
    """Print how all frames of answers compare; how many differ, or have no row in common."""
    old, new = frames(before), frames(after)
    bad = 0
    for where in sorted(where for where in {*old, *new} if where[0].startswith(page)):
        name = " / ".join(where)
        if where not in old or where not in new:
            print(f"\n{name}: only {'before' if where in old else 'after'}")
            continue
        found = paired(old[where], new[where], within)
        report_answers(name, found)
        bad += bool(found["differ"] or not found["both"])
    print(f"\n{bad} of {len({*old} & {*new})} frames differ")
    return bad


def main() -> None:
    """Print the report; exit with 1 if a number differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--page", default="", help="only pages whose name begins so")
    parser.add_argument("--show", type=int, default=5, help="lines of each list")
    parser.add_argument("--answers", action="store_true", help="frames of answers, by key")
    parser.add_argument("--within", type=float, default=EXACT, help="of numbers in answers")
    given = parser.parse_args()
    if given.answers:
        raise SystemExit(
            int(compare_answers(given.before, given.after, given.page, given.within) > 0)
        )
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
