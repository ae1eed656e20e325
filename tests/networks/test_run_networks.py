"""`ensue run NETWORK.ru`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ensue.cli.main import main

DOCS = Path(__file__).parents[2] / "docs" / "networks.md"

RULES = """PREFIX : <urn:>
# rule: reach
INSERT { ?x :reaches ?z } WHERE { ?x :reaches ?y . ?y :next ?z } ;
# rule: step
INSERT { ?x :reaches ?y } WHERE { ?x :next ?y } ;
# rule: far
SELECT ?x ?y WHERE { ?x :reaches ?y FILTER NOT EXISTS { ?x :next ?y } }
"""


@pytest.fixture
def job(tmp_path):
    network, stream = tmp_path / "reach.ru", tmp_path / "s.tsv"
    network.write_text(RULES)
    stream.write_text("1\t<urn:b> <urn:next> <urn:c> .\n5\t<urn:a> <urn:next> <urn:b> .\n")
    return [str(network), "--stream", f"urn:s={stream}", "--engine", "local"]


def test_rows_are_given_as_they_become_true(job, capsys):
    assert main(["run", *job, "--output", "jsonl"]) == 0
    said = capsys.readouterr()
    (line,) = map(json.loads, said.out.splitlines())
    assert (line["query"], line["open"], line["close"]) == ("far", 5, 5)
    assert [{name: term["value"] for name, term in row.items()} for row in line["bindings"]] == [
        {"x": "urn:a", "y": "urn:c"}
    ]
    assert "2 statements" in said.err
    assert "5 statements held" in said.err


def test_what_is_held_and_what_was_counted_go_to_files(job, tmp_path):
    held, counted = tmp_path / "held.nq", tmp_path / "counted.json"
    assert main(["run", *job, "--output", "tsv", "--dataset", str(held), "--metrics", str(counted)]) == 0
    assert "<urn:a> <urn:reaches> <urn:c> ." in held.read_text().splitlines()
    found = json.loads(counted.read_text())
    assert (found["admitted"], found["elements"], found["firings"], found["quads"]) == (2, 2, 4, 5)


def test_background_comes_first(job, tmp_path, capsys):
    background = tmp_path / "b.ttl"
    background.write_text("<urn:c> <urn:next> <urn:d> .")
    assert main(["run", *job, "--background", str(background), "--output", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "query,open,close,x,y",
        "far,1,1,urn:b,urn:d",
        "far,5,5,urn:a,urn:c",
        "far,5,5,urn:a,urn:d",
    ]


def test_a_network_that_does_not_settle_is_the_inputs_fault(job, tmp_path, capsys):
    network = tmp_path / "loop.ru"
    network.write_text("# rule: more\nINSERT { [] <urn:next> ?x } WHERE { ?x <urn:next> ?y }")
    assert main(["run", str(network), *job[1:], "--max-rounds", "20"]) == 1
    said = capsys.readouterr().err
    assert "loop.ru:2:1: the network does not settle: after 20 rounds for the element of time 1" in said
    assert "in a circle, more -> more; the last solutions were more: ?x = _:network-" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--shards", "2"], "--shards is for Spark"),
        (["--engine", "spark", "--expand"], "--expand is for queries"),
        (["--rules", "rdfs-jena"], "--rules is for queries"),
        (["--max-firings", "0"], "a limit of 0 firings"),
    ],
)
def test_what_a_network_has_no_use_for_is_refused(job, words, says, capsys):
    assert main(["run", *job, *words]) == 2
    assert says in capsys.readouterr().err


def test_queries_and_networks_do_not_mix(job, tmp_path, capsys):
    query = tmp_path / "q.rq"
    query.write_text("SELECT ?x WHERE { ?x ?p ?y }")
    assert main(["run", str(query), *job]) == 2
    assert "q.rq is no rule network" in capsys.readouterr().err
    assert main(["run", str(query), *job[1:], "--dataset", "x.nq"]) == 2
    assert "--dataset is for rule networks" in capsys.readouterr().err


def test_the_example_of_the_documentation(tmp_path, capsys):
    network, stream = tmp_path / "cars.ru", tmp_path / "cars.tsv"
    network.write_text(re.search("```sparql\n(.*?)```", DOCS.read_text(), re.DOTALL).group(1))
    reports = ["home", "work", "work", "home", "home", "shop"]
    stream.write_text(
        "".join(
            f"{at}\t<http://example.org/vw> <http://example.org/reports> <http://example.org/{place}> .\n"
            for at, place in enumerate(reports, start=1)
        )
    )
    held = tmp_path / "held.nq"
    words = ["--engine", "local", "--output", "csv", "--dataset", str(held)]
    assert main(["run", str(network), "--stream", f"http://example.org/cars={stream}", *words]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines == [f"arrived,{at},{at},http://example.org/vw" for at in (1, 4)]
    (line,) = held.read_text().splitlines()
    assert line.endswith("<http://example.org/at> <http://example.org/shop> <http://example.org/known> .")


def test_check_reads_a_network_and_runs_nothing(job, tmp_path, capsys):
    assert main(["check", *job[:3]]) == 0
    said = capsys.readouterr()
    stream = "stream <urn:s>: 2 statements, times 1 to 5, largest gap 4 ms, disorder 0 ms\n"
    assert (said.out, said.err) == ("", f"network reach: 3 rules\n{stream}")
    (tmp_path / "reach.ru").write_text(RULES.replace("?y :next ?z }", "?y :next }"))
    assert main(["check", *job[:3]]) == 1
    assert "reach.ru:3:52: this is not SPARQL, from '?y' on" in capsys.readouterr().err


def test_explain_says_what_sets_off_whom(job, capsys):
    assert main(["explain", job[0]]) == 0
    lines = capsys.readouterr().out.splitlines()
    far = next(at for at, line in enumerate(lines) if line.startswith("rule far"))
    assert lines[far + 1 :] == [
        "  when ?x <urn:reaches> ?y comes",
        "    NOT EXISTS { ?x <urn:next> ?y }",
        "  when ?x <urn:next> ?y goes",
        "    NOT EXISTS { ?x <urn:next> ?y }",
        "    ?x <urn:reaches> ?y",
    ]
    assert "  may set off: reach, far" in lines
    assert main(["explain", job[0], "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [rule["may set off"] for rule in plan["rules"]] == [["reach", "far"], ["reach", "far"], []]
