"""From any rules to their maintenance program, in the style of either table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ensue.errors import NotMonotoneError, RuleError, UnsafeRuleError, UsageError
from ensue.rules.maintenance.datalog import Atom, Clause, Comparison, Not, Program, variables
from ensue.rules.maintenance.imars import TABLE_5
from ensue.rules.maintenance.rewriting import Function, apply_mends, choose, maintained, rewrite, suffixes
from ensue.rules.maintenance.ternary import over_triples
from ensue.rules.maintenance.volz import TABLE_2
from ensue.rules.tree import Bind, Mint, RuleSet

TABLES = {"volz": TABLE_2, "imars": TABLE_5}
"""The tables of rewriting functions by style."""


@dataclass(frozen=True, slots=True)
class MaintenanceProgram:
    """The clauses that maintain a program, each with the rewriting function that made it."""

    style: str
    mends: tuple[str, ...]
    source: Program
    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        rules = [str(clause) for clause in self.clauses]
        width = max(map(len, rules), default=0)
        return "\n".join(
            f"{rule:{width}}  {clause.origin}" for rule, clause in zip(rules, self.clauses, strict=True)
        )


def maintenance_program(
    rules: RuleSet | Program, style: str = "volz", mended: bool | Collection[str] = True
) -> MaintenanceProgram:
    """Rewrite rules by table 2 ("volz") or table 5 ("imars"): mended, as printed, or with named mends.

    >>> from ensue.rules.maintenance.notation import parse
    >>> made = maintenance_program(parse("(R) isIn(x, z) :- isIn(x, y), isIn(y, z)"), "volz", mended=False)
    >>> for clause in made.clauses[:3]:
    ...     print(clause, "--", clause.origin)
    isInNew(x, y) :- isIn(x, y), not isInDel(x, y) -- deltaNew1(isIn)
    isInNew(x, y) :- isInRed(x, y) -- deltaNew2(isIn)
    isInNew(x, y) :- isInIns(x, y) -- deltaNew3(isIn)
    """
    if style not in TABLES:
        raise UsageError(f"unknown style '{style}'", hint=f"one of {', '.join(TABLES)}")
    table = TABLES[style]
    source = over_triples(rules) if isinstance(rules, RuleSet) else rules
    mends = choose(table, mended)
    functions = apply_mends(table, mends)
    _check(source, functions)
    names = tuple(mend.name for mend in mends)
    return MaintenanceProgram(style, names, source, rewrite(functions, source, table.letter))


def _check(program: Program, functions: Collection[Function]) -> None:
    """Refuse what the tables are not made for: they take positive, safe rules over whole predicates."""
    arities = maintained(program)
    for clause in program.clauses:
        _check_positive(clause)
        _check_safe(clause)
        _check_arities(clause, arities)
    made = {predicate + suffix: predicate for predicate in arities for suffix in suffixes(functions)}
    for name in sorted({*arities, *program.static} & made.keys()):
        raise RuleError(
            f"the predicate {name} would be taken for a maintenance predicate of {made[name]}",
            hint="rename one of the two",
        )


def _check_arities(clause: Clause, arities: dict[str, int]) -> None:
    for atom in (literal for literal in (clause.head, *clause.body) if isinstance(literal, Atom)):
        here = len(atom.args)
        elsewhere = arities.get(atom.predicate, here)
        if here != elsewhere:
            raise RuleError(
                f"{clause.origin}: {atom} has {here} terms, and {elsewhere} elsewhere",
                place=clause.place,
                hint="give the two predicates different names",
            )


def _check_positive(clause: Clause) -> None:
    for literal in (clause.head, *clause.body):
        if isinstance(literal, Not | Comparison) or (isinstance(literal, Atom) and literal.stamp):
            raise NotMonotoneError(
                f"{clause.origin}: '{literal}' cannot stand in a rule that is to be maintained",
                place=clause.place,
                hint="rules are positive here; negation and stamps are for the programs made from them",
            )


def _check_safe(clause: Clause) -> None:
    bound = {v for literal in clause.body if isinstance(literal, Atom) for v in variables(literal)}
    bound |= {literal.target for literal in clause.body if isinstance(literal, Bind | Mint)}
    for literal in (clause.head, *clause.body):
        for variable in variables(literal):
            if variable not in bound:
                raise UnsafeRuleError(
                    f"{clause.origin}: no premise binds {variable.name}",
                    place=clause.place,
                    hint=f"let {variable.name} occur in a premise of '{clause}'",
                )
