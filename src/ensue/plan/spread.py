"""What is done with a job's statements before they are joined: which are dropped, and who gets the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain

from ensue.job import Job
from ensue.knowledge import Sent
from ensue.plan import expansion, relevance, routing
from ensue.plan.conditions import Condition, NotDivided
from ensue.plan.expansion import Expansion, NotExpanded
from ensue.plan.known import Closed
from ensue.plan.relevance import Relevance
from ensue.plan.report import schema_may_come
from ensue.plan.representatives import settle_and_close
from ensue.plan.routing import Routing
from ensue.plan.semijoin import Reduction
from ensue.plan.shapes import Shape, some
from ensue.plan.unfold import refused_by
from ensue.query.scopes import KEYS_FIXED
from ensue.query.share import Cut
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import RuleSet
from ensue.windows.spec import CountWindow

_FEW_QUERIES = 8
"""For so many, shards look who needs a statement, query by query. For more that costs what it saves."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A job over shards."""

    shards: int = 1
    relevance: Relevance | None = None
    """Which statements are not dropped; None: none is."""
    divided: Routing | None = None
    """How queries can be divided, and why not; None: nobody asked."""
    none_dropped_because: str | None = None
    one_shard_because: str | None = None
    """Why there is one shard only although more were asked for."""
    refused: tuple[Shape, ...] = ()
    """What no stream may bring, since rules over lists were unfolded without it."""
    expansion: Expansion | None = None
    """What is done to statements before they are routed; None: shards apply all rules."""
    not_expanded_because: str | None = None
    """Why shards apply all rules although it was asked for that linear ones are applied before."""
    reduction: Reduction | None = None
    """By which shards see what is of no use to any query; None: they do not look."""

    def describe(self) -> list[str]:
        """The same in lines for people."""
        dropped = [f"no statement is dropped: {self.none_dropped_because}"]
        expanded = [] if self.expansion is None else self.expansion.describe()
        if self.not_expanded_because is not None:
            expanded = [f"shards apply all rules: {self.not_expanded_because}"]
        if self.relevance is not None:
            dropped = self.relevance.describe()
        spread = [f"{self.shards} shards" if self.shards > 1 else "one shard"]
        if self.one_shard_because and not (self.divided and self.divided.failed):
            spread = [f"one shard: {self.one_shard_because}"]
        return [
            *dropped,
            *expanded,
            *spread,
            *(self.divided.describe(self.shards) if self.divided else ()),
            *(each.describe() for each in (self.reduction.semijoins if self.reduction else ())),
        ]

    @property
    def routing(self) -> Routing | None:
        """Which of several shards need a statement; None: there is one."""
        return self.divided if self.shards > 1 else None


def spread(
    job: Job, *, shards: int = 1, keep_all: bool = False, expand: bool = False, explain: bool = False
) -> Spread:
    """How a job is spread over shards: over fewer than asked for, where it cannot be.

    Statements that no query needs are dropped, unless all are to be kept. Which these are may hang on
    the schema in the background: then they are dropped only if no stream brings any, so if the job's
    settings say that the schema is fixed; a stream that brings some stops the job.

    `expand`: linear rules are applied before statements are routed, where that shows in no answer.
    `explain`: find out how queries could be divided, even if one shard is all that is asked for.

    >>> from ensue.knowledge import Sent
    >>> from ensue.query.language import parse_query
    >>> from ensue.rules.tree import RuleSet
    >>> text = "REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?o }"
    >>> spread(Job.of([parse_query(text)], RuleSet("none", ()), Sent()), shards=2).describe()[1:]
    ['2 shards', 'query q is divided by ?x']
    """
    queries = job.parsed()
    # Where a stream brings background first, shards know when that is over.
    brings = any(query.event_window is not None and query.event_window.until for query in queries)
    refused = () if brings else refused_by(job.rules)
    # Where the background changes, what matters at some time is never dropped.
    look = explain or _may_be_reduced(job)
    hows = [_How.of(job, queries, knowledge, shards, look) for knowledge in job.versions()]
    found = reduce(Relevance.also, (relevance.find(queries, how.rules, how.background) for how in hows))
    kept = _why_none_is_dropped(job, queries, found, keep_all)
    whole = reduce(_also, (how.divided(how.rules, found) for how in hows))
    whole = replace(
        whole, relevance=found if kept is None else None, none_dropped_because=kept, refused=refused
    )
    if expand:
        try:
            whole = hows[0].expanded(whole)
        except NotExpanded as reason:
            whole = replace(whole, not_expanded_because=str(reason))
    return whole if any(len(how.background.classes) for how in hows) else _reduced(job, whole)


