"""One thread at a time in a reasoner, and none after a step that failed in the middle.

Every public method of a reasoner takes its lock, and so does each step of an iterator of results, which
holds it while the step is computed and not while the caller has the result. An error in what was asked
(a stream that nobody reads, a query that does not parse) changes nothing, and the reasoner goes on. Any other
failure, whatever it was, leaves a step half done: what would be answered afterwards could be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from ensue.errors import BrokenError, BudgetError, EnsueError, UsageError

Given = ParamSpec("Given")
R = TypeVar("R")
T = TypeVar("T")


class Guard:
    """The lock of a reasoner, and its first failure.

    >>> guard = Guard()
    >>> with guard.step():
    ...     1 / 0
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> with guard.call():
    ...     pass
    Traceback (most recent call last):
    ensue.errors.BrokenError: a step failed in the middle, and what follows could be wrong; the failure was \
ZeroDivisionError: division by zero (hint: make a new reasoner)
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._failure: BaseException | None = None
        self.in_step = False
        """Whether a step is being done, by the thread that has the lock."""

    @contextmanager
    def call(self) -> Iterator[None]:
        """A method that may refuse what it is asked, and then has changed nothing."""
        with self._lock:
            self._check()
            try:
                yield
            except EnsueError as refused:
                if isinstance(refused, BudgetError):
                    self._failure = self._failure or refused
                raise
            except BaseException as failure:
                self._failure = self._failure or failure
                raise

    @contextmanager
    def step(self) -> Iterator[None]:
        """A step, which is done to the end or not at all: any error in it is a failure."""
        with self._lock:
            self._check()
            self.in_step = True
            try:
                yield
            except BaseException as failure:
                self._failure = self._failure or failure
                raise
            finally:
                self.in_step = False

    def _check(self) -> None:
        if self._failure is not None:
            first = f"{type(self._failure).__name__}: {self._failure}".removesuffix(": ")
            what = f"a step failed in the middle, and what follows could be wrong; the failure was {first}"
            raise BrokenError(what, hint="make a new reasoner") from self._failure
        if self.in_step:
            raise UsageError(
                "a reasoner was called from within one of its own steps",
                hint="call it from outside of clocks and other callbacks",
            )

    def steps(self, results: Iterator[T]) -> Iterator[T]:
        """The same results, each found in a step."""
        while True:
            with self.step():
                found = next(results, None)
            if found is None:
                return
            yield found


class Guarded(Protocol):
    """What has a guard."""

    _guard: Guard


G = TypeVar("G", bound=Guarded)


def one_at_a_time(method: Callable[Concatenate[G, Given], R]) -> Callable[Concatenate[G, Given], R]:
    """A public method that one thread at a time may be in."""

    @wraps(method)
    def called(guarded: G, /, *args: Given.args, **options: Given.kwargs) -> R:
        with guarded._guard.call():
            return method(guarded, *args, **options)

    return called
