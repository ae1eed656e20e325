"""Where a figure was measured: a number without its machine and commit says nothing."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "numba", "pyoxigraph")


def describe_machine() -> dict[str, str]:
    """The processor, memory, system and versions, by name.

    >>> sorted(describe_machine())[:3]
    ['commit', 'cores', 'cpu']
    """
    found = {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": str(os.cpu_count() or 1),
        "memory": _memory(),
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    found |= {package: _version(package) for package in PACKAGES}
    return found | {"commit": describe_commit()}


def describe_commit() -> str:
    """The commit of the source tree that runs, `-dirty` if it was changed since, or `unknown`."""
    here = Path(__file__).resolve().parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--tags"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() or "unknown"


def _memory() -> str:
    size = _field("/proc/meminfo", "MemTotal")
    return f"{int(size.split()[0]) / 2**20:.1f} GiB" if size else "unknown"


def _version(package: str) -> str:
    # Asked of the metadata: importing numba to learn its version would take half a second.
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _field(path: str, name: str) -> str:
    """The value of the first `name: value` line of a file under /proc, empty if there is none."""
    try:
        with Path(path).open(encoding="utf-8") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() == name:
                    return value.strip()
    except OSError:
        pass
    return ""
