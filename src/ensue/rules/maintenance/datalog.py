"""Datalog as data: the language that the papers write their maintenance programs in.

Beyond plain Datalog it has what tables 2 and 5 of the IMaRS paper need: negation, the expiration
time of a fact as a stamp `[T]` behind it, comparisons of stamps, and `min`. A variable that stands
in one negated literal and nowhere else is read as *some* there: `not P(x, y)[T1]` says that no
P(x, y) has any stamp at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ensue.errors import Place
from ensue.rules.tree import Bind, Condition, Guard, Mint, Node, Var
from ensue.terms import OWL, RDF, RDFS, XSD

PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}
"""Prefixes that the notation knows without declaring them."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate of some terms, with a stamp if it is a timed one.

    >>> str(Atom("isIn", (Var("x"), Var("y")), Var("T")))
    'isIn(x, y)[T]'
    """

    predicate: str
    args: tuple[Node, ...] = ()
    stamp: Var | None = None

    def __str__(self) -> str:
        terms = f"({', '.join(map(show, self.args))})" if self.args else ""
        return f"{self.predicate}{terms}" + (f"[{self.stamp.name}]" if self.stamp else "")


@dataclass(frozen=True, slots=True)
class Not:
    """A negated atom."""

    atom: Atom

    def __str__(self) -> str:
        return f"not {self.atom}"


@dataclass(frozen=True, slots=True)
class LastPassed:
    """`(now - 1)`: the last moment that has passed, which is the close of the window."""

    def __str__(self) -> str:
        return "(now - 1)"


@dataclass(frozen=True, slots=True)
class Min:
    """The least of some stamps."""

    stamps: tuple[Var, ...]

    def __str__(self) -> str:
        return f"min({', '.join(stamp.name for stamp in self.stamps)})"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of stamps; `T = ...` gives T its value if nothing else does."""

    left: Var
    sign: str
    right: Var | Min | LastPassed

    def __str__(self) -> str:
        right = self.right.name if isinstance(self.right, Var) else self.right
        return f"{self.left.name} {self.sign} {right}"


Literal = Atom | Not | Comparison | Condition


@dataclass(frozen=True, slots=True)
class Clause:
    """A Datalog rule. `origin` is its name or, once rewritten, the function that made it."""

    head: Atom
    body: tuple[Literal, ...] = ()
    origin: str = ""
    place: Place | None = field(default=None, compare=False)

    def __str__(self) -> str:
        body = ", ".join(map(show_literal, self.body))
        return f"{self.head} :- {body}" if body else str(self.head)


@dataclass(frozen=True, slots=True)
class Program:
    """Clauses, and the predicates among theirs that no step ever changes."""

    clauses: tuple[Clause, ...]
    static: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return "\n".join(f"({clause.origin}) {clause}" for clause in self.clauses)


def show(node: Node) -> str:
    """A term as the papers write it: variables bare, well-known names with their prefix.

    >>> show(Var("x")), show("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"), show("<urn:a>")
    ('x', 'rdf:type', '<urn:a>')
    """
    if isinstance(node, Var):
        return node.name
    for prefix, start in PREFIXES.items():
        local = node.removeprefix(f"<{start}").removesuffix(">")
        if node.startswith(f"<{start}") and local.isidentifier():
            return f"{prefix}:{local}"
    return node


def show_literal(literal: Literal) -> str:
    """A literal as the papers write it; a condition of ours in the same manner.

    >>> show_literal(Guard("notLiteral", (Var("y"),)))
    'notLiteral(y)'
    >>> show_literal(Mint(Var("b"), "R", (Var("x"), Var("y"))))
    'b = mint(R, x, y)'
    """
    if isinstance(literal, Mint):
        return f"{literal.target.name} = mint({', '.join([literal.source, *map(show, literal.key or ())])})"
    if isinstance(literal, Guard | Bind) and not literal.text:
        targets = (literal.target,) if isinstance(literal, Bind) else ()
        return f"{literal.name}({', '.join(map(show, (*literal.args, *targets)))})"
    return str(literal)


def variables(literal: Literal) -> Iterator[Var]:
    """The variables of a literal, stamps included, in the order in which they stand.

    >>> [v.name for v in variables(Atom("isIn", (Var("x"), "<urn:a>"), Var("T")))]
    ['x', 'T']
    """
    nodes: tuple[Node | None, ...]
    match literal:
        case Atom(_, args, stamp):
            nodes = (*args, stamp)
        case Not(Atom(_, args, stamp)):
            nodes = (*args, stamp)
        case Comparison(left, _, right):
            nodes = (left, *_stamps(right))
        case Guard(_, args):
            nodes = args
        case Bind(_, args, target):
            nodes = (*args, target)
        case Mint(target, _, key):
            nodes = (*(key or ()), target)
    return (node for node in nodes if isinstance(node, Var))


def _stamps(side: Var | Min | LastPassed) -> tuple[Var, ...]:
    if isinstance(side, Min):
        return side.stamps
    return (side,) if isinstance(side, Var) else ()
