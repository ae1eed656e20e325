"""Every answer of the fourteen LUBM queries has a proof that replays.

One department under many rules; the whole university under the complete owl2rl is for `make soak`.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from ensue import Reasoner
from ensue.bench.lubm.files import timed
from ensue.bench.lubm.queries import NUMBERS, STREAM, continuous_query, ontology_file
from ensue.bench.lubm.university import departments
from ensue.model import FOREVER
from ensue.proof.proof import BACKGROUND
from ensue.proof.replay import replay
from ensue.rules.load import load_rules

RULES = Path(__file__).parent.parent / "plan" / "lubm" / "owl.rules"


def test_a_department(capsys):
    told = check(load_rules(RULES), count=1, every=4)
    with capsys.disabled():
        print(f"\nLUBM, one department: {dict(told)}")
    assert told["answers"] > 500
    assert told["derived"] > 500


@pytest.mark.long
def test_the_university_under_owl2rl(capsys):
    told = check(load_rules("owl2rl"), count=15, every=int(os.environ.get("ENSUE_PROOF_EVERY", "1")))
    with capsys.disabled():
        print(f"\nLUBM(1,0) under owl2rl: {dict(told)}")
    assert told["answers"] == 22_778


def check(rules, count, every):
    """Explain every so manieth answer, and replay what is said."""
    statements = list(timed(list(departments(0))[:count]))
    stated = {(s, p, o): time for time, s, p, o, _ in statements}
    reasoner = Reasoner(rules, [str(ontology_file())], explain=True, prune=False)
    for number in NUMBERS:
        reasoner.register(continuous_query(number, "RANGE 100s STEP 100s", by_department=False))
    reasoner.feed(STREAM, statements)

    def says(leaf):
        expected = (FOREVER, BACKGROUND) if leaf.stamp == FOREVER else (stated.get(leaf.fact), STREAM)
        return (leaf.stamp, leaf.source) == expected

    told = Counter()
    for result in reasoner.advance(to=100_000):
        for row in list(result.answers.rows)[::every]:
            why = reasoner.explain_answer(result, row)
            told["answers"] += 1
            assert why.smallest
            assert why.until == 200_000
            for proof in why.proofs:
                told["derived" if proof.rule else "stated"] += 1
                replay(proof, rules, says)
    return told
