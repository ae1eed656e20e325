"""`ensue why` as somebody at a shell meets it."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from ensue.cli import main

IRI = "http://example.org/s"
QUERY = f"""\
REGISTER QUERY where AS SELECT ?x ?y FROM STREAM <{IRI}> [RANGE 10s STEP 5s]
WHERE {{ ?x <http://example.org/isIn> ?y }}
"""
LINE = "{}\t<http://example.org/{}> <http://example.org/isIn> <http://example.org/{}> .\n"
FACT = "<http://example.org/a> <http://example.org/isIn> <http://example.org/c> ."
ANSWER = ["--answer", "x=<http://example.org/a>", "--answer", "y=<http://example.org/c>"]


@pytest.fixture
def job(tmp_path):
    (tmp_path / "q.rq").write_text(QUERY)
    lines = [(1000, "a", "b"), (4000, "b", "c"), (12_000, "c", "d")]
    (tmp_path / "s.tsv").write_text("".join(LINE.format(*line) for line in lines))
    return [
        str(tmp_path / "q.rq"),
        "--stream",
        f"{IRI}={tmp_path / 's.tsv'}",
        "--rules",
        "transitive-isin",
        "-q",
    ]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.nt").write_text("".join(LINE.format("", *pair).lstrip() for pair in ("ab", "bc")))
    return [str(tmp_path / "a.nt"), "--rules", "transitive-isin"]


def test_a_fact_of_files(files, capsys):
    assert main(["why", FACT, *files]) == 0
    said = capsys.readouterr().out
    assert "holds always" in said
    assert said.count("background") == 2
    assert "by R" in said


def test_a_fact_that_does_not_hold(files, capsys):
    assert main(["why", FACT.replace("/c>", "/z>"), *files]) == 1
    assert "does not hold (hint: near it: <http://example.org/a>" in capsys.readouterr().err


def test_no_fact(files, capsys):
    assert main(["why", "gibberish", *files]) == 2
    assert "is no fact" in capsys.readouterr().err


def test_a_fact_in_a_window(job, capsys):
    assert main(["why", FACT, *job, "--at", "10000"]) == 0
    said = capsys.readouterr().out
    assert "the window (0, 10000] of query where" in said
    assert "holds until 15000 if nothing more arrives" in said
    assert f"<{IRI}> at 1000" in said


def test_a_fact_that_does_not_hold_in_the_last_window(job, capsys):
    assert main(["why", FACT, *job]) == 1
    assert "--at MS" in capsys.readouterr().err


def test_an_answer_is_found_in_the_last_window_that_has_it(job, capsys):
    assert main(["why", *ANSWER, *job, "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["window"], said["until"], said["stamp"]) == ([0, 10000], 15000, 1000)
    assert [step["time"] for step in said["steps"] if "source" in step] == [1000, 4000]


def test_an_answer_that_left(job, capsys):
    assert main(["why", *ANSWER, "--left", *job]) == 0
    said = capsys.readouterr().out
    assert said.count("expired") == 2
    assert "held until 15000" in said


def test_an_answer_that_never_was(job, capsys):
    assert main(["why", "--answer", "x=<urn:nobody>", *job]) == 1
    assert "nothing with x=<urn:nobody> is an answer in any window" in capsys.readouterr().err
    assert main(["why", "--answer", "z=<urn:nobody>", *job]) == 2
    assert "variables: x, y" in capsys.readouterr().err


def test_pictures(files, tmp_path, capsys):
    assert main(["why", FACT, *files, "--format", "svg", "-o", str(tmp_path / "why.svg")]) == 0
    picture = ElementTree.parse(tmp_path / "why.svg").getroot()
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}rect"))) == 3
    assert main(["why", FACT, *files, "--format", "dot"]) == 0
    assert capsys.readouterr().out.count("->") == 2
