"""What the options of `ensue generate` and `ensue bench` may be: from text to values."""

from __future__ import annotations

import argparse
from math import isfinite


def positive(text: str) -> int:
    """A whole number from 1 on."""
    found = count(text)
    if found == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return found


def count(text: str) -> int:
    """A whole number from 0 on, whose digits may be grouped.

    >>> count("1_000"), count("1,000")
    (1000, 1000)
    """
    try:
        found = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
    if found < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return found


def rate(text: str) -> float:
    """A number above 0."""
    found = number(text)
    if found <= 0:
        raise argparse.ArgumentTypeError("must be above 0")
    return found


def share(text: str) -> float:
    """A number from 0 to below 1."""
    found = number(text)
    if not 0 <= found < 1:
        raise argparse.ArgumentTypeError("must be a share from 0 to below 1")
    return found


def number(text: str) -> float:
    """A finite number."""
    try:
        found = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not isfinite(found):
        raise argparse.ArgumentTypeError("must be finite")
    return found


def numbers(text: str) -> tuple[float, ...]:
    """Numbers, with commas between them."""
    return tuple(number(part) for part in text.split(","))


def whole_numbers(text: str) -> tuple[int, ...]:
    """Whole numbers from 1 on, with commas between them."""
    return tuple(map(positive, text.split(",")))


def names(text: str) -> tuple[str, ...]:
    """Words, with commas between them."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def address(text: str) -> tuple[str, int]:
    """HOST:PORT; the host is this one where it is left out."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"'{text}' is not HOST:PORT")
    return host.strip("[]") or "localhost", int(port)
