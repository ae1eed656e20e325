"""Equality: terms that are equal for ever kept once, against the plain rules; and equalities on the stream.

Terms are in classes of some size, as chains of owl:sameAs or by a key that they share, and each has
statements of its own. Under the plain rules each is said of every member, and every member is equal to
every other one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from random import Random
from statistics import median
from typing import Any

from ensue.bench.equality_joins import joining_equals, joins
from ensue.bench.harness import Chart, Experiment, Result, Row, Table, progress, ratio
from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain import make
from ensue.maintain.represented import Represented, represented
from ensue.model import BACKGROUND, Copies, Triple
from ensue.plan.known import close_plainly
from ensue.plan.representatives import EQUALITIES, settle
from ensue.query.dataset import Pattern
from ensue.rules.load import parse_rules
from ensue.rules.tree import Pattern as RulePattern
from ensue.rules.tree import RuleSet, Var
from ensue.terms import OWL, RDF

RULES = """
[eq-ref: (?s ?p ?o) -> (?s owl:sameAs ?s), (?p owl:sameAs ?p), (?o owl:sameAs ?o)]
[eq-sym: (?x owl:sameAs ?y) -> (?y owl:sameAs ?x)]
[eq-trans: (?x owl:sameAs ?y), (?y owl:sameAs ?z) -> (?x owl:sameAs ?z)]
[eq-rep-s: (?s owl:sameAs ?t), (?s ?p ?o) -> (?t ?p ?o)]
[eq-rep-p: (?p owl:sameAs ?q), (?s ?p ?o) -> (?s ?q ?o)]
[eq-rep-o: (?o owl:sameAs ?t), (?s ?p ?o) -> (?s ?p ?t)]
[prp-ifp: (?p rdf:type owl:InverseFunctionalProperty), (?x ?p ?y), (?z ?p ?y) -> (?x owl:sameAs ?z)]
[cax-sco: (?c rdfs:subClassOf ?d), (?x rdf:type ?c) -> (?x rdf:type ?d)]
"""
SAME, TYPE, INVERSE = f"<{OWL}sameAs>", f"<{RDF}type>", f"<{OWL}InverseFunctionalProperty>"
KEY, REPORTS, SENSOR = "<urn:key>", "<urn:reports>", "<urn:Sensor>"

Statement = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    terms: int = 1000
    """Terms in all, in classes of each size in turn."""
    facts: int = 5
    """Statements about each term."""
    sizes: tuple[int, ...] = (2, 10, 100, 1000)
    plain_most: int = 100
    """The plain rules are not run on larger classes: the time grows with the cube."""
    step: int = 200
    """Terms that are spoken of in a step of the stream, each in a class of some size."""
    steps: int = 8
    window: int = 3
    """Steps in a window."""
    stream_sizes: tuple[int, ...] = (1, 2, 5, 10, 20, 100)
    """Members of classes whose equalities come on the stream."""
    joins_most: int = 20
    """Equality in the joins of rules is not run on larger classes."""
    seed: int = 1


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    sizes = {"sizes": options.sizes, "stream_sizes": options.stream_sizes}
    parameters = asdict(options) | {name: ",".join(map(str, each)) for name, each in sizes.items()}
    return Experiment(
        "equality",
        f"{options.terms:,} terms in classes of equals, {options.facts} statements about each, "
        "under the rules of OWL 2 RL for equality",
        parameters,
        "the same statements about as many terms as there are classes",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """Backgrounds, then streams over them, then streams that bring equalities."""
    if any(options.terms % size for size in options.sizes):
        raise UsageError("terms that are left over", hint="--terms is to be a multiple of each of --sizes")
    rules = parse_rules(RULES, "equality.rules", syntax="bracketed")
    list(_background(options, rules, min(options.sizes), "stated"))  # To warm up.
    background = [
        row
        for how in ("stated", "by key")
        for size in options.sizes
        for row in _background(options, rules, size, how)
    ]
    over = [row for size in options.sizes for row in _over_background(options, rules, size)]
    live = [row for size in options.stream_sizes for row in _live(options, rules, size)]
    tables = [
        Table("to close a background", background),
        Table("a step of the stream over such a background, median", over),
        Table("a step of a stream that brings the equalities itself, median", live),
    ]
    return Result(tables, [_chart(background)])


# -- workloads -----------------------------------------------------------------------------------------


def equalities(terms: int, size: int, how: str, name: str = "t") -> Iterator[Statement]:
    """What makes classes of so many of so many terms.

    >>> [f"{s} {o}" for s, _, o in equalities(4, 2, "by key")][1:]
    ['<urn:t0> <urn:key0>', '<urn:t1> <urn:key0>', '<urn:t2> <urn:key1>', '<urn:t3> <urn:key1>']
    """
    if how == "by key":
        yield KEY, TYPE, INVERSE
        yield from ((f"<urn:{name}{n}>", KEY, f"<urn:key{n // size}>") for n in range(terms))
    else:
        linked = (n for n in range(1, terms) if n % size)
        yield from ((f"<urn:{name}{n - 1}>", SAME, f"<urn:{name}{n}>") for n in linked)


def reports(terms: int, facts: int, random: Random, name: str = "t") -> Iterator[Statement]:
    """Statements about each of so many terms."""
    for n in range(terms):
        yield f"<urn:{name}{n}>", TYPE, SENSOR
        yield from (
            (f"<urn:{name}{n}>", REPORTS, f"<urn:value{random.randrange(1_000_000)}>") for _ in range(facts)
        )


# -- what is measured ------------------------------------------------------------------------------------


def _background(options: Options, rules: RuleSet, size: int, how: str) -> Iterator[Row]:
    random = Random(options.seed)
    told = [*equalities(options.terms, size, how), *reports(options.terms, options.facts, random)]
    seconds: dict[str, float] = {}
    for equality in EQUALITIES:
        if equality == "plain" and size > options.plain_most:
            yield _row(size, equality, equalities=how, ms=None, facts=None, ratio=None)
            continue
        progress(f"background, classes of {size}, {how}: {equality}")
        dictionary = Dictionary()
        stated = _copies(told, dictionary)
        started = time.process_time()
        found = settle(rules, stated, dictionary, close_plainly, equality)
        facts = found.facts or close_plainly(rules, stated, dictionary)
        seconds[equality] = time.process_time() - started
        yield _row(
            size,
            equality,
            equalities=how,
            ms=1000 * seconds[equality],
            facts=len(facts),
            ratio=ratio(seconds[equality], seconds[EQUALITIES[0]]),
        )


def _over_background(options: Options, rules: RuleSet, size: int) -> Iterator[Row]:
    first = 0.0
    for equality in EQUALITIES:
        if equality == "plain" and size > options.plain_most:
            yield _row(size, equality, ms=None, facts=None, answers=None, ratio=None)
            continue
        progress(f"stream over classes of {size}: {equality}")
        lane = _Lane(rules, equality, [*equalities(options.terms, size, "stated")])
        # Every step is about the same terms, whose classes the background knows.
        step = lane.run(options, lambda n, r: [*reports(options.step, options.facts, r)])
        first = first or step
        yield lane.row(size, equality, step, first)


def _live(options: Options, rules: RuleSet, size: int) -> Iterator[Row]:
    first = 0.0
    for equality in ("links", "plain", "joins"):
        if size > {"plain": options.plain_most, "joins": options.joins_most}.get(equality, size):
            yield _row(size, equality, ms=None, facts=None, answers=None, ratio=None)
            continue
        progress(f"classes of {size} on the stream: {equality}")
        lane = _Lane(joining_equals(rules) if equality == "joins" else rules, equality, [])

        def come(n: int, random: Random) -> list[Statement]:
            name = f"s{n}x"
            equal = equalities(options.step, size, "stated", name)
            return [*equal, *reports(options.step, options.facts, random, name)]

        step = lane.run(options, come)
        first = first or step
        yield lane.row(size, equality, step, first)


class _Lane:
    """A maintainer by `expiration`, and the answers of a pattern that is watched."""

    def __init__(self, rules: RuleSet, equality: str, background: list[Statement]) -> None:
        self._dictionary = dictionary = Dictionary()
        stated = _copies(background, dictionary)
        natively = EQUALITIES[equality in ("plain", "joins")]
        found = settle(rules, stated, dictionary, close_plainly, natively)
        inner = make("expiration", found.unfolded.rules, represented(dictionary, found.classes))
        self._maintainer: Any = Represented(inner, found.classes, dictionary)
        self._maintainer.load_background(stated)
        self._pattern = self._watched(equality)
        self._maintainer.watch(self._pattern)
        self.answers = 0

    def _watched(self, equality: str) -> tuple[Pattern, ...]:
        x, v = Var("x"), Var("v")
        asked = [RulePattern(x, REPORTS, v), RulePattern(x, TYPE, SENSOR)]
        equal: list[RulePattern] = []
        if equality == "joins":
            asked, equal = joins(asked, SAME)
            equal.append(RulePattern(x, SAME, Var("who")))
        pin = self._dictionary.pin
        return tuple(
            tuple(node.name if isinstance(node, Var) else pin(node) for node in each)  # type: ignore[misc]
            for each in (*asked, *equal)
        )

    def run(self, options: Options, come: Any) -> float:
        """Seconds of a step, with its answers: the median of those over a full window."""
        random, taken = Random(options.seed), []
        for n in range(1, options.steps + 1):
            copies = _copies(come(n, random), self._dictionary, stamp=n)
            started = time.process_time()
            self._maintainer.admit(copies)
            self._maintainer.advance(n - options.window)
            found = self._maintainer.solutions(self._pattern, 1, n - options.window)
            taken.append(time.process_time() - started)
        self.answers = len(found.stamps)
        return median(taken[options.window :])

    def row(self, size: int, equality: str, seconds: float, first: float) -> Row:
        held = self._maintainer.statistics()["facts"]
        return _row(
            size, equality, ms=1000 * seconds, facts=held, answers=self.answers, ratio=ratio(seconds, first)
        )


def _row(size: int, equality: str, **cells: Any) -> Row:
    return {"class size": size, "equality": equality, **cells}


def _copies(statements: list[Statement], dictionary: Dictionary, stamp: int | None = None) -> Copies:
    encode = dictionary.encode
    triples: list[Triple] = [(encode(s), encode(p), encode(o)) for s, p, o in statements]
    if stamp is None:
        return Copies.background(triples)
    return Copies.of((BACKGROUND + 1, s, p, o, stamp) for s, p, o in triples)


def _chart(rows: list[Row]) -> Chart:
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if isinstance(row["ms"], float):
            name = f"{row['equality']}, {row['equalities']}"
            lines.setdefault(name, []).append((float(str(row["class size"])), row["ms"]))
    return Chart("to close a background", "members of a class", "ms", lines, log_x=True, log_y=True)
