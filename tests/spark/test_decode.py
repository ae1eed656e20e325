"""Decode gives what the reader of stream files gives, line for line; and plain lines take the fast path."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hostile import BLANKS, ENDS, IRIS, LITERALS, SPACES, TIMES
from hypothesis import given, settings
from hypothesis import strategies as st

from ensue.files import scope_of
from ensue.maintain.kernel.sieve import sieve_of
from ensue.spark.decode import DEAD, DECODED, STATEMENTS, decode, decode_all, given_of, plain_and_others
from ensue.streamfile import read_stream

GOOD = b"5\t<urn:a> <urn:p> <urn:b> ."


def as_read(path, lines):
    """What the reader of stream files makes of the lines: statements, and dead letters."""
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    dead = []
    rows = [row for batch in read_stream(path, on_bad=dead.append) for row in batch]
    return rows, [(bad.file, bad.offset, bad.reason, bad.text) for bad in dead]


def as_decoded(path, lines, end=b""):
    offsets = [sum(len(line) + 1 for line in lines[:index]) for index in range(len(lines))]
    columns = {
        "value": pa.array([line + end for line in lines], pa.binary()),
        "file": pa.array([str(path)] * len(lines), pa.string()),
        "offset": pa.array(offsets, pa.int64()),
    }
    return rows_of(decode(pa.record_batch(columns)))


def rows_of(decoded):
    assert (decoded.statements.schema, decoded.dead.schema) == (STATEMENTS, DEAD)
    decoded.statements.validate(full=True)
    decoded.dead.validate(full=True)
    return [tuples(decoded.statements), tuples(decoded.dead)]


def tuples(batch):
    return [tuple(row.values()) for row in batch.to_pylist()]


def is_fast(line):
    """Whether a line takes the fast path."""
    _, slow = plain_and_others(given_of(pa.record_batch({"value": [line]}), ""))
    return not len(slow)


# -- random lines ---------------------------------------------------------------------------------

mixed = st.sampled_from(IRIS + BLANKS + LITERALS)
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\n")
iris = st.sampled_from(IRIS) | st.builds("<a:{}>".format, st.text(characters, max_size=4))
literals = st.sampled_from(LITERALS) | st.builds('"{}"'.format, st.text(characters, max_size=4))
nodes = iris | st.sampled_from(BLANKS)
plain_space, plain_end, plain_time = st.just(" "), st.just(" ."), st.just("5")


def lines_from(time, space, end, subject, predicate, object_, graph):
    whole = (
        time,
        st.sampled_from(["\t"] * 9 + [" ", ""]),
        subject,
        space,
        predicate,
        space,
        object_,
        graph,
        end,
    )
    return st.tuples(*whole).map("".join).map(str.encode)


no_graph = st.just("")
almost_plain = lines_from(plain_time, plain_space, plain_end, nodes, iris, nodes | literals, no_graph)
named = lines_from(plain_time, plain_space, plain_end, nodes, iris, nodes | literals, mixed.map(" {}".format))
hostile = lines_from(
    st.sampled_from(TIMES), st.sampled_from(SPACES), st.sampled_from(ENDS), mixed, mixed, mixed, no_graph
)
nothing = st.sampled_from([b"", b" ", b"\t", b"\r", b"#", b"# c", b" # c", b"\x0b", b"\x85", b"#\xff"])
garbage = st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b""))


@st.composite
def spoiled(draw):
    """A line that had some of its bytes replaced."""
    line = bytearray(draw(almost_plain | named))
    for _ in range(draw(st.integers(1, 2))):
        line[draw(st.integers(0, len(line) - 1))] = draw(st.integers(0, 255).filter(lambda byte: byte != 10))
    return bytes(line)


lines = st.lists(almost_plain | named | hostile | nothing | garbage | spoiled(), max_size=60)


@settings(max_examples=400)
@given(lines, st.sampled_from([b"", b"\n", b"\r\n"]))
def test_decode_gives_what_the_reader_gives(tmp_path_factory, lines, end):
    path = tmp_path_factory.mktemp("stream") / "s.tsv"
    # A file may begin with a byte order mark, which is no part of its first line.
    lines = [GOOD, *lines]
    rows, dead = as_read(path, lines)
    assert as_decoded(path, lines, end) == [rows, dead]


some = st.none() | mixed
shapes = st.lists(st.tuples(some, some, some) | st.tuples(st.none(), iris, some), max_size=6)


@settings(max_examples=300)
@given(lines, shapes, st.randoms())
def test_a_sieve_holds_back_nothing_that_has_one_of_its_shapes(lines, shapes, random):
    given = pa.record_batch({"value": pa.array(lines, pa.binary())})
    whole = decode(given)
    every = tuples(whole.statements)
    if every:  # So that some have a shape.
        _, s, p, o, _ = random.choice(every)
        shapes = [*shapes, random.choice([(s, p, o), (None, p, o), (None, p, None), (s, p, None)])]
    sifted = decode(given, sieve=sieve_of(shapes))
    assert sifted.block.times.each().tolist() == whole.block.times.each().tolist()
    assert tuples(sifted.dead) == tuples(whole.dead)
    left = [every[place] for place in sifted.block.places.tolist()]
    assert tuples(sifted.statements) == left
    assert has_shape(left, shapes) == has_shape(every, shapes)


def has_shape(statements, shapes):
    return [
        row
        for row in statements
        if any(all(a in (None, b) for a, b in zip(shape, row[1:4], strict=True)) for shape in shapes)
    ]


def test_and_holds_back_plain_lines_that_have_none():
    given = pa.record_batch(
        {"value": [GOOD, b"6\t<urn:a> <urn:q> <urn:b> .", b"7\t<urn:a> <urn:q> <urn:c> ."]}
    )

    def left(*shapes):
        return decode(given, sieve=sieve_of(shapes)).block.places.tolist()

    assert left() == []
    assert left((None, "<urn:p>", None)) == [0]
    assert left((None, "<urn:q>", "<urn:c>"), ("<urn:b>", "<urn:p>", None)) == [0, 2]
    assert left((None, "<urn:q>", "<urn:c>"), (None, None, "<urn:x>")) == [0, 1, 2]
    # Blank nodes have other labels in lines.
    assert left((None, "<urn:q>", "_:x")) == [1, 2]
    many = [(None, f"<urn:{number}>", f"<urn:{number}>") for number in range(1000)]
    assert left(*many, (None, "<urn:q>", "<urn:b>")) == [1]


@pytest.mark.parametrize("pool", ["time", "subject", "predicate", "object", "graph", "end", "space"])
def test_every_form_of_every_part(tmp_path, pool):
    forms = {"time": TIMES, "end": ENDS, "space": SPACES}.get(pool, IRIS + BLANKS + LITERALS)
    parts = {"time": "5", "subject": "<urn:a>", "predicate": "<urn:p>", "object": "<urn:b>", "graph": None}
    lines = [GOOD]
    for form in forms:
        use = parts | {pool: form}
        space = use.get("space", " ")
        graph = f"{space}{use['graph']}" if use["graph"] else ""
        statement = (
            f"{use['subject']}{space}{use['predicate']}{space}{use['object']}{graph}{use.get('end', ' .')}"
        )
        lines.append(f"{use['time']}\t{statement}".encode())
    rows, dead = as_read(tmp_path / "s.tsv", lines)
    assert as_decoded(tmp_path / "s.tsv", lines) == [rows, dead]
    assert len(rows) > 1
    assert dead


# Where the classes of characters begin and end, in IRIs and in literals.
EDGES = "7F 80 9F A0 D7FF E000 F8FF F900 FDCF FDD0 FDEF FDF0 FFEF FFF0 FFFD FFFE FFFF 10000 1FFFD 1FFFE 20000"
EDGES += " 2FFFD 2FFFE 30000 3FFFD 3FFFE 40000 10FFFF"
# Alone, too long, broken off, half of a pair, beyond all.
NOT_UTF8 = "80 FF C0AF E09FBF F08FBFBF C2 EFBF F09F98 EDA080 F4908080"
PLACES = [
    b"5?\t<urn:a> <urn:p> <urn:b> .",
    b"5\t<?urn:a> <urn:p> <urn:b> .",
    b"5\t<http://h?x/> <urn:p> <urn:b> .",
    b"5\t<urn:?a#b> <urn:p> <urn:b> .",
    b"5\t<urn:a#?> <urn:p> <urn:b> .",
    b"5\t_:a? <urn:p> <urn:b> .",
    b'5\t<urn:a> <urn:p> "?" .',
    b'5\t<urn:a> <urn:p> "\\?" .',
    b'5\t<urn:a> <urn:p> "a"@en? .',
    b'5\t<urn:a> <urn:p> "a"^^<urn:?> .',
    b"5\t<urn:a>?<urn:p> <urn:b> .",
    b"5\t<urn:a> <urn:p> <urn:b> .?",
]


@pytest.mark.parametrize("place", PLACES)
def test_every_byte_and_every_edge_of_what_characters_may_be(tmp_path, place):
    characters = [bytes([byte]) for byte in range(256) if byte != 10]
    characters += [chr(int(code, 16)).encode() for code in EDGES.split()]
    characters += [bytes.fromhex(code) for code in NOT_UTF8.split()]
    lines = [GOOD, *(place.replace(b"?", character) for character in characters)]
    rows, dead = as_read(tmp_path / "s.tsv", lines)
    assert as_decoded(tmp_path / "s.tsv", lines) == [rows, dead]


# -- which path -----------------------------------------------------------------------------------

FAST = [
    GOOD,
    GOOD + b"\r\n",
    b"-1700000000000\t_:a <http://example.org:80/p#q> _:b .",
    b"5\t<urn:a> <urn:p> <urn:b> <urn:g> .",
    b'5\t<urn:a> <urn:p> "say \\"a b\\" ." _:g .\n',
    '5\t<http://example.org/Zürich?a=b#c> <urn:p> "Zürich"@de-ch .'.encode(),
    b'5\t<urn:a> <urn:p> "7"^^<http://www.w3.org/2001/XMLSchema#long> .',
]
SLOW = [
    b"5\t<urn:a> <urn:p> <urn:b>.",
    b"5\t<urn:a>  <urn:p> <urn:b> .",
    b"9000000000000000000\t<urn:a> <urn:p> <urn:b> .",
    b"5\t<urn:\\u0041> <urn:p> <urn:b> .",
    b'5\t<urn:a> <urn:p> "b"@EN .',
    b'5\t<urn:a> <urn:p> "\\u0041" .',
    b'5\t<urn:a> <urn:p> "b"^^<http://www.w3.org/2001/XMLSchema#string> .',
    b'5\t<urn:a> <urn:p> "b"^^<http://www.w3.org/2001/XMLSchema#string> <urn:g> .',
]


def test_plain_lines_take_the_fast_path_and_others_do_not():
    assert [line for line in FAST + SLOW if is_fast(line)] == FAST


@pytest.mark.parametrize("line", FAST + SLOW)
def test_both_paths_read_good_lines(tmp_path, line):
    rows, dead = as_read(tmp_path / "s.tsv", [line])
    assert as_decoded(tmp_path / "s.tsv", [line]) == [rows, dead]
    assert (len(rows), dead) == (1, [])


# -- batches --------------------------------------------------------------------------------------


def test_blank_nodes_belong_to_the_file_of_their_line():
    lines = ["1\t_:n <urn:p> _:m <urn:g> .", "2\t_:n <urn:p>  <urn:b> .", "3\t<urn:a> <urn:p> <urn:b> _:n ."]
    batch = pa.record_batch({"value": lines * 2, "file": ["a"] * 3 + ["b"] * 3})
    (first, second, third, *_, last), dead = rows_of(decode(batch))
    assert first == (1, f"{scope_of('a')}n", "<urn:p>", f"{scope_of('a')}m", "<urn:g>")
    assert (second[1], third[4], last[4]) == (first[1], first[1], f"{scope_of('b')}n")
    assert dead == []


def test_lines_without_a_file_are_from_the_origin():
    batch = pa.record_batch({"value": ["1\t_:n <urn:p> <urn:b> .", "oops"]})
    [row], [letter] = rows_of(decode(batch, origin="tcp"))
    assert row[1] == f"{scope_of('tcp')}n"
    assert letter == ("tcp", None, "no tab between time and statement", "oops")


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()])
def test_nulls_types_and_slices(kind):
    value = pa.array(["skipped", None, GOOD.decode(), "oops", ""], kind)
    rows, dead = rows_of(decode(pa.record_batch({"value": value}).slice(1)))
    assert len(rows) == 1
    assert [letter[3] for letter in dead] == ["", "oops"]
    assert dead[0][2] == "null instead of a line"


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string()])
def test_times_and_statements_in_two_columns(kind):
    statement = pa.array(["<urn:a> <urn:p> <urn:b> .", "<urn:a>", "oops", None, GOOD.decode()], kind)
    time = pa.array([5, 6, None, 7, None], pa.int64())
    rows, dead = rows_of(decode(pa.record_batch({"time": time, "statement": statement})))
    assert rows == [(5, "<urn:a>", "<urn:p>", "<urn:b>", None)] * 2
    assert [letter[3] for letter in dead] == ["6\t<urn:a>", "oops", "7"]


@pytest.mark.parametrize(
    "rest", [b"[" * 100_000, b'["\\ud800", ""]', b'["a"]', b'["a", 1]', b'["\xff", ""]', b"{}", b"\xff"]
)
def test_a_line_that_looks_like_what_was_not_read_of_a_document(rest):
    _, dead = rows_of(decode(pa.record_batch({"value": [b"not read: " + rest], "offset": [7]})))
    assert [letter[1:3] for letter in dead] == [(7, "no tab between time and statement")]


def test_text_that_is_not_utf8_is_a_dead_letter():
    value = pa.array([GOOD.replace(b"b", b"\xff"), GOOD], pa.binary()).view(pa.string())
    rows, [letter] = rows_of(decode(pa.record_batch({"value": value})))
    assert len(rows) == 1
    assert "UTF-8" in letter[2]


def test_a_line_within_a_line_is_not_read_as_two():
    # Parsed in one go, the two hold as many statements as there are lines.
    lines = [GOOD.replace(b" ", b"  ")] * 20
    lines[3:5] = [GOOD + b"\n" + GOOD[2:], b"6\t# nothing"]
    rows, dead = rows_of(decode(pa.record_batch({"value": lines})))
    assert len(rows) == 18
    assert [letter[2] for letter in dead] == ["more than one statement", "no statement after the time"]


def test_order_is_kept_whichever_path_a_line_takes(tmp_path):
    kinds = [GOOD[1:], b"\t<urn:a> <urn:p> <urn:b> <urn:g> .", b"\t<urn:a>  <urn:p> <urn:b> .", b"oops"]
    lines = [str(number).encode() + kinds[number % 11 % 4] for number in range(500)]
    rows, dead = as_read(tmp_path / "s.tsv", lines)
    assert as_decoded(tmp_path / "s.tsv", lines) == [rows, dead]
    assert len(dead) > 50


def test_no_lines():
    assert rows_of(decode(pa.record_batch({"value": pa.array([], pa.string())}))) == [[], []]


def test_many_batches_as_one_table():
    batches = [pa.record_batch({"value": [GOOD, b"oops"]}), pa.record_batch({"value": [b""]})]
    statement, letter = decode_all(iter(batches), origin="s")
    assert statement.schema == letter.schema == DECODED
    assert tuples(statement) == [(5, "<urn:a>", "<urn:p>", "<urn:b>", *[None] * 5)]
    assert tuples(letter) == [(*[None] * 5, "s", None, "no tab between time and statement", "oops")]
