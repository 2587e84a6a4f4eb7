"""The command: one line of JSON that agrees with the file beside it, one line for every mistake."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import helpers
import hub_standins
import pandas as pd
import projects
import pytest

import lkecore
from lkecore import answers, facts, prompts
from lkecore.models import weights
from lkecore.runs import forecast, grid

COLUMNS = ["fact", "subject", "context", "continuation", "option", "gold", "logprob", "n_tokens"]
COLUMNS += ["question", "relation", "model", "estimator"]
DOCUMENTED = {
    "accuracy", "interval", "n_facts", "seconds", "load_seconds", "tokens_forwarded", "facts",
    "relation", "model", "estimator", "shots", "options", "seed", "limit", "pair_separator",
    "shot_separator", "dtype", "device", "split", "split_drawn", "model_digest", "facts_digest", "version",
    "rows_read", "rows_repeated", "rows_left_out", "files_unread",
}  # fmt: skip
CAPITALS = {
    "Austria": "Vienna", "Belgium": "Brussels", "Chile": "Santiago", "Cuba": "Havana",
    "Denmark": "Copenhagen", "Egypt": "Cairo", "Finland": "Helsinki", "France": "Paris",
    "Ghana": "Accra", "Greece": "Athens", "Hungary": "Budapest", "Iran": "Tehran",
    "Ireland": "Dublin", "Italy": "Rome", "Japan": "Tokyo", "Kenya": "Nairobi",
    "Norway": "Oslo", "Peru": "Lima", "Poland": "Warsaw", "Spain": "Madrid",
}  # fmt: skip


@pytest.fixture
def capital(tmp_path):
    """A fact set of one file."""
    path = tmp_path / "capital.csv"
    rows = [f"{country},{city}\n" for country, city in CAPITALS.items()]
    path.write_text("subject,object\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def lke(lke, monkeypatch):
    """The command of all tests, with an environment as before it."""
    # The command may set them. Set and deleted, so that they are deleted again after the test.
    for name in ("LKE_MODELS_LOCK", "PYTHONIOENCODING"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return lke


@pytest.fixture
def score(lke, capital, tmp_path):
    """`lke score` on the small fact set and the toy; gives (the JSON, the frame)."""

    def call(*arguments):
        out = tmp_path / "out"
        code, printed, err = lke("score", *small(capital, out), *arguments)
        assert (code, err) == (0, "")
        assert printed.count("\n") == 1
        return json.loads(printed), pd.read_parquet(out / "options.parquet")

    return call


def small(path, out):
    return [
        "--facts", path, "--relation", path.stem, "--model", "toy", "--device", "cpu",
        "--shots", 3, "--options", 4, "--limit", 6, "--out", out,
    ]  # fmt: skip


def mistake(result, *parts):
    """Check that the mistake is told in one line, and nothing else is printed."""
    code, out, err = result
    assert (code, out) == (2, ""), err
    assert re.fullmatch(r"lke: .+\n", err), err
    for part in parts:
        assert str(part) in err
    return err


def kept_scores():
    folder = weights.cache_folder() / "scores"
    return {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


# --- lke score ------------------------------------------------------------------------------------


def test_score_prints_what_is_documented_and_writes_a_row_for_each_option(score, capital):
    summary, frame = score("--seed", 11)
    assert set(summary) >= DOCUMENTED
    asked = {"facts": str(capital), "relation": "capital", "model": "toy", "estimator": "ic-lke",
             "shots": 3, "options": 4, "seed": 11, "limit": 6, "pair_separator": " ",
             "shot_separator": " ", "dtype": "float32", "device": "cpu", "split": "test",
             "split_drawn": True}  # fmt: skip
    assert {name: summary[name] for name in asked} == asked
    assert summary["n_facts"] == 6
    assert summary["version"] == lkecore.__version__
    assert summary["facts_digest"] == facts.load(str(capital), "capital").digest
    assert summary["model_digest"] == weights.files_digest(weights.locate("toy"))
    low, high = summary["interval"]
    assert 0 <= low <= summary["accuracy"] <= high <= 1
    assert summary["tokens_forwarded"] > 0

    assert list(frame.columns) == COLUMNS
    assert len(frame) == 6 * 4
    assert [len(group) for _, group in frame.groupby("fact")] == [4] * 6
    assert frame.groupby("fact")["gold"].sum().eq(1).all()
    assert frame.groupby("fact")["subject"].nunique().eq(1).all()
    assert frame["subject"].nunique() == 6
    assert frame["logprob"].lt(0).all() and frame["n_tokens"].ge(1).all()
    for row in frame.itertuples():
        assert (CAPITALS[row.subject] == row.option) == row.gold
        assert row.option in CAPITALS.values() and row.continuation == f" {row.option}"


def test_accuracy_is_that_of_the_rows(score):
    shares = []
    for seed in range(3):
        summary, frame = score("--seed", seed, "--limit", 10, "--options", 3)
        best = frame.loc[frame.groupby("fact")["logprob"].idxmax()]
        assert summary["accuracy"] == best["gold"].mean()
        shares.append(summary["accuracy"])
    assert len(set(shares)) > 1  # else a constant would pass


def test_every_string_begins_with_the_same_true_shots(score):
    summary, frame = score("--pair-separator", " = ", "--shot-separator", r"\n", "--seed", 12)
    assert (summary["pair_separator"], summary["shot_separator"]) == (" = ", "\n")
    seen = set()
    for row in frame.itertuples():
        *shots, question = (row.context + row.continuation).split("\n")
        assert question == f"{row.subject} = {row.option}"
        assert row.subject not in dict(shot.split(" = ") for shot in shots)
        seen.add(tuple(shots))
    [shots] = seen
    assert len(shots) == 3
    assert dict(shot.split(" = ") for shot in shots).items() <= CAPITALS.items()


@pytest.mark.parametrize("estimator", ["template-1", "rule-overlap"])
def test_an_estimator_that_shows_no_pairs_asks_for_none(lke, tmp_path, estimator):
    model = [] if estimator.startswith("rule-") else ["--model", "toy"]
    given = ["--relation", "capital", *model, "--estimator", estimator]
    given += ["--options", 3, "--limit", 2]
    both = []
    for shots in (5_000, 2):  # pairs, as many as no relation has
        code, out, _ = lke("score", *given, "--shots", shots, "--out", tmp_path)
        assert code == 0 and json.loads(out)["shots"] == 0
        both.append(pd.read_parquet(tmp_path / "options.parquet"))
    pd.testing.assert_frame_equal(*both)
    mistake(lke("score", *given, "--shots", -1, "--out", tmp_path), "shots must be 0 or more")


def test_eic_lke_asks_inside_long_prompts_as_the_door_of_the_pages_does(lke, tmp_path):
    how = {"n_shots": 3, "n_options": 4, "seed": 7}
    asked = [
        "score", "--relation", "capital", "--model", "toy", "--estimator", "eiclke", "--shots", 3,
        "--eic-shots", 8, "--eic-every", 2, "--options", 4, "--limit", 6, "--seed", 7,
        "--out", tmp_path,
    ]  # fmt: skip
    code, out, _ = lke(*asked)
    summary, frame = json.loads(out), pd.read_parquet(tmp_path / "options.parquet")
    assert code == 0 and (summary["eic_shots"], summary["eic_every"]) == (8, 2)
    assert list(frame.columns) == COLUMNS and len(frame) == 6 * 4
    sample = facts.draw("atlas", ["capital"], n_facts=6, min_relations=1, **how)
    groups = prompts.slots_of_sample(sample, n_shots=8, first=3, every=2, seed=7)
    found = answers.ask(["toy"], groups, "answers.parquet")
    assert set(found["fact"]) == set(frame["fact"])
    assert summary["accuracy"] == found["correct"].mean()


def test_a_rule_asks_no_model_and_writes_the_share_of_its_guesses(lke, capital, tmp_path, no_model):
    path = tmp_path / "kin.csv"
    kin = [(f"Jane {name}", f"John {name}") for name in "Doe Lee Fox Kim Poe Cox".split()]
    rest = [(f"s{i}", f"o{i} x") for i in range(6)]
    path.write_text("subject,object\n" + "".join(f"{a},{b}\n" for a, b in kin + rest))
    given = ["--facts", path, "--relation", "kin", "--shots", 2, "--options", 4]
    code, out, err = lke("score", *given, "--estimator", "rule-overlap", "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    said = json.loads(out)
    rows = pd.read_parquet(tmp_path / "out" / "options.parquet")
    of_models = ["fact", "subject", "context", "continuation", "option", "gold"]
    assert list(rows) == [*of_models, "share"] and (rows["context"] == rows["subject"]).all()
    assert (rows.groupby("fact")["share"].sum() == 1).all() and len(rows) == 4 * said["n_facts"]
    gold = rows[rows["gold"]].set_index("subject")["share"]
    assert gold.to_dict() == {name: 1 if name in dict(kin) else 0.25 for name in gold.index}
    assert set(gold) == {0.25, 1}  # some of either kind were asked
    assert said["accuracy"] == pytest.approx(gold.mean())
    assert said["interval"][0] < said["accuracy"] < said["interval"][1]
    assert said["interval_method"] == "bootstrap over facts, 95%"
    assert (said["model"], said["estimator"], said["seed"]) == (None, "rule-overlap", 0)


def ruled(lke, folder, objects, n_options, rule):
    """What is said of a rule on a relation of twelve subjects, two of which are shown."""
    path = folder / "each.csv"
    path.write_text("subject,object\n" + "".join(f"s{i},{o}\n" for i, o in enumerate(objects)))
    given = ["--facts", path, "--relation", "each", "--shots", 2, "--options", n_options]
    code, out, _ = lke("score", *given, "--estimator", rule, "--out", folder / "out")
    assert code == 0
    return json.loads(out)


def test_a_rule_that_is_never_right_has_an_interval_with_a_width(lke, tmp_path):
    """By hand, Wilson's with none of n right and z = 1.959964: from 0 to z**2 / (n + z**2)."""
    said = ruled(lke, tmp_path, [f"o{i}" for i in range(12)], 12, "rule-frequent")
    # Every object is that of one subject, and the two shown ones are among all options.
    assert (said["accuracy"], said["n_facts"]) == (0, 6)
    assert said["interval"] == pytest.approx([0, 3.841459 / (6 + 3.841459)], abs=1e-6)
    assert said["interval_method"] == "Wilson, 95%"


