"""What a job begins with: rules, background, patterns. Read with the standard library alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ensue.dictionary import Dictionary
from ensue.errors import InputError, Place, RuleError, UsageError
from ensue.maintain.program import CompiledRule, compile_rules
from ensue.model import Copies
from ensue.ntriples import Line, parse_line
from ensue.rules import bracketed
from ensue.rules.lexer import BRACKETED, Source
from ensue.rules.tree import RuleSet
from ensue.rules.uses import uses

_REGIMES = os.path.join(os.path.dirname(bracketed.__file__), "regimes")


def load_rules(sources: Iterable[str]) -> RuleSet:
    """The rules of regimes and files, all in the bracketed syntax.

    >>> load_rules(["transitive-isin"]).rules[0].name
    'R'
    """
    together = RuleSet("device", ())
    for source in sources:
        regime = os.path.join(_REGIMES, f"{source}.rules")
        path = regime if os.path.basename(source) == source and os.path.exists(regime) else source
        text = _read(path)
        for use in uses(Source(text, path), BRACKETED):
            hint = "write it here"
            raise RuleError(f"a device does not know '{use.name}' by name", place=use.place, hint=hint)
        together += bracketed.parse(text, path, source)
    for rule in together.rules:
        if rule.lists:
            what = f"rule '{rule.name}' asks for the members of lists: {rule.lists[0]}, which a device cannot"
            raise RuleError(what, place=rule.place, hint="write a plain rule for each list")
    return together


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as problem:
        names = [name.removesuffix(".rules") for name in os.listdir(_REGIMES) if name.endswith(".rules")]
        hint = f"regimes for devices are {', '.join(sorted(names))}"
        raise InputError(f"cannot be read: {problem.strerror}", place=Place(path), hint=hint) from problem
    except UnicodeDecodeError as problem:
        raise _not_utf8(path) from problem


def _not_utf8(path: str) -> InputError:
    return InputError("this is not UTF-8 text", place=Place(path), hint="save the file as UTF-8")


def load_background(paths: Iterable[str], dictionary: Dictionary) -> Copies:
    """The statements of N-Triples files, as background; each file's blank nodes are its own."""
    encode = dictionary.encode
    return Copies.background(
        (encode(s), encode(p), encode(o))
        for number, path in enumerate(paths)
        for s, p, o, _ in (scoped(line, f"d{number}") for line in _lines(path))
    )


def _lines(path: str) -> Iterator[Line]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, text in enumerate(file, start=1):
                line = parse_line(text, path, number)
                if line is not None:
                    yield line
    except OSError as problem:
        hint = "the background is N-Triples files"
        raise InputError(f"cannot be read: {problem.strerror}", place=Place(path), hint=hint) from problem
    except UnicodeDecodeError as problem:
        raise _not_utf8(path) from problem


def scoped(line: Line, scope: str) -> Line:
    """A statement whose blank nodes are those of one document or connection.

    >>> scoped(("_:b", "<urn:p>", "_:c", None), "d1")
    ('_:d1xb', '<urn:p>', '_:d1xc', None)
    """
    s, p, o, graph = line
    if s[0] == "_":
        s = f"_:{scope}x{s[2:]}"
    if o[0] == "_":
        o = f"_:{scope}x{o[2:]}"
    return s, p, o, graph


def compile_pattern(
    text: str, prefixes: Iterable[tuple[str, str]], dictionary: Dictionary
) -> tuple[tuple[str, ...], CompiledRule]:
    """A pattern as the names of its variables and a rule whose body it is.

    >>> names, rule = compile_pattern("?x rdf:type <urn:A>", [], Dictionary())
    >>> names, len(rule.premises)
    (('x',), 1)
    """
    body = text if text.lstrip().startswith(("(", "cut")) else f"({text})"
    declared = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes)
    mark = "<urn:ensue:found>"
    try:
        rules = bracketed.parse(f"{declared}[pattern: {body} -> ({mark} {mark} {mark})]", "--pattern")
    except RuleError as problem:
        raise UsageError(f"--pattern {text}: {problem.what}", hint=problem.hint) from problem
    if len(rules.rules) != 1:
        raise UsageError(f"--pattern {text}: not one pattern", hint="such as '?x rdf:type <urn:A>'")
    names: dict[str, None] = {}
    for premise in rules.rules[0].premises:
        names |= dict.fromkeys(node.name for node in premise.pattern if not isinstance(node, str))
    return tuple(names), compile_rules(rules, dictionary).rules[0]
