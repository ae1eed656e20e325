"""The small-device mode: its windows, its answers, its sockets, its memory."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

from ensue.device.job import Job, to_json
from ensue.device.options import read_options
from ensue.device.wire import Connection, Intake
from ensue.errors import InputError, RuleSyntaxError, UsageError

PIPELINE = "[t: (?a <urn:in> ?b), (?b <urn:in> ?c) -> (?a <urn:in> ?c)]"
MEGABYTES_ALLOWED = 32


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "t.rules"
    path.write_text(PIPELINE)
    return str(path)


class Bench:
    """A job with its output in lists and a clock that stands still."""

    def __init__(self, *argv):
        self.derived, self.answers, self.bad, self.now = [], [], [], 0
        self.job = Job(read_options(argv), self.derived.append, self.answers.append)
        self.intake = Intake(
            self.job, lambda: self.now, lambda problem, text: self.bad.append((problem, text))
        )

    def feed(self, *lines):
        self.send("\n".join(lines).encode(), "c")

    def send(self, data, scope):
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            connection = Connection(file.fileno(), "test", scope)
            while connection.open:
                self.intake.take(connection)

    def bindings(self):
        return [json.loads(line) for line in self.answers]


def edge(a, b, time=None):
    return ("" if time is None else f"{time}\t") + f"<urn:{a}> <urn:in> <urn:{b}> ."


def test_derived_statements_come_out_with_their_stamps(rules):
    bench = Bench("--rules", rules, "--window", "10s")
    bench.feed(edge("a", "b", 500), edge("b", "c", 900), edge("c", "d", 1500))
    assert bench.derived == ["500\t<urn:a> <urn:in> <urn:c> .\n"]
    bench.job.finish()
    assert bench.derived[1:] == ["900\t<urn:b> <urn:in> <urn:d> .\n", "500\t<urn:a> <urn:in> <urn:d> .\n"]


def test_a_window_ends_where_it_should(rules):
    #       0         1000        2000        3000
    # a-b   *--------------------->|                    (range 2 s)
    # b-c               *--------------------->|
    bench = Bench("--rules", rules, "--window", "2s", "--pattern", "<urn:a> <urn:in> ?x")
    bench.feed(edge("a", "b", 1), edge("b", "c", 2000), edge("c", "d", 2001))
    assert [(w["open"], w["close"], len(w["bindings"])) for w in bench.bindings()] == [
        (-1000, 1000, 1),
        (0, 2000, 2),
    ]
    bench.job.finish()
    counted = [(w["open"], len(w["bindings"])) for w in bench.bindings()]
    assert counted == [(-1000, 1), (0, 2), (1000, 0), (2000, 0)]


def test_a_renewed_derivation_is_sent_again(rules):
    bench = Bench("--rules", rules, "--window", "10s")
    bench.feed(
        edge("a", "b", 1), edge("b", "c", 2), edge("a", "b", 1500), edge("b", "c", 1600), edge("x", "y", 2500)
    )
    assert bench.derived == ["1\t<urn:a> <urn:in> <urn:c> .\n", "1500\t<urn:a> <urn:in> <urn:c> .\n"]


def test_long_silence_is_not_counted_out(rules):
    bench = Bench("--rules", rules, "--window", "2s", "--pattern", "?x <urn:in> ?y")
    bench.feed(edge("a", "b", 1), edge("b", "c", 10**15))
    assert bench.job.counters.windows == 2
    assert bench.job.next_close() == 10**15


def test_without_times_the_clock_decides(rules):
    bench = Bench("--rules", rules, "--window", "2s")
    bench.now = 5100
    bench.feed(edge("a", "b"))
    assert bench.intake.pause() == pytest.approx(0.9)
    bench.now = 5900
    bench.feed(edge("b", "c"))
    bench.intake.idle()
    assert bench.derived == []
    bench.now = 6000
    bench.intake.idle()
    assert bench.derived == ["5100\t<urn:a> <urn:in> <urn:c> .\n"]


def test_with_times_the_clock_does_not_matter(rules):
    bench = Bench("--rules", rules)
    bench.feed(edge("a", "b", 5))
    bench.now = 10**9
    bench.intake.idle()
    assert bench.intake.pause() is None
    assert bench.job.counters.windows == 0


def test_times_are_in_iso_8601_too(rules):
    bench = Bench("--rules", rules)
    bench.feed("1970-01-01T00:00:00.005Z\t" + edge("a", "b"), edge("a", "c", 7))
    bench.now = 10**9
    bench.intake.idle()
    assert bench.intake.pause() is None
    assert (bench.job.counters.statements, bench.job.counters.windows) == (2, 0)


def test_late_statements_count_as_long_as_a_window_is_open(rules):
    bench = Bench("--rules", rules, "--window", "2s")
    bench.feed(edge("a", "b", 1500), edge("x", "y", 3500), edge("b", "c", 1600), edge("c", "d", 900))
    counters = bench.job.counters
    assert (counters.statements, counters.late, counters.missed) == (4, 0, 2)
    bench.feed(edge("b", "c", 2500), edge("x", "y", 2600))
    assert bench.job.counters.late == 2


def test_malformed_lines_are_counted_and_told_and_the_job_goes_on(rules):
    bench = Bench("--rules", rules)
    bench.feed(edge("a", "b", 1), "2\t<urn:a> nonsense", "", "# a comment", "x\t<urn:a>", edge("b", "c", 3))
    places = [(p.place.line, p.place.column) for p, _ in bench.bad]
    assert places == [(2, 11), (5, 1)]
    assert bench.job.counters.malformed == 2
    assert bench.job.counters.statements == 2


def test_a_line_that_is_not_utf8_is_malformed(rules):
    bench = Bench("--rules", rules)
    bench.send(b'<urn:a> <urn:p> "\xff" .\n', "c")
    assert (bench.bad[0][0].place.column, bench.job.counters.malformed) == (18, 1)


def test_answers_are_sparql_json(rules, tmp_path):
    ground = tmp_path / "g.nt"
    ground.write_text('<urn:b> <urn:in> <urn:c> .\n<urn:c> <urn:name> "see"@en .\n')
    pattern = "(?x ex:in ?y), (?y ex:name ?n), isPLiteral(?n)"
    bench = Bench("--rules", rules, "--background", str(ground), "--pattern", pattern, "--prefix", "ex=urn:")
    bench.feed(edge("a", "b", 1), edge("z", "z", 1001))
    (window,) = bench.bindings()
    assert window["vars"] == ["x", "y", "n"]
    name, c = {"type": "literal", "value": "see", "xml:lang": "en"}, {"type": "uri", "value": "urn:c"}
    found = sorted(binding["x"]["value"] for binding in window["bindings"])
    assert found == ["urn:a", "urn:b"]
    assert all(binding["y"] == c and binding["n"] == name for binding in window["bindings"])
    assert bench.derived == []


def test_minted_nodes_bind_no_variable(tmp_path):
    path = tmp_path / "m.rules"
    path.write_text("[m: (?x <urn:in> ?y), makeTemp(?b) -> (?x <urn:has> ?b)]")
    bench = Bench("--rules", str(path), "--pattern", "?x <urn:has> ?y")
    bench.feed(edge("a", "b", 1), edge("a", "b", 1001))
    assert bench.bindings()[0]["bindings"] == []


def test_blank_nodes_of_two_senders_are_two_nodes(rules):
    bench = Bench("--rules", rules, "--pattern", "?x <urn:in> ?y")
    for scope in ("c1", "c2"):
        bench.send(b"1\t_:b <urn:in> <urn:c> .\n", scope)
    bench.job.finish()
    assert len(bench.bindings()[0]["bindings"]) == 2


def test_terms_are_freed(rules):
    bench = Bench("--rules", rules, "--window", "1s")
    bench.feed(*(edge(f"a{i}", f"b{i}", i * 10) for i in range(5000)))
    assert bench.job.counters.freed_terms > 5000
    assert bench.job.statistics()["facts"] <= 200


def test_terms_as_json():
    assert to_json("_:b") == {"type": "bnode", "value": "b"}
    assert to_json('"1"^^<urn:int>') == {"type": "literal", "value": "1", "datatype": "urn:int"}


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--rules", "pdsv", "--window", "soon"],
        ["--rules", "pdsv", "--step", "0s"],
        ["--rules", "pdsv", "--forward", "nowhere"],
        ["--rules", "pdsv", "--prefix", "ex"],
        ["--rules", "pdsv", "--bare", "--pattern", "?x ?y ?z"],
        ["--rules", "pdsv", "--once"],
        ["--rules", "pdsv", "--nonsense"],
    ],
)
def test_misuse_is_refused(argv):
    with pytest.raises(UsageError) as caught:
        read_options(argv)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["--rules", "pdvs"], InputError),
        (["--rules", "pdsv", "--background", "nowhere.nt"], InputError),
        (["--rules", "pdsv", "--pattern", "?x ?y"], UsageError),
        (["--rules", "pdsv", "--pattern", "] ["], UsageError),
    ],
)
def test_bad_input_is_refused(argv, error):
    with pytest.raises(error):
        Bench(*argv)


def test_bad_files_are_refused_with_their_place(tmp_path):
    path = tmp_path / "bad.rules"
    path.write_text("[r: (?a ?b ?c) ->\n")
    with pytest.raises(RuleSyntaxError, match=r"bad.rules:2:1"):
        Bench("--rules", str(path))
    ground = tmp_path / "bad.nt"
    ground.write_text("<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b>\n")
    with pytest.raises(InputError, match=r"bad.nt:2:16"):
        Bench("--rules", "transitive-isin", "--background", str(ground))


# The command itself, in a process of its own.


def device(*argv, **options):
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-m", "ensue.device", *argv], text=True, **streams, **options)


def counters(stderr):
    return {
        name: int(value)
        for name, _, value in (line.partition(": ") for line in stderr.splitlines())
        if value.isdigit()
    }


def test_the_command_reads_stdin_and_reports(rules, tmp_path):
    letters = tmp_path / "letters.txt"
    process = device("--rules", rules, "--dead-letter", str(letters))
    out, err = process.communicate("\n".join([edge("a", "b", 1), edge("b", "c", 2), "?"]))
    assert process.returncode == 0
    assert out == "1\t<urn:a> <urn:in> <urn:c> .\n"
    assert counters(err)["malformed"] == 1
    assert letters.read_text().startswith("<stdin>:3:1: expected a subject")


def test_wrong_use_has_exit_code_2_and_bad_input_1():
    process = device("--rules")
    assert "hint" in process.communicate()[1]
    assert process.returncode == 2
    process = device("--rules", "nonsense")
    assert "transitive-isin" in process.communicate()[1]
    assert process.returncode == 1


def test_one_device_forwards_to_another(rules):
    second = device("--rules", rules, "--listen", "0", "--once", "--pattern", "?x <urn:in> ?y")
    port = second.stderr.readline().rpartition(":")[2].strip()
    first = device("--rules", rules, "--forward", f"127.0.0.1:{port}")
    out, err = first.communicate("\n".join([edge("a", "b", 1), edge("b", "c", 2), edge("c", "d", 3)]))
    assert (out, counters(err)["derived"]) == ("", 3)
    out, err = second.communicate(timeout=60)
    last = json.loads(out.splitlines()[0])
    pairs = {(b["x"]["value"], b["y"]["value"]) for b in last["bindings"]}
    assert pairs == {("urn:a", "urn:c"), ("urn:b", "urn:d"), ("urn:a", "urn:d")}


def test_several_senders_at_once(rules):
    process = device("--rules", rules, "--listen", "127.0.0.1:0", "--once")
    port = int(process.stderr.readline().rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port)) as first,
        socket.create_connection(("127.0.0.1", port)) as second,
    ):
        first.sendall((edge("a", "b", 1) + "\n").encode())
        second.sendall((edge("b", "c", 1) + "\n").encode())
    out, err = process.communicate(timeout=60)
    assert out == "1\t<urn:a> <urn:in> <urn:c> .\n"
    assert counters(err)["statements"] == 2


def test_an_interrupt_ends_it_cleanly(rules, heeding_interrupts):
    process = device("--rules", rules, "--listen", "0", **heeding_interrupts)
    port = int(process.stderr.readline().rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as sender:
        sender.sendall("\n".join([edge("a", "b", 1), edge("b", "c", 2), edge("c", "d", 1500), ""]).encode())
        # The windows' output shows that the statements have arrived; it is flushed as each closes.
        assert process.stdout.readline() == "1\t<urn:a> <urn:in> <urn:c> .\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in err
    assert counters(err)["statements"] == 3


def test_it_stays_small_on_koala_and_loads_no_third_party_module(shared_data, tmp_path):
    background = shared_data / "coror-ontologies" / "koala.triples"
    argv = ["--rules", "pdsv", "--background", str(background)]
    code = (
        "import sys\nfrom ensue.device.__main__ import main\n"
        f"code = main({argv!r})\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print('MODULES', *names, file=sys.stderr)\nsys.exit(code)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], input=koala_stream(20_000), capture_output=True, text=True, check=True
    )
    found = counters(process.stderr)
    assert found["statements"] == 20_000
    assert found["derived"] > 60_000
    assert found["peak_resident_kb"] < MEGABYTES_ALLOWED * 1024
    loaded = {n for n in process.stderr.partition("MODULES")[2].split() if not n.startswith("_")}
    assert loaded - set(sys.stdlib_module_names) <= {"ensue", "sitecustomize", "usercustomize"}


def koala_stream(n):
    """Families of koalas, a hundred statements a second: links, types, and values that never repeat."""
    koala = "http://protege.stanford.edu/plugins/owl/owl-library/koala.owl#"
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    about = [
        lambda i: f"{rdf_type} <{koala}Koala>",
        lambda i: f"<{koala}hasChildren> <urn:koala:{i + 1}>",
        lambda i: f"<{koala}hasHabitat> <urn:forest:{i % 7}>",
        lambda i: f'<urn:weight> "{i}"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]
    return "".join(f"{k * 10}\t<urn:koala:{k // 4}> {about[k % 4](k // 4)} .\n" for k in range(n))
