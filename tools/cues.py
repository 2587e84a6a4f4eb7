"""What rules without a model get of facts that are not part of the project, for results that ship.

``python tools/cues.py answers kamel --facts data/kamel`` writes the cues of the facts that results of
older runs asked; runs of today keep them. ``python tools/cues.py curves kamel`` writes what rules get of
the questions of page 11, with each number of shots, and which of them carry a cue. ``python tools/cues.py
training data/trex`` writes what rules get that see the training facts of each relation and choose among all
its objects. No model is needed for any: the facts, and the parameters in the ``.json`` of the results, say
which facts were asked, with which options and behind which shots.
"""

import argparse
import json
from datetime import UTC, datetime
from time import perf_counter

import pandas as pd

from lkecore import facts, runs
from lkecore.answers import cued, rules, shipped
from lkecore.errors import BadInput
from lkecore.facts import pool
from lkecore.runs.gather import packed_for
from lkecore.storage import write_whole

NOTEBOOK, PAGE, PROFILE = "10_iclke_relations", "18_iclke_rules", "training"
CURVES = "11_iclke_shots"


def cues_of(profile: str, fact_set: str) -> pd.DataFrame:
    """The cues of the facts that a profile asked; :class:`BadInput` where its answers are about others."""
    answers, about = shipped.read(profile, NOTEBOOK)
    given = about["parameters"]
    drawn = {name: given[name] for name in ("n_shots", "n_facts", "n_options", "seed")}
    sample = facts.draw(fact_set, given["relations"], take_fewer=True, **drawn)
    found = rules.cues(sample, kept=False)
    asked, here = (
        each.groupby("relation").agg(n=("fact", "nunique"), n_options=("n_options", "first"))
        for each in (answers, found)
    )
    if asked.sort_index().to_dict() != here.sort_index().to_dict():
        raise BadInput(f"results {profile} are about other facts than those of {fact_set}")
    return found


def of_curves(profile: str, fact_set: str) -> pd.DataFrame:
    """What rules get of the questions of page 11 that a profile asked, for each of its models."""
    answers, about = shipped.read(profile, CURVES)
    given = about["parameters"]
    drawn = {name: given[name] for name in ("n_options", "seed", "n_pool", "n_facts")}
    names = given.get("relations") or [given["relation"]]  # older results have one
    sample = {name: pool.draw(fact_set, name, **drawn) for name in names}
    of_each = rules.behind_draws(sample, given["draws"], given["shots"], kept=False)
    found = pd.concat([of_each.assign(model=name) for name in given["models"]], ignore_index=True)
    if "relation" not in answers:  # older results are about one, and do not say which
        found = found.drop(columns="relation")
    key = [name for name in ("model", "relation", "draw", "n_shots") if name in answers]
    sizes = [each.groupby(key, observed=True)["fact"].nunique() for each in (answers, found)]
    if sizes[0].to_dict() != sizes[1].to_dict():
        raise BadInput(f"results {profile} are about other facts than those of {fact_set}")
    return found


def by_training_facts(fact_set: str) -> pd.DataFrame:
    """A row for each relation, of :func:`lkecore.answers.cued.by_training_facts`."""
    rows = [
        {"relation": name, **cued.by_training_facts(facts.load(fact_set, name))}
        for name in facts.relations(fact_set)
    ]
    return pd.DataFrame(rows)


def main() -> None:
    """Write a file of ``results/``, and print what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    of_answers = parts.add_parser("answers", help="cues of the facts that results asked")
    of_answers.add_argument("profile", help="a folder of results/")
    of_answers.add_argument("--facts", help="the facts, where they are not where the results say")
    curves = parts.add_parser("curves", help="rules for the questions of page 11")
    curves.add_argument("profile", help="a folder of results/")
    curves.add_argument("--facts", help="the facts, where they are not where the results say")
    of_training = parts.add_parser("training", help="rules that see all training facts")
    of_training.add_argument("facts", help="a fact set with splits")
    options = parser.parse_args()
    started, begun = datetime.now(UTC).isoformat(timespec="seconds"), perf_counter()
    if options.part == "answers":
        spec = shipped.read(options.profile, NOTEBOOK)[1]["parameters"]["fact_set"]
        found = cues_of(options.profile, options.facts or spec)
        target = shipped.FOLDER / options.profile / f"{NOTEBOOK}-cues.parquet"
        print(found.groupby("relation")[list(rules.RULES)].mean().mean().round(4).to_dict())
    elif options.part == "curves":
        spec = shipped.read(options.profile, CURVES)[1]["parameters"]["fact_set"]
        found = of_curves(options.profile, options.facts or spec)
        target = shipped.FOLDER / options.profile / f"{CURVES}-rules.parquet"
        print(found.groupby("n_shots")[list(rules.RULES)].mean().round(4).to_string())
    else:
        spec = options.facts
        found = by_training_facts(spec)
        target = shipped.FOLDER / PROFILE / f"{PAGE}.parquet"
        made = runs.versions()
        about = {
            "profile": PROFILE,
            "notebook": PAGE,
            "command": f"python tools/cues.py training {spec}",
            "started": started,
            "seconds": round(perf_counter() - begun, 1),
            **{name: made.pop(name) for name in ("commit", "source")},
            "versions": made,
            "models": {},
            "worlds": {},
        }
        write_whole(target.with_suffix(".json"), json.dumps(about, indent=1) + "\n")
        print(found.drop(columns="relation").sum().round(1).to_dict())
    write_whole(target, packed_for(spec, found))


if __name__ == "__main__":
    main()
