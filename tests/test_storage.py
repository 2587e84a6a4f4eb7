"""Files are there whole or not at all, and the cache folder is where the environment says."""

import io
import os
import threading

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from lkecore.errors import BadInput
from lkecore.storage import (
    as_parquet,
    cache_folder,
    code_of,
    program_of,
    read_frame,
    read_table,
    remembered,
    write_whole,
)


def test_a_file_holds_exactly_what_was_written_and_nothing_lies_beside_it(tmp_path):
    path = tmp_path / "new" / "file.txt"
    write_whole(path, "before")
    write_whole(path, "é\r\n")
    assert path.read_bytes() == b"\xc3\xa9\r\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_as_readable_as_any_other_file_of_the_user(tmp_path):
    write_whole(tmp_path / "ours", "")
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_error_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_whole(path, "old")

    def fail(*_):
        raise OSError("disk full")

    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half a character: \ud800")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_writers_at_the_same_time_leave_the_whole_text_of_one_of_them(tmp_path):
    path = tmp_path / "file.txt"
    texts = [letter * 100_000 for letter in "abcd"]
    threads = [threading.Thread(target=write_whole, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts and list(tmp_path.iterdir()) == [path]


def test_program_of_has_no_comments_docstrings_and_imports(tmp_path):
    told, bare, other = (tmp_path / f"{name}.py" for name in ("told", "bare", "other"))
    told.write_text(
        '"""A module."""\n\nimport a.b\n\nx = "text"  # why\n\n\ndef f():\n'
        '    """Only told."""\n    from c import d\n'
    )
    bare.write_text("x = 'text'\ndef f(): pass\n")
    other.write_text("x = 'Text'\ndef f(): pass\n")
    assert program_of(told) == program_of(bare) != program_of(other)


def test_code_of_has_no_comments_and_docstrings_but_imports():
    one = 'from a import b\n\nx = b  # why\nasync def f():\n    """Told."""\n    return (x,\n)\n'
    bare = "from a import b\nx = b\nasync def f(): return (x,)\n"
    assert code_of(one) == code_of(bare) != code_of(bare.replace("a import", "c import"))
    assert code_of("def f(): 'x'") == code_of("def f():\n    'y'") != code_of("def f(): 1")
    assert code_of("x = 'a'") != code_of("x = 'b'")  # a text that is a value
    assert code_of("x = = 1") == "x = = 1" and code_of("\0") == "\0"


def test_a_cache_folder_that_cannot_be_made_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(BadInput, match=f"^cache folder {tmp_path}/file/cache cannot be made"):
        cache_folder()


def test_what_takes_long_to_find_out_is_found_out_once_and_again_where_it_was_spoilt(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path))
    asked = []

    def make():
        asked.append(len(asked))
        return f"number {len(asked)}\nand a line"

    assert remembered("some", "key", make) == remembered("some", "key", make)
    assert remembered("some", "other", make).startswith("number 2") and asked == [0, 1]
    path = tmp_path / "some" / "key"
    whole = path.read_bytes()
    for spoilt in (whole[:-1], whole[1:], b"", b"\xff", whole.replace(b"1", b"7", 1)):
        path.write_bytes(spoilt)
        before = len(asked)
        assert remembered("some", "key", make) == f"number {before + 1}\nand a line"
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    assert remembered("some", "new", make) != remembered("some", "new", make)


@pytest.mark.parametrize("kind", ["frame", "table"])
def test_a_flipped_bit_is_never_another_number_and_always_one_kind_of_error(kind, tmp_path):
    """Of each page, where its numbers lie, and of what stands between and behind them."""
    path, rng = tmp_path / "seed=1" / "kept.parquet", np.random.default_rng(0)
    frame = pd.DataFrame({"logprob": -rng.gamma(2, 5, 300), "n": range(300), "word": "ab", "no": 0})
    table = pq.read_table(io.BytesIO(frame.to_parquet())).replace_schema_metadata(None)  # as ships
    given = frame if kind == "frame" else table
    content, numbers = as_parquet(given), frame.to_numpy().tolist()
    begin, end = 4, len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    write_whole(path, content)
    # No column of the folder's name is in it.
    pd.testing.assert_frame_equal(read_frame(path), frame)
    refused = 0
    for bit in range(8 * begin, 8 * len(content), 199):
        spoilt = bytearray(content)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        try:
            found = read_frame(path) if kind == "frame" else read_table(path).to_pandas()
        except ValueError as error:
            refused += bit < 8 * end
            assert "\n" not in str(error)
        else:
            assert bit >= 8 * end or found.to_numpy().tolist() == numbers
    assert refused > 0.9 * 8 * (end - begin) / 199
