"""The papers' notation, read: `(R) isIn(x, z) :- isIn(x, y), isIn(y, z)`, one clause a line.

A bare name is a variable; terms are `<iri>`, `"literal"` or a name under rdf:, rdfs:, owl:, xsd:.
The name of a clause stands before it in brackets and may be left out. Built-in conditions such as
`notLiteral(x)` are known by their names.
"""

from __future__ import annotations

import re

from ensue.errors import Place, RuleSyntaxError
from ensue.rules import builtins
from ensue.rules.maintenance.datalog import (
    PREFIXES,
    Atom,
    Clause,
    Comparison,
    LastPassed,
    Literal,
    Min,
    Not,
    Program,
)
from ensue.rules.tree import Bind, Guard, Node, Var

_TOKEN = re.compile(
    r"""
      (?P<passed>\(now\ -\ 1\))
    | (?P<term><[^<>\s]*> | "(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^<>\s]*>)?)
    | (?P<prefixed>(?:rdf|rdfs|owl|xsd):\w+)
    | (?P<name>[^\W\d]\w*(?:\+\+|\+|-)?)
    | (?P<sign>:-|<=|>|=|[()\[\],])
    """,
    re.VERBOSE,
)
_LABEL = re.compile(r"\s*\(([^()\s]+)\)\s+")


def parse(text: str, file: str = "<datalog>") -> Program:
    """A program in the papers' notation; empty lines and lines that begin with % are passed over.

    >>> print(parse("(R) isIn(x, z) :- isIn(x, y), isIn(y, z)"))
    (R) isIn(x, z) :- isIn(x, y), isIn(y, z)
    >>> parse("isIn(x, z :- isIn(x, z)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ensue.errors.RuleSyntaxError: <datalog>:1:11: expected ')' and found ':-' (hint: ...)
    """
    clauses: list[Clause] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("%"):
            label = _LABEL.match(line)
            name = label[1] if label else f"R{len(clauses) + 1}"
            reader = _Reader(line, Place(file, number, 1), label.end() if label else 0)
            clauses.append(reader.clause(name))
    return Program(tuple(clauses))


class _Reader:
    """Reads one line from left to right, one token ahead."""

    def __init__(self, line: str, place: Place, at: int) -> None:
        self._line = line
        self._place = place
        self._end = at
        self._step()

    def clause(self, name: str) -> Clause:
        head = self._atom()
        body: list[Literal] = []
        if self._take(":-"):
            body.append(self._literal())
            while self._take(","):
                body.append(self._literal())
        if self._kind:
            raise self._unexpected("the end of the line")
        return Clause(head, tuple(body), name, self._place)

    def _literal(self) -> Literal:
        if self._text == "not":
            self._step()
            return Not(self._atom())
        found = self._atom()
        if self._kind == "sign" and self._text in ("=", ">", "<=") and not found.args:
            return self._comparison(Var(found.predicate))
        return _condition(found) or found

    def _atom(self) -> Atom:
        predicate = self._name("a predicate")
        args: list[Node] = []
        if self._take("("):
            args.append(self._node())
            while self._take(","):
                args.append(self._node())
            self._expect(")")
        stamp = None
        if self._take("["):
            stamp = Var(self._name("a stamp"))
            self._expect("]")
        return Atom(predicate, tuple(args), stamp)

    def _comparison(self, left: Var) -> Comparison:
        sign = self._step()
        if self._kind == "passed":
            self._step()
            return Comparison(left, sign, LastPassed())
        name = self._name("a stamp, min(...) or (now - 1)")
        if name != "min" or not self._take("("):
            return Comparison(left, sign, Var(name))
        stamps = [Var(self._name("a stamp"))]
        while self._take(","):
            stamps.append(Var(self._name("a stamp")))
        self._expect(")")
        return Comparison(left, sign, Min(tuple(stamps)))

    def _node(self) -> Node:
        if self._kind == "term":
            return self._step()
        if self._kind == "prefixed":
            prefix, local = self._step().split(":")
            return f"<{PREFIXES[prefix]}{local}>"
        return Var(self._name("a variable or a term"))

    def _name(self, what: str) -> str:
        if self._kind != "name":
            raise self._unexpected(what)
        return self._step()

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._unexpected(f"'{sign}'")

    def _take(self, sign: str) -> bool:
        if self._kind == "sign" and self._text == sign:
            self._step()
            return True
        return False

    def _step(self) -> str:
        """Go to the next token; the text of the one that is left."""
        left = getattr(self, "_text", "")
        while self._end < len(self._line) and self._line[self._end].isspace():
            self._end += 1
        found = _TOKEN.match(self._line, self._end)
        self._start = self._end
        self._kind = (found.lastgroup or "") if found else ""
        self._text = found[0] if found else self._line[self._end : self._end + 1]
        if found:
            self._end = found.end()
        elif self._text:
            raise self._unexpected("a name, a term or a sign")
        return left

    def _unexpected(self, what: str) -> RuleSyntaxError:
        return RuleSyntaxError(
            f"expected {what} and found {repr(self._text) if self._text else 'the end of the line'}",
            place=Place(self._place.file, self._place.line, self._start + 1),
            hint="a clause reads like (R) isIn(x, z) :- isIn(x, y), isIn(y, z)",
        )


def _condition(atom: Atom) -> Guard | Bind | None:
    tests, binds = builtins.TESTS.get(atom.predicate), builtins.BINDS.get(atom.predicate)
    if tests and tests[0] == len(atom.args):
        return Guard(atom.predicate, atom.args)
    if binds and binds[0] == len(atom.args) - 1 and isinstance(target := atom.args[-1], Var):
        return Bind(atom.predicate, atom.args[:-1], target)
    return None
