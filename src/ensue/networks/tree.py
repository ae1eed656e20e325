"""A rule network as data: what a file of SPARQL Update rules says, and nothing about how it runs.

A rule's WHERE part is a union of *branches*. Each branch is a conjunction of quad patterns, with parts
that are looked at once the patterns have matched: tests, values, what must or must not exist, and what
may be there besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ensue.errors import Place
from ensue.query.tree import Partition
from ensue.rules.tree import Bind, Guard, Node, Var

DEFAULT = ""
"""The name of the default graph."""

Element = Literal["time", "statement"]
"""What arrives at once: all that has one time, or one statement."""

Into = Literal["own", "default"]
"""Where statements arrive: in their own graph, or in the default graph whatever theirs is."""


class Quad(NamedTuple):
    """A statement in a graph; in a rule, any of the four may be a variable.

    >>> str(Quad("<urn:g>", Var("x"), "<urn:p>", '"1"')), str(Quad(DEFAULT, Var("x"), "<urn:p>", Var("y")))
    ('GRAPH <urn:g> { ?x <urn:p> "1" }', '?x <urn:p> ?y')
    """

    graph: Node
    s: Node
    p: Node
    o: Node

    def variables(self) -> frozenset[Var]:
        """The variables in it."""
        return frozenset(node for node in self if isinstance(node, Var))

    def __str__(self) -> str:
        triple = f"{self.s} {self.p} {self.o}"
        return triple if self.graph == DEFAULT else f"GRAPH {self.graph} {{ {triple} }}"


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS { }, or NOT EXISTS { } where it is negated: whether any of the alternatives matches."""

    alternatives: tuple[Branch, ...]
    negated: bool

    def variables(self) -> frozenset[Var]:
        """The variables in it; those of the branch around it have their values there."""
        return frozenset[Var]().union(*(each.variables() for each in self.alternatives))

    def __str__(self) -> str:
        return f"{'NOT ' if self.negated else ''}EXISTS {' UNION '.join(map(str, self.alternatives))}"


@dataclass(frozen=True, slots=True)
class Besides:
    """OPTIONAL { }: what matches besides, if anything does."""

    alternatives: tuple[Branch, ...]

    def variables(self) -> frozenset[Var]:
        """The variables in it."""
        return frozenset[Var]().union(*(each.variables() for each in self.alternatives))

    def __str__(self) -> str:
        return f"OPTIONAL {' UNION '.join(map(str, self.alternatives))}"


Part = Guard | Bind | Exists | Besides


@dataclass(frozen=True, slots=True)
class Branch:
    """Patterns that match together, and parts that hold then, in the order in which they stand."""

    patterns: tuple[Quad, ...] = ()
    parts: tuple[Part, ...] = ()

    def bound(self) -> frozenset[Var]:
        """The variables that the patterns bind."""
        return frozenset[Var]().union(*(pattern.variables() for pattern in self.patterns))

    def valued(self) -> frozenset[Var]:
        """The variables that have a value in every solution: bound, or given one by a BIND."""
        return self.bound() | {part.target for part in self.parts if isinstance(part, Bind)}

    def visible(self) -> tuple[Var, ...]:
        """The variables of a solution, in order of their names: valued, or there besides."""
        besides = (part.alternatives for part in self.parts if isinstance(part, Besides))
        inner = (each.visible() for alternatives in besides for each in alternatives)
        return tuple(sorted(self.valued().union(*inner), key=lambda variable: variable.name))

    def loose(self) -> frozenset[Var]:
        """The variables that have a value in some solutions only."""
        return frozenset(self.visible()) - self.valued()

    def variables(self) -> frozenset[Var]:
        """All variables in it."""
        return self.bound().union(*(part.variables() for part in self.parts))

    def is_positive(self) -> bool:
        """Whether only a statement that goes can end a solution."""
        return not any(isinstance(part, Exists | Besides) for part in self.parts)

    def __str__(self) -> str:
        return f"{{ {' . '.join(map(str, (*self.patterns, *self.parts)))} }}"

    def joined(self, other: Branch) -> Branch:
        """Both at once."""
        return Branch(self.patterns + other.patterns, self.parts + other.parts)

    def all_patterns(self, sign: int = 1) -> Iterator[tuple[Quad, int]]:
        """Every pattern in it however deep, with what makes new solutions there.

        1: a statement that comes; -1: one that goes (inside NOT EXISTS); 0: either (inside OPTIONAL).
        """
        for pattern in self.patterns:
            yield pattern, sign
        for part in self.parts:
            if isinstance(part, Exists | Besides):
                inner = 0 if isinstance(part, Besides) else -sign if part.negated else sign
                for each in part.alternatives:
                    yield from each.all_patterns(inner)


@dataclass(frozen=True, slots=True)
class Update:
    """What a rule does for each of its new solutions: quads that go, then quads that come.

    A variable that WHERE does not have is a node to be made: a new one for each solution.
    """

    delete: tuple[Quad, ...]
    insert: tuple[Quad, ...]
    made: tuple[Var, ...] = ()


@dataclass(frozen=True, slots=True)
class Select:
    """What a rule gives for each of its new solutions: a row; each row once where they are distinct."""

    variables: tuple[Var, ...]
    distinct: bool


@dataclass(frozen=True, slots=True)
class NetworkRule:
    """One operation of the file: WHERE it applies, and what it does."""

    name: str
    branches: tuple[Branch, ...]
    effect: Update | Select
    place: Place

    def projected(self, values: dict[Var, str | None]) -> tuple[str | None, ...]:
        """A solution as the row that SELECT gives."""
        assert isinstance(self.effect, Select)
        return tuple(values.get(variable) for variable in self.effect.variables)


@dataclass(frozen=True, slots=True)
class NetworkFile:
    """A file: its rules in order, and what it says of elements."""

    name: str
    rules: tuple[NetworkRule, ...]
    element: Element | None = None
    """None: not said, which is `time`."""
    into: Into | None = None
    """None: not said, which is `own`."""
    partition: Partition | None = None
    """None: one network takes all that arrives; else one for each key (`networks.py`)."""
