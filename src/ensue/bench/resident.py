"""The memory of a process. Standard library only, and little of it: the reader weighs too."""

from __future__ import annotations


def resident_bytes(pid: int | None = None) -> int:
    """The resident memory of a process (this one by default), 0 where the system does not tell.

    >>> resident_bytes() >= 0
    True
    """
    return _told(pid, "status", "VmRSS:")


def proportional_bytes(pid: int | None = None) -> int:
    """The same, but of pages that several processes share each has its part: sums count them once.

    >>> proportional_bytes() >= 0
    True
    """
    return _told(pid, "smaps_rollup", "Pss:") or resident_bytes(pid)


def _told(pid: int | None, file: str, name: str) -> int:
    try:
        with open(f"/proc/{pid or 'self'}/{file}", encoding="ascii", errors="replace") as lines:
            sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith(name)]
    except OSError:
        return 0
    return sizes[0] if sizes else 0
