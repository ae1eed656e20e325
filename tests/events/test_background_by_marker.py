"""Background that a stream brings again between its events: by example, and as after a restart."""

from __future__ import annotations

import pytest

from ensue import Reasoner
from ensue.errors import QueryError, QuerySyntaxError
from ensue.job import Job
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import parse_rules
from ensue.spark.pieces import BLOCK, END, Piece
from ensue.spark.shard import Cache, step
from ensue.windows.frontier import Disorder

from .test_shard_event_contexts import block
from .test_shard_events import Store

P, START, STOP, BACK, GO = (f"<urn:{name}>" for name in ("p", "start", "stop", "back", "go"))
BELOW = "<urn:below>"
RULES = parse_rules(f"[below: (?c {BELOW} ?d), (?x {P} ?c) -> (?x {P} ?d)]")
STARTS = "EVENT STARTS { ?e <urn:start> ?y }"
UNTIL, FROM = "UNTIL { ?x <urn:go> ?y }", "FROM { ?x <urn:back> ?y }"
AGAIN = f"[{STARTS} BACKGROUND {UNTIL} {FROM}]"
ANEW = f"[{STARTS} BACKGROUND {UNTIL} ANEW {FROM}]"
PAIRS = "SELECT ?y FROM STREAM <urn:s> {} {{ ?x <urn:p> ?y }}"


def line(time, s, p, o, graph=None):
    return time, f"<urn:{s}>", p, f"<urn:{o}>", graph and f"<urn:{graph}>"


def letters(text, step=10):
    """A stream from letters: what each statement is, ten milliseconds after the other.

    `S`, `E`, `B`, `G` are the markers, `x` says that x has to do with a, `1` that a is below 1.
    """
    markers = {"S": START, "E": STOP, "B": BACK, "G": GO}
    found = []
    for at, each in enumerate(text.replace(" ", "")):
        if each in markers:
            found.append(line(at * step, "m", markers[each], "m"))
        elif each.isdigit():
            found.append(line(at * step, "a", BELOW, each))
        else:
            found.append(line(at * step, each, P, "a"))
    return found


