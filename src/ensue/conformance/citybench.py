"""CityBench: 19 C-SPARQL queries over streams of a city, each window held against oxigraph over the same.

The queries run as they are printed, in process or on Spark. `windows` says by itself, from the files and
the text of a query, which windows there are and what each of them holds; pyoxigraph answers the query over
that and the graphs of FROM. Both are timed in the same run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ensue.bench.harness import Cell, Row, Table, ratio
from ensue.conformance.outcome import Outcome, Status
from ensue.conformance.windows import Moment, Terms, Windows, oxigraph_term
from ensue.errors import EnsueError, InputError, Place
from ensue.files import Timed
from ensue.graphs import Graphs
from ensue.job import Job, read_query
from ensue.knowledge import InFiles
from ensue.query.output import Result
from ensue.reasoner import Reasoner
from ensue.rules.load import load_rules
from ensue.streamfile import read_stream

FACTOR = 3.0
"""How many times oxigraph's time a query may take in process."""

FLOOR = 0.001
"""Seconds that a window may always take: in less there is hardly a join to be measured."""

REPEAT = 3
"""How often what is short is measured."""

ENOUGH = 2.0
"""Seconds of measuring after which nothing is measured again."""

LOCAL, SPARK = "local", "spark"


@dataclass(frozen=True, slots=True)
class Case:
    """A query as printed, and the files of its streams and graphs by IRI."""

    name: str
    query: Path
    streams: Mapping[str, Path]
    graphs: Mapping[str, Path]

    def job(self) -> Job:
        """The query as a job of ours."""
        knowledge = InFiles((), Graphs(self.graphs))
        return Job.of([read_query(str(self.query))], load_rules(), knowledge)


def read(suite: Path) -> list[Case]:
    """The queries of the benchmark, in order of name."""
    texts = sorted((suite / "queries").glob("*.txt"))
    if not texts:
        what, hint = (
            "there is no query of CityBench",
            "name the folder with queries/, streams/ and background/",
        )
        raise InputError(what, place=Place(str(suite)), hint=hint)
    return [_case(suite, text) for text in texts]


def _case(suite: Path, text: Path) -> Case:
    query = read_query(str(text))
    streams = {on.stream: suite / "streams" / f"{_last(on.stream)}.tsv.gz" for on in query.streams}
    graphs = {
        iri: suite / "background" / f"{_last(iri).removesuffix('.rdf')}.n3.gz" for iri in query.default_graphs
    }
    return Case(text.stem, text, streams, graphs)


def _last(iri: str) -> str:
    return iri.replace("#", "/").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Run:
    """What an engine gave for a case, and what it took."""

    results: Sequence[Result]
    seconds: float
    """From the first statement that it was given to the last answer; on Spark the whole job."""
    loading: float
    """What came before: files were read, the query was planned and the background loaded."""
    in_shards: float | None = None
    """On Spark: what shards took to admit, to maintain and to evaluate."""


Engine = Callable[[Case], Run]
"""Runs all windows of a case."""


def in_process(case: Case) -> Run:
    """All windows of a case, by a reasoner in this process."""
    started = time.process_time()
    arrivals = [(iri, batch) for iri, path in case.streams.items() for batch in read_stream(path)]
    reasoner = case.job().reasoner()
    reasoner.prepare()
    ready = time.process_time()
    results = list(_fed(reasoner, arrivals))
    return Run(results, time.process_time() - ready, ready - started)


def _fed(reasoner: Reasoner, arrivals: Iterable[tuple[str, list[Timed]]]) -> Iterator[Result]:
    for iri, batch in arrivals:
        reasoner.feed(iri, batch)
    yield from reasoner.advance()
    yield from reasoner.end()


@dataclass(frozen=True, slots=True)
class Measured:
    """A case on one engine beside oxigraph: what differs, and what each took for all windows."""

    case: str
    engine: str
    windows: int
    rows: int
    run: Run
    asking: float
    """Seconds of oxigraph to answer, in all windows."""
    loading: float
    """Seconds of oxigraph to put into its store what came into windows, and to take out what left."""
    why: str = ""
    """What is wrong; nothing if every window has the same answers."""

    @property
    def ours(self) -> float:
        """Seconds to admit, to maintain and to evaluate: on Spark those of the shards."""
        return self.run.seconds if self.run.in_shards is None else self.run.in_shards

    @property
    def ratio(self) -> float:
        """Our time to oxigraph's: both have let statements into their windows and out of them."""
        return ratio(self.ours, self.asking + self.loading)

    @property
    def to_asking(self) -> float:
        """The same to the time of oxigraph's queries alone."""
        return ratio(self.ours, self.asking)

    @property
    def is_slow(self) -> bool:
        """Whether it takes too long."""
        return self.ratio > FACTOR and self.ours > FLOOR * self.windows


def beside_oxigraph(case: Case, engines: Mapping[str, Engine], *, repeat: int = REPEAT) -> list[Measured]:
    """A case on each engine and on oxigraph, one after the other; times are medians of several runs."""
    right = _oxigraph(case, repeat)
    return [_measured(case, name, engine, right, repeat) for name, engine in engines.items()]


@dataclass(frozen=True, slots=True)
class _Right:
    """What oxigraph says, and how long it took."""

    moments: Sequence[Moment]
    asking: float
    loading: float


