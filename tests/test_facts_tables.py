"""Rows: every format is read as its definition says, and every bad row is named with its place."""

import bz2
import gzip
import json
import os
import re
import unicodedata

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import refusal
from hypothesis import given
from hypothesis import strategies as st

from lkecore import facts
from lkecore.errors import BadInput
from lkecore.facts.folders import sources
from lkecore.facts.layouts import tables_in
from lkecore.facts.tables import fold, read, text


def put(folder, name, content):
    """Write text (or bytes) as it stands, without translation of line ends."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(path):
    return [row for _, row in read(path)]


def places(path):
    """Where the rows are: ["line 2", ...]."""
    return [where.removeprefix(f"{path}, ") for where, _ in read(path)]


def complaint(path):
    """The message about a file that cannot be read, without the folder."""
    message = refusal(lambda: list(read(path)))
    assert message.startswith(str(path))
    return message.replace(str(path), path.name)


# --- formats --------------------------------------------------------------------------------------


def test_csv_fields_may_hold_commas_quotes_and_line_breaks(tmp_path):
    path = put(tmp_path, "a.csv", 's,o\n"Washington, D.C.",x\n"a\nb","say ""hi"""\nc,d\n')
    assert rows(path) == [
        {"s": "Washington, D.C.", "o": "x"},
        {"s": "a\nb", "o": 'say "hi"'},
        {"s": "c", "o": "d"},
    ]
    assert places(path) == ["line 2", "line 3", "line 5"]  # where the row begins


def test_tsv_keeps_quotes_and_commas_as_they_are(tmp_path):
    path = put(tmp_path, "a.tsv", 's\to\n"Weird Al" Yankovic\tx, y\n"\tz\n')
    assert rows(path) == [{"s": '"Weird Al" Yankovic', "o": "x, y"}, {"s": '"', "o": "z"}]
    lone = ['12" mix', '"Heroes', '"Heroes"', '""', "6'2\"", "'n'"]
    path = put(tmp_path, "a.tsv", "s\to\n" + "".join(f"{name}\t{name}\n" for name in lone))
    assert rows(path) == [{"s": name, "o": name} for name in lone]


def test_parquet_gives_texts_numbers_lists_and_missing_values_as_plain_python(tmp_path):
    frame = pd.DataFrame(
        {
            "s": ["a", "b"],
            "year": pd.array([1999, None], dtype="Int64"),
            "names": [["x", "y"], []],
            "nested": [[["p"], []], None],
            "split": ["test", None],
        }
    )
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    assert rows(path) == [
        {"s": "a", "year": 1999, "names": ["x", "y"], "nested": [["p"], []], "split": "test"},
        {"s": "b", "year": None, "names": [], "nested": None, "split": None},
    ]
    assert places(path) == ["row 1", "row 2"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"s": "a", "o": "b"}\n\n{"s": "c", "o": "é"}\n'),
        ("a.csv", "s,o\na,b\n\nc,é\n"),
        ("a.tsv", "s\to\na\tb\n\nc\té\n"),
    ],
)
def test_byte_order_mark_and_windows_line_ends_and_blank_lines_change_nothing(
    tmp_path, name, content
):
    expected = [{"s": "a", "o": "b"}, {"s": "c", "o": "é"}]
    for mark in ("", "\ufeff"):
        for end in ("\n", "\r\n"):
            path = put(tmp_path, name, mark + content.replace("\n", end))
            assert rows(path) == expected
            assert places(path)[1] == ("line 3" if name == "a.jsonl" else "line 4")


@pytest.mark.parametrize("character", ["\u2028", "\x85", "\x0c"])
def test_characters_that_only_python_takes_for_line_breaks_do_not_end_a_row(tmp_path, character):
    name = f"a{character}b"
    assert rows(put(tmp_path, "a.tsv", f"s\to\n{name}\tx\n")) == [{"s": name, "o": "x"}]
    assert rows(put(tmp_path, "a.csv", f"s,o\n{name},x\n")) == [{"s": name, "o": "x"}]
    line = json.dumps({"s": name}, ensure_ascii=False)
    if character >= "\x20":  # JSON itself allows no control characters
        assert rows(put(tmp_path, "a.jsonl", f"{line}\n")) == [{"s": name}]


NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from(["\n", '"', ",", "\\"])
)


ONE_LINE = st.text(st.sampled_from("ab, \"'\\é"), min_size=1)


