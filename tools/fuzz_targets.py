"""What the fuzzer does with a text of each kind: parse it, and if it is accepted, use it.

Each target says whether it took the text; it raises an EnsueError for one that it refuses. Any other
exception is a finding. Accepted queries, rules and networks also run over a few statements.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from fuzz_corpus import corpus
from fuzz_mutations import Mutator, coarse, mutated_json

from ensue import Reasoner
from ensue.badlines import BadLine
from ensue.device.load import compile_pattern
from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.files import read_statements
from ensue.networks.loops import Limit
from ensue.networks.networks import Networks
from ensue.networks.parse import parse as parse_network
from ensue.ntriples import parse_line
from ensue.query.language import parse_query
from ensue.query.tree import ContinuousQuery
from ensue.rules.load import parse_rules
from ensue.rules.tree import RuleSet
from ensue.spark.card import NAME as CARD
from ensue.spark.card import Card, go_on
from ensue.spark.decode import decode
from ensue.spark.ledger import NAME, Ledger
from ensue.spark.replay_lines import Lines
from ensue.spark.source_options import Options
from ensue.spark.unread import of_line
from ensue.streamfile import read_stream

_STATEMENTS = (
    ("<urn:a>", "<urn:p>", "<urn:b>"),
    ("<urn:b>", "<urn:p>", "<urn:c>"),
    ("<urn:a>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<urn:C>"),
    ("<urn:a>", "<urn:q>", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ("_:b", "<urn:p>", '"x"@en'),
    ("<urn:C>", "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", "<urn:D>"),
)
_MOST_WINDOWS = 2_000
"""A query with more windows than this in the time of its statements is not run."""

Target = Callable[[random.Random, bytes], bool]


def weights() -> dict[str, float]:
    """What share of the inputs each parser gets: the slow ones (rdflib's grammar) few."""
    return {
        **{"query": 0.02, "rule": 0.02, "network": 0.02, "bracketed": 0.08, "lines": 0.42, "turtle": 0.08},
        **{"trig": 0.08, "quads": 0.08, "json": 0.08, "xml": 0.05, "checkpoint": 0.07},
    }


class Fuzz:
    """Makes inputs, and tries them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        texts = corpus()
        self._mutators = {kind: Mutator(found) for kind, found in texts.items() if kind != "json"}
        self._json = texts["json"]
        self._targets: Mapping[str, Target] = {
            "query": _query,
            "rule": _rules("sparql"),
            "bracketed": _rules("bracketed"),
            "network": _network,
            "lines": self._lines,
            "turtle": self._document("ttl", "nt", "n3", "trig"),
            "trig": self._document("trig"),
            "quads": self._document("nq", "nt", "trig"),
            "json": self._document("jsonld", "jsonl"),
            "xml": self._document("rdf", "owl"),
            "checkpoint": self._checkpoint,
        }

    def input(self, kind: str, rng: random.Random) -> bytes:
        """An input for a parser."""
        if kind == "checkpoint":
            return mutated_json(rng, rng.choice(_MANIFESTS)).encode("utf-8", "surrogatepass")
        if kind == "json":
            return mutated_json(rng, rng.choice(self._json)).encode("utf-8", "surrogatepass")
        data = self._mutators[kind].text(rng).encode("utf-8", "surrogatepass")
        if kind in ("lines", "turtle", "trig", "quads", "xml") and rng.random() < 0.1:
            data = coarse(rng, data)
        return data

    def run(self, kind: str, rng: random.Random, data: bytes) -> bool:
        """Whether a parser takes an input. Anything but an EnsueError is a finding."""
        try:
            return self._targets[kind](rng, data)
        except EnsueError:
            return False

    def _lines(self, rng: random.Random, data: bytes) -> bool:
        """Timed lines: the reader and Spark's decoder must agree on them."""
        path = self._folder / "s.tsv"
        path.write_bytes(data)
        max_line = rng.choice((100, 1_000, 16_000_000))
        bad: list[BadLine] = []
        rows = [row for batch in read_stream(path, on_bad=bad.append, max_line=max_line) for row in batch]
        bare = data.removeprefix(b"\xef\xbb\xbf")
        lines = pa.record_batch({"value": Lines.of(bare).text})
        decoded = decode(lines, origin=str(path), max_line=max_line)
        theirs = [tuple(row.values()) for row in decoded.statements.to_pylist()]
        assert theirs == rows, f"Spark reads {theirs}, and the reader {rows}"
        assert decoded.dead.num_rows == len(bad), "the numbers of dead letters differ"
        for line in data.split(b"\n"):
            of_line(line)
            _refused(lambda line=line: parse_line(line.decode("utf-8", "replace"), "f", 1))  # type: ignore[misc]
        return bool(rows)

    def _document(self, *extensions: str) -> Target:
        def run(rng: random.Random, data: bytes) -> bool:
            extension = rng.choice(extensions) if rng.random() < 0.2 else extensions[0]
            path = self._folder / f"d.{extension}"
            path.write_bytes(data)
            if extension in ("trig", "nq", "jsonld", "jsonl"):
                bad: list[BadLine] = []
                for _ in read_stream(path, on_bad=bad.append):
                    pass
            return extension != "jsonl" and any(True for _ in list(read_statements(path)))

        return run

    def _checkpoint(self, rng: random.Random, data: bytes) -> bool:
        """The manifest, the log of what was written, and options of the source."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = Path(name)
            (folder / CARD).write_bytes(data)
            (folder / NAME).write_bytes(data)
            taken = [_refused(lambda: go_on(folder, _CARD)), _refused(lambda: Ledger(folder))]
        text = data.decode("utf-8", "replace")
        taken.append(_refused(lambda: Options.of({"streams": text})))
        return any(taken)


def _refused(call: Callable[[], Any]) -> bool:
    """Whether a call goes through; an EnsueError says that it does not."""
    try:
        call()
    except EnsueError:
        return False
    return True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _query(rng: random.Random, data: bytes) -> bool:
    query = parse_query(_text(data), "fuzz.rq", "fuzz")
    _refused(lambda: _run_query(rng, query))
    return True


def _run_query(rng: random.Random, query: ContinuousQuery) -> None:
    """Register it, push a few statements within 50 ms, and let all windows fire."""
    strategy = rng.choice(("auto", "auto", "expiration", "rete", "recompute", "rewrite", "dred"))
    evaluator = rng.choice(("auto", "auto", "oxigraph", "compiled"))
    rules = rng.choice(("rdfs-jena", "transitive-isin", None))
    reasoner = Reasoner(rules=rules or (), strategy=strategy, evaluator=evaluator, max_facts=100_000)
    reasoner.register(query)
    windows = sum(_closes(window.spec, query.every_ms) for window in query.streams)
    if windows > _MOST_WINDOWS:
        return
    for stream in reasoner.streams:
        given = rng.sample(_STATEMENTS, rng.randrange(1, 1 + len(_STATEMENTS)))
        reasoner.push(stream, [(rng.randrange(50), *each) for each in given])
    for _ in reasoner.advance():
        pass
    for _ in reasoner.end():
        pass


def _closes(spec: Any, every_ms: int | None) -> float:
    """How many windows there are in 50 ms, about."""
    range_ms, step_ms = getattr(spec, "range_ms", None) or 0, getattr(spec, "step_ms", None) or every_ms or 1
    return float((50 + range_ms) / max(1, min(step_ms, every_ms or step_ms)))


def _rules(syntax: str) -> Target:
    def run(rng: random.Random, data: bytes) -> bool:
        rules = parse_rules(_text(data), "fuzz", syntax)
        _refused(lambda: _run_rules(rng, rules))
        return True

    return run


def _run_rules(rng: random.Random, rules: RuleSet) -> None:
    strategy = rng.choice(("expiration", "rete", "recompute", "dred"))
    reasoner = Reasoner(rules=rules, strategy=strategy, max_facts=2_000)
    reasoner.register("SELECT * FROM STREAM <urn:s> [RANGE 1s] { ?s ?p ?o }")
    reasoner.push("urn:s", [(at, *each) for at, each in enumerate(_STATEMENTS)])
    for _ in reasoner.end():
        pass


def _network(rng: random.Random, data: bytes) -> bool:
    file = parse_network(_text(data), "fuzz.ru", "fuzz")

    def run() -> None:
        networks = Networks(file, limit=Limit(rounds=20, firings=200))
        networks.start(0)
        networks.push([(at, *each) for at, each in enumerate(_STATEMENTS)])

    _refused(run)
    if rng.random() < 0.1:
        _refused(lambda: compile_pattern(_text(data)[:200], (), Dictionary()))
    return True


_CARD = Card(1, "0", "q", "a", "r", "b", "m", 1, filtered=False)
_MANIFESTS: tuple[str, ...] = ()


def _manifests() -> Iterable[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "checkpoint")
        go_on(folder, _CARD)
        yield from (path.read_text() for path in folder.iterdir())
    yield json.dumps({"batch": -1, "lengths": {"/tmp/out": 10}, "queries": ["q"], "merged": 0})
    yield json.dumps({"urn:s": "/dev/null", "urn:t": "/tmp"})


_MANIFESTS = tuple(_manifests())
