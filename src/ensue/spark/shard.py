"""One shard's step: window, maintain, query. The truth is in a store, and everything else is a cache of it.

The truth of a shard is the log of the steps that still matter, as blocks; a state of plain data; and what
queries remember between evaluations. A step writes what came, and takes away what no longer matters.

A reasoner, and the arrays that it works on, are a cache. Spark may run a step twice, at once or again, in
this process or another, and may go back to an older state; so each step ends with a fresh token, written
into the state along with the truth, and what is cached lies under it (`shelf.py`). Who finds what lies under
the state's token has the right one, and nobody else has it while he works with it: whoever does not finish
leaves none. Who finds none makes one from the truth.

Where the background changes, a step in which that may happen is done by a reasoner that keeps copies, made
from the truth for it; the next one after it makes another, for the background of then.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, Literal, NamedTuple, Protocol

from ensue.maintain.kernel.folder import Folder
from ensue.model import FOREVER, NEVER
from ensue.query.arrivals import Batch
from ensue.query.log import Logged, Mark, first_kept
from ensue.query.output import Result
from ensue.resumable import Resumable
from ensue.spark.blocks import Block
from ensue.spark.guarded import Guarded
from ensue.spark.pieces import BLOCK, DEAD, END, HEARTBEAT, MADE, MARK, Piece, of_kind
from ensue.spark.reducing import Reducer
from ensue.spark.shelf import Shelf

_LOOK_SECONDS = 2.0
"""How often somebody looks how much is held."""

Make = Callable[[int, bool], Resumable]
"""Makes the reasoner of a shard before anything has come: for the background since a time, and whether it
is to keep copies, so that it can go on with another background."""


class Store(Protocol):
    """Where a shard's truth is: it keeps all of a step or nothing."""

    def head(self) -> bytes | None:
        """The state; None before the first step."""

    def put_head(self, head: bytes) -> None:
        """Replace the state."""

    def log(self) -> Iterable[tuple[int, list[Piece]]]:
        """The pieces of each step of the log, in any order."""

    def add(self, step: int, pieces: Sequence[Piece]) -> None:
        """Add a step to the log."""

    def drop(self, step: int) -> None:
        """Take a step out of the log."""

    def memory(self, query: str) -> bytes | None:
        """What a query remembers; None if that is nothing."""

    def put_memory(self, query: str, memory: bytes) -> None:
        """Replace what a query remembers."""


class Entry(NamedTuple):
    """A step of the log: where it began, and the greatest time that it brought."""

    mark: Mark
    newest: int


Found = Literal["new", "kept", "adopted", "rebuilt"]
"""Where a shard's step found the shard: nowhere yet, in its process, on the shelf, or in the truth alone."""


class Head(NamedTuple):
    """The state of a shard: its token, how many steps it has done, the dead letters, and the reasoner's."""

    token: str
    step: int
    dead: int
    state: dict[str, Any]
    guard: dict[str, Any]
    """What is held back on the way in: see `guarded.py`."""

    @property
    def time(self) -> int:
        """How far time had come."""
        frontier: int = self.state["intake"]["frontier"]["time"]
        return frontier


@dataclass
class Shard:
    """A reasoner, and what the store has of it."""

    reasoner: Resumable
    found: Found = "new"
    step: int = 0
    log: dict[int, Entry] = field(default_factory=dict)
    versions: dict[str, Any] = field(default_factory=dict)
    """What the store has of what queries remember."""
    dead: int = 0
    held: dict[str, int] = field(default_factory=dict)
    looked: float = -inf
    folder: Folder | None = None
    """Where its arrays lie, if they do."""
    no_space: bool = False

    @property
    def parks(self) -> bool:
        """Whether its arrays can lie in a folder."""
        return not self.no_space and self.reasoner.basis is not None


class Cache:
    """What this process knows of shards, and what lies on a shelf for any process of the host."""

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf
        self._shards: dict[str, tuple[str, Shard]] = {}

    def take(self, name: str, head: Head, store: Store, make: Make) -> Shard | None:
        """The shard of this name as the state has it; nobody else has it from now on."""
        token, shard = self._shards.pop(name, ("", None))
        path = self._shelf.claim(head.token) if self._shelf else None
        if shard is not None and token == head.token and (path or shard.folder is None):
            if path and shard.folder:
                shard.folder.path = path
            shard.found = "kept"
            return shard
        folder = self._shelf.opened(path) if self._shelf and path else None
        if folder is None:
            return None
        adopted = _adopted(shard, folder, head, store, make)
        if adopted is None and self._shelf:
            self._shelf.remove(folder.path)
        return adopted

    def put(self, name: str, token: str, shard: Shard) -> None:
        """Keep a shard for whoever comes with this token."""
        if self._shelf and shard.parks:
            _park(shard, self._shelf, token)
        else:
            self.remove(shard)
        self._shards[name] = (token, shard)

    def remove(self, shard: Shard) -> None:
        """Remove the folder of a shard, if it has one."""
        if self._shelf and shard.folder:
            self._shelf.remove(shard.folder.path)
            shard.folder = None


