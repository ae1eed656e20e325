"""Random cases whose background changes while they run: said at the start, or shortly before its time."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from equivalence.rulegen import SCHEMA, random_statement
from query.equivalence.cases import Advance, Case, Change, Push, Register, make_case, stays_small


def changing(seed: int) -> Case:
    """The case of a seed with one to three changes of its background."""
    case, attempt = make_case(seed), 0
    while True:
        found = _changed(case, Random(f"{seed}/{attempt}/changes"))
        if stays_small(found):
            return found
        attempt += 1


def _changed(case: Case, random: Random) -> Case:
    times = [time for action in case.actions if isinstance(action, Push) for time, _ in action.rows]
    for _ in range(random.choice((1, 1, 2, 3))):
        change = _change(case, random, random.randint(min(times), max(times) + 15))
        at = _first_in_danger(case, change.at)
        known = sum(isinstance(action, Register) for action in case.actions[:at])
        if random.random() < 0.5:  # Said as soon as the first queries are there.
            at = min(at, known or at)
        case = replace(case, actions=(*case.actions[:at], change, *case.actions[at:]))
    return case


def _first_in_danger(case: Case, time: int) -> int:
    """The number of the first action by which time may come so far; the end at the latest."""
    for number, action in enumerate(case.actions[:-1]):
        brought = [time for time, _ in action.rows] if isinstance(action, Push) else []
        if isinstance(action, Advance) and action.to is not None:
            brought = [action.to]
        if max(brought, default=time - 1) >= time:
            return number
    return len(case.actions) - 1


def _change(case: Case, random: Random, at: int) -> Change:
    before, some = case.at(at), [_statement(random) for _ in range(random.randint(0, 3))]
    graphs = random.sample(sorted(case.graphs), random.randint(0, len(case.graphs)))
    news = tuple((iri, tuple(_statement(random) for _ in range(random.randint(0, 3)))) for iri in graphs)
    if random.random() < 0.3:
        return Change(at, reloaded=tuple(some), graphs=news)
    removed = random.sample(before.background, random.randint(0, len(before.background)))
    return Change(at, tuple(some), tuple(removed), graphs=news)


def _statement(random: Random) -> tuple[str, str, str]:
    return random.choice(SCHEMA) if random.random() < 0.4 else random_statement(random)
