"""EIC-LKE: many questions in one long prompt, between its shots."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn, Sample
from lkecore.facts.fact import Fact
from lkecore.facts.sample import draw_facts
from lkecore.prompts.prompt import Prompt, check_between, check_not_shown, many_shot, template

SPACE_TOKEN = "eiclke-space-token"


@dataclass(frozen=True)
class Slots:
    """Long prompts with several questions in each, all about the same facts (EIC-LKE, IC-S2).

    ``texts[k]`` is prompt k in pieces, a subject and an object in turn, perhaps with a space between them.
    Its piece ``places[j]`` is an option of fact j: the option ``orders[j][k]`` of ``asked[j]``. So all
    prompts together ask every option of every fact once.
    """

    texts: tuple[tuple[str, ...], ...]
    places: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]
    asked: tuple[Prompt, ...]  # its context is the subject alone


def slots(
    shots: Sequence[Fact],
    facts: Sequence[Fact],
    options: Sequence[Sequence[str]],
    *,
    first: int = 50,
    every: int = 5,
    pair_separator: str = " ",
    shot_separator: str = ", ",
    space_token: bool = False,
    seed: int = 0,
) -> list[Slots]:
    r"""EIC-LKE (IC-S2): the shots as one prompt, with a question after the ``first`` and ``every`` few.

    With the paper's 100 shots there are ten slots, after shots 50, 55, ... 95. Ten facts are asked by as many
    prompts as a fact has options. In each prompt a slot has one option of one fact, in an order that ``seed``
    and the fact's id shuffle (IC-Q3). The pair in a slot is context for all that follows, and mostly wrong.

    The space inside a pair belongs to the object, as in IC-LKE. With ``space_token`` it is a piece of its own
    between subject and object, so that it has tokens of its own (the other reading of the paper's C.2), and
    no option begins with it. All facts need the same number of options; where facts run out, the last prompts
    have fewer slots.

    Raises :class:`BadInput` for a fact that is shown and asked, for different numbers of options, for too few
    shots for a single slot, and with ``space_token`` for a ``pair_separator`` other than " ".

    >>> shots = [Fact(name, "born", name, year) for name, year in
    ...          [("Feynman", "1918"), ("Heisenberg", "1901"), ("Curie", "1867")]]
    >>> asked = [Fact("3", "born", "Einstein", "1879"), Fact("4", "born", "Louis", "1892")]
    >>> years = [("1879", "1880"), ("1850", "1892")]
    >>> only, = slots(shots, asked, years, first=1, every=1, shot_separator=" ", seed=2)
    >>> sorted("".join(text) for text in only.texts)[0]
    'Feynman 1918 Einstein 1879 Heisenberg 1901 Louis 1850 Curie 1867'
    """
    if first < 1 or every < 1:
        raise BadInput(f"first is {first} and every {every}, but both must be 1 or more")
    behind = range(first, len(shots), every)
    if not behind:
        raise BadInput(
            f"the first question stands behind shot {first}, which needs {first + 1} shots; "
            f"there are {len(shots)}"
        )
    check_between(shot_separator)
    counts = sorted({len(names) for names in options})
    if len(counts) > 1:
        raise BadInput(f"facts have {counts} options, but all need the same number")
    if space_token and pair_separator != " ":
        raise BadInput(f"pair separator {pair_separator!r} must be ' ' to be a token of its own")
    asked = many_shot((), facts, options, pair_separator=pair_separator)
    shown = {shot.subject for shot in shots}
    for fact in facts:
        check_not_shown(fact, shown)
    pairs = template(f"[X]{pair_separator}[Y]", shots, [(shot.object,) for shot in shots])
    between: tuple[str, ...] = ()
    if space_token:
        between = (" ",)
        asked, pairs = (
            [replace(prompt, continuations=prompt.options) for prompt in some]
            for some in (asked, pairs)
        )
    size = len(between) + 2  # pieces of a pair
    shown_subjects = [(shot_separator if i else "") + p.context for i, p in enumerate(pairs)]
    made = []
    for at in range(0, len(asked), len(behind)):
        group = asked[at : at + len(behind)]
        orders = [_shuffled(prompt, seed) for prompt in group]
        # The item at each place of the long prompt: a shot, or a question and its option. Prompts share their
        # pieces: of 50 relations with 400 facts each there are 44 million.
        items: list[tuple[str, tuple[str, ...], tuple[int, ...]]] = []
        places = []
        for n, (subject, pair) in enumerate(zip(shown_subjects, pairs, strict=True), 1):
            items.append((subject, pair.continuations, (0,) * counts[0]))
            if n in behind and (j := behind.index(n)) < len(group):
                places.append(size * len(items) + size - 1)
                question = shot_separator + group[j].context
                items.append((question, group[j].continuations, orders[j]))
        texts = tuple(
            tuple(
                piece
                for subject, objects, order in items
                for piece in (subject, *between, objects[order[k]])
            )
            for k in range(counts[0])
        )
        made.append(Slots(texts, tuple(places), tuple(orders), tuple(group)))
    return made


def slots_of_sample(
    sample: Sample,
    *,
    n_shots: int,
    first: int,
    every: int,
    seed: int,
    n_facts: int | None = None,
    space_token: bool = False,
) -> dict[tuple[str, str], list[Slots]]:
    """EIC-LKE's questions about a sample: {("eiclke", relation): groups of prompts}.

    With ``space_token``, of :func:`slots`, the estimator is "eiclke-space-token". ``seed`` draws the pairs
    from all facts to show: ``n_shots`` of them, or all there are. With the seed of the sample they begin with
    those of IC-LKE, as long as no subject has two objects. (The paper shows all training facts, so such a
    subject occurs twice here.) All facts of the sample are asked, or ``n_facts`` of them, drawn by ``seed``
    (fewer where there are fewer). ``first``, ``every`` and errors as in :func:`slots`.
    """
    made = {}
    for name, drawn in sample.items():
        options = dict(zip(drawn.facts, drawn.options, strict=True))
        facts = drawn.facts
        if n_facts is not None:
            in_order = draw_facts(drawn.test, len(drawn.test), seed)
            facts = [fact for fact in in_order if fact in options][:n_facts]
        offered = [options[fact] for fact in facts]
        shots = _pairs(drawn, n_shots, seed)
        look = {"first": first, "every": every, "space_token": space_token, "seed": seed}
        made[SPACE_TOKEN if space_token else "eiclke", name] = slots(shots, facts, offered, **look)
    return made


def alone_of_sample(
    sample: Sample, *, n_shots: int, first: int, every: int, seed: int
) -> dict[tuple[str, str], list[Prompt]]:
    """The same without the other questions: {("iclke-comma", relation): prompts}.

    Each fact of :func:`slots_of_sample` is asked by itself, after the pairs that come before its slot there,
    with EIC-LKE's comma between them. Parameters as there.
    """
    found = {}
    for name, drawn in sample.items():
        pairs = _pairs(drawn, n_shots, seed)
        behind = range(first, len(pairs), every)
        found["iclke-comma", name] = [
            prompt
            for i, (fact, names) in enumerate(zip(drawn.facts, drawn.options, strict=True))
            for prompt in many_shot(
                pairs[: behind[i % len(behind)]], [fact], [names], shot_separator=", "
            )
        ]
    return found


def example_of_slots(group: Slots, n_pieces: int = 35) -> str:
    """The middle of a group's first prompt, from just before its first slot; options in brackets."""
    marked = [
        f"{' ' * piece.startswith(' ')}[{piece.strip()}]" if i in group.places else piece
        for i, piece in enumerate(group.texts[0])
    ]
    start = max(0, group.places[0] - 5)
    return f"...{''.join(marked[start : start + n_pieces])}..."


def _pairs(drawn: Drawn, n_shots: int, seed: int) -> tuple[Fact, ...]:
    return draw_facts(drawn.train, n_shots, seed)


def _shuffled(prompt: Prompt, seed: int) -> tuple[int, ...]:
    """The order of a fact's options in the prompts of a group."""
    digest = hashlib.sha256(f"{prompt.relation}\x1f{prompt.fact}".encode()).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])
    return tuple(int(i) for i in rng.permutation(len(prompt.options)))
