"""Facts: what is loaded is what the files say, and what is drawn never tells the answer."""

import csv
import hashlib
import json
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from helpers import refusal
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import lkecore
from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts.fact import Fact, Relation

DATA = Path(lkecore.__file__).parent / "data"


def put(path, rows):
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(subject, object_, **more):
    return {"subject": subject, "object": object_, **more}


def load(folder, rows, name="r"):
    return facts.load(str(put(folder / f"{name}.jsonl", rows)), name)


def relation(pairs, **more):
    """A relation of (subject, object) pairs, without a file; ids are s0, s1, ..."""
    return Relation("r", tuple(Fact(f"s{i}", "r", s, o, **more) for i, (s, o) in enumerate(pairs)))


def by_pair(loaded):
    return {(fact.subject, fact.object): fact for fact in loaded.facts}


# --- load: layouts --------------------------------------------------------------------------------


def test_relation_column_of_a_file_in_a_folder_does_not_rename_it(tmp_path):
    put(tmp_path / "capital" / "test.jsonl", [row("a", "1", relation="P36")])
    assert facts.relations(str(tmp_path)) == ("capital",)
    assert [f.relation for f in facts.load(str(tmp_path), "capital").facts] == ["capital"]


# --- load: what the rows mean ---------------------------------------------------------------------


def test_listed_objects_are_alternatives_and_aliases_are_flattened(tmp_path):
    rows = [
        row("Bern", "German", obj_labels=["German", "French"], obj_aliases=[["Deutsch"], []]),
        row("Bern", "Italian", obj_aliases=["Italiano"]),
    ]
    found = by_pair(load(tmp_path, rows))
    assert set(found["Bern", "German"].alternatives) == {"French", "Italian"}
    assert set(found["Bern", "Italian"].alternatives) == {"German", "French"}
    for fact in found.values():
        assert set(fact.aliases) == {"Deutsch", "Italiano"}
        assert fact.true_names == {"german", "french", "italian", "deutsch", "italiano"}


LETTERS = st.sampled_from("abcdA")  # a and A are two subjects
ROWS = st.one_of(
    st.lists(
        st.tuples(LETTERS, st.sampled_from("12345"), st.sampled_from(splits)),
        min_size=1,
        max_size=12,
    )
    for splits in ([""], ["train", "dev", "test"])  # none has a split, or all have
)


@given(ROWS)
def test_loading_agrees_with_a_count_by_hand(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    loaded = load(folder, [row(s, o, split=split) for s, o, split in rows])
    pairs = {(s, o) for s, o, _ in rows}
    assert set(by_pair(loaded)) == pairs and len(loaded.facts) == len(pairs)
    assert loaded.repeated == len(rows) - len(pairs)
    assert len({f.id for f in loaded.facts}) == len(pairs)
    assert loaded.objects == tuple(sorted({o for _, o in pairs}))
    for fact in loaded.facts:
        others = {o for s, o in pairs if s == fact.subject} - {fact.object}
        assert set(fact.alternatives) == others
        splits = {x for s, o, x in rows if (s, o) == (fact.subject, fact.object)}
        assert fact.split == next(x for x in ("test", "dev", "train", "") if x in splits)


@given(ROWS, st.randoms(use_true_random=False))
def test_digest_and_draws_do_not_depend_on_the_order_of_rows(tmp_path_factory, rows, rng):
    folder = tmp_path_factory.mktemp("rows")
    written = [row(s, o, split=split, id=f"{s}{o}", obj_aliases=[o * 2]) for s, o, split in rows]
    first = load(folder, written)
    rng.shuffle(written)
    second = load(folder, written)
    assert first.digest == second.digest
    try:
        parts = facts.divide(first)
    except BadInput as error:
        assert refusal(facts.divide, second) == str(error)
        return
    for one, other in zip(parts, facts.divide(second), strict=True):
        assert [f.id for f in one] == [f.id for f in other]


def test_digest_changes_with_every_part_of_the_content(tmp_path):
    def base():
        return row("a", "1", id="k", split="test", obj_labels=["1", "2"], obj_aliases=["x"])

    def other():
        return row("b", "2", id="l", split="test")

    plain = load(tmp_path, [base(), other()]).digest
    changed = [
        {"subject": "A"}, {"object": "3"}, {"id": "K"}, {"split": "dev"},
        {"obj_labels": ["1", "3"]}, {"obj_aliases": ["y"]}, {"obj_aliases": []},
    ]  # fmt: skip
    digests = {load(tmp_path, [base() | change, other()]).digest for change in changed}
    digests |= {
        load(tmp_path, [base()]).digest,
        load(tmp_path, [base(), other()], name="q").digest,
    }
    assert len(digests | {plain}) == len(changed) + 3
    assert load(tmp_path, [base(), other()]).digest == plain
    repeated = [base(), base(), other() | {"relation": "r"}]
    assert load(tmp_path, repeated).digest == plain


def test_digest_of_a_fact_set_changes_with_its_files_and_what_they_are_named_after(tmp_path):
    put(tmp_path / "p.jsonl", [row("a", "2")])
    found = {facts.content_digest(str(tmp_path))}
    put(tmp_path / "p.jsonl", [row("a", "1")])
    for name in ("q.jsonl", "train.jsonl", "dev.jsonl"):
        [file] = tmp_path.iterdir()
        found |= {facts.content_digest(str(tmp_path))}
        file.rename(tmp_path / name)
    last = facts.content_digest(str(tmp_path))
    assert len(found | {last}) == 5
    (tmp_path / "notes.txt").write_text("no fact")
    assert facts.content_digest(str(tmp_path)) == last


# --- one name in two forms ------------------------------------------------------------------------

# Two ways to write each, which Unicode calls equivalent; the Ångström sign has three.
FORMS = [
    ("Z\u00fcrich", "Zu\u0308rich"), ("\u212bre", "A\u030are"),
    ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "\ud55c\uad6d"),
]  # fmt: skip
OTHERS = [row(f"s{i}", f"o{i}") for i in range(6)]


