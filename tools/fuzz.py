"""Fuzzing of all parsers: seeded, in processes with limits on memory and time.

    python tools/fuzz.py --inputs 1000000
    python tools/fuzz.py --seed 7 --first 1234 --inputs 1 --show        one input again
    python tools/fuzz.py --replay tests/fuzz/corpus                     what broke before

An input is made from the seed and its number alone. Whatever is no error of Ensue's own (another exception, a
crash, more than 10 s of processor time, more than 1 GB) is a finding: it is told with its seed, number and
text, kept as a file, and the run goes on. Exit code 1 if there was any, or if less than a fifth was accepted.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

SECONDS = 10
"""Processor time of one input."""

GROWTH = 1 << 30
"""Bytes by which a process may grow."""

LEAST_ACCEPTED = 0.2
_EVERY = 200
_NUMBER = 8


@dataclass
class Report:
    """What came of inputs, by parser."""

    tried: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    peak: int = 0
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The first of each, by what it is and where."""
    found: Counter[str] = field(default_factory=Counter)

    def take(self, told: dict[str, Any]) -> None:
        """What a process has told."""
        if "finding" in told:
            key = told["finding"]
            self.found[key] += 1
            if key not in self.findings:
                self.findings[key] = told
                print(f"FOUND {key}\n  again with: {told['again']}\n  {told['file']}", flush=True)
            return
        for counter, counted in (
            (self.tried, told["tried"]),
            (self.accepted, told["accepted"]),
            (self.seconds, told["seconds"]),
        ):
            counter.update(counted)
        self.peak = max(self.peak, told["peak"])

    @property
    def share(self) -> float:
        """Which share was accepted."""
        return self.accepted.total() / max(1, self.tried.total())

    def lines(self, seconds: float) -> Iterator[str]:
        """The figures."""
        for kind in sorted(self.tried):
            tried, each = self.tried[kind], self.seconds[kind] / max(1, self.tried[kind]) * 1000
            share = self.accepted[kind] / max(1, tried)
            yield f"{kind:<11}{tried:>9,} inputs {share:>5.0%} accepted {each:>8.2f} ms each"
        tried, kinds = self.tried.total(), len(self.findings)
        yield (
            f"{tried:,} inputs in {seconds:,.0f} s ({tried / max(seconds, 0.001):,.0f}/s), {self.share:.0%} "
            f"accepted, {kinds} kinds of findings ({self.found.total()}), "
            f"processes grew by {self.peak >> 20} MB"
        )


# -- a process -------------------------------------------------------------------------------------------


class Worker:
    """Tries inputs, and tells what came of them on standard output, as JSON lines."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        from fuzz_targets import Fuzz, weights

        self._options, self._findings = options, Path(options.findings)
        self._fuzz = Fuzz(folder)
        chosen = {kind: share for kind, share in weights().items() if kind in (options.parsers or weights())}
        self._kinds, self._weights = list(chosen), list(chosen.values())
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("tried", "accepted", "seconds")}
        self._before = 0
        self.findings = 0

    def run(self, numbers: range, at: mmap.mmap) -> None:
        """Try these inputs; `at` always has the number of the one that is being tried."""
        self.warm_up()
        for count, number in enumerate(numbers, start=1):
            at[:_NUMBER] = number.to_bytes(_NUMBER, "little")
            self.one(number)
            if not count % _EVERY:
                self._tell()
        self._tell()

    def one(self, number: int) -> None:
        """Try one input."""
        rng = random.Random(f"{self._options.seed}:{number}")
        (kind,) = rng.choices(self._kinds, self._weights)
        data = self._fuzz.input(kind, rng)
        if self._options.show:
            print(kind, data.decode("utf-8", "replace"), sep="\n", file=sys.stderr)
        self.take(kind, data, rng, number)

    def take(self, kind: str, data: bytes, rng: random.Random, number: int) -> None:
        """Try an input of a kind."""
        (self._findings / f"running-{os.getpid()}").write_bytes(kind.encode() + b"\n" + data)
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process, wherever it is
        try:
            self._counts["accepted"][kind] += self._fuzz.run(kind, rng, data)
        except (Exception, RecursionError) as problem:
            signal.setitimer(signal.ITIMER_PROF, 0)
            if self._options.show:
                traceback.print_exc()
            self.findings += 1
            frames = traceback.extract_tb(problem.__traceback__)
            ours = [frame for frame in frames if "/ensue/" in frame.filename] or frames
            where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
            what = f"{kind}: {type(problem).__name__} at {where}: {str(problem)[:100]}"
            _finding(self._options, f"{kind}: {type(problem).__name__} at {where}", number, kind, data, what)
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._counts["tried"][kind] += 1
        self._counts["seconds"][kind] += time.process_time() - began  # type: ignore[assignment]

    def warm_up(self) -> None:
        """Compile and load what is loaded once, so that growth is that of inputs."""
        signal.setitimer(signal.ITIMER_PROF, 10 * SECONDS)  # it may have to compile the kernel
        for kind in self._kinds:
            for number in range(3):
                rng = random.Random(f"warm:{number}")
                data = self._fuzz.input(kind, rng)
                try:
                    self._fuzz.run(kind, rng, data)
                except Exception:
                    continue  # it will be met again where it is told
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._before = _resident()
        resource.setrlimit(resource.RLIMIT_DATA, (_data() + GROWTH, resource.RLIM_INFINITY))

    def _tell(self) -> None:
        told = {name: dict(counter) for name, counter in self._counts.items()}
        print(json.dumps(told | {"peak": max(0, _resident() - self._before)}), flush=True)
        for counter in self._counts.values():
            counter.clear()


def _finding(
    options: argparse.Namespace, key: str, number: int, kind: str, data: bytes, what: str | None = None
) -> None:
    print(json.dumps(_told(options, key, number, kind, data, what)), flush=True)


def _told(
    options: argparse.Namespace, key: str, number: int, kind: str, data: bytes, what: str | None = None
) -> dict[str, Any]:
    path = Path(options.findings, f"{kind}-{options.seed}-{number}")
    path.write_bytes(kind.encode() + b"\n" + data)
    chosen = f" --parsers {' '.join(options.parsers)}" if options.parsers else ""
    again = f"python tools/fuzz.py --seed {options.seed} --first {number} --inputs 1 --show{chosen}"
    return {"finding": key, "what": what or key, "again": again, "file": str(path)}


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _data() -> int:
    """Bytes of data that the process has reserved, of which the limit is kept."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))


