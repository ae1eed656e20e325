"""An explanation as a picture: the conclusion on top, each premise below whatever it is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ensue.proof.dot import said
from ensue.proof.explanation import Explanation
from ensue.proof.proof import Proof, Statement, steps
from ensue.proof.text import fact_text, short, summary

_CHARACTER, _LINE, _BOX, _GAP, _LEVEL = 7.2, 18, 46, 24, 90
"""How wide a character is, how high a line and a box; between boxes, and from level to level."""

_MOST = 60
"""Longer labels are cut; the whole is in the box's title."""

_STYLE = (
    "text{font:12px monospace;fill:#222}rect{stroke:#444;fill:#fff}"
    "rect.stated{fill:#eef3ff}rect.gone{fill:#ffe3e0}line{stroke:#888}.by{fill:#666}"
)


@dataclass(frozen=True, slots=True)
class _Box:
    """Where a fact is drawn."""

    step: Proof
    x: float
    y: float
    width: float


def to_svg(explanation: Explanation) -> str:
    """The picture as an SVG document.

    >>> leaf = Proof(("<urn:a>", "<urn:p>", "<urn:b>"), 1000, source="urn:s")
    >>> proof = Proof(("<urn:b>", "<urn:p>", "<urn:a>"), 1000, "symmetric", (leaf,))
    >>> picture = to_svg(Explanation("...", (proof,), 11000))
    >>> picture.count("<rect"), picture.count("<line"), picture.startswith("<svg")
    (2, 1, True)
    """
    said_first = list(summary(explanation))
    boxes = _placed(explanation, top=_LINE * (len(said_first) + 1))
    width = max([_CHARACTER * max(map(len, said_first)), *(box.x + box.width for box in boxes.values())])
    height = max((box.y for box in boxes.values()), default=_LINE * len(said_first)) + _BOX + _GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + _GAP:.0f}" height="{height:.0f}">',
        f"<style>{_STYLE}</style>",
        *(_text(_GAP / 2, _LINE * at, line) for at, line in enumerate(said_first, start=1)),
        *_edges(boxes),
        *_drawn(explanation, boxes),
        "</svg>",
    ]
    return "\n".join(lines)


def _placed(explanation: Explanation, top: float) -> dict[Statement, _Box]:
    """Level by level: a fact is one below the lowest of what it is for."""
    every = list(steps(*explanation.proofs))
    level = {step.fact: 0 for step in every}
    for step in reversed(every):  # So what it is for has its level already.
        for premise in step.premises:
            level[premise.fact] = max(level[premise.fact], level[step.fact] + 1)
    ends: dict[int, float] = {}
    boxes = {}
    for step in every:
        at = level[step.fact]
        x = ends.get(at, _GAP / 2)
        width = _CHARACTER * max(len(_label(step)), len(said(explanation, step))) + 16
        boxes[step.fact] = _Box(step, x, top + _LEVEL * at, width)
        ends[at] = x + width + _GAP
    widest = max(ends.values(), default=0)
    return {
        fact: _Box(box.step, box.x + (widest - ends[level[fact]]) / 2, box.y, box.width)
        for fact, box in boxes.items()
    }


def _edges(boxes: dict[Statement, _Box]) -> Iterator[str]:
    for box in boxes.values():
        for premise in dict.fromkeys(each.fact for each in box.step.premises):
            below = boxes[premise]
            yield (
                f'<line x1="{below.x + below.width / 2:.1f}" y1="{below.y:.1f}" '
                f'x2="{box.x + box.width / 2:.1f}" y2="{box.y + _BOX:.1f}"/>'
            )


def _drawn(explanation: Explanation, boxes: dict[Statement, _Box]) -> Iterator[str]:
    gone = {each.leaf.fact for each in explanation.gone}
    for fact, box in boxes.items():
        kind = "gone" if fact in gone else "stated" if box.step.rule is None else "derived"
        size = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{_BOX}"'
        yield f'<g><title>{escape(fact_text(fact))}</title><rect class="{kind}" rx="4" {size}/>'
        yield _text(box.x + 8, box.y + _LINE, _label(box.step))
        yield _text(box.x + 8, box.y + 2 * _LINE, said(explanation, box.step), "by") + "</g>"


def _label(step: Proof) -> str:
    text = " ".join(map(_name, step.fact))
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


def _name(term: str) -> str:
    """The last part of an IRI, which is mostly what tells it from others.

    >>> _name("<http://example.org/onto#Person>"), _name('"a/b"')
    ('Person', '"a/b"')
    """
    known = short(term)
    if not known.startswith("<") or known.startswith("<<"):
        return known
    parts = known[1:-1].replace("#", "/").rstrip("/").rsplit("/", 1)
    return parts[-1] or known


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}>{escape(text)}</text>'
