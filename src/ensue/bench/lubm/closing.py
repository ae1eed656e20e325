"""`ensue bench reason`: LUBM closed once under all of OWL 2 RL, by Ensue and by `reasonable` side by side.

Both read the same file and write what holds. Blank nodes of the ontology have names in it, so that what the
two say can be compared; for what one of them alone says, a statement of each kind is proved, which names
the rule.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from ensue.bench.harness import Experiment, Result, Row, Table, Timing, progress, ratio
from ensue.bench.lubm.workload import COMPLETE, complete_rules, ontology, universities
from ensue.closing import close_once
from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.files import load_file
from ensue.model import Copies, Facts
from ensue.proof.held import Ground, Held
from ensue.proof.proof import BACKGROUND
from ensue.proof.search import prove
from ensue.terms import RDF, XSD
from ensue.writing import lines_of

Statement = tuple[str, str, str]
_TYPE = f"<{RDF}type>"
_STRING = f"^^<{XSD}string>"


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    univ: int = 1
    repeats: int = 5


@dataclass(frozen=True, slots=True)
class Ran:
    """Seconds of one run: to read, to close and to write."""

    read: float
    close: float
    write: float

    @property
    def whole(self) -> float:
        """All of it."""
        return self.read + self.close + self.write


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    return Experiment(
        "reason",
        f"LUBM({options.univ},0) and univ-bench closed once under all of {COMPLETE}",
        asdict(options),
        "reading the same file and doing nothing with it",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """Both in turn, so often; then what one of them says and the other does not."""
    try:
        reasonable = import_module("reasonable")
    except ImportError:
        raise UsageError("reasonable is not installed", hint="pip install reasonable") from None
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "data.nt"), Path(folder, "out.nt")
        data.write_text("".join(_data(options.univ)), "utf-8")
        # Turtle is all that reasonable reads, and N-Triples is Turtle.
        turtle = data.with_suffix(".ttl")
        turtle.hardlink_to(data)
        ours, theirs = _Ours(data, out), _Theirs(reasonable, turtle, out)
        # What is compiled or loaded is so before anything is timed.
        ours.run()
        theirs.run()
        runs: dict[str, list[Ran]] = {"ensue": [], "reasonable": []}
        for number in range(options.repeats):
            progress(f"run {number + 1} of {options.repeats}")
            runs["ensue"].append(ours.run())
            runs["reasonable"].append(theirs.run())
    said = {"ensue": ours.said(), "reasonable": theirs.said()}
    rows = [_row(name, ran, len(said[name])) for name, ran in runs.items()]
    closing, whole = (
        ratio(_median(runs["reasonable"], of), _median(runs["ensue"], of)) for of in (_close, _whole)
    )
    notes = [
        f"reasonable takes {closing} times as long as ensue to close, {whole} times to read, close and write"
    ]
    return Result([Table("seconds, medians", rows), _differences(said, ours.rules())], notes=notes)


def _data(univ: int) -> Iterable[str]:
    """A line a statement; blank nodes have names of their own, the same in both."""
    for department in universities(univ):
        yield from (f"{s} {p} {o} .\n" for s, p, o in department.statements())
    for s, p, o, _ in ontology().stated:
        yield f"{_named(s)} {p} {_named(o)} .\n"


def _named(term: str) -> str:
    return f"<urn:ensue:node:{term[2:]}>" if term.startswith("_:") else term


class _Ours:
    """Ensue, as `ensue reason` runs it."""

    def __init__(self, data: Path, out: Path) -> None:
        self._data, self._out = data, out
        self._dictionary, self._stated, self._facts = Dictionary(), Copies(), Facts.of([])

    def run(self) -> Ran:
        """Once, from nothing."""
        self._dictionary, self._stated = Dictionary(), Copies()
        begin = _now()
        load_file(self._data, self._dictionary, into=self._stated)
        read = perf_counter()
        self._facts = close_once(complete_rules(), self._stated, self._dictionary)
        closed = perf_counter()
        with self._out.open("w", encoding="utf-8") as file:
            file.writelines(lines_of(self._facts, self._dictionary).texts())
        return Ran(read - begin, closed - read, perf_counter() - closed)

    def said(self) -> set[Statement]:
        """What holds."""
        written = "".join(lines_of(self._facts, self._dictionary).texts())
        return {_triple(line) for line in written.split("\n")[:-1]}

    def rules(self) -> Callable[[Statement], str]:
        """Which rule makes a statement, in a smallest proof."""
        known = zip(self._stated.s, self._stated.p, self._stated.o, strict=True)
        ground = Ground(
            complete_rules(), self._dictionary, self._facts, ((BACKGROUND, triple) for triple in known)
        )
        held = Held(ground, (), {})

        def rule(statement: Statement) -> str:
            s, p, o = map(self._dictionary.encode, statement)
            return prove(held, (s, p, o)).proof.rule or "axiom"

        return rule


class _Theirs:
    """`reasonable`, by its own way from a file to a list of statements."""

    def __init__(self, module: Any, data: Path, out: Path) -> None:
        self._module, self._data, self._out = module, data, out
        self._found: list[Any] = []

    def run(self) -> Ran:
        """Once, from nothing."""
        begin = _now()
        reasoner = self._module.PyReasoner()
        reasoner.load_file(str(self._data))
        read = perf_counter()
        self._found = reasoner.reason()
        closed = perf_counter()
        text = _Texts()
        with self._out.open("w", encoding="utf-8") as file:
            file.writelines(f"{text[s]} {text[p]} {text[o]} .\n" for s, p, o in self._found)
        return Ran(read - begin, closed - read, perf_counter() - closed)

    def said(self) -> set[Statement]:
        """What holds."""
        return {(s.n3(), p.n3(), o.n3().removesuffix(_STRING)) for s, p, o in self._found}


class _Texts(dict[Any, str]):
    """The texts of rdflib's terms, each made once."""

    def __missing__(self, term: Any) -> str:
        made = self[term] = term.n3()
        return str(made)


