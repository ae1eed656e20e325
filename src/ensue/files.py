"""RDF files, in any syntax, as statements: text in, canonical terms out.

The syntax goes by the file's extension (`.nt`, `.ttl`, `.rdf`, ...; `.gz` on top of any) or by the
argument `format`. Two things a reader of RDF files has to settle, and how they are settled here:

- *Blank nodes* belong to their document: `_:b` of one file is not `_:b` of another. A document is
  known by its path as it was given, so labels come out the same in every run and every process.
- *Relative IRIs* are resolved against the file's own `file:` IRI, as RFC 3986 has it. N-Triples and
  N-Quads have none: there a relative IRI is an error.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, cast
from xml.parsers import expat

import pyoxigraph as ox

from ensue.dictionary import Dictionary
from ensue.errors import InputError, Place, UsageError
from ensue.inputlimits import (
    MAX_LINE,
    MAX_NESTED,
    JsonNesting,
    LineCutter,
    LongLine,
    NestingError,
    TermNesting,
)
from ensue.model import BACKGROUND, DEFAULT_GRAPH, FOREVER, Copies
from ensue.paths import STANDARD as STANDARD
from ensue.paths import FilePath as FilePath

Statement = tuple[str, str, str, str | None]
"""Subject, predicate, object and graph name (None: the default graph), as canonical text."""

Timed = tuple[int, str, str, str, str | None]
"""Time in ms, subject, predicate, object and graph name (None: the default graph)."""

Progress = Callable[[int, float], None]
"""Told now and then how many statements were read, and what share of the file's bytes."""

SYNTAXES: dict[str, ox.RdfFormat] = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "ntriples": ox.RdfFormat.N_TRIPLES,
    "triples": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "nquads": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "turtle": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
    "owl": ox.RdfFormat.RDF_XML,
    "xml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
    "json": ox.RdfFormat.JSON_LD,
    "n3": ox.RdfFormat.N3,
}
"""Syntaxes by extension; the same names do for the argument `format`."""

_BY_LINE = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_CHUNK = 1 << 20
_CONTINUED = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""
PROGRESS_EVERY = 20_000
"""So many statements lie between two times that somebody is told."""
LARGE = 1 << 20
"""From so many bytes on, lines are read in bulk."""

_HINTS = (
    ("No scheme found", "write the IRI in full: this syntax has no relative IRIs"),
    ("has not been declared", "add an @prefix line for it"),
    ("Unexpected end", "was the file cut short?"),
    ("UTF-8", "RDF files are UTF-8: convert the file"),
    ("LoadDocumentCallback", "nothing is fetched from the network: put the @context into the file"),
    ("Named graphs are not allowed", "N3 is read for its statements: formulas and rules in {...} are not"),
)
_POSITION = re.compile(r"^Parser error .*?columns? \d+(?: and (?:line \d+ column )?\d+)?: ")


