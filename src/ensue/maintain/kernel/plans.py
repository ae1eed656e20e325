"""Rules as tables: what the interpreter of `join.py` reads.

For every premise of every rule there is a plan that starts from a fact matching it and looks the
other premises up, the most selective first; for every conclusion one that starts from the fact
concluded (retraction asks what else derives it). Selectivity is estimated from the background, as
Coror's second phase does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ensue.maintain.kernel.echoes import wants_difference
from ensue.maintain.kernel.layout import OBJECT, PREDICATE, SUBJECT, WHOLE, Array
from ensue.maintain.program import CompiledCondition, CompiledRule, Program
from ensue.model import Triple
from ensue.rules.tree import Bind, Guard
from ensue.terms import Kind

# Columns of a plan; the first three are the given pattern's slots, REPEATED is shared with steps.
REPEATED = 3
(RULE, FIRST_STEP, STEPS, FIRST_HEAD, HEADS, GIVEN_CUT, NATIVE, PLAN_GUARD, PLAN_GUARDS) = range(4, 13)
# Columns of a step; the first three are the premise's slots.
(MASK, INDEX, CUT, ALPHA, FIRST_GUARD, GUARDS) = range(4, 10)

# Column of an alpha, after its slots: whether only facts count that relate two things.
DISTINCT = 3

# Operations of a guard. Every other one is a set of kinds, as bits; these two are no such set.
EQUAL, NOT_EQUAL = -1, -2


def _kinds(*kinds: Kind) -> int:
    return sum(1 << kind for kind in kinds)


_NATIVE_GUARDS = {
    "notLiteral": _kinds(Kind.IRI, Kind.BLANK, Kind.TRIPLE),
    "isLiteral": _kinds(Kind.PLAIN, Kind.TYPED),
    "isPLiteral": _kinds(Kind.PLAIN),
    "isIRI": _kinds(Kind.IRI),
    "isBlank": _kinds(Kind.BLANK),
    "isDLiteral": _kinds(Kind.TYPED),
    "datatype": _kinds(Kind.PLAIN, Kind.TYPED),
    "simplerSpelling": _kinds(Kind.TYPED),
    "equal": EQUAL,
    "notEqual": NOT_EQUAL,
}


Alpha = tuple[int, int, int, int]
"""The constants of a premise (-1 where it has a variable), and DISTINCT."""


class Plans(NamedTuple):
    """The tables. `starts` arrays say where in a list the entries of a predicate begin."""

    plans: Array
    steps: Array
    guards: Array
    heads: Array
    forward_starts: Array
    forward: Array
    backward_starts: Array
    backward: Array
    alpha_starts: Array
    alphas: Array


@dataclass(frozen=True, slots=True)
class PlanSet:
    """The tables, and what a store must have for them."""

    tables: Plans
    masks: list[int]
    """The indexes that are looked up in."""
    variables: int
    steps: int
    given: dict[tuple[int, int], int]
    """The plan that starts from a premise, by rule and premise."""
    alpha: dict[tuple[int, int], int]
    """The alpha of a premise, by rule and premise; -1 where the predicate is a variable."""


@dataclass(slots=True)
class _Draft:
    """Tables while they are being written."""

    keep_all: bool
    masks: list[int]
    alphas: list[Alpha]
    concluded: set[int]
    """The predicates that some rule concludes."""
    statistics: Statistics
    plans: list[list[int]] = field(default_factory=list)
    steps: list[list[int]] = field(default_factory=list)
    guards: list[tuple[int, int, int]] = field(default_factory=list)
    heads: list[Triple] = field(default_factory=list)

    def index(self, mask: int) -> int:
        """The number of an index. A whole fact needs none of its own, unless facts are kept twice."""
        if mask == WHOLE and not self.keep_all:
            return 0
        if mask not in self.masks:
            self.masks.append(mask)
        return 1 + self.masks.index(mask)


_CONCLUDED_TOO = 10.0
"""How many times more matches are expected of what is not only stated: background says little of it."""


_PERHAPS = 0.5
"""The matches of a whole fact: it is there or not."""


class Statistics:
    """How many background facts match a pattern, on average, once some of its slots are bound."""

    def __init__(self, background: Array) -> None:
        """`background` has a row for each fact."""
        self._background = np.ascontiguousarray(background.T)
        self._known: dict[tuple[Triple, int], float] = {}
        self._having: dict[Triple, Array] = {}

    def matches(self, pattern: Triple, mask: int) -> float:
        """The expected number of matches of a pattern whose slots in `mask` are bound."""
        if mask == WHOLE:
            return _PERHAPS
        constants = tuple(slot if slot >= 0 else -1 for slot in pattern)
        key = ((constants[0], constants[1], constants[2]), mask)
        if key not in self._known:
            self._known[key] = self._count(key[0], mask)
        return self._known[key]

    def _count(self, constants: Triple, mask: int) -> float:
        columns = self._with(constants)
        count = len(columns[0])
        bound = [column for k, column in enumerate(columns) if mask >> k & 1 and constants[k] < 0]
        if not count:
            return _unknown(mask)
        # At most two slots are bound here, so that both fit into one number.
        if len(bound) == 2:
            return count / _distinct(bound[0].astype(np.int64) << 32 | bound[1])
        return count / _distinct(bound[0]) if bound else float(count)

    def _with(self, constants: Triple) -> Array:
        """The columns of the facts that have these constants; -1: whatever it is."""
        if constants not in self._having:
            columns = self._background
            for position, constant in enumerate(constants):
                if constant >= 0:
                    columns = columns[:, columns[position] == constant]
            self._having[constants] = columns
        return self._having[constants]


def _distinct(numbers: Array) -> int:
    """How many different numbers there are."""
    if int(numbers.max()) < 8 * len(numbers):
        return int(np.count_nonzero(np.bincount(numbers)))
    return len(np.unique(numbers))


def _unknown(mask: int) -> float:
    """What to expect of a pattern that only the stream can match.

    A stream says few things about each subject, and the same thing of many.
    """
    if mask & SUBJECT:
        return 2.0 if mask & PREDICATE else 10.0
    return 1000.0 if mask & OBJECT else 100_000.0


def make_plans(
    program: Program,
    background: Array,
    *,
    keep_all: bool,
    masks: Iterable[int] = (),
    retracts: bool = True,
) -> PlanSet:
    """Plans for every way in which a rule can fire; `masks` are indexes wanted in any case.

    What is retracted is derived again from what it could be concluded from: who never retracts needs no
    plans for that, and no indexes.
    """
    first_masks = [*([WHOLE] if keep_all else []), *masks]
    concluded = {conclusion[1] for rule in program.rules for conclusion in rule.conclusions}
    draft = _Draft(keep_all, first_masks, _alphas(program), concluded, Statistics(background))
    forward: list[tuple[int, int]] = []
    backward: list[tuple[int, int]] = []
    given: dict[tuple[int, int], int] = {}
    for number, rule in enumerate(program.rules):
        first_head = len(draft.heads)
        draft.heads.extend(rule.conclusions)
        for at, premise in enumerate(rule.premises):
            given[number, at] = len(draft.plans)
            forward.append((premise[1], len(draft.plans)))
            _write_plan(draft, number, rule, premise, first_head, skip=at)
        for conclusion in rule.conclusions if retracts else ():
            backward.append((conclusion[1], len(draft.plans)))
            _write_plan(draft, number, rule, conclusion, first_head, skip=None)
    variables = max((rule.variables for rule in program.rules), default=0)
    most_steps = max((len(rule.premises) for rule in program.rules), default=0)
    alpha = {
        (number, at): _alpha_of(draft, rule, premise)
        for number, rule in enumerate(program.rules)
        for at, premise in enumerate(rule.premises)
    }
    tables = _tables(draft, forward, backward)
    return PlanSet(tables, draft.masks, variables, most_steps, given, alpha)


def _alpha(rule: CompiledRule, premise: Triple) -> Alpha:
    s, p, o = (slot if slot >= 0 else -1 for slot in premise)
    return s, p, o, int(wants_difference(rule, premise))


def _alpha_of(draft: _Draft, rule: CompiledRule, premise: Triple) -> int:
    return draft.alphas.index(_alpha(rule, premise)) if premise[1] >= 0 else -1


def _tables(draft: _Draft, forward: list[tuple[int, int]], backward: list[tuple[int, int]]) -> Plans:
    predicates = [alpha[1] for alpha in draft.alphas]
    alpha_starts = np.searchsorted(predicates, np.arange(max(predicates, default=-1) + 2))
    return Plans(
        _matrix(draft.plans, 13),
        _matrix(draft.steps, 10),
        _matrix(draft.guards, 3),
        _matrix(draft.heads, 3),
        *_dispatch(forward),
        *_dispatch(backward),
        alpha_starts.astype(np.int32),
        _matrix(draft.alphas, 4),
    )


def _matrix(rows: Iterable[Iterable[int]], width: int) -> Array:
    return np.array([list(row) for row in rows], np.int32).reshape(-1, width)


def _dispatch(listed: list[tuple[int, int]]) -> tuple[Array, Array]:
    """Plans by the predicate given: those that name it and those that take any, in rule order."""
    named = sorted({predicate for predicate, _ in listed if predicate >= 0})
    of_any = np.array([plan for predicate, plan in listed if predicate < 0], np.int32)
    counts = np.full((named[-1] if named else -1) + 2, len(of_any), np.int64)
    parts: list[Array] = []
    done = 0
    for predicate in named:
        # Of most predicates no rule says anything.
        own = np.array([plan for p, plan in listed if p < 0 or p == predicate], np.int32)
        parts += [np.tile(of_any, predicate - done), own]
        counts[predicate] = len(own)
        done = predicate + 1
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    return starts, np.concatenate([*parts, of_any])


def _alphas(program: Program) -> list[Alpha]:
    """What facts must match for each premise that has a constant predicate, each once, by predicate."""
    found = {_alpha(rule, premise) for rule in program.rules for premise in rule.premises if premise[1] >= 0}
    return sorted(found, key=lambda alpha: (alpha[1], alpha))


def _write_plan(
    draft: _Draft, number: int, rule: CompiledRule, given: Triple, first_head: int, skip: int | None
) -> None:
    bound = {~slot for slot in given if slot < 0}
    pending = [guard for condition in rule.conditions for guard in _native(condition, rule)]
    guards = _take_guards(draft, pending, bound)
    first_step = len(draft.steps)
    waiting = [k for k in range(len(rule.premises)) if k != skip]
    while waiting:
        k = min(waiting, key=lambda k: _cost(draft, rule, k, bound)) if len(waiting) > 1 else waiting[0]
        waiting.remove(k)
        _write_step(draft, rule, k, bound, pending)
    native = bool(rule.conclusions) and all(is_native(condition, rule) for condition in rule.conditions)
    draft.plans.append(
        [
            *given,
            _repeated(given, 0),
            number,
            first_step,
            len(draft.steps) - first_step,
            first_head,
            len(rule.conclusions),
            int(skip is not None and rule.cut[skip]),
            int(native),
            *guards,
        ]
    )


def _cost(draft: _Draft, rule: CompiledRule, k: int, bound: set[int]) -> tuple[bool, bool, float]:
    """What matching a premise next would cost: connected ones first, then cut, then by statistics."""
    mask = _bound_mask(rule.premises[k], bound)
    connected = mask == WHOLE or any(~slot in bound for slot in rule.premises[k])
    matches = draft.statistics.matches(rule.premises[k], mask)
    grows = rule.premises[k][1] < 0 or rule.premises[k][1] in draft.concluded
    return not connected, not rule.cut[k], matches * _CONCLUDED_TOO if grows else matches


def _write_step(
    draft: _Draft, rule: CompiledRule, k: int, bound: set[int], pending: list[tuple[int, int, int]]
) -> None:
    premise = rule.premises[k]
    mask = _bound_mask(premise, bound)
    bound |= {~slot for slot in premise if slot < 0}
    guards = _take_guards(draft, pending, bound)
    number = _alpha_of(draft, rule, premise)
    repeated, index = _repeated(premise, mask), draft.index(mask)
    draft.steps.append([*premise, repeated, mask, index, int(rule.cut[k]), number, *guards])


def _bound_mask(pattern: Triple, bound: set[int]) -> int:
    masks = (SUBJECT, PREDICATE, OBJECT)
    return sum(m for m, slot in zip(masks, pattern, strict=True) if slot >= 0 or ~slot in bound)


def _repeated(pattern: Triple, mask: int) -> int:
    """Which pairs of free slots hold the same variable: bits for s=p, s=o, p=o."""
    pairs = ((0, 1), (0, 2), (1, 2))
    return sum(
        1 << bit
        for bit, (a, b) in enumerate(pairs)
        if pattern[a] < 0 and pattern[a] == pattern[b] and not mask >> a & 1
    )


def _take_guards(draft: _Draft, pending: list[tuple[int, int, int]], bound: set[int]) -> tuple[int, int]:
    """Write down the guards whose variables are all bound by now, and drop them from `pending`."""
    ready = [g for g in pending if all(slot >= 0 or ~slot in bound for slot in g[1:])]
    for guard in ready:
        pending.remove(guard)
    draft.guards.extend(ready)
    return len(draft.guards) - len(ready), len(ready)


def _native(compiled: CompiledCondition, rule: CompiledRule) -> list[tuple[int, int, int]]:
    """The condition as a guard that compiled code asks; for functions (`isDLiteral`) the part that it can."""
    condition = compiled.condition
    if not isinstance(condition, Guard | Bind) or condition.name not in _NATIVE_GUARDS:
        return []
    if any(slot < 0 and ~slot >= rule.body_variables for slot in compiled.args):
        return []
    return [(_NATIVE_GUARDS[condition.name], compiled.args[0], compiled.args[-1])]


def is_native(compiled: CompiledCondition, rule: CompiledRule) -> bool:
    """Whether compiled code asks a condition fully while it matches the body."""
    condition = compiled.condition
    if not isinstance(condition, Guard):
        return False
    return condition.name == "notExistSomeValuesFromRestriction" or bool(_native(compiled, rule))


EVERY_KIND = _kinds(*Kind)


def kinds_of_guard(compiled: CompiledCondition, rule: CompiledRule) -> int | None:
    """The kinds, as bits, that a condition on one variable lets pass; None if it is no such condition."""
    if not isinstance(compiled.condition, Guard):
        return None
    if compiled.condition.name == "notExistSomeValuesFromRestriction":
        return None
    native = _native(compiled, rule)
    return native[0][0] if native and native[0][0] >= 0 and len(compiled.args) == 1 else None
