"""The job that `kill_soak.py` kills: queries that remember, rules with recursion, streams out of order."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

SECONDS = 240
"""Seconds of stream time: with the soak's micro-batches, some two dozen of them."""
DISORDER_MS = 1000
STREAMS = {"moves": "moves", "readings": "readings.tsv"}
"""The streams, and where their files are."""

QUERIES = {
    "places": "SELECT ?x ?y FROM STREAM :moves [RANGE 4s STEP 2s] WHERE { ?x a :Thing ; :isIn ?y }",
    "arrivals": """REGISTER ISTREAM :arrivals AS SELECT ?x ?y FROM NAMED WINDOW :w ON :moves
        [RANGE PT6S STEP PT2S] WHERE { WINDOW :w { ?x a :Thing ; :isIn ?y } }""",
    "crowds": """REGISTER QUERY crowds COMPUTE EVERY 3s AS SELECT ?y (COUNT(?x) AS ?n)
        FROM STREAM :moves [RANGE 6s STEP 2s] WHERE { ?x :isIn ?y } GROUP BY ?y""",
    "alarms": """REGISTER STREAM :alarms COMPUTED EVERY 2s AS CONSTRUCT { ?x a :Hot }
        FROM STREAM :readings [RANGE 4s STEP 2s] WHERE { ?x :reads ?v FILTER(?v > 60) }""",
    "seen": """REGISTER QUERY seen AS SELECT ?y (COUNT(?x) AS ?n) FROM STREAM :alarms [RANGE 8s STEP 4s]
        FROM STREAM :moves [RANGE 8s STEP 4s] WHERE { ?x a :Hot ; :isIn ?y } GROUP BY ?y""",
    "heated": """SELECT ?x ?v ?w FROM STREAM :readings [RANGE 8s STEP 2s]
        WHERE { { ?x :reads ?v FILTER(?v < 50) } SEQ [CHRONICLE] { ?x :reads ?w FILTER(?w > 50) } }""",
}
BACKGROUND = (
    "@prefix : <http://example.org/> . :house0 :isIn :town . :house1 :isIn :town . :town :isIn :land ."
)
SPREAD_QUERIES = {
    "movers": "SELECT ?x ?y FROM STREAM :moves [RANGE 4s STEP 2s] WHERE { ?x a :Mover ; :isIn ?y }",
    "gone": """REGISTER DSTREAM :gone AS SELECT ?x ?y FROM NAMED WINDOW :w ON :moves
        [RANGE PT6S STEP PT2S] WHERE { WINDOW :w { ?x a :Mover ; :near ?y } }""",
    "busy": """REGISTER QUERY busy AS SELECT ?x (COUNT(?y) AS ?n)
        FROM STREAM :moves [RANGE 6s STEP 2s] WHERE { ?x :near ?y } GROUP BY ?x""",
    "hot": """SELECT ?x ?v FROM STREAM :readings [RANGE 4s STEP 2s] FROM STREAM :moves [RANGE 8s STEP 4s]
        WHERE { ?x a :Mover ; :reads ?v FILTER(?v > 60) }""",
    "heated": """SELECT ?x ?y ?v
        FROM STREAM :moves [RANGE 8s STEP 2s] FROM STREAM :readings [RANGE 8s STEP 2s]
        WHERE { { ?x :near ?y } SEQ [RECENT] NOT { ?x :reads 0 } SEQ { ?x :reads ?v } WITHIN 5s }""",
    "rooms": """REGISTER ISTREAM :rooms AS SELECT ?y (COUNT(?x) AS ?n) FROM NAMED WINDOW :w ON :moves
        [RANGE PT6S STEP PT2S] WHERE { WINDOW :w { ?x a :Mover ; :near ?y } } GROUP BY ?y""",
    "left": """REGISTER DSTREAM :left AS SELECT DISTINCT ?y FROM NAMED WINDOW :w ON :moves
        [RANGE PT4S STEP PT2S] WHERE { WINDOW :w { ?x a :Mover ; :isIn ?y } }""",
    "hottest": """SELECT ?x ?v FROM STREAM :readings [RANGE 4s STEP 2s]
        WHERE { ?x :reads ?v } ORDER BY DESC(?v) LIMIT 3""",
}
"""What is said of one thing in these rests on statements about that thing alone. Parts of some are merged."""
STAR_QUERIES = {name: SPREAD_QUERIES[name] for name in ("movers", "gone", "left")}
"""Each needs two matches about one thing: what lacks one may be left out by the shards."""
SPREAD_BACKGROUND = """
    @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Thing rdfs:subClassOf :Mover . :isIn rdfs:subPropertyOf :near ."""
NETWORK = """# element: statement
PREFIX : <http://example.org/>
# rule: left
DELETE { GRAPH :now { ?x :isIn ?before } }
WHERE { GRAPH :now { ?x :isIn ?before } ?x :isIn ?place FILTER(?place != ?before) } ;
# rule: came
INSERT { GRAPH :now { ?x :isIn ?place } GRAPH :log { ?x :made [ :to ?place ] } }
WHERE { ?x :isIn ?place FILTER NOT EXISTS { GRAPH :now { ?x :isIn ?place } } } ;
# rule: visits
SELECT ?x ?visit ?place WHERE { GRAPH :log { ?x :made ?visit . ?visit :to ?place } } ;
# rule: hot
SELECT ?x ?v ?place WHERE { ?x :reads ?v . GRAPH :now { ?x :isIn ?place } FILTER(?v > 60) } ;
# rule: forget
DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER NOT EXISTS { ?s :team ?team FILTER(?o = ?team) } }
"""
"""A rule network that deletes, and makes nodes."""
TEAMS = "".join(
    f"<http://example.org/thing{n}> <http://example.org/team> <http://example.org/team{n % 5}> .\n"
    for n in range(10)
)
BAD_LINES = ("no time here", "{}\t<urn:a> <urn:p> .", '{}\t"a" <urn:p> <urn:b> .', "{}\t")


