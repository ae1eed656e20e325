"""A checkpoint's own files, without Spark: what a job may change, and what nobody may."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest
from marks import needs_full_device, needs_root

from ensue.cli import main
from ensue.errors import EnsueError, InputError, UsageError
from ensue.job import Job, Settings
from ensue.knowledge import Sent, Update
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.spark import card as cards
from ensue.spark import ledger as ledgers
from ensue.spark.card import Card, go_on
from ensue.spark.ledger import Ledger, OnceFile, Written, alone
from ensue.windows.frontier import Disorder
from ensue.windows.report import Report

TEXT = "SELECT ?x ?y FROM STREAM <urn:s> [RANGE {}s STEP 2s] {{ ?x <http://example.org/isIn> ?y }}"
FACT = ("<http://example.org/a>", "<http://example.org/isIn>", "<http://example.org/b>", None)


# The card, without Spark.


def job(seconds=4, rules="transitive-isin", stated=(), updates=(), **settings):
    query = parse_query(TEXT.format(seconds), "q.rq", "q")
    queries = Job.of([query], load_rules(), Sent()).queries
    return Job(queries, load_rules(rules), Sent(stated), Settings(**settings), updates)


def card(*, shards=1, filtered=True, expanded=False, **changes):
    return Card.of(job(**changes), shards=shards, filtered=filtered, expanded=expanded)


@pytest.mark.parametrize("filtered", [False, True])
def test_the_same_job_goes_on(tmp_path, filtered):
    checkpoint = tmp_path / "new" / "checkpoint"
    assert go_on(checkpoint, card(filtered=filtered)) == []
    assert go_on(checkpoint, card(filtered=filtered)) == [f"checkpoint {checkpoint}: going on"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seconds": 6}, "the queries changed"),
        ({"shards": 2}, "has 1 shards, not 2.*--shards 1"),
        ({"t0": 1000}, "t0.*changed"),
        ({"bounds": "[)"}, "bounds.*changed"),
        ({"disorder": Disorder(1000)}, "disorder.*changed"),
        ({"disorder": Disorder(0, "drop")}, "disorder.*changed"),
        ({"report": Report("content")}, "report changed"),
        ({"report": Report("close", 2)}, "report changed"),
        ({"rules": "rdfs-jena"}, "rules changed, and statements were dropped"),
        ({"stated": (FACT,)}, "background changed, and statements were dropped"),
        ({"updates": (Update(5000, added=(FACT,)),)}, "background changed, and statements were dropped"),
        ({"filtered": False}, "--keep-all changed"),
        ({"expanded": True}, "--expand changed"),
        ({"filtered": False, "rules": "rdfs-jena"}, "rules changed, and statements were dropped"),
    ],
)
def test_what_decides_what_was_kept_must_not_change(tmp_path, changes, message):
    go_on(tmp_path, card())
    before = (tmp_path / cards.NAME).read_bytes()
    with pytest.raises(UsageError, match=message) as refused:
        go_on(tmp_path, card(**changes))
    assert refused.value.exit_code == 2
    assert refused.value.hint
    assert (tmp_path / cards.NAME).read_bytes() == before, "a job that was refused leaves no trace"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strategy": "recompute"}, "strategy, evaluator or --until changed: what is derived is made anew"),
        ({"evaluator": "oxigraph"}, "strategy, evaluator or --until changed: what is derived is made anew"),
        ({"rules": "rdfs-jena"}, "rules changed: from the next window on the new ones hold"),
        ({"stated": (FACT,)}, "background changed: from the next window on the new ones hold"),
    ],
)
def test_what_is_derived_may_be_derived_otherwise(tmp_path, changes, message):
    go_on(tmp_path, card(filtered=False))
    assert go_on(tmp_path, card(filtered=False, **changes))[1:] == [message]
    assert go_on(tmp_path, card(filtered=False, **changes))[1:] == [], "it is the same job now"


def test_what_rules_made_of_statements_is_kept_and_so_they_must_not_change(tmp_path):
    go_on(tmp_path, card(filtered=False, expanded=True))
    assert go_on(tmp_path, card(filtered=False, expanded=True))[1:] == []
    with pytest.raises(UsageError, match="rules changed, and what they made of statements was kept"):
        go_on(tmp_path, card(filtered=False, expanded=True, rules="rdfs-jena"))


def test_what_temporal_queries_remember_rests_on_rules_that_must_not_change(tmp_path):
    def temporal(rules):
        where = "{ { ?x <urn:a> ?y } SEQ { ?x <urn:b> ?z } }"
        query = parse_query(f"SELECT * FROM STREAM <urn:s> [RANGE 4s] WHERE {where}", "q.rq", "q")
        return Card.of(Job.of([query], load_rules(rules), Sent()), shards=1, filtered=False)

    go_on(tmp_path, temporal("transitive-isin"))
    assert go_on(tmp_path, temporal("transitive-isin"))[1:] == []
    with pytest.raises(UsageError, match="rules changed, and temporal queries remember"):
        go_on(tmp_path, temporal("rdfs-jena"))


def test_another_version_goes_on_unless_it_wrote_in_another_way(tmp_path):
    go_on(tmp_path, replace(card(), version="0.0.1"))
    assert go_on(tmp_path, card())[1:] == ["it was written by Ensue 0.0.1: state is read as it is"]
    go_on(tmp_path / "other", replace(card(), version="99", layout=99))
    with pytest.raises(UsageError, match="Ensue 99, in another way"):
        go_on(tmp_path / "other", card())


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UsageError, match="is no checkpoint of Ensue"):
        go_on(tmp_path, card())
    with pytest.raises(UsageError, match="is no checkpoint of Ensue"):
        go_on(tmp_path / "thesis.tex", card())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_run_may_be_killed_while_it_leaves_its_card(tmp_path):
    ledgers.part_of(tmp_path / cards.NAME).write_text('{"lay')
    assert go_on(tmp_path, card()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"layout": 1, "more": 2}', "\udcff"])
def test_a_damaged_card(tmp_path, text):
    go_on(tmp_path, card())
    (tmp_path / cards.NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=f"{cards.NAME}: is damaged"):
        go_on(tmp_path, card())


# The ledger and the files that it is about, without Spark.


def spark_has(checkpoint, *, planned, done):
    for log, last in (("offsets", planned), ("commits", done)):
        folder = checkpoint / ledgers.SPARK / log
        folder.mkdir(parents=True)
        for number in range(last + 1):
            (folder / str(number)).touch()
            (folder / f".{number}.crc").touch()


def ledger_of(checkpoint, batch, **lengths):
    """A ledger that says so, in a checkpoint of which Spark knows the same."""
    spark_has(checkpoint, planned=batch, done=batch - 1)
    lengths = {os.path.abspath(checkpoint / name): length for name, length in lengths.items()}
    (checkpoint / ledgers.NAME).write_text(json.dumps({"batch": batch, "lengths": lengths, "queries": ["q"]}))
    return Ledger(checkpoint)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"batch": 1, "lengths": [], "queries": []}',
        '{"batch": "x", "lengths": {}}',
    ],
)
def test_a_damaged_ledger(tmp_path, text):
    (tmp_path / ledgers.NAME).write_text(text)
    with pytest.raises(InputError, match=f"{ledgers.NAME}: is damaged"):
        Ledger(tmp_path)


@pytest.mark.parametrize(
    ("planned", "done", "written", "fits"),
    [
        (-1, -1, None, True),  # A new checkpoint.
        (0, -1, None, True),  # Killed within the first micro-batch,
        (0, -1, 0, True),  # or when it was written,
        (0, 0, 0, True),  # or when it was done.
        (5, 4, 4, True),
        (5, 4, 5, True),
        (5, 4, None, False),  # Somebody has deleted the ledger,
        (5, 4, 3, False),  # or put back an older one;
        (-1, -1, 5, False),  # or deleted Spark's part,
        (3, 2, 5, False),  # or put back an older one.
    ],
)
def test_the_ledger_must_fit_what_spark_has_written_down(tmp_path, planned, done, written, fits):
    spark_has(tmp_path, planned=planned, done=done)
    if written is not None:
        ledgers.write_whole(
            tmp_path / ledgers.NAME, json.dumps({"batch": written, "lengths": {}, "queries": []})
        )
    if fits:
        assert Ledger(tmp_path).written.batch == (-1 if written is None else written)
    else:
        with pytest.raises(InputError, match="the last micro-batch written is"):
            Ledger(tmp_path)


def test_a_checkpoint_is_for_one_run_at_a_time(tmp_path, capsys):
    (tmp_path / "q.rq").write_text(TEXT.format(4))
    (tmp_path / "s.tsv").touch()
    (tmp_path / "out.jsonl").write_text("of the other run")
    words = [str(tmp_path / "q.rq"), "--stream", f"urn:s={tmp_path / 's.tsv'}"]
    words += ["--output", str(tmp_path / "out.jsonl"), "--checkpoint", str(tmp_path / "checkpoint")]
    (tmp_path / "checkpoint").mkdir()
    with alone(tmp_path / "checkpoint"):
        assert main(["run", *words]) == 2
    assert "another run has the checkpoint" in capsys.readouterr().err
    assert (tmp_path / "out.jsonl").read_text() == "of the other run"
    with alone(tmp_path / "checkpoint"):
        pass  # It was given back.


def test_what_a_run_wrote_that_did_not_live_to_say_so_is_cut_off(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"one\ntwo\nthr")
    with OnceFile(str(out), ledger_of(tmp_path, 3, out=8)) as file:
        file.write("three\n")
        assert file.sync() == 14
    assert out.read_bytes() == b"one\ntwo\nthree\n"


def test_a_file_that_the_ledger_does_not_know_begins_anew(tmp_path):
    (tmp_path / "out").write_text("of another run")
    with OnceFile(str(tmp_path / "out"), ledger_of(tmp_path, 3, other=8)) as file:
        assert file.sync() == 0


def test_a_file_that_was_shortened(tmp_path):
    (tmp_path / "out").write_bytes(b"one\n")
    ledger = ledger_of(tmp_path, 3, out=8)
    with pytest.raises(InputError, match=r"out: has 4 bytes, .* that 8 bytes were written"):
        OnceFile(str(tmp_path / "out"), ledger).__enter__()
    assert (tmp_path / "out").read_bytes() == b"one\n"


def test_a_file_that_was_deleted(tmp_path):
    ledger = ledger_of(tmp_path, 3, out=8, empty=0)
    with pytest.raises(InputError, match=r"out: is not there, .* that 8 bytes were written"):
        OnceFile(str(tmp_path / "out"), ledger).__enter__()
    assert not (tmp_path / "out").exists()
    with OnceFile(str(tmp_path / "empty"), ledger) as file:
        assert file.sync() == 0, "nothing of it is lost"


def write_something(finish):
    with OnceFile("/dev/full", Ledger(None)) as file:
        file.write("something")
        finish(file)


@needs_full_device
def test_a_full_disk(tmp_path):
    for finish in (OnceFile.sync, OnceFile.flush, lambda file: None):
        with pytest.raises(EnsueError, match="/dev/full: cannot be written: No space left on device"):
            write_something(finish)
    ledger = Ledger(tmp_path)
    os.symlink("/dev/full", ledgers.part_of(tmp_path / ledgers.NAME))
    with pytest.raises(EnsueError, match=f"{ledgers.NAME}: cannot be written: No space left on device"):
        ledger.close(Written(0))


# What the system or other users do to it.


@pytest.fixture
def unprivileged():
    """Call it to lose the rights of root, under which everything can be written."""
    if os.geteuid() != 0:
        yield lambda: None
        return
    yield lambda: os.seteuid(65534)
    os.seteuid(0)


@pytest.fixture
def reachable():
    """A folder that another user can reach, unlike pytest's own."""
    place = Path(mkdtemp())
    place.chmod(0o777)
    yield place
    shutil.rmtree(place)


