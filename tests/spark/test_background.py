"""Backgrounds that are larger than what Spark sends along with a task: answers are those of one process."""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plan import shards
from query.equivalence.cases import make_case
from spark.test_same_answers import in_bound, packed_case

from ensue.bench.pipeline_background import background as lubm
from ensue.bench.pipeline_background import write_stream_of_members
from ensue.cli import main
from ensue.errors import EnsueError
from ensue.job import Job, Settings
from ensue.knowledge import InFiles
from ensue.networks.job import NetworkJob
from ensue.networks.parse import parse
from ensue.networks.run import NetworkRun
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet
from ensue.spark import answers, closure, job_shard
from ensue.spark.network_plan import network_plan
from ensue.spark.payload_files import PayloadFiles, remove_abandoned
from ensue.spark.plan import plan_of
from ensue.spark.runner import Feed, Run
from ensue.spark.shelf import Shelf
from ensue.streamfile import read_stream

SEED = int(os.environ.get("ENSUE_SEED", "1"))
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
MANY = 20_000
BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
QUERY = """REGISTER QUERY of AS SELECT ?a ?p FROM STREAM <urn:s> [RANGE 2s STEP 1s]
WHERE { ?a <urn:of> ?p . ?p a <urn:D> }"""


@pytest.fixture(scope="module")
def background(tmp_path_factory):
    """A class with many members."""
    path = tmp_path_factory.mktemp("background") / "members.nt"
    members = "".join(f"<urn:p{number}> {TYPE} <urn:C> .\n" for number in range(MANY))
    path.write_text(f"<urn:C> {BELOW} <urn:D> .\n{members}")
    return path


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    """Statements about some of them, and about others."""
    path = tmp_path_factory.mktemp("stream") / "stream.tsv"
    rows = (f"{100 * n}\t<urn:a{n}> <urn:of> <urn:p{n * 7919 % (MANY + 5000)}> .\n" for n in range(200))
    path.write_text("".join(rows))
    return path


def in_process(job, stream: Path):
    reasoner = job.reasoner()
    for batch in read_stream(str(stream)):
        reasoner.feed(reasoner.streams[0], batch)
    return listed(reasoner.end())


def listed(results):
    return [(each.query, each.close, sorted(each.answers.rows)) for each in results if each.answers.rows]


def job_over(background, text=QUERY, rules="rdfs", **settings):
    found = load_rules(rules) if rules else RuleSet("none", ())
    return Job.of([parse_query(text)], found, InFiles((background,)), Settings(**settings))


def on_spark(spark, job, stream, count=1):
    results, counters = [], []

    def take(batch):
        results.extend(batch.results)
        counters.append(batch.counters)

    size = stream.stat().st_size // 4
    feed = Feed({"urn:s": str(stream)}, bytes_per_batch=size)
    plan = plan_of(job, shards=count)
    assert len(plan.keys) == count
    Run(spark, plan, feed, take).until_it_ends()
    assert len(counters) > 2
    return listed(results)


@pytest.mark.parametrize(("rules", "count"), [("rdfs", 1), (None, 2)])
def test_a_job_with_many_statements_in_its_background(spark, background, stream, rules, count):
    text = QUERY if rules else QUERY.replace("urn:D", "urn:C")
    job = job_over(background, text, rules)
    wanted = in_process(job, stream)
    assert sum(len(rows) for _, _, rows in wanted) > 100
    assert on_spark(spark, job, stream, count) == wanted


KEYED = """REGISTER QUERY of AS SELECT ?a ?p FROM STREAM <urn:s> [RANGE 2s STEP 1s]
PARTITION BY <urn:of> WHERE { ?a <urn:near> ?p . ?p a <urn:D> }"""


