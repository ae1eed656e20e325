r"""The directive `# use:` of rule files: rules that ship with Ensue, under a name of one's own.

    # use: sub-class-instance as rdfs9      a shared rule
    # use: owl2rl/prp-key                   one rule of a regime
    # use: rdfs                             all of a regime

Regimes share rules in this way (`regimes/shared/` has each of them once). What is used is known by its name
alone: the directive reads no file that a user did not name. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ensue.errors import Place
from ensue.rules.lexer import Source
from ensue.rules.tree import Mint, Pattern, Rule
from ensue.terms import VIOLATION

_DIRECTIVE = re.compile(r"#+\s*use:(.*)", re.DOTALL)
_CALLED = re.compile(r"\s*([\w.+\-]+(?:/[\w.\-]+)?)(?:\s+as\s+([\w.\-]+))?\s*")


@dataclass(frozen=True, slots=True)
class Use:
    """One directive: what is used, under which name (None: its own), and where that is said."""

    name: str
    alias: str | None
    place: Place


def uses(source: Source, syntax: re.Pattern[str]) -> Iterator[Use]:
    """The directives of a text, in order.

    >>> from ensue.rules.lexer import SPARQL
    >>> [(each.name, each.alias) for each in uses(Source("# use: domain as mine", "r.ru"), SPARQL)]
    [('domain', 'mine')]
    """
    for token in source.tokens(syntax):
        directive = _DIRECTIVE.match(token.text) if token.kind == "comment" else None
        if directive is None:
            continue
        called = _CALLED.fullmatch(directive.group(1))
        if called is None:
            hint = "it is written '# use: rule' or '# use: rule as name', and nothing else in that line"
            raise source.error("this names no rule to use", token, hint)
        yield Use(called.group(1), called.group(2), source.place(token.start))


def renamed(rule: Rule, name: str, alias: str) -> Rule:
    """A rule under another name, which its violations and the nodes that it makes go by, too.

    A rule that is one of several made of `name` keeps its number.
    """
    own = alias + rule.name.removeprefix(name)
    violations = {f"<{VIOLATION}{name}>": f"<{VIOLATION}{alias}>"}
    conclusions = tuple(Pattern(s, violations.get(str(p), p), o) for s, p, o in rule.conclusions)
    conditions = tuple(
        replace(each, source=own + each.source.removeprefix(rule.name))
        if isinstance(each, Mint) and each.key is None
        else each
        for each in rule.conditions
    )
    return replace(rule, name=own, conclusions=conclusions, conditions=conditions)
