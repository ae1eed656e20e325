"""The experiments of `ensue bench coror` by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add

from ensue.bench import coror, memory
from ensue.bench.coror import Options
from ensue.bench.harness import Experiment, Result

EXPERIMENTS: dict[str, Callable[[Options], Result]] = {
    "throughput": coror.throughput,
    "share": coror.share,
    "windows": coror.windows,
    "ontologies": coror.ontologies,
    "size": coror.size,
    "memory": memory.memory,
}


def experiment(options: Options, name: str) -> Experiment:
    """One experiment by its name, or `all`."""
    chosen = list(EXPERIMENTS) if name == "all" else [name]
    return Experiment(
        "coror",
        "distinct, connected statements from the ontology-stream generator, under pdsv",
        {
            "experiments": ", ".join(chosen),
            "strategies": ", ".join(options.strategies),
            "total": options.total,
            "rate": options.rate,
            "iterations": options.iterations,
            "seed": options.seed,
        },
        "recompute is the naive approach; a throughput step includes turning terms into integers",
        lambda: reduce(add, (EXPERIMENTS[one](options) for one in chosen)),
    )
