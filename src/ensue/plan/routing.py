"""Routing: which shards need a statement, if a job can have more than one.

Each query needs a variable v such that its answers about one value of v rest on statements about that value
alone: in the query itself (`keying.py`), and through every rule that makes what the query asks for
(`backward.py`, with keys). Then a statement goes to the shards that own a term at a key position of a pattern
it matches, and a shard gives only answers about values of v that it owns. What is done to all answers is
done to all shards' parts together (`merging.py`). Whatever is not sure: one shard, and which of the four
conditions failed (`conditions.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ensue.errors import UsageError
from ensue.plan import backward, semijoin
from ensue.plan.asked import AsksForEverything, patterns
from ensue.plan.backward import Need, Needs
from ensue.plan.conditions import Condition, NotDivided
from ensue.plan.cuts import Cuts, Goal, goal_of
from ensue.plan.keying import Keying, NotByKey
from ensue.plan.known import Closed
from ensue.plan.merging import Lower, check, lower
from ensue.plan.parted import ByKey
from ensue.plan.relevance import Relevance
from ensue.plan.relevance import find as find_relevance
from ensue.plan.router import Owns, Router, check_shards
from ensue.plan.semijoin import SemiJoin
from ensue.plan.shapes import ANY, Shape, Shapes, shape_of
from ensue.query.algebra import uses_timestamps
from ensue.query.levels import constructed
from ensue.query.share import Cut, Share
from ensue.query.tree import ContinuousQuery, Kind, Relation
from ensue.rules.tree import Pattern, RuleSet, Var
from ensue.windows.events import EventWindow
from ensue.windows.spec import CountWindow

POSITIONS = "spo"


@dataclass(frozen=True, slots=True)
class Merged:
    """A query of which shards give parts."""

    query: str
    cut: Cut
    because: str


@dataclass(frozen=True, slots=True)
class Routing:
    """What goes where."""

    one_shard_because: str | None
    """Why there can be one shard only; None: there can be many."""
    variables: tuple[tuple[str, str], ...] = ()
    """The queries that can be divided, and of each the variable by whose value it is."""
    merged: tuple[Merged, ...] = ()
    """Those of them whose parts have to be put together."""
    failed: tuple[tuple[str, str], ...] = ()
    """The queries that cannot be divided, and of each which condition fails, and where."""
    keyed: tuple[tuple[Shape, str], ...] = ()
    """The patterns that matter, and at which positions their keys are: some of "spo"."""
    assumed: tuple[Shape, ...] = ()
    """Routing holds only as long as no stream brings a statement of one of these shapes."""
    by_key: ByKey = field(default_factory=ByKey)
    """The queries that are partitioned, and go by the keys of partitions."""
    semijoins: tuple[SemiJoin, ...] = ()
    """One for each query, if they all have one: what is of no use to any query need not be looked at."""

    def also(self, other: Routing) -> Routing | None:
        """What goes where here or there, for a background that changes; None: queries go by other keys."""
        mine, theirs = ((each.variables, each.merged, each.by_key.queries) for each in (self, other))
        if mine != theirs:
            return None
        return replace(
            self,
            keyed=tuple(dict.fromkeys((*self.keyed, *other.keyed))),
            assumed=tuple(dict.fromkeys((*self.assumed, *other.assumed))),
            by_key=self.by_key.also(other.by_key),
            semijoins=(),  # What was of no use with one background may be of some with the next.
        )

    def router(self, shards: int, sorted_out: Collection[Shape] = ()) -> Router:
        """What says for each statement of a block which of so many shards need it.

        `sorted_out`: every statement that comes has one of these shapes; none: it may have any.
        """
        if self.one_shard_because is not None:
            return Router(None, shards)
        by_position = {
            at: shapes
            for at, place in enumerate(POSITIONS)
            if (shapes := [shape for shape, places in self.keyed if place in places])
        }
        if len(by_position) == 1:
            [(at, shapes)] = by_position.items()
            if sorted_out and set(sorted_out) <= set(shapes):
                by_position[at] = [ANY]  # All of them have their key there: no need to look again.
        return Router(by_position, shards, self.by_key)

    def share(self, query: str, shards: int, shard: int) -> Share | None:
        """What of a query a shard has to give; None: all of it."""
        check_shards(shards)
        if self.one_shard_because is not None:
            return None
        if query in dict(self.by_key.queries):
            return Share("", Owns(shards, shard), Cut.PARTITIONS)
        if query in self.by_key.elements:
            return Share("", Owns(shards, shard))
        for name, variable in self.variables:
            if name == query:
                cuts = {each.query: each.cut for each in self.merged}
                return Share(variable, Owns(shards, shard), cuts.get(name))
        raise UsageError(f"no query is called '{query}'", hint=f"queries: {[n for n, _ in self.variables]}")

    def describe(self, shards: int) -> list[str]:
        """What goes where among so many shards, query by query, in lines for people."""
        verb = "is" if shards > 1 else "could be"
        parts = {each.query: f"; parts are merged: {each.because}" for each in self.merged}
        lines = [
            f"query {name} {verb} divided by ?{key}{parts.get(name, '')}" for name, key in self.variables
        ]
        lines += [
            f"query {name} {verb} divided by the keys of its partitions: {partition}"
            for name, partition in self.by_key.queries
        ]
        lines += [f"query {name} {verb} divided by the graphs of its events" for name in self.by_key.elements]
        return [*lines, *(f"query {name} cannot be divided: {reason}" for name, reason in self.failed)]


def find(
    queries: Iterable[ContinuousQuery],
    rules: RuleSet,
    background: Closed,
    relevance: Relevance,
) -> Routing:
    """How the statements of a job can be divided among shards. `background` as for `relevance.find`.

    >>> from ensue.plan.relevance import find as find_relevance
    >>> from ensue.query.language import parse_query
    >>> text = "REGISTER QUERY q AS SELECT ?o FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?o ; <urn:q> 1 }"
    >>> job = ([parse_query(text)], RuleSet("none", ()), Closed.of([]))
    >>> find(*job, find_relevance(*job)).describe(4)
    ['query q is divided by ?x; parts are merged: answers do not hold ?x']
    """
    every = list(queries)
    cuts = Cuts.of(rules, background)
    parts: dict[str, _Division] = {}
    failed: list[tuple[str, str]] = []
    partitioned: list[ContinuousQuery] = []
    for query in every:
        try:
            _check_frame(query, every)
            if query.is_parted:
                partitioned.append(query)
            else:
                parts[query.name] = _divide(query, cuts)
        except NotDivided as reason:
            failed.append((query.name, str(reason)))
        except AsksForEverything as reason:
            failed.append((query.name, str(NotByKey(str(reason)))))
    found = _with_keys(_routing(parts, cuts), ByKey.of(partitioned, background))
    if failed:
        name, why = failed[0]
        return replace(found, one_shard_because=f"query {name}: {why}", failed=tuple(failed))
    if relevance.everything_because is not None and all(shape != ANY for shape, _ in found.keyed):
        # To a partitioned query everything matters anyway, and goes where its partition is.
        others = [query for query in every if query not in partitioned]
        because = find_relevance(others, rules, background).everything_because if others else None
        if because is not None:
            return replace(found, one_shard_because=str(NotDivided(Condition.KNOWN_WHERE, because)))
    return found


def _check_frame(query: ContinuousQuery, every: Sequence[ContinuousQuery]) -> None:
    """Raise NotDivided where no variable will do."""
    made = constructed(every)
    read = {on.stream for other in every for on in other.streams}
    where = None
    if any(on.stream in made for on in query.streams) or (query.kind is Kind.STREAM and query.name in read):
        where = "one query reads what another one constructs"
    elif query.event_window is not None:
        where = _why_events_stay_together(query, query.event_window)
    elif any(isinstance(on.spec, CountWindow) for on in query.streams):
        what = "values" if query.partition is None else "partitions"
        where = f"a count window counts the statements about all {what}"
    elif uses_timestamps(query) and query.partition is None:
        where = "f:timestamp may ask for facts that another shard keeps"
    if where is not None:
        raise NotDivided(Condition.KNOWN_WHERE, where)


def _why_events_stay_together(query: ContinuousQuery, window: EventWindow) -> str | None:
    """Why events cannot be in different shards; None: they can."""
    if window.until is not None:
        return "the stream brings background beside its events, and every shard would need it"
    if not window.by_element:
        return "markers say where events begin and end in the order of the whole stream"
    if query.relation in (Relation.ISTREAM, Relation.DSTREAM):
        return "an event is compared with the one before it, which may be in another shard"
    return None


def _with_keys(found: Routing, by_key: ByKey) -> Routing:
    """The same with partitioned queries."""
    because = "partitions come in the order of their keys"
    merged = (Merged(name, Cut.PARTITIONS, because) for name, _ in by_key.queries)
    return replace(
        found,
        merged=(*found.merged, *merged),
        assumed=(*found.assumed, *by_key.assumed),
        by_key=by_key,
        semijoins=() if by_key.queries or by_key.elements else found.semijoins,
    )


@dataclass(frozen=True, slots=True)
class _Division:
    """A query by a variable: what that needs, and of which patterns no stream may bring anything."""

    variable: str
    lower: Lower
    needs: Needs
    still: tuple[Goal, ...]
    semijoin: SemiJoin | None


def _divide(query: ContinuousQuery, cuts: Cuts) -> _Division:
    """The query by the first variable that will do, if there is one without a merge.

    Raises NotDivided for the likeliest one.
    """
    if query.violations and any(head.minted for head in cuts.index.every):
        # Unlike the answers of a query, violations may be about such nodes.
        raise NotDivided(Condition.KNOWN_WHERE, "a rule makes nodes, which may be anywhere")
    asked = patterns(query)
    names = [node.name for pattern in asked for node in pattern if isinstance(node, Var)]
    visible = dict.fromkeys(name for name in names if not name.startswith(("/", "_:")))
    if query.events is not None:  # What only a repetition knows can differ from one time to the next.
        visible = {name: None for name in visible if name in query.events.shared}
    found: _Division | None = None
    first: NotDivided | None = None
    for variable in sorted(visible, key=lambda name: -names.count(name)):
        low = lower(query, variable)
        if found is None or low.cut is None:
            try:
                found = _divide_by(variable, low, query, asked, cuts)
            except NotDivided as reason:
                first = first or reason
            else:
                if low.cut is None:
                    return found
    if found is None:
        raise first or NotByKey("no pattern that a stream can match holds a variable of the query")
    return found


def _divide_by(
    variable: str, low: Lower, query: ContinuousQuery, asked: Sequence[Pattern], cuts: Cuts
) -> _Division:
    key = Var(variable)
    still = {pattern: Goal(shape_of(pattern)) for pattern in asked if key not in pattern.variables()}
    still = {pattern: goal for pattern, goal in still.items() if cuts.holds(goal)}
    Keying(query, variable, still.__contains__).check(low.tree)
    needs = (Need(shape_of(each), tuple(each).index(key)) for each in asked if key in each.variables())
    closed = backward.close(cuts, needs)
    check(query, low)
    found = semijoin.find(query, variable, low.tree, cuts, closed)
    return _Division(variable, low, closed, tuple(still.values()), found)


def _routing(parts: Mapping[str, _Division], cuts: Cuts) -> Routing:
    """All divisions together."""
    places: dict[Shape, str] = {}
    for at, place in enumerate(POSITIONS):
        every = (part.needs.by_key[at].widest() for part in parts.values() if at in part.needs.by_key)
        for shape in Shapes(chain.from_iterable(every)).widest():
            places[shape] = places.get(shape, "") + place
    goals = [goal_of(cut) for part in parts.values() for cut in part.needs.cuts]
    goals += [goal for part in parts.values() for goal in part.needs.goals]
    assumed = cuts.assumed_by([*goals, *(goal for part in parts.values() for goal in part.still)])
    names = tuple((name, part.variable) for name, part in parts.items())
    lows = [(name, part.lower) for name, part in parts.items()]
    merged = tuple(Merged(name, low.cut, low.because) for name, low in lows if low.cut is not None)
    found = [part.semijoin for part in parts.values() if part.semijoin is not None]
    semijoins = tuple(found) if len(found) == len(parts) else ()
    return Routing(None, names, merged, (), tuple(places.items()), assumed, semijoins=semijoins)
