"""Finding the statements of a block that have one of many shapes."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from plan.support import block, expand, relevant, shapes_of

from ensue.plan.matches import Matches
from ensue.plan.shapes import ANY, Shapes

TERMS = tuple(f"<urn:t{number}>" for number in range(24))


@pytest.mark.parametrize("seed", range(60))
def test_blocks_are_matched_as_statements_are(seed):
    random = Random(seed)
    few = TERMS[: random.choice((3, 6, 24))]
    shapes = [
        tuple(random.choice((None, random.choice(few))) for _ in range(3))
        for _ in range(random.randrange(60))
    ]
    shapes = [shape for shape in shapes if shape != ANY]
    statements = [tuple(random.choices(few, k=3)) for _ in range(random.randrange(300))]
    found = Matches(shapes)(*block(statements))
    wanted = Shapes(shapes)
    assert found.tolist() == [wanted.covers(statement) for statement in statements], f"seed {seed}"


def test_any_shape_is_every_statement():
    assert Matches([ANY])(*block(product(TERMS[:2], repeat=3))).all()


def test_no_shapes_and_no_statements():
    assert not Matches([])(*block(product(TERMS[:2], repeat=3))).any()
    assert len(Matches([(None, TERMS[0], None)])(*block([]))) == 0


def test_numbers_mean_something_else_in_every_block():
    wanted_ones = Matches(relevant("?x :p :a").patterns)
    wanted, other = expand(":x :p :a"), expand(":x :q :a")
    assert wanted_ones(*block([wanted, other])).tolist() == [True, False]
    assert wanted_ones(*block([other, wanted])).tolist() == [False, True]


def test_what_was_assumed_away_is_found():
    rules = "[up: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]"
    found = relevant("?x a :D", rules)
    kept, assumed = Matches(found.patterns), Matches(found.assumed)
    columns = block(shapes_of(":a rdf:type :D") | shapes_of(":C rdfs:subClassOf :D"))
    assert assumed(*columns).sum() == 1
    assert (assumed(*columns) ^ kept(*columns)).all()


def test_terms_that_no_statement_of_the_block_has_do_not_matter():
    terms = ["<urn:unused>", *TERMS]
    s, p, o = (np.array(column, np.int32) for column in ([1, 2], [3, 3], [4, 5]))
    assert Matches([(None, "<urn:unused>", None), (None, TERMS[2], TERMS[4])])(terms, s, p, o).tolist() == [
        False,
        True,
    ]
