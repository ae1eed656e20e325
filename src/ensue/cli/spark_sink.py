"""Where results of a job on Spark and its dead letters go: micro-batch by micro-batch, each once."""

from __future__ import annotations

import argparse
import os
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

from ensue.badlines import BadLine, DeadLetters
from ensue.cli.letters import ShownLetters, StrictLetters
from ensue.cli.output import Output
from ensue.cli.partial import PartialAnswers
from ensue.cli.report import tell_skipped
from ensue.cli.run import kind_and_path
from ensue.model import FOREVER, NEVER
from ensue.progress import Progress
from ensue.query.output import Result, writer
from ensue.query.output_writer import Writer
from ensue.spark.ledger import Ledger, OnceFile, Written
from ensue.spark.runner import MicroBatch


class Sink(ABC):
    """Writes what micro-batches gave, and shows how far it is."""

    def __init__(self, args: argparse.Namespace, ledger: Ledger, progress: Progress) -> None:
        self.args = args
        self.ledger = ledger
        self.progress = progress
        self._files: list[OnceFile] = []
        self._stack = ExitStack()
        self._queries = set(ledger.written.queries)
        self.started = time.perf_counter()
        self.counters: dict[str, Any] = {}
        self.dead: Counter[str] = Counter()
        """How many dead letters the files have had."""
        self._partial = PartialAnswers(progress.say)
        self._seen = (self.started, 0)

    def __enter__(self) -> Self:
        kind, path = kind_and_path(self.args.output)
        self._out: Writer = writer(kind, self.file(path), until=self.args.until)
        self._out.resume(self._queries)
        self._letters = self._dead_letters()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._stack.__exit__(*problem)

    def take(self, batch: MicroBatch) -> None:
        """Write what a micro-batch gave, unless it was written before."""
        self.ledger.once(batch.number, lambda: self._write(batch), self._files)
        if batch.failure is not None:
            return
        merged = self.ledger.written.merged
        self.counters = batch.counters | {"answers": batch.counters.get("answers", 0) + merged}
        self._tell(self.counters)

    def _write(self, batch: MicroBatch) -> Written | None:
        """Write the results and dead letters; what the ledger notes, if the micro-batch counts as written."""
        self.dead.update(bad.file for bad in batch.dead)
        for bad in batch.dead:
            self._letters(bad if self.args.dead_letters else _said_where(bad))
        for result in self.results(batch):
            self._out.write(result)
            self._partial.tell(result)
            self._queries.add(result.query)
            tell_skipped(result, self.progress)
        if batch.failure is not None:
            return None
        merged = self.ledger.written.merged + batch.merged
        return Written(queries=tuple(sorted(self._queries)), merged=merged)

    def results(self, batch: MicroBatch) -> Iterable[Result]:
        """The results of a micro-batch that are to be written."""
        return batch.results

    def dead_of(self, streams: Mapping[str, str]) -> dict[str, int]:
        """How many dead letters this run has had of each stream, of paths by IRI."""
        places = {iri: os.path.abspath(path) for iri, path in streams.items()}
        return {
            iri: sum(n for file, n in self.dead.items() if file == place or file.startswith(place + os.sep))
            for iri, place in places.items()
        }

    @abstractmethod
    def shown(self, counted: dict[str, Any]) -> list[str]:
        """What is shown of the counters while it runs, but for what every job has."""

    def file(self, path: str | None) -> Any:
        """A file to write to, each micro-batch once if it is one; None is standard output."""
        if path is None or not _is_plain(path):
            return self._stack.enter_context(Output(path, whole=False))
        file = self._stack.enter_context(OnceFile(path, self.ledger))
        self._files.append(file)
        return file

    def _dead_letters(self) -> DeadLetters:
        if self.args.strict:
            return StrictLetters()
        if self.args.dead_letters is not None:
            return DeadLetters(self.file(self.args.dead_letters))
        return ShownLetters(self.progress)

    def _tell(self, counted: dict[str, Any]) -> None:
        now, admitted = time.perf_counter(), counted.get("admitted", 0)
        before, admitted_before = self._seen
        rate = (admitted - admitted_before) / max(now - before, 1e-6)
        self._seen = (now, admitted)
        parts = [
            f"{admitted:,} statements ({rate:,.0f}/s)",
            *self.shown(counted),
            f"{counted.get('late', 0):,} late",
            f"{counted.get('dead_letters', 0):,} dead letters",
        ]
        if self.args.follow and NEVER < (frontier := counted.get("frontier", NEVER)) < FOREVER:
            # Of a live stream the stamps are the wall's; of a replayed one they tell nothing of the kind.
            parts.append(f"lag {time.time() - frontier / 1000:.1f} s")
        self.progress.note(", ".join(parts))


def _said_where(bad: BadLine) -> BadLine:
    """For the user to read: lines are not counted here, as any task may begin in the middle of a file."""
    if bad.offset is None:  # Not a line.
        return bad
    return replace(bad, reason=f"{bad.reason}, in the line at byte {bad.offset}")


def _is_plain(path: str) -> bool:
    return os.path.isfile(path) or not os.path.exists(path)
