"""What the contract promises, one promise a test, for every strategy there is.

Terms are written short: `a` stands for <urn:a>; literals and blank nodes stand for themselves.
Windows are drawn with the copies above the axis of stamps and the threshold as a bar.
"""

from __future__ import annotations

import pytest

from ensue.dictionary import Dictionary
from ensue.errors import InputError, StrategyError, UsageError
from ensue.maintain import PARTICULAR, STRATEGIES, make
from ensue.maintain.snapshot import Snapshot
from ensue.model import FOREVER, Copies
from ensue.rules.tree import Guard, Mint, Pattern, Premise, Rule, RuleSet, Var

X, Y, Z, NEW = Var("x"), Var("y"), Var("z"), Var("new")


def term(short: str) -> str:
    return short if short[0] in '"_' else f"<urn:{short}>"


def pattern(*nodes: str | Var) -> Pattern:
    return Pattern(*(node if isinstance(node, Var) else term(node) for node in nodes))


def rule(name, premises, conclusions, conditions=(), cut=()):
    body = tuple(Premise(pattern(*nodes), cut=number in cut) for number, nodes in enumerate(premises))
    return Rule(name, body, tuple(pattern(*nodes) for nodes in conclusions), tuple(conditions))


TRANSITIVE = rule("transitive", [(X, "in", Y), (Y, "in", Z)], [(X, "in", Z)])
SUB_CLASS = rule("subclass", [(X, "type", Y), (Y, "sub", Z)], [(X, "type", Z)], cut=(1,))


class World:
    """A maintainer that is spoken to in short terms."""

    def __init__(self, strategy: str, *rules: Rule, nesting: int = 3) -> None:
        self.strategy, self.rules, self.nesting = strategy, RuleSet("test", rules), nesting
        self.start()

    def start(self) -> None:
        self.dictionary = Dictionary(nesting=self.nesting)
        try:
            self.maintainer = make(self.strategy, self.rules, self.dictionary)
        except StrategyError as refusal:
            if self.strategy not in PARTICULAR:
                raise
            pytest.skip(str(refusal))

    def _copies(self, rows) -> Copies:
        batch = Copies()
        for context, statement, stamp, *graph in rows:
            s, p, o = (self.dictionary.encode(term(short)) for short in statement.split())
            batch.append(context, s, p, o, stamp, *(self.dictionary.encode(term(g)) for g in graph))
        return batch

    def background(self, *statements: str) -> None:
        self.maintainer.load_background(self._copies((0, statement, FOREVER) for statement in statements))

    def admit(self, *rows) -> None:
        """Rows of (context, statement, stamp) and, if it has one, the graph."""
        self.maintainer.admit(self._copies(rows))

    def retract(self, *rows, every: bool = False) -> int:
        return self.maintainer.retract(
            self._copies((c, st, 0, *graph) for c, st, *graph in rows), every=every
        )

    def advance(self, threshold: int) -> tuple[set[str], set[str]]:
        """P+ and P-, as `context:statement`."""
        change = self.maintainer.advance(threshold)
        plus, minus = (
            [f"{row[0]}:{self._text(row)}" for row in facts] for facts in (change.inserted, change.deleted)
        )
        assert len(plus) == len(set(plus))
        assert len(minus) == len(set(minus))
        return set(plus), set(minus)

    def closure(self, context: int, threshold: int | None = None) -> dict[str, int]:
        rows = list(self.maintainer.closure(context, threshold))
        assert {row[0] for row in rows} <= {context}
        held = {self._text(row): row[4] for row in rows}
        assert len(held) == len(rows)
        return held

    def _text(self, row) -> str:
        return " ".join(
            self.dictionary.decode(number).removeprefix("<urn:").rstrip(">") for number in row[1:4]
        )

    def sweep(self) -> int:
        return self.dictionary.sweep(self.maintainer.used_terms())

    def restart(self) -> None:
        """Go on from a snapshot, as bytes, in another dictionary."""
        data = self.maintainer.snapshot().to_bytes()
        self.start()
        self.dictionary.encode("<urn:something-else-first>")
        self.maintainer.restore(Snapshot.from_bytes(data))


@pytest.fixture(params=STRATEGIES)
def strategy(request):
    return request.param


@pytest.fixture
def stamped(strategy):
    if not make(strategy, RuleSet("none", ()), Dictionary()).stamped:
        pytest.skip(f"{strategy} keeps no stamps")
    return strategy


