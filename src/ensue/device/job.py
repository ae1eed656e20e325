"""A job: statements in, a window that moves, what it entails out. Knows no clock and no socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from ensue.device.load import compile_pattern, load_background, load_rules
from ensue.device.options import Options
from ensue.dictionary import Dictionary
from ensue.maintain.program import conclude
from ensue.maintain.rete import Rete
from ensue.model import NEVER, Copies, Facts, Triple
from ensue.ntriples import Line, split_literal
from ensue.terms import Kind

STREAM = 1
"""The context of the one stream that a device has."""

SPARE_TERMS = 2_000
"""How many unused terms are put up with, beyond as many as are in use. The dictionary's own idea of when
a sweep pays is that of a larger machine.
"""

Out = Callable[[str], object]


@dataclass(slots=True)
class Counters:
    """What has happened so far."""

    statements: int = 0
    malformed: int = 0
    late: int = 0
    """Came after a window that they belong to had closed, but in time for another."""
    missed: int = 0
    """Came after all their windows had closed."""
    windows: int = 0
    derived: int = 0
    answers: int = 0
    freed_terms: int = 0


class Job:
    """A window (close - range, close] over a stream, with close = k * step, and its closure.

    Windows close as time goes on: by the statements' own times, or by `tick` where they have none.
    `derived` gets timed lines, one a derived statement, with the stamp as its time; `answers` gets
    a line of JSON per pattern and window; `flush` is called when a window is done.
    """

    def __init__(
        self, options: Options, derived: Out, answers: Out, flush: Callable[[], object] = lambda: None
    ) -> None:
        self.counters = Counters()
        self._flush = flush
        self._window, self._step = options.window, options.step
        self._derived = derived if options.derived else None
        self._answers = answers
        self._dictionary = Dictionary()
        self._rete = Rete(load_rules(options.rules), self._dictionary)
        self._rete.load_background(load_background(options.background, self._dictionary))
        self._patterns = [
            (text, *compile_pattern(text, options.prefixes, self._dictionary)) for text in options.patterns
        ]
        self._pending = Copies()
        self._closed: int | None = None
        """The last close, None before the first statement."""
        self._newest = NEVER
        self._terms_in_use = 0

    def prepare(self) -> None:
        """Close the background now, and not when the first window does."""
        self._rete.statistics()
        self._terms_in_use = len(self._dictionary)

    def push(self, time: int, line: Line) -> None:
        """Take a statement; windows that end before its time close first."""
        self.counters.statements += 1
        if self._closed is None:
            self._closed = self._close_before(time)
        if time <= self._closed:
            if time <= self._closed + self._step - self._window:
                self.counters.missed += 1
                return
            self.counters.late += 1
        self.tick(time - 1)
        s, p, o, _ = line
        encode = self._dictionary.encode
        self._pending.append(STREAM, encode(s), encode(p), encode(o), time)
        self._newest = max(self._newest, time)

    def tick(self, time: int) -> None:
        """Close every window whose end `time` has reached."""
        while self._closed is not None and self._closed + self._step <= time:
            if self._newest > self._closed + self._step - self._window:
                self._close(self._closed + self._step)
            else:
                # Nothing is left in any window until something comes: no need to count the hours.
                self._closed = max(self._closed + self._step, self._close_before(time + 1))

    def finish(self) -> None:
        """The stream has ended: close every window that still holds a statement."""
        if self._newest != NEVER:
            self.tick(self._close_before(self._newest) + self._step + self._window)

    def next_close(self) -> int | None:
        """When the next window closes, None as long as nothing has come."""
        return None if self._closed is None else self._closed + self._step

    def statistics(self) -> dict[str, int]:
        """Counters of the network."""
        return self._rete.statistics()

    def _close_before(self, time: int) -> int:
        return (time - 1) // self._step * self._step

    def _close(self, close: int) -> None:
        self._closed = close
        self.counters.windows += 1
        stated = set(zip(self._pending.s, self._pending.p, self._pending.o, strict=True))
        pending, self._pending = self._pending, Copies()
        self._rete.admit(pending)
        change = self._rete.advance(close - self._window)
        if self._derived is not None:
            self._send_derived(change.inserted, stated)
            # Who receives them would otherwise let them expire too early.
            self._send_derived(self._rete.renewed, stated)
        for pattern in range(len(self._patterns)):
            self._answer(pattern, close)
        self._flush()
        if len(self._dictionary) > 2 * self._terms_in_use + SPARE_TERMS:
            self.counters.freed_terms += self._dictionary.sweep(self._rete.used_terms())
            self._terms_in_use = len(self._dictionary)

    def _send_derived(self, facts: Facts, stated: set[Triple]) -> None:
        assert self._derived is not None
        decode, kinds = self._dictionary.decode, self._dictionary.kinds
        for _, s, p, o, stamp in facts:
            # Inside the closure literals may be subjects and nodes predicates; in RDF they may not.
            if (s, p, o) not in stated and kinds[s] <= Kind.BLANK and kinds[p] == Kind.IRI:
                self._derived(f"{stamp}\t{decode(s)} {decode(p)} {decode(o)} .\n")
                self.counters.derived += 1

    def _answer(self, number: int, close: int) -> None:
        text, names, rule = self._patterns[number]
        decode, minted = self._dictionary.decode, self._dictionary.is_minted
        bindings = []
        for binding, _ in self._rete.matches(rule, STREAM):
            found = binding[: len(names)]
            if conclude(rule, binding, self._dictionary) and not any(map(minted, found)):
                bindings.append({name: to_json(decode(t)) for name, t in zip(names, found, strict=True)})
        self.counters.answers += len(bindings)
        window = {"query": text, "open": close - self._window, "close": close}
        self._answers(json.dumps(window | {"vars": names, "bindings": bindings}, ensure_ascii=False) + "\n")


def to_json(term: str) -> dict[str, str]:
    """A term as the JSON results of SPARQL have it.

    >>> to_json('"chat"@fr')
    {'type': 'literal', 'value': 'chat', 'xml:lang': 'fr'}
    """
    if term[0] == "<":
        return {"type": "uri", "value": term[1:-1]}
    if term[0] == "_":
        return {"type": "bnode", "value": term[2:]}
    text, language, datatype = split_literal(term)
    found = {"type": "literal", "value": text}
    if language:
        found["xml:lang"] = language
    if datatype:
        found["datatype"] = datatype
    return found
