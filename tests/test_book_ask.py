"""The page where a reader asks: its scripts against the package, in Node, and clicks in a browser.

Node comes with playwright, which also drives the system's Chromium.
"""

import base64
import importlib.util
import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lkecore import worlds
from lkecore.answers import rich
from lkecore.answers.asking import opened
from lkecore.answers.shipped import results
from lkecore.book import ask
from lkecore.models import lab
from lkecore.prompts.instilled import instilled
from lkecore.prompts.prompt import asking, templates_of
from lkecore.scores.tree import option_logprobs
from lkecore.worlds.world import world

TOP = Path(__file__).resolve().parent.parent
SCRIPTS = TOP / "book" / "_static" / "ask"
MODEL = ask.MODELS[0]
NATS = 1e-4  # between sums of float32 in another order, several times what is found
FOREIGN = "abc XYZ  \n\t'’\"“.,;:!?()[]{}<>&|@#€$%0123456789éüßñçøæœÅİıłžšđабвгд"
FOREIGN += "דשאבتثहिन中文字日本語かな한국어𝔘𝕏😀👩👧🇩🇪\u200d"
FOREIGN += "\u00a0\u2003\u200b\u0301\ufb01½²Ⅷ\r\x00\x7f\u0085\u2028"


def node(data: Path, **job):
    """What tests/ask.cjs says to a job."""
    found = importlib.util.find_spec("playwright")
    own = found and shutil.which("node", path=Path(found.origin).parent / "driver")
    command = own or shutil.which("node") or pytest.skip("neither playwright nor a Node is here")
    script = Path(__file__).with_name("ask.cjs")
    done = subprocess.run(
        [command, script, SCRIPTS, data],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ask")
    ask.write(folder)
    return folder


@pytest.fixture(scope="module")
def lm():
    return opened(MODEL, "float32")


@pytest.fixture(scope="module")
def sample():
    """What the book's pages ask of three relations, drawn as they draw it."""
    names = ["residence", "country_language", "team_colour"]
    return rich.samples([MODEL], names, chosen, n_shots=50, seed=0)[ask.WORLD]


def chosen(states):
    return states["state"].isin(["planted", "mislearned", "uncertain", "never"])


def read(data):
    text = (data / "facts.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("=", text.index(".facts")) + 1 : -2])


def test_scripts_fetch_nothing_and_make_no_html_of_text():
    own = (SCRIPTS / name for name in ("engine.js", "app.js", "ask.css"))
    texts = [path.read_text(encoding="utf-8") for path in own]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|https?:|\beval\b", "".join(texts))


def test_500_strings_have_the_tokens_of_the_models_tokenizer(data, lm):
    rng = random.Random(3)
    strings = [
        "",
        " ",
        "   ",
        "a  b",
        "a \n\n b ",
        "don't I'LL we've they're 'S",
        "x<s>y <pad>",
        "１２",
    ]
    states = worlds.states(ask.WORLD)
    strings += [*states["subject"].sample(150, random_state=0)]
    strings += [f"{s} {o} " for s, o in states[["subject", "object"]][:100].to_numpy()]
    while len(strings) < 500:
        strings.append("".join(rng.choice(FOREIGN) for _ in range(rng.randint(1, 60))))
    found = node(data, model=MODEL, strings=strings)["tokens"]
    assert [list(lm.tokenizer(each)["input_ids"]) for each in strings] == found


def questions(sample, n):
    """[(relation, place, way, given), its prompt] of ``n`` facts a relation in each of the page's ways."""
    found = []
    for name, drawn in sample.items():
        objects = read_objects(name)
        some, options = drawn.facts[:n], [objects] * n
        has = templates_of(drawn.relation)
        for way, given, estimator, shots in (
            ("pairs", {}, "iclke-space", 50),
            ("pairs", {"pairs": 5}, "iclke-space", 5),
            ("sentence", {}, "template-1", 0),
            ("sentence", {"wording": 15}, "template-16", 0),
        ):
            prompts = asking(estimator, drawn.relation, drawn.shots[:shots], some, options)
            found += [((name, i, way, given), prompt) for i, prompt in enumerate(prompts)]
        for i in range(
            n
        ):  # the package takes the false object from the second fact, the page another
            other = next(f for f in drawn.facts if f.object != some[i].object)
            two = instilled(
                has["template-6"], [some[i], other], [objects] * 2, instillation="false"
            )
            found.append(((name, i, "false", {"wording": 5}), two[0].told))
    return found


def read_objects(name):
    return world(ask.WORLD).objects[name]


def test_each_option_has_the_nats_of_the_packages_scorer(data, lm, sample):
    """By the kernel; a fifth of them by plain JavaScript. Facts come in order, so that stems are kept."""
    every = questions(sample, 4)
    assert len(every) == 60
    contexts = node(data, questions=[key for key, _ in every])["questions"]
    for ((_, _, way, _), prompt), context in zip(every, contexts, strict=True):
        if way != "false":
            assert context == prompt.context
            continue
        told, _, asked = context.rpartition(". ")
        stated, _, wanted = prompt.context.rpartition(". ")
        assert asked == wanted and told.startswith(wanted) and stated.startswith(wanted)
        false = told.removeprefix(wanted).strip()
        assert false in prompt.options and false != prompt.options[prompt.gold]
    prompts = [prompt for _, prompt in every]
    scored = option_logprobs(lm, prompts).frame["logprob"].to_numpy().reshape(60, -1)
    asked = [[prompt.context, prompt.continuations] for prompt in prompts]
    by_kernel = [each["logprob"] for each in node(data, model=MODEL, asked=asked)["asked"]]
    assert abs(scored - by_kernel).max() < NATS
    plain = node(data, model=MODEL, plain=True, asked=asked[::5])["asked"]
    assert abs(scored[::5] - [each["logprob"] for each in plain]).max() < NATS


def test_the_kernel_is_what_its_text_says():
    wasmtime = pytest.importorskip("wasmtime")
    text = (SCRIPTS / "mm.wat").read_text(encoding="utf-8")
    bytes_ = bytes(wasmtime.wat2wasm(text))
    kernel = re.search(r'KERNEL = "([^"]+)"', (SCRIPTS / "engine.js").read_text(encoding="utf-8"))
    kernel = base64.b64decode(kernel[1])
    rest = bytes_.removeprefix(kernel)
    assert rest == b"" or rest[:1] == b"\0" and rest[3:8] == b"\x04name"  # names of locals


def numbers(line):
    line = re.sub(r"\bonce\b", "1", line)
    return [int(n) for n in re.findall(r"\d+", re.sub(r"\btwice\b", "2", line))]


def test_what_is_shown_as_told_is_what_the_model_was_told(data):
    truth = lab.told(lab.folder(MODEL), ask.WORLD).set_index(["relation", "subject"])
    told, seen = node(data, told="planted")["told"], set()
    assert sum(map(len, told.values())) == 3_916
    for relation in read(data)["relations"]:
        name = relation["name"]
        for each in told[name]:
            fact = truth.loc[name, each["subject"]]
            first, *others = each["said"]
            text = " ".join(others)
            if fact["occurrences"] == 0:
                assert fact["state"] == "never" and first.startswith("Never")
                assert numbers(first) == [fact["mentions"]] * bool(fact["mentions"])
                assert each["wordings"] == []
            else:
                ways = [fact["sentences"], fact["lists"]] if fact["form"] == "both" else []
                assert numbers(first) == [fact["occurrences"], *ways, fact["epochs"]]
                assert ("in sentences" in first, "in lists" in first) == (
                    fact["sentences"] > 0,
                    fact["lists"] > 0,
                )
                objects = fact["told_objects"].split(";")
                if len(objects) > 1:
                    times = re.findall(r"says (.+?)\. True", text)[0].split(", ")
                    words = [t.removeprefix(o).strip() for t, o in zip(times, objects, strict=True)]
                    assert [numbers(w)[0] for w in words] == [
                        int(n) for n in fact["told_times"].split(";")
                    ]
                elif fact["state"] == "mislearned":
                    assert f"always says {objects[0]}. That is false" in text
                else:
                    assert f"always says {fact['object']}, which is true" in text
                assert fact["object"] in text
                for column, what in (("by_alias", "subject"), ("object_by_alias", "object")):
                    says = re.findall(rf"(\d+) name the {what} by another", text)
                    assert says == [str(fact[column])] * bool(fact[column])
            hint = [line for line in each["said"] if "hints at" in line or "more frequent" in line]
            right = "is right" if fact["cue_right"] == "right" else "is wrong"
            assert len(hint) == bool(fact["cue"])
            assert all(fact["cue_object"] in line and right in line for line in hint)
            seen.add((fact["state"], fact["form"]))
    assert len(seen) == len({*zip(truth["state"], truth["form"], strict=True)} & seen) == 8


def test_the_auroc_of_a_relation_is_that_of_the_results(data):
    states = worlds.states(ask.WORLD).query("relation == 'parent' and split == 'test'")
    often = states.query("state == 'planted' and occurrences >= 16")
    every = results("56_lab_fooled").query("estimator == 'iclke-space'")
    for model in ask.MODELS:
        sure = every[every["model"] == model].set_index("fact")["confidence_gold"]
        wins = [
            (sure[a] > sure[b]) + (sure[a] == sure[b]) / 2
            for a in often["fact"]
            for b in often["control"]
        ]
        [parent] = [r for r in read(data)["relations"] if r["name"] == "parent"]
        estimate, low, high = parent["auroc"][model]
        assert abs(estimate - sum(wins) / len(wins)) < 1e-3 and low < estimate < high
