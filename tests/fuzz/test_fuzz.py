"""The fuzzer: a short run with a seed of its own each time, and what broke before."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"


def _fuzz(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "fuzz.py"), "--findings", str(tmp_path / "found"), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)


def test_what_broke_before_does_so_no_more(tmp_path):
    done = _fuzz(tmp_path, "--replay", str(CORPUS), "--seed", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(list(CORPUS.iterdir()))} files tried again" in done.stdout


def test_a_short_run_finds_nothing(tmp_path):
    done = _fuzz(tmp_path, "--inputs", "2000", "--processes", "1")
    print(done.stdout)  # the seed among it
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^2,000 inputs in .* 0 kinds of findings", done.stdout, re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize(
    ("planted", "says"),
    [
        ("raise ValueError('planted')", "lines: ValueError at"),
        ("while True: pass", "more than 1 s"),
        ("import os; os.abort()", "the process ended with -6"),
        ("x = bytearray(1 << 33)", "lines: MemoryError at"),
    ],
)
def test_a_planted_fault_is_found_and_the_run_goes_on(tmp_path, planted, says):
    driver = tmp_path / "fuzz.py"
    text = (ROOT / "tools" / "fuzz.py").read_text().replace("SECONDS = 10", "SECONDS = 1")
    driver.write_text(text)
    for name in ("fuzz_corpus", "fuzz_mutations"):
        (tmp_path / f"{name}.py").write_text(
            (ROOT / "tools" / f"{name}.py")
            .read_text()
            .replace("parent.parent", f"parent.joinpath({str(ROOT)!r})")
        )
    targets = (ROOT / "tools" / "fuzz_targets.py").read_text()
    # Not in the first inputs, which are there to load what is loaded once.
    fault = f"""        self.calls = getattr(self, "calls", 0) + 1
        if self.calls > 5 and self.calls % 4 == 0:
            {planted}
        path = self._folder / "s.tsv\""""
    (tmp_path / "fuzz_targets.py").write_text(
        targets.replace('        path = self._folder / "s.tsv"', fault, 1)
    )
    words = ["--inputs", "12", "--seed", "3", "--processes", "1", "--parsers", "lines"]
    command = [sys.executable, str(driver), *words, "--findings", str(tmp_path / "found")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == 1
    assert says in done.stdout
    assert "again with: python tools/fuzz.py --seed 3 --first" in done.stdout
    kept = [path.read_bytes() for path in (tmp_path / "found").iterdir() if path.name.startswith("lines-3-")]
    assert kept
    assert all(text.startswith(b"lines\n") for text in kept)