def test_a_rule_that_draws_lots_in_all_facts_has_an_exact_interval(lke, tmp_path):
    """Facts drawn again would all have a quarter again: a width of zero, which is no certainty.

    A share u of other facts at most is not so, in 97.5 % of all cases: (1 - u) ** 6 = 0.025.
    """
    said = ruled(lke, tmp_path, [f"o{i} x" for i in range(12)], 4, "rule-overlap")
    assert (said["accuracy"], said["n_facts"]) == (0.25, 6)
    u = 1 - 0.025 ** (1 / 6)
    assert said["interval"] == pytest.approx([0.25 - 0.25 * u, 0.25 + 0.75 * u])
    assert said["interval_method"] == "exact, all facts alike, 95%"


def test_the_books_example_of_a_rule_prints_what_the_book_shows(lke, tmp_path):
    page = (Path(__file__).parents[1] / "book" / "run_your_own_model.md").read_text("utf-8")
    [(command, shown)] = re.findall(
        r"^\$ lke (score .*rule-.*) --out \S+\n(.*), \.\.\.$", page, re.M
    )
    code, out, _ = lke(*command.split(), "--out", tmp_path / "out")
    assert code == 0 and out.startswith(shown)
    assert json.loads(out)["interval"][0] < json.loads(out)["accuracy"] > 3 / 30


