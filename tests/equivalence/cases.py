"""Random cases: a few rules, background, and steps in which copies arrive, leave and expire.

A case is data in terms, not in integers, so that each maintainer gets it through a dictionary of
its own. Everything in it follows from one seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from ensue.model import NEVER
from ensue.rules.tree import RuleSet

from . import plain
from .rulegen import random_background, random_rules, random_statement

Statement = tuple[str, str, str]

BASES = (0, 0, -40, 1_700_000_000_000)
"""Where a case's clock starts: sequence numbers, times before 1970, milliseconds beyond int32."""

GRAPHS = ("", "", "", "<urn:g>")

MOST_FACTS = 130
"""A context that could hold more than this makes a slow case that shows nothing new."""


@dataclass(frozen=True)
class Copy:
    """One copy of a statement; an empty graph is the default one."""

    context: int
    statement: Statement
    stamp: int
    graph: str = ""


@dataclass(frozen=True)
class Admit:
    """A batch that arrives."""

    copies: tuple[Copy, ...]


@dataclass(frozen=True)
class Retract:
    """Statements of which the newest copy (or every copy) is taken back."""

    copies: tuple[Copy, ...]
    every: bool


@dataclass(frozen=True)
class Learn:
    """Background that comes late."""

    statements: tuple[Statement, ...]


Operation = Admit | Retract | Learn


@dataclass(frozen=True)
class Step:
    """What happens before the threshold moves, where it moves to, and what is done afterwards.

    `then` is "" for nothing, "sweep" to free terms, "restart" to go on from a snapshot.
    """

    operations: tuple[Operation, ...]
    threshold: int
    then: str = ""


@dataclass(frozen=True)
class Case:
    """Rules, background and steps."""

    seed: int
    rules: RuleSet
    nesting: int
    background: tuple[Statement, ...]
    steps: tuple[Step, ...]

    @property
    def axioms(self) -> tuple[Statement, ...]:
        """The rules' axioms as statements (they have no variables)."""
        return tuple((str(a.s), str(a.p), str(a.o)) for a in self.rules.axioms)


def make_case(seed: int) -> Case:
    """The case of a seed: the first of its attempts in which the contexts stay small.

    >>> make_case(7) == make_case(7), 1 <= len(make_case(7).rules.rules) <= 5
    (True, True)
    """
    attempt = 0
    while True:
        case = _Maker(seed, Random(f"{seed}/{attempt}")).case()
        if stays_small(case):
            return case
        attempt += 1


def stays_small(case: Case) -> bool:
    """Whether no step can hold many facts: closure is monotone, so all that ever arrives bounds it."""
    names = plain.Names(case.nesting)
    stated: dict[int, set[Statement]] = {}
    background = {*case.axioms, *case.background}
    for operation in (operation for step in case.steps for operation in step.operations):
        if isinstance(operation, Admit):
            for copy in operation.copies:
                stated.setdefault(copy.context, set()).add(copy.statement)
        elif isinstance(operation, Learn):
            background |= {*operation.statements}
    try:
        ground = plain.close(case.rules.rules, background, None, names, MOST_FACTS)
        for facts in stated.values():
            plain.close(case.rules.rules, facts, ground, names, MOST_FACTS)
    except plain.TooLargeError:
        return False
    return True


class _Maker:
    """The state of the stream while a case is being made up."""

    def __init__(self, seed: int, random: Random) -> None:
        self.seed, self.random = seed, random
        self.contexts = random.choice((1, 1, 2, 2, 3))
        self.range = random.randrange(4, 20)
        self.busy = 4 + self.contexts * random.choice((4, 12, 24))
        self.clock = random.choice(BASES)
        self.threshold = NEVER
        self.sent: list[Copy] = []
        # From a pool, so that copies repeat and derivations compete.
        self.pool = [random_statement(random) for _ in range(random.randrange(15, 40))]

    def case(self) -> Case:
        random = self.random
        rules, background = random_rules(random), tuple(random_background(random))
        steps = tuple(self._step() for _ in range(random.randrange(3, 9)))
        return Case(self.seed, rules, random.choice((1, 1, 2)), background, steps)

    def _step(self) -> Step:
        random = self.random
        self.clock += random.choice((0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, self.range))
        operations = tuple(self._operations())
        self.threshold = self._next_threshold()
        then = random.choices(("", "sweep", "restart"), (80, 14, 6))[0]
        return Step(operations, self.threshold, then)

    def _operations(self) -> Iterator[Operation]:
        random = self.random
        if not self.sent:
            # A window that holds something from the start: what is derived from little is shallow.
            yield Admit(tuple(self._arrival() for _ in range(14 * self.contexts)))
        for _ in range(random.choice((0, 1, 1, 1, 1, 2))):
            yield Admit(tuple(self._arrival() for _ in range(random.randrange(1, self.busy))))
            if self.sent and random.random() < 0.3:
                yield self._retraction()
        if random.random() < 0.12:
            yield Learn(tuple(random.choices(self.pool, k=random.randrange(1, 3))))
        if self.sent and random.random() < 0.25:
            yield self._retraction()

    def _arrival(self) -> Copy:
        random = self.random
        again = random.choice(self.sent) if self.sent and random.random() < 0.2 else None
        context = again.context if again else random.randrange(self.contexts) + 1
        statement = again.statement if again else self._statement()
        copy = Copy(context, statement, self._stamp(), random.choice(GRAPHS))
        self.sent.append(copy)
        return copy

    def _statement(self) -> Statement:
        s, p, o = self.random.choice(self.pool)
        # A stream brings new terms for ever; once they are swept their integers come back.
        return (f"<urn:new{len(self.sent)}>", p, o) if self.random.random() < 0.08 else (s, p, o)

    def _stamp(self) -> int:
        """Mostly about now; some late, some on either side of a threshold."""
        random = self.random
        at = random.random()
        if at < 0.55:
            return self.clock - random.randrange(2)
        if at < 0.85 or self.threshold == NEVER:
            return self.clock - random.randrange(self.range + 1)
        return self.threshold + random.choice((-1, 0, 1, 1, 2))

    def _retraction(self) -> Retract:
        random = self.random
        copies = random.choices(self.sent, k=random.randrange(1, 4))
        if random.random() < 0.2:
            copies.append(Copy(1, random_statement(random), 0))
        return Retract(tuple(copies), every=random.random() < 0.3)

    def _next_threshold(self) -> int:
        """The window's lower end mostly; at times where it was, at a copy's stamp, past them all."""
        random = self.random
        at = random.random()
        if at < 0.15:
            return self.threshold
        wanted = self.clock - self.range
        if at < 0.33 and self.sent:
            wanted = random.choice(self.sent).stamp + random.choice((-1, 0))
        elif at < 0.38:
            wanted = self.clock + 1
        return max(self.threshold, wanted)
