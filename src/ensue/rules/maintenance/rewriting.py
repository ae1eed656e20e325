"""Rewriting functions as data, their mends as data, and how both are applied.

A table of the papers is kept as it is printed: each function is one line of text, over `P` where
it applies to a predicate and over `H :- B1, ..., Bn` where it applies to a rule. A mend is a small
change to such lines. So a program can be had as printed, mended, or with any choice of mends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ensue.errors import UsageError
from ensue.rules.maintenance.datalog import Atom, Clause, Comparison, Literal, Min, Not, Program, variables
from ensue.rules.maintenance.notation import parse
from ensue.rules.tree import Var


@dataclass(frozen=True, slots=True)
class Function:
    """One rewriting function: its name in the table, and what it makes."""

    name: str
    text: str

    @property
    def of_rules(self) -> bool:
        """Whether it applies to rules, not to predicates."""
        return self.text.startswith("H")

    @property
    def kind(self) -> str:
        """Its name without the number: New1 and New2 are of one kind."""
        return self.name.rstrip("0123456789")


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to one function: this part of its text becomes that."""

    function: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mend:
    """What is wrong with a printed table, and the change that puts it right."""

    name: str
    fault: str
    edits: tuple[Edit, ...] = ()
    adds: tuple[Function, ...] = ()
    drops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table of rewriting functions as printed, and its mends. `letter` is delta or Delta."""

    letter: str
    functions: tuple[Function, ...]
    mends: tuple[Mend, ...]


def choose(table: Table, mended: bool | Collection[str]) -> tuple[Mend, ...]:
    """The mends asked for: all, none, or those named.

    >>> from ensue.rules.maintenance.volz import TABLE_2
    >>> [mend.name for mend in choose(TABLE_2, ["stated"])], choose(TABLE_2, False)
    (['stated'], ())
    """
    if isinstance(mended, bool):
        return table.mends if mended else ()
    known = [mend.name for mend in table.mends]
    for name in mended:
        if name not in known:
            raise UsageError(f"unknown mend '{name}'", hint=f"one of {', '.join(known)}")
    return tuple(mend for mend in table.mends if mend.name in mended)


def apply_mends(table: Table, mends: Collection[Mend]) -> tuple[Function, ...]:
    """The functions of a table after these mends; an added one follows those of its kind.

    >>> from ensue.rules.maintenance.volz import TABLE_2
    >>> [function.name for function in apply_mends(TABLE_2, choose(TABLE_2, True))]
    ['New1', 'New2', 'New3', '+', '-', 'Stated', 'Red', 'Del', 'Ins']
    """
    dropped = {name for mend in mends for name in mend.drops}
    kept = [function for function in table.functions if function.name not in dropped]
    kept += (function for mend in mends for function in mend.adds)
    edits = [edit for mend in mends for edit in mend.edits]
    kinds = list(dict.fromkeys((function.of_rules, function.kind) for function in kept))
    kept.sort(key=lambda function: (function.of_rules, kinds.index((function.of_rules, function.kind))))
    return tuple(_edited(function, edits) for function in kept)


def _edited(function: Function, edits: Collection[Edit]) -> Function:
    text = function.text
    for edit in edits:
        if edit.function == function.name:
            assert edit.old in text, f"the mend does not fit: {edit.old} is not in {text}"
            text = text.replace(edit.old, edit.new)
    return Function(function.name, text)


def rewrite(functions: Collection[Function], program: Program, letter: str) -> tuple[Clause, ...]:
    """What the functions make of a program: first of each predicate, then of each rule."""
    made: list[Clause] = []
    for predicate, arity in maintained(program).items():
        made += (_of_predicate(f, predicate, arity, letter) for f in functions if not f.of_rules)
    for clause in program.clauses:
        for function in functions:
            if function.of_rules:
                made += _of_rule(function, clause, program.static, letter)
    return tuple(made)


def maintained(program: Program) -> dict[str, int]:
    """The predicates that a step may change, in order of appearance, and how many terms each has."""
    arities: dict[str, int] = {}
    for clause in program.clauses:
        for literal in (clause.head, *clause.body):
            if isinstance(literal, Atom) and _changes(literal, program.static):
                arities.setdefault(literal.predicate, len(literal.args))
    return arities


def suffixes(functions: Collection[Function]) -> set[str]:
    """What the functions put behind the name of a predicate: New, Ins, + and so on."""
    found = (re.findall(r"\b(?:P|H|B[1in])([A-Z][a-z]+|\+\+|\+|-)", f.text) for f in functions)
    return {suffix for some in found for suffix in some}


def _of_predicate(function: Function, predicate: str, arity: int, letter: str) -> Clause:
    pattern = _read(function.text)
    args = tuple(map(Var, "xyz"[:arity] if arity <= 3 else (f"x{k + 1}" for k in range(arity))))

    def named(atom: Atom) -> Atom:
        return Atom(predicate + atom.predicate.removeprefix("P"), args, atom.stamp)

    def filled(literal: Literal) -> Literal:
        match literal:
            case Atom():
                return named(literal)
            case Not(atom):
                return Not(named(atom))
        return literal

    body = tuple(map(filled, pattern.body))
    return Clause(named(pattern.head), body, f"{letter}{function.name}({predicate})")


@lru_cache
def _read(text: str) -> Clause:
    return parse(text).clauses[0]


_OF_RULE = re.compile(
    r"H(?P<head>\w+)(?P<stamped>\[T\])? :- (?:H(?P<guard>\w+), )?"
    r"B1(?P<others>\w*)(?:\[T1\])?, \.\.\., (?:Bi(?P<pivot>\w+)(?:\[Ti\])?, \.\.\., )?"
    r"Bn(?P=others)(?:\[Tn\], T = min\(T1, \.\.\., Tn\))?"
)
"""A function of rules: a head, premises under one suffix and, if it has a `Bi`, one under another."""


def _of_rule(function: Function, clause: Clause, static: frozenset[str], letter: str) -> Iterator[Clause]:
    shape = _OF_RULE.fullmatch(function.text)
    assert shape, f"not in the form of a function of rules: {function.text}"
    t = Var(_stamp_name(clause)) if shape["stamped"] else None
    premises = [place for place, literal in enumerate(clause.body) if _changes(literal, static)]
    stamps = {place: Var(f"{t.name}{k}") if t else None for k, place in enumerate(premises, start=1)}
    head, args = clause.head.predicate, clause.head.args
    guard = (Atom(head + shape["guard"], args),) if shape["guard"] else ()
    bounds = tuple(stamp for stamp in stamps.values() if stamp)
    least = (Comparison(t, "=", Min(bounds)),) if t else ()
    # Without a `Bi` every premise is treated alike, and one clause says it all.
    for pivot in premises if shape["pivot"] else [-1]:
        suffix = {place: shape["pivot" if place == pivot else "others"] for place in premises}
        body = tuple(
            Atom(literal.predicate + suffix[place], literal.args, stamps[place])
            if isinstance(literal, Atom) and place in suffix
            else literal
            for place, literal in enumerate(clause.body)
        )
        made_by = f"{letter}{function.name}({clause.origin})"
        yield Clause(Atom(head + shape["head"], args, t), (*guard, *body, *least), made_by)


def _changes(literal: Literal, static: frozenset[str]) -> bool:
    return isinstance(literal, Atom) and literal.predicate not in static


def _stamp_name(clause: Clause) -> str:
    """T, or T with a tail if the clause has variables of its own that read like T, T1, T2."""
    used = [v.name for literal in (clause.head, *clause.body) for v in variables(literal)]
    name = "T"
    while any(re.fullmatch(rf"{name}\d*", other) for other in used):
        name += "_"
    return name
