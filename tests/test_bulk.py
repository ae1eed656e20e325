"""Large files of lines give what the reader that looks at everything gives, whatever is in them."""

from __future__ import annotations

import gzip
from collections import Counter

import pyoxigraph as ox
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from spark.hostile import BLANKS, ENDS, IRIS, LITERALS, SPACES

from ensue import bulk, files
from ensue.bulk import load_lines
from ensue.dictionary import Dictionary
from ensue.errors import InputError
from ensue.files import load_file, read_statements, scope_of
from ensue.model import BACKGROUND, FOREVER
from ensue.terms import XSD

SYNTAX = {"nt": ox.RdfFormat.N_TRIPLES, "nq": ox.RdfFormat.N_QUADS}


def statement(subject, predicate, object_, graph, space=st.just(" "), end=st.just(" .")):  # noqa: B008
    return st.tuples(subject, space, predicate, space, object_, graph, end).map("".join).map(str.encode)


def is_good(term, where):
    line = where.format(term)
    try:
        return len(list(ox.parse(line, format=ox.RdfFormat.N_TRIPLES))) == 1
    except SyntaxError:
        return False


# Most lines must be good, or no file would be.
iris = st.sampled_from([term for term in IRIS if is_good(term, "<a:b> <a:b> {} .")])
blanks = st.sampled_from([term for term in BLANKS if is_good(term, "<a:b> <a:b> {} .")])
literals = st.sampled_from([term for term in LITERALS if is_good(term, "<a:b> <a:b> {} .")])
good_space = st.sampled_from([" ", " ", " ", "\t", "  "])
good_end = st.sampled_from([" .", " .", " .", ".", " . # c", " .\r", "\t. "])
no_graph = st.just("")
good = statement(iris | blanks, iris, iris | blanks | literals, no_graph)
spelled = statement(iris | blanks, iris, iris | blanks | literals, no_graph, good_space, good_end)
named = statement(iris | blanks, iris, iris | blanks | literals, (iris | blanks).map(" {}".format))
nothing = st.sampled_from([b"", b" ", b"\t", b"\r", b"#", b"# c", b" # c", b"#\r<a:b> <a:b> <a:b> ."])
mixed = st.sampled_from(IRIS + BLANKS + LITERALS)
bad = statement(mixed, mixed, mixed, no_graph, st.sampled_from(SPACES), st.sampled_from(ENDS))
garbage = st.binary(max_size=20)

lines = st.lists(good | spelled | nothing, max_size=30) | st.lists(
    good | spelled | named | nothing | bad | garbage, max_size=12
)


def read(path):
    """What the file states, or what is wrong with it."""
    try:
        return Counter(read_statements(path))
    except InputError as problem:
        return str(problem)


def loaded(load, path):
    """The same of copies that somebody loads."""
    dictionary = Dictionary()
    try:
        copies = load(path, dictionary)
    except InputError as problem:
        return str(problem)
    if copies is None:
        return None
    decode = dictionary.decode
    rows = list(copies)
    assert all(row[0] == BACKGROUND and row[-1] == FOREVER for row in rows)
    return Counter((decode(s), decode(p), decode(o), decode(g) if g else None) for _, s, p, o, g, _ in rows)


@settings(max_examples=200)
@given(lines, st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.sampled_from(["nt", "nq"]), st.data())
def test_what_is_loaded_is_what_is_read(tmp_path_factory, lines, end, ended, extension, data):
    path = tmp_path_factory.mktemp("bulk") / f"a.{extension}"
    mark = data.draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    path.write_bytes(mark + end.join(lines) + (end if ended else b""))
    right = read(path)
    event("good" if isinstance(right, Counter) else "bad")
    found = loaded(lambda path, dictionary: load_lines(path, dictionary, SYNTAX[extension]), path)
    assert found == (right if isinstance(right, Counter) else None)


ODD = [
    b"<urn:a> <urn:p> <urn:b> .\n",
    b'<urn:a>\t<urn:p>  "\\u00e9\\t" . # said twice\r\n',
    b'<urn:a> <urn:p> "\xc3\xa9\\t" .\n',
    b'<urn:a> <urn:p> "x"@EN-gb .\n',
    b'<urn:a> <urn:p> "x"@en-gb .\n',
    b'<urn:a> <urn:p> "x"^^<' + XSD.encode() + b"string> .\n",
    b"_:b <urn:p> _:b .\n",
    b"_:b.c <urn:p> <<( _:b <urn:p> <urn:b> )>> .\n",
    b"\n# nothing\n",
    b"<urn:caf\xc3\xa9> <urn:p> <urn:caf\\u00E9> .\n",
]


@pytest.fixture
def small(monkeypatch):
    """Every file counts as large, and its blocks hold a line or two."""
    monkeypatch.setattr(files, "LARGE", 1)
    monkeypatch.setattr(bulk, "_BLOCK", 64)


@pytest.mark.parametrize("name", ["a.nt", "a.nq", "a.nt.gz"])
def test_odd_lines_are_spelled_as_ever(tmp_path, small, name):
    path = tmp_path / name
    text = b"".join(ODD * 3)
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    found = loaded(load_file, path)
    assert found == read(path)
    scoped = scope_of(path) + "b"
    assert found[scoped, "<urn:p>", scoped, None] == 3
    assert found["<urn:a>", "<urn:p>", '"é\\t"', None] == 6
    assert found["<urn:a>", "<urn:p>", '"x"@en-gb', None] == 6
    assert found["<urn:a>", "<urn:p>", '"x"', None] == 3
    assert found["<urn:café>", "<urn:p>", "<urn:café>", None] == 3


@pytest.mark.parametrize(
    ("line", "where", "what"),
    [
        (b"<urn:a> <urn:p> oops .\n", ":31:17", "object of a triple"),
        (b"<urn:a> <urn:p> <urn:b> <urn:g> .\n", ":31:25", "followed by a dot"),
        (b"<a> <urn:p> <urn:b> .\n", ":31:1", "write the IRI in full"),
        (b'<urn:a> <urn:p> "\xff" .\n', ":31:18", "UTF-8"),
        (b'<urn:a> <urn:p> "two\nlines" .\n', ":31:", "Line jumps"),
        (b"<urn:a> <urn:p>\n<urn:b> .\n", ":32:1", "line jumps"),
    ],
)
def test_what_is_wrong_is_said_as_ever(tmp_path, small, line, where, what):
    path = tmp_path / "a.nt"
    path.write_bytes(b"".join([*ODD[:1] * 30, line, *ODD]))
    with pytest.raises(InputError, match=what) as caught:
        load_file(path, Dictionary())
    assert str(caught.value).startswith(f"{path}{where}")
    assert caught.value.hint
    assert str(caught.value) == read(path)


def test_a_file_that_breaks_off_is_refused_as_ever(tmp_path, small):
    path = tmp_path / "a.nt.gz"
    some = [b"<urn:a%d> <urn:p%d> <urn:b> .\n" % (n, n * n) for n in range(3000)]
    path.write_bytes(gzip.compress(b"".join(some))[:-4000])
    assert loaded(load_file, path) == read(path)
    assert "cut short" in read(path)
