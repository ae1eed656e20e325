"""Literals by value: which texts a datatype has, which are the same, and how one of them stands for all."""

from __future__ import annotations

import struct
from fractions import Fraction
from random import Random

import pytest

from ensue.rules import datatypes
from ensue.rules.floats import DOUBLE, FLOAT
from ensue.terms import RDF, XSD, literal


def xsd(text, name):
    return literal(text, datatype=XSD + name)


SPELLINGS = {
    ("integer", "1"): [("integer", "+01"), ("int", "1"), ("decimal", "1.0"), ("unsignedByte", "001")],
    ("integer", "0"): [("integer", "-0"), ("decimal", "-.0"), ("nonPositiveInteger", "0")],
    ("decimal", "-2.5"): [("decimal", "-02.50"), ("decimal", "-2.500")],
    ("decimal", "0.05"): [("decimal", ".05"), ("decimal", "+0.050")],
    ("integer", "123456789012345678901234567890"): [("decimal", "123456789012345678901234567890.")],
    ("double", "1.0"): [("double", "1"), ("double", "1E0"), ("double", "0.1e1")],
    ("double", "1.0E7"): [("double", "10000000"), ("double", "1e7")],
    ("double", "0.1"): [("double", "1e-1"), ("double", "0.1000000000000000055511151231257827")],
    ("float", "0.1"): [("float", "0.10000000149011612")],
    ("double", "INF"): [("double", "+INF"), ("double", "1e400")],
    ("boolean", "true"): [("boolean", "1")],
    ("hexBinary", "0AFF"): [("hexBinary", "0aff")],
    ("base64Binary", "AAEC"): [("base64Binary", "AA EC")],
    ("dateTime", "2024-03-01T00:00:00Z"): [("dateTimeStamp", "2024-02-29T24:00:00+00:00")],
    ("dateTime", "-0001-12-31T23:59:59.5"): [("dateTime", "-0001-12-31T23:59:59.500")],
    ("string", "a b"): [("token", "a b"), ("normalizedString", "a b")],
}
CASES = [(xsd(text, name), xsd(one, of)) for (of, one), others in SPELLINGS.items() for name, text in others]


@pytest.mark.parametrize(("term", "simplest"), CASES)
def test_all_spellings_of_a_value_meet_in_one(term, simplest):
    assert datatypes.simpler_spelling(term) == simplest
    assert datatypes.simpler_spelling(simplest) is None
    assert datatypes.same_value(term, simplest)
    assert not datatypes.different_values(term, simplest)


