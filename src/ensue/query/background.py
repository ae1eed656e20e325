"""Background knowledge: read once, and put under every maintainer that needs it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, cast

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import QueryError
from ensue.events.engine import Derivation
from ensue.files import Statement
from ensue.knowledge import Knowledge
from ensue.maintain import make
from ensue.maintain.contract import Maintainer
from ensue.model import BACKGROUND, Copies
from ensue.plan import linear
from ensue.plan.asked import Fed
from ensue.plan.known import Closed
from ensue.plan.linear import TooMuchFollows
from ensue.plan.lookout import Lookout, Numbers, list_for_rules
from ensue.plan.specialise import Reader, Specialised, specialise
from ensue.plan.unfold import Unfolded, refused_by, unfold
from ensue.query.apart import Apart
from ensue.query.dataset import Columns, PlainGraph, visible
from ensue.query.materialise import CONTEXT
from ensue.query.parting import Keys
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import RuleSet

if TYPE_CHECKING:
    from ensue.maintain.recompute import Recompute

_AT_ONCE = 10_000
"""How many statements are read at once."""


class Background:
    """The background of all queries, the graphs of FROM and FROM NAMED, and maintainers over them."""

    def __init__(
        self,
        rules: RuleSet,
        dictionary: Dictionary,
        knowledge: Knowledge,
        strategy: str,
    ) -> None:
        self.rules = rules
        self.strategy = strategy
        self._dictionary = dictionary
        self._knowledge = knowledge
        self._loaded: dict[str, Copies] = {}
        self._closed: dict[frozenset[str], Columns] = {}
        self._closers: dict[frozenset[str], Recompute] = {}
        self._knowns: dict[frozenset[str], Closed] = {}
        self._unfolded: dict[frozenset[str], Unfolded] = {}
        refused = refused_by(rules)
        self._refused = Lookout(refused, dictionary.pin) if refused else None
        self._stated = self._read(knowledge.background())

    def check(self, graphs: Iterable[str]) -> None:
        """Read the graphs that a query names, so that what is wrong with them is said at once."""
        for iri in graphs:
            self._graph(iri)

    def specialised(self, readers: Iterable[Reader], graphs: frozenset[str]) -> Specialised:
        """What some readers need of the rules, the background and these graphs."""
        whole = self.whole(graphs)
        if not whole.rules.rules:
            return whole
        found = specialise(readers, whole.rules, self._known(graphs))
        return replace(found, reports=(*whole.reports, *found.reports)) if whole.reports else found

    def whole(self, graphs: frozenset[str]) -> Specialised:
        """All rules, as they are over the background and these graphs, and everything that was stated."""
        unfolded = self._unfold(graphs)
        return Specialised(unfolded.rules, None, reports=(unfolded.report,) if unfolded.report else ())

    def refuse_lists(self, where: str, s: Numbers, p: Numbers, o: Numbers) -> None:
        """Raise InputError if something outside of the background brings what rules over lists ask for."""
        if self._refused is not None and (row := self._refused.first(s, p, o)) is not None:
            raise list_for_rules(where, *(self._dictionary.decode(int(column[row])) for column in (s, p, o)))

    def derivation(self, query: ContinuousQuery) -> Derivation:
        """How statements become what the groups of a temporal query match; raises QueryError."""
        graphs = frozenset(query.default_graphs)
        plan = self.specialised([(query, Fed.of(query))], graphs)
        if not plan.rules.rules:
            return Derivation(None, (), plan.assumed, self.closed(graphs))
        try:
            found = linear.find(plan.rules, self._known(graphs))
        except TooMuchFollows:
            what, hint = "more follows from the schema than a table should hold", "leave out rules"
            raise QueryError(what, place=query.place, hint=hint) from None
        table = found.table if len(found.table) else None
        assumed = (*plan.assumed, *found.assumed)
        return Derivation(table, found.left.rules, assumed, self.closed(graphs))

    def maintainer(self, graphs: frozenset[str], plan: Specialised, strategy: str) -> Maintainer:
        """A new maintainer over the background and these graphs, as a plan has it."""
        made = make(strategy, plan.rules, self._dictionary)
        if plan.background is None:
            made.load_background(self._copies(graphs))
        else:
            needed = (column[plan.background] for column in self._known(graphs).columns)
            made.load_background(Copies.lasting(*needed))
        return made

    def closed(self, graphs: frozenset[str]) -> Columns:
        """The background and these graphs, with what follows: the same object each time."""
        if graphs not in self._closed:
            facts = self._closer(graphs).closure(BACKGROUND)
            self._closed[graphs] = visible(Columns.of(facts), self._dictionary)
        return self._closed[graphs]

    def close(self, copies: Copies, graphs: frozenset[str]) -> Columns:
        """Copies of the one context with what follows from them over the background and these graphs."""
        facts = self._closer(graphs).closure_of(copies, CONTEXT)
        return visible(Columns.of(facts), self._dictionary)

    def close_apart(self, copies: Copies, graphs: frozenset[str]) -> Apart:
        """Copies of several contexts, each with what follows from it alone over the background."""
        return Apart.seen(self._closer(graphs).closure_of(copies, None), self._dictionary)

    def keys(self, graphs: frozenset[str], key: str) -> Keys:
        """The keys that subjects have, by a property, in the background and these graphs, closed."""
        facts = self.closed(graphs)
        number = self._dictionary.pin(f"<{key}>")
        own = facts.p == number
        return Keys.of(number, facts.s[own], facts.o[own])

    def named(self, iri: str) -> PlainGraph:
        """A graph of FROM NAMED, with what follows from it over the background, but not the background."""
        copies = Copies()
        for _, s, p, o, graph, stamp in self._graph(iri):
            copies.append(CONTEXT, s, p, o, stamp, graph)
        if self._refused is not None:
            self.refuse_lists(f"FROM NAMED <{iri}>", *map(np.asarray, (copies.s, copies.p, copies.o)))
        return PlainGraph(self.close(copies, frozenset()))

    def __len__(self) -> int:
        """How many statements were read, FROM's included."""
        return len(self._stated) + sum(map(len, self._loaded.values()))

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use besides what is pinned."""
        seen = [c.tolist() for facts in self._closed.values() for c in (facts.s, facts.p, facts.o)]
        return [*seen, *(column for closer in self._closers.values() for column in closer.used_terms())]

    def _known(self, graphs: frozenset[str]) -> Closed:
        """The background and these graphs, closed: the same object each time, as it keeps plans."""
        closer = self._closer(graphs)
        if graphs not in self._knowns:
            self._knowns[graphs] = self._closed_by(closer)
        return self._knowns[graphs]

    def _closed_by(self, closer: Recompute) -> Closed:
        facts = closer.closure(BACKGROUND)
        return Closed(self._dictionary, facts.s, facts.p, facts.o)

    def _unfold(self, graphs: frozenset[str]) -> Unfolded:
        def close(plain: RuleSet) -> Closed:
            self._closers[graphs] = self._new_closer(plain, graphs)  # The last one is for good.
            return self._closed_by(self._closers[graphs])

        if graphs not in self._unfolded:
            self._unfolded[graphs] = unfold(self.rules, close)
        return self._unfolded[graphs]

    def _closer(self, graphs: frozenset[str]) -> Recompute:
        """What closes over the background and these graphs: planned once, however often it is asked."""
        if graphs not in self._closers:
            rules = self._unfold(graphs).rules
            if graphs not in self._closers:
                self._closers[graphs] = self._new_closer(rules, graphs)
        return self._closers[graphs]

    def _new_closer(self, rules: RuleSet, graphs: frozenset[str]) -> Recompute:
        closer = cast("Recompute", make("recompute", rules, self._dictionary))
        closer.load_background(self._copies(graphs))
        return closer

    def _copies(self, graphs: frozenset[str]) -> Copies:
        copies = Copies()
        for batch in (self._stated, *(self._graph(iri) for iri in sorted(graphs))):
            copies.extend(batch)
        return copies

    def _graph(self, iri: str) -> Copies:
        if iri not in self._loaded:
            self._loaded[iri] = self._read(self._knowledge.graph(iri))
        return self._loaded[iri]

    def _read(self, statements: Iterable[Statement]) -> Copies:
        # Pinned: what is read once must keep its integers, for maintainers are made of it at any time.
        pin_terms, copies, some = self._dictionary.pin_terms, Copies(), iter(statements)
        while batch := list(islice(some, _AT_ONCE)):
            s, p, o, names = zip(*batch, strict=True)
            lasting = Copies.lasting(*(array("i", pin_terms(column)) for column in (s, p, o)))
            for row, name in enumerate(names):
                if name is not None:
                    lasting.graph[row] = self._dictionary.pin(name)
            copies.extend(lasting)
        return copies
