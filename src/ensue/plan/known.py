"""The closed background, to look up what premises match in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.model import BACKGROUND, Copies
from ensue.plan.heads import Binding
from ensue.plan.shapes import Shape, Shapes, shape_of
from ensue.rules.tree import Pattern, RuleSet, Var

Statement = tuple[str, str, str]


def close(rules: RuleSet, statements: Iterable[Statement]) -> list[Statement]:
    """Statements with all that follows from them, whether or not a query would see it.

    >>> from ensue.rules.load import load_rules
    >>> is_in = "<http://example.org/isIn>"
    >>> stated = [("<urn:a>", is_in, "<urn:b>"), ("<urn:b>", is_in, "<urn:c>")]
    >>> ("<urn:a>", is_in, "<urn:c>") in close(load_rules("transitive-isin"), stated)
    True
    """
    dictionary = Dictionary()
    encode, decode = dictionary.encode, dictionary.decode
    maintainer = make("expiration", rules, dictionary)
    maintainer.load_background(Copies.background((encode(s), encode(p), encode(o)) for s, p, o in statements))
    return [(decode(s), decode(p), decode(o)) for _, s, p, o, _ in maintainer.closure(BACKGROUND)]


class Known:
    """Statements by the terms of whatever shapes are asked for."""

    def __init__(self, statements: Iterable[Statement], wanted: Iterable[Shape]) -> None:
        """Only what has one of the `wanted` shapes will be asked for."""
        shapes = Shapes(wanted)
        self._statements = [statement for statement in statements if shapes.covers(statement)]
        self._indexes: dict[tuple[int, ...], dict[tuple[str | None, ...], list[Statement]]] = {}

    def matching(self, shape: Shape) -> Sequence[Statement]:
        """The statements of a shape."""
        places = tuple(at for at, term in enumerate(shape) if term is not None)
        if places not in self._indexes:
            index = self._indexes[places] = {}
            for statement in self._statements:
                index.setdefault(tuple(statement[at] for at in places), []).append(statement)
        return self._indexes[places].get(tuple(shape[at] for at in places), [])

    def ground(self, patterns: Sequence[Pattern], binding: Binding) -> Iterator[Binding]:
        """All ways to match every pattern; those with most terms go first."""
        if not patterns:
            yield binding
            return
        first = min(patterns, key=lambda pattern: shape_of(pattern, binding).count(None))
        rest = [pattern for pattern in patterns if pattern is not first]
        for statement in self.matching(shape_of(first, binding)):
            extended = _extended(first, statement, binding)
            if extended is not None:
                yield from self.ground(rest, extended)


def _extended(pattern: Pattern, statement: Statement, binding: Binding) -> Binding | None:
    extended = dict(binding)
    for node, term in zip(pattern, statement, strict=True):
        if isinstance(node, Var) and extended.setdefault(node, term) != term:
            return None
    return extended
