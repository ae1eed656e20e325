"""A file of SPARQL rules with everything in it that it uses: one file, to be copied and changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ensue.errors import RuleError
from ensue.rules import shipped
from ensue.rules.lexer import SPARQL, Source, Token
from ensue.rules.uses import Use, uses

_PREFIX = re.compile(r"^PREFIX\s+(\S*:)\s*(<[^>]*>)[ \t]*\n", re.MULTILINE | re.IGNORECASE)
_BLOCK = re.compile(r"^# rule: (\S+)\n(.*?)(?=^# rule:|^# use:|\Z)", re.MULTILINE | re.DOTALL)


def flat(text: str, file: str = "<text>") -> str:
    """The text with rules in place of its directives, under the names that these give them.

    >>> print(flat("# use: domain as mine"))
    PREFIX ensue: <urn:ensue:>
    # rule: mine
    # From shared/hierarchy.ru, where it is called domain.
    INSERT { ?x a ?c } WHERE { ?p rdfs:domain ?c . ?x ?p ?y } ;
    <BLANKLINE>
    """
    prefixes: dict[str, str] = {}
    body = _PREFIX.sub("", "".join(_expanded(text, file, prefixes)))
    wide = max(map(len, prefixes), default=0)
    declared = "".join(f"PREFIX {name:<{wide}} {iri}\n" for name, iri in prefixes.items())
    return f"{_head(body)}{declared}{body[len(_head(body)) :]}"


def _expanded(text: str, file: str, prefixes: dict[str, str]) -> Iterator[str]:
    prefixes |= dict(_PREFIX.findall(text))
    source = Source(text, file)
    comments = {
        source.place(token.start): token for token in source.tokens(SPARQL) if token.kind == "comment"
    }
    at = 0
    for use in uses(source, SPARQL):
        token = comments[use.place]
        yield text[at : token.start]
        at = token.start + len(token.text)
        yield from _separator(source, token)
        yield from _used(use, prefixes)
    yield text[at:]


def _separator(source: Source, before: Token) -> Iterator[str]:
    """A semicolon, if the rule before has none."""
    last = [t for t in source.tokens(SPARQL) if t.start < before.start and t.kind != "comment"][-1:]
    if last and last[0].is_op("}"):
        yield ";\n"


def _used(use: Use, prefixes: dict[str, str]) -> Iterator[str]:
    regime, _, name = use.name.rpartition("/")
    if use.name in shipped.regimes():
        yield from _regime(use.name, prefixes)
        return
    files = {regime: shipped.regimes()[regime]} if regime else shipped.shared()
    for file in files.values():
        for rule, block in _blocks(file.read_text("utf-8"), file.name, prefixes):
            if rule == name:
                where = f"regime {regime}" if regime else f"shared/{file.name}"
                yield _named(block, rule, use.alias or rule, where)
                return


def _regime(name: str, prefixes: dict[str, str]) -> Iterator[str]:
    file = shipped.regimes()[name]
    if shipped.SYNTAXES["." + file.name.rpartition(".")[2]] != "sparql":
        hint = "use it beside this file instead: --rules may be given more than once"
        raise RuleError(f"regime '{name}' is not written in SPARQL, so it cannot be put in here", hint=hint)
    yield f"# From regime {name}:\n"
    body = "".join(_expanded(file.read_text("utf-8"), file.name, prefixes)).rstrip()
    yield body if body.endswith(";") else f"{body} ;"


def _blocks(text: str, file: str, prefixes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The rules of a file of ours by name, each without the semicolon behind it."""
    whole = "".join(_expanded(text, file, prefixes))
    for name, block in _BLOCK.findall(whole):
        yield name, re.sub(r"\s*;?\s*(?:^#[^\n]*\s*)*\Z", "", block, flags=re.MULTILINE)


def _named(block: str, name: str, alias: str, where: str) -> str:
    called = f", where it is called {name}" if alias != name else ""
    own = block.replace(f"violation:{name} ", f"violation:{alias} ")
    return f"# rule: {alias}\n# From {where}{called}.\n{own} ;\n"


def _head(body: str) -> str:
    """The comment that a file begins with."""
    found = re.match(r"(?:#[^\n]*\n)+\n", body)
    return found.group() if found and "# rule:" not in found.group() else ""
