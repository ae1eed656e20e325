"""Linear expansion before routing: what is done by table look-up, and what is left for the shards.

A statement then comes to the shards together with what it implies by linear rules, and each of these is
routed by its own terms. The shards have the other rules only, over a background that is closed under all.
That must not show in answers, so it is not done where it would, and then the plan says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ensue.job import Job
from ensue.knowledge import Sent
from ensue.maintain.kernel.network import TooMuchFollows
from ensue.plan import linear
from ensue.plan.epsilon import MARKS, EpsilonTable, Mark, P, made_by, restricted
from ensue.plan.known import Closed
from ensue.plan.linear import Linear
from ensue.plan.report import Report, schema_may_come
from ensue.plan.shapes import Shape, Shapes, overlap, show
from ensue.query.levels import constructed
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Mint


class NotExpanded(Exception):  # noqa: N818 - no error: then shards apply all rules
    """Why linear rules are left to the shards."""


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """What is done to statements on their way to the shards, and the job that is left for these."""

    table: EpsilonTable
    assumed: tuple[Shape, ...]
    """It holds only as long as no stream brings a statement of one of these shapes."""
    job: Job
    reports: tuple[Report, ...]

    def only(self, needed: Iterable[Shape]) -> Expansion:
        """The same for what has one of these shapes."""
        return replace(self, table=restricted(self.table, needed))

    def check(self, assumed: Iterable[Shape]) -> None:
        """Raise NotExpanded if a statement may become something that the shards' plan has assumed away."""
        shapes = list(assumed)
        for made in made_by(self.table, self._entries()) if shapes else ():
            for shape in shapes:
                if overlap(made, shape):
                    what = f"rules make {show(made)} of statements, and it is taken for schema"
                    raise NotExpanded(f"{what}: {show(shape)}")

    def _entries(self) -> Iterable[int]:
        """The entries that a statement can have which a stream may bring, or that is made of one."""
        table, away = self.table, Shapes(self.assumed)
        opened = {int(p) for p in table.rows[table.rows[:, MARKS] & Mark.OPEN != 0, P]}
        for entry, (p, o) in enumerate(table.keys.tolist()):
            shape = (None, None if p < 0 else table.terms[p], None if o < 0 else table.terms[o])
            if p in opened or not away.covers(shape):
                yield entry

    def describe(self) -> list[str]:
        """What is done, in lines for people."""
        lines = [f"linear rules are applied before routing: {self.reports[0].line}"]
        names = ", ".join(rule.name for rule in self.job.rules.rules)
        return [*lines, f"left for the shards: {names or 'no rule'}"]


def find(job: Job, queries: Sequence[ContinuousQuery], background: Closed) -> Expansion:
    """The expansion of a job whose background is closed; raises NotExpanded.

    >>> from ensue.plan.known import close
    >>> from ensue.query.language import parse_query
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[r: (?x <urn:p> ?y) -> (?y <urn:q> ?x)]", "r.rules")
    >>> query = parse_query("SELECT ?x FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:q> ?y }", "q.rq", "q")
    >>> find(Job.of([query], rules, Sent()), [query], close(rules, [])).describe()[1]
    'left for the shards: no rule'
    """
    _check(job, queries)
    try:
        found = linear.find(job.rules, background)
    except TooMuchFollows:
        raise NotExpanded("more follows from the background's schema than a table should hold") from None
    if not found.links.rules:
        raise NotExpanded("no rule is linear")
    if found.assumed and not job.settings.fixed_schema:
        raise NotExpanded(schema_may_come())
    return Expansion(found.table, found.assumed, _left(job, found, background), found.reports)


def _check(job: Job, queries: Sequence[ContinuousQuery]) -> None:
    """Raise NotExpanded where shards with fewer rules would give other answers."""
    made = constructed(queries)
    for query in queries:
        if any(on.stream in made for on in query.streams):
            raise NotExpanded(f"query {query.name} reads what another one constructs")
    if job.knowledge.graphs:
        raise NotExpanded("graphs of FROM are closed by the shards")
    for rule in job.rules.rules:
        if any(isinstance(condition, Mint) for condition in rule.conditions):
            raise NotExpanded(f"rule '{rule.name}' makes nodes, which must not be taken for stated ones")


def _left(job: Job, found: Linear, background: Closed) -> Job:
    """What the shards do: the other rules, over all that follows from the background."""
    stated = {statement[:3] for statement in job.knowledge.stated}
    follows = ((s, p, o, None) for s, p, o in background.statements() if (s, p, o) not in stated)
    return replace(job, rules=found.left, knowledge=Sent((*job.knowledge.stated, *follows)))
