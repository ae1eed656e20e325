"""A stream of instance statements for any ontology, under which each applicable rule fires.

The stream is a sequence of *scenes*, each made for one thing that the ontology says: a class gets
an instance, a property a link or a value, a restriction a member, a functional property (now and
then) two values. Scenes meet: their individuals are linked to those of scenes shortly before.

What keeps the closure in proportion to the stream, as no hub or chain may grow without bound:
an individual takes part in few links, those of a transitive property form short chains, and a
functional property gets a second value only where nothing else can join the two that it merges.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import count

from ensue.bench.ontology import (
    ALL,
    HAS_VALUE,
    SOME,
    TYPE,
    Ontology,
    Property,
    Restriction,
    Statement,
    literal_types,
    read_ontology,
)
from ensue.terms import XSD, literal

MAX_OUT = 4
"""How many links may leave an individual."""
MAX_IN = 4
"""How many links may lead to an individual."""
MAX_CHAIN = 3
"""How many links of a transitive property may follow one another."""
MAX_GROUP = 4
"""How many individuals may hang together by a transitive property that leads both ways."""
RECENT = 8
"""How many individuals of a class stay open to further links."""
RARE = 100
"""Scenes between two rounds of those that make things the same."""

INDIVIDUAL = "<http://example.org/individual/{}>"

Scene = Callable[[], object]


def ontology_stream(ontology: Iterable[Statement], n: int, seed: int) -> list[Statement]:
    """`n` distinct, connected statements about individuals of an ontology.

    >>> from ensue.bench.ontology import DOMAIN, RANGE
    >>> stream = ontology_stream([("<urn:p>", DOMAIN, "<urn:A>"), ("<urn:p>", RANGE, "<urn:B>")], 10, seed=1)
    >>> len(set(stream)), {p for _, p, _ in stream} == {TYPE, "<urn:p>"}
    (10, True)
    """
    writer = StreamWriter(read_ontology(ontology), random.Random(seed))
    return writer.write(n)


class StreamWriter:
    """Writes scenes until there are enough statements."""

    def __init__(self, ontology: Ontology, rng: random.Random) -> None:
        self.stretched = 0
        """Links that had to leave a domain or a range aside, because no property fitted."""
        self._ontology = ontology
        self._rng = rng
        self._below = cache(ontology.below)
        self._literal_types = cache(partial(literal_types, ontology))
        self._written: dict[Statement, None] = {}
        self._numbers = count()
        self._open: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=RECENT))
        self._latest: deque[str] = deque(maxlen=RECENT)
        self._out: dict[str, int] = defaultdict(int)
        self._in: dict[str, int] = defaultdict(int)
        self._keyed: set[tuple[str, str]] = set()
        self._groups: dict[tuple[str, str], list[str]] = {}
        self._levels: dict[tuple[str, str], int] = {}
        self._links = [p for p in ontology.properties.values() if not p.literal]
        self._domain_classes = {p.iri: ontology.fitting(p.domains) for p in ontology.properties.values()}
        self._range_classes = {p.iri: ontology.fitting(p.ranges) for p in self._links}
        self._into: dict[str, list[Property]] = defaultdict(list)
        self._from: dict[str, list[Property]] = defaultdict(list)
        self._implied_keys = {c: self._keys_of(c) for c in ontology.classes}
        for p in self._links:
            for c in self._range_classes[p.iri]:
                self._into[c].append(p)
            for c in self._domain_classes[p.iri]:
                self._from[c].append(p)

    def write(self, n: int) -> list[Statement]:
        """The first `n` statements, fewer if the ontology gives nothing to say."""
        common, rare = self._common_scenes(), self._rare_scenes()
        every = max(1, RARE // max(1, len(common)))
        for turn in count():
            size = len(self._written)
            scenes = common + (rare if turn % every == 0 else [])
            self._rng.shuffle(scenes)
            for scene in scenes:
                if len(self._written) >= n:
                    return list(self._written)[:n]
                scene()
            if len(self._written) == size:
                break
        return list(self._written)[:n]

    # The scenes.

    def _common_scenes(self) -> list[Scene]:
        ontology = self._ontology
        values = [p for p in ontology.properties.values() if p.literal]
        return [
            *(partial(self._new, c) for c in ontology.classes),
            *(partial(self._link_scene, p) for p in self._links),
            *(partial(self._chain_scene, p) for p in self._links if p.chains),
            *(partial(self._value_scene, p) for p in values),
            *(partial(self._restriction_scene, r) for r in ontology.restrictions),
        ]

    def _rare_scenes(self) -> list[Scene]:
        merging = [p for p in self._links if p.subject_keys or p.object_keys]
        return [partial(self._merging_scene, p) for p in merging]

    def _link_scene(self, p: Property) -> None:
        s = self._subject(p)
        if self._rng.random() < 0.5:
            o = self._pick(self._range_classes[p.iri])
            if o is not None and self._link(p, s, o):
                return
        self._link_new(p, s)

    def _value_scene(self, p: Property) -> None:
        self._state_value(p, self._subject(p))

    def _chain_scene(self, p: Property) -> None:
        self._link_new(p, self._link_new(p, self._subject(p)))

    def _merging_scene(self, p: Property) -> None:
        """Two values for a functional property, or two holders of an inverse functional one."""
        if p.subject_keys:
            s = self._new(self._any(self._domain_classes[p.iri]))
            twins = [(s, self._nobody()) for _ in range(2)]
        else:
            o = self._new(self._any(self._range_classes[p.iri]))
            twins = [(self._nobody(), o) for _ in range(2)]
        # The twins are left out of every list: what merges stays a pair.
        if all(self._free(p, s) and self._unheld(p, o) for s, o in twins):
            for s, o in twins:
                self._record(p, s, o)

    def _restriction_scene(self, r: Restriction) -> None:
        if r.kind == ALL:
            named = self._below(r.node)
            if named:
                self._give_filler(r, self._new(self._any(named)), typed=False)
            return
        self._make_member(self._subject(self._ontology.properties[r.on]), r, depth=0)

    # What scenes are made of.

    def _make_member(self, s: str, r: Restriction, depth: int) -> None:
        """State what makes `s` a member of a hasValue or someValuesFrom restriction."""
        p = self._ontology.properties[r.on]
        if r.kind == HAS_VALUE:
            if self._may_share(p) and self._free(p, s):
                self._record(p, s, r.filler)
        elif r.kind == SOME:
            self._give_filler(r, s, typed=True, depth=depth)

    def _give_filler(self, r: Restriction, s: str, *, typed: bool, depth: int = 0) -> None:
        p = self._ontology.properties[r.on]
        if p.literal:
            self._state_value(p, s, r.filler if r.filler.startswith(f"<{XSD}") else None)
            return
        named = self._below(r.filler) if typed else ()
        o = self._link_new(p, s, named)
        if named or not typed or depth == 2:
            return
        for inner in self._ontology.restrictions:
            if inner.node == r.filler:
                self._make_member(o, inner, depth + 1)

    def _subject(self, p: Property) -> str:
        classes = self._domain_classes[p.iri]
        found = self._pick(classes)
        return found if found is not None and self._free(p, found) else self._new(self._any(classes))

    def _link_new(self, p: Property, s: str, classes: tuple[str, ...] = ()) -> str:
        """A new individual that `p` leads to from `s`, of one of the classes or as the range has it."""
        c = self._any(classes or self._range_classes[p.iri])
        o = self._individual(c, stated=bool(classes) or self._rng.random() < 0.5)
        if not self._link(p, s, o):
            self._connect(o, c)
        return o

    def _new(self, c: str | None) -> str:
        """A new individual that is linked to an earlier one."""
        individual = self._individual(c)
        if len(self._latest) > 1:
            self._connect(individual, c)
        return individual

    def _individual(self, c: str | None, *, stated: bool = True) -> str:
        individual = self._nobody()
        if c is not None:
            if stated:
                self._written[individual, TYPE, c] = None
            self._keyed.update((individual, k) for k in self._implied_keys[c])
            self._open[c].append(individual)
        self._latest.append(individual)
        return individual

    def _nobody(self) -> str:
        return INDIVIDUAL.format(next(self._numbers))

    def _connect(self, individual: str, c: str | None) -> None:
        """Link an individual to an earlier one."""
        for into, p in self._fitting_links(c):
            for _ in range(3):
                other = self._pick(self._domain_classes[p.iri] if into else self._range_classes[p.iri])
                if other is not None and self._link_either_way(p, individual, other, into=into):
                    return
        # No property fits: one that does not is better than an island, as islands join nothing.
        for other in reversed(self._latest):
            for p in self._rng.sample(self._links, min(4, len(self._links))):
                if self._link_either_way(p, individual, other, into=True):
                    self.stretched += 1
                    return

    def _fitting_links(self, c: str | None) -> list[tuple[bool, Property]]:
        if c is None:
            return []
        found = [(True, p) for p in self._into[c]] + [(False, p) for p in self._from[c]]
        return self._rng.sample(found, min(6, len(found)))

    def _link_either_way(self, p: Property, individual: str, other: str, *, into: bool) -> bool:
        return self._link(p, other, individual) if into else self._link(p, individual, other)

    def _link(self, p: Property, s: str, o: str) -> bool:
        """State a link if that keeps every bound; say whether it was stated."""
        if s == o or (s, p.iri, o) in self._written or not self._free(p, s):
            return False
        if self._in[o] >= MAX_IN or not self._unheld(p, o):
            return False
        if not all(
            self._chain(p, q, s, o) if forward else self._chain(p, q, o, s) for q, forward in p.chains
        ):
            return False
        self._record(p, s, o)
        return True

    def _free(self, p: Property, s: str) -> bool:
        return self._out[s] < MAX_OUT and all((s, k) not in self._keyed for k in p.subject_keys)

    def _unheld(self, p: Property, o: str) -> bool:
        return all((o, k) not in self._keyed for k in p.object_keys)

    def _record(self, p: Property, s: str, o: str) -> None:
        self._written[s, p.iri, o] = None
        self._out[s] += 1
        self._in[o] += 1
        self._keyed.update((s, k) for k in p.subject_keys)
        self._keyed.update((o, k) for k in p.object_keys)

    def _chain(self, p: Property, q: str, s: str, o: str) -> bool:
        """Whether a link of the transitive `q` from `s` to `o` keeps the bound; notes it if so.

        Each individual has a level, and links lead from lower to higher ones: so chains are short,
        and yet everything can hang together, up one chain and down the next.
        """
        if p.both_ways:
            return self._join_groups(q, s, o)
        low, high = self._levels.get((q, s)), self._levels.get((q, o))
        if low is None:
            low = self._rng.randrange(MAX_CHAIN) if high is None else high - 1
        high = low + 1 if high is None else high
        if not 0 <= low < high <= MAX_CHAIN:
            return False
        self._levels[q, s], self._levels[q, o] = low, high
        return True

    def _join_groups(self, q: str, s: str, o: str) -> bool:
        mine, other = (self._groups.setdefault((q, x), [x]) for x in (s, o))
        if mine is other:
            return True
        if len(mine) + len(other) > MAX_GROUP:
            return False
        mine += other
        for member in other:
            self._groups[q, member] = mine
        return True

    def _may_share(self, p: Property) -> bool:
        # A value that many share must not make its holders the same, nor lead from one to another.
        return not p.object_keys and not (p.chains and p.both_ways)

    def _state_value(self, p: Property, s: str, datatype: str | None = None) -> None:
        kinds = self._literal_types(p.iri)
        kind = datatype or kinds[next(self._numbers) % len(kinds)]
        if self._free(p, s):
            self._record(p, s, literal_value(kind, next(self._numbers)))

    def _pick(self, classes: tuple[str, ...]) -> str | None:
        """A recent individual of one of the classes that has room for another link."""
        for _ in range(min(4, len(classes))):
            line = self._open[self._rng.choice(classes)]
            if line:
                found = self._rng.choice(line)
                if self._out[found] < MAX_OUT and self._in[found] < MAX_IN:
                    return found
        return None

    def _any(self, classes: tuple[str, ...]) -> str | None:
        return self._rng.choice(classes) if classes else None

    def _keys_of(self, c: str) -> tuple[str, ...]:
        """The functional properties for which being a `c` already entails a value."""
        above = self._ontology.above.get(c, frozenset())
        held = [r.on for r in self._ontology.restrictions if r.node in above and r.kind != ALL]
        return tuple(k for on in dict.fromkeys(held) for k in self._ontology.properties[on].subject_keys)


_TEXTS: dict[str, Callable[[int], str]] = {
    "boolean": lambda n: ("true", "false")[n % 2],
    "float": lambda n: f"{n}.5",
    "double": lambda n: f"{n}.5",
    "decimal": lambda n: f"{n}.5",
    "date": lambda n: f"{2000 + n % 1000}-{1 + n % 12:02}-{1 + n % 28:02}",
    "dateTime": lambda n: f"{2000 + n % 1000}-{1 + n % 12:02}-{1 + n % 28:02}T00:00:00Z",
    "anyURI": lambda n: f"http://example.org/page/{n}",
}


def literal_value(datatype: str | None, n: int) -> str:
    """The n-th literal of a datatype (an IRI in brackets), a plain one for None.

    >>> literal_value(None, 7), literal_value(f"<{XSD}integer>", 7)
    ('"value 7"', '"7"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    if datatype is None:
        return literal(f"value {n}")
    iri = datatype[1:-1]
    return literal(_TEXTS.get(iri.removeprefix(XSD), str)(n), datatype=iri)


def critical_instance(ontology: Iterable[Statement]) -> list[Statement]:
    """All that a stream could say, said of one individual.

    Replace every individual of a stream by this one, and the stream becomes a part of this: what
    fires on the stream fires here. So a rule that does not fire here is not applicable.

    >>> from ensue.bench.ontology import DOMAIN
    >>> len(critical_instance([("<urn:p>", DOMAIN, "<urn:A>")]))
    2
    """
    found = read_ontology(ontology)
    star = INDIVIDUAL.format("critical")
    statements = [(star, TYPE, c) for c in found.classes]
    for p in found.properties.values():
        if p.literal:
            statements += [(star, p.iri, literal_value(t, 1)) for t in literal_types(found, p.iri)]
        else:
            statements.append((star, p.iri, star))
    values = {(r.on, r.filler) for r in found.restrictions if r.kind == HAS_VALUE}
    return statements + [(star, on, value) for on, value in sorted(values)]
