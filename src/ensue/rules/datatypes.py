r"""Literals by value: the datatypes of OWL 2 RL, which literals they have, and one spelling for each value.

A value is a kind of value (its *space*) and what tells it from others of that kind. Integers of all sizes and
decimals are one space, strings and what is derived from them another; floats, doubles and the rest have their
own. Values are the same if they are identical: `"-0"^^xsd:double` is not `"0"^^xsd:double`. As RDF has it,
white space is not trimmed. Standard library only, so that a small device has it.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ensue.rules import moments, xmltext
from ensue.rules.floats import DOUBLE, FLOAT
from ensue.terms import RDF, RDFS, XSD, Kind, datatype_of, kind_of, literal

Value = int | Fraction | str


class Known(NamedTuple):
    """The value of a literal: its kind of value, what tells it from others, and its simplest spelling."""

    space: str
    value: Value
    spelling: str


class _Type(NamedTuple):
    """A datatype: which it is derived from, and, of a text or of a value of that one, what is in it."""

    base: str | None
    read: Callable[[str], Known | None]
    """The value of a text, None if it has none."""
    has: Callable[[Known], bool]
    """Whether it has a value, however that was written."""


def datatype(term: str) -> str | None:
    """The datatype of a literal, as a term, if it is one of those known here.

    >>> datatype('"5"^^<http://www.w3.org/2001/XMLSchema#int>'), datatype('"x"^^<urn:mine>')
    ('<http://www.w3.org/2001/XMLSchema#int>', None)
    """
    kind = kind_of(term)
    if kind is Kind.PLAIN:
        return _STRING if term.endswith('"') else _LANG_STRING
    found = datatype_of(term)
    return found if found in TYPES else None


def is_datatype(term: str) -> bool:
    """Whether a term names a datatype that is known here."""
    return term in TYPES


def base_datatype(term: str) -> str | None:
    """The datatype that another is derived from.

    >>> base_datatype('<http://www.w3.org/2001/XMLSchema#int>')
    '<http://www.w3.org/2001/XMLSchema#long>'
    """
    return TYPES[term].base if term in TYPES else None


def simpler_spelling(term: str) -> str | None:
    """The literal that stands for all with the same value, if this is another one.

    >>> simpler_spelling('"05"^^<http://www.w3.org/2001/XMLSchema#int>')
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    known = value_of(term)
    return known.spelling if known and known.spelling != term else None


def same_value(one: str, other: str) -> bool:
    """Whether two literals have the same value."""
    a, b = value_of(one), value_of(other)
    return a is not None and b is not None and a[:2] == b[:2]


def different_values(one: str, other: str) -> bool:
    """Whether two literals are known to have different values."""
    a, b = value_of(one), value_of(other)
    if a is None or b is None or a[:2] == b[:2]:
        return False
    return a.space != b.space or a.space != xmltext.SPACE  # XML can be the same in other words


def in_value_space(term: str, name: str) -> bool:
    """Whether a literal's value is one of a datatype's.

    >>> byte = "<http://www.w3.org/2001/XMLSchema#byte>"
    >>> [in_value_space(f'"{n}"^^<{XSD}integer>', byte) for n in (5, 500)]
    [True, False]
    """
    known = value_of(term)
    return known is not None and name in TYPES and TYPES[name].has(known)


def not_in_value_space(term: str, name: str) -> bool:
    """Whether a literal is known to have no value among a datatype's: another value, or none at all."""
    return name in TYPES and datatype(term) is not None and not in_value_space(term, name)


@lru_cache(maxsize=4_096)
def value_of(term: str) -> Known | None:
    """The value of a literal; None if it is ill-typed, its datatype is not known, or it is no literal."""
    name = datatype(term)
    if name is None:
        return None
    if name == _LANG_STRING:
        return Known("language", term, term)
    return TYPES[name].read(text_of(term))


_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_MEANS = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def text_of(term: str) -> str:
    r"""The text of a literal, as it is meant.

    >>> text_of('"a\\tb"@en')
    'a\tb'
    """
    quoted = term[1 : term.rindex('"')]
    if "\\" not in quoted:
        return quoted
    return _ESCAPE.sub(lambda m: _MEANS.get(m[1], m[1]) if len(m[1]) == 1 else chr(int(m[1][1:], 16)), quoted)


def _xsd(name: str) -> str:
    return f"<{XSD}{name}>"


_STRING, _LANG_STRING, _PLAIN = _xsd("string"), f"<{RDF}langString>", f"<{RDF}PlainLiteral>"
_LITERAL = f"<{RDFS}Literal>"

# --- numbers ------------------------------------------------------------------------------------------

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_LONGEST = 4_000
"""Numbers with more digits have no value here: Python takes long to read them."""


def _number(value: Fraction) -> Known:
    if value.denominator == 1:
        return Known("number", value, literal(str(value.numerator), datatype=XSD + "integer"))
    return Known("number", value, literal(_decimal(value), datatype=XSD + "decimal"))


