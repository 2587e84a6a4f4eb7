"""What rules get that see the training facts of each relation, for results that ship.

``python tools/cues.py data/trex`` writes it of LAMA's T-REx, a row for each relation, where rules choose
among all its objects. ``python tools/cues.py data/trex --of belief_trex`` writes a row for each fact that
this source of page 41 asked, as a run of that page keeps it. No model is needed, and the facts are not part
of the project.
"""

import argparse
import json
from collections import Counter
from datetime import UTC, datetime
from time import perf_counter

import pandas as pd

from lkecore import facts, runs
from lkecore.answers import rules
from lkecore.answers.shipped import FOLDER, MADE_BY, MADE_OF, table, what_made
from lkecore.errors import BadInput
from lkecore.facts import wordings
from lkecore.facts.fact import Relation
from lkecore.runs import shipping
from lkecore.stats import rules as guesses
from lkecore.storage import write_whole

PAGE, SOURCE = "18_iclke_rules", "training"
ASKED = "41_belief_contexts"


def of_relation(relation: Relation, n_shots: int = 4) -> dict[str, float]:
    """What rules get of a relation's test facts that see its training facts and choose among all objects.

    ``facts``, how many are asked; the expected number of these that are right: ``frequent``, naming the
    most frequent training object; ``both``, naming the object that shares the largest part of its words
    with the subject, if one does, else that; ``shown``: the expected number whose object is among
    ``n_shots`` training facts drawn by lot. Raises :class:`BadInput` for a relation without splits.
    """
    train = [fact for fact in relation.facts if fact.split == "train"]
    test = [fact for fact in relation.facts if fact.split == "test"]
    if not train or not test:
        raise BadInput(f"relation {relation.name} has no training or no test facts")
    counts = Counter(fact.object for fact in train)
    options = sorted({*counts, *(fact.object for fact in test)})
    places = {name: i for i, name in enumerate(options)}
    right = {"frequent": 0.0, "both": 0.0, "shown": 0.0}
    often = guesses.guess("rule-frequent", "", options, counts)
    for fact in test:
        at = places[fact.object]
        right["frequent"] += often[at]
        right["both"] += guesses.guess("rule-both", fact.subject, options, counts)[at]
        right["shown"] += 1 - (1 - counts[fact.object] / len(train)) ** n_shots
    return {"facts": len(test), **right}


def by_training_facts(fact_set: str) -> pd.DataFrame:
    """A row for each relation, of :func:`of_relation`."""
    rows = [
        {"relation": name, **of_relation(facts.load(fact_set, name))}
        for name in facts.relations(fact_set)
    ]
    return pd.DataFrame(rows)


def of_source(fact_set: str, source: str) -> pd.DataFrame:
    """A row for each fact that a source of page 41 asked, of its parameters, as it ships."""
    given = json.loads(what_made(ASKED, source)["parameters"].iloc[0])
    n = given["n_facts"]
    how = {"n_shots": 0, "n_facts": n, "n_options": 2, "n_test": max(400, n)}
    sample = facts.draw(fact_set, given["relations"], **how, seed=given["seed"])
    sample = wordings.pairs(wordings.onto(sample, given["wordings"])[0])
    return shipping.ships_as(rules.without_options(sample, kept=False), facts.is_ours(fact_set))


def main() -> None:
    """Write ``results/18_iclke_rules.parquet`` and what made it, or page 41's, and print what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("facts", help="a fact set, for the first with splits")
    parser.add_argument("--of", help=f"a source of {ASKED}")
    given = parser.parse_args()
    spec, of = given.facts, given.of
    if of:
        path, found = FOLDER / f"{ASKED}-cues.parquet", of_source(spec, of)
        write_whole(path, shipping.among(path, found, of))
        print(found[["echo", "rule", "frequent"]].sum().to_dict())
        return
    started, begun = datetime.now(UTC).isoformat(timespec="seconds"), perf_counter()
    found = by_training_facts(spec)
    of_code = runs.versions()
    made = dict.fromkeys(MADE_OF, "") | {
        **{name: of_code[name] for name in MADE_OF if name in of_code},
        **{"experiment": PAGE, "source": SOURCE, "code": of_code["source"]},
        **{"command": f"python tools/cues.py {spec}", "started": started, "parameters": "{}"},
        **{"seconds": round(perf_counter() - begun, 1), "chunks": 0, "chunks_from_cache": 0},
        "device": "CPU",
    }
    path, before = FOLDER / f"{PAGE}.parquet", table()
    write_whole(path, shipping.among(path, shipping.ships_as(found, facts.is_ours(spec)), SOURCE))
    gone = before["experiment"].eq(PAGE) & before["source"].eq(SOURCE)
    write_whole(FOLDER / MADE_BY, shipping.with_rows(before, gone, pd.DataFrame([made])))
    print(found.drop(columns="relation").sum().round(1).to_dict())


if __name__ == "__main__":
    main()
