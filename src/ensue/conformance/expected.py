"""What a test expects, and how answers differ from it.

Answers are bags in which blank nodes have no names: two are the same if one is the other with its blank
nodes relabelled. Numbers are compared by value, as SPARQL does not say how a computed one is spelled.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyoxigraph as ox
import rdflib
from rdflib import Namespace
from rdflib.plugins.sparql.parserutils import CompValue

from ensue.query.answers import Answers, Row
from ensue.query.output_terms import plain
from ensue.query.oxigraph_terms import spelled
from ensue.query.tree import ContinuousQuery, Form
from ensue.rules.expressions import Term, read_term, write_term

RS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")

Table = tuple[list[str], list[Row]]
"""Names of variables, and rows of terms."""

Rename = Callable[[str], str]
"""From a term, as canonical text, to the one that stands for it."""


def difference(result: Path, query: ContinuousQuery, answers: Answers, rename: Rename = str) -> str | None:
    """What is wrong with the answers to a query, by the file with the right ones; None: nothing.

    `rename` is done to the terms of the file first.
    """
    if result.suffix == ".csv":
        return _unlike_csv(result, answers)
    if answers.form in (Form.CONSTRUCT, Form.DESCRIBE):
        wanted: set[tuple[Term, ...]] = {
            (quad.subject, quad.predicate, quad.object) for quad in ox.parse(path=result)
        }
        found = {tuple(read_term(term) for term in row if term) for row in answers.rows}
        return _unlike(_canonical(wanted), _canonical(found))
    expected = read_results(result)
    if isinstance(expected, bool):
        return None if expected == answers.truth else f"expected {expected}"
    names, rows = expected
    if set(names) != set(answers.variables):
        return f"variables {answers.variables}, expected {names}"
    in_order = any(part.name == "OrderBy" for part in _spine(query))
    renamed = [tuple(term and rename(term) for term in row) for row in rows]
    return _unlike(_table(names, renamed, in_order), _table(names, _ordered(answers, names), in_order))


def _unlike_csv(result: Path, answers: Answers) -> str | None:
    with result.open(newline="") as file:
        head, *rows = csv.reader(file)
    found = [[plain(term) if term else "" for term in row] for row in _ordered(answers, head)]
    return _unlike(_unlabelled(rows), _unlabelled(found))


def read_results(path: Path) -> bool | Table:
    """The results in a file: of ASK, or of SELECT."""
    if path.suffix == ".ttl":
        return _result_set(path)
    found = ox.parse_query_results(path=path)
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    assert isinstance(found, ox.QuerySolutions)
    names = [variable.value for variable in found.variables]
    return names, [tuple(write_term(term) if term else None for term in row) for row in found]


def _spine(query: ContinuousQuery) -> Iterator[CompValue]:
    part = query.algebra
    while part is not None and part.name in ("SelectQuery", "Project", "Slice", "Distinct", "OrderBy"):
        yield part
        part = part.p


def _ordered(answers: Answers, names: Sequence[str]) -> list[Row]:
    """The rows with their columns in this order."""
    places = [answers.variables.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in answers.rows]


def _result_set(path: Path) -> Table:
    """Results in the vocabulary that the first SPARQL tests had for them."""
    graph = rdflib.Graph().parse(path)
    names = sorted(map(str, graph.objects(None, RS.resultVariable)))
    rows: list[Row] = []
    for solution in graph.objects(None, RS.solution):
        row = {
            str(graph.value(binding, RS.variable)): write_term(read_term(value.n3()))
            for binding in graph.objects(solution, RS.binding)
            if (value := graph.value(binding, RS.value)) is not None
        }
        rows.append(tuple(row.get(name) for name in names))
    return names, rows


def _table(names: Sequence[str], rows: Sequence[Row], in_order: bool) -> list[str]:
    """The rows as a graph in which blank nodes have canonical labels."""
    terms = sorted({term for row in rows for term in row if term is not None})
    by_value = {term: read_term(text) for term, text in zip(terms, spelled(terms), strict=True)}
    triples: set[tuple[Term, ...]] = set()
    for number, row in enumerate(rows):
        node = ox.BlankNode(f"row{number}")
        triples.add((node, ox.NamedNode("urn:in"), ox.Literal(str(number) if in_order else "any")))
        for name, term in zip(names, row, strict=True):
            if term is not None:
                triples.add((node, ox.NamedNode(f"urn:var:{name}"), by_value[term]))
    return _canonical(triples)


def _canonical(triples: set[tuple[Term, ...]]) -> list[str]:
    graph = ox.Dataset(ox.Quad(*triple) for triple in triples)  # type: ignore[arg-type]
    graph.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(map(str, graph))


def _unlabelled(rows: Sequence[Sequence[str]]) -> list[str]:
    """CSV rows as text: which blank node is which cannot be told, as one may be a text that looks like it."""
    return sorted(str(["_:" if cell.startswith("_:") else cell for cell in row]) for row in rows)


def _unlike(wanted: list[str], found: list[str]) -> str | None:
    if wanted == found:
        return None
    missing, extra = ([line for line in a if line not in b] for a, b in ((wanted, found), (found, wanted)))
    return "\n".join(["expected but not found:", *missing, "found but not expected:", *extra])
