"""Rules over integers: what every maintainer runs. Standard library only.

A slot of a pattern is a term's integer (0 or more) or a variable: `~k`, which is negative, for the
variable number k of its rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ensue.dictionary import Dictionary
from ensue.model import Triple
from ensue.rules import builtins
from ensue.rules.lists import check_unfolded
from ensue.rules.tree import Condition, Guard, Mint, Node, Pattern, Rule, RuleSet, Var
from ensue.rules.violations import within

Binding = list[int]
"""The integers bound to a rule's variables, by variable number; UNBOUND where there is none yet."""

UNBOUND = -1


@dataclass(frozen=True, slots=True)
class CompiledCondition:
    """A condition with its arguments as slots; `target` is a variable's number, or -1 for a test."""

    condition: Condition
    args: tuple[int, ...]
    target: int


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule over integers."""

    name: str
    variables: int
    premises: tuple[Triple, ...]
    cut: tuple[bool, ...]
    conditions: tuple[CompiledCondition, ...]
    conclusions: tuple[Triple, ...]
    body_variables: int
    """How many variables the premises bind: these have the smallest numbers."""


@dataclass(frozen=True, slots=True)
class Program:
    """The rules of one maintainer, and the statements that hold without premises."""

    rules: tuple[CompiledRule, ...]
    axioms: tuple[Triple, ...]


def compile_rules(rules: RuleSet, dictionary: Dictionary) -> Program:
    """The rules in the integers of `dictionary`, which keeps the terms they name for ever.

    >>> from ensue.rules.tree import Premise
    >>> x, y, z, is_in = Var("x"), Var("y"), Var("z"), "<urn:isIn>"
    >>> premises = (Premise(Pattern(x, is_in, y)), Premise(Pattern(y, is_in, z)))
    >>> rule = Rule("R", premises, (Pattern(x, is_in, z),))
    >>> compile_rules(RuleSet("t", (rule,)), Dictionary()).rules[0].premises
    ((-1, 1, -2), (-2, 1, -3))
    """
    check_unfolded(rules.rules)
    rules = within(rules)
    axioms = tuple(_triple(axiom, {}, dictionary) for axiom in rules.axioms)
    return Program(tuple(_compile(rule, dictionary) for rule in rules.rules), axioms)


def _compile(rule: Rule, dictionary: Dictionary) -> CompiledRule:
    numbers: dict[Var, int] = {}
    premises = tuple(_triple(premise.pattern, numbers, dictionary) for premise in rule.premises)
    body = len(numbers)
    conditions = tuple(_condition(c, numbers, dictionary, body) for c in rule.conditions)
    conclusions = tuple(_triple(head, numbers, dictionary) for head in rule.conclusions)
    cut = tuple(premise.cut for premise in rule.premises)
    return CompiledRule(rule.name, len(numbers), premises, cut, conditions, conclusions, body)


def _slot(node: Node, numbers: dict[Var, int], dictionary: Dictionary) -> int:
    if isinstance(node, Var):
        return ~numbers.setdefault(node, len(numbers))
    return dictionary.pin(node)


def _triple(pattern: Pattern, numbers: dict[Var, int], dictionary: Dictionary) -> Triple:
    s, p, o = (_slot(node, numbers, dictionary) for node in pattern)
    return s, p, o


def _condition(
    condition: Condition, numbers: dict[Var, int], dictionary: Dictionary, body: int
) -> CompiledCondition:
    if isinstance(condition, Mint):
        if condition.key is None:
            args: tuple[int, ...] = tuple(~k for k in range(body))
        else:
            args = tuple(_slot(v, numbers, dictionary) for v in condition.key)
    else:
        args = tuple(_slot(node, numbers, dictionary) for node in condition.args)
    if isinstance(condition, Guard):
        return CompiledCondition(condition, args, -1)
    return CompiledCondition(condition, args, ~_slot(condition.target, numbers, dictionary))


def conclude(rule: CompiledRule, binding: Binding, dictionary: Dictionary) -> list[Triple]:
    """What the rule concludes from a binding of its body: nothing if a condition does not hold.

    `binding` has room for every variable of the rule and is written to.
    """
    for compiled in rule.conditions:
        if not _satisfy(compiled, binding, dictionary):
            return []
    return [
        (
            s if s >= 0 else binding[~s],
            p if p >= 0 else binding[~p],
            o if o >= 0 else binding[~o],
        )
        for s, p, o in rule.conclusions
    ]


def _satisfy(compiled: CompiledCondition, binding: Binding, dictionary: Dictionary) -> bool:
    args = tuple(slot if slot >= 0 else binding[~slot] for slot in compiled.args)
    found = value_of(compiled, args, dictionary)
    if found is None or compiled.target < 0:
        return found is not None
    already = binding[compiled.target]
    binding[compiled.target] = found
    return already in (UNBOUND, found)


def value_of(compiled: CompiledCondition, args: tuple[int, ...], dictionary: Dictionary) -> int | None:
    """What a condition gives its target for these arguments; None if it does not hold.

    A guard has no target, so the value of one that holds means nothing.
    """
    condition = compiled.condition
    if isinstance(condition, Mint):
        return dictionary.mint(condition.source, args)
    variables = tuple(a.name for a in condition.args if isinstance(a, Var)) if condition.text else ()
    terms = tuple(map(dictionary.decode, args))
    if isinstance(condition, Guard):
        return 0 if builtins.holds(condition.name, condition.text, variables, terms) else None
    term = builtins.value(condition.name, condition.text, variables, terms)
    return None if term is None else dictionary.encode(term)


def match(pattern: Triple, triple: Iterable[int], binding: Binding) -> bool:
    """Extend `binding` so that the pattern is the triple; False if that cannot be.

    >>> b = [UNBOUND, UNBOUND]
    >>> match((~0, 7, ~1), (3, 7, 4), b), b
    (True, [3, 4])
    """
    for slot, term in zip(pattern, triple, strict=True):
        if slot >= 0:
            if slot != term:
                return False
        elif binding[~slot] == UNBOUND:
            binding[~slot] = term
        elif binding[~slot] != term:
            return False
    return True
