"""The data of the Berlin SPARQL Benchmark, statement for statement as its own generator makes it.

Everything is drawn from numbered streams of random numbers, in a fixed order: whoever changes the order, or
draws once more, changes all that follows. With the benchmark's lists of words the statements are its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from hashlib import sha1

from ensue.bench.bsbm.draws import DAY, TODAY, Choice, Texts, around, dates, moment, ms, ranged
from ensue.bench.bsbm.hierarchy import Shape, Type, types
from ensue.bench.bsbm.rdf import (
    VOCABULARY,
    Kind,
    Pairs,
    Resource,
    at_midnight,
    country,
    described,
    instance,
    name,
    published,
    text,
    typed,
)
from ensue.bench.bsbm.words import own_words
from ensue.bench.javarandom import JavaRandom
from ensue.errors import UsageError

_SEED = 53223436
_OFFERS, _REVIEWS = 20, 10
"""Of each product."""
_INSTITUTION = instance("StandardizationInstitution1")
_COUNTRIES = {"US": 40, "GB": 10, "JP": 10, "CN": 10, "DE": 5, "FR": 5, "ES": 5, "RU": 5, "KR": 5, "AT": 5}
_LANGUAGES = {"US": "en", "GB": "en", "JP": "ja", "CN": "zh", "DE": "de", "AT": "de"}
_LANGUAGES |= {"FR": "fr", "ES": "es", "RU": "ru", "KR": "ko"}
_TODAY = ms(TODAY)
_SEASON = _TODAY - 97 * DAY


@dataclass(frozen=True, slots=True)
class _Seeds:
    """The seeds of all streams of random numbers."""

    texts: list[int]
    types: list[int]
    features: list[int]
    producers: list[int]
    vendors: list[int]
    sites: list[int]

    @classmethod
    def drawn(cls) -> _Seeds:
        master = JavaRandom(_SEED)
        return cls(*([master.long() for _ in range(count)] for count in (3, 2, 2, 5, 5, 8)))


@dataclass
class Market:
    """Vendors, products, offers and reviews.

    >>> market = Market(10)
    >>> [resource.kind.value for resource in market.resources()][:3], len(market.types)
    (['type', 'type', 'type'], 7)
    """

    products: int
    shape: Shape | None = None
    """The hierarchy of types; None: as the benchmark has it for so many products."""
    words: Sequence[str] = field(default_factory=own_words)
    names: Sequence[str] = field(default_factory=own_words)

    def __post_init__(self) -> None:
        if self.products < 1:
            raise UsageError(f"{self.products} products", hint="at least one")
        self._seeds = _Seeds.drawn()
        self._shape = self.shape or Shape.of(self.products)
        self.types: list[Type] = types(self._shape)
        self.leaves = [each for each in self.types if each.level == self._shape.depth]
        self._lasts = list(_dealt(self.products, around(self._seeds.producers[3], 50)))
        """The last product of each producer."""

    def resources(self) -> Iterator[Resource]:
        """All that there is, in order."""
        titles, comments, names = self._seeds.texts
        self._titles, self._comments = Texts(titles, self.words), Texts(comments, self.words)
        self._names = Texts(names, self.names)
        yield from self._types()
        yield from self._features()
        yield from self._producers()
        yield from self._vendors()
        yield from self._sites()

    # -- types and features ------------------------------------------------------------------------

    def _types(self) -> Iterator[Resource]:
        published_at = dates(self._seeds.types[0], date(2000, 6, 20), date(2000, 7, 23))
        random = JavaRandom(self._seeds.types[1])
        for each in self.types:
            if each.parent is None:
                said = described("bsbm:ProductType", "Thing", "The Product Type of all Products")
            else:
                said = self._described("bsbm:ProductType", random)
                said.append((name("rdfs:subClassOf"), _type(each.parent)))
            yield Resource(Kind.TYPE, _type(each), said + published(_INSTITUTION, published_at()))

    def _features(self) -> Iterator[Resource]:
        random = JavaRandom(self._seeds.features[0])
        published_at = dates(self._seeds.features[1], date(2000, 6, 20), date(2000, 7, 23))
        shape, number = self._shape, 0
        inner = [each for each in self.types if 0 < each.level < shape.depth]
        for each in [*inner, *self.leaves]:
            each.features.clear()
            for _ in range(random.between(*shape.features(each.level))):
                number += 1
                each.features.append(number)
                said = self._described("bsbm:ProductFeature", random)
                said += published(_INSTITUTION, published_at())
                yield Resource(Kind.FEATURE, _feature(number), said)

    def _described(self, kind: str, random: JavaRandom, longest: tuple[int, int] = (20, 50)) -> Pairs:
        label = self._titles(random.between(1, 3))
        return described(kind, label, self._comments(random.between(*longest)))

    # -- producers and products --------------------------------------------------------------------

    def _producers(self) -> Iterator[Resource]:
        seeds = self._seeds.producers
        published_at = dates(seeds[0], date(2000, 8, 20), date(2005, 7, 23))
        random, countries, seeder = JavaRandom(seeds[1]), _countries(seeds[2]), JavaRandom(seeds[4])
        first = 1
        for number, last in enumerate(self._lasts, 1):
            producer = instance(f"dataFromProducer{number}/Producer{number}")
            said = self._described("bsbm:Producer", random)
            said += _company(f"http://www.Producer{number}.com/", countries())
            yield Resource(Kind.PRODUCER, producer, said + published(producer, published_at()))
            yield from self._products(producer, range(first, last + 1), seeder.long)
            first = last + 1

    def _product(self, number: int) -> str:
        return instance(f"dataFromProducer{bisect_left(self._lasts, number) + 1}/Product{number}")

    def _products(self, producer: str, numbers: range, seed: Callable[[], int]) -> Iterator[Resource]:
        published_at = dates(seed(), date(2000, 10, 20), date(2007, 1, 23))
        random = JavaRandom(seed())
        leaf, numeric = ranged(seed(), 0, len(self.leaves), 2), ranged(seed(), 0, 2000, 2)
        kinds = Choice(JavaRandom(seed()), {1: 40, 2: 20, 3: 40})
        quarter = Choice(JavaRandom(seed()), {False: 75, True: 25})
        half = Choice(JavaRandom(seed()), {False: 50, True: 50})
        for number in numbers:
            said = self._described("bsbm:Product", random, (50, 150))
            of = self.leaves[leaf() - 1]
            said += [(name("rdf:type"), _type(of)), (name("bsbm:producer"), producer)]
            said += self._properties(kinds(), numeric, random, quarter, half)
            said += [
                (name("bsbm:productFeature"), _feature(feature))
                for above in of.up_to_the_root()
                for feature in above.features
                if quarter()
            ]
            said += published(producer, published_at())
            yield Resource(Kind.PRODUCT, self._product(number), said)

    def _properties(
        self,
        kind: int,
        numeric: Callable[[], int],
        random: JavaRandom,
        quarter: Callable[[], bool],
        half: Callable[[], bool],
    ) -> Pairs:
        numbers: dict[int, int] = {}
        texts: dict[int, str] = {}

        def add(at: int, number: bool, said: bool) -> None:
            if number:
                numbers[at] = numeric()
            if said:
                texts[at] = self._comments(random.between(3, 15))

        for at in (1, 2, 3):
            add(at, True, True)
        add(4, *((True, True) if kind == 1 else (half(), half()) if kind == 2 else (False, False)))
        add(5, *((True, True) if kind == 1 else (quarter(), quarter())))
        if kind == 3:
            add(6, half(), False)
            add(6, False, half())
        return [
            *((name(f"bsbm:productPropertyNumeric{at}"), typed(n, "integer")) for at, n in numbers.items()),
            *((name(f"bsbm:productPropertyTextual{at}"), typed(t, "string")) for at, t in texts.items()),
        ]

    # -- vendors and offers ------------------------------------------------------------------------

    def _vendors(self) -> Iterator[Resource]:
        seeds = self._seeds.vendors
        dated, random, countries, seeder = (
            JavaRandom(seeds[0]),
            JavaRandom(seeds[1]),
            _countries(seeds[2]),
            JavaRandom(seeds[4]),
        )
        first = 1
        for number, last in enumerate(_dealt(_OFFERS * self.products, around(seeds[3], 2000)), 1):
            vendor = instance(f"dataFromVendor{number}/Vendor{number}")
            said = self._described("bsbm:Vendor", random)
            said += _company(f"http://www.vendor{number}.com/", countries())
            said += published(vendor, moment(dated, _SEASON, _TODAY))
            yield Resource(Kind.VENDOR, vendor, said)
            yield from self._offers(number, vendor, range(first, last + 1), random, seeder.long)
            first = last + 1

    def _offers(
        self, of: int, vendor: str, numbers: range, random: JavaRandom, seed: Callable[[], int]
    ) -> Iterator[Resource]:
        days, products = ranged(seed(), 2, 21, 14.2), ranged(seed(), 2, self.products, 4)
        dated = JavaRandom(seed())
        for number in numbers:
            offer = f"dataFromVendor{of}/Offer{number}"
            product = self._product(products())
            price = Decimal(random.double() * (10000 - 5) + 5).quantize(Decimal("0.01"), ROUND_HALF_UP)
            at = moment(dated, _SEASON, _TODAY)
            begin = at - random.between(0, 90) * DAY
            end = at + random.between(7, 90) * DAY
            said = [
                (name("rdf:type"), name("bsbm:Offer")),
                (name("bsbm:product"), product),
                (name("bsbm:vendor"), vendor),
                (name("bsbm:price"), f'"{price}"^^<{VOCABULARY}USD>'),
                (name("bsbm:validFrom"), at_midnight(begin)),
                (name("bsbm:validTo"), at_midnight(end)),
                (name("bsbm:deliveryDays"), typed(days(), "integer")),
                (name("bsbm:offerWebpage"), instance(f"{offer}/")),
            ]
            yield Resource(Kind.OFFER, instance(offer), said + published(vendor, at))

    # -- rating sites, people and reviews ----------------------------------------------------------

    def _sites(self) -> Iterator[Resource]:
        streams = _Reviewing(self._seeds.sites, self.products)
        reviews, done, people, site = _REVIEWS * self.products, 0, 0, 0
        while done < reviews:
            site += 1
            here = min(streams.of_site() + 1, reviews - done)
            end = done + here
            while done < end:
                people += 1
                person, code = instance(f"dataFromRatingSite{site}/Reviewer{people}"), streams.countries()
                yield self._person(person, code, site, streams)
                for _ in range(min(streams.of_person(), end - done)):
                    done += 1
                    yield self._review(done, site, person, code, streams)

    def _person(self, person: str, code: str, site: int, streams: _Reviewing) -> Resource:
        called = self._names(1)
        box = sha1(streams.random.int32().to_bytes(4, "little", signed=True)).digest()
        said = [
            (name("rdf:type"), name("foaf:Person")),
            (name("foaf:name"), text(called)),
            # Without zeros in front, as the original writes bytes.
            (name("foaf:mbox_sha1sum"), text("".join(f"{byte:x}" for byte in box))),
            (name("bsbm:country"), country(code)),
        ]
        at = moment(streams.published, ms(date(2008, 6, 20)), ms(date(2008, 9, 23)))
        return Resource(Kind.PERSON, person, said + published(_site(site), at))

    def _review(self, number: int, site: int, person: str, code: str, streams: _Reviewing) -> Resource:
        random = streams.random
        product = self._product(streams.product())
        at = moment(streams.reviewed, _TODAY - 365 * DAY, _TODAY)
        title, said_of_it = self._comments(random.between(4, 15)), self._comments(random.between(50, 200))
        ratings = [(k, random.between(1, 10)) for k in range(1, 5) if streams.rates()]
        said = [
            (name("rdf:type"), name("rev:Review")),
            (name("bsbm:reviewFor"), product),
            (name("rev:reviewer"), person),
            (name("bsbm:reviewDate"), at_midnight(at)),
            (name("dc:title"), text(title)),
            (name("rev:text"), text(said_of_it, _LANGUAGES[code])),
            *((name(f"bsbm:rating{k}"), typed(rating, "integer")) for k, rating in ratings),
        ]
        said += published(_site(site), moment(streams.published, at, _TODAY))
        return Resource(Kind.REVIEW, instance(f"dataFromRatingSite{site}/Review{number}"), said)


class _Reviewing:
    """The streams of random numbers of people and their reviews."""

    def __init__(self, seeds: Sequence[int], products: int) -> None:
        self.published, self.random = JavaRandom(seeds[0]), JavaRandom(seeds[1])
        self.countries, self.reviewed = _countries(seeds[2]), JavaRandom(seeds[3])
        self.rates = Choice(JavaRandom(seeds[4]), {True: 70, False: 30})
        self.product = ranged(seeds[5], 2, products, 4)
        self.of_site, self.of_person = around(seeds[6], 10000), around(seeds[7], 20)


def _dealt(total: int, share: Callable[[], int]) -> Iterator[int]:
    """Numbers up to `total` dealt out in turn; the last of each."""
    last = 0
    while last < total:
        last = min(total, last + share() + 1)
        yield last


def _countries(seed: int) -> Choice[str]:
    return Choice(JavaRandom(seed), _COUNTRIES)


def _company(homepage: str, code: str) -> Pairs:
    return [(name("foaf:homepage"), f"<{homepage}>"), (name("bsbm:country"), country(code))]


def _type(of: Type) -> str:
    return instance(f"ProductType{of.number}")


def _feature(number: int) -> str:
    return instance(f"ProductFeature{number}")


def _site(number: int) -> str:
    return instance(f"dataFromRatingSite{number}/RatingSite{number}")
