"""format("ensue") on a real session: everything once, in batches of the size asked for, and over restarts."""

from __future__ import annotations

import time

import pytest

from ensue.errors import UsageError
from ensue.spark.decode import DECODED_DDL, decode_all
from ensue.spark.source import LINES, ReplayReader, register
from ensue.streamfile import read_stream, write_stream


@pytest.fixture
def lines(spark):
    """Timed files as a streaming DataFrame."""
    register(spark)

    def load(path, **options):
        return spark.readStream.format("ensue").options(path=str(path), **options).load()

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
    write_stream(folder / "1.tsv", statements(0, 50))
    write_stream(folder / "2.tsv.gz", statements(50, 60))
    return folder


@pytest.mark.parametrize("parts", [1, 3])
def test_everything_once_also_across_a_restart(folder, lines, run, parts):
    rows, sizes = run(lines(folder, rowsPerBatch=20, parts=parts))
    assert sizes == [20, 20, 20]
    assert sorted(row.time for row in rows) == list(range(60))
    first = next(row for row in rows if row.time == 50)
    expected = (50, '<urn:s50> <urn:p> "é" .', str(folder / "2.tsv.gz"), 0)
    assert tuple(first) == expected
    write_stream(folder / "3.tsv", statements(60, 75))
    rows, sizes = run(lines(folder, rowsPerBatch=10, parts=parts))
    assert sizes == [10, 5]
    assert sorted(row.time for row in rows) == list(range(75))


def test_decoded_in_spark_as_in_process(folder, lines, run):
    with open(folder / "3.tsv", "wb") as out:
        out.write(
            b'70\t_:a <urn:p>  "\\u0041"@EN <urn:g> .\n\n# nothing\nbad\n71\t<urn:a> <urn:p> "\xff" .\n'
        )
    dead = []
    expected = [row for batch in read_stream(folder, on_bad=dead.append) for row in batch]
    rows, _ = run(lines(folder).mapInArrow(decode_all, DECODED_DDL))
    good = [tuple(row)[:5] for row in rows if row.reason is None]
    bad = [tuple(row)[5:] for row in rows if row.reason is not None]
    assert sorted(good) == expected
    assert sorted(bad) == sorted((line.file, line.offset, line.reason, line.text) for line in dead)
    assert len(bad) == 2


def test_speed(tmp_path, lines, spark):
    write_stream(
        tmp_path / "s.tsv", [(time, "<urn:s>", "<urn:p>", "<urn:o>", None) for time in (0, 4000, 8000)]
    )
    seen = []
    began = time.monotonic()

    def note(batch, _):
        seen.extend((row.time, time.monotonic()) for row in batch.collect())

    query = lines(tmp_path / "s.tsv", speed=4).writeStream.foreachBatch(note).start()
    while len(seen) < 3 and time.monotonic() < began + 60:
        query.processAllAvailable()
        time.sleep(0.05)
    query.stop()
    assert [stamp for stamp, _ in seen] == [0, 4000, 8000]
    # Two seconds at four times the speed; the first batch may be slow to be noted, but is due before that.
    assert seen[2][1] - began >= 2
    assert seen[1][1] < seen[2][1]


def test_it_is_a_stream_of_lines(lines, tmp_path):
    write_stream(tmp_path / "s.tsv", statements(0, 1))
    frame = lines(tmp_path / "s.tsv")
    assert frame.isStreaming
    assert ", ".join(
        f"{field.name} {field.dataType.simpleString()}" for field in frame.schema
    ) == LINES.replace("long", "bigint")


@pytest.mark.parametrize(
    "options",
    [{}, {"path": "s", "speed": "fast"}, {"path": "s", "speed": "-1"}, {"path": "s", "rowsPerBatch": "0"}],
)
def test_wrong_options(options):
    with pytest.raises(UsageError) as caught:
        ReplayReader(options)
    assert caught.value.hint
