"""Reach: which modules of the package code can reach, told from the names that it uses.

A package's ``__init__`` hands on the names of all its modules. To read it as an import of all of them would
make each notebook reach nearly everything. So ``figures.marks`` is read as the module that defines it,
``lkecore.figures.relations``, and what this uses in turn. Where it cannot be told, all of a package counts: a
name that is not found, a star, a module that is handed on as a value.

To import a module runs its top, too, and that of others beside it. These only define: a test holds that no
module of ours changes anything outside of itself when it is imported. The packages' own code always counts.
"""

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import resolve_name
from typing import Any, NamedTuple

PACKAGE = "lkecore"
WHOLE = ".*"  # behind the name of a module: it and all that it gives a name to
AT_RUN_TIME = ("import_module", "__import__")  # names by which code imports what no statement says
# And by which it uses what it does not name.
BY_NAME = ("eval", "exec", "globals", "locals", "vars")
Table = dict[str, Any]
# {name: what it is imported from: a module, and a name in it or ""}
Bound = dict[str, list[list[str]]]
# A name, and the attributes that are read of it one after the other: figures, marks.
Chain = tuple[str, ...]


class Named(NamedTuple):
    """What code names: what its imports bind, its own names, chains of names, and the package's data."""

    bound: Bound
    defined: set[str]
    chains: set[Chain]
    data: set[str]


def of_modules(texts: dict[str, str], packages: set[str]) -> Table:
    """What our modules name: ``texts`` are their sources by dotted name, of which some are ``packages``.

    ``edges``: {module: the modules that it reaches at once}, with an entry ``module.*`` for all that it
    gives a name to; ``bound``: {module: {name: what it is imported from}}; ``defined``: {module: names of
    its own}; ``data``: {module: files and folders of the package's data that it names, "" for all}.
    """
    named = {
        name: _of_module(text, name if name in packages else name.rpartition(".")[0])
        for name, text in texts.items()
    }
    table: Table = {
        "packages": sorted(packages),
        "bound": {name: its.bound for name, its in named.items()},
        "defined": {name: sorted(its.defined) for name, its in named.items()},
        "data": {name: sorted(its.data) for name, its in named.items() if "DATA" in texts[name]},
        "edges": {},
    }
    for name, its in named.items():
        edges = _used(its, table)
        edges |= set() if name in packages else _given(its.bound, table, whole=False)
        within = {each + WHOLE for each in texts if each.startswith(f"{name}.")}
        every = edges | _given(its.bound, table, whole=True) | within
        table["edges"][name] = sorted(_with_parents(edges | {name}) - {name})
        table["edges"][name + WHOLE] = sorted(_with_parents(every | {name}))
    return table


def of_cells(cells: Sequence[str], table: Table) -> set[str] | None:
    """The modules that cells of a notebook reach at once; None where it may be anything.

    They are as one module: what one imports another one uses. Cells that are not plain Python, hold the
    package as a whole, import or use what no statement says, or open the package's data can reach anything.
    """
    try:
        tree = ast.Module([part for cell in cells for part in ast.parse(cell).body], [])
    except (SyntaxError, ValueError):  # a magic command of IPython, say
        return None
    its = _named(tree, "")
    if _any_module(tree) or its.data:
        return None
    return _with_parents(_used(its, table) | _given(its.bound, table, whole=False))


@functools.lru_cache(maxsize=500)  # of a package's modules few change while a process runs
def _of_module(text: str, inside: str) -> Named:
    """What a module of the package ``inside`` names; whoever asks changes nothing of it."""
    return _named(ast.parse(text), inside)


def _named(tree: ast.Module, inside: str) -> Named:
    """What code names; ``inside`` is the package where dots in front of a name begin."""
    above = _parents(tree)
    bound = _bound(above, inside)
    names = [node for node in above if isinstance(node, ast.Name)]
    chains = {(n.id, *_read_of(n, above)) for n in names if n.id in bound or n.id in BY_NAME}
    return Named(bound, _defined(tree), chains, _data(above))


def _parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    """{each node below a tree: the one above it}, in the order of :func:`ast.walk`.

    Written out, since all code of the package is read by it: ``ast.walk`` takes twice as long.
    """
    above: dict[ast.AST, ast.AST] = {}
    to_do: list[ast.AST] = [tree]
    for node in to_do:
        for field in node._fields:
            value = getattr(node, field, None)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and child._fields:  # no Load, which all trees share
                    above[child] = node
                    to_do.append(child)
    return above


def _read_of(node: ast.AST, above: dict[ast.AST, ast.AST]) -> Iterator[str]:
    """The attributes that are read of an expression, one of the other."""
    over = above.get(node)
    while isinstance(over, ast.Attribute) and isinstance(over.ctx, ast.Load):
        yield over.attr
        over = above.get(over)


