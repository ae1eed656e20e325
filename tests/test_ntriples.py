"""The standard-library parser of N-Triples agrees with pyoxigraph, and says where a line is wrong."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from ensue.errors import InputError
from ensue.ntriples import parse_line, split_literal
from ensue.terms import XSD, literal

characters = st.characters(blacklist_categories=["Cs"])
text = st.text(characters, max_size=12)
reserved = ["#", "?q=1", "/a/b", "~", "!$&'()*+,;=@", "//h:8", "[", ":", "%20"]
beyond = ["é", "\\u00E9", "\\U0001F600", "\ue000", "\ufdd0", "\U000e1000", "\xa0"]
odd = st.sampled_from([*reserved, *beyond])
schemes = st.sampled_from(["urn", "http", "a+b.c-1"])
iris = st.builds(lambda scheme, parts: f"<{scheme}:{''.join(parts)}>", schemes, st.lists(odd, max_size=4))
labels = st.from_regex(r"_:[A-Za-z0-9_é](?:[A-Za-z0-9_.\-é·]*[A-Za-z0-9_\-é·])?", fullmatch=True)
languages = st.from_regex(r"[A-Za-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?", fullmatch=True)
tags = st.from_regex(r"[abix19]{1,9}(-[abixuZ19]{1,9}){0,5}", fullmatch=True)
old_tags = st.sampled_from(
    [
        *("art-lojban", "cel-gaulish", "en-GB-oed", "i-ami", "i-tsu", "i-no", "no-bok"),
        *("sgn-BE-FR", "sgn-CH-BE", "zh-min", "zh-min-nan", "x", "i"),
    ]
)


def escaped(value, how):
    """A string as some writer might write it: `how` picks an escape for each character."""
    short = {"\t": "t", "\b": "b", "\n": "n", "\r": "r", "\f": "f", '"': '"', "'": "'", "\\": "\\"}
    out = []
    for character, choice in zip(value, how, strict=False):
        if character in short and (choice < 2 or character in '"\\\n\r'):
            out.append("\\" + short[character])
        elif choice == 2 and ord(character) < 0x10000:
            out.append(f"\\u{ord(character):04x}")
        elif choice == 3:
            out.append(f"\\U{ord(character):08X}")
        else:
            out.append(character)
    return f'"{"".join(out)}"'


strings = st.builds(escaped, text, st.lists(st.integers(0, 4), min_size=12, max_size=12))
literals = st.one_of(
    strings,
    st.builds(lambda s, language: f"{s}@{language}", strings, languages),
    st.builds(lambda s, datatype: f"{s}^^{datatype}", strings, iris),
    st.builds(lambda s: f"{s}^^<{XSD}string>", strings),
)
spaces = st.sampled_from([" ", "\t", "  ", " \t "])


@st.composite
def lines(draw):
    subject, predicate = draw(st.one_of(iris, labels)), draw(iris)
    terms = [subject, predicate, draw(st.one_of(iris, labels, literals))]
    if draw(st.booleans()):
        terms.append(draw(st.one_of(iris, labels)))
    ending = draw(st.sampled_from([".", ". # a comment", " . ", ".\r"]))
    return "".join(term + draw(spaces) for term in terms) + ending


def by_pyoxigraph(line):
    (quad,) = ox.parse(line, format=ox.RdfFormat.N_QUADS)
    graph = None if isinstance(quad.graph_name, ox.DefaultGraph) else str(quad.graph_name)
    return str(quad.subject), str(quad.predicate), str(quad.object), graph


def parse_or_none(line):
    """What is on the line, None if it is refused: then with a place on the line."""
    problem = None
    try:
        return parse_line(line, "x", 1)
    except InputError as caught:
        problem = caught
    assert problem.place.line == 1
    assert 1 <= problem.place.column <= len(line) + 1
    return None


def agree(line):
    try:
        expected = by_pyoxigraph(line)
    except (SyntaxError, ValueError):
        expected = None
    found = parse_or_none(line)
    assert found == expected
    return found is not None


@given(tags | old_tags)
def test_takes_the_languages_that_pyoxigraph_takes(tag):
    event("taken" if agree(f'<urn:a> <urn:p> "x"@{tag} .') else "refused")


@given(lines())
def test_agrees_with_pyoxigraph(line):
    event("taken" if agree(line) else "refused")


@given(lines(), st.data())
def test_agrees_with_pyoxigraph_where_a_character_is_lost(line, data):
    at = data.draw(st.integers(0, len(line) - 1))
    event("taken" if agree(line[:at] + line[at + 1 :]) else "refused")


@given(st.text(st.sampled_from('<>_:"\\u.@^ab1 %#\t'), max_size=20))
def test_never_fails_otherwise(line):
    parse_or_none(line)


@pytest.mark.parametrize("line", ["", "  ", "# a comment", "\t# another\r\n", "\n"])
def test_nothing_on_a_line_is_nothing(line):
    assert parse_line(line, "x", 1) is None


@pytest.mark.parametrize(
    ("line", "column", "what"),
    [
        ("<urn:a> <urn:p> .", 17, "expected an object"),
        ('"a" <urn:p> <urn:o> .', 1, "expected a subject"),
        ("<urn:a> _:p <urn:o> .", 9, "expected a predicate"),
        ("<urn:a> <urn:p> <urn:o>", 24, "'.'"),
        ("<urn:a> <urn:p> <urn:o> . <urn:b>", 25, "'.'"),
        ("<urn:a> <urn:p> <urn:o> <urn:g> <urn:h> .", 33, "'.'"),
        ("<urn:a <urn:p> <urn:o> .", 1, "IRI"),
        ("<a> <urn:p> <urn:o> .", 1, "scheme"),
        ("<urn:a> <urn:p> <urn:%4> .", 22, "%"),
        ('<urn:a> <urn:p> "x .', 17, "literal"),
        (r'<urn:a> <urn:p> "\x" .', 17, "literal"),
        (r'<urn:a> <urn:p> "ab\uD800" .', 20, "no character"),
        (r"<urn:\u0020> <urn:p> <urn:o> .", 1, "character"),
    ],
)
def test_says_where_a_line_is_wrong(line, column, what):
    with pytest.raises(InputError, match=what) as caught:
        parse_line(line, "file.nt", 7)
    assert (caught.value.place.file, caught.value.place.line, caught.value.place.column) == (
        "file.nt",
        7,
        column,
    )


@given(text, st.one_of(st.none(), st.just("en")))
def test_a_literal_comes_apart_as_it_was_put_together(value, language):
    assert split_literal(literal(value, language=language)) == (value, language, None)
    assert split_literal(literal(value, datatype="urn:t")) == (value, None, "urn:t")
