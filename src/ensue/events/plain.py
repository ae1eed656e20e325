"""What an engine remembers as plain data: terms once each, and columns packed into text."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import compress, decompress

import numpy as np

from ensue.events.occurrences import Column, Occurrences
from ensue.query.dataset import column_of_terms

Decode = Callable[[Sequence[int]], "list[str | None]"]
Encode = Callable[[Sequence[str]], "list[int]"]
_QUICKLY = 1
"""How hard to compress: it is written at every step."""


def packed(column: Column) -> str:
    """A column of integers as text.

    >>> unpacked(packed(np.array([3, -1]))).tolist()
    [3, -1]
    """
    return b64encode(compress(column.astype("<i8").tobytes(), _QUICKLY)).decode()


def unpacked(text: str) -> Column:
    """The column that `packed` made a text of."""
    return np.frombuffer(decompress(b64decode(text)), "<i8").copy()


def plain_rows(rows: Occurrences, decode: Decode) -> dict[str, Any]:
    """Rows in terms, for `rows_of`."""
    columns: dict[str, Any] = {}
    for name, column in rows.columns.items():
        if name[0] in "@#":
            columns[name] = packed(column)
        else:
            distinct, places = np.unique(column, return_inverse=True)
            columns[name] = [decode(distinct.tolist()), packed(places)]
    return {"columns": columns, "times": [packed(each) for each in (rows.start, rows.end, rows.order)]}


def rows_of(plain: Mapping[str, Any], encode: Encode) -> Occurrences:
    """The rows that `plain_rows` made plain data of."""

    def column(kept: Any) -> Column:
        if isinstance(kept, str):
            return unpacked(kept)
        terms, places = kept
        return column_of_terms(terms, encode)[unpacked(places)]

    columns = {name: column(kept) for name, kept in plain["columns"].items()}
    return Occurrences(columns, *map(unpacked, plain["times"]))
