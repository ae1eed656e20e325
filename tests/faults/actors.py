"""Code that runs a few file operations at a time, in a thread that waits for the word in between."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class _Thread:
    """A thread that is used again and again: to start one for each actor takes longer than most do."""

    def __init__(self) -> None:
        # Locks that one side acquires and the other releases: semaphores cost ten times as much.
        self.go, self.back = threading.Lock(), threading.Lock()
        self.go.acquire()
        self.back.acquire()
        self.work: Callable[[], None] | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            self.go.acquire()
            assert self.work is not None
            self.work()
            _idle.append(self)
            self.back.release()


_idle: list[_Thread] = []


class Actor:
    """Some code with a word of its own."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self._act = act
        self._given: _Thread | None = None
        self._left = 0
        self.done = False
        self.result: Any = None
        self.problem: BaseException | None = None

    @property
    def _thread(self) -> _Thread:
        """Its thread, from the first operation on: an actor that never acts must not keep one."""
        if self._given is None:
            self._given = _idle.pop() if _idle else _Thread()
            self._given.work = self._work
        return self._given

    def _work(self) -> None:
        try:
            self.result = self._act()
        except BaseException as problem:
            self.problem = problem
        self.done = True

    def run(self, steps: int) -> bool:
        """Let it go on for so many operations, or to its end; whether that is reached."""
        if not self.done:
            self._left = steps
            self._thread.go.release()
            self._thread.back.acquire()
        return self.done

    def pause_if_due(self) -> None:
        """Called by itself before each operation."""
        if self._left <= 0:
            self._thread.back.release()
            self._thread.go.acquire()
        self._left -= 1
