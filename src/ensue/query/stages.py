"""How long each stage of the engine takes. A stage within another is counted once, as itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


class Stages:
    """Seconds by the name of a stage.

    >>> ticks = iter([0.0, 1.0, 4.0, 5.0])
    >>> stages = Stages(lambda: next(ticks))
    >>> with stages.of("evaluate"):
    ...     with stages.of("maintain"):
    ...         pass
    >>> stages.seconds()
    {'maintain': 3.0, 'evaluate': 2.0}
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._seconds: dict[str, float] = defaultdict(float)
        self._within = [0.0]
        """For each open stage, what stages inside it have taken; the first is outside of all."""

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count what happens here to a stage."""
        started = self._clock()
        self._within.append(0.0)
        try:
            yield
        finally:
            taken = self._clock() - started
            self._seconds[name] += taken - self._within.pop()
            self._within[-1] += taken

    def seconds(self) -> dict[str, float]:
        """What each stage has taken so far."""
        return dict(self._seconds)
