"""What came of a suite, as tables for the eye."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ensue.bench.harness import Cell, Row, Table
from ensue.conformance.entailment import STOCK
from ensue.conformance.library import FILE, NONE
from ensue.conformance.needed import Coverage
from ensue.conformance.outcome import Outcome, Status

Needs = Mapping[str, Mapping[str, Sequence[str]]]
"""For each regime, the tests that pass with it and need rules, and which they need."""


def by_regime(outcomes: Sequence[Outcome]) -> Table:
    """The entailment tests under each regime that they are tagged with."""
    return Table("Tests by the regime that they are tagged with", [*_regime_rows(outcomes)])


def _regime_rows(outcomes: Sequence[Outcome]) -> Iterable[Row]:
    for regime in dict.fromkeys((*STOCK, *(tag for one in outcomes for tag in one.details["regimes"]))):
        tagged = [one for one in outcomes if regime in one.details["regimes"]]
        ways = Counter(one.details["with"].get(regime) for one in tagged)
        by_file = ways[FILE]
        yield {
            "regime": regime,
            "tests": len(tagged),
            "pass without rules": sum(one.details["passes"].get(NONE, False) for one in tagged),
            "pass with stock rules": len(tagged) - by_file - ways[None],
            "stock rules": ", ".join(f"{way} {n}" for way, n in ways.items() if way not in (FILE, None))
            or None,
            "with a rule file of ours": by_file,
            "not passed": ways[None],
        }


def in_all(outcomes: Sequence[Outcome]) -> Table:
    """How many tests pass, by the least that each needs."""
    passed = Counter(_least(one) for one in outcomes if one.status is Status.PASSED)
    others = Counter(str(one.status) for one in outcomes if one.status is not Status.PASSED)
    rows: list[Row] = [{"least that is needed": way, "tests": count} for way, count in passed.items()]
    rows += [{"least that is needed": f"({status})", "tests": count} for status, count in others.items()]
    return Table(f"All tests: {sum(passed.values())} of {len(outcomes)} pass", rows)


def _least(outcome: Outcome) -> str:
    return outcome.way if outcome.way in (NONE, FILE) else f"stock rules: {outcome.way}"


def by_evaluator(outcomes: Sequence[Outcome]) -> Table:
    """The query tests by folder."""
    rows: list[Row] = []
    for folder in dict.fromkeys(one.name.partition("/")[0] for one in outcomes):
        own = [one for one in outcomes if one.name.startswith(f"{folder}/")]
        rows.append(
            {
                "folder": folder,
                "tests": len(own),
                "compiled": sum(one.way == "compiled" for one in own),
                "passed": sum(one.status is Status.PASSED for one in own),
            }
        )
    return Table("Query evaluation tests, each with oxigraph and with the evaluator of choice", rows)


def by_kind(outcomes: Sequence[Outcome]) -> Table:
    """The tests of RDF semantics by regime, and by what is to follow or not."""
    rows: list[Row] = []
    kinds = dict.fromkeys((one.details["regime"], one.details["positive"]) for one in outcomes)
    for regime, positive in sorted(kinds):
        own = [
            one for one in outcomes if (one.details["regime"], one.details["positive"]) == (regime, positive)
        ]
        rows.append(
            {
                "regime": regime,
                "tests": len(own),
                "entailment": "positive" if positive else "negative",
                "pass without rules": sum(one.details["passes"][NONE] for one in own),
                "pass with stock rules": sum(one.status is Status.PASSED for one in own),
                "not passed": sum(one.status is not Status.PASSED for one in own),
            }
        )
    return Table("Tests of RDF 1.1 Semantics", rows)


def rules_needed(tests: Iterable[str], needs: Needs) -> Table:
    """INSTANS's table 4: which rules of each regime a test needs. Empty: it does not pass."""
    rows: list[Row] = [
        {"test": test, **{regime: _names(by_test.get(test)) for regime, by_test in needs.items()}}
        for test in tests
        if any(test in by_test for by_test in needs.values())
    ]
    return Table("Rules that a test needs, of each regime with which it passes and not without rules", rows)


def _names(rules: Sequence[str] | None) -> Cell:
    return None if rules is None else " ".join(rules)


def coverages(lines: Iterable[Coverage]) -> Table:
    """INSTANS's table 5: how much of each regime the tests stress."""
    rows: list[Row] = [
        {
            "regime": line.regime,
            "rules": line.rules,
            "rules tested": line.tested,
            "coverage %": round(100 * line.tested / line.rules) if line.rules else None,
            "tests passed": line.passed,
            "rules per test": round(line.rules / line.passed, 1) if line.passed else None,
        }
        for line in lines
    ]
    return Table("Coverage of each regime by the tests that need rules", rows)


def not_passed(outcomes: Iterable[Outcome], reasons: Mapping[str, str]) -> Table:
    """What does not pass, and why."""
    rows: list[Row] = [
        {
            "test": one.name,
            "status": str(one.status),
            "why": reasons.get(one.name) or " ".join(one.why.split())[:200],
        }
        for one in outcomes
        if one.status is not Status.PASSED
    ]
    return Table("Not passed, and why", rows)
