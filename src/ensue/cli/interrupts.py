"""Ctrl-C in a run without Spark: at once while a stream is waited for, otherwise between two results.

So what is counted at the end, and what was written, is of whole steps.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from ensue.progress import Progress


class Interrupts:
    """Turns the first Ctrl-C into a KeyboardInterrupt where one does no harm; the second is one at once.

    >>> import io
    >>> with Interrupts(Progress(io.StringIO())) as interrupts:
    ...     interrupts.check()
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._asked = self._waits = False
        self.at_once = False
        """Whether something was interrupted in the middle, so that nothing can be said of it."""
        self._before: Any = None

    def __enter__(self) -> Self:
        # Elsewhere than in the main thread nothing can be caught, and what ignores Ctrl-C goes on doing so.
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._caught)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        """Raise KeyboardInterrupt if there has been a Ctrl-C."""
        if self._asked:
            raise KeyboardInterrupt

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Here Ctrl-C interrupts at once: nothing but a stream is waited for."""
        self._waits = True
        try:
            self.check()
            yield
        finally:
            self._waits = False

    def _caught(self, number: int, frame: FrameType | None) -> None:
        if self._waits or self._asked:
            self.at_once = not self._waits
            raise KeyboardInterrupt
        self._asked = True
        self._progress.say("stopping after this result; Ctrl-C again to stop at once")
