"""A job on Spark is killed, interrupted and changed, and goes on: its answers are those of a job left alone.

The answers to compare with come from the engine in this process, which knows nothing of Spark.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from contextlib import contextmanager, nullcontext, redirect_stderr, suppress
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from queue import Queue
from random import Random, SystemRandom

import pytest
from marks import needs_full_device, needs_proc
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming import StreamingQueryListener

from ensue.cli import main, run_spark
from ensue.errors import EnsueError, InputError, UsageError
from ensue.spark import ledger as ledgers
from ensue.spark.ledger import Ledger
from ensue.spark.runner import _translated

SEED = int(os.environ.get("ENSUE_SEED", SystemRandom().randrange(1 << 30)))

KILLS = [("all", "state"), ("driver", "start"), ("task", "state"), ("java", "results"), ("task", "ledger")]
BLOWS = [
    ("java", "state"),
    ("Ctrl-C", "state"),
    ("worker", "ledger"),
    ("driver", "state"),
    ("Ctrl-C twice", "results"),
    ("all", "ledger"),
]


@pytest.fixture(scope="module")
def killing(repository):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository / "tools")
        yield import_module("kill_soak")


def evaluations(path):
    """The lines of a file of results, each with its answers in order."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for each in found:
        for kind in ("bindings", "triples"):
            if kind in each:
                each[kind].sort(key=json.dumps)
    return found


def letters(path):
    found = map(json.loads, path.read_text().splitlines())
    return sorted((each["file"], each["offset"], each["text"]) for each in found)


@pytest.mark.parametrize(
    ("blows", "kind"),
    [
        (KILLS, {}),
        pytest.param(BLOWS, {"shards": 2}, marks=pytest.mark.long),
        pytest.param(KILLS, {"shards": 2, "stars": True}, marks=pytest.mark.long),
    ],
    ids=["kills", "blows", "stars"],
)
@needs_proc
def test_whatever_is_killed_nothing_is_lost_nothing_twice_nothing_different(killing, tmp_path, blows, kind):
    print(f"seed {SEED}")
    random = Random(SEED)
    workload = killing.make_workload(tmp_path / "in", SEED, strays=0, **kind)
    calm, place = killing.Place(tmp_path / "calm"), killing.Place(tmp_path / "killed")
    calm.folder.mkdir()
    files = ["--output", str(calm.output), "--dead-letters", str(calm.letters)]
    assert main(["run", *workload.local_words, *files, "--engine", "local"]) == 0

    assert killing.endure(partial(killing.Child, workload, place), blows, random) == len(blows)

    expected, found = evaluations(calm.output), evaluations(place.output)
    assert killing.difference(*(sorted(map(json.dumps, each)) for each in (expected, found))) is None
    for query in {each["query"] for each in found}:
        closes = [each["close"] for each in found if each["query"] == query]
        assert closes == sorted(closes), query
    assert letters(place.letters) == letters(calm.letters)
    assert len(letters(calm.letters)) > 10


def starts_spark(pid):
    with suppress(OSError):  # It may have gone.
        words = Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
        return words[0].endswith(b"java") and b"org.apache.spark.deploy.SparkSubmit" in words
    return False


@needs_proc
def test_ctrl_c_while_spark_starts_leaves_no_java_behind(killing, tmp_path):
    child = killing.Child(killing.make_workload(tmp_path / "in", SEED), killing.Place(tmp_path / "out"))
    try:
        while not any(map(starts_spark, child.processes())):
            assert child.process.poll() is None, child.said()
        assert child.suffer("Ctrl-C", Random(SEED)) == 130
        deadline = time.monotonic() + 60
        while child.processes():
            assert time.monotonic() < deadline, child.processes()
            time.sleep(0.1)
    finally:
        child.kill("all", Random(SEED))


# `ensue run`, in the session of all tests.

TEXT = "SELECT ?x ?y FROM STREAM <urn:s> [RANGE 4s STEP 2s] { ?x <http://example.org/isIn> ?y }"
MORE = "<http://example.org/a1> <http://example.org/isIn> <http://example.org/b> ."
LINE = "{}\t<http://example.org/{}> <http://example.org/isIn> <http://example.org/{}> .\n"
BOTH_WAYS = "[R: (?x <http://example.org/isIn> ?y) -> (?y <http://example.org/isIn> ?x)]"


