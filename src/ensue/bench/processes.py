"""What a process and all below it take: Spark is a JVM and Python workers, and a job is all of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ensue.bench.resident import proportional_bytes

_PARENT, _TIMES = 1, slice(11, 15)
"""In the fields of a process after its name: whose child it is; its seconds, and those of children gone."""


def cpu_seconds(root: int | None = None) -> float:
    """Processor time of a process (this one by default) and all below it; 0 where no system tells.

    >>> cpu_seconds() >= 0
    True
    """
    fields = _fields()
    below = _below(root or os.getpid(), fields)
    ticks = sum(int(tick) for pid in below & fields.keys() for tick in fields[pid][_TIMES])
    return ticks / os.sysconf("SC_CLK_TCK")


def held_bytes(root: int | None = None) -> int:
    """The memory of a process (this one by default) and all below it; pages that they share count once.

    >>> held_bytes() >= 0
    True
    """
    return sum(map(proportional_bytes, _below(root or os.getpid(), _fields())))


def workers_bytes(root: int | None = None) -> int:
    """What the Python processes below a process (this one by default) take: Spark's workers.

    Workers are forked, and map the same files: pages that they share are counted once.

    >>> workers_bytes() >= 0
    True
    """
    root = root or os.getpid()
    return sum(proportional_bytes(pid) for pid in _below(root, _fields()) - {root} if _is_python(pid))


def _below(root: int, fields: Mapping[int, list[str]]) -> set[int]:
    """A process and all below it."""
    below = {root}
    # A child may have a smaller number than its parent, once numbers start anew: so until nothing is found.
    while more := {pid for pid, each in fields.items() if int(each[_PARENT]) in below} - below:
        below |= more
    return below


def _is_python(pid: int) -> bool:
    try:
        return "python" in os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False


def _fields() -> dict[int, list[str]]:
    """The fields of every process, from its state on."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found[int(folder.name)] = text.rpartition(")")[2].split()
    return found
