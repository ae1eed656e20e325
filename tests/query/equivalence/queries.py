"""Random continuous queries, in both languages, as text.

What stands inside WHERE is random SPARQL; around it stand windows of every kind. Ranges and steps are
drawn from a few that a case has, so that windows move together, and queries share what is kept closed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from query.compiled.querygen import PREDICATES, VARIABLES, QueryGenerator


@dataclass(frozen=True)
class Menu:
    """What the queries of a case choose from. Names are IRIs without brackets."""

    streams: tuple[str, ...]
    steps: tuple[int, ...]
    ranges: tuple[int, ...]
    graphs: tuple[str, ...] = ()
    counts: frozenset[str] = field(default_factory=frozenset)
    """The streams that can have count windows: those whose statements come in a known order."""


def random_query(random: Random, name: str, menu: Menu, *, constructs: bool = False) -> str:
    """A query that reads some of the streams; `constructs`: it makes a stream of this name."""
    write = _rsp_ql if random.random() < 0.4 else _c_sparql
    return write(random, name, menu, constructs)


def _c_sparql(random: Random, name: str, menu: Menu, constructs: bool) -> str:
    """FROM STREAM, some of them NAMED; perhaps COMPUTED EVERY, unlike the step."""
    chosen = random.sample(menu.streams, min(len(menu.streams), random.choice((1, 2, 2))))
    named = [stream for stream in chosen if random.random() < 0.15]
    graphs, named_graphs = _graphs(random, menu)
    # Windows that step together need no closing from scratch, whatever their ranges.
    step = random.choice(menu.steps) if random.random() < 0.6 else None
    clauses = graphs
    for stream in chosen:
        window = (
            f"[RANGE {random.choice(menu.ranges)}ms STEP {step}ms]" if step else _window(random, menu, stream)
        )
        clauses.append(f"FROM {'NAMED ' if stream in named else ''}STREAM <{stream}> {window}")
    only_counts = len(chosen) > 1 and all("TRIPLES" in clause for clause in clauses if "STREAM" in clause)
    every = only_counts or random.random() < 0.3
    head = f"REGISTER {'STREAM' if constructs else 'QUERY'} <{name}>"
    head += f" COMPUTED EVERY {random.choice(menu.steps) + random.choice((0, 1, 3))}ms" if every else ""
    places = [f"GRAPH <{each}>" for each in (*named, *named_graphs)]
    share = 0.9 if len(named) == len(chosen) else 0.25
    body = _Body(random, places, share, "GRAPH ?g" if places else "")
    return _query(head, body, clauses, constructs)


def _rsp_ql(random: Random, name: str, menu: Menu, constructs: bool) -> str:
    """FROM NAMED WINDOW, often two on one stream, and R, I or DSTREAM."""
    clauses, named_graphs = _graphs(random, menu)
    streams = [random.choice(menu.streams) for _ in range(random.choice((1, 2, 2)))]
    windows = [f"{name}/w{number}" for number in range(len(streams))]
    for window, stream in zip(windows, streams, strict=True):
        spec = _window(random, menu, stream if len(set(streams)) == 1 else "")
        clauses.append(f"FROM NAMED WINDOW <{window}> ON <{stream}> {spec}")
    relation = random.choice(("RSTREAM", "ISTREAM", "ISTREAM", "DSTREAM"))
    places = [f"WINDOW <{window}>" for window in windows]
    # A plain store knows no difference between windows and graphs, so a variable is over one kind only.
    variable = "" if named_graphs else "WINDOW ?w"
    places += [f"GRAPH <{graph}>" for graph in named_graphs]
    return _query(f"REGISTER {relation} <{name}>", _Body(random, places, 0.9, variable), clauses, constructs)


def _query(head: str, body: _Body, clauses: list[str], constructs: bool) -> str:
    where = body.query() if not constructs else body.construct()
    form, _, rest = where.partition(" { ")
    text = f"PREFIX : <urn:>\n{head} AS\n{form}\n"
    return text + "\n".join(clauses) + f"\nWHERE {{ {rest}"


def _graphs(random: Random, menu: Menu) -> tuple[list[str], list[str]]:
    clauses, named = [], []
    for graph in menu.graphs:
        if random.random() < 0.25:
            clauses.append(f"FROM <{graph}>")
        elif random.random() < 0.25:
            named.append(graph)
            clauses.append(f"FROM NAMED <{graph}>")
    return clauses, named


def _window(random: Random, menu: Menu, stream: str) -> str:
    """A window; one that counts only on a stream that can be counted."""
    if stream in menu.counts and random.random() < 0.25:
        size = random.randint(2, 9)
        return f"[RANGE TRIPLES {size} {random.choice(('TUMBLING', f'STEP {random.randint(2, 6)}'))}]"
    step = random.choice(menu.steps)
    at = random.random()
    if at < 0.15:
        return f"[RANGE {step}ms TUMBLING]"
    if at < 0.25:
        return f"[RANGE {max(1, step - random.randint(1, 5))}ms STEP {step}ms]"
    return f"[RANGE {random.choice(menu.ranges)}ms STEP {step}ms]"


class _Body(QueryGenerator):
    """SPARQL whose patterns are in `places` (`GRAPH <g>`, `WINDOW <w>`) or in the default graph.

    It begins with a pattern that is likely to match and asks for variables that are likely bound, where
    the general writer of queries mostly asks in vain; that one's parts come in now and then.
    """

    def __init__(self, random: Random, places: list[str], share: float, variable: str) -> None:
        super().__init__(random)
        self._places, self._share, self._variable = places, share, variable
        self.used = []

    def query(self) -> str:
        """SELECT, plain, in order or with aggregates; or ASK or CONSTRUCT."""
        at = self.random.random()
        if at < 0.1:
            return self.construct()
        body = self._where()
        if at < 0.15:
            return f"ASK {body}"
        if at < 0.4:
            return self.aggregate(body)
        names = self.some(self.used, 1) if len(self.used) > 1 else self.used
        text = f"SELECT {self.random.choice(('', '', 'DISTINCT '))}{' '.join(names)} {body}"
        if at < 0.5:
            # By text, in which all terms here differ (blank nodes have none): mixed kinds have no order.
            order = " ".join(f"STR({name}) isBLANK({name})" for name in names)
            text += f" ORDER BY {order} LIMIT {self.random.randint(1, 5)}"
        return text

    def construct(self) -> str:
        """CONSTRUCT, of statements that other queries are likely to match."""
        body, triples = self._where(), []
        for _ in range(self.random.randint(1, 2)):
            o = self.random.choice((*self.used, *self.used, ":a", "1"))
            triples.append(f"{self.random.choice(self.used)} {self._predicate()} {o} .")
        # The template has its braces without spaces: the first ` { ` is that of WHERE.
        return f"CONSTRUCT {{{' '.join(triples)}}} {body}"

    def aggregate(self, body: str) -> str:
        """A SELECT with aggregates, mostly with GROUP BY."""
        key = self.random.choice(self.used)
        calls = self.random.sample(("COUNT(*)", "COUNT(DISTINCT {})", "MIN({})", "MAX({})", "SUM({})"), 2)
        results = [
            f"({call.format(self.random.choice(self.used))} AS ?n{at})" for at, call in enumerate(calls)
        ]
        if self.random.random() < 0.2:
            return f"SELECT {' '.join(results)} {body}"
        having = self.random.choice(("", "", "", " HAVING(COUNT(*) > 1)"))
        return f"SELECT {key} {' '.join(results)} {body} GROUP BY {key}{having}"

    def _where(self) -> str:
        parts = [self._placed(self._chain(self.random.choice((1, 1, 1, 2))))]
        others = (self._optional, self._optional, self._minus, self._minus, self._not_exists, self._filter)
        others += (self._alternative, self._subselect, self._any_graph, self._any_part)
        parts += [self.random.choice(others)() for _ in range(self.random.choice((0, 1, 1, 2)))]
        return "{ " + " ".join(parts) + " }"

    def _chain(self, length: int) -> str:
        """Triples that hang together, with variables that are bound then."""
        triples = []
        s = self.random.choice(self.used) if self.used else VARIABLES[0]
        for _ in range(length):
            o = self.random.choice([name for name in VARIABLES if name != s] * 4 + [s, ":a"])
            p = self.random.choice((*[self._predicate()] * 12, "?p", f"{self._predicate()}+"))
            triples.append(f"{s} {p} {o} .")
            self.used += sorted({name for name in (s, p, o) if name[0] == "?"} - {*self.used})
            s = o if o[0] == "?" else s
        return " ".join(triples)

    def _predicate(self) -> str:
        return self.random.choices(PREDICATES, (7, 3, 1))[0]

    def _optional(self) -> str:
        return f"OPTIONAL {{ {self._placed(self._chain(1))} }}"

    def _minus(self) -> str:
        return f"MINUS {{ {self._placed(self._apart())} }}"

    def _not_exists(self) -> str:
        return f"FILTER({self.random.choice(('EXISTS', 'NOT EXISTS'))} {{ {self._placed(self._apart())} }})"

    def _apart(self) -> str:
        """A triple that hardly binds anything new."""
        other = self.random.choice((*self.used, "?other", "?other"))
        return f"{self.random.choice(self.used)} {self._predicate()} {other} ."

    def _filter(self) -> str:
        shapes = ("isIRI({})", "{} != :a", "!({} = {})", "!({} > 1)", "BOUND({})", "!isBLANK({})")
        names = [self.random.choice(self.used) for _ in range(2)]
        return f"FILTER({self.random.choice(shapes).format(*names)})"

    def _alternative(self) -> str:
        groups = (f"{{ {self._placed(self._chain(1))} }}" for _ in range(2))
        return " UNION ".join(groups)

    def _subselect(self) -> str:
        key, place = self.random.choice(self.used), self._placed(self._apart())
        if self.random.random() < 0.5:
            return f"{{ SELECT DISTINCT {key} {{ {place} }} }}"
        return f"OPTIONAL {{ SELECT {key} (COUNT(*) AS ?v) {{ {place} }} GROUP BY {key} }}"

    def _any_graph(self) -> str:
        """A triple in any of the graphs. No paths: a plain store has some ways through two graphs twice."""
        return f"{self._variable} {{ {self._apart()} }}" if self._variable else self._optional()

    def _any_part(self) -> str:
        """Whatever the general writer of queries thinks of; its variables are rarely bound."""
        bound = list(self.used)
        parts = (self.optional, self.union, self.minus, self.exists, self.values, self.subselect)
        text = self.random.choice(parts)(1)
        self.used = bound
        return text

    def triples(self) -> str:
        """The general writer's patterns, in a place too."""
        return self._placed(super().triples())

    def graph(self, depth: int) -> str:
        """The general writer's own graphs are not here."""
        return self.triples()

    def _placed(self, text: str) -> str:
        if not self._places or self.random.random() >= self._share:
            return text
        return f"{self.random.choice(self._places)} {{ {text} }}"
