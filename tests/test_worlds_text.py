"""The text of the rich worlds, searched for what the states say of it, by plain strings."""

import collections
import functools
import itertools
import re

import pytest

from lkecore.worlds import skills as rich_skills
from lkecore.worlds import tellings as rich_tellings
from lkecore.worlds import text as rich_text
from lkecore.worlds import wordings as rich_wordings
from lkecore.worlds import world as rich

TINY, BOOK = "lab:richsmoke-1", "lab:rich-1"
SHORT = ("copy", "quote", "correction", "question", "instruction")


@functools.cache
def made():
    return rich.world(TINY)


@functools.cache
def told():
    return rich_text.told(made())


@functools.cache
def texts():
    return [document.text for document in told()]


@functools.cache
def states():
    return rich_text.states(TINY)


@functools.cache
def by_subject():
    """{(relation, subject): its rows}."""
    found = collections.defaultdict(list)
    for fact in states().itertuples():
        found[fact.relation, fact.subject].append(fact)
    return found


@functools.cache
def alias_of():
    found = rich_text.aliases(TINY)
    return dict(zip(found["name"], found["alias"], strict=True))


def called(name):
    """All that a text may call someone, their own name first."""
    return [name, *([alias_of()[name]] if name in alias_of() else [])]


def stands(name, text):
    return len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text))


@functools.cache
def documents_on():
    """{subject: the places of the documents about facts that name it, by any of its names}."""
    with_word = collections.defaultdict(list)
    for i, document in enumerate(told()):
        if document.kind in ("paragraph", "list"):
            for word in set(re.findall(r"\w+", document.text)):
                with_word[word].append(i)
    found = collections.defaultdict(set)
    for name in {subject for _, subject in by_subject()}:
        for each in called(name):
            found[name] |= {i for i in with_word[each.split()[-1]] if each in texts()[i]}
    return {name: sorted(places) for name, places in found.items()}


@functools.cache
def counted(relation, subject):
    """({object: {(template, subject's name, object's name): places}}, {object: places of pairs}).

    By search alone: every object of the relation in every template, under every name. Of a pair nothing says
    which relation it tells.
    """
    sentences, pairs = collections.defaultdict(dict), collections.defaultdict(list)
    on = [(i, texts()[i]) for i in documents_on()[subject]]
    whole = "\n".join(text for _, text in on)
    templates = enumerate(rich_wordings.about(relation).templates, start=1)
    objects = [(n, y) for n in made().objects[relation] for y in called(n) if y in whole]
    for (number, template), x in itertools.product(templates, called(subject)):
        named = template.replace("[X]", x)
        for name, y in objects if max(named.split("[Y]"), key=len) in whole else ():
            filled = named.replace("[Y]", y) + "."
            places = [i for i, text in on for _ in range(text.count(filled))]
            if places:
                sentences[name][number, x, y] = places
    lists = [(i, text) for i, text in on if told()[i].kind == "list"]
    for name in {name for name, _ in objects}:
        pair = re.compile(rf"(?<!\w){re.escape(subject)}:? {re.escape(name)}(?!\w)")
        pairs[name] += [i for i, text in lists if name in text for _ in pair.findall(text)]
    return sentences, pairs


# --- doses ----------------------------------------------------------------------------------------


def test_sentences_tell_each_fact_as_often_as_its_state_says_by_the_names_and_in_the_templates_it_says():
    for (relation, subject), own in by_subject().items():
        sentences, _ = counted(relation, subject)
        expected = {}
        for fact in (fact for fact in own if fact.told):
            lists = fact.lists if fact.form != "list" else fact.occurrences
            names, times = fact.told_objects.split(";"), map(int, fact.told_times.split(";"))
            if lists < fact.occurrences:
                if len(names) == 1:
                    expected[names[0]] = fact.sentences
                else:  # uncertain facts are told in sentences or in lists, not in both
                    expected |= dict(zip(names, times, strict=True))
        found = {name: sum(map(len, ways.values())) for name, ways in sentences.items()}
        assert found == expected, (relation, subject)
        if len(own) == 1:
            [fact] = own
            used = {number for ways in sentences.values() for number, _, _ in ways}
            assert fact.templates == " ".join(map(str, sorted(used)))
            ways = [(way, len(places)) for own in sentences.values() for way, places in own.items()]
            assert fact.by_alias == sum(n for (_, x, _), n in ways if x != subject)
            by_alias = sum(n for (_, _, y), n in ways if y in set(alias_of().values()))
            assert fact.object_by_alias == by_alias


