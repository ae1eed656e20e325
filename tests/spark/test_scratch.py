"""The folder of a job without a checkpoint goes, whatever Spark's threads still do there."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest

from ensue.spark.scratch import scratch


def writing(folder, seconds):
    """Make files in a folder for a while."""
    deadline = time.monotonic() + seconds
    number = 0
    while time.monotonic() < deadline:
        number += 1
        with suppress(OSError):
            (folder / "state").mkdir(exist_ok=True)
            (folder / "state" / str(number)).touch()


@pytest.fixture
def writer():
    """Starts somebody who writes into a folder for a second."""
    threads = []

    def start(folder):
        threads.append(threading.Thread(target=writing, args=(folder, 1.0)))
        threads[0].start()
        while not (folder / "state").exists():
            time.sleep(0.001)
        return threads[0]

    yield start
    threads[0].join()


def test_somebody_still_writes(writer):
    with scratch() as folder:
        writer(folder)
    assert not folder.exists()


def test_nobody_waits_for_ever(writer):
    with scratch(patience=0) as folder:
        thread = writer(folder)
    assert thread.is_alive()


def test_what_went_wrong_is_told():
    with pytest.raises(ValueError, match="a problem"), scratch() as folder:
        raise ValueError("a problem")
    assert not folder.exists()
