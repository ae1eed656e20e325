"""What the experiments on LUBM share: streams of universities, and jobs that answer queries over them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ensue.bench.lubm.files import timed
from ensue.bench.lubm.queries import DEPARTMENT_MS, NUMBERS, continuous_query, ontology_file
from ensue.bench.lubm.rdf import Department
from ensue.bench.lubm.university import departments
from ensue.files import Timed, read_statements
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet
from ensue.streamfile import write_stream

COMPLETE = "owl2rl"
"""The regime that answers all queries."""

MINIMAL = {
    4: ("cax-sco",),
    5: ("prp-dom", "prp-spo1", "cax-sco"),
    **dict.fromkeys(range(6, 11), ("cls-int1", "cax-sco", "scm-svf1")),
    11: ("prp-trp",),
    12: ("cls-int1", "cax-sco", "cls-svf1", "prp-dom"),
    13: ("prp-dom", "prp-spo1", "prp-inv1"),
}
"""The rules of OWL 2 RL that a query needs (INSTANS, table 7); the others need none.

The table has no prp-dom for query 12. But who heads a department is a chair only if a person, and that a
professor is one follows from having an address, or else from what an employee is, by cls-int2 or scm-int.
"""


def minimal_rules(number: int) -> RuleSet:
    """Those of the complete regime that a query needs.

    >>> [rule.name for rule in minimal_rules(11).rules]
    ['prp-trp']
    """
    wanted = MINIMAL.get(number, ())
    return RuleSet("minimal", tuple(rule for rule in complete_rules().rules if rule.name in wanted))


@cache
def complete_rules() -> RuleSet:
    """All of OWL 2 RL."""
    return load_rules(COMPLETE)


@cache
def ontology() -> Sent:
    """The univ-bench ontology as background."""
    with resources.as_file(ontology_file()) as path:
        return Sent(tuple((s, p, o, None) for s, p, o, _ in read_statements(path)))


def tumbling(count: int) -> str:
    """A window that holds so many departments, and then as many new ones."""
    return f"RANGE {count * DEPARTMENT_MS}ms"


def growing(count: int) -> str:
    """A window that holds all departments so far, looked at when so many have come."""
    return f"LANDMARK STEP {count * DEPARTMENT_MS}ms"


def job(
    rules: RuleSet,
    window: str,
    numbers: Iterable[int] = NUMBERS,
    *,
    by_department: bool = True,
    strategy: str = "auto",
) -> Job:
    """The job that answers some queries under some rules. No department brings schema."""
    asked = [parse_query(continuous_query(each, window, by_department=by_department)) for each in numbers]
    return Job.of(asked, rules, ontology(), Settings(fixed_schema=True, strategy=strategy))


def universities(count: int) -> Iterator[Department]:
    """The departments of the first so many universities."""
    return (department for number in range(count) for department in departments(number))


def by_department(count: int) -> list[list[Timed]]:
    """The statements of so many universities, event by event."""
    return [list(event) for _, event in groupby(timed(universities(count)), key=itemgetter(0))]


def stream_file(count: int, folder: Path) -> Path:
    """The stream of so many universities; the same file if it was written before."""
    file = folder / f"lubm-{count}.tsv"
    if not file.exists():
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as out:
            write_stream(out.name, timed(universities(count)))
        os.replace(out.name, file)
    return file
