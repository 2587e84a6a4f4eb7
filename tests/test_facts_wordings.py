"""Wordings: templates in groups and other names, read, checked and counted, on any fact set."""

import re
import unicodedata

import pytest
from helpers import refusal

from lkecore import facts
from lkecore.facts import wordings
from lkecore.facts.drawn import Drawn
from lkecore.facts.fact import Fact, Relation
from lkecore.worlds import world as rich

HEAD = "relation\tgroup\ttemplate\tmanual\tquestion\tmade"
CAPITAL = [
    "capital\tplain\tIn [X], [Y] is the capital .\tno\tno\tby hand",
    "capital\tasked\tWhat is the capital of [X]? [Y]\tyes\tyes\tby hand",
    "capital\tplain\tThe capital of [X] is [Y].\tyes\tno\tby hand",
]


@pytest.fixture
def table(tmp_path):
    """Writes lines into a table and gives its path."""

    def write(*lines, head=HEAD):
        path = tmp_path / "my.tsv"
        path.write_text("".join(f"{line}\n" for line in (head, *lines)), encoding="utf-8")
        return str(path)

    return write


def sample(*rows, **about):
    """One drawn relation, named "capital" if nothing else is said: (subject, object) of each fact."""
    name = about.pop("name", "capital")
    made = tuple(Fact(str(i), name, subject, object_) for i, (subject, object_) in enumerate(rows))
    options = (("a", "b"),) * len(made)
    relation = Relation(name, made, **about)
    return {name: Drawn(relation, made[:1], made, options, made[:1], made)}


# --- templates


def test_table_is_read_by_groups_in_order_with_the_manual_one_first(table):
    found = wordings.read(table(*CAPITAL, "river\tplain\t[X] flows into [Y]\tyes\tno\t"))
    assert found.values.tolist() == [
        ["capital", 0, 0, True, False, "The capital of [X] is [Y]"],
        ["capital", 1, 0, False, False, "In [X], [Y] is the capital"],
        ["capital", 2, 1, True, True, "What is the capital of [X]? [Y]"],
        ["river", 0, 0, True, False, "[X] flows into [Y]"],
    ]
    assert [*found] == ["relation", "template", "group", "manual", "question", "text"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("r\tg\t[X] lies there\tyes\tno\t", "line 5: template '[X] lies there' has [Y] 0 times"),
        ("capital\tnew\tTHE capital of [X] is [Y] .\tyes\tno\t",
         "line 5: template 'THE capital of [X] is [Y]' says again what .*line 4 says"),
        ("r\tg\t[X] [Y]\tyes\tno\t", "line 5: template '[X] [Y]' has no word beside [X] and [Y]"),
        ("r\tg\t[X] is in [Y]\tno\tno\t", "line 5: group 'g' of relation r has 0 manual"),
        ("capital\tasked\tWhere is [X]? [Y]\tyes\tyes\t", "line 3: group 'asked' .* has 2 manual"),
        ("r\tg\t[X] is in [Y]\ttrue\tno\t", "line 5: manual must be yes or no, found 'true'"),
        ("r\t\t[X] is in [Y]\tyes\tno\t", "line 5: group must be a non-empty text"),
    ],
)  # fmt: skip
def test_bad_row_is_named_with_file_line_and_value(table, line, said):
    path = table(*CAPITAL, line)
    pattern = ".*".join(map(re.escape, said.split(".*")))
    assert re.search(f"{re.escape(path)}, {pattern}", refusal(wordings.read, path))


def test_bad_table_is_refused(table, tmp_path):
    path = table(*CAPITAL, head=HEAD.replace("manual", "manuel"))
    said = refusal(wordings.read, path)
    assert said.startswith(f"{path}, line 1: unknown column 'manuel'; nearest")
    bare = table("r\t[X] [Y]", head="relation\ttemplate")
    assert "no column group" in refusal(wordings.read, bare)
    assert "no template in it" in refusal(wordings.read, table())
    assert "no such file" in refusal(wordings.read, str(tmp_path / "none.tsv"))


