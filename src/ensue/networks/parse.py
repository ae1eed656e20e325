"""A file of SPARQL Update rules, read as a network.

The file is taken apart by `ensue.rules.sparql_skeleton`, rdflib parses each piece, `where.py` reads its
WHERE part; here the pieces become rules, and comments say what an element is:

    # element: statement      (or: time, all that has one time; this is the default)
    # arrives in: default     (or: own, the graph that the statement came with; this is the default)
    # partition by: graph     (or: <property>; one network for each key, and not one for all)
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, get_args

from pyparsing import ParserElement
from rdflib.plugins.sparql.parser import DeleteData, DeleteWhere, InsertData, Modify, SelectQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode

from ensue.errors import Place, RuleError, UnsafeRuleError, did_you_mean
from ensue.files import FilePath
from ensue.networks.tree import Branch, Element, Into, NetworkFile, NetworkRule, Select, Update
from ensue.networks.where import Where
from ensue.query.tree import Partition
from ensue.rules.lexer import SPARQL, Source
from ensue.rules.load import read_rules
from ensue.rules.sparql import tree_of
from ensue.rules.sparql_skeleton import Dialect, Piece, by_word, pieces, skeleton
from ensue.rules.tree import Var

NETWORK = Dialect(
    ("INSERT", "DELETE", "SELECT"),
    "rules are DELETE { } INSERT { } WHERE { }, SELECT or INSERT DATA { }, with ';' between",
    by_word(
        [
            (
                RuleError,
                "CLEAR DROP MOVE COPY ADD CREATE",
                "it has no WHERE that says when",
                "DELETE { GRAPH <g> { ?s ?p ?o } } WHERE { GRAPH <g> { ?s ?p ?o } ... } clears a graph",
            ),
            (
                RuleError,
                "LOAD SERVICE",
                "a network sees what arrives and nothing else",
                "load data as background",
            ),
            (
                RuleError,
                "FROM USING WITH",
                "a network has one dataset, and names its graphs where it means them",
                "write GRAPH <g> { }",
            ),
            (
                RuleError,
                "COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT GROUP HAVING LIMIT OFFSET ORDER",
                "it depends on all solutions at once; a rule fires for each new one",
                "keep the count in a graph of its own, or ask a query with a window",
            ),
            (
                RuleError,
                "MINUS",
                "what it takes away hangs on which variables the two sides share",
                "write FILTER NOT EXISTS { }",
            ),
            (
                RuleError,
                "RAND NOW UUID STRUUID BNODE",
                "its value differs from call to call, so a run could not be repeated",
                "a blank node in the template is a new node for each firing",
            ),
            (RuleError, "ASK DESCRIBE CONSTRUCT", "a network gives rows", "write SELECT, or INSERT"),
        ]
    ),
)
"""What a network's file can say of SPARQL."""


def parse(text: str, file: str = "<text>", name: str = "network") -> NetworkFile:
    r"""The network that a text is; `name` begins the names of rules that have none.

    >>> found = parse("# element: statement\nDELETE { ?x ?p ?y } INSERT { ?y ?p ?x } WHERE { ?x ?p ?y }")
    >>> found.element, found.rules[0].name, found.rules[0].effect.delete[0]
    ('statement', 'network-1', Quad(graph='', s=Var(name='x'), p=Var(name='p'), o=Var(name='y')))
    """
    source = Source(text, file)
    said = _directives(source)
    rules = tuple(
        _rule(piece, piece.name or f"{name}-{number}")
        for number, piece in enumerate(pieces(source, NETWORK), start=1)
    )
    if not rules:
        raise source.error("no rules in this file", 0, NETWORK.hint)
    _check_names(rules)
    return NetworkFile(name, rules, **said)


def load_network(*paths: FilePath) -> NetworkFile:
    """The network of one file, or of several one after the other."""
    files = [parse(read_rules(path), os.fspath(path), Path(path).stem) for path in paths]
    rules = tuple(rule for file in files for rule in file.rules)
    _check_names(rules)
    said: dict[str, Any] = {}
    for path, file in zip(paths, files, strict=True):
        for field in ("element", "into", "partition"):
            value = getattr(file, field)
            if value is not None and said.setdefault(field, value) != value:
                what = f"the files differ on what an element is, where it arrives, or on keys: {value}"
                raise RuleError(what, place=Place(os.fspath(path)), hint="say it in one of them")
    return NetworkFile("+".join(file.name for file in files), rules, **said)


_DIRECTIVE = re.compile(r"#+\s*(element|arrives in|partition by):\s*(.*?)\s*$")
_DIRECTIVES: dict[str, tuple[str, tuple[str, ...]]] = {
    "element": ("element", get_args(Element)),
    "arrives in": ("into", get_args(Into)),
    "partition by": ("partition", ("graph", "<property>")),
}
_IRI = re.compile(r"<([^\x00-\x20<>\"{}|^`\\]+:[^\x00-\x20<>\"{}|^`\\]*)>")