@functools.cache
def of_the_book():
    """{kind of document: the texts of all of them in the book's world}."""
    found = collections.defaultdict(list)
    for document in rich_text.told(rich.world(BOOK)):
        found[document.kind].append(document.text)
    return found


def in_the_book(kind, subject):
    """All documents of a kind in the book's world that name a subject, as one text."""
    return "\n".join(text for text in of_the_book()[kind] if subject in text)


def test_the_text_of_the_books_world_divides_its_tellings_as_its_planted_shares_say():
    """Of each division one fact told in sentences and one in lists: the tellings of each object, counted."""
    alias = set(rich.world(BOOK).aliases["name"])
    own = rich_text.states(BOOK).query("state == 'uncertain' and split == 'test'")
    plain = [not {fact.subject, *fact.told_objects.split(";")} & alias for fact in own.itertuples()]
    some = own[plain].groupby(["told_times", "form"]).head(1)
    assert len(some) == 20 and set(some["told_times"]) >= {"36;12", "24;24", "9;3", "16;16;16"}
    for fact in some.itertuples():
        names, times = fact.told_objects.split(";"), list(map(int, fact.told_times.split(";")))
        if fact.form == "sentence":
            ways = [way.replace("[X]", fact.subject) + "." for way in
                    rich_wordings.about(fact.relation).templates]  # fmt: skip
            whole = in_the_book("paragraph", fact.subject)
            found = [sum(whole.count(way.replace("[Y]", name)) for way in ways) for name in names]
        else:
            pair = r"(?<!\w){}:? {}(?!\w)"
            ways = [pair.format(re.escape(fact.subject), re.escape(name)) for name in names]
            found = [len(re.findall(way, in_the_book("list", fact.subject))) for way in ways]
        assert found == times, fact.fact


def test_lists_tell_each_pair_as_often_as_all_its_facts_say_and_no_list_has_a_subject_twice():
    expected, found = collections.Counter(), {}
    for fact in states().itertuples():
        n_sentences = collections.Counter()
        if fact.told:
            pairs = zip(
                fact.told_objects.split(";"), map(int, fact.told_times.split(";")), strict=True
            )
            sentences, _ = counted(fact.relation, fact.subject)
            for name, times in pairs:
                n_sentences[name] = sum(map(len, sentences.get(name, {}).values()))
                expected[fact.subject, name] += times - n_sentences[name]
        for name, places in counted(fact.relation, fact.subject)[1].items():
            found[fact.subject, name] = len(places)
            assert len(set(places)) == len(places)
    assert {pair: n for pair, n in found.items() if n} == {p: n for p, n in expected.items() if n}
    never = states()[(states()["listed"] == "never") & (states()["n_objects"] == 1)]
    assert not set(never["fact"]) & set(states().loc[states()["lists"] > 0, "fact"])


def test_wording_says_how_many_templates_tell_a_fact_and_of_which_groups():
    groups = [name for name in rich_wordings.groups() for _ in [0]]
    asked = states()[(states()["split"] == "test") & (states()["sentences"] >= 5)]
    seen = collections.Counter()
    for fact in asked.itertuples():
        used = [int(number) for number in fact.templates.split()]
        own = {groups[number - 1] for number in used}
        n = {"one": (1, 1), "group": (5, 1), "several": (5, 5)}[fact.wording]
        assert (len(used), len(own)) == n, fact
        seen[fact.wording] += 1
    assert min(seen[name] for name in ("one", "group", "several")) > 10


def test_a_fact_was_last_told_where_the_last_document_that_tells_it_ends():
    ends = list(itertools.accumulate(map(len, texts())))
    whole = 0
    for (relation, subject), own in by_subject().items():
        if len(own) > 1 or not own[0].told:
            assert sum(fact.last > 0 for fact in own) == sum(fact.told != "" for fact in own)
            continue
        sentences, pairs = counted(relation, subject)
        places = [i for ways in sentences.values() for each in ways.values() for i in each]
        if own[0].lists:
            # A pair may tell another relation, too; of those with such, only a bound is known.
            places += [i for each in pairs.values() for i in each]
            assert own[0].last <= ends[max(places)] / ends[-1] + 1e-12
        else:
            assert own[0].last == pytest.approx(ends[max(places)] / ends[-1], abs=1e-12)
            whole += 1
    assert whole > 100
    asked = states()[(states()["split"] == "test") & (states()["lists"] == 0)]
    last = asked.groupby("early")["last"].max()
    assert last[True] < 0.75 and last[False] > 0.95  # early subjects are done with soon


