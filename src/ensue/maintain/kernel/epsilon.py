"""The epsilon table: everything that one fact implies by linear rules, each once (seed: Sparkwave).

Linear rules become links (`links.py`), and these, closed under each other (`network.py`), a table from a
predicate, or a predicate and an object, to templates of all that follows. Facts put from the table need not
be looked at again by linear rules, and if no other rule wants them, not at all: that is what makes
hierarchies cheap.

Premises marked as cut match background alone for ever. Others are taken to as long as nothing outside
the background has matched their constants; the first such match makes the table anew without them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ensue.maintain.kernel.echoes import is_difference
from ensue.maintain.kernel.layout import END, PUT_ALONE, PUT_CLOSED, PUT_FULLY, Array, O, Store
from ensue.maintain.kernel.links import ANY, THE_OBJECT, THE_PREDICATE, THE_SUBJECT, ground
from ensue.maintain.kernel.needed import Needed
from ensue.maintain.kernel.network import Guarded, Key, Network, TooMuchFollows, covers, fill, implied_by
from ensue.maintain.kernel.plans import EVERY_KIND, GIVEN_CUT, PlanSet, kinds_of_guard
from ensue.maintain.program import CompiledRule, Program
from ensue.model import Triple

_MOST_MATCHES = 200_000
"""A rule with more links than this is about data, not schema: then joining is the better way.

