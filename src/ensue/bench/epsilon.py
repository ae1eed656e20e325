"""The epsilon table in Spark's stateless stage: how many statements it derives in a second.

Blocks of links and types under a class-and-property hierarchy are made in the workers, expanded there, and
counted; nothing is shuffled. Beside it the same blocks pass through as they are. A sample is compared with
the closure of each statement by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ensue.bench.harness import Chart, Experiment, Result, Row, Table, progress
from ensue.bench.hierarchy import Hierarchy, hierarchy_rules
from ensue.bench.ontology import TYPE, Statement
from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain import make
from ensue.model import Copies
from ensue.plan import linear
from ensue.plan.epsilon import EpsilonTable
from ensue.plan.known import close
from ensue.spark.blocks import NO_GRAPH, Block
from ensue.spark.expand import Expander
from ensue.spark.packed import Packed
from ensue.spark.session import embedded
from ensue.windows.runs import Runs

_COUNTED = "arrived long, out long, cpu double"
_THINGS = 20_000
"""Individuals of a block: each is spoken of a few times."""


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    statements: int = 1_500_000
    block: int = 65_536
    cores: int = 2
    repeats: int = 3
    sample: int = 500
    seed: int = 1
    sizes: Sequence[str] = ("small", "medium", "large")


@dataclass(frozen=True, slots=True)
class Size:
    """A hierarchy; of `typed` of ten statements the predicate is rdf:type."""

    depth: int
    fanout: int
    properties: int
    typed: int = 5


SIZES = {
    "small": Size(2, 2, 5),
    "medium": Size(5, 4, 50),
    "large": Size(5, 6, 500),
}
"""With 7, 1,365 and 9,331 types."""


class Ran(NamedTuple):
    """A job that ran: by the wall, in statements, and by the clocks of the workers' own work."""

    seconds: float
    arrived: int
    out: int
    cpu: float

    @property
    def derived(self) -> int:
        """How many statements were added."""
        return self.out - self.arrived


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    if unknown := set(options.sizes) - set(SIZES):
        raise UsageError(f"no size '{min(unknown)}'", hint=f"some of {', '.join(SIZES)}")
    return Experiment(
        "epsilon",
        f"{options.statements:,} statements, half of them types and half links, under class trees with "
        "domains, ranges and superproperties; all linear rules applied before the shuffle",
        asdict(options) | {"sizes": ", ".join(options.sizes)},
        "pass-through: the same blocks made and counted as they are",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """All sizes, in one session."""
    rows: list[Row] = []
    with embedded(cores=options.cores, shards=options.cores, memory=None, say=progress) as spark:
        for name in options.sizes:
            rows.append(measured(spark, name, options))
    notes = [
        f"{row['hierarchy']}: {row['derived/s']:,} derived statements/s on {options.cores} cores "
        f"({row['derived a CPU second']:,} a CPU second), "
        f"{row['arriving/s']:,} arriving/s, {row['of pass-through']:.0%} of pass-through; {row['check']}"
        for row in rows
    ]
    series = {"derived": [(float(row["types"] or 0), float(row["derived/s"] or 0)) for row in rows]}
    chart = Chart("derived statements a second", "types", "statements/s", series, log_x=True)
    return Result([Table("linear expansion, medians of runs in turn", rows)], [chart], notes)


def measured(spark: Any, name: str, options: Options) -> Row:
    """A hierarchy: what follows from blocks of statements under it, how fast, and whether that is right."""
    size = SIZES[name]
    schema = Hierarchy(size.depth, size.fanout, size.properties, options.seed).schema()
    began = perf_counter()
    table = table_of(schema)
    built = perf_counter() - began
    task = Work(Packed.of((table, size)), options.block, options.seed)
    progress(f"{name}: {len(table):,} conclusions in {built:.1f} s; warming up")
    jobs: dict[bool, Callable[[int], Ran]] = {
        expand: lambda statements, expand=expand: _timed(spark, task, statements, expand, options)  # type: ignore[misc]
        for expand in (False, True)
    }
    for job in jobs.values():
        job(options.statements // 20)
    ran = [{expand: job(options.statements) for expand, job in jobs.items()} for _ in range(options.repeats)]
    expanded = [each[True] for each in ran]
    rates = [each.derived / each.seconds for each in expanded]
    return {
        "hierarchy": name,
        "types": _types(size),
        "properties": size.properties,
        "conclusions": len(table),
        "table bytes": table.nbytes,
        "built in s": built,
        "arriving": expanded[-1].arrived,
        "derived": expanded[-1].derived,
        "derived/s": round(median(rates)),
        "min-max": f"{min(rates):,.0f}-{max(rates):,.0f}",
        # What one core does that is the workers' own: neighbours on the machine count less.
        "derived a CPU second": round(median(each.derived / each.cpu for each in expanded)),
        "arriving/s": round(median(each.arrived / each.seconds for each in expanded)),
        "of pass-through": median(each[False].seconds / each[True].seconds for each in ran),
        "check": check(table, schema, size, options),
    }


def table_of(schema: Sequence[Statement]) -> EpsilonTable:
    """The table of the four rules of RDFS over a schema."""
    rules = hierarchy_rules()
    return linear.find(rules, close(rules, schema)).table


def _types(size: Size) -> int:
    return sum(size.fanout**level for level in range(size.depth + 1))


def _timed(spark: Any, task: Work, statements: int, expand: bool, options: Options) -> Ran:
    """A job over so many statements."""
    blocks = max(options.cores, statements // options.block)
    frame = spark.range(0, blocks, 1, options.cores).mapInArrow(
        task.expanding if expand else task.passing, _COUNTED
    )
    began = perf_counter()
    [found] = frame.groupBy().sum("arrived", "out", "cpu").collect()
    return Ran(perf_counter() - began, int(found[0]), int(found[1]), float(found[2]))


@dataclass(frozen=True, slots=True)
class Work:
    """What a task does: give its methods to `mapInArrow`."""

    about: Packed[tuple[EpsilonTable, Size]]
    block: int
    seed: int

    def expanding(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Blocks by number in, counts out."""
        expand = _expander(self.about)
        return self._counted(batches, lambda block: len(expand(block)))

    def passing(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same without expansion."""
        return self._counted(batches, len)

    def _counted(
        self, batches: Iterable[pa.RecordBatch], count: Callable[[Block], int]
    ) -> Iterator[pa.RecordBatch]:
        size = self.about.value()[1]
        for batch in batches:
            for number in batch.column(0).to_pylist():
                began = process_time()
                block = make_block(size, self.block, self.seed + number)
                out = count(block)
                took = process_time() - began
                yield pa.record_batch({"arrived": [len(block)], "out": [out], "cpu": [took]})


@cache
def _expander(about: Packed[tuple[EpsilonTable, Size]]) -> Expander:
    return Expander(about.value()[0])


@cache
def _vocabulary(size: Size) -> pa.StringArray:
    """The terms of every block: individuals, then classes, then properties, then rdf:type."""
    base = "<http://example.org/"
    names = [f"{base}i/{k}>" for k in range(_THINGS)] + [f"{base}class/{k}>" for k in range(_types(size))]
    return pa.array([*names, *(f"{base}property/{k}>" for k in range(size.properties)), TYPE], pa.string())


def make_block(size: Size, statements: int, seed: int) -> Block:
    """A block of types and links, at random.

    >>> block = make_block(SIZES["small"], 100, 1)
    >>> len(block), len(set(block.p.tolist())) <= 6
    (100, True)
    """
    rng = np.random.default_rng(seed)
    types, terms = _types(size), _vocabulary(size)
    s = rng.integers(_THINGS, size=statements, dtype=np.int32)
    typed = rng.integers(10, size=statements) < size.typed
    p = _THINGS + types + rng.integers(size.properties, size=statements, dtype=np.int32)
    # Leaves: what streams state is the most special that is known.
    inner = (types - 1) // size.fanout
    leaves = _THINGS + inner + rng.integers(types - inner, size=statements, dtype=np.int32)
    o = np.where(typed, leaves, rng.integers(_THINGS, size=statements, dtype=np.int32)).astype(np.int32)
    p = np.where(typed, len(terms) - 1, p).astype(np.int32)
    times = Runs.of(np.arange(statements, dtype=np.int64))
    return Block(times, None, terms, s, p, o, np.full(statements, NO_GRAPH, np.int32))


def check(table: EpsilonTable, schema: Sequence[Statement], size: Size, options: Options) -> str:
    """Whether the expansion of a sample is what `recompute` derives of each statement, each once."""
    block = make_block(size, options.sample, options.seed)
    more = Expander(table)(block)
    texts = more.terms.to_pylist()
    found: dict[int, Counter[tuple[str, ...]]] = {}
    for place, *terms in zip(more.places.tolist(), more.s, more.p, more.o, strict=True):
        found.setdefault(place, Counter())[tuple(texts[term] for term in terms)] += 1
    dictionary = Dictionary()
    encode, decode = dictionary.encode, dictionary.decode
    maintainer: Any = make("recompute", hierarchy_rules(), dictionary)
    maintainer.load_background(Copies.background((encode(s), encode(p), encode(o)) for s, p, o in schema))
    own, wrong, twice = block.terms.to_pylist(), 0, 0
    for place, row in enumerate(zip(block.s, block.p, block.o, strict=True)):
        s, p, o = (encode(own[term]) for term in row)
        copies = Copies.of([(1, s, p, o, 5)])
        facts = {(decode(s), decode(p), decode(o)) for _, s, p, o, _ in maintainer.closure_of(copies, 1)}
        wrong += facts != found[place].keys()
        twice += max(found[place].values()) > 1
    if wrong or twice:
        return f"{wrong} of {options.sample} WRONG, {twice} with a statement made TWICE"
    return f"each of {options.sample:,} as recompute has it, each once"
