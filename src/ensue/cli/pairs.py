"""Options that say what an IRI stands for."""

from __future__ import annotations

from collections.abc import Iterable

from ensue.errors import UsageError


def pairs(words: Iterable[str], option: str) -> dict[str, str]:
    """The IRI=PATH arguments of an option. An IRI may hold `=` itself; a path after the last one cannot.

    >>> pairs(["http://example.org/s?a=b=data/s.tsv"], "--stream")
    {'http://example.org/s?a=b': 'data/s.tsv'}
    """
    found: dict[str, str] = {}
    for word in words:
        iri, separator, path = word.rpartition("=")
        if not (iri and separator and path):
            raise UsageError(f"{option} {word}", hint=f"write {option} IRI=PATH")
        iri = iri[1:-1] if iri.startswith("<") and iri.endswith(">") else iri
        if iri in found:
            raise UsageError(f"{option} names <{iri}> twice", hint="give each IRI once")
        found[iri] = path
    return found
