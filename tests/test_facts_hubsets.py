"""Fact sets of the hub: fetched whole or refused in one line, and read as their authors meant."""

import gzip
import json
from fnmatch import fnmatchcase

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import refusal
from hub_standins import http
from huggingface_hub import constants, errors

from lkecore import facts
from lkecore.facts.fact import Fact

MAIN, COPY, OLD = "a" * 40, "b" * 40, "c" * 40


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache of the hub, with the network off: the library's own code does the rest."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def put(cache, repository, files, revision="main", commit=MAIN):
    """Lay a snapshot into the cache as the hub's client does: {path: rows, text or bytes}."""
    home = cache / f"datasets--{repository.replace('/', '--')}"
    ref = home / "refs" / revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(commit)
    for name, content in files.items():
        path = home / "snapshots" / commit / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(content), path)
        elif path.suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in content), encoding="utf-8")
        else:
            path.write_text(content, encoding="utf-8")
    return home / "snapshots" / commit


def pairs(relation):
    return [(f.subject, f.object, f.split) for f in relation.facts]


# --- layouts --------------------------------------------------------------------------------------


def mc(number, relation, subject, object_, choices):
    """A row of T-REx-MC with the columns that its card on the hub names."""
    return {
        "Relation_ID": number,
        "Relation Name": relation,
        "Subject": subject,
        "Object": object_,
        "Multiple Choices": choices,
        "Title": subject,
        "Text": "",
    }


def test_trex_mc_gives_splits_and_its_own_choices_with_the_gold_one(cache):
    put(
        cache,
        "QinyuanWu/T-Rex-MC",
        {
            "README.md": "# card",
            "data/relationID_names.json": '{"4": "capital", "15": "date of birth"}',  # no facts
            # The authors' code adds the object to the choices itself, so it is not among them.
            "data/test-00000-of-00001.parquet": [
                mc(4, "capital", "Kenya", "Nairobi", "['Rome', \"N'Djamena\", 'Oslo']"),
                mc(15, "date of birth", "Rembrandt", "1606", "['1607', '1608', '1609']"),
            ],
            "data/train-00000-of-00001.parquet": [
                mc(
                    4, "capital", "Italy", "Rome", "['Rome', 'Oslo', 'Bern', 'Paris']"
                ),  # gold is among them
                mc(4, "capital", "Norway", "Oslo", None),
            ],
        },
    )
    spec = "hub:QinyuanWu/T-Rex-MC"
    assert facts.relations(spec) == ("capital", "date of birth")
    assert facts.load(spec, "capital").paper_relation == "capital"  # so it has Table 5's templates
    found = {f.subject: f for f in facts.load(spec, "capital").facts}
    assert {s: f.split for s, f in found.items()} == {
        "Kenya": "test", "Italy": "train", "Norway": "train",
    }  # fmt: skip
    assert found["Kenya"].options == ("N'Djamena", "Nairobi", "Oslo", "Rome")
    assert found["Italy"].options == ("Bern", "Oslo", "Paris", "Rome")
    assert found["Norway"].options == ()
    assert facts.load(spec, "date of birth").facts[0].object == "1606"


@pytest.mark.parametrize("choices", ["['a' 'b']", "[[" * 999, "['a', ['b', 2.5]]"])
def test_choices_that_are_no_list_of_texts_are_named_with_file_and_row(cache, choices):
    good = mc(4, "capital", "x", "y", "['a', 'b']")
    where = put(cache, "org/mc", {"test.parquet": [good, mc(4, "capital", "s", "o", choices)]})
    message = refusal(facts.load, "hub:org/mc", "capital")
    assert message.startswith(f"{where / 'test.parquet'}, row 2: options must be a")


def test_trex_has_one_fact_for_many_sentences_and_validation_is_dev(cache):
    def row(relation, head, tail, text):
        return {"relation": relation, "head": head, "tail": tail, "title": "t", "text": text}

    put(
        cache,
        "relbert/t_rex",
        {
            "data/t_rex.filter_unified.min_entity_5.train.jsonl": [
                row("[Person] speaks [Language]", "Ana", "Polish", "one"),
                row("[Person] speaks [Language]", "Ana", "Polish", "two"),
                row("P17", "Oslo", "Norway", "one"),
            ],
            "data/t_rex.filter_unified.min_entity_5.validation.jsonl": [
                row("P17", "Rome", "Italy", "one")
            ],
            "data/t_rex.filter_unified.test.jsonl": [row("P17", "Oslo", "Norway", "three")],
            "predicate_manual_check.csv": "predicate,new\nP17,country\n",
        },
    )
    speaks = facts.load("hub:relbert/t_rex", "[Person] speaks [Language]")
    assert pairs(speaks) == [("Ana", "Polish", "train")] and speaks.repeated == 1
    country = facts.load("hub:relbert/t_rex", "P17")
    assert sorted(pairs(country)) == [("Oslo", "Norway", "test"), ("Rome", "Italy", "dev")]
    assert country.repeated == 1  # the same fact in two splits
    narrow = "hub:relbert/t_rex/data/t_rex.filter_unified.test"
    assert pairs(facts.load(narrow, "P17")) == [("Oslo", "Norway", "test")]
    assert facts.content_digest(narrow) != facts.content_digest("hub:relbert/t_rex")


