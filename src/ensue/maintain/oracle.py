"""The naive reference that every maintainer is tested against: slow, short, and plainly right.

The stamp of a fact is the maximum over its derivations of the minimum over the premises. Here that
is computed by applying every rule to everything until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ensue.dictionary import Dictionary
from ensue.maintain.program import UNBOUND, Binding, CompiledRule, Program, conclude, match
from ensue.model import BACKGROUND, FOREVER, NEVER, Copies, Fact, Triple

Stamps = dict[Triple, int]


def closure(
    program: Program, dictionary: Dictionary, copies: Iterable[Copies], threshold: int
) -> dict[Fact, int]:
    """Every context closed from scratch: the stamp of each fact fresher than `threshold`.

    A fact that the background holds is listed in the background only.
    """
    stated: dict[int, Stamps] = {BACKGROUND: dict.fromkeys(program.axioms, FOREVER)}
    for batch in copies:
        for context, s, p, o, _graph, stamp in batch:
            if stamp > threshold:
                facts = stated.setdefault(context, {})
                facts[s, p, o] = max(stamp, facts.get((s, p, o), stamp))
    background = close(program.rules, dictionary, stated.pop(BACKGROUND), None)
    result = {(BACKGROUND, *triple): stamp for triple, stamp in background.items()}
    for context, facts in stated.items():
        closed = close(program.rules, dictionary, facts, background)
        result |= {(context, *triple): stamp for triple, stamp in closed.items()}
    return result


def close(
    rules: Iterable[CompiledRule], dictionary: Dictionary, stated: Stamps, background: Stamps | None
) -> Stamps:
    """What is stated and all it entails over a closed background, without what that one holds.

    A background of None means that the background itself is being closed.
    """
    rules = tuple(rules)
    ground = background or {}
    facts = {triple: stamp for triple, stamp in stated.items() if triple not in ground}
    changed = True
    while changed:
        changed = False
        everywhere = Lookup(facts | ground)
        cut = everywhere if background is None else Lookup(background)
        for rule in rules:
            for triple, stamp in _consequences(rule, dictionary, everywhere, cut):
                if triple not in ground and stamp > facts.get(triple, NEVER):
                    facts[triple] = stamp
                    changed = True
    return facts


class Lookup:
    """Facts by position and term, so that the naive reference is not slower than it must be."""

    def __init__(self, facts: Stamps) -> None:
        self.stamps = facts
        self._by_term: dict[tuple[int, int], list[Triple]] = {}
        for triple in facts:
            for position, term in enumerate(triple):
                self._by_term.setdefault((position, term), []).append(triple)

    def candidates(self, pattern: Triple, binding: Binding) -> Iterable[Triple]:
        """Facts among which all are that match the pattern so far bound: as few as one look-up tells."""
        found: Iterable[Triple] = self.stamps
        size = len(self.stamps)
        for position, slot in enumerate(pattern):
            term = slot if slot >= 0 else binding[~slot]
            if term != UNBOUND:
                listed = self._by_term.get((position, term), [])
                if len(listed) < size:
                    found, size = listed, len(listed)
        return found


def _consequences(
    rule: CompiledRule, dictionary: Dictionary, everywhere: Lookup, cut: Lookup
) -> Iterator[tuple[Triple, int]]:
    """What one rule concludes from the facts as they are, each derivation with its stamp."""
    partial: list[tuple[Binding, int]] = [([UNBOUND] * rule.variables, FOREVER)]
    for premise, is_cut in zip(rule.premises, rule.cut, strict=True):
        source = cut if is_cut else everywhere
        partial = [
            (extended, min(stamp, source.stamps[triple]))
            for binding, stamp in partial
            for triple in source.candidates(premise, binding)
            if match(premise, triple, extended := list(binding))
        ]
    for binding, stamp in partial:
        for triple in conclude(rule, binding, dictionary):
            yield triple, stamp
