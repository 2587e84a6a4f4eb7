"""Source: digests of the package's code, all of it, or what a notebook can reach of it."""

import ast
import functools
import hashlib
import json
import platform
from collections.abc import Callable, Sequence
from importlib.util import resolve_name

from lkecore.storage import DATA, code_of, remembered

PACKAGE = "lkecore"
# What a worker has imported before a notebook begins (lkecore.runs.warm).
BEFORE = [
    "papermill", "nbformat", "nbclient", "jupytext", "ipykernel.kernelapp", "ipykernel.ipkernel",
    "matplotlib.pyplot", "seaborn", "scipy.stats", "statsmodels.stats.multitest", "pyarrow.parquet",
    "torch", "transformers.models.auto.modeling_auto", "transformers.models.llama.modeling_llama",
    "myst_nb", "itables", "lkecore.answers", "lkecore.facts", "lkecore.figures", "lkecore.models",
    "lkecore.papers", "lkecore.prompts", "lkecore.runs.worker", "lkecore.scores.tree",
]  # fmt: skip
STARTING = ("lkecore.runs.forked_kernel", "lkecore.runs.imported", "lkecore.runs.warm")
AT_RUN_TIME = ("import_module", "__import__")  # names by which code imports what no statement says


def source_digest() -> str:
    """SHA-256 over all code and data of the package: what a version number cannot say.

    Comments and docstrings do not count: a better explanation makes no run anew.
    """
    files = _files()

    def of_code() -> str:
        digest = hashlib.sha256()
        for name, content in files.items():
            digest.update(f"{name}\n".encode())
            digest.update(code_of(content.decode()).encode() if name.endswith(".py") else content)
        return digest.hexdigest()

    return _remembered("whole", files, of_code)


def reached_digest(cells: Sequence[str]) -> str:
    """SHA-256 over the code of the package that the code cells of a notebook can reach, and over all data.

    That is what they import, what every worker does, and what these import in turn. So a change in
    what one page alone needs makes no other page anew. Cells that are not plain Python, or import the
    package as a whole or by a name that only a run knows, can reach everything.
    """
    files = _files()
    modules = _modules(files)
    digest = hashlib.sha256()
    for name in sorted(_reached(cells, modules)):
        digest.update(f"{name} {modules[name][0]}\n".encode())
    for name, content in files.items():
        if not name.endswith(".py"):
            digest.update(f"{name}\n".encode() + content)
    return digest.hexdigest()


Modules = dict[str, tuple[str, list[str]]]  # of each: the digest of its code, and what it imports


def _reached(cells: Sequence[str], modules: Modules) -> set[str]:
    named = _named(tuple(cells))
    if named is None:
        return set(modules)
    begin = {*named, *BEFORE, *STARTING}
    found: set[str] = set()
    while begin := (begin & modules.keys()) - found:
        found |= begin
        begin = {name for module in begin for name in modules[module][1]}
    return found


@functools.lru_cache(maxsize=100)  # a plan of 500 jobs has few notebooks
def _named(cells: tuple[str, ...]) -> frozenset[str] | None:
    """What cells import; None where it may be anything."""
    try:
        trees = [ast.parse(cell) for cell in cells]
    except (SyntaxError, ValueError):  # a magic command of IPython, say
        return None
    if _any_module(trees):
        return None
    return frozenset(name for tree in trees for name in _imported(tree))


def _any_module(trees: Sequence[ast.Module]) -> bool:
    """Whether cells hold the package as a whole, or import what no statement says."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Name | ast.Attribute):
            if (node.id if isinstance(node, ast.Name) else node.attr) in AT_RUN_TIME:
                return True
        if isinstance(node, ast.Import) and any(
            each.name.split(".")[0] == PACKAGE and (not each.asname or each.name == PACKAGE)
            for each in node.names
        ):
            return True
    return False


def _imported(tree: ast.Module, package: str = "") -> set[str]:
    """All names that import statements may mean as modules, those inside functions too.

    ``package`` is where dots in front of a name begin. With a module Python imports the packages
    that it is in.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            found |= {f"{origin}.{each.name}" for each in node.names}
    return {".".join(p[: i + 1]) for p in (n.split(".") for n in found) for i in range(len(p))}


def _modules(files: dict[str, bytes]) -> Modules:
    def of_code() -> str:
        found = {}
        for name, content in files.items():
            if name.endswith(".py"):
                *folders, stem = name.removesuffix(".py").split("/")
                package, text = ".".join([PACKAGE, *folders]), content.decode()
                imports = _imported(ast.parse(text), package)
                ours = sorted(each for each in imports if each.split(".")[0] == PACKAGE)
                module = package if stem == "__init__" else f"{package}.{stem}"
                found[module] = (hashlib.sha256(code_of(text).encode()).hexdigest(), ours)
        return json.dumps(found)

    return _read(_remembered("modules", files, of_code))


@functools.lru_cache(maxsize=4)  # a plan of 500 jobs asks for each
def _read(modules: str) -> Modules:
    return json.loads(modules)


def _files() -> dict[str, bytes]:
    """{path inside the package: content} of all its files, in order."""
    top = DATA.parent
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


def _remembered(what: str, files: dict[str, bytes], make: Callable[[], str]) -> str:
    """To read all code takes a process a second, and to see that it is that of before some milliseconds."""
    key = hashlib.sha256(f"{what} {platform.python_version()}\n".encode())
    for name, content in files.items():
        key.update(f"{name}\n{len(content)}\n".encode() + content)
    return remembered("sources", key.hexdigest(), make)
