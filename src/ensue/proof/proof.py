"""A proof as data: a fact, the rule that concludes it, and proofs of that rule's premises.

A leaf is a statement as it was stated. The stamp of a proof is the least among its leaves: the proof
is good as long as its oldest leaf is there. Where a fact is used twice, it is the same object twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Statement = tuple[str, str, str]
"""Subject, predicate and object as canonical N-Triples text."""

BACKGROUND = "background"
"""The source of what the background states."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Why a fact holds.

    >>> leaf = Proof(("<urn:a>", "<urn:p>", "<urn:b>"), 1000, source="urn:stream")
    >>> proof = Proof(("<urn:b>", "<urn:p>", "<urn:a>"), 1000, "symmetric", (leaf,))
    >>> size(proof), list(leaves(proof)) == [leaf]
    (2, True)
    """

    fact: Statement
    stamp: int
    rule: str | None = None
    """The name of the rule that concludes the fact; None: a leaf."""
    premises: tuple[Proof, ...] = ()
    """In the order of the rule's own; those of a rule over lists after what makes the lists."""
    source: str | None = None
    """Of a leaf who states it: "background", the regime of an axiom, or the IRI of a stream."""


def steps(*proofs: Proof) -> Iterator[Proof]:
    """Every proof within these, each fact once, and premises before what they are for."""
    # Not by recursion: a proof may be deeper than Python's stack.
    done: set[Statement] = set()
    waiting = [(proof, False) for proof in reversed(proofs)]
    while waiting:
        proof, are_premises_done = waiting.pop()
        if proof.fact in done:
            continue
        if are_premises_done or not proof.premises:
            done.add(proof.fact)
            yield proof
        else:
            waiting.append((proof, True))
            waiting += [(premise, False) for premise in reversed(proof.premises)]


def leaves(*proofs: Proof) -> Iterator[Proof]:
    """What proofs rest on, each statement once."""
    return (step for step in steps(*proofs) if step.rule is None)


def size(proof: Proof) -> int:
    """How many facts the tree has, counted as often as they are used: what a smallest proof is small in."""
    sizes: dict[Statement, int] = {}
    for step in steps(proof):
        sizes[step.fact] = 1 + sum(sizes[premise.fact] for premise in step.premises)
    return sizes[proof.fact]