def test_a_model_that_fills_blanks_is_asked_too_and_its_memory_bounds_itself(
    lke, capital, tmp_path
):
    network, tokenizer = helpers.blank_filler("BERT", seed=0)
    network.save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    pairs = "Spain,Madrid\nItaly,Rome\nFrance,Paris\nNew,York\n"
    capital.write_text("subject,object\n" + pairs, encoding="utf-8")
    given = small(capital, tmp_path / "out")
    given[given.index("toy")] = tmp_path / "bert"
    given[given.index(3)], given[given.index(4)] = 0, 2
    code, out, err = lke("score", *given, "--estimator", "iclke-colon")
    assert code == 0 and json.loads(out)["tokens_forwarded"] > 0
    assert json.loads(out)["with_unknown_tokens"] == 2  # it has no colon
    assert err == (
        f"{tmp_path / 'bert'} does not know all of 2 of 2 texts that it is asked: the unknown token takes "
        "the place of the rest\n"
    )
    mistake(lke("score", *given, "--memory-gb", "1"), "--memory-gb is for causal models")


def test_asked_split_is_the_one_that_is_named(score, capital):
    split = {country: ("train", "dev", "test")[i % 3] for i, country in enumerate(CAPITALS)}
    rows = [f"{country},{city},{split[country]}\n" for country, city in CAPITALS.items()]
    capital.write_text("subject,object,split\n" + "".join(rows), encoding="utf-8")
    for name in ("dev", "test"):
        summary, frame = score("--split", name, "--limit", 99)
        assert (summary["split"], summary["split_drawn"]) == (name, False)
        assert set(frame["subject"]) == {c for c in CAPITALS if split[c] == name}


def test_second_call_comes_from_the_cache(score):
    first, frame = score("--seed", 13)
    again, same = score("--seed", 13)
    assert (first["from_cache"], again["from_cache"]) == (False, True)
    assert first["tokens_forwarded"] > 0 and again["tokens_forwarded"] == 0
    assert again["load_seconds"] == 0
    pd.testing.assert_frame_equal(frame, same, check_exact=True)
    moving = {"seconds", "load_seconds", "tokens_forwarded", "from_cache"}
    assert {k: v for k, v in first.items() if k not in moving} == {
        k: v for k, v in again.items() if k not in moving
    }


