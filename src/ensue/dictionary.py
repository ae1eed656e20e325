"""Terms to integers and back: the one boundary between text and the engine.

A stream brings new terms for ever, so integers that nothing uses any more are given back
(`sweep`) and handed out again. Integer 0 is the default graph's name and no term at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from ensue.terms import Kind, kind_of

DEFAULT_NESTING = 3
"""How deep minted nodes may nest: a node minted from a node minted from a node."""

FREED = 255
"""The kind of an integer that stands for no term at present."""

MintKey = tuple[str, tuple[int, ...]]


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
        self.nesting = nesting
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
        self._minted: dict[MintKey, int] = {}
        self._mint_keys: dict[int, MintKey] = {}
        self._depth: dict[int, int] = {}
        self._size_after_sweep = 0

    def __len__(self) -> int:
        return len(self._terms) - 1 - len(self._free)

    def __contains__(self, term: object) -> bool:
        return term in self._ids

    def encode(self, term: str) -> int:
        """The integer of a term, a new one if the term is new."""
        found = self._ids.get(term)
        return self._add(term) if found is None else found

    def pin(self, term: str) -> int:
        """Like `encode`, for terms that rules and plans name: a sweep never takes these."""
        number = self.encode(term)
        self._pinned.add(number)
        return number

    def decode(self, number: int) -> str:
        """The term of an integer. Raises KeyError for one that stands for nothing."""
        term = self._terms[number]
        if term is None:
            if number not in self._mint_keys:
                raise KeyError(number)
            term = self._terms[number] = self._minted_label(*self._mint_keys[number])
            self._ids[term] = number
        return term

    def kind(self, number: int) -> Kind:
        """What the term is."""
        return Kind(self.kinds[number])

    def is_literal(self, number: int) -> bool:
        """Whether the term is a literal."""
        return self.kinds[number] >= Kind.PLAIN

    def mint(self, source: str, binding: tuple[int, ...]) -> int | None:
        """The node that the rule `source` makes for `binding`: always the same one.

        None, and counted, where that would nest minted nodes deeper than the bound.
        """
        key = (source, binding)
        found = self._minted.get(key)
        if found is not None:
            return found
        depth = 1
        if not self._depth.keys().isdisjoint(binding):
            depth += max(self._depth.get(number, 0) for number in binding)
        if depth > self.nesting:
            self.refused_mints += 1
            return None
        number = self._take(Kind.BLANK)  # Its label is made when somebody asks for it.
        self._minted[key], self._mint_keys[number], self._depth[number] = number, key, depth
        return number

    def is_minted(self, number: int) -> bool:
        """Whether the term is a node that a rule made (such nodes bind no query variable)."""
        return number in self._depth

    @property
    def wants_sweep(self) -> bool:
        """Whether the terms have doubled since the last sweep, so that one pays."""
        return len(self) > 2 * self._size_after_sweep + 10_000

    def sweep(self, used: Iterable[Iterable[int]]) -> int:
        """Free every term that is neither pinned nor in one of the columns `used`; say how many."""
        keep = set(self._pinned)
        for column in used:
            keep.update(column)
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
            for argument in self._mint_keys[number][1]:
                if argument not in keep:
                    keep.add(argument)
                    self._keep_mint_arguments(argument, keep)

    def _add(self, term: str) -> int:
        number = self._take(kind_of(term))
        self._terms[number] = term
        self._ids[term] = number
        return number

    def _take(self, kind: Kind) -> int:
        """An integer that stands for nothing yet."""
        if self._free:
            number = self._free.pop()
        else:
            number = len(self._terms)
            self._terms.append(None)
            if number == len(self.kinds):
                # A new buffer, not a resized one: the kernel may be looking at the old.
                self.kinds = self.kinds + bytes([FREED]) * number
        self.kinds[number] = kind
        return number

    def _drop(self, number: int) -> None:
        term = self._terms[number]
        if term is not None:
            del self._ids[term]
        self._terms[number] = None
        self.kinds[number] = FREED
        self._free.append(number)
        if number in self._mint_keys:
            del self._minted[self._mint_keys.pop(number)], self._depth[number]

    def _minted_label(self, source: str, binding: tuple[int, ...]) -> str:
        # From the terms, not from their integers: the same in every shard and after a restart.
        digest = blake2b(source.encode(), digest_size=16)
        for number in binding:
            digest.update(b"\0")
            digest.update(self.decode(number).encode())
        return f"_:mint{digest.hexdigest()}"
