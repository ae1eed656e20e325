"""The background of a reasoner, closed and planned for, as data: another process goes on with it as it is.

To read, close and plan for a million statements takes seconds and a gigabyte. All of that is arrays and rules
in the end: pickled with its arrays out of band it can be mapped from a file, and then takes neither.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.model import Copies, Facts
from ensue.plan.plans import Key
from ensue.plan.representatives import Settled
from ensue.plan.specialise import Specialised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensue.maintain.kernel.flatdictionary import TermsImage

Graphs = frozenset[str]


@dataclass(frozen=True, slots=True)
class BackgroundImage:
    """Everything that was found out about a background, in the integers of its terms."""

    terms: TermsImage
    stated: StatedImage
    loaded: Mapping[str, StatedImage]
    """The graphs of FROM and FROM NAMED, by IRI."""
    settled: Mapping[Graphs, Settled]
    facts: Mapping[Graphs, Facts]
    """The background and these graphs, closed."""
    plans: Mapping[Key, Specialised]


@dataclass(frozen=True, slots=True)
class StatedImage:
    """Statements as they were read, in columns."""

    s: NDArray[np.int32]
    p: NDArray[np.int32]
    o: NDArray[np.int32]
    graph: NDArray[np.int32]

    @classmethod
    def of(cls, copies: Copies) -> StatedImage:
        """The statements of copies of the background."""
        return cls(*(np.array(column, np.int32) for column in (copies.s, copies.p, copies.o, copies.graph)))

    def copies(self) -> Copies:
        """The same as copies."""
        return replace(Copies.lasting(self.s, self.p, self.o), graph=array("i", self.graph.tobytes()))


def in_arrays(facts: Facts) -> Facts:
    """Facts whose columns are arrays, as pickle leaves them out of band."""
    kinds: tuple[Any, ...] = (np.int32, np.int32, np.int32, np.int32, np.int64)
    columns = (facts.context, facts.s, facts.p, facts.o, facts.stamp)
    return Facts(*(np.ascontiguousarray(c, kind) for c, kind in zip(columns, kinds, strict=True)))
