"""Workloads that the choice of a strategy was not calibrated on: one query each, statements in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from random import Random

from ensue.bench.hierarchy import Hierarchy
from ensue.bench.isin import IS_IN, Trees, isin_statements, place
from ensue.bench.lubm.queries import ontology_file
from ensue.bench.lubm.rdf import name
from ensue.bench.lubm.university import departments
from ensue.bench.ontology import TYPE, Statement
from ensue.files import Timed, read_statements
from ensue.knowledge import Sent

STREAM = "urn:stream"


@dataclass(frozen=True)
class Workload:
    """Statements, what is known besides, the rules, and what is asked."""

    name: str
    rules: str
    knowledge: Sent
    statements: list[Statement]
    where: str

    def query(self, window: int, step: int) -> str:
        """The query over so many statements, evaluated when so many are new; one comes each millisecond."""
        return (
            f"REGISTER QUERY q AS SELECT * FROM STREAM <{STREAM}> [RANGE {window}ms STEP {step}ms] "
            f"WHERE {{ {self.where} }}"
        )

    def batch(self, first: int, count: int) -> list[Timed]:
        """Some statements from a number on: after the last comes the first again."""
        pool = self.statements
        return [(1 + k, *pool[k % len(pool)], None) for k in range(first, first + count)]


def workloads(seed: int) -> Iterator[Workload]:
    """All of them."""
    yield _isin(seed)
    for depth, fanout in ((3, 4), (5, 3)):
        yield _hierarchy(depth, fanout, seed)
    yield from _lubm()


def _isin(seed: int) -> Workload:
    pool = isin_statements(Trees(150, 4, 3), seed)
    where = f"?x {IS_IN} {place(3, 0)}"
    return Workload("isIn, transitive", "transitive-isin", Sent(), pool, where)


def _hierarchy(depth: int, fanout: int, seed: int) -> Workload:
    """Links between individuals, and their types, under classes and properties in trees."""
    random, schema = Random(seed), Hierarchy(depth, fanout, seed=seed).schema()
    subjects = {s for s, _, _ in schema}
    classes = sorted(each for each in subjects if "class" in each.lower())
    properties = sorted(subjects - set(classes))
    things = [f"<urn:thing:{k}>" for k in range(4000)]
    pool: list[Statement] = []
    for _ in range(20_000):
        if random.random() < 0.3:
            pool.append((random.choice(things), TYPE, random.choice(classes)))
        else:
            pool.append((random.choice(things), random.choice(properties), random.choice(things)))
    top = min(classes, key=len)
    where = f"?x {TYPE} {top} . ?x {properties[0]} ?y . ?y {properties[1]} ?z"
    known = Sent(tuple((*statement, None) for statement in schema))
    return Workload(f"random hierarchy, depth {depth}, fan-out {fanout}", "rdfs-jena", known, pool, where)


_LUBM = {
    "LUBM 1": f"?x a {name('GraduateStudent')} ; {name('takesCourse')} ?y",
    "LUBM 4": f"?x a {name('Professor')} ; {name('worksFor')} ?d ; {name('name')} ?n ; "
    f"{name('emailAddress')} ?e",
    "LUBM 6": f"?x a {name('Student')}",
}
"""Queries of LUBM for all departments and courses, not for a certain one."""


def _lubm() -> Iterator[Workload]:
    """One university, statement by statement in order of subject, under its ontology."""
    with resources.as_file(ontology_file()) as schema:
        known = Sent(tuple((s, p, o, None) for s, p, o, _ in read_statements(schema)))
    pool = sorted({statement for each in departments(0) for statement in each.statements()})
    for query, where in _LUBM.items():
        yield Workload(query, "rdfs-jena", known, pool, where)