def one(name):
    return unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(("first", "second"), FORMS)
def test_a_name_in_two_forms_is_one_object_and_never_a_wrong_option_beside_itself(
    tmp_path, first, second
):
    assert first != second and one(first) == one(second)
    rows = [row("x", first), row("y", second), *OTHERS, row("z", second.upper())]
    loaded = load(tmp_path, rows)
    assert len(loaded.objects) == 7 == facts.max_options(loaded)
    shown = {f.subject: f.object for f in loaded.facts}
    assert shown["x"] == shown["y"] == first  # as the file has it first
    assert load(tmp_path, [row("x", second)]).facts[0].id == loaded.facts[0].id
    for fact, options in zip(
        loaded.facts, facts.draw_options(loaded.facts, loaded.objects, 7, 0), strict=True
    ):
        assert len({one(o).casefold() for o in options}) == 7 and options.count(fact.object) == 1
    # The same without a file, where each fact has its own form.
    made = relation([(r["subject"], r["object"]) for r in rows])
    assert len(made.objects) == 7 == facts.max_options(made)
    for options in facts.draw_options(made.facts, made.objects, 7, seed=0):
        assert len({one(o).casefold() for o in options}) == 7


# --- the atlas ------------------------------------------------------------------------------------


def table(name):
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_atlas_gives_every_relation_with_its_rows_and_what_is_declared_of_it():
    pairs = defaultdict(set)
    for line in table("atlas.tsv"):
        pairs[line["relation"]].add((line["subject"], line["object"]))
    declared = {line["relation"]: line for line in table("atlas_relations.tsv")}
    assert facts.relations("atlas") == tuple(sorted(declared)) == tuple(sorted(pairs))
    for name, about in declared.items():
        loaded = facts.load("atlas", name)
        assert set(by_pair(loaded)) == pairs[name] and loaded.repeated == 0
        assert loaded.name == name and {f.relation for f in loaded.facts} == {name}
        assert (loaded.label, loaded.kind) == (about["label"], about["kind"])
        assert loaded.kind in ("location", "language", "other")
        assert loaded.codes == (about["codes"] == "yes")
        assert loaded.paper_relation == about["paper_relation"]
        assert list(loaded.templates) == [about[f"template_{i}"] for i in range(1, 6)]


# --- divide ---------------------------------------------------------------------------------------


def sides(train, test):
    return {f.subject for f in train}, {f.subject for f in test}