def _now() -> float:
    gc.collect()
    return perf_counter()


def _triple(line: str) -> Statement:
    s, p, o = line[: -len(" .")].split(" ", 2)
    return s, p, o


def _close(ran: Ran) -> float:
    return ran.close


def _whole(ran: Ran) -> float:
    return ran.whole


def _median(runs: Sequence[Ran], of: Callable[[Ran], float]) -> float:
    return Timing(tuple(map(of, runs))).median


def _row(name: str, runs: Sequence[Ran], said: int) -> Row:
    return {
        "who": name,
        "read": _median(runs, lambda ran: ran.read),
        "close": _median(runs, _close),
        "write": _median(runs, lambda ran: ran.write),
        "whole": _median(runs, _whole),
        "min-max ms to close": Timing(tuple(map(_close, runs))).spread,
        "statements": said,
    }


def _differences(said: Mapping[str, set[Statement]], rule: Callable[[Statement], str]) -> Table:
    """What one says and the other does not, kind by kind."""
    one, other = said["ensue"], said["reasonable"]
    rows: list[Row] = [
        {"only": who, "like": " ".join(like), "statements": len(some), "by": by(some[0])}
        for who, left, by in (("ensue", one - other, rule), ("reasonable", other - one, lambda _: ""))
        for like, some in _kinds(left)
    ]
    rows.append({"only": "both", "like": "", "statements": len(one & other), "by": ""})
    return Table("what one of them says alone", rows)


def _kinds(statements: Iterable[Statement]) -> list[tuple[Statement, list[Statement]]]:
    """Statements by what they look like; the most frequent kind first."""
    kinds: dict[Statement, list[Statement]] = {}
    for s, p, o in sorted(statements):
        like = (s, p, o) if s == o and p == _TYPE else ("x", p, "x" if s == o else o if p == _TYPE else "y")
        kinds.setdefault(like, []).append((s, p, o))
    return sorted(kinds.items(), key=lambda kind: -len(kind[1]))
