"""The closed background, to look up what shapes and premises match in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ensue.classes import Classes
from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.model import BACKGROUND, Copies, Facts
from ensue.plan.heads import Binding
from ensue.plan.matches import Matches
from ensue.plan.shapes import Shape, Shapes, shape_of
from ensue.rules.tree import Pattern, RuleSet, Var
from ensue.terms import Kind

Statement = tuple[str, str, str]
Rows = NDArray[np.int64]


class Closed:
    """Statements in columns of integers, closed under some rules, whether or not a query would see them.

    Violations are none of them.

    >>> some = Closed.of([("<urn:a>", "<urn:p>", "<urn:b>"), ("<urn:a>", "<urn:q>", "<urn:c>")])
    >>> len(some), some.having([(None, "<urn:q>", None)])
    (2, [('<urn:a>', '<urn:q>', '<urn:c>')])
    """

    def __init__(
        self, dictionary: Dictionary, s: Any, p: Any, o: Any, classes: Classes | None = None
    ) -> None:
        """`classes`: statements are about representatives, and stand for those of all members."""
        self.dictionary = dictionary
        self.classes = classes or Classes.none()
        self._terms = Texts(dictionary)
        columns = tuple(np.asarray(column, np.int32) for column in (s, p, o))
        # Violations have literals for predicates: nothing that is planned for rests on them.
        kinds = np.frombuffer(bytes(dictionary.kinds), np.uint8)[columns[1]]
        facts = kinds < Kind.PLAIN
        self._columns = columns if facts.all() else tuple(column[facts] for column in columns)
        self.planned: dict[RuleSet, Any] = {}
        """What passes have found out about rules over these statements."""

    @classmethod
    def of(cls, statements: Iterable[Statement]) -> Closed:
        """Statements as they are."""
        dictionary = Dictionary()
        rows = [[dictionary.encode(term) for term in statement] for statement in statements]
        return cls(dictionary, *np.array(rows, np.int32).reshape(-1, 3).T)

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def columns(self) -> tuple[NDArray[np.int32], ...]:
        """Subjects, predicates and objects."""
        return self._columns

    def named(self, term: str) -> str:
        """The term that stands for one: itself, unless it is in a class with others."""
        if not len(self.classes) or term not in self.dictionary:
            return term
        [number] = self.classes.over(np.array([self.dictionary.encode(term)]))
        return self.dictionary.decode(int(number))

    def meant(self, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
        """The shapes of all statements that statements of these shapes stand for."""
        if self.classes.is_trivial:
            return tuple(shapes)
        every = (product(self._members(s), self._members(p), self._members(o)) for s, p, o in shapes)
        return tuple(dict.fromkeys(chain.from_iterable(every)))

    def _members(self, term: str | None) -> list[str | None]:
        if term is None or term not in self.dictionary:
            return [term]
        number = self.dictionary.encode(term)
        members = self.classes.members(self.classes.same if number == self.classes.link else number)
        return [*map(self.dictionary.decode, members)]

    def rows(self, shapes: Iterable[Shape]) -> Rows:
        """The numbers of the statements that have one of the shapes."""
        return np.flatnonzero(Matches(shapes)(self._terms, *self._columns))

    def having(self, shapes: Iterable[Shape]) -> list[Statement]:
        """The statements that have one of the shapes."""
        return self.statements(self.rows(shapes))

    def counted(self, rows: Rows) -> list[tuple[str, int, int]]:
        """How many statements of each predicate are among these, and in all; those with most first.

        >>> some = Closed.of([("<urn:a>", "<urn:p>", "<urn:b>"), ("<urn:a>", "<urn:q>", "<urn:c>")])
        >>> some.counted(np.array([1]))
        [('<urn:q>', 1, 1), ('<urn:p>', 0, 1)]
        """
        every, of_every = np.unique(self._columns[1], return_counts=True)
        chosen, of_chosen = np.unique(self._columns[1][rows], return_counts=True)
        counts = dict(zip(chosen.tolist(), of_chosen.tolist(), strict=True))
        found = zip(every.tolist(), of_every.tolist(), strict=True)
        listed = [(self._terms[number], counts.get(number, 0), count) for number, count in found]
        return sorted(listed, key=lambda line: (-line[1], -line[2], line[0]))

    def statements(self, rows: Rows | None = None) -> list[Statement]:
        """The statements of these numbers (None: all), in text."""
        chosen = self._columns if rows is None else tuple(column[rows] for column in self._columns)
        used, numbers = np.unique(np.concatenate(chosen), return_inverse=True)
        texts = [self._terms[number] for number in used.tolist()]
        s, p, o = ([texts[number] for number in column] for column in numbers.reshape(3, -1).tolist())
        return list(zip(s, p, o, strict=True))


class Texts(Sequence[str]):
    """The texts of a dictionary, by number."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary

    def __len__(self) -> int:
        return len(self._dictionary.kinds)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[str]: ...
    def __getitem__(self, number: Any) -> Any:
        return self._dictionary.decode(number)


