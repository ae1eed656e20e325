"""`ensue run`, `check` and `explain` as somebody at a shell meets them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from marks import needs_full_device

from ensue.cli import main

IRI = "http://example.org/s"
QUERY = f"""\
REGISTER QUERY where AS
SELECT ?x ?y
FROM STREAM <{IRI}> [RANGE 10s STEP 5s]
WHERE {{ ?x <http://example.org/isIn> ?y }}
"""
LINE = "{}\t<http://example.org/{}> <http://example.org/isIn> <http://example.org/{}> .\n"


@pytest.fixture
def job(tmp_path):
    """A query and a stream: the words of a run."""
    (tmp_path / "q.rq").write_text(QUERY)
    lines = [(1000, "a", "b"), (4000, "b", "c"), (12_000, "c", "d")]
    (tmp_path / "s.tsv").write_text("".join(LINE.format(*line) for line in lines))
    return [str(tmp_path / "q.rq"), "--stream", f"{IRI}={tmp_path / 's.tsv'}"]


def closes(out):
    return [(line["close"], len(line["bindings"])) for line in map(json.loads, out.splitlines())]


EXPECTED = [(5000, 3), (10_000, 3), (15_000, 1), (20_000, 1)]


def test_run_writes_a_line_for_each_window(job, capsys):
    assert main(["run", "--engine", "local", *job, "--rules", "transitive-isin", "--output", "jsonl"]) == 0
    said = capsys.readouterr()
    assert closes(said.out) == EXPECTED
    assert "3 statements in" in said.err
    assert "4 evaluations, 8 answers" in said.err


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "table"])
def test_output_can_be_a_file_named_after_its_kind(job, tmp_path, capsys, kind):
    path = tmp_path / f"out.{kind}"
    assert main(["run", "--engine", "local", *job, "--output", str(path), "--quiet"]) == 0
    assert "http://example.org/a" in path.read_text()
    assert capsys.readouterr() == ("", "")


def test_an_output_that_nothing_can_write_is_a_usage_error(job, capsys):
    assert main(["run", "--engine", "local", *job, "--output", "answers.docx"]) == 2
    assert "unknown output 'answers.docx'" in capsys.readouterr().err
    assert main(["run", "--engine", "local", *job, "--output", "nt"]) == 2
    assert "is a SELECT" in capsys.readouterr().err


@needs_full_device
def test_a_full_disk_is_said_plainly(job, capsys):
    link = job[0].replace("q.rq", "out.jsonl")
    os.symlink("/dev/full", link)
    assert main(["run", "--engine", "local", *job, "--output", link]) == 1
    assert "cannot be written: No space left on device" in capsys.readouterr().err


def test_dead_letters_are_kept_and_the_run_goes_on(job, tmp_path, capsys):
    stream = tmp_path / "s.tsv"
    lines = stream.read_text().splitlines(keepends=True)
    stream.write_text("".join([lines[0], "what is this\n", *lines[1:]]))
    letters, metrics = tmp_path / "dead.jsonl", tmp_path / "metrics.json"
    words = ["--dead-letters", str(letters), "--metrics", str(metrics), "--output", "jsonl"]
    assert main(["run", "--engine", "local", *job, "--rules", "transitive-isin", *words]) == 0
    said = capsys.readouterr()
    assert closes(said.out) == EXPECTED
    assert "1 dead letters" in said.err
    [letter] = map(json.loads, letters.read_text().splitlines())
    assert (letter["line"], letter["text"]) == (2, "what is this")
    found = json.loads(metrics.read_text())
    assert (found["admitted"], found["dead_letters"], found["windows"], found["answers"]) == (3, 1, 4, 8)
    assert set(found["seconds"]) >= {"feed", "admit", "maintain", "evaluate"}


def test_dead_letters_without_a_file_are_shown(job, tmp_path, capsys):
    (tmp_path / "s.tsv").write_text("nonsense\n" * 9)
    assert main(["run", "--engine", "local", *job, "--output", "jsonl"]) == 1, "nothing could be read"
    said = capsys.readouterr()
    assert said.out == ""
    assert len(re.findall(r"dead letter: .*s\.tsv:\d+:\d+: ", said.err)) == 5
    assert "9 dead letters" in said.err


def test_answers_can_say_until_when_they_hold(job, capsys):
    assert main(["run", "--engine", "local", *job, "--until", "--output", "jsonl", "--quiet"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["until"] for line in lines] == [[15_000, 15_000], [15_000, 15_000], [25_000], [25_000]]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (["--stream", "urn:other=x.tsv"], 2, "no query reads the stream <urn:other>"),
        (["--stream", "nonsense"], 2, "write --stream IRI=PATH"),
        (["--stream", f"{IRI}=again.tsv"], 2, "twice"),
        (["--rules", "rdfs-jean"], 1, "did you mean 'rdfs-jena'"),
        (["--background", "no-such-file.ttl"], 1, "no-such-file.ttl"),
        (["--disorder", "-1"], 2, "must be 0 or more"),
        (["--nth", "0"], 2, "must be 1 or more"),
        (["--shards", "2"], 2, "--shards is for Spark"),
        (
            ["--output", "x.jsonl", "--dead-letters", "./x.jsonl"],
            2,
            "--output and --dead-letters name the same",
        ),
    ],
)
def test_what_is_wrong_with_a_command_line_is_said(job, capsys, change, code, message):
    assert main(["run", "--engine", "local", *job, *change]) == code
    assert message in capsys.readouterr().err


def test_a_stream_that_is_not_given_is_asked_for(job, capsys):
    assert main(["run", "--engine", "local", job[0]]) == 2
    assert f"add --stream {IRI}=PATH" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["no-such.rq", "folder.rq", "binary.rq"])
def test_a_query_file_that_cannot_be_read_is_named(tmp_path, capsys, name):
    (tmp_path / "folder.rq").mkdir()
    (tmp_path / "binary.rq").write_bytes(b"\xff\xfe\x00")
    assert main(["check", str(tmp_path / name)]) == 1
    assert name in capsys.readouterr().err


def test_check_looks_at_everything_and_runs_nothing(job, tmp_path, capsys):
    assert main(["check", *job, "--rules", "transitive-isin"]) == 0
    assert "3 statements" in capsys.readouterr().err
    (tmp_path / "s.tsv").write_text("nonsense\n")
    assert main(["check", *job]) == 1
    assert "s.tsv:1:" in capsys.readouterr().err


def test_check_says_what_stamps_look_like(job, tmp_path, capsys):
    stamps = (1700000000, 1700000500, 1700000400, "2023-11-14T22:13:20Z")
    (tmp_path / "s.tsv").write_text("".join(f"{stamp}\t<urn:a> <urn:p> <urn:b> .\n" for stamp in stamps))
    assert main(["check", *job]) == 0
    said = capsys.readouterr().err
    assert (
        "times 1700000000 to 1700000000000, largest gap 1698299999500 ms (53.8 years), disorder 100" in said
    )
    assert "seconds instead of milliseconds? 3 times are" in said
    assert "above --max-jump 86400000" in said


def test_a_long_stretch_and_a_stamp_far_ahead_are_told(job, tmp_path, capsys):
    stamps = (1000, 946684800000, 2000, 900_000_000_000, 900_000_000_001)
    (tmp_path / "s.tsv").write_text("".join(f"{stamp}\t<urn:a> <urn:p> <urn:b> .\n" for stamp in stamps))
    assert main(["run", "--engine", "local", "--output", "jsonl", *job]) == 0
    out, err = capsys.readouterr()
    [skipped] = [json.loads(line)["skipped"] for line in out.splitlines() if "skipped" in line]
    assert f"{skipped['count']:,} evaluations without a change are passed over" in err
    assert "dead letter: " in err
    assert "its time is far ahead of its stream's" in err
    assert "946684800000\t" not in out
    assert ", 1 dead letters" in err


def test_explain_says_who_answers_and_why(job, tmp_path, capsys):
    other = tmp_path / "path.rq"
    other.write_text(QUERY.replace("where", "reach").replace("/isIn>", "/isIn>+").replace("10s", "60s"))
    assert main(["explain", str(other), *job, "--rules", "transitive-isin"]) == 0
    said = capsys.readouterr().out
    assert "evaluator: compiled (all of it can be compiled)" in said
    assert "evaluator: oxigraph (not compiled: " in said
    assert "read by: reach, where" in said
    assert main(["explain", *job, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scopes"][0]["strategy"] == "rewrite"


def test_explain_says_why_a_window_is_closed_from_scratch(tmp_path, capsys):
    query = tmp_path / "q.rq"
    streams = "FROM STREAM <urn:a> [RANGE 10s STEP 5s] FROM STREAM <urn:b> [RANGE 10s STEP 3s]"
    query.write_text(f"SELECT ?x {streams} {{ ?x ?p ?y }}")
    assert main(["explain", str(query)]) == 0
    assert "closed from scratch by recompute: windows that do not move together" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_ctrl_c_keeps_what_was_written(job, tmp_path, heeding_interrupts):
    os.mkfifo(tmp_path / "live.tsv")
    words = [job[0], "--stream", f"{IRI}={tmp_path / 'live.tsv'}", "--output", str(tmp_path / "out.jsonl")]
    process = subprocess.Popen(
        [sys.executable, "-m", "ensue", "run", "--engine", "local", *words],
        stderr=subprocess.PIPE,
        **heeding_interrupts,
    )
    with open(tmp_path / "live.tsv", "w") as stream:
        for second in range(40_000):  # More than is read at once.
            stream.write(LINE.format(1000 * second, f"a{second}", "b"))
        stream.flush()
        deadline = time.monotonic() + 60
        while not (tmp_path / "out.jsonl").exists() or not (tmp_path / "out.jsonl").stat().st_size:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"stopped" in said
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["close"] == 0
