"""The W3C's SPARQL 1.1 query evaluation tests: read from their manifests, run, and compared.

Left aside are the tests for entailment regimes, federation, updates, syntax and protocols.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pyoxigraph as ox
import rdflib
from rdflib import RDF, Namespace, URIRef
from rdflib.collection import Collection

from ensue.dictionary import Dictionary
from ensue.files import load_file
from ensue.query.answers import Answers
from ensue.query.dataset import Columns, Dataset, PlainGraph
from ensue.query.language import parse_query
from ensue.query.output_terms import plain
from ensue.query.oxigraph_terms import spelled
from ensue.query.tree import ContinuousQuery, Form
from ensue.rules.expressions import read_term, write_term

MF = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QT = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
RS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")

FOLDERS = (
    *("aggregates", "bind", "bindings", "cast", "construct", "csv-tsv-res", "exists", "functions"),
    *("grouping", "json-res", "negation", "project-expression", "property-path", "subquery"),
)
"""What is SPARQL 1.1 Query, and its results; `entailment` is for rules."""

_SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SUITE = Path(os.environ.get("ENSUE_DATA", _SHARED)) / "w3c-sparql11" / "sparql11"


@dataclass(frozen=True)
class Case:
    """A test: a query, the files of its dataset, and the file with the results."""

    name: str
    query: Path
    data: tuple[Path, ...]
    graphs: tuple[Path, ...]
    result: Path


def cases() -> list[Case]:
    """All tests, in the order of the manifests; none where the suite is absent."""
    return [case for folder in FOLDERS for case in _manifest(SUITE / folder)] if SUITE.is_dir() else []


def _manifest(folder: Path) -> Iterator[Case]:
    base = folder.as_uri() + "/manifest.ttl"
    graph = rdflib.Graph().parse(folder / "manifest.ttl", publicID=base)
    entries = Collection(graph, graph.value(URIRef(base), MF.entries))
    for test in entries:
        if graph.value(test, RDF.type) in (MF.QueryEvaluationTest, MF.CSVResultFormatTest):
            action = graph.value(test, MF.action)
            yield Case(
                name=f"{folder.name}/{test.partition('#')[2]}",
                query=_path(graph.value(action, QT.query)),
                data=tuple(map(_path, graph.objects(action, QT.data))),
                graphs=tuple(map(_path, graph.objects(action, QT.graphData))),
                result=_path(graph.value(test, MF.result)),
            )


def _path(iri: str) -> Path:
    return Path(unquote(urlparse(iri).path))


def continuous(case: Case) -> ContinuousQuery:
    """The query of a test, over a stream on which nothing comes."""
    before = f"BASE <{case.query.as_uri()}> FROM STREAM <urn:w3c:stream> [RANGE 1s] "
    return parse_query(before + case.query.read_text(), case.name)


def dataset(case: Case, query: ContinuousQuery) -> Dataset:
    """The dataset of a test; FROM and FROM NAMED of its query add to what the manifest says."""
    dictionary = Dictionary()
    default = [*case.data, *map(_path, query.default_graphs)]
    named = [*case.graphs, *map(_path, query.named_graphs)]
    graphs = {path.as_uri(): _graph([path], dictionary) for path in named}
    return Dataset(dictionary, _graph(default, dictionary), graphs)


def _graph(paths: list[Path], dictionary: Dictionary) -> PlainGraph:
    facts: dict[tuple[int, int, int], int] = {}
    for path in paths:
        for _, s, p, o, _, stamp in load_file(path, dictionary):
            facts[s, p, o] = stamp
    columns = np.array([(*triple, stamp) for triple, stamp in facts.items()], np.int64).reshape(-1, 4).T
    return PlainGraph(still=Columns(*columns[:3].astype(np.int32), columns[3]))


def difference(case: Case, query: ContinuousQuery, answers: Answers) -> str | None:
    """What is wrong with the answers, None if they are right.

    Numbers are compared by value, as SPARQL does not say how a computed one is spelled.
    """
    if case.result.suffix == ".csv":
        with case.result.open(newline="") as file:
            head, *rows = csv.reader(file)
        found = [[plain(term) if term else "" for term in row] for row in _ordered(answers, head)]
        return _unlike(_unlabelled(rows), _unlabelled(found))
    if answers.form in (Form.CONSTRUCT, Form.DESCRIBE):
        wanted = {(s, p, o) for s, p, o, _ in ox.parse(path=case.result)}
        found = {tuple(map(read_term, row)) for row in answers.rows}
        return _unlike(_canonical(wanted), _canonical(found))
    expected = _expected(case.result)
    if isinstance(expected, bool):
        return None if expected == answers.truth else f"expected {expected}"
    names, rows = expected
    if set(names) != set(answers.variables):
        return f"variables {answers.variables}, expected {names}"
    in_order = any(part.name == "OrderBy" for part in _spine(query))
    found = _ordered(answers, names)
    return _unlike(_table(names, rows, in_order), _table(names, found, in_order))


def _spine(query: ContinuousQuery) -> Iterator[rdflib.plugins.sparql.parserutils.CompValue]:
    part = query.algebra
    while part is not None and part.name in ("SelectQuery", "Project", "Slice", "Distinct", "OrderBy"):
        yield part
        part = part.p


def _ordered(answers: Answers, names: list[str]) -> list[tuple[str | None, ...]]:
    """The rows with their columns in this order."""
    places = [answers.variables.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in answers.rows]


def _expected(path: Path) -> bool | tuple[list[str], list[tuple[str | None, ...]]]:
    if path.suffix == ".ttl":
        return _result_set(path)
    found = ox.parse_query_results(path=path)
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    names = [variable.value for variable in found.variables]
    return names, [tuple(write_term(term) if term else None for term in row) for row in found]


def _result_set(path: Path) -> tuple[list[str], list[tuple[str | None, ...]]]:
    """Results in the vocabulary that the first SPARQL tests had for them."""
    graph = rdflib.Graph().parse(path)
    names = sorted(map(str, graph.objects(None, RS.resultVariable)))
    rows = []
    for solution in graph.objects(None, RS.solution):
        row = {
            str(graph.value(binding, RS.variable)): write_term(read_term(graph.value(binding, RS.value).n3()))
            for binding in graph.objects(solution, RS.binding)
        }
        rows.append(tuple(row.get(name) for name in names))
    return names, rows


def _table(names: list[str], rows: list[tuple[str | None, ...]], in_order: bool) -> list[str]:
    """The rows as a graph in which blank nodes have canonical labels."""
    terms = sorted({term for row in rows for term in row if term is not None})
    by_value = {term: read_term(text) for term, text in zip(terms, spelled(terms), strict=True)}
    triples = set()
    for number, row in enumerate(rows):
        node = ox.BlankNode(f"row{number}")
        triples.add((node, ox.NamedNode("urn:in"), ox.Literal(str(number) if in_order else "any")))
        for name, term in zip(names, row, strict=True):
            if term is not None:
                triples.add((node, ox.NamedNode(f"urn:var:{name}"), by_value[term]))
    return _canonical(triples)


def _canonical(triples: set[tuple[object, object, object]]) -> list[str]:
    graph = ox.Dataset(ox.Quad(*triple) for triple in triples)
    graph.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(map(str, graph))


def _unlabelled(rows: list[list[str]]) -> list[str]:
    """CSV rows as text: which blank node is which cannot be told, as one may be a text that looks like it."""
    return sorted(str(["_:" if cell.startswith("_:") else cell for cell in row]) for row in rows)


def _unlike(wanted: list[str], found: list[str]) -> str | None:
    if wanted == found:
        return None
    missing, extra = ([line for line in a if line not in b] for a, b in ((wanted, found), (found, wanted)))
    return "\n".join(["expected but not found:", *missing, "found but not expected:", *extra])
