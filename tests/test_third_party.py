"""Our RDFS closure of LUBM(1,0) against two reasoners that others wrote, statement for statement.

Whatever differs must be exactly what a rule that the two sides do not share explains; the list is in
docs/semantics.md. Blank nodes become IRIs first, so that statements can be compared as text.
"""

from __future__ import annotations

import gzip
import re
from functools import cache

import pytest

from ensue.dictionary import Dictionary
from ensue.files import load_background
from ensue.maintain import make
from ensue.model import BACKGROUND
from ensue.rules.load import load_rules
from ensue.terms import OWL, RDF, RDFS, literal

TYPE, PROPERTY, RESOURCE = f"<{RDF}type>", f"<{RDF}Property>", f"<{RDFS}Resource>"
SUB_PROPERTY, SUB_CLASS = f"<{RDFS}subPropertyOf>", f"<{RDFS}subClassOf>"


@pytest.fixture(scope="module")
def lubm(shared_data):
    """The lines of LUBM(1,0) and its ontology, blank nodes as IRIs."""
    data = gzip.decompress((shared_data / "lubm/ground-truth/lubm-1-0.distinct.sorted.nt.gz").read_bytes())
    schema = re.sub(r"_:(\w+)", r"<urn:node:\1>", (shared_data / "lubm/univ-bench.nt").read_text())
    return data.decode().splitlines(keepends=True) + schema.splitlines(keepends=True)


def close(path):
    """The closure of a file under `rdfs-jena`, by the default strategy."""
    dictionary = Dictionary()
    maintainer = make("expiration", load_rules("rdfs-jena"), dictionary)
    maintainer.load_background(load_background([path], dictionary))
    text = dictionary.decode
    return {(text(s), text(p), text(o)) for _, s, p, o, _ in maintainer.closure(BACKGROUND)}


def from_rdflib(triples):
    """Statements of rdflib as canonical text."""
    from rdflib import Literal

    @cache
    def text(node):
        if isinstance(node, Literal):
            # An rdflib IRI equals no plain string, so the datatype has to become one.
            datatype = None if node.datatype is None else str(node.datatype)
            return literal(str(node), datatype=datatype, language=node.language)
        return node.n3()

    return {(text(s), text(p), text(o)) for s, p, o in triples}


def ends(statements):
    """What occurs as a subject or an object."""
    return {term for s, _, o in statements for term in (s, o)}


def things(statements):
    """What OWL takes for an individual, if its two built-in classes count."""
    return {term for term in ends(statements) if term[0] != '"'} | {f"<{OWL}Thing>", f"<{OWL}Nothing>"}


@pytest.mark.long
def test_owlrl_gives_the_same(lubm, tmp_path):
    import rdflib

    owlrl = pytest.importorskip("owlrl", reason="owlrl, a test-only comparison, is not installed")

    class WithoutLiteralValues(owlrl.RDFS_Semantics):
        """Leaves out the one rule before the rules: literals of equal value, compared all with all."""

        def one_time_rules(self):
            pass

    (tmp_path / "lubm.nt").write_text("".join(lubm))
    # The store without contexts, which nobody asks for here: it takes a quarter less time.
    graph = rdflib.Graph("SimpleMemory").parse(tmp_path / "lubm.nt", format="nt")
    stated = from_rdflib(graph)
    # The axiomatic statements of RDFS are not part of Jena's rules.
    owlrl.DeductiveClosure(WithoutLiteralValues, axiomatic_triples=False, datatype_axioms=False).expand(graph)
    ours, theirs = close(tmp_path / "lubm.nt"), from_rdflib(graph)
    # owlrl applies rdfs4a and rdfs4b in its first round only, so it misses what derived statements name.
    late = {(term, TYPE, RESOURCE) for term in ends(theirs) - ends(stated)}
    assert theirs - ours == set()
    assert ours - theirs == late - theirs
    print(f"{len(ours)} statements, {len(ours - stated)} derived; owlrl lacks {len(ours - theirs)} (rdfs4)")
    assert len(ours - stated) > 50_000


def test_reasonable_gives_the_same(lubm, tmp_path):
    reasonable = pytest.importorskip("reasonable", reason="reasonable has no wheel for this machine")
    owl = f"<{OWL}"
    # `reasonable` is OWL 2 RL: without the statements in OWL's words, RDFS is what is left for it to do.
    lines = [line for line in lubm if not any(word.startswith(owl) for word in line.split(" ")[1:3])]
    (tmp_path / "lubm.ttl").write_text("".join(lines))
    reasoner = reasonable.PyReasoner()
    reasoner.load_file(str(tmp_path / "lubm.ttl"))
    ours, theirs = close(tmp_path / "lubm.ttl"), from_rdflib(reasoner.reason())
    properties = {p for _, p, _ in ours}
    above = {(s, o) for s, p, o in theirs if p == SUB_PROPERTY}
    only_ours = {
        *((term, TYPE, RESOURCE) for term in ends(ours)),  # rdf1and4
        *((term, TYPE, PROPERTY) for term in properties),  # rdf1and4
        *((term, SUB_PROPERTY, term) for term in properties),  # rdfs5b on what that makes a property
        *((a, SUB_PROPERTY, c) for a, b in above for d, c in above if b == d),  # rdfs5a, which it lacks
    }
    only_theirs = {  # everything is an owl:Thing; cls-thing, cls-nothing1
        (term, TYPE, f"<{OWL}{name}>")
        for name, terms in {"Thing": things(ours), "Class": things(())}.items()
        for term in terms
    }
    assert ours - theirs == only_ours - theirs
    assert theirs - ours <= only_theirs
    common = {p for _, p, _ in ours & theirs}
    assert {TYPE, SUB_CLASS} < common
    print(f"{len(ours & theirs)} in common; {len(ours - theirs)} ours only, {len(theirs - ours)} theirs only")
