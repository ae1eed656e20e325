"""Limits of derivation and memory: an error that names the rules, and no reasoner that goes on half done."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from ensue import Reasoner
from ensue.cli.main import main
from ensue.errors import BrokenError, BudgetError, UsageError
from ensue.maintain.budget import resident
from ensue.rules.load import parse_rules
from ensue.windows.frontier import Disorder

ENDLESS = "INSERT { ?x <urn:n> ?z } WHERE { ?x <urn:n> ?y BIND(?y + 1 AS ?z) }"
SQUARE = (
    "[square: (?a <urn:p> ?x), (?b <urn:p> ?y) -> (?a <urn:q> ?b)]"
    "[few: (?a <urn:p> ?x) -> (?a <urn:is> <urn:C>)]"
)
QUERY = "SELECT ?a ?b FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?a <urn:q> ?b . ?a <urn:is> <urn:C> }"
EVERY = "SELECT * FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?s ?p ?o }"
STRATEGIES = ("recompute", "dred", "expiration", "expiration-no-table", "rete", "hybrid")
ONE = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'


def points(count: int, start: int = 0) -> list[tuple[int, str, str, str]]:
    return [(1000 + i, f"<urn:a{i}>", "<urn:p>", "<urn:o>") for i in range(start, start + count)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_rule_that_computes_terms_for_ever_is_stopped_and_named(strategy):
    reasoner = Reasoner(parse_rules(ENDLESS, "n.ru"), strategy=strategy, max_rounds=500)
    reasoner.register(EVERY)
    reasoner.push("urn:s", [(1000, "<urn:a>", "<urn:n>", ONE)])
    with pytest.raises(BudgetError, match=r"500 rounds.*n-1 derived") as told:
        list(reasoner.advance(to=5000))
    assert told.value.limit == "max_rounds"
    assert told.value.derived["n-1"] >= 500


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_more_facts_than_allowed_name_the_rule_that_derived_them(strategy):
    reasoner = Reasoner(parse_rules(SQUARE), strategy=strategy, max_facts=1000)
    reasoner.register(EVERY)
    reasoner.push("urn:s", points(60))
    with pytest.raises(
        BudgetError, match=r"1,0\d\d facts are held, max_facts = 1,000; by rule: square derived"
    ) as told:
        list(reasoner.advance(to=5000))
    assert told.value.limit == "max_facts"
    assert 700 <= told.value.derived["square"] <= 1000


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_as_many_facts_as_allowed_are_answered(strategy):
    reasoner = Reasoner(parse_rules(SQUARE), strategy=strategy, max_facts=1000)
    reasoner.register(QUERY)
    reasoner.push("urn:s", points(30))  # 30 + 900 + 30
    assert [len(result.answers.rows) for result in reasoner.advance(to=5000)] == [900]


def test_facts_that_leave_make_room():
    reasoner = Reasoner(parse_rules(SQUARE), strategy="expiration", max_facts=1000)
    reasoner.register(QUERY)
    for at in range(0, 200_000, 20_000):
        reasoner.push("urn:s", [(at + time, s, p, o) for time, s, p, o in points(30, start=at)])
        list(reasoner.advance(to=at + 20_000))


def test_a_background_that_does_not_close_is_an_error(tmp_path):
    (tmp_path / "b.nt").write_text(f"<urn:a> <urn:n> {ONE} .")
    reasoner = Reasoner(parse_rules(ENDLESS, "n.ru"), [tmp_path / "b.nt"], max_rounds=500)
    reasoner.register(EVERY)
    with pytest.raises(BudgetError, match="n-1 derived"):
        list(reasoner.advance(to=5000))
    with pytest.raises(BrokenError):
        reasoner.push("urn:s", [])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_after_a_failure_every_call_is_refused_and_tells_it(strategy):
    reasoner = Reasoner(parse_rules(SQUARE), strategy=strategy, max_facts=1000)
    reasoner.register(EVERY)
    reasoner.push("urn:s", points(60))
    results = reasoner.advance(to=5000)
    with pytest.raises(BudgetError):
        next(results)
    for call in (
        lambda: reasoner.push("urn:s", points(1)),
        lambda: list(reasoner.advance(to=6000)),
        lambda: list(reasoner.end()),
        lambda: reasoner.register(QUERY),
        lambda: reasoner.retract("urn:s", points(1)),
        lambda: reasoner.heartbeat("urn:s", 7000),
        reasoner.metrics,
    ):
        with pytest.raises(BrokenError, match="max_facts = 1,000"):
            call()


def test_what_is_asked_wrongly_breaks_nothing():
    reasoner = Reasoner()
    reasoner.register(EVERY)
    with pytest.raises(UsageError):
        reasoner.push("urn:t", points(1))
    reasoner.push("urn:s", points(1))
    assert [len(result.answers.rows) for result in reasoner.advance(to=5000)] == [1]


def test_a_clock_that_fails_in_a_step_is_told_from_then_on():
    times = [0]

    def clock() -> int:
        if not times:
            raise RuntimeError("no time")
        return times[0]

    reasoner = Reasoner(disorder=Disorder(idle_after_ms=1000), clock=clock)
    reasoner.register(EVERY)
    times.clear()
    with pytest.raises(RuntimeError):
        list(reasoner.advance())
    with pytest.raises(BrokenError, match="RuntimeError: no time"):
        list(reasoner.advance(to=6000))


def test_a_clock_that_calls_its_reasoner_is_refused():
    calls: list[Reasoner] = []

    def clock() -> int:
        for reasoner in calls:
            reasoner.metrics()
        return 0

    reasoner = Reasoner(disorder=Disorder(idle_after_ms=1000), clock=clock)
    reasoner.register(EVERY)
    calls.append(reasoner)
    with pytest.raises(UsageError, match="from within one of its own steps"):
        list(reasoner.advance())


def test_max_memory_stops_what_takes_more():
    reasoner = Reasoner(parse_rules(SQUARE), strategy="expiration", max_memory=resident() + (48 << 20))
    reasoner.register(EVERY)
    reasoner.push("urn:s", points(1700))
    with pytest.raises(BudgetError, match=r"memory: .* of max_memory = .*square derived") as told:
        list(reasoner.advance(to=5000))
    assert told.value.limit == "max_memory"


@pytest.mark.parametrize("options", [{"max_facts": 0}, {"max_memory": "much"}, {"at_limit": "go"}])
def test_a_budget_that_is_none_is_refused(options):
    with pytest.raises(UsageError):
        Reasoner(**options)


HARD = """
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    from ensue import Reasoner
    from ensue.errors import BrokenError, BudgetError
    from ensue.rules.load import parse_rules
    square = "[square: (?a <urn:p> ?x), (?b <urn:p> ?y) -> (?a <urn:q> ?b)]"
    r = Reasoner(parse_rules(square), strategy="STRATEGY")
    r.register("SELECT ?a FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?a <urn:q> <urn:b> }")
    r.push("urn:s", [(1000, f"<urn:a{i}>", "<urn:p>", "<urn:o>") for i in range(20_000)])
    try:
        list(r.advance(to=5000))
    except BudgetError as told:
        assert "square derived" in str(told), told
    for _ in range(3):
        try:
            list(r.advance(to=6000))
        except BrokenError as told:
            print("refused")
