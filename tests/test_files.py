"""Reading RDF files: every syntax gives the same statements, every fault has a place and a hint."""

from __future__ import annotations

import gzip
from contextlib import suppress

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensue.dictionary import Dictionary
from ensue.errors import InputError, UsageError
from ensue.files import SYNTAXES, load_background, load_file, read_statements, scope_of
from ensue.model import BACKGROUND, FOREVER
from ensue.terms import literal

XSD = "http://www.w3.org/2001/XMLSchema#"

SAME = {
    "a.nt": b'<urn:a> <urn:p> "caf\xc3\xa9"@FR .\n<urn:a> <urn:q> "7"^^<' + XSD.encode() + b"integer> .\n",
    "a.triples": b'<urn:a> <urn:p> "caf\\u00E9"@fr . # x\r\n<urn:a> <urn:q> "7"^^<'
    + XSD.encode()
    + b"integer> .",
    "a.nq": b'<urn:a> <urn:p> "caf\xc3\xa9"@fr .\n<urn:a> <urn:q> "7"^^<' + XSD.encode() + b"integer> .\n",
    "a.ttl": b'\xef\xbb\xbf@prefix : <urn:> . :a :p "caf\xc3\xa9"@fr ; :q 7 .',
    "a.trig": b'@prefix : <urn:> . :a :p "caf\xc3\xa9"@fr ; :q 7 .',
    "a.n3": b'@prefix : <urn:> . :a :p "caf\xc3\xa9"@fr ; :q 7 .',
    "a.rdf": b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">'
    b'<rdf:Description rdf:about="urn:a"><u:p xml:lang="fr">caf\xc3\xa9</u:p>'
    b'<u:q rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">7</u:q></rdf:Description></rdf:RDF>',
    "a.jsonld": b'{"@id": "urn:a", "urn:p": {"@value": "caf\\u00e9", "@language": "fr"}, "urn:q": 7}',
}
EXPECTED = [
    ("<urn:a>", "<urn:p>", '"café"@fr', None),
    ("<urn:a>", "<urn:q>", f'"7"^^<{XSD}integer>', None),
]


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_syntax_says_the_same(tmp_path, name, zipped):
    path = tmp_path / (name + ".gz" * zipped)
    path.write_bytes(gzip.compress(SAME[name]) if zipped else SAME[name])
    assert list(read_statements(path)) == EXPECTED


def test_format_goes_before_extension(tmp_path):
    path = tmp_path / "a.nt"
    path.write_bytes(SAME["a.ttl"])
    assert list(read_statements(path, format="ttl")) == EXPECTED
    with pytest.raises(UsageError, match="unknown format 'tortoise'"):
        list(read_statements(path, format="tortoise"))


def test_graph_names_are_read(tmp_path):
    path = tmp_path / "a.trig"
    path.write_text("<urn:g> { <urn:a> <urn:p> <urn:b> } <urn:a> <urn:p> <urn:c> . _:g { <urn:a> <urn:p> 1 }")
    assert [graph for *_, graph in read_statements(path)] == ["<urn:g>", None, scope_of(path) + "0"]


def test_relative_iris_are_resolved_against_the_file(tmp_path):
    here = tmp_path.absolute().as_uri()
    for name, text in {
        "a.ttl": "<#x> <p> <> .",
        "b.jsonld": f'{{"@id": "#x", "{here}/p": {{"@id": ""}}}}',
    }.items():
        path = tmp_path / name
        path.write_text(text)
        assert list(read_statements(path)) == [
            (f"<{here}/{name}#x>", f"<{here}/p>", f"<{here}/{name}>", None)
        ]


def test_blank_nodes_belong_to_their_document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.nt", "b.nt"):
        (tmp_path / name).write_text('_:n <urn:p> _:n .\n_:n <urn:p> "x" .\n')
    first, again, other = (list(read_statements(name)) for name in ("a.nt", "./a.nt", "b.nt"))
    assert first == again
    assert first[0][0] == first[0][2] == first[1][0]
    assert first[0][0] != other[0][0]


def test_nodes_without_a_label_come_out_the_same_every_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.ttl").write_text("<urn:a> <urn:p> [ <urn:q> _:n ], (1 2) . _:n <urn:q> [] .")
    first, again = (list(read_statements("a.ttl")) for _ in range(2))
    assert first == again
    assert len({term for row in first for term in row if term and term.startswith("_:")}) == 5


def test_labels_stay_valid_and_apart(tmp_path):
    # A label that looks like one of ours must not collide with it.
    path = tmp_path / "a.nt"
    path.write_text(f'{scope_of(path)}7 <urn:p> _:7 .\n_:a.b-c <urn:p> "x" .\n')
    rows = list(read_statements(path))
    assert len({rows[0][0], rows[0][2], rows[1][0]}) == 3
    text = "".join(f"{s} {p} {o} .\n" for s, p, o, _ in rows)
    assert len(list(ox.parse(text, format=ox.RdfFormat.N_TRIPLES))) == 2


def test_triple_terms_are_carried(tmp_path):
    path = tmp_path / "a.nt"
    path.write_text("<urn:a> <urn:p> <<( _:b <urn:q> <<( <urn:c> <urn:q> 'x' )>> )>> .".replace("'", '"'))
    ((_, _, term, _),) = read_statements(path)
    assert term == f'<<( {scope_of(path)}b <urn:q> <<( <urn:c> <urn:q> "x" )>> )>>'


