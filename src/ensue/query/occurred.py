"""What a temporal query sees of a window: what was composed inside, and which partitions are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ensue.query.apart import NO_KEY, Present, spans
from ensue.query.dataset import Composed, column_of_terms
from ensue.query.plain import Decode, Encode
from ensue.windows.spec import Window


@dataclass(frozen=True, slots=True)
class Occurred:
    """The composed occurrences inside a window, by the numbers of expressions."""

    window: Window
    composed: Mapping[int, Composed] = field(default_factory=dict)
    present: Present = field(default_factory=dict)
    """The partitions that hold a statement of the window, if the query is partitioned."""
    unkeyed: int = 0
    """How many statements of the window are in no partition."""

    def apart(self) -> Callable[[int], Mapping[int, Composed]]:
        """What was composed in each partition, by its context."""
        ordered: dict[int, Composed] = {}
        places: dict[int, dict[int, slice]] = {}
        for number, each in self.composed.items():
            assert each.keys is not None
            ordered[number] = each.take(np.argsort(each.keys, kind="stable"))
            places[number] = spans(np.sort(each.keys))
        nowhere = slice(0)
        return lambda context: {
            number: each.take(places[number].get(context - 1, nowhere)) for number, each in ordered.items()
        }

    @property
    def terms(self) -> list[Iterable[int]]:
        """The columns of integers in use."""
        keys = [context - 1 for context in self.present]
        return [keys, *(column for each in self.composed.values() for column in each.terms)]

    def plain(self, decode: Decode) -> list[Any]:
        """The same in terms, for `of_plain`."""
        keys = [key or NO_KEY for key in decode([context - 1 for context in self.present])]
        present = [keys, list(self.present.values())]
        return [*self.window, [each.plain(decode) for each in self.composed.values()], present, self.unkeyed]

    @classmethod
    def of_plain(cls, plain: Sequence[Any], encode: Encode) -> Occurred:
        """From what `plain` gave."""
        open_, close, every, (keys, newest), unkeyed = plain
        contexts = 1 + column_of_terms(keys, encode)
        return cls(
            Window(open_, close),
            dict(enumerate(Composed.of_plain(each, encode) for each in every)),
            dict(zip(contexts.tolist(), newest, strict=True)),
            unkeyed,
        )
