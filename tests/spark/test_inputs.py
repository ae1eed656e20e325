"""Streams as users have them, on real sockets, files and Spark's own sources."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from datetime import UTC, datetime
from functools import partial

import pytest
from test_shard import Memory, asking
from test_shard import block as block_of

from ensue.errors import InputError, UsageError
from ensue.model import FOREVER
from ensue.spark import answers
from ensue.spark.inputs import rows_of
from ensue.spark.pieces import BLOCK, END, HEARTBEAT, Piece
from ensue.spark.shard import Cache, step
from ensue.spark.source import register

EVERY_SECOND = "SELECT ?x FROM STREAM <urn:s> [RANGE 1s STEP 1s] WHERE { ?x <urn:p> ?y }"


def start(frame, name, **trigger):
    writer = frame.writeStream.format("memory").queryName(name)
    return (writer.trigger(**trigger) if trigger else writer).start()


def run(spark, frame, name):
    """The rows of a streaming DataFrame whose sources have all that they will ever have."""
    query = start(frame, name, availableNow=True)
    query.awaitTermination()
    return spark.table(name).collect(), query


def wait_for(spark, name, enough, seconds=90):
    """The rows of a running query, once there are enough."""
    until = time.monotonic() + seconds
    while not enough(rows := spark.table(name).collect()):
        assert time.monotonic() < until, rows
        time.sleep(0.2)
    return rows


@pytest.fixture
def json_stream(spark, tmp_path):
    """Rows, given as dictionaries, as a streaming DataFrame with a schema; a file for each list of rows."""

    def stream(schema, *files):
        folder = tmp_path / f"json-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        for number, rows in enumerate(files):
            file = folder / f"{number}.json"
            file.write_text("\n".join(map(json.dumps, rows)))
            os.utime(file, (number, number))  # Spark takes the oldest first.
        return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(folder))

    return stream


def closes(rows):
    return sorted((row.close, row.x) for row in rows)


def test_columns_of_all_kinds_in_one_job(spark, json_stream, tmp_path):
    """Four streams, each of other columns, joined by the time that their statements have in common."""
    lines = [{"value": "1500\t<urn:a> <urn:lines> <urn:b> ."}, {"value": f"{FOREVER}\t"}]
    moments = [{"time": "1970-01-01T00:00:01.500Z", "statement": "<urn:a> <urn:moments> 'no' ."}]
    moments += [{"time": "1970-01-01T00:00:01.500Z", "statement": '<urn:a> <urn:moments> "b" .'}]
    terms = [{"time": 1500, "s": "<urn:a>", "p": "<urn:terms>", "o": "<urn:b>", "graph": "<urn:g>"}]
    terms += [{"time": 1500, "s": "<urn:c>", "p": "<urn:terms>", "o": "<urn:d>"}]
    (tmp_path / "file.tsv").write_text("1500\t<urn:a> <urn:file> <urn:b> .\n")
    streams = {
        "urn:lines": json_stream("value string", lines),
        # Two of the streams do not end; heartbeats say that they have come further.
        "urn:moments": json_stream(
            "time timestamp, statement string", moments, [{"time": "1970-01-01T00:00:02Z"}]
        ),
        "urn:terms": json_stream(
            "s string, p string, o string, graph string, time int", terms, [{"time": 2000}]
        ),
        "urn:file": tmp_path / "file.tsv",
    }
    over = " ".join(f"FROM STREAM <{stream}> [RANGE 1s STEP 1s]" for stream in streams)
    wanted = " . ".join(f"?x <{stream}> ?{stream[4:]}" for stream in streams)
    frame = answers(spark, f"SELECT * {over} WHERE {{ {wanted} }}", streams, dead_letters="keep")
    rows, _ = run(spark, frame, "kinds")
    assert [row.dead.file for row in rows if row.dead] == ["urn:moments"]
    found = [(row.close, row.x, row.moments, row.terms) for row in rows if not row.dead]
    assert found == [(2000, "urn:a", "b", "urn:b")]


def test_a_path_that_is_not_there(spark, tmp_path):
    with pytest.raises(InputError, match=r"gone\.tsv: no such file or directory \(hint: "):
        answers(spark, EVERY_SECOND, {"urn:s": tmp_path / "gone.tsv"})


def test_a_row_that_lacks_something_is_a_dead_letter_and_not_a_heartbeat(spark, json_stream):
    rows = [
        {"time": 1000, "s": "<urn:a>", "p": "<urn:p>", "o": "<urn:b>"},
        {"time": 9000, "s": "<urn:a>", "o": "<urn:b>"},
        {"s": "<urn:a>", "p": "<urn:p>", "o": "<urn:b>"},
        {"graph": "<urn:g>"},
        {},
        {"time": 9000, "s": "<urn:a> <urn:p> <urn:b> .\n<urn:c>", "p": "<urn:p>", "o": "<urn:b>"},
    ]
    stream = json_stream("time long, s string, p string, o string, graph string", rows)
    found, query = run(spark, answers(spark, EVERY_SECOND, {"urn:s": stream}, dead_letters="keep"), "lacking")
    assert len([row.dead for row in found]) == 5
    counted = query.lastProgress["observedMetrics"]["ensue"]
    assert (counted.admitted, counted.dead_letters, counted.frontier) == (1, 5, 999)


def test_a_heartbeat_counts_after_what_came_with_it(spark, json_stream):
    """
    first micro-batch     1500 <- heartbeat 3000 is in it, before: nothing is late
    second micro-batch    2500 <- late, by the heartbeat of the first
    """
    first = [{"time": 3000}, {"time": 1500, "statement": "<urn:a> <urn:p> <urn:b> ."}, {"time": 2900}]
    second = [{"time": 2500, "statement": "<urn:late> <urn:p> <urn:b> ."}, {"time": FOREVER}]
    stream = json_stream("time long, statement string", first, second)
    rows, query = run(spark, answers(spark, EVERY_SECOND, {"urn:s": stream}), "heartbeats")
    assert closes(rows) == [(2000, "urn:a")]
    counted = [each["observedMetrics"]["ensue"] for each in query.recentProgress]
    assert [(each.admitted, each.late, each.frontier) for each in counted] == [
        (1, 0, 3000),
        (1, 1, 2**63 - 1),
    ]


def test_a_heartbeat_is_known_to_whoever_goes_on_from_the_truth():
    store, letter = Memory(), "<urn:p>"
    block = Piece("urn:s", 0, BLOCK, block_of([(1500, "<urn:a>", letter, "<urn:b>")]))
    late = Piece("urn:s", 0, BLOCK, block_of([(2500, "<urn:a>", letter, "<urn:b>")]))
    beats = [Piece("urn:s", at, HEARTBEAT, b"%d" % at) for at in (2000, 3000, 900)]
    closed, frontiers = [], []
    for pieces in ([block], beats, [late], [Piece("urn:s", 0, END, b"")]):
        outcome = step("shard", pieces, store, partial(asking, 2), Cache())
        closed.append([(each.close, each.answers.truth) for each in outcome.results])
        frontiers.append(outcome.counters["frontier"])
    assert closed == [[], [(2000, True), (3000, True)], [], [(4000, True)]]
    assert frontiers == [1499, 3000, 3000, FOREVER]
    assert outcome.counters["late"] == 1


def test_a_socket(spark):
    """Lines as they come; the last one says that no more will."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = server.accept()
        with connection:
            for at in (200, 1200, 2200):
                connection.sendall(f"{at}\t<urn:x{at}> <urn:p> <urn:b> .\r\n".encode())
                time.sleep(0.3)
            connection.sendall(b"oops\n9223372036854775807\t\n")
            done.wait()

    done = threading.Event()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    reader = spark.readStream.format("socket").option("host", "127.0.0.1")
    lines = reader.option("port", server.getsockname()[1]).load()
    query = start(answers(spark, EVERY_SECOND, {"urn:s": lines}), "socket")
    try:
        rows = wait_for(spark, "socket", lambda rows: len(rows) == 3)
        assert closes(rows) == [(1000, "urn:x200"), (2000, "urn:x1200"), (3000, "urn:x2200")]
    finally:
        query.stop()
        done.set()
        thread.join()
        server.close()


