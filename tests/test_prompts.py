"""Prompts: the strings are the paper's, letter by letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lkecore import facts, prompts
from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Fact, Relation
from lkecore.prompts.prompt import (
    asking,
    example,
    many_shot,
    of_sample,
    template,
    templates_of,
)


def born(subject, year):
    return Fact(subject, "birth_year", subject, year)


FEYNMAN, HEISENBERG = born("Feynman", "1918"), born("Heisenberg", "1901")
EINSTEIN = born("Einstein", "1879")


def test_prompt_is_the_short_example_of_the_paper():
    [prompt] = many_shot([FEYNMAN, HEISENBERG], [EINSTEIN], [("1880", "1879")])
    assert prompt.context == "Feynman 1918 Heisenberg 1901 Einstein"  # IC-S1
    assert prompt.continuations == (" 1880", " 1879")
    assert prompt.options == ("1880", "1879") and prompt.gold == 1
    assert (prompt.fact, prompt.relation, prompt.subject) == ("Einstein", "birth_year", "Einstein")


@pytest.mark.parametrize(
    ("pair", "shot", "context", "continuation"),
    [
        (": ", "; ", "Feynman: 1918; Einstein:", " 1879"),
        (" was born in ", " ", "Feynman was born in 1918 Einstein was born in", " 1879"),
        ("\n", "\n\n", "Feynman\n1918\n\nEinstein\n", "1879"),
        ("  ", " ", "Feynman  1918 Einstein ", " 1879"),
    ],
)
def test_separators_stand_inside_and_between_pairs(pair, shot, context, continuation):
    [prompt] = many_shot(
        [FEYNMAN], [EINSTEIN], [("1879",)], pair_separator=pair, shot_separator=shot
    )
    assert (prompt.context, prompt.continuations) == (context, (continuation,))


WORDS = st.text("abc ", min_size=1, max_size=4)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=4), WORDS, WORDS, WORDS, WORDS)
def test_context_and_gold_continuation_are_the_pairs_joined(pairs, subject, object_, pair, shot):
    shots = [born(s, o) for s, o in pairs if s != subject]
    [prompt] = many_shot(
        shots, [born(subject, object_)], [(object_,)], pair_separator=pair, shot_separator=shot
    )
    written = [f.subject + pair + f.object for f in [*shots, born(subject, object_)]]
    assert prompt.context + prompt.continuations[0] == shot.join(written)


# --- templates

FRANCE = Fact("fr", "capital", "France", "Paris")


@pytest.mark.parametrize(
    ("sentence", "context", "continuation", "after"),
    [
        ("The capital of [X] is [Y]", "The capital of France is", " Paris", ""),
        ("The capital of [X] is [Y] .", "The capital of France is", " Paris", " ."),
        ("Capital of [X]?\n[Y]", "Capital of France?\n", "Paris", ""),
        ('[X]\'s capital: "[Y]"', "France's capital: \"", "Paris", '"'),
        ("To see [Y], go to [X].", "To see", " Paris", ", go to France."),
        ("[Y] is the capital of [X]", "", "Paris", " is the capital of France"),
    ],
)
def test_a_template_is_divided_at_its_blank(sentence, context, continuation, after):
    [prompt] = template(sentence, [FRANCE], [("Rome", "Paris")])
    assert (prompt.context, prompt.after) == (context, after)
    assert prompt.continuations[1] == continuation and prompt.gold == 1
    assert (prompt.fact, prompt.relation, prompt.subject) == ("fr", "capital", "France")


def test_a_subject_that_looks_like_a_blank_stays_as_it_is():
    odd = Fact("1", "author", "The [Y] of [X]", "Ann [X] Lee")
    [prompt] = template("[X] is by [Y].", [odd], [("Ann [X] Lee",)])
    assert prompt.context == "The [Y] of [X] is by" and prompt.continuations == (" Ann [X] Lee",)


@given(WORDS, WORDS, WORDS, WORDS, WORDS)
def test_a_filled_template_reads_as_if_both_names_were_put_in(start, between, end, subject, name):
    sentence = f"{start}[X]{between}[Y]{end}"
    [prompt] = template(sentence, [Fact("1", "r", subject, name)], [(name,)])
    filled = sentence.replace("[X]", subject).replace("[Y]", name)
    assert prompt.context + prompt.continuations[0] + prompt.after == filled
    assert prompt.continuations[0] == (" " + name if between.endswith(" ") else name)


def test_an_estimator_by_its_name_asks_with_the_separators_or_the_template_of_that_name():
    relation = facts.load("atlas", "capital")
    shot, asked = relation.facts[0], relation.facts[1:2]
    options = [(asked[0].object, shot.object)]
    subject = asked[0].subject
    contexts = {
        "iclke-space": f"{shot.subject} {shot.object} {subject}",
        "iclke-newline": f"{shot.subject} {shot.object}\n{subject}",
        "iclke-colon": f"{shot.subject}: {shot.object}\n{subject}:",
        "iclke-arrow": f"{shot.subject} -> {shot.object}\n{subject} ->",
        "template-5": f"What is the capital of {subject}? Answer:",
    }
    for name, context in contexts.items():
        [prompt] = asking(name, relation, [shot], asked, options)
        assert (prompt.context, prompt.continuations[0]) == (context, f" {asked[0].object}")


# --- templates of the paper (IC-S3), words in the place of the space (IC-S4)


def test_the_paper_has_templates_for_these_relations_and_all_are_sentences_with_a_blank():
    from lkecore import papers

    table = papers.table("iclke_table5_templates")  # read by pandas here
    assert table["relation"].nunique() == 12  # IC-D4
    for relation, part in table.groupby("relation"):
        found = templates_of(Relation("x", (), paper_relation=relation))
        by_hand = {
            f"{row.kind.lower()}-{row.index_}": f"{row.template.replace('{subject}', '[X]')} [Y]"
            for row in part.rename(columns={"index": "index_"}).itertuples()
        }
        assert found == by_hand
    assert templates_of(Relation("x", ())) == {}


@pytest.mark.parametrize(
    ("estimator", "context"),
    [
        ("hgp-1", "The capital of France is"),
        ("iclke-hgp-1", "The capital of Italy is Rome The capital of France is"),
        ("iclke-mmp-3", "Italy rock band from Rome France rock band from"),
        ("iclke-template-1", "Italy: its seat Rome! France: its seat"),
    ],
)
def test_words_of_a_template_stand_in_the_place_of_the_space(estimator, context):
    relation = Relation("capital", (), paper_relation="capital", templates=("[X]: its seat [Y]!",))
    shot, asked = Fact("1", "capital", "Italy", "Rome"), Fact("2", "capital", "France", "Paris")
    [prompt] = asking(estimator, relation, [shot], [asked], [("Rome", "Paris")])
    assert (prompt.context, prompt.continuations) == (context, (" Rome", " Paris"))
    assert prompt.after == ("!" if estimator.endswith("template-1") else "")


# --- the prompts of a sample


def test_questions_of_a_sample_are_those_of_each_estimator_and_relation():
    given = {"n_shots": 2, "n_facts": 2, "n_options": 3, "seed": 0}
    sample = facts.draw("atlas", ["capital", "currency"], **given)
    found = of_sample(sample, ["iclke-colon", "template-1"])
    keys = [(e, r) for e in ("iclke-colon", "template-1") for r in ("capital", "currency")]
    assert list(found) == keys
    for (_, name), some in list(found.items())[:2]:
        drawn = sample[name]
        assert [p.fact for p in some] == [f.id for f in drawn.facts]
        assert [p.options for p in some] == list(drawn.options)
        for prompt, fact in zip(some, drawn.facts, strict=True):
            assert prompt.options[prompt.gold] == fact.object
            shots = "".join(f"{s.subject}: {s.object}\n" for s in drawn.shots)
            assert prompt.context == f"{shots}{fact.subject}:"


def test_an_example_is_the_first_question_with_a_gap():
    shots = (FEYNMAN, HEISENBERG, born("Curie", "1867"))
    relation = Relation("birth_year", (), templates=("In [Y], [X] was born.",))
    asked = EINSTEIN, born("Louis", "1892")
    years = ("1880", "1879"), ("1892", "1850")
    sample = {"birth_year": Drawn(relation, shots, asked, years, shots, asked), "other": None}
    wanted = {
        ("iclke-space", 2): "Feynman 1918 Heisenberg 1901 Einstein ____",
        ("iclke-arrow", 1): "Feynman -> 1918\nEinstein -> ____",
        ("iclke-space", 0): "Einstein ____",
        ("template-1", 2): "In ____, Einstein was born.",
    }
    for (estimator, n), text in wanted.items():
        assert example(estimator, sample, n_shots=n) == text


def test_redrawn_slots_begin_with_the_redrawn_shots_and_keep_facts_and_options():
    sample = facts.draw("atlas", ["capital", "currency"], n_shots=4, n_facts=3, n_options=3, seed=0)
    long = {"n_shots": 10, "first": 4, "every": 2}
    found = prompts.redrawn_slots(sample, [0, 5], **long)
    assert set(found) == {
        (way, name, draw) for way in ("eiclke", "iclke-comma") for name in sample for draw in (0, 5)
    }
    for (way, name, draw), some in found.items():
        drawn = sample[name]
        asked = [p for group in some for p in group.asked] if way == "eiclke" else some
        assert [p.fact for p in asked] == [f.id for f in drawn.facts]
        assert [p.options for p in asked] == list(drawn.options)
        shots = facts.draw_shots(drawn.train, 4, draw)
        pairs = ", ".join(f"{shot.subject} {shot.object}" for shot in shots)
        texts = (
            ["".join(t) for g in some for t in g.texts] if way == "eiclke" else [some[0].context]
        )
        assert all(text.startswith(pairs + ", ") for text in texts)
    first = prompts.slots_of_sample(sample, **long, seed=0)
    assert found["eiclke", "capital", 0] == first["eiclke", "capital"]  # the sample's own seed


@pytest.mark.parametrize("n_facts", [None, 12])
def test_eic_lke_asks_a_draw_of_the_facts_of_a_sample(n_facts):
    how = {"n_shots": 3, "n_options": 5, "seed": 3}
    names = ["author", "birth_year"]
    sample = facts.draw("lab:smoke-1", names, n_facts=n_facts, **how)
    found = prompts.slots_of_sample(sample, n_facts=4, n_shots=6, first=2, every=2, seed=3)
    assert list(found) == [("eiclke", name) for name in names]
    drawn = sample["author"]
    some = facts.draw_facts(drawn.facts, 4, 3) if n_facts is None else drawn.facts[:4]
    options = [drawn.options[drawn.facts.index(fact)] for fact in some]
    shots = facts.draw_facts(drawn.train, 6, 3)
    assert found["eiclke", "author"] == prompts.slots(
        shots, some, options, first=2, every=2, seed=3
    )


# --- refusals

ITALY = Fact("it", "capital", "Italy", "Rome")
# One mined template.
FILM = Relation("film", (), paper_relation="original language of film or TV show")
CAPITAL = Relation("capital", (), paper_relation="capital")


def ask(estimator, relation, shot=ITALY):
    return asking(estimator, relation, [shot], [FRANCE], [("Rome", "Paris")])


def sampled(*estimators):
    given = {"n_shots": 1, "n_facts": 1, "n_options": 2, "seed": 0}
    return of_sample(facts.draw("atlas", ["capital", "currency"], **given), list(estimators))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: many_shot([FEYNMAN, born("Einstein", "1880")], [EINSTEIN], [("1879",)]),
         "^'Einstein' is both shown and asked in birth_year$"),  # whatever the object
        (lambda: many_shot([FEYNMAN], [EINSTEIN], [("1879",)], pair_separator=""), "must not be empty"),
        (lambda: template("Of [x] is [Y]", [FRANCE], [("Rome",)]), r"has \[X\] 0 times, and needs it once"),
        (lambda: template("[X] [Y] [Y]", [FRANCE], [("Rome",)]), r"has \[Y\] 2 times"),
        (lambda: ask("iclke", CAPITAL), "unknown estimator 'iclke'; nearest: iclke-space"),
        (lambda: ask("hgp-2", Relation("film_year", ())), "^hgp-2: relation film_year has no templates$"),
        (lambda: ask("mmp-2", FILM), "^mmp-2: relation film has hgp-1, .*, mmp-1$"),
        (lambda: sampled("iclke-space", "iclke-space"), "^estimators .*: must be 1 or more, each once"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(call, message):
    with pytest.raises(BadInput, match=message):
        call()
