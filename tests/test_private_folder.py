"""Folders that another user of the machine could write to or replace are not used: nothing in them is run."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest
from marks import needs_root
from numba.core.caching import UserProvidedCacheLocator

from ensue import private_folder as folders
from ensue.errors import EnsueError
from ensue.maintain.kernel import compiling
from ensue.private_folder import UnsafeFolderError, first_private, passing_cache, private_folder, user_cache

NOBODY = 65534


@pytest.fixture(autouse=True)
def nothing_told():
    folders._tell.cache_clear()


@contextmanager
def as_another_user():
    """Whatever is done here is done as another user."""
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def anybodys():
    """A folder like /tmp, that another user can reach, unlike pytest's own."""
    place = Path(mkdtemp())
    place.chmod(0o1777)
    yield place
    shutil.rmtree(place)


def mode(path):
    return path.stat().st_mode & 0o7777


def test_it_is_made_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert (mode(made), mode(made.parent)) == (0o700, 0o700)
    assert private_folder(made) == made


@pytest.mark.parametrize("wrong", [0o701, 0o710, 0o750, 0o755, 0o777, 0o1777])
def test_others_may_enter(tmp_path, wrong):
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(wrong)
    with pytest.raises(UnsafeFolderError, match="others may"):
        private_folder(tmp_path / "a")


@pytest.mark.parametrize(("above", "safe"), [(0o755, True), (0o1777, True), (0o777, False), (0o775, False)])
def test_what_is_above_it_can_be_changed_by_others(tmp_path, above, safe):
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(above)
    if safe:
        assert private_folder(tmp_path / "a" / "b" / "c").is_dir()
        return
    with pytest.raises(UnsafeFolderError, match=f"others may write to {tmp_path}/a"):
        private_folder(tmp_path / "a" / "b" / "c")
    assert not (tmp_path / "a" / "b").exists()


def test_a_link_in_its_place(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(UnsafeFolderError, match="it is not a folder"):
        private_folder(tmp_path / "link")
    # A link of our own above it is followed, once: what is used is where it led.
    assert private_folder(tmp_path / "link" / "a") == (tmp_path / "real" / "a").resolve()


@pytest.mark.parametrize("target", ["", "/no/such/folder"])
def test_a_file_or_a_link_to_nothing_in_its_place(tmp_path, target):
    if target:
        (tmp_path / "a").symlink_to(target)
    else:
        (tmp_path / "a").touch()
    for path in (tmp_path / "a", tmp_path / "a" / "b"):
        with pytest.raises((UnsafeFolderError, OSError)):
            private_folder(path)


@needs_root
def test_another_users(tmp_path):
    for name in ("folder", "above"):
        (tmp_path / name).mkdir(mode=0o700)
        os.chown(tmp_path / name, NOBODY, -1)
    with pytest.raises(UnsafeFolderError, match=f"it belongs to user {NOBODY}"):
        private_folder(tmp_path / "folder")
    with pytest.raises(UnsafeFolderError, match=f"{tmp_path}/above belongs to user {NOBODY}"):
        private_folder(tmp_path / "above" / "a")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real").mkdir()
    os.chown(tmp_path / "link", NOBODY, -1, follow_symlinks=False)
    with pytest.raises(UnsafeFolderError, match=f"link is a link of user {NOBODY}"):
        private_folder(tmp_path / "link" / "a")
    assert not (tmp_path / "real" / "a").exists()


@needs_root
def test_whoever_made_it_first_in_a_common_folder(anybodys):
    with as_another_user():
        (anybodys / "ensue").mkdir(mode=0o777)
        (anybodys / "link").symlink_to("/root")
    for name in ("ensue", "link"):
        with pytest.raises(UnsafeFolderError, match=r"belongs to user|not a folder"):
            private_folder(anybodys / name)
    with as_another_user():
        mine = private_folder(anybodys / "mine")
        assert private_folder(mine) == mine
    with pytest.raises(UnsafeFolderError, match="it belongs to user"):
        private_folder(mine)


def test_the_first_that_is_safe_is_taken_and_the_others_are_told_of_once(tmp_path, caplog):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "file").touch()
    wanted = [tmp_path / "open", tmp_path / "file" / "a", tmp_path / "good", tmp_path / "other"]
    for _ in range(2):
        assert first_private(wanted, "arrays") == tmp_path / "good"
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path}/open is not used for arrays: others may write to it"
    ]
    assert first_private(wanted[:2], "arrays") is None


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """A home, and a temporary directory."""
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def test_the_users_cache(homes, monkeypatch):
    assert user_cache("x") == homes / "home" / ".cache" / "ensue" / "x"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert user_cache("x") == homes / "home" / ".cache" / "ensue" / "x"
    monkeypatch.setenv("XDG_CACHE_HOME", str(homes / "xdg"))
    assert user_cache("x") == homes / "xdg" / "ensue" / "x"


def test_no_home(homes, monkeypatch):
    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    assert user_cache("x") == homes / "tmp" / f"ensue-cache-{os.geteuid()}" / "x"


