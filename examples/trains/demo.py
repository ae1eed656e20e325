"""Trains, stations and commuters: a small live stream, closed under rules in a sliding window.

Trains report the station they stand in, commuters the train they sit in. The rules make of this, and
of what is known about stations, who is in which city, and who has got to work. A fact that nothing
renews leaves 10 seconds after the oldest report it rests on: no search for consequences, its stamp
tells. Run it with `make demo`, or `python examples/trains/demo.py --no-wait`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from ensue.dictionary import Dictionary
from ensue.files import load_background
from ensue.maintain import STRATEGIES, make
from ensue.model import Copies, Facts
from ensue.rules.load import load_rules

HERE = Path(__file__).parent
EX = "http://example.org/"
WINDOW_MS = 10_000
SECONDS = 20
LIVE = 1
"""The context of the window; 0 is the background."""

STOPS = {  # train: at which seconds it stands where
    "train1": {1: "comoLago", 2: "comoLago", 6: "monzaStation", 11: "milanoCentrale"},
    "train2": {2: "milanoLambrate", 4: "milanoLambrate", 9: "monzaStation", 14: "comoLago"},
}
SEATS = {  # commuter: at which seconds the ticket is read in which train
    "ada": {1: "train1", 5: "train1", 10: "train1"},
    "carlo": {3: "train2", 8: "train2"},
    "ines": {4: "train2", 9: "train2", 13: "train2"},
}


def reports(second: int) -> Iterator[tuple[str, str]]:
    """Who or what is reported to be where in a second."""
    for table in (STOPS, SEATS):
        for name, places in table.items():
            if second in places:
                yield name, places[second]


class Window:
    """The last ten seconds of reports, closed under the rules together with the background."""

    def __init__(self, strategy: str) -> None:
        self.dictionary = Dictionary()
        rules = load_rules("transitive-isin", HERE / "trains.rules")
        self.maintainer = make(strategy, rules, self.dictionary)
        self.maintainer.load_background(load_background([HERE / "stations.ttl"], self.dictionary))

    def step(self, second: int) -> tuple[list[str], list[str]]:
        """Let a second's reports in and old ones out; say which facts entered and which left."""
        encode = self.dictionary.encode
        is_in = encode(f"<{EX}isIn>")
        now = 1000 * second
        rows = (
            (LIVE, encode(f"<{EX}{who}>"), is_in, encode(f"<{EX}{place}>"), now)
            for who, place in reports(second)
        )
        self.maintainer.admit(Copies.of(rows))
        change = self.maintainer.advance(now - WINDOW_MS)
        return sorted(self._entered(change.inserted)), sorted(self._left(change.deleted))

    def _entered(self, facts: Facts) -> Iterator[str]:
        for _context, s, p, o, stamp in facts:
            until = f" (until {(stamp + WINDOW_MS) // 1000} s)" if self.maintainer.stamped else ""
            yield self._say(s, p, o) + until

    def _left(self, facts: Facts) -> Iterator[str]:
        return (self._say(s, p, o) for _context, s, p, o, _stamp in facts)

    def _say(self, *statement: int) -> str:
        words = (self.dictionary.decode(term).strip("<>") for term in statement)
        return " ".join(word.replace(EX, "").rpartition("#")[2] for word in words)


def run(out: TextIO, wait: Callable[[float], None], strategy: str = "expiration") -> None:
    """Replay the stream, one second at a time; `wait` is given the seconds to pass."""
    window = Window(strategy)
    entered = left = 0
    out.write(f"Reports of the last {WINDOW_MS // 1000} s, closed by {strategy}. + enters, - leaves.\n")
    for second in range(1, SECONDS + 1):
        wait(1.0)
        plus, minus = window.step(second)
        lines = [f"+ {fact}" for fact in plus] + [f"- {fact}" for fact in minus]
        for number, line in enumerate(lines or [""]):
            out.write(f"{f'{second:2} s' if number == 0 else '':6}{line}".rstrip() + "\n")
        out.flush()
        entered, left = entered + len(plus), left + len(minus)
    holding = len(window.maintainer.closure(LIVE))
    out.write(f"{SECONDS} seconds: {entered} facts entered, {left} left, {holding} still hold.\n")


def main() -> None:
    """Run the demo from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--strategy", choices=[*STRATEGIES], default="expiration")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the seconds to pass")
    args = parser.parse_args()
    run(sys.stdout, (lambda _seconds: None) if args.no_wait else time.sleep, args.strategy)


if __name__ == "__main__":
    main()
