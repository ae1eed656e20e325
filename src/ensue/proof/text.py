"""An explanation as text, from the conclusion down to the statements."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.model import FOREVER
from ensue.proof.explanation import Explanation
from ensue.proof.proof import Proof, Statement, steps
from ensue.terms import OWL, RDF, RDFS, XSD

SHORT = {RDF: "rdf:", RDFS: "rdfs:", OWL: "owl:", XSD: "xsd:", "urn:ensue:violation:": "violation:"}
"""Prefixes that everybody knows."""


def short(term: str) -> str:
    """A term as people read it.

    >>> short(f"<{RDF}type>"), short("<urn:a>")
    ('rdf:type', '<urn:a>')
    """
    for namespace, prefix in SHORT.items():
        local = term[1 + len(namespace) : -1]
        if term.startswith(f"<{namespace}") and local.isidentifier():
            return prefix + local
    return term


def fact_text(fact: Statement) -> str:
    """A fact as people read it."""
    return " ".join(map(short, fact))


def leaf_text(explanation: Explanation, leaf: Proof) -> str:
    """Who states a leaf, and when."""
    if leaf.stamp == FOREVER:
        return str(leaf.source)
    return f"<{leaf.source}> at {explanation.time(leaf)}"


def to_text(explanation: Explanation) -> str:
    """The explanation in lines.

    >>> leaf = Proof(("<urn:a>", "<urn:p>", "<urn:b>"), 1000, source="urn:s")
    >>> proof = Proof(("<urn:b>", "<urn:p>", "<urn:a>"), 1000, "symmetric", (leaf,))
    >>> print(to_text(Explanation("<urn:b> <urn:p> <urn:a> .", (proof,), 11000)))
    <urn:b> <urn:p> <urn:a> .
    holds until 11000 if nothing more arrives
    <BLANKLINE>
    <urn:b> <urn:p> <urn:a>   by symmetric
      <urn:a> <urn:p> <urn:b>   <urn:s> at 1000
    """
    return "\n".join(_lines(explanation))


def summary(explanation: Explanation) -> Iterator[str]:
    """What is to be said before the proof."""
    yield explanation.about
    if explanation.query is not None:
        where = "what is held now"
        if explanation.window is not None:
            where = f"the window ({explanation.window.open}, {explanation.window.close}]"
        part = f", partition {explanation.partition}" if explanation.partition else ""
        yield f"in {where} of query {explanation.query}{part}"
    yield from (
        f"gone: {fact_text(gone.leaf.fact)}   {leaf_text(explanation, gone.leaf)}: {gone.why}"
        for gone in explanation.gone
    )
    if explanation.until is not None:
        when = "held" if explanation.gone else "holds"
        yield f"{when} until {explanation.until} if nothing more arrives"
    elif explanation.proofs and explanation.stamp == FOREVER:
        yield "holds always"
    yield from (f"note: {note}" for note in explanation.notes)
    if not explanation.smallest:
        yield "note: there may be smaller proofs; the search was given up"


def _lines(explanation: Explanation) -> Iterator[str]:
    yield from summary(explanation)
    shown: set[Statement] = set()
    for proof in explanation.proofs:
        yield ""
        yield from _tree(explanation, proof, shown)


def _tree(explanation: Explanation, proof: Proof, shown: set[Statement]) -> Iterator[str]:
    """A proof, premises below what they are for; what was shown before is not shown again."""
    waiting = [(proof, 0)]
    while waiting:
        step, depth = waiting.pop()
        fact = "  " * depth + fact_text(step.fact)
        if step.rule is None:
            yield f"{fact}   {leaf_text(explanation, step)}"
        elif step.fact in shown:
            yield f"{fact}   as above"
        else:
            shown.add(step.fact)
            yield f"{fact}   by {step.rule}"
            waiting += [(premise, depth + 1) for premise in reversed(step.premises)]


def numbered(explanation: Explanation) -> dict[Statement, int]:
    """A number for each fact of all proofs, premises first: for those who write them as a graph."""
    return {step.fact: number for number, step in enumerate(steps(*explanation.proofs))}
