"""What tests of plans share: jobs in few words, blocks of statements, and cases with statements left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from query.equivalence.cases import Case, Push, Register, Statement
from query.equivalence.history import parsed

from ensue.plan import relevance, routing
from ensue.plan.known import close
from ensue.plan.relevance import Relevance
from ensue.plan.routing import Routing
from ensue.query.language import parse_query
from ensue.query.tree import ContinuousQuery
from ensue.rules.load import parse_rules
from ensue.rules.tree import RuleSet
from ensue.terms import OWL, RDF, RDFS

PREFIXES = f"@prefix : <urn:> . @prefix rdf: <{RDF}> . @prefix rdfs: <{RDFS}> . @prefix owl: <{OWL}> . "

BLANKED: Statement = ("<urn:out>", "<urn:out>", "<urn:out>")
"""What stands for a statement that was left out, so that windows close and counts are as before."""


def rules_of(text: str) -> RuleSet:
    return parse_rules(PREFIXES + text, "test.rules")


def query_of(where: str, head: str = "SELECT *", tail: str = "") -> ContinuousQuery:
    """A query over one window in the default graph; prefixes are as in the rules."""
    prefixes = PREFIXES.replace("@prefix", "PREFIX").replace("> . ", "> ")
    window = "FROM STREAM <urn:s> [RANGE 10s STEP 5s]"
    return parse_query(f"{prefixes} REGISTER QUERY q AS {head} {window} WHERE {{ {where} }}{tail}")


def expand(text: str) -> Statement:
    """`:a rdf:type :C` as a statement; `*` stays."""
    return tuple(_expanded(word) for word in text.split())


def _expanded(word: str) -> str | None:
    names = {"": "urn:", "rdf": RDF, "rdfs": RDFS, "owl": OWL}
    prefix, _, local = word.partition(":")
    return None if word == "*" else f"<{names[prefix]}{local}>" if word[0] not in '"_' else word


def shapes_of(*texts: str) -> set:
    return set(map(expand, texts))


def job(queries: Iterable[ContinuousQuery], rules: str = "", background: Iterable[str] = ()):
    """What `find` takes."""
    found = rules_of(rules)
    return list(queries), found, close(found, map(expand, background))


def relevant(
    where: str, rules: str = "", background: Iterable[str] = (), head: str = "SELECT *"
) -> Relevance:
    return relevance.find(*job([query_of(where, head)], rules, background))


def routed(
    where: str, rules: str = "", background: Iterable[str] = (), head: str = "SELECT *", tail: str = ""
) -> Routing:
    given = job([query_of(where, head, tail)], rules, background)
    return routing.find(*given, relevance.find(*given))


def block(statements: Iterable[Statement]):
    """Statements as a block: the texts of its numbers, and columns."""
    rows = list(statements)
    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(term, len(numbers)) for term in row] for row in rows]
    columns = np.array(coded, np.int32).reshape(-1, 3)
    return list(numbers), columns[:, 0], columns[:, 1], columns[:, 2]


# -- cases of the tests that compare engines -------------------------------------------------------


def job_of(case: Case):
    """What `find` takes, for all queries that a case ever registers."""
    queries = [parsed(action.text) for action in case.actions if isinstance(action, Register)]
    graphs = [statement for graph in case.graphs.values() for statement in graph]
    return queries, case.rules, close(case.rules, [*case.background, *graphs])


def statements_of(case: Case) -> list[Statement]:
    return [row[1] for action in case.actions if isinstance(action, Push) for row in action.rows]


def blanked(case: Case, out: Callable[[Statement], bool]) -> Case:
    """The case with some statements of its streams blanked."""

    def push(action: Push) -> Push:
        rows = ((time, BLANKED if out(statement) else statement) for time, statement in action.rows)
        return replace(action, rows=tuple(rows))

    return replace(case, actions=tuple(push(a) if isinstance(a, Push) else a for a in case.actions))


def masked(statements: list[Statement], mask) -> Callable[[Statement], bool]:
    """Whether a statement is among those that a mask chooses."""
    chosen = {statement for statement, bit in zip(statements, mask, strict=True) if bit}
    return chosen.__contains__
