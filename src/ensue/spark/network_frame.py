"""`network_answers`: streams in as DataFrames, what a rule network selects out as a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import get_args

from pyspark.sql import DataFrame, SparkSession

from ensue.errors import UsageError
from ensue.files import FilePath
from ensue.inputlimits import MAX_LINE, check_max_line
from ensue.networks.job import NetworkJob
from ensue.networks.loops import Limit
from ensue.networks.parse import load_network, parse
from ensue.networks.tree import NetworkFile
from ensue.query.knowledge_in import Backgrounds
from ensue.query.terms_in import ByName, by_name
from ensue.spark.answer_frame import check_word, counted, disorder_of, files_of, table
from ensue.spark.answer_rows import DeadLetters, Layout, Terms
from ensue.spark.inputs import Stream, sources_of
from ensue.spark.network_plan import network_plan
from ensue.spark.pipeline import stepped
from ensue.windows.frontier import Disorder, LatePolicy
from ensue.windows.jump_guard import MAX_JUMP

Rules = str | os.PathLike[str] | NetworkFile
"""Rules: their text, the path of their file (a text that ends so is one), or parsed already."""

_FILE = ".ru"


def network_answers(
    spark: SparkSession,
    network: Rules | Iterable[FilePath],
    streams: ByName[Stream],
    background: Backgrounds = (),
    *,
    disorder: int | Disorder | ByName[Disorder] = 0,
    late: LatePolicy = "admit",
    limit: Limit | None = None,
    max_jump: int | None = MAX_JUMP,
    shards: int = 1,
    terms: Terms = "parts",
    dead_letters: DeadLetters = "count",
    max_line: int = MAX_LINE,
    name: str = "ensue",
) -> DataFrame:
    """What the SELECT rules of a network give, as a streaming DataFrame: a row for each of their rows.

        frame = network_answers(spark, "cars.ru", {"http://example.org/cars": positions})
        frame.select("query", "close", "car").writeStream.format("console").start()

    `network` are rules of `docs/networks.md`: text, a file, or several that are one network. The columns are
    those of `answers`: `query` is the name of the rule, `open` and `close` are both the time of the element.
    `shards`: over how many partitions networks are spread, if the file declares keys. `limit` is how much one
    element may set off; a network that goes beyond stops the streaming query. The rest is as for `answers`.
    """
    check_word("terms", terms, get_args(Terms))
    check_word("dead_letters", dead_letters, get_args(DeadLetters))
    if not streams:
        raise UsageError("a network without a stream", hint='streams={"urn:s": ...}')
    named = by_name(streams)
    job = NetworkJob.of(_parsed(network), named, background, disorder_of(disorder, late), limit, max_jump)
    variables = dict.fromkeys(each for row in job.variables().values() for each in row)
    layout = Layout.of_variables(variables, terms=terms, dead_letters=dead_letters)
    plan = network_plan(job, shards, check_max_line(max_line))
    return table(stepped(sources_of(spark, named, plan), [plan]).observe(name, *counted()), layout)


def _parsed(network: Rules | Iterable[FilePath]) -> NetworkFile:
    if isinstance(network, NetworkFile):
        return network
    if isinstance(network, str) and not network.rstrip().endswith(_FILE):
        return parse(network)
    return load_network(*files_of(network))
