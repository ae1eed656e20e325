"""Predicates and classes that a query asks for and nothing brings: mostly spelling mistakes.

A stream can bring anything, so little can be known before it has come, and a false alarm is worse than none.
Where the files of all streams have been looked through, a term is missing that occurs nowhere: in no
statement of streams and background, in no rule and no other query. Where they have not, only one is that
belongs to a namespace of which the background declares other terms, when one of these is spelt alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ensue.errors import Warned
from ensue.plan.asked import AsksForEverything, patterns
from ensue.query.language_clauses import outline
from ensue.query.language_cursor import Cursor
from ensue.query.tree import ContinuousQuery
from ensue.rules.lexer import Source
from ensue.rules.tree import Bind, RuleSet
from ensue.terms import OWL, RDF, RDFS

_TYPE = f"<{RDF}type>"
_SCHEMA_CLASSES = {
    f"<{OWL}Class>",
    f"<{RDFS}Class>",
    f"<{RDF}Property>",
    *(f"<{OWL}{kind}Property>" for kind in ("Object", "Datatype", "Annotation", "Transitive", "Functional")),
}
_SCHEMA = {f"<{RDFS}{name}>" for name in ("subClassOf", "subPropertyOf", "domain", "range")}
_ALIKE = 0.8
_MOST_NAMES = 10_000
"""Of so many predicates and classes of streams one may be meant."""
_LOCAL = re.compile(r"<(.*[/#:])([^/#:]*)>")


@dataclass(frozen=True, slots=True)
class _Everywhere:
    default = True

    def graph(self, query: ContinuousQuery, term: Any) -> bool:
        return True


class Vocabulary:
    """What queries ask for, until it is seen somewhere."""

    def __init__(self, queries: Sequence[ContinuousQuery], rules: RuleSet) -> None:
        self._queries = queries
        said = set(_terms_of(rules))
        texts = [_iris(query) for query in queries]
        self._missing: set[str] = set()
        for number, query in enumerate(queries):
            others = {term for at, found in enumerate(texts) if at != number for term in found}
            self._missing |= {term for term in _asked(query) if term not in said | others}
        if any(isinstance(c, Bind) and re.search(r"\b(IRI|URI)\b", c.text, re.I) for c in _conditions(rules)):
            self._missing.clear()  # Rules make terms that nobody can foresee.
        self._declared: set[str] = set()
        self._names = {term for term in said if term[0] == "<"}
        self._complete = False

    def background(self, statements: Iterable[tuple[str, str, str, str | None]]) -> None:
        """What is seen in background, and in graphs of FROM."""
        if self._missing:
            for s, p, o, graph in statements:
                self._missing -= {s, p, o, graph}
                if p in _SCHEMA or (p == _TYPE and o in _SCHEMA_CLASSES):
                    self._declared.add(s)

    def stream(self, statements: Iterable[tuple[int, str, str, str, str | None]]) -> None:
        """What is seen on streams; all that they will bring has to be."""
        self._complete = True
        if self._missing:
            for _, s, p, o, graph in statements:
                self._missing -= {s, p, o, graph}
                if len(self._names) < _MOST_NAMES:
                    self._names.add(o if p == _TYPE else p)

    def warnings(self) -> Iterator[Warned]:
        """What nothing brings."""
        for query in self._queries:
            places = _iris(query)
            for term in dict.fromkeys(_asked(query)):
                if term in self._missing and term in places:
                    alike = self._alike(term)
                    hint = f"did you mean {alike}?" if alike else None
                    if self._complete:
                        what = f"{term} is brought by no stream, background or rule"
                        yield Warned(what, places[term], hint)
                    elif alike in self._declared:
                        what = f"{term} is not declared where others of its namespace are"
                        yield Warned(what, places[term], hint)

    def _alike(self, term: str) -> str | None:
        """A term of the same namespace that is spelt alike, but for more than its digits."""
        found = _LOCAL.fullmatch(term)
        if found is None:
            return None
        space, name = found.groups()
        bare = re.sub(r"\d", "", name)
        locals_ = {
            other[2].lower(): other[0]
            for other in map(_LOCAL.fullmatch, sorted(self._declared | self._names))
            if other is not None and other[1] == space and re.sub(r"\d", "", other[2]) != bare
        }
        close = get_close_matches(name.lower(), locals_, n=1, cutoff=_ALIKE)
        return locals_[close[0]] if close else None


def _asked(query: ContinuousQuery) -> Iterator[str]:
    """The predicates and classes of a query's patterns."""
    try:
        for pattern in patterns(query, _Everywhere()):
            term = pattern.o if pattern.p == _TYPE else pattern.p
            if isinstance(term, str) and term[0] == "<" and term != _TYPE:
                yield term
    except AsksForEverything:
        return


def _iris(query: ContinuousQuery) -> dict[str, Any]:
    """The IRIs in the text of a query, each with the place where it stands first."""
    source = Source(query.text, query.place.file)
    cursor = Cursor(source)
    found = outline(cursor)
    found.names.base = query.base
    declared = False
    places: dict[str, Any] = {}
    for token in cursor.tokens:
        if token.kind in ("iri", "pname") and not declared and token not in found.ours:
            places.setdefault(f"<{found.names.iri(token, relative=True)}>", source.place(token.start))
        declared = token.is_word("PREFIX")
    return places


def _conditions(rules: RuleSet) -> Iterator[Any]:
    return (condition for rule in rules.rules for condition in rule.conditions)


def _terms_of(rules: RuleSet) -> Iterator[str]:
    """The terms in rules and axioms."""
    for rule in rules.rules:
        for pattern in (*(premise.pattern for premise in rule.premises), *rule.conclusions):
            yield from (term for term in pattern if isinstance(term, str))
        for condition in rule.conditions:
            yield from (term for term in getattr(condition, "args", ()) if isinstance(term, str))
    yield from (term for axiom in rules.axioms for term in axiom if isinstance(term, str))
