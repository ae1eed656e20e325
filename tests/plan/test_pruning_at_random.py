"""Pruning changes no answer: random rules, queries, backgrounds and streams, schema on them included.

ENSUE_SEED sets the first seed, ENSUE_PRUNE_CASES how many cases there are (`make soak`: 2000). In two of
three cases the made-up vocabulary of rules is the standard's, so that premises are cut by assumption, which a
stream may break.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest
from plan.vocabulary import with_standard_vocabulary
from query.equivalence.cases import make_case
from query.equivalence.replay import EVALUATORS, Engine, bag, render, run
from random_cases import conclude, keep

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CHUNKS = 10
CASES_EACH = -(-int(os.environ.get("ENSUE_PRUNE_CASES", "250")) // CHUNKS)


@dataclass(frozen=True)
class Seen:
    """What a case had in it."""

    pruned: bool
    assuming: bool
    schema_came: bool
    fewer: bool
    """Rules fired less often."""
    answers: bool
    rewritten: bool


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_pruning_changes_no_answer(chunk, tally, capsys):
    first = SEED + 10_000 + chunk * CASES_EACH
    seen = [check(seed) for seed in range(first, first + CASES_EACH)]
    keep(tally, chunk, seen)
    every = conclude(tally, CHUNKS, capsys, summary)
    if every is not None:
        assert sum(each.pruned for each in every) >= len(every) / 3
        assert sum(each.assuming for each in every) >= len(every) / 10
        assert sum(each.schema_came for each in every) >= len(every) / 40
        assert sum(each.fewer for each in every) >= len(every) / 10
        assert sum(each.answers for each in every) >= len(every) / 2
        assert sum(each.rewritten for each in every) >= len(every) / 100


def summary(every: list[Seen]) -> str:
    counted = {name: sum(getattr(each, name) for each in every) for name in Seen.__annotations__}
    return f"pruning: {len(every)} cases from seed {SEED + 10_000}: {counted}"


def check(seed: int) -> Seen:
    case = make_case(seed)
    if seed % 3:
        case = with_standard_vocabulary(case)
    evaluator = EVALUATORS[seed % 7 == 0]
    whole = run(case, "expiration", evaluator, prune=False)
    # In every second case by whatever strategy is thought best, which may be to derive nothing.
    pruned = run(case, ("expiration", "auto")[seed % 2], evaluator)
    if answers(pruned) != answers(whole):
        pytest.fail(f"case {seed}, {evaluator}\n{render(case)}", pytrace=False)
    scopes = pruned.reasoner.plan()["scopes"]
    return Seen(
        any(len(scope["rules"]) < len(case.rules.rules) for scope in scopes),
        any(scope["assumed"] for scope in scopes),
        any(source._schema_came for source in pruned.reasoner._sources.materialisations.values()),
        firings(pruned) < firings(whole),
        any(rows for *_, rows in answers(whole)),
        any(scope["strategy"] == "rewrite" for scope in scopes),
    )


def firings(engine: Engine) -> int:
    return engine.reasoner.held()["derivations"]


def answers(engine: Engine) -> list:
    return [(result.query, result.open, result.close, bag(result)) for result in engine.results]