DIFFERENT = [
    (xsd("1", "integer"), xsd("1", "double")),
    (xsd("1", "float"), xsd("1", "double")),
    (xsd("0", "double"), xsd("-0", "double")),
    (xsd("0.1", "double"), xsd("0.1", "decimal")),
    (xsd("9007199254740993", "integer"), xsd("9007199254740992", "integer")),
    (xsd("2024-01-01T00:00:00Z", "dateTime"), xsd("2024-01-01T01:00:00+01:00", "dateTime")),
    (xsd("2024-01-01T00:00:00Z", "dateTime"), xsd("2024-01-01T00:00:00", "dateTime")),
    ('"a"', xsd("a", "anyURI")),
    ('"a"', '"a"@en'),
    (xsd("00", "hexBinary"), xsd("AA==", "base64Binary")),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_values_that_differ(one, other):
    assert datatypes.different_values(one, other)
    assert not datatypes.same_value(one, other)


ILL = {
    "integer": ["1.0", "", " 1", "1 ", "\u0661"],
    "byte": ["128", "-129"],
    "unsignedByte": ["-1"],
    "positiveInteger": ["0"],
    "negativeInteger": ["0"],
    "decimal": ["1e0", ".", "INF"],
    "double": ["inf", "nan"],
    "float": ["1e"],
    "boolean": ["TRUE"],
    "hexBinary": ["0"],
    "base64Binary": ["A"],
    "dateTime": [
        "2023-02-29T00:00:00",
        "2023-13-01T00:00:00",
        "2023-01-01T24:00:01",
        "2023-01-01",
        "23-01-01T00:00:00",
        "2023-01-01T00:00:00+15:00",
    ],
    "dateTimeStamp": ["2023-01-01T00:00:00"],
    "token": [" a", "a  b"],
    "normalizedString": ["a\tb"],
    "language": ["english-"],
    "Name": ["1a"],
    "NCName": ["a:b"],
    "NMTOKEN": ["a b"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in ILL.items() for text in texts])
def test_texts_without_a_value(name, text):
    term = xsd(text, name)
    assert datatypes.value_of(term) is None
    assert datatypes.not_in_value_space(term, f"<{XSD}{name}>")
    assert datatypes.simpler_spelling(term) is None
    assert not datatypes.different_values(term, term)


@pytest.mark.parametrize(
    ("term", "inside", "outside"),
    [
        (xsd("5", "integer"), "byte unsignedByte positiveInteger decimal", "negativeInteger double string"),
        (xsd("5.0", "decimal"), "integer byte", "float"),
        (xsd("5.5", "decimal"), "decimal", "integer"),
        (xsd("-128", "int"), "byte nonPositiveInteger", "unsignedLong"),
        (xsd(str(2**64), "integer"), "nonNegativeInteger", "unsignedLong long"),
        ('"en-GB"', "string token language NMTOKEN NCName", "integer anyURI"),
        ('" x"', "string normalizedString", "token"),
        (xsd("2024-01-01T00:00:00Z", "dateTime"), "dateTime dateTimeStamp", "string"),
    ],
)
def test_membership(term, inside, outside):
    for name in inside.split():
        assert datatypes.in_value_space(term, f"<{XSD}{name}>"), name
    for name in outside.split():
        assert datatypes.not_in_value_space(term, f"<{XSD}{name}>"), name


def test_what_is_not_known_is_neither_in_nor_out():
    mine, own = '"x"^^<urn:mine>', "<urn:mine>"
    integer = f"<{XSD}integer>"
    assert not datatypes.in_value_space(mine, integer)
    assert not datatypes.not_in_value_space(mine, integer)
    assert not datatypes.not_in_value_space(xsd("1", "integer"), own)
    assert not datatypes.different_values(mine, xsd("1", "integer"))


def test_plain_literals_and_xml():
    assert datatypes.simpler_spelling(literal("chat@FR", datatype=RDF + "PlainLiteral")) == '"chat"@fr'
    assert datatypes.simpler_spelling(literal("a@b@", datatype=RDF + "PlainLiteral")) == '"a@b"'
    xml = [literal(text, datatype=RDF + "XMLLiteral") for text in ("<b></b>", "<b/>", "<b>")]
    assert not datatypes.different_values(*xml[:2])
    assert datatypes.not_in_value_space(xml[2], f"<{RDF}XMLLiteral>")


def test_escapes_are_part_of_no_value():
    assert datatypes.text_of('"a\\\\n\\"\\u0041\\U0001F600"') == 'a\\n"A😀'


def test_every_base_is_a_datatype():
    for name in datatypes.TYPES:
        seen = [name]
        while (base := datatypes.base_datatype(seen[-1])) is not None:
            assert base in datatypes.TYPES
            seen.append(base)
        assert seen[-1] == "<http://www.w3.org/2000/01/rdf-schema#Literal>"


@pytest.mark.parametrize(("size", "code", "digits"), [(FLOAT, "<f", 160), (DOUBLE, "<d", 1100)])
def test_numbers_at_random_are_rounded_once(size, code, digits):
    seed = Random().randrange(2**32)
    print(f"seed {seed}")
    random = Random(seed)

    def number(bits):
        return struct.unpack(code, bits.to_bytes(struct.calcsize(code), "little"))[0]

    def packed(text):
        return struct.pack(code, float(text))

    for _ in range(200):
        # Positive and finite: the exponent is not all ones.
        bits = random.randrange(1, struct.unpack("<I" if code == "<f" else "<Q", packed("inf"))[0] - 1)
        value, after = number(bits), number(bits + 1)
        spelled = size.spelling(repr(value))
        assert packed(spelled) == struct.pack(code, value)
        assert size.spelling(spelled) == spelled
        # In the middle between two neighbours the even one is nearer, and just beyond it the other one.
        middle = (Fraction(value) + Fraction(after)) / 2 * 10**digits
        assert middle.denominator == 1
        even = value if bits % 2 == 0 else after
        assert packed(size.spelling(f"{middle}e-{digits}")) == struct.pack(code, even)
        assert packed(size.spelling(f"{middle}1e-{digits + 1}")) == struct.pack(code, after)
        assert packed(size.spelling(f"{middle - 1}e-{digits}")) == struct.pack(code, value)
