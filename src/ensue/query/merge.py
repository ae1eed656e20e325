"""The merge: the parts that shards give of one evaluation become its result.

A part is a bag of solutions of what is below the cut of a query. The parts of all shards together are the
solutions that one shard would have; what is above the cut is evaluated over them. For ISTREAM and DSTREAM
a part has the solutions of the evaluation before, too, so a merge has nothing to remember.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ensue.dictionary import Dictionary
from ensue.model import FOREVER, by_column
from ensue.query.answers import Answers, Row
from ensue.query.compiled.compile import compile_query
from ensue.query.compiled.expressions import Values
from ensue.query.compiled.interpreter import Interpreter
from ensue.query.compiled.patterns import Remembered
from ensue.query.compiled.relation import Relation
from ensue.query.compiled.results import answers
from ensue.query.compiled.split import split
from ensue.query.dataset import Dataset, PlainGraph
from ensue.query.emit import Emitter
from ensue.query.output import Result
from ensue.query.partial import Partial
from ensue.query.partitioned import in_order
from ensue.query.share import Cut
from ensue.query.tree import ContinuousQuery


class Merge:
    """Puts parts of the evaluations of one query together.

    >>> from ensue.query.language import parse_query
    >>> from ensue.query.tree import Form
    >>> text = "SELECT (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?y }"
    >>> merge = Merge(parse_query(text, name="q"), Cut.GROUPS)
    >>> parts = [Result("q", 0, 1, Answers(Form.SELECT, (), [()] * size), part=True) for size in (2, 3)]
    >>> merge(parts).answers.rows
    [('"5"^^<http://www.w3.org/2001/XMLSchema#integer>',)]
    """

    def __init__(self, query: ContinuousQuery, cut: Cut) -> None:
        """Raises NotCompiled where the query cannot be cut there."""
        self._dictionary = Dictionary()
        self._plan = compile_query(query, self._dictionary)
        self._halves = split(self._plan, cut)
        self._relation = query.relation
        self._scope = f"{query.name} {query.sparql}"
        values = Values(self._dictionary, query.base)
        self._interpreter = Interpreter(Dataset(self._dictionary, PlainGraph()), values, Remembered())

    def __call__(self, parts: Sequence[Result]) -> Result:
        """The result of an evaluation, of which these are the parts of all shards."""
        first = parts[0]
        now = self._answers([row for part in parts for row in part.answers.rows], _stamps(parts))
        emitter = Emitter(self._relation)
        if emitter.remembers and first.answers.before is not None:
            before = [row for part in parts for row in part.answers.before or ()]
            emitter.emit(self._answers(before, None))
        given = emitter.emit(now)
        if self._dictionary.wants_sweep:
            self._dictionary.sweep([])
        return _result(parts, given)

    def _answers(self, rows: Sequence[Row], stamps: Sequence[int] | None) -> Answers:
        columns = by_column(rows, len(self._halves.variables))
        numbers = {
            name: np.array(
                [0 if term is None else self._dictionary.encode(term) for term in column], np.int32
            )
            for name, column in zip(self._halves.variables, columns, strict=True)
        }
        given = Relation(numbers, len(rows), None if stamps is None else np.array(stamps, np.int64))
        solutions = self._interpreter.above(self._halves.above, given)
        return answers(self._plan, solutions, self._dictionary, self._scope)


class MergePartitions:
    """Puts the partitions that shards answered in the order of their keys.

    >>> from ensue.query.language import parse_query
    >>> from ensue.query.tree import Form
    >>> text = "SELECT ?x FROM STREAM <urn:s> [RANGE 1s] PARTITION BY GRAPH { ?x <urn:p> ?y }"
    >>> rows = ([("<urn:h>", "1")], [("<urn:i>", "3"), ("<urn:g>", "2")])
    >>> parts = [Result("q", 0, 1, Answers(Form.SELECT, ("", "x"), each), part=True) for each in rows]
    >>> MergePartitions(parse_query(text, name="q"))(parts).answers.rows
    [('2',), ('1',), ('3',)]
    """

    def __init__(self, query: ContinuousQuery) -> None:
        self._query = query

    def __call__(self, parts: Sequence[Result]) -> Result:
        """The result of an evaluation, of which these are the parts of all shards."""
        emitter = Emitter(self._query.relation)
        if emitter.remembers and parts[0].answers.before is not None:
            before = [row for part in parts for row in part.answers.before or ()]
            emitter.emit(in_order(before, None).whole(self._query))
        rows = [row for part in parts for row in part.answers.rows]
        return _result(parts, emitter.emit(in_order(rows, _stamps(parts)).whole(self._query)))


def _result(parts: Sequence[Result], given: Answers) -> Result:
    """The answers that are given, as the result of an evaluation."""
    until = None if given.stamps is None else [None if s == FOREVER else s for s in given.stamps]
    return merged_result(parts, Answers(given.form, given.variables, given.rows), until)


def merged_result(parts: Sequence[Result], answers: Answers, until: Sequence[int | None] | None) -> Result:
    """One result with these answers, and with what the results of all shards say besides answers."""
    first = parts[0]
    return Result(
        first.query,
        first.open,
        first.close,
        answers,
        until,
        exact=all(part.exact for part in parts),
        skipped=first.skipped,
        partial=Partial.together(part.partial for part in parts),
    )


def _stamps(parts: Sequence[Result]) -> list[int] | None:
    """Until when each solution holds, which grows as stamps do and so does for them; None: nobody knows."""
    if any(part.until is None for part in parts):
        return None
    return [FOREVER if until is None else until for part in parts for until in part.until or ()]
