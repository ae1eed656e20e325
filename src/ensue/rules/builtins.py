"""What conditions mean, on terms as text. Standard library only, so that a small device has it.

SPARQL expressions are evaluated in `ensue.rules.expressions`, which is loaded when a rule has one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from ensue.errors import UsageError
from ensue.terms import Kind, datatype_of, kind_of


def _not_exist_some_values_from_restriction(*_: str) -> bool:
    # Coror's guard against minting the same node again and again. Nodes are deterministic here, so
    # nothing repeats; asking live data would make the rule non-monotone, so it is never asked.
    return True


TESTS: dict[str, tuple[int, Callable[..., bool]]] = {
    "notLiteral": (1, lambda x: kind_of(x) < Kind.PLAIN),
    "isLiteral": (1, lambda x: kind_of(x) >= Kind.PLAIN),
    "isPLiteral": (1, lambda x: kind_of(x) is Kind.PLAIN),
    "isIRI": (1, lambda x: kind_of(x) is Kind.IRI),
    "isBlank": (1, lambda x: kind_of(x) is Kind.BLANK),
    "equal": (2, lambda x, y: x == y),
    "notEqual": (2, lambda x, y: x != y),
    "notExistSomeValuesFromRestriction": (3, _not_exist_some_values_from_restriction),
}
"""Built-in tests by name: how many arguments, and the test. `equal` means the same term."""

BINDS: dict[str, tuple[int, Callable[..., str | None]]] = {
    "isDLiteral": (1, datatype_of),
    "same": (1, lambda x: x),
}
"""Built-in functions by name: how many arguments before the target, and the function."""


@lru_cache(maxsize=4_096)
def holds(name: str, text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> bool:
    """Whether a test holds of these terms; an error in a SPARQL expression means no."""
    if name == "sparql":
        return bool(_sparql().holds(text, variables, args))
    return TESTS[name][1](*args)


@lru_cache(maxsize=4_096)
def value(name: str, text: str, variables: tuple[str, ...], args: tuple[str, ...]) -> str | None:
    """The value of a function of these terms, None if it has none."""
    if name == "sparql":
        found = _sparql().value(text, variables, args)
        return None if found is None else str(found)
    return BINDS[name][1](*args)


def _sparql() -> ModuleType:
    try:
        return import_module("ensue.rules.expressions")
    except ImportError as problem:
        raise UsageError(
            "SPARQL expressions in rules need pyoxigraph", hint="install ensue, not only its device part"
        ) from problem
