"""The command line as a shell sees it: output, exit codes, one-line messages."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyoxigraph as ox
import pytest

from ensue.cli import main
from ensue.cli.output import Output
from ensue.errors import EnsueError

SUB = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
RULES = "[up: (?a rdf:type ?x), (?x rdfs:subClassOf ?y) -> (?a rdf:type ?y)]\n"
FACTS = f'<urn:tom> {TYPE} <urn:Cat> .\n<urn:Cat> {SUB} <urn:Animal> .\n<urn:tom> <urn:name> "Tom \u00e9" .\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("up.rules").write_text(RULES)
    Path("facts.nt").write_text(FACTS, encoding="utf-8")
    return tmp_path


def run(*words, **options):
    """The command in a process of its own, without a trace of the terminal's settings."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "ensue", *map(str, words)]
    return subprocess.run(
        command, check=False, env=environment, **{"capture_output": True, "timeout": 120, **options}
    )


@pytest.mark.parametrize("strategy", ["recompute", "dred", "expiration", "rete"])
def test_reason_closes_files(folder, capfdbinary, strategy):
    assert main(["reason", "--rules", "up.rules", "--strategy", strategy, "facts.nt"]) == 0
    out, err = capfdbinary.readouterr()
    expected = FACTS + f"<urn:tom> {TYPE} <urn:Animal> .\n"
    assert out.decode() == "".join(sorted(expected.splitlines(keepends=True)))
    assert b"read facts.nt: 3 statements\n" in err
    assert b"3 stated, 1 derived, 4 in all" in err


def test_derived_only_of_several_files_and_rules(folder):
    Path("more.rules").write_text("[likes: (?a rdf:type <urn:Animal>) -> (?a <urn:likes> <urn:food>)]")
    Path("more.ttl.gz").write_bytes(gzip.compress(b"<urn:rex> a <urn:Cat> ."))
    words = ["--rules", "up.rules", "--rules", "more.rules", "--derived-only", "-q", "-o", "out.nt"]
    ran = run("reason", *words, "facts.nt", "more.ttl.gz")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    lines = [f"<urn:{n}> {TYPE} <urn:Animal> .\n<urn:{n}> <urn:likes> <urn:food> .\n" for n in ("rex", "tom")]
    assert Path("out.nt").read_text() == "".join(lines)
    assert sorted(os.listdir()) == ["facts.nt", "more.rules", "more.ttl.gz", "out.nt", "up.rules"]


def test_output_is_rdf_even_where_the_closure_is_not(folder):
    ran = run("reason", "--rules", "rdfs-jena", "facts.nt")
    assert ran.returncode == 0
    assert len(list(ox.parse(ran.stdout, format=ox.RdfFormat.N_TRIPLES))) == ran.stdout.count(b"\n")
    assert b"left out 1 statement" in ran.stderr


def test_output_may_replace_its_input(folder):
    assert run("reason", "--rules", "up.rules", "-o", "facts.nt", "facts.nt").returncode == 0
    assert Path("facts.nt").read_bytes().count(b"\n") == 4