def _park(shard: Shard, shelf: Shelf, token: str) -> None:
    folder = shard.folder
    try:
        folder = folder or shelf.new()
        log = [[number, _plain(entry.mark), entry.newest] for number, entry in shard.log.items()]
        held = shard.reasoner.park(folder)
        folder.seal({"basis": shard.reasoner.basis, "log": log, "held": held})
        shelf.put(folder, token)
    except OSError:
        # No space: what is there is good for this process, and the others have to make theirs.
        shard.folder, shard.no_space = None, True
        if folder:
            shelf.remove(folder.path)
    else:
        shard.folder = folder


def _adopted(shard: Shard | None, folder: Folder, head: Head, store: Store, make: Make) -> Shard | None:
    """A shard that goes on with what lies in a folder, made of one that has fallen behind if there is one."""
    reasoner = make(head.time, False) if shard is None else shard.reasoner
    plain = folder.plain
    if reasoner.basis is None or plain["basis"] != reasoner.basis:
        return None
    reasoner.adopt(head.state, _memories(store, reasoner), folder, plain["held"])
    log = {number: Entry(Mark(*mark), newest) for number, mark, newest in plain["log"]}
    return Shard(reasoner, "adopted", head.step, log, _versions(reasoner), head.dead, folder=folder)


class Failure(NamedTuple):
    """Why a job cannot go on, however often a step is tried again; and from which time on."""

    time: int
    message: str


class Outcome(NamedTuple):
    """What a step gives."""

    results: list[Result]
    dead: list[dict[str, Any]]
    counters: dict[str, Any]
    ordered: bool = False
    """Whether the results of different queries have an order among each other."""
    failure: Failure | None = None
    held: bytes | None = None
    """What networks hold in the end, as lines of N-Quads; None if nobody asks, or it is not the end."""


def step(
    name: str,
    pieces: Iterable[Piece],
    store: Store,
    make: Make,
    cache: Cache,
    updates: Sequence[int] = (),
    reducer: Reducer | None = None,
    max_jump: int | None = None,
    *,
    tells: bool = True,
) -> Outcome:
    """Take in what a micro-batch brings a shard, give what is due, and write down what is needed to go on.

    `updates` are the times at which the background changes. `reducer`: leaves out what is of no use.
    `max_jump`: how far a stream's time may jump unconfirmed; `tells`: what is rejected is a dead letter here.
    """
    found = store.head()
    head = None if found is None else Head(**json.loads(found))
    guarded = Guarded(max_jump, None if head is None else head.guard)
    came = guarded.let_in(sorted(pieces))
    update = _update_within(came, NEVER if head is None else head.time, updates)
    shard = _current(name, head, store, make, cache, copies=update is not None)
    results, dead = _work(shard, came, guarded.blocks, store, reducer)
    dead += guarded.letters if tells else []
    shard.dead += len(dead)
    counters, token = _counters(shard) | guarded.counters, secrets.token_hex(16)
    store.put_head(_head(shard, token, guarded))
    if update is None or shard.reasoner.mark().frontier < update:
        cache.put(name, token, shard)  # From here on its arrays are not touched.
    return Outcome(results, dead, counters)


def _update_within(came: Iterable[Piece], since: int, updates: Sequence[int]) -> int | None:
    """The next update after a time if it may fall into a step that brings this; None: it does not."""
    following = min((time for time in updates if time > since), default=None)
    return None if following is None or _reach(came) < following else following


def _reach(came: Iterable[Piece]) -> int:
    """How far time can come by some pieces."""
    if of_kind(came, END):
        return FOREVER
    newest = (Block.read(piece.payload).times.newest for piece in of_kind(came, BLOCK))
    return max([NEVER, *heartbeats_of(came).values(), *newest])


def _current(name: str, head: Head | None, store: Store, make: Make, cache: Cache, *, copies: bool) -> Shard:
    """The shard to go on with; `copies`: one that keeps them."""
    if head is None:
        return Shard(make(NEVER, copies))
    shard = cache.take(name, head, store, make)
    if shard is not None and copies and not shard.reasoner.keeps_copies:
        cache.remove(shard)
        shard = None
    return shard or _rebuilt(head, store, make, copies=copies)


