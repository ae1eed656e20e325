"""The texts that the fuzzer begins with: those of the project's tests, examples, regimes and documentation.

Third-party texts (`../shared/data`) are read where they are, if they are there; nothing of them is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ENSUE_DATA", ROOT.parent / "shared" / "data"))
_LARGEST = 6_000
_FENCE = re.compile(r"```sparql\n(.*?)```", re.DOTALL)

_NETWORKS = (
    "# element: statement\nDELETE { ?x ?p ?y } INSERT { ?y ?p ?x } WHERE { ?x ?p ?y FILTER(isIRI(?y)) }",
    "PREFIX e: <urn:e:>\nINSERT { GRAPH e:last { ?s e:at ?o } } WHERE { ?s e:in ?o "
    "OPTIONAL { ?o e:in ?z } } ;\n"
    "SELECT ?s ?o WHERE { GRAPH <urn:e:last> { ?s <urn:e:at> ?o } }",
    "# partition by: graph\n# arrives in: default\nSELECT DISTINCT ?s (?o AS ?p) WHERE { ?s ?q ?o }",
    "PREFIX e: <urn:e:>\nINSERT { ?s e:n ?m } WHERE { ?s e:p ?o BIND(STRLEN(STR(?o)) AS ?m) "
    "FILTER NOT EXISTS { ?s e:n ?k } } ; SELECT ?s ?m WHERE { ?s e:n ?m }",
    "DELETE DATA { <urn:a> <urn:p> 1 } ; INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> 2 } } ; "
    "DELETE WHERE { ?s <urn:gone> ?o } ; SELECT ?s WHERE { VALUES ?s { <urn:a> 3 } ?s ?p ?o }",
)
_TURTLE = (
    '@prefix e: <urn:e:> . e:a a e:C ; e:p 1, 2.5, true, \'x\'@en, """y""" ; e:l (e:a [ e:q _:b ] ()) .',
    "@base <http://e.org/> . <a> <p> <b>, <#c> . <<( <a> <p> 1 )>> <q> <r> . <a> <b> <<( <c> <d> <e> )>> .",
)
_TRIG = (
    "@prefix p: <http://www.w3.org/ns/prov#> . @prefix x: <http://www.w3.org/2001/XMLSchema#> .\n"
    "<urn:g> { <urn:a> <urn:p> <urn:b>, 2 . _:b <urn:q> 'x'@en }\n"
    '<urn:g> p:generatedAtTime "2024-01-01T00:00:10Z"^^x:dateTime . <urn:h> p:generatedAtTime 17 .\n'
    "<urn:h> { <urn:a> a <urn:C> }",
)
_QUADS = (
    '<urn:a> <urn:p> "x" <urn:g> .\n_:b <urn:p> _:c <urn:g> .\n'
    "<urn:g> <http://www.w3.org/ns/prov#generatedAtTime> "
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    '<urn:a> <urn:p> <<( <urn:a> <urn:q> "y"@en )>> <urn:g> .\n',
)
_JSON_LD = (
    '{"@context":{"e":"urn:e:","at":{"@id":"http://www.w3.org/ns/prov#generatedAtTime"}},"@id":"e:g","at":5,'
    '"@graph":[{"@id":"e:a","e:p":[1,2.5,true,{"@value":"x","@language":"en"}],"e:l":{"@list":[1,{"@id":"e:b"}]}}]}',
    '{"@id":"urn:a","@type":["urn:C"],"urn:p":{"@id":"_:b","urn:q":{"@type":"@json","@value":{"a":[1]}}}}',
    '{"@context":{"@vocab":"urn:v:","@base":"http://e.org/","n":{"@type":"@id","@container":"@set"}},"n":["a","b"]}',
)
_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:" '
    'xml:base="http://e.org/">'
    '<e:C rdf:about="a"><e:p>x</e:p><e:q rdf:resource="#b"/>'
    '<e:r rdf:parseType="Resource"><e:s xml:lang="en">y</e:s></e:r>'
    '<e:l rdf:parseType="Collection"><e:D/><rdf:Description rdf:nodeID="n"/></e:l></e:C></rdf:RDF>',
)


def corpus() -> dict[str, list[str]]:
    """The texts by the kind of parser: query, rule, bracketed, network, lines and the documents."""
    source, tests = ROOT / "src" / "ensue", ROOT / "tests"
    queries = [
        *_texts(tests, "*.rq"),
        *_texts(source, "*.rq"),
        *_of_documentation(),
        *_texts(DATA / "citybench", "*.rq"),
    ]
    rules = [rule for text in _texts(source, "*.ru", 1 << 20) for rule in _rules(text)]
    bracketed = [each for text in _texts(source, "*.rules") for each in _bracketed(text)]
    bracketed += [each for text in _texts(tests, "*.rules") for each in _bracketed(text)]
    lines = [text for path in sorted(tests.rglob("*.tsv")) for text in _lines(path)]
    return {
        "query": [text for text in queries if re.search(r"\bFROM\b", text)],
        "rule": [text for text in rules if "DELETE" not in text],
        "bracketed": bracketed,
        "network": [*_NETWORKS, *(text for text in rules if "SELECT" in text or "DELETE" in text)],
        "lines": lines,
        "turtle": [*_TURTLE, *_texts(tests, "*.ttl")],
        "trig": [*_TRIG, *_texts(tests, "*.trig")],
        "quads": list(_QUADS),
        "json": list(_JSON_LD),
        "xml": list(_XML),
    }


def _texts(folder: Path, pattern: str, largest: int = _LARGEST) -> Iterator[str]:
    for path in sorted(folder.rglob(pattern)):
        if path.is_file() and path.stat().st_size <= largest:
            yield path.read_text("utf-8", "replace")


def _of_documentation() -> Iterator[str]:
    for path in sorted((ROOT / "docs").glob("*.md")):
        yield from _FENCE.findall(path.read_text("utf-8"))


def _rules(text: str) -> Iterator[str]:
    """The rules of a SPARQL file, each with the prologue."""
    prologue = "\n".join(re.findall(r"(?im)^\s*(?:PREFIX|BASE)\b.*$", text))
    body = re.sub(r"(?im)^\s*(?:PREFIX|BASE)\b.*$|^\s*#.*$", "", text)
    for rule in re.split(r";\s*\n", body):
        if rule.strip() and len(rule) < _LARGEST:
            yield f"{prologue}\n{rule.strip()}"


def _bracketed(text: str) -> Iterator[str]:
    prologue = "\n".join(re.findall(r"(?m)^@prefix.*$", text))
    for rule in re.findall(r"(?ms)^\[.*?\]\s*$", text):
        yield f"{prologue}\n{rule}"


def _lines(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8", "replace").splitlines(keepends=True)
    for at in range(0, min(len(text), 40), 5):
        yield "".join(text[at : at + 5])
