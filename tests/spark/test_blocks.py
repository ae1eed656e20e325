"""Blocks keep what they are given: written and read, in part, joined, and in another order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensue.maintain.kernel.flatdictionary import FlatDictionary
from ensue.model import FOREVER, NEVER
from ensue.plan.router import shard_of
from ensue.spark.blocks import Block, Texts

terms = st.sampled_from(["<urn:a>", "<urn:b>", "<urn:c>", '"é"@fr', '""', "_:x", '"\U0001f600"'])
times = st.integers(NEVER, FOREVER) | st.integers(0, 9)
rows = st.lists(st.tuples(times, terms, terms, terms, terms | st.none()), max_size=12)


def block_of(given):
    columns = list(zip(*given, strict=True)) or [()] * 5
    kinds = [pa.int64(), *[pa.string()] * 4]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return Block.of(pa.record_batch(arrays, names=["time", "s", "p", "o", "graph"]))


def rows_of(block):
    texts = [*block.terms.to_pylist(), None]  # The last is for the default graph.
    times = block.stamps
    columns = ([texts[number] for number in column] for column in block.columns)
    return list(zip(times.tolist(), *columns, strict=True))


def written(block):
    found = Block.read(block.write())
    assert found.terms.to_pylist() == block.terms.to_pylist()
    found.terms.validate(full=True)
    assert found.times.each().tolist() == block.times.each().tolist()
    return found


@given(rows)
def test_what_is_written_is_read(rows):
    assert rows_of(written(block_of(rows))) == rows


@given(st.data(), rows)
def test_a_part_has_its_statements_all_times_and_no_term_besides(data, rows):
    masks = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    first, second = (np.array(data.draw(masks), bool) for _ in range(2))
    part = block_of(rows).only(np.flatnonzero(first))
    part = written(part.only(np.flatnonzero(second[first])))
    assert rows_of(part) == [row for row, one, two in zip(rows, first, second, strict=True) if one and two]
    assert part.times.each().tolist() == [row[0] for row in rows]
    used = {term for row in rows_of(part) for term in row[1:]} - {None}
    assert set(part.terms.to_pylist()) == used
    assert len(part.terms) == len(used)


@given(st.lists(rows, min_size=1, max_size=4), st.randoms())
def test_joined_and_ordered(parts, random):
    every = [row for part in parts for row in part]
    kept = [[at for at in range(len(part)) if random.random() < 0.7] for part in parts]
    blocks = [block_of(part).only(np.array(some, np.int64)) for part, some in zip(parts, kept, strict=True)]
    joined = Block.joined(blocks)
    assert joined.times.each().tolist() == [time for time, *_ in every]
    assert rows_of(joined) == [part[at] for part, some in zip(parts, kept, strict=True) for at in some]
    if len(parts) > 1:
        assert len(set(joined.terms.to_pylist())) == len(joined.terms)
    order = np.argsort(joined.times.each(), kind="stable")
    here = set(joined.places.tolist())
    ordered = written(joined.ordered(order))
    assert ordered.times.each().tolist() == sorted(time for time, *_ in every)
    assert rows_of(ordered) == [every[row] for row in order if row in here]


@given(rows)
def test_into_a_dictionary_and_back(rows):
    dictionary = FlatDictionary()
    arrivals = block_of(rows).batch(dictionary).arrivals
    assert rows_of(written(Block.of_arrivals(arrivals, dictionary))) == rows


@pytest.mark.parametrize("count", [2**16 - 3, 2**16 - 2])
def test_as_many_terms_as_two_bytes_can_name_and_more(count):
    rows = [(5, f"<urn:{number}>", "<urn:p>", "<urn:o>", None) for number in range(count)]
    block = block_of(rows)
    assert len(block.terms) == count + 2
    assert rows_of(written(block)) == rows


def test_terms_that_are_a_slice():
    block = block_of([(5, "<urn:a>", "<urn:p>", "<urn:o>", None)])
    padded = pa.array(["<urn:before>", *block.terms.to_pylist(), "<urn:after>"])
    sliced = Block(block.times, None, padded.slice(1, 3), *block.columns)
    assert rows_of(written(sliced)) == rows_of(block)


def test_a_block_takes_few_bytes_for_a_statement():
    rows = [(at // 10, f"<urn:{at // 3}>", f"<urn:p{at % 3}>", f'"{at % 100}"', None) for at in range(9999)]
    assert len(block_of(rows).write()) < 5 * len(rows)


def test_texts_are_made_one_by_one():
    texts = Texts(pa.array(["<urn:a>", "<urn:b>"]))
    assert (len(texts), texts[1], list(texts)) == (2, "<urn:b>", ["<urn:a>", "<urn:b>"])


def test_owners_are_the_same_found_one_by_one_or_together():
    terms = [f'"{"ü🚆"[: number % 3]}{number}{"-" * (number % 23)}"' for number in range(200)]
    texts = Texts(pa.array(["<urn:before>", *terms, "<urn:after>"]).slice(1, 200))
    owners = texts.checksums(np.arange(0, 200, 3)) % 7
    assert owners.tolist() == [shard_of(term, 7) for term in terms[::3]]
    assert Texts(pa.array([], pa.string())).checksums(np.array([], np.int64)).tolist() == []
