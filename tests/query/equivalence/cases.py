"""Random settings for whole queries: rules, background, graphs, streams with disorder, and what is done when.

A case is data: everything in it follows from one seed, and every engine gets it in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from equivalence import plain
from equivalence.rulegen import CLASSES, LINKS, SCHEMA, THINGS, TYPE, random_rules
from query.equivalence.queries import Menu, random_query

from ensue.query.language import parse_query
from ensue.query.scopes import axis_of
from ensue.rules.tree import Mint, RuleSet
from ensue.terms import XSD, literal
from ensue.windows.spec import Bounds

Statement = tuple[str, str, str]

STREAMS = ("urn:s", "urn:t")
GRAPHS = ("urn:g", "urn:h")
LITERALS = (
    *(literal(str(number), datatype=XSD + "integer") for number in (1, 2, 3)),
    literal("1.5", datatype=XSD + "decimal"),
    literal("x"),
    literal("y", language="en"),
)
BLANK = "_:n"

MOST_FACTS = 90
"""More facts than this make a slow case that shows nothing new."""


@dataclass(frozen=True)
class Register:
    """A query is registered."""

    text: str


@dataclass(frozen=True)
class Push:
    """A batch arrives on a stream: times and statements."""

    stream: str
    rows: tuple[tuple[int, Statement], ...]


@dataclass(frozen=True)
class Advance:
    """The results are taken; before that it becomes `to`, or nothing is promised."""

    to: int | None = None


@dataclass(frozen=True)
class End:
    """One stream ends (None: all do)."""

    stream: str | None = None


@dataclass(frozen=True)
class Change:
    """The background is another from a time on: reloaded, if at all, then without these and with those."""

    at: int
    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()
    reloaded: tuple[Statement, ...] | None = None
    graphs: tuple[tuple[str, tuple[Statement, ...]], ...] = ()


Action = Register | Push | Advance | End | Change


@dataclass(frozen=True)
class Case:
    """A setting, and what is done one after the other."""

    seed: int
    rules: RuleSet
    background: tuple[Statement, ...]
    graphs: dict[str, tuple[Statement, ...]]
    t0: int
    bounds: Bounds
    allowed: dict[str, int]
    """How much disorder each stream may have; what is later is admitted if a window is still open."""
    actions: tuple[Action, ...]

    def at(self, time: int) -> Case:
        """The same case with the background of an instant from the start."""
        stated, graphs = list(self.background), dict(self.graphs)
        changes = [action for action in self.actions if isinstance(action, Change) and action.at <= time]
        for change in sorted(changes, key=lambda change: change.at):
            stated = list(stated if change.reloaded is None else change.reloaded)
            stated = [each for each in stated if each not in change.removed] + list(change.added)
            graphs |= dict(change.graphs)
        return replace(self, background=tuple(stated), graphs=graphs)


def make_case(seed: int) -> Case:
    """The case of a seed: the first of its attempts that stays small.

    >>> make_case(7) == make_case(7), make_case(7).actions[-1]
    (True, End(stream=None))
    """
    attempt = 0
    while True:
        case = _Maker(seed, Random(f"{seed}/{attempt}")).case()
        if stays_small(case):
            return case
        attempt += 1


def axioms(rules: RuleSet) -> tuple[Statement, ...]:
    """The statements that hold under rules without premises."""
    return tuple((str(a.s), str(a.p), str(a.o)) for a in rules.axioms)


def stays_small(case: Case) -> bool:
    """Whether all that ever comes, taken together, has a small closure."""
    stated = {row[1] for action in case.actions if isinstance(action, Push) for row in action.rows}
    still = [*axioms(case.rules), *case.background, *(s for graph in case.graphs.values() for s in graph)]
    for change in (action for action in case.actions if isinstance(action, Change)):
        still += [*change.added, *(change.reloaded or ()), *(s for _, graph in change.graphs for s in graph)]
    try:
        plain.close(case.rules.rules, [*stated, *still], None, plain.Names(1), MOST_FACTS)
    except plain.TooLargeError:
        return False
    return True


class _Maker:
    """The state of the streams while a case is being made up."""

    def __init__(self, seed: int, random: Random) -> None:
        self.seed, self.random = seed, random
        self.streams = STREAMS[: random.choice((1, 2))]
        self.allowed = {stream: random.choice((0, 0, 2, 5)) for stream in self.streams}
        self.late = random.choice((0.0, 0.0, 0.1, 0.25))
        self.newest = dict.fromkeys(self.streams, random.randint(-10, 10))
        self.pool = [self._statement() for _ in range(random.randint(8, 20))]
        steps = tuple(random.randint(5, 14) for _ in range(2))
        graphs = GRAPHS[: random.choice((0, 0, 1, 2))]
        self.menu = Menu(
            self.streams, steps, (*steps, random.randint(10, 30), 15, 25), graphs, frozenset(self.streams)
        )
        self.queries = 0

    def case(self) -> Case:
        random = self.random
        rules, background = _rules(random), tuple(self._still() for _ in range(random.randrange(5)))
        graphs = {iri: tuple(self._still() for _ in range(random.randint(1, 4))) for iri in self.menu.graphs}
        t0, bounds = random.choice((0, 0, 3, -7, 90)), random.choice(("(]", "(]", "[)"))
        actions = (*self._registrations(), *self._happenings(), End())
        return Case(self.seed, rules, background, graphs, t0, bounds, self.allowed, actions)

    def _registrations(self) -> list[Register]:
        """The queries that are there from the start, in any order."""
        random, made = self.random, []
        if random.random() < 0.2:
            made.append(Register(random_query(random, "urn:made", self.menu, constructs=True)))
            also = () if random.random() < 0.6 else self.streams[:1]
            reads = replace(self.menu, streams=("urn:made", *also))
            made.append(self._register(reads))
        made += [self._register(self.menu) for _ in range(random.choice((0, 1, 1)) if made else 1)]
        if random.random() < 0.25:
            made.append(self._register(self.menu))
        for stream in self.streams:  # One that nobody reads could not be pushed to.
            if not any(f"STREAM <{stream}>" in each.text or f"ON <{stream}>" in each.text for each in made):
                made.append(self._register(replace(self.menu, streams=(stream,))))
        return random.sample(made, len(made))

    def _register(self, menu: Menu) -> Register:
        self.queries += 1
        return Register(random_query(self.random, f"urn:q{self.queries}", menu))

    def _latecomer(self) -> Register:
        """A query that can still be registered: none that looks at a count window as time passes."""
        while True:
            latecomer = self._register(self.menu)
            if "TRIPLES" not in latecomer.text or axis_of(parse_query(latecomer.text)) == "count":
                return latecomer

    def _happenings(self) -> Iterator[Action]:
        random = self.random
        left = random.randint(12, 30)
        joins_at = random.randint(3, left - 3) if random.random() < 0.2 else None
        while left > 0:
            batch = min(left, random.choice((1, 1, 2, 5)))
            stream = random.choice(self.streams)
            yield Push(stream, tuple(self._arrival(stream) for _ in range(batch)))
            left -= batch
            at = random.random()
            if at < 0.3:
                yield Advance()
            elif at < 0.36:
                yield Advance(min(self.newest.values()) + random.randint(-3, 8))
            if joins_at is not None and left <= joins_at:
                joins_at = None
                yield self._latecomer()
        if len(self.streams) > 1 and random.random() < 0.2:
            yield End(random.choice(self.streams))

    def _arrival(self, stream: str) -> tuple[int, Statement]:
        random, allowed = self.random, self.allowed[stream]
        self.newest[stream] += random.choice((0, 0, 0, 1, 1, 2, 2, 6))
        behind = random.randint(0, allowed)
        if random.random() < self.late:
            behind += random.randint(1, 12)
        statement = random.choice(self.pool) if random.random() < 0.8 else self._statement()
        return self.newest[stream] - behind, statement

    def _statement(self) -> Statement:
        random = self.random
        at = random.random()
        if at < 0.08:
            return random.choice(THINGS), TYPE, random.choice(CLASSES)
        if at < 0.12:
            return random.choice(SCHEMA)
        subject = BLANK if at < 0.17 else random.choice(THINGS[:4])
        return subject, random.choices(LINKS, (7, 3, 1))[0], self._object()

    def _object(self) -> str:
        at = self.random.random()
        if at < 0.3:
            return self.random.choice(LITERALS) if at < 0.25 else BLANK
        return self.random.choice(THINGS[:4])

    def _still(self) -> Statement:
        """A statement for a file, where a label of a blank node would not mean that of the streams."""
        while BLANK in (statement := self._statement()):
            pass
        return statement


def _rules(random: Random) -> RuleSet:
    """Random rules without those that mint: minted nodes are in no answer."""
    rules = random_rules(random)
    kept = [rule for rule in rules.rules if not any(isinstance(c, Mint) for c in rule.conditions)]
    return replace(rules, rules=tuple(kept))
