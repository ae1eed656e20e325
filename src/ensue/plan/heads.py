"""Rules seen from behind: by what they conclude."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ensue.plan.shapes import Shape
from ensue.rules.builtins import holds, may_give
from ensue.rules.builtins import value as term_of
from ensue.rules.tree import Bind, Guard, Mint, Node, Pattern, Premise, Rule, Var
from ensue.rules.violations import is_violation

Binding = dict[Var, str]


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A rule with one of its conclusions."""

    rule: str
    conclusion: Pattern
    premises: tuple[Premise, ...]
    minted: frozenset[Var]
    """The variables of the conclusion that are nodes made by the rule."""
    computed: Mapping[Var, str]
    """The variables of the conclusion that conditions give a value, each with the name of the function."""
    conditions: tuple[Guard | Bind, ...] = ()
    """What holds of terms or not, whatever facts there are. Others only make the rule fire less."""
    fires_always: bool = True
    """Wherever its premises match: the rule has no conditions, of whatever kind."""

    def unify(self, shape: Shape) -> Binding | None:
        """What the rule's variables are where it concludes something of a shape; None if it cannot.

        A minted node is nobody's constant, but for a blank node that came from the background: there
        the same rule may have made the same node.

        >>> x, y = Var("x"), Var("y")
        >>> [head] = heads([Rule("r", (Premise(Pattern(x, "<urn:p>", y)),), (Pattern(y, "<urn:q>", x),))])
        >>> head.unify((None, "<urn:q>", "<urn:a>")), head.unify((None, "<urn:r>", None))
        ({Var(name='x'): '<urn:a>'}, None)
        """
        binding: Binding = {}
        for node, term in zip(self.conclusion, shape, strict=True):
            if term is None:
                continue
            if isinstance(node, Var) and node in self.computed:
                if not may_give(self.computed[node], term):
                    return None
            elif isinstance(node, str):
                if node != term:
                    return None
            elif node in self.minted:
                if not term.startswith("_:"):
                    return None
            elif binding.setdefault(node, term) != term:
                return None
        return binding if all(_may_hold(each, binding) for each in self.conditions) else None


def heads(rules: Iterable[Rule]) -> tuple[Head, ...]:
    """Every rule once for each of its conclusions."""
    return tuple(_head(rule, conclusion) for rule in rules for conclusion in rule.conclusions)


def _head(rule: Rule, conclusion: Pattern) -> Head:
    body = {variable for premise in rule.premises for variable in premise.pattern.variables()}
    minted = frozenset(c.target for c in rule.conditions if isinstance(c, Mint)) - body
    computed = {c.target: c.name for c in rule.conditions if isinstance(c, Bind)}
    computed = {target: name for target, name in computed.items() if target not in body | minted}
    conditions = tuple(c for c in rule.conditions if not isinstance(c, Mint) and not c.text)
    fires_always = not rule.conditions and not rule.lists
    return Head(rule.name, conclusion, rule.premises, minted, computed, conditions, fires_always)


def _may_hold(condition: Guard | Bind, binding: Binding) -> bool:
    """Whether a condition can hold of the terms that are bound: no literal is an IRI."""
    args = tuple(binding.get(arg) if isinstance(arg, Var) else arg for arg in condition.args)
    known = tuple(arg for arg in args if arg is not None)
    if len(known) < len(args):
        return True
    if isinstance(condition, Guard):
        return holds(condition.name, "", (), known)
    return term_of(condition.name, "", (), known) is not None


def filled(pattern: Pattern, binding: Mapping[Var, Node]) -> Pattern:
    """A pattern with the values of variables that are bound."""
    return Pattern(value(pattern.s, binding), value(pattern.p, binding), value(pattern.o, binding))


def value(node: Node, binding: Mapping[Var, Node]) -> Node:
    """What stands for a node: its value if it is a variable that is bound."""
    return binding.get(node, node) if isinstance(node, Var) else node


