"""Rules and background made for what will be read, and for nothing else (seed: QSMat, Algorithm 2).

What is asked for is followed backwards through the rules (`backward.py`). Of the rules those are left that
can help to make it, of each the conclusions that do; of the closed background those statements that it asks
for or that the rules left are grounded in. Joining rules have their cut premises filled in (`ground.py`).
A stream that brings schema can make more of it all: what was assumed is said, and whoever uses this looks
out for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ensue.plan import backward
from ensue.plan.asked import AsksForEverything, Graphs
from ensue.plan.backward import Need, Needs
from ensue.plan.cuts import Cuts, goal_of
from ensue.plan.ground import residual
from ensue.plan.heads import Head
from ensue.plan.known import Closed, Rows
from ensue.plan.loops import LoopFree, without_loops
from ensue.plan.narrow import narrowed
from ensue.plan.report import Report, counted
from ensue.plan.shapes import ANY, Shape, overlap, shape_of
from ensue.plan.shapes import some as some_of
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Rule, RuleSet

Reader = tuple[ContinuousQuery, Graphs]
"""A query, and which of its graphs are read from what is specialised."""


@dataclass(frozen=True, slots=True)
class Specialised:
    """Rules and background for some readers."""

    rules: RuleSet
    background: Rows | None
    """The statements of the closed background that are needed; None: all that was stated."""
    needed: tuple[Shape, ...] = (ANY,)
    """Facts of other shapes matter to nobody."""
    assumed: tuple[Shape, ...] = ()
    """It holds only as long as no stream brings a statement of one of these shapes."""
    everything_because: str | None = None
    """Why nothing was left out; None: something may have been."""
    reports: tuple[Report, ...] = ()

    def does_the_same(self, other: Specialised) -> bool:
        """Whether whoever was made for this does for the other, too."""
        return self.rules == other.rules and self.assumed == other.assumed and self._same_background(other)

    def _same_background(self, other: Specialised) -> bool:
        if self.background is None or other.background is None:
            return self.background is other.background
        return np.array_equal(self.background, other.background)


def specialise(readers: Iterable[Reader], rules: RuleSet, background: Closed) -> Specialised:
    """The rules and the background that answers of some queries rest on.

    >>> from ensue.plan.asked import OneWindow
    >>> from ensue.plan.known import close
    >>> from ensue.query.language import parse_query
    >>> from ensue.rules.load import load_rules
    >>> rules = load_rules("rdfs-jena")
    >>> below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    >>> known = close(rules, [("<urn:Cat>", below, "<urn:Animal>"), ("<urn:Oak>", below, "<urn:Tree>")])
    >>> query = parse_query("ASK FROM STREAM <urn:s> [RANGE 1s] { ?x a <urn:Animal> }")
    >>> found = specialise([(query, OneWindow(None))], rules, known)
    >>> [rule.name for rule in found.rules.rules], known.statements(found.background)
    (['rdfs9'], [('<urn:Cat>', '<http://www.w3.org/2000/01/rdf-schema#subClassOf>', '<urn:Animal>')])
    """
    every = list(readers)
    loop_free = without_loops(rules, background)
    found = None if loop_free is None else _without_loops(every, loop_free, background)
    return found or _specialised_for(every, rules, background)


def _without_loops(readers: Sequence[Reader], loop_free: LoopFree, background: Closed) -> Specialised | None:
    """The same where loops are left out; None: somebody asks for them, or everything is needed anyway."""
    found = _specialised_for(readers, loop_free.rules, background, loop_free)
    if found.everything_because is not None:
        return None
    said = ", ".join(sorted(loop_free.loops))
    report = Report("loops", f"that everything is {said} of itself is left out: nobody asks for it")
    return replace(found, reports=(report, *found.reports))


def _specialised_for(
    readers: Sequence[Reader], rules: RuleSet, background: Closed, loop_free: LoopFree | None = None
) -> Specialised:
    cuts = Cuts.of(rules, background)
    asked: dict[Need, None] = {}
    goals = list(loop_free.goals) if loop_free else []
    for query, graphs in readers:
        try:
            found = narrowed(query, graphs, cuts)
        except AsksForEverything as reason:
            return Specialised(rules, None, everything_because=f"query {query.name}: {reason}")
        if loop_free and not loop_free.serves(found.shapes):
            return Specialised(rules, None, everything_because=f"query {query.name} asks for loops")
        asked |= dict.fromkeys(map(Need, found.shapes))
        goals += found.goals
    needs = backward.close(cuts, asked)
    shapes = needs.by_key[None].widest() if asked else ()
    if ANY in shapes:
        why = f"any statement can matter: {', and '.join(needs.chain(Need(ANY)))}"
        return Specialised(rules, None, everything_because=why)
    kept = background.rows({*shapes, *needs.grounds})
    assumed = cuts.assumed_by([*goals, *map(goal_of, needs.cuts), *needs.goals])
    fates = [_fate(rule, heads, cuts, needs, shapes) for rule, heads in cuts.by_rule()]
    left = tuple(rule for fate in fates for rule in fate.left)
    meant = background.meant
    reports = (
        Report("patterns", f"what is asked for, and what it can rest on, is {some_of(meant(shapes))}"),
        Report("rules", f"{_kept(fates)} of {len(fates)} are needed", tuple(map(str, fates))),
        Report(
            "background",
            f"{len(kept):,} of {len(background):,} statements are needed",
            tuple(f"{of}: {some:,} of {all_of:,}" for of, some, all_of in background.counted(kept)),
        ),
    )
    smaller = replace(rules, rules=left, axioms=())
    return Specialised(smaller, kept, meant(shapes), meant(assumed), None, reports)


@dataclass(frozen=True, slots=True)
class _Fate:
    """What became of a rule: what is left of it, and why so."""

    rule: Rule
    left: tuple[Rule, ...]
    why: str

    def __str__(self) -> str:
        return f"{'+' if self.left else '-'} {self.rule.name}: {self.why}"


def _kept(fates: Iterable[_Fate]) -> int:
    return sum(bool(fate.left) for fate in fates)


def _fate(rule: Rule, heads: Sequence[Head], cuts: Cuts, needs: Needs, asked: tuple[Shape, ...]) -> _Fate:
    needed = [head for head in heads if head in needs.heads]
    if not needed:
        return _Fate(rule, (), _why_not(heads, cuts, asked))
    left = tuple(each for each in _specialised(rule, needed, cuts) if _is_asked_for(each, asked))
    if len(needed) < len(heads):
        return _Fate(rule, left, f"{len(needed)} of its {len(heads)} conclusions are needed")
    if left and len(left[0].premises) < len(rule.premises):
        return _Fate(rule, left, f"filled in from the background: {counted(len(left), 'rule')}")
    return _Fate(rule, left, "needed")


def _is_asked_for(rule: Rule, asked: tuple[Shape, ...]) -> bool:
    """Whether a rule that was filled in can conclude something that is needed."""
    return any(overlap(shape_of(each), shape) for each in rule.conclusions for shape in asked)


def _why_not(heads: Sequence[Head], cuts: Cuts, asked: tuple[Shape, ...]) -> str:
    """Why a rule does nothing for the streams."""
    wanted = [head for head in heads if any(head.unify(shape) is not None for shape in asked)]
    if not wanted:
        return "what it concludes is not asked for"
    if not any(cuts.live(head) for head in wanted):
        return "all its premises are schema: it has done its work in the background"
    return "the background has nothing that its schema premises match, for what is asked"


def _specialised(rule: Rule, heads: Sequence[Head], cuts: Cuts) -> Iterable[Rule]:
    conclusions = tuple(head.conclusion for head in heads)
    smaller = replace(rule, premises=cuts.marked(rule, heads), conclusions=conclusions)
    return residual(smaller, cuts.known) or [smaller]
