"""The temporal part of a query as it runs: statements in, composed occurrences out when windows close.

Statements wait until everything up to some instant has been admitted, and are then looked at in the order of
time (`advance`). What nothing to come can complete is dropped at once.

To go on elsewhere takes all that is remembered, as it was written down at some time (`state`), and what has
come since (`truth.py`); or, on the same host, the arrays as they are (`park`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.dictionary import Dictionary
from ensue.events.asked import column_of
from ensue.events.batch import Batch
from ensue.events.bound import Bound
from ensue.events.expand import Expander
from ensue.events.leaf import Leaf
from ensue.events.memory import Memory, Tally
from ensue.events.network import Network, times_of
from ensue.events.occurrences import KEY, Column, Occurrences
from ensue.events.plain import Decode, Encode, plain_network, restore
from ensue.events.planning import check, plan_group
from ensue.events.tree import Group
from ensue.events.truth import Since
from ensue.model import NEVER
from ensue.plan.epsilon import EpsilonTable
from ensue.plan.lookout import Lookout, schema_on_the_stream
from ensue.plan.shapes import Shape
from ensue.query.arrivals import Arrivals
from ensue.query.compiled.expressions import Values
from ensue.query.dataset import Columns, Composed
from ensue.query.occurred import Occurred
from ensue.query.parting import Parting
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Rule
from ensue.windows.spec import Window

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder


class Derivation:
    """How statements become what is matched: what is done by table, by unfolding, and what was assumed."""

    def __init__(
        self, table: EpsilonTable | None, rules: Sequence[Rule], assumed: Iterable[Shape], background: Columns
    ) -> None:
        """`background` is closed; `rules` are those that the table leaves."""
        self.table = table
        self.rules = tuple(rules)
        self.assumed = tuple(assumed)
        self.background = background

    def assuming(self, *shapes: Shape) -> Derivation:
        """The same as long as no stream brings a statement of these shapes, either."""
        return Derivation(self.table, self.rules, (*self.assumed, *shapes), self.background)


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    """Statements that have come and are not yet looked at."""

    window: int
    """The number of the window that they came into."""
    arrivals: Arrivals
    keys: Column | None
    """Of the partitions that they are in, if the query is partitioned."""


class EventEngine:
    """Finds the occurrences of a query's temporal expressions."""

    def __init__(
        self,
        query: ContinuousQuery,
        dictionary: Dictionary,
        derived: Derivation,
        *,
        parting: Parting | None = None,
        collects: bool = True,
    ) -> None:
        """`parting` says which partitions statements are in, if the query is partitioned.

        `collects`: garbage is collected at the end of its lifetime; otherwise never, for comparison.
        """
        assert query.events is not None
        spec = check(query)
        self._dictionary = dictionary
        self._streams = [on.stream for on in query.streams]
        self._asked = query.events.asked
        self._tally = Tally(collects=collects)
        self._expand = None if derived.table is None else Expander(derived.table, dictionary)
        self._lookout = Lookout(derived.assumed, dictionary.pin) if derived.assumed else None
        values = Values(dictionary, query.base)

        def make(group: Group, bound: Bound) -> Leaf:
            plan = plan_group(group, query, dictionary, derived.rules)
            return Leaf(plan, derived.background, values, bound, self._tally)

        pairs = zip(query.events.expressions, self._asked, strict=True)
        self._networks = [Network(tree, asked, make, spec.grid, self._tally) for tree, asked in pairs]
        self._parting = parting
        self._pending: list[_Pending] = []
        self._copies = 0
        self._now = NEVER
        self._since = Since(self._streams)
        self.late = 0
        self.found = 0
        """How many composed occurrences there were."""
        self.steps = 0

    def admit(self, stream: str, arrivals: Arrivals) -> None:
        """Let statements in; they are looked at when everything up to some later time has come."""
        if self._lookout is not None:
            row = self._lookout.first(arrivals.s, arrivals.p, arrivals.o)
            if row is not None:
                decode = self._dictionary.decode
                terms = (decode(int(column[row])) for column in (arrivals.s, arrivals.p, arrivals.o))
                raise schema_on_the_stream(stream, *terms)
        if stream not in self._streams or not self._since.comes(stream, len(arrivals)):
            return
        self.late += int(np.count_nonzero(arrivals.times <= self._now))
        keys = None
        if self._parting is not None:
            arrivals, keys = self._parting.parted(arrivals)
        self._pending += [
            _Pending(k, arrivals, keys) for k, name in enumerate(self._streams) if name == stream
        ]

    def advance(self, now: int) -> None:
        """Everything up to `now` has been admitted: match it, and drop what nothing later can complete."""
        if self._pending:
            batch = self._batch()
            for network in self._networks:
                self.found += network.step(batch, len(self._streams))
            self.steps += 1
        if now > self._now:
            self._now = now
            for memory in self._memories():
                memory.collect(now)

    def _batch(self) -> Batch:
        """What waits, in order of time, with what linear rules make of it."""
        pending, self._pending = self._pending, []
        every = Arrivals.joined([each.arrivals for each in pending])
        streams = np.concatenate([np.full(len(each.arrivals), each.window, np.int8) for each in pending])
        keys = None
        if self._parting is not None:
            keys = np.concatenate([each.keys for each in pending if each.keys is not None])
        order = np.argsort(every.times, kind="stable")
        copies = np.arange(self._copies, self._copies + len(order))
        self._copies += len(order)
        s, p, o = (column[order] for column in (every.s, every.p, every.o))
        found = None if keys is None else keys[order]
        batch = Batch(every.times[order], copies, streams[order], s, p, o, found)
        return batch if self._expand is None else self._expand(batch)

    def read(self, window: Window) -> Occurred:
        """What was composed, expression by expression, inside the window that closes now."""
        found = {number: self._composed(number, window.open) for number in range(len(self._networks))}
        if self._parting is None:
            return Occurred(window, found)
        present, unkeyed = self._parting.present(window.open), self._parting.unkeyed(window.open)
        return Occurred(window, found, present, unkeyed)

    def _composed(self, number: int, open_: int) -> Composed:
        network = self._networks[number]
        rows = network.within(open_)
        columns = {name: column for name, column in rows.columns.items() if name[0] not in "@#"}
        for asked in self._asked[number]:
            start, end = times_of(rows, asked.name)
            columns[asked.variable] = column_of(asked.of, start, end, self._dictionary.encode_all)
        keys = columns.pop(KEY, None)
        return Composed(columns, rows.start, network.is_monotone, keys)

    def forget(self, open_: int) -> None:
        """Let go of composed occurrences that no window holds which opens then or later."""
        if self._parting is not None:
            self._parting.forget(open_)
        for network in self._networks:
            network.forget(open_)

    def _memories(self) -> list[Memory]:
        return [memory for network in self._networks for memory in network.root.memories()]

    def counters(self) -> dict[str, int]:
        """How much is remembered, and what became of what was."""
        return {
            "partial_matches": sum(map(len, self._memories())),
            "collected": self._tally.collected,
            "consumed": self._tally.consumed,
            "composed": self.found,
            "late_events": self.late,
            "overdue": self._overdue(),
        }

    def _overdue(self) -> int:
        """How many partial matches have outlived their lifetime: none, if garbage is collected."""
        return sum(int(np.count_nonzero(memory.until <= self._now)) for memory in self._memories())

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use."""
        tables = [memory.rows for memory in self._memories()]
        tables += [table for network in self._networks for table in network.tables]
        waiting = [column for each in self._pending for column in each.arrivals.terms]
        own = [c for rows in tables for name, c in rows.columns.items() if name[0] not in "@#"]
        keys = [] if self._parting is None else self._parting.used_terms()
        return [*waiting, *own, *keys]

    # -- going on elsewhere ------------------------------------------------------------------------

    def rest(self) -> None:
        """A step is over: all is to be written down once as much has come as there is to write."""
        self._since.rest(sum(map(len, self._memories())) + sum(map(len, self._tables())))

    def _tables(self) -> list[Occurrences]:
        return [table for network in self._networks for table in network.tables]

    def written(self, stream: str) -> int | None:
        """How many statements of a stream had come when all was last written down; None: it reads others."""
        return self._since.written.get(stream)

    @property
    def version(self) -> list[int]:
        """Differs when all is to be written down anew; empty while nothing is."""
        return [self._since.times] if self._since.times else []

    def state(self, decode: Decode) -> dict[str, Any]:
        """All that is remembered, as plain data in terms: for `resume`. Nothing may be waiting."""
        return {
            "networks": [plain_network(network, decode) for network in self._networks],
            "parting": None if self._parting is None else self._parting.plain(decode),
            **self._plain(),
        }

    def _plain(self) -> dict[str, Any]:
        """What is no array."""
        given = [[counter.given for counter in network.root.counters()] for network in self._networks]
        return {"given": given, "copies": self._copies, "now": self._now, "since": self._since.plain()}

    def _take(self, plain: Mapping[str, Any]) -> None:
        self._pending = []
        for network, every in zip(self._networks, plain["given"], strict=True):
            for counter, given in zip(network.root.counters(), every, strict=True):
                counter.given = given
        self._copies, self._now = plain["copies"], plain["now"]

    def resume(self, state: Mapping[str, Any], encode: Encode) -> None:
        """Go on from a state, before what has come since is let in once more (`start_again`)."""
        for network, plain in zip(self._networks, state["networks"], strict=True):
            restore(network, plain, encode)
        if self._parting is not None:
            self._parting.resume(state["parting"], encode)
        self._take(state)
        self._since.resume(state["since"])

    def start_again(self, before: Mapping[str, int]) -> None:
        """Of each stream so many statements had come: others follow, some of which may be known already."""
        self._since.start_again(before)

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let all that is remembered lie in a folder from now on; what there is to know besides."""
        for number, network in enumerate(self._networks):
            network.park(folder.under(str(number)))
        if self._parting is not None:
            self._parting.park(folder.under("parting"))
        return self._plain()

    def adopt(self, folder: Folder, plain: Mapping[str, Any]) -> None:
        """Go on with what another has put away."""
        for number, network in enumerate(self._networks):
            network.adopt(folder.under(str(number)))
        if self._parting is not None:
            self._parting.adopt(folder.under("parting"), NEVER)
        self._take(plain)
        self._since.adopt(plain["since"])

    @property
    def tally(self) -> list[int]:
        """What was counted so far."""
        return [self._tally.collected, self._tally.consumed, self.late, self.found, self.steps]

    @tally.setter
    def tally(self, counted: Sequence[int]) -> None:
        self._tally.collected, self._tally.consumed, self.late, self.found, self.steps = counted
