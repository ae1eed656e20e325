"""Rules up to what their variables are called and the order of their parts: which say the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ensue.rules.tree import Each, Guard, ListPremise, Mint, Node, Rule, Var

KINDS = frozenset(("notLiteral", "isLiteral", "isPLiteral", "isIRI", "isBlank"))
"""Tests that only look at what kind of term something is."""

Part = tuple[Hashable, ...]
"""A part of a rule: what it is, and its nodes."""

_Colours = Mapping[Var, int]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a rule: what tells it from others, and its nodes in order."""

    what: tuple[Hashable, ...]
    nodes: tuple[Node, ...]

    def coloured(self, colours: _Colours) -> Part:
        """With a number for each variable."""
        named = (colours[each] if isinstance(each, Var) else each for each in self.nodes)
        return (*map(str, self.what), *map(str, named))


def form(rule: Rule, *, kinds: bool = True) -> tuple[Part, ...]:
    """The same for two rules that say the same, whatever they are called.

    Without `kinds`, tests of what kind a term is (`notLiteral`) make no difference.

    >>> from ensue.rules.load import parse_rules
    >>> one, other = parse_rules('''[a: (?x <urn:p> ?y), (?y <urn:q> ?z) -> (?x <urn:r> ?z)]
    ...     [b: (?b <urn:q> ?x), (?a <urn:p> ?b) -> (?a <urn:r> ?x)]''').rules
    >>> form(one) == form(other)
    True
    """
    parts = tuple(_parts(rule, kinds))
    variables = {node for part in parts for node in part.nodes if isinstance(node, Var)}
    return min(_forms(parts, dict.fromkeys(variables, 0)))


def _forms(parts: tuple[_Part, ...], colours: _Colours) -> Iterator[tuple[Part, ...]]:
    """The ways to number the variables that nothing in the rule itself prefers to one another."""
    colours = _refined(parts, colours)
    alike: dict[int, list[Var]] = defaultdict(list)
    for variable, colour in colours.items():
        alike[colour].append(variable)
    tied = min((each for each in alike.items() if len(each[1]) > 1), default=None)
    if tied is None:
        yield tuple(sorted(part.coloured(colours) for part in parts))
        return
    for variable in tied[1]:
        yield from _forms(parts, {**colours, variable: len(colours)})


def _refined(parts: tuple[_Part, ...], colours: _Colours) -> _Colours:
    """Variables told apart by where they stand, and beside which others, as far as that goes."""
    while True:
        seen = {
            variable: (
                colour,
                sorted(
                    (*part.coloured(colours), str(at))
                    for part in parts
                    for at, node in enumerate(part.nodes)
                    if node == variable
                ),
            )
            for variable, colour in colours.items()
        }
        ranks: list[Any] = sorted({_key(each) for each in seen.values()})
        now = {variable: ranks.index(_key(each)) for variable, each in seen.items()}
        if len(ranks) == len(set(colours.values())):
            return now
        colours = now


def _key(seen: tuple[int, list[Part]]) -> tuple[int, tuple[Part, ...]]:
    return seen[0], tuple(seen[1])


def _parts(rule: Rule, kinds: bool) -> Iterator[_Part]:
    for premise in rule.premises:
        yield _Part(("premise", premise.cut, premise.live), tuple(premise.pattern))
    for conclusion in rule.conclusions:
        yield _Part(("conclusion",), tuple(conclusion))
    for number, each in enumerate(rule.lists):
        yield from _list_parts(each, number)
    for condition in rule.conditions:
        if isinstance(condition, Mint):
            # A node of the rule's own is another rule's under another name, but made in the same way.
            shared = condition.source if condition.key is not None else ""
            yield _Part(("Mint", shared), (condition.target, *(condition.key or ())))
        elif isinstance(condition, Guard):
            if kinds or condition.name not in KINDS:
                yield _Part(("Guard", condition.name, condition.text), condition.args)
        else:
            yield _Part(("Bind", condition.name, condition.text), (condition.target, *condition.args))


def _list_parts(premise: ListPremise, number: int) -> Iterator[_Part]:
    if isinstance(premise, Each):
        # One name for what is said of each member: no rule says it in two places of a list.
        yield _Part(("each", number), (premise.of, premise.item))
        for pattern in premise.patterns:
            yield _Part(("of each", number), tuple(pattern))
        return
    nodes = tuple(getattr(premise, name) for name in premise.__slots__)
    yield _Part((type(premise).__name__,), nodes)


def unique(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules without those that say what an earlier one says. Nodes that rules make are theirs alone."""
    first: dict[Hashable, Rule] = {}
    for rule in rules:
        makes = any(isinstance(each, Mint) and each.key is None for each in rule.conditions)
        first.setdefault(rule if makes else form(rule), rule)
    return tuple(first.values())
