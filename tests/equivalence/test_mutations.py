"""The random cases find mistakes: each of those in `mutations.py` is planted, and caught.

The cases are replayed in another process on a changed copy of the source, without numba. The case that
shows a difference there has to show none on the source as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ensue

from .cases import make_case
from .mutations import MUTATIONS
from .replay import compare

PACKAGE = Path(ensue.__file__).parent
TESTS = Path(__file__).parents[1]
SEED, CASES = 1, 200


def _replay(source: Path, strategy: str, seed: int, cases: int) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (source, TESTS))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_DISABLE_JIT": "1",
    }
    # Hashes overflow on purpose; numpy warns of that where numba does not.
    command = [sys.executable, "-W", "ignore", "-m", "equivalence.replay", str(seed)]
    command += ["--cases", str(cases), "--strategy", strategy]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def _case_of(caught: subprocess.CompletedProcess[str]) -> int | None:
    """The case that shows a wrong answer after some step.

    Code that merely breaks down would be found without these cases.
    """
    found = re.match(r"case (\d+): \S+, step \d+: ", caught.stdout)
    return int(found[1]) if found else None


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: f"{m.strategy}: {m.mistake}")
def test_a_planted_mistake_is_caught(mutation, tmp_path):
    package = tmp_path / "ensue"
    # With what Python has compiled: of the copy, it compiles again what a mistake is planted in.
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.jsa*", "*.nb?"))
    mutation.plant(package)
    caught = _replay(tmp_path, mutation.strategy, mutation.case, 1)
    if not _case_of(caught):
        caught = _replay(tmp_path, mutation.strategy, SEED, CASES)
    case = _case_of(caught)
    assert case, f"not caught in {CASES} cases: {caught.stdout}{caught.stderr}"
    right = compare(make_case(case), mutation.strategy)
    assert right is None, f"the source as it is fails too: {right}"


def test_there_are_twenty_different_mistakes():
    planted = {(mutation.file, mutation.original) for mutation in MUTATIONS}
    assert len(planted) == len(MUTATIONS) >= 20
