"""What `ensue explain` says of LUBM's queries under many rules, line by line.

The files in tests/plan/lubm are what it should say. ENSUE_WRITE_GOLDEN=1 writes them anew: then read the
difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from ensue.bench.lubm.queries import NUMBERS, STREAM, continuous_query, ontology_file
from ensue.bench.lubm.rdf import VOCABULARY
from ensue.cli.main import main
from ensue.terms import OWL, RDF, RDFS

FOLDER = Path(__file__).parent / "lubm"
SHORT = {
    VOCABULARY: "ub:",
    RDF: "rdf:",
    RDFS: "rdfs:",
    OWL: "owl:",
}


@pytest.mark.parametrize("number", NUMBERS)
def test_the_plan_of_a_query(number, tmp_path, capsys):
    query = tmp_path / f"q{number}.rq"
    query.write_text(continuous_query(number, "RANGE 10s STEP 5s", by_department=False))
    words = ["explain", str(query), "--rules", str(FOLDER / "owl.rules"), "--fixed-schema"]
    words += ["--background", str(ontology_file()), "--stream", f"{STREAM}=x.tsv"]
    assert main(words) == 0
    found = capsys.readouterr().out
    for long, short in SHORT.items():
        found = re.sub(rf"<{re.escape(long)}(\w+)>", rf"{short}\1", found)
    golden = FOLDER / f"q{number}.txt"
    if os.environ.get("ENSUE_WRITE_GOLDEN"):
        golden.write_text(found)
    assert found == golden.read_text()