def _oxigraph(case: Case, repeat: int) -> _Right:
    windows = Windows(case.query.read_text("utf-8"), case.streams, case.graphs)
    moments = list(windows.moments())
    asking, loading = [], []
    for again in range(repeat):
        asked = moments if again == 0 else list(windows.moments())
        asking.append(sum(each.asking for each in asked))
        loading.append(sum(each.loading for each in asked))
        if sum(asking) > ENOUGH:
            break
    return _Right(moments, median(asking), median(loading))


def _measured(case: Case, name: str, engine: Engine, right: _Right, repeat: int) -> Measured:
    runs: list[Run] = []
    why = ""
    try:
        if name == LOCAL and repeat > 1:
            engine(case)  # For what is compiled, or found in a cache, when it is first used.
        runs = [engine(case) for _ in range(repeat if name == LOCAL else 1)]
        why = _difference(runs[-1].results, right.moments) or ""
    except EnsueError as problem:
        why = str(problem)
    if not runs:
        return Measured(case.name, name, 0, 0, Run([], 0.0, 0.0), right.asking, right.loading, why)
    run = replace(runs[-1], seconds=median(each.seconds for each in runs), results=())
    rows = sum(len(each.answers.rows) for each in runs[-1].results)
    return Measured(case.name, name, len(right.moments), rows, run, right.asking, right.loading, why)


def _difference(results: Sequence[Result], moments: Sequence[Moment]) -> str | None:
    """What is not the same in our windows and oxigraph's; None: nothing."""
    ours, theirs = ([each.close for each in found] for found in (results, moments))
    if ours != theirs:
        return f"windows that close at {_some(set(ours) ^ set(theirs))} are there on one side only"
    for result, moment in zip(results, moments, strict=True):
        names, own = moment.variables, result.answers.variables
        if sorted(names) != sorted(own):
            return f"variables {own} instead of {names}"
        order = [own.index(name) for name in names]
        found = Counter(tuple(map(row.__getitem__, order)) for row in result.answers.rows)
        # Texts that differ may still be one number, and labels of blank nodes say nothing.
        if found != Counter(moment.rows) and _plain(found) != _plain(Counter(moment.rows)):
            return (
                f"the window that closes at {moment.close} has other answers: {_unlike(found, moment.rows)}"
            )
    return None


def _some(closes: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(closes)[:5]))


def _unlike(found: Counter[Terms], wanted: Iterable[Terms]) -> str:
    ours, theirs = _plain(found), _plain(Counter(wanted))
    return f"{(ours - theirs).total()} too many and {(theirs - ours).total()} too few"


def _plain(rows: Mapping[Terms, int]) -> Counter[Terms]:
    """Rows with numbers as oxigraph writes them, and blank nodes told apart by the rows that they are in."""
    simple = {tuple(text and oxigraph_term(text) for text in row): count for row, count in rows.items()}
    seen: dict[str, Counter[tuple[int, Terms]]] = {}
    for row, count in simple.items():
        for at, text in enumerate(row):
            if text is not None and text.startswith("_:"):
                seen.setdefault(text, Counter())[at, _nameless(row)] += count
    labels = {text: f"_:{sorted(where.items(), key=repr)}" for text, where in seen.items()}
    found: Counter[Terms] = Counter()
    for row, count in simple.items():
        found[tuple(labels.get(text, text) if text else text for text in row)] += count
    return found


def _nameless(row: Terms) -> Terms:
    return tuple("_:" if text is not None and text.startswith("_:") else text for text in row)


def outcome(measured: Measured) -> Outcome:
    """Whether a case passed on an engine: the answers, and in process the time."""
    why = measured.why
    if not why and measured.engine == LOCAL and measured.is_slow:
        why = f"takes {measured.ratio} times what oxigraph takes"
    details = {
        "engine": measured.engine,
        "windows": measured.windows,
        "rows": measured.rows,
        "seconds": measured.run.seconds,
        "loading": measured.run.loading,
        "in shards": measured.run.in_shards,
        "oxigraph": {"asking": measured.asking, "loading": measured.loading},
        "ratio": measured.ratio,
        "ratio to asking alone": measured.to_asking,
    }
    name = f"{measured.case} ({measured.engine})"
    iri = f"https://github.com/CityBench/Benchmark#{measured.case}"
    return Outcome(name, iri, Status.FAILED if why else Status.PASSED, measured.engine, why, details)


def times(measured: Sequence[Measured]) -> list[Table]:
    """A table for each engine."""
    engines = dict.fromkeys(each.engine for each in measured)
    return [_table(engine, [each for each in measured if each.engine == engine]) for engine in engines]


def _table(engine: str, measured: Sequence[Measured]) -> Table:
    equal = sum(not each.why for each in measured)
    return Table(
        f"CityBench, {engine}: {equal} of {len(measured)} queries equal to oxigraph in every window",
        [_row(each) for each in measured],
    )


def _row(each: Measured) -> Row:
    def ms(seconds: float | None) -> float | None:
        return None if seconds is None else round(1000 * seconds, 1)

    row: dict[str, Cell] = {
        "query": each.case,
        "windows": each.windows,
        "rows": each.rows,
        "equal": not each.why,
        "ours ms": ms(each.ours),
        "oxigraph: ask ms": ms(each.asking),
        "load ms": ms(each.loading),
        "ours / (ask + load)": each.ratio,
        "ours / ask": each.to_asking,
        "start ms": ms(each.run.loading),
    }
    return row if each.run.in_shards is None else {**row, "whole job ms": ms(each.run.seconds)}