class Source:
    """The bytes of a file, unzipped if need be, and how far reading has come.

    Whatever goes wrong while reading is an `InputError` that names the place. Reading begins with the text,
    after a byte order mark if there is one; or at the (unzipped) byte `start`, and lines count from there.
    """

    def __init__(self, path: FilePath, *, start: int | None = None) -> None:
        self.name = os.fspath(path)
        self.line = 1
        self._column = 1
        self._fresh = start is None
        try:
            # Of standard input only what is there under its number: others may have it open, too.
            self._raw = open(0 if self.name == STANDARD else path, "rb", closefd=self.name != STANDARD)  # noqa: SIM115
        except (OSError, ValueError) as problem:  # A name with a NUL is a ValueError.
            raise _unreadable(problem, self.name) from problem
        self._size = max(1, os.fstat(self._raw.fileno()).st_size)
        zipped = self.name.endswith(".gz")
        self._bytes = gzip.GzipFile(fileobj=self._raw) if zipped else self._raw
        if start:
            self._skip(start)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    @property
    def share(self) -> float:
        """What share of the file has been read, from 0 to 1."""
        if self._raw.closed or not self._raw.seekable():
            return 1.0
        return min(1.0, self._raw.tell() / self._size)

    def _skip(self, start: int) -> None:
        try:
            self._bytes.seek(start)
        except (EOFError, zlib.error, OSError) as problem:
            self._raw.close()
            raise self._broken(problem) from problem

    def read(self, size: int = _CHUNK) -> bytes:
        """Some bytes, at most `size`; none at the end."""
        try:
            # Not `read`: that would lose what came before a gzip file breaks off.
            data: bytes = self._bytes.read1(size)
        except (EOFError, zlib.error, OSError) as problem:
            raise self._broken(problem) from problem
        if self._fresh:
            self._fresh = False
            data = data.removeprefix(b"\xef\xbb\xbf")
        lines = data.count(b"\n")
        self.line += lines
        tail = data[data.rfind(b"\n") + 1 :] if lines else data
        self._column = (1 if lines else self._column) + len(tail.translate(None, _CONTINUED))
        return data

    def lines(self, longest: int = MAX_LINE) -> Iterator[bytes | LongLine]:
        """Lines with their ends, one at a time, and what was passed over of those that are too long."""
        for piece in self.pieces(longest=longest):
            if isinstance(piece, LongLine):
                yield piece
            else:
                yield from io.BytesIO(piece)

    def pieces(self, size: int = _CHUNK, longest: int = MAX_LINE) -> Iterator[bytes | LongLine]:
        """The same, not cut into lines: as many as `size` bytes hold, if they hold one.

        Lines beyond `longest` that lie within so many bytes are not passed over.
        """
        cutter = LineCutter(longest)
        while data := self.read(size):
            yield from cutter.take(data)
        yield from cutter.rest()

    def _broken(self, problem: Exception) -> InputError:
        if isinstance(problem, OSError) and not isinstance(problem, gzip.BadGzipFile):
            return _unreadable(problem, self.name)
        cut = isinstance(problem, EOFError)
        place = Place(self.name, self.line, self._column)
        what = "the gzip file is cut short here" if cut else f"not a sound gzip file: {problem}"
        return InputError(what, place=place, hint="copy or download the file again; `gzip -t` checks it")


def _unreadable(problem: OSError | ValueError, name: str) -> InputError:
    if isinstance(problem, FileNotFoundError):
        return InputError("no such file", place=Place(name), hint="check the path for a typing error")
    if isinstance(problem, IsADirectoryError):
        return InputError("is a directory", place=Place(name), hint="name the files in it")
    if isinstance(problem, ValueError):
        shown = name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
        return InputError("cannot be read: no file can have this name", place=Place(shown), hint="check it")
    reason = problem.strerror or str(problem)
    return InputError(f"cannot be read: {reason}", place=Place(name), hint="check the file's permissions")


def syntax_of(path: FilePath, format: str | None = None) -> ox.RdfFormat:
    """The syntax of a file, from `format` or else from its extension.

    >>> str(syntax_of("facts.ttl.gz")), str(syntax_of("facts.dat", format="nt"))
    ('Turtle', 'N-Triples')
    """
    if format is not None:
        if format not in SYNTAXES:
            raise UsageError(f"unknown format '{format}'", hint=f"one of {', '.join(SYNTAXES)}")
        return SYNTAXES[format]
    extension = extension_of(path)
    if extension not in SYNTAXES:
        known = ", ".join(f".{extension}" for extension in SYNTAXES)
        what = f"the extension '.{extension}' names no RDF syntax" if extension else "no extension"
        raise InputError(what, place=Place(os.fspath(path)), hint=f"known: {known}; or say the format")
    return SYNTAXES[extension]


def extension_of(path: FilePath) -> str:
    """The extension of a file's name, `.gz` aside.

    >>> extension_of("facts.TTL.gz")
    'ttl'
    """
    name = os.fspath(path).removesuffix(".gz")
    return os.path.splitext(name)[1].removeprefix(".").lower()


