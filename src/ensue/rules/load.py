"""Rules from files and regimes: finding them, telling the two syntaxes apart, reading them.

A regime is a file of rules that ships with Ensue, named without its ending. Any file of rules can use the
rules of regimes, and those that regimes share, by name (`uses.py`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, reduce
from operator import add
from pathlib import Path

from ensue.errors import InputError, Place, RuleError, UsageError, did_you_mean
from ensue.rules import bracketed, lexer, safety, shipped
from ensue.rules.priorities import Priority, priorities, prioritised
from ensue.rules.same import unique
from ensue.rules.shipped import SYNTAXES
from ensue.rules.tree import Rule, RuleSet
from ensue.rules.uses import Use, renamed, uses

BACKGROUND_GRAPHS = ("urn:ensue:background",)
"""The graphs that mean the background in SPARQL rules, unless others are declared."""


def load_rules(
    *sources: str | os.PathLike[str], background_graphs: Iterable[str] = BACKGROUND_GRAPHS
) -> RuleSet:
    """All rules of the sources, each the name of a regime or the path of a file.

    A regime's name goes before a file of the same name: `./rdfs-jena` is the file.

    >>> rules = load_rules("transitive-isin")
    >>> print(rules.name, rules.rules[0].name)
    transitive-isin R
    >>> load_rules("rdfs-jean")
    Traceback (most recent call last):
    ensue.errors.InputError: no such regime or file: 'rdfs-jean' (hint: did you mean 'rdfs-jena'?)
    """
    graphs = tuple(background_graphs)
    loaded = [_load(source, graphs) for source in sources]
    if not loaded:
        return RuleSet("none", ())
    together = safety.check_set(reduce(add, loaded))
    # Regimes share rules, under other names.
    return replace(together, rules=unique(together.rules)) if len(loaded) > 1 else together


def regime_names() -> tuple[str, ...]:
    """The regimes that ship with Ensue.

    >>> {"owl2rl", "pdsv", "rdfs", "rdfs-jena", "transitive-isin"} <= {*regime_names()}
    True
    """
    return tuple(shipped.regimes())


def parse_rules(
    text: str,
    file: str = "<text>",
    syntax: str | None = None,
    background_graphs: Iterable[str] = BACKGROUND_GRAPHS,
    name: str | None = None,
) -> RuleSet:
    """The rules of a text; `syntax` is "bracketed" or "sparql", or is told from `file` and the text.

    >>> len(parse_rules("INSERT { ?b <urn:q> ?a } WHERE { ?a <urn:p> ?b }").rules)
    1
    """
    name = name or re.sub(r"[^\w.\-]+", "_", Path(file).stem).strip("_") or "rules"
    syntax = syntax or SYNTAXES.get(Path(file).suffix) or _syntax_of(text, file)
    if syntax not in SYNTAXES.values():
        raise UsageError(f"unknown rule syntax '{syntax}'", hint="bracketed or sparql")
    source = lexer.Source(text, file)
    if syntax == "bracketed":
        own, tokens = bracketed.parse(text, file, name), lexer.BRACKETED
    else:
        # Loaded when asked for: it takes long to build the SPARQL grammar.
        from ensue.rules import sparql

        own, tokens = sparql.parse(text, file, name, tuple(background_graphs)), lexer.SPARQL
    given = list(priorities(source, tokens))
    if given:
        own = replace(own, rules=tuple(prioritised(rule, rule.place, given) for rule in own.rules))
    return _with_used(own, list(uses(source, tokens)), given)


def _with_used(own: RuleSet, directives: list[Use], given: list[Priority]) -> RuleSet:
    """The rules of a file with those that it uses, where it says so."""
    if not directives:
        return own
    found = [(rule.place, rule) for rule in own.rules]
    axioms = list(own.axioms)
    for use in directives:
        used = _used(use)
        found += [(use.place, prioritised(rule, use.place, given)) for rule in used.rules]
        axioms += used.axioms
    found.sort(key=lambda each: (each[0].line or 0, each[0].column or 0) if each[0] else (0, 0))
    alone = [use.place for use in directives if use.name not in shipped.regimes()]
    safety.check_names(dict.fromkeys(rule for place, rule in found if place in alone or rule.place == place))
    return replace(own, rules=tuple(dict.fromkeys(rule for _, rule in found)), axioms=tuple(axioms))


def _used(use: Use) -> RuleSet:
    """What a directive brings: all of a regime, or one rule under its name or another."""
    if use.name in shipped.regimes():
        if use.alias is None:
            return _regime(use.name, BACKGROUND_GRAPHS)
        hint = f"use one rule of it, such as '# use: {use.name}/... as {use.alias}', or leave out the name"
        raise RuleError(f"'{use.name}' is a regime: its rules keep their names", place=use.place, hint=hint)
    regime, _, name = use.name.rpartition("/")
    if regime and regime not in shipped.regimes():
        hint = did_you_mean(regime, regime_names()) or f"the regimes are {', '.join(regime_names())}"
        raise RuleError(f"there is no regime '{regime}'", place=use.place, hint=hint)
    rules = _regime(regime, BACKGROUND_GRAPHS).rules if regime else _shared()
    several = re.compile(re.escape(name) + r"(?:-\d+)?")
    chosen = [rule for rule in rules if rule.name == name]
    chosen = chosen or [rule for rule in rules if several.fullmatch(rule.name)]
    if not chosen:
        names = [*dict.fromkeys(rule.name for rule in rules), *(() if regime else regime_names())]
        hint = did_you_mean(name, names) or "`ensue rules list` names the regimes and the shared rules"
        where = f"regime '{regime}' has" if regime else "there is"
        raise RuleError(f"{where} no rule '{name}'", place=use.place, hint=hint)
    return RuleSet(name, tuple(renamed(rule, name, use.alias or name) for rule in chosen))


@cache
def _regime(name: str, graphs: tuple[str, ...]) -> RuleSet:
    file = shipped.regimes()[name]
    return parse_rules(file.read_text("utf-8"), file.name, None, graphs, name)


@cache
def _shared() -> tuple[Rule, ...]:
    """All shared rules. Their names are unique among all their files."""
    found: list[Rule] = []
    for file in shipped.shared().values():
        found += parse_rules(file.read_text("utf-8"), f"shared/{file.name}").rules
    safety.check_names(found)
    return tuple(found)


def _load(source: str | os.PathLike[str], graphs: tuple[str, ...]) -> RuleSet:
    if isinstance(source, str) and source in shipped.regimes():
        return _regime(source, graphs)
    return parse_rules(read_rules(source), str(Path(source)), None, graphs)


def read_rules(source: str | os.PathLike[str]) -> str:
    """The text of a file of rules."""
    path, regimes = Path(source), regime_names()
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, ValueError) as problem:
        hint = did_you_mean(str(path), regimes) or f"the regimes are {', '.join(sorted(regimes))}"
        raise InputError(f"no such regime or file: '{path}'", hint=hint) from problem
    except IsADirectoryError as problem:
        what, hint = "this is a directory, not a file of rules", "name the files in it, one by one"
        raise InputError(what, place=Place(str(path)), hint=hint) from problem
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror}", place=Place(str(path))) from problem
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8-sig").split("\n")
        place = Place(str(path), len(before), len(before[-1]) + 1)
        raise InputError("this is not UTF-8 text", place=place, hint="save the file as UTF-8") from problem


_BEGINNING = re.compile(r"(?:\s+|(?:\#|//)[^\n]*)*(?P<bracketed>\[|@|\Z)?(?P<sparql>[A-Za-z]+\b)?")


def _syntax_of(text: str, file: str) -> str:
    match = _BEGINNING.match(text)
    if match and match["bracketed"] is not None:
        return "bracketed"
    if match and match["sparql"]:
        return "sparql"
    raise InputError(
        "this is neither bracketed rules nor SPARQL",
        place=Place(file, 1, 1),
        hint="rules begin with '[' or '@prefix', SPARQL with PREFIX, INSERT or CONSTRUCT",
    )
