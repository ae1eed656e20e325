"""The W3C's tests of RDF 1.1 Semantics: whether one graph entails another, or cannot be true.

A premise is closed under the rules of the test's regime; it entails the conclusion if the closure has all
of it, with anything for the conclusion's blank nodes: nodes that rules made, and literals for subjects, count
here, as this is about what follows and not about answers. What cannot be true has a violation in its closure,
and entails everything.

A test says which datatypes are recognised; rules about datatypes are held to these.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ensue.conformance.library import NONE, Library, rules_of
from ensue.conformance.manifests import GraphCase, Manifest, graph_cases
from ensue.conformance.needed import only
from ensue.conformance.outcome import Outcome, Status
from ensue.dictionary import Dictionary
from ensue.files import read_statements
from ensue.maintain import make
from ensue.maintain.contract import Maintainer
from ensue.model import BACKGROUND, NEVER, Copies, Facts, Triple
from ensue.plan.known import Closed, Known, Statement
from ensue.plan.shapes import shape_of
from ensue.rules.datatypes import simpler_spelling
from ensue.rules.tree import Bind, Condition, Guard, Pattern, Rule, RuleSet, Var
from ensue.terms import RDF, XSD, datatype_of
from ensue.violations import violations_in

HOME = "https://w3c.github.io/rdf-tests/rdf/rdf11/rdf-mt/manifest.ttl"

STOCK: Mapping[str, str] = {
    "simple": NONE,
    "RDF": "rdf + rdf-axioms",
    "RDFS": "rdfs + rdfs-axioms",
}
"""What stands for the regimes of the tests; where datatypes are recognised, OWL 2 RL's dt-eq, too."""

ALWAYS = (f"{XSD}string", f"{RDF}langString")
"""The datatypes that RDF 1.1 recognises whatever a test says."""

_CONTEXT = 1

Closing = Callable[[Maintainer, Sequence[Statement], Dictionary], Facts]


def read(suite: Path) -> list[GraphCase]:
    """All tests of the suite."""
    return list(graph_cases(Manifest(suite / "manifest.ttl", HOME)))


def run(cases: Iterable[GraphCase], library: Library = rules_of) -> Iterator[Outcome]:
    """Try each test, and tell with what it passes; `library` has the stock rules."""
    return (judge(case, library) for case in cases)


def judge(case: GraphCase, library: Library = rules_of) -> Outcome:
    """Try one test: without rules, with those of its regime, and with these again as a stream."""
    known = recognised_by(case)
    stock, rules, entailment = STOCK[case.regime], rules_for(case, library), Entailment.of(case, known)
    problems = {
        NONE: Entailment.of(case, frozenset()).problem(rules_of(NONE), as_background),
        stock: entailment.problem(rules, as_background),
        "as a stream": entailment.problem(rules, as_stream),
    }
    why = problems[stock] or problems["as a stream"] or ""
    details = {
        "regime": case.regime,
        "positive": case.positive,
        "recognised": sorted(known),
        "passes": {way: problem is None for way, problem in problems.items()},
    }
    way = stock if why or problems[NONE] is not None else NONE
    return Outcome(case.name, case.iri, Status.FAILED if why else Status.PASSED, way, why, details)


def recognised_by(case: GraphCase) -> frozenset[str]:
    """The datatypes that are recognised in a test; in simple entailment, literals are but terms."""
    return frozenset() if case.regime == "simple" else frozenset({*case.recognised, *ALWAYS})


def rules_for(case: GraphCase, library: Library = rules_of) -> RuleSet:
    """The rules of a test's regime, about the datatypes that it recognises."""
    rules = library(STOCK[case.regime])
    if case.regime == "simple":
        return rules
    same_value = only(library("owl2rl"), ["dt-eq"])
    return recognising(rules + same_value, recognised_by(case))


