"""The W3C's SPARQL 1.1 entailment tests: which rules give the right answers to each.

A test is tagged with the regimes under which its results hold. For each tag it is tried with the rules of
ours that stand for that regime, without any rules, and with a file for this test if there is one. What
passes is asked again as a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ensue.conformance.library import BELOW_FILES, FILE, NONE, Library, file_of, rules_of
from ensue.conformance.manifests import Manifest, QueryCase, query_cases
from ensue.conformance.outcome import Outcome, Status
from ensue.conformance.queries import suite_folder
from ensue.conformance.question import Question, ask, replay
from ensue.rules.load import parse_rules
from ensue.rules.tree import RuleSet

STOCK: Mapping[str, tuple[str, ...]] = {
    "RDF": ("rdf",),
    "RDFS": ("rdfs",),
    "D": ("rdfs",),
    "OWL-RDF-Based": ("owl2rl", "dstar+p", "owl2rl + swclos2"),
    "OWL-Direct": ("owl2rl", "dstar+p", "owl2rl + swclos2"),
}
"""What stands for the regimes of the tests: the first that gives the right answers. RIF is not here: its
rules come in documents of their own, which are not part of the suite."""

STRENGTH = tuple(dict.fromkeys(way for ways in STOCK.values() for way in ways))
"""The stock rules, those that are preferred first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A test under one of the regimes that it is tagged with."""

    regime: str
    way: str | None
    """The stock regime that gives the right answers, or `rule file`; None: nothing does."""


def read(suite: Path) -> list[QueryCase]:
    """All tests of the suite."""
    return list(query_cases(Manifest(suite_folder(suite) / "entailment" / "manifest.ttl")))


def run(cases: Iterable[QueryCase], library: Library = rules_of) -> Iterator[Outcome]:
    """Try each test, and tell with what it passes; `library` has the stock rules."""
    return (judge(case, library) for case in cases)


def judge(case: QueryCase, library: Library = rules_of) -> Outcome:
    """Try one test."""
    if not set(case.regimes) <= STOCK.keys():
        why = f"tagged {', '.join(case.regimes)}, for which there are no rules"
        return Outcome(case.name, case.iri, Status.NOT_RUNNABLE, NONE, why, _details(case, {}, []))
    trial = Trial(Question.of(case), library)
    verdicts = [trial.verdict(regime) for regime in case.regimes]
    way, why = trial.way(verdicts), ""
    if way is None:
        regime = next(verdict.regime for verdict in verdicts if verdict.way is None)
        way, why = STOCK[regime][0], trial.problems[STOCK[regime][0]] or ""
    elif (problem := trial.as_stream(way)) is not None:
        why = f"as a stream: {problem}"
    status = Status.FAILED if why else Status.PASSED
    return Outcome(case.name, case.iri, status, way, why, _details(case, trial.problems, verdicts))


class Trial:
    """A test's question, and what came of asking it with each set of rules so far."""

    def __init__(self, question: Question, library: Library = rules_of) -> None:
        self.question = question
        self.problems: dict[str, str | None] = {}
        self._library = library
        self._file = file_of(question.name)
        self._passes(NONE)

    def verdict(self, regime: str) -> Verdict:
        """Whether the test passes under one of its regimes, and with what."""
        ways = STOCK[regime] if self._file is None else (*STOCK[regime], FILE)
        return Verdict(regime, next((way for way in ways if self._passes(way)), None))

    def way(self, verdicts: Iterable[Verdict]) -> str | None:
        """The least that is needed to pass under all regimes: no rules, a stock regime, a rule file."""
        ways = [verdict.way for verdict in verdicts]
        if None in ways:
            return None
        if self.problems[NONE] is None:
            return NONE
        return FILE if FILE in ways else min((way for way in ways if way), key=STRENGTH.index)

    def as_stream(self, way: str) -> str | None:
        """What is wrong when the data comes on a stream; where no rules are needed, under the last regime."""
        if way == NONE:
            way = next(tried for tried, problem in reversed(self.problems.items()) if problem is None)
        return replay(self.question, self._rules(way))

    def _passes(self, way: str) -> bool:
        if way not in self.problems:
            self.problems[way] = ask(self.question, self._rules(way))
        return self.problems[way] is None

    def _rules(self, way: str) -> RuleSet:
        if way != FILE:
            return self._library(way)
        assert self._file is not None
        return self._library(BELOW_FILES) + parse_rules(self._file, f"{self.question.name}.ru")


def _details(
    case: QueryCase, problems: Mapping[str, str | None], verdicts: Iterable[Verdict]
) -> dict[str, object]:
    return {
        "regimes": list(case.regimes),
        "passes": {way: problem is None for way, problem in problems.items()},
        "with": {verdict.regime: verdict.way for verdict in verdicts},
    }
