"""An explanation as a graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.proof.explanation import Explanation
from ensue.proof.proof import Proof, steps
from ensue.proof.text import fact_text, leaf_text, numbered


def to_dot(explanation: Explanation) -> str:
    r"""The proofs as a graph: premises below what they are for, statements as boxes.

    >>> leaf = Proof(("<urn:a>", "<urn:p>", '"1"'), 1000, source="urn:s")
    >>> proof = Proof(('"1"', "<urn:p>", "<urn:a>"), 1000, "symmetric", (leaf,))
    >>> print(to_dot(Explanation("...", (proof,), 11000)))
    digraph why {
      rankdir=BT; label="..."; labelloc=t; node [fontname="sans-serif"];
      f0 [label="<urn:a> <urn:p> \"1\"\n<urn:s> at 1000", shape=box];
      f1 [label="\"1\" <urn:p> <urn:a>\nby symmetric", shape=oval];
      f0 -> f1;
    }
    """
    return "\n".join(_lines(explanation))


def _lines(explanation: Explanation) -> Iterator[str]:
    yield "digraph why {"
    yield f'  rankdir=BT; label={_quoted(explanation.about)}; labelloc=t; node [fontname="sans-serif"];'
    numbers = numbered(explanation)
    for step in steps(*explanation.proofs):
        label = _quoted(f"{fact_text(step.fact)}\n{said(explanation, step)}")
        yield f"  f{numbers[step.fact]} [label={label}, shape={'box' if step.rule is None else 'oval'}];"
        for premise in dict.fromkeys(each.fact for each in step.premises):
            yield f"  f{numbers[premise]} -> f{numbers[step.fact]};"
    yield "}"


def said(explanation: Explanation, step: Proof) -> str:
    """Where a fact of a proof is from."""
    return leaf_text(explanation, step) if step.rule is None else f"by {step.rule}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
