"""A file of SPARQL rules taken apart: one piece per rule, and each piece down to its skeleton.

rdflib's grammar says how the parts of a rule hang together, but not where they stand in the file,
and it rewrites literals. So each rule is given to it as a skeleton: terms replaced by their numbers
in the list of the piece's items, expressions by theirs in the list of expressions. Terms are ours,
expressions are oxigraph's, and every part has a place.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ensue.errors import NotMonotoneError, Place, RuleError
from ensue.rules.lexer import SPARQL, Names, Source, Token, follow_brackets, number
from ensue.rules.sparql_each import not_exists_of_each
from ensue.rules.sparql_select import as_condition
from ensue.rules.textlimits import check_limits
from ensue.terms import RDF, XSD, literal

_REASONS: list[tuple[type[RuleError], str, str, str]] = [
    (
        NotMonotoneError,
        "DELETE CLEAR DROP MOVE COPY ADD CREATE",
        "a rule adds facts and leaves the rest alone",
        "facts leave when their window does; keep the INSERT only",
    ),
    (
        NotMonotoneError,
        "EXISTS MINUS OPTIONAL",
        "what it says can turn false when a fact arrives, and a rule cannot take its conclusions back",
        "ask for it in the query, which is evaluated anew for each window",
    ),
    (
        NotMonotoneError,
        "COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT GROUP HAVING LIMIT OFFSET",
        "it depends on all solutions at once; a rule fires for each on its own",
        "ask for it in the query, which is evaluated anew for each window",
    ),
    (
        RuleError,
        "RAND NOW UUID STRUUID BNODE",
        "its value differs from call to call, so the same facts would not give the same conclusions",
        "a blank node in the template is a new node for each solution, always the same one",
    ),
    (
        RuleError,
        "LOAD SERVICE FROM USING WITH",
        "a rule sees the facts of its context and the background, nothing else",
        "load the data as background",
    ),
    (RuleError, "ORDER", "a rule fires for every solution, in no order", "leave it out"),
    (
        RuleError,
        "SELECT ASK DESCRIBE",
        "a rule is INSERT or CONSTRUCT, or SELECT for a condition, and holds no query",
        "join the patterns of a subquery to the others",
    ),
]

Reasons = Mapping[str, tuple[type[RuleError], str, str]]
"""Words that are refused, each with the error, the reason and a hint. Outside strings and names, words are
SPARQL's own."""


def by_word(reasons: Iterable[tuple[type[RuleError], str, str, str]]) -> Reasons:
    """What to say of each word, from what to say of several."""
    return {word: (error, reason, hint) for error, words, reason, hint in reasons for word in words.split()}


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which part of SPARQL a kind of file takes: what begins a rule, and the words that none can have."""

    begins: tuple[str, ...]
    hint: str
    refused: Reasons
    each: bool = False
    """Whether these only add facts: EXISTS is refused but for `each`, and a SELECT is a condition."""


RULES = Dialect(
    ("INSERT", "CONSTRUCT"),
    "rules are INSERT { } WHERE { }, CONSTRUCT { } WHERE { } or INSERT DATA { }, with ';' between",
    by_word(_REASONS),
    each=True,
)
"""Rules that only add facts."""


@dataclass(frozen=True, slots=True)
class Item:
    """A token, and the term that it stands for if it is one; a literal's tokens are one item."""

    token: Token
    term: str | None = None

    @property
    def text(self) -> str:
        """As it stands in an expression, names resolved."""
        if self.token.kind == "var":
            return f"?{self.token.text[1:]}"
        if self.term is not None and self.token.kind in ("iri", "pname", "string"):
            return self.term
        return self.token.text


def adjacent(left: Item, right: Item) -> bool:
    """Whether nothing stands between two items."""
    return left.token.start + len(left.token.text) == right.token.start


