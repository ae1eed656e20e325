"""Queries of CityBench on Spark: each window against pyoxigraph."""

from __future__ import annotations

import pytest

from ensue.conformance import citybench
from ensue.conformance.citybench import SPARK, beside_oxigraph
from ensue.conformance.citybench_spark import OnSpark


@pytest.mark.parametrize(
    "name",
    ["Q4", pytest.param("Q1_5_win_1", marks=pytest.mark.long), pytest.param("Q2", marks=pytest.mark.long)],
)
def test_on_spark(name, spark, shared_data):
    path = shared_data / "citybench"
    if not path.is_dir():
        pytest.skip("there is no citybench in the third-party material")
    [case] = [case for case in citybench.read(path) if case.name == name]
    [found] = beside_oxigraph(case, {SPARK: OnSpark(spark)}, repeat=1)
    assert found.why == ""
    assert found.rows > 400
    assert found.run.in_shards > 0
