"""The benchmark as a stream: products and offers come, everything else is background (seed: QSMat, 3.1)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TextIO

from ensue.bench.bsbm.hierarchy import Shape
from ensue.bench.bsbm.market import Market
from ensue.bench.bsbm.rdf import Kind, Resource, instance, name
from ensue.bench.bsbm.words import own_words, read_words
from ensue.bench.generate import n_triples, writing
from ensue.bench.isin import at_rate
from ensue.bench.ontology import Statement
from ensue.errors import UsageError
from ensue.streamfile import Timed, write_stream
from ensue.terms import XSD

STREAM = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/offers"
STREAMED = (Kind.PRODUCT, Kind.OFFER)

_IS_TEXT = f"^^<{XSD}string>"


def generate(args: argparse.Namespace) -> int:
    """`ensue generate bsbm`."""
    folder = args.output
    with writing(folder):
        background, streamed = write(_market(args), folder, args.rate)
    print(f"{streamed:,} statements on the stream, {background:,} in the background; now try")
    print(
        f"ensue run {folder}/query.rq --rules rdfs-jena --background {folder}/background.nt "
        f"--stream {STREAM}={folder}/offers.tsv"
    )
    return 0


def _market(args: argparse.Namespace) -> Market:
    if (args.depth is None) != (args.fanout is None):
        raise UsageError("--depth and --fanout go together")
    shape = None if args.depth is None else Shape((args.fanout,) * args.depth)
    words, names = (read_words(path) if path else own_words() for path in (args.words, args.names))
    return Market(args.products, shape, words, names)


def query(product_type: str, features: Iterable[str], window: str = "RANGE 10s STEP 5s") -> str:
    """The paper's listing 3.1 for a type and two features, each as an IRI in angle brackets."""
    one, other = features
    return f"""\
REGISTER QUERY Products AS
SELECT DISTINCT ?product ?label
FROM STREAM <{STREAM}> [{window}]
WHERE {{
  ?product {name("rdfs:label")} ?label .
  ?product {name("rdf:type")} {product_type} .
  ?product {name("bsbm:productFeature")} {one} .
  ?product {name("bsbm:productFeature")} {other} .
  ?product {name("bsbm:productPropertyNumeric1")} ?value1 .
}}
ORDER BY ?label
LIMIT 10
"""


def write(market: Market, folder: str, rate: float) -> tuple[int, int]:
    """Write background, stream and query into a folder; how many statements are in the first two."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "background.nt"), "w", encoding="utf-8") as background:
        split = _Split(market, background, rate)
        streamed = write_stream(os.path.join(folder, "offers.tsv"), split.stream())
    with open(os.path.join(folder, "query.rq"), "w", encoding="utf-8") as out:
        out.write(query(instance("ProductType1"), split.features))
    return split.background, streamed


class _Split:
    """Writes background down while the stream is read."""

    def __init__(self, market: Market, out: TextIO, rate: float) -> None:
        self._market, self._out, self._rate = market, out, rate
        self.background = 0
        self.features: list[str] = []
        """Two features that some product has."""

    def stream(self) -> Iterator[Timed]:
        """The statements about products and offers, at a steady rate."""
        return ((ms, s, p, o, None) for ms, (s, p, o) in at_rate(self._streamed(), self._rate))

    def _streamed(self) -> Iterator[Statement]:
        for resource in self._market.resources():
            if resource.kind not in STREAMED:
                self.background += len(resource.pairs)
                self._out.writelines(f"{n_triples(each)}\n" for each in resource.statements())
                continue
            if len(self.features) < 2:
                self.features = _two_features(resource)
            yield from plain(resource)


def plain(resource: Resource) -> Iterator[Statement]:
    """The statements about a resource as streams are written here: a text is a text, and says no more."""
    return ((s, p, o.removesuffix(_IS_TEXT)) for s, p, o in resource.statements())


def _two_features(resource: Resource) -> list[str]:
    wanted = name("bsbm:productFeature")
    return list(islice((thing for predicate, thing in resource.pairs if predicate == wanted), 2))
