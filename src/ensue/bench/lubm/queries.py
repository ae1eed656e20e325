"""The benchmark's queries and ontology, from the files that ship beside this one."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

NUMBERS = range(1, 15)
STREAM = "urn:lubm"
DEPARTMENT_MS = 1000
"""Departments come so far apart: the first at this time, each next one so much later."""


def ontology_file() -> Traversable:
    """The univ-bench ontology, in Turtle."""
    return resources.files(__package__) / "univ-bench.ttl"


def plain_query(number: int) -> str:
    """A query over everything there is, as the benchmark asks it.

    >>> print(plain_query(6))
    # All students. Graduates are students because they take courses. Many answers.
    PREFIX ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#>
    SELECT ?X WHERE {
      ?X a ub:Student .
    }
    <BLANKLINE>
    """
    return (resources.files(__package__) / "queries" / f"q{number}.rq").read_text(encoding="utf-8")


def continuous_query(
    number: int, window: str = f"RANGE {DEPARTMENT_MS}ms", *, by_department: bool = True
) -> str:
    """The query over a window of departments: each by itself, or all that the window holds together.

    >>> print(continuous_query(6)[:77])
    REGISTER QUERY q6 AS
    FROM STREAM <urn:lubm> [RANGE 1000ms]
    PARTITION BY GRAPH
    """
    partition = "PARTITION BY GRAPH\n" if by_department else ""
    return f"REGISTER QUERY q{number} AS\nFROM STREAM <{STREAM}> [{window}]\n{partition}{plain_query(number)}"
