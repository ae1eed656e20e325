"""Streams cut into micro-batches are the streams: no line lost, none twice, none torn, all side by side."""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensue.errors import InputError
from ensue.spark import replay_files, replay_tape
from ensue.spark.decode import decode
from ensue.spark.replay import UNLIMITED, Chunk, Pace, Planner, parts, read
from ensue.spark.replay_files import Plain, chunks
from ensue.spark.replay_lines import Lines, timed
from ensue.spark.replay_tape import Tape, Tapes
from ensue.spark.replay_walk import Position
from ensue.spark.source_rows import chunks_of, rows_of
from ensue.streamfile import read_stream
from ensue.streamgraphs import GENERATED_AT

LINE = b"%d\t<urn:a%d> <urn:p> <urn:b> .\n"
MARK = b"\xef\xbb\xbf"
TRIG = b"""@prefix prov: <http://www.w3.org/ns/prov#> .
<urn:g1> prov:generatedAtTime 1000 . <urn:g2> prov:generatedAtTime 2000 .
<urn:g1> { <urn:a> <urn:p> _:b, "tab\\tand \\n line", [] . }
<urn:g2> { _:b <urn:p> 7 . <urn:c> <urn:p> <urn:d> . }
<urn:g3> { <urn:lost> <urn:p> <urn:d> . }
"""


def write(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def numbered(first, last):
    return b"".join(LINE % (number, number) for number in range(first, last))


class Run:
    """A planner that is driven as Spark drives it, and what came of it."""

    def __init__(self, streams, start=None, **options):
        streams = streams if isinstance(streams, dict) else {"": str(streams)}
        self.planner = Planner(streams, **options)
        self.here = dict.fromkeys(streams, Position()) | (start or {})
        self.tapes = Tapes()

    def batch(self, budget=UNLIMITED, count=1, least=1):
        """The chunks of the next micro-batch."""
        start, self.here = self.here, self.planner.after(self.here, budget)
        tasks = parts(self.planner.between(start, self.here), count, least)
        assert len(tasks) <= count
        found = list(read((segment for task in tasks for segment in task), self.tapes))
        assert bool(found) == (start != self.here)
        return found

    def batches(self, budget=UNLIMITED, count=1, least=1):
        """The chunks of each micro-batch, until there is nothing more."""
        while found := self.batch(budget, count, least):
            yield found

    def close(self):
        self.planner.close()
        self.tapes.close()


@pytest.fixture
def run():
    """Runs that are closed in the end."""
    runs = []

    def start(*arguments, **options):
        runs.append(Run(*arguments, **options))
        return runs[-1]

    yield start
    for each in runs:
        each.close()


def times(chunks):
    return [time for chunk in chunks for time in Lines.of(chunk.lines).times().to_pylist()]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "1.tsv", MARK + numbered(0, 7))
    write(tmp_path / "2.tsv.gz", numbered(7, 12)[:-1])
    write(tmp_path / "3.tsv", b"")
    write(tmp_path / "4.tsv", numbered(12, 20))
    return tmp_path


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("budget", [1, 40, 100, 250, UNLIMITED])
def test_micro_batches_have_so_many_bytes(run, folder, budget, count):
    found = list(run(folder).batches(budget, count))
    assert [time for batch in found for time in times(batch)] == list(range(20))
    sizes = [sum(len(chunk.lines) for chunk in batch) for batch in found]
    most = len(LINE % (10, 10))
    assert all(size <= max(budget, most) for size in sizes)
    # None of them is smaller than it need be (the mark takes three bytes of the first).
    assert all(one + two + 3 > budget for one, two in pairwise(sizes))


def pieces(content):
    return st.lists(st.binary(max_size=content), max_size=40).map(b"\n".join)


