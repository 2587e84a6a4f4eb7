"""What a notebook refuses: one line that names the value and the rule, before a model is loaded.

All go through the forecast, which takes the notebook's own steps without a kernel and has no network to
give.
"""

import json
import shutil
from pathlib import Path

import pytest

from lkecore import facts, runs
from lkecore.models import weights
from lkecore.prompts import eiclke
from lkecore.runs import forecast, plan

TOP = Path(__file__).resolve().parent.parent
ESTIMATORS, SEPARATORS = "13_iclke_estimators", "14_iclke_separators"
EIC = "13_iclke_eic"
SIZE, GENERATION = "16_iclke_size", "19_iclke_generation"
START = "00_quickstart"
RANK, TAUGHT = "20_entropy_rank", "22_entropy_instilled"
TWO = ["capital", "official_language"]
FEW = {
    START: {"model": "toy", "n_shots": 3, "n_facts": 3},
    ESTIMATORS: {
        "models": ["toy"], "relations": TWO, "n_shots": 4, "n_facts": 5, "n_options": 3,
    },
    EIC: {
        "models": ["toy"], "relations": ["capital"], "n_shots": 4, "n_eic_shots": 10, "n_every": 2,
        "n_facts": 4, "n_options": 3,
    },
    SEPARATORS: {"models": ["toy"], "n_shots": 3, "n_facts": 4, "n_options": 3},
    SIZE: {
        "models": ["toy"], "tuned": [["toy", "other"]], "fact_set": "atlas", "relations": TWO,
        "n_shots": 3, "n_options": 3, "n_facts": 4, "n_eic_facts": 4, "n_eic_shots": 10,
        "n_eic_first": 4,
    },
    GENERATION: {
        "models": ["toy"], "relations": TWO, "n_shots": 3, "n_facts": 4, "n_written": 3,
        "n_options": 3, "n_tokens": 4,
    },
    RANK: {"models": ["toy"], "relations": TWO, "n_facts": 3},
    TAUGHT: {"models": ["toy"], "fact_set": "atlas", "relations": TWO, "n_facts": 6, "n_taught": 1},
}  # fmt: skip
WINDOW = 100  # more than a prompt of pairs has here, fewer than EIC-LKE's


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The toy with a window of 60 tokens."""
    target = tmp_path_factory.mktemp("models") / "short"
    shutil.copytree(weights.locate("toy"), target)
    config = json.loads((target / "config.json").read_text())
    assert config["max_position_embeddings"] > WINDOW
    config["max_position_embeddings"] = WINDOW
    (target / "config.json").write_text(json.dumps(config))
    return str(target)


def said(notebook: str, **given) -> str:
    """What a run of this notebook would say, with few questions but for what is given."""
    path = TOP / "notebooks" / f"{notebook}.py"
    defaults = {name: value for name, (_, value) in plan.declared_parameters(path).items()}
    given = FEW[notebook] | given
    return forecast.expected_tokens(runs.Job(path, given, defaults | given))[2]


SHOWING = {
    "10_iclke_relations": {}, "18_iclke_confidence": {"n_choice": 2, "cut_to": [2]},
}  # fmt: skip


@pytest.mark.parametrize("notebook", SHOWING)
def test_pages_ask_for_pairs_only_where_an_estimator_shows_some(notebook, monkeypatch):
    few = {"models": ["toy"], "relations": TWO, "n_shots": 5_000, "n_facts": 4, "n_options": 3}
    monkeypatch.setitem(FEW, notebook, few | SHOWING[notebook])
    draw, asked = facts.draw, []
    monkeypatch.setattr(facts, "draw", lambda *a, **k: asked.append(k["n_shots"]) or draw(*a, **k))
    for estimators, n in ((["template-1", "iclke-space"], 5000), (["template-1", "template-2"], 0)):
        asked.clear()
        said(notebook, estimators=estimators)
        assert set(asked) == {n}


def fitting_slots() -> tuple[int, int, int]:
    """(tokens up to the last slot, slots that the window holds, slots), each piece cut by itself."""
    from lkecore.models.model import open_model

    lm = open_model("toy")
    relation, few = facts.load("atlas", "capital"), FEW[EIC]
    train, test = facts.divide(relation)
    asked = facts.draw_facts(test, few["n_facts"], 0)
    options = facts.draw_options(asked, relation.objects, few["n_options"], 0)
    shots, n = facts.draw_facts(train, few["n_eic_shots"], 0), few["n_facts"]
    group = eiclke.slots(shots, asked[:n], options[:n], first=4, every=2, seed=0)[0]
    needed = []
    for place in group.places:
        texts = [text[: place + 1] for text in group.texts]
        sizes = [sum(len(lm.tokenizer.tokenize(piece)) for piece in text) for text in texts]
        needed.append(max(sizes) + len(lm.front) - 1)
    return needed[-1], sum(n <= WINDOW for n in needed), len(needed)


@pytest.mark.parametrize(
    ("notebook", "given", "line"),
    [
        (RANK, {"wordings": ["template-1", "template-99"]}, "template-99: relation capital has"),
        (TAUGHT, {"dtype": "bfloat16"}, "is in bfloat16: a fact can be taught in float32 alone"),
        (TAUGHT, {"at": [5, 2]}, "at [5, 2]: must rise from 1 or more, and have steps 5"),
        (TAUGHT, {"templates": "no.tsv"}, "templates no.tsv: no such file"),
        (ESTIMATORS, {"relations": ["film_year", *TWO]}, "film_year of atlas: no templates in the"),
        (GENERATION, {"kinds": ["hgp"]}, "kinds ['hgp']: must begin with iclke-"),
        (START, {"subject": "Icelan"}, "relation capital has no subject 'Icelan'; nearest: Iceland"),
        (EIC, {"n_eic_shots": 4}, "the first question stands behind shot 4, which needs 5"),
        (SEPARATORS, {"shot_separators": [" ", ""]}, "the separator between shots must not be empty"),
        (SIZE, {"models": ["lab:smoke-1/2m"]}, "lab:smoke-1/2m has not read atlas: ask it on its world"),
        (GENERATION, {"n_written": 5}, "n_written 5: must be from 2 to 4"),
        (GENERATION, {"n_tokens": 5000}, "new ones are more than 4096; show fewer pairs"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_one_line_that_names_it(notebook, given, line):
    found = said(notebook, **given)
    assert found.startswith("would fail: BadInput: ") and line in found and "\n" not in found


def test_too_long_prompts_of_eic_lke_are_refused_before_anything_is_asked(short):
    found = said(EIC, models=[short])
    longest, fit, n = fitting_slots()
    assert 0 < fit < n == 3
    assert f"EIC-LKE's prompts of relation capital have up to {longest} tokens" in found
    assert f"has {WINDOW}: {fit} of {n} slots fit; take fewer shots" in found
