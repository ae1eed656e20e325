"""`ensue run` at its edges: standard input and output, Ctrl-C, streams that are all dead, and `--until`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from ensue.cli import main
from ensue.cli.interrupts import Interrupts
from ensue.progress import Progress

LINE = "{}\t<urn:{}> <urn:in> <urn:city> .\n"
QUERY = "REGISTER QUERY where AS SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 5s] WHERE { ?x <urn:in> ?y }"
NETWORK = "SELECT ?x WHERE { ?x <urn:in> ?y }"


@pytest.fixture
def job(tmp_path):
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "n.ru").write_text(NETWORK)
    (tmp_path / "s.tsv").write_text(
        LINE.format(1000, "a") + LINE.format(4000, "b") + LINE.format(12_000, "a")
    )
    return [str(tmp_path / "q.rq"), "--engine", "local", "--stream", f"urn:s={tmp_path / 's.tsv'}"]


def ensue(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "ensue", *words], capture_output=True, text=True, timeout=120, **options
    )


# -- when answers leave ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("tsv", ["?query\t?open\t?close\t?until\t?x", '"where"\t-5000\t5000\t15000\t<urn:a>']),
        ("csv", ["query,open,close,until,x", "where,-5000,5000,15000,urn:a"]),
        (
            "table",
            ["where (-5000, 5000]: 2 answers", "  ?x       until", "  -------  -----", "  <urn:a>  15000"],
        ),
    ],
)
def test_every_output_that_has_a_place_says_until_when_answers_hold(job, capsys, kind, expected):
    assert main(["run", *job, "--until", "--output", kind, "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[: len(expected)] == expected


def test_until_is_a_column_also_where_it_is_never_or_unknown(job, tmp_path, capsys):
    (tmp_path / "b.nt").write_text("<urn:c> <urn:in> <urn:city> .")
    count = "REGISTER QUERY count AS SELECT (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 20s] { ?x ?p ?y }"
    (tmp_path / "count.rq").write_text(count)
    words = [str(tmp_path / "count.rq"), *job, "--background", str(tmp_path / "b.nt"), "--until", "--quiet"]
    assert main(["run", *words, "--output", "tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {len(row) for row in rows} == {5}
    assert {row[3] for row in rows if row[0] == '"count"'} == {""}
    assert {row[3] for row in rows if row[4] == "<urn:c>"} == {'"forever"'}


@pytest.mark.parametrize("kind", ["nt", "trig"])
def test_outputs_without_a_place_for_until_are_refused(job, capsys, kind):
    assert main(["run", *job, "--until", "--output", kind]) == 2
    assert (
        f"{kind} has no place for when an answer will leave (hint: one of jsonl, table"
        in capsys.readouterr().err
    )
    network = [job[0].replace("q.rq", "n.ru"), *job[1:]]
    assert main(["run", *network, "--until"]) == 2
    assert "--until is for queries" in capsys.readouterr().err


# -- streams that are all dead ---------------------------------------------------------------------


@pytest.mark.parametrize("text", [QUERY, NETWORK], ids=["query", "network"])
def test_a_stream_of_which_nothing_can_be_read_is_an_error_of_the_input(tmp_path, capsys, text):
    path = tmp_path / ("q.rq" if text == QUERY else "n.ru")
    path.write_text(text)
    (tmp_path / "bad.tsv").write_text("nonsense\n" * 3)
    words = [str(path), "--engine", "local", "--stream", f"urn:s={tmp_path / 'bad.tsv'}", "--quiet"]
    assert main(["run", *words, "--dead-letters", str(tmp_path / "dead.jsonl")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("ensue: nothing of the stream <urn:s> could be read: 3 dead letters (hint: ")
    (tmp_path / "bad.tsv").write_text("nonsense\n" * 3 + LINE.format(1, "a"))
    assert main(["run", *words]) == 0
    (tmp_path / "bad.tsv").write_text("")
    assert main(["run", *words]) == 0


def test_one_dead_stream_among_others_is_named(job, tmp_path, capsys):
    (tmp_path / "two.rq").write_text(QUERY.replace("FROM", "FROM STREAM <urn:t> [RANGE 1s] FROM", 1))
    (tmp_path / "bad.tsv").write_text("nonsense\n")
    words = [str(tmp_path / "two.rq"), *job[1:], "--stream", f"urn:t={tmp_path / 'bad.tsv'}", "--quiet"]
    assert main(["run", *words]) == 1
    assert "the stream <urn:t> could be read: 1 dead letter (" in capsys.readouterr().err


# -- standard input and output ---------------------------------------------------------------------


def test_a_dash_is_standard_input_and_output(job, tmp_path):
    (tmp_path / "onto.nt").write_text("<urn:a> <urn:in> <urn:city> .\n")
    (tmp_path / "r.rules").write_text("[r: (?x <urn:in> ?y) -> (?y <urn:holds> ?x)]")
    reason, generate = (
        "reason --rules r.rules --derived-only -q -o -",
        "generate isin --trees 1 --depth 1 -o -",
    )
    closed = ensue(*reason.split(), "onto.nt", cwd=tmp_path)
    assert (closed.returncode, closed.stdout) == (0, "<urn:city> <urn:holds> <urn:a> .\n")
    made = ensue(*generate.split(), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert re.fullmatch(r"(\d+\t<\S+> <\S+> <\S+> \.\n)+", made.stdout)
    query = QUERY.replace("<urn:in>", "?p")
    (tmp_path / "q.rq").write_text(query)
    words = ["run", str(tmp_path / "q.rq"), "--engine", "local", "--quiet"]
    answered = ensue(*words, "--stream", "urn:s=-", "--output", "-", input=made.stdout, cwd=tmp_path)
    assert answered.returncode == 0, answered.stderr
    assert answered.stdout.startswith("where (")
    (tmp_path / "made.tsv").write_text(made.stdout)
    from_file = ensue(*words, "--stream", "urn:s=made.tsv", cwd=tmp_path)
    assert from_file.stdout == answered.stdout
    metrics = ensue(
        *words, "--stream", "urn:s=-", "--output", "out.jsonl", "--metrics", "-", input="", cwd=tmp_path
    )
    assert json.loads(metrics.stdout)["admitted"] == 0
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("name", ["q.rq", "n.ru"])
def test_standard_input_is_no_stream_for_spark(job, tmp_path, capsys, name):
    pytest.importorskip("pyspark")
    assert main(["run", str(tmp_path / name), "--stream", "urn:s=-"]) == 1
    assert "run it with --engine local" in capsys.readouterr().err


# -- Ctrl-C ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["q.rq", "n.ru"])
def test_metrics_are_written_on_ctrl_c(job, tmp_path, heeding_interrupts, name):
    """While a stream is waited for: what has come by then is counted."""
    words = [str(tmp_path / name), "--engine", "local", "--stream", "urn:s=-", "--output", "out.jsonl"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ensue", "run", *words, "--metrics", "metrics.json"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        **heeding_interrupts,
    )
    for second in range(20):
        process.stdin.write(LINE.format(1000 * second, f"a{second}").encode())
    process.stdin.flush()
    deadline = time.monotonic() + 60
    out = tmp_path / "out.jsonl"
    while not out.exists() or not out.stat().st_size:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.2)  # It waits for more by then; if not, it stops after this result all the same.
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    counted = json.loads((tmp_path / "metrics.json").read_text())
    assert counted["admitted"] == 20
    assert counted["answers"] > 0
    assert "wall_seconds" in counted


def test_the_first_ctrl_c_waits_for_a_result_and_the_second_does_not(capsys):
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts(Progress(sys.stderr)) as interrupts:
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                interrupts.check()
            with pytest.raises(KeyboardInterrupt), interrupts.waiting():
                pytest.fail("it has been asked to stop")
            assert not interrupts.at_once
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            assert interrupts.at_once
        with (
            Interrupts(Progress(sys.stderr)) as interrupts,
            pytest.raises(KeyboardInterrupt),
            interrupts.waiting(),
        ):
            signal.raise_signal(signal.SIGINT)
        assert not interrupts.at_once
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err.count("Ctrl-C again") == 1


def test_a_run_in_a_thread_leaves_ctrl_c_alone(job, capsys):
    codes = []
    thread = threading.Thread(
        target=lambda: codes.append(main(["run", *job, "--output", "jsonl", "--quiet"]))
    )
    thread.start()
    thread.join()
    assert codes == [0]
