"""A branch compiled to functions that call each other: one for each pattern and each part.

A *row* is a list with a slot for every variable and every constant of the branch. Each function fills
the slots of one pattern in every way that it matches and goes on with the next; what is known when it
is reached was settled when it was made (`order.py`). The last function says what becomes of a solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ensue.networks.dataset import View
from ensue.networks.order import gives, ordered
from ensue.networks.tree import Besides, Branch, Exists, Part, Quad
from ensue.rules.builtins import TESTS, holds, value
from ensue.rules.tree import Bind, Guard, Node, Var

Row = list[Any]
Solution = tuple[str | None, ...]
"""The terms of a branch's visible variables, in their order; None: no value."""

Continue = Callable[[View, Row], bool]
"""Goes on with a row as it is filled so far. True means that nothing more is asked for."""


class Slots:
    """Where in a row things are: the visible variables first."""

    def __init__(self, branch: Branch) -> None:
        self.visible = branch.visible()
        self._index: dict[Node, int] = {variable: at for at, variable in enumerate(self.visible)}
        self.blank: Row = [None] * len(self.visible)
        self.extra = self.add()
        """A slot for the caller: a list of solutions, or what a solution is to be compared with."""

    def of(self, node: Node) -> int:
        """The slot of a variable, or of a constant, which is in it already."""
        if node not in self._index:
            self._index[node] = self.add(None if isinstance(node, Var) else node)
        return self._index[node]

    def add(self, content: str | None = None) -> int:
        """One more slot."""
        self.blank.append(content)
        return len(self.blank) - 1


class Join:
    """All ways to match one branch, made when first asked for."""

    def __init__(self, branch: Branch) -> None:
        self.branch = branch
        self.slots = Slots(branch)
        self.bound = tuple(v for v in self.slots.visible if v in branch.bound())
        self._at_bound = [self.slots.of(variable) for variable in self.bound]
        self._width = len(self.slots.visible)
        self._holds = self.compiled(frozenset(self.bound), self._same)

    def row(self, extra: object) -> Row:
        """A row with nothing but constants in it."""
        row = self.slots.blank.copy()
        row[self.slots.extra] = extra
        return row

    def compiled(self, known: frozenset[Var], then: Continue) -> Continue:
        """The function that matches the branch when these variables are known."""
        return _branch(self.branch, known, self.slots, then)

    def collect(self, _: View, row: Row) -> bool:
        """Put a solution into the list in the row."""
        row[self.slots.extra].append(tuple(row[: self._width]))
        return False

    def holds(self, view: View, solution: Solution) -> bool:
        """Whether a solution is one in this view."""
        row = self.row(solution)
        for at in self._at_bound:
            row[at] = solution[at]
        return self._holds(view, row)

    def _same(self, _: View, row: Row) -> bool:
        return bool(tuple(row[: self._width]) == row[self.slots.extra])


def _branch(branch: Branch, known: frozenset[Var], slots: Slots, then: Continue) -> Continue:
    tasks = ordered(branch, known)
    before: list[set[Var]] = []
    bound = set(known)
    for task in tasks:
        before.append(set(bound))
        bound |= gives(task)
    for task, given in zip(reversed(tasks), reversed(before), strict=True):
        then = (
            _pattern(task, given, slots, then) if isinstance(task, Quad) else _part(task, given, slots, then)
        )
    return then


def _part(part: Part, given: set[Var], slots: Slots, then: Continue) -> Continue:
    match part:
        case Guard():
            return _guard(part, given, slots, then)
        case Bind():
            return _bind(part, given, slots, then)
        case Exists():
            return _exists(part, frozenset(given), slots, then)
        case Besides():
            return _besides(part, frozenset(given), slots, then)


# -- patterns ------------------------------------------------------------------------------------------


def _pattern(pattern: Quad, given: set[Var], slots: Slots, then: Continue) -> Continue:
    """Look a pattern up by what is known of it."""
    known = set(given)
    places: list[int] = []
    free: list[bool] = []
    for node in pattern:
        is_free = isinstance(node, Var) and node not in known
        place = slots.of(node)
        if is_free and place in places:  # twice in this pattern: both must be the same
            first, place = place, slots.add()
            then = _equal(first, place, then)
        places.append(place)
        free.append(is_free)
    graph, s, p, o = places
    found = _LOOKUPS[free[1], free[2], free[3]](graph, s, p, o, then)
    return _any_graph(graph, found) if free[0] else found


def _equal(left: int, right: int, then: Continue) -> Continue:
    return lambda view, row: row[left] == row[right] and then(view, row)


def _any_graph(graph: int, then: Continue) -> Continue:
    def run(view: View, row: Row) -> bool:
        for name in view.names():
            row[graph] = name
            if then(view, row):
                return True
        return False

    return run


