"""Temporal expressions as data: what stands between the groups of a query, and how they are meant.

An occurrence of a pattern is a solution with the interval of the statements that it rests on; an expression
says which occurrences make a composed one (docs/events.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rdflib.plugins.sparql.parserutils import CompValue

from ensue.errors import Place


class Allen(StrEnum):
    """The thirteen relations of Allen: exactly one holds between two intervals, instants included."""

    BEFORE = "BEFORE"
    AFTER = "AFTER"
    MEETS = "MEETS"
    MET_BY = "MET_BY"
    OVERLAPS = "OVERLAPS"
    OVERLAPPED_BY = "OVERLAPPED_BY"
    STARTS = "STARTS"
    STARTED_BY = "STARTED_BY"
    DURING = "DURING"
    CONTAINS = "CONTAINS"
    FINISHES = "FINISHES"
    FINISHED_BY = "FINISHED_BY"
    EQUALS = "EQUALS"


class Strategy(StrEnum):
    """Which of the pairs that fit are detected, and what is used up by that."""

    UNRESTRICTED = "UNRESTRICTED"
    RECENT = "RECENT"
    CHRONICLE = "CHRONICLE"
    CONTINUOUS = "CONTINUOUS"
    CUMULATIVE = "CUMULATIVE"


@dataclass(frozen=True, slots=True)
class Group:
    """A group of triple patterns and filters. `variables` are those that are written in it, in order."""

    algebra: CompValue = field(compare=False, repr=False)
    variables: tuple[str, ...]
    window: str | None
    """The named window that it is matched in; None: the windows of the default graph."""
    place: Place
    name: str | None = None
    within: int | None = None
    """The longest that an occurrence may last, in ms; None: as long as the window lets it."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Occurrences of one operand in a row: at least `least`, at most `most` (None: any number)."""

    operand: Expression
    least: int
    most: int | None
    variables: tuple[str, ...]
    """Those that have one value in all of them; others are not seen outside."""
    place: Place
    name: str | None = None
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """Two operands in a relation, with nothing of `without` between them."""

    left: Expression
    right: Expression
    relation: Allen
    place: Place
    strategy: Strategy = Strategy.UNRESTRICTED
    optional: bool = False
    """Whether an occurrence on the left that is in no pair counts alone."""
    without: tuple[Group, ...] = ()
    name: str | None = None
    within: int | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Those of both operands, in order."""
        return tuple(dict.fromkeys((*self.left.variables, *self.right.variables)))


Expression = Group | Repeat | Related


class Of(StrEnum):
    """What a query can ask of an occurrence: in milliseconds, or as EP-SPARQL has it."""

    START = "start"
    END = "end"
    DURATION = "duration"
    STARTTIME = "getSTARTTIME"
    ENDTIME = "getENDTIME"
    DURATIONTIME = "getDURATION"


@dataclass(frozen=True, slots=True)
class Asked:
    """A function of an occurrence: which, of what (None: of the whole), and what variable stands for it."""

    of: Of
    name: str | None
    variable: str


@dataclass(frozen=True, slots=True)
class Events:
    """The temporal expressions of a query, by number, and what is asked of each."""

    expressions: tuple[Expression, ...]
    asked: tuple[tuple[Asked, ...], ...]
    planned: CompValue = field(compare=False, repr=False)
    """The query with joins in place of temporal operators: what is asked for and by which key, for plans."""

    @property
    def shared(self) -> set[str]:
        """The variables that all expressions have."""
        return set.intersection(*(set(tree.variables) for tree in self.expressions))


def show(tree: Expression) -> str:
    """An expression for people: groups by their variables.

    >>> from ensue.query.language import parse_query
    >>> where = "{ { ?x <urn:a> ?y }+ SEQ [RECENT] { ?x <urn:b> 5 } WITHIN 1s }"
    >>> show(parse_query(f"ASK FROM STREAM <urn:s> [RANGE 1s] {where}").events.expressions[0])
    '{ {?x ?y}{1,} } BEFORE [RECENT] {?x} WITHIN 1000 ms'
    """
    match tree:
        case Group():
            found = f"{{{' '.join(f'?{name}' for name in tree.variables)}}}"
        case Repeat():
            found = f"{_inside(tree.operand)}{{{tree.least},{tree.most or ''}}}"
        case Related():
            strategy = "" if tree.strategy is Strategy.UNRESTRICTED else f" [{tree.strategy}]"
            absent = "".join(f" NOT {show(each)}" for each in tree.without)
            operator = f"{'OPTIONAL ' * tree.optional}{tree.relation}{strategy}{absent}"
            found = f"{_inside(tree.left)} {operator} {_inside(tree.right)}"
    named = f" AS ?{tree.name}" if tree.name is not None else ""
    return f"{found}{named}" + (f" WITHIN {tree.within} ms" if tree.within is not None else "")


def _inside(tree: Expression) -> str:
    return show(tree) if isinstance(tree, Group) else f"{{ {show(tree)} }}"


def is_unrestricted(expression: Expression) -> bool:
    """Whether nothing is ever used up in it.

    >>> from ensue.query.language import parse_query
    >>> text = "ASK FROM STREAM <urn:s> [RANGE 1s] {{ {{ ?x <urn:a> ?y }} SEQ {} {{ ?x <urn:b> ?z }} }}"
    >>> [is_unrestricted(parse_query(text.format(s)).events.expressions[0]) for s in ("", "[RECENT]")]
    [True, False]
    """
    match expression:
        case Group():
            return True
        case Repeat():
            return is_unrestricted(expression.operand)
        case Related():
            own = expression.strategy is Strategy.UNRESTRICTED
            return own and is_unrestricted(expression.left) and is_unrestricted(expression.right)
