"""`check`: what is kept up to date is held against what is closed from scratch."""

from __future__ import annotations

import os
from functools import partial

import pytest
from query.equivalence.cases import make_case
from query.equivalence.replay import EVALUATORS, bag, render, run

from ensue import Reasoner
from ensue.cli.main import main
from ensue.errors import UsageError
from ensue.maintain.expiration import Expiration
from ensue.query.check import CheckError

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = 40
MAINTAINED = ("recompute", "dred", "expiration", "rete", "hybrid")
QUERY = """REGISTER QUERY far AS SELECT ?x ?y FROM STREAM <urn:s> [RANGE 10s STEP 5s]
    WHERE { ?x <http://example.org/isIn> ?y }"""
ROWS = [(1000 * k, f"<urn:{k}>", "<http://example.org/isIn>", f"<urn:{k + 1}>") for k in range(1, 20)]


def reasoner(query=QUERY, **options):
    made = Reasoner("transitive-isin", **options)
    made.register(query)
    made.push("urn:s", ROWS)
    return made


@pytest.fixture
def wrong(monkeypatch):
    """The engine forgets an answer of each window."""
    right = Expiration.solutions

    def solutions(maintainer, *args, **named):
        found = right(maintainer, *args, **named)
        columns = {name: column[1:] for name, column in found.columns.items()}
        return type(found)(columns, found.stamps[1:])

    monkeypatch.setattr(Expiration, "solutions", solutions)


def test_random_cases_pass_their_checks():
    for seed in range(SEED + 50_000, SEED + 50_000 + CASES):
        case, strategy = make_case(seed), MAINTAINED[seed % len(MAINTAINED)]
        ran = partial(run, case, strategy, EVALUATORS[seed % 5 == 0])
        plain, checked = ran().results, ran(check=1 + seed % 2).results
        assert list(map(bag, plain)) == list(map(bag, checked)), f"case {seed}\n{render(case)}"


def test_a_difference_stops_it(wrong):
    with pytest.raises(CheckError, match=r"query far, window \(-5000, 5000\]: 1 of 15 answers are missing"):
        list(reasoner(check=1).end())


def test_of_a_limit_the_number_counts(wrong):
    assert len(list(reasoner(QUERY + " LIMIT 2", check=1).end())) > 1
    with pytest.raises(CheckError, match="there are 14 answers, not 15"):
        list(reasoner(QUERY + " LIMIT 20", check=1).end())


def test_every_nth_only(wrong):
    results = reasoner(check=3).end()
    assert [next(results).close, next(results).close] == [5000, 10000]
    with pytest.raises(CheckError, match="15000"):
        next(results)


def test_the_number_must_be_one():
    with pytest.raises(UsageError, match="every Nth window"):
        Reasoner(check=0)


def test_from_the_command_line(wrong, tmp_path, capsys):
    (tmp_path / "far.rq").write_text(QUERY)
    (tmp_path / "s.tsv").write_text("".join(f"{time}\t{s} {p} {o} .\n" for time, s, p, o in ROWS))
    words = ["run", str(tmp_path / "far.rq"), "--rules", "transitive-isin", "--engine", "local"]
    words += ["--stream", f"urn:s={tmp_path / 's.tsv'}", "--check", "1"]
    assert main(words) == 1
    assert "1 of 15 answers are missing" in capsys.readouterr().err
