"""Paths of files as users give them."""

from __future__ import annotations

import os

FilePath = str | os.PathLike[str]

STANDARD = "-"
"""The name of standard input, or output; a file of that name is `./-`."""
