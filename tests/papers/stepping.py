"""Steps of a window over a stream, taken by the papers' mended programs and by the plain reference.

Everything here is over triples of terms as text; copies are numbered by their arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from datalog_interpreter import Interpreter, Row

from ensue.dictionary import Dictionary
from ensue.maintain.oracle import closure
from ensue.maintain.program import compile_rules
from ensue.model import BACKGROUND, FOREVER, NEVER, Copies
from ensue.rules.maintenance import maintenance_program
from ensue.rules.tree import RuleSet

CONTEXT = 1


@dataclass(frozen=True)
class Step:
    """What arrives (with its time) and what is taken back before the window closes."""

    close: int
    arrivals: tuple[tuple[Row, int], ...] = ()
    retracted: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Case:
    """Rules, what they are closed over, and the statements that a stream may bring."""

    name: str
    rules: RuleSet
    background: tuple[Row, ...]
    statements: tuple[Row, ...]


@dataclass(frozen=True)
class Outcome:
    """After a step: the timed facts of the window (not the background's), P+ and P-."""

    facts: dict[Row, int]
    inserted: set[Row]
    deleted: set[Row]


class Stream:
    """The log of copies, and which of them a step brings into the window or takes out of it."""

    def __init__(self, reach: int) -> None:
        self.reach = reach
        self.copies: dict[int, tuple[Row, int]] = {}
        self.live: set[int] = set()
        self._arrived = 0

    def take(self, step: Step) -> tuple[set[int], set[int]]:
        """Admit, retract and let the window close: the copies that came and those that went."""
        for row, time in step.arrivals:
            self.copies[self._arrived] = row, time
            self._arrived += 1
        for row in step.retracted:
            self._retract(row)
        before = self.live
        self.live = {k for k, (_, time) in self.copies.items() if time > step.close - self.reach}
        return self.live - before, before - self.live

    def rows(self, numbers: Iterable[int]) -> set[Row]:
        return {self.copies[number][0] for number in numbers}

    def _retract(self, row: Row) -> None:
        mine = [(time, number) for number, (other, time) in self.copies.items() if other == row]
        if mine:
            # The row stays on the list, so that `rows` can still name it, but in no window.
            self.copies[max(mine)[1]] = row, NEVER


class Reference:
    """The closure of each window from scratch, by `ensue.maintain.oracle`."""

    def __init__(self, case: Case, reach: int) -> None:
        self.dictionary = Dictionary()
        self.program = compile_rules(case.rules, self.dictionary)
        self.background = Copies.background(self.encode(row) for row in case.background)
        self.reach = reach
        self.before: set[Row] = set()

    def encode(self, row: Row) -> tuple[int, int, int]:
        return tuple(map(self.dictionary.encode, row))

    def closure(self, copies: Iterable[tuple[Row, int]], threshold: int) -> dict[int, dict[Row, int]]:
        batch = Copies.of((CONTEXT, *self.encode(row), time) for row, time in copies)
        closed: dict[int, dict[Row, int]] = {BACKGROUND: {}, CONTEXT: {}}
        for (context, *triple), stamp in closure(
            self.program, self.dictionary, [self.background, batch], threshold
        ).items():
            closed[context][tuple(map(self.dictionary.decode, triple))] = stamp
        return closed

    def ground(self) -> set[Row]:
        return set(self.closure([], NEVER)[BACKGROUND])

    def outcome(self, stream: Stream, close: int) -> Outcome:
        facts = self.closure((stream.copies[k] for k in stream.live), close - self.reach)[CONTEXT]
        before, self.before = self.before, set(facts)
        return Outcome(facts, set(facts) - before, before - set(facts))


def volz(case: Case, reach: int, steps: Sequence[Step]) -> Iterable[Outcome]:
    """Each step by the mended table 2. It has no stamps, so those of its outcome are 0."""
    interpreter = Interpreter(maintenance_program(case.rules, "volz").clauses)
    stream, ground = Stream(reach), Reference(case, reach).ground()
    axioms = {tuple(axiom) for axiom in case.rules.axioms}
    p = set(ground)
    for step in steps:
        came, went = stream.take(step)
        given = {
            "P": p,
            "PIns": stream.rows(came),
            "PDel": stream.rows(went),
            "PStated": stream.rows(stream.live) | set(case.background) | axioms,
            "PBackground": ground,
        }
        made = interpreter.run(given)
        p = made["PNew"]
        yield Outcome(dict.fromkeys(p - ground, 0), made["P+"], made["P-"])


def imars(case: Case, reach: int, steps: Sequence[Step]) -> Iterable[Outcome]:
    """Each step by the mended table 5, ended as section 4 of the paper ends it."""
    interpreter = Interpreter(maintenance_program(case.rules, "imars").clauses)
    stream, ground = Stream(reach), Reference(case, reach).ground()
    expires = dict.fromkeys(ground, FOREVER)
    for step in steps:
        arrived = len(stream.copies)
        stream.take(step)
        entering = [stream.copies[number] for number in range(arrived, len(stream.copies))]
        given = {
            "P": {(*row, t) for row, t in expires.items()},
            "PIns": {(*row, time + reach) for row, time in entering},
            "PBackground": ground,
        }
        made = interpreter.run(given, now=step.close + 1)
        inserted, deleted = ({row[:-1] for row in made[name]} for name in ("P+", "P-"))
        expires = {row: t for row, t in expires.items() if row not in deleted}
        expires |= {tuple(row): t for *row, t in made["P++"]}
        assert made["PNew"] == {(*row, t) for row, t in expires.items()}
        facts = {row: t - reach for row, t in expires.items() if t != FOREVER}
        yield Outcome(facts, inserted, deleted)


def random_steps(case: Case, seed: int, *, reach: int, retracting: bool = False) -> list[Step]:
    """Statements in and out of order, again and again, in steps of one to three seconds."""
    random = Random(f"{case.name} {seed}")
    steps, close = [], 0
    for _ in range(12):
        frontier, close = close, close + random.choice([1, 1, 2, 3])
        arrivals = []
        for _ in range(random.randrange(5)):
            late, on_time = (close - reach - 2, frontier), (frontier + 1, close)
            time = random.randint(*(late if random.random() < 0.2 else on_time))
            arrivals.append((random.choice(case.statements), time))
        taken = tuple(random.sample(case.statements, 2)) if retracting and random.random() < 0.6 else ()
        steps.append(Step(close, tuple(arrivals), taken))
    return steps