class Case:
    """A job in a folder, and what `ensue run` makes of it."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        self.output, self.checkpoint = folder / "out.jsonl", folder / "checkpoint"
        self.stream = folder / "s.tsv"
        self.stream.write_text(
            "".join(LINE.format(500 * n, f"a{n % 9}", f"a{(n + 1) % 9}") for n in range(80))
        )
        (folder / "q.rq").write_text(TEXT)
        (folder / "both-ways.rules").write_text(BOTH_WAYS)
        (folder / "more.ttl").write_text(MORE)

    def run(self, *more, rules="transitive-isin", output=None):
        """The exit code, and what was said."""
        words = [str(self.folder / "q.rq"), "--stream", f"urn:s={self.stream}", "--rules", str(rules)]
        words += ["--output", str(output or self.output), *more]
        with redirect_stderr(StringIO()) as said:
            code = main(["run", *words])
        return code, said.getvalue()

    def go_on(self, *more, **changes):
        """A run with the checkpoint."""
        return self.run("--checkpoint", str(self.checkpoint), "--batch-bytes", "1000", *more, **changes)

    def expected(self, *more, **changes):
        """What the engine in this process gives."""
        output = self.folder / "expected.jsonl"
        assert self.run(*more, "--engine", "local", output=output, **changes)[0] == 0
        return evaluations(output)

    def interrupt_after(self, batch):
        """Ctrl-C as soon as Spark is done with a micro-batch."""
        while not (self.checkpoint / ledgers.SPARK / "commits" / str(batch)).exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def in_one_session(spark):
    """Commands use the session of the tests, and leave it running."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_spark, "embedded", lambda **_: nullcontext(spark))
        yield


class Ends(StreamingQueryListener):
    """Listens to how streaming queries end: with what failure, or None."""

    def __init__(self):
        self.failures = Queue()

    def onQueryStarted(self, event):
        pass

    def onQueryProgress(self, event):
        pass

    def onQueryIdle(self, event):
        pass

    def onQueryTerminated(self, event):
        self.failures.put(event.exception)


@pytest.fixture(scope="module")
def stopped(in_one_session, spark, tmp_path_factory):
    """A job that was stopped by Ctrl-C, and a copy of it as it was then."""
    case = Case(tmp_path_factory.mktemp("stopped") / "as-it-is")
    threading.Thread(target=case.interrupt_after, args=[1], daemon=True).start()
    ends = Ends()
    spark.streams.addListener(ends)
    code, said = case.go_on("--keep-all", "--metrics", str(case.folder / "metrics.json"))
    assert (code, "stopping after this micro-batch" in said) == (130, True), said
    case.failure = ends.failures.get(timeout=60)
    spark.streams.removeListener(ends)
    shutil.copytree(case.folder, case.folder.with_name("as-it-was"))
    return case


@pytest.fixture
def halfway(stopped):
    """The job as it was when it was stopped."""
    shutil.rmtree(stopped.folder)
    shutil.copytree(stopped.folder.with_name("as-it-was"), stopped.folder)
    return stopped


def test_a_job_that_was_stopped_had_finished_what_it_had_begun(halfway):
    written = Ledger(halfway.checkpoint).written
    done = ledgers._last(halfway.checkpoint / ledgers.SPARK / "commits")
    assert 1 <= written.batch == done < 6
    assert written.lengths == {str(halfway.output): halfway.output.stat().st_size}
    lines = evaluations(halfway.output)
    assert lines == halfway.expected()[: len(lines)]