def test_keys_of_many_subjects_in_the_background(spark, tmp_path):
    background, stream = tmp_path / "keys.nt", tmp_path / "keyed.tsv"
    rows = (f"<urn:p{n}> {TYPE} <urn:C> .\n<urn:a{n}> <urn:of> <urn:k{n % 7}> .\n" for n in range(MANY))
    background.write_text(f"<urn:C> {BELOW} <urn:D> .\n{''.join(rows)}")
    stream.write_text(
        "".join(f"{100 * n}\t<urn:a{n}> <urn:near> <urn:p{n * 7919 % MANY}> .\n" for n in range(200))
    )
    job = job_over(background, KEYED, fixed_schema=True)
    wanted = in_process(job, stream)
    assert sum(len(rows) for _, _, rows in wanted) > 200
    assert on_spark(spark, job, stream, 2) == wanted


def test_a_job_goes_on_from_its_checkpoint(spark, background, stream, tmp_path):
    job = job_over(background)
    results = []

    def once(count):
        """Run until so many micro-batches are there; each start closes the background anew."""
        left = [count]

        def take(batch):
            results.extend(batch.results)
            left[0] -= 1
            if not left[0]:
                run.stop()

        feed = Feed({"urn:s": str(stream)}, bytes_per_batch=stream.stat().st_size // 4)
        run = Run(spark, plan_of(job), feed, take, tmp_path)
        run.until_it_ends()

    once(2)
    before = len(results)
    once(100)
    assert 0 < before < len(results)
    assert listed(results) == in_process(job, stream)


NETWORK = """# element: statement
# rule: of
SELECT ?a ?p WHERE { ?a <urn:of> ?p . ?p a <urn:C> } ;
# rule: forget
DELETE { ?a <urn:of> ?p } WHERE { ?a <urn:of> ?p }"""


def test_a_network_with_many_statements_in_its_background(spark, background, stream, tmp_path):
    job = NetworkJob.of(parse(NETWORK), ["urn:s"], [background])
    found = []
    statements = [row for batch in read_stream(str(stream)) for row in batch]
    network = NetworkRun(job.networks(), job.streams)
    network.feed("urn:s", statements)
    wanted = listed([*network.advance(), *network.end()])
    feed = Feed({"urn:s": str(stream)}, bytes_per_batch=stream.stat().st_size // 2)
    Run(spark, network_plan(job), feed, lambda batch: found.extend(batch.results)).until_it_ends()
    assert len(wanted) > 100
    assert listed(found) == wanted


@pytest.mark.long
def test_a_million_statements(spark, tmp_path):
    stream = write_stream_of_members(tmp_path / "campus.tsv", 4000)
    text = """PREFIX ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#>
    REGISTER QUERY taught AS SELECT ?s ?c ?t FROM STREAM <urn:s> [RANGE 10s STEP 5s]
    WHERE { ?s <urn:attends> ?c . ?t ub:teacherOf ?c . ?t a ub:Professor }"""
    known = lubm(10)
    assert len(known) > 1_300_000
    job = Job.of([parse_query(text)], load_rules("rdfs"), known)
    wanted = in_process(job, stream)
    assert sum(len(rows) for _, _, rows in wanted) > 1000
    assert on_spark(spark, job, stream) == wanted


@pytest.mark.long
def test_a_cluster_is_brought_the_background(tmp_path, monkeypatch, background, stream):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent.parent / "tools"))
    from cluster import Cluster

    (tmp_path / "of.rq").write_text(QUERY)
    common = ["run", str(tmp_path / "of.rq"), "--rules", "rdfs", "--background", str(background)]
    common += ["--stream", f"urn:s={stream}", "-q", "--output"]
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    with Cluster(tmp_path, workers=2) as cluster:
        words = [*common, str(tmp_path / "cluster.csv"), "--master", cluster.url]
        words += ["--conf", "spark.driver.host=127.0.0.1"]
        # Workers of other hosts do not see the driver's folder: here they are kept from finding it.
        code = "import sys, ensue.cli, ensue.spark.payload_files as files\nmade = files.Packed\n"
        code += "files.Packed = lambda digest, size, data, path=None: made(digest, size, data)\n"
        code += "sys.exit(ensue.cli.main(sys.argv[1:]))"
        subprocess.run([sys.executable, "-c", code, *words], check=True)
    assert main([*common, str(tmp_path / "local.csv"), "--engine", "local"]) == 0
    rows = [sorted((tmp_path / name).read_text().splitlines()) for name in ("cluster.csv", "local.csv")]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 100