def test_a_maintainer_says_its_name_and_counts(strategy):
    world = World(strategy, TRANSITIVE)
    assert world.maintainer.name == strategy
    world.admit((1, "a in b", 1), (1, "a in b", 2), (1, "b in c", 2))
    world.advance(0)
    counted = world.maintainer.statistics()
    assert {"facts", "derivations", "copies"} <= set(counted)
    assert counted["copies"] == 3


def test_the_bound_itself_has_expired(strategy):
    """Copies at 4, 5 and 6.

    4   5   6
        |          threshold 5: only what is right of the bar holds
    """
    world = World(strategy)
    world.admit((1, "a in b", 4), (1, "b in c", 5), (1, "c in d", 6))
    assert world.advance(3) == ({"1:a in b", "1:b in c", "1:c in d"}, set())
    assert world.advance(5) == (set(), {"1:a in b", "1:b in c"})
    assert set(world.closure(1)) == {"c in d"}


def test_a_copy_at_or_below_the_threshold_is_never_seen(strategy):
    world = World(strategy, TRANSITIVE)
    world.advance(5)
    world.admit((1, "a in b", 5), (1, "b in c", 4), (1, "c in d", 6))
    assert world.advance(5) == ({"1:c in d"}, set())
    assert world.retract((1, "a in b")) == 0


def test_what_expires_in_the_step_it_arrives_in_is_not_in_the_change(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 5), (1, "b in c", 9))
    assert world.advance(5) == ({"1:b in c"}, set())


def test_a_derived_fact_lives_as_long_as_its_freshest_derivation(strategy):
    """Two ways from a to d.

    a in b @2, b in d @9  ->  a in d @2
    a in c @4, c in d @7  ->  a in d @4
    """
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 2), (1, "b in d", 9), (1, "a in c", 4), (1, "c in d", 7))
    assert "1:a in d" in world.advance(1)[0]
    assert world.advance(2) == (set(), {"1:a in b"})
    assert world.advance(4) == (set(), {"1:a in c", "1:a in d"})


def test_a_renewed_fact_is_no_change_and_what_rests_on_it_is_renewed_too(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 1), (1, "b in c", 1), (1, "c in d", 8))
    world.advance(0)
    world.admit((1, "a in b", 7), (1, "b in c", 6))
    assert world.advance(0) == (set(), set())
    assert world.advance(5) == (set(), set())
    assert set(world.closure(1)) == {"a in b", "b in c", "c in d", "a in c", "b in d", "a in d"}
    assert world.advance(6)[1] == {"1:b in c", "1:a in c", "1:b in d", "1:a in d"}


def test_an_older_copy_that_comes_later_takes_nothing_away(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 8), (1, "b in c", 8))
    world.advance(0)
    world.admit((1, "a in b", 3))
    assert world.advance(3) == (set(), set())
    assert "a in c" in world.closure(1)


def test_stamped_maintainers_are_read_at_any_threshold(stamped):
    world = World(stamped, TRANSITIVE)
    world.admit((1, "a in b", 3), (1, "b in c", 5), (1, "c in d", 4), (2, "a in b", 9))
    world.advance(1)
    all_stamps = {"a in b": 3, "b in c": 5, "c in d": 4, "a in c": 3, "b in d": 4, "a in d": 3}
    assert world.closure(1) == all_stamps
    for threshold in range(1, 7):
        fresher = {fact: stamp for fact, stamp in all_stamps.items() if stamp > threshold}
        assert world.closure(1, threshold) == fresher
    assert world.closure(2, 8) == {"a in b": 9}
    assert world.closure(1) == all_stamps, "reading changes nothing"


def test_contexts_see_the_background_and_not_each_other(strategy):
    world = World(strategy, TRANSITIVE)
    world.background("b in c")
    world.admit((1, "a in b", 1), (2, "c in d", 1))
    assert world.advance(0)[0] == {"1:a in b", "1:a in c", "2:c in d", "2:b in d"}
    assert set(world.closure(1)) == {"a in b", "a in c"}
    assert set(world.closure(2)) == {"c in d", "b in d"}
    assert world.closure(3) == {}


