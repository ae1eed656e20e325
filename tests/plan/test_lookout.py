"""A lookout finds the first statement that has one of its shapes, and no other."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ensue.plan.lookout import Lookout

terms = st.integers(0, 5)
ends = st.none() | terms.map(str)
shapes = st.lists(st.tuples(ends, terms.map(str), ends), min_size=1, max_size=6)
# Some terms are later than all that shapes name.
statements = st.lists(st.tuples(*[st.integers(0, 9)] * 3), max_size=12)


@settings(max_examples=200)
@given(shapes, statements)
def test_the_first_of_a_shape_is_found(shapes, statements):
    s, p, o = np.array(statements, np.int32).reshape(-1, 3).T
    hits = [
        row
        for row, statement in enumerate(statements)
        if any(
            all(t is None or int(t) == n for t, n in zip(shape, statement, strict=True)) for shape in shapes
        )
    ]
    assert Lookout(shapes, int).first(s, p, o) == (hits[0] if hits else None)