BAD = {
    "no file": (["--rules", "up.rules", "absent.nt"], "absent.nt: no such file (hint: "),
    "directory": (["--rules", "up.rules", "."], ".: "),
    "extension": (["--rules", "up.rules", "up.rules"], "up.rules: the extension '.rules' names no RDF"),
    "bad line": (["--rules", "up.rules", "bad.nt"], "bad.nt:2:17: The object of a triple must be"),
    "cut gzip": (["--rules", "up.rules", "cut.nt.gz"], "cut.nt.gz:3:28: the gzip file is cut short"),
    "bad rule": (["--rules", "bad.rules", "facts.nt"], "bad.rules:1:"),
    "unsafe rule": (["--rules", "unsafe.rules", "facts.nt"], "unsafe.rules:1:"),
    "no regime": (["--rules", "rdfs-jean", "facts.nt"], "no such regime or file: 'rdfs-jean' (hint: did you"),
    "no place": (["--rules", "up.rules", "-o", "no/such/out.nt", "facts.nt"], "no/such/out.nt: cannot be"),
    "full disk": (["--rules", "up.rules", "-o", "/dev/full", "facts.nt"], "/dev/full: cannot be written: No"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_code_1(folder, case, capfd):
    Path("bad.nt").write_text("<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> oops .\n")
    Path("cut.nt.gz").write_bytes(gzip.compress(FACTS.encode())[:-12])
    Path("bad.rules").write_text("[up: (?a rdf:type ?x) (?x -> (?a rdf:type ?y)]")
    Path("unsafe.rules").write_text("[up: (?a rdf:type ?x) -> (?a rdf:type ?y)]")
    words, message = BAD[case]
    assert main(["reason", "-q", *words]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"ensue: {message}")
    assert err.count("\n") == 1
    assert "(hint: " in err
    assert not list(Path().glob("*.part"))


@pytest.mark.parametrize(
    "words",
    [[], ["reason"], ["reason", "facts.nt"], ["reason", "--rules", "up.rules"], ["raeson"], ["--frob"]],
)
def test_wrong_usage_is_exit_code_2(folder, capfd, words):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert "usage: ensue" in capfd.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["reason", "--help"], ["--version"]])
def test_help_and_version(capfd, words):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 0
    assert "ensue" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["generate", "bench"])
def test_the_commands_of_the_bench_are_there(capfd, name):
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0


def test_a_reader_that_leaves_is_no_error(folder):
    Path("many.nt").write_text("".join(f"<urn:a{i}> <urn:p> <urn:b> .\n" for i in range(50_000)))
    command = f"{sys.executable} -m ensue reason -q --rules up.rules many.nt | head -n 1"
    ran = subprocess.run(command, shell=True, capture_output=True, timeout=120, check=True)
    assert ran.stdout == b"<urn:a0> <urn:p> <urn:b> .\n"
    assert ran.stderr == b""


def test_a_full_disk_behind_standard_output(folder):
    with open("/dev/full", "wb") as full:
        ran = run(
            "reason", "-q", "--rules", "up.rules", "facts.nt", capture_output=False, stdout=full, stderr=-1
        )
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"ensue: standard output: cannot be written: No space left")
    assert ran.stderr.count(b"\n") == 1


def test_ctrl_c_is_exit_code_130(folder, heeding_interrupts):
    os.mkfifo("endless.nt")
    command = [sys.executable, "-m", "ensue", "reason", "--rules", "up.rules", "endless.nt"]
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(command, **streams, **heeding_interrupts)
    with open("endless.nt", "wb") as fifo:  # opens when the reader is there
        fifo.write(FACTS.encode())
        fifo.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"ensue: stopped\n")


def test_a_failure_leaves_the_old_output(tmp_path):
    path = tmp_path / "out.nt"
    path.write_text("old\n")

    def lines():
        yield "new\n"
        raise EnsueError("stopped half way")

    with pytest.raises(EnsueError), Output(str(path)) as output:
        output.write_lines(lines())
    assert path.read_text() == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.nt"]


def test_the_example_of_the_readme_prints_what_it_says(repository, tmp_path):
    _, _, rest = (repository / "README.md").read_text(encoding="utf-8").partition("<!-- example:")
    _, script, _, printed, *_ = rest.split("```")
    command = script.removeprefix("bash\n").replace(".venv/bin/ensue", f"{sys.executable} -m ensue")
    ran = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == printed.removeprefix("\n")


def test_the_demo_ends_by_itself(repository):
    demo = [sys.executable, repository / "examples" / "trains" / "demo.py", "--speed", "0"]
    ran = subprocess.run(demo, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    assert " 20 s  user11 City city0_1; " in ran.stdout
    assert lines[-1].startswith("295 reports, 34 windows, 1411 answers")