To make so many takes a second. A class hierarchy of 10,000 types, five levels deep, has 50,000."""

_MOST_ROWS = 4_000_000
"""So much may follow from all keys together, for 24 bytes each. The rules with most links do without the
table where it would be more."""


@dataclass(slots=True)
class Epsilon:
    """Linear rules with their other premises filled in, and what that rests on."""

    network: Network
    plans: set[int] = field(default_factory=set)
    """The plans that the table stands for."""
    assumed: set[int] = field(default_factory=set)
    """The premises (by alpha) that must not match anything outside the background."""


@dataclass(frozen=True, slots=True)
class _Linear:
    """A rule, by its number, with the premise that the stream may match, and its links."""

    number: int
    rule: CompiledRule
    at: int
    links: Array


def make_epsilon(
    program: Program,
    planned: PlanSet,
    background: Array,
    matched: set[int],
    kinds: bytes | bytearray,
    most_rows: int = _MOST_ROWS,
) -> Epsilon:
    """The table over a closed background; `matched` are alphas that the stream has matched."""
    linear = list(_linear(program, planned, background, matched, kinds))
    network = Network(implied_by(each.links for each in linear), kinds)
    while not _is_small(network, most_rows):
        linear.remove(max(linear, key=lambda each: len(each.links)))
        network = Network(implied_by(each.links for each in linear), kinds)
    epsilon = Epsilon(network)
    for each in linear:
        epsilon.plans.add(planned.given[each.number, each.at])
        epsilon.assumed.update(_alphas(each.rule, each.number, each.at, planned))
    return epsilon


def _is_small(network: Network, most_rows: int) -> bool:
    try:
        for key in network.implied:
            network.reached(key, most_rows)
    except TooMuchFollows:
        return False
    return True


def _linear(
    program: Program, planned: PlanSet, background: Array, matched: set[int], kinds: bytes | bytearray
) -> Iterator[_Linear]:
    """The rules that become links, each by the first of its premises for which that can be."""
    candidates = [
        (number, rule, at)
        for number, rule in enumerate(program.rules)
        for at in _live_premises(rule, number, planned, matched)
    ]
    schema = {premise[1] for _, rule, at in candidates for premise in _others(rule, at)}
    # A premise with a variable for a predicate may match any of it.
    rows = background if min(schema, default=0) < 0 else background[np.isin(background[:, 1], list(schema))]
    done: set[int] = set()
    for number, rule, at in candidates:
        if number not in done:
            links = ground(rule, at, rows, np.frombuffer(kinds, np.uint8), _MOST_MATCHES)
            if links is not None:
                done.add(number)
                yield _Linear(number, rule, at, links)


def _others(rule: CompiledRule, at: int) -> list[Triple]:
    return [premise for k, premise in enumerate(rule.premises) if k != at]


def _live_premises(rule: CompiledRule, number: int, planned: PlanSet, matched: set[int]) -> Iterator[int]:
    """The premises that the stream may match while the others match background alone."""
    if not rule.conclusions:
        return  # A watched pattern: each solution of it is wanted.
    if not all(is_difference(c) or kinds_of_guard(c, rule) is not None for c in rule.conditions):
        return
    for at, premise in enumerate(rule.premises):
        others = [q for k, q in enumerate(rule.premises) if k != at and not rule.cut[k]]
        apart = all(q[1] >= 0 and (premise[1] < 0 or _differ(q, premise)) for q in others)
        if not rule.cut[at] and apart and not matched & set(_alphas(rule, number, at, planned)):
            yield at


def _differ(a: Iterable[int], b: Iterable[int]) -> bool:
    """Whether no fact can match both patterns: then one is schema to the other."""
    return any(x >= 0 and y >= 0 and x != y for x, y in zip(a, b, strict=True))


def _alphas(rule: CompiledRule, number: int, at: int, planned: PlanSet) -> Iterable[int]:
    return [planned.alpha[number, k] for k in range(len(rule.premises)) if k != at and not rule.cut[k]]


@dataclass(frozen=True, slots=True)
class Table:
    """The closed rules as compiled code reads them: keys, where their templates are, and these."""

    keys: Array
    starts: Array
    rows: Array


def make_table(epsilon: Epsilon, planned: PlanSet, background: Array, needed: Needed | None = None) -> Table:
    """Everything that follows from a fact of each key, without what the background holds.

    `needed`: and without what nobody asks for.
    """
    network = epsilon.network
    keys_wanted = [*network.implied.keys() | _known_predicates(network, background)]
    entries = [_entry(network, key) for key in keys_wanted]
    rows, kept = _rows(epsilon, planned, background, needed)
    size = 16
    while size < 2 * len(keys_wanted):
        size *= 2
    keys, starts = [(END - 1, END - 1)] * size, [(0, 0)] * size
    chosen = array("i")
    for key, entry in zip(keys_wanted, entries, strict=True):
        first = len(chosen)
        chosen.extend([node for node in entry if kept[node]])
        at = epsilon_home(key[0], key[1], size)
        while keys[at][0] != END - 1:
            at = (at + 1) & (size - 1)
        keys[at], starts[at] = key, (first, len(chosen))
    return Table(np.array(keys, np.int32), np.array(starts, np.int32), rows[np.frombuffer(chosen, np.int32)])


def _entry(network: Network, key: Key) -> list[int]:
    """The nodes that a key's entry puts: without what the entry for any object does, or another node."""
    reached = network.reached(key)
    of_any = network.reached((key[0], ANY)) if key[1] != ANY else []
    known = _at_object((network.nodes[node] for node in of_any), key[1])
    nodes = network.nodes
    if all(nodes[node][1:] == (EVERY_KIND, EVERY_KIND) for node in reached):
        return [node for node in reached if nodes[node] not in known] if known else reached
    strongest = _strongest([*(nodes[node] for node in reached), *known])
    return [n for n in reached if nodes[n] not in known and nodes[n] in strongest[nodes[n][0]]]


def _rows(
    epsilon: Epsilon, planned: PlanSet, background: Array, needed: Needed | None
) -> tuple[Array, list[bool]]:
    """All nodes as rows of the table, and which of them are to be put at all."""
    network = epsilon.network
    ground = _among(background, [template for template, *_ in network.nodes])
    how: list[int | None] = []
    for guarded in network.nodes:
        known = guarded[0] in ground
        open_ended = network.is_open(guarded)
        how.append(None if known else _how(guarded[0], open_ended, epsilon, planned, needed))
    rows = [
        (*template, end or 0, *guards) for (template, *guards), end in zip(network.nodes, how, strict=True)
    ]
    return np.array(rows, np.int32).reshape(-1, 6), [end is not None for end in how]