def _directives(source: Source) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for token in source.tokens(SPARQL):
        match = _DIRECTIVE.match(token.text)
        if token.kind != "comment" or match is None:
            continue
        what, word = match.groups()
        field, words = _DIRECTIVES[what]
        value = _partition(word) if field == "partition" else word if word in words else None
        if value is None:
            hint = did_you_mean(word, words) or f"one of {', '.join(words)}"
            raise source.error(f"'{word}' does not say what '{what}' is", token, hint)
        if found.setdefault(field, value) != value:
            raise source.error(f"'{what}' is said twice, and differently", token, "say it once")
    return found


def _partition(word: str) -> Partition | None:
    """What tells networks apart, as in a query's PARTITION BY; None: the word does not say it."""
    if word.lower() == "graph":
        return Partition()
    iri = _IRI.fullmatch(word)
    return None if iri is None else Partition(iri[1])


def _check_names(rules: tuple[NetworkRule, ...]) -> None:
    seen: dict[str, Place] = {}
    for rule in rules:
        before = seen.setdefault(rule.name, rule.place)
        if before is not rule.place:
            what, hint = f"two rules are called '{rule.name}'", f"the other one is at {before}"
            raise RuleError(what, place=rule.place, hint=hint)


def _grammar(piece: Piece) -> ParserElement:
    first, *then = [item.token.text.upper() for item in piece.items[:2]]
    if first == "SELECT":
        return SelectQuery
    if then == ["DATA"]:
        return InsertData if first == "INSERT" else DeleteData
    return DeleteWhere if then == ["WHERE"] else Modify


def _rule(piece: Piece, name: str) -> NetworkRule:
    bones = skeleton(piece)
    where = Where(piece, bones)
    tree = tree_of(piece, bones, _grammar(piece), "what is missing or too much stands here or just before")
    match tree.name:
        case "SelectQuery":
            branches = where.branches(tree.where, tree.valuesClause)
            return NetworkRule(name, branches, _select(where, tree, branches), piece.place)
        case "Modify":
            branches = where.branches(tree.where)
            delete = where.quads(tree.delete.quads) if tree.delete else []
            insert = where.quads(tree.insert.quads) if tree.insert else []
        case "DeleteWhere":
            delete, insert = where.quads(tree.quads), []
            branches = (Branch(tuple(map(where.quad, delete))),)
        case _:
            branches, stated = (Branch(),), where.quads(tree.quads)
            delete, insert = ([], stated) if tree.name == "InsertData" else (stated, [])
    return NetworkRule(name, branches, _update(where, delete, insert, branches), piece.place)


def _update(where: Where, delete: list[Any], insert: list[Any], branches: tuple[Branch, ...]) -> Update:
    for quad in delete:
        if any(isinstance(node, BNode) for node in quad):
            what, hint = "a blank node in DELETE would be one that is not there", "use a variable"
            raise RuleError(what, place=where.place(quad), hint=hint)
    for quad in delete + insert:
        if isinstance(quad[1], CompValue):
            raise RuleError("a literal cannot be the subject of a statement", place=where.place(quad[1]))
    blanks = [node for quad in insert for node in quad if isinstance(node, BNode)]
    # A blank node of a template is its own, also if one of WHERE has the same label.
    made = {blank: Var(f"_:new{n}") for n, blank in enumerate(dict.fromkeys(blanks), start=1)}
    heads = [where.quad(quad, made) for quad in insert]
    gone = [where.quad(quad) for quad in delete]
    known = frozenset[Var]().union(*(branch.visible() for branch in branches))
    for quad in [*gone, *heads]:
        for variable in sorted(quad.variables() - known - set(made.values()), key=str):
            what = f"nothing binds {variable}, which the rule speaks of"
            hint = f"use {variable} in a pattern of WHERE, or make a node with [ ]"
            raise UnsafeRuleError(what, place=where.variable_place(variable), hint=hint)
    return Update(tuple(gone), tuple(heads), tuple(made.values()))


def _select(where: Where, tree: CompValue, branches: tuple[Branch, ...]) -> Select:
    known = {variable for branch in branches for variable in branch.visible()}
    if not tree.projection:
        named = sorted((v for v in known if not v.name.startswith("_:")), key=str)
        return Select(tuple(named), tree.modifier == "DISTINCT")
    variables = []
    for part in tree.projection:
        if part.expr is not None:
            what, hint = "SELECT takes variables only", "give it a name with BIND in WHERE"
            raise RuleError(what, place=where.variable_place(Var(str(part.evar))), hint=hint)
        variable = Var(str(part.var))
        if variable not in known:
            what, hint = f"nothing binds {variable}", "use it in a pattern of WHERE"
            raise UnsafeRuleError(what, place=where.variable_place(variable), hint=hint)
        variables.append(variable)
    return Select(tuple(variables), tree.modifier == "DISTINCT")