@dataclass(frozen=True, slots=True)
class Workload:
    """The words of a job without those that say where its output goes."""

    local_words: tuple[str, ...]
    """Those that it can do without Spark."""
    spread: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.local_words, *self.spread)


def make_workload(
    folder: Path,
    seed: int,
    seconds: int = SECONDS,
    *,
    strays: float = 0.01,
    shards: int = 1,
    expand: bool = False,
    stars: bool = False,
) -> Workload:
    """Write queries, rules, and streams with lines out of order, some of them bad.

    `strays` is the share of lines that come later than is allowed: which windows such a line misses depends
    on where micro-batches end. `expand`: of several shards, linear rules run before statements are spread.
    `stars`: things are ever-new, and shards may leave out those of which too little is said.
    """
    random = Random(seed)
    folder.mkdir(parents=True)
    words = ["--rules", "transitive-isin"]
    spread: tuple[str, ...] = ()
    queries, background = QUERIES, BACKGROUND
    if shards > 1:
        words, spread = ["--rules", "rdfs-jena"], ("--fixed-schema", "--shards", str(shards))
        spread += ("--expand",) if expand else ()
        queries, background = STAR_QUERIES if stars else SPREAD_QUERIES, SPREAD_BACKGROUND
    for name, query in queries.items():
        (folder / f"{name}.rq").write_text(f"PREFIX : <http://example.org/>\n{query}\n")
        words.append(str(folder / f"{name}.rq"))
    words += [*_files(folder, random, seconds, strays, background, ("moves",) if stars else STREAMS)]
    return Workload(tuple(words), spread)


def make_network_workload(folder: Path, seed: int, seconds: int = SECONDS, *, shards: int = 1) -> Workload:
    """The same streams for a rule network; of several shards, for one for each team of things."""
    folder.mkdir(parents=True)
    declared = "# partition by: <http://example.org/team>\n" if shards > 1 else ""
    (folder / "network.ru").write_text(declared + NETWORK)
    words = [str(folder / "network.ru"), *_files(folder, Random(seed), seconds, 0, TEAMS)]
    return Workload(tuple(words), ("--shards", str(shards)) if shards > 1 else ())


def _files(
    folder: Path,
    random: Random,
    seconds: int,
    strays: float,
    background: str,
    streams: Collection[str] = STREAMS,
) -> Iterator[str]:
    """Write the streams and the background, and give the words of the command that name them.

    Without readings, moves are those of ever-new things.
    """
    (folder / "background.ttl").write_text(background)
    moved = _moves(random, seconds) if "readings" in streams else _passing(random, seconds)
    moves = list(_disordered(moved, random, strays))
    (folder / "moves").mkdir()
    half = len(moves) // 2
    (folder / "moves" / "1.tsv").write_text("".join(moves[:half]))
    (folder / "moves" / "2.tsv.gz").write_bytes(gzip.compress("".join(moves[half:]).encode()))
    (folder / "readings.tsv").write_text("".join(_disordered(_readings(random, seconds), random, strays)))
    yield from ("--background", str(folder / "background.ttl"), "--disorder", str(DISORDER_MS))
    for stream in streams:
        yield from ("--stream", f"http://example.org/{stream}={folder / STREAMS[stream]}")


def _moves(random: Random, seconds: int) -> Iterator[tuple[int, str]]:
    for now in range(0, 1000 * seconds, 200):
        thing = f":thing{random.randrange(12)}"
        yield now, f"{thing} a :Thing"
        yield now, f"{thing} :isIn :room{random.randrange(5)}"
        if random.random() < 0.3:
            yield now, f":room{random.randrange(5)} :isIn :house{random.randrange(2)}"


def _passing(random: Random, seconds: int) -> Iterator[tuple[int, str]]:
    """Things that are there for some seconds, and of many of which one thing alone is said."""
    for now in range(0, 1000 * seconds, 100):
        thing = f":thing{random.randrange(12)}of{now // 3000}"
        yield (
            now,
            f"{thing} a :Thing" if random.random() < 0.3 else f"{thing} :isIn :room{random.randrange(5)}",
        )


def _readings(random: Random, seconds: int) -> Iterator[tuple[int, str]]:
    for now in range(0, 1000 * seconds, 500):
        yield now, f":thing{random.randrange(12)} :reads {random.randrange(100)}"


def _disordered(statements: Iterator[tuple[int, str]], random: Random, strays: float) -> Iterator[str]:
    """Lines in an order that is within what is allowed, but for strays; and some bad ones."""
    moved = []
    for now, statement in statements:
        delay = random.randrange(DISORDER_MS if random.random() >= strays else 10 * DISORDER_MS)
        moved.append((now + delay, f"{now}\t{_expanded(statement)} .\n"))
        if random.random() < 0.01:
            moved.append((now, random.choice(BAD_LINES).format(now) + "\n"))
    return (line for _, line in sorted(moved))


def _expanded(statement: str) -> str:
    special = {"a": "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"}
    integer = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return " ".join(
        f"<http://example.org/{word[1:]}>" if word[0] == ":" else special.get(word) or integer.format(word)
        for word in statement.split()
    )
