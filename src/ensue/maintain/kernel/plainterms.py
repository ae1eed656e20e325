"""Terms so plain that they are canonical text as they stand, told byte by byte. Compiled.

Each function is given where a term begins, and says where it ends, or NOT_PLAIN. They take less than the
grammar of N-Quads allows, never more; what they leave out is looked at more closely elsewhere. Left out
are, say, IRIs with escapes, user names or hosts beyond ASCII; literals with characters that canonical
text escapes, or with escapes that it does not use; and language tags in capitals.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from string import ascii_letters, digits, hexdigits

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.compiling import inlined, part

NOT_PLAIN = -1

_LETTER, _SCHEME, _HOST, _PATH, _TEXT, _LABEL, _HEX, _ESCAPED = (1 << bit for bit in range(8))
_SIGNS = {
    _LETTER: ascii_letters,
    _SCHEME: ascii_letters + digits + "+.-",
    _HOST: ascii_letters + digits + "-._~",
    # What may follow the host, besides %, # and what is beyond ASCII: one ? begins a query, others are in it.
    _PATH: ascii_letters + digits + "-._~!$&'()*+,;=:@/?",
    _TEXT: "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in '"\\'),
    _LABEL: ascii_letters + digits + "_",
    _HEX: hexdigits,
    _ESCAPED: 'tbnrf"\\',
}


def _classes() -> NDArray[np.uint8]:
    """For each byte the classes that it is in, as bits."""
    table = np.zeros(256, np.uint8)
    for bit, signs in _SIGNS.items():
        table[list(signs.encode())] |= bit
    return table


_CLASS = _classes()
_QUOTE, _HASH, _PERCENT, _HYPHEN, _SLASH, _ZERO, _NINE, _COLON, _QUESTION = b'"#%-/09:?'
_LESS, _GREATER, _AT, _BACKSLASH, _CARET, _A, _Z = b"<>@\\^az"
_STRING = np.frombuffer(b"#string>", np.uint8)
_LANG_STRING = np.frombuffer(b"angString>", np.uint8)


@part
def iri_end(data, at, end):
    """Where the IRI ends whose `<` is here."""
    at += 1
    if at >= end or not _CLASS[data[at]] & _LETTER:
        return NOT_PLAIN
    while at < end and _CLASS[data[at]] & _SCHEME:
        at += 1
    if at >= end or data[at] != _COLON:
        return NOT_PLAIN
    at += 1
    if at < end and data[at] == _SLASH:
        at = _host_end(data, at, end)
        if at == NOT_PLAIN:
            return NOT_PLAIN
    return _path_end(data, at, end)


@part
def _host_end(data, at, end):
    """Where host and port end, which begin with two slashes."""
    if at + 1 >= end or data[at + 1] != _SLASH:
        return NOT_PLAIN
    at += 2
    while at < end and _CLASS[data[at]] & _HOST:
        at += 1
    if at < end and data[at] == _COLON:
        at += 1
        while at < end and _ZERO <= data[at] <= _NINE:
            at += 1
    if at < end and data[at] in (_SLASH, _QUESTION, _HASH, _GREATER):
        return at
    return NOT_PLAIN


@part
def _path_end(data, at, end):
    """Where an IRI ends of which scheme and host are over."""
    in_fragment = False
    while at < end:
        byte = data[at]
        if _CLASS[byte] & _PATH:
            at += 1
        elif byte == _GREATER:
            return at + 1
        elif byte == _HASH and not in_fragment:
            in_fragment = True
            at += 1
        elif byte == _PERCENT and at + 2 < end and _CLASS[data[at + 1]] & _CLASS[data[at + 2]] & _HEX:
            at += 3
        elif byte >= 0x80:
            code, width = _character(data, at, end)
            if not _is_in_iris(code):
                return NOT_PLAIN
            at += width
        else:
            return NOT_PLAIN
    return NOT_PLAIN


@inlined
def _is_in_iris(code):
    """Of RFC 3987's characters beyond ASCII, those of the first four planes."""
    if code >= 0x10000:
        return code < 0x40000 and code & 0xFFFF <= 0xFFFD
    return 0xA0 <= code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF


