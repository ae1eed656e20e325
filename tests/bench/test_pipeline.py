"""The workload of `ensue bench pipeline` is what it says it is, and its figures are read off rightly."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

from ensue.bench.pipeline import Options, experiment
from ensue.bench.pipeline_jobs import Ran, Seen, plan
from ensue.bench.pipeline_state import changes
from ensue.bench.plant import EACH, STREAM, Plant, query
from ensue.bench.plant_live import FIRST, Lines, growing, write
from ensue.bench.processes import cpu_seconds, held_bytes
from ensue.cli.main import main
from ensue.errors import UsageError
from ensue.spark.blocks import Block
from ensue.spark.prepare import Prepare
from ensue.streamfile import read_stream

PLANT = Plant(machines=100, rate=600, rare=10)
SECONDS = 4


@pytest.fixture
def file(tmp_path):
    return PLANT.write(600 * SECONDS, tmp_path)


def rows_of(file):
    return [row for batch in read_stream(file) for row in batch]


def run(file, topic):
    """The reasoner of a query after the whole file, and its answers."""
    reasoner = plan(query("q", SECONDS, 1, topic), PLANT, 1, prune=topic is not None).job.reasoner()
    reasoner.feed(STREAM, rows_of(file))
    return reasoner, list(reasoner.advance(to=1000 * SECONDS))


def kept(file, topic, shards=1):
    """The blocks of a file, as shards get them."""
    row = {"stream": STREAM, "file": str(file), "number": 0, "begin": 0, "end": file.stat().st_size}
    batch = pa.RecordBatch.from_pylist([{**row, "scoped": False, "ended": False}])
    prepare = Prepare.of({STREAM: plan(query("q", 10, 5, topic), PLANT, shards).lane(STREAM)})
    return [Block.read(out.column("payload")[0].as_py()) for out in prepare([batch])]


def test_a_file_has_its_statements_in_order_at_the_rate_and_is_written_once(file, tmp_path):
    rows = rows_of(file)
    assert len(rows) == 600 * SECONDS
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert (rows[0][0], rows[-1][0]) == (1, 1000 * SECONDS - 1)
    written = file.stat().st_mtime_ns
    assert PLANT.write(600 * SECONDS, tmp_path) == file
    assert file.stat().st_mtime_ns == written
    assert PLANT.write(3, tmp_path) != file


@pytest.mark.parametrize(("topic", "share"), [(0, 0.25), (None, 1.0)])
def test_a_quarter_matters_or_all(file, topic, share):
    [block] = kept(file, topic)
    assert len(block) / len(block.times) == share


def test_four_facts_are_derived_from_each_statement(file):
    reasoner, _ = run(file, None)
    held = 600 * (SECONDS - 1)  # The next window begins a second later.
    # Besides what is about machines, values and properties, which are the same ones again and again.
    shared = 2 * PLANT.machines + 1000 + 100
    assert 0 <= reasoner.metrics()["facts"] - (1 + 4) * held <= shared < held


@pytest.mark.parametrize("topic", [0, None])
def test_answers_are_the_events_that_signal_something(file, topic):
    _, results = run(file, topic)
    events = range(200 * SECONDS)
    expected = {n for n in events if n // 4 % 10 == 0 and (topic is None or n % 4 == topic)}
    found = [row[0] for row in results[-1].answers.rows]
    assert sorted(found) == sorted(f"<http://example.org/e/{n}>" for n in expected)
    assert len(results) == SECONDS


def test_both_queries_can_be_spread(file):
    for topic in (0, None):
        assert len(plan(query("q", 10, 5, topic), PLANT, 2).keys) == 2
        one, two = kept(file, topic, shards=2)
        assert min(len(one), len(two)) > len(one.times) / 16


def test_a_crowd_is_one_node_with_most_of_the_data(tmp_path):
    rows = rows_of(Plant(crowd=90).write(3000, tmp_path))
    crowd = [row for row in rows if row[1].endswith("/crowd>")]
    assert len(crowd) / len(rows) == 0.9
    assert len({row[3] for row in crowd if "#by" in row[2]}) == 1
    others = rows_of(Plant(crowd=90, silent=True).write(3000, tmp_path))
    assert others == [row for row in rows if row not in crowd]


# -- live -----------------------------------------------------------------------------------------


def test_live_lines_are_those_of_the_plant_with_other_stamps():
    lines = Lines(PLANT, events=2)
    texts = [line.encode() for line in PLANT.lines(FIRST, FIRST + 2)]
    stamps = [1_700_000_000_000, 1_800_000_000_123]
    for stamp, some in zip(stamps, (texts[:4], texts[4:]), strict=True):
        data, count = lines.stamped(stamp, 4)
        assert bytes(data).splitlines(keepends=True) == [b"%d\t%s" % (stamp, text) for text in some]
        assert count == len(some)
    # The same again, about new nodes.
    data, _ = lines.stamped(stamps[0], 6)
    renamed = [
        text.replace(b"/e/%d>" % (FIRST + at // EACH), b"/e/%d>" % (FIRST + 2 + at // EACH))
        for at, text in enumerate(texts)
    ]
    assert bytes(data).splitlines(keepends=True) == [b"%d\t%s" % (stamps[0], text) for text in renamed]


def test_writing_keeps_the_rate_whatever_a_tick_takes():
    ticks = (1_700_000_000 + at * 0.25 for at in count())
    out = io.BytesIO()
    written = write(out, Lines(PLANT, events=5), 40, 2.0, clock=lambda: next(ticks), wait=lambda _: None)
    stamps = np.array([int(line[:13]) for line in out.getvalue().splitlines()])
    assert written == len(stamps) == 70
    assert (np.diff(stamps) >= 0).all()
    assert set(np.unique(stamps, return_counts=True)[1].tolist()) == {10}


def test_who_falls_behind_still_stamps_what_he_writes_with_its_time():
    # Each look at the clock is a second later, and far more is due than one pass over the lines.
    out, clock = io.BytesIO(), count(1_700_000_000)
    write(out, Lines(PLANT, events=10), 1000, 20, clock=lambda: next(clock), wait=lambda _: None)
    stamps = [int(line.split(b"\t")[0]) for line in out.getvalue().splitlines()]
    assert stamps == sorted(stamps)
    assert len(set(stamps)) == len(stamps) / (10 * EACH)


def test_another_process_writes_until_it_is_not_needed(tmp_path):
    with growing(tmp_path / "live.tsv", 3000) as live:
        while live.file.stat().st_size == 0:
            assert not live.over
    assert live.over
    _, statement = live.file.read_text().splitlines(keepends=True)[0].split("\t")
    assert statement == next(Plant().lines(FIRST, FIRST + 1))


# -- figures --------------------------------------------------------------------------------------


def test_rates_and_sizes_of_micro_batches():
    ran = Ran(seen=[Seen(4.0, 100, 7.0), Seen(5.0, 400, 8.0), Seen(6.0, 900, 9.0), Seen(8.0, 1000, 12.0)])
    assert (ran.whole, ran.steady, ran.batch) == (125.0, 400.0, 200)
    assert ran.cpu_us == pytest.approx(2500)


def test_changes_are_summed_over_shards_micro_batch_by_micro_batch(tmp_path):
    for shard, number, size in [(0, 1, 10), (1, 1, 20), (0, 2, 5), (0, 10, 7)]:
        folder = tmp_path / "state" / "0" / str(shard)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.changelog").write_bytes(b"x" * size)
        (folder / "2.zip").write_bytes(b"x" * 1000)
    assert changes(tmp_path) == [30, 5, 7]


def test_what_children_take_is_counted():
    code = "x = bytearray(50_000_000)\nfor _ in range(3_000_000): pass\ninput()"
    before, held = cpu_seconds(), held_bytes()
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as child:
        while (during := held_bytes()) < held + 50_000_000:
            assert child.poll() is None
        child.communicate(b"\n")
    assert cpu_seconds() > before
    assert held_bytes(os.getpid()) < during


def test_an_unknown_part_is_a_usage_error(capsys):
    with pytest.raises(UsageError, match="no part 'speed'"):
        experiment(Options(parts=("speed",)))
    assert main(["bench", "pipeline", "--parts", "speed"]) == 2