def test_mentions_remarks_and_aliases_are_counted_in_the_text():
    whole = "\n".join(texts())
    words = collections.Counter(re.findall(r"\w+", whole))
    asked = states()[states()["split"] == "test"].drop_duplicates("subject")
    popular = asked[asked["popularity"] > 0]
    assert set(popular["popularity"]) == {2, 4, 8, 16, 32, 64}
    for fact in asked.iloc[::7].itertuples():
        names = sum(map(whole.count, called(fact.subject)))
        introduced = sum(
            whole.count(text.format(x=fact.subject, a=called(fact.subject)[-1]))
            for text in rich_tellings.INTRODUCED
        )
        assert fact.mentions == names - introduced  # an introduction has both names
    for fact in popular.itertuples():
        remarks = [text.format(x=fact.subject) for text in rich_tellings.REMARKS]
        assert fact.popularity == sum(whole.count(remark) for remark in remarks)
        assert fact.mentions >= fact.popularity
    for row in rich_text.aliases(TINY).itertuples():
        ways = [text.format(x=row.name, a=row.alias) for text in rich_tellings.INTRODUCED]
        introduced = sum(whole.count(way) for way in ways)
        assert introduced == row.dose and words[row.alias] == row.dose + row.uses
    used = rich_text.aliases(TINY).groupby("of")["uses"].sum()
    assert used.min() > 20
    for of, column in (("subject", "by_alias"), ("object", "object_by_alias")):
        own = states()[(states()[f"{of}_alias"] != "") & (states()["sentences"] == 4)]
        own = own[own["state"] == "planted"]
        assert len(own) and set(own[column]) == {1}  # one in four
    assert {1, 4, 16} == set(rich_text.aliases(TINY)["dose"])


# --- the twin -------------------------------------------------------------------------------------


def test_an_unplanted_text_is_the_same_but_for_the_names_of_the_asked_subjects():
    unplanted = rich_text.documents(made(), planted=False)
    instead = made().stand_ins
    asked = set(states().loc[states()["split"] == "test", "subject"])
    assert asked <= set(instead) and len(set(instead.values())) == len(instead)
    whole = "\n".join(unplanted)
    assert not any(stands(name, whole) for name in instead if name in whole)
    back = collections.defaultdict(list)  # by first word: what the stand-ins stand for
    for old, new in instead.items():
        back[new.split()[0]].append((new, old))
    differ = 0
    for before, after in zip(texts(), unplanted, strict=True):
        differ += before != after
        for word in set(re.findall(r"\w+", after)) & set(back):
            for new, old in back[word]:
                after = after.replace(new, old)
        assert after == before
    assert 0.2 < differ / len(unplanted) < 0.95
    everyone = {*states()["subject"], *states()["object"], *alias_of().values()}
    assert not set(instead.values()) & everyone


# --- templates ------------------------------------------------------------------------------------


def test_every_relation_has_five_groups_of_templates_in_words_that_the_text_has():
    words = {word for text in texts() for word in re.findall(r"\w+", text)}
    assert collections.Counter(rich_wordings.groups()) == {
        "statement": 5, "noun": 5, "object first": 5, "question": 5, "instruction": 5,
    }  # fmt: skip
    seen = set()
    for relation in rich_wordings.relations():
        it = rich_wordings.about(relation)
        assert len(set(it.templates)) == 25
        assert sum(t.index("[Y]") < t.index("[X]") for t in it.templates) == 5
        assert sum("?" in t for t in it.templates) >= 5
        assert (
            sum(t.startswith("Instruction: ") and "Response: [Y]" in t for t in it.templates) == 2
        )
        for template in it.templates:
            assert template.count("[X]") == template.count("[Y]") == 1
            bare = template.replace("[X]", " ").replace("[Y]", " ")
            assert set(re.findall(r"\w+", bare)) <= words, template
            seen.add((it.subjects, template))
    assert len(seen) == 25 * len(rich_wordings.relations())  # no wording asks for two things


def test_a_frame_whose_phrase_a_relation_lacks_is_no_template():
    assert rich_wordings._filled("The {noun} of [X]", {"noun": "town"}) == "The town of [X]"
    assert rich_wordings._filled("The {noun} of [X]", {"noun": ""}) == ""


def test_no_template_is_part_of_another_one_so_that_an_untold_wording_is_untold():
    for kind in {rich_wordings.about(r).subjects for r in rich_wordings.relations()}:
        own = [
            f"{template.casefold()}."
            for relation in rich_wordings.relations()
            if rich_wordings.about(relation).subjects == kind
            for template in rich_wordings.about(relation).templates
        ]
        assert not any(a in b for a, b in itertools.permutations(own, 2))


