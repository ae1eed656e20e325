"""Random queries over random data: against pyoxigraph, and stamps against evaluation of what is left."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

from compiled.querygen import GRAPHS, QueryGenerator, random_quads
from compiled.support import answers, oxigraph_rows
from ensue.query.compiled.expressions import NotCompiled

SEED = int(os.environ.get("ENSUE_SEED", "1"))
QUERIES = 600
NAMED = [f"urn{name}" for name in GRAPHS]


def cases(count, offset=0):
    """Queries with their data, each from a seed of its own."""
    for seed in range(SEED * 1_000_000 + offset, SEED * 1_000_000 + offset + count):
        random = Random(seed)
        yield seed, random_quads(random), QueryGenerator(random)


def test_against_pyoxigraph():
    compiled = some = 0
    for seed, statements, generator in cases(QUERIES):
        query = generator.query()
        try:
            found = answers(query, statements, still=lambda quad: len(str(quad)) % 2 == 0, named=NAMED)
        except NotCompiled:
            continue
        compiled += 1
        names, expected = oxigraph_rows(query, statements, NAMED)
        some += bool(expected)
        assert (list(found.variables), Counter(found.rows)) == (names, expected), f"seed {seed}: {query}"
    print(f"seed {SEED} (ENSUE_SEED): {compiled} of {QUERIES} compiled, {some} had answers")
    assert compiled > 0.95 * QUERIES
    assert some > 0.4 * QUERIES


def test_stamps_say_what_is_left():
    """The rows above a threshold are the answers over the facts above it."""
    compared = 0
    for seed, statements, generator in cases(150, offset=QUERIES):
        query = generator.query()
        try:
            found = answers(query, statements, named=NAMED)
        except NotCompiled:
            continue
        if found.stamps is None or not found.rows:
            continue
        threshold = generator.random.randrange(len(statements))
        kept = Counter(row for row, stamp in zip(found.rows, found.stamps, strict=True) if stamp > threshold)
        left = answers(query, statements[threshold + 1 :], named=NAMED)
        assert Counter(left.rows) == kept, f"seed {seed}, above {threshold}: {query}"
        compared += 1
    print(f"seed {SEED} (ENSUE_SEED): {compared} compared")
    assert compared > 20
