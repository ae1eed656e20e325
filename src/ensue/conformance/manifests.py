"""The manifests of the W3C's suites: which tests there are, and what files and settings each has.

A manifest is RDF: a list of entries, each with an action (what to run, over what) and a result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyoxigraph as ox

from ensue.errors import InputError, Place

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
SD = "http://www.w3.org/ns/sparql-service-description#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

Node = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


@dataclass(frozen=True, slots=True)
class QueryCase:
    """A test of a query: the query, the files of its dataset, and the file with the results."""

    name: str
    iri: str
    query: Path
    data: tuple[Path, ...]
    graphs: tuple[Path, ...]
    result: Path
    regimes: tuple[str, ...] = ()
    """The entailment regimes under which the results hold, by their local names; none: simple entailment."""


@dataclass(frozen=True, slots=True)
class GraphCase:
    """A test of entailment between two graphs."""

    name: str
    iri: str
    positive: bool
    """Whether the premise entails the conclusion."""
    regime: str
    recognised: tuple[str, ...]
    """The IRIs of the datatypes that are to be recognised."""
    premise: Path
    conclusion: Path | None
    """None: what cannot be, so the question is whether the premise is inconsistent."""


class Manifest:
    """One manifest file, as a graph to walk through; relative IRIs are those of files beside it.

    `home` is the manifest's own IRI on the web: tests that it names relative to itself are known by that.
    """

    def __init__(self, path: Path, home: str | None = None) -> None:
        self.path = path
        self._home = home
        self._objects: dict[tuple[Node, str], list[Node]] = defaultdict(list)
        self._base = path.resolve().as_uri()
        try:
            for quad in ox.parse(path=path, base_iri=self._base):
                self._objects[quad.subject, quad.predicate.value].append(quad.object)
        except (OSError, SyntaxError) as problem:
            hint = "name the folder of a suite, with its manifest.ttl"
            raise InputError(f"cannot be read: {problem}", place=Place(str(path)), hint=hint) from problem

    def entries(self) -> Iterator[ox.NamedNode]:
        """The tests, in the order in which they are listed."""
        for entry in self.members(self.one(ox.NamedNode(self._base), MF + "entries")):
            assert isinstance(entry, ox.NamedNode)
            yield entry

    def iri(self, test: ox.NamedNode) -> str:
        """What a test is known by outside of this machine."""
        return test.value.replace(self._base, self._home) if self._home else test.value

    def all(self, subject: Node | None, predicate: str) -> list[Node]:
        """What a node has of a property."""
        return self._objects.get((subject, predicate), []) if subject is not None else []

    def one(self, subject: Node | None, predicate: str) -> Node | None:
        """What a node has of a property, if it has it once or more often."""
        return next(iter(self.all(subject, predicate)), None)

    def members(self, node: Node | None) -> list[Node]:
        """The members of a list; a node that is none is the only member."""
        if node is None or node == ox.NamedNode(RDF + "nil"):
            return []
        first, rest = self.one(node, RDF + "first"), self.one(node, RDF + "rest")
        return [node] if first is None else [first, *self.members(rest)]

    def file(self, node: Node | None) -> Path:
        """The file that an IRI names."""
        if not isinstance(node, ox.NamedNode):
            what = f"a test names no file where one is needed: {node}"
            raise InputError(what, place=Place(str(self.path)), hint="this is no manifest of the suite")
        return path_of(node.value)


def path_of(iri: str) -> Path:
    """The path of a `file:` IRI.

    >>> path_of("file:///tmp/a%20b").as_posix()
    '/tmp/a b'
    """
    return Path(unquote(urlparse(iri).path))


def local_name(node: Node) -> str:
    """The last part of an IRI.

    >>> local_name(ox.NamedNode("http://www.w3.org/ns/entailment/RDFS"))
    'RDFS'
    """
    assert isinstance(node, ox.NamedNode)
    return node.value.replace("#", "/").rpartition("/")[2]


def query_cases(manifest: Manifest, prefix: str = "") -> Iterator[QueryCase]:
    """The query evaluation tests of a manifest; `prefix` goes before their names."""
    for test in manifest.entries():
        kinds = {local_name(kind) for kind in manifest.all(test, RDF + "type")}
        if kinds & {"QueryEvaluationTest", "CSVResultFormatTest"}:
            action = manifest.one(test, MF + "action")
            regimes = manifest.members(manifest.one(action, SD + "entailmentRegime"))
            yield QueryCase(
                name=prefix + local_name(test),
                iri=manifest.iri(test),
                query=manifest.file(manifest.one(action, QT + "query")),
                data=tuple(map(manifest.file, manifest.all(action, QT + "data"))),
                graphs=tuple(map(manifest.file, manifest.all(action, QT + "graphData"))),
                result=manifest.file(manifest.one(test, MF + "result")),
                regimes=tuple(map(local_name, regimes)),
            )


def graph_cases(manifest: Manifest) -> Iterator[GraphCase]:
    """The tests of entailment between graphs of a manifest."""
    for test in manifest.entries():
        kinds = {local_name(kind) for kind in manifest.all(test, RDF + "type")}
        result = manifest.one(test, MF + "result")
        regime = manifest.one(test, MF + "entailmentRegime")
        assert isinstance(regime, ox.Literal)
        recognised = manifest.members(manifest.one(test, MF + "recognizedDatatypes"))
        yield GraphCase(
            name=local_name(test),
            iri=manifest.iri(test),
            positive="PositiveEntailmentTest" in kinds,
            regime=regime.value,
            recognised=tuple(node.value for node in recognised if isinstance(node, ox.NamedNode)),
            premise=manifest.file(manifest.one(test, MF + "action")),
            conclusion=None if isinstance(result, ox.Literal) else manifest.file(result),
        )
