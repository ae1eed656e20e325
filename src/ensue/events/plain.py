"""What an engine remembers as plain data: terms once each, and columns packed into text."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import compress, decompress

import numpy as np

from ensue.events.network import Network
from ensue.events.occurrences import Column, Occurrences
from ensue.query.dataset import column_of_terms

Decode = Callable[[Sequence[int]], "list[str | None]"]
Encode = Callable[[Sequence[str]], "list[int]"]
_QUICKLY = 1
"""How hard to compress: whoever writes it down is waited for."""


def packed(column: Column) -> str:
    """A column of integers as text: what each is more than the least, in as few bytes as that takes.

    >>> unpacked(packed(np.array([3, -1]))).tolist(), unpacked(packed(np.array([-(2**63), 5]))).tolist()
    ([3, -1], [-9223372036854775808, 5])
    """
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    kind = np.min_scalar_type(high - low)
    # Where a difference is more than a signed number holds, it wraps around, and back again.
    more = (column.astype(np.int64) - np.int64(low)).astype(kind)
    return f"{low} {kind.char} {b64encode(compress(more.tobytes(), _QUICKLY)).decode()}"


def unpacked(text: str) -> Column:
    """The column that `packed` made a text of."""
    low, kind, data = text.split(" ")
    more = np.frombuffer(decompress(b64decode(data)), np.dtype(kind))
    return more.astype(np.int64) + np.int64(int(low))


def plain_rows(rows: Occurrences, decode: Decode) -> dict[str, Any]:
    """Rows in terms, for `rows_of`."""
    columns: dict[str, Any] = {}
    for name, column in rows.columns.items():
        if name[0] in "@#":
            columns[name] = packed(column)
        else:
            used = np.zeros(int(column.max(initial=0)) + 1, np.bool_)
            used[column] = True
            places = (np.cumsum(used) - 1)[column]
            columns[name] = [decode(np.flatnonzero(used).tolist()), packed(places)]
    return {"columns": columns, "times": [packed(each) for each in (rows.start, rows.end, rows.order)]}


def plain_network(network: Network, decode: Decode) -> dict[str, Any]:
    """All that is remembered for an expression, for `restore`."""
    memories = network.root.memories()
    return {
        "memories": [[plain_rows(memory.rows, decode), packed(memory.until)] for memory in memories],
        "tables": [plain_rows(rows, decode) for rows in network.tables],
    }


def restore(network: Network, plain: Mapping[str, Any], encode: Encode) -> None:
    """Let a network remember what another did."""
    for memory, (rows, until) in zip(network.root.memories(), plain["memories"], strict=True):
        memory.restore(rows_of(rows, encode), unpacked(until))
    network.put([rows_of(rows, encode) for rows in plain["tables"]])


def rows_of(plain: Mapping[str, Any], encode: Encode) -> Occurrences:
    """The rows that `plain_rows` made plain data of."""

    def column(kept: Any) -> Column:
        if isinstance(kept, str):
            return unpacked(kept)
        terms, places = kept
        return column_of_terms(terms, encode)[unpacked(places)]

    columns = {name: column(kept) for name, kept in plain["columns"].items()}
    return Occurrences(columns, *map(unpacked, plain["times"]))
