"""The W3C's SPARQL 1.1 query evaluation tests, on each evaluator.

Left aside are the tests for entailment regimes (`entailment`), federation, updates, syntax and protocols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ensue.conformance.expected import difference
from ensue.conformance.library import NONE, rules_of
from ensue.conformance.manifests import Manifest, QueryCase, path_of, query_cases
from ensue.conformance.outcome import Outcome, Status
from ensue.conformance.streams import ask_stream, continuous
from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.files import load_file, read_statements
from ensue.knowledge import Sent
from ensue.model import BACKGROUND, Facts
from ensue.query.answers import Answers
from ensue.query.choose import choose_evaluator
from ensue.query.dataset import Columns, Dataset, PlainGraph
from ensue.query.tree import ContinuousQuery

FOLDERS = (
    *("aggregates", "bind", "bindings", "cast", "construct", "csv-tsv-res", "exists", "functions"),
    *("grouping", "json-res", "negation", "project-expression", "property-path", "subquery"),
)
"""What is SPARQL 1.1 Query, and its results; `entailment` is for rules."""

EVALUATORS = ("oxigraph", "auto")
AS_STREAM = "as a stream"


def read(suite: Path) -> list[QueryCase]:
    """All tests of the suite, in the order of its manifests."""
    folder = suite_folder(suite)
    return [
        case
        for name in FOLDERS
        for case in query_cases(Manifest(folder / name / "manifest.ttl"), prefix=f"{name}/")
    ]


def suite_folder(path: Path) -> Path:
    """The folder with the suite's manifests, if the one that it is in is named."""
    return path / "sparql11" if (path / "sparql11").is_dir() else path


def run(cases: Iterable[QueryCase]) -> Iterator[Outcome]:
    """Answer each query with each evaluator, and once more over a stream."""
    for case in cases:
        why = {
            way: problem for way in (*EVALUATORS, AS_STREAM) if (problem := _problem(case, way)) is not None
        }
        status = Status.FAILED if why else Status.PASSED
        chosen = choose_evaluator(parsed(case), Dictionary()).evaluator.name
        yield Outcome(case.name, case.iri, status, chosen, "\n".join(why.values()), {"failed": [*why]})


def _problem(case: QueryCase, way: str) -> str | None:
    try:
        query = parsed(case)
        answers = replay(case) if way == AS_STREAM else _evaluate(case, query, way)
    except EnsueError as problem:
        return str(problem)
    return difference(case.result, query, answers)


def _evaluate(case: QueryCase, query: ContinuousQuery, evaluator: str) -> Answers:
    data = dataset(case, query)
    return choose_evaluator(query, data.dictionary, evaluator).evaluator.evaluate(data)


def parsed(case: QueryCase) -> ContinuousQuery:
    """The query of a test."""
    named = [path.as_uri() for path in case.graphs]
    return continuous(case.query.read_text("utf-8"), case.name, case.query.as_uri(), named)


def replay(case: QueryCase) -> Answers:
    """The answers over a stream that brings the data of the default graph."""
    query = parsed(case)
    data = [(s, p, o) for path in case.data for s, p, o, _ in read_statements(path)]
    graphs = {
        iri: tuple(read_statements(path_of(iri))) for iri in (*query.default_graphs, *query.named_graphs)
    }
    return ask_stream(query, data, rules_of(NONE), Sent(graphs=graphs))


def dataset(case: QueryCase, query: ContinuousQuery) -> Dataset:
    """The dataset of a test; FROM and FROM NAMED of its query add to what the manifest says."""
    dictionary = Dictionary()
    default = [*case.data, *map(path_of, query.default_graphs)]
    graphs = {iri: _graph([path_of(iri)], dictionary) for iri in query.named_graphs}
    return Dataset(dictionary, _graph(default, dictionary), graphs)


def _graph(paths: list[Path], dictionary: Dictionary) -> PlainGraph:
    facts: dict[tuple[int, int, int], int] = {}
    for path in paths:
        for _, s, p, o, _, stamp in load_file(path, dictionary):
            facts[s, p, o] = stamp
    return PlainGraph(Columns.of(Facts.of((BACKGROUND, *triple, stamp) for triple, stamp in facts.items())))
