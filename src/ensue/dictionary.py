"""Terms to integers and back: the one boundary between text and the engine.

A stream brings new terms for ever, so integers that nothing uses any more are given back
(`sweep`) and handed out again. Integer 0 is the default graph's name and no term at all.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, cast
from zlib import crc32

from ensue.errors import UsageError
from ensue.maintain.budget import Meter
from ensue.terms import Kind, kind_of

DEFAULT_NESTING = 3
"""How deep minted nodes may nest: a node minted from a node minted from a node."""

_DEEPEST = 255
"""A depth takes a byte."""

FREED = 255
"""The kind of an integer that stands for no term at present."""

MintKey = bytes
"""What a node is minted by and from: integers of 32 bits, first the number of the source."""

INTEGERS = "i"
"""The type code of the integers in a `MintKey`."""


class Dictionary:
    """A two-way map between terms (canonical N-Triples text) and small integers.

    >>> d = Dictionary()
    >>> a = d.encode("<urn:a>")
    >>> a == d.encode("<urn:a>"), d.decode(a), d.kind(a).name
    (True, '<urn:a>', 'IRI')
    >>> d.sweep(used=[]), "<urn:a>" in d
    (1, False)
    """

    def __init__(self, nesting: int = DEFAULT_NESTING) -> None:
        if nesting > _DEEPEST:
            raise UsageError(f"minted nodes cannot nest {nesting} deep", hint=f"at most {_DEEPEST}")
        self.nesting = nesting
        self.meter = Meter()
        """How much may be derived by those who share this dictionary."""
        self.kinds = bytearray([FREED])
        """The kind of each integer, readable as a buffer by the kernel."""
        self.refused_mints = 0
        """How often the nesting bound kept a rule from minting."""
        self.generation = 0
        """Rises with each sweep: who remembers integers forgets them then."""
        self._ids: dict[str, int] = {}
        self._terms: list[str | None] = [None]
        self._free: list[int] = []
        self._pinned: set[int] = set()
        self.depths = bytearray([0])
        """How deep each integer's node nests: 0 if it was not minted. As readable as `kinds`."""
        self._sources: dict[str, int] = {}
        self._minted: dict[MintKey, int] = {}
        self._mint_keys: dict[int, MintKey] = {}
        self._size_after_sweep = 0

    def __len__(self) -> int:
        return len(self._terms) - 1 - len(self._free)

    def __contains__(self, term: object) -> bool:
        return term in self._ids

    def encode(self, term: str) -> int:
        """The integer of a term, a new one if the term is new."""
        found = self._ids.get(term)
        return self._add(term) if found is None else found

    def encode_all(self, terms: Sequence[str]) -> list[int]:
        """The integers of terms, new ones for those that are new.

        >>> d = Dictionary()
        >>> d.encode_all(["<urn:a>", '"x"', "<urn:a>"]), d.kind(2).name
        ([1, 2, 1], 'PLAIN')
        """
        found = list(map(self._ids.get, terms))
        if None not in found:
            return cast("list[int]", found)
        new = [term for term, known in zip(terms, found, strict=True) if known is None]
        self._add_all(list(dict.fromkeys(new)))
        return list(map(self._ids.__getitem__, terms))

    def pin(self, term: str) -> int:
        """Like `encode`, for terms that rules and plans name: a sweep never takes these."""
        return self.pin_terms([term])[0]

    def pin_terms(self, terms: Sequence[str]) -> list[int]:
        """The same for several terms."""
        numbers = self.encode_all(terms)
        self._keep(numbers)
        return numbers

    def _keep(self, numbers: list[int]) -> None:
        self._pinned.update(numbers)

    def decode(self, number: int) -> str:
        """The term of an integer. Raises KeyError for one that stands for nothing."""
        term = self._terms[number]
        if term is None:
            if number not in self._mint_keys:
                raise KeyError(number)
            term = self._terms[number] = self._minted_label(self._mint_keys[number])
            self._ids[term] = number
        return term

    def decode_all(self, numbers: Sequence[int]) -> list[str | None]:
        """The terms of integers, None for 0."""
        found = list(map(self._terms.__getitem__, numbers))
        if None in found:  # Also where a minted node has no label yet.
            found = [self.decode(number) if number else None for number in numbers]
        return found

    def checksums(self, numbers: Sequence[int]) -> Any:
        """The CRC-32 of the texts of integers, in a row: what says who owns them.

        >>> d = Dictionary()
        >>> d.checksums([d.encode("<urn:a>")]) == [crc32(b"<urn:a>")]
        True
        """
        return [crc32((term or "").encode()) for term in self.decode_all(numbers)]

    def kind(self, number: int) -> Kind:
        """What the term is."""
        return Kind(self.kinds[number])

    def mint(self, source: str, binding: tuple[int, ...]) -> int | None:
        """The node that the rule `source` makes for `binding`: always the same one.

        None, and counted, where that would nest minted nodes deeper than the bound.
        """
        key = array(INTEGERS, (self.source(source), *binding)).tobytes()
        depth = 1 + max(map(self.depths.__getitem__, binding), default=0)
        return self.mint_all([key], [depth])[0]

    def source(self, name: str) -> int:
        """The number of what mints: a rule, or a function that several rules share."""
        return self._sources.setdefault(name, len(self._sources))

    def mint_all(self, keys: Sequence[MintKey], depths: Sequence[int]) -> list[int | None]:
        """The node for each key, where `depths` say how deep a new one would nest."""
        found = list(map(self._minted.get, keys))
        if None in found:
            new = {k: depth for k, depth, known in zip(keys, depths, found, strict=True) if known is None}
            self._mint_new([(k, depth) for k, depth in new.items() if depth <= self.nesting])
            found = list(map(self._minted.get, keys))
            self.refused_mints += found.count(None)
        return found

    def _mint_new(self, new: Sequence[tuple[MintKey, int]]) -> None:
        numbers = self._take_all(Kind.BLANK, len(new))  # Labels are made when somebody asks for them.
        keys = [key for key, _ in new]
        self._minted.update(zip(keys, numbers, strict=True))
        self._mint_keys.update(zip(numbers, keys, strict=True))
        depths = self.depths
        for number, (_, depth) in zip(numbers, new, strict=True):
            depths[number] = depth

    def is_minted(self, number: int) -> bool:
        """Whether the term is a node that a rule made (such nodes bind no query variable)."""
        return self.depths[number] > 0

    def minted_from(self, number: int) -> tuple[str, tuple[int, ...]] | None:
        """Which rule (or function) made a node, and for which binding; None: no rule made it.

        >>> d = Dictionary()
        >>> node = d.mint("r", (d.encode("<urn:a>"),))
        >>> d.minted_from(node), d.minted_from(1)
        (('r', (1,)), None)
        """
        if number not in self._mint_keys:
            return None
        source, *binding = array(INTEGERS, self._mint_keys[number])
        return self._source_name(source), tuple(binding)

    @property
    def wants_sweep(self) -> bool:
        """Whether the terms have doubled since the last sweep, so that one pays."""
        return len(self) > 2 * self._size_after_sweep + 10_000

    def sweep(self, used: Iterable[Iterable[int]]) -> int:
        """Free every term that is neither pinned nor in one of the columns `used`; say how many."""
        keep = set(self._pinned)
        for column in used:
            # Of an array's own kind of integers a set would be slow to make.
            keep.update(column.tolist() if hasattr(column, "tolist") else column)
        for number in list(keep):
            self._keep_mint_arguments(number, keep)
        kinds = self.kinds
        dead = [n for n in range(1, len(self._terms)) if kinds[n] != FREED and n not in keep]
        for number in dead:
            self._drop(number)
        self.generation += 1
        self._size_after_sweep = len(self)
        return len(dead)

    def _keep_mint_arguments(self, number: int, keep: set[int]) -> None:
        # A minted node is known by what it was minted from, so that stays while the node does.
        if number in self._mint_keys:
            for argument in array(INTEGERS, self._mint_keys[number])[1:]:
                if argument not in keep:
                    keep.add(argument)
                    self._keep_mint_arguments(argument, keep)

    def _add(self, term: str) -> int:
        number = self._take(kind_of(term))
        self._terms[number] = term
        self._ids[term] = number
        return number

    def _add_all(self, terms: list[str]) -> None:
        numbers = self._take_all(Kind.IRI, len(terms))
        for number, term in zip(numbers, terms, strict=True):
            self._terms[number] = term
            if term[0] != "<" or term[1] == "<":  # Most are IRIs, and have their kind already.
                self.kinds[number] = kind_of(term)
        self._ids.update(zip(terms, numbers, strict=True))

    def _take(self, kind: Kind) -> int:
        """An integer that stands for nothing yet."""
        if self._free:
            number = self._free.pop()
            self.kinds[number] = kind
            return number
        return self._take_all(kind, 1)[0]

    def _take_all(self, kind: Kind, count: int) -> Sequence[int]:
        """So many integers that stand for nothing yet."""
        if count <= len(self._free):
            numbers = self._free[len(self._free) - count :]
            del self._free[len(self._free) - count :]
            for number in numbers:
                self.kinds[number] = kind
            return numbers
        first = len(self._terms)
        self._terms.extend([None] * count)
        if first + count > len(self.kinds):
            # New buffers, not resized ones: the kernel may be looking at the old.
            more = max(count, first)
            self.kinds = self.kinds + bytes([FREED]) * more
            self.depths = self.depths + bytes(more)
        self.kinds[first : first + count] = bytes([kind]) * count
        return range(first, first + count)

    def _drop(self, number: int) -> None:
        term = self._terms[number]
        if term is not None:
            del self._ids[term]
        self._terms[number] = None
        self.kinds[number] = FREED
        self._free.append(number)
        if number in self._mint_keys:
            del self._minted[self._mint_keys.pop(number)]
            self.depths[number] = 0

    def _minted_label(self, key: MintKey) -> str:
        # From the terms, not from their integers: the same in every shard and after a restart.
        source, *binding = array(INTEGERS, key)
        digest = blake2b(self._source_name(source).encode(), digest_size=16)
        for number in binding:
            digest.update(b"\0")
            digest.update(self.decode(number).encode())
        return f"_:mint{digest.hexdigest()}"

    def _source_name(self, source: int) -> str:
        return next(name for name, number in self._sources.items() if number == source)
