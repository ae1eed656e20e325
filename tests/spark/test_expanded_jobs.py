"""Jobs on Spark with linear rules applied before the shuffle: the same answers as without."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from plan.vocabulary import with_standard_vocabulary
from query.equivalence.cases import Push, make_case
from query.equivalence.reference import expected
from query.equivalence.replay import differences
from spark.packed import Packed, run_packed
from spark.test_same_answers import golden, has_schema, in_bound, is_right, packed_case

from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.plan.shapes import overlap
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.spark.plan import plan_of
from ensue.terms import RDF, RDFS
from ensue.windows.frontier import Disorder

SEED = int(os.environ.get("ENSUE_SEED", "1"))
RANDOM_CASES = 45
SHARDS = (1, 2)
TYPE = f"<{RDF}type>"


def expanded(name, job, streams, *, fixed):
    """The job with linear rules applied before the shuffle, for each number of shards that can be."""
    for shards in SHARDS:
        settled = replace(job, settings=replace(job.settings, fixed_schema=fixed))
        plan = plan_of(settled, shards=shards, expand=True)
        if plan.expansion is not None and len(plan.keys) == shards:
            yield Packed(f"{name}/{shards}", plan, streams)


def test_golden_cases(spark, tmp_path):
    def runs(name, job, streams):
        return expanded(name, job, streams, fixed=not has_schema(streams))

    listed = list(golden(runs))
    run_packed(spark, [packed for _, packed in listed], tmp_path, micro_batches=4)
    wrong = [packed.name for case, packed in listed if not is_right(case, packed)]
    assert not wrong, wrong
    print(f"{len(listed)} runs of golden cases: {[packed.name for _, packed in listed]}")
    assert len(listed) >= 5


def assumed_by(plan):
    parts = [part for part in (plan.expansion, plan.relevance, plan.routing) if part is not None]
    return [shape for part in parts for shape in part.assumed]


def without_schema(case, shapes):
    """The case without statements that a plan has assumed away."""

    def push(action):
        rows = (row for row in action.rows if not any(overlap(row[1], shape) for shape in shapes))
        return replace(action, rows=tuple(rows))

    return replace(case, actions=tuple(push(a) if isinstance(a, Push) else a for a in case.actions))


def random_jobs(seed, folder):
    """The runs of a random case, with what none of them may bring left out."""
    case = in_bound(make_case(seed))
    if seed % 3:
        case = with_standard_vocabulary(case)
    first = next(packed_case(case, folder / f"{seed}-whole"))
    found = [packed.plan for packed in expanded("", first.plan.job, first.streams, fixed=True)]
    case = without_schema(case, [shape for plan in found for shape in assumed_by(plan)])
    again = next(packed_case(case, folder / f"{seed}"))
    for packed in expanded(str(seed), again.plan.job, again.streams, fixed=True):
        yield case, packed


def test_random_cases(spark, tmp_path):
    listed = [each for seed in range(SEED, SEED + RANDOM_CASES) for each in random_jobs(seed, tmp_path)]
    run_packed(spark, [packed for _, packed in listed], tmp_path, micro_batches=4)
    answered = 0
    for case, packed in listed:
        lines = expected(case)
        answered += sum(bool(line.answers) for line in lines)
        difference = next(differences(packed.name, lines, packed.results), None)
        if difference is not None:
            pytest.fail(str(difference), pytrace=False)
    shards = {n: sum(packed.name.endswith(f"/{n}") for _, packed in listed) for n in SHARDS}
    print(f"{len(listed)} runs from seed {SEED} on, by shards {shards}; {answered} evaluations with answers")
    assert shards[1] >= 5
    assert answered >= 10


RULES = load_rules("rdfs-jena")
BACKGROUND = (
    ("<urn:knows>", f"<{RDFS}range>", "<urn:Person>", None),
    ("<urn:knows>", f"<{RDFS}domain>", "<urn:Person>", None),
    ("<urn:Person>", f"<{RDFS}subClassOf>", "<urn:Agent>", None),
    ("<urn:Agent>", f"<{RDFS}subClassOf>", "<urn:Thing>", None),
)
WINDOW = "FROM STREAM <urn:s> [RANGE 4s STEP 2s]"
QUERIES = {
    "typed": f"SELECT ?x ?n {WINDOW} WHERE {{ ?x a <urn:Agent> . ?x <urn:name> ?n }}",
    "stamped": "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> "
    f"SELECT ?x (f:timestamp(?x, {TYPE}, <urn:Thing>) AS ?t) {WINDOW} WHERE {{ ?x a <urn:Thing> }}",
    "all": f"SELECT ?x ?p ?y {WINDOW} WHERE {{ ?x ?p ?y }}",
    "inserted": "REGISTER ISTREAM <urn:inserted> AS SELECT ?x FROM NAMED WINDOW <urn:w> ON <urn:s> "
    "[RANGE PT4S STEP PT2S] WHERE { WINDOW <urn:w> { ?x a <urn:Agent> } }",
}


def chatter(path):
    """Links and names, some of them late within the bound, some said twice, some with literals."""
    lines = []
    for k in range(400):
        time = 40 * k - (35 if k % 7 == 0 else 0)
        o = f'"n{k % 13}"' if k % 11 == 0 else f"<urn:i{(k * 5) % 23}>"
        lines.append(f"{max(1, time)}\t<urn:i{k % 19}> <urn:knows> {o} .\n")
        lines.append(f'{max(1, time)}\t<urn:i{k % 23}> <urn:name> "{k % 23}" .\n')
    path.write_text("".join(lines), encoding="utf-8")
    return {"urn:s": path}


def chatter_job(name, text):
    settings = Settings(fixed_schema=True, disorder=Disorder(100))
    return Job.of([parse_query(text, f"{name}.rq", name)], RULES, Sent(BACKGROUND), settings)


def test_answers_stamps_and_counts_are_as_without(spark, tmp_path):
    streams = chatter(tmp_path / "s.tsv")
    packed = {}
    for name, text in QUERIES.items():
        job = chatter_job(name, text)
        for shards in SHARDS:
            for expand in (False, True):
                plan = plan_of(job, shards=shards, expand=expand)
                assert plan.not_expanded_because is None
                assert (plan.expansion is not None) == expand
                packed[name, shards, expand] = Packed(f"{name}/{shards}/{expand}", plan, streams)
    # Who is known is a person: a link goes where its object belongs, or else the type does that it makes.
    without, with_it = (packed["typed", 2, expand].plan.routing for expand in (False, True))
    assert "o" in "".join(places for _, places in without.keyed)
    assert {places for _, places in with_it.keyed} == {"s"}
    run_packed(spark, list(packed.values()), tmp_path, micro_batches=4)
    answers = 0
    for (name, _, _), each in packed.items():
        want = by_window(packed[name, 1, False])
        assert by_window(each) == want, each.name
        answers += sum(map(len, want.values()))
        for counted in each.counters.values():
            first = next(iter(packed[name, 1, False].counters.values()))
            same = ("admitted", "late", "frontier", "windows")
            assert {key: counted[key] for key in same} == {key: first[key] for key in same}, each.name
    assert answers > 500


def by_window(packed):
    return {
        (result.query, result.open, result.close): sorted(map(str, result.answers.rows))
        for result in packed.results
    }


@pytest.mark.parametrize(
    ("settings", "query", "why"),
    [
        ({}, QUERIES["typed"], "schema may come"),
        (
            {"fixed_schema": True},
            "SELECT ?x FROM STREAM <urn:s> [RANGE TRIPLES 5] WHERE { ?x a <urn:Agent> }",
            "depends on which statements came",
        ),
        (
            {"fixed_schema": True},
            f"SELECT ?x FROM <urn:g> {WINDOW} WHERE {{ ?x a <urn:Agent> }}",
            "graphs of FROM",
        ),
    ],
)
def test_where_it_would_show_it_is_not_done_and_the_plan_says_why(settings, query, why):
    knowledge = Sent(BACKGROUND, {"urn:g": ()})
    job = Job.of([parse_query(query, "q.rq", "q")], RULES, knowledge, Settings(**settings))
    plan = plan_of(job, expand=True)
    assert plan.expansion is None
    assert why in plan.not_expanded_because
    assert plan.lane("urn:s") == plan_of(job).lane("urn:s")
