"""LUBM under the complete OWL 2 RL: the reference answers row by row, by everybody who takes the rules."""

from __future__ import annotations

import pytest
from lubm_answers import plain, reference

from ensue.bench.lubm import growing, regimes
from ensue.bench.lubm.experiment import Options, experiment
from ensue.bench.lubm.lanes import Local, run_local
from ensue.bench.lubm.queries import NUMBERS, STREAM, continuous_query
from ensue.bench.lubm.workload import (
    MINIMAL,
    by_department,
    complete_rules,
    job,
    minimal_rules,
    ontology,
    tumbling,
)
from ensue.errors import StrategyError, UsageError
from ensue.reasoner import Reasoner
from ensue.rules.tree import RuleSet


@pytest.fixture(scope="module")
def university():
    return by_department(1)


@pytest.fixture(scope="module")
def wanted(shared_data):
    found = reference(shared_data / "lubm" / "answers")
    counts = [bag.total() for bag in found.values()]
    assert counts == [4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916]
    return found


def answers(university, rules, window, numbers=NUMBERS, **how):
    return plain(run_local(job(rules, tumbling(window), numbers, **how), university).bags)


@pytest.mark.parametrize(
    ("strategy", "apart"),
    [
        ("expiration", True),
        ("expiration", False),
        pytest.param("recompute", True, marks=pytest.mark.long),
        pytest.param("recompute", False, marks=pytest.mark.long),
        pytest.param("hybrid", True, marks=pytest.mark.long),
        pytest.param("hybrid", False, marks=pytest.mark.long),
        pytest.param("dred", False, marks=pytest.mark.long),
        pytest.param("rete", False, marks=pytest.mark.long),
    ],
)
def test_one_window_has_the_reference_answers(university, wanted, strategy, apart):
    found = answers(university, complete_rules(), len(university), by_department=apart, strategy=strategy)
    assert found == wanted


@pytest.mark.long
def test_rules_that_join_are_not_folded_into_queries(university):
    with pytest.raises(StrategyError):
        answers(university[:1], complete_rules(), 1, [6], strategy="rewrite")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_handful_of_rules_suffices_and_no_answer_is_lost_in_windows_of_some_departments(
    university, wanted, number
):
    [found] = answers(university, minimal_rules(number), 4, [number]).values()
    assert found == wanted[f"q{number}"]


def test_eight_rules_suffice_for_all():
    for number, names in MINIMAL.items():
        assert {rule.name for rule in minimal_rules(number).rules} == set(names)
    assert len({name for names in MINIMAL.values() for name in names}) == 8


def test_few_of_them_can_be_left_out(university):
    def answered(number, names):
        rules = RuleSet("some", tuple(rule for rule in complete_rules().rules if rule.name in names))
        return answers(university[:1], rules, 1, [number])

    idle = {
        (number, name)
        for number, names in MINIMAL.items()
        for name in names
        if answered(number, set(names) - {name}) == answered(number, names)
    }
    # People have addresses, which only people have.
    assert idle == {(5, "cax-sco"), (12, "cax-sco")}


def test_the_ontology_is_the_background():
    assert len(ontology().stated) == 293


@pytest.mark.long
def test_departments_as_contexts_and_one_growing_graph_are_measured(tmp_path):
    found = growing.measure(1, 5, tmp_path, [[11]])
    [table] = found.tables
    assert [row["departments"] for row in table.rows] == [growing.CONTEXTS, growing.GRAPH]
    assert all(row["statements/s"] > 0 and row["MB at most"] > 50 for row in table.rows)
    throughput, memory = found.charts
    assert {points[-1][0] for points in throughput.series.values()} == {103_104.0}
    assert memory.series.keys() == throughput.series.keys()


@pytest.mark.long
def test_regimes_that_give_other_answers_have_no_figure():
    [table] = regimes.measure(1, 5, ["rdfs", "p", "owl2rl"], 1).tables
    by_query = {row["query"]: row for row in table.rows}
    assert [by_query[number]["answers"] for number in (1, 5, 13)] == [4, 719, 1]
    assert all(row["minimal"] and row["owl2rl"] for row in table.rows)
    assert by_query[5]["rdfs"]
    assert by_query[11]["p"]
    assert by_query[6]["rdfs"] is by_query[12]["p"] is by_query[11]["rdfs"] is None


def test_a_part_that_is_none_is_refused():
    with pytest.raises(UsageError, match="no part 'all'"):
        experiment(Options(parts=("all",)))


def test_departments_as_events_of_a_stream_that_brings_its_ontology_first(wanted):
    """As in INSTANS, figures 6 and 7: background up to the first department, and then one after the other."""
    window = "EVENT STARTS { ?o a owl:Ontology } BACKGROUND UNTIL { ?d a ub:Department }"
    reasoner = Reasoner(complete_rules())
    for number in NUMBERS:
        reasoner.register(continuous_query(number, window, by_department=False))
    stream = [(0, s, p, o, None) for s, p, o, _ in ontology().stated]
    # A document says first that it is one, and Turtle has it somewhere.
    stream.sort(key=lambda statement: not statement[3].endswith("#Ontology>"))
    ran, results = Local(), []
    for batch in (stream, *by_department(1)):
        reasoner.feed(STREAM, batch)
        results += reasoner.advance()
    results += reasoner.end()
    ran.take(results)
    assert plain(ran.bags) == wanted
    assert len(results) == 15 * len(NUMBERS)
    assert reasoner.held()["background"] == len(stream)
