"""What a test needs of the system it runs on."""

from __future__ import annotations

import os

import pytest

needs_proc = pytest.mark.skipif(
    not os.path.isdir("/proc"), reason="this system has no /proc to find processes"
)
needs_full_device = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="this system has no /dev/full, a disk that is always full"
)
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder to another user"
)
