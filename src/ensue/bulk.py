r"""Large files of N-Triples and N-Quads into numbers, a block of lines at a time.

The kernel goes once over a block and finds the lines in the plainest spelling, whose terms are canonical text
as they stand; each distinct term of a block then gets its number once. All other lines go to the parser. What
comes out is what `ensue.files.read_statements` reads, but that a block's plain lines come first.

Nothing is said here of what is wrong with a file: whoever meets something wrong gives up, and the reader that
looks at everything reads the file from the beginning and says what it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray

from ensue.dictionary import Dictionary
from ensue.errors import InputError
from ensue.files import PROGRESS_EVERY, FilePath, Progress, Source, TermText, scope_of, statement_of
from ensue.inputlimits import LongLine, check_nested_terms
from ensue.maintain.kernel.lines import NO_GRAPH, Scanned, scan
from ensue.model import BACKGROUND, DEFAULT_GRAPH, FOREVER, Copies

_BLOCK = 1 << 22
_NEW_LINE = ord("\n")

Columns = NDArray[np.int32]
"""Subjects, predicates, objects and graphs, in four rows."""


def load_lines(
    path: FilePath, dictionary: Dictionary, syntax: ox.RdfFormat, progress: Progress | None = None
) -> Copies | None:
    r"""The statements of a file as background copies; None if something is wrong with it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> d = Dictionary()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.nt").write_text('<urn:a> <urn:p> "x" .\n<urn:a>\t<urn:p> "\\u0079".')
    ...     copies = load_lines(Path(folder, "a.nt"), d, ox.RdfFormat.N_TRIPLES)
    >>> [d.decode(o) for o in copies.o]
    ['"x"', '"y"']
    """
    reader = _Reader(path, dictionary, syntax)
    try:
        with Source(path) as source:
            for text in source.pieces(_BLOCK):
                if isinstance(text, LongLine):
                    return None
                before = reader.count
                reader.take(text)
                if progress is not None:
                    for mark in range(before // PROGRESS_EVERY, reader.count // PROGRESS_EVERY):
                        progress((mark + 1) * PROGRESS_EVERY, source.share)
    except (SyntaxError, InputError, MemoryError, _NoStatementError):
        return None
    return reader.copies()


class _NoStatementError(Exception):
    """A line says what it cannot say in this syntax."""


class _Reader:
    """What has been read of a file."""

    def __init__(self, path: FilePath, dictionary: Dictionary, syntax: ox.RdfFormat) -> None:
        self._dictionary = dictionary
        self._syntax = syntax
        self._scope = scope_of(path)
        self._text = TermText(path, keep_labels=True)
        self._parts: list[Columns] = []
        self.count = 0
        """How many statements these are so far."""

    def take(self, text: bytes) -> None:
        """Some whole lines."""
        data = np.frombuffer(text, np.uint8)
        cuts = _cuts(data)
        found = scan(data, cuts, timed=False)
        self._add(self._numbered(found))
        if len(others := np.flatnonzero(~found.plain)):
            bounds = zip(cuts[others].tolist(), cuts[others + 1].tolist(), strict=True)
            lines = (text[begin:end] for begin, end in bounds)
            self._add(self._parsed(b"".join(lines)))

    def copies(self) -> Copies:
        """All of it."""
        columns = np.concatenate([np.empty((4, 0), np.int32), *self._parts], axis=1)
        s, p, o, graph = (array("i", column.tobytes()) for column in columns)
        context, stamp = array("i", [BACKGROUND]) * self.count, array("q", [FOREVER]) * self.count
        return Copies(context, s, p, o, graph, stamp)

    def _add(self, columns: Columns) -> None:
        self._parts.append(columns)
        self.count += columns.shape[1]

    def _numbered(self, found: Scanned) -> Columns:
        """The plain lines, in the dictionary's numbers."""
        if self._syntax == ox.RdfFormat.N_TRIPLES and (found.numbers[3] != NO_GRAPH).any():
            raise _NoStatementError
        terms = self._scoped(_terms(found)) if found.blank else _terms(found)
        # The last is for those without a graph, whose number is -1.
        numbers = np.array([*self._dictionary.encode_all(list(terms)), DEFAULT_GRAPH], np.int32)
        return numbers[found.numbers]

    def _scoped(self, terms: Iterable[str]) -> Iterator[str]:
        return (self._scope + term[2:] if term[0] == "_" else term for term in terms)

    def _parsed(self, text: bytes) -> Columns:
        """Lines of any spelling, or SyntaxError."""
        if not check_nested_terms(text):
            raise _NoStatementError
        encode = self._dictionary.encode
        rows = array("i")
        for quad in ox.parse(text, format=self._syntax):
            s, p, o, graph = statement_of(quad, self._text)
            rows.extend((encode(s), encode(p), encode(o), DEFAULT_GRAPH if graph is None else encode(graph)))
        return np.frombuffer(rows, np.int32).reshape(-1, 4).T


def _cuts(data: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Where lines begin and end."""
    ends = np.flatnonzero(data == _NEW_LINE) + 1
    last = [] if len(ends) and ends[-1] == len(data) else [len(data)]
    return np.concatenate(([0], ends, last)).astype(np.int32)


def _terms(found: Scanned) -> Iterator[str]:
    """The distinct terms of lines."""
    text, cuts = found.text.tobytes(), found.offsets.tolist()
    return (text[begin:end].decode() for begin, end in pairwise(cuts))
