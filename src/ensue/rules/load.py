"""Rules from files and regimes: finding them, telling the two syntaxes apart, reading them.

A regime is a file of rules that ships with Ensue, named without its ending.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import reduce
from importlib import resources
from importlib.resources.abc import Traversable
from operator import add
from pathlib import Path

from ensue.errors import InputError, Place, UsageError, did_you_mean
from ensue.rules import bracketed, safety
from ensue.rules.tree import RuleSet

BACKGROUND_GRAPHS = ("urn:ensue:background",)
"""The graphs that mean the background in SPARQL rules, unless others are declared."""

SYNTAXES = {".rules": "bracketed", ".ru": "sparql", ".rq": "sparql", ".sparql": "sparql"}
"""The syntax of a file by its ending; other files are told by how they begin."""


def load_rules(
    *sources: str | os.PathLike[str], background_graphs: Iterable[str] = BACKGROUND_GRAPHS
) -> RuleSet:
    """All rules of the sources, each the name of a regime or the path of a file.

    A regime's name goes before a file of the same name: `./rdfs-jena` is the file.

    >>> rules = load_rules("transitive-isin")
    >>> print(rules.name, rules.rules[0].name)
    transitive-isin R
    >>> load_rules("rdfs-jean")
    Traceback (most recent call last):
    ensue.errors.InputError: no such regime or file: 'rdfs-jean' (hint: did you mean 'rdfs-jena'?)
    """
    graphs = tuple(background_graphs)
    loaded = [_load(source, graphs) for source in sources]
    return safety.check_set(reduce(add, loaded)) if loaded else RuleSet("none", ())


def regime_names() -> tuple[str, ...]:
    """The regimes that ship with Ensue.

    >>> regime_names()
    ('pdsv', 'rdfs-jena', 'transitive-isin')
    """
    return tuple(sorted(_regimes()))


def parse_rules(
    text: str,
    file: str = "<text>",
    syntax: str | None = None,
    background_graphs: Iterable[str] = BACKGROUND_GRAPHS,
    name: str | None = None,
) -> RuleSet:
    """The rules of a text; `syntax` is "bracketed" or "sparql", or is told from `file` and the text.

    >>> len(parse_rules("INSERT { ?b <urn:q> ?a } WHERE { ?a <urn:p> ?b }").rules)
    1
    """
    name = name or re.sub(r"[^\w.\-]+", "_", Path(file).stem).strip("_") or "rules"
    syntax = syntax or SYNTAXES.get(Path(file).suffix) or _syntax_of(text, file)
    if syntax == "bracketed":
        return bracketed.parse(text, file, name)
    if syntax != "sparql":
        raise UsageError(f"unknown rule syntax '{syntax}'", hint="bracketed or sparql")
    # Loaded when asked for: most rules are bracketed, and the SPARQL grammar takes long to build.
    from ensue.rules import sparql

    return sparql.parse(text, file, name, tuple(background_graphs))


def _regimes() -> dict[str, Traversable]:
    files = (resources.files("ensue.rules") / "regimes").iterdir()
    return {Path(file.name).stem: file for file in files if Path(file.name).suffix in SYNTAXES}


def _load(source: str | os.PathLike[str], graphs: tuple[str, ...]) -> RuleSet:
    regimes = _regimes()
    if isinstance(source, str) and source in regimes:
        file = regimes[source]
        return parse_rules(file.read_text("utf-8"), file.name, None, graphs, source)
    path = Path(source)
    return parse_rules(read_text(path, regimes), str(path), None, graphs)


def read_text(path: Path, regimes: Iterable[str] = ()) -> str:
    """The text of a file of rules."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, ValueError) as problem:
        hint = did_you_mean(str(path), regimes) or f"the regimes are {', '.join(sorted(regimes))}"
        raise InputError(f"no such regime or file: '{path}'", hint=hint) from problem
    except IsADirectoryError as problem:
        what, hint = "this is a directory, not a file of rules", "name the files in it, one by one"
        raise InputError(what, place=Place(str(path)), hint=hint) from problem
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror}", place=Place(str(path))) from problem
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8-sig").split("\n")
        place = Place(str(path), len(before), len(before[-1]) + 1)
        raise InputError("this is not UTF-8 text", place=place, hint="save the file as UTF-8") from problem


_BEGINNING = re.compile(r"(?:\s+|(?:\#|//)[^\n]*)*(?P<bracketed>\[|@|\Z)?(?P<sparql>[A-Za-z]+\b)?")


def _syntax_of(text: str, file: str) -> str:
    match = _BEGINNING.match(text)
    if match and match["bracketed"] is not None:
        return "bracketed"
    if match and match["sparql"]:
        return "sparql"
    raise InputError(
        "this is neither bracketed rules nor SPARQL",
        place=Place(file, 1, 1),
        hint="rules begin with '[' or '@prefix', SPARQL with PREFIX, INSERT or CONSTRUCT",
    )
