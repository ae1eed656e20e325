"""Random partitioned queries, and what they have to answer by the definition.

The reference splits the statements of each window by their keys, in plain Python, and gives each part alone
to a reasoner of its own that recomputes an unpartitioned query. Nothing of it knows of contexts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from equivalence import plain
from equivalence.rulegen import CLASSES, LINKS, SCHEMA, THINGS, TYPE, random_rules

from ensue import Reasoner
from ensue.knowledge import Sent
from ensue.rules.tree import RuleSet
from ensue.windows.frontier import Disorder

STREAM = "urn:s"
GRAPHS = (None, None, "<urn:g>", "<urn:h>", "_:i")
ROOMS = ("<urn:k>", "<urn:l>", '"m"')
KEY = "<urn:in>"
WINDOWS = ("[RANGE 10ms STEP 5ms]", "[RANGE 10ms TUMBLING]", "[RANGE 12ms STEP 4ms]")

QUERIES = (
    "SELECT ?x ?y %s WHERE { ?x <urn:p> ?y }",
    "SELECT ?x ?p ?y %s WHERE { ?x ?p ?y }",
    "SELECT (COUNT(*) AS ?n) %s WHERE { ?x <urn:p> ?y }",
    "SELECT ?y (COUNT(?x) AS ?n) %s WHERE { ?x <urn:p> ?y } GROUP BY ?y",
    "SELECT ?x %s WHERE { ?x <urn:p> ?y MINUS { ?y <urn:q> ?z } }",
    "SELECT ?x ?z %s WHERE { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } }",
    "SELECT DISTINCT ?y %s WHERE { ?x <urn:p> ?y }",
    "SELECT ?x ?y %s WHERE { ?x <urn:p> ?y } ORDER BY ?x ?y LIMIT 2",
    "SELECT ?x ?n %s WHERE { ?x <urn:p> ?y { SELECT (COUNT(*) AS ?n) { ?a ?b ?c } } }",
    "SELECT ?x %s WHERE { ?x <urn:p>+ ?y }",
    "SELECT ?x ?t %s WHERE { ?x <urn:p> ?y BIND(f:timestamp(?x, <urn:p>, ?y) AS ?t) }",
    "ASK %s WHERE { ?x <urn:p> ?y . ?y <urn:p> ?z }",
    "CONSTRUCT { ?y <urn:of> ?x } %s WHERE { ?x <urn:p> ?y }",
    "SELECT ?x %s WHERE { ?x <urn:p> ?y MINUS { ?a <urn:q> ?b } }",
    "SELECT ?x ?y %s WHERE { ?x <urn:p> ?y VALUES (?x ?y) { (<urn:a> UNDEF) (UNDEF <urn:b>) } }",
    "SELECT ?x ?y ?z %s WHERE { { ?x <urn:p> ?y } UNION { ?x <urn:q> ?z } FILTER EXISTS { ?x ?b <urn:c> } }",
    "SELECT ?a ?y %s WHERE { ?a ?b ?y { SELECT ?y { ?x <urn:p> ?y } ORDER BY ?y ?x LIMIT 1 OFFSET 1 } }",
    "SELECT ?x (MIN(?n) AS ?m) %s WHERE { OPTIONAL { ?x <urn:p> ?y } BIND(STR(?y) AS ?n) } GROUP BY ?x",
)
PREFIX = "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> "


@dataclass(frozen=True)
class Event:
    """Something comes on the stream: a statement, or one is taken back."""

    time: int
    statement: tuple[str, str, str]
    graph: str | None
    retracts: str = ""
    """"newest", "every", or nothing."""


@dataclass(frozen=True)
class Case:
    seed: int
    rules: RuleSet
    background: tuple[tuple[str, str, str], ...]
    query: str
    """With a place for what is between the form and WHERE."""
    window: str
    by: str
    frame: str
    """"EVERY", "RSTREAM", "ISTREAM", "DSTREAM", or nothing."""
    allowed: int
    events: tuple[Event, ...]

    def text(self, partitioned: bool = True) -> str:
        """The query, or the one that each part is asked: all its answers, whenever the window moves."""
        clause = f" PARTITION BY {self.by}" if partitioned else ""
        if self.frame.endswith("STREAM"):
            where = self.query % f"FROM NAMED WINDOW <urn:w> ON <{STREAM}> {self.window}{clause}"
            head, body = where.split("WHERE {", 1)
            inner, tail = body.rsplit("}", 1)
            how = self.frame if partitioned else "RSTREAM"
            return f"{PREFIX}REGISTER {how} <q> AS {head}WHERE {{ WINDOW <urn:w> {{ {inner} }} }}{tail}"
        every = " COMPUTED EVERY 7ms" if self.frame and partitioned else ""
        where = self.query % f"FROM STREAM <{STREAM}> {self.window}{clause}"
        return f"{PREFIX}REGISTER QUERY q{every} AS {where}"

    def reasoner(self, made=Reasoner, **options) -> Reasoner:
        knowledge = Sent(tuple((*statement, None) for statement in self.background))
        return made(self.rules, knowledge, disorder=Disorder(self.allowed), **options)


def make_case(seed: int) -> Case:
    """The case of a seed: the first of its attempts whose closure stays small."""
    for attempt in range(1000):
        case = _case(seed, Random(f"{seed}/{attempt}"))
        stated = [event.statement for event in case.events]
        axioms = [(str(a.s), str(a.p), str(a.o)) for a in case.rules.axioms]
        try:
            plain.close(case.rules.rules, [*stated, *case.background, *axioms], None, plain.Names(1), 90)
        except plain.TooLargeError:
            continue
        return case
    raise AssertionError(f"no small case for seed {seed}")


def _case(seed: int, random: Random) -> Case:
    by = ("GRAPH", KEY, KEY, "<urn:r>")[seed % 4]
    pool = [_statement(random) for _ in range(random.randint(6, 14))]
    background = [_statement(random) for _ in range(random.randrange(3))]
    background += random.sample(SCHEMA, random.randrange(4))
    keys_come = random.random() < 0.6
    if by != "GRAPH":
        key = by if random.random() < 0.7 else "<urn:q>"  # which rules may make keys of
        things = random.sample(THINGS, random.randrange(5))
        background += [(thing, key, random.choice(ROOMS)) for thing in things]
    allowed = random.choice((0, 0, 3, 6))
    retracts = 0.15 if allowed == 0 and random.random() < 0.5 else 0.0
    late = 0.0 if retracts else random.choice((0.0, 0.2))
    events, newest = [], random.randint(-5, 5)
    for _ in range(random.randint(10, 24)):
        newest += random.choice((0, 1, 1, 2, 4))
        time = newest - random.randint(0, allowed)
        time -= random.randint(1, 12) if random.random() < late else 0
        if events and random.random() < retracts:
            taken = random.choice(events)
            events.append(Event(newest, taken.statement, taken.graph, random.choice(("newest", "every"))))
            continue
        statement = random.choice(pool)
        if by != "GRAPH" and not keys_come and statement[1] == by:
            continue
        if by != "GRAPH" and keys_come and random.random() < 0.25:
            statement = (random.choice(THINGS), by, random.choice(ROOMS))
        events.append(Event(time, statement, random.choice(GRAPHS)))
    rules = RuleSet("none", ()) if random.random() < 0.1 else random_rules(random)
    query = QUERIES[(seed * 5 + random.randrange(5)) % len(QUERIES)]
    frame = random.choice(("", "", "EVERY", "RSTREAM", "ISTREAM", "DSTREAM"))
    window = random.choice(WINDOWS)
    return Case(seed, rules, tuple(background), query, window, by, frame, allowed, tuple(events))


def _statement(random: Random) -> tuple[str, str, str]:
    if random.random() < 0.15:
        return random.choice(THINGS), TYPE, random.choice(CLASSES)
    return random.choice(THINGS), random.choices(LINKS, (6, 3, 1))[0], random.choice(THINGS)


def run(case: Case, reasoner: Reasoner) -> list:
    """The results of a reasoner that has registered queries of the case."""
    results = []
    for number, event in enumerate(case.events):
        row = [(event.time, *event.statement, event.graph)]
        if event.retracts:
            reasoner.retract(STREAM, row, every=event.retracts == "every")
        else:
            reasoner.push(STREAM, row)
        if number % 3 == 0:
            results += reasoner.advance()
    return results + list(reasoner.end())


@dataclass(frozen=True)
class Copy:
    time: int
    statement: tuple[str, str, str]
    graph: str | None
    frontier: int
    """How far time had come when it came: windows that had closed by then do not hold it."""
    until: list[int]
    """When it is taken back, if it is."""


def copies_of(case: Case) -> list[Copy]:
    """All copies that ever come."""
    found: list[Copy] = []
    frontier = -(2**63)
    for event in case.events:
        same = [c for c in found if (c.statement, c.graph) == (event.statement, event.graph) and not c.until]
        if event.retracts == "every":
            for copy in same:
                copy.until.append(event.time)
        elif event.retracts and same:
            max(enumerate(same), key=lambda each: (each[1].time, each[0]))[1].until.append(event.time)
        elif not event.retracts:
            found.append(Copy(event.time, event.statement, event.graph, frontier, []))
            frontier = max(frontier, event.time - case.allowed - 1)
    return found


def expected(case: Case, windows: list[tuple[int, int]]) -> list[list[tuple[str, list]]]:
    """For each window the answers, partition after partition; and what is in no partition."""
    copies, closed = copies_of(case), closed_background(case)
    return [_answers(case, copies, closed, *window) for window in windows]


def closed_background(case: Case) -> set[tuple[str, str, str]]:
    reasoner = case.reasoner(strategy="recompute", prune=False)
    text = f"SELECT * FROM STREAM <{STREAM}> [RANGE 1ms TUMBLING] {{ ?s ?p ?o }}"
    reasoner.register(text)
    reasoner.push(STREAM, [(0, "<urn:nobody>", "<urn:says>", "<urn:nothing>")])
    return {tuple(row) for result in reasoner.end() for row in result.answers.rows}


def _answers(case, copies, closed, open_, close):
    window = [
        copy
        for copy in copies
        if open_ < copy.time <= close
        and copy.frontier < close
        and not any(time <= close for time in copy.until)
    ]
    parts: dict[str, list[tuple]] = {}
    unkeyed = 0
    for copy in window:
        s, p, o = copy.statement
        keys = {copy.graph or "": copy.time}
        if case.by != "GRAPH":
            keys = {}
            for other in window:
                if other.statement[:2] == (s, case.by):
                    key = other.statement[2]
                    keys[key] = max(keys.get(key, other.time), other.time)
            keys |= {row[2]: 2**62 for row in closed if row[:2] == (s, case.by)}
        unkeyed += not keys
        for key, since in keys.items():
            parts.setdefault(key, []).append((min(copy.time, since), s, p, o))
    return unkeyed, [(key, _alone(case, parts[key], close)) for key in sorted(parts)]


def _alone(case, rows, close):
    """The answers of one partition: those of a reasoner that knows nothing else."""
    reasoner = case.reasoner(strategy="recompute", evaluator="oxigraph", prune=False)
    reasoner.register(case.text(partitioned=False))
    reasoner.push(STREAM, sorted(rows))
    return next(list(r.answers.rows) for r in reasoner.advance(to=close) if r.close == close)


def bag(case: Case, parts) -> Counter:
    """All answers together: yes once, and each triple."""
    rows = [row for _, answers in parts for row in answers]
    return Counter(rows if case.query.startswith("SELECT") else set(rows))


def difference(case: Case, results, wanted) -> str | None:
    """What is wrong with the results of all evaluations, if anything is."""
    before: Counter = Counter()
    for result, (_, parts) in zip(results, wanted, strict=True):
        now = bag(case, parts)
        given = {"ISTREAM": now - before, "DSTREAM": before - now}.get(case.frame, now)
        found = Counter(result.answers.rows)
        problem = None if found == given else f"{found} instead of {given}"
        if problem is None and given is now and case.query.startswith("SELECT"):
            problem = _order_problem(case, list(result.answers.rows), parts)
        if problem is not None:
            return f"window {result.open}..{result.close}: {problem}"
        before = now
    return None


def _order_problem(case: Case, rows, parts) -> str | None:
    at = 0
    for key, answers in parts:
        mine = rows[at : at + len(answers)]
        at += len(answers)
        is_same = mine == answers if "ORDER" in case.query else Counter(mine) == Counter(answers)
        if not is_same:
            return f"partition {key}: {mine} instead of {answers}"
    return None if at == len(rows) else f"{rows[at:]} are too many"
