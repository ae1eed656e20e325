"""Results on their way out of a shard: the answers of an evaluation packed into one row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa

from ensue.errors import EnsueError
from ensue.job import QueryText
from ensue.model import by_column
from ensue.query.answers import Answers
from ensue.query.merge import Merge, MergePartitions, merged_result
from ensue.query.output import Result
from ensue.query.partial import Partial
from ensue.query.share import Cut
from ensue.query.tree import Form
from ensue.query.violations import Watch
from ensue.windows.stretch import Stretch

TRIPLE = ("subject", "predicate", "object")
"""The names of the columns of a constructed triple."""

EVENTS = "events"
"""The kind of a row that has the answers of many events, or many results of a rule of a network."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def pack(result: Result) -> bytes:
    """The answers of a result, and what is known of them."""
    answers = result.answers
    rows = [*answers.rows, *(answers.before or ())]
    width = len(rows[0]) if rows else len(answers.variables)
    arrays = [pa.array(column, pa.string()) for column in by_column(rows, width)]
    until = []
    if result.until is not None:  # Nobody asks that of the rows before.
        until = [pa.array([*result.until, *[None] * len(answers.before or ())], pa.int64())]
    about = {
        "form": answers.form,
        "variables": list(answers.variables),
        "rows": len(answers.rows),
        "before": None if answers.before is None else len(answers.before),
        "exact": result.exact,
        "until": result.until is not None,
        "skipped": None if result.skipped is None else asdict(result.skipped),
        "part": result.part,
        **({} if result.partial is None else {"partial": result.partial.json()}),
    }
    return _written(about, [*arrays, *until])


def pack_events(results: Sequence[Result], places: Sequence[int] | None = None) -> bytes:
    """The answers of many events of one query: rows are dear, and there may be thousands in a step.

    `places` are those among the results of all queries; None: queries have no order among each other.
    """
    first = results[0].answers
    counts = [len(result.answers.rows) for result in results]
    rows = [row for result in results for row in result.answers.rows]
    width = len(rows[0]) if rows else len(first.variables)
    about = {
        "form": first.form,
        "variables": list(first.variables),
        "rows": len(rows),
        "until": False,
        "open": [result.open for result in results],
        "close": [result.close for result in results],
        "counts": counts,
        "graphs": [result.graph for result in results] if results[0].graph is not None else None,
        "places": places,
        **(
            {}
            if all(result.partial is None for result in results)
            else {"partial": [result.partial and result.partial.json() for result in results]}
        ),
    }
    return _written(about, [pa.array(column, pa.string()) for column in by_column(rows, width)])


class Event(NamedTuple):
    """A result that is one shard's alone, and its place in what that gave, if that matters."""

    place: int | None
    result: Result

    @property
    def order(self) -> tuple[int, str, int]:
        """By time, then by graph or key, which is one shard's, then as the shard has it."""
        return self.result.close, self.result.graph or "", self.place or 0


def unpack_events(query: str, data: bytes) -> list[Event]:
    """What `pack_events` packed.

    >>> answers = Answers(Form.SELECT, ("x",), [("<urn:a>",)])
    >>> some = [Result("q", at, at, answers, of_event=True) for at in (1, 2)]
    >>> [event.result for event in unpack_events("q", pack_events(some))] == some
    True
    """
    about, columns = read(data)
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True)) or [()] * about["rows"]
    form, variables, counts = Form(about["form"]), tuple(about["variables"]), about["counts"]
    graphs, places = (about[name] or [None] * len(counts) for name in ("graphs", "places"))
    ends = list(accumulate(counts, initial=0))
    partial = map(Partial.of_json, about.get("partial") or [None] * len(counts))
    times = zip(about["open"], about["close"], strict=True)
    answers = (Answers(form, variables, rows[start:end]) for start, end in pairwise(ends))
    parts = zip(times, answers, graphs, partial, places, strict=True)
    return [
        Event(place, Result(query, *time, given, of_event=True, graph=graph, partial=missing))
        for time, given, graph, missing, place in parts
    ]


