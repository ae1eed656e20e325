"""Every derived fact of random closures has a proof that replays, and that ends with its freshest derivation.

ENSUE_SEED sets the first seed, ENSUE_PROOF_CASES how many closures there are of each kind.
"""

from __future__ import annotations

import os
from collections import Counter

from equivalence.cases import Admit, make_case
from plan import list_cases

from ensue.dictionary import Dictionary
from ensue.model import FOREVER
from ensue.proof.closing import close_statements
from ensue.proof.proof import BACKGROUND, leaves, size
from ensue.proof.replay import entailed, replay
from ensue.proof.search import prove

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_PROOF_CASES", "200"))


def test_every_derived_fact_of_a_random_closure(capsys):
    told = Counter()
    for seed in range(SEED, SEED + CASES):
        case, window = random_window(seed)
        held = close_statements(case.rules, case.background, window, Dictionary(case.nesting))
        check(held, case.rules, case.background, window, told, f"seed {seed}")
    with capsys.disabled():
        print(f"\nproofs: {CASES} closures from seed {SEED}: {dict(told)}")
    assert told["derived"] > 20 * CASES
    assert told["deep"] > 2 * CASES
    assert told["fresher than a copy"] > CASES / 4


def test_every_derived_fact_of_rules_over_lists(capsys):
    told = Counter()
    for seed in range(SEED, SEED + CASES // 4):
        case = list_cases.make_case(seed)
        window = [("urn:s", stamp, fact) for stamp, fact in case.window]
        held = close_statements(case.rules, case.background, window)
        check(held, case.rules, case.background, window, told, f"seed {seed}")
    with capsys.disabled():
        print(f"\nproofs over lists: {CASES // 4} closures from seed {SEED}: {dict(told)}")
    assert told["derived"] > CASES


def random_window(seed):
    """All that ever comes into the first context of a random case, on two streams."""
    case = make_case(seed)
    operations = [operation for step in case.steps for operation in step.operations]
    copies = [copy for each in operations if isinstance(each, Admit) for copy in each.copies]
    mine = [copy for copy in copies if copy.context == 1]
    return case, [(f"urn:s{at % 2}", copy.stamp, copy.statement) for at, copy in enumerate(mine)]


def check(held, rules, background, window, told, where):
    stated = {(fact, FOREVER, BACKGROUND) for fact in background}
    stated |= {(fact, stamp, stream) for stream, stamp, fact in window}
    for triple, stamp in held:
        told["facts"] += 1
        proof = prove(held, triple).proof
        assert proof.stamp == stamp, where
        replay(
            proof,
            rules,
            lambda leaf: any((leaf.fact, leaf.stamp, s) in stated for s in leaf.source.split(" or ")),
        )
        if proof.rule is None:
            continue
        told["derived"] += 1
        told["deep"] += size(proof) > 6
        told["fresher than a copy"] += any(fact == proof.fact for fact, _, _ in stated)
        assert entailed(proof, rules) == stamp, f"{where}: {proof}"
        assert all(leaf.stamp >= stamp for leaf in leaves(proof))
