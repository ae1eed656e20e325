"""The network: what the rules look like to a fact. Built once, read only while facts flow.

A fact is sent by its constants to *alpha nodes*, one per distinct pattern. There it begins the
bindings of rules whose first premise it matches (an *entry*), and it meets, at a *port*, the
bindings that wait for a fact of this pattern with this key (a *join*). A binding (*values*) lists
the variables in the order in which the premises bind them, so rules that begin alike share nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from ensue.dictionary import Dictionary
from ensue.maintain.program import CompiledRule, Program
from ensue.maintain.rete.conditions import (
    PremiseTests,
    Test,
    Tests,
    all_of,
    early_tests,
    premise_tests,
    slow_head,
)
from ensue.maintain.rete.order import join_order
from ensue.maintain.rete.token import Key, Token, Values
from ensue.maintain.rete.trivial import without_trivial
from ensue.model import Triple

Pick = Callable[[Values], Any]
Head = Callable[[Values], Triple]


def take(positions: Sequence[int]) -> Pick:
    """A function that takes these positions of a tuple, as a tuple.

    >>> [take(positions)((5, 6, 7)) for positions in ((), (1,), (0, 2))]
    [(), (6,), (5, 7)]
    """
    first = positions[0] if positions else 0
    if list(positions) == list(range(first, first + len(positions))):
        return itemgetter(slice(first, first + len(positions)))
    return itemgetter(*positions)


def key(positions: Sequence[int]) -> Pick:
    """Like `take`, but one position gives the bare value, which is the cheaper key."""
    return itemgetter(positions[0]) if len(positions) == 1 else take(positions)


class Alpha:
    """A pattern, and where its facts go: entries of rules that begin with it, ports of those that go on.

    Cut premises are apart, because a context's facts never match them.
    """

    __slots__ = ("cut_entries", "entries", "pattern", "ports", "same")

    def __init__(self, pattern: Triple) -> None:
        self.pattern = pattern
        self.same = [(i, j) for i in range(3) for j in range(i) if pattern[i] == pattern[j] < 0]
        """Positions that hold the same variable."""
        self.entries: list[Entry] = []
        self.cut_entries: list[Entry] = []
        self.ports: list[Port] = []
        """Only those where bindings of the background wait, cut ones not among them."""

    def matches(self, triple: Triple) -> bool:
        """Whether a fact fits the pattern."""
        constants = all(slot < 0 or slot == term for slot, term in zip(self.pattern, triple, strict=True))
        return constants and self.fits(triple)

    def fits(self, triple: Triple) -> bool:
        """Whether a fact with the right constants repeats terms where the pattern repeats variables."""
        return all(triple[i] == triple[j] for i, j in self.same)


class Port:
    """Where facts of one alpha node and waiting bindings meet, on one key."""

    __slots__ = ("alpha", "cut", "ground", "key", "test")

    def __init__(self, alpha: Alpha, positions: Sequence[int], cut: bool, test: Test | None) -> None:
        self.alpha = alpha
        self.cut = cut
        self.key = key(positions)
        self.test = test
        """What a fact must pass to come in."""
        self.ground: dict[Key, list[Token]] = {}
        """The background's bindings of *all* joins here, so that a fact finds them in one look-up."""

    def keep(self, key: Key, token: Token) -> None:
        """Let a binding of the background wait here."""
        if not self.ground and not self.cut:
            self.alpha.ports.append(self)
        self.ground.setdefault(key, []).append(token)

    def takes(self, triple: Triple) -> bool:
        """Whether a fact comes in here."""
        return self.alpha.matches(triple) and (self.test is None or self.test(triple))