def test_all_contexts_are_read_at_once_in_order(strategy):
    world = World(strategy, SUB_CLASS)
    world.background("C sub D")
    world.admit((7, "a type C", 100), (3, "b type C", 100), (7, "c type C", 200))
    world.maintainer.advance(0)
    every = list(world.maintainer.closure(None))
    assert [context for context, *_ in every] == sorted(context for context, *_ in every)
    apart = [row for context in (3, 7) for row in world.maintainer.closure(context)]
    assert sorted(every) == sorted(apart)
    assert len(every) == 6


def test_the_background_can_be_read_too(strategy):
    world = World(strategy, TRANSITIVE)
    world.background("a in b", "b in c")
    world.admit((1, "c in d", 3))
    world.advance(0)
    assert set(world.closure(0)) == {"a in b", "b in c", "a in c"}
    if world.maintainer.stamped:
        assert set(world.closure(0).values()) == {FOREVER}


def test_background_is_never_replaced_by_timed_copies(strategy):
    world = World(strategy, TRANSITIVE)
    world.background("a in b", "b in c")
    world.admit((1, "a in b", 3), (1, "a in c", 4), (1, "c in d", 9))
    assert world.advance(0) == ({"1:c in d", "1:b in d", "1:a in d"}, set())
    assert world.advance(4) == (set(), set()), "the copies went, the background did not"
    assert set(world.closure(1)) == {"c in d", "b in d", "a in d"}
    if world.maintainer.stamped:
        assert set(world.closure(1).values()) == {9}


def test_a_retracted_copy_of_background_is_a_copy_gone_and_nothing_else(strategy):
    world = World(strategy, TRANSITIVE)
    world.background("a in b")
    world.admit((1, "a in b", 3), (1, "b in c", 9))
    world.advance(0)
    assert world.retract((1, "a in b")) == 1
    assert world.advance(0) == (set(), set())
    assert set(world.closure(1)) == {"b in c", "a in c"}


def test_background_that_comes_late_reaches_what_is_there_already(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 3), (2, "b in c", 3))
    world.advance(0)
    world.background("b in c")
    assert world.advance(0) == ({"1:a in c"}, set()), "what became background did not cease to hold"
    assert world.closure(2) == {}
    assert world.advance(3) == (set(), {"1:a in b", "1:a in c"})


def test_late_background_makes_facts_outlive_their_copies(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 2), (1, "b in c", 9))
    world.advance(0)
    world.background("a in b")
    assert world.advance(2) == (set(), set())
    assert set(world.closure(1)) == {"b in c", "a in c"}
    if world.maintainer.stamped:
        assert world.closure(1)["a in c"] == 9


def test_late_background_feeds_cut_premises(strategy):
    world = World(strategy, SUB_CLASS)
    world.background("C sub D")
    world.admit((1, "a type C", 5), (1, "D sub E", 5))
    assert world.advance(0)[0] == {"1:a type C", "1:a type D", "1:D sub E"}, "the stream feeds no cut premise"
    world.background("D sub E")
    assert world.advance(0) == ({"1:a type E"}, set())


def test_axioms_are_background(strategy):
    world = World(strategy, TRANSITIVE)
    world.rules = RuleSet("test", (TRANSITIVE,), (pattern("b", "in", "c"),))
    world.start()
    world.admit((1, "a in b", 1), (1, "b in c", 1))
    assert world.advance(0)[0] == {"1:a in b", "1:a in c"}


def test_empty_steps_and_an_empty_window(strategy):
    world = World(strategy, TRANSITIVE)
    assert world.advance(0) == (set(), set())
    world.admit()
    world.background()
    assert world.retract() == 0
    assert world.advance(0) == (set(), set())
    assert world.closure(1) == {}
    world.admit((1, "a in b", 5), (1, "b in c", 5))
    world.advance(1)
    assert world.advance(1) == (set(), set())
    assert len(world.advance(1_000)[1]) == 3
    assert world.closure(1) == {}
    world.admit((1, "a in b", 2_000))
    assert world.advance(1_000) == ({"1:a in b"}, set())