def test_without_cache_nothing_is_read_or_kept(score):
    first, frame = score("--seed", 14)
    before = kept_scores()
    again, same = score("--seed", 14, "--no-cache")
    assert again["tokens_forwarded"] == first["tokens_forwarded"] > 0
    assert again["from_cache"] is False
    pd.testing.assert_frame_equal(frame, same, check_exact=True)
    score("--seed", 15, "--no-cache")
    assert kept_scores() == before


def test_a_disk_that_is_full_at_the_end_names_the_file_and_costs_no_score(
    score, lke, capital, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    old = score("--seed", 16)[1]

    write = Path.write_bytes

    def full(path, content):
        """Half of a file, then what the system says of a full disk: no name with it."""
        write(path, content[: len(content) // 2] if path.parent == out else content)
        if path.parent == out:
            raise OSError(28, "No space left on device")

    for given in ([], ["--no-cache"]):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_bytes", full)
            line = mistake(lke("score", *small(capital, out), "--seed", 17, *given))
        assert line.startswith(f"lke: {out / 'options.parquet'}: No space left on device; ")
        assert ("the scores are lost" if "--no-cache" in given else "the same command") in line
        assert [p.name for p in out.iterdir()] == ["options.parquet"]
    pd.testing.assert_frame_equal(pd.read_parquet(out / "options.parquet"), old)
    assert score("--seed", 17)[0]["from_cache"]


# --- lke score: mistakes --------------------------------------------------------------------------


@pytest.fixture
def no_model(monkeypatch):
    from lkecore import models

    def refuse(*arguments, **options):
        pytest.fail("a model was opened before the mistake was found")

    monkeypatch.setattr(models, "open_model", refuse)
    monkeypatch.setattr(weights, "locate", refuse)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--relation", "captial"], ["unknown relation 'captial'", "nearest: capital"]),
        (["--facts", "altas"], ["unknown fact set 'altas'", "neither atlas nor"]),
        (["--model", "tyo"], ["unknown model 'tyo'", "nearest: toy"]),
        (["--estimator", "ic-lkee"], ["unknown estimator 'ic-lkee'", "nearest: ic-lke"]),
        (["--seed", "-1"], ["seed must be 0 or more, found -1"]),
        (["--estimator", "rule-both"], ["rule-both asks no model; --model"]),
        (["--eic-shots", "9"], ["--eic-every are for eiclke, not for ic-lke"]),
        (
            ["--estimator", "iclke-colon", "--pair-separator", " "],
            ["iclke-colon has its own separators"],
        ),
        (["--split", "validation"], ["unknown split 'validation'", "train", "dev", "test"]),
        (["--shots", "11"], ["11 shots asked for", "capital has 10 subjects"]),
        (["--options", "21"], ["21 options asked for", "most possible: 20"]),
        (["--limit", "0"], ["limit must be 1 or more facts, found 0"]),
    ],
)
def test_mistake_is_one_line_before_any_model_is_opened(lke, capital, tmp_path, no_model,
                                                        arguments, parts):  # fmt: skip
    out = tmp_path / "out"
    mistake(lke("score", *small(capital, out), *arguments), *parts)
    assert not out.exists()


def test_what_the_command_line_lacks_is_one_line(lke):
    mistake(lke("score", "--shot", "3"), "No such option '--shot'", "--shots")
    mistake(lke("score", "--model", "toy"), "Missing option '--relation'")
    mistake(lke("scor"), "scor", "score")


def test_result_folder_that_is_a_file_is_found_before_the_work(lke, capital, no_model):
    mistake(lke("score", *small(capital, capital)), f"--out {capital}: not a folder")
    mistake(lke("score", *small(capital, "")), "--out must name a folder")


def test_unknown_dtypes_and_devices_are_found_before_the_model_is_fetched(
    lke, capital, tmp_path, monkeypatch
):
    from lkecore.models import model

    monkeypatch.setattr(model, "locate", lambda name: pytest.fail("the model was fetched"))
    asked = ["score", *small(capital, tmp_path / "out")]
    mistake(lke(*asked, "--dtype", "float31"), "unknown dtype 'float31'", "float32, bfloat16")
    mistake(lke(*asked, "--device", "cuda:99"), "device 'cuda:99' cannot be used here")


# --- the other commands ---------------------------------------------------------------------------


def test_models_are_listed_and_the_folder_of_one_is_printed(lke):
    code, out, err = lke("models", "--path", "toy")
    assert (code, err) == (0, "")
    folder = out.removesuffix("\n")
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(os.listdir(folder))
    assert folder.startswith(os.environ["LKECORE_CACHE"])
    code, out, err = lke("models")
    assert (code, err) == (0, "")
    [toy] = [line for line in out.splitlines() if line.startswith("toy ")]
    [default] = [line for line in out.splitlines() if line.startswith("smollm2 ")]
    assert toy.endswith("[in the cache]") and default.endswith("[fetched at first use]")
    mistake(lke("models", "--path", ""), "unknown model ''")
    mistake(lke("models", "--papers", "--path", "toy"), "--papers or --path, not both")
    mistake(lke("models", "--papers", "lock"), "--papers and --path go without a command")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub in memory; the commands are called in an empty folder."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    return hub_standins.install(monkeypatch, tmp_path / "hub")


def test_the_papers_models_are_listed_with_what_the_lock_says(lke, hub, tmp_path):
    code, out, err = lke("models", "--papers")
    assert (code, err) == (0, "") and len(out.splitlines()) == 68
    [opt] = [line for line in out.splitlines() if " facebook/opt-125m " in line]
    assert opt.endswith("IC;XT     loadable or convertible: not checked yet (lke models lock)")

    (tmp_path / "empty" / "params").mkdir()
    lock = tmp_path / "empty" / "params" / "models.lock"
    lock.write_text(f"facebook/opt-125m\t{'a' * 40}\tbin\tno\t2026-01-31\n")
    code, out, _ = lke("models", "--papers")
    [opt] = [line for line in out.splitlines() if " facebook/opt-125m " in line]
    assert opt.endswith("convertible: only .bin weights, call lke models convert facebook/opt-125m")
    assert not hub.asked


def test_convert_takes_the_revision_that_a_run_in_this_folder_will_ask_for(
    lke, hub, tmp_path, monkeypatch
):
    monkeypatch.setattr(weights, "convert_bin", lambda source, target: None)
    files = {"config.json": b"{}", "pytorch_model.bin": b""}
    old = hub.add("org/opt", files)
    hub.add("org/opt", files | {"README.md": b"newer"})
    lock = tmp_path / "empty" / "params" / "models.lock"
    lock.parent.mkdir()
    lock.write_text(f"org/opt\t{old}\tbin\tno\t2026-01-31\n")
    lke("models", "convert", "org/opt")
    assert {revision for _, revision in hub.asked} == {old}


def test_lock_asks_for_the_papers_models_and_names_those_that_fail(lke, hub, tmp_path):
    mistake(lke("models", "lock"), "models lock params/models.lock: there is no folder params")
    commit = hub.add("facebook/opt-125m", {"pytorch_model.bin": b""})
    lock = tmp_path / "models.lock"
    code, out, err = lke("models", "lock", "--file", lock)
    assert (code, out) == (1, f"facebook/opt-125m {commit[:12]} bin, gated: no\n")
    first, *failures = err.splitlines()
    assert first == f"{lock}: 1 new or changed"
    assert len(failures) == len({r for r, _ in hub.asked}) - 1 == 66
    assert all(line.startswith("lke: failed: model ") for line in failures)
    assert lock.read_text().splitlines()[-1].startswith(f"facebook/opt-125m\t{commit}\tbin\tno\t")


def test_lock_asks_for_what_params_files_name_without_a_revision(lke, hub, project, monkeypatch):
    params = project / "params" / "mine.yaml"
    params.write_text(RUN % "models: [toy, hf:org/a, org/b@v1], model: org/c")
    for name in ("org/a", "org/c"):
        hub.add(name, {"model.safetensors": b""})
    monkeypatch.setenv("LKE_MODELS_LOCK", str(project / "params" / "models.lock"))
    code, out, _ = lke("models", "lock", params)
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == ["org/a", "org/c"]
    asked = list(hub.asked)
    assert sorted(asked) == [("org/a", None), ("org/c", None)]
    code, out, _ = lke("models", "lock", params)
    assert (code, out) == (0, "") and hub.asked == asked  # asked once
    new = hub.add("org/a", {"model.safetensors": b"", "new": b""})
    code, out, _ = lke("models", "lock", params, "--update")
    assert (code, out) == (0, f"org/a {new[:12]} safetensors, gated: no\n")


NOTEBOOK = """# %% tags=["parameters"]
models: list[str] = ["toy"]
model: str = "toy"
fact_set: str = "atlas"
relations: list[str] = []
n_shots: int = 3
rate: float = 1.0

# %%
print(n_shots)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one notebook; nothing of it may be executed."""
    monkeypatch.setattr(grid, "execute", lambda *_: pytest.fail("a notebook was executed"))
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "params").mkdir()
    (tmp_path / "notebooks" / "00_first.py").write_text(NOTEBOOK)
    return tmp_path


