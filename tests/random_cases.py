"""What tests on random cases share: making a failing case small, and telling what all cases had in them."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

Case = TypeVar("Case")

MOST_ATTEMPTS = 600


def shrink(case: Case, fails: Callable[[Case], bool], smaller: Callable[[Case], Iterable[Case]]) -> Case:
    """The smallest failing case that leaving things out one by one, as `smaller` does, leads to."""
    attempts = 0
    found: Case | None = case
    while found is not None:
        case, found = found, None
        for candidate in smaller(case):
            attempts += 1
            if attempts > MOST_ATTEMPTS:
                return case
            if fails(candidate):
                found = candidate
                break
    return case


def keep(tally: Path, chunk: int, measured: list[Any]) -> None:
    """Put down what a chunk of the cases had in them."""
    (tally / f"{chunk}.tmp").write_bytes(pickle.dumps(measured))
    (tally / f"{chunk}.tmp").rename(tally / f"{chunk}.features")


def conclude(tally: Path, chunks: int, capsys: Any, tell: Callable[[list[Any]], str]) -> list[Any] | None:
    """What all chunks put down: for whichever chunk finds first that all have, which then speaks for all."""
    found = list(tally.glob("*.features"))
    if len(found) < chunks:
        return None
    try:
        (tally / "said").touch(exist_ok=False)
    except FileExistsError:
        return None
    measured = [case for path in found for case in pickle.loads(path.read_bytes())]
    with capsys.disabled():
        # The workers of xdist share the terminal's standard error and nothing else.
        print(f"\n{tell(measured)}", file=sys.stderr, flush=True)
    return measured
