"""Workloads that the choice of a strategy was not calibrated on: one query each, statements in turn."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ensue.bench.hierarchy import Hierarchy
from ensue.bench.isin import IS_IN, Trees, isin_statements, place
from ensue.bench.ontology import TYPE, Statement
from ensue.errors import InputError, Place
from ensue.files import Timed, read_statements
from ensue.knowledge import Sent

STREAM = "urn:stream"
_UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"


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


def workloads(data: Path, seed: int) -> Iterator[Workload]:
    """All of them; `data` is where third-party material is."""
    yield _isin(seed)
    for depth, fanout in ((3, 4), (5, 3)):
        yield _hierarchy(depth, fanout, seed)
    yield from _lubm(data)


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
    "LUBM 1": f"?x a <{_UB}GraduateStudent> . ?x <{_UB}takesCourse> ?y",
    "LUBM 4": f"?x a <{_UB}Professor> ; <{_UB}worksFor> ?d ; <{_UB}name> ?n ; <{_UB}emailAddress> ?e",
    "LUBM 6": f"?x a <{_UB}Student>",
}


def _lubm(data: Path) -> Iterator[Workload]:
    """One university, statement by statement in order of subject, under its ontology."""
    stated = data / "lubm/ground-truth/lubm-1-0.distinct.sorted.nt.gz"
    try:
        lines = gzip.decompress(stated.read_bytes())
    except OSError as problem:
        hint = "set ENSUE_DATA, or give --data"
        raise InputError("cannot be read", place=Place(str(stated)), hint=hint) from problem
    schema = data / "lubm/univ-bench.nt"
    known = Sent(tuple((s, p, o, None) for s, p, o, _ in read_statements(schema)))
    pool = [_split(line) for line in lines.decode().splitlines()]
    for name, where in _LUBM.items():
        yield Workload(name, "rdfs-jena", known, pool, where)


def _split(line: str) -> Statement:
    s, p, o = line.rstrip(" .").split(" ", 2)
    return s, p, o
