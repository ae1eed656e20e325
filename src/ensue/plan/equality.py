"""Which rules make equals replace each other everywhere, and which tell equals apart all the same.

A rule set has the axioms of equality for a predicate E if it says of all terms that E is symmetric and
transitive, and that a term may be put for an equal one as subject, as predicate and as object (OWL 2 RL's
eq-sym, eq-trans, eq-rep-s, eq-rep-p and eq-rep-o; whatever they are called). Then nothing that follows
tells equals apart, but for what rules ask of terms themselves: conditions see a literal, or two terms that
differ. Where such a condition could be answered differently by members of a class, the term it is about is
kept out of classes; where that cannot be told from the rules, there are no classes at all, and `why_not`
says which rule is to blame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ensue.plan.heads import filled
from ensue.rules.builtins import holds
from ensue.rules.tree import (
    Bind,
    Chain,
    Condition,
    Each,
    Guard,
    ListPremise,
    Member,
    Mint,
    Node,
    Pair,
    Pattern,
    Premise,
    Rule,
    RuleSet,
    Var,
)
from ensue.rules.violations import is_violation

_NEEDED = frozenset({"symmetric", "transitive", "subject", "predicate", "object"})

_ABOUT_KINDS = frozenset({"isIRI", "isBlank"})
_OF_LITERALS = frozenset(
    {"isLiteral", "isPLiteral", "isDLiteral", "datatype", "simplerSpelling"}
    | {"sameValue", "differentValues", "inValueSpace", "notInValueSpace"}
)
"""These hold of no first argument that is no literal, and no literal is in a class."""
_THE_SAME_FOR_MEMBERS = _OF_LITERALS | {
    *("notLiteral", "equal", "same", "notExistSomeValuesFromRestriction"),
    *("isDatatype", "baseDatatype", "isMembership"),
}
"""Of the last three, what they know of is in no class (`is_known`)."""


@dataclass(frozen=True, slots=True)
class Equality:
    """What rules say of equality."""

    predicate: str
    axioms: frozenset[Rule]
    """The rules that do nothing as long as everything is equal to itself alone."""
    apart: frozenset[str] = frozenset()
    """Terms that rules tell apart from their equals: they are in no class."""
    kinds: bool = False
    """Whether rules tell IRIs from blank nodes: then they are in no class together."""
    why_not: str | None = None
    """Why there are no classes at all; None: there may be."""


def equality_of(rules: RuleSet) -> Equality | None:
    """What the rules say of equality; None if they do not have its axioms.

    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules('''[a: (?x <urn:same> ?y) -> (?y <urn:same> ?x)]
    ...     [b: (?x <urn:same> ?y), (?y <urn:same> ?z) -> (?x <urn:same> ?z)]
    ...     [c: (?s ?p ?o), (?s <urn:same> ?t) -> (?t ?p ?o)]
    ...     [d: (?s ?p ?o), (?o <urn:same> ?t) -> (?s ?p ?t)]
    ...     [e: (?s ?p ?o), (?p <urn:same> ?t) -> (?s ?t ?o)]
    ...     [f: (?x <urn:p> ?y), isIRI(?y) -> (?y <urn:q> ?x)]''')
    >>> found = equality_of(rules)
    >>> found.predicate, sorted(rule.name for rule in found.axioms), found.kinds
    ('<urn:same>', ['a', 'b', 'c', 'd', 'e'], True)
    >>> equality_of(RuleSet("less", rules.rules[1:])) is None
    True
    """
    predicates = {p for rule in rules.rules for p, kind in axioms_of(rule) if kind == "symmetric"}
    for predicate in sorted(predicates):
        kinds = {rule: {kind for p, kind in axioms_of(rule) if p == predicate} for rule in rules.rules}
        if frozenset().union(*kinds.values()) >= _NEEDED:
            axioms = frozenset(rule for rule, found in kinds.items() if len(found) == len(rule.conclusions))
            others = [rule for rule in rules.rules if rule not in axioms]
            return _telling_apart(Equality(predicate, axioms), others)
    return None


def with_all_axioms(some: RuleSet, rules: RuleSet) -> RuleSet:
    """Some of the rules, and with one axiom of equality all of them: those that do nothing do no harm."""
    found = equality_of(rules)
    if found is None or found.axioms.isdisjoint(some.rules):
        return some
    return replace(some, rules=tuple(r for r in rules.rules if r in found.axioms or r in some.rules))


def axioms_of(rule: Rule) -> Iterator[tuple[str, str]]:
    """The axioms that the conclusions of a rule are: of which predicate, and which."""
    if rule.lists or any(premise.cut for premise in rule.premises):
        return
    for conclusion in rule.conclusions:
        for premise in rule.premises:
            found = _axiom(rule, premise, conclusion)
            if found is not None:
                yield found
                break


def _axiom(rule: Rule, equal: Premise, conclusion: Pattern) -> tuple[str, str] | None:
    """The axiom by which two ends of a premise are equal, if a rule is one."""
    a, p, b = equal.pattern
    if not isinstance(p, str) or not isinstance(a, Var) or not isinstance(b, Var) or a == b:
        return None
    if not all(_only_differ(condition, {a, b}) for condition in rule.conditions):
        return None
    others = [premise.pattern for premise in rule.premises if premise is not equal]
    if not others:
        return (p, "symmetric") if conclusion == Pattern(b, p, a) else None
    if len(others) > 1:
        return None
    [other] = others
    if other.p == p and other.s == b and conclusion == Pattern(a, p, other.o):
        return (p, "transitive") if isinstance(other.o, Var) and other.o not in (a, b) else None
    if len(other.variables()) < len(tuple(other)):
        return None
    for place, kind in enumerate(("subject", "predicate", "object")):
        for old, new in ((a, b), (b, a)):
            put = tuple(new if at == place else node for at, node in enumerate(other))
            if tuple(other)[place] == old and new not in other and tuple(conclusion) == put:
                return p, kind
    return None


def _only_differ(condition: Condition, ends: set[Var]) -> bool:
    """Whether a condition says no more than that the ends of the premise differ."""
    return isinstance(condition, Guard) and condition.name == "notEqual" and set(condition.args) == ends


def _telling_apart(found: Equality, rules: Iterable[Rule]) -> Equality:
    """What of the other rules tells equals apart."""
    apart: set[str] = set()
    kinds = False
    for rule in rules:
        tests = [each for each in rule.conditions if not isinstance(each, Mint)]
        literals = {arg for each in tests if each.name in _OF_LITERALS for arg in each.args[:1]}
        for condition in rule.conditions:
            kinds |= isinstance(condition, Guard) and condition.name in _ABOUT_KINDS
            if isinstance(condition, Guard) and condition.name == "notEqual":
                apart.update(arg for arg in condition.args if isinstance(arg, str))
            if not _is_the_same(condition, rule, literals, found.predicate):
                why = f"rule {rule.name} asks {condition}, which can be different for equal terms"
                return replace(found, why_not=why)
        for conclusion in rule.conclusions:
            # Such facts match no premise, so equals do not replace each other in them.
            if is_violation(conclusion.p):
                apart.update(node for node in conclusion if isinstance(node, str))
    return replace(found, apart=frozenset(apart), kinds=kinds)


def _is_the_same(condition: Condition, rule: Rule, literals: set[Node], predicate: str) -> bool:
    """Whether a condition is answered alike by all members of classes, or it makes no difference."""
    if isinstance(condition, Mint):
        return True  # One node for the class instead of one for each member: no query sees either.
    if condition.name in _THE_SAME_FOR_MEMBERS | _ABOUT_KINDS:
        return True
    if {arg for arg in condition.args if isinstance(arg, Var)} <= literals:
        return True
    if condition.name == "notEqual" and literals.intersection(condition.args):
        return True  # A literal differs from all members, or from none.
    if isinstance(condition, Bind) or len(variables := condition.variables()) > 2:
        return False
    if condition.name == "notEqual" and len(variables) < 2:
        return True  # The term that it names is in no class.
    return condition.name == "notEqual" and _says_nothing_of_one(rule, variables, predicate)


def _says_nothing_of_one(rule: Rule, variables: set[Var], predicate: str) -> bool:
    """Whether a rule concludes only what is known anyway where two variables are members of one class."""
    one, other = sorted(variables, key=str)
    same: Mapping[Var, Node] = {one: other}
    given = [filled(premise.pattern, same) for premise in rule.premises]
    made = [filled(conclusion, same) for conclusion in rule.conclusions]
    return not rule.lists and all(
        each in given or (each.p == predicate and each.s == each.o) for each in made
    )


def is_known(term: str) -> bool:
    """Whether built-ins know a term by its name: a datatype, or one of rdf:_1, rdf:_2 and so on."""
    return any(holds(name, "", (), (term,)) for name in ("isDatatype", "isMembership"))


def renamed(rules: RuleSet, names: Mapping[str, str]) -> RuleSet:
    """The rules with other names for some terms.

    >>> from ensue.rules.load import parse_rules
    >>> print(*renamed(parse_rules("[r: (?x <urn:p> ?y) -> (?y <urn:q> ?x)]"), {"<urn:q>": "<urn:p>"}).rules)
    [r: (?x <urn:p> ?y) -> (?y <urn:p> ?x)]
    """
    if not names:
        return rules
    every = dict.fromkeys(_renamed(rule, names) for rule in rules.rules)
    axioms = dict.fromkeys(renamed_pattern(axiom, names) for axiom in rules.axioms)
    return replace(rules, rules=tuple(every), axioms=tuple(axioms))


def _renamed(rule: Rule, names: Mapping[str, str]) -> Rule:
    return replace(
        rule,
        premises=tuple(replace(each, pattern=renamed_pattern(each.pattern, names)) for each in rule.premises),
        conclusions=tuple(renamed_pattern(each, names) for each in rule.conclusions),
        conditions=tuple(_renamed_condition(each, names) for each in rule.conditions),
        lists=tuple(_renamed_list(each, names) for each in rule.lists),
    )


def renamed_pattern(pattern: Pattern, names: Mapping[str, str]) -> Pattern:
    """A pattern with other names for some terms."""
    return Pattern(*(_name(node, names) for node in pattern))


def _name(node: Node, names: Mapping[str, str]) -> Node:
    return names.get(node, node) if isinstance(node, str) else node


def _renamed_condition(condition: Condition, names: Mapping[str, str]) -> Condition:
    if isinstance(condition, Mint):
        return condition
    return replace(condition, args=tuple(_name(arg, names) for arg in condition.args))


def _renamed_list(premise: ListPremise, names: Mapping[str, str]) -> ListPremise:
    of = _name(premise.of, names)
    match premise:
        case Member(_, item):
            return Member(of, _name(item, names))
        case Pair(_, first, second):
            return Pair(of, _name(first, names), _name(second, names))
        case Each(_, item, patterns):
            return Each(of, item, tuple(renamed_pattern(each, names) for each in patterns))
        case Chain(_, start, end):
            return Chain(of, _name(start, names), _name(end, names))
