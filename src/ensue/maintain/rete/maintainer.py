"""The `rete` strategy: the contract's calls, turned into facts that flow through the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from ensue.dictionary import Dictionary
from ensue.errors import BrokenError
from ensue.maintain.base import LoggedMaintainer, check_stream_copies, check_threshold
from ensue.maintain.program import UNBOUND, Binding, CompiledRule, conclude
from ensue.maintain.rete.limit import Limit
from ensue.maintain.rete.memory import Memory
from ensue.maintain.rete.network import Network
from ensue.maintain.rete.retraction import overdelete, rederive
from ensue.maintain.rete.search import Search
from ensue.maintain.rete.walk import GroundInsertion, Insertion
from ensue.maintain.snapshot import Snapshot
from ensue.model import BACKGROUND, FOREVER, NEVER, Change, Copies, Facts, Triple
from ensue.rules.tree import RuleSet

Row = tuple[int, int, int, int, int]


class Rete(LoggedMaintainer):
    """Keep contexts closed with a token network; needs nothing but the standard library.

    Copies are only noted when they are admitted. They flow when the step ends (or when the closure
    is read), because then the new threshold is known and nothing is derived that it would drop.

    >>> from ensue.rules.tree import Pattern, Premise, Rule, Var
    >>> x, y, z, is_in = Var("x"), Var("y"), Var("z"), "<urn:isIn>"
    >>> premises = (Premise(Pattern(x, is_in, y)), Premise(Pattern(y, is_in, z)))
    >>> d = Dictionary()
    >>> rete = Rete(RuleSet("t", (Rule("R", premises, (Pattern(x, is_in, z),)),)), d)
    >>> a, b, c, p = (d.encode(f"<urn:{name}>") for name in ("a", "b", "c", "isIn"))
    >>> rete.admit(Copies.of([(1, a, p, b, 10), (1, b, p, c, 20)]))
    >>> len(rete.advance(0).inserted), rete.closure(1).stamps()[1, a, p, c]
    (3, 10)
    >>> len(rete.advance(10).deleted), len(rete.closure(1))
    (2, 1)
    """

    name = "rete"
    stamped = True

    def __init__(self, rules: RuleSet, dictionary: Dictionary) -> None:
        super().__init__(rules, dictionary)
        self.renewed = Facts.of(())
        """What held before the last step and got a fresher stamp in it: for who passes facts on."""
        self._threshold = NEVER
        self._derivations = 0
        self._network: Network | None = None
        self._failure: BaseException | None = None
        """What went wrong while facts flowed: what is in the network then is not closed."""
        self._background: Memory
        self._contexts: dict[int, Memory] = {}
        self._pending: list[Copies] = []
        self._before: dict[int, dict[Triple, int]] = {}
        """What contexts held before the background changed."""

    def load_background(self, copies: Copies) -> None:
        """Add statements that never expire. Best before the first step: later, the network is rebuilt."""
        self._add_ground(copies)
        self._unbuild()

    def admit(self, copies: Copies) -> None:
        """Let copies in."""
        check_stream_copies(copies)
        self._log.add(copies)
        self._pending.append(copies)

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        self._settle()
        taken = self._take_back(copies, every=every)
        retracted: dict[int, list[tuple[Triple, int]]] = {}
        for context, s, p, o, stamp in taken:
            retracted.setdefault(context, []).append(((s, p, o), stamp))
        for context, facts in retracted.items():
            self._withdraw(context, facts)
        return len(taken)

    def advance(self, threshold: int) -> Change:
        """Draw what follows from what was admitted, expire, and say what changed since the last call."""
        check_threshold(threshold, self._threshold)
        self._threshold = threshold
        self._settle()
        self._log.expire(threshold)
        inserted: list[Row] = []
        deleted: list[Row] = []
        renewed: list[Row] = []
        for context, memory in list(self._contexts.items()):
            memory.expire(threshold)
            renewed += [(context, *triple, memory.facts[triple].stamp) for triple in memory.renewed()]
            inserted += [(context, *triple, memory.facts[triple].stamp) for triple in memory.fresh]
            lost = (item for item in memory.gone.items() if item[0] not in self._background.facts)
            deleted += [(context, *triple, stamp) for triple, stamp in lost]
            memory.end_step()
            if not memory.facts:
                del self._contexts[context]
        self.renewed = Facts.of(renewed)
        return Change(Facts.of(inserted), Facts.of(deleted))

    def closure(self, context: int | None, threshold: int | None = None) -> Facts:
        """What holds in a context (without what the background holds), fresher than `threshold`."""
        self._settle()
        if context is None:
            return Facts.of(row for each in sorted(self._contexts) for row in self.closure(each, threshold))
        memory = self._background if context == BACKGROUND else self._contexts.get(context)
        limit = self._threshold if threshold is None else max(threshold, self._threshold)
        facts = memory.facts.values() if memory is not None else ()
        return Facts.of((context, *fact.values, fact.stamp) for fact in facts if fact.stamp > limit)

    def matches(self, rule: CompiledRule, context: int) -> Iterator[tuple[Binding, int]]:
        """Every way to match a rule's body in a context, with its stamp; conditions are not asked.

        The rule need not be one of the regime's: this is how simple queries are answered.
        """
        network = self._settle()
        memory = self._contexts.get(context) or Memory(network)
        return Search(memory, self._background).bodies(rule, [UNBOUND] * rule.variables)

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use. What tokens hold, facts hold too."""
        self._settle()
        yield from self._columns_in_use()
        for memory in (self._background, *self._contexts.values()):
            yield chain.from_iterable(memory.facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Forget everything and go on from a snapshot, as at the end of the step before it."""
        self._restore_log(snapshot)
        self._threshold = snapshot.threshold
        self._unbuild()
        self._before.clear()
        self._settle()
        for memory in self._contexts.values():
            memory.end_step()

    def statistics(self) -> dict[str, int]:
        """Counters: nodes, tokens, facts (of contexts and of the background), derivations, copies."""
        network = self._settle()
        ground = sum(len(tokens) for port in network.ports() for tokens in port.ground.values())
        return {
            "alpha_nodes": network.alpha_nodes,
            "beta_nodes": network.beta_nodes,
            "tokens": ground + sum(memory.count_tokens() for memory in self._contexts.values()),
            "facts": sum(len(memory.facts) for memory in self._contexts.values()),
            "background": len(self._background.facts),
            "derivations": self._derivations,
            "copies": len(self._log),
        }

    def _settle(self) -> Network:
        """Build the network if there is none, and let everything flow that was admitted."""
        if self._failure is not None:
            what = (
                f"facts were left half closed by a failure: {self._failure or type(self._failure).__name__}"
            )
            raise BrokenError(what, hint="make a new reasoner") from self._failure
        try:
            network = self._network or self._build()
            pending, self._pending = self._pending, []
            touched = dict.fromkeys(context for copies in pending for context in self._state(copies))
            for context in touched:
                self._run(self._contexts[context])
        except BaseException as failure:
            self._failure = failure
            raise
        return network

    def _run(self, memory: Memory) -> None:
        assert self._network is not None
        others = sum(len(each.facts) for each in self._contexts.values()) - len(memory.facts)
        limit = Limit(self._network, self._dictionary, others + len(self._background.facts))
        walk = Insertion(memory, self._background, self._threshold, limit)
        walk.settle()
        self._derivations += walk.attempts

    def _state(self, copies: Copies) -> Iterator[int]:
        """Put copies on the agendas of their contexts; say which contexts these are."""
        assert self._network is not None
        threshold, ground = self._threshold, self._background.facts
        for context, s, p, o, _, stamp in copies:
            if stamp > threshold and (s, p, o) not in ground:
                memory = self._contexts.get(context)
                if memory is None:
                    memory = self._contexts[context] = Memory(self._network)
                memory.state((s, p, o), stamp)
                yield context

    def _build(self) -> Network:
        """The network for the background as it is now, and the background closed in it.

        Twice: joins are ordered by what premises match, and of the closed background that is another
        thing than of what was stated.
        """
        ground = {(s, p, o): None for _, s, p, o, _, _ in self._ground} | dict.fromkeys(self._program.axioms)
        for rule in self._program.rules:
            if not rule.premises:
                ground |= dict.fromkeys(conclude(rule, [UNBOUND] * rule.variables, self._dictionary))
        ground = self._close(ground)
        self._close(ground)
        assert self._network is not None
        self._contexts = {context: Memory(self._network, held) for context, held in self._before.items()}
        self._before = {}
        return self._network

    def _close(self, ground: dict[Triple, None]) -> dict[Triple, None]:
        self._network = Network(self._program, self._dictionary, ground)
        self._background = Memory(self._network)
        for triple in ground:
            self._background.state(triple, FOREVER)
        walk = GroundInsertion(self._background, Limit(self._network, self._dictionary, 0))
        walk.settle()
        self._derivations += walk.attempts
        return dict.fromkeys(self._background.facts)

    def _unbuild(self) -> None:
        """The background is another one: at the next chance, build anew and let the whole log flow.

        Each context notes all that it held when the last step ended as gone, and takes back what
        comes again: so the change that the step reports is net.
        """
        if self._network is not None:
            self._network = None
            for context, memory in self._contexts.items():
                held = {t: fact.stamp for t, fact in memory.facts.items() if t not in memory.fresh}
                self._before[context] = held | memory.gone
            self._contexts.clear()
        self._pending = list(self._log.panes())

    def _withdraw(self, context: int, retracted: list[tuple[Triple, int]]) -> None:
        """Let facts fall with copies that were taken back, and rise again as far as they can."""
        memory = self._contexts.get(context)
        if memory is None:
            return

        def stated(triple: Triple) -> int:
            return self._log.stated((context, *triple))

        search = Search(memory, self._background)
        for triple in overdelete(memory, self._background, retracted, stated):
            stamp = rederive(search, triple, stated(triple), self._dictionary)
            if stamp > self._threshold:
                memory.state(triple, stamp)
        self._run(memory)