def test_own_splits_are_kept_and_shots_share_no_subject_with_asked_facts(tmp_path):
    rows = [
        row("a", "1", split="train"), row("b", "2", split="train"), row("c", "3", split="dev"),
        row("a", "4", split="test"), row("d", "5", split="test"),
    ]  # fmt: skip
    loaded = load(tmp_path, rows)
    assert sides(*facts.divide(loaded)) == ({"b"}, {"a", "d"})  # a is asked, so it is not shown
    assert sides(*facts.divide(loaded, "dev")) == ({"a", "b"}, {"c"})
    assert sides(*facts.divide(loaded, "train")) == ({"c"}, {"a", "b"})
    assert facts.divide(loaded, seed=0) == facts.divide(loaded, seed=1)


def test_shots_come_from_dev_where_there_is_no_train_split(tmp_path):
    rows = [row("a", "1", split="dev"), row("b", "2", split="test")]
    assert sides(*facts.divide(load(tmp_path, rows))) == ({"a"}, {"b"})
    rows = [row("a", "1", split="train"), row("b", "2", split="test")]
    assert sides(*facts.divide(load(tmp_path, rows), "train")) == ({"b"}, {"a"})


def test_a_split_that_all_facts_share_counts_as_none(tmp_path):
    rows = [row(f"x{i}", "o", id=f"k{i}") for i in range(9)]
    shared = load(tmp_path / "a", [each | {"split": "dev"} for each in rows])
    plain = load(tmp_path / "b", rows)
    assert not facts.has_splits(shared) and not facts.has_splits(plain)
    for part in ("test", "train"):
        assert sides(*facts.divide(shared, part)) == sides(*facts.divide(plain, part))
    one = [rows[0] | {"split": "train"}, *({**each, "split": "test"} for each in rows[1:])]
    assert facts.has_splits(load(tmp_path / "c", one))


@pytest.mark.parametrize("empty", [{}, {"split": None}])
def test_a_row_without_a_split_among_others_with_one_is_refused_with_its_line(tmp_path, empty):
    rows = [row("x0", "o", split="train"), row("x1", "o", split="test")]
    bare = row("bare", "o") | empty
    assert refusal(load, tmp_path, [*rows, bare, bare]) == (
        f"{tmp_path / 'r.jsonl'}, line 3: other rows of relation r have a split, this one has none"
    )
    other = load(tmp_path, [*rows, bare | {"relation": "q"}])  # of another relation, which has none
    assert [f.split for f in other.facts] == ["train", "test"]


@pytest.mark.parametrize(
    ("n", "n_train", "n_test"), [(1000, 100, 400), (500, 100, 400), (450, 100, 350), (60, 30, 30)]
)
def test_facts_without_splits_get_those_of_the_paper_or_at_most_half(n, n_train, n_test):
    some = relation([(f"x{i}", "o") for i in range(n)])
    train, test = facts.divide(some)
    assert (len(train), len(test)) == (n_train, n_test)
    assert not set(train) & set(test)
    assert facts.divide(some, "train") == (test, train)
    assert facts.divide(some, seed=1) != (train, test)


