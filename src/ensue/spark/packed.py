"""What tasks are sent, in bytes, unpacked once a worker: Spark sends a function with each of its tasks."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")

_UNPACKED: dict[str, Any] = {}
"""Workers live through many micro-batches, and this lives with them."""


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    """Something in bytes. Two are equal that are the same something.

    >>> one, other = Packed.of(("a", 1)), Packed.of(("a", 1))
    >>> one == other, one.value() is other.value()
    (True, True)
    """

    digest: str
    data: bytes = field(compare=False, repr=False)

    @classmethod
    def of(cls, value: T) -> Packed[T]:
        """Pack something."""
        data = pickle.dumps(value)
        return cls(blake2b(data, digest_size=16).hexdigest(), data)

    def value(self) -> T:
        """What was packed: the same object each time."""
        if self.digest not in _UNPACKED:
            # Trusted: it came by the way that the code itself came.
            _UNPACKED[self.digest] = pickle.loads(self.data)
        return cast("T", _UNPACKED[self.digest])
