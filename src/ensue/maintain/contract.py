"""The contract that every maintenance strategy keeps, and that makes them interchangeable.

A maintainer keeps contexts closed under rules, each over the shared background, while copies of
statements arrive and leave. A step is any number of `admit` and `retract`, then one `advance`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ensue.maintain.snapshot import Snapshot
from ensue.model import BACKGROUND, Change, Copies, Facts


class Maintainer(Protocol):
    """One strategy. All give the same closure and the same change after every step."""

    name: str
    stamped: bool
    """Whether the closure can be read at any threshold, or only at the one last advanced to."""

    def load_background(self, copies: Copies) -> None:
        """Add statements that never expire and that every context sees (any time, best first)."""

    def admit(self, copies: Copies) -> None:
        """Let copies in. One whose stamp is at or below the threshold has expired already."""

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went.

        The stamps of `copies` do not matter. A statement without a copy is passed over.
        """

    def advance(self, threshold: int) -> Change:
        """Expire what has a stamp at or below `threshold`; say what changed since the last call.

        The change is over all contexts but the background, and a fact that the background holds
        is never in it. A threshold never falls.
        """

    def closure(self, context: int | None, threshold: int | None = None) -> Facts:
        """What holds in a context (without what the background holds), fresher than `threshold`.

        None: in every context but the background, one after the other in order of number.
        """

    def copies(self) -> Iterable[tuple[int, int, int, int, int, int]]:
        """The copies that have not expired: (context, s, p, o, graph, stamp)."""

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use, for `Dictionary.sweep`."""

    def snapshot(self) -> Snapshot:
        """The truth (the log of copies and the threshold), in terms, not in integers."""

    def restore(self, snapshot: Snapshot) -> None:
        """Forget everything and go on from a snapshot."""

    def statistics(self) -> dict[str, int]:
        """Counters by name: facts, derivations, copies, and what else the strategy counts."""


__all__ = ["BACKGROUND", "Change", "Copies", "Facts", "Maintainer", "Snapshot"]