def close(rules: RuleSet, statements: Iterable[Statement], dictionary: Dictionary | None = None) -> Closed:
    """Statements with all that follows from them, in the numbers of a dictionary (None: a new one).

    >>> from ensue.rules.load import load_rules
    >>> is_in = "<http://example.org/isIn>"
    >>> stated = [("<urn:a>", is_in, "<urn:b>"), ("<urn:b>", is_in, "<urn:c>")]
    >>> ("<urn:a>", is_in, "<urn:c>") in close(load_rules("transitive-isin"), stated).statements()
    True
    """
    dictionary = Dictionary() if dictionary is None else dictionary
    facts = close_plainly(rules, copies_of(statements, dictionary), dictionary)
    return Closed(dictionary, facts.s, facts.p, facts.o)


def copies_of(statements: Iterable[Statement], dictionary: Dictionary) -> Copies:
    """Statements as background."""
    encode = dictionary.encode
    return Copies.background((encode(s), encode(p), encode(o)) for s, p, o in statements)


def close_plainly(
    rules: RuleSet, stated: Copies, dictionary: Dictionary, strategy: str | None = None
) -> Facts:
    """Background with all that follows from it, in the numbers of a dictionary."""
    if strategy is None:
        from ensue.maintain.kernel.once import closed  # Loaded when asked for: not every strategy needs it.

        return closed(rules, stated, dictionary)
    maintainer = make(strategy, rules, dictionary)
    maintainer.load_background(stated)
    return maintainer.closure(BACKGROUND)


class Known:
    """Statements by the terms of whatever shapes are asked for."""

    def __init__(self, background: Closed, wanted: Iterable[Shape]) -> None:
        """What has one of the `wanted` shapes will be asked for; what else is, is fetched then."""
        self._background = background
        self._shapes = Shapes()
        self._fetch(wanted)

    def _fetch(self, wanted: Iterable[Shape]) -> None:
        for shape in wanted:
            self._shapes.add(shape)
        self._statements = self._background.having(self._shapes.widest())
        self._indexes: dict[tuple[int, ...], dict[tuple[str | None, ...], list[Statement]]] = {}

    def expect(self, shapes: Iterable[Shape]) -> None:
        """What has one of these shapes will be asked for."""
        new = [shape for shape in shapes if not self._shapes.covers(shape)]
        if new:
            self._fetch(new)

    def matching(self, shape: Shape) -> Sequence[Statement]:
        """The statements of a shape."""
        self.expect([shape])
        places = tuple(at for at, term in enumerate(shape) if term is not None)
        if places not in self._indexes:
            index = self._indexes[places] = {}
            for statement in self._statements:
                index.setdefault(tuple(statement[at] for at in places), []).append(statement)
        return self._indexes[places].get(tuple(shape[at] for at in places), [])

    def ground(self, patterns: Sequence[Pattern], binding: Binding) -> Iterator[Binding]:
        """All ways to match every pattern; those with most terms go first."""
        if not patterns:
            yield binding
            return
        first = min(patterns, key=lambda pattern: shape_of(pattern, binding).count(None))
        rest = [pattern for pattern in patterns if pattern is not first]
        for statement in self.matching(shape_of(first, binding)):
            extended = _extended(first, statement, binding)
            if extended is not None:
                yield from self.ground(rest, extended)


def _extended(pattern: Pattern, statement: Statement, binding: Binding) -> Binding | None:
    extended = dict(binding)
    for node, term in zip(pattern, statement, strict=True):
        if isinstance(node, Var) and extended.setdefault(node, term) != term:
            return None
    return extended
