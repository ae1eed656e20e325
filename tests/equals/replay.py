"""Cases on a maintainer over representatives, held against `recompute` under the plain rules."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.maintain.contract import Maintainer
from ensue.maintain.represented import Represented, represented
from ensue.model import BACKGROUND, Copies, Facts
from ensue.plan.known import close_plainly
from ensue.plan.representatives import settle
from equals.cases import Case, Triple, random_case

STRATEGIES = ("recompute", "dred", "expiration", "rete", "hybrid")


def replay(case: Case, strategy: str, counts: Counter[str] | None = None) -> str | None:
    """What differs first; None if nothing does."""
    counts = Counter() if counts is None else counts
    dictionary = Dictionary()
    for term in (term for triple in _terms(case) for term in triple):
        dictionary.pin(term)
    encode = dictionary.encode
    stated = Copies.background(tuple(map(encode, triple)) for triple in case.background)
    right = _plain(case, stated, dictionary)
    settled = settle(case.rules, stated, dictionary, close_plainly)
    inner = make(strategy, settled.unfolded.rules, represented(dictionary, settled.classes))
    given: Maintainer = Represented(inner, settled.classes, dictionary)
    given.load_background(stated)
    counts["classes"] += len(settled.classes) > 0
    wanted, found = (_seen(each.closure(BACKGROUND), dictionary) for each in (right, given))
    if wanted != found:
        return f"background: {_differ(wanted, found, dictionary)}"
    for number, step in enumerate(case.steps):
        told = [_take(each, step, dictionary) for each in (right, given)]
        if told[0][0] != told[1][0]:
            return f"step {number}: {told[1][0]} copies were taken back, not {told[0][0]}"
        for what, wanted, found in zip(
            ("closure", "inserted", "deleted"), told[0][1:], told[1][1:], strict=True
        ):
            if not given.stamped or what != "closure":
                wanted, found = ({f: t == "twice" for f, t in each.items()} for each in (wanted, found))
            if wanted != found:
                return f"step {number}, {what}: {_differ(wanted, found, dictionary)}"
        copies = [sorted(each.copies()) for each in (right, given)]
        if copies[0] != copies[1]:
            return f"step {number}: copies are {copies[1]}, not {copies[0]}"
        counts["facts"] += len(told[0][1])
        counts["held"] += given.statistics().get("facts", 0)
        if number == 1:
            again: Maintainer = Represented(
                make(strategy, settled.unfolded.rules, represented(dictionary, settled.classes)),
                settled.classes,
                dictionary,
            )
            again.restore(given.snapshot())
            given = again
    return None


def _plain(case: Case, stated: Copies, dictionary: Dictionary) -> Maintainer:
    plain = settle(case.rules, stated, dictionary, close_plainly, "plain")
    right = make("recompute", plain.unfolded.rules, dictionary)
    right.load_background(stated)
    return right


def _terms(case: Case) -> Iterable[Triple]:
    yield from case.background
    for step in case.steps:
        yield from (triple for triple, _ in step.admitted)


def _take(given: Maintainer, step, dictionary: Dictionary):
    encode = dictionary.encode
    given.admit(Copies.of((1, *map(encode, triple), stamp) for triple, stamp in step.admitted))
    taken = Copies.of((1, *map(encode, triple), 0) for triple in step.retracted)
    gone = given.retract(taken, every=step.every)
    change = given.advance(step.threshold)
    changed = (_seen(part, dictionary) for part in (change.inserted, change.deleted))
    return gone, _seen(given.closure(1), dictionary), *changed


def _seen(facts: Facts, dictionary: Dictionary) -> dict:
    """The facts without those about nodes that rules made; that none is there twice is told by the way."""
    rows = [row for row in facts if not any(map(dictionary.is_minted, row[1:4]))]
    found = {row[:4]: row[4] for row in rows}
    return found | {fact: "twice" for fact, times in Counter(row[:4] for row in rows).items() if times > 1}


def _differ(wanted: dict, found: dict, dictionary: Dictionary) -> str:
    def text(fact) -> str:
        return f"{' '.join(map(dictionary.decode, fact[1:]))}: {wanted.get(fact)}, found {found.get(fact)}"

    facts = [fact for fact in wanted | found if wanted.get(fact, "no") != found.get(fact, "no")]
    return "; ".join(map(text, facts[:4]))


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(first, first + count):
        if problem := replay(random_case(seed), sys.argv[3]):
            print(f"case {seed}: {sys.argv[3]}, {problem}")
            sys.exit(1)
