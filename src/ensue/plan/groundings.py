"""All ways to match the cut premises of a rule in the background, few enough to be looked at.

Where they are too many, none is told apart from the others: whoever follows a rule backwards then asks for
more than is needed, which is safe. Many background facts change nothing (everything is the same as itself),
so ways in which a rule only repeats what it was given are left out before they are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ensue.plan.heads import Binding
from ensue.plan.known import Known
from ensue.rules.tree import Pattern, Var

_MOST = 20_000
"""More ways than this are not told apart."""

_MOST_LOOKED_AT = 200_000
"""Nor are any, if so many were looked at."""


class Groundings:
    """The ways to match the cut premises of one rule."""

    def __init__(self, known: Known, cut: Sequence[Pattern], says_more: Callable[[Binding], bool]) -> None:
        """`says_more`: whether the rule, matched so, concludes something that it was not given."""
        self._known, self._cut, self._says_more = known, cut, says_more
        self._all: list[Binding] | None = None
        self._looked = False
        self._by: dict[tuple[Var, ...], dict[tuple[str, ...], list[Binding]]] = {}

    def matching(self, binding: Binding) -> Iterable[Binding]:
        """The ways that agree with a binding, each with all that it binds; or the binding itself."""
        if not self._cut:
            return [binding] if self._says_more(binding) else []
        if not self._looked:
            self._looked, self._all = True, self._few({})
        if self._all is None:
            found = self._few(binding)
            return [binding] if found is None else found
        merged = (binding | each for each in self._agreeing(binding))
        return [each for each in merged if self._says_more(each)]

    def _few(self, binding: Binding) -> list[Binding] | None:
        """The ways that agree with a binding; None if they are too many."""
        ways = enumerate(self._known.ground(self._cut, binding), 1)
        found: list[Binding] = []
        for number, way in ways:
            if self._says_more(way):
                found.append(way)
            if number >= _MOST_LOOKED_AT or len(found) > _MOST:
                return None
        return found

    def _agreeing(self, binding: Binding) -> Iterator[Binding]:
        assert self._all is not None
        if not self._all:
            return iter(())
        shared = tuple(variable for variable in binding if variable in self._all[0])
        if shared not in self._by:
            index = self._by[shared] = {}
            for way in self._all:
                index.setdefault(tuple(way[variable] for variable in shared), []).append(way)
        return iter(self._by[shared].get(tuple(binding[variable] for variable in shared), ()))