def _among(background: Array, templates: Sequence[Triple]) -> set[Triple]:
    """Those facts of the background that templates can be, and perhaps others: it may have millions."""
    wanted = np.array(templates, np.int32).reshape(-1, 3)
    for position in range(3):
        background = background[np.isin(background[:, position], wanted[:, position])]
    return {(s, p, o) for s, p, o in background.tolist()}


def _known_predicates(network: Network, background: Array) -> set[Key]:
    """Keys for any predicate, and for each of which the background holds all that follows anyway."""
    if not network.implied:
        return set()
    closed = (network.nodes[node][0] for node in network.reached((ANY, ANY)))
    about = [template for template in closed if template[0] == THE_PREDICATE and template[2] != THE_OBJECT]
    known: set[int] | None = None
    for _, p, o in about:
        rows = background[background[:, 1] == p]
        rows = rows[rows[:, 2] == (rows[:, 0] if o == THE_PREDICATE else o)]
        known = set(rows[:, 0].tolist()) if known is None else known & set(rows[:, 0].tolist())
    few = known or set() if len(known or ()) <= _MOST_MATCHES else set()
    return {(ANY, ANY), *((predicate, ANY) for predicate in few)}


def install(store: Store, epsilon: Epsilon, table: Table) -> Store:
    """The store with the table in it; what it assumes is watched from now on."""
    store.assumed[list(epsilon.assumed)] = 1
    return store._replace(epsilon_keys=table.keys, epsilon_starts=table.starts, epsilon=table.rows)


def _at_object(closed: Iterable[Guarded], o: int) -> set[Guarded]:
    """What the entry for any object puts in the case of this one, whatever its kind."""
    return {
        (fill(template, THE_SUBJECT, THE_PREDICATE, o), subject_kinds, object_kinds)
        for template, subject_kinds, object_kinds in closed
        if object_kinds == EVERY_KIND
    }


def _strongest(entries: Iterable[Guarded]) -> dict[Triple, list[Guarded]]:
    """For each template the entries that no other entry of it makes superfluous."""
    by_template: dict[Triple, list[Guarded]] = {}
    for guarded in entries:
        by_template.setdefault(guarded[0], []).append(guarded)
    return {
        template: [g for g in alike if not any(h != g and covers(h, g) for h in alike)]
        for template, alike in by_template.items()
    }


def epsilon_home(predicate: int, o: int, size: int) -> int:
    """Where a key's search in the table begins; `join.py` computes the same, compiled."""
    mixed = predicate * 40_503 + o * 30_011
    return (mixed ^ mixed >> 16) & (size - 1)


def _how(
    template: Triple, open_ended: bool, epsilon: Epsilon, planned: PlanSet, needed: Needed | None
) -> int | None:
    """What has to be done with a fact that this template makes once it is put; None: it need not be."""
    tables, predicate = planned.tables, template[1]
    if open_ended or predicate < 0:
        return PUT_FULLY
    at = min(predicate, len(tables.forward_starts) - 2)
    listed = tables.forward[tables.forward_starts[at] : tables.forward_starts[at + 1]]
    # By the column: rules over lists become thousands of plans that ask for the same predicate.
    given, wanted = tables.plans[listed, : O + 1], np.array(template)
    differ = ((given >= 0) & (wanted >= 0) & (given != wanted)).any(axis=1)
    asking = set(listed[(tables.plans[listed, GIVEN_CUT] == 0) & ~differ].tolist())
    if needed is not None and asking <= needed.done:
        return None
    return PUT_ALONE if asking <= epsilon.plans else PUT_CLOSED
