"""The package reads from left to right: a room imports only from the rooms before it."""

import ast
import functools
import re
from graphlib import TopologicalSorter
from pathlib import Path

from own import PAGES, notebook

import lkecore

TOP = Path(lkecore.__file__).parent
ORDER = [
    "errors", "storage", "progress", "hub",
    "worlds", "facts", "prompts", "models", "train", "scores", "tasks", "stats", "papers",
    "answers", "figures", "runs", "book", "cli", "lmeval",
]  # fmt: skip
MOST_LINES = 350


@functools.cache
def files() -> dict[str, Path]:
    """{dotted name behind "lkecore.": file}; a room's __init__ has the name of the room."""
    parts = {p: p.relative_to(TOP).with_suffix("").parts for p in sorted(TOP.rglob("*.py"))}
    return {".".join(n for n in names if n != "__init__"): p for p, names in parts.items()}


@functools.cache
def parsed(file: Path) -> ast.Module:
    """The syntax of a file, for all tests to read and none to change."""
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def imports(file: Path) -> set[str]:
    """The modules of the package that a file imports, behind "lkecore."; functions' imports too."""
    known, found = files(), set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            ours = any(a.name.startswith("lkecore") for a in node.names)
            assert not ours or TOP not in file.parents, f"{file}: use from"
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: imports are absolute"
            if node.module == "lkecore" or (node.module or "").startswith("lkecore."):
                base = node.module.removeprefix("lkecore").removeprefix(".")
                for name in (a.name for a in node.names):
                    whole = f"{base}.{name}".removeprefix(".")
                    found.add(whole if whole in known else base)
    return found - {""}


def test_room_imports_only_from_its_left():
    assert {name.partition(".")[0] for name in files()} == {"", *ORDER}, "put new rooms into ORDER"
    for name, file in files().items():
        room = name.partition(".")[0]
        allowed = {*ORDER[: ORDER.index(room) + 1]} if room else set()
        assert {n.partition(".")[0] for n in imports(file)} <= allowed, file


def test_modules_of_a_room_import_in_one_direction():
    graph = {name: imports(file) - {name} for name, file in files().items() if "." in name}
    # A room as a whole stands for what it re-exports; whoever imports it must not be part of that.
    for room in ORDER:
        if (TOP / room).is_dir():
            graph[room] = imports(TOP / room / "__init__.py")
    list(TopologicalSorter(graph).static_order())  # raises CycleError


@functools.cache
def used(file: Path) -> set[str]:
    """Like imports(), but what a room passes on counts for the module that it takes it from."""
    rooms: dict[str, str] = {}  # by what the file calls them
    taken = set()  # (room, name) of what it takes from a room
    for node in ast.walk(parsed(file)):
        for each in node.names if isinstance(node, ast.ImportFrom) else ():
            if node.module == "lkecore" and each.name in ORDER:
                rooms[each.asname or each.name] = each.name
            elif node.module and node.module.startswith("lkecore."):
                taken.add((node.module.removeprefix("lkecore."), each.name))
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in rooms:
            taken.add((rooms[node.value.id], node.attr))
    modules = {name for name in imports(file) if not (TOP / name).is_dir()}
    return modules | {passed_on()[each] for each in taken & passed_on().keys()}


@functools.cache
def passed_on() -> dict[tuple[str, str], str]:
    """{(room, name that it passes on): module that has it}."""
    found = {}
    for room in ORDER:
        for node in parsed(files()[room]).body if (TOP / room).is_dir() else ():
            if isinstance(node, ast.ImportFrom):
                of = node.module.removeprefix("lkecore.")
                found |= {(room, each.asname or each.name): of for each in node.names}
    return found


def reached(file: Path) -> set[str]:
    """The modules that a file needs, directly or through others."""
    found, wanted = set(), used(file)
    while wanted:
        found |= wanted
        wanted = {name for each in wanted for name in used(files()[each])} - found
    return found


