"""Separators: one fact asked in many formats. What is asked, and tables of what was right.

A format is a sign inside a pair and a sign between pairs; the first of each is the paper's, a space. Beside
them stand templates, words in the place of the sign inside a pair. :func:`tables` gives what
:mod:`lkecore.answers.formats` works on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from lkecore import facts, prompts
from lkecore.answers import shipped
from lkecore.answers.door import opened
from lkecore.answers.draws import mean_of_draws
from lkecore.answers.kept import collect, keep
from lkecore.answers.templates import ON
from lkecore.errors import BadInput
from lkecore.facts import Drawn, Sample, world, world_text
from lkecore.facts.sample import max_options
from lkecore.models import lab
from lkecore.prompts import Prompt

LISTS, DRAWN = "told in lists", "drawn"  # groups of facts
BY = ("fact_set", "relation", "part", "pair_separator", "shot_separator", "template")
FORMAT, WORDS, ALONE = "format", "words", "words alone"  # parts: signs, templates, without shots
Signs = tuple[Sequence[str], Sequence[str]]  # inside a pair, between pairs
Tables = dict[tuple[str, str], pd.DataFrame]  # by model and group


def fact_sets(models: Sequence[str], fact_set: str) -> dict[str, str]:
    """{model: what it is asked about}: its world for a model of the lab, else ``fact_set``.

    Raises :class:`BadInput` for a model of the lab that has not read the facts that are asked.
    """
    for model in filter(lab.is_name, models):
        if lab.parse(model).variant == "unplanted":
            raise BadInput(f"{model} has not read the facts that are asked")
    return {m: lab.parse(m).world if lab.is_name(m) else fact_set for m in models}


def chains(
    families: Sequence[Sequence[str]], about: Mapping[str, str], *, page: bool
) -> list[list[str]]:
    """The families, from small to large, of which every model is there; ``about`` of :func:`fact_sets`.

    Raises :class:`BadInput` for a family that is no list of 2 models or more, one with an absent model
    (but for the run of a single one, a part of a page), and one that is asked different facts.
    """
    for family in map(list, families):
        if len(family) < 2 or len(set(family)) < len(family):
            raise BadInput(f"family {family}: must be 2 models or more, small to large")
        absent = [name for name in family if name not in about]
        if absent and (page or len(about) > 1):
            raise BadInput(f"families name {absent}; put them into models, too")
        if len({about[name] for name in family if name in about}) > 1:
            raise BadInput(f"family {family}: its models are asked different facts")
    return [list(family) for family in families if set(family) <= set(about)]


def draw(
    fact_set: str,
    relations: Sequence[str],
    *,
    n_shots: int,
    n_facts: int,
    n_options: int,
    seed: int,
) -> tuple[Sample, pd.DataFrame]:
    """What is asked about a fact set, and in which group each fact is.

    ``DRAWN`` are ``n_facts`` of each relation, as many in all, so that a mean over facts is one over
    relations. Of a world of the lab ``LISTS`` are, besides, all that its text tells in lists alone, 16
    times or more; a fact can be in both. A relation with too few objects for ``n_options`` gets as many
    options as it has. The second has the columns ``fact_set``, ``relation``, ``group``, ``fact``. Raises
    :class:`BadInput` for no relation, for one named twice, and for too few facts.
    """
    if not relations:
        raise BadInput(f"no relations are named for {fact_set}")
    if len(set(relations)) < len(relations):
        raise BadInput(f"relations {list(relations)}: must be named once each")
    told = set()
    if world.is_spec(fact_set):
        truth = world.states(fact_set).query("state == 'planted' and form == 'list'")
        told = set(truth.loc[truth["occurrences"] >= 16, "fact"])
    sample, rows = {}, []
    for name in relations:
        relation = facts.load(fact_set, name)
        train, test = facts.divide(relation)
        if not 2 <= n_facts <= len(test):
            raise BadInput(f"{n_facts} facts of {name}: 2 to {len(test)} can be")
        shots = facts.draw_shots(train, n_shots, seed)
        asked = facts.draw_facts(test, n_facts, seed)
        members = {DRAWN: [fact.id for fact in asked]}
        if world.is_spec(fact_set):
            members[LISTS] = [fact.id for fact in test if fact.id in told]
            asked = tuple(f for f in test if f.id in {*members[LISTS], *members[DRAWN]})
        n = min(n_options, max_options(relation))
        options = facts.draw_options(asked, relation.objects, n, seed)
        sample[name] = Drawn(relation, shots, asked, tuple(options), train, test)
        rows += [(fact_set, name, group, i) for group, ids in members.items() for i in ids]
    return sample, pd.DataFrame(rows, columns=["fact_set", "relation", "group", "fact"])


def draw_all(
    about: Mapping[str, str],
    *,
    outside: tuple[Sequence[str], int, int],
    in_lab: tuple[Sequence[str], int, int],
    n_options: int,
    seed: int,
) -> tuple[dict[str, Sample], pd.DataFrame]:
    """:func:`draw` for every fact set that a model is asked about: {fact set: sample}, and all groups.

    ``in_lab`` are relations, n_shots and n_facts for the worlds of the lab, ``outside`` for other facts.
    """
    samples, groups = {}, []
    for name in dict.fromkeys(about.values()):
        relations, n_shots, n_facts = in_lab if world.is_spec(name) else outside
        more = {"n_shots": n_shots, "n_facts": n_facts, "n_options": n_options, "seed": seed}
        samples[name], group = draw(name, relations, **more)
        groups.append(group)
    return samples, pd.concat(groups, ignore_index=True)


def signs_of(fact_sets: Iterable[str], *, outside: Signs, in_lab: Signs) -> dict[str, Signs]:
    """{fact set: signs}; :class:`BadInput` unless each place has the space first, then others, each once."""
    found = {name: in_lab if world.is_spec(name) else outside for name in fact_sets}
    for some in [some for signs in found.values() for some in signs]:
        if list(some[:1]) != [" "] or len(set(some)) < max(2, len(some)):
            raise BadInput(f"separators {list(some)}: ' ' first, then others, once")
    return found


def questions(
    samples: Mapping[str, Sample], signs: Mapping[str, Signs]
) -> dict[tuple, list[Prompt]]:
    """Every way to ask, under keys of ``BY``: all formats, and templates with and without shots.

    The templates are a relation's own in a world of the lab, else those that the paper prints for it, up
    to three by people and three mined from text; with shots they have a space between pairs (IC-S4).
    Raises :class:`BadInput` for a relation that has none of them.
    """
    found = {}
    for fact_set, relation, d in [(f, n, d) for f, s in samples.items() for n, d in s.items()]:
        for inside, between in product(*signs[fact_set]):
            look = {"pair_separator": inside, "shot_separator": between}
            made = prompts.many_shot(d.shots, d.facts, d.options, **look)
            found[fact_set, relation, FORMAT, inside, between, ""] = made
        of_paper = not world.is_spec(fact_set)
        names = prompts.HUMAN + prompts.MINED if of_paper else tuple(prompts.TEMPLATES)
        own = [name for name in names if name in prompts.templates_of(d.relation)]
        if not own:
            raise BadInput(
                f"relation {relation} of {fact_set}: the paper prints no template for it"
            )
        for name in own:
            for part, way in ((WORDS, f"iclke-{name}"), (ALONE, name)):
                made = prompts.asking(way, d.relation, d.shots, d.facts, d.options)
                found[fact_set, relation, part, "", "", name] = made
    return found


def redrawn(
    samples: Mapping[str, Sample], signs: Mapping[str, Signs], draws: Sequence[int]
) -> dict[tuple, list[Prompt]]:
    """:func:`questions` that show pairs, behind other shots: under keys of ``BY`` and the draw, its seed.

    Of the worlds of the lab, which stand in for each other, there are none.
    """
    found = {}
    for draw in draws:
        again = {
            fact_set: {
                name: replace(d, shots=facts.draw_shots(d.train, len(d.shots), draw))
                for name, d in sample.items()
            }
            for fact_set, sample in samples.items()
            if not world.is_spec(fact_set)
        }
        made = questions(again, signs)
        found |= {(*key, draw): some for key, some in made.items() if key[2] != ALONE}
    return found


def examples(questions: Mapping[tuple, Sequence[Prompt]]) -> pd.DataFrame:
    """How prompts end, with a space between pairs: ``fact_set``, ``inside``, ``prompt``.

    Of the first relation of each fact set, all signs and one template, with shots and without.
    """
    first: dict[str, str] = {}
    rows = []
    for (fact_set, relation, _, inside, between, said), some in questions.items():
        one = between == " " or said in (prompts.HUMAN[0], next(iter(prompts.TEMPLATES)))
        if one and first.setdefault(fact_set, relation) == relation:
            end = f"...{some[0].context[-48:]} ____"
            rows.append((fact_set, said or called(inside), repr(end)))
    return pd.DataFrame(rows, columns=["fact_set", "inside", "prompt"])


def kinds_of_templates() -> dict[str, str]:
    """{template: kind}: who wrote it, or for a relation of the lab whether its text has it."""
    kinds = dict.fromkeys(prompts.HUMAN, "written by people")
    kinds |= dict.fromkeys(prompts.MINED, "mined from text")
    own = list(prompts.TEMPLATES)[: world.TEMPLATES]
    return kinds | {n: "in the text" if n in own[: world.SEEN] else "held out" for n in own}


def templates(samples: Mapping[str, Sample]) -> pd.DataFrame:
    """The words behind the names of templates: ``fact_set``, ``relation``, ``template``, ``words``."""
    rows = [
        (fact_set, name, each, text)
        for fact_set, sample in samples.items()
        for name, drawn in sample.items()
        for each, text in prompts.templates_of(drawn.relation).items()
    ]
    return pd.DataFrame(rows, columns=["fact_set", "relation", "template", "words"])


def lengths(
    models: Sequence[str],
    asked: Mapping[tuple, Sequence[Prompt]],
    file: str,
    *,
    dtype: str,
    page: bool,
) -> pd.DataFrame:
    """Tokens of the shortest and of the longest context: ``model``, ``part``, ``min``, ``max``.

    Counted over the first fact of every relation and way to ask. ``asked`` is of :func:`questions`, of
    all fact sets; a model of the lab is asked its world. Kept as ``file``; with ``page``, read from the runs.
    Raises as :func:`lkecore.models.lab.told` where it has read another world than this version makes.
    """
    if page:
        return collect(file)
    rows = []
    for model in models:
        lm = opened(model, dtype)
        own = lab.parse(model).world if lab.is_name(model) else ""
        if own:
            lab.told(lm.path, own)
        for (fact_set, _, part, *_), some in asked.items():
            if fact_set == own or (not own and not world.is_spec(fact_set)):
                rows.append((model, part, len(lm.tokenizer(some[0].context)["input_ids"])))
    found = pd.DataFrame(rows, columns=["model", "part", "tokens"])
    found = found.groupby(["model", "part"], sort=False)["tokens"].agg(["min", "max"]).reset_index()
    keep(found, file)
    return found


def called(sign: str) -> str:
    """A separator as a page names it.

    >>> [called(sign) for sign in (" ", "\\n", ": ")]
    ['space', 'newline', ':']
    """
    return {" ": "space", "\n": "newline"}.get(sign, sign.strip() or repr(sign))


def formats(signs: Mapping[str, Signs]) -> pd.DataFrame:
    """Every format of each fact set, and whether the text of a world has such lists.

    Columns: ``fact_set``, ``pair_separator``, ``shot_separator``; ``times_inside`` and ``times_between``:
    how often the text of the world has each sign, spaces included (NaN for other facts, of which nobody
    knows the text); ``kind``: "in the text", if the text has lists that look like this; else "signs
    known", "new inside" or "new between", by the sign that it never has; or "nobody knows".
    """
    rows = []
    for fact_set, some in signs.items():
        in_lab = world.is_spec(fact_set)
        text = "\n".join(world_text.documents(world.world(fact_set))) if in_lab else ""
        for inside, between in product(*some):
            times, kind = (np.nan, np.nan), "nobody knows"
            if in_lab:
                times = text.count(inside), text.count(between)
                kind = "signs known" if times[1] else "new between"
                kind = kind if times[0] else "new inside"
                kind = "in the text" if (inside, between) in world_text.LISTS else kind
            rows.append((fact_set, inside, between, *times, kind))
    columns = ["fact_set", "pair_separator", "shot_separator", "times_inside", "times_between"]
    return pd.DataFrame(rows, columns=[*columns, "kind"])


def beside(
    answers: pd.DataFrame,
    draws: pd.DataFrame,
    groups: pd.DataFrame,
    ways: pd.DataFrame,
    cues: pd.DataFrame,
    profiles: Sequence[str],
    notebook: str,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The frames of a page, and below each what longer runs of the notebook on other facts ship.

    ``draws`` are answers behind other shots, if there are any: a fact counts with its mean over all draws
    (:func:`lkecore.answers.draws.mean_of_draws`), here and in longer runs. ``groups`` of :func:`draw`,
    ``ways`` of :func:`formats`, ``cues`` of :func:`lkecore.answers.rules.of_sets`. A model of these is named
    with its profile, as in "smollm2 on separators_trex", and the profile stands for its fact set; its facts
    are all ``DRAWN``. Raises :class:`BadInput` as :func:`lkecore.answers.shipped.read`, and for a profile
    that was asked about a world of the lab.
    """
    way = ["model", *BY]
    frames = [[mean_of_draws(answers, draws, way)], [groups], [ways], [cues]]
    for name in profiles:
        its, about = shipped.read(name, notebook)
        if worlds := sorted(filter(world.is_spec, its["fact_set"].unique())):
            raise BadInput(
                f"results {name}: are about {worlds[0]}, and stand beside no other facts"
            )
        given, others = about["parameters"], its.iloc[:0]
        if given.get("n_redraws"):
            others, _ = shipped.read(name, notebook, apart="draws")
        its = mean_of_draws(its, others, way)
        its = its.assign(model=its["model"] + ON + name, fact_set=name)
        facts_of = its[["fact_set", "relation", "fact"]].drop_duplicates()
        signs = given["pair_separators"], given["shot_separators"]
        rules_of, _ = shipped.read(name, notebook, apart="cues")
        more = its, facts_of.assign(group=DRAWN), formats({name: signs})
        for frame, own in zip(frames, (*more, rules_of.assign(fact_set=name)), strict=True):
            frame.append(own)
    every, members, signed, known = (pd.concat(each, ignore_index=True) for each in frames)
    return every, members, signed, known