LONG = "a" * 300  # characters: more than any file system takes
RUN = "profile: p\nruns:\n  - notebook: 00_first\n    parameters: {%s}\n"


def test_mistake_in_a_params_file_is_one_line_before_anything_runs(lke, project):
    path = project / "params" / "mine.yaml"
    mistake(lke("run", path), "mine.yaml")
    path.write_text(RUN % "n_shot: 3")
    mistake(lke("run", path), path, "parameter 'n_shot' is unknown", "nearest: n_shots")
    path.write_text(RUN % f"models: [{LONG}]")
    mistake(lke("run", path), f"{path}: 00_first: parameter 'models': aaa", "File name too long")
    assert not (project / "runs").exists()


@pytest.fixture
def executed(project, monkeypatch):
    """What ``lke run`` asks for; nothing is executed, and the outcome can be set."""
    asked = SimpleNamespace(calls=[], outcome=grid.Outcome(), params=project / "params" / "p.yaml")

    def note(*given):
        asked.calls.append(given)
        if isinstance(asked.outcome, BaseException):
            raise asked.outcome
        return asked.outcome

    monkeypatch.setattr(grid, "execute", note)
    asked.params.write_text(RUN % "n_shots: 5")
    return asked


def test_failed_jobs_are_named_one_a_line_with_exit_code_1_and_all_are_counted(lke, executed):
    broken = {"00_first": "broke", "d page": "too"}
    executed.outcome = grid.Outcome(["a"], ["b", "c"], broken, ["e", "f", "g"])
    counts = "1 made here, 3 made by others meanwhile, 2 finished before, 2 failed\n"
    expected = f"lke: failed: 00_first: broke\nlke: failed: d page: too\n{counts}"
    assert lke("run", executed.params) == (1, "", expected)
    executed.outcome = grid.Outcome(["a"])
    counts = "1 made here, 0 made by others meanwhile, 0 finished before, 0 failed\n"
    assert lke("run", executed.params) == (0, "", counts)
    executed.outcome = grid.Outcome(["a"], left=["b", "b page"])
    left = f"2 left to others, who are at them\n{counts}"
    assert lke("run", executed.params, "--leave") == (0, "", left)


