"""The network at work: an element arrives, and rules fire until nothing is new any more.

    arrive ─▶ change ─▶ new solutions ─▶ agendas ─▶ round: rules in order, each for all on its agenda at once
                ▲                                      │
                └──────── what it deletes and inserts ─┘   until all agendas are empty

A solution is *new* when it holds after a change and did not hold before. It waits on its rule's agenda until
the rule's turn comes; the rule fires for it if it still holds then. `docs/networks.md` says it at length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ensue.errors import BrokenError, UsageError
from ensue.files import FilePath, Statement
from ensue.knowledge import Knowledge
from ensue.networks.dataset import Dataset, Ground
from ensue.networks.join import Solution
from ensue.networks.loops import Limit, Trail, UnsettledError
from ensue.networks.matcher import DeltaMatcher, Match, Matcher
from ensue.networks.parse import load_network, parse
from ensue.networks.template import MADE, Template
from ensue.networks.tree import DEFAULT, NetworkFile, NetworkRule, Select
from ensue.query.answers import Answers
from ensue.query.knowledge_in import Backgrounds, knowledge_in
from ensue.query.output import Result
from ensue.query.timed_in import TimedStatement, timed_in
from ensue.query.tree import Form

Waiting = tuple[int, Solution]
"""A branch, and a solution of it."""


class Since(NamedTuple):
    """Which change made a solution, and the rule whose effect that was."""

    change: int
    cause: int | None


Agenda = dict[Waiting, Since]
"""The new solutions of a rule."""


@dataclass(slots=True)
class Tally:
    """What was done so far."""

    elements: int = 0
    firings: int = 0
    most_rounds: int = 0


class Network:
    """Rules that run over what arrives.

    >>> network = Network('''
    ...     # element: statement
    ...     # rule: count
    ...     DELETE { <urn:seen> <urn:is> ?n } INSERT { <urn:seen> <urn:is> ?m }
    ...     WHERE { ?x a <urn:Car> . <urn:seen> <urn:is> ?n BIND(?n + 1 AS ?m)
    ...             FILTER NOT EXISTS { ?x a <urn:Old> } } ;
    ...     INSERT { ?x a <urn:Old> } WHERE { ?x a <urn:Car> } ;
    ...     INSERT DATA { <urn:seen> <urn:is> 0 } ;
    ...     SELECT ?x WHERE { ?x a <urn:Old> }''')
    >>> a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    >>> [result.answers.rows for result in network.push([(1, "<urn:vw>", a, "<urn:Car>")])]
    [[('<urn:vw>',)]]
    """

    def __init__(
        self,
        source: str | NetworkFile,
        *,
        background: Backgrounds | Knowledge = (),
        limit: Limit | None = None,
        matcher: Callable[[tuple[NetworkRule, ...]], Matcher] = DeltaMatcher,
    ) -> None:
        """`source` is the text of the rules (`from_files` reads files); `background` is there first."""
        self.file = parse(source) if isinstance(source, str) else source
        if self.file.partition is not None:
            hint = "take ensue.Networks in place of Network"
            raise UsageError(f"{self.file.name} is partitioned: a network for each key", hint=hint)
        self._rules = self.file.rules
        self._matcher = matcher(self._rules)
        self._templates = [
            [] if isinstance(rule.effect, Select) else [Template(rule.effect, each) for each in rule.branches]
            for rule in self._rules
        ]
        self._agendas: dict[int, Agenda] = {}
        """By the rules' numbers; only of those that have something to do."""
        self._trail = Trail(self._rules, limit or Limit())
        self._background: Knowledge | None = knowledge_in(background)
        self.made = 0
        """How many nodes its rules have made."""
        self._key: str | None = None
        self._label = ""
        self._stopped = False
        self._failure: BaseException | None = None
        self.tally = Tally()

    @classmethod
    def from_files(
        cls, *paths: FilePath, background: Backgrounds | Knowledge = (), limit: Limit | None = None
    ) -> Network:
        """The network of one file, or of several one after the other."""
        return cls(load_network(*paths), background=background, limit=limit)

    def __iter__(self) -> Iterator[Ground]:
        """The quads that it holds: graph ('' is the default graph), subject, predicate, object."""
        return iter(self._matcher.dataset)

    def __len__(self) -> int:
        return len(self._matcher.dataset)

    def counters(self) -> dict[str, int]:
        """What was done so far, and what is held."""
        return asdict(self.tally) | {"quads": len(self)}

    # -- beside others, and again ----------------------------------------------------------------------

    def another(self, matcher: Matcher, key: str | None, label: str) -> Network:
        """One by the same rules that has not begun, for a key; `label` tells its nodes from those of others.

        The two count together.
        """
        made = copy(self)
        made._matcher, made._agendas, made._trail = matcher, {}, self._trail.another()
        made._key, made._label, made.made = key, label, 0
        return made

    def resume(self, made: int) -> None:
        """Go on where another was that had made so many nodes; what it held is put into the dataset."""
        self._background, self.made = None, made

    @property
    def dataset(self) -> Dataset:
        """What it holds."""
        return self._matcher.dataset

    # -- elements --------------------------------------------------------------------------------------

    def push(self, statements: Iterable[TimedStatement]) -> list[Result]:
        """Let statements arrive in the order in which they are given, and give what is selected.

        Those of one time next to each other are one element, unless the file says that each is.
        """
        found: list[Result] = []
        for time, same in groupby(timed_in(statements, None), key=itemgetter(0)):
            found += self.arrive(time, [statement[1:] for statement in same])
        return found

    def start(self, time: int) -> list[Result]:
        """The background is there, and rules without patterns fire: before the first element, by itself."""
        if self._background is None:
            return []
        known, self._background = self._background, None
        quads = [self._arriving(*statement) for statement in known.background()]
        return list(self._settle(time, [*self._matcher.start(), *self._matcher.change((), quads)]))

    def arrive(self, time: int, statements: Iterable[Statement]) -> list[Result]:
        """The same for statements of one time, as terms in canonical text."""
        if self._stopped:
            raise UsageError("this network did not settle, and was stopped", hint="make a new one")
        if self._failure is not None:
            what = f"this network stopped in the middle: {self._failure or type(self._failure).__name__}"
            raise BrokenError(what, hint="make a new one") from self._failure
        found = self.start(time)
        quads = [self._arriving(*statement) for statement in statements]
        for element in [[quad] for quad in quads] if self.file.element == "statement" else [quads]:
            self.tally.elements += 1
            found += self._settle(time, self._matcher.change((), element))
        return found

    def _arriving(self, s: str, p: str, o: str, graph: str | None) -> Ground:
        if s.startswith(MADE):
            s = f"_:arrived-{s[2:]}"
        if o.startswith(MADE):
            o = f"_:arrived-{o[2:]}"
        return graph if graph is not None and self.file.into != "default" else DEFAULT, s, p, o

    # -- rounds ----------------------------------------------------------------------------------------

    def _settle(self, time: int, new: Iterable[Match]) -> Iterator[Result]:
        """Rounds, until all agendas are empty."""
        self._trail.begin(time)
        try:
            self._put(new, None)
            self._trail.look(len(self), 1)
            while self._agendas:
                self._trail.round()
                turn: int | None = min(self._agendas)
                while turn is not None:
                    yield from self._fire(time, turn, self._rules[turn])
                    turn = min((number for number in self._agendas if number > turn), default=None)
        except UnsettledError:
            self._stopped = True
            raise
        except BaseException as failure:
            self._failure = failure
            raise
        self.tally.firings += self._trail.firings
        self.tally.most_rounds = max(self.tally.most_rounds, self._trail.rounds)

    def _put(self, new: Iterable[Match], cause: int | None) -> None:
        since = Since(self._matcher.changes, cause)
        for rule, branch, solution in new:
            self._agendas.setdefault(rule, {})[branch, solution] = since

    def _fire(self, time: int, number: int, rule: NetworkRule) -> Iterator[Result]:
        """Fire a rule for all on its agenda that still holds, at once."""
        agenda = self._agendas.pop(number)
        holds = self._matcher.holds
        fired = [each for each, since in agenda.items() if holds(Match(number, *each), since.change)]
        if not fired:
            return
        fired.sort(key=_by_terms)
        self._trail.fired(number, agenda[fired[-1]].cause, fired)
        if isinstance(rule.effect, Select):
            yield self._selected(time, rule, rule.effect, fired)
        else:
            self._put(self._updated(number, fired), number)
            self._trail.look(len(self), len(fired))

    def _updated(self, number: int, fired: list[Waiting]) -> Iterable[Match]:
        templates = self._templates[number]
        removed = [quad for branch, each in fired for quad in templates[branch].deleted(each)]
        added = [quad for branch, each in fired for quad in templates[branch].inserted(each, self._number)]
        return self._matcher.change(removed, added)

    def _number(self) -> str:
        """What is next in the labels of nodes that are made."""
        self.made += 1
        return f"{self._label}{self.made}"

    def _selected(self, time: int, rule: NetworkRule, select: Select, fired: list[Waiting]) -> Result:
        rows = [
            rule.projected(dict(zip(rule.branches[at].visible(), each, strict=True))) for at, each in fired
        ]
        if select.distinct:
            rows = list(dict.fromkeys(rows))
        names = tuple(variable.name for variable in select.variables)
        return Result(
            rule.name, time, time, Answers(Form.SELECT, names, rows), of_event=True, graph=self._key
        )


def _by_terms(fired: Waiting) -> tuple[int, tuple[str, ...]]:
    branch, solution = fired
    return branch, tuple(term or "" for term in solution)
