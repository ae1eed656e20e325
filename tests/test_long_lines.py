"""Lines that are too long, and documents that nest too deeply: dead letters in bounded memory."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from ensue import inputlimits
from ensue.cli.main import main
from ensue.device.options import read_options
from ensue.device.wire import Connection
from ensue.errors import InputError, UsageError
from ensue.files import read_statements
from ensue.inputlimits import LineCutter, LongLine
from ensue.spark.decode import decode
from ensue.spark.prepare import decoded_chunk
from ensue.spark.replay import Planner, read
from ensue.spark.replay_tape import Tapes
from ensue.spark.replay_walk import Position
from ensue.streamfile import read_stream

QUERY = "SELECT ?o FROM STREAM <urn:s> [RANGE 1s] { ?s <urn:p> ?o }"


def _line(time: int, length: int) -> bytes:
    """A line of so many bytes, without its end."""
    head, tail = f'{time}\t<urn:a> <urn:p> "'.encode(), b'" .'
    return head + b"x" * (length - len(head) - len(tail)) + tail


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def _on_spark(path: Path, max_line: int, budget: int = 1 << 40) -> tuple[list[tuple], list[tuple]]:
    """Statements and dead letters, by the way that Spark's tasks read them."""
    planner = Planner({"": str(path)}, finite=True, max_line=max_line)
    start, good, dead = {"": Position()}, [], []
    while (end := planner.after(start, budget)) != start:
        for chunk in read(planner.between(start, end), Tapes(max_line=max_line)):
            if not chunk.ended:
                found = decoded_chunk(chunk, max_line=max_line)
                good += [tuple(row.values()) for row in found.statements.to_pylist()]
                dead += [tuple(row.values()) for row in found.dead.to_pylist()]
        start = end
    planner.close()
    return good, dead


@pytest.mark.parametrize("name", ["s.tsv", "s.tsv.gz"])
@pytest.mark.parametrize("max_line", [200, 1_500_000])
@pytest.mark.parametrize("budget", [1 << 40, 3_000])
def test_a_line_that_is_too_long_is_the_same_dead_letter_everywhere(tmp_path, name, max_line, budget):
    lengths = [100, max_line, max_line + 1, 150, 2_000_000, 100, 3_500_000, max_line + 100, 120]
    lines = [_line(at, length) for at, length in enumerate(lengths)]
    path = _written(tmp_path / name, b"\n".join(lines))
    bad = []
    here = [row for batch in read_stream(path, on_bad=bad.append, max_line=max_line) for row in batch]
    good, dead = _on_spark(path, max_line, budget)
    assert sorted(row[0] for row in good) == sorted(row[0] for row in here)
    assert [row[0] for row in here] == [at for at, length in enumerate(lengths) if length <= max_line]
    offsets = {at: sum(lengths[:at]) + at for at in range(len(lengths))}
    for letter in bad:
        assert letter.offset == offsets[letter.line - 1]
        assert letter.reason == f"the line has {lengths[letter.line - 1]} bytes, and {max_line} are the most"
        assert letter.text == lines[letter.line - 1][: inputlimits.SHOWN].decode()
    assert sorted(dead) == sorted((str(path), each.offset, each.reason, each.text) for each in bad)


def test_pieces_of_any_size_give_the_same_lines():
    text = b"\n".join(_line(1, length) for length in (60, 300, 61, 299, 298, 62)) + b"\n\n" + _line(2, 301)
    for size in (1, 7, 64, 299, 300, 301, 1_000, 5_000):
        cutter = LineCutter(299)
        cut = [text[at : at + size] for at in range(0, len(text), size)]
        found = [piece for data in cut for piece in cutter.take(data)] + list(cutter.rest())
        lines = []
        for piece in found:
            if isinstance(piece, LongLine):
                lines.append((piece.length, piece.ended))
            else:
                lines += [(len(line), line.endswith(b"\n")) for line in piece.splitlines(keepends=True)]
        assert lines == [(len(x), x.endswith(b"\n")) for x in text.splitlines(keepends=True)]


@pytest.mark.parametrize("value", ["binary", "text", "columns"])
def test_long_rows_of_a_data_frame(value):
    long, good = _line(5, 5_000), _line(6, 100)
    lines = [long, good, long + b"\r\n"]
    if value == "columns":
        parts = [line.split(b"\t") for line in lines]
        batch = pa.record_batch({"time": [5, 6, 5], "statement": [part[1].decode() for part in parts]})
    else:
        batch = pa.record_batch({"value": lines if value == "binary" else [line.decode() for line in lines]})
    found = decode(batch, max_line=500)
    assert found.statements.column("time").to_pylist() == [6]
    assert all("and 500 are the most" in row["reason"] for row in found.dead.to_pylist())
    assert {len(row["line"]) for row in found.dead.to_pylist()} == {inputlimits.SHOWN}


def _limited(code: str, megabytes: int) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))

    command = [sys.executable, "-c", code]
    return subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, timeout=120, check=False)


def test_a_zipped_line_of_three_hundred_megabytes_in_little_memory(tmp_path):
    path = tmp_path / "s.tsv.gz"
    with gzip.open(path, "wb", 1) as out:
        out.write(_line(1, 100) + b'\n2\t<urn:a> <urn:p> "')
        for _ in range(300):
            out.write(b"x" * 1_000_000)
        out.write(b'" .\n' + _line(3, 100) + b"\n")
    reading = f"""
from ensue.streamfile import read_stream
bad = []
print([row[0] for batch in read_stream({str(path)!r}, on_bad=bad.append) for row in batch])
print([(each.line, each.offset, len(each.text)) for each in bad])
"""
    done = _limited(reading, 150)
    assert done.stdout.splitlines() == ["[1, 3]", "[(2, 101, 1000)]"], done.stderr
    good, dead = _on_spark(path, inputlimits.MAX_LINE)
    assert [row[0] for row in good] == [1, 3]
    assert [(row[1], len(row[3])) for row in dead] == [(101, 1_000)]


