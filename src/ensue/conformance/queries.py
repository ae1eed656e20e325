"""The W3C's SPARQL 1.1 query evaluation tests, on each evaluator.

Left aside are the tests for entailment regimes (`entailment`), federation, updates, syntax and protocols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ensue.conformance.expected import difference
from ensue.conformance.manifests import Manifest, QueryCase, path_of, query_cases
from ensue.conformance.outcome import Outcome, Status
from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.files import load_file
from ensue.model import BACKGROUND, Facts
from ensue.query.choose import choose_evaluator
from ensue.query.dataset import Columns, Dataset, PlainGraph
from ensue.query.language import parse_query
from ensue.query.tree import ContinuousQuery

STREAM = "urn:ensue:conformance"
"""The stream that the queries of tests read."""

FOLDERS = (
    *("aggregates", "bind", "bindings", "cast", "construct", "csv-tsv-res", "exists", "functions"),
    *("grouping", "json-res", "negation", "project-expression", "property-path", "subquery"),
)
"""What is SPARQL 1.1 Query, and its results; `entailment` is for rules."""

EVALUATORS = ("oxigraph", "auto")


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
    """Answer each query with each evaluator."""
    for case in cases:
        why = {name: problem for name in EVALUATORS if (problem := _problem(case, name)) is not None}
        status = Status.FAILED if why else Status.PASSED
        chosen = choose_evaluator(continuous(case), Dictionary()).evaluator.name
        yield Outcome(case.name, case.iri, status, chosen, "\n".join(why.values()), {"failed": [*why]})


def _problem(case: QueryCase, evaluator: str) -> str | None:
    try:
        query = continuous(case)
        data = dataset(case, query)
        answers = choose_evaluator(query, data.dictionary, evaluator).evaluator.evaluate(data)
    except EnsueError as problem:
        return str(problem)
    return difference(case.result, query, answers)


def continuous(case: QueryCase) -> ContinuousQuery:
    """The query of a test, over a stream on which nothing comes."""
    before = f"BASE <{case.query.as_uri()}> FROM STREAM <{STREAM}> [RANGE 1s] "
    return parse_query(before + case.query.read_text("utf-8"), case.name)


def dataset(case: QueryCase, query: ContinuousQuery) -> Dataset:
    """The dataset of a test; FROM and FROM NAMED of its query add to what the manifest says."""
    dictionary = Dictionary()
    default = [*case.data, *map(path_of, query.default_graphs)]
    named = [*case.graphs, *map(path_of, query.named_graphs)]
    graphs = {path.as_uri(): _graph([path], dictionary) for path in named}
    return Dataset(dictionary, _graph(default, dictionary), graphs)


def _graph(paths: list[Path], dictionary: Dictionary) -> PlainGraph:
    facts: dict[tuple[int, int, int], int] = {}
    for path in paths:
        for _, s, p, o, _, stamp in load_file(path, dictionary):
            facts[s, p, o] = stamp
    return PlainGraph(Columns.of(Facts.of((BACKGROUND, *triple, stamp) for triple, stamp in facts.items())))
