"""The directive `# priority: N`: how important the rules that follow it in a file are.

It is a comment in both syntaxes, on a line of its own, and holds up to the next one. A rule before the first
has priority 0, and so has one of a regime, unless the `# use:` that brings it stands below a directive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ensue.errors import Place
from ensue.rules.lexer import Source
from ensue.rules.tree import Rule

_DIRECTIVE = re.compile(r"#+\s*priority:(.*)", re.DOTALL)
_NUMBER = re.compile(r"\s*([+-]?\d{1,9})\s*")


@dataclass(frozen=True, slots=True)
class Priority:
    """A directive, and where it stands."""

    value: int
    place: Place


def priorities(source: Source, syntax: re.Pattern[str]) -> Iterator[Priority]:
    """The directives of a text, in order.

    >>> from ensue.rules.lexer import BRACKETED
    >>> [(each.value, each.place.line) for each in priorities(Source("# priority: 5", "r.rules"), BRACKETED)]
    [(5, 1)]
    """
    for token in source.tokens(syntax):
        directive = _DIRECTIVE.match(token.text) if token.kind == "comment" else None
        if directive is None:
            continue
        number = _NUMBER.fullmatch(directive.group(1))
        if number is None:
            hint = "it is written '# priority: 5', and nothing else in that line"
            raise source.error("this is no priority", token, hint)
        yield Priority(int(number.group(1)), source.place(token.start))


def prioritised(rule: Rule, at: Place | None, directives: Sequence[Priority]) -> Rule:
    """A rule that a file has, or brings by a directive, at a place."""
    before = [each for each in directives if at is not None and _order(each.place) < _order(at)]
    return replace(rule, priority=before[-1].value) if before else rule


def _order(place: Place) -> tuple[int, int]:
    return place.line or 0, place.column or 0
