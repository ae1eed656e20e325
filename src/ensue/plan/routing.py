"""Routing: which shards need a statement, if a job can have more than one.

Each query needs a variable v such that its answers about one value of v rest on statements about that value
alone: in the query itself (`keying.py`), and through every rule that makes what the query asks for
(`backward.py`, with keys). Then a statement goes to the shards that own a term at a key position of a pattern
it matches, and a shard gives only answers about values of v that it owns. Whatever is not sure: one shard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Variable

from ensue.errors import UsageError
from ensue.plan import backward
from ensue.plan.asked import AsksForEverything, patterns, template
from ensue.plan.backward import Need, Needs, NotKeyed
from ensue.plan.cuts import Cuts, Goal, goal_of
from ensue.plan.keying import Keying, NotByKey
from ensue.plan.known import Closed
from ensue.plan.relevance import Relevance
from ensue.plan.router import Owns, Router, check_shards
from ensue.plan.shapes import ANY, Shape, Shapes, shape_of
from ensue.query.algebra import uses_timestamps
from ensue.query.levels import constructed
from ensue.query.tree import ContinuousQuery, Form, Kind, Relation
from ensue.rules.tree import Pattern, RuleSet, Var
from ensue.windows.spec import CountWindow

POSITIONS = "spo"


@dataclass(frozen=True, slots=True)
class Routing:
    """What goes where."""

    one_shard_because: str | None
    """Why there can be one shard only; None: there can be many."""
    variables: tuple[tuple[str, str], ...] = ()
    """The queries, and of each the variable by whose value its answers are divided."""
    keyed: tuple[tuple[Shape, str], ...] = ()
    """The patterns that matter, and at which positions their keys are: some of "spo"."""
    assumed: tuple[Shape, ...] = ()
    """Routing holds only as long as no stream brings a statement of one of these shapes."""

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
        return Router(by_position, shards)

    def accepts(self, query: str, shards: int, shard: int) -> tuple[str, Owns] | None:
        """A variable, and which of its values (as text) a shard has to answer about; None: about all.

        A solution of the query's pattern whose value is another shard's is left out, before projection.
        """
        check_shards(shards)
        if self.one_shard_because is not None:
            return None
        for name, variable in self.variables:
            if name == query:
                return variable, Owns(shards, shard)
        raise UsageError(f"no query is called '{query}'", hint=f"queries: {[n for n, _ in self.variables]}")

    def describe(self) -> list[str]:
        """What goes where, in lines for people."""
        if self.one_shard_because is not None:
            return [f"one shard: {self.one_shard_because}"]
        return [f"query {name} is divided by ?{variable}" for name, variable in self.variables]


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
    >>> find(*job, find_relevance(*job)).describe()
    ['query q is divided by ?x']
    """
    every = list(queries)
    cuts = Cuts(rules, background)
    parts: list[_Division] = []
    for query in every:
        try:
            _check_frame(query, every)
            parts.append(_divide(query, cuts))
        except (NotByKey, NotKeyed, AsksForEverything) as reason:
            return Routing(f"query {query.name}: {reason}")
    found = _routing(every, parts, cuts)
    if relevance.everything_because is not None and all(shape != ANY for shape, _ in found.keyed):
        return Routing(relevance.everything_because)
    return found


def _check_frame(query: ContinuousQuery, every: Sequence[ContinuousQuery]) -> None:
    """Raise NotByKey where no variable will do."""
    made = constructed(every)
    read = {on.stream for other in every for on in other.streams}
    if any(on.stream in made for on in query.streams) or (query.kind is Kind.STREAM and query.name in read):
        raise NotByKey("one query reads what another one constructs")
    if any(isinstance(on.spec, CountWindow) for on in query.streams):
        raise NotByKey("a count window counts the statements about all values")
    if query.form in (Form.ASK, Form.DESCRIBE):
        raise NotByKey(f"{query.form} has one answer for all values")
    if uses_timestamps(query):
        raise NotByKey("f:timestamp may ask for facts that another shard keeps")