@given(st.lists(st.tuples(ONE_LINE, ONE_LINE), min_size=1, max_size=4), st.sampled_from([0, 1]))
def test_what_pandas_writes_as_tsv_is_read_back(tmp_path_factory, pairs, quoting):
    """``pandas.read_csv`` is the oracle; 0 quotes what holds a quote, and 1 every cell."""
    path = tmp_path_factory.mktemp("written") / "a.tsv"
    pd.DataFrame(pairs, columns=["s", "o"]).to_csv(path, sep="\t", index=False, quoting=quoting)
    plain = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    assert rows(path) == plain.to_dict("records") == [{"s": s, "o": o} for s, o in pairs]


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=4))
def test_what_pandas_writes_as_csv_or_parquet_is_read_back(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("written")
    frame = pd.DataFrame(pairs, columns=["s", "o"])
    frame.to_csv(folder / "a.csv", index=False, lineterminator="\n", quoting=1)
    frame.to_parquet(folder / "a.parquet")
    expected = [{"s": s, "o": o} for s, o in pairs]
    assert rows(folder / "a.csv") == expected
    assert rows(folder / "a.parquet") == expected


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"s": "a"}\n\n{"s": \n', r"a.jsonl, line 3: not JSON \(.*\)"),
        ("a.jsonl", '{"s": "a"}\n["b"]\n', r"a.jsonl, line 2: .* JSON object, found '\[\"b\"\]'"),
        ("a.csv", "s,o\na,b\nc\n", r"a.csv, line 3: 1 fields where the header has 2"),
        ("a.csv", "s,o,o\na,b,c\n", r"a.csv, line 1: the header names a column twice.*"),
        ("a.csv", 's,o\na,b\nc,"d\ne,f\ng,h\n', r"a.csv, line 3: unexpected end of data"),
        ("a.csv", 's,o\n"a\nb",c\n"d"e,f\n', r"a.csv, line 4: ',' expected after '\"'"),
        ("a.csv", "s,o\na,b\ns,o\nc,d\n", r"a.csv, line 3: the header again; .*"),
        ("a.jsonl", '{"s": 1}\n{"s": 1, "o": 2, "s": 1}\n', r"a.jsonl, line 2: the key 's' .* twice .*"),
        ("a.json", '[{"s": "}"},\n {"s": "\\"}", "o": {}},\n {"s": {"t": 1,\n "t": 2}}]',
         r"a.json, line 4: the key 't' stands twice in one JSON object"),
        ("a.jsonl", b'{"s": "a"}\n{"s": "\xe9"}\n', r"a.jsonl, line 2: not UTF-8 \(byte 0xe9\)"),
        ("a.tsv", b"\xef\xbb\xbfs\to\n\x80\tb\n", r"a.tsv, line 2: not UTF-8 \(byte 0x80\)"),
    ],
)  # fmt: skip
def test_bad_file_is_named_with_its_line(tmp_path, name, content, message):
    assert re.fullmatch(message, complaint(put(tmp_path, name, content)))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"object": "b"}, "no column subject or sub_label, found 'object'"),
        ({"subject": " \t", "object": "b"}, "subject must be a non-empty text, found ' \\t'"),
        ({"subject": "a", "object": ["b"]}, "object must be a non-empty text, found ['b']; "
         "all true objects, as a list, are for the column obj_labels"),
        ({"subject": "\u200b", "object": "b"}, "subject must be a non-empty text, found '\\u200b'"),
        ({"subject": "a\0", "object": "b"}, "subject holds a null character, found 'a\\x00'"),
        ({"subject": "a\ud83d", "object": "b"}, "subject holds half a character, found 'a\\ud83d'"),
        ({"subject": "a", "object": "b", "obj_labels": '["b"]'},
         "obj_labels must be a list of texts, found '[\"b\"]'"),
        ({"subject": "a", "object": "b", "obj_aliases": [["c", None]]},
         "obj_aliases must be a non-empty text, found None"),
        ({"subject": "a", "object": "b", "split": "held out"},
         "split must be one of ('train', 'dev', 'test'), found 'held out'"),
    ],
)  # fmt: skip
def test_bad_row_is_named_with_file_line_column_and_value(tmp_path, row, message):
    good = json.dumps({"subject": "x", "object": "y"})
    path = put(tmp_path, "r.jsonl", f"{good}\n\n{json.dumps(row)}\n")
    assert refusal(facts.load, str(path), "r") == f"{path}, line 3: {message}"


# --- cells ----------------------------------------------------------------------------------------


def test_text_takes_the_first_column_there_is_and_tidies_white_space():
    assert text({"b": "x", "a": "y"}, "here", "a", "b") == "y"
    assert text({"b": " New \n York\u00a0"}, "here", "a", "b") == "New York"


