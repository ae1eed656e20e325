"""The reference answers of LUBM(1,0), and those that a job gives, in a form that compares."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from ensue.bench.lubm.queries import NUMBERS

Bags = dict[str, Counter[tuple[str, ...]]]


def reference(folder: Path) -> Bags:
    """The rows of each query: a file says so where there are none."""
    found: Bags = {}
    for number in NUMBERS:
        with (folder / f"answers_query{number}.csv").open(newline="") as lines:
            _, *rows = csv.reader(lines)
        found[f"q{number}"] = Counter(tuple(cell.strip() for cell in row) for row in rows if row)
    return found


def plain(bags) -> Bags:
    """Rows of terms as the files have them: without brackets and quotes."""
    return {
        query: Counter({tuple(term.strip('<>"') for term in row): count for row, count in bag.items()})
        for query, bag in bags.items()
    }
