"""What becomes of malformed lines that go to no file."""

from __future__ import annotations

from ensue.badlines import BadLine, DeadLetters
from ensue.progress import Progress

_SHOWN = 5
"""How many dead letters are shown."""


class ShownLetters(DeadLetters):
    """Dead letters that go to no file: the first ones are shown."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress

    def __call__(self, bad: BadLine) -> None:
        """Take one."""
        super().__call__(bad)
        if self.count <= _SHOWN:
            self._progress.say(f"dead letter: {bad.error()}")


class StrictLetters(DeadLetters):
    """The first one stops the job."""

    def __call__(self, bad: BadLine) -> None:
        """Take one."""
        super().__call__(bad)
        raise bad.error()
