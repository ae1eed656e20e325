"""The timed stream file: what is written is read, and a bad line is found."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensue.dictionary import Dictionary
from ensue.errors import EnsueError, InputError, UsageError
from ensue.files import scope_of
from ensue.model import FOREVER, NEVER
from ensue.streamfile import DeadLetters, copies_of, read_stream, write_stream
from ensue.terms import literal

GOOD = b"5\t<urn:a> <urn:p> <urn:b> .\n"
A, P, B = "<urn:a>", "<urn:p>", "<urn:b>"


def rows_of(path, **options):
    return [row for batch in read_stream(path, **options) for row in batch]


def write(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


terms = st.builds(literal, st.text(), language=st.sampled_from([None, "en"]))
times = st.integers(NEVER + 1, FOREVER - 1)
row = st.tuples(times, st.just(A), st.just(P), terms, st.sampled_from([None, "<urn:g>"]))


@given(st.lists(row), st.sampled_from(["s.tsv", "s.tsv.gz"]))
def test_what_is_written_is_read(tmp_path_factory, rows, name):
    path = tmp_path_factory.mktemp("stream") / name
    assert write_stream(path, rows) == len(rows)
    assert rows_of(path) == rows


def test_the_same_rows_make_the_same_bytes(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_stream(tmp_path / name, [(1, A, P, B, None)])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("name", ["s.tsv", "s.tsv.gz"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n\n", []),
        (GOOD, [5]),
        (GOOD[:-1], [5]),
        (GOOD[:-1] + b"\r\n" + GOOD, [5, 5]),
        (b"\xef\xbb\xbf" + GOOD, [5]),
        (b"# a comment\twith a tab\n" + GOOD + b"  \r\n", [5]),
        (b"-3" + GOOD[1:], [-3]),
        (b"1970-01-01T00:00:05Z" + GOOD[1:] + GOOD, [5000, 5]),
        (b"1970-01-01T01:00:00.0059+01:00" + GOOD[1:] + b"1970-01-01T00:00:05" + GOOD[1:], [5, 5000]),
        (b"%d" % (FOREVER - 1) + GOOD[1:], [FOREVER - 1]),
        (b"%d" % (NEVER + 1) + GOOD[1:], [NEVER + 1]),
        (GOOD * 100_000, [5] * 100_000),
    ],
)
def test_forms_of_a_file(tmp_path, name, content, expected):
    assert [row[0] for row in rows_of(write(tmp_path / name, content))] == expected


BAD = {
    "no tab": (b"5 <urn:a> <urn:p> <urn:b> .", 1, "no tab"),
    "no time": (b"\t<urn:a> <urn:p> <urn:b> .", 1, "'' is not a time"),
    "no number": (b"5x\t<urn:a> <urn:p> <urn:b> .", 1, "'5x' is not a time"),
    "plus": (b"+5\t<urn:a> <urn:p> <urn:b> .", 1, "not a time"),
    "underscore": (b"5_0\t<urn:a> <urn:p> <urn:b> .", 1, "not a time"),
    "space": (b" 5\t<urn:a> <urn:p> <urn:b> .", 1, "not a time"),
    "fraction": (b"5.0\t<urn:a> <urn:p> <urn:b> .", 1, "not a time"),
    "arabic digits": ("\u0665\t<urn:a> <urn:p> <urn:b> .".encode(), 1, "not a time"),
    "forever": (b"%d\t<urn:a> <urn:p> <urn:b> ." % FOREVER, 1, "not a time"),
    "never": (b"%d\t<urn:a> <urn:p> <urn:b> ." % NEVER, 1, "not a time"),
    "huge": (b"9" * 5000 + b"\t<urn:a> <urn:p> <urn:b> .", 1, "not a time"),
    "nothing": (b"5\t", 3, "no statement"),
    "only a comment": (b"5\t# <urn:a>", 3, "no statement"),
    "no dot": (b"5\t<urn:a> <urn:p> <urn:b>", 26, "dot"),
    "bad term": (b"5\t<urn:a> <urn:p> oops .", 19, "object of a triple"),
    "bad UTF-8": (b'5\t<urn:a> <urn:p> "\xff" .', 20, "UTF-8"),
    "two": (b"5\t<urn:a> <urn:p> <urn:b> . <urn:a> <urn:p> <urn:b> .", 29, "single triple"),
    "two by return": (b"5\t<urn:a> <urn:p> <urn:b> .\r<urn:a> <urn:p> <urn:b> .", 3, "more than one"),
}


# A comment sends the whole block down the slow path at once; without one the fast path has to notice.
@pytest.mark.parametrize("first", [b"# first\n", GOOD])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("case", BAD)
def test_a_bad_line_is_found(tmp_path, case, end, first):
    line, column, what = BAD[case]
    path = write(tmp_path / "s.tsv", first + GOOD + line + end + GOOD)
    with pytest.raises(InputError, match=what) as caught:
        rows_of(path)
    assert str(caught.value).startswith(f"{path}:3:{column}: ")
    assert caught.value.hint


def test_two_faults_that_cancel_out_in_number_are_found(tmp_path):
    # Parsed in one go, these two lines hold two statements, as two lines should.
    content = b"5\t<urn:a> <urn:p> <urn:b> .\r<urn:a> <urn:p> <urn:c> .\n6\t# nothing\n"
    with pytest.raises(InputError, match="more than one"):
        rows_of(write(tmp_path / "s.tsv", content))


@pytest.mark.parametrize("before", [0, 1, 100_000])
def test_bad_lines_can_be_put_aside(tmp_path, before):
    letters = DeadLetters(out := io.StringIO())
    path = write(tmp_path / "s.tsv.gz", GOOD * before + b"oops \xff\n" + GOOD + b"6\toops")
    assert len(rows_of(path, on_bad=letters)) == before + 1
    first, second = map(json.loads, out.getvalue().splitlines())
    assert letters.count == 2
    assert (first["line"], first["offset"]) == (before + 1, before * len(GOOD))
    assert (first["text"], first["file"]) == ("oops \ufffd", str(path))
    assert (second["line"], second["column"]) == (before + 3, 3)
    assert second["offset"] == before * len(GOOD) + len(b"oops \xff\n" + GOOD)


def test_a_directory_is_replayed_in_order_of_name(tmp_path):
    write(tmp_path / "10.tsv", b"3" + GOOD[1:])
    write(tmp_path / "02.tsv.gz", b"2" + GOOD[1:])
    write(tmp_path / "01.tsv", b"9" + GOOD[1:])
    write(tmp_path / ".hidden", b"oops")
    write(tmp_path / "_SUCCESS", b"")
    assert [row[0] for row in rows_of(tmp_path)] == [9, 2, 3]
    (tmp_path / "more").mkdir()
    with pytest.raises(InputError, match="directory within"):
        rows_of(tmp_path)


def test_blank_nodes_belong_to_their_file(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / name, b"1\t_:n <urn:p> _:n <urn:g> .\n" + b"2\t_:n <urn:p> _:m .\n")
    (first, second, third, _) = rows_of(tmp_path)
    assert first[1] == first[3] == second[1] == scope_of(tmp_path / "a") + "n"
    assert third[1] == scope_of(tmp_path / "b") + "n"


def test_a_stream_that_breaks_off_gives_what_it_had(tmp_path):
    content = b"".join(b"%d\t<urn:a%d> <urn:p> <urn:b> .\n" % (i, i * i) for i in range(50_000))
    path = tmp_path / "s.gz"
    whole = gzip.compress(content)
    path.write_bytes(whole[: len(whole) // 2])
    rows = []
    batches = map(rows.extend, read_stream(path, on_bad=DeadLetters()))
    with pytest.raises(InputError, match="cut short") as caught:
        list(batches)
    assert len(rows) > 10_000
    assert caught.value.place.line >= len(rows)


def test_a_missing_stream(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        rows_of(tmp_path / "absent")


def test_copies_carry_time_graph_and_context():
    dictionary = Dictionary()
    copies = copies_of([(5, A, P, B, None), (6, A, P, B, "<urn:g>")], dictionary, context=3)
    a, p, b, g = map(dictionary.encode, (A, P, B, "<urn:g>"))
    assert list(copies) == [(3, a, p, b, 0, 5), (3, a, p, b, g, 6)]


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not a time"):
        write_stream(tmp_path / "s", [(FOREVER, A, P, B, None)])
    with pytest.raises(EnsueError, match="cannot be written: Is a directory"):
        write_stream(tmp_path, [])