@dataclass(frozen=True, slots=True)
class _Division:
    """A query by a variable: what that needs, and of which patterns no stream may bring anything."""

    variable: str
    needs: Needs
    still: tuple[Goal, ...]


def _divide(query: ContinuousQuery, cuts: Cuts) -> _Division:
    """The query by the first variable that will do; raises NotByKey or NotKeyed for the likeliest one."""
    asked = patterns(query)
    names = [node.name for pattern in asked for node in pattern if isinstance(node, Var)]
    visible = dict.fromkeys(name for name in names if not name.startswith(("/", "_:")))
    candidates = sorted(visible, key=lambda name: -names.count(name))
    first: NotByKey | NotKeyed | None = None
    for variable in candidates:
        try:
            return _divide_by(variable, query, asked, cuts)
        except (NotByKey, NotKeyed) as reason:
            first = first or reason
    raise first or NotByKey("no pattern that a stream can match holds a variable of the query")


def _divide_by(variable: str, query: ContinuousQuery, asked: Sequence[Pattern], cuts: Cuts) -> _Division:
    key = Var(variable)
    still = {pattern: Goal(shape_of(pattern)) for pattern in asked if key not in pattern.variables()}
    still = {pattern: goal for pattern, goal in still.items() if cuts.assumed([goal]) is not None}
    Keying(query, variable, still.__contains__).check(_where(query, variable))
    needs = (Need(shape_of(each), tuple(each).index(key)) for each in asked if key in each.variables())
    return _Division(variable, backward.close(cuts, needs), tuple(still.values()))


def _where(query: ContinuousQuery, variable: str) -> CompValue:
    """What a query asks, without what is done to all answers; raises NotByKey where that divides badly."""
    tree = query.algebra.p
    if tree.name == "Slice":
        raise NotByKey("LIMIT and OFFSET count the answers about all values")
    project = tree.p if tree.name in ("Distinct", "Reduced") else tree
    if project.p.name == "OrderBy":
        raise NotByKey("ORDER BY puts the answers about all values in order")
    if query.form is Form.CONSTRUCT:
        _check_template(template(query), Var(variable))
    elif Variable(variable) not in project.PV:
        if project is not tree:
            raise NotByKey(f"DISTINCT answers about two values of ?{variable} can be the same")
        if query.relation in (Relation.ISTREAM, Relation.DSTREAM):
            raise NotByKey(f"{query.relation} compares answers that do not hold ?{variable}")
    found: CompValue = project.p
    return found


def _check_template(triples: Sequence[Pattern], key: Var) -> None:
    """Two shards must not construct the same triple: a graph has it once."""
    if any(variable.name.startswith("_:") for triple in triples for variable in triple.variables()):
        raise NotByKey("CONSTRUCT makes new blank nodes")
    common = set.intersection(*({at for at, node in enumerate(t) if node == key} for t in triples), {0, 1, 2})
    if not common:
        raise NotByKey(f"CONSTRUCT can make the same triple for two values of {key}")


def _routing(queries: Sequence[ContinuousQuery], parts: Sequence[_Division], cuts: Cuts) -> Routing:
    """All divisions together."""
    places: dict[Shape, str] = {}
    for at, place in enumerate(POSITIONS):
        every = (part.needs.by_key[at].widest() for part in parts if at in part.needs.by_key)
        for shape in Shapes(chain.from_iterable(every)).widest():
            places[shape] = places.get(shape, "") + place
    goals = [goal_of(cut) for part in parts for cut in part.needs.cuts]
    assumed = cuts.assumed_by([*goals, *(goal for part in parts for goal in part.still)])
    names = tuple((query.name, part.variable) for query, part in zip(queries, parts, strict=True))
    return Routing(None, names, tuple(places.items()), assumed)
