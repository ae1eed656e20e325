"""Partitioned queries on Spark: over one shard or four, the answers of one reasoner, in the same order.

Some of them are temporal: those go without rules, which would be recursive.
"""

from __future__ import annotations

from random import Random

from spark.packed import Packed, run_packed

from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.spark.plan import plan_of
from ensue.streamfile import read_stream

ISIN = "<http://example.org/isIn>"
WINDOW = "FROM STREAM <urn:s> [RANGE 4s STEP 2s]"
GRAPH = f"""
REGISTER QUERY q AS SELECT ?x ?z {WINDOW} PARTITION BY GRAPH
WHERE {{ ?x {ISIN} ?z }} ORDER BY ?x ?z LIMIT 7"""
KEY = f"""
REGISTER QUERY q AS SELECT ?z (COUNT(?x) AS ?n) {WINDOW} PARTITION BY <urn:floor>
WHERE {{ ?x {ISIN} ?z }} GROUP BY ?z ORDER BY ?z"""
CHANGES = f"""
REGISTER ISTREAM <q> AS SELECT ?z FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE PT4S STEP PT2S]
PARTITION BY GRAPH WHERE {{ WINDOW <urn:w> {{ ?x {ISIN} ?z }} }} ORDER BY ?z"""
SEQ = f"""
REGISTER QUERY q AS SELECT ?x ?y ?z {WINDOW} PARTITION BY GRAPH
WHERE {{ {{ ?x {ISIN} ?y }} SEQ [CHRONICLE] {{ ?y {ISIN} ?z }} WITHIN 3s }} ORDER BY ?x ?y ?z"""
SEQ_KEY = f"""
REGISTER QUERY q AS SELECT ?y (COUNT(?x) AS ?n) {WINDOW} PARTITION BY <urn:floor>
WHERE {{ {{ ?x {ISIN} ?y }} SEQ NOT {{ ?y {ISIN} <urn:a0> }} SEQ {{ ?x {ISIN} ?z }} }}
GROUP BY ?y ORDER BY ?y"""
CASES = (
    *(("graph", GRAPH, (1, 4)), ("key", KEY, (1, 4)), ("changes", CHANGES, (4,))),
    *(("events by graph", SEQ, (1, 4)), ("key of events", SEQ_KEY, (4,))),
)


def write(path, random):
    """Chains within graphs, of things of which a few are on no floor."""
    with path.open("w") as out:
        for number in range(600):
            graph = random.choice(["", *(f"<urn:g{k}>" for k in range(25))])
            first, second = random.sample(range(12), 2)
            out.write(f"{number * 20}\t<urn:a{first}> {ISIN} <urn:a{second}> {graph} .\n")


def job_of(text):
    floors = [(f"<urn:a{k}>", "<urn:floor>", f"<urn:f{k % 5}>", None) for k in range(9)]
    both = ("<urn:a0>", "<urn:floor>", "<urn:f4>", None)
    settings, query = Settings(fixed_schema=True), parse_query(text)
    rules = load_rules() if query.events else load_rules("transitive-isin")
    return Job.of([query], rules, Sent((*floors, both)), settings)


def in_process(job, path):
    reasoner = job.reasoner()
    for batch in read_stream(path):
        reasoner.feed("urn:s", batch)
    return list(reasoner.end()), reasoner.counters()["unkeyed"]


def test_one_shard_or_four(spark, tmp_path):
    path = tmp_path / "s.tsv"
    write(path, Random(7))
    packed = []
    for name, text, counts in CASES:
        job = job_of(text)
        for shards in counts:
            plan = plan_of(job, shards=shards)
            assert len(plan.keys) == shards
            packed.append((job, Packed(f"{name}/{shards}", plan, {"urn:s": path})))
    run_packed(spark, [each for _, each in packed], tmp_path, micro_batches=3)
    for job, each in packed:
        wanted, unkeyed = in_process(job, path)
        found = [(r.open, r.close, list(r.answers.rows)) for r in each.results]
        assert found == [(r.open, r.close, list(r.answers.rows)) for r in wanted], each.name
        assert sum(counted["unkeyed"] for counted in each.counters.values()) == unkeyed, each.name
        assert sum(len(rows) for *_, rows in found) > 100
        done = "composed" if "events" in each.name else "derivations"
        busy = sum(counted[done] > 0 for counted in each.counters.values())
        print(f"{each.name}: {busy} shards found something, {unkeyed} statements in no partition")
        assert busy == len(each.plan.keys)
        assert (unkeyed > 0) == each.name.startswith("key")
