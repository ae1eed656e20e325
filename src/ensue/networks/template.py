"""What a rule's DELETE and INSERT stand for, solution by solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ensue.networks.dataset import Ground
from ensue.networks.join import Solution
from ensue.networks.tree import DEFAULT, Branch, Quad, Update
from ensue.rules.tree import Node, Var
from ensue.terms import Kind, kind_of

MADE = "_:network-"
"""How the labels of nodes begin that rules make. A label that arrives and begins so is changed."""

_Part = Callable[[Solution, list[str]], str | None]


class Template:
    """An update for the solutions of one branch.

    >>> from ensue.networks.parse import parse
    >>> rule = parse("INSERT { ?x <urn:has> [ <urn:n> 1 ] } WHERE { ?x <urn:p> ?y }").rules[0]
    >>> template = Template(rule.effect, rule.branches[0])
    >>> list(template.inserted(("<urn:a>", "<urn:b>"), iter(range(5)).__next__))[0]
    ('', '<urn:a>', '<urn:has>', '_:network-0')
    """

    def __init__(self, update: Update, branch: Branch) -> None:
        self._places: dict[Node, int] = {variable: at for at, variable in enumerate(branch.visible())}
        self._made: dict[Node, int] = {variable: at for at, variable in enumerate(update.made)}
        self._delete = [self._compiled(quad) for quad in update.delete]
        self._insert = [self._compiled(quad) for quad in update.insert]

    def deleted(self, solution: Solution) -> Iterator[Ground]:
        """The quads that go."""
        return self._filled(self._delete, solution, [])

    def inserted(self, solution: Solution, number: Callable[[], int | str]) -> Iterator[Ground]:
        """The quads that come; each node that is made gets the next number."""
        return self._filled(self._insert, solution, [f"{MADE}{number()}" for _ in self._made])

    def _compiled(self, quad: Quad) -> tuple[_Part, _Part, _Part, _Part]:
        graph, s, p, o = map(self._part, quad)
        return graph, s, p, o

    def _part(self, node: Node) -> _Part:
        if not isinstance(node, Var):
            return lambda solution, made: node
        if node in self._made:
            new = self._made[node]
            return lambda solution, made: made[new]
        at = self._places.get(node)
        return lambda solution, made: None if at is None else solution[at]

    def _filled(
        self, quads: list[tuple[_Part, _Part, _Part, _Part]], solution: Solution, made: list[str]
    ) -> Iterator[Ground]:
        """As in SPARQL, what lacks a value or would be no statement of RDF is left out."""
        for quad in quads:
            graph, s, p, o = (part(solution, made) for part in quad)
            if graph is None or s is None or p is None or o is None:
                continue
            if kind_of(s) < Kind.PLAIN and kind_of(p) is Kind.IRI and _names_a_graph(graph):
                yield graph, s, p, o


def _names_a_graph(term: str) -> bool:
    return term == DEFAULT or kind_of(term) in (Kind.IRI, Kind.BLANK)
