"""One Spark session for all tests of a run: it takes seconds to start, and a JVM has room for one."""

from __future__ import annotations

import pytest

from ensue.spark.session import session


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    # With several test workers, all that share the session go to one of them.
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Two cores and two shards, so that what must not depend on one partition is seen not to."""
    warehouse = tmp_path_factory.mktemp("warehouse")
    spark = session("ensue-tests", cores=2, shards=2, extra={"spark.sql.warehouse.dir": str(warehouse)})
    yield spark
    spark.stop()