@pytest.mark.parametrize("is_new", [True, False])
def test_one_that_cannot_be_written(reachable, unprivileged, is_new):
    checkpoint, found = reachable / "checkpoint", card()
    unprivileged()  # From here on the package itself may lie where we cannot read.
    if not is_new:
        go_on(checkpoint, found)
        checkpoint.chmod(0o500)
    else:
        checkpoint = Path("/") / "ensue-checkpoint"
    with pytest.raises(EnsueError, match=r"cannot be written: Permission denied \(hint: is there space"):
        go_on(checkpoint, found)
    if not is_new:
        checkpoint.chmod(0)
        with pytest.raises(InputError, match="cannot be read: Permission denied"), alone(checkpoint):
            pass
        with pytest.raises(InputError, match="cannot be read: Permission denied"):
            Ledger(checkpoint)


@needs_full_device
def test_a_full_disk_for_the_card(tmp_path):
    os.symlink("/dev/full", ledgers.part_of(tmp_path / cards.NAME))
    with pytest.raises(EnsueError, match="cannot be written: No space left on device"):
        go_on(tmp_path, card())


def test_it_is_made_private(tmp_path):
    go_on(tmp_path / "new", card())
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777])
def test_one_that_others_may_write_to_is_refused(tmp_path, mode):
    checkpoint = tmp_path / "checkpoint"
    go_on(checkpoint, card())
    checkpoint.chmod(mode)
    with pytest.raises(UsageError, match=r"is not private: others may write to it \(hint: `chmod 700"):
        go_on(checkpoint, card())
    checkpoint.chmod(0o755)
    go_on(checkpoint, card())


