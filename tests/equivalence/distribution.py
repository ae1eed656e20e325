"""What the random cases exercise, measured case by case: a test that never recurses proves little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ensue.rules.tree import Var

from . import plain
from .cases import Admit, Case, Learn, Retract, Statement
from .replay import Expected, Truth

Copies = dict[Statement, set[int]]
"""The stamps of the copies of each statement of a context."""

Held = dict[Statement, int]
"""What holds in a context."""


@dataclass(frozen=True)
class Features:
    """What one case has in it."""

    deep: bool
    """Some fact of a context needs three rounds or more, over a background that is closed already."""
    recursive: bool
    """Some fact of a context is derived by a rule from what that same rule gave."""
    competing: bool
    """Some fact has two copies or derivations, of different stamps, at the same time."""
    competing_derivations: bool
    """The same, and one of the two at least is a derivation (that does not rest on the fact itself)."""
    other: frozenset[str]


def features(case: Case, answers: list[Expected]) -> Features:
    """Measure one case; `answers` are its expected answers."""
    deep = recursive = copies = derivations = False
    truth, names = Truth(case), plain.Names(case.nesting)
    for step, answer in zip(case.steps, answers, strict=True):
        for operation in step.operations:
            truth.apply(operation)
        truth.advance(step.threshold)
        for stated, held in _contexts(truth, answer):
            if not (deep and recursive):
                origins = plain.close(case.rules.rules, stated, answer.background, names)
                deep = deep or any(origin.round >= 3 for origin in origins.values())
                recursive = recursive or any(origin.recursive for origin in origins.values())
            copies = copies or any(len(stamps) > 1 for stamps in stated.values())
            derivations = derivations or _derivations_compete(case, stated, held, answer.background, names)
    return Features(deep, recursive, copies or derivations, derivations, frozenset(_other(case)))


def _contexts(truth: Truth, answer: Expected) -> Iterator[tuple[Copies, Held]]:
    """For each context, the stamps of the copies of each statement, and what holds."""
    for context in {copy.context for copy in truth.copies}:
        stated: Copies = {}
        for copy in truth.copies:
            if copy.context == context and copy.statement not in answer.background:
                stated.setdefault(copy.statement, set()).add(copy.stamp)
        yield stated, {fact: stamp for (at, fact), stamp in answer.stamps.items() if at == context}


def _derivations_compete(
    case: Case, stated: Copies, held: Held, ground: frozenset[Statement], names: plain.Names
) -> bool:
    for fact, ways in _derivations(case, held, ground, names).items():
        copies = stated.get(fact, set())
        if len(copies | ways.keys()) > 1:
            # A cycle can bring a fact back to itself, older. That is no rival: look without the fact.
            sound = set()
            for stamp, bodies in ways.items():
                fresh = (other for other, stamps in stated.items() if other != fact and max(stamps) >= stamp)
                rest = {*plain.close(case.rules.rules, fresh, ground, names, never=fact), *ground}
                if any(rest.issuperset(premises) for premises in bodies):
                    sound.add(stamp)
                if sound and len(sound | copies) > 1:
                    return True
    return False


def _derivations(
    case: Case, held: Held, ground: frozenset[Statement], names: plain.Names
) -> dict[Statement, dict[int, list[tuple[Statement, ...]]]]:
    """Every derivation of every fact that is not background: the premises, by fact and stamp."""
    everywhere, cut = plain.Index({*held, *ground}), plain.Index(ground)
    found: dict[Statement, dict[int, list[tuple[Statement, ...]]]] = {}
    for rule in case.rules.rules:
        for fact, premises in plain.derivations(rule, everywhere, cut, names):
            timed = [held[premise] for premise in premises if premise in held]
            if fact not in ground and fact not in premises and timed:
                found.setdefault(fact, {}).setdefault(min(timed), []).append(premises)
    return found


def _other(case: Case) -> Iterator[str]:
    """Names of what else is in a case."""
    rules = case.rules.rules
    operations = [operation for step in case.steps for operation in step.operations]
    copies = [copy for operation in operations if isinstance(operation, Admit) for copy in operation.copies]
    yield from {f"a rule with {len(rule.premises)} premises" for rule in rules}
    for name, present in {
        "variable predicates": any(isinstance(p.pattern.p, Var) for rule in rules for p in rule.premises),
        "cut premises": any(premise.cut for rule in rules for premise in rule.premises),
        "conditions": any(rule.conditions for rule in rules),
        "several contexts": len({copy.context for copy in copies}) > 1,
        "repeated copies": len(copies) > len({(copy.context, copy.statement) for copy in copies}),
        "late copies": _has_late(case),
        "retractions": any(isinstance(operation, Retract) for operation in operations),
        "late background": any(isinstance(operation, Learn) for operation in operations),
        "swept terms": any(step.then == "sweep" for step in case.steps),
        "restarts": any(step.then == "restart" for step in case.steps),
    }.items():
        if present:
            yield name


def _has_late(case: Case) -> bool:
    newest = None
    for step in case.steps:
        arrived = [c.stamp for op in step.operations if isinstance(op, Admit) for c in op.copies]
        if newest is not None and any(stamp < newest for stamp in arrived):
            return True
        newest = max([*arrived, *([] if newest is None else [newest])], default=None)
    return False


def summary(measured: Iterable[Features]) -> str:
    """The distribution as text, one line a feature."""
    measured = list(measured)
    counts = Counter(name for case in measured for name in case.other)
    top = {
        "three rounds or recursion": sum(case.deep or case.recursive for case in measured),
        "  three rounds or more": sum(case.deep for case in measured),
        "  recursion": sum(case.recursive for case in measured),
        "competing stamps": sum(case.competing for case in measured),
        "  of derivations": sum(case.competing_derivations for case in measured),
    }
    lines = [f"equivalence: {len(measured)} random cases"]
    for name, count in (*top.items(), *sorted(counts.items(), key=lambda item: -item[1])):
        lines.append(f"  {name:<28}{count:>6}  {count / len(measured):>4.0%}")
    return "\n".join(lines)