def tables(
    answers: pd.DataFrame, groups: pd.DataFrame, formats: pd.DataFrame, values: str = "correct"
) -> tuple[Tables, Tables]:
    """Right (1) or wrong (0) of a model and a group: a row for each way, a column for each fact.

    Of several draws of shots it is the mean over them, in [0, 1]; with ``values="first_draw"`` the answer of
    the first one. ``answers`` have the columns of ``BY``; ``groups`` of :func:`draw`, ``formats`` of
    :func:`formats`. The first has the formats, in their order; the second the templates, under (template,
    part). Columns are (relation, fact), in the order of the answers: a bootstrap draws by place.
    """
    grouped = answers.merge(groups, on=["fact_set", "relation", "fact"])
    signs = ["pair_separator", "shot_separator"]
    right, spoken = {}, {}
    for model in answers["model"].unique():
        for group, part in grouped[grouped["model"] == model].groupby("group"):
            look = {"columns": ["relation", "fact"], "values": values}
            said = part["part"] != FORMAT
            wide = part[~said].pivot(index=signs, **look)
            order = formats[formats["fact_set"] == part["fact_set"].iloc[0]]
            right[model, group] = wide.loc[pd.MultiIndex.from_frame(order[signs])].astype(float)
            wide = part[said].pivot(index=["template", "part"], **look)
            spoken[model, group] = wide.astype(float)
    return right, spoken
