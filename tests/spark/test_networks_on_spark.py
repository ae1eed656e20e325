"""Rule networks on Spark: to the letter what one process gives, nodes that rules made among it."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import nullcontext, redirect_stderr
from io import StringIO
from random import Random

import pytest
from networks import test_figures as figures
from spark.packed import Packed, run_packed

from ensue.cli import main, run_spark
from ensue.networks.job import NetworkJob
from ensue.networks.parse import parse
from ensue.networks.run import NetworkRun
from ensue.spark import ledger as ledgers
from ensue.spark import network_answers
from ensue.spark.network_plan import network_plan
from ensue.streamfile import read_stream, write_stream
from ensue.terms import OWL
from ensue.windows.frontier import Disorder

TYPE = figures.TYPE
ALL = "\nSELECT ?g ?s ?p ?o WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
KEYED = """# element: statement
# arrives in: default
# partition by: {}
PREFIX : <urn:>
# rule: link
INSERT {{ GRAPH :links {{ ?x :link [ :to ?z ] }} GRAPH :seen {{ ?x :link ?z }} }}
WHERE {{ ?x :p ?y . ?y :p ?z FILTER NOT EXISTS {{ GRAPH :seen {{ ?x :link ?z }} }} }} ;
# rule: linked
SELECT ?x ?node ?z WHERE {{ GRAPH :links {{ ?x :link ?node . ?node :to ?z }} }} ;
# rule: forget
DELETE {{ ?a :p ?b }} WHERE {{ ?x :p ?y . ?y :p ?x . ?a :p ?b }} ;
# rule: free
DELETE {{ GRAPH :links {{ ?x :link ?node . ?node :to ?z }} }}
WHERE {{ GRAPH :links {{ ?x :link ?node . ?node :to ?z }} ?z :p ?x }}
"""


def figure(path, number):
    """What arrives at a figure's network."""
    things = {
        3: [
            figures.TestFigure3.RULE,
            ("<urn:l>", f"<{OWL}unionOf>", "_:x0"),
            *figures.items("x", "<urn:a>", "<urn:b>"),
        ],
        4: [
            *figures.TestFigure4.DISJOINT,
            *((s, TYPE, o) for s in ("<urn:y>", "_:z") for o in ("<urn:A>", "<urn:C>")),
        ],
        7: [
            ("<urn:A>", "<urn:sub>", "<urn:B>"),
            *(
                row
                for n in range(4)
                for row in (
                    (f"<urn:f{n}>", TYPE, f"<{OWL}Ontology>"),
                    (
                        f"<urn:d{n}>",
                        TYPE,
                        "<http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#Department>",
                    ),
                    (f"_:x{n}", "<urn:p>", f"<urn:y{n}>"),
                )
            ),
        ],
        8: [*((f"<urn:{n}>", TYPE, f"<{OWL}Class>") for n in "ABC"), ("<urn:x>", TYPE, "<urn:B>")],
    }
    write_stream(path, [(time, *row, None) for time, row in enumerate(things[number])])
    files = {4: (3, 4)}.get(number, (number,))
    text = " ;\n".join(
        (figures.FIGURES / f"figure{each}.ru").read_text().rstrip().rstrip(";") for each in files
    )
    return NetworkJob.of(parse(f"{text} ;{ALL}", name=f"figure{number}"), ["urn:s"])


def chains(path, rows=400):
    random = Random(3)
    write_stream(
        path,
        [
            (
                number // 2,
                *(f"<urn:a{random.randrange(12)}>", "<urn:p>", f"<urn:a{random.randrange(12)}>"),
                random.choice([None, *(f"<urn:g{k}>" for k in range(9))]),
            )
            for number in range(rows)
        ],
    )


def told(results):
    return [(result.query, result.close, result.graph, list(result.answers.rows)) for result in results]


def in_process(job, path):
    networks = job.networks()
    run = NetworkRun(networks, job.streams, disorder=job.disorder)
    found = []
    for batch in read_stream(path):
        run.feed("urn:s", batch)
        found += told(run.advance())
    return found + told(run.end()), run.metrics()


