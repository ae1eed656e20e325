"""Background knowledge: read once, and put under every maintainer that needs it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import QueryError
from ensue.events.engine import Derivation
from ensue.files import Statement
from ensue.knowledge import Knowledge, Update
from ensue.maintain import make
from ensue.maintain.contract import Maintainer
from ensue.maintain.represented import Represented, represented
from ensue.model import BACKGROUND, Copies, Facts, by_column
from ensue.plan import linear
from ensue.plan.asked import Fed
from ensue.plan.known import Closed, Rows
from ensue.plan.linear import TooMuchFollows
from ensue.plan.lookout import Lookout, Numbers, list_for_rules
from ensue.plan.plans import Plans
from ensue.plan.representatives import EQUALITIES, Settled, settle
from ensue.plan.specialise import Reader, Specialised
from ensue.plan.unfold import refused_by
from ensue.query.apart import Apart
from ensue.query.arrivals import Arrivals
from ensue.query.background_image import BackgroundImage, StatedImage, in_arrays
from ensue.query.dataset import Columns, PlainGraph, visible
from ensue.query.materialise import CONTEXT
from ensue.query.parting import Keys
from ensue.query.tree import ContinuousQuery
from ensue.query.violations import wrong, wrong_apart
from ensue.rules.tree import RuleSet
from ensue.violations import Violation, violations_in

if TYPE_CHECKING:
    from ensue.maintain.kernel.flatdictionary import TermsImage
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
        equality: str = EQUALITIES[0],
        stated: Copies | None = None,
        image: BackgroundImage | None = None,
    ) -> None:
        """`stated` is what the knowledge has for background, if it was read already.

        `image`: all that there is to know of it, in whose integers the dictionary is.
        """
        self.rules = rules
        self._equality = equality
        self.strategy = strategy
        self._dictionary = dictionary
        self._knowledge = knowledge
        self._loaded: dict[str, Copies] = {}
        self._facts: dict[frozenset[str], Facts] = {}
        """What follows, where that was found out by another process."""
        self._closed: dict[frozenset[str], Columns] = {}
        self._closers: dict[frozenset[str], Recompute] = {}
        self._knowns: dict[frozenset[str], Closed] = {}
        self._settled: dict[frozenset[str], Settled] = {}
        self.plans = Plans()
        refused = refused_by(rules)
        self._refused = Lookout(refused, dictionary.pin) if refused else None
        if image is not None:
            self._restore(image)
        else:
            self._stated = self._read(knowledge.background()) if stated is None else stated

    def image(self, terms: TermsImage) -> BackgroundImage:
        """What was read and found out up to now, for another process to begin with.

        `terms` are all those of the dictionary.
        """
        facts = {graphs: in_arrays(self._closed_facts(graphs)) for graphs in self._knowns}
        settled = {
            graphs: replace(found, facts=facts.get(graphs) if found.facts is not None else None)
            for graphs, found in self._settled.items()
        }
        return BackgroundImage(
            terms,
            StatedImage.of(self._stated),
            {iri: StatedImage.of(graph) for iri, graph in self._loaded.items()},
            settled,
            facts,
            self.plans.image(),
        )

    def _restore(self, image: BackgroundImage) -> None:
        self._stated = image.stated.copies()
        self._loaded = {iri: graph.copies() for iri, graph in image.loaded.items()}
        self._settled, self._facts = dict(image.settled), dict(image.facts)
        self.plans.restore(image.plans)

    def under(self, rules: RuleSet) -> Background:
        """The same knowledge under other rules."""
        made = Background(
            rules, self._dictionary, self._knowledge, self.strategy, self._equality, self._stated
        )
        made._loaded = self._loaded
        return made

    def expect(self, name: str) -> None:
        """Nothing is known yet of a graph that a stream will bring."""
        self._loaded.setdefault(name, Copies())

    def bring(self, name: str, arrivals: Arrivals) -> None:
        """A stream brought such a graph: what was found out without it holds no more."""
        columns = (self._dictionary.decode_all(column.tolist()) for column in arrivals.columns)
        rows = zip(*columns, strict=True)
        self._loaded[name] = self._read((s or "", p or "", o or "", graph) for s, p, o, graph in rows)
        caches: tuple[dict[frozenset[str], Any], ...] = (
            self._closed,
            self._closers,
            self._facts,
            self._knowns,
            self._settled,
        )
        for cache in caches:
            for graphs in [each for each in cache if name in each]:
                del cache[graphs]

    def updated(self, update: Update) -> Background:
        """The background from an update on: closed and planned for anew, with the same integers."""
        stated = self._stated if update.reloaded is None else self._read(update.reloaded)
        if update.removed:
            stated = _without(stated, self._read(update.removed))
        if update.added:
            before, stated = stated, Copies()
            stated.extend(before)
            stated.extend(self._read(update.added))
        made = Background(
            self.rules, self._dictionary, self._knowledge, self.strategy, self._equality, stated
        )
        made._loaded = self._loaded | {iri: self._read(graph) for iri, graph in update.graphs.items()}
        return made

    def check(self, graphs: Iterable[str]) -> None:
        """Read the graphs that a query names, so that what is wrong with them is said at once."""
        for iri in graphs:
            self._graph(iri)

    def specialised(self, readers: Iterable[Reader], graphs: frozenset[str]) -> Specialised:
        """What some readers need of the rules, the background and these graphs."""
        whole = self.whole(graphs)
        if not whole.rules.rules:
            return whole
        found = self.plans.find(readers, graphs, whole.rules, self._known(graphs))
        return replace(found, reports=(*whole.reports, *found.reports)) if whole.reports else found

    def whole(self, graphs: frozenset[str]) -> Specialised:
        """All rules, as they are over the background and these graphs, and everything that was stated."""
        settled = self._settle(graphs)
        reports = (report for report in (settled.unfolded.report, settled.report) if report is not None)
        return Specialised(settled.unfolded.rules, None, reports=tuple(reports))

    def closed_rows(self, graphs: frozenset[str]) -> Rows:
        """All statements of the closed background and these graphs, for a plan under which no more follow."""
        return np.arange(len(self._known(graphs)))

    def refuse_lists(self, where: str, s: Numbers, p: Numbers, o: Numbers) -> None:
        """Raise InputError if something outside of the background brings what rules over lists ask for."""
        if self._refused is not None and (row := self._refused.first(s, p, o)) is not None:
            raise list_for_rules(where, *(self._dictionary.decode(int(column[row])) for column in (s, p, o)))

    def derivation(self, query: ContinuousQuery) -> Derivation:
        """How statements become what the groups of a temporal query match; raises QueryError."""
        graphs = frozenset(query.default_graphs)
        if not self._settle(graphs).classes.is_trivial:
            what, hint = "occurrences are not found of terms that are kept as one", 'say equality "plain"'
            raise QueryError(what, place=query.place, hint=hint)
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
        classes = self._settle(graphs).classes
        made = make(strategy, plan.rules, represented(self._dictionary, classes))
        if not classes.is_trivial:
            made = Represented(made, classes, self._dictionary)
        if plan.background is None:
            made.load_background(self._copies(graphs))
        else:
            needed = (column[plan.background] for column in self._known(graphs).columns)
            made.load_background(Copies.lasting(*needed))
        return made

    def closed(self, graphs: frozenset[str]) -> Columns:
        """The background and these graphs, with what follows: the same object each time."""
        if graphs not in self._closed:
            facts = self._expanded(self._closed_facts(graphs), graphs)
            self._closed[graphs] = visible(Columns.of(facts), self._dictionary)
        return self._closed[graphs]

    def truth(self, graphs: frozenset[str], copies: Copies | None = None) -> Facts:
        """All that follows, whether or not a query would see it: from the background and these graphs.

        Or, without what these hold, from copies over them: each context by itself.
        """
        if copies is None:
            return self._expanded(self._closed_facts(graphs), graphs)
        return self._close(copies, None, graphs)

    def stated(self, graphs: frozenset[str]) -> list[tuple[str | None, Copies]]:
        """What was read: the background (None), and each of these graphs."""
        return [(None, self._stated), *((iri, self._graph(iri)) for iri in sorted(graphs))]

    def close(self, copies: Copies, graphs: frozenset[str]) -> Columns:
        """Copies of the one context with what follows from them over the background and these graphs."""
        return visible(Columns.of(self._close(copies, CONTEXT, graphs)), self._dictionary)

    def wrong(self, copies: Copies, graphs: frozenset[str]) -> Columns:
        """The violations that follow from copies of the one context over the background and these graphs."""
        return wrong(self._close(copies, CONTEXT, graphs), self._dictionary)

    def wrong_apart(self, copies: Copies, graphs: frozenset[str]) -> Apart:
        """The same for copies of several contexts."""
        return wrong_apart(self._close(copies, None, graphs), self._dictionary)

    def violations(self, graphs: frozenset[str]) -> list[Violation]:
        """What is wrong with the background and these graphs, whatever streams bring."""
        return violations_in(self.truth(graphs), self._dictionary)

    def close_apart(self, copies: Copies, graphs: frozenset[str]) -> Apart:
        """Copies of several contexts, each with what follows from it alone over the background."""
        return Apart.seen(self._close(copies, None, graphs), self._dictionary)

    def _close(self, copies: Copies, context: int | None, graphs: frozenset[str]) -> Facts:
        over = self._settle(graphs).classes.over_copies(copies)
        return self._expanded(self._closer(graphs).closure_of(over, context), graphs)

    def _expanded(self, facts: Facts, graphs: frozenset[str]) -> Facts:
        return self._settle(graphs).classes.expanded(facts)

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
        if graphs not in self._knowns:
            facts, classes = self._closed_facts(graphs), self._settle(graphs).classes
            self._knowns[graphs] = Closed(self._dictionary, facts.s, facts.p, facts.o, classes)
        return self._knowns[graphs]

    def _closed_facts(self, graphs: frozenset[str]) -> Facts:
        """The background and these graphs, closed, about representatives."""
        if graphs in self._facts:
            return self._facts[graphs]
        facts = self._settle(graphs).facts
        return self._closer(graphs).closure(BACKGROUND) if facts is None else facts

    def _settle(self, graphs: frozenset[str]) -> Settled:
        last: list[tuple[RuleSet, Recompute]] = []

        def close(plain: RuleSet, stated: Copies, dictionary: Dictionary) -> Facts:
            last[:] = [(plain, _closer_of(plain, stated, dictionary))]
            return last[0][1].closure(BACKGROUND)

        if graphs not in self._settled:
            stated = self._copies(graphs)
            found = settle(self.rules, stated, self._dictionary, close, self._equality)
            # The last one is for good, unless it was to find out who is equal to whom.
            if last and last[0][0] == found.unfolded.rules:
                self._closers[graphs] = last[0][1]
            self._settled[graphs] = found
        return self._settled[graphs]

    def _closer(self, graphs: frozenset[str]) -> Recompute:
        """What closes over the background and these graphs: planned once, however often it is asked."""
        settled = self._settle(graphs)
        if graphs not in self._closers:
            over = settled.classes.over_copies(self._copies(graphs))
            dictionary = represented(self._dictionary, settled.classes)
            self._closers[graphs] = _closer_of(settled.unfolded.rules, over, dictionary)
        return self._closers[graphs]

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
            s, p, o, names = by_column(batch, 4)
            lasting = Copies.lasting(*(array("i", pin_terms(column)) for column in (s, p, o)))
            for row, name in enumerate(names):
                if name is not None:
                    lasting.graph[row] = self._dictionary.pin(name)
            copies.extend(lasting)
        return copies


def _without(copies: Copies, gone: Copies) -> Copies:
    """The copies of other statements than these, in whatever graph they are."""
    triples = set(zip(gone.s, gone.p, gone.o, strict=True))
    kept = Copies()
    for context, s, p, o, graph, stamp in copies:
        if (s, p, o) not in triples:
            kept.append(context, s, p, o, stamp, graph)
    return kept


def _closer_of(rules: RuleSet, background: Copies, dictionary: Dictionary) -> Recompute:
    closer = cast("Recompute", make("recompute", rules, dictionary))
    closer.load_background(background)
    return closer
