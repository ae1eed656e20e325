"""Answers as rows of a table: what comes out of the shards, unpacked into columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ensue.errors import EnsueError, InputError, UsageError
from ensue.query.output_terms import json_term
from ensue.query.tree import ContinuousQuery, Form
from ensue.spark.processor import ANSWERS, FAILED
from ensue.spark.results import EVENTS, TRIPLE, read
from ensue.terms import Kind, kind_of

Terms = Literal["parts", "text"]
DeadLetters = Literal["count", "keep", "stop"]

DEAD = pa.struct(
    [("file", pa.string()), ("offset", pa.int64()), ("reason", pa.string()), ("line", pa.string())]
)
"""A dead letter in a column of its own."""

_WINDOW = (("query", pa.string()), ("open", pa.int64()), ("close", pa.int64()))
_PARTS = ("", "_kind", "_datatype", "_lang")
"""The columns of a variable, by what comes after its name."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table of answers."""

    variables: tuple[str, ...]
    asks: bool = False
    terms: Terms = "parts"
    until: bool = False
    empty: bool = False
    """Whether an evaluation without answers has a row."""
    dead_letters: DeadLetters = "count"
    partial: bool = False
    """Whether there is a column for what an evaluation went without; null where that is nothing."""

    @classmethod
    def of(cls, queries: Iterable[ContinuousQuery], **options: Any) -> Layout:
        """The columns that all answers of some queries need.

        >>> from ensue.query.language import parse_query
        >>> stream = "FROM STREAM <urn:s> [RANGE 1s STEP 1s]"
        >>> queries = [parse_query(f"SELECT ?x {stream} {{ ?x ?p ?o }}"), parse_query(f"ASK {stream} {{}}")]
        >>> Layout.of(queries).schema().names
        ['query', 'open', 'close', 'x', 'x_kind', 'x_datatype', 'x_lang', 'answer']
        """
        asked = list(queries)
        variables = dict.fromkeys(name for query in asked for name in _variables(query))
        return cls.of_variables(variables, asks=any(query.form is Form.ASK for query in asked), **options)

    @classmethod
    def of_variables(cls, variables: Iterable[str], **options: Any) -> Layout:
        """The columns of these variables, each once."""
        layout = cls(tuple(variables), **options)
        layout._check()
        return layout

    def schema(self) -> pa.Schema:
        """The columns."""
        fields: list[tuple[str, pa.DataType]] = list(_WINDOW)
        fields += [(column, pa.string()) for name in self.variables for column in self.columns(name)]
        if self.asks:
            fields.append(("answer", pa.bool_()))
        if self.until:
            fields.append(("until", pa.int64()))
        if self.partial:
            fields.append(("partial", pa.string()))
        if self.dead_letters == "keep":
            fields.append(("dead", DEAD))
        return pa.schema(fields)

    def columns(self, variable: str) -> list[str]:
        """The columns of a variable."""
        return [variable + part for part in _PARTS[: 1 if self.terms == "text" else None]]

    def _check(self) -> None:
        """Whether all columns have names of their own, for Spark, which does not tell case."""
        seen: set[str] = set()
        for name in self.schema().names:
            if name.casefold() in seen:
                hint = "give the variable another name in the query: SELECT (?a AS ?b)"
                raise UsageError(f"the answers would have two columns '{name}'", hint=hint)
            seen.add(name.casefold())


def _variables(query: ContinuousQuery) -> Sequence[str]:
    if query.form is Form.SELECT:
        return [str(name) for name in query.algebra["PV"]]
    return () if query.form is Form.ASK else TRIPLE


