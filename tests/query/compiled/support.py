"""Quads to datasets and stores, and queries over both: what the tests of the evaluator share."""

from __future__ import annotations

from collections import Counter

import pyoxigraph as ox

from ensue.dictionary import Dictionary
from ensue.model import FOREVER, Facts
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.dataset import Columns, Dataset, PlainGraph
from ensue.query.language import parse_query

PREFIXES = "PREFIX : <urn:> "


def parsed(sparql):
    """Plain SPARQL as a continuous query."""
    return parse_query("FROM STREAM <urn:stream> [RANGE 1s] " + PREFIXES + sparql)


def quads(turtle):
    """The statements of a TriG text in which `:` is a prefix."""
    return list(ox.parse("@prefix : <urn:> . " + turtle, format=ox.RdfFormat.TRIG))


def dataset(dictionary, statements, *, stamps=None, still=lambda quad: False, named=(), windows=()):
    """A dataset of quads: live ones with their stamp (the place in the list unless given), or still ones.

    It has the graphs `named` even if they are empty.
    """
    rows = {name: ([], []) for name in named}
    for at, quad in enumerate(statements):
        name = None if isinstance(quad.graph_name, ox.DefaultGraph) else quad.graph_name.value
        triple = (dictionary.encode(str(term)) for term in quad.triple)
        fixed = still(quad)
        stamp = FOREVER if fixed else stamps[at] if stamps else at
        rows.setdefault(name, ([], []))[fixed].append((1, *triple, stamp))
    graphs = {
        name: PlainGraph(live=Columns.of(Facts.of(live)), still=Columns.of(Facts.of(fixed)))
        for name, (live, fixed) in rows.items()
    }
    return Dataset(dictionary, graphs.pop(None, PlainGraph()), graphs, frozenset(windows))


def answers(sparql, statements, **how):
    """What the compiled evaluator answers."""
    dictionary = Dictionary()
    evaluator = CompiledEvaluator(parsed(sparql), dictionary)
    return evaluator.evaluate(dataset(dictionary, statements, **how))


def rows(sparql, turtle, **how):
    """The rows of SELECT, in order, with short names: `urn:a` is `a`, a literal its text."""
    return [tuple(map(short, row)) for row in answers(sparql, quads(turtle), **how).rows]


def short(term):
    """A term for reading."""
    if term is None or term.startswith("_:"):
        return term
    return term[5:-1] if term.startswith("<urn:") else term[1 : term.rindex('"')] if term[0] == '"' else term


def oxigraph_rows(sparql, statements, named=()):
    """The bag of rows that pyoxigraph answers SELECT with, as the compiled evaluator writes them."""
    store = ox.Store()
    store.extend(statements)
    for name in named:
        store.add_graph(ox.NamedNode(name))
    found = store.query(PREFIXES + sparql)
    names = [variable.value for variable in found.variables]
    return names, Counter(tuple(None if cell is None else str(cell) for cell in row) for row in found)