def test_one_huge_batch(strategy):
    """Large enough that every table grows and every index is rebuilt, more than once."""
    count = 6_000
    classes = [f"C{number} sub C{number + 1}" for number in range(5)]
    world = World(strategy, SUB_CLASS)
    world.background(*classes)
    world.admit(*((1 + n % 2, f"i{n} type C{n % 6}", n) for n in range(count)))
    plus, minus = world.advance(-1)
    expected = {f"{1 + n % 2}:i{n} type C{c}" for n in range(count) for c in range(n % 6, 6)}
    assert plus == expected
    assert minus == set()
    plus, minus = world.advance(count // 2)
    assert plus == set()
    assert minus == {f"{1 + n % 2}:i{n} type C{c}" for n in range(count // 2 + 1) for c in range(n % 6, 6)}
    assert len(world.closure(1)) + len(world.closure(2)) == len(expected) - len(minus)


def test_retracting_the_newest_copy_leaves_the_older_one(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 3), (1, "a in b", 8), (1, "b in c", 9))
    world.advance(0)
    assert world.retract((1, "a in b")) == 1
    assert world.advance(0) == (set(), set()), "the copy of 3 still counts"
    assert world.advance(3) == (set(), {"1:a in b", "1:a in c"})


def test_retracting_every_copy(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 3), (1, "a in b", 8), (1, "b in c", 9), (2, "a in b", 3))
    world.advance(0)
    assert world.retract((1, "a in b"), every=True) == 2
    assert world.advance(0) == (set(), {"1:a in b", "1:a in c"})
    assert set(world.closure(2)) == {"a in b"}


def test_retracting_the_same_statement_twice_takes_two_copies(strategy):
    world = World(strategy)
    world.admit((1, "a in b", 3), (1, "a in b", 3), (1, "a in b", 3))
    world.advance(0)
    assert world.retract((1, "a in b"), (1, "a in b")) == 2
    assert world.advance(0) == (set(), set())
    assert world.retract((1, "a in b")) == 1
    assert world.advance(0) == (set(), {"1:a in b"})


def test_retracting_what_is_not_there(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 3), (1, "b in c", 3))
    world.advance(0)
    assert world.retract((1, "x in y"), (2, "a in b"), (1, "a in c")) == 0, "a derived fact has no copy"
    assert world.retract((1, "x in y"), every=True) == 0
    assert world.advance(0) == (set(), set())


def test_the_graph_is_part_of_the_statement_that_is_retracted(strategy):
    world = World(strategy)
    world.admit((1, "a in b", 3), (1, "a in b", 8, "g"), (1, "a in b", 5, "h"))
    world.advance(0)
    assert world.retract((1, "a in b")) == 1
    assert world.retract((1, "a in b")) == 0, "the other two are in graphs"
    assert world.retract((1, "a in b", "g"), every=True) == 1
    assert world.advance(0) == (set(), set())
    assert world.advance(5) == (set(), {"1:a in b"})


def test_a_fact_that_is_stated_and_derived_needs_both_gone(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 9), (1, "b in c", 9), (1, "a in c", 4))
    world.advance(0)
    world.retract((1, "a in b"))
    assert world.advance(0) == (set(), {"1:a in b"})
    assert world.advance(4) == (set(), {"1:a in c"})


def test_a_fact_with_another_derivation_survives_a_retraction(strategy):
    """Two ways from a to d, as old as 9 and as old as 4: the second is left."""
    world = World(strategy, TRANSITIVE)
    world.background("d in e")
    world.admit((1, "a in b", 9), (1, "b in d", 9), (1, "a in c", 4), (1, "c in d", 7))
    world.advance(0)
    world.retract((1, "a in b"))
    assert world.advance(0) == (set(), {"1:a in b"})
    assert {"a in d", "a in e"} <= set(world.closure(1))
    if world.maintainer.stamped:
        assert world.closure(1)["a in e"] == 4
    assert world.advance(4) == (set(), {"1:a in c", "1:a in d", "1:a in e"})


def test_facts_that_only_hold_each_other_up_fall_together(strategy):
    """b and c are each in the other, and a was in b: without a's own copy nothing holds a up."""
    world = World(strategy, TRANSITIVE, rule("symmetric", [(X, "near", Y)], [(Y, "near", X)]))
    world.admit((1, "a in b", 5), (1, "b in c", 5), (1, "c in b", 5), (1, "a near b", 5))
    world.advance(0)
    world.retract((1, "a in b"), (1, "a near b"))
    assert world.advance(0)[1] == {"1:a in b", "1:a in c", "1:a near b", "1:b near a"}


def test_admit_and_retract_in_one_step_cancel_out(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 5))
    world.advance(0)
    world.admit((1, "b in c", 5))
    assert world.retract((1, "b in c")) == 1
    assert world.retract((1, "a in b")) == 1
    world.admit((1, "a in b", 6))
    assert world.advance(0) == (set(), set())


