"""A window of the market, and queries over it: products of a type that have two features (seed: QSMat, 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from ensue.bench.bsbm.files import STREAMED, plain, query
from ensue.bench.bsbm.hierarchy import Shape
from ensue.bench.bsbm.market import Market
from ensue.bench.bsbm.rdf import Kind, Resource, instance, name
from ensue.errors import UsageError
from ensue.files import Timed
from ensue.knowledge import Sent

WINDOW_MS = 10_000
_STATEMENTS_OF_A_PRODUCT = 45
"""About: so many products fill a window with their data, and with some offers."""


@dataclass(frozen=True, slots=True)
class Instance:
    """The query's template filled in: a type, two features, and how far the type is from the root."""

    level: int
    text: str


@dataclass
class Windows:
    """Windows of so many statements each, over types of a shape."""

    shape: Shape
    statements: int
    knowledge: Sent = field(init=False)

    def __post_init__(self) -> None:
        market = Market(max(2, self.statements // _STATEMENTS_OF_A_PRODUCT), self.shape)
        background: list[tuple[str, str, str, str | None]] = []
        stream: list[Resource] = []
        for resource in market.resources():
            if resource.kind in STREAMED:
                stream.append(resource)
            else:
                background += ((s, p, o, None) for s, p, o in plain(resource))
        self.knowledge = Sent(tuple(background))
        self._parents = {each.number: each.parent for each in market.types}
        every = (statement for resource in stream for statement in plain(resource))
        self._window = list(islice(every, self.statements))
        if len(self._window) < self.statements:
            raise UsageError(f"the market has {len(self._window):,} statements", hint="a smaller window")
        self._products = [each for each in stream if each.kind is Kind.PRODUCT and _can_be_asked_for(each)]

    def batch(self, number: int) -> list[Timed]:
        """The statements of a window, the first of which is number 1: the same ones each time."""
        begin, last = (number - 1) * WINDOW_MS, len(self._window) - 1
        step = (WINDOW_MS - 1) / max(last, 1)
        return [(begin + 1 + int(k * step), s, p, o, None) for k, (s, p, o) in enumerate(self._window)]

    def instances(self, kind: str, count: int, seed: int) -> list[Instance]:
        """Queries for leaf types, for the root type, or for types of any level."""
        random = Random(seed)
        found = []
        for product in random.sample(self._products, count):
            path = list(self._up(_values(product, "rdf:type")))
            chosen = {"leaf": path[0], "root": path[-1]}.get(kind) or random.choice(path)
            features = random.sample(sorted(set(_values(product, "bsbm:productFeature"))), 2)
            window = f"RANGE {WINDOW_MS}ms STEP {WINDOW_MS}ms"
            level = len(path) - 1 - path.index(chosen)
            found.append(Instance(level, query(instance(f"ProductType{chosen}"), features, window)))
        return found

    def _up(self, stated: list[str]) -> Iterator[int]:
        """The numbers of a product's type and all above it."""
        prefix = instance("ProductType")[:-1]
        [number] = (int(each[len(prefix) : -1]) for each in stated if each.startswith(prefix))
        while True:
            yield number
            parent = self._parents[number]
            if parent is None:
                return
            number = parent.number


def _values(resource: Resource, predicate: str) -> list[str]:
    wanted = name(predicate)
    return [o for p, o in resource.pairs if p == wanted]


def _can_be_asked_for(product: Resource) -> bool:
    return len(set(_values(product, "bsbm:productFeature"))) >= 2
