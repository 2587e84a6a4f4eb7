"""Contexts: appendix E letter by letter, what is shown and what never is (BL-S1 to BL-S4, BL-X0)."""

from dataclasses import replace

import pytest

from lkecore.errors import BadInput
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Fact, Relation
from lkecore.facts.tables import fold
from lkecore.prompts import icl_prompts as c

TASK = "Predict the [MASK] in each sentence in one word."
# Zhao et al. (2024), appendix E: E.1, E.3 and E.4, without the breaks of its lines.
E1 = f"""{TASK}
Q: [MASK] consists of LAUPT.
A:"""
E3 = f"""{TASK}
Q: What is the overarching group for Panzer Division Kempf? [MASK].
A: Wehrmacht.
Q: To whom does Mount Bulusan relate? [MASK].
A: Luzon.
Q: Who is responsible for Army National Guard? [MASK].
A: National Guard.
Q: What group is pharmacy a part of? [MASK].
A: biology.
Q: [MASK] consists of environmental factors.
A:"""
E4 = f"""{TASK}
Q: [MASK] consists of Panzer Division Kempf.
A: Wehrmacht.
Q: [MASK] consists of Mount Bulusan.
A: Luzon.
Q: [MASK] consists of Army National Guard.
A: National Guard.
Q: [MASK] consists of pharmacy.
A: biology.
Q: [MASK] consists of environmental factors.
A:"""
PART = "[Y] consists of [X]"
PARTS = {
    "Panzer Division Kempf": "Wehrmacht", "Mount Bulusan": "Luzon",
    "Army National Guard": "National Guard", "pharmacy": "biology",
}  # fmt: skip
ASKING = [
    "What is the overarching group for [X]? [Y]", "To whom does [X] relate? [Y]",
    "Who is responsible for [X]? [Y]", "What group is [X] a part of? [Y]",
]  # fmt: skip


def drawn(name, pairs, templates, *, asked) -> Drawn:
    """A relation whose first pairs are asked, and whose others may be shown."""
    facts = [Fact(f"{name}{i}", name, *pair) for i, pair in enumerate(pairs)]
    names = tuple(dict.fromkeys(fact.object for fact in facts))
    relation = Relation(name, tuple(facts), templates=tuple(templates))
    test, train = tuple(facts[:asked]), tuple(facts[asked:])
    return Drawn(relation, (), test, (names,) * asked, train, test)


PART_OF = drawn(
    "part_of",
    [("environmental factors", "ecology"), ("LAUPT", "rail"), *PARTS.items()],
    [PART, *ASKING],
    asked=2,
)
CITY = drawn(
    "city",
    [("Jiangsu", "Nanjing"), ("Oslo", "Norway"), *((f"town {i}", f"land {i}") for i in range(9))],
    ["[Y] is the administrative center of [X]", "In which land is [X]? [Y]"],
    asked=2,
)
SAMPLE = {"part_of": PART_OF, "city": CITY}


def one(sample, context, **more):
    """The first question with the first template."""
    found, _ = c.of_sample(sample, [context], templates=[0], **more)
    return next(iter(found.values()))[0].context


def blocks(text: str) -> list[str]:
    task, *lines = text.split("\n")
    assert task == TASK
    return ["\n".join(lines[i : i + 2]) for i in range(0, len(lines), 2)]


def test_three_prompts_of_appendix_e_come_out_to_the_letter():
    assert c.INSTRUCTIONS["mp"] == TASK
    assert c.beginning([]) + c.asked(PART, "LAUPT") == E1
    last = c.asked(PART, "environmental factors")
    asking = [(t, *pair) for t, pair in zip(ASKING, PARTS.items(), strict=True)]
    assert c.beginning(asking) + last == E3
    assert c.beginning([(PART, *pair) for pair in PARTS.items()]) + last == E4


def test_a_sample_gives_the_prompts_of_appendix_e_but_for_the_order_of_examples():
    found, _ = c.of_sample({"part_of": PART_OF}, ["zero-shot", "4-template"], templates=[0])
    assert list(found) == [("zero-shot", "part_of", 0, 0, 0), ("4-template", "part_of", 0, 0, 0)]
    assert found["zero-shot", "part_of", 0, 0, 0][1].context == E1
    four, wanted = blocks(found["4-template", "part_of", 0, 0, 0][0].context), blocks(E4)
    assert four[-1] == wanted[-1] and sorted(four) == sorted(wanted)


