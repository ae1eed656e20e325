"""A query in two halves: what goes from one to the other, and that both together are the whole."""

from __future__ import annotations

import numpy as np
import pytest

from ensue.dictionary import Dictionary
from ensue.model import Facts
from ensue.query.answers import Answers
from ensue.query.compiled.compile import compile_query
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.compiled.expressions import NotCompiled
from ensue.query.compiled.part import PartEvaluator
from ensue.query.compiled.split import split
from ensue.query.dataset import Columns, Dataset, PlainGraph
from ensue.query.language import parse_query
from ensue.query.merge import Merge
from ensue.query.output import Result
from ensue.query.share import Cut, Share
from ensue.query.tree import Form


def query_of(head, tail="", where="?x <urn:p> ?y"):
    return parse_query(f"{head} FROM STREAM <urn:s> [RANGE 1s] WHERE {{ {where} }}{tail}", name="q")


def halves_of(head, tail="", where="?x <urn:p> ?y", cut=Cut.ANSWERS):
    return split(compile_query(query_of(head, tail, where), Dictionary()), cut)


@pytest.mark.parametrize(
    ("head", "tail", "cut", "variables", "once", "most"),
    [
        ("SELECT ?y", "", Cut.ANSWERS, "y", False, None),
        ("SELECT DISTINCT ?y", "", Cut.ANSWERS, "y", True, None),
        ("SELECT ?y", " ORDER BY ?x", Cut.ANSWERS, "xy", False, None),
        ("SELECT ?y", " ORDER BY ?x LIMIT 2 OFFSET 3", Cut.ANSWERS, "xy", False, 5),
        ("SELECT ?y", " OFFSET 3", Cut.ANSWERS, "y", False, None),
        ("SELECT DISTINCT ?y", " LIMIT 2", Cut.ANSWERS, "y", True, None),
        ("ASK", "", Cut.ANSWERS, "", True, None),
        ("CONSTRUCT { ?y <urn:q> 1 }", "", Cut.ANSWERS, "y", True, None),
        ("CONSTRUCT { ?y <urn:q> [] }", "", Cut.ANSWERS, "xy", False, None),
        ("CONSTRUCT { ?y <urn:q> 1 }", " LIMIT 1", Cut.ANSWERS, "xy", False, 1),
        ("SELECT (COUNT(*) AS ?n)", "", Cut.GROUPS, "", False, None),
        ("SELECT (COUNT(DISTINCT *) AS ?n)", "", Cut.GROUPS, "xy", False, None),
        ("SELECT (SUM(?y) AS ?n)", " HAVING(MIN(?x) > 1)", Cut.GROUPS, "xy", False, None),
        ("SELECT DISTINCT (COUNT(*) AS ?n)", " GROUP BY ?y", Cut.GROUPS, "y", False, None),
    ],
)
def test_what_goes_from_shards_to_the_merge(head, tail, cut, variables, once, most):
    halves = halves_of(head, tail, cut=cut)
    assert halves.variables == tuple(variables)
    assert (halves.once, halves.most) == (once, most)


@pytest.mark.parametrize(
    ("head", "tail", "reason"),
    [
        ("SELECT (SAMPLE(?y) AS ?n)", "", "SAMPLE"),
        ("SELECT (GROUP_CONCAT(?y) AS ?n)", "", "GROUP_CONCAT"),
        ("SELECT ?y (COUNT(*) AS ?n)", " GROUP BY ?y VALUES ?y { 1 }", "joined"),
    ],
)
def test_what_has_no_halves(head, tail, reason):
    with pytest.raises(NotCompiled, match=reason):
        halves_of(head, tail, cut=Cut.GROUPS)


@pytest.mark.parametrize(
    ("head", "tail", "cut"),
    [
        ("SELECT ?y", "", Cut.ANSWERS),
        ("SELECT DISTINCT ?y", " ORDER BY DESC(?y)", Cut.ANSWERS),
        ("SELECT ?y", " LIMIT 3 OFFSET 1", Cut.ANSWERS),
        ("ASK", "", Cut.ANSWERS),
        ("CONSTRUCT { ?y <urn:q> [] }", "", Cut.ANSWERS),
        ("SELECT (SUM(?y) AS ?n)", "", Cut.GROUPS),
        ("SELECT ?y (COUNT(?x) AS ?n)", " GROUP BY ?y ORDER BY DESC(?n) ?y", Cut.GROUPS),
    ],
)
@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("size", [0, 20])
def test_both_halves_are_the_whole(head, tail, cut, shards, size):
    query, dictionary = query_of(head, tail), Dictionary()
    integer = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    triples = [(f"<urn:x{at}>", "<urn:p>", integer.format(at * at % 7)) for at in range(size)]
    facts = [(1, *map(dictionary.encode, triple), 1000 + at) for at, triple in enumerate(triples)]
    dataset = Dataset(dictionary, PlainGraph(live=Columns.of(Facts.of(facts))))
    whole = CompiledEvaluator(query, dictionary).evaluate(dataset)
    parts = []
    for shard in range(shards):
        share = Share("x", lambda term, mine=shard: int(term[6:-1]) % shards == mine, cut)
        answers = PartEvaluator(query, dictionary, share).evaluate(dataset)
        assert answers.form is Form.SELECT
        parts.append(Result("q", 0, 1, answers, answers.stamps, part=True))
    merged = Merge(query, cut)(parts)
    found = Answers(merged.answers.form, merged.answers.variables, merged.answers.rows, merged.until)
    key = str if "ORDER" not in tail and "LIMIT" not in tail else lambda row: 0
    assert sorted(zipped(found), key=key) == sorted(zipped(whole), key=key)
    assert found.form is whole.form
    assert found.variables == whole.variables
    assert not merged.part


def zipped(answers):
    stamps = answers.stamps if answers.stamps is not None else np.zeros(len(answers.rows), int).tolist()
    return list(zip(answers.rows, stamps, strict=True))
