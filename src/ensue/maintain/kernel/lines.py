"""Lines into numbers, in one go: which lines are plain, their times, and each distinct term once.

Of a line that cannot matter (`sieve.py`) the time alone is kept, and its terms get no numbers.

A line is plain that is spelled as Ensue writes it: `time TAB s p o .` or `time TAB s p o graph .`, with one
space between terms and before the dot, and terms that are canonical text as they stand (`plainterms.py`).
Of other lines nothing is said but that they are not. Lines of N-Triples and N-Quads have no time and no tab.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.bytewise import hash_of, same
from ensue.maintain.kernel.columns import to_read
from ensue.maintain.kernel.compiling import compiled, inlined, part
from ensue.maintain.kernel.plainterms import NOT_PLAIN, iri_end, label_end, literal_end
from ensue.maintain.kernel.sieve import EVERYTHING, Sieve, passes

NO_GRAPH = -1
"""The number of the graph where a line names none."""

_COLUMNS = 4
_MOST_DIGITS = 18
"""So many digits always fit into 64 bits."""
_TAB, _NEW_LINE, _RETURN, _SPACE, _QUOTE, _MINUS, _DOT, _ZERO, _NINE, _LESS, _UNDERSCORE = b'\t\n\r "-.09<_'
_HALF = np.uint64(32)

Numbers = NDArray[np.int32]


class Scanned(NamedTuple):
    """What lines say; for a line that is not plain, its time means nothing."""

    plain: NDArray[np.bool_]
    times: NDArray[np.int64]
    rows: Numbers
    """The plain lines that passed the sieve, by how many plain ones are before them."""
    numbers: Numbers
    """Of subject, predicate, object and graph of these, in four rows."""
    offsets: Numbers
    """Where each distinct term begins in `text`: one number more than terms."""
    text: NDArray[np.uint8]
    blank: bool
    """Whether there are blank nodes."""


def scan(data: NDArray[np.uint8], cuts: Numbers, sieve: Sieve = EVERYTHING, *, timed: bool = True) -> Scanned:
    r"""Look at the lines between `cuts`, one number more than lines; each may have its end or not.

    Where they are not `timed`, times mean nothing.

    >>> lines = [b"5\t<urn:a> <urn:p> <urn:a> .\n", b"6\t<urn:a>  <urn:p> <urn:b> .\n"]
    >>> text, cuts = np.frombuffer(b"".join(lines), np.uint8), np.array([0, 28, 57], np.int32)
    >>> found = scan(text, cuts)
    >>> found.plain.tolist(), found.times[0].item(), found.numbers[:, 0].tolist(), bytes(found.text)
    ([True, False], 5, [0, 1, 0, -1], b'<urn:a><urn:p>')
    >>> from ensue.maintain.kernel.sieve import sieve_of
    >>> scan(text, cuts, sieve_of([(None, "<urn:q>", None)])).rows.tolist()
    []
    """
    lines = len(cuts) - 1
    data, cuts = to_read(data), to_read(cuts)
    plain, times = np.zeros(lines, np.bool_), np.empty(lines, np.int64)
    rows, numbers = np.empty(lines, np.int32), np.empty((_COLUMNS, lines), np.int32)
    # At most half of it is used, so that a free slot is soon found.
    table = np.full(1 << (2 * _COLUMNS * lines).bit_length(), -1, np.int32)
    spans, hashes = np.empty((_COLUMNS * lines, 2), np.int32), np.empty(_COLUMNS * lines, np.uint32)
    found, ends = np.zeros(3, np.int64), np.empty((_COLUMNS, 2), np.int32)
    kept = _scan(data, cuts, timed, sieve, plain, times, rows, numbers, table, spans, hashes, found, ends)
    terms, size, blank = found.tolist()
    offsets, text = np.empty(terms + 1, np.int32), np.empty(size, np.uint8)
    _gather(data, spans, offsets, text)
    return Scanned(plain, times, rows[:kept], numbers[:, :kept], offsets, text, bool(blank))


@compiled
def _scan(data, cuts, timed, sieve, plain, times, rows, numbers, table, spans, hashes, found, ends):
    """How many lines were kept. Put down how many terms these have, their bytes, and whether one is blank."""
    kept = before = 0
    for line in range(len(plain)):
        terms = _read(data, cuts[line], cuts[line + 1], timed, times, line, ends)
        if terms == 0:
            continue
        plain[line] = True
        if len(sieve) == 0 or passes(sieve, data, ends[1, 0], ends[1, 1], ends[2, 0], ends[2, 1]):
            for column in range(terms):
                begin, end = ends[column, 0], ends[column, 1]
                numbers[column, kept] = _number(data, begin, end, table, spans, hashes, found)
            if terms == _COLUMNS - 1:
                numbers[_COLUMNS - 1, kept] = NO_GRAPH
            rows[kept] = before
            kept += 1
        before += 1
    return kept


@part
def _read(data, at, end, timed, times, line, ends):
    """How many terms a plain line has, and where they begin and end; 0 if it is not plain."""
    if end > at and data[end - 1] == _NEW_LINE:
        end -= 1
    if end > at and data[end - 1] == _RETURN:
        end -= 1
    if timed:
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
    mixed = hash_of(data, begin, end)
    short = np.uint32(mixed >> _HALF)
    slot = np.int64(mixed) & (len(table) - 1)
    while table[slot] >= 0:
        known = table[slot]
        if hashes[known] == short and same(data, spans[known, 0], spans[known, 1], data, begin, end):
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
