"""LUBM by departments through INSTANS's input handler: the network, and what arrives at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources

from ensue.bench.lubm.queries import DEPARTMENT_MS, NUMBERS, plain_query
from ensue.bench.lubm.rdf import Department
from ensue.networks.parse import parse
from ensue.networks.tree import NetworkFile
from ensue.streamfile import Timed


def lubm_network(queries: Iterable[int] = NUMBERS) -> NetworkFile:
    """The handler, the entailment rules, and queries of the benchmark by their numbers.

    >>> [rule.name for rule in lubm_network([6, 14]).rules][-3:]
    ['cls-int1', 'q6', 'q14']
    """
    return parse(network_text(queries), "lubm.ru", "lubm")


def network_text(queries: Iterable[int] = NUMBERS) -> str:
    """The same as text."""
    rules = (resources.files(__package__) / "lubm.ru").read_text(encoding="utf-8")
    return rules + "".join(f"\n# rule: q{number}\n{plain_query(number)} ;\n" for number in queries)


def arriving(departments: Iterable[Department]) -> Iterator[Timed]:
    """The departments one after the other. Each begins with the statement that it is an ontology, by which
    the handler knows that the one before has ended.
    """
    for time, department in enumerate(departments, start=1):
        for s, p, o in department.statements():
            yield time * DEPARTMENT_MS, s, p, o, None