@given(st.text(max_size=6), st.sampled_from(["NFC", "NFD"]))
def test_a_name_is_folded_alike_in_any_form_and_case(name, form):
    """Unicode's canonical caseless match, D145."""
    other = unicodedata.normalize(form, name)
    assert fold(other) == fold(name) == fold(fold(name)) == fold(name.casefold())
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
    assert unicodedata.normalize("NFD", fold(name)) == folded
    assert fold(name) == unicodedata.normalize("NFC", fold(name))


LISTED = [
    ("r.csv", 'subject,object,obj_labels,obj_aliases,options\n'
     'Kenya,Nairobi,"[""Nairobi"",""NBO""]","[[""Nai, robi""], [7]]","[""Kisumu""]"\nJapan,Tokyo,,,\n'),
    ("r.tsv", 'subject\tobject\tobj_labels\tobj_aliases\toptions\n'
     'Kenya\tNairobi\t ["Nairobi", "NBO"]\t[["Nai, robi"], [7]]\t["Kisumu"]\nJapan\tTokyo\t\t\t\n'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), LISTED)
def test_cells_of_a_table_hold_lists_as_json_or_none(tmp_path, name, content):
    kenya, japan = facts.load(str(put(tmp_path, name, content)), "r").facts
    assert kenya.alternatives == ("NBO",) and kenya.aliases == ("Nai, robi", "7")
    assert kenya.options == ("Kisumu", "Nairobi")
    assert japan.alternatives == japan.aliases == japan.options == ()


@pytest.mark.parametrize("cell", ["['NBO']", '["NBO"', '{"a": "NBO"}', "[" * 9999])
def test_another_form_of_a_list_in_a_table_is_refused_with_its_line_and_the_rule(tmp_path, cell):
    path = put(tmp_path, "r.tsv", f"subject\tobject\tobj_labels\na\tb\t[]\nc\td\t{cell}\n")
    assert refusal(facts.load, str(path), "r") == (
        f"{path}, line 3: obj_labels must be a list of texts, in a table written as JSON, such as "
        f'["Nairobi", "NBO"]; found {cell[:60]!r}'
    )


# --- files of a fact set --------------------------------------------------------------------------


def test_unknown_fact_sets_and_suffixes_are_named(tmp_path):
    path = put(tmp_path, "a.xlsx", "")
    with pytest.raises(BadInput, match=r"is not one of .*'\.jsonl', '\.csv', '\.tsv'"):
        sources(str(path))
    with pytest.raises(BadInput, match="neither atlas nor nobel, lab:WORLD, hub:org/name or an"):
        sources(str(tmp_path / "atlass"))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BadInput, match="empty: no .jsonl, .csv, .tsv, .parquet, .json file in it"):
        sources(str(empty))


def table(*names):
    """A table of JSON lines with a fact about each name."""
    return "".join(json.dumps({"subject": name, "object": f"of {name}"}) + "\n" for name in names)


def lay(folder, **files):
    """Write a table for each place (``P36/dev.jsonl``): the names that it has facts about."""
    for place, names in files.items():
        put(folder, place, table(*names))
    return str(folder)


def loaded(spec):
    """{relation: {subject: split}} of a fact set."""
    return {
        name: {f.subject: f.split for f in facts.load(spec, name).facts}
        for name in facts.relations(spec)
    }