def test_table_goes_onto_relations_of_its_names_and_says_which_it_lacks(table):
    drawn = sample(("Peru", "Lima")) | sample(("Po", "Adria"), name="river")
    kept, frame, out = wordings.onto(drawn, path := table(*CAPITAL))
    assert [*kept] == ["capital"] and out == {"river": f"no template in {path}"}
    relation = kept["capital"].relation
    assert relation.templates == tuple(frame["text"]) and relation.manual == (True, False, True)
    assert kept["capital"].facts == drawn["capital"].facts and set(frame["relation"]) == {"capital"}
    lacking = {"river": drawn["river"]}
    assert refusal(wordings.onto, lacking, path) == f"wordings {path}: none for river"


def test_own_templates_are_kept_but_for_the_five_of_the_atlas(table):
    five = facts.load("atlas", "capital").templates
    ours = wordings.onto(sample(("Peru", "Lima"), templates=five))[1]
    assert len(ours) == 25 and not {*five} & {*ours["text"]}
    assert wordings.onto(sample(("Peru", "Lima")))[1].equals(ours)
    own = {"templates": ("[Y] rules [X] .", "Where is [X]? [Y]"), "manual": (True, False)}
    kept, frame, _ = wordings.onto(sample(("Peru", "Lima"), **own))
    assert kept["capital"].relation.templates == ("[Y] rules [X]", "Where is [X]? [Y]")
    assert frame[["group", "manual", "question"]].values.tolist() == [
        [-1, True, False],
        [-1, False, True],
    ]
    assert len(wordings.onto(sample(("Peru", "Lima"), **own), table(*CAPITAL))[1]) == 3
    bare = sample(("Peru", "Lima"), templates=("[X] is in [Y]", "[X], [Y]"), name="P36")
    _, _, out = wordings.onto(sample(("Peru", "Lima")) | bare)
    assert out["P36"].startswith("template '[X], [Y]' has no word beside [X] and [Y]")


# --- names

NAMES = "kind\tname\tother"
MYANMAR = [
    "country\tMyanmar\tBurma",
    "country\tCzechia\tCzech Republic",
    "country\tMyanmar\tUnion of Burma",
]


def test_names_go_onto_subjects_and_objects_by_what_a_relation_is_about(table):
    path = table(*MYANMAR, "river\tPo\tPadus", head=NAMES)
    drawn = (
        sample(("Myanmar", "Naypyidaw"), ("Peru", "Lima"))
        | sample(("Mandalay", "Myanmar"), name="country_of_city")
        | sample(("Po", "Adria"), ("Myanmar", "Adria"), name="river")
    )
    found = wordings.named(drawn, path)
    assert [f.subject_aliases for f in found["capital"].facts] == [("Burma", "Union of Burma"), ()]
    assert [f.expressions for f in found["river"].facts] == [("Po", "Padus"), ("Myanmar",)]
    [city] = found["country_of_city"].facts
    assert (city.subject_aliases, city.object_aliases) == ((), ("Burma", "Union of Burma"))
    assert city.true_names == {"myanmar", "burma", "union of burma"}
    capital = found["capital"]
    assert (
        capital.relation.facts == capital.test == capital.facts
        and capital.shots == capital.facts[:1]
    )
    assert capital.relation.digest != drawn["capital"].relation.digest
    assert Fact("1", "r", "a", "x").expressions == ("a",)


def test_name_of_two_things_of_one_kind_is_refused_and_of_two_kinds_is_not(table):
    peru = sample(("Peru", "Lima"))
    for line, said in (
        ("Burma\tPagan", "'Burma' is another name of 'Myanmar', and already names 'Burma'"),
        ("Czechia\tBURMA", "'BURMA' is another name of 'Czechia', and already names 'Myanmar'"),
        ("Peru\tperu", "'peru' is another name of 'Peru', and already names 'Peru'"),
    ):
        path = table(*MYANMAR, f"country\t{line}", head=NAMES)
        assert said in refusal(wordings.named, peru, path)
    wordings.named(peru, table(*MYANMAR, "element\tB\tBurma", head=NAMES))