def _data(above: dict[ast.AST, ast.AST]) -> set[str]:
    """The files and folders below ``storage.DATA`` that a module names: "papers", "a.csv"; "" for all.

    ``DATA.parent`` is the package's own folder, and names none.
    """
    found = set()
    for node in above:
        if isinstance(node, ast.ImportFrom):
            found |= {"" for each in node.names if each.name == "DATA" and each.asname}
        is_data = (
            isinstance(node, ast.Name) and node.id == "DATA" and isinstance(node.ctx, ast.Load)
        )
        if not (is_data or (isinstance(node, ast.Attribute) and node.attr == "DATA")):
            continue
        parts, at = [], node
        while (
            isinstance(over := above.get(at), ast.BinOp)
            and isinstance(over.op, ast.Div)
            and over.left is at
            and isinstance(over.right, ast.Constant)
        ):
            parts.append(str(over.right.value))
            at = over
        if parts or not (isinstance(over, ast.Attribute) and over.attr == "parent"):
            found.add("/".join(parts))
    return found


def _any_module(tree: ast.Module) -> bool:
    """Whether cells hold the package as a whole, or import or use what no statement says."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in (*AT_RUN_TIME, *BY_NAME):
            return True
        if isinstance(node, ast.Attribute) and node.attr in AT_RUN_TIME:
            return True
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules":
            return True
        if isinstance(node, ast.Import) and any(
            each.name.split(".")[0] == PACKAGE and (not each.asname or each.name == PACKAGE)
            for each in node.names
        ):
            return True
    return False


def _bound(nodes: Iterable[ast.AST], inside: str) -> Bound:
    """What import statements bind of ours, those inside functions too; "*" for stars."""
    found: Bound = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.name.split(".")[0] == PACKAGE:
                    name, origin = (each.asname, each.name) if each.asname else (PACKAGE, PACKAGE)
                    found.setdefault(name, []).append([origin, ""])
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), inside)
            if origin.split(".")[0] == PACKAGE:
                for each in node.names:
                    found.setdefault(each.asname or each.name, []).append([origin, each.name])
    return found


def _defined(tree: ast.Module) -> set[str]:
    """Names that the top of a module defines itself."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


def _given(bound: Bound, table: Table, *, whole: bool) -> set[str]:
    """All that imports bind, used or not; ``whole``: with all that these modules give a name to."""
    found = set()
    for origin, name in (target for targets in bound.values() for target in targets):
        for module, is_module in _resolved(origin, name, table):
            found |= {origin, module, *([module + WHOLE] if whole and is_module else [])}
    return found


def _used(its: Named, table: Table) -> set[str]:
    """The modules behind the imported names that code uses."""
    if not its.bound:
        return set()
    found = set()
    if "*" in its.bound or any(chain[0] in BY_NAME for chain in its.chains):
        found |= _given(its.bound, table, whole=True)
    for name, *read in its.chains:
        for origin, of_origin in its.bound.get(name, ()):
            for module, is_module in _resolved(origin, of_origin, table):
                found |= {origin, module}
                found |= {*_through(read, module, table)} if is_module else set()
    return found


def _through(read: Sequence[str], module: str, table: Table) -> Iterator[str]:
    """The modules that a chain reaches, of which ``read`` are the attributes behind a module."""
    if not read:
        yield module + WHOLE
        return
    for deeper, is_module in _resolved(module, read[0], table):
        yield deeper
        if is_module:
            yield from _through(read[1:], deeper, table)


def _resolved(
    origin: str, name: str, table: Table, seen: frozenset[tuple[str, str]] = frozenset()
) -> set[tuple[str, bool]]:
    """{(module, whether the name means the module itself)} of a name of a module: who defines it.

    Several where it may be one or the other. All of a package where it is not found.
    """
    if (origin, name) in seen or origin not in table["bound"]:
        return set()
    if not name:
        return {(origin, True)}
    found = {(f"{origin}.{name}", True)} if f"{origin}.{name}" in table["bound"] else set()
    for target in table["bound"][origin].get(name, ()):
        found |= _resolved(*target, table, seen | {(origin, name)})
    if name in table["defined"][origin] or (not found and origin not in table["packages"]):
        found.add((origin, False))
    return found or {(origin + WHOLE, False)}


def _with_parents(modules: set[str]) -> set[str]:
    """With a module Python imports the packages that it is in."""
    plain = [name.removesuffix(WHOLE).split(".") for name in modules]
    return modules | {".".join(p[: i + 1]) for p in plain for i in range(len(p))}