@given(pieces(30), pieces(30), pieces(5), st.integers(1, 300), st.integers(1, 4), st.integers(1, 99))
def test_any_bytes_come_out_as_they_are(tmp_path_factory, first, second, third, budget, count, window):
    folder = tmp_path_factory.mktemp("stream")
    (folder / "s").mkdir()
    contents = {"s/a": first, "s/b.gz": second, "s/c": third, "t": second}
    for name, content in contents.items():
        write(folder / name, content)
    streams = {"urn:s": str(folder / "s"), "urn:t": str(folder / "t")}
    found, lines, places = defaultdict(bytes), defaultdict(list), defaultdict(list)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay_files, "CHUNK", 64)
        patch.setattr(replay_files, "_WINDOW", window)
        driven = Run(streams, finite=True)
        for batch in driven.batches(budget, count):
            size = sum(len(chunk.lines) for chunk in batch)
            assert size <= budget or sum(len(Lines.of(chunk.lines).text) for chunk in batch) == 1
            for chunk in batch:
                if chunk.ended:
                    continue
                name = os.path.relpath(chunk.file, folder)
                start = len(MARK) if contents[name].startswith(MARK) else 0
                assert chunk.offset == len(found[name]) + start
                assert len(chunk.lines) <= 64 or chunk.lines.count(b"\n", 0, -1) == 0
                found[name] += chunk.lines
                lines[name].append(chunk.lines)
                places[chunk.stream].append(chunk.place)
        driven.close()
    assert found == {name: bare for name in contents if (bare := contents[name].removeprefix(MARK))}
    assert all(run.endswith(b"\n") for runs in lines.values() for run in runs[:-1])
    assert all(order == sorted(set(order)) for order in places.values())


def test_the_same_range_is_read_the_same_again(run, folder, monkeypatch):
    monkeypatch.setattr(replay_files, "CHUNK", 64)
    first = run(folder)
    seen = []
    for _ in range(5):
        start = first.here
        seen.append((start, first.batch(150, 2), first.here))
    for start, expected, end in reversed(seen):
        again = run(folder)
        tasks = parts(again.planner.between(start, end), 2, 1)
        assert [chunk for task in tasks for chunk in read(task, again.tapes)] == expected