def test_a_stopped_run_has_exit_code_130_and_says_how_to_go_on(lke, executed):
    executed.outcome = KeyboardInterrupt()
    line = "lke: stopped; what is finished is kept, the same command goes on\n"
    assert lke("run", executed.params) == (130, "", line)


def test_the_options_of_run_are_the_settings_of_the_grid(lke, executed, tmp_path, monkeypatch):
    from lkecore.runs.devices import Settings

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    lke("run", executed.params)
    assert executed.calls.pop()[1:] == (executed.params.parent.parent / "runs", Settings())
    assert "HF_HUB_OFFLINE" not in os.environ
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")  # so that it is put back
    options = ["--jobs", 4, "--threads", 2, "--devices", "0, 1,3", "--devices-per-job", 2]
    options += ["--retries", 0, "--timeout", 90, "--shard", "2/5", "--offline", "--leave"]
    lke("run", executed.params, "--runs", tmp_path / "other", *options)
    expected = Settings(4, 2, ("0", "1", "3"), 2, 0, 90.0, (2, 5), True, leave=True)
    assert executed.calls.pop()[1:] == (tmp_path / "other", expected)
    lke("run", executed.params, "--worker", "3/8")
    assert executed.calls.pop()[2] == Settings(worker=(3, 8))
    assert os.environ["HF_HUB_OFFLINE"] == "1"


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--shard", "4/3"], "--shard must be i/n with i from 1 to n, found '4/3'"),
        (["--worker", "/"], "--worker must be i/n with i from 1 to n, found '/'"),
        (["--worker", "1/2", "--shard", "1/2"], "give one of the two"),
        (["--leave", "--dry-run"], "--leave is for a run, and --dry-run runs nothing"),
    ],
)
def test_options_of_run_that_make_no_sense_are_one_line(lke, executed, options, part):
    mistake(lke("run", executed.params, *options), part)
    assert executed.calls == []


@pytest.mark.parametrize("command", ["run", "status"])
def test_a_folder_of_runs_from_a_newer_version_is_one_line(lke, tmp_path, command):
    project = projects.make(tmp_path, {"00_first": NOTEBOOK})
    folder = project / "runs" / "00_first-0123456789ab"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"format": 99}')
    before = sorted(project.rglob("*"))
    result = lke(command, project / "params" / "p.yaml")
    mistake(
        result, folder, "written by a newer lkecore (format 99", "name another folder with --runs"
    )
    assert sorted(project.rglob("*")) == before