@given(
    st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=20, unique=True), st.integers(1, 9)
)
def test_a_subject_is_on_one_side_only(pairs, n_train):
    given_relation = relation(pairs)
    try:
        train, test = facts.divide(given_relation, n_train=n_train)
    except BadInput:
        # Whatever the order, the first subject that is cut off takes all facts there are.
        largest = max(Counter(s for s, _ in pairs).values())
        assert min(n_train, len(pairs) // 2) + largest > len(pairs)
        return
    shown, asked = sides(train, test)
    assert not shown & asked and asked
    assert len(train) + len(test) == len(pairs)
    assert len(train) >= min(n_train, len(pairs) // 2)
    # Only as much beyond the cut as the facts of its last subject.
    assert not train or len(train) - Counter(f.subject for f in train)[train[-1].subject] < n_train


# --- draw shots and facts -------------------------------------------------------------------------


def test_shots_have_distinct_subjects_and_fewer_are_the_beginning_of_more():
    train = relation([(f"x{i % 20}", f"o{i}") for i in range(60)]).facts
    twenty = facts.draw_shots(train, 20, seed=1)
    assert len({f.subject for f in twenty}) == 20 and set(twenty) <= set(train)
    for n in range(20):
        assert facts.draw_shots(train, n, seed=1) == twenty[:n]
    assert facts.draw_shots(train, 20, seed=2) != twenty
    assert [f.subject for f in twenty] != [f"x{i}" for i in range(20)]  # in random order


# --- draw options ---------------------------------------------------------------------------------

SPELLED = st.sampled_from(["a", "A", "b", "c", "d", "ß", "SS", "e"])


@st.composite
def small_relations(draw):
    """Relations of a few facts with objects in two spellings, alternatives and aliases."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from("xyz"), SPELLED, st.lists(SPELLED, max_size=2), st.lists(SPELLED)
            ),
            min_size=1,
            max_size=7,
            unique_by=lambda r: r[:2],
        )
    )
    return Relation(
        "r",
        tuple(
            Fact(f"s{i}", "r", s, o, tuple(also), tuple(aliases[:2]))
            for i, (s, o, also, aliases) in enumerate(rows)
        ),
    )


@given(small_relations(), st.integers(2, 6), st.integers(0, 3))
def test_options_hold_one_gold_and_nothing_else_that_is_true(loaded, n_options, seed):
    try:
        drawn = facts.draw_options(loaded.facts, loaded.objects, n_options, seed)
    except BadInput:
        return
    of_relation = {f.object for f in loaded.facts}
    for fact, options in zip(loaded.facts, drawn, strict=True):
        assert len(options) == n_options and options.count(fact.object) == 1
        assert len({o.casefold() for o in options}) == n_options
        assert set(options) <= of_relation
        true = {n.casefold() for n in (fact.object, *fact.alternatives, *fact.aliases)}
        assert [o for o in options if o.casefold() in true] == [fact.object]


@given(small_relations(), st.integers(0, 3))
def test_all_options_are_the_gold_one_and_every_object_that_is_not_true(loaded, seed):
    of_relation = {f.object.casefold() for f in loaded.facts}
    wrong = [
        of_relation - {n.casefold() for n in (f.object, *f.alternatives, *f.aliases)}
        for f in loaded.facts
    ]
    if not all(wrong):
        message = refusal(facts.draw_options, loaded.facts, loaded.objects, None, seed)
        assert message.startswith("2 options asked for, but relation r has only 0 objects")
        return
    drawn = facts.draw_options(loaded.facts, loaded.objects, None, seed)
    for fact, others, options in zip(loaded.facts, wrong, drawn, strict=True):
        assert sorted(o.casefold() for o in options) == sorted({fact.object.casefold(), *others})


@given(small_relations())
def test_most_options_are_the_most_that_can_be_drawn(loaded):
    def possible(n):
        try:
            facts.draw_options(loaded.facts, loaded.objects, n, seed=0)
        except BadInput:
            return False
        return True

    assert facts.max_options(loaded) == max([1, *filter(possible, range(2, 12))])


def test_gold_stands_in_every_place_and_every_distractor_is_drawn_equally_often():
    loaded = relation([(f"x{i}", f"o{i % 10}") for i in range(2000)])
    drawn = facts.draw_options(loaded.facts, loaded.objects, 5, seed=0)
    places = Counter(
        options.index(f.object) for f, options in zip(loaded.facts, drawn, strict=True)
    )
    wrong = Counter(
        o for f, options in zip(loaded.facts, drawn, strict=True) for o in options if o != f.object
    )
    # The seed is fixed, so this passes always or never; a fair draw fails it once in a thousand.
    for counts, n in ((places, 5), (wrong, 10)):
        assert len(counts) == n
        assert chisquare(list(counts.values())).pvalue > 0.001


def given_choices(*choices):
    """One fact for each choice, whose gold object is the first of it; pool objects are others."""
    return Relation(
        "r",
        tuple(
            Fact(f"s{i}", "r", f"x{i}", c[0], options=tuple(sorted(c)))
            for i, c in enumerate(choices)
        ),
    )


def test_options_that_the_data_give_are_all_drawn_and_none_else():
    loaded = given_choices(*(tuple(f"{i}{letter}" for letter in "abcd") for i in range(400)))
    drawn = facts.draw_options(loaded.facts, loaded.objects, 4, seed=0)
    for fact, options in zip(loaded.facts, drawn, strict=True):
        assert tuple(sorted(options)) == fact.options
    places = Counter(o.index(f.object) for f, o in zip(loaded.facts, drawn, strict=True))
    assert chisquare([places[i] for i in range(4)]).pvalue > 0.001
    assert facts.draw_options(loaded.facts[7:8], (), 4, seed=0) == [drawn[7]]
    assert facts.draw_options(loaded.facts, (), 4, seed=1) != drawn


def test_fewer_options_than_the_data_give_are_the_gold_one_and_any_of_the_others():
    loaded = given_choices(*[("gold", "b", "c", "d")] * 600)
    drawn = facts.draw_options(loaded.facts, ("elsewhere",), 3, seed=0)
    assert all(len(set(o)) == 3 and "gold" in o for o in drawn)
    wrong = Counter(name for options in drawn for name in options if name != "gold")
    assert set(wrong) == {"b", "c", "d"} and chisquare(list(wrong.values())).pvalue > 0.001


def test_a_fact_of_two_splits_has_the_options_of_the_split_that_keeps_it(tmp_path):
    rows = [
        row("a", "1", split="test", options=["3", "2", " 2 "]),
        row("a", "1", split="train", options=["8", "9"]),
    ]
    for order in (rows, rows[::-1]):
        [fact] = load(tmp_path, order).facts
        assert (fact.split, fact.options) == ("test", ("1", "2", "3"))


def test_options_count_in_the_digest_and_their_absence_changes_no_digest():
    plain = Relation("r", (Fact("k", "r", "a", "1"),))
    stored = hashlib.sha256(b'["r", [["k", "a", "1", [], [], ""]]]').hexdigest()
    assert plain.digest == stored
    one = Relation("r", (Fact("k", "r", "a", "1", options=("1", "2")),))
    other = Relation("r", (Fact("k", "r", "a", "1", options=("1", "3")),))
    assert len({plain.digest, one.digest, other.digest}) == 3


def test_trex_mc_filter_needs_more_than_500_facts_and_100_objects():
    def passes(n_facts, n_objects):
        pairs = [(f"x{i}", f"o{i % n_objects}") for i in range(n_facts)]
        return facts.passes_trex_mc(relation(pairs))

    assert passes(501, 100)
    assert not passes(500, 100)
    assert not passes(501, 99)


# --- worlds of the lab ----------------------------------------------------------------------------


# --- of_subjects


def test_facts_of_subjects_come_in_the_order_named_and_the_first_of_each():
    chosen = relation([("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")])
    found = facts.of_subjects(chosen, ["c", "a"])
    assert [(fact.subject, fact.object) for fact in found] == [("c", "4"), ("a", "1")]
    assert facts.of_subjects(chosen, []) == ()


# --- refusals

SPLIT = [row("a", "1", split="train"), row("b", "2", split="test")]
THREE = relation([("a", "1"), ("b", "2"), ("c", "3")], aliases=("2",))
TWO_SUBJECTS = relation([("a", "1"), ("a", "2"), ("b", "1")]).facts
CHOICES = given_choices(("a", "b", "c", "d"), ("e", "f", "g"))


def one_row(at, **more):
    return load(at, [row("a", "1", **more)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda at: facts.load("atlas", "captial"), "relation 'captial' in atlas; nearest: capital"),
        (lambda at: load(at, []), "r.jsonl: no rows in it"),
        (lambda at: load(at, [row("a", "1", id="k"), row("b", "2", id="k")]),
         "r.jsonl, line 2: fact id 'k' stands for both ('a', '1') and ('b', '2')"),
        (lambda at: one_row(at, options="2"), "line 1: options must be a list of texts, found '2'"),
        (lambda at: one_row(at, relation=["x"]), "line 1: relation must be a non-empty text"),
        (lambda at: facts.divide(load(at, SPLIT), "dev"), "r: no split 'dev', only ['test', 'train']"),
        (lambda at: facts.divide(THREE, "dev"), "no split 'dev', since the facts have no splits"),
        (lambda at: facts.divide(load(at, SPLIT[1:]), "dev"),
         "no split 'dev', since all facts are in 'test', and a split that all share counts as none"),
        (lambda at: facts.divide(relation([("a", "1"), ("a", "2")])),
         "relation r: too few subjects to show some and ask others"),
        (lambda at: facts.draw_shots(TWO_SUBJECTS, 3, 0),
         "3 shots asked for, but relation r has 2 subjects to show"),
        (lambda at: facts.draw_options(THREE.facts, THREE.objects, 4, 0), "4 options asked for, but "
         "relation r has only 1 objects that are not true of 'a' (most possible: 2)"),
        (lambda at: facts.draw_options(CHOICES.facts, ("y", "z"), 4, 0),
         "the data give 'x1' of relation r only 2 others (most possible: 3)"),
        (lambda at: facts.of_subjects(THREE, ["b", "aa"]), "no subject 'aa'; nearest: a"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded_or_drawn_is_refused_in_one_line(call, message, tmp_path):
    assert message in refusal(call, tmp_path)
