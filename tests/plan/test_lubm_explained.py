"""What `ensue explain` says of LUBM's queries under many rules, line by line.

The files in tests/plan/lubm are what it should say. ENSUE_WRITE_GOLDEN=1 writes them anew: then read the
difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ensue.cli.main import main
from ensue.terms import OWL, RDF, RDFS

FOLDER = Path(__file__).parent / "lubm"
SHORT = {
    "http://swat.cse.lehigh.edu/onto/univ-bench.owl#": "ub:",
    RDF: "rdf:",
    RDFS: "rdfs:",
    OWL: "owl:",
}


def queries(shared_data):
    """The queries as continuous ones, by number."""
    text = (shared_data / "lubm/config.query.sparql").read_text()
    parts = re.findall(r"^\[query(\d+)\]\n(.*?)(?=^\[query|\Z)", text, re.S | re.M)
    for number, body in parts:
        lines = (line for line in body.splitlines() if not line.startswith("#"))
        window = "FROM STREAM <urn:lubm> [RANGE 10s STEP 5s] WHERE"
        yield int(number), re.sub(r"\bWHERE\b", window, "\n".join(lines), count=1)


@pytest.mark.parametrize("number", range(1, 15))
def test_the_plan_of_a_query(number, shared_data, tmp_path, capsys):
    query = tmp_path / f"q{number}.rq"
    query.write_text(dict(queries(shared_data))[number])
    words = ["explain", str(query), "--rules", str(FOLDER / "owl.rules"), "--fixed-schema"]
    words += ["--background", str(shared_data / "lubm/univ-bench.nt"), "--stream", "urn:lubm=x.tsv"]
    assert main(words) == 0
    found = capsys.readouterr().out
    for long, short in SHORT.items():
        found = re.sub(rf"<{re.escape(long)}(\w+)>", rf"{short}\1", found)
    golden = FOLDER / f"q{number}.txt"
    if os.environ.get("ENSUE_WRITE_GOLDEN"):
        golden.write_text(found)
    assert found == golden.read_text()
