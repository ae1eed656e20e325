"""Temporal expressions, found among the tokens of a query: `{ A } SEQ { B } WITHIN PT5M`.

SPARQL has no word between two groups but UNION and the like, so an operator behind a closing brace can be
nothing else. What is inside the braces is SPARQL and goes to rdflib, group by group. In place of an
expression the rest of the query has patterns that stand for its occurrences (`EVENTS`); where a plan is made,
it has a join.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ensue.errors import QueryError, QuerySyntaxError, did_you_mean
from ensue.events.tree import Allen, Asked, Events, Expression, Group, Of, Related, Repeat, Strategy
from ensue.query.evaluator import TIMESTAMP
from ensue.query.language_clauses import Outline
from ensue.query.language_cursor import Cursor
from ensue.query.language_spans import time_span
from ensue.query.language_sparql import Inner, algebra, inner
from ensue.query.tree import EVENTS, HIDDEN
from ensue.rules.lexer import Token

_OPTIONAL = {"OPTIONALSEQ": Allen.BEFORE, "EQUALSOPTIONAL": Allen.EQUALS}
_OPERATORS: dict[str, Allen] = {**{name.value: name for name in Allen}, "SEQ": Allen.BEFORE, **_OPTIONAL}
_SPARQL = ("UNION", "MINUS", "OPTIONAL", "GRAPH", "WINDOW", "FILTER", "BIND", "VALUES", "WHERE", "SERVICE")
_FUNCTIONS = {of.value: of for of in (Of.START, Of.END, Of.DURATION)}
_EP_FUNCTIONS = {of.value.upper(): of for of in (Of.STARTTIME, Of.ENDTIME, Of.DURATIONTIME)}
_NAMESPACE = TIMESTAMP.removesuffix("timestamp")
_AN_OPERAND = "{ A } SEQ { B }, { A }{2,5} SEQ { B }"


@dataclass(slots=True)
class _Texts:
    """What becomes of tokens in the text that is evaluated, and in the one that plans are made of."""

    evaluated: dict[Token, str] = field(default_factory=dict)
    planned: dict[Token, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Span:
    """An expression, and the tokens from its first to before its end."""

    tree: Expression
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundEvents:
    """The temporal expressions of a query, and the SPARQL that is left."""

    events: Events
    rest: Inner


def find_events(cursor: Cursor, found: Outline, base: str) -> FoundEvents | None:
    """The temporal expressions of a query; None if it has none. The outer layer has been found before."""
    finder = _Finder(cursor, found, base)
    spans = list(finder.spans())
    if not spans:
        return None
    return finder.put_together(spans)


class _Finder:
    """Goes through the tokens of one query."""

    def __init__(self, cursor: Cursor, found: Outline, base: str) -> None:
        self._cursor = cursor
        self._tokens = cursor.tokens
        self._found, self._base = found, base
        self._closing = dict(_braces(cursor.tokens))
        self._texts = _Texts()

    def spans(self) -> Iterator[_Span]:
        """The expressions, from the first to the last."""
        at = 0
        windows: list[tuple[int, str, int]] = []
        while at < len(self._tokens):
            token = self._tokens[at]
            if token in self._found.ours:  # The markers of events are in braces, too.
                at += 1
                continue
            while windows and at > windows[-1][0]:
                windows.pop()
            if token.is_word("WINDOW") and at + 2 in self._closing:
                windows.append((self._closing[at + 2], self._window(at), at))
            if token.is_op("{") and self._begins(at):
                self._cursor.at = at
                tree = self._expression(windows[-1][1] if windows else None, is_root=True)
                yield _Span(tree, at, self._cursor.at)
                if windows:  # The expression knows its window, and what stands beside it is background.
                    first = windows[-1][2]
                    self._texts.evaluated |= dict.fromkeys(self._tokens[first : first + 2], "")
                at = self._cursor.at
                continue
            if token.is_op("}"):
                self._check_word(at + 1)
            at += 1

    def _window(self, at: int) -> str:
        token = self._tokens[at + 1]
        if token.kind == "var":
            return ""
        return replace(self._found.names, base=self._base).iri(token)

    def _begins(self, at: int) -> bool:
        """Whether the group that opens here is the first operand of an expression."""
        before = self._tokens[at - 1] if at else None
        if before is not None and before.is_word("EXISTS"):
            return False
        return at in self._closing and self._goes_on(self._closing[at] + 1)

    def _goes_on(self, at: int) -> bool:
        if at >= len(self._tokens):
            return False
        token = self._tokens[at]
        return token.is_word(*_OPERATORS, "WITHIN", "AS") or token.is_op("+") or self._is_count(at)

    def _is_count(self, at: int) -> bool:
        """Whether these braces say how often: {2}, {2,} or {2,5}."""
        if at not in self._closing:
            return False
        inside = self._tokens[at + 1 : self._closing[at]]
        return (
            1 <= len(inside) <= 3
            and inside[0].kind == "number"
            and all(token.kind == "number" or token.is_op(",") for token in inside)
        )

    def _check_word(self, at: int) -> None:
        """Raise if a word between two groups looks like an operator."""
        if at + 1 >= len(self._tokens) or not self._tokens[at + 1].is_op("{"):
            return
        word = self._tokens[at]
        if word.kind == "word" and not word.is_word(*_SPARQL):
            close = did_you_mean(word.text.upper(), list(_OPERATORS))
            if close:
                raise self._cursor.error(f"'{word.text[:40]}' is no temporal operator", word, close)

    # -- expressions -------------------------------------------------------------------------------

    def _expression(self, window: str | None, *, is_root: bool = False) -> Expression:
        cursor = self._cursor
        left = self._operand(window)
        while True:
            word = cursor.token
            if word.is_word("WITHIN"):
                start = cursor.at
                cursor.take()
                span = time_span(cursor)
                self._drop(start, cursor.at)
                left = replace(left, within=span if left.within is None else min(span, left.within))
            elif word.is_word(*_OPERATORS):
                if (isinstance(left, Related) and left.optional) or (
                    word.text.upper() in _OPTIONAL and not is_root
                ):
                    raise cursor.error(
                        "what is optional comes last in a whole expression",
                        word,
                        "whether something is alone can change with every statement: ask in a UNION",
                    )
                left = self._related(left, window)
            else:
                return left

    def _related(self, left: Expression, window: str | None) -> Expression:
        cursor, first = self._cursor, self._cursor.take()
        word = first.text.upper()
        self._texts.planned[first] = "OPTIONAL" if word in _OPTIONAL else ""
        strategy = self._strategy()
        without: list[Group] = []
        while cursor.token.is_word("NOT"):
            if _OPERATORS[word] is not Allen.BEFORE:
                raise cursor.error(f"NOT cannot follow {word}", cursor.token, "{ A } SEQ NOT { C } SEQ { B }")
            self._texts.planned[cursor.take()] = "MINUS"
            without.append(self._group(window, self._opening()))
            then = cursor.expect("SEQ", "what is NOT to be stands between two: { A } SEQ NOT { C } SEQ { B }")
            self._texts.planned[then] = ""
        right = self._operand(window)
        place = cursor.source.place(first.start)
        optional = word in _OPTIONAL
        return Related(left, right, _OPERATORS[word], place, strategy, optional, tuple(without))

    def _strategy(self) -> Strategy:
        cursor, start = self._cursor, self._cursor.at
        if not cursor.token.is_op("["):
            return Strategy.UNRESTRICTED
        cursor.take()
        word, names = cursor.token, ", ".join(Strategy)
        if not word.is_word(*Strategy):
            close = did_you_mean(word.text.upper(), list(Strategy)) if word.kind == "word" else None
            raise cursor.unexpected("a consumption strategy", close or f"one of {names}")
        cursor.take()
        cursor.expect("]", f"close the strategy with ']': [{word.text.upper()}]")
        self._drop(start, cursor.at)
        return Strategy(word.text.upper())

    def _opening(self) -> int:
        if not self._cursor.token.is_op("{"):
            raise self._cursor.unexpected("a group", _AN_OPERAND)
        return self._cursor.at

    def _operand(self, window: str | None) -> Expression:
        cursor, first = self._cursor, self._opening()
        inside = first + 1
        if inside in self._closing and self._begins(inside):
            cursor.take()
            tree = self._expression(window)
            if cursor.at != self._closing[first]:
                hint = "a group is an expression, or triple patterns and filters"
                raise cursor.unexpected("'}' behind the expression", hint)
            cursor.take()
        else:
            tree = self._group(window, first)
        return self._named(self._repeated(tree, first))

    def _repeated(self, tree: Expression, first: int) -> Expression:
        cursor, start = self._cursor, self._cursor.at
        if cursor.token.is_op("+"):
            least, most = 1, None
            cursor.take()
        elif self._is_count(start):
            least, most = self._bounds(start)
            cursor.at = self._closing[start] + 1
        else:
            return tree
        inside = range(first, start)
        self._drop(start, cursor.at)
        outside = {
            token.text[1:]
            for at, token in enumerate(self._tokens)
            if token.kind == "var" and at not in inside
        }
        shared = tuple(name for name in tree.variables if name in outside)
        return Repeat(tree, least, most, shared, cursor.source.place(self._tokens[start].start))

    def _bounds(self, at: int) -> tuple[int, int | None]:
        inside = self._tokens[at + 1 : self._closing[at]]
        numbers = [
            int(token.text) if token.text.isdigit() else 0 for token in inside if token.kind == "number"
        ]
        least = numbers[0]
        most = least if len(inside) == 1 else numbers[1] if len(numbers) == 2 else None
        if least < 1 or (most is not None and most < least):
            what, hint = "these bounds leave nothing", "at least one, and no more than the second: {2,5}"
            raise self._cursor.error(what, self._tokens[at], hint)
        return least, most

    def _named(self, tree: Expression) -> Expression:
        cursor = self._cursor
        if not cursor.token.is_word("AS"):
            return tree
        start = cursor.at
        cursor.take()
        if cursor.token.kind != "var":
            raise cursor.unexpected("a name for the occurrence", "{ A } AS ?a SEQ { B }")
        name = cursor.take().text[1:]
        self._drop(start, cursor.at)
        return replace(tree, name=name)

    def _group(self, window: str | None, first: int) -> Group:
        """The group that opens at a token, with its SPARQL; the cursor is behind it then."""
        cursor, end = self._cursor, self._closing[first] + 1
        tokens = self._tokens[first:end]
        cursor.at = end
        variables = dict.fromkeys(token.text[1:] for token in tokens if token.kind == "var")
        if first + 1 < end and self._tokens[first + 1].is_word("WINDOW"):
            window = self._window(first + 1)
        place = cursor.source.place(tokens[0].start)
        if window == "":
            raise QueryError("a group is in one window", place=place, hint="name it: WINDOW <w> { }")
        text = inner(cursor.source, tokens, set(), lead="ASK ")
        tree = algebra(text, self._found.names.prefixes, self._base).p
        return Group(tree, tuple(variables), window, place)

    def _drop(self, start: int, end: int) -> None:
        self._texts.planned |= dict.fromkeys(self._tokens[start:end], "")

    # -- what is left ------------------------------------------------------------------------------

    def put_together(self, spans: list[_Span]) -> FoundEvents:
        """The expressions, and the query without them."""
        asked = self._functions(spans)
        self._check_names(spans)
        self._check_windows(spans)
        for number, span in enumerate(spans):
            tokens = self._tokens[span.first : span.end]
            self._texts.evaluated |= dict.fromkeys(tokens, "")
            self._texts.evaluated[tokens[0]] = _stand_in(number, span.tree, asked[number])
        source, ours = self._cursor.source, self._found.ours
        rest = inner(source, self._tokens, ours, replaced=self._texts.evaluated)
        plan = inner(source, self._tokens, ours, replaced=self._texts.planned)
        planned = algebra(plan, self._found.names.prefixes, self._base)
        trees = tuple(span.tree for span in spans)
        return FoundEvents(Events(trees, tuple(map(tuple, asked)), planned), rest)

    def _functions(self, spans: list[_Span]) -> list[list[Asked]]:
        """What is asked of occurrences: each call becomes a variable."""
        names = [set(_names(span.tree)) for span in spans]
        asked: list[list[Asked]] = [[] for _ in spans]
        for at, of in self._calls():
            number, name = self._subject(at, spans, names)
            variable = f"{HIDDEN}{of.value}_{number}_{name or ''}"
            call = Asked(of, name, variable)
            if call not in asked[number]:
                asked[number].append(call)
            end = at + (3 if name is None else 4)
            for texts in (self._texts.evaluated, self._texts.planned):
                texts |= dict.fromkeys(self._tokens[at:end], "")
                texts[self._tokens[at]] = f" ?{variable} "
        return asked

    def _calls(self) -> Iterator[tuple[int, Of]]:
        for at, token in enumerate(self._tokens[:-1]):
            if not self._tokens[at + 1].is_op("("):
                continue
            if token.is_word(*_EP_FUNCTIONS):
                yield at, _EP_FUNCTIONS[token.text.upper()]
            elif token.kind in ("iri", "pname") and token.text.rstrip(">").endswith(tuple(_FUNCTIONS)):
                iri = replace(self._found.names, base=self._base).iri(token)
                of = _FUNCTIONS.get(iri.removeprefix(_NAMESPACE))
                if iri.startswith(_NAMESPACE) and of is not None:
                    yield at, of

    def _subject(self, at: int, spans: list[_Span], names: list[set[str]]) -> tuple[int, str | None]:
        """Which expression a call is about, and which operand (None: all of it)."""
        token, argument = self._tokens[at], self._tokens[at + 2]
        if any(span.first <= at < span.end for span in spans):
            hint = "write the FILTER behind the expression"
            raise self._cursor.error("inside a group its occurrence is not known yet", token, hint)
        if argument.is_op(")"):
            if len(spans) > 1:
                raise self._cursor.error("which expression is meant?", token, "name an operand: { A } AS ?a")
            return 0, None
        name = argument.text[1:] if argument.kind == "var" and self._tokens[at + 3].is_op(")") else None
        for number, known in enumerate(names):
            if name in known:
                return number, name
        every = sorted(f"?{each}" for known in names for each in known)
        hint = f"named are {', '.join(every)}" if every else "name an occurrence: { A } AS ?a"
        raise self._cursor.error(f"{argument.text[:40]} names no occurrence", argument, hint)

    def _check_names(self, spans: list[_Span]) -> None:
        """A name of an occurrence is given once, and is no variable."""
        taken: set[str] = set()
        for span in spans:
            for name in _names(span.tree):
                if name in taken:
                    place = self._cursor.source.place(self._tokens[span.first].start)
                    raise QueryError(f"?{name} names two occurrences", place=place, hint="take another name")
                taken.add(name)
        for token in self._tokens:
            hidden = token in self._texts.planned
            if token.kind == "var" and token.text[1:] in taken and not hidden:
                hint = f"ask for f:start({token.text}), f:end({token.text}) or f:duration({token.text})"
                raise self._cursor.error(f"{token.text} names an occurrence and has no value", token, hint)

    def _check_windows(self, spans: list[_Span]) -> None:
        """What stands outside of the expressions is background."""
        for at, token in enumerate(self._tokens):
            inside = any(span.first <= at < span.end for span in spans)
            if (
                token.is_word("WINDOW")
                and token not in self._found.ours | self._texts.evaluated.keys()
                and not inside
            ):
                hint = "put it into a group of the expression"
                raise self._cursor.error("outside of the expression nothing of a window is seen", token, hint)


def _braces(tokens: Iterable[Token]) -> Iterator[tuple[int, int]]:
    """Where braces open and close; the outer layer has made sure that they match."""
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.is_op("{"):
            opened.append(at)
        elif token.is_op("}"):
            yield opened.pop(), at


def _names(tree: Expression) -> Iterator[str]:
    if tree.name is not None:
        yield tree.name
    if isinstance(tree, Related):
        yield from (*_names(tree.left), *_names(tree.right))
    elif isinstance(tree, Repeat) and (inside := list(_names(tree.operand))):
        hint = "name the repetition: { A }+ AS ?a"
        raise QuerySyntaxError(f"?{inside[0]} is inside a repetition", place=tree.place, hint=hint)


def _stand_in(number: int, tree: Expression, asked: list[Asked]) -> str:
    """The group that stands for the occurrences of an expression: it has all their variables."""
    name = f"<{EVENTS}{number}>"
    variables = (*tree.variables, *(each.variable for each in asked))
    return f"{{ {name} {name} 0 . {' '.join(f'?{each} {name} 0 .' for each in variables)} }} "
