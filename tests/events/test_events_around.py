"""What is around temporal queries: the pages that tell of them, `explain`, and the experiment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ensue.bench import events
from ensue.cli.main import main
from ensue.errors import UsageError
from ensue.query.language import parse_query

PAGE = Path(__file__).parents[2] / "docs" / "events.md"


@pytest.mark.parametrize("text", re.findall(r"```sparql\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_queries_of_the_page_are_temporal_queries(text: str) -> None:
    assert parse_query(text).events is not None


def test_explain_shows_expressions_and_how_they_are_divided(tmp_path: Path, capsys) -> None:
    query, stream = tmp_path / "q.rq", tmp_path / "s.tsv"
    query.write_text(
        "PREFIX : <urn:> SELECT ?x FROM STREAM :s [RANGE 9s] "
        "{ { ?x :a 1 } SEQ [RECENT] { ?x :b 2 } WITHIN 5s }"
    )
    stream.write_text("1\t<urn:k> <urn:a> <urn:b> .\n")
    assert main(["explain", str(query), "--stream", f"urn:s={stream}"]) == 0
    shown = capsys.readouterr().out
    assert "in time: {?x} BEFORE [RECENT] {?x} WITHIN 5000 ms" in shown
    assert "could be divided by ?x" in shown


def test_the_experiment_runs_in_little() -> None:
    parts = "chains", "contexts"
    options = events.Options(events=3000, keys=50, rate=1000, chains=(2, 3), batch=500, parts=parts)
    chains, strategies, contexts = events.measure(options).tables
    assert [row["garbage collection"] for row in chains.rows] == ["on", "off"] * 2
    assert all(row["% gone in time"] == 100 for row in chains.rows if row["garbage collection"] == "on")
    assert len(strategies.rows) == 5
    assert [row["answers"] for row in contexts.rows] == [150] * 3
    # An initiator is used up once, and recent ones are not used up by being taken.
    composed = {row["case"]: row["composed"] for row in strategies.rows}
    assert composed["cumulative"] <= composed["continuous"] <= composed["unrestricted"]


@pytest.mark.long
def test_a_million_events_leave_nothing_behind() -> None:
    [table] = events.measure(events.Options(parts=("contexts",), grown=50_000)).tables
    *contexts, graph = table.rows
    assert [row["events"] for row in contexts] == [1_000_000] * 2
    assert all(row["% more at most"] < 5 < graph["% more at most"] for row in contexts)


def test_an_experiment_has_parts() -> None:
    with pytest.raises(UsageError, match="no part 'chain'"):
        events.experiment(events.Options(parts=("chain",)))
