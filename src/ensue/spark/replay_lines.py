"""Runs of lines as columns of lines, and lines as time and statement. No Spark in here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# Eighteen digits always fit into 64 bits.
_TIMED = r"\A-?[0-9]{1,18}\t"


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines with their ends, and how many bytes are before each: one number more than lines."""

    text: pa.StringArray
    cuts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, data: bytes | pa.Buffer) -> Lines:
        r"""The lines of some bytes, which are not copied. What is not UTF-8 is left for `decode` to find.

        >>> Lines.of(b"5\ta\noops").cuts.tolist()
        [0, 4, 8]
        """
        characters = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(characters == ord("\n")) + 1
        if len(characters) and characters[-1] != ord("\n"):
            ends = np.append(ends, len(characters))
        cuts = np.concatenate(([0], ends))
        buffers = [None, pa.py_buffer(cuts.astype(np.int32)), pa.py_buffer(data)]
        return cls(pa.StringArray.from_buffers(len(ends), buffers[1], buffers[2]), cuts)

    def times(self) -> pa.Int64Array:
        """The time of each line; null where a line does not begin with one."""
        return timed(self.text)[0]


def timed(lines: pa.StringArray) -> tuple[pa.Int64Array, pa.StringArray]:
    r"""Lines as time and statement; without a plain time it is null, and the statement is the whole line.

    >>> times, statements = timed(pa.array(["5\t<urn:a> <urn:p> <urn:b> .\n", "oops\n"]))
    >>> times.to_pylist(), statements.to_pylist()
    ([5, None], ['<urn:a> <urn:p> <urn:b> .', 'oops'])
    """
    bare = pc.ascii_rtrim(lines, "\r\n")
    fits = pc.match_substring_regex(bare, _TIMED)
    pieces = pc.split_pattern(bare.filter(fits), "\t", max_splits=1)
    heads, tails = pc.list_element(pieces, 0), pc.list_element(pieces, 1)
    times = pc.replace_with_mask(pa.nulls(len(lines), pa.int64()), fits, heads.cast(pa.int64()))
    return times, pc.replace_with_mask(bare, fits, tails)
