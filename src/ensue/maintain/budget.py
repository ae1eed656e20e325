"""Limits on derivation and memory, and the error that names the rules which exceeded one.

One budget holds for everything that a reasoner derives: each maintainer and each closing of the background
may hold `max_facts` facts, and the process `max_memory` bytes. Only rules that compute terms can derive for
ever, and those that do so one fact after the other are found by the number of rounds. Standard library only.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from gc import collect
from pathlib import Path
from typing import Literal

from ensue.errors import BudgetError, UsageError
from ensue.rules.tree import Rule

MAX_FACTS = 50_000_000
"""Facts that one maintainer holds, the background included."""

MAX_ROUNDS = 100_000
"""Rounds of one closing in which rules computed new terms: each needs a conclusion of the one before."""

_SHARE = 0.8
"""The part of the machine's memory that a process takes unless told otherwise."""

_BETWEEN = 50_000
"""Units of work (derivations, terms, statements) between two looks at the memory."""

_LARGE = 1 << 22
"""Arrays that are to be made larger than this are a reason to look, too."""

_SHOWN = 3
"""How many rules a message names."""

AtLimit = Literal["stop", "partial"]
AT_LIMIT: tuple[AtLimit, ...] = ("stop", "partial")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be derived and held; None: `max_memory` is a part of what the machine has.

    >>> Budget(max_facts=0)
    Traceback (most recent call last):
    ensue.errors.UsageError: max_facts of 0 (hint: it must be 1 or more)
    """

    max_facts: int = MAX_FACTS
    max_memory: int | None = None
    max_rounds: int = MAX_ROUNDS
    at_limit: AtLimit = "stop"
    shares: int = 1
    """How many processes share the machine, where `max_memory` is not given."""

    def __post_init__(self) -> None:
        for name in ("max_facts", "max_memory", "max_rounds", "shares"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UsageError(f"{name} of {value}", hint="it must be 1 or more")
        if self.at_limit not in AT_LIMIT:
            raise UsageError(
                f"unknown choice at_limit={self.at_limit!r}", hint=f"one of {', '.join(AT_LIMIT)}"
            )

    @classmethod
    def of(
        cls,
        max_facts: int | None = None,
        max_memory: int | str | None = None,
        max_rounds: int | None = None,
        at_limit: AtLimit = "stop",
    ) -> Budget:
        """A budget of options, None for the default of each; memory may be text such as "2g"."""
        size = size_of(max_memory) if isinstance(max_memory, str) else max_memory
        return cls(
            MAX_FACTS if max_facts is None else max_facts,
            size,
            MAX_ROUNDS if max_rounds is None else max_rounds,
            at_limit,
        )

    @property
    def memory(self) -> int:
        """The bytes that the process may take."""
        return self.max_memory or int(_SHARE * machine_memory() / self.shares)

    def shared(self, processes: int) -> Budget:
        """The same for each of several processes of a machine."""
        return replace(self, shares=max(1, processes))


@dataclass(slots=True)
class Meter:
    """Looks at the memory of the process every so often; shared by all who derive for one reasoner."""

    budget: Budget = field(default_factory=Budget)
    work: int = 0
    floor: int = 0
    """What was still in use when facts had been dropped, and a little more."""

    def memory(self, work: int, derived: Callable[[], Mapping[str, int]], extra: int = 0) -> None:
        """Note work done; raises BudgetError where the process has (or with `extra` will have) too much.

        `derived` gives the number of facts that each rule derived.
        """
        self.work += work
        if self.work < _BETWEEN and extra < _LARGE:
            return
        self.work = 0
        held, most = resident() + extra, self.budget.memory
        if held > max(most, self.floor):
            are = "would be" if extra else "are"
            what = f"memory: {shown(held)} {are} in use of max_memory = {shown(most)}"
            raise exceeded("max_memory", what, derived())

    def dropped(self) -> None:
        """Facts have been dropped. Memory that the system did not get back is free for others."""
        collect()
        self.floor = resident() + self.budget.memory // 16


def exceeded(limit: str, what: str, derived: Mapping[str, int]) -> BudgetError:
    """The error that says which limit was reached, and which rules derived most."""
    most = sorted(((count, name) for name, count in derived.items() if count > 0), reverse=True)
    said = ", ".join(f"{name} derived {count:,}" for count, name in most[:_SHOWN])
    more = f" (and {len(most) - _SHOWN} more rules)" if len(most) > _SHOWN else ""
    option = "--" + limit.replace("_", "-")
    hint = (
        f"does a rule feed itself, or pair everything with everything? Otherwise shorten the window, or "
        f"raise {limit} ({option}); at_limit='partial' (--at-limit partial) goes on with partial answers"
    )
    error = BudgetError(f"{what}; by rule: {said}{more}" if said else what, hint=hint)
    error.limit, error.derived = limit, {name: count for count, name in most}
    return error


def too_many_facts(budget: Budget, held: int, derived: Mapping[str, int]) -> BudgetError:
    """The error for more facts than `max_facts`."""
    return exceeded("max_facts", f"{held:,} facts are held, max_facts = {budget.max_facts:,}", derived)


def too_many_rounds(budget: Budget, derived: Mapping[str, int]) -> BudgetError:
    """The error for a closing that does not end."""
    what = f"rules computed new terms in {budget.max_rounds:,} rounds, one from the other, and do not end"
    return exceeded("max_rounds", what, derived)


def no_memory(derived: Mapping[str, int]) -> BudgetError:
    """The error for memory that the system refused."""
    return exceeded("max_memory", "the system gives no more memory", derived)


def least(rules: Sequence[Rule], derived: Mapping[str, int]) -> dict[str, int]:
    """Of the rules of the lowest priority, those that have derived half of what all these have."""
    lowest = min(rule.priority for rule in rules)
    names = dict.fromkeys(rule.name for rule in rules if rule.priority == lowest)
    most = sorted(((derived.get(name, 0), name) for name in names), reverse=True)
    wanted = sum(count for count, _ in most) / 2
    if not wanted:  # Who knows which of them.
        return {name: 0 for _, name in most}
    found: dict[str, int] = {}
    for count, name in most:
        if sum(found.values()) < wanted:
            found[name] = count
    return found


_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def size_of(text: str) -> int:
    """Bytes, from a number with a unit or without.

    >>> size_of("2g"), size_of("512MB"), size_of("1.5k"), size_of("77")
    (2147483648, 536870912, 1536, 77)
    """
    plain = text.strip().lower().removesuffix("b").removesuffix("i")
    unit = plain[-1:] if plain[-1:] in "kmgt" else ""
    try:
        size = int(float(plain.removesuffix(unit)) * (1 << _UNITS[unit]))
    except (ValueError, OverflowError) as problem:
        raise UsageError(f"'{text}' is no size of memory", hint="for example 512m or 2g") from problem
    if size < 1:
        raise UsageError(f"a memory of '{text}'", hint="it must be 1 byte or more")
    return size


def shown(size: int) -> str:
    """Bytes for a person.

    >>> shown(3 << 30), shown(5 << 20)
    ('3.00 GiB', '5.0 MiB')
    """
    return f"{size / (1 << 30):.2f} GiB" if size >= 1 << 30 else f"{size / (1 << 20):.1f} MiB"


def resident() -> int:
    """The bytes of memory that the process takes now, without the files that it has mapped."""
    try:
        text = _STATUS.read_bytes()
    except OSError:  # Not Linux: the largest that it was.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return 1024 * sum(int(text[text.index(name) + len(name) :].split(None, 1)[0]) for name in _OWN)


_STATUS = Path("/proc/self/status")
_OWN = (b"RssAnon:", b"RssShmem:")


@cache
def machine_memory() -> int:
    """The memory there is for the process: the machine's, its control group's, or its own limit."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    own = resource.getrlimit(resource.RLIMIT_AS)[0]
    return min([machine, *([own] if own != resource.RLIM_INFINITY else []), *_group_limits()])


def _group_limits() -> Iterator[int]:
    """The limits of the process's control group and of those above it (version 2, or 1)."""
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        file = "memory.max" if not controllers else "memory.limit_in_bytes"
        folder = root / controllers / path.lstrip("/")
        for each in (folder, *folder.parents):
            if each.is_relative_to(root):
                yield from _number_in(each / file)


def _number_in(path: Path) -> Iterator[int]:
    try:
        yield int(path.read_text())
    except (OSError, ValueError):  # There is none, or it says "max".
        return
