"""Which statements are responsible for a violation: the leaves of its proof, and since when they are there."""

from __future__ import annotations

from dataclasses import replace

from ensue.model import FOREVER
from ensue.proof.explainer import Explainer
from ensue.proof.explanation import Explanation
from ensue.proof.held import Held
from ensue.proof.proof import Proof, leaves
from ensue.proof.search import ProofLimitError, prove
from ensue.query.running import RunningQuery
from ensue.rules.violations import hidden
from ensue.violations import Reported, Responsible, Violation

_LIMIT = 100_000
"""How many ways to conclude something are looked at for a violation: there may be many of them."""


def with_statements(violation: Violation, held: Held) -> Violation:
    """A violation with the statements that it rests on; without them where none are found quickly."""
    s, p, o = violation.fact
    fact = held.find((s, hidden(p), o))
    assert fact is not None, "what is told holds"
    try:
        proof = prove(held, fact, limit=_LIMIT).proof
    except ProofLimitError:
        return violation
    return _with(violation, Explanation("", (proof,), None))


def in_window(found: Reported, explainer: Explainer, running: RunningQuery) -> Reported:
    """The same for one that was found in a window that has just closed."""
    s, p, o = found.violation.fact
    try:
        limited = replace(explainer, limit=_LIMIT)
        explanation = limited.fact((s, hidden(p), o), [running], found.close)
    except ProofLimitError:
        return found
    return replace(found, violation=_with(found.violation, explanation))


def _with(violation: Violation, explanation: Explanation) -> Violation:
    return replace(
        violation,
        statements=tuple(
            Responsible(leaf.fact, leaf.source or "", _time(leaf, explanation))
            for leaf in leaves(*explanation.proofs)
        ),
    )


def _time(leaf: Proof, explanation: Explanation) -> int | None:
    return None if leaf.stamp == FOREVER else explanation.time(leaf)
