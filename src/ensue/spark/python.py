"""Which Python runs Spark's workers: this one, but with PySpark as it is installed.

Spark has its workers import PySpark from an archive of its sources, which every one of them compiles anew:
more than half a second for each of the eight that a job starts, one after the other. What is installed next
to that archive is the same, compiled already. So in front of Python stands a script that takes the archive
off the path.
"""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote

import pyspark

from ensue.spark.scripts import placed

_SCRIPT = """#!/bin/sh
# Python without Spark's archives of packages that are installed.
set -f
path= IFS=:
for folder in $PYTHONPATH; do
  case $folder in
    {archives}/*.zip) ;;
    *) path=$path${{path:+:}}$folder ;;
  esac
done
unset IFS
PYTHONPATH=$path exec {python} "$@"
"""


def worker_python() -> str:
    """The program that workers on this machine are started with."""
    archives = Path(pyspark.__file__).parent / "python" / "lib"
    script = _SCRIPT.format(archives=quote(str(archives)), python=quote(sys.executable))
    return str(placed("python", script) / "bin" / "python")