@dataclass(frozen=True, slots=True)
class _How:
    """A job over so many shards; `look`: whether queries could be divided, even if there is one shard."""

    job: Job
    queries: list[ContinuousQuery]
    rules: RuleSet
    background: Closed
    shards: int
    look: bool

    @classmethod
    def of(cls, job: Job, queries: list[ContinuousQuery], knowledge: Sent, shards: int, look: bool) -> _How:
        """With this knowledge."""
        stated = chain(knowledge.stated, *knowledge.graphs.values())
        statements = [(s, p, o) for s, p, o, _ in stated]
        rules, background = settle_and_close(job.rules, statements, job.settings.equality)
        return cls(job, queries, rules, background, shards, look)

    def divided(self, rules: RuleSet, found: Relevance) -> Spread:
        """The job over shards, which apply these rules."""
        if self.shards == 1 and not self.look:
            return Spread()
        divided = routing.find(self.queries, rules, self.background, found)
        one = self._why_one_shard(divided) if self.shards > 1 else None
        return Spread(self.shards if one is None else 1, divided=divided, one_shard_because=one)

    def _why_one_shard(self, divided: Routing) -> str | None:
        if len(self.background.classes):
            where = "terms of the background are equal, and what is said of one may be in any shard"
            return str(NotDivided(Condition.KNOWN_WHERE, where))
        return _why_one_shard(self.job, self.queries, divided)

    def expanded(self, whole: Spread) -> Spread:
        """The same with linear rules applied before routing; raises NotExpanded."""
        job, queries = self.job, self.queries
        if job.updates:
            raise NotExpanded("the background changes, and what it made of statements would stay")
        if not _goes_by_time_alone(job, queries):
            # What is made of a statement would be counted, too.
            raise NotExpanded("when a query is evaluated depends on which statements came")
        if any(query.partition is not None for query in queries):
            raise NotExpanded("a partition is closed on its own, with what its statements imply")
        if len(self.background.classes):
            raise NotExpanded("terms of the background are equal: shards keep what is said of them once")
        if whole.refused:
            raise NotExpanded("rules over lists are made plain ones by the shards")
        found = expansion.find(job, queries, self.background)
        after = relevance.find(queries, found.job.rules, self.background)
        if job.settings.prune and whole.relevance is not None and not after.everything:
            found = found.only(after.patterns)
        divided = self.divided(found.job.rules, after)
        found.check([*after.assumed, *(divided.routing.assumed if divided.routing else ())])
        return replace(
            divided,
            relevance=whole.relevance,
            none_dropped_because=whole.none_dropped_because,
            expansion=found,
        )


def _also(one: Spread, other: Spread) -> Spread:
    """Both at once, for a background that changes: over shards where both can be."""
    if one.divided is None or other.divided is None or 1 in (one.shards, other.shards):
        return other if one.shards > 1 else one
    both = one.divided.also(other.divided)
    if both is None:
        where = "the background changes, and with it by what queries are divided"
        return Spread(divided=one.divided, one_shard_because=str(NotDivided(Condition.KNOWN_WHERE, where)))
    return replace(one, divided=both)


def _may_be_reduced(job: Job) -> bool:
    """Whether nobody wants to see all that is derived, and the background stays as it is."""
    return job.settings.prune and job.settings.check is None and not job.updates


def _reduced(job: Job, whole: Spread) -> Spread:
    """The same with semi-joins, where what no query needs is dropped anyway."""
    found = whole.divided
    if not _may_be_reduced(job) or whole.relevance is None or found is None:
        return whole
    if not 1 <= len(found.semijoins) <= _FEW_QUERIES:
        return whole
    if found.one_shard_because is not None or (found.assumed and not job.settings.fixed_schema):
        return whole
    if found.assumed and whole.expansion is not None and whole.routing is None:
        return whole  # Nobody has looked whether what is made of statements is assumed never to come.
    return replace(whole, reduction=Reduction(found.semijoins, found.assumed))


def _why_none_is_dropped(
    job: Job, queries: list[ContinuousQuery], found: Relevance, keep_all: bool
) -> str | None:
    if keep_all:
        return "as was asked for"
    if found.everything_because is not None:
        return found.everything_because
    for query in queries:
        if query.partition is not None:
            return f"query {query.name} is answered in every partition that a statement is in"
    if not _goes_by_time_alone(job, queries):
        return "when a query is evaluated depends on which statements came"
    if found.assumed and not job.settings.fixed_schema:
        return schema_may_come()
    return None


def _why_one_shard(job: Job, queries: list[ContinuousQuery], divided: Routing) -> str | None:
    if divided.one_shard_because is not None:
        return divided.one_shard_because
    others = [query for query in queries if query.name not in divided.by_key.elements]
    if len(others) < len(queries) and job.settings.report.nth > 1:
        where = "every n-th event is answered, and a shard knows of some events only"
        return str(NotDivided(Condition.KNOWN_WHERE, where))
    if not _goes_by_time_alone(job, others):
        where = "when a query is evaluated depends on which statements came, and a shard sees but some"
        return str(NotDivided(Condition.KNOWN_WHERE, where))
    if divided.by_key.assumed and not job.settings.fixed_schema:
        where = f"a stream may bring keys of partitions: {some(divided.by_key.assumed)} ({KEYS_FIXED})"
        return str(NotDivided(Condition.KNOWN_WHERE, where))
    if divided.assumed and not job.settings.fixed_schema:
        where = schema_may_come(", and every shard would need it")
        return str(NotDivided(Condition.KNOWN_WHERE, where))
    cut = [each for each in divided.merged if each.cut is not Cut.PARTITIONS]
    if cut and job.settings.evaluator == "oxigraph":
        first = cut[0]
        where = f"query {first.query}: {first.because}, and oxigraph cannot put parts together"
        return str(NotDivided(Condition.MERGED, where))
    return None


def _goes_by_time_alone(job: Job, queries: list[ContinuousQuery]) -> bool:
    """Whether no evaluation is due because of a statement, which may matter to no answer."""
    return job.settings.report.on == "close" and all(
        not isinstance(on.spec, CountWindow) and query.every_ms in (None, on.spec.grid.step)
        for query in queries
        for on in query.streams
    )