def scope_of(path: FilePath) -> str:
    """The prefix of a document's blank node labels: each document has its own.

    >>> scope_of("a.ttl") == scope_of("./a.ttl"), scope_of("a.ttl") == scope_of("b.ttl")
    (True, False)
    """
    name = os.fspath(path)
    try:
        normal = os.path.normpath(name).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as problem:
        raise _unreadable(problem, name) from problem
    return f"_:d{blake2b(normal, digest_size=6).hexdigest()}x"


class TermText:
    """Terms of one document as canonical text, its blank nodes under the document's scope.

    Without a path, labels are under a scope already.
    """

    def __init__(self, path: FilePath | None, *, keep_labels: bool) -> None:
        self._scope = "_:" if path is None else scope_of(path)
        # Nodes without a label get a random one from the parser, so they are numbered here instead.
        # A syntax in which every node has a label needs no such table, which grows without end.
        self._numbers: dict[str, int] | None = None if keep_labels else {}

    def __call__(self, term: Any) -> str:
        """The text of a term."""
        kind = type(term)  # cheaper than isinstance, and this runs three times a statement
        if kind is ox.BlankNode:
            return self._blank(term.value)
        if kind is ox.Triple:
            return f"<<( {self(term.subject)} {self(term.predicate)} {self(term.object)} )>>"
        return str(term)

    def _blank(self, label: str) -> str:
        if self._numbers is None:
            return self._scope + label
        return f"{self._scope}{self._numbers.setdefault(label, len(self._numbers))}"


def statement_of(quad: ox.Quad, text: TermText) -> Statement:
    """What the parser gave, as canonical text."""
    graph = quad.graph_name
    name = None if type(graph) is ox.DefaultGraph else text(graph)
    return text(quad.subject), text(quad.predicate), text(quad.object), name


def base_of(path: FilePath) -> str:
    """The IRI of a file, which relative IRIs in it are resolved against."""
    return Path(path).absolute().as_uri()


def read_statements(
    path: FilePath, *, format: str | None = None, progress: Progress | None = None
) -> Iterator[Statement]:
    """The statements of a file, in its own order. Raises InputError where the file is at fault.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.ttl").write_text('@prefix : <urn:> . :a :knows :b ; :age 7 .')
    ...     for s, p, o, _graph in read_statements(Path(folder, "a.ttl")):
    ...         print(s, p, o)
    <urn:a> <urn:knows> <urn:b>
    <urn:a> <urn:age> "7"^^<http://www.w3.org/2001/XMLSchema#integer>
    """
    syntax = syntax_of(path, format)
    text = TermText(path, keep_labels=syntax in _BY_LINE)
    try:
        if syntax == ox.RdfFormat.RDF_XML:
            _check_well_formed(path)
        with Source(path) as source:
            try:
                yield from _statements(source, syntax, text, progress)
            except (MemoryError, NestingError) as problem:
                raise limit_error(problem, source.name, source.line) from problem
    except SyntaxError as problem:
        raise syntax_error(problem, os.fspath(path), syntax) from problem


def _statements(
    source: Source, syntax: ox.RdfFormat, text: TermText, progress: Progress | None
) -> Iterator[Statement]:
    base = None if syntax in _BY_LINE else base_of(source.name)
    # In N3 a named graph would be a quoted formula, which nobody states.
    flat = syntax == ox.RdfFormat.N3
    watched = cast("IO[bytes]", Watched(source, syntax))
    quads = ox.parse(watched, format=syntax, base_iri=base, without_named_graphs=flat)
    for count, quad in enumerate(quads, start=1):
        yield statement_of(quad, text)
        if progress is not None and count % PROGRESS_EVERY == 0:
            progress(count, source.share)


