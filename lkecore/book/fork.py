"""Fork: begin an experiment, as a short page or as a copy of another one, or take a notebook elsewhere.

A short page is one file, made of ``data/template.txt``. A copy is one file and a few lines: the notebook
under a new name and with labels of its own, its rows in the parameter files, its line in the contents.
Files are changed as text, so that comments and the order of rows stay as their authors left them.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from lkecore import runs
from lkecore.errors import BadInput, nearest
from lkecore.runs import yamlfile
from lkecore.storage import DATA, write_whole

NAME = re.compile(r"[0-9]{2}(_[a-z][a-z0-9]*)+")
PROFILES = ("smoke", "book")
TEMPLATE = DATA / "template.txt"  # a notebook; as a .py file it would be a module of the package
# Where Markdown of the book defines a label: target, option of a directive, equation, attributes.
DEFINED = re.compile(
    r"^\s*\(([^()\s]+)\)=\s*$|^\s*:(?:label|name):\s*(\S+)|\$\$\s*\(([^()\s]+)\)\s*$"
    r"|\\label\{([^{}\s]+)\}|\{#([\w:.-]+)",
    re.MULTILINE,
)


def find_project(start: Path) -> Path:
    """The folder that contains ``notebooks/``: ``start`` or the nearest one above it."""
    for folder in (start.absolute(), *start.absolute().parents):
        if any((folder / "notebooks").glob("*.py")):  # book/notebooks has pages, no sources
            return folder
    raise BadInput(f"no folder notebooks/ with notebooks in {start.absolute()} or above it")


def find_notebook(project: Path, name: str) -> Path:
    """The file of a notebook, by its stem; :class:`BadInput` with the nearest names if there is none."""
    known = {path.stem: path for path in sorted((project / "notebooks").glob("*.py"))}
    if not known:
        raise BadInput(f"no notebooks in {project / 'notebooks'}")
    if name not in known:
        raise BadInput(f"unknown notebook {name!r}; {nearest(name, known)}")
    return known[name]


def new(project: Path, name: str, source: str | None = None) -> list[Path]:
    """Begin the notebook ``name``; returns the files that were written or changed.

    Without ``source`` it is a short page that has the whole way in it, in no params file and not in the
    contents; with it, a copy of that notebook. ``name`` is two digits and lower-case words, such as
    ``14_my_separator``; its first digit is the chapter. The labels that the page defines get the words as
    an ending, here ``-my-separator``, since no label may occur twice in a book. All files are written, or
    none; a parameter file or contents without the source stay as they are. Raises :class:`BadInput` for
    names that are malformed, taken or unknown.
    """
    if not NAME.fullmatch(name):
        raise BadInput(
            f"name {name!r} must be two digits and lower-case words, such as 14_my_separator"
        )
    original = TEMPLATE if source is None else find_notebook(project, source)
    copy = project / "notebooks" / f"{name}.py"
    if not copy.parent.is_dir():
        raise BadInput(f"no notebooks in {copy.parent}")
    if copy.exists():
        raise BadInput(f"name {name!r} is taken: {copy} exists")
    texts = {copy: _renamed(project, original, name)}
    if source is not None:
        for profile in PROFILES:
            path = project / "params" / f"{profile}.yaml"
            texts[path] = _with_rows(path, source, name)
        toc = project / "book" / "_toc.yml"
        texts[toc] = _with_entry(toc, source, name)
        texts = {path: text for path, text in texts.items() if path == copy or text != _read(path)}
    _write_all(texts)
    return list(texts)


def labels(notebook: Path) -> list[str]:
    """Every label that a notebook defines: figures, exercises, targets, equations."""
    found = []
    for cell in runs.read_notebook(notebook).cells:
        if cell.cell_type == "markdown":
            found += _defined(cell.source)
        elif name := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"):
            found.append(name)
    return found


def _defined(prose: str) -> list[str]:
    return ["".join(groups) for groups in DEFINED.findall(prose)]


def _renamed(project: Path, original: Path, name: str) -> str:
    """The text of the copy: new labels, its own title, and its own name in the words on how to run it."""
    text, words = _read(original), name.split("_")[1:]
    renamed = {label: f"{label}-{'-'.join(words)}" for label in labels(original)}
    for label in renamed:
        if "-" not in label:  # such a word may be a variable, too
            raise BadInput(f"{original.name}: label {label!r} must have a hyphen to be renamed")
    present = {path: labels(path) for path in sorted((project / "notebooks").glob("*.py"))}
    present |= {path: _defined(_read(path)) for path in sorted((project / "book").glob("*.md"))}
    for path, found in present.items():
        if taken := set(found) & set(renamed.values()):
            raise BadInput(f"name {name!r}: {path.name} has {min(taken)} already; take other words")
    if renamed:
        text = _whole(renamed).sub(lambda label: renamed[label[0]], text)
    if original == TEMPLATE:
        return text
    text, titles = re.subn(
        r"^# # [^\r\n]*", lambda line: f"{line[0]} ({' '.join(words)})", text, count=1, flags=re.M
    )
    if not titles:
        raise BadInput(f"{original.name}: no title (a line that begins with '# # ')")
    return re.sub(
        r"^# ## Try it.*?(?=^# ## |\Z)",
        lambda part: _whole([original.stem]).sub(name, part[0]),
        text,
        flags=re.M | re.S,
    )


def _whole(words: Iterable[str]) -> re.Pattern:
    """Any of the words, but not inside a longer one: fig-heat is no part of fig-heat-map."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w-])")


