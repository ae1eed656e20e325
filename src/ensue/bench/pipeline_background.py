"""How long micro-batches take over backgrounds of different sizes: it must be as long over large ones.

The same stream goes through the same queries, over the univ-bench ontology alone and with universities of
LUBM beside it. It is about members of the first university, which all but the ontology alone have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

from ensue.bench.harness import Result, Row, Table, progress
from ensue.bench.lubm.rdf import name
from ensue.bench.lubm.workload import ontology, universities
from ensue.bench.pipeline_jobs import answer
from ensue.bench.pipeline_latency import percentiles
from ensue.files import Statement
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.spark.plan import plan_of
from ensue.spark.scratch import scratch

REGIME, STREAM = "rdfs", "urn:campus"
_ATTENDS, _ASKS = "<urn:attends>", "<urn:asks>"
_QUERIES = {
    "taught": f"?s {_ATTENDS} ?c . ?t {name('teacherOf')} ?c . ?t a {name('Professor')}",
    "advised": f"?s {_ASKS} ?t . ?t a {name('Faculty')} . ?t {name('worksFor')} ?c",
}
_WINDOW = "RANGE 10s STEP 5s"
_STATEMENTS, _STEP_MS = 20_000, 10
_MICRO_BATCHES, _WARM_UP = 40, 5
_ROUNDS = 3
"""Each size is run so often, in turn: the speed of a machine changes within minutes."""


@dataclass
class _Ran:
    """What was seen of the jobs over one background."""

    statements: int
    starts: list[float] = field(default_factory=list)
    """Seconds until the first micro-batch was there, from when the background was in memory."""
    seconds: list[float] = field(default_factory=list)
    """Those of each micro-batch after some to warm up."""
    answers: int = 0


def measure(spark: Any, sizes: Sequence[int], shards: int) -> Result:
    """The ontology alone, and with so many universities."""
    with scratch() as folder:
        file = write_stream_of_members(folder / "campus.tsv")
        ran: dict[int, _Ran] = {}
        for number in range(_ROUNDS):
            for size in (0, *sizes):
                known = background(size)
                progress(f"background: {len(known):,} statements, run {number + 1} of {_ROUNDS}")
                _run(spark, known, file, shards, ran.setdefault(size, _Ran(len(known))))
    return _compared(ran)


def background(univ: int) -> Sent:
    """The ontology, and the statements of so many universities."""
    stated = chain.from_iterable(each.statements() for each in universities(univ))
    statements: Iterator[Statement] = ((s, p, o, None) for s, p, o in stated)
    return Sent((*ontology().stated, *statements))


def write_stream_of_members(file: Path, count: int = _STATEMENTS) -> Path:
    """Statements about students, courses and teachers of the first university, drawn at random."""
    drawn, random = _members(), Random(7)
    with file.open("w", encoding="utf-8") as out:
        for number in range(count):
            about = (_ATTENDS, "Course") if number % 2 else (_ASKS, "Professor")
            student, other = random.choice(drawn["Student"]), random.choice(drawn[about[1]])
            out.write(f"{number * _STEP_MS}\t<{student}> {about[0]} <{other}> .\n")
    return file


def _members() -> Mapping[str, list[str]]:
    """The things of the first university by how the names of their classes end."""
    things = [thing for department in universities(1) for thing in department.things]
    endings = ("Student", "Course", "Professor")
    return {ending: [thing.iri for thing in things if thing.kind.endswith(ending)] for ending in endings}


def _run(spark: Any, known: Sent, file: Path, shards: int, ran: _Ran) -> None:
    began = perf_counter()
    prologue = f"FROM STREAM <{STREAM}> [{_WINDOW}] WHERE"
    asked = [
        parse_query(f"REGISTER QUERY {each} AS SELECT ?s ?c ?t {prologue} {{ {pattern} }}")
        for each, pattern in _QUERIES.items()
    ]
    plan = plan_of(Job.of(asked, load_rules(REGIME), known, Settings()), shards=shards)
    size = file.stat().st_size // _MICRO_BATCHES
    found = answer(spark, plan, file, bytes_per_batch=size, stream=STREAM)
    seen = [each.seconds for each in found.seen]
    ran.starts.append(perf_counter() - began - (seen[-1] - seen[0]))
    ran.seconds += [after - before for before, after in pairwise(seen[_WARM_UP:-1])]
    ran.answers = found.answers


def _compared(ran: Mapping[int, _Ran]) -> Result:
    rows: list[Row] = []
    for univ, each in ran.items():
        milliseconds = [1000 * seconds for seconds in each.seconds]
        rows.append(
            {
                "universities": univ,
                "statements": each.statements,
                "micro-batches": len(milliseconds),
                **{of: round(value) for of, value in percentiles(milliseconds).items()},
                "start s": round(median(each.starts), 1),
                "answers": each.answers,
            }
        )
    notes = [
        f"{after.statements:,} statements: {median(after.seconds) / median(before.seconds):.2f} times the "
        f"median over {before.statements:,}"
        for before, after in pairwise(ran.values())
    ]
    return Result([Table("ms of a micro-batch, by the size of the background", rows)], notes=notes)