class Watched:
    """A source as a parser reads it, of which no part may nest too deeply."""

    def __init__(self, source: Source | io.BytesIO, syntax: ox.RdfFormat) -> None:
        self._source = source
        self._nesting = JsonNesting() if syntax == ox.RdfFormat.JSON_LD else TermNesting()

    @property
    def line(self) -> int:
        """How far reading has come."""
        return self._source.line if isinstance(self._source, Source) else 1

    def read(self, size: int = _CHUNK) -> bytes:
        """Some bytes, at most `size`; none at the end."""
        data = self._source.read(size)
        self._nesting.take(data)
        return data


def limit_error(problem: MemoryError | NestingError, name: str, line: int) -> InputError:
    """What goes beyond a limit of the parser, or of what it is given, once so many lines were read."""
    if isinstance(problem, NestingError):
        hint = f"{MAX_NESTED} levels are the most"
        return InputError(str(problem), place=Place(name, problem.line), hint=hint)
    if "buffer" not in str(problem):
        raise problem
    what, hint = "a term is too long to be read", f"{MAX_LINE} bytes are the most"
    return InputError(what, place=Place(name, line), hint=hint)


def _check_well_formed(path: FilePath) -> None:
    # pyoxigraph takes a cut-off RDF/XML file for a whole one, and its errors there have no place.
    parser = expat.ParserCreate()
    depth = 0

    def begin(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_NESTED:
            place = Place(os.fspath(path), parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
            hint = "name the nodes, and write them one after the other"
            raise InputError(f"elements nest more than {MAX_NESTED} deep", place=place, hint=hint)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    with Source(path) as source:
        try:
            while data := source.read():
                parser.Parse(data, False)
            parser.Parse(b"", True)
        except expat.ExpatError as problem:
            place = Place(source.name, problem.lineno, problem.offset + 1)
            what = f"not well-formed XML: {expat.ErrorString(problem.code)}"
            raise InputError(what, place=place, hint="is the file RDF/XML, and is it complete?") from problem


def syntax_error(problem: SyntaxError, name: str, syntax: ox.RdfFormat) -> InputError:
    """What the parser found wrong with a file, and where."""
    what = describe(problem)
    hint = hint_for(what) or f"the file is read as {syntax.name}: is that what it is?"
    return InputError(what, place=Place(name, problem.lineno, problem.offset), hint=hint)


def describe(problem: SyntaxError) -> str:
    """What the parser found wrong, without the position that it puts in front."""
    return _POSITION.sub("", problem.msg)


def hint_for(what: str) -> str | None:
    """A hint for the parser's commoner complaints."""
    return next((hint for sign, hint in _HINTS if sign in what), None)


def load_file(
    path: FilePath,
    dictionary: Dictionary,
    *,
    format: str | None = None,
    into: Copies | None = None,
    progress: Progress | None = None,
) -> Copies:
    """The statements of a file as background copies: context 0, for ever. Adds to `into` if given."""
    copies = Copies() if into is None else into
    if (found := _loaded_in_bulk(path, dictionary, format, progress)) is not None:
        copies.extend(found)
        return copies
    encode, append = dictionary.encode, copies.append
    for s, p, o, graph in read_statements(path, format=format, progress=progress):
        number = DEFAULT_GRAPH if graph is None else encode(graph)
        append(BACKGROUND, encode(s), encode(p), encode(o), FOREVER, number)
    return copies


def _loaded_in_bulk(
    path: FilePath, dictionary: Dictionary, format: str | None, progress: Progress | None
) -> Copies | None:
    """What a large file states, line by line; None: it is to be read statement by statement."""
    if not os.path.isfile(path) or os.path.getsize(path) < LARGE:  # What is no file can be read only once.
        return None
    syntax = syntax_of(path, format)
    if syntax not in _BY_LINE:
        return None
    from ensue.bulk import load_lines  # Loaded when it pays: it loads the kernel.

    return load_lines(path, dictionary, syntax, progress)


def load_background(
    paths: Iterable[FilePath], dictionary: Dictionary, *, format: str | None = None
) -> Copies:
    """The statements of several files as one batch of background copies."""
    copies = Copies()
    for path in paths:
        load_file(path, dictionary, format=format, into=copies)
    return copies
