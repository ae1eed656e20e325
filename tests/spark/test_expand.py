"""Linear expansion of blocks: random rules and schemas, each statement by itself against `recompute`.

ENSUE_SEED sets the first seed, ENSUE_EXPAND_CASES how many cases there are.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from dataclasses import dataclass, replace
from random import Random

import pyarrow as pa
import pytest
from equivalence.rulegen import random_rules
from equivalence.rulegen import random_statement as any_statement

from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.model import Copies
from ensue.plan import linear
from ensue.plan.epsilon import restricted
from ensue.plan.known import close
from ensue.plan.matches import Matches
from ensue.plan.shapes import overlap
from ensue.rules.load import load_rules, parse_rules
from ensue.rules.tree import Guard, Mint, Pattern, Premise, Rule, RuleSet, Var
from ensue.spark.blocks import Block, Texts
from ensue.spark.expand import Expander
from ensue.terms import RDF, RDFS

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_EXPAND_CASES", "400"))

X, Y, Z, A, B, C = (Var(name) for name in "xyzabc")
TYPE = f"<{RDF}type>"
SUB_CLASS, SUB, DOMAIN, RANGE = (
    f"<{RDFS}{name}>" for name in ("subClassOf", "subPropertyOf", "domain", "range")
)
INVERSE, SYMMETRIC, ON, VALUE = (f"<urn:{name}>" for name in ("inverse", "symmetric", "on", "value"))
LINKS = tuple(f"<urn:p{k}>" for k in range(4))
CLASSES = tuple(f"<urn:C{k}>" for k in range(5))
THINGS = ("<urn:a>", "<urn:b>", "<urn:c>", "_:n")
LITERALS = ('"x"', '"y"@en', '"1"^^<urn:int>')


def _rule(name, *premises, then, conditions=()):
    """Premises but the last are cut."""
    *cut, live = premises
    made = (*(Premise(Pattern(*p), cut=True) for p in cut), Premise(Pattern(*live)))
    return Rule(name, made, tuple(Pattern(*c) for c in then), tuple(conditions))


STANDARD = (
    _rule("domain", (A, DOMAIN, C), (X, A, Y), then=[(X, TYPE, C)]),
    _rule("range", (A, RANGE, C), (X, A, Y), then=[(Y, TYPE, C)]),
    _rule(
        "range, guarded",
        (A, RANGE, C),
        (X, A, Y),
        then=[(Y, TYPE, C)],
        conditions=[Guard("notLiteral", (Y,))],
    ),
    _rule("sub", (A, SUB, B), (X, A, Y), then=[(X, B, Y)]),
    _rule("class", (A, SUB_CLASS, B), (X, TYPE, A), then=[(X, TYPE, B)]),
    _rule("inverse", (A, INVERSE, B), (X, A, Y), then=[(Y, B, X)]),
    _rule(
        "symmetric", (A, TYPE, SYMMETRIC), (X, A, Y), then=[(Y, A, X)], conditions=[Guard("notLiteral", (Y,))]
    ),
    _rule("value", (C, ON, A), (C, VALUE, Z), (X, A, Z), then=[(X, TYPE, C)]),
    _rule("has value", (C, ON, A), (C, VALUE, Z), (X, TYPE, C), then=[(X, A, Z)]),
    _rule("any", (X, A, Y), then=[(X, TYPE, "<urn:Thing>"), (A, TYPE, "<urn:Link>")]),
    _rule("itself", (X, A, Y), then=[(Y, "<urn:same>", Y)], conditions=[Guard("isIRI", (Y,))]),
    _rule("literal", (X, A, Y), then=[(X, TYPE, CLASSES[0])], conditions=[Guard("isLiteral", (Y,))]),
    _rule("turned", (X, A, Y), then=[(Y, A, X)], conditions=[Guard("notLiteral", (Y,))]),
)
NO_LINKS = (
    _rule("loop", (A, SUB, B), (X, A, X), then=[(X, B, X)]),
    _rule("subject", (A, SUB, B), (A, LINKS[0], Y), then=[(Y, LINKS[1], B)]),
    _rule("differ", (A, SUB, B), (X, A, Y), then=[(Y, B, X)], conditions=[Guard("notEqual", (X, Y))]),
)


def _schema(random):
    made = [(random.choice(CLASSES), SUB_CLASS, random.choice(CLASSES)) for _ in range(random.randrange(6))]
    for kind, other in ((DOMAIN, CLASSES), (RANGE, CLASSES), (SUB, LINKS), (INVERSE, LINKS)):
        made += [(random.choice(LINKS), kind, random.choice(other)) for _ in range(random.randrange(3))]
    made += [(random.choice(LINKS), TYPE, SYMMETRIC)] * (random.random() < 0.4)
    restriction = random.choice(CLASSES)
    made += [(restriction, ON, random.choice([*LINKS, TYPE])), (restriction, VALUE, random.choice(_ends()))]
    return made + [_statement(random) for _ in range(random.randrange(2))]


def _ends():
    return (*THINGS, *LITERALS, *CLASSES[:2])


def _statement(random):
    if random.random() < 0.05:
        return random.choice(LINKS), random.choice(LINKS), random.choice(LINKS)
    subject = random.choice(CLASSES if random.random() < 0.05 else THINGS)
    if random.random() < 0.3:
        return subject, TYPE, random.choice((*CLASSES, *THINGS[:1]))
    return subject, random.choice((*LINKS, "<urn:unknown>")), random.choice(_ends())


@dataclass
class Case:
    seed: int
    rules: RuleSet
    background: list
    statements: list


def make_case(seed):
    random = Random(seed)
    if seed % 4 == 0:
        rules = random_rules(random)
        # Of nodes that are made of nodes, random rules make too many.
        plain = (r for r in rules.rules if not any(isinstance(c, Mint) for c in r.conditions))
        rules = replace(rules, rules=tuple(plain))
        stated = [any_statement(random) for _ in range(12)]
        return Case(seed, rules, [any_statement(random) for _ in range(6)], stated)
    chosen = random.sample(STANDARD, random.randrange(1, 9)) + random.sample(NO_LINKS, random.randrange(2))
    return Case(
        seed, RuleSet("random", tuple(chosen)), _schema(random), [_statement(random) for _ in range(14)]
    )


def block_of(statements):
    s, p, o = zip(*statements, strict=True)
    times = list(range(10, 10 + len(statements)))
    columns = {"time": times, "s": s, "p": p, "o": o, "graph": pa.nulls(len(times), pa.string())}
    return Block.of(pa.record_batch(columns))


def said(block):
    """What a block says, by place: with the times of the statements that it was made of."""
    found = {}
    texts = block.terms.to_pylist()
    rows = zip(block.places.tolist(), block.stamps.tolist(), block.s, block.p, block.o, strict=True)
    for place, time, *terms in rows:
        assert time == 10 + place
        found.setdefault(place, []).append(tuple(texts[number] for number in terms))
    return found


def derived(rules, background, statements):
    """What `recompute` derives from each statement alone, without what the background holds."""
    dictionary = Dictionary()
    encode = dictionary.encode
    maintainer = make("recompute", rules, dictionary)
    maintainer.load_background(Copies.background(tuple(map(encode, each)) for each in background))
    for statement in statements:
        facts = maintainer.closure_of(Copies.of([(1, *map(encode, statement), 5)]), 1)
        yield {tuple(map(dictionary.decode, (s, p, o))) for _, s, p, o, _ in facts}


def check(case, tally):
    closed = close(case.rules, case.background)
    found = linear.find(case.rules, closed)
    table = pickle.loads(pickle.dumps(found.table))
    known = set(closed.statements())
    block = block_of(case.statements)
    expanded = said(Expander(table)(block))
    wanted = list(derived(found.links, known, case.statements))
    for at, statement in enumerate(case.statements):
        first, *more = expanded[at]
        counted = Counter(more)
        assert first == statement
        assert set(counted.values()) <= {1}, (case.seed, statement, counted)
        assert statement not in counted, (case.seed, statement)
        assert counted.keys() - known == wanted[at] - known - {statement}, f"case {case.seed}: {statement}"
        tally["derived"] += len(counted)
    check_restricted(case, table, expanded, block, tally)
    tally["links"] += len(found.links.rules)
    tally["left"] += any("no link" in line for line in found.reports[0].details)
    check_all(case, found, known, expanded, tally)


def check_restricted(case, table, expanded, block, tally):
    random = Random(case.seed)
    every = [statement for rows in expanded.values() for statement in rows]
    needed = [
        tuple(term if random.random() < 0.5 else None for term in random.choice(every))
        for _ in range(random.randrange(1, 4))
    ]
    found = said(Expander(restricted(table, needed))(block))
    for at, rows in expanded.items():
        texts = sorted({term for row in rows for term in row})
        columns = ([texts.index(row[k]) for row in rows] for k in range(3))
        keep = Matches(needed)(texts, *(pa.array(column, pa.int32()).to_numpy() for column in columns))
        want = Counter(row for row, kept in zip(rows, keep, strict=True) if kept)
        assert Counter(found.get(at, [])) == want, f"case {case.seed}, {needed}: {case.statements[at]}"
        tally["restricted"] += sum(want.values())


def check_all(case, found, known, expanded, tally):
    """Where every rule is a link or done, what follows is what follows by the rules as they are."""
    if found.left.rules:
        return
    allowed = [
        at
        for at, statement in enumerate(case.statements)
        if not any(overlap(statement, shape) for shape in found.assumed)
    ]
    stated = [case.statements[at] for at in allowed]
    for at, want in zip(allowed, derived(case.rules, case.background, stated), strict=True):
        assert {*expanded[at]} - known == want - known, f"case {case.seed}: {case.statements[at]}"
        tally["whole"] += 1


@pytest.mark.parametrize("chunk", range(4))
def test_each_statement_implies_what_recompute_says_and_each_once(chunk, capsys):
    tally = Counter()
    for seed in range(SEED + chunk, SEED + CASES, 4):
        check(make_case(seed), tally)
    with capsys.disabled():
        print(f"\nexpansion: {CASES // 4} cases from seed {SEED + chunk}, every fourth: {dict(tally)}")
    if CASES >= 400 and chunk != 3:
        assert tally["derived"] > 2 * CASES
        assert tally["restricted"] > CASES / 2
        assert tally["left"] > 10
        assert tally["whole"] > CASES / 2


def test_a_regime_of_the_standard_over_a_hierarchy():
    rules = load_rules("rdfs-jena")
    background = [
        ("<urn:p>", DOMAIN, "<urn:A>"),
        ("<urn:A>", SUB_CLASS, "<urn:B>"),
        ("<urn:p>", SUB, "<urn:q>"),
        ("<urn:q>", RANGE, "<urn:R>"),
    ]
    found = linear.find(rules, close(rules, background))
    needed = restricted(found.table, [(None, TYPE, "<urn:B>"), (None, TYPE, "<urn:R>")])
    block = Expander(needed)(block_of([("<urn:x>", "<urn:p>", "<urn:y>"), ("<urn:x>", "<urn:q>", '"z"')]))
    assert said(block) == {
        0: [("<urn:x>", TYPE, "<urn:B>"), ("<urn:y>", TYPE, "<urn:R>")],
        1: [('"z"', TYPE, "<urn:R>")],
    }
    assert block.times.each().tolist() == [10, 11]
    assert "<urn:q>" not in block.terms.to_pylist()


def test_a_rule_that_is_linear_but_no_link_is_left_and_that_is_said():
    mint = Rule("mint", (Premise(Pattern(X, LINKS[0], Y)),), (Pattern(X, LINKS[1], Z),), (Mint(Z, "mint"),))
    after = _rule("after", (X, LINKS[1], Y), then=[(Y, TYPE, CLASSES[0])])
    before = _rule("before", (X, LINKS[2], Y), then=[(X, LINKS[0], Y)])
    rules = RuleSet("test", (mint, after, before))
    found = linear.find(rules, close(rules, []))
    assert [rule.name for rule in found.links.rules] == ["after", "before"]
    assert [rule.name for rule in found.left.rules] == ["mint", "after"]
    [report] = found.reports
    assert report.line.startswith("2 of 3 rules are links")
    assert [line[:40] for line in report.details] == [
        "- mint: left: linear, but no link (it lo",
        "+ after: linear: 1 links; left as well, ",
        "+ before: linear: 1 links",
    ]


def test_a_block_of_nothing_and_a_table_of_nothing():
    nothing = RuleSet("none", ())
    block = block_of([("<urn:x>", "<urn:p>", "<urn:x>")])
    table = linear.find(nothing, close(nothing, [])).table
    assert said(Expander(table)(block)) == said(block)
    rules = parse_rules("[r: (?x ?p ?y) -> (?y ?p ?x)]", "r.rules")
    table = linear.find(rules, close(rules, [])).table
    assert said(Expander(table)(block)) == said(block)
    assert len(Expander(table)(block.only(block.places[:0]))) == 0
    assert Texts(block.terms)[0] == "<urn:x>"