def test_questions_are_asked_without_the_mask():
    assert c.INSTRUCTIONS["qa"] == "Answer each question in one word."
    shots = [(ASKING[0], "pharmacy", "biology")]
    assert c.beginning(shots, "qa") + c.asked(ASKING[3] + ".", "LAUPT", "qa") == (
        "Answer each question in one word.\nQ: What is the overarching group for pharmacy?\n"
        "A: biology.\nQ: What group is LAUPT a part of?\nA:"
    )
    found, _ = c.of_sample(SAMPLE, ["zero-shot", "2-random"], instruction="qa")
    assert {key[3] for key in found if key[1] == "part_of"} == {1, 2, 3, 4}
    assert all("[MASK]" not in p.context for some in found.values() for p in some)
    with pytest.raises(BadInput, match=r"^relation part_of: '\[Y\] consists of \[X\]' is no quest"):
        c.of_sample(SAMPLE, ["zero-shot"], templates=[1, 0], instruction="qa")


def test_contexts_show_the_relations_and_templates_that_they_say():
    shown, together = {}, {}
    for kind in ("random", "relation", "template"):
        found, _ = c.of_sample(SAMPLE, [f"3-{kind}"], draws=range(12))
        for (_, relation, _, number, _), some in found.items():
            begins = {prompt.context.rsplit("\nQ:", 1)[0] for prompt in some}
            assert len(begins) == 1, "one beginning for all facts"
            *solved, _ = blocks(some[0].context)
            assert len(set(solved)) == len(solved) == 3
            for block in solved:
                line, answer = block.removeprefix("Q: ").split("\nA: ")
                here = [
                    (d.relation.name, i)
                    for d in SAMPLE.values()
                    for f in d.train
                    for i, words in enumerate(d.relation.templates)
                    if line == words.replace("[X]", f.subject).replace("[Y]", "[MASK]") + "."
                    and answer == f"{f.object}."
                ]
                [(of, words)] = here  # no asked fact, and nothing else either
                shown.setdefault(kind, set()).add((relation, number, of, words))
                together.setdefault((kind, some[0].context), set()).add(words)
    assert all(a[:2] == a[2:] for a in shown["template"])
    assert all(a[0] == a[2] for a in shown["relation"])
    assert {a[3] for a in shown["relation"] if a[2] == "part_of"} == {0, 1, 2, 3, 4}
    assert {len(own) for (kind, _), own in together.items() if kind == "relation"} >= {2, 3}
    assert {(a[0], a[2]) for a in shown["random"]} == {(a, b) for a in SAMPLE for b in SAMPLE}


def test_relation_and_template_show_the_same_facts_and_fewer_are_the_beginning_of_more():
    answers = {
        n: [b.split("\nA:")[1] for b in blocks(one(SAMPLE, n))]
        for n in ("4-relation", "4-template", "2-template")
    }
    assert answers["4-relation"] == answers["4-template"] != answers["2-template"]
    assert answers["4-template"][:2] == answers["2-template"][:2]
    assert one(SAMPLE, "4-relation") != one(SAMPLE, "4-template")


def test_shots_depend_on_draw_and_template_and_not_on_what_else_is_asked():
    every, _ = c.of_sample(SAMPLE, ["2-relation", "zero-shot"], draws=[0, 1])
    assert {key[2] for key in every if key[0] == "zero-shot"} == {0}
    few = {"city": replace(CITY, facts=CITY.facts[:1], options=CITY.options[:1])}
    less, _ = c.of_sample(few, ["2-relation"], templates=[1], draws=[1])
    [(key, [prompt])] = less.items()
    assert prompt == every[key][0]
    begins = {key: p[0].context.rsplit("Q:", 1)[0] for key, p in every.items() if "2-" in key[0]}
    assert len({begins["2-relation", "city", d, t, 0] for d in (0, 1) for t in (0, 1)}) == 4


def test_it_is_said_whether_a_true_object_is_shown():
    pairs = [("a", "x"), ("b", "y"), ("c", "z"), ("d", "X"), ("e", "y"), ("f", "u")]
    some = drawn("r", pairs, ["[X] has [Y]"], asked=3)
    also = replace(some.facts[2], aliases=("U",))
    some = replace(some, facts=(*some.facts[:2], also), options=(("x", "y", "z"),) * 3)
    found, shown = c.of_sample({"r": some}, ["zero-shot", "3-template"])
    assert shown.columns.tolist() == [*c.KEY, "fact", "shown"]
    assert shown["shown"].tolist() == [False] * 3 + [True] * 3
    assert shown["fact"].tolist() == [p.fact for each in found.values() for p in each]
    once, shown = c.of_sample({"r": some}, ["1-template"], draws=range(9))
    for row in shown.itertuples():
        fact = next(f for f in some.facts if f.id == row.fact)
        begin = once[row.context, "r", row.draw, 0, 0][0].context
        answer = begin.split("\nA: ")[1].split(".")[0]
        assert row.shown == (fold(answer) in fact.true_names)
    assert 0 < shown["shown"].sum() < len(shown)


