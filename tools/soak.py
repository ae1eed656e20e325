"""A stream without end: all strategies must go on agreeing, and memory must not grow.

Every step brings terms that were never seen before, so a term that is not given back shows up sooner
or later. Prints a line now and then; exit code 1 if the strategies disagree or memory grows.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from ensue.dictionary import Dictionary
from ensue.maintain import STRATEGIES, make
from ensue.model import Copies
from ensue.rules.load import load_rules

IS_IN = "<http://example.org/isIn>"
WINDOW = 20
PER_STEP = 10
CONTEXT = 1
LOOK_EVERY = 50
ALLOWED_GROWTH = 1.25
MOST_TERMS = 3 * WINDOW * PER_STEP
TermTriple = tuple[str, str, str]


class Lane:
    """One strategy with a dictionary of its own."""

    def __init__(self, strategy: str) -> None:
        self.dictionary = Dictionary()
        self.maintainer = make(strategy, load_rules("transitive-isin"), self.dictionary)

    def step(self, now: int, edges: list[tuple[str, str]], gone: list[tuple[str, str]]) -> tuple[int, int]:
        """One step; how many facts entered and left."""
        self.maintainer.admit(self._copies(edges, now))
        self.maintainer.retract(self._copies(gone, now))
        change = self.maintainer.advance(now - WINDOW)
        return len(change.inserted), len(change.deleted)

    def sweep(self) -> int:
        """Give back the terms that nothing uses; how many are left."""
        self.dictionary.sweep(self.maintainer.used_terms())
        return len(self.dictionary)

    def closure(self) -> set[TermTriple]:
        """What holds, as terms."""
        text = self.dictionary.decode
        return {(text(s), text(p), text(o)) for _, s, p, o, _ in self.maintainer.closure(CONTEXT)}

    def _copies(self, edges: list[tuple[str, str]], stamp: int) -> Copies:
        encode = self.dictionary.encode
        is_in = encode(IS_IN)
        return Copies.of((CONTEXT, encode(s), is_in, encode(o), stamp) for s, o in edges)


def edges_of(now: int, rng: random.Random) -> list[tuple[str, str]]:
    """New things in places that are new, or a few steps old."""
    return [
        (f"<urn:t{now}-{i}>", f"<urn:t{now - rng.randrange(1, 8)}-{rng.randrange(PER_STEP)}>")
        for i in range(PER_STEP)
    ]


def resident_megabytes() -> float:
    """The memory of this process that is in use, 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 / 1e6 if statm.exists() else 0.0


def soak(seconds: float, seed: int) -> str | None:
    """Run for so long; what went wrong, or None."""
    rng = random.Random(seed)
    lanes = {strategy: Lane(strategy) for strategy in STRATEGIES}
    began = time.monotonic()
    settled, now, before = 0.0, 0, [("<urn:none>", "<urn:none>")]
    while (spent := time.monotonic() - began) < seconds:
        now += 1
        edges = edges_of(now, rng)
        changes = {lane.step(now, edges, before[:2]) for lane in lanes.values()}
        before = edges
        if len(changes) > 1:
            return f"step {now}: the changes differ: {changes}"
        if now % LOOK_EVERY == 0:
            closures = [lane.closure() for lane in lanes.values()]
            if any(closure != closures[0] for closure in closures):
                return f"step {now}: the closures differ"
            memory = resident_megabytes()
            terms = max(lane.sweep() for lane in lanes.values())
            print(
                f"{spent:6.0f} s, step {now:,}: {len(closures[0]):,} facts, {terms:,} terms, {memory:.0f} MB"
            )
            if terms > MOST_TERMS:
                return f"step {now}: {terms:,} terms are kept, though the window names far fewer"
            if spent < seconds / 3:
                settled = max(settled, memory)
            elif settled and memory > ALLOWED_GROWTH * settled:
                return f"step {now}: memory grew from {settled:.0f} MB to {memory:.0f} MB"
    return None if settled else "too short to tell: give it more seconds"


def main() -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    problem = soak(args.seconds, args.seed)
    print(problem or "all strategies agreed at every step, and memory stayed flat")
    return 1 if problem else 0


if __name__ == "__main__":
    raise SystemExit(main())
