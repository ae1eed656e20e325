r"""Lines so plain that their terms are canonical text as they stand, told by a regular expression.

The expressions are for RE2, which Arrow uses: it reads a line once, byte by byte, however long the
expression is. They take less than the grammar of N-Quads allows, never more; what they leave out is looked at
more closely. Left out are, say, IRIs with escapes, user names or hosts beyond ASCII; literals
with characters that canonical text escapes, or with escapes that it does not use; language tags in capitals;
and any spacing other than one space between terms and before the dot.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

# Of RFC 3987's characters beyond ASCII, those of the first four planes.
_BEYOND_ASCII = (
    r"\x{A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}"
    r"\x{10000}-\x{1FFFD}\x{20000}-\x{2FFFD}\x{30000}-\x{3FFFD}"
)
_SEGMENT = rf"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@{_BEYOND_ASCII}]|%[0-9A-Fa-f]{{2}})"
_AUTHORITY = r"//[A-Za-z0-9\-._~]*(?::[0-9]*)?"
_PATH = rf"(?:{_AUTHORITY}(?:/(?:{_SEGMENT}|/)*)?|(?:{_SEGMENT}(?:{_SEGMENT}|/)*)?)"
_REST = rf"(?:{_SEGMENT}|[/?])*"
_IRI = rf"<[A-Za-z][A-Za-z0-9+.\-]*:{_PATH}(?:\?{_REST})?(?:#{_REST})?>"

_BLANK = r"_:[A-Za-z0-9_][A-Za-z0-9_\-]*"

_CHARACTER = r"[ !#-\[\]-~\x{A0}-\x{D7FF}\x{E000}-\x{FFFD}\x{10000}-\x{10FFFF}]"
_LANGUAGE = r"@[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
_LITERAL = rf'"(?:{_CHARACTER}|\\[tbnrf"\\])*"(?:{_LANGUAGE}|\^\^{_IRI})?'

_NODE = rf"(?:{_IRI}|{_BLANK})"
# Eighteen digits always fit into 64 bits.
_START = rf"\A-?[0-9]{{1,18}}\t{_NODE} {_IRI} (?:{_NODE}|{_LITERAL})"
_END = r" \.\r?\n?\z"

PLAIN_TRIPLE = _START + _END
"""`time TAB s p o .` and the end of the line, if it is still there."""

PLAIN_QUAD = rf"{_START} {_NODE}{_END}"
"""`time TAB s p o graph .` and the end of the line, if it is still there."""


def may_not_be_canonical(objects: pa.StringArray) -> pa.BooleanArray:
    """Which objects have a datatype that canonical text leaves out or the parser looks into.

    That is xsd:string, and rdf:langString and rdf:dirLangString, which need a language. RE2 cannot say "any
    IRI but these", so this is asked afterwards; a few others that end alike are caught as well.
    """
    return pc.or_(pc.ends_with(objects, "#string>"), pc.ends_with(objects, "angString>"))
