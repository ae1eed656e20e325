"""Random small networks, as text, and what arrives at them."""

from __future__ import annotations

from random import Random

NODES = ("<urn:a>", "<urn:b>", "<urn:c>")
PREDICATES = ("<urn:p>", "<urn:q>")
GRAPHS = ("<urn:g>", "<urn:h>")
VARIABLES = ("?x", "?y", "?z")


def network(random: Random) -> str:
    """A few rules that delete, insert, make nodes and select."""
    element = random.choice(["statement", "time"])
    rules = [_rule(random) for _ in range(random.randint(2, 5))]
    return f"# element: {element}\n" + " ;\n".join(rules)


def elements(random: Random) -> list[list[tuple[str, str, str, str | None]]]:
    """What arrives, time by time."""
    return [[_statement(random) for _ in range(random.randint(1, 4))] for _ in range(random.randint(3, 6))]


def _statement(random: Random) -> tuple[str, str, str, str | None]:
    graph = random.choice([None, None, *GRAPHS])
    return random.choice(NODES), random.choice(PREDICATES), random.choice(NODES), graph


def _rule(random: Random) -> str:
    if random.random() < 0.08:
        return f"INSERT DATA {{ {_ground(random)} }}"
    where, bound, matched = _where(random)
    if random.random() < 0.35:
        chosen = " ".join(random.sample(bound, random.randint(1, len(bound))))
        return f"SELECT {random.choice(['', 'DISTINCT '])}{chosen} WHERE {{ {where} }}"
    gone = random.choice([*matched, _template(random, bound)])
    delete = f"DELETE {{ {gone} }} " if random.random() < 0.5 else ""
    insert = (
        f"INSERT {{ {_template(random, bound, made=True)} }} " if random.random() < 0.75 or not delete else ""
    )
    return f"{delete}{insert}WHERE {{ {where} }}"


def _ground(random: Random) -> str:
    s, p, o, graph = _statement(random)
    return f"{s} {p} {o}" if graph is None else f"GRAPH {graph} {{ {s} {p} {o} }}"


def _template(random: Random, bound: list[str], *, made: bool = False) -> str:
    objects = [*bound, *NODES, *(["[]"] if made and random.random() < 0.5 else [])]
    triples = [
        f"{random.choice([*bound, *NODES])} {random.choice(PREDICATES)} {random.choice(objects)}"
        for _ in range(random.randint(1, 2))
    ]
    return " ".join(
        f"{triple} . " if random.random() < 0.6 else f"GRAPH {random.choice(GRAPHS)} {{ {triple} }} "
        for triple in triples
    )


def _where(random: Random) -> tuple[str, list[str], list[str]]:
    """A WHERE part, its variables, and those of its patterns that DELETE can take over."""
    texts = [_pattern(random, VARIABLES) for _ in range(random.choice([1, 1, 2, 2, 3]))]
    matched = [text for text in texts if "[]" not in text]
    bound = sorted({word for text in texts for word in text.split() if word.startswith("?")})
    if not bound:
        texts.append("?x ?p ?y .")
        bound = ["?p", "?x", "?y"]
    for make in (_union, _optional, _bind, _exists, _exists, _filter):
        if random.random() < 0.3:
            text, more = make(random, bound)
            texts.append(text)
            bound = [*bound, *more]
    return " ".join(texts), bound, matched


def _pattern(random: Random, variables: tuple[str, ...]) -> str:
    s = random.choice([*variables * 3, *NODES])
    p = random.choice([*PREDICATES, *PREDICATES, "?p"])
    o = random.choice([*variables * 3, *NODES, "[]"])
    graph = random.choice(["", "", "", "", *GRAPHS, "?g"])
    return f"GRAPH {graph} {{ {s} {p} {o} }}" if graph else f"{s} {p} {o} ."


def _union(random: Random, bound: list[str]) -> tuple[str, list[str]]:
    left, right = (_pattern(random, (bound[0],)) for _ in range(2))
    return f"{{ {left} }} UNION {{ {right} }}".replace("?p", "<urn:p>").replace("?g", "<urn:g>"), []


def _optional(random: Random, bound: list[str]) -> tuple[str, list[str]]:
    test = "FILTER(?w != <urn:a>)" if random.random() < 0.3 else ""
    return f"OPTIONAL {{ {random.choice(bound)} {random.choice(PREDICATES)} ?w {test} }}", ["?w"]


def _bind(random: Random, bound: list[str]) -> tuple[str, list[str]]:
    return f'BIND(IRI(CONCAT(STR({random.choice(bound)}), "x")) AS ?new)', [
        "?new"
    ] if random.random() < 0.2 else []


def _exists(random: Random, bound: list[str]) -> tuple[str, list[str]]:
    certain = tuple(name for name in bound if name not in ("?w", "?new", "?p", "?g")) or ("?local",)
    inner = _pattern(random, (*certain, "?local"))
    word = random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS"])
    if random.random() < 0.3:
        inner += f" FILTER NOT EXISTS {{ {_pattern(random, (*certain, '?local'))} }}"
    return f"FILTER {word} {{ {inner} }}", []


def _filter(random: Random, bound: list[str]) -> tuple[str, list[str]]:
    left, right = random.choice(bound), random.choice([*bound, *NODES])
    tests = [f"{left} != {right}", f"!sameTerm({left}, {right})", f"!isBlank({left})", f"BOUND({left})"]
    return f"FILTER({random.choice(tests)})", []