@needs_root
def test_one_of_another_user_is_refused(tmp_path):
    go_on(tmp_path / "checkpoint", card())
    os.chown(tmp_path / "checkpoint", 65534, -1)
    (tmp_path / "link").symlink_to("checkpoint")
    for name in ("checkpoint", "link"):
        with pytest.raises(UsageError, match="is not private: it belongs to user 65534"):
            go_on(tmp_path / name, card())


def test_a_second_run_leaves_the_card_of_the_first(tmp_path, capsys):
    (tmp_path / "q.rq").write_text(TEXT.format(4))
    (tmp_path / "s.tsv").touch()
    words = [str(tmp_path / "q.rq"), "--stream", f"urn:s={tmp_path / 's.tsv'}", "--keep-all"]
    words += ["--checkpoint", str(tmp_path / "checkpoint")]
    go_on(tmp_path / "checkpoint", card(filtered=False))
    before = (tmp_path / "checkpoint" / cards.NAME).read_bytes()
    with alone(tmp_path / "checkpoint"):
        assert main(["run", *words, "--rules", "rdfs-jena"]) == 2
    assert "another run has the checkpoint" in capsys.readouterr().err
    assert (tmp_path / "checkpoint" / cards.NAME).read_bytes() == before


@pytest.fixture
def small_disk(tmp_path):
    """A disk of so many KiB; call it again for a larger one."""
    folder = tmp_path / "small"
    folder.mkdir()

    def sized(kib, *more):
        options = ",".join([*more, f"size={kib}k", "mode=0700"])
        words = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
        if subprocess.run(words, check=False, capture_output=True).returncode != 0:
            pytest.skip("file systems cannot be mounted here")
        return folder

    yield sized
    subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


