"""Networks over streams as data: they can be sent to any process and started there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ensue.knowledge import Knowledge, Sent
from ensue.networks.loops import Limit
from ensue.networks.networks import Networks
from ensue.networks.steps import NetworkSteps
from ensue.networks.tree import NetworkFile, Select
from ensue.query.knowledge_in import Backgrounds, knowledge_in
from ensue.windows.frontier import Disorder
from ensue.windows.jump_guard import MAX_JUMP, check_jump


@dataclass(frozen=True, slots=True)
class NetworkJob:
    """The rules, what was there first, and the streams in order.

    >>> import pickle
    >>> from ensue.networks.parse import parse
    >>> job = NetworkJob.of(parse("SELECT ?x WHERE { ?x <urn:p> ?y }"), ["urn:s"])
    >>> pickle.loads(pickle.dumps(job)) == job, job.variables()
    (True, {'network-1': ('x',)})
    """

    file: NetworkFile
    streams: tuple[str, ...]
    background: Sent = field(default_factory=Sent)
    disorder: Disorder | Mapping[str, Disorder] = field(default_factory=Disorder)
    limit: Limit = field(default_factory=Limit)
    max_jump: int | None = MAX_JUMP
    tells: bool = False
    """Whether what is held is told when all streams have ended."""

    @classmethod
    def of(
        cls,
        file: NetworkFile,
        streams: Iterable[str],
        background: Backgrounds | Knowledge = (),
        disorder: Disorder | Mapping[str, Disorder] | None = None,
        limit: Limit | None = None,
        max_jump: int | None = MAX_JUMP,
    ) -> NetworkJob:
        """The same of files, which are read now: whoever does the job needs none."""
        check_jump(max_jump)
        known = Sent(tuple(knowledge_in(background).background()))
        return cls(file, tuple(streams), known, disorder or Disorder(), limit or Limit(), max_jump)

    def networks(self, owns: Callable[[str], bool] | None = None, *, journal: bool = False) -> Networks:
        """The networks before anything has come; `owns`: of these keys alone."""
        return Networks(self.file, background=self.background, limit=self.limit, owns=owns, journal=journal)

    def steps(self, owns: Callable[[str], bool] | None = None) -> NetworkSteps:
        """A run from the beginning, step by step."""
        networks = self.networks(owns, journal=True)
        # A shard's guard is in front of its steps.
        return NetworkSteps(networks, self.streams, disorder=self.disorder, max_jump=None)

    def variables(self) -> dict[str, tuple[str, ...]]:
        """The variables of what is selected, by the names of rules."""
        return {
            rule.name: tuple(variable.name for variable in rule.effect.variables)
            for rule in self.file.rules
            if isinstance(rule.effect, Select)
        }