@pytest.mark.parametrize("kinds", [("plain", "plain"), ("plain", "gz")])
@pytest.mark.parametrize("budget", [2_000, 20_000, 2 << 20])
def test_streams_go_side_by_side(run, tmp_path, kinds, budget):
    """One has three times as many lines for the same time, begins earlier and ends earlier."""
    a, b = (
        tmp_path / f"{name}{'.gz' if kind == 'gz' else ''}" for name, kind in zip("ab", kinds, strict=True)
    )
    size = 60_000 if budget > 1_000_000 else 6_000
    write(a, b"".join(LINE % (3 * number, number) for number in range(size)))
    write(b, b"".join(LINE % (90 + number, number) for number in range(3 * size + 500)))
    driven = run({"urn:a": str(a), "urn:b": str(b)}, finite=True)
    # A piece is an eighth of a stream's share, and a line of `a` is three times as long in time.
    span = 3 * max(1, min(1 << 19, budget // 16) // len(LINE % (1000, 1000)))
    reached, checked = {"urn:a": 0, "urn:b": 90}, 0
    for batch in driven.batches(budget):
        for chunk in batch:
            reached[chunk.stream] = max([reached[chunk.stream], *times([chunk])])
        if reached["urn:a"] < 3 * (size - 1):
            checked += 1
            assert abs(reached["urn:a"] - reached["urn:b"]) <= 90 + span
    assert checked > 1
    assert driven.here["urn:a"].offset == sum(len(LINE % (3 * number, number)) for number in range(size))


def test_finite_streams_end_once_and_each_for_itself(run, tmp_path):
    write(tmp_path / "a", numbered(0, 2)[:-1])
    write(tmp_path / "b.gz", numbered(0, 9))
    (tmp_path / "c").mkdir()
    streams = {name[0]: str(tmp_path / name) for name in ("a", "b.gz", "c")}
    driven = run(streams, finite=True)
    found = [[(chunk.stream, chunk.ended) for chunk in batch] for batch in driven.batches(150)]
    ends = [stream for batch in found for stream, ended in batch if ended]
    assert found[0][-1] == ("c", True)
    assert sorted(ends) == ["a", "b", "c"]
    assert ends.index("a") < ends.index("b")
    again = run(streams, driven.here, finite=True)
    assert again.batch() == []
    everything = run(streams, finite=True).batch()
    for stream in "ab":
        *chunks, last = sorted(
            (chunk for chunk in everything if chunk.stream == stream), key=lambda it: it.place
        )
        assert (last.ended, last.lines) == (True, b"")
        assert all(chunk.lines and not chunk.ended for chunk in chunks)
    # Not finite, nothing ever ends.
    assert not any(chunk.ended for batch in run(streams).batches(150) for chunk in batch)


def test_before_any_time_is_known_only_lines_without_one_are_due(run, tmp_path):
    junk = b"# nothing\n" * 1_000
    write(tmp_path / "s", junk + numbered(5, 9))
    clock = [0.0]
    driven = run(tmp_path / "s", pace=Pace(1, lambda: clock[0]))
    assert [chunk.lines for chunk in driven.batch()] == [junk]
    assert times(driven.batch()) == [5]
    assert times(driven.batch()) == []
    clock[0] = 0.002
    assert times(driven.batch()) == [6, 7]


def test_lines_without_a_time_hold_no_other_stream_up(run, tmp_path):
    write(tmp_path / "a", b"# nothing\n" * 2_000 + numbered(50, 60))
    write(tmp_path / "b", numbered(0, 100))
    driven = run({"urn:a": str(tmp_path / "a"), "urn:b": str(tmp_path / "b")})
    found = [time for batch in driven.batches(1_000) for time in times(batch) if time is not None]
    assert sorted(found) == sorted([*range(50, 60), *range(100)])
    # What has no time is passed first, and then both go on.
    assert found.index(50) < found.index(99)


def test_an_unfinished_line_waits(run, tmp_path):
    path = tmp_path / "s"
    write(path, b"1\ta\n2\tb")
    driven = run(path)
    assert [chunk.lines for chunk in driven.batch()] == [b"1\ta\n"]
    assert driven.batch() == []
    with open(path, "ab") as file:
        file.write(b"\r\n3\tc")
    assert [(chunk.offset, chunk.lines) for chunk in driven.batch()] == [(4, b"2\tb\r\n")]
    complete = run(path, driven.here, finite=True)
    assert [chunk.lines for chunk in complete.batch()] == [b"3\tc", b""]
    now = run(path, driven.here)
    now.planner.stop_at_what_is_there()
    assert [chunk.lines for chunk in now.batch()] == [b"3\tc"]


def test_an_unfinished_line_counts_where_another_file_follows(run, tmp_path):
    write(tmp_path / "1", b"1\ta\n2\tb")
    driven = run(tmp_path)
    assert times(driven.batch()) == [1]
    write(tmp_path / "2", b"")
    assert times(driven.batch()) == [2]
    write(tmp_path / "2", b"3\tc\n")
    assert times(driven.batch()) == [3]


def test_what_comes_later_is_not_of_now(run, folder):
    now = run(folder)
    now.planner.stop_at_what_is_there()
    with open(folder / "4.tsv", "ab") as file:
        file.write(numbered(20, 22))
    write(folder / "5.gz", numbered(22, 24))
    assert [time for batch in now.batches(100) for time in times(batch)] == list(range(20))
    assert times(run(folder, now.here).batch()) == [20, 21, 22, 23]


def test_now_ends_with_all_of_a_zipped_file_or_a_document(run, tmp_path):
    write(tmp_path / "1.tsv.gz", numbered(0, 500))
    now = run(tmp_path)
    now.planner.stop_at_what_is_there()
    assert [time for batch in now.batches(1_000) for time in times(batch)] == list(range(500))
    write(tmp_path / "2.trig", TRIG)
    now = run(tmp_path, now.here)
    now.planner.stop_at_what_is_there()
    assert [time for batch in now.batches(100) for time in times(batch) if time] == [1000] * 3 + [2000] * 2


def test_only_what_is_due(run, folder):
    clock = [0.0]
    driven = run(folder, pace=Pace(1, lambda: clock[0]))
    seen = []
    for clock[0] in (-9.0, 0.0, 0.009, 0.009, 0.015, 1.0):
        seen.append(times(driven.batch()))
    assert seen == [[0], [], list(range(1, 10)), [], list(range(10, 16)), list(range(16, 20))]


def test_only_what_is_due_of_several_streams(run, tmp_path):
    write(tmp_path / "a", MARK + LINE % (105, 5) + b"oops\n" + LINE % (110, 10))
    write(tmp_path / "b.gz", LINE % (100, 0) + LINE % (108, 8) + LINE % (103, 3))
    write(tmp_path / "c.trig", TRIG)
    streams = {name[0]: str(tmp_path / name) for name in ("a", "b.gz", "c.trig")}
    clock = [0.0]
    driven = run(streams, pace=Pace(1, lambda: clock[0]))
    seen = []
    for clock[0] in (-9.0, 0.0, 0.005, 0.008, 0.9, 2.0):
        seen.append([(chunk.stream, *times([chunk])) for chunk in driven.batch()])
    assert seen == [
        [("b", 100)],
        [],
        [("a", 105, None)],
        [("b", 108, 103)],
        [("a", 110), ("c", 1000, 1000, 1000)],
        [("c", 2000, 2000, None)],
    ]


def test_lines_longer_than_a_chunk_and_than_a_micro_batch(run, tmp_path):
    lines = b"1\t" + b"x" * 3_000_000 + b"\n" + b"2\ty\n" * 600_000
    write(tmp_path / "s", lines)
    write(tmp_path / "z.gz", lines)
    for name in ("s", "z.gz"):
        found = list(run(tmp_path / name).batches(1_000_000, count=3))
        assert [sum(len(chunk.lines) for chunk in batch) for batch in found] == [
            3_000_003, 1_000_000, 1_000_000, 400_000,
        ]  # fmt: skip
        assert b"".join(chunk.lines for batch in found for chunk in batch) == lines
        whole = [len(chunk.lines) for chunk in run(tmp_path / name).batch()]
        assert whole == [3_000_003, 1 << 20, 1 << 20, 2_400_000 - (2 << 20)]


def test_a_micro_batch_is_cut_into_parts_of_about_the_same_size(run, tmp_path):
    write(tmp_path / "1", numbered(0, 3_000))
    write(tmp_path / "2.gz", numbered(3_000, 3_500))
    write(tmp_path / "3", numbered(3_500, 9_000))
    driven = run(tmp_path)
    end = driven.planner.after(driven.here)
    segments = driven.planner.between(driven.here, end)
    tasks = parts(segments, 4, 1)
    sizes = [sum(len(chunk.lines) for chunk in read(task, driven.tapes)) for task in tasks]
    assert len(sizes) == 4
    zipped = len(numbered(3_000, 3_500))
    assert max(sizes) - min(sizes) <= zipped + len(LINE) * 4
    assert [time for task in tasks for time in times(read(task, driven.tapes))] == list(range(9_000))
    assert sum(segment.path.endswith(".gz") for task in tasks for segment in task) == 1
    # Less than is worth a task makes none.
    assert len(parts(segments, 4, 100_000)) == 2
    assert len(parts(segments, 4, 1 << 20)) == 1


def test_to_plan_is_not_to_read(run, tmp_path, monkeypatch):
    """Some bytes where pieces and parts end, out of 20 MB in two streams."""
    for name in "ab":
        write(tmp_path / name, numbered(0, 300_000))
    got, pread = [], os.pread

    def note(*arguments):
        got.append(pread(*arguments))
        return got[-1]

    driven = run({name: str(tmp_path / name) for name in "ab"})
    monkeypatch.setattr(os, "pread", note)
    end = driven.planner.after(driven.here, 18 << 20)
    tasks = parts(driven.planner.between(driven.here, end), 8)
    assert len(tasks) == 8
    assert 0 < sum(map(len, got)) < 2 << 20


def test_a_zipped_file_is_unzipped_once_to_plan_and_once_to_read(run, tmp_path, monkeypatch):
    write(tmp_path / "s.gz", numbered(0, 20_000))
    begun, unzipped = [], replay_tape._unzipped
    monkeypatch.setattr(replay_tape, "_unzipped", lambda path: begun.append(path) or unzipped(path))
    found = list(run(tmp_path).batches(10_000))
    assert len(found) > 50
    assert [time for batch in found for time in times(batch)] == list(range(20_000))
    assert len(begun) == 2


def test_a_zipped_file_that_is_done_with_is_not_opened_again(run, tmp_path, monkeypatch):
    write(tmp_path / "1.gz", numbered(0, 10))
    driven = run(tmp_path)
    assert times(driven.batch()) == list(range(10))
    write(tmp_path / "2.gz", numbered(10, 12))
    driven.tapes.close()
    begun, unzipped = [], replay_tape._unzipped
    monkeypatch.setattr(replay_tape, "_unzipped", lambda path: begun.append(path) or unzipped(path))
    assert times(driven.batch()) == [10, 11]
    assert {os.path.basename(path) for path in begun} == {"2.gz"}


def test_many_small_files_are_listed_once_and_looked_at_once(run, tmp_path, monkeypatch):
    for number in range(2_000):
        write(tmp_path / f"{number:05d}.tsv", LINE % (number, number))
    driven = run(tmp_path)
    calls = defaultdict(int)
    for name in ("scandir", "stat", "open"):
        real = getattr(os, name)

        def note(*arguments, name=name, real=real, **options):
            calls[name] += 1
            return real(*arguments, **options)

        monkeypatch.setattr(os, name, note)
    start = driven.here
    driven.here = driven.planner.after(start, 50_000)
    segments = driven.planner.between(start, driven.here)
    assert 1_000 < len(segments) < 2_000
    assert calls["scandir"] == 1
    # Once to plan, once to cut: those of the micro-batch only, and of those the last is opened.
    assert calls["stat"] <= 2 * len(segments) + 4
    assert calls["open"] <= 4
    calls.clear()
    assert len(driven.batch(1)) == 1
    assert calls["stat"] < 10


def test_names_that_are_passed_over(run, tmp_path):
    write(tmp_path / "é ☃.tsv", numbered(0, 2))
    write(tmp_path / "_busy.tsv", b"oops")
    write(tmp_path / ".hidden", b"oops")
    (tmp_path / "_folder").mkdir()
    [chunk] = run(tmp_path).batch()
    assert (times([chunk]), chunk.file) == ([0, 1], str(tmp_path / "é ☃.tsv"))
    (tmp_path / "z").mkdir()
    with pytest.raises(InputError, match="z: a directory within"):
        run(tmp_path).batch()


def test_nothing_there(run, tmp_path):
    driven = run(tmp_path)
    assert driven.batch() == []
    write(tmp_path / "1", b"")
    write(tmp_path / "2.gz", b"")
    write(tmp_path / "3", MARK)
    assert driven.batch() == []
    write(tmp_path / "4", numbered(0, 2))
    assert times(driven.batch()) == [0, 1]
    driven = run(tmp_path)
    driven.planner.stop_at_what_is_there()
    assert times(driven.batch()) == [0, 1]
    assert driven.batch() == []


def test_files_that_vanish_or_shrink(run, tmp_path):
    for number in range(3):
        write(tmp_path / f"{number}.tsv", numbered(number * 10, number * 10 + 10))
    driven = run(tmp_path)
    assert times(driven.batch(400)) == list(range(13))
    reading = driven.planner.between(driven.here, driven.planner.after(driven.here))
    # What was read may go: the number of a file stays.
    (tmp_path / "0.tsv").unlink()
    assert {chunk.number for chunk in run(tmp_path, driven.here).batch()} == {1, 2}
    write(tmp_path / "1.tsv", numbered(10, 12))
    for attempt in (driven.batch, lambda: list(read(reading, driven.tapes))):
        with pytest.raises(InputError, match=r"1\.tsv: the file has become shorter"):
            attempt()
    (tmp_path / "1.tsv").unlink()
    for attempt in (driven.batch, lambda: list(read(reading, driven.tapes))):
        with pytest.raises(InputError, match=r"1\.tsv: no such file, or no more"):
            attempt()


def test_a_file_that_comes_too_late(run, tmp_path):
    write(tmp_path / "1.tsv", numbered(0, 5))
    write(tmp_path / "3.tsv", numbered(10, 15))
    driven = run(tmp_path)
    start = driven.here
    assert len(times(driven.batch(250))) > 5
    write(tmp_path / "2.tsv", numbered(5, 10))
    with pytest.raises(InputError, match=r"an earlier name appeared after 3\.tsv"):
        driven.batch()
    with pytest.raises(InputError, match=r"an earlier name appeared after 3\.tsv"):
        run(tmp_path).planner.between(start, driven.here)
    (tmp_path / "2.tsv").unlink()
    (tmp_path / "1.tsv").unlink()
    with pytest.raises(InputError, match="were removed"):
        run(tmp_path).planner.between(start, driven.here)


def test_a_zipped_file_that_is_cut_short_or_shorter(tmp_path):
    path = tmp_path / "s.gz"
    whole = gzip.compress(numbered(0, 100_000))
    path.write_bytes(whole[: len(whole) // 2])
    driven = Run(path)
    with pytest.raises(InputError, match="cut short"):
        driven.batch()
    write(path, numbered(0, 5))
    with pytest.raises(InputError, match="shorter"):
        list(chunks(driven.tapes.of(str(path), document=False), 0, 1_000))
    with pytest.raises(InputError, match="shorter"):
        driven.planner.after({"": Position("s.gz", 0, 1_000)})
    driven.close()


def test_a_tape_goes_back_and_anew(tmp_path):
    path = tmp_path / "s.gz"
    write(path, numbered(0, 100))
    tapes = Tapes(most=1)
    tape = tapes.of(str(path), document=False)
    size = len(LINE % (1, 1))
    assert [tape.lines(at * size, 1, None) for at in (5, 2, 9)] == [LINE % (at, at) for at in (5, 2, 9)]
    assert tapes.of(str(path), document=False) is tape
    write(path, numbered(7, 20))
    other = tapes.of(str(path), document=False)
    assert other.lines(0, 1, None) == LINE % (7, 7)
    write(tmp_path / "t.gz", numbered(3, 4))
    tapes.of(str(tmp_path / "t.gz"), document=False)
    assert tapes.of(str(path), document=False) is not other
    tapes.close()


@pytest.mark.parametrize("name", ["s.trig", "s.trig.gz"])
@pytest.mark.parametrize("budget", [1, 150, UNLIMITED])
def test_documents_come_as_timed_lines(run, tmp_path, name, budget):
    write(tmp_path / name, TRIG)
    dead = []
    expected = [row for batch in read_stream(tmp_path / name, on_bad=dead.append) for row in batch]
    found = [chunk for batch in run(tmp_path / name).batches(budget) for chunk in batch]
    assert all(chunk.scoped for chunk in found)
    assert [chunk.offset for chunk in found] == [
        sum(chunk.lines.count(b"\n") for chunk in found[:index]) for index in range(len(found))
    ]
    lines = b"".join(chunk.lines for chunk in found).decode().splitlines()
    assert lines[:-1] == [f"{time}\t{s} {p} {o} {graph} ." for time, s, p, o, graph in expected]
    assert [problem.text for problem in dead] == ["<urn:g3>"]
    assert "graph <urn:g3> has no time" in lines[-1]
    driven = run(tmp_path / name)
    segments = driven.planner.between(driven.here, driven.planner.after(driven.here))
    rows = pa.Table.from_batches(rows_of("lines", segments))
    assert rows.column("offset").to_pylist() == list(range(6))
    decoded = decode(rows.combine_chunks().to_batches()[0])
    assert decoded.statements.column("time").to_pylist() == [1000] * 3 + [2000] * 2
    (letter,) = decoded.dead.to_pylist()
    assert (letter["line"], letter["offset"]) == ("<urn:g3>", None)
    assert letter["reason"] == f"{dead[0].reason} (hint: {dead[0].hint})"


def test_quads_with_times_on_graphs_are_told_from_timed_lines(run, tmp_path):
    write(tmp_path / "1.nq", numbered(0, 2))
    at = GENERATED_AT.encode() + b' "5"^^<http://www.w3.org/2001/XMLSchema#long> .\n'
    write(tmp_path / "2.nq", b"<urn:g> " + at + b"<urn:a> <urn:p> <urn:b> <urn:g> .\n")
    found = run(tmp_path).batch()
    assert [(chunk.scoped, times([chunk])) for chunk in found] == [(False, [0, 1]), (True, [5])]


def test_rows_decode_to_what_the_reader_gives(run, folder):
    write(folder / "5.tsv", b"# c\n\n9000000000000000000\t<urn:a> <urn:p> _:b .\n5\t<urn:a>\xff\noops\n")
    dead = []
    rows = [row for batch in read_stream(folder, on_bad=dead.append) for row in batch]
    found, letters = [], []
    driven = run(folder)
    for lines in rows_of("lines", driven.planner.between(driven.here, driven.planner.after(driven.here))):
        decoded = decode(lines)
        found += [tuple(row.values()) for row in decoded.statements.to_pylist()]
        letters += [tuple(row.values()) for row in decoded.dead.to_pylist()]
    assert found == rows
    assert letters == [(bad.file, bad.offset, bad.reason, bad.text) for bad in dead]
    assert len(letters) == 2


def test_ranges_say_where_chunks_are(run, folder):
    write(folder / "5.trig", TRIG)
    driven = run(folder)
    segments = driven.planner.between(driven.here, driven.planner.after(driven.here))
    ranges = list(rows_of("ranges", segments))
    found = [chunk for batch in ranges for chunk in chunks_of(batch)]
    assert found == list(read(segments, driven.tapes))
    assert [chunk.scoped for chunk in found] == [False, False, False, True]
    assert sum(map(len, (chunk.lines for chunk in found))) > 900


def test_lines_and_where_they_begin():
    lines = Lines.of(b"1\ta\n\n2\tb\r\noops\nlast")
    assert lines.text.to_pylist() == ["1\ta\n", "\n", "2\tb\r\n", "oops\n", "last"]
    assert lines.cuts.tolist() == [0, 4, 5, 10, 15, 19]
    found, statements = timed(lines.text)
    assert found.to_pylist() == [1, None, 2, None, None]
    assert statements.to_pylist() == ["a", "", "b", "oops", "last"]
    assert Lines.of(pa.py_buffer(b"1\ta\n2\tb")).times().to_pylist() == [1, 2]
    assert Lines.of(b"").times().to_pylist() == []


def test_places_are_in_the_order_of_files_then_offsets():
    def place(number, offset):
        return Chunk("", "s", number, offset, False, b"").place

    assert place(0, 5) < place(0, (1 << 40) - 1) < place(1, 0) < place((1 << 23) - 1, 0) < 1 << 63


def test_both_kinds_of_files_agree(tmp_path):
    content = MARK + b"1\ta\n\n22\tbcd\nlast"
    write(tmp_path / "s", content)
    write(tmp_path / "s.gz", content)
    files = [Plain(str(tmp_path / "s"), len(content)), Tape(str(tmp_path / "s.gz"), document=False)]
    for begin in (0, 7, 8, 15):
        for size in range(1, 30):
            ends = [file.end(begin, size, room, complete=True) for file in files for room in (size, 99)]
            assert ends[1] == ends[3]
            assert ends[0] == ends[2]
            assert len({b"".join(lines for _, lines in chunks(file, begin, None)) for file in files}) == 1
    files[1].close()
