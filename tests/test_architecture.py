"""The package reads from left to right: a module imports only from those before it."""

import ast
from pathlib import Path

import lkecore

TOP = Path(lkecore.__file__).parent
ORDER = [
    "rows", "cache", "hub", "layouts", "hubsets", "wikidata", "nobel", "world",
    "facts", "filters", "prompts", "sequences", "convert", "lab", "weights", "catalogue", "models",
    "progress",
    "train", "scores", "metrics",
    "intervals", "figures", "paper", "runs", "plan", "results", "job", "prepare", "grid", "forecast", "fork",
    "coverage", "verdicts", "book", "cli",
]  # fmt: skip


def test_a_module_imports_only_from_its_left():
    found = {p.relative_to(TOP).parts[0].removesuffix(".py") for p in TOP.rglob("*.py")}
    assert found == {*ORDER, "__init__", "data"}, "put new modules into ORDER"
    for place, name in enumerate(ORDER):
        files = [TOP / f"{name}.py"] if (TOP / f"{name}.py").exists() else (TOP / name).glob("*.py")
        for file in files:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lkecore"):
                    parts = node.module.split(".")
                    names = parts[1:2] or [
                        a.name for a in node.names if not a.name.startswith("__")
                    ]
                    left = {*ORDER[:place], *([name] if (TOP / name).is_dir() else [])}
                    assert set(names) <= left, f"{file.name} imports {names}"


def test_nothing_unpickles_or_runs_code_of_a_model():
    for file in TOP.rglob("*.py"):
        code = ast.parse(file.read_text(encoding="utf-8"))
        names = {n.attr for n in ast.walk(code) if isinstance(n, ast.Attribute)}
        words = {k.arg for n in ast.walk(code) if isinstance(n, ast.Call) for k in n.keywords}
        imports = {a.name for n in ast.walk(code) if isinstance(n, ast.Import) for a in n.names}
        taken = [n for n in ast.walk(code) if isinstance(n, ast.ImportFrom)]
        assert "pickle" not in imports and "trust_remote_code" not in words, file
        assert not any(n.module in ("pickle", "torch.serialization") for n in taken), file
        assert not any(n.module == "torch" and "load" in [a.name for a in n.names] for n in taken)
        if file != TOP / "convert.py":
            assert not ({"torch"} & imports and names & {"load"}), file


def test_the_one_place_that_reads_pickles_takes_weights_only_out_of_them():
    code = ast.parse((TOP / "convert.py").read_text(encoding="utf-8"))
    mentions = [n for n in ast.walk(code) if isinstance(n, ast.Attribute) and n.attr == "load"]
    calls = [n for n in ast.walk(code) if isinstance(n, ast.Call) and n.func in mentions]
    assert len(calls) == len(mentions) == 1  # it is not handed on under another name
    assert ast.unparse(calls[0].func) == "torch.load"
    assert "weights_only=True" in [ast.unparse(k) for k in calls[0].keywords]