# Modules of the package that one page needs and no command, and why they are not a part of the page.
OF_ONE_PAGE = {
    "answers.readers": "most of it are columns that ship, of which the page shows one",
    "stats.sequence": "a paper's measure, with oracles of its own",
    "facts.decoys": "a generator with oracles of its own; longer than the page may be",
    "stats.listed": "a statistic of a paper, with oracles of its own",
    "prompts.sequences": "a paper's prompts, with oracles of its own; longer than the page may be",
}


def test_a_module_serves_two_pages_or_a_command():
    """What serves one page says its idea on this page, in a function of a few lines."""
    top = TOP.parent
    pages = [reached(notebook(name)) for name in [*PAGES, "02_report"]]
    commands = {name for name in files() if name.split(".")[0] in ("cli", "book", "runs", "lmeval")}
    tools = [file for file in (top / "tools").glob("*.py") if file.stem != "faults"]  # its own copy
    served = commands.union(*map(reached, [*(files()[name] for name in commands), *tools]))
    lonely = {
        name
        for name, file in files().items()
        if name not in served
        and sum(name in page for page in pages) < 2
        and file.name != "__init__.py"
        and not name.startswith("worlds.")
    }
    assert lonely == set(OF_ONE_PAGE)


def test_module_is_short():
    lengths = {name: len(p.read_text("utf-8").splitlines()) for name, p in files().items()}
    assert max(lengths.values()) <= MOST_LINES, max(lengths.items(), key=lambda item: item[1])


def test_the_page_of_the_package_has_every_module_and_no_other():
    """Each on the page of its room, and each such page in the contents: one that is not would be left out."""
    book = TOP.parent / "book"
    contents = re.findall(r"file: api/(\w+)$", (book / "_toc.yml").read_text("utf-8"), re.MULTILINE)
    assert contents == [
        path for path in re.findall(r"`api/(\w+)`", (book / "api.md").read_text("utf-8"))
    ]
    assert sorted(contents) == sorted(path.stem for path in (book / "api").iterdir())
    told = {}
    for name in contents:
        page = (book / "api" / f"{name}.md").read_text(encoding="utf-8")
        found = re.findall(
            r"^\.\. (?:auto|py:)module:: lkecore\.([\w.]+)", page, flags=re.MULTILINE
        )
        told |= dict.fromkeys(found, name)
        assert len(set(found)) == len(found) and page.startswith("# ")
    assert sorted(told) == sorted(name for name in files() if name)
    below = {"errors", "storage", "progress", "hub"}
    rooms = {module: module.partition(".")[0] for module in told}
    assert told == {m: "below" if room in below else room for m, room in rooms.items()}


def test_nothing_unpickles_or_runs_code_of_a_model():
    for file in TOP.rglob("*.py"):
        code = parsed(file)
        names = {n.attr for n in ast.walk(code) if isinstance(n, ast.Attribute)}
        words = {k.arg for n in ast.walk(code) if isinstance(n, ast.Call) for k in n.keywords}
        imports = {a.name for n in ast.walk(code) if isinstance(n, ast.Import) for a in n.names}
        taken = [n for n in ast.walk(code) if isinstance(n, ast.ImportFrom)]
        assert "pickle" not in imports and "trust_remote_code" not in words, file
        assert not any(n.module in ("pickle", "torch.serialization") for n in taken), file
        assert not any(n.module == "torch" and "load" in [a.name for a in n.names] for n in taken)
        if file != TOP / "models" / "convert.py":
            assert not ({"torch"} & imports and names & {"load"}), file


def test_the_one_place_that_reads_pickles_takes_weights_only_out_of_them():
    code = parsed(TOP / "models" / "convert.py")
    mentions = [n for n in ast.walk(code) if isinstance(n, ast.Attribute) and n.attr == "load"]
    calls = [n for n in ast.walk(code) if isinstance(n, ast.Call) and n.func in mentions]
    assert len(calls) == len(mentions) == 1  # it is not handed on under another name
    assert ast.unparse(calls[0].func) == "torch.load"
    assert "weights_only=True" in [ast.unparse(k) for k in calls[0].keywords]
