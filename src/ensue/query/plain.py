"""Facts and copies as plain data, in terms: what a query remembers, written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ensue.model import by_column
from ensue.query.arrivals import Arrival
from ensue.query.dataset import Columns

Decode = Callable[[Sequence[int]], list[str | None]]
Encode = Callable[[Sequence[str]], list[int]]


def plain_facts(facts: Columns, decode: Decode) -> list[Any]:
    """Columns of subjects, predicates, objects and stamps."""
    return [*(decode(column.tolist()) for column in (facts.s, facts.p, facts.o)), facts.stamp.tolist()]


def facts_of(plain: Sequence[Any], encode: Encode) -> Columns:
    """What `plain_facts` wrote down.

    >>> from ensue.dictionary import Dictionary
    >>> d, plain = Dictionary(), [["<urn:a>"], ["<urn:p>"], ["<urn:b>"], [5]]
    >>> plain_facts(facts_of(plain, d.encode_all), d.decode_all) == plain
    True
    """
    s, p, o = (np.array(encode(column), np.int32) for column in plain[:3])
    return Columns(s, p, o, np.array(plain[3], np.int64))


def plain_rows(rows: Sequence[Arrival], decode: Decode) -> list[Any]:
    """Columns of times, subjects, predicates, objects and graph names (None: the default graph)."""
    times, *terms = by_column(rows, 5)
    return [times, *map(decode, terms)]


def rows_of(plain: Sequence[Any], encode: Encode) -> list[Arrival]:
    """What `plain_rows` wrote down.

    >>> from ensue.dictionary import Dictionary
    >>> d, plain = Dictionary(), [[5], ["<urn:a>"], ["<urn:p>"], ["<urn:b>"], [None]]
    >>> plain_rows(rows_of(plain, d.encode_all), d.decode_all) == plain
    True
    """
    times, s, p, o, names = plain
    graphs = [encode([name])[0] if name else 0 for name in names]
    return list(zip(times, encode(s), encode(p), encode(o), graphs, strict=True))