@part
def _character(data, at, end):
    """The character beyond ASCII that is here and how many bytes it has; code 0 if this is not UTF-8."""
    byte = np.int64(data[at])
    if 0xC2 <= byte <= 0xDF:
        width, code, least = 2, byte & 0x1F, 0x80
    elif 0xE0 <= byte <= 0xEF:
        width, code, least = 3, byte & 0x0F, 0x800
    elif 0xF0 <= byte <= 0xF4:
        width, code, least = 4, byte & 0x07, 0x10000
    else:
        return 0, 1
    if at + width > end:
        return 0, 1
    for more in range(at + 1, at + width):
        if data[more] & 0xC0 != 0x80:
            return 0, 1
        code = code << 6 | np.int64(data[more] & 0x3F)
    if code < least or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return 0, 1
    return code, width


@part
def label_end(data, at, end):
    """Where the blank node ends whose `_` is here."""
    at += 1
    if at + 1 >= end or data[at] != _COLON or not _CLASS[data[at + 1]] & _LABEL:
        return NOT_PLAIN
    at += 1
    while at < end and (_CLASS[data[at]] & _LABEL or data[at] == _HYPHEN):
        at += 1
    return at


@part
def literal_end(data, at, end):
    """Where the literal ends whose first quote is here."""
    at = _text_end(data, at + 1, end)
    if at == NOT_PLAIN or at >= end:
        return at
    if data[at] == _AT:
        return _language_end(data, at + 1, end)
    if data[at] != _CARET:
        return at
    if at + 2 >= end or data[at + 1] != _CARET or data[at + 2] != _LESS:
        return NOT_PLAIN
    at = iri_end(data, at + 2, end)
    # Canonical text leaves out xsd:string, and rdf:langString needs a language. Few others end alike.
    if at != NOT_PLAIN and (_ends_with(data, at, _STRING) or _ends_with(data, at, _LANG_STRING)):
        return NOT_PLAIN
    return at


@part
def _text_end(data, at, end):
    """After the closing quote."""
    while at < end:
        byte = data[at]
        if _CLASS[byte] & _TEXT:
            at += 1
        elif byte == _QUOTE:
            return at + 1
        elif byte == _BACKSLASH and at + 1 < end and _CLASS[data[at + 1]] & _ESCAPED:
            at += 2
        elif byte >= 0x80:
            code, width = _character(data, at, end)
            if code < 0xA0 or code == 0xFFFE or code == 0xFFFF:
                return NOT_PLAIN
            at += width
        else:
            return NOT_PLAIN
    return NOT_PLAIN


@part
def _ends_with(data, end, text):
    begin = end - len(text)
    at = 0
    while at < len(text) and data[begin + at] == text[at]:
        at += 1
    return at == len(text)


@part
def _language_end(data, at, end):
    """A language of two or three letters, perhaps a script of four and a region: all in small letters."""
    letters = _run(data, at, end, _A, _Z)
    if not 2 <= letters <= 3:
        return NOT_PLAIN
    at += letters
    if at < end and data[at] == _HYPHEN and _run(data, at + 1, end, _A, _Z) == 4:
        at += 5
    if at < end and data[at] == _HYPHEN:
        letters, numerals = _run(data, at + 1, end, _A, _Z), _run(data, at + 1, end, _ZERO, _NINE)
        if letters != 2 and numerals != 3:
            return NOT_PLAIN
        at += 1 + letters + numerals
    return at


@inlined
def _run(data, at, end, first, last):
    """How many bytes from here on are between two."""
    begin = at
    while at < end and first <= data[at] <= last:
        at += 1
    return at - begin