def test_data_frames_over_many_statements(spark, background, stream, tmp_path):
    frame = answers(spark, QUERY, {"urn:s": stream}, "rdfs", background)
    closed = closure(spark, "RANGE 20s STEP 20s", {"urn:s": stream}, "rdfs", background)
    results = in_process(job_over(background), stream)
    rows = ((close, *(term.strip("<>") for term in row)) for _, close, rows in results for row in rows)
    assert written(frame, tmp_path / "answers") == sorted(rows)
    assert len(written(closed.select("close", "s", "o"), tmp_path / "closed")) > 200


def written(frame, folder):
    named = [name for name in ("close", "a", "p", "s", "o") if name in frame.columns]
    writer = frame.select(*named).writeStream.format("json").option("checkpointLocation", f"{folder}/cp")
    writer.trigger(availableNow=True).start(f"{folder}/out").awaitTermination()
    lines = [line for path in (folder / "out").glob("*.json") for line in path.read_text().splitlines()]
    return sorted(tuple(json.loads(line)[name] for name in named) for line in lines)


def test_files_of_payloads_go_with_their_owner(tmp_path):
    files = PayloadFiles(place=tmp_path)
    packed = files.pack(list(range(100_000)))
    assert packed.data is None
    assert len(pickle.dumps(packed)) < 1000
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700
    assert files.pack(list(range(100_000))) == packed
    assert len(list(files.folder.iterdir())) == 1, "the same is written once"
    assert packed.fresh() == list(range(100_000))
    with PayloadFiles(place=tmp_path):
        assert files.folder.exists(), "its owner lives"
    os.close(files._lock)  # As if the process had been killed.
    remove_abandoned(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("harm", ["another content", "cut", "others may write", "gone"])
def test_a_file_that_is_not_what_the_driver_wrote_is_not_loaded(tmp_path, harm):
    with PayloadFiles(place=tmp_path) as files:
        packed = files.pack({"harm": harm, "numbers": np.arange(100_000)})
        path = Path(packed.path)
        if harm == "another content":
            path.write_bytes(bytes(packed.size))
        elif harm == "cut":
            os.truncate(path, packed.size // 2)
        elif harm == "others may write":
            path.chmod(0o666)
            files.folder.chmod(0o755)
        else:
            path.unlink()
        with pytest.raises(EnsueError, match="is not on this host"):
            packed.fresh()


def test_arrays_are_mapped_and_are_each_owners_own(tmp_path):
    with PayloadFiles(place=tmp_path) as files:
        packed = files.pack(np.arange(100_000))
        one, other = packed.fresh(), packed.fresh()
        one[0] = 7
        assert (one[0], other[0]) == (7, 0)
        assert np.array_equal(packed.value(), np.arange(100_000))
        assert not one.flags.owndata


@pytest.mark.parametrize("seed", range(SEED, SEED + 12))
def test_shards_that_begin_with_an_image_answer_as_others(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(job_shard, "FEW_STATEMENTS", -1)
    print(f"seed {seed}")
    [packed] = [
        each for each in packed_case(in_bound(make_case(seed)), tmp_path / "case") if "/1" in each.name
    ]
    plan, job = packed.plan, packed.plan.job
    assert all(shard.packed.image is not None for _, shard in plan.shards())
    streams = {
        stream: [row[:-1] if row[-1] is None else row for batch in read_stream(str(path)) for row in batch]
        for stream, path in packed.streams.items()
    }
    wanted = shards.listed(shards.in_process(job, streams))
    # Each micro-batch in a process of its own, by what lies on the shelf or by the truth alone.
    for forgets, shelf in ((False, Shelf(tmp_path, "plan")), (True, None)):
        found = shards.over_shards(plan, streams, forgets=forgets, shelf=shelf)
        assert shards.listed(found) == wanted