def test_metrics_are_written_on_ctrl_c(stopped, monkeypatch):
    """What the micro-batches that were done have counted; nothing yet while Spark starts."""
    then = stopped.folder.with_name("as-it-was")
    counted = json.loads((then / "metrics.json").read_text())
    assert 0 < counted["admitted"] < 80
    assert counted["answers"] == sum(len(each["bindings"]) for each in evaluations(then / "out.jsonl"))

    @contextmanager
    def interrupted(**_):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(run_spark, "embedded", interrupted)
    metrics = stopped.folder / "at-once.json"
    assert stopped.run("--metrics", str(metrics), output=stopped.folder / "no.jsonl")[0] == 130
    assert json.loads(metrics.read_text())["admitted"] == 0


def test_to_spark_a_job_that_was_stopped_has_not_failed(stopped):
    """Or it would write a stack trace into the log."""
    assert stopped.failure is None


@pytest.mark.parametrize("more", [(), ("--strategy", "recompute", "--evaluator", "oxigraph")])
def test_a_job_goes_on_where_it_was(halfway, more):
    with halfway.output.open("a") as out:
        out.write('{"query": "q", "open":')  # A run that was killed while it wrote.
    code, said = halfway.go_on("--keep-all", *more)
    assert (code, "going on" in said, "made anew" in said) == (0, True, bool(more)), said
    assert evaluations(halfway.output) == halfway.expected()


def test_a_micro_batch_that_was_written_but_not_done_is_not_written_again(halfway):
    commits, offsets = (halfway.checkpoint / ledgers.SPARK / log for log in ("commits", "offsets"))
    written = Ledger(halfway.checkpoint).written.batch
    # Spark may have planned the next one, which it does only when this one is done.
    for undone in (commits / f"{written}", offsets / f"{written + 1}"):
        undone.unlink(missing_ok=undone.parent == offsets)
        undone.with_name(f".{undone.name}.crc").unlink(missing_ok=True)
    assert halfway.go_on("--keep-all")[0] == 0
    assert (commits / f"{written}").exists(), "Spark did it again"
    assert evaluations(halfway.output) == halfway.expected()


@pytest.mark.parametrize("what", ["rules", "background"])
def test_new_rules_and_background_hold_from_the_next_window_on(halfway, what):
    new = {"rules": halfway.folder / "both-ways.rules"} if what == "rules" else {}
    more = ("--background", str(halfway.folder / "more.ttl")) if what == "background" else ()
    before = len(evaluations(halfway.output))
    code, said = halfway.go_on("--keep-all", *more, **new)
    assert (code, f"{what} changed: from the next window on the new ones hold" in said) == (0, True), said
    old, other = halfway.expected(), halfway.expected(*more, **new)
    assert old[before:] != other[before:]
    assert evaluations(halfway.output) == old[:before] + other[before:]


@pytest.mark.parametrize(
    ("more", "rules", "message"),
    [
        (["--keep-all", "--t0", "1000"], None, "t0"),
        (["--keep-all", "--disorder", "1000"], None, "disorder"),
        (["--keep-all", "--bounds", "[)"], None, "bounds"),
        (["--keep-all", "--report", "content"], None, "report"),
        ([], None, "--keep-all changed"),
        ([], "both-ways.rules", "rules changed, and statements were dropped"),
    ],
)
def test_a_job_that_is_another_one_is_refused(halfway, more, rules, message):
    changes = {"rules": halfway.folder / rules} if rules else {}
    code, said = halfway.go_on(*more, **changes)
    assert (code, message in said, "hint: start with a new checkpoint" in said) == (2, True, True), said


def test_an_output_that_was_deleted_is_missed_before_anything_runs(halfway):
    halfway.output.unlink()
    code, said = halfway.go_on("--keep-all")
    assert (code, "out.jsonl: is not there" in said) == (1, True), said


# What ends a run that goes wrong.


@pytest.fixture
def case(in_one_session, tmp_path):
    return Case(tmp_path / "case")


@pytest.mark.parametrize(
    ("put", "message"),
    [(os.mkfifo, "is a pipe or a device"), (lambda path: None, "no such file or directory")],
)
def test_a_stream_that_cannot_be_read_is_told_before_spark_starts(tmp_path, monkeypatch, put, message):
    monkeypatch.setattr(run_spark, "embedded", None)
    case = Case(tmp_path / "case")
    case.stream.unlink()
    put(case.stream)
    code, said = case.run()
    assert (code, said.startswith(f"ensue: {case.stream}: {message} (hint: ")) == (1, True), said
    assert not case.output.exists()


