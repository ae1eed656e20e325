"""A job as data: queries, rules, knowledge and settings. It can be sent to any process and started there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from ensue.errors import InputError, Place, UsageError, did_you_mean
from ensue.knowledge import Knowledge, Sent, Update
from ensue.maintain.budget import Budget
from ensue.model import NEVER
from ensue.plan.representatives import EQUALITIES
from ensue.query.background_image import BackgroundImage
from ensue.query.language import parse_query
from ensue.query.share import Share
from ensue.query.tree import ContinuousQuery
from ensue.query.violations import Watch, watches, watching_of
from ensue.reasoner import Reasoner
from ensue.resumable import Resumable
from ensue.rules.tree import RuleSet
from ensue.rules.violations import without_conditions
from ensue.windows.frontier import Disorder
from ensue.windows.jump_guard import MAX_JUMP, check_jump
from ensue.windows.report import Report
from ensue.windows.spec import Bounds
from ensue.windows.stretch import MAX_EMPTY

R = TypeVar("R", bound=Reasoner)


def read_query(path: str) -> ContinuousQuery:
    """The query in a file; without REGISTER it has the file's name."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as problem:
        what, hint = "this is not UTF-8 text", "save the file as UTF-8"
        raise InputError(what, place=Place(path), hint=hint) from problem
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(
            f"cannot be read: {reason}", place=Place(path), hint="is the path right?"
        ) from problem
    return parse_query(text, path, Path(path).stem)


def check_streams(given: Iterable[str], wanted: Iterable[str], how: str) -> None:
    """Whether every stream that queries read is given, and none besides; `how` says how to give one.

    >>> check_streams(["urn:taxi"], ["urn:taxis"], "add {}")
    Traceback (most recent call last):
    ensue.errors.UsageError: no query reads the stream <urn:taxi> (hint: did you mean 'urn:taxis'?)
    """
    there, read = list(given), list(wanted)
    missing = [stream for stream in read if stream not in there]
    unread = [stream for stream in there if stream not in read]
    # First those that are meant for one that is missing: the queries are right about its name.
    for stream in unread:
        if close := did_you_mean(stream, missing):
            raise UsageError(f"no query reads the stream <{stream}>", hint=close)
    for stream in missing:
        raise UsageError(f"nothing is given for the stream <{stream}>", hint=how.format(stream))
    for stream in unread:
        hint = did_you_mean(stream, read) or f"streams of the queries: {', '.join(read)}"
        raise UsageError(f"no query reads the stream <{stream}>", hint=hint)


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query as it was written, and where."""

    text: str
    file: str
    name: str

    @classmethod
    def of(cls, query: ContinuousQuery) -> QueryText:
        """The text of a query that was parsed."""
        return cls(query.text, query.place.file, query.name)

    def parse(self) -> ContinuousQuery:
        """The query."""
        return parse_query(self.text, self.file, self.name)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a job is done, besides what is asked: see `Reasoner`."""

    strategy: str = "auto"
    evaluator: str = "auto"
    disorder: Disorder | Mapping[str, Disorder] = field(default_factory=Disorder)
    t0: int = 0
    bounds: Bounds = "(]"
    report: Report = field(default_factory=Report)
    until: bool = False
    max_empty: int | None = MAX_EMPTY
    max_jump: int | None = MAX_JUMP
    prune: bool = True
    fixed_schema: bool = False
    check: int | None = None
    equality: str = EQUALITIES[0]
    violations: str | None = None
    explain: bool = False
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be answered, and how.

    >>> import pickle
    >>> query = parse_query("ASK FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?s ?p ?o }", "q.rq", "q")
    >>> job = Job.of([query], RuleSet("none", ()), Sent())
    >>> job.reasoner().streams, pickle.loads(pickle.dumps(job)) == job
    (['urn:s'], True)
    """

    queries: tuple[QueryText | Watch, ...]
    """Watches on their windows, too, if the settings ask what is wrong."""
    rules: RuleSet
    knowledge: Sent = field(default_factory=Sent)
    settings: Settings = field(default_factory=Settings)
    updates: tuple[Update, ...] = ()
    """How the knowledge will change, in order of time."""

    @classmethod
    def of(
        cls,
        queries: Iterable[ContinuousQuery],
        rules: RuleSet,
        knowledge: Knowledge,
        settings: Settings | None = None,
        updates: Iterable[Update] = (),
    ) -> Job:
        """The job of these queries. Files are read now: whoever does the job needs none."""
        asked = list(queries)
        graphs = [iri for query in asked for iri in (*query.default_graphs, *query.named_graphs)]
        sent, settings = Sent.of(knowledge, graphs), settings or Settings()
        check_jump(settings.max_jump)
        watched: list[Watch] = []
        if settings.violations is None:
            rules = without_conditions(rules)
        else:
            watched = watches(asked, rules, watching_of(settings.violations))
        changes = tuple(sorted(updates, key=lambda update: update.at))
        for iri in (iri for update in changes for iri in update.graphs if iri not in graphs):
            hint = did_you_mean(iri, graphs) or f"graphs of the queries: {', '.join(graphs) or 'none'}"
            raise UsageError(f"no query reads the graph <{iri}>", hint=hint)
        return cls((*map(QueryText.of, asked), *watched), rules, sent, settings, changes)

    def versions(self) -> list[Sent]:
        """The knowledge at the start, and after each update."""
        return list(accumulate(self.updates, Sent.updated, initial=self.knowledge))

    @property
    def watches(self) -> dict[str, Watch]:
        """The watches by name."""
        return {query.name: query for query in self.queries if isinstance(query, Watch)}

    def parsed(self) -> list[ContinuousQuery]:
        """The queries."""
        return [query.parse() for query in self.queries]

    def reasoner(self) -> Reasoner:
        """A reasoner that does the job, with its queries registered."""
        return self._registered(Reasoner, {}, max_jump=self.settings.max_jump)

    def resumable(
        self,
        shares: Mapping[str, Share] | None = None,
        since: int = NEVER,
        image: BackgroundImage | None = None,
    ) -> Resumable:
        """The same, step by step; `shares` of queries are by their names.

        `since`: time has come so far; updates up to then have been. `image`: the background of then.
        It is fed what a guard has let in.
        """
        return self._registered(partial(Resumable, image=image), shares or {}, since)

    def _registered(
        self,
        kind: Callable[..., R],
        shares: Mapping[str, Share],
        since: int = NEVER,
        max_jump: int | None = None,
    ) -> R:
        settings = self.settings
        been = [update for update in self.updates if update.at <= since]
        made = kind(
            self.rules,
            reduce(Sent.updated, been, self.knowledge),
            settings.strategy,
            evaluator=settings.evaluator,
            disorder=settings.disorder,
            t0=settings.t0,
            bounds=settings.bounds,
            report=settings.report,
            until=settings.until,
            max_empty=settings.max_empty,
            max_jump=max_jump,
            prune=settings.prune,
            fixed_schema=settings.fixed_schema,
            check=settings.check,
            equality=settings.equality,
            violations=settings.violations,
            explain=settings.explain,
            budget=settings.budget,
        )
        for name, watch in self.watches.items():
            made.watch(watch, shares.get(name))
        for query in self.parsed():
            if not query.violations:
                made.register(query, share=shares.get(query.name))
        for update in self.updates[len(been) :]:
            made.change(update)
        return made
