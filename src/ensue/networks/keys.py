"""Which networks a statement is for, where the file says that there is one for each key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ensue.errors import InputError
from ensue.files import Statement
from ensue.query.apart import NO_KEY
from ensue.query.tree import Partition

KeysOf = Callable[[Statement], Iterable[str]]


def keys_of(partition: Partition, background: Iterable[Statement]) -> KeysOf:
    """What says of which keys a statement is.

    >>> in_graphs = keys_of(Partition(), [])
    >>> in_graphs(("<urn:a>", "<urn:p>", "<urn:b>", "<urn:g>")), in_graphs(("<a>", "<p>", "<b>", None))
    (('<urn:g>',), ('',))
    >>> in_rooms = keys_of(Partition("urn:in"), [("<urn:a>", "<urn:in>", "<urn:room>", None)])
    >>> in_rooms(("<urn:a>", "<urn:p>", "<urn:b>", None)), in_rooms(("<urn:b>", "<urn:p>", "<urn:a>", None))
    (('<urn:room>',), ())
    """
    if partition.property is None:
        return lambda statement: (statement[3] or NO_KEY,)
    name, table = f"<{partition.property}>", key_table(partition.property, background)

    def by_property(statement: Statement) -> Iterable[str]:
        if statement[1] == name:
            what = f"a key on a stream, {' '.join(statement[:3])}: networks are told apart by the background"
            raise InputError(what, hint="put it into the background")
        return table.get(statement[0], ())

    return by_property


def key_table(name: str, background: Iterable[Statement]) -> Mapping[str, tuple[str, ...]]:
    """The keys that subjects have by a property, each once."""
    found: dict[str, dict[str, None]] = {}
    for s, p, o, _ in background:
        if p == f"<{name}>":
            found.setdefault(s, {})[o] = None
    return {subject: tuple(keys) for subject, keys in found.items()}
