"""The truth of a maintainer, written down: its copies and its threshold, nothing derived."""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass, fields

from ensue.dictionary import Dictionary
from ensue.errors import InputError
from ensue.model import DEFAULT_GRAPH, Copies

_MAGIC = b"ensue-snapshot-1\n"
_TERM_COLUMNS = ("s", "p", "o", "graph")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Copies over a term table of its own, so that any dictionary can take it in.

    >>> d = Dictionary()
    >>> copies = Copies.of([(1, d.encode("<urn:a>"), d.encode("<urn:p>"), d.encode('"x"'), 5)])
    >>> taken = Snapshot.take(d, copies, Copies(), threshold=3)
    >>> again = Snapshot.from_bytes(taken.to_bytes())
    >>> again == taken, again.threshold, again.terms
    (True, 3, ('<urn:a>', '<urn:p>', '"x"'))
    """

    threshold: int
    terms: tuple[str, ...]
    copies: Copies
    background: Copies

    @classmethod
    def take(cls, dictionary: Dictionary, copies: Copies, background: Copies, threshold: int) -> Snapshot:
        """The snapshot of these copies, which are in the integers of `dictionary`."""
        local: dict[int, int] = {DEFAULT_GRAPH: DEFAULT_GRAPH}
        terms: list[str] = []

        def number(term: int) -> int:
            if term not in local:
                terms.append(dictionary.decode(term))
                local[term] = len(terms)
            return local[term]

        live, ground = (_renumber(batch, number) for batch in (copies, background))
        return cls(threshold, tuple(terms), live, ground)

    def read(self, dictionary: Dictionary) -> tuple[Copies, Copies]:
        """The copies and the background in the integers of `dictionary`."""
        known = [DEFAULT_GRAPH, *map(dictionary.encode, self.terms)]
        live, ground = (_renumber(batch, known.__getitem__) for batch in (self.copies, self.background))
        return live, ground

    def to_bytes(self) -> bytes:
        """As bytes: a line of JSON, then the columns (little-endian machines only, as Arrow's)."""
        batches = (self.copies, self.background)
        head = {"threshold": self.threshold, "terms": self.terms, "rows": [len(b) for b in batches]}
        columns = b"".join(getattr(b, f.name).tobytes() for b in batches for f in fields(b))
        return _MAGIC + json.dumps(head).encode() + b"\n" + columns

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """What `to_bytes` wrote. Raises InputError for anything else, a cut-off file included."""
        try:
            if not data.startswith(_MAGIC):
                raise ValueError("it does not begin like one")
            head_end = data.index(b"\n", len(_MAGIC))
            head = json.loads(data[len(_MAGIC) : head_end])
            batches, rest = [], memoryview(data)[head_end + 1 :]
            for rows in head["rows"]:
                batch, rest = _take_columns(rest, int(rows))
                batches.append(batch)
            if len(rest):
                raise ValueError("there is more in it than its head says")
            return cls(int(head["threshold"]), tuple(map(str, head["terms"])), *batches)
        except (ValueError, KeyError, TypeError) as problem:
            raise InputError(
                f"not a readable snapshot: {problem}", hint="was the file cut short while it was written?"
            ) from problem


def _renumber(batch: Copies, number) -> Copies:  # type: ignore[no-untyped-def]
    columns = {f.name: getattr(batch, f.name) for f in fields(batch)}
    columns |= {name: array("i", map(number, columns[name])) for name in _TERM_COLUMNS}
    return Copies(**columns)


def _take_columns(data: memoryview, rows: int) -> tuple[Copies, memoryview]:
    columns = {}
    for f in fields(Copies):
        column = array("q" if f.name == "stamp" else "i")
        size = rows * column.itemsize
        if len(data) < size:
            raise ValueError("it ends too early")
        column.frombytes(data[:size])
        columns[f.name], data = column, data[size:]
    return Copies(**columns), data
