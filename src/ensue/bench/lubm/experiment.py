"""`ensue bench lubm`: INSTANS's evaluation (sections 5 and 6), all queries in one pass besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ensue.bench.harness import Experiment, Result, progress
from ensue.bench.lubm import growing, regimes
from ensue.bench.lubm.queries import NUMBERS
from ensue.bench.lubm.workload import COMPLETE
from ensue.errors import UsageError

PARTS = ("pass", "regimes", "contexts")


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    univ: int = 10
    """Universities of the pass over all queries."""
    least: int = 3
    """Universities of the pass whose memory it is compared with."""
    window: int = 10
    """Departments of a window."""
    shards: int = 2
    cores: int = 2
    repeats: int = 3
    regimes: Sequence[str] = ("rdfs", "rhodf", "dstar", "p", "dstar+p", COMPLETE)
    table_univ: int = 1
    """Universities of the parts that run each query many times."""
    parts: Sequence[str] = PARTS


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    if unknown := set(options.parts) - set(PARTS):
        raise UsageError(f"no part '{min(unknown)}'", hint=f"some of {', '.join(PARTS)}")
    lists = {name: ", ".join(getattr(options, name)) for name in ("parts", "regimes")}
    return Experiment(
        "lubm",
        f"LUBM({options.univ},0), its {len(NUMBERS)} queries over univ-bench under all of {COMPLETE}, each "
        f"department a context, {options.window} departments a window",
        asdict(options) | lists,
        "the same file read, decoded and counted in a job of its own; each query with the rules it needs",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """All parts that are asked for."""
    from ensue.bench.lubm import one_pass
    from ensue.bench.pipeline import folder_of_files
    from ensue.spark.session import embedded

    folder, found = folder_of_files(), Result([])
    if "regimes" in options.parts:
        names = (*(name for name in options.regimes if name != COMPLETE), COMPLETE)
        found += regimes.measure(options.table_univ, options.window, names, options.repeats)
    if "contexts" in options.parts:
        found += growing.measure(options.table_univ, options.window, folder, [NUMBERS, [9]])
    if "pass" in options.parts:
        found += one_pass.local(options.univ, options.window, folder)
        sizes = sorted({options.least, options.univ})
        with embedded(cores=options.cores, shards=options.shards, memory=None, say=progress) as spark:
            found += one_pass.on_spark(spark, sizes, options.window, options.shards, options.repeats, folder)
    return found