def _none_free(graph: int, s: int, p: int, o: int, then: Continue) -> Continue:
    return lambda view, row: view.graph(row[graph]).has(row[s], row[p], row[o]) and then(view, row)


def _one_free(method: str, a: int, b: int, free: int, graph: int, then: Continue) -> Continue:
    def run(view: View, row: Row) -> bool:
        for term in getattr(view.graph(row[graph]), method)(row[a], row[b]):
            row[free] = term
            if then(view, row):
                return True
        return False

    return run


def _two_free(method: str, known: int, first: int, second: int, graph: int, then: Continue) -> Continue:
    def run(view: View, row: Row) -> bool:
        for one, other in getattr(view.graph(row[graph]), method)(row[known]):
            row[first], row[second] = one, other
            if then(view, row):
                return True
        return False

    return run


def _all_free(graph: int, s: int, p: int, o: int, then: Continue) -> Continue:
    def run(view: View, row: Row) -> bool:
        for triple in view.graph(row[graph]).every():
            row[s], row[p], row[o] = triple
            if then(view, row):
                return True
        return False

    return run


_LOOKUPS: dict[tuple[bool, bool, bool], Callable[[int, int, int, int, Continue], Continue]] = {
    (False, False, False): _none_free,
    (False, False, True): lambda g, s, p, o, then: _one_free("objects", s, p, o, g, then),
    (True, False, False): lambda g, s, p, o, then: _one_free("subjects", p, o, s, g, then),
    (False, True, False): lambda g, s, p, o, then: _one_free("predicates", s, o, p, g, then),
    (False, True, True): lambda g, s, p, o, then: _two_free("of_subject", s, p, o, g, then),
    (True, False, True): lambda g, s, p, o, then: _two_free("of_predicate", p, s, o, g, then),
    (True, True, False): lambda g, s, p, o, then: _two_free("of_object", o, s, p, g, then),
    (True, True, True): _all_free,
}
"""How to look a pattern up, by whether subject, predicate and object are free."""


# -- parts ---------------------------------------------------------------------------------------------


def _guard(guard: Guard, given: set[Var], slots: Slots, then: Continue) -> Continue:
    if guard.name != "sparql":
        test, places = TESTS[guard.name][1], [slots.of(arg) for arg in guard.args]
        return lambda view, row: test(*(row[at] for at in places)) and then(view, row)
    arguments = _arguments(guard.args, given, slots)

    def run(view: View, row: Row) -> bool:
        names, args = arguments(row)
        return holds("sparql", guard.text, names, args) and then(view, row)

    return run


def _bind(bind: Bind, given: set[Var], slots: Slots, then: Continue) -> Continue:
    """Give a variable its value; where it has one already, ask for the same."""
    arguments, target = _arguments(bind.args, given, slots), slots.of(bind.target)
    is_known = bind.target in given
    places = [slots.of(arg) for arg in bind.args]

    def run(view: View, row: Row) -> bool:
        if bind.name == "sparql":
            found = value("sparql", bind.text, *arguments(row))
        else:
            found = value(bind.name, "", (), tuple([row[at] for at in places]))
        if found is None or (is_known and found != row[target]):
            return False
        row[target] = found
        return then(view, row)

    return run


def _arguments(
    args: Iterable[Node], given: set[Var], slots: Slots
) -> Callable[[Row], tuple[tuple[str, ...], tuple[str, ...]]]:
    """The names and terms of those variables that have a value."""
    places = [(arg.name, slots.of(arg)) for arg in args if isinstance(arg, Var) and arg in given]

    def read(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
        valued = [(name, row[at]) for name, at in places if row[at] is not None]
        return tuple(name for name, _ in valued), tuple(term for _, term in valued)

    return read


def _exists(part: Exists, given: frozenset[Var], slots: Slots, then: Continue) -> Continue:
    inner = [_branch(each, given, slots, lambda view, row: True) for each in part.alternatives]
    negated = part.negated

    def run(view: View, row: Row) -> bool:
        return any(match(view, row) for match in inner) != negated and then(view, row)

    return run


def _besides(part: Besides, given: frozenset[Var], slots: Slots, then: Continue) -> Continue:
    loose = [slots.of(v) for each in part.alternatives for v in each.visible() if v not in given]
    flag = slots.add()

    def found(view: View, row: Row) -> bool:
        row[flag] = True
        return then(view, row)

    inner = [_branch(each, given, slots, found) for each in part.alternatives]

    def run(view: View, row: Row) -> bool:
        row[flag] = None
        for match in inner:
            for at in loose:
                row[at] = None
            if match(view, row):
                return True
        if row[flag]:
            return False
        for at in loose:
            row[at] = None
        return then(view, row)

    return run
