"""Regimes side by side: what each has, as it is written, and which rules are the same in several.

A rule that its file writes once counts once, though it may become several (UNION). Two rules are the same if
they say the same whatever their variables are called; tests of what kind a term is make no difference, as in
the study that the counts in `STUDY` are from.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from ensue.errors import Place
from ensue.rules.load import load_rules
from ensue.rules.same import form
from ensue.rules.tree import Rule, RuleSet
from ensue.rules.uses import renamed
from ensue.rules.violations import is_condition

Form = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class Written:
    """A rule as its file has it: its name, where it is written, and the rules that it becomes."""

    name: str
    place: Place | None
    rules: tuple[Rule, ...]

    @property
    def is_condition(self) -> bool:
        """Whether it concludes that something cannot be, and nothing else."""
        return all(map(is_condition, self.rules))

    def form(self) -> Form:
        """The same for those that say the same; a violation's own name makes no difference."""
        return frozenset(form(renamed(rule, self.name, "it"), kinds=False) for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Regime:
    """A regime: its rules, its conditions for violations, and how many statements always hold in it."""

    name: str
    rules: tuple[Written, ...]
    conditions: tuple[Written, ...]
    axioms: int

    @classmethod
    def of(cls, source: str) -> Regime:
        """A regime by name, or a file of rules.

        >>> rdfs = Regime.of("rdfs")
        >>> len(rdfs.rules), [each.name for each in rdfs.conditions]
        (16, ['D-ill-typed'])
        """
        rules = load_rules(source)
        every = written(rules)
        plain = tuple(each for each in every if not each.is_condition)
        conditions = tuple(each for each in every if each.is_condition)
        return cls(source, plain, conditions, len(rules.axioms))


def written(rules: RuleSet) -> tuple[Written, ...]:
    """The rules as they are written: those that one became are together."""
    together: dict[tuple[Place | None, str], list[Rule]] = {}
    for rule in rules.rules:
        together.setdefault((rule.place, re.sub(r"-\d+$", "", rule.name)), []).append(rule)
    return tuple(
        Written(name if len(each) > 1 else each[0].name, place, tuple(each))
        for (place, name), each in together.items()
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One rule or condition, and what it is called in each regime that has it."""

    names: Mapping[str, tuple[str, ...]]
    """By regime; a regime may say the same twice."""
    place: Place | None
    is_condition: bool


def overlap(regimes: Iterable[Regime]) -> tuple[Row, ...]:
    """Every rule and condition of some regimes, once.

    >>> rows = overlap([Regime.of("rdfs"), Regime.of("owl2rl")])
    >>> [dict(row.names) for row in rows if ("rdfs2",) in row.names.values()]
    [{'rdfs': ('rdfs2',), 'owl2rl': ('prp-dom',)}]
    """
    names: dict[Form, dict[str, tuple[str, ...]]] = {}
    first: dict[Form, Written] = {}
    for regime in regimes:
        for each in (*regime.rules, *regime.conditions):
            key = each.form()
            first.setdefault(key, each)
            called = names.setdefault(key, {})
            called[regime.name] = (*called.get(regime.name, ()), each.name)
    return tuple(Row(names[key], each.place, each.is_condition) for key, each in first.items())


STUDY: Mapping[str, int] = {"rdfs": 16, "rhodf": 15, "dstar": 16, "dstar+p": 37, "owl2rl": 58}
"""How many rules the INSTANS study counts in a regime (its table 5); without those that have no premises."""

STUDIED = ("rdfs", "rhodf", "dstar", "p", "owl2rl", "swclos2")
"""The regimes of that study, in which it finds so many different rules and conditions:"""

STUDY_UNIQUE, STUDY_CONDITIONS = 100, 21

NOTES = (
    "rhodf has 16 rules, not 15: rule 6(d) has two triggers, and by the study's own way of counting (7(b) "
    "is three rules there) it is two.",
    "owl2rl has 58 rules as in the study, but not the same 58. The tables have 54 with premises; eq-ref is "
    "one here and three there (its table 4 names eq-ref-1 and eq-ref-3). Of table 8, dt-type2 is three rules "
    "here (own datatype, wider ones, narrower ones that a class asks for) and dt-eq one.",
    "dt-diff is a condition here: what it concludes is about literals, and all that comes of it is a "
    "violation. Counted as a rule, as in its table, there would be 100 different rules and 21 conditions.",
    "dstar has 16 rules because lg is joined with rdfs1 and rdf2-D, and gl is left out, as in the study. p "
    "has 21, as there, because rdfp12a and b are one rule, and so are rdfp13a and b.",
    "rdfs1 asks for the range of a property here; the study counts it as a rule, too. D-ill-typed, a "
    "condition of rdf and rdfs, is the same as dt-not-type.",
)
"""Where our counts differ from those of the study, or only seem to agree, and why."""
