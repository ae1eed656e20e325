"""A result as text on standard output, as a JSON file, and as a picture."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from ensue.bench.harness import Cell, Chart, Experiment, Result, Table
from ensue.bench.machine import describe_machine
from ensue.errors import InputError, Place, UsageError

PICTURES = (".png", ".svg", ".pdf")


def publish(
    experiment: Experiment,
    *,
    json_file: str | None = None,
    plot: str | None = None,
    out: TextIO | None = None,
) -> Result:
    """Run an experiment and show what it found: a table always, a file and a picture if asked."""
    check_outputs(json_file, plot)
    out = out or sys.stdout
    header = {"machine": describe_machine(), **_description(experiment)}
    print(render_header(header), file=out, flush=True)
    result = experiment.measure()
    for table in result.tables:
        print(render_table(table), file=out)
    for note in result.notes:
        print(f"* {note}", file=out)
    if json_file:
        text = json.dumps(header | as_data(result), indent=1)
        Path(json_file).write_text(text + "\n", encoding="utf-8")
    if plot:
        draw(result.charts, experiment.name, plot)
    return result


def check_outputs(json_file: str | None, plot: str | None) -> None:
    """Refuse files that cannot be written, before minutes are spent on what should go there."""
    if plot and Path(plot).suffix not in PICTURES:
        raise UsageError(f"cannot draw '{plot}'", hint=f"a file that ends in {', '.join(PICTURES)}")
    for name in filter(None, (json_file, plot)):
        if not Path(name).resolve().parent.is_dir():
            raise InputError(
                "there is no such directory to write to", place=Place(name), hint="create it first"
            )


def render_header(header: Mapping[str, object]) -> str:
    """The header as lines, with nested parts in one line each.

    >>> print(render_header({"experiment": "x", "machine": {"cores": "2", "os": "L"}}))
    experiment: x
    machine:    cores 2, os L
    """
    width = max(map(len, header)) + 1
    return "\n".join(f"{name + ':':<{width}} {_one_line(value)}" for name, value in header.items())


def render_table(table: Table) -> str:
    """A table as text, numbers to the right.

    >>> print(render_table(Table("T", [{"name": "a", "n": 1200}, {"name": "b", "n": 7}])))
    <BLANKLINE>
    T
    name      n
    a     1,200
    b         7
    """
    if not table.rows:
        return f"\n{table.title}\n(no rows)"
    columns = list(dict.fromkeys(name for row in table.rows for name in row))
    cells = [[render_cell(row.get(name)) for name in columns] for row in table.rows]
    widths = [max(len(line[k]) for line in [columns, *cells]) for k in range(len(columns))]
    left = [all(isinstance(row.get(name), str | None) for row in table.rows) for name in columns]
    lines = [_line(line, widths, left) for line in [columns, *cells]]
    return "\n".join(["", table.title, *lines])


def render_cell(value: Cell) -> str:
    """A value for the eye: three digits that count, thousands apart.

    >>> [render_cell(v) for v in (None, True, 0.0012345, 12.345, 123456.7, 1234567)]
    ['-', 'yes', '0.00123', '12.3', '123,457', '1,234,567']
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return value


def as_data(result: Result) -> dict[str, object]:
    """A result as plain data for JSON."""
    return {
        "tables": [{"title": t.title, "rows": [dict(row) for row in t.rows]} for t in result.tables],
        "notes": list(result.notes),
    }


def draw(charts: Sequence[Chart], name: str, file: str) -> None:
    """All charts of an experiment as one picture, two in a row."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise UsageError("plots need matplotlib", hint="pip install 'ensue[bench]'") from problem
    columns, lines = min(2, len(charts)), -(-len(charts) // 2)
    figure = Figure(figsize=(6.4 * max(1, columns), 4.8 * max(1, lines)), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(f"ensue bench {name}")
    for k, chart in enumerate(charts):
        axes = figure.add_subplot(lines, columns, k + 1)
        for label, points in chart.series.items():
            axes.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=3, label=label)
        axes.set(title=chart.title, xlabel=chart.x, ylabel=chart.y)
        axes.set_xscale("log" if chart.log_x else "linear")
        axes.set_yscale("log" if chart.log_y else "linear")
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    figure.savefig(file)


def _description(experiment: Experiment) -> dict[str, object]:
    return {
        "experiment": experiment.name,
        "workload": experiment.workload,
        "parameters": dict(experiment.parameters),
        "limit": experiment.limit,
    }


def _one_line(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_one_line(part)}" for name, part in value.items())
    return str(value)


def _line(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    padded = (
        cell.ljust(width) if to_left else cell.rjust(width)
        for cell, width, to_left in zip(cells, widths, left, strict=True)
    )
    return "  ".join(padded).rstrip()