def _work(
    shard: Shard, came: list[Piece], read: list[tuple[str, Block]], store: Store, reducer: Reducer | None
) -> tuple[list[Result], list[dict[str, Any]]]:
    reasoner, number = shard.reasoner, shard.step
    blocks = of_kind(came, BLOCK)
    dead = letters_of(came)
    mark = reasoner.mark()
    ended, heartbeats = [piece.stream for piece in of_kind(came, END)], heartbeats_of(came)
    if reducer is not None:
        newest: dict[str, int] = {}
        for stream, block in read:
            newest[stream] = max(block.times.newest, newest.get(stream, NEVER))
        read = reducer(read, reasoner.over_after(newest, ended, heartbeats), reasoner.terms)
    batches = _batches(read, reasoner)
    results = reasoner.step(batches, ended, heartbeats)
    made = [
        Piece(stream, 0, MADE, Block.of_arrivals(arrivals, reasoner.terms).write())
        for stream, arrivals in reasoner.take_made().items()
    ]
    shard.step += 1
    if blocks or made:
        store.add(number, [_marked(mark), *blocks, *made])
        shard.log[number] = Entry(mark, _newest(batches))
    _remember(shard, store)
    _forget(shard, store)
    return results, dead


def letters_of(came: Iterable[Piece]) -> list[dict[str, Any]]:
    """The dead letters among some pieces."""
    return [letter for piece in of_kind(came, DEAD) for letter in json.loads(piece.payload)]


def heartbeats_of(came: Iterable[Piece]) -> dict[str, int]:
    """How far each stream promises that its time has come."""
    found: dict[str, int] = {}
    for piece in of_kind(came, HEARTBEAT):
        found[piece.stream] = max(int(piece.payload), found.get(piece.stream, NEVER))
    return found


def _read(blocks: Iterable[Piece]) -> list[tuple[str, Block]]:
    """The blocks, and of which stream each is."""
    return [(piece.stream, Block.read(piece.payload)) for piece in blocks]


def _batches(blocks: Iterable[tuple[str, Block]], reasoner: Resumable) -> dict[str, Batch]:
    """What came of each stream, in order."""
    parts: dict[str, list[Batch]] = {}
    for stream, block in blocks:
        parts.setdefault(stream, []).append(block.batch(reasoner.terms))
    return {stream: Batch.joined(batches) for stream, batches in parts.items()}


def _forget(shard: Shard, store: Store) -> None:
    """Drop the steps that no longer matter."""
    marks = [*(entry.mark for entry in shard.log.values()), shard.reasoner.mark()]
    newest = [entry.newest for entry in shard.log.values()]
    kept = first_kept(marks, newest, shard.reasoner.horizons())
    for number in list(shard.log)[:kept]:
        store.drop(number)
        del shard.log[number]


def _newest(batches: Mapping[str, Batch]) -> int:
    return max((batch.times.newest for batch in batches.values()), default=NEVER)


def _remember(shard: Shard, store: Store) -> None:
    """Write down what queries remember, where it has changed."""
    for query, (version, give) in shard.reasoner.memories().items():
        if shard.versions.get(query, []) != version:
            store.put_memory(query, json.dumps(give()).encode())
            shard.versions[query] = version


def _head(shard: Shard, token: str, guarded: Guarded) -> bytes:
    head = Head(token, shard.step, shard.dead, shard.reasoner.state(), guarded.state())
    return json.dumps(head._asdict()).encode()


def _marked(mark: Mark) -> Piece:
    return Piece("", 0, MARK, json.dumps(_plain(mark)).encode())


def _plain(mark: Mark) -> list[Any]:
    return [mark.frontier, dict(mark.numbers), dict(mark.streams)]


def _rebuilt(head: Head, store: Store, make: Make, *, copies: bool) -> Shard:
    """A shard made from the truth."""
    shard = Shard(make(head.time, copies), "rebuilt", head.step, dead=head.dead)
    log = [_logged(number, pieces, shard) for number, pieces in sorted(store.log())]
    shard.reasoner.resume(head.state, _memories(store, shard.reasoner), log)
    shard.versions = _versions(shard.reasoner)
    return shard


def _memories(store: Store, reasoner: Resumable) -> dict[str, Any]:
    found = {query: store.memory(query) for query in reasoner.memories()}
    return {query: json.loads(memory) for query, memory in found.items() if memory is not None}


def _versions(reasoner: Resumable) -> dict[str, Any]:
    return {query: version for query, (version, _) in reasoner.memories().items()}


def _logged(number: int, pieces: list[Piece], shard: Shard) -> Logged:
    reasoner = shard.reasoner
    [marked] = of_kind(pieces, MARK)
    mark = Mark(*json.loads(marked.payload))
    batches, made = (_batches(_read(of_kind(pieces, kind)), reasoner) for kind in (BLOCK, MADE))
    shard.log[number] = Entry(mark, _newest(batches))
    return Logged(mark, batches, {stream: batch.arrivals for stream, batch in made.items()})


def _counters(shard: Shard) -> dict[str, Any]:
    now = monotonic()
    if now - shard.looked > _LOOK_SECONDS:
        shard.held, shard.looked = shard.reasoner.held(), now
    kept = {"dead_letters": shard.dead, "steps_kept": len(shard.log), "found": shard.found}
    return shard.reasoner.counters() | shard.held | kept
