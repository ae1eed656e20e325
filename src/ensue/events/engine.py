"""The temporal part of a query as it runs: statements in, composed occurrences out when windows close.

Statements wait until everything up to some instant has been admitted, and are then looked at in the order of
time (`advance`). What nothing to come can complete is dropped at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ensue.dictionary import Dictionary
from ensue.events.asked import column_of
from ensue.events.batch import Batch
from ensue.events.bound import Bound
from ensue.events.expand import Expander
from ensue.events.leaf import Leaf
from ensue.events.memory import Memory, Tally
from ensue.events.network import Network, times_of
from ensue.events.plain import Decode, Encode, packed, plain_rows, rows_of, unpacked
from ensue.events.planning import check, plan_group
from ensue.events.tree import Group
from ensue.model import NEVER
from ensue.plan.epsilon import EpsilonTable
from ensue.plan.lookout import Lookout, schema_on_the_stream
from ensue.plan.shapes import Shape
from ensue.query.arrivals import Arrivals
from ensue.query.compiled.expressions import Values
from ensue.query.dataset import Columns, Composed
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Rule


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


class EventEngine:
    """Finds the occurrences of a query's temporal expressions."""

    def __init__(
        self, query: ContinuousQuery, dictionary: Dictionary, derived: Derivation, *, collects: bool = True
    ) -> None:
        """`collects`: garbage is collected at the end of its lifetime; otherwise never, for comparison."""
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
        self._pending: list[tuple[int, Arrivals]] = []
        self._copies = 0
        self._now = self._forgotten = NEVER
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
        self._pending += [(k, arrivals) for k, name in enumerate(self._streams) if name == stream]

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
        count = sum(len(arrivals) for _, arrivals in pending)
        every = Arrivals.joined([arrivals for _, arrivals in pending])
        streams = np.concatenate([np.full(len(arrivals), k, np.int8) for k, arrivals in pending])
        self.late += int(np.count_nonzero(every.times <= self._now))
        order = np.argsort(every.times, kind="stable")
        copies = np.arange(self._copies, self._copies + count)
        self._copies += count
        terms = (column[order] for column in (every.s, every.p, every.o))
        batch = Batch(every.times[order], copies, streams[order], *terms)
        return batch if self._expand is None else self._expand(batch)

    def read(self, open_: int) -> dict[int, Composed]:
        """For each expression the composed occurrences inside the window that opens then and closes now."""
        return {number: self._composed(number, open_) for number in range(len(self._networks))}

    def _composed(self, number: int, open_: int) -> Composed:
        network = self._networks[number]
        rows = network.within(open_)
        columns = {name: column for name, column in rows.columns.items() if name[0] not in "@#"}
        for asked in self._asked[number]:
            start, end = times_of(rows, asked.name)
            columns[asked.variable] = column_of(asked.of, start, end, self._dictionary.encode_all)
        return Composed(columns, rows.start, network.is_monotone)

    def forget(self, open_: int) -> None:
        """Let go of composed occurrences that no window holds which opens then or later."""
        self._forgotten = open_
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
        for network in self._networks:
            tables += [network.results, *([] if network.alone is None else [network.alone])]
        waiting = [column for _, arrivals in self._pending for column in arrivals.terms]
        own = [c for rows in tables for name, c in rows.columns.items() if name[0] not in "@#"]
        return [*waiting, *own]

    # -- going on from a checkpoint ----------------------------------------------------------------

    def state(self, decode: Decode) -> dict[str, Any]:
        """All that is remembered, as plain data in terms: for `resume`. Nothing may be waiting."""
        networks = []
        for network in self._networks:
            tables = [network.results, *([] if network.alone is None else [network.alone])]
            networks.append(
                {
                    "memories": [
                        [plain_rows(memory.rows, decode), packed(memory.until)]
                        for memory in network.root.memories()
                    ],
                    "tables": [plain_rows(rows, decode) for rows in tables],
                    "counters": [counter.given for counter in network.root.counters()],
                }
            )
        tally = [self._tally.collected, self._tally.consumed, self.late, self.found, self.steps]
        return {"networks": networks, "copies": self._copies, "now": self._now, "tally": tally}

    @property
    def version(self) -> list[int]:
        """Differs when `state` does."""
        return [self.steps, self._now, self._forgotten]

    def resume(self, state: Mapping[str, Any] | None, encode: Encode) -> None:
        """Go on from a state, whatever has been let in meanwhile; from the beginning if there is none."""
        self._pending = []
        if state is None:
            return
        for network, plain in zip(self._networks, state["networks"], strict=True):
            for memory, (rows, until) in zip(network.root.memories(), plain["memories"], strict=True):
                memory.restore(rows_of(rows, encode), unpacked(until))
            tables = [rows_of(rows, encode) for rows in plain["tables"]]
            network.results = tables[0]
            if network.alone is not None:
                network.alone = tables[1]
            for counter, given in zip(network.root.counters(), plain["counters"], strict=True):
                counter.given = given
        self._copies, self._now = state["copies"], state["now"]
        tally = state["tally"]
        self._tally.collected, self._tally.consumed, self.late, self.found, self.steps = tally
