"""The evaluator for all of SPARQL 1.1: oxigraph, over a store that follows the dataset.

Oxigraph takes numbers, truth values, dates and times by value, and derived types for their base: in
patterns, joins, DISTINCT and GROUP BY `"01"^^xsd:integer`, `"1"^^xsd:integer` and `"1"^^xsd:long` are one
term. It comes out as the data spells it; where the data spells it in several ways, as oxigraph does. The
other evaluator tells such terms apart.

Nodes that CONSTRUCT or BNODE() makes have other labels at each evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from pyoxigraph import NamedNode, QueryBoolean, QuerySolutions, QueryTriples, Store

from ensue.errors import QueryError
from ensue.query.algebra import nodes, uses_timestamps
from ensue.query.answers import Answers, Row
from ensue.query.dataset import Dataset
from ensue.query.evaluator import TIMESTAMP
from ensue.query.oxigraph_graphs import written_out
from ensue.query.oxigraph_mirror import Mirror
from ensue.query.oxigraph_origins import Origin, Origins, constants
from ensue.query.oxigraph_stamps import timestamps
from ensue.query.tree import ContinuousQuery, Form
from ensue.rules.expressions import Term, write_term
from ensue.rules.growth import bounded
from ensue.terms import XSD

_TIMESTAMP = NamedNode(TIMESTAMP)
_INTEGER, _LONG = f"^^<{XSD}integer>", f"^^<{XSD}long>"

Respell = Callable[[str], str]


class OxigraphEvaluator:
    """Evaluates one query again and again by oxigraph.

    >>> from ensue.dictionary import Dictionary
    >>> from ensue.model import Facts
    >>> from ensue.query.dataset import Columns, PlainGraph
    >>> from ensue.query.language import parse_query
    >>> query = parse_query("SELECT ?s FROM STREAM <urn:s> [RANGE 1s] { ?s <urn:p>+ <urn:c> } ORDER BY ?s")
    >>> d = Dictionary()
    >>> a, b, c, p = map(d.encode, ("<urn:a>", "<urn:b>", "<urn:c>", "<urn:p>"))
    >>> facts = Columns.of(Facts.of([(1, a, p, b, 5), (1, b, p, c, 6)]))
    >>> OxigraphEvaluator(query).evaluate(Dataset(d, PlainGraph(live=facts))).rows
    [('<urn:a>',), ('<urn:b>',)]
    """

    name = "oxigraph"

    def __init__(self, query: ContinuousQuery) -> None:
        self._query = query
        self._refuse_service()
        self._origins = Origins(query)
        self._uses_stamps = uses_timestamps(query)
        self._mirror = Mirror(constants(query))
        self._graphs: tuple[frozenset[str], frozenset[str]] | None = None
        with self._translated():  # what oxigraph does not know, it says before it has seen any data
            self._run(Store(), query.sparql, {_TIMESTAMP: lambda *_: None})

    def _refuse_service(self) -> None:
        if any(node.name == "ServiceGraphPattern" for node in nodes(self._query.algebra)):
            hint = "a query asks no other server, so that it is safe to run: load the data"
            raise QueryError("SERVICE is refused", place=self._query.place, hint=hint)

    def evaluate(self, dataset: Dataset) -> Answers:
        """The answers over this dataset."""
        self._mirror.show(dataset)
        functions: dict[NamedNode, Callable[..., Any]] = {}
        if self._uses_stamps:
            functions[_TIMESTAMP] = timestamps(dataset, self._mirror.spellings)
        graphs = [dataset.default, *dataset.named.values()]
        objects = chain.from_iterable((graph.still.o, graph.live.o) for graph in graphs)
        respell = self._mirror.spellings.writer(objects)
        with self._translated():
            found = self._run(self._mirror.store, self._sparql(dataset), functions)
            if isinstance(found, QueryBoolean):
                return Answers(self._query.form, (), [()] if found else [])
            if isinstance(found, QueryTriples):
                return Answers(self._query.form, (), self._triples(found, respell))
            return self._solutions(found, respell)

    def _sparql(self, dataset: Dataset) -> str:
        graphs = frozenset(dataset.named), dataset.windows
        if graphs != self._graphs:
            self._graphs, self._written_out = graphs, written_out(self._query, dataset)
        return self._written_out

    def _run(
        self, store: Store, sparql: str, functions: dict[NamedNode, Callable[..., Any]]
    ) -> QuerySolutions | QueryBoolean | QueryTriples:
        own = bounded(sparql)
        return store.query(
            own.text,
            base_iri=self._query.base,
            prefixes=self._query.prefixes,
            custom_functions={**functions, **own.functions},
            custom_aggregate_functions=dict(own.aggregates),
        )

    def _solutions(self, found: QuerySolutions, respell: Respell) -> Answers:
        # Of SELECT * the two parsers have other orders; ours is that of the tree.
        names = tuple(str(variable) for variable in self._query.algebra.PV)
        write = [(name, self._writer(self._origins.of(name), respell)) for name in names]
        rows: list[Row] = [
            tuple([None if (term := row[name]) is None else written(term) for name, written in write])
            for row in found
        ]
        return Answers(Form.SELECT, names, rows)

    def _triples(self, found: QueryTriples, respell: Respell) -> list[Row]:
        writers = {origin: self._writer(origin, respell) for origin in Origin}
        rows: dict[Row, None] = {}
        for s, p, o in found:
            predicate = write_term(p)
            write = writers[self._origins.of_object(predicate)]
            rows[(write_term(s), predicate, write(o))] = None
        return list(rows)

    def _writer(self, origin: Origin, respell: Respell) -> Callable[[Term], str]:
        match origin:
            case Origin.DATA:
                return write_term if respell is str else lambda term: respell(write_term(term))
            case Origin.STAMP:
                return lambda term: write_term(term).replace(_INTEGER, _LONG)
            case Origin.COMPUTED:
                return write_term

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError, SyntaxError, ValueError) as problem:
            hint = "functions are SPARQL 1.1's, the casts of xsd: and f:timestamp"
            what = f"oxigraph cannot evaluate this query: {problem}"
            raise QueryError(what, place=self._query.place, hint=hint) from problem
