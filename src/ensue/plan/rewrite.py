"""Query rewriting: what can be stated for a pattern to match, by any chain of linear rules (seed: StreamQR).

A rule is linear if it has one live premise: with its cut premises filled in from the background it says
that one statement implies another. A chain of such steps, followed backwards from a pattern, ends in a
pattern over statements as they are: an *alternative*. It has to say how the fact is read off the statement:
`?x :child ?y` from the inverse `?y :parent ?x` with subject and object swapped, `?x a :Person` from
`?x :child ?y` with the object filled in.

All alternatives of a pattern are found one by one, and stay with their pattern. StreamQR's union has one
query for each choice of alternatives, so its size is the product of what here is a sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from ensue.plan.heads import Head, HeadIndex, heads
from ensue.plan.known import Closed, Known
from ensue.plan.shapes import shape_of
from ensue.plan.wider import Reading, Slot, Slots, Test, Widest, settled
from ensue.rules.tree import Bind, Guard, Mint, Node, Pattern, Rule, Var

MOST_ALTERNATIVES = 200_000
"""A pattern with more alternatives than this is not rewritten: rules look up data in it, and not schema."""

_Same = dict[Var | int, Node | int]
"""What variables of a rule (Var) and of a statement (int) have been found to be."""


class NotRewritable(Exception):  # noqa: N818 - no error: a reason to materialise
    """Why a rule cannot be folded into patterns, or a pattern takes no more."""


def live_premises(rule: Rule) -> tuple[Pattern, ...]:
    """The premises of a rule that a stream can match, each once."""
    return tuple(dict.fromkeys(premise.pattern for premise in rule.premises if not premise.cut))


def check_linear(rule: Rule) -> None:
    """Raise NotRewritable if a rule needs more than one statement of a stream, or makes new terms.

    A rule without live premises has done its work in the background: it is not refused.

    >>> from ensue.rules.tree import Premise
    >>> x, y, z = Var("x"), Var("y"), Var("z")
    >>> live = Premise(Pattern(x, "<urn:in>", y)), Premise(Pattern(y, "<urn:in>", z))
    >>> check_linear(Rule("transitive", live, (Pattern(x, "<urn:in>", z),)))
    Traceback (most recent call last):
    ensue.plan.rewrite.NotRewritable: rule 'transitive' joins (?x <urn:in> ?y) with (?y <urn:in> ?z)
    """
    live = live_premises(rule)
    if not live:
        return
    for condition in rule.conditions:
        if isinstance(condition, Mint):
            raise NotRewritable(f"rule '{rule.name}' makes a node: {condition}")
        if isinstance(condition, Bind):
            raise NotRewritable(f"rule '{rule.name}' computes a term: {condition}")
    if len(live) > 1:
        raise NotRewritable(f"rule '{rule.name}' joins {live[0]} with {live[1]}")


def is_linear(rule: Rule) -> bool:
    """Whether a rule can be folded into patterns."""
    try:
        check_linear(rule)
    except NotRewritable:
        return False
    return True


def slots_of(nodes: Iterable[object]) -> Slots:
    """A pattern whose variables are numbers: of the position where each stands first.

    >>> slots_of(Pattern(Var("x"), "<urn:p>", Var("x")))
    (0, '<urn:p>', 0)
    """
    first: dict[object, int] = {}
    s, p, o = (n if isinstance(n, str) else first.setdefault(n, at) for at, n in enumerate(nodes))
    return s, p, o


@dataclass(frozen=True, slots=True)
class _Linear:
    """A linear rule."""

    rule: Rule
    live: Pattern
    cut: tuple[Pattern, ...]
    grounded: frozenset[Var]
    """The variables that cut premises have."""
    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """From a pattern back to one whose statements imply it, by one rule."""

    raw: Slots
    was: Slots
    """What the parts of the pattern come from that was there before."""
    tests: frozenset[Test]

    def taken(self, reading: Reading) -> Reading | None:
        """The same fact, read off what the rule needs; None if tests fail."""
        was = self.was
        s, p, o = (slot if isinstance(slot, str) else was[slot] for slot in reading.fact)
        tests = self.tests
        if reading.tests:
            earlier = settled(t.at(was) for t in reading.tests)
            if earlier is None:
                return None
            tests |= earlier
        return Reading(self.raw, (s, p, o), tests)


@dataclass(slots=True)
class Rewriter:
    """Linear rules over a closed background, to be folded into patterns. Raises NotRewritable.

    >>> from ensue.rules.tree import Premise
    >>> x, y, c, d = (Var(name) for name in "xycd")
    >>> up = Premise(Pattern(x, "<urn:a>", c)), Premise(Pattern(c, "<urn:below>", d), cut=True)
    >>> sub = Rule("sub", up, (Pattern(x, "<urn:a>", d),))
    >>> barks = Premise(Pattern(x, "<urn:barks>", y))
    >>> domain = Rule("domain", (barks,), (Pattern(x, "<urn:a>", "<urn:Dog>"),))
    >>> known = Closed.of([("<urn:Dog>", "<urn:below>", "<urn:Pet>")])
    >>> for each in Rewriter((sub, domain), known).alternatives((0, "<urn:a>", "<urn:Pet>")):
    ...     print(each)
    (0 <urn:a> <urn:Pet>) as it is
    (0 <urn:a> <urn:Dog>) as (0 <urn:a> <urn:Pet>)
    (0 <urn:barks> 2) as (0 <urn:a> <urn:Pet>)
    """

    rules: tuple[Rule, ...]
    background: Closed
    _rules: dict[Head, _Linear] = field(init=False, default_factory=dict)
    _index: HeadIndex = field(init=False)
    _known: Known = field(init=False)
    _ways: dict[Slots, tuple[_Step, ...]] = field(init=False, default_factory=dict)
    """The steps back from patterns that have been come to."""

    def __post_init__(self) -> None:
        for rule in self.rules:
            check_linear(rule)
            for live in live_premises(rule):
                guards = tuple(c for c in rule.conditions if isinstance(c, Guard))
                grounded = frozenset(v for pattern in _cut(rule) for v in pattern.variables())
                linear = _Linear(rule, live, _cut(rule), grounded, guards)
                self._rules |= dict.fromkeys(heads([rule]), linear)
        self._index = HeadIndex(tuple(self._rules))
        self._known = Known(self.background, {shape_of(p) for rule in self.rules for p in _cut(rule)})

    def alternatives(self, goal: Slots) -> tuple[Reading, ...]:
        """Every pattern of a statement from which a fact of a pattern follows, and how it is read off.

        The pattern itself comes first. None of them is a special case of another. Raises NotRewritable.
        """
        found, numbers = Widest(), count()
        # The widest go first: what comes to special cases of them need not be followed.
        waiting = [(0, next(numbers), Reading(goal, goal))]
        seen = {waiting[0][-1]}
        while waiting:
            *_, reading = heappop(waiting)
            if not found.add(reading):
                continue
            if len(found) > MOST_ALTERNATIVES:
                raise NotRewritable(
                    f"({' '.join(map(str, goal))}) has more than {MOST_ALTERNATIVES:,} alternatives"
                )
            for step in self._before(reading):
                if step not in seen:
                    seen.add(step)
                    heappush(waiting, (_narrowness(step), next(numbers), step))
        return found.every()

    def _before(self, reading: Reading) -> Iterator[Reading]:
        """The same fact by one rule more, in all ways."""
        raw = reading.raw
        if raw not in self._ways:
            # Many facts are read off the same pattern, and dense schema leads to the same one in many ways.
            self._ways[raw] = tuple(
                dict.fromkeys(s for head in self._heads(raw) for s in self._steps(head, raw))
            )
        for step in self._ways[raw]:
            if (found := step.taken(reading)) is not None:
                yield found

    def concluding(self, raw: Slots) -> list[Rule]:
        """The rules that can conclude a fact of a pattern."""
        found = (head for head in self._heads(raw) if any(self._steps(head, raw)))
        return list(dict.fromkeys(self._rules[head].rule for head in found))

    def _heads(self, raw: Slots) -> Sequence[Head]:
        s, p, o = (slot if isinstance(slot, str) else None for slot in raw)
        return self._index.concluding((s, p, o))

    def _steps(self, head: Head, raw: Slots) -> Iterator[_Step]:
        """How a rule concludes a fact of a pattern."""
        same = _unified(raw, head.conclusion)
        return iter(()) if same is None else self._through(self._rules[head], raw, same)

    def _through(self, rule: _Linear, raw: Slots, same: _Same) -> Iterator[_Step]:
        given = {v: term for v in rule.grounded if isinstance(term := _find(v, same), str)}
        for binding in self._known.ground(rule.cut, given):
            bound = dict(same)
            if all(v in given or _equate(v, term, bound) for v, term in binding.items()):
                found = _resolved(rule, raw, bound)
                if found is not None:
                    yield found


def _narrowness(reading: Reading) -> int:
    """Hardly ever more than that of a special case."""
    free = sum(slot == at for at, slot in enumerate(reading.raw))
    return 3 - free + len(reading.tests)


def _cut(rule: Rule) -> tuple[Pattern, ...]:
    return tuple(premise.pattern for premise in rule.premises if premise.cut)


def _find(node: Node | int, same: _Same) -> Node | int:
    while not isinstance(node, str) and node in same:
        node = same[node]
    return node


def _equate(one: Node | int, other: Node | int, same: _Same) -> bool:
    """Make two nodes the same; False if they are different terms."""
    one, other = _find(one, same), _find(other, same)
    if one == other:
        return True
    if isinstance(one, str):
        one, other = other, one
    if isinstance(one, str):
        return False
    same[one] = other
    return True


def _unified(raw: Slots, conclusion: Pattern) -> _Same | None:
    same: _Same = {}
    pairs = zip(conclusion, raw, strict=True)
    return same if all(_equate(node, slot, same) for node, slot in pairs) else None


def _resolved(rule: _Linear, raw: Slots, same: _Same) -> _Step | None:
    """What is left to be stated for a fact that a rule concludes; None if its conditions do not hold."""
    first: dict[Var | int, int] = {}

    def entered(node: Node, at: int) -> Slot:
        found = _find(node, same)
        return found if isinstance(found, str) else first.setdefault(found, at)

    def slot(node: Node | int) -> Slot:
        found = _find(node, same)
        return found if isinstance(found, str) else first[found]

    s, p, o = (entered(node, at) for at, node in enumerate(rule.live))
    was_s, was_p, was_o = map(slot, raw)
    tests = (Test(g.name, g.text, _names(g), tuple(map(slot, g.args))) for g in rule.guards)
    left = settled(tests)
    return None if left is None else _Step((s, p, o), (was_s, was_p, was_o), left)


def _names(guard: Guard) -> tuple[str, ...]:
    """What an expression calls its arguments; built-ins do not care."""
    return tuple(arg.name for arg in guard.args if isinstance(arg, Var)) if guard.text else ()