def test_no_asked_subject_is_shown_under_any_of_its_names():
    facts = [Fact(str(i), "r", name, "x") for i, name in enumerate(["Burma", "Peru", "Chad"])]
    asked = replace(facts[0], id="3", subject="Myanmar", subject_aliases=("burma",))
    relation = Relation("r", (*facts, asked), templates=("[X] has [Y]",))
    some = Drawn(relation, (), (asked,), (("x", "y"),), tuple(facts), (asked,))
    for draw in range(9):
        assert "Burma" not in one({"r": some}, "2-template", draws=[draw])
    with pytest.raises(BadInput, match=r"^3 shots asked for, but relation r has 2 subjects"):
        c.of_sample({"r": some}, ["3-template"])


def test_every_name_of_a_subject_is_asked_and_only_the_first_is_shown():
    pairs = [("a", "x"), ("b", "y"), ("c", "z")]
    some = drawn("r", pairs, ["[X] has [Y]"], asked=2)
    named = replace(some.facts[1], subject_aliases=("bee", "B."))
    shown = replace(some.train[0], subject_aliases=("see",))
    some = replace(some, facts=(some.facts[0], named), train=(shown,))
    found, frame = c.of_sample({"r": some}, ["1-template"])
    assert [(key[4], [p.fact for p in each]) for key, each in found.items()] == [
        (0, ["r0", "r1"]), (1, ["r1"]), (2, ["r1"]),
    ]  # fmt: skip
    assert found["1-template", "r", 0, 0, 2][0].context == f"{TASK}\nQ: c has [MASK].\nA: z.\n" + (
        "Q: B. has [MASK].\nA:"
    )
    assert found["1-template", "r", 0, 0, 1][0].subject == "bee" and len(frame) == 4
    plain = c.blank_prompts({"r": some})
    assert [p.context for p in plain["r", 0, 2]] == ["B. has"]


def test_the_first_object_of_a_subject_is_shown():
    pairs = [("a", "x"), ("b", "y"), ("b", "u"), ("b", "v")]
    some = drawn("r", pairs, ["[X] has [Y]"], asked=1)
    some = replace(some, train=some.train[::-1])
    assert {one({"r": some}, "1-template", draws=[d]).count("A: y.") for d in range(9)} == {1}


def test_blanks_have_what_stands_before_and_behind():
    found = c.blank_prompts(SAMPLE, templates=[0, 1])
    assert list(found) == [("part_of", 0, 0), ("part_of", 1, 0), ("city", 0, 0), ("city", 1, 0)]
    first, second = found["part_of", 0, 0][1], found["part_of", 1, 0][1]
    assert (first.context, first.after) == ("", " consists of LAUPT.")
    assert (second.context, second.after) == ("What is the overarching group for LAUPT?", ".")
    assert first.continuations[first.gold] == "rail" and second.options == PART_OF.options[1]
    left = c.blank_prompts(SAMPLE, closed=False)
    assert list(left) == [("part_of", i, 0) for i in (1, 2, 3, 4)] + [("city", 1, 0)]
    assert all(not p.after for some in left.values() for p in some)
    with pytest.raises(BadInput, match=r"^relation city: no template ends with its blank$"):
        c.blank_prompts({"city": CITY}, closed=False, templates=[0])


def test_nobody_is_asked_about_with_every_option():
    some = replace(CITY, options=(("Nanjing", "Norway"), ("Norway", "land 1")))
    found = c.content_free({"city": some}, templates=[0])
    assert [p.after for p in found["city", 0]] == [
        " is the administrative center of N/A.", " is the administrative center of .",
        " is the administrative center of ?.",
    ]  # fmt: skip
    assert {p.options for p in found["city", 0]} == {("Nanjing", "Norway", "land 1")}
    assert [p.fact for p in found["city", 0]] == ["subject 'N/A'", "subject ''", "subject '?'"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"contexts": ["4-shots"]}, "unknown context '4-shots'"),
        ({"draws": [1, 1]}, r"draws \[1, 1\]: must be"),
        ({"instruction": "MP"}, "instruction 'MP' must be mp or qa"),
        ({"templates": [2]}, "relation city has 2 templates, and none 2"),
        ({"templates": []}, "relation part_of has no template to ask with by 'mp'"),
        ({"contexts": ["5-relation"]}, "5 shots asked for, but relation part_of has 4 subjects"),
    ],
)
def test_refused(given, said):
    with pytest.raises(BadInput, match=f"^{said}"):
        c.of_sample(SAMPLE, **({"contexts": ["zero-shot"]} | given))
