"""format("ensue") on a real session: everything once, in batches of the size asked for, and over restarts."""

from __future__ import annotations

import gzip
import json
import time

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

from ensue.errors import InputError, UsageError
from ensue.spark.decode import DECODED_DDL, decode_all
from ensue.spark.source import CHUNKS, LINES, RANGES, ReplayReader, register
from ensue.spark.source_rows import chunks_of
from ensue.streamfile import read_stream, write_stream


@pytest.fixture
def load(spark):
    """Timed files as a streaming DataFrame."""
    register(spark)

    def load(path=None, **options):
        given = {} if path is None else {"path": str(path)}
        return spark.readStream.format("ensue").options(**given, **options).load()

    return load


@pytest.fixture
def run(spark, tmp_path):
    """Run a streaming DataFrame until nothing is left. Gives all rows there are, and the sizes of batches."""

    def until_done(frame):
        query = (
            frame.writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        sizes = [progress.numInputRows for progress in query.recentProgress]
        return spark.read.parquet(str(tmp_path / "out")).collect(), [size for size in sizes if size]

    return until_done


def statements(first, last):
    return [(number, f"<urn:s{number}>", "<urn:p>", '"é"', None) for number in range(first, last)]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "stream"
    folder.mkdir()
    write_stream(folder / "1.tsv", statements(10, 50))
    write_stream(folder / "2 ☃.tsv.gz", statements(50, 60))
    return folder


LINE = len(b'10\t<urn:s10> <urn:p> "\xc3\xa9" .\n')


@pytest.mark.parametrize("parts", [1, 3])
def test_every_line_once_also_across_a_restart(folder, load, run, parts):
    rows, sizes = run(load(folder, bytesPerBatch=20 * LINE, parts=parts))
    assert sizes == [20, 20, 10]
    assert sorted(row.time for row in rows) == list(range(10, 60))
    first = next(row for row in rows if row.time == 51)
    expected = (51, '<urn:s51> <urn:p> "é" .', str(folder / "2 ☃.tsv.gz"), LINE, "")
    assert tuple(first) == expected
    write_stream(folder / "3.tsv", statements(60, 75))
    rows, sizes = run(load(folder, bytesPerBatch=10 * LINE, parts=parts))
    assert sizes == [10, 5]
    assert sorted(row.time for row in rows) == list(range(10, 75))


def test_chunks_of_several_streams_also_across_a_restart(tmp_path, folder, load, run):
    """Three tasks of a micro-batch; bytes that are no text, and a last line that is cut off, as they are."""
    big = b"".join(b"%d\t<urn:s%d> <urn:p> \xff .\r\n" % (number, number) for number in range(10, 100_000))
    (tmp_path / "big.tsv").write_bytes(big + b"7\t<urn:cut")
    streams = {"urn:é": str(folder), "urn:big": str(tmp_path / "big.tsv")}
    options = {"streams": json.dumps(streams), "rows": "chunks", "bytesPerBatch": 2_000_000, "parts": 3}
    rows, sizes = run(load(**options))
    assert len(sizes) == 2
    assert sizes[0] >= 4
    (tmp_path / "big.tsv").write_bytes(big + b"7\t<urn:cut> .")
    rows, _ = run(load(**options))
    found = {}
    for row in sorted(rows, key=lambda row: (row.stream, row.place)):
        assert not row.scoped
        lines = found.setdefault(row.file, bytearray())
        assert row.offset == len(lines)
        assert row.place & (1 << 40) - 1 == row.offset
        lines += row.lines
    zipped = folder / "2 ☃.tsv.gz"
    assert found == {
        streams["urn:big"]: big + b"7\t<urn:cut> .",
        str(folder / "1.tsv"): (folder / "1.tsv").read_bytes(),
        str(zipped): gzip.decompress(zipped.read_bytes()),
    }


def test_ranges_are_read_by_the_next_stage(folder, load, run):
    def sizes(batches):
        for batch in batches:
            for chunk in chunks_of(batch):
                yield pa.record_batch({"place": [chunk.place], "size": [len(chunk.lines)]})

    ranges = load(folder, rows="ranges", bytesPerBatch=30 * LINE)
    rows, batches = run(ranges.mapInArrow(sizes, "place long, size long"))
    assert batches == [1, 2]
    assert sorted(map(tuple, rows)) == [(0, 30 * LINE), (30 * LINE, 10 * LINE), (1 << 40, 10 * LINE)]


def test_decoded_in_spark_as_in_process(folder, load, run):
    with open(folder / "3.tsv", "wb") as out:
        out.write(
            b'70\t_:a <urn:p>  "\\u0041"@EN <urn:g> .\n\n# nothing\nbad\n71\t<urn:a> <urn:p> "\xff" .\n'
        )
    dead = []
    expected = [row for batch in read_stream(folder, on_bad=dead.append) for row in batch]
    rows, _ = run(load(folder).mapInArrow(decode_all, DECODED_DDL))
    good = [tuple(row)[:5] for row in rows if row.reason is None]
    bad = [tuple(row)[5:] for row in rows if row.reason is not None]
    assert sorted(good) == expected
    assert sorted(bad) == sorted((line.file, line.offset, line.reason, line.text) for line in dead)
    assert len(bad) == 2


def test_a_document_is_a_scoped_chunk(tmp_path, load, run):
    name = tmp_path / "s.trig"
    name.write_text("<urn:g> <http://www.w3.org/ns/prov#generatedAtTime> 5 . <urn:g> { _:a <urn:p> _:b }")
    [(_, s, p, o, graph)] = [row for batch in read_stream(name) for row in batch]
    rows, _ = run(load(name, rows="chunks", finite="true"))
    line = f"5\t{s} {p} {o} {graph} .\n".encode()
    assert sorted(map(tuple, rows)) == [
        ("", str(name), 0, 0, True, False, line),
        ("", str(name), 1, 1, False, True, b""),
    ]


def until(condition, query):
    """Wait until something is so, for a minute at most."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end and query.isActive:
        time.sleep(0.05)
    assert condition()


def test_speed(tmp_path, load):
    write_stream(
        tmp_path / "s.tsv", [(time, "<urn:s>", "<urn:p>", "<urn:o>", None) for time in (0, 4000, 8000)]
    )
    seen = []
    began = time.monotonic()

    def note(batch, _):
        seen.extend((row.time, time.monotonic()) for row in batch.collect())

    query = load(tmp_path / "s.tsv", speed=4).writeStream.foreachBatch(note).start()
    until(lambda: len(seen) == 3, query)
    query.stop()
    assert [stamp for stamp, _ in seen] == [0, 4000, 8000]
    # Two seconds at four times the speed; the first batch may be slow to be noted, but is due before that.
    assert seen[2][1] - began >= 2
    assert seen[1][1] < seen[2][1]


def test_files_are_read_as_they_grow_until_one_vanishes(folder, load):
    seen = []
    query = load(folder).writeStream.foreachBatch(
        lambda batch, _: seen.extend(row.time for row in batch.collect())
    ).start()  # fmt: skip
    until(lambda: len(seen) == 50, query)
    with open(folder / "3.tsv", "wb") as out:
        out.write(b"60\ta\n61\tb")
        out.flush()
        until(lambda: len(seen) == 51, query)
        out.write(b"c\n62\t")
        out.flush()
        until(lambda: len(seen) == 52, query)
    assert seen == [*range(10, 62)]
    (folder / "3.tsv").unlink()
    with pytest.raises(StreamingQueryException, match=r"3\.tsv: no such file, or no more \(hint: "):
        query.awaitTermination(60)


@pytest.mark.parametrize(("rows", "columns"), [("lines", LINES), ("chunks", CHUNKS), ("ranges", RANGES)])
def test_it_is_a_stream(load, tmp_path, rows, columns):
    write_stream(tmp_path / "s.tsv", statements(0, 1))
    frame = load(tmp_path / "s.tsv", rows=rows)
    assert frame.isStreaming
    found = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in frame.schema)
    assert found == columns.replace("long", "bigint")


def test_a_path_that_is_not_there_is_said_at_once(load, tmp_path):
    with pytest.raises(PySparkException, match=r"gone\.tsv: no such file or directory \(hint: "):
        load(tmp_path / "gone.tsv")


@pytest.mark.parametrize(
    "options",
    [
        {"path": None},
        {"streams": '{"urn:s": "."}'},
        {"path": None, "streams": "{"},
        {"path": None, "streams": "{}"},
        {"path": None, "streams": '["s"]'},
        {"path": None, "streams": '{"urn:s": 1}'},
        {"speed": "fast"},
        {"speed": "-1"},
        {"speed": "nan"},
        {"bytesPerBatch": "0"},
        {"parts": "0"},
        {"parts": "inf"},
        {"rows": "columns"},
        {"finite": "maybe"},
        {"rowsPerBatch": "5"},
    ],
)
def test_wrong_options(options):
    given = {name: text for name, text in ({"path": "."} | options).items() if text is not None}
    with pytest.raises(UsageError) as caught:
        ReplayReader(given)
    assert caught.value.hint


def test_a_stream_that_is_not_there():
    with pytest.raises(InputError, match="gone: no such file") as caught:
        ReplayReader({"streams": '{"urn:s": ".", "urn:t": "gone"}'})
    assert caught.value.hint


def test_streams_may_join_but_not_leave(folder, tmp_path):
    write_stream(tmp_path / "t.tsv", statements(0, 5))
    one = ReplayReader({"streams": json.dumps({"urn:s": str(folder)})})
    assert one.getDefaultReadLimit() == ReadMaxBytes(256 << 20)
    start = one.latestOffset(one.initialOffset(), ReadMaxBytes(1000))
    assert start["urn:s"]["file"] == "1.tsv"
    two = ReplayReader({"streams": json.dumps({"urn:s": str(folder), "urn:t": str(tmp_path / "t.tsv")})})
    end = two.latestOffset(start, ReadAllAvailable())
    assert end["urn:s"] == {"file": "2 ☃.tsv.gz", "number": 1, "offset": 10 * LINE, "ended": False}
    assert end["urn:t"]["file"] == "t.tsv"
    [part] = two.partitions(start, end)
    assert [segment.stream for segment in part.segments] == ["urn:s", "urn:s", "urn:t"]
    with pytest.raises(UsageError, match="urn:t") as caught:
        one.latestOffset(end, ReadAllAvailable())
    assert caught.value.hint
    one.stop()
    two.stop()
