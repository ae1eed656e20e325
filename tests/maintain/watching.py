"""What tests of watched patterns share: patterns in terms, read from a maintainer, and by a nested loop."""

from __future__ import annotations

import numpy as np

from ensue.dictionary import Dictionary
from ensue.model import FOREVER
from ensue.terms import OWL, RDF, RDFS

Statement = tuple[str, str, str]
Bgp = tuple[Statement, ...]
"""Triple patterns in terms; a variable is a name with a question mark, or a blank node."""
Found = dict[tuple[tuple[str, str], ...], int]
"""Solutions, as the variables' values in order of their names, with stamps."""


def statements(text: str) -> tuple[Statement, ...]:
    """Statements of three words each: `p` stands for <urn:p>, `rdfs:x` for what it says."""
    spaces = {"": "urn:", "rdf": RDF, "rdfs": RDFS, "owl": OWL}
    words = (word.rpartition(":") for word in text.replace(",", " ").split())
    terms = [f"<{spaces[prefix]}{name}>" for prefix, _, name in words]
    return tuple(zip(terms[::3], terms[1::3], terms[2::3], strict=True))


def is_variable(node: str) -> bool:
    return node[0] in "?_"


def pinned(bgp: Bgp, dictionary: Dictionary):
    return tuple(tuple(n if is_variable(n) else dictionary.pin(n) for n in pattern) for pattern in bgp)


def renamed(bgp: Bgp) -> Bgp:
    return tuple(tuple(f"{n}2" if is_variable(n) else n for n in pattern) for pattern in bgp)


def read(maintainer, bgp: Bgp, context: int, threshold: int, dictionary: Dictionary) -> Found:
    found = maintainer.solutions(pinned(bgp, dictionary), context, threshold)
    assert set(found.columns) == {node for pattern in bgp for node in pattern if is_variable(node)}
    size = len(found.columns), len(found.stamps)
    numbers = np.array([*found.columns.values()], np.int32).reshape(size).T.tolist()
    terms = [tuple(map(dictionary.decode, row)) for row in numbers]
    keys = [tuple(sorted(zip(found.columns, row, strict=True))) for row in terms]
    assert len(set(keys)) == len(keys) == len(found.stamps)
    return dict(zip(keys, found.stamps.tolist(), strict=True))


def nested_loop(bgp: Bgp, facts: dict[Statement, int]) -> Found:
    """The solutions over some facts, each with the stamp of the oldest fact that it rests on."""
    found: list[tuple[dict[str, str], int]] = [({}, FOREVER)]
    for pattern in bgp:
        found = [
            (extended, min(stamp, facts[fact]))
            for solution, stamp in found
            for fact in facts
            if (extended := matched(pattern, fact, solution)) is not None
        ]
    return {tuple(sorted(solution.items())): stamp for solution, stamp in found}


def matched(pattern: Statement, fact: Statement, solution: dict[str, str]) -> dict[str, str] | None:
    extended = dict(solution)
    for node, term in zip(pattern, fact, strict=True):
        if (extended.setdefault(node, term) if is_variable(node) else node) != term:
            return None
    return extended
