"""One network for each key, side by side: or one, where the file declares none.

Networks of different keys share their rules and what they began with, and nothing that happens: so they may
be in different places, and what they select at one time comes key after key, in the order of their text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ensue.files import FilePath, Statement
from ensue.knowledge import Knowledge, Sent
from ensue.networks.dataset import Dataset, Ground
from ensue.networks.journal import Changes, Journal
from ensue.networks.keys import keys_of
from ensue.networks.loops import Limit
from ensue.networks.matcher import DeltaMatcher
from ensue.networks.network import Network
from ensue.networks.parse import load_network, parse
from ensue.networks.tree import NetworkFile
from ensue.query.apart import NO_KEY
from ensue.query.knowledge_in import Backgrounds, knowledge_in
from ensue.query.output import Result
from ensue.query.timed_in import TimedStatement, timed_in


class Changed(NamedTuple):
    """What has become of a network: how many nodes it has made by now, and which quads came and went."""

    made: int
    quads: Changes


class Networks:
    r"""The networks of a file, by their keys.

    >>> networks = Networks("# partition by: graph\nSELECT ?x ?z WHERE { GRAPH ?g { ?x ?p ?y . ?y ?p ?z } }")
    >>> arriving = [("<urn:b>", "<urn:c>", "<urn:h>"), ("<urn:a>", "<urn:b>", "<urn:h>")]
    >>> found = networks.push([(1, s, "<urn:p>", o, graph) for s, o, graph in arriving])
    >>> [(result.graph, result.answers.rows) for result in found]
    [('<urn:h>', [('<urn:a>', '<urn:c>')])]
    """

    def __init__(
        self,
        source: str | NetworkFile,
        *,
        background: Backgrounds | Knowledge = (),
        limit: Limit | None = None,
        owns: Callable[[str], bool] | None = None,
        journal: bool = False,
    ) -> None:
        """`owns` says which keys are one's own, the others being somebody else's; `journal`: see `take`."""
        self.file = parse(source) if isinstance(source, str) else source
        known = Sent(tuple(knowledge_in(background).background()))
        rules = _without_keys(self.file)
        self._matcher = DeltaMatcher(rules.rules)
        self._first = Network(rules, background=known, limit=limit, matcher=lambda _: self._matcher)
        partition = self.file.partition
        self._keys_of = None if partition is None else keys_of(partition, known.stated)
        self._owns = owns
        self._dataset: Callable[[], Dataset] = Journal if journal else Dataset
        self._networks: dict[str, Network] = {}
        self._touched: dict[str, None] = {}
        self.unkeyed = 0
        """How many statements were of no key."""

    @classmethod
    def from_files(
        cls, *paths: FilePath, background: Backgrounds | Knowledge = (), limit: Limit | None = None
    ) -> Networks:
        """The networks of one file, or of several one after the other."""
        return cls(load_network(*paths), background=background, limit=limit)

    def __iter__(self) -> Iterator[Ground]:
        """The quads that all of them hold."""
        return (quad for network in self._networks.values() for quad in network)

    def __len__(self) -> int:
        return sum(map(len, self._networks.values()))

    @property
    def size(self) -> int:
        """How many networks and quads there are."""
        return len(self) + len(self._networks)

    def counters(self) -> dict[str, int]:
        """The same, and what is held."""
        mine = self._first.counters() | {"quads": len(self)}
        if self._keys_of is None:
            return mine
        return mine | {"networks": len(self._networks), "unkeyed": self.unkeyed}

    def push(self, statements: Iterable[TimedStatement]) -> list[Result]:
        """Let statements arrive in the order in which they are given: see `Network.push`."""
        found: list[Result] = []
        for time, same in groupby(timed_in(statements, None), key=itemgetter(0)):
            found += self.arrive(time, [statement[1:] for statement in same])
        return found

    def start(self, time: int) -> list[Result]:
        """Without a key, the network begins even if nothing comes."""
        return self._network(NO_KEY).start(time) if self._keys_of is None else []

    def arrive(self, time: int, statements: Iterable[Statement]) -> list[Result]:
        """What is selected as statements of one time arrive, key after key."""
        if self._keys_of is None:
            return self._network(NO_KEY).arrive(time, statements)
        parts: dict[str, list[Statement]] = {}
        for statement in statements:
            keys = list(self._keys_of(statement))
            self.unkeyed += not keys
            for key in keys:
                if self._owns is None or self._owns(key):
                    parts.setdefault(key, []).append(statement)
        return [result for key in sorted(parts) for result in self._network(key).arrive(time, parts[key])]

    def _network(self, key: str) -> Network:
        self._touched[key] = None
        network = self._networks.get(key)
        if network is None:
            network = self._networks[key] = self._made(key)
        return network

    def _made(self, key: str) -> Network:
        matcher = self._matcher.another(self._dataset())
        if self._keys_of is None:
            return self._first.another(matcher, None, "")
        # Nodes of two networks are two nodes, also where their rows come together.
        label = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return self._first.another(matcher, key, f"{label}-")

    # -- written down, and again -----------------------------------------------------------------------

    def counted(self) -> dict[str, int]:
        """What was counted so far, for `count_on`."""
        return asdict(self._first.tally) | {"unkeyed": self.unkeyed}

    def count_on(self, counted: Mapping[str, int]) -> None:
        """Go on counting from there."""
        left = dict(counted)
        self.unkeyed = left.pop("unkeyed")
        # In place: it is everybody's.
        for name, count in left.items():
            setattr(self._first.tally, name, count)

    def take(self) -> dict[str, Changed]:
        """What has become of networks since the last call, where something has; they must keep a journal."""
        touched, self._touched = self._touched, {}
        return {key: self._taken(self._networks[key]) for key in touched}

    def _taken(self, network: Network) -> Changed:
        assert isinstance(network.dataset, Journal)
        return Changed(network.made, network.dataset.take())

    def all(self) -> dict[str, Changed]:
        """What would make networks that have not begun what these are."""
        return {
            key: Changed(network.made, dict.fromkeys(network, True))
            for key, network in self._networks.items()
        }

    def change(self, changed: Mapping[str, Changed]) -> None:
        """Let become of networks what has become of others that were as these are."""
        for key, (made, quads) in changed.items():
            network = self._network(key)
            network.resume(made)
            for quad, there in quads.items():
                if there:
                    network.dataset.add(quad)
                else:
                    network.dataset.remove(quad)
        self.take()


def _without_keys(file: NetworkFile) -> NetworkFile:
    return NetworkFile(file.name, file.rules, file.element, file.into)