def _with_rows(path: Path, source: str, name: str) -> str:
    """The text of a parameter file with a copy of each row of ``source`` below that row, if it has any."""
    text = _read(path)
    rows, places, lines = _load(path, text), _places(text, "notebook"), _lines(text)
    if name in [value.value for value, _ in places]:
        raise BadInput(f"{path}: has a row of {name!r} already")
    if not (of_source := [place for place in places if place[0].value == source]):
        return text
    for value, start in reversed(of_source):
        copied = lines[start : _end(lines, start)]
        mark, line = value.start_mark, copied[value.start_mark.line - start]
        copied[mark.line - start] = line[: mark.column] + name + line[value.end_mark.column :]
        lines[start + len(copied) : start + len(copied)] = copied
    changed = "".join(lines)
    expected = []
    for row in rows.get("runs") or []:
        mine = isinstance(row, dict) and row.get("notebook") == source
        expected += [row, row | {"notebook": name}] if mine else [row]
    try:
        as_expected = _load(path, changed) == rows | {"runs": expected}
    except BadInput:
        as_expected = False
    if not as_expected:
        raise BadInput(f"{path}: the row of {source!r} does not stand on lines of its own")
    return changed


def _with_entry(path: Path, source: str, name: str) -> str:
    """The text of the contents with a line for ``name``, if they have one for ``source``.

    The line is below that of ``source``, or, if ``name`` is of another chapter, at the end of that chapter.
    """
    from sphinx_external_toc.parsing import MalformedError, parse_toc_data

    text, folder = _read(path), "notebooks/"
    _load(path, text)
    places = {value.value: start for value, start in _places(text, "file")}
    if folder + source not in places:
        return text
    if folder + name in places:
        raise BadInput(f"{path}: has a line with {folder}{name} already")
    stems = [file.removeprefix(folder) for file in places if file.startswith(folder)]
    chapter = [stem for stem in stems if stem[0] == name[0]]
    if not chapter:
        known = ", ".join(sorted({stem[0] for stem in stems}))
        raise BadInput(f"name {name!r}: there is no chapter {name[0]}; there are: {known}")
    above = folder + (source if source in chapter else chapter[-1])
    lines = _lines(text)
    start = places[above]
    indent = lines[start][: _depth(lines[start])]
    lines.insert(_end(lines, start), f"{indent}- file: {folder}{name}{_line_end(text)}")
    changed = "".join(lines)
    files = list(places)
    files.insert(files.index(above) + 1, folder + name)
    try:
        parse_toc_data(_load(path, changed))
    except MalformedError as error:
        raise BadInput(f"{path}: not a table of contents ({error})") from error
    if [value.value for value, _ in _places(changed, "file")] != files:
        raise BadInput(f"{path}: {above} does not stand on a line of its own")
    return changed


