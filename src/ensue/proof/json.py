"""An explanation as plain data, for `json`."""

from __future__ import annotations

from typing import Any

from ensue.model import FOREVER
from ensue.proof.explanation import Explanation
from ensue.proof.proof import Proof, steps
from ensue.proof.text import numbered


def to_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation: each fact of the proofs once, with the numbers of its premises.

    >>> leaf = Proof(("<urn:a>", "<urn:p>", "<urn:b>"), 1000, source="urn:s")
    >>> proof = Proof(("<urn:b>", "<urn:p>", "<urn:a>"), 1000, "symmetric", (leaf,))
    >>> found = to_json(Explanation("<urn:b> <urn:p> <urn:a> .", (proof,), 11000))
    >>> found["proofs"], found["steps"][1]
    ([1], {'fact': '<urn:b> <urn:p> <urn:a> .', 'stamp': 1000, 'rule': 'symmetric', 'premises': [0]})
    """
    numbers = numbered(explanation)
    found: dict[str, Any] = {
        "about": explanation.about,
        "query": explanation.query,
        "window": None if explanation.window is None else list(explanation.window),
        "partition": explanation.partition,
        "stamp": _stamp(explanation.stamp) if explanation.proofs else None,
        "until": explanation.until,
        "smallest": explanation.smallest,
        "notes": list(explanation.notes),
        "proofs": [numbers[proof.fact] for proof in explanation.proofs],
        "graphs": list(explanation.graphs),
        "steps": [_step(explanation, step, numbers) for step in steps(*explanation.proofs)],
    }
    if explanation.gone:
        found["gone"] = [{"step": numbers[gone.leaf.fact], "why": gone.why} for gone in explanation.gone]
    return found


def _step(explanation: Explanation, step: Proof, numbers: dict[Any, int]) -> dict[str, Any]:
    found: dict[str, Any] = {"fact": f"{' '.join(step.fact)} .", "stamp": _stamp(step.stamp)}
    if step.rule is not None:
        return found | {"rule": step.rule, "premises": [numbers[each.fact] for each in step.premises]}
    time = {} if step.stamp == FOREVER else {"time": explanation.time(step)}
    return found | {"source": step.source} | time


def _stamp(stamp: int) -> int | None:
    return None if stamp == FOREVER else stamp
