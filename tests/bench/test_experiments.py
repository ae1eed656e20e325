"""Tiny runs of each experiment: their shape, not their speed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ensue.bench import coror, coror_all, imars, kernel, memory
from ensue.bench.coror import Trial, largest_within
from ensue.bench.feed import Digest, DisagreementError
from ensue.bench.hierarchy import Hierarchy, links
from ensue.bench.ontology import SUB_CLASS
from ensue.dictionary import Dictionary
from ensue.errors import InputError, UsageError
from ensue.maintain import STRATEGIES
from ensue.rules.load import load_rules

ISIN = load_rules("transitive-isin")
pytestmark = pytest.mark.usefixtures("stand_ins")


def tiny_imars(**changes):
    return imars.Options(
        **{"window": 20, "background": 20, "depth": 3, "steps": 2, "shares": (10.0, 100.0)} | changes
    )


def test_imars_measures_every_strategy_at_every_share():
    medians, _, changes, ratios = imars.measure(tiny_imars(), ISIN).tables
    assert [row["change %"] for row in medians.rows] == [10.0, 100.0]
    assert {*imars.WANTED, imars.PASS_THROUGH} == medians.rows[0].keys() - {"change %"}
    assert changes.rows[1]["P+"] >= 20
    assert changes.rows[1]["facts"] >= 20
    assert ratios.rows[0].keys() == {"change %", "recompute", "dred", "rete", imars.KEEP_ALL}


def test_imars_names_crossovers():
    notes = imars.measure(tiny_imars(strategies=("recompute", "rete")), ISIN).notes
    assert len(notes) == 1
    assert "overtakes rete" in notes[0]


def test_imars_leaves_the_variant_out_where_there_is_none(monkeypatch, capsys):
    monkeypatch.delitem(STRATEGIES, imars.KEEP_ALL)
    medians = imars.measure(tiny_imars(), ISIN).tables[0]
    assert imars.KEEP_ALL not in medians.rows[0]
    assert "left out" in capsys.readouterr().err


def test_imars_finds_a_wrong_maintainer():
    with pytest.raises(DisagreementError):
        imars.measure(tiny_imars(strategies=("rete", "forgetful")), ISIN)


@pytest.mark.parametrize("shares", [(0.0,), (101.0,)])
def test_imars_refuses_shares_that_are_none(shares):
    with pytest.raises(UsageError):
        imars.measure(tiny_imars(shares=shares), ISIN)


def test_kernel_counts_what_it_did():
    options = kernel.Options(strategy="rete", statements=50, trees=1, scale=50, step=20, steps=1, repeats=1)
    rates, scaling = kernel.measure(options, ISIN).tables
    assert [row["workload"] for row in rates.rows] == [
        "hierarchy",
        "pass-through",
        "transitive",
        "pass-through",
    ]
    assert rates.rows[0]["new facts"] > 10 * 50
    assert rates.rows[1]["new facts"] == 50
    assert rates.rows[2]["new facts"] == 3586
    assert [(row["grows"], row["size"]) for row in scaling.rows[:2]] == [("window", 50), ("window", 500)]
    assert "ms x" in scaling.rows[1]


def test_the_steps_that_scaling_compares_are_the_same():
    options = kernel.Options(scale=500, step=100, steps=2)
    for _, at, _ in kernel.scaling_cases(options, ISIN):
        small, large = at(500), at(5000)
        last = [
            [tuple(map(w.dictionary.decode, row)) for row in w.statements[-300:].tolist()]
            for w in (small, large)
        ]
        assert last[0] == last[1]
        assert len(large.statements) + len(large.background) > len(small.statements) + len(small.background)


def test_links_are_distinct_and_speak_of_what_is_shared():
    hierarchy, dictionary = Hierarchy(), Dictionary()
    known = links(hierarchy, 50, dictionary, prefix="known")
    rows = links(hierarchy, 200, dictionary, shared=known)
    assert len({tuple(row) for row in rows.tolist()}) == 200
    assert set(rows[::10, 2]) <= set(known[:, 0])


@pytest.fixture
def options(data):
    tiny = coror.Options(
        data=data, rules=load_rules("pdsv"), strategies=("rete",), ontologies=("koala", "isin")
    )
    return replace(
        tiny,
        total=20,
        rate=2,
        iterations=1,
        most=8,
        shares=(50, 100),
        windows=(1, 2),
        throughput=("teams",),
        memory=25,
        added=(0, 5),
        kept=(0.0, 1.0),
    )


def test_coror_throughput_is_checked_against_recompute(options):
    (row,) = coror.throughput(options).tables[0].rows
    assert (row["ontology"], row["strategy"], row["statements"]) == ("teams", "rete", 8)
    assert row["derived"] == row["closure"] - 8 > 0
    assert row["P-"] > 0
    assert row["equal to recompute"] is True


def test_coror_throughput_finds_a_wrong_maintainer(options):
    with pytest.raises(DisagreementError):
        coror.throughput(replace(options, strategies=("forgetful",)))


@pytest.mark.parametrize(
    ("name", "column", "values"),
    [
        ("share", "timed %", [50, 100]),
        ("windows", "window (steps)", [1, 2]),
        ("ontologies", "ontology", ["koala", "isin"]),
    ],
)
def test_coror_measures_every_point(options, name, column, values):
    table = coror_all.experiment(options, name).measure().tables[0]
    assert [row[column] for row in table.rows] == values
    assert all({"rete ms", "recompute ms", "recompute/rete"} <= row.keys() for row in table.rows)


def test_coror_grows_and_shrinks_the_ontology(options):
    grown, shrunk = coror.size(options).tables
    assert [row["triples"] for row in grown.rows] == sorted({row["triples"] for row in grown.rows})
    assert [row["triples"] for row in shrunk.rows] == sorted({row["triples"] for row in shrunk.rows})
    assert shrunk.rows[0]["facts"] < shrunk.rows[-1]["facts"]


def test_axioms_are_kept_by_share(zoo):
    axioms = [len(coror.keep_axioms(zoo, share)) for share in (0.0, 0.5, 1.0)]
    assert axioms[2] == len(zoo)
    assert axioms[1] - axioms[0] == axioms[2] - axioms[1] == 9
    assert not any(p == SUB_CLASS for _, p, _ in coror.keep_axioms(zoo, 0.0))


def test_coror_watches_memory_in_processes_of_their_own(options):
    table = memory.memory(options).tables[0]
    assert [row["process"] for row in table.rows] == ["rete", *memory.DEVICES]
    assert all(row["MB at most"] >= row["MB at the end"] for row in table.rows)


def test_absent_ontologies_are_named_with_a_hint(options):
    with pytest.raises(InputError, match=r"univ-bench\.nt.*--data"):
        coror.windows(replace(options, data=Path("/nonexistent")))


def test_the_largest_step_is_found_from_above_and_capped():
    def run(n):
        return Trial(n, ((0.0, n / 100),), (Digest(0, 0),) * 3)

    assert 90 <= largest_within(run, start=1000, most=5000).n <= 100
    assert largest_within(run, start=10, most=50).n == 50
