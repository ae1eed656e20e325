"""Which rows of two relations go together, where one is as large as the other and where it is much larger."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ensue.query.compiled.compatible import pairs
from ensue.query.compiled.relation import Relation


def relation(random, variables, length, most):
    columns = {}
    for variable in variables:
        lowest = random.choice((0, 1))  # 0: the variable has no value.
        columns[variable] = np.array([random.randint(lowest, most) for _ in range(length)], np.int32)
    return Relation(columns, length)


def compatible(left, right):
    shared = left.columns.keys() & right.columns.keys()
    return {
        (i, k)
        for i in range(left.length)
        for k in range(right.length)
        if all(0 in (a := left.columns[v][i], b := right.columns[v][k]) or a == b for v in shared)
    }


@pytest.mark.parametrize("few", [1, 2, 3, 12])
@pytest.mark.parametrize("seed", range(25))
def test_pairs_are_those_of_the_definition(seed, few):
    random = Random(seed)
    for _ in range(10):
        most = random.choice((3, 9, 10_000))
        left = relation(random, random.choice(("x", "xy", "xyz")), random.randint(0, few), most)
        right = relation(random, random.choice(("x", "xy", "yz")), random.randint(0, 40), most)
        for one, other in ((left, right), (right, left)):
            at_left, at_right = (column.tolist() for column in pairs(one, other))
            found = list(zip(at_left, at_right, strict=True))
            assert len(found) == len(set(found)), f"seed {seed}"
            assert set(found) == compatible(one, other), f"seed {seed}"