def test_going_on_from_a_snapshot(strategy):
    steady, restarted = (World(strategy, TRANSITIVE, SUB_CLASS) for _ in range(2))
    for world in (steady, restarted):
        world.background("C sub D", "b in c")
        world.admit((1, "a in b", 3), (1, "a in b", 7, "g"), (2, "x type C", 5), (2, '"l" in b', 6))
        world.advance(2)
    restarted.restart()
    for context in (1, 2, 3):
        assert restarted.closure(context) == steady.closure(context)
    for world in (steady, restarted):
        world.admit((1, "c in d", 9))
        assert world.retract((1, "a in b")) == 1
    assert restarted.advance(4) == steady.advance(4)
    assert restarted.closure(1) == steady.closure(1)
    assert restarted.advance(6) == steady.advance(6)


def test_restoring_forgets_what_was_there(strategy):
    world, other = World(strategy, TRANSITIVE), World(strategy, TRANSITIVE)
    world.background("q in r")
    world.admit((1, "p in q", 50), (3, "a in b", 50))
    world.advance(40)
    other.admit((1, "a in b", 3), (1, "b in c", 3))
    other.advance(1)
    world.maintainer.restore(other.maintainer.snapshot())
    assert set(world.closure(1)) == {"a in b", "b in c", "a in c"}
    assert world.closure(3) == {}
    world.admit((1, "o in q", 4))
    assert world.advance(2) == ({"1:o in q"}, set()), "neither the background nor the threshold stayed"


def test_a_snapshot_holds_nothing_that_is_derived_expired_or_retracted(strategy):
    world = World(strategy, TRANSITIVE)
    world.background("y in z")
    world.admit((1, "a in b", 1), (1, "b in c", 5), (1, "c in d", 5), (1, "d in e", 6))
    world.retract((1, "d in e"))
    world.advance(3)
    taken = world.maintainer.snapshot()
    assert taken.threshold == 3
    assert sorted(taken.copies.stamp) == [5, 5]
    assert len(taken.background) == 1


def test_a_snapshot_cut_short_is_an_error(strategy):
    world = World(strategy)
    world.admit((1, "a in b", 1))
    world.advance(0)
    with pytest.raises(InputError, match="cut short"):
        Snapshot.from_bytes(world.maintainer.snapshot().to_bytes()[:-3])


def test_integers_that_are_handed_out_again_mean_the_new_term(strategy):
    world = World(strategy, TRANSITIVE, rule("named", [(X, "in", Y)], [(Y, "holds", X)], [_not_literal(Y)]))
    world.background("z in home")
    for turn in range(12):
        now = turn * 10
        subject = f'"literal{turn}"' if turn % 3 else f"thing{turn}"
        world.admit((1, f"{subject} in box{turn}", now), (1, f"box{turn} in z", now), (1, "k in z", now))
        plus, minus = world.advance(now - 1)
        assert f"1:{subject} in home" in plus
        assert f"1:box{turn} holds {subject}" in plus
        assert len(minus) == (0 if turn == 0 else 10), "all but k's, which was renewed"
        size = len(world.dictionary)
        if turn > 1:
            assert world.sweep() > 0
            assert len(world.dictionary) < size
    assert len(world.dictionary) < 20


def _not_literal(variable):
    return Guard("notLiteral", (variable,))


def test_terms_of_copies_that_are_not_the_newest_stay_in_use(strategy):
    """The graph of an older copy is needed to retract it, and for a snapshot."""
    world = World(strategy)
    world.admit((1, "a in b", 3, "g"), (1, "a in b", 8))
    world.advance(0)
    world.sweep()
    world.dictionary.encode("<urn:would-take-the-place-of-g>")
    assert world.retract((1, "a in b", "g")) == 1
    world.restart()
    assert set(world.closure(1)) == {"a in b"}


def test_minted_nodes_are_the_same_each_time_and_nest_to_the_bound(strategy):
    part = rule("part", [(X, "has", Y)], [(Y, "has", NEW)], [Mint(NEW, "part", (Y,))])
    for nesting in (1, 2, 3):
        world = World(strategy, part, nesting=nesting)
        world.admit((1, "a has b", 5), (2, "c has b", 7))
        plus, _ = world.advance(0)
        assert len(plus) == 2 * (1 + nesting)
        mine, theirs = ({fact for fact in world.closure(context) if "mint" in fact} for context in (1, 2))
        assert mine == theirs, "one node for one key, whichever context"
        assert world.dictionary.refused_mints > 0
        assert len(world.advance(5)[1]) == 1 + nesting
        world.sweep()
        world.admit((1, "a has b", 8))
        assert len(world.advance(5)[0]) == 1 + nesting