class Node:
    """Something that gives bindings: an entry or a join. What becomes of one is listed here."""

    __slots__ = ("constants", "derived", "heads", "joins", "names", "slow", "test")

    def __init__(self, test: Test | None) -> None:
        self.test = test
        """What a binding must pass to go on."""
        self.constants: Values = ()
        self.heads: list[Head] = []
        """Conclusions, each picked from the binding followed by `constants`."""
        self.slow: list[Callable[[Values], list[Triple]]] = []
        """Conclusions that need more than picking: minted nodes, functions, expressions."""
        self.joins: list[Join] = []
        self.names: list[str] = []
        """The rules that conclude something here, and how many new facts they have."""
        self.derived = 0


class Entry(Node):
    """The first premise of rules: a fact becomes a binding."""

    __slots__ = ("pick",)

    def __init__(self, pick: Pick, test: Test | None) -> None:
        super().__init__(test)
        self.pick = pick


class Join(Node):
    """A further premise of rules: a binding waits at `port` for facts, which `pick` adds to it."""

    __slots__ = ("left_key", "pick", "port")

    def __init__(self, port: Port, left_key: Pick, pick: Pick, test: Test | None) -> None:
        super().__init__(test)
        self.port = port
        self.left_key = left_key
        self.pick = pick


class Network:
    """All nodes of a program; joins are ordered by how much of the background each premise matches."""

    def __init__(self, program: Program, dictionary: Dictionary, background: Iterable[Triple]) -> None:
        self.rules = program.rules
        self._dictionary = dictionary
        self._alphas: dict[Triple, Alpha] = {}
        self._tables: dict[tuple[int, ...], tuple[Pick, dict[Key, tuple[Alpha, ...]]]] = {}
        self._general: tuple[Alpha, ...] = ()
        """The alpha nodes without constants: every fact goes there."""
        self._repeats = False
        self._ports: dict[object, Port] = {}
        self._ports_of: dict[Alpha, list[Port]] = {}
        self._nodes: dict[object, Node] = {}
        for rule in self.rules:
            for premise in rule.premises:
                self.alpha(premise)
        counts = self._count(background)
        for rule in self.rules:
            for variant in without_trivial(rule) if rule.premises else ():
                matched = [counts(premise) for premise in premise_tests(variant)]
                self._add(variant, join_order(variant, matched))

    @property
    def alpha_nodes(self) -> int:
        """How many distinct patterns there are."""
        return len(self._alphas)

    @property
    def beta_nodes(self) -> int:
        """How many distinct joins there are."""
        return sum(isinstance(node, Join) for node in self._nodes.values())

    def match(self, triple: Triple) -> tuple[Alpha, ...]:
        """The alpha nodes whose pattern a fact fits: one look-up for each way of having constants."""
        found = self._general
        for constants, table in self._tables.values():
            more = table.get(constants(triple))
            if more:
                found += more
        return tuple(alpha for alpha in found if alpha.fits(triple)) if self._repeats else found

    def alpha(self, pattern: Triple) -> Alpha:
        """The alpha node of a pattern: the same one for all patterns that differ in names only."""
        numbers: dict[int, int] = {}
        s, p, o = (slot if slot >= 0 else ~numbers.setdefault(slot, len(numbers)) for slot in pattern)
        alpha = self._alphas.get((s, p, o))
        if alpha is None:
            alpha = self._alphas[s, p, o] = Alpha((s, p, o))
            self._repeats |= bool(alpha.same)
            mask = tuple(i for i, slot in enumerate(alpha.pattern) if slot >= 0)
            if not mask:
                self._general += (alpha,)
            else:
                constants, table = self._tables.setdefault(mask, (key(mask), {}))
                table[constants(alpha.pattern)] = (*table.get(constants(alpha.pattern), ()), alpha)
        return alpha

    def port(self, alpha: Alpha, positions: tuple[int, ...], cut: bool = False, tests: Tests = ()) -> Port:
        """The port of an alpha node for keys at these positions, and for facts that pass the tests."""
        identity = (alpha, positions, cut, tests)
        port = self._ports.get(identity)
        if port is None:
            port = self._ports[identity] = Port(alpha, positions, cut, all_of(tests, self._dictionary))
            self._ports_of.setdefault(alpha, []).append(port)
        return port

    def ports_of(self, alphas: Iterable[Alpha]) -> list[Port]:
        """All ports of some alpha nodes, cut and empty ones too."""
        return [port for alpha in alphas for port in self._ports_of.get(alpha, ())]

    def ports(self) -> Iterable[Port]:
        """All ports."""
        return self._ports.values()

    def _count(self, background: Iterable[Triple]) -> Callable[[PremiseTests], int]:
        """How much of the background a pattern with tests of its own matches."""
        matching: dict[Alpha, list[Triple]] = {}
        for triple in background:
            for alpha in self.match(triple):
                matching.setdefault(alpha, []).append(triple)

        @cache
        def count(premise: PremiseTests) -> int:
            pattern, tests = premise
            test, triples = all_of(tests, self._dictionary), matching.get(self.alpha(pattern), ())
            return len(triples) if test is None else sum(map(test, triples))

        return count

    def _add(self, rule: CompiledRule, order: Sequence[int]) -> None:
        """Thread a rule through the network, along nodes that are there already where it can."""
        layout: dict[int, int] = {}
        tests = early_tests(rule)
        node: Node | None = None
        for number in order:
            bound = dict(layout)
            premise, cut = rule.premises[number], rule.cut[number]
            for slot in premise:
                if slot < 0:
                    layout.setdefault(~slot, len(layout))
            if node is None:
                node = self._entry(premise, cut, tests.take_ready(layout))
            else:
                own = tests.take_own(premise)
                node = self._join(node, premise, cut, bound, own, tests.take_ready(layout))
        assert node is not None
        self._conclude(node, rule, layout)

    def _entry(self, premise: Triple, cut: bool, tests: Tests) -> Node:
        alpha = self.alpha(premise)
        identity = (alpha, cut, tests)
        node = self._nodes.get(identity)
        if node is None:
            positions = [i for i, slot in enumerate(premise) if slot < 0 and slot not in premise[:i]]
            node = Entry(take(positions), all_of(tests, self._dictionary))
            self._nodes[identity] = node
            (alpha.cut_entries if cut else alpha.entries).append(node)
        return node

    def _join(
        self, left: Node, premise: Triple, cut: bool, bound: dict[int, int], own: Tests, tests: Tests
    ) -> Node:
        alpha = self.alpha(premise)
        firsts = [i for i, slot in enumerate(premise) if slot < 0 and slot not in premise[:i]]
        shared = tuple(i for i in firsts if ~premise[i] in bound)
        waiting = tuple(bound[~premise[i]] for i in shared)
        new = [i for i in firsts if i not in shared]
        port = self.port(alpha, shared, cut, own)
        identity = (left, port, waiting, tests)
        node = self._nodes.get(identity)
        if node is None:
            test = all_of(tests, self._dictionary)
            node = self._nodes[identity] = join = Join(port, key(waiting), take(new), test)
            left.joins.append(join)
        return node

    def derived(self) -> dict[str, int]:
        """How many facts each rule derived, by its name; of rules with one body, the first has them all."""
        found: dict[str, int] = {}
        for node in self._nodes.values():
            if node.derived:
                found[node.names[0]] = found.get(node.names[0], 0) + node.derived
        return found

    def _conclude(self, node: Node, rule: CompiledRule, layout: dict[int, int]) -> None:
        node.names.append(rule.name)
        slow = slow_head(rule, layout, self._dictionary)
        if slow is not None:
            node.slow.append(slow)
            return
        width = len(layout)
        for head in rule.conclusions:
            positions = []
            for slot in head:
                if slot >= 0 and slot not in node.constants:
                    node.constants += (slot,)
                positions.append(layout[~slot] if slot < 0 else width + node.constants.index(slot))
            node.heads.append(itemgetter(*positions))