@pytest.mark.parametrize("cell", [bool, int, str])  # "False", as a table of texts has it, is no yes
def test_myriad_lama_has_one_fact_for_many_templates_and_all_true_objects(cache, cell):
    def row(uuid, subject, objects, template, manual):
        return {
            "uuid": uuid,
            "rel_uri": "P37",
            "sub_ent": subject,
            "obj_uris": [f"Q{o}" for o in objects],
            "obj_ents": objects,
            "obj_aliases": [[o.upper()] for o in objects],
            "template": template,
            "is_manual": cell(manual),
        }

    canada, malta = ("u1", "Canada", ["English", "French"]), ("u2", "Malta", ["Maltese"])
    templates = [("[Y] is spoken in [X].", False), ("In [X] they speak [Y].", True)]
    rows = [row(*fact, *template) for fact in (canada, malta) for template in templates]
    put(cache, "iszhaoxin/MyriadLAMA", {"default/train/0000.parquet": rows},
        "refs/convert/parquet", COPY)  # fmt: skip
    loaded = facts.load("hub:iszhaoxin/MyriadLAMA", "P37")
    assert loaded.facts == (
        Fact("u1", "P37", "Canada", "English", ("French",), ("ENGLISH", "FRENCH"), "train"),
        Fact("u2", "P37", "Malta", "Maltese", (), ("MALTESE",), "train"),
    )
    assert (loaded.read, loaded.repeated) == (4, 2)
    assert loaded.templates == ("In [X] they speak [Y].", "[Y] is spoken in [X].")
    assert loaded.manual == (True, False)


def test_lama_has_one_fact_for_many_sentences_with_label_and_template(cache):
    def row(sentence):
        return {
            "uuid": "u1",
            "obj_label": "Rome",
            "sub_label": "Italy",
            "predicate_id": "P36",
            "masked_sentence": sentence,
            "template": "The capital of [X] is [Y] .",
            "label": "capital",
            "type": "1-1",
        }

    born = "/people/person/place_of_birth"
    google = {
        "pred": born,
        "sub_label": "Ana",
        "obj_label": "Lima",
        "obj_aliases": "[]",
        "uuid": "g1",
        "template": "[X] was born in [Y] .",
    }
    squad = {"id": "1", "obj_label": "Rome", "masked_sentence": "The capital is [MASK]."}
    script = {
        "lama.py": "raise SystemExit",
        "dataset_infos.json": '{"trex": {\n"description": ""}}',
    }
    tables = {
        "trex/partial-train/0000.parquet": [row("one [MASK]"), row("two [MASK]")],
        "trex/partial-train/0001.parquet": [row("three [MASK]")],
        "google_re/train/0000.parquet": [google],
        "squad/train/0000.parquet": [squad],
    }
    put(cache, "facebook/lama", script)
    put(cache, "facebook/lama", tables, "refs/convert/parquet", COPY)
    assert facts.relations("hub:facebook/lama") == (born, "P36")
    loaded = facts.load("hub:facebook/lama", "P36")
    assert loaded.facts == (Fact("u1", "P36", "Italy", "Rome", split="train"),)
    assert (loaded.read, loaded.repeated, loaded.label) == (3, 2, "capital")
    assert loaded.templates == ("The capital of [X] is [Y] .",)
    assert pairs(facts.load("hub:facebook/lama", born)) == [("Ana", "Lima", "train")]
    assert facts.relations("hub:facebook/lama/trex") == ("P36",)
    said = refusal(facts.load, "hub:facebook/lama/squad", "P36")
    assert "begins with 'squad' with a subject" in said


