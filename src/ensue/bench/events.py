"""Events: chains of them over a keyed stream, and small ones as contexts (`contexts.py`).

How many chains a second, and what is remembered of them.

Each event is a statement about one of many keys. A chain of patterns, `SEQ` between them, asks for one of
each kind in turn, of the same key. Every chain runs with garbage collected at the end of its computed
lifetime, and with none collected at all; both must compose the same. Then a chain of two goes through Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from time import perf_counter, process_time

from ensue.bench import chain_memory, contexts
from ensue.bench.harness import Cell, Chart, Experiment, Result, Row, Table, progress
from ensue.errors import EnsueError, UsageError
from ensue.events.tree import Strategy
from ensue.reasoner import Reasoner
from ensue.streamfile import Timed

STREAM = "urn:events"
PARTS = ("chains", "memory", "spark", "contexts")
SMALL = 1_000_000
"""Small events, unless otherwise asked for."""


class DisagreementError(EnsueError):
    """Two runs that must compose the same do not."""


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    events: int | None = None
    """Statements of the stream of chains (400,000 by default), and small events (1,000,000)."""
    keys: int = 20_000
    rate: int = 100_000
    """Events in a second of the stream's own time."""
    within_ms: int = 1000
    chains: Sequence[int] = (2, 3, 4, 5, 6)
    batch: int = 20_000
    """Events that are pushed at once."""
    spark_events: int = 12_000_000
    """Of the file that goes through Spark."""
    repeats: int = 3
    shards: int = 2
    cores: int = 2
    batch_bytes: int = 64 << 20
    """Of a micro-batch, at most."""
    seed: int = 1
    grown: int = 1_000_000
    """Small events that go into one growing graph, at most."""
    parts: Sequence[str] = PARTS

    @property
    def statements(self) -> int:
        """Of the stream of chains."""
        return self.events or 400_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run over all events."""

    events: int
    seconds: float
    cpu_seconds: float
    composed: int
    most_partial: int
    collected: int
    consumed: int
    overdue: int
    """Partial matches that were found to have outlived their lifetime, added up over all batches."""


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    if unknown := set(options.parts) - set(PARTS):
        raise UsageError(f"no part '{min(unknown)}'", hint=f"some of {', '.join(PARTS)}")
    given = options.events or f"{options.statements}, {SMALL} small ones"
    parameters: dict[str, Cell] = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple | list) else value
        for name, value in (asdict(options) | {"events": given}).items()
    }
    return Experiment(
        "events",
        f"{options.statements:,} events of {options.keys:,} keys in process, {options.spark_events:,} "
        "on Spark; chains of SEQ within "
        f"{options.within_ms:,} ms, at {options.rate:,} events to a second of the stream",
        parameters,
        "the same events, and a chain that none of them matches: reading, admission and windows alone; on "
        "Spark pass-through: the same file read, decoded and counted in a job of its own",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """All parts that are asked for."""
    found = chains(options) if "chains" in options.parts else Result([])
    if "memory" in options.parts:
        found += chain_memory.measure(options.events or SMALL, options.keys, options.batch, options.seed)
    if "spark" in options.parts:
        found += _through_spark(options)
    if "contexts" in options.parts:
        # As many statements at once as of a chain's stream.
        batch = max(1, options.batch // contexts.STATEMENTS)
        found += contexts.measure(options.events or SMALL, options.grown, batch)
    return found


def _through_spark(options: Options) -> Result:
    from ensue.bench import events_spark  # Spark is there for who asks for it.

    return events_spark.measure(
        events_spark.SparkOptions(
            options.spark_events,
            options.keys,
            options.rate,
            options.within_ms,
            options.seed,
            options.repeats,
            options.shards,
            options.cores,
            options.batch_bytes,
        )
    )


def chains(options: Options) -> Result:
    """All chains with and without garbage collection, then all strategies for a chain of two."""
    if options.chains and min(options.chains) < 2:
        raise UsageError("a chain has two patterns or more", hint="--chains 2,3")
    rows: list[Row] = []
    for length in options.chains:
        events = stream(options, length)
        progress(f"chain of {length}")
        limit = run(events, _query(options, length, kind="none"), options)
        with_, without = (run(events, _query(options, length), options, collects=c) for c in (True, False))
        if with_.composed != without.composed:
            counts = f"{with_.composed} with garbage collected, {without.composed} without"
            what = f"a chain of {length} has composed {counts}"
            raise DisagreementError(what, hint="this is a mistake in the engine")
        rows += [_row(f"{length}", "on", with_, limit), _row(f"{length}", "off", without, limit)]
    return Result([Table("chains", rows), strategies(options)], [_chart(rows)], _notes(rows))


def strategies(options: Options) -> Table:
    """A chain of two by every consumption strategy."""
    events = stream(options, 2)
    limit = run(events, _query(options, 2, kind="none"), options)
    rows = []
    for strategy in Strategy:
        progress(f"strategy {strategy}")
        rows.append(
            _row(strategy.lower(), "on", run(events, _query(options, 2, f"[{strategy}]"), options), limit)
        )
    return Table("consumption strategies, a chain of 2", rows)


def stream(options: Options, kinds: int) -> list[Timed]:
    """Events of so many kinds, in order.

    >>> stream(Options(events=2, keys=1, rate=1000), 1)[1]
    (2, '<urn:key:0>', '<urn:kind:0>', '<urn:value:1>', None)
    """
    random = Random(options.seed)
    return [
        (
            1 + number * 1000 // options.rate,
            f"<urn:key:{random.randrange(options.keys)}>",
            f"<urn:kind:{random.randrange(kinds)}>",
            f"<urn:value:{number % 100}>",
            None,
        )
        for number in range(options.statements)
    ]


def _query(options: Options, length: int, strategy: str = "", kind: str = "kind") -> str:
    chain = f" SEQ {strategy} ".join(f"{{ ?key <urn:{kind}:{n}> ?v{n} }}" for n in range(length))
    window = f"[RANGE {2 * options.within_ms}ms STEP {options.within_ms}ms]"
    return (
        f"SELECT (COUNT(*) AS ?n) FROM STREAM <{STREAM}> {window} "
        f"WHERE {{ {chain} WITHIN {options.within_ms}ms }}"
    )


def run(events: Sequence[Timed], query: str, options: Options, *, collects: bool = True) -> Run:
    """Push all events, and read all answers."""
    reasoner = Reasoner(collects=collects)
    reasoner.register(query)
    most = overdue = 0
    started, cpu = perf_counter(), process_time()
    for first in range(0, len(events), options.batch):
        reasoner.feed(STREAM, events[first : first + options.batch])
        for _ in reasoner.advance():
            pass
        counters = reasoner.counters()
        most, overdue = max(most, counters["partial_matches"]), overdue + counters["overdue"]
    for _ in reasoner.end():
        pass
    seconds, cpu = perf_counter() - started, process_time() - cpu
    held = reasoner.counters()
    return Run(
        len(events), seconds, cpu, held["composed"], most, held["collected"], held["consumed"], overdue
    )


def _row(case: str, collection: str, made: Run, limit: Run) -> Row:
    return {
        "case": case,
        "garbage collection": collection,
        "events/s": round(made.events / made.seconds),
        "events/s of CPU": round(made.events / made.cpu_seconds),
        "limit/s of CPU": round(limit.events / limit.cpu_seconds),
        "composed": made.composed,
        "most partial": made.most_partial,
        "collected": made.collected,
        "consumed": made.consumed,
        "% gone in time": round(100 * made.collected / max(1, made.collected + made.overdue), 2),
    }


def _chart(rows: Sequence[Row]) -> Chart:
    series = {
        f"garbage collection {which}": [
            (float(row["case"]), float(row["events/s of CPU"]))  # type: ignore[arg-type]
            for row in rows
            if row["garbage collection"] == which
        ]
        for which in ("on", "off")
    }
    return Chart("chains", "patterns", "events/s of CPU", series)


def _notes(rows: Sequence[Row]) -> list[str]:
    return [
        f"a chain of {row['case']}: {row['events/s of CPU']:,} events a second of one core "
        f"({row['events/s']:,} by the clock), {row['most partial']:,} partial matches at most"
        for row in rows
        if row["garbage collection"] == "on"
    ]
