"""`python -m ensue.device`: the command."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from typing import NoReturn, TextIO

from ensue.device.job import Job
from ensue.device.options import Options, read_options
from ensue.device.wire import Clock, Forward, Intake, from_socket, from_stdin, listen
from ensue.errors import EnsueError, InputError, Place


def wall_clock() -> int:
    """The time now, in milliseconds: the one place where the device looks at a clock."""
    return time.time_ns() // 1_000_000


def main(argv: Sequence[str], clock: Clock = wall_clock) -> int:
    """Run a job as the command line says; the exit code."""
    try:
        options = read_options(argv)
        return _run(options, clock)
    except EnsueError as problem:
        print(f"ensue.device: {problem}", file=sys.stderr)
        return problem.exit_code
    except BrokenPipeError:
        # Who read our output has gone; there is nobody to tell. Python must not flush it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(options: Options, clock: Clock) -> int:
    forward = Forward(options.forward) if options.forward else None
    letters = _open_letters(options.dead_letter)
    out = forward or sys.stdout

    def flush() -> None:
        out.flush()
        sys.stdout.flush()

    job = Job(options, out.write, sys.stdout.write, flush)
    job.prepare()
    # What is there now stays for ever: the collector need not look at it again and again.
    gc.freeze()
    signal.signal(signal.SIGTERM, _interrupt)

    def on_bad(problem: EnsueError, text: str) -> None:
        _bad(letters, problem, text)

    try:
        _read(options, Intake(job, clock, on_bad, options.max_line))
        job.finish()
    except KeyboardInterrupt:
        # Asked to stop: what is in open windows was not to be answered yet.
        pass
    finally:
        report(job, sys.stderr)
        if forward:
            forward.close()
        if letters is not sys.stderr:
            letters.close()
    return 0


def _read(options: Options, intake: Intake) -> None:
    if options.listen is None:
        from_stdin(intake, sys.stdin.fileno())
        return
    with listen(options.listen) as server:
        host, port = server.getsockname()[:2]
        print(f"listening on {host}:{port}", file=sys.stderr, flush=True)
        from_socket(intake, server, once=options.once)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _open_letters(path: str | None) -> TextIO:
    if path is None:
        return sys.stderr
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", place=Place(path)) from problem


def _bad(letters: TextIO, problem: EnsueError, text: str) -> None:
    print(f"{problem}\n  {text.rstrip()[:500]}", file=letters)


def report(job: Job, out: TextIO) -> None:
    """Write the counters, and the most memory that the process has had."""
    counted = {field.name: getattr(job.counters, field.name) for field in fields(job.counters)}
    for name, value in (counted | job.statistics() | _memory()).items():
        print(f"{name}: {value}", file=out)


def _memory() -> dict[str, int]:
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            peak = next((line.split()[1] for line in status if line.startswith("VmHWM:")), None)
    except OSError:
        peak = None
    return {} if peak is None else {"peak_resident_kb": int(peak)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