def _decimal(value: Fraction) -> str:
    """The digits of a fraction that is a decimal."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value.numerator * 10**places // value.denominator)).rjust(places + 1, "0")
    return f"{'-' * (value < 0)}{digits[:-places]}.{digits[-places:]}"


def _read_decimal(text: str) -> Known | None:
    fits = len(text) <= _LONGEST and _DECIMAL.fullmatch(text)
    return _number(Fraction(text)) if fits else None


def _integers(base: str, least: int | None = None, most: int | None = None) -> _Type:
    def has(known: Known) -> bool:
        value = known.value
        if known.space != "number" or not isinstance(value, Fraction) or value.denominator != 1:
            return False
        return (least is None or value >= least) and (most is None or value <= most)

    def read(text: str) -> Known | None:
        known = _number(Fraction(text)) if len(text) <= _LONGEST and _INTEGER.fullmatch(text) else None
        return known if known and has(known) else None

    return _Type(_xsd(base), read, has)


def _numbers() -> dict[str, _Type]:
    signed = {"long": 63, "int": 31, "short": 15, "byte": 7}
    unsigned = {"unsignedLong": 64, "unsignedInt": 32, "unsignedShort": 16, "unsignedByte": 8}
    found = {
        "decimal": _Type(_LITERAL, _read_decimal, lambda known: known.space == "number"),
        "integer": _integers("decimal"),
        "nonNegativeInteger": _integers("integer", least=0),
        "nonPositiveInteger": _integers("integer", most=0),
        "positiveInteger": _integers("nonNegativeInteger", least=1),
        "negativeInteger": _integers("nonPositiveInteger", most=-1),
    }
    for sizes, base in ((signed, "integer"), (unsigned, "nonNegativeInteger")):
        for name, bits in sizes.items():
            least = -(2**bits) if sizes is signed else 0
            found[name] = _integers(base, least, 2**bits - 1)
            base = name
    return {_xsd(name): each for name, each in found.items()}


# --- texts --------------------------------------------------------------------------------------------

_NAME_START = r":A-Z_a-z\xC0-\xD6\xD8-\xF6\xF8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F"
_NAME_START += r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
_NAME_PART = _NAME_START + r"\-.0-9\xB7\u0300-\u036F\u203F-\u2040"
_TEXTS = {
    "normalizedString": ("string", r"[^\t\n\r]*"),
    "token": ("normalizedString", r"(?:[^\t\n\r ]+(?: [^\t\n\r ]+)*)?"),
    "language": ("token", r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*"),
    "NMTOKEN": ("token", rf"[{_NAME_PART}]+"),
    "Name": ("token", rf"[{_NAME_START}][{_NAME_PART}]*"),
    "NCName": ("Name", rf"[{_NAME_START.replace(':', '', 1)}][{_NAME_PART.replace(':', '', 1)}]*"),
}


def _text(text: str) -> Known:
    return Known("text", text, literal(text))


def _texts() -> dict[str, _Type]:
    found = {_STRING: _Type(_PLAIN, _text, lambda known: known.space == "text")}
    for name, (base, pattern) in _TEXTS.items():
        found[_xsd(name)] = _restricted(_xsd(base), re.compile(pattern))
    found[_PLAIN] = _Type(_LITERAL, _read_plain, lambda known: known.space in ("text", "language"))
    found[_LANG_STRING] = _Type(_PLAIN, lambda _: None, lambda known: known.space == "language")
    return found


def _restricted(base: str, pattern: re.Pattern[str]) -> _Type:
    def has(known: Known) -> bool:
        return known.space == "text" and bool(pattern.fullmatch(str(known.value)))

    return _Type(base, lambda text: _text(text) if pattern.fullmatch(text) else None, has)


def _read_plain(text: str) -> Known | None:
    """`"chat@fr"^^rdf:PlainLiteral` is `"chat"@fr`, and `"chat@"^^rdf:PlainLiteral` is `"chat"`."""
    said, at, language = text.rpartition("@")
    if not at:
        return None
    if not language:
        return _text(said)
    term = literal(said, language=language)
    return Known("language", term, term)


# --- the rest -----------------------------------------------------------------------------------------

_TRUTH = {"true": "true", "1": "true", "false": "false", "0": "false"}
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})*")


def _alone(name: str, spelling: Callable[[str], str | None]) -> _Type:
    """A datatype whose values are its own; `spelling` gives the simplest one of a text."""

    def read(text: str) -> Known | None:
        simplest = spelling(text)
        if simplest is None:
            return None
        return Known(name, simplest, literal(simplest, datatype=XSD + name))

    return _Type(_LITERAL, read, lambda known: known.space == name)


def _base64(text: str) -> str | None:
    try:
        return b64encode(b64decode(text.replace(" ", ""), validate=True)).decode()
    except (NotBase64, ValueError):
        return None


def _xml(text: str) -> Known | None:
    if not xmltext.is_well_formed(text):
        return None
    return Known(xmltext.SPACE, text, literal(text, datatype=RDF + "XMLLiteral"))


def _stamp(text: str) -> Known | None:
    known = TYPES[_xsd("dateTime")].read(text)
    return known if known and moments.has_zone(str(known.value)) else None


def _others() -> dict[str, _Type]:
    alone: dict[str, Callable[[str], str | None]] = {
        "float": FLOAT.spelling,
        "double": DOUBLE.spelling,
        "boolean": _TRUTH.get,
        "hexBinary": lambda text: text.upper() if _HEX.fullmatch(text) else None,
        "base64Binary": _base64,
        "anyURI": lambda text: text,
        "dateTime": moments.spelling,
    }
    return {_xsd(name): _alone(name, spelling) for name, spelling in alone.items()} | {
        _xsd("dateTimeStamp"): _Type(
            _xsd("dateTime"),
            _stamp,
            lambda known: known.space == "dateTime" and moments.has_zone(str(known.value)),
        ),
        f"<{RDF}XMLLiteral>": _Type(_LITERAL, _xml, lambda known: known.space == xmltext.SPACE),
        _LITERAL: _Type(None, lambda _: None, lambda _: True),
    }


TYPES: dict[str, _Type] = _numbers() | _texts() | _others()
"""All datatypes that are known, by their IRI as a term."""
