"""Parameters: the declarations of a notebook, and the values that they allow."""

import ast
import math
from pathlib import Path
from typing import Any

from lkecore import runs
from lkecore.errors import BadInput, nearest
from lkecore.models.model import DTYPES

TYPES = {"int": int, "float": float, "str": str, "bool": bool}
Declared = dict[str, tuple[str, Any]]  # {name: (annotation, default)} of a notebook's parameters
# Parameters of notebooks: the old name to the new one.
RENAMED = {"formats": "estimators", "shipped_worlds": "shipped"}

# Parameters and arguments that no longer exist, and what replaces them.
GONE = {
    "page": "a notebook knows by itself whether it runs or shows what runs have kept",
    "results": "name the source in `sources`; `answers.shown` reads it and asks a few questions again",
    "n_again": "`answers.sample` says how many questions of a source are asked again",
    "notebook": "`answers.shown` takes the name of the results",
}


def declared_parameters(notebook: Path) -> Declared:
    """{name: (annotation, default)} of the cell tagged ``parameters``: annotated literals only."""
    cells = [
        c for c in runs.read_notebook(notebook).cells if "parameters" in c.metadata.get("tags", [])
    ]
    if len(cells) != 1:
        raise BadInput(f"{notebook.name}: {len(cells)} cells tagged parameters, expected one")
    declared = {}
    for node in ast.parse(cells[0].source).body:
        if not isinstance(node, ast.AnnAssign) or node.value is None:
            raise BadInput(f"{notebook.name}: a parameter is not of the form name: type = literal")
        declared[ast.unparse(node.target)] = (
            ast.unparse(node.annotation),
            ast.literal_eval(node.value),
        )
    if "page" in declared:  # written for an older version, which has all four
        gone = "; ".join(f"{name}: {instead}" for name, instead in GONE.items())
        raise BadInput(f"{notebook.name}: page, results, n_again and notebook are gone. {gone}")
    return declared


def check_value(name: str, value: Any, declared: Declared) -> None:
    """Raise :class:`BadInput` unless a parameter may have a value; the message begins after the name."""
    if name not in declared:
        raise BadInput(unknown(name, declared))
    annotation = declared[name][0]
    if not fits(value, annotation):
        raise BadInput(f"must be {annotation}, found {value!r}")
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, float) and not math.isfinite(each) for each in values):
        raise BadInput(f"must be finite, found {value!r}")
    if isinstance(value, list) and len({repr(each) for each in value}) < len(value):
        raise BadInput(f"names something twice: {value}")
    least = 1 if name.startswith("n_") and name != "n_shots" else 0
    counts = annotation in ("int", "list[int]") and (
        name.startswith("n_") or name in ("seed", "shots", "draws")
    )
    for number in values if counts else ():
        if number < least:
            raise BadInput(f"must be {least} or more, found {number}")
    if name == "dtype" and value not in DTYPES:
        raise BadInput(f"must be one of {', '.join(DTYPES)}, found {value!r}")
    if name in ("model", "models", "fact_set") and not value:
        raise BadInput("must not be empty")


def unknown(name: Any, declared: Declared) -> str:
    """The message about a parameter that a notebook does not declare."""
    if (new := RENAMED.get(name)) in declared:
        return f"is now called {new!r}"
    if name in GONE:
        return f"is gone: {GONE[name]}"
    return f"is unknown; {nearest(str(name), declared)}"


def fits(value: Any, annotation: str) -> bool:
    """Whether a value has the type with which a parameter is annotated."""
    if annotation.startswith("list["):
        inner = annotation.removeprefix("list[").removesuffix("]")
        return isinstance(value, list) and all(fits(item, inner) for item in value)
    if annotation == "float" and type(value) is int:
        return True
    return type(value) is TYPES.get(annotation)  # a bool is no int here
