"""The in-process engine: streams in, answers out.

The flow, from top to bottom of this file: `register` finds out which scopes a query reads and who keeps
them closed; `push` lets statements in through the gate into the buffer, which restores their order;
`advance` moves time, and the engine goes from stop to stop: admit up to the stop, read the windows that
close there, evaluate the queries that are due, and forget what no window will hold any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from os import PathLike
from typing import Any, NamedTuple

from ensue.badlines import BadLine
from ensue.dictionary import Dictionary
from ensue.errors import BufferFullError, StrategyError, UsageError, did_you_mean
from ensue.files import FilePath
from ensue.guard import Guard, one_at_a_time
from ensue.knowledge import Knowledge, Update
from ensue.maintain import check_strategy
from ensue.maintain.budget import AtLimit, Budget, Meter
from ensue.model import DEFAULT_GRAPH, FOREVER, NEVER, by_column
from ensue.plan.representatives import EQUALITIES
from ensue.proof.explanation import Explanation
from ensue.proof.memory import Memory
from ensue.proof.why import Why
from ensue.query.admission import Admission
from ensue.query.answers import Row
from ensue.query.arrivals import Arrival, Arrivals, Batch
from ensue.query.background import Background
from ensue.query.check import Check
from ensue.query.counting import Counting
from ensue.query.eventquery import EventQuery
from ensue.query.intake import Act, Intake
from ensue.query.knowledge_in import Backgrounds, knowledge_in
from ensue.query.language import parse_query
from ensue.query.output import Result
from ensue.query.preparing import Preparing
from ensue.query.running import RunningQuery
from ensue.query.scopeplans import ScopePlans
from ensue.query.share import Share
from ensue.query.sources import Sources
from ensue.query.terms_in import (
    ByName,
    Name,
    OneStatement,
    Statements,
    Term,
    by_name,
    name_text,
    shown,
    term_text,
)
from ensue.query.timed_in import Time, TimedStatement, time_in
from ensue.query.timeline import Timeline
from ensue.query.tree import ContinuousQuery, Kind, WindowSpec
from ensue.query.updates import Updates, changed, check_retracted, check_temporal, reloaded
from ensue.query.violations import Watch, watching_of
from ensue.query.watches import Watches
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet
from ensue.rules.violations import without_conditions
from ensue.streamfile import Timed, timed_line
from ensue.violations import Reported
from ensue.windows.events import EventWindow
from ensue.windows.frontier import MAX_PENDING, Clock, Disorder, wall_clock
from ensue.windows.jump_guard import MAX_JUMP, REASON, JumpGuard, check_jump
from ensue.windows.report import Report
from ensue.windows.spec import Bounds, CountWindow, Grid, TimeWindow
from ensue.windows.stretch import MAX_EMPTY

_LETTERS = 1000
"""So many of the statements that were rejected are kept until somebody asks for them."""


class Registration(NamedTuple):
    """A registered query, and from which instant on its answers are exact (None: never or unknown)."""

    name: str
    exact_from: int | None


class Reasoner:
    """Keeps streams closed under rules, over background, and answers continuous queries.

    >>> r = Reasoner(rules="transitive-isin")
    >>> q = r.register('''
    ...     REGISTER QUERY where AS SELECT ?x
    ...     FROM STREAM <urn:positions> [RANGE 10s STEP 5s]
    ...     WHERE { ?x <http://example.org/isIn> <urn:berlin> }''')
    >>> isin = "<http://example.org/isIn>"
    >>> r.push("urn:positions", [(1000, "<urn:train>", isin, "<urn:station>")])
    >>> r.push("urn:positions", [(4000, "<urn:station>", isin, "<urn:berlin>")])
    >>> for result in r.advance(to=5000):
    ...     print(result.query, result.open, result.close, sorted(result.answers.rows))
    where -5000 5000 [('<urn:station>',), ('<urn:train>',)]
    """

    _make_dictionary: type[Dictionary] = Dictionary
    _can_plan_anew = True
    _keeps_copies = True

    def __init__(
        self,
        rules: str | FilePath | RuleSet | Iterable[str | FilePath] = (),
        background: Backgrounds | Knowledge = (),
        strategy: str = "auto",
        *,
        evaluator: str = "auto",
        graphs: ByName[FilePath | Statements] | None = None,
        allow: FilePath | Iterable[FilePath] = (),
        disorder: Disorder | ByName[Disorder] | None = None,
        t0: Time = 0,
        bounds: Bounds = "(]",
        report: Report | None = None,
        until: bool = False,
        max_pending: int = MAX_PENDING,
        max_empty: int | None = MAX_EMPTY,
        max_jump: int | None = MAX_JUMP,
        clock: Clock | None = None,
        prune: bool = True,
        fixed_schema: bool = False,
        check: int | None = None,
        equality: str = EQUALITIES[0],
        violations: str | None = None,
        explain: bool = False,
        collects: bool = True,
        max_facts: int | None = None,
        max_memory: int | str | None = None,
        max_rounds: int | None = None,
        at_limit: AtLimit = "stop",
        budget: Budget | None = None,
    ) -> None:
        """`background` is a file, a graph of rdflib or pyoxigraph, statements, or several of these; `graphs`
        says which file or graph the IRI of a FROM is, `allow` from where else FROM may read files.

        `disorder` is what is allowed of the streams, all or by name. `t0` and `bounds` hold for the
        time windows of all queries, `report` unless `register` says otherwise. `until`: results say
        when each answer will leave if nothing more arrives, where that can be told. `clock` says what
        time it is, in ms: for streams that may be idle, and for statements without a time. `prune`:
        derive what the queries need, and no more; the answers are the same. `fixed_schema`: streams
        bring no schema, and one that does is an error; otherwise all is derived from then on. `check`:
        hold every so manieth evaluation of a query against one from scratch; CheckError if they differ.
        `equality`: terms that the background says are equal, under rules for equality, are kept once, by
        "representatives"; or "plain": the rules are applied as they are. The answers are the same.
        `violations`: "changes" or "all" of what violates conditions in the windows (see `violations`).
        `explain`: remember what the last two windows of each query held, so that it can be told why.
        `max_empty`: of more evaluations than this that see the same, since no statement came for long, only
        the first two and the last one are made; its result says how many were passed over (None: none is).
        `max_jump`: a statement that is more ms ahead of its stream's time is held until something after it
        confirms that time has come so far, and otherwise rejected (see `dead_letters`; None: none is held).
        `collects`: partial matches of temporal queries are dropped once nothing to come can complete them.
        `max_facts`: how many facts are held at most by whoever keeps windows over the same streams closed,
        `max_memory`: how much memory the process may take, in bytes or as "2g" (default: four fifths of the
        machine's), `max_rounds`: how many rounds of computed terms one closing may take. Beyond one of these
        BudgetError is raised: `at_limit="stop"`. Or `budget` says all of that.
        After a failure in the middle of a step every call raises BrokenError. Threads may share a reasoner:
        one at a time is in it, and each result is given once.
        """
        self._guard = Guard()
        self.dictionary = self._make_dictionary()
        self.dictionary.meter = Meter(budget or Budget.of(max_facts, max_memory, max_rounds, at_limit))
        if strategy != "auto":
            check_strategy(strategy)
        self.strategy = strategy
        knowledge = knowledge_in(background, graphs, allow)
        watching = None if violations is None else watching_of(violations)
        self._rules = rule_set(rules)
        # Where nobody asks what is wrong, conditions are no rules.
        found = self._rules if watching else without_conditions(self._rules)
        self._sources = Sources(self.dictionary, self._make_background(found, knowledge, equality))
        self._updates = Updates()
        self._report = report or Report()
        self._check = None if check is None else Check(check)
        self._preparing = Preparing(
            self._sources,
            strategy,
            evaluator,
            time_in(t0, "t0"),
            bounds,
            until,
            fixed_schema,
            self._check,
            collects,
        )
        allowed = by_name(disorder) if isinstance(disorder, Mapping) else disorder
        self._intake = Intake(allowed, max_pending, clock)
        self._admission = Admission(
            ScopePlans(
                self._background, prune=prune, fixed_schema=fixed_schema, can_plan_anew=self._can_plan_anew
            ),
            self._sources,
        )
        # Who can make no plan anew keeps no copies, and could not go on with them elsewhere.
        memory = Memory() if explain or (watching and self._can_plan_anew) else None
        self._why = Why(self._sources, self._rules, memory, bool(watching), self._running)
        self._watches = Watches(watching, self._background, self._why.explainer)
        explained = self._explain_violations if watching and memory else None
        told = self._background_came if watching else None
        self._timeline = Timeline(self._admission, self.dictionary, memory, explained, told)
        self._counting = Counting(self.dictionary, self._sources, self._intake, self._timeline)
        if max_empty is not None and max_empty < 3:
            raise UsageError(f"max_empty is {max_empty}", hint="it must be at least 3; None passes over none")
        check_jump(max_jump)
        self._jumps = JumpGuard[Arrivals](
            max_jump,
            Arrivals.joined,
            Arrivals.__getitem__,
            attrgetter("times"),
            attrgetter("newest"),
            clock or wall_clock,
        )
        self._rejected: deque[BadLine] = deque(maxlen=_LETTERS)
        self._max_empty = max_empty
        self._changed = NEVER
        """The newest time at which what windows hold, or the background, has changed."""
        self._streams: dict[str, list[WindowSpec]] = {}
        self._ready: deque[Result] = deque()
        """Results that nobody has taken yet."""
        self._max_ready = max_pending
        self._due = False
        """Whether results were asked for that nobody has begun to take."""
        self._steps: Iterator[list[Result]] = iter(())
        """The steps that are being done: whoever asks next goes on with them."""
        self.answers = 0

    def _make_background(self, rules: RuleSet, knowledge: Knowledge, equality: str) -> Background:
        return Background(rules, self.dictionary, knowledge, self.strategy, equality)

    def _running(self) -> Sequence[RunningQuery]:
        return self._timeline.queries

    @property
    def _background(self) -> Background:
        return self._sources.background

    # -- queries -----------------------------------------------------------------------------------

    @one_at_a_time
    def register(
        self,
        query: str | ContinuousQuery,
        *,
        file: str = "<text>",
        report: Report | None = None,
        share: Share | None = None,
    ) -> Registration:
        """Answer one more query from now on. It keeps what others hold of its streams already.

        `share`: give only what is one's own among several who answer it.
        """
        self._catch_up()
        parsed = parse_query(query, file) if isinstance(query, str) else query
        if not isinstance(parsed, ContinuousQuery):
            raise UsageError(f"{shown(query)} is no query", hint="give its text")
        registered = self._register(self._preparing.with_options(parsed), report, share)
        for watch in self._watches.wanted([parsed]):
            self.watch(watch)
        return registered

    @one_at_a_time
    def watch(self, watch: Watch, share: Share | None = None) -> None:
        """Look out for violations in a window that queries read, from now on; `register` does it for its own.

        `share` as for `register`.
        """
        if watch.name not in self._watches:
            self._watches.add(watch)
            # At each close: that a window is reported seldom says nothing of what is wrong in it.
            self._register(self._preparing.with_options(watch.parse()), Report(), share)

    def _register(self, parsed: ContinuousQuery, report: Report | None, share: Share | None) -> Registration:
        check_temporal([parsed] if self._updates else [])
        for stream in {on.stream for on in parsed.streams if self._intake.retracts(on.stream)}:
            check_retracted(stream, [parsed])
        running = self._preparing.running(parsed, share)
        try:
            exact_from = self._timeline.add(running, report or self._report)
        except StrategyError:  # Nobody reads what it would have read.
            self._admission.drop_unused(self._timeline.queries)
            raise
        if self._max_empty is not None:
            self._intake.leaps.least = min(self._max_empty * self._timeline.shortest_step, FOREVER)
        for on in parsed.streams:
            self._follow(on.stream).append(on.spec)
        if parsed.kind is Kind.STREAM and parsed.name in self._streams:
            self._intake.forget(parsed.name)  # Nobody has to wait for what is made here.
        return Registration(parsed.name, exact_from)

    @one_at_a_time
    def remove(self, name: Name | Registration) -> None:
        """Answer a query no more, and forget what only that query needed."""
        self._catch_up()
        self._remove(name.name if isinstance(name, Registration) else name_text(name, "a query"))
        for watch in self._watches.superfluous(self.queries):
            self._watches.remove(watch)
            self._remove(watch)

    def _remove(self, name: str) -> None:
        running = self._timeline.remove(name)
        self._admission.drop_unused(self._timeline.queries)
        if running.query.kind is Kind.STREAM and name in self._streams:
            self._intake.follow(name)
        for on in running.query.streams:
            self._streams[on.stream].remove(on.spec)
            if not self._streams[on.stream]:
                del self._streams[on.stream]
                if on.stream not in self._timeline.constructed:
                    self._intake.forget(on.stream)

    @property
    def streams(self) -> list[str]:
        """The streams that statements are to be pushed to."""
        made = self._timeline.constructed
        return [name for name in self._streams if name not in made]

    @property
    def queries(self) -> list[ContinuousQuery]:
        """The registered queries, in order of registration."""
        return [running.query for running in self._timeline.queries if not running.query.violations]

    def _follow(self, stream: str) -> list[WindowSpec]:
        if stream not in self._streams:
            self._streams[stream] = []
            if stream not in self._timeline.constructed:
                self._intake.follow(stream)
        return self._streams[stream]

    # -- streams -----------------------------------------------------------------------------------

    def push(self, stream: Name, statements: Iterable[TimedStatement]) -> None:
        """Let statements in, in any order that the stream's disorder allows.

        Each is (time, s, p, o), (time, s, p, o, graph), or (time, triple, quad, graph or list of these). A
        time is in milliseconds, a datetime or ISO 8601 text, each with a zone; None is now, by the clock.
        They wait for their time; where more wait than `max_pending`, none of these is taken and
        BufferFullError raised: `advance` first. Blank node labels mean the same in every call.
        """
        self.feed(name_text(stream), self._intake.timed(statements))

    @one_at_a_time
    def feed(self, stream: str, batch: Sequence[Timed]) -> None:
        """Like `push`, for terms that are canonical text already, as `read_stream` gives them."""
        grids = self._windows_over(stream)
        self._check_taken()
        self._catch_up()
        with self._sources.stages.of("feed"):
            self._intake.check_room(len(batch) + self._jumps.waiting)
            if batch:
                self._timeline.begin()
            came, rejected = self._jumps.let_in(stream, self.arrivals(batch))
            if rejected is not None:
                self._rejected += map(partial(self._dead_letter, stream), rejected)
            self._put({stream: Batch.one_by_one(came)}, {stream: grids})

    def _dead_letter(self, stream: str, row: Arrival) -> BadLine:
        time, *terms = row
        s, p, o, graph = self.dictionary.decode_all(terms)
        return BadLine(stream, None, None, None, timed_line((time, s or "", p or "", o or "", graph)), REASON)

    def dead_letters(self) -> Iterator[BadLine]:
        r"""The statements that were rejected since the last call, the newest ones of very many.

        >>> r = Reasoner()
        >>> q = r.register("ASK FROM STREAM <urn:s> [RANGE 1s] { ?s ?p ?o }")
        >>> r.push("urn:s", [(time, "<urn:a>", "<urn:p>", "<urn:b>") for time in (1, 2, 4102444800000, 3)])
        >>> [letter.text for letter in r.dead_letters()]
        ['4102444800000\t<urn:a> <urn:p> <urn:b> .']
        """
        while self._rejected:
            yield self._rejected.popleft()

    def _let_in_held(self, stream: str, held: Arrivals | None) -> None:
        if held is None:
            return
        if held.times[0] > self._timeline.now:
            # It came in time, though others may have gone on without its stream since.
            self._intake.put_in_time(stream, held, self._timeline.arrive)
        else:
            self._put({stream: Batch.one_by_one(held)}, {stream: self._windows_over(stream)})

    def _put(self, batches: Mapping[str, Batch], grids: Mapping[str, Sequence[Grid]]) -> None:
        self._intake.expect(batches.values())
        for stream, batch in batches.items():
            self._intake.put(stream, batch, grids[stream], self._timeline.arrive, self._read_closed)
        self._intake.expect([])

    @one_at_a_time
    def retract(self, stream: Name, statements: Iterable[TimedStatement], *, every: bool = False) -> None:
        """Take back the newest copy (or `every` copy) of each statement, at the time that is given."""
        name = name_text(stream)
        self._windows_over(name)
        check_retracted(name, self.queries)
        retracted = self.arrivals(self._intake.timed(statements))
        self._catch_up()
        self._intake.put_retraction(name, retracted, every=every)

    @one_at_a_time
    def prepare(self) -> None:
        """Do now what the first window would have to wait for: close the background, make the plans."""
        self._counting.held()
        self._sweep()

    @one_at_a_time
    def heartbeat(self, stream: Name, time: Time) -> None:
        """Nothing at or below `time` will follow on a stream, whether or not anything has come.

        At the end of time (2**63 - 1) that is nothing at all: the stream has ended.
        """
        name, promised = name_text(stream), time_in(time, promise=True)
        self._windows_over(name)
        if promised == FOREVER:
            self._end(name)
        else:
            self._let_in_held(name, self._jumps.heartbeat(name, promised))
            self._intake.heartbeat(name, promised)

    @one_at_a_time
    def advance(self, to: Time | None = None) -> Iterator[Result]:
        """The results of every window that has closed: by what came, or because it is `to` now.

        `to` promises that nothing at or below it will follow on any stream. Windows are read and queries
        answered as the results are taken; if nobody begins to, by the next call that depends on it. What is
        not taken of them comes first the next time, or goes to another thread, or to a loop inside
        this one, that asks meanwhile: each result is given once, in order. The end of time (2**63 - 1) is the
        end of all streams.
        """
        if to is not None:
            promised = time_in(to, "to", promise=True)
            if promised == FOREVER:
                return self.end()
            for stream in self.streams:
                self._let_in_held(stream, self._jumps.heartbeat(stream, promised))
            self._intake.heartbeat(None, promised)
        self._due = True
        return self._guard.steps(self.told_apart(self._results(), own=True))

    @one_at_a_time
    def end(self, stream: Name | None = None) -> Iterator[Result]:
        """Nothing will follow on a stream (None: on any). Once all have ended, what they hold fires."""
        names = self.streams if stream is None else [name_text(stream)]
        for name in names:
            self._windows_over(name)
            self._end(name)
        self._due = True
        return self._guard.steps(self.told_apart(self._results(), own=True))

    def _catch_up(self) -> None:
        """Do what `advance` or `end` has promised, if nobody has begun to take it: the results wait."""
        if self._due:
            self._due = False
            self._read_closed()

    def _read_closed(self) -> None:
        """Read the windows that have closed, say before something late is let in that they must not hold."""
        if self._guard.in_step:
            for found in self._run():
                self._ready.extend(found)
            return
        with self._guard.step():
            self._steps = self._run()
            for found in self._steps:
                self._ready.extend(found)

    def _check_taken(self) -> None:
        waiting = len(self._ready)
        if waiting > self._max_ready:
            what = f"{waiting:,} results wait to be taken"
            raise BufferFullError(what, hint="iterate over what advance() gives, or hold more: max_pending")

    def _end(self, stream: str) -> None:
        self._let_in_held(stream, self._jumps.end(stream))
        self._intake.end(stream)
        self._timeline.end(stream)

    # -- a background that changes -----------------------------------------------------------------

    def update(
        self, add: OneStatement | Statements = (), remove: OneStatement | Statements = (), *, at: Time
    ) -> int | None:
        """Let statements be background no more, and others be from now on: as of the instant `at`.

        Every evaluation at that instant or later gives what it would if the background had always been so,
        whatever was derived before. The instant must be later than time has come (as for a statement that is
        not late). Gives the instant from which on answers are exact (None: unknown): later than `at` only for
        a query that then still sees a window that was read before this was said.

        >>> r, isin = Reasoner("transitive-isin"), "<http://example.org/isIn>"
        >>> q = r.register("SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?x ?p <urn:berlin> }")
        >>> r.update(add=[("<urn:hbf>", isin, "<urn:berlin>")], at=5001)
        5001
        >>> r.push("urn:s", [(1000, "<urn:train>", isin, "<urn:hbf>")])
        >>> [(result.close, len(result.answers.rows)) for result in r.advance(to=10_000)]
        [(5000, 0), (10000, 2)]
        """
        return self.change(changed(add, remove, time_in(at, "at")))

    def reload(
        self,
        background: Backgrounds | None = None,
        *,
        graphs: ByName[FilePath | Statements] | None = None,
        at: Time,
    ) -> int | None:
        """Let the background be what is in these files or graphs (None: what it is), as of the instant `at`.

        `graphs` are those of FROM and FROM NAMED that are read anew; the others stay as they were read. Files
        are read at once. All else as for `update`.

        >>> import os, tempfile
        >>> r = Reasoner()
        >>> q = r.register("ASK FROM STREAM <urn:s> [RANGE 5s] { <urn:hbf> <urn:in> <urn:berlin> }")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "stations.ttl")
        ...     with open(path, "w") as file:
        ...         _ = file.write("<urn:hbf> <urn:in> <urn:berlin> .")
        ...     r.reload([path], at=10_000)
        10000
        >>> r.push("urn:s", [(time, "<urn:train>", "<urn:in>", "<urn:hbf>") for time in (1000, 9000)])
        >>> [(result.close, result.answers.rows) for result in r.end()]
        [(5000, []), (10000, [()])]
        """
        return self.change(reloaded(background, graphs or {}, time_in(at, "at")))

    @one_at_a_time
    def change(self, update: Update) -> int | None:
        """The same for an update as data."""
        self._catch_up()
        check_temporal([running.query for running in self._timeline.queries])
        self._updates.put(update, self._intake.time)
        self._sources.changes = True
        found = [running.exact_from(update.at) for running in self._timeline.queries]
        return None if None in found else max([update.at, *(each for each in found if each is not None)])

    def _start_over(self, update: Update) -> None:
        """Go on with another background, as if it had always been that."""
        assert self._keeps_copies, "whoever settles is replaced before"
        background = self._background.updated(update)
        self._timeline.start_over(background)
        self._why.start_over(background)
        self._watches.start_over(background)

    @one_at_a_time
    def violations(self) -> Iterator[Reported]:
        """What violates conditions in the windows that closed, as far as results were asked for; each once.

        >>> from ensue.rules.load import parse_rules
        >>> r = Reasoner(parse_rules("[r: (?x <urn:p> ?y), (?x <urn:q> ?y) -> (?x violation:both ?y)]"),
        ...              violations="changes")
        >>> q = r.register("ASK FROM STREAM <urn:s> [RANGE 2s STEP 1s] { ?x <urn:p> ?y }")
        >>> r.push("urn:s", [(500, "<urn:a>", "<urn:p>", "<urn:b>"), (1500, "<urn:a>", "<urn:q>", "<urn:b>")])
        >>> answers = list(r.end())
        >>> for found in r.violations():
        ...     print(found.change, found.violation, found.close, found.until)
        new both: <urn:a> <urn:b> 2000 3000
        gone both: <urn:a> <urn:b> 3000 None
        """
        self._catch_up()
        return self._watches.take()

    def _windows_over(self, stream: str) -> list[Grid]:
        """The time windows over a stream, which statements can be pushed to."""
        if stream in self._timeline.constructed:
            what, hint = f"<{stream}> is what a query constructs", "push to the streams that it reads"
            raise UsageError(what, hint=hint)
        if stream not in self._streams:
            hint = did_you_mean(stream, self._streams) or f"streams: {', '.join(self._streams) or 'none'}"
            raise UsageError(f"no query reads the stream <{stream}>", hint=hint)
        return [grid for spec in self._streams[stream] if (grid := _in_time(spec)) is not None]

    # -- from stop to stop -------------------------------------------------------------------------

    def told_apart(self, results: Iterable[Result], *, own: bool = False) -> Iterator[Result]:
        """The results of queries; what watches give is for `violations`, unless it is there already."""
        for result in results:
            if result.query not in self._watches:
                yield result
            elif not own or self._why.memory is None:
                self._watches.tell(result)

    def _explain_violations(self, result: Result) -> None:
        """Tell what a watch has just found, with the statements that are responsible."""
        if result.query in self._watches:
            running = self._timeline.query(result.query)
            self._watches.tell(result, None if isinstance(running, EventQuery) else running)

    def _background_came(self, name: str) -> None:
        """A stream has brought background: tell what is wrong with it, if anybody asks."""
        watched = (each for each in self._timeline.queries if each.name in self._watches)
        graphs = {frozenset(each.query.default_graphs) for each in watched}
        for each in graphs:
            if name in each:
                self._watches.background_came(each, each - {name})

    def _results(self) -> Iterator[Result]:
        """What is ready, then all else that is due, whoever else takes some of it meanwhile."""
        self._due = False
        begun = False
        while True:
            if self._ready:
                yield self._ready.popleft()
                continue
            if not begun:
                self._steps, begun = self._run(), True
            found = next(self._steps, None)
            if found is None:
                return
            self._ready.extend(found)

    def _run(self) -> Iterator[list[Result]]:
        """Go from stop to stop, as far as the frontier has come."""
        self._intake.leaps.moved()  # Streams may have become idle.
        for stream in list(self._jumps.held):
            self._let_in_held(stream, self._jumps.heartbeat(stream, self._intake.time))
        limit = self._intake.time
        if limit == FOREVER:
            yield from self._finish()
            return
        while (time := self._next_stop(limit)) is not None:
            yield self._stop(time)
        if limit > NEVER:
            yield self._stop(limit)

    def _finish(self) -> Iterator[list[Result]]:
        """All streams have ended: level by level, until nothing is due any more."""
        self._end_counts()
        for level in range(self._timeline.depth):
            while self._timeline.is_busy(level) or len(self._intake):
                # Levels above go on no further than there is something for this one.
                limit = FOREVER if self._timeline.is_busy(level) else self._intake.newest
                time = self._next_stop(limit)
                if time is not None:
                    yield self._stop(time)
                else:
                    self._admit(limit)
            self._timeline.end_level(level)
        yield self._counted(self._timeline.take())

    def _next_stop(self, limit: int) -> int | None:
        """The next stop. Where counting can bring one about, what comes before it is admitted first."""
        while self._timeline.counts_construct:
            stop = self._timeline.next_stop(limit)
            if len(self._intake) == 0 or self._intake.earliest > (limit if stop is None else stop):
                break
            self._admit(self._intake.earliest)
        self._pass_over(limit)
        return self._timeline.next_stop(limit)

    def _pass_over(self, limit: int) -> None:
        """Pass over evaluations up to a limit that would see the same, if no statement comes for long."""
        leap = self._intake.leaps.next(self._timeline.now)
        if leap is None or self._max_empty is None:
            return
        to = min(limit, leap.end, self._intake.quiet_before - 1, self._updates.next - 1)
        self._timeline.pass_over(max(leap.start, self._changed - 1), to, self._max_empty)

    def _stop(self, time: int) -> list[Result]:
        self._admit(time)
        results = self._timeline.reach(time)
        self._sweep()
        return self._counted(results)

    def _counted(self, results: list[Result]) -> list[Result]:
        answers = (result for result in results if not result.part and result.query not in self._watches)
        self.answers += sum(len(result.answers.rows) for result in answers)
        return results

    def _admit(self, time: int) -> None:
        """Let in what has waited for a time up to this one, in order."""
        with self._sources.stages.of("admit"):
            while (update := self._updates.due(time)) is not None:
                # What comes at its instant may be evaluated then: when a count window is full, say.
                self._let_in(update.at - 1)
                self._start_over(update)
                self._changed = max(self._changed, update.at)
            self._let_in(time)

    def _let_in(self, time: int) -> None:
        for stream, act, arrivals in self._intake.release(time):
            self._changed = max(self._changed, int(arrivals.times[-1]))
            if act is Act.ADMIT:
                self._timeline.admit(stream, arrivals)
            else:
                self._timeline.retract(stream, arrivals, every=act is Act.RETRACT_EVERY)
        for stream, newest in self._intake.passed(time):
            self._changed = max(self._changed, newest)
            self._timeline.passed(stream, newest)
        self._timeline.admitted(time)
        self._end_counts()

    def _end_counts(self) -> None:
        for stream in self._intake.over():
            self._timeline.end_count(stream)

    def arrivals(self, statements: Sequence[Timed]) -> Arrivals:
        """Statements in canonical text as columns of integers, for `step`."""
        times, *terms, names = by_column(statements, 5)
        s, p, o = map(self.dictionary.encode_all, terms)
        graphs = [DEFAULT_GRAPH] * len(times)
        if any(names):
            graphs = [self.dictionary.encode(name) if name else DEFAULT_GRAPH for name in names]
        return Arrivals.of(times, s, p, o, graphs)

    def _sweep(self) -> None:
        """Give back the integers of terms that nothing uses any more."""
        if self.dictionary.wants_sweep:
            with self._sources.stages.of("sweep"):
                used = [*self._why.used_terms(), *self._admission.used_terms()]
                used += self._intake.used_terms()
                used += [column for held in self._jumps.held.values() for column in held.terms]
                used += self._timeline.events.used_terms()
                for running in self._timeline.queries:
                    used += running.used_terms()
                self.dictionary.sweep(used)

    # -- why ---------------------------------------------------------------------------------------

    @one_at_a_time
    def explain(
        self, fact: tuple[Term, Term, Term], *, query: str | None = None, at: int | None = None
    ) -> Explanation:
        """Why a fact holds, by a smallest proof, and until when if nothing more arrives.

        It is looked for in the windows of a query (None: of each in turn): as they were at the last
        evaluation, or at the one whose window closed `at`, if the reasoner was made to `explain`; otherwise
        in what is held for the windows to come. Raises NotHeldError where it does not hold.

        >>> r, isin = Reasoner("transitive-isin"), "<http://example.org/isIn>"
        >>> q = r.register("ASK FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?x ?y ?z }")
        >>> r.push("urn:s", [(1000, "<urn:a>", isin, "<urn:b>"), (4000, "<urn:b>", isin, "<urn:c>")])
        >>> _ = list(r.advance(to=5000))
        >>> why = r.explain(("<urn:a>", isin, "<urn:c>"))
        >>> why.proofs[0].rule, why.stamp, why.until
        ('R', 1000, 15000)
        """
        s, p, o = map(term_text, fact)
        return self._asked_why().fact((s, p, o), query, at)

    @one_at_a_time
    def explain_answer(self, answer_of: str | Result, row: Row, *, at: int | None = None) -> Explanation:
        """Why a row is an answer of a query, by proofs of the facts that it rests on.

        Of a query by name it is the last evaluation, or the one that closed `at`; of a result, that one.
        """
        return self._asked_why().answer(answer_of, row, at)

    @one_at_a_time
    def explain_left(self, query: str, row: Row) -> Explanation:
        """Why a row was an answer of a query the last time but one, and what has gone that it rested on.

        For a reasoner that was made to `explain`.
        """
        return self._asked_why().left(query, row)

    def _asked_why(self) -> Why:
        if not self._keeps_copies:
            hint = "run the same job in one process, with explain=True or by `ensue why`"
            raise UsageError("nothing can be explained where no copies of statements are kept", hint=hint)
        self._catch_up()
        return self._why

    # -- what it does ------------------------------------------------------------------------------

    @one_at_a_time
    def plan(self) -> dict[str, Any]:
        """How queries are answered and what they share, as plain data: what `ensue explain` shows."""
        rules = self._background.rules
        return {
            "rules": rules.name,
            "rule_count": len(rules.rules),
            "background": len(self._background),
            **self._timeline.plan(),
        }

    @one_at_a_time
    def counters(self) -> dict[str, Any]:
        """What came and what was answered so far: cheap enough for every step."""
        self._catch_up()
        found = self._counting.counters(self._streams, self.answers)
        found["waiting"] += self._jumps.waiting
        return found | {"rejected": self._jumps.rejected}

    @one_at_a_time
    def metrics(self) -> dict[str, Any]:
        """Counters, for machines: what came, what is held, what was answered, how long it took.

        Looks at all that is held: for now and then, not for every step.
        """
        return {**self.counters(), **self.held(), "derived": self._counting.derived()}

    @one_at_a_time
    def held(self) -> dict[str, int]:
        """How much is held, and how much was done for it. Brings everything up to date first."""
        self._catch_up()
        return self._counting.held()


def _in_time(spec: WindowSpec) -> Grid | None:
    """When a statement is too late for a window; None: there is no such time."""
    if isinstance(spec, EventWindow):
        return TimeWindow(1, 1).grid  # At once: its place in the order of the stream is gone.
    return None if isinstance(spec, CountWindow) else spec.grid


def rule_set(rules: str | FilePath | RuleSet | Iterable[str | FilePath]) -> RuleSet:
    """Rules as a reasoner takes them: the name of a regime, a file, several of these, or rules."""
    if isinstance(rules, RuleSet):
        return rules
    return load_rules(*([rules] if isinstance(rules, str | PathLike) else rules))
