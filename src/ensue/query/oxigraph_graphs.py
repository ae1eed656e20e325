"""GRAPH with a variable, written out: one alternative a graph.

`GRAPH ?g { P }` is, as SPARQL defines it, the union over the graphs of P in that graph, with ?g being its
name. Written out like this oxigraph gets it right also where ?g is out of P's sight (MINUS, a subquery),
and in RSP-QL a variable is over the windows or over the named graphs only, though oxigraph knows graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from ensue.query.dataset import Dataset
from ensue.query.language_cursor import Cursor
from ensue.query.tree import ContinuousQuery
from ensue.rules.lexer import Source, Token


def written_out(query: ContinuousQuery, dataset: Dataset) -> str:
    """The SPARQL of a query, with each GRAPH variable going through the graphs that it is over.

    >>> from ensue.dictionary import Dictionary
    >>> from ensue.query.dataset import PlainGraph
    >>> from ensue.query.language import parse_query
    >>> query = parse_query("ASK FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE 1s] { WINDOW ?w { _:a ?b ?c } }")
    >>> graph, windows = PlainGraph(), frozenset({"urn:w"})
    >>> dataset = Dataset(Dictionary(), graph, {"urn:w": graph, "urn:g": graph}, windows)
    >>> " ".join(written_out(query, dataset).split())
    'ASK { { { GRAPH <urn:w> { _:acopy1 ?b ?c } VALUES ?w { <urn:w> } } }}'
    """

    def names(variable: str) -> list[str]:
        if query.relation is None:  # C-SPARQL has one kind of variable, over all
            return sorted(dataset.named)
        windows = variable in query.window_variables
        return sorted(name for name in dataset.named if (name in dataset.windows) == windows)

    tokens = Cursor(Source(query.sparql, "")).tokens
    return _Writer(query.sparql, tokens, names).text(0, len(tokens), "")


class _Writer:
    def __init__(self, sparql: str, tokens: Sequence[Token], names: Callable[[str], list[str]]) -> None:
        self._sparql = sparql
        self._tokens = tokens
        self._names = names
        self._copies = count(1)
        self._mark = "copy"
        while self._mark in sparql:
            self._mark += "y"

    def text(self, at: int, end: int, label: str) -> str:
        """Some tokens, with the label added to their blank nodes: no two groups may share one."""
        parts = []
        while at < end:
            token = self._tokens[at]
            if token.is_word("GRAPH") and self._tokens[at + 1].kind == "var":
                last = self._end_of_group(at + 2)
                parts.append(self._union(self._tokens[at + 1].text, at + 2, last, label))
                at = last
                continue
            parts.append(token.text + (label if token.kind == "blank" else "") + self._space(at))
            at += 1
        return "".join(parts)

    def _union(self, variable: str, at: int, end: int, label: str) -> str:
        names = self._names(variable[1:])
        if not names:
            return f"{{ VALUES {variable} {{ }} GRAPH {variable} {self.text(at, end, label)} }}"
        return f"{{ {' UNION '.join(self._in_graph(f'<{name}>', variable, at, end) for name in names)} }}"

    def _in_graph(self, name: str, variable: str, at: int, end: int) -> str:
        group = self.text(at, end, f"{self._mark}{next(self._copies)}")
        return f"{{ GRAPH {name} {group} VALUES {variable} {{ {name} }} }}"

    def _end_of_group(self, at: int) -> int:
        depth = 0
        while True:
            depth += self._tokens[at].is_op("{") - self._tokens[at].is_op("}")
            at += 1
            if depth == 0:
                return at

    def _space(self, at: int) -> str:
        """What stands between a token and the next: they are apart only where they were."""
        start = self._tokens[at].start + len(self._tokens[at].text)
        return self._sparql[start : self._tokens[at + 1].start] if at + 1 < len(self._tokens) else ""
