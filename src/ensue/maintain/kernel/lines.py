"""Timed lines into numbers, in one go: which lines are plain, their times, and each distinct term once.

A line is plain that is spelled as Ensue writes it: `time TAB s p o .` or `time TAB s p o graph .`, with one
space between terms and before the dot, and terms that are canonical text as they stand (`plainterms.py`).
Of other lines nothing is said but that they are not.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.columns import to_read
from ensue.maintain.kernel.compiling import compiled, inlined, part
from ensue.maintain.kernel.plainterms import NOT_PLAIN, iri_end, label_end, literal_end

NO_GRAPH = -1
"""The number of the graph where a line names none."""

_COLUMNS = 4
_MOST_DIGITS = 18
"""So many digits always fit into 64 bits."""
_TAB, _NEW_LINE, _RETURN, _SPACE, _QUOTE, _MINUS, _DOT, _ZERO, _NINE, _LESS, _UNDERSCORE = b'\t\n\r "-.09<_'
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT, _TURN = np.uint64(32), np.uint64(29)

Numbers = NDArray[np.int32]


class Scanned(NamedTuple):
    """What lines say; for a line that is not plain, its time and numbers mean nothing."""

    plain: NDArray[np.bool_]
    times: NDArray[np.int64]
    numbers: Numbers
    """Of subject, predicate, object and graph, in four rows."""
    offsets: Numbers
    """Where each distinct term begins in `text`: one number more than terms."""
    text: NDArray[np.uint8]
    blank: bool
    """Whether there are blank nodes."""


def scan(data: NDArray[np.uint8], cuts: Numbers) -> Scanned:
    r"""Look at the lines between `cuts`, one number more than lines; each may have its end or not.

    >>> text = b"5\t<urn:a> <urn:p> <urn:a> .\n6\t<urn:a> <urn:p>  <urn:b> .\n"
    >>> found = scan(np.frombuffer(text, np.uint8), np.array([0, 28, 57], np.int32))
    >>> found.plain.tolist(), found.times[0].item(), found.numbers[:, 0].tolist(), bytes(found.text)
    ([True, False], 5, [0, 1, 0, -1], b'<urn:a><urn:p>')
    """
    lines = len(cuts) - 1
    data, cuts = to_read(data), to_read(cuts)
    plain, times = np.zeros(lines, np.bool_), np.empty(lines, np.int64)
    numbers = np.empty((_COLUMNS, lines), np.int32)
    # At most half of it is used, so that a free slot is soon found.
    table = np.full(1 << (2 * _COLUMNS * lines).bit_length(), -1, np.int32)
    spans, hashes = np.empty((_COLUMNS * lines, 2), np.int32), np.empty(_COLUMNS * lines, np.uint32)
    found, ends = np.zeros(3, np.int64), np.empty((_COLUMNS, 2), np.int32)
    _scan(data, cuts, plain, times, numbers, table, spans, hashes, found, ends)
    terms, size, blank = found.tolist()
    offsets, text = np.empty(terms + 1, np.int32), np.empty(size, np.uint8)
    _gather(data, spans, offsets, text)
    return Scanned(plain, times, numbers, offsets, text, bool(blank))


@compiled
def _scan(data, cuts, plain, times, numbers, table, spans, hashes, found, ends):
    """Say how many distinct terms there are, their bytes, and whether one is a blank node."""
    for line in range(len(plain)):
        terms = _read(data, cuts[line], cuts[line + 1], times, line, ends)
        plain[line] = terms > 0
        for column in range(terms):
            begin, end = ends[column, 0], ends[column, 1]
            numbers[column, line] = _number(data, begin, end, table, spans, hashes, found)
        if terms == _COLUMNS - 1:
            numbers[_COLUMNS - 1, line] = NO_GRAPH


@part
def _read(data, at, end, times, line, ends):
    """How many terms a plain line has, and where they begin and end; 0 if it is not plain."""
    if end > at and data[end - 1] == _NEW_LINE:
        end -= 1
    if end > at and data[end - 1] == _RETURN:
        end -= 1
    at = _time_end(data, at, end, times, line)
    if at == NOT_PLAIN:
        return 0
    for column in range(_COLUMNS):
        if column == _COLUMNS - 1 and end - at == 1 and data[at] == _DOT:
            return column
        stop = _term_end(data, at, end, column)
        if stop == NOT_PLAIN or stop >= end or data[stop] != _SPACE:
            return 0
        ends[column, 0], ends[column, 1] = at, stop
        at = stop + 1
    return _COLUMNS if end - at == 1 and data[at] == _DOT else 0


@part
def _time_end(data, at, end, times, line):
    """Where the statement begins."""
    negative = at < end and data[at] == _MINUS
    if negative:
        at += 1
    begin, time = at, np.int64(0)
    while at < end and _ZERO <= data[at] <= _NINE:
        time = time * 10 + np.int64(data[at]) - _ZERO
        at += 1
    if not 1 <= at - begin <= _MOST_DIGITS or at >= end or data[at] != _TAB:
        return NOT_PLAIN
    times[line] = -time if negative else time
    return at + 1


@inlined
def _term_end(data, at, end, column):
    """Where the term ends that is here, if it may be in this column."""
    if at >= end:
        return NOT_PLAIN
    if data[at] == _LESS:
        return iri_end(data, at, end)
    if data[at] == _UNDERSCORE and column != 1:
        return label_end(data, at, end)
    if data[at] == _QUOTE and column == 2:
        return literal_end(data, at, end)
    return NOT_PLAIN


@inlined
def _number(data, begin, end, table, spans, hashes, found):
    """The number of a term; a new one if it was not met before."""
    mixed = _hash(data, begin, end)
    short = np.uint32(mixed >> _SHIFT)
    slot = np.int64(mixed) & (len(table) - 1)
    while table[slot] >= 0:
        known = table[slot]
        if hashes[known] == short and _same(data, spans[known, 0], spans[known, 1], begin, end):
            return known
        slot = (slot + 1) & (len(table) - 1)
    number = found[0]
    table[slot] = number
    hashes[number] = short
    spans[number, 0], spans[number, 1] = begin, end
    found[0] += 1
    found[1] += end - begin
    found[2] |= data[begin] == _UNDERSCORE
    return number


@inlined
def _word(data, at):
    """Eight bytes from here on. The compiler makes one load of it."""
    first = np.uint64(at)
    word = np.uint64(0)
    for k in (0, 1, 2, 3, 4, 5, 6, 7):
        word |= np.uint64(data[first + np.uint64(k)]) << np.uint64(8 * k)
    return word


@inlined
def _hash(data, begin, end):
    """Eight bytes at a time. What differs in high bits alone is turned down before it is multiplied away."""
    mixed = np.uint64(end - begin)
    at = begin
    while at + 8 <= end:
        mixed = (mixed ^ _word(data, at)) * _PRIME
        mixed ^= mixed >> _TURN
        at += 8
    while at < end:
        mixed = (mixed ^ np.uint64(data[np.uint64(at)])) * _PRIME
        at += 1
    mixed = (mixed ^ mixed >> _SHIFT) * _PRIME
    return mixed ^ mixed >> _SHIFT


@inlined
def _same(data, one, one_end, two, two_end):
    if one_end - one != two_end - two:
        return False
    while one + 8 <= one_end:
        if _word(data, one) != _word(data, two):
            return False
        one += 8
        two += 8
    while one < one_end:
        if data[np.uint64(one)] != data[np.uint64(two)]:
            return False
        one += 1
        two += 1
    return True


@compiled
def _gather(data, spans, offsets, text):
    """The distinct terms one after the other."""
    to = 0
    for number in range(len(offsets) - 1):
        offsets[number] = to
        for at in range(spans[number, 0], spans[number, 1]):
            text[to] = data[at]
            to += 1
    offsets[len(offsets) - 1] = to
