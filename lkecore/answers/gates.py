"""Gates: whether a model of a rich world can do what is later taken for granted of it.

An estimator that states a fact in the prompt says nothing of a model that cannot repeat what it has just
read, and one that asks in sentences says nothing of a model that reads none. So each model is asked
first what it can do. The least shares were set on the development world.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill

import numpy as np
import pandas as pd

from lkecore.answers import repeats
from lkecore.answers.door import opened
from lkecore.answers.shipped import read
from lkecore.answers.written import check_length
from lkecore.errors import BadInput
from lkecore.facts import rich, rich_skills, rich_text, rich_wordings, worlds
from lkecore.facts.rich_skills import Question
from lkecore.intervals import proportion
from lkecore.models import lab as models_of_lab
from lkecore.prompts.prompt import Prompt

PROFILE, PAGE = "lab_gates", "59_lab_gates"
BY = ("world", "gate", "relation")  # of questions, for `lkecore.answers.written.write`
OFTEN = (64, 16)  # tellings in sentences, and more: facts that a model that reads has learned
# What is asked, and the least share of right answers; what a model reads must be above it.
LEAST = {"same": 0.9, "other": 0.8, "instruction": 0.9, "list": 0.95}
READS = 0.5
READING = "template-1 (64)"  # of the four about reading: who misses it is in no claim on size
SAYS = {
    "same": "repeats a statement",
    "other": "in other words",
    "instruction": "follows an instruction",
    "list": "goes on with a list",
}


def questions(
    specs: Sequence[str], n: int, seed: int = 0
) -> dict[tuple[str, str, str], list[Prompt]]:
    """The questions of all gates about some rich worlds: {(world, gate, relation): prompts}.

    Gates are those of :class:`lkecore.facts.rich_skills.Question`, ``n`` questions each, and four about
    reading: facts that the text tells 64 (or 16) times and more in sentences alone, ``n`` at most drawn by
    ``seed``, asked by template-1 ("template-1 (64)") and by a template that tells them ("as told (64)").
    The options of a prompt are its right answers, of which the first is ``gold``: nothing is ranked.
    Raises :class:`BadInput` for a world that is not rich.
    """
    found: dict[tuple[str, str, str], list[Prompt]] = {}
    for spec in dict.fromkeys(specs):
        if not worlds.is_rich(spec):
            raise BadInput(f"world {spec}: gates are measured on rich worlds alone")
        shown = rich_skills.gates(rich.world(spec), n)
        for i, each in enumerate([*shown, *_of_facts(rich_text.states(spec), n, seed)]):
            about = (f"{each.gate} {i}", each.relation, each.subject, each.prompt)
            words = tuple(f" {name}" for name in each.answers)
            prompt = Prompt(*about, options=each.answers, continuations=words, gold=0)
            found.setdefault((spec, each.gate, each.relation), []).append(prompt)
    return found


def counts(asked: Mapping[tuple[str, str, str], Sequence[Prompt]]) -> pd.DataFrame:
    """How many questions of each gate are asked about each world: a row a gate, a column a world."""
    rows = [(world, gate, len(some)) for (world, gate, _), some in asked.items()]
    found = pd.DataFrame(rows, columns=["world", "gate", "n"])
    wide = found.pivot_table(index="gate", columns="world", values="n", aggfunc="sum", sort=False)
    return wide.fillna(0).astype(int)


def own_world(models: Sequence[str]) -> dict[str, list[str]]:
    """The world that each model has read, for ``only`` of :func:`lkecore.answers.written.write`."""
    return {name: [models_of_lab.parse(name).world] for name in models}


def check(
    models: Sequence[str],
    asked: Mapping[tuple[str, str, str], Sequence[Prompt]],
    *,
    n_tokens: int,
    dtype: str = "float32",
) -> None:
    """Refuse ``n_tokens`` new tokens that would cut an answer off.

    Raises :class:`BadInput`, and as :func:`lkecore.answers.door.opened` does.
    """
    for name in models:
        spec = models_of_lab.parse(name).world
        mine = [prompt for key, some in asked.items() if key[0] == spec for prompt in some]
        names = {option for prompt in mine for option in prompt.options}
        check_length(opened(name, dtype), names, n_tokens, what="an answer")


def counted(
    written: pd.DataFrame, asked: Mapping[tuple[str, str, str], Sequence[Prompt]]
) -> pd.DataFrame:
    """How many right answers each model has at each gate: a row for each ``model`` and ``gate``, in order.

    ``written`` are outputs of :func:`lkecore.answers.written.write` to questions ``asked``. ``n`` questions;
    ``right``: how many outputs begin with a right answer (:func:`begins`).
    """
    each = written.assign(hit=_hits(written, asked)).groupby(["model", "gate"], sort=False)["hit"]
    return each.agg(n="size", right="sum").reset_index()


def rated(counts: pd.DataFrame) -> pd.DataFrame:
    """Which gates are passed: rows of :func:`counted` with ``share``, ``least`` and ``passed``.

    ``share`` of right answers is an Interval (Wilson; questions count as independent), ``least`` the least
    share. A gate is ``passed`` by the share itself, not by its interval, and of what is read only by a
    share above the least.
    """
    pairs = zip(counts["right"], counts["n"], strict=True)
    found = counts.assign(
        share=[proportion(int(right), int(n)) for right, n in pairs],
        least=[LEAST.get(gate, READS) for gate in counts["gate"]],
    )
    share, skills = counts["right"] / counts["n"], counts["gate"].isin(list(LEAST))
    return found.assign(passed=np.where(skills, share >= found["least"], share > found["least"]))


def by_model(rated: pd.DataFrame) -> pd.DataFrame:
    """Gates of :func:`rated` as a table: a row a model, and a column a gate, with the share of right answers.

    Behind a share that does not pass stands an x. The first row has the least shares.
    """
    said = [f"{row.right / row.n:.2f}{'' if row.passed else ' x'}" for row in rated.itertuples()]
    wide = rated.assign(said=said).pivot(index="model", columns="gate", values="said")
    wide = wide.loc[rated["model"].unique(), rated["gate"].unique()].fillna("-")
    least = rated.groupby("gate")["least"].first().map("{:g}".format)
    first = least[wide.columns].to_frame("at least").T
    return pd.concat([first, wide]).rename(columns=SAYS).rename_axis("model").reset_index()


def wrong(
    written: pd.DataFrame, asked: Mapping[tuple[str, str, str], Sequence[Prompt]]
) -> pd.DataFrame:
    """What wrong outputs begin with, by ``model`` and ``gate``: counts of ``another object`` and of ``none``.

    Another object is one of the same world and relation that is a right answer elsewhere.
    """
    names: dict[tuple[str, str], set[str]] = {}
    for (world, _, relation), some in asked.items():
        names.setdefault((world, relation), set()).update(
            name for prompt in some for name in prompt.options
        )
    rows = written[~_hits(written, asked)]
    keys = zip(rows["world"], rows["relation"], strict=True)
    other = [begins(text, sorted(names[key])) for text, key in zip(rows["text"], keys, strict=True)]
    rows = rows.assign(says=np.where(other, "another object", "none"))
    wide = rows.pivot_table(
        index=["model", "gate"], columns="says", values="fact", aggfunc="count", sort=False
    )
    wide = wide.reindex(columns=["another object", "none"]).fillna(0).astype(int)
    return wide.rename(index=SAYS, level="gate").reset_index()


def one_of_each(learned: pd.DataFrame) -> pd.DataFrame:
    """Curves of :func:`lkecore.answers.readers.learning` with ``kind_of_model``: one model of a world.

    Decoders come first, from the smallest to the largest, and all kinds in the order of their worlds.
    """
    names = [models_of_lab.parse(name) for name in learned["model"]]
    plain = [not name.variant and not name.seed for name in names]
    found = learned.assign(kind_of_model=[name.model for name in names])[plain]
    names = sorted(found["model"].unique(), key=_place)
    parts = [found[found["model"] == name] for name in names]
    return pd.concat(parts, ignore_index=True)


def _place(name: str) -> tuple[bool, int, str]:
    decoder = models_of_lab.recipe(name).kind == "causal"
    return not decoder, models_of_lab.size(name), name


def at_blanks(specs: Sequence[str]) -> pd.DataFrame:
    """The gate of repeating as models that fill blanks pass it or miss it, as :func:`rated`: a row a model.

    Of all models of some worlds whose answers at blanks ship (:func:`lkecore.answers.repeats.at_blanks`),
    decoders too, whose gate is what they write. The least share is the same.
    """
    return rated(repeats.at_blanks(specs).assign(gate="same"))


def missed(models: Sequence[str]) -> str:
    """Which gates models miss, a paragraph each, by the answers that ship; for pages that rest on them.

    Twins and models that were not measured are left out. Models that fill blanks have one gate.
    """
    lines = []
    for model in dict.fromkeys(models):
        own = _own(model)
        if own.empty or model.endswith("-unplanted"):
            continue
        lacks = [
            f"{SAYS.get(row.gate, row.gate)} {row.share.estimate:.2f} (least {row.least:g})"
            for row in own[~own["passed"]].itertuples()
        ]
        line = f"gates that {model} misses: {', '.join(lacks) or 'none'}"
        lines.append(fill(line, 72, subsequent_indent="  "))
    return "\n".join(lines)


def misses(model: str, gate: str) -> bool:
    """Whether a model misses a gate, by the answers that ship; False of one that was not measured at it."""
    rows = _own(model)
    return bool((rows["gate"].eq(gate) & ~rows["passed"]).any())


def _own(model: str) -> pd.DataFrame:
    """The gates of one model by the answers that ship: of what it writes, or of a blank that it fills."""
    rows = _that_ship()
    if models_of_lab.is_name(model) and models_of_lab.recipe(model).kind != "causal":
        rows = at_blanks([models_of_lab.parse(model).world])
    return rows[rows["model"] == model]


@functools.lru_cache(maxsize=1)
def _that_ship() -> pd.DataFrame:
    """The gates of all models that were measured (:func:`rated`), for those who change none of it."""
    return rated(read(PROFILE, PAGE, apart="gates")[0])


def able(models: Sequence[str], gates: Sequence[str]) -> list[str]:
    """The models that miss none of some gates (:func:`misses`)."""
    return [name for name in models if not any(misses(name, gate) for gate in gates)]


def sentences(rated: pd.DataFrame) -> dict[str, str]:
    """What came out, in words, of models that were told facts: ``repeats``, ``lists`` and ``reads``."""
    of = rated[~rated["model"].str.endswith("-unplanted")]

    def passing(gate: str) -> str:
        own = of[of["gate"] == gate]
        share, least = own["right"] / own["n"], own["least"].iloc[0]
        passed = f"{own['passed'].sum()} of {len(own)} models pass"
        return f"{passed} ({share.min():.2f} to {share.max():.2f}; asked for: {least:g})"

    read = [gate for gate in of["gate"].unique() if gate not in LEAST]
    facts = "; ".join(f"{gate}, {passing(gate)}" for gate in read[:2])
    return {
        "repeats": f"Who repeats what the prompt has just said? {passing('same')}.",
        "lists": f"Who goes on with a list of what no text lists? {passing('list')}.",
        "reads": f"Facts told often in sentences alone, by a template: {facts}." if read else "-",
    }


def _hits(
    written: pd.DataFrame, asked: Mapping[tuple[str, str, str], Sequence[Prompt]]
) -> np.ndarray:
    answers: dict[tuple[str, ...], Sequence[str]] = {}
    for key, some in asked.items():
        world, gate, relation = key
        # A list says what kind of object comes next, and not of which relation.
        kind = rich_skills.of_kind(rich.world(world), relation) if gate == "list" else ()
        answers |= {(*key, prompt.fact): (*prompt.options, *kind) for prompt in some}
    keys = zip(*(written[name] for name in [*BY, "fact"]), strict=True)
    hits = [begins(text, answers[key]) for text, key in zip(written["text"], keys, strict=True)]
    return np.array(hits, dtype=bool)


def begins(text: str, answers: Sequence[str]) -> bool:
    """Whether a text begins with one of the answers as whole words; space in front does not count.

    A document of the lab ends with a token that outputs do not show, so a capital letter right behind a word
    begins the next document. No name of the lab has one inside a word.

    >>> [begins(text, ["Port Kel", "Ro"]) for text in (" Port Kel.", "Ro is", "Rom", "Kel", "")]
    [True, True, False, False, False]
    >>> begins(" Port KelThe author of Um", ["Port Kel"])
    True
    """
    start = text.lstrip()
    rests = [start[len(answer) :] for answer in answers if start.startswith(answer)]
    return any(rest[:1].isupper() or not re.match(r"\w", rest) for rest in rests)


def _of_facts(told: pd.DataFrame, n: int, seed: int) -> Iterator[Question]:
    """Questions about facts that sentences alone tell often, in template-1 and in one that tells them."""
    of = (told["split"] == "test") & (told["state"] == "planted") & (told["form"] == "sentence")
    of &= told["n_objects"] == 1  # else another answer may be right, too
    for least in OFTEN:
        rng = np.random.default_rng([seed, least])
        facts = told[of & (told["sentences"] >= least)]
        some = facts.iloc[np.sort(rng.permutation(len(facts))[:n])]
        for way in ("template-1", "as told"):
            for fact in some.itertuples():
                objects = tuple(name for name in (fact.object, fact.object_alias) if name)
                all_ = rich_wordings.about(fact.relation).templates
                tells = [1] if way == "template-1" else list(map(int, fact.templates.split()))
                # What comes after the object cannot be given to a model that reads from left to right.
                open_ = [all_[i - 1] for i in tells if all_[i - 1].endswith(" [Y]")]
                if open_:
                    template = open_[rng.integers(len(open_))]
                    prompt = template.removesuffix(" [Y]").replace("[X]", fact.subject)
                    yield Question(f"{way} ({least})", fact.relation, fact.subject, prompt, objects)