@pytest.mark.parametrize(
    ("word", "split"),
    [
        ("TRAIN", "train"), ("validation", "dev"), ("val", "dev"), ("eval", "dev"), ("testing", "test"),
    ],
)  # fmt: skip
def test_every_word_for_a_split_is_read_as_a_file_and_as_a_cell(tmp_path, word, split):
    other = "train" if split != "train" else "test"
    expected = {name: split if name < "e" else other for name in "abcdefgh"}
    one, several = tmp_path / "one", tmp_path / "several"
    for folder in (one, several / "one"):
        lay(folder, **{f"{word}.jsonl": "abcd", f"{other}.jsonl": "efgh"})
    assert loaded(str(one)) == loaded(str(several)) == {"one": expected}
    rows = [f"{name},of {name},{word if name < 'e' else other}\n" for name in "abcdefgh"]
    path = put(tmp_path, "one.csv", "subject,object,split\n" + "".join(rows))
    assert loaded(str(path)) == {"one": expected}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (["P1.jsonl", "test.jsonl", "P2.csv.gz"], ["P1.jsonl", "P2.csv.gz", "test.jsonl"]),
        (["P1/train.jsonl", "test.jsonl"], ["test.jsonl", "P1/train.jsonl"]),
        (["train.jsonl", "extra.jsonl"], ["train.jsonl", "extra.jsonl"]),
        (["P1/train.jsonl", "P1/more.jsonl"], ["P1/more.jsonl"]),
        (["P1.jsonl", "europe/P2.jsonl", "asia/P2.JSONL"], ["europe/P2.jsonl", "asia/P2.JSONL"]),
        (["P1/train.jsonl", "old/P1/train.jsonl"], ["old/P1/train.jsonl"]),
        (["a/b/c/d.jsonl"], ["a/b/c/d.jsonl"]),
    ],
)  # fmt: skip
def test_facts_where_none_are_read_are_refused_and_named(tmp_path, files, named):
    for name in files:
        packed = gzip.compress(b"subject,object\na,b\n")
        put(tmp_path, name, table("a") if "json" in name.lower() else packed)
    for function in (facts.relations, facts.content_digest, facts.unread):
        message = refusal(function, str(tmp_path))
        assert all(name in message for name in named) and str(tmp_path) in message
        words = message.replace(",", " ").replace(";", " ").split()
        assert not ({*files} - {*named}) & {*words}


PLACES = [
    f"{folder}{name}.{suffix}"
    for folder in ("", "P1/", "P2/", "P1/deep/")
    for name in ("train", "val", "test", "P1", "P2", "more")
    for suffix in ("jsonl", "JSONL", "jsonl.gz", "json")
]


@given(st.lists(st.sampled_from(PLACES), min_size=1, max_size=4, unique=True))
def test_every_fact_of_a_folder_is_read_or_the_folder_is_refused(tmp_path_factory, places):
    folder = tmp_path_factory.mktemp("laid")
    for i, place in enumerate(places):
        content = table(f"{i}a", f"{i}b").encode()
        put(folder, place, gzip.compress(content) if place.endswith("gz") else content)
    try:
        found = loaded(str(folder))
    except BadInput as error:
        assert any(place in str(error) for place in places)
        return
    subjects = [subject for each in found.values() for subject in each]
    assert sorted(subjects) == sorted(f"{i}{x}" for i in range(len(places)) for x in "ab")


def test_files_without_facts_are_named_and_hidden_ones_are_not(tmp_path):
    spec = lay(tmp_path, **{"P1/train.jsonl": "a", "P1/test.jsonl": "b", ".P2/train.jsonl": "c"})
    packed = bz2.compress(table("d").encode())
    others = {
        "LICENSE": "all", "P1/notes.txt": "a", "P1/counts.csv": "n\n7\n", "names.json": '["P1"]',
        "P1/dev.jsonl.bz2": packed, "empty.jsonl": "",
    }  # fmt: skip
    for name, content in {**others, ".DS_Store": "x", "P1/._train.jsonl": b"\x00\xff"}.items():
        put(tmp_path, name, content)
    assert loaded(spec) == {"P1": {"a": "train", "b": "test"}}
    assert sorted(facts.unread(spec)) == sorted(others)
    assert facts.unread(str(tmp_path / "P1")) == ("counts.csv", "dev.jsonl.bz2", "notes.txt")
    assert facts.unread(str(tmp_path / "P1" / "test.jsonl")) == facts.unread("atlas") == ()


def test_a_packed_file_that_is_cut_off_or_none_is_named(tmp_path):
    whole = gzip.compress(table(*map(str, range(500))).encode())
    damaged = whole[:-40] + b"\x00" * 20 + whole[-20:]
    for name in ("r.jsonl.gz", "r.csv.gz"):
        for content in (whole[:100], whole[:-4], damaged, b"", table("a").encode()):
            path = put(tmp_path, name, content)
            if content == damaged:  # what is read before may be no JSON
                assert complaint(path)
            elif content:
                assert complaint(path).startswith(f"{name}: cannot be read (")
            else:
                assert rows(path) == []


