"""Facts and answers as somebody at a shell writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyoxigraph as ox

from ensue.errors import UsageError, did_you_mean
from ensue.proof.proof import Statement
from ensue.proof.text import SHORT
from ensue.query.answers import Row
from ensue.query.terms_in import term_text
from ensue.query.tree import ContinuousQuery, Form

Wanted = Callable[[Row], bool]
"""Whether a row is what was asked for."""

_LITERAL = re.compile(r'\s*("(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^\S+)?)(?=\s)')
_STAND_IN = "<urn:ensue:stand-in>"
_PREFIXES = "".join(f"@prefix {prefix} <{namespace}> . " for namespace, prefix in SHORT.items())


def read_fact(text: str) -> Statement:
    """One statement in Turtle. Its subject may be a literal, as it may be inside a closure.

    >>> read_fact("<urn:a> a owl:Thing .")[2], read_fact('"x" <urn:p> <urn:b>')[0]
    ('<http://www.w3.org/2002/07/owl#Thing>', '"x"')
    """
    subject = _LITERAL.match(text)
    if subject is not None:
        _, p, o = read_fact(_STAND_IN + text[subject.end() :])
        return read_fact(f"<urn:s> <urn:p> {subject[1]}")[2], p, o
    ended = text if text.rstrip().endswith(".") else f"{text} ."
    try:
        [quad] = ox.parse(_PREFIXES + ended, format=ox.RdfFormat.TURTLE)
    except (SyntaxError, ValueError) as problem:
        hint = "write one statement: '<subject> <predicate> <object> .'"
        raise UsageError(f"{text[:80]!r} is no fact", hint=hint) from problem
    return term_text(quad.subject), term_text(quad.predicate), term_text(quad.object)


def wanted_of(query: ContinuousQuery, words: Sequence[str]) -> Wanted:
    """What `--answer` asks for: VAR=TERM of SELECT, any number of them; a triple of CONSTRUCT; else anything.

    >>> from ensue.query.language import parse_query
    >>> query = parse_query("SELECT ?x ?y FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?y }")
    >>> wanted_of(query, ["y=<urn:b>"])(("<urn:a>", "<urn:b>"))
    True
    """
    if query.form is Form.SELECT:
        names = [str(name) for name in query.algebra.PV]
        given = dict(_binding(word, names) for word in words)
        return lambda row: all(row[at] == term for at, term in given.items())
    if query.form is Form.ASK or not words:
        return lambda row: True
    triple = read_fact(words[0])
    return lambda row: row == triple


def _binding(word: str, names: Sequence[str]) -> tuple[int, str]:
    name, separator, term = word.removeprefix("?").partition("=")
    if not separator:
        raise UsageError(f"--answer {word}", hint="write --answer VAR=TERM")
    if name not in names:
        hint = did_you_mean(name, names) or f"variables: {', '.join(names)}"
        raise UsageError(f"--answer {word}: the query does not give ?{name}", hint=hint)
    return names.index(name), read_fact(f"<urn:s> <urn:p> {term}")[2]
