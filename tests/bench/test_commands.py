from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading

import pytest

from ensue.bench.generate import n_triples, send
from ensue.cli.main import main
from ensue.errors import EnsueError
from ensue.streamfile import read_stream

pytestmark = pytest.mark.usefixtures("stand_ins")


def rows_of(path):
    return [row for batch in read_stream(path) for row in batch]


def test_generate_isin_writes_a_timed_stream_and_a_background(tmp_path, capsys):
    stream, ground = tmp_path / "s.tsv.gz", tmp_path / "b.nt"
    words = ["--trees", "2", "--depth", "3", "--fanout", "2", "--background", "0.25", "--rate", "10"]
    assert main(["generate", "isin", *words, "--background-file", str(ground), "-o", str(stream)]) == 0
    rows = rows_of(stream)
    assert len(rows) == 21
    assert [row[0] for row in rows[:3]] == [0, 100, 200]
    assert len(ground.read_text().splitlines()) == 7
    assert "21 statements on the stream, 7 in the background" in capsys.readouterr().out


def test_generate_isin_wants_a_file_for_its_background(tmp_path):
    assert main(["generate", "isin", "--background", "0.5", "-o", str(tmp_path / "s")]) == 2


def test_generate_ontology_stream_prints_firings(tmp_path, data, capsys):
    ontology = str(data / "lubm" / "univ-bench.nt")
    words = ["--statements", "200", "--sample", "60", "--strategy", "rete", "-o", str(tmp_path / "s.tsv")]
    assert main(["generate", "ontology-stream", ontology, *words]) == 0
    assert len(rows_of(tmp_path / "s.tsv")) == 200
    assert "rdfp14a" in capsys.readouterr().out


def test_generate_ontology_stream_refuses_an_ontology_without_names(tmp_path, capsys):
    empty = tmp_path / "empty.nt"
    empty.write_text("")
    assert main(["generate", "ontology-stream", str(empty), "-o", str(tmp_path / "s.tsv")]) == 1
    assert "gives nothing to say" in capsys.readouterr().err


def test_generate_ontology_stream_sends_down_a_socket(data, capsys):
    received = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def receive():
            connection, _ = server.accept()
            with connection, connection.makefile(encoding="utf-8") as lines:
                received.extend(lines)

        thread = threading.Thread(target=receive)
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        words = [
            "--statements",
            "30",
            "--sample",
            "5",
            "--strategy",
            "rete",
            "--rate",
            "1e6",
            "--socket",
            address,
        ]
        assert main(["generate", "ontology-stream", str(data / "lubm" / "univ-bench.nt"), *words]) == 0
        thread.join(timeout=10)
    assert len(received) == 30
    assert all(line.endswith(" .\n") for line in received)


def test_sending_keeps_the_rate_and_reports_nobody_listening():
    waits = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        statements = [("<urn:a>", "<urn:p>", f'"{k}"') for k in range(4)]
        send(statements, address, rate=10, clock=lambda: 0.0, sleep=waits.append)
        connection, _ = server.accept()
        with connection, connection.makefile(encoding="utf-8") as lines:
            assert lines.read().splitlines() == [n_triples(statement) for statement in statements]
    assert waits == pytest.approx([0.1, 0.2, 0.3])
    with pytest.raises(EnsueError, match="cannot send"):
        send([], address, rate=10)


def test_bench_writes_json(tmp_path, capsys):
    words = ["--window", "20", "--background", "10", "--depth", "3", "--steps", "1", "--shares", "50"]
    words += ["--strategies", "recompute,rete", "--json", str(tmp_path / "r.json")]
    assert main(["bench", "imars", *words]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["experiment"] == "imars"
    assert "ms a step, median" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["generate", "isin", "--trees", "0", "-o", "x"],
        ["generate", "ontology-stream", "a.nt", "--socket", "nowhere"],
        ["generate", "isin", "--rate", "nan", "-o", "x"],
        ["bench", "imars", "--shares", "1,many"],
        ["bench", "coror", "--experiment", "all-of-them"],
    ],
)
def test_bad_options_are_usage_errors(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2


def test_an_unknown_strategy_is_a_usage_error(capsys):
    assert main(["bench", "imars", "--strategies", "guess"]) == 2


def test_help_loads_neither_numpy_nor_matplotlib():
    code = (
        "import sys; from ensue.cli.main import build_parser; build_parser(['bench']); "
        "sys.exit(sum(name in sys.modules for name in ('numpy', 'numba', 'matplotlib', 'pyoxigraph')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
