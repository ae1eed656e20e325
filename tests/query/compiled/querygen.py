"""Random datasets and random SPARQL text over them, from small vocabularies so that joins hit."""

from __future__ import annotations

import pyoxigraph as ox

PREDICATES = (":p", ":q", ":r")
NODES = (":a", ":b", ":c", ":d")
LITERALS = ("1", "2", "3", '"x"', '"y"@en')
GRAPHS = (":g", ":h")
VARIABLES = ("?a", "?b", "?c", "?d")


def random_quads(random):
    """Some triples in the default graph and in two named graphs."""
    lines = []
    for name in ("", *GRAPHS):
        size = random.choice((0, 8, 30)) if name else random.choice((5, 40, 80))
        triples = {f"{_node(random)} {random.choice(PREDICATES)} {_term(random)} ." for _ in range(size)}
        lines.append(f"{name} {{ {' '.join(sorted(triples))} }}")
    return list(ox.parse("@prefix : <urn:> . " + "\n".join(lines), format=ox.RdfFormat.TRIG))


def _node(random):
    return random.choice((*NODES, "_:n"))


def _term(random):
    return random.choice((*NODES, *LITERALS, "_:n"))


class QueryGenerator:
    """Writes one SELECT query."""

    def __init__(self, random):
        self.random = random
        self.fresh = 0
        self.used = [VARIABLES[0]]

    def query(self):
        """A SELECT query, perhaps with aggregates, or in order with a limit."""
        body = self.group(self.random.randint(1, 3))
        kind = self.random.random()
        if kind < 0.25:
            return self.aggregate(body)
        names = self.some(VARIABLES, 1)
        head = f"SELECT {self.random.choice(('', '', 'DISTINCT '))}{' '.join(names)} {body}"
        if kind < 0.45:
            # By text, in which all terms here differ (blank nodes have none): mixed kinds have no order.
            by = " ".join(self.random.choice(("STR({})", "DESC(STR({}))")).format(name) for name in names)
            head += f" ORDER BY {by} {' '.join(f'isBLANK({name})' for name in names)}"
            head += self.random.choice((" LIMIT 3", " LIMIT 5 OFFSET 1", " OFFSET 2"))
        return head

    def aggregate(self, body):
        """A SELECT with GROUP BY, HAVING, both or neither."""
        keys = self.some(VARIABLES, 0)
        functions = (
            "COUNT(*)",
            "COUNT({})",
            "COUNT(DISTINCT {})",
            "SUM({})",
            "MIN({})",
            "MAX({})",
            "AVG({})",
        )
        calls = self.some(functions, 1)
        results = [f"({call.format(self.variable())} AS ?n{at})" for at, call in enumerate(calls)]
        text = f"SELECT {' '.join((*keys, *results))} {body}"
        if keys:
            text += f" GROUP BY {' '.join(keys)}"
        if self.random.random() < 0.2:
            text += f" HAVING({self.random.choice(functions).format(self.variable())} > 1)"
        return text

    def group(self, depth):
        """A group: a few triple patterns, and what else there is, less of it deeper down."""
        parts = [self.triples()] if self.random.random() < 0.9 else []
        others = (
            *(self.optional, self.union, self.minus, self.filter, self.exists),
            *(self.bind, self.values, self.subselect, self.graph, self.triples_part),
        )
        for _ in range(self.random.randint(0, 2) if depth else 0):
            parts.append(self.random.choice(others)(depth - 1))
        return "{ " + " ".join(parts) + " }"

    def triples(self):
        """A basic graph pattern."""
        return " ".join(self.triple() for _ in range(self.random.choice((1, 1, 1, 1, 2, 2, 3))))

    def triples_part(self, _):
        return self.triples()

    def triple(self):
        self.used.append(self.variable())
        s = self.random.choice((self.used[-1],) * 8 + (self.random.choice(NODES), "[]"))
        # No `:p|:q`: pyoxigraph has each pair of nodes once there, SPARQL as often as the UNION.
        p = self.random.choice((*PREDICATES * 3, self.variable(), ":p/:q", "^:p", "^(:r/^:p)"))
        other = self.random.choice([name for name in VARIABLES * 4 if name != s] + [s])
        o = self.random.choice((other,) * 8 + (self.random.choice((*NODES, *LITERALS)), "[]"))
        return f"{s} {p} {o} ."

    def optional(self, depth):
        return f"OPTIONAL {self.group(depth)}"

    def union(self, depth):
        return " UNION ".join(self.group(depth) for _ in range(self.random.randint(1, 3)))

    def minus(self, depth):
        return f"MINUS {self.group(depth)}"

    def filter(self, _):
        return f"FILTER({self.condition()})"

    def exists(self, depth):
        inner = self.random.choice((f"{{ {self.triples()} }}", self.group(depth)))
        if self.random.random() < 0.3:
            inner = f"{{ {self.triples()} FILTER({self.condition()}) }}"
        also = self.random.choice(("", "", f"({self.condition()}) && "))
        return f"FILTER({also}{self.random.choice(('EXISTS', 'NOT EXISTS'))} {inner})"

    def bind(self, _):
        self.fresh += 1
        value = self.random.choice(("{} + 1", "STR({})", "{}", "IF(BOUND({}), 1, 2)"))
        bound = f"BIND({value.format(self.random.choice(self.used))} AS ?v{self.fresh})"
        return f"{bound} FILTER(?v{self.fresh} != 2)"

    def values(self, _):
        names = self.some(VARIABLES, 1)
        cells = (*NODES, *LITERALS, *["UNDEF"] * 9)
        rows = (" ".join(self.random.choice(cells) for _ in names) for _ in range(self.random.randint(1, 3)))
        return f"VALUES ({' '.join(names)}) {{ {' '.join(f'({row})' for row in rows)} }}"

    def subselect(self, depth):
        distinct = self.random.choice(("", "DISTINCT "))
        if self.random.random() < 0.3:
            self.fresh += 1
            key = self.variable()
            group = f"SELECT {key} (COUNT(*) AS ?v{self.fresh}) {self.group(depth)} GROUP BY {key}"
            return f"{{ {group} }}"
        return f"{{ SELECT {distinct}{' '.join(self.some(VARIABLES, 1))} {self.group(depth)} }}"

    def graph(self, depth):
        if self.random.random() < 0.5:
            return f"GRAPH {self.random.choice(GRAPHS)} {self.group(depth)}"
        # Nothing but patterns: where SPARQL takes graph by graph, pyoxigraph lets the inner parts see ?g.
        return f"GRAPH {self.random.choice(('?g', ':nowhere'))} {{ {self.triples()} }}"

    def condition(self):
        shapes = (
            "{} = {}",
            "{} != {}",
            "{} < {}",
            "BOUND({})",
            "!BOUND({})",
            "isIRI({})",
            "{} > 1",
            "{} = :a",
        )
        shape = self.random.choice((*shapes, "{} < 3 || {} = {}", "!(BOUND({}) && {} = {})"))
        return shape.format(*(self.random.choice((*self.used * 2, self.variable())) for _ in range(3)))

    def variable(self):
        return self.random.choice(VARIABLES)

    def some(self, choices, least):
        return sorted(self.random.sample(choices, self.random.randint(least, len(choices) - 1)))
