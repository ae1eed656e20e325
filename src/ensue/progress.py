"""Progress on standard error: a bar on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

_REDRAW_SECONDS = 0.1
_LINE_SECONDS = 10.0
_WIDTH = 24


class Progress:
    """Tells how far something is. Time is injected, so that tests need not wait.

    >>> import sys
    >>> progress = Progress(sys.stdout, clock=iter([0.0, 11.0, 12.0]).__next__)
    >>> progress.update("reading", 0.5, "10 statements")
    reading: 50% (10 statements)
    >>> progress.update("reading", 0.7, "14 statements")
    >>> progress.say("read 20 statements")
    read 20 statements
    """

    def __init__(
        self, out: TextIO, *, clock: Callable[[], float] = time.monotonic, quiet: bool = False
    ) -> None:
        self._out = out
        self._clock = clock
        self._quiet = quiet
        self._terminal = out.isatty()
        self._drawn = False
        self._last = clock()

    def update(self, label: str, share: float, detail: str = "") -> None:
        """Show a share from 0 to 1, unless something was shown a moment ago."""
        self._show(f"{label} [{bar(share)}] {share:4.0%} {detail}", f"{label}: {share:.0%} ({detail})")

    def note(self, text: str) -> None:
        """Show how things stand where no share is known, unless something was shown a moment ago."""
        self._show(text, text)

    def _show(self, drawn: str, line: str) -> None:
        now = self._clock()
        if self._quiet or now - self._last < (_REDRAW_SECONDS if self._terminal else _LINE_SECONDS):
            return
        self._last = now
        if self._terminal:
            self._out.write(f"\r\x1b[K{drawn}")
            self._out.flush()
            self._drawn = True
        else:
            self._out.write(f"{line}\n")

    def say(self, line: str) -> None:
        """Say something that stays, in place of the bar."""
        if self._quiet:
            return
        self.clear()
        self._out.write(f"{line}\n")
        self._out.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._out.write("\r\x1b[K")
            self._drawn = False


def bar(share: float) -> str:
    """A bar that is filled to a share.

    >>> bar(0.25)
    '######..................'
    """
    filled = round(_WIDTH * min(1.0, max(0.0, share)))
    return "#" * filled + "." * (_WIDTH - filled)