def test_json_nested_too_deep_or_a_number_without_end_names_its_line(tmp_path):
    file = tmp_path / "a.jsonl"
    for line in ("[" * 100_000, '{"subject": ' + "1" * 5000 + "}"):
        file.write_text('{"subject": "a", "object": "b"}\n' + line)
        with pytest.raises(BadInput, match="a.jsonl, line 2: JSON beyond"):
            list(read(file))


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"
NO_TABLES = {  # what lies there in place of a table, and what is said of it
    "P1/train.jsonl": [
        (lambda path: path.symlink_to("gone"), "a link that leads nowhere, to gone"),
        (lambda path: os.mkfifo(path), "but a pipe or a device"),
        (lambda path: path.write_text(""), "no rows in it"),
        (lambda path: path.write_bytes(b"\xef\xbb\xbf\n \n"), "no rows in it"),
        (lambda path: path.write_text(POINTER), "a pointer of Git LFS"),
        (lambda path: path.mkdir(), "a folder"),
    ],
    "P1/train.csv.gz": [(lambda path: path.write_bytes(gzip.compress(b"")), "no rows in it")],
    "P3.jsonl": [(lambda path: path.symlink_to("P3.jsonl"), "a link that leads nowhere")],
    "P3": [(lambda path: path.symlink_to("gone"), "a link that leads nowhere, to gone")],
    "P\udce9.jsonl": [(lambda path: path.write_text(table("z")), "the name .* is not UTF-8")],
    "metadata_relations.json": [
        (lambda path: path.symlink_to("gone"), "a link that leads nowhere, to gone"),
        (lambda path: os.mkfifo(path), "but a pipe or a device"),
    ],
}


@pytest.mark.parametrize(
    ("name", "make", "said"), [(name, *case) for name, cases in NO_TABLES.items() for case in cases]
)
def test_what_is_named_as_a_table_and_is_none_is_refused_and_never_passed_over(
    tmp_path, name, make, said
):
    spec = lay(tmp_path, **{"P1/test.jsonl": "ab", "P2.jsonl": "c"})
    make(tmp_path / name)
    found = refusal(loaded, spec)
    assert re.match(rf"{re.escape(str(tmp_path / name))}: .*", found)
    assert re.search(said, found)
    if "rows" not in said and "folder" not in said:  # alone it is told so, too
        assert refusal(loaded, str(tmp_path / name)) == found


def test_other_things_in_a_folder_are_named_and_never_opened(tmp_path):
    spec = lay(tmp_path / "set", **{"P1/test.jsonl": "ab", "P1/train.jsonl": "c"})
    lay(tmp_path / "far", **{"train.jsonl": "z"})
    (tmp_path / "set/notes.txt").symlink_to("gone")
    (tmp_path / "set/P1/far").symlink_to(tmp_path / "far")
    os.mkfifo(tmp_path / "set/pipe")
    assert loaded(spec) == {"P1": {"a": "test", "b": "test", "c": "train"}}
    assert sorted(facts.unread(spec)) == ["P1/far", "notes.txt", "pipe"]


def test_a_table_of_templates_beside_relations_of_files_is_named_and_a_broken_one_is_refused(
    tmp_path,
):
    """The layout of mLAMA."""
    spec = lay(tmp_path, **{"P36.jsonl": "ab", "P37.jsonl": "c"})
    put(tmp_path, "templates.jsonl", '{"relation": "P36", "template": "[X] is [Y] ."}\n')
    assert facts.relations(spec) == ("P36", "P37") and facts.unread(spec) == ("templates.jsonl",)
    # A misspelled header must not make a relation disappear.
    put(tmp_path, "P38.csv", "Subject,name\na,b\n")
    assert refusal(loaded, spec).startswith(f"{tmp_path / 'P38.csv'}, line 2: no column subject")


def test_a_parquet_file_with_a_column_twice_or_a_damage_is_refused(tmp_path):
    cells = [pa.array([f"{column}{i}" for i in range(99)]) for column in "abc"]
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(cells, names=["subject", "object", "object"]), path)
    assert refusal(facts.load, str(path), "r").endswith(
        "names a column twice: subject, object, object)"
    )
    whole = pa.table(cells, names=["subject", "object", "id"])
    pq.write_table(whole, path, write_page_checksum=True, compression="none", use_dictionary=False)
    data = path.read_bytes()
    assert len(facts.load(str(path), "r").facts) == 99
    path.write_bytes(
        data.replace(b"a42", b"a43", 1)
    )  # the first page of the column, not its statistics
    assert "not a readable Parquet file" in refusal(facts.load, str(path), "r")


def test_a_file_of_the_hub_of_which_the_cache_lost_the_content_is_named(tmp_path):
    lay(tmp_path, **{"P1/test.jsonl": "ab"})
    (tmp_path / "P1/train.jsonl").symlink_to("../blobs/gone")
    found = refusal(tables_in, tmp_path, "", "org/set")
    assert found == f"{tmp_path / 'P1/train.jsonl'}: a link that leads nowhere, to ../blobs/gone"
