"""What is done with a job's statements before they are joined: which are dropped, and who gets the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

from ensue.job import Job
from ensue.plan import expansion, relevance, routing
from ensue.plan.expansion import Expansion, NotExpanded
from ensue.plan.known import Closed
from ensue.plan.relevance import Relevance
from ensue.plan.routing import Routing
from ensue.plan.shapes import Shape
from ensue.plan.unfold import refused_by, unfold_and_close
from ensue.query.tree import ContinuousQuery, Form
from ensue.rules.tree import RuleSet
from ensue.windows.spec import CountWindow

_FIX = "if streams never bring schema, say --fixed-schema"


@dataclass(frozen=True, slots=True)
class Spread:
    """A job over shards."""

    shards: int = 1
    relevance: Relevance | None = None
    """Which statements are not dropped; None: none is."""
    routing: Routing | None = None
    """Which of several shards need a statement."""
    none_dropped_because: str | None = None
    one_shard_because: str | None = None
    """Why there is one shard only although more were asked for."""
    refused: tuple[Shape, ...] = ()
    """What no stream may bring, since rules over lists were unfolded without it."""
    expansion: Expansion | None = None
    """What is done to statements before they are routed; None: shards apply all rules."""
    not_expanded_because: str | None = None
    """Why shards apply all rules although it was asked for that linear ones are applied before."""

    def describe(self) -> list[str]:
        """The same in lines for people."""
        dropped = [f"no statement is dropped: {self.none_dropped_because}"]
        spread = ["one shard" + (f": {self.one_shard_because}" if self.one_shard_because else "")]
        expanded = [] if self.expansion is None else self.expansion.describe()
        if self.not_expanded_because is not None:
            expanded = [f"shards apply all rules: {self.not_expanded_because}"]
        if self.relevance is not None:
            dropped = self.relevance.describe()
        if self.routing is not None:
            spread = [f"{self.shards} shards", *self.routing.describe()]
        return [*dropped, *expanded, *spread]


def spread(job: Job, *, shards: int = 1, keep_all: bool = False, expand: bool = False) -> Spread:
    """How a job is spread over shards: over fewer than asked for, where it cannot be.

    Statements that no query needs are dropped, unless all are to be kept. Which these are may hang on
    the schema in the background: then they are dropped only if no stream brings any, so if the job's
    settings say that the schema is fixed; a stream that brings some stops the job.

    `expand`: linear rules are applied before statements are routed, where that shows in no answer.

    >>> from ensue.knowledge import Sent
    >>> from ensue.query.language import parse_query
    >>> from ensue.rules.tree import RuleSet
    >>> text = "REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?o }"
    >>> spread(Job.of([parse_query(text)], RuleSet("none", ()), Sent()), shards=2).describe()[1:]
    ['2 shards', 'query q is divided by ?x']
    """
    queries = job.parsed()
    stated = chain(job.knowledge.stated, *job.knowledge.graphs.values())
    rules, background = unfold_and_close(job.rules, [(s, p, o) for s, p, o, _ in stated])
    refused = refused_by(job.rules)
    found = relevance.find(queries, rules, background)
    kept = _why_none_is_dropped(job, queries, found, keep_all)
    whole = _divided(job, queries, rules, background, found, shards)
    whole = replace(
        whole, relevance=found if kept is None else None, none_dropped_because=kept, refused=refused
    )
    if not expand:
        return whole
    try:
        return _expanded(job, queries, background, whole, shards)
    except NotExpanded as reason:
        return replace(whole, not_expanded_because=str(reason))


def _divided(
    job: Job,
    queries: list[ContinuousQuery],
    rules: RuleSet,
    background: Closed,
    found: Relevance,
    shards: int,
) -> Spread:
    """A job over shards, which apply these rules."""
    if shards == 1:
        return Spread()
    divided = routing.find(queries, rules, background, found)
    one = _why_one_shard(job, queries, divided)
    if one is not None:
        return Spread(one_shard_because=one)
    return Spread(shards, routing=divided)


def _expanded(
    job: Job, queries: list[ContinuousQuery], background: Closed, whole: Spread, shards: int
) -> Spread:
    """The same with linear rules applied before routing; raises NotExpanded."""
    if not _goes_by_time_alone(job, queries):
        # What is made of a statement would be counted, too.
        raise NotExpanded("when a query is evaluated depends on which statements came")
    if whole.refused:
        raise NotExpanded("rules over lists are made plain ones by the shards")
    found = expansion.find(job, queries, background)
    after = relevance.find(queries, found.job.rules, background)
    if job.settings.prune and whole.relevance is not None and not after.everything:
        found = found.only(after.patterns)
    divided = _divided(job, queries, found.job.rules, background, after, shards)
    found.check([*after.assumed, *(divided.routing.assumed if divided.routing else ())])
    return replace(
        divided,
        relevance=whole.relevance,
        none_dropped_because=whole.none_dropped_because,
        expansion=found,
    )


def _why_none_is_dropped(
    job: Job, queries: list[ContinuousQuery], found: Relevance, keep_all: bool
) -> str | None:
    if keep_all:
        return "as was asked for"
    if found.everything_because is not None:
        return found.everything_because
    if not _goes_by_time_alone(job, queries):
        return "when a query is evaluated depends on which statements came"
    if found.assumed and not job.settings.fixed_schema:
        return f"schema may come on the streams ({_FIX})"
    return None


def _why_one_shard(job: Job, queries: list[ContinuousQuery], divided: Routing) -> str | None:
    if divided.one_shard_because is not None:
        return divided.one_shard_because
    if not _goes_by_time_alone(job, queries):
        return "when a query is evaluated depends on which statements came, and a shard sees but some"
    if divided.assumed and not job.settings.fixed_schema:
        return f"schema may come on the streams ({_FIX})"
    # Shards tell their own answers from others by the variable's value, so it must be in them.
    for query, (name, variable) in zip(queries, divided.variables, strict=True):
        if query.form is not Form.SELECT or variable not in map(str, query.algebra.get("PV") or ()):
            return f"query {name} is divided by ?{variable}, which is not among its answers"
    return None


def _goes_by_time_alone(job: Job, queries: list[ContinuousQuery]) -> bool:
    """Whether no evaluation is due because of a statement, which may matter to no answer."""
    return job.settings.report.on == "close" and all(
        not isinstance(on.spec, CountWindow) and query.every_ms in (None, on.spec.grid.step)
        for query in queries
        for on in query.streams
    )
