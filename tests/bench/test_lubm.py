"""The Lehigh University Benchmark's data, ontology and queries, byte for byte and triple for triple."""

from __future__ import annotations

import gzip
import hashlib
import re

import pyoxigraph as ox
import pytest
from rdflib.plugins.sparql import prepareQuery

from ensue.bench.generate import n_triples
from ensue.bench.lubm.queries import NUMBERS, STREAM, continuous_query, ontology_file, plain_query
from ensue.bench.lubm.rdf import ONTOLOGY
from ensue.bench.lubm.rdfxml import rdf_xml
from ensue.bench.lubm.university import departments
from ensue.cli.main import main
from ensue.query.language import parse_query
from ensue.streamfile import read_stream
from ensue.terms import OWL, RDF


@pytest.fixture(scope="module")
def truth(shared_data):
    return shared_data / "lubm"


@pytest.fixture(scope="module")
def university():
    return list(departments(0))


def generate(folder, *words):
    assert main(["generate", "lubm", *words, "-o", str(folder)]) == 0
    return folder


def test_five_universities_have_the_checksums_of_the_benchmarks_generator(truth):
    lines = (truth / "ground-truth/lubm-5-0.sha256").read_text().splitlines()
    found = {
        f"{each.document}.owl": hashlib.sha256(rdf_xml(each).encode()).hexdigest()
        for number in range(5)
        for each in departments(number)
    }
    assert len(found) == 93
    assert found == dict(reversed(line.split()) for line in lines)


def test_the_statements_are_those_of_the_documents_in_order(truth, university):
    truly = gzip.decompress((truth / "ground-truth/lubm-1-0.document-order.nt.gz").read_bytes())
    found = [n_triples(each) for department in university for each in list(department.statements())[2:]]
    assert found == truly.decode().splitlines()


def test_n_triples_and_rdf_xml_say_the_same(university):
    for each in university[:2]:
        # Of the two headers one is relative to where the document is.
        read = ox.parse(rdf_xml(each), format=ox.RdfFormat.RDF_XML, base_iri=each.graph)
        assert [f"{quad.triple} ." for quad in read] == [n_triples(line) for line in each.statements()]


def test_a_university_is_the_same_whichever_others_there_are_and_not_with_another_seed(tmp_path):
    both = generate(tmp_path / "both", "--univ", "2")
    second = generate(tmp_path / "second", "--index", "1")
    seeded = generate(tmp_path / "seeded", "--index", "1", "--seed", "7")
    documents = sorted(path.name for path in second.glob("*.owl"))
    assert documents == sorted(path.name for path in both.glob("University1_*.owl"))
    for name in documents:
        assert (second / name).read_bytes() == (both / name).read_bytes()
    assert (seeded / "University1_0.owl").read_bytes() != (second / "University1_0.owl").read_bytes()


def test_each_department_is_an_event_that_begins_with_its_header(tmp_path, university, capsys):
    folder = generate(tmp_path / "stream", "--format", "timed")
    assert "103,104 statements on the stream" in capsys.readouterr().out
    rows = [row for batch in read_stream(folder / "departments.tsv") for row in batch]
    want = [
        (1000 * k, *statement, f"<{each.graph}>")
        for k, each in enumerate(university, start=1)
        for statement in each.statements()
    ]
    assert rows == want
    borders = [k for k, row in enumerate(rows) if row[2:4] == (f"<{RDF}type>", f"<{OWL}Ontology>")]
    begins = [k for k, row in enumerate(rows) if k == 0 or row[0] != rows[k - 1][0]]
    assert borders == begins
    assert all(rows[k + 1][2:4] == (f"<{OWL}imports>", f"<{ONTOLOGY}>") for k in borders)
    assert all(rows[k][1] == rows[k][4] for k in borders)


def test_n_triples_have_a_file_for_each_department(tmp_path, university):
    folder = generate(tmp_path, "--format", "nt")
    lines = {path.stem: path.read_text() for path in folder.glob("*.nt")}
    assert lines.keys() == {each.document for each in university}
    assert lines["University0_3"] == "".join(f"{n_triples(each)}\n" for each in university[3].statements())


def test_the_ontology_has_the_same_triples(truth, tmp_path):
    def canonical(read):
        dataset = ox.Dataset(read)
        dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
        return set(dataset)

    found = canonical(ox.parse(ontology_file().read_bytes(), format=ox.RdfFormat.TURTLE))
    assert len(found) == 293
    assert found == canonical(ox.parse(path=truth / "univ-bench.nt"))
    folder = generate(tmp_path)
    assert (folder / "univ-bench.ttl").read_bytes() == ontology_file().read_bytes()


def asked(query):
    """The variables and the patterns of a query."""
    algebra = prepareQuery(query).algebra
    patterns = algebra.p.p
    return algebra.PV, patterns.name, frozenset(patterns.triples)


def test_the_queries_ask_what_the_benchmark_asks(truth):
    text = (truth / "config.query.sparql").read_text()
    parts = re.findall(r"^\[query(\d+)\]\n(.*?)(?=^\[query|\Z)", text, re.S | re.M)
    theirs = {int(number): asked(query) for number, query in parts}
    assert theirs.keys() == set(NUMBERS)
    assert theirs == {number: asked(plain_query(number)) for number in NUMBERS}


@pytest.mark.parametrize("number", NUMBERS)
def test_each_is_a_continuous_query_too(number):
    query = parse_query(continuous_query(number))
    assert query.name == f"q{number}"
    assert [on.stream for on in query.streams] == [STREAM]
    assert query.partition is not None
    assert parse_query(continuous_query(number, "RANGE 9s", by_department=False)).partition is None


@pytest.mark.parametrize("wrong", [["--univ", "0"], ["--index", "-1"], ["--seed", "-1"], ["--format", "xml"]])
def test_what_cannot_be_is_a_usage_error(wrong, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["generate", "lubm", *wrong, "-o", str(tmp_path)])
    assert stop.value.code == 2


def test_what_cannot_be_written_is_said(tmp_path, capsys):
    (tmp_path / "file").touch()
    for each in ("owl", "timed"):
        assert main(["generate", "lubm", "--format", each, "-o", str(tmp_path / "file")]) == 1
        assert f"{tmp_path / 'file'}: cannot be written" in capsys.readouterr().err
