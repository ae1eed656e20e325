"""How often each rule fires on a stream, and why a rule that does not cannot.

A firing is a way to match the premises of a rule in the closure, with its conditions holding, in
which at least one premise rests on the stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ensue.bench.harness import Row, Table
from ensue.bench.ontology import Statement
from ensue.bench.ontology_stream import critical_instance
from ensue.dictionary import Dictionary
from ensue.maintain.contract import Maintainer
from ensue.maintain.program import UNBOUND, Binding, CompiledRule, compile_rules, conclude, match
from ensue.model import BACKGROUND, Copies, Triple
from ensue.rules.tree import Rule, RuleSet
from ensue.terms import OWL, RDF, RDFS, XSD

STREAM = 1
"""The context that the sample is closed in."""

MakeMaintainer = Callable[[RuleSet, Dictionary], Maintainer]


@dataclass(frozen=True, slots=True)
class Firings:
    """What one rule did on a stream over a background."""

    rule: str
    stream: int
    background: int
    """Firings that rest on the background alone."""
    reason: str = ""
    """Why it cannot fire on any stream over this ontology; empty if it can."""

    @property
    def missed(self) -> bool:
        """Whether it could have fired on some stream but did not on this one."""
        return not self.stream and not self.reason


def count_firings(
    rules: RuleSet, ontology: Iterable[Statement], stream: Iterable[Statement], make: MakeMaintainer
) -> list[Firings]:
    """Firings per rule, with the reason for each rule that is not applicable to the ontology."""
    ontology = list(ontology)
    on_stream = _Closure(rules, ontology, stream, make)
    on_critical = _Closure(rules, ontology, critical_instance(ontology), make)
    found = []
    for k, rule in enumerate(rules.rules):
        live, ground = on_stream.count(k)
        reason = "" if live else on_critical.why_silent(k, rule)
        found.append(Firings(rule.name, live, ground, reason))
    return found


def firings_table(firings: Iterable[Firings]) -> Table:
    """The firings as a table: what fired first, then what cannot, each with its reason."""
    rows: list[Row] = [
        {
            "rule": f.rule,
            "firings": f.stream,
            "on background alone": f.background,
            "remark": f.reason or ("APPLICABLE, BUT DID NOT FIRE" if f.missed else ""),
        }
        for f in firings
    ]
    return Table("firings per rule", sorted(rows, key=lambda row: not row["firings"]))


class _Closure:
    """A background and a stream, closed, to count in."""

    def __init__(
        self, rules: RuleSet, ontology: Iterable[Statement], stream: Iterable[Statement], make: MakeMaintainer
    ) -> None:
        self._dictionary = Dictionary()
        self._rules = compile_rules(rules, self._dictionary).rules
        maintainer = make(rules, self._dictionary)
        encode = self._dictionary.encode
        maintainer.load_background(
            Copies.background((encode(s), encode(p), encode(o)) for s, p, o in ontology)
        )
        maintainer.admit(Copies.of((STREAM, encode(s), encode(p), encode(o), 1) for s, p, o in stream))
        maintainer.advance(0)
        self._ground = _Index((s, p, o) for _, s, p, o, _ in maintainer.closure(BACKGROUND))
        live = [(s, p, o) for _, s, p, o, _ in maintainer.closure(STREAM)]
        self._all = _Index([*self._ground.triples, *live])

    def count(self, k: int) -> tuple[int, int]:
        """Firings of rule number k: those that rest on the stream, and those that do not."""
        rule = self._rules[k]
        counts = [0, 0]
        for binding, on_ground in self._solutions(rule, len(rule.premises)):
            if conclude(rule, binding, self._dictionary):
                counts[on_ground] += 1
        return counts[False], counts[True]

    def why_silent(self, k: int, rule: Rule) -> str:
        """Why rule number k has no firing on the stream; empty if it has one."""
        if self.count(k)[0]:
            return ""
        compiled = self._rules[k]
        for size, premise in enumerate(rule.premises, start=1):
            if not self._solutions(compiled, size):
                others = ", ".join(map(str, rule.premises[: size - 1]))
                alone = not others or not any(
                    match(compiled.premises[size - 1], t, _room(compiled)) for t in self._all.triples
                )
                return _short(f"nothing matches {premise}" + ("" if alone else f" together with {others}"))
        if self.count(k)[1]:
            return "only statements of the ontology itself match it"
        return _short(f"never holds: {', '.join(map(str, rule.conditions))}")

    def _solutions(self, rule: CompiledRule, size: int) -> list[tuple[Binding, bool]]:
        """Bindings of the first `size` premises, each with whether the background alone gives it."""
        partial: list[tuple[Binding, bool]] = [(_room(rule), True)]
        for premise, is_cut in zip(rule.premises[:size], rule.cut, strict=False):
            source = self._ground if is_cut else self._all
            partial = [
                (extended, on_ground and triple in self._ground.triples)
                for binding, on_ground in partial
                for triple in source.candidates(premise, binding)
                if match(premise, triple, extended := list(binding))
            ]
        return partial


class _Index:
    """Triples by each position and by each pair of positions."""

    _PAIRS = ((0, 1), (1, 2), (0, 2))

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples = dict.fromkeys(triples)
        self._found: dict[tuple[int, ...], list[Triple]] = {}
        for triple in self.triples:
            for position, term in enumerate(triple):
                self._found.setdefault((position, term), []).append(triple)
            for one, two in self._PAIRS:
                self._found.setdefault((one, two, triple[one], triple[two]), []).append(triple)

    def candidates(self, pattern: Triple, binding: Binding) -> Iterable[Triple]:
        bound = {
            k: term for k, slot in enumerate(pattern) if (term := slot if slot >= 0 else binding[~slot]) >= 0
        }
        if len(bound) == 3:
            triple = (bound[0], bound[1], bound[2])
            return [triple] if triple in self.triples else []
        if not bound:
            return self.triples
        return self._found.get((*bound, *bound.values()), [])


def _room(rule: CompiledRule) -> Binding:
    return [UNBOUND] * rule.variables


def _short(text: str) -> str:
    """The same with the prefixes that everyone knows."""
    for prefix, namespace in (("rdf", RDF), ("rdfs", RDFS), ("owl", OWL), ("xsd", XSD)):
        text = re.sub(rf"<{re.escape(namespace)}(\w+)>", rf"{prefix}:\1", text)
    return text
