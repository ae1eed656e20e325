"""The timed stream file: one statement per line, `<milliseconds><TAB><N-Triples or N-Quads statement>`.

Plain or `.gz`; a directory is replayed file by file, in order of name. A file can also be an RDF document
whose graphs have times (TriG, N-Quads or JSON-LD, by its extension): see `streamgraphs.py`.

In place of the milliseconds there can be an ISO 8601 time, `2024-01-01T00:00:10.5+01:00`; without a zone it
is in UTC, and what is finer than a millisecond is cut off. Lines that are empty or begin with `#` are passed
over. Times are integers between NEVER and FOREVER (those two are not times), so times before 1970 are
negative. The lines need not be in order of time: what is late is for the window to say, not for the reader.
Blank nodes belong to their file.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pyoxigraph as ox

from ensue.badlines import BadLine, DeadLetters, OnBad, put_aside
from ensue.dictionary import Dictionary
from ensue.errors import EnsueError, InputError, Place, UsageError
from ensue.files import FilePath, Source, TermText, Timed, describe, statement_of
from ensue.inputlimits import MAX_LINE, MAX_NESTED, SHOWN, LongLine, check_nested_terms, too_long
from ensue.model import DEFAULT_GRAPH, FOREVER, NEVER, Copies
from ensue.paths import STANDARD
from ensue.streamgraphs import is_document, read_document
from ensue.times import milliseconds

__all__ = [
    "BadLine",
    "DeadLetters",
    "Fault",
    "OnBad",
    "Timed",
    "copies_of",
    "read_block",
    "read_line",
    "read_stream",
    "stream_files",
    "text_of",
    "timed_line",
    "write_stream",
]

_LONGEST_TIME, _LONGEST_MOMENT = 20, 64


def read_stream(
    path: FilePath, *, on_bad: OnBad | None = None, max_line: int = MAX_LINE
) -> Iterator[list[Timed]]:
    r"""The statements of a stream file or a directory of them, in batches of about a megabyte.

    A bad line, and one of more than `max_line` bytes, raises InputError, or goes to `on_bad` (say, a
    `DeadLetters`) and reading goes on.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "s.tsv")
    ...     _ = write_stream(name, [(10, "<urn:a>", "<urn:p>", '"x"', None)])
    ...     list(read_stream(name))
    [[(10, '<urn:a>', '<urn:p>', '"x"', None)]]
    """
    for name in stream_files(path):
        if is_document(name):
            yield from read_document(name, on_bad, max_line)
        else:
            yield from _read_lines_of(name, on_bad, max_line)


def stream_files(path: FilePath) -> list[str]:
    """The files that a path stands for: itself, or what a directory holds in order of name.

    Names that begin with `.` or `_` are left out, as other tools put their marks there.
    """
    if not os.path.isdir(path):
        return [os.fspath(path)]
    names = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name[0] not in "._"]
    for name in names:
        if os.path.isdir(name):
            hint = "a stream directory holds files only"
            raise InputError("a directory within a stream directory", place=Place(name), hint=hint)
    return names


def copies_of(batch: Iterable[Timed], dictionary: Dictionary, context: int) -> Copies:
    """A batch as copies in a context, with the time as the stamp."""
    copies = Copies()
    encode, append = dictionary.encode, copies.append
    for time, s, p, o, graph in batch:
        number = DEFAULT_GRAPH if graph is None else encode(graph)
        append(context, encode(s), encode(p), encode(o), time, number)
    return copies


def _read_lines_of(name: str, on_bad: OnBad | None, max_line: int) -> Iterator[list[Timed]]:
    text = TermText(name, keep_labels=True)
    line, offset = 1, 0
    with Source(name) as source:
        for piece in source.pieces(longest=max_line):
            if isinstance(piece, LongLine):
                put_aside(BadLine(name, line, 1, offset, piece.shown, piece.reason(max_line)), on_bad)
                line, offset = line + 1, offset + piece.length
                continue
            block = io.BytesIO(piece).readlines()
            batch = read_block(block, text, max_line)
            if batch is None:
                batch = list(_read_lines(block, text, _Position(name, line, offset), on_bad, max_line))
            if batch:
                yield batch
            line, offset = line + len(block), offset + len(piece)


def read_block(block: list[bytes], text: TermText, max_line: int = MAX_LINE) -> list[Timed] | None:
    """All lines, each with its end, parsed in one go. None if any of them needs a closer look."""
    if any(len(line) > max_line for line in block):
        return None
    times: list[int] = []
    bodies: list[bytes] = []
    for line in block:
        head, tab, body = line.partition(b"\t")
        if not tab and not line.strip():
            continue
        time = _time(head)
        if time is None or not tab or b"\r" in body[:-2]:
            return None
        times.append(time)
        bodies.append(body)
    joined = b"".join(bodies)
    if not check_nested_terms(joined):
        return None
    try:
        quads = list(ox.parse(joined, format=ox.RdfFormat.N_QUADS))
    except SyntaxError:
        return None
    if len(quads) != len(times):
        return None
    return [(time, *statement_of(quad, text)) for time, quad in zip(times, quads, strict=True)]


def _time(head: bytes) -> int | None:
    # `int` would also take spaces, underscores and a plus sign.
    digits = head[1:] if head[:1] == b"-" else head
    if not digits.isdigit():
        return milliseconds(head.decode("latin-1"), needs_zone=False) if len(head) < _LONGEST_MOMENT else None
    if len(digits) > _LONGEST_TIME:
        return None
    time = int(head)
    return time if NEVER < time < FOREVER else None


@dataclass(slots=True)
class _Position:
    file: str
    line: int
    offset: int


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a line cannot be read, and from which column on."""

    column: int
    reason: str
    shown: int | None = None
    """How many bytes of the line a dead letter has of it; None: all."""


