"""`--violations`: what violates conditions, as JSON lines beside the answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable

from ensue.paths import STANDARD
from ensue.progress import Progress
from ensue.query.output_writer import Sink
from ensue.violations import Reported


class ViolationLines:
    """Writes them as they are reported."""

    def __init__(self, where: str | None, opened: Callable[[str | None], Sink], progress: Progress) -> None:
        """`where`: a file, "-" for standard output, otherwise standard error; `opened` opens the others."""
        self._out: Sink = opened(None if where == STANDARD else where) if where else sys.stderr
        self._progress = progress

    def write(self, found: Iterable[Reported]) -> None:
        """Write some, and let them be seen."""
        lines = [json.dumps(each.json(), ensure_ascii=False) + "\n" for each in found]
        if lines:
            self._progress.clear()
            self._out.write("".join(lines))
            self._out.flush()