def test_the_rate_source_with_a_generator(spark):
    rate = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    made = rate.selectExpr(
        "timestamp AS time",
        "concat('<urn:sensor', value % 3, '>') AS s",
        "'<urn:p>' AS p",
        "concat('\"', value, '\"') AS o",
    )
    query = start(answers(spark, EVERY_SECOND, {"urn:s": made}), "rate")
    try:
        rows = wait_for(spark, "rate", lambda rows: len({row.close for row in rows}) > 2)
        now = datetime.now(UTC).timestamp() * 1000
        assert {row.x for row in rows} == {"urn:sensor0", "urn:sensor1", "urn:sensor2"}
        assert all(now - 120_000 < row.close < now for row in rows)
    finally:
        query.stop()


def test_a_growing_directory_of_lines_or_ranges(spark, tmp_path):
    register(spark)
    folder = tmp_path / "growing"
    folder.mkdir()
    (folder / "1.tsv").write_text("500\t<urn:a> <urn:p> <urn:b> .\n1500\t<urn:b> <urn:p> <urn:b> .\n")
    over = " ".join(f"FROM STREAM <{stream}> [RANGE 1s STEP 1s]" for stream in ("urn:s", "urn:t"))
    reader = spark.readStream.format("ensue").option("path", str(folder))
    one, other = (reader.option("rows", rows).load() for rows in ("lines", "ranges"))
    frame = answers(spark, f"SELECT ?x {over} {{ ?x <urn:p> ?y }}", {"urn:s": one, "urn:t": other})
    running = start(frame, "growing")
    try:
        rows = wait_for(spark, "growing", lambda rows: rows)
        assert closes(rows) == [(1000, "urn:a")]
        (folder / "2.tsv").write_text("2500\t<urn:c> <urn:p> <urn:b> .\n")
        rows = wait_for(spark, "growing", lambda rows: len(rows) > 1)
        assert closes(rows) == [(1000, "urn:a"), (2000, "urn:b")]
    finally:
        running.stop()


