"""Random rules over a small vocabulary, so that what one rule concludes another one finds.

Two thirds of the rules have a shape that real regimes have (transitivity, sub-properties, chains, ...);
the others are put together from nothing, with all that the rules' tree can say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from ensue.rules.tree import Bind, Condition, Guard, Mint, Node, Pattern, Premise, Rule, RuleSet, Var

Statement = tuple[str, str, str]

X, Y, Z, W, P, Q, NEW = (Var(name) for name in ("x", "y", "z", "w", "p", "q", "new"))
TYPE, SUB = "<urn:type>", "<urn:sub>"
LINKS = ("<urn:p>", "<urn:q>", "<urn:r>")
THINGS = tuple(f"<urn:{letter}>" for letter in "abcdefg")
CLASSES = ("<urn:C>", "<urn:D>", "<urn:E>")
LITERALS = ('"x"', '"y"@en', '"1"^^<urn:int>')
SCHEMA = tuple(
    (lower, SUB, upper) for kind in (LINKS, CLASSES) for lower in kind for upper in kind if lower != upper
)


def _link(random: Random) -> str:
    """A property, the first more often than the last: what many rules speak of is what recurses."""
    return random.choices(LINKS, (6, 3, 1))[0]


def random_statement(random: Random) -> Statement:
    """A statement that some rule is likely to match."""
    at = random.random()
    if at < 0.75:
        subject = random.choice(THINGS)
        return subject, _link(random), _object(random, subject)
    if at < 0.9:
        return random.choice(THINGS), TYPE, random.choice(CLASSES)
    if at < 0.97:
        return random.choice(SCHEMA)
    return random.choice(LINKS), _link(random), random.choice(THINGS)


def _object(random: Random, subject: str) -> str:
    at = random.random()
    if at < 0.1:
        return random.choice(LITERALS)
    # Often the next thing: chains make derivations long where a dense graph would make them short.
    return THINGS[(THINGS.index(subject) + 1) % len(THINGS)] if at < 0.55 else random.choice(THINGS)


def random_background(random: Random) -> list[Statement]:
    """Schema for the cut premises, and a few facts like those on the stream."""
    schema = random.sample(SCHEMA, random.randrange(5))
    return schema + [random_statement(random) for _ in range(random.randrange(4))]


def random_rules(random: Random) -> RuleSet:
    """One to five rules, sometimes with an axiom."""
    count = random.choice((1, 2, 3, 3, 4, 4, 5))
    rules = tuple(_rule(random, f"r{number}") for number in range(count))
    axioms = (Pattern(*random_statement(random)),) if random.random() < 0.1 else ()
    return RuleSet("random", rules, axioms)


def _rule(random: Random, name: str) -> Rule:
    if name == "r0" and random.random() < 0.9:
        rule = random.choice(RECURSIVE)(random)
    else:
        rule = random.choice(SHAPES)(random) if random.random() < 0.6 else _from_nothing(random)
    rule = replace(rule, name=name)
    if random.random() < 0.15:
        rule = replace(rule, premises=tuple(replace(p, cut=_is_cut(p, random)) for p in rule.premises))
    if random.random() < 0.2:
        rule = replace(rule, conclusions=(*rule.conclusions, _conclusion(random, _bound(rule))))
    if random.random() < 0.2:
        rule = _with_condition(random, rule)
    return rule


def _is_cut(premise: Premise, random: Random) -> bool:
    return premise.cut or premise.pattern.p == SUB or random.random() < 0.25


def _transitive(random: Random) -> Rule:
    link = _link(random)
    return _horn([(X, link, Y), (Y, link, Z)], (X, link, Z))


def _through(random: Random) -> Rule:
    link, other = random.sample(LINKS, 2)
    return _horn([(X, link, Y), (Y, other, Z)], (X, random.choice((link, other)), Z))


def _chain(random: Random) -> Rule:
    links = [_link(random) for _ in range(3)]
    return _horn([(X, links[0], Y), (Y, links[1], Z), (Z, links[2], W)], (X, random.choice(links), W))


def _inverse(random: Random) -> Rule:
    return _horn([(X, _link(random), Y)], (Y, _link(random), X))


def _copy(random: Random) -> Rule:
    link, other = random.sample(LINKS, 2)
    return _horn([(X, link, Y)], (X, other, Y))


def _sub_property(random: Random) -> Rule:
    rule = _horn([(P, SUB, Q), (X, P, Y)], (X, Q, Y))
    return _shuffled(random, rule)


def _sub_class(random: Random) -> Rule:
    return _shuffled(random, _horn([(X, TYPE, Y), (Y, SUB, Z)], (X, TYPE, Z)))


def _sub_sub(random: Random) -> Rule:
    return _horn([(X, SUB, Y), (Y, SUB, Z)], (X, SUB, Z))


def _equals(random: Random) -> Rule:
    """What is said of a thing is said of its equals, at both ends: this echoes where they are themselves."""
    same, link = random.sample(LINKS, 2)
    said: Node = P if random.random() < 0.3 else link
    return _shuffled(random, _horn([(X, said, Y), (X, same, Z), (Y, same, W)], (Z, said, W)))


def _itself(random: Random) -> Rule:
    end = random.choice((X, Y))
    return _horn([(X, _link(random), Y)], (end, _link(random), end))


def _domain(random: Random) -> Rule:
    return _horn([(X, _link(random), Y)], (random.choice((X, Y)), TYPE, random.choice(CLASSES)))


def _restriction(random: Random) -> Rule:
    link, lower, upper = _link(random), random.choice(CLASSES), random.choice(CLASSES)
    return _shuffled(random, _horn([(X, link, Y), (Y, TYPE, lower)], (X, TYPE, upper)))


def _same(random: Random) -> Rule:
    link = _link(random)
    return _horn([(X, link, Y), (X, P, Z)], (Y, P, Z))


RECURSIVE: tuple[Callable[[Random], Rule], ...] = (
    _transitive,
    _transitive,
    _through,
    _through,
    _chain,
    _same,
)
LINEAR: tuple[Callable[[Random], Rule], ...] = (_inverse, _copy, _itself, _domain)
SHAPES: tuple[Callable[[Random], Rule], ...] = (
    *RECURSIVE,
    *(_inverse, _copy, _sub_property, _sub_class, _sub_sub, _domain, _restriction, _equals, _itself),
)


def _horn(body: list[tuple[Node, Node, Node]], head: tuple[Node, Node, Node]) -> Rule:
    return Rule("", tuple(Premise(Pattern(*nodes)) for nodes in body), (Pattern(*head),))


def _shuffled(random: Random, rule: Rule) -> Rule:
    return replace(rule, premises=tuple(random.sample(rule.premises, len(rule.premises))))


def _from_nothing(random: Random) -> Rule:
    premises: list[Premise] = []
    for _ in range(random.choice((1, 2, 2, 3))):
        known = sorted({v for premise in premises for v in premise.pattern.variables()}, key=str)
        repeat = premises and random.random() < 0.05
        premises.append(random.choice(premises) if repeat else Premise(_premise(random, known)))
    rule = Rule("", tuple(premises), ())
    return replace(rule, conclusions=(_conclusion(random, _bound(rule)),))


def _premise(random: Random, known: list[Var]) -> Pattern:
    """A pattern that mostly shares a variable with those before it."""
    s = _end(random, known, THINGS)
    p: Node = random.choice(_LINKS_AND_SCHEMA) if random.random() < 0.8 else random.choice((P, P, Q))
    o = _end(random, known, CLASSES if p in (TYPE, SUB) else THINGS)
    if known and not Pattern(s, p, o).variables() & set(known) and random.random() < 0.9:
        joined = random.choice(known)
        s, o = (joined, o) if random.random() < 0.5 else (s, joined)
    return Pattern(s, p, o)


_LINKS_AND_SCHEMA = (*LINKS, *LINKS[:2], LINKS[0], TYPE, SUB)


def _end(random: Random, known: list[Var], constants: tuple[str, ...]) -> Node:
    at = random.random()
    if at < 0.15:
        return random.choice(constants)
    return random.choice(known) if known and at < 0.5 else random.choice((X, Y, Z, W))


def _conclusion(random: Random, bound: list[Var]) -> Pattern:
    def end(constants: tuple[str, ...]) -> Node:
        return random.choice(bound) if bound and random.random() < 0.85 else random.choice(constants)

    predicates = [v for v in bound if v in (P, Q)]
    if predicates and random.random() < 0.5:
        p: Node = random.choice(predicates)
    else:
        p = random.choice(_LINKS_AND_SCHEMA[:-1])
    return Pattern(end(THINGS), p, end(CLASSES if p == TYPE else THINGS))


def _bound(rule: Rule) -> list[Var]:
    return sorted({v for premise in rule.premises for v in premise.pattern.variables()}, key=str)


def _with_condition(random: Random, rule: Rule) -> Rule:
    bound = _bound(rule)
    if not bound:
        return rule
    at = random.random()
    if at < 0.35:
        return _guarded(rule, Guard(random.choice(("notLiteral", "isLiteral")), (random.choice(bound),)))
    if at < 0.65:
        other: Node = random.choice((*bound, random.choice(THINGS)))
        name = random.choice(("notEqual", "notEqual", "notEqual", "equal"))
        return _guarded(rule, Guard(name, (random.choice(bound), other)))
    if at < 0.75:
        return _making(random, rule, Bind("isDLiteral", (random.choice(bound),), NEW))
    key = None if random.random() < 0.4 else (random.choice(bound),)
    return _making(random, rule, Mint(NEW, rule.name if key is None else "shared", key))


def _guarded(rule: Rule, condition: Condition) -> Rule:
    return replace(rule, conditions=(*rule.conditions, condition))


def _making(random: Random, rule: Rule, condition: Bind | Mint) -> Rule:
    """The rule with a new node in its conclusions."""
    link: Node = random.choice((*LINKS, TYPE))
    about = Pattern(random.choice(_bound(rule)), link, NEW)
    back = (Pattern(NEW, random.choice(LINKS), random.choice(_bound(rule))),) if random.random() < 0.4 else ()
    return replace(_guarded(rule, condition), conclusions=(*rule.conclusions, about, *back))