@dataclass(frozen=True, slots=True)
class Piece:
    """One rule as text: its items, which brackets belong together, its name and its BASE if it has them."""

    source: Source
    items: tuple[Item, ...]
    partner: dict[int, int]
    name: str | None
    base: str | None = None

    @property
    def place(self) -> Place:
        """Where the rule begins."""
        return self.place_of(0)

    def place_of(self, item: int) -> Place:
        """Where an item stands."""
        return self.source.place(self.items[item].token.start)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What rdflib gets to see of a piece: `starts` says where in it each item is, `expressions` which
    items were taken out for each expression.
    """

    text: str
    starts: tuple[int, ...]
    expressions: tuple[range, ...]


def pieces(source: Source, dialect: Dialect = RULES) -> Iterator[Piece]:
    """The rules of a file, one after the other; prefixes last until the end of the file."""
    names = Names(source)
    for run in _runs(source):
        tokens = [token for token in run if token.kind != "comment"]
        if dialect.each:
            tokens = as_condition(source, tokens)
        _refuse(source, tokens, dialect.refused, but={"EXISTS"} if dialect.each else ())
        rest = _prologue(names, tokens, dialect)
        if rest:
            check_limits(source, rest, "rule")
            items = tuple(_items(names, rest))
            partner = _partners(items)
            allowed = set(not_exists_of_each(items, partner)) if dialect.each else ()
            left = [each.token for at, each in enumerate(items) if at not in allowed]
            _refuse(source, left, dialect.refused)
            yield Piece(source, items, partner, _name(run, rest[0]), names.base)


def _runs(source: Source) -> Iterator[list[Token]]:
    """Tokens between semicolons that stand outside all brackets."""
    opened: list[Token] = []
    run: list[Token] = []
    for token in source.tokens(SPARQL):
        follow_brackets(source, token, opened, "rule")
        if token.is_op(";") and not opened:
            yield run
            run = []
        else:
            run.append(token)
    if opened:
        raise source.error(f"'{opened[-1].text}' is never closed", opened[-1])
    yield run


def _refuse(source: Source, tokens: list[Token], refused: Reasons, but: Container[str] = ()) -> None:
    for token in tokens:
        word = token.text.upper()
        if token.kind == "word" and word in refused and word not in but:
            error, reason, hint = refused[word]
            if error is NotMonotoneError and any(_is_of_lists(each) for each in tokens):
                hint = _ABOUT_LISTS
            what = f"{word} cannot be in a rule: {reason}"
            raise error(what, place=source.place(token.start), hint=hint)


_ABOUT_LISTS = (
    "to walk a list there is no need for it: rdf:rest*/rdf:first, list:pair, list:chain and NOT EXISTS twice "
    "ask for its members, and become plain rules for each list (docs/rules.md, Lists)"
)


def _is_of_lists(token: Token) -> bool:
    """Whether this is rdf:first or rdf:rest, as they are mostly written."""
    return token.text in ("rdf:first", "rdf:rest", f"<{RDF}first>", f"<{RDF}rest>")


def _prologue(names: Names, tokens: list[Token], dialect: Dialect) -> list[Token]:
    """Take in PREFIX and BASE; the tokens that follow them."""
    at = 0
    while at < len(tokens) and tokens[at].is_word("PREFIX", "BASE"):
        size = 3 if tokens[at].is_word("PREFIX") else 2
        declared = tokens[at : at + size]
        kinds = [token.kind for token in declared[1:]]
        if kinds not in (["pname", "iri"], ["iri"]) or (size == 3 and not declared[1].text.endswith(":")):
            hint = "PREFIX ex: <http://example.org/>" if size == 3 else "BASE <http://example.org/>"
            raise names.source.error("this declaration is not complete", tokens[at], f"such as {hint}")
        iri = names.iri(declared[-1])
        if size == 3:
            names.prefixes[declared[1].text[:-1]] = iri
        else:
            names.base = iri
        at += size
    if at < len(tokens) and not tokens[at].is_word(*dialect.begins):
        raise names.source.error(f"'{tokens[at].text[:40]}' begins no rule", tokens[at], dialect.hint)
    return tokens[at:]


def _items(names: Names, tokens: list[Token]) -> Iterator[Item]:
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.kind in ("iri", "pname"):
            # The graph of the background may have a name as short as <static>.
            relative = at >= 2 and tokens[at - 2].is_word("GRAPH")
            yield Item(token, f"<{names.iri(token, relative=relative)}>")
        elif token.kind == "string":
            tail = None
            if at < len(tokens) and tokens[at].kind == "lang":
                tail, at = tokens[at], at + 1
            elif at + 1 < len(tokens) and tokens[at].is_op("^^") and tokens[at + 1].kind in ("iri", "pname"):
                tail, at = tokens[at + 1], at + 2
            yield Item(token, names.literal(token, tail))
        elif token.kind == "number":
            yield Item(token, number(token.text))
        elif token.is_word("TRUE", "FALSE"):
            yield Item(token, literal(token.text.lower(), datatype=XSD + "boolean"))
        else:
            yield Item(token)


def _partners(items: tuple[Item, ...]) -> dict[int, int]:
    opened: list[int] = []
    partner: dict[int, int] = {}
    for index, item in enumerate(items):
        if item.token.kind == "op" and item.token.text in "([{":
            opened.append(index)
        elif item.token.kind == "op" and item.token.text in ")]}":
            partner[opened.pop()] = index
    return partner


def _name(run: list[Token], first: Token) -> str | None:
    """The name that the last comment `# rule: name` before the rule gives it."""
    comments = [token.text for token in run if token.kind == "comment" and token.start < first.start]
    names = [match.group(1) for text in comments if (match := re.match(r"#+\s*rule:\s*([\w.\-]+)\s*$", text))]
    return names[-1] if names else None


def skeleton(piece: Piece) -> Skeleton:
    """The piece as rdflib gets to see it.

    >>> text = "INSERT { ?a <urn:p> 1 } WHERE { ?a <urn:q> 'x'@en FILTER(?a != <urn:b>) }"
    >>> skeleton(next(pieces(Source(text, "r.ru")))).text
    ' INSERT { ?a <t:3> "4" } WHERE { ?a <t:9> "10" FILTER ( "0" ) }'
    """
    text = ""
    starts: list[int] = []
    expressions: list[range] = []
    at = 0
    while at < len(piece.items):
        item = piece.items[at]
        starts += [len(text)] * (at - len(starts))  # what was taken out is where it was
        text += "" if _is_modifier(piece, at) else " "
        starts.append(len(text))
        text += _bone(at, item)
        at += 1
        if item.token.is_word("FILTER", "BIND") and (taken := _expression(piece, at, item.token)):
            span, at = taken
            text += f' ( "{len(expressions)}"' + (" )" if item.token.is_word("FILTER") else "")
            expressions.append(span)
    return Skeleton(text, tuple(starts), tuple(expressions))


def _is_modifier(piece: Piece, at: int) -> bool:
    """Whether this is the `*`, `+` or `?` of a path: one only right behind its step."""
    token = piece.items[at].token
    return token.kind == "op" and token.text in "*+?" and at > 0 and adjacent(*piece.items[at - 1 : at + 1])


def _bone(index: int, item: Item) -> str:
    if item.term is None:
        return item.text
    return f"<t:{index}>" if item.term.startswith("<") else f'"{index}"'


def _expression(piece: Piece, at: int, word: Token) -> tuple[range, int] | None:
    """The items of the expression of a FILTER or BIND, and where to go on; None if it has none."""
    if word.is_word("BIND"):  # ( expression AS ?v )
        end = piece.partner.get(at, 0) - 2
        return (range(at + 1, end), end) if end > at and piece.items[end].token.is_word("AS") else None
    if at == len(piece.items) or piece.items[at].token.is_word("EXISTS"):  # { } is for rdflib to read
        return None
    if at in piece.partner:  # ( expression )
        return range(at + 1, piece.partner[at]), piece.partner[at] + 1
    if at + 1 in piece.partner:  # function ( arguments )
        return range(at, piece.partner[at + 1] + 1), piece.partner[at + 1] + 1
    return None