def test_the_figures_and_networks_by_key_give_what_one_process_gives(spark, tmp_path):
    rooms = tmp_path / "rooms.ttl"
    rooms.write_text("".join(f"<urn:a{n}> <urn:room> <urn:r{n % 3}>, <urn:r{n % 2}> .\n" for n in range(10)))
    chains(tmp_path / "chains.tsv")
    packed = []
    for number in (3, 4, 7, 8):
        path = tmp_path / f"figure{number}.tsv"
        packed.append((figure(path, number), 1, path))
    for key, counts in (("graph", (1, 2, 4)), ("<urn:room>", (2,))):
        job = NetworkJob.of(parse(KEYED.format(key)), ["urn:s"], [rooms], Disorder(3))
        packed += [(job, shards, tmp_path / "chains.tsv") for shards in counts]
    jobs = [
        Packed(f"{at}", network_plan(job, shards), {"urn:s": path})
        for at, (job, shards, path) in enumerate(packed)
    ]
    run_packed(spark, jobs, tmp_path, micro_batches=3)
    for each, (job, shards, path) in zip(jobs, packed, strict=True):
        wanted, counted = in_process(job, path)
        assert told(each.results) == wanted, job.file.name
        assert len(wanted) > 2
        assert len(each.counters) == shards
        for name in ("elements", "firings", "quads", "answers", *(["unkeyed"] if job.file.partition else [])):
            assert sum(shard[name] for shard in each.counters.values()) == counted[name], name
        assert all(shard["admitted"] == counted["admitted"] for shard in each.counters.values())
        if job.file.partition is not None:
            assert "_:network-" in str(wanted)
            busy = sum(shard["firings"] > 0 for shard in each.counters.values())
            assert busy >= min(shards, 2), "shards share the work"


# `ensue run`, in the session of all tests.

COUNTING = """# element: statement
# rule: count
DELETE { <urn:n> <urn:is> ?n } INSERT { <urn:n> <urn:is> ?m . ?x <urn:had> [ <urn:number> ?m ] }
WHERE { ?x <urn:p> ?y . <urn:n> <urn:is> ?n BIND(?n + 1 AS ?m) } ;
INSERT DATA { <urn:n> <urn:is> 0 } ;
# rule: counted
SELECT ?x ?node ?m WHERE { ?x <urn:had> ?node . ?node <urn:number> ?m } ;
# rule: forget
DELETE { ?x <urn:p> ?y } WHERE { ?x <urn:p> ?y }
"""


class Case:
    """A job in a folder, and what `ensue run` makes of it."""

    def __init__(self, folder):
        self.folder, self.network = folder, folder / "count.ru"
        self.output, self.checkpoint = folder / "out.jsonl", folder / "checkpoint"
        self.network.write_text(COUNTING)
        self.lines = [f"{n // 3}\t<urn:a{n % 7}> <urn:p> _:b{n} .\n" for n in range(120)]
        (folder / "s.tsv").write_text("".join([*self.lines[:50], "oops\n", *self.lines[50:]]))

    def run(self, *more, output=None):
        words = [str(self.network), "--stream", f"urn:s={self.folder / 's.tsv'}"]
        with redirect_stderr(StringIO()) as said:
            code = main(["run", *words, "--output", str(output or self.output), *more])
        return code, said.getvalue()

    def go_on(self, *more):
        return self.run("--checkpoint", str(self.checkpoint), "--batch-bytes", "1200", *more)

    def interrupt_after(self, batch):
        while not (self.checkpoint / ledgers.SPARK / "commits" / str(batch)).exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def case(spark, tmp_path, monkeypatch):
    """Commands use the session of the tests, and leave it running."""
    monkeypatch.setattr(run_spark, "embedded", lambda **_: nullcontext(spark))
    return Case(tmp_path)


