"""Where a command's result goes: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import BinaryIO

from ensue.errors import EnsueError, Place
from ensue.paths import STANDARD

_LINES_AT_ONCE = 10_000


class Output:
    r"""A place to write lines to, as UTF-8 whatever the terminal's language; None or `-` is standard output.

    A file is written beside its name and renamed at the end, so that a failure leaves neither half a
    result nor a lost old one; unless it is not to be there `whole`, but as far as it goes.
    What the system refuses (a full disk, no permission) is an EnsueError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Output(os.path.join(folder, "out.nt")) as output:
    ...         output.write_lines(["<urn:a> <urn:p> <urn:b> .\n"])
    ...     os.listdir(folder)
    1
    ['out.nt']
    """

    def __init__(self, path: str | None, *, whole: bool = True) -> None:
        path = None if path == STANDARD else path
        self._path = path
        self._name = path or "standard output"
        # A device or a pipe cannot be renamed over.
        rename = whole and path is not None and (os.path.isfile(path) or not os.path.exists(path))
        self._part = f"{path}.part" if rename else None

    def __enter__(self) -> Output:
        with self._translated():
            self._out: BinaryIO = self._open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            with self._translated():
                self._finish()
        except EnsueError:
            self._discard()
            raise

    def write_lines(self, lines: Iterable[str]) -> int:
        """Write lines that end in a newline; say how many."""
        count, lines = 0, iter(lines)
        while block := list(islice(lines, _LINES_AT_ONCE)):
            self.write("".join(block))
            count += len(block)
        return count

    def write(self, text: str) -> None:
        """Write some text."""
        with self._translated():
            self._out.write(text.encode())

    def flush(self) -> None:
        """Let what was written so far be seen: at once on a pipe or a terminal."""
        with self._translated():
            self._out.flush()

    def _open(self) -> BinaryIO:
        if self._path is None:
            return sys.stdout.buffer
        return open(self._part or self._path, "wb")

    def _finish(self) -> None:
        if self._path is None:
            self._out.flush()
            return
        self._out.close()
        if self._part is not None:
            os.replace(self._part, self._path)

    def _discard(self) -> None:
        if self._path is not None:
            with suppress(OSError):
                self._out.close()
        if self._part is not None:
            with suppress(OSError):
                os.unlink(self._part)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as problem:
            if self._path is None:
                silence_stdout()
            reason = problem.strerror or str(problem)
            hint = "is there space, and may you write there?"
            raise EnsueError(f"cannot be written: {reason}", place=Place(self._name), hint=hint) from problem


def silence_stdout() -> None:
    """Let what is still to be written to standard output vanish: Python would try again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
