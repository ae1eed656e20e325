"""Which regimes answer which query, and how fast, beside the rules that it needs (INSTANS, table 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from ensue.bench.driver import in_turn
from ensue.bench.harness import Cell, Chart, Result, Row, Table, progress, ratio
from ensue.bench.lubm.lanes import Local, run_local
from ensue.bench.lubm.queries import NUMBERS
from ensue.bench.lubm.workload import COMPLETE, MINIMAL, by_department, job, minimal_rules, tumbling
from ensue.files import Timed
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet

OURS = "minimal"
PAPER = {
    **dict.fromkeys((4, 5), "rdfs rhodf dstar (owl2rl)"),
    **dict.fromkeys((6, 7, 8, 9, 10, 12), "(owl2rl)"),
    11: "p (owl2rl)",
    13: "dstar+p (owl2rl)",
}
"""The regimes that qualify there, fastest first; those in brackets did not complete."""


def measure(univ: int, window: int, regimes: Sequence[str], rounds: int) -> Result:
    """Each query alone under each regime, in process, departments as contexts."""
    batches = by_department(univ)
    rules = {name: load_rules(name) for name in regimes}
    rows: list[Row] = []
    series: dict[str, list[tuple[float, float]]] = {}
    for number in NUMBERS:
        progress(f"query {number} under {len(rules) + 1} sets of rules")
        ran = _all(number, window, {OURS: minimal_rules(number)} | rules, batches, rounds)
        rows.append(_row(number, ran))
        for name, rate in _rates(ran).items():
            if rate:
                series.setdefault(name, []).append((float(number), rate))
    title = f"statements a second of each query alone in process, {univ} universities (INSTANS, table 7)"
    chart = Chart(title, "query", "statements/s", series)
    return Result([Table(title, rows)], [chart], _notes(rows))


def _all(
    number: int, window: int, rules: Mapping[str, RuleSet], batches: Sequence[Sequence[Timed]], rounds: int
) -> dict[str, list[Local]]:
    found: dict[str, list[Local]] = {name: [] for name in rules}
    for turn in range(rounds):
        for name in in_turn(rules, turn):
            found[name].append(run_local(job(rules[name], tumbling(window), [number]), batches))
    return found


def _rates(ran: Mapping[str, Sequence[Local]]) -> dict[str, float | None]:
    """The rate of each whose answers are those of the complete regime; None of the others."""
    right = ran[COMPLETE][0].bags
    return {
        name: median(each.rate for each in runs) if runs[0].bags == right else None
        for name, runs in ran.items()
    }


def _row(number: int, ran: Mapping[str, Sequence[Local]]) -> Row:
    rates = _rates(ran)
    answers = ran[COMPLETE][0].answers.total()
    row: dict[str, Cell] = {
        "query": number,
        "rules it needs": " ".join(MINIMAL.get(number, ())) or "none",
        "answers": answers,
    }
    row |= {name: None if rate is None else round(rate) for name, rate in rates.items()}
    row[f"{COMPLETE} planned in s"] = round(median(each.planned for each in ran[COMPLETE]), 2)
    row["qualified in the paper"] = PAPER.get(number, "all, without rules")
    return row


def _notes(rows: Sequence[Row]) -> list[str]:
    slower = [ratio(float(row[OURS] or 0), float(row[COMPLETE] or 1)) for row in rows]
    wrong = " ".join(str(row["query"]) for row in rows if row[OURS] is None)
    return [
        f"all of {COMPLETE} takes {min(slower)} to {max(slower)} times as long as the rules a query needs",
        "a regime without a figure gives other answers than the complete one",
        f"the rules said to be needed do not give all answers of: {wrong or 'no query, they always do'}",
    ]
