"""LUBM(1,0), department by department, through INSTANS's input handler: the benchmark's reference answers."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import islice

import pytest

from ensue.bench.lubm.queries import NUMBERS, ontology_file
from ensue.bench.lubm.university import departments
from ensue.bench.networks.lubm import arriving, lubm_network
from ensue.files import read_statements
from ensue.networks.network import Network


def answers(count: int) -> dict[str, list[tuple[str, ...]]]:
    """The rows of all queries over so many departments, without brackets and quotes."""
    network = Network(lubm_network())
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    ontology = [(0, *statement) for statement in read_statements(str(ontology_file()))]
    sizes = []
    for department in [None, *islice(departments(0), count)]:
        statements = ontology if department is None else arriving([department])
        for result in network.push(statements):
            found[result.query] += [tuple(term.strip('<>"') for term in row) for row in result.answers.rows]
        sizes.append(len(network))
    assert max(sizes[1:]) < 14_000, "a department is forgotten when the next one comes"
    return found


def reference(shared_data, number: int) -> set[tuple[str, ...]]:
    lines = (shared_data / f"lubm/answers/answers_query{number}.csv").read_text().splitlines()
    return {tuple(row) for row in csv.reader(lines[1:])}


def test_two_departments_have_their_part_of_the_reference_answers(shared_data):
    found = answers(2)
    there = ("Department0.", "Department1.")
    for number in NUMBERS:
        wanted = {row for row in reference(shared_data, number) if any(name in row[0] for name in there)}
        assert sorted(found[f"q{number}"]) == sorted(wanted), f"query {number}"
    assert all(found[f"q{number}"] for number in NUMBERS if number != 2)


@pytest.mark.long
def test_all_departments_have_the_reference_answers(shared_data):
    found = answers(99)
    for number in NUMBERS:
        assert sorted(found[f"q{number}"]) == sorted(reference(shared_data, number)), f"query {number}"
