"""The compiled half of `FlatDictionary`: terms as bytes one after the other, and a hash table over them.

Arguments are the arrays of `flatdictionary.Table`. A number that stands for nothing is in a list of free
ones, linked through `starts`.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ensue.dictionary import FREED
from ensue.maintain.kernel import view
from ensue.maintain.kernel.bytewise import hash_of, same
from ensue.maintain.kernel.compiling import compiled, inlined, part
from ensue.maintain.kernel.layout import END
from ensue.maintain.kernel.tables import (
    AHEAD,
    empty_slot,
    find_slot_of,
    home_of,
    row_in,
    slot_of,
)
from ensue.terms import Kind

# Registers of a table.
NUMBERS = 0
"""How many numbers were ever used: beyond, nothing stands for anything."""
FREE, FREE_COUNT = 1, 2
BYTES, GARBAGE = 3, 4
"""How much of the heap is used, and how much of that is of terms that have gone."""
NAMED = 5
"""How many slots are taken."""
AFTER_SWEEP = 6
"""How many terms the last sweep left."""
REGISTERS = 7

NONE = -1
"""The size of a number's text if it has none: it is free, or a minted node that nobody asked the label of."""

_IRI, _BLANK, _TRIPLE, _PLAIN, _TYPED = map(int, Kind)
_QUOTE, _UNDERSCORE, _LESS, _GREATER = b'"_<>'
_HALF = np.uint64(32)
_FREE_SLOT = np.uint64(0)


@inlined
def _hash(text, start, end):
    return hash_of(text, start, end) >> _HALF


@inlined
def _kind(text, start, end):
    """What a term is, from its first and last bytes (see `ensue.terms.kind_of`)."""
    first = text[start]
    if first == _QUOTE:
        return _TYPED if text[end - 1] == _GREATER else _PLAIN
    if first == _UNDERSCORE:
        return _BLANK
    return _TRIPLE if end - start > 1 and text[start + 1] == _LESS else _IRI


@part
def _locate(heap, starts, sizes, slots, h, text, start, end):
    """Where a text has its slot, or `~` of the free slot for it."""
    at = home_of(h, len(slots))
    while slots[at] != _FREE_SLOT:
        if slots[at] >> _HALF == h:
            number = row_in(slots[at])
            begin = starts[number]
            if same(heap, begin, begin + sizes[number], text, start, end):
                return at
        at += 1
        if at == len(slots):
            at = 0
    return ~at


@compiled
def hash_all(text, cuts, hashes):
    """The hash of each text."""
    for i in range(len(hashes)):
        hashes[i] = _hash(text, np.int64(cuts[i]), np.int64(cuts[i + 1]))


@compiled
def number_all(text, cuts, hashes, numbers, heap, starts, sizes, slots, kinds, registers):
    """The number of each text, a new one where it is new. There is room for all."""
    for i in range(len(hashes)):
        ahead = min(i + AHEAD, len(hashes) - 1)
        view.prefetch(slots, home_of(np.uint64(hashes[ahead]), len(slots)))
        h, start, end = np.uint64(hashes[i]), np.int64(cuts[i]), np.int64(cuts[i + 1])
        at = _locate(heap, starts, sizes, slots, h, text, start, end)
        if at >= 0:
            numbers[i] = row_in(slots[at])
            continue
        number = _take(starts, registers)
        kinds[number] = _kind(text, start, end)
        _name(heap, starts, sizes, registers, number, text, start, end)
        slots[~at] = slot_of(h, number)
        numbers[i] = number


@compiled
def find(text, heap, starts, sizes, slots):
    """The number of a text; 0 if there is none."""
    at = _locate(heap, starts, sizes, slots, _hash(text, 0, len(text)), text, 0, len(text))
    return row_in(slots[at]) if at >= 0 else 0


@compiled
def find_all(text, cuts, hashes, asked, found, heap, starts, sizes, slots):
    """Which of the texts that are asked for have a number."""
    for i in range(len(hashes)):
        ahead = min(i + AHEAD, len(hashes) - 1)
        view.prefetch(slots, home_of(np.uint64(hashes[ahead]), len(slots)))
        if asked[i]:
            h, start, end = np.uint64(hashes[i]), np.int64(cuts[i]), np.int64(cuts[i + 1])
            found[i] = _locate(heap, starts, sizes, slots, h, text, start, end) >= 0


@compiled
def take_all(numbers, starts, registers):
    """So many numbers that stand for nothing yet. There is room for them."""
    for i in range(len(numbers)):
        numbers[i] = _take(starts, registers)


@inlined
def _take(starts, registers):
    number = registers[FREE]
    if number != END:
        registers[FREE] = starts[number]
        registers[FREE_COUNT] -= 1
        return number
    registers[NUMBERS] += 1
    return registers[NUMBERS] - 1


@compiled
def name(number, text, heap, starts, sizes, slots, registers):
    """Let a number that has no text have this one, which no other has. There is room for it."""
    h = _hash(text, 0, len(text))
    at = _locate(heap, starts, sizes, slots, h, text, 0, len(text))
    _name(heap, starts, sizes, registers, number, text, 0, len(text))
    slots[~at] = slot_of(h, number)


@inlined
def _name(heap, starts, sizes, registers, number, text, start, end):
    at = registers[BYTES]
    for k in range(end - start):
        heap[at + k] = text[start + k]
    starts[number], sizes[number] = at, end - start
    registers[BYTES] = at + end - start
    registers[NAMED] += 1


@compiled
def drop_unused(used, heap, starts, sizes, slots, kinds, depths, registers):
    """Free every number that is not marked as used; how many these were."""
    dropped = 0
    for number in range(1, registers[NUMBERS]):
        if kinds[number] == FREED or used[number]:
            continue
        if sizes[number] != NONE:
            start, end = starts[number], starts[number] + sizes[number]
            h = _hash(heap, start, end)
            empty_slot(slots, 0, len(slots), find_slot_of(slots, 0, len(slots), h, number))
            registers[GARBAGE] += sizes[number]
            registers[NAMED] -= 1
        kinds[number], depths[number], sizes[number] = FREED, 0, NONE
        starts[number] = registers[FREE]
        registers[FREE] = number
        dropped += 1
    registers[FREE_COUNT] += dropped
    return dropped


@compiled
def move_texts(heap, larger, starts, sizes, kinds, registers):
    """Move the texts that are there into another heap, without what lies between."""
    at = 0
    for number in range(1, registers[NUMBERS]):
        if kinds[number] == FREED or sizes[number] == NONE:
            continue
        start = starts[number]
        for k in range(sizes[number]):
            larger[at + k] = heap[start + k]
        starts[number] = at
        at += sizes[number]
    registers[BYTES], registers[GARBAGE] = at, 0


@compiled
def gather(numbers, heap, starts, sizes, cuts, text):
    """Put the texts of numbers one after the other; where each begins and ends."""
    at = 0
    for i in range(len(numbers)):
        cuts[i] = at
        size, start = max(0, sizes[numbers[i]]), starts[numbers[i]]
        for k in range(size):
            text[at + k] = heap[start + k]
        at += size
    cuts[len(numbers)] = at
