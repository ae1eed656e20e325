"""CityBench: the suite of the benchmark where it is there, and how it judges on a small one of our own."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from ensue.cli import main
from ensue.conformance import citybench
from ensue.conformance.citybench import LOCAL, beside_oxigraph, in_process
from ensue.conformance.windows import Windows
from ensue.errors import InputError

SAMPLE = ("Q1", "Q1_5_win_1", "Q4", "Q12", "traffic_parking_1")
"""Queries that are tried in every run: groups beside patterns, a cross product, GROUP BY, two paces."""

CITY = "https://example.org/city"
QUERY = f"""
# Of each reading the sensor, its street and a node of which nothing is known but the lamp.
select ?r ?street ?lamp ?v
 from stream <{CITY}#Fast> [range 3s step 1s]
 FROM STREAM <{CITY}#Slow> [RANGE 4000ms STEP 2000ms]
 FROM <{CITY}/Streets.rdf>
where {{ {{ ?r <urn:by> ?s . ?r <urn:value> ?v }} {{ ?s <urn:in> ?street . ?street <urn:has> ?lamp }}
Filter(?v > 1) }}
"""
STREETS = """
<urn:s0> <urn:in> <urn:a> . <urn:s1> <urn:in> <urn:b> .
<urn:a> <urn:has> [ <urn:is> 1 ] , [ <urn:is> 2 ] . <urn:b> <urn:has> [ <urn:is> 3 ] .
"""
INT = "http://www.w3.org/2001/XMLSchema#int"


@pytest.fixture
def suite(tmp_path):
    """A folder as CityBench is laid out, with one query over two streams."""
    for folder in ("queries", "streams", "background"):
        (tmp_path / folder).mkdir()
    (tmp_path / "queries" / "Q.txt").write_text(QUERY)
    with gzip.open(tmp_path / "background" / "Streets.n3.gz", "wt") as file:
        file.write(STREETS)
    for name, step in (("Fast", 700), ("Slow", 1900)):
        with gzip.open(tmp_path / "streams" / f"{name}.tsv.gz", "wt") as file:
            for number in range(12):
                reading, time = f"<urn:{name}{number}>", 5000 + step * number
                file.write(f"{time}\t{reading} <urn:by> <urn:s{number % 2}> .\n")
                file.write(f'{time}\t{reading} <urn:value> "0{number % 5}"^^<{INT}> .\n')
    return tmp_path


def test_every_window_is_held_against_oxigraph(suite):
    [case] = citybench.read(suite)
    [found] = beside_oxigraph(case, {LOCAL: in_process}, repeat=1)
    assert found.why == ""
    assert (found.windows, found.rows) == (len(in_process(case).results), 63)
    assert min(found.asking, found.loading, found.run.seconds, found.run.loading) > 0


def test_a_window_holds_what_its_bounds_say(suite):
    [case] = citybench.read(suite)
    closes = [moment.close for moment in Windows(QUERY, case.streams, case.graphs).moments()]
    assert closes[:3] == [5000, 6000, 7000]  # A statement at 5000 is in the window (2000, 5000].
    assert closes[-1] == 29000  # Until 30000 the slow stream's latest window is (24000, 28000].


@pytest.mark.parametrize("change", ["a row too many", "another value", "another lamp", "no last window"])
def test_what_differs_is_found(suite, change):
    def wrong(case):
        run = in_process(case)
        results = list(run.results)
        at = next(at for at, each in enumerate(results) if len(each.answers.rows) > 1)
        rows = list(results[at].answers.rows)
        r, street, lamp, value = rows[0]
        rows = {
            "a row too many": [*rows, rows[0]],
            "another value": [(r, street, lamp, f'"99"^^<{INT}>'), *rows[1:]],
            "another lamp": [(r, street, next(row[2] for row in rows if row[2] != lamp), value), *rows[1:]],
            "no last window": rows,
        }[change]
        results[at] = replace(results[at], answers=replace(results[at].answers, rows=rows))
        return replace(run, results=results[:-1] if change == "no last window" else results)

    [case] = citybench.read(suite)
    [found] = beside_oxigraph(case, {LOCAL: wrong}, repeat=1)
    assert ("one side only" if change == "no last window" else "has other answers") in found.why


def test_the_command(suite, tmp_path, capsys):
    assert main(["conformance", "citybench", str(suite), "-q", "--json", str(tmp_path / "r.json")]) == 0
    assert "1 of 1 queries equal to oxigraph in every window" in capsys.readouterr().out
    [test] = json.loads((tmp_path / "r.json").read_text())["tests"]
    assert test["name"] == "Q (local)"
    assert test["details"]["rows"] == 63
    assert test["details"]["oxigraph"]["asking"] > 0


def test_a_folder_without_queries(tmp_path):
    with pytest.raises(InputError, match="no query of CityBench"):
        citybench.read(tmp_path)


def judged(shared_data, *, sample):
    path = shared_data / "citybench"
    if not path.is_dir():
        pytest.skip("there is no citybench in the third-party material")
    cases = [case for case in citybench.read(path) if (case.name in SAMPLE) == sample]
    found = [one for case in cases for one in beside_oxigraph(case, {LOCAL: in_process}, repeat=1)]
    assert [(one.case, one.why) for one in found if one.why] == []
    return {one.case: one.rows for one in found}


def test_some_of_citybench(shared_data):
    rows = judged(shared_data, sample=True)
    assert (len(rows), rows["Q1_5_win_1"]) == (5, 474)


@pytest.mark.long
def test_the_rest_of_citybench(shared_data):
    rows = judged(shared_data, sample=False)
    assert (len(rows), rows["Q2"]) == (14, 511_056)
