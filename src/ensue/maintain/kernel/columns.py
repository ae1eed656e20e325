"""Facts on their way into the kernel, in columns."""

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel.layout import Array


class Columns:
    """Context, s, p, o and stamp, as arrays."""

    __slots__ = ("context", "o", "p", "s", "stamp")

    def __init__(self, context: Array, s: Array, p: Array, o: Array, stamp: Array) -> None:
        self.context, self.s, self.p, self.o, self.stamp = context, s, p, o, stamp

    @classmethod
    def of(cls, rows: list[tuple[int, int, int, int, int]]) -> Columns:
        """From rows of (context, s, p, o, stamp)."""
        table = np.array(rows, np.int64).reshape(-1, 5)
        context, s, p, o = (table[:, k].astype(np.int32) for k in range(4))
        return cls(context, s, p, o, table[:, 4].copy())

    @classmethod
    def joined(cls, parts: list[Columns]) -> Columns:
        """The rows of all parts, one after another."""
        if len(parts) < 2:
            return parts[0] if parts else NO_FACTS
        columns = ((c.context, c.s, c.p, c.o, c.stamp) for c in parts)
        return cls(*(np.concatenate(pieces) for pieces in zip(*columns, strict=True)))

    def __len__(self) -> int:
        return len(self.stamp)

    def take(self, which: Array | slice) -> Columns:
        """Some of the rows, in the order asked for."""
        return Columns(self.context[which], self.s[which], self.p[which], self.o[which], self.stamp[which])

    def to_read(self) -> tuple[Array, ...]:
        """The arrays as compiled functions take them: all of one type, whoever made them."""
        columns = (self.context, self.s, self.p, self.o, self.stamp)
        return tuple(to_read(np.ascontiguousarray(column)) for column in columns)


NO_FACTS = Columns.of([])


def to_read(array: Array) -> Array:
    """The same array, not to be written to: what is compiled for that also takes what nobody may write to."""
    found = array.view()
    found.flags.writeable = False
    return found
