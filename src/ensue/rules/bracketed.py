"""The bracketed syntax of rules, as Jena has it: `[name: (?a ?p ?b), notLiteral(?b) -> (?b ?p ?a)]`.

A file is any number of `@prefix` lines and rules. Standard library only, so that a small device can
read rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ensue.errors import EnsueError, Place, RuleError, did_you_mean
from ensue.rules import safety
from ensue.rules.builtins import BINDS, TESTS
from ensue.rules.lexer import BRACKETED, Names, Source, Token, number
from ensue.rules.lists import NAMES
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

_NAME = re.compile(r"\s*(\w[\w.\-]*)\s*:")
_END = Token("end", "the end of the file", -1)
_BUILTINS = {"cut", "live", "assignAnon", "makeTemp", *NAMES, *TESTS, *BINDS}


def parse(text: str, file: str = "<text>", name: str = "text") -> RuleSet:
    """The rules of a text, in order; `name` is the regime's, and begins the names of unnamed rules.

    >>> rules = parse("@prefix ex: <urn:> . [inverse: (?a ex:in ?b) -> (?b ex:has ?a)]")
    >>> print(rules.rules[0], rules.rules[0].place)
    [inverse: (?a <urn:in> ?b) -> (?b <urn:has> ?a)] <text>:1:22
    """
    parser = _Parser(Source(text, file), name)
    while parser.here is not _END:
        if parser.here.text == "@prefix":
            parser.prefix()
        elif parser.here.is_op("["):
            parser.rule()
        else:
            raise parser.failure(
                "expected '[' or '@prefix'", "a rule is written [name: premises -> conclusions]"
            )
    safety.check_names(parser.rules)
    return RuleSet(name, tuple(parser.rules), tuple(parser.axioms))


class _Parser:
    """Recursive descent with one token in sight (`here`); the syntax does not nest."""

    def __init__(self, source: Source, name: str) -> None:
        self.source = source
        self.name = name
        self.names = Names(source, declaration="@prefix {}: <...> .")
        self.rules: list[Rule] = []
        self.axioms: list[Pattern] = []
        self.count = 0
        self.places: dict[str, Place] = {}
        self.position = 0
        self.here = _END
        self.advance()

    def advance(self) -> Token:
        """Go to the next token; the one that was here is returned."""
        left = self.here
        while match := BRACKETED.match(self.source.text, self.position):
            self.position = match.end()
            if match.lastgroup not in ("space", "comment"):
                self.here = Token(match.lastgroup or "op", match.group(), match.start())
                return left
        self.here = _END
        return left

    def failure(self, what: str, hint: str | None = None) -> EnsueError:
        at_end = self.here is _END
        start = len(self.source.text) if at_end else self.here.start
        found = self.here.text if at_end else f"'{self.here.text[:40]}'"
        return self.source.error(f"{what}, found {found}", start, hint)

    def expect(self, op: str, hint: str | None = None) -> Token:
        if not self.here.is_op(op):
            raise self.failure(f"expected '{op}'", hint)
        return self.advance()

    def skip(self, op: str) -> None:
        if self.here.is_op(op):
            self.advance()

    def prefix(self) -> None:
        hint = "it is written @prefix ex: <http://example.org/> ."
        self.advance()
        if self.here.kind != "pname" or not self.here.text.endswith(":"):
            raise self.failure("expected a prefix that ends in ':'", hint)
        prefix = self.advance().text[:-1]
        if self.here.kind != "iri":
            raise self.failure("expected an IRI in < >", hint)
        self.names.prefixes[prefix] = self.names.iri(self.advance())
        self.skip(".")

    def rule(self) -> None:
        self.count += 1
        self.places = {}
        place = self.source.place(self.here.start)
        name = self.rule_name()
        premises: list[Premise] = []
        lists: list[ListPremise] = []
        conditions: list[Condition] = []
        while not self.here.is_op("->"):
            if self.here.kind == "word" and self.here.text in NAMES:
                lists.append(self.list_premise())
            else:
                self.body_item(name, premises, conditions)
            self.skip(",")
        self.advance()
        conclusions = [self.pattern()]
        self.skip(",")
        while not self.here.is_op("]"):
            conclusions.append(self.pattern("expected '(' or ']' after a conclusion"))
            self.skip(",")
        self.advance()
        body = tuple(dict.fromkeys(premises)), tuple(dict.fromkeys(conclusions)), tuple(conditions)
        self.add(Rule(name, *body, place, tuple(lists)))

    def add(self, rule: Rule) -> None:
        safety.check(rule, self.places)
        if rule.premises or rule.lists:
            self.rules.append(rule)
        elif rule.conditions:
            what = f"rule '{rule.name}' has conditions but no premise"
            raise RuleError(what, place=rule.place, hint="add a premise, or leave the conditions out")
        else:
            self.axioms.extend(rule.conclusions)

    def rule_name(self) -> str:
        # Read before the next token is, because `rdfs2:` would be a prefix anywhere else.
        if match := _NAME.match(self.source.text, self.position):
            self.position = match.end()
            self.advance()
            return match.group(1)
        self.advance()
        return f"{self.name}-{self.count}"

    def body_item(self, rule: str, premises: list[Premise], conditions: list[Condition]) -> None:
        if self.here.is_op("("):
            premises.append(Premise(self.pattern()))
        elif self.here.text in ("cut", "live"):
            premises.append(self.marked())
        elif self.here.kind == "word":
            conditions.append(self.builtin(rule))
        elif self.here.is_op("<-"):
            raise self.failure("a rule is written forwards", "turn it round: [name: premises -> conclusions]")
        else:
            raise self.failure("expected a premise, a condition or '->'")

    def marked(self) -> Premise:
        mark = self.advance().text
        self.expect("(", f"a {mark} premise is written {mark}(?p rdfs:domain ?c)")
        pattern = self.pattern() if self.here.is_op("(") else self.three_nodes()
        self.expect(")", f"{mark} holds one pattern")
        return Premise(pattern, cut=mark == "cut", live=mark == "live")

    def list_premise(self) -> ListPremise:
        called = self.advance()
        self.expect("(", f"the list follows: {called.text}(?list, ...)")
        if called.text == "each":
            return self.each(called)
        args = self.arguments()
        arity, rest = (2, "?member") if called.text == "member" else (3, "?x, ?y")
        self.check_arity(called, args, arity, f"it is written {called.text}(?list, {rest})")
        if called.text == "member":
            return Member(*args)
        return Pair(*args) if called.text == "pair" else Chain(*args)

    def each(self, called: Token) -> Each:
        hint = "it is written each(?list, ?member, (?x rdf:type ?member))"
        args: list[Node] = []
        while not self.here.is_op("(") and not self.here.is_op(")"):
            args.append(self.node())
            self.skip(",")
        if len(args) != 2 or not isinstance(args[1], Var):
            raise self.source.error("each takes a list and a variable before its patterns", called, hint)
        patterns: list[Pattern] = []
        while not self.here.is_op(")"):
            patterns.append(self.pattern("expected '(' or ')' after each's members"))
            self.skip(",")
        self.advance()
        if not patterns:
            raise self.source.error("each takes one pattern at least", called, hint)
        return Each(args[0], args[1], tuple(patterns))

    def pattern(self, what: str = "expected '('") -> Pattern:
        if not self.here.is_op("("):
            raise self.failure(what, "a pattern is written (subject predicate object)")
        self.advance()
        pattern = self.three_nodes()
        self.expect(")", "a pattern has three parts: (subject predicate object)")
        return pattern

    def three_nodes(self) -> Pattern:
        return Pattern(self.node(), self.node(), self.node())

    def node(self) -> Node:
        token = self.here
        hint: str | None
        match token.kind:
            case "var":
                self.places.setdefault(token.text[1:], self.source.place(token.start))
                return Var(self.advance().text[1:])
            case "iri" | "pname":
                return f"<{self.names.iri(self.advance())}>"
            case "string":
                return self.literal()
            case "number":
                return number(self.advance().text)
            case "word":
                hint = f"a variable is written ?{token.text}, a text '{token.text}'"
            case "blank":
                hint = "a rule cannot name a blank node: use a variable; makeTemp(?x) makes a node"
            case _:
                hint = "a pattern is (subject predicate object)"
        raise self.failure("expected a variable, an IRI or a literal", hint)

    def literal(self) -> Node:
        string = self.advance()
        if self.here.kind == "lang":
            return self.names.literal(string, self.advance())
        if self.here.is_op("^^"):
            self.advance()
            if self.here.kind not in ("iri", "pname"):
                raise self.failure("expected a datatype after '^^'", "such as xsd:integer")
            return self.names.literal(string, self.advance())
        return self.names.literal(string)

    def builtin(self, rule: str) -> Condition:
        called = self.advance()
        if called.text not in _BUILTINS:
            hint = did_you_mean(called.text, _BUILTINS) or f"there are {', '.join(sorted(_BUILTINS))}"
            raise self.source.error(f"there is no built-in '{called.text}'", called, hint)
        self.expect("(", f"its arguments follow: {called.text}(?x)")
        args = self.arguments()
        if called.text in TESTS:
            self.check_arity(called, args, TESTS[called.text][0])
            return Guard(called.text, tuple(args))
        return self.maker(called, args, rule)

    def arguments(self) -> list[Node]:
        args: list[Node] = []
        while not self.here.is_op(")"):
            args.append(self.node())
            self.skip(",")
        self.advance()
        return args

    def maker(self, called: Token, args: list[Node], rule: str) -> Condition:
        """A built-in whose last argument is a variable that it binds."""
        makers: dict[str, tuple[int, Callable[[Var], Condition]]] = {
            "assignAnon": (2, lambda target: Mint(target, "assignAnon", self.variables(called, args[:-1]))),
            "makeTemp": (1, lambda target: Mint(target, rule)),
        }
        makers |= {
            name: (arity + 1, lambda target: Bind(called.text, tuple(args[:-1]), target))
            for name, (arity, _) in BINDS.items()
        }
        arity, make = makers[called.text]
        self.check_arity(called, args, arity)
        (target,) = self.variables(called, args[-1:])
        return make(target)

    def variables(self, called: Token, args: list[Node]) -> tuple[Var, ...]:
        found = tuple(arg for arg in args if isinstance(arg, Var))
        if len(found) < len(args):
            raise self.source.error(f"{called.text} takes variables here", called)
        return found

    def check_arity(self, called: Token, args: list[Node], arity: int, hint: str | None = None) -> None:
        if len(args) != arity:
            takes = f"{called.text} takes {arity} argument{'s' if arity > 1 else ''}"
            raise self.source.error(f"{takes}, not {len(args)}", called, hint)
