"""The reference: every rule's solutions from scratch after every change, by oxigraph.

New is what is among them now and was not before. It does what `DeltaMatcher` does, slowly and plainly, and
shares nothing with it but the tree: tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, QuerySolutions, Store, Variable

from ensue.networks.dataset import Dataset, Ground
from ensue.networks.join import Solution
from ensue.networks.matcher import Match
from ensue.networks.tree import DEFAULT, Besides, Branch, Exists, NetworkRule, Select
from ensue.networks.tree import Quad as Pattern
from ensue.rules.expressions import read_term, split_base, write_term
from ensue.rules.growth import bounded
from ensue.rules.tree import Bind, Guard, Node, Var


class NaiveMatcher:
    """Looks everywhere, each time."""

    def __init__(self, rules: tuple[NetworkRule, ...]) -> None:
        self.dataset = Dataset()
        self.changes = 0
        self._store = Store()
        self._rules = rules
        self._queries = [[query_text(branch) for branch in rule.branches] for rule in rules]
        self._now: dict[Match, None] = {}

    def start(self) -> Iterable[Match]:
        """The solutions that there are while nothing is there."""
        self._now = dict.fromkeys(self._matches())
        return list(self._now)

    def change(self, removed: Iterable[Ground], added: Iterable[Ground]) -> Iterable[Match]:
        """Take quads out, then put quads in; the new solutions."""
        self.changes += 1
        for quad in removed:
            if self.dataset.remove(quad):
                self._store.remove(_quad(quad))
        for quad in added:
            if self.dataset.add(quad):
                self._store.add(_quad(quad))
        before, self._now = self._now, dict.fromkeys(self._matches())
        given = {(match.rule, self._row(match)) for match in before}
        return [
            match
            for match in self._now
            if match not in before
            and not (self._is_distinct(match) and (match.rule, self._row(match)) in given)
        ]

    def holds(self, match: Match, since: int) -> bool:
        """Whether a solution still is one."""
        return match in self._now

    def _is_distinct(self, match: Match) -> bool:
        effect = self._rules[match.rule].effect
        return isinstance(effect, Select) and effect.distinct

    def _row(self, match: Match) -> Solution:
        if not self._is_distinct(match):
            return ()
        rule = self._rules[match.rule]
        return rule.projected(dict(zip(rule.branches[match.branch].visible(), match.solution, strict=True)))

    def _matches(self) -> Iterator[Match]:
        for number, rule in enumerate(self._rules):
            for at, branch in enumerate(rule.branches):
                query = bounded(self._queries[number][at])
                found = self._store.query(query.text, custom_functions=dict(query.functions))
                assert isinstance(found, QuerySolutions)
                names = [Variable(_name(variable)) for variable in branch.visible()]
                for row in found:
                    terms = [row[name] if name in found.variables else None for name in names]
                    solution = tuple(None if term is None else write_term(term) for term in terms)
                    yield Match(number, at, solution)


def query_text(branch: Branch) -> str:
    """The SPARQL query for the solutions of a branch.

    >>> query_text(Branch((Pattern("<urn:g>", Var("x"), "<urn:p>", Var("_:1")),)))
    'SELECT DISTINCT * WHERE { GRAPH <urn:g> { ?x <urn:p> ?blank1 } }'
    """
    return f"{_base(branch)}SELECT DISTINCT * WHERE {{ {_group(branch)} }}"


def _base(branch: Branch) -> str:
    """The declaration of the base that expressions of the branch have: all the same, or none."""
    texts = [part.text for part in branch.parts if isinstance(part, Bind | Guard)]
    found = [split_base(text)[0] for text in texts]
    for part in branch.parts:
        if isinstance(part, Exists | Besides):
            found += map(_base, part.alternatives)
    return max(found, default="")


def _group(branch: Branch) -> str:
    # BIND comes behind all patterns, which may hold its variable too: then the two must agree.
    known = set(branch.bound())
    texts = [_pattern(pattern) for pattern in branch.patterns]
    texts += [_part(part) for part in branch.parts if isinstance(part, Besides)]
    texts += [_bind(part, known) for part in branch.parts if isinstance(part, Bind)]
    texts += [_part(part) for part in branch.parts if isinstance(part, Guard | Exists)]
    return " ".join(texts)


def _bind(bind: Bind, known: set[Var]) -> str:
    text = str(bind.args[0]) if bind.name == "same" else split_base(bind.text)[1]
    if bind.target in known:
        return f"FILTER(sameTerm({text}, {_node(bind.target)}))"
    known.add(bind.target)
    return f"BIND({text} AS {_node(bind.target)}) FILTER(BOUND({_node(bind.target)}))"


def _part(part: Guard | Exists | Besides) -> str:
    match part:
        case Guard() if part.name == "sparql":
            return f"FILTER({split_base(part.text)[1]})"
        case Guard():
            return f"FILTER({_TESTS[part.name].format(*map(_node, part.args))})"
        case Exists():
            return f"FILTER {'NOT ' if part.negated else ''}EXISTS {{ {_alternatives(part.alternatives)} }}"
        case Besides():
            return f"OPTIONAL {{ {_alternatives(part.alternatives)} }}"


def _alternatives(branches: tuple[Branch, ...]) -> str:
    if len(branches) == 1:
        return _group(branches[0])
    return " UNION ".join(f"{{ {_group(each)} }}" for each in branches)


_TESTS = {
    "isIRI": "isIRI({})",
    "isBlank": "isBlank({})",
    "isLiteral": "isLiteral({})",
    "notLiteral": "!isLiteral({})",
    "equal": "sameTerm({}, {})",
    "notEqual": "!sameTerm({}, {})",
}


def _pattern(pattern: Pattern) -> str:
    triple = f"{_node(pattern.s)} {_node(pattern.p)} {_node(pattern.o)}"
    return f"{triple} ." if pattern.graph == DEFAULT else f"GRAPH {_node(pattern.graph)} {{ {triple} }}"


def _node(node: Node) -> str:
    return f"?{_name(node)}" if isinstance(node, Var) else node


def _name(variable: Var) -> str:
    return variable.name.replace("_:", "blank")


def _quad(quad: Ground) -> Quad:
    graph, s, p, o = quad
    name = DefaultGraph() if graph == DEFAULT else read_term(graph)
    assert isinstance(name, DefaultGraph | NamedNode | BlankNode)
    return Quad(read_term(s), read_term(p), read_term(o), name)  # type: ignore[arg-type]
