"""What all tests share: where the third-party material is, and one seed for Hypothesis, printed."""

from __future__ import annotations

import gc
import os
import random
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# Two cores shared by several test workers: a slow example is no bug.
settings.register_profile(
    "ensue", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ensue")

# Of a Java that lives for a test or two, the optimising compiler takes more time than it saves.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # xdist hands the options to its workers, so all of them get the seed that is printed here.
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_report_header(config):
    seed = config.option.hypothesis_seed
    return f"hypothesis seed: {seed} (again with: pytest --hypothesis-seed={seed})"


def pytest_collection_finish(session):
    if getattr(session.config.option, "loadgroup", False):  # A worker that was told to keep groups together.
        marked = [item for item in session.items if item.get_closest_marker("xdist_group")]
        if not all("@" in item.nodeid for item in marked):
            pytest.exit("this pytest-xdist does not group tests on this pytest: see pyproject.toml", 1)
    # Thousands of tests and all they import stay until the end: to look through them for garbage again and
    # again takes more time than most tests do.
    gc.collect()
    gc.freeze()


@pytest.fixture
def heeding_interrupts():
    """Options for a child that is to be stopped by Ctrl-C.

    A shell without job control has its background jobs, tests among them, ignore interrupts, and
    children inherit that.
    """
    return {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}


@pytest.fixture
def tally(tmp_path_factory, worker_id, request):
    """A folder of its own for a test module, shared by all workers of this run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / request.module.__name__
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def shared_data():
    """The folder of third-party material; the test is skipped where there is none."""
    folder = Path(os.environ.get("ENSUE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("third-party material is at neither ../shared/data nor $ENSUE_DATA")
    return folder


@pytest.fixture(scope="session")
def repository():
    """The root of the source tree."""
    return ROOT
