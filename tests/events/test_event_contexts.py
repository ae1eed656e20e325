"""Event contexts: every strategy against events that are split and closed by hand."""

from __future__ import annotations

from random import Random

import pytest

from ensue import Reasoner
from ensue.rules.load import parse_rules
from ensue.windows.frontier import Disorder

from .splitting_by_hand import IN, QUERIES, RULES, SUB, TYPE, Window, answered

STREAM = "urn:s"
STARTS = [
    None,
    (("?x", "<urn:start>", "?y"),),
    (("<urn:t1>", "<urn:start>", "?y"),),
    (("?x", "<urn:start>", "?x"),),
    (("?x", "<urn:start>", "?y"), ("?y", "?p", "?z")),
]
ENDS = [None, (("?x", "<urn:end>", "?y"),), (("?x", "<urn:start>", "<urn:t2>"),)]
ENDS += [(("?x", "<urn:end>", "?y"), ("?z", IN, "?y"))]
GO, BACK = (("?x", "<urn:go>", "?y"),), (("?x", "<urn:back>", "?y"),)
UNTIL = [None, None, GO, (("?x", "<urn:go>", "?y"), ("?x", "<urn:type>", "?z"))]
AGAIN = [BACK, BACK, GO, (("?x", "<urn:back>", "?y"), ("?x", "<urn:type>", "?z")), STARTS[1], ENDS[1]]
"""What brings background again: the same marker, too, that ends it, or that begins or ends an event."""
STRATEGIES = ("expiration", "recompute", "dred", "rete", "hybrid")
SEEDS = 160
UPDATED_SEEDS = 100


def window_text(window):
    """The window as a query has it."""
    starts, ends, until, again = (each and f"{{ {' . '.join(map(' '.join, each))} }}" for each in window[:4])
    parts = ["GRAPH"] if not (starts or ends) else []
    parts += [f"STARTS {starts}"] if starts else []
    parts += [f"ENDS {ends}"] if ends else []
    until = f"UNTIL {until}" if until else ""
    again = f"{'ANEW ' * window.anew}FROM {again}" if again else ""
    background = (until, again) if window.background_first else (again, until)
    return " ".join(["EVENT", *parts, *(["BACKGROUND", *background] if until else [])])


def window_of(random):
    """Any window."""
    return Window(*map(random.choice, (STARTS, ENDS, UNTIL)))


def window_with_updates_of(random):
    """Any window on a stream that brings background again."""
    window = Window(*map(random.choice, (STARTS, ENDS, UNTIL[2:])))
    anew, first = random.random() < 0.5, random.random() < 0.6
    return window._replace(again=random.choice(AGAIN), anew=anew, background_first=first)


def continuous(query, window):
    form, rest = query.split(" {", 1)
    if form == "CONSTRUCT":
        template, rest = rest.split("} {", 1)
        form = f"CONSTRUCT {{{template}}}"
    return f"{form} FROM STREAM <{STREAM}> [{window_text(window)}] {{{rest}"


def arrivals_of(random, disorder, window):
    """Statements as they arrive: some out of order, and some of these too late."""
    time, found = random.randrange(-5, 5), []
    things = [f"<urn:t{n}>" for n in range(4)]
    predicates = [IN, IN, IN, TYPE, TYPE, "<urn:start>", "<urn:end>", "<urn:other>", "<urn:go>", SUB]
    predicates += ["<urn:back>", "<urn:go>", "<urn:back>", "<urn:go>"] * (window.again is not None)
    for _ in range(random.randrange(45)):
        time += random.choice((0, 0, 0, 1, 3))
        back = random.randrange(disorder + 1) if random.random() < 0.9 else random.randrange(10)
        graph = random.choice((None, "<urn:g>", "<urn:h>"))
        statement = (random.choice(things), random.choice(predicates), random.choice(things))
        found.append((time - back, *statement, graph))
    return found


def results_of(reasoner, arrivals, random):
    """What comes out if batches of any size come in."""
    found, at = [], 0
    while at < len(arrivals):
        size = random.choice((1, 2, 5, 20, 50))
        reasoner.push(STREAM, arrivals[at : at + size])
        found += reasoner.advance()
        at += size
    return [*found, *reasoner.end()]


def background_file(tmp_path, background):
    file = tmp_path / "background.nt"
    file.write_text("".join(f"{' '.join(statement)} .\n" for statement in background))
    return [file]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_events_are_answered_as_by_hand(seed, tmp_path):
    check_by_hand(Random(seed), window_of, tmp_path)


@pytest.mark.parametrize("seed", range(UPDATED_SEEDS))
def test_events_over_background_that_comes_again_are_answered_as_by_hand(seed, tmp_path):
    check_by_hand(Random(seed), window_with_updates_of, tmp_path)


def check_by_hand(random, make, tmp_path):
    window = make(random)
    query, strategy = random.choice(list(QUERIES)), random.choice(STRATEGIES)
    disorder = random.choice((0, 0, 2))
    arrivals = arrivals_of(random, disorder, window)
    background = [(f"<urn:t{n}>", SUB, f"<urn:t{n + 1}>") for n in range(random.randrange(3))]
    background += [("<urn:t0>", IN, "<urn:t3>")] * random.randrange(2)
    print(strategy, continuous(query, window), f"disorder {disorder}")
    reasoner = Reasoner(
        parse_rules(RULES),
        background_file(tmp_path, background),
        strategy,
        evaluator=random.choice(("auto", "auto", "oxigraph")),
        disorder=Disorder(disorder),
        check=random.choice((None, 1)),
        prune=random.random() < 0.8,
    )
    reasoner.register(continuous(query, window))
    found = [
        (each.open, each.close, sorted(each.answers.rows)) for each in results_of(reasoner, arrivals, random)
    ]
    wanted, outside, late = answered(arrivals, disorder, window, query, background)
    assert found == wanted
    counters = reasoner.counters()
    assert (counters["outside"], counters["late"]) == (outside, late)
    assert counters["events"] == len(wanted)
    assert reasoner.held()["facts"] == 0 or strategy != "expiration"
