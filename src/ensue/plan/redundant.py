"""What a rule makes that another rule can do nothing with, since all it would say follows without.

Under RDFS every class is below rdfs:Resource, and what is in a class is in all above it: so whatever is in a
class is a resource. But whatever is the subject of a statement is one anyway. Schema of that kind comes of
any statement about a type, and says nothing: a premise that only background or such schema matches can be
cut.

Why leaving out such uses of a rule changes no fact and no stamp. Take all derivations, none left out. A
statement on a stream has size 1, a fact of the background size 0, and what a rule makes is one larger than
all that it is made of together. For each fact think of the smallest among those of its derivations that are
as fresh as any. Say that in one of them a rule R uses, for a premise that is cut, a fact f outside of the
background, made by a rule M of one premise g: R's conclusion has size 2 + |g| + |other premises|, and g is at
least 1, since f would be background if g were. It is left out only if that conclusion, whatever the variables
stand for,

- is f, g or one of the other premises, or in the background;
- or follows from g or from one other premise by *one* rule, and size 1 + |that premise|;
- or follows from one other premise by *two* rules, and size 2 + |that premise|, which is without g;

where the rules that it follows by may have more premises if the background has these. Each time that is a
derivation of the same fact, strictly smaller, and as fresh: it rests on fewer statements. So the smallest
derivations leave nothing out. There is no circle, though many rules may be spared at once, and though what
takes their place may have premises that are cut as well: all this speaks of derivations before any was left
out, and of their size.

Of R's other premises some are matched by background alone: those that its author cut, and those that are cut
by the same assumption *after* the one that f matches. (If several are matched by something outside of the
background, look at the last of them.) They are filled in; the conclusion must follow whatever they match.

Rules with conditions, or with nodes that they make, take nobody's place. Conditions of R and M only make
less to be left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ensue.plan.heads import Binding, Head, HeadIndex, filled, joint
from ensue.plan.known import Known
from ensue.plan.schema import Schema
from ensue.plan.shapes import Shape, shape_of
from ensue.rules.tree import Pattern

_MOST = 50
"""No more ways to match premises in the background are tried."""

_Fact = tuple[str, str, str]
"""A fact about anything: `?x` is a term that nothing is known of."""

_Step = tuple[Pattern, tuple[Pattern, ...]]
"""A premise of a rule, and the others, which the background must have."""


@dataclass(frozen=True, slots=True)
class Redundancy:
    """Rules over a background, to find out what follows from others anyway."""

    index: HeadIndex
    known: Known
    schema: Schema
    _steps: dict[Head, tuple[_Step, ...]] = field(default_factory=dict)

    def spares(self, head: Head, at: int, maker: Head, still: Collection[int] = ()) -> bool:
        """Whether all that a rule says, where another made what its premise `at` matches, follows anyway.

        `still`: which of its premises background alone matches.

        >>> from ensue.plan.heads import heads
        >>> from ensue.plan.known import Closed
        >>> from ensue.rules.load import parse_rules
        >>> rules = parse_rules('''[up: (?x <urn:in> ?c), (?c <urn:below> ?d) -> (?x <urn:in> ?d)]
        ...     [top: (?c <urn:is> <urn:Class>) -> (?c <urn:below> <urn:Top>)]
        ...     [all: (?x ?p ?y) -> (?x <urn:in> <urn:Top>)]''')
        >>> up, top, every = heads(rules.rules)
        >>> nothing = Closed.of([])
        >>> def spared(*rules):
        ...     return Redundancy(HeadIndex(rules), Known(nothing, []), Schema.of(nothing)).spares(up, 1, top)
        >>> spared(up, top, every), spared(up, top)
        (True, False)
        """
        # With more premises it would take longer to find out; schema that anything makes comes of one.
        if len(maker.premises) != 1 or (joined := joint(head, at, maker)) is None:
            return False
        numbers = (number for number in range(len(head.premises)) if number != at)
        fixed = [each for number, each in zip(numbers, joined.others, strict=True) if number in still]
        ways = list(islice(self.known.ground(fixed, {}), _MOST + 1))
        if len(ways) > _MOST:
            return False
        for way in ways:
            conclusion, made = (_of_anything(each, way) for each in (joined.conclusion, joined.made))
            others = [_of_anything(each, way) for each in joined.others]
            given = [_of_anything(each, way) for each in joined.given]
            if conclusion == made or self._follows(conclusion, [*others, *given], 1):
                continue
            if not self._follows(conclusion, others, 2):
                return False
        return True

    def _follows(self, fact: _Fact, given: Sequence[_Fact], steps: int) -> bool:
        """Whether a fact is one of some others, or follows from one of them by so many rules at most."""
        if fact in given or self._is_known(fact):
            return True
        if not steps:
            return False
        found = ((head, head.unify(fact)) for head in self.index.concluding(fact) if head.fires_always)
        return any(
            self._leads_on(step, binding, given, steps - 1)
            for head, binding in found
            if binding is not None
            for step in self._steps_of(head)
        )

    def _is_known(self, fact: _Fact) -> bool:
        """Whether the background has a fact; others than schema are not looked up, as there may be many."""
        return self.schema.has(fact) and bool(self.known.matching(fact))

    def _leads_on(self, step: _Step, binding: Binding, given: Sequence[_Fact], steps: int) -> bool:
        premise, rest = step
        for fact in given:
            bound = _matched(premise, fact, binding)
            if bound is not None and any(True for _ in self.known.ground(rest, bound)):
                return True
        if not steps:
            return False
        for bound in islice(self.known.ground(rest, binding), _MOST):
            s, p, o = shape_of(premise, bound)
            if s and p and o and self._follows((s, p, o), given, steps):
                return True
        return False

    def _steps_of(self, head: Head) -> tuple[_Step, ...]:
        """The ways to use a rule on one fact that may be outside of the background."""
        if head not in self._steps:
            self._steps[head] = tuple(
                (premise.pattern, rest)
                for at, premise in enumerate(head.premises)
                if not premise.cut
                for rest in [tuple(p.pattern for p in (*head.premises[:at], *head.premises[at + 1 :]))]
                if all(self.schema.has(shape_of(each)) for each in rest)
            )
        return self._steps[head]


def _of_anything(pattern: Pattern, way: Binding) -> _Fact:
    """A pattern as a fact about terms that nothing is known of; no rule and no background has them."""
    s, p, o = (node if isinstance(node, str) else f"?{node.name}" for node in filled(pattern, way))
    return s, p, o


def _matched(pattern: Pattern, fact: Shape, binding: Binding) -> Binding | None:
    """The binding with what a pattern's variables are if it matches a fact; None if it does not."""
    bound = dict(binding)
    for node, term in zip(pattern, fact, strict=True):
        assert term is not None
        if (node if isinstance(node, str) else bound.setdefault(node, term)) != term:
            return None
    return bound