@dataclass(frozen=True, slots=True)
class Entailment:
    """Two graphs, and whether the first entails the second (None: what cannot be true)."""

    premise: tuple[Statement, ...]
    conclusion: tuple[Statement, ...] | None
    holds: bool

    @classmethod
    def of(cls, case: GraphCase, recognised: Container[str]) -> Entailment:
        """A test, with the literals of its conclusion as dt-eq spells those of recognised datatypes."""
        premise = tuple((s, p, o) for s, p, o, _ in read_statements(case.premise))
        if case.conclusion is None:
            return cls(premise, None, case.positive)
        stated = read_statements(case.conclusion)
        return cls(premise, tuple((s, p, _simplest(o, recognised)) for s, p, o, _ in stated), case.positive)

    def problem(self, rules: RuleSet, closing: Closing) -> str | None:
        """What is wrong with what rules say about it, None if they are right."""
        dictionary = Dictionary()
        facts = closing(make("expiration", rules, dictionary), self.premise, dictionary)
        wrong = violations_in(facts, dictionary)
        entailed = bool(wrong)
        if self.conclusion is not None and not wrong:
            entailed = entails(Closed(dictionary, facts.s, facts.p, facts.o), self.conclusion)
        if entailed == self.holds:
            return None
        if self.holds:
            return "nothing is wrong with the premise" if self.conclusion is None else "it does not follow"
        return f"the premise cannot be true: {wrong[0]}" if wrong else "it follows"


def entails(closed: Closed, conclusion: Iterable[Statement]) -> bool:
    """Whether some statements have a graph, with something for each of its blank nodes.

    >>> some = Closed.of([("<urn:a>", "<urn:p>", '"1"')])
    >>> entails(some, [("_:x", "<urn:p>", "_:y")]), entails(some, [("_:x", "<urn:p>", "_:x")])
    (True, False)
    """
    patterns = [
        Pattern(*(Var(term[2:]) if term.startswith("_:") else term for term in t)) for t in conclusion
    ]
    known = Known(closed, map(shape_of, patterns))
    return any(True for _ in known.ground(patterns, {}))


def as_background(maintainer: Maintainer, statements: Sequence[Statement], dictionary: Dictionary) -> Facts:
    """The closure of statements that are all there from the start."""
    maintainer.load_background(Copies.background(_numbers(statements, dictionary)))
    return maintainer.closure(BACKGROUND)


def as_stream(maintainer: Maintainer, statements: Sequence[Statement], dictionary: Dictionary) -> Facts:
    """The closure of a window into which statements came, one each millisecond."""
    for time, triple in enumerate(_numbers(statements, dictionary), 1):
        maintainer.admit(Copies.of([(_CONTEXT, *triple, time)]))
        maintainer.advance(NEVER)
    return Facts.of([*maintainer.closure(BACKGROUND), *maintainer.closure(_CONTEXT)])


def _numbers(statements: Iterable[Statement], dictionary: Dictionary) -> list[Triple]:
    return [(dictionary.encode(s), dictionary.encode(p), dictionary.encode(o)) for s, p, o in statements]


def _simplest(term: str, recognised: Container[str]) -> str:
    if not term.startswith('"') or _datatype(term) not in recognised:
        return term
    return simpler_spelling(term) or term


def _datatype(literal: str) -> str:
    found = datatype_of(literal)
    if found is not None:
        return found[1:-1]
    return f"{RDF}langString" if not literal.endswith('"') else f"{XSD}string"


# -- Recognised datatypes ----------------------------------------------------------------------------------

_ABOUT: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "datatype": ((0,), ()),
    "simplerSpelling": ((0,), ()),
    "isDatatype": ((), (0,)),
    "inValueSpace": ((0,), (1,)),
    "notInValueSpace": ((0,), (1,)),
}
"""The conditions about datatypes: which of their arguments are literals, and which are datatypes."""


def recognising(rules: RuleSet, datatypes: Iterable[str]) -> RuleSet:
    """The rules, with those about datatypes held to some of them."""
    listed = ", ".join(f"<{iri}>" for iri in sorted(datatypes))

    def held(rule: Rule) -> Rule:
        guards = [guard for condition in rule.conditions for guard in _guards(condition, listed)]
        return replace(rule, conditions=(*guards, *rule.conditions))

    return replace(rules, rules=tuple(map(held, rules.rules)))


def _guards(condition: Condition, listed: str) -> Iterator[Guard]:
    if not isinstance(condition, Guard | Bind):
        return
    literals, datatypes = _ABOUT.get(condition.name, ((), ()))
    for argument, expression in (
        *((at, "datatype({})") for at in literals),
        *((at, "{}") for at in datatypes),
    ):
        variable = condition.args[argument]
        if isinstance(variable, Var):
            yield Guard("sparql", (variable,), f"{expression.format(variable)} IN ({listed})")