def _written(about: Mapping[str, Any], arrays: Sequence[pa.Array]) -> bytes:
    names = [str(number) for number in range(len(arrays))]
    schema = pa.schema([(name, it.type) for name, it in zip(names, arrays, strict=True)])
    schema = schema.with_metadata({"about": json.dumps(about)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS) as writer:
        if names:
            writer.write_batch(pa.record_batch(arrays, schema=schema))
    return bytes(sink.getvalue())


def unpack(query: str, open_: int, close: int, data: bytes) -> Result:
    """What `pack` packed.

    >>> answers = Answers(Form.SELECT, ("x", "y"), [("<urn:a>", None)])
    >>> unpack("q", 0, 10, pack(Result("q", 0, 10, answers, [20]))) == Result("q", 0, 10, answers, [20])
    True
    """
    about, columns = read(data)
    size, before = about["rows"], about["before"]
    until = columns.pop().to_pylist()[:size] if about["until"] else None
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True)) if columns else []
    # What has no columns has rows all the same: the yes of ASK.
    rows = rows or [()] * (size + (before or 0))
    variables = tuple(about["variables"])
    answers = Answers(
        Form(about["form"]), variables, rows[:size], before=None if before is None else rows[size:]
    )
    skipped = None if about["skipped"] is None else Stretch(**about["skipped"])
    partial = Partial.of_json(about.get("partial"))
    return Result(
        query,
        open_,
        close,
        answers,
        until,
        exact=about["exact"],
        skipped=skipped,
        partial=partial,
        part=about["part"],
    )


def read(data: bytes) -> tuple[dict[str, Any], list[pa.Array]]:
    """What is known of packed answers, and their columns; the last is `until`, if it is there."""
    with pa.ipc.open_stream(data) as reader:
        about = json.loads(reader.schema.metadata[b"about"])
        batches = list(reader)
    return about, list(batches[0].columns) if batches else []


class Row(NamedTuple):
    """A row as shards give it, and Spark too: see `processor.STEPPED`."""

    shard: int
    kind: str
    query: str
    open: int
    close: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Merging:
    """How results are made of what the shards of a job give: of some queries that are parts."""

    queries: tuple[tuple[QueryText | Watch, Cut], ...] = ()
    """Those queries, and where each is cut."""

    def gathered(self, rows: Iterable[Row], shards: int) -> list[Result]:
        """The results of a micro-batch in order, what the shards gave of an evaluation together.

        Every shard hears of all that comes in a micro-batch, and of how far time has come. So all of them
        evaluate the same, in the same order: the n-th evaluation of a query is the same in all, and all
        parts of it are in one micro-batch. Only events are some shard's alone.
        """
        events: list[Event] = []
        parts: dict[tuple[str, int], list[Result]] = {}
        counts: Counter[tuple[int, str]] = Counter()
        for row in rows:
            if row.kind == EVENTS:
                events += unpack_events(row.query, bytes(row.payload))
                continue
            result = unpack(row.query, row.open, row.close, bytes(row.payload))
            number = counts[row.shard, row.query]
            counts[row.shard, row.query] += 1
            parts.setdefault((row.query, number), []).append(result)
        if shards > 1 or any(each.place is not None for each in events):
            events.sort(key=attrgetter("order"))
        return [*(self._result(each, shards) for each in parts.values()), *(each.result for each in events)]

    def _result(self, parts: list[Result], shards: int) -> Result:
        first = parts[0]
        if len(parts) != shards or len({(part.open, part.close) for part in parts}) > 1:
            window = f"({first.open}, {first.close}]"
            what = f"query {first.query}, window {window}: shards do not agree on what is due"
            raise EnsueError(what, hint="this is a fault in Ensue; --shards 1 does without")
        if first.part:
            return self._merge(first.query)(parts)
        return first if len(parts) == 1 else _together(parts)

    def _merge(self, name: str) -> Merge | MergePartitions:
        return _merge(*next(each for each in self.queries if each[0].name == name))


@lru_cache(maxsize=1000)
def _merge(query: QueryText | Watch, cut: Cut) -> Merge | MergePartitions:
    """Made once a process: it remembers nothing that would make a difference."""
    if cut is Cut.PARTITIONS:
        return MergePartitions(query.parse())
    return Merge(query.parse(), cut)


def _together(parts: list[Result]) -> Result:
    """One result of answers that each shard gave of its own."""
    first = parts[0]
    rows = [row for part in parts for row in part.answers.rows]
    until = None if first.until is None else [each for part in parts for each in part.until or ()]
    answers = Answers(first.answers.form, first.answers.variables, rows)
    return merged_result(parts, answers, until)
