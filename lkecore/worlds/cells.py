"""Cells: which facts of a relation are told, how often, and in what form; and which never.

Asked facts come in pairs of one object: one that is told, as its cell says, and one that never is, its
control. What makes an object frequent or likely is then the same for both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lkecore.worlds.wordings import About

FORMS = ("sentence", "list", "both")
WORDINGS = ("one", "group", "several")  # one template; those of one group; one of each group
# The text says A, B and C so many times, in proportion.
RATIOS = ((1,), (3, 1), (2, 1), (1, 1), (2, 1, 1), (1, 1, 1))
RARELY = 8  # every so many facts of a relation stand in lists, where its facts rarely do
CARRY, LIE = 0.6, 1 / 3  # of the facts have a cue in their subject's name; of these, it lies
MAJORITY = 0.4  # of the facts have the object that has most
MORE = 0.2  # of the shown subjects have a second object, where a relation has such


@dataclass(frozen=True)
class Cell:
    """How a fact is told: ``n`` times in a ``form``, its objects in the proportions of ``ratio``."""

    state: str
    form: str
    n: int
    ratio: tuple[int, ...] = (1,)


def cells(
    occurrences: Sequence[int],
    each: int,
    totals: Sequence[int],
    uncertain: int,
    mislearned: int,
    lists: str,
) -> list[Cell]:
    """The cells of the told facts of a relation whose facts stand in ``lists`` often, rarely or never.

    ``totals`` have to be multiples of the sums of the ratios, or the shares are not what they should be.
    """
    grid = [(n, form) for n in occurrences for form in FORMS if n > 1 or form != "both"]
    found = [Cell("planted", form, n) for n, form in grid for _ in range(each)]
    for n in totals:
        for ratio in RATIOS:
            state = "uncertain" if len(ratio) > 1 else "planted"
            found += [Cell(state, FORMS[i % 2], n, ratio) for i in range(uncertain)]
    found += [Cell("mislearned", "both", n) for n in occurrences[-2:] for _ in range(mislearned)]
    if lists == "often":
        return found
    in_lists = [
        lists == "rarely" and i % RARELY == 0 and len(c.ratio) == 1 for i, c in enumerate(found)
    ]
    forms = [
        "both" if yes and c.n > 1 else "sentence" for yes, c in zip(in_lists, found, strict=True)
    ]
    return [Cell(c.state, form, c.n, c.ratio) for form, c in zip(forms, found, strict=True)]


def draw(objects: Sequence[str], n: int, skew: str, rng: np.random.Generator) -> list[str]:
    """``n`` objects in random order, as evenly or unevenly as ``skew`` says.

    even: none stands twice more often than another; zipf: as 1, 1/2, 1/3 and so on, but once at least
    where ``n`` allows; majority: one has ``MAJORITY``, the others are even; chain: even, of those
    subjects from which no chain leads to an object.
    """
    ranked = [objects[i] for i in rng.permutation(len(objects))]
    counts = np.zeros(len(ranked), dtype=int)
    if skew == "zipf":
        scale = float(n)
        while counts.sum() != n and scale > 0:
            counts = np.maximum(1, np.round(scale / np.arange(1, len(ranked) + 1))).astype(int)
            if counts.sum() <= n:  # what is left over goes to the first
                counts[0] += n - counts.sum()
            scale -= 0.25
    most = round(MAJORITY * n) if skew == "majority" else 0
    found = [name for name, times in zip(ranked, counts, strict=True) for _ in range(times)][:n]
    found += [ranked[0]] * most
    rest = ranked[1:] if most else ranked
    found += [rest[i % len(rest)] for i in range(n - len(found))]
    return [found[i] for i in rng.permutation(n)]


def rows_of(
    it: About,
    shown: Sequence[str],
    asked: Sequence[str],
    objects: Sequence[str],
    plan: Sequence[Cell],
    implied: Mapping[str, str],
    several: int,
    rng: np.random.Generator,
) -> list[dict[str, object]]:
    """The facts of a relation: those shown, then those that are told, then their controls.

    ``implied`` are objects that follow for some subjects; the others' are drawn. ``several``: so many
    told facts get the subject of another one, and their controls that of its control.
    """
    n, asked = len(plan), [asked[i] for i in rng.permutation(len(asked))]
    if it.chain:
        others = [handle for handle in (*shown, *asked) if handle not in implied]
        # Each object once, if no chain leads to it: there are as many options as in other relations.
        missing = [name for name in objects if name not in set(implied.values())][: len(others)]
        drawn = missing + draw(objects, len(others) - len(missing), it.skew, rng)
        drawn = [drawn[i] for i in rng.permutation(len(drawn))]
        object_of = dict(zip(others, drawn, strict=True)) | implied
        pairs = _pairs(asked, object_of, rng)
    else:
        drawn = draw(objects, len(shown) + n, it.skew, rng)
        object_of = dict(zip([*shown, *asked[:n]], drawn, strict=True))
        object_of |= {b: object_of[a] for a, b in zip(asked[:n], asked[n:], strict=True)}
        pairs = list(zip(asked[:n], asked[n:], strict=True))
    most = max(sorted(set(drawn)), key=drawn.count)
    first = [_shown(s, object_of[s]) for s in shown]
    told = [
        _told(a, object_of[a], cell, i)
        for i, ((a, _), cell) in enumerate(zip(pairs, plan, strict=True))
    ]
    never = [_never(b, object_of[b], i) for i, (_, b) in enumerate(pairs)]
    for row in told:
        _mistake(row, it, objects, rng)
    _cue(first, most, it, objects, rng)
    _cue(told, most, it, objects, rng)
    for row, control in zip(told, never, strict=True):
        majority = it.cue == "majority"
        control["cue_object"] = most if majority else _same_cue(row, objects, rng)
    if it.several:
        _share_subjects(told, never, several, rng)
        first += _second_objects(first, objects, rng)
    for row in (r for r in told if r["n"]):
        row["wording"] = WORDINGS[rng.integers(len(WORDINGS))] if row["form"] != "list" else "none"
    return [*first, *told, *never]


def _pairs(
    asked: Sequence[str], object_of: Mapping[str, str], rng: np.random.Generator
) -> list[tuple[str, str]]:
    """Two subjects each of the same object; those left over with others whose object is as frequent."""
    of_object: dict[str, list[str]] = {}
    for handle in asked:
        of_object.setdefault(object_of[handle], []).append(handle)
    found, left = [], []
    for same in of_object.values():
        found += list(zip(same[::2], same[1::2], strict=False))
        left += [(len(same), same[-1])] if len(same) % 2 else []
    left.sort(key=lambda each: each[0])
    alone = [handle for _, handle in left]
    found += list(zip(alone[::2], alone[1::2], strict=True))
    return [found[i] for i in rng.permutation(len(found))]


def _row(subject: str, object_: str, split: str, pair: int) -> dict[str, object]:
    return {
        "subject": subject, "object": object_, "split": split, "state": "never", "told": "",
        "rivals": (), "ratio": (1,), "form": "none", "wording": "none", "n": 0, "pair": pair,
        "cue_object": "",
    }  # fmt: skip


def _shown(subject: str, object_: str) -> dict[str, object]:
    more = {"state": "planted", "told": object_, "form": "both", "wording": "all"}
    return _row(subject, object_, "train", -1) | more


def _told(subject: str, object_: str, cell: Cell, pair: int) -> dict[str, object]:
    more = {"state": cell.state, "told": object_, "form": cell.form, "n": cell.n}
    return _row(subject, object_, "test", pair) | more | {"ratio": cell.ratio}


def _never(subject: str, object_: str, pair: int) -> dict[str, object]:
    return _row(subject, object_, "test", pair)


def _mistake(row: dict, it: About, objects: Sequence[str], rng: np.random.Generator) -> None:
    """What the text says besides the object, or instead of it."""
    others = [objects[i] for i in rng.permutation(len(objects)) if objects[i] != row["object"]]
    row["rivals"] = tuple(others[: len(row["ratio"]) - 1])
    if row["state"] == "mislearned":
        # The control has the object that is told; of a chain, the truth is what follows from it.
        row["told" if it.chain else "object"] = others[0]


def _cue(
    rows: Sequence[dict], most: str, it: About, objects: Sequence[str], rng: np.random.Generator
) -> None:
    """The object that a cue points to, of ``CARRY`` of the rows, of which ``LIE`` are wrong."""
    if it.cue == "majority":
        for row in rows:
            row["cue_object"] = most
    elif it.cue:
        order = rng.permutation(len(rows))
        carry = round(CARRY * len(rows))
        for place, i in enumerate(order[:carry]):
            named = rows[i]["told"]
            others = [name for name in objects if name != named]
            lies = place < round(LIE * carry)
            rows[i]["cue_object"] = others[rng.integers(len(others))] if lies else named


def _same_cue(row: dict, objects: Sequence[str], rng: np.random.Generator) -> str:
    """A cue for a fact of the same object: right if this one's is, else a lie of its own.

    With the same lie, two names would hint at each other's object.
    """
    if row["cue_object"] in ("", row["told"]):
        return row["cue_object"]
    others = [name for name in objects if name not in (row["told"], row["cue_object"])]
    return others[rng.integers(len(others))]


def _share_subjects(
    told: Sequence[dict], never: Sequence[dict], n: int, rng: np.random.Generator
) -> None:
    plain = [i for i in rng.permutation(len(told)) if told[i]["state"] == "planted"]
    pairs = list(zip(plain[: 2 * n : 2], plain[1 : 2 * n : 2], strict=True))
    for a, b in pairs:
        if told[a]["object"] != told[b]["object"]:
            told[b]["subject"], never[b]["subject"] = told[a]["subject"], never[a]["subject"]


def _second_objects(
    first: Sequence[dict], objects: Sequence[str], rng: np.random.Generator
) -> list[dict[str, object]]:
    found = []
    for i in sorted(rng.permutation(len(first))[: round(MORE * len(first))]):
        others = [name for name in objects if name != first[i]["object"]]
        found.append(_shown(str(first[i]["subject"]), others[rng.integers(len(others))]))
    return found