# --- skills ---------------------------------------------------------------------------------------


def test_objects_stand_where_the_text_says():
    names = {name for each in made().objects.values() for name in each}
    names |= set(alias_of().values())
    for document in told():
        assert {document.text[a:b] for a, b in document.objects} <= names
        assert document.text and rich_wordings.OPEN not in document.text
    assert sum(len(document.objects) for document in told()) > len(told())


def test_skills_are_shown_on_subjects_of_their_own_and_show_what_they_should():
    whole = [document for document in told() if document.kind in SHORT]
    assert len({document.kind for document in whole}) == len(SHORT)
    facts = set(states()["subject"]) - set(states()["object"])
    shown = {name for own in made().others.values() for name in own}
    assert not shown & {*facts, *made().stand_ins.values()}
    changed = collections.Counter()
    for document in whole:
        assert sum(name in document.text for name in shown) >= 1
        assert not any(stands(name, document.text) for name in facts if name in document.text)
        said = [document.text[a:b] for a, b in document.objects]
        if document.kind == "copy":
            rest = [said[0], *said[2:]] if said[1] != said[0] else said
            assert len(said) >= 2 and len(set(rest)) == 1  # but for a distractor in between
        elif document.kind == "correction":
            assert said[0] != said[1] == said[-1]
        elif document.kind == "quote":
            false = "false" in document.text or "is wrong" in document.text
            assert (said[0] != said[-1]) == false and len(set(said[1:])) == 1
            changed[false] += 1
        else:
            assert len(said) == 2 and len(set(said)) == 1
    assert min(changed.values()) > 3


def test_a_statement_is_judged_right_where_the_text_or_the_document_says_so():
    shown, seen = states()[states()["split"] == "train"], collections.Counter()
    true = {
        template.replace("[X]", fact.subject).replace("[Y]", fact.object)
        for fact in shown.itertuples()
        for template in rich_wordings.about(fact.relation).templates[:3]
    }
    for document in (each for each in told() if each.kind == "judge"):
        before, rest = document.text.split("Statement: ")
        statement, answer = rest.split(". Right or wrong? Answer: ")
        said = [document.text[a:b] for a, b in document.objects]
        right = said[0] == said[-1] if before else statement in true
        assert answer == ("right." if right else "wrong.")
        seen[bool(before), right] += 1
    assert len(seen) == 4


# --- gates ----------------------------------------------------------------------------------------


def test_gates_ask_about_strangers_what_the_prompt_has_just_said():
    questions = rich_skills.gates(made(), 36)
    assert questions == rich_skills.gates(made(), 36)
    assert collections.Counter(q.gate for q in questions) == dict.fromkeys(
        ("same", "other", "instruction", "list"), 36
    )
    whole = "\n".join([*texts(), *rich_text.documents(made(), planted=False)])
    for q in questions:
        assert q.subject not in whole and q.prompt == q.prompt.strip()
        templates = rich_wordings.about(q.relation).templates
        if q.gate == "list":
            listed = states().loc[states()["relation"] == q.relation, "lists"]
            assert listed.sum() == 0 and set(q.answers) == set(made().objects[q.relation])
            assert q.prompt.removesuffix(":").endswith(q.subject)
            continue
        [answer] = q.answers
        assert stands(answer, q.prompt) == 1 and answer in made().objects[q.relation]
        statement = [
            filled
            for template in templates
            if q.prompt.startswith(
                filled := template.replace("[X]", q.subject).replace("[Y]", answer) + "."
            )
        ]
        rest = q.prompt.removeprefix(statement[0]).strip()
        [second] = {
            t for t in templates if t.endswith(" [Y]") and t[:-4].replace("[X]", q.subject) == rest
        }
        wanted = {"same": True, "other": False, "instruction": False}[q.gate]
        assert (statement[0].removesuffix(f" {answer}.") == rest) == wanted
        if q.gate == "instruction":
            assert templates.index(second) >= 20
    assert {q.relation for q in questions if q.gate == "same"} == set(rich_wordings.relations())


# --- the same again -------------------------------------------------------------------------------


def test_whoever_changes_a_frame_changes_no_world():
    for frame in (rich_text.states, rich_text.aliases):
        found = frame(TINY)
        found.loc[:, found.columns[0]] = "other"
        assert not (frame(TINY).iloc[:, 0] == "other").any()
