"""``lke score``: ask one model about one relation."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from lkecore import __version__, facts
from lkecore.errors import BadInput, nearest
from lkecore.progress import say_json
from lkecore.prompts.prompt import ESTIMATORS, SEPARATORS, TEMPLATES, pairs_shown
from lkecore.stats.rules import BLIND, RULES
from lkecore.storage import as_parquet, write_whole

# "ic-lke" is iclke-space, and the only name that takes other separators.
ICLKE, EICLKE = "ic-lke", "eiclke"
# A template of which every token counts, wherever its object is.
STATEMENTS = {name.replace("template", "statement"): name for name in TEMPLATES}
EVERY = (ICLKE, *ESTIMATORS, *STATEMENTS, EICLKE, *RULES)
OF_MODELS = {
    "name": "--model",
    "dtype": "--dtype",
    "device": "--device",
    "prefix": "--prefix",
    "memory_gb": "--memory-gb",
}


def _separator(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    r"""The separator with line breaks and tabs for \n and \t, which shells make it hard to type."""
    return value and value.replace("\\n", "\n").replace("\\t", "\t")


@click.command()
@click.option(
    "--facts",
    "spec",
    default="atlas",
    show_default=True,
    help="atlas, nobel, lab:book-1, hub:org/name, folder or file",
)
@click.option("--relation", required=True, help="a relation of the fact set (see lke facts)")
@click.option("--model", "name", default="smollm2", show_default=True, help="see lke models")
@click.option(
    "--estimator",
    default=ICLKE,
    show_default=True,
    help=f"{', '.join((ICLKE, *SEPARATORS, EICLKE))}; a template of the relation, such as template-1 or "
    "hgp-1; all of its sentence, statement-1; such a template behind iclke-; or a rule, which asks no "
    f"model: {', '.join(RULES)}",
)
@click.option(
    "--shots",
    default=50,
    show_default=True,
    help="facts shown as examples; templates show none",
)
@click.option(
    "--eic-shots",
    type=int,
    help="of eiclke: pairs of one prompt, at most; default: 100; the result says how many there were",
)
@click.option("--eic-every", type=int, help="of eiclke: pairs between two questions; default: 5")
@click.option(
    "--options",
    "of_options",
    default="100",
    show_default=True,
    help="options of a fact, or all: its answer space, or all objects that are not true as well",
)
@click.option("--seed", default=0, show_default=True, help="draws shots, facts and options")
@click.option("--limit", type=int, help="ask at most so many facts (a random sample)")
@click.option("--pair-separator", callback=_separator, help="of ic-lke; default: one space")
@click.option(
    "--shot-separator",
    callback=_separator,
    help=r"of ic-lke; default: one space. In both separators \n stands for a line break, \t for a tab",
)
@click.option("--dtype", default="float32", show_default=True, help="float32, bfloat16 or float16")
@click.option("--device", help="cpu, cuda, cuda:N or auto; default: cuda where there is one")
@click.option(
    "--prefix",
    default="default",
    show_default=True,
    help="tokens in front of every text: default, those that a causal model's tokenizer puts there, or none",
)
@click.option("--memory-gb", type=float, help="bound of working memory in GiB, without weights")
@click.option(
    "--split",
    default="test",
    show_default=True,
    help="the facts that are asked; all of them: all, where none is shown",
)
@click.option("--no-cache", is_flag=True, help="neither read nor keep computed scores")
@click.option("--out", required=True, help="folder for the result")
def score(
    spec: str,
    relation: str,
    name: str,
    estimator: str,
    shots: int,
    eic_shots: int | None,
    eic_every: int | None,
    of_options: str,
    seed: int,
    limit: int | None,
    pair_separator: str | None,
    shot_separator: str | None,
    dtype: str,
    device: str | None,
    prefix: str,
    memory_gb: float | None,
    split: str,
    no_cache: bool,
    out: str,
) -> None:
    """Ask one model about one relation, with any estimator; models may be of any kind.

    Writes OUT/options.parquet (one row for each fact and option) and prints one line of JSON.

    A rule (lkecore.stats.rules) asks no model: its rows have the same columns, but share, a share of its
    guesses, replaces log-probabilities.
    """
    if estimator not in EVERY:
        raise BadInput(f"unknown estimator {estimator!r}; {nearest(estimator, EVERY)}")
    if estimator != ICLKE and (pair_separator, shot_separator) != (None, None):
        raise BadInput(
            f"{estimator} has its own separators; --pair-separator and --shot-separator are for {ICLKE}"
        )
    if estimator != EICLKE and (eic_shots, eic_every) != (None, None):
        raise BadInput(f"--eic-shots and --eic-every are for {EICLKE}, not for {estimator}")
    if of_options != "all" and not of_options.lstrip("-").isdecimal():
        raise BadInput(f"--options must be a number or all, found {of_options!r}")
    if estimator in STATEMENTS and prefix == "none":
        raise BadInput(
            f"{estimator} needs a token in front of its first one, and --prefix none has none"
        )
    if shots < 0:
        raise BadInput(f"shots must be 0 or more, found {shots}")
    if seed < 0:
        raise BadInput(f"seed must be 0 or more, found {seed}")
    inside, between = SEPARATORS.get(estimator, (None, None))
    if estimator == ICLKE:
        inside, between = SEPARATORS["iclke-space"]
    pair_separator = inside if pair_separator is None else pair_separator
    shot_separator = between if shot_separator is None else shot_separator
    if estimator == EICLKE:
        eic_shots = 100 if eic_shots is None else eic_shots
        eic_every = 5 if eic_every is None else eic_every
    from lkecore import prompts
    from lkecore.models import weights

    if estimator in RULES:
        source = click.get_current_context().get_parameter_source
        given = [o for key, o in OF_MODELS.items() if source(key) is ParameterSource.COMMANDLINE]
        if given:
            raise BadInput(f"{estimator} asks no model; {given[0]} is for estimators that do")
    else:
        weights.check_name(name)
    chosen = facts.load(spec, relation)
    none_shown = estimator in BLIND or not pairs_shown([STATEMENTS.get(estimator, estimator)], 1)
    if split == "all" and not none_shown:
        raise BadInput(f"--split all leaves no facts to show, and {estimator} shows some")
    train, test = ((), chosen.facts) if split == "all" else facts.divide(chosen, split)
    split_drawn = split != "all" and not facts.has_splits(chosen)
    rows = {"rows_read": chosen.read, "rows_repeated": chosen.repeated}
    rows |= {"rows_left_out": chosen.left_out, "files_unread": facts.unread(spec)}
    shots = 0 if none_shown else shots
    # EIC-LKE draws its pairs below: its shots are those before its first question.
    shown = () if estimator == EICLKE else facts.draw_shots(train, shots, seed)
    asked = facts.draw_facts(test, limit, seed)
    n_options = int(of_options) if of_options != "all" else None
    options = facts.draw_options(asked, chosen.objects, n_options, seed)
    if estimator in RULES:
        drawn = {"facts": spec, "relation": relation, "shots": shots, "options": n_options or "all"}
        drawn |= {"seed": seed, "limit": limit, "split": split}
        drawn |= {"split_drawn": split_drawn, **rows, "facts_digest": chosen.digest}
        _by_rule(estimator, shown, asked, options, out, drawn)
        return
    if pair_separator is not None and shot_separator is not None:
        questions = prompts.many_shot(
            shown, asked, options, pair_separator=pair_separator, shot_separator=shot_separator
        )
    elif estimator == EICLKE:
        pairs = facts.draw_facts(train, eic_shots, seed)
        eic_shots = len(pairs)  # fewer where there are no more to show
        questions = prompts.slots(pairs, asked, options, first=shots, every=eic_every, seed=seed)
    else:
        questions = prompts.asking(
            STATEMENTS.get(estimator, estimator), chosen, shown, asked, options
        )

    from lkecore import models, stats
    from lkecore.answers import questions as listing
    from lkecore.scores import kinds, slots, tree
    from lkecore.scores.passes import bound_of
    from lkecore.stats import choice
    from lkecore.tasks import served, statements

    bound_of(memory_gb)
    target = _target(out)
    model = models.open_model(name, dtype=dtype, device=device, prefix=prefix)
    how = {"use_cache": not no_cache}
    if estimator in STATEMENTS:
        model, questions = statements.behind_a_beginning(model), statements.whole(questions)
    if weights.is_served(name) and estimator != EICLKE:
        scored = served.option_logprobs(model, questions, **how)
    elif estimator == EICLKE:
        scored = slots.slot_logprobs(model, questions, memory_gb=memory_gb, **how)
    elif model.kind == "causal":
        scored = tree.option_logprobs(model, questions, memory_gb=memory_gb, **how)
    elif memory_gb is None:
        scored = kinds.option_logprobs(model, questions, **how)
    else:
        raise BadInput(f"--memory-gb is for causal models, and {name} is {model.kind}")
    right = choice.answers(scored.frame)["correct"]
    found = stats.estimate(right.to_frame(), over="share").iloc[0]

    asked_as = listing.named(questions).drop_duplicates("fact").set_index("fact")["question"]
    rows_of = {"question": scored.frame["fact"].map(asked_as), "relation": relation}
    rows_of |= {"model": name, "estimator": estimator}
    _write(
        target,
        scored.frame.assign(**rows_of),
        lost="the scores are lost (--no-cache)" if no_cache else "",
    )
    summary = {
        "accuracy": found["estimate"],
        "interval": [found["low"], found["high"]],
        "interval_method": "Wilson, 95%",
        "n_facts": len(asked),
        "seconds": round(scored.seconds, 3),
        "load_seconds": round(model.load_seconds, 3),
        "tokens_forwarded": scored.tokens_forwarded,
        "from_cache": scored.cached,
        "merged_at_border": scored.merged,
        "options_left_out": scored.left_out,
        "facts": spec,
        "relation": relation,
        "model": name,
        "estimator": estimator,
        "shots": shots,
        "eic_shots": eic_shots,
        "eic_every": eic_every,
        "options": n_options or "all",
        "seed": seed,
        "limit": limit,
        "pair_separator": pair_separator,
        "shot_separator": shot_separator,
        "dtype": model.dtype,
        "device": model.device,
        "memory_gb": bound_of(memory_gb),
        "split": split,
        "split_drawn": split_drawn,
        "cache": not no_cache,
        "prefix": model.prefix,
        "with_unknown_tokens": scored.unknown,
        "out": out,
        **rows,
        "model_digest": model.digest,
        **({"served": model.said} if weights.is_served(name) else {}),
        "facts_digest": chosen.digest,
        "version": __version__,
    }
    say_json(summary)


def _by_rule(
    rule: str,
    shown: Sequence[facts.Fact],
    asked: Sequence[facts.Fact],
    options: Sequence[Sequence[str]],
    out: str,
    drawn: dict[str, Any],
) -> None:
    """Let a rule guess, write its rows and print its line; ``drawn`` describes what was drawn, and how."""
    import pandas as pd

    from lkecore import stats
    from lkecore.stats import rules

    rules.check(rule, [fact.subject for fact in asked], options)
    target, counts = _target(out), Counter(fact.object for fact in shown)
    rows = []
    for fact, names in zip(asked, options, strict=True):
        shares = rules.guess(rule, fact.subject, names, counts)
        for name, share in zip(names, shares, strict=True):
            # The columns of a model's rows; a rule reads only the subject of a prompt.
            asked_as = fact.id, fact.subject, fact.subject, name, name
            rows.append((*asked_as, name == fact.object, share))
    columns = ["fact", "subject", "context", "continuation", "option", "gold", "share"]
    frame = pd.DataFrame(rows, columns=columns)
    right = frame.loc[frame["gold"], ["fact", "share"]]
    found = method = None  # a single fact with a partial share says nothing about others
    how = {"value": "share", "seed": drawn["seed"]}
    if right["share"].isin([0, 1]).all():
        found, method = stats.estimate(right, over="share", **how), "Wilson, 95%"
    elif len(right) > 1:
        agree = right["share"].nunique() == 1  # a bootstrap has no width then
        method = "exact, all facts alike, 95%" if agree else "bootstrap over facts, 95%"
        found = stats.estimate(right, over="fact", **how)
    _write(target, frame)
    summary = {
        "accuracy": right["share"].mean(),
        "interval": None if found is None else found.loc[0, ["low", "high"]].tolist(),
        "interval_method": method,
        "n_facts": len(asked),
        "model": None,
        "estimator": rule,
        **drawn,
        "out": out,
        "version": __version__,
    }
    say_json(summary)


def _write(target: Path, frame: Any, lost: str = "") -> None:
    """Write the rows; an error names the file, which that of a full disk does not.

    ``lost`` names the work that the same command must repeat; without it an error is raised like any other
    one.
    """
    try:
        write_whole(target, as_parquet(frame, index=False))
    except OSError as error:
        if lost:
            raise BadInput(f"{target}: {error.strerror}; {lost}") from error
        raise OSError(error.errno, error.strerror, str(target)) from error


def _target(out: str) -> Path:
    """The path of the rows; raises :class:`BadInput` where no file can be written."""
    if not out:
        raise BadInput("--out must name a folder")
    target = Path(out) / "options.parquet"
    part = target.with_name("options.parquet.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        part.unlink()
    except OSError as error:
        raise BadInput(f"--out {out}: not a folder to write to ({error.strerror})") from error
    if target.is_dir():
        raise BadInput(f"--out {out}: options.parquet is a folder there")
    return target