@pytest.mark.parametrize(
    ("name", "content", "place", "what"),
    [
        ("a.nt", b"<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> oops .\n", ":2:17", "object of a triple"),
        ("a.nt", b"<a> <urn:b> <urn:c> .\n", ":1:1", "hint: write the IRI in full"),
        ("a.nt", b'<urn:a> <urn:b> "\xff" .\n', ":1:18", "UTF-8"),
        ("a.nt", b"<urn:a> <urn:b> <urn:c>", ":1:24", "followed by a dot"),
        ("a.nq", b"<urn:a> <urn:b>", ":1:16", "hint: was the file cut short"),
        ("a.ttl", b"@prefix : <urn:> .\n:a :b c:d .", ":2:7", "hint: add an @prefix"),
        ("a.trig", b"<urn:g> {\n <urn:a> <urn:b> <urn:c> ", ":2:", "Unexpected end"),
        ("a.n3", b"{ <urn:a> <urn:b> <urn:c> } => { <urn:a> <urn:b> <urn:d> } .", "", "hint: N3 is read"),
        ("a.rdf", SAME["a.rdf"][:-9], ":1:", "not well-formed XML: unclosed|no element"),
        ("a.rdf", b"", ":1:1", "no element found"),
        ("a.owl", b"Ontology(<urn:a>)", ":1:9", "is the file RDF/XML"),
        ("a.rdf", SAME["a.rdf"].replace(b"urn:a", b"urn: a"), "", "IRI"),
        ("a.jsonld", b'{"@id": "urn:a",\n "urn:b": ', ":2:", "Unexpected end of file"),
        ("a.jsonld", b'{"@context": "https://example.org/c", "@id": "urn:a"}', "", "nothing is fetched"),
        ("a.dat", b"", "", "names no RDF syntax"),
        ("noextension", b"", "", "no extension"),
        ("a.nt.gz", b"plain text", ":1:1", "not a sound gzip file"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, name, content, place, what):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=what) as caught:
        list(read_statements(path))
    assert str(caught.value).startswith(f"{path}{place}")
    assert caught.value.hint


def test_a_gzip_file_that_breaks_off_says_where(tmp_path):
    lines = [b"<urn:a%d> <urn:p%d> <urn:b%d> .\n" % (i, i * i, i * i * i) for i in range(5000)]
    path = tmp_path / "a.nt.gz"
    whole = gzip.compress(b"".join(lines))
    path.write_bytes(whole[: len(whole) // 2])
    rows = []
    with pytest.raises(InputError, match="cut short") as caught:
        rows.extend(read_statements(path))
    line = caught.value.place.line
    assert 1000 < line < 4000
    assert caught.value.place.column <= len(lines[line]) + 1


def test_a_gzip_file_with_a_wrong_sum_is_refused(tmp_path):
    path = tmp_path / "a.nt.gz"
    whole = bytearray(gzip.compress(SAME["a.nt"]))
    whole[-6] ^= 1
    path.write_bytes(whole)
    with pytest.raises(InputError, match="not a sound gzip file: CRC"):
        list(read_statements(path))


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        list(read_statements(tmp_path / "absent.nt"))
    (tmp_path / "folder.nt").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        list(read_statements(tmp_path / "folder.nt"))


def test_background_is_for_ever_and_for_all(tmp_path):
    (tmp_path / "a.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    (tmp_path / "b.nq").write_text("<urn:a> <urn:p> <urn:b> <urn:g> .\n")
    dictionary = Dictionary()
    copies = load_background([tmp_path / "a.nt", tmp_path / "b.nq"], dictionary)
    a, p, b, g = map(dictionary.encode, ("<urn:a>", "<urn:p>", "<urn:b>", "<urn:g>"))
    assert list(copies) == [(BACKGROUND, a, p, b, 0, FOREVER), (BACKGROUND, a, p, b, g, FOREVER)]


def test_progress_is_told(tmp_path):
    path = tmp_path / "a.nt"
    path.write_text("<urn:a> <urn:p> <urn:b> .\n" * 45_000)
    told = []
    load_file(path, Dictionary(), progress=lambda count, share: told.append((count, share)))
    assert [count for count, _ in told] == [20_000, 40_000]
    assert all(0 < share <= 1 for _, share in told)


def test_the_shared_ontologies_can_be_read(shared_data):
    for path in sorted((shared_data / "coror-ontologies").glob("*.triples")):
        assert len(load_file(path, Dictionary())) > 50


@given(st.text(), st.sampled_from([None, "urn:dt", XSD + "string"]))
def test_our_text_of_a_literal_is_the_parsers(text, datatype):
    # Rules and files must agree on the canonical text, or the same literal would be two terms.
    node = ox.Literal(text, datatype=ox.NamedNode(datatype)) if datatype else ox.Literal(text)
    assert str(node) == literal(text, datatype=datatype)


@pytest.mark.parametrize("code", [0, 0x1F, 0x7F, 0x80, 0x2028, 0xFFFD, 0xFFFE, 0xFFFF, 0x1FFFE])
def test_our_text_of_odd_characters_is_the_parsers(code):
    assert str(ox.Literal(chr(code))) == literal(chr(code))


@given(st.sampled_from(sorted(SYNTAXES)), st.binary(max_size=60))
def test_garbage_never_ends_in_anything_but_an_input_error(tmp_path_factory, extension, content):
    path = tmp_path_factory.mktemp("fuzz") / f"a.{extension}"
    path.write_bytes(content)
    with suppress(InputError):
        list(read_statements(path))
