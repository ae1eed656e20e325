"""A SELECT in a file of rules is a condition, as INSTANS has it: what it finds should not be.

    SELECT ?x ?c WHERE { ... }      is      INSERT { ?x violation:NAME ?c } WHERE { ... }

The violation is about the first two variables that it selects from what is matched; one that BIND gives a
value is a message for people, which the condition's name is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ensue.errors import RuleError
from ensue.rules.lexer import Source, Token
from ensue.terms import VIOLATION

UNNAMED = f"<{VIOLATION}>"
"""The predicate of a condition's violations until it has a name."""


def select_at(tokens: Sequence[Token]) -> int | None:
    """Where a rule begins that is a SELECT; None if it is none."""
    at = 0
    while at < len(tokens) and tokens[at].is_word("PREFIX", "BASE"):
        at += 3 if tokens[at].is_word("PREFIX") else 2
    return at if at < len(tokens) and tokens[at].is_word("SELECT") else None


def as_condition(source: Source, tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a SELECT as those of a rule that concludes a violation.

    >>> from ensue.rules.lexer import SPARQL
    >>> source = Source("SELECT DISTINCT ?x ?y { ?x <urn:p> ?y }", "r.ru")
    >>> print(*(token.text for token in as_condition(source, list(source.tokens(SPARQL)))))
    CONSTRUCT { ?x <urn:ensue:violation:> ?y } WHERE { ?x <urn:p> ?y }
    """
    begin = select_at(tokens)
    if begin is None:
        return list(tokens)
    where = next((at for at in range(begin, len(tokens)) if tokens[at].is_op("{")), len(tokens))
    head = [token for token in tokens[begin + 1 : where] if not token.is_word("DISTINCT", "REDUCED", "WHERE")]
    body = list(tokens[where:])
    given = {token.text[1:] for before, token in pairwise(body) if before.is_word("AS")}
    about = [token for token in head if token.kind == "var" and token.text[1:] not in given]
    if len(about) < 2 or any(token.kind != "var" for token in head):
        raise RuleError(
            "a SELECT among rules is a condition, and this one does not say about what",
            place=source.place(tokens[begin].start),
            hint="select two variables that are matched: who is at fault, and what it is about",
        )
    start = tokens[begin].start
    made = [Token("word", "CONSTRUCT", start), Token("op", "{", start)]
    made += [about[0], Token("iri", UNNAMED, start), about[1], Token("op", "}", start)]
    return [*tokens[:begin], *made, Token("word", "WHERE", start), *body]