@pytest.mark.parametrize("uuid", [{}, {"uuid": None}])
def test_lama_without_ids_gets_those_of_its_facts(cache, uuid):
    row = {"predicate_id": "P36", "sub_label": "Italy", "obj_label": "Rome", **uuid}
    put(cache, "org/lama", {"P36.jsonl": [row, {**row, "sub_label": "Peru", "obj_label": "Lima"}]})
    loaded = facts.load("hub:org/lama", "P36")
    assert pairs(loaded) == [("Italy", "Rome", ""), ("Peru", "Lima", "")]
    assert len({f.id for f in loaded.facts}) == 2


FRANCE = {"subject": "France", "object": "Paris"}


@pytest.mark.parametrize(
    ("name", "relation", "split"),
    [
        ("P36.jsonl", "P36", ""),
        ("dev/P36.jsonl", "P36", "dev"),
        ("data/P36_validation-00001-of-00002.jsonl", "P36", "dev"),
        ("P36/test/0000.jsonl", "P36", "test"),
        ("data/training.jsonl", "capitals", "train"),
        ("europe/latest.jsonl", "latest", ""),
        ("test/P36-train.jsonl", "P36", "train"),
    ],
)
def test_our_own_columns_take_relation_and_split_from_the_path(cache, name, relation, split):
    put(cache, "org/capitals", {name: [FRANCE]})
    assert facts.relations("hub:org/capitals") == (relation,)
    assert pairs(facts.load("hub:org/capitals", relation)) == [("France", "Paris", split)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "relation,sub_label,obj_label,split\nq,France,Paris,validation\n"),
        ("a.json", json.dumps([{"relation": "q", **FRANCE, "split": "validation"}], indent=1)),
        ("a.json", (json.dumps({"relation": "q", **FRANCE, "split": "dev"}) + "\n") * 2),
    ],
)
def test_our_own_columns_are_read_from_every_format(cache, name, content):
    put(cache, "org/any", {name: content, "names.json": '["France"]', "empty.json": ""})
    loaded = facts.load("hub:org/any", "q")
    assert pairs(loaded) == [("France", "Paris", "dev")]
    assert loaded.repeated == content.count("Paris") - 1


def test_files_of_the_hub_are_read_in_capitals_and_packed_and_the_others_are_named(cache):
    where = put(cache, "org/set", {
        "data/P36.JSONL": f"{json.dumps(FRANCE)}\n", "data/P36-valid.csv": "", "stats.csv": "n\n1\n",
    })  # fmt: skip
    packed = f"{json.dumps({**FRANCE, 'subject': 'Gaul'})}\n".encode()
    (where / "data" / "P37-validation-00000-of-00001.jsonl.gz").write_bytes(gzip.compress(packed))
    (where / "data" / "P37_eval.jsonl").write_text(json.dumps(FRANCE))
    spec = "hub:org/set"
    assert facts.relations(spec) == ("P36", "P37")
    assert pairs(facts.load(spec, "P36")) == [("France", "Paris", "")]
    assert sorted(pairs(facts.load(spec, "P37"))) == [
        ("France", "Paris", "dev"),
        ("Gaul", "Paris", "dev"),
    ]
    assert facts.unread(spec) == ("data/P36-valid.csv", "stats.csv")
    assert facts.unread("hub:org/set/data") == ("data/P36-valid.csv",)


def test_json_list_with_something_else_among_its_rows_is_refused(cache):
    where = put(cache, "org/any", {"a.json": json.dumps([{"relation": "q", **FRANCE}, "France"])})
    assert refusal(facts.relations, "hub:org/any") == (
        f"{where / 'a.json'}, row 2: expected a JSON object, found 'France'"
    )


# --- which files ----------------------------------------------------------------------------------


def test_a_revision_is_a_set_of_its_own(cache):
    put(cache, "org/set", {"r.jsonl": [FRANCE]})
    put(cache, "org/set", {"r.jsonl": [{**FRANCE, "object": "Vichy"}]}, "v1", OLD)
    put(cache, "org/set", {"r.jsonl": [{**FRANCE, "object": "Tours"}]}, "refs/pr/1", COPY)
    found = {
        spec: facts.load(spec, "r").facts[0].object
        for spec in ("hub:org/set", "hub:org/set@v1", f"hub:org/set@{OLD}", "hub:org/set@refs/pr/1")
    }
    assert list(found.values()) == ["Paris", "Vichy", "Vichy", "Tours"]
    assert len({facts.content_digest(spec) for spec in found}) == 3


