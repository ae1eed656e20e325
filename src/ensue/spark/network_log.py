"""What a shard of rule networks writes down at each step: an entry of a log, as pieces.

An entry says which networks something has become of and how many nodes each has made by then; which quads
came and went; and which statements wait for their time since then. The quads of all networks are one block,
whose times are no times: they say which network a quad is of, and whether it is there or gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from ensue.networks.networks import Changed
from ensue.networks.run import Waiting
from ensue.networks.steps import Came
from ensue.networks.tree import DEFAULT
from ensue.spark.blocks import Block
from ensue.spark.pieces import Piece, of_kind
from ensue.streamfile import Timed

NETWORKS, QUADS, WAITING = "networks", "quads", "waiting"
"""The kinds of pieces: which networks, their quads, and what waits of a stream."""


class Entry(NamedTuple):
    """What one step has changed.

    >>> quad = ("", "<urn:a>", "<urn:p>", "<urn:b>")
    >>> waits = (7, 0, (7, "<urn:a>", "<urn:p>", "<urn:b>", "<urn:g>"))
    >>> entry = Entry({"<urn:k>": Changed(3, {quad: True}), "": Changed(0, {quad: False})}, [waits])
    >>> len(entry), Entry.read(entry.pieces(["urn:s"]), ["urn:s"]) == entry
    (2, True)
    """

    changed: Mapping[str, Changed]
    """What has become of networks, by their keys."""
    waiting: Sequence[Waiting] = ()

    @property
    def size(self) -> int:
        """How many records it has."""
        quads = sum(len(each.quads) for each in self.changed.values())
        return len(self.changed) + quads + len(self.waiting)

    def pieces(self, streams: Sequence[str]) -> list[Piece]:
        """To be kept; `streams` in the order of their numbers."""
        about = [(key, each.made) for key, each in self.changed.items()]
        found = [Piece("", 0, NETWORKS, json.dumps(about).encode())]
        rows = [
            (2 * number + (not there), s, p, o, graph or None)
            for number, each in enumerate(self.changed.values())
            for (graph, s, p, o), there in each.quads.items()
        ]
        if rows:
            found.append(Piece("", 0, QUADS, _block(rows)))
        for number, stream in enumerate(streams):
            if waits := [statement for _, of, statement in self.waiting if of == number]:
                found.append(Piece(stream, 0, WAITING, _block(waits)))
        return found

    @classmethod
    def read(cls, pieces: Iterable[Piece], streams: Sequence[str]) -> Entry:
        """What was kept."""
        kept = list(pieces)
        [about] = of_kind(kept, NETWORKS)
        changed = {key: Changed(made, {}) for key, made in json.loads(about.payload)}
        by_number = list(changed.values())
        for piece in of_kind(kept, QUADS):
            for what, s, p, o, graph in statements(Block.read(piece.payload)):
                by_number[what // 2].quads[graph or DEFAULT, s, p, o] = what % 2 == 0
        waiting = [
            (statement[0], streams.index(piece.stream), statement)
            for piece in of_kind(kept, WAITING)
            for statement in statements(Block.read(piece.payload))
        ]
        return cls(changed, waiting)


def statements(block: Block) -> list[Timed]:
    """The statements of a block as text."""
    terms = [*block.terms.to_pylist(), None]  # The last is for NO_GRAPH, which is -1.
    columns = (column.tolist() for column in block.columns)
    return [
        (time, terms[s], terms[p], terms[o], terms[graph])
        for time, s, p, o, graph in zip(block.stamps.tolist(), *columns, strict=True)
    ]


def came(block: Block) -> Came:
    """A block as networks take it in."""
    return Came(block.times, block.places, statements(block))


def _block(rows: Sequence[Timed]) -> bytes:
    times, *terms = zip(*rows, strict=True)
    columns = {name: pa.array(column, pa.string()) for name, column in zip("spo", terms, strict=False)}
    given = {"time": pa.array(times, pa.int64()), **columns, "graph": pa.array(terms[3], pa.string())}
    return Block.of(pa.record_batch(given)).write()
