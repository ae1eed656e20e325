"""Rules in SPARQL: `INSERT { } WHERE { }`, `CONSTRUCT { } WHERE { }` and, for axioms, `INSERT DATA { }`.

The file is taken apart in `sparql_skeleton.py`; rdflib parses what is left; `sparql_where.py` turns
the WHERE part into branches; here each branch becomes a rule. A blank node in a template is a node
that the rule makes, one per solution. A SELECT is a condition (`sparql_select.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from pyparsing import ParseBaseException, ParserElement
from rdflib.plugins.sparql.parser import ConstructQuery, GroupGraphPattern, InsertData, Modify
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode

from ensue.errors import EnsueError, RuleError
from ensue.rdflib_grammar import parsed
from ensue.rules import safety
from ensue.rules.lexer import Source
from ensue.rules.lists import substituted
from ensue.rules.sparql_reader import triples
from ensue.rules.sparql_select import UNNAMED
from ensue.rules.sparql_skeleton import Piece, Skeleton, pieces, skeleton
from ensue.rules.sparql_where import Branch, Where
from ensue.rules.tree import Bind, Condition, Guard, Mint, Node, Pattern, Rule, RuleSet, Var
from ensue.terms import VIOLATION


def parse(
    text: str,
    file: str = "<text>",
    name: str = "text",
    background_graphs: tuple[str, ...] = ("urn:ensue:background",),
) -> RuleSet:
    """The rules of a text, in order; `name` is the regime's, and begins the names of unnamed rules.

    >>> text = "INSERT { ?y <urn:is> ?c } WHERE { ?x ?p ?y GRAPH <urn:b> { ?p <urn:r> ?c } }"
    >>> print(*parse(text, background_graphs=("urn:b",)).rules)
    [text-1: (?x ?p ?y), cut(?p <urn:r> ?c) -> (?y <urn:is> ?c)]
    """
    rules: list[Rule] = []
    axioms: list[Pattern] = []
    for ordinal, piece in enumerate(pieces(Source(text, file)), start=1):
        for rule in _rules(piece, piece.name or f"{name}-{ordinal}", background_graphs):
            if rule.premises or rule.lists:
                rules.append(rule)
            else:
                axioms.extend(rule.conclusions)
    safety.check_names(rules)
    return RuleSet(name, tuple(rules), tuple(axioms))


def _rules(piece: Piece, name: str, background: tuple[str, ...]) -> list[Rule]:
    bones = skeleton(piece)
    words = [item.token.text.upper() for item in piece.items[:2]]
    grammar = ConstructQuery if words[0] == "CONSTRUCT" else InsertData if words[1:] == ["DATA"] else Modify
    tree = tree_of(piece, bones, grammar)
    where = Where(piece, bones, background)
    template, branches = _template_and_branches(where, tree)
    made = {node: Var(f"_:new{n}") for n, node in enumerate(dict.fromkeys(_blanks(template)), start=1)}
    heads = [Pattern(*(made[x] if isinstance(x, BNode) else where.node(x) for x in t)) for t in template]
    heads = [Pattern(s, f"<{VIOLATION}{name}>" if p == UNNAMED else p, o) for s, p, o in heads]
    anywhere = frozenset[Var]().union(*(branch.bound for branch in branches))
    rules = []
    for number, branch in enumerate(branches, start=1):
        # As in SPARQL, what has no value in a branch of a UNION is left out of that branch's conclusions.
        missing = anywhere - branch.bound
        conclusions = [head for head in heads if not head.variables() & missing]
        if conclusions:
            own = name if len(branches) == 1 else f"{name}-{number}"
            rules.append(_rule(piece, own, branch, conclusions, tuple(made.values())))
    if not rules:
        what, hint = f"rule '{name}' concludes nothing", "put triples in its template that WHERE can fill"
        raise RuleError(what, place=piece.place, hint=hint)
    return rules


def _template_and_branches(where: Where, tree: CompValue) -> tuple[list[tuple[Any, Any, Any]], list[Branch]]:
    match tree.name:
        case "InsertData":
            return _quads(where, tree.quads), [Branch()]
        case "Modify":
            return _quads(where, tree.insert.quads), where.group(tree.where)
    branches = where.group(tree.where)
    if tree.valuesClause:
        branches = where.join(branches, where.values(tree.valuesClause))
    if tree.template is None:  # CONSTRUCT WHERE { } concludes what it matches
        return [t for part in tree.where.part or () for t in triples(part.triples)], branches
    return list(triples(tree.template)), branches


def _quads(where: Where, quads: CompValue) -> list[tuple[Any, Any, Any]]:
    for graph in quads.quadsNotTriples or ():
        what, hint = "a rule cannot conclude into a GRAPH", "conclusions stay in the context of the premises"
        raise RuleError(what, place=where.place(graph), hint=hint)
    return list(triples(quads.triples))


def _blanks(template: list[tuple[Any, Any, Any]]) -> Iterator[BNode]:
    return (node for triple in template for node in triple if isinstance(node, BNode))


def _rule(piece: Piece, name: str, branch: Branch, heads: list[Pattern], made: tuple[Var, ...]) -> Rule:
    conclusions = [_substituted(head, branch) for head in heads]
    used = frozenset[Var]().union(*(head.variables() for head in conclusions))
    sources = {node: name if len(made) == 1 else f"{name}#{node.name[5:]}" for node in made if node in used}
    conditions = list(_conditions(branch))
    premises = tuple(replace(p, pattern=_substituted(p.pattern, branch)) for p in branch.premises)
    lists = tuple(substituted(each, dict(branch.fixed)) for each in branch.lists)
    if premises or lists:
        conditions += [Mint(node, source) for node, source in sources.items()]
    elif branch.conditions:
        what = f"rule '{name}' has conditions but no premise"
        raise RuleError(what, place=piece.place, hint="state what always holds with INSERT DATA { }")
    else:
        conditions = []
        labels = {node: _label(piece, source) for node, source in sources.items()}
        conclusions = [Pattern(*(_in(labels, node) for node in head)) for head in conclusions]
    once = tuple(dict.fromkeys(premises)), tuple(dict.fromkeys(conclusions))
    rule = Rule(name, *once, tuple(conditions), piece.place, lists)
    tokens = [item.token for item in reversed(piece.items) if item.token.kind == "var"]
    safety.check(rule, {token.text[1:]: piece.source.place(token.start) for token in tokens})
    return rule


def _in(terms: dict[Var, str], node: Node) -> Node:
    return terms.get(node, node) if isinstance(node, Var) else node


def _substituted(pattern: Pattern, branch: Branch) -> Pattern:
    return Pattern(*(_in(dict(branch.fixed), node) for node in pattern))


def _conditions(branch: Branch) -> Iterator[Condition]:
    """The conditions, with fixed terms put in; an expression gets those from a BIND before it."""
    asked: set[Node] = set()
    for condition in branch.conditions:
        if not isinstance(condition, Mint) and condition.name == "sparql":
            asked.update(condition.args)
        if isinstance(condition, Bind):
            asked.add(condition.target)
    for variable, term in branch.fixed.items():
        if variable in asked:
            yield Bind("sparql", (), variable, term)
    for condition in branch.conditions:
        if isinstance(condition, Guard) and condition.name != "sparql":
            yield Guard(condition.name, tuple(_in(dict(branch.fixed), arg) for arg in condition.args))
        else:
            yield condition


def _label(piece: Piece, source: str) -> str:
    """A blank node that is always the same for the same place in the same file, and no other's."""
    return f"_:rule{blake2b(f'{piece.source.file} {source}'.encode(), digest_size=16).hexdigest()}"


