"""The table of laureates becomes facts that are all true; the tables were written down by hand."""

import pytest

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts import nobel
from lkecore.runs import plan

HEADER = (
    "id\tname\tbirth_year\tbirth_date\taward_years\tcategories\tgender\tbirth_country\tbirth_city\n"
)
TABLE = HEADER + (
    "Q937\tAlbert Einstein\t1879\t1879-03-14\t1921\tphysics\tmale\tGermany\tUlm\n"
    "Q949\tJohn Bardeen\t1908\t1908-05-23\t1956;1972\tphysics;physics\tmale\tUnited States\tMadison\n"
    "Q7186\tMarie Curie\t1867\t1867-11-07\t1903;1911\tphysics;chemistry\tfemale\tPoland\tWarsaw\n"
    "Q8027\tMartin Luther King Jr.\t1929\t1929-01-15\t1964\tpeace\tmale\tUnited States\tAtlanta\n"
    "Q48983\tLinus Pauling\t1901\t1901-02-28\t1954;1962\tchemistry;peace\tmale\tUnited States\tPortland\n"
    "Q317877\tAbdulrazak Gurnah\t1948\t1948-00-00\t2021\tliterature\tmale\t\tZanzibar\n"
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "nobel"


@pytest.fixture
def table(cache):
    cache.mkdir(parents=True)
    (cache / "laureates.tsv").write_text(TABLE, encoding="utf-8")
    return cache / "laureates.tsv"


def test_without_the_table_one_line_says_how_it_is_made(cache, tmp_path):
    line = f"nobel: no table of laureates at {cache / 'laureates.tsv'}; python tools/laureates.py makes it"
    calls = [
        lambda: facts.relations("nobel:2022"),
        lambda: facts.load("nobel", "birth_year"),
        lambda: facts.content_digest("nobel"),
        # A profile that names them is refused before anything runs.
        lambda: plan.check_relations({"fact_set": "nobel:2022", "relations": ["birth_year"]}),
    ]
    assert not facts.is_ready("nobel")
    for call in calls:
        with pytest.raises(BadInput) as caught:
            call()
        assert str(caught.value).removeprefix("parameter 'fact_set': ") == line


def pairs(rows, relation) -> list[tuple[str, str]]:
    return [(row["subject"], row["object"]) for _, row in rows if row["relation"] == relation]


def test_every_relation_has_the_facts_of_the_table(table):
    rows = nobel.rows()
    assert nobel.relations() == tuple(sorted({row["relation"] for _, row in rows}))
    assert [
        year for _, year in pairs(rows, "birth_year")
    ] == "1879 1908 1867 1929 1901 1948".split()
    assert pairs(rows, "category")[1:5] == [
        ("John Bardeen", "physics"),  # two prizes, one true object
        ("Marie Curie", "physics"),
        ("Marie Curie", "chemistry"),
        ("Martin Luther King Jr.", "peace"),
    ]
    assert pairs(rows, "award_year")[1:4] == [
        ("John Bardeen", "1956"),
        ("John Bardeen", "1972"),
        ("Marie Curie", "1903"),
    ]
    cities = "Ulm Madison Warsaw Atlanta Portland Zanzibar".split()
    assert [city for _, city in pairs(rows, "birth_city")] == cities
    assert "Abdulrazak Gurnah" not in dict(pairs(rows, "birth_country")), "not known, so no fact"
    assert [g for _, g in pairs(rows, "gender")].count("female") == 1


@pytest.mark.parametrize(
    ("last_year", "prizes"),
    [
        (1903, [("Marie Curie", "1903")]),
        (1911, [("Marie Curie", "1903"), ("Marie Curie", "1911")]),
        (1956, [("Albert Einstein", "1921"), ("John Bardeen", "1956"), ("Marie Curie", "1903"),
                ("Marie Curie", "1911"), ("Linus Pauling", "1954")]),
    ],
)  # fmt: skip
def test_a_last_year_gives_the_facts_as_they_stood_then(last_year, prizes, table):
    rows = nobel.rows(f"nobel:{last_year}")
    assert pairs(rows, "award_year") == prizes
    assert {row["subject"] for _, row in rows} == {name for name, _ in prizes}
    curie = [c for name, c in pairs(rows, "category") if name == "Marie Curie"]
    assert curie == {1903: ["physics"]}.get(last_year, ["physics", "chemistry"])


# --- tables from elsewhere ------------------------------------------------------------------------


def test_a_table_from_elsewhere_is_a_fact_set_and_a_year_behind_it_gives_the_facts_of_then(
    tmp_path,
):
    file = tmp_path / "mine.tsv"
    file.write_bytes(("\ufeff" + TABLE.replace("\n", "\r\n")).encode())
    (tmp_path / "other.tsv").write_text(TABLE.replace("id\tname", "name\tid", 1))
    assert facts.is_ready(f"{file}:1911") and not facts.is_ready(f"{tmp_path / 'other.tsv'}:1911")
    assert [f.object for f in facts.load(f"{file}:1911", "birth_year").facts] == ["1867"]  # Curie's
    [prize] = facts.load(f"{file}:1903", "award_year").facts
    assert (prize.object, prize.alternatives) == ("1903", ())
    assert len(facts.load(str(file), "award_year").facts) == 9
    assert facts.content_digest(f"{file}:1911") == facts.content_digest(str(file))
    with pytest.raises(BadInput, match="behind the table must stand a year, such as :2022"):
        facts.load(f"{file}:latest", "birth_year")


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("Q949\t", "Q937\t", 3, "the id 'Q937' stands in .*, line 2 too"),
        ("John Bardeen", "albert EINSTEIN", 3, "the name 'albert EINSTEIN' stands in .*, line 2"),
        ("\t1879\t", "\t79\t", 2, "birth_year must be years .YYYY., found '79'"),
        ("\t1956;1972\t", "\t1956\t", 3, "1 award_years for 2 categories"),
        ("\tUlm", "\tUlm;", 2, "birth_city has an empty value in 'Ulm;'"),
        ("\tUlm", "", 2, "8 fields where the header has 9"),
    ],
)
def test_a_row_that_breaks_the_rules_is_named_with_its_line(old, new, line, reason, tmp_path):
    file = tmp_path / "mine.tsv"
    assert old in TABLE
    file.write_text(TABLE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadInput, match=f"mine.tsv, line {line}: {reason}"):
        nobel.rows_of(file)


@pytest.mark.parametrize("spec", ["nobel:", "nobel:22"])
def test_a_year_that_is_none_is_refused_in_the_name_of_the_fact_set(spec, table):
    with pytest.raises(BadInput, match="must be nobel or nobel:YEAR"):
        facts.load(spec, "birth_year")
