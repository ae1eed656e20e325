"""A dictionary whose terms are in flat arrays: looked up, swept and put away many at once.

Texts that come as bytes become integers without becoming Python's first, and the arrays may lie in files
(`folder.py`). A single look-up costs more than in a `Dictionary`: this one is for batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensue.dictionary import DEFAULT_NESTING, FREED, Dictionary, MintKey
from ensue.maintain.kernel import termtable
from ensue.maintain.kernel.checksums import checksums
from ensue.maintain.kernel.columns import to_read
from ensue.maintain.kernel.folder import Folder
from ensue.maintain.kernel.layout import END, FULLEST, Array, grown
from ensue.maintain.kernel.marks import mark
from ensue.maintain.kernel.tables import move_all
from ensue.maintain.kernel.termtable import (
    AFTER_SWEEP,
    BYTES,
    FREE,
    FREE_COUNT,
    GARBAGE,
    NAMED,
    NONE,
    NUMBERS,
    REGISTERS,
)
from ensue.terms import Kind

_FEW = 1024
_FEW_BYTES = 32 * _FEW
_EMPTY = 8
"""Where there is room for so many times twice the texts that are left, memory is given back."""


class Table(NamedTuple):
    """Everything that is known of the terms but what they were minted from."""

    heap: Array
    starts: Array
    sizes: Array
    slots: Array
    kinds: Array
    depths: Array
    pinned: Array
    registers: Array


class TermsImage(NamedTuple):
    """All terms of a dictionary with their integers, as data."""

    table: Table
    minted: dict[MintKey, int]
    sources: dict[str, int]


def _new_table() -> Table:
    registers = np.zeros(REGISTERS, np.int64)
    registers[NUMBERS], registers[FREE] = 1, END
    return Table(
        heap=np.zeros(_FEW_BYTES, np.uint8),
        starts=np.zeros(_FEW, np.int64),
        sizes=np.full(_FEW, NONE, np.int32),
        slots=np.zeros(2 * _FEW, np.uint64),
        kinds=np.full(_FEW, FREED, np.uint8),
        depths=np.zeros(_FEW, np.uint8),
        pinned=np.zeros(_FEW, np.bool_),
        registers=registers,
    )


class FlatDictionary(Dictionary):
    """A two-way map between terms and small integers, in flat arrays.

    >>> d = FlatDictionary()
    >>> d.encode_all(["<urn:a>", '"x"', "<urn:a>"]), d.decode(2), d.kind(2).name
    ([1, 2, 1], '"x"', 'PLAIN')
    >>> d.sweep(used=[[2]]), "<urn:a>" in d, len(d)
    (1, False, 1)
    """

    def __init__(self, nesting: int = DEFAULT_NESTING) -> None:
        super().__init__(nesting)
        self._set(_new_table())

    def _set(self, table: Table) -> None:
        self._table = table
        # Attributes of their own, since the kernel looks whether they are others than before.
        self.kinds, self.depths = table.kinds, table.depths  # type: ignore[assignment]

    def __len__(self) -> int:
        registers = self._table.registers
        return int(registers[NUMBERS] - 1 - registers[FREE_COUNT])

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self._find(_bytes_of(term)) > 0

    # -- to integers -------------------------------------------------------------------------------

    def encode(self, term: str) -> int:
        """The integer of a term, a new one if the term is new."""
        text = _bytes_of(term)
        return self._find(text) or int(self.encode_texts(text, _cuts([len(text)]))[0])

    def encode_all(self, terms: Sequence[str]) -> list[int]:
        """The integers of terms, new ones for those that are new."""
        texts = [term.encode() for term in terms]
        cuts = _cuts(list(map(len, texts)))
        return self.encode_texts(_readable(b"".join(texts)), cuts).tolist()  # type: ignore[no-any-return]

    def encode_texts(self, text: Array, cuts: Array) -> NDArray[np.int32]:
        """The same for terms in bytes that lie one after the other between `cuts`.

        >>> text, cuts = np.frombuffer(b"<urn:b><urn:a>", np.uint8), np.array([0, 7, 14], np.int32)
        >>> FlatDictionary().encode_texts(text, cuts).tolist()
        [1, 2]
        """
        text, cuts = to_read(text), to_read(cuts)
        hashes, numbers = hashes_of(text, cuts), np.empty(len(cuts) - 1, np.int32)
        self._reserve(len(numbers), len(text))
        t = self._table
        termtable.number_all(
            text, cuts, hashes, numbers, t.heap, t.starts, t.sizes, t.slots, t.kinds, t.registers
        )
        return numbers

    def knows_texts(self, text: Array, cuts: Array, hashes: Array, asked: Array) -> NDArray[np.bool_]:
        """Which of some terms in bytes are there; of those alone that are asked for, by a mask.

        >>> text, cuts = np.frombuffer(b"<urn:b><urn:a>", np.uint8), np.array([0, 7, 14], np.int32)
        >>> one = FlatDictionary()
        >>> one.encode("<urn:a>")
        1
        >>> one.knows_texts(text, cuts, hashes_of(text, cuts), np.array([True, True])).tolist()
        [False, True]
        """
        found, t = np.zeros(len(hashes), np.bool_), self._table
        given = (to_read(each) for each in (text, cuts, hashes, asked))
        termtable.find_all(*given, found, t.heap, t.starts, t.sizes, t.slots)
        return found

    def _keep(self, numbers: list[int]) -> None:
        self._table.pinned[numbers] = True

    def pin_all(self) -> None:
        """Keep every term that is known now, for good."""
        self._table.pinned[1 : self._table.registers[NUMBERS]] = True

    def fingerprint(self) -> bytes:
        """The same for dictionaries that know the same terms by the same integers."""
        t = self._table
        numbers, used = t.registers[NUMBERS], t.registers[BYTES]
        digest = blake2b(t.heap[:used].tobytes(), digest_size=16)
        for column in (t.starts, t.sizes, t.kinds):
            digest.update(column[:numbers].tobytes())
        return digest.digest()

    def _find(self, text: Array) -> int:
        t = self._table
        return int(termtable.find(text, t.heap, t.starts, t.sizes, t.slots))

    # -- and back ----------------------------------------------------------------------------------

    def decode(self, number: int) -> str:
        """The term of an integer. Raises KeyError for one that stands for nothing."""
        t = self._table
        if not 0 < number < t.registers[NUMBERS] or t.kinds[number] == FREED:
            raise KeyError(number)
        if t.sizes[number] == NONE:
            self._give_label(number)
            t = self._table
        start = int(t.starts[number])
        return t.heap[start : start + int(t.sizes[number])].tobytes().decode()

    def decode_all(self, numbers: Sequence[int]) -> list[str | None]:
        """The terms of integers, None for 0."""
        text, cuts = self._texts(numbers)
        whole, ends = text.tobytes(), cuts.tolist()
        return [whole[a:b].decode() if b > a else None for a, b in pairwise(ends)]

    def checksums(self, numbers: Sequence[int]) -> Any:
        """The CRC-32 of the texts of integers, as an array."""
        text, cuts = self._texts(numbers)
        return checksums(text, cuts.astype(np.int32), np.arange(len(cuts) - 1))

    def _texts(self, numbers: Sequence[int]) -> tuple[Array, Array]:
        """The texts of integers one after the other, and where each begins and ends."""
        wanted = np.asarray(numbers, np.int32)
        for number in np.unique(wanted[self._table.sizes[wanted] == NONE]).tolist():
            if number:
                self.decode(number)
        t = self._table
        cuts = np.empty(len(wanted) + 1, np.int64)
        text = np.empty(int(t.sizes[wanted].clip(0).sum(dtype=np.int64)), np.uint8)
        termtable.gather(wanted, t.heap, t.starts, t.sizes, cuts, text)
        return text, cuts

    def _give_label(self, number: int) -> None:
        text = _bytes_of(self._minted_label(self._mint_keys[number]))
        self._reserve(1, len(text))
        t = self._table
        termtable.name(number, text, t.heap, t.starts, t.sizes, t.slots, t.registers)

    # -- minted nodes, and giving back -------------------------------------------------------------

    @property
    def has_minted(self) -> bool:
        """Whether there are nodes that rules made: what they were made from is not in the arrays."""
        return bool(self._minted)

    def _take_all(self, kind: Kind, count: int) -> Sequence[int]:
        self._reserve(count, 0)
        numbers = np.empty(count, np.int32)
        termtable.take_all(numbers, self._table.starts, self._table.registers)
        self._table.kinds[numbers] = kind
        return numbers.tolist()

    @property
    def wants_sweep(self) -> bool:
        """Whether the terms have doubled since the last sweep, so that one pays."""
        return len(self) > 2 * int(self._table.registers[AFTER_SWEEP]) + 10_000

    def sweep(self, used: Iterable[Iterable[int]]) -> int:
        """Free every term that is neither pinned nor in one of the columns `used`; say how many."""
        t = self._table
        keep = t.pinned.copy()
        for column in used:
            mark(keep, np.asarray(column, np.int32))
        if self._minted:
            self._keep_arguments(keep)
        dropped = int(
            termtable.drop_unused(keep, t.heap, t.starts, t.sizes, t.slots, t.kinds, t.depths, t.registers)
        )
        for number in [number for number in self._mint_keys if not keep[number]]:
            del self._minted[self._mint_keys.pop(number)]
        # Texts move when more come than there is room for, once for many sweeps; unless most is empty.
        room = max(_FEW_BYTES, 2 * int(t.registers[BYTES] - t.registers[GARBAGE]))
        if _EMPTY * room < len(t.heap):
            self._move_texts(room)
        self.generation += 1
        t.registers[AFTER_SWEEP] = len(self)
        return dropped

    def _keep_arguments(self, keep: Array) -> None:
        """Mark what kept nodes were minted from."""
        marked = set(np.flatnonzero(keep).tolist())
        for number in list(marked):
            self._keep_mint_arguments(number, marked)
        keep[np.array(sorted(marked), np.int64)] = True

    # -- room --------------------------------------------------------------------------------------

    def _reserve(self, terms: int, size: int) -> None:
        """Make room for so many more terms with so many bytes."""
        t = self._table
        numbers = int(t.registers[NUMBERS]) + terms
        if numbers > len(t.starts):
            room = 2 * numbers
            t = t._replace(
                starts=grown(t.starts, room),
                sizes=grown(t.sizes, room, NONE),
                kinds=grown(t.kinds, room, FREED),
                depths=grown(t.depths, room),
                pinned=grown(t.pinned, room),
            )
        named = int(t.registers[NAMED]) + terms
        if named > len(t.slots) * FULLEST:
            slots = np.zeros(int(2 * named / FULLEST), np.uint64)
            move_all(t.slots, slots)
            t = t._replace(slots=slots)
        if t is not self._table:
            self._set(t)
        if int(t.registers[BYTES]) + size > len(t.heap):
            self._move_texts(2 * (int(t.registers[BYTES]) - int(t.registers[GARBAGE]) + size))

    def _move_texts(self, room: int) -> None:
        t = self._table
        heap = np.zeros(room, np.uint8)
        termtable.move_texts(t.heap, heap, t.starts, t.sizes, t.kinds, t.registers)
        self._set(t._replace(heap=heap))

    # -- putting away ------------------------------------------------------------------------------

    def park(self, folder: Folder) -> None:
        """Let the arrays lie in a folder from now on."""
        self._set(Table(*map(folder.keep, Table._fields, self._table)))

    def adopt(self, folder: Folder) -> None:
        """Go on with the arrays of a folder. What was known by integers before is not known any more."""
        self._set(Table(*map(folder.find, Table._fields)))
        self._minted, self._mint_keys = {}, {}
        self.generation += 1

    def image(self) -> TermsImage:
        """What is known now, to be sent to another process."""
        return TermsImage(self._table, self._minted, self._sources)

    def restore(self, image: TermsImage) -> None:
        """Know the terms of another dictionary by the same integers, in arrays that are ours from now on."""
        self._set(image.table)
        self._minted, self._sources = dict(image.minted), dict(image.sources)
        self._mint_keys = {number: key for key, number in image.minted.items()}
        self.generation += 1


def hashes_of(text: Array, cuts: Array) -> NDArray[np.uint32]:
    """The hashes of texts that lie one after the other between `cuts`."""
    hashes = np.empty(len(cuts) - 1, np.uint32)
    termtable.hash_all(to_read(text), to_read(cuts), hashes)
    return hashes


def _bytes_of(term: str) -> Array:
    return _readable(term.encode())


def _readable(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8)


def _cuts(sizes: list[int]) -> Array:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
