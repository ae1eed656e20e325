"""A real Spark cluster on this machine: a master and workers, each a process of its own.

    python tools/cluster.py                        start one and wait: prints its URL; Ctrl-C stops it
    python tools/cluster.py run QUERY.rq ...       start one, `ensue run --master URL QUERY.rq ...`, stop it
    python tools/cluster.py --pack env.tar.gz      the environment as an archive for executors elsewhere

See docs/cluster.md.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

import pyspark

from ensue.spark.java import find_java, use_java

HOST = "127.0.0.1"
HOME = Path(pyspark.__file__).parent
SECONDS = 90
NOT_PACKED = ("pyspark/jars", "pyspark/examples", "__pycache__", "mypy", "matplotlib", "ruff")
"""What executors have already, or do not need."""


class Cluster:
    """A standalone cluster: `with Cluster(workers=2) as cluster: ... cluster.url ...`."""

    def __init__(self, folder: Path, workers: int = 2, cores: int = 1, memory: str = "1g") -> None:
        self._folder = folder
        self._cores, self._memory = cores, memory
        self._port = free_port()
        self.url = f"spark://{HOST}:{self._port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._wanted = workers
        self._running = ExitStack()

    def __enter__(self) -> Cluster:
        use_java(find_java())
        words = ["--host", HOST, "--port", str(self._port), "--webui-port", "0"]
        with self._running:  # If one does not start, what has started is stopped.
            self._start("master", "org.apache.spark.deploy.master.Master", words)
            self._wait_for("master", r"I have been elected leader|Starting Spark master")
            for _ in range(self._wanted):
                self.add_worker()
            self._running = self._running.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker, and wait until the master knows it."""
        name = f"worker{len(self.workers)}"
        words = ["--host", HOST, "--cores", str(self._cores), "--memory", self._memory, "--webui-port", "0"]
        words += ["--work-dir", str(self._folder / name), self.url]
        self.workers.append(self._start(name, "org.apache.spark.deploy.worker.Worker", words))
        self._wait_for(name, "Successfully registered with master")
        return self.workers[-1]

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors, as a machine that loses power."""
        kill_group(self.workers[number])

    def _start(self, name: str, main: str, words: list[str]) -> subprocess.Popen[bytes]:
        environment = os.environ | {
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOG_LEVEL": "INFO",
            "PYSPARK_PYTHON": sys.executable,
        }
        with open(self._folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                [str(HOME / "bin" / "spark-class"), main, *words],
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,  # A group of its own, executors included, to be killed as one.
            )
        self._running.callback(stop_group, process)
        return process

    def _wait_for(self, name: str, said: str) -> None:
        log, deadline = self._folder / f"{name}.log", time.monotonic() + SECONDS
        while not re.search(said, log.read_text(errors="replace")):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} does not start; see {log}")
            time.sleep(0.2)


def pack(target: Path, environment: Path) -> Path:
    """The Python environment as an archive for executors."""

    def wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if any(part in member.name for part in NOT_PACKED) else member

    with tarfile.open(target, "w:gz", compresslevel=1) as archive:
        archive.add(environment, ".", filter=wanted)
    return target


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Ask a process and its children to end; after a while, end them."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main() -> int:
    """Start a cluster from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pack", metavar="ARCHIVE", type=Path, help="write the environment there, and end")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="run, and the words of `ensue run`")
    args = parser.parse_args()
    if args.pack is not None:
        pack(args.pack, Path(sys.prefix))
        return 0
    with TemporaryDirectory() as folder, Cluster(Path(folder), args.workers) as cluster:
        print(f"a cluster of {args.workers} workers: {cluster.url}", file=sys.stderr)
        if args.command[:1] == ["run"]:
            words = [sys.executable, "-m", "ensue", "run", "--master", cluster.url, *args.command[1:]]
            return subprocess.run(words, check=False).returncode
        try:
            signal.pause()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
