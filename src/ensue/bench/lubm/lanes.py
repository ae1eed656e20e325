"""A job on LUBM in this process, and what it gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from ensue.bench.lubm.queries import STREAM
from ensue.files import Timed
from ensue.job import Job
from ensue.query.answers import Row
from ensue.query.output import Result

Bags = dict[str, Counter[Row]]
"""The rows that each query has given, over all windows: the order is nobody's business."""


@dataclass
class Local:
    """A job that ran in process."""

    planned: float = 0.0
    """Seconds until the first statement was taken."""
    seconds: float = 0.0
    """Seconds from then on."""
    statements: int = 0
    bags: Bags = field(default_factory=dict)
    keep: bool = True
    """Whether rows are kept; otherwise they are counted."""
    answers: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Statements a second."""
        return self.statements / self.seconds

    def take(self, results: Iterable[Result]) -> None:
        """Some results are there."""
        for result in results:
            self.answers[result.query] += len(result.answers.rows)
            if self.keep:
                self.bags.setdefault(result.query, Counter()).update(result.answers.rows)


def run_local(
    job: Job,
    batches: Iterable[Sequence[Timed]],
    *,
    keep: bool = True,
    seen: Callable[[Local], None] = lambda ran: None,
) -> Local:
    """Answer the job's queries over batches in order of time; `seen` is called after each.

    What the job will do is settled before the clock starts: that hangs on rules and queries alone.
    """
    begin = perf_counter()
    reasoner, ran = job.reasoner(), Local(keep=keep)
    reasoner.plan()
    ran.planned = perf_counter() - begin
    begin = perf_counter()
    for batch in batches:
        reasoner.feed(STREAM, batch)
        ran.take(reasoner.advance())
        ran.statements += len(batch)
        ran.seconds = perf_counter() - begin
        seen(ran)
    ran.take(reasoner.end())
    ran.seconds = perf_counter() - begin
    return ran
