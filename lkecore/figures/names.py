"""Names: the names for people of models, worlds, sources and estimators in pages, figures and tables."""

import csv
import functools
import re

from lkecore.answers.show import labels
from lkecore.errors import BadInput
from lkecore.models import lab
from lkecore.storage import DATA

KINDS = {"bert": "BERT", "t5": "T5"}  # of lab models; others are named by their size
SENTENCES = {"hgp": "human sentence", "mmp": "mined sentence", "template": "sentence"}


def display_name(name: str, relations: int | None = None) -> str:
    """A name for people: a label, from ``data/names.csv``, by a rule (lab, sentences), or else ``name``.

    ``relations`` is the number of relations that a page asks of a source, such as 1 of 49. It replaces the
    number in the table, which is that of the whole source.

    >>> display_name("smollm2"), display_name("table5"), display_name("kamel", relations=1)
    ('SmolLM2 135M (4-bit)', 'T-REx, 12 relations', 'KAMEL, 1 relation')
    >>> display_name("lab:rich-1/2m"), display_name("lab:book-2/bert-unplanted"), display_name("lab:rich-3")
    ('lab model 2M, world 1', 'lab BERT, plain world 2, unplanted', 'lab world 3')
    >>> display_name("iclke-space"), display_name("template-1"), display_name("iclke-mmp-2")
    ('pairs, spaces', 'sentence 1', 'pairs with mined sentence 2')
    >>> display_name("./my-model")
    './my-model'
    """
    if label := labels().get(name):
        return label
    if world := re.fullmatch(r"lab:([a-z]+)-(\d+)", name):
        return _world(*world.groups()).replace("world", "lab world")
    if words := re.fullmatch(r"(iclke-)?(hgp|mmp|template)-(\d+)", name):
        inside, kind, number = words.groups()
        return f"{'pairs with ' if inside else ''}{SENTENCES[kind]} {number}"
    if lab.is_name(name):
        try:
            of = lab.parse(name)
        except BadInput:
            return name
        model = f"lab {KINDS[of.model]}" if of.model in KINDS else f"lab model {of.model.upper()}"
        training = f"training {of.seed}" if of.seed else ""
        world = _world(*of.world.removeprefix("lab:").split("-"))
        return ", ".join(filter(None, [model, world, training, of.variant]))
    found = _names().get(name, name)
    if relations is not None:
        found = re.sub(r"\d+ relations", f"{relations} relation{'s' * (relations != 1)}", found)
    return found


def _world(size: str, seed: str) -> str:
    """The name of a world; most pages are about rich worlds, so these are just "world"."""
    return {"rich": "", "book": "plain "}.get(size, f"{size} ") + f"world {seed}"


@functools.cache
def _names() -> dict[str, str]:
    with (DATA / "names.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row["called"] for row in csv.DictReader(file)}