def shown(results):
    """Of each event its statements by their times, and what has to do with what."""
    return [
        (each.open // 10, each.close // 10, "".join(sorted({row[0][5] for row in each.answers.rows})))
        for each in results
    ]


def run(window, statements, query=PAIRS, **options):
    reasoner = Reasoner(RULES, **options)
    reasoner.register(query.format(window))
    reasoner.push("urn:s", statements)
    return [*reasoner.advance(), *reasoner.end()], reasoner


def found(window, text, **options):
    return shown(run(window, letters(text), **options)[0])


def test_what_comes_again_is_more_or_replaces_what_came():
    stream = "1 SxG Sx B2 SxG Sx B3 SGx"
    assert found(AGAIN, stream) == [
        (1, 3, "1a"),
        (4, 5, "1a"),
        (8, 10, "12a"),
        (11, 12, "12a"),
        (15, 17, "123a"),
    ]
    assert found(ANEW, stream) == [(1, 3, "1a"), (4, 5, "1a"), (8, 10, "2a"), (11, 12, "2a"), (15, 17, "3a")]


def test_the_order_of_the_page_on_semantics():
    stream = "1SxG Sx B2 SxG Sx B3G x"
    spans = [(1, 3), (4, 5), (8, 10), (11, 12), (16, 16)]
    for window, wanted in (
        (AGAIN, ("1a", "1a", "12a", "12a", "123a")),
        (ANEW, ("1a", "1a", "2a", "2a", "3a")),
    ):
        assert found(window, stream) == [(*span, each) for span, each in zip(spans, wanted, strict=True)]


def test_events_may_come_first():
    assert found(f"[{STARTS} BACKGROUND {FROM} {UNTIL}]", "Sx B1 SxG B2 SxG") == [
        (0, 1, "a"),
        (4, 6, "1a"),
        (9, 11, "12a"),
    ]


def test_a_marker_may_end_the_background_before_an_event_begins():
    """It is the last statement of the background then, and what follows up to a start is an event."""
    assert found(AGAIN, "1SG x B2G Sx B3G x Sx") == [
        (1, 3, "1a"),
        (7, 8, "12a"),
        (12, 12, "123a"),
        (13, 14, "123a"),
    ]
    both = f"[{STARTS} ENDS {{ ?e <urn:stop> ?y }} BACKGROUND {UNTIL} {FROM}]"
    results, reasoner = run(both, letters("1G x SxE B2G x SxEx"))
    assert shown(results) == [(3, 5, "1a"), (10, 12, "12a")]
    assert reasoner.counters()["outside"] == 3
    ends = f"[EVENT ENDS {{ ?e <urn:stop> ?y }} BACKGROUND {UNTIL} {FROM}]"
    assert found(ends, "1E GxE xB 2G xE x") == [(2, 4, "1a"), (5, 5, "1a"), (9, 10, "12a"), (11, 11, "12a")]


def test_one_marker_may_switch_to_and_fro():
    window = f"[{STARTS} BACKGROUND UNTIL {{ ?x <urn:back> ?y }} {FROM}]"
    assert found(window, "1SBx Sx B2 SBx") == [(1, 3, "1a"), (4, 5, "1a"), (8, 10, "12a")]
    window = f"[{STARTS} BACKGROUND {UNTIL} FROM {{ ?e <urn:start> ?y }}]"
    assert found(window, "1SGx S2Gx S3SGx") == [(1, 3, "1a"), (7, 7, "12a"), (10, 12, "123a")]


def test_in_the_midst_of_background_a_marker_begins_nothing():
    assert found(ANEW, "B1SGx B2B3B SGx") == [(2, 4, "1a"), (10, 12, "23a")]


@pytest.mark.parametrize("window", [AGAIN, ANEW])
def test_background_that_never_ends_is_seen_by_nobody(window):
    results, reasoner = run(window, letters("1SGx Sx B2Sx"))
    assert shown(results) == [(1, 3, "1a"), (4, 5, "1a")]
    assert reasoner.counters()["events"] == 2


def test_an_update_may_bring_nothing_and_come_at_once_again():
    assert found(AGAIN, "1SGx B SGx BG B SGx") == [(1, 3, "1a"), (5, 7, "1a"), (11, 13, "1a")]
    assert found(ANEW, "1SGx B SGx") == [(1, 3, "1a"), (5, 7, "a")]
    assert found(AGAIN, "SGx BGBGBG1") == [(0, 2, "a"), (9, 9, "")]


def test_an_event_ends_where_background_begins():
    reasoner = Reasoner(RULES)
    reasoner.register(PAIRS.format(AGAIN))
    reasoner.push("urn:s", letters("SGxB"))
    assert shown(reasoner.advance(to=20)) == []
    assert shown(reasoner.advance(to=30)) == [(0, 2, "a")]


def test_order_is_restored_and_what_is_late_is_in_no_background():
    stream = letters("1SGx B2 SGx 3")
    mixed = [stream[k] for k in (0, 2, 1, 3, 5, 4, 6, 8, 7, 9)]
    for late, wanted in ((0, "3a"), (10, "123a")):
        results, reasoner = run(AGAIN, mixed, disorder=Disorder(late))
        assert shown(results)[-1][2] == wanted
        assert reasoner.counters()["late"] == (0 if late else 3)


def test_elements_of_one_time_are_background_together():
    window = f"[EVENT GRAPH BACKGROUND {UNTIL} {FROM}]"
    stream = [line(0, "a", BELOW, "1", "z"), line(10, "x", GO, "x", "g"), line(10, "x", P, "a", "f")]
    stream += [line(20, "x", P, "a", "f"), line(30, "a", BELOW, "2", "f"), line(30, "x", BACK, "x", "g")]
    stream += [line(30, "x", GO, "x", "g"), line(40, "a", BELOW, "3", "h"), line(50, "x", P, "a", "g")]
    stream += [line(50, "x", GO, "x", "h"), line(50, "x", BACK, "x", "h")]
    wanted = [(1, 1, "1a"), (1, 1, ""), (2, 2, "1a"), (5, 5, "123a"), (5, 5, "")]
    assert shown(run(window, stream)[0]) == wanted
    reasoner = Reasoner(RULES)
    reasoner.register(PAIRS.format(window))
    every = []
    for each in stream:  # One by one, and with something taken back among those of one time.
        reasoner.push("urn:s", [each])
        if each[0] == 30:
            reasoner.push("urn:s", [line(30, "a", BELOW, "4", "f")])
            reasoner.retract("urn:s", [line(30, "a", BELOW, "4", "f")])
        every += reasoner.advance()
    assert shown([*every, *reasoner.end()]) == wanted


def test_what_is_taken_back_while_it_comes_is_no_background():
    reasoner = Reasoner(RULES)
    reasoner.register(PAIRS.format(AGAIN))
    reasoner.push("urn:s", letters("1SGx B23"))
    reasoner.retract(
        "urn:s", [line(60, "a", BELOW, "3"), line(60, "m", BACK, "m"), line(60, "a", BELOW, "1")]
    )
    reasoner.push("urn:s", [line(70, "m", START, "m"), line(80, "m", GO, "m"), line(90, "x", P, "a")])
    assert shown(reasoner.end()) == [(1, 3, "1a"), (7, 9, "12a")]


def test_beside_an_update_of_the_reasoner_both_hold():
    reasoner = Reasoner(RULES)
    reasoner.register(PAIRS.format(ANEW))
    reasoner.update(add=[("<urn:a>", BELOW, "<urn:8>")], at=55)
    reasoner.push("urn:s", letters("1SGx B2 SGx B3 SGx"))
    assert shown(reasoner.end()) == [(1, 3, "1a"), (6, 8, "28a"), (11, 13, "38a")]


def test_who_answers_may_change():
    reasoner = Reasoner(RULES)
    for name in "vw":
        reasoner.register(f"REGISTER QUERY {name} AS " + PAIRS.format(AGAIN))
    reasoner.push("urn:s", letters("1SGx B2"))
    results = list(reasoner.advance())
    reasoner.remove("v")
    reasoner.push("urn:s", [line(60, "m", START, "m"), line(70, "m", GO, "m"), line(80, "x", P, "a")])
    results += reasoner.end()
    assert [(each.query, span) for each, span in zip(results, shown(results), strict=True)] == [
        ("v", (1, 3, "1a")),
        ("w", (1, 3, "1a")),
        ("w", (6, 8, "12a")),
    ]


def test_what_the_background_violates_is_told_as_it_changes():
    rules = parse_rules(f"[r: (?x {BELOW} ?y), (?x <urn:not> ?y) -> (?x violation:both ?y)]")
    for window, gone in ((AGAIN, []), (ANEW, [("gone", "both: <urn:a> <urn:1>")])):
        reasoner = Reasoner(rules, violations="changes")
        reasoner.register(PAIRS.format(window))
        stream = letters("1nSGx B2n SGx")
        for at, other in ((1, "1"), (7, "2")):
            stream[at] = line(stream[at][0], "a", "<urn:not>", other)
        reasoner.push("urn:s", stream)
        list(reasoner.end())
        told = [(each.change, str(each.violation)) for each in reasoner.violations()]
        assert told == [(None, "both: <urn:a> <urn:1>"), ("new", "both: <urn:a> <urn:2>"), *gone]


@pytest.mark.parametrize("strategy", ["auto", "recompute", "dred", "rete", "hybrid"])
@pytest.mark.parametrize("window", [AGAIN, ANEW])
def test_answers_from_then_on_are_those_of_a_restart(window, strategy):
    """A reasoner that has this background from the first, and sees the events since."""
    first, since = letters("1SGx Sx"), [(100 + time, *rest) for time, *rest in letters("B2 SGx Sx", 7)]
    results, _ = run(window, [*first, *since], strategy=strategy)
    known = [*([first[0]] if window is AGAIN else []), since[1]]
    wanted, _ = run(
        f"[{STARTS}]",
        since[2:],
        strategy=strategy,
        background=Sent(tuple((*each[1:4], None) for each in known)),
    )
    assert len(wanted) == 2
    assert [(e.open, e.close, sorted(e.answers.rows)) for e in results[2:]] == [
        (e.open, e.close, sorted(e.answers.rows)) for e in wanted
    ]


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("window", [AGAIN, ANEW, AGAIN.replace("STARTS { ?e <urn:start> ?y }", "GRAPH")])
def test_a_shard_that_is_made_anew_before_every_step_goes_on(window, size):
    stream = letters("1SGx Sx B2 SxG B3B SGx SxG B4 BBG Sx B5")
    job = Job.of([parse_query(PAIRS.format(window))], RULES, Sent())

    def make(*_):
        made = job.resumable()
        made.settle()
        return made

    store, results = Store(), []
    batches = [stream[at : at + size] for at in range(0, len(stream), size)]
    for number, batch in enumerate([*batches, None]):
        piece = Piece("urn:s", number, *((END, b"") if batch is None else (BLOCK, block(batch))))
        results += step("shard", [piece], store, make, Cache()).results
    assert shown(results) == shown(run(window, stream)[0])
    assert len(results) > 5


def test_a_log_holds_no_more_than_what_is_coming():
    job = Job.of([parse_query(PAIRS.format(ANEW))], RULES, Sent())
    store, cache = Store(), Cache()
    for number in range(30):
        rows = [(100 * number + time, *rest) for time, *rest in letters("B1SGx" if number else "1SGx")]
        step("shard", [Piece("urn:s", number, BLOCK, block(rows))], store, lambda *_: job.resumable(), cache)
        assert len(store.log()) <= 3


REFUSED = {
    f"BACKGROUND {UNTIL} AGAIN {FROM}": "expected ']'",
    f"BACKGROUND {FROM}": "expected 'UNTIL'",
    f"BACKGROUND ANEW {UNTIL}": "expected 'FROM'",
    f"BACKGROUND {UNTIL} ANEW": "expected 'FROM'",
    f"BACKGROUND {UNTIL} FROM ?x": "expected '{'",
    f"BACKGROUND {UNTIL} FROM {{ }}": "a marker has no triple pattern",
    f"BACKGROUND {FROM} {UNTIL} {FROM}": "expected ']'",
    f"BACKGROUND {UNTIL} FROM {{ ?x ex:p ?y }}": "the prefix 'ex:' is not declared",
}


@pytest.mark.parametrize("clause", REFUSED)
def test_what_is_refused(clause):
    with pytest.raises((QueryError, QuerySyntaxError), match=REFUSED[clause]) as caught:
        parse_query(f"SELECT ?x\nFROM STREAM <urn:s>\n[{STARTS} {clause}] {{ ?x ?p ?y }}", "q.rq")
    assert caught.value.place.line == 3
    assert caught.value.hint


def test_a_plan_says_what_comes_again():
    for window, says in ((AGAIN, "it adds up"), (ANEW, "it replaces what came before")):
        reasoner = Reasoner(RULES)
        reasoner.register(PAIRS.format(window))
        assert f"{window[1:-1]} (plans are made anew when the background has come, and each" in str(
            reasoner.plan()
        )
        assert says in str(reasoner.plan())
