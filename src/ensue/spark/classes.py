"""An archive of Java's classes: what Spark loads at each start is laid out once, and mapped from then on.

A fifth of the time of a small job on embedded Spark goes into finding, checking and linking thousands of
classes, the same ones each time. Java can write down what it has loaded and map that file when it starts
again ("class data sharing"). The first command that starts Spark leaves such a file behind, of 130 MB, in the
user's cache. Another Java or another Spark has another one, and Java itself passes
over one that does not fit: so without it everything works, if a little later.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError

from ensue.private_folder import user_cache
from ensue.spark.java import Java

_OWN_CHOICE = ("SharedArchiveFile", "ArchiveClassesAtExit", "Xshare")
"""Options of whoever looks after that already."""
_OPTIONS_IN = ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
_NOT_PLAIN = re.compile(r"""[\s:"'\\,]""")
_ROOM = 1 << 30
"""Bytes that must be free: where Java runs out of them, it ends at once."""
_LEFT_BEHIND_S = 3600
"""Seconds after which a file that was never finished belongs to nobody."""
_UNUSED_S = 30 * 24 * 3600
"""Seconds after which an archive that no Java has started from is removed, when another one is written."""
_SECONDS = 120
# What Java says of archives would stand among the results, on standard output.
_QUIET = "-Xlog:disable -Xlog:all=error:stderr -Xlog:cds*=off:stderr"

_log = logging.getLogger("ensue.spark")


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that is whole or not there: its name says how long it is. A Java that maps half of one dies."""

    folder: Path
    name: str

    @property
    def file(self) -> Path | None:
        """Where it is, if it is."""
        with suppress(OSError):  # It may be taken away while it is looked at.
            for file in self.folder.glob(f"{self.name}-*.jsa"):
                if file.stem == f"{self.name}-{file.stat().st_size}":
                    return file
        return None

    def write(self, write: Callable[[Path], None]) -> None:
        """Have it written, under another name at first."""
        _sweep(self.folder)
        part = self.folder / f"{self.name}-{os.getpid()}.jsa.part"
        try:
            write(part)
            with part.open("rb") as written:
                os.fsync(written)
            whole = self.folder / f"{self.name}-{part.stat().st_size}.jsa"
            os.replace(part, whole)
            # Somebody made one at the same moment, or one was cut short. Who has mapped it keeps it.
            for other in self.folder.glob(f"{self.name}-*.jsa"):
                if other != whole:
                    other.unlink(missing_ok=True)
        finally:
            part.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what a killed process left half done, and archives that are no longer used."""
    for pattern, seconds in (("*.jsa.part", _LEFT_BEHIND_S), ("*.jsa", _UNUSED_S)):
        for left in folder.glob(pattern):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > seconds:
                    left.unlink()


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The classes of a Java and a Spark, kept or to be kept."""

    java: Java
    kept: Kept
    base: Kept | None
    """Java's own classes, where it comes without an archive of these: ours lies on top of it."""

    @property
    def options(self) -> str | None:
        """What makes Java start from it; None if it is not there."""
        below = [] if self.base is None else [self.base.file]
        files = [*below, self.kept.file]
        for file in filter(None, files):
            with suppress(OSError):
                os.utime(file)  # It is in use: see `_sweep`.
        return None if None in files else f"-XX:SharedArchiveFile={':'.join(map(str, files))} {_QUIET}"

    @property
    def recording(self) -> str:
        """What lets it be made when Java has done its work."""
        below = "" if self.base is None else f"-XX:SharedArchiveFile={self.base.file} "
        return f"{below}-XX:+RecordDynamicDumpInfo {_QUIET}"

    def is_to_be_made(self) -> bool:
        """Whether it is not there and can be made: there is room, and what it lies on is there by now."""
        if self.options is not None:
            return False
        try:
            if shutil.disk_usage(self.kept.folder).free < _ROOM:
                return False
            if self.base is not None and self.base.file is None:
                self.base.write(self._dump_base)
        except (OSError, subprocess.SubprocessError) as problem:
            _log.warning("no archive of Java's classes: %s", problem)
            return False
        return True

    def write(self, gateway: Any) -> None:
        """Have a Java that was started for `recording` write down what it has loaded."""
        try:
            self.kept.write(lambda part: _dump(gateway, part))
        except (OSError, Py4JError) as problem:
            # Nothing is lost but some seconds of the next start.
            _log.warning("no archive of Java's classes: %s", problem)

    def _dump_base(self, part: Path) -> None:
        command = [self.java.program, "-Xshare:dump", f"-XX:SharedArchiveFile={part}"]
        subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)


def class_archive(
    java: Java, options: str, environment: Mapping[str, str] = os.environ
) -> ClassArchive | None:
    """The archive for a Java, be it there or not.

    None where options say what to do about archives, where no folder is private, and for a folder whose name
    would have to be quoted.
    """
    given = " ".join([options, *(environment.get(name, "") for name in _OPTIONS_IN)])
    folder = _folder()
    if folder is None or any(word in given for word in _OWN_CHOICE) or _NOT_PLAIN.search(str(folder)):
        return None
    spark = Path(environment.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    known = blake2b(digest_size=8)
    for part in (java.program, java.build, pyspark.__version__, str(spark), str(_changed(spark / "jars"))):
        known.update(part.encode() + b"\0")
    name = known.hexdigest()
    base = None if "sharing" in java.build else Kept(folder, f"java-{name}")
    return ClassArchive(java, Kept(folder, f"spark-{name}"), base)


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _folder() -> Path | None:
    """Where archives lie: Java executes what is in them, so the folder is private."""
    return user_cache("classes")


def _dump(gateway: Any, file: Path) -> None:
    """What `jcmd PID VM.cds dynamic_dump FILE` does; the program itself comes with few Javas."""
    java = gateway.jvm.java.lang
    bean = gateway.jvm.javax.management.ObjectName("com.sun.management:type=DiagnosticCommand")
    words = _array(gateway, java.String, ["dynamic_dump", str(file)])
    call = [
        bean,
        "vmCds",
        _array(gateway, java.Object, [words]),
        _array(gateway, java.String, ["[Ljava.lang.String;"]),
    ]
    # By way of the interface: the class behind it is not open to others.
    methods = java.Class.forName("javax.management.MBeanServerConnection").getMethods()
    [invoke] = [method for method in methods if method.getName() == "invoke"]
    server = java.management.ManagementFactory.getPlatformMBeanServer()
    # Java tells of it on standard output, behind the results.
    out, io = java.System.out, gateway.jvm.java.io
    java.System.setOut(io.PrintStream(io.OutputStream.nullOutputStream()))
    try:
        invoke.invoke(server, _array(gateway, java.Object, call))
    finally:
        java.System.setOut(out)


def _array(gateway: Any, of: Any, values: list[Any]) -> Any:
    found = gateway.new_array(of, len(values))
    for at, value in enumerate(values):
        found[at] = value
    return found