def test_a_network_that_was_stopped_goes_on_where_it_was(case):
    expected, dead = case.folder / "expected.jsonl", case.folder / "dead.jsonl"
    held = [case.folder / f"{engine}.nq" for engine in ("local", "spark")]
    code, local = case.run("--engine", "local", "--dataset", str(held[0]), output=expected)
    assert (code, "dead letter" in local) == (0, True)
    threading.Thread(target=case.interrupt_after, args=[1], daemon=True).start()
    code, said = case.go_on("--dead-letters", str(dead))
    assert (code, "stopping after this micro-batch" in said) == (130, True), said
    before = case.output.read_text()
    assert expected.read_text().startswith(before)
    assert len(before) < expected.stat().st_size
    case.network.write_text(COUNTING.replace("?n + 1", "?n + 2"))
    code, said = case.go_on()
    assert (code, "the rules of the network changed" in said) == (2, True), said
    case.network.write_text(f"# the same\n{COUNTING}")
    code, said = case.go_on("--background", str(case.network.with_suffix(".nt")))
    assert code == 1, "there is no such file"
    code, said = case.go_on("--dead-letters", str(dead), "--dataset", str(held[1]))
    assert (code, "going on" in said) == (0, True), said
    assert held[0].read_text() == held[1].read_text()
    assert case.output.read_text() == expected.read_text()
    assert "120 statements in" in said
    assert said.splitlines()[-1].partition(": ")[2] == local.splitlines()[-1].partition(": ")[2]
    assert len(dead.read_text().splitlines()) == 1


def test_a_network_that_does_not_settle_stops_the_job(case):
    case.network.write_text(
        "# rule: more\nINSERT { [] <urn:p> ?x } WHERE { ?x <urn:p> ?y . <urn:a6> <urn:p> ?any } ;" + ALL
    )
    expected = case.folder / "local.jsonl"
    code, local = case.run("--engine", "local", "--max-rounds", "20", output=expected)
    assert (code, len(expected.read_text().splitlines())) == (1, 2)
    code, said = case.run("--max-rounds", "20")
    [wanted] = [line for line in local.splitlines() if "does not settle" in line]
    assert (code, wanted in said.splitlines()) == (1, True), said
    assert "in a circle, more -> more; the last solutions were more: ?any = " in wanted
    assert case.output.read_text() == expected.read_text(), "what was selected before has been given"


def test_a_mistake_is_refused_with_its_place_before_spark_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(run_spark, "embedded", None)
    case = Case(tmp_path)
    case.network.write_text("SELECT ?x WHERE { ?x <urn:p>+ ?y }")
    code, said = case.run()
    assert (code, "count.ru:1:" in said) == (1, True), said


# As a DataFrame.


def test_what_is_selected_is_a_table(spark, tmp_path):
    chains(tmp_path / "s.tsv", 60)
    network = (
        KEYED.format("graph") + "; SELECT ?x ?y WHERE { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?nothing } }"
    )
    frame = network_answers(spark, network, {"urn:s": tmp_path / "s.tsv"}, shards=2)
    query = frame.writeStream.format("memory").queryName("network").trigger(availableNow=True).start()
    query.awaitTermination()
    job = NetworkJob.of(parse(network), ["urn:s"])
    wanted = [
        (close, name, *(None if term is None else term.strip("<>").removeprefix("_:") for term in row))
        for name, close, _, rows in in_process(job, tmp_path / "s.tsv")[0]
        for row in rows
    ]
    linked = [
        (row.close, row.query, row.x, row.node, row.z)
        for row in spark.table("network").where("z IS NOT NULL").collect()
    ]
    assert sorted(linked) == sorted(row for row in wanted if row[1] == "linked")
    assert spark.table("network").columns[:7] == [
        "query",
        "open",
        "close",
        "x",
        "x_kind",
        "x_datatype",
        "x_lang",
    ]
    assert {row.node_kind for row in spark.table("network").where("z IS NOT NULL").collect()} == {"bnode"}
    counted = [progress["observedMetrics"]["ensue"] for progress in query.recentProgress]
    assert counted[-1].answers == len(wanted) > len(linked) > 0
