"""State: Sphinx's readings of the pages of notebooks, carried from one build of a book to the next.

Reading a page takes as long as writing it. All pages are written at each build, since each shows parts
of others: the contents, titles, numbers of figures. Only a build without a warning leaves a state, and
one that fails drops it, so that the warning of an unchanged page comes again. Contents decide whether a page
is unchanged. Sphinx itself goes by the times of files, and would take an older file for one that it has read.
"""

import json
import os
import shutil
from pathlib import Path

from lkecore.storage import DATA, write_whole

Found = dict[str, str]  # the digest of each file that a book is built of
FILES = "files.json"
LONG_AGO = 10**9  # seconds, for files that Sphinx need not read again: before any state


def take(project: Path, state: Path, target: Path, found: Found) -> None:
    """Move a state to where Sphinx looks for one, ``target``, without the pages that must be read again.

    Two kinds of pages need no new reading: those of unchanged notebooks and, if the package has not changed,
    those of its functions. If something has changed on which other pages depend (settings, contents,
    references, libraries), nothing of the state is used. In any case ``state`` no longer exists afterwards.
    """
    book, pages = project / "book", project / "book" / "notebooks"
    try:
        before = json.loads((state / FILES).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # there is none, or its writing was interrupted
        shutil.rmtree(state, ignore_errors=True)
        return
    changed = {Path(name) for name in found.keys() | before if found.get(name) != before.get(name)}
    api = {path for path in changed if path.parent == book / "api"}
    prose = {path for path in changed if path.parent == book and path.suffix == ".md"}
    ours = {path for path in changed if path.is_relative_to(DATA.parent)}
    of_notebooks = {path for path in changed if path.is_relative_to(pages)}
    if changed - api - prose - ours - of_notebooks:
        shutil.rmtree(state, ignore_errors=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(state, target)
    read = target / ".doctrees"
    for path in read.glob("*.doctree"):
        path.unlink()
    if ours or api:
        shutil.rmtree(read / "api", ignore_errors=True)
    for path in of_notebooks:
        (read / "notebooks" / f"{path.stem}.doctree").unlink(missing_ok=True)
    for path in pages.rglob("*"):  # `collect_pages` has written them just now
        if path not in changed and path.is_file():
            os.utime(path, (LONG_AGO, LONG_AGO))


def leave(built: Path, state: Path, found: Found) -> None:
    """Keep the state of a build without a warning as ``state``: all of ``built`` except its pages."""
    write_whole(built / FILES, json.dumps(found))
    os.replace(built, state)
