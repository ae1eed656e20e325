"""The whole data path on Spark, in one function.

    source -> decode -> count -> filter -> route -> [ window -> maintain -> query ] -> merge -> sink
     lines   |-------------- prepare -------------|  |--------- a shard's step ------|

Before the shuffle everything is stateless and by the column; what crosses it are blocks. A shard is a
partition of the stateful stage, and has a reasoner of its own over all that concerns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

from pyspark.sql import DataFrame

from ensue.spark.packed import Pack, Packed
from ensue.spark.payload_files import lasting
from ensue.spark.prepare import PREPARED, Lane, Prepare
from ensue.spark.processor import STEPPED, AnyShard, ShardProcessor
from ensue.spark.results import Merging


class AnyPlan(Protocol):
    """How work is spread over shards: queries (`plan.py`), or rule networks (`network_plan.py`)."""

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys of its shards."""

    @property
    def max_line(self) -> int:
        """Bytes of a line of a stream, at most."""

    def lane(self, stream: str) -> Lane:
        """The way of a stream's statements to the shards."""

    def shards(self, pack: Pack = Packed.of) -> Iterator[tuple[int, AnyShard]]:
        """The shards by their keys; `pack` packs what all of them need."""

    def merging(self) -> Merging:
        """How results are made of what its shards give."""


def stepped(sources: Iterable[Source], plans: Iterable[AnyPlan]) -> DataFrame:
    """What comes out of the shards: the rows of `processor.STEPPED`.

    It can be started as long as this process lives.
    """
    listed = list(sources)
    files = lasting(listed[0].lines.sparkSession)
    shards = {key: shard for plan in plans for key, shard in plan.shards(files.pack)}
    return stepped_by(listed, shards, files.pack)


def stepped_by(sources: Iterable[Source], shards: Mapping[int, AnyShard], pack: Pack) -> DataFrame:
    """The same of shards by their keys; `pack` packs what tasks need."""
    blocks = [source.lines.mapInArrow(Prepare.of(source.lanes, pack), PREPARED) for source in sources]
    routed = reduce(DataFrame.union, blocks).groupBy("shard")
    processor = ShardProcessor(pack(dict(shards)))
    return routed.transformWithStateInPandas(processor, STEPPED, outputMode="append", timeMode="none")


@dataclass(frozen=True, slots=True)
class Source:
    """A streaming DataFrame of lines or chunks, and the lanes of the streams that are in it."""

    lines: DataFrame
    lanes: Mapping[str, Lane]