def test_readiness_asks_for_the_files_and_not_for_the_network(cache, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    assert not facts.is_ready("hub:org/set")
    put(cache, "org/set", {"README.md": "only a card"})
    assert not facts.is_ready("hub:org/set")
    put(cache, "org/set", {"r.jsonl": [FRANCE]}, "refs/convert/parquet", COPY)
    assert facts.is_ready("hub:org/set") and not facts.is_ready("hub:org/set@main")
    assert not facts.is_ready("hub:org/set@v9") and not facts.is_ready("hub:org/set/other")
    assert facts.relations("hub:org/set") == ("r",)


def test_a_set_of_which_only_a_part_was_fetched_is_not_taken_for_the_whole(cache):
    """As a download leaves it that was broken off, or that was for one path only."""
    put(cache, "org/set", {"P1.jsonl": [FRANCE]})
    listing = {n: {"size": 1, "blob_id": "0" * 40} for n in ("P1.jsonl", "P2.jsonl", "set.py")}
    trees = cache / "datasets--org--set" / "trees"
    trees.mkdir()
    (trees / f"{MAIN}.json").write_text(json.dumps({"format_version": 1, "files": listing}))
    assert facts.is_ready("hub:org/set/P1") and facts.relations("hub:org/set/P1") == ("P1",)
    assert not facts.is_ready("hub:org/set") and not facts.is_ready("hub:org/set/P2")
    assert "not on this machine" in refusal(facts.relations, "hub:org/set")


@pytest.mark.parametrize("spec", ["hub:", "hub:lama", "hub:a//b", "hub:a b/c", "hub:a/b@../../c"])
def test_malformed_name_is_refused(spec):
    for function in (facts.relations, facts.is_ready, facts.content_digest):
        assert refusal(function, spec) == (
            f"fact set {spec!r}: a data set of the hub is named hub:org/name[/path][@revision]"
        )


# --- fetching -------------------------------------------------------------------------------------


def test_without_network_a_set_that_is_not_there_says_so(cache):
    assert refusal(facts.load, "hub:org/set", "r") == (
        "fact set hub:org/set: not on this machine, and the network is off (HF_HUB_OFFLINE)"
    )
    assert refusal(facts.load, "hub:a--b/c", "r").startswith(
        "fact set hub:a--b/c: not from the hub (HFValidationError: "
    )


def serve(monkeypatch, cache, branches):
    """A hub with these branches of org/set; returns what was asked of it."""
    asked = []
    real = huggingface_hub.snapshot_download

    def download(repository, *, revision=None, local_files_only=False, **kwargs):
        if not local_files_only:
            asked.append((revision, kwargs["repo_type"], tuple(kwargs["allow_patterns"])))
            if (revision or "main") not in branches:
                raise http(errors.RevisionNotFoundError)
            put(cache, repository, branches[revision or "main"], revision or "main",
                COPY if revision else MAIN)  # fmt: skip
        return real(repository, revision=revision, local_files_only=True, **kwargs)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return asked


def test_data_files_are_fetched_once_and_never_a_script(cache, monkeypatch):
    asked = serve(monkeypatch, cache, {"main": {"r.jsonl": [FRANCE]}})
    for _ in range(3):
        assert pairs(facts.load("hub:org/set", "r")) == [("France", "Paris", "")]
        facts.content_digest("hub:org/set")
    [(revision, kind, patterns)] = asked
    assert (revision, kind) == (None, "dataset")
    for name in ("r.jsonl", "d/r.csv", "r.TSV", "r.parquet", "r.json", "r.jsonl.gz", "r.Csv.GZ"):
        assert any(fnmatchcase(name, pattern) for pattern in patterns), name
    for name in ("set.py", "README.md", "r.jsonl.bz2", "r.bin"):
        assert not any(fnmatchcase(name, pattern) for pattern in patterns), name


def test_script_set_is_taken_from_the_parquet_copy_of_the_hub(cache, monkeypatch):
    branches = {
        "main": {"set.py": "raise SystemExit", "dataset_infos.json": '{"a": 1}'},
        "refs/convert/parquet": {"default/test/0000.parquet": [FRANCE]},
    }
    put(cache, "org/set", {"README.md": "a card that was fetched before"})
    asked = serve(monkeypatch, cache, branches)
    assert pairs(facts.load("hub:org/set", "set")) == [("France", "Paris", "test")]
    assert [revision for revision, _, _ in asked] == [None, "refs/convert/parquet"]


def test_set_without_data_files_says_what_is_looked_for(cache, monkeypatch):
    serve(monkeypatch, cache, {"main": {"set.py": "", "dataset_infos.json": "{}"}})
    assert refusal(facts.relations, "hub:org/set") == (
        "fact set hub:org/set: no .jsonl, .csv, .tsv, .parquet, .json file with a subject and an "
        "object column (scripts are not run)"
    )
    assert "file whose path begins with 'part' with" in refusal(
        facts.relations, "hub:org/set/part@main"
    )