@needs_full_device
def test_an_output_that_cannot_be_written(case):
    os.symlink("/dev/full", case.output)
    code, said = case.run()
    assert code == 1
    assert "out.jsonl: cannot be written: No space left on device (hint: " in said


def test_a_malformed_line_where_that_is_an_error(case):
    good = case.stream.read_text()
    case.stream.write_text(f"{good}oops\n{good}")
    code, said = case.go_on("--strict")
    assert code == 1
    assert (
        f"{case.stream}: no tab between time and statement, in the line at byte {len(good)} (hint: " in said
    )


DOCUMENT = """\
<urn:g> <http://www.w3.org/ns/prov#generatedAtTime> "1970-01-01T00:00:01Z"^^<xsd:dateTime> .
<urn:g> { <urn:a> <http://example.org/isIn> <urn:b> }
<urn:☃> { <urn:a> <http://example.org/isIn> <urn:b> }
<urn:h> { <urn:cut> <urn:o\tff> <urn:b> }
"""


def test_what_is_wrong_in_a_document_is_said_as_in_process(case):
    case.stream = case.folder / "s.trig"
    case.stream.write_text(DOCUMENT.replace("xsd:", "http://www.w3.org/2001/XMLSchema#"))
    expected = case.expected("--dead-letters", str(case.folder / "expected.dead"))
    code, said = case.run("--dead-letters", str(case.folder / "dead"))
    assert (code, evaluations(case.output)) == (0, expected), said
    wanted, found = (
        [json.loads(line) for line in (case.folder / name).read_text().splitlines()]
        for name in ("expected.dead", "dead")
    )
    assert len(wanted) == len(found) == 2
    for want, bad in zip(wanted, found, strict=True):
        assert (bad["file"], bad["text"], bad["offset"]) == (want["file"], want["text"], None)
        place = f"line {want['line']}, column {want['column']}: " if want["line"] else ""
        assert bad["reason"] == f"{place}{want['reason']} (hint: {want['hint']})"
    code, said = case.run("--strict", output=case.folder / "strict.jsonl")
    first = " ".join(found[0]["reason"].split())
    assert (code, said.splitlines()[-1]) == (1, f"ensue: {case.stream}: {first}")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            "at x\nensue.errors.InputError: s.tsv: is gone (hint: look)\n  at y",
            InputError,
            "s.tsv: is gone (hint: look)",
        ),
        ("ensue.errors.UsageError: no such stream", UsageError, "no such stream"),
        ("ensue.errors.NoSuchError: it is new", EnsueError, "it is new"),
        (
            "Job aborted\nCaused by: java.io.IOException: No space left on device\n  at y",
            EnsueError,
            "Spark cannot write its files: No space left on device (hint: is there space for the ",
        ),
        (
            "Query q failed\n  at z",
            EnsueError,
            "Spark stopped the job: Query q failed (hint: see the log above; ",
        ),
    ],
)
def test_what_a_worker_says_comes_through(text, kind, said):
    problem = _translated(StreamingQueryException(text))
    assert type(problem) is kind
    assert str(problem).startswith(said)


def test_edges_of_a_run_are_as_in_process(case, capsys):
    """`--until` in other outputs than jsonl, and a stream of which nothing can be read."""
    outputs = [case.folder / f"{engine}.tsv" for engine in ("spark", "local")]
    for output in outputs:
        assert case.run("--until", "--engine", output.stem, output=output)[0] == 0
    lines = [sorted(output.read_text().splitlines()) for output in outputs]
    assert lines[0] == lines[1]
    assert any("?until" in line for line in lines[0])
    case.stream.write_text("nonsense\n" * 3)
    dead = []
    for engine in ("spark", "local"):
        code, said = case.run("--quiet", "--engine", engine)
        assert code == 1
        dead.append(said)
    assert dead[0] == dead[1]
    assert dead[0].startswith("ensue: nothing of the stream <urn:s> could be read: 3 dead letters")
