from __future__ import annotations

from collections import Counter

from ensue.bench.feed import background_of, copies_at, encode
from ensue.bench.isin import Trees, at_rate, isin_statements, split_background
from ensue.dictionary import Dictionary
from ensue.rules.load import load_rules

from .naive import Naive

TREES = Trees(count=5, depth=3, fanout=2)


def test_a_seed_makes_the_stream_and_another_makes_another():
    assert isin_statements(TREES, seed=1) == isin_statements(TREES, seed=1)
    assert isin_statements(TREES, seed=1) != isin_statements(TREES, seed=2)
    assert set(isin_statements(TREES, seed=1)) == set(isin_statements(TREES, seed=2))


def test_each_place_is_in_one_place_and_holds_fanout_places():
    pool = isin_statements(TREES, seed=1)
    assert len(pool) == TREES.statements == len({s for s, _, _ in pool})
    assert set(Counter(o for _, _, o in pool).values()) == {TREES.fanout}


def test_the_closure_has_the_size_that_the_trees_promise():
    dictionary = Dictionary()
    maintainer = Naive(load_rules("transitive-isin"), dictionary)
    maintainer.load_background(background_of(encode([], dictionary)))
    maintainer.admit(copies_at(encode(isin_statements(TREES, seed=1), dictionary), 1))
    maintainer.advance(0)
    assert len(maintainer.closure(1)) == TREES.closed


def test_background_and_stream_share_the_pool():
    pool = isin_statements(TREES, seed=1)
    ground, stream = split_background(pool, 20, seed=3)
    assert len(ground) == 20
    assert sorted(ground + stream) == sorted(pool)
    assert stream == [statement for statement in pool if statement in set(stream)]


def test_trees_start_at_the_number_asked_for():
    assert not set(isin_statements(TREES, seed=1)) & set(isin_statements(TREES, seed=1, first=5))


def test_rate_sets_the_times():
    assert [ms for ms, _ in at_rate(isin_statements(TREES, seed=1)[:4], rate=2)] == [0, 500, 1000, 1500]