"""


@pytest.mark.parametrize("strategy", ["expiration", pytest.param("recompute", marks=pytest.mark.long)])
def test_memory_that_the_system_refuses_is_an_error_and_no_crash(strategy):
    program = textwrap.dedent(HARD).replace("STRATEGY", strategy)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "refused\n" * 3), done.stderr


INTERRUPTED = """
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ignored where tests run in the background.
    from ensue import Reasoner
    from ensue.rules.load import parse_rules
    rule = (
        "[cube: (?a <urn:p> ?x), (?b <urn:p> ?y), (?c <urn:p> ?z), equal(?a, ?b), equal(?b, ?c)"
        " -> (?a <urn:q> ?c)]"
    )
    r = Reasoner(parse_rules(rule), strategy="expiration")
    r.register("SELECT ?a FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?a <urn:q> ?b }")
    r.push("urn:s", [(1000, f"<urn:a{i}>", "<urn:p>", f"<urn:o>") for i in range(200)])
    list(r.advance(to=5000))
    r.push("urn:s", [(5001, f"<urn:b{i}>", "<urn:p>", f"<urn:o>") for i in range(100_000)])
    print("begun", flush=True)
    try:
        list(r.advance(to=10000))
    except KeyboardInterrupt:
        print("interrupted")
    try:
        r.metrics()
    except Exception as told:
        print(type(told).__name__)
