"""Rules as data: what both rule syntaxes parse into.

A rule reads: where all premises match and all conditions hold, the conclusions hold too. A *cut*
premise matches background knowledge only; a *live* premise can also match the stream. A *list premise* is
about the members of an RDF list in the background: how many patterns it stands for depends on the list, so
such a rule is turned into plain ones before it runs (`ensue.plan.unfold`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ensue.errors import Place


@dataclass(frozen=True, slots=True)
class Var:
    """A variable. Blank nodes in premises are variables too, under a name no user can write."""

    name: str

    def __hash__(self) -> int:
        return hash(self.name)  # Asked for very often, and no tuple need be made for it.

    def __str__(self) -> str:
        return f"?{self.name}"


Node = Var | str
"""A variable, or a term as canonical N-Triples text (see `ensue.terms`)."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple pattern."""

    s: Node
    p: Node
    o: Node

    def __iter__(self) -> Iterator[Node]:
        return iter((self.s, self.p, self.o))

    def variables(self) -> frozenset[Var]:
        """The variables that occur in the pattern."""
        return frozenset(node for node in self if isinstance(node, Var))

    def __str__(self) -> str:
        return f"({self.s} {self.p} {self.o})"


@dataclass(frozen=True, slots=True)
class Premise:
    """A pattern that must match for the rule to fire."""

    pattern: Pattern
    cut: bool = False
    """It matches background alone: so its author says."""
    live: bool = False
    """A stream may match it, though it looks like schema: so its author says."""

    def __str__(self) -> str:
        return f"{'cut' * self.cut}{'live' * self.live}{self.pattern}"


@dataclass(frozen=True, slots=True)
class Member:
    """`item` is a member of a list."""

    of: Node
    item: Node

    def __str__(self) -> str:
        return f"member({self.of}, {self.item})"


@dataclass(frozen=True, slots=True)
class Pair:
    """`first` and `second` are members of a list at two places of it, in this order."""

    of: Node
    first: Node
    second: Node

    def __str__(self) -> str:
        return f"pair({self.of}, {self.first}, {self.second})"


@dataclass(frozen=True, slots=True)
class Each:
    """For each member of a list, which `item` stands for in turn, all patterns match.

    Variables that are nowhere else in the rule are other ones for each member.
    """

    of: Node
    item: Var
    patterns: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"each({', '.join(map(str, (self.of, self.item, *self.patterns)))})"


@dataclass(frozen=True, slots=True)
class Chain:
    """From `start` one gets to `end` along the properties in a list, one after the other."""

    of: Node
    start: Node
    end: Node

    def __str__(self) -> str:
        return f"chain({self.of}, {self.start}, {self.end})"


ListPremise = Member | Pair | Each | Chain


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on terms that are bound: `notLiteral(?x)`, `equal(?x, ?y)`, a SPARQL FILTER.

    `name` is a built-in of `ensue.rules.builtins`, or "sparql" with `text` the expression.
    """

    name: str
    args: tuple[Node, ...]
    text: str = ""

    def variables(self) -> set[Var]:
        """The variables that occur in the condition."""
        return {arg for arg in self.args if isinstance(arg, Var)}

    def __str__(self) -> str:
        return f"FILTER({self.text})" if self.text else f"{self.name}({', '.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True)
class Bind:
    """A variable that is a function of bound terms; no value means that the rule does not fire.

    `isDLiteral(?l, ?t)` is one (t is the datatype of l, or nothing), a SPARQL BIND is another.
    """

    name: str
    args: tuple[Node, ...]
    target: Var
    text: str = ""

    def variables(self) -> set[Var]:
        """The variables that occur in the condition."""
        return {self.target, *(arg for arg in self.args if isinstance(arg, Var))}

    def __str__(self) -> str:
        if self.text:
            return f"BIND({self.text} AS {self.target})"
        return f"{self.name}({', '.join(map(str, (*self.args, self.target)))})"


@dataclass(frozen=True, slots=True)
class Mint:
    """A node that is there because the rule fired: the same one for the same key.

    `key` None stands for everything that the premises bound (`makeTemp`, a blank node in a SPARQL
    template), and then `source` is the rule's own name. `assignAnon(?l, ?b)` has the key (?l,) and
    a source shared by all rules, so a literal has one stand-in.
    """

    target: Var
    source: str
    key: tuple[Var, ...] | None = None

    def variables(self) -> set[Var]:
        """The variables that it names; without a key it asks for all that the premises bound."""
        return {self.target, *(self.key or ())}

    def __str__(self) -> str:
        if self.key is None:
            return f"makeTemp({self.target})"
        return f"assignAnon({', '.join(map(str, (*self.key, self.target)))})"


Condition = Guard | Bind | Mint


@dataclass(frozen=True, slots=True)
class Rule:
    """Premises and conditions -> conclusions. Conditions hold in the order in which they stand."""

    name: str
    premises: tuple[Premise, ...]
    conclusions: tuple[Pattern, ...]
    conditions: tuple[Condition, ...] = ()
    place: Place | None = None
    lists: tuple[ListPremise, ...] = ()
    priority: int = 0
    """Where not all can be derived, rules of lower priority are left out first."""

    def __str__(self) -> str:
        body = ", ".join(map(str, (*self.premises, *self.lists, *self.conditions)))
        return f"[{self.name}: {body} -> {', '.join(map(str, self.conclusions))}]"


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A regime: rules, and statements that hold without premises (`INSERT DATA`, axioms)."""

    name: str
    rules: tuple[Rule, ...]
    axioms: tuple[Pattern, ...] = ()

    def __add__(self, other: RuleSet) -> RuleSet:
        return RuleSet(f"{self.name}+{other.name}", self.rules + other.rules, self.axioms + other.axioms)