def test_a_home_that_cannot_be_written(homes, monkeypatch):
    monkeypatch.setenv("HOME", "/proc/nowhere")
    assert user_cache("x") == homes / "tmp" / f"ensue-cache-{os.geteuid()}" / "x"


@needs_root
def test_root_with_the_home_of_a_user(homes, caplog):
    """As `sudo -E` has it: what lies there was written by the user."""
    os.chown(homes / "home", NOBODY, -1)
    assert user_cache("x") == homes / "tmp" / "ensue-cache-0" / "x"
    assert f"is not used for the cache of x: {homes}/home belongs to user {NOBODY}" in caplog.text
    assert not list((homes / "home").iterdir())


@needs_root
def test_a_neighbour_was_there_first(homes, monkeypatch, caplog):
    monkeypatch.setenv("HOME", "/proc/nowhere")
    (homes / "tmp" / "ensue-cache-0").mkdir(mode=0o777)
    os.chown(homes / "tmp" / "ensue-cache-0", NOBODY, -1)
    assert user_cache("x") is None
    assert "ensue-cache-0 belongs to user" in caplog.text
    passing = passing_cache("x")
    assert (mode(passing), passing.parent) == (0o700, homes / "tmp")
    assert passing_cache("x") == passing
    folders._passing.cache_clear()
    monkeypatch.setattr(compiling, "_beside_the_source", lambda: None)
    assert compiling._cache_directory.__wrapped__() is None
    assert "compiled anew in each process" in caplog.text


def test_no_temporary_directory_is_private(homes, monkeypatch):
    pytest.importorskip("pyspark")
    from ensue.spark.scratch import scratch

    (homes / "tmp").chmod(0o777)
    with scratch() as folder:
        assert folder.parent == homes / "home" / ".cache" / "ensue" / "scratch"
        assert mode(folder) == 0o700
    assert not folder.exists()
    monkeypatch.setenv("HOME", "/proc/nowhere")
    with pytest.raises(EnsueError, match=r"no private folder .* TMPDIR"), scratch():
        pass


# What is compiled.

UNWRITABLE = """\
from pathlib import Path
from ensue.maintain.kernel import compiling
compiling._HERE = Path("/proc/nowhere")
compiling.digest = lambda: {digest!r}
"""
PROBE = """\
from ensue.maintain.kernel.compiling import compiled

@compiled
def double(x):
    return 2 * x

print(double(4))
"""


def test_compiled_code_lies_beside_the_source_only_if_nobody_else_writes_there(homes, monkeypatch):
    package = homes / "package"
    (package / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(compiling, "_HERE", package)
    monkeypatch.setattr(compiling._settings, "CACHE_DIR", "")
    found = compiling._cache_directory.__wrapped__
    assert found() == package / "__pycache__" / compiling.digest()
    found().chmod(0o755)
    home = homes / "home" / ".cache" / "ensue" / "kernel" / compiling.digest()
    assert found() == home
    found().chmod(0o700)
    (package / "__pycache__").chmod(0o777)
    assert found() == home
    monkeypatch.setattr(compiling._settings, "CACHE_DIR", str(homes / "chosen"))
    assert found() == homes / "chosen" / compiling.digest()
    (homes / "chosen").chmod(0o777)
    assert found() == home


@needs_root
@pytest.mark.parametrize("named", [False, True], ids=["found", "named by NUMBA_CACHE_DIR"])
def test_another_users_pickle_is_not_executed(homes, named):
    """A neighbour prepares the folders that this version and earlier ones would come to."""

    class Attack:
        def __reduce__(self):
            return os.mkdir, (str(homes / "executed"),)

    probe = homes / "probe.py"
    probe.write_text(PROBE)
    index = f"probe.double-3.py{sys.version_info.major}{sys.version_info.minor}.nbi"
    below = UserProvidedCacheLocator.get_suitable_cache_subpath(str(probe))
    for place in ("ensue", "ensue-cache-0/kernel"):
        folder = homes / "tmp" / place / compiling.digest() / below
        folder.mkdir(parents=True)
        (folder / index).write_bytes(pickle.dumps(Attack()))
    for path in (homes / "tmp").rglob("*"):
        os.chown(path, NOBODY, -1)
        path.chmod(0o777)
    environment = os.environ | {"HOME": "/proc/nowhere", "TMPDIR": str(homes / "tmp")}
    environment["NUMBA_CACHE_DIR"] = str(homes / "tmp" / "ensue")
    script = [str(probe)]
    if not named:
        # The package as somebody else has installed it.
        del environment["NUMBA_CACHE_DIR"]
        run = f"exec(compile(Path({str(probe)!r}).read_text(), {str(probe)!r}, 'exec'))"
        script = ["-c", UNWRITABLE.format(digest=compiling.digest()) + run]
    ran = subprocess.run(
        [sys.executable, *script], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "8\n"
    assert f"belongs to user {NOBODY}" in ran.stderr
    assert not (homes / "executed").exists()
