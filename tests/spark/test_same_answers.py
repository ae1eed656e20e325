"""Golden and random cases on Spark: the same answers as in process, whatever the number of shards."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from golden.test_golden import by_query, cases, check_line, in_order, is_ordered
from plan import shards
from plan.programs import make_program
from query.equivalence.cases import BLANK, Case, End, Push, Register, make_case
from query.equivalence.history import parsed
from query.equivalence.reference import expected
from query.equivalence.replay import differences
from spark.packed import Packed, run_packed

from ensue.cli.job import job_of
from ensue.cli.main import build_parser
from ensue.cli.pairs import pairs
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.violations import reported
from ensue.spark.plan import plan_of
from ensue.streamfile import DeadLetters, read_stream
from ensue.windows.frontier import Disorder

SEED = int(os.environ.get("ENSUE_SEED", "1"))
RANDOM_CASES = 110
PROGRAMS = 24
SHARDS = (1, 2, 4)


def plans(name, job, streams):
    """The job with each number of shards that routing allows."""
    for count in SHARDS:
        # The first with whatever may come, the others as if schema never did, which makes more divisible.
        fixed = replace(job.settings, fixed_schema=count > 1 and not has_schema(streams))
        plan = plan_of(replace(job, settings=fixed), shards=count)
        if len(plan.keys) == count:
            yield Packed(f"{name}/{count}", plan, streams)


def has_schema(streams):
    """Whether a stream brings what rules may take for schema, or keys of partitions."""
    words = ("rdf-schema#", "owl#", "#type", "urn:sub", "inRoom")
    return any(word in path.read_text() for path in streams.values() for word in words)


def golden(runs):
    """The golden cases that can be compared, each with every run of it: `runs` takes a name, job, streams."""
    for case in cases():
        if "error" not in case.settings and not is_beyond_the_bound(case):
            words = case.words("auto", "auto")
            words[words.index("local")] = "spark"
            args = build_parser(words).parse_args(words)
            streams = {iri: Path(path) for iri, path in pairs(args.stream, "--stream").items()}
            for packed in runs(case.folder.name, job_of(args), streams):
                yield case, packed


def is_beyond_the_bound(case):
    """Whether statements are later than allowed: Spark judges them by micro-batch, so answers may differ."""
    words = case.words("auto", "auto")
    reasoner = job_of(args := build_parser(words).parse_args(words)).reasoner()
    for stream, path in pairs(args.stream, "--stream").items():
        for batch in read_stream(path, on_bad=DeadLetters()):
            reasoner.feed(stream, batch)
    return reasoner.counters()["late"] > 0


def is_right(case, packed):
    watched = packed.plan.job.watches
    told = [
        each.json()
        for result in packed.results
        if result.query in watched
        for each in reported(result, watched[result.query])
    ]
    # Shards tell neither the statements nor since when, and of the background nothing.
    said = [{k: v for k, v in line.items() if k not in ("since", "statements")} for line in case.violations]
    if in_order(told) != in_order(line for line in said if "window" in line):
        return False
    results = [result for result in packed.results if result.query not in watched]
    actual, wanted = by_query([result.json() for result in results]), by_query(case.expected)
    ordered = any(map(is_ordered, case.queries))
    windows = [
        {name: [(line["open"], line["close"]) for line in lines] for name, lines in part.items()}
        for part in (actual, wanted)
    ]
    if windows[0] != windows[1]:
        return False
    try:
        for name, lines in wanted.items():
            for line, want in zip(actual[name], lines, strict=True):
                check_line(line, want, ordered)
    except AssertionError:
        return False
    return True


def test_golden_cases(spark, tmp_path):
    listed = list(golden(plans))
    run_packed(spark, [packed for _, packed in listed], tmp_path, micro_batches=8)
    wrong = [packed.name for case, packed in listed if not is_right(case, packed)]
    assert not wrong, wrong
    counts = {n: sum(packed.name.endswith(f"/{n}") for _, packed in listed) for n in SHARDS}
    print(f"{len(listed)} runs of golden cases, by shards {counts}")
    assert counts[1] > 130
    assert counts[2] == counts[4] >= 10
    in_parts = sum(len(packed.batches) > 2 for _, packed in listed)
    print(f"{in_parts} of them got their statements in several micro-batches")
    assert in_parts > len(listed) / 2


def in_bound(case: Case) -> Case:
    """The case with all queries from the start, and without statements beyond the disorder allowed.

    Spark judges these by the frontier at the start of a micro-batch, the definition one by one.
    """
    registered = [action for action in case.actions if isinstance(action, Register)]
    newest: dict[str, int] = {}
    pushes = []
    for action in case.actions:
        if isinstance(action, Push):
            rows = []
            for time, statement in action.rows:
                if time >= newest.get(action.stream, time) - case.allowed[action.stream]:
                    rows.append((time, named(statement)))
                newest[action.stream] = max(time, newest.get(action.stream, time))
            pushes.append(replace(action, rows=tuple(rows)))
    background = tuple(map(named, case.background))
    graphs = {iri: tuple(map(named, statements)) for iri, statements in case.graphs.items()}
    return replace(case, background=background, graphs=graphs, actions=(*registered, *pushes, End()))


def named(statement):
    """The statement with an IRI for the blank node, which would be another one in each file."""
    return tuple("<urn:n>" if term == BLANK else term for term in statement)


def packed_case(case: Case, folder: Path):
    folder.mkdir()
    queries = [parsed(action.text) for action in case.actions if isinstance(action, Register)]
    graphs = {iri: tuple((*s, None) for s in statements) for iri, statements in case.graphs.items()}
    knowledge = Sent(tuple((*statement, None) for statement in case.background), graphs)
    disorder = {stream: Disorder(allowed) for stream, allowed in case.allowed.items()}
    settings = Settings(disorder=disorder, t0=case.t0, bounds=case.bounds)
    job = Job.of(queries, case.rules, knowledge, settings)
    streams = {}
    for number, stream in enumerate(job.reasoner().streams):
        streams[stream] = folder / f"{number}.tsv"
        pushes = [action for action in case.actions if isinstance(action, Push) and action.stream == stream]
        rows = [row for push in pushes for row in push.rows]
        text = "".join(f"{time}\t{' '.join(statement)} .\n" for time, statement in rows)
        streams[stream].write_text(text, encoding="utf-8")
    yield from plans(str(case.seed), job, streams)


def packed_programs(folder: Path):
    """Programs that run on four shards, with what one reasoner gives for each."""
    for program in map(make_program, range(SEED, SEED + PROGRAMS)):
        job = shards.job_of(program.case)
        plan = plan_of(job, shards=4)
        if len(plan.keys) == 4:
            statements, paths = shards.streams_of(program.case, plan, job), {}
            for number, (stream, rows) in enumerate(statements.items()):
                paths[stream] = folder / f"program{program.case.seed}-{number}.tsv"
                text = "".join(f"{time}\t{' '.join(statement)} .\n" for time, *statement in rows)
                paths[stream].write_text(text, encoding="utf-8")
            yield shards.in_process(job, statements), Packed(f"program {program.case.seed}", plan, paths)


def test_random_cases(spark, tmp_path):
    listed = []
    for seed in range(SEED, SEED + RANDOM_CASES):
        case = in_bound(make_case(seed))
        listed += [(case, packed) for packed in packed_case(case, tmp_path / str(seed))]
    programs = list(packed_programs(tmp_path))
    every = [*(packed for _, packed in listed), *(packed for _, packed in programs)]
    run_packed(spark, every, tmp_path, micro_batches=4)
    for results, packed in programs:
        assert shards.listed(packed.results) == shards.listed(results), packed.name
    merged = sum(bool(packed.plan.merging().queries) for _, packed in programs)
    print(f"{len(programs)} programs on four shards, {merged} with a merge")
    assert merged >= PROGRAMS / 3
    answered = 0
    for case, packed in listed:
        lines = expected(case)
        answered += sum(bool(line.answers) for line in lines)
        difference = next(differences(packed.name, lines, packed.results), None)
        if difference is not None:
            pytest.fail(str(difference), pytrace=False)
        assert not any(counted["late"] for counted in packed.counters.values()), packed.name
    counts = {n: sum(packed.name.endswith(f"/{n}") for _, packed in listed) for n in SHARDS}
    print(
        f"{len(listed)} runs of random cases from seed {SEED} on, by shards {counts}; {answered} with answers"
    )
    assert answered > 3 * RANDOM_CASES