def _read_lines(
    block: list[bytes], text: TermText, at: _Position, on_bad: OnBad | None, max_line: int
) -> Iterator[Timed]:
    """Line by line, to find the bad ones."""
    for raw in block:
        found = read_line(raw, text, max_line)
        if isinstance(found, Fault):
            shown = text_of(raw if found.shown is None else raw[: found.shown])
            put_aside(BadLine(at.file, at.line, found.column, at.offset, shown, found.reason), on_bad)
        elif found is not None:
            yield found
        at.line += 1
        at.offset += len(raw)


def text_of(raw: bytes) -> str:
    """A line as it is shown to people: without its end, and whatever its bytes are."""
    return raw.rstrip(b"\r\n").decode(errors="replace")


def read_line(raw: bytes, text: TermText, max_line: int = MAX_LINE) -> Timed | Fault | None:
    r"""What one line says; None if it is empty or a comment.

    >>> text = TermText("s.tsv", keep_labels=True)
    >>> read_line(b"5\t<urn:a> <urn:p> <urn:b> .\n", text)
    (5, '<urn:a>', '<urn:p>', '<urn:b>', None)
    >>> read_line(b"5 <urn:a> <urn:p> <urn:b> .\n", text)
    Fault(column=1, reason='no tab between time and statement', shown=None)
    """
    if len(raw) > max_line and (length := len(raw) - raw.endswith(b"\n")) > max_line:
        return Fault(1, too_long(length, max_line), SHOWN)
    if not raw.strip() or raw.startswith(b"#"):
        return None
    head, tab, body = raw.rstrip(b"\r\n").partition(b"\t")
    if not tab:
        return Fault(1, "no tab between time and statement")
    time = _time(head)
    if time is None:
        shown = head[:40].decode(errors="replace")
        return Fault(1, f"'{shown}' is not a time in milliseconds (a 64-bit integer), nor in ISO 8601")
    column = len(head) + 2
    if not check_nested_terms(body):
        return Fault(column, f"triple terms nest more than {MAX_NESTED} deep", SHOWN)
    try:
        quads = list(ox.parse(body, format=ox.RdfFormat.N_QUADS))
    except SyntaxError as problem:
        return Fault(column + (problem.offset or 1) - 1, describe(problem))
    if len(quads) != 1:
        return Fault(column, "more than one statement" if quads else "no statement after the time")
    return time, *statement_of(quads[0], text)


def write_stream(path: FilePath, rows: Iterable[Timed]) -> int:
    """Write a timed stream file (zipped if its name ends in `.gz`) and say how many lines it has.

    `-` is standard output.
    """
    name = os.fspath(path)
    count = 0
    try:
        with _opened(name) as raw, _packed(name, raw) as out:
            for time, s, p, o, graph in rows:
                if not NEVER < time < FOREVER:
                    raise UsageError(f"{time} is not a time in milliseconds", hint="it must fit into 64 bits")
                out.write(f"{timed_line((time, s, p, o, graph))}\n")
                count += 1
    except OSError as problem:
        reason = problem.strerror or str(problem)
        hint = "is there space, and may you write there?"
        raise EnsueError(f"cannot be written: {reason}", place=Place(name), hint=hint) from problem
    return count


def timed_line(statement: Timed) -> str:
    """A statement as a line has it, without its end."""
    time, s, p, o, graph = statement
    return f"{time}\t{s} {p} {o} {graph} ." if graph else f"{time}\t{s} {p} {o} ."


def _opened(name: str) -> BinaryIO:
    return open(1 if name == STANDARD else name, "wb", closefd=name != STANDARD)


def _packed(name: str, raw: BinaryIO) -> io.TextIOWrapper:
    # Without name and time in the gzip header the same rows make the same bytes.
    binary = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if name.endswith(".gz") else raw
    return io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