def test_documents_with_times(spark, tmp_path):
    """TriG, N-Quads and JSON-LD side by side, and two streams in one DataFrame."""
    said = '"1970-01-01T00:00:00.5Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    at = f"<urn:g> <http://www.w3.org/ns/prov#generatedAtTime> {said} ."
    (tmp_path / "a.trig").write_text(f"{at}\n<urn:g> {{ <urn:trig> <urn:p> <urn:b> }}\n")
    (tmp_path / "b.nq").write_text(f"{at}\n<urn:nq> <urn:p> <urn:b> <urn:g> .\n")
    document = {
        "@context": {"p": "urn:p", "at": "http://www.w3.org/ns/prov#generatedAtTime"},
        "@id": "urn:g",
        "at": {"@value": "1970-01-01T00:00:00.5Z", "@type": "http://www.w3.org/2001/XMLSchema#dateTime"},
        "@graph": [{"@id": "urn:jsonld", "p": {"@id": "urn:b"}}],
    }
    (tmp_path / "c.jsonld").write_text(json.dumps(document))
    register(spark)
    both = {"urn:a": str(tmp_path / "a.trig"), "urn:b": str(tmp_path / "b.nq")}
    options = {"streams": json.dumps(both), "rows": "ranges", "finite": "true"}
    frame = spark.readStream.format("ensue").options(**options).load()
    streams = {"urn:a": frame, "urn:b": frame, "urn:c": tmp_path / "c.jsonld"}
    over = " ".join(f"FROM STREAM <{stream}> [RANGE 1s STEP 1s]" for stream in streams)
    rows, _ = run(spark, answers(spark, f"SELECT ?x {over} {{ ?x <urn:p> ?y }}", streams), "documents")
    assert closes(rows) == [(1000, "urn:jsonld"), (1000, "urn:nq"), (1000, "urn:trig")]


@pytest.mark.parametrize(
    ("columns", "what", "hint"),
    [
        ("statement string", "has the columns statement", "time and statement"),
        ("time long, value string", "has the columns time, value", "time and statement"),
        ("time string, statement string", "column time for <urn:s> is string", "timestamp"),
        ("time double, s string, p string, o string", "is double", "cast it"),
        ("time long, s string, p string, o int", "column o for <urn:s> is int", "N-Triples"),
        ("value long", "column value for <urn:s> is bigint", "N-Triples"),
    ],
)
def test_wrong_columns_are_named(json_stream, columns, what, hint):
    with pytest.raises(UsageError, match=what) as raised:
        rows_of("urn:s", json_stream(columns))
    assert hint in raised.value.hint


def test_streams_must_stream(spark):
    with pytest.raises(UsageError, match=r"not a streaming one .*readStream"):
        answers(spark, EVERY_SECOND, {"urn:s": spark.range(1).selectExpr("'x' AS value")})


def test_streams_and_queries_must_go_together(spark, tmp_path):
    (tmp_path / "s.tsv").touch()
    with pytest.raises(UsageError, match=r"nothing is given for the stream <urn:s> .*streams=\{\"urn:s\""):
        answers(spark, EVERY_SECOND, {})
    with pytest.raises(UsageError, match=r"no query reads the stream <urn:other> .*urn:s"):
        answers(spark, EVERY_SECOND, {"urn:s": tmp_path / "s.tsv", "urn:other": tmp_path / "s.tsv"})
