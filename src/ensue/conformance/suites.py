"""The suites by name: read, run, and told about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from ensue.bench.harness import Table
from ensue.conformance import citybench, entailment, queries, semantics, tables
from ensue.conformance.library import NONE, rules_of
from ensue.conformance.manifests import GraphCase, QueryCase
from ensue.conformance.needed import Coverage, needed_rules
from ensue.conformance.outcome import Outcome, exceptions, unexpected
from ensue.conformance.question import Question, ask

REGIMES = (
    *("rdf", "rdfs", "rdfs + rdfs-axioms", "rhodf", "dstar", "dstar+p", "owl2rl", "owl2rl + swclos2"),
    *("sparkwave", "rdfs-jena", "pdsv"),
)
"""The regimes of tables 4 and 5."""

Case = TypeVar("Case", QueryCase, GraphCase)

Tell = Callable[[int, int, str], None]
"""Told how many of how many tests are done, and which is next."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a suite."""

    suite: str
    outcomes: Sequence[Outcome]
    tables: Sequence[Table]
    unexpected: Sequence[str]

    def data(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return {
            "suite": self.suite,
            "unexpected": list(self.unexpected),
            "tables": [
                {"title": table.title, "rows": [dict(row) for row in table.rows]} for table in self.tables
            ],
            "tests": [asdict(outcome) for outcome in self.outcomes],
        }


def run_queries(path: Path, tell: Tell) -> Report:
    """The suite `w3c-query`."""
    outcomes = _told(queries.read(path), queries.run, tell)
    return _report("w3c-query", outcomes, [tables.by_evaluator(outcomes)])


def run_semantics(path: Path, tell: Tell) -> Report:
    """The suite `rdf-mt`."""
    outcomes = _told(semantics.read(path), semantics.run, tell)
    return _report("rdf-mt", outcomes, [tables.by_kind(outcomes), tables.in_all(outcomes)])


def run_entailment(path: Path, tell: Tell, *, rules: bool = True) -> Report:
    """The suite `w3c-entailment`; `rules`: find out which rules each test needs, too."""
    cases = entailment.read(path)
    outcomes = _told(cases, entailment.run, tell)
    found = [tables.by_regime(outcomes), tables.in_all(outcomes)]
    if rules:
        found += rule_tables([case for case in cases if set(case.regimes) <= entailment.STOCK.keys()], tell)
    return _report("w3c-entailment", outcomes, found)


def run_citybench(path: Path, tell: Tell, engines: Iterable[str] = (citybench.LOCAL,)) -> Report:
    """The suite `citybench`, on engines by name."""
    cases = citybench.read(path)
    with ExitStack() as stack:
        found: dict[str, citybench.Engine] = {}
        if citybench.LOCAL in engines:
            found[citybench.LOCAL] = citybench.in_process
        if citybench.SPARK in engines:
            from ensue.conformance.citybench_spark import on_spark

            tell(0, len(cases), "starting Spark")
            found[citybench.SPARK] = stack.enter_context(on_spark(cases))
        measured: list[citybench.Measured] = []
        for number, case in enumerate(cases):
            tell(number, len(cases), case.name)
            measured += citybench.beside_oxigraph(case, found)
    outcomes = [citybench.outcome(each) for each in measured]
    return _report("citybench", outcomes, citybench.times(measured))


SUITES: dict[str, Callable[[Path, Tell], Report]] = {
    "w3c-entailment": run_entailment,
    "rdf-mt": run_semantics,
    "w3c-query": run_queries,
    "citybench": run_citybench,
}


def rule_tables(cases: Iterable[QueryCase], tell: Tell) -> list[Table]:
    """INSTANS's tables 4 and 5 for the tests that do not pass without rules."""
    asked = [question for question in map(Question.of, cases) if ask(question, rules_of(NONE)) is not None]
    needs: dict[str, dict[str, tuple[str, ...]]] = {}
    for number, regime in enumerate(REGIMES):
        needs[regime] = {}
        for done, question in enumerate(asked):
            tell(number * len(asked) + done, len(REGIMES) * len(asked), f"{regime}: {question.name}")
            if ask(question, rules_of(regime)) is None:
                needs[regime][question.name] = needed_rules(question, rules_of(regime))
    lines = [Coverage.of(regime, rules_of(regime), tests) for regime, tests in needs.items()]
    return [tables.rules_needed([each.name for each in asked], needs), tables.coverages(lines)]


def _told(cases: Sequence[Case], run: Callable[[list[Case]], Iterable[Outcome]], tell: Tell) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for number, case in enumerate(cases):
        tell(number, len(cases), case.name)
        outcomes += run([case])
    return outcomes


def _report(suite: str, outcomes: Sequence[Outcome], found: Sequence[Table]) -> Report:
    reasons = exceptions(suite)
    every = [*found, tables.not_passed(outcomes, reasons)]
    return Report(suite, outcomes, every, unexpected(outcomes, reasons))
