"""Arrays of shards on a shelf: who finds them, who does not, and that they go in the end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from marks import needs_full_device
from spark.test_shard import BLOCK, Memory, Piece, asking, block

from ensue.resumable import Resumable
from ensue.spark import shelf as shelves
from ensue.spark.shard import Cache, step
from ensue.spark.shelf import PLACE, Shelf, sweep


def make(*_):
    return asking(5)


def steps(cache_of, count, store=None, first=0):
    """Where each step found its shard, and how many answers it gave."""
    store, found = store or Memory(), []
    for number in range(first, first + count):
        rows = [(1000 * number + at, f"<urn:s{number}-{at}>", "<urn:p>", "<urn:o>") for at in range(50)]
        piece = Piece("urn:s", number, BLOCK, block(rows))
        outcome = step("shard", [piece], store, make, cache_of(number))
        found.append(outcome.counters["found"])
    return found


def test_workers_of_a_host_take_over_from_each_other(tmp_path):
    workers = [Cache(Shelf(tmp_path, "plan")) for _ in range(2)]
    found = steps(lambda number: workers[number // 2 % 2], 12)
    assert found == ["new", "kept", *["adopted", "kept"] * 5]
    assert len(list(tmp_path.iterdir())) == 1, "one folder for one shard"


def test_what_another_plan_put_there_is_not_found(tmp_path):
    store = Memory()
    steps(lambda _: Cache(Shelf(tmp_path, "plan")), 3, store)
    assert steps(lambda _: Cache(Shelf(tmp_path, "other")), 1, store, 3) == ["rebuilt"]


def test_other_integers_are_not_adopted(tmp_path):
    store = Memory()
    steps(lambda _: Cache(Shelf(tmp_path, "plan")), 3, store)
    contents = next(tmp_path.glob("*/contents"))
    data, basis = contents.read_bytes(), make().basis.encode()
    assert basis in data
    contents.write_bytes(data.replace(basis, b"0" * len(basis)))
    assert steps(lambda _: Cache(Shelf(tmp_path, "plan")), 1, store, 3) == ["rebuilt"]


def test_one_that_was_claimed_by_an_attempt_that_died_is_not_found(tmp_path):
    store, worker = Memory(), Cache(Shelf(tmp_path, "plan"))
    steps(lambda _: worker, 3, store)
    [folder] = tmp_path.iterdir()
    assert Shelf(tmp_path, "plan").claim(folder.name.split(".")[-1])
    assert steps(lambda _: worker, 1, store, 3) == ["rebuilt"], "another may be writing into the arrays"


@needs_full_device
def test_a_full_disk_costs_time_only(tmp_path, monkeypatch):
    def full(*_):
        Path("/dev/full").write_bytes(b"x")

    worker = Cache(Shelf(tmp_path, "plan"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        assert steps(lambda _: worker, 3) == ["new", "kept", "kept"]
    assert not list(tmp_path.iterdir()), "nothing is left of what did not fit"


def test_old_folders_are_swept_away(tmp_path):
    store, worker = Memory(), Cache(Shelf(tmp_path, "plan"))
    steps(lambda _: worker, 2, store)
    sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    sweep(tmp_path, older=-1)
    assert not list(tmp_path.iterdir())
    assert steps(lambda _: worker, 1, store, 2) == ["rebuilt"]


def test_folders_that_the_dead_have_claimed_are_swept_away(tmp_path):
    shelf, ended = Shelf(tmp_path, "plan"), subprocess.Popen(["true"])
    ended.wait()
    mine, theirs = shelf.new().path, tmp_path / f"claimed.{ended.pid}.0123"
    theirs.mkdir()
    sweep(tmp_path)
    assert (mine.exists(), theirs.exists()) == (True, False)


def test_a_plan_is_cleared_and_others_stay(tmp_path):
    one, other = Shelf(tmp_path, "one"), Shelf(tmp_path, "other")
    for shelf in (one, other):
        folder = shelf.new()
        folder.seal({})
        shelf.put(folder, "t")
    one.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["other.t"]


def test_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv(PLACE, str(tmp_path / "deep" / "er"))
    assert Shelf.found("plan") is not None
    place = tmp_path / "deep" / "er" / f"ensue-{os.getuid()}"
    assert place.stat().st_mode & 0o777 == 0o700
    place.chmod(0o755)
    assert Shelf.found("plan") is None, "what others may write to is not trusted"
    monkeypatch.setenv(PLACE, "off")
    assert Shelf.found("plan") is None
    monkeypatch.setenv(PLACE, "/proc/nowhere")
    assert Shelf.found("plan") is None
    monkeypatch.delenv(PLACE)
    monkeypatch.setattr(shelves, "_SHARED_MEMORY", tmp_path / "none")
    monkeypatch.setattr(shelves, "gettempdir", lambda: str(tmp_path / "temporary"))
    assert Shelf.found("plan") is not None
    assert (tmp_path / "temporary").is_dir()


@pytest.mark.parametrize("parts", ["CONSTRUCT { [] <urn:q> ?o }", "SELECT ?s"])
def test_answers_are_the_same_with_and_without(tmp_path, parts):
    def made(*_):
        reasoner = asking(3)
        text = (
            f"REGISTER QUERY all AS {parts} FROM STREAM <urn:s> [RANGE 3s STEP 1s] WHERE {{ ?s <urn:p> ?o }}"
        )
        reasoner.register(text)
        return reasoner

    def results(caches):
        store, found = Memory(), []
        for number in range(8):
            rows = [(500 * number, f"<urn:s{number}>", "<urn:p>", f'"{number}"')]
            outcome = step("x", [Piece("urn:s", number, BLOCK, block(rows))], store, made, caches[number % 2])
            found += [
                (each.query, each.close, sorted(map(str, each.answers.rows))) for each in outcome.results
            ]
        return found

    plain = results([Cache(), Cache()])
    assert plain == results([Cache(Shelf(tmp_path, "plan")) for _ in range(2)])
    assert any(rows for _, _, rows in plain)


def test_what_queries_construct_is_logged_by_whoever_adopts(tmp_path):
    """A process that has never seen the shard adopts it, and a later one has the truth alone."""

    def made(*_):
        reasoner = Resumable()
        reasoner.register(
            "REGISTER STREAM <urn:made> AS CONSTRUCT { ?s <urn:q> ?o } "
            "FROM STREAM <urn:s> [RANGE 1s STEP 1s] WHERE { ?s <urn:p> ?o }"
        )
        reasoner.register(
            "REGISTER QUERY seen AS SELECT ?s "
            "FROM STREAM <urn:made> [RANGE 20s STEP 1s] WHERE { ?s <urn:q> ?o }"
        )
        reasoner.settle()
        return reasoner

    def answers(cache_of):
        store, found = Memory(), []
        for number in range(12):
            rows = [(1000 * number + 500, f"<urn:s{number}>", "<urn:p>", "<urn:o>")]
            piece = Piece("urn:s", number, BLOCK, block(rows))
            outcome = step("x", [piece], store, made, cache_of(number))
            results = [each for each in outcome.results if each.query == "seen"]
            found.append([(each.close, sorted(each.answers.rows)) for each in results])
        return found

    one = Cache()
    plain = answers(lambda _: one)
    assert len(plain[-1][-1][1]) >= 10
    # Every process is a new one, and the last has no shelf.
    assert answers(lambda number: Cache(Shelf(tmp_path, "plan") if number < 11 else None)) == plain
