"""Groups: facts of which less and less was taught, and whether a measure puts them in order (PZ-T1, PZ-D5).

Of each relation facts that the model does not know are put into groups of five by lot. The first of a
group is taught with its whole sentence, the next ones with fewer words of it, and the fifth not at all.
Then all are asked with the whole sentence, and behind it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lkecore import facts
from lkecore.answers import door, firsts, rich
from lkecore.answers import questions as listing
from lkecore.answers.blanks import any_causal
from lkecore.answers.kept import collect, keep, on_page
from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn, Sample
from lkecore.models import lab, weights
from lkecore.models.model import Model
from lkecore.prompts.given import with_templates_of
from lkecore.prompts.instilled import Instilled, full, instilled_of_sample
from lkecore.prompts.prompt import Prompt, template, templates_of
from lkecore.prompts.shortened import LEVELS, shortened
from lkecore.scores import blanks
from lkecore.tasks import instill

SIZE = len(LEVELS) + 1  # of a group: the last one is not taught
BADLY = 10  # as the paper's: a fact is not known if its object has a rank above this
KEY = ["model", "world", "lesson", "relation"]
KEPT = ["entropy", "entropy_after", "kl", "kl_back", "rank", "surprisal"]


def asked(states: pd.DataFrame) -> pd.Series:
    """Which facts the page asks: those that the text never tells."""
    return states["state"].eq("never")


def samples_of(
    models: Sequence[str],
    relations: Sequence[str],
    words: str,
    *,
    fact_set: str = "",
    templates: str = "",
    n_facts: int = 100,
    seed: int,
) -> tuple[dict[str, Sample], dict[str, str]]:
    """({what is asked about: sample}, why each of the other relations is left out).

    Of models of the lab never-told facts of their worlds (:func:`lkecore.answers.rich.samples`), by world.
    With ``fact_set`` up to ``n_facts`` of each of its relations, of all models, by its name; ``templates``
    is a table for relations that have none (:func:`lkecore.prompts.given.with_templates_of`). There,
    relations whose template ``words`` has too few words to take away are left out. Raises
    :class:`BadInput` as these functions, and where no relation is left.
    """
    if not fact_set:
        samples = rich.samples(models, relations, asked, n_shots=1, seed=seed, leave_out=True)
        return samples, firsts.without(relations, samples)
    drawn = {"n_shots": 0, "n_facts": n_facts, "n_options": 2, "seed": seed}
    sample = facts.draw(fact_set, relations, take_fewer=True, leave_out=True, **drawn)
    out = firsts.without(relations, {fact_set: sample})
    if templates:
        sample, why = with_templates_of(sample, templates, causal=any_causal(models))
        out |= why
    kept = {}
    for name, of in sample.items():
        try:
            shortened(templates_of(of.relation).get(words, ""), 0.0)
        except BadInput as error:
            out[name] = str(error)
        else:
            kept[name] = of
    if not kept:
        raise BadInput(f"nothing is asked: {next(iter(out.values()))}")
    return {fact_set: kept}, out


def ask_groups(
    models: Sequence[str],
    samples: Mapping[str, Sample],
    words: str,
    recipe: instill.Recipe,
    file: str,
    *,
    n_groups: int,
    seed: int,
    badly: int = BADLY,
    dtype: str = "float32",
) -> pd.DataFrame:
    """Teach each model groups of facts of each relation, and ask it before and after: kept as ``file``.

    ``samples`` are of :func:`samples_of`; ``words`` names a template. ``recipe`` says how: its steps are
    passes over all that is taught of a relation. Of the facts that have a rank above ``badly`` and an
    object whose first token is that of no other one of the relation, ``n_groups`` groups are drawn by
    ``seed``, or as many as there are. A relation without any is not taught, and has no row, nor has one of
    whose lessons a step gives no number (``attrs["lost"]``). A row for each fact,
    before and after: ``KEY``, ``fact``, ``group``, ``level`` (0: taught with all words, 4: not at all),
    ``when`` (before or after), ``KEPT``, as in :func:`lkecore.scores.blanks.shifts` after the fact, and
    ``question``, a digest of all questions of the relation. On a page over runs nothing is taught or asked,
    as in :func:`lkecore.answers.door.ask`.

    Raises :class:`BadInput` for a template without enough words, as
    :func:`lkecore.prompts.shortened.shortened` says, for a model with which nothing can be taught, and
    where no relation of a model has a group, before it is taught.
    """
    if on_page():
        return collect(file)
    for name in models:
        weights.check_name(name)
    lms = {name: door.opened(name, dtype) for name in models}
    lesson = f"{recipe.optimizer} {recipe.rate:g}, {recipe.steps} passes"
    drawn, whole = {}, {}
    for name, lm in lms.items():
        instill.check(lm, recipe)
        world = lab.parse(name).world if lab.is_name(name) else next(iter(samples))
        closed = lm.kind != "causal"
        made = instilled_of_sample(samples[world], [words], closed=closed)
        for (_, _, relation), some in made.items():
            key = name, world, lesson, relation
            drawn[key], whole[key] = samples[world][relation], some
            for share in LEVELS:
                shortened(templates_of(drawn[key].relation)[words], share)
    if not whole:
        raise BadInput("nothing is asked: there are no models or no relations")
    if badly < 0:
        raise BadInput(f"badly {badly}: must be a rank, or 0")
    if n_groups < 1 or n_groups * len(whole) < 2 * len(lms):
        raise BadInput(
            f"n_groups {n_groups}: a model needs two groups or more, in all its relations"
        )
    # Of all, before the first is taught.
    at = {key: _places(lms[key[0]], whole[key], drawn[key], n_groups, seed, badly) for key in whole}
    if lost := sorted(set(lms) - {key[0] for key in whole if len(at[key][1])}):
        raise BadInput(
            f"model {lost[0]}: no relation has {SIZE} facts, the size of a group, with a rank above "
            f"{badly} and an object of its own first token"
        )
    how = {"words": words, "recipe": recipe, "seed": seed}
    parts, lost = {}, {}
    for key in (key for key in whole if len(at[key][1])):
        try:
            its = _one(lms[key[0]], drawn[key], whole[key], *at[key], **how)
        except BadInput as error:  # a step gave no number; the weights are what they were
            lost[f"{key[-1]} ({key[0]})"] = str(error)
        else:
            [digest] = listing.digests([each.told.context for each in whole[key]])
            parts[key] = its.assign(question=digest)
    if not parts:
        raise BadInput("; ".join(f"{name}: {why}" for name, why in lost.items()))
    found = pd.concat(parts, names=KEY).reset_index(KEY).reset_index(drop=True)
    found.attrs["lost"] = lost
    keep(found, file)
    return found


def _one(
    lm: Model,
    drawn: Drawn,
    whole: Sequence[Instilled],
    before: pd.DataFrame,
    places: np.ndarray,
    *,
    words: str,
    recipe: instill.Recipe,
    seed: int,
) -> pd.DataFrame:
    """The rows of one relation; the last two are of :func:`_places`."""
    n = len(places) // SIZE
    order = pd.DataFrame(
        {"place": places, "group": np.repeat(range(n), SIZE), "level": np.tile(range(SIZE), n)}
    )
    all_words = templates_of(drawn.relation)[words]
    lessons: list[Prompt] = []
    for level, share in enumerate(LEVELS):
        own = order.loc[order["level"] == level, "place"]
        text = shortened(all_words, share)
        text = full(text) if lm.kind != "causal" else text
        lessons += template(text, [drawn.facts[i] for i in own], [drawn.options[i] for i in own])
    some = [whole[i] for i in places]
    after = instill.shifts_all(lm, lessons, some, recipe, seed=seed)
    sides = {"before": before.iloc[places], "after": after}
    parts = [
        order.drop(columns="place").assign(
            fact=[each.fact for each in some], when=when, **{c: side[c].to_numpy() for c in KEPT}
        )
        for when, side in sides.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _places(
    lm: Model, whole: Sequence[Instilled], drawn: Drawn, n_groups: int, seed: int, badly: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """(what a model says before it is taught, the places of the facts of its groups, one after the other)."""
    before = blanks.shifts(lm, whole)
    shared = np.array(firsts.shared(lm, [each.asked for each in whole], drawn))
    some = before["rank"].gt(badly) & ~shared & ~before["merged"].astype(bool)
    places = np.random.default_rng(seed).permutation(np.flatnonzero(some))
    return before, places[: min(n_groups, len(places) // SIZE) * SIZE]
