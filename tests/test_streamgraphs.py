"""Streams as RDF documents: every graph gets its time, and what has none is reported."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensue.errors import InputError
from ensue.files import scope_of
from ensue.model import FOREVER, NEVER
from ensue.streamfile import DeadLetters, read_stream
from ensue.streamtimes import time_of
from ensue.terms import XSD

PROV = "http://www.w3.org/ns/prov#"
HEAD = f"@prefix prov: <{PROV}> . @prefix xsd: <{XSD}> . @prefix : <urn:> .\n"
TIME_OF_G = ':g prov:generatedAtTime "1970-01-01T00:00:05Z"^^xsd:dateTime .'
G5 = (5000, "<urn:a>", "<urn:p>", "<urn:b>", "<urn:g>")


def rows_of(path, **options):
    return list(chain.from_iterable(read_stream(path, **options)))


def write(path, content):
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def with_letters(path):
    """What is given, and the reasons for what is not."""
    letters = DeadLetters(out := io.StringIO())
    rows = rows_of(path, on_bad=letters)
    found = list(map(json.loads, out.getvalue().splitlines()))
    assert letters.count == len(found)
    return rows, found


def at(name, time):
    return f'<urn:{name}> <{PROV}generatedAtTime> "{time}"^^<{XSD}integer> .\n'


def quad(subject, graph):
    return f"<urn:{subject}> <urn:p> <urn:b> <urn:{graph}> .\n"


def element(name, time, *subjects):
    """A named graph of JSON-LD with its time."""
    facts = [{"@id": f"urn:{subject}", "urn:p": {"@id": "urn:b"}} for subject in subjects]
    when = {"@value": time, "@type": f"{XSD}dateTime"} if isinstance(time, str) else time
    return {"@id": f"urn:{name}", f"{PROV}generatedAtTime": when, "@graph": facts}


DOCUMENTS = {
    "s.trig": HEAD + TIME_OF_G + " :g { :a :p :b }",
    "after.trig": HEAD + ":g { :a :p :b } " + TIME_OF_G,
    "s.nq": at("g", 5000) + quad("a", "g"),
    "after.nq": "# a comment\n\n" + quad("a", "g") + at("g", 5000),
    "s.jsonld": json.dumps(element("g", "1970-01-01T00:00:05Z", "a")),
    "array.jsonld": json.dumps([element("g", 5000, "a")]),
    "graph.json": json.dumps({"@graph": [element("g", 5000, "a")]}),
    "s.jsonl": "\n" + json.dumps(element("g", 5000, "a")) + "\n",
    "s.ndjson": json.dumps(element("g", 5000, "a")),
}


@pytest.mark.parametrize("zipped", ["", ".gz"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_graph_with_its_time(tmp_path, name, zipped):
    assert rows_of(write(tmp_path / (name + zipped), DOCUMENTS[name])) == [G5]


def test_metadata_about_a_graph_is_no_part_of_the_stream(tmp_path):
    more = ":g :from :sensor . :g { :a :p :b } :g :to :sink ."
    assert rows_of(write(tmp_path / "s.trig", HEAD + TIME_OF_G + more)) == [G5]


def test_a_time_inside_a_graph_is_a_statement_like_any_other(tmp_path):
    rows = rows_of(write(tmp_path / "s.trig", HEAD + TIME_OF_G + f":g {{ {TIME_OF_G.replace(':g', ':h')} }}"))
    assert [(row[0], row[1], row[4]) for row in rows] == [(5000, "<urn:h>", "<urn:g>")]


@given(data=st.data())
def test_any_order_of_graphs_and_times(tmp_path_factory, data):
    """Statements come out in the order of the file, whenever their times come."""
    times = data.draw(st.dictionaries(st.sampled_from("ghij"), st.integers(-9, 9), min_size=1))
    quads = [(n, g) for n, g in enumerate(data.draw(st.lists(st.sampled_from(sorted(times)))))]
    shown = {g for _, g in quads}
    lines = [(None, g) for g in times if g in shown] + quads
    order = data.draw(st.permutations(lines))
    text = "".join(at(g, times[g]) if n is None else quad(f"s{n}", g) for n, g in order)
    path = write(tmp_path_factory.mktemp("stream") / "s.nq", text)
    expected = [(times[g], f"<urn:s{n}>", f"<urn:{g}>") for n, g in order if n is not None]
    assert [(time, s, g) for time, s, _, _, g in rows_of(path)] == expected


BAD = {
    "no time": (":g { :a :p :b , :c }", "graph <urn:g> has no time: its 2 statements are left out"),
    "two times": (TIME_OF_G + ":g { :a :p :b } :g prov:generatedAtTime 7 .", "5000 and 7"),
    "no literal": (":g prov:generatedAtTime :now . :g { :a :p :b }", "<urn:now> is no time"),
    "plain text": (':g prov:generatedAtTime "1970-01-01T00:00:05Z" . :g { :a :p :b }', "is no time"),
    "no date": (
        ':g prov:generatedAtTime "1970-02-30T00:00:05Z"^^xsd:dateTime . :g { :a :p :b }',
        "is no time",
    ),
    "no graph": (TIME_OF_G + ":g { :a :p :b } :x :p :b .", "<urn:x> is no graph"),
    "an empty graph": (TIME_OF_G.replace(":g", ":e") + ":e {}" + TIME_OF_G + ":g {:a :p :b}", "<urn:e>"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_has_no_place_in_the_stream_is_reported(tmp_path, case):
    content, reason = BAD[case]
    path = write(tmp_path / "s.trig", HEAD + content + ':ok prov:generatedAtTime 9 . :ok { :z :p "z" }')
    rows, letters = with_letters(path)
    assert rows[-1] == (9, "<urn:z>", "<urn:p>", '"z"', "<urn:ok>")
    assert len(letters) == 1
    assert reason in letters[0]["reason"]
    assert letters[0]["file"] == str(path)
    with pytest.raises(InputError) as caught:
        rows_of(path)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert caught.value.hint == letters[0]["hint"]


def test_two_times_that_are_the_same_instant_are_one(tmp_path):
    again = ':g prov:generatedAtTime "1970-01-01T02:00:05+02:00"^^xsd:dateTime , 5000 .'
    assert rows_of(write(tmp_path / "s.trig", HEAD + TIME_OF_G + again + ":g { :a :p :b }")) == [G5]


def test_a_graph_with_two_times_is_given_no_more(tmp_path):
    lines = at("g", 1) + quad("a", "g") + at("g", 2) + quad("b", "g")
    rows, letters = with_letters(write(tmp_path / "s.nq", lines))
    assert [row[1] for row in rows] == ["<urn:a>"]
    assert [letter["text"] for letter in letters] == ["<urn:g>"]


def test_a_document_that_breaks_off_gives_what_it_had_and_the_next_is_read(tmp_path):
    broken = HEAD + TIME_OF_G + ":g { :a :p :b }\n:h { :c :p ?? } :i { :d :p :e }"
    first = write(tmp_path / "1.trig", broken)
    write(tmp_path / "2.nq", at("n", 7) + quad("z", "n"))
    rows, letters = with_letters(tmp_path)
    assert [row[1] for row in rows] == ["<urn:a>", "<urn:z>"]
    assert [(letter["file"], letter["line"], letter["column"]) for letter in letters] == [(str(first), 3, 12)]
    with pytest.raises(InputError) as caught:
        rows_of(tmp_path)
    assert str(caught.value).startswith(f"{first}:3:12: ")


def test_a_bad_line_of_quads_is_only_that_line(tmp_path):
    path = write(tmp_path / "s.nq", at("g", 1) + quad("a", "g") + "oops\n" + quad("b", "g"))
    rows, letters = with_letters(path)
    assert [row[1] for row in rows] == ["<urn:a>", "<urn:b>"]
    assert [(letter["line"], letter["column"]) for letter in letters] == [(3, 1)]


def test_each_line_of_json_is_a_document(tmp_path):
    # The second line's graph is the first's again, at another time; the third's has none.
    lines = [
        element("g", 1, "a"),
        element("g", 2, "b"),
        {**element("g", 3, "c"), f"{PROV}generatedAtTime": []},
    ]
    path = write(tmp_path / "s.jsonl", "\n".join(map(json.dumps, lines)) + '\n{"oops"}\n')
    rows, letters = with_letters(path)
    assert [row[:2] for row in rows] == [(1, "<urn:a>"), (2, "<urn:b>")]
    assert [letter["line"] for letter in letters] == [3, 4]
    assert "no time" in letters[0]["reason"]


@pytest.mark.parametrize("name", ["s.jsonld", "s.jsonl"])
def test_a_context_is_not_fetched(tmp_path, name):
    content = json.dumps({"@context": "http://example.org/context", **element("g", 5, "a")})
    with pytest.raises(InputError, match="nothing is fetched from the network"):
        rows_of(write(tmp_path / name, content))


@pytest.mark.parametrize(
    ("name", "content", "same"),
    [
        (
            "s.nq",
            at("g", 1)
            + "_:n <urn:p> _:n <urn:g> .\n"
            + at("h", 1)
            + quad("a", "h").replace("<urn:a>", "_:n"),
            True,
        ),
        (
            "s.trig",
            HEAD + ":g prov:generatedAtTime 1 . :h prov:generatedAtTime 1 . :g {_:n :p _:n} :h {_:n :p :b}",
            True,
        ),
        ("s.jsonl", "\n".join(json.dumps(element(g, 1, "x")).replace("urn:x", "_:n") for g in "gh"), False),
    ],
)
def test_blank_nodes_belong_to_their_document(tmp_path, name, content, same):
    first, second = (row[1] for row in rows_of(write(tmp_path / name, content)))
    assert (first == second) is same
    assert first.startswith("_:")


def test_blank_nodes_of_quads_keep_their_labels(tmp_path):
    path = write(tmp_path / "s.nq", at("g", 1) + "_:n <urn:p> <urn:b> <urn:g> .\n")
    assert rows_of(path)[0][1] == scope_of(path) + "n"


def test_a_graph_can_be_a_blank_node(tmp_path):
    lines = f'_:g <{PROV}generatedAtTime> "3"^^<{XSD}long> .\n<urn:a> <urn:p> <urn:b> _:g .\n'
    path = write(tmp_path / "s.nq", lines)
    assert rows_of(path) == [(3, "<urn:a>", "<urn:p>", "<urn:b>", scope_of(path) + "g")]


@pytest.mark.parametrize("first", ["", "# a comment\n", "\n"])
def test_quads_with_times_in_front_are_timed_lines(tmp_path, first):
    path = write(tmp_path / "s.nq", first + "5000\t" + quad("a", "g"))
    assert rows_of(path) == [G5]


@pytest.mark.parametrize("name", ["s.nq", "s.trig", "s.jsonl"])
def test_nothing_at_all(tmp_path, name):
    assert rows_of(write(tmp_path / name, "")) == []


def test_a_missing_document(tmp_path):
    for name in ("absent.nq", "absent.trig"):
        with pytest.raises(InputError, match="no such file"):
            rows_of(tmp_path / name)


def test_a_document_cut_short_by_its_packing_gives_what_it_had(tmp_path):
    text = "".join(at(f"g{n}", n) + quad(f"s{n * n}", f"g{n}") for n in range(30_000))
    whole = gzip.compress(text.encode())
    path = tmp_path / "s.nq.gz"
    path.write_bytes(whole[: len(whole) // 2])
    rows = []
    batches = map(rows.extend, read_stream(path, on_bad=DeadLetters()))
    with pytest.raises(InputError, match="cut short"):
        list(batches)
    assert len(rows) > 5_000


def test_times_first_needs_no_whole_file(tmp_path):
    """The first batch is there long before the end of the file, which a fault would tell."""
    text = "".join(at(f"g{n}", n) + quad("a", f"g{n}") for n in range(30_000)) + "oops\n"
    batches = read_stream(write(tmp_path / "s.nq", text))
    first, second = islice(batches, 2)
    assert [row[0] for row in first + second] == list(range(20_000))
    with pytest.raises(InputError, match=":60001:1:"):
        list(batches)


@given(
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)),
    st.none() | st.integers(-14 * 60, 14 * 60),
)
def test_date_times_are_what_the_calendar_says(when, zone):
    aware = when.replace(tzinfo=UTC if zone is None else timezone(timedelta(minutes=zone)))
    text = when.isoformat() + (
        "" if zone is None else aware.strftime("%z")[:3] + ":" + aware.strftime("%z")[3:5]
    )
    expected = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert time_of(f'"{text}"^^<{XSD}dateTime>') == expected


DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "datatype", "expected"),
    [
        ("1970-01-01T00:00:00Z", "dateTime", 0),
        ("1970-01-01T00:00:00", "dateTime", 0),
        ("1970-01-01T00:00:00", "dateTimeStamp", None),
        ("1970-01-01T00:00:00-14:00", "dateTimeStamp", 14 * 3_600_000),
        ("1970-01-01T24:00:00Z", "dateTime", DAY),
        ("1970-01-01T24:00:00.5Z", "dateTime", None),
        ("1970-01-01T23:59:60Z", "dateTime", None),
        ("1970-01-01T00:00:00+14:01", "dateTime", None),
        ("1969-12-31T23:59:59.9999Z", "dateTime", -1),
        ("0000-03-01T00:00:00Z", "dateTime", -719_468 * DAY),
        ("-0400-03-01T00:00:00Z", "dateTime", -(719_468 + 146_097) * DAY),
        ("10000-01-01T00:00:00Z", "dateTime", 2_932_897 * DAY),
        ("010000-01-01T00:00:00Z", "dateTime", None),
        ("999999999-01-01T00:00:00Z", "dateTime", None),
        (" 1970-01-01T00:00:00Z ", "dateTime", 0),
        ("1970-01-01", "dateTime", None),
        ("1970-01-01", "date", None),
        ("+7", "integer", 7),
        ("-7", "long", -7),
        ("7.0", "integer", None),
        ("7", "decimal", None),
        (str(FOREVER), "integer", None),
        (str(FOREVER - 1), "integer", FOREVER - 1),
        (str(NEVER), "long", None),
        ("9" * 5000, "integer", None),
        ("\u0667", "integer", None),
    ],
)
def test_forms_of_times(text, datatype, expected):
    assert time_of(f'"{text}"^^<{XSD}{datatype}>') == expected