class HeadIndex:
    """Heads by the predicate of their conclusion."""

    def __init__(self, every: Sequence[Head]) -> None:
        self.every = every
        self._named: dict[str, list[Head]] = {}
        self._open = [head for head in every if isinstance(head.conclusion.p, Var)]
        self._facts = [head for head in every if not is_violation(head.conclusion.p)]
        for head in every:
            if isinstance(head.conclusion.p, str):
                self._named.setdefault(head.conclusion.p, []).append(head)

    def concluding(self, shape: Shape) -> Sequence[Head]:
        """The heads that may conclude something of a shape: all that do are among them.

        Who asks for any predicate does not ask for violations, and these are of conditions alone.
        """
        if shape[1] is None:
            return self._facts
        if is_violation(shape[1]):
            return self._named.get(shape[1], ())
        return [*self._named.get(shape[1], ()), *self._open]


def repeats(head: Head, at: int, maker: Head) -> bool:
    """Whether a rule says nothing new wherever another rule made what its premise `at` matches.

    `(?x ?p ?y), (?p sub ?q) -> (?x ?q ?y)` concludes its own premise from every `(?a sub ?a)`.

    >>> x, p, y, q, a = (Var(name) for name in "xpyqa")
    >>> live, schema = Premise(Pattern(x, p, y)), Premise(Pattern(p, "<urn:sub>", q))
    >>> [up] = heads([Rule("up", (live, schema), (Pattern(x, q, y),))])
    >>> [same] = heads([Rule("same", (live,), (Pattern(p, "<urn:sub>", p),))])
    >>> repeats(up, 1, same), repeats(up, 0, same)
    (True, False)
    """
    same = _meeting(head, at, maker)
    if same is None:
        return False
    conclusion = [_find(node, same) for node in head.conclusion]
    return any([_find(node, same) for node in premise.pattern] == conclusion for premise in head.premises)


@dataclass(frozen=True, slots=True)
class Joint:
    """A rule one of whose premises is what another rule made, both as general as they can be then."""

    conclusion: Pattern
    made: Pattern
    others: tuple[Pattern, ...]
    """The other premises, in order."""
    given: tuple[Pattern, ...]
    """The premises of the rule that made it."""


def joint(head: Head, at: int, maker: Head) -> Joint | None:
    """Two rules, one upon the other; None if they do not meet.

    >>> c, d, x = (Var(name) for name in "cdx")
    >>> given = Premise(Pattern(x, "<a>", c)), Premise(Pattern(c, "<sub>", d))
    >>> up = Rule("up", given, (Pattern(x, "<a>", d),))
    >>> top = Rule("top", (Premise(Pattern(c, "<a>", "<Class>")),), (Pattern(c, "<sub>", "<Top>"),))
    >>> found = joint(*heads([up]), 1, *heads([top]))
    >>> print(found.conclusion, found.made, *found.others, *found.given)
    (?x <a> <Top>) (?c' <sub> <Top>) (?x <a> ?c') (?c' <a> <Class>)
    """
    same = _meeting(head, at, maker)
    if same is None:
        return None
    others = (each.pattern for number, each in enumerate(head.premises) if number != at)
    given = (_apart(each.pattern) for each in maker.premises)
    return Joint(
        _over(head.conclusion, same),
        _over(_apart(maker.conclusion), same),
        tuple(_over(each, same) for each in others),
        tuple(_over(each, same) for each in given),
    )


def _meeting(head: Head, at: int, maker: Head) -> dict[Var, Node] | None:
    """What stands for variables where a rule made what a premise of another matches; None if it cannot."""
    same: dict[Var, Node] = {}
    for one, other in zip(head.premises[at].pattern, maker.conclusion, strict=True):
        one, other = _find(one, same), _find(_renamed(other), same)
        if one == other:
            continue
        if isinstance(one, Var):
            same[one] = other
        elif isinstance(other, Var):
            same[other] = one
        else:
            return None
    return same


def _apart(pattern: Pattern) -> Pattern:
    """A pattern with variables that no rule has."""
    return Pattern(*map(_renamed, pattern))


def _renamed(node: Node) -> Node:
    return Var(f"{node.name}'") if isinstance(node, Var) else node


def _over(pattern: Pattern, same: dict[Var, Node]) -> Pattern:
    return Pattern(*(_find(node, same) for node in pattern))


def _find(node: Node, same: dict[Var, Node]) -> Node:
    while isinstance(node, Var) and node in same:
        node = same[node]
    return node
