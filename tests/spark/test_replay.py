"""A stream cut into micro-batches is the stream: no line lost, none twice, none torn."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensue.errors import InputError
from ensue.spark.decode import decode
from ensue.spark.replay import Position, Segment, Stream, blocks, pieces, timed
from ensue.streamfile import read_stream

LINE = b"%d\t<urn:a%d> <urn:p> <urn:b> .\n"


def write(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def numbered(first, last):
    return b"".join(LINE % (number, number) for number in range(first, last))


def times_between(stream, start, end, parts=1):
    found = []
    for segment in stream.between(start, end):
        for piece in pieces(segment, parts):
            for block in blocks(piece):
                found += block.times().to_pylist()
    return found


def batches(stream, parts=1, **limits):
    """The times of each micro-batch, until there is nothing more."""
    found, here = [], Position()
    while (end := stream.after(here, **limits)) != here:
        found.append(times_between(stream, here, end, parts))
        here = end
    return found


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "1.tsv", b"\xef\xbb\xbf" + numbered(0, 7))
    write(tmp_path / "2.tsv.gz", numbered(7, 12)[:-1])
    write(tmp_path / "3.tsv", b"")
    write(tmp_path / "4.tsv", numbered(12, 20))
    return tmp_path


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 12, 100, None])
def test_micro_batches_have_so_many_rows(folder, rows, parts):
    found = batches(Stream(folder), parts, rows=rows)
    size = rows or 20
    assert found == [list(range(first, min(20, first + size))) for first in range(0, 20, size)]


def test_blocks_tell_lines_and_where_they_begin(tmp_path):
    write(tmp_path / "s", b"1\ta\n\n2\tb\r\noops\nlast")
    whole, rest = blocks(Segment(str(tmp_path / "s"), 0))
    assert whole.lines.to_pylist() == ["1\ta\n", "\n", "2\tb\r\n", "oops\n"]
    assert whole.offsets.tolist() == [0, 4, 5, 10, 15]
    assert (rest.lines.to_pylist(), rest.offsets.tolist()) == (["last"], [15, 19])
    times, statements = timed(whole.lines)
    assert times.to_pylist() == [1, None, 2, None]
    assert statements.to_pylist() == ["a", "", "b", "oops"]


contents = st.lists(st.binary(max_size=30), max_size=40).map(b"\n".join)


@given(contents, contents, st.integers(1, 10), st.integers(1, 4))
def test_any_bytes_come_out_as_they_are(tmp_path_factory, first, second, rows, parts):
    folder = tmp_path_factory.mktemp("stream")
    write(folder / "a", first)
    write(folder / "b.gz", second)
    stream, here, found = Stream(folder), Position(), {"a": b"", "b.gz": b""}
    while (end := stream.after(here, rows=rows)) != here:
        count = 0
        for segment in stream.between(here, end):
            for piece in pieces(segment, parts):
                for block in blocks(piece):
                    count += len(block.lines)
                    found[piece.path.rpartition("/")[2]] += b"".join(
                        block.lines.view(pa.binary()).to_pylist()
                    )
        assert 0 < count <= rows
        here = end
    assert found == {"a": first.removeprefix(b"\xef\xbb\xbf"), "b.gz": second.removeprefix(b"\xef\xbb\xbf")}


def test_lines_longer_than_what_is_read_at_once(tmp_path):
    write(tmp_path / "s", b"1\t" + b"x" * 3_000_000 + b"\n" + b"2\ty\n" * 600_000)
    found = batches(Stream(tmp_path), parts=3, rows=250_000)
    assert [len(batch) for batch in found] == [250_000, 250_000, 100_001]
    assert found[0][:2] == [1, 2]


def test_only_what_is_due(folder):
    stream = Stream(folder)
    here = stream.after(Position(), due=9)
    assert times_between(stream, Position(), here) == list(range(10))
    assert stream.after(here, due=9) == here
    assert stream.next_time(here) == 10
    assert times_between(stream, here, stream.after(here, due=15, rows=4)) == [10, 11, 12, 13]
    # Nothing due at the start of the next file: the position stays where it is.
    start = stream.after(Position(), rows=7)
    assert stream.after(start, due=6) == start


def test_a_line_without_a_time_is_always_due(tmp_path):
    write(tmp_path / "s", b"oops\n" + LINE % (5, 5))
    stream = Stream(tmp_path / "s")
    assert stream.after(Position(), due=4) == Position("s", 5)
    assert stream.next_time(Position()) == 5


def test_what_appears_later_is_read_later(folder):
    stream = Stream(folder)
    end = stream.end()
    assert stream.after(Position()) == end
    write(folder / "5.gz", numbered(20, 22))
    assert stream.after(Position(), until=end) == end
    assert times_between(stream, end, stream.end()) == [20, 21]
    assert stream.after(end) == stream.end()


def test_rows_decode_to_what_the_reader_gives(folder):
    write(folder / "5.tsv", b"# c\n\n9000000000000000000\t<urn:a> <urn:p> _:b .\n5\t<urn:a>\xff\noops\n")
    dead = []
    rows = [row for batch in read_stream(folder, on_bad=dead.append) for row in batch]
    found, letters = [], []
    for segment in Stream(folder).between(Position()):
        for block in blocks(segment):
            times, statements = timed(block.lines)
            columns = {
                "time": times,
                "statement": statements,
                "file": [segment.path] * len(times),
                "offset": block.offsets[:-1],
            }
            decoded = decode(pa.record_batch(columns))
            found += [tuple(row.values()) for row in decoded.statements.to_pylist()]
            letters += [tuple(row.values()) for row in decoded.dead.to_pylist()]
    assert found == rows
    assert letters == [(bad.file, bad.offset, bad.reason, bad.text) for bad in dead]
    assert len(letters) == 2


def test_documents_are_refused(tmp_path):
    write(tmp_path / "a.trig", b"")
    with pytest.raises(InputError, match="not timed lines"):
        Stream(tmp_path).end()


def test_a_zipped_file_that_is_cut_short_is_said_to_be(tmp_path):
    path = tmp_path / "s.gz"
    whole = gzip.compress(numbered(0, 100_000))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cut short"):
        Stream(path).after(Position())
    with pytest.raises(InputError, match="cut short"):
        next(blocks(Segment(str(path), 4_000_000)))
