"""How many facts each rule derived, for the error that says so."""

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel.layout import CONTEXT, DEAD, FLAGS, ROWS, Array, O, Store
from ensue.maintain.program import CompiledRule, Program

_SAMPLE = 20_000


def derived_by_rule(program: Program, store: Store) -> dict[str, int]:
    """The numbers of new facts by the names of rules.

    Linear rules are counted together, since a table gives at once all that they derive one from another:
    that number is divided by how many facts of a sample each of them could have concluded.
    """
    counts, together = store.made[:-1].copy(), int(store.made[-1])
    if together:
        sample = _sample(store)
        shares = np.array([_matching(rule, sample) for rule in program.rules], np.int64)
        counts += together * shares // max(1, int(shares.sum()))
    found: dict[str, int] = {}
    for rule, count in zip(program.rules, counts.tolist(), strict=True):
        found[rule.name] = found.get(rule.name, 0) + count
    return found


def _sample(store: Store) -> Array:
    """Some facts outside the background, taken evenly."""
    used = int(store.meta[ROWS])
    rows = store.rows[: used : max(1, used // _SAMPLE)]
    return rows[(rows[:, CONTEXT] > 0) & (rows[:, FLAGS] & DEAD == 0), : O + 1]


def _matching(rule: CompiledRule, facts: Array) -> int:
    """How many facts a conclusion of a rule matches, by its constants."""
    matching = np.zeros(len(facts), np.bool_)
    for head in rule.conclusions:
        constants = [k for k, slot in enumerate(head) if slot >= 0]
        matching |= (facts[:, constants] == [head[k] for k in constants]).all(axis=1)
    return int(matching.sum())