@dataclass(frozen=True, slots=True)
class Unpack:
    """Unpacks rows of `processor.STEPPED`, in a worker: give it to `mapInArrow`."""

    layout: Layout

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Answers and dead letters in, rows out: those of a query together, since few rows cost as many."""
        for batch in batches:
            groups: dict[str | None, list[dict[str, Any]]] = {}
            for row in batch.to_pylist():
                if row["kind"] == FAILED:
                    raise EnsueError(row["payload"].decode())
                groups.setdefault(row["query"] if row["kind"] in (ANSWERS, EVENTS) else None, []).append(row)
            for query, rows in groups.items():
                table = self._letters(rows) if query is None else self._answers(rows)
                if table.num_rows:
                    yield table

    def _answers(self, evaluations: list[dict[str, Any]]) -> pa.RecordBatch:
        """The rows of evaluations of one query."""
        packed = [_Packed.of(each) for each in evaluations]
        asks = packed[0].form == Form.ASK
        found: dict[str, pa.Array] = {}
        if asks:
            found["answer"] = pa.array([count > 0 for each in packed for count in each.counts])
        if asks or self.layout.empty:
            packed = [each.with_empty() for each in packed]
        for name in dict.fromkeys(name for each in packed for name in each.columns):
            kind = pa.int64() if name == "until" else pa.string()
            column = pa.concat_arrays(
                [each.columns.get(name, pa.nulls(sum(each.counts), kind)) for each in packed]
            )
            found |= {name: column} if name == "until" else self._term(name, column)
        counts = [count for each in packed for count in each.counts]
        windows = [window for each in packed for window in each.windows]
        for at, (name, kind) in enumerate(_WINDOW):
            found[name] = pa.array(np.repeat([window[at] for window in windows], counts), kind)
        if self.layout.partial:
            partial = [one for each in packed for one in each.partial]
            said = [None if one is None else json.dumps(one) for one in partial]
            found["partial"] = pa.array(np.repeat(np.array(said, object), counts), pa.string())
        return self._table(sum(counts), found)

    def _term(self, variable: str, terms: pa.StringArray) -> dict[str, pa.Array]:
        parts = [terms] if self.layout.terms == "text" else apart(terms)
        return dict(zip(self.layout.columns(variable), parts, strict=True))

    def _letters(self, rows: list[dict[str, Any]]) -> pa.RecordBatch:
        """The rows of dead letters."""
        letters = [letter for row in rows for letter in json.loads(row["payload"])]
        if self.layout.dead_letters == "stop":
            first = letters[0]
            at = "" if first["offset"] is None else f" at {first['offset']}"
            hint = 'correct it, or go on without it: dead_letters="count" or "keep"'
            raise InputError(f"{first['file']}{at}: {first['reason']}: {first['line']}", hint=hint)
        return self._table(len(letters), {"dead": pa.array(letters, DEAD)})

    def _table(self, size: int, found: Mapping[str, pa.Array]) -> pa.RecordBatch:
        schema = self.layout.schema()
        return pa.record_batch(
            [found[field.name] if field.name in found else pa.nulls(size, field.type) for field in schema],
            schema=schema,
        )


@dataclass(frozen=True, slots=True)
class _Packed:
    """What a row has: one evaluation, or those of many events."""

    form: Form
    windows: list[tuple[str, int, int]]
    """Of each evaluation the query, open and close."""
    counts: list[int]
    """How many answers each has."""
    columns: dict[str, pa.Array]
    """The answers of all, by the names of columns; none where there are none."""
    partial: list[Any]
    """What each evaluation went without."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> _Packed:
        about, columns = read(row["payload"])
        named, query = _named(about, columns), row["query"]
        if row["kind"] == ANSWERS:
            window, partial = (query, row["open"], row["close"]), [about.get("partial")]
            return cls(about["form"], [window], [about["rows"]], named, partial)
        windows = [(query, *times) for times in zip(about["open"], about["close"], strict=True)]
        partial = about.get("partial") or [None] * len(windows)
        return cls(about["form"], windows, about["counts"], named, partial)

    def with_empty(self) -> _Packed:
        """The same with a row for each evaluation that has none."""
        if 0 not in self.counts:
            return self
        counts = np.array([count or 1 for count in self.counts])
        is_there = np.repeat(np.array(self.counts) > 0, counts)
        taken = pa.array(np.cumsum(is_there) - 1, mask=~is_there)
        columns = {name: column.take(taken) for name, column in self.columns.items()}
        return _Packed(self.form, self.windows, counts.tolist(), columns, self.partial)


def _named(about: Mapping[str, Any], columns: list[pa.Array]) -> dict[str, pa.Array]:
    """The columns of packed answers by their names; none where there are no answers."""
    if not about["rows"]:
        return {}
    names = about["variables"] if about["form"] in (Form.SELECT, Form.ASK) else TRIPLE
    return dict(zip([*names, "until"] if about["until"] else names, columns, strict=True))


def apart(terms: pa.StringArray) -> list[pa.StringArray]:
    """Terms in canonical text as four columns: value, kind, datatype and language.

    >>> [column.to_pylist() for column in apart(pa.array(["<urn:a>", '"chat"@fr', None]))]
    [['urn:a', 'chat', None], ['uri', 'literal', None], [None, None, None], [None, 'fr', None]]
    """
    # Each term once: in answers they repeat.
    coded = terms.dictionary_encode()
    parts = list(zip(*map(_parts, coded.dictionary.to_pylist()), strict=True)) or [()] * len(_PARTS)
    return [pa.array(part, pa.string()).take(coded.indices) for part in parts]


def _parts(term: str) -> tuple[str, str, str | None, str | None]:
    kind = kind_of(term)
    if kind is Kind.IRI:  # Most are: the short way.
        return term[1:-1], "uri", None, None
    if kind is Kind.TRIPLE:
        return term, "triple", None, None
    found = json_term(term)
    return found["value"], found["type"], found.get("datatype"), found.get("xml:lang")
