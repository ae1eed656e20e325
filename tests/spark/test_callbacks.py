"""Errors of Java inside foreachBatch: a stop is taken for a stop, and an error for that error."""

from __future__ import annotations

import threading
import traceback

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import StreamingQueryException

from ensue.errors import InputError
from ensue.spark.callbacks import InterruptedInJava, JavaFailure, bearable
from ensue.spark.runner import _translated

DEEP = 200_000
"""Characters: more than Java's stack has room for, however its compiler has laid out a frame."""


@pytest.fixture
def judged(spark):
    """What Spark makes of the text of an error in foreachBatch: whether it is an interruption."""
    execution = spark._jvm.org.apache.spark.sql.execution.streaming.runtime.StreamExecution

    def judge(text):
        said = f"An exception was raised by the Python Proxy. Return Message: {text}"
        return execution.isInterruptionException(spark._jvm.py4j.Py4JException(said), spark._jsc.sc())

    return judge


def raised(spark, message, *, stopped=False):
    """The text, as Py4J gives it to Java, of an error with a message that was raised in Java."""
    try:
        with bearable(lambda: stopped):
            spark._jvm.java.util.Objects.requireNonNull(None, message)
    except Exception:
        return traceback.format_exc()
    raise AssertionError("nothing was raised")


def test_sparks_search_needs_a_recursion_for_each_character(spark, judged):
    """Why all this is there: when this fails, Spark has learned, and `callbacks.py` can go."""
    with pytest.raises(Py4JJavaError, match="StackOverflowError"):
        judged("py4j.protocol.Py4JJavaError: An error occurred while calling o1.collect." + "x" * DEEP)


@pytest.mark.parametrize(
    "name",
    [
        "java.lang.InterruptedException",
        "java.io.InterruptedIOException",
        "java.nio.channels.ClosedByInterruptException",
    ],
)
def test_an_interruption_is_one(spark, judged, name):
    text = raised(spark, f"{'x' * DEEP} {name}")
    assert InterruptedInJava.__name__ in text
    assert judged(text) is True


def test_what_fails_while_the_query_stops_is_from_that(spark, judged):
    assert judged(raised(spark, "x" * DEEP, stopped=True)) is True


def test_an_error_stays_that_error(spark, judged):
    text = raised(spark, "disk is gone " + "x" * DEEP)
    assert JavaFailure.__name__ in text
    assert "java.lang.NullPointerException: disk is gone" in text
    assert judged(text) is False


def test_what_a_worker_said_is_found_in_it(spark):
    text = raised(spark, "ensue.errors.InputError: s.tsv: is gone")
    found = _translated(StreamingQueryException(text))
    assert (type(found), str(found)) == (InputError, "s.tsv: is gone")


def stopped_within(spark, what):
    """Stop a query while its foreachBatch is in Java; how the query ended."""
    begun = threading.Event()

    def take(frame, number):
        with bearable(lambda: False):
            begun.set()
            what()

    query = spark.readStream.format("rate").load().writeStream.foreachBatch(take).start()
    assert begun.wait(60)
    query.stop()
    return query.exception()


@pytest.mark.long
def test_queries_are_stopped_within_foreach_batch_again_and_again(spark):
    thread = spark._jvm.java.lang.Thread
    for number in range(25):
        work = spark.range(10**10).selectExpr("sum(id % 7)")
        assert stopped_within(spark, work.collect if number % 2 else lambda: thread.sleep(100_000)) is None
