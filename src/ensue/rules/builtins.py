"""What conditions mean, on terms as text. Standard library only, so that a small device has it.

SPARQL expressions are evaluated in `ensue.rules.expressions`, which is loaded when a rule has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

from ensue.errors import UsageError
from ensue.terms import RDF, Kind, datatype_of, kind_of

NAMESPACE = "urn:ensue:"
"""Where SPARQL rules have the built-ins, as functions: `BIND(<urn:ensue:datatype>(?l) AS ?t)`."""


def _not_exist_some_values_from_restriction(*_: str) -> bool:
    # Coror's guard against minting the same node again and again. Nodes are deterministic here, so
    # nothing repeats; asking live data would make the rule non-monotone, so it is never asked.
    return True


@dataclass(frozen=True, slots=True)
class _ByValue:
    """A function of `ensue.rules.datatypes`, which is loaded when it is first asked: few rules do."""

    name: str

    def __call__(self, *terms: str) -> Any:
        return _of_datatypes(self.name)(*terms)


@lru_cache
def _of_datatypes(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module("ensue.rules.datatypes"), name)
    return found


def _is_literal(term: str) -> bool:
    return kind_of(term) >= Kind.PLAIN


def _is_membership(term: str) -> bool:
    """Whether this is one of rdf:_1, rdf:_2 ..."""
    number = term.removeprefix(f"<{RDF}_")[:-1]
    return term.startswith(f"<{RDF}_") and number.isdecimal() and number[0] != "0"


TESTS: dict[str, tuple[int, Callable[..., bool]]] = {
    "notLiteral": (1, lambda x: kind_of(x) < Kind.PLAIN),
    "isLiteral": (1, _is_literal),
    "isPLiteral": (1, lambda x: kind_of(x) is Kind.PLAIN),
    "isIRI": (1, lambda x: kind_of(x) is Kind.IRI),
    "isBlank": (1, lambda x: kind_of(x) is Kind.BLANK),
    "equal": (2, lambda x, y: x == y),
    "notEqual": (2, lambda x, y: x != y),
    "notExistSomeValuesFromRestriction": (3, _not_exist_some_values_from_restriction),
    "isDatatype": (1, _ByValue("is_datatype")),
    "inValueSpace": (2, _ByValue("in_value_space")),
    "notInValueSpace": (2, _ByValue("not_in_value_space")),
    "sameValue": (2, _ByValue("same_value")),
    "differentValues": (2, _ByValue("different_values")),
    "isMembership": (1, _is_membership),
}
"""Built-in tests by name: how many arguments, and the test. `equal` means the same term."""

BINDS: dict[str, tuple[int, Callable[..., str | None]]] = {
    "isDLiteral": (1, datatype_of),
    "same": (1, lambda x: x),
    "datatype": (1, _ByValue("datatype")),
    "baseDatatype": (1, _ByValue("base_datatype")),
    "simplerSpelling": (1, _ByValue("simpler_spelling")),
}
"""Built-in functions by name: how many arguments before the target, and the function."""

_VALUES: dict[str, Callable[[str], bool]] = {
    "isDLiteral": lambda term: kind_of(term) is Kind.IRI,
    "datatype": _ByValue("is_datatype"),
    "baseDatatype": _ByValue("is_datatype"),
    "simplerSpelling": _is_literal,
}


def may_give(name: str, term: str) -> bool:
    """Whether a built-in function has this value for any arguments, as far as is known.

    >>> may_give("datatype", "<urn:a>"), may_give("same", "<urn:a>")
    (False, True)
    """
    return name not in _VALUES or _VALUES[name](term)


_REMEMBERED = 2_000
"""Characters of arguments: what longer ones give is found anew each time, or they would fill memory."""


def holds(name: str, text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> bool:
    """Whether a test holds of these terms; an error in a SPARQL expression means no."""
    found = _holds if sum(map(len, args)) <= _REMEMBERED else _holds.__wrapped__
    return bool(found(name, text, variables, args))


@lru_cache(maxsize=4_096)
def _holds(name: str, text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> bool:
    if name == "sparql":
        return bool(_sparql().holds(text, variables, args))
    return TESTS[name][1](*args)


def value(name: str, text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> str | None:
    """The value of a function of these terms, None if it has none."""
    found = _value if sum(map(len, args)) <= _REMEMBERED else _value.__wrapped__
    value: str | None = found(name, text, variables, args)
    return value


@lru_cache(maxsize=4_096)
def _value(name: str, text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> str | None:
    if name == "sparql":
        found = _sparql().value(text, variables, args)
        return None if found is None else str(found)
    return BINDS[name][1](*args)


def function(name: str) -> Callable[..., Any]:
    """The test or function of this name, for who asks it of many terms: no answer is remembered.

    >>> function("isIRI")("<urn:a>"), function("datatype")('"a"')
    (True, '<http://www.w3.org/2001/XMLSchema#string>')
    """
    _, found = TESTS[name] if name in TESTS else BINDS[name]
    return _of_datatypes(found.name) if isinstance(found, _ByValue) else found


def _sparql() -> ModuleType:
    try:
        return import_module("ensue.rules.expressions")
    except ImportError as problem:
        raise UsageError(
            "SPARQL expressions in rules need pyoxigraph", hint="install ensue, not only its device part"
        ) from problem