def test_name_of_another_subject_or_object_of_the_relation_is_refused(table):
    path = table(*MYANMAR, head=NAMES)
    said = "'Burma', another name of 'Myanmar', is also the name of 'burma', and would ask of both"
    for drawn in (
        sample(("Myanmar", "Naypyidaw"), ("burma", "Rangoon")),
        sample(("Bago", "Myanmar"), ("Rangoon", "burma"), name="country_of_city"),
    ):
        assert refusal(wordings.named, drawn, path) == f"relation {[*drawn][0]}: {said}"


def test_rich_worlds_give_the_names_that_their_text_gives():
    drawn = facts.draw(
        "lab:rich-1", ["city_country"], n_shots=1, n_facts=20, n_options=3, seed=0, min_relations=1
    )
    own = rich.world("lab:rich-1").aliases.set_index("name")["alias"]
    found = wordings.named(drawn, fact_set="lab:rich-1")["city_country"].facts
    assert any(f.subject_aliases for f in found) and any(f.object_aliases for f in found)
    for fact in found:
        assert fact.subject_aliases == ((own[fact.subject],) if fact.subject in own else ())
        assert fact.object_aliases == ((own[fact.object],) if fact.object in own else ())
    none = wordings.named(drawn)["city_country"].facts
    assert not any(f.subject_aliases or f.object_aliases for f in none)


# --- counts


def test_counts_are_those_of_a_pencil(table):
    rows = ("Myanmar", "Naypyidaw"), ("Peru", "Lima"), ("Myanmar", "Yangon")
    drawn = wordings.named(sample(*rows), table(*MYANMAR, head=NAMES))
    drawn |= sample(("Po", "Adria"), name="river")
    kept, frame, _ = wordings.onto(drawn, table(*CAPITAL, "river\tg\t[X] to [Y]\tyes\tno\t"))
    assert [f.object for f in wordings.pairs(kept)["capital"].facts] == ["Naypyidaw", "Lima"]
    assert wordings.counts(kept, frame).to_dict("list") == {
        "relation": ["capital", "river", "all"],
        "pairs": [2, 1, 3],
        "templates": [3, 1, 4],
        "expressions": [2, 1, 5 / 3],  # Myanmar has three names, Peru and Po have one
        "prompts": [12, 1, 13],
        "prompts_a_pair": [6, 1, 13 / 3],
    }


# --- what ships


def words(text):
    """Words only, casefolded, without accents, a blank at either end."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return f" {' '.join(re.findall(r'[a-z0-9]+', plain))} "


def test_our_names_are_those_of_things_in_the_atlas_and_tell_no_object():
    found = wordings.named(facts.draw("atlas", n_shots=4, n_facts=None, n_options=10, seed=0))
    used = set()
    for name, of in found.items():
        for fact in of.relation.facts:
            kinds = wordings.KINDS.get(name, ("", ""))
            used |= {(kinds[0], fact.subject, other) for other in fact.subject_aliases}
            used |= {(kinds[1], fact.object, other) for other in fact.object_aliases}
            for other in fact.subject_aliases:
                assert words(other) not in words(fact.object), (other, fact)
                assert words(fact.object) not in words(other), (other, fact)
    lines = wordings.NAMES.read_text(encoding="utf-8").splitlines()[1:]
    assert used == {tuple(line.split("\t")) for line in lines}
    names = {fact.subject: fact.expressions for fact in found["official_language"].relation.facts}
    assert names["Czechia"] == ("Czechia",)  # Czech Republic says the language
    codes = {fact.subject: fact.expressions for fact in found["country_code"].relation.facts}
    assert codes["Czechia"] == ("Czechia", "Czech Republic") and "Burma" in codes["Myanmar"]