@pytest.mark.long
@needs_root
def test_a_job_goes_on_when_there_is_space_again(tmp_path, small_disk, capfd):
    lines = (f"{10 * i}\t<urn:s{i % 50}> <http://example.org/isIn> <urn:o{i}> .\n" for i in range(10_000))
    (tmp_path / "s.tsv").write_text("".join(lines))
    (tmp_path / "q.rq").write_text(TEXT.format(4))
    words = ["run", str(tmp_path / "q.rq"), "--stream", f"urn:s={tmp_path / 's.tsv'}", "--quiet", "--output"]
    spark = [str(tmp_path / "out.jsonl"), "--checkpoint", str(small_disk(300) / "checkpoint")]
    spark += ["--batch-bytes", "50000", "--cores", "2"]
    assert main([*words, *spark]) == 1
    assert "No space left on device (hint: is there space" in capfd.readouterr().err
    small_disk(100_000, "remount")
    assert main([*words, *spark]) == 0
    assert main([*words, str(tmp_path / "expected.jsonl"), "--engine", "local"]) == 0
    expected, found = ((tmp_path / name).read_text().splitlines() for name in ("expected.jsonl", "out.jsonl"))
    assert len(expected) > 40
    assert list(map(_in_order, found)) == list(map(_in_order, expected))


def _in_order(line):
    result = json.loads(line)
    result["bindings"].sort(key=json.dumps)
    return result