def _places(text: str, key: str) -> list[tuple[yaml.ScalarNode, int]]:
    """(value of ``key``, line where its mapping begins) of every mapping in a YAML text, in order."""
    found = []
    waiting = [yaml.compose(text, yaml.SafeLoader)]  # `_load` has checked it
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, yaml.SequenceNode):
            waiting[:0] = node.value
        elif isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if name.value == key and isinstance(value, yaml.ScalarNode):
                    found.append((value, node.start_mark.line))
            waiting[:0] = [value for _, value in node.value]
    return found


def _end(lines: list[str], start: int) -> int:
    """The line after the list item that begins at ``start``, comments inside it included."""
    end = start + 1
    for number in range(start + 1, len(lines)):
        if lines[number].strip():
            if _depth(lines[number]) > _depth(lines[start]):
                end = number + 1
            elif not lines[number].lstrip().startswith("#"):
                break
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lines(text: str) -> list[str]:
    """The lines with their ends; the last one has an end, too."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += _line_end(text)
    return lines


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _load(path: Path, text: str) -> dict[str, Any]:
    content = yamlfile.load(text, path)
    if not isinstance(content, dict):
        raise BadInput(f"{path}: expected keys and values")
    return content


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")  # not read_text, which changes the ends of lines
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 ({error.reason})") from error


def _write_all(texts: dict[Path, str]) -> None:
    """Write every file, or leave every file as it was."""
    before = {path: path.read_bytes() for path in texts if path.exists()}
    done: list[Path] = []
    try:
        for path, text in texts.items():
            if path in before and not os.access(path, os.W_OK):
                raise PermissionError(None, "read-only")
            write_whole(path, text)
            done.append(path)
    except BaseException as error:
        for written in done:
            if written in before:
                written.write_bytes(before[written])
            else:
                written.unlink()
        if isinstance(error, OSError):
            raise BadInput(f"{path}: not written ({error.strerror}); nothing changed") from error
        raise


def export(notebook: Path, out: Path, *, force: bool = False) -> Path:
    """Write a notebook as a plain ``.ipynb`` without outputs, for Jupyter or papermill anywhere.

    Prose, code and the tag ``parameters`` stay as they are. Two exports of one file are equal byte for byte.
    Raises :class:`BadInput` if ``out`` is another file already, unless ``force``.
    """
    import nbformat

    if out.suffix != ".ipynb":
        raise BadInput(f"{out} must end in .ipynb")
    _read(notebook)  # refuses a file that is no text
    cells = []
    for place, cell in enumerate(runs.read_notebook(notebook).cells):
        content = f"{place} {cell.cell_type}\n{cell.source}"
        make = getattr(nbformat.v4, f"new_{cell.cell_type}_cell")
        kept = {key: cell.metadata[key] for key in ("tags", "mystnb") if key in cell.metadata}
        identity = hashlib.sha256(content.encode()).hexdigest()[:12]
        cells.append(make(cell.source, id=identity, metadata=kept))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    # Without metadata of jupytext: Jupyter would pair the file with a .py that may not exist.
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    plain = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(plain)
    content = nbformat.writes(plain).encode() + b"\n"
    try:
        if out.exists() and out.read_bytes() != content and not force:
            raise BadInput(f"{out} exists and is another file; --force replaces it")
        write_whole(out, content)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written ({error.strerror})") from error
    return out
