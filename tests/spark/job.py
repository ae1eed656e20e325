"""A job with everything that a session's settings are about: Arrow, workers, a shuffle, state, a checkpoint.

Imported by the tests, or run with a folder of its own: then it prints what came out, and which Java ran it.
"""

from __future__ import annotations

import sys

from ensue.spark.session import session


def run(spark, folder):
    """The numbers below seven, from many copies of each."""

    # Within, so that it goes to the workers as it is: they cannot import this module.
    def same(batches):
        yield from batches

    spark.range(100).selectExpr("id % 7 AS id").write.parquet(f"{folder}/in")
    numbers = spark.readStream.schema("id long").parquet(f"{folder}/in").mapInArrow(same, "id long")
    writer = numbers.dropDuplicates(["id"]).writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("path", f"{folder}/out").option("checkpointLocation", f"{folder}/checkpoint")
    writer.start().awaitTermination()
    return sorted(row.id for row in spark.read.parquet(f"{folder}/out").collect())


if __name__ == "__main__":
    spark = session("child", cores=1)
    print(run(spark, sys.argv[1]), spark._jvm.java.lang.System.getProperty("java.home"))
    spark.stop()
