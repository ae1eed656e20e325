"""Errors of Java inside a function that Java calls (`foreachBatch`), as Spark can bear them.

To see whether such a function was interrupted by `query.stop`, Spark searches the text of its error for
`py4j.protocol.Py4JJavaError: An error occurred while calling`, anything, and `InterruptedException`, by a
regular expression (SPARK-39218) whose middle part Java matches by one recursion for each character. With
some thousand characters behind the first words, as the stack of a `collect` in a micro-batch has, the search
can end in a StackOverflowError, in place of a stopped query or of the error that there was. So the text of
such an error must be short, or have other words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError

_SEARCHED_FOR = "An error occurred while calling"
_INTERRUPTIONS = (
    "java.lang.InterruptedException",
    "java.io.InterruptedIOException",
    "java.nio.channels.ClosedByInterruptException",
)


class JavaFailure(Exception):  # noqa: N818
    """An error of Java, in words that Spark does not search.

    Its name does not end in Error: by that the runner finds what a worker has said.
    """


class InterruptedInJava(Exception):  # noqa: N818
    """What Spark takes for an interruption, in few words."""

    def __init__(self) -> None:
        super().__init__(f"py4j.protocol.Py4JJavaError: {_SEARCHED_FOR} Java.\n: {_INTERRUPTIONS[0]}")


@contextmanager
def bearable(is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Raise errors of Java anew so that Spark can look through them.

    `is_stopped` says whether the query was told to stop: then any error of Java is from that.
    """
    try:
        yield
    except Py4JJavaError as problem:
        text = str(problem)
        if is_stopped() or any(name in text for name in _INTERRUPTIONS):
            raise InterruptedInJava from None
        raise JavaFailure(text.replace(_SEARCHED_FOR, "Error in")) from None