# -- all of them -----------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> Report:
    """Try the inputs, a part of them in each process; a process that ends before its time is replaced."""
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        shares = _shares(options)
        running = [_Process(options, part, Path(name, str(at))) for at, part in enumerate(shares)]
        while running:
            for process in list(running):
                if not process.read(report):
                    running.remove(process)
            time.sleep(0.05)
    return report


def _shares(options: argparse.Namespace) -> list[range]:
    count = min(options.processes, options.inputs)
    cuts = [options.first + options.inputs * at // count for at in range(count + 1)]
    return [range(begin, end) for begin, end in pairwise(cuts)]


class _Process:
    """A process that tries some inputs, and those that follow it after one that it did not survive."""

    def __init__(self, options: argparse.Namespace, numbers: range, folder: Path) -> None:
        self._options, self._numbers, self._folder = options, numbers, folder
        folder.mkdir()
        self._at = folder / "at"
        self._start()

    def _start(self) -> None:
        self._at.write_bytes(self._numbers.start.to_bytes(_NUMBER, "little"))
        command = [sys.executable, __file__, *_words(self._options), "--worker", str(self._at)]
        command += ["--first", str(self._numbers.start), "--inputs", str(len(self._numbers))]
        self._errors = (self._folder / "stderr").open("wb")
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._errors, cwd=self._folder
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._rest = b""

    def read(self, report: Report) -> bool:
        """Take what it has told; False once all its inputs were tried."""
        ended = self._process.poll()
        assert self._process.stdout is not None
        self._rest += self._process.stdout.read() or b""
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            report.take(json.loads(line))
        if ended is None:
            return True
        self._process.stdout.close()
        self._errors.close()
        return ended != 0 and self._go_on(ended, report)

    def _go_on(self, ended: int, report: Report) -> bool:
        number = int.from_bytes(self._at.read_bytes()[:_NUMBER], "little")
        kept = Path(self._options.findings, f"running-{self._process.pid}")
        kind, _, data = kept.read_bytes().partition(b"\n") if kept.exists() else (b"start", b"", b"")
        kept.unlink(missing_ok=True)
        why = f"more than {SECONDS} s" if ended == -signal.SIGPROF else f"the process ended with {ended}"
        if not data:
            why += f": {(self._folder / 'stderr').read_text(errors='replace')[-500:]}"
        report.take(_told(self._options, f"{kind.decode()}: {why}", number, kind.decode(), data))
        self._numbers = range(number + 1, self._numbers.stop)
        if not self._numbers or not data:
            return False
        self._start()
        return True


def _words(options: argparse.Namespace) -> list[str]:
    words = ["--seed", str(options.seed), "--findings", options.findings]
    return words + (["--parsers", *options.parsers] if options.parsers else [])


def replay(options: argparse.Namespace) -> int:
    """Try files that were kept: the name of the parser in the first line, and the input."""
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(options, Path(folder))
        worker.warm_up()
        count = 0
        for path in sorted(Path(options.replay).iterdir()):
            kind, _, data = path.read_bytes().partition(b"\n")
            for seed in range(3):
                worker.take(kind.decode(), data, random.Random(seed), count)
            count += 1
        print(f"{count} files tried again, {worker.findings} findings")
        return 1 if worker.findings else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--inputs", type=int, default=10_000, help="how many")
    add("--first", type=int, default=0, help="the number of the first one")
    add("--seed", type=int, default=None, help="of the inputs; default: another one each time, which is told")
    add("--parsers", nargs="+", help="only these; default: all")
    add("--processes", type=int, default=os.cpu_count() or 1)
    add(
        "--findings",
        default=os.path.join(tempfile.gettempdir(), f"ensue-fuzz-{os.getuid()}"),
        help="a folder",
    )
    add("--show", action="store_true", help="show inputs and tracebacks, in this process")
    add("--replay", metavar="FOLDER", help="try what was kept before")
    add("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    options.findings = os.path.abspath(options.findings)
    return options


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = _options(argv)
    Path(options.findings).mkdir(mode=0o700, parents=True, exist_ok=True)
    if options.replay:
        return replay(options)
    if options.worker or options.show:
        with tempfile.TemporaryDirectory() as folder:
            worker = Worker(options, Path(folder))
            numbers = range(options.first, options.first + options.inputs)
            if options.show:
                for number in numbers:
                    worker.one(number)
                return 0
            with open(options.worker, "r+b") as file:
                worker.run(numbers, mmap.mmap(file.fileno(), 0))
            Path(options.findings, f"running-{os.getpid()}").unlink(missing_ok=True)
        return 0
    began = time.perf_counter()
    print(f"seed {options.seed}", flush=True)
    report = run(options)
    for line in report.lines(time.perf_counter() - began):
        print(line)
    return 1 if report.findings or report.share < LEAST_ACCEPTED else 0


if __name__ == "__main__":
    sys.exit(main())
