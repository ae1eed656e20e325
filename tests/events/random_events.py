"""Random temporal queries and streams, from a seed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from ensue import Reasoner
from ensue.query.language import parse_query
from ensue.windows.frontier import Disorder

from .brute_force import BruteForce, Fact, Statement, Triple

OPERATORS = (
    *("SEQ", "SEQ", "SEQ", "BEFORE", "AFTER", "MEETS", "MET_BY", "OVERLAPS", "OVERLAPPED_BY", "STARTS"),
    *("STARTED_BY", "DURING", "CONTAINS", "FINISHES", "FINISHED_BY", "EQUALS"),
)
STRATEGIES = ("", "", "", "[RECENT]", "[CHRONICLE]", "[CONTINUOUS]", "[CUMULATIVE]", "[UNRESTRICTED]")
F = "http://larkc.eu/csparql/sparql/jena/ext#"


@dataclass(frozen=True)
class Asked:
    """A query, what it selects besides start and end, and its window."""

    text: str
    variables: tuple[str, ...]
    range_ms: int
    step_ms: int


@dataclass(frozen=True)
class Case:
    """A query, its stream, and its background."""

    asked: Asked
    statements: tuple[Statement, ...]
    background: frozenset[Triple]
    disorder: int


def make_query(random: Random) -> Asked:
    """A query. Groups with several patterns make intervals; few values make many matches."""
    count = random.choice((2, 2, 2, 3))
    operators = [_operator(random, last=n == count - 2) for n in range(count - 1)]
    wide = [any(_is_wide(each) for each in operators[max(0, n - 1) : n + 1]) for n in range(count)]
    operands = [_operand(random, n, wide=wide[n] and random.random() < 0.8) for n in range(count)]
    where = operands[0]
    for number, part in enumerate(operands[1:], 1):
        last = number == len(operands) - 1
        where += f" {operators[number - 1]} {part}"
        if random.random() < 0.3:
            where += f" WITHIN {random.choice((4, 7, 10))}ms"
        if not last and random.random() < 0.3:
            where = f"{{ {where} }}"
    range_ms, step_ms = random.choice(((12, 12), (12, 4), (15, 3), (8, 9), (40, 40), (40, 40)))
    return asked(where, _seen(operands, where), range_ms, step_ms)


def asked(where: str, seen: tuple[str, ...], range_ms: int, step_ms: int) -> Asked:
    """The query for an expression: what is seen of it, its start and its end."""
    select = " ".join((*(f"?{name}" for name in seen), f"(<{F}start>() AS ?start_) (<{F}end>() AS ?end_)"))
    window = f"[RANGE {range_ms}ms STEP {step_ms}ms]"
    text = f"PREFIX : <urn:> SELECT {select} FROM STREAM <urn:s> {window} WHERE {{ {where} }}"
    return Asked(text, seen, range_ms, step_ms)


def _seen(operands: Sequence[str], where: str) -> tuple[str, ...]:
    """The variables that are seen outside: of a repetition those that are written elsewhere, too."""
    found: dict[str, None] = {}
    for operand in operands:
        is_repeated = not operand.endswith(" }")
        elsewhere = where.replace(operand, "", 1)
        for name in re.findall(r"[?](\w+)", operand):
            if not is_repeated or f"?{name}" in elsewhere:
                found[name] = None
    return tuple(found)


def make_case(asked: Asked, random: Random) -> Case:
    """A stream and a background for a query."""
    background = frozenset(_triple(random) for _ in range(random.choice((0, 0, 0, 2))))
    return Case(asked, tuple(_statements(random)), background, random.choice((0, 3)))


def _operator(random: Random, *, last: bool) -> str:
    if last and random.random() < 0.15:
        return random.choice(("OPTIONALSEQ", "EQUALSOPTIONAL")) + random.choice(("", " [RECENT]"))
    operator = f"{random.choice(OPERATORS)} {random.choice(STRATEGIES)}"
    if operator.startswith("SEQ") and random.random() < 0.35:
        operator += f" NOT {{ {_pattern(random, 'q')} }} SEQ"
    return operator


def _is_wide(operator: str) -> bool:
    """Whether it is about intervals, so that instants would not do."""
    return operator.split()[0] not in ("SEQ", "BEFORE", "AFTER", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL")


def _operand(random: Random, number: int, *, wide: bool) -> str:
    own = "yzu"[number]
    patterns = [_pattern(random, own)]
    if wide or random.random() < 0.3:
        patterns.append(_pattern(random, f"{own}2"))
    repeated = random.choice(("", "", "", "", "+", "{2}", "{1,2}", "{2,}")) if len(patterns) == 1 else ""
    return f"{{ {' . '.join(patterns)} }}{repeated}"


def _pattern(random: Random, own: str) -> str:
    s = random.choice(("?x", "?x", "?x", "?x", ":1", f"?{own[0]}"))
    o = random.choice((f"?{own}", f"?{own}", f"?{own}", f"?{own[0]}", ":1"))
    return f"{s} {random.choice((':a', ':a', ':a', ':b', ':b', ':c'))} {o}"


def _triple(random: Random) -> Triple:
    return (
        f"<urn:{random.choice('111112')}>",
        f"<urn:{random.choice('aaabbc')}>",
        f"<urn:{random.choice('112')}>",
    )


def _statements(random: Random) -> list[Statement]:
    count, last = random.choice((8, 12, 14)), random.choice((8, 12, 25))
    return [(random.randint(1, last), *_triple(random)) for _ in range(count)]


Windows = dict[tuple[int, int], Counter[tuple[Any, ...]]]


def in_order(case: Case) -> Case:
    """The same case with no disorder."""
    return replace(case, disorder=0)


def arrival(case: Case, random: Random) -> list[Statement]:
    """The statements in an order that the disorder of the stream allows."""
    return sorted(case.statements, key=lambda each: each[0] + random.uniform(0, case.disorder))


def engine_answers(
    case: Case, rows: Sequence[Statement], random: Random, background: Path | None, **options: Any
) -> Windows:
    """What the engine gives, window by window, if statements come in pieces."""
    files = [] if background is None else [background]
    reasoner = Reasoner(background=files, disorder=Disorder(case.disorder), **options)
    reasoner.register(case.asked.text)
    found: Windows = {}
    at = 0
    while at < len(rows):
        some = random.randint(1, 4)
        reasoner.push("urn:s", rows[at : at + some])
        at += some
        found |= {(each.open, each.close): bag(case, each.answers.rows) for each in reasoner.advance()}
        assert reasoner.counters()["overdue"] == 0, "a partial match has outlived its lifetime"
    return found | {(each.open, each.close): bag(case, each.answers.rows) for each in reasoner.end()}


def bag(case: Case, rows: Iterable[tuple[str | None, ...]]) -> Counter[tuple[Any, ...]]:
    """Answers as the enumeration has them: bindings in order of name, start and end."""
    found: Counter[tuple[Any, ...]] = Counter()
    for *values, start, end in rows:
        bound = sorted((n, v) for n, v in zip(case.asked.variables, values, strict=True) if v is not None)
        found[tuple(bound), int(str(start).split('"')[1]), int(str(end).split('"')[1])] += 1
    return found


def expected(
    case: Case,
    rows: Sequence[Statement],
    windows: Iterable[tuple[int, int]],
    derived: Sequence[Fact] = (),
    closed: frozenset[Triple] | None = None,
) -> Windows:
    """What enumeration gives for some windows; `derived` and `closed` if there are rules."""
    [tree] = parse_query(case.asked.text).events.expressions
    background = case.background if closed is None else closed
    brute = BruteForce(rows, background, case.asked.range_ms, case.asked.step_ms, derived)
    return {(open_, close): brute.inside(tree, open_, close) for open_, close in windows}


def write_background(case: Case, folder: Path) -> Path | None:
    """The background as a file, if there is any."""
    if not case.background:
        return None
    path = folder / "background.nt"
    path.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in sorted(case.background)))
    return path