def tree_of(piece: Piece, bones: Skeleton, grammar: ParserElement, hint: str | None = None) -> CompValue:
    """The tree that rdflib makes of a piece by one of its grammars; `hint` is for what is not SPARQL."""
    try:
        tree: CompValue = parsed(grammar, bones.text)[0]
    except RecursionError as problem:
        raise RuleError("this rule is nested too deeply", place=piece.place, hint="split it") from problem
    except Exception as problem:
        # Mostly a ParseException, but rdflib's own code runs while it parses, and can fail in its way.
        at = _deepest(piece, bones, problem.loc) if isinstance(problem, ParseBaseException) else 0
        raise _syntax_error(piece, bisect_left(bones.starts, at), hint) from problem
    return tree


def _deepest(piece: Piece, bones: Skeleton, at: int) -> int:
    """Where in the skeleton the error is: rdflib names the outermost group that it is in."""
    index = bisect_left(bones.starts, at)
    if index not in piece.partner or not piece.items[index].token.is_op("{"):
        return at
    group = bones.text[: bones.starts[piece.partner[index]] + 1]
    try:
        parsed(GroupGraphPattern, group[at:])
    except ParseBaseException as problem:
        return _deepest(piece, bones, at + problem.loc) if problem.loc else at
    return at


def _syntax_error(piece: Piece, index: int, hint: str | None) -> EnsueError:
    if index >= len(piece.items):
        last = piece.items[-1].token
        return piece.source.error("this rule ends too early", last.start + len(last.text), hint)
    token = piece.items[index].token
    if token.is_word("INSERT", "CONSTRUCT", "DELETE", "SELECT"):
        hint = "rules are separated by ';'"
    return piece.source.error(f"this is not SPARQL, from '{token.text[:40]}' on", token, hint)