"""


def test_ctrl_c_ends_a_long_closing():
    """One row of it alone meets 100,000 times 100,000 others: hours without a look at signals."""
    program = [sys.executable, "-c", textwrap.dedent(INTERRUPTED)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            told, _ = process.communicate(timeout=120)
        finally:
            process.kill()
    assert told == "interrupted\nBrokenError\n"


def test_reason_stops_with_one_line(tmp_path, capsys):
    (tmp_path / "r.ru").write_text(ENDLESS)
    (tmp_path / "f.nt").write_text(f"<urn:a> <urn:n> {ONE} .")
    options = ["--rules", str(tmp_path / "r.ru"), "--max-rounds", "300", "-o", str(tmp_path / "out.nt")]
    assert main(["reason", *options, str(tmp_path / "f.nt")]) == 1
    assert "derived 301" in capsys.readouterr().err


@pytest.mark.parametrize("strategy", ["expiration", "rete"])
def test_reason_goes_on_without_the_rule_that_derives_for_ever(tmp_path, capsys, strategy):
    rules = (
        f"# rule: endless\n{ENDLESS} ;\n# rule: back\nINSERT {{ ?y <urn:m> ?x }} WHERE {{ ?x <urn:n> ?y }}"
    )
    (tmp_path / "r.ru").write_text(rules)
    (tmp_path / "f.nt").write_text("<urn:a> <urn:n> <urn:b> .\n" + f"<urn:a> <urn:n> {ONE} .")
    options = ["--rules", str(tmp_path / "r.ru"), "--max-rounds", "300", "--at-limit", "partial"]
    options += ["--strategy", strategy, "-o", str(tmp_path / "out.nt"), str(tmp_path / "f.nt")]
    assert main(["reason", *options]) == 0
    assert "partial: once more, without rule endless (" in capsys.readouterr().err
    assert len((tmp_path / "out.nt").read_text().splitlines()) == 3


@pytest.mark.parametrize("strategy", ["expiration", "rete", "dred", "recompute"])
def test_run_stops_with_one_line(tmp_path, capsys, strategy):
    (tmp_path / "r.rules").write_text(SQUARE)
    (tmp_path / "q.rq").write_text(QUERY)
    lines = [f"{time}\t{s} {p} {o} .\n" for time, s, p, o in points(60)]
    (tmp_path / "s.nt").write_text("".join(lines))
    options = ["--engine", "local", "--strategy", strategy, "--max-facts", "1000", "--max-memory", "8g"]
    options += ["--rules", str(tmp_path / "r.rules"), "--stream", f"urn:s={tmp_path / 's.nt'}"]
    assert main(["run", str(tmp_path / "q.rq"), *options]) == 1
    assert "square derived" in capsys.readouterr().err


def test_threads_that_push_beside_one_that_advances_lose_nothing():
    reasoner = Reasoner(disorder=Disorder(1_000_000))
    reasoner.register("SELECT ?s FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?s <urn:p> ?o }")
    seen: list[tuple[int, str]] = []
    taken = threading.Event()

    def push(number: int) -> None:
        for i in range(400):
            reasoner.push("urn:s", [(i * 50 + 1, f"<urn:a{number}-{i}>", "<urn:p>", "<urn:o>")])

    def advance() -> None:
        while not taken.is_set():
            seen.extend(
                (result.close, row[0]) for result in reasoner.advance() for row in result.answers.rows
            )

    pushing = [threading.Thread(target=push, args=(number,)) for number in range(3)]
    advancing = threading.Thread(target=advance)
    for thread in (advancing, *pushing):
        thread.start()
    for thread in pushing:
        thread.join()
    taken.set()
    advancing.join()
    seen.extend((result.close, row[0]) for result in reasoner.end() for row in result.answers.rows)
    wanted = [(i * 50 // 1000 * 1000 + 1000, f"<urn:a{n}-{i}>") for n in range(3) for i in range(400)]
    assert sorted(seen) == sorted(wanted)
    assert [close for close, _ in seen] == sorted(close for close, _ in seen)


def test_threads_that_advance_at_once_share_the_results():
    reasoner = Reasoner()
    reasoner.register("SELECT ?s FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?s <urn:p> ?o }")
    reasoner.push("urn:s", [(i * 100 + 1, f"<urn:a{i}>", "<urn:p>", "<urn:o>") for i in range(2000)])
    seen: list[tuple[int, str]] = []

    def end() -> None:
        seen.extend((result.close, row[0]) for result in reasoner.end() for row in result.answers.rows)

    threads = [threading.Thread(target=end) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted((i * 100 // 1000 * 1000 + 1000, f"<urn:a{i}>") for i in range(2000))


def test_a_loop_within_the_loop_takes_what_the_outer_one_has_not():
    reasoner = Reasoner()
    reasoner.register("SELECT ?s FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?s <urn:p> ?o }")
    reasoner.push("urn:s", [(i * 1000 + 1, f"<urn:a{i}>", "<urn:p>", "<urn:o>") for i in range(6)])
    closes = []
    for result in reasoner.advance(to=3000):
        closes.append(result.close)
        closes += [inner.close for inner in reasoner.advance(to=5000)]
    assert closes == [1000, 2000, 3000, 4000, 5000]


def test_results_that_were_left_come_first_the_next_time():
    reasoner = Reasoner()
    for name in ("one", "two"):
        reasoner.register(
            f"REGISTER QUERY {name} AS ASK FROM STREAM <urn:s> [RANGE 1s STEP 1s] {{ ?s ?p ?o }}"
        )
    reasoner.push("urn:s", points(1))
    assert next(reasoner.advance(to=2000)).query == "one"
    assert [result.query for result in reasoner.advance(to=2000)] == ["two", "one", "two"]