def test_fetch_names_what_is_here_and_what_cannot_be_had(lke, tmp_path, hub):
    hub.add("org/a", {"config.json": b"{}", "model.safetensors": b""})
    text = NOTEBOOK.replace('model: str = "toy"\n', "")
    row = {"parameters": {"models": ["org/a"]}, "each": ["models"]}
    project = projects.make(tmp_path, {"00_first": text}, **{"00_first": row})
    path = project / "params" / "p.yaml"
    assert lke("fetch", path) == (0, "org/a: on this machine\natlas: on this machine\n", "")
    row["parameters"]["models"].append("org/gone")
    projects.make(tmp_path, {"00_first": text}, **{"00_first": row})
    code, out, err = lke("fetch", path)
    assert (code, out) == (1, "org/a: on this machine\natlas: on this machine\n")
    assert re.fullmatch(r"lke: failed: model org/gone: no such repository on the hub.*\n", err)
    assert [p.name for p in (project).iterdir()].count("runs") == 0


def test_status_has_a_line_for_each_run_and_exit_code_0_only_when_all_are_finished(lke, tmp_path):
    row = {"parameters": {"models": ["smollm2", "org/gone"]}, "each": ["models"]}
    text = projects.code().replace("n: int = 1", "n: int = 1\nmodels: list[str] = []")
    project = projects.make(tmp_path, {"a": text, "b": projects.code()}, a=row)
    path = project / "params" / "p.yaml"
    code, out, err = lke("status", path)
    assert (code, err) == (1, "")
    assert [re.split(r"  +", line) for line in out.splitlines()] == [
        ["a models=smollm2", "waiting", "smollm2 to be fetched"],
        ["a models=org/gone", "waiting", "org/gone to be fetched"],
        ["a page", "waiting", "for the runs behind it"],
        ["b", "waiting"],
    ]
    projects.make(tmp_path, {"b": projects.code()})
    [folder] = projects.folders(project)
    folder.mkdir(parents=True)
    manifest = {"files": {}, "started": "2026-01-31", "seconds": 12.3}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert lke("status", path) == (0, "b  finished  2026-01-31, 12 s\n", "")


def test_a_dry_run_lists_every_job_with_its_cost_and_runs_nothing(lke, project, monkeypatch):
    monkeypatch.setattr(weights, "is_ready", lambda name: True)
    unknown = {"model_bytes": None, "tokens": None, "from_cache": None}
    rows = {
        "toy": {"model_bytes": 2**29, "tokens": 12_345, "from_cache": 345, "remark": ""},
        "org/a": unknown | {"remark": "would fail: BadInput: no"},
    }

    def cost(each, target):
        [model] = each.effective["models"]
        return {"state": "waiting"} | rows[model]

    monkeypatch.setattr(forecast, "cost", cost)
    path = project / "params" / "mine.yaml"
    path.write_text(RUN % "models: [toy, org/a]" + "    each: [models]\n")
    code, out, err = lke("run", path, "--dry-run")
    assert (code, err) == (1, "")  # since one of them would fail
    first, toy, other, total = out.splitlines()
    assert first.split() == ["job", "state", "memory", "tokens", "from", "cache"]
    assert toy.split() == ["00_first", "models=toy", "waiting", "0.5", "GiB", "12,345", "345"]
    other = re.split(r"  +", other)
    assert other == ["00_first models=org/a", "waiting", "?", "-", "-", "would fail: BadInput: no"]
    assert total == "runs: 2, pages over several: 1, tokens to forward: 12,000"
    code, out, _ = lke("run", path, "--dry-run", "--shard", "1/2")
    assert code == 0 and "models=org/a" not in out
    assert out.splitlines()[-1] == "runs: 1, pages over several: 0, tokens to forward: 12,000"
    assert not (project / "runs").exists()


# --- as the shell sees it -------------------------------------------------------------------------


def shell(*arguments):
    code = "from lkecore.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )


def test_standard_output_is_json_alone_in_a_new_process_with_the_same_numbers(
    score, capital, tmp_path
):
    summary, frame = score("--seed", 19)
    done = shell("score", *small(capital, tmp_path / "fresh"), "--seed", 19, "--no-cache")
    assert (done.returncode, done.stderr) == (0, "")
    again = json.loads(done.stdout)
    assert again["model_digest"] == summary["model_digest"]
    assert again["facts_digest"] == summary["facts_digest"]
    assert again["tokens_forwarded"] == summary["tokens_forwarded"]
    fresh = pd.read_parquet(tmp_path / "fresh" / "options.parquet")
    pd.testing.assert_frame_equal(frame.drop(columns="logprob"), fresh.drop(columns="logprob"))
    # float32, same maths: the number of threads may change the order of sums.
    assert (frame["logprob"] - fresh["logprob"]).abs().max() < 1e-4


