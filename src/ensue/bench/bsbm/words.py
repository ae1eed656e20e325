"""The words of texts: those of a file, or made-up ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from ensue.errors import InputError, Place
from ensue.files import Source

_WORD = re.compile(r"[A-Za-z-]+")
_ONSETS, _VOWELS, _ENDS = "bdfgklmnprstv", "aeiou", ["", "l", "n", "r", "s"]


def read_words(path: str) -> list[str]:
    """The words of a file, plain or `.gz`: runs of letters and hyphens."""
    with Source(path) as source:
        found = [
            word
            for line in source.lines()
            if isinstance(line, bytes)
            for word in _WORD.findall(line.decode("utf-8", "replace"))
        ]
    if not found:
        raise InputError(
            "there is no word in this file", place=Place(path), hint="a word is of letters a to z"
        )
    return found


def own_words() -> Sequence[str]:
    """Made-up words of two syllables.

    >>> len(own_words()), own_words()[:3]
    (21125, ['baba', 'babal', 'baban'])
    """
    syllables = ["".join(parts) for parts in product(_ONSETS, _VOWELS)]
    return ["".join(parts) for parts in product(syllables, syllables, _ENDS)]