def test_what_rests_on_a_minted_node_goes_with_it(strategy):
    world = World(
        strategy,
        rule("make", [(X, "type", "C")], [(X, "has", NEW), (NEW, "type", "D")], [Mint(NEW, "make")]),
        rule("use", [(X, "has", Y), (Y, "type", "D")], [(X, "type", "E")]),
    )
    world.admit((1, "a type C", 5))
    assert len(world.advance(0)[0]) == 4
    world.sweep()
    world.retract((1, "a type C"))
    assert len(world.advance(0)[1]) == 4
    assert world.closure(1) == {}


def test_literals_stand_as_subjects_inside(strategy):
    world = World(
        strategy,
        rule("inverse", [(X, "says", Y)], [(Y, "saidBy", X)]),
        rule("again", [(X, "saidBy", Y), (X, "saidBy", Z)], [(Y, "agrees", Z)], [_different(Y, Z)]),
        rule("things", [(X, "saidBy", Y)], [(X, "type", "Thing")], [_not_literal(X)]),
    )
    world.admit((1, 'a says "yes"', 3), (1, 'b says "yes"', 4), (1, "b says c", 4))
    world.advance(0)
    held = set(world.closure(1))
    assert {'"yes" saidBy a', '"yes" saidBy b', "a agrees b", "b agrees a", "c type Thing"} <= held
    assert '"yes" type Thing' not in held
    assert {"1:a agrees b", "1:b agrees a"} <= world.advance(3)[1]


def _different(*variables):
    return Guard("notEqual", variables)


def test_a_premise_can_match_what_another_matches_and_a_variable_can_be_a_predicate(strategy):
    world = World(strategy, rule("same", [(X, "same", Y), (X, Z, X)], [(Y, Z, Y)]))
    world.admit((1, "same same same", 2), (1, "a same b", 3), (1, "a likes a", 4), (1, "a same a", 5))
    plus, _ = world.advance(0)
    assert {"1:b likes b", "1:b same b"} <= plus
    assert "1:b likes b" in world.advance(3)[1]


def test_an_unconnected_premise_is_a_gate(strategy):
    world = World(strategy, rule("gate", [(X, "in", Y), ("gate", "is", "open")], [(X, "inside", Y)]))
    world.admit((1, "a in b", 9), (1, "c in d", 4))
    assert world.advance(0)[0] == {"1:a in b", "1:c in d"}
    world.admit((1, "gate is open", 6))
    assert world.advance(0)[0] == {"1:gate is open", "1:a inside b", "1:c inside d"}
    assert world.advance(4)[1] == {"1:c in d", "1:c inside d"}
    assert world.advance(6)[1] == {"1:gate is open", "1:a inside b"}


def test_wrong_calls_are_refused_and_change_nothing(strategy):
    world = World(strategy, TRANSITIVE)
    world.admit((1, "a in b", 5))
    world.advance(3)
    with pytest.raises(UsageError, match="context"):
        world.admit((0, "b in c", 5))
    with pytest.raises(UsageError, match="context"):
        world.maintainer.load_background(world._copies([(1, "b in c", FOREVER)]))
    with pytest.raises(UsageError, match="fall"):
        world.advance(2)
    if not world.maintainer.stamped:
        with pytest.raises(UsageError, match="threshold"):
            world.closure(1, 4)
    assert world.advance(3) == (set(), set())
    assert set(world.closure(1)) == {"a in b"}
    assert world.closure(0) == {}


def test_stamps_before_1970_and_beyond_32_bits(strategy):
    for base in (-5_000_000_000_000, -3, 2**31 - 2, 1_700_000_000_000, 2**62):
        world = World(strategy, TRANSITIVE)
        world.admit((1, "a in b", base), (1, "b in c", base + 1))
        assert len(world.advance(base - 1)[0]) == 3
        if world.maintainer.stamped:
            assert world.closure(1) == {"a in b": base, "b in c": base + 1, "a in c": base}
        assert world.advance(base)[1] == {"1:a in b", "1:a in c"}
