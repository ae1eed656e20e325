"""What is told of a fact or an answer: why, until when, and if it left, what went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ensue.errors import EnsueError
from ensue.proof.proof import Proof
from ensue.windows.spec import Window


class NotHeldError(EnsueError):
    """A fact that does not hold, or an answer that is none: there is nothing to explain."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A statement that something rested on, and why it does no more: it expired, or was retracted."""

    leaf: Proof
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something holds: a fact by one proof, an answer by one for each of its patterns."""

    about: str
    """The fact, or the values of the answer's variables."""
    proofs: tuple[Proof, ...]
    until: int | None
    """The close of the first window without it, if nothing more arrives; None: it stays, or `notes` say why
    that cannot be told. In a count window: the number of that close."""
    query: str | None = None
    window: Window | None = None
    """In which it held; None: in what is held now, or always."""
    graphs: tuple[str | None, ...] = ()
    """For each proof the graph of the query that it is in; None: the default graph."""
    partition: str | None = None
    """Of a partitioned query the key."""
    offsets: Mapping[str, int] = field(default_factory=dict)
    """What is added to the times of each stream in stamps, where windows have different ranges."""
    smallest: bool = True
    """Whether there is no smaller proof; False if the search was given up before that was sure."""
    notes: tuple[str, ...] = ()
    """What this does not explain."""
    gone: tuple[Gone, ...] = ()
    """Of what left: the leaves that went."""

    @property
    def stamp(self) -> int:
        """The least stamp of all that it rests on."""
        return min(proof.stamp for proof in self.proofs)

    def time(self, leaf: Proof) -> int:
        """When a leaf's statement came on its stream."""
        return leaf.stamp - self.offsets.get(leaf.source or "", 0)

    def __str__(self) -> str:
        from ensue.proof.text import to_text

        return to_text(self)