def test_a_folder_that_cannot_be_used_is_one_line(lke, tmp_path):
    (tmp_path / "file").write_text("")
    smoke = Path(__file__).parent.parent / "params" / "smoke.yaml"
    code, _, err = lke("run", smoke, "--runs", tmp_path / "file" / "runs")
    assert code == 2 and err.count("\n") == 1 and "Not a directory" in err
    assert "what is finished is kept, the same command goes on" in err


def test_a_name_that_no_file_can_have_is_one_line(lke):
    for command in (["facts", LONG], ["models", "--path", LONG]):
        assert len(mistake(lke(*command), "File name too long")) < 300


def test_a_dead_link_in_the_folder_of_a_model_is_named(lke, capital, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(weights.locate("toy"), copy)
    (copy / "SHA256SUMS").unlink()
    (copy / "model.safetensors").unlink()
    (copy / "model.safetensors").symlink_to("gone")
    (copy / "README.md").symlink_to("gone")  # nobody reads it
    asked = lke("score", *small(capital, tmp_path / "out"), "--model", copy)
    mistake(asked, f"model {copy}: model.safetensors is a link to gone, which is not there")


def test_letters_that_a_terminal_lacks_cost_no_line(lke, tmp_path, monkeypatch):
    relation = "ßüd 首都 🎈"
    path = tmp_path / f"{relation}.csv"
    rows = [f"L{n},T{n}\n" for n in range(40)]
    path.write_text("subject,object\n" + "".join(rows), encoding="utf-8")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    size = ["--estimator", "rule-both", "--shots", 5, "--options", 4, "--limit", 6]
    asked = lke("score", "--facts", path, "--relation", relation, *size, "--out", tmp_path / "o")
    assert asked[0] == 0, asked
    assert json.loads(written.getvalue())["relation"] == relation
    written.truncate(0)
    assert lke("facts", path)[0] == 0
    assert b"40 " in written.getvalue()


@pytest.mark.parametrize("full", ["runs", "cache"])
def test_a_full_folder_of_runs_or_cache_is_one_line_and_starts_nothing(
    lke, tmp_path, monkeypatch, full
):
    project = projects.make(tmp_path, {"a": projects.code("n")})
    folder = {"runs": project / "runs", "cache": weights.cache_folder()}[full]
    make = tempfile.TemporaryFile

    def no_room(*given, **how):
        if how.get("dir") == folder:
            raise OSError(28, "No space left on device")
        return make(*given, **how)

    monkeypatch.setattr(grid, "_start", lambda *_: pytest.fail("started"))
    monkeypatch.setattr(tempfile, "TemporaryFile", no_room)
    code, _, err = lke("run", project / "params" / "p.yaml")
    goes_on = "what is finished is kept, the same command goes on\n"
    assert (code, err) == (2, f"lke: {folder}: No space left on device; {goes_on}")


def test_what_was_read_repeated_and_no_facts_is_listed_and_in_the_result(lke, tmp_path):
    folder = tmp_path / "set"
    (folder / "P1").mkdir(parents=True)
    lines = [f"{country},{city}\n" for country, city in CAPITALS.items()]
    (folder / "P1" / "train.csv").write_text("subject,object\n" + "".join(lines[:15]))
    (folder / "P1" / "validation.csv").write_text("subject,object\n" + "".join(lines[14:]))
    rows = ["cobalt,Co", "carbon monoxide,CO", "Nor\u200bway,Oslo", "Norway,d'Or", "Côte,d\u2019Or"]
    (folder / "P2.csv").write_text("\n".join(["subject,object", *rows]), encoding="utf-8")
    (folder / "README.md").write_text("notes")
    code, printed, _ = lke("facts", folder)
    head, first, second, subject, one, near, unread = printed.splitlines()
    assert code == 0 and re.split(r" {2,}", head)[:6] == [
        "relation", "facts", "objects", "rows read", "repeated", "left out"
    ]  # fmt: skip
    assert first.split() == ["P1", "20", "20", "21", "1", "0", "-", "14", "train,", "6", "dev"]
    assert second.split() == ["P2", "5", "4", "5", "0", "0", "-", "-"]
    assert subject == r"P2: counted as one subject: Norway, Nor\u200bway"
    assert near == r"P2: alike, and not counted as one: d'Or, d\u2019Or"
    assert one == "P2: counted as one object: CO, Co"
    assert unread == "no facts, and not read: README.md"
    asked = ["--facts", folder, "--relation", "P1", "--split", "dev", "--shots", 2, "--options", 3]
    asked += ["--out", tmp_path / "out"]
    code, printed, err = lke("score", *asked, "--model", "toy")
    said = json.loads(printed)
    assert said["n_facts"] == 6 and said["files_unread"] == ["README.md"]
    assert (said["rows_read"], said["rows_repeated"], said["rows_left_out"]) == (21, 1, 0)