def test_a_literal_above_sixteen_mebibytes_is_a_dead_letter_of_the_command(tmp_path):
    stream = tmp_path / "s.tsv"
    stream.write_bytes(_line(1, 100) + b"\n" + _line(2, 17 << 20) + b"\n" + _line(3, 15_900_000) + b"\n")
    (tmp_path / "q.rq").write_text(QUERY)
    letters, out = tmp_path / "dead.jsonl", tmp_path / "out.jsonl"
    command = ["run", str(tmp_path / "q.rq"), "--stream", f"urn:s={stream}", "--engine", "local", "-q"]
    assert main([*command, "--dead-letters", str(letters), "--output", str(out)]) == 0
    (letter,) = map(json.loads, letters.read_text().splitlines())
    assert (letter["line"], letter["reason"]) == (
        2,
        f"the line has {17 << 20} bytes, and {inputlimits.MAX_LINE} are the most",
    )
    assert len(json.loads(out.read_text())["bindings"]) == 2
    assert main([*command, "--dead-letters", str(letters), "--output", str(out), "--max-line", "99"]) == 2


def test_a_limit_that_is_none():
    for wrong in (0, -1, 1 << 24):
        with pytest.raises(UsageError, match="max line"):
            inputlimits.check_max_line(wrong)
    with pytest.raises(UsageError, match="max line"):
        read_options(["--rules", "pdsv", "--max-line", "3"])


NESTED = {
    "a.ttl": "<urn:a> <urn:p> " + "<<( <urn:a> <urn:p> " * 50_000 + "1" + ")>>" * 50_000 + " .",
    "a.nt": "<urn:a> <urn:p> " + "<<( <urn:a> <urn:p> " * 50_000 + "<urn:b>" + ")>>" * 50_000 + " .",
    "b.jsonld": '{"urn:p":' * 50_000 + "1" + "}" * 50_000,
    "c.jsonld": '{"@id":"urn:a","urn:p":' + "[" * 101 + "1" + "]" * 101 + "}",
    "a.rdf": '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">'
    + "<u:C><u:p>" * 50_000
    + "</u:p></u:C>" * 50_000
    + "</r:RDF>",
}


@pytest.mark.parametrize("name", NESTED)
def test_a_document_that_nests_too_deeply(tmp_path, name):
    path = _written(tmp_path / name, NESTED[name].encode())
    with pytest.raises(InputError, match="nest more than 100 deep") as caught:
        list(read_statements(path))
    assert caught.value.place.line == 1


@pytest.mark.parametrize("name", ["a.trig", "a.jsonld", "a.jsonl", "a.nq", "a.tsv"])
def test_a_stream_that_nests_too_deeply(tmp_path, name):
    deep = "<urn:a> <urn:p> " + "<<( <urn:a> <urn:p> " * 9_000 + "<urn:b>" + ")>>" * 9_000
    text = {
        "a.trig": f"<urn:g> {{ {deep} . }}",
        "a.jsonld": '{"@id":"urn:g","@graph":' + '{"urn:p":' * 9_000 + "1" + "}" * 9_001,
        "a.jsonl": '{"@id":"urn:g","@graph":' + '{"urn:p":' * 9_000 + "1" + "}" * 9_001,
        "a.nq": f"{deep} <urn:g> .",
        "a.tsv": f"5\t{deep} .\n",
    }[name]
    bad = []
    assert list(read_stream(_written(tmp_path / name, text.encode()), on_bad=bad.append)) == []
    assert any("nest more than 100 deep" in each.reason for each in bad)


def test_nesting_within_the_limit_and_brackets_in_strings(tmp_path):
    deep = "<urn:a> <urn:p> " + "<<( <urn:a> <urn:p> " * 100 + '"<<( [["' + ")>>" * 100
    assert len(list(read_statements(_written(tmp_path / "a.nt", f"{deep} .".encode())))) == 1
    text = '{"@id":"urn:a","urn:p":"' + "[{" * 5_000 + '\\"[["}'
    assert len(list(read_statements(_written(tmp_path / "a.jsonld", text.encode())))) == 1


@pytest.mark.parametrize("name", ["a.ttl", "a.nt", "a.jsonld"])
def test_a_term_of_a_document_that_is_too_long(tmp_path, name):
    body = "x" * (1 << 24)
    text = f'{{"@id":"urn:a","urn:p":"{body}"}}' if name.endswith("ld") else f'<urn:a> <urn:p> "{body}" .'
    with pytest.raises(InputError, match="too long"):
        list(read_statements(_written(tmp_path / name, text.encode())))


def test_a_device_passes_over_a_line_that_never_ends(tmp_path):
    path = _written(tmp_path / "in", b"a\n" + b"x" * 200_000 + b"\nb\n" + b"y" * 70_000)
    with path.open("rb") as file:
        connection = Connection(file.fileno(), "test", "c0", max_line=1_000)
        lines = []
        while connection.open:
            lines += connection.read()
    assert [each if isinstance(each, bytes) else each.length for each in lines] == [
        b"a",
        200_001,
        b"b",
        70_000,
    ]
