"""`each` in SPARQL, found among the items of a rule: no member of the list is such that nothing matches.

    FILTER NOT EXISTS { ?list rdf:rest*/rdf:first ?t FILTER NOT EXISTS { ?y a ?t } }

It is the one NOT EXISTS that a rule can have: the list is in the background, so what it says does not turn
false when a fact arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ensue.terms import RDF

if TYPE_CHECKING:
    from ensue.rules.sparql_skeleton import Item

FIRST, REST = f"<{RDF}first>", f"<{RDF}rest>"


def not_exists_of_each(items: Sequence[Item], partner: Mapping[int, int]) -> Iterator[int]:
    """The numbers of the words EXISTS that are part of an `each`: two for each of them.

    It is recognised exactly: what holds for each member is triples, without any word in them.
    """
    for at, item in enumerate(items):
        inner = _end_of_members(items, at) if item.token.is_word("FILTER") else None
        if inner is None or not _is_not_exists(items, inner):
            continue
        opened = inner + 3
        closed = partner[opened]
        plain = all(_is_of_triples(each) for each in items[opened + 1 : closed])
        if plain and partner[at + 3] == closed + 1:
            yield from (at + 2, inner + 2)


def _is_not_exists(items: Sequence[Item], at: int) -> bool:
    words = [item.token for item in items[at : at + 4]]
    return len(words) == 4 and (
        words[0].is_word("FILTER")
        and words[1].is_word("NOT")
        and words[2].is_word("EXISTS")
        and words[3].is_op("{")
    )


def _end_of_members(items: Sequence[Item], at: int) -> int | None:
    """Where `FILTER NOT EXISTS { ?list rdf:rest*/rdf:first ?member .` ends; None if that is not here."""
    path = items[at + 5 : at + 9]
    if not _is_not_exists(items, at) or len(items) < at + 12:
        return None
    is_path = [path[0].term, path[3].term] == [REST, FIRST] and path[1].token.is_op("*")
    if not is_path or not path[2].token.is_op("/") or items[at + 9].token.kind != "var":
        return None
    return at + 10 + items[at + 10].token.is_op(".")


def _is_of_triples(item: Item) -> bool:
    token = item.token
    if token.kind == "word" and item.term is None:
        return token.text == "a"
    return not token.is_op("{")
